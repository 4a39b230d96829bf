/* Floating point in little: arithmetic and comparisons of float and double, conversions, half precision and,
 * where the compiler has a device libm, some of its functions. Builds with every clang from 13 on and at
 * every level, for test/offload/targets. Bit for bit, and with -ffast-math (-Ofast) within stated bounds. Not
 * here: NaN, infinities, denormals and all of libm (float_arith.c, convert.c, half.c, libm.c). */
#include "check.h"

#pragma STDC FP_CONTRACT OFF

enum { N = 1500 };

/* -ffast-math allows reciprocals and other orders: a division is v_rcp (1 ulp), one refinement in double, and
 * a product; sums and products of two rounded operands may be contracted, which is within one unit of the
 * larger operand. */
#ifdef __FAST_MATH__
enum { FAST = 1 };
#else
enum { FAST = 0 };
#endif

/* Moderate numbers, many of them with few bits, so that ties and exact results occur. */
static double operand(uint64_t *seed) {
  uint64_t r = check_random(seed);
  double d = (double)(int64_t)check_random(seed) * 0x1p-63;
  if (r % 3 == 0)
    d = (double)(int64_t)(d * 1024) / 16;
  return d == 0 ? 0.75 : ldexp(d, (int)(r >> 8) % 24);
}

static void check_real32(const char *what, long index, float got, float want, double ulps) {
  if (FAST)
    check_ulp32(what, index, got, (double)want, ulps);
  else
    check_f32(what, index, got, want);
}

static void check_real64(const char *what, long index, double got, double want, double ulps) {
  if (FAST)
    check_ulp64(what, index, got, want, ulps);
  else
    check_f64(what, index, got, want);
}

/* libm's, called behind the compiler's back: with -ffast-math it makes a product and a sum of a call it
 * knows. */
static double (*volatile fused)(double, double, double) = fma;
static float (*volatile fusedf)(float, float, float) = fmaf;

