/* The queues of the process, by the ids that the host knows them by.
 * Not here: what queues do (packet/queue.h). */
#ifndef GFXSIM_MACHINE_QUEUES_H
#define GFXSIM_MACHINE_QUEUES_H

#include <hsakmt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "packet/engine.h"

struct gs_machine;
struct gs_queue;
struct gs_gpu;

typedef struct gs_queue_slot {
  struct gs_queue *queue; /* NULL = free */
  bool ending;            /* its thread is being joined */
  bool has_gws;           /* its kernels may meet at barriers of the whole grid */
  struct gs_gpu *gpu;
  HSA_QUEUE_TYPE type;
} gs_queue_slot_t;

/* What a door asks a queue to be. */
typedef struct gs_queue_request {
  HSA_QUEUE_TYPE type; /* AQL, PM4, or one of DMA engines */
  uint32_t percentage; /* 0: does not run until it is updated */
  void *ring;          /* mapped for the GPU at the same address */
  uint64_t ring_bytes; /* a power of two */
  /* AQL: into the host's amd_queue_t. Else: where the indices are, in bytes (DMA) or dwords (PM4); NULL: the
   * machine's own, whose addresses are then left here. */
  uint64_t *read, *write;
  gs_exceptions_t exceptions; /* of AQL queues */
} gs_queue_request_t;

typedef struct gs_queues {
  struct gs_machine *machine;
  pthread_mutex_t lock; /* of the table */
  gs_queue_slot_t *slot;
  uint32_t capacity;
  bool initialized;
} gs_queues_t;

/* Returns 0, or -1 when out of memory. */
int gs_queues_init(gs_queues_t *queues, struct gs_machine *machine, uint32_t capacity)
    __attribute__((warn_unused_result));
/* Stops all queues of a GPU for good, those still to come too: each after its current packet. Thread-safe. */
void gs_queues_evict(gs_queues_t *queues, struct gs_gpu *gpu);
/* Makes a queue. *id is 1 to the capacity, and its place among doorbells, plus one. Thread-safe, as what
 * follows. */
HSAKMT_STATUS gs_queues_create(gs_queues_t *queues, struct gs_gpu *gpu, gs_queue_request_t *request,
                               uint32_t *id);
/* Pauses a queue (0 percent) or lets it run. */
HSAKMT_STATUS gs_queues_update(gs_queues_t *queues, uint32_t id, uint32_t percentage);
HSAKMT_STATUS gs_queues_destroy(gs_queues_t *queues, uint32_t id);
/* Limits a queue's kernels to compute units; `count` bits, a multiple of 32. */
HSAKMT_STATUS gs_queues_set_cu_mask(gs_queues_t *queues, uint32_t id, uint32_t count, const uint32_t *mask);
/* Gives a queue of kernels its GPU's barriers of whole grids, or takes them (0).
 * HSAKMT_STATUS_OUT_OF_RESOURCES while another queue of the GPU has them. */
HSAKMT_STATUS gs_queues_give_gws(gs_queues_t *queues, uint32_t id, uint32_t count);
/* Whether there is any queue of the process. */
bool gs_queues_any(gs_queues_t *queues);
/* Destroys all queues. Accepts a zeroed object. */
void gs_queues_fini(gs_queues_t *queues);

#endif
