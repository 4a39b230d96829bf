/* Completion signals: taking, counting and recycling them. */
#include "atmi_signal_pool.h"

static atmi_status_t make_signal(void *object, void *context) {
  atmi_signal_t *signal = object;
  hsa_status_t hsa = hsa_signal_create(0, 0, NULL, &signal->hsa);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_fail(ATMI_NO_MEMORY, context, "cannot create a completion signal: %s", atmi_hsa_reason(hsa));
  return ATMI_OK;
}

static void destroy_signal(void *object, void *context) {
  (void)context;
  hsa_signal_destroy(((atmi_signal_t *)object)->hsa);
}

void atmi_signal_pool_init(atmi_pool_t *pool, const char *where) {
  /* The pool hands `where` back as a plain pointer; it is only read. */
  atmi_pool_init(pool, sizeof(atmi_signal_t), make_signal, destroy_signal, (void *)(uintptr_t)where);
}

atmi_status_t atmi_signal_take(atmi_pool_t *pool, atmi_signal_t **signal) {
  void *object;
  atmi_status_t status = atmi_pool_take(pool, &object);
  if (status)
    return status;
  atmi_signal_t *taken = object;
  taken->pool = pool;
  taken->closed = false;
  atomic_store_explicit(&taken->started, 1, memory_order_relaxed);
  atomic_store_explicit(&taken->done, false, memory_order_relaxed);
  atomic_fetch_add_explicit(&taken->use, 1, memory_order_relaxed);
  /* Sequentially consistent: if atmi_signal_pool_abandon saw no reference, then this thread sees that the
   * device is lost, which was stored before, when it looks before waiting (atmi_stream). */
  atomic_store(&taken->references, 1);
  hsa_signal_store_relaxed(taken->hsa, 1);
  *signal = taken;
  return ATMI_OK;
}

void atmi_signal_add(atmi_signal_t *signal) {
  atomic_store_explicit(&signal->started, atomic_load_explicit(&signal->started, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store_explicit(&signal->done, false, memory_order_relaxed);
  hsa_signal_add_relaxed(signal->hsa, 1);
}

void atmi_signal_ref(atmi_signal_t *signal) {
  atomic_fetch_add_explicit(&signal->references, 1, memory_order_relaxed);
}

void atmi_signal_unref(atmi_signal_t *signal) {
  /* Release orders this owner's use before the recycling; acquire orders the recycling after everybody's use.
   */
  if (signal && atomic_fetch_sub_explicit(&signal->references, 1, memory_order_acq_rel) == 1)
    atmi_pool_put(signal->pool, signal);
}

static atmi_status_t judge(atmi_signal_t *signal, hsa_signal_value_t value) {
  if (value > 0)
    return ATMI_PENDING;
  if (atomic_load_explicit(&signal->lost, memory_order_acquire))
    return ATMI_LOST;
  if (value < 0)
    return ATMI_HSA_FAILED;
  atomic_store_explicit(&signal->done, true, memory_order_release);
  return ATMI_OK;
}

atmi_status_t atmi_signal_query(atmi_signal_t *signal) {
  /* Acquire: who sees the flag also sees what the operations wrote, as the thread that saw zero did. */
  if (atomic_load_explicit(&signal->done, memory_order_acquire))
    return ATMI_OK;
  return judge(signal, hsa_signal_load_scacquire(signal->hsa));
}

atmi_status_t atmi_signal_wait(atmi_signal_t *signal, uint64_t busy_ticks) {
  if (atomic_load_explicit(&signal->done, memory_order_acquire))
    return ATMI_OK;
  hsa_signal_value_t value = 1;
  if (busy_ticks)
    value =
        hsa_signal_wait_scacquire(signal->hsa, HSA_SIGNAL_CONDITION_LT, 1, busy_ticks, HSA_WAIT_STATE_ACTIVE);
  while (value > 0)
    value = hsa_signal_wait_scacquire(signal->hsa, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                      HSA_WAIT_STATE_BLOCKED);
  return judge(signal, value);
}

void atmi_signal_pool_abandon(atmi_pool_t *pool) {
  uint32_t count = atmi_pool_count(pool);
  for (uint32_t i = 0; i < count; i++) {
    atmi_signal_t *signal = atmi_pool_at(pool, i);
    if (!atomic_load(&signal->references))
      continue;
    if (atomic_load_explicit(&signal->done, memory_order_acquire))
      continue;
    atomic_store_explicit(&signal->lost, true, memory_order_release);
    hsa_signal_store_screlease(signal->hsa, 0);
  }
}
