/* Loop schedules on the device: static with and without chunks, in one parallel region, on target regions and on teams.
 * Dynamic, guided, runtime and auto schedules are left out: LLVM 16's device runtime for these GPUs was built from code that
 * needs a device malloc, and without one its dispatch functions are empty. */
#include "check.h"

enum { N = 500 };

/* Worksharing loops one after another in one parallel region; each reads what the one before wrote. */
static void schedules(void) {
  int a[N], b[N], hits[N];
  memset(hits, 0, sizeof hits);
#pragma omp target map(from : a, b) map(tofrom : hits)
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++)
      a[i] = i + 1;
#pragma omp for schedule(static, 3) nowait
    for (int i = 0; i < N; i++)
      b[i] = a[N - 1 - i];
#pragma omp barrier
#pragma omp for schedule(static, 7)
    for (int i = N - 1; i >= 0; i -= 2) {
#pragma omp atomic
      hits[i] += b[N - 1 - i];
    }
#pragma omp for collapse(2) schedule(static, 1)
    for (int i = 0; i < N / 10; i++)
      for (int j = 0; j < 10; j++)
        a[i * 10 + j] += hits[i * 10 + j];
  }
  for (int i = 0; i < N; i++) {
    int hit = i % 2 == 1 ? i + 1 : 0;
    check_int("static", i, a[i], i + 1 + hit);
    check_int("static,3", i, b[i], N - i);
    check_int("static,7", i, hits[i], hit);
  }
}

/* Uneven work, directly in target. */
static void uneven(void) {
  long out[200];
#pragma omp target parallel for schedule(static, 2) map(from : out)
  for (int i = 0; i < 200; i++) {
    long sum = 0;
    for (int j = 0; j <= i; j++)
      sum += (long)j * j;
    out[i] = sum;
  }
  for (int i = 0; i < 200; i++)
    check_int("uneven", i, out[i], (long)i * (i + 1) * (2 * i + 1) / 6);
}

/* dist_schedule and schedule together, odd sizes, negative and non-unit steps, 64-bit and unsigned loop variables. */
static void teams_schedules(void) {
  int a[N], b[N], c[N], d[N];
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  memset(c, 0, sizeof c);
  memset(d, 0, sizeof d);
#pragma omp target teams distribute parallel for dist_schedule(static, 13) schedule(static, 5) map(tofrom : a)
  for (int i = 0; i < N; i++)
    a[i] += i + 1;
#pragma omp target teams distribute parallel for schedule(static, 3) num_teams(4) thread_limit(128) map(tofrom : b)
  for (long i = N - 1; i >= 0; i -= 3)
    b[i] += (int)i + 1;
#pragma omp target teams distribute parallel for schedule(static) num_teams(3) map(tofrom : c)
  for (unsigned i = 7; i < N; i += 5)
    c[i] += (int)i + 1;
#pragma omp target teams distribute dist_schedule(static, 1) num_teams(5) map(tofrom : d)
  for (unsigned long i = 0; i < N; i++)
    d[i] += (int)i + 1;
  for (int i = 0; i < N; i++) {
    check_int("dist static,13 static,5", i, a[i], i + 1);
    check_int("static,3 down", i, b[i], (N - 1 - i) % 3 == 0 ? i + 1 : 0);
    check_int("static step 5", i, c[i], i >= 7 && (i - 7) % 5 == 0 ? i + 1 : 0);
    check_int("distribute static,1", i, d[i], i + 1);
  }
}

int main(void) {
  schedules();
  uneven();
  teams_schedules();
  return check_done("schedule");
}
