/* What only gfx11 has: pairs (VOPD), matrices, dot products with signs and of bf16, halves of registers, DPP
 * in VOP3, and new mnemonics. Each is compared with arithmetic on single lanes or elements, pairs with their
 * parts.
 *
 * Not here: what gfx11 shares with other families, which their tests run on it, too. */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/lanes.h"
#include "isa/half.h"

enum { TEXT = 256 };

static unsigned lanes_of(const isa_wave_t *t) {
  return gs_target_lanes(t->env.target);
}
static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* ---- Pairs ---- */

/* What a part is called by itself, its operands behind the destination, and where it can be. */
static const struct {
  const char *dual, *single, *operands;
  bool second_only;
} parts[] = {
    {"v_dual_fmac_f32", "v_fmac_f32_e32", "%s, %s", false},
    {"v_dual_fmaak_f32", "v_fmaak_f32", "%s, %s, 0x40490fdb", false},
    {"v_dual_fmamk_f32", "v_fmamk_f32", "%s, 0x40490fdb, %s", false},
    {"v_dual_mul_f32", "v_mul_f32_e32", "%s, %s", false},
    {"v_dual_add_f32", "v_add_f32_e32", "%s, %s", false},
    {"v_dual_sub_f32", "v_sub_f32_e32", "%s, %s", false},
    {"v_dual_subrev_f32", "v_subrev_f32_e32", "%s, %s", false},
    {"v_dual_mul_dx9_zero_f32", "v_mul_dx9_zero_f32_e32", "%s, %s", false},
    {"v_dual_mov_b32", "v_mov_b32_e32", "%s", false},
    {"v_dual_cndmask_b32", "v_cndmask_b32_e64", "%s, %s", false},
    {"v_dual_max_f32", "v_max_f32_e32", "%s, %s", false},
    {"v_dual_min_f32", "v_min_f32_e32", "%s, %s", false},
    {"v_dual_dot2acc_f32_f16", "v_dot2acc_f32_f16", "%s, %s", false},
    {"v_dual_add_nc_u32", "v_add_nc_u32_e32", "%s, %s", true},
    {"v_dual_lshlrev_b32", "v_lshlrev_b32_e32", "%s, %s", true},
    {"v_dual_and_b32", "v_and_b32_e32", "%s, %s", true},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* "v_add_f32_e32 v1, s2, v3" of part `i`; single conditional moves name their mask. */
static void spell(char text[TEXT], size_t i, bool dual, const char *dst, const char *a, const char *b) {
  char operands[TEXT];
  (void)snprintf(operands, sizeof operands, parts[i].operands, a, b);
  const bool masked = !dual && strstr(parts[i].single, "cndmask");
  (void)snprintf(text, TEXT, "%s %s, %.100s%s", dual ? parts[i].dual : parts[i].single, dst, operands,
                 masked ? ", vcc_lo" : "");
}

static void float_rows(isa_wave_t *t) {
  for (unsigned r = 1; r < 9; r++)
    isa_fill32(&t->v[r], isa_f32_edges, isa_f32_edge_count, r, 3 * r);
}

/* The pair, and its parts alone. */
typedef char spelt_t[3][2 * TEXT + 8];
enum { OPERANDS = 2, SPELT = PARTS * PARTS * OPERANDS };
static spelt_t spelt[SPELT];

/* Constants for pairs that read a scalar register besides: there can be two. Those of dot2acc differ from
 * what it has alone (test_measured.c). */
static const char *operand_of(size_t x, size_t y, unsigned which) {
  if (which == 0)
    return "v2";
  const bool masked = strstr(parts[x].dual, "cndmask") || strstr(parts[y].dual, "cndmask");
  return (y % 2 && !masked) || strstr(parts[x].dual, "dot2acc") ? "s2" : "1.0";
}

static void spell_pair(spelt_t texts, size_t x, size_t y, const char *operand) {
  char first[TEXT], second[TEXT];
  spell(first, x, true, "v1", operand, "v3");
  spell(second, y, true, "v4", "v5", "v6");
  (void)snprintf(texts[0], sizeof texts[0], "%s :: %s", first, second);
  spell(texts[1], x, false, "v1", operand, "v3");
  spell(texts[2], y, false, "v4", "v5", "v6");
}

/* Runs the pair in one wave and its parts in two others, which must have the same destinations. */
static void check_pair(isa_wave_t *t[3], spelt_t texts) {
  for (unsigned i = 0; i < 3; i++) {
    isa_reset(t[i], 0);
    float_rows(t[i]);
    t[i]->w.s.u32[GS_S_VCC] = 0x5a3c0ff1;
    t[i]->w.s.u32[GS_S_EXEC] = 0xfff0ff7f;
    (void)isa_run(t[i], texts[i]);
  }
  isa_assert_only_changed(t[0], "v1 v4");
  for (unsigned l = 0; l < 32; l++)
    if (t[0]->v[1].u32[l] != t[1]->v[1].u32[l] || t[0]->v[4].u32[l] != t[2]->v[4].u32[l])
      fail_msg("%s: lane %u: 0x%x 0x%x, alone 0x%x 0x%x", texts[0], l, t[0]->v[1].u32[l], t[0]->v[4].u32[l],
               t[1]->v[1].u32[l], t[2]->v[4].u32[l]);
}

static void test_pairs(void **state) {
  static const char *pointers[3 * SPELT];
  size_t count = 0;
  isa_wave_t *t[3];
  for (size_t x = 0; x < PARTS; x++)
    for (size_t y = 0; y < PARTS; y++)
      for (unsigned which = 0; which < OPERANDS && !parts[x].second_only; which++)
        spell_pair(spelt[count++], x, y, operand_of(x, y, which));
  for (size_t i = 0; i < 3 * count; i++)
    pointers[i] = spelt[i / 3][i % 3];
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, 3 * count);
  for (unsigned i = 0; i < 3; i++)
    t[i] = isa_new(state, ISA_PART);
  for (size_t i = 0; i < count; i++)
    check_pair(t, spelt[i]);
  for (unsigned i = 0; i < 3; i++)
    isa_free(t[i]);
}

/* Each part finds what was there before either wrote. */
static void test_pairs_exchange(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  (void)isa_run(t, "v_dual_mov_b32 v1, v4 :: v_dual_mov_b32 v4, v1");
  for (unsigned l = 0; l < 32; l++) {
    assert_int_equal(t->v[1].u32[l], t->before.v[4].u32[l]);
    assert_int_equal(t->v[4].u32[l], t->before.v[1].u32[l]);
  }
  isa_assert_only_changed(t, "v1 v4 a0"); /* there is no a0 */
  (void)isa_run(t, "v_dual_mov_b32 v2, 0x1234 :: v_dual_add_nc_u32 v5, 0x1234, v2");
  for (unsigned l = 0; l < 32; l++) {
    assert_int_equal(t->v[2].u32[l], 0x1234);
    assert_int_equal(t->v[5].u32[l], 0x1234 + t->before.v[2].u32[l]);
  }
  isa_assert_only_changed(t, "v2 v5 a0");
  isa_free(t);
}

/* ---- Matrices ---- */

enum { SIZE = 16, REG_C = 16, REG_A = 32, REG_B = 48 };
typedef enum element { E_F16, E_BF16, E_IU8, E_IU4 } element_t;

