/* Snapshots of a GPU's address space, reclaimed by hazard pointers: a reader announces the snapshot it uses,
 * and a writer frees a snapshot, or returns from an unmap, only when no announcement names it any more. */
#include "base/vm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WAIT_NS = 100000 };

/* Where memory of a program can be: above the pages that Linux never maps, below the end of user space with
 * four levels of page tables. */
#define PROGRAM_START UINT64_C(0x10000)
#define PROGRAM_END   UINT64_C(0x7ffffffff000)

/* A snapshot in memory: the link for the list of replaced ones, directly before the map itself. */
typedef struct snapshot {
  _Alignas(max_align_t) struct snapshot *next;
  size_t capacity;
} snapshot_t;

struct gs_vm {
  pthread_mutex_t lock; /* of writers: `replaced`, and storing to `current` */
  _Atomic(const gs_vm_map_t *) current;
  bool shares_host;     /* gaps are filled with the program's memory; changed with `lock` held */
  snapshot_t *replaced; /* snapshots that some reader may still use */
  /* For what nobody can refuse, when the host has no memory: unmapping, and new code. */
  snapshot_t *reserve;
  /* Of the list of readers. Whoever holds it can look at announcements, and keeps snapshots from being freed.
   * Never waited for with `lock` held: an unmap holds it while it waits for readers, which may be writers
   * meanwhile. */
  pthread_mutex_t readers_lock;
  gs_vm_reader_t *readers;
};

static gs_vm_map_t *snapshot_map(snapshot_t *snapshot) {
  return (gs_vm_map_t *)(void *)(snapshot + 1);
}

static snapshot_t *map_snapshot(const gs_vm_map_t *map) {
  return (snapshot_t *)(uintptr_t)map - 1;
}

static snapshot_t *snapshot_create(size_t capacity) {
  snapshot_t *snapshot = malloc(sizeof *snapshot + sizeof(gs_vm_map_t) + capacity * sizeof(gs_vm_range_t));
  if (snapshot)
    *snapshot = (snapshot_t){.capacity = capacity};
  return snapshot;
}

/* Makes sure that the reserve has room for changes of a map with `count` ranges. Writers' lock held. */
static bool ensure_reserve(gs_vm_t *vm, size_t count) {
  enum { ADDED = 2 }; /* what one change adds */
  if (vm->reserve && vm->reserve->capacity >= count + ADDED)
    return true;
  snapshot_t *reserve = snapshot_create(2 * (count + ADDED));
  if (!reserve)
    return false;
  free(vm->reserve);
  vm->reserve = reserve;
  return true;
}

/* `vm` when the reserve may be used, else NULL. */
static gs_vm_map_t *map_create(gs_vm_t *vm, size_t capacity) {
  snapshot_t *snapshot = snapshot_create(capacity);
  if (!snapshot && vm && vm->reserve && vm->reserve->capacity >= capacity) {
    snapshot = vm->reserve;
    vm->reserve = NULL;
  }
  if (!snapshot)
    return NULL;
  snapshot->next = NULL;
  gs_vm_map_t *map = snapshot_map(snapshot);
  map->count = 0;
  map->code_epoch = 0;
  map->number = 1;
  return map;
}

/* Only writers ask, and they are serialised by the lock, which orders them after the previous publication. */
static const gs_vm_map_t *newest(gs_vm_t *vm) {
  return atomic_load_explicit(&vm->current, memory_order_relaxed);
}

static bool is_seen(const gs_vm_t *vm, const gs_vm_map_t *map) {
  for (gs_vm_reader_t *reader = vm->readers; reader; reader = reader->next)
    /* Sequentially consistent, as the store in enter: either this load sees a reader's announcement, or that
     * reader's second look at `current` sees the newer snapshot and it lets go of this one. */
    if (atomic_load_explicit(&reader->seen, memory_order_seq_cst) == map)
      return true;
  return false;
}

