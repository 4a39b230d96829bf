/* Asynchronous target regions: nowait with depend chains, graphs that join and fork, taskwait, taskgroup, enter and exit
 * data and update as tasks, and host tasks between device tasks. */
#include "check.h"

enum { N = 512 };

static void chain(void) {
  int a[N], b[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target enter data map(to : a) map(alloc : b) nowait depend(out : a, b)
#pragma omp target teams distribute parallel for nowait depend(in : a) depend(out : b)
    for (int i = 0; i < N; i++)
      b[i] = a[i] + 1;
#pragma omp target teams distribute parallel for nowait depend(inout : b)
    for (int i = 0; i < N; i++)
      b[i] *= 3;
#pragma omp target teams distribute parallel for nowait depend(in : b) depend(out : a)
    for (int i = 0; i < N; i++)
      a[i] = b[N - 1 - i] - 1;
#pragma omp target exit data map(from : a, b) nowait depend(inout : a, b)
#pragma omp taskwait
  }
  for (int i = 0; i < N; i++) {
    check_int("chain b", i, b[i], (i + 1) * 3);
    check_int("chain a", i, a[i], (N - i) * 3 - 1);
  }
}

/* A diamond, repeated: one source, four middles, one sink, with host tasks mixed in. */
static void diamond(void) {
  enum { ROUNDS = 5 };
  int source[N], middle[4][N], sink[N], host_sum = 0;
  for (int i = 0; i < N; i++)
    source[i] = i % 10;
#pragma omp parallel
#pragma omp single
  {
    for (int round = 0; round < ROUNDS; round++) {
      for (int m = 0; m < 4; m++) {
        int *out = middle[m];
#pragma omp target teams distribute parallel for nowait map(to : source) map(from : out[0 : N]) depend(in : source)       \
    depend(out : middle[m]) firstprivate(m)
        for (int i = 0; i < N; i++)
          out[i] = source[i] * (m + 1);
      }
#pragma omp target teams distribute parallel for nowait map(to : middle) map(from : sink)                                  \
    depend(in : middle[0], middle[1], middle[2], middle[3]) depend(out : sink)
      for (int i = 0; i < N; i++)
        sink[i] = middle[0][i] + middle[1][i] + middle[2][i] + middle[3][i];
#pragma omp task depend(in : sink) depend(inout : source) shared(source, sink, host_sum)
      for (int i = 0; i < N; i++) {
        host_sum += sink[i] % 7;
        source[i] = sink[i] % 10;
      }
    }
#pragma omp taskwait
  }
  int want_source[N], want_sink[N], want_sum = 0;
  for (int i = 0; i < N; i++)
    want_source[i] = i % 10;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < N; i++) {
      want_sink[i] = want_source[i] * 10;
      want_sum += want_sink[i] % 7;
      want_source[i] = want_sink[i] % 10;
    }
  check_int("host tasks", 0, host_sum, want_sum);
  for (int i = 0; i < N; i++)
    check_int("sink", i, sink[i], want_sink[i]);
}

/* Many independent regions in flight at once. */
static void independent(void) {
  enum { TASKS = 40 };
  static int out[TASKS][64];
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    for (int t = 0; t < TASKS; t++) {
      int *mine = out[t];
#pragma omp target parallel for nowait map(from : mine[0 : 64]) firstprivate(t)
      for (int i = 0; i < 64; i++)
        mine[i] = t * 1000 + i;
    }
  }
  for (int t = 0; t < TASKS; t++)
    for (int i = 0; i < 64; i++)
      check_int("independent", t * 64 + i, out[t][i], t * 1000 + i);
}

/* Without a surrounding parallel region; updates as tasks. */
static void updates(void) {
  int a[N], sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = 1;
#pragma omp target enter data map(to : a)
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target update to(a) nowait depend(out : a)
#pragma omp target teams distribute parallel for nowait map(tofrom : sum) reduction(+ : sum) depend(inout : a)
  for (int i = 0; i < N; i++) {
    sum += a[i];
    a[i] = -a[i];
  }
#pragma omp target update from(a) nowait depend(in : a)
#pragma omp taskwait
#pragma omp target exit data map(release : a)
  check_int("sum", 0, sum, N * (N - 1) / 2);
  for (int i = 0; i < N; i++)
    check_int("updated", i, a[i], -i);
}

int main(void) {
  chain();
  diamond();
  independent();
  updates();
  return check_done("tasks");
}
