/* Division as compilers build it from v_div_scale, v_rcp, v_fma, v_div_fmas and v_div_fixup must give the
 * correctly rounded quotient, which is what the host's division gives; the parts are tested for what the ISA
 * text says about them, too. The sequences are those of clang 16 at -O2 for parts without and with v_fmac of
 * that format. Not here: v_rcp and v_sqrt by themselves (test_vtrans.c). */
#include "harness.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const div32[2] = {
    "v_div_scale_f32 v12, s[4:5], v11, v11, v10\n"
    "v_div_scale_f32 v13, vcc, v10, v11, v10\n"
    "v_rcp_f32_e32 v14, v12\n"
    "v_fma_f32 v15, -v12, v14, 1.0\n"
    "v_fma_f32 v14, v15, v14, v14\n"
    "v_mul_f32_e32 v15, v13, v14\n"
    "v_fma_f32 v16, -v12, v15, v13\n"
    "v_fma_f32 v15, v16, v14, v15\n"
    "v_fma_f32 v12, -v12, v15, v13\n"
    "v_div_fmas_f32 v12, v12, v14, v15\n"
    "v_div_fixup_f32 v2, v12, v11, v10\n",
    "v_div_scale_f32 v12, s[4:5], v11, v11, v10\n"
    "v_rcp_f32_e32 v13, v12\n"
    "v_fma_f32 v14, -v12, v13, 1.0\n"
    "v_fmac_f32_e32 v13, v14, v13\n"
    "v_div_scale_f32 v14, vcc, v10, v11, v10\n"
    "v_mul_f32_e32 v15, v14, v13\n"
    "v_fma_f32 v16, -v12, v15, v14\n"
    "v_fmac_f32_e32 v15, v16, v13\n"
    "v_fma_f32 v12, -v12, v15, v14\n"
    "v_div_fmas_f32 v12, v12, v13, v15\n"
    "v_div_fixup_f32 v2, v12, v11, v10\n",
};
static const char *const div64[2] = {
    "v_div_scale_f64 v[14:15], s[4:5], v[12:13], v[12:13], v[10:11]\n"
    "v_rcp_f64_e32 v[16:17], v[14:15]\n"
    "v_fma_f64 v[18:19], -v[14:15], v[16:17], 1.0\n"
    "v_fma_f64 v[16:17], v[16:17], v[18:19], v[16:17]\n"
    "v_div_scale_f64 v[18:19], vcc, v[10:11], v[12:13], v[10:11]\n"
    "v_fma_f64 v[20:21], -v[14:15], v[16:17], 1.0\n"
    "v_fma_f64 v[16:17], v[16:17], v[20:21], v[16:17]\n"
    "v_mul_f64 v[20:21], v[18:19], v[16:17]\n"
    "v_fma_f64 v[14:15], -v[14:15], v[20:21], v[18:19]\n"
    "v_div_fmas_f64 v[14:15], v[14:15], v[16:17], v[20:21]\n"
    "v_div_fixup_f64 v[2:3], v[14:15], v[12:13], v[10:11]\n",
    "v_div_scale_f64 v[14:15], s[4:5], v[12:13], v[12:13], v[10:11]\n"
    "v_rcp_f64_e32 v[16:17], v[14:15]\n"
    "v_fma_f64 v[18:19], -v[14:15], v[16:17], 1.0\n"
    "v_fmac_f64_e32 v[16:17], v[16:17], v[18:19]\n"
    "v_fma_f64 v[18:19], -v[14:15], v[16:17], 1.0\n"
    "v_fmac_f64_e32 v[16:17], v[16:17], v[18:19]\n"
    "v_div_scale_f64 v[18:19], vcc, v[10:11], v[12:13], v[10:11]\n"
    "v_mul_f64 v[20:21], v[18:19], v[16:17]\n"
    "v_fma_f64 v[14:15], -v[14:15], v[20:21], v[18:19]\n"
    "s_nop 1\n"
    "v_div_fmas_f64 v[14:15], v[14:15], v[16:17], v[20:21]\n"
    "v_div_fixup_f64 v[2:3], v[14:15], v[12:13], v[10:11]\n",
};
static const char *const div16 = "v_cvt_f32_f16_e32 v12, v11\n"
                                 "v_cvt_f32_f16_e32 v13, v10\n"
                                 "v_rcp_f32_e32 v12, v12\n"
                                 "v_mul_f32_e32 v12, v13, v12\n"
                                 "v_cvt_f16_f32_e32 v12, v12\n"
                                 "v_div_fixup_f16 v2, v12, v11, v10\n";

