/* gfx950's conversions between floats, halves or bf16 and floats of eight, six and four bits, with a scale: a
 * power of two whose exponent is that of a float. How small floats look: small_float.h. Not here: conversions
 * without a scale (op_vfp8.c), products of such matrices (op_mfma.c).
 *
 * Rounding, overflow and what becomes of denormals are those of the functions for hosts in AMD's
 * amd_hip_ocp_host.hpp, which are there to give what gfx950 gives; what goes beyond eight bits' range
 * follows FP16_OVFL, as the CDNA4 manual has it (7.3). Always to nearest, whatever MODE says. */
#include "isa/float.h"
#include "isa/small_float.h"

#include <string.h>

typedef enum gs_number_type { GS_WIDE_F32, GS_WIDE_F16, GS_WIDE_BF16 } gs_number_type_t;

enum { GS_SCALE_MOST = 32, GS_SCALE_NAN = 255, GS_SCALE_BIAS = 127 };

/* The scale of lane `l`; NaN if it is GS_SCALE_NAN. */
static inline uint32_t gs_scale_of(const gs_row_t *scale, unsigned l) {
  return scale->u32[l] >> 23 & 0xff;
}

/* What follows a random number where an instruction needs more than one. */
static inline uint32_t gs_next_random(uint32_t random) {
  return random << 1 ^ (random >> 31 ? 0xc5 : 0);
}
GS_V32_1(v_prng_b32, u32, gs_next_random(a))

/* ---- To small floats ---- */

/* Numbers in rows: element i of floats in row[i], of the others in half i % 2 of row[i / 2]. */
typedef struct gs_numbers {
  gs_number_type_t type;
  unsigned count;
  const gs_row_t *row[GS_SCALE_MOST];
  bool flush; /* denormal floats count as zeroes */
} gs_numbers_t;

static inline float gs_number(const gs_numbers_t *n, unsigned i, unsigned l) {
  if (n->type == GS_WIDE_F32)
    return n->flush ? gs_flush32(n->row[i]->f32[l]) : n->row[i]->f32[l];
  const uint32_t half = n->row[i / 2]->u32[l] >> 16 * (i % 2) & 0xffff;
  return n->type == GS_WIDE_F16 ? gs_f32_of_f16(half) : gs_float_of_bits(half << 16);
}

/* Operand `i`, if it is a tuple of vector registers: rows `first`, `first + step` ... */
static inline void gs_numbers_tuple(gs_numbers_t *n, const gs_wave_t *w, const gs_inst_t *in, unsigned i,
                                    unsigned first, unsigned step) {
  for (unsigned r = first, reg = in->src[i].reg; r < (n->type == GS_WIDE_F32 ? n->count : n->count / 2);
       r += step)
    n->row[r] = gs_row(w, reg++);
}

static inline gs_numbers_t gs_numbers_of(const gs_wave_t *w, gs_number_type_t type, unsigned count) {
  return (gs_numbers_t){.type = type,
                        .count = count,
                        .flush = type == GS_WIDE_F32 && !gs_keeps(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_INPUTS)};
}

/* Small floats as they are packed: one behind the other, across registers. */
typedef struct gs_packed {
  gs_row_t row[6];
} gs_packed_t;

static inline void gs_packed_put(gs_packed_t *p, unsigned bits, unsigned i, unsigned l, uint32_t value) {
  const unsigned at = i * bits, r = at / 32, shift = at % 32;
  p->row[r].u32[l] |= value << shift;
  if (shift + bits > 32)
    p->row[r + 1].u32[l] |= value >> (32 - shift);
}
static inline uint32_t gs_packed_get(const gs_row_t *const *row, unsigned bits, unsigned at, unsigned l) {
  const unsigned r = at / 32, shift = at % 32;
  const uint32_t low = row[r]->u32[l] >> shift;
  return (shift + bits > 32 ? low | row[r + 1]->u32[l] << (32 - shift) : low) & ((1u << bits) - 1);
}

static inline uint32_t gs_number_packed(gs_small_format_t format, float x, uint32_t scale,
                                        gs_number_type_t type, const gs_row_t *random, unsigned l,
                                        bool saturate) {
  static const uint32_t fractions[] = {[GS_WIDE_F32] = 23, [GS_WIDE_F16] = 10, [GS_WIDE_BF16] = 7};
  if (scale == GS_SCALE_NAN)
    return gs_small_nan(format, gs_bits_of_float(x) >> 31 << (format.bits - 1));
  const int32_t exponent = (int32_t)scale - GS_SCALE_BIAS;
  return random ? gs_small_by_chance(format, x, exponent, random->u32[l], fractions[type], saturate)
                : gs_small_of_f32(format, x, exponent, saturate);
}

