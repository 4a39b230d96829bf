/* The driver's files: which paths are answered, and with what. Every other path is nobody's business here.
 * Not here: the functions of the C library by which programs ask (libc.c). */
#ifndef GFXSIM_KFD_PATHS_H
#define GFXSIM_KFD_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kfd/topology_text.h"

typedef enum gs_answer_kind {
  GS_ANSWER_OBJECT,  /* a device: `object` */
  GS_ANSWER_TEXT,    /* a file that holds what `write` writes, after what the real one has */
  GS_ANSWER_FOLDER,  /* a folder that holds `name_at`; if `write` is there, a link leads there, to what it
                        writes */
  GS_ANSWER_LINK,    /* a symbolic link to `target` */
  GS_ANSWER_NOTHING, /* no such file, though there may be one of a real driver: what a program sees is one
                        machine */
} gs_answer_kind_t;

/* The name of the i-th entry of a folder; false past the last. */
typedef bool gs_name_at_t(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i, char name[32]);

typedef struct gs_answer {
  gs_answer_kind_t kind;
  int object;
  gs_text_writer_t *write;
  gs_name_at_t *name_at;
  const char *target;
  const char *real; /* of a text: the file that really exists, or NULL */
  gs_path_numbers_t numbers;
} gs_answer_t;

/* Whether a path is the driver's, and then the answer. The process's machine is made if the answer needs it.
 */
bool gs_path_answer(const char *path, gs_answer_t *answer);

/* What readlink says: as many bytes of the target of a link as `size`, in `target`. Their number, or -1 with
 * errno.
 */
ssize_t gs_answer_link(const gs_answer_t *answer, char *target, size_t size);

/* A new descriptor of an answer's file; `flags` as open takes them. -1 with errno. */
int gs_answer_open(const gs_answer_t *answer, int flags);

#endif
