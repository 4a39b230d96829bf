/* A library whose constructor runs a kernel while dlopen loads it, and holds the dynamic linker's lock: what
 * names the places must not wait for that.
 * expect: Invalid write of 4 bytes in target region in begin at line [0-9]+ \(.*constructor.c:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is [0-9]+ bytes behind the end of .*a block of 400 bytes
 * library: yes
 */
#ifdef LIBRARY
#include <omp.h>
#include <stdlib.h>

static void begin(void) {
  int *numbers = omp_target_alloc(100 * sizeof *numbers, omp_get_default_device());
  if (!numbers)
    abort();
#pragma omp target is_device_ptr(numbers)
  numbers[BUG ? 100 : 99] = 1; /* BUG */
  omp_target_free(numbers, omp_get_default_device());
}

/* Behind the constructors that register the region. */
static void __attribute__((constructor(65535))) load(void) {
  begin();
}

int loaded(void) {
  return 7;
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  char path[4096];
  int (*loaded)(void);
  snprintf(path, sizeof path, "%s.so", words[0]);
  void *library = dlopen(path, RTLD_NOW);
  void *symbol = library ? dlsym(library, "loaded") : NULL;
  memcpy(&loaded, &symbol, sizeof symbol);
  if (!symbol)
    fprintf(stderr, "%s\n", dlerror());
  return count == 1 && symbol && loaded() == 7 ? 0 : 1;
}
#endif
