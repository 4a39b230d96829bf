/* Vocabulary for vector instructions: fetching operands with their modifiers, looping over lanes, and
 * committing results under the execution mask. A handler states one lane's arithmetic; everything else is
 * here.
 *
 * How it is fast: operands are rows of plain values, results are computed for all lanes without
 * branches (vector arithmetic has no side effects) so that the C compiler vectorises the loop, and only
 * the commit looks at EXEC.
 * Not here: memory (memory.h), scalar operands of scalar instructions (scalar.h). */
#ifndef GFXSIM_ISA_LANES_H
#define GFXSIM_ISA_LANES_H

#include <math.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h> /* immintrin.h takes longer to compile than most files here */
#endif

#include "isa/ops.h"
#include "isa/width.h"

#define GS_LIKELY(x)   __builtin_expect(!!(x), 1)
#define GS_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Loop over lanes whose iterations touch only their own lane: rows may be the same or shifted by one
 * register, and no iteration sees another's result, which is what the pragma tells the compiler. */
#if defined(__clang__)
/* The promise is also a request to vectorise, and clang warns where it finds that this does not pay. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define GS_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define GS_IVDEP _Pragma("GCC ivdep")
#endif
#define GS_LANES_DO(l) GS_IVDEP for (unsigned l = 0; l < GS_LANES; l++)

/* ---- Slow paths, in operand.c ---- */

/* Fetches operand `i` of 16 or 32 bits when it is not a plain vector register: constants and scalars are
 * broadcast, modifiers (neg, abs, op_sel, SDWA, DPP) applied. `bits` is 16 or 32 and says where the sign
 * is. Returns `tmp`. */
const gs_row_t *gs_fetch_slow(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned bits, gs_row_t *tmp);
/* The same for one dword (`part` 0 or 1) of a 64-bit operand; neg and abs apply to the high dword if
 * `is_float`. */
const gs_row_t *gs_fetch_slow64(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned part, bool is_float,
                                gs_row_t *tmp);
/* Lanes that a DPP instruction may write: EXEC without the lanes that its masks and bounds switch off. */
uint64_t gs_dpp_exec(const gs_wave_t *w, const gs_inst_t *in);
/* Commits a 32-bit (or 16-bit) result with SDWA selection, op_sel of the destination, or preserved halves. */
void gs_commit_slow(gs_wave_t *w, const gs_inst_t *in, gs_row_t *result);
/* Fills w->lane_mask for EXEC value `exec`. */
void gs_lane_mask_update(gs_wave_t *w, uint64_t exec);
/* Value of a scalar source operand that is not a plain register: constants, apertures, flags. */
uint64_t gs_special_value(const gs_wave_t *w, const gs_inst_t *in, unsigned i);
/* While a bit of GS_MODE_CHANGES is set in MODE, whoever runs instructions calls this for each one and
 * executes what it returns, `in` or `copy`; handlers know nothing of these modes. GPR indexing: the index in
 * M0[7:0] is added to the VGPR numbers of the operands that M0[15:12] names; sources beyond the registers
 * read register 0; a destination there makes the instruction do nothing. VSKIP: vector instructions (VALU,
 * LDS and vector memory) do nothing. */
const gs_inst_t *gs_mode_apply(const gs_wave_t *w, const gs_inst_t *in, gs_inst_t *copy);

/* ---- Lanes of strips (translate/strip.h) ---- */

/* Without registers for masks, strips have them as rows. */
#if defined(GS_STENCIL_STRIP) && !defined(__AVX512F__)
#define GS_STRIP_MASKS_ARE_ROWS
#endif

#ifdef GS_STRIP_MASKS_ARE_ROWS
/* The host's instruction is a sign for what is done (translate/mkstrip.c): none stands for that by itself. */
typedef __m256i gs_strip_lanes_t __attribute__((may_alias));
static inline gs_strip_lanes_t gs_strip_lanes_of(uint64_t mask) {
  gs_strip_lanes_t lanes;
  __asm__("vpinsrb $0xf0, %k1, %x0, %x0" : "=x"(lanes) : "r"(mask));
  return lanes;
}
static inline uint64_t gs_strip_bits_of(gs_strip_lanes_t lanes) {
  return (uint32_t)_mm256_movemask_ps((__m256)lanes);
}
/* Per lane b where all bits of `lanes` are set, and a where none is. */
static inline gs_strip_lanes_t gs_strip_select(gs_strip_lanes_t lanes, gs_strip_lanes_t a,
                                               gs_strip_lanes_t b) {
  return (__m256i)_mm256_blendv_ps((__m256)a, (__m256)b, (__m256)lanes);
}
#endif

/* ---- Sources ---- */

static inline void gs_broadcast(uint32_t value, gs_row_t *row) {
  GS_LANES_DO(l) {
    row->u32[l] = value;
  }
}