/* A number with few bits, so that all sums are exact. */
static int32_t small_number(uint64_t *seed, bool is_signed, unsigned bits) {
  const int32_t value = (int32_t)(isa_random(seed) >> 40 & ((1u << bits) - 1));
  return is_signed && value >> (bits - 1) ? value - (1 << bits) : value;
}

static uint32_t encode(element_t e, int32_t value) {
  switch (e) {
  case E_F16: return gs_half_of_float((float)value);
  case E_BF16: return as_bits((float)value) >> 16;
  case E_IU8: return (uint32_t)value & 0xff;
  default: return (uint32_t)value & 0xf;
  }
}
static unsigned element_bits(element_t e) {
  return e == E_IU4 ? 4 : e == E_IU8 ? 8 : 16;
}

/* Element k of row or column n goes to lane n and the lanes that must hold the same. */
static void put_factor(isa_wave_t *t, unsigned reg, element_t e, int32_t m[SIZE][SIZE]) {
  const unsigned bits = element_bits(e), each = 32 / bits;
  for (unsigned l = 0; l < lanes_of(t); l++)
    for (unsigned r = 0; r < SIZE / each; r++) {
      t->v[reg + r].u32[l] = 0;
      for (unsigned i = 0; i < each; i++)
        t->v[reg + r].u32[l] |= encode(e, m[l % SIZE][r * each + i]) << (bits * i);
    }
}

/* Register and lane of an element of C and D. */
static uint32_t *place(isa_wave_t *t, unsigned reg, unsigned row, unsigned column) {
  const unsigned groups = lanes_of(t) / SIZE;
  return &t->v[reg + row / groups].u32[row % groups * SIZE + column];
}

typedef struct wmma {
  const char *name;
  element_t element;
  bool is_integer, halves;
  unsigned registers; /* of a factor */
} wmma_t;

static void run_wmma(isa_wave_t *t, const wmma_t *op, const char *modifiers) {
  char text[TEXT];
  const unsigned sums = SIZE * SIZE / lanes_of(t);
  (void)snprintf(text, sizeof text, "%s v[%u:%u], v[%u:%u], v[%u:%u], v[%u:%u]%s", op->name, REG_C,
                 REG_C + sums - 1, REG_A, REG_A + op->registers - 1, REG_B, REG_B + op->registers - 1, REG_C,
                 REG_C + sums - 1, modifiers);
  (void)isa_run(t, text);
}

static uint32_t encode_sum(const wmma_t *op, int64_t value) {
  if (op->is_integer)
    return (uint32_t)value;
  return op->halves ? encode(op->element, (int32_t)value) : as_bits((float)value);
}

/* `signs`: which factor is signed (integers), or negated (floats). Floats all have the same sign before: what
 * the hardware does when they cancel is in test_measured.c. */
static void check_wmma(isa_wave_t *t, const wmma_t *op, unsigned signs, bool high, uint64_t *seed) {
  int32_t a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
  const unsigned bits = op->element == E_IU4 ? 4 : op->is_integer ? 8 : op->halves ? 2 : 6;
  const int32_t sign = !op->is_integer && (signs == 1 || signs == 2) ? -1 : 1;
  for (unsigned i = 0; i < SIZE; i++)
    for (unsigned j = 0; j < SIZE; j++) {
      a[i][j] = small_number(seed, op->is_integer && (signs & 1), bits);
      b[i][j] = small_number(seed, op->is_integer && (signs & 2), bits);
      c[i][j] = op->is_integer ? small_number(seed, true, 12)
                               : sign * (1 + small_number(seed, false, op->halves ? 4 : 12));
    }
  isa_reset(t, 0);
  t->w.s.u32[GS_S_EXEC] = 0xff; /* which does not matter */
  put_factor(t, REG_A, op->element, a);
  put_factor(t, REG_B, op->element, b);
  for (unsigned i = 0; i < SIZE; i++)
    for (unsigned j = 0; j < SIZE; j++) {
      const uint32_t half = encode_sum(op, c[i][j]);
      *place(t, REG_C, i, j) = !op->halves ? half : high ? half << 16 | 0x1234 : half | 0x56780000;
    }
  char modifiers[TEXT];
  (void)snprintf(modifiers, sizeof modifiers, "%s neg_lo:[%u,%u,0]%s", high ? " op_sel:[0,0,1]" : "",
                 signs & 1, signs >> 1 & 1,
                 op->is_integer ? ""
                 : signs == 1   ? " neg_hi:[1,0,0]"
                 : signs == 2   ? " neg_hi:[0,1,0]"
                 : signs == 3   ? " neg_hi:[1,1,0]"
                                : "");
  run_wmma(t, op, modifiers);
  for (unsigned i = 0; i < SIZE; i++)
    for (unsigned j = 0; j < SIZE; j++) {
      int64_t sum = c[i][j];
      for (unsigned k = 0; k < SIZE; k++)
        sum += sign * a[i][k] * b[j][k];
      const uint32_t half = encode_sum(op, sum), found = *place(t, REG_C, i, j);
      const uint32_t wanted = !op->halves ? half : high ? half << 16 | 0x1234 : half | 0x56780000;
      if (found != wanted)
        fail_msg("%s%s: row %u column %u: 0x%x, not 0x%x", op->name, modifiers, i, j, found, wanted);
    }
}

static void test_matrices(void **state) {
  static const wmma_t ops[] = {
      {"v_wmma_f32_16x16x16_f16", E_F16, false, false, 8},
      {"v_wmma_f32_16x16x16_bf16", E_BF16, false, false, 8},
      {"v_wmma_f16_16x16x16_f16", E_F16, false, true, 8},
      {"v_wmma_bf16_16x16x16_bf16", E_BF16, false, true, 8},
      {"v_wmma_i32_16x16x16_iu8", E_IU8, true, false, 4},
      {"v_wmma_i32_16x16x16_iu4", E_IU4, true, false, 2},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  uint64_t seed = 11;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    for (unsigned signs = 0; signs < 4; signs++)
      for (unsigned high = 0; high <= ops[i].halves; high++)
        check_wmma(t, &ops[i], signs, high, &seed);
  isa_free(t);
}

/* With clamp, sums of integers stay at the ends of their range. */
static void test_matrices_clamp(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < lanes_of(t); l++)
    for (unsigned r = 0; r < 8; r++) {
      t->v[REG_C + r].u32[l] = l % 2 ? 0x7ffffff0 : 0x80000010;
      t->v[REG_A + r].u32[l] = 0x7f7f7f7f;
      t->v[REG_B + r].u32[l] = l % 2 ? 0x7f7f7f7f : 0x80808080;
    }
  const wmma_t op = {"v_wmma_i32_16x16x16_iu8", E_IU8, true, false, 4};
  run_wmma(t, &op, " neg_lo:[1,1,0] clamp");
  for (unsigned i = 0; i < SIZE; i++)
    for (unsigned j = 0; j < SIZE; j++)
      assert_int_equal(*place(t, REG_C, i, j), j % 2 ? 0x7fffffff : 0x80000000);
  isa_free(t);
}

/* ---- Dot products ---- */

static int64_t part_of(uint32_t x, unsigned bits, unsigned i, bool is_signed) {
  const uint32_t part = x >> (bits * i) & ((1u << bits) - 1);
  return is_signed && part >> (bits - 1) ? (int64_t)part - (1 << bits) : part;
}

