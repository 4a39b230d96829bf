/* Matrix instructions of gfx11: D = A * B + C, all of 16 x 16, by a whole wave.
 *
 * Lane l of A holds row l % 16, of B column l % 16, with all 16 elements of k in consecutive places of its
 * registers; the other groups of 16 lanes must hold the same, and are not looked at. In C and D, register r
 * of lane l is row r * groups + l / 16, column l % 16, where a wave has two or four groups of 16 lanes.
 * Halves take one half of a register each, and leave the other as it was. EXEC does not matter, nor MODE, but
 * for FP16_OVFL. Sums of floats go from low k to high in pairs as dot products do (dot2.h), and are rounded
 * to what D has after each: halves to even, while bf16 loses the lower half of a float. Not here: matrices of
 * gfx9 (op_mfma.c). */
#include "isa/dot2.h"
#include "isa/float.h"

enum { SIZE = 16, GROUPS = GS_LANES / SIZE, REGISTERS = SIZE / GROUPS };

typedef enum kind { KIND_F16, KIND_BF16, KIND_IU8, KIND_IU4 } kind_t;
enum { NEG_A = 1, NEG_B = 2, NEG_C = 4 };

/* A transposed, or B: element[k][row or column], integers. */
typedef struct factor {
  _Alignas(64) uint32_t element[SIZE][SIZE];
} factor_t;

/* The same of halves. */
typedef struct halves {
  gs_factor_t element[SIZE][SIZE];
} halves_t;

static inline bool is_float(kind_t kind) {
  return kind == KIND_F16 || kind == KIND_BF16;
}

static inline uint32_t element_of(kind_t kind, const gs_row_t *row, unsigned lane, unsigned k,
                                  bool is_signed) {
  const uint32_t byte = row[k / 4].u32[lane] >> (8 * (k % 4)) & 0xff;
  const uint32_t nibble = row[k / 8].u32[lane] >> (4 * (k % 8)) & 0xf;
  if (kind == KIND_IU8)
    return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
  return is_signed ? (uint32_t)((int32_t)(nibble << 28) >> 28) : nibble;
}

/* The neg bits of integers say that they are signed. */
static inline void read_factor(const gs_wave_t *w, const gs_inst_t *in, unsigned i, kind_t kind,
                               factor_t *f) {
  const gs_row_t *const row = &w->v[in->src[i].reg];
  for (unsigned k = 0; k < SIZE; k++)
    for (unsigned lane = 0; lane < SIZE; lane++)
      f->element[k][lane] = element_of(kind, row, lane, k, in->neg_lo >> i & 1);
}

/* Those of floats change signs: neg_lo of the elements with even numbers, neg_hi of the others. */
static inline void read_halves(const gs_wave_t *w, const gs_inst_t *in, unsigned i, kind_t kind,
                               halves_t *h) {
  const gs_row_t *const row = &w->v[in->src[i].reg];
  for (unsigned k = 0; k < SIZE; k++) {
    const uint32_t flip = (uint32_t)((k % 2 ? in->neg_hi : in->neg_lo) >> i & 1) << 15;
    for (unsigned lane = 0; lane < SIZE; lane++)
      h->element[k][lane] =
          gs_factor_of(kind == KIND_BF16, (row[k / 2].u32[lane] >> (16 * (k % 2)) & 0xffff) ^ flip);
  }
}

/* A constant that is one of halves: integers as they are, floats rounded to f16, or cut off to bf16. */
static inline uint32_t half_of_constant(kind_t kind, const gs_src_t *s) {
  enum { FIRST_FLOAT = 240 };
  const uint32_t bits = (uint32_t)s->value;
  if (s->reg < FIRST_FLOAT)
    return bits & 0xffff;
  return kind == KIND_BF16 ? bits >> 16 : gs_half_of_float(gs_float_of_bits(bits));
}

/* Register `r` of C, in whatever file it is, with its sign bits changed; of halves the one that counts. */
static inline void read_sum(gs_wave_t *w, const gs_inst_t *in, unsigned r, kind_t kind, bool halves,
                            gs_row_t *sum) {
  gs_inst_t one = *in;
  gs_row_t tmp;
  const gs_src_t *const s = &in->src[2];
  one.src[2].reg = (uint16_t)(s->reg + (s->kind == GS_SRC_VGPR ? r : 0));
  if (halves && s->kind == GS_SRC_CONST)
    one.src[2].value = half_of_constant(kind, s);
  const gs_row_t *const c = gs_src32(w, &one, 2, &tmp);
  const unsigned shift = s->kind == GS_SRC_VGPR && (in->op_sel & 4) ? 16 : 0;
  const uint32_t sign = UINT32_C(1) << (halves ? 15 : 31);
  const uint32_t flip = is_float(kind) && (in->neg_lo & NEG_C) ? sign : 0;
  const uint32_t clear = is_float(kind) && (in->neg_hi & NEG_C) ? sign : 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    sum->u32[l] = ((halves ? c->u32[l] >> shift & 0xffff : c->u32[l]) & ~clear) ^ flip;
}

