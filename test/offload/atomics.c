/* Atomics: histograms with update, min, max, capture, write, read, every update operator, compare-exchange, in every type
 * that has atomics; many threads on few places. */
#include "check.h"

enum { N = 6000, BINS = 17 };

static unsigned char input[N];

static void histogram(void) {
  int counts[BINS] = {0};
  unsigned long weight[BINS] = {0};
  float sumf[BINS] = {0};
  double sumd[BINS] = {0};
  int want_counts[BINS] = {0};
  unsigned long want_weight[BINS] = {0};
  float want_sumf[BINS] = {0};
  double want_sumd[BINS] = {0};
#pragma omp target teams distribute parallel for map(tofrom : counts, weight, sumf, sumd) map(to : input)
  for (int i = 0; i < N; i++) {
    int bin = input[i] % BINS;
#pragma omp atomic
    counts[bin]++;
#pragma omp atomic update
    weight[bin] += (unsigned long)i << 20;
#pragma omp atomic
    sumf[bin] += (float)(i % 64) * 0.25f;
#pragma omp atomic
    sumd[bin] -= i * 0.5;
  }
  for (int i = 0; i < N; i++) {
    int bin = input[i] % BINS;
    want_counts[bin]++;
    want_weight[bin] += (unsigned long)i << 20;
    want_sumf[bin] += (float)(i % 64) * 0.25f;
    want_sumd[bin] -= i * 0.5;
  }
  for (int b = 0; b < BINS; b++) {
    check_int("counts", b, counts[b], want_counts[b]);
    check_int("weight", b, (long long)weight[b], (long long)want_weight[b]);
    check_f32("float sum", b, sumf[b], want_sumf[b]);
    check_f64("double sum", b, sumd[b], want_sumd[b]);
  }
}

/* Tickets: capture hands every iteration a number of its own. */
static void capture(void) {
  static int ticket[N], seen[N];
  int next = 0;
  long stepped = 1000000;
  int before_max = -1, xored = 0;
#pragma omp target teams distribute parallel for map(tofrom : next, stepped, before_max, xored) map(from : ticket)
  for (int i = 0; i < N; i++) {
    int mine;
    long other;
#pragma omp atomic capture
    mine = next++;
#pragma omp atomic capture
    {
      stepped -= 3;
      other = stepped;
    }
    int old;
#pragma omp atomic capture
    {
      old = xored;
      xored ^= i;
    }
    if (other < 0 || old < 0) {
#pragma omp atomic write
      before_max = 1;
    }
    ticket[i] = mine;
  }
  int want = 0;
  for (int i = 0; i < N; i++)
    want ^= i;
  check_int("next", 0, next, N);
  check_int("stepped", 0, stepped, 1000000 - 3L * N);
  check_int("xor", 0, xored, want);
  check_int("never negative", 0, before_max, -1);
  for (int i = 0; i < N; i++) {
    check_true("ticket in range", ticket[i] >= 0 && ticket[i] < N);
    if (ticket[i] >= 0 && ticket[i] < N)
      seen[ticket[i]]++;
  }
  for (int i = 0; i < N; i++)
    check_int("every ticket once", i, seen[i], 1);
}

/* The operators that the hardware has and those that become compare-and-swap loops. */
#define OPERATORS(suffix, type)                                                                              \
  static void operators_##suffix(void) {                                                                     \
    type a[8] = {0, 1, (type)-1, 0, 0, (type)1 << (sizeof(type) * 8 - 2), 100, 5};                          \
    type w[8];                                                                                               \
    memcpy(w, a, sizeof w);                                                                                  \
    OMP(target teams distribute parallel for num_teams(5) map(tofrom : a))                                   \
    for (int i = 0; i < 64; i++) {                                                                           \
      OMP(atomic)                                                                                            \
      a[0] += (type)i;                                                                                       \
      OMP(atomic)                                                                                            \
      a[1] *= (type)(2 * i + 1);                                                                             \
      OMP(atomic)                                                                                            \
      a[2] &= (type) ~((type)1 << (i % 5));                                                                  \
      OMP(atomic)                                                                                            \
      a[3] |= (type)((type)1 << (i % 6));                                                                    \
      OMP(atomic)                                                                                            \
      a[4] ^= (type)(i * 37);                                                                                \
      if (i < 3) {                                                                                           \
        OMP(atomic)                                                                                          \
        a[5] /= 2;                                                                                           \
        OMP(atomic)                                                                                          \
        a[7] <<= 1;                                                                                          \
      }                                                                                                      \
      OMP(atomic)                                                                                            \
      a[6] = a[6] - (type)i;                                                                                 \
    }                                                                                                        \
    for (int i = 0; i < 64; i++) {                                                                           \
      w[0] = (type)(w[0] + (type)i);                                                                         \
      w[1] = (type)(w[1] * (type)(2 * i + 1));                                                               \
      w[2] = (type)(w[2] & (type) ~((type)1 << (i % 5)));                                                    \
      w[3] = (type)(w[3] | (type)((type)1 << (i % 6)));                                                      \
      w[4] = (type)(w[4] ^ (type)(i * 37));                                                                  \
      if (i < 3) {                                                                                           \
        w[5] = (type)(w[5] / 2);                                                                             \
        w[7] = (type)(w[7] << 1);                                                                            \
      }                                                                                                      \
      w[6] = (type)(w[6] - (type)i);                                                                         \
    }                                                                                                        \
    for (int k = 0; k < 8; k++)                                                                              \
      check_int("operators " #suffix, k, (long long)a[k], (long long)w[k]);                                  \
  }

OPERATORS(i32, int32_t)
OPERATORS(u32, uint32_t)
OPERATORS(i64, int64_t)
OPERATORS(u64, uint64_t)
OPERATORS(i16, int16_t)
OPERATORS(u8, uint8_t)

/* Floating-point operators without hardware support. */
static void floating(void) {
  double d[3] = {1, 1e6, 0};
  float f[3] = {1, 4096, 0};
#pragma omp target teams distribute parallel for map(tofrom : d, f) num_teams(4)
  for (int i = 0; i < 40; i++) {
#pragma omp atomic
    d[0] *= i % 2 ? 2.0 : 0.5;
#pragma omp atomic
    d[1] = d[1] - i;
#pragma omp atomic
    d[2] += 0.125;
#pragma omp atomic
    f[0] *= i % 2 ? 2.0f : 0.5f;
#pragma omp atomic
    f[1] -= (float)i;
#pragma omp atomic
    f[2] += 0.125f;
  }
  check_f64("double *", 0, d[0], 1);
  check_f64("double -", 0, d[1], 1e6 - 780);
  check_f64("double +", 0, d[2], 5);
  check_f32("float *", 0, f[0], 1);
  check_f32("float -", 0, f[1], 4096 - 780);
  check_f32("float +", 0, f[2], 5);
}

int main(void) {
  uint64_t seed = 7;
  for (int i = 0; i < N; i++)
    input[i] = (unsigned char)(check_random(&seed) >> 40);
  histogram();
  capture();
  operators_i32();
  operators_u32();
  operators_i64();
  operators_u64();
  operators_i16();
  operators_u8();
  floating();
  return check_done("atomics");
}