static void check_dot(isa_wave_t *t, unsigned bits, unsigned signs, bool clamp) {
  char text[TEXT];
  (void)snprintf(text, sizeof text, "v_dot%u_i32_iu%u v0, v1, v2, v3 neg_lo:[%u,%u,0]%s", 32 / bits, bits,
                 signs & 1, signs >> 1, clamp ? " clamp" : "");
  isa_fill32(&t->v[1], isa_u32_edges, isa_u32_edge_count, 1, 0);
  isa_fill32(&t->v[2], isa_u32_edges, isa_u32_edge_count, 3, 5);
  isa_fill32(&t->v[3], isa_u32_edges, isa_u32_edge_count, 1, 9);
  (void)isa_run(t, text);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    int64_t sum = (int32_t)t->v[3].u32[l];
    for (unsigned i = 0; i < 32 / bits; i++)
      sum += part_of(t->v[1].u32[l], bits, i, signs & 1) * part_of(t->v[2].u32[l], bits, i, signs & 2);
    if (clamp)
      sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    if (t->v[0].u32[l] != (uint32_t)sum)
      fail_msg("%s: lane %u: 0x%x, not 0x%x", text, l, t->v[0].u32[l], (uint32_t)sum);
  }
  isa_assert_only_changed(t, "v0");
}

static void test_dots(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned signs = 0; signs < 4; signs++)
    for (unsigned clamp = 0; clamp < 2; clamp++) {
      check_dot(t, 8, signs, clamp);
      check_dot(t, 4, signs, clamp);
    }
  isa_free(t);
}

/* Small integers above zero, whose sums are exact in each format; others are in test_measured.c. */
static void check_float_dot(isa_wave_t *t, const char *text, element_t e, bool wide_sum) {
  uint64_t seed = 5;
  int32_t a[GS_MAX_LANES][2], b[GS_MAX_LANES][2], c[GS_MAX_LANES];
  for (unsigned l = 0; l < lanes_of(t); l++) {
    for (unsigned i = 0; i < 2; i++) {
      a[l][i] = 1 + small_number(&seed, false, 3);
      b[l][i] = 1 + small_number(&seed, false, 3);
    }
    c[l] = 1 + small_number(&seed, false, 5);
    t->v[1].u32[l] = encode(e, a[l][0]) | encode(e, a[l][1]) << 16;
    t->v[2].u32[l] = encode(e, b[l][0]) | encode(e, b[l][1]) << 16;
    t->v[3].u32[l] = wide_sum ? as_bits((float)c[l]) : encode(e, c[l]) | 0xabcd0000;
    t->v[0].u32[l] = 0x13570000;
  }
  (void)isa_run(t, text);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const int32_t sum = a[l][0] * b[l][0] + a[l][1] * b[l][1] + c[l];
    assert_int_equal(t->v[0].u32[l], wide_sum ? as_bits((float)sum) : encode(e, sum) | 0x13570000);
  }
  isa_assert_only_changed(t, "v0");
}

static void test_float_dots(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  check_float_dot(t, "v_dot2_f16_f16 v0, v1, v2, v3", E_F16, false);
  check_float_dot(t, "v_dot2_bf16_bf16 v0, v1, v2, v3", E_BF16, false);
  check_float_dot(t, "v_dot2_f32_bf16 v0, v1, v2, v3", E_BF16, true);
  isa_free(t);
}

/* A constant of a pair of halves is in both of them where there is no op_sel_hi. */
static void test_constants_of_pairs(void **state) {
  static const struct {
    const char *text;
    uint32_t expected; /* of pairs (1, 3) and (2, 4) and, where it counts, 5 */
  } rows[] = {
      {"v_pk_fmac_f16 v0, 2.0, v1", 0x46004000},        {"v_pk_fmac_f16 v0, 1, v1", 0x00030001},
      {"v_dot2acc_f32_f16 v0, 2.0, v1", 0x41000000},    {"v_dot2_f16_f16 v0, 2.0, v1, v3", 0x00004a80},
      {"v_dot2_f16_f16 v0, v1, -1.0, v3", 0x00003c00},  {"v_dot2_f16_f16 v0, 1.0, 2.0, v3", 0x00004880},
      {"v_pk_fmac_f16 v0, 0x40003c00, v1", 0x46003c00},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    isa_reset(t, (unsigned)i);
    for (unsigned l = 0; l < lanes_of(t); l++) {
      t->v[0].u32[l] = 0;
      t->v[1].u32[l] = 0x42003c00;
      t->v[3].u32[l] = 0x4500;
    }
    (void)isa_run(t, rows[i].text);
    for (unsigned l = 0; l < lanes_of(t); l++)
      assert_int_equal(t->v[0].u32[l], rows[i].expected);
  }
  isa_free(t);
}

/* ---- Mnemonics of three and two operands ---- */

static uint32_t m_maxmin_u32(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t most = a > b ? a : b;
  return most < c ? most : c;
}
static uint32_t m_minmax_u32(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t least = a < b ? a : b;
  return least > c ? least : c;
}
static uint32_t m_maxmin_i32(uint32_t a, uint32_t b, uint32_t c) {
  const int32_t most = (int32_t)a > (int32_t)b ? (int32_t)a : (int32_t)b;
  return (uint32_t)(most < (int32_t)c ? most : (int32_t)c);
}
static uint32_t m_minmax_i32(uint32_t a, uint32_t b, uint32_t c) {
  const int32_t least = (int32_t)a < (int32_t)b ? (int32_t)a : (int32_t)b;
  return (uint32_t)(least > (int32_t)c ? least : (int32_t)c);
}
static uint32_t m_and16(uint32_t a, uint32_t b, uint32_t old) {
  return (a & b & 0xffff) | (old & 0xffff0000);
}
static uint32_t m_or16(uint32_t a, uint32_t b, uint32_t old) {
  return ((a | b) & 0xffff) | (old & 0xffff0000);
}
static uint32_t m_xor16(uint32_t a, uint32_t b, uint32_t old) {
  return ((a ^ b) & 0xffff) | (old & 0xffff0000);
}
static uint32_t m_not16(uint32_t a, uint32_t b, uint32_t old) {
  (void)b;
  return (~a & 0xffff) | (old & 0xffff0000);
}
static uint32_t m_cvt_i32_i16(uint32_t a, uint32_t b, uint32_t old) {
  (void)b, (void)old;
  return (uint32_t)(int32_t)(int16_t)a;
}
static uint32_t m_cvt_u32_u16(uint32_t a, uint32_t b, uint32_t old) {
  (void)b, (void)old;
  return a & 0xffff;
}
static double limited(uint32_t bits, double least, double most) {
  const float x = as_float(bits);
  return x != x ? 0 : x < least ? least : x > most ? most : trunc((double)x);
}
static uint32_t m_cvt_pk_i16_f32(uint32_t a, uint32_t b, uint32_t old) {
  (void)old;
  return ((uint32_t)(int32_t)limited(a, -32768, 32767) & 0xffff) |
         (uint32_t)(int32_t)limited(b, -32768, 32767) << 16;
}
static uint32_t m_cvt_pk_u16_f32(uint32_t a, uint32_t b, uint32_t old) {
  (void)old;
  return (uint32_t)limited(a, 0, 65535) | (uint32_t)limited(b, 0, 65535) << 16;
}

