/* Reductions over more teams than a device runs at once, of several types and sizes, again and again,
 * alternately and at the same time. From 18, their values and counters are in memory that the plugin provides
 * with each launch. */
#include "check.h"

/* Less than 13's device runtime loses, and more than the 1024 places of 18's buffer. */
#if __clang_major__ >= 14
enum { TEAMS = 1500 };
#else
enum { TEAMS = 60 };
#endif
enum { N = 3001, ROUNDS = 3, PARALLEL = 6 };

/* One region each, which all callers share: its kernel has one description, and each launch its own memory.
 */
static long count_bytes(long n) {
  unsigned char any = 0;
  long sum = 0;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(64) reduction(+ : sum) reduction(| : any) \
    map(tofrom : sum, any)
  for (long i = 0; i < n; i++) {
    sum += 2 * i + 1;
    any |= (unsigned char)(1u << (i % 8));
  }
  check_int("bits", n, any, n >= 8 ? 255 : (1 << n) - 1);
  return sum;
}

static void numbers(long n) {
  float small = 1;
  double product = 1, most = -1;
  int parity = 0;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(128) reduction(^ : parity)                \
    reduction(* : product) reduction(max : most) reduction(min : small) map(tofrom : parity, product, most, small)
  for (long i = 0; i < n; i++) {
    parity ^= (int)i;
    product *= i % 100 == 7 ? 2 : 1;
    most = most > (double)i / 4 ? most : (double)i / 4;
    small = small < -(float)i ? small : -(float)i;
  }
  int want_parity = 0;
  double want_product = 1;
  for (long i = 0; i < n; i++) {
    want_parity ^= (int)i;
    want_product *= i % 100 == 7 ? 2 : 1;
  }
  check_int("parity", n, parity, want_parity);
  check_f64("product", n, product, want_product);
  check_f64("most", n, most, (double)(n - 1) / 4);
  check_f64("small", n, (double)small, n > 1 ? -(double)(n - 1) : 0);
}

/* A value of 40 bytes: a larger buffer than the others'. */
typedef struct moments {
  double sum[4];
  long count;
} moments_t;

#pragma omp declare target
static void join(moments_t *out, const moments_t *in) {
  for (int i = 0; i < 4; i++)
    out->sum[i] += in->sum[i];
  out->count += in->count;
}
#pragma omp end declare target
#pragma omp declare reduction(join:moments_t                                                                 \
                              : join(&omp_out, &omp_in)) initializer(omp_priv = {{0, 0, 0, 0}, 0})

static void powers(long n) {
  moments_t got = {{0, 0, 0, 0}, 0};
#pragma omp target teams distribute parallel for num_teams(TEAMS) reduction(join : got) map(tofrom : got)
  for (long i = 0; i < n; i++) {
    double x = (double)(i % 10);
    moments_t one = {{1, x, x * x, x * x * x}, 1};
    join(&got, &one);
  }
  moments_t want = {{0, 0, 0, 0}, 0};
  for (long i = 0; i < n; i++) {
    double x = (double)(i % 10);
    moments_t one = {{1, x, x * x, x * x * x}, 1};
    join(&want, &one);
  }
  for (int i = 0; i < 4; i++)
    check_f64("power", i, got.sum[i], want.sum[i]);
  check_int("count", n, got.count, want.count);
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    long n = round == 1 ? 5 : N; /* fewer iterations than teams: most have nothing to add */
    check_int("sum", round, count_bytes(n), n * n);
    check_int("sum again", round, count_bytes(n), n * n);
    numbers(n);
    powers(n);
    powers(n + 1);
    numbers(n + 1);
  }
  long sums[PARALLEL];
#pragma omp parallel for num_threads(PARALLEL)
  for (int i = 0; i < PARALLEL; i++) {
    sums[i] = count_bytes(N + i);
    sums[i] += count_bytes(N - i);
  }
  for (long i = 0; i < PARALLEL; i++)
    check_int("sum at the same time", i, sums[i], (N + i) * (N + i) + (N - i) * (N - i));
  return check_done("reduce_teams");
}
