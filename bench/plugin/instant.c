/* Preloaded, takes kernel dispatches from the queues that the program makes and completes them in the call
 * that rings the doorbell, in a few instructions: what is measured then is the host's time alone, and threads
 * share nothing here but what they share above. For gfxsim's mode in which queues have no threads
 * (GFXSIM_EXECUTE=0 GFXSIM_DETERMINISTIC=1); it is told that these queues are not to run. Does not see
 * libraries that open ROCr by themselves, as LLVM's plugins do. */
#include <dlfcn.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsakmt.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 256 };

/* A queue, by its doorbell. */
typedef struct instant {
  _Alignas(64) _Atomic uint64_t doorbell;
  amd_queue_t *queue;
  atomic_flag busy;
} instant_t;

static instant_t places[PLACES];

#define BEHIND(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* The place of a doorbell, or the free one where it would be. */
static instant_t *place_of(uint64_t doorbell) {
  uint64_t i = (doorbell * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
  for (;; i = (i + 1) % PLACES) {
    uint64_t found = atomic_load_explicit(&places[i].doorbell, memory_order_acquire);
    if (found == doorbell || !found)
      return &places[i];
  }
}

/* The queue that this thread made last. */
static _Thread_local struct {
  const void *ring;
  HSAuint64 ring_bytes;
  HSA_QUEUEID id;
} made;

/* What ROCr calls for each queue, also for its own. */
HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
                                HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 ring_bytes,
                                HsaEvent *event, HsaQueueResource *resource) {
  HSAKMT_STATUS status =
      BEHIND(hsaKmtCreateQueue)(node, type, percentage, priority, ring, ring_bytes, event, resource);
  if (status == HSAKMT_STATUS_SUCCESS && type == HSA_QUEUE_COMPUTE_AQL) {
    made.ring = ring;
    made.ring_bytes = ring_bytes;
    made.id = resource->QueueId;
  }
  return status;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                              uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue) {
  hsa_status_t status =
      BEHIND(hsa_queue_create)(agent, size, type, callback, data, private_bytes, group_bytes, queue);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  /* Else gfxsim completes its packets as well, whenever it looks at queues. */
  if (made.ring != (*queue)->base_address ||
      BEHIND(hsaKmtUpdateQueue)(made.id, 0, HSA_QUEUE_PRIORITY_NORMAL, (*queue)->base_address,
                                made.ring_bytes, NULL) != HSAKMT_STATUS_SUCCESS) {
    fputs("instant: a queue cannot be stopped\n", stderr);
    abort();
  }
  instant_t *place = place_of((*queue)->doorbell_signal.handle);
  place->queue = (amd_queue_t *)(void *)*queue;
  atomic_store(&place->doorbell, (*queue)->doorbell_signal.handle);
  return status;
}

/* A thread that waits for a packet of its own has not begun to when its doorbell's call returns; one whose
 * packet another thread completes may sleep already. */
static void complete(hsa_signal_t signal, int own) {
  if (own)
    __atomic_fetch_sub(&((amd_signal_t *)(uintptr_t)signal.handle)->value, 1, __ATOMIC_RELEASE);
  else
    hsa_signal_subtract_screlease(signal, 1);
}

static void complete_all(amd_queue_t *queue, uint64_t own) {
  hsa_kernel_dispatch_packet_t *ring = queue->hsa_queue.base_address;
  uint64_t index = __atomic_load_n(&queue->read_dispatch_id, __ATOMIC_RELAXED);
  while (index != __atomic_load_n(&queue->write_dispatch_id, __ATOMIC_ACQUIRE)) {
    hsa_kernel_dispatch_packet_t *packet = &ring[index & (queue->hsa_queue.size - 1)];
    unsigned header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);
    if ((header & 0xff) == HSA_PACKET_TYPE_INVALID)
      return;
    hsa_signal_t signal = packet->completion_signal;
    __atomic_store_n(&packet->header, (uint16_t)HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
    __atomic_store_n(&queue->read_dispatch_id, index + 1, __ATOMIC_RELEASE);
    if (signal.handle)
      complete(signal, index == own);
    index++;
  }
}

static int rings(hsa_signal_t signal, hsa_signal_value_t index) {
  instant_t *place = place_of(signal.handle);
  if (atomic_load_explicit(&place->doorbell, memory_order_acquire) != signal.handle)
    return 0;
  while (atomic_flag_test_and_set_explicit(&place->busy, memory_order_acquire))
    sched_yield();
  complete_all(place->queue, (uint64_t)index);
  atomic_flag_clear_explicit(&place->busy, memory_order_release);
  return 1;
}

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  static __typeof__(&hsa_signal_store_screlease) _Atomic behind;
  if (rings(signal, value))
    return;
  if (!atomic_load_explicit(&behind, memory_order_relaxed))
    atomic_store_explicit(&behind, BEHIND(hsa_signal_store_screlease), memory_order_relaxed);
  atomic_load_explicit(&behind, memory_order_relaxed)(signal, value);
}
