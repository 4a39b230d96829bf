/* A library whose constructor runs a kernel that faults, while dlopen loads it and holds the dynamic linker:
 * what reports the fault must not wait for that. Compiled a second time with -DLIBRARY, as PROGRAM.so; see
 * constructor.sh. */
#ifdef LIBRARY
static int numbers[4] = {1, 2, 3, 4};
static int *where = numbers;
static void begin(int *to) {
#pragma omp target is_device_ptr(to)
  to[0] = 1;
}
static void __attribute__((constructor(65535))) load(void) {
  begin(where);
}
#else
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  char path[4096];
  snprintf(path, sizeof path, "%s.so", words[0]);
  void *library = dlopen(path, RTLD_NOW);
  fprintf(stderr, "loaded: %s\n", library ? "yes" : dlerror());
  return count != 1;
}
#endif
