/* A 2D heat stencil: both grids live on the device under target data; the host changes the boundary and reads
 * the centre row by target update between steps. */
#include "check.h"

/* Sums and products must be rounded one by one on both sides. */
#pragma STDC FP_CONTRACT OFF

enum { W = 70, H = 53, STEPS = 12 };

/* With -ffast-math (-Ofast) both sides may contract and reorder: at most 4 roundings of the largest number
 * per step. */
static void check_cell(const char *what, long index, double got, double want) {
#ifdef __FAST_MATH__
  if (fabs(got - want) > STEPS * 4 * 100 * 0x1p-53)
#endif
    check_f64(what, index, got, want);
}

static void step(const double *from, double *to) {
#pragma omp target teams distribute parallel for collapse(2) map(to                                          \
                                                                 : from [0:W * H]) map(tofrom                \
                                                                                       : to [0:W * H])
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      double sum = from[y * W + x - 1] + from[y * W + x + 1] + from[(y - 1) * W + x] + from[(y + 1) * W + x];
      to[y * W + x] = from[y * W + x] + 0.1 * (sum - 4.0 * from[y * W + x]);
    }
}

static void step_host(const double *from, double *to) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      double sum = from[y * W + x - 1] + from[y * W + x + 1] + from[(y - 1) * W + x] + from[(y + 1) * W + x];
      to[y * W + x] = from[y * W + x] + 0.1 * (sum - 4.0 * from[y * W + x]);
    }
}

static void boundary(double *grid, int t) {
  for (int x = 0; x < W; x++)
    grid[x] = sin(0.1 * (x + t)) * 10;
}

int main(void) {
  double *a = calloc(W * H, sizeof *a), *b = calloc(W * H, sizeof *b);
  double *ha = calloc(W * H, sizeof *ha), *hb = calloc(W * H, sizeof *hb);
  for (int i = 0; i < W * H; i++)
    a[i] = b[i] = ha[i] = hb[i] = (i * 37) % 100;
#pragma omp target data map(tofrom : a [0:W * H]) map(to : b [0:W * H])
  {
    for (int t = 0; t < STEPS; t++) {
      double *from = t % 2 ? b : a, *to = t % 2 ? a : b;
      double *hfrom = t % 2 ? hb : ha, *hto = t % 2 ? ha : hb;
      boundary(from, t);
      boundary(hfrom, t);
#pragma omp target update to(from [0:W])
      step(from, to);
      step_host(hfrom, hto);
#pragma omp target update from(to [(H / 2) * W:W])
      for (int x = 0; x < W; x++)
        check_cell("centre row", t * W + x, to[(H / 2) * W + x], hto[(H / 2) * W + x]);
    }
  }
  for (int i = 0; i < W * H; i++)
    check_cell("final", i, a[i], ha[i]);
  free(a);
  free(b);
  free(ha);
  free(hb);
  return check_done("stencil");
}
