/* The math library on the device in double (default) or float (LIBM_FLOAT), against the host's double precision results.
 * The bounds are those of ROCm's device library (OpenCL's accuracy table), doubled where glibc itself may be off. */
#include "check.h"

#ifdef LIBM_FLOAT
typedef float type_t;
#define NAME(name) name##f
#define PROGRAM "libm float"
#else
typedef double type_t;
#define NAME(name) name
#define PROGRAM "libm double"
#endif

enum { N = 400 };

static void check(const char *what, long index, type_t got, double want, double ulps) {
#ifdef LIBM_FLOAT
  check_ulp32(what, index, got, want, ulps);
#else
  check_ulp64(what, index, got, want, ulps);
#endif
}

/* One function of one argument, on N points between low and high and on those of `special` that are in its domain. */
#define UNARY(function, low, high, ulps)                                                                     \
  static void test_##function(void) {                                                                        \
    static type_t x[N + SPECIALS], y[N + SPECIALS];                                                          \
    inputs(x, low, high);                                                                                    \
    OMP(target teams distribute parallel for map(to : x) map(from : y))                                      \
    for (int i = 0; i < N + SPECIALS; i++)                                                                   \
      y[i] = NAME(function)(x[i]);                                                                           \
    for (int i = 0; i < N + SPECIALS; i++)                                                                   \
      check(#function, i, y[i], function((double)x[i]), ulps);                                               \
  }

static const double special[] = {0.0, -0.0, 1.0, -1.0, 0.5, INFINITY, -INFINITY, NAN, 1e-30, -1e-30, 2.0, 100.0};
enum { SPECIALS = sizeof special / sizeof special[0] };

static void inputs(type_t *x, double low, double high) {
  uint64_t seed = 4242;
  for (int i = 0; i < N; i++)
    x[i] = (type_t)(low + (high - low) * (double)(check_random(&seed) >> 11) * 0x1p-53);
  for (int i = 0; i < SPECIALS; i++)
    x[N + i] = (type_t)special[i];
}

#if LIBM_PART == 1
UNARY(sin, -30, 30, 4)
UNARY(cos, -30, 30, 4)
UNARY(tan, -1.5, 1.5, 5)
UNARY(asin, -1, 1, 4)
UNARY(acos, -1, 1, 4)
UNARY(atan, -20, 20, 5)
UNARY(sinh, -20, 20, 4)
UNARY(cosh, -20, 20, 4)
UNARY(tanh, -5, 5, 5)
UNARY(asinh, -100, 100, 4)
UNARY(acosh, 1, 100, 4)
UNARY(atanh, -0.99, 0.99, 5)

/* Arguments that need the long way of reducing by pi. */
static void large_arguments(void) {
  static type_t x[N], s[N], c[N];
  uint64_t seed = 11;
  for (int i = 0; i < N; i++)
    x[i] = (type_t)ldexp((double)(int64_t)check_random(&seed) * 0x1p-63, i % 100);
#pragma omp target teams distribute parallel for map(to : x) map(from : s, c)
  for (int i = 0; i < N; i++) {
    s[i] = NAME(sin)(x[i]);
    c[i] = NAME(cos)(x[i]);
  }
  for (int i = 0; i < N; i++) {
    check("sin of large", i, s[i], sin((double)x[i]), 4);
    check("cos of large", i, c[i], cos((double)x[i]), 4);
  }
}

static void all(void) {
  test_sin();
  test_cos();
  test_tan();
  test_asin();
  test_acos();
  test_atan();
  test_sinh();
  test_cosh();
  test_tanh();
  test_asinh();
  test_acosh();
  test_atanh();
  large_arguments();
}
#else
UNARY(exp, -80, 80, 3)
UNARY(exp2, -100, 100, 3)
UNARY(expm1, -3, 3, 3)
UNARY(log, 1e-3, 1000, 3)
UNARY(log2, 1e-3, 1000, 3)
UNARY(log10, 1e-3, 1000, 3)
UNARY(log1p, -0.9, 100, 2)
UNARY(cbrt, -1000, 1000, 2)
UNARY(erf, -3, 3, 16)
UNARY(erfc, -3, 3, 16)
UNARY(tgamma, 0.1, 20, 16)

