/* Floating-point arithmetic of atomic operations on bit patterns, as the memory hardware does it: round to
 * nearest even, NaNs made quiet and propagated (memory's before the operand's), minimum and maximum with -0
 * below +0 and numbers preferred to quiet NaNs. Not here: how memory is updated (atomic.h, op_ds.c). */
#ifndef GFXSIM_ISA_FP_ATOMIC_H
#define GFXSIM_ISA_FP_ATOMIC_H

#include "isa/half.h"

#include <stdbool.h>

/* Which denormals survive, as a denormal field of MODE has it. */
enum { GS_FP_KEEP_INPUTS = 1, GS_FP_KEEP_OUTPUTS = 2, GS_FP_KEEP_DENORMALS = 3 };

/* The operations for one format: `bits` wide, with `fraction` bits below the exponent. */
#define GS_FP_ATOMIC(bits, type, fraction)                                                                   \
  static inline bool gs_fp_is_nan##bits(uint##bits##_t x) {                                                  \
    const uint##bits##_t infinity = (UINT##bits##_MAX >> 1) - ((UINT##bits##_C(1) << fraction) - 1);         \
    return (x & (UINT##bits##_MAX >> 1)) > infinity;                                                         \
  }                                                                                                          \
  static inline bool gs_fp_is_signaling##bits(uint##bits##_t x) {                                            \
    return gs_fp_is_nan##bits(x) && !(x >> (fraction - 1) & 1);                                              \
  }                                                                                                          \
  static inline uint##bits##_t gs_fp_quiet##bits(uint##bits##_t x) {                                         \
    return x | UINT##bits##_C(1) << (fraction - 1);                                                          \
  }                                                                                                          \
  static inline uint##bits##_t gs_fp_flush##bits(uint##bits##_t x, bool keep) {                              \
    const uint##bits##_t exponent = (UINT##bits##_MAX >> 1) - ((UINT##bits##_C(1) << fraction) - 1);         \
    return keep || (x & exponent) ? x : x & ~(UINT##bits##_MAX >> 1);                                        \
  }                                                                                                          \
  /* Orders numbers, -0 below +0. */                                                                         \
  static inline uint##bits##_t gs_fp_key##bits(uint##bits##_t x) {                                           \
    return x >> (bits - 1) ? ~x : x | UINT##bits##_C(1) << (bits - 1);                                       \
  }                                                                                                          \
  static inline uint##bits##_t gs_fp_add##bits(uint##bits##_t memory, uint##bits##_t data,                   \
                                               unsigned denorm) {                                            \
    if (gs_fp_is_nan##bits(memory))                                                                          \
      return gs_fp_quiet##bits(memory);                                                                      \
    if (gs_fp_is_nan##bits(data))                                                                            \
      return gs_fp_quiet##bits(data);                                                                        \
    memory = gs_fp_flush##bits(memory, denorm & GS_FP_KEEP_INPUTS);                                          \
    data = gs_fp_flush##bits(data, denorm & GS_FP_KEEP_INPUTS);                                              \
    type a, b;                                                                                               \
    memcpy(&a, &memory, sizeof a);                                                                           \
    memcpy(&b, &data, sizeof b);                                                                             \
    a += b;                                                                                                  \
    memcpy(&memory, &a, sizeof a);                                                                           \
    if (gs_fp_is_nan##bits(                                                                                  \
            memory)) /* infinities of both signs: the positive NaN, whatever the host gives */               \
      memory &= UINT##bits##_MAX >> 1;                                                                       \
    return gs_fp_flush##bits(memory, denorm & GS_FP_KEEP_OUTPUTS);                                           \
  }                                                                                                          \
  /* Flushing counts for the comparison only; the chosen value is stored as it is. */                        \
  static inline uint##bits##_t gs_fp_choose##bits(uint##bits##_t memory, uint##bits##_t data,                \
                                                  unsigned denorm, bool greater) {                           \
    if (gs_fp_is_signaling##bits(memory))                                                                    \
      return gs_fp_quiet##bits(memory);                                                                      \
    if (gs_fp_is_signaling##bits(data))                                                                      \
      return gs_fp_quiet##bits(data);                                                                        \
    if (gs_fp_is_nan##bits(data))                                                                            \
      return memory;                                                                                         \
    if (gs_fp_is_nan##bits(memory))                                                                          \
      return data;                                                                                           \
    const uint##bits##_t a = gs_fp_key##bits(gs_fp_flush##bits(memory, denorm & GS_FP_KEEP_INPUTS));         \
    const uint##bits##_t b = gs_fp_key##bits(gs_fp_flush##bits(data, denorm & GS_FP_KEEP_INPUTS));           \
    return (greater ? b > a : b < a) ? data : memory;                                                        \
  }                                                                                                          \
  static inline uint##bits##_t gs_fp_min##bits(uint##bits##_t memory, uint##bits##_t data,                   \
                                               unsigned denorm) {                                            \
    return gs_fp_choose##bits(memory, data, denorm, false);                                                  \
  }                                                                                                          \
  static inline uint##bits##_t gs_fp_max##bits(uint##bits##_t memory, uint##bits##_t data,                   \
                                               unsigned denorm) {                                            \
    return gs_fp_choose##bits(memory, data, denorm, true);                                                   \
  }                                                                                                          \
  /* Equal as numbers: NaNs never, zeros of both signs yes. */                                               \
  static inline bool gs_fp_equal##bits(uint##bits##_t a, uint##bits##_t b, unsigned denorm) {                \
    a = gs_fp_flush##bits(a, denorm & GS_FP_KEEP_INPUTS);                                                    \
    b = gs_fp_flush##bits(b, denorm & GS_FP_KEEP_INPUTS);                                                    \
    if (gs_fp_is_nan##bits(a) || gs_fp_is_nan##bits(b))                                                      \
      return false;                                                                                          \
    return a == b || ((a | b) & (UINT##bits##_MAX >> 1)) == 0;                                               \
  }

GS_FP_ATOMIC(32, float, 23)
GS_FP_ATOMIC(64, double, 52)

/* Two halves, each added apart. The sum in binary32 is exact or rounds to the same half. */
static inline uint16_t gs_fp_add16(uint16_t memory, uint16_t data) {
  return gs_half_of_float(
      gs_float_of_bits(gs_fp_add32(gs_bits_of_float(gs_float_of_half(memory)),
                                   gs_bits_of_float(gs_float_of_half(data)), GS_FP_KEEP_DENORMALS)));
}
static inline uint32_t gs_fp_pk_add16(uint32_t memory, uint32_t data) {
  return gs_fp_add16((uint16_t)memory, (uint16_t)data) |
         (uint32_t)gs_fp_add16((uint16_t)(memory >> 16), (uint16_t)(data >> 16)) << 16;
}

/* bf16: the upper half of a binary32. */
static inline uint32_t gs_fp_add_bf16(uint32_t memory, uint32_t data) {
  const uint32_t sum = gs_fp_add32(memory << 16, data << 16, GS_FP_KEEP_DENORMALS);
  if (gs_fp_is_nan32(sum))
    return sum >> 16;
  return (sum + 0x7fff + (sum >> 16 & 1)) >> 16;
}
static inline uint32_t gs_fp_pk_add_bf16(uint32_t memory, uint32_t data) {
  return gs_fp_add_bf16(memory & 0xffff, data & 0xffff) | gs_fp_add_bf16(memory >> 16, data >> 16) << 16;
}

#endif
