/* Which mutant runs: the number in MUTANT, 0 for none. Included by the files that mutants.py has changed, in
 * a copy of the sources. */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdlib.h>

__attribute__((unused)) static int mutant_chosen;

__attribute__((constructor(101))) static void mutant_choose(void) {
  const char *number = getenv("MUTANT");
  mutant_chosen = number ? atoi(number) : 0;
}

#endif
