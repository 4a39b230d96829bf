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

/* Launches again what was launched before: if the stream is idle, has a plan of it, and the queue. False, and
 * nothing has happened, otherwise: atmi_omp_launch does the same in all cases. */
static inline __attribute__((always_inline)) bool
atmi_omp_launch_again(atmi_stream_t *stream, const atmi_omp_kernel_t *kernel, void *const *arguments,
                      const ptrdiff_t *offsets, atmi_omp_words_t words, atmi_status_t *status) {
  /* The geometry is a function of kernel and request alone, so an equal request gets an equal launch. */
  atmi_plan_t *plan = atmi_plan_find(stream->ready_plans, kernel->core.id, words.word);
  if (!plan || !atmi_stream_settle_plain(stream) || !atmi_plan_hold_queue(stream))
    return false;
  *status = atmi_plan_launch_first(stream, &kernel->core, plan, arguments, offsets);
  return true;
}

#endif
