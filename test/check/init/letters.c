/* A text is copied without its end, and all of it is made upper case: bytes.
 * expect: Uninitialised values copied to the host: 3 of 64 bytes
 * expect: The value was stored at .*letters.c:[0-9]+
 * expect: from device memory that nothing was written to$ */
#include <stdio.h>
#include <string.h>

enum { N = 64 };

int main(void) {
  char in[N], out[N];
  memset(in, 'a', sizeof in);
  in[N - 1] = 0;
#pragma omp target data map(alloc : in) map(from : out)
  {
#pragma omp target update to(in [0:N - 3 * BUG])
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      out[i] = (char)(in[i] ^ 32); /* BUG */
  }
  printf("%c\n", out[3]);
  return 0;
}