enum { RANDOM_RUNS = 6000 }; /* of 64 quotients, on each part */

static float f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static uint32_t b32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static double f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static uint64_t b64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The quotient that the instructions should end up with. */
static uint32_t quotient32(uint32_t a, uint32_t b) {
  if (f32(a) != f32(a))
    return a | 0x00400000;
  if (f32(b) != f32(b))
    return b | 0x00400000;
  const volatile float x = f32(a), y = f32(b);
  const float q = x / y;
  return q != q ? 0xffc00000 : b32(q);
}
static uint64_t quotient64(uint64_t a, uint64_t b) {
  const uint64_t quiet = UINT64_C(0x0008000000000000);
  if (f64(a) != f64(a))
    return a | quiet;
  if (f64(b) != f64(b))
    return b | quiet;
  const volatile double x = f64(a), y = f64(b);
  const double q = x / y;
  return q != q ? UINT64_C(0xfff8000000000000) : b64(q);
}

/* Random operands of several kinds: any bits; exponents near each other; near the ends of the range; a
 * quotient that is nearly denormal; few bits set, whose quotients are often exact or ties. */
static uint32_t random32(uint64_t *seed, unsigned kind, uint32_t other) {
  const uint32_t r = (uint32_t)isa_random(seed);
  const uint32_t sign_and_mantissa = r & 0x807fffff;
  switch (kind % 6) {
  case 1: return sign_and_mantissa | (120 + (r >> 23) % 16) << 23;
  case 2: return sign_and_mantissa | (r >> 23 & 1 ? (r >> 24) % 30 : 225 + (r >> 24) % 30) << 23;
  case 3: /* exponent of a quotient `other / this` near that of denormals */
    return sign_and_mantissa | (((other >> 23 & 255) + 100 + (r >> 23 & 63)) & 255) << 23;
  case 4: return (r & 0xff800000) | (uint32_t)(isa_random(seed) & 7) << 20 | (uint32_t)(isa_random(seed) & 3);
  case 5: return r & 0x807fffff;
  default: return r;
  }
}
static uint64_t random64(uint64_t *seed, unsigned kind, uint64_t other) {
  const uint64_t r = isa_random(seed), s = isa_random(seed);
  const uint64_t sign_and_mantissa = r & UINT64_C(0x800fffffffffffff);
  switch (kind % 6) {
  case 1: return sign_and_mantissa | (1015 + s % 16) << 52;
  case 2: return sign_and_mantissa | (s & 1 ? (s >> 1) % 130 : 1917 + (s >> 1) % 130) << 52;
  case 3: return sign_and_mantissa | (((other >> 52 & 2047) + 960 + s % 128) & 2047) << 52;
  case 4: return (r & UINT64_C(0xfff0000000000000)) | (s & 7) << 49 | (s >> 3 & 3);
  case 5: return sign_and_mantissa;
  default: return r;
  }
}

static void check32(isa_wave_t *t, const char *text) {
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t a = t->v[10].u32[l], b = t->v[11].u32[l], want = quotient32(a, b), got = t->v[2].u32[l];
    if (got != want)
      fail_msg("%08x / %08x: got %08x, want %08x", a, b, got, want);
  }
}
static void check64(isa_wave_t *t, const char *text) {
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t a = isa_u64(&t->v[10], l), b = isa_u64(&t->v[12], l);
    const uint64_t want = quotient64(a, b), got = isa_u64(&t->v[2], l);
    if (got != want)
      fail_msg("%016llx / %016llx: got %016llx, want %016llx", (unsigned long long)a, (unsigned long long)b,
               (unsigned long long)got, (unsigned long long)want);
  }
}

static void test_f32(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  const char *text = div32[isa_has(state, ISA_PART, "v_fmac_f32")];
  for (size_t start = 0; start < isa_f32_edge_count * isa_f32_edge_count; start += GS_LANES) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].u32[l] = isa_f32_edges[(start + l) % isa_f32_edge_count];
      t->v[11].u32[l] = isa_f32_edges[(start + l) / isa_f32_edge_count % isa_f32_edge_count];
    }
    check32(t, text);
  }
  uint64_t seed = isa_part(state);
  for (unsigned i = 0; i < RANDOM_RUNS; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].u32[l] = random32(&seed, i, 0x3f800000);
      t->v[11].u32[l] = random32(&seed, i / 6, t->v[10].u32[l]);
    }
    check32(t, text);
  }
  isa_free(t);
}

