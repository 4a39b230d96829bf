/* Data mapping: every map type, present data and reference counts, sections with offsets, update of sections, scalars,
 * zero-length sections, is_device_ptr, use_device_ptr, use_device_addr, if, device and private clauses. */
#include "check.h"

enum { N = 256 };

static void map_types(void) {
  int to[N], from[N], tofrom[N], untouched = 5;
  for (int i = 0; i < N; i++) {
    to[i] = i;
    from[i] = -1;
    tofrom[i] = i * 2;
  }
  int implicit_scalar = 7, first = 0;
  double implicit_double = 0.5;
  int implicit_array[N];
  for (int i = 0; i < N; i++)
    implicit_array[i] = 1;
#pragma omp target map(to : to) map(from : from) map(tofrom : tofrom, first)
  {
    first = implicit_scalar;
    implicit_scalar = 100; /* firstprivate: stays here */
    for (int i = 0; i < N; i++) {
      from[i] = to[i] + tofrom[i];
      tofrom[i] = (int)(implicit_double * to[i]);
      to[i] = -5;
      implicit_array[i] += i; /* arrays are tofrom by default */
    }
  }
  check_int("implicit scalar", 0, implicit_scalar, 7);
  check_int("first", 0, first, 7);
  check_int("untouched", 0, untouched, 5);
  for (int i = 0; i < N; i++) {
    if (check_separate())
      check_int("to", i, to[i], i);
    check_int("from", i, from[i], 3 * i);
    check_int("tofrom", i, tofrom[i], i / 2);
    check_int("implicit array", i, implicit_array[i], i + 1);
  }
}

/* Reference counts: inner maps of present data move nothing, unless `always` says so. */
static void counts(void) {
  if (!check_separate())
    return;
  int a[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma omp target data map(to : a)
  {
    check_true("present inside", omp_target_is_present(a, omp_get_default_device()));
    a[0] = 1000;
#pragma omp target map(tofrom : a)
    a[1] += a[0]; /* the device still has a[0] == 0 */
    check_int("not copied back", 1, a[1], 1);
#pragma omp target map(always, tofrom : a)
    a[2] += a[0]; /* the device now has a[0] == 1000 and a[1] == 1 */
    check_int("always", 2, a[2], 1002);
#pragma omp target map(always, from : a)
    a[3] = 77;
    check_int("always from", 3, a[3], 77);
  }
  check_true("absent after", !omp_target_is_present(a, omp_get_default_device()));

#pragma omp target enter data map(to : a)
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(release : a)
  check_true("one reference left", omp_target_is_present(a, omp_get_default_device()));
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(delete : a)
  check_true("deleted", !omp_target_is_present(a, omp_get_default_device()));
#pragma omp target enter data map(alloc : a)
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    a[i] = i * 9;
#pragma omp target exit data map(from : a)
  for (int i = 0; i < N; i++)
    check_int("alloc then from", i, a[i], i * 9);
}

static void sections(void) {
  double *a = malloc(1000 * sizeof *a);
  for (int i = 0; i < 1000; i++)
    a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : a[300 : 200])
  for (int i = 300; i < 500; i++)
    a[i] = -a[i];
  for (int i = 0; i < 1000; i++)
    check_f64("section", i, a[i], i >= 300 && i < 500 ? -i : i);

  /* Sections of two dimensions, whole rows. */
  int m[20][30];
  for (int i = 0; i < 600; i++)
    m[i / 30][i % 30] = i;
#pragma omp target map(tofrom : m[5 : 10])
#pragma omp parallel for collapse(2)
  for (int i = 5; i < 15; i++)
    for (int j = 0; j < 30; j++)
      m[i][j] += 10000;
  for (int i = 0; i < 600; i++)
    check_int("rows", i, m[i / 30][i % 30], i + (i / 30 >= 5 && i / 30 < 15 ? 10000 : 0));

  /* A section of present data, addressed through another pointer. */
  double *middle = a + 400, sum = 0;
#pragma omp target data map(to : a[0 : 1000])
#pragma omp target map(middle[-100 : 200]) map(tofrom : sum)
  for (int i = -100; i < 100; i++)
    sum += middle[i];
  check_f64("shifted base", 0, sum, -(300.0 + 499.0) * 100);

  double *nothing = NULL;
  int was_null = 0;
#pragma omp target map(to : nothing[0 : 0]) map(from : was_null)
  was_null = nothing == NULL;
  check_int("null section", 0, was_null, 1);
  free(a);
}

static void updates(void) {
  int a[N], m[16][16];
  for (int i = 0; i < N; i++)
    a[i] = m[i / 16][i % 16] = i;
#pragma omp target data map(to : a, m)
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
      a[i] += 1000;
      m[i / 16][i % 16] += 1000;
    }
    if (check_separate()) {
      check_int("not yet", 3, a[3], 3);
#pragma omp target update from(a[10 : 20])
      for (int i = 0; i < N; i++)
        check_int("update from", i, a[i], i >= 10 && i < 30 ? i + 1000 : i);
    }
    for (int i = 0; i < N; i++)
      a[i] = -i;