/* The third operand is v3, or what the destination held. */
static const struct {
  const char *text;
  uint32_t (*model)(uint32_t a, uint32_t b, uint32_t c);
  bool floats, old;
} simple[] = {
    {"v_maxmin_u32 v0, v1, v2, v3", m_maxmin_u32, false, false},
    {"v_minmax_u32 v0, v1, v2, v3", m_minmax_u32, false, false},
    {"v_maxmin_i32 v0, v1, v2, v3", m_maxmin_i32, false, false},
    {"v_minmax_i32 v0, v1, v2, v3", m_minmax_i32, false, false},
    {"v_and_b16 v0, v1, v2", m_and16, false, true},
    {"v_or_b16 v0, v1, v2", m_or16, false, true},
    {"v_xor_b16 v0, v1, v2", m_xor16, false, true},
    {"v_not_b16 v0, v1", m_not16, false, true},
    {"v_cvt_i32_i16 v0, v1", m_cvt_i32_i16, false, true},
    {"v_cvt_u32_u16 v0, v1", m_cvt_u32_u16, false, true},
    {"v_cvt_pk_i16_f32 v0, v1, v2", m_cvt_pk_i16_f32, true, true},
    {"v_cvt_pk_u16_f32 v0, v1, v2", m_cvt_pk_u16_f32, true, true},
};

static void test_simple(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
    for (unsigned start = 0; start < 40; start += 3) {
      const uint32_t *const edges = simple[i].floats ? isa_f32_edges : isa_u32_edges;
      const size_t count = simple[i].floats ? isa_f32_edge_count : isa_u32_edge_count;
      isa_fill32(&t->v[1], edges, count, 1, start);
      isa_fill32(&t->v[2], edges, count, count, start);
      isa_fill32(&t->v[3], edges, count, 2, 2 * start);
      (void)isa_run(t, simple[i].text);
      for (unsigned l = 0; l < lanes_of(t); l++) {
        const uint32_t third = simple[i].old ? t->before.v[0].u32[l] : t->v[3].u32[l];
        const uint32_t wanted = simple[i].model(t->v[1].u32[l], t->v[2].u32[l], third);
        if (t->v[0].u32[l] != wanted)
          fail_msg("%s: lane %u: 0x%x, not 0x%x", simple[i].text, l, t->v[0].u32[l], wanted);
      }
      isa_assert_only_changed(t, "v0");
    }
  isa_free(t);
}

/* The least of a maximum and the other way round, against two instructions. */
static void test_float_minmax(void **state) {
  static const char *const rows[][3] = {
      {"v_maxmin_f32 v0, v1, v2, v3", "v_max_f32 v4, v1, v2", "v_min_f32 v5, v4, v3"},
      {"v_minmax_f32 v0, v1, v2, v3", "v_min_f32 v4, v1, v2", "v_max_f32 v5, v4, v3"},
      {"v_maxmin_f16 v0, v1, v2, v3", "v_max_f16 v4, v1, v2", "v_min_f16 v5, v4, v3"},
      {"v_minmax_f16 v0, v1, v2, v3", "v_min_f16 v4, v1, v2", "v_max_f16 v5, v4, v3"},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned start = 0; start < 30; start += 7) {
      const uint32_t *const edges = i < 2 ? isa_f32_edges : isa_f16_edges;
      const size_t count = i < 2 ? isa_f32_edge_count : isa_f16_edge_count;
      for (unsigned r = 1; r < 4; r++)
        isa_fill32(&t->v[r], edges, count, r, r * start);
      t->v[5] = t->v[0];
      for (unsigned k = 0; k < 3; k++)
        (void)isa_run(t, rows[i][k]);
      assert_memory_equal(&t->v[0], &t->v[5], lanes_of(t) * sizeof(uint32_t));
    }
  isa_free(t);
}

static void test_cndmask_b16(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const bool narrow = lanes_of(t) == 32;
  isa_set_s64(t, 4, UINT64_C(0x123456789abcdef1));
  (void)isa_run(t, narrow ? "v_cndmask_b16 v0, v1, v2, s4" : "v_cndmask_b16 v0, v1, v2, s[4:5]");
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const bool set = UINT64_C(0x123456789abcdef1) >> l & 1;
    assert_int_equal(t->v[0].u32[l],
                     (t->v[set ? 2 : 1].u32[l] & 0xffff) | (t->before.v[0].u32[l] & 0xffff0000));
  }
  isa_assert_only_changed(t, "v0");
  isa_free(t);
}

/* ---- Halves by number ---- */

enum { HIGH = 128 };
static uint32_t vop1(unsigned op, unsigned dst, unsigned src) {
  return 0x7e000000u | dst << 17 | op << 9 | 256 | src;
}

/* LLVM 16 has no names for these: words. */
static void test_halves(void **state) {
  enum { MOV_B16 = 28, SWAP_B16 = 102, ADD_F16 = 50 };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t moves[] = {vop1(MOV_B16, 5 + HIGH, 1), vop1(MOV_B16, 6, 2 + HIGH)};
  (void)isa_run_words(t, moves, 2);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    assert_int_equal(t->v[5].u32[l], t->v[1].u32[l] << 16 | (t->before.v[5].u32[l] & 0xffff));
    assert_int_equal(t->v[6].u32[l], t->v[2].u32[l] >> 16 | (t->before.v[6].u32[l] & 0xffff0000));
  }
  isa_assert_only_changed(t, "v5 v6");
  const uint32_t swap = vop1(SWAP_B16, 7 + HIGH, 8);
  (void)isa_run_words(t, &swap, 1);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const uint32_t a = t->before.v[7].u32[l], b = t->before.v[8].u32[l];
    assert_int_equal(t->v[7].u32[l], (a & 0xffff) | b << 16);
    assert_int_equal(t->v[8].u32[l], (b & 0xffff0000) | a >> 16);
  }
  isa_assert_only_changed(t, "v7 v8");
  /* v10.h = v1.h + v2.l, against the sum of moved halves. */
  const uint32_t add = (uint32_t)ADD_F16 << 25 | (10u + HIGH) << 17 | 2u << 9 | 256 | (1 + HIGH);
  (void)isa_run_words(t, &add, 1);
  isa_assert_only_changed(t, "v10");
  (void)isa_run(t, "v_lshrrev_b32 v11, 16, v1\nv_add_f16 v12, v11, v2");
  for (unsigned l = 0; l < lanes_of(t); l++)
    assert_int_equal(t->v[10].u32[l] >> 16, t->v[12].u32[l] & 0xffff);
  isa_free(t);
}

/* What only versions after LLVM 16 assemble: halves from scalars and constants, and by op_sel in the long
 * form. */