#define ARITHMETIC(type, s, check)                                                                           \
  static int compare_##type(type a, type b) {                                                                \
    return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5;           \
  }                                                                                                          \
                                                                                                             \
  static void arithmetic_##type(void) {                                                                      \
    static type a[N], b[N], c[N], out[N][14];                                                                \
    static int flags[N];                                                                                     \
    uint64_t seed = 2718;                                                                                    \
    for (int i = 0; i < N; i++) {                                                                            \
      a[i] = (type)operand(&seed);                                                                           \
      b[i] = i % 5 == 0 ? a[i] : (type)operand(&seed);                                                       \
      c[i] = (type)operand(&seed);                                                                           \
    }                                                                                                        \
    OMP(target teams distribute parallel for map(to : a, b, c) map(from : out, flags))                       \
    for (int i = 0; i < N; i++) {                                                                            \
      out[i][0] = a[i] + b[i];                                                                               \
      out[i][1] = a[i] - b[i];                                                                               \
      out[i][2] = a[i] * b[i];                                                                               \
      out[i][3] = a[i] / b[i];                                                                               \
      out[i][4] = 1 / a[i];                                                                                  \
      out[i][5] = __builtin_fma##s(a[i], b[i], c[i]);                                                        \
      out[i][6] = __builtin_fma##s(-a[i], b[i], -c[i]);                                                      \
      out[i][7] = a[i] < b[i] ? a[i] : b[i];                                                                 \
      out[i][8] = a[i] > c[i] ? a[i] : -c[i];                                                                \
      out[i][9] = __builtin_floor##s(a[i]);                                                                  \
      out[i][10] = __builtin_ceil##s(a[i]);                                                                  \
      out[i][11] = __builtin_trunc##s(b[i]);                                                                 \
      out[i][12] = __builtin_rint##s(c[i]);                                                                  \
      out[i][13] = __builtin_copysign##s(__builtin_fabs##s(a[i]), b[i]);                                     \
      flags[i] = compare_##type(a[i], b[i]);                                                                 \
    }                                                                                                        \
    for (int i = 0; i < N; i++) {                                                                            \
      check("add " #type, i, out[i][0], a[i] + b[i], 0);                                                     \
      check("sub " #type, i, out[i][1], a[i] - b[i], 0);                                                     \
      check("mul " #type, i, out[i][2], a[i] * b[i], 0);                                                     \
      check("div " #type, i, out[i][3], a[i] / b[i], 3);                                                     \
      check("reciprocal " #type, i, out[i][4], 1 / a[i], 2);                                                 \
      check("fma " #type, i, out[i][5], fused##s(a[i], b[i], c[i]), 0);                                      \
      check("negated fma " #type, i, out[i][6], fused##s(-a[i], b[i], -c[i]), 0);                            \
      check("min " #type, i, out[i][7], a[i] < b[i] ? a[i] : b[i], 0);                                       \
      check("max " #type, i, out[i][8], a[i] > c[i] ? a[i] : -c[i], 0);                                      \
      check("floor " #type, i, out[i][9], __builtin_floor##s(a[i]), 0);                                      \
      check("ceil " #type, i, out[i][10], __builtin_ceil##s(a[i]), 0);                                       \
      check("trunc " #type, i, out[i][11], __builtin_trunc##s(b[i]), 0);                                     \
      check("rint " #type, i, out[i][12], __builtin_rint##s(c[i]), 0);                                       \
      check("copysign " #type, i, out[i][13], __builtin_copysign##s(a[i], b[i]), 0);                         \
      check_int("compare " #type, i, flags[i], compare_##type(a[i], b[i]));                                  \
    }                                                                                                        \
  }

ARITHMETIC(float, f, check_real32)
ARITHMETIC(double, , check_real64)

/* Every width of integer to float and double and back; the values are in range. */
static void conversions(void) {
  static int64_t in[N];
  static float f[N][4];
  static double d[N][5];
  static int64_t back[N][6];
  uint64_t seed = 1618;
  for (int i = 0; i < N; i++)
    in[i] = (int64_t)check_random(&seed) >> i % 62;
#pragma omp target teams distribute parallel for map(to : in) map(from : f, d, back)
  for (int i = 0; i < N; i++) {
    int64_t v = in[i];
    f[i][0] = (float)(uint8_t)v;
    f[i][1] = (float)(int32_t)v;
    f[i][2] = (float)(uint32_t)v;
    f[i][3] = (float)v;
    d[i][0] = (double)(int16_t)v;
    d[i][1] = (double)(uint32_t)v;
    d[i][2] = (double)v;
    d[i][3] = (double)(uint64_t)v;
    d[i][4] = (double)(float)(d[i][2] * 0x1.234567p-40);
    back[i][0] = (int8_t)((float)(int32_t)v * 0x1p-25f);
    back[i][1] = (int32_t)((double)v * 0x1p-33);
    back[i][2] = (uint32_t)((double)(uint64_t)v * 0x1p-33);
    back[i][3] = (int64_t)((double)v * 0.5);
    back[i][4] = (int64_t)((uint64_t)((double)(uint64_t)v * 0.25));
    back[i][5] = (int64_t)((float)v * 0.125f);
  }
  for (int i = 0; i < N; i++) {
    int64_t v = in[i];
    check_f32("u8 to float", i, f[i][0], (float)(uint8_t)v);
    check_f32("i32 to float", i, f[i][1], (float)(int32_t)v);
    check_f32("u32 to float", i, f[i][2], (float)(uint32_t)v);
    check_f32("i64 to float", i, f[i][3], (float)v);
    check_f64("i16 to double", i, d[i][0], (double)(int16_t)v);
    check_f64("u32 to double", i, d[i][1], (double)(uint32_t)v);
    check_f64("i64 to double", i, d[i][2], (double)v);
    check_f64("u64 to double", i, d[i][3], (double)(uint64_t)v);
    check_f64("double to float", i, d[i][4], (double)(float)((double)v * 0x1.234567p-40));
    check_int("float to i8", i, back[i][0], (int8_t)((float)(int32_t)v * 0x1p-25f));
    check_int("double to i32", i, back[i][1], (int32_t)((double)v * 0x1p-33));
    check_int("double to u32", i, back[i][2], (uint32_t)((double)(uint64_t)v * 0x1p-33));
    check_int("double to i64", i, back[i][3], (int64_t)((double)v * 0.5));
    check_int("double to u64", i, back[i][4], (int64_t)((uint64_t)((double)(uint64_t)v * 0.25)));
    check_int("float to i64", i, back[i][5], (int64_t)((float)v * 0.125f));
  }
}

/* Half precision on the host, where clang before 15 has no type for it: the value of a half, and the nearest
 * half (ties to even) of a double. Both for numbers only. */
static double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double magnitude =
      exponent == 0 ? (double)(bits & 1023) * 0x1p-24 : ldexp(1024 + (bits & 1023), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

static uint16_t half_bits(double value) {
  int exponent;
  (void)frexp(value, &exponent);
  if (exponent < -13 || value == 0)
    exponent = -13; /* denormals have the smallest normal number's unit */
  unsigned units = (unsigned)nearbyint(ldexp(fabs(value), 11 - exponent));
  return (uint16_t)((value < 0 ? 0x8000u : 0) + ((unsigned)(exponent + 13) << 10) + units);
}

/* With fast math, denormals may be flushed and halves divided by reciprocals; the sign of a zero is left open
 * always. */
static void check_half(const char *what, long index, unsigned got, double want) {
  uint16_t bits = half_bits(want);
  if ((FAST && (bits & 0x7c00) == 0) || ((bits | got) & 0x7fff) == 0)
    return;
  check_int(what, index, got, bits);
}

#pragma omp declare target
/* Only for the device: the host has nothing to compute with. */
static inline void compute_halves(uint16_t a, uint16_t b, uint16_t *out, int *flags, uint32_t *pairs) {
#ifdef __AMDGCN__
  typedef _Float16 half2_t __attribute__((ext_vector_type(2)));
  _Float16 x = __builtin_bit_cast(_Float16, a), y = __builtin_bit_cast(_Float16, b);
  half2_t xy = {x, y}, yy = {y, y}, y_minus_x = {y, -x};
  out[0] = __builtin_bit_cast(uint16_t, (_Float16)(x + y));
  out[1] = __builtin_bit_cast(uint16_t, (_Float16)(x - y));
  out[2] = __builtin_bit_cast(uint16_t, (_Float16)(x * y));
  out[3] = __builtin_bit_cast(uint16_t, (_Float16)(x / y));
  out[4] = __builtin_bit_cast(uint16_t, (_Float16)((float)x * 3.0f));
  out[5] = __builtin_bit_cast(uint16_t, (_Float16)(short)a);
  *flags = (x < y) | (x <= y) << 1 | (x == y) << 2;
  pairs[0] = __builtin_bit_cast(uint32_t, xy * yy);
  pairs[1] = __builtin_bit_cast(uint32_t, xy + y_minus_x);
#else
  (void)a, (void)b, (void)out, (void)flags, (void)pairs;
#endif
}
#pragma omp end declare target

static void halves(void) {
  static uint16_t a[N], b[N], out[N][6];
  static uint32_t pairs[N][2];
  static int flags[N];
  uint64_t seed = 577;
  for (int i = 0; i < N; i++) { /* products are denormal at one end, and less than infinite at the other */
    uint64_t r = check_random(&seed);
    a[i] = (uint16_t)((r & 0x83ff) | (5 + (r >> 16) % 15) << 10);
    b[i] = i % 5 == 0 ? a[i] : (uint16_t)((r >> 32 & 0x83ff) | (5 + (r >> 48) % 15) << 10);
  }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : out, pairs, flags)
  for (int i = 0; i < N; i++)
    compute_halves(a[i], b[i], out[i], &flags[i], pairs[i]);
  /* A sum, product or quotient of halves in double, rounded to half, is the correctly rounded one. */
  for (int i = 0; i < N && check_separate(); i++) {
    double x = half_value(a[i]), y = half_value(b[i]);
    check_half("half add", i, out[i][0], x + y);
    check_half("half sub", i, out[i][1], x - y);
    check_half("half mul", i, out[i][2], x * y);
    if (!FAST)
      check_half("half div", i, out[i][3], x / y);
    check_half("float to half", i, out[i][4], x * 3);
    check_half("i16 to half", i, out[i][5], (short)a[i]);
    check_int("half compare", i, flags[i], (x < y) | (x <= y) << 1 | (x == y) << 2);
    check_half("packed mul, low", i, pairs[i][0] & 0xffff, x * y);
    check_half("packed mul, high", i, pairs[i][0] >> 16, y * y);
    check_half("packed add, low", i, pairs[i][1] & 0xffff, x + y);
    check_half("packed add, high", i, pairs[i][1] >> 16, y - x);
  }
}

/* clang 13 and 14 cannot read the bitcode of Debian's device libm. */
#if __clang_major__ >= 15
static void library(void) {
  static double x[N], d[N][6];
  static float f[N][6];
  uint64_t seed = 1414;
  for (int i = 0; i < N; i++)
    x[i] = (double)(float)((double)(check_random(&seed) >> 11) * 0x1p-53 * 20 + 0.01);
#pragma omp target teams distribute parallel for map(to : x) map(from : d, f)
  for (int i = 0; i < N; i++) {
    d[i][0] = sqrt(x[i]);
    d[i][1] = exp(x[i]);
    d[i][2] = log(x[i]);
    d[i][3] = sin(x[i]);
    d[i][4] = cos(x[i]);
    d[i][5] = pow(x[i], 1.5);
    f[i][0] = sqrtf((float)x[i]);
    f[i][1] = expf((float)x[i]);
    f[i][2] = logf((float)x[i]);
    f[i][3] = sinf((float)x[i]);
    f[i][4] = cosf((float)x[i]);
    f[i][5] = powf((float)x[i], 1.5f);
  }
  for (int i = 0; i < N; i++) {
    check_ulp64("sqrt", i, d[i][0], sqrt(x[i]), FAST);
    check_ulp64("exp", i, d[i][1], exp(x[i]), 3);
    check_ulp64("log", i, d[i][2], log(x[i]), 3);
    check_ulp64("sin", i, d[i][3], sin(x[i]), 4);
    check_ulp64("cos", i, d[i][4], cos(x[i]), 4);
    check_ulp64("pow", i, d[i][5], pow(x[i], 1.5), 16);
    /* sqrtf is allowed 3 ulp by OpenCL, which is what clang's OpenMP asks for with fast math. */
    check_ulp32("sqrtf", i, f[i][0], sqrt(x[i]), FAST ? 3 : 0.5);
    check_ulp32("expf", i, f[i][1], exp(x[i]), 3);
    check_ulp32("logf", i, f[i][2], log(x[i]), 3);
    check_ulp32("sinf", i, f[i][3], sin(x[i]), 4);
    check_ulp32("cosf", i, f[i][4], cos(x[i]), 4);
    check_ulp32("powf", i, f[i][5], pow(x[i], 1.5), 16);
  }
}
#endif

int main(void) {
  arithmetic_float();
  arithmetic_double();
  conversions();
  halves();
#if __clang_major__ >= 15
  library();
#endif
  return check_done("real_mix");
}