/* In pieces that are copied in vector registers: for a whole row, compilers call the C library. */
static inline void gs_copy_row(const gs_row_t *from, gs_row_t *to) {
  enum { PIECE = 16 };
#ifdef GS_STRIP_MASKS_ARE_ROWS
  *(gs_strip_lanes_t *)to = *(const gs_strip_lanes_t *)from;
  return;
#endif
  if (GS_LANES == 1) {
    to->u32[0] = from->u32[0];
    return;
  }
  const size_t piece_bytes = PIECE * sizeof(uint32_t);
  memcpy(&to->u32[0], &from->u32[0], piece_bytes);
  if (GS_ROW_BYTES == piece_bytes)
    return;
  memcpy(&to->u32[PIECE], &from->u32[PIECE], piece_bytes);
  if (GS_LANES == 32)
    return;
  memcpy(&to->u32[2 * PIECE], &from->u32[2 * PIECE], piece_bytes);
  memcpy(&to->u32[3 * PIECE], &from->u32[3 * PIECE], piece_bytes);
}

/* Sign modifiers clear and flip the bit `sign`, whatever the value is: abs first. Rows may be the same. */
static inline void gs_apply_sign(const gs_row_t *from, unsigned mods, uint32_t sign, gs_row_t *to) {
  const uint32_t clear = mods & GS_MOD_ABS ? sign : 0, flip = mods & GS_MOD_NEG ? sign : 0;
  GS_LANES_DO(l) {
    to->u32[l] = (from->u32[l] & ~clear) ^ flip;
  }
}

/* Whether a source is a vector register with sign modifiers and nothing else. */
static inline bool gs_src_signed(const gs_src_t *s) {
  return s->kind == GS_SRC_VGPR && s->mods && !(s->mods & ~(unsigned)(GS_MOD_NEG | GS_MOD_ABS));
}

/* Sign modifiers of an operand with these and no others, whose row is `from`. */
static inline void gs_apply_sign_of(const gs_inst_t *in, unsigned i, const gs_row_t *from, gs_row_t *to) {
#ifdef GS_STENCIL
  (void)in;
  const gs_change_t change = gs_change(i);
  GS_LANES_DO(l) {
    to->u32[l] = (from->u32[l] & change.keep) ^ change.flip;
  }
#else
  gs_apply_sign(from, in->src[i].mods, 1u << 31, to);
#endif
}

#ifdef GS_STENCIL
/* A part of a vector register that SDWA selects, with zeroes above. */
static inline const gs_row_t *gs_select_part(const gs_wave_t *w, const gs_inst_t *in, unsigned i,
                                             gs_row_t *tmp) {
  const gs_row_t *const from = gs_row(w, in->src[i].reg);
  const gs_change_t change = gs_change(i);
  GS_LANES_DO(l) {
    tmp->u32[l] = from->u32[l] >> (change.shift & 31) & change.keep;
  }
  return tmp;
}
#endif

/* Operand `i` as 32-bit lanes. */
static inline const gs_row_t *gs_src32(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_VGPR && s->mods == 0))
    return gs_row(w, s->reg);
  if (s->mods == 0 && (s->kind == GS_SRC_SGPR || s->kind == GS_SRC_CONST)) {
    gs_broadcast(s->kind == GS_SRC_SGPR ? gs_read_sgpr32(w, s->reg) : gs_constant32(in, i), tmp);
    return tmp;
  }
#ifdef GS_STENCIL
  if (s->mods & GS_MOD_SDWA)
    return gs_select_part(w, in, i, tmp);
#endif
  return gs_fetch_slow(w, in, i, 32, tmp);
}

/* The same for single floats, whose sign modifiers are common. */
static inline const gs_row_t *gs_src32_float(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_src_t *s = &in->src[i];
  if (!gs_src_signed(s))
    return gs_src32(w, in, i, tmp);
  gs_apply_sign_of(in, i, gs_row(w, s->reg), tmp);
  return tmp;
}

/* Operand `i` as 16-bit lanes in bits 15:0; bits 31:16 are undefined. */
static inline const gs_row_t *gs_src16(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  return in->src[i].mods ? gs_fetch_slow(w, in, i, 16, tmp) : gs_src32(w, in, i, tmp);
}

/* A 64-bit operand: low and high dwords of each lane. */
typedef struct gs_row64 {
  const gs_row_t *lo, *hi;
} gs_row64_t;

