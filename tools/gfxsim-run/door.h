/* Which door a program's ROCr needs: the thunk's library, which older ones load, or the kernel driver's
 * interface, for those that have their thunk inside. Not here: what follows from it (main.c). */
#ifndef RUN_DOOR_H
#define RUN_DOOR_H

#include <limits.h>
#include <stdbool.h>

typedef struct run_door {
  bool kfd;                     /* else the thunk */
  char why[2 * PATH_MAX + 200]; /* a line for people */
  char rocr[PATH_MAX];          /* the file; empty if none was found */
} run_door_t;

/* Chooses: `wanted` is "thunk", "kfd", or NULL where the ROCr decides that the program words[0] will load, or
 * its arguments if they are programs. Without a ROCr it is the thunk. */
void run_choose_door(const char *wanted, char *const *words, run_door_t *door);

/* Whether a ROCr has the processor "gfx1100" in its table, by the names that are in the file. True where it
 * has no such names at all. */
bool run_rocr_knows(const char *path, const char *processor);

#endif
