/* What the programs of this folder share: a table that is compared with what it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

/* The status of the program. Tells of every word that is wrong: together they say more of what went wrong. */
static inline int compare(const long *got, const long *expected, int count) {
  int wrong = 0;
  for (int i = 0; i < count; i++)
    if (got[i] != expected[i]) {
      printf("[%d] is %ld instead of %ld\n", i, got[i], expected[i]);
      wrong = 1;
    }
  return wrong;
}

#endif
