/* Loads two libraries with device code, uses both, and unloads and loads one again: the other one goes on,
 * and device variables of the new one begin anew. Run as "unload LIBRARY OTHER_LIBRARY". */
#include "../offload/check.h"

#include <dlfcn.h>

enum { N = 500, ROUNDS = 6, FACTOR = 3, OTHER_FACTOR = 10 };

typedef long run_t(int n, long *values);

static run_t *load(const char *path, void **handle) {
  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return (run_t *)dlsym(*handle, "library_run");
}

int main(int count, char **arguments) {
  static long values[N];
  void *first, *other;
  if (count != 3)
    return 2;
  run_t *run_other = load(arguments[2], &other);
  for (int round = 0; round < ROUNDS; round++) {
    run_t *run = load(arguments[1], &first);
    memset(values, 0, sizeof values);
    check_int("calls of a new library", round, run(N, values), 1);
    check_int("calls of the other library", round, run_other(N, values), 2 * round + 1);
    check_int("calls of a new library, again", round, run(N, values), 2);
    dlclose(first);
    check_int("calls of the other library alone", round, run_other(N, values), 2 * round + 2);
    for (int i = 0; i < N; i++)
      check_int("values", i, values[i], 2L * (FACTOR + OTHER_FACTOR) * i);
  }
  dlclose(other);
  return check_done("unload");
}
