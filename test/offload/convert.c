/* Conversions: float and double to and from every integer width, between float, double and half, with values at the
 * edges of each range. Values outside a range are undefined in C and left out. */
#include "check.h"

enum { N = 2000 };

static double values[N];
static int64_t integers[N];

#define TO_INTEGER(name, real, integer, low, high)                                                           \
  static void real##_to_##name(void) {                                                                       \
    static real in[N];                                                                                       \
    static integer out[N];                                                                                   \
    for (int i = 0; i < N; i++) {                                                                            \
      real v = (real)values[i];                                                                              \
      in[i] = v > (real)(low) && v < (real)(high) ? v : (real)(i % 100);                                     \
    }                                                                                                        \
    OMP(target teams distribute parallel for map(to : in) map(from : out))                                   \
    for (int i = 0; i < N; i++)                                                                              \
      out[i] = (integer)in[i];                                                                               \
    for (int i = 0; i < N; i++)                                                                              \
      check_int(#real " to " #name, i, (long long)out[i], (long long)(integer)in[i]);                        \
  }

TO_INTEGER(i8, float, int8_t, -128.9, 127.9)
TO_INTEGER(u8, float, uint8_t, -0.9, 255.9)
TO_INTEGER(i16, float, int16_t, -32768.9, 32767.9)
TO_INTEGER(i32, float, int32_t, -2147483700.0, 2147483648.0)
TO_INTEGER(u32, float, uint32_t, -0.9, 4294967296.0)
TO_INTEGER(i64, float, int64_t, -9223373000000000000.0, 9223372036854775808.0)
TO_INTEGER(u64, float, uint64_t, -0.9, 18446744073709551616.0)
TO_INTEGER(i8, double, int8_t, -128.9, 127.9)
TO_INTEGER(u16, double, uint16_t, -0.9, 65535.9)
TO_INTEGER(i32, double, int32_t, -2147483648.9, 2147483647.9)
TO_INTEGER(u32, double, uint32_t, -0.9, 4294967295.9)
TO_INTEGER(i64, double, int64_t, -9223372036854776833.0, 9223372036854775808.0)
TO_INTEGER(u64, double, uint64_t, -0.9, 18446744073709551616.0)

static void from_integers(void) {
  static float f[N][6];
  static double d[N][6];
#pragma omp target teams distribute parallel for map(to : integers) map(from : f, d)
  for (int i = 0; i < N; i++) {
    int64_t v = integers[i];
    f[i][0] = (float)(int8_t)v;
    f[i][1] = (float)(uint16_t)v;
    f[i][2] = (float)(int32_t)v;
    f[i][3] = (float)(uint32_t)v;
    f[i][4] = (float)v;
    f[i][5] = (float)(uint64_t)v;
    d[i][0] = (double)(uint8_t)v;
    d[i][1] = (double)(int16_t)v;
    d[i][2] = (double)(int32_t)v;
    d[i][3] = (double)(uint32_t)v;
    d[i][4] = (double)v;
    d[i][5] = (double)(uint64_t)v;
  }
  for (int i = 0; i < N; i++) {
    int64_t v = integers[i];
    check_f32("i8 to float", i, f[i][0], (float)(int8_t)v);
    check_f32("u16 to float", i, f[i][1], (float)(uint16_t)v);
    check_f32("i32 to float", i, f[i][2], (float)(int32_t)v);
    check_f32("u32 to float", i, f[i][3], (float)(uint32_t)v);
    check_f32("i64 to float", i, f[i][4], (float)v);
    check_f32("u64 to float", i, f[i][5], (float)(uint64_t)v);
    check_f64("u8 to double", i, d[i][0], (double)(uint8_t)v);
    check_f64("i16 to double", i, d[i][1], (double)(int16_t)v);
    check_f64("i32 to double", i, d[i][2], (double)(int32_t)v);
    check_f64("u32 to double", i, d[i][3], (double)(uint32_t)v);
    check_f64("i64 to double", i, d[i][4], (double)v);
    check_f64("u64 to double", i, d[i][5], (double)(uint64_t)v);
  }
}

/* Narrowing rounds to nearest even, also into denormals and to infinity. */
static void between_reals(void) {
  static float narrow[N], from_half[N];
  static double wide[N];
  static _Float16 half[N];
#pragma omp target teams distribute parallel for map(to : values) map(from : narrow, wide, half, from_half)
  for (int i = 0; i < N; i++) {
    narrow[i] = (float)values[i];
    wide[i] = (double)narrow[i];
    half[i] = (_Float16)narrow[i];
    from_half[i] = (float)half[i];
  }
  for (int i = 0; i < N; i++) {
    float f = (float)values[i];
    _Float16 h = (_Float16)f;
    check_f32("double to float", i, narrow[i], f);
    check_f64("float to double", i, wide[i], (double)f);
    check_f32("float to half", i, (float)half[i], (float)h);
    check_f32("half to float", i, from_half[i], (float)h);
  }
}

int main(void) {
  static const double edges[] = {0.0, -0.0, 0.5, -0.5, 0.99999999, 1.5, 2.5, 127.5, -128.5, 255.5, 32767.5, 65535.5,
                                 2147483647.5, -2147483648.5, 4294967295.5, 16777217.0, 16777219.0, 9007199254740993.0,
                                 9223372036854774784.0, -9223372036854775808.0, 18446744073709549568.0, 0x1p-149,
                                 0x1.8p-149, 0x1p-150, 0x1.8p-150, 0x1.fffffefffffffp127, 0x1.ffffffp127, 65504.0, 65519.0,
                                 65520.0, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.004p0, 0x1.00cp0, 1e300, -1e300, 0x1p-1074};
  uint64_t seed = 271828;
  for (int i = 0; i < N; i++) {
    uint64_t r = check_random(&seed), x = check_random(&seed);
    integers[i] = i < 64 ? (int64_t)(((uint64_t)1 << i) + (r % 3 - 1)) : (int64_t)x >> (r % 64);
    values[i] = i < (int)(sizeof edges / sizeof edges[0]) ? edges[i] : ldexp((double)(int64_t)x, (int)(r % 90) - 85);
  }
  float_to_i8();
  float_to_u8();
  float_to_i16();
  float_to_i32();
  float_to_u32();
  float_to_i64();
  float_to_u64();
  double_to_i8();
  double_to_u16();
  double_to_i32();
  double_to_u32();
  double_to_i64();
  double_to_u64();
  from_integers();
  between_reals();
  return check_done("convert");
}
