/* Packed floats: pairs of halves in a register, pairs of floats in two (gfx90a), and what mixes the two
 * precisions: multiply-add with operands of either, and dot products of halves with a float sum. Not here:
 * packed integers (op_vpk_int.c), matrix instructions (op_mfma.c). */
#include "isa/convert.h"
#include "isa/dot2.h"
#include "isa/float.h"
#include "isa/fma16.h"
#include "isa/mix.h"

/* ---- Pairs of halves ---- */

/* A packed operand: where each result finds its half, and what flips its sign. */
typedef struct gs_pair16 {
  const gs_row_t *row;
  unsigned shift[2];
  uint32_t negate[2];
} gs_pair16_t;

static inline gs_pair16_t gs_src_pair16(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_row_t *const r = gs_src32(w, in, i, tmp);
  return (gs_pair16_t){.row = GS_LIKELY(!gs_fp_custom(w)) ? r : gs_flush_input_pk16(w, r, tmp),
                       .shift = {(in->op_sel >> i & 1u) * 16, (in->op_sel_hi >> i & 1u) * 16},
                       .negate = {(in->neg_lo >> i & 1u) << 15, (in->neg_hi >> i & 1u) << 15}};
}
static inline uint32_t gs_pair16_bits(const gs_pair16_t *p, unsigned l, unsigned which) {
  return (p->row->u32[l] >> p->shift[which] & 0xffff) ^ p->negate[which];
}
static inline float gs_pair16_get(const gs_pair16_t *p, unsigned l, unsigned which) {
  return gs_f32_of_f16(gs_pair16_bits(p, l, which));
}

/* What gs_find_signaling16 finds, for both halves. */
static void gs_find_signaling_pk16(const gs_pair16_t *const *pairs, unsigned n, gs_row_t *signaling) {
  gs_row_t halves[3], found[2];
  const gs_row_t *const rows[3] = {&halves[0], &halves[1], &halves[2]};
  for (unsigned which = 0; which < 2; which++) {
    for (unsigned i = 0; i < n; i++)
      GS_LANES_DO(l)
        halves[i].u32[l] = gs_pair16_bits(pairs[i], l, which);
    gs_find_signaling16(rows, n, &found[which]);
  }
  GS_LANES_DO(l)
    signaling->u32[l] = found[0].u32[l] | found[1].u32[l] << 16;
}
static void gs_put_signaling_pk16(const gs_row_t *signaling, gs_row_t *d) {
  GS_LANES_DO(l) {
    const uint32_t low = signaling->u32[l] & 0xffff, high = signaling->u32[l] & 0xffff0000;
    const uint32_t is_low = gs_when32(low && (d->u32[l] & 0xffff) == (low | 0x0200)) & 0x0200,
                   is_high = gs_when32(high && (d->u32[l] & 0xffff0000) == (high | 0x02000000)) & 0x02000000;
    d->u32[l] &= ~(is_low | is_high);
  }
}

#define GS_PK16_BEGIN                                                                                        \
  gs_row_t ta, tb, td;                                                                                       \
  const gs_pair16_t pa = gs_src_pair16(w, in, 0, &ta), pb = gs_src_pair16(w, in, 1, &tb);                    \
  gs_row_t *const d = gs_dst32(w, in, &td);                                                                  \
  const gs_f16_limit_t limit = gs_f16_limit(w);                                                              \
  const gs_nan_rule32_t rule = gs_nan_rule32(w);                                                             \
  (void)limit, (void)rule