/* Frees what no reader uses, unless somebody waits for readers just now: then a later writer does it. */
static void free_unseen(gs_vm_t *vm) {
  if (pthread_mutex_trylock(&vm->readers_lock))
    return;
  for (snapshot_t **link = &vm->replaced; *link;) {
    snapshot_t *snapshot = *link;
    if (is_seen(vm, snapshot_map(snapshot))) {
      link = &snapshot->next;
    } else {
      *link = snapshot->next;
      if (vm->reserve)
        free(snapshot);
      else
        vm->reserve = snapshot;
    }
  }
  pthread_mutex_unlock(&vm->readers_lock);
}

/* With the writers' lock held. */
static void publish(gs_vm_t *vm, const gs_vm_map_t *map) {
  snapshot_t *old = map_snapshot(newest(vm));
  snapshot_map(map_snapshot(map))->number = newest(vm)->number + 1;
  /* Releases the contents of the map to readers, and precedes every later look at their announcements. */
  atomic_store_explicit(&vm->current, map, memory_order_seq_cst);
  old->next = vm->replaced;
  vm->replaced = old;
  free_unseen(vm);
}

/* Waits until one reader no longer uses a snapshot older than the newest at the time of the call. What it
 * announces now is the only older one that it may be using; when that changes, or turns out to be the newest,
 * it is not. */
static void wait_for_reader(gs_vm_t *vm, const gs_vm_reader_t *reader) {
  long wait = 1000;
  const gs_vm_map_t *first = atomic_load_explicit(&reader->seen, memory_order_seq_cst);
  /* Acquires what the reader did through its snapshot, so that the caller may free that memory. */
  while (first && first != atomic_load_explicit(&vm->current, memory_order_seq_cst) &&
         first == atomic_load_explicit(&reader->seen, memory_order_acquire)) {
    const struct timespec pause = {.tv_nsec = wait};
    nanosleep(&pause, NULL);
    wait = wait < MOST_WAIT_NS ? wait * 2 : MOST_WAIT_NS;
  }
}

static void wait_for_readers(gs_vm_t *vm) {
  /* With the lock no snapshot is freed: an old one that is in use stays distinct from every new one. */
  pthread_mutex_lock(&vm->readers_lock);
  for (const gs_vm_reader_t *reader = vm->readers; reader; reader = reader->next)
    wait_for_reader(vm, reader);
  pthread_mutex_unlock(&vm->readers_lock);
}

gs_vm_t *gs_vm_create(void) {
  gs_vm_t *vm = calloc(1, sizeof *vm);
  gs_vm_map_t *map = map_create(NULL, 0);
  if (!vm || !map)
    goto no_memory;
  if (pthread_mutex_init(&vm->lock, NULL))
    goto no_memory;
  if (pthread_mutex_init(&vm->readers_lock, NULL))
    goto no_readers_lock;
  atomic_init(&vm->current, map);
  return vm;
no_readers_lock:
  pthread_mutex_destroy(&vm->lock);
no_memory:
  free(map ? map_snapshot(map) : NULL);
  free(vm);
  return NULL;
}

void gs_vm_destroy(gs_vm_t *vm) {
  if (!vm)
    return;
  free_unseen(vm);
  free(map_snapshot(newest(vm)));
  free(vm->reserve);
  pthread_mutex_destroy(&vm->readers_lock);
  pthread_mutex_destroy(&vm->lock);
  free(vm);
}

