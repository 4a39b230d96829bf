/* Which device may be used, and what is said where there is none. */
#include "openmp/use.h"

#include "base/hsa.h"
#include "openmp/fork.h"
#include "stream/stream.h"

static void begin_if_idle(atmi_context_t *context) {
  if (context->state == ATMI_CONTEXT_IDLE) {
    atmi_machine_begin(&context->machine);
    context->state = ATMI_CONTEXT_RUNNING;
  }
  atmi_context_count_devices(context);
}

/* The first use after a fork finds the devices again. ROCr begins with opening libraries, for which it wants
 * the dynamic linker's lock; a thread that has that, because it runs the constructor of a library with device
 * code, wants ours. So ROCr begins before we take ours, and what is done under it only counts. Forks and
 * other uses wait. */
static void wake(atmi_context_t *context) {
  pthread_mutex_lock(&context->waking);
  context->opener = atmi_stream_thread();
  bool has_begun =
      context->state == ATMI_CONTEXT_ASLEEP && !atmi_hsa_open() && hsa_init() == HSA_STATUS_SUCCESS;
  pthread_mutex_lock(&context->lock);
  if (context->state == ATMI_CONTEXT_ASLEEP)
    atmi_fork_wake(context);
  begin_if_idle(context);
  pthread_mutex_unlock(&context->lock);
  if (has_begun)
    hsa_shut_down(); /* the machine has begun it, too */
  context->opener = 0;
  pthread_mutex_unlock(&context->waking);
}

void atmi_context_begin_use(atmi_context_t *context) {
  atmi_context_state_t state;
  while ((state = atomic_load_explicit(&context->state, memory_order_acquire)) == ATMI_CONTEXT_ASLEEP ||
         state == ATMI_CONTEXT_IDLE) {
    if (state == ATMI_CONTEXT_ASLEEP) {
      wake(context);
      continue;
    }
    pthread_mutex_lock(&context->lock);
    begin_if_idle(context);
    pthread_mutex_unlock(&context->lock);
  }
  /* Who begins says so before it counts the devices, under the lock: a thread that comes in between waits. */
  if (state == ATMI_CONTEXT_RUNNING &&
      atomic_load_explicit(&context->usable_count, memory_order_acquire) == 0) {
    pthread_mutex_lock(&context->lock);
    pthread_mutex_unlock(&context->lock);
  }
}

bool atmi_context_ask_zero_copy(const atmi_context_t *context, atmi_omp_device_t *device) {
  /* Without xnack a GPU cannot reach memory that nobody mapped for it. Where it is not the host's, copying is
   * faster unless the user knows better. */
  const atmi_device_properties_t *properties = &device->properties;
  bool zero_copy =
      (context->env.apu_maps || properties->is_apu) && properties->target.xnack == ATMI_FEATURE_ON;
  atomic_store(&device->zero_copy, zero_copy);
  return zero_copy;
}

/* Says why there is no device of this number, or why it may not be used any more; nothing if the context was
 * stopped. */
static atmi_omp_device_t *refuse(const atmi_context_t *context, int32_t number, const char *operation) {
  switch (atomic_load_explicit(&context->state, memory_order_acquire)) {
  case ATMI_CONTEXT_FORKED:
  case ATMI_CONTEXT_CHANGED: atmi_fork_refuse(context, operation); break;
  case ATMI_CONTEXT_ENDING:
    atmi_fail(ATMI_UNSUPPORTED, NULL,
              "cannot %s: the program is ending, and ROCr has ended before it; offload from atexit handlers "
              "or destructors of C++ objects instead, which run earlier",
              operation);
    break;
  case ATMI_CONTEXT_IDLE:
  case ATMI_CONTEXT_ASLEEP:
  case ATMI_CONTEXT_RUNNING:
    atmi_fail(ATMI_NOT_FOUND, NULL, "cannot %s: there is no AMD device %d, only %u of them", operation,
              (int)number, context->device_count);
    break;
  case ATMI_CONTEXT_NEW:
  case ATMI_CONTEXT_STOPPED: break;
  }
  return NULL;
}

atmi_omp_device_t *atmi_context_first_device(atmi_context_t *context, int32_t number, const char *operation) {
  atmi_context_begin_use(context);
  return atmi_context_is_usable(context, number) ? &context->devices[number]
                                                 : refuse(context, number, operation);
}

atmi_omp_device_t *atmi_context_late_device(atmi_context_t *context, int32_t number, const char *operation) {
  if (atomic_load_explicit(&context->state, memory_order_acquire) == ATMI_CONTEXT_ENDING &&
      (uint32_t)number < context->machine.device_count)
    return &context->devices[number];
  return atmi_context_first_device(context, number, operation);
}

atmi_omp_device_t *atmi_context_known_device(atmi_context_t *context, int32_t number, const char *operation) {
  atmi_context_state_t state = atomic_load_explicit(&context->state, memory_order_acquire);
  bool known = state == ATMI_CONTEXT_IDLE || state == ATMI_CONTEXT_ASLEEP || state == ATMI_CONTEXT_RUNNING;
  return known && (uint32_t)number < context->device_count ? &context->devices[number]
                                                           : refuse(context, number, operation);
}
