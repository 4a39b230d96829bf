/* The initial state of a workgroup: registers as the command processor and the dispatcher set them up
 * (AMDGPUUsage, "Initial Kernel Execution State"), LDS, and the memory behind them. Not here: running it
 * (run.c). */
#include "exec/internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "isa/lanes.h"
#include "isa/strip_rows.h"

enum {
  /* Distance between the registers of two waves: all rows and a little, so that the same register of
   * different waves does not compete for the same cache sets. */
  ROWS_PER_WAVE = GS_ROWS + 5,
  LDS_ALIGNMENT = 64,
};

static const size_t rows_bytes = (size_t)GS_GROUP_WAVES_MAX * ROWS_PER_WAVE * sizeof(gs_row_t);

gs_group_t *gs_group_create(void) {
  gs_group_t *group = aligned_alloc(_Alignof(gs_group_t), sizeof *group);
  if (!group)
    return NULL;
  memset(group, 0, sizeof *group);
  gs_row_t *rows =
      mmap(NULL, rows_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (rows == MAP_FAILED) {
    free(group);
    return NULL;
  }
  for (size_t i = 0; i < GS_GROUP_WAVES_MAX; i++)
    group->rows[i] = rows + i * ROWS_PER_WAVE;
  return group;
}

void gs_group_destroy(gs_group_t *group) {
  if (!group)
    return;
  munmap(group->rows[0], rows_bytes);
  for (size_t i = 0; i < GS_KEEPS; i++)
    free(group->kept[i]);
  free(group->lds);
  free(group);
}

int gs_group_reserve_lds(gs_group_t *group, uint32_t bytes) {
  if (group->lds_capacity >= bytes)
    return 0;
  const size_t capacity = ((size_t)bytes + LDS_ALIGNMENT - 1) / LDS_ALIGNMENT * LDS_ALIGNMENT;
  uint8_t *lds = aligned_alloc(LDS_ALIGNMENT, capacity);
  if (!lds)
    return -1;
  free(group->lds);
  group->lds = lds;
  group->lds_capacity = capacity;
  group->poisoned.lds = 0;
  return 0;
}

/* Scalar registers that are filled one after another. */
typedef struct filler {
  gs_wave_t *wave;
  unsigned next;
  uint64_t set[2]; /* those that were, a bit each */
} filler_t;

static void push32(filler_t *f, uint32_t value) {
  f->set[f->next / 64] |= UINT64_C(1) << f->next % 64;
  f->wave->s.u32[f->next++] = value;
}
static void push64(filler_t *f, uint64_t value) {
  push32(f, (uint32_t)value);
  push32(f, (uint32_t)(value >> 32));
}

/* The last word of the buffer resource of scratch memory. After gfx9 the command processor fills in how many
 * lanes lie side by side. */
static uint32_t scratch_srd_of(const gs_kernel_t *kernel) {
  enum { INDEX_STRIDE = 3 << 21, STRIDE_32 = 2 << 21, STRIDE_64 = 3 << 21 };
  const uint32_t word = kernel->dispatch.scratch_srd[3];
  if (kernel->target & GS_GFX9)
    return word;
  return (word & ~(uint32_t)INDEX_STRIDE) | (kernel->lanes == 32 ? STRIDE_32 : STRIDE_64);
}

static void fill_user_sgprs(filler_t *f, const gs_kernel_t *kernel) {
  const gs_dispatch_t *dispatch = &kernel->dispatch;
  if (kernel->properties & GS_KERNEL_PRIVATE_SEGMENT_BUFFER)
    for (unsigned i = 0; i < 4; i++)
      push32(f, i == 3 ? scratch_srd_of(kernel) : dispatch->scratch_srd[i]);
  if (kernel->properties & GS_KERNEL_DISPATCH_PTR)
    push64(f, dispatch->packet);
  if (kernel->properties & GS_KERNEL_QUEUE_PTR)
    push64(f, dispatch->queue);
  if (kernel->properties & GS_KERNEL_KERNARG_PTR)
    push64(f, kernel->kernarg);
  if (kernel->properties & GS_KERNEL_DISPATCH_ID)
    push64(f, dispatch->dispatch_id);
  if (kernel->properties & GS_KERNEL_FLAT_SCRATCH_INIT)
    push64(f, dispatch->scratch_base);
  for (uint32_t i = 0; i < kernel->preload_count; i++)
    push32(f, kernel->preloaded[i]);
  if (kernel->properties & GS_KERNEL_PRIVATE_SEGMENT_SIZE)
    push32(f, kernel->private_bytes);
}

static filler_t fill_sgprs(gs_group_t *group, unsigned index, const gs_kernel_t *kernel,
                           const gs_profile_t *profile) {
  gs_wave_t *w = &group->wave[index];
  filler_t f = {w, 0, {0, 0}};
  fill_user_sgprs(&f, kernel);
  /* System registers follow the user registers that the kernel asked for, whether or not all of those were
   * filled. */
  f.next = kernel->rsrc2 >> 1 & 0x1f;
  for (unsigned i = 0; i < 3; i++)
    if (kernel->rsrc2 >> (7 + i) & 1)
      push32(&f, group->id[i]);
  if (kernel->rsrc2 >> 10 & 1)
    push32(&f, (index == 0 ? UINT32_C(1) << 31 : 0) | group->wave_count);
  const bool has_scratch = kernel->rsrc2 & 1;
  const uint64_t offset =
      has_scratch ? (uint64_t)group->scratch_slot[index] * kernel->dispatch.scratch_wave_bytes : 0;
  if (profile->ready_scratch)
    w->s.u64[GS_S_FLAT_SCRATCH / 2] = kernel->dispatch.scratch_base + offset;
  else if (has_scratch && profile->architected_scratch)
    w->s.u64[GS_S_SCRATCH_BASE / 2] = kernel->dispatch.scratch_base + offset;
  else if (has_scratch)
    push32(&f, (uint32_t)offset);
  return f;
}

/* How many work-item IDs behind the first the kernel gets in registers. Who forgot to ask finds 0 here, and
 * on a card anything. */
static unsigned extra_ids(const gs_run_t *run) {
  return run->device->poison ? run->kernel.rsrc2 >> 11 & 3 : 2;
}

/* Groups of one dimension are mostly full: numbers of a loop that the compiler knows. */
static void fill_whole_row(gs_row_t *row, uint32_t first) {
  for (uint32_t l = 0; l < GS_MAX_LANES; l++)
    row->u32[l] = first + l;
}

/* Work-item IDs of the `count` lanes from `first` on, which are neighbours in x. */
static void fill_line(gs_wave_t *w, uint32_t first, uint32_t count, const uint32_t id[3],
                      const gs_run_t *run) {
  const bool packed = run->device->profile->packed_work_item_id;
  const uint32_t x = packed ? id[0] | id[1] << 10 | id[2] << 20 : id[0];
  if (count == GS_MAX_LANES)
    fill_whole_row(&w->v[0], x);
  else
    for (uint32_t l = 0; l < count; l++)
      w->v[0].u32[first + l] = x + l;
  if (packed)
    return;
  for (unsigned i = 1; i <= extra_ids(run); i++)
    for (uint32_t l = 0; l < count && (id[i] || run->device->poison); l++) /* else it is there already */
      w->v[i].u32[first + l] = id[i];
}

/* Work-item IDs of one wave; `size` is the size of this workgroup, which may be cut off by the grid's edge.
 */
static void fill_vgprs(gs_wave_t *w, unsigned index, const uint32_t size[3], const gs_run_t *run) {
  const uint32_t all = gs_wave_lanes(w), first = index * all, left = size[0] * size[1] * size[2] - first;
  const uint32_t lanes = left < all ? left : all;
  uint32_t id[3] = {first % size[0], first / size[0] % size[1], first / size[0] / size[1]};
  for (uint32_t l = 0, count; l < lanes; l += count) {
    count = size[0] - id[0] < lanes - l ? size[0] - id[0] : lanes - l;
    fill_line(w, l, count, id, run);
    id[0] = 0;
    if (++id[1] < size[1])
      continue;
    id[1] = 0;
    id[2]++;
  }
  gs_set_exec(w, lanes == GS_MAX_LANES ? UINT64_MAX : (UINT64_C(1) << lanes) - 1);
}

/* What registers hold before the first instruction. */
static void clear_registers(gs_group_t *group, unsigned index, const gs_run_t *run) {
  const gs_kernel_t *kernel = &run->kernel;
  gs_wave_t *w = &group->wave[index];
  if (GS_UNLIKELY(run->device->poison)) {
    gs_poison_scalars(group, index, run->device);
    gs_poison_rows(group, index, run);
    return;
  }
  memset(&w->s, 0, sizeof w->s);
  w->v = group->rows[index];
  memset(w->v, 0, kernel->vgprs * sizeof *w->v);
  /* Not even no bytes of pages that were never touched: hosts take long for a store whose mask is empty
   * there.
   */
  if (kernel->acc_vgprs)
    memset(w->v + GS_ARCH_VGPRS, 0, kernel->acc_vgprs * sizeof *w->v);
}

static void tell_watcher(gs_group_t *group, unsigned index, const gs_run_t *run, const filler_t *filled) {
  const bool packed = run->device->profile->packed_work_item_id;
  const gs_begin_t begin = {
      .keep = group->kept,
      .wave = index,
      .sgprs = {filled->set[0], filled->set[1]},
      .vgprs = packed ? 1 : 1 + (run->kernel.rsrc2 >> 11 & 3),
  };
  if (run->watch && run->watch->begin)
    run->watch->begin(&group->wave[index], &begin);
}

static void start_wave(gs_group_t *group, unsigned index, const uint32_t size[3], const gs_run_t *run) {
  const gs_kernel_t *kernel = &run->kernel;
  gs_wave_t *w = &group->wave[index];
  clear_registers(group, index, run);
  gs_row_t *rows = w->v;
  /* What strips leave behind is read by nobody before it is written. */
  memset(&w->pc, 0, offsetof(gs_wave_t, strip_values) - offsetof(gs_wave_t, pc));
  memset(&w->scalar_copy, 0, sizeof *w - offsetof(gs_wave_t, scalar_copy));
  w->v = rows;
  w->env = &group->env;
  w->pc = kernel->entry;
  w->state = GS_WAVE_RUNNING;
  gs_wave_set_mode(w, gs_kernel_mode(kernel));
  const filler_t filled = fill_sgprs(group, index, kernel, run->device->profile);
  fill_vgprs(w, index, size, run);
  tell_watcher(group, index, run, &filled);
}

/* The n-th of the compute units that the kernel may use. */
static uint32_t nth_cu(const gs_kernel_t *kernel, uint32_t n) {
  const gs_cu_mask_t *mask = &kernel->dispatch.cu_mask;
  for (uint32_t i = 0; i < mask->words; i++) {
    uint32_t bits = mask->bits[i];
    const uint32_t count = (uint32_t)__builtin_popcount(bits);
    if (n >= count) {
      n -= count;
      continue;
    }
    while (n--)
      bits &= bits - 1;
    return 32 * i + (uint32_t)__builtin_ctz(bits);
  }
  return n; /* there is no mask */
}

/* Parts of the device that take groups in turn: at least one. */
static uint32_t xccs_of(const gs_device_t *device) {
  return device->profile->xccs ? device->profile->xccs : 1;
}

/* Where the dispatcher says that the workgroup runs (HW_ID of gfx9): groups are dealt to compute units in
 * turn. */
static uint32_t hw_id(const gs_device_t *device, const gs_kernel_t *kernel, uint64_t index) {
  const uint32_t xccs = xccs_of(device), engines = device->profile->shader_engines / xccs;
  const uint32_t cu = nth_cu(kernel, (uint32_t)(index % kernel->cus)) / xccs;
  if (!(kernel->target &
        GS_GFX9)) /* HW_ID1: two units are a work-group processor, and arrays halve an engine */
    return (cu / engines / 4 & 0xf) << 10 | (cu / engines & 1) << 16 | (cu % engines & 7) << 18;
  return (cu / engines & 0xf) << 8 | (cu % engines & 0x7) << 13;
}

/* Bits of STATUS that stay as they are while a wave runs. */
static uint32_t status_register(const gs_group_t *group, const gs_kernel_t *kernel) {
  enum { IN_TG = 1 << 11, SCRATCH_EN = 1 << 28 };
  return (group->wave_count > 1 ? IN_TG : 0) | (kernel->private_bytes ? SCRATCH_EN : 0);
}

/* GPR_ALLOC: what a wave owns, less one, as Linux' handlers of traps read it (amdkfd,
 * cwsr_trap_handler_gfx*.asm). gfx9 counts SGPRs by 16, later parts give each wave as many. */
static uint32_t gpr_alloc(const gs_kernel_t *kernel) {
  const uint32_t vgprs = kernel->vgprs / 4 - 1, sgprs = (kernel->rsrc1 >> 7 & 7) << 24;
  if (kernel->target & GS_CDNA2_4) /* one file, by 8, in which accumulation registers begin at an offset */
    return ((kernel->vgprs + kernel->acc_vgprs) / 8 - 1) << 6 | vgprs << 12 | sgprs;
  if (kernel->target & GS_GFX11)
    return vgprs << 12;
  return vgprs << 8 | (kernel->target & GS_GFX9 ? sgprs : 0);
}

void gs_group_size(const gs_group_t *group, const gs_kernel_t *kernel, uint32_t size[3]) {
  for (unsigned i = 0; i < 3; i++) {
    const uint32_t left = kernel->grid[i] - group->id[i] * kernel->group_size[i];
    size[i] = left < kernel->group_size[i] ? left : kernel->group_size[i];
  }
}

/* The group's own chance, which depends on nothing but what it is. */
static void start_luck(gs_group_t *group, const gs_run_t *run, uint64_t index) {
  const uint64_t dispatch = run->kernel.dispatch.dispatch_id << 16 ^ run->device->ordinal;
  group->luck = (gs_luck_t){.random = gs_random_of(~run->device->options.strict_seed, dispatch, index)};
}

void gs_group_start(gs_group_t *group, const gs_run_t *run, uint64_t index) {
  const gs_kernel_t *kernel = &run->kernel;
  gs_device_t *device = run->device;
  if (GS_UNLIKELY(device->schedule))
    start_luck(group, run, index);
  if (GS_UNLIKELY(device->poison))
    gs_poison_lds(group, run, index);
  else if (kernel->lds_bytes)
    memset(group->lds, 0, kernel->lds_bytes);
  group->id[0] = (uint32_t)(index % kernel->groups[0]);
  group->id[1] = (uint32_t)(index / kernel->groups[0] % kernel->groups[1]);
  group->id[2] = (uint32_t)(index / kernel->groups[0] / kernel->groups[1]);
  uint32_t size[3];
  gs_group_size(group, kernel, size);
  const uint32_t items = size[0] * size[1] * size[2];
  group->run = run;
  group->wave_count = (items + kernel->lanes - 1) / kernel->lanes;
  group->live_waves = group->wave_count;
  group->released = false;
  group->env = (gs_wave_env_t){
      .target = kernel->target,
      .lds = group->lds,
      .lds_bytes = kernel->lds_bytes,
      .hw_id = hw_id(device, kernel, index),
      .xcc_id = (uint32_t)(index % xccs_of(device)),
      .status = status_register(group, kernel),
      .gpr_alloc = gpr_alloc(kernel),
      .clock = gs_clock_ticks,
      .send_interrupt = device->ops.send_interrupt,
      .context = device->ops.context,
      .watch = run->watch,
      .gws = &run->device->gws,
      .dynamic_stack = kernel->properties & GS_KERNEL_DYNAMIC_STACK,
  };
  if (GS_UNLIKELY(run->watched != NULL))
    group->env.watched = run->watch->group_begins(run->watch->context, run->watched, index, group->wave_count,
                                                  kernel->lds_bytes);
  for (unsigned i = 0; i < group->wave_count; i++)
    start_wave(group, i, size, run);
}