static void test_f64(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  const char *text = div64[isa_has(state, ISA_PART, "v_fmac_f64")];
  for (size_t start = 0; start < isa_f64_edge_count * isa_f64_edge_count; start += GS_LANES) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      isa_set_u64(&t->v[10], l, isa_f64_edges[(start + l) % isa_f64_edge_count]);
      isa_set_u64(&t->v[12], l, isa_f64_edges[(start + l) / isa_f64_edge_count % isa_f64_edge_count]);
    }
    check64(t, text);
  }
  uint64_t seed = 16 + isa_part(state);
  for (unsigned i = 0; i < RANDOM_RUNS; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      isa_set_u64(&t->v[10], l, random64(&seed, i, UINT64_C(0x3ff0000000000000)));
      isa_set_u64(&t->v[12], l, random64(&seed, i / 6, isa_u64(&t->v[10], l)));
    }
    check64(t, text);
  }
  isa_free(t);
}

/* Halves, by way of v_cvt_f32_f16 and back: the quotient in double, rounded to a multiple of the half's last
 * place. */
static uint32_t quotient16(uint32_t a, uint32_t b) {
  const uint32_t sign = (a ^ b) & 0x8000, ma = a & 0x7fff, mb = b & 0x7fff;
  if (ma > 0x7c00)
    return (a & 0xffff) | 0x0200;
  if (mb > 0x7c00)
    return (b & 0xffff) | 0x0200;
  if ((ma == 0 && mb == 0) || (ma == 0x7c00 && mb == 0x7c00))
    return 0xfe00;
  if (ma == 0 || mb == 0x7c00)
    return sign;
  if (mb == 0 || ma == 0x7c00)
    return sign | 0x7c00;
  const double x =
      ma >> 10 ? ldexp((double)((ma & 0x3ff) | 0x400), (int)(ma >> 10) - 25) : ldexp((double)ma, -24);
  const double y =
      mb >> 10 ? ldexp((double)((mb & 0x3ff) | 0x400), (int)(mb >> 10) - 25) : ldexp((double)mb, -24);
  const double q = x / y;
  const int exponent = q < 0x1p-14 ? -14 : ilogb(q);
  const double places = rint(ldexp(q, 10 - exponent)); /* 11 bits, or fewer for denormals */
  if (ldexp(places, exponent - 10) >= 65536.0)
    return sign | 0x7c00;
  return sign | ((uint32_t)places + ((uint32_t)(exponent + 14) << 10));
}

static void test_f16(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 7;
  for (unsigned i = 0; i < 2 * RANDOM_RUNS; i++) {
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint64_t r = isa_random(&seed);
      t->v[10].u32[l] = i < 30 ? isa_f16_edges[r % isa_f16_edge_count] : (uint32_t)r;
      t->v[11].u32[l] = i < 30 ? isa_f16_edges[(r >> 32) % isa_f16_edge_count] : (uint32_t)(r >> 32);
    }
    assert_int_equal(isa_run(t, div16), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->v[10].u32[l], b = t->v[11].u32[l], want = quotient16(a, b);
      const uint32_t got = t->v[2].u32[l] & 0xffff;
      /* Two roundings in float cannot reach the middle between two normal halves, but that between two
       * denormals. */
      const uint32_t slack = (want & 0x7fff) > 0 && (want & 0x7fff) < 0x0400;
      if (got + slack - want > 2 * slack)
        fail_msg("%04x / %04x: got %04x, want %04x", a & 0xffff, b & 0xffff, got, want);
      assert_int_equal(t->v[2].u32[l] >> 16, t->before.v[2].u32[l] >> 16);
    }
  }
  isa_free(t);
}

/* ---- The parts ---- */

typedef struct scale_row {
  uint32_t value, den, num, want;
  bool flag;
} scale_row_t;

