/* Events of the process and the threads that sleep on them. Each event has a lock of its own and a list of
 * waiters; each waiting thread has one word in its stack on which it sleeps. */
#include "machine/events.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine.h"

/* What an idle mailbox holds: the driver's value for "no event here". */
#define MAILBOX_IDLE UINT64_MAX

enum { MOMENT_NS = 1000 * 1000 };

/* A sleeping thread. */
typedef struct waiter {
  _Atomic(uint32_t) wakes; /* counts; the thread sleeps while it has not changed */
  bool serves;             /* it waits for one of several events, as ROCr's own thread does */
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
  bool used; /* else the slot is free */
  HSA_EVENTTYPE type;
  bool auto_reset;
  bool signaled;
  bool is_taken; /* it was signaled when `taker` began to wait, and nobody else has been told */
  pthread_t taker;
  uint64_t age;               /* how often it was set, and one: see gs_events_wait */
  HsaMemoryAccessFault fault; /* of a memory event, the last that was reported */
  link_t *links;
  _Atomic(uint32_t) left; /* counts threads that have ended waiting; who set the event sleeps on it */
  uint32_t setters;       /* that do */
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

static bool has_servant(const gs_event_t *event) {
  const link_t *link = event->links;
  while (link && !link->waiter->serves)
    link = link->next;
  return link != NULL;
}

/* Sleeps until a thread that waited for the event, which was set, has come away, or a moment. ROCr sets
 * events of its own thread and then spins until that has answered, which has to get a processor first: this
 * one's, if there is no other. With the event's lock held. */
static void let_servant_go(gs_event_t *event) {
  const struct timespec moment = {.tv_nsec = MOMENT_NS};
  const uint32_t left = atomic_load_explicit(&event->left, memory_order_relaxed);
  event->setters++;
  pthread_mutex_unlock(&event->lock);
  syscall(SYS_futex, &event->left, FUTEX_WAIT_PRIVATE, left, &moment, NULL, 0);
  pthread_mutex_lock(&event->lock);
  event->setters--;
}

/* An auto-reset event that somebody waits for is taken by the waiters at once. With the event's lock held. */
static void set(gs_event_t *event) {
  event->signaled = !event->auto_reset || !event->links;
  event->is_taken = false;
  event->age++;
  activate(event);
}

/* Makes what slot `i` has, which nobody used yet. NULL when out of memory. */
static gs_event_t *fill_slot(gs_events_t *events, uint32_t i) {
  gs_event_t *event = calloc(1, sizeof *event);
  if (!event || pthread_mutex_init(&event->lock, NULL)) {
    free(event);
    return NULL;
  }
  atomic_store_explicit(&events->slot[i], event, memory_order_release);
  return event;
}

/* Puts an event into slot `i` if that is free. */
static bool claim_slot(gs_events_t *events, uint32_t i, HSA_EVENTTYPE type, bool auto_reset, bool signaled) {
  gs_event_t *event = event_in_slot(events, i);
  if (!event)
    event = fill_slot(events, i);
  if (!event)
    return false;
  pthread_mutex_lock(&event->lock);
  const bool taken = event->used;
  if (!taken) {
    event->used = true;
    event->type = type;
    event->auto_reset = auto_reset;
    event->signaled = signaled;
    event->is_taken = false;
    event->age = 1;
    event->fault = (HsaMemoryAccessFault){0};
  }
  pthread_mutex_unlock(&event->lock);
  return !taken;
}

uint32_t gs_events_create(gs_events_t *events, HSA_EVENTTYPE type, bool auto_reset, bool signaled) {
  uint32_t id = 0;
  pthread_mutex_lock(&events->lock);
  for (uint32_t tried = 0; tried < events->capacity && !id; tried++) {
    const uint32_t i = (events->next + tried) % events->capacity;
    if (claim_slot(events, i, type, auto_reset, signaled))
      id = events->next = i + 1;
  }
  pthread_mutex_unlock(&events->lock);
  return id;
}

HSAKMT_STATUS gs_events_destroy(gs_events_t *events, uint32_t id) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&event->lock);
  const bool found = event->used;
  if (found) {
    activate(event);
    event->used = false;
    event->signaled = event->is_taken = false;
  }
  pthread_mutex_unlock(&event->lock);
  return found ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

uint64_t *gs_events_mailbox(gs_events_t *events, uint32_t id) {
  return &events->mailbox[id - 1];
}

void gs_events_move_mailboxes(gs_events_t *events, uint64_t *mailbox) {
  for (uint32_t i = 0; i < events->capacity; i++)
    mailbox[i] = MAILBOX_IDLE;
  __atomic_store_n(&events->mailbox, mailbox, __ATOMIC_RELEASE);
}

void gs_events_raise(gs_events_t *events, uint32_t id) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return;
  __atomic_store_n(&events->mailbox[id - 1], MAILBOX_IDLE, __ATOMIC_RELAXED);
  pthread_mutex_lock(&event->lock);
  if (event->used)
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

