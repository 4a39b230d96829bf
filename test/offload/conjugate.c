/* Conjugate gradients on a sparse matrix: that of 27 points on a grid of three dimensions, as finite elements make it.
 * The solution is known: ones. `conjugate N` times a grid of N x N x N. */
#include "check.h"

#define TOLERANCE 1e-8 /* of the solution, which is 1 everywhere; the residual falls below 1e-10 of the right side */

enum { POINTS = 27, MOST_TURNS = 200 };

typedef struct matrix {
  int rows;
  int *begin, *column; /* row i has the elements begin[i] to begin[i + 1] */
  double *value;
} matrix_t;

static void *take(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    exit(1);
  return memory;
}

static void assemble(matrix_t *m, int n) {
  int count = 0;
  m->rows = n * n * n;
  m->begin = take((size_t)m->rows + 1, sizeof *m->begin);
  m->column = take((size_t)m->rows * POINTS, sizeof *m->column);
  m->value = take((size_t)m->rows * POINTS, sizeof *m->value);
  for (int i = 0; i < m->rows; i++) {
    const int x = i % n, y = i / n % n, z = i / n / n;
    for (int k = 0; k < POINTS; k++) {
      const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
      if (u < 0 || v < 0 || w < 0 || u >= n || v >= n || w >= n)
        continue;
      m->column[count] = (w * n + v) * n + u;
      m->value[count++] = k == POINTS / 2 ? POINTS : -1;
    }
    m->begin[i + 1] = count;
  }
}

static void multiply(const matrix_t *m, const double *x, double *y) {
  const int rows = m->rows, *begin = m->begin, *column = m->column;
  const double *value = m->value;
#pragma omp target teams distribute parallel for map(to : begin[0 : rows + 1], column[0 : rows * POINTS],                  \
                                                     value[0 : rows * POINTS], x[0 : rows]) map(from : y[0 : rows])
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

static double dot(int n, const double *x, const double *y) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : x[0 : n], y[0 : n]) map(tofrom : sum)
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

/* y = a * x + b * y */
static void combine(int n, double a, const double *x, double b, double *y) {
#pragma omp target teams distribute parallel for map(to : x[0 : n]) map(tofrom : y[0 : n])
  for (int i = 0; i < n; i++)
    y[i] = a * x[i] + b * y[i];
}

/* Starts at x = 0 with the right side in r. Returns the number of turns. */
static int solve(const matrix_t *m, double *x, double *r, double *p, double *q) {
  const int n = m->rows;
  double norm = dot(n, r, r);
  const double goal = norm * 1e-20;
  int turns = 0;
  combine(n, 1, r, 0, p);
  while (norm > goal && turns++ < MOST_TURNS) {
    multiply(m, p, q);
    const double step = norm / dot(n, p, q), last = norm;
    combine(n, step, p, 1, x);
    combine(n, -step, q, 1, r);
    norm = dot(n, r, r);
    combine(n, 1, r, norm / last, p);
  }
  return turns;
}

int main(int argc, char **argv) {
  const int n = check_size(argc, argv, 6, 100);
  matrix_t m;
  assemble(&m, n);
  const int rows = m.rows, *begin = m.begin, *column = m.column;
  const double *value = m.value;
  double *x = take((size_t)rows, sizeof *x), *r = take((size_t)rows, sizeof *r);
  double *p = take((size_t)rows, sizeof *p), *q = take((size_t)rows, sizeof *q);
  for (int i = 0; i < rows; i++)
    for (int k = begin[i]; k < begin[i + 1]; k++)
      r[i] += value[k];
  const double start = omp_get_wtime();
  int turns = 0;
#pragma omp target data map(to : begin[0 : rows + 1], column[0 : rows * POINTS], value[0 : rows * POINTS])                 \
    map(to : r[0 : rows], p[0 : rows]) map(tofrom : x[0 : rows]) map(alloc : q[0 : rows])
  turns = solve(&m, x, r, p, q);
  if (argc > 1)
    printf("conjugate: %.6f s\n", omp_get_wtime() - start);
  for (int i = 0; i < rows; i++)
    check_near("solution", i, x[i], 1, TOLERANCE, 1);
  check_true("it converges", turns > 0 && turns < MOST_TURNS);
  return check_done("conjugate");
}
