// C++ kernels, with C kernels of two_images_c.c: linked into one program, whose device code is one image, or as a shared
// library, which brings a second image. Both sides keep data on the device that the other side uses.
#include "check.h"

extern "C" {
int c_fill(int *a, int n, int start);
long c_sum(const int *a, int n);
int c_counter(void);
}

#pragma omp declare target
static int counter = 40; // the C side has one of the same name
template <typename T> T scale(T x) { return x * 3; }
#pragma omp end declare target

static int bump() {
  int seen = 0;
#pragma omp target map(from : seen)
  seen = ++counter;
  return seen;
}

int main() {
  constexpr int N = 777;
  int *a = new int[N];
  for (int i = 0; i < N; i++)
    a[i] = -1;
#pragma omp target data map(tofrom : a[0 : N])
  {
    check_int("c_fill", 0, c_fill(a, N, 5), N);
#pragma omp target teams distribute parallel for map(tofrom : a[0 : N])
    for (int i = 0; i < N; i++)
      a[i] = scale(a[i]);
    long want = 0;
    for (int i = 0; i < N; i++)
      want += 3L * (i + 5);
    check_int("c_sum", 0, c_sum(a, N), want);
  }
  for (int i = 0; i < N; i++)
    check_int("a", i, a[i], 3 * (i + 5));
  check_int("counter of C++", 0, bump(), 41);
  check_int("counter of C", 0, c_counter(), 1001);
  check_int("counter of C++", 1, bump(), 42);
  check_int("counter of C", 1, c_counter(), 1002);
  delete[] a;
  return check_done("two_images");
}