#define GS_PK16_2(name, round, expr) GS_PK16_2_OF(name, gs_keeps_signaling(w), round, expr)
#define GS_PK16_2_OF(name, keeps, round, expr)                                                               \
  static inline uint32_t gs_lane_##name(float a, float b, gs_f16_limit_t limit, gs_nan_rule32_t rule) {      \
    (void)limit, (void)rule;                                                                                 \
    return expr;                                                                                             \
  }                                                                                                          \
  GS_OP(name) {                                                                                              \
    GS_PK16_BEGIN;                                                                                           \
    gs_row_t signaling;                                                                                      \
    const bool signals = (keeps);                                                                            \
    if (signals)                                                                                             \
      gs_find_signaling_pk16((const gs_pair16_t *const[]){&pa, &pb}, 2, &signaling);                         \
    round;                                                                                                   \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_lane_##name(gs_pair16_get(&pa, l, 0), gs_pair16_get(&pb, l, 0), limit, rule) |          \
                  gs_lane_##name(gs_pair16_get(&pa, l, 1), gs_pair16_get(&pb, l, 1), limit, rule) << 16;     \
    if (signals)                                                                                             \
      gs_put_signaling_pk16(&signaling, d);                                                                  \
    gs_finish_pk16(w, in, d);                                                                                \
    gs_commit32(w, in, d);                                                                                   \
  }

GS_PK16_2(v_pk_add_f16, gs_round16(w), gs_f16_of_f32(gs_add32(a, b), limit))
GS_PK16_2(v_pk_mul_f16, gs_round16(w), gs_f16_of_f32(gs_mul32(a, b), limit))
GS_PK16_2_OF(v_pk_min_f16, false, (void)0, gs_f16_bits(gs_min32(a, b, rule)))
GS_PK16_2_OF(v_pk_max_f16, false, (void)0, gs_f16_bits(gs_max32(a, b, rule)))

/* Of three, a NaN if one is. */
static inline uint32_t gs_pk16_of_three(const gs_pair16_t *const p[3], unsigned l, unsigned which,
                                        bool most) {
  const float a = gs_pair16_get(p[0], l, which), b = gs_pair16_get(p[1], l, which),
              c = gs_pair16_get(p[2], l, which);
  return gs_f16_bits(most ? gs_maximum32(gs_maximum32(a, b), c) : gs_minimum32(gs_minimum32(a, b), c));
}
static inline void gs_pk16_three(gs_wave_t *w, const gs_inst_t *in, bool most) {
  gs_row_t ta, tb, tc, td, signaling;
  const gs_pair16_t a = gs_src_pair16(w, in, 0, &ta), b = gs_src_pair16(w, in, 1, &tb),
                    c = gs_src_pair16(w, in, 2, &tc);
  const gs_pair16_t *const p[3] = {&a, &b, &c};
  gs_row_t *const d = gs_dst32(w, in, &td);
  const bool signals = gs_keeps_signaling(w);
  if (signals)
    gs_find_signaling_pk16(p, 3, &signaling);
  for (unsigned l = 0; l < GS_LANES; l++)
    d->u32[l] = gs_pk16_of_three(p, l, 0, most) | gs_pk16_of_three(p, l, 1, most) << 16;
  if (signals)
    gs_put_signaling_pk16(&signaling, d);
  gs_finish_pk16(w, in, d);
  gs_commit32(w, in, d);
}
GS_OP(v_pk_minimum3_f16) {
  gs_pk16_three(w, in, false);
}
GS_OP(v_pk_maximum3_f16) {
  gs_pk16_three(w, in, true);
}

#define GS_PK16_FMA(fma, which)                                                                              \
  fma(gs_pair16_get(&a, l, which), gs_pair16_get(&b, l, which), gs_pair16_get(&c, l, which), limit)
static inline void gs_pk_fma_f16(gs_wave_t *w, const gs_inst_t *in, const gs_pair16_t *pa,
                                 const gs_pair16_t *pb, const gs_pair16_t *pc) {
  gs_row_t td, signaling;
  gs_row_t *const d = gs_dst32(w, in, &td);
  const gs_f16_limit_t limit = gs_f16_limit(w);
  const bool signals = gs_keeps_signaling(w);
  if (signals)
    gs_find_signaling_pk16((const gs_pair16_t *const[]){pa, pb, pc}, 3, &signaling);
  const gs_pair16_t a = *pa, b = *pb, c = *pc;
  gs_round16(w);
  if (GS_LIKELY(!gs_fp_custom(w)))
    GS_LANES_DO(l)
      d->u32[l] = GS_PK16_FMA(gs_fma16_near, 0) | GS_PK16_FMA(gs_fma16_near, 1) << 16;
  else
    GS_LANES_DO(l)
      d->u32[l] = GS_PK16_FMA(gs_fma16, 0) | GS_PK16_FMA(gs_fma16, 1) << 16;
  if (signals)
    gs_put_signaling_pk16(&signaling, d);
  gs_finish_pk16(w, in, d);
  gs_commit32(w, in, d);
}
GS_OP(v_pk_fma_f16) {
  gs_row_t ta, tb, tc;
  const gs_pair16_t pa = gs_src_pair16(w, in, 0, &ta), pb = gs_src_pair16(w, in, 1, &tb);
  const gs_pair16_t pc = gs_src_pair16(w, in, 2, &tc);
  gs_pk_fma_f16(w, in, &pa, &pb, &pc);
}

