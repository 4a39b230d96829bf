/* Stencils that are no instructions, for strips: what loads make of the dwords of its lanes, which are in
 * memory one lane after the other. These are the first operand, as many registers as each lane has dwords.
 * Pairs of results are halves of 64-bit values in the order that strips have those in (gs_join64), so that
 * they need not be parted. Not here: where the memory is (rows_memory.c). */
#include "translate/strip_vector.h"

#ifdef GS_STENCIL_FULL

/* Parts of 128 bits: the even ones of both, or the odd ones; of two each, the first ones or the second ones.
 */
#if defined(__AVX512F__)
#define EVEN(a, b) _mm512_shuffle_i64x2(a, b, 0x88)
#define ODD(a, b)  _mm512_shuffle_i64x2(a, b, 0xdd)
#else
#define EVEN(a, b) _mm256_permute2x128_si256(a, b, 0x20)
#define ODD(a, b)  _mm256_permute2x128_si256(a, b, 0x31)
#endif

#define GS_STRIP_LOAD(n)                                                                                     \
  void gs_stencil_load_##n##_stripfull(gs_wave_t *w);                                                        \
  void gs_stencil_load_##n##_stripfull(gs_wave_t *w)

static inline vector_t from_memory(const gs_wave_t *w, unsigned i) {
  return vector_at(gs_row(w, GS_HOLE_SRC0 + i));
}
/* Two registers from the values of the lanes. */
static inline void put_pair(const gs_wave_t *w, unsigned i, vector_t first, vector_t second) {
#if defined(__AVX512F__)
  const __m512 x = _mm512_castsi512_ps(first), y = _mm512_castsi512_ps(second);
#else
  const __m256 x = _mm256_castsi256_ps(first), y = _mm256_castsi256_ps(second);
#endif
  VECTOR(store_ps)(gs_row(w, GS_HOLE_DST + i)->f32, VECTOR(shuffle_ps)(x, y, 0x88));
  VECTOR(store_ps)(gs_row(w, GS_HOLE_DST + i + 1)->f32, VECTOR(shuffle_ps)(x, y, 0xdd));
}

GS_STRIP_LOAD(1) {
  put_vector(gs_row(w, GS_HOLE_DST), from_memory(w, 0));
  gs_stencil_next(w);
}
GS_STRIP_LOAD(2) {
  const vector_t a = from_memory(w, 0), b = from_memory(w, 1);
  put_pair(w, 0, EVEN(a, b), ODD(a, b));
  gs_stencil_next(w);
}
/* What comes apart by the way the lanes lie is pairs already (strip_emit.c). */
GS_STRIP_LOAD(4) {
  put_pair(w, 0, from_memory(w, 0), from_memory(w, 1));
  put_pair(w, 2, from_memory(w, 2), from_memory(w, 3));
  gs_stencil_next(w);
}

/* Masks of lanes that scalar instructions move and combine. */
static inline lanes_t lanes_of(unsigned reg) {
  return lanes_at(gs_strip_masks + gs_strip_sgpr(reg));
}
#define GS_STRIP_MASK(name, value)                                                                           \
  void gs_stencil_mask_##name##_stripfull(gs_wave_t *w);                                                     \
  void gs_stencil_mask_##name##_stripfull(gs_wave_t *w) {                                                    \
    put_lanes(gs_strip_masks + gs_strip_sgpr(GS_HOLE_DST), value);                                           \
    gs_stencil_next(w);                                                                                      \
  }
GS_STRIP_MASK(move, lanes_of(GS_HOLE_SRC0))
GS_STRIP_MASK(move_second, lanes_of(GS_HOLE_SRC1))
GS_STRIP_MASK(not, not_lanes(lanes_of(GS_HOLE_SRC0)))
GS_STRIP_MASK(not_second, not_lanes(lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(and, and_lanes(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(or, or_lanes(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(xor, xor_lanes(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(andn2, andn_lanes(lanes_of(GS_HOLE_SRC1), lanes_of(GS_HOLE_SRC0)))
#else
/* Strips with part of their lanes have no loads. */
void gs_stencil_cannot(void);
#endif
