/* What all devices share: HSA, its agents, and what is guarded or counted for all. One object owns everything
 * that the core ever acquires. Not here: how it is found and joined (machine/discovery). */
#ifndef ATMI_DEVICE_MACHINE_H
#define ATMI_DEVICE_MACHINE_H

#include "base/env.h"
#include "base/service.h"
#include "base/timeline.h"
#include "image/target_id.h"
#include "memory/access.h"
#include "memory/host_lock.h"
#include "memory/host_node.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>

struct atmi_queue;
typedef struct atmi_device atmi_device_t;

typedef struct atmi_machine {
  const atmi_env_t *env;
  bool initialised;             /* holds a reference to HSA */
  hsa_agent_t cpu;              /* of the first node: names the host as an end of copies */
  atmi_host_node_t *host_nodes; /* that have memory which devices can share */
  uint32_t host_node_count;
  uint64_t timestamp_frequency; /* ticks per second of HSA's clock */
  uint32_t device_count;
  /* Devices that may be used and of which none was lost, else 0: what the first ways of operations ask, which
   * know nothing of faults. Once it is 0 after a fault, it stays so. */
  _Atomic uint32_t sound_count;
  atomic_bool has_lost; /* some device */
  atmi_device_t **devices;
  hsa_agent_t *gpus;      /* the devices' agents, in the same order */
  pthread_mutex_t faults; /* held by HSA's thread while it reports a fault: devices must not go then */
  bool stopping;          /* guarded by faults */
  /* Called from HSA's thread when a queue of a device went into error. */
  void (*on_queue_error)(struct atmi_queue *queue, hsa_status_t status);
  pthread_mutex_t loading;        /* ROCr does not bear two executables being loaded at once */
  _Atomic uint64_t kernels_found; /* ever */
  atmi_access_t access;
  atmi_host_locks_t host_locks;
  atomic_bool ending;  /* ROCr's static objects are gone: it makes no more queues */
  atomic_bool unified; /* the program requires unified shared memory: host pointers reach kernels unmapped */
  struct atmi_watch *watch;  /* of devices whose faults nobody reports */
  atmi_service_t service;    /* for kernels that call their host */
  atmi_timeline_t *timeline; /* NULL unless the user asked for one */
} atmi_machine_t;

/* The device of this number, or NULL. */
static inline atmi_device_t *atmi_machine_device(const atmi_machine_t *machine, int64_t number) {
  return number >= 0 && number < machine->device_count ? machine->devices[number] : NULL;
}

#endif
