/* Names of kernels: what clang encodes in them, and C++ names. The latter are the C++ runtime's to read
 * (__cxa_demangle of its ABI): a grammar of this size is not for a plugin to repeat. The plugin does not link
 * that runtime, which would be wrong beside another one. ROCr is C++, so a process with a GPU has it already;
 * where it is linked into ROCr out of sight, and the program is C, names stay as they are. */
#include "base/name.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_t)(const char *mangled, char *buffer, size_t *bytes, int *status);

/* Stays: its library is not closed, or the program's own. */
static _Atomic(demangle_t) reader;

/* Of libstdc++ as it is loaded, of the program, or of one that is opened for it. Neither is closed again. */
void atmi_name_find_reader(void) {
  static const char library[] = "libstdc++.so.6", symbol[] = "__cxa_demangle";
  void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  void *function = loaded ? dlsym(loaded, symbol) : dlsym(RTLD_DEFAULT, symbol);
  if (!function && (loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL)))
    function = dlsym(loaded, symbol);
  demangle_t demangle;
  memcpy(&demangle, &function, sizeof demangle);
  atomic_store_explicit(&reader, demangle, memory_order_relaxed);
}

/* A name as in the source. Cut with dots if it does not fit. */
static void write_name(const char *mangled, char *text, size_t size) {
  bool is_plain = strncmp(mangled, "_Z", 2) != 0;
  demangle_t demangle = is_plain ? NULL : atomic_load_explicit(&reader, memory_order_relaxed);
  char *plain = demangle ? demangle(mangled, NULL, NULL, NULL) : NULL;
  if ((size_t)snprintf(text, size, "%s", plain ? plain : mangled) >= size)
    memcpy(text + size - 4, "...", 4);
  free(plain);
}

static bool skip_hex(const char **at) {
  size_t digits = strspn(*at, "0123456789abcdef");
  *at += digits;
  return digits && *(*at)++ == '_';
}

bool atmi_name_parse_region(const char *kernel, const char **function, size_t *length, unsigned *line,
                            const char **rest) {
  static const char prefix[] = "__omp_offloading_";
  const char *at = kernel + (sizeof prefix - 1);
  if (strncmp(kernel, prefix, sizeof prefix - 1) != 0)
    return false;
  while (*at == '_') /* clang writes negative device numbers with one more */
    at++;
  for (unsigned numbers = 2; numbers > 0; numbers--) /* of the file's device, and the file */
    if (!skip_hex(&at))
      return false;
  /* The last "_l<digits>", since a function may be called main_l2 itself. */
  const char *end = NULL;
  for (const char *found = at; (found = strstr(found, "_l")); found++)
    if (found[2] >= '0' && found[2] <= '9')
      end = found;
  if (!end || end == at)
    return false;
  *function = at;
  *length = (size_t)(end - at);
  *line = (unsigned)strtoul(end + 2, NULL, 10);
  *rest = end + 2 + strspn(end + 2, "0123456789");
  return true;
}

/* Of a variable with a constructor clang makes kernels as of a region. */
static const char *kind_of(const char *rest) {
  return !strcmp(rest, "_ctor")   ? "constructor of "
         : !strcmp(rest, "_dtor") ? "destructor of "
                                  : "target region in ";
}

atmi_name_t atmi_name_of_kernel(const char *kernel, bool mangled) {
  static const char other[] = "kernel ";
  atmi_name_t name = {.bare = sizeof other - 1};
  char plain[sizeof name.text - 64];
  const char *function, *rest;
  size_t length;
  unsigned line;
  if (mangled || !atmi_name_parse_region(kernel, &function, &length, &line, &rest)) {
    if (!mangled)
      write_name(kernel, plain, sizeof plain);
    snprintf(name.text, sizeof name.text, "%s%s", other, mangled ? kernel : plain);
    return name;
  }
  char *own = strndup(function, length);
  write_name(own ? own : "a function", plain, sizeof plain);
  free(own);
  const char *kind = kind_of(rest);
  name.bare = *kind == 't' ? strlen(kind) : 0;
  snprintf(name.text, sizeof name.text, "%s%s at line %u", kind, plain, line);
  return name;
}