/* `random`: NULL to round to nearest. */
static inline void gs_pack_numbers(const gs_wave_t *w, const gs_numbers_t *n, gs_small_format_t format,
                                   const gs_row_t *scale, const gs_row_t *random, gs_packed_t *p) {
  gs_row_t chance;
  if (random)
    chance = *random;
  memset(p, 0, sizeof *p);
  for (unsigned i = 0; i < n->count; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      gs_packed_put(p, format.bits, i, l,
                    gs_number_packed(format, gs_number(n, i, l), gs_scale_of(scale, l), n->type,
                                     random ? &chance : NULL, l, w->mode & GS_MODE_FP16_OVFL));
      if (random)
        chance.u32[l] = gs_next_random(chance.u32[l]);
    }
}

/* Into `bits` of a register from bit `at` on; the others stay. */
static inline void gs_put_part(gs_wave_t *w, const gs_inst_t *in, gs_packed_t *p, unsigned bits,
                               unsigned at) {
  const uint32_t mask = ((1u << bits) - 1) << at;
  const gs_row_t *const old = gs_row(w, in->dst);
  GS_LANES_DO(l)
    p->row[0].u32[l] = (p->row[0].u32[l] << at & mask) | (old->u32[l] & ~mask);
  gs_write_row(w, in->dst, &p->row[0], gs_exec(w));
}

/* Where a result of eight bits goes, and of sixteen. */
static inline unsigned gs_byte_of_result(const gs_inst_t *in) {
  return 8 * (in->op_sel >> 2 & 3u);
}
static inline unsigned gs_word_of_result(const gs_inst_t *in) {
  return 16 * (in->op_sel >> 3 & 1u);
}

/* Two floats, each an operand of its own. */
static inline void gs_pack_pair(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format, unsigned at) {
  gs_row_t ta, tb, tc;
  gs_packed_t p;
  gs_numbers_t n = gs_numbers_of(w, GS_WIDE_F32, 2);
  n.row[0] = gs_src_f32(w, in, 0, &ta);
  n.row[1] = gs_src_f32(w, in, 1, &tb);
  gs_pack_numbers(w, &n, format, gs_src32(w, in, 2, &tc), NULL, &p);
  gs_put_part(w, in, &p, 2 * format.bits, at);
}
GS_OP(v_cvt_scalef32_pk_fp8_f32) {
  gs_pack_pair(w, in, gs_fp8, gs_word_of_result(in));
}
GS_OP(v_cvt_scalef32_pk_bf8_f32) {
  gs_pack_pair(w, in, gs_bf8, gs_word_of_result(in));
}
GS_OP(v_cvt_scalef32_pk_fp4_f32) {
  gs_pack_pair(w, in, gs_fp4, gs_byte_of_result(in));
}

/* The first operand, in one register or in two. Signs are changed in all numbers that it has, which nobody
 * says: AMD's text has no modifiers, and LLVM no use for them. */
static inline void gs_numbers_source(gs_numbers_t *n, gs_wave_t *w, const gs_inst_t *in, gs_row_t tmp[2]) {
  gs_inst_t plain = *in;
  const unsigned mods = in->src[0].mods & (GS_MOD_NEG | GS_MOD_ABS);
  plain.src[0].mods &= (uint8_t) ~(GS_MOD_NEG | GS_MOD_ABS);
  const bool pair = n->type == GS_WIDE_F32 && n->count == 2;
  gs_row64_t r = {NULL, NULL};
  if (pair)
    r = gs_src64(w, &plain, 0, false, tmp);
  else
    r.lo = n->count == 1 && n->type != GS_WIDE_F32 ? gs_src16(w, &plain, 0, &tmp[0])
                                                   : gs_src32(w, &plain, 0, &tmp[0]);
  n->row[0] = r.lo;
  n->row[1] = r.hi;
  for (unsigned i = 0; mods && i <= pair; i++) {
    gs_apply_sign(n->row[i], mods, n->type == GS_WIDE_F32 ? 0x80000000 : 0x80008000, &tmp[i]);
    n->row[i] = &tmp[i];
  }
}

/* Two halves, and one number or two by chance: the first operand in one register, or in two. The second one
 * is the scale, or the third behind a random number. */
