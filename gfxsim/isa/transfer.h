/* Moving data between vector registers and resolved accesses (memory.h): loads and stores of every width, and
 * read-modify-write. Shared by LDS, flat and buffer instructions.
 * Not here: addresses. */
#ifndef GFXSIM_ISA_TRANSFER_H
#define GFXSIM_ISA_TRANSFER_H

#include "isa/interleave.h"
#include "isa/memory.h"

/* ---- Loads ---- */

/* Ends a load of one register: lanes out of bounds get 0, the others their value. */
static inline void gs_load_commit(gs_wave_t *w, const gs_access_t *a, unsigned reg, gs_row_t *result) {
  if (GS_UNLIKELY(a->zero))
    for (uint64_t left = a->zero; left; left &= left - 1)
      result->u32[__builtin_ctzll(left)] = 0;
  gs_write_row(w, reg, result, a->lanes | a->zero);
}

static inline void gs_clear_row(gs_row_t *row) {
  memset(row, 0, sizeof *row);
}

/* Loads `n` dwords per lane into registers from `reg` on. */
GS_SHARED void gs_load_dwords(gs_wave_t *w, const gs_access_t *a, unsigned reg, unsigned n) {
  const bool together = n == 1 || a->step == GS_LINEAR_STEP;
  if (together && a->stride == 4 * n) {
    gs_get_interleaved(&w->v[reg], a->at[0], n);
    return;
  }
  if (!together && a->stride == 4) {
    for (unsigned i = 0; i < n; i++)
      gs_get_blocks(&w->v[reg + i], a->at[0] + (uint64_t)i * a->step, 1);
    return;
  }
  gs_row_t tmp[4], *const row = a->lanes == GS_ALL_LANES ? &w->v[reg] : tmp;
  if (GS_UNLIKELY(!a->lanes))
    for (unsigned i = 0; i < n; i++)
      gs_clear_row(&row[i]);
  else if (together && a->uniform)
    gs_broadcast_dwords(row, a->at[0], n);
  else if (together)
    gs_gather(row, a->at, n);
  else
    for (unsigned i = 0; i < n; i++)
      gs_gather32(&row[i], a->at, (uint64_t)i * a->step);
  for (unsigned i = 0; i < n; i++)
    gs_load_commit(w, a, reg + i, &row[i]);
}

/* What a load of less than a dword does with the value. */
typedef enum gs_narrow {
  GS_NARROW_U8,
  GS_NARROW_I8,
  GS_NARROW_U16,
  GS_NARROW_I16,
} gs_narrow_t;
typedef enum gs_half { GS_HALF_NONE, GS_HALF_LO, GS_HALF_HI } gs_half_t;

static GS_GUEST void gs_gather_narrow(gs_row_t *row, const gs_access_t *a, gs_narrow_t narrow) {
  switch (narrow) {
  case GS_NARROW_U8:
    for (unsigned l = 0; l < GS_LANES; l++)
      row->u32[l] = gs_guest_get8(a->at[l]);
    break;
  case GS_NARROW_I8:
    for (unsigned l = 0; l < GS_LANES; l++)
      row->i32[l] = (int8_t)gs_guest_get8(a->at[l]);
    break;
  case GS_NARROW_U16:
    for (unsigned l = 0; l < GS_LANES; l++)
      row->u32[l] = gs_guest_get16(a->at[l]);
    break;
  case GS_NARROW_I16:
    for (unsigned l = 0; l < GS_LANES; l++)
      row->i32[l] = (int16_t)gs_guest_get16(a->at[l]);
  }
}

/* What is in the other half of the registers that a load of 16 bits writes: a mask of what stays. */
static inline uint32_t gs_d16_kept(const gs_wave_t *w, gs_half_t half) {
  if (w->env->target & GS_D16_CLEARS)
    return 0;
  return half == GS_HALF_LO ? 0xffff0000 : 0xffff;
}

/* Ends a 16-bit load into one half of a register. */
GS_SHARED void gs_load_commit_half(gs_wave_t *w, const gs_access_t *a, unsigned reg, gs_row_t *value,
                                   gs_half_t half) {
  for (uint64_t left = a->zero; left; left &= left - 1)
    value->u32[__builtin_ctzll(left)] = 0;
  const gs_row_t *old = &w->v[reg];
  const uint32_t kept = gs_d16_kept(w, half);
  if (half == GS_HALF_LO)
    GS_LANES_DO(l)
      value->u32[l] = (old->u32[l] & kept) | (value->u32[l] & 0xffff);
  else
    GS_LANES_DO(l)
      value->u32[l] = (old->u32[l] & kept) | value->u32[l] << 16;
  gs_write_row(w, reg, value, a->lanes | a->zero);
}

