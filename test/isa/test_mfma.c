/* Matrix instructions: every opcode against a product of matrices that are taken from registers and put there
 * by a description of the layout; with accumulation and vector registers, C in place, elsewhere, overlapping
 * or constant, cbsz, abid, blgp, any EXEC; denormals as each part has them; and the moves of accumulation
 * registers. Not here: other dot products. */
#include "float_model.h"

#include <math.h>

typedef enum element { F32, F16, BF16, I8, F64, XF32, FP8, BF8 } element_t;

static unsigned width(element_t type) {
  static const unsigned widths[] = {32, 16, 16, 8, 64, 32, 8, 8};
  return widths[type];
}

typedef struct shape {
  const char *name;
  unsigned m, blocks, k, per_lane; /* per_lane: consecutive k that a lane holds of A and B */
  element_t type;
} shape_t;

/* A's type and B's may differ; B's is at the end of the name then. */
static element_t type_of_b(const shape_t *s) {
  const char *const end = s->name + strlen(s->name) - 4;
  return strcmp(end, "_fp8") == 0 ? FP8 : strcmp(end, "_bf8") == 0 ? BF8 : s->type;
}

static const shape_t shapes[] = {
    {"v_mfma_f32_32x32x1f32", 32, 2, 1, 1, F32},
    {"v_mfma_f32_16x16x1f32", 16, 4, 1, 1, F32},
    {"v_mfma_f32_4x4x1f32", 4, 16, 1, 1, F32},
    {"v_mfma_f32_32x32x2f32", 32, 1, 2, 1, F32},
    {"v_mfma_f32_16x16x4f32", 16, 1, 4, 1, F32},
    {"v_mfma_f32_32x32x4f16", 32, 2, 4, 4, F16},
    {"v_mfma_f32_16x16x4f16", 16, 4, 4, 4, F16},
    {"v_mfma_f32_4x4x4f16", 4, 16, 4, 4, F16},
    {"v_mfma_f32_32x32x8f16", 32, 1, 8, 4, F16},
    {"v_mfma_f32_16x16x16f16", 16, 1, 16, 4, F16},
    {"v_mfma_f32_32x32x2bf16", 32, 2, 2, 2, BF16},
    {"v_mfma_f32_16x16x2bf16", 16, 4, 2, 2, BF16},
    {"v_mfma_f32_4x4x2bf16", 4, 16, 2, 2, BF16},
    {"v_mfma_f32_32x32x4bf16", 32, 1, 4, 2, BF16},
    {"v_mfma_f32_16x16x8bf16", 16, 1, 8, 2, BF16},
    {"v_mfma_f32_32x32x4bf16_1k", 32, 2, 4, 4, BF16},
    {"v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, 4, BF16},
    {"v_mfma_f32_4x4x4bf16_1k", 4, 16, 4, 4, BF16},
    {"v_mfma_f32_32x32x8bf16_1k", 32, 1, 8, 4, BF16},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 1, 16, 4, BF16},
    {"v_mfma_i32_32x32x4i8", 32, 2, 4, 4, I8},
    {"v_mfma_i32_16x16x4i8", 16, 4, 4, 4, I8},
    {"v_mfma_i32_4x4x4i8", 4, 16, 4, 4, I8},
    {"v_mfma_i32_32x32x8i8", 32, 1, 8, 4, I8},
    {"v_mfma_i32_16x16x16i8", 16, 1, 16, 4, I8},
    {"v_mfma_f64_16x16x4f64", 16, 1, 4, 1, F64},
    {"v_mfma_f64_4x4x4f64", 4, 4, 4, 1, F64},
    /* gfx942 has other names for what it shares, which LLVM takes beside the old ones. */
    {"v_mfma_f32_32x32x1_2b_f32", 32, 2, 1, 1, F32},
    {"v_mfma_f32_16x16x1_4b_f32", 16, 4, 1, 1, F32},
    {"v_mfma_f32_4x4x1_16b_f32", 4, 16, 1, 1, F32},
    {"v_mfma_f32_32x32x2_f32", 32, 1, 2, 1, F32},
    {"v_mfma_f32_16x16x4_f32", 16, 1, 4, 1, F32},
    {"v_mfma_f32_32x32x4_2b_f16", 32, 2, 4, 4, F16},
    {"v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, 4, F16},
    {"v_mfma_f32_4x4x4_16b_f16", 4, 16, 4, 4, F16},
    {"v_mfma_f32_32x32x8_f16", 32, 1, 8, 4, F16},
    {"v_mfma_f32_16x16x16_f16", 16, 1, 16, 4, F16},
    {"v_mfma_i32_32x32x4_2b_i8", 32, 2, 4, 4, I8},
    {"v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, 4, I8},
    {"v_mfma_i32_4x4x4_16b_i8", 4, 16, 4, 4, I8},
    {"v_mfma_f32_32x32x4_2b_bf16", 32, 2, 4, 4, BF16},
    {"v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, 4, BF16},
    {"v_mfma_f32_4x4x4_16b_bf16", 4, 16, 4, 4, BF16},
    {"v_mfma_f32_32x32x8_bf16", 32, 1, 8, 4, BF16},
    {"v_mfma_f32_16x16x16_bf16", 16, 1, 16, 4, BF16},
    {"v_mfma_f32_32x32x4_xf32", 32, 1, 4, 2, XF32},
    {"v_mfma_f32_16x16x8_xf32", 16, 1, 8, 2, XF32},
    {"v_mfma_i32_32x32x16_i8", 32, 1, 16, 8, I8},
    {"v_mfma_i32_16x16x32_i8", 16, 1, 32, 8, I8},
    {"v_mfma_f32_32x32x16_bf8_bf8", 32, 1, 16, 8, BF8},
    {"v_mfma_f32_32x32x16_bf8_fp8", 32, 1, 16, 8, BF8},
    {"v_mfma_f32_32x32x16_fp8_bf8", 32, 1, 16, 8, FP8},
    {"v_mfma_f32_32x32x16_fp8_fp8", 32, 1, 16, 8, FP8},
    {"v_mfma_f32_16x16x32_bf8_bf8", 16, 1, 32, 8, BF8},
    {"v_mfma_f32_16x16x32_bf8_fp8", 16, 1, 32, 8, BF8},
    {"v_mfma_f32_16x16x32_fp8_bf8", 16, 1, 32, 8, FP8},
    {"v_mfma_f32_16x16x32_fp8_fp8", 16, 1, 32, 8, FP8},
    /* gfx950 */
    {"v_mfma_f32_32x32x16_f16", 32, 1, 16, 8, F16},
    {"v_mfma_f32_16x16x32_f16", 16, 1, 32, 8, F16},
    {"v_mfma_f32_32x32x16_bf16", 32, 1, 16, 8, BF16},
    {"v_mfma_f32_16x16x32_bf16", 16, 1, 32, 8, BF16},
    {"v_mfma_i32_32x32x32_i8", 32, 1, 32, 16, I8},
    {"v_mfma_i32_16x16x64_i8", 16, 1, 64, 16, I8},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- Where elements are ---- */

typedef struct place {
  unsigned lane, reg, bits, shift; /* bits of register reg (64: a pair) */
} place_t;

/* Element (index, k) of A (index = row) or B (index = column) of a block. */
static place_t input_place(const shape_t *s, unsigned block, unsigned index, unsigned k) {
  const unsigned bits = width(s->type);
  if (s->type == F64 && s->m == 4)
    return (place_t){16 * k + 4 * block + index, 0, 64, 0};
  const unsigned group = s->blocks > 1 ? block : k / s->per_lane, e = k % s->per_lane;
  return (place_t){group * s->m + index, e * bits / 32, bits, e * bits % 32};
}

/* Element (row, column) of C and D of a block. */
static place_t output_place(const shape_t *s, unsigned block, unsigned row, unsigned column) {
  if (s->type == F64 && s->m == 4)
    return (place_t){16 * row + 4 * block + column, 0, 64, 0};
  if (s->type == F64)
    return (place_t){16 * (row % 4) + column, 2 * (row / 4), 64, 0};
  if (s->m == 4)
    return (place_t){4 * block + column, row, 32, 0};
  if (s->m == 16)
    return (place_t){16 * (row / 4) + column, 4 * block + row % 4, 32, 0};
  /* Rows 0..3, 8..11, 16..19, ... are in the lower half of the lanes, the others in the upper one. */
  return (place_t){32 * (row / 4 % 2) + column, 16 * block + 4 * (row / 8) + row % 4, 32, 0};
}

static uint64_t get_bits(const gs_row_t *rows, place_t p) {
  return p.bits == 64 ? isa_u64(&rows[p.reg], p.lane)
                      : rows[p.reg].u32[p.lane] >> p.shift & (uint32_t)((UINT64_C(1) << p.bits) - 1);
}

/* The lane from which B's lane comes. */
static unsigned permuted(unsigned blgp, unsigned lane) {
  static const unsigned sources[8][4] = {
      /* for each 16 lanes, which 16 */
      {0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},
  };
  return 16 * sources[blgp][lane / 16] + lane % 16;
}

/* Whether the part that a test is about has the Open Compute Project's floats of eight bits. */
static bool has_ocp;

/* As the formats are described: sign, exponent, fraction. The exponents of OCP's are one more. */
static double value_of_byte(element_t type, unsigned bits) {
  const unsigned fraction = type == FP8 ? 3 : 2, ones = type == FP8 ? 0x7f : 0x7c;
  const int bias = (type == FP8 ? 8 : 16) - has_ocp, exponent = (int)(bits >> fraction & 0x7fu >> fraction);
  const double f = ldexp(bits & ((1u << fraction) - 1), -(int)fraction);
  if (has_ocp ? (bits & ones) == ones : bits == 0x80)
    return type == BF8 && has_ocp && f == 0 ? (bits & 0x80 ? -INFINITY : INFINITY) : NAN;
  const double magnitude = exponent ? ldexp(1 + f, exponent - bias) : ldexp(f, 1 - bias);
  return bits & 0x80 ? -magnitude : magnitude;
}

static double element_value(element_t type, uint64_t bits) {
  if (type == I8)
    return (double)(int8_t)bits;
  if (type == FP8 || type == BF8)
    return value_of_byte(type, (unsigned)bits);
  mpfr_t x;
  mpfr_init2(x, 100);
  ref_set(type == F64 ? &ref_f64 : type == F16 ? &ref_f16 : &ref_f32, x, type == BF16 ? bits << 16 : bits);
  const double value = mpfr_get_d(x, MPFR_RNDN);
  mpfr_clear(x);
  return value;
}

/* Small integers, so that all sums are exact, in the element's type; `i` of those in a register. */
static uint32_t element_bits(element_t type, int value) {
  if (type == FP8 || type == BF8) {
    unsigned bits = 0;
    while (value_of_byte(type, bits) != (type == FP8 ? value : value % 9))
      bits++;
    return bits;
  }
  mpfr_t x;
  mpfr_init2(x, 100);
  mpfr_set_si(x, value, MPFR_RNDN);
  const uint64_t h = ref_round(&ref_f16, x, 0), s = ref_round(&ref_f32, x, 0);
  mpfr_clear(x);
  return type == F16    ? (uint32_t)h
         : type == BF16 ? (uint32_t)s >> 16
         : type == I8   ? (uint32_t)value & 0xff
                        : (uint32_t)s;
}

static void fill_input(gs_row_t *rows, unsigned registers, element_t type, uint64_t *seed) {
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned r = 0; r < registers; r++) {
      uint32_t word = 0;
      const unsigned count = type == F64 ? 1 : 32 / width(type);
      for (unsigned e = 0; e < count; e++)
        word |= element_bits(type, (int)(isa_random(seed) % 31) - 15) << (32 / count * e);
      rows[r].u32[l] = word;
    }
  if (type == F64)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const double x = (double)(int)(isa_random(seed) % 2001) - 1000.0;
      uint64_t bits;
      memcpy(&bits, &x, sizeof bits);
      isa_set_u64(rows, l, bits);
    }
}

static unsigned output_registers(const shape_t *s) {
  return s->m * s->m * s->blocks / GS_LANES * (s->type == F64 ? 2 : 1);
}

static void fill_output(gs_row_t *rows, const shape_t *s, uint64_t *seed) {
  for (unsigned r = 0; r < output_registers(s); r++)
    for (unsigned l = 0; l < GS_LANES; l++)
      rows[r].u32[l] = element_bits(F32, (int)(isa_random(seed) % 201) - 100);
  if (s->type == I8)
    for (unsigned r = 0; r < output_registers(s); r++)
      for (unsigned l = 0; l < GS_LANES; l++)
        rows[r].u32[l] = l == 5 ? 0x7fffffff : (uint32_t)isa_random(seed); /* sums wrap */
  if (s->type == F64)
    for (unsigned r = 0; r < output_registers(s); r += 2)
      for (unsigned l = 0; l < GS_LANES; l++) {
        const double x = (double)(int)(isa_random(seed) % 2001) - 1000.0;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        isa_set_u64(&rows[r], l, bits);
      }
}

typedef struct operands {
  unsigned cbsz, abid, blgp;
  unsigned d, c, a, b;  /* first registers; from 256 accumulation registers; c = 0: a constant */
  const char *constant; /* of C */
  double value;         /* of the constant */
} operands_t;

static void check_product(const isa_wave_t *t, const shape_t *s, const operands_t *o) {
  const gs_row_t *before = t->before.v;
  for (unsigned block = 0; block < s->blocks; block++)
    for (unsigned row = 0; row < s->m; row++)
      for (unsigned column = 0; column < s->m; column++) {
        const place_t place = output_place(s, block, row, column);
        const unsigned block_a = block / (1u << o->cbsz) * (1u << o->cbsz) + o->abid;
        double sum = o->constant ? o->value : 0.0;
        uint32_t integer = o->constant ? (uint32_t)(int32_t)o->value : 0;
        if (!o->constant) {
          const uint64_t c = get_bits(&before[o->c], place);
          integer = (uint32_t)c;
          sum = s->type == I8 ? 0 : element_value(s->type == F64 ? F64 : F32, c);
        }
        for (unsigned k = 0; k < s->k; k++) {
          place_t pa = input_place(s, o->cbsz ? block_a : block, row, k),
                  pb = input_place(s, block, column, k);
          pb.lane = permuted(o->blgp, pb.lane);
          const double a = element_value(s->type, get_bits(&before[o->a], pa));
          const double b = element_value(type_of_b(s), get_bits(&before[o->b], pb));
          sum += a * b;
          integer += (uint32_t)(int32_t)a * (uint32_t)(int32_t)b;
        }
        const uint64_t got = get_bits(&t->v[o->d], place);
        if (s->type == I8)
          assert_int_equal(got, integer);
        else if (element_value(s->type == F64 ? F64 : F32, got) != sum)
          fail_msg("%s cbsz %u abid %u blgp %u, block %u, row %u, column %u: %a, want %a", s->name, o->cbsz,
                   o->abid, o->blgp, block, row, column, element_value(s->type == F64 ? F64 : F32, got), sum);
      }
}

static void register_text(char *text, size_t size, unsigned first, unsigned count) {
  const char file = first >= 256 ? 'a' : 'v';
  if (count == 1)
    snprintf(text, size, "%c%u", file, first % 256);
  else
    snprintf(text, size, "%c[%u:%u]", file, first % 256, first % 256 + count - 1);
}

enum { TEXT = 128, MOST_CASES = 1024 };

typedef struct product {
  const shape_t *shape;
  operands_t o;
  char text[TEXT];
} product_t;

/* Cases for one target, assembled together. */
typedef struct products {
  size_t count;
  product_t list[MOST_CASES];
} products_t;

static void add_product(products_t *all, const shape_t *s, operands_t o) {
  const unsigned out = output_registers(s);
  const unsigned in = s->per_lane * width(s->type) / 32;
  char d[16], a[16], b[16], c[16];
  assert_true(all->count < MOST_CASES);
  product_t *p = &all->list[all->count++];
  p->shape = s;
  p->o = o;
  register_text(d, sizeof d, o.d, out);
  register_text(a, sizeof a, o.a, in);
  register_text(b, sizeof b, o.b, in);
  if (o.constant)
    snprintf(c, sizeof c, "%s", o.constant);
  else
    register_text(c, sizeof c, o.c, out);
  int n = snprintf(p->text, TEXT, "%s %s, %s, %s, %s", s->name, d, a, b, c);
  if (o.cbsz)
    n += snprintf(p->text + n, TEXT - (size_t)n, " cbsz:%u abid:%u", o.cbsz, o.abid);
  if (o.blgp)
    snprintf(p->text + n, TEXT - (size_t)n, " blgp:%u", o.blgp);
}

static void run_products(void **state, const products_t *all) {
  const char **texts = calloc(all->count, sizeof *texts);
  assert_non_null(texts);
  for (size_t i = 0; i < all->count; i++)
    texts[i] = all->list[i].text;
  isa_prepare(state, ISA_PART, texts, sizeof *texts, all->count);
  free(texts);
  isa_wave_t *t = isa_new(state, ISA_PART);
  has_ocp = isa_part(state) == GS_GFX950;
  for (unsigned i = 0; i < all->count; i++) {
    const product_t *p = &all->list[i];
    uint64_t seed = 99 + i;
    char d[16];
    isa_reset(t, i);
    const unsigned in = (p->shape->per_lane * width(p->shape->type) + 63) / 64 * 2;
    fill_input(&t->v[p->o.a], in, p->shape->type, &seed);
    fill_input(&t->v[p->o.b], in, type_of_b(p->shape), &seed);
    if (!p->o.constant)
      fill_output(&t->v[p->o.c], p->shape, &seed);
    isa_set_s64(t, GS_S_EXEC, i % 3 == 0 ? UINT64_MAX : i % 3 == 1 ? 0 : UINT64_C(0x123456789abcdef0));
    assert_int_equal(isa_run(t, p->text), GS_WAVE_RUNNING);
    check_product(t, p->shape, &p->o);
    register_text(d, sizeof d, p->o.d, output_registers(p->shape));
    isa_assert_only_changed(t, d);
  }
  isa_free(t);
}

/* Registers and constants. gfx908: C and D are accumulation registers, and not constant; later both in
 * either file. */
static void test_registers(void **state) {
  const bool both_files = isa_part(state) & GS_CDNA2_4;
  products_t *all = calloc(1, sizeof *all);
  assert_non_null(all);
  for (unsigned i = 0; i < SHAPES; i++) {
    const shape_t *s = &shapes[i];
    const bool integer = s->type == I8;
    const operands_t rows[] = {
        {0, 0, 0, 256 + 64, 256 + 64, 10, 20, NULL, 0},
        {0, 0, 0, 256 + 64, 256 + 100, 10, 256 + 20, NULL, 0},
        {0, 0, 0, 256 + 64, 0, 256 + 10, 20, integer ? "33" : "-4.0", integer ? 33 : -4.0},
        {0, 0, 0, 256 + 64, 0, 10, 10, "0", 0},
        {0, 0, 0, 64, 64, 10, 20, NULL, 0},
        {0, 0, 0, 64, 100, 10, 256 + 20, NULL, 0},
        {0, 0, 0, 64, 0, 10, 20, integer ? "-5" : "2.0", integer ? -5 : 2.0},
        {0, 0, 0, 10, 64, 10, 10 + output_registers(s), NULL, 0}, /* D over A */
    };
    for (unsigned r = 0; isa_has(state, ISA_PART, s->name) && r < (both_files ? 8u : 2u); r++)
      add_product(all, s, rows[r]);
  }
  run_products(state, all);
  free(all);
}

/* Broadcasts of A's blocks, permutations of B. */
static void test_broadcast(void **state) {
  const unsigned file = isa_part(state) & GS_CDNA2_4 ? 0 : 256; /* of C and D */
  products_t *all = calloc(1, sizeof *all);
  assert_non_null(all);
  for (unsigned i = 0; i < SHAPES; i++) {
    const shape_t *s = &shapes[i];
    if (!isa_has(state, ISA_PART, s->name))
      continue;
    for (unsigned cbsz = 1; s->type != F64 && 1u << cbsz <= s->blocks; cbsz++)
      for (unsigned abid = 0; abid < 1u << cbsz; abid += cbsz)
        add_product(all, s,
                    (operands_t){cbsz, abid, (cbsz + abid) % 8, file + 64, file + 64, 10, 20, NULL, 0});
    for (unsigned blgp = 1; s->type != F64 && blgp < 8; blgp++)
      add_product(all, s, (operands_t){0, 0, blgp, 256 + 64, 256 + 64, 10, 20, NULL, 0});
  }
  run_products(state, all);
  free(all);
}

/* gfx90a's f16 and bf16 flush denormal operands and results, those of gfx908 and gfx942 do not; f32 never
 * does. MODE does not matter. */
static void test_denormals(void **state) {
  const bool flush = isa_part(state) == GS_GFX90A;
  isa_wave_t *t = isa_new(state, ISA_PART);
  gs_wave_set_mode(&t->w, 0x300);
  for (unsigned l = 0; l < GS_LANES; l++) {
    for (unsigned r = 0; r < 2; r++) {
      t->v[10 + r].u32[l] = 0x00010001; /* halves: least denormals; bf16: too */
      t->v[12 + r].u32[l] = 0x3c003c00; /* halves: 1 */
      t->v[14 + r].u32[l] = 0x3f803f80; /* bf16: 1 */
      t->v[16 + r].f32[l] = 1.0f;
      t->v[18 + r].u32[l] = 0x00000001; /* float: least denormal */
    }
    for (unsigned r = 0; r < 4; r++) {
      t->v[256 + r].u32[l] = 0x00000100; /* C: denormal */
      t->v[260 + r].u32[l] = 0x00000100;
      t->v[264 + r].u32[l] = 0x00000100;
    }
  }
  const bool pairs = isa_part(state) & GS_GFX9_4; /* of bf16 two in the first register are 0 there, of four */
  for (unsigned l = 0; pairs && l < GS_LANES; l++)
    t->v[23].u32[l] = 0, t->v[22].u32[l] = 0x00010001;
  assert_int_equal(isa_run(t, "v_mfma_f32_4x4x4f16 a[0:3], v[10:11], v[12:13], a[0:3]\n"
                              "v_mfma_f32_4x4x1f32 a[8:11], v16, v18, a[8:11]\n"),
                   GS_WAVE_RUNNING);
  assert_int_equal(isa_run(t, pairs ? "v_mfma_f32_4x4x4_16b_bf16 a[4:7], v[22:23], v[14:15], a[4:7]"
                                    : "v_mfma_f32_4x4x2bf16 a[4:7], v10, v14, a[4:7]"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned r = 0; r < 4; r++) {
      assert_true(t->v[256 + r].f32[l] == (flush ? 0.0f : 0x1p-22f)); /* C is far below its last place */
      assert_int_equal(t->v[260 + r].u32[l], flush ? 0 : 0x00020100);
      assert_int_equal(t->v[264 + r].u32[l], 0x00000101);
    }
  isa_free(t);
}

/* Of doubles blgp negates operands. */
static void test_negation(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  const shape_t *const wide = &shapes[25], *const narrow = &shapes[26];
  for (unsigned neg = 0; neg < 8; neg++)
    for (unsigned which = 0; which < 2; which++) {
      const shape_t *const s = which ? narrow : wide;
      uint64_t seed = 7 + neg;
      char text[TEXT];
      isa_reset(t, neg);
      fill_input(&t->v[10], 2, F64, &seed);
      fill_input(&t->v[20], 2, F64, &seed);
      fill_output(&t->v[40], s, &seed);
      snprintf(text, sizeof text, "%s v[%u:%u], v[10:11], v[20:21], v[40:%u] neg:[%u,%u,%u]", s->name, 60u,
               59 + output_registers(s), 39 + output_registers(s), neg & 1, neg >> 1 & 1, neg >> 2);
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned block = 0; block < s->blocks; block++)
        for (unsigned i = 0; i < s->m * s->m; i++) {
          const place_t place = output_place(s, block, i / s->m, i % s->m);
          double sum = element_value(F64, get_bits(&t->v[40], place)) * (neg & 4 ? -1 : 1);
          for (unsigned k = 0; k < s->k; k++)
            sum += element_value(F64, get_bits(&t->v[10], input_place(s, block, i / s->m, k))) *
                   element_value(F64, get_bits(&t->v[20], input_place(s, block, i % s->m, k))) *
                   ((neg & 1) != (neg >> 1 & 1) ? -1 : 1);
          assert_true(element_value(F64, get_bits(&t->v[60], place)) == sum);
        }
    }
  isa_free(t);
}

/* xf32: what a float has below ten bits of fraction is cut off, as hipBLASLt's programmers found on gfx942.
 */
static void test_xf32(void **state) {
  static const struct {
    uint32_t x;
    double as;
  } rows[] = {{0x3f800fff, 1},
              {0x3f801000, 1},
              {0x3f801001, 1},
              {0x3f803000, 1 + 0x1p-10},
              {0xbf802fff, -1 - 0x1p-10},
              {0x3fffffff, 2 - 0x1p-10},
              {0x00001fff, 0},
              {0x3f802000, 1 + 0x1p-10}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].u32[l] = l < 16 ? rows[i].x : 0;
      t->v[11].u32[l] = 0;
      t->v[12].f32[l] = 1.0f;
      t->v[13].f32[l] = 1.0f;
    }
    assert_int_equal(isa_run(t, "v_mfma_f32_16x16x8_xf32 v[20:23], v[10:11], v[12:13], 0"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_true(t->v[20].f32[l] == rows[i].as);
    assert_int_equal(isa_run(t, "v_mfma_f32_16x16x8_xf32 v[20:23], v[12:13], v[10:11], 0"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_true(t->v[23].f32[l] == rows[i].as);
  }
  isa_free(t);
}

/* ---- Sparse ---- */

typedef struct sparse {
  const char *name;
  unsigned m, k, kept; /* kept: elements of A that a lane holds, of twice as many */
  element_t type, type_b;
} sparse_t;

/* A in full: its places in the index register, from the choice of cbsz and abid. */
static void expand(const isa_wave_t *t, const sparse_t *s, unsigned row, unsigned cbsz, unsigned abid,
                   double *a) {
  const unsigned bits = 2 * s->kept, parts = 32 / bits, part = cbsz ? 0 : abid % parts;
  memset(a, 0, 128 * sizeof *a);
  for (unsigned group = 0; group < GS_LANES / s->m; group++)
    for (unsigned e = 0; e < s->kept; e++) {
      const unsigned lane = group * s->m + row, at = e * width(s->type);
      const unsigned place = t->before.v[30].u32[lane] >> (bits * part + 2 * e) & 3;
      const uint64_t x = t->before.v[10 + at / 32].u32[lane] >> at % 32 & ((1u << width(s->type)) - 1);
      a[group * 2 * s->kept + e / 2 * 4 + place] += element_value(s->type, x);
    }
}

static void check_sparse(const isa_wave_t *t, const sparse_t *s, unsigned cbsz, unsigned abid, unsigned d) {
  const shape_t out = {s->name, s->m, 1, s->k, 0, F32};
  double a[128];
  for (unsigned row = 0; row < s->m; row++) {
    expand(t, s, row, cbsz, abid, a);
    for (unsigned column = 0; column < s->m; column++) {
      const place_t place = output_place(&out, 0, row, column);
      const uint64_t old = get_bits(&t->before.v[d], place), got = get_bits(&t->v[d], place);
      double sum = s->type == I8 ? 0 : element_value(F32, old);
      for (unsigned k = 0; k < s->k; k++) {
        const unsigned lane = k / (2 * s->kept) * s->m + column, at = k % (2 * s->kept) * width(s->type_b);
        const uint64_t x = t->before.v[20 + at / 32].u32[lane] >> at % 32 & ((1u << width(s->type_b)) - 1);
        sum += a[k] * element_value(s->type_b, x);
      }
      if (s->type == I8)
        assert_int_equal(got, (uint32_t)old + (uint32_t)(int32_t)sum);
      else if (element_value(F32, got) != sum)
        fail_msg("%s cbsz %u abid %u, row %u, column %u: %a, want %a", s->name, cbsz, abid, row, column,
                 element_value(F32, got), sum);
    }
  }
}

static void test_sparse(void **state) {
  static const sparse_t rows[] = {
      {"v_smfmac_f32_16x16x32_f16", 16, 32, 4, F16, F16},
      {"v_smfmac_f32_32x32x16_f16", 32, 16, 4, F16, F16},
      {"v_smfmac_f32_16x16x32_bf16", 16, 32, 4, BF16, BF16},
      {"v_smfmac_f32_32x32x16_bf16", 32, 16, 4, BF16, BF16},
      {"v_smfmac_i32_16x16x64_i8", 16, 64, 8, I8, I8},
      {"v_smfmac_i32_32x32x32_i8", 32, 32, 8, I8, I8},
      {"v_smfmac_f32_16x16x64_bf8_bf8", 16, 64, 8, BF8, BF8},
      {"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 8, BF8, BF8},
      {"v_smfmac_f32_16x16x64_bf8_fp8", 16, 64, 8, BF8, FP8},
      {"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 8, BF8, FP8},
      {"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, 8, FP8, BF8},
      {"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 8, FP8, BF8},
      {"v_smfmac_f32_16x16x64_fp8_fp8", 16, 64, 8, FP8, FP8},
      {"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 8, FP8, FP8},
      /* gfx950 */
      {"v_smfmac_f32_16x16x64_f16", 16, 64, 8, F16, F16},
      {"v_smfmac_f32_32x32x32_f16", 32, 32, 8, F16, F16},
      {"v_smfmac_f32_16x16x64_bf16", 16, 64, 8, BF16, BF16},
      {"v_smfmac_f32_32x32x32_bf16", 32, 32, 8, BF16, BF16},
      {"v_smfmac_i32_16x16x128_i8", 16, 128, 16, I8, I8},
      {"v_smfmac_i32_32x32x64_i8", 32, 64, 16, I8, I8},
      {"v_smfmac_f32_16x16x128_bf8_bf8", 16, 128, 16, BF8, BF8},
      {"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, 16, BF8, BF8},
      {"v_smfmac_f32_16x16x128_bf8_fp8", 16, 128, 16, BF8, FP8},
      {"v_smfmac_f32_32x32x64_bf8_fp8", 32, 64, 16, BF8, FP8},
      {"v_smfmac_f32_16x16x128_fp8_bf8", 16, 128, 16, FP8, BF8},
      {"v_smfmac_f32_32x32x64_fp8_bf8", 32, 64, 16, FP8, BF8},
      {"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, 16, FP8, FP8},
      {"v_smfmac_f32_32x32x64_fp8_fp8", 32, 64, 16, FP8, FP8},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  has_ocp = isa_part(state) == GS_GFX950;
  for (unsigned i = 0; i < 10 * sizeof rows / sizeof *rows; i++) {
    const sparse_t *const s = &rows[i / 10];
    const unsigned in = s->kept * width(s->type) / 32;
    if (!isa_has(state, ISA_PART, s->name))
      continue;
    const unsigned cbsz = i % 10 > 5, abid = i % 10 % 5, d = i & 1 ? 256 + 64 : 64,
                   count = s->m * s->m / GS_LANES;
    const shape_t out = {s->name, s->m, 1, s->k, 0, s->type == I8 ? I8 : F32};
    uint64_t seed = 1 + i;
    char text[TEXT];
    isa_reset(t, i);
    fill_input(&t->v[10], in, s->type, &seed);
    fill_input(&t->v[20], 2 * in, s->type_b, &seed);
    fill_output(&t->v[d], &out, &seed);
    isa_set_s64(t, GS_S_EXEC, i % 3 ? UINT64_C(0xf0f) : 0);
    snprintf(text, sizeof text, "%s %c[64:%u], v[10:%u], v[20:%u], v30 cbsz:%u abid:%u", s->name,
             d == 64 ? 'v' : 'a', 63 + count, 9 + in, 19 + 2 * in, cbsz, abid);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    check_sparse(t, s, cbsz, abid, d);
  }
  isa_free(t);
}

/* Each step is fused, in the order of k. */
static void test_rounding(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 3;
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[10].f32[l] = 1.0f + (float)(isa_random(&seed) % 0x800000) * 0x1p-23f;
    t->v[11].f32[l] = 1.0f + (float)(isa_random(&seed) % 0x800000) * 0x1p-23f;
    for (unsigned r = 0; r < 4; r++)
      t->v[256 + 20 + r].f32[l] = (float)(isa_random(&seed) % 0x800000) * 0x1p-20f;
  }
  assert_int_equal(isa_run(t, "v_mfma_f32_16x16x4f32 a[2:5], v10, v11, a[20:23]"), GS_WAVE_RUNNING);
  mpfr_t a, b, c;
  mpfr_inits2(400, a, b, c, (mpfr_ptr)NULL);
  for (unsigned row = 0; row < 16; row++)
    for (unsigned column = 0; column < 16; column++) {
      const place_t place = output_place(&shapes[4], 0, row, column);
      uint64_t sum = get_bits(&t->v[256 + 20], place);
      for (unsigned k = 0; k < 4; k++) {
        ref_set(&ref_f32, a, get_bits(&t->v[10], input_place(&shapes[4], 0, row, k)));
        ref_set(&ref_f32, b, get_bits(&t->v[11], input_place(&shapes[4], 0, column, k)));
        ref_set(&ref_f32, c, sum);
        mpfr_fma(c, a, b, c, MPFR_RNDN);
        sum = ref_round(&ref_f32, c, 0);
      }
      assert_int_equal(get_bits(&t->v[256 + 2], place), sum);
    }
  mpfr_clears(a, b, c, (mpfr_ptr)NULL);
  isa_free(t);
}

/* ---- How products are added ---- */

/* Random bits of a type: of any size, of like sizes, zeroes, and denormals, but nothing special. */
static uint64_t summand_bits(element_t type, uint64_t *seed) {
  static const struct {
    unsigned fraction, exponents, middle;
  } formats[] = {[F32] = {23, 255, 127},  [F16] = {10, 31, 15}, [BF16] = {7, 255, 127},
                 [XF32] = {23, 255, 127}, [FP8] = {3, 16, 8},   [BF8] = {2, 32, 16}};
  const unsigned f = formats[type].fraction, middle = formats[type].middle;
  const uint64_t r = isa_random(seed), fraction = r >> 8 & ((UINT64_C(1) << f) - 1);
  const unsigned near = middle - 4 + (unsigned)(r >> 40) % 8,
                 far = (unsigned)(r >> 40) % formats[type].exponents;
  const bool special = has_ocp && width(type) == 8 && far == formats[type].exponents - 1; /* perhaps */
  const uint64_t exponent = r % 16 == 0 || special ? 0
                            : r % 16 < 3           ? far
                                                   : near,
                 sign = r >> 63 << (width(type) - 1);
  return r % 16 == 1 || (exponent == 0 && fraction == 0) ? 0 : sign | exponent << f | fraction;
}

static void fill_summands(gs_row_t *rows, unsigned registers, element_t type, uint64_t *seed) {
  for (unsigned r = 0; r < registers; r++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      rows[r].u32[l] = 0;
      for (unsigned e = 0; e < 32 / width(type); e++)
        rows[r].u32[l] |= (uint32_t)(summand_bits(type, seed) << (e * width(type)));
    }
}

static float flushed(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* gfx90a: pairs, and pairs of pairs unless bf16 come in twos. */
static float sum_of_pairs(const double *a, const double *b, unsigned k, unsigned group, float c) {
  float sum = flushed(c) == 0 ? 0 : c, p[32];
  for (unsigned i = 0; i < k; i++)
    p[i] = flushed((float)a[i] * (float)b[i]);
  for (unsigned i = 0; i < k; i += group) {
    const float first = flushed(p[i] + p[i + 1]);
    sum = flushed(sum + (group == 2 ? first : flushed(first + flushed(p[i + 2] + p[i + 3]))));
  }
  return sum;
}

/* log2, rounded down; denormals have the least that normal numbers have. */
static int exponent_of(double x, int least) {
  int e;
  (void)frexp(x, &e);
  return x == 0 || e - 1 < least ? least : e - 1;
}

typedef struct aligned {
  int exponent;
  long double sum; /* of products cut off at 24 places below it */
} aligned_t;

static aligned_t align(const double *a, const double *b, unsigned count, unsigned step, int least_a,
                       int least_b) {
  aligned_t s = {-1000, 0};
  for (unsigned i = 0; i < count; i += step)
    if (a[i] != 0 && b[i] != 0)
      s.exponent = (int)fmax(s.exponent, exponent_of(a[i], least_a) + exponent_of(b[i], least_b));
  for (unsigned i = 0; i < count; i += step)
    s.sum += ldexpl(truncl(ldexpl((long double)a[i] * b[i], 24 - s.exponent)), s.exponent - 24);
  return s;
}
static long double down(long double x, int last) {
  return ldexpl(floorl(ldexpl(x, -last)), last);
}

/* gfx942, a group of products. */
static float sum_of_aligned(const double *a, const double *b, unsigned count, bool bytes, int least_a,
                            int least_b, float c) {
  aligned_t s = align(a, b, count, bytes ? 2 : 1, least_a, least_b);
  if (bytes) {
    const aligned_t odd = align(a + 1, b + 1, count - 1, 2, least_a, least_b);
    const int most = (int)fmax(s.exponent, odd.exponent);
    s = (aligned_t){most, down(s.sum, most - 24) + down(odd.sum, most - 24)};
  }
  const int e = exponent_of(c, -126), most = (int)fmax(s.exponent, e);
  const long double both = down(s.sum, most - 32) + (bytes && e < most - 25 ? 0 : down(c, most - 24));
  return (float)down(both, exponent_of((double)both, -126) - 31);
}

static int least_exponent(element_t type) {
  return type == F16 ? -14 : type == FP8 ? -7 + has_ocp : type == BF8 ? -15 + has_ocp : -126;
}

static float sum_of_products(const isa_wave_t *t, const shape_t *s, unsigned block, unsigned row,
                             unsigned column, float c) {
  const bool bytes = s->type == FP8 || s->type == BF8;
  double a[32], b[32];
  for (unsigned k = 0; k < s->k; k++) {
    const uint64_t kept = s->type == XF32 ? ~UINT64_C(0x1fff) : ~UINT64_C(0);
    a[k] = element_value(s->type, get_bits(&t->before.v[10], input_place(s, block, row, k)) & kept);
    b[k] = element_value(type_of_b(s), get_bits(&t->before.v[20], input_place(s, block, column, k)) & kept);
    const bool flush = t->env.target == GS_GFX90A;
    a[k] = flush && fabs(a[k]) < ldexp(1, least_exponent(s->type)) ? 0 : a[k];
    b[k] = flush && fabs(b[k]) < ldexp(1, least_exponent(s->type)) ? 0 : b[k];
    if (!flush && fabs(a[k] * b[k]) >= 0x1p128) /* see test_large_products */
      return NAN;
  }
  if (t->env.target == GS_GFX90A)
    return sum_of_pairs(a, b, s->k, s->per_lane, c);
  const unsigned most = bytes ? 16 : s->type == XF32 ? 4 : 8, group = s->k < most ? s->k : most;
  for (unsigned k = 0; k < s->k; k += group)
    c = sum_of_aligned(a + k, b + k, group, bytes, least_exponent(s->type), least_exponent(type_of_b(s)), c);
  return c;
}

static uint32_t byte_of_value(double value) {
  uint32_t bits = 0;
  while (value_of_byte(FP8, bits) != value)
    bits++;
  return bits;
}

static void test_sums(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  has_ocp = isa_part(state) == GS_GFX950;
  uint64_t seed = 77;
  for (unsigned i = 0; i < SHAPES; i++) {
    const shape_t *const s = &shapes[i];
    if (s->type == F32 || s->type == F64 || s->type == I8 || !isa_has(state, ISA_PART, s->name))
      continue;
    const unsigned out = output_registers(s), in = s->per_lane * width(s->type) / 32;
    char text[TEXT];
    snprintf(text, sizeof text, "%s v[64:%u], v[10:%u], v[20:%u], v[64:%u]", s->name, 63 + out, 9 + in,
             19 + in, 63 + out);
    if (in == 1)
      snprintf(text, sizeof text, "%s v[64:%u], v10, v20, v[64:%u]", s->name, 63 + out, 63 + out);
    for (unsigned run = 0; run < 4; run++) {
      fill_summands(&t->v[10], in, s->type, &seed);
      fill_summands(&t->v[20], in, type_of_b(s), &seed);
      fill_summands(&t->v[64], out, F32, &seed);
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned j = 0; j < s->blocks * s->m * s->m; j++) {
        const unsigned block = j / (s->m * s->m), row = j / s->m % s->m, column = j % s->m;
        const place_t place = output_place(s, block, row, column);
        const uint32_t old = (uint32_t)get_bits(&t->before.v[64], place);
        float c, want;
        memcpy(&c, &old, sizeof c);
        want = sum_of_products(t, s, block, row, column, c);
        const uint32_t got = (uint32_t)get_bits(&t->v[64], place);
        if (memcmp(&got, &want, sizeof got) != 0 && !isnan(want))
          fail_msg("%s block %u row %u column %u: 0x%08x, want %a, C %a", s->name, block, row, column, got,
                   (double)want, (double)c);
      }
    }
  }
  isa_free(t);
}

/* Sums that show where gfx942 cuts off and rounds down: of two products by 1, and what they are added to. */
static void test_cuts(void **state) {
  static const struct {
    double a[2], c, xf32, fp8;
  } rows[] = {
      {{1, 0x1p-7}, -1, 0x1p-7, 0x1p-7},
      {{1, 0}, 0x1p-24, 1, 1},
      {{1, 0}, -0x1p-30, 1 - 0x1p-24, 1},           /* down from 1, but lost below bytes */
      {{1, 0}, -0x1p-25, 1 - 0x1p-24, 1 - 0x1p-24}, /* not lost yet */
      {{1, 0}, -0x1p-26, 1 - 0x1p-24, 1},
      {{-0x1p-2, 0x1p-10}, -0x1p22 - 0.5, -0x1p22 - 1, -0x1p22 - 1}, /* down to a tie */
      {{-0x1p-7, 0}, -0x1p24, -0x1p24, -0x1p24},
      {{-0x1p-7, 0}, 0x1p25, 0x1p25, 0x1p25},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  has_ocp = false;
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      for (unsigned r = 0; r < 2; r++) {
        t->v[10 + r].f32[l] = l < 32 ? (float)rows[i].a[r] : 0.0f;
        t->v[12 + r].f32[l] = 1.0f;
        t->v[14 + r].u32[l] = 0;
        t->v[16 + r].u32[l] = 0x40404040; /* ones */
      }
      for (unsigned e = 0; e < 2 && l < 32; e++)
        t->v[14].u32[l] |= byte_of_value(rows[i].a[e]) << 8 * e;
      for (unsigned r = 0; r < 16; r++)
        t->v[64 + r].f32[l] = t->v[96 + r].f32[l] = (float)rows[i].c;
    }
    assert_int_equal(isa_run(t, "v_mfma_f32_32x32x4_xf32 v[64:79], v[10:11], v[12:13], v[64:79]\n"
                                "v_mfma_f32_32x32x16_fp8_fp8 v[96:111], v[14:15], v[16:17], v[96:111]"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      if (t->v[64].f32[l] != (float)rows[i].xf32 || t->v[96].f32[l] != (float)rows[i].fp8)
        fail_msg("row %u: %a %a, want %a %a", i, (double)t->v[64].f32[l], (double)t->v[96].f32[l],
                 rows[i].xf32, rows[i].fp8);
  }
  isa_free(t);
}

/* On gfx942 products are infinite from 2^128 on, also those that would cancel. */
static void test_large_products(void **state) {
  static const struct {
    float a[2], b, want;
  } rows[] = {
      {{0x1p64f, -0x1p64f}, 0x1p63f, 0}, /* what is added to is lost below them */
      {{0x1p65f, -0x1p65f}, 0x1p64f, NAN},
      {{0x1p64f, -0x1p63f}, 0x1p64f, INFINITY},
      {{-0x1p64f, 0x1p63f}, 0x1p64f, -INFINITY},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      for (unsigned r = 0; r < 2; r++) {
        t->v[10 + r].f32[l] = l < 32 ? rows[i].a[r] : 0.0f;
        t->v[12 + r].f32[l] = rows[i].b;
      }
      for (unsigned r = 0; r < 16; r++)
        t->v[64 + r].f32[l] = 1.0f;
    }
    assert_int_equal(isa_run(t, "v_mfma_f32_32x32x4_xf32 v[64:79], v[10:11], v[12:13], v[64:79]"),
                     GS_WAVE_RUNNING);
    const float want = rows[i].want;
    for (unsigned l = 0; l < GS_LANES; l++)
      if (!(t->v[64].f32[l] == want || (isnan(want) && isnan(t->v[64].f32[l]))))
        fail_msg("row %u: %a, want %a", i, (double)t->v[64].f32[l], (double)want);
  }
  isa_free(t);
}

/* ---- Zeroes, infinities and NaNs ---- */

/* An element: a small number, or now and then something special, as the bits of its type. */
static uint64_t special_bits(element_t type, uint64_t *seed) {
  const ref_format_t *const f = type == F64 ? &ref_f64 : type == F16 ? &ref_f16 : &ref_f32;
  const uint64_t r = isa_random(seed), sign = r >> 63 ? ref_sign(f) : 0;
  uint64_t x;
  switch (r % 40) {
  case 0: x = sign | ref_infinity(f); break;
  case 1: x = sign | ref_infinity(f) | ref_quiet(f) | ref_quiet(f) >> 3; break;
  case 2: x = sign | ref_infinity(f) | ref_quiet(f) >> 2; break; /* signaling */
  default: {
    mpfr_t v;
    mpfr_init2(v, 60);
    mpfr_set_ui(v, r % 40 < 20 ? 0 : (r >> 32) % 9, MPFR_RNDN);
    x = sign | ref_round(f, v, 0);
    mpfr_clear(v);
  }
  }
  return type == BF16 ? x >> 16 : x;
}

/* Puts special values into every element of registers, `bits` wide. */
static void fill_special(gs_row_t *rows, unsigned registers, element_t type, uint64_t *seed) {
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned r = 0; r < registers; r++) {
      if (type == F64 && r % 2 == 0)
        isa_set_u64(&rows[r], l, special_bits(F64, seed));
      else if (type == F32)
        rows[r].u32[l] = (uint32_t)special_bits(F32, seed);
      else if (type != F64)
        rows[r].u32[l] = (uint32_t)(special_bits(type, seed) | special_bits(type, seed) << 16);
    }
}

/* A sum of numbers that does not depend on their order: their terms are small, or special. */
typedef struct special_sum {
  double sum;
  bool nan, plus, minus; /* not a number; infinities of either sign */
  bool negative_zero;    /* all terms are -0 */
} special_sum_t;

static void add_term(special_sum_t *s, double a, double b) {
  const double x = a * b;
  s->nan |= x != x;
  s->plus |= x > 1e300;
  s->minus |= x < -1e300;
  s->negative_zero &= x == 0.0 && signbit(x);
  if (fabs(x) < 1e300)
    s->sum += x;
}

static void check_special(const isa_wave_t *t, const shape_t *s, place_t place, const special_sum_t *want) {
  const element_t type = s->type == F64 ? F64 : F32;
  const double got = element_value(type, get_bits(&t->v[256 + 64], place));
  bool same;
  if (want->nan || (want->plus && want->minus))
    same = got != got;
  else if (want->plus || want->minus)
    same = isinf(got) && !signbit(got) == want->plus;
  else
    same = got == want->sum && (got != 0.0 || !signbit(got) == !want->negative_zero);
  if (!same)
    fail_msg("%s, lane %u, register %u: %a, want %a nan %d inf +%d -%d, negative zero %d", s->name,
             place.lane, place.reg, got, want->sum, want->nan, want->plus, want->minus, want->negative_zero);
}

/* Sums of halves and xf32 are never -0 on gfx90a and gfx942. */
static void check_specials(const isa_wave_t *t, const shape_t *s) {
  const bool signs = s->type == F32 || s->type == F64 || !(t->env.target & (GS_GFX90A | GS_GFX9_4));
  for (unsigned block = 0; block < s->blocks; block++)
    for (unsigned row = 0; row < s->m; row++)
      for (unsigned column = 0; column < s->m; column++) {
        special_sum_t want = {.negative_zero = signs};
        const place_t place = output_place(s, block, row, column);
        add_term(&want, element_value(s->type == F64 ? F64 : F32, get_bits(&t->before.v[256 + 64], place)),
                 1.0);
        for (unsigned k = 0; k < s->k; k++)
          add_term(&want, element_value(s->type, get_bits(&t->before.v[10], input_place(s, block, row, k))),
                   element_value(s->type, get_bits(&t->before.v[20], input_place(s, block, column, k))));
        check_special(t, s, place, &want);
      }
}

static void test_specials(void **state) {
  products_t *all = calloc(1, sizeof *all);
  assert_non_null(all);
  for (unsigned i = 0; i < SHAPES; i++)
    if ((shapes[i].type < I8 || shapes[i].type == F64) && isa_has(state, ISA_PART, shapes[i].name))
      add_product(all, &shapes[i], (operands_t){0, 0, 0, 256 + 64, 256 + 64, 10, 20, NULL, 0});
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 41;
  for (size_t i = 0; i < all->count; i++)
    for (unsigned run = 0; run < 4; run++) {
      const shape_t *const s = all->list[i].shape;
      fill_special(&t->v[10], 4, s->type, &seed);
      fill_special(&t->v[20], 4, s->type, &seed);
      fill_special(&t->v[256 + 64], output_registers(s), s->type == F64 ? F64 : F32, &seed);
      gs_wave_set_mode(&t->w, float_modes[run]); /* rounding modes, of which no product knows */
      assert_int_equal(isa_run(t, all->list[i].text), GS_WAVE_RUNNING);
      check_specials(t, s);
    }
  isa_free(t);
  free(all);
}

/* Moves obey EXEC. */
static void test_moves(void **state) {
  const uint64_t exec = UINT64_C(0xff00ff00f0f0f0f1);
  isa_wave_t *t = isa_new(state, ISA_PART);
  isa_set_s64(t, GS_S_EXEC, exec);
  assert_int_equal(
      isa_run(t, "v_accvgpr_write_b32 a5, v7\nv_accvgpr_read_b32 v9, a6\nv_accvgpr_write_b32 a8, 1.0"),
      GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const bool on = exec >> l & 1;
    assert_int_equal(t->v[261].u32[l], on ? t->v[7].u32[l] : t->before.v[261].u32[l]);
    assert_int_equal(t->v[9].u32[l], on ? t->v[262].u32[l] : t->before.v[9].u32[l]);
    assert_int_equal(t->v[264].u32[l], on ? 0x3f800000 : t->before.v[264].u32[l]);
  }
  isa_assert_only_changed(t, "a5 v9 a8");
  if (isa_has(state, ISA_PART, "v_accvgpr_mov_b32")) {
    assert_int_equal(isa_run(t, "v_accvgpr_mov_b32 a1, a2"), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[257].u32[l], exec >> l & 1 ? t->v[258].u32[l] : t->before.v[257].u32[l]);
    isa_assert_only_changed(t, "a1");
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_registers, GS_GFX908_UP), isa_part_test_on(test_broadcast, GS_GFX908_UP),
      isa_part_test_on(test_denormals, GS_GFX908_UP), isa_part_test_on(test_rounding, GS_GFX908_UP),
      isa_part_test_on(test_moves, GS_GFX908_UP),     isa_part_test_on(test_specials, GS_GFX908_UP),
      isa_part_test_on(test_negation, GS_GFX9_4),     isa_part_test_on(test_xf32, GS_GFX942),
      isa_part_test_on(test_sparse, GS_GFX9_4),       isa_part_test_on(test_sums, GS_GFX90A | GS_GFX9_4),
      isa_part_test_on(test_cuts, GS_GFX942),         isa_part_test_on(test_large_products, GS_GFX942),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
