/* Kernels that are over are held back for a moment before they count as that: what the host's other threads
 * submit meanwhile is not ordered behind them, though it would mostly come too late to be seen beside them.
 * Not here: what is made of kernels and copies that overlap (order.h, kernels.c). */
#ifndef GFXSIM_CHECK_HOLD_H
#define GFXSIM_CHECK_HOLD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gs_hold {
  bool wanted;          /* set once, before anybody is held */
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t came;
  uint64_t begun; /* kernels and copies so far */
  uint32_t vain;  /* holds in a row in which nothing came */
  uint32_t turn;
} gs_hold_t;

void gs_hold_init(gs_hold_t *hold, bool wanted);
void gs_hold_fini(gs_hold_t *hold);

/* A kernel or a copy begins. Thread-safe. */
void gs_hold_begins(gs_hold_t *hold);
/* A kernel is over, and its signal has yet to say so: returns when something else has begun, or after some
 * milliseconds; at once where that was in vain so often that it most likely is again. Thread-safe. */
void gs_hold_back(gs_hold_t *hold);

#endif
