/* Preloaded into a program, opens the file in OTHER_ROCR wherever somebody asks for ROCr: so a test can have
 * a machine without one, or with one that is broken, whatever is installed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Found before the C library's. */
__attribute__((visibility("default"))) void *dlopen(const char *path, int mode) {
  void *(*next)(const char *, int);
  const char *other = getenv("OTHER_ROCR");
  *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
  return next(path && other && !strcmp(path, "libhsa-runtime64.so.1") ? other : path, mode);
}
