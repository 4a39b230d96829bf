/* The queues of the process, by the ids that the host knows them by.
 * Not here: what queues do (packet/queue.h). */
#ifndef GFXSIM_THUNK_QUEUES_H
#define GFXSIM_THUNK_QUEUES_H

#include <hsakmt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gs_thunk;
struct gs_queue;
struct gs_gpu;

typedef struct gs_queue_slot {
  struct gs_queue *queue; /* NULL = free */
  bool ending;            /* its thread is being joined */
  struct gs_gpu *gpu;
  HSA_QUEUE_TYPE type;
} gs_queue_slot_t;

typedef struct gs_queues {
  struct gs_thunk *thunk;
  pthread_mutex_t lock; /* of the table */
  gs_queue_slot_t *slot;
  uint32_t capacity;
  bool initialized;
} gs_queues_t;

/* Returns 0, or -1 when out of memory. */
int gs_queues_init(gs_queues_t *queues, struct gs_thunk *thunk, uint32_t capacity)
    __attribute__((warn_unused_result));
/* Stops all queues of a GPU for good, those still to come too: each after its current packet. Thread-safe. */
void gs_queues_evict(gs_queues_t *queues, struct gs_gpu *gpu);
/* Destroys all queues. Accepts a zeroed object. */
void gs_queues_fini(gs_queues_t *queues);

#endif
