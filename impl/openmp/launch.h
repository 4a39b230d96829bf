/* Launches of target regions on streams. Not here: how many teams and threads (geometry), and the packets
 * (stream/plan). */
#ifndef ATMI_OPENMP_LAUNCH_H
#define ATMI_OPENMP_LAUNCH_H

#include "openmp/context.h"
#include "stream/plan.h"

/* Launches a kernel on a stream of the device, and prints what the user asked to see of launches. Fails,
 * described. */
ATMI_MUST_CHECK atmi_status_t atmi_omp_launch(atmi_context_t *context, atmi_omp_device_t *device,
                                              const atmi_omp_kernel_t *kernel,
                                              const atmi_omp_request_t *request, atmi_stream_t *stream);

/* What tells a launch from others if its request does not say: the kernel's number, which no other kernel of
 * the process ever gets, and the shape. The geometry is a function of these alone. */
static inline atmi_plan_key_t atmi_omp_launch_key(const atmi_omp_kernel_t *kernel, atmi_omp_words_t words) {
  const uint64_t *word = words.word;
  return (atmi_plan_key_t){kernel->core.id, {word[0], word[1], word[2], word[3], word[4]}, 0};
}

/* Launches again what was launched before: if the stream is idle, has a plan of it, and the queue. False, and
 * nothing has happened, otherwise: atmi_omp_launch does the same in all cases.
 *   plan  of the stream's ready ones; NULL: none */
static inline __attribute__((always_inline)) bool
atmi_omp_launch_by(const atmi_plan_t *plan, atmi_stream_t *stream, void *const *arguments,
                   const ptrdiff_t *offsets, atmi_status_t *status) {
  if (!plan || !atmi_stream_settle_plain(stream) || !atmi_plan_hold_queue(stream))
    return false;
  *status = atmi_plan_launch_first(stream, plan, arguments, offsets);
  return true;
}

static inline __attribute__((always_inline)) bool
atmi_omp_launch_again(atmi_stream_t *stream, atmi_plan_key_t key, void *const *arguments,
                      const ptrdiff_t *offsets, atmi_status_t *status) {
  return atmi_omp_launch_by(atmi_plan_find(stream->ready_plans, key), stream, arguments, offsets, status);
}

#endif
