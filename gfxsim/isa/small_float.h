/* Floats of eight bits as gfx942 has them: fp8 has four bits of exponent and three of fraction, bf8 five and
 * two. Neither has infinities or a negative zero, whose bits are the only NaN. Not here: instructions
 * (op_vfp8.c, op_mfma.c). */
#ifndef GFXSIM_ISA_FP8_H
#define GFXSIM_ISA_FP8_H

#include "isa/half.h"

#include <stdbool.h>

/* A format: bits of the fraction, bias of the exponent. */
typedef struct gs_fp8_format {
  uint32_t fraction, bias;
} gs_fp8_format_t;

static const gs_fp8_format_t gs_fp8 = {3, 8}, gs_bf8 = {2, 16};

enum { GS_FP8_NAN = 0x80, GS_FP8_MOST = 0x7f };

/* Exact; of the low eight bits. */
static inline float gs_f32_of_fp8(gs_fp8_format_t format, uint32_t bits) {
  const uint32_t magnitude = bits & 0x7f, sign = (bits & 0x80) << 24;
  if ((bits & 0xff) == GS_FP8_NAN)
    return gs_float_of_bits(0x7fc00000);
  if (magnitude >> format.fraction == 0) /* denormal, in units of its last place */
    return gs_float_of_bits(sign |
                            gs_bits_of_float((float)(int32_t)magnitude *
                                             gs_float_of_bits((128 - format.bias - format.fraction) << 23)));
  return gs_float_of_bits(sign | ((magnitude << (23 - format.fraction)) + ((127 - format.bias) << 23)));
}

/* The bits of x in units of a format's last place: `exponent` is that of a float, as encoded. Fills how many
 * bits of the significand are below it. */
static inline uint32_t gs_fp8_place(gs_fp8_format_t format, uint32_t exponent, uint32_t *shift) {
  const uint32_t least = 128 - format.bias; /* exponent of the least normal number */
  const uint32_t below = exponent < least ? least - exponent : 0;
  *shift = 23 - format.fraction + (below < 8 ? below : 8); /* nothing is left of what is smaller */
  return below ? 0 : (exponent - least) << format.fraction;
}

/* What does not fit is NaN, or the largest number if that is what `saturate` wants of finite ones. */
static inline uint32_t gs_fp8_limit(uint32_t sign, uint32_t magnitude, bool saturate) {
  if (magnitude > GS_FP8_MOST)
    return saturate ? sign | GS_FP8_MOST : GS_FP8_NAN;
  return magnitude ? sign | magnitude : 0;
}

/* Adds to the significand of x what decides about rounding, and cuts off: by chance the upper bits of
 * `random`, else half of a last place, less a little where the result would be odd. */
static inline uint32_t gs_fp8_round(gs_fp8_format_t format, float x, bool by_chance, uint32_t random,
                                    bool saturate) {
  const uint32_t bits = gs_bits_of_float(x), exponent = bits >> 23 & 0xff;
  if (exponent == 0xff)
    return GS_FP8_NAN;
  uint32_t shift;
  const uint32_t base = gs_fp8_place(format, exponent, &shift);
  const uint32_t significand = exponent ? (bits & 0x7fffff) | 0x800000 : 0;
  const uint32_t half = (1u << (shift - 1)) - 1 + (significand >> shift & 1);
  const uint32_t sum = significand + (by_chance ? random >> (9 + format.fraction) : half);
  return gs_fp8_limit(bits >> 24 & 0x80, base + (sum >> shift), saturate);
}

/* To nearest, ties to even. */
static inline uint32_t gs_fp8_of_f32(gs_fp8_format_t format, float x, bool saturate) {
  return gs_fp8_round(format, x, false, 0, saturate);
}
static inline uint32_t gs_fp8_by_chance(gs_fp8_format_t format, float x, uint32_t random, bool saturate) {
  return gs_fp8_round(format, x, true, random, saturate);
}

#endif