/* One sum and two products as D has them. */
static inline uint32_t next_sum(kind_t kind, bool halves, const gs_factor_t f[4], uint32_t sum,
                                uint32_t most) {
  const bool bf16 = kind == KIND_BF16;
  if (!halves)
    return gs_dot_to_f32(gs_dot2_sum(bf16, false, f, sum));
  const gs_dot_t dot = gs_dot2_sum(bf16, !bf16, f, gs_dot_addend(bf16, sum));
  if (!bf16)
    return gs_dot_to_f16(dot, most);
  return dot.is_special && dot.special == GS_DOT_NAN ? 0xfffd : gs_dot_to_f32(dot) >> 16;
}

/* Sixteen columns of a row of floats. `most` is what halves beyond the range become. */
static inline void row_of_floats(const halves_t *a, const halves_t *b, unsigned row, kind_t kind, bool halves,
                                 uint32_t most, uint32_t *sum) {
  for (unsigned j = 0; j < SIZE; j++)
    for (unsigned k = 0; k < SIZE; k += 2) {
      const gs_factor_t f[4] = {a->element[k][row], b->element[k][j], a->element[k + 1][row],
                                b->element[k + 1][j]};
      sum[j] = next_sum(kind, halves, f, sum[j], most);
    }
}

/* The exact sums fit into 64 bits; with clamp they saturate, else they wrap. */
static inline void row_of_integers(const factor_t *a, const factor_t *b, unsigned row, bool clamp,
                                   uint32_t *restrict sum) {
  for (unsigned j = 0; j < SIZE; j++) {
    int64_t exact = (int32_t)sum[j];
    for (unsigned k = 0; k < SIZE; k++)
      exact += (int64_t)(int32_t)a->element[k][row] * (int32_t)b->element[k][j];
    if (clamp)
      exact = exact < INT32_MIN ? INT32_MIN : exact > INT32_MAX ? INT32_MAX : exact;
    sum[j] = (uint32_t)exact;
  }
}

static inline void write_halves(gs_wave_t *w, const gs_inst_t *in, unsigned r, const gs_row_t *sum) {
  const unsigned shift = in->op_sel & 4 ? 16 : 0;
  gs_row_t *const d = &w->v[in->dst + r];
  for (unsigned l = 0; l < GS_LANES; l++)
    d->u32[l] = (d->u32[l] & ~(UINT32_C(0xffff) << shift)) | sum->u32[l] << shift;
}

static inline void multiply_floats(gs_wave_t *w, const gs_inst_t *in, kind_t kind, bool halves,
                                   gs_row_t sums[REGISTERS]) {
  const uint32_t most = w->mode & GS_MODE_FP16_OVFL ? 0x7bff : 0x7c00;
  halves_t a, b;
  read_halves(w, in, 0, kind, &a);
  read_halves(w, in, 1, kind, &b);
  for (unsigned r = 0; r < REGISTERS; r++)
    for (unsigned g = 0; g < GROUPS; g++)
      row_of_floats(&a, &b, GROUPS * r + g, kind, halves, most, &sums[r].u32[SIZE * g]);
}

static inline void multiply_integers(gs_wave_t *w, const gs_inst_t *in, kind_t kind,
                                     gs_row_t sums[REGISTERS]) {
  factor_t a, b;
  read_factor(w, in, 0, kind, &a);
  read_factor(w, in, 1, kind, &b);
  for (unsigned r = 0; r < REGISTERS; r++)
    for (unsigned g = 0; g < GROUPS; g++)
      row_of_integers(&a, &b, GROUPS * r + g, in->clamp, &sums[r].u32[SIZE * g]);
}

static inline void wmma(gs_wave_t *w, const gs_inst_t *in, kind_t kind, bool halves) {
  gs_row_t sums[REGISTERS];
  for (unsigned r = 0; r < REGISTERS; r++)
    read_sum(w, in, r, kind, halves, &sums[r]);
  if (is_float(kind))
    multiply_floats(w, in, kind, halves, sums);
  else
    multiply_integers(w, in, kind, sums);
  for (unsigned r = 0; r < REGISTERS; r++)
    if (halves)
      write_halves(w, in, r, &sums[r]);
    else
      gs_copy_row(&sums[r], &w->v[in->dst + r]);
}

#define WMMA(name, kind, halves)                                                                             \
  GS_OP(name) {                                                                                              \
    wmma(w, in, kind, halves);                                                                               \
  }
WMMA(v_wmma_f32_16x16x16_f16, KIND_F16, false)
WMMA(v_wmma_f32_16x16x16_bf16, KIND_BF16, false)
WMMA(v_wmma_f16_16x16x16_f16, KIND_F16, true)
WMMA(v_wmma_bf16_16x16x16_bf16, KIND_BF16, true)
WMMA(v_wmma_i32_16x16x16_iu8, KIND_IU8, false)
WMMA(v_wmma_i32_16x16x16_iu4, KIND_IU4, false)
