/* The driver's files: which paths are answered, and with what. Every other path is nobody's business here.
 * Not here: the functions of the C library by which programs ask (libc.c, folders.c, status.c). */
#ifndef GFXSIM_KFD_PATHS_H
#define GFXSIM_KFD_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "kfd/resolve.h"
#include "kfd/topology_text.h"

typedef enum gs_answer_kind {
  GS_ANSWER_OBJECT,  /* a device: `object` */
  GS_ANSWER_TEXT,    /* a file that holds what `write` writes, after what the real one has */
  GS_ANSWER_FOLDER,  /* a folder that holds `name_at` */
  GS_ANSWER_LINK,    /* a symbolic link to what `write` writes */
  GS_ANSWER_NOTHING, /* no such file, though there may be one of a real driver: what a program sees is one
                        machine */
} gs_answer_kind_t;

enum { GS_NAME_BYTES = 64 };
/* The name of the i-th entry of a folder; false past the last. */
typedef bool gs_name_at_t(gs_machine_t *machine, const gs_path_numbers_t *numbers, uint32_t i,
                          char name[GS_NAME_BYTES]);

typedef struct gs_answer {
  gs_answer_kind_t kind;
  int object;
  gs_text_writer_t *write;
  gs_name_at_t *name_at;
  const char *real; /* of a text: the file that really exists, or NULL */
  gs_path_numbers_t numbers;
  char path[GS_PATH_BYTES]; /* without dots and links */
} gs_answer_t;

/* Whether what openat calls `path` in `folder` is the driver's, and then the answer: what a link at its end
 * leads to, or the link itself, unless `follows`. The process's machine is made if the answer needs it. */
bool gs_path_answer(int folder, const char *path, bool follows, gs_answer_t *answer);

/* Whether it is a folder of the system in which the driver's are, too: then an answer that names these. */
bool gs_path_shared(int folder, const char *path, gs_answer_t *answer);

/* What programs get of an answer (answer.c). Thread-safe; -1 with errno. */

/* What readlink says: as many bytes of the target of a link as `size`, in `target`. Their number. */
ssize_t gs_answer_link(const gs_answer_t *answer, char *target, size_t size);

/* A new descriptor of an answer's file; `flags` as open takes them. */
int gs_answer_open(const gs_answer_t *answer, int flags);

/* What stat says. Of an open text or folder the same, by its descriptor's. */
int gs_answer_status(const gs_answer_t *answer, struct stat *status);
void gs_answer_dress(int file, struct stat *status);

/* What access says of the rights in `mode`. */
int gs_answer_may(const gs_answer_t *answer, int mode);

#endif