/* Loads a byte or a short per lane, extended to 32 bits or into one half of the register. */
GS_SHARED void gs_load_narrow(gs_wave_t *w, const gs_access_t *a, unsigned reg, gs_narrow_t narrow,
                              gs_half_t half) {
  gs_row_t tmp;
  if (GS_LIKELY(a->lanes))
    gs_gather_narrow(&tmp, a, narrow);
  else
    gs_clear_row(&tmp);
  if (half == GS_HALF_NONE)
    gs_load_commit(w, a, reg, &tmp);
  else
    gs_load_commit_half(w, a, reg, &tmp, half);
}

/* ---- Loads that go to LDS instead of a register ---- */

/* Where what lane `l` gets, so many bytes, is in LDS, or NULL beyond its end: M0 has the base, the
 * instruction an offset. Lanes are a dword apart, and four if they get more than one (CDNA4's manual, 9.1.9).
 */
static inline uint32_t gs_lds_lane_offset(const gs_wave_t *w, uint32_t offset, unsigned l, uint32_t bytes) {
  const uint32_t base = w->s.u32[GS_S_M0] & (w->env->target == GS_GFX950 ? 0x3ffff : 0xffff);
  return base + offset + (bytes > 4 ? 16 : 4) * l;
}
static inline uint8_t *gs_lds_lane(const gs_wave_t *w, uint32_t offset, unsigned l, uint32_t bytes) {
  const uint32_t at = gs_lds_lane_offset(w, offset, l, bytes);
  return at < w->env->lds_bytes && w->env->lds_bytes - at >= bytes ? w->env->lds + at : NULL;
}

/* Tells who watches of LDS that is accessed so. */
GS_SHARED void gs_watch_lds_lanes(gs_wave_t *w, uint64_t lanes, uint32_t offset, uint32_t bytes,
                                  uint32_t rights) {
  gs_access_t a;
  if (!GS_IS_WATCHED || !w->env->watch || !lanes)
    return;
  gs_access_init(&a, lanes, bytes, rights);
  uint64_t beyond = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    a.at[l] = gs_lds_lane_offset(w, offset, l, bytes);
    beyond |= (uint64_t)!gs_lds_lane(w, offset, l, bytes) << l;
  }
  if (beyond & lanes)
    gs_watch_lds(w, &a);
  gs_watch_local(w, &a);
}

/* `n` rows of what was loaded; lanes beyond the end of the memory get zeroes. */
GS_SHARED void gs_rows_to_lds(gs_wave_t *w, const gs_access_t *a, gs_row_t *row, unsigned n,
                              uint32_t offset) {
  for (uint64_t left = a->zero; left; left &= left - 1)
    for (unsigned i = 0; i < n; i++)
      row[i].u32[__builtin_ctzll(left)] = 0;
  gs_watch_lds_lanes(w, a->lanes | a->zero, offset, 4 * n, GS_VM_WRITE);
  for (uint64_t left = a->lanes | a->zero; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    uint8_t *to = gs_lds_lane(w, offset, l, 4 * n);
    for (unsigned i = 0; to && i < n; i++)
      memcpy(to + 4 * (size_t)i, &row[i].u32[l], 4);
  }
}
GS_SHARED void gs_load_dwords_to_lds(gs_wave_t *w, const gs_access_t *a, unsigned n, uint32_t offset) {
  gs_row_t row[4];
  for (unsigned i = 0; a->lanes && i < n; i++)
    gs_gather32(&row[i], a->at, (uint64_t)i * a->step);
  gs_rows_to_lds(w, a, row, n, offset);
}
GS_SHARED void gs_load_narrow_to_lds(gs_wave_t *w, const gs_access_t *a, gs_narrow_t narrow,
                                     uint32_t offset) {
  gs_row_t row;
  if (a->lanes)
    gs_gather_narrow(&row, a, narrow);
  gs_rows_to_lds(w, a, &row, 1, offset);
}

/* ---- Stores ---- */

