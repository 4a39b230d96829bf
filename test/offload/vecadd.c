/* The smallest useful program: c = a + b for several types and sizes, sizes that are no multiple of a workgroup. */
#include "check.h"

static void add_int(int n) {
  int *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
  for (int i = 0; i < n; i++) {
    a[i] = i * 7 - 3;
    b[i] = 1000000 - i;
    c[i] = -1;
  }
#pragma omp target teams distribute parallel for map(to : a[0 : n], b[0 : n]) map(from : c[0 : n])
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
  for (int i = 0; i < n; i++)
    check_int("int", i, c[i], i * 7 - 3 + 1000000 - i);
  free(a);
  free(b);
  free(c);
}

static void add_double(long n) {
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
  for (long i = 0; i < n; i++) {
    a[i] = 1.0 / (double)(i + 1);
    b[i] = (double)i * 0.1;
    c[i] = -1;
  }
#pragma omp target teams distribute parallel for map(to : a[0 : n], b[0 : n]) map(tofrom : c[0 : n])
  for (long i = 0; i < n; i++)
    c[i] = a[i] + b[i];
  for (long i = 0; i < n; i++)
    check_f64("double", i, c[i], a[i] + b[i]);
  free(a);
  free(b);
  free(c);
}

int main(void) {
  static const int sizes[] = {1, 2, 63, 64, 65, 255, 256, 257, 1000, 4096, 20011};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    add_int(sizes[k]);
    add_double(sizes[k]);
  }
  return check_done("vecadd");
}
