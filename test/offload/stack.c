/* Private memory: recursion, function pointers, large local arrays, arrays indexed at run time, variable-length arrays,
 * addresses of locals passed down and compared, structs by value. */
#include "check.h"

#pragma omp declare target
static int __attribute__((noinline)) ackermann(int m, int n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static long __attribute__((noinline)) fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int odd(int n);
static int __attribute__((noinline)) even(int n) {
  return n == 0 ? 1 : odd(n - 1);
}
static int __attribute__((noinline)) odd(int n) {
  return n == 0 ? 0 : even(n - 1);
}

/* Quicksort on a private array, recursing on both halves. */
static void __attribute__((noinline)) quicksort(int *a, int low, int high) {
  if (low >= high)
    return;
  int pivot = a[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot)
      i++;
    while (a[j] > pivot)
      j--;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}

typedef struct big {
  double values[12];
  int tag;
} big_t;

static big_t __attribute__((noinline)) make_big(int seed, big_t base) {
  for (int i = 0; i < 12; i++)
    base.values[i] += seed * i;
  base.tag += seed;
  return base;
}

static int add(int a, int b) {
  return a + b;
}
static int subtract(int a, int b) {
  return a - b;
}
static int multiply(int a, int b) {
  return a * b;
}
static int __attribute__((noinline)) apply(int (*f)(int, int), int a, int b) {
  return f(a, b);
}

static int __attribute__((noinline)) many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
                                                    int k, int l, int m, int n, int o, int p, int q, int r, int s, int t,
                                                    int u, int v, int w, int x, int y, int z, double aa, double bb,
                                                    long cc, short dd, char ee, float ff, int gg, int hh, int ii) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n +
         15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t + 21 * u + 22 * v + 23 * w + 24 * x + 25 * y + 26 * z +
         (int)(aa * bb) + (int)cc + dd + ee + (int)ff + gg * hh - ii;
}

/* Local arrays of functions live in a small stack that all threads of a team share (LLVM 16's device runtime), so the
 * table belongs to the loop body that calls this: there it is private. */
static unsigned __attribute__((noinline)) histogram(unsigned *table, int seed) {
  for (int i = 0; i < 300; i++)
    table[i] = 0;
  unsigned x = (unsigned)seed * 2654435761u + 1;
  for (int i = 0; i < 400; i++) {
    x = x * 1664525u + 1013904223u;
    table[(x >> 16) % 300] += x & 0xff;
  }
  unsigned hash = 0;
  for (int i = 0; i < 300; i++)
    hash = hash * 31 + table[i];
  return hash;
}

/* Changes both; returns how far apart they are. */
static int __attribute__((noinline)) advance(int *a, int *b) {
  *a += 1;
  *b += 2;
  return (int)((intptr_t)a - (intptr_t)b);
}

static int __attribute__((noinline)) call_many(int x) {
  return many_arguments(x, 1, x, 2, x, 3, x, 4, x, 5, x, 6, x, 7, x, 8, x, 9, x, 10, x, 11, x, 12, x, 13, x * 0.5, 4.0,
                        x * 3L, (short)(x + 1), (char)(x % 100), (float)x * 2, x, -x, 17);
}
#pragma omp end declare target

enum { N = 130 };

static void recursion(void) {
  int ack[4], parity[N];
  long fib[20];
#pragma omp target teams distribute parallel for map(from : ack)
  for (int i = 0; i < 4; i++)
    ack[i] = ackermann(2, i);
#pragma omp target teams distribute parallel for map(from : fib) thread_limit(64)
  for (int i = 0; i < 20; i++)
    fib[i] = fibonacci(i % 15);
#pragma omp target parallel for map(from : parity)
  for (int i = 0; i < N; i++)
    parity[i] = even(i % 40);
  for (int i = 0; i < 4; i++)
    check_int("ackermann", i, ack[i], ackermann(2, i));
  for (int i = 0; i < 20; i++)
    check_int("fibonacci", i, fib[i], fibonacci(i % 15));
  for (int i = 0; i < N; i++)
    check_int("parity", i, parity[i], i % 40 % 2 == 0);
}

