/* Sums of two products of halves and a float, as cards of gfx11 compute them for dot products and matrices,
 * bit by bit, whatever MODE says.
 *
 * Products are exact. All three terms are cut off at one place, which the greatest exponents set, and added
 * as integers in the sign of the float: a term of the other sign is its complement, which is a unit too
 * little. The sum is rounded once, to even, and becomes +0 where a float has no normal number. AMD published
 * this model, and what it was measured with, of gfx1100 (rocm-systems, emulation/rocjitsu, MIT licence);
 * someone found the same on gfx1151 (issue 12056 there). Not here: the instructions (op_vpk_float.c,
 * op_wmma.c). */
#ifndef GFXSIM_ISA_DOT2_H
#define GFXSIM_ISA_DOT2_H

#include "isa/half.h"

#include <stdbool.h>

/* A term: bits * 2^exponent. */
typedef struct gs_term {
  uint64_t bits;
  int32_t exponent;
  bool negative;
} gs_term_t;

/* What a factor is made of: `exponent` is that of its leading place, which denormals leave empty. Those of
 * bf16 are 0. */
typedef struct gs_factor {
  uint32_t bits;
  int32_t exponent;
  bool negative, is_nan, is_infinite;
} gs_factor_t;

/* The sum in units of 2^unit, with the float's sign changed; or the bits of a float that no number is. */
typedef struct gs_dot {
  int64_t sum;
  int32_t unit;
  bool flip, is_special;
  uint32_t special;
} gs_dot_t;

enum { GS_NOWHERE = -1024 };                /* the leading place of 0 */
#define GS_DOT_NAN     UINT32_C(0xffc00a3d) /* the result when a factor is a NaN */
#define GS_DOT_INVALID UINT32_C(0xffc00000)

static inline gs_factor_t gs_factor_of(bool bf16, uint32_t half) {
  const uint32_t fraction_bits = bf16 ? 7 : 10, most = bf16 ? 255 : 31, bias = bf16 ? 127 : 15;
  const uint32_t fraction = half & ((1u << fraction_bits) - 1), exponent = (half & 0x7fff) >> fraction_bits;
  return (gs_factor_t){.bits = exponent ? 1u << fraction_bits | fraction
                               : bf16   ? 0
                                        : fraction,
                       .exponent = (int32_t)(exponent ? exponent : 1) - (int32_t)bias,
                       .negative = half >> 15 & 1,
                       .is_nan = exponent == most && fraction,
                       .is_infinite = exponent == most && !fraction};
}

