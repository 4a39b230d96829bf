/* See called.h. Flang names what the source names, and calls the rest "unknown": the data of an array, which
 * is mapped right behind its descriptor, and a variable of a derived type of which only members are mapped,
 * which comes in front of them. */
#include "check/called.h"

#include <stdio.h>
#include <string.h>

#include "check/fortran.h"

static const char all[] = "(:)"; /* of an array */

/* The last name that was one, of the thread's construct. */
static _Thread_local char last[GS_BLOCK_NAME];

void gs_called_construct(void) {
  *last = '\0';
}

const char *gs_called(const char *name, char text[GS_BLOCK_NAME]) {
  if (strcmp(name, "unknown") == 0) {
    const bool is_part = strchr(last, '(') != NULL;
    snprintf(text, GS_BLOCK_NAME, "%.*s%s", GS_BLOCK_NAME - (int)sizeof all, last,
             *last && !is_part ? all : "");
    return text;
  }
  if (!gs_fortran_name(name, text, GS_BLOCK_NAME))
    snprintf(text, GS_BLOCK_NAME, "%s", name);
  snprintf(last, sizeof last, "%s", text);
  return text;
}

/* A name by guess ends as those of arrays do, which is right if the member is of one. */
bool gs_called_whole(const char *whole, const char *name, char text[GS_BLOCK_NAME]) {
  const size_t base = strcspn(whole, "("), length = strlen(whole);
  const char *member = strrchr(name, '%');
  if (!member || (length && (whole[length - 1] != ')' || strncmp(whole, name, base) == 0)))
    return false;
  snprintf(text, GS_BLOCK_NAME, "%.*s", (int)(member - name), name);
  return true;
}
