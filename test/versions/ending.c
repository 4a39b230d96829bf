/* A target region in a function with the attribute destructor, which runs behind all exit handlers. With an
 * argument the device has been in use before. */
#include "../offload/check.h"

static int value;

__attribute__((destructor)) static void after_all(void) {
#pragma omp target map(tofrom : value)
  value += 2;
  fprintf(stderr, "ending: %d\n", value);
}

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1) {
#pragma omp target map(tofrom : value)
    value += 2;
  }
  return 0;
}
