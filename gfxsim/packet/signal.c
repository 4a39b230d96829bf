/* amd_signal_t from the device's side. Layout and order of the steps: AMD's amd_hsa_signal.h and AMDGPU
 * kernel dispatch protocol. */
#include "packet/signal.h"

#include <hsa/amd_hsa_signal.h>
#include <time.h>

/* A signal has 64 bytes and is aligned to as many. */
static amd_signal_t *signal_at(gs_bus_t *bus, uint64_t handle, uint32_t access) {
  return gs_bus_word_at(bus, handle, sizeof(amd_signal_t), access);
}
_Static_assert(sizeof(amd_signal_t) == AMD_SIGNAL_ALIGN_BYTES, "the alignment check uses the size");

/* Where the event is announced, read before the signal changes: its owner may free it as soon as it has. */
typedef struct announcement {
  uint64_t mailbox;
  uint32_t event_id;
} announcement_t;

static announcement_t announcement_read(const amd_signal_t *signal) {
  return (announcement_t){
      .mailbox = __atomic_load_n(&signal->event_mailbox_ptr, __ATOMIC_RELAXED),
      .event_id = __atomic_load_n(&signal->event_id, __ATOMIC_RELAXED),
  };
}

static bool announce(gs_bus_t *bus, const announcement_t *announcement, uint32_t *event_id) {
  *event_id = 0;
  if (!announcement->mailbox)
    return true;
  uint64_t *mailbox = gs_bus_word_at(bus, announcement->mailbox, sizeof *mailbox, GS_VM_WRITE);
  if (!mailbox)
    return false;
  /* Released after the signal's value: who finds the event set, finds the value changed. */
  __atomic_store_n(mailbox, announcement->event_id, __ATOMIC_RELEASE);
  *event_id = announcement->event_id;
  return true;
}

void gs_signal_add(const gs_bus_t *bus, int64_t *value, int64_t amount) {
  if (!bus->no_atomics) {
    __atomic_fetch_add(value, amount, __ATOMIC_ACQ_REL);
    return;
  }
  const struct timespec between = {.tv_nsec = 20000};
  const int64_t before = __atomic_load_n(value, __ATOMIC_ACQUIRE);
  nanosleep(&between, NULL);
  __atomic_store_n(value, before + amount, __ATOMIC_RELEASE);
}

bool gs_signal_complete(gs_bus_t *bus, uint64_t handle, uint64_t start, uint64_t end, uint32_t *event_id) {
  *event_id = 0;
  if (!handle)
    return true;
  amd_signal_t *signal = signal_at(bus, handle, GS_VM_READ | GS_VM_WRITE);
  if (!signal)
    return false;
  const announcement_t announcement = announcement_read(signal);
  gs_late_perhaps(&bus->late, GS_ORDER_LATE);
  __atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
  __atomic_store_n(&signal->end_ts, end, __ATOMIC_RELAXED);
  /* Releases the time stamps and everything that the completed work wrote. */
  gs_signal_add(bus, (int64_t *)&signal->value, -1);
  gs_late_perhaps(&bus->late, GS_ORDER_EVENTS);
  return announce(bus, &announcement, event_id);
}

bool gs_signal_load(gs_bus_t *bus, uint64_t handle, int64_t *value) {
  const amd_signal_t *signal = signal_at(bus, handle, GS_VM_READ);
  if (!signal)
    return false;
  *value = __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
  return true;
}

bool gs_signal_store_if_zero(gs_bus_t *bus, uint64_t handle, int64_t value, bool *stored,
                             uint32_t *event_id) {
  *stored = false;
  *event_id = 0;
  amd_signal_t *signal = signal_at(bus, handle, GS_VM_READ | GS_VM_WRITE);
  if (!signal)
    return false;
  const announcement_t announcement = announcement_read(signal);
  int64_t expected = 0;
  *stored = __atomic_compare_exchange_n(&signal->value, &expected, value, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED);
  return !*stored || announce(bus, &announcement, event_id);
}
