/* Conversions between 32-bit integers, floats and halves that vector and scalar instructions share, one
 * number at a time. Not here: the instructions, and what rounds to halves as MODE says (float.h). */
#ifndef GFXSIM_ISA_CONVERT_H
#define GFXSIM_ISA_CONVERT_H

#include "isa/float.h"

/* ---- Floats to integers: towards zero, out-of-range values saturate, NaN gives 0. Values are brought into
 * range first, as the C conversion has no meaning outside it. ---- */

static inline int32_t gs_i32_of_f32(float x) {
  const float low = x > -0x1p31f ? x : -0x1p31f, both = low < 0x1.fffffep30f ? low : 0x1.fffffep30f;
  const int32_t inside = (int32_t)both, r = x >= 0x1p31f ? INT32_MAX : inside;
  return x == x ? r : 0;
}
static inline uint32_t gs_u32_of_f32(float x) {
  const float low = x > 0.0f ? x : 0.0f, both = low < 0x1.fffffep31f ? low : 0x1.fffffep31f;
  const bool upper = both >= 0x1p31f;
  const uint32_t inside = (uint32_t)(int32_t)(upper ? both - 0x1p31f : both) + ((uint32_t)upper << 31);
  return x >= 0x1p32f ? UINT32_MAX : inside;
}

/* Rounds once, in the sum. Spelt out since vector code that compilers have for it gives -0 for 0 when
 * rounding down. */
static inline float gs_f32_of_u32(uint32_t x) {
  return (float)(int32_t)(x >> 16) * 0x1p16f + (float)(int32_t)(x & 0xffff);
}

/* To a half by dropping bits. Beyond the range of halves that gives the largest half; only infinity stays
 * infinite. */
static inline uint32_t gs_f16_of_f32_rtz(float x) {
  const uint32_t bits = gs_bits_of_float(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const uint32_t is_small = gs_when32(magnitude < (113u << 23));
  const uint32_t denormal = (uint32_t)(int32_t)(gs_float_of_bits(magnitude & is_small) * 0x1p24f);
  const uint32_t inside = gs_pick32(is_small, denormal, (magnitude - (112u << 23)) >> 13);
  const uint32_t finite = gs_pick32(gs_when32(magnitude >= (143u << 23)), 0x7bff, inside);
  const uint32_t number = gs_pick32(gs_when32(magnitude >= 0x7f800000), 0x7c00, finite);
  return sign | gs_pick32(gs_when32(magnitude > 0x7f800000), 0x7e00 | (magnitude >> 13 & 0x3ff), number);
}

/* The bits of a float that is a half; keeps signaling NaNs. */
static inline uint32_t gs_f16_bits(float x) {
  const uint32_t bits = gs_bits_of_float(x), magnitude = bits & 0x7fffffff;
  const uint32_t number = gs_bits_of_float(gs_float_of_bits(magnitude) * 0x1p-112f) >> 13;
  const uint32_t special = 0x7c00 | (magnitude >> 13 & 0x3ff);
  return (bits >> 16 & 0x8000) | (magnitude >= 0x7f800000 ? special : number);
}

#endif
