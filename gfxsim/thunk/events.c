/* Events of the process and the threads that sleep on them. Each event has a lock of its own and a list of
 * waiters; each waiting thread has one word in its stack on which it sleeps. */
#include "thunk/events.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "thunk/thunk.h"

/* What an idle mailbox holds: the driver's value for "no event here". */
#define MAILBOX_IDLE UINT64_MAX

/* A sleeping thread. */
typedef struct waiter {
  _Atomic(uint32_t) wakes; /* counts; the thread sleeps while it has not changed */
} waiter_t;

/* One thread's interest in one event. */
typedef struct link {
  gs_event_t *event;
  waiter_t *waiter;
  struct link *next;
  atomic_bool activated; /* the event was set since (or before) the thread began to wait */
} link_t;

struct gs_event {
  pthread_mutex_t lock;
  HsaEvent *user; /* NULL = the slot is free */
  bool auto_reset;
  bool signaled;
  link_t *links;
};

int gs_events_init(gs_events_t *events, uint64_t *mailbox, uint32_t capacity) {
  memset(events, 0, sizeof *events);
  events->slot = calloc(capacity, sizeof *events->slot);
  if (!events->slot)
    return -1;
  if (pthread_mutex_init(&events->lock, NULL)) {
    free(events->slot);
    return -1;
  }
  events->mailbox = mailbox;
  events->capacity = capacity;
  for (uint32_t i = 0; i < capacity; i++)
    mailbox[i] = MAILBOX_IDLE;
  events->initialized = true;
  return 0;
}

static gs_event_t *event_in_slot(gs_events_t *events, uint32_t i) {
  /* Acquires the initialised lock of the event. */
  return atomic_load_explicit(&events->slot[i], memory_order_acquire);
}

void gs_events_fini(gs_events_t *events) {
  if (!events->initialized)
    return;
  for (uint32_t i = 0; i < events->capacity; i++) {
    gs_event_t *event = event_in_slot(events, i);
    if (!event)
      continue;
    pthread_mutex_destroy(&event->lock);
    free(event->user);
    free(event);
  }
  free(events->slot);
  pthread_mutex_destroy(&events->lock);
  events->initialized = false;
}

/* The event with this id, which may be free by now, or NULL. */
static gs_event_t *event_find(gs_events_t *events, uint32_t id) {
  return id >= 1 && id <= events->capacity ? event_in_slot(events, id - 1) : NULL;
}

static void wake(waiter_t *waiter) {
  /* Releases `activated`; the sleeper compares the count that it read before it looked at its links. */
  atomic_fetch_add_explicit(&waiter->wakes, 1, memory_order_release);
  syscall(SYS_futex, &waiter->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Wakes everybody who waits. With the event's lock held. */
static void activate(gs_event_t *event) {
  for (link_t *link = event->links; link; link = link->next) {
    atomic_store_explicit(&link->activated, true, memory_order_release);
    wake(link->waiter);
  }
}

/* An auto-reset event that somebody waits for is taken by the waiters at once. With the event's lock held. */
static void set(gs_event_t *event) {
  event->signaled = !event->auto_reset || !event->links;
  activate(event);
}

/* Puts an event into slot `i` if that is free. */
static gs_event_t *claim_slot(gs_events_t *events, uint32_t i, HsaEvent *user) {
  gs_event_t *event = event_in_slot(events, i);
  if (!event) {
    event = calloc(1, sizeof *event);
    if (!event || pthread_mutex_init(&event->lock, NULL)) {
      free(event);
      return NULL;
    }
    event->user = user;
    atomic_store_explicit(&events->slot[i], event, memory_order_release);
    return event;
  }
  pthread_mutex_lock(&event->lock);
  const bool taken = event->user != NULL;
  if (!taken)
    event->user = user;
  pthread_mutex_unlock(&event->lock);
  return taken ? NULL : event;
}

static void describe(HsaEvent *user, const HsaEventDescriptor *descriptor, uint32_t id, uint64_t *mailbox) {
  user->EventId = id;
  user->EventData.EventType = descriptor->EventType;
  user->EventData.EventData.SyncVar = descriptor->SyncVar;
  user->EventData.HWData1 = id;
  user->EventData.HWData2 = (uintptr_t)mailbox;
  user->EventData.HWData3 = id;
}

HSAKMT_STATUS gs_events_create(gs_events_t *events, const HsaEventDescriptor *descriptor, bool manual_reset,
                               bool signaled, HsaEvent **event) {
  HsaEvent *user = calloc(1, sizeof *user);
  if (!user)
    return HSAKMT_STATUS_NO_MEMORY;
  pthread_mutex_lock(&events->lock);
  for (uint32_t tried = 0; tried < events->capacity; tried++) {
    const uint32_t i = (events->next + tried) % events->capacity;
    describe(user, descriptor, i + 1, &events->mailbox[i]);
    gs_event_t *claimed = claim_slot(events, i, user);
    if (!claimed)
      continue;
    events->next = i + 1;
    pthread_mutex_lock(&claimed->lock);
    claimed->auto_reset = !manual_reset;
    claimed->signaled = signaled;
    pthread_mutex_unlock(&claimed->lock);
    pthread_mutex_unlock(&events->lock);
    *event = user;
    return HSAKMT_STATUS_SUCCESS;
  }
  pthread_mutex_unlock(&events->lock);
  free(user);
  return HSAKMT_STATUS_NO_MEMORY;
}

HSAKMT_STATUS gs_events_destroy(gs_events_t *events, HsaEvent *user) {
  gs_event_t *event = event_find(events, user->EventId);
  if (!event)
    return HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&event->lock);
  const bool found = event->user == user;
  if (found) {
    activate(event);
    event->user = NULL;
    event->signaled = false;
  }
  pthread_mutex_unlock(&event->lock);
  if (!found)
    return HSAKMT_STATUS_INVALID_HANDLE;
  free(user);
  return HSAKMT_STATUS_SUCCESS;
}

void gs_events_raise(gs_events_t *events, uint32_t id) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return;
  __atomic_store_n(&events->mailbox[id - 1], MAILBOX_IDLE, __ATOMIC_RELAXED);
  pthread_mutex_lock(&event->lock);
  if (event->user)
    set(event);
  pthread_mutex_unlock(&event->lock);
}

