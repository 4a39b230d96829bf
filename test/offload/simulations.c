/* Iterative programs: n-body in double, breadth-first search with a queue, Cholesky factorisation. */
#include "check.h"

#pragma STDC FP_CONTRACT OFF

static void nbody(void) {
  enum { BODIES = 60, STEPS = 4 };
  static double p[BODIES][3], v[BODIES][3], q[BODIES][3], u[BODIES][3];
  for (int i = 0; i < BODIES; i++)
    for (int k = 0; k < 3; k++) {
      p[i][k] = q[i][k] = (i * (k + 3) * 7 % 101) * 0.01;
      v[i][k] = u[i][k] = 0;
    }
#pragma omp target data map(tofrom : p, v)
  for (int s = 0; s < STEPS; s++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < BODIES; i++) {
      double f[3] = {0, 0, 0};
      for (int j = 0; j < BODIES; j++) {
        double d[3], r2 = 0.01;
        for (int k = 0; k < 3; k++) {
          d[k] = p[j][k] - p[i][k];
          r2 += d[k] * d[k];
        }
        double scale = 1.0 / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++)
          f[k] += d[k] * scale;
      }
      for (int k = 0; k < 3; k++)
        v[i][k] += 0.001 * f[k];
    }
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < BODIES; i++)
      for (int k = 0; k < 3; k++)
        p[i][k] += 0.001 * v[i][k];
  }
  for (int s = 0; s < STEPS; s++) {
    for (int i = 0; i < BODIES; i++) {
      double f[3] = {0, 0, 0};
      for (int j = 0; j < BODIES; j++) {
        double d[3], r2 = 0.01;
        for (int k = 0; k < 3; k++) {
          d[k] = q[j][k] - q[i][k];
          r2 += d[k] * d[k];
        }
        double scale = 1.0 / (r2 * sqrt(r2));
        for (int k = 0; k < 3; k++)
          f[k] += d[k] * scale;
      }
      for (int k = 0; k < 3; k++)
        u[i][k] += 0.001 * f[k];
    }
    for (int i = 0; i < BODIES; i++)
      for (int k = 0; k < 3; k++)
        q[i][k] += 0.001 * u[i][k];
  }
  for (int i = 0; i < BODIES * 3; i++) {
    check_f64("position", i, p[i / 3][i % 3], q[i / 3][i % 3]);
    check_f64("velocity", i, v[i / 3][i % 3], u[i / 3][i % 3]);
  }
}

/* Level by level; the next frontier is a list with an atomic length. */
static void breadth_first(void) {
  enum { NODES = 800, DEGREE = 4 };
  static int edge[NODES][DEGREE], level[NODES], list[2][NODES], want[NODES];
  for (int i = 0; i < NODES; i++) {
    level[i] = want[i] = -1;
    for (int k = 0; k < DEGREE; k++)
      edge[i][k] = (i * (k + 2) + 7 * k + 1) % NODES;
  }
  int length = 1;
  level[0] = list[0][0] = 0;
#pragma omp target data map(to : edge) map(tofrom : level, list)
  for (int depth = 1; length > 0; depth++) {
    int next = 0, from = (depth + 1) % 2, to = depth % 2;
#pragma omp target teams distribute parallel for map(tofrom : next) firstprivate(from, to, depth, length)
    for (int i = 0; i < length; i++)
      for (int k = 0; k < DEGREE; k++) {
        int n = edge[list[from][i]][k], unseen = -1;
        if (__atomic_compare_exchange_n(&level[n], &unseen, depth, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
          int place;
#pragma omp atomic capture
          place = next++;
          list[to][place] = n;
        }
      }
    length = next;
  }
  static int queue[NODES];
  int head = 0, tail = 1;
  want[0] = queue[0] = 0;
  while (head < tail) {
    int n = queue[head++];
    for (int k = 0; k < DEGREE; k++)
      if (want[edge[n][k]] < 0) {
        want[edge[n][k]] = want[n] + 1;
        queue[tail++] = edge[n][k];
      }
  }
  for (int i = 0; i < NODES; i++)
    check_int("level", i, level[i], want[i]);
}

/* Cholesky factorisation: one generic region, parallel loops of shrinking length. */
static void cholesky(void) {
  enum { N = 32 };
  static double a[N][N], w[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = w[i][j] = (i == j ? N : 0) + 1.0 / (1 + abs(i - j));
#pragma omp target map(tofrom : a)
  for (int k = 0; k < N; k++) {
    a[k][k] = sqrt(a[k][k]);
#pragma omp parallel for
    for (int i = k + 1; i < N; i++)
      a[i][k] = a[i][k] / a[k][k];
#pragma omp parallel for
    for (int j = k + 1; j < N; j++)
      for (int i = j; i < N; i++)
        a[i][j] = a[i][j] - a[i][k] * a[j][k];
  }
  for (int k = 0; k < N; k++) {
    w[k][k] = sqrt(w[k][k]);
    for (int i = k + 1; i < N; i++)
      w[i][k] = w[i][k] / w[k][k];
    for (int j = k + 1; j < N; j++)
      for (int i = j; i < N; i++)
        w[i][j] = w[i][j] - w[i][k] * w[j][k];
  }
  for (int i = 0; i < N * N; i++)
    check_f64("cholesky", i, a[i / N][i % N], w[i / N][i % N]);
}

int main(void) {
  nbody();
  breadth_first();
  cholesky();
  return check_done("simulations");
}
