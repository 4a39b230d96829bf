/* Stencils for strips of the instructions that divisions and roots are made of, for ordinary numbers, as
 * nearly all are: none is zero, denormal, infinite or a NaN, and their quotient is none either. That is
 * assumed (strip.h). Not here: what they do with others (isa/op_vdiv.c), and with all lanes at once
 * (rows_math.c). */
#include "translate/strip_vector.h"

#if defined(GS_STENCIL_STRIP) && defined(GS_STENCIL_FULL)
#include "isa/float.h"

#undef GS_STENCIL_LANES
#define GS_STENCIL_LANES stripassumed

static inline void assume_no(lanes_t lanes) {
  put_lanes(gs_strip_masks + offsetof(gs_wave_t, strip_guard), lanes);
}
static inline lanes_t lanes_of_vcc(void) {
  return lanes_at(gs_strip_masks + offsetof(gs_wave_t, s) + sizeof(uint32_t) * GS_S_VCC);
}

/* The exponent fields of floats, or of the upper halves of doubles: where they are, and what isa/op_vdiv.c
 * scales. */
typedef struct format {
  uint32_t field, unit, least_num, most, far;
} format_t;
static const format_t single = {0x7f800000, 1 << 23, 25, 252, 95},
                      twice = {0x7ff00000, 1 << 20, 54, 2044, 767};

static inline vector_t exponent_of(vector_t bits, format_t f) {
  return and_vectors(bits, all(f.field));
}
static inline void assume_number(vector_t bits, format_t f) {
  assume_no(is_equal(exponent_of(bits, f), all(f.field)));
}
/* That neither is scaled, and that both are numbers. */
static inline void assume_ordinary(vector_t den, vector_t num, format_t f) {
  const vector_t ed = exponent_of(den, f), en = exponent_of(num, f);
  const uint32_t far = f.far * f.unit;
  assume_no(is_beyond(ed, f.unit, (f.most - 1) * f.unit));
  assume_no(is_beyond(en, f.least_num * f.unit, f.field - (1 + f.least_num) * f.unit));
  assume_no(is_beyond(VECTOR(sub_epi32)(en, ed), 0 - far, 2 * far));
}
/* The quotient with its sign. */
static inline vector_t with_sign(vector_t q, vector_t den, vector_t num) {
  const vector_t sign = and_vectors(xor_vectors(den, num), all(0x80000000));
  return or_vectors(and_vectors(q, all(0x7fffffff)), sign);
}

static inline void scale_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  assume_ordinary(vector_at(rb), vector_at(rc), single);
  assume_number(vector_at(ra), single);
  put_vector(gs_row(w, in->dst), vector_at(ra));
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), no_lanes());
}
static inline void scale_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  const vector_t low = vector_at(ra.lo), high = vector_at(ra.hi);
  assume_ordinary(vector_at(rb.hi), vector_at(rc.hi), twice);
  assume_number(high, twice);
  put_vector(gs_row(w, in->dst), low);
  put_vector(gs_row(w, in->dst + 1u), high);
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), no_lanes());
}

static inline void fixup_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  GS_F32_SRC(2, c);
  assume_ordinary(vector_at(rb), vector_at(rc), single);
  assume_number(vector_at(ra), single);
  put_vector(gs_row(w, in->dst), with_sign(vector_at(ra), vector_at(rb), vector_at(rc)));
}
static inline void fixup_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  GS_F64_SRC(1, b);
  GS_F64_SRC(2, c);
  const vector_t low = vector_at(ra.lo),
                 high = with_sign(vector_at(ra.hi), vector_at(rb.hi), vector_at(rc.hi));
  assume_ordinary(vector_at(rb.hi), vector_at(rc.hi), twice);
  assume_number(vector_at(ra.hi), twice);
  put_vector(gs_row(w, in->dst), low);
  put_vector(gs_row(w, in->dst + 1u), high);
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
static inline void compare_class(const gs_inst_t *in, vector_t bits, const gs_row_t *classes, format_t f) {
  enum { NEGATIVE = 1 << 3, POSITIVE = 1 << 8 };
  const vector_t magnitude = and_vectors(bits, all(0x7fffffff)), sign = VECTOR(srai_epi32)(bits, 31);
  assume_no(is_beyond(magnitude, f.unit, f.field - f.unit - 1));
  const vector_t class = select_by_sign(sign, all(POSITIVE), all(NEGATIVE));
  put_lanes(gs_strip_masks + gs_strip_sgpr(in->sdst), has_bit(vector_at(classes), class));
}
static inline void class_f32(gs_wave_t *w, const gs_inst_t *in) {
  GS_F32_SRC(0, a);
  gs_row_t tb;
  compare_class(in, vector_at(ra), gs_src32(w, in, 1, &tb), single);
}
static inline void class_f64(gs_wave_t *w, const gs_inst_t *in) {
  GS_F64_SRC(0, a);
  gs_row_t tb;
  compare_class(in, vector_at(ra.hi), gs_src32(w, in, 1, &tb), twice);
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
