/* See name.h. */
#include "check/name.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/source_line.h"

/* ---- Kernels ---- */

typedef char *demangle_t(const char *name, char *buffer, size_t *length, int *status);

/* As in the source; the caller frees it. NULL when it is no C++ name, or nobody can tell. */
static char *demangle(const char *name) {
  /* ROCr brings the C++ runtime along, which is not for all to see. */
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
  demangle_t *function;
  memcpy(&function, &symbol, sizeof symbol);
  int status = -1;
  char *plain = symbol ? function(name, NULL, NULL, &status) : NULL;
  if (library)
    dlclose(library); /* only the reference that was added above */
  return plain;
}

/* The function in "__omp_offloading_fd00_12ab_main_l7", and its line; NULL for other names. */
static const char *find_function(const char *kernel, size_t *length, unsigned *line) {
  static const char prefix[] = "__omp_offloading_";
  if (strncmp(kernel, prefix, sizeof prefix - 1) != 0)
    return NULL;
  const char *at = kernel + sizeof prefix - 1;
  at += *at == '_'; /* a negative number of the file's device */
  for (unsigned i = 0; i < 2; i++) {
    const size_t digits = strspn(at, "0123456789abcdef");
    if (!digits || at[digits] != '_')
      return NULL;
    at += digits + 1;
  }
  const char *end = NULL;
  for (const char *next = at; (next = strstr(next, "_l")); next++)
    if (next[2] >= '0' && next[2] <= '9')
      end = next;
  if (!end || end == at)
    return NULL;
  *length = (size_t)(end - at);
  *line = (unsigned)strtoul(end + 2, NULL, 10);
  return at;
}

void gs_name_kernel(const char *kernel, char *text, size_t size) {
  size_t length;
  unsigned line;
  const char *function = find_function(kernel, &length, &line);
  char *own = function ? strndup(function, length) : NULL;
  char *plain = demangle(own ? own : kernel);
  if (own)
    snprintf(text, size, "target region in %s at line %u", plain ? plain : own, line);
  else
    snprintf(text, size, "kernel %s", plain ? plain : kernel);
  free(plain);
  free(own);
}

/* ---- Places of the host program ---- */

/* Runtimes are between the program and us in every stack. */
static bool is_between(const char *file) {
  static const char *const names[] = {"libhsa-runtime64.so", "libgfxsim-check.so", "libhsakmt.so", "libc.so",
                                      "libomptarget"};
  const char *name = strrchr(file, '/');
  name = name ? name + 1 : file;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

bool gs_name_host_place(uint64_t address, char *text, size_t size) {
  Dl_info info;
  struct link_map *map = NULL;
  char line[256];
  /* A return address is that of the next line's code, perhaps. */
  if (!dladdr1((const void *)(uintptr_t)(address - 1), &info, (void **)&map, RTLD_DL_LINKMAP) ||
      !info.dli_fname || is_between(info.dli_fname))
    return false;
  const char *path = map && map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
  if (gs_source_line_in_file(path, address - 1 - (map ? map->l_addr : 0), line, sizeof line))
    snprintf(text, size, "%s%s%s%s", line, info.dli_sname ? " (" : "", info.dli_sname ? info.dli_sname : "",
             info.dli_sname ? ")" : "");
  else if (info.dli_sname)
    snprintf(text, size, "%s (in %s)", info.dli_sname, info.dli_fname);
  else
    return false;
  return true;
}
