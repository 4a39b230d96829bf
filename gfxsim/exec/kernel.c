/* Unpacking of dispatch packets and kernel descriptors, with the checks that a command processor makes. */
#include "exec/kernel.h"

#include <hsa/hsa.h>
#include <string.h>

#include "base/log.h"
#include "exec/internal.h"

enum {
  GROUP_ITEMS_MAX = 1024,
  DESCRIPTOR_BYTES = 64,
  PROPERTIES_OFFSET = 56,
  PRELOAD_OFFSET = 58,
  PRELOAD_ENTRY_BYTES = 256,
  DIMENSIONS = 3
};

/* Field of `bits` bits at `shift`. */
static uint32_t field(uint32_t word, unsigned shift, unsigned bits) {
  return word >> shift & ((1u << bits) - 1);
}

static uint32_t divide_up(uint32_t value, uint32_t by) {
  return value / by + (value % by != 0);
}

uint32_t gs_kernel_mode(const gs_kernel_t *kernel) {
  uint32_t mode = field(kernel->rsrc1, 12, 8);
  if (field(kernel->rsrc1, 21, 1))
    mode |= GS_MODE_DX10_CLAMP;
  if (field(kernel->rsrc1, 23, 1))
    mode |= GS_MODE_IEEE;
  if (field(kernel->rsrc1, 26, 1))
    mode |= GS_MODE_FP16_OVFL;
  return mode;
}

static gs_outcome_t reject(const gs_device_t *device, const gs_dispatch_t *dispatch, gs_outcome_t outcome,
                           const char *reason) {
  gs_log("GPU %u (%s): dispatch %llu refused: %s", device->ordinal, device->profile->name,
         (unsigned long long)dispatch->dispatch_id, reason);
  return outcome;
}

/* A grid may have more workgroups than 64 bits can count. Nobody sees the end of one that has as many. */
static uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Reads the grid from the packet. Dimensions that the packet does not use count as 1. */
static gs_outcome_t unpack_grid(gs_kernel_t *kernel, const gs_device_t *device,
                                const hsa_kernel_dispatch_packet_t *packet) {
  const unsigned dimensions = packet->setup & 3;
  const uint32_t grid[] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
  const uint32_t size[] = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z};
  if (dimensions == 0)
    return reject(device, &kernel->dispatch, GS_INVALID_DIMENSIONS, "it has no dimensions");
  uint64_t items = 1;
  kernel->group_count = 1;
  for (unsigned i = 0; i < DIMENSIONS; i++) {
    kernel->grid[i] = i < dimensions ? grid[i] : 1;
    kernel->group_size[i] = i < dimensions ? size[i] : 1;
    if (kernel->grid[i] == 0 || kernel->group_size[i] == 0)
      return reject(device, &kernel->dispatch, GS_INVALID_DIMENSIONS, "a grid or workgroup dimension is 0");
    kernel->groups[i] = divide_up(kernel->grid[i], kernel->group_size[i]);
    kernel->group_count = saturating_product(kernel->group_count, kernel->groups[i]);
    items *= kernel->group_size[i];
  }
  if (items > GROUP_ITEMS_MAX)
    return reject(device, &kernel->dispatch, GS_INVALID_GROUP_SIZE,
                  "more than 1024 work-items in a workgroup");
  return GS_DONE;
}

static void unpack_registers(gs_kernel_t *kernel, const gs_profile_t *profile) {
  const uint32_t granules = field(kernel->rsrc1, 0, 6) + 1;
  const uint32_t total = granules * profile->vgpr_granule * GS_MAX_LANES / kernel->lanes;
  if (profile->unified_vgprs) {
    const uint32_t offset = (field(kernel->rsrc3, 0, 6) + 1) * 4;
    kernel->vgprs = total < offset ? total : offset;
    kernel->acc_vgprs = total - kernel->vgprs;
  } else {
    kernel->vgprs = total;
    kernel->acc_vgprs = profile->acc_vgprs ? total : 0;
  }
}

/* How many waves may hold scratch memory at once: a wave's offset in it has 32 bits. */
static uint32_t scratch_slots(const gs_dispatch_t *dispatch) {
  const uint64_t bytes = dispatch->scratch_wave_bytes;
  const uint64_t most = bytes ? (UINT64_C(1) << 32) / bytes : GS_SCRATCH_SLOTS;
  const uint64_t slots = most < GS_SCRATCH_SLOTS ? most : GS_SCRATCH_SLOTS;
  return dispatch->scratch_waves < slots ? dispatch->scratch_waves : (uint32_t)slots;
}