static void test_half_operands(void **state) {
  static const uint32_t mov_s3 = 0x7e003803, mov_literal = 0x7e0038ff, mov_dpp8 = 0x7e0038e9,
                        mov_e64 = 0xd59c0000, cmp_gt_u16 = 0xd43c0000, alignbit = 0xd6160000;
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t moves[] = {mov_s3 | (5u + HIGH) << 17,
                            mov_literal | 6u << 17,
                            0x12345678,
                            mov_dpp8 | (7u + HIGH) << 17,
                            (1 + HIGH) | 0xfac688u << 8, /* from lane l ^ 3... */
                            mov_e64 | 8 | 9u << 11,
                            256 | 2};
  (void)isa_run_words(t, moves, sizeof moves / sizeof *moves);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const unsigned from = (l & ~7u) | (0xfac688u >> (3 * (l & 7)) & 7);
    assert_int_equal(t->v[5].u32[l], t->w.s.u32[3] << 16 | (t->before.v[5].u32[l] & 0xffff));
    assert_int_equal(t->v[6].u32[l], 0x5678 | (t->before.v[6].u32[l] & 0xffff0000));
    assert_int_equal(t->v[7].u32[l], (t->v[1].u32[from] & 0xffff0000) | (t->before.v[7].u32[l] & 0xffff));
    assert_int_equal(t->v[8].u32[l], (t->v[2].u32[l] & 0xffff0000) | (t->before.v[8].u32[l] & 0xffff));
  }
  isa_assert_only_changed(t, "v5 v6 v7 v8");
  /* s10 = v1.h > v2.l; v9 = v3:v4 >> v1.h */
  const uint32_t others[] = {cmp_gt_u16 | 10 | 1u << 11, (256 | 1) | (256u | 2) << 9, alignbit | 9 | 4u << 11,
                             (256 | 3) | (256u | 4) << 9 | (256u | 1) << 18};
  (void)isa_run_words(t, others, 4);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const uint64_t both = (uint64_t)t->v[3].u32[l] << 32 | t->v[4].u32[l];
    assert_int_equal(t->w.s.u32[10 + l / 32] >> l % 32 & 1, t->v[1].u32[l] >> 16 > (t->v[2].u32[l] & 0xffff));
    assert_int_equal(t->v[9].u32[l], (uint32_t)(both >> (t->v[1].u32[l] >> 16 & 31)));
  }
  isa_assert_only_changed(t, "v9 s[10:11]");
  isa_free(t);
}

/* Dot products of bf16 as half of a pair, and with DPP, against the plain one. */
static void test_bf16_forms(void **state) {
  static const uint32_t mov_and_dot = 0xc8000000u | 8u << 22 | 13u << 17, dot_dpp8 = 0xcc1a4000u;
  isa_wave_t *const t = isa_new(state, ISA_PART);
  float_rows(t);
  if (lanes_of(t) == 32) {
    (void)isa_assemble(state, ISA_PART, "v_dot2_f32_bf16 v21, v1, v2, v21",
                       &(size_t){0}); /* see coverage.h */
    const uint32_t pair[] = {mov_and_dot | 256 | 3, 20u << 24 | (21u >> 1) << 17 | 2u << 9 | 256 | 1};
    (void)isa_run_words(t, pair, 2);
    const gs_row_t sum = t->v[21], old = t->before.v[21];
    assert_memory_equal(&t->v[20], &t->v[3], 32 * sizeof *sum.u32);
    isa_assert_only_changed(t, "v[20:21] a0"); /* there is no a0 */
    t->v[21] = old;
    (void)isa_run(t, "v_dot2_f32_bf16 v21, v1, v2, v21");
    assert_memory_equal(&sum, &t->v[21], 32 * sizeof *sum.u32);
    assert_memory_not_equal(&sum, &old, 32 * sizeof *sum.u32);
  }
  const uint32_t dpp[] = {dot_dpp8 | 10, 233 | (256u | 2) << 9 | (256u | 3) << 18 | 3u << 27,
                          1 | 0xfac688u << 8};
  (void)isa_run_words(t, dpp, 3);
  const gs_row_t sum = t->v[10];
  for (unsigned l = 0; l < lanes_of(t); l++)
    t->v[11].u32[l] = t->v[1].u32[(l & ~7u) | (0xfac688u >> (3 * (l & 7)) & 7)];
  (void)isa_run(t, "v_dot2_f32_bf16 v10, v11, v2, v3");
  assert_memory_equal(&sum, &t->v[10], lanes_of(t) * sizeof *sum.u32);
  isa_free(t);
}

/* ---- Stacks of nodes for ray tracing ---- */

enum { INVALID = -1, TERMINAL = -2, STACK_STRIDE = 128 };

/* What a lane should do: of children c[0..3], those behind the one visited last are pushed from the farthest
 * on, and if none was visited before, the nearest is the result. */
static uint32_t visit(uint8_t *lds, uint32_t *packed, uint32_t last, const uint32_t c[4], unsigned entries) {
  uint32_t index = *packed & 0x3ffff, node = (uint32_t)INVALID;
  uint8_t *const base = lds + (*packed >> 18) * 4;
  int after = last == (uint32_t)INVALID ? -1 : 4;
  for (int i = 0; i < 4 && after >= 0; i++)
    after = c[i] == last ? i : after;
  for (int i = 3; i > 0 && i > after; i--)
    if (c[i] != (uint32_t)INVALID)
      memcpy(base + index++ % entries * STACK_STRIDE, &c[i], 4);
  if (after < 0 && c[0] != (uint32_t)INVALID)
    node = c[0];
  else if (index == 0)
    node = (uint32_t)TERMINAL;
  else {
    uint8_t *const top = base + --index % entries * STACK_STRIDE;
    memcpy(&node, top, 4);
    memset(top, 0xff, 4);
  }
  *packed = (*packed & ~0x3ffffu) | index;
  return node;
}

static void test_bvh_stack(void **state) {
  static const char *const texts[] = {"ds_bvh_stack_rtn_b32 v0, v1, v2, v[4:7]",
                                      "ds_bvh_stack_rtn_b32 v0, v1, v2, v[4:7] offset:4096"};
  static uint8_t lds[ISA_LDS_BYTES];
  isa_wave_t *const t = isa_new(state, ISA_PART);
  uint64_t seed = 5;
  isa_prepare(state, ISA_PART, texts, sizeof *texts, 2);
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[1].u32[l] = (l / 32 * 1024 + l % 32) << 18;
  for (unsigned round = 0; round < 200; round++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      for (unsigned i = 0; i < 4; i++)
        t->v[4 + i].u32[l] = isa_random(&seed) % 4 ? (uint32_t)isa_random(&seed) : (uint32_t)INVALID;
      const uint64_t r = isa_random(&seed);
      t->v[2].u32[l] = r % 3 == 0 ? (uint32_t)INVALID : r % 3 == 1 ? 7 : t->v[4 + (r >> 8 & 3)].u32[l];
      if (round % 3 == 2) /* nothing but what is on the stack */
        t->v[4].u32[l] = t->v[5].u32[l] = t->v[6].u32[l] = t->v[7].u32[l] = (uint32_t)INVALID;
    }
    isa_set_s64(t, GS_S_EXEC, round % 5 ? UINT64_MAX >> (64 - lanes_of(t)) : 0x0ff0ff01);
    const uint64_t exec = gs_exec(&t->w);
    memcpy(lds, t->lds, sizeof lds);
    (void)isa_run(t, texts[round / 100]);
    for (unsigned l = 0; l < lanes_of(t); l++) {
      uint32_t packed = t->before.v[1].u32[l], node = t->before.v[0].u32[l];
      const uint32_t c[4] = {t->v[4].u32[l], t->v[5].u32[l], t->v[6].u32[l], t->v[7].u32[l]};
      if (exec >> l & 1)
        node = visit(lds, &packed, t->v[2].u32[l], c, round / 100 ? 16 : 8);
      if (t->v[0].u32[l] != node || t->v[1].u32[l] != packed)
        fail_msg("round %u, lane %u: node 0x%x, not 0x%x; stack 0x%x, not 0x%x", round, l, t->v[0].u32[l],
                 node, t->v[1].u32[l], packed);
    }
    assert_memory_equal(t->lds, lds, sizeof lds);
    isa_assert_only_changed(t, "v0 v1 lds a0"); /* a row that no instruction of this family names */
  }
  isa_free(t);
}

