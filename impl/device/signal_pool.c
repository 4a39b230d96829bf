/* Completion signals: taking, waiting, and recycling them. */
#include "device/signal_pool.h"

#include <hsa/amd_hsa_signal.h>
#include <sched.h>
#include <time.h>

static atmi_status_t make_signal(void *object, void *context) {
  atmi_signal_t *signal = object;
  signal->home = context;
  hsa_status_t hsa = hsa_signal_create(0, 0, NULL, &signal->hsa);
  if (hsa != HSA_STATUS_SUCCESS)
    return atmi_fail(ATMI_NO_MEMORY, signal->home->where, "cannot create a completion signal: %s",
                     atmi_hsa_reason(hsa));
  signal->value = &((amd_signal_t *)(uintptr_t)signal->hsa.handle)->value;
  return ATMI_OK;
}

static void destroy_signal(void *object, void *context) {
  (void)context;
  hsa_signal_destroy(((atmi_signal_t *)object)->hsa);
}

void atmi_signal_pool_init(atmi_signal_pool_t *signals, const char *where, const atomic_bool *lost) {
  signals->where = where;
  signals->lost = lost;
  atmi_pool_init(&signals->pool, sizeof(atmi_signal_t), make_signal, destroy_signal, signals);
}

void atmi_signal_pool_fini(atmi_signal_pool_t *signals) {
  atmi_pool_fini(&signals->pool);
}

/* The owner's reference to a signal without any: from here on old marks do not fit it. */
static void own(atmi_signal_t *signal) {
  signal->known = false;
  atomic_store_explicit(&signal->use, atomic_load_explicit(&signal->use, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  /* Release: who gets a reference through an old mark sees that the use has changed. */
  atomic_store_explicit(&signal->references, 1, memory_order_release);
}

atmi_status_t atmi_signal_take(atmi_signal_pool_t *signals, atmi_signal_t **signal) {
  void *object;
  atmi_status_t status = atmi_pool_take(&signals->pool, &object);
  if (status)
    return status;
  *signal = object;
  own(*signal);
  return ATMI_OK;
}

bool atmi_signal_retire(atmi_signal_t *signal) {
  uint32_t only_ours = 1;
  /* Acquire and release as in atmi_signal_unref. At zero, no mark can turn into a reference. */
  if (!atomic_compare_exchange_strong_explicit(&signal->references, &only_ours, 0, memory_order_acq_rel,
                                               memory_order_relaxed))
    return false;
  own(signal);
  return true;
}

void atmi_signal_ref(atmi_signal_t *signal) {
  atomic_fetch_add_explicit(&signal->references, 1, memory_order_relaxed);
}

void atmi_signal_unref(atmi_signal_t *signal) {
  /* Release orders this owner's use before the recycling; acquire orders the recycling after everybody's use.
   */
  if (signal && atomic_fetch_sub_explicit(&signal->references, 1, memory_order_acq_rel) == 1)
    atmi_pool_put(&signal->home->pool, signal);
}

atmi_signal_t *atmi_signal_from_mark(atmi_signal_pool_t *signals, atmi_signal_mark_t mark) {
  if (!mark)
    return NULL;
  /* Signals never move and live as long as their pool, so an old mark leads to a signal at least. */
  atmi_signal_t *signal = atmi_pool_at(&signals->pool, (uint32_t)mark - 1);
  uint32_t count = atomic_load_explicit(&signal->references, memory_order_relaxed);
  do {
    if (!count)
      return NULL; /* nobody uses it: its last use is over */
    /* Acquire pairs with the release when it was owned anew: a newer use shows in `use` below. */
  } while (!atomic_compare_exchange_weak_explicit(&signal->references, &count, count + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  if (atomic_load_explicit(&signal->use, memory_order_relaxed) == (uint32_t)(mark >> 32))
    return signal;
  atmi_signal_unref(signal);
  return NULL;
}

/* ---- waiting ---- */

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Here and not by HSA's active wait, which never lets another thread have the processor: with more threads
 * waiting than processors, those that they wait for come late. But a yield may take as long as all looks in
 * between, and what is waited for mostly comes sooner. */
static atmi_status_t wait_awake(const atmi_signal_t *signal, int64_t busy_us) {
  enum { LOOKS_PER_YIELD = 64, LEAST_YIELDS = 16 };
  int64_t begin = now_us();
  for (int yields = 0;; yields++) {
    for (int looks = 0; looks < LOOKS_PER_YIELD; looks++) {
      atmi_status_t status = atmi_signal_query(signal);
      if (status != ATMI_PENDING)
        return status;
      relax();
    }
    if (yields >= LEAST_YIELDS && now_us() - begin >= busy_us)
      return ATMI_PENDING;
    sched_yield();
  }
}

/* One wait by HSA, which may end before its time. */
static atmi_status_t sleep_on(const atmi_signal_t *signal, uint64_t ticks) {
  /* Before the look at the device's flag: a fault has either shown there, or its report finds this signal not
   * complete and wakes us (see atmi_signal_pool_abandon). */
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(signal->home->lost, memory_order_relaxed))
    return ATMI_LOST;
  hsa_signal_wait_scacquire(signal->hsa, HSA_SIGNAL_CONDITION_LT, 1, ticks, HSA_WAIT_STATE_BLOCKED);
  return atmi_signal_query(signal);
}

atmi_status_t atmi_signal_wait_a_while(const atmi_signal_t *signal, int64_t busy_us, uint64_t sleep_ticks) {
  atmi_status_t status = wait_awake(signal, busy_us);
  return status == ATMI_PENDING ? sleep_on(signal, sleep_ticks) : status;
}

atmi_status_t atmi_signal_wait(const atmi_signal_t *signal, int64_t busy_us) {
  atmi_status_t status = wait_awake(signal, busy_us);
  while (status == ATMI_PENDING)
    status = sleep_on(signal, UINT64_MAX);
  return status;
}

void atmi_signal_release(atmi_signal_t *signal) {
  hsa_signal_store_screlease(signal->hsa, 0);
}

void atmi_signal_abandon(atmi_signal_t *signal) {
  if (__atomic_load_n(signal->value, __ATOMIC_RELAXED) <= 0)
    return;
  atomic_store_explicit(&signal->lost, true, memory_order_relaxed);
  /* Release: who sees the zero sees that it means nothing. */
  hsa_signal_store_screlease(signal->hsa, 0);
}

void atmi_signal_pool_abandon(atmi_signal_pool_t *signals) {
  /* Behind the store of the device's lost flag, see atmi_signal_wait. */
  atomic_thread_fence(memory_order_seq_cst);
  uint32_t count = atmi_pool_count(&signals->pool);
  for (uint32_t i = 0; i < count; i++)
    atmi_signal_abandon(atmi_pool_at(&signals->pool, i));
}
