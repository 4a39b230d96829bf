/* Generic-mode target regions: serial parts and parallel parts by turns, single, master, barrier,
 * sections, reductions inside a region. There is no critical and no parallel region inside another: LLVM
 * 16's device runtime for these GPUs answers the first with a trap, and for the second it needs a device malloc. */
#include "check.h"
#include <omp.h>

enum { N = 500 };

/* Serial code before, between and after parallel loops, on variables of the region. */
static void serial_and_parallel(void) {
  int a[N], sum = 0, last = -1;
#pragma omp target map(from : a) map(tofrom : sum, last)
  {
    int base = 5;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      a[i] = i * base;
    base = 0;
    for (int i = 0; i < N; i++)
      base += a[i];
    sum += base;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      a[i] += base;
    last = a[N - 1];
  }
  int want = 5 * (N * (N - 1) / 2);
  check_int("sum", 0, sum, want);
  check_int("last", 0, last, 5 * (N - 1) + want);
  for (int i = 0; i < N; i++)
    check_int("a", i, a[i], 5 * i + want);
}

/* Thread numbers, barriers, single and master in one parallel region of a known size. */
static void team_constructs(void) {
  int threads = 0, singles = 0, masters = 0, sum = 0, wrong = 0;
  int slot[256];
  memset(slot, 0, sizeof slot);
#pragma omp target map(tofrom : threads, singles, masters, sum, wrong, slot)
#pragma omp parallel num_threads(128)
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    slot[me] = me + 1;
#pragma omp single
    singles++;
#pragma omp master
    {
      threads = all;
      masters++;
    }
#pragma omp barrier
    int next = slot[(me + 1) % all];
    if (next != (me + 1) % all + 1) {
#pragma omp atomic
      wrong++;
    }
#pragma omp atomic
    sum += me;
  }
  check_true("1 <= threads <= 128", threads >= 1 && threads <= 128);
  check_int("singles", 0, singles, 1);
  check_int("masters", 0, masters, 1);
  check_int("wrong neighbours", 0, wrong, 0);
  check_int("sum of numbers", 0, sum, threads * (threads - 1) / 2);
  for (int i = 0; i < 256; i++)
    check_int("slot", i, slot[i], i < threads ? i + 1 : 0);
}

/* sections, and parallel reductions inside a generic region. */
static void sections_and_reductions(void) {
  int s[3] = {0, 0, 0};
  long sum = 0;
  int max = -1, mask = -1;
#pragma omp target map(tofrom : s, sum, max, mask)
  {
#pragma omp parallel sections
    {
#pragma omp section
      s[0] = 10;
#pragma omp section
      s[1] = 20;
#pragma omp section
      s[2] = 30;
    }
    long local = 0;
#pragma omp parallel for reduction(+ : local) reduction(max : max) reduction(& : mask)
    for (int i = 0; i < N; i++) {
      local += i * 3;
      max = max > (i * 37) % N ? max : (i * 37) % N;
      mask &= ~(i & 0x55);
    }
    sum = local;
  }
  for (int i = 0; i < 3; i++)
    check_int("section", i, s[i], 10 * (i + 1));
  check_int("parallel sum", 0, sum, 3L * N * (N - 1) / 2);
  check_int("parallel max", 0, max, N - 1);
  check_int("parallel and", 0, mask, ~0x55);
}

/* An empty region, a region of one thread, and one whose parallel region is behind a call and a condition. */
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

static void calls(void) {
  int a[N], one = 0;
#pragma omp target
  {}
#pragma omp target map(tofrom : one)
  one = 1 + omp_get_thread_num() + omp_get_team_num() + (omp_get_num_threads() - 1) + (omp_get_num_teams() - 1);
  check_int("one", 0, one, 1);
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target map(tofrom : a)
  {
    for (int factor = 3; factor >= 1; factor--)
      scale(a, N, factor);
  }
  for (int i = 0; i < N; i++)
    check_int("calls", i, a[i], -6 * i);
}

int main(void) {
  serial_and_parallel();
  team_constructs();
  sections_and_reductions();
  calls();
  return check_done("generic");
}
