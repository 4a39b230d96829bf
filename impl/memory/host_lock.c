/* Host memory that is pinned. Lists, because ranges are few: a program locks seldom, and copies pin large
 * ones only. */
#include "memory/host_lock.h"

#include "base/hsa.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef struct atmi_host_range {
  struct atmi_host_range *next;
  char *host;
  size_t bytes;
  char *address;  /* on the devices */
  bool ours;      /* we pinned it, and must unpin it */
  uint32_t count; /* references */
  /* Of a range for copies: references that are kept beyond them, and their name; 0 if there never was one. */
  uint32_t keepers;
  uint64_t kept;
  uint64_t used_ms; /* when a copy last began to use it */
} atmi_host_range_t;

void atmi_host_locks_init(atmi_access_t *access, uint64_t keep_ms, atmi_host_locks_t *locks) {
  *locks = (atmi_host_locks_t){.access = access, .keep_ms = keep_ms};
  pthread_mutex_init(&locks->lock, NULL);
}

static bool begins_in(const atmi_host_range_t *list, const char *host) {
  while (list && !(list->host == host && list->ours))
    list = list->next;
  return list;
}

static void unpin_all(atmi_host_range_t **list, const char *host) {
  for (atmi_host_range_t **at = list; *at;) {
    atmi_host_range_t *range = *at;
    if (host && range->host != host) {
      at = &range->next;
      continue;
    }
    *at = range->next;
    if (range->ours)
      hsa_amd_memory_unlock(range->host);
    free(range);
  }
}

/* Unpins a range that is in no list any more, once no other pin begins where it does. */
static void unpin(atmi_host_locks_t *locks, atmi_host_range_t *range) {
  char *host = range->host;
  range->next = locks->parked;
  locks->parked = range;
  if (!begins_in(locks->ranges, host) && !begins_in(locks->copied, host))
    unpin_all(&locks->parked, host);
}

void atmi_host_locks_fini(atmi_host_locks_t *locks) {
  if (!locks->access)
    return;
  while (locks->skipped) {
    atmi_host_range_t *range = locks->skipped;
    locks->skipped = range->next;
    free(range);
  }
  unpin_all(&locks->ranges, NULL);
  unpin_all(&locks->copied, NULL);
  unpin_all(&locks->parked, NULL);
  pthread_mutex_destroy(&locks->lock);
  *locks = (atmi_host_locks_t){0};
}

/* The first range that shares a byte with [host, host + bytes). */
static atmi_host_range_t *find_overlap(const atmi_host_locks_t *locks, const char *host, size_t bytes) {
  uintptr_t begin = (uintptr_t)host, end = begin + bytes;
  for (atmi_host_range_t *range = locks->ranges; range; range = range->next) {
    uintptr_t range_begin = (uintptr_t)range->host;
    if (begin < range_begin + range->bytes && range_begin < end)
      return range;
  }
  return NULL;
}

/* A range for copies that holds all of these bytes. */
static atmi_host_range_t *find_copied(const atmi_host_locks_t *locks, const char *host, size_t bytes) {
  for (atmi_host_range_t *range = locks->copied; range; range = range->next) {
    uintptr_t into = (uintptr_t)host - (uintptr_t)range->host;
    if (into < range->bytes && bytes <= range->bytes - into)
      return range;
  }
  return NULL;
}

/* Whether devices can access the memory as HSA knows it. Pins of ours are not hindered by each other: they
 * are parked where HSA would take one for the other. */
static atmi_access_result_t give_access(const atmi_host_locks_t *locks, const hsa_agent_t *devices,
                                        uint32_t count, const char *host, size_t bytes, void **address) {
  atmi_access_result_t result = atmi_access_give(locks->access, devices, count, host, bytes, address);
  bool ours =
      begins_in(locks->ranges, host) || begins_in(locks->copied, host) || begins_in(locks->parked, host);
  return result == ATMI_ACCESS_REFUSED && ours ? ATMI_ACCESS_UNKNOWN : result;
}

static hsa_status_t pin_for_all(const atmi_host_locks_t *locks, char *host, size_t bytes, void **address) {
  return hsa_amd_memory_lock(host, bytes, (hsa_agent_t *)(uintptr_t)locks->devices, (int)locks->device_count,
                             address);
}

