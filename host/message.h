/* What the host runtime says to people, in the words of LLVM's where its tests compare them, and where in the
 * program something is. Failures of devices are described by the core (base/status). */
#ifndef TGT_MESSAGE_H
#define TGT_MESSAGE_H

#include "abi.h"

#include "base/status.h"
#include "mapping/note.h"

#include <stdbool.h>

/* What LLVM's library calls itself in messages: that changed with 18. */
const char *tgt_message_name(void);

/* "<name> message: ...", "<name> error: ...": one line on stderr, with what terminals do not print escaped.
 * Thread-safe. */
void tgt_message(const char *format, ...) ATMI_PRINTF(1, 2);
void tgt_error(const char *format, ...) ATMI_PRINTF(1, 2);

/* What LLVM's library says when a list item could not be mapped as a construct begins, behind what the
 * mapping engine has said of it. `is_region`: of a target region. */
void tgt_error_of_begin(map_status_t status, bool is_region);

/* "<name> fatal error <number>: ..." and the end of the process. This is the only place that ends it: OpenMP
 * wants that where offloading is mandatory. */
_Noreturn void tgt_fatal(int number, const char *format, ...) ATMI_PRINTF(2, 3);

/* A place in the program's text. The texts are parts of the compiler's, not terminated. */
typedef struct tgt_place {
  const char *file, *name; /* of the function, or of the variable; "unknown" */
  int file_length, name_length;
  long line, column;
} tgt_place_t;

/* From an ident's ";file;function;line;column;;"; false, and everything unknown, without one. */
bool tgt_place_of_ident(const tgt_ident_t *ident, tgt_place_t *place);
/* From a map's ";name;file;line;column;;", flang's ";file;name;line;column;;", or a bare name. */
bool tgt_place_of_map(const char *name, tgt_place_t *place);

#endif