void gs_events_raise_announced(gs_events_t *events) {
  for (uint32_t i = 0; i < events->capacity; i++)
    if (event_in_slot(events, i) && __atomic_load_n(&events->mailbox[i], __ATOMIC_RELAXED) != MAILBOX_IDLE)
      gs_events_raise(events, i + 1);
}

static bool is_of_the_system(HSA_EVENTTYPE type) {
  return type != HSA_EVENTTYPE_SIGNAL && type != HSA_EVENTTYPE_DEBUG_EVENT;
}

HSAKMT_STATUS gs_events_set(gs_events_t *events, const HsaEvent *user) {
  if (is_of_the_system(user->EventData.EventType))
    return HSAKMT_STATUS_ERROR;
  gs_event_t *event = event_find(events, user->EventId);
  if (!event)
    return HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&event->lock);
  const bool found = event->user == user;
  if (found)
    set(event);
  pthread_mutex_unlock(&event->lock);
  return found ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

static HsaAccessAttributeFailure failure_of(const gs_fault_t *fault, bool hang) {
  enum { GPU_HANG = 3 };
  HsaAccessAttributeFailure failure = {0};
  if (hang) {
    failure.ErrorType = GPU_HANG;
  } else if (fault->not_present) {
    failure.NotPresent = 1;
  } else {
    failure.ReadOnly = (fault->access & GS_VM_WRITE) != 0;
    failure.NoExecute = (fault->access & GS_VM_EXECUTE) != 0;
    failure.GpuAccess = (fault->access & GS_VM_READ) != 0;
  }
  return failure;
}

bool gs_events_memory_fault(gs_events_t *events, uint32_t node, const gs_fault_t *fault, bool hang) {
  bool told = false;
  for (uint32_t i = 0; i < events->capacity; i++) {
    gs_event_t *event = event_in_slot(events, i);
    if (!event)
      continue;
    pthread_mutex_lock(&event->lock);
    if (event->user && event->user->EventData.EventType == HSA_EVENTTYPE_MEMORY) {
      HsaMemoryAccessFault *report = &event->user->EventData.EventData.MemoryAccessFault;
      report->NodeId = node;
      report->VirtualAddress = hang ? 0 : fault->address;
      report->Failure = failure_of(fault, hang);
      report->Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
      set(event);
      told = true;
    }
    pthread_mutex_unlock(&event->lock);
  }
  return told;
}

/* Begins to wait: an event that is set already counts, and an auto-reset one is taken. */
static bool link_to(link_t *link, waiter_t *waiter, gs_events_t *events, const HsaEvent *user) {
  gs_event_t *event = user ? event_find(events, user->EventId) : NULL;
  if (!event)
    return false;
  pthread_mutex_lock(&event->lock);
  const bool found = event->user == user;
  if (found) {
    link->event = event;
    link->waiter = waiter;
    atomic_init(&link->activated, event->signaled);
    if (event->auto_reset)
      event->signaled = false;
    link->next = event->links;
    event->links = link;
  }
  pthread_mutex_unlock(&event->lock);
  return found;
}

