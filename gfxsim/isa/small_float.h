/* Floats of eight bits and less: what gfx942 has, whose formats have neither infinities nor a negative zero,
 * and the Open Compute Project's, which gfx950 has. Not here: instructions (op_vfp8.c, op_vscale.c,
 * op_mfma.c). */
#ifndef GFXSIM_ISA_SMALL_FLOAT_H
#define GFXSIM_ISA_SMALL_FLOAT_H

#include "isa/half.h"

#include <stdbool.h>

/* What the bits mean that are no ordinary number. */
typedef enum gs_small_kind {
  GS_SMALL_FNUZ,   /* those of a negative zero are the only NaN */
  GS_SMALL_NAN,    /* all ones below the sign are NaN, and there are no infinities */
  GS_SMALL_IEEE,   /* as in wider floats */
  GS_SMALL_FINITE, /* all are numbers */
} gs_small_kind_t;

/* A format: all its bits, those of the fraction, bias of the exponent. */
typedef struct gs_small_format {
  uint32_t bits, fraction, bias;
  gs_small_kind_t kind;
} gs_small_format_t;

static const gs_small_format_t gs_fp8_fnuz = {8, 3, 8, GS_SMALL_FNUZ},
                               gs_bf8_fnuz = {8, 2, 16, GS_SMALL_FNUZ}, gs_fp8 = {8, 3, 7, GS_SMALL_NAN},
                               gs_bf8 = {8, 2, 15, GS_SMALL_IEEE}, gs_fp6 = {6, 3, 1, GS_SMALL_FINITE},
                               gs_bf6 = {6, 2, 3, GS_SMALL_FINITE}, gs_fp4 = {4, 1, 1, GS_SMALL_FINITE};

static inline uint32_t gs_small_sign(gs_small_format_t format) {
  return 1u << (format.bits - 1);
}

/* The greatest number without a sign, and what stands for those that are greater. */
static inline uint32_t gs_small_most(gs_small_format_t format) {
  const uint32_t ones = gs_small_sign(format) - 1;
  return format.kind == GS_SMALL_NAN    ? ones - 1
         : format.kind == GS_SMALL_IEEE ? ones - (1u << format.fraction)
                                        : ones;
}
static inline uint32_t gs_small_infinity(gs_small_format_t format, uint32_t sign, bool saturate) {
  const uint32_t most = gs_small_most(format);
  if (saturate || format.kind == GS_SMALL_FINITE)
    return sign | most;
  return format.kind == GS_SMALL_FNUZ ? gs_small_sign(format) : sign | (most + 1);
}
static inline uint32_t gs_small_nan(gs_small_format_t format, uint32_t sign) {
  switch (format.kind) {
  case GS_SMALL_FNUZ: return gs_small_sign(format);
  case GS_SMALL_IEEE: return sign | (gs_small_sign(format) - (1u << (format.fraction - 1)));
  default: return sign | (gs_small_sign(format) - 1);
  }
}

/* Of a magnitude that is no number: the bits of the float that it is. */
static inline uint32_t gs_small_special(gs_small_format_t format, uint32_t magnitude) {
  const bool infinite = format.kind == GS_SMALL_IEEE && magnitude == gs_small_most(format) + 1;
  return infinite ? 0x7f800000 : 0x7fc00000;
}

/* Exact; of the low bits. */
static inline float gs_f32_of_small(gs_small_format_t format, uint32_t bits) {
  const uint32_t top = gs_small_sign(format), magnitude = bits & (top - 1);
  const uint32_t sign = (bits & top) << (32 - format.bits);
  if (format.kind == GS_SMALL_FNUZ && (bits & (2 * top - 1)) == top)
    return gs_float_of_bits(0x7fc00000);
  if (magnitude > gs_small_most(format))
    return gs_float_of_bits(sign | gs_small_special(format, magnitude));
  if (magnitude >> format.fraction == 0) /* denormal, in units of its last place */
    return gs_float_of_bits(sign |
                            gs_bits_of_float((float)(int32_t)magnitude *
                                             gs_float_of_bits((128 - format.bias - format.fraction) << 23)));
  return gs_float_of_bits(sign | ((magnitude << (23 - format.fraction)) + ((127 - format.bias) << 23)));
}

/* The bits of x in units of a format's last place: `exponent` is that of a float, as encoded, and may lie
 * beyond a float's. Fills how many bits of the significand are below it. */
