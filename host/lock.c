/* Pinning of mapped host memory. A table of maps allocates once for each range that begins to be mapped, and
 * releases when it ends; what was allocated for which range is kept here in between. */
#include "lock.h"

#include "checker.h"

#include <search.h>
#include <stdlib.h>

typedef struct pinned {
  const void *memory; /* the device's */
  void *host;
  atmi_host_locks_t *locks;
} pinned_t;

static struct {
  pthread_mutex_t lock;
  void *all; /* of tsearch, by device memory */
} pins = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int compare(const void *a, const void *b) {
  uintptr_t one = (uintptr_t)((const pinned_t *)a)->memory, other = (uintptr_t)((const pinned_t *)b)->memory;
  return (one > other) - (one < other);
}

static bool keep(const pinned_t *pinned) {
  pinned_t *copy = malloc(sizeof *copy);
  if (!copy)
    return false;
  *copy = *pinned;
  pthread_mutex_lock(&pins.lock);
  bool kept = tsearch(copy, &pins.all, compare) != NULL;
  pthread_mutex_unlock(&pins.lock);
  if (!kept)
    free(copy);
  return kept;
}

static pinned_t *take(const void *memory) {
  const pinned_t key = {.memory = memory};
  pthread_mutex_lock(&pins.lock);
  pinned_t **found = tfind(&key, &pins.all, compare), *pinned = found ? *found : NULL;
  if (pinned)
    tdelete(pinned, &pins.all, compare);
  pthread_mutex_unlock(&pins.lock);
  return pinned;
}

/* How many bytes of the host the memory is for: it may be larger, as structs are padded in front. */
static uint64_t bytes_of(const tgt_device_t *device, const void *host, uint64_t bytes) {
  map_entry_view_t entry;
  bool found = map_table_first_in(device->maps, host, 1, &entry) && entry.begin == (uintptr_t)host;
  return found ? entry.end - entry.begin : bytes;
}

/* Where pinning is not mandatory, copies do without it. */
static bool allocate(void *context, uint64_t bytes, const void *host, void **memory) {
  tgt_device_t *device = context;
  if (!tgt_device_functions.allocate(device, bytes, host, memory))
    return false;
  if (!host)
    return true;
  pinned_t pinned = {*memory, (void *)(uintptr_t)host, &device->core->machine->host_locks};
  bool mandatory = atmi_context()->env.lock_mapped == ATMI_ENV_MANDATORY;
  if (!atmi_host_map(pinned.locks, pinned.host, bytes_of(device, host, bytes), mandatory)) {
    if (keep(&pinned))
      return true;
    atmi_host_unmap(pinned.locks, pinned.host);
  }
  if (!mandatory)
    return true;
  (void)tgt_device_functions.release(device, *memory);
  return false;
}

static bool release(void *context, void *memory) {
  pinned_t *pinned = take(memory);
  if (pinned && !tgt_machine_is_ending())
    atmi_host_unmap(pinned->locks, pinned->host);
  free(pinned);
  return tgt_device_functions.release(context, memory);
}

static bool submit(void *device, void *stream, void *memory, const void *host, uint64_t bytes) {
  return tgt_device_functions.submit(device, stream, memory, host, bytes);
}

static bool retrieve(void *device, void *stream, void *host, const void *memory, uint64_t bytes) {
  return tgt_device_functions.retrieve(device, stream, host, memory, bytes);
}

static bool mark(void *device, void *stream, map_mark_t *mark) {
  return tgt_device_functions.mark(device, stream, mark);
}

static bool wait_for(void *device, void *stream, map_mark_t *mark) {
  return tgt_device_functions.wait(device, stream, mark);
}

const map_device_functions_t *tgt_lock_functions(void) {
  static const map_device_functions_t locking = {.allocate = allocate,
                                                 .release = release,
                                                 .submit = submit,
                                                 .retrieve = retrieve,
                                                 .mark = mark,
                                                 .wait = wait_for};
  if (atmi_context()->env.lock_mapped)
    return &locking;
  return tgt_checker_is_there() ? &tgt_device_functions_apart : &tgt_device_functions;
}