static atmi_status_t pin(const atmi_host_locks_t *locks, atmi_host_range_t *range, bool loud) {
  void *address;
  atmi_access_result_t access = ATMI_ACCESS_UNKNOWN;
  /* What is pinned for copies does not stay so for the program's sake. */
  if (!find_copied(locks, range->host, range->bytes))
    access = give_access(locks, locks->devices, locks->device_count, range->host, range->bytes, &address);
  if (access == ATMI_ACCESS_REFUSED && loud)
    atmi_fail(ATMI_NO_MEMORY, NULL,
              "cannot lock %zu bytes of host memory at %p: another library has pinned memory from there on, "
              "but not all of it for all devices; have it pin all of it for all of them",
              range->bytes, (void *)range->host);
  if (access == ATMI_ACCESS_REFUSED)
    return ATMI_NO_MEMORY;
  if (access == ATMI_ACCESS_UNKNOWN) {
    hsa_status_t status = pin_for_all(locks, range->host, range->bytes, &address);
    if (status != HSA_STATUS_SUCCESS && loud)
      atmi_fail(ATMI_NO_MEMORY, NULL,
                "cannot lock %zu bytes of host memory at %p: %s; is ulimit -l large enough?", range->bytes,
                (void *)range->host, atmi_hsa_reason(status));
    if (status != HSA_STATUS_SUCCESS)
      return ATMI_NO_MEMORY;
    range->ours = true;
  }
  range->address = address;
  return ATMI_OK;
}

static atmi_status_t add_range(atmi_host_locks_t *locks, char *host, size_t bytes, bool loud,
                               void **address) {
  atmi_host_range_t *range = malloc(sizeof *range);
  if (!range)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot lock host memory: out of host memory");
  *range = (atmi_host_range_t){.host = host, .bytes = bytes, .count = 1};
  atmi_status_t status = pin(locks, range, loud);
  if (status) {
    free(range);
    return status;
  }
  range->next = locks->ranges;
  locks->ranges = range;
  *address = range->address;
  return ATMI_OK;
}

/* Under the lock. A failure is described if `loud`. */
static atmi_status_t lock_range(atmi_host_locks_t *locks, void *host, size_t bytes, bool loud,
                                void **address) {
  char *begin = host;
  atmi_status_t status = ATMI_OK;
  atmi_host_range_t *range = find_overlap(locks, begin, bytes);
  if (!range) {
    status = add_range(locks, begin, bytes, loud, address);
  } else if (begin >= range->host && bytes <= range->bytes - (size_t)(begin - range->host)) {
    range->count++;
    *address = range->address + (begin - range->host);
  } else if (!loud) {
    status = ATMI_INVALID;
  } else {
    status =
        atmi_fail(ATMI_INVALID, NULL,
                  "cannot lock %zu bytes of host memory at %p: they overlap %zu bytes at %p that are locked; "
                  "unlock those first",
                  bytes, host, range->bytes, (void *)range->host);
  }
  return status;
}

atmi_status_t atmi_host_lock(atmi_host_locks_t *locks, void *host, size_t bytes, void **address) {
  if (!host || !bytes || bytes > (size_t)INTPTR_MAX - (uintptr_t)host)
    return atmi_fail(ATMI_INVALID, NULL, "cannot lock %zu bytes of host memory at %p", bytes, host);
  pthread_mutex_lock(&locks->lock);
  atmi_status_t status = lock_range(locks, host, bytes, true, address);
  pthread_mutex_unlock(&locks->lock);
  return status;
}

static void remove_range(atmi_host_locks_t *locks, atmi_host_range_t **list, atmi_host_range_t *range) {
  atmi_host_range_t **at = list;
  while (*at != range)
    at = &(*at)->next;
  *at = range->next;
  unpin(locks, range);
}

atmi_status_t atmi_host_unlock(atmi_host_locks_t *locks, void *host) {
  pthread_mutex_lock(&locks->lock);
  atmi_host_range_t *range = find_overlap(locks, host, 1);
  if (range && --range->count == 0)
    remove_range(locks, &locks->ranges, range);
  pthread_mutex_unlock(&locks->lock);
  if (!range)
    return atmi_fail(ATMI_INVALID, NULL, "cannot unlock host memory at %p: it is not locked", host);
  return ATMI_OK;
}

/* ---- copies ---- */