static inline gs_row64_t gs_src64(gs_wave_t *w, const gs_inst_t *in, unsigned i, bool is_float,
                                  gs_row_t tmp[2]) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_VGPR && s->mods == 0))
    return (gs_row64_t){gs_row(w, s->reg), gs_row(w, s->reg + 1u)};
  if (s->mods == 0 && (s->kind == GS_SRC_SGPR || s->kind == GS_SRC_CONST)) {
    const bool scalar = s->kind == GS_SRC_SGPR;
    gs_broadcast(scalar ? gs_read_sgpr32(w, s->reg) : gs_constant32(in, i), &tmp[0]);
    gs_broadcast(scalar ? gs_read_sgpr32(w, s->reg + 1u) : (uint32_t)(gs_constant(in, i) >> 32), &tmp[1]);
    return (gs_row64_t){&tmp[0], &tmp[1]};
  }
  if (is_float && gs_src_signed(s)) {
    gs_apply_sign_of(in, i, gs_row(w, s->reg + 1u), &tmp[1]);
    return (gs_row64_t){gs_row(w, s->reg), &tmp[1]};
  }
  return (gs_row64_t){gs_fetch_slow64(w, in, i, 0, is_float, &tmp[0]),
                      gs_fetch_slow64(w, in, i, 1, is_float, &tmp[1])};
}

static inline uint64_t gs_get_u64(gs_row64_t r, unsigned l) {
  return (uint64_t)r.lo->u32[l] | (uint64_t)r.hi->u32[l] << 32;
}
#ifdef GS_STENCIL_ONE /* a chain of sums need not leave the host's vector registers */
static inline double gs_get_f64(gs_row64_t r, unsigned l) {
  const __m128i lo = _mm_cvtsi32_si128((int)r.lo->u32[l]);
  double value = _mm_cvtsd_f64(_mm_castsi128_pd(_mm_insert_epi32(lo, (int)r.hi->u32[l], 1)));
  __asm__ volatile("" : "+x"(value)); /* here, and not half of it where it is used */
  return value;
}
#else
static inline double gs_get_f64(gs_row64_t r, unsigned l) {
  uint64_t bits = gs_get_u64(r, l);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
#endif

#if defined(GS_STENCIL_ONE) /* the mask of one lane becomes that of the wave */
static inline void gs_write_mask(gs_wave_t *w, unsigned reg, uint64_t mask) {
  const uint64_t bit = mask & 1 ? gs_one_bit_of_exec : 0;
  if (GS_WAVE_LANES == 32)
    gs_write_sgpr32(w, reg, (uint32_t)bit);
  else
    gs_write_sgpr64(w, reg, bit);
}
static inline uint64_t gs_read_mask(const gs_wave_t *w, unsigned reg) {
  const uint64_t mask = GS_WAVE_LANES == 32 ? gs_read_sgpr32(w, reg) : gs_read_sgpr64(w, reg);
  return (mask & gs_one_bit_of_exec) != 0;
}
#elif !defined(GS_STENCIL_STRIP) /* where they are in isa/hole.h */
/* A mask of lanes goes to as many registers as it needs, and comes from them. */
static inline void gs_write_mask(gs_wave_t *w, unsigned reg, uint64_t mask) {
  if (GS_LANES == 32)
    gs_write_sgpr32(w, reg, (uint32_t)mask);
  else
    gs_write_sgpr64(w, reg, mask);
}
static inline uint64_t gs_read_mask(const gs_wave_t *w, unsigned reg) {
  return GS_LANES == 32 ? gs_read_sgpr32(w, reg) : gs_read_sgpr64(w, reg);
}
#endif

/* A lane mask operand (v_cndmask, carry in). */
static inline uint64_t gs_src_mask(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_SGPR))
    return gs_read_mask(w, s->reg);
  return gs_special_value(w, in, i);
}

/* ---- Destinations ---- */

/* Lanes that the instruction may write. */
static inline uint64_t gs_vexec(const gs_wave_t *w, const gs_inst_t *in) {
  return GS_LIKELY(in->form != GS_FORM_DPP) ? gs_exec(w) : gs_dpp_exec(w, in);
}

/* Whether results go to their register at once. In stencils for some lanes they never do, which is right for
 * all lanes, too. */
static inline bool gs_direct(const gs_wave_t *w, const gs_inst_t *in) {
#ifdef GS_STENCIL_PART
  return false;
#endif
  return in->plain_dst && gs_exec(w) == GS_ALL_LANES;
}

/* Row to compute a 32-bit result into: the register itself when every lane is written as computed, else
 * `tmp`. Call gs_commit32 with it afterwards. Each lane's sources must be read before its result is
 * stored. */
static inline gs_row_t *gs_dst32(gs_wave_t *w, const gs_inst_t *in, gs_row_t *tmp) {
  return GS_LIKELY(gs_direct(w, in)) ? gs_row(w, in->dst) : tmp;
}