/* An operand of an instruction that has no op_sel. */
static inline gs_pair16_t gs_plain_pair16(const gs_wave_t *w, const gs_row_t *row, gs_row_t *tmp) {
  return (gs_pair16_t){.row = GS_LIKELY(!gs_fp_custom(w)) ? row : gs_flush_input_pk16(w, row, tmp),
                       .shift = {0, 16}};
}
GS_OP(v_pk_fmac_f16) {
  gs_row_t ta, tb, tc;
  const gs_pair16_t pa = gs_plain_pair16(w, gs_src32(w, in, 0, &ta), &ta);
  const gs_pair16_t pb = gs_plain_pair16(w, gs_src32(w, in, 1, &tb), &tb);
  const gs_pair16_t pc = gs_plain_pair16(w, &w->v[in->dst], &tc);
  gs_pk_fma_f16(w, in, &pa, &pb, &pc);
}

/* ---- Pairs of floats ---- */

/* A packed operand: the register that each result takes it from, and what flips its sign. */
typedef struct gs_pair32 {
  const gs_row_t *row[2];
  uint32_t negate[2];
} gs_pair32_t;

/* Operand `i`, taken apart by op_sel and op_sel_hi. */
static inline gs_pair32_t gs_src_pair32(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t tmp[2]) {
  gs_row64_t r = gs_src64(w, in, i, false, tmp);
  if (GS_UNLIKELY(gs_fp_custom(w)))
    r = (gs_row64_t){gs_flush_input32(w, r.lo, &tmp[0]), gs_flush_input32(w, r.hi, &tmp[1])};
  return (gs_pair32_t){.row = {in->op_sel >> i & 1 ? r.hi : r.lo, in->op_sel_hi >> i & 1 ? r.hi : r.lo},
                       .negate = {(in->neg_lo >> i & 1u) << 31, (in->neg_hi >> i & 1u) << 31}};
}
static inline float gs_pair32_get(const gs_pair32_t *p, unsigned l, unsigned which) {
  return gs_float_of_bits(p->row[which]->u32[l] ^ p->negate[which]);
}

/* An operand's part of a result, as a row. */
static inline void gs_pair32_row(const gs_pair32_t *p, unsigned which, gs_row_t *row) {
  GS_LANES_DO(l)
    row->u32[l] = p->row[which]->u32[l] ^ p->negate[which];
}
static void gs_find_signaling_pk32(const gs_pair32_t *const *pairs, unsigned n, gs_row_t signaling[2]) {
  gs_row_t parts[3];
  const gs_row_t *const rows[3] = {&parts[0], &parts[1], &parts[2]};
  for (unsigned which = 0; which < 2; which++) {
    for (unsigned i = 0; i < n; i++)
      gs_pair32_row(pairs[i], which, &parts[i]);
    gs_find_signaling32(rows, n, &signaling[which]);
  }
}

