/* LIBOMPTARGET_LINT: what a program does with its data that is needless or wrong, said where it happens, and
 * once more, ranked, at the end; see doc/lint.md. Off, nobody asks whether it is on but those who would note
 * things anyway (listeners of maps, OMPT). Not here: what findings look like (lint_report). */
#ifndef TGT_LINT_H
#define TGT_LINT_H

#include "ompt.h"

extern bool tgt_the_lint_is_on; /* set before the first construct */

static inline bool tgt_lint_is_on(void) {
  return tgt_the_lint_is_on;
}

/* Reads the environment. Before devices are used. */
void tgt_lint_start(void);
/* At the end of the process: what was never freed, and the summary. */
void tgt_lint_stop(void);

/* What a table of maps notes, in the thread that does it; and what the API did. Thread-safe. */
void tgt_lint_hear(const tgt_device_t *device, const map_note_t *note);
void tgt_lint_hear_api(const tgt_told_data_t *data);

/* Host memory is about to be freed by a call at `code`. Thread-safe. */
void tgt_lint_hear_free(const void *memory, size_t bytes, const void *code);

/* Gives a table of maps its functions: those that look on, or those of a tool, or ordinary ones. Before maps
 * are used. */
void tgt_lint_listen(const tgt_device_t *device);

/* ---- between the parts of lint ---- */

/* Data that is, or was, mapped to a device. */
typedef struct tgt_datum {
  const tgt_device_t *device;
  uintptr_t begin, end;
  const char *name; /* as compilers write it; NULL: unknown. This and the next two do not go away */
  const char *mapped, *unmapped; /* where, last; NULL: never */
  uint64_t contents;             /* of the host's memory when it was unmapped, as a hash; 0: not known */
  bool is_new;                   /* nothing on the device has been written since it was mapped */
  uint32_t same;                 /* how often it was mapped again and copied though nobody had changed it */
  uint64_t same_bytes;           /* copied by that, and not reported yet */
  double same_seconds;
} tgt_datum_t;

/* Whether the device's memory for this host memory has contents that can be compared. */
bool tgt_lint_is_written(const tgt_device_t *device, const void *host);

/* A copy of the thread's, which its next note is about. */
typedef struct tgt_looked_at {
  const void *host;
  uint64_t bytes;
  double seconds;
  bool is_same;      /* the other side had these bytes already */
  uint64_t contents; /* a hash of them; 0: not known */
} tgt_looked_at_t;

/* What the thread has copied last, once; zeroed if that was nothing. */
tgt_looked_at_t tgt_lint_take_copy(void);
extern const map_device_functions_t tgt_lint_functions;

/* A hash of host memory; never 0. The second one is of memory that may not be there: 0 then. */
uint64_t tgt_lint_hash(const void *memory, uint64_t bytes);
uint64_t tgt_lint_hash_carefully(const void *memory, uint64_t bytes);

#endif
