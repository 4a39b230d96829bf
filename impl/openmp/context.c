/* The context itself: what is set in it, and what follows. */
#include "openmp/context.h"

atmi_context_t atmi_the_context = {.waking = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

void atmi_context_count_devices(atmi_context_t *context) {
  uint32_t count = context->state == ATMI_CONTEXT_RUNNING ? context->device_count : 0;
  if (count != atomic_load_explicit(&context->usable_count, memory_order_relaxed)) {
    /* A device may have been lost before, or be lost in between, so that is looked at afterwards. Until then
     * the number may tell who asks of a device that is lost, but nobody does: devices whose use begins or
     * ends have no operation that the fault could have ended. */
    atomic_store(&context->machine.sound_count, count);
    if (atomic_load(&context->machine.has_lost))
      atomic_store(&context->machine.sound_count, 0);
  }
  /* Release pairs with the acquire of the entry points: the devices are seen with their number. */
  atomic_store_explicit(&context->usable_count, count, memory_order_release);
  bool plain = !context->observed && !context->watched && !context->machine.timeline;
  atomic_store_explicit(&context->plain_count, plain ? count : 0, memory_order_release);
}

void atmi_context_set_info_locked(atmi_context_t *context, uint32_t flags) {
  bool observed = context->env.kernel_trace || flags & ATMI_INFO_KERNEL;
  atomic_store(&context->info, flags);
  atomic_store(&context->observed, observed);
  atmi_context_count_devices(context);
}

void atmi_context_set_info(atmi_context_t *context, uint32_t flags) {
  if (context->state == ATMI_CONTEXT_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&context->lock);
  atmi_context_set_info_locked(context, flags);
  pthread_mutex_unlock(&context->lock);
}

void atmi_context_set_watched(atmi_context_t *context, bool watched) {
  if (context->state == ATMI_CONTEXT_FORKED)
    return;
  pthread_mutex_lock(&context->lock);
  atomic_store(&context->watched, watched);
  atmi_context_count_devices(context);
  pthread_mutex_unlock(&context->lock);
}

void atmi_context_set_unified(atmi_context_t *context, bool unified) {
  if (context->state == ATMI_CONTEXT_FORKED)
    return;
  pthread_mutex_lock(&context->lock);
  atomic_store(&context->unified, unified);
  atomic_store(&context->machine.unified, unified);
  pthread_mutex_unlock(&context->lock);
}
