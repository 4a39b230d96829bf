/* 128-bit integers on the device: sums, differences, products, shifts, comparisons and conversions. Division is a library
 * call that the device does not have. */
#include "check.h"

enum { N = 1000, RESULTS = 10 };

typedef unsigned __int128 u128_t;
typedef __int128 s128_t;

#pragma omp declare target
static void compute(u128_t a, u128_t b, u128_t *out) {
  unsigned n = (unsigned)b & 127;
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a << n;
  out[4] = a >> n;
  out[5] = (u128_t)((s128_t)a >> n);
  out[6] = (u128_t)(a < b) | (u128_t)((s128_t)a < (s128_t)b) << 1 | (u128_t)(a == b) << 2;
  out[7] = (a & b) | (~a ^ b);
  out[8] = (u128_t)(s128_t)(int64_t)a + (uint64_t)b;
  out[9] = a % 2 == 0 ? (a >> 1) : a * 3 + 1;
}
#pragma omp end declare target

int main(void) {
  static uint64_t in[N][4];
  static u128_t out[N][RESULTS];
  uint64_t seed = 128;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++) {
      uint64_t r = check_random(&seed);
      in[i][k] = i % 5 == 0 ? (r % 2 == 0 ? 0 : ~(uint64_t)0) : check_random(&seed) >> (r % 64);
    }
#pragma omp target teams distribute parallel for map(to : in) map(from : out)
  for (int i = 0; i < N; i++)
    compute((u128_t)in[i][0] << 64 | in[i][1], (u128_t)in[i][2] << 64 | in[i][3], out[i]);
  for (int i = 0; i < N; i++) {
    u128_t want[RESULTS];
    compute((u128_t)in[i][0] << 64 | in[i][1], (u128_t)in[i][2] << 64 | in[i][3], want);
    for (int k = 0; k < RESULTS; k++) {
      check_int("low half", i * RESULTS + k, (long long)out[i][k], (long long)want[k]);
      check_int("high half", i * RESULTS + k, (long long)(out[i][k] >> 64), (long long)(want[k] >> 64));
    }
  }
  return check_done("int128");
}
