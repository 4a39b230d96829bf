/* One GPU: its properties, and the resources that operations on it take. Queues and pools come to life on
 * first use, so that a device nobody uses costs nothing but this struct. */
#ifndef ATMI_DEVICE_DEVICE_H
#define ATMI_DEVICE_DEVICE_H

#include "base/heap.h"
#include "base/pool.h"
#include "device/machine.h"
#include "device/queue.h"
#include "memory/arena.h"
#include "memory/memory.h"

#include <stdatomic.h>

enum { ATMI_DEVICE_QUEUES = 32, ATMI_DEVICE_PLACES_LOG2 = 6 };

typedef struct atmi_stream atmi_stream_t;

/* What a thread leaves for its next use: a cache line of its own, so that threads do not slow each other. */
typedef struct atmi_stream_place {
  _Alignas(64) _Atomic(atmi_stream_t *) stream; /* idle */
  _Atomic(struct atmi_event *) events;          /* free ones that were made here; see stream/event.h */
} atmi_stream_place_t;

/* What never changes after discovery. */
typedef struct atmi_device_properties {
  char name[64];         /* "gfx90a" */
  char product_name[64]; /* "AMD Instinct MI210" */
  char uuid[24];         /* "GPU-0123456789abcdef"; "GPU-XX", or nothing, if it has none */
  char isa_name[64];     /* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" */
  atmi_target_id_t target;
  uint32_t compute_units;
  uint32_t wavefront;
  uint32_t max_group;  /* work-items per workgroup */
  uint32_t max_grid_x; /* work-items of a grid in its first dimension */
  uint32_t max_queue_packets;
  uint32_t lds_bytes;    /* per workgroup */
  uint32_t chip_id;      /* PCI device */
  bool is_apu;           /* its memory is the host's */
  uint64_t memory_bytes; /* of the device's own memory */
  uint32_t max_waves_per_cu;
  uint64_t timestamp_frequency; /* ticks per second of the clock that kernels read; 0 if HSA does not tell */
} atmi_device_properties_t;

/* What a program has mapped to a device, for messages. */
typedef struct atmi_mapped {
  uint64_t begin, bytes; /* on the device */
  char name[256];        /* "variable a, f.c line 7" */
} atmi_mapped_t;

struct atmi_device {
  atmi_machine_t *machine;
  uint32_t number;
  char label[96]; /* "device 0 (gfx90a)": what every message begins with */
  hsa_agent_t agent;
  hsa_amd_memory_pool_t memory_pool; /* the device's own memory, coarse-grained */
  const atmi_host_node_t *host;      /* the nearest: where host memory for this device is taken from */
  atmi_device_properties_t properties;

  atmi_memory_t memory;
  atmi_signal_pool_t signals;
  atmi_pool_t streams, events;
  atmi_stream_place_t idle_streams[1 << ATMI_DEVICE_PLACES_LOG2]; /* by thread; see atmi_stream_take */
  atmi_pool_t kernarg_blocks, staging_blocks, large_staging_blocks;
  atmi_block_backing_t kernarg_backing, staging_backing, large_staging_backing;

  atmi_queue_owner_t queue_owner; /* what its queues know of it */
  pthread_mutex_t queue_creation;
  _Atomic uint32_t queue_count; /* released by who has made a queue; to be acquired before any is looked at */
  _Atomic(atmi_queue_t *) queues[ATMI_DEVICE_QUEUES];
  _Atomic uint32_t queue_limit; /* as many as the user allows, or as HSA gave */

  atmi_heap_t hostcall_heap;                   /* guarded by the service, see services/hostcall_queue.h */
  struct atmi_hostcall_queue *hostcall_queues; /* guarded by queue_creation */
  void *allocator; /* state of ockl's allocator, of kernels that call by hostcall; there when a queue is
                      prepared */

  /* Of whoever maps data, set before any kernel runs; NULL: nobody. The mapped data that are nearest to the
   * address; false if there are none. Called from HSA's thread that reports a fault. */
  bool (*name_mapped)(void *maps, uint64_t address, atmi_mapped_t *mapped);
  void *maps;

  bool ready; /* init went through, fini has something to do */

  atomic_bool lost; /* a fault has taken the device; everything on it fails from now on */
};

/* Reads the agent's properties and prepares empty pools. Fails, described, if the agent lacks what offloading
 * needs. fini accepts a half-made device. */
ATMI_MUST_CHECK atmi_status_t atmi_device_init(atmi_machine_t *machine, hsa_agent_t agent, uint32_t number,
                                               atmi_device_t *device);
void atmi_device_fini(atmi_device_t *device);
/* Gives it another number, also in messages. Before anything is asked of it. */
void atmi_device_set_number(atmi_device_t *device, uint32_t number);

/* Destroys the device's queues, with what may still run on them. Nobody may use the device any more. */
void atmi_device_stop(atmi_device_t *device);

/* A queue for a stream's kernels: one that no stream uses, or a new one while there may be more, or the one
 * that the fewest streams use. The caller counts as a user of it until atmi_queue_release. `previous` is the
 * queue that the stream had last, preferred if idle; may be NULL. Takes a lock only to create a queue. */
ATMI_MUST_CHECK atmi_status_t atmi_device_acquire_queue(atmi_device_t *device, atmi_queue_t *previous,
                                                        atmi_queue_t **queue);

static inline bool atmi_device_is_first_queue(const atmi_device_t *device, const atmi_queue_t *queue) {
  return queue == atomic_load_explicit(&device->queues[0], memory_order_relaxed);
}

/* The device's first queue, for kernels that must not run at the same time; else as
 * atmi_device_acquire_queue. */
ATMI_MUST_CHECK atmi_status_t atmi_device_acquire_first_queue(atmi_device_t *device, atmi_queue_t **queue);

/* Whether more than one host thread may have used streams of the device. */
bool atmi_device_is_shared(atmi_device_t *device);

/* After a fault: marks the device as lost and wakes everybody who waits for it. Idempotent. */
void atmi_device_abandon(atmi_device_t *device);

/* Whether a fault has taken the device. Cheap. */
static inline bool atmi_device_is_lost(atmi_device_t *device) {
  return atomic_load_explicit(&device->lost, memory_order_acquire);
}

/* Describes an operation refused because the device, or one whose work it waits for, was lost; returns
 * ATMI_LOST. */
atmi_status_t atmi_device_refuse(atmi_device_t *device, const char *operation);

#endif
