/* Products of floats with a sum, rounded once to a half, as instructions of mixed precision and interpolation
 * have them. Not here: halves alone (float.h). */
#ifndef GFXSIM_ISA_MIX_H
#define GFXSIM_ISA_MIX_H

#include "isa/float.h"

/* a * b + c, rounded to a half as if exact. The product is exact in double; when rounding to nearest a sum
 * that is not gets its last bit set, so that it cannot be taken for one between two halves. */
static inline uint32_t gs_mix_fma16(float a, float b, float c, uint64_t nearest, gs_f16_limit_t limit) {
  const double product = gs_mul64(a, b), addend = (double)c, sum = gs_add64(product, addend);
  const double part = sum - product, lost = (product - (sum - part)) + (addend - part);
  const uint64_t bits = gs_bits_of_double(sum), toward = gs_bits_of_double(lost) ^ bits;
  const uint64_t inexact = gs_when64(lost < 0.0 || lost > 0.0) & nearest & ~bits & 1;
  const uint64_t odd = bits + (toward >> 63 ? 0 - inexact : inexact);
  /* Beyond floats, too, numbers are no infinities. */
  const uint64_t sign = odd & UINT64_C(0x8000000000000000), most = gs_bits_of_double(0x1p20);
  const uint64_t far = gs_when64((odd ^ sign) >= most && (odd ^ sign) < UINT64_C(0x7ff0000000000000));
  return gs_f16_of_f64(gs_double_of_bits((odd & ~far) | ((sign | most) & far)), limit);
}

#endif