/* Copies the lanes of `exec` from `result` to register `reg`. */
static inline void gs_write_row(gs_wave_t *w, unsigned reg, const gs_row_t *result, uint64_t exec) {
  gs_row_t *d = gs_row(w, reg);
#ifndef GS_STENCIL /* there it never is */
  if (d == result)
    return;
#endif
#if defined(GS_STENCIL_ONE)
  (void)exec;
  d->u32[0] = result->u32[0];
#elif defined(__AVX512F__)
  for (unsigned l = 0; l < GS_LANES; l += 16)
    _mm512_mask_store_epi32(&d->u32[l], (__mmask16)(exec >> l), _mm512_load_si512(&result->u32[l]));
#elif defined(GS_STENCIL_STRIP)
  *(gs_strip_lanes_t *)d = gs_strip_select(gs_strip_lanes_of(exec), *(const gs_strip_lanes_t *)d,
                                           *(const gs_strip_lanes_t *)result);
#else
  if (exec != w->lane_mask_exec)
    gs_lane_mask_update(w, exec);
  const gs_row_t *m = &w->lane_mask;
  GS_LANES_DO(l) {
    d->u32[l] = (result->u32[l] & m->u32[l]) | (d->u32[l] & ~m->u32[l]);
  }
#endif
}

/* Whether the row that gs_dst32 or gs_dst64 chose was the register. Stencils need not compare. */
static inline bool gs_is_committed(const gs_wave_t *w, const gs_inst_t *in, const gs_row_t *row) {
#ifdef GS_STENCIL
  (void)row;
  return gs_direct(w, in);
#else
  return row == gs_row(w, in->dst);
#endif
}

/* Ends an integer instruction with a 32-bit (or 16-bit) result. */
static inline void gs_commit32(gs_wave_t *w, const gs_inst_t *in, gs_row_t *result) {
  if (GS_LIKELY(gs_is_committed(w, in, result)))
    return;
  if (GS_LIKELY(in->plain_dst))
    gs_write_row(w, in->dst, result, gs_exec(w));
  else
    gs_commit_slow(w, in, result);
}

/* A 64-bit destination. */
typedef struct gs_dst64 {
  gs_row_t *lo, *hi;
} gs_dst64_t;

static inline gs_dst64_t gs_dst64(gs_wave_t *w, const gs_inst_t *in, gs_row_t tmp[2]) {
  if (GS_LIKELY(gs_direct(w, in)))
    return (gs_dst64_t){gs_row(w, in->dst), gs_row(w, in->dst + 1u)};
  return (gs_dst64_t){&tmp[0], &tmp[1]};
}
static inline void gs_put_u64(gs_dst64_t d, unsigned l, uint64_t value) {
  d.lo->u32[l] = (uint32_t)value;
  d.hi->u32[l] = (uint32_t)(value >> 32);
}
#ifdef GS_STENCIL_ONE
static inline void gs_put_f64(gs_dst64_t d, unsigned l, double value) {
  __m128i halves;
  __asm__("" : "=x"(halves) : "0"(value));
  d.lo->u32[l] = (uint32_t)_mm_cvtsi128_si32(halves);
  d.hi->u32[l] = (uint32_t)_mm_extract_epi32(halves, 1);
}
#else
static inline void gs_put_f64(gs_dst64_t d, unsigned l, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  gs_put_u64(d, l, bits);
}
#endif

/* Sixteen lanes of a 64-bit operand as whole values, in the order that joining the halves of vector registers
 * gives fastest: only for results that are split again. */
enum { GS_WIDE_LANES = GS_LANES < 16 ? GS_LANES : 16 };
typedef union gs_wide {
  _Alignas(64) uint64_t u64[GS_WIDE_LANES];
  double f64[GS_WIDE_LANES];
} gs_wide_t;

static inline void gs_join64(gs_row64_t r, unsigned first, gs_wide_t *wide) {
#if defined(__AVX512F__)
  const __m512i lo = _mm512_load_si512(&r.lo->u32[first]), hi = _mm512_load_si512(&r.hi->u32[first]);
  _mm512_store_si512(&wide->u64[0], _mm512_unpacklo_epi32(lo, hi));
  _mm512_store_si512(&wide->u64[8], _mm512_unpackhi_epi32(lo, hi));
#elif defined(__AVX2__)
  for (unsigned i = 0; i < GS_WIDE_LANES; i += 8) {
    const __m256i lo = _mm256_load_si256((const __m256i *)&r.lo->u32[first + i]);
    const __m256i hi = _mm256_load_si256((const __m256i *)&r.hi->u32[first + i]);
    _mm256_store_si256((__m256i *)&wide->u64[i], _mm256_unpacklo_epi32(lo, hi));
    _mm256_store_si256((__m256i *)&wide->u64[i + 4], _mm256_unpackhi_epi32(lo, hi));
  }
#elif defined(__SSE2__)
  for (unsigned i = 0; i < GS_WIDE_LANES; i += 4) {
    const __m128i lo = _mm_load_si128((const __m128i *)&r.lo->u32[first + i]);
    const __m128i hi = _mm_load_si128((const __m128i *)&r.hi->u32[first + i]);
    _mm_store_si128((__m128i *)&wide->u64[i], _mm_unpacklo_epi32(lo, hi));
    _mm_store_si128((__m128i *)&wide->u64[i + 2], _mm_unpackhi_epi32(lo, hi));
  }
#else
  for (unsigned i = 0; i < GS_WIDE_LANES; i++)
    wide->f64[i] = gs_get_f64(r, first + i);
#endif
}

