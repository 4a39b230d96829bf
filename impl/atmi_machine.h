/* The machine: HSA, its agents and memory pools, and the devices that OpenMP sees. One object owns everything
 * that the core ever acquires. Not here: queues, streams and pools of a device in action (atmi_device). */
#ifndef ATMI_MACHINE_H
#define ATMI_MACHINE_H

#include "atmi_access.h"
#include "atmi_env.h"
#include "atmi_host_lock.h"
#include "atmi_host_node.h"
#include "atmi_service.h"
#include "atmi_target_id.h"
#include "atmi_timeline.h"
#include "atmi_watch.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct atmi_device atmi_device_t;

struct atmi_machine {
  const atmi_env_t *env;
  bool initialised;             /* holds a reference to HSA */
  hsa_agent_t cpu;              /* of the first node: names the host as an end of copies */
  atmi_host_node_t *host_nodes; /* that have memory which devices can share */
  uint32_t host_node_count;
  uint64_t timestamp_frequency; /* ticks per second of HSA's clock */
  uint32_t device_count;
  atmi_device_t **devices;
  hsa_agent_t *gpus;       /* the devices' agents, in the same order */
  pthread_mutex_t faults;  /* held by HSA's thread while it reports a fault: devices must not go then */
  bool stopping;           /* guarded by faults */
  pthread_mutex_t loading; /* ROCr does not bear two executables being loaded at once */
  _Atomic uint64_t kernels_found; /* ever */
  atmi_access_t access;
  atmi_host_locks_t host_locks;
  atomic_bool ending;  /* ROCr's static objects are gone: it makes no more queues */
  atomic_bool unified; /* the program requires unified shared memory: host pointers reach kernels unmapped */
  atmi_watch_t watch;  /* of devices whose faults nobody reports */
  atmi_service_t service;    /* for kernels that call their host */
  atmi_timeline_t *timeline; /* NULL unless the user asked for one */
};

/* Initialises HSA and finds its GPUs. `env` must outlive the machine. With no usable GPU or no working HSA
 * the result is ATMI_OK and a machine without devices: that is no error of the program. It is said on stderr
 * only if the driver is there, or when env->debug is set. Fails with ATMI_NO_MEMORY. */
ATMI_MUST_CHECK atmi_status_t atmi_machine_init(const atmi_env_t *env, atmi_machine_t *machine);
/* Releases all devices with all their resources, then HSA. Accepts a half-made or zeroed machine. */
void atmi_machine_fini(atmi_machine_t *machine);

/* Before anything of the machine is released: waits until a fault that is being reported is done, and lets no
 * other begin; ends the watch. */
void atmi_machine_stop(atmi_machine_t *machine);

/* The device of this number, or NULL. */
atmi_device_t *atmi_machine_device(const atmi_machine_t *machine, int64_t number);

#endif
