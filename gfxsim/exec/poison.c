/* What registers, LDS and scratch memory hold that nobody wrote, with strict poison: anything but zeros. What
 * the command processor and the dispatcher set up is written over it (group.c). Not here: fresh device memory
 * (machine/poison.c). */
#include <string.h>

#include "exec/internal.h"

/* How many scalar registers a kernel may find anything in: all but the trap handler's, and EXEC. */
enum { PLAIN_SCALARS = GS_S_TTMP0, ROTATION = 5 };

static bool leaves_things(const gs_device_t *device) {
  return device->poison == GS_POISON_LEFTOVERS;
}

/* Fills [old, bytes) if the group before has left something in the first `old` bytes, and else all. */
static size_t fill_behind(const gs_device_t *device, gs_random_t *random, void *to, size_t old,
                          size_t bytes) {
  if (!leaves_things(device))
    old = 0;
  if (old < bytes)
    gs_poison_fill(device->poison, random, (char *)to + old, bytes - old);
  return old > bytes ? old : bytes;
}

void gs_poison_lds(gs_group_t *group, const gs_run_t *run, uint64_t index) {
  const gs_kernel_t *kernel = &run->kernel;
  const uint64_t dispatch = kernel->dispatch.dispatch_id << 16 ^ run->device->ordinal;
  group->poisoned.random = gs_random_of(run->device->options.strict_seed, dispatch, index);
  group->poisoned.scratch_is_due = kernel->private_bytes && !leaves_things(run->device);
  group->poisoned.lds = fill_behind(run->device, &group->poisoned.random, group->lds, group->poisoned.lds,
                                    (kernel->lds_bytes + 7) / 8 * 8);
}

void gs_poison_scalars(gs_group_t *group, unsigned index, const gs_device_t *device) {
  gs_scalars_t *s = &group->wave[index].s;
  gs_random_t *random = &group->poisoned.random;
  if (!leaves_things(device) || !group->poisoned.scalars[index]) {
    gs_poison_fill(device->poison, random, s, PLAIN_SCALARS * sizeof *s->u32);
    s->u32[GS_S_M0] = gs_poison_word(device->poison, random, GS_S_M0);
  }
  group->poisoned.scalars[index] = true;
  memset(s->u32 + PLAIN_SCALARS, 0, (GS_S_M0 - PLAIN_SCALARS) * sizeof *s->u32);
}

static void fill_row(gs_row_t *row, uint32_t word) {
  for (unsigned lane = 0; lane < GS_LANES; lane++)
    row->u32[lane] = word;
}

/* Fills rows behind the first `old`, each with the word of its number. */
static uint32_t fill_rows(const gs_device_t *device, gs_random_t *random, gs_row_t *rows, uint32_t old,
                          uint32_t count) {
  if (!leaves_things(device))
    old = 0;
  if (device->poison == GS_POISON_RANDOM)
    gs_poison_fill(device->poison, random, rows, count * sizeof *rows);
  else
    for (uint32_t row = old; row < count; row++)
      fill_row(&rows[row], gs_poison_word(device->poison, random, row));
  return old > count ? old : count;
}

void gs_poison_rows(gs_group_t *group, unsigned index, const gs_run_t *run) {
  const gs_kernel_t *kernel = &run->kernel;
  gs_poisoned_t *poisoned = &group->poisoned;
  const uint32_t turn = leaves_things(run->device) ? (uint32_t)kernel->dispatch.dispatch_id * ROTATION : 0;
  const unsigned place = (index + turn) % (1024 / kernel->lanes); /* whose registers it inherits */
  gs_row_t *rows = group->rows[place];
  group->wave[index].v = rows;
  poisoned->vgprs[place] =
      fill_rows(run->device, &poisoned->random, rows, poisoned->vgprs[place], kernel->vgprs);
  poisoned->acc_vgprs[place] = fill_rows(run->device, &poisoned->random, rows + GS_ARCH_VGPRS,
                                         poisoned->acc_vgprs[place], kernel->acc_vgprs);
}

void gs_poison_scratch(const gs_executor_t *ex, const gs_run_t *run, gs_group_t *group) {
  const gs_dispatch_t *dispatch = &run->kernel.dispatch;
  const uint64_t own = (uint64_t)run->kernel.private_bytes * run->kernel.lanes;
  const uint64_t bytes = own < dispatch->scratch_wave_bytes ? own : dispatch->scratch_wave_bytes;
  group->poisoned.scratch_is_due = false;
  for (unsigned i = 0; i < group->wave_count; i++) {
    const uint64_t offset = (uint64_t)group->scratch_slot[i] * dispatch->scratch_wave_bytes;
    void *scratch = gs_vm_translate(ex->map, dispatch->scratch_base + offset, bytes, GS_VM_WRITE);
    if (scratch) /* else the wave itself will fault there */
      gs_poison_fill(run->device->poison, &group->poisoned.random, scratch, bytes);
  }
}
