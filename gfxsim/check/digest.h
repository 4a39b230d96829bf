/* What the tools "wait" and "init" want to know of each instruction, and what is the same whenever it is
 * executed: made once, when the instruction is decoded. Most instructions touch no register that either tool
 * has something on, and the sets of registers here tell so at once. Not here: what the tools make of the
 * others. */
#ifndef GFXSIM_CHECK_DIGEST_H
#define GFXSIM_CHECK_DIGEST_H

#include "check/wait.h"

enum { GS_DIGEST_WORDS = 4, GS_DIGEST_SCALARS = 2 };

typedef struct gs_digest {
  uint8_t passing; /* gs_passing_t, which has to come first */
  /* Of an instruction on registers or of memory: those that it reads or writes, as words of a set of vector
   * registers, each with its number, and as a set of the scalar registers that are operands. */
  uint64_t rows[GS_DIGEST_WORDS], scalars[GS_DIGEST_SCALARS];
  uint8_t word[GS_DIGEST_WORDS];
  uint8_t words;
  /* Where nothing is known of any of these, nor of SCC if that may matter to it, "init" need only execute it,
   */
  bool is_plain_flow, minds_scc;
  /* and "wait" count it, so many wait states, and keep `done` if it is to be kept. */
  bool is_plain_wait, is_kept;
  gs_valus_t valus;
  uint8_t states;
  uint8_t overwritten; /* scalar registers from `first_overwritten` on that a scalar instruction writes */
  uint16_t first_overwritten;
  gs_rows_t from, to; /* as in gs_wait_rule_t, but of this very instruction */
  gs_done_t done;
  /* For "wait", of an instruction of memory: what it uses, in whatever lanes; none: that is to be found out.
   */
  uint8_t use_count;
  gs_operand_t use[GS_MOST_MEMORY_USES];
} gs_digest_t;

/* Whether it has what the instruction uses. Accepts NULL. */
static inline bool gs_digest_has_uses(const gs_digest_t *digest) {
  return digest && digest->use_count;
}

/* What a block has to do with waiting, as seen from before it. */
typedef struct gs_wait_sum {
  uint64_t rows[GS_VGPRS / 64], scalars[GS_DIGEST_SCALARS]; /* registers that it reads or writes */
  uint64_t overwritten[GS_DIGEST_SCALARS];                  /* those that scalar instructions write */
  gs_rows_t to;   /* rows of wait states that may end in it, however they began before it */
  gs_rows_t from; /* those that matter behind it */
  uint64_t kept_scalars[GS_DIGEST_SCALARS]; /* of `done`: those that VALU instructions wrote */
  unsigned states, done_count;
  gs_valus_t valus;
  gs_done_t done[GS_MOST_STATES]; /* `clock` and `valus` count from the beginning */
} gs_wait_sum_t;

/* Whether the instruction has to do with any of these vector or scalar registers. */
static inline bool gs_digest_meets(const gs_digest_t *digest, const uint64_t *rows, const uint64_t *scalars) {
  uint64_t met = (digest->scalars[0] & scalars[0]) | (digest->scalars[1] & scalars[1]);
  for (unsigned i = 0; i < digest->words; i++)
    met |= digest->rows[i] & rows[digest->word[i]];
  return met;
}

/* Lets the checker's tools have digests, when all of them are there. */
void gs_digest_watch(gs_check_t *check);

#endif
