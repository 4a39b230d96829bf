/* What programs ask of libomptarget, one kind of construct at a time; see bench/repeat.h for what is printed.
 * What an operation needs to be there is mapped before and unmapped behind it: no other finds it in the
 * table. */
#include "../repeat.h"

enum { WORDS = 16, ITERATIONS = 64, PIECES = 8, SOME = 100, LOTS = 100000, OBJECTS = 10 };

typedef struct pair {
  int words;
  double *first, *second;
} pair_t;

#pragma omp declare mapper(deep : pair_t p) map(p, p.first [0:p.words])

static double a[WORDS], b[WORDS], c[WORDS], d[WORDS], e[WORDS], f[WORDS], g[WORDS], h[WORDS];
static double word, strided[2 * PIECES], rows[SOME][WORDS];
static pair_t pairs[OBJECTS];

static void empty(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target
    {}
  }
}

/* The body uses its arguments, so that the compiler passes them; it never stores. */
static void values(long count) {
  long k = count, l = count + 1, m = count + 2, n = count + 3, o = count + 4, p = count + 5, q = count + 6;
  double *nowhere = NULL;
  for (long i = 0; i < count; i++) {
#pragma omp target firstprivate(k, l, m, n, o, p, q) is_device_ptr(nowhere)
    if (nowhere)
      *nowhere = (double)(k + l + m + n + o + p + q);
  }
}

static void enter_arrays(void) {
#pragma omp target enter data map(alloc : a, b, c, d, e, f, g, h)
}

static void exit_arrays(void) {
#pragma omp target exit data map(delete : a, b, c, d, e, f, g, h)
}

static void loop3(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target teams distribute parallel for map(tofrom : a, b, c)
    for (int j = 0; j < ITERATIONS; j++)
      a[j % WORDS] = b[j % WORDS] + c[j % WORDS];
  }
}

static void loop8(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target teams distribute parallel for map(tofrom : a, b, c, d, e, f, g, h)
    for (int j = 0; j < ITERATIONS; j++)
      a[j % WORDS] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0];
  }
}

static void reduction(long count) {
  for (long i = 0; i < count; i++) {
    double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : a, b)
    for (int j = 0; j < ITERATIONS; j++)
      sum += a[j % WORDS] * b[j % WORDS];
  }
}

static void new8(long count) {
  double a[WORDS] = {0}, b[WORDS] = {0}, c[WORDS] = {0}, d[WORDS] = {0};
  double e[WORDS] = {0}, f[WORDS] = {0}, g[WORDS] = {0}, h[WORDS] = {0};
  for (long i = 0; i < count; i++) {
#pragma omp target map(tofrom : a, b, c, d, e, f, g, h)
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = g[0] = h[0] = 1;
  }
}

static void enter_pairs(void) {
  for (int i = 0; i < OBJECTS; i++)
    pairs[i] = (pair_t){WORDS, rows[i], rows[OBJECTS + i]};
}

static void members(long count) {
  pair_t *p = pairs;
  for (long i = 0; i < count; i++) {
#pragma omp target map(tofrom : p->first[:WORDS], p->second[:WORDS])
    p->first[0] = p->second[0];
  }
}

static void mapper1(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target map(mapper(deep), tofrom : pairs [0:1])
    pairs[0].first[0] = 1;
  }
}

static void mapper10(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target map(mapper(deep), tofrom : pairs)
    pairs[0].first[0] = 1;
  }
}

static void data1(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target data map(tofrom : a)
    {}
  }
}

/* Each row is an entry of its own: clauses have no loops, the list of the construct below does not either. */
static void enter_rows(void) {
  for (int i = 0; i < SOME; i++) {
    double *row = rows[i];
#pragma omp target enter data map(alloc : row[:WORDS])
  }
}

static void exit_rows(void) {
  for (int i = 0; i < SOME; i++) {
    double *row = rows[i];
#pragma omp target exit data map(delete : row[:WORDS])
  }
}