/* Undoes gs_join64. */
static inline void gs_split64(const gs_wide_t *wide, unsigned first, gs_dst64_t d) {
#if defined(__AVX512F__)
  const __m512 x = _mm512_load_ps(&wide->u64[0]), y = _mm512_load_ps(&wide->u64[8]);
  _mm512_store_ps(&d.lo->f32[first], _mm512_shuffle_ps(x, y, 0x88));
  _mm512_store_ps(&d.hi->f32[first], _mm512_shuffle_ps(x, y, 0xdd));
#elif defined(__AVX2__)
  for (unsigned i = 0; i < GS_WIDE_LANES; i += 8) {
    const __m256 x = _mm256_load_ps((const float *)&wide->u64[i]),
                 y = _mm256_load_ps((const float *)&wide->u64[i + 4]);
    _mm256_store_ps(&d.lo->f32[first + i], _mm256_shuffle_ps(x, y, 0x88));
    _mm256_store_ps(&d.hi->f32[first + i], _mm256_shuffle_ps(x, y, 0xdd));
  }
#elif defined(__SSE2__)
  for (unsigned i = 0; i < GS_WIDE_LANES; i += 4) {
    const __m128 x = _mm_load_ps((const float *)&wide->u64[i]),
                 y = _mm_load_ps((const float *)&wide->u64[i + 2]);
    _mm_store_ps(&d.lo->f32[first + i], _mm_shuffle_ps(x, y, 0x88));
    _mm_store_ps(&d.hi->f32[first + i], _mm_shuffle_ps(x, y, 0xdd));
  }
#else
  for (unsigned i = 0; i < GS_WIDE_LANES; i++)
    gs_put_f64(d, first + i, wide->f64[i]);
#endif
}

/* Ends an instruction with a 64-bit result; DPP and partial EXEC are honoured, output modifiers were
 * applied before. */
static inline void gs_commit64(gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d) {
  if (GS_LIKELY(gs_is_committed(w, in, d.lo)))
    return;
  const uint64_t exec = gs_vexec(w, in);
  gs_write_row(w, in->dst, d.lo, exec);
  gs_write_row(w, in->dst + 1u, d.hi, exec);
}

/* ---- Masks ----
 *
 * A mask has a bit per lane, lane 0 in bit 0. Vector code makes and uses masks as rows: all ones for a set
 * bit, else zero. Going from one to the other is what no compiler does well, hence the intrinsics. */

/* The mask of a row, from each lane's top bit. */
static inline uint64_t gs_mask_from_row(const gs_row_t *row) {
  uint64_t mask = 0;
#if defined(__AVX512DQ__)
  for (unsigned l = 0; l < GS_LANES; l += 16)
    mask |= (uint64_t)_mm512_movepi32_mask(_mm512_load_si512(&row->u32[l])) << l;
#elif defined(__AVX2__)
  for (unsigned l = 0; l < GS_LANES; l += 8)
    mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_load_ps(&row->f32[l])) << l;
#elif defined(__SSE2__)
  for (unsigned l = 0; l < GS_LANES; l += 4)
    mask |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_load_ps(&row->f32[l])) << l;
#else
  for (unsigned l = 0; l < GS_LANES; l++)
    mask |= (uint64_t)(row->u32[l] >> 31) << l;
#endif
  return mask;
}

/* The row of a mask. */
static inline void gs_row_from_mask(uint64_t mask, gs_row_t *row) {
#if defined(__AVX512F__)
  for (unsigned l = 0; l < GS_LANES; l += 16)
    _mm512_store_si512(&row->u32[l], _mm512_maskz_set1_epi32((__mmask16)(mask >> l), -1));
#elif defined(GS_STENCIL_STRIP)
  *(gs_strip_lanes_t *)row = gs_strip_lanes_of(mask);
#else
  /* Testing against a table vectorises where shifting by a lane's number does not. */
#define GS_BITS4(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
  static const _Alignas(64) uint32_t bit[32] = {GS_BITS4(0),  GS_BITS4(4),  GS_BITS4(8),  GS_BITS4(12),
                                                GS_BITS4(16), GS_BITS4(20), GS_BITS4(24), GS_BITS4(28)};
#undef GS_BITS4
  for (unsigned first = 0; first < GS_LANES; first += 32) {
    const uint32_t half = (uint32_t)(mask >> first);
    GS_IVDEP
    for (unsigned l = 0; l < 32 && l < GS_LANES; l++)
      row->i32[first + l] = -(int32_t)((half & bit[l]) == bit[l]);
  }
#endif
}

