/* Matrix instructions of gfx11: D = A * B + C, all of 16 x 16, by a whole wave.
 *
 * Lane l of A holds row l % 16, of B column l % 16, with all 16 elements of k in consecutive places of its
 * registers; the other groups of 16 lanes must hold the same, and are not looked at. In C and D, register r
 * of lane l is row r * groups + l / 16, column l % 16, where a wave has two or four groups of 16 lanes.
 * Halves take one half of a register each, and leave the other as it was. EXEC and MODE do not matter. Sums
 * go from low k to high, fused, in float. Not here: matrices of gfx9 (op_mfma.c). */
#include "isa/float.h"

enum { SIZE = 16, GROUPS = GS_LANES / SIZE, REGISTERS = SIZE / GROUPS };

typedef enum kind { KIND_F16, KIND_BF16, KIND_IU8, KIND_IU4 } kind_t;
enum { NEG_A = 1, NEG_B = 2, NEG_C = 4 };

/* A transposed, or B: element[k][row or column], floats or integers. */
typedef struct factor {
  _Alignas(64) uint32_t element[SIZE][SIZE];
} factor_t;

static inline uint32_t element_of(kind_t kind, const gs_row_t *row, unsigned lane, unsigned k,
                                  bool is_signed) {
  const uint32_t half = row[k / 2].u32[lane] >> (16 * (k % 2)) & 0xffff;
  const uint32_t byte = row[k / 4].u32[lane] >> (8 * (k % 4)) & 0xff;
  const uint32_t nibble = row[k / 8].u32[lane] >> (4 * (k % 8)) & 0xf;
  switch (kind) {
  case KIND_F16: return gs_bits_of_float(gs_f32_of_f16(half));
  case KIND_BF16: return half << 16;
  case KIND_IU8: return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
  default: return is_signed ? (uint32_t)((int32_t)(nibble << 28) >> 28) : nibble;
  }
}

/* The neg bits of integers say that they are signed; those of floats change signs: neg_lo of the elements
 * with even numbers, neg_hi of the others. */
static inline void read_factor(const gs_wave_t *w, const gs_inst_t *in, unsigned i, kind_t kind,
                               factor_t *f) {
  const gs_row_t *const row = &w->v[in->src[i].reg];
  const bool lo = in->neg_lo >> i & 1, hi = in->neg_hi >> i & 1,
             floats = kind == KIND_F16 || kind == KIND_BF16;
  for (unsigned k = 0; k < SIZE; k++)
    for (unsigned lane = 0; lane < SIZE; lane++) {
      const uint32_t flip = floats && (k % 2 ? hi : lo) ? UINT32_C(1) << 31 : 0;
      f->element[k][lane] = element_of(kind, row, lane, k, lo) ^ flip;
    }
}

/* Register `r` of C, in whatever file it is; floats that are halves as floats. */
static inline void read_sum(gs_wave_t *w, const gs_inst_t *in, unsigned r, kind_t kind, bool halves,
                            gs_row_t *sum) {
  gs_inst_t one = *in;
  gs_row_t tmp;
  one.src[2].reg = (uint16_t)(one.src[2].reg + (one.src[2].kind == GS_SRC_VGPR ? r : 0));
  const gs_row_t *const c = gs_src32(w, &one, 2, &tmp);
  const unsigned shift = halves && one.src[2].kind == GS_SRC_VGPR && (in->op_sel & 4) ? 16 : 0;
  const bool floats = kind == KIND_F16 || kind == KIND_BF16;
  const uint32_t flip = floats && (in->neg_lo & NEG_C) ? UINT32_C(1) << 31 : 0;
  const uint32_t clear = floats && (in->neg_hi & NEG_C) ? UINT32_C(1) << 31 : 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t bits = c->u32[l];
    if (halves)
      bits = element_of(kind, c, l, shift / 16, false);
    sum->u32[l] = (bits & ~clear) ^ flip;
  }
}

static inline void multiply_floats(float *restrict sum, float a, const float *restrict b) {
  for (unsigned j = 0; j < SIZE; j++)
    sum[j] = fmaf(a, b[j], sum[j]);
}

/* Sixteen columns of a row of floats. */
static inline void row_of_floats(const factor_t *a, const factor_t *b, unsigned row, float *restrict sum) {
  for (unsigned k = 0; k < SIZE; k++)
    multiply_floats(sum, gs_float_of_bits(a->element[k][row]), (const float *)(const void *)b->element[k]);
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

/* Bits of a float as bf16, to nearest even. */
static inline uint32_t bf16_of(float x) {
  const uint32_t bits = gs_bits_of_float(x);
  return x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static inline void write_halves(gs_wave_t *w, const gs_inst_t *in, unsigned r, kind_t kind,
                                const gs_row_t *sum) {
  const gs_f16_limit_t limit = gs_f16_limit(w);
  const unsigned shift = in->op_sel & 4 ? 16 : 0;
  gs_row_t *const d = &w->v[in->dst + r];
  for (unsigned l = 0; l < GS_LANES; l++) {
    const float x = sum->f32[l];
    const uint32_t half = kind == KIND_F16 ? gs_f16_of_f32(x, limit) : bf16_of(x);
    d->u32[l] = (d->u32[l] & ~(UINT32_C(0xffff) << shift)) | half << shift;
  }
}

static inline void wmma(gs_wave_t *w, const gs_inst_t *in, kind_t kind, bool halves) {
  factor_t a, b;
  gs_row_t sums[REGISTERS];
  read_factor(w, in, 0, kind, &a);
  read_factor(w, in, 1, kind, &b);
  for (unsigned r = 0; r < REGISTERS; r++) {
    read_sum(w, in, r, kind, halves, &sums[r]);
    for (unsigned g = 0; g < GROUPS; g++)
      if (kind == KIND_F16 || kind == KIND_BF16)
        row_of_floats(&a, &b, GROUPS * r + g, &sums[r].f32[SIZE * g]);
      else
        row_of_integers(&a, &b, GROUPS * r + g, in->clamp, &sums[r].u32[SIZE * g]);
  }
  for (unsigned r = 0; r < REGISTERS; r++)
    if (halves)
      write_halves(w, in, r, kind, &sums[r]);
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
