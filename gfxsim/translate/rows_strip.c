/* Stencils that are no instructions, for strips: what loads make of the dwords of sixteen lanes, which are in
 * memory one lane after the other. These are the first operand, as many registers as each lane has dwords.
 * Pairs of results are halves of 64-bit values in the order that strips have those in (gs_join64), so that
 * they need not be parted. Not here: where the memory is (rows_memory.c). */
#include "translate/stencil.h"

#ifdef GS_STENCIL_FULL

/* Parts of 128 bits: the even ones of both, or the odd ones. */
#define EVEN(a, b) _mm512_shuffle_i64x2(a, b, 0x88)
#define ODD(a, b)  _mm512_shuffle_i64x2(a, b, 0xdd)

#define GS_STRIP_LOAD(n)                                                                                     \
  void gs_stencil_load_##n##_stripfull(gs_wave_t *w);                                                        \
  void gs_stencil_load_##n##_stripfull(gs_wave_t *w)

static inline __m512i from_memory(const gs_wave_t *w, unsigned i) {
  return _mm512_load_si512(gs_row(w, GS_HOLE_SRC0 + i));
}
/* Two registers from the values of sixteen lanes. */
static inline void put_pair(const gs_wave_t *w, unsigned i, __m512i first, __m512i second) {
  const __m512 x = _mm512_castsi512_ps(first), y = _mm512_castsi512_ps(second);
  _mm512_store_ps(gs_row(w, GS_HOLE_DST + i), _mm512_shuffle_ps(x, y, 0x88));
  _mm512_store_ps(gs_row(w, GS_HOLE_DST + i + 1), _mm512_shuffle_ps(x, y, 0xdd));
}

GS_STRIP_LOAD(1) {
  _mm512_store_si512(gs_row(w, GS_HOLE_DST), from_memory(w, 0));
  gs_stencil_next(w);
}
GS_STRIP_LOAD(2) {
  const __m512i a = from_memory(w, 0), b = from_memory(w, 1);
  put_pair(w, 0, EVEN(a, b), ODD(a, b));
  gs_stencil_next(w);
}
/* What comes apart by the way the lanes lie is pairs already (strip_emit.c). */
GS_STRIP_LOAD(4) {
  put_pair(w, 0, from_memory(w, 0), from_memory(w, 1));
  put_pair(w, 2, from_memory(w, 2), from_memory(w, 3));
  gs_stencil_next(w);
}

/* Masks of lanes that scalar instructions move and combine. In registers for masks: elsewhere the compiler
 * would take them by way of general ones. */
static inline __mmask16 lanes_of(unsigned reg) {
  __mmask16 lanes;
  __asm__("kmovw %1, %0" : "=k"(lanes) : "m"(*(const uint16_t *)(gs_strip_masks + gs_strip_sgpr(reg))));
  return lanes;
}
static inline void put_lanes(__mmask16 lanes) {
  __asm__ volatile("kmovw %1, %0"
                   : "=m"(*(uint16_t *)(gs_strip_masks + gs_strip_sgpr(GS_HOLE_DST)))
                   : "k"(lanes));
}
#define GS_STRIP_MASK(name, value)                                                                           \
  void gs_stencil_mask_##name##_stripfull(gs_wave_t *w);                                                     \
  void gs_stencil_mask_##name##_stripfull(gs_wave_t *w) {                                                    \
    put_lanes(value);                                                                                        \
    gs_stencil_next(w);                                                                                      \
  }
GS_STRIP_MASK(move, lanes_of(GS_HOLE_SRC0))
GS_STRIP_MASK(move_second, lanes_of(GS_HOLE_SRC1))
GS_STRIP_MASK(not, _knot_mask16(lanes_of(GS_HOLE_SRC0)))
GS_STRIP_MASK(not_second, _knot_mask16(lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(and, _kand_mask16(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(or, _kor_mask16(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(xor, _kxor_mask16(lanes_of(GS_HOLE_SRC0), lanes_of(GS_HOLE_SRC1)))
GS_STRIP_MASK(andn2, _kandn_mask16(lanes_of(GS_HOLE_SRC1), lanes_of(GS_HOLE_SRC0)))
#else
/* Strips with part of their lanes have no loads. */
void gs_stencil_cannot(void);
#endif
