/* Vocabulary for floating-point vector instructions: operands and results as MODE wants them (rounding,
 * denormals), output modifiers (omod, clamp), halves, and the shapes that most handlers have.
 *
 * How it is fast: under the default MODE (round to even, denormals kept) and without output modifiers a
 * handler is a plain lane loop. Everything else costs one predictable branch per operand or result and
 * happens out of line, in float.c: the host's rounding mode is switched around the loop, and denormals are
 * flushed in the rows before and after it. Not here: the instructions. */
#ifndef GFXSIM_ISA_FLOAT_H
#define GFXSIM_ISA_FLOAT_H

#include "isa/half.h"
#include "isa/lanes.h"

static inline double gs_double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint64_t gs_bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* ---- Choices that compilers must not turn into jumps: masks are all ones or zero ---- */

static inline uint32_t gs_when32(bool condition) {
  return 0 - (uint32_t)condition;
}
static inline uint64_t gs_when64(bool condition) {
  return 0 - (uint64_t)condition;
}
static inline uint32_t gs_pick32(uint32_t mask, uint32_t a, uint32_t b) {
  return (a & mask) | (b & ~mask);
}
static inline uint64_t gs_pick64(uint64_t mask, uint64_t a, uint64_t b) {
  return (a & mask) | (b & ~mask);
}

/* ---- Denormals that MODE keeps, of the floats whose bits of MODE begin at `shift` ---- */

enum { GS_KEEP_INPUTS = 1, GS_KEEP_OUTPUTS = 2 };
static inline bool gs_keeps(const gs_wave_t *w, unsigned shift, unsigned which) {
  return w->mode >> shift & which;
}

/* ---- Slow paths, in float.c ---- */

/* A source row with denormals flushed (sign kept) where MODE does not allow them as inputs; `tmp` if anything
 * changed. */
const gs_row_t *gs_flush_input16(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp);
const gs_row_t *gs_flush_input_pk16(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp);
const gs_row_t *gs_flush_input32(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp);
gs_row64_t gs_flush_input64(const gs_wave_t *w, gs_row64_t rows, gs_row_t tmp[2]);
/* Switches the host to MODE's rounding for f32, or for f64 and f16, and to flushing what is denormal if
 * rounded as if it were not. gs_finish* (or gs_round_default) switches back. */
void gs_round_custom(const gs_wave_t *w, unsigned shift, bool flush);
void gs_round_to_zero(void); /* whatever MODE says */
void gs_round_default(void);
/* What is left to do with a result when MODE is custom or there are output modifiers: rounding back to
 * default, flushing denormals, omod, clamp. */
void gs_finish_slow16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
void gs_finish_slow_pk16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
void gs_finish_slow32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
void gs_finish_slow64(const gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d);
/* The same for results that have no denormals whatever MODE says, and are not rounded as it says. */
void gs_finish_flushed32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
/* The same for results that keep their denormals whatever MODE says, unless there is an omod. */
void gs_finish_kept16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
void gs_finish_kept32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d);
void gs_finish_kept64(const gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d);
/* For each lane the first of `n` operands that is a NaN, if that one is signaling, or 0; and what puts it in
 * place of the NaN that was made quiet of it. */
void gs_find_signaling16(const gs_row_t *const *rows, unsigned n, gs_row_t *signaling);
void gs_find_signaling32(const gs_row_t *const *rows, unsigned n, gs_row_t *signaling);
void gs_find_signaling64(const gs_row64_t *rows, unsigned n, gs_row_t signaling[2]);
void gs_put_signaling16(const gs_row_t *signaling, gs_row_t *d);
void gs_put_signaling32(const gs_row_t *signaling, gs_row_t *d);
void gs_put_signaling64(const gs_row_t signaling[2], gs_dst64_t d);

/* ---- Sources ---- */

static inline const gs_row_t *gs_src_f32(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_row_t *const r = gs_src32_float(w, in, i, tmp);
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input32(w, r, tmp);
}
static inline const gs_row_t *gs_src_f16(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_row_t *const r = gs_src16(w, in, i, tmp);
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input16(w, r, tmp);
}
static inline gs_row64_t gs_src_f64(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t tmp[2]) {
  const gs_row64_t r = gs_src64(w, in, i, true, tmp);
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input64(w, r, tmp);
}
/* The destination as an operand (mac, fmac). */
static inline const gs_row_t *gs_acc_f32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *tmp) {
  const gs_row_t *const r = gs_row(w, in->dst);
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input32(w, r, tmp);
}
static inline const gs_row_t *gs_acc_f16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *tmp) {
  const gs_row_t *r = gs_row(w, in->dst);
  if (GS_UNLIKELY(in->dst_hi)) {
    GS_LANES_DO(l)
      tmp->u32[l] = r->u32[l] >> 16;
    r = tmp;
  }
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input16(w, r, tmp);
}
static inline gs_row64_t gs_acc_f64(const gs_wave_t *w, const gs_inst_t *in, gs_row_t tmp[2]) {
  const gs_row64_t r = {gs_row(w, in->dst), gs_row(w, in->dst + 1u)};
  return GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input64(w, r, tmp);
}

