/* Structs with padding, which nobody sets, are copied by memcpy: only what is no padding counts.
 * expect: Uninitialised values copied to the host: 256 of 768 bytes, of `out`
 * runtime: ours */
#include <stdio.h>
#include <string.h>

typedef struct record {
  char letter; /* three bytes of padding, and two at the end */
  int number;
  short small;
} record_t;

int main(void) {
  enum { N = 64 };
  record_t out[N];
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < N; i++) {
    record_t r;
    r.letter = (char)i;
    if (!BUG)
      r.number = i;
    r.small = 2;
    memcpy(&out[i], &r, sizeof r);
  }
  printf("%d\n", out[63].letter);
  return 0;
}
