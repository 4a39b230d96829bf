/* Stencils for strips of the instructions that divisions and roots are made of, for ordinary numbers, as
 * nearly all are: none is zero, denormal, infinite or a NaN, and their quotient is none either. That is
 * assumed (strip.h). Not here: what they do with others (isa/op_vdiv.c), and with all lanes at once
 * (rows_math.c). */
#include "translate/stencil.h"

#if defined(GS_STENCIL_STRIP) && defined(GS_STENCIL_FULL)
#include "isa/float.h"

#undef GS_STENCIL_LANES
#define GS_STENCIL_LANES stripassumed

/* Masks, in a register for such; elsewhere the compiler would take them by way of a general one. */
static inline __mmask16 no_lanes(void) {
  __mmask16 none;
  __asm__("kxorw %0, %0, %0" : "=k"(none));
  return none;
}
static inline void put_lanes(void *place, __mmask16 lanes) {
  __asm__ volatile("kmovw %1, %0" : "=m"(*(uint16_t *)place) : "k"(lanes));
}
static inline void assume_no(__mmask16 lanes) {
  put_lanes(gs_strip_masks + offsetof(gs_wave_t, strip_guard), lanes);
}
static inline __mmask16 lanes_of_vcc(void) {
  __mmask16 lanes;
  __asm__("kmovw %1, %0"
          : "=k"(lanes)
          : "m"(*(const uint16_t *)(gs_strip_masks + offsetof(gs_wave_t, s) + 4 * GS_S_VCC)));
  return lanes;
}

static inline __m512i bits_of(const gs_row_t *row) {
  return _mm512_load_si512(row);
}
static inline __m512i all(uint32_t value) {
  return _mm512_set1_epi32((int32_t)value);
}
static inline void put(gs_row_t *row, __m512i value) {
  _mm512_store_si512(row, value);
}

/* The exponent fields of floats, or of the upper halves of doubles: where they are, and what isa/op_vdiv.c
 * scales. */
typedef struct format {
  uint32_t field, unit, least_num, most, far;
} format_t;
static const format_t single = {0x7f800000, 1 << 23, 25, 252, 95},
                      twice = {0x7ff00000, 1 << 20, 54, 2044, 767};

static inline __m512i exponent_of(__m512i bits, format_t f) {
  return _mm512_and_si512(bits, all(f.field));
}
static inline void assume_number(__m512i bits, format_t f) {
  assume_no(_mm512_cmpeq_epi32_mask(exponent_of(bits, f), all(f.field)));
}
/* That neither is scaled, and that both are numbers. */
static inline void assume_ordinary(__m512i den, __m512i num, format_t f) {
  const __m512i ed = exponent_of(den, f), en = exponent_of(num, f);
  const __m512i ratio = _mm512_add_epi32(_mm512_sub_epi32(en, ed), all(f.far * f.unit));
  assume_no(_mm512_cmpgt_epu32_mask(_mm512_sub_epi32(ed, all(f.unit)), all((f.most - 1) * f.unit)));
  assume_no(_mm512_cmpgt_epu32_mask(_mm512_sub_epi32(en, all(f.least_num * f.unit)),
                                    all(f.field - (1 + f.least_num) * f.unit)));
  assume_no(_mm512_cmpgt_epu32_mask(ratio, all(2 * f.far * f.unit)));
}
/* The quotient with its sign. */
static inline __m512i with_sign(__m512i q, __m512i den, __m512i num) {
  const __m512i sign = _mm512_and_si512(_mm512_xor_si512(den, num), all(0x80000000));
  return _mm512_or_si512(_mm512_and_si512(q, all(0x7fffffff)), sign);
}