/* Per lane b where the mask has a bit, else a. Rows may be the same. */
static inline void gs_select_row(uint64_t mask, const gs_row_t *a, const gs_row_t *b, gs_row_t *result) {
#if defined(__AVX512F__)
  for (unsigned l = 0; l < GS_LANES; l += 16)
    _mm512_store_si512(&result->u32[l],
                       _mm512_mask_blend_epi32((__mmask16)(mask >> l), _mm512_load_si512(&a->u32[l]),
                                               _mm512_load_si512(&b->u32[l])));
#elif defined(GS_STENCIL_STRIP)
  *(gs_strip_lanes_t *)result =
      gs_strip_select(gs_strip_lanes_of(mask), *(const gs_strip_lanes_t *)a, *(const gs_strip_lanes_t *)b);
#else
  gs_row_t m;
  gs_row_from_mask(mask, &m);
  GS_LANES_DO(l) {
    result->u32[l] = (b->u32[l] & m.u32[l]) | (a->u32[l] & ~m.u32[l]);
  }
#endif
}

/* Per lane the value of the lane whose number is in the low bits of `lane`, as many as count lanes. `result`
 * is none of the others. */
static inline void gs_permute_row(const gs_row_t *from, const gs_row_t *lane, gs_row_t *result) {
#if defined(__AVX512F__) && GS_WIDTH == 32
  const __m512i low = _mm512_load_si512(&from->u32[0]), high = _mm512_load_si512(&from->u32[16]);
  for (unsigned l = 0; l < GS_LANES; l += 16)
    _mm512_store_si512(&result->u32[l],
                       _mm512_permutex2var_epi32(low, _mm512_load_si512(&lane->u32[l]), high));
#elif defined(__AVX512F__)
  const __m512i low0 = _mm512_load_si512(&from->u32[0]), low1 = _mm512_load_si512(&from->u32[16]);
  const __m512i high0 = _mm512_load_si512(&from->u32[32]), high1 = _mm512_load_si512(&from->u32[48]);
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i index = _mm512_load_si512(&lane->u32[l]);
    const __mmask16 high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
    _mm512_store_si512(&result->u32[l],
                       _mm512_mask_blend_epi32(high, _mm512_permutex2var_epi32(low0, index, low1),
                                               _mm512_permutex2var_epi32(high0, index, high1)));
  }
#elif defined(__AVX2__)
  const __m256i last = _mm256_set1_epi32(GS_LANES - 1);
  for (unsigned l = 0; l < GS_LANES; l += 8) {
    const __m256i index = _mm256_and_si256(_mm256_load_si256((const __m256i *)&lane->u32[l]), last);
    _mm256_store_si256((__m256i *)&result->u32[l], _mm256_i32gather_epi32(from->i32, index, 4));
  }
#else
  for (unsigned l = 0; l < GS_LANES; l++)
    result->u32[l] = from->u32[lane->u32[l] % GS_LANES];
#endif
}

/* The bits of a mask that are active lanes'. */
static inline uint64_t gs_mask_active(const gs_wave_t *w, uint64_t mask) {
#if defined(GS_STRIP_MASKS_ARE_ROWS) && defined(GS_STENCIL_PART)
  return gs_strip_bits_of(_mm256_and_si256(gs_strip_lanes_of(mask), gs_strip_lanes_of(gs_exec(w))));
#else
  return mask & gs_exec(w);
#endif
}

/* ---- Carries ---- */

#ifdef GS_STRIP_MASKS_ARE_ROWS
static inline gs_strip_lanes_t gs_strip_sum(const gs_row_t *a, const gs_row_t *b) {
  return _mm256_add_epi32(*(const gs_strip_lanes_t *)a, *(const gs_strip_lanes_t *)b);
}
static inline gs_strip_lanes_t gs_strip_difference(const gs_row_t *a, const gs_row_t *b) {
  return _mm256_sub_epi32(*(const gs_strip_lanes_t *)a, *(const gs_strip_lanes_t *)b);
}
static inline gs_strip_lanes_t gs_strip_not(gs_strip_lanes_t lanes) {
  return _mm256_xor_si256(lanes, _mm256_set1_epi32(-1));
}
/* A sum is less than what it was made of if it has a carry; the host has minima and maxima of numbers without
 * a sign, and no comparison. */
static inline gs_strip_lanes_t gs_strip_carry(const gs_row_t *a, gs_strip_lanes_t sum) {
  const gs_strip_lanes_t x = *(const gs_strip_lanes_t *)a;
  return gs_strip_not(_mm256_cmpeq_epi32(_mm256_min_epu32(x, sum), x));
}
static inline gs_strip_lanes_t gs_strip_borrow(const gs_row_t *a, const gs_row_t *b) {
  const gs_strip_lanes_t x = *(const gs_strip_lanes_t *)a;
  return gs_strip_not(_mm256_cmpeq_epi32(_mm256_max_epu32(x, *(const gs_strip_lanes_t *)b), x));
}
#endif

