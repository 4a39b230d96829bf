/* Matrix instructions of gfx908, gfx90a, gfx942 and gfx950, D = A * B + C, and moves to and from accumulation
 * registers.
 *
 * All shapes follow one scheme. An M x M result has 64 / M groups of lanes in A and B; lane l holds row (A)
 * or column (B) l % M, and its group is the block of the result if there are several blocks, else the part of
 * the k range. Elements of a lane's registers are consecutive in k. In C and D lane l holds column l % M, and
 * a register of it holds for M = 32  row 8 * (r / 4) + 4 * (l / 32) + r % 4 of block r / 16, with r counted
 * within the block M = 16  row 4 * (l / 16) + r % 4 of block r / 4 M = 4   row r of block l / 4 f64 differs:
 * its register pairs r hold row 4 * r + l / 16 (16x16), or row l / 16 of block l / 4 % 4 (4x4). cbsz and abid
 * let 2^cbsz blocks share the A of one, number abid among them; blgp rearranges the lanes of B. EXEC and MODE
 * do not matter. Sums go from low k to high, fused, but for those of mfma_sum.h. On gfx90a operands and
 * results of f16 and bf16 instructions know no denormals. xf32 are floats cut off to eleven significant bits.
 * Products of sparse matrices: see below. Not here: other dot products (op_vpk_float.c, op_vpk_int.c). */
#include "isa/float.h"
#include "isa/mfma_sum.h"
#include "isa/small_float.h"

/* ---- Operands ---- */

enum { GS_MFMA_ELEMENTS = 32 }; /* most elements of A or B that a lane holds */

typedef enum gs_mfma_type {
  GS_MFMA_F32,
  GS_MFMA_XF32,
  GS_MFMA_F16,
  GS_MFMA_BF16,
  GS_MFMA_I8,
  GS_MFMA_FP8,
  GS_MFMA_BF8,
} gs_mfma_type_t;

/* A or B, one row of 64 lanes for each element, as floats or as integers. */
typedef struct gs_matrix {
  gs_row_t element[GS_MFMA_ELEMENTS];
} gs_matrix_t;

/* A shape: result size, blocks, k, and elements that a lane holds of A and B. */
typedef struct gs_mfma_shape {
  unsigned size, blocks, depth, elements;
} gs_mfma_shape_t;

/* The lane whose B lane l uses. */
static inline unsigned gs_mfma_lane(unsigned blgp, unsigned l) {
  switch (blgp) {
  case 1: /* one half of the wave for both */
  case 2: return l % 32 + 32 * (blgp - 1);
  case 3: /* rotated by 16 lanes */ return (l + 16) % GS_LANES;
  case 4: /* one quarter of the wave for all */
  case 5:
  case 6:
  case 7: return l % 16 + 16 * (blgp - 4);
  default: return l;
  }
}

static inline void gs_mfma_permute(unsigned blgp, gs_row_t *row) {
  const gs_row_t old = *row;
  for (unsigned l = 0; l < GS_LANES; l++)
    row->u32[l] = old.u32[gs_mfma_lane(blgp, l)];
}

/* The hardware cuts off; who wants to round adds half a unit before (AMD's hipBLASLt). NaNs and infinities
 * stay.
 */
static inline uint32_t gs_xf32(uint32_t bits) {
  return (bits & 0x7f800000) == 0x7f800000 ? bits : bits & ~UINT32_C(0x1fff);
}

/* How a part reads elements of a type: gfx90a flushes halves; bytes are of other formats from gfx950 on. */
typedef enum gs_mfma_dialect { GS_MFMA_PLAIN, GS_MFMA_FLUSH, GS_MFMA_FNUZ } gs_mfma_dialect_t;
static inline gs_mfma_dialect_t gs_mfma_dialect(const gs_wave_t *w) {
  return w->env->target == GS_GFX90A   ? GS_MFMA_FLUSH
         : w->env->target == GS_GFX942 ? GS_MFMA_FNUZ
                                       : GS_MFMA_PLAIN;
}

/* Element e of a row's type, as float or integer bits. */
static inline uint32_t gs_mfma_element(gs_mfma_type_t type, uint32_t bits, unsigned e,
                                       gs_mfma_dialect_t dialect) {
  const bool flush = dialect == GS_MFMA_FLUSH, fnuz = dialect == GS_MFMA_FNUZ;
  const uint32_t half = bits >> (16 * (e & 1)) & 0xffff;
  switch (type) {
  case GS_MFMA_F16: return gs_bits_of_float(gs_f32_of_f16(flush ? gs_flush16(half) : half));
  case GS_MFMA_BF16: return flush && (half & 0x7f80) == 0 ? half << 16 & 0x80000000 : half << 16;
  case GS_MFMA_I8: return (uint32_t)(int32_t)(int8_t)(bits >> (8 * e));
  case GS_MFMA_FP8: return gs_bits_of_float(gs_f32_of_small(fnuz ? gs_fp8_fnuz : gs_fp8, bits >> (8 * e)));
  case GS_MFMA_BF8: return gs_bits_of_float(gs_f32_of_small(fnuz ? gs_bf8_fnuz : gs_bf8, bits >> (8 * e)));
  case GS_MFMA_XF32: return gs_xf32(bits);
  default: return bits;
  }
}

