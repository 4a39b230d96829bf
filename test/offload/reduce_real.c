/* Reductions in float or double (REDUCE_TYPE): sums and products of exactly representable values, for which any order
 * gives the same bits; min, max, logical operators, an array as the result, several results of one loop. */
#include "check.h"
#include <float.h>

#ifndef REDUCE_TYPE
#define REDUCE_TYPE double
#endif
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

typedef REDUCE_TYPE type_t;

enum { N = 4001 };

static type_t in[N];

static void check(const char *what, long index, type_t got, type_t want) {
  if (sizeof(type_t) == sizeof(float))
    check_f32(what, index, (float)got, (float)want);
  else
    check_f64(what, index, got, want);
}

static void sums(void) {
  type_t sum = 7, product = 3, low = (type_t)FLT_MAX, high = (type_t)-FLT_MAX, minus = 100;
  type_t want_sum = 7, want_product = 3, want_low = low, want_high = high, want_minus = 100;
  for (int i = 0; i < N; i++) {
    want_sum += in[i];
    want_product *= i % 2 ? (type_t)2 : (type_t)0.5;
    want_low = in[i] < want_low ? in[i] : want_low;
    want_high = in[i] > want_high ? in[i] : want_high;
    want_minus -= in[i];
  }
#pragma omp target teams distribute parallel for map(to : in) map(tofrom : sum, low, high) reduction(+ : sum)          \
    reduction(min : low) reduction(max : high)
  for (int i = 0; i < N; i++) {
    sum += in[i];
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
#pragma omp target teams distribute parallel for map(tofrom : product) reduction(* : product) num_teams(3)
  for (int i = 0; i < N; i++)
    product *= i % 2 ? (type_t)2 : (type_t)0.5;
#pragma omp target teams distribute parallel for map(to : in) map(tofrom : minus) reduction(- : minus)
  for (int i = 0; i < N; i++)
    minus -= in[i];
  check("sum", 0, sum, want_sum);
  check("product", 0, product, want_product);
  check("min", 0, low, want_low);
  check("max", 0, high, want_high);
  check("minus", 0, minus, want_minus);
}

static void logical(void) {
  int every = 1, some = 0;
#pragma omp target parallel for map(to : in) map(tofrom : every, some) reduction(&& : every) reduction(|| : some)
  for (int i = 0; i < N; i++) {
    every = every && in[i] < 1000;
    some = some || in[i] == (type_t)(-1001) / 8;
  }
  check_int("every", 0, every, 1);
  check_int("some", 0, some, 1);
}

static void bins(void) {
  type_t bins[5] = {1, 2, 3, 4, 5}, want[5] = {1, 2, 3, 4, 5};
  for (int i = 0; i < N; i++)
    want[i % 5] += in[i];
#pragma omp target teams distribute parallel for map(to : in) map(tofrom : bins) reduction(+ : bins)
  for (int i = 0; i < N; i++)
    bins[i % 5] += in[i];
  for (int i = 0; i < 5; i++)
    check("bins", i, bins[i], want[i]);
}

int main(void) {
  for (int i = 0; i < N; i++)
    in[i] = (type_t)((i * 7919) % 2003 - 1001) / 8;
  sums();
  logical();
  bins();
  return check_done("reduce " TEXT(REDUCE_TYPE));
}
