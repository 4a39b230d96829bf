/* The assembler of a newer LLVM, found when it is asked for. Not here: what an assembler does (assembler.c).
 */
#include "assembler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef ISA_ASSEMBLER_22
/* ISO C has no way from an object's address to a function's; POSIX says that this is one. */
static bool find(void *module, const char *name, void *function) {
  void *const symbol = dlsym(module, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol;
}

const isa_assembler_t *isa_assembler_newer(void) {
  static isa_assembler_t assembler;
  if (assembler.run)
    return &assembler;
  void *const module = dlopen(ISA_ASSEMBLER_22, RTLD_NOW | RTLD_LOCAL);
  if (module && find(module, "isa_assembler_run", &assembler.run) &&
      find(module, "isa_object_release", &assembler.release))
    return &assembler;
  (void)fprintf(stderr, "%s: %s\n", ISA_ASSEMBLER_22, dlerror());
  assembler.run = NULL;
  return NULL;
}
#else
const isa_assembler_t *isa_assembler_newer(void) {
  return NULL;
}
#endif