static inline unsigned gs_mfma_per_register(gs_mfma_type_t type) {
  switch (type) {
  case GS_MFMA_F32:
  case GS_MFMA_XF32: return 1;
  case GS_MFMA_F16:
  case GS_MFMA_BF16: return 2;
  default: return 4;
  }
}

/* Reads operand `i`, which is in vector registers: a copy, as D may overlap it. */
static inline void gs_mfma_read(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_mfma_type_t type,
                                unsigned elements, gs_matrix_t *m) {
  const gs_mfma_dialect_t dialect = gs_mfma_dialect(w);
  const unsigned per_register = gs_mfma_per_register(type);
  for (unsigned e = 0; e < elements; e++) {
    const gs_row_t *const r = &w->v[in->src[i].reg + e / per_register];
    GS_LANES_DO(l)
      m->element[e].u32[l] = gs_mfma_element(type, r->u32[l], e % per_register, dialect);
    if (i == 1 && in->blgp)
      gs_mfma_permute(in->blgp, &m->element[e]);
  }
}

/* Puts C into D's registers, where the sums are made. Registers may overlap. */
static inline void gs_mfma_start(gs_wave_t *w, const gs_inst_t *in, unsigned registers) {
  gs_row_t *const d = &w->v[in->dst];
  const gs_src_t *const c = &in->src[2];
  if (c->kind == GS_SRC_VGPR) {
    if (c->reg != in->dst)
      memmove(d, &w->v[c->reg], registers * sizeof *d);
    return;
  }
  gs_row_t tmp;
  const gs_row_t *const value = gs_src32(w, in, 2, &tmp);
  for (unsigned r = 0; r < registers; r++)
    d[r] = *value;
}

/* ---- 32 bits: sixteen lanes of a register share a row of A and are consecutive columns of B ---- */

/* How a part adds products of a type, of which a lane holds that many elements. */
static inline gs_mfma_way_t gs_mfma_way(const gs_wave_t *w, gs_mfma_type_t type) {
  const bool halves = type == GS_MFMA_F16 || type == GS_MFMA_BF16;
  if (w->env->target == GS_GFX90A)
    return halves ? GS_SUM_PAIRS : GS_SUM_FUSED;
  if (!(w->env->target & GS_GFX9_4) || type == GS_MFMA_F32 || type == GS_MFMA_I8)
    return GS_SUM_FUSED;
  return type == GS_MFMA_FP8 || type == GS_MFMA_BF8 ? GS_SUM_BYTES : GS_SUM_ALIGNED;
}
static inline int32_t gs_mfma_least_exponent(const gs_wave_t *w, gs_mfma_type_t type) {
  const int32_t fnuz = gs_mfma_dialect(w) == GS_MFMA_FNUZ;
  switch (type) {
  case GS_MFMA_F16: return -14;
  case GS_MFMA_FP8: return -6 - fnuz;
  case GS_MFMA_BF8: return -14 - fnuz;
  default: return -126;
  }
}
static inline void gs_factors_start(gs_factors_t *f, const gs_wave_t *w, unsigned elements,
                                    gs_mfma_type_t type, gs_mfma_type_t type_b) {
  f->way = gs_mfma_way(w, type);
  memset(f->scale, 0, sizeof f->scale);
  f->least_a = gs_mfma_least_exponent(w, type);
  f->least_b = gs_mfma_least_exponent(w, type_b);
  switch (f->way) {
  case GS_SUM_PAIRS: f->group = elements == 2 ? 2 : 4; break;
  case GS_SUM_BYTES: f->group = 16; break;
  default: f->group = type == GS_MFMA_XF32 ? 4 : 8;
  }
}
/* The next k's: one element of A for all sixteen lanes. */
static inline void gs_factors_add(gs_factors_t *f, float a, const float *b) {
  for (unsigned j = 0; j < GS_SUM_LANES; j++)
    f->a[f->count][j] = a;
  memcpy(f->b[f->count++], b, sizeof f->b[0]);
}