/* The compute units that a workgroup spreads its waves over: on gfx10 and later the two of a work-group
 * processor, with the registers and local memory of both, if the kernel wants that (WGP_MODE, as clang sets
 * it without -mcumode). */
static uint32_t units_of_group(const gs_kernel_t *kernel, const gs_profile_t *profile) {
  return profile->narrow_target && field(kernel->rsrc1, 29, 1) ? 2 : 1;
}

/* How many workgroups fit at once into the compute units that the kernel may use: limits on how many gfxsim
 * keeps in progress, so that device code that relies on workgroups running together finds what it would find
 * on a card. 0 = not even one. */
static uint32_t residency(const gs_kernel_t *kernel, const gs_device_t *device) {
  const gs_profile_t *profile = device->profile;
  const uint32_t gfx9_file = profile->unified_vgprs ? 512 : 256;
  const uint32_t file = (profile->vgpr_file ? profile->vgpr_file : gfx9_file) * GS_MAX_LANES / kernel->lanes;
  const uint32_t registers = profile->unified_vgprs ? kernel->vgprs + kernel->acc_vgprs : kernel->vgprs;
  const uint32_t granule = profile->vgpr_block ? profile->vgpr_block : profile->vgpr_granule;
  const uint32_t block = granule * GS_MAX_LANES / kernel->lanes;
  uint32_t waves = file / (divide_up(registers, block) * block);
  if (waves > profile->waves_per_simd)
    waves = profile->waves_per_simd;
  const uint32_t units = units_of_group(kernel, profile);
  uint32_t groups = waves * profile->simds_per_cu * units / kernel->waves_per_group;
  if (kernel->lds_bytes && profile->lds_bytes * units / kernel->lds_bytes < groups)
    groups = profile->lds_bytes * units / kernel->lds_bytes;
  const uint32_t lots = kernel->cus < units ? 1 : kernel->cus / units;
  uint64_t total = (uint64_t)groups * lots;
  if (kernel->private_bytes && scratch_slots(&kernel->dispatch) / kernel->waves_per_group < total)
    total = scratch_slots(&kernel->dispatch) / kernel->waves_per_group;
  return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

/* Arguments that the command processor loads: how many dwords, from which on. A kernel that wants that begins
 * with code that loads them itself, for processors that do not. */
static gs_outcome_t unpack_preload(gs_kernel_t *kernel, const gs_device_t *device, const gs_vm_map_t *map,
                                   const uint8_t *descriptor) {
  uint16_t wanted;
  memcpy(&wanted, descriptor + PRELOAD_OFFSET, sizeof wanted);
  const uint32_t count = field(wanted, 0, 7), first = field(wanted, 7, 9);
  if (!count || !device->profile->kernarg_preload)
    return GS_DONE;
  const uint8_t *arguments = count <= GS_PRELOAD_MOST
                                 ? gs_vm_translate(map, kernel->kernarg + 4 * first, 4 * count, GS_VM_READ)
                                 : NULL;
  if (!arguments)
    return reject(device, &kernel->dispatch, GS_INVALID_CODE,
                  "the arguments that it wants in registers are too many, or not readable by the GPU");
  memcpy(kernel->preloaded, arguments, 4 * count);
  kernel->preload_count = count;
  kernel->entry += PRELOAD_ENTRY_BYTES;
  return GS_DONE;
}

static void unpack_shader(gs_kernel_t *kernel, const gs_shader_t *shader) {
  const uint32_t users = field(shader->rsrc2, 1, 5);
  kernel->object = kernel->entry = shader->entry;
  kernel->rsrc1 = shader->rsrc1;
  kernel->rsrc2 = shader->rsrc2;
  kernel->rsrc3 = shader->rsrc3;
  kernel->properties = shader->narrow ? GS_KERNEL_WAVE32 : 0;
  kernel->preload_count = users < GS_USER_REGISTERS ? users : GS_USER_REGISTERS;
  memcpy(kernel->preloaded, shader->user, sizeof kernel->preloaded);
}

static gs_outcome_t unpack_descriptor(gs_kernel_t *kernel, const gs_device_t *device,
                                      const gs_vm_map_t *map) {
  const uint8_t *descriptor =
      kernel->object ? gs_vm_translate(map, kernel->object, DESCRIPTOR_BYTES, GS_VM_READ) : NULL;
  if (!descriptor)
    return reject(device, &kernel->dispatch, GS_INVALID_CODE, "the kernel object is not readable by the GPU");
  int64_t entry_offset;
  memcpy(&entry_offset, descriptor + 16, sizeof entry_offset);
  memcpy(&kernel->rsrc3, descriptor + 44, 4);
  memcpy(&kernel->rsrc1, descriptor + 48, 4);
  memcpy(&kernel->rsrc2, descriptor + 52, 4);
  memcpy(&kernel->properties, descriptor + PROPERTIES_OFFSET, 2);
  kernel->entry = kernel->object + (uint64_t)entry_offset;
  return unpack_preload(kernel, device, map, descriptor);
}

static gs_outcome_t unpack_code(gs_kernel_t *kernel, const gs_device_t *device, const gs_vm_map_t *map) {
  if (kernel->dispatch.shader) {
    unpack_shader(kernel, kernel->dispatch.shader);
  } else {
    const gs_outcome_t outcome = unpack_descriptor(kernel, device, map);
    if (outcome)
      return outcome;
  }
  if (!gs_vm_translate(map, kernel->entry, 4, GS_VM_EXECUTE))
    return reject(device, &kernel->dispatch, GS_INVALID_CODE,
                  "the kernel's code is not executable by the GPU");
  const gs_target_t narrow = device->profile->narrow_target;
  kernel->target = narrow && kernel->properties & GS_KERNEL_WAVE32 ? narrow : device->profile->target;
  kernel->lanes = gs_target_lanes(kernel->target);
  kernel->waves_per_group =
      divide_up(kernel->group_size[0] * kernel->group_size[1] * kernel->group_size[2], kernel->lanes);
  unpack_registers(kernel, device->profile);
  return GS_DONE;
}

bool gs_dispatch_is_narrow(const gs_device_t *device, const gs_vm_map_t *map, const gs_dispatch_t *dispatch) {
  const hsa_kernel_dispatch_packet_t *packet = (const void *)(uintptr_t)dispatch->packet;
  if (!device->profile->narrow_target || !packet->kernel_object)
    return false;
  const uint8_t *descriptor = gs_vm_translate(map, packet->kernel_object, DESCRIPTOR_BYTES, GS_VM_READ);
  uint16_t properties = 0;
  if (descriptor)
    memcpy(&properties, descriptor + PROPERTIES_OFFSET, sizeof properties);
  return properties & GS_KERNEL_WAVE32;
}

uint32_t gs_dispatch_private_bytes(const gs_device_t *device, const gs_vm_map_t *map,
                                   const gs_dispatch_t *dispatch) {
  const hsa_kernel_dispatch_packet_t *packet = (const void *)(uintptr_t)dispatch->packet;
  const uint32_t bytes = packet->private_segment_size;
  return gs_dispatch_is_narrow(device, map, dispatch) ? bytes / 2 + bytes % 2 : bytes;
}

gs_outcome_t gs_kernel_init(gs_kernel_t *kernel, const gs_device_t *device, const gs_vm_map_t *map,
                            const gs_dispatch_t *dispatch) {
  const hsa_kernel_dispatch_packet_t *packet = (const void *)(uintptr_t)dispatch->packet;
  memset(kernel, 0, sizeof *kernel);
  kernel->dispatch = *dispatch;
  kernel->object = packet->kernel_object;
  kernel->kernarg = (uint64_t)(uintptr_t)packet->kernarg_address;
  kernel->private_bytes = packet->private_segment_size;
  kernel->lds_bytes = packet->group_segment_size;
  gs_outcome_t outcome = unpack_grid(kernel, device, packet);
  if (outcome)
    return outcome;
  if (kernel->lds_bytes > device->profile->lds_bytes)
    return reject(device, dispatch, GS_INVALID_GROUP_SEGMENT, "more group memory than a workgroup can have");
  /* Cards give more than that. Of what is not whole dwords compilers access whole ones all the same. */
  kernel->lds_bytes = (kernel->lds_bytes + 3) & ~3u;
  outcome = unpack_code(kernel, device, map);
  if (outcome)
    return outcome;
  kernel->cus = gs_device_masked_cus(device, &dispatch->cu_mask);
  kernel->resident_groups = residency(kernel, device);
  if (kernel->resident_groups == 0)
    return reject(device, dispatch, GS_INVALID_REGISTERS,
                  "the workgroup's registers or scratch memory do not fit into a compute unit");
  return GS_DONE;
}
