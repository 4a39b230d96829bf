/* Conversion between binary16 and binary32 in integers, whatever the host offers.
 * Not here: arithmetic of instructions on halves (float.h). */
#ifndef GFXSIM_ISA_HALF_H
#define GFXSIM_ISA_HALF_H

#include <stdint.h>
#include <string.h>

static inline float gs_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t gs_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Exact. A NaN keeps its payload. */
static inline float gs_float_of_half(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 31)
    return gs_float_of_bits(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return gs_float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = (float)mantissa * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

/* To nearest, ties to even. A NaN becomes quiet and keeps the upper part of its payload. */
static inline uint16_t gs_half_of_float(float value) {
  const uint32_t bits = gs_bits_of_float(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) /* 65520, where rounding reaches infinity */
    return (uint16_t)(sign | 0x7c00);
  /* Shift so that one unit of the result's last place is bit `shift`; denormal results have a fixed one. */
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 102) /* below half of the least denormal */
    return (uint16_t)sign;
  const uint32_t shift = exponent < 113 ? 126 - exponent : 13;
  const uint32_t significand = exponent < 113 ? (magnitude & 0x7fffff) | 0x800000 : magnitude - (112u << 23);
  const uint32_t odd = significand >> shift & 1;
  return (uint16_t)(sign | (significand + (1u << (shift - 1)) - 1 + odd) >> shift);
}

#endif