/* ---- Around the loop ---- */

/* Before a loop whose results are rounded as f32, f16 or f64. Halves are made of floats, which must not be
 * flushed. */
static inline void gs_round32(const gs_wave_t *w) {
  if (GS_UNLIKELY(gs_fp_custom(w)))
    gs_round_custom(w, GS_MODE_ROUND32_SHIFT, !gs_keeps(w, GS_MODE_DENORM32_SHIFT, GS_KEEP_OUTPUTS));
}
static inline void gs_round16(const gs_wave_t *w) {
  if (GS_UNLIKELY(gs_fp_custom(w)))
    gs_round_custom(w, GS_MODE_ROUND64_SHIFT, false);
}
static inline void gs_round64(const gs_wave_t *w) {
  if (GS_UNLIKELY(gs_fp_custom(w)))
    gs_round_custom(w, GS_MODE_ROUND64_SHIFT, !gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS));
}
/* After a loop that rounded but whose result is no float. */
static inline void gs_round_end(const gs_wave_t *w) {
  if (GS_UNLIKELY(gs_fp_custom(w)))
    gs_round_default();
}
/* After a loop whose result is float. */
static inline bool gs_finish_needed(const gs_wave_t *w, const gs_inst_t *in) {
  return GS_UNLIKELY(gs_fp_custom(w) || (!in->plain_dst && (in->omod || in->clamp)));
}
static inline void gs_finish16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  if (gs_finish_needed(w, in))
    gs_finish_slow16(w, in, d);
}
static inline void gs_finish_pk16(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  if (gs_finish_needed(w, in))
    gs_finish_slow_pk16(w, in, d);
}
static inline void gs_finish32(const gs_wave_t *w, const gs_inst_t *in, gs_row_t *d) {
  if (gs_finish_needed(w, in))
    gs_finish_slow32(w, in, d);
}
static inline void gs_finish64(const gs_wave_t *w, const gs_inst_t *in, gs_dst64_t d) {
  if (gs_finish_needed(w, in))
    gs_finish_slow64(w, in, d);
}

/* ---- Signaling NaNs ----
 *
 * They become quiet as results, but without the IEEE bit stay as they are, as was measured on gfx1100
 * (rocm-systems, emulation/rocjitsu). The host makes all quiet. */

static inline bool gs_keeps_signaling(const gs_wave_t *w) {
  return GS_UNLIKELY(gs_fp_custom(w)) && !(w->mode & GS_MODE_IEEE);
}

/* Before a loop: remembers what its operands `...`, which are rows, have of them. */
#define GS_SIGNALS_OF(bits, type, places, ...)                                                               \
  gs_row_t signaling[places];                                                                                \
  bool signals = gs_keeps_signaling(w);                                                                      \
  if (signals) {                                                                                             \
    const type operands[] = {__VA_ARGS__};                                                                   \
    gs_find_signaling##bits(operands, sizeof operands / sizeof operands[0], signaling);                      \
  }                                                                                                          \
  (void)0
#define GS_SIGNALS_16(...) GS_SIGNALS_OF(16, gs_row_t *const, 1, __VA_ARGS__)
#define GS_SIGNALS_32(...) GS_SIGNALS_OF(32, gs_row_t *const, 1, __VA_ARGS__)
#define GS_SIGNALS_64(...) GS_SIGNALS_OF(64, gs_row64_t, 2, __VA_ARGS__)

/* ---- Halves ----
 *
 * Arithmetic on halves is done in float and rounded once more. For add, subtract and multiply this gives the
 * correctly rounded half, since a float has at least 2 * 11 + 2 bits (the classic condition under which
 * double rounding does no harm); a product of two halves is even exact. fma needs double: a product has 22
 * bits, and the sum loses bits only where one term is so much smaller than half of the other's last place in
 * a half that it only matters on which side of it the sum lies. With directed rounding both steps go the same
 * way, which is always exact. */

/* Exact, and without branches. A NaN keeps its payload. Moving the fields to their places in a float gives
 * the value times 2^-112, denormals included, and the product is exact. */
static inline float gs_f32_of_f16(uint32_t half) {
  const uint32_t magnitude = (half & 0x7fff) << 13;
  const uint32_t bits = gs_bits_of_float(gs_float_of_bits(magnitude) * 0x1p112f);
  const uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
  return gs_float_of_bits(bits | special | (half & 0x8000) << 16);
}

/* The bits that results beyond the range of a half get: infinity, or the largest half if MODE's rounding or
 * FP16_OVFL says so; for positive and negative results. True infinities stay infinite. Below `tiny` results
 * are flushed, if MODE says so: those that would be denormal if rounded to eleven bits. */
typedef struct gs_f16_limit {
  uint32_t positive, negative;
  uint32_t tiny_positive, tiny_negative; /* bits of floats */
  uint64_t tiny64_positive, tiny64_negative;
} gs_f16_limit_t;

/* Where what rounds up to the least normal number of 11 bits begins, in the direction of MODE's rounding. */
static inline uint64_t gs_f16_tiny(uint32_t round, uint32_t away) {
  const uint64_t least = UINT64_C(0x3f10000000000000), half_a_place = UINT64_C(1) << 41;
  return round == 0 ? least - half_a_place : round == away ? least - 2 * half_a_place + 1 : least;
}