static inline void gs_pack_one(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format,
                               gs_number_type_t type, unsigned count, bool by_chance, unsigned at) {
  gs_row_t ta[2], tb, tc;
  gs_packed_t p;
  gs_numbers_t n = gs_numbers_of(w, type, count);
  gs_numbers_source(&n, w, in, ta);
  const gs_row_t *const second = gs_src32(w, in, 1, &tb);
  gs_pack_numbers(w, &n, format, by_chance ? gs_src32(w, in, 2, &tc) : second, by_chance ? second : NULL, &p);
  gs_put_part(w, in, &p, count * format.bits, at);
}
#define GS_PACK_ONE(name, format, type, count, by_chance, at)                                                \
  GS_OP(name) {                                                                                              \
    gs_pack_one(w, in, format, type, count, by_chance, at(in));                                              \
  }
GS_PACK_ONE(v_cvt_scalef32_pk_fp8_f16, gs_fp8, GS_WIDE_F16, 2, false, gs_word_of_result)
GS_PACK_ONE(v_cvt_scalef32_pk_fp8_bf16, gs_fp8, GS_WIDE_BF16, 2, false, gs_word_of_result)
GS_PACK_ONE(v_cvt_scalef32_pk_bf8_f16, gs_bf8, GS_WIDE_F16, 2, false, gs_word_of_result)
GS_PACK_ONE(v_cvt_scalef32_pk_bf8_bf16, gs_bf8, GS_WIDE_BF16, 2, false, gs_word_of_result)
GS_PACK_ONE(v_cvt_scalef32_pk_fp4_f16, gs_fp4, GS_WIDE_F16, 2, false, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_pk_fp4_bf16, gs_fp4, GS_WIDE_BF16, 2, false, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_fp8_f32, gs_fp8, GS_WIDE_F32, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_fp8_f16, gs_fp8, GS_WIDE_F16, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_fp8_bf16, gs_fp8, GS_WIDE_BF16, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_bf8_f32, gs_bf8, GS_WIDE_F32, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_bf8_f16, gs_bf8, GS_WIDE_F16, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_bf8_bf16, gs_bf8, GS_WIDE_BF16, 1, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_pk_fp4_f32, gs_fp4, GS_WIDE_F32, 2, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_pk_fp4_f16, gs_fp4, GS_WIDE_F16, 2, true, gs_byte_of_result)
GS_PACK_ONE(v_cvt_scalef32_sr_pk_fp4_bf16, gs_fp4, GS_WIDE_BF16, 2, true, gs_byte_of_result)

static inline void gs_write_packed(gs_wave_t *w, const gs_inst_t *in, const gs_packed_t *p) {
  for (unsigned r = 0; r < sizeof p->row / sizeof p->row[0]; r++)
    gs_write_row(w, in->dst + r, &p->row[r], gs_exec(w));
}

/* Thirty-two, of six bits each: sixteen from each of two operands in turn, or all from one. */
static inline void gs_pack_turns(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format) {
  gs_row_t tc;
  gs_packed_t p;
  gs_numbers_t n = gs_numbers_of(w, GS_WIDE_F32, GS_SCALE_MOST);
  gs_numbers_tuple(&n, w, in, 0, 0, 2);
  gs_numbers_tuple(&n, w, in, 1, 1, 2);
  gs_pack_numbers(w, &n, format, gs_src32(w, in, 2, &tc), NULL, &p);
  gs_write_packed(w, in, &p);
}
GS_OP(v_cvt_scalef32_2xpk16_fp6_f32) {
  gs_pack_turns(w, in, gs_fp6);
}
GS_OP(v_cvt_scalef32_2xpk16_bf6_f32) {
  gs_pack_turns(w, in, gs_bf6);
}

static inline void gs_pack_all(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format,
                               gs_number_type_t type, bool by_chance) {
  gs_row_t tb, tc;
  gs_packed_t p;
  gs_numbers_t n = gs_numbers_of(w, type, GS_SCALE_MOST);
  gs_numbers_tuple(&n, w, in, 0, 0, 1);
  const gs_row_t *const second = gs_src32(w, in, 1, &tb);
  gs_pack_numbers(w, &n, format, by_chance ? gs_src32(w, in, 2, &tc) : second, by_chance ? second : NULL, &p);
  gs_write_packed(w, in, &p);
}
#define GS_PACK_ALL(name, format, type, by_chance)                                                           \
  GS_OP(name) {                                                                                              \
    gs_pack_all(w, in, format, type, by_chance);                                                             \
  }
