/* A user-mode queue of a GPU: the thread that drives its engine, and how it waits; or no thread
 * (synchronous.h). Not here: what packets do (aql.h, sdma.h), and how the host asks for queues (machine/). */
#ifndef GFXSIM_PACKET_QUEUE_H
#define GFXSIM_PACKET_QUEUE_H

#include <hsa/amd_hsa_queue.h>
#include <stdbool.h>
#include <stdint.h>

#include "packet/bus.h"
#include "packet/engine.h"
#include "packet/gate.h"
#include "packet/synchronous.h"
#include "packet/poller.h"

/* What all queues are made for. Everything that is pointed to must outlive the queue. */
typedef struct gs_queue_config {
  gs_device_t *device;
  uint32_t ordinal;   /* the GPU's number, for messages */
  uint32_t id;        /* the queue's number, likewise */
  bool execute;       /* false: the program's kernels complete without running */
  uint32_t kernel_us; /* and take as many microseconds */
  uint32_t copy_us;   /* see gs_engine_config_t */
  bool no_atomics;    /* see gs_bus_t */
  uint32_t order;     /* see gs_engine_config_t, as what follows */
  uint32_t seed;
  bool deterministic;
  gs_gate_t *gate; /* NULL = always open */
  _Atomic int *told_not_executed;
  const gs_packet_ops_t *ops;
  gs_costs_t *costs; /* see gs_engine_config_t */
  gs_poller_t *poller;
  gs_synchronous_t *synchronous; /* NULL, or what processes the packets instead of a thread of the queue */
  void *ring;                    /* of the host, mapped for the GPU at the same address */
  uint64_t ring_bytes;
  gs_exceptions_t exceptions;
} gs_queue_config_t;

typedef struct gs_queue gs_queue_t;

/* Starts the processing of AQL packets of `queue`. NULL when out of memory or threads. */
gs_queue_t *gs_queue_create_aql(const gs_queue_config_t *config, amd_queue_t *queue);

/* Starts the processing of PM4 commands; the indices count dwords. NULL when out of memory or threads. */
gs_queue_t *gs_queue_create_pm4(const gs_queue_config_t *config, uint64_t *read_index, uint64_t *write_index);

/* Starts the processing of SDMA commands; the indices count bytes. NULL when out of memory or threads. */
gs_queue_t *gs_queue_create_sdma(const gs_queue_config_t *config, uint64_t *read_index,
                                 uint64_t *write_index);

/* Pauses the queue after the current packet, or lets it go on. Returns at once. Thread-safe. */
void gs_queue_set_running(gs_queue_t *queue, bool running);

/* Limits the kernels that start from now on to some of the device's compute units. Returns false, changing
 * nothing, when the mask selects none that exists. Thread-safe. */
bool gs_queue_set_cu_mask(gs_queue_t *queue, const gs_cu_mask_t *mask);

/* Abandons what runs, joins the thread and frees everything. Must not be called by a thread of a queue.
 * Accepts NULL. */
void gs_queue_destroy(gs_queue_t *queue);

#endif
