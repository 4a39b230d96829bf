/* What the processes of one machine hold of its cards' memory: a file that all of them have mapped, in which
 * each has a place. Who has gone holds nothing. Not here: what one process allocates (memory.h). */
#ifndef GFXSIM_MACHINE_LEDGER_H
#define GFXSIM_MACHINE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/profile.h"

/* Process id and place of one process. Threads share it; a forked child needs its own. */
typedef struct gs_ledger {
  struct gs_ledger_page *page; /* NULL: this process is alone */
  uint32_t place;
} gs_ledger_t;

/* Takes a place in the file `path`, which is made if it is not there; `bytes` is the memory of each of `gpus`
 * cards. Returns 0, or -1 if that fails, which is described on stderr: no file, one of another machine or of
 * something else, too many processes. An empty path: 0, and the process is alone. */
int gs_ledger_open(gs_ledger_t *ledger, const char *path, const uint64_t bytes[GS_MOST_PARTS], uint32_t gpus)
    __attribute__((warn_unused_result));
/* Gives the place back, with all that was taken. */
void gs_ledger_close(gs_ledger_t *ledger);

/* Takes memory of a card for this process, if the others leave so much of it. Thread-safe, as what follows.
 */
bool gs_ledger_take(const gs_ledger_t *ledger, uint32_t gpu, uint64_t bytes);
void gs_ledger_give(const gs_ledger_t *ledger, uint32_t gpu, uint64_t bytes);
/* What the other processes hold of a card. */
uint64_t gs_ledger_of_others(const gs_ledger_t *ledger, uint32_t gpu);

#endif