/* The block that A comes from. */
static inline unsigned gs_mfma_block_a(const gs_inst_t *in, unsigned block) {
  const unsigned share = (1u << in->cbsz) - 1;
  return (block & ~share) | (in->abid & share);
}

/* Sixteen lanes of D, in the host's registers while k goes on. */
#if defined(__AVX512F__)
typedef __m512 gs_sums_t;
static inline gs_sums_t gs_sums_of(const float *d) {
  return _mm512_load_ps(d);
}
static inline gs_sums_t gs_sums_add(gs_sums_t sums, float a, const float *b) {
  return _mm512_fmadd_ps(_mm512_set1_ps(a), _mm512_load_ps(b), sums);
}
static inline void gs_sums_put(float *d, gs_sums_t sums) {
  _mm512_store_ps(d, sums);
}
#elif defined(__FMA__)
typedef struct gs_sums {
  __m256 half[2];
} gs_sums_t;
static inline gs_sums_t gs_sums_of(const float *d) {
  return (gs_sums_t){{_mm256_load_ps(d), _mm256_load_ps(d + 8)}};
}
static inline gs_sums_t gs_sums_add(gs_sums_t sums, float a, const float *b) {
  const __m256 all = _mm256_set1_ps(a);
  return (gs_sums_t){{_mm256_fmadd_ps(all, _mm256_load_ps(b), sums.half[0]),
                      _mm256_fmadd_ps(all, _mm256_load_ps(b + 8), sums.half[1])}};
}
static inline void gs_sums_put(float *d, gs_sums_t sums) {
  _mm256_store_ps(d, sums.half[0]);
  _mm256_store_ps(d + 8, sums.half[1]);
}
#else
typedef struct gs_sums {
  float f32[16];
} gs_sums_t;
static inline gs_sums_t gs_sums_of(const float *d) {
  gs_sums_t sums;
  memcpy(&sums, d, sizeof sums);
  return sums;
}
static inline gs_sums_t gs_sums_add(gs_sums_t sums, float a, const float *b) {
  for (unsigned j = 0; j < 16; j++)
    sums.f32[j] = fmaf(a, b[j], sums.f32[j]);
  return sums;
}
static inline void gs_sums_put(float *d, gs_sums_t sums) {
  memcpy(d, &sums, sizeof sums);
}
#endif

static inline void gs_mfma_multiply_i32(uint32_t *restrict d, uint32_t a, const uint32_t *restrict b) {
  for (unsigned j = 0; j < 16; j++)
    d[j] += a * b[j];
}

/* Sixteen lanes from `first` of register r: their place in A and B for each k. */
static inline void gs_mfma_sixteen(const gs_inst_t *in, gs_mfma_shape_t s, bool integer, const gs_matrix_t *a,
                                   const gs_matrix_t *b, unsigned r, unsigned first, gs_factors_t *f,
                                   gs_row_t *d) {
  const unsigned per_block = s.size * s.size / GS_LANES, block = r / per_block, in_block = r % per_block;
  const unsigned row =
      s.size == 32 ? 8 * (in_block / 4) + 4 * (first / 32) + in_block % 4 : 4 * (first / 16) + r % 4;
  gs_sums_t sums = gs_sums_of(&d->f32[first]);
  f->count = 0;
  for (unsigned k = 0; k < s.depth; k++) {
    const unsigned e = k % s.elements, group = k / s.elements;
    const unsigned lane_a = (s.blocks > 1 ? gs_mfma_block_a(in, block) : group) * s.size + row;
    const unsigned lane_b = (s.blocks > 1 ? block : group) * s.size + first % s.size;
    if (integer)
      gs_mfma_multiply_i32(&d->u32[first], a->element[e].u32[lane_a % GS_LANES], &b->element[e].u32[lane_b]);
    else if (f->way != GS_SUM_FUSED)
      gs_factors_add(f, a->element[e].f32[lane_a % GS_LANES], &b->element[e].f32[lane_b]);
    else
      sums = gs_sums_add(sums, a->element[e].f32[lane_a % GS_LANES], &b->element[e].f32[lane_b]);
  }
  if (f->way != GS_SUM_FUSED)
    gs_sum_factors(f, &d->f32[first]);
  else if (!integer)
    gs_sums_put(&d->f32[first], sums);
}

static inline void gs_mfma_fours_by_group(const gs_inst_t *in, gs_mfma_shape_t s, const gs_matrix_t *a,
                                          const gs_matrix_t *b, unsigned r, gs_factors_t *f, gs_row_t *d) {
  f->count = s.depth;
  for (unsigned first = 0; first < GS_LANES; first += GS_SUM_LANES) {
    for (unsigned k = 0; k < s.depth; k++)
      for (unsigned j = 0; j < GS_SUM_LANES; j++) {
        const unsigned l = first + j;
        f->a[k][j] = a->element[k].f32[(4 * gs_mfma_block_a(in, l / 4) + r) % GS_LANES];
        f->b[k][j] = b->element[k].f32[l];
      }
    gs_sum_factors(f, &d->f32[first]);
  }
}

