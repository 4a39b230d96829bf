/* The one context object: the simulated machine as the host sees it, whichever door it comes through (thunk/,
 * kfd/). It speaks of nodes, memory, events and queues in the types of hsakmttypes.h, which describe what
 * either door carries. Not here: what GPUs do with queues and kernels (packet/, exec/), and which process has
 * opened it (process.h). */
#ifndef GFXSIM_MACHINE_MACHINE_H
#define GFXSIM_MACHINE_MACHINE_H

#include <hsakmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cost.h"
#include "base/options.h"
#include "exec/device.h"
#include "packet/bus.h"
#include "packet/gate.h"
#include "packet/synchronous.h"
#include "packet/poller.h"
#include "machine/events.h"
#include "machine/memory.h"
#include "machine/queues.h"
#include "machine/svm.h"

enum {
  GS_MOST_GPUS = GS_MOST_PARTS,
  GS_CPU_NODE = 0, /* the GPUs are the nodes 1, 2, ...; a second CPU node comes behind them */
  GS_MOST_QUEUES = 1024,
  GS_MOST_EVENTS = 4096,
};

typedef struct gs_machine gs_machine_t;

/* One simulated GPU. */
typedef struct gs_gpu {
  gs_machine_t *machine;
  uint32_t node;    /* in the topology */
  uint32_t ordinal; /* among the GPUs, for messages */
  const gs_profile_t *profile;
  gs_device_t *device;
  uint64_t memory_bytes; /* the profile's, or what GFXSIM_DEVICES says */
  bool host_visible;     /* the host can access its memory */
  gs_packet_ops_t packet_ops;
  gs_gate_t gate;    /* of its queues */
  gs_costs_t *costs; /* NULL = nobody counts */
  bool evicted;      /* after a memory fault none of its queues runs any more; guarded by the queues' lock */
} gs_gpu_t;

/* Memory that host and GPUs share besides allocations: mapped into every GPU. */
typedef struct gs_shared_pages {
  /* One per queue. What the host stores there is not read: the queues' indices say all. The address modulo 8
   * KiB identifies the queue (trap handlers rely on it): so this comes first, in memory aligned to 8 KiB. */
  uint64_t doorbell[GS_MOST_QUEUES];
  uint64_t mailbox[GS_MOST_EVENTS]; /* HsaEvent.HWData2 points here */
  struct {
    uint64_t read, write; /* in bytes, or dwords of PM4 */
  } stream_index[GS_MOST_QUEUES];
  uint8_t hdp_flush[GS_MOST_GPUS][4096]; /* the registers that flush the host data path; nobody reads them */
} gs_shared_pages_t;

/* Pages of doorbells, as the host has them. */
typedef struct gs_doorbells {
  void *start;
  size_t size;
} gs_doorbells_t;
enum { GS_MOST_DOORBELLS = GS_MOST_GPUS + 1 };

struct gs_machine {
  gs_options_t options;
  _Atomic int told_not_executed;
  _Atomic bool told_fault; /* where only the first memory fault is told */
  struct gs_check *check;  /* the process's, or NULL */
  _Atomic bool xnack;      /* GPUs reach all of the program's memory */
  uint32_t gpu_count;
  gs_gpu_t gpu[GS_MOST_GPUS];
  gs_shared_pages_t *shared;
  gs_doorbells_t doorbells[GS_MOST_DOORBELLS]; /* first the shared ones; guarded by the queues' lock */
  uint32_t doorbells_count;
  gs_poller_t *poller;
  /* NULL unless nothing is executed, deterministically; then the doorbells are read-only. */
  gs_synchronous_t *synchronous;
  gs_events_t events;
  gs_memory_t memory;
  gs_svm_t svm;
  gs_queues_t queues;
  _Atomic(uint64_t) last_clock; /* the highest GPU clock counter that was handed out */
  gs_costs_t *costs;            /* the process's, and behind it the GPUs'; NULL = nobody counts */
};

/* Makes a machine as the environment describes it. Returns NULL after a message when that fails. */
gs_machine_t *gs_machine_create(void);
/* Stops all queues and frees the machine. Memory of the program that is still allocated on the CPU node stays
 * mapped, as with the driver; device memory goes. Accepts NULL and a half-made object. */
void gs_machine_destroy(gs_machine_t *machine);

/* The GPU of a node, or NULL when the node is none. */
gs_gpu_t *gs_machine_gpu(gs_machine_t *machine, uint32_t node);
/* Number of nodes: the CPU's and the GPUs'. */
uint32_t gs_machine_nodes(const gs_machine_t *machine);
/* Whether strictness asks for this kind of machine (GS_LINKS_*). */
bool gs_machine_has_links(const gs_machine_t *machine, uint32_t kind);

/* Doorbells besides the shared ones, which the host has mapped at `start`, whole pages. Thread-safe. */
void gs_machine_add_doorbells(gs_machine_t *machine, void *start, size_t size);

/* They are about to be unmapped. */
void gs_machine_remove_doorbells(gs_machine_t *machine, const void *start);

/* gs_events_wait for the host: what it has submitted is seen before it sleeps, and the wait is counted. */
HSAKMT_STATUS gs_machine_wait(gs_machine_t *machine, const uint32_t *list, uint32_t count, bool all,
                              uint32_t milliseconds, uint64_t *ages);

/* Memory is about to go: what the host has read of its old copies is compared with it now, if at all. */
void gs_machine_compare_reads(gs_machine_t *machine);

/* Prints to standard error what was counted since it was printed last, if anything is counted. */
void gs_machine_print_costs(gs_machine_t *machine);

/* Counters of one moment: of a GPU, in GS_CLOCK_HZ, which never repeats; and of the system, in nanoseconds.
 */
void gs_machine_counters(gs_machine_t *machine, uint64_t *gpu, uint64_t *system);

/* Whether GPUs reach all of the program's memory. HSAKMT_STATUS_OUT_OF_RESOURCES while the process has
 * queues, as the driver wants it; HSAKMT_STATUS_NOT_SUPPORTED, after a message, if a GPU cannot. */
HSAKMT_STATUS gs_machine_set_xnack(gs_machine_t *machine, bool on);

#endif
