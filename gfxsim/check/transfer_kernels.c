/* Transfer: what kernels read and write of what is mapped, lane by lane or many at once, and what is stale of
 * it. Many kernels at a time. Not here: what is stale (transfer.c). */
#include "check/transfer_state.h"

#include "check/check.h"
#include "isa/memory.h"

/* Of one instruction. */
typedef struct seen {
  gs_twin_t *mapping; /* the last one */
  gs_stale_read_t read;
} seen_t;

/* Keeps who writes by this instruction. Slow, once for each. */
static void keep_writer(gs_transfer_t *transfer, const gs_wave_t *w, unsigned lane) {
  pthread_mutex_lock(&transfer->writers_lock);
  unsigned i = 0;
  while (i < transfer->writers && transfer->writer[i].pc != w->pc)
    i++;
  if (i == transfer->writers && i < GS_WRITERS) {
    transfer->writer[i].pc = w->pc;
    gs_side_of_wave(&transfer->writer[i].side, w, lane);
    transfer->writers++;
  }
  pthread_mutex_unlock(&transfer->writers_lock);
}

/* Whether an access with these rights changes no flags, as was found before. What another kernel changes at
 * this moment comes before or behind: nothing orders the two. */
static bool is_settled(const gs_twin_t *mapping, uint64_t first, uint64_t end, uint32_t rights) {
  unsigned has = rights == GS_VM_READ ? GS_SETTLED_READ : GS_SETTLED_WRITE;
  for (uint64_t i = first / GS_TWIN_LINE; i * GS_TWIN_LINE < end; i++)
    has &= atomic_load_explicit(&mapping->settled[i], memory_order_acquire);
  return has;
}

/* What is kept of a line, of which `count` bytes were accessed so. What excludes others is held. */
static unsigned settle_line(const gs_sweep_t *sweep, const uint16_t *flags, uint64_t count, uint64_t line,
                            uint32_t rights, unsigned had) {
  const unsigned written = had & GS_SETTLED_WRITTEN;
  if (!(rights & GS_VM_WRITE))
    return written | (sweep->is_settled(flags, line, GS_VM_READ) ? GS_SETTLED_READ : 0);
  return count == line || sweep->is_settled(flags, line, GS_VM_WRITE) ? GS_SETTLED_WRITTEN | GS_SETTLED_WRITE
                                                                      : written;
}

static void settle(const gs_sweep_t *sweep, gs_twin_t *mapping, uint64_t first, uint64_t end,
                   uint32_t rights) {
  const uint64_t bytes = mapping->end - mapping->start;
  for (uint64_t at = first / GS_TWIN_LINE * GS_TWIN_LINE; at < end; at += GS_TWIN_LINE) {
    const uint64_t line = bytes - at < GS_TWIN_LINE ? bytes - at : GS_TWIN_LINE;
    const uint64_t from = at < first ? first : at, to = at + line < end ? at + line : end;
    _Atomic uint8_t *settled = &mapping->settled[at / GS_TWIN_LINE];
    const unsigned had = atomic_load_explicit(settled, memory_order_relaxed);
    const unsigned has = settle_line(sweep, &mapping->bytes.flags[at], to - from, line, rights, had);
    atomic_store_explicit(settled, (uint8_t)has, memory_order_release);
  }
}

/* Sets the flags of an access. Whether it read something stale. Most flags are as they should be, since
 * kernels do the same again and again, and nobody else's memory is touched then; what is kept of lines says
 * so, but where an access is to parts of them. */
static bool set_flags(const gs_sweep_t *sweep, gs_twin_t *mapping, uint64_t first, uint64_t bytes,
                      uint32_t rights) {
  bool stale = false;
  if (is_settled(mapping, first, first + bytes, rights))
    return false;
  for (uint64_t end = first + bytes, next; first < end; first = next) {
    atomic_flag *setting = &mapping->setting[first / GS_TWIN_PART];
    next = (first / GS_TWIN_PART + 1) * GS_TWIN_PART < end ? (first / GS_TWIN_PART + 1) * GS_TWIN_PART : end;
    while (atomic_flag_test_and_set_explicit(setting, memory_order_acquire))
      ;
    if (next - first >= 2 * GS_TWIN_LINE ||
        !sweep->is_settled(&mapping->bytes.flags[first], next - first, rights)) {
      stale |= sweep->set_flags(&mapping->bytes.flags[first], next - first, rights);
      settle(sweep, mapping, first, next, rights);
    }
    atomic_flag_clear_explicit(setting, memory_order_release);
  }
  return stale;
}

/* The mapping that has `address`, to be read from there on: all of it is compared if that was not when it was
 * used, or it was not used. That takes as long as it is large, so a large one that many regions read without
 * naming it is looked at less and less often, until something is found. The lock is held for reading, and let
 * go of meanwhile. */
static gs_twin_t *compare_rest(gs_transfer_t *transfer, uint64_t address) {
  pthread_rwlock_unlock(&transfer->lock);
  pthread_rwlock_wrlock(&transfer->lock);
  gs_twin_t *mapping = gs_transfer_find(transfer, address);
  if (mapping) {
    enum { MOST_PATIENCE = 63 };
    const uint64_t bytes = mapping->end - mapping->start, more = 2 * mapping->patience + 1;
    gs_transfer_compare(transfer, mapping, 0, bytes);
    mapping->patience = bytes <= 16 * GS_TWIN_PIECE || mapping->stale.count ? 0
                        : more < MOST_PATIENCE                              ? more
                                                                            : MOST_PATIENCE;
  }
  pthread_rwlock_unlock(&transfer->lock);
  pthread_rwlock_rdlock(&transfer->lock);
  return gs_transfer_find(transfer, address);
}