/* 4x4 blocks: each group of four lanes is one, with its own A and B. */
static inline void gs_mfma_fours(const gs_inst_t *in, gs_mfma_shape_t s, bool integer, const gs_matrix_t *a,
                                 const gs_matrix_t *b, unsigned r, gs_factors_t *f, gs_row_t *d) {
  if (f->way != GS_SUM_FUSED) {
    gs_mfma_fours_by_group(in, s, a, b, r, f, d);
    return;
  }
  for (unsigned k = 0; k < s.depth; k++) {
    gs_row_t row;
    for (unsigned l = 0; l < GS_LANES; l++)
      row.u32[l] = a->element[k].u32[(4 * gs_mfma_block_a(in, l / 4) + r) % GS_LANES];
    const gs_row_t *const rb = &b->element[k];
    if (integer)
      GS_LANES_DO(l)
        d->u32[l] += row.u32[l] * rb->u32[l];
    else
      GS_LANES_DO(l)
        d->f32[l] = fmaf(row.f32[l], rb->f32[l], d->f32[l]);
  }
}

/* Inlined, so that shape and types are constants everywhere in it: they decide on each of its loops. */
static inline __attribute__((always_inline)) void
gs_mfma(gs_wave_t *w, const gs_inst_t *in, gs_mfma_shape_t s, gs_mfma_type_t type, gs_mfma_type_t type_b) {
  const bool integer = type == GS_MFMA_I8;
  const unsigned registers = s.size * s.size * s.blocks / GS_LANES;
  gs_matrix_t a, b;
  gs_mfma_read(w, in, 0, type, s.elements, &a);
  gs_mfma_read(w, in, 1, type_b, s.elements, &b);
  gs_mfma_start(w, in, registers);
  gs_factors_t f;
  gs_factors_start(&f, w, s.elements, type, type_b);
  for (unsigned r = 0; r < registers; r++) {
    gs_row_t *const d = &w->v[in->dst + r];
    if (s.size == 4)
      gs_mfma_fours(in, s, integer, &a, &b, r, &f, d);
    else
      for (unsigned first = 0; first < GS_LANES; first += 16)
        gs_mfma_sixteen(in, s, integer, &a, &b, r, first, &f, d);
  }
}

#define GS_MFMA2(name, size, blocks, depth, elements, type, type_b)                                          \
  GS_OP(name) {                                                                                              \
    gs_mfma(w, in, (gs_mfma_shape_t){size, blocks, depth, elements}, type, type_b);                          \
  }
#define GS_MFMA(name, size, blocks, depth, elements, type)                                                   \
  GS_MFMA2(name, size, blocks, depth, elements, type, type)

GS_MFMA(v_mfma_f32_32x32x1f32, 32, 2, 1, 1, GS_MFMA_F32)
GS_MFMA(v_mfma_f32_16x16x1f32, 16, 4, 1, 1, GS_MFMA_F32)
GS_MFMA(v_mfma_f32_4x4x1f32, 4, 16, 1, 1, GS_MFMA_F32)
GS_MFMA(v_mfma_f32_32x32x2f32, 32, 1, 2, 1, GS_MFMA_F32)
GS_MFMA(v_mfma_f32_16x16x4f32, 16, 1, 4, 1, GS_MFMA_F32)

GS_MFMA(v_mfma_f32_32x32x4f16, 32, 2, 4, 4, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_16x16x4f16, 16, 4, 4, 4, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_4x4x4f16, 4, 16, 4, 4, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_32x32x8f16, 32, 1, 8, 4, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_16x16x16f16, 16, 1, 16, 4, GS_MFMA_F16)

GS_MFMA(v_mfma_f32_32x32x2bf16, 32, 2, 2, 2, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_16x16x2bf16, 16, 4, 2, 2, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_4x4x2bf16, 4, 16, 2, 2, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_32x32x4bf16, 32, 1, 4, 2, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_16x16x8bf16, 16, 1, 8, 2, GS_MFMA_BF16)

GS_MFMA(v_mfma_f32_32x32x4bf16_1k, 32, 2, 4, 4, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_16x16x4bf16_1k, 16, 4, 4, 4, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_4x4x4bf16_1k, 4, 16, 4, 4, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_32x32x8bf16_1k, 32, 1, 8, 4, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_16x16x16bf16_1k, 16, 1, 16, 4, GS_MFMA_BF16)

