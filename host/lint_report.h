/* Findings of lint: one block each on stderr when it is met first, in the form of a compiler's warning;
 * counted when it is met again; and all of them, ranked, at the end. All under the lock of lint, which the
 * caller holds, but for tgt_lint_write_place. Not here: what is a finding (lint). */
#ifndef TGT_LINT_REPORT_H
#define TGT_LINT_REPORT_H

#include "ompt.h"

typedef enum tgt_finding_kind {
  TGT_FOUND_FREED_MAPPED,
  TGT_FOUND_POINTER,
  TGT_FOUND_UPDATE,
  TGT_FOUND_EXIT,
  TGT_FOUND_NEVER_FREED,
  TGT_FOUND_SAME_ON_DEVICE, /* from here on: copies that could be saved */
  TGT_FOUND_SAME_ON_HOST,
  TGT_FOUND_MAPPED_AGAIN,
  TGT_FINDINGS,
} tgt_finding_kind_t;

typedef struct tgt_finding {
  tgt_finding_kind_t kind;
  const tgt_device_t *device;
  const char *place; /* of the construct or call, as tgt_lint_write_place has it, and kept */
  const char *name;  /* of the variable, as compilers write it; NULL: unknown */
  uintptr_t host;    /* its address; 0: not known */
  uint64_t bytes;    /* of it */
  const char *other; /* the other place, likewise; NULL: none */
  uint64_t copied;   /* bytes that were copied for nothing, in `copies` copies that took `seconds` */
  uint32_t copies;
  double seconds;
} tgt_finding_t;

/* A text that stays: equal ones are the same. NULL for NULL, and without memory. */
const char *tgt_lint_keep(const char *text);

/* Where a construct is, "file:line:column", or, unless the program has debug information, where it was
 * called, "program+0x1234". Thread-safe; under no lock of ours, because it takes the dynamic linker's. */
typedef struct tgt_lint_place {
  char text[400];
} tgt_lint_place_t;
void tgt_lint_write_place(const tgt_ident_t *where, const void *code, tgt_lint_place_t *written);

void tgt_lint_report(const tgt_finding_t *finding);
/* Any copy, for the shares in the summary. */
void tgt_lint_count_copy(uint64_t bytes, double seconds);
/* Prints what was found in all. */
void tgt_lint_summarize(void);

#endif