/* ---- DPP behind VOP3 ---- */

static void test_long_dpp(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const bool narrow = lanes_of(t) == 32;
  (void)isa_run(t, "v_add3_u32_e64_dpp v0, v1, v2, v3 row_shl:3 row_mask:0xf bank_mask:0xf\n"
                   "v_xor3_b32_e64_dpp v4, v1, v2, v3 dpp8:[7,6,5,4,3,2,1,0]");
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const uint32_t b = t->v[2].u32[l], c = t->v[3].u32[l];
    const bool in_row = l % 16 < 13;
    assert_int_equal(t->v[0].u32[l], in_row ? t->v[1].u32[l + 3] + b + c : t->before.v[0].u32[l]);
    assert_int_equal(t->v[4].u32[l], t->v[1].u32[l ^ 7] ^ b ^ c);
  }
  isa_assert_only_changed(t, "v0 v4");
  (void)isa_run(t, narrow ? "v_cmp_lt_u32_e64_dpp s4, v1, v2 row_ror:5 row_mask:0xf bank_mask:0xf"
                          : "v_cmp_lt_u32_e64_dpp s[4:5], v1, v2 row_ror:5 row_mask:0xf bank_mask:0xf");
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const unsigned from = (l & ~15u) | ((l - 5) & 15);
    assert_int_equal(isa_s64(t, 4) >> l & 1, t->v[1].u32[from] < t->v[2].u32[l]);
  }
  isa_assert_only_changed(t, narrow ? "s4" : "s[4:5]");
  isa_free(t);
}

static void test_permlane64(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const unsigned lanes = lanes_of(t);
  gs_set_exec(&t->w, UINT64_C(0xfffffff0ffffff0f));
  (void)isa_run(t, "v_permlane64_b32 v0, v1");
  for (unsigned l = 0; l < lanes; l++) {
    const bool on = lanes == 64 && (UINT64_C(0xfffffff0ffffff0f) >> l & 1);
    assert_int_equal(t->v[0].u32[l], on ? t->v[1].u32[l ^ 32] : t->before.v[0].u32[l]);
  }
  isa_assert_only_changed(t, lanes == 64 ? "v0" : "");
  isa_free(t);
}

/* ---- Interpolation ---- */

typedef struct interpolation {
  const char *text;     /* behind the mnemonic: v0 of v1, v2 and v3 */
  unsigned first, last; /* lanes of four that sources 0 and 2 come from; 4 is each its own */
  bool halves[2];       /* whether those are halves */
  bool to_half, to_zero;
} interpolation_t;

static float corner_of(const gs_row_t *row, unsigned l, unsigned which, bool half) {
  const uint32_t bits = row->u32[which < 4 ? (l & ~3u) + which : l];
  return half ? gs_float_of_half((uint16_t)bits) : as_float(bits);
}

/* What lies between two neighbours goes to the one nearer to zero; the others are exact in these widths. */
static uint32_t rounded(const interpolation_t *i, double exact) {
  float value = (float)exact;
  if (i->to_zero && fabs((double)value) > fabs(exact))
    value = nextafterf(value, 0);
  if (!i->to_half)
    return as_bits(value);
  if ((double)value != exact) { /* which goes on to be rounded once: towards zero here, and to odd */
    const float below = fabs((double)value) > fabs(exact) ? nextafterf(value, 0) : value;
    value = as_float(as_bits(below) | 1);
  }
  uint16_t half = gs_half_of_float(value);
  if (i->to_zero && fabsf(gs_float_of_half(half)) > fabsf(value))
    half--;
  return half;
}

/* Factors of few bits, so that the sum is exact in double. */
static void check_interpolation(isa_wave_t *t, const interpolation_t *row, uint64_t exec) {
  for (unsigned l = 0; l < lanes_of(t); l++)
    for (unsigned i = 1; i < 4; i++) {
      const float value =
          (float)(1 + 2 * ((int)(l * (7 + 2 * i)) % 257) - 257) * (i == 2 ? 0x1.2p-9f : 0x1p-4f);
      const bool half = i != 2 && row->halves[i / 2];
      t->v[i].u32[l] = half ? gs_half_of_float(value) | 0x7e000000 : as_bits(value * (i == 3 ? 0x1p14f : 1));
    }
  gs_set_exec(&t->w, exec);
  (void)isa_run(t, row->text);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const double sum =
        (double)corner_of(&t->v[1], l, row->first, row->halves[0]) * (double)as_float(t->v[2].u32[l]) +
        (double)corner_of(&t->v[3], l, row->last, row->halves[1]);
    const uint32_t result = rounded(row, sum), old = t->before.v[0].u32[l];
    const uint32_t kept = row->to_half ? (old & 0xffff0000) | result : result;
    assert_int_equal(t->v[0].u32[l], exec >> l & 1 ? kept : old);
  }
  isa_assert_only_changed(t, "v0");
}

static void test_interpolation(void **state) {
  static const interpolation_t rows[] = {
      {"v_interp_p10_f32 v0, v1, v2, v3", 1, 0, {false, false}, false, false},
      {"v_interp_p2_f32 v0, v1, v2, v3 wait_exp:3", 2, 4, {false, false}, false, false},
      {"v_interp_p10_f16_f32 v0, v1, v2, v3", 1, 0, {true, true}, false, false},
      {"v_interp_p2_f16_f32 v0, v1, v2, v3", 2, 4, {true, false}, true, false},
      {"v_interp_p10_rtz_f16_f32 v0, v1, v2, v3", 1, 0, {true, true}, false, true},
      {"v_interp_p2_rtz_f16_f32 v0, v1, v2, v3 wait_exp:7", 2, 4, {true, false}, true, true},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_interpolation(t, &rows[i], UINT64_MAX);
    check_interpolation(t, &rows[i], UINT64_C(0x8421123456789001)); /* other lanes are sources, too */
  }
  isa_free(t);
}

