/* Cross sections of neutrons, as Monte Carlo transport looks them up: for a random energy in a random material, a binary
 * search in the table of each nuclide of the material, and sums of five interpolated values. `lookup N` times N
 * thousand lookups. */
#include "check.h"

#define TOLERANCE 1e-12 /* of the sums: products may be fused with them or not */

enum { NUCLIDES = 48, POINTS = 1024, CHANNELS = 5, MATERIALS = 12, MOST_IN_MATERIAL = 34 };

typedef struct tables {
  double *energy; /* [NUCLIDES][POINTS], ascending */
  double *value;  /* [NUCLIDES][POINTS][CHANNELS] */
  int *length;    /* [MATERIALS]: nuclides in it */
  int *nuclide;   /* [MATERIALS][MOST_IN_MATERIAL] */
  double *density;
} tables_t;

static void *take(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    exit(1);
  return memory;
}

static void fill(tables_t *t) {
  uint64_t seed = 7;
  t->energy = take(NUCLIDES * POINTS, sizeof *t->energy);
  t->value = take(NUCLIDES * POINTS * CHANNELS, sizeof *t->value);
  t->length = take(MATERIALS, sizeof *t->length);
  t->nuclide = take(MATERIALS * MOST_IN_MATERIAL, sizeof *t->nuclide);
  t->density = take(MATERIALS * MOST_IN_MATERIAL, sizeof *t->density);
  for (int n = 0; n < NUCLIDES; n++)
    for (int p = 0; p < POINTS; p++)
      t->energy[n * POINTS + p] = (p + (double)(check_random(&seed) >> 11) * 0x1p-53) / POINTS;
  for (int i = 0; i < NUCLIDES * POINTS * CHANNELS; i++)
    t->value[i] = (double)(check_random(&seed) >> 11) * 0x1p-53;
  for (int m = 0; m < MATERIALS; m++) {
    t->length[m] = m == 0 ? MOST_IN_MATERIAL : 4 + (int)(check_random(&seed) % 16); /* fuel has most */
    for (int i = 0; i < t->length[m]; i++) {
      t->nuclide[m * MOST_IN_MATERIAL + i] = (m * 5 + i) % NUCLIDES;
      t->density[m * MOST_IN_MATERIAL + i] = (double)(1 + check_random(&seed) % 100) * 0.01;
    }
  }
}

static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/* Sums of all channels for each lookup, on the device or on the host. */
static void look_up(const tables_t *t, double *sum, int lookups, int on_device) {
  const double *energy = t->energy, *value = t->value, *density = t->density;
  const int *length = t->length, *nuclide = t->nuclide;
#pragma omp target teams distribute parallel for if (target : on_device) map(                                              \
    to : energy[0 : NUCLIDES * POINTS], value[0 : NUCLIDES * POINTS * CHANNELS], length[0 : MATERIALS],                    \
    nuclide[0 : MATERIALS * MOST_IN_MATERIAL], density[0 : MATERIALS * MOST_IN_MATERIAL]) map(from : sum[0 : lookups])
  for (int i = 0; i < lookups; i++) {
    const double e = 0.001 + 0.998 * (mix(2 * (uint32_t)i) * 0x1p-32);
    const int m = (int)(mix(2 * (uint32_t)i + 1) % (2 * MATERIALS)) % (MATERIALS + 1) % MATERIALS;
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0;
    for (int k = 0; k < length[m]; k++) {
      const int n = nuclide[m * MOST_IN_MATERIAL + k];
      int low = 0, high = POINTS - 1;
      while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (energy[n * POINTS + middle] > e)
          high = middle;
        else
          low = middle;
      }
      const double *x = &energy[n * POINTS + low], *y = &value[(n * POINTS + low) * CHANNELS];
      const double f = (e - x[0]) / (x[1] - x[0]), d = density[m * MOST_IN_MATERIAL + k];
      a0 += d * (y[0] + f * (y[CHANNELS] - y[0]));
      a1 += d * (y[1] + f * (y[CHANNELS + 1] - y[1]));
      a2 += d * (y[2] + f * (y[CHANNELS + 2] - y[2]));
      a3 += d * (y[3] + f * (y[CHANNELS + 3] - y[3]));
      a4 += d * (y[4] + f * (y[CHANNELS + 4] - y[4]));
    }
    sum[i] = a0 + 2 * a1 + 3 * a2 + 4 * a3 + 5 * a4;
  }
}

int main(int argc, char **argv) {
  const int size = check_size(argc, argv, 1, 10000), lookups = 1000 * size;
  double *got = take((size_t)lookups, sizeof *got), *want = take((size_t)lookups, sizeof *want);
  tables_t tables;
  fill(&tables);
  const double start = omp_get_wtime();
  look_up(&tables, got, lookups, 1);
  if (argc > 1)
    printf("lookup: %.6f s\n", omp_get_wtime() - start);
  look_up(&tables, want, lookups, 0);
  for (int i = 0; i < lookups; i++)
    check_near("sum", i, got[i], want[i], TOLERANCE, 1000);
  return check_done("lookup");
}