#define NUM(n, d) n, d, n
#define DEN(n, d) d, d, n
static const scale_row_t scale_rows[] = {
    {NUM(0x3f800000, 0x40000000), 0x3f800000, false}, /* nothing to scale */
    {DEN(0x3f800000, 0x40000000), 0x40000000, false},
    {NUM(0x7f7fffff, 0x3f800000), 0x7f7fffff, true}, /* near overflow: the denominator only */
    {DEN(0x7f7fffff, 0x3f800000), 0x5f800000, true},
    {NUM(0x7f7fffff, 0x00000001), 0x7f7fffff, true},
    {DEN(0x7f7fffff, 0x00000001), 0x15000000, true},
    {NUM(0x00800000, 0x00000001), 0x20800000, false}, /* denormal denominator: both */
    {DEN(0x00800000, 0x00000001), 0x15000000, false},
    {NUM(0x3f800000, 0x7f000000), 0x3f800000,
     true}, /* its reciprocal and the quotient denormal: the denominator, down */
    {DEN(0x3f800000, 0x7f000000), 0x5f000000, true},
    {NUM(0x7f000000, 0x7f000000), 0x5f000000, false}, /* only its reciprocal: both, down */
    {NUM(0x3a800000, 0x7f000000), 0x3a800000, true},
    {DEN(0x3a800000, 0x7f000000), 0x5f000000, true},
    {NUM(0x3f800000, 0x7e800000), 0x3f800000, true},
    {DEN(0x3f800000, 0x7e800000), 0x5e800000, true},
    {NUM(0x4f000000, 0x7e800000), 0x2f000000, false},
    {DEN(0x4f000000, 0x7e800000), 0x5e800000, false},
    {NUM(0x30800000, 0x62800000), 0x50800000, true}, /* 100 binary places below: the numerator */
    {DEN(0x30800000, 0x62800000), 0x62800000, true},
    {NUM(0x33800000, 0x60000000), 0x33800000, false}, /* 89 */
    {DEN(0x33800000, 0x60000000), 0x60000000, false},
    {NUM(0x2f800000, 0x5f800000), 0x4f800000, true}, /* 96 */
    {NUM(0x2f800000, 0x5f000000), 0x2f800000, false},
    {NUM(0x71800000, 0x35800000), 0x71800000, true},
    {DEN(0x71800000, 0x35800000), 0x55800000, true},
    {NUM(0x25000000, 0x00000001), 0x45000000, false},
    {DEN(0x25000000, 0x00000001), 0x15000000, false},
    {NUM(0x00800000, 0x3f800000), 0x20800000, true}, /* denormal quotient: the numerator */
    {DEN(0x00800000, 0x3f800000), 0x3f800000, true},
    {NUM(0x00000200, 0x3f800000), 0x19800000, true},
    {DEN(0x00000200, 0x3f800000), 0x3f800000, true},
    {NUM(0x0c000000, 0x0b800000), 0x2c000000, false}, /* small numerator: both */
    {DEN(0x0c000000, 0x00800000), 0x20800000, false},
    {NUM(0x0c000000, 0x00800000), 0x2c000000, false},
    {DEN(0x0c800000, 0x00800000), 0x00800000, false},
    {NUM(0x0c800000, 0x00800000), 0x0c800000, false},
    {NUM(0x3f800000, 0x00000000), 0xffc00000, true}, /* zeroes: NaN */
    {DEN(0x80000000, 0x3f800000), 0xffc00000, true},
    {NUM(0x2f800000, 0x00000000), 0xffc00000, false},
    {DEN(0x80000000, 0x2f000000), 0xffc00000, false},
    {NUM(0x7f800000, 0x3f800000), 0x7f800000, true}, /* no numbers: as they are, but quiet */
    {NUM(0x7f800123, 0x3f800000), 0x7fc00123, true},
    {NUM(0x7f800000, 0x00000000), 0xffc00000, true},
    {DEN(0x00000000, 0x7f800000), 0xffc00000, true},
    {DEN(0x3f800000, 0xff800123), 0xffc00123, true},
};
enum { SCALE_ROWS = sizeof scale_rows / sizeof scale_rows[0] };

static void check_scale_f32(isa_wave_t *t, unsigned first) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const scale_row_t *row = &scale_rows[(first + l) % SCALE_ROWS];
    t->v[10].u32[l] = row->value;
    t->v[11].u32[l] = row->den;
    t->v[12].u32[l] = row->num;
  }
  const uint64_t exec = UINT64_C(0xffff0000ffffffff);
  isa_set_s64(t, GS_S_EXEC, exec);
  isa_run(t, "v_div_scale_f32 v2, s[20:21], v10, v11, v12");
  for (unsigned l = 0; l < GS_LANES; l++) {
    const scale_row_t *row = &scale_rows[(first + l) % SCALE_ROWS];
    const bool active = exec >> l & 1, flag = isa_s64(t, 20) >> l & 1;
    const uint32_t want = active ? row->want : t->before.v[2].u32[l];
    if (flag != (active && row->flag) || t->v[2].u32[l] != want)
      fail_msg("%08x of %08x / %08x: %08x, want %08x, or the flag", row->value, row->num, row->den,
               t->v[2].u32[l], want);
  }
  isa_assert_only_changed(t, "v2 s[20:21]");
}
static void test_scale_f32(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned first = 0; first < SCALE_ROWS; first += GS_LANES / 2)
    check_scale_f32(t, first);
  isa_free(t);
}

