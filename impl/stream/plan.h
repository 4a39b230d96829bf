/* Launches. Each follows a plan: a packet and an argument block of which only the program's words change. A
 * stream remembers the plans of its launches, so that the next launch like one of them writes these words and
 * copies a packet. Plans belong to a stream and so to one thread. Not here: how a kernel is ordered behind
 * other operations (stream/stream). */
#ifndef ATMI_STREAM_PLAN_H
#define ATMI_STREAM_PLAN_H

#include "stream/stream.h"

#include <string.h>

/* What tells launches apart: the kernel's number, which no other kernel of the process ever gets, and what
 * the caller asks for in its own words. */
typedef struct atmi_plan_key {
  uint64_t kernel;   /* not 0 */
  uint64_t words[5]; /* the lower half of the last one is the number of arguments */
} atmi_plan_key_t;

enum { ATMI_PLANS = 16, ATMI_PLAN_BLOCK_BYTES = 1024 };

typedef struct atmi_plan {
  atmi_plan_key_t key; /* kernel 0: no plan */
  uint64_t *words;     /* the program's, in the packet's own block */
  /* With its block's address, but no signal; without the barrier bit, unless the kernel must run alone. */
  _Alignas(64) hsa_kernel_dispatch_packet_t packet;
} atmi_plan_t;

struct atmi_plans {
  atmi_plan_t plans[ATMI_PLANS];
  const atmi_plan_t *in_use; /* the one whose own block the stream's first operation has, or had */
  atmi_block_t *arguments;   /* ATMI_PLAN_BLOCK_BYTES for each plan */
};

/* Frees plans; accepts NULL. Blocks and signals go with their pools. */
void atmi_plans_destroy(struct atmi_plans *plans);

/* The plan for a launch, or NULL. */
static inline atmi_plan_t *atmi_plan_find(struct atmi_plans *plans, uint64_t kernel,
                                          const uint64_t words[5]) {
  if (!plans)
    return NULL;
  atmi_plan_t *plan = &plans->plans[kernel % ATMI_PLANS];
  const uint64_t *planned = plan->key.words;
  uint64_t difference = (planned[0] ^ words[0]) | (planned[1] ^ words[1]) | (planned[2] ^ words[2]) |
                        (planned[3] ^ words[3]) | (planned[4] ^ words[4]) | (plan->key.kernel ^ kernel);
  return difference ? NULL : plan;
}

/* Makes sure that the stream holds the queue for which its plans are true. False: others use it. */
static inline bool atmi_plan_hold_queue(atmi_stream_t *stream) {
  /* There is a queue: it came with the launch that made the first plan. */
  if (!stream->holds_queue) {
    if (!atmi_queue_take_idle(stream->queue))
      return false;
    stream->holds_queue = true;
  }
  return true;
}

/* Takes back what began, and says why it cannot be launched: ATMI_LOST. */
atmi_status_t atmi_plan_refuse(const atmi_stream_t *stream, atmi_signal_t *signal);

/* Writes the program's words, and gives the device a packet like the plan's, whose operation has begun its
 * signal. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_publish(atmi_stream_t *stream, const atmi_kernel_t *kernel, const atmi_plan_t *plan,
                  const hsa_kernel_dispatch_packet_t *packet, uint64_t *words, atmi_operation_t *operation,
                  void *const *arguments, const ptrdiff_t *offsets) {
  atmi_queue_t *queue = stream->queue;
  atmi_signal_t *signal = operation->signal;
  operation->kind = ATMI_OPERATION_KERNEL;
  uint32_t count = (uint32_t)plan->key.words[4];
  for (uint32_t i = 0; i < count && offsets; i++)
    words[i] = (uint64_t)(uintptr_t)arguments[i] + (uint64_t)offsets[i];
  for (uint32_t i = 0; i < count && !offsets; i++)
    words[i] = (uint64_t)(uintptr_t)arguments[i];
  uint64_t index, first;
  if (atmi_queue_claim(queue, &index))
    return atmi_plan_refuse(stream, signal);
  hsa_kernel_dispatch_packet_t *slot =
      (hsa_kernel_dispatch_packet_t *)(void *)queue->ring + (index & queue->mask);
  atmi_packet_fill_copy(packet, signal->hsa, slot);
  atmi_queue_note(queue, index, kernel, signal);
  memcpy(&first, packet, sizeof first);
  atmi_queue_publish_first(queue, index, slot, first);
  stream->count++;
  return ATMI_OK;
}

/* Launches once more by a plan whose queue the stream holds, behind whatever is outstanding. A lost device
 * may only show when the stream is synchronised. */
ATMI_MUST_CHECK atmi_status_t atmi_plan_launch(atmi_stream_t *stream, const atmi_kernel_t *kernel,
                                               atmi_plan_t *plan, void *const *arguments,
                                               const ptrdiff_t *offsets);

/* The same on an idle stream whose first place is ready and that has no timeline. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_launch_first(atmi_stream_t *stream, const atmi_kernel_t *kernel, atmi_plan_t *plan,
                       void *const *arguments, const ptrdiff_t *offsets) {
  atmi_operation_t *operation = stream->operations;
  stream->plans->in_use = plan;
  atmi_signal_begin(operation->signal);
  return atmi_plan_publish(stream, kernel, plan, &plan->packet, plan->words, operation, arguments, offsets);
}

#endif
