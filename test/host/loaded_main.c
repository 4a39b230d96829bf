/* A program that opens a library with target regions again and again, also after another one was there. */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef int call_t(int);

static int call(const char *path, int value) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  union {
    void *address;
    call_t *function;
  } symbol = {dlsym(library, "add_on_device")};
  int result = symbol.function ? symbol.function(value) : -1;
  const void *counter = dlsym(library, "counter");
  int device = omp_get_default_device();
  int was_there = omp_target_is_present(counter, device);
  dlclose(library);
  /* Its variable has gone with it. */
  return was_there && !omp_target_is_present(counter, device) ? result : -1;
}

static int here(int value) {
#pragma omp target map(tofrom : value)
  value += 1000;
  return value;
}

int main(int argc, char **argv) {
  int wrong = argc < 3;
  for (int round = 0; !wrong && round < 6; round++) {
    wrong += here(round) != round + 1000;
    /* The library's own variable begins anew each time. */
    wrong += call(argv[1 + round % 2], round) != round + 8;
  }
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong;
}
