/* What the tools found, and how people read it: one block of text each, the same ones counted, a summary at
 * the end. A tool describes a finding by its rule and up to two sides (who did what, and where), the memory
 * that it is about, and a hint. Not here: finding it, and the words of a block (text.c). */
#ifndef GFXSIM_CHECK_FINDINGS_H
#define GFXSIM_CHECK_FINDINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "check/blocks.h"
#include "exec/place.h"

/* How sure it is that the program is wrong. Only errors make --check-fail fail. */
typedef enum gs_severity { GS_SEVERITY_ERROR, GS_SEVERITY_WARNING } gs_severity_t;

/* A kind of finding. Constant; tools have tables of them. */
typedef struct gs_rule {
  const char *tool; /* "bounds" */
  const char *id;   /* "outside": with the tool's name what suppressions and SARIF call it */
  gs_severity_t severity;
  const char *summary; /* a sentence without a full stop, for all findings of this kind */
} gs_rule_t;

/* What makes two findings the same one, which is told once and counted then. */
typedef struct gs_key {
  const gs_rule_t *rule;
  uint64_t pc[2];     /* of both sides' instructions, or what stands for their lines; 0 = none */
  uint64_t object[2]; /* whatever else: the block's id, what the instruction does with it */
} gs_key_t;

/* Who did one of the things that a finding is about. */
typedef enum gs_actor {
  GS_ACTOR_NONE,
  GS_ACTOR_WAVE, /* a work-item, at `place` */
  GS_ACTOR_HOST, /* the host program, at `stack` */
} gs_actor_t;

typedef struct gs_side {
  gs_actor_t actor;
  char what[96];    /* of the second side: "Conflicts with a write of 4 bytes" */
  uint32_t more;    /* WAVE: as many further work-items of the wave did the same */
  gs_place_t place; /* WAVE */
  const char *call; /* HOST: the function that the program called, or NULL */
  gfxsim_stack_t stack;
} gs_side_t;

enum { GS_FINDING_TEXT = 512, GS_FINDING_DETAILS = 4 };

/* A finding. Large; callers keep one on their stack and fill what they have, all else is 0. */
typedef struct gs_finding {
  char title[GS_FINDING_TEXT]; /* "Invalid read of 8 bytes"; the first side's place is added */
  bool by_line; /* another one of that title, of the same line, second side and block, says nothing new */
  gs_side_t side[2];
  bool about_block;      /* `address` and `block` say something */
  uint64_t address;      /* the first byte that the finding is about */
  uint32_t bytes;        /* of the access there */
  gs_block_note_t block; /* id 0 = no block is near; else where the memory came from */
  const char *where; /* behind the block's description, ", where nothing is mapped"; or what it is where no
                        block is near; or NULL */
  char detail[GS_FINDING_DETAILS][GS_FINDING_TEXT]; /* lines of any content behind the sides; "" = none */
  const char *hint;                                 /* what to do about it, or NULL */
} gs_finding_t;

/* One that was met. */
typedef struct gs_found gs_found_t;

typedef struct gs_findings {
  pthread_mutex_t lock; /* of everything below */
  FILE *out;
  char sarif[256]; /* file, empty = none */
  bool fail;       /* the process shall fail if there are errors */
  bool generate;   /* a suppression is printed behind each */
  uint32_t tools;  /* GS_CHECK_*: that look */
  uint32_t most;   /* so many are printed in full */
  struct gs_suppression *suppressions;
  gs_found_t *first, **last;
  uint32_t places, printed;
  uint64_t unlisted[2]; /* by severity: of places for which there was no memory, or no room */
} gs_findings_t;

/* Takes log, limits and the rest from the options. Returns 0, or -1 after a message. */
int gs_findings_init(gs_findings_t *findings, const gs_options_t *options)
    __attribute__((warn_unused_result));
void gs_findings_fini(gs_findings_t *findings);

/* How often a wave's instruction counts as something that happened `times` times; w: NULL = no wave's. */
static inline uint64_t gs_times(const gs_wave_t *w, uint64_t times) {
  return w && w->repeats ? 0 : times;
}

/* Counts `times` more of what `key` names; 0: it was counted, see gs_wave_t.repeats. Returns it when it is
 * new and shall be told: the caller then fills a finding, which may be slow, and calls gs_findings_tell,
 * once. NULL: it is known, or not told any more. Thread-safe. */
gs_found_t *gs_findings_meet(gs_findings_t *findings, const gs_key_t *key, uint64_t times);
/* Prints it. Thread-safe. Takes no lock of the dynamic linker, which a thread of the program may hold that
 * waits for this one. */
void gs_findings_tell(gs_findings_t *findings, gs_found_t *found, const gs_finding_t *finding);

/* Prints lines that are no finding. Thread-safe. */
void gs_findings_print(gs_findings_t *findings, const char *text, size_t length);

/* The side of a lane of the wave that the thread runs, at the instruction in hand. */
void gs_side_of_wave(gs_side_t *side, const gs_wave_t *w, unsigned lane);

/* Prints the summary. Returns how many errors there were. */
uint64_t gs_findings_summary(gs_findings_t *findings);

#endif
