/* See name.h. */
#include "check/name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/fortran.h"
#include "check/host.h"
#include "check/text.h"
#include "exec/source_line.h"

/* ---- Kernels ---- */

typedef char *demangle_t(const char *name, char *buffer, size_t *length, int *status);

/* Of the process's C++ runtime, which serves all alike; NULL = there is none. */
static demangle_t *demangler;

void gs_name_prepare(void) {
  /* ROCr brings the C++ runtime along, which is not for all to see. */
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD); /* the reference stays, so it does */
  void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
  memcpy(&demangler, &symbol, sizeof symbol);
}

/* As in the source; the caller frees it. NULL when it is no name of C++ or Fortran, or nobody can tell. What
 * does not begin as those of functions may be a type's: `v` is "void". */
static char *demangle(const char *name) {
  char fortran[GS_PLACE_TEXT];
  int status = -1;
  if (gs_fortran_name(name, fortran, sizeof fortran))
    return strdup(fortran);
  return demangler && !strncmp(name, "_Z", 2) ? demangler(name, NULL, NULL, &status) : NULL;
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

bool gs_name_is_target_region(const char *kernel) {
  size_t length;
  unsigned line;
  return find_function(kernel, &length, &line) != NULL;
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
  static const char *const names[] = {
      "libhsa-runtime64.so", "libgfxsim-check.so", "libhsakmt.so", "libgfxsim-kfd.so", "libc.so",
      "libomptarget",        "libomp.so",          "libiomp5.so"};
  const char *name = strrchr(file, '/');
  name = name ? name + 1 : file;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

bool gs_name_host_place(uint64_t address, char *text, size_t size) {
  gs_host_place_t place;
  char line[256];
  /* A return address is that of the next line's code, perhaps. */
  if (!gs_host_find(address - 1, &place) || is_between(place.path) || !strcmp(place.function, "_start"))
    return false;
  char *plain = demangle(place.function);
  const char *function = plain ? plain : place.function;
  const bool has_line = gs_source_line_in_file(place.path, place.address, line, sizeof line);
  if (has_line)
    snprintf(text, size, "%s%s%s%s", line, *function ? " (" : "", function, *function ? ")" : "");
  else if (*function)
    snprintf(text, size, "%s (in %s)", function, place.path);
  free(plain);
  return has_line || *place.function;
}

bool gs_name_host_has_line(uint64_t address) {
  gs_host_place_t place;
  char line[GS_PLACE_TEXT];
  return gs_host_find(address - 1, &place) && !is_between(place.path) &&
         gs_source_line_in_file(place.path, place.address, line, sizeof line);
}

uint64_t gs_name_host_line(uint64_t address) {
  char place[GS_PLACE_TEXT];
  return gs_name_host_place(address, place, sizeof place) ? gs_text_hash(GS_TEXT_HASH, place) : address;
}
