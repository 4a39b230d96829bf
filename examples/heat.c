/* Heat spreading through a plate, on an OpenMP device: what script/demo shows. Ends with 0 when the device and the host
 * agree bit for bit. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 256, HEIGHT = 128, STEPS = 20 };

#define AT(plate, x, y) plate[(y) * WIDTH + (x)]

static double mean_of_neighbours(const double *plate, int x, int y) {
  return 0.25 * (AT(plate, x - 1, y) + AT(plate, x + 1, y) + AT(plate, x, y - 1) + AT(plate, x, y + 1));
}

static void heat_edge(double *plate) {
  memset(plate, 0, sizeof(double) * WIDTH * HEIGHT);
  for (int x = 0; x < WIDTH; x++)
    AT(plate, x, 0) = 100.0;
}

/* Both plates stay on the device from the first step to the last. */
static double on_device(double *plate, double *next) {
  double sum = 0.0;
#pragma omp target data map(tofrom : plate[0 : WIDTH * HEIGHT]) map(to : next[0 : WIDTH * HEIGHT])
  {
    for (int step = 0; step < STEPS; step++) {
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++)
          AT(next, x, y) = mean_of_neighbours(plate, x, y);
#pragma omp target teams distribute parallel for collapse(2)
      for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++)
          AT(plate, x, y) = AT(next, x, y);
    }
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < WIDTH * HEIGHT; i++)
      sum += plate[i];
  }
  return sum;
}

static void on_host(double *plate, double *next) {
  for (int step = 0; step < STEPS; step++) {
    for (int y = 1; y < HEIGHT - 1; y++)
      for (int x = 1; x < WIDTH - 1; x++)
        AT(next, x, y) = mean_of_neighbours(plate, x, y);
    for (int y = 1; y < HEIGHT - 1; y++)
      for (int x = 1; x < WIDTH - 1; x++)
        AT(plate, x, y) = AT(next, x, y);
  }
}

/* Rows of the plate from hot to cold, as text. */
static void draw(const double *plate) {
  static const char shade[] = " .:-=+*#%@";
  for (int y = 0; y < 12; y++) {
    printf("    ");
    for (int x = 0; x < WIDTH; x += 4)
      putchar(shade[(int)(AT(plate, x, y) * 0.0999)]);
    putchar('\n');
  }
}

int main(void) {
  const size_t bytes = sizeof(double) * WIDTH * HEIGHT;
  double *plate = malloc(bytes), *expected = malloc(bytes), *scratch = malloc(bytes);
  if (!plate || !expected || !scratch)
    return 2;
  printf("OpenMP devices: %d\n", omp_get_num_devices());
  heat_edge(plate);
  heat_edge(expected);
  heat_edge(scratch);
  const double sum = on_device(plate, scratch);
  heat_edge(scratch);
  on_host(expected, scratch);
  draw(plate);
  double expected_sum = 0.0;
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    expected_sum += expected[i];
  const int same = memcmp(plate, expected, bytes) == 0;
  const int close = fabs(sum - expected_sum) <= 1e-12 * expected_sum;
  printf("%d steps on %d x %d points: the device's plate is %s the host's; sum of heat %.6f, on the host %.6f\n", STEPS,
         WIDTH, HEIGHT, same ? "bit for bit" : "NOT", sum, expected_sum);
  free(plate);
  free(expected);
  free(scratch);
  return same && close ? 0 : 1;
}