#pragma omp target update to(a[20 : 50])
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      a[i] *= 2;
#pragma omp target update from(a)
  }
  if (check_separate())
    for (int i = 0; i < N; i++)
      check_int("update to", i, a[i], i >= 20 && i < 70 ? -2 * i : 2 * (i + 1000));
}

static void device_pointers(void) {
  int a[N], sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
  int *p = a, *device = NULL;
#pragma omp target data map(to : p[0 : N]) use_device_ptr(p)
  device = p;
  (void)device;
#pragma omp target data map(tofrom : a)
  {
    int *d;
#pragma omp target data use_device_addr(a)
    d = a;
#pragma omp target is_device_ptr(d) map(tofrom : sum)
    for (int i = 0; i < N; i++) {
      sum += d[i];
      d[i] = 3 * i;
    }
#pragma omp target data use_device_ptr(p)
    check_true("same address both ways", p == d);
  }
  check_int("sum", 0, sum, N * (N - 1) / 2);
  for (int i = 0; i < N; i++)
    check_int("through device pointer", i, a[i], 3 * i);
}

static void clauses(void) {
  int host = -1, device = -1, last = -1, privates[64], shared = 10;
#pragma omp target if (0) map(tofrom : host)
  host = omp_is_initial_device();
#pragma omp target if (1) map(tofrom : device) device(omp_get_default_device())
  device = omp_is_initial_device();
  check_int("if(0) runs on the host", 0, host, 1);
  if (check_separate())
    check_int("if(1) runs on the device", 0, device, 0);
  int p = 5, f = 6;
#pragma omp target teams distribute parallel for private(p) firstprivate(f) lastprivate(last) map(from : privates)         \
    map(tofrom : last)
  for (int i = 0; i < 64; i++) {
    p = i;
    f += 0;
    privates[i] = p * f + shared;
    last = i * 11;
  }
  check_int("private", 0, p, 5);
  check_int("lastprivate", 0, last, 63 * 11);
  for (int i = 0; i < 64; i++)
    check_int("privates", i, privates[i], i * 6 + 10);

  /* Private and firstprivate arrays and structs. */
  struct {
    int tag;
    double values[5];
  } s = {3, {1, 2, 3, 4, 5}};
  short table[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  double out[32];
#pragma omp target teams distribute parallel for firstprivate(s, table) map(from : out) defaultmap(none)
  for (int i = 0; i < 32; i++) {
    s.values[i % 5] += i;
    table[i % 9] = (short)(table[i % 9] * 2);
    out[i] = s.values[i % 5] * s.tag + table[i % 9];
    s.values[i % 5] -= i;
    table[i % 9] = (short)(table[i % 9] / 2);
  }
  for (int i = 0; i < 32; i++)
    check_f64("firstprivate aggregates", i, out[i], (s.values[i % 5] + i) * 3 + (9 - i % 9) * 2);
}

/* Scalars of all sizes as arguments, more than fit into registers. */
static void many_arguments(void) {
  char c = -3;
  unsigned char uc = 200;
  short s = -30000;
  unsigned short us = 60000;
  int i = -2000000000;
  unsigned u = 4000000000u;
  long l = -9000000000000000000;
  unsigned long ul = 18000000000000000000u;
  float f = 1.5f;
  double d = -2.25, d2 = 1e300, d3 = 3, d4 = 4, d5 = 5, d6 = 6, d7 = 7, d8 = 8;
  long l2 = 2, l3 = 3, l4 = 4, l5 = 5, l6 = 6, l7 = 7, l8 = 8, l9 = 9;
  _Bool flag = 1;
  double out[10];
  long more = 0;
#pragma omp target map(from : out) map(tofrom : more)
  {
    out[0] = c;
    out[1] = uc;
    out[2] = s;
    out[3] = us;
    out[4] = i;
    out[5] = u;
    out[6] = (double)l;
    out[7] = (double)ul;
    out[8] = f;
    out[9] = flag ? d : d2;
    more = l2 + 10 * l3 + 100 * l4 + 1000 * l5 + 10000 * l6 + 100000 * l7 + 1000000 * l8 + 10000000 * l9 +
           (long)(d3 + d4 * 2 + d5 * 3 + d6 * 4 + d7 * 5 + d8 * 6);
  }
  double want[10] = {-3, 200, -30000, 60000, -2e9, 4e9, -9e18, 18e18, 1.5, -2.25};
  for (int k = 0; k < 10; k++)
    check_f64("arguments", k, out[k], want[k]);
  check_int("more arguments", 0, more, 98765432 + 3 + 8 + 15 + 24 + 35 + 48);
}

int main(void) {
  map_types();
  counts();
  sections();
  updates();
  device_pointers();
  clauses();
  many_arguments();
  return check_done("mapping");
}