GS_PACK_ALL(v_cvt_scalef32_pk32_fp6_f16, gs_fp6, GS_WIDE_F16, false)
GS_PACK_ALL(v_cvt_scalef32_pk32_fp6_bf16, gs_fp6, GS_WIDE_BF16, false)
GS_PACK_ALL(v_cvt_scalef32_pk32_bf6_f16, gs_bf6, GS_WIDE_F16, false)
GS_PACK_ALL(v_cvt_scalef32_pk32_bf6_bf16, gs_bf6, GS_WIDE_BF16, false)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_fp6_f32, gs_fp6, GS_WIDE_F32, true)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_fp6_f16, gs_fp6, GS_WIDE_F16, true)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_fp6_bf16, gs_fp6, GS_WIDE_BF16, true)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_bf6_f32, gs_bf6, GS_WIDE_F32, true)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_bf6_f16, gs_bf6, GS_WIDE_F16, true)
GS_PACK_ALL(v_cvt_scalef32_sr_pk32_bf6_bf16, gs_bf6, GS_WIDE_BF16, true)

/* ---- From small floats ---- */

/* x * 2^scale, rounded once. */
static inline float gs_scaled(float x, uint32_t scale) {
  if (scale == GS_SCALE_NAN)
    return gs_float_of_bits((gs_bits_of_float(x) & 0x80000000) | 0x7fc00000);
  return (float)((double)x * gs_double_of_bits((uint64_t)(1023 - GS_SCALE_BIAS + scale) << 52));
}

static inline uint32_t gs_wide_bits(gs_number_type_t type, float x) {
  const uint32_t bits = gs_bits_of_float(x);
  if (type == GS_WIDE_F16)
    return gs_half_of_float(x);
  if (type == GS_WIDE_F32)
    return bits;
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Of rows, from bit `at` on: `count` numbers, to as many registers or half of that. */
static inline void gs_unpack(gs_wave_t *w, const gs_inst_t *in, const gs_row_t *const *row,
                             gs_small_format_t format, unsigned at, unsigned count, gs_number_type_t type) {
  gs_row_t ts, result[GS_SCALE_MOST];
  const gs_row_t *const scale = gs_src32(w, in, 1, &ts);
  for (unsigned i = 0; i < count; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t code = gs_packed_get(row, format.bits, at + i * format.bits, l);
      const uint32_t bits =
          gs_wide_bits(type, gs_scaled(gs_f32_of_small(format, code), gs_scale_of(scale, l)));
      if (type == GS_WIDE_F32)
        result[i].u32[l] = bits;
      else
        result[i / 2].u32[l] = i % 2 ? result[i / 2].u32[l] | bits << 16 : bits;
    }
  for (unsigned r = 0; r < (type == GS_WIDE_F32 ? count : (count + 1) / 2); r++) {
    if (type == GS_WIDE_F32)
      gs_finish32(w, in, &result[r]);
    if (count > 1 || type == GS_WIDE_F32)
      gs_write_row(w, in->dst + r, &result[r], gs_exec(w));
    else
      gs_commit32(w, in, &result[r]); /* a half: the other one stays */
  }
}

/* Of a register: bits that op_sel chooses. */
static inline void gs_unpack_part(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format, unsigned count,
                                  gs_number_type_t type) {
  gs_row_t ta;
  const gs_row_t *const row = gs_src32(w, in, 0, &ta);
  const unsigned at = count * format.bits == 16 ? 16 * (in->op_sel & 1u) : 8 * (in->op_sel & 3u);
  gs_unpack(w, in, &row, format, at, count, type);
}
#define GS_UNPACK_PART(name, format, count, type)                                                            \
  GS_OP(name) {                                                                                              \
    gs_unpack_part(w, in, format, count, type);                                                              \
  }
GS_UNPACK_PART(v_cvt_scalef32_f32_fp8, gs_fp8, 1, GS_WIDE_F32)
GS_UNPACK_PART(v_cvt_scalef32_f32_bf8, gs_bf8, 1, GS_WIDE_F32)
GS_UNPACK_PART(v_cvt_scalef32_f16_fp8, gs_fp8, 1, GS_WIDE_F16)
GS_UNPACK_PART(v_cvt_scalef32_f16_bf8, gs_bf8, 1, GS_WIDE_F16)
GS_UNPACK_PART(v_cvt_scalef32_pk_f32_fp8, gs_fp8, 2, GS_WIDE_F32)
GS_UNPACK_PART(v_cvt_scalef32_pk_f32_bf8, gs_bf8, 2, GS_WIDE_F32)
GS_UNPACK_PART(v_cvt_scalef32_pk_f32_fp4, gs_fp4, 2, GS_WIDE_F32)
GS_UNPACK_PART(v_cvt_scalef32_pk_f16_fp8, gs_fp8, 2, GS_WIDE_F16)
GS_UNPACK_PART(v_cvt_scalef32_pk_f16_bf8, gs_bf8, 2, GS_WIDE_F16)
GS_UNPACK_PART(v_cvt_scalef32_pk_f16_fp4, gs_fp4, 2, GS_WIDE_F16)
GS_UNPACK_PART(v_cvt_scalef32_pk_bf16_fp8, gs_fp8, 2, GS_WIDE_BF16)
GS_UNPACK_PART(v_cvt_scalef32_pk_bf16_bf8, gs_bf8, 2, GS_WIDE_BF16)
GS_UNPACK_PART(v_cvt_scalef32_pk_bf16_fp4, gs_fp4, 2, GS_WIDE_BF16)

static inline void gs_unpack_all(gs_wave_t *w, const gs_inst_t *in, gs_small_format_t format,
                                 gs_number_type_t type) {
  const gs_row_t *row[6];
  for (unsigned r = 0; r < 6; r++)
    row[r] = gs_row(w, in->src[0].reg + r);
  gs_unpack(w, in, row, format, 0, GS_SCALE_MOST, type);
}
#define GS_UNPACK_ALL(name, format, type)                                                                    \
  GS_OP(name) {                                                                                              \
    gs_unpack_all(w, in, format, type);                                                                      \
  }
GS_UNPACK_ALL(v_cvt_scalef32_pk32_f32_fp6, gs_fp6, GS_WIDE_F32)
GS_UNPACK_ALL(v_cvt_scalef32_pk32_f32_bf6, gs_bf6, GS_WIDE_F32)
GS_UNPACK_ALL(v_cvt_scalef32_pk32_f16_fp6, gs_fp6, GS_WIDE_F16)
GS_UNPACK_ALL(v_cvt_scalef32_pk32_f16_bf6, gs_bf6, GS_WIDE_F16)
GS_UNPACK_ALL(v_cvt_scalef32_pk32_bf16_fp6, gs_fp6, GS_WIDE_BF16)
GS_UNPACK_ALL(v_cvt_scalef32_pk32_bf16_bf6, gs_bf6, GS_WIDE_BF16)

/* ---- Between wide ones: gfx950 has these, too. Not by MODE's rounding. ---- */

GS_OP(v_cvt_f32_bf16) {
  gs_row_t ta;
  const gs_row_t *const ra = gs_src16(w, in, 0, &ta);
  GS_F32_LOOP((void)0, const uint32_t a = ra->u32[l], gs_float_of_bits(a << 16));
}

static inline void gs_pack_wide(gs_wave_t *w, const gs_inst_t *in, gs_number_type_t type) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l)
    d->u32[l] = gs_wide_bits(type, ra->f32[l]) | gs_wide_bits(type, rb->f32[l]) << 16;
  gs_commit32(w, in, d);
}
GS_OP(v_cvt_pk_f16_f32) {
  gs_pack_wide(w, in, GS_WIDE_F16);
}
GS_OP(v_cvt_pk_bf16_f32) {
  gs_pack_wide(w, in, GS_WIDE_BF16);
}