/* Both results are computed before either is stored, as the destination may be a source. */
#define GS_PK32_LOOP(low, high, ...)                                                                         \
  gs_row_t td[2];                                                                                            \
  const gs_dst64_t d = gs_dst64(w, in, td);                                                                  \
  gs_row_t signaling[2];                                                                                     \
  const gs_pair32_t *const operands[] = {__VA_ARGS__};                                                       \
  const bool signals = gs_keeps_signaling(w);                                                                \
  if (signals)                                                                                               \
    gs_find_signaling_pk32(operands, sizeof operands / sizeof operands[0], signaling);                       \
  gs_round32(w);                                                                                             \
  GS_LANES_DO(l) {                                                                                           \
    const float x = (low), y = (high);                                                                       \
    d.lo->f32[l] = x;                                                                                        \
    d.hi->f32[l] = y;                                                                                        \
  }                                                                                                          \
  if (signals) {                                                                                             \
    gs_put_signaling32(&signaling[0], d.lo);                                                                 \
    gs_put_signaling32(&signaling[1], d.hi);                                                                 \
  }                                                                                                          \
  gs_finish32(w, in, d.lo);                                                                                  \
  gs_finish32(w, in, d.hi);                                                                                  \
  gs_commit64(w, in, d)

GS_OP(v_pk_fma_f32) {
  gs_row_t ta[2], tb[2], tc[2];
  const gs_pair32_t a = gs_src_pair32(w, in, 0, ta), b = gs_src_pair32(w, in, 1, tb),
                    c = gs_src_pair32(w, in, 2, tc);
  GS_PK32_LOOP(gs_fma32(gs_pair32_get(&a, l, 0), gs_pair32_get(&b, l, 0), gs_pair32_get(&c, l, 0)),
               gs_fma32(gs_pair32_get(&a, l, 1), gs_pair32_get(&b, l, 1), gs_pair32_get(&c, l, 1)), &a, &b,
               &c);
}
GS_OP(v_pk_mul_f32) {
  gs_row_t ta[2], tb[2];
  const gs_pair32_t a = gs_src_pair32(w, in, 0, ta), b = gs_src_pair32(w, in, 1, tb);
  GS_PK32_LOOP(gs_mul32(gs_pair32_get(&a, l, 0), gs_pair32_get(&b, l, 0)),
               gs_mul32(gs_pair32_get(&a, l, 1), gs_pair32_get(&b, l, 1)), &a, &b);
}
GS_OP(v_pk_add_f32) {
  gs_row_t ta[2], tb[2];
  const gs_pair32_t a = gs_src_pair32(w, in, 0, ta), b = gs_src_pair32(w, in, 1, tb);
  GS_PK32_LOOP(gs_add32(gs_pair32_get(&a, l, 0), gs_pair32_get(&b, l, 0)),
               gs_add32(gs_pair32_get(&a, l, 1), gs_pair32_get(&b, l, 1)), &a, &b);
}

/* Low result from the first operand, high result from the second, each from the register that its bit of
 * op_sel says. */
GS_OP(v_pk_mov_b32) {
  gs_row_t ta[2], tb[2], td[2];
  const gs_row64_t a = gs_src64(w, in, 0, false, ta), b = gs_src64(w, in, 1, false, tb);
  const gs_row_t *const ra = in->op_sel & 1 ? a.hi : a.lo, *const rb = in->op_sel & 2 ? b.hi : b.lo;
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l) {
    const uint32_t x = ra->u32[l], y = rb->u32[l];
    d.lo->u32[l] = x;
    d.hi->u32[l] = y;
  }
  gs_commit64(w, in, d);
}

/* ---- Mixed precision multiply-add ---- */

/* An operand as floats: bit i of op_sel_hi makes it a half, which bit i of op_sel finds; neg_hi means abs
 * here. */
static const gs_row_t *gs_src_mix(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_row_t *tmp) {
  const gs_row_t *r = gs_src32(w, in, i, tmp);
  const bool half = in->op_sel_hi >> i & 1;
  const unsigned shift = (in->op_sel >> i & 1u) * 16;
  const uint32_t clear = in->neg_hi >> i & 1 ? 0x80000000 : 0, flip = in->neg_lo >> i & 1 ? 0x80000000 : 0;
  if (GS_UNLIKELY(w->fp_custom))
    r = half ? gs_flush_input_pk16(w, r, tmp) : gs_flush_input32(w, r, tmp);
  if (half)
    GS_LANES_DO(l)
      tmp->f32[l] = gs_f32_of_f16(r->u32[l] >> shift);
  GS_LANES_DO(l)
    tmp->u32[l] = ((half ? tmp : r)->u32[l] & ~clear) ^ flip;
  return tmp;
}

