/* Loops over what the tools keep of many bytes or dwords side by side. The build has them for each level of
 * host instruction set (isa/ops.h), as they are most of what a tool does. Not here: what is kept (shadow.h,
 * transfer.c), and what it means. */
#ifndef GFXSIM_CHECK_SWEEP_H
#define GFXSIM_CHECK_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/order.h"
#include "isa/wave.h"

/* Stamps of dwords side by side, see shadow.h. */
typedef struct gs_sweep_stamps {
  gs_stamp_t *written, *read, *read_before;
  size_t count;
  bool no_writes, no_reads; /* all of the one kind, of the other, are below `floor` */
  gs_stamp_t floor;         /* what is below was over long ago */
  gs_stamp_t mine;          /* of the first dword's lane, */
  unsigned width;           /* of which each lane has so many */
  gs_stamp_t apart; /* stamps of the wave's other lanes from this one on count, too; GS_STAMP_NONE: none */
} gs_sweep_stamps_t;

/* Whether `stamp` is of another lane of the wave of `mine`, by another instruction, and from `apart` on. */
static inline bool gs_stamp_is_apart(gs_stamp_t stamp, gs_stamp_t mine, gs_stamp_t apart) {
  const gs_stamp_t differ = stamp ^ mine;
  return (stamp >= apart) & !(differ >> GS_STAMP_WAVE) & ((differ & 63) != 0) &
         (differ >> GS_STAMP_SITE != 0);
}

/* Flags of a byte of mapped data that accesses look at. */
enum {
  GS_MAPPED_WRITTEN = 1,  /* by a kernel, since it was copied in either direction */
  GS_MAPPED_STALE = 2,    /* the host has changed it since */
  GS_MAPPED_READ = 4,     /* by a kernel, as it was copied to the device */
  GS_MAPPED_SERVED = 256, /* what a kernel wrote, a kernel read: nothing of it is lost */
};

typedef struct gs_sweep {
  /* Put the stamps of a read and of a write, if all that is there is old or of the wave itself (or of the
   * lane itself, see `apart`). Return whether they have. Of what was never read they leave read_before alone,
   * which costs nothing then. */
  bool (*read)(const gs_sweep_stamps_t *stamps);
  bool (*write)(const gs_sweep_stamps_t *stamps);
  /* Whether the two last reads of each dword are not below `floor`, and of different crews. */
  bool (*are_common)(const gs_stamp_t *read, const gs_stamp_t *read_before, size_t count, gs_stamp_t floor);
  /* Gets `count` dwords of lanes from `lane` on, side by side, of which each has `width` in as many rows. */
  void (*gather)(uint32_t *values, size_t count, const gs_row_t *rows, unsigned lane, unsigned width);
  /* Whether an access with these rights (GS_VM_*) changes no flags, and reads nothing stale. May say no where
   * it should be yes. */
  bool (*is_settled)(const uint16_t *flags, size_t count, uint32_t rights);
  /* Sets the flags of such an access; returns whether something stale was read. Of both: nobody else may set
   * flags meanwhile. */
  bool (*set_flags)(uint16_t *flags, size_t count, uint32_t rights);
  /* Lanes of `at`, a bit each, that are `bytes` behind the lane before. */
  uint64_t (*next)(const uint64_t at[GS_MAX_LANES], uint64_t bytes);
  /* Whether the value is among those of these lanes. */
  bool (*has)(const gs_row_t *row, uint32_t value, uint64_t lanes);
} gs_sweep_t;

/* How many bytes lanes are one behind the other if they are side by side, to judge by the first two: what
 * each accesses, or less where it accesses again what others do, as the neighbours of an element. */
static inline uint32_t gs_lane_step(const uint64_t at[GS_MAX_LANES], uint64_t lanes, uint32_t bytes) {
  const uint64_t others = lanes & (lanes - 1);
  const uint64_t step = others ? at[__builtin_ctzll(others)] - at[__builtin_ctzll(lanes)] : 0;
  return step && step < bytes ? (uint32_t)step : bytes;
}

/* How many lanes from the first of `left` on are side by side, by `next` as above. */
static inline unsigned gs_count_neighbours(uint64_t left, uint64_t next) {
  const unsigned l = (unsigned)__builtin_ctzll(left);
  const uint64_t with = left & next & left << 1; /* the lane before is there, too */
  return l == GS_MAX_LANES - 1 ? 1 : 1 + (unsigned)__builtin_ctzll(~(with >> (l + 1)));
}

/* The lanes of `left` without so many from its first on. */
static inline uint64_t gs_without_lanes(uint64_t left, unsigned count) {
  const unsigned end = (unsigned)__builtin_ctzll(left) + count;
  return end == GS_MAX_LANES ? 0 : left & UINT64_MAX << end;
}

/* Those of a level, an index of gs_levels; and those that this processor runs fastest. */
const gs_sweep_t *gs_sweep_of_level(size_t level);
const gs_sweep_t *gs_sweep_for_processor(void);

#endif