/* d = a + b + the carries in `in`, a bit per lane; returns the carries out. d may be a or b. */
static inline uint64_t gs_add_carry(const gs_row_t *a, const gs_row_t *b, uint64_t in, gs_row_t *d) {
#ifdef GS_STRIP_MASKS_ARE_ROWS
  /* A set bit is -1 in a row, so that subtracting it adds the carry. */
  const gs_strip_lanes_t carry = gs_strip_lanes_of(in), sum = gs_strip_sum(a, b);
  const gs_strip_lanes_t again = _mm256_and_si256(carry, _mm256_cmpeq_epi32(sum, _mm256_set1_epi32(-1)));
  const gs_strip_lanes_t out = _mm256_or_si256(gs_strip_carry(a, sum), again);
  *(gs_strip_lanes_t *)d = _mm256_sub_epi32(sum, carry);
  return gs_strip_bits_of(out);
#elif defined(__AVX512F__)
  uint64_t out = 0;
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i x = _mm512_load_si512(&a->u32[l]), ones = _mm512_set1_epi32(-1);
    const __m512i sum = _mm512_add_epi32(x, _mm512_load_si512(&b->u32[l]));
    const __m512i all = _mm512_mask_sub_epi32(sum, (__mmask16)(in >> l), sum, ones);
    const __mmask16 carry = _kor_mask16(_mm512_cmplt_epu32_mask(sum, x), _mm512_cmplt_epu32_mask(all, sum));
    _mm512_store_si512(&d->u32[l], all);
    out |= (uint64_t)carry << l;
  }
  return out;
#else
  gs_row_t carry;
  gs_row_from_mask(in, &carry);
  /* A set bit is -1 in a row, so that subtracting it adds the carry. */
  GS_LANES_DO(l) {
    const uint32_t x = a->u32[l], sum = x + b->u32[l], all = sum - carry.u32[l];
    d->u32[l] = all;
    carry.i32[l] = -(sum < x) | -(all < sum);
  }
  return gs_mask_from_row(&carry);
#endif
}

/* d = a + b; returns the carries out. d may be a or b. */
static inline uint64_t gs_add_out(const gs_row_t *a, const gs_row_t *b, gs_row_t *d) {
#ifdef GS_STRIP_MASKS_ARE_ROWS
  const gs_strip_lanes_t sum = gs_strip_sum(a, b), out = gs_strip_carry(a, sum);
  *(gs_strip_lanes_t *)d = sum;
  return gs_strip_bits_of(out);
#elif defined(__AVX512F__)
  uint64_t out = 0;
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i x = _mm512_load_si512(&a->u32[l]), sum = _mm512_add_epi32(x, _mm512_load_si512(&b->u32[l]));
    _mm512_store_si512(&d->u32[l], sum);
    out |= (uint64_t)_mm512_cmplt_epu32_mask(sum, x) << l;
  }
  return out;
#else
  return gs_add_carry(a, b, 0, d);
#endif
}

/* d = a - b - the borrows in `in`; returns the borrows out. d may be a or b. */
static inline uint64_t gs_sub_borrow(const gs_row_t *a, const gs_row_t *b, uint64_t in, gs_row_t *d) {
#ifdef GS_STRIP_MASKS_ARE_ROWS
  const gs_strip_lanes_t borrow = gs_strip_lanes_of(in), difference = gs_strip_difference(a, b);
  const gs_strip_lanes_t again =
      _mm256_and_si256(borrow, _mm256_cmpeq_epi32(difference, _mm256_setzero_si256()));
  const gs_strip_lanes_t out = _mm256_or_si256(gs_strip_borrow(a, b), again);
  *(gs_strip_lanes_t *)d = _mm256_add_epi32(difference, borrow);
  return gs_strip_bits_of(out);
#elif defined(__AVX512F__)
  uint64_t out = 0;
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i x = _mm512_load_si512(&a->u32[l]), y = _mm512_load_si512(&b->u32[l]);
    const __m512i difference = _mm512_sub_epi32(x, y);
    const __m512i all =
        _mm512_mask_add_epi32(difference, (__mmask16)(in >> l), difference, _mm512_set1_epi32(-1));
    const __mmask16 borrow =
        _kor_mask16(_mm512_cmplt_epu32_mask(x, y), _mm512_cmplt_epu32_mask(difference, all));
    _mm512_store_si512(&d->u32[l], all);
    out |= (uint64_t)borrow << l;
  }
  return out;
#else
  gs_row_t borrow;
  gs_row_from_mask(in, &borrow);
  GS_LANES_DO(l) {
    const uint32_t x = a->u32[l], y = b->u32[l], difference = x - y, all = difference + borrow.u32[l];
    d->u32[l] = all;
    borrow.i32[l] = -(x < y) | -(difference < all);
  }
  return gs_mask_from_row(&borrow);
#endif
}