static void sorting(void) {
  static int out[N][50];
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < N; i++) {
    int mine[50];
    for (int j = 0; j < 50; j++)
      mine[j] = (i * 7919 + j * 104729) % 1009;
    quicksort(mine, 0, 49);
    for (int j = 0; j < 50; j++)
      out[i][j] = mine[j];
  }
  for (int i = 0; i < N; i++) {
    int mine[50];
    for (int j = 0; j < 50; j++)
      mine[j] = (i * 7919 + j * 104729) % 1009;
    quicksort(mine, 0, 49);
    for (int j = 0; j < 50; j++)
      check_int("sorted", i * 50 + j, out[i][j], mine[j]);
  }
}

static void pointers_and_structs(void) {
  int called[N], args[N];
  double bigs[N];
#pragma omp target teams distribute parallel for map(from : called, args, bigs)
  for (int i = 0; i < N; i++) {
    int (*table[3])(int, int) = {add, subtract, multiply};
    called[i] = apply(table[i % 3], i, 10) + table[(i + 1) % 3](i, 3);
    args[i] = call_many(i);
    big_t b = {{0}, i};
    for (int k = 0; k < 5; k++)
      b = make_big(i + k, b);
    bigs[i] = b.values[i % 12] + b.tag;
  }
  for (int i = 0; i < N; i++) {
    int (*table[3])(int, int) = {add, subtract, multiply};
    check_int("called", i, called[i], table[i % 3](i, 10) + table[(i + 1) % 3](i, 3));
    check_int("arguments", i, args[i], call_many(i));
    big_t b = {{0}, i};
    for (int k = 0; k < 5; k++)
      b = make_big(i + k, b);
    check_f64("structs", i, bigs[i], b.values[i % 12] + b.tag);
  }
}

static void local_arrays(void) {
  unsigned hashes[N];
  int lengths[N], escaped = 0;
#pragma omp target teams distribute parallel for map(from : hashes, lengths) map(tofrom : escaped)
  for (int i = 0; i < N; i++) {
    unsigned table[300];
    hashes[i] = histogram(table, i);
    /* Two locals have two addresses, and each thread sees its own values behind them. */
    int x = i, y = i;
    int distance = advance(&x, &y);
    if (distance == 0 || x != i + 1 || y != i + 2) {
#pragma omp atomic
      escaped++;
    }
    lengths[i] = x + y;
  }
  for (int i = 0; i < N; i++) {
    unsigned table[300];
    check_int("hash", i, hashes[i], histogram(table, i));
    check_int("locals", i, lengths[i], 2 * i + 3);
  }
  check_int("escaped", 0, escaped, 0);
}

/* A generic region: locals of the main thread are shared with the parallel region, each thread has a deep stack. */
static void shared_locals(void) {
  enum { COUNT = 64, TABLE = CHECK_TEAM_LOCAL(64, 16) };
  long out[COUNT], total = 0;
#pragma omp target map(from : out) map(tofrom : total)
  {
    long table[TABLE];
    int offset = 3;
    for (int i = 0; i < TABLE; i++)
      table[i] = i * offset;
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++) {
      long mine[20];
      for (int j = 0; j < 20; j++)
        mine[j] = table[(i + j) % TABLE] + fibonacci(j % 8);
      long sum = 0;
      for (int j = 0; j < 20; j++)
        sum += mine[(j * 7) % 20];
      out[i] = sum + offset;
    }
    for (int i = 0; i < COUNT; i++)
      total += out[i];
  }
  long want_total = 0;
  for (int i = 0; i < COUNT; i++) {
    long sum = 3;
    for (int j = 0; j < 20; j++)
      sum += (i + j) % TABLE * 3 + fibonacci(j % 8);
    check_int("shared locals", i, out[i], sum);
    want_total += sum;
  }
  check_int("total", 0, total, want_total);
}

int main(void) {
  recursion();
  sorting();
  pointers_and_structs();
  local_arrays();
  shared_locals();
  return check_done("stack");
}
