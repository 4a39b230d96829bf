/* Instructions by chance: words of a given opcode with random operands and modifiers, valid and invalid ones.
 * Not here: what becomes of them, decoding (test_decode.c) or execution (test_blocks.c). */
#ifndef TEST_ISA_RANDOM_CODE_H
#define TEST_ISA_RANDOM_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/inst.h"

/* A chance that is the same wherever it begins with the same state. Not thread-safe. */
typedef struct random {
  uint64_t state;
  bool few; /* registers are few, so that an instruction reads what another has written */
} random_t;

static inline uint32_t random_bits(random_t *r) {
  r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(r->state >> 32);
}
static inline uint32_t random_below(random_t *r, uint32_t limit) {
  return (uint32_t)((uint64_t)random_bits(r) * limit >> 32);
}
static inline bool random_one_in(random_t *r, uint32_t n) {
  return random_below(r, n) == 0;
}

/* Fills `w` with an encoding of `op`, which is no graphics instruction, on a target that has it; sometimes
 * one bit is not as it should be. */
void random_encoding(random_t *r, gs_target_t target, const gs_opcode_t *op, uint32_t w[3]);

#endif