static void unlink_from(link_t *link) {
  gs_event_t *event = link->event;
  pthread_mutex_lock(&event->lock);
  link_t **place = &event->links;
  while (*place != link)
    place = &(*place)->next;
  *place = link->next;
  pthread_mutex_unlock(&event->lock);
}

static bool satisfied(const link_t *links, uint32_t count, bool all) {
  uint32_t activated = 0;
  for (uint32_t i = 0; i < count; i++)
    /* Acquires what the raiser did before. */
    activated += atomic_load_explicit(&links[i].activated, memory_order_acquire);
  return all ? activated == count : activated > 0;
}

static struct timespec deadline_in(uint32_t milliseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += milliseconds / 1000;
  deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000;
  if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_sec++;
    deadline.tv_nsec -= 1000000000;
  }
  return deadline;
}

static HSAKMT_STATUS sleep_until(waiter_t *waiter, const link_t *links, uint32_t count, bool all,
                                 uint32_t milliseconds) {
  const struct timespec deadline = deadline_in(milliseconds);
  const struct timespec *limit = milliseconds == HSA_EVENTTIMEOUT_INFINITE ? NULL : &deadline;
  for (;;) {
    const uint32_t wakes = atomic_load_explicit(&waiter->wakes, memory_order_acquire);
    if (satisfied(links, count, all))
      return HSAKMT_STATUS_SUCCESS;
    if (milliseconds == HSA_EVENTTIMEOUT_IMMEDIATE)
      return HSAKMT_STATUS_WAIT_TIMEOUT;
    /* The bit-set form takes an absolute deadline of CLOCK_MONOTONIC. */
    const long status = syscall(SYS_futex, &waiter->wakes, FUTEX_WAIT_BITSET_PRIVATE, wakes, limit, NULL,
                                FUTEX_BITSET_MATCH_ANY);
    if (status && errno == ETIMEDOUT)
      return satisfied(links, count, all) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
  }
}

HSAKMT_STATUS gs_events_wait(gs_events_t *events, HsaEvent *const *list, uint32_t count, bool all,
                             uint32_t milliseconds) {
  enum { FEW = 32 };
  link_t few[FEW];
  link_t *links = count <= FEW ? few : calloc(count, sizeof *links);
  if (!links)
    return HSAKMT_STATUS_NO_MEMORY;
  waiter_t waiter = {0};
  uint32_t linked = 0;
  while (linked < count && link_to(&links[linked], &waiter, events, list[linked]))
    linked++;
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_HANDLE;
  if (linked == count)
    status = sleep_until(&waiter, links, count, all, milliseconds);
  for (uint32_t i = 0; i < linked; i++)
    unlink_from(&links[i]);
  if (links != few)
    free(links);
  return status;
}

/* The exported functions. */

GS_EXPORT HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *descriptor, bool manual_reset, bool signaled,
                                          HsaEvent **event) {
  GS_THUNK_OR_RETURN(thunk);
  if (!descriptor || !event || descriptor->EventType >= HSA_EVENTTYPE_MAXID)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return gs_events_create(&thunk->events, descriptor, manual_reset, signaled, event);
}

GS_EXPORT HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event) {
  GS_THUNK_OR_RETURN(thunk);
  /* ROCr destroys a null event at exit when it runs without interrupts. */
  return event ? gs_events_destroy(&thunk->events, event) : HSAKMT_STATUS_INVALID_HANDLE;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event) {
  GS_THUNK_OR_RETURN(thunk);
  return event ? gs_events_set(&thunk->events, event) : HSAKMT_STATUS_INVALID_HANDLE;
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *list[], HSAuint32 count, bool all,
                                                   HSAuint32 milliseconds) {
  GS_THUNK_OR_RETURN(thunk);
  if (!list || !count)
    return HSAKMT_STATUS_INVALID_HANDLE;
  /* Whoever goes to sleep has often just submitted the work that it waits for. */
  gs_poller_kick(thunk->poller);
  gs_synchronous_run(thunk->synchronous);
  return gs_events_wait(&thunk->events, list, count, all, milliseconds);
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 milliseconds) {
  return event ? hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds) : HSAKMT_STATUS_INVALID_HANDLE;
}