#define ROW(i)    rows[i] [0:WORDS]
#define FIVE(i)   ROW(i), ROW(i + 1), ROW(i + 2), ROW(i + 3), ROW(i + 4)
#define TWENTY(i) FIVE(i), FIVE(i + 5), FIVE(i + 10), FIVE(i + 15)

static void data100(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target data map(tofrom : TWENTY(0), TWENTY(20), TWENTY(40), TWENTY(60), TWENTY(80))
    {}
  }
}

static void enter_word(void) {
#pragma omp target enter data map(to : word, strided)
}

static void exit_word(void) {
#pragma omp target exit data map(delete : word, strided)
}

static void update_to(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target update to(word)
  }
}

static void update_from(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target update from(word)
  }
}

static void update_strided(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target update to(strided [0:PIECES:2])
  }
}

static void enter_exit(long count) {
  for (long i = 0; i < count; i++) {
#pragma omp target enter data map(to : word)
#pragma omp target exit data map(delete : word)
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

static void allocate(long count) {
  int device = omp_get_default_device();
  for (long i = 0; i < count; i++)
    omp_target_free(omp_target_alloc(8, device), device);
}

static void is_present(long count) {
  int device = omp_get_default_device();
  for (long i = 0; i < count; i++)
    if (!omp_target_is_present(&word, device))
      exit(1);
}

/* Ranges that no operation uses: associated ones, which take no memory of the device. */
static char others[LOTS][32], *there;

static void enter_among(long count) {
  int device = omp_get_default_device();
  there = omp_target_alloc(32, device);
  for (long i = 0; i < count; i++)
    if (omp_target_associate_ptr(others[i], there, 16, 0, device) != 0)
      fprintf(stderr, "cannot associate range %ld\n", i);
  enter_arrays();
}

static void exit_among(long count) {
  int device = omp_get_default_device();
  exit_arrays();
  for (long i = 0; i < count; i++)
    omp_target_disassociate_ptr(others[i], device);
  omp_target_free(there, device);
}

static void enter_among_some(void) {
  enter_among(SOME);
}
static void exit_among_some(void) {
  exit_among(SOME);
}
static void enter_among_lots(void) {
  enter_among(LOTS);
}
static void exit_among_lots(void) {
  exit_among(LOTS);
}

static const operation_t operations[] = {
    {"empty_target", empty, NULL, NULL},
    {"8_by-value_arguments", values, NULL, NULL},
    {"loop,_3_present_arrays", loop3, enter_arrays, exit_arrays},
    {"loop,_3_present_arrays,_100_others", loop3, enter_among_some, exit_among_some},
    {"loop,_8_present_arrays", loop8, enter_arrays, exit_arrays},
    {"reduction,_2_present", reduction, enter_arrays, exit_arrays},
    {"8_tofrom_maps", new8, NULL, NULL},
    {"struct,_2_pointer_members", members, enter_pairs, NULL},
    {"mapper,_1_object", mapper1, enter_pairs, NULL},
    {"mapper,_10_objects", mapper10, enter_pairs, NULL},
    {"target_data,_1_present", data1, enter_arrays, exit_arrays},
    {"target_data,_100_present", data100, enter_rows, exit_rows},
    {"update_to,_8_bytes", update_to, enter_word, exit_word},
    {"update_from,_8_bytes", update_from, enter_word, exit_word},
    {"strided_update,_8_pieces", update_strided, enter_word, exit_word},
    {"enter_and_exit,_8_bytes", enter_exit, NULL, NULL},
    {"nowait,_depend", nowait, NULL, NULL},
    {"omp_target_alloc_and_free", allocate, NULL, NULL},
    {"omp_target_is_present", is_present, enter_word, exit_word},
    /* last, because it leaves a heap behind in which every malloc takes longer */
    {"loop,_3_present_arrays,_100000_others", loop3, enter_among_lots, exit_among_lots},
};

int main(int argc, char **argv) {
  return repeat_main(argc, argv, operations, sizeof operations / sizeof *operations);
}
