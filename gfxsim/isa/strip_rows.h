/* Room that a wave has for strips of translated code with loads (translate/plan.h), besides what wave.h says:
 * rows behind its registers. Not here: what strips are. */
#ifndef GFXSIM_ISA_STRIP_ROWS_H
#define GFXSIM_ISA_STRIP_ROWS_H

#include "isa/wave.h"

enum {
  GS_STRIP_LOADS = 16,
  GS_STRIP_COPY_ROWS = 4,
  /* Of the first load, likewise of the next: two rows for its addresses, and those for a copy of what it
   * loads. */
  GS_STRIP_ADDRESSES = GS_VGPRS,
  GS_STRIP_COPIES = GS_STRIP_ADDRESSES + 2 * GS_STRIP_LOADS,
  GS_ROWS = GS_STRIP_COPIES + GS_STRIP_COPY_ROWS * GS_STRIP_LOADS,
};

/* The step, in bytes, of loads of four dwords by lanes that are two dwords apart. */
static inline unsigned gs_strip_overlap_step(unsigned strip_lanes) {
  return strip_lanes * 8;
}

/* Where the strip in hand finds what it loads, and how far the next strip's is from there. Four dwords that
 * all lanes have in common are there once, and the step is 0. */
typedef struct gs_strip_place {
  uint64_t at, step;
} gs_strip_place_t;

/* The last of gs_wave_t's strip_values are these. */
enum { GS_STRIP_VALUE_SLOTS = GS_STRIP_SLOTS - (int)(GS_STRIP_LOADS * sizeof(gs_strip_place_t) / 64) };

/* Bytes from the wave's begin to the place of a load. */
static inline size_t gs_strip_place(unsigned load) {
  return offsetof(gs_wave_t, strip_values) + (size_t)64 * GS_STRIP_VALUE_SLOTS +
         load * sizeof(gs_strip_place_t);
}

/* Bytes from the wave's begin to what is known of a vector register where addresses are worked out without
 * its row (translate/rows_linear.c), 8 bytes for each: before the first strip, whose values lie there, too.
 */
static inline size_t gs_linear_row(unsigned reg) {
  return offsetof(gs_wave_t, strip_values) + sizeof(uint64_t) * reg;
}
/* The same of a carry in scalar registers. */
static inline size_t gs_linear_carry(unsigned reg) {
  return gs_linear_row(GS_ARCH_VGPRS + reg);
}
static_assert(sizeof(uint64_t) * (GS_ARCH_VGPRS + GS_SGPRS) <= (size_t)64 * GS_STRIP_VALUE_SLOTS,
              "they end before the places of loads");

#endif
