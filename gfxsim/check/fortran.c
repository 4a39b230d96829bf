/* See fortran.h. A name is _Q and parts: a capital letter, which says what it is, and what it is called. */
#include "check/fortran.h"

#include <stdio.h>
#include <string.h>

static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789_$.";

/* Of modules, submodules, and procedures that have others in them; blocks have numbers, which nobody wrote.
 */
static bool is_scope(char kind) {
  return strchr("MSF", kind) != NULL;
}

bool gs_fortran_name(const char *name, char *text, size_t size) {
  char whole[256] = "";
  size_t used = 0;
  if (strncmp(name, "_Q", 2) != 0)
    return false;
  if (strcmp(name, "_QQmain") == 0) {
    snprintf(text, size, "main program");
    return true;
  }
  for (const char *at = name + 2; *at;) {
    const char kind = *at++;
    const size_t length = strspn(at, lower);
    if (!strchr("MSFBPEC", kind) || used >= sizeof whole)
      return false;
    /* The main program has no name of its own. */
    if (kind != 'B' && length)
      used += (size_t)snprintf(whole + used, sizeof whole - used, "%.*s%s", (int)length, at,
                               is_scope(kind) && at[length] ? "::" : "");
    at += length;
  }
  if (used)
    snprintf(text, size, "%s", whole);
  return used;
}
