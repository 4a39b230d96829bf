/* Completion signals: taking, counting and recycling them. */
#include "atmi_signal_pool.h"

#include "atmi_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <sched.h>

static atmi_status_t make_signal(void *object, void *context) {
  atmi_signal_t *signal = object;
  hsa_status_t hsa = hsa_signal_create(0, 0, NULL, &signal->hsa);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_fail(ATMI_NO_MEMORY, context, "cannot create a completion signal: %s", atmi_hsa_reason(hsa));
  signal->value = &((amd_signal_t *)(uintptr_t)signal->hsa.handle)->value;
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
  *signal = object;
  (*signal)->pool = pool;
  atmi_signal_begin(*signal);
  return ATMI_OK;
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

atmi_signal_t *atmi_signal_from_mark(atmi_pool_t *pool, atmi_signal_mark_t mark) {
  if (!mark)
    return NULL;
  /* Signals never move and live as long as their pool, so an old mark leads to a signal at least. */
  atmi_signal_t *signal = atmi_pool_at(pool, (uint32_t)mark - 1);
  uint32_t count = atomic_load_explicit(&signal->references, memory_order_relaxed);
  do {
    if (!count)
      return NULL; /* nobody uses it: its last use is over */
    /* Acquire pairs with the release in atmi_signal_begin: a newer use shows in `use` below. */
  } while (!atomic_compare_exchange_weak_explicit(&signal->references, &count, count + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  if (atomic_load_explicit(&signal->use, memory_order_relaxed) == (uint32_t)(mark >> 32))
    return signal;
  atmi_signal_unref(signal);
  return NULL;
}

atmi_status_t atmi_signal_judge(atmi_signal_t *signal, hsa_signal_value_t value) {
  if (value > 0)
    return ATMI_PENDING;
  if (atomic_load_explicit(&signal->lost, memory_order_acquire))
    return ATMI_LOST;
  if (value < 0)
    return ATMI_HSA_FAILED;
  atomic_store_explicit(&signal->done, true, memory_order_release);
  return ATMI_OK;
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* HSA's wait spins for 0.2 ms before it sleeps, and never lets another thread have the processor: with more
 * threads waiting than processors, those that they wait for come late. Short kernels end before that. */
static atmi_status_t wait_briefly(atmi_signal_t *signal) {
  enum { YIELDS = 64, LOOKS_PER_YIELD = 16 };
  for (int i = 1; i < YIELDS * LOOKS_PER_YIELD; i++) {
    atmi_status_t status = atmi_signal_query(signal);
    if (status != ATMI_PENDING)
      return status;
    if (i % LOOKS_PER_YIELD == 0)
      sched_yield();
    else
      relax();
  }
  return ATMI_PENDING;
}

atmi_status_t atmi_signal_wait(atmi_signal_t *signal, uint64_t busy_ticks) {
  atmi_status_t status = wait_briefly(signal);
  if (status != ATMI_PENDING)
    return status;
  hsa_signal_value_t value = 1;
  if (busy_ticks)
    value =
        hsa_signal_wait_scacquire(signal->hsa, HSA_SIGNAL_CONDITION_LT, 1, busy_ticks, HSA_WAIT_STATE_ACTIVE);
  while (value > 0)
    value = hsa_signal_wait_scacquire(signal->hsa, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                      HSA_WAIT_STATE_BLOCKED);
  return atmi_signal_judge(signal, value);
}

void atmi_signal_pool_abandon(atmi_pool_t *pool) {
  uint32_t count = atmi_pool_count(pool);
  for (uint32_t i = 0; i < count; i++) {
    atmi_signal_t *signal = atmi_pool_at(pool, i);
    /* Sequentially consistent, as are the store of the device's lost flag before this, and in
     * atmi_signal_expect the exchange before the look at that flag: either that thread sees that the device
     * is lost, or we see its signal in use, and with it the reference that came before. */
    if (atomic_load(&signal->done) || !atomic_load_explicit(&signal->references, memory_order_acquire))
      continue;
    atomic_store_explicit(&signal->lost, true, memory_order_release);
    hsa_signal_store_screlease(signal->hsa, 0);
  }
}
