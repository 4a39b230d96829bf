/* Launches that repeat: what a stream remembers of a launch so that the next one like it, on an idle stream,
 * only writes its arguments and copies a packet. Whatever is different goes the general way
 * (atmi_stream_launch), which makes or renews a plan. Plans belong to a stream and so to one thread. */
#ifndef ATMI_PLAN_H
#define ATMI_PLAN_H

#include "atmi_stream.h"

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
  const atmi_kernel_t *kernel;
  _Alignas(64) hsa_kernel_dispatch_packet_t packet;
} atmi_plan_t;

struct atmi_plans {
  const atmi_plan_t *in_use; /* the one that the stream followed since it was idle; may be an older one */
  atmi_block_t *arguments;   /* ATMI_PLAN_BLOCK_BYTES for each plan */
  atmi_plan_t plans[ATMI_PLANS];
};

/* Remembers a launch that has just been begun the general way, on the queue that the stream holds. Without
 * host memory for it nothing is remembered. */
void atmi_plan_remember(atmi_stream_t *stream, const atmi_plan_key_t *key, const atmi_kernel_t *kernel,
                        const atmi_launch_t *launch);

/* Forgets all plans: the queue for which their hidden arguments are true is no longer the stream's, or the
 * stream has no signal of its own any more. */
void atmi_plans_forget(atmi_stream_t *stream);
/* Frees plans; accepts NULL. Blocks and signals go with their pools. */
void atmi_plans_destroy(struct atmi_plans *plans);

/* The plan for a launch, or NULL. */
static inline atmi_plan_t *atmi_plan_find(const atmi_stream_t *stream, uint64_t kernel,
                                          const uint64_t words[5]) {
  if (!stream->plans)
    return NULL;
  atmi_plan_t *plan = &stream->plans->plans[kernel % ATMI_PLANS];
  const uint64_t *planned = plan->key.words;
  uint64_t difference = (planned[0] ^ words[0]) | (planned[1] ^ words[1]) | (planned[2] ^ words[2]) |
                        (planned[3] ^ words[3]) | (planned[4] ^ words[4]) | (plan->key.kernel ^ kernel);
  return difference ? NULL : plan;
}

/* Whether a plan can be followed now: all operations of the stream are complete, so that the plan's block and
 * signal are free, and it has its queue for itself. Takes the queue then. */
static inline bool atmi_plan_is_ready(atmi_stream_t *stream) {
  /* Acquire as in atmi_stream_own_is_complete; a lost device shows when the stream is synchronised. */
  if (stream->phase >= ATMI_STREAM_BUSY || __atomic_load_n(stream->own_value, __ATOMIC_ACQUIRE))
    return false;
  /* There is a queue: it came with the launch that made the first plan. */
  if (!stream->holds_queue)
    stream->holds_queue = atmi_queue_take_idle(stream->queue);
  return stream->holds_queue;
}

/* Launches once more, by a plan that is ready, with other arguments. As atmi_stream_launch else, but that a
 * lost device may only show when the stream is synchronised. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_launch(atmi_stream_t *stream, atmi_plan_t *plan, void *const *arguments, const ptrdiff_t *offsets) {
  atmi_queue_t *queue = stream->queue;
  atmi_signal_t *signal = stream->own;
  uint64_t *block = plan->packet.kernarg_address;
  for (uint32_t i = 0, count = (uint32_t)plan->key.words[4]; i < count; i++)
    block[i] = (uint64_t)(uintptr_t)arguments[i] + (uint64_t)offsets[i];
  atmi_signal_begin_again(signal);
  uint64_t index;
  atmi_status_t status = atmi_queue_claim(queue, &index);
  if (status)
    return atmi_device_refuse(stream->device, "launch a kernel");
  char *packet = queue->ring + sizeof plan->packet * (index & queue->mask);
  const char *planned = (const char *)&plan->packet;
  memcpy(packet + 8, planned + 8, sizeof plan->packet - 16);
  memcpy(packet + 56, &signal->hsa, sizeof signal->hsa);
  atmi_queue_note(queue, index, plan->kernel, signal);
  uint64_t first;
  memcpy(&first, planned, sizeof first);
  atmi_queue_publish_first(queue, index, packet, first);
  stream->plans->in_use = plan;
  /* It was complete, whatever it was. */
  stream->phase = (stream->phase & ~(uint32_t)ATMI_STREAM_COPIED) | ATMI_STREAM_LAUNCHED;
  return ATMI_OK;
}

#endif