/* Signs, halves, clamp, and the factor in a scalar register. */
static void test_interpolation_fields(void **state) {
  static const uint32_t scalar[] = {0xcd000000, 0x040c0501}; /* v_interp_p10_f32 v0, v1, s2, v3 */
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    t->v[1].u32[l] = 0x40003c00; /* 2 and 1 */
    t->v[2].u32[l] = as_bits(3);
    t->v[3].u32[l] = 0x44004200; /* 4 and 3 */
    t->v[4].u32[l] = as_bits(0.5f);
  }
  (void)isa_run(t, "v_interp_p10_f16_f32 v0, v1, v2, v3 op_sel:[1,0,0,0]\n"
                   "v_interp_p10_f16_f32 v5, -v1, v2, v3 op_sel:[0,0,1,0]\n"
                   "v_interp_p10_f16_f32 v6, v1, -v2, -v3 op_sel:[1,0,1,0]\n"
                   "v_interp_p10_f16_f32 v7, v1, v2, v3 clamp\n"
                   "v_interp_p2_f16_f32 v8, v1, v2, v4 op_sel:[1,0,0,1]");
  for (unsigned l = 0; l < lanes_of(t); l++) {
    assert_int_equal(t->v[0].u32[l], as_bits(9));
    assert_int_equal(t->v[5].u32[l], as_bits(1));
    assert_int_equal(t->v[6].u32[l], as_bits(-10));
    assert_int_equal(t->v[7].u32[l], as_bits(1));
    assert_int_equal(t->v[8].u32[l], (t->before.v[8].u32[l] & 0xffff) | 0x46800000); /* 6.5 */
  }
  isa_assert_only_changed(t, "v0 v[5:8]");
  t->w.s.u32[2] = as_bits(2);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    t->v[1].u32[l] = as_bits((float)(100 + l));
    t->v[3].u32[l] = as_bits((float)(10 + l));
  }
  (void)isa_run_words(t, scalar, 2);
  for (unsigned l = 0; l < lanes_of(t); l++)
    assert_int_equal(t->v[0].u32[l], as_bits((float)(212 + 3 * (l & ~3u))));
  /* What a float cannot hold decides between two halves. */
  for (unsigned l = 0; l < lanes_of(t); l++) {
    t->v[1].u32[l] = 0x3c00;
    t->v[2].u32[l] = as_bits(1 + 0x1p-11f);
    t->v[4].u32[l] = as_bits(0x1p-40f);
  }
  (void)isa_run(t, "v_interp_p2_f16_f32 v8, v1, v2, v4");
  for (unsigned l = 0; l < lanes_of(t); l++)
    assert_int_equal(t->v[8].u32[l] & 0xffff, 0x3c01);
  isa_free(t);
}

/* ---- Memory ---- */

/* The new value comes first, and what it is compared with second. */
static void test_cmpstore(void **state) {
  static const struct {
    const char *text;
    unsigned dwords;
  } rows[] = {
      {"ds_cmpstore_rtn_b32 v6, v0, v1, v2", 1}, {"ds_cmpstore_rtn_b64 v[6:7], v0, v[1:2], v[3:4]", 2},
      {"ds_cmpstore_rtn_f32 v6, v0, v1, v2", 1}, {"ds_cmpstore_rtn_f64 v[6:7], v0, v[1:2], v[3:4]", 2},
      {"ds_cmpstore_b32 v0, v1, v2", 1},         {"ds_cmpstore_b64 v0, v[1:2], v[3:4]", 2},
      {"ds_cmpstore_f32 v0, v1, v2", 1},         {"ds_cmpstore_f64 v0, v[1:2], v[3:4]", 2}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const unsigned n = rows[i].dwords;
    isa_reset(t, 0);
    for (unsigned l = 0; l < lanes_of(t); l++) {
      t->v[0].u32[l] = l * 4 * n;
      for (unsigned k = 0; k < n; k++) {
        const uint32_t held = 0x40000000 + 16 * l + k;
        memcpy(t->lds + (l * n + k) * 4, &held, 4);
        t->v[1 + k].u32[l] = 0x50000000 + l;
        t->v[1 + n + k].u32[l] = held + (l % 3 == 0 && k == 0);
      }
    }
    (void)isa_run(t, rows[i].text);
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned k = 0; k < n; k++) {
        uint32_t now;
        memcpy(&now, t->lds + (l * n + k) * 4, 4);
        assert_int_equal(now, l % 3 ? t->v[1 + k].u32[l] : 0x40000000 + 16 * l + k);
        if (strstr(rows[i].text, "_rtn"))
          assert_int_equal(t->v[6 + k].u32[l], 0x40000000 + 16 * l + k);
      }
    isa_assert_only_changed(t, strstr(rows[i].text, "_rtn") ? "v[6:7] lds" : "lds");
  }
  isa_free(t);
}

/* A scalar, a vector register and a constant together. */
static void test_scratch_both(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const unsigned lanes = lanes_of(t);
  isa_set_s64(t, GS_S_SCRATCH_BASE, ISA_MEMORY);
  t->w.s.u32[3] = 32;
  for (unsigned l = 0; l < lanes; l++)
    t->v[2].u32[l] = 4 * (l % 5);
  (void)isa_run(t, "scratch_store_b32 v2, v1, s3 offset:8\nscratch_load_b32 v4, v2, s3 offset:8");
  for (unsigned l = 0; l < lanes; l++) {
    uint32_t value;
    memcpy(&value, t->memory + ((32 + 8) / 4 + l % 5) * lanes * 4 + 4 * l, 4);
    assert_int_equal(value, t->v[1].u32[l]);
    assert_int_equal(t->v[4].u32[l], value);
  }
  isa_assert_only_changed(t, "v4 memory");
  isa_free(t);
}

static void test_flat_atomic_add_f32(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const float held = 2.0f * (float)l;
    isa_set_u64(&t->v[2], l, ISA_MEMORY + 4 * l);
    memcpy(t->memory + 4 * (size_t)l, &held, 4);
    t->v[4].u32[l] = as_bits(0.5f);
  }
  (void)isa_run(t, "flat_atomic_add_f32 v5, v[2:3], v4 glc");
  for (unsigned l = 0; l < lanes_of(t); l++) {
    float now;
    memcpy(&now, t->memory + 4 * (size_t)l, 4);
    assert_true(now == 2.0f * (float)l + 0.5f);
    assert_int_equal(t->v[5].u32[l], as_bits(2.0f * (float)l));
  }
  isa_assert_only_changed(t, "v5 memory");
  isa_free(t);
}

/* Sums in memory may be denormal; what they are made of may not. */
static void test_denormal_sums(void **state) {
  static const struct {
    uint32_t held, added, sum;
  } rows[] = {{0x80800000, 0x00c00000, 0x00400000},
              {0x00000001, 0x3f800000, 0x3f800000},
              {0x00000001, 0x00000001, 0},
              {0x00c00000, 0x80400000, 0x00c00000}};
  static const char *const texts[] = {"flat_atomic_add_f32 v[2:3], v4",
                                      "global_atomic_add_f32 v[2:3], v4, off",
                                      "buffer_atomic_add_f32 v4, off, s[4:7], 0"};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
      isa_reset(t, 0);
      isa_set_s64(t, 4, ISA_MEMORY);
      t->w.s.u32[6] = ISA_MEMORY_BYTES;
      t->w.s.u32[7] = 0xfac | 22 << 12 | 3 << 28;
      gs_set_exec(&t->w, 1);
      isa_set_u64(&t->v[2], 0, ISA_MEMORY);
      t->v[4].u32[0] = rows[i].added;
      memcpy(t->memory, &rows[i].held, 4);
      (void)isa_run(t, texts[k]);
      assert_memory_equal(t->memory, &rows[i].sum, 4);
    }
  isa_free(t);
}

