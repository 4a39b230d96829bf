/* A kernel changes the first half of a, the host an element of the second, and all of a goes to the device:
 * what the kernel wrote is undone, and comes back so. In the twin that element goes alone. Of b, which the
 * host fills anew with much the same, kernels write what comes back again; of c nothing comes back; of d the
 * host changes what the kernel has written, but for some of its bytes; and what was written to e has been
 * read.
 *
 * expect: Change by a kernel undone: 200 bytes of `a\[0:N\]`, the first at offset 0
 * expect:    called at .*both_to.c:@LINE@ \(main\)
 * expect:  The kernel's change, which nobody had read
 * expect:    at .*both_to.c:[0-9]+: .*_store_
 * expect:  A copy to the device has brought what the host had there
 * expect:  Hint: `target update to` of what the host has changed alone
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 100 };

int main(void) {
  int *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), *c = calloc(N, sizeof *c);
  int *e = calloc(N, sizeof *e), sum = 0;
  long *d = calloc(N, sizeof *d);
  if (!a || !b || !c || !d || !e)
    return 1;
#pragma omp target enter data map(to : a [0:N], b [0:N], c [0:N], d [0:N], e [0:N])
#pragma omp target
  for (int i = 0; i < N / 2; i++)
    a[i] = 0x01010101 + i;
  a[N - 1] = 7;
#if BUG
#pragma omp target update to(a [0:N]) /* LINE */
#else
#pragma omp target update to(a [N - 1:1])
#endif
#pragma omp target
  for (int i = N / 2; i < N - 1; i++)
    a[i] = a[N - 1] + i;
#pragma omp target exit data map(from : a [0:N])

  for (int times = 0; times < 3; times++) {
    for (int i = 0; i < N; i++)
      b[i] = c[i] = i % 3 ? 0 : times;
#pragma omp target update to(b [0:N], c [0:N])
#pragma omp target
    for (int i = 0; i < N; i++) {
      b[i] += 3 + i;
      c[i] = 4;
    }
  }
#pragma omp target update to(c [0:N])
#pragma omp target exit data map(from : b [0:N]) map(release : c [0:N])

#pragma omp target
  for (int i = 0; i < N; i++)
    d[i] = 0x0101010101010101 * i;
  for (int i = 0; i < N; i++)
    d[i] = 1000 + i;
#pragma omp target update to(d [0:N])
#pragma omp target exit data map(from : d [0:N])

#pragma omp target
  for (int i = 0; i < N; i++)
    e[i] = 5 + i;
#pragma omp target map(tofrom : sum)
  for (int i = 0; i < N; i++)
    sum += e[i];
  e[N - 1] = 1;
#pragma omp target update to(e [0:N])
#pragma omp target exit data map(from : e [0:N])
  printf("%d %d %ld %d\n", a[1] + a[N - 1], b[N - 1], d[N - 1], e[1] + sum);
  free(a);
  free(b);
  free(c);
  free(d);
  free(e);
  return 0;
}