/* By chance: as many of the upper bits of `random` as are lost are added before. A half's denormals lose more
 * of the significand, and no more of what is added. */
static inline uint32_t gs_f16_by_chance(float x, uint32_t random) {
  const uint32_t bits = gs_bits_of_float(x), sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 255;
  if (exponent == 255)
    return gs_half_of_float(x);
  const uint32_t below = exponent < 113 ? 113 - exponent : 0,
                 significand = exponent ? (bits & 0x7fffff) | 0x800000 : 0;
  const uint32_t base = below ? 0 : (exponent - 113) << 10;
  const uint32_t sum = (below < 24 ? significand >> below : 0) + (random >> 19);
  const uint32_t magnitude = base + (sum >> 13);
  return sign | (magnitude < 0x7c00 ? magnitude : 0x7c00);
}
static inline uint32_t gs_bf16_by_chance(float x, uint32_t random) {
  const uint32_t bits = gs_bits_of_float(x);
  return (bits >> 23 & 255) == 255 ? gs_wide_bits(GS_WIDE_BF16, x) : (bits + (random >> 16)) >> 16;
}
#define GS_SR_WIDE(name, fn)                                                                                 \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    gs_row_t tb, td;                                                                                         \
    const gs_row_t *const rb = gs_src32(w, in, 1, &tb);                                                      \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = fn(ra->f32[l], rb->u32[l]);                                                                \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_SR_WIDE(v_cvt_sr_f16_f32, gs_f16_by_chance)
GS_SR_WIDE(v_cvt_sr_bf16_f32, gs_bf16_by_chance)