GS_MFMA(v_mfma_i32_32x32x4i8, 32, 2, 4, 4, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_16x16x4i8, 16, 4, 4, 4, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_4x4x4i8, 4, 16, 4, 4, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_32x32x8i8, 32, 1, 8, 4, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_16x16x16i8, 16, 1, 16, 4, GS_MFMA_I8)

GS_MFMA(v_mfma_i32_32x32x16_i8, 32, 1, 16, 8, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_16x16x32_i8, 16, 1, 32, 8, GS_MFMA_I8)

/* Twice as deep: gfx950. */
GS_MFMA(v_mfma_f32_32x32x16_f16, 32, 1, 16, 8, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_16x16x32_f16, 16, 1, 32, 8, GS_MFMA_F16)
GS_MFMA(v_mfma_f32_32x32x16_bf16, 32, 1, 16, 8, GS_MFMA_BF16)
GS_MFMA(v_mfma_f32_16x16x32_bf16, 16, 1, 32, 8, GS_MFMA_BF16)
GS_MFMA(v_mfma_i32_32x32x32_i8, 32, 1, 32, 16, GS_MFMA_I8)
GS_MFMA(v_mfma_i32_16x16x64_i8, 16, 1, 64, 16, GS_MFMA_I8)

GS_MFMA(v_mfma_f32_32x32x4_xf32, 32, 1, 4, 2, GS_MFMA_XF32)
GS_MFMA(v_mfma_f32_16x16x8_xf32, 16, 1, 8, 2, GS_MFMA_XF32)

