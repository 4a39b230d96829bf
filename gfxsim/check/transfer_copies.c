/* Transfer: what copy engines move, from and to what is mapped. Not here: who has asked for it (transfer.c).
 */
#include "check/transfer_state.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/host.h"

/* What a copy moves. */
typedef struct moved {
  const uint8_t *data, *before; /* before: where it goes; NULL = not known */
} moved_t;

static void add_waste(gs_twin_t *mapping, gs_waste_t kind, uint64_t bytes) {
  mapping->variable->bytes[kind] += bytes;
  mapping->variable->times[kind]++;
}

/* Whether the device had just that when the variable was mapped before. */
static bool had_before(const gs_twin_t *mapping, const uint8_t *data, uint64_t bytes) {
  const gs_variable_t *variable = mapping->variable;
  return !mapping->came_ever && variable->last_host == mapping->host && variable->last_bytes == bytes &&
         bytes == mapping->end - mapping->start && variable->last_hash == gs_mapped_hash(data, bytes);
}

/* A pointer of the runtime's, perhaps, which is put where the host has its own: that one is no news, nor was
 * it if the region named the variable before. */
static void come_attached(gs_twin_t *mapping, uint64_t first, const uint8_t *data) {
  uint8_t now[sizeof(void *)];
  if (!gs_host_peek(mapping->host + first, now, sizeof now) || memcmp(now, data, sizeof now) == 0)
    return;
  memcpy(mapping->bytes.host_had + first, now, sizeof now);
  for (uint64_t i = first; i < first + sizeof now; i++)
    mapping->bytes.flags[i] &= (uint16_t)~GS_MAPPED_STALE;
}

/* All of it is on both sides now. */
static void copied_all(gs_twin_t *mapping) {
  atomic_store(&mapping->writer, 0);
  atomic_store(&mapping->is_written, false);
}

/* Keeps whose changes by a kernel the copy undoes, if it does; the first time since all came to the host. */
static void mark_overwritten(const gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first,
                             const moved_t *moved, uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  if (!moved->before || !gs_mapped_mark_overwritten(&part, bytes, moved->data, moved->before) ||
      mapping->is_overwritten)
    return;
  mapping->is_overwritten = true;
  mapping->overwriting = atomic_load(&transfer->construct);
  mapping->overwritten_pc = atomic_load(&mapping->writer);
}

/* `data` comes to the device. */
static void come(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, const moved_t *moved,
                 uint64_t bytes) {
  const uint8_t *data = moved->data;
  const bool is_sent = bytes > sizeof(void *); /* else it is a pointer of the runtime's, perhaps */
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  const bool had = is_sent && had_before(mapping, data, bytes);
  if (is_sent) {
    gs_transfer_count_unread(mapping, first, bytes);
    mark_overwritten(transfer, mapping, first, moved, bytes);
  }
  if (!is_sent && bytes == sizeof(void *))
    come_attached(mapping, first, data);
  mapping->came_ever = true;
  gs_transfer_unsettle(mapping, first, bytes);
  /* If the host has changed any of it, it sends new data, and not by mistake. */
  const bool is_old = moved->before && !mapping->is_fresh && gs_mapped_is_old(&part, bytes, data);
  if ((gs_mapped_come(&part, bytes, data, is_old ? moved->before : NULL, is_sent) && is_sent) || had)
    add_waste(mapping, GS_WASTE_REPEATED, bytes);
  if (bytes == mapping->end - mapping->start && !gs_mapped_any(&part, bytes, GS_MAPPED_REPLACED))
    copied_all(mapping);
}

/* Which bytes of `data`, about to go to the host, are what that had, no kernel has changed, and the host has?
 */
static void mark_undone(gs_twin_t *mapping, uint64_t first, const uint8_t *data, uint64_t bytes) {
  uint8_t *now = mapping->is_copied ? malloc(GS_TWIN_PIECE) : NULL;
  uint64_t at = first, count;
  for (; now && (count = gs_transfer_find_piece(mapping, &at, first + bytes)); at += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, at);
    if (gs_host_peek(mapping->host + at, now, count))
      gs_mapped_mark_undoes(&part, count, data + (at - first), now);
  }
  free(now);
}