typedef float gs_mix_fn_t(float a, float b, float c);

/* Unfused, and without denormals whatever MODE says. */
static inline float gs_mix_mad(float a, float b, float c) {
  return gs_flush32(gs_add32(gs_flush32(gs_mul32(gs_flush32(a), gs_flush32(b))), gs_flush32(c)));
}

/* The result in float; `signals` if it can be a signaling NaN. */
static inline void gs_mix(gs_wave_t *w, const gs_inst_t *in, gs_mix_fn_t *fn, bool signals, gs_row_t *d) {
  gs_row_t ta, tb, tc;
  const gs_row_t *const ra = gs_src_mix(w, in, 0, &ta), *const rb = gs_src_mix(w, in, 1, &tb);
  const gs_row_t *const rc = gs_src_mix(w, in, 2, &tc);
  gs_row_t signaling;
  if (signals)
    gs_find_signaling32((const gs_row_t *const[]){ra, rb, rc}, 3, &signaling);
  gs_round32(w);
  GS_LANES_DO(l)
    d->f32[l] = fn(ra->f32[l], rb->f32[l], rc->f32[l]);
  if (signals)
    gs_put_signaling32(&signaling, d);
}

/* gfx10 and later round only once. */
static inline void gs_mix_once(gs_wave_t *w, const gs_inst_t *in, gs_f16_limit_t limit, gs_row_t *d) {
  gs_row_t ta, tb, tc;
  const gs_row_t *const ra = gs_src_mix(w, in, 0, &ta), *const rb = gs_src_mix(w, in, 1, &tb);
  const gs_row_t *const rc = gs_src_mix(w, in, 2, &tc);
  const uint64_t nearest = gs_when64((w->mode >> GS_MODE_ROUND64_SHIFT & 3) == 0);
  gs_round16(w);
  GS_LANES_DO(l)
    d->u32[l] = gs_mix_fma16(ra->f32[l], rb->f32[l], rc->f32[l], nearest, limit);
}

/* The result rounded once more, to a half, in one half of the destination. */
static inline void gs_mix16(gs_wave_t *w, const gs_inst_t *in, gs_mix_fn_t *fn, unsigned shift) {
  gs_row_t d;
  const gs_f16_limit_t limit = gs_f16_limit(w);
  const gs_row_t *const old = &w->v[in->dst];
  if (GS_LANES == 32 || !(w->env->target & GS_GFX9)) {
    gs_mix_once(w, in, limit, &d);
  } else {
    gs_mix(w, in, fn, false, &d);
    gs_round16(w);
    GS_LANES_DO(l)
      d.u32[l] = gs_f16_of_f32(d.f32[l], limit);
  }
  gs_finish16(w, in, &d);
  GS_LANES_DO(l)
    d.u32[l] = (old->u32[l] & 0xffff0000 >> shift) | d.u32[l] << shift;
  gs_write_row(w, in->dst, &d, gs_exec(w));
}

#define GS_MIX(prefix, fn)                                                                                   \
  GS_OP(prefix##_f32) {                                                                                      \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    gs_mix(w, in, fn, gs_keeps_signaling(w), d);                                                             \
    gs_finish32(w, in, d);                                                                                   \
    gs_commit32(w, in, d);                                                                                   \
  }                                                                                                          \
  GS_OP(prefix##lo_f16) {                                                                                    \
    gs_mix16(w, in, fn, 0);                                                                                  \
  }                                                                                                          \
  GS_OP(prefix##hi_f16) {                                                                                    \
    gs_mix16(w, in, fn, 16);                                                                                 \
  }
GS_MIX(v_mad_mix, gs_mix_mad)
GS_MIX(v_fma_mix, gs_fma32)

/* ---- Dot products ---- */

/* Products of halves are exact in float, so that each term is rounded once, as it is added. The sum knows no
 * denormals; on gfx90a neither do the halves. */
