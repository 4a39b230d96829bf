/* The fused multiply-add of halves in floats, for waves whose MODE rounds to nearest and keeps denormals, as
 * nearly all do: twice as many lanes at once as in doubles. Not here: that of any MODE (gs_fma16). */
#ifndef GFXSIM_ISA_FMA16_H
#define GFXSIM_ISA_FMA16_H

#include "isa/float.h"

/* A product of halves is exact in a float. Where the sum is not, its last bit is made odd on the side on
 * which the exact sum lies, so that rounding to the half's eleven bits sees that there is more: 24 bits are
 * enough for that (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd"). */
static inline uint32_t gs_fma16_near(float a, float b, float c, gs_f16_limit_t limit) {
  const float product = gs_mul32(a, b), sum = gs_add32(product, c);
  const float rest = sum - product, error = (product - (sum - rest)) + (c - rest);
  const uint32_t bits = gs_bits_of_float(sum), inexact = gs_when32((error < 0) | (error > 0));
  const uint32_t same_sign = 0 - (~(bits ^ gs_bits_of_float(error)) >> 31);
  const uint32_t even = inexact & ((bits & 1) - 1);
  const uint32_t odd = bits + (even & gs_pick32(same_sign, 1, UINT32_MAX));
  return gs_f16_of_f32(gs_float_of_bits(odd), limit);
}

#endif