/* One lane's `n` dwords, together or not. */
static inline void gs_put_dwords(const gs_access_t *a, const gs_row_t *row, unsigned l, unsigned n) {
  if (n == 1 || a->step == GS_LINEAR_STEP)
    gs_put_lane(row, l, a->at[l], n);
  else
    for (unsigned i = 0; i < n; i++)
      gs_guest_put32(a->at[l] + (uint64_t)i * a->step, row[i].u32[l]);
}

/* Stores `n` dwords per lane from registers from `reg` on. Call gs_access_finish afterwards. */
GS_SHARED void gs_store_dwords(gs_wave_t *w, gs_access_t *a, unsigned reg, unsigned n) {
  const bool together = n == 1 || a->step == GS_LINEAR_STEP;
  if (together && a->stride == 4 * n)
    gs_put_interleaved(&w->v[reg], a->at[0], n);
  else if (together)
    gs_scatter(&w->v[reg], a->at, a->lanes, n);
  else if (a->stride == 4)
    for (unsigned i = 0; i < n; i++)
      gs_put_blocks(&w->v[reg + i], a->at[0] + (uint64_t)i * a->step, 1);
  else
    for (uint64_t left = a->lanes; left; left &= left - 1)
      gs_put_dwords(a, &w->v[reg], (unsigned)__builtin_ctzll(left), n);
  gs_access_finish(w, a);
}

/* Stores the byte or short at bit `shift` of register `reg`. */
static GS_GUEST void gs_scatter8(const gs_access_t *a, const gs_row_t *row, unsigned shift) {
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    gs_guest_put8(a->at[l], (uint8_t)(row->u32[l] >> shift));
  }
}
static GS_GUEST void gs_scatter16(const gs_access_t *a, const gs_row_t *row, unsigned shift) {
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    gs_guest_put16(a->at[l], (uint16_t)(row->u32[l] >> shift));
  }
}
GS_SHARED void gs_store_narrow(gs_wave_t *w, gs_access_t *a, unsigned reg, unsigned bytes, unsigned shift) {
  if (bytes == 1)
    gs_scatter8(a, &w->v[reg], shift);
  else
    gs_scatter16(a, &w->v[reg], shift);
  gs_access_finish(w, a);
}

/* ---- Read-modify-write ---- */

/* One lane's operation: changes memory at `at`, a multiple of the operand's size, and returns what was there.
 * `second` is the second operand of those that have one, `mode` the MODE register. */
typedef uint32_t gs_rmw32_t(uint64_t at, uint32_t data, uint32_t second, uint32_t mode);
typedef uint64_t gs_rmw64_t(uint64_t at, uint64_t data, uint64_t second, uint32_t mode);

/* Performs `op` lane after lane, each seeing the result of the lanes before. Operands come from registers
 * `data` and `second`; what was there goes to register `ret` if that is not GS_NO_RETURN. */
enum { GS_NO_RETURN = ~0u & 0xffff };

GS_SHARED void gs_atomic32(gs_wave_t *w, gs_access_t *a, gs_rmw32_t *op, unsigned data, unsigned second,
                           unsigned ret) {
  gs_row_t old;
  gs_clear_row(&old);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    old.u32[l] = op(a->at[l], w->v[data].u32[l], w->v[second].u32[l], w->mode);
  }
  gs_access_finish(w, a);
  if (ret != GS_NO_RETURN)
    gs_load_commit(w, a, ret, &old);
}

GS_SHARED void gs_atomic64(gs_wave_t *w, gs_access_t *a, gs_rmw64_t *op, unsigned data, unsigned second,
                           unsigned ret) {
  gs_row_t old[2];
  gs_clear_row(&old[0]);
  gs_clear_row(&old[1]);
  const gs_row64_t first_row = {&w->v[data], &w->v[data + 1]},
                   second_row = {&w->v[second], &w->v[second + 1]};
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t value = op(a->at[l], gs_get_u64(first_row, l), gs_get_u64(second_row, l), w->mode);
    old[0].u32[l] = (uint32_t)value;
    old[1].u32[l] = (uint32_t)(value >> 32);
  }
  gs_access_finish(w, a);
  if (ret != GS_NO_RETURN) {
    gs_load_commit(w, a, ret, &old[0]);
    gs_load_commit(w, a, ret + 1, &old[1]);
  }
}

#endif
