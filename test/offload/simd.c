/* simd in its combinations: target simd, teams distribute simd, parallel for simd, simdlen, safelen, linear, aligned,
 * collapse, simd reductions, lastprivate; small vectors of the compiler. */
#include "check.h"

enum { N = 777 };

typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));

static float a[N], b[N], c[N];

static void combinations(void) {
  int last = -1, sum = 0;
#pragma omp target simd map(to : a, b) map(from : c) safelen(8)
  for (int i = 0; i < N; i++)
    c[i] = a[i] + b[i];
  for (int i = 0; i < N; i++)
    check_f32("target simd", i, c[i], a[i] + b[i]);
#pragma omp target teams distribute simd map(to : a, b) map(from : c)
  for (int i = 0; i < N; i++)
    c[i] = a[i] - b[i];
  for (int i = 0; i < N; i++)
    check_f32("teams distribute simd", i, c[i], a[i] - b[i]);
#pragma omp target teams distribute parallel for simd simdlen(16) map(to : a, b) map(from : c) lastprivate(last)           \
    map(tofrom : last, sum) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    c[i] = a[i] * b[i];
    last = i;
    sum += i;
  }
  for (int i = 0; i < N; i++)
    check_f32("teams distribute parallel for simd", i, c[i], a[i] * b[i]);
  check_int("last", 0, last, N - 1);
  check_int("sum", 0, sum, N * (N - 1) / 2);
#pragma omp target parallel for simd map(to : a) map(from : c) schedule(static, 4) aligned(a : 4)
  for (int i = 0; i < N; i++)
    c[i] = a[i] * 2;
  for (int i = 0; i < N; i++)
    check_f32("parallel for simd", i, c[i], a[i] * 2);
}

/* A simd loop inside each thread, with a reduction of its own. */
static void inner(void) {
  static long rows[100];
#pragma omp target teams distribute parallel for map(from : rows)
  for (int r = 0; r < 100; r++) {
    long sum = 0;
    int k = 3;
#pragma omp simd reduction(+ : sum) linear(k : 2)
    for (int i = 0; i < 50; i++) {
      sum += (long)r * i + k;
      k += 2;
    }
    rows[r] = sum;
  }
  for (int r = 0; r < 100; r++) {
    long want = 0;
    for (int i = 0; i < 50; i++)
      want += (long)r * i + 3 + 2 * i;
    check_int("inner simd", r, rows[r], want);
  }
}

static void vectors(void) {
  static float4 x[N], y[N];
  static int4 m[N];
  for (int i = 0; i < N; i++)
    x[i] = (float4){a[i], b[i], (float)i, -1};
#pragma omp target teams distribute parallel for map(to : x) map(from : y, m)
  for (int i = 0; i < N; i++) {
    float4 v = x[i];
    y[i] = v * v.yxwz + v.x;
    m[i] = (v < v.wzyx) & (int4){1, 2, 4, 8};
  }
  for (int i = 0; i < N; i++) {
    float4 v = x[i];
    float w[4] = {v.x * v.y, v.y * v.x, v.z * v.w, v.w * v.z};
    int4 mask = (v < v.wzyx) & (int4){1, 2, 4, 8};
    for (int k = 0; k < 4; k++) {
      check_f32("vector", i * 4 + k, y[i][k], w[k] + v.x);
      check_int("mask", i * 4 + k, m[i][k], mask[k]);
    }
  }
}

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = (float)(i % 97) * 0.25f;
    b[i] = (float)(i % 31) - 15;
  }
  combinations();
  inner();
  vectors();
  return check_done("simd");
}
