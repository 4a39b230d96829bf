/* See sweep.h. Written so that compilers make vector instructions of the loops. */
#include "check/sweep.h"

#include "base/vm.h"
#include "isa/guest.h"

#ifndef GS_LEVEL /* see isa/ops.h */
#define GS_LEVEL base
#endif
#define SYMBOL3(level) gs_##level##_sweep
#define SYMBOL2(level) SYMBOL3(level)
#define SYMBOL         SYMBOL2(GS_LEVEL)

/* ---- Stamps ---- */

/* What stamps that are not long over differ in from mine: from GS_STAMP_WAVE on, if they are of other waves.
 */
static GS_GUEST gs_stamp_t find_near(const gs_stamp_t *stamps, size_t count, gs_stamp_t floor,
                                     gs_stamp_t mine) {
  gs_stamp_t near = 0;
  for (size_t i = 0; i < count; i++)
    near |= stamps[i] >= floor ? stamps[i] ^ mine : 0;
  return near;
}

/* Whether any stamp is of another lane of the wave than the one that has the dword now. */
static GS_GUEST bool any_apart(const gs_stamp_t *stamps, const gs_sweep_stamps_t *s) {
  const unsigned shift = (unsigned)__builtin_ctz(s->width);
  gs_stamp_t apart = 0;
  if (s->width >> shift != 1) {
    for (size_t i = 0; i < s->count; i++)
      apart |= gs_stamp_is_apart(stamps[i], s->mine + i / s->width, s->apart);
    return apart;
  }
  for (size_t i = 0; i < s->count; i++)
    apart |= gs_stamp_is_apart(stamps[i], s->mine + (i >> shift), s->apart);
  return apart;
}

static GS_GUEST bool any_stamp(const gs_stamp_t *stamps, size_t count) {
  gs_stamp_t any = 0;
  for (size_t i = 0; i < count; i++)
    any |= stamps[i];
  return any;
}

static GS_GUEST void put_stamps(gs_stamp_t *stamps, size_t count, gs_stamp_t stamp, unsigned shift) {
  for (size_t i = 0; i < count; i++)
    stamps[i] = stamp + (i >> shift);
}

static GS_GUEST void put_read(gs_stamp_t *read, gs_stamp_t *before, size_t count, gs_stamp_t stamp,
                              unsigned shift) {
  for (size_t i = 0; i < count; i++) {
    const gs_stamp_t last = read[i];
    before[i] = (last ^ stamp) >> GS_STAMP_WAVE ? last : before[i];
    read[i] = stamp + (i >> shift);
  }
}

/* Whether any of these is of somebody else. */
static bool any_others(const gs_stamp_t *stamps, const gs_sweep_stamps_t *s) {
  const gs_stamp_t near = find_near(stamps, s->count, s->floor, s->mine);
  return near >> GS_STAMP_WAVE || (near && s->apart != GS_STAMP_NONE && any_apart(stamps, s));
}

static bool sweep_read(const gs_sweep_stamps_t *s) {
  if (!s->no_writes && any_others(s->written, s))
    return false;
  const unsigned shift = (unsigned)__builtin_ctz(s->width);
  if (s->width >> shift == 1 && !any_stamp(s->read, s->count)) {
    put_stamps(s->read, s->count, s->mine, shift);
    return true;
  }
  if (s->width >> shift == 1) {
    put_read(s->read, s->read_before, s->count, s->mine, shift);
    return true;
  }
  for (size_t i = 0, lane = 0; i < s->count; i += s->width, lane++) {
    const size_t count = s->count - i < s->width ? s->count - i : s->width;
    put_read(s->read + i, s->read_before + i, count, s->mine + lane, 31);
  }
  return true;
}

static bool sweep_write(const gs_sweep_stamps_t *s) {
  if (!s->no_writes && any_others(s->written, s))
    return false;
  if (!s->no_reads &&
      (any_others(s->read, s) || find_near(s->read_before, s->count, s->floor, s->mine) >> GS_STAMP_WAVE))
    return false;
  const unsigned shift = (unsigned)__builtin_ctz(s->width);
  if (s->width >> shift == 1) {
    put_stamps(s->written, s->count, s->mine, shift);
    return true;
  }
  for (size_t i = 0, lane = 0; i < s->count; i += s->width, lane++) {
    const size_t count = s->count - i < s->width ? s->count - i : s->width;
    put_stamps(s->written + i, count, s->mine + lane, 31);
  }
  return true;
}

static bool sweep_are_common(const gs_stamp_t *read, const gs_stamp_t *before, size_t count,
                             gs_stamp_t floor) {
  gs_stamp_t wrong = 0;
  for (size_t i = 0; i < count; i++)
    wrong |= (gs_stamp_t)(read[i] < floor) | (before[i] < floor) | !((read[i] ^ before[i]) >> GS_STAMP_CREW);
  return !wrong;
}

