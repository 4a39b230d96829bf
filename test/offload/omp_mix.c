/* OpenMP's constructs in little: atomics, reductions, a generic region with serial and parallel parts,
 * team-local memory with barriers between its uses. Builds with every clang from 13 on and at every level,
 * for test/offload/targets. Not here: what only some compilers can do (atomics.c, reduce_*.c, generic.c,
 * teams.c). */
#include "check.h"

enum { N = 3000, BINS = 13 };

static void atomics(void) {
  static int ticket[N], seen[N];
  int counts[BINS] = {0}, want_counts[BINS] = {0}, next = 0, bits = 0;
  unsigned long weight[BINS] = {0}, want_weight[BINS] = {0};
  float sumf[BINS] = {0}, want_sumf[BINS] = {0};
  double sumd[BINS] = {0}, want_sumd[BINS] = {0};
#pragma omp target teams distribute parallel for map(tofrom                                                  \
                                                     : counts, weight, sumf, sumd, next, bits) map(from      \
                                                                                                   : ticket)
  for (int i = 0; i < N; i++) {
    int bin = i * 7 % BINS, mine;
#pragma omp atomic
    counts[bin]++;
#pragma omp atomic
    weight[bin] += (unsigned long)i << 20;
#pragma omp atomic
    sumf[bin] += (float)(i % 64) * 0.25f;
#pragma omp atomic
    sumd[bin] -= i * 0.5;
#pragma omp atomic
    bits |= 1 << i % 31;
#pragma omp atomic capture
    mine = next++;
    ticket[i] = mine;
  }
  for (int i = 0; i < N; i++) {
    int bin = i * 7 % BINS;
    want_counts[bin]++;
    want_weight[bin] += (unsigned long)i << 20;
    want_sumf[bin] += (float)(i % 64) * 0.25f;
    want_sumd[bin] -= i * 0.5;
    check_true("ticket in range", ticket[i] >= 0 && ticket[i] < N);
    if (ticket[i] >= 0 && ticket[i] < N)
      seen[ticket[i]]++;
  }
  for (int b = 0; b < BINS; b++) {
    check_int("counts", b, counts[b], want_counts[b]);
    check_int("weight", b, (long long)weight[b], (long long)want_weight[b]);
    check_f32("float sum", b, sumf[b], want_sumf[b]);
    check_f64("double sum", b, sumd[b], want_sumd[b]);
  }
  check_int("next", 0, next, N);
  check_int("bits", 0, bits, 0x7fffffff);
  for (int i = 0; i < N; i++)
    check_int("every ticket once", i, seen[i], 1);
}

/* The sums are exact in every order of additions. */
static void reductions(void) {
  long sum = 5;
  double real = 0.5;
  int most = -1;
#pragma omp target teams distribute parallel for reduction(+ : sum, real) reduction(max : most)                          \
    map(tofrom : sum, real, most)
  for (int i = 0; i < N; i++) {
    sum += (long)i * i;
    real += i * 0.25;
    most = most > i * 37 % N ? most : i * 37 % N;
  }
  long want = 5;
  for (int i = 0; i < N; i++)
    want += (long)i * i;
  check_int("sum", 0, sum, want);
  check_f64("real sum", 0, real, 0.5 + 0.25 * N * (N - 1) / 2);
  check_int("max", 0, most, N - 1);
}

/* Below, regions in which one thread works between parallel ones. LLVM 13's device runtime cannot run them on
 * AMD GPUs: its __kmpc_target_init lets the idle lanes of the main thread's wave wait in the workers'
 * barrier, which counts waves, so that the workers go on before there is work, find none, and end. */
#if __clang_major__ >= 14
/* Serial code before, between and after parallel loops, on variables of the region; a call behind a
 * condition. */
static void __attribute__((noinline)) scale(int *a, int n, int factor) {
  if (factor > 1) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      a[i] *= factor;
  } else {
    for (int i = 0; i < n; i++)
      a[i] = -a[i];
  }
}

static void generic(void) {
  enum { COUNT = 400 };
  int a[COUNT], sum = 0;
#pragma omp target map(from : a) map(tofrom : sum)
  {
    int base = 5;
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++)
      a[i] = i * base;
    base = 0;
    for (int i = 0; i < COUNT; i++)
      base += a[i];
    sum += base;
    for (int factor = 3; factor >= 1; factor--)
      scale(a, COUNT, factor);
  }
  check_int("serial sum", 0, sum, 5 * (COUNT * (COUNT - 1) / 2));
  for (int i = 0; i < COUNT; i++)
    check_int("generic", i, a[i], i * 5 * -6);
}

/* Each team turns its block of numbers round through memory that its threads share. */
static void team_memory(void) {
  enum { BLOCK = CHECK_TEAM_LOCAL(128, 16), TEAMS = 6 };
  int in[BLOCK * TEAMS], out[BLOCK * TEAMS];
  for (int i = 0; i < BLOCK * TEAMS; i++)
    in[i] = i * i;
#pragma omp target teams distribute num_teams(TEAMS) map(to : in) map(from : out)
  for (int team = 0; team < TEAMS; team++) {
    int block[BLOCK];
#pragma omp parallel for
    for (int i = 0; i < BLOCK; i++)
      block[i] = in[team * BLOCK + i] + team;
#pragma omp parallel for
    for (int i = 0; i < BLOCK; i++)
      out[team * BLOCK + i] = block[BLOCK - 1 - i];
  }
  for (int team = 0; team < TEAMS; team++)
    for (int i = 0; i < BLOCK; i++)
      check_int("team memory", team * BLOCK + i, out[team * BLOCK + i],
                in[team * BLOCK + BLOCK - 1 - i] + team);
}

#endif

int main(void) {
  atomics();
  reductions();
#if __clang_major__ >= 14
  generic();
  team_memory();
#endif
  return check_done("omp_mix");
}