/* `data` goes to the host, or anywhere else. */
static void go(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, const moved_t *moved,
               uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  gs_some_t undone = {0};
  mapping->construct = atomic_load(&transfer->construct);
  mapping->went_writer = atomic_load(&mapping->writer);
  gs_transfer_find_overwritten(transfer, mapping, first, bytes, GS_MAPPED_WANTED);
  gs_mapped_forget_undoes(&part, bytes);
  mark_undone(mapping, first, moved->data, bytes);
  gs_transfer_unsettle(mapping, first, bytes);
  if (gs_mapped_go(&part, bytes, moved->data, &undone))
    add_waste(mapping, GS_WASTE_UNCHANGED, bytes);
  gs_transfer_add_undone(transfer, mapping, first, &undone);
  if (bytes == mapping->end - mapping->start)
    copied_all(mapping);
}

/* One side of a copy, mapping by mapping. */
static void follow(gs_transfer_t *transfer, uint64_t address, const moved_t *moved, uint64_t bytes,
                   void (*each)(gs_transfer_t *, gs_twin_t *, uint64_t, const moved_t *, uint64_t)) {
  const uint64_t end = address + bytes;
  for (size_t i = gs_transfer_index(transfer, address); i < transfer->count && transfer->at[i]->start < end;
       i++) {
    gs_twin_t *mapping = transfer->at[i];
    const uint64_t from = address > mapping->start ? address : mapping->start;
    const uint64_t to = end < mapping->end ? end : mapping->end;
    const moved_t here = {moved->data + (from - address),
                          moved->before ? moved->before + (from - address) : NULL};
    each(transfer, mapping, from - mapping->start, &here, to - from);
  }
}

/* `bytes` of the range from `data` on: of the host's memory a copy, which the program may take away
 * meanwhile, to be freed as `*copy`. NULL if it has been taken away. */
static const uint8_t *data_of(const gs_vm_range_t *range, const uint8_t *data, uint64_t bytes,
                              uint8_t **copy) {
  *copy = NULL;
  if (range->kind != GS_VM_HOST)
    return data;
  *copy = malloc(bytes);
  return *copy && gs_host_peek((uintptr_t)data, *copy, bytes) ? *copy : NULL;
}

/* `bytes` of a GPU's own memory, or NULL. */
static const uint8_t *device_memory(const gs_vm_map_t *map, uint64_t address, uint64_t bytes) {
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  return range && range->kind != GS_VM_HOST && bytes <= range->end - address
             ? range->host + (address - range->start)
             : NULL;
}

void *gs_transfer_watch_copy(void *context, const gs_copy_t *copy) {
  gs_transfer_t *transfer = ((gs_check_t *)context)->transfer;
  atomic_fetch_add_explicit(&transfer->copies, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&transfer->bytes, copy->bytes, memory_order_relaxed);
  if (!copy->from)
    return NULL;
  pthread_rwlock_wrlock(&transfer->lock);
  for (uint64_t done = 0; done < copy->bytes && transfer->count;) {
    const gs_vm_range_t *range = gs_vm_find_mapped(copy->map, copy->from + done);
    if (!range) /* the engine will fault */
      break;
    uint64_t bytes = range->end - (copy->from + done);
    if (bytes > copy->bytes - done)
      bytes = copy->bytes - done;
    uint8_t *own;
    const uint8_t *data = data_of(range, range->host + (copy->from + done - range->start), bytes, &own);
    if (data) {
      const moved_t moved = {data, device_memory(copy->map, copy->to + done, bytes)};
      follow(transfer, copy->from + done, &moved, bytes, go);
      follow(transfer, copy->to + done, &moved, bytes, come);
    }
    free(own);
    done += bytes;
  }
  pthread_rwlock_unlock(&transfer->lock);
  return NULL;
}