/* Floats of memory become halves without being rounded; other formats are rounded. */
static void test_floats_as_halves(void **state) {
  static const struct {
    float value;
    uint32_t half;
  } rows[] = {{1.0009f, 0x3c00}, {-1.00097f, 0xbc00}, {65535.0f, 0x7bff}, {0x1p-25f, 0}, {-2.5f, 0xc100}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_set_s64(t, 4, ISA_MEMORY);
  t->w.s.u32[6] = ISA_MEMORY_BYTES;
  t->w.s.u32[7] = 0xfac | 22 << 12 | 3 << 28;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    memcpy(t->memory, &rows[i].value, 4);
    (void)isa_run(t, "buffer_load_d16_format_x v1, off, s[4:7], 0");
    assert_int_equal(t->v[1].u32[0] & 0xffff, rows[i].half);
  }
  isa_free(t);
}

/* Loads whose data goes to LDS, at M0 plus the offset plus 4 per lane, as a dword. */
static void test_buffer_to_lds(void **state) {
  static const struct {
    const char *type;
    unsigned bytes;
    bool is_signed;
  } rows[] = {{"b32", 4, false}, {"format_x", 4, false}, {"u16", 2, false},
              {"i16", 2, true},  {"u8", 1, false},       {"i8", 1, true}};
  enum { STRIDE = 12, OFFSET = 8, TO = 552, ROOM = 800 }; /* lane 60 and more do not fit */
  const uint64_t exec = UINT64_C(0xfffffffff00fffff);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[96];
    (void)snprintf(text, sizeof text, "buffer_load_lds_%s v2, s[4:7], 0 offen offset:%d", rows[i].type,
                   OFFSET);
    isa_reset(t, (unsigned)i);
    isa_set_s64(t, 4, ISA_MEMORY);
    t->w.s.u32[6] = ISA_MEMORY_BYTES;
    t->w.s.u32[7] = 0xfac | 22 << 12 | 3 << 28; /* floats */
    t->w.s.u32[GS_S_M0] = 0xffff0000 | TO;
    t->env.lds_bytes = ROOM;
    gs_set_exec(&t->w, exec);
    for (unsigned l = 0; l < lanes_of(t); l++)
      t->v[2].u32[l] = STRIDE * l;
    (void)isa_run(t, text);
    isa_assert_only_changed(t, "lds");
    for (unsigned at = 0; at < ISA_LDS_BYTES; at += 4) {
      const unsigned l = at >= TO + OFFSET ? (at - TO - OFFSET) / 4 : 64;
      uint32_t is, expected;
      memcpy(&is, t->lds + at, 4);
      memcpy(&expected, t->before.lds + at, 4);
      if (l < lanes_of(t) && at < ROOM && gs_bit(exec, l)) {
        const unsigned unused = 32 - 8 * rows[i].bytes;
        memcpy(&expected, t->memory + STRIDE * l + OFFSET, 4);
        expected = rows[i].is_signed ? (uint32_t)((int32_t)(expected << unused) >> unused)
                                     : expected << unused >> unused;
      }
      if (is != expected)
        fail_msg("%s: lds[%u] is 0x%x, not 0x%x", text, at, is, expected);
    }
  }
  isa_free(t);
}

/* Texts say which halves of registers are meant, of a short form in its names, of a long one by op_sel. */
static void test_half_texts(void **state) {
  static const struct {
    uint32_t words[3];
    const char *text;
  } rows[] = {{{0xd73a4034, 0x0003650c, 0}, "v_ashrrev_i16 v52, v12, v178 op_sel:[0,0,1]"},
              {{0xd7621005, 0x0000050b, 0}, "v_and_b16 v5, v11, s2 op_sel:[0,1,0]"},
              {{0xd5320805, 0x00020501, 0}, "v_add_f16_e64 v5, v1, v2 op_sel:[1,0,0]"},
              {{0xd5320005, 0x00020501, 0}, "v_add_f16_e64 v5, v1, v2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gs_inst_t inst;
    char text[TEXT];
    assert_true(gs_decode(isa_part(state), rows[i].words, 3, &inst));
    (void)gs_disassemble(isa_part(state), &inst, text, sizeof text);
    assert_string_equal(text, rows[i].text);
  }
}

/* ---- Scalar instructions ---- */

static void test_scalars(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  t->env.doorbell_id = 77;
  (void)isa_run(t, "s_pack_hl_b32_b16 s4, s5, s6\n"
                   "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_DOORBELL)\n"
                   "s_sendmsg_rtn_b64 s[10:11], sendmsg(MSG_RTN_GET_REALTIME)\n"
                   "s_sendmsg_rtn_b64 s[12:13], sendmsg(MSG_RTN_GET_TBA)");
  assert_int_equal(t->w.s.u32[4], t->w.s.u32[5] >> 16 | t->w.s.u32[6] << 16);
  assert_int_equal(t->w.s.u32[8], 77);
  assert_true(isa_s64(t, 10) == ISA_CLOCK && isa_s64(t, 12) == 0);
  isa_assert_only_changed(t, "s4 s8 s[10:13]");
  (void)isa_run(t, "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\ns_delay_alu instid0(VALU_DEP_1)\ns_wait_event 1\n"
                   "s_set_inst_prefetch_distance 3\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_clause 1");
  isa_assert_only_changed(t, "");
  isa_run(t, "s_mov_b32 s4, null\ns_mov_b32 m0, 5\ns_mov_b32 s5, m0\ns_mov_b32 null, s6");
  assert_int_equal(t->w.s.u32[4], 0);
  assert_int_equal(t->w.s.u32[5], 5);
  isa_assert_only_changed(t, "s[4:5] m0");
  (void)isa_run(t, "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_SAVE_WAVE)");
  isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_pairs, GS_GFX11_W32),
      isa_part_test_on(test_pairs_exchange, GS_GFX11_W32),
      isa_part_test_on(test_matrices, GS_GFX11),
      isa_part_test_on(test_matrices_clamp, GS_GFX11),
      isa_part_test_on(test_dots, GS_GFX11),
      isa_part_test_on(test_float_dots, GS_GFX11),
      isa_part_test_on(test_constants_of_pairs, GS_GFX11),
      isa_part_test_on(test_denormal_sums, GS_GFX11),
      isa_part_test_on(test_floats_as_halves, GS_GFX11),
      isa_part_test_on(test_simple, GS_GFX11),
      isa_part_test_on(test_float_minmax, GS_GFX11),
      isa_part_test_on(test_cndmask_b16, GS_GFX11),
      isa_part_test_on(test_halves, GS_GFX11),
      isa_part_test_on(test_half_operands, GS_GFX11),
      isa_part_test_on(test_half_texts, GS_GFX11),
      isa_part_test_on(test_bf16_forms, GS_GFX11),
      isa_part_test_on(test_bvh_stack, GS_GFX11),
      isa_part_test_on(test_long_dpp, GS_GFX11),
      isa_part_test_on(test_permlane64, GS_GFX11),
      isa_part_test_on(test_cmpstore, GS_GFX11),
      isa_part_test_on(test_scratch_both, GS_GFX11),
      isa_part_test_on(test_flat_atomic_add_f32, GS_GFX11),
      isa_part_test_on(test_interpolation, GS_GFX11),
      isa_part_test_on(test_interpolation_fields, GS_GFX11),
      isa_part_test_on(test_scalars, GS_GFX11),
      isa_part_test_on(test_buffer_to_lds, GS_GFX11),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
