/* See units.cpp. */
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#pragma omp declare target
static int helper(int number) {
  printf("helper %d\n", number);
  return number + 1;
}
#pragma omp end declare target

void print_elsewhere(int number) {
  int result = 0;
#pragma omp target map(tofrom : result)
  {
    result = helper(number);
    assert(result == number + 1);
    char *copy = static_cast<char *>(malloc(20));
    strcpy(copy, "copied");
    puts(copy);
    free(copy);
  }
  printf("result %d\n", result);
}
