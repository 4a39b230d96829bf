/* Making and forgetting plans. */
#include "atmi_plan.h"

#include <stdlib.h>

static bool prepare(atmi_stream_t *stream) {
  bool fresh = !stream->plans;
  if (fresh)
    stream->plans = aligned_alloc(_Alignof(struct atmi_plans), sizeof *stream->plans);
  struct atmi_plans *plans = stream->plans;
  if (!plans)
    return false;
  if (fresh)
    *plans = (struct atmi_plans){0};
  void *object;
  if (!plans->arguments && !atmi_pool_take(stream->kernargs.pool, &object))
    plans->arguments = object;
  return plans->arguments && atmi_stream_has_own(stream);
}

void atmi_plan_remember(atmi_stream_t *stream, const atmi_plan_key_t *key, const atmi_kernel_t *kernel,
                        const atmi_launch_t *launch) {
  if (kernel->metadata->kernarg_bytes > ATMI_PLAN_BLOCK_BYTES || launch->has_leading || kernel->calls_host ||
      !prepare(stream))
    return;
  size_t place = key->kernel % ATMI_PLANS;
  atmi_plan_t *plan = &stream->plans->plans[place];
  /* The device may still read the block. */
  if (plan == stream->plans->in_use)
    return;
  char *block = stream->plans->arguments->memory + place * ATMI_PLAN_BLOCK_BYTES;
  atmi_stream_fill_arguments(stream, kernel, launch, block);
  const atmi_dispatch_t dispatch = atmi_stream_dispatch(kernel, launch, block);
  *plan = (atmi_plan_t){.key = *key, .kernel = kernel};
  atmi_packet_fill_dispatch(&dispatch, &plan->packet);
  /* Without the barrier bit: nothing of an idle stream is before it. But what must run alone lets others end.
   */
  uint32_t header =
      atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, atmi_stream_runs_alone(stream, kernel, launch),
                         atmi_packet_dispatch_setup(&dispatch));
  memcpy(&plan->packet, &header, sizeof header);
}

void atmi_plans_forget(atmi_stream_t *stream) {
  for (size_t i = 0; stream->plans && i < ATMI_PLANS; i++)
    stream->plans->plans[i].key.kernel = 0;
}

void atmi_plans_destroy(struct atmi_plans *plans) {
  free(plans);
}