/* d = a - b; returns the borrows out. d may be a or b. */
static inline uint64_t gs_sub_out(const gs_row_t *a, const gs_row_t *b, gs_row_t *d) {
#ifdef GS_STRIP_MASKS_ARE_ROWS
  const gs_strip_lanes_t difference = gs_strip_difference(a, b), out = gs_strip_borrow(a, b);
  *(gs_strip_lanes_t *)d = difference;
  return gs_strip_bits_of(out);
#elif defined(__AVX512F__)
  uint64_t out = 0;
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i x = _mm512_load_si512(&a->u32[l]), y = _mm512_load_si512(&b->u32[l]);
    _mm512_store_si512(&d->u32[l], _mm512_sub_epi32(x, y));
    out |= (uint64_t)_mm512_cmplt_epu32_mask(x, y) << l;
  }
  return out;
#else
  return gs_sub_borrow(a, b, 0, d);
#endif
}

/* One byte per lane, 0 or 1, packed into a mask. */
static inline uint64_t gs_pack_mask(const uint8_t bytes[GS_LANES]) {
  uint64_t mask = 0;
#ifdef GS_STRIP_MASKS_ARE_ROWS
  const __m256i row = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)bytes));
  mask = (uint32_t)_mm256_movemask_ps((__m256)_mm256_slli_epi32(row, 31));
#elif defined(__AVX512BW__) && GS_WIDTH == 64
  const __m512i all = _mm512_loadu_si512(bytes);
  mask = _mm512_test_epi8_mask(all, all);
#elif defined(__SSE2__)
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m128i some = _mm_loadu_si128((const __m128i *)(bytes + l));
    /* Bit 0 of each byte moves to its bit 7, whatever the shift brings in from the neighbour below. */
    mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_slli_epi16(some, 7)) << l;
  }
#elif defined(GS_STENCIL_ONE)
  mask = bytes[0];
#else
  for (unsigned i = 0; i < GS_LANES / 8; i++) {
    uint64_t eight;
    memcpy(&eight, bytes + 8 * i, 8);
    /* The products put bit k of the result's top byte where byte k of the input was; no two terms overlap. */
    mask |= ((eight * UINT64_C(0x0102040810204080)) >> 56) << (8 * i);
  }
#endif
  return mask;
}

/* Bit `l` of a mask as 0 or 1. */
static inline uint32_t gs_bit(uint64_t mask, unsigned l) {
  return (uint32_t)(mask >> l) & 1u;
}

/* Ends a comparison: sdst (or VCC) gets the results of active lanes and 0 for the others; CMPX writes EXEC
 * too. Three ways to give the results: a mask, a row (see gs_mask_from_row; best for operands of 32 bits),
 * or a byte per lane, 0 or 1. */
static inline void gs_commit_cmp_mask(gs_wave_t *w, const gs_inst_t *in, uint64_t results) {
#ifdef GS_STENCIL
  const uint64_t mask = gs_mask_active(w, results);
#else
  const uint64_t mask = results & gs_vexec(w, in);
#endif
  gs_write_mask(w, in->sdst, mask);
  if (in->cmpx)
    gs_set_exec(w, mask);
}
static inline void gs_commit_cmp_row(gs_wave_t *w, const gs_inst_t *in, const gs_row_t *results) {
  gs_commit_cmp_mask(w, in, gs_mask_from_row(results));
}
static inline void gs_commit_cmp(gs_wave_t *w, const gs_inst_t *in, const uint8_t bytes[GS_LANES]) {
  gs_commit_cmp_mask(w, in, gs_pack_mask(bytes));
}

/* ---- Handlers of the common shapes: the last argument is one lane's result, of a, b and c ---- */

#define GS_VOP_SRC(i, n) const gs_row_t *const r##n = gs_src32(w, in, i, &t##n)

/* Integer or bit instructions on 32-bit operands. `type` names the row member: u32 or i32. */
#define GS_V32_1(name, type, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, td;                                                                                         \
    GS_VOP_SRC(0, a);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(ra->type[0]) a = ra->type[l];                                                         \
      d->type[l] = (__typeof__(d->type[0]))(expr);                                                           \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_V32_2(name, type, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(ra->type[0]) a = ra->type[l], b = rb->type[l];                                        \
      d->type[l] = (__typeof__(d->type[0]))(expr);                                                           \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_V32_3(name, type, expr)                                                                           \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    GS_VOP_SRC(2, c);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(ra->type[0]) a = ra->type[l], b = rb->type[l], c = rc->type[l];                       \
      d->type[l] = (__typeof__(d->type[0]))(expr);                                                           \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

/* Comparisons of 32-bit operands. */
#define GS_VCMP32(name, type, expr)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, result;                                                                                 \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    GS_LANES_DO(l) {                                                                                         \
      const __typeof__(ra->type[0]) a = ra->type[l], b = rb->type[l];                                        \
      result.i32[l] = -(expr);                                                                               \
    }                                                                                                        \
    gs_commit_cmp_row(w, in, &result);                                                                       \
  }

#endif