static inline int32_t gs_leading_place(gs_term_t t) {
  return t.bits ? t.exponent + 63 - __builtin_clzll(t.bits) : GS_NOWHERE;
}
static inline int32_t gs_greater_place(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* NaNs and infinities: of factors before those of the float, whose NaN becomes quiet. Returns whether there
 * is one. */
static inline bool gs_dot_special(const gs_factor_t f[4], uint32_t c, uint32_t *special) {
  bool nan = false, invalid = false, plus = false, minus = false;
  for (unsigned i = 0; i < 4; i += 2) {
    const gs_factor_t x = f[i], y = f[i + 1];
    const bool infinite = x.is_infinite || y.is_infinite;
    nan |= x.is_nan || y.is_nan;
    invalid |= (x.is_infinite && !y.bits) || (y.is_infinite && !x.bits);
    plus |= infinite && x.negative == y.negative;
    minus |= infinite && x.negative != y.negative;
  }
  invalid |= plus && minus;
  const bool c_nan = (c & 0x7fffffff) > 0x7f800000;
  plus |= c == 0x7f800000;
  minus |= c == 0xff800000;
  *special = nan             ? GS_DOT_NAN
             : invalid       ? GS_DOT_INVALID
             : c_nan         ? c | 0x400000
             : plus && minus ? GS_DOT_INVALID
             : minus         ? 0xff800000
                             : 0x7f800000;
  return nan || invalid || c_nan || plus || minus;
}

static inline int64_t gs_cut(gs_term_t t, int32_t unit) {
  const int32_t up = t.exponent - unit;
  return (int64_t)(!t.bits || up <= -64 ? 0 : up < 0 ? t.bits >> -up : t.bits << up);
}

/* Two products, f[0] * f[1] and f[2] * f[3], plus the float `c`. `to_half`: a half is to come of it, so that
 * the float's place counts as if it were one. */
static inline gs_dot_t gs_dot2_sum(bool bf16, bool to_half, const gs_factor_t f[4], uint32_t c) {
  const int32_t places = bf16 ? 7 : 10;
  gs_dot_t dot = {.flip = c >> 31};
  dot.is_special = gs_dot_special(f, c, &dot.special);
  if (dot.is_special)
    return dot;
  const uint32_t exponent = c >> 23 & 255;
  gs_term_t t[3] = {{exponent ? (c & 0x7fffff) | 0x800000 : 0, (int32_t)exponent - 150, dot.flip}};
  int32_t product = GS_NOWHERE; /* the greatest sum of exponents, wherever the products' bits are */
  for (unsigned i = 0; i < 2; i++) {
    const gs_factor_t x = f[2 * i], y = f[2 * i + 1];
    t[1 + i] = (gs_term_t){(uint64_t)x.bits * y.bits, x.exponent + y.exponent - 2 * places,
                           x.negative != y.negative};
    if (t[1 + i].bits)
      product = gs_greater_place(product, x.exponent + y.exponent);
  }
  int32_t place = gs_leading_place(t[0]);
  if (to_half)
    place = gs_greater_place(place, -14);
  place = gs_greater_place(place, gs_greater_place(gs_leading_place(t[1]), gs_leading_place(t[2])));
  if (!(t[0].bits | t[1].bits | t[2].bits))
    return dot;
  dot.unit = gs_greater_place(product - 24, place - 26);
  for (unsigned i = 0; i < 3; i++) {
    const int64_t x = gs_cut(t[i], dot.unit);
    dot.sum += t[i].negative != dot.flip ? ~x : x;
  }
  return dot;
}

/* The same of the halves of `a` and `b`. */
static inline gs_dot_t gs_dot2_of(bool bf16, bool to_half, uint32_t a, uint32_t b, uint32_t c) {
  const gs_factor_t f[4] = {gs_factor_of(bf16, a & 0xffff), gs_factor_of(bf16, b & 0xffff),
                            gs_factor_of(bf16, a >> 16), gs_factor_of(bf16, b >> 16)};
  return gs_dot2_sum(bf16, to_half, f, c);
}

/* x / 2^shift to nearest, ties to even, or x * 2^-shift. */
static inline uint64_t gs_dot_round(uint64_t x, int32_t shift) {
  if (shift <= 0)
    return x << -shift;
  return shift > 62 ? 0 : (x + (UINT64_C(1) << (shift - 1)) - 1 + (x >> shift & 1)) >> shift;
}

/* The sum as a float. */
static inline uint32_t gs_dot_to_f32(gs_dot_t dot) {
  if (dot.is_special || !dot.sum)
    return dot.is_special ? dot.special : 0;
  const uint64_t size = (uint64_t)(dot.sum < 0 ? -dot.sum : dot.sum);
  const int32_t top = 63 - __builtin_clzll(size);
  uint64_t bits = gs_dot_round(size, top - 23);
  const int32_t exponent = top + dot.unit + (bits >> 24 != 0);
  bits >>= bits >> 24;
  const uint32_t sign = (uint32_t)((dot.sum < 0) != dot.flip) << 31;
  if (exponent < -126)
    return 0;
  return sign |
         (exponent > 127 ? 0x7f800000 : (uint32_t)(exponent + 127) << 23 | ((uint32_t)bits & 0x7fffff));
}

/* The sum rounded to a half, denormals among them; `most` is what is beyond the range. */
static inline uint32_t gs_dot_to_f16(gs_dot_t dot, uint32_t most) {
  if (dot.is_special) {
    const uint32_t x = dot.special;
    return x == GS_DOT_NAN ? 0xfe3d : (x >> 16 & 0x8000) | 0x7c00 | (x >> 13 & 0x3ff);
  }
  if (!dot.sum)
    return 0;
  const uint64_t size = (uint64_t)(dot.sum < 0 ? -dot.sum : dot.sum);
  const int32_t top = 63 - __builtin_clzll(size), exponent = top + dot.unit;
  const uint32_t sign = (uint32_t)((dot.sum < 0) != dot.flip) << 15;
  /* With the leading place as a one, which the exponent counts. */
  const uint64_t bits = gs_dot_round(size, exponent < -14 ? -24 - dot.unit : top - 10);
  const uint64_t all = exponent < -14 ? bits : bits + ((uint64_t)(uint32_t)(exponent + 14) << 10);
  return !all ? 0 : sign | (uint32_t)(exponent > 15 || all >= 0x7c00 ? most : all);
}

/* A half, or bf16, as the bits of a float; signaling NaNs stay so. */
static inline uint32_t gs_dot_addend(bool bf16, uint32_t half) {
  return bf16 ? half << 16 : gs_bits_of_float(gs_float_of_half((uint16_t)half));
}

#endif
