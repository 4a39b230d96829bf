/* Items that begin anywhere: their bytes behind a dword of private memory are in its work-item's next.
 * expect: Uninitialised values copied to the host: 1 of 7 bytes
 * levels: O0 */
#include <stdio.h>

struct seven {
  char letter[7];
};

int main(void) {
  char letters[7] = {0}, first = 'A';
  struct seven copy = {"abcdef"};
#if BUG
#pragma omp target map(from : letters) firstprivate(copy) private(first)
#else
#pragma omp target map(from : letters) firstprivate(copy) firstprivate(first)
#endif
  for (int i = 0; i < 7; i++)
    letters[i] = i ? copy.letter[i] : first;
  printf("%s\n", letters + 1);
  return 0;
}
