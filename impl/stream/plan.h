/* Launches. Each follows a plan: a packet and an argument block of which only the program's words change. A
 * stream remembers the plans of its launches, so that the next launch like one of them writes these words and
 * copies a packet. Plans belong to a stream and so to one thread. Not here: how a kernel is ordered behind
 * other operations (stream/stream). */
#ifndef ATMI_STREAM_PLAN_H
#define ATMI_STREAM_PLAN_H

#include "stream/stream.h"

#include <string.h>

/* What tells launches apart, in the caller's own words. Two launches of equal keys are of the same kernel in
 * the same geometry: also if another kernel lies where one was unloaded. */
typedef struct atmi_plan_key {
  uint64_t id; /* not 0; plans of neighbouring ones are kept side by side */
  uint64_t words[6];
  uint32_t tag; /* not compared: what the caller wants to find with the plan */
} atmi_plan_key_t;

enum { ATMI_PLANS = 16, ATMI_PLAN_BLOCK_BYTES = 1024 };

typedef struct atmi_plan {
  _Alignas(256) atmi_plan_key_t key; /* id 0: no plan. Aligned, to be found in few steps */
  _Alignas(8) uint32_t tag;          /* the key's: side by side with the next, to be looked at in one step */
  uint32_t argument_count;
  const atmi_kernel_t *kernel;
  uint64_t *words; /* the program's, in the packet's own block */
  /* With its block's address, but no signal; without the barrier bit, unless the kernel must run alone. */
  _Alignas(64) hsa_kernel_dispatch_packet_t packet;
} atmi_plan_t;

struct atmi_plans {
  atmi_plan_t plans[ATMI_PLANS];
  atmi_block_t *arguments; /* ATMI_PLAN_BLOCK_BYTES for each plan */
};

/* Frees plans; accepts NULL. Blocks and signals go with their pools. */
void atmi_plans_destroy(struct atmi_plans *plans);

/* Where the plan with this id is, if there is one: NULL, or maybe another one, or none. */
static inline atmi_plan_t *atmi_plan_place(struct atmi_plans *plans, uint64_t id) {
  return plans ? &plans->plans[id % ATMI_PLANS] : NULL;
}

/* The plan for a launch, or NULL. */
static inline __attribute__((always_inline)) atmi_plan_t *atmi_plan_find(struct atmi_plans *plans,
                                                                         atmi_plan_key_t key) {
  atmi_plan_t *plan = atmi_plan_place(plans, key.id);
  if (!plan)
    return NULL;
  const uint64_t *planned = plan->key.words;
  uint64_t difference = (plan->key.id ^ key.id) | (planned[0] ^ key.words[0]) | (planned[1] ^ key.words[1]) |
                        (planned[2] ^ key.words[2]) | (planned[3] ^ key.words[3]) |
                        (planned[4] ^ key.words[4]) | (planned[5] ^ key.words[5]);
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

/* Writes the program's words, unless the caller has, and gives the device a packet like the plan's, for the
 * operation at this place of the list, which is still to be counted. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_publish(atmi_stream_t *stream, const atmi_plan_t *plan, const hsa_kernel_dispatch_packet_t *packet,
                  uint64_t *words, uint32_t place, void *const *arguments, const ptrdiff_t *offsets) {
  uint32_t count = arguments ? plan->argument_count : 0;
  for (uint32_t i = 0; i < count && offsets; i++)
    words[i] = (uint64_t)(uintptr_t)arguments[i] + (uint64_t)offsets[i];
  for (uint32_t i = 0; i < count && !offsets; i++)
    words[i] = (uint64_t)(uintptr_t)arguments[i];
  uint64_t index, first;
  atmi_queue_t *queue = stream->queue;
  atmi_status_t status = atmi_queue_claim(queue, &index);
  atmi_operation_t *operation = &stream->operations[place];
  atmi_signal_t *signal = operation->signal;
  if (__builtin_expect(status, 0))
    return atmi_plan_refuse(stream, signal);
  hsa_kernel_dispatch_packet_t *slot = atmi_queue_slot(queue, index);
  atmi_queue_note_t *note = atmi_queue_note_at(queue, index);
  operation->kind = ATMI_OPERATION_KERNEL;
  atmi_packet_fill_copy(packet, signal->hsa, slot);
  atmi_signal_begin_for(signal, slot);
  atmi_queue_fill_note(note, index, plan->kernel, signal);
  memcpy(&first, packet, sizeof first);
  atmi_queue_publish_first(queue, index, slot, first);
  return ATMI_OK;
}

/* Waits for the stream's first operation if its beginning ended with this status, and gives the queue back
 * that was taken for it. Returns how both have ended. */
atmi_status_t atmi_plan_wait(atmi_stream_t *stream, atmi_status_t begun);

/* Launches once more by a plan whose queue the stream holds, behind whatever is outstanding. A lost device
 * may only show when the stream is synchronised. */
ATMI_MUST_CHECK atmi_status_t atmi_plan_launch(atmi_stream_t *stream, const atmi_plan_t *plan,
                                               void *const *arguments, const ptrdiff_t *offsets);

/* The same on a stream that was idle when its caller took it, behind what he has begun on it since, which was
 * no launch. ATMI_PENDING: nothing has happened, others use the queue. */
ATMI_MUST_CHECK atmi_status_t atmi_plan_launch_behind(atmi_stream_t *stream, const atmi_plan_t *plan,
                                                      void *const *arguments);

/* The same on an idle stream whose first place is ready and that has no timeline. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_launch_first(atmi_stream_t *stream, const atmi_plan_t *plan, void *const *arguments,
                       const ptrdiff_t *offsets) {
  stream->planned = plan;
  atmi_status_t status = atmi_plan_publish(stream, plan, &plan->packet, plan->words, 0, arguments, offsets);
  stream->count = !status;
  return status;
}

/* The same, and waits. The stream holds no queue before and afterwards, and is idle; the words have been
 * written to the plan's. ATMI_PENDING: nothing has happened, others use the queue. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
atmi_plan_run(atmi_stream_t *stream, const atmi_plan_t *plan) {
  if (!atmi_queue_take_idle(stream->queue))
    return ATMI_PENDING;
  atmi_status_t status = atmi_plan_publish(stream, plan, &plan->packet, plan->words, 0, NULL, NULL);
  if (__builtin_expect(status || !atmi_stream_has_one_done(stream), 0))
    return atmi_plan_wait(stream, status);
  atmi_queue_release(stream->queue);
  return ATMI_OK;
}

#endif