static inline void scale_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  assume_ordinary(bits_of(rb), bits_of(rc), single);
  assume_number(bits_of(ra), single);
  put(gs_row(w, in->dst), bits_of(ra));
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), no_lanes());
}
static inline void scale_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  const __m512i low = bits_of(ra.lo), high = bits_of(ra.hi);
  assume_ordinary(bits_of(rb.hi), bits_of(rc.hi), twice);
  assume_number(high, twice);
  put(gs_row(w, in->dst), low);
  put(gs_row(w, in->dst + 1u), high);
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), no_lanes());
}

static inline void fixup_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  assume_ordinary(bits_of(rb), bits_of(rc), single);
  assume_number(bits_of(ra), single);
  put(gs_row(w, in->dst), with_sign(bits_of(ra), bits_of(rb), bits_of(rc)));
}
static inline void fixup_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  const __m512i low = bits_of(ra.lo), high = with_sign(bits_of(ra.hi), bits_of(rb.hi), bits_of(rc.hi));
  assume_ordinary(bits_of(rb.hi), bits_of(rc.hi), twice);
  assume_number(bits_of(ra.hi), twice);
  put(gs_row(w, in->dst), low);
  put(gs_row(w, in->dst + 1u), high);
}

/* Nothing is scaled back: a fused sum like any other. */
static inline void fmas_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  assume_no(lanes_of_vcc());
  *(gs_strip32_t *)gs_row(w, in->dst) =
      gs_strip_fma32(*(const gs_strip32_t *)ra, *(const gs_strip32_t *)rb, *(const gs_strip32_t *)rc);
}
static inline void fmas_f64(gs_wave_t *w, const gs_inst_t *in) {
  assume_no(lanes_of_vcc());
  GS_F64_SUM(GS_F64_SRC(0, a); GS_F64_SRC(1, b);
             GS_F64_SRC(2, c), GS_F64_JOIN_3,
             gs_strip_fma64(GS_F64_STRIP(xa), GS_F64_STRIP(xb), GS_F64_STRIP(xc)))
}

/* The class of a normal number, which is its sign's. */
static inline void compare_class(const gs_inst_t *in, __m512i bits, const gs_row_t *classes, format_t f) {
  enum { NEGATIVE = 1 << 3, POSITIVE = 1 << 8, SELECT = 0xca };
  const __m512i magnitude = _mm512_and_si512(bits, all(0x7fffffff)), sign = _mm512_srai_epi32(bits, 31);
  assume_no(_mm512_cmpge_epu32_mask(_mm512_sub_epi32(magnitude, all(f.unit)), all(f.field - f.unit)));
  const __m512i class = _mm512_ternarylogic_epi32(sign, all(NEGATIVE), all(POSITIVE), SELECT);
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), _mm512_test_epi32_mask(class, bits_of(classes)));
}
static inline void class_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  gs_row_t tb;
  compare_class(in, bits_of(ra), gs_src32(w, in, 1, &tb), single);
}
static inline void class_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  gs_row_t tb;
  compare_class(in, bits_of(ra.hi), gs_src32(w, in, 1, &tb), twice);
}

#define DIVISION(name, how)                                                                                  \
  GS_STENCIL_OF(name, VVV, V, V, V, false, how(w, in))                                                       \
  GS_STENCIL_OF(name, MMM, M, M, M, false, how(w, in))
GS_STENCIL_OF(v_div_scale_f32, VVV, V, V, V, false, scale_f32(w, in))
GS_STENCIL_OF(v_div_scale_f64, VVV, V, V, V, false, scale_f64(w, in))
GS_STENCIL_OF(v_cmp_class_f32, VV, V, V, N, false, class_f32(w, in))
GS_STENCIL_OF(v_cmp_class_f64, VV, V, V, N, false, class_f64(w, in))
DIVISION(v_div_fmas_f32, fmas_f32)
DIVISION(v_div_fmas_f64, fmas_f64)
DIVISION(v_div_fixup_f32, fixup_f32)
DIVISION(v_div_fixup_f64, fixup_f64)
#else
/* Strips with part of their lanes assume nothing. */
void gs_stencil_cannot(void);
#endif
