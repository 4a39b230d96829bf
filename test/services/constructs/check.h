/* What the programs of this folder share: a table that is compared with what it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

/* The status of the program. */
static inline int compare(const long *got, const long *expected, int count) {
  for (int i = 0; i < count; i++)
    if (got[i] != expected[i]) {
      printf("[%d] is %ld instead of %ld\n", i, got[i], expected[i]);
      return 1;
    }
  return 0;
}

#endif
