/* How device code ends a program: ends exit N, ends abort, ends assert. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void at_exit(void) {
  fprintf(stderr, "atexit\n");
}

int main(int argc, char **argv) {
  int what = argc < 2 ? 0 : !strcmp(argv[1], "exit") ? 1 : !strcmp(argv[1], "abort") ? 2 : 3;
  int status = argc > 2 ? atoi(argv[2]) : 0;
  atexit(at_exit);
#pragma omp target
  {
    printf("on the way\n");
    if (what == 1)
      exit(status);
    if (what == 2)
      abort();
    assert(what == 0);
  }
  printf("still there\n");
  return 99;
}
