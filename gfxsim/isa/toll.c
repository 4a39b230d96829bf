/* Lines and waits. */
#include "isa/toll.h"

#include "isa/memory.h"

enum { LINE_BYTES = 64 };

/* What a wave has asked for and not yet waited for. */
enum { PENDING_VECTOR = 1, PENDING_SCALAR = 2 };

static bool is_of_host(const gs_wave_t *w, uint64_t address) {
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  const gs_vm_range_t *range = gs_vm_find(map, address);
  return range && range->kind == GS_VM_HOST;
}

static uint64_t lines_of(uint64_t address, uint64_t size) {
  return size ? (address + size - 1) / LINE_BYTES - address / LINE_BYTES + 1 : 0;
}

static void note(gs_wave_t *w, uint64_t lines, uint8_t pending) {
  w->env->toll->lines += lines;
  w->pending |= pending;
}

void gs_toll_lanes(gs_wave_t *w, const gs_access_t *a) {
  uint64_t lines = 0, last = UINT64_MAX, range_start = 0, range_end = 0;
  bool host = false;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t address = a->at[l];
    if (!(a->lanes >> l & 1))
      continue;
    const uint64_t line = address / LINE_BYTES;
    if (line < range_start || line >= range_end) { /* kinds of memory change at pages */
      host = is_of_host(w, address);
      range_start = address / 4096 * (4096 / LINE_BYTES);
      range_end = range_start + 4096 / LINE_BYTES;
    }
    const uint64_t end = (address + gs_access_span(a) - 1) / LINE_BYTES;
    if (host)
      lines += end - line + (line != last);
    last = end;
  }
  if (lines)
    note(w, lines, PENDING_VECTOR);
}

void gs_toll_block(gs_wave_t *w, uint64_t address, uint64_t size) {
  if (is_of_host(w, address))
    note(w, lines_of(address, size), PENDING_VECTOR);
}

void gs_toll_scalar(gs_wave_t *w, uint64_t address, uint64_t size) {
  if (is_of_host(w, address))
    note(w, lines_of(address, size), PENDING_SCALAR);
}

void gs_toll_wait(gs_wave_t *w, gs_wait_counts_t wait) {
  const gs_wait_counts_t none = gs_wait_counts_none(w->env->target);
  uint8_t waited = 0;
  if (wait.vm != none.vm || wait.vs != none.vs)
    waited |= PENDING_VECTOR;
  if (wait.lgkm != none.lgkm)
    waited |= PENDING_SCALAR;
  if (!(w->pending & waited))
    return;
  w->pending &= (uint8_t)~waited;
  w->trips++;
  if (w->env->toll->longest < w->trips)
    w->env->toll->longest = w->trips;
}