/* Under the lock. NULL if HSA does not pin it. */
static atmi_host_range_t *add_copied(atmi_host_locks_t *locks, char *host, size_t bytes) {
  void *address;
  atmi_host_range_t *range = malloc(sizeof *range);
  if (!range)
    return NULL;
  if (pin_for_all(locks, host, bytes, &address) != HSA_STATUS_SUCCESS) {
    free(range);
    return NULL;
  }
  *range = (atmi_host_range_t){
      .next = locks->copied, .host = host, .bytes = bytes, .address = address, .ours = true};
  locks->copied = range;
  return range;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Unpins what is only kept, and that for too long. */
static void end_unused(atmi_host_locks_t *locks, uint64_t now) {
  for (atmi_host_range_t *range = locks->copied, *next; range; range = next) {
    next = range->next;
    if (range->count == range->keepers && now - range->used_ms > locks->keep_ms)
      remove_range(locks, &locks->copied, range);
  }
}

/* The range for copies that holds these bytes, with one more reference; or NULL. Under the lock. */
static atmi_host_range_t *take_copied(atmi_host_locks_t *locks, hsa_agent_t device, char *begin, size_t bytes,
                                      bool borrow, atmi_access_result_t *access, void **address) {
  uint64_t now = now_ms();
  atmi_host_range_t *found = find_copied(locks, begin, bytes);
  *access = ATMI_ACCESS_REFUSED;
  if (found) {
    found->used_ms = now;
    found->count++;
  }
  end_unused(locks, now);
  /* Asked here, where nobody can take away what we pinned ourselves. */
  if (!found && !borrow)
    *access = give_access(locks, &device, 1, begin, bytes, address);
  if (*access == ATMI_ACCESS_UNKNOWN && (found = add_copied(locks, begin, bytes))) {
    found->used_ms = now;
    found->count = 1;
  }
  if (found)
    *address = found->address + (begin - found->host);
  return found;
}

bool atmi_host_pin(atmi_host_locks_t *locks, hsa_agent_t device, const void *host, size_t bytes, bool borrow,
                   atmi_host_range_t **range, void **address) {
  atmi_access_result_t access;
  pthread_mutex_lock(&locks->lock);
  *range = take_copied(locks, device, (char *)(uintptr_t)host, bytes, borrow, &access, address);
  pthread_mutex_unlock(&locks->lock);
  return *range || access == ATMI_ACCESS_GIVEN;
}

uint64_t atmi_host_keep(atmi_host_locks_t *locks, hsa_agent_t device, const void *host, size_t bytes) {
  atmi_access_result_t access;
  void *address;
  pthread_mutex_lock(&locks->lock);
  atmi_host_range_t *range =
      take_copied(locks, device, (char *)(uintptr_t)host, bytes, false, &access, &address);
  uint64_t kept = 0;
  if (range) {
    range->keepers++;
    if (!range->kept)
      range->kept = ++locks->kept;
    kept = range->kept;
  }
  pthread_mutex_unlock(&locks->lock);
  return kept;
}

void atmi_host_unkeep(atmi_host_locks_t *locks, uint64_t kept) {
  pthread_mutex_lock(&locks->lock);
  atmi_host_range_t *range = locks->copied;
  while (range && range->kept != kept)
    range = range->next;
  if (range && range->keepers) {
    range->keepers--;
    if (--range->count == 0)
      remove_range(locks, &locks->copied, range);
  }
  pthread_mutex_unlock(&locks->lock);
}

void atmi_host_unpin(atmi_host_locks_t *locks, atmi_host_range_t *range) {
  pthread_mutex_lock(&locks->lock);
  if (--range->count == 0)
    remove_range(locks, &locks->copied, range);
  pthread_mutex_unlock(&locks->lock);
}

/* ---- mapped memory ---- */

/* Remembers that this mapping took no reference, so that its end gives none back. */
static atmi_status_t skip(atmi_host_locks_t *locks, void *host) {
  atmi_host_range_t *range = malloc(sizeof *range);
  if (!range)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot map host memory at %p: out of host memory", host);
  *range = (atmi_host_range_t){.next = locks->skipped, .host = host};
  locks->skipped = range;
  return ATMI_OK;
}

static bool take_skipped(atmi_host_locks_t *locks, const void *host) {
  for (atmi_host_range_t **at = &locks->skipped; *at; at = &(*at)->next) {
    atmi_host_range_t *range = *at;
    if (range->host != host)
      continue;
    *at = range->next;
    free(range);
    return true;
  }
  return false;
}

atmi_status_t atmi_host_map(atmi_host_locks_t *locks, void *host, size_t bytes, bool mandatory) {
  void *address;
  pthread_mutex_lock(&locks->lock);
  atmi_status_t status = host && bytes ? lock_range(locks, host, bytes, mandatory, &address) : ATMI_INVALID;
  if (status && (!mandatory || !host || !bytes))
    status = skip(locks, host);
  pthread_mutex_unlock(&locks->lock);
  return status;
}

void atmi_host_unmap(atmi_host_locks_t *locks, void *host) {
  pthread_mutex_lock(&locks->lock);
  atmi_host_range_t *range = take_skipped(locks, host) ? NULL : find_overlap(locks, host, 1);
  if (range && --range->count == 0)
    remove_range(locks, &locks->ranges, range);
  pthread_mutex_unlock(&locks->lock);
}