static bool was_compared(const gs_transfer_t *transfer, const gs_twin_t *mapping, uint64_t address,
                         uint64_t bytes) {
  const uint64_t first = address - mapping->start;
  return transfer->region - mapping->region <= mapping->patience && first >= mapping->compared &&
         (first + bytes <= mapping->compared_end || mapping->compared_end == mapping->end - mapping->start);
}

static void touch(gs_transfer_t *transfer, const gs_wave_t *w, uint64_t address, uint64_t bytes,
                  uint32_t rights, unsigned lane, seen_t *seen) {
  gs_twin_t *mapping = seen->mapping;
  if (!mapping || address < mapping->start || address >= mapping->end)
    mapping = seen->mapping = gs_transfer_find(transfer, address);
  if (mapping && rights & GS_VM_READ && GS_UNLIKELY(!was_compared(transfer, mapping, address, bytes)))
    mapping = seen->mapping = compare_rest(transfer, address);
  if (!mapping)
    return;
  uint64_t zero = 0;
  const uint64_t there = mapping->end - address;
  const bool stale =
      set_flags(transfer->sweep, mapping, address - mapping->start, bytes < there ? bytes : there, rights);
  if (rights & GS_VM_WRITE && !atomic_load_explicit(&mapping->is_written, memory_order_relaxed))
    atomic_store(&mapping->is_written, true);
  if (rights & GS_VM_WRITE && mapping->is_copied && !atomic_load(&mapping->writer) &&
      atomic_compare_exchange_strong(&mapping->writer, &zero, w->pc))
    keep_writer(transfer, w, lane);
  if (!stale)
    return;
  if (!seen->read.lanes++) {
    seen->read.lane = lane;
    seen->read.variable = mapping->variable;
    seen->read.some = mapping->stale;
  }
}

/* How many lanes from the first of `left` on are side by side, `step` bytes one behind the other, and can be
 * looked at as one: which lane it is only matters where something is stale. */
static unsigned count_as_one(gs_transfer_t *transfer, const gs_access_t *a, uint64_t left, uint64_t next,
                             uint32_t step, seen_t *seen) {
  const unsigned count = gs_count_neighbours(left, next);
  const uint64_t at = a->at[__builtin_ctzll(left)];
  if (count == 1)
    return 1;
  gs_twin_t *mapping = seen->mapping;
  if (!mapping || at < mapping->start || at >= mapping->end)
    mapping = seen->mapping = gs_transfer_find(transfer, at);
  return mapping && !mapping->stale.count && (count - 1) * (uint64_t)step + a->bytes <= mapping->end - at
             ? count
             : 1;
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  seen_t seen = {.mapping = NULL};
  const bool linear = a->step == GS_LINEAR_STEP;
  const uint32_t step = gs_lane_step(a->at, a->lanes, a->bytes);
  const uint64_t span = gs_access_span(a), next = linear ? transfer->sweep->next(a->at, step) : 0;
  pthread_rwlock_rdlock(&transfer->lock);
  for (uint64_t left = transfer->count ? a->lanes : 0; left;) {
    const unsigned l = (unsigned)__builtin_ctzll(left),
                   count = count_as_one(transfer, a, left, next, step, &seen);
    touch(transfer, w, a->at[l], (count - 1) * (uint64_t)step + span, a->rights, l, &seen);
    left = gs_without_lanes(left, count);
  }
  pthread_rwlock_unlock(&transfer->lock);
  gs_transfer_tell_stale(transfer, w, &seen.read);
}

static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  seen_t seen = {.mapping = NULL};
  pthread_rwlock_rdlock(&transfer->lock);
  for (uint64_t left = transfer->count ? a->lanes : 0; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t high = a->at[l] >> 32;
    if (high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI)
      touch(transfer, w, a->at[l], a->bytes, a->rights, l, &seen);
  }
  pthread_rwlock_unlock(&transfer->lock);
  gs_transfer_tell_stale(transfer, w, &seen.read);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  const uint64_t exec = gs_exec(w);
  const unsigned first = exec && !scalar ? (unsigned)__builtin_ctzll(exec) : 0;
  seen_t seen = {.mapping = NULL};
  pthread_rwlock_rdlock(&transfer->lock);
  /* Which lane it is only matters where something is stale. */
  if (transfer->count && stride)
    seen.mapping = gs_transfer_find(transfer, address);
  if (seen.mapping && !seen.mapping->stale.count && size <= seen.mapping->end - address)
    stride = 0;
  if (transfer->count && !stride)
    touch(transfer, w, address, size, rights, first, &seen);
  for (unsigned l = 0; transfer->count && stride && l < gs_wave_lanes(w); l++)
    touch(transfer, w, address + l * (uint64_t)stride, stride, rights, l, &seen);
  pthread_rwlock_unlock(&transfer->lock);
  gs_transfer_tell_stale(transfer, w, &seen.read);
}

const gs_watch_t gs_transfer_watch = {
    .lanes = watch_lanes, .mixed = watch_mixed, .block = watch_block, .copy_begins = gs_transfer_watch_copy};
