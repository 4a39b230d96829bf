/* Matrix product in double, plain and tiled through team-local memory. Every element is a chain of fma in the
 * order of k, so host and device agree bit for bit. `dgemm N` times N x N instead of the small sizes of the
 * test. */
#include "check.h"
#include <omp.h>
#include <time.h>

enum { TILE = CHECK_TEAM_LOCAL(16, 2) };

/* libm's, called behind the compiler's back: with -ffast-math it makes a product and a sum of a call it
 * knows. */
static double (*volatile fused)(double, double, double) = fma;

static void plain(int n, const double *a, const double *b, double *c) {
#pragma omp target teams distribute parallel for collapse(2) map(to                                          \
                                                                 : a [0:n * n], b [0:n * n])                 \
    map(from                                                                                                 \
        : c [0:n * n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum = __builtin_fma(a[i * n + k], b[k * n + j], sum);
      c[i * n + j] = sum;
    }
}

/* n is a multiple of TILE. One team computes one tile of c; the tiles of a and b that it needs are staged in
 * memory that the team shares. (c goes to the device so that it has nothing there of the plain product, which
 * may lie in the same memory.) */
static void tiled(int n, const double *a, const double *b, double *c) {
  int tiles = n / TILE;
#pragma omp target teams distribute collapse(2) num_teams(tiles *tiles) thread_limit(TILE *TILE)             \
    map(to                                                                                                   \
        : a [0:n * n], b [0:n * n]) map(tofrom                                                               \
                                        : c [0:n * n])
  for (int ti = 0; ti < tiles; ti++)
    for (int tj = 0; tj < tiles; tj++) {
      double sa[TILE][TILE], sb[TILE][TILE];
      for (int tk = 0; tk < tiles; tk++) {
#pragma omp parallel for collapse(2)
        for (int i = 0; i < TILE; i++)
          for (int j = 0; j < TILE; j++) {
            sa[i][j] = a[(ti * TILE + i) * n + tk * TILE + j];
            sb[i][j] = b[(tk * TILE + i) * n + tj * TILE + j];
          }
#pragma omp parallel for collapse(2)
        for (int i = 0; i < TILE; i++)
          for (int j = 0; j < TILE; j++) {
            int at = (ti * TILE + i) * n + tj * TILE + j;
            double sum = tk == 0 ? 0 : c[at];
            for (int k = 0; k < TILE; k++)
              sum = __builtin_fma(sa[i][k], sb[k][j], sum);
            c[at] = sum;
          }
      }
    }
}

static void run(int n, int with_tiles, int timed) {
  size_t count = (size_t)n * (size_t)n;
  double *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
  double *c = malloc(count * sizeof *c), *want = malloc(count * sizeof *want);
  uint64_t seed = 42;
  for (size_t i = 0; i < count; i++) {
    a[i] = (double)(int64_t)check_random(&seed) * 0x1p-63;
    b[i] = (double)(int64_t)check_random(&seed) * 0x1p-63;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum = fused(a[i * n + k], b[k * n + j], sum);
      want[i * n + j] = sum;
    }
  double start = omp_get_wtime();
  memset(c, 0, count * sizeof *c);
  plain(n, a, b, c);
  if (timed)
    printf("dgemm %d x %d: %.3f s\n", n, n, omp_get_wtime() - start);
  for (size_t i = 0; i < count; i++)
    check_f64("plain", (long)i, c[i], want[i]);
  if (with_tiles) {
    start = omp_get_wtime();
    memset(c, 0, count * sizeof *c);
    tiled(n, a, b, c);
    if (timed)
      printf("dgemm %d x %d tiled: %.3f s\n", n, n, omp_get_wtime() - start);
    for (size_t i = 0; i < count; i++)
      check_f64("tiled", (long)i, c[i], want[i]);
  }
  free(a);
  free(b);
  free(c);
  free(want);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    int n = atoi(argv[1]);
    if (n < 1 || n > 4096) {
      fprintf(stderr, "usage: dgemm [N between 1 and 4096]\n");
      return 2;
    }
    run(n, n % TILE == 0, 1);
  } else {
    run(17, 0, 0);
    run(48, 1, 0);
  }
  return check_done("dgemm");
}