/* Doubles have the same rules with other limits. */
static void test_scale_f64(void **state) {
  static const struct {
    uint64_t value, den, num, want;
    bool flag;
  } rows[] = {
      {NUM(0x0000000400000000, 0x3ff0000000000000), 0x06f0000000000000, true},
      {DEN(0x3f50000000000000, 0x7fe0000000000000), 0x77e0000000000000, true},
      {NUM(0x0350000000000000, 0x0010000000000000), 0x0b50000000000000, false},
      {NUM(0x0360000000000000, 0x0010000000000000), 0x0360000000000000, false},
      {NUM(0x1000000000000000, 0x4000000000000000), 0x1800000000000000, true},
      {NUM(0x1010000000000000, 0x4000000000000000), 0x1010000000000000, false},
      {NUM(0x7ff0000000000000, 0x3ff0000000000000), 0x7ff0000000000000, true},
      {NUM(0x7ff0000000000123, 0x3ff0000000000000), 0x7ff8000000000123, true},
      {NUM(0x7ff0000000000000, 0x0000000000000000), 0xfff8000000000000, true},
      {DEN(0x0000000000000000, 0x7ff0000000000000), 0xfff8000000000000, true},
      {DEN(0x0000000000000000, 0x2000000000000000), 0xfff8000000000000, false},
  };
  enum { ROWS = sizeof rows / sizeof rows[0] };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < GS_LANES; l++) {
    isa_set_u64(&t->v[10], l, rows[l % ROWS].value);
    isa_set_u64(&t->v[12], l, rows[l % ROWS].den);
    isa_set_u64(&t->v[14], l, rows[l % ROWS].num);
  }
  isa_run(t, "v_div_scale_f64 v[2:3], s[20:21], v[10:11], v[12:13], v[14:15]");
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(isa_u64(&t->v[2], l), rows[l % ROWS].want);
    assert_int_equal(isa_s64(t, 20) >> l & 1, rows[l % ROWS].flag);
  }
  isa_free(t);
}

/* div_fmas: a * b + c in long double, which holds the exact value of small integers; times 2^64 or 2^-64. */
static void test_fmas(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  const uint64_t vcc = UINT64_C(0xaaaaaaaa5555ffff);
  isa_set_s64(t, GS_S_VCC, vcc);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[10].f32[l] = 1.0f + (float)l;
    t->v[11].f32[l] = 3.0f - (float)l;
    t->v[12].f32[l] = l & 1 ? 0x1.8p0f : -0x1p1f;
    isa_set_u64(&t->v[14], l, b64(1.0 + l));
    isa_set_u64(&t->v[16], l, b64(3.0 - l));
    isa_set_u64(&t->v[18], l, b64(l & 1 ? 0x1.8p0 : -0x1p1));
  }
  isa_run(t, "v_div_fmas_f32 v2, v10, v11, v12\nv_div_fmas_f64 v[4:5], v[14:15], v[16:17], v[18:19]");
  for (unsigned l = 0; l < GS_LANES; l++) {
    const long double exact = (1.0L + l) * (3.0L - l) + (l & 1 ? 1.5L : -2.0L);
    const bool scale = vcc >> l & 1;
    assert_int_equal(t->v[2].u32[l], b32((float)ldexpl(exact, !scale ? 0 : l & 1 ? -64 : 64)));
    assert_int_equal(isa_u64(&t->v[4], l), b64((double)ldexpl(exact, !scale ? 0 : l & 1 ? -128 : 128)));
  }
  isa_free(t);
}

