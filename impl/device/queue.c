/* HSA queues: claiming, publishing, and knowing which kernel runs. */
#include "device/queue.h"

#include "base/hsa.h"

#include <hsa/amd_hsa_queue.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static void on_error(hsa_status_t status, hsa_queue_t *hsa, void *data) {
  (void)hsa;
  atmi_queue_t *queue = data;
  queue->owner->on_error(queue, status);
}

/* Whether the ring is the host's memory. What the processor writes to the device's memory may arrive in
 * another order, and a packet's header before the rest of it. */
static bool is_of_host(const hsa_queue_t *hsa) {
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  if (hsa_amd_pointer_info(hsa->base_address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS ||
      info.type == HSA_EXT_POINTER_TYPE_UNKNOWN)
    return true; /* a profiler's, from malloc */
  hsa_agent_get_info(info.agentOwner, HSA_AGENT_INFO_DEVICE, &type);
  return type == HSA_DEVICE_TYPE_CPU;
}

/* Takes over what HSA made, which need not be what it was asked for: a profiler may stand between (see
 * hsa_amd_queue_intercept_create). */
static atmi_status_t take_ring(atmi_queue_t *queue) {
  const char *where = queue->owner->label;
  uint32_t packets = queue->hsa->size;
  if (!packets || packets & (packets - 1))
    return atmi_fail(ATMI_HSA_FAILED, where, "cannot use an HSA queue: its length, %u, is no power of two",
                     packets);
  if (!is_of_host(queue->hsa))
    return atmi_fail(ATMI_UNSUPPORTED, where,
                     "cannot use an HSA queue: ROCr put its packets into the device's memory; unset "
                     "HSA_ALLOCATE_QUEUE_DEV_MEM");
  queue->notes = calloc(packets, sizeof *queue->notes);
  if (!queue->notes)
    return atmi_fail(ATMI_NO_MEMORY, where, "cannot create an HSA queue: out of host memory");
  /* An index that no packet has yet. */
  for (uint32_t i = 0; i < packets; i++)
    atomic_store_explicit(&queue->notes[i].index, UINT64_MAX, memory_order_relaxed);
  queue->mask = packets - 1;
  queue->doorbell = queue->hsa->doorbell_signal;
  queue->ring = queue->hsa->base_address;
  /* hsa_queue_t is the head of amd_queue_t, AMD's public description of its queues; so it is of a profiler's.
   */
  const amd_queue_t *amd = (const amd_queue_t *)(const void *)queue->hsa;
  queue->private_base = amd->private_segment_aperture_base_hi;
  queue->shared_base = amd->group_segment_aperture_base_hi;
  return ATMI_OK;
}

atmi_status_t atmi_queue_init(const atmi_queue_owner_t *owner, uint32_t packets, atmi_queue_t *queue) {
  *queue = (atmi_queue_t){.owner = owner};
  hsa_status_t status = hsa_queue_create(owner->agent, packets, HSA_QUEUE_TYPE_MULTI, on_error, queue,
                                         UINT32_MAX, UINT32_MAX, &queue->hsa);
  if (status != HSA_STATUS_SUCCESS) {
    queue->hsa = NULL;
    return atmi_fail(
        ATMI_NO_MEMORY, owner->label,
        "cannot create an HSA queue of %u packets: %s; other processes may hold the device's queues, or "
        "LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES asks for too many",
        packets, atmi_hsa_reason(status));
  }
  atmi_status_t taken = take_ring(queue);
  if (taken) {
    atmi_queue_fini(queue);
    return taken;
  }
  if (owner->timed)
    hsa_amd_profiling_set_profiler_enabled(queue->hsa, true);
  return ATMI_OK;
}

void atmi_queue_fini(atmi_queue_t *queue) {
  if (queue->hsa)
    hsa_queue_destroy(queue->hsa);
  free(queue->notes);
  queue->hsa = NULL;
  queue->notes = NULL;
}

uint64_t atmi_queue_wait_for_slot(atmi_queue_t *queue, uint64_t index) {
  for (unsigned tries = 0;; tries++) {
    uint64_t read = hsa_queue_load_read_index_scacquire(queue->hsa);
    if (index - read <= queue->mask) {
      /* Release hands the acquired read index on to threads that take it from here. It may go back when
       * threads race: then somebody asks once more than needed. */
      atomic_store_explicit(&queue->read_seen, read, memory_order_release);
      return index;
    }
    if (atomic_load_explicit(queue->owner->lost, memory_order_acquire))
      return ATMI_QUEUE_NO_INDEX;
    if (tries < 64)
      sched_yield();
    else
      nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
}

atmi_status_t atmi_queue_wait(atmi_queue_t *queue, atmi_signal_t *const *signals, uint32_t count) {
  for (uint32_t i = 0; i < count; i += ATMI_PACKET_BARRIER_SIGNALS) {
    uint64_t index;
    atmi_status_t status = atmi_queue_claim(queue, &index);
    if (status)
      return status;
    hsa_signal_t handles[ATMI_PACKET_BARRIER_SIGNALS];
    uint32_t here = count - i < ATMI_PACKET_BARRIER_SIGNALS ? count - i : ATMI_PACKET_BARRIER_SIGNALS;
    for (uint32_t j = 0; j < here; j++)
      handles[j] = signals[i + j]->hsa;
    hsa_barrier_and_packet_t *packet = atmi_queue_slot(queue, index);
    atmi_packet_fill_barrier(handles, here, (hsa_signal_t){0}, packet);
    atmi_queue_note(queue, index, NULL, NULL);
    /* Without the barrier bit: what other streams have put in front need not be complete. The packet behind
     * has it, and so waits for this one. */
    atmi_queue_publish(queue, index, packet, atmi_packet_header(HSA_PACKET_TYPE_BARRIER_AND, false, 0));
  }
  return ATMI_OK;
}

static bool is_complete(const atmi_queue_note_t *at, const void *packet) {
  atmi_signal_t *signal = atomic_load_explicit(&at->signal, memory_order_relaxed);
  if (!signal)
    return false;
  /* Acquire: if it is pending, then for the packet that is seen below, or a later one. */
  if (__atomic_load_n(signal->value, __ATOMIC_ACQUIRE) <= 0)
    return true;
  /* A signal that stands for something else by now was counted down by this packet long ago. */
  return atomic_load_explicit(&signal->packet, memory_order_relaxed) != packet;
}

bool atmi_queue_running(atmi_queue_t *queue, atmi_running_t *running) {
  *running = (atmi_running_t){0};
  uint64_t end = hsa_queue_load_write_index_relaxed(queue->hsa);
  uint64_t begin = end > queue->mask ? end - queue->mask - 1 : 0;
  for (uint64_t index = end; index-- > begin;) {
    const atmi_queue_note_t *at = atmi_queue_note_at(queue, index);
    if (atomic_load_explicit(&at->index, memory_order_acquire) != index)
      continue;
    const atmi_kernel_t *kernel = atomic_load_explicit(&at->kernel, memory_order_relaxed);
    const hsa_kernel_dispatch_packet_t *packet = atmi_queue_slot(queue, index);
    if (!kernel || is_complete(at, packet))
      continue;
    running->behind += running->kernel != NULL;
    running->kernel = kernel;
    running->index = index;
    /* The device invalidates a packet's header only; its slot is not used again before its kernel is
     * complete, or, where a profiler takes packets out earlier, has another index noted then. */
    running->arguments = packet->kernarg_address;
  }
  return running->kernel;
}