#define GS_MFMA_EIGHT(suffix, type, type_b)                                                                  \
  GS_MFMA2(v_mfma_f32_32x32x16_##suffix, 32, 1, 16, 8, type, type_b)                                         \
  GS_MFMA2(v_mfma_f32_16x16x32_##suffix, 16, 1, 32, 8, type, type_b)
GS_MFMA_EIGHT(bf8_bf8, GS_MFMA_BF8, GS_MFMA_BF8)
GS_MFMA_EIGHT(bf8_fp8, GS_MFMA_BF8, GS_MFMA_FP8)
GS_MFMA_EIGHT(fp8_bf8, GS_MFMA_FP8, GS_MFMA_BF8)
GS_MFMA_EIGHT(fp8_fp8, GS_MFMA_FP8, GS_MFMA_FP8)

/* ---- Bytes and less, by blocks of 32 k with a scale each ----
 *
 * cbsz and blgp are the formats of A and B. v_mfma_ld_scale_b32 in front of the instruction says which scales
 * are used, if abid says that they are: exponents, one byte for each row (column) and block, which are added
 * to those of the products' sums (CDNA4's manual, 7.1.5 and 7.2). Bytes of a lane are two runs of sixteen,
 * half of all k apart; of the other formats they are consecutive. How products are added was not measured: it
 * is taken to be as for bytes on gfx942. */

GS_OP(v_mfma_ld_scale_b32) {
  for (unsigned i = 0; i < 2; i++) {
    gs_row_t tmp;
    const gs_row_t *const r = gs_src32(w, in, i, &tmp);
    const unsigned byte = (in->op_sel >> i & 1u) | (in->op_sel_hi >> i & 1u) << 1;
    const unsigned shift = in->src[i].kind == GS_SRC_CONST ? 23 : 8 * byte; /* of a float, the exponent */
    for (unsigned l = 0; l < GS_LANES; l++)
      w->matrix_scale[i][l] = (uint8_t)(r->u32[l] >> shift);
  }
}

enum { GS_BLOCK_DEPTH = 32 };

/* The formats that cbsz and blgp number, and the exponents of their least normal numbers. */
static const gs_small_format_t *gs_block_format(unsigned number) {
  static const gs_small_format_t *const formats[8] = {&gs_fp8, &gs_bf8, &gs_fp6, &gs_bf6,
                                                      &gs_fp4, &gs_fp4, &gs_fp4, &gs_fp4};
  return formats[number];
}

/* One operand: of each row or column its numbers in the order of k, and its scales, without their bias. */
typedef struct gs_blocks {
  float value[32][128];
  int32_t scale[32][4];
  bool is_nan[32][4]; /* a scale that is no number */
} gs_blocks_t;

static inline void gs_blocks_read(const gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned size,
                                  gs_blocks_t *b) {
  const gs_small_format_t format = *gs_block_format(i ? in->blgp : in->cbsz);
  const unsigned groups = GS_LANES / size;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned line = l % size, group = l / size;
    for (unsigned e = 0; e < GS_BLOCK_DEPTH; e++) {
      const unsigned at = e * format.bits, shift = at % 32;
      const gs_row_t *const r = &w->v[in->src[i].reg + at / 32];
      uint32_t bits = r->u32[l] >> shift;
      if (shift + format.bits > 32)
        bits |= r[1].u32[l] << (32 - shift);
      const unsigned k = format.bits == 8 ? 16 * (group + groups * (e / 16)) + e % 16 : 32 * group + e;
      b->value[line][k] = gs_f32_of_small(format, bits);
    }
    const uint8_t scale = in->abid & 1 ? w->matrix_scale[i][l] : 127;
    b->scale[line][group] = (int32_t)scale - 127;
    b->is_nan[line][group] = scale == 255;
  }
}

/* Sixteen lanes of D, from column `column` on, which share a row of A. */
static inline void gs_blocks_sixteen(const gs_blocks_t *a, const gs_blocks_t *b, unsigned row,
                                     unsigned column, unsigned depth, gs_factors_t *f, float *d) {
  for (unsigned block = 0; block < depth / GS_BLOCK_DEPTH; block++) {
    f->count = GS_BLOCK_DEPTH;
    for (unsigned k = 0; k < GS_BLOCK_DEPTH; k++)
      for (unsigned j = 0; j < GS_SUM_LANES; j++) {
        f->a[k][j] = a->value[row][GS_BLOCK_DEPTH * block + k];
        f->b[k][j] = b->value[column + j][GS_BLOCK_DEPTH * block + k];
      }
    for (unsigned j = 0; j < GS_SUM_LANES; j++) {
      f->scale[j] = a->scale[row][block] + b->scale[column + j][block];
      if (a->is_nan[row][block] || b->is_nan[column + j][block])
        f->a[0][j] = NAN;
    }
    gs_sum_factors(f, d);
  }
}

static inline void gs_blocks_multiply(gs_wave_t *w, const gs_inst_t *in, unsigned size, unsigned depth) {
  gs_blocks_t a, b;
  gs_blocks_read(w, in, 0, size, &a);
  gs_blocks_read(w, in, 1, size, &b);
  const unsigned registers = size * size / GS_LANES;
  gs_mfma_start(w, in, registers);
  gs_factors_t f = {.way = GS_SUM_BYTES,
                    .group = 16,
                    .least_a = 1 - (int32_t)gs_block_format(in->cbsz)->bias,
                    .least_b = 1 - (int32_t)gs_block_format(in->blgp)->bias};
  for (unsigned r = 0; r < registers; r++)
    for (unsigned first = 0; first < GS_LANES; first += GS_SUM_LANES) {
      const unsigned row = size == 32 ? 8 * (r / 4) + 4 * (first / 32) + r % 4 : 4 * (first / 16) + r;
      gs_blocks_sixteen(&a, &b, row, first % size, depth, &f, &w->v[in->dst + r].f32[first]);
    }
}
GS_OP(v_mfma_f32_16x16x128_f8f6f4) {
  gs_blocks_multiply(w, in, 16, 128);
}
GS_OP(v_mfma_f32_32x32x64_f8f6f4) {
  gs_blocks_multiply(w, in, 32, 64);
}

/* ---- Sparse: of each four elements of A in the order of k, two are there, and the others are 0. Two bits
 * for each that is there, in the lane's index register, say which of the four it is; the other factor is
 * whole. D is what is added to. For halves abid chooses one of four bytes of the register, for bytes one of
 * two halves, and of twice as deep ones half as many, unless cbsz is set, and then it is the first. Products
 * that are there are added as those of other matrices are, which was not measured. ---- */

static inline uint32_t gs_smfmac_index(const gs_inst_t *in, unsigned elements, uint32_t index) {
  const unsigned bits = 2 * elements; /* of which 32 are all that there are */
  return in->cbsz ? index : index >> (bits * in->abid % 32);
}

/* Sixteen lanes of D, as gs_mfma_sixteen. Of the shape, elements are A's, and B has twice as many. */
static inline void gs_smfmac_sixteen(const gs_inst_t *in, gs_mfma_shape_t s, bool integer,
                                     const gs_matrix_t *a, const gs_matrix_t *b, const gs_row_t *index,
                                     unsigned r, unsigned first, gs_factors_t *f, gs_row_t *d) {
  const unsigned row = s.size == 32 ? 8 * (r / 4) + 4 * (first / 32) + r % 4 : 4 * (first / 16) + r % 4;
  f->count = 0;
  for (unsigned group = 0; group < GS_LANES / s.size; group++) {
    const unsigned lane_a = group * s.size + row, lane_b = group * s.size + first % s.size;
    const uint32_t places = gs_smfmac_index(in, s.elements, index->u32[lane_a]);
    for (unsigned e = 0; e < s.elements; e++) {
      const gs_row_t *const column = &b->element[e / 2 * 4 + (places >> (2 * e) & 3)];
      if (integer)
        gs_mfma_multiply_i32(&d->u32[first], a->element[e].u32[lane_a], &column->u32[lane_b]);
      else
        gs_factors_add(f, a->element[e].f32[lane_a], &column->f32[lane_b]);
    }
  }
  if (!integer)
    gs_sum_factors(f, &d->f32[first]);
}

static inline void gs_smfmac(gs_wave_t *w, const gs_inst_t *in, gs_mfma_shape_t s, gs_mfma_type_t type,
                             gs_mfma_type_t type_b) {
  gs_matrix_t a, b;
  gs_mfma_read(w, in, 0, type, s.elements, &a);
  gs_mfma_read(w, in, 1, type_b, 2 * s.elements, &b);
  const gs_row_t index = w->v[in->src[2].reg]; /* which D may overlap, too */
  gs_factors_t f;
  gs_factors_start(&f, w, s.elements, type, type_b);
  for (unsigned r = 0; r < s.size * s.size / GS_LANES; r++)
    for (unsigned first = 0; first < GS_LANES; first += 16)
      gs_smfmac_sixteen(in, s, type == GS_MFMA_I8, &a, &b, &index, r, first, &f, &w->v[in->dst + r]);
}

#define GS_SMFMAC(name, size, elements, type, type_b)                                                        \
  GS_OP(name) {                                                                                              \
    gs_smfmac(w, in, (gs_mfma_shape_t){size, 1, 0, elements}, type, type_b);                                 \
  }
GS_SMFMAC(v_smfmac_f32_16x16x32_f16, 16, 4, GS_MFMA_F16, GS_MFMA_F16)
GS_SMFMAC(v_smfmac_f32_32x32x16_f16, 32, 4, GS_MFMA_F16, GS_MFMA_F16)
GS_SMFMAC(v_smfmac_f32_16x16x32_bf16, 16, 4, GS_MFMA_BF16, GS_MFMA_BF16)
GS_SMFMAC(v_smfmac_f32_32x32x16_bf16, 32, 4, GS_MFMA_BF16, GS_MFMA_BF16)
GS_SMFMAC(v_smfmac_i32_16x16x64_i8, 16, 8, GS_MFMA_I8, GS_MFMA_I8)
GS_SMFMAC(v_smfmac_i32_32x32x32_i8, 32, 8, GS_MFMA_I8, GS_MFMA_I8)

#define GS_SMFMAC_EIGHT(suffix, type, type_b)                                                                \
  GS_SMFMAC(v_smfmac_f32_16x16x64_##suffix, 16, 8, type, type_b)                                             \
  GS_SMFMAC(v_smfmac_f32_32x32x32_##suffix, 32, 8, type, type_b)
/* Twice as deep: gfx950. */
GS_SMFMAC(v_smfmac_f32_16x16x64_f16, 16, 8, GS_MFMA_F16, GS_MFMA_F16)
GS_SMFMAC(v_smfmac_f32_32x32x32_f16, 32, 8, GS_MFMA_F16, GS_MFMA_F16)
GS_SMFMAC(v_smfmac_f32_16x16x64_bf16, 16, 8, GS_MFMA_BF16, GS_MFMA_BF16)
GS_SMFMAC(v_smfmac_f32_32x32x32_bf16, 32, 8, GS_MFMA_BF16, GS_MFMA_BF16)
GS_SMFMAC(v_smfmac_i32_16x16x128_i8, 16, 16, GS_MFMA_I8, GS_MFMA_I8)
GS_SMFMAC(v_smfmac_i32_32x32x64_i8, 32, 16, GS_MFMA_I8, GS_MFMA_I8)
#define GS_SMFMAC_SIXTEEN(suffix, type, type_b)                                                              \
  GS_SMFMAC(v_smfmac_f32_16x16x128_##suffix, 16, 16, type, type_b)                                           \
  GS_SMFMAC(v_smfmac_f32_32x32x64_##suffix, 32, 16, type, type_b)
GS_SMFMAC_SIXTEEN(bf8_bf8, GS_MFMA_BF8, GS_MFMA_BF8)
GS_SMFMAC_SIXTEEN(bf8_fp8, GS_MFMA_BF8, GS_MFMA_FP8)
GS_SMFMAC_SIXTEEN(fp8_bf8, GS_MFMA_FP8, GS_MFMA_BF8)
GS_SMFMAC_SIXTEEN(fp8_fp8, GS_MFMA_FP8, GS_MFMA_FP8)

GS_SMFMAC_EIGHT(bf8_bf8, GS_MFMA_BF8, GS_MFMA_BF8)
GS_SMFMAC_EIGHT(bf8_fp8, GS_MFMA_BF8, GS_MFMA_FP8)
GS_SMFMAC_EIGHT(fp8_bf8, GS_MFMA_FP8, GS_MFMA_BF8)
GS_SMFMAC_EIGHT(fp8_fp8, GS_MFMA_FP8, GS_MFMA_FP8)

/* ---- 64 bits; from gfx942 on blgp does not rearrange lanes but negates operands ---- */

typedef struct gs_doubles {
  _Alignas(64) double f64[GS_LANES];
} gs_doubles_t;

static inline bool gs_mfma_negates(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  return w->env->target & GS_GFX9_4 && (in->blgp >> i & 1);
}

static inline void gs_mfma_read_f64(gs_wave_t *w, const gs_inst_t *in, unsigned i, gs_doubles_t *m) {
  gs_row_t tmp[2];
  const gs_row64_t r = gs_src64(w, in, i, true, tmp);
  const unsigned blgp = i == 1 && !(w->env->target & GS_GFX9_4) ? in->blgp : 0;
  const bool negate = gs_mfma_negates(w, in, i);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const double x = gs_get_f64(r, gs_mfma_lane(blgp, l));
    m->f64[l] = negate ? -x : x;
  }
}

/* Register pair `pair` of C. */
static inline void gs_mfma_read_c64(gs_wave_t *w, const gs_inst_t *in, unsigned pair, gs_doubles_t *m) {
  gs_row_t tmp[2];
  gs_inst_t one = *in;
  if (one.src[2].kind == GS_SRC_VGPR)
    one.src[2].reg = (uint16_t)(one.src[2].reg + 2 * pair);
  const gs_row64_t r = gs_src64(w, &one, 2, true, tmp);
  const bool negate = gs_mfma_negates(w, in, 2);
  GS_LANES_DO(l)
    m->f64[l] = negate ? -gs_get_f64(r, l) : gs_get_f64(r, l);
}

static inline void gs_mfma_write_d64(gs_wave_t *w, const gs_inst_t *in, unsigned pair,
                                     const gs_doubles_t *m) {
  const gs_dst64_t d = {&w->v[in->dst + 2 * pair], &w->v[in->dst + 2 * pair + 1]};
  GS_LANES_DO(l)
    gs_put_f64(d, l, m->f64[l]);
}

/* Sixteen lanes of D: row `row` of A times B's columns, which are consecutive lanes for each k. */
static inline void gs_mfma_multiply_f64(const gs_doubles_t *a, const gs_doubles_t *b, unsigned row,
                                        double *restrict d) {
  for (unsigned k = 0; k < 4; k++) {
    const double x = a->f64[16 * k + row];
    const double *const y = &b->f64[16 * k];
    for (unsigned j = 0; j < 16; j++)
      d[j] = fma(x, y[j], d[j]);
  }
}

GS_OP(v_mfma_f64_16x16x4f64) {
  gs_doubles_t a, b, d[4];
  gs_mfma_read_f64(w, in, 0, &a);
  gs_mfma_read_f64(w, in, 1, &b);
  for (unsigned pair = 0; pair < 4; pair++) {
    gs_mfma_read_c64(w, in, pair, &d[pair]);
    for (unsigned first = 0; first < GS_LANES; first += 16)
      gs_mfma_multiply_f64(&a, &b, 4 * pair + first / 16, &d[pair].f64[first]);
  }
  for (unsigned pair = 0; pair < 4; pair++)
    gs_mfma_write_d64(w, in, pair, &d[pair]);
}

/* Four blocks; lane l of A holds row l % 4 and k = l / 16 of block l / 4 % 4, and likewise B its column. */
GS_OP(v_mfma_f64_4x4x4f64) {
  gs_doubles_t a, b, d;
  gs_mfma_read_f64(w, in, 0, &a);
  gs_mfma_read_f64(w, in, 1, &b);
  gs_mfma_read_c64(w, in, 0, &d);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned block = l / 4 % 4, row = l / 16;
    for (unsigned k = 0; k < 4; k++)
      d.f64[l] =
          fma(a.f64[16 * k + 4 * (gs_mfma_block_a(in, block) % 4) + row], b.f64[16 * k + l % 16], d.f64[l]);
  }
  gs_mfma_write_d64(w, in, 0, &d);
}

/* ---- Moves; these do obey EXEC ---- */

GS_V32_1(v_accvgpr_read_b32, u32, a)
GS_V32_1(v_accvgpr_write_b32, u32, a)
GS_V32_1(v_accvgpr_mov_b32, u32, a)
