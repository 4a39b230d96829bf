/* A line whose pieces begin and end at odd places, printed from the device. */
#include <stdio.h>

int main(void) {
#pragma omp target
  printf("%s|%d|%s|%.3f\n", "a string of more than fifty-six bytes, which takes several packets", 7, "odd",
         1.5);
  return 0;
}