static inline float gs_dot2(const gs_pair16_t *a, const gs_pair16_t *b, float c, unsigned l, uint32_t keep) {
  float sum = gs_flush32(c);
  for (unsigned i = 0; i < 2; i++) {
    const uint32_t x = gs_pair16_bits(a, l, i), y = gs_pair16_bits(b, l, i);
    sum += gs_f32_of_f16(keep ? x : gs_flush16(x)) * gs_f32_of_f16(keep ? y : gs_flush16(y));
  }
  return gs_flush32(sum);
}

GS_OP(v_dot2_f32_f16) {
  gs_row_t ta, tb;
  const gs_pair16_t a = gs_src_pair16(w, in, 0, &ta), b = gs_src_pair16(w, in, 1, &tb);
  const uint32_t keep = w->env->target != GS_GFX90A, flip = in->neg_lo & 4 ? 0x80000000 : 0;
  GS_F32_SRC(2, c);
  GS_F32_LOOP(gs_round32(w), const float c = gs_float_of_bits(rc->u32[l] ^ flip),
              gs_dot2(&a, &b, c, l, keep));
}
GS_OP(v_dot2c_f32_f16) {
  gs_row_t ta, tb;
  const gs_pair16_t a = gs_plain_pair16(w, gs_src32(w, in, 0, &ta), &ta);
  const gs_pair16_t b = gs_plain_pair16(w, gs_src32(w, in, 1, &tb), &tb);
  const uint32_t keep = w->env->target != GS_GFX90A;
  GS_F32_ACC(c);
  GS_F32_LOOP(gs_round32(w), const float c = rc->f32[l], gs_dot2(&a, &b, c, l, keep));
}

/* Of bf16: gfx950. Each term is rounded as it is added, too. */
static inline float gs_dot2_bf16(uint32_t a, uint32_t b, float c) {
  float sum = gs_flush32(c);
  for (unsigned shift = 0; shift < 32; shift += 16)
    sum += gs_float_of_bits(a >> shift << 16) * gs_float_of_bits(b >> shift << 16);
  return gs_flush32(sum);
}

/* ---- Dot products of gfx11 (dot2.h), which MODE does not change ---- */

/* Both halves of a packed operand as op_sel, op_sel_hi and neg want them. Constants are halves; for bf16 both
 * halves are the upper one of a float, or of an integer. */
static inline gs_pair16_t gs_dot_pair(gs_wave_t *w, const gs_inst_t *in, unsigned i, bool bf16,
                                      gs_row_t *tmp) {
  enum { LITERAL = 255 };
  const gs_src_t *const s = &in->src[i];
  gs_pair16_t pair = {.row = gs_src32(w, in, i, tmp),
                      .shift = {(in->op_sel >> i & 1u) * 16, (in->op_sel_hi >> i & 1u) * 16},
                      .negate = {(in->neg_lo >> i & 1u) << 15, (in->neg_hi >> i & 1u) << 15}};
  if (bf16 && s->kind == GS_SRC_CONST && s->reg != LITERAL)
    pair.shift[0] = pair.shift[1] = 16;
  return pair;
}
static inline uint32_t gs_dot_bits(const gs_pair16_t *p, unsigned l) {
  return gs_pair16_bits(p, l, 0) | gs_pair16_bits(p, l, 1) << 16;
}
/* Operands of an instruction without op_sel. */
static inline gs_pair16_t gs_whole_pair(const gs_row_t *row) {
  return (gs_pair16_t){.row = row, .shift = {0, 16}};
}

static inline void gs_dot2_gfx11(gs_wave_t *w, const gs_inst_t *in, bool bf16, const gs_pair16_t *pa,
                                 const gs_pair16_t *pb, const gs_row_t *rc, uint32_t flip) {
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  for (unsigned l = 0; l < GS_LANES; l++)
    d->u32[l] =
        gs_dot_to_f32(gs_dot2_of(bf16, false, gs_dot_bits(pa, l), gs_dot_bits(pb, l), rc->u32[l] ^ flip));
  if (!in->plain_dst)
    gs_finish_flushed32(w, in, d);
  gs_commit32(w, in, d);
}

