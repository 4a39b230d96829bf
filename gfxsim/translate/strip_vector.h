/* What stencils for strips, and those around them, that are written by hand are made of: vectors of a strip's
 * lanes, and masks of lanes in registers, as the host's level has them. Not here: what stencils are
 * (stencil.h). */
#ifndef GFXSIM_TRANSLATE_STRIP_VECTOR_H
#define GFXSIM_TRANSLATE_STRIP_VECTOR_H

#include "translate/stencil.h"

#if defined(__AVX512F__)
typedef __m512i vector_t;
/* In a register for masks; elsewhere the compiler would take them by way of a general one. */
typedef __mmask16 lanes_t;

enum { STRIP_LANES = 16 };
typedef uint16_t strip_bits_t; /* of a mask */

#define VECTOR(name)      _mm512_##name
#define VECTOR_BITS(name) _mm512_##name##_si512
static inline lanes_t lanes_at(const char *place) {
  lanes_t lanes;
  __asm__("kmovw %1, %0" : "=k"(lanes) : "m"(*(const uint16_t *)place));
  return lanes;
}
static inline void put_lanes(char *place, lanes_t lanes) {
  __asm__ volatile("kmovw %1, %0" : "=m"(*(uint16_t *)place) : "k"(lanes));
}
static inline lanes_t no_lanes(void) {
  lanes_t none;
  __asm__("kxorw %0, %0, %0" : "=k"(none));
  return none;
}
static inline lanes_t not_lanes(lanes_t a) {
  return _knot_mask16(a);
}
static inline lanes_t and_lanes(lanes_t a, lanes_t b) {
  return _kand_mask16(a, b);
}
static inline lanes_t or_lanes(lanes_t a, lanes_t b) {
  return _kor_mask16(a, b);
}
static inline lanes_t xor_lanes(lanes_t a, lanes_t b) {
  return _kxor_mask16(a, b);
}
/* Those of b that are none of a. */
static inline lanes_t andn_lanes(lanes_t a, lanes_t b) {
  return _kandn_mask16(a, b);
}

static inline lanes_t is_equal(vector_t a, vector_t b) {
  return _mm512_cmpeq_epi32_mask(a, b);
}
/* Whether a - b, modulo 2^32, is more than the constant. */
static inline lanes_t is_beyond(vector_t a, uint32_t b, uint32_t most) {
  return _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(a, _mm512_set1_epi32((int32_t)b)),
                                 _mm512_set1_epi32((int32_t)most));
}
/* Whether a and b have a bit in common. b has one bit. */
static inline lanes_t has_bit(vector_t a, vector_t b) {
  return _mm512_test_epi32_mask(b, a);
}
/* Per lane b where the first bit of `sign`, which all others are like, is set, and else a. */
static inline vector_t select_by_sign(vector_t sign, vector_t a, vector_t b) {
  enum { SELECT = 0xca };
  return _mm512_ternarylogic_epi32(sign, b, a, SELECT);
}

#else
typedef __m256i vector_t;
/* All bits of a lane, or none. */
typedef __m256i lanes_t;

enum { STRIP_LANES = 8 };
typedef uint8_t strip_bits_t;

#define VECTOR(name)      _mm256_##name
#define VECTOR_BITS(name) _mm256_##name##_si256
/* The host's instructions are signs for what is done (mkstrip.c): there are no 32 bytes. */
typedef struct gs_strip_sign {
  char bytes[sizeof(lanes_t)];
} gs_strip_sign_t;
static inline lanes_t lanes_at(const char *place) {
  lanes_t lanes;
  __asm__("vmovdqu %1, %0" : "=x"(lanes) : "m"(*(const gs_strip_sign_t *)place));
  return lanes;
}
static inline void put_lanes(char *place, lanes_t lanes) {
  __asm__ volatile("vmovdqu %1, %0" : "=m"(*(gs_strip_sign_t *)place) : "x"(lanes));
}
static inline lanes_t no_lanes(void) {
  return _mm256_setzero_si256();
}
static inline lanes_t not_lanes(lanes_t a) {
  return _mm256_xor_si256(a, _mm256_set1_epi32(-1));
}
static inline lanes_t and_lanes(lanes_t a, lanes_t b) {
  return _mm256_and_si256(a, b);
}
static inline lanes_t or_lanes(lanes_t a, lanes_t b) {
  return _mm256_or_si256(a, b);
}
static inline lanes_t xor_lanes(lanes_t a, lanes_t b) {
  return _mm256_xor_si256(a, b);
}
static inline lanes_t andn_lanes(lanes_t a, lanes_t b) {
  return _mm256_andnot_si256(a, b);
}

static inline lanes_t is_equal(vector_t a, vector_t b) {
  return _mm256_cmpeq_epi32(a, b);
}
/* The host compares numbers with signs: 2^31 is added on both sides. */
static inline lanes_t is_beyond(vector_t a, uint32_t b, uint32_t most) {
  const uint32_t half = UINT32_C(1) << 31;
  return _mm256_cmpgt_epi32(_mm256_add_epi32(a, _mm256_set1_epi32((int32_t)(half - b))),
                            _mm256_set1_epi32((int32_t)(most ^ half)));
}
static inline lanes_t has_bit(vector_t a, vector_t b) {
  return _mm256_cmpeq_epi32(_mm256_and_si256(a, b), b);
}
static inline vector_t select_by_sign(vector_t sign, vector_t a, vector_t b) {
  return (__m256i)_mm256_blendv_ps((__m256)a, (__m256)b, (__m256)sign);
}
#endif

static inline vector_t vector_at(const void *place) {
  return VECTOR_BITS(load)((const vector_t *)place);
}
static inline void put_vector(void *place, vector_t value) {
  VECTOR_BITS(store)((vector_t *)place, value);
}
static inline vector_t all(uint32_t value) {
  return VECTOR(set1_epi32)((int32_t)value);
}
static inline vector_t and_vectors(vector_t a, vector_t b) {
  return VECTOR_BITS(and)(a, b);
}
static inline vector_t or_vectors(vector_t a, vector_t b) {
  return VECTOR_BITS(or)(a, b);
}
static inline vector_t xor_vectors(vector_t a, vector_t b) {
  return VECTOR_BITS(xor)(a, b);
}

#endif
