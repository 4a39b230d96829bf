/* Rows that are known by two lanes, as stencils that work out addresses have them: rows_linear.c makes
 * them, rows_memory.c loads from where they say. For stencils alone. */
#ifndef GFXSIM_TRANSLATE_LINEAR_ROWS_H
#define GFXSIM_TRANSLATE_LINEAR_ROWS_H

#include "translate/stencil.h"

#include "isa/block.h"

enum { LAST_LANE = GS_LANES - 1 };

/* What the first and the last lane have. All between have as much more, or less, than the one before, and
 * none has passed 2^32 or 0 on the way. */
typedef struct linear {
  uint64_t first, last; /* of 32 bits */
} linear_t;

/* Each by itself, to which the other's are not to be joined: sums and the like come one behind the other, and
 * take two instructions of the host each. `part` is 1 for the high register of a pair. */
GS_IN_STENCIL linear_t get_linear(const gs_wave_t *w, unsigned operand, unsigned part) {
  linear_t value;
#define GS_HOLE_READ(operand)                                                                                \
  __asm__("movl gs_hole_sgpr_" operand "(%2), %k0\n\tmovl gs_hole_sgpr_" operand "+4(%2), %k1"               \
          : "=&r"(value.first), "=r"(value.last)                                                             \
          : "r"(w), "m"(w->strip_values))
#define GS_HOLE_READ_NEXT(operand)                                                                           \
  __asm__("movl gs_hole_sgpr_" operand "+8(%2), %k0\n\tmovl gs_hole_sgpr_" operand "+12(%2), %k1"            \
          : "=&r"(value.first), "=r"(value.last)                                                             \
          : "r"(w), "m"(w->strip_values))
  if (part) {
    GS_HOLE_SWITCH(operand, GS_HOLE_READ_NEXT)
  } else {
    GS_HOLE_SWITCH(operand, GS_HOLE_READ)
  }
#undef GS_HOLE_READ
#undef GS_HOLE_READ_NEXT
  return value;
}
/* Of which the lower 32 bits count. */
GS_IN_STENCIL void put_linear(gs_wave_t *w, unsigned operand, unsigned part, linear_t value) {
#define GS_HOLE_WRITE(operand)                                                                               \
  __asm__("movl %k1, gs_hole_sgpr_" operand "(%3)\n\tmovl %k2, gs_hole_sgpr_" operand "+4(%3)"               \
          : "+m"(w->strip_values)                                                                            \
          : "r"(value.first), "r"(value.last), "r"(w))
#define GS_HOLE_WRITE_NEXT(operand)                                                                          \
  __asm__("movl %k1, gs_hole_sgpr_" operand "+8(%3)\n\tmovl %k2, gs_hole_sgpr_" operand "+12(%3)"            \
          : "+m"(w->strip_values)                                                                            \
          : "r"(value.first), "r"(value.last), "r"(w))
  if (part) {
    GS_HOLE_SWITCH(operand, GS_HOLE_WRITE_NEXT)
  } else {
    GS_HOLE_SWITCH(operand, GS_HOLE_WRITE)
  }
#undef GS_HOLE_WRITE
#undef GS_HOLE_WRITE_NEXT
}

static inline bool is_uniform(linear_t a) {
  return a.first == a.last;
}

#endif
