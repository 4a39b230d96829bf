/* Host memory that the program asks to have pinned. A list, because programs lock few ranges and seldom. */
#include "atmi_host_lock.h"

#include "atmi_hsa.h"
#include "atmi_machine.h"
#include "atmi_transfer.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct atmi_host_range {
  struct atmi_host_range *next;
  char *host;
  size_t bytes;
  char *address;  /* on the devices */
  bool ours;      /* we pinned it, and must unpin it */
  uint32_t count; /* references */
} atmi_host_range_t;

void atmi_host_locks_init(atmi_machine_t *machine, atmi_host_locks_t *locks) {
  *locks = (atmi_host_locks_t){.machine = machine};
  pthread_mutex_init(&locks->lock, NULL);
}

static void unpin(const atmi_host_range_t *range) {
  if (range->ours)
    hsa_amd_memory_unlock(range->host);
}

void atmi_host_locks_fini(atmi_host_locks_t *locks) {
  if (!locks->machine)
    return;
  while (locks->skipped) {
    atmi_host_range_t *range = locks->skipped;
    locks->skipped = range->next;
    free(range);
  }
  while (locks->ranges) {
    atmi_host_range_t *range = locks->ranges;
    locks->ranges = range->next;
    unpin(range);
    free(range);
  }
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

static atmi_status_t pin(atmi_machine_t *machine, atmi_host_range_t *range, bool loud) {
  void *address;
  if (!atmi_transfer_find_pinned(range->host, range->bytes, &address)) {
    hsa_status_t status =
        hsa_amd_memory_lock(range->host, range->bytes, machine->gpus, (int)machine->device_count, &address);
    if (status != HSA_STATUS_SUCCESS && !loud)
      return ATMI_NO_MEMORY;
    if (status != HSA_STATUS_SUCCESS)
      return atmi_fail(ATMI_NO_MEMORY, NULL,
                       "cannot lock %zu bytes of host memory at %p: %s; is ulimit -l large enough?",
                       range->bytes, (void *)range->host, atmi_hsa_reason(status));
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
  atmi_status_t status = pin(locks->machine, range, loud);
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
  if (!host || !bytes)
    return atmi_fail(ATMI_INVALID, NULL, "cannot lock %zu bytes of host memory at %p", bytes, host);
  pthread_mutex_lock(&locks->lock);
  atmi_status_t status = lock_range(locks, host, bytes, true, address);
  pthread_mutex_unlock(&locks->lock);
  return status;
}

static void remove_range(atmi_host_locks_t *locks, atmi_host_range_t *range) {
  atmi_host_range_t **at = &locks->ranges;
  while (*at != range)
    at = &(*at)->next;
  *at = range->next;
  unpin(range);
  free(range);
}

atmi_status_t atmi_host_unlock(atmi_host_locks_t *locks, void *host) {
  pthread_mutex_lock(&locks->lock);
  atmi_host_range_t *range = find_overlap(locks, host, 1);
  if (range && --range->count == 0)
    remove_range(locks, range);
  pthread_mutex_unlock(&locks->lock);
  if (!range)
    return atmi_fail(ATMI_INVALID, NULL, "cannot unlock host memory at %p: it is not locked", host);
  return ATMI_OK;
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
    remove_range(locks, range);
  pthread_mutex_unlock(&locks->lock);
}