static inline void gather_lanes(uint32_t *values, size_t lanes, const gs_row_t *rows, unsigned lane,
                                unsigned width) {
  for (size_t l = 0; l < lanes; l++)
    for (unsigned i = 0; i < width; i++)
      values[l * width + i] = rows[i].u32[lane + l];
}

static GS_GUEST void sweep_gather(uint32_t *values, size_t count, const gs_row_t *rows, unsigned lane,
                                  unsigned width) {
  const size_t lanes = count / width;
  switch (width) {
  case 1: gather_lanes(values, lanes, rows, lane, 1); break;
  case 2: gather_lanes(values, lanes, rows, lane, 2); break;
  case 4: gather_lanes(values, lanes, rows, lane, 4); break;
  default: gather_lanes(values, lanes, rows, lane, width);
  }
  for (size_t i = lanes * width; i < count; i++) /* a part of a lane's */
    values[i] = rows[i - lanes * width].u32[lane + lanes];
}

/* ---- Flags of mapped data ---- */

static bool sweep_is_settled(const uint16_t *flags, size_t count, uint32_t rights) {
  enum {
    WRITTEN = GS_MAPPED_WRITTEN,
    STALE = GS_MAPPED_STALE,
    READ = GS_MAPPED_READ,
    SERVED = GS_MAPPED_SERVED
  };
  uint16_t first = 0, second = 0; /* what differs from one and from the other way of it */
  if (rights & GS_VM_WRITE) {     /* also of what is read before that */
    for (size_t i = 0; i < count; i++)
      first |= (uint16_t)((flags[i] & (WRITTEN | SERVED)) ^ WRITTEN);
    return !first;
  }
  for (size_t i = 0; i < count; i++) {
    first |= (uint16_t)((flags[i] & (STALE | WRITTEN | READ)) ^ READ);
    second |= (uint16_t)((flags[i] & (WRITTEN | SERVED)) ^ (WRITTEN | SERVED));
  }
  return !first || !second;
}

static bool sweep_set_flags(uint16_t *flags, size_t count, uint32_t rights) {
  const bool writes = rights & GS_VM_WRITE;
  const uint16_t set = writes ? GS_MAPPED_WRITTEN : 0, keep = writes ? (uint16_t)~GS_MAPPED_SERVED : 0xffff;
  uint16_t stale = 0;
  if (!(rights & GS_VM_READ)) {
    for (size_t i = 0; i < count; i++)
      flags[i] = (uint16_t)((flags[i] | set) & keep);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const uint16_t now = flags[i], written = now & GS_MAPPED_WRITTEN, other = written ^ 1;
    stale |= (uint16_t)(now & (unsigned)other << 1);
    flags[i] = (uint16_t)((now | written << 8 | other << 2 | set) & keep);
  }
  return stale;
}
static_assert(GS_MAPPED_WRITTEN == 1 && GS_MAPPED_STALE == 1 << 1 && GS_MAPPED_READ == 1 << 2 &&
                  GS_MAPPED_SERVED == 1 << 8,
              "flags are made from each other by shifts");

/* ---- Lanes ---- */

static uint64_t sweep_next(const uint64_t at[GS_MAX_LANES], uint64_t bytes) {
  enum { PART = 8 };
  uint64_t next = 0;
  for (unsigned l = 1; l + PART <= GS_MAX_LANES; l += PART) {
    uint64_t part = 0;
    for (unsigned i = 0; i < PART; i++)
      part |= (uint64_t)(at[l + i] - at[l + i - 1] == bytes) << i;
    next |= part << l;
  }
  for (unsigned l = GS_MAX_LANES - PART + 1; l < GS_MAX_LANES; l++)
    next |= (uint64_t)(at[l] - at[l - 1] == bytes) << l;
  return next;
}

static bool sweep_has(const gs_row_t *row, uint32_t value, uint64_t lanes) {
  uint32_t any = 0;
  for (unsigned l = 0; l < GS_MAX_LANES; l++)
    any |= (uint32_t)(row->u32[l] == value);
  if (!any)
    return false;
  for (uint64_t left = lanes; left; left &= left - 1)
    if (row->u32[__builtin_ctzll(left)] == value)
      return true;
  return false;
}

extern const gs_sweep_t SYMBOL;
const gs_sweep_t SYMBOL = {.read = sweep_read,
                           .write = sweep_write,
                           .are_common = sweep_are_common,
                           .gather = sweep_gather,
                           .is_settled = sweep_is_settled,
                           .set_flags = sweep_set_flags,
                           .next = sweep_next,
                           .has = sweep_has};
