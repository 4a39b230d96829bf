/* One user-mode HSA queue of a device. Packets are claimed, filled and published by any number of host
 * threads at once, without a lock; the device consumes them in order. */
#ifndef ATMI_QUEUE_H
#define ATMI_QUEUE_H

#include "atmi_packet.h"
#include "atmi_signal_pool.h"

typedef struct atmi_device atmi_device_t;
typedef struct atmi_kernel atmi_kernel_t;

/* What a packet in the ring was for, so that a fault can name the kernel. Written by the publisher, read by
 * HSA's callback thread when something went wrong; relaxed, because the fault report may be late but never
 * wrong: `index` is written last and tells whether the rest belongs to the packet. */
typedef struct atmi_queue_note {
  _Atomic uint64_t index;
  _Atomic(const atmi_kernel_t *) kernel; /* NULL: a barrier */
  _Atomic(atmi_signal_t *) signal;
  _Atomic uint32_t use;     /* of the signal, when the packet was published */
  _Atomic uint32_t ordinal; /* the packet is the n-th operation on the signal */
} atmi_queue_note_t;

typedef struct atmi_queue {
  atmi_device_t *device;
  hsa_queue_t *hsa;
  uint64_t mask;                      /* ring length - 1 */
  uint32_t private_base, shared_base; /* upper halves of the apertures' addresses */
  _Atomic uint32_t users;             /* streams that have it */
  atmi_queue_note_t *notes;
} atmi_queue_t;

/* Creates the queue with `packets` packets, a power of two. Fails with ATMI_NO_MEMORY, described. fini
 * accepts a half-made or zeroed queue. */
ATMI_MUST_CHECK atmi_status_t atmi_queue_init(atmi_device_t *device, uint32_t packets, atmi_queue_t *queue);
void atmi_queue_fini(atmi_queue_t *queue);

/* Ends a stream's use of the queue (see atmi_device_acquire_queue). */
void atmi_queue_release(atmi_queue_t *queue);

/* Publishes a kernel dispatch that decrements `done` on completion; `dispatch->done` is set from it. With
 * `barrier` it starts after all packets before it have completed. `kernel` is only kept to be named after a
 * fault. Waits only while the ring is full. Thread-safe. Fails with ATMI_LOST, not described, once the device
 * is lost. */
ATMI_MUST_CHECK atmi_status_t atmi_queue_dispatch(atmi_queue_t *queue, const atmi_kernel_t *kernel,
                                                  atmi_dispatch_t *dispatch, bool barrier,
                                                  atmi_signal_t *done);

/* Publishes packets after which the queue goes on only when all signals are zero. As atmi_queue_dispatch
 * else. */
ATMI_MUST_CHECK atmi_status_t atmi_queue_wait(atmi_queue_t *queue, atmi_signal_t *const *signals,
                                              uint32_t count);

/* For a fault report: the kernel that is most likely running, which is the oldest one not complete; NULL if
 * none.
 * `*behind` is how many more kernels are in the queue behind it. */
const atmi_kernel_t *atmi_queue_running(atmi_queue_t *queue, uint32_t *behind);

#endif
