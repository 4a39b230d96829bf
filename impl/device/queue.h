/* One user-mode HSA queue of a device. Packets are claimed, filled and published by any number of host
 * threads at once, without a lock; the device consumes them in order. */
#ifndef ATMI_DEVICE_QUEUE_H
#define ATMI_DEVICE_QUEUE_H

#include "base/hsa.h"
#include "device/packet.h"
#include "device/signal_pool.h"

typedef struct atmi_device atmi_device_t;
typedef struct atmi_kernel atmi_kernel_t;

/* What a packet in the ring was for, so that a fault can name the kernel. Written by the publisher, read by
 * HSA's callback thread when something went wrong; relaxed, because the fault report may be late but never
 * wrong: `index` is written last and tells whether the rest belongs to the packet. */
typedef struct atmi_queue_note {
  _Atomic uint64_t index;
  _Atomic(const atmi_kernel_t *) kernel; /* NULL: a barrier */
  _Atomic(atmi_signal_t *) signal;       /* which knows the packet as long as it stands for it */
} atmi_queue_note_t;

typedef struct atmi_queue atmi_queue_t;

/* Whose queues they are. Outlives them. */
typedef struct atmi_queue_owner {
  atmi_device_t *device;
  const char *label; /* of the device, for messages */
  hsa_agent_t agent;
  const atomic_bool *lost; /* nothing more will happen on the device */
  bool timed;              /* the times of each packet are wanted */
  /* A queue went into error: called from HSA's thread. */
  void (*on_error)(atmi_queue_t *queue, hsa_status_t status);
} atmi_queue_owner_t;

struct atmi_queue {
  const atmi_queue_owner_t *owner;
  hsa_queue_t *hsa;
  hsa_signal_t doorbell;
  char *ring;
  uint64_t mask;                      /* ring length - 1 */
  uint32_t private_base, shared_base; /* upper halves of the apertures' addresses */
  _Atomic uint32_t users;             /* streams that have it */
  _Atomic uint64_t read_seen;         /* the device's read index when somebody last asked for it */
  atmi_queue_note_t *notes;
  _Atomic(void *)
      hostcall_buffer; /* of kernels that call their host by it (services/hostcall_queue); NULL until then */
};

/* Creates the queue, of `packets` packets, a power of two, or as many as HSA gives. Fails with
 * ATMI_NO_MEMORY, ATMI_HSA_FAILED or ATMI_UNSUPPORTED, described. fini accepts a half-made or zeroed queue.
 */
ATMI_MUST_CHECK atmi_status_t atmi_queue_init(const atmi_queue_owner_t *owner, uint32_t packets,
                                              atmi_queue_t *queue);
void atmi_queue_fini(atmi_queue_t *queue);

/* Ends a stream's use of the queue (see atmi_device_acquire_queue). */
static inline void atmi_queue_release(atmi_queue_t *queue) {
  atomic_fetch_sub_explicit(&queue->users, 1, memory_order_relaxed);
}

/* Makes a stream the queue's only user, if it has none. */
static inline bool atmi_queue_take_idle(atmi_queue_t *queue) {
  uint32_t idle = 0;
  return atomic_compare_exchange_strong_explicit(&queue->users, &idle, 1, memory_order_relaxed,
                                                 memory_order_relaxed);
}

/* ---- publishing ----
 * Here and not in device/queue.c, so that a launch is one piece of code. */

/* The index of no packet. */
#define ATMI_QUEUE_NO_INDEX UINT64_MAX

/* Waits until the slot of a claimed index is free. The claim itself is never undone: the index is taken for
 * good. Returns it; ATMI_QUEUE_NO_INDEX once the device is lost. */
uint64_t atmi_queue_wait_for_slot(atmi_queue_t *queue, uint64_t index);

/* Claims the next packet: fails with ATMI_LOST, not described. */
ATMI_MUST_CHECK static inline atmi_status_t atmi_queue_claim(atmi_queue_t *queue, uint64_t *index) {
  /* Relaxed: the index is only a ticket. What the packet's slot held before is ordered by the read index. */
  *index = hsa_queue_add_write_index_relaxed(queue->hsa, 1);
  /* Acquire: the device had finished with the slot when the read index passed it. */
  if (__builtin_expect(*index - atomic_load_explicit(&queue->read_seen, memory_order_acquire) <= queue->mask,
                       1))
    return ATMI_OK;
  *index = atmi_queue_wait_for_slot(queue, *index);
  return *index == ATMI_QUEUE_NO_INDEX ? ATMI_LOST : ATMI_OK;
}

/* The place of a claimed packet in the ring. */
static inline void *atmi_queue_slot(const atmi_queue_t *queue, uint64_t index) {
  return queue->ring + (index & queue->mask) * sizeof(hsa_kernel_dispatch_packet_t);
}

/* Where it is noted what a claimed packet is for. */
static inline atmi_queue_note_t *atmi_queue_note_at(const atmi_queue_t *queue, uint64_t index) {
  return &queue->notes[index & queue->mask];
}

static inline void atmi_queue_fill_note(atmi_queue_note_t *at, uint64_t index, const atmi_kernel_t *kernel,
                                        atmi_signal_t *done) {
  atomic_store_explicit(&at->kernel, kernel, memory_order_relaxed);
  atomic_store_explicit(&at->signal, done, memory_order_relaxed);
  /* Release: who finds the index finds the rest of the note. */
  atomic_store_explicit(&at->index, index, memory_order_release);
}

/* Notes what the claimed packet is for. */
static inline void atmi_queue_note(const atmi_queue_t *queue, uint64_t index, const atmi_kernel_t *kernel,
                                   atmi_signal_t *done) {
  atmi_queue_fill_note(atmi_queue_note_at(queue, index), index, kernel, done);
}

/* Makes a filled packet the device's. Release: whoever sees the header sees the rest of the packet, the
 * argument block and the staging buffers written before. */
static inline void atmi_queue_publish(atmi_queue_t *queue, uint64_t index, void *packet, uint32_t header) {
  __atomic_store_n((uint32_t *)packet, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell, (hsa_signal_value_t)index);
}

/* As atmi_queue_publish, with the first eight bytes of the packet in one store. */
static inline void atmi_queue_publish_first(atmi_queue_t *queue, uint64_t index, void *packet,
                                            uint64_t first) {
  __atomic_store_n((uint64_t *)packet, first, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell, (hsa_signal_value_t)index);
}

/* Publishes packets after which the queue goes on only when all signals are zero; none for none. Waits only
 * while the ring is full. Thread-safe. Fails with ATMI_LOST, not described, once the device is lost. */
ATMI_MUST_CHECK atmi_status_t atmi_queue_wait(atmi_queue_t *queue, atmi_signal_t *const *signals,
                                              uint32_t count);

/* What a queue is at work on. */
typedef struct atmi_running {
  const atmi_kernel_t *kernel;
  const void *arguments; /* its argument block */
  uint64_t index;        /* of its packet: tells it from other launches of the same kernel */
  uint32_t behind;       /* how many more kernels are in the queue behind it */
} atmi_running_t;

/* For a fault report: the kernel that is most likely running, which is the oldest one not complete. False if
 * there is none. */
bool atmi_queue_running(atmi_queue_t *queue, atmi_running_t *running);

#endif
