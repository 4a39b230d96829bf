/* Half precision: arithmetic and comparisons of _Float16, each result rounded to half, and vectors of two and four. */
#include "check.h"

#pragma STDC FP_CONTRACT OFF

enum { N = 2048 };

typedef _Float16 half2 __attribute__((ext_vector_type(2)));

static _Float16 from_bits(uint16_t u) {
  _Float16 h;
  memcpy(&h, &u, sizeof h);
  return h;
}

static void check_half(const char *what, long index, _Float16 got, _Float16 want) {
  check_f32(what, index, (float)got, (float)want);
}

int main(void) {
  static _Float16 a[N], b[N], out[N][5];
  static half2 pairs[N];
  static int flags[N];
  uint64_t seed = 33;
  for (int i = 0; i < N; i++) {
    /* All exponents for a; moderate ones for b. */
    a[i] = from_bits((uint16_t)check_random(&seed));
    b[i] = from_bits((uint16_t)((check_random(&seed) & 0x83ff) | (10 + (uint64_t)i % 12) << 10));
  }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : out, flags, pairs)
  for (int i = 0; i < N; i++) {
    out[i][0] = a[i] + b[i];
    out[i][1] = a[i] - b[i];
    out[i][2] = a[i] * b[i];
    out[i][3] = a[i] / b[i];
    out[i][4] = (_Float16)(float)a[i];
    flags[i] = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] == b[i]) << 2 | (a[i] != a[i]) << 3 | (a[i] > b[i]) << 4;
    half2 x = {a[i], b[i]}, y = {b[i], (_Float16)2.0f};
    half2 z = x * y;
    pairs[i] = z + y;
  }
  for (int i = 0; i < N; i++) {
    /* A product, sum or quotient of halves in float, rounded to half, is the correctly rounded one. */
    check_half("add", i, out[i][0], (_Float16)((float)a[i] + (float)b[i]));
    check_half("sub", i, out[i][1], (_Float16)((float)a[i] - (float)b[i]));
    check_half("mul", i, out[i][2], (_Float16)((float)a[i] * (float)b[i]));
    check_half("div", i, out[i][3], (_Float16)((float)a[i] / (float)b[i]));
    check_half("copy", i, out[i][4], a[i]);
    float fa = (float)a[i], fb = (float)b[i];
    check_int("compare", i, flags[i], (fa < fb) | (fa <= fb) << 1 | (fa == fb) << 2 | (fa != fa) << 3 | (fa > fb) << 4);
    check_half("vector x", i, pairs[i].x, (_Float16)((float)(_Float16)(fa * fb) + fb));
    check_half("vector y", i, pairs[i].y, (_Float16)((float)(_Float16)(fb * 2) + 2));
  }
  return check_done("half");
}
