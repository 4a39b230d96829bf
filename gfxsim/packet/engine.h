/* What the command processor and the DMA engine have in common: a queue's thread drives an engine step by
 * step, and decides between steps whether to go on, to wait or to stop. Engines own no thread, so that tests
 * can step them, except for kernels that overlap (flight.h). Not here: threads and waiting (queue.h), and the
 * packets (aql.h, sdma.h). */
#ifndef GFXSIM_PACKET_ENGINE_H
#define GFXSIM_PACKET_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exec/device.h"
#include "packet/bus.h"

/* Outcome of one step. */
typedef enum gs_step {
  GS_STEP_DONE, /* something was done: step again at once */
  GS_STEP_IDLE, /* nothing to do until the host submits something */
  GS_STEP_WAIT, /* the packet waits for memory to change: step again after a while */
  GS_STEP_HALT, /* the queue is in error: never step again */
} gs_step_t;

/* The compute units that a queue may use: set by the host at any time, read when a kernel starts. */
typedef struct gs_cu_limit {
  pthread_mutex_t lock;
  gs_cu_mask_t mask;
} gs_cu_limit_t;

/* Where a driver with exception support leaves the errors of a queue, for a host that asked for that: a mask
 * is stored (GPU's address), then an event is raised. Requests for scratch memory still go through the
 * queue's own signal. */
typedef struct gs_exceptions {
  uint64_t payload; /* 0: everything goes through the queue's own signal */
  uint32_t event_id;
} gs_exceptions_t;

/* What an engine is made for. Everything that is pointed to must outlive the engine. */
typedef struct gs_engine_config {
  gs_device_t *device;
  uint32_t ordinal;   /* the GPU's number, for messages */
  uint32_t queue;     /* the queue's number, likewise */
  bool execute;       /* false: the program's kernels complete without running (GFXSIM_EXECUTE=0) */
  uint32_t kernel_us; /* and take as many microseconds */
  uint32_t copy_us;   /* how long each copy of the DMA engine takes at least, in microseconds */
  bool no_atomics;    /* see gs_bus_t */
  uint32_t order;     /* GS_ORDER_*: what shall happen in another order than it might */
  uint32_t seed;      /* of chance */
  bool deterministic; /* kernels of one queue run one after another, though in any order */
  _Atomic int *told_not_executed; /* set when the user was told so */
  const gs_packet_ops_t *ops;
  gs_costs_t *costs;       /* of the GPU; NULL = nobody counts */
  const atomic_bool *stop; /* the queue is being destroyed: abandon what runs */
  gs_exceptions_t exceptions;
  gs_cu_limit_t *cus; /* NULL = all of the device's */
} gs_engine_config_t;

/* The compute units that a kernel which begins now may use. */
static inline gs_cu_mask_t gs_engine_cus(const gs_engine_config_t *config) {
  gs_cu_mask_t mask = {0};
  if (config->cus) {
    pthread_mutex_lock(&config->cus->lock);
    mask = config->cus->mask;
    pthread_mutex_unlock(&config->cus->lock);
  }
  return mask;
}

/* What a command that polls memory compares with, by the number that all engines have for it. */
static inline bool gs_poll_holds(uint32_t value, unsigned function, uint32_t reference) {
  switch (function) {
  case 1: return value < reference;
  case 2: return value <= reference;
  case 3: return value == reference;
  case 4: return value != reference;
  case 5: return value >= reference;
  case 6: return value > reference;
  default: return true;
  }
}

/* What a queue's thread knows of its engine. */
typedef struct gs_engine_ops {
  gs_step_t (*step)(void *engine);
  bool (*pending)(const void *engine); /* has the host submitted something? Callable from any thread */
  void (*destroy)(void *engine);
} gs_engine_ops_t;

#endif
