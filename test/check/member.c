/* What a member points to is mapped with the length that another one has.
 * expect: Invalid [a-z ]+ [48] bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*a block of 160 bytes$
 * more: yes */
#include <stdlib.h>

typedef struct vector {
  int *data;
  int length, used;
} vector_t;

int main(void) {
  vector_t v = {calloc(80, sizeof(int)), 64, BUG ? 40 : 64};
  const int length = v.length;
#pragma omp target enter data map(to : v) map(to : v.data [0:v.used])
#pragma omp target map(tofrom : v)
  for (int i = 0; i < length; i++)
    v.data[i] = i; /* BUG */
#pragma omp target exit data map(release : v.data [0:v.used]) map(release : v)
  free(v.data);
  return 0;
}
