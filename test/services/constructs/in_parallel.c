/* What regions, active or of one thread, say of themselves; and which of them says it, to tell a wrong answer
 * from another region's. */
#include "check.h"

#include <omp.h>

enum { WORDS = 4, REGIONS = 5 };

#pragma omp declare target
static void describe(long *a, long region) {
#pragma omp single
  {
    a[0] = region;
    a[1] = omp_in_parallel();
    a[2] = omp_get_level();
    a[3] = omp_get_active_level();
  }
}
#pragma omp end declare target

/* The whole region is parallel: SPMD mode. */
static void spmd(long *a, long region, int condition) {
#pragma omp target parallel map(from : a[:WORDS]) if (parallel : condition)
  describe(a, region);
}

/* The main thread comes to a region: generic mode. */
static void generic(long *a, long region, int condition) {
#pragma omp target map(from : a[:WORDS])
  {
    a[0] = condition;
#pragma omp parallel if (condition) num_threads(64)
    describe(a, region);
  }
}

static void nested(long *a, long region) {
#pragma omp target parallel map(from : a[:WORDS]) num_threads(64)
  {
    long inner[WORDS];
#pragma omp parallel
    describe(inner, region);
#pragma omp master
    for (int i = 0; i < WORDS; i++)
      a[i] = inner[i];
  }
}

int main(void) {
  static const long expected[REGIONS][WORDS] = {
      {1, 0, 1, 0}, {2, 1, 1, 1}, {3, 0, 1, 0}, {4, 1, 1, 1}, {5, 1, 2, 1}};
  static long a[REGIONS][WORDS];
  spmd(a[0], 1, 0);
  spmd(a[1], 2, 1);
  generic(a[2], 3, 0);
  generic(a[3], 4, 1);
  nested(a[4], 5);
  return compare(a[0], expected[0], REGIONS * WORDS);
}
