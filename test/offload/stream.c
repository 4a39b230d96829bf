/* Bandwidth: copy, scale, add, triad and dot product of arrays that stay on the device. Their values are known, as every
 * element has the same history. `stream N` times arrays of N thousand doubles, 20 times over. */
#include "check.h"

#define TOLERANCE 1e-12 /* of an element's value, and of the dot product's, whose sums are in another order */
#define FACTOR    0.4

typedef struct arrays {
  double *a, *b, *c;
  int n;
} arrays_t;

static void copy(const arrays_t *s) {
  const int n = s->n;
  const double *a = s->a;
  double *c = s->c;
#pragma omp target teams distribute parallel for map(to : a[0 : n]) map(from : c[0 : n])
  for (int i = 0; i < n; i++)
    c[i] = a[i];
}
static void scale(const arrays_t *s) {
  const int n = s->n;
  const double *c = s->c;
  double *b = s->b;
#pragma omp target teams distribute parallel for map(to : c[0 : n]) map(from : b[0 : n])
  for (int i = 0; i < n; i++)
    b[i] = FACTOR * c[i];
}
static void add(const arrays_t *s) {
  const int n = s->n;
  const double *a = s->a, *b = s->b;
  double *c = s->c;
#pragma omp target teams distribute parallel for map(to : a[0 : n], b[0 : n]) map(from : c[0 : n])
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}
static void triad(const arrays_t *s) {
  const int n = s->n;
  const double *b = s->b, *c = s->c;
  double *a = s->a;
#pragma omp target teams distribute parallel for map(to : b[0 : n], c[0 : n]) map(from : a[0 : n])
  for (int i = 0; i < n; i++)
    a[i] = b[i] + FACTOR * c[i];
}
static double dot(const arrays_t *s) {
  const int n = s->n;
  const double *a = s->a, *b = s->b;
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : a[0 : n], b[0 : n]) map(tofrom : sum)
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

int main(int argc, char **argv) {
  const int size = check_size(argc, argv, 4, 100000), n = 1000 * size + 7, times = argc > 1 ? 20 : 2;
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), *c = malloc((size_t)n * sizeof *c);
  const arrays_t s = {a, b, c, n};
  double wa = 0.1, wb = 0.2, wc = 0, sum = 0;
  if (!a || !b || !c)
    return 1;
  for (int i = 0; i < n; i++)
    a[i] = wa, b[i] = wb, c[i] = wc;
#pragma omp target enter data map(to : a[0 : n], b[0 : n], c[0 : n])
  const double start = omp_get_wtime();
  for (int t = 0; t < times; t++) {
    copy(&s);
    scale(&s);
    add(&s);
    triad(&s);
    sum = dot(&s);
  }
  if (argc > 1)
    printf("stream: %.6f s\n", omp_get_wtime() - start);
#pragma omp target exit data map(from : a[0 : n], b[0 : n], c[0 : n])
  for (int t = 0; t < times; t++) {
    wc = wa;
    wb = FACTOR * wc;
    wc = wa + wb;
    wa = wb + FACTOR * wc;
  }
  for (int i = 0; i < n; i++) {
    check_near("a", i, a[i], wa, TOLERANCE, fabs(wa));
    check_near("b", i, b[i], wb, TOLERANCE, fabs(wb));
    check_near("c", i, c[i], wc, TOLERANCE, fabs(wc));
  }
  check_near("dot", 0, sum, wa * wb * n, TOLERANCE * 1000, fabs(wa * wb * n));
  return check_done("stream");
}