/* The log of the gamma function has zeros at 1 and 2, where only an absolute bound makes sense. */
static void test_lgamma(void) {
  static type_t x[N + SPECIALS], y[N + SPECIALS];
  inputs(x, 2.5, 30);
#pragma omp target teams distribute parallel for map(to : x) map(from : y)
  for (int i = 0; i < N; i++)
    y[i] = NAME(lgamma)(x[i]);
  for (int i = 0; i < N; i++)
    check("lgamma", i, y[i], lgamma((double)x[i]), 16);
}

static void two_arguments(void) {
  static type_t a[N], b[N], out[N][6];
  uint64_t seed = 17;
  for (int i = 0; i < N; i++) {
    a[i] = (type_t)((double)(check_random(&seed) >> 11) * 0x1p-53 * 8 + 0.01);
    b[i] = (type_t)((double)(int64_t)check_random(&seed) * 0x1p-63 * 12);
    if (i % 10 == 0)
      b[i] = (type_t)(i % 7 - 3);
  }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : out)
  for (int i = 0; i < N; i++) {
    out[i][0] = NAME(pow)(a[i], b[i]);
    out[i][1] = NAME(atan2)(a[i] - 4, b[i]);
    out[i][2] = NAME(hypot)(a[i], b[i]);
    out[i][3] = NAME(fmod)(b[i] * 100, a[i]);
    out[i][4] = NAME(remainder)(b[i] * 100, a[i]);
    out[i][5] = NAME(fdim)(a[i], b[i]);
  }
  for (int i = 0; i < N; i++) {
    double x = (double)a[i], y = (double)b[i];
    check("pow", i, out[i][0], pow(x, y), 16);
    check("atan2", i, out[i][1], atan2((double)(type_t)(a[i] - 4), y), 6);
    check("hypot", i, out[i][2], hypot(x, y), 4);
    check("fmod", i, out[i][3], fmod((double)(type_t)(b[i] * 100), x), 0);
    check("remainder", i, out[i][4], remainder((double)(type_t)(b[i] * 100), x), 0);
    check("fdim", i, out[i][5], (double)NAME(fdim)(a[i], b[i]), 0);
  }
}

static void several_results(void) {
  static type_t x[N + SPECIALS], parts[N][2];
  static int exponent[N];
  static long nearest[N];
  inputs(x, -1000, 1000);
#pragma omp target teams distribute parallel for map(to : x) map(from : parts, exponent, nearest)
  for (int i = 0; i < N; i++) {
    type_t whole;
    parts[i][0] = NAME(modf)(x[i], &whole);
    parts[i][1] = whole;
    exponent[i] = NAME(ilogb)(x[i]);
    nearest[i] = NAME(lrint)(x[i]) * 10000 + NAME(lround)(x[i]);
  }
  for (int i = 0; i < N; i++) {
    double whole, part = modf((double)x[i], &whole);
    check("modf fraction", i, parts[i][0], part, 0);
    check("modf whole", i, parts[i][1], whole, 0);
    check_int("ilogb", i, exponent[i], ilogb((double)x[i]));
    check_int("lrint and lround", i, nearest[i], lrint((double)x[i]) * 10000 + lround((double)x[i]));
  }
}

static void all(void) {
  test_exp();
  test_exp2();
  test_expm1();
  test_log();
  test_log2();
  test_log10();
  test_log1p();
  test_cbrt();
  test_erf();
  test_erfc();
  test_tgamma();
  test_lgamma();
  two_arguments();
  several_results();
}
#endif

int main(void) {
  all();
  return check_done(PROGRAM);
}
