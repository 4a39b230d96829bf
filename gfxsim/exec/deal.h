/* Which workgroup of a grid an executor begins next. Not here: what it takes to run one (device.c). */
#ifndef GFXSIM_EXEC_DEAL_H
#define GFXSIM_EXEC_DEAL_H

#include <stdint.h>

enum { GS_EXECUTORS_MAX = 65 }; /* of a device that work on one dispatch: it has so many threads at most */

/* Numbers of workgroups, the end excluded. */
typedef struct gs_batch {
  uint64_t next, end;
} gs_batch_t;

/* The workgroups of a dispatch that have not begun. Whoever calls holds the dispatch's lock. */
typedef struct gs_deal {
  uint64_t count; /* workgroups in all */
  uint64_t begun;
  uint64_t dealt; /* lower ones have begun or are in a batch */
  uint32_t size;  /* of a batch */
  uint32_t executors;
  gs_batch_t batch[GS_EXECUTORS_MAX]; /* of each executor; only `executors` of them are set */
} gs_deal_t;

/* `count` workgroups for executors 0 to `executors` - 1, of which there are GS_EXECUTORS_MAX at most. */
void gs_deal_init(gs_deal_t *deal, uint64_t count, uint32_t executors);

/* Takes the next workgroup for an executor and returns its number, from 0 on. One must be left. `room` is how
 * many the device could begin now, this one included: all with lower numbers that have not begun still find
 * room when it has. At least 1. */
uint64_t gs_deal_next(gs_deal_t *deal, uint32_t executor, uint64_t room);

/* Workgroups that have not begun. */
static inline uint64_t gs_deal_left(const gs_deal_t *deal) {
  return deal->count - deal->begun;
}

#endif
