/* What was found, and how people read it: one block of text each, the same ones counted, a summary at the
 * end. Not here: finding it (bounds.c). */
#ifndef GFXSIM_CHECK_FINDINGS_H
#define GFXSIM_CHECK_FINDINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/blocks.h"
#include "exec/place.h"

typedef enum gs_finding_kind {
  GS_FINDING_OUTSIDE, /* of a block's bytes */
  GS_FINDING_FREED,
  GS_FINDING_NOTHING, /* is mapped; the kernel will fault */
  GS_FINDING_PRIVATE, /* beyond the work-item's private memory */
  GS_FINDING_LDS,     /* beyond the workgroup's local memory */
} gs_finding_kind_t;

/* An access that is wrong. */
typedef struct gs_finding {
  gs_finding_kind_t kind;
  uint32_t rights;       /* GS_VM_* */
  uint32_t bytes;        /* of each lane */
  uint32_t lanes;        /* of this instruction that do it */
  unsigned lane;         /* the first of them */
  uint64_t address;      /* the first wrong lane's; PRIVATE and LDS: offset */
  uint64_t limit;        /* PRIVATE and LDS: how many bytes there are */
  gs_block_note_t block; /* the others: id 0 = none is near */
} gs_finding_t;

/* One place in the program at which something is wrong with one block. */
typedef struct gs_found {
  struct gs_found *next;
  uint64_t pc, block;
  gs_finding_kind_t kind;
  uint32_t rights;
  uint64_t times; /* accesses of work-items */
  char title[768];
} gs_found_t;

typedef struct gs_findings {
  pthread_mutex_t lock; /* of everything below */
  FILE *out;
  bool fail; /* the process shall fail if there are any */
  gs_found_t *first, **last;
  uint32_t places, printed;
  uint64_t accesses, unlisted; /* unlisted: of places for which there was no memory, or no room */
} gs_findings_t;

/* `log`: file to write to, empty = stderr. Returns 0, or -1 after a message. */
int gs_findings_init(gs_findings_t *findings, const char *log, bool fail) __attribute__((warn_unused_result));
void gs_findings_fini(gs_findings_t *findings);

/* Counts the finding, and prints it if it is the first of its kind. On the thread that runs the wave. */
void gs_findings_add(gs_findings_t *findings, const gs_wave_t *w, const gs_finding_t *finding);
/* Prints the summary. Returns how many accesses were wrong. */
uint64_t gs_findings_summary(gs_findings_t *findings);

#endif