/* A quotient that is no number although both operands are has overflowed; a far too small one is zero. */
/* In each lane another case, and then each case in one lane, beside lanes that keep their quotient. */
static void test_fixup(void **state) {
  static const uint32_t rows[][4] = {
      /* quotient, denominator, numerator, result */
      {0x40400000, 0x3f800000, 0x40400000, 0x40400000}, {0x40400000, 0xbf800000, 0x40400000, 0xc0400000},
      {0xc0400000, 0xbf800000, 0xc0400000, 0x40400000}, {0x7fc00000, 0x00800000, 0x7f7fffff, 0x7f800000},
      {0xffc00000, 0x80800000, 0x7f7fffff, 0xff800000}, {0x3f800000, 0x7f000000, 0x00000001, 0x00000000},
      {0x3f800000, 0xff000000, 0x00000001, 0x80000000}, {0x3f800000, 0x00000000, 0x00000000, 0xffc00000},
      {0x3f800000, 0x7f800000, 0xff800000, 0xffc00000}, {0x3f800000, 0x80000000, 0x3f800000, 0xff800000},
      {0x3f800000, 0x3f800000, 0xff800000, 0xff800000}, {0x3f800000, 0xff800000, 0x3f800000, 0x80000000},
      {0x3f800000, 0x3f800000, 0x80000000, 0x80000000}, {0x3f800000, 0x7f812345, 0x3f800000, 0x7fc12345},
      {0x3f800000, 0x7fc00001, 0xff800002, 0xffc00002}, {0x3f800000, 0x4c000000, 0x00800000, 0x00000000},
      {0x3f800000, 0x4b800000, 0x80800000, 0xbf800000},
  };
  enum { ROWS = sizeof rows / sizeof rows[0] };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; i < 3; i++)
      t->v[10 + i].u32[l] = rows[l % ROWS][i];
  isa_run(t, "v_div_fixup_f32 v2, v10, v11, v12");
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[2].u32[l], rows[l % ROWS][3]);
  for (unsigned odd = 0; odd < ROWS; odd++) {
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < 3; i++)
        t->v[10 + i].u32[l] = rows[l == odd ? odd : 0][i];
    isa_run(t, "v_div_fixup_f32 v2, v10, v11, v12");
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[2].u32[l], rows[l == odd ? odd : 0][3]);
  }
  isa_free(t);
}

/* The halves' fixups differ only in what becomes of the other half; f64 has f32's special cases. */
static void test_fixup_others(void **state) {
  static const uint32_t halves[][4] = {
      {0x4200, 0x3c00, 0x4200, 0x4200}, {0x4200, 0xbc00, 0x4200, 0xc200}, {0x3c00, 0x0000, 0x0000, 0xfe00},
      {0x3c00, 0x7c00, 0xfc00, 0xfe00}, {0x3c00, 0x8000, 0x3c00, 0xfc00}, {0x3c00, 0x3c00, 0xfc00, 0xfc00},
      {0x3c00, 0xfc00, 0x3c00, 0x8000}, {0x3c00, 0x7d23, 0x3c00, 0x7f23}, {0x3c00, 0x7e00, 0xfc02, 0xfe02},
  };
  static const uint64_t doubles[][4] = {
      {0x4008000000000000, 0xbff0000000000000, 0x4008000000000000, 0xc008000000000000},
      {0x7ff8000000000000, 0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000},
      {0x3ff0000000000000, 0xffe0000000000000, 0x0000000000000001, 0x8000000000000000},
      {0x3ff0000000000000, 0x0000000000000000, 0x8000000000000000, 0xfff8000000000000},
      {0x3ff0000000000000, 0x7ff0000000000001, 0x3ff0000000000000, 0x7ff8000000000001},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; i < 3; i++) {
      t->v[10 + i].u32[l] = halves[l % 9][i] | 0xabcd0000;
      isa_set_u64(&t->v[20 + 2 * i], l, doubles[l % 5][i]);
    }
  assert_int_equal(isa_run(t, "v_div_fixup_f16 v2, v10, v11, v12\nv_div_fixup_legacy_f16 v3, v10, v11, v12\n"
                              "v_div_fixup_f64 v[4:5], v[20:21], v[22:23], v[24:25]\n"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(t->v[2].u32[l], (t->before.v[2].u32[l] & 0xffff0000) | halves[l % 9][3]);
    assert_int_equal(t->v[3].u32[l], halves[l % 9][3]);
    assert_int_equal(isa_u64(&t->v[4], l), doubles[l % 5][3]);
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_f32),       isa_wide_part_test(test_f64),       isa_wide_part_test(test_f16),
      isa_wide_part_test(test_scale_f32), isa_wide_part_test(test_scale_f64), isa_wide_part_test(test_fmas),
      isa_wide_part_test(test_fixup),     isa_part_test(test_fixup_others),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