/* Index of the first range that ends after `address`. */
static size_t first_after(const gs_vm_map_t *map, uint64_t address) {
  size_t low = 0;
  size_t high = map->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (map->range[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void append(gs_vm_map_t *map, gs_vm_range_t range, uint64_t start, uint64_t end) {
  if (start >= end)
    return;
  range.host += start - range.start;
  range.start = start;
  range.end = end;
  range.plain_access = range.is_gap ? 0 : range.access;
  range.size = end - start;
  range.delta = (uint64_t)(uintptr_t)range.host - start;
  map->range[map->count++] = range;
}

/* The program's memory in [start, end). */
static gs_vm_range_t gap(uint64_t start, uint64_t end) {
  return (gs_vm_range_t){.start = start,
                         .end = end,
                         .host = (uint8_t *)(uintptr_t)start,
                         .access = GS_VM_READ | GS_VM_WRITE,
                         .kind = GS_VM_HOST,
                         .is_gap = true};
}

/* A copy of `old` without [start, end), with `added` (or nothing) in its place. NULL when out of memory. `vm`
 * as for map_create. */
static gs_vm_map_t *map_replace(gs_vm_t *vm, const gs_vm_map_t *old, uint64_t start, uint64_t end,
                                const gs_vm_range_t *added) {
  gs_vm_map_t *map = map_create(vm, old->count + 2);
  if (!map)
    return NULL;
  const size_t first = first_after(old, start);
  bool code_changed = false;
  memcpy(map->range, old->range, first * sizeof *old->range);
  map->count = first;
  size_t last = first;
  while (last < old->count && old->range[last].start < end)
    code_changed |= (old->range[last++].access & GS_VM_EXECUTE) != 0;
  if (last > first)
    append(map, old->range[first], old->range[first].start, start);
  if (added)
    append(map, *added, start, end);
  if (last > first)
    append(map, old->range[last - 1], end, old->range[last - 1].end);
  memcpy(map->range + map->count, old->range + last, (old->count - last) * sizeof *old->range);
  map->count += old->count - last;
  map->code_epoch = old->code_epoch + code_changed;
  return map;
}

int gs_vm_map(gs_vm_t *vm, const gs_vm_range_t *range) {
  pthread_mutex_lock(&vm->lock);
  gs_vm_map_t *map = map_replace(NULL, newest(vm), range->start, range->end, range);
  if (map && !ensure_reserve(vm, map->count)) {
    free(map_snapshot(map));
    map = NULL;
  }
  if (map)
    publish(vm, map);
  pthread_mutex_unlock(&vm->lock);
  return map ? 0 : -1;
}

/* Without [start, end). The program's memory there becomes one range with the gaps before and behind it. */
static gs_vm_map_t *map_without(gs_vm_t *vm, const gs_vm_map_t *old, uint64_t start, uint64_t end) {
  if (!vm->shares_host)
    return map_replace(vm, old, start, end, NULL);
  const gs_vm_range_t *before = gs_vm_find(old, start - 1);
  const gs_vm_range_t *after = gs_vm_find(old, end);
  start = before && before->is_gap ? before->start : start;
  end = after && after->is_gap ? after->end : end;
  const gs_vm_range_t shared = gap(start, end);
  return map_replace(vm, old, start, end, &shared);
}

static bool has_mapped(const gs_vm_map_t *map, uint64_t start, uint64_t end) {
  for (size_t i = first_after(map, start); i < map->count && map->range[i].start < end; i++)
    if (!map->range[i].is_gap)
      return true;
  return false;
}

int gs_vm_unmap(gs_vm_t *vm, uint64_t start, uint64_t end) {
  pthread_mutex_lock(&vm->lock);
  const gs_vm_map_t *map = newest(vm);
  if (has_mapped(map, start, end)) {
    map = map_without(vm, map, start, end);
    if (map)
      publish(vm, map);
  }
  pthread_mutex_unlock(&vm->lock);
  /* Also when nothing was mapped any more: a range that gs_vm_map replaced earlier may still be in use. */
  if (map)
    wait_for_readers(vm);
  return map ? 0 : -1;
}

/* What was mapped, with or without the program's memory in the gaps. NULL when out of memory. */
static gs_vm_map_t *map_with_gaps(const gs_vm_map_t *old, bool fill) {
  gs_vm_map_t *map = map_create(NULL, old->count * 2 + 1);
  if (!map)
    return NULL;
  const gs_vm_range_t program = gap(PROGRAM_START, PROGRAM_END);
  uint64_t start = PROGRAM_START;
  for (size_t i = 0; i < old->count; i++) {
    const gs_vm_range_t *range = &old->range[i];
    if (range->is_gap)
      continue;
    if (fill)
      append(map, program, start, range->start < PROGRAM_END ? range->start : PROGRAM_END);
    append(map, *range, range->start, range->end);
    start = range->end > start ? range->end : start;
  }
  if (fill)
    append(map, program, start, PROGRAM_END);
  map->code_epoch = old->code_epoch;
  return map;
}

int gs_vm_share_host(gs_vm_t *vm, bool on) {
  pthread_mutex_lock(&vm->lock);
  gs_vm_map_t *map = map_with_gaps(newest(vm), on);
  if (map) {
    publish(vm, map);
    vm->shares_host = on;
  }
  pthread_mutex_unlock(&vm->lock);
  return map ? 0 : -1;
}

int gs_vm_invalidate_code(gs_vm_t *vm) {
  pthread_mutex_lock(&vm->lock);
  const gs_vm_map_t *old = newest(vm);
  gs_vm_map_t *map = map_create(vm, old->count);
  if (map) {
    memcpy(map->range, old->range, old->count * sizeof *old->range);
    map->count = old->count;
    map->code_epoch = old->code_epoch + 1;
    publish(vm, map);
  }
  pthread_mutex_unlock(&vm->lock);
  return map ? 0 : -1;
}

/* What it found in another snapshot. */
static void forget_ranges(gs_vm_reader_t *reader, uint64_t number) {
  static const gs_vm_range_t nowhere;
  reader->number = number;
  for (unsigned i = 0; i < GS_VM_HINTS; i++)
    reader->found[i] = &nowhere;
}

void gs_vm_reader_register(gs_vm_t *vm, gs_vm_reader_t *reader) {
  /* The lock publishes the reader to writers; until it enters for the first time there is nothing to order.
   */
  atomic_init(&reader->seen, NULL);
  forget_ranges(reader, 0);
  reader->vm = vm;
  reader->newest = &vm->current;
  pthread_mutex_lock(&vm->readers_lock);
  reader->next = vm->readers;
  vm->readers = reader;
  pthread_mutex_unlock(&vm->readers_lock);
}

void gs_vm_reader_unregister(gs_vm_reader_t *reader) {
  gs_vm_t *vm = reader->vm;
  /* Before the lock: an unmap that holds it may be waiting for this very reader. */
  gs_vm_reader_leave(reader);
  pthread_mutex_lock(&vm->readers_lock);
  gs_vm_reader_t **link = &vm->readers;
  while (*link && *link != reader)
    link = &(*link)->next;
  if (*link)
    *link = reader->next;
  pthread_mutex_unlock(&vm->readers_lock);
}

const gs_vm_map_t *gs_vm_reader_move_on(gs_vm_reader_t *reader) {
  gs_vm_t *vm = reader->vm;
  const gs_vm_map_t *map = atomic_load_explicit(&vm->current, memory_order_acquire);
  for (;;) {
    /* Announce, then look again: sequential consistency makes this pair and the writer's publish-then-look
     * exclude that both miss the other. As a release it also ends all accesses through the snapshot used
     * before. */
    atomic_store_explicit(&reader->seen, map, memory_order_seq_cst);
    const gs_vm_map_t *again = atomic_load_explicit(&vm->current, memory_order_seq_cst);
    if (again == map)
      break;
    map = again;
  }
  if (reader->number != map->number)
    forget_ranges(reader, map->number);
  return map;
}

void gs_vm_reader_leave(gs_vm_reader_t *reader) {
  /* Releases all accesses through the snapshot to the writer that waits for their end. */
  atomic_store_explicit(&reader->seen, NULL, memory_order_release);
}

bool gs_vm_reader_is_behind(const gs_vm_reader_t *reader) {
  /* After all that this thread has read: also the address that it asks about. */
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&reader->vm->current, memory_order_acquire) !=
         atomic_load_explicit(&reader->seen, memory_order_relaxed);
}

const gs_vm_range_t *gs_vm_find(const gs_vm_map_t *map, uint64_t address) {
  const size_t i = first_after(map, address);
  return i < map->count && map->range[i].start <= address ? &map->range[i] : NULL;
}

const gs_vm_range_t *gs_vm_find_mapped(const gs_vm_map_t *map, uint64_t address) {
  const gs_vm_range_t *range = gs_vm_find(map, address);
  return range && !range->is_gap ? range : NULL;
}

void *gs_vm_translate(const gs_vm_map_t *map, uint64_t address, size_t size, uint32_t access) {
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  if (!range || (range->access & access) != access || size > range->end - address)
    return NULL;
  return range->host + (address - range->start);
}