/* The same for floats, of whose exponents those of doubles are 896 away. */
static inline uint32_t gs_f16_tiny32(uint64_t tiny) {
  return (uint32_t)((tiny - (UINT64_C(896) << 52)) >> 29) + (uint32_t)(tiny & 1);
}

static inline gs_f16_limit_t gs_f16_limit(const gs_wave_t *w) {
  const uint32_t round = w->mode >> GS_MODE_ROUND64_SHIFT & 3;
  const bool saturate = w->mode & GS_MODE_FP16_OVFL;
  const bool flush = gs_fp_custom(w) && !gs_keeps(w, GS_MODE_DENORM64_SHIFT, GS_KEEP_OUTPUTS);
  const uint64_t positive = flush ? gs_f16_tiny(round, 1) : 0, negative = flush ? gs_f16_tiny(round, 2) : 0;
  return (gs_f16_limit_t){.positive = 0x7c00u - (saturate || round >= 2),
                          .negative = 0x7c00u - (saturate || round == 1 || round == 3),
                          .tiny_positive = flush ? gs_f16_tiny32(positive) : 0,
                          .tiny_negative = flush ? gs_f16_tiny32(negative) : 0,
                          .tiny64_positive = positive,
                          .tiny64_negative = negative};
}

/* Rounds in the host's rounding mode. Adding a number whose last place is the half's last place rounds there,
 * once; subtracting it again is exact, and so is scaling the fields into place. */
static inline uint32_t gs_f16_of_f32(float x, gs_f16_limit_t limit) {
  const uint32_t bits = gs_bits_of_float(x), magnitude = bits & 0x7fffffff, sign = bits & 0x80000000;
  const uint32_t negative = 0u - (bits >> 31);
  uint32_t exponent = bits & 0x7f800000;
  exponent = exponent < (113u << 23) ? 113u << 23 : exponent;
  exponent = exponent > (143u << 23) ? 143u << 23 : exponent;
  const float magic = gs_float_of_bits(sign | (exponent + (13u << 23)));
  const float rounded = (x + magic) - magic;
  const uint32_t fields = gs_bits_of_float(rounded * 0x1p-112f) >> 13 & 0x3ffff;
  const uint32_t most = gs_pick32(negative, limit.negative, limit.positive);
  const uint32_t finite = gs_pick32(gs_when32(fields >= 0x7c00), most, fields);
  const uint32_t special =
      0x7c00u | (gs_when32(magnitude > 0x7f800000) & (0x200u | (magnitude >> 13 & 0x3ff)));
  const uint32_t tiny = gs_pick32(negative, limit.tiny_negative, limit.tiny_positive);
  const uint32_t kept = ~gs_when32(magnitude < tiny) & finite;
  return sign >> 16 | gs_pick32(gs_when32(magnitude >= 0x7f800000), special, kept);
}

/* The same from a double below 2^128: rounds to the half's last place, after which the step through float is
 * exact. */
static inline uint32_t gs_f16_of_f64(double x, gs_f16_limit_t limit) {
  const uint64_t bits = gs_bits_of_double(x), sign = bits & (UINT64_C(1) << 63);
  uint64_t exponent = bits & UINT64_C(0x7ff0000000000000);
  exponent = exponent < (UINT64_C(1009) << 52) ? UINT64_C(1009) << 52 : exponent;
  exponent = exponent > (UINT64_C(1500) << 52) ? UINT64_C(1500) << 52 : exponent;
  const double magic = gs_double_of_bits(sign | (exponent + (UINT64_C(42) << 52)));
  const uint64_t tiny = gs_pick64(0 - (sign >> 63), limit.tiny64_negative, limit.tiny64_positive);
  const uint32_t kept = ~gs_when32((bits ^ sign) < tiny) & 0x7fffffff;
  const float rounded = (float)((x + magic) - magic);
  /* A sum that rounds to zero loses its sign to the directed modes. */
  return gs_f16_of_f32(gs_float_of_bits((gs_bits_of_float(rounded) & kept) | (uint32_t)(sign >> 32)), limit);
}

/* A half that a float was rounded to, as a float again. */
static inline float gs_round_f16(float x, gs_f16_limit_t limit) {
  return gs_f32_of_f16(gs_f16_of_f32(x, limit));
}

/* ---- Denormals that some instructions flush whatever MODE says ---- */

