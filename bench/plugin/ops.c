/* OpenMP operations of all versions, which the plugins' tables compare; see bench/repeat.h for what is
 * printed. */
#include "../repeat.h"

enum { ITERATIONS = 4096, WORDS = 16 };

static void empty(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target
    {}
  }
}

/* The body uses its arguments, so that the compiler passes them; with count kept from it, it never stores. */
static void arguments(long count) {
  long a = count, b = count + 1, c = count + 2, d = count + 3, e = count + 4, f = count + 5, g = count + 6;
  double *nowhere = NULL;
  for (long i = 0; i < count; i++) {
#pragma omp target firstprivate(a, b, c, d, e, f, g) is_device_ptr(nowhere)
    if (nowhere)
      *nowhere = (double)(a + b + c + d + e + f + g);
  }
}

static void teams(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target teams distribute
    for (int j = 0; j < ITERATIONS; j++)
      __asm__ volatile("");
  }
}

static void map8(long count) {
  double a[WORDS] = {0}, b[WORDS] = {0}, c[WORDS] = {0}, d[WORDS] = {0};
  double e[WORDS] = {0}, f[WORDS] = {0}, g[WORDS] = {0}, h[WORDS] = {0};
  for (long i = 0; i < count; i++) {
#pragma omp target map(tofrom : a, b, c, d, e, f, g, h)
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = g[0] = h[0] = 1;
  }
}

static void nowait(long count) {
  char order;
  for (long i = 0; i < count; i++) {
#pragma omp target nowait depend(inout : order)
    {}
#pragma omp taskwait
  }
}

static double word;

static void update_to(long count) {
#pragma omp target enter data map(alloc : word)
  for (long i = 0; i < count; i++) {
#pragma omp target update to(word)
  }
#pragma omp target exit data map(delete : word)
}

static void update_from(long count) {
#pragma omp target enter data map(to : word)
  for (long i = 0; i < count; i++) {
#pragma omp target update from(word)
  }
#pragma omp target exit data map(delete : word)
}

static void data(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target enter data map(to : word)
#pragma omp target exit data map(delete : word)
  }
}

static const operation_t operations[] = {{"empty", empty, NULL, NULL},
                                         {"arguments", arguments, NULL, NULL},
                                         {"teams", teams, NULL, NULL},
                                         {"map8", map8, NULL, NULL},
                                         {"nowait", nowait, NULL, NULL},
                                         {"update-to", update_to, NULL, NULL},
                                         {"update-from", update_from, NULL, NULL},
                                         {"data", data, NULL, NULL}};

int main(int argc, char **argv) {
  return repeat_main(argc, argv, operations, sizeof operations / sizeof *operations);
}