HSAKMT_STATUS gs_events_set(gs_events_t *events, uint32_t id, bool to) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return HSAKMT_STATUS_INVALID_HANDLE;
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&event->lock);
  if (event->used)
    status = is_of_the_system(event->type) ? HSAKMT_STATUS_ERROR : HSAKMT_STATUS_SUCCESS;
  if (status == HSAKMT_STATUS_SUCCESS && to) {
    set(event);
    if (has_servant(event))
      let_servant_go(event);
  } else if (status == HSAKMT_STATUS_SUCCESS)
    event->signaled = event->is_taken = false;
  pthread_mutex_unlock(&event->lock);
  return status;
}

bool gs_events_is_signal(gs_events_t *events, uint32_t id) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return false;
  pthread_mutex_lock(&event->lock);
  const bool signal = event->used && event->type == HSA_EVENTTYPE_SIGNAL;
  pthread_mutex_unlock(&event->lock);
  return signal;
}

bool gs_events_fault_of(gs_events_t *events, uint32_t id, HsaMemoryAccessFault *fault) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return false;
  pthread_mutex_lock(&event->lock);
  const bool found = event->used && event->type == HSA_EVENTTYPE_MEMORY;
  if (found)
    *fault = event->fault;
  pthread_mutex_unlock(&event->lock);
  return found;
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
    if (event->used && event->type == HSA_EVENTTYPE_MEMORY) {
      HsaMemoryAccessFault *report = &event->fault;
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

/* Whether the event was set while nobody waited, and another thread has taken it since. All queues of ROCr
 * have one event for their signals. Its own thread, which answers a signal and sets the event for the thread
 * that waits for the answer, may then wait for the event itself, for other queues, before that other one does
 * that has looked at the signal already: which sleeps for ever, with the driver, too, until they agreed upon
 * ages. To wake a thread for nothing is allowed, as it looks at its signals again. With the event's lock
 * held. */
static bool is_due(gs_event_t *event, uint64_t age) {
  const bool due = !age && event->is_taken && !pthread_equal(event->taker, pthread_self());
  event->is_taken &= !due;
  return due;
}

/* Takes an auto-reset event. With its lock held. */
static void take(gs_event_t *event) {
  if (event->signaled) {
    event->is_taken = true;
    event->taker = pthread_self();
  }
  event->signaled = false;
}

/* Begins to wait: an event that is set already counts, and an auto-reset one is taken. */
static bool link_to(link_t *link, waiter_t *waiter, gs_events_t *events, uint32_t id, uint64_t age) {
  gs_event_t *event = event_find(events, id);
  if (!event)
    return false;
  pthread_mutex_lock(&event->lock);
  const bool found = event->used;
  if (found) {
    link->event = event;
    link->waiter = waiter;
    atomic_init(&link->activated, event->signaled || (age && age != event->age) || is_due(event, age));
    if (event->auto_reset)
      take(event);
    link->next = event->links;
    event->links = link;
  }
  pthread_mutex_unlock(&event->lock);
  return found;
}

/* Returns the age. */
static uint64_t unlink_from(link_t *link) {
  gs_event_t *event = link->event;
  pthread_mutex_lock(&event->lock);
  link_t **place = &event->links;
  while (*place != link)
    place = &(*place)->next;
  *place = link->next;
  atomic_fetch_add_explicit(&event->left, 1, memory_order_relaxed);
  if (event->setters)
    syscall(SYS_futex, &event->left, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  const uint64_t age = event->age;
  pthread_mutex_unlock(&event->lock);
  return age;
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
                                 uint32_t milliseconds, bool *slept) {
  const struct timespec deadline = deadline_in(milliseconds);
  const struct timespec *limit = milliseconds == HSA_EVENTTIMEOUT_INFINITE ? NULL : &deadline;
  for (;;) {
    const uint32_t wakes = atomic_load_explicit(&waiter->wakes, memory_order_acquire);
    if (satisfied(links, count, all))
      return HSAKMT_STATUS_SUCCESS;
    if (milliseconds == HSA_EVENTTIMEOUT_IMMEDIATE)
      return HSAKMT_STATUS_WAIT_TIMEOUT;
    *slept = true;
    /* The bit-set form takes an absolute deadline of CLOCK_MONOTONIC. */
    const long status = syscall(SYS_futex, &waiter->wakes, FUTEX_WAIT_BITSET_PRIVATE, wakes, limit, NULL,
                                FUTEX_BITSET_MATCH_ANY);
    if (status && errno == ETIMEDOUT)
      return satisfied(links, count, all) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
  }
}

HSAKMT_STATUS gs_events_wait(gs_events_t *events, const uint32_t *list, uint32_t count, bool all,
                             uint32_t milliseconds, uint64_t *ages, bool *slept) {
  enum { FEW = 32 };
  link_t few[FEW];
  link_t *links = count <= FEW ? few : calloc(count, sizeof *links);
  if (!links)
    return HSAKMT_STATUS_NO_MEMORY;
  waiter_t waiter = {.serves = count > 1 && !all};
  uint32_t linked = 0;
  while (linked < count && link_to(&links[linked], &waiter, events, list[linked], ages ? ages[linked] : 0))
    linked++;
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_HANDLE;
  if (linked == count)
    status = sleep_until(&waiter, links, count, all, milliseconds, slept);
  for (uint32_t i = 0; i < linked; i++) {
    const uint64_t age = unlink_from(&links[i]);
    if (ages && ages[i])
      ages[i] = age;
  }
  if (links != few)
    free(links);
  return status;
}