static inline float gs_flush32(float x) {
  const uint32_t bits = gs_bits_of_float(x);
  return gs_float_of_bits((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
static inline uint32_t gs_flush16(uint32_t half) {
  return (half & 0x7c00) == 0 ? half & 0x8000 : half;
}

/* ---- Makes signaling NaNs quiet, which not every host function does that only moves or rounds to integers
 * ---- */

static inline float gs_quiet32(float x) {
  const uint32_t bits = gs_bits_of_float(x);
  return gs_float_of_bits(bits | (x != x ? 0x00400000 : 0));
}
static inline double gs_quiet64(double x) {
  return gs_double_of_bits(gs_bits_of_double(x) | (x != x ? UINT64_C(0x0008000000000000) : 0));
}

/* ---- Arithmetic on NaNs ----
 *
 * The first operand that is a NaN gives the result, made quiet. Hosts do the same, but compilers give them
 * the operands of sums and products in any order. */

static inline float gs_first_nan32(float a, float unless) {
  return a != a ? gs_quiet32(a) : unless;
}
static inline double gs_first_nan64(double a, double unless) {
  return a != a ? gs_quiet64(a) : unless;
}
static inline float gs_add32(float a, float b) {
  return gs_first_nan32(a, a + b);
}
static inline double gs_add64(double a, double b) {
  return gs_first_nan64(a, a + b);
}
static inline float gs_mul32(float a, float b) {
  return gs_first_nan32(a, a * b);
}
static inline double gs_mul64(double a, double b) {
  return gs_first_nan64(a, a * b);
}
/* The product comes first: that of zero and infinity is a new NaN also if a NaN is added, where hosts give
 * the latter. */
static inline float gs_fma32(float a, float b, float c) {
  const float product = gs_mul32(a, b);
  return product != product ? product : fmaf(a, b, c);
}
static inline double gs_fma64(double a, double b, double c) {
  const double product = gs_mul64(a, b);
  return product != product ? product : fma(a, b, c);
}
/* In strips the host's instructions are written down, with their operands in that order: theirs is the first
 * NaN, too. */
#ifdef GS_STENCIL_STRIP
typedef float gs_strip32_t __attribute__((vector_size(GS_ROW_BYTES), may_alias));
typedef double gs_strip64_t __attribute__((vector_size(GS_ROW_BYTES), may_alias));
#define GS_STRIP_2(name, instruction, type)                                                                  \
  static inline type name(type a, type b) {                                                                  \
    type result;                                                                                             \
    __asm__(instruction " %2, %1, %0" : "=v"(result) : "v"(a), "v"(b));                                      \
    return result;                                                                                           \
  }
#if defined(__AVX512F__)
#define GS_STRIP_3(name, p, type)                                                                            \
  static inline type name(type a, type b, type c) {                                                          \
    type product;                                                                                            \
    __asm__("vmul" p " %3, %2, %1\n\tvcmpunord" p " %1, %1, %%k1\n\t"                                        \
            "vfmadd231" p " %3, %2, %0\n\tvmova" p " %1, %0%{%%k1%}"                                         \
            : "+v"(c), "=&v"(product)                                                                        \
            : "v"(a), "v"(b)                                                                                 \
            : "k1");                                                                                         \
    return c;                                                                                                \
  }
#else
#define GS_STRIP_3(name, p, type)                                                                            \
  static inline type name(type a, type b, type c) {                                                          \
    type product, lanes;                                                                                     \
    __asm__("vmul" p " %4, %3, %1\n\tvcmpunord" p " %1, %1, %2\n\t"                                          \
            "vfmadd231" p " %4, %3, %0\n\tvblendv" p " %2, %1, %0, %0"                                       \
            : "+x"(c), "=&x"(product), "=&x"(lanes)                                                          \
            : "x"(a), "x"(b));                                                                               \
    return c;                                                                                                \
  }
#endif
GS_STRIP_2(gs_strip_add32, "vaddps", gs_strip32_t)
GS_STRIP_2(gs_strip_mul32, "vmulps", gs_strip32_t)
GS_STRIP_3(gs_strip_fma32, "ps", gs_strip32_t)
GS_STRIP_2(gs_strip_add64, "vaddpd", gs_strip64_t)
GS_STRIP_2(gs_strip_mul64, "vmulpd", gs_strip64_t)
GS_STRIP_3(gs_strip_fma64, "pd", gs_strip64_t)
#undef GS_STRIP_2
#undef GS_STRIP_3
#endif

/* Of halves: their product is exact in double. That of 0 and infinity is a NaN before what is added is one.
 */
static inline uint32_t gs_fma16(float a, float b, float c, gs_f16_limit_t limit) {
  return gs_f16_of_f64(gs_add64(gs_mul64(a, b), c), limit);
}

/* ---- Minimum and maximum ----
 *
 * A NaN loses against a number, except that with the IEEE bit a signaling NaN wins and becomes quiet; -0 is
 * below +0. Of two other NaNs the second is taken, on gfx11 the first, as the ISA texts have it. */

/* `quiet` is the quiet bit if signaling NaNs matter, or 0; `first` is all ones if the first of two NaNs is
 * taken, or 0. */
typedef struct gs_nan_rule32 {
  uint32_t quiet, first;
} gs_nan_rule32_t;
typedef struct gs_nan_rule64 {
  uint64_t quiet, first;
} gs_nan_rule64_t;

/* Without the IEEE bit MODE is custom. */
static inline bool gs_has_ieee(const gs_wave_t *w) {
  return !gs_fp_custom(w) || (w->mode & GS_MODE_IEEE);
}
static inline gs_nan_rule32_t gs_nan_rule32(const gs_wave_t *w) {
  return (gs_nan_rule32_t){gs_has_ieee(w) ? 0x00400000 : 0, w->nan_first};
}
static inline gs_nan_rule64_t gs_nan_rule64(const gs_wave_t *w) {
  return (gs_nan_rule64_t){gs_has_ieee(w) ? UINT64_C(0x0008000000000000) : 0,
                           w->nan_first | (uint64_t)w->nan_first << 32};
}

/* Completes the choice between a and b, given the bits to take if neither is a NaN. `~bits & rule.quiet` is
 * not zero for a NaN that is signaling and matters. Choices are made by masks: that is what compilers turn
 * into vector code. */
static inline float gs_choose32(float a, float b, uint32_t numbers, gs_nan_rule32_t rule) {
  const uint32_t ua = gs_bits_of_float(a), ub = gs_bits_of_float(b);
  const uint32_t nan_a = gs_when32(a != a), nan_b = gs_when32(b != b);
  const uint32_t unless_b = gs_pick32(nan_b, ua, numbers), keeps_a = nan_b & rule.first;
  const uint32_t unless_a = gs_pick32(nan_a & ~keeps_a, ub, unless_b);
  const uint32_t signaling_a = gs_when32(nan_a & ~ua & rule.quiet),
                 signaling_b = gs_when32(nan_b & ~ub & rule.quiet);
  const uint32_t r = gs_pick32(signaling_b, ub | rule.quiet, unless_a);
  return gs_float_of_bits(gs_pick32(signaling_a, ua | rule.quiet, r));
}
static inline float gs_min32(float a, float b, gs_nan_rule32_t rule) {
  const uint32_t ua = gs_bits_of_float(a), ub = gs_bits_of_float(b);
  const uint32_t second = b < a ? ub : ua | ub, numbers = a < b ? ua : second;
  return gs_choose32(a, b, numbers, rule);
}
static inline float gs_max32(float a, float b, gs_nan_rule32_t rule) {
  const uint32_t ua = gs_bits_of_float(a), ub = gs_bits_of_float(b);
  const uint32_t second = b > a ? ub : ua & ub, numbers = a > b ? ua : second;
  return gs_choose32(a, b, numbers, rule);
}
static inline double gs_choose64(double a, double b, uint64_t numbers, gs_nan_rule64_t rule) {
  const uint64_t ua = gs_bits_of_double(a), ub = gs_bits_of_double(b);
  const uint64_t nan_a = gs_when64(a != a), nan_b = gs_when64(b != b);
  const uint64_t unless_b = gs_pick64(nan_b, ua, numbers), keeps_a = nan_b & rule.first;
  const uint64_t unless_a = gs_pick64(nan_a & ~keeps_a, ub, unless_b);
  const uint64_t signaling_a = gs_when64(nan_a & ~ua & rule.quiet),
                 signaling_b = gs_when64(nan_b & ~ub & rule.quiet);
  const uint64_t r = gs_pick64(signaling_b, ub | rule.quiet, unless_a);
  return gs_double_of_bits(gs_pick64(signaling_a, ua | rule.quiet, r));
}
static inline double gs_min64(double a, double b, gs_nan_rule64_t rule) {
  const uint64_t ua = gs_bits_of_double(a), ub = gs_bits_of_double(b);
  const uint64_t second = b < a ? ub : ua | ub, numbers = a < b ? ua : second;
  return gs_choose64(a, b, numbers, rule);
}
static inline double gs_max64(double a, double b, gs_nan_rule64_t rule) {
  const uint64_t ua = gs_bits_of_double(a), ub = gs_bits_of_double(b);
  const uint64_t second = b > a ? ub : ua & ub, numbers = a > b ? ua : second;
  return gs_choose64(a, b, numbers, rule);
}
/* The middle one of three, of zeroes, too; the least if one is a NaN. */
static inline float gs_med32(float a, float b, float c, gs_nan_rule32_t rule) {
  const float low = gs_min32(a, b, rule), high = gs_max32(a, b, rule);
  const float least = gs_min32(low, c, rule), middle = gs_max32(low, gs_min32(high, c, rule), rule);
  const float unless_c = c != c ? least : middle, unless_b = b != b ? least : unless_c;
  return a != a ? least : unless_b;
}

/* What IEEE 754-2019 calls so: the first NaN, else the lesser, of zeroes -0. */
static inline float gs_minimum32(float a, float b) {
  const float least = a < b || (a == b && signbit(a)) ? a : b;
  return a != a ? gs_quiet32(a) : b != b ? gs_quiet32(b) : least;
}
static inline float gs_maximum32(float a, float b) {
  const float most = a > b || (a == b && !signbit(a)) ? a : b;
  return a != a ? gs_quiet32(a) : b != b ? gs_quiet32(b) : most;
}

/* ---- Shapes of handlers: the last argument is one lane's result as an expression of a, b, c ----
 *
 * GS_F<bits>_<n> rounds (arithmetic), GS_F<bits>_<n>_EXACT does not, which matters to operations that must
 * not see MODE's rounding. Expressions may use `w` for what is the same in all lanes; `setup` declares such
 * things before the loop. */

#define GS_F32_SRC(i, n)                                                                                     \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_src_f32(w, in, i, &t##n)
#define GS_F32_ACC(n)                                                                                        \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_acc_f32(w, in, &t##n)
#define GS_F32_LOOP(round, load, expr) GS_F32_LOOP_THEN(round, load, expr, (void)0)
/* ... where the operands' signaling NaNs count, after GS_SIGNALS_32. */
#define GS_F32_NAN_LOOP(round, load, expr)                                                                   \
  GS_F32_LOOP_THEN(round, load, expr, if (signals) gs_put_signaling32(signaling, d))
#define GS_F32_LOOP_THEN(round, load, expr, then)                                                            \
  gs_row_t td;                                                                                               \
  gs_row_t *const d = gs_dst32(w, in, &td);                                                                  \
  round;                                                                                                     \
  GS_LANES_DO(l) {                                                                                           \
    load;                                                                                                    \
    d->f32[l] = (expr);                                                                                      \
  }                                                                                                          \
  then;                                                                                                      \
  gs_finish32(w, in, d);                                                                                     \
  gs_commit32(w, in, d)

#define GS_F32_SHAPE_1(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_SIGNALS_32(ra);                                                                                       \
    setup;                                                                                                   \
    GS_F32_NAN_LOOP(round, const float a = ra->f32[l], expr);                                                \
  }
#define GS_F32_SHAPE_2(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    GS_SIGNALS_32(ra, rb);                                                                                   \
    setup;                                                                                                   \
    GS_F32_NAN_LOOP(round, const float a = ra->f32[l]; const float b = rb->f32[l], expr);                    \
  }
#define GS_F32_SHAPE_3(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    GS_F32_SRC(2, c);                                                                                        \
    GS_SIGNALS_32(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F32_NAN_LOOP(round, const float a = ra->f32[l]; const float b = rb->f32[l];                           \
                    const float c = rc->f32[l], expr);                                                       \
  }
/* c is the destination's old value. */
#define GS_F32_SHAPE_ACC(name, setup, round, expr)                                                           \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    GS_F32_SRC(1, b);                                                                                        \
    GS_F32_ACC(c);                                                                                           \
    GS_SIGNALS_32(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F32_NAN_LOOP(round, const float a = ra->f32[l]; const float b = rb->f32[l];                           \
                    const float c = rc->f32[l], expr);                                                       \
  }
#define GS_F32_1(name, expr)       GS_F32_SHAPE_1(name, (void)0, gs_round32(w), expr)
#define GS_F32_2(name, expr)       GS_F32_SHAPE_2(name, (void)0, gs_round32(w), expr)
#define GS_F32_3(name, expr)       GS_F32_SHAPE_3(name, (void)0, gs_round32(w), expr)
#define GS_F32_ACC_3(name, expr)   GS_F32_SHAPE_ACC(name, (void)0, gs_round32(w), expr)
#define GS_F32_1_EXACT(name, expr) GS_F32_SHAPE_1(name, (void)0, (void)0, expr)

/* Sums and products: `expr` for each lane, or `fn` for a strip. */
#ifdef GS_STENCIL_STRIP
#define GS_F32_STRIP(row) (*(const gs_strip32_t *)(row))
#define GS_F32_SUM(sources, value)                                                                           \
  {                                                                                                          \
    sources;                                                                                                 \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    *(gs_strip32_t *)d = (value);                                                                            \
    gs_finish32(w, in, d);                                                                                   \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_F32_SUM_2(name, fn, expr)                                                                         \
  GS_OP(name) GS_F32_SUM(GS_F32_SRC(0, a); GS_F32_SRC(1, b), fn(GS_F32_STRIP(ra), GS_F32_STRIP(rb)))
#define GS_F32_SUM_3(name, fn, expr)                                                                         \
  GS_OP(name)                                                                                                \
  GS_F32_SUM(GS_F32_SRC(0, a); GS_F32_SRC(1, b);                                                             \
             GS_F32_SRC(2, c), fn(GS_F32_STRIP(ra), GS_F32_STRIP(rb), GS_F32_STRIP(rc)))
#define GS_F32_SUM_ACC_3(name, fn, expr)                                                                     \
  GS_OP(name)                                                                                                \
  GS_F32_SUM(GS_F32_SRC(0, a); GS_F32_SRC(1, b);                                                             \
             GS_F32_ACC(c), fn(GS_F32_STRIP(ra), GS_F32_STRIP(rb), GS_F32_STRIP(rc)))
#else
#define GS_F32_SUM_2(name, fn, expr)     GS_F32_2(name, expr)
#define GS_F32_SUM_3(name, fn, expr)     GS_F32_3(name, expr)
#define GS_F32_SUM_ACC_3(name, fn, expr) GS_F32_ACC_3(name, expr)
#endif

/* f64: operands are pairs of rows. */
#define GS_F64_SRC(i, n)                                                                                     \
  gs_row_t t##n[2];                                                                                          \
  const gs_row64_t r##n = gs_src_f64(w, in, i, t##n)
#define GS_F64_ACC(n)                                                                                        \
  gs_row_t t##n[2];                                                                                          \
  const gs_row64_t r##n = gs_acc_f64(w, in, t##n)
#define GS_F64_LOOP(round, load, expr) GS_F64_LOOP_THEN(round, load, expr, (void)0)
#define GS_F64_NAN_LOOP(round, load, expr)                                                                   \
  GS_F64_LOOP_THEN(round, load, expr, if (signals) gs_put_signaling64(signaling, d))
#define GS_F64_LOOP_THEN(round, load, expr, then)                                                            \
  gs_row_t td[2];                                                                                            \
  const gs_dst64_t d = gs_dst64(w, in, td);                                                                  \
  round;                                                                                                     \
  GS_LANES_DO(l) {                                                                                           \
    load;                                                                                                    \
    gs_put_f64(d, l, (expr));                                                                                \
  }                                                                                                          \
  then;                                                                                                      \
  gs_finish64(w, in, d);                                                                                     \
  gs_commit64(w, in, d)

/* Operands that are joined to doubles, sixteen lanes at a time (see gs_join64). */
#define GS_F64_JOIN(n)                                                                                       \
  gs_wide_t x##n;                                                                                            \
  gs_join64(r##n, first, &x##n)
#define GS_F64_WIDE_LOOP(round, join, load, expr)                                                            \
  gs_row_t td[2];                                                                                            \
  const gs_dst64_t d = gs_dst64(w, in, td);                                                                  \
  round;                                                                                                     \
  for (unsigned first = 0; first < GS_LANES; first += GS_WIDE_LANES) {                                       \
    gs_wide_t xd;                                                                                            \
    join;                                                                                                    \
    GS_IVDEP for (unsigned i = 0; i < GS_WIDE_LANES; i++) {                                                  \
      load;                                                                                                  \
      xd.f64[i] = (expr);                                                                                    \
    }                                                                                                        \
    gs_split64(&xd, first, d);                                                                               \
  }                                                                                                          \
  if (signals)                                                                                               \
    gs_put_signaling64(signaling, d);                                                                        \
  gs_finish64(w, in, d);                                                                                     \
  gs_commit64(w, in, d)

#define GS_F64_SHAPE_1(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    GS_SIGNALS_64(ra);                                                                                       \
    setup;                                                                                                   \
    GS_F64_WIDE_LOOP(round, GS_F64_JOIN(a), const double a = xa.f64[i], expr);                               \
  }
#define GS_F64_SHAPE_2(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    GS_F64_SRC(1, b);                                                                                        \
    GS_SIGNALS_64(ra, rb);                                                                                   \
    setup;                                                                                                   \
    GS_F64_WIDE_LOOP(round, GS_F64_JOIN(a); GS_F64_JOIN(b), const double a = xa.f64[i];                      \
                     const double b = xb.f64[i], expr);                                                      \
  }
#define GS_F64_JOIN_3                                                                                        \
  GS_F64_JOIN(a);                                                                                            \
  GS_F64_JOIN(b);                                                                                            \
  GS_F64_JOIN(c)
#define GS_F64_LOAD_3                                                                                        \
  const double a = xa.f64[i];                                                                                \
  const double b = xb.f64[i];                                                                                \
  const double c = xc.f64[i]
#define GS_F64_SHAPE_3(name, setup, round, expr)                                                             \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    GS_F64_SRC(1, b);                                                                                        \
    GS_F64_SRC(2, c);                                                                                        \
    GS_SIGNALS_64(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F64_WIDE_LOOP(round, GS_F64_JOIN_3, GS_F64_LOAD_3, expr);                                             \
  }
#define GS_F64_SHAPE_ACC(name, setup, round, expr)                                                           \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    GS_F64_SRC(1, b);                                                                                        \
    GS_F64_ACC(c);                                                                                           \
    GS_SIGNALS_64(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F64_WIDE_LOOP(round, GS_F64_JOIN_3, GS_F64_LOAD_3, expr);                                             \
  }
#define GS_F64_1(name, expr)       GS_F64_SHAPE_1(name, (void)0, gs_round64(w), expr)
#define GS_F64_2(name, expr)       GS_F64_SHAPE_2(name, (void)0, gs_round64(w), expr)
#define GS_F64_3(name, expr)       GS_F64_SHAPE_3(name, (void)0, gs_round64(w), expr)
#define GS_F64_ACC_3(name, expr)   GS_F64_SHAPE_ACC(name, (void)0, gs_round64(w), expr)
#define GS_F64_1_EXACT(name, expr) GS_F64_SHAPE_1(name, (void)0, (void)0, expr)

#ifdef GS_STENCIL_STRIP
#define GS_F64_STRIP(wide) (*(const gs_strip64_t *)&(wide).f64[i])
#define GS_F64_SUM(sources, join, value)                                                                     \
  {                                                                                                          \
    sources;                                                                                                 \
    gs_row_t td[2];                                                                                          \
    const gs_dst64_t d = gs_dst64(w, in, td);                                                                \
    const unsigned first = 0;                                                                                \
    gs_wide_t xd;                                                                                            \
    join;                                                                                                    \
    for (unsigned i = 0; i < GS_WIDE_LANES; i += GS_WIDE_LANES / 2)                                          \
      *(gs_strip64_t *)&xd.f64[i] = (value);                                                                 \
    gs_split64(&xd, first, d);                                                                               \
    gs_finish64(w, in, d);                                                                                   \
    gs_commit64(w, in, d);                                                                                   \
  }
#define GS_F64_SUM_2(name, fn, expr)                                                                         \
  GS_OP(name)                                                                                                \
  GS_F64_SUM(GS_F64_SRC(0, a); GS_F64_SRC(1, b), GS_F64_JOIN(a);                                             \
             GS_F64_JOIN(b), fn(GS_F64_STRIP(xa), GS_F64_STRIP(xb)))
#define GS_F64_SUM_3(name, fn, expr)                                                                         \
  GS_OP(name)                                                                                                \
  GS_F64_SUM(GS_F64_SRC(0, a); GS_F64_SRC(1, b);                                                             \
             GS_F64_SRC(2, c), GS_F64_JOIN_3, fn(GS_F64_STRIP(xa), GS_F64_STRIP(xb), GS_F64_STRIP(xc)))
#define GS_F64_SUM_ACC_3(name, fn, expr)                                                                     \
  GS_OP(name)                                                                                                \
  GS_F64_SUM(GS_F64_SRC(0, a); GS_F64_SRC(1, b);                                                             \
             GS_F64_ACC(c), GS_F64_JOIN_3, fn(GS_F64_STRIP(xa), GS_F64_STRIP(xb), GS_F64_STRIP(xc)))
#else
#define GS_F64_SUM_2(name, fn, expr)     GS_F64_2(name, expr)
#define GS_F64_SUM_3(name, fn, expr)     GS_F64_3(name, expr)
#define GS_F64_SUM_ACC_3(name, fn, expr) GS_F64_ACC_3(name, expr)
#endif

/* f16: a, b, c come as floats, and `limit` is there for what rounds; GS_F16_* rounds a float result, the
 * shapes with BITS take an expression that gives the half's bits. */
#define GS_F16_SRC(i, n)                                                                                     \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_src_f16(w, in, i, &t##n)
#define GS_F16_ACC(n)                                                                                        \
  gs_row_t t##n;                                                                                             \
  const gs_row_t *const r##n = gs_acc_f16(w, in, &t##n)
#define GS_F16_LOOP(round, load, bits) GS_F16_LOOP_THEN(round, load, bits, (void)0)
#define GS_F16_NAN_LOOP(round, load, bits)                                                                   \
  GS_F16_LOOP_THEN(round, load, bits, if (signals) gs_put_signaling16(signaling, d))
#define GS_F16_LOOP_THEN(round, load, bits, then)                                                            \
  gs_row_t td;                                                                                               \
  gs_row_t *const d = gs_dst32(w, in, &td);                                                                  \
  const gs_f16_limit_t limit = gs_f16_limit(w);                                                              \
  (void)limit;                                                                                               \
  round;                                                                                                     \
  GS_LANES_DO(l) {                                                                                           \
    load;                                                                                                    \
    d->u32[l] = (bits);                                                                                      \
  }                                                                                                          \
  then;                                                                                                      \
  gs_finish16(w, in, d);                                                                                     \
  gs_commit32(w, in, d)
#define GS_F16_LOAD(n) const float n = gs_f32_of_f16(r##n->u32[l])

#define GS_F16_BITS_1(name, setup, round, bits)                                                              \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_SIGNALS_16(ra);                                                                                       \
    setup;                                                                                                   \
    GS_F16_NAN_LOOP(round, GS_F16_LOAD(a), bits);                                                            \
  }