#define GS_DOT2_F32(name, bf16)                                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc;                                                                                     \
    const gs_pair16_t a = gs_dot_pair(w, in, 0, bf16, &ta), b = gs_dot_pair(w, in, 1, bf16, &tb);            \
    gs_dot2_gfx11(w, in, bf16, &a, &b, gs_src32(w, in, 2, &tc), in->neg_lo & 4 ? 0x80000000 : 0);            \
  }
GS_OP(v_dot2_gfx9_f32_bf16) {
  gs_row_t ta, tb;
  const gs_pair16_t a = gs_dot_pair(w, in, 0, false, &ta), b = gs_dot_pair(w, in, 1, false, &tb);
  const uint32_t flip = in->neg_lo & 4 ? 0x80000000 : 0;
  GS_F32_SRC(2, c);
  GS_F32_LOOP(gs_round32(w), const float c = gs_float_of_bits(rc->u32[l] ^ flip),
              gs_dot2_bf16(gs_dot_bits(&a, l), gs_dot_bits(&b, l), c));
}
GS_OP(v_dot2c_f32_bf16) {
  gs_row_t ta, tb;
  const gs_row_t *const ra = gs_src32(w, in, 0, &ta), *const rb = gs_src32(w, in, 1, &tb);
  GS_F32_ACC(c);
  GS_F32_LOOP(gs_round32(w), const float c = rc->f32[l], gs_dot2_bf16(ra->u32[l], rb->u32[l], c));
}
GS_DOT2_F32(v_dot2_gfx11_f32_f16, false)
GS_DOT2_F32(v_dot2_f32_bf16, true)
GS_OP(v_dot2acc_f32_f16) {
  gs_row_t ta, tb;
  const gs_pair16_t a = gs_whole_pair(gs_src32(w, in, 0, &ta)), b = gs_whole_pair(gs_src32(w, in, 1, &tb));
  gs_dot2_gfx11(w, in, false, &a, &b, &w->v[in->dst], 0);
}

/* VOP3: both halves of two operands, and a half, to which op_sel's third bit leads. */
GS_OP(v_dot2_f16_f16) {
  gs_row_t ta, tb, tc, td;
  const gs_row_t *const ra = gs_src32(w, in, 0, &ta), *const rb = gs_src32(w, in, 1, &tb);
  const gs_row_t *const rc = gs_src16(w, in, 2, &tc);
  gs_row_t *const d = gs_dst32(w, in, &td);
  const uint32_t most = w->mode & GS_MODE_FP16_OVFL ? 0x7bff : 0x7c00;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t c = gs_dot_addend(false, rc->u32[l] & 0xffff);
    d->u32[l] = gs_dot_to_f16(gs_dot2_of(false, true, ra->u32[l], rb->u32[l], c), most);
  }
  gs_commit32(w, in, d);
}

/* To nearest, ties to even. */
static inline uint32_t gs_bf16_of_f32(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
GS_OP(v_dot2_bf16_bf16) {
  gs_row_t ta, tb, tc, td;
  const gs_row_t *const ra = gs_src32(w, in, 0, &ta), *const rb = gs_src32(w, in, 1, &tb);
  const gs_row_t *const rc = gs_src16(w, in, 2, &tc);
  gs_row_t *const d = gs_dst32(w, in, &td);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t c = gs_dot_addend(true, rc->u32[l] & 0xffff);
    d->u32[l] = gs_bf16_of_f32(gs_dot_to_f32(gs_dot2_of(true, false, ra->u32[l], rb->u32[l], c)));
  }
  gs_commit32(w, in, d);
}

/* ---- Packing ---- */

/* Halves count as numbers: signaling NaNs become quiet if MODE says IEEE. */
static inline uint32_t gs_packed_half(uint32_t half, uint32_t quiet) {
  return (half & 0xffff) | ((half & 0x7fff) > 0x7c00 ? quiet : 0);
}
GS_OP(v_pack_b32_f16) {
  GS_F16_SRC(0, a);
  GS_F16_SRC(1, b);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  const uint32_t quiet = gs_keeps_signaling(w) ? 0 : 0x0200;
  GS_LANES_DO(l)
    d->u32[l] = gs_packed_half(ra->u32[l], quiet) | gs_packed_half(rb->u32[l], quiet) << 16;
  gs_commit32(w, in, d);
}