static inline uint32_t gs_small_place(gs_small_format_t format, int32_t exponent, uint32_t *below) {
  const int32_t least = 128 - (int32_t)format.bias; /* exponent of the least normal number */
  const int32_t missing = exponent < least ? least - exponent : 0;
  *below = missing < 25 ? (uint32_t)missing : 25; /* nothing is left of what is smaller */
  return missing ? 0 : (uint32_t)(exponent - least) << format.fraction;
}

static inline uint32_t gs_small_limit(gs_small_format_t format, uint32_t sign, uint32_t magnitude,
                                      bool saturate) {
  if (magnitude > gs_small_most(format))
    return gs_small_infinity(format, sign, saturate);
  return magnitude || format.kind != GS_SMALL_FNUZ ? sign | magnitude : 0;
}

/* A float's sign as the format has it, and of its significand 24 bits, of which the first is set unless it is
 * 0, with the exponent that they have then. */
typedef struct gs_small_parts {
  uint32_t sign, significand;
  int32_t exponent;
  bool nan, infinite;
} gs_small_parts_t;

enum { GS_SMALL_ZERO = -1000 }; /* the exponent of 0, which no scale lifts to that of a number */

static inline gs_small_parts_t gs_small_take(gs_small_format_t format, float x) {
  const uint32_t bits = gs_bits_of_float(x), encoded = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  gs_small_parts_t p = {.sign = bits >> 31 << (format.bits - 1),
                        .significand = encoded ? fraction | 0x800000 : fraction,
                        .exponent = (int32_t)(encoded ? encoded : 1),
                        .nan = encoded == 0xff && fraction,
                        .infinite = encoded == 0xff && !fraction};
  if (!encoded) {
    const int32_t up = fraction ? __builtin_clz(fraction) - 8 : 0;
    p.significand <<= up;
    p.exponent = fraction ? 1 - up : GS_SMALL_ZERO;
  }
  return p;
}

/* To nearest, ties to even, of x / 2^scale. */
static inline uint32_t gs_small_of_f32(gs_small_format_t format, float x, int32_t scale, bool saturate) {
  const gs_small_parts_t p = gs_small_take(format, x);
  if (p.nan)
    return gs_small_nan(format, p.sign);
  if (p.infinite)
    return gs_small_infinity(format, p.sign, saturate && format.kind != GS_SMALL_FNUZ);
  uint32_t below;
  const uint32_t base = gs_small_place(format, p.exponent - scale, &below),
                 shift = 23 - format.fraction + below;
  const uint64_t significand = p.significand;
  const uint64_t half = (UINT64_C(1) << (shift - 1)) - 1 + (significand >> shift & 1);
  return gs_small_limit(format, p.sign, base + (uint32_t)((significand + half) >> shift), saturate);
}

/* By chance: the upper bits of `random` are added to what is below the last place, as many as the source's
 * fraction has more, and then it is cut off. */
static inline uint32_t gs_small_by_chance(gs_small_format_t format, float x, int32_t scale, uint32_t random,
                                          uint32_t source_fraction, bool saturate) {
  const gs_small_parts_t p = gs_small_take(format, x);
  if (p.nan)
    return gs_small_nan(format, p.sign);
  if (p.infinite)
    return gs_small_infinity(format, p.sign, saturate);
  uint32_t below;
  const uint32_t base = gs_small_place(format, p.exponent - scale, &below);
  const uint32_t more = source_fraction - format.fraction;
  const uint32_t chance = random >> (32 - more) << (23 - source_fraction);
  const uint32_t sum = (p.significand >> below) + chance;
  return gs_small_limit(format, p.sign, base + (sum >> (23 - format.fraction)), saturate);
}

/* The same without a scale, as gfx942 was the first to have it: what is added stands at one place of the
 * significand, however far a small number's reaches below the last place (AMD's text of V_CVT_SR_FP8_F32). */
static inline uint32_t gs_fp8_by_chance(gs_small_format_t format, float x, uint32_t random, bool saturate) {
  const gs_small_parts_t p = gs_small_take(format, x);
  if (p.nan)
    return gs_small_nan(format, p.sign);
  if (p.infinite)
    return gs_small_infinity(format, p.sign, saturate && format.kind != GS_SMALL_FNUZ);
  uint32_t below;
  const uint32_t base = gs_small_place(format, p.exponent, &below);
  const uint64_t sum = p.significand + (random >> (9 + format.fraction));
  return gs_small_limit(format, p.sign, base + (uint32_t)(sum >> (23 - format.fraction + below)), saturate);
}

#endif
