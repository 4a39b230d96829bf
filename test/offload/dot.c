/* Dot products as teams reductions: exact in integers, and in floating point on values whose sums are exact. */
#include "check.h"

enum { N = 12345 };

static int ia[N], ib[N];
static float fa[N], fb[N];
static double da[N], db[N];

int main(void) {
  long long want = 0;
  for (int i = 0; i < N; i++) {
    ia[i] = i % 101 - 50;
    ib[i] = i % 13 - 6;
    fa[i] = (float)ia[i];
    fb[i] = (float)ib[i];
    da[i] = ia[i];
    db[i] = ib[i];
    want += (long long)ia[i] * ib[i];
  }
  int isum = 3;
  long lsum = 0;
  float fsum = 0;
  double dsum = 0.5;
#pragma omp target teams distribute parallel for reduction(+ : isum) map(tofrom : isum)
  for (int i = 0; i < N; i++)
    isum += ia[i] * ib[i];
#pragma omp target teams distribute parallel for reduction(+ : lsum) map(tofrom : lsum)
  for (int i = 0; i < N; i++)
    lsum += (long)ia[i] * ib[i];
#pragma omp target teams distribute parallel for reduction(+ : fsum) map(tofrom : fsum)
  for (int i = 0; i < N; i++)
    fsum += fa[i] * fb[i];
#pragma omp target teams distribute parallel for reduction(+ : dsum) map(tofrom : dsum)
  for (int i = 0; i < N; i++)
    dsum += da[i] * db[i];
  check_int("int", 0, isum, want + 3);
  check_int("long", 0, lsum, want);
  check_f32("float", 0, fsum, (float)want);
  check_f64("double", 0, dsum, (double)want + 0.5);

  /* Rounded sums: the order of additions is open, so only a relative bound can be asked for. */
  double rough = 0, reference = 0;
#pragma omp target teams distribute parallel for reduction(+ : rough) map(tofrom : rough) num_teams(16)
  for (int i = 0; i < N; i++)
    rough += 1.0 / (i + 1);
  for (int i = 0; i < N; i++)
    reference += 1.0 / (i + 1);
  check_true("harmonic sum within 1e-13", fabs(rough - reference) <= 1e-13 * reference);

  /* Two results of one loop, and an explicit number of teams and threads. */
  long even = 0, odd = 0;
#pragma omp target teams distribute parallel for reduction(+ : even, odd) map(tofrom : even, odd) num_teams(7)         \
    thread_limit(64)
  for (int i = 0; i < N; i++) {
    if (i % 2 == 0)
      even += i;
    else
      odd += i;
  }
  check_int("even", 0, even, (long)((N + 1) / 2) * ((N + 1) / 2 - 1));
  check_int("odd", 0, odd, (long)(N / 2) * (N / 2));
  return check_done("dot");
}