#define GS_F16_BITS_2(name, setup, round, bits)                                                              \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    GS_SIGNALS_16(ra, rb);                                                                                   \
    setup;                                                                                                   \
    GS_F16_NAN_LOOP(round, GS_F16_LOAD(a); GS_F16_LOAD(b), bits);                                            \
  }
#define GS_F16_BITS_3(name, setup, round, bits)                                                              \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    GS_F16_SRC(2, c);                                                                                        \
    GS_SIGNALS_16(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F16_NAN_LOOP(round, GS_F16_LOAD(a); GS_F16_LOAD(b); GS_F16_LOAD(c), bits);                            \
  }
#define GS_F16_BITS_ACC(name, setup, round, bits)                                                            \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    GS_F16_SRC(1, b);                                                                                        \
    GS_F16_ACC(c);                                                                                           \
    GS_SIGNALS_16(ra, rb, rc);                                                                               \
    setup;                                                                                                   \
    GS_F16_NAN_LOOP(round, GS_F16_LOAD(a); GS_F16_LOAD(b); GS_F16_LOAD(c), bits);                            \
  }
#define GS_F16_1(name, expr)       GS_F16_BITS_1(name, (void)0, gs_round16(w), gs_f16_of_f32(expr, limit))
#define GS_F16_2(name, expr)       GS_F16_BITS_2(name, (void)0, gs_round16(w), gs_f16_of_f32(expr, limit))
#define GS_F16_1_EXACT(name, expr) GS_F16_BITS_1(name, (void)0, (void)0, gs_f16_of_f32(expr, limit))

#endif
