/* What regions, active or of one thread, say of themselves. */
#include "check.h"

#include <omp.h>

enum { WORDS = 3, REGIONS = 5 };

#pragma omp declare target
static void describe(long *a) {
#pragma omp single
  {
    a[0] = omp_in_parallel();
    a[1] = omp_get_level();
    a[2] = omp_get_active_level();
  }
}
#pragma omp end declare target

/* The whole region is parallel: SPMD mode. */
static void spmd(long *a, int condition) {
#pragma omp target parallel map(from : a[:WORDS]) if (parallel : condition)
  describe(a);
}

/* The main thread comes to a region: generic mode. */
static void generic(long *a, int condition) {
#pragma omp target map(from : a[:WORDS])
  {
    a[0] = condition;
#pragma omp parallel if (condition) num_threads(64)
    describe(a);
  }
}

static void nested(long *a) {
#pragma omp target parallel map(from : a[:WORDS]) num_threads(64)
  {
    long inner[WORDS];
#pragma omp parallel
    describe(inner);
#pragma omp master
    for (int i = 0; i < WORDS; i++)
      a[i] = inner[i];
  }
}

int main(void) {
  static const long expected[REGIONS * WORDS] = {0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 2, 1};
  static long a[REGIONS * WORDS];
  spmd(a, 0);
  spmd(a + WORDS, 1);
  generic(a + 2 * WORDS, 0);
  generic(a + 3 * WORDS, 1);
  nested(a + 4 * WORDS);
  return compare(a, expected, REGIONS * WORDS);
}
