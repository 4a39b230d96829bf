/* See place.h. A wave knows its group by the environment that is part of it. */
#include "exec/place.h"

#include <stdio.h>
#include <string.h>

#include "exec/instruction.h"
#include "exec/internal.h"
#include "exec/source_line.h"
#include "exec/symbol.h"

static const gs_group_t *group_of(const gs_wave_t *w) {
  return (const void *)((const uint8_t *)w->env - offsetof(gs_group_t, env));
}

static uint32_t rights_of(const gs_opcode_t *op) {
  if (op->flags & (GS_OPF_ATOMIC | GS_OPF_RTN))
    return GS_VM_READ | GS_VM_WRITE;
  return op->flags & GS_OPF_STORE ? GS_VM_WRITE : GS_VM_READ;
}

static void describe_instruction(gs_target_t target, const gs_vm_map_t *map, gs_place_t *place) {
  gs_inst_t in;
  snprintf(place->instruction, sizeof place->instruction, "(not readable)");
  if (!gs_instruction_at(map, target, place->pc, &in))
    return;
  gs_disassemble(target, &in, place->instruction, sizeof place->instruction);
  place->rights = rights_of(in.op);
}

bool gs_place_near(const gs_place_t *place, bool (*fits)(const char *pattern, const char *instruction),
                   const char *pattern) {
  enum { NEAR_BYTES = 4096, MOST_BYTES = 1 << 20 };
  gs_inst_t in;
  char text[GS_PLACE_TEXT];
  if (!place->map || !place->function || place->pc - place->function > MOST_BYTES)
    return false;
  for (uint64_t pc = place->function; pc < place->pc + NEAR_BYTES; pc += in.size) {
    if (!gs_instruction_at(place->map, place->target, pc, &in))
      return false;
    if (pc + NEAR_BYTES < place->pc)
      continue;
    gs_disassemble(place->target, &in, text, sizeof text);
    if (fits(pattern, text))
      return true;
  }
  return false;
}

/* Nobody is told of ROCr's own kernels, so bare code is that of a PM4 command. */
void gs_place_kernel_name(const gs_vm_map_t *map, const gs_launch_t *launch, char name[GS_PLACE_TEXT]) {
  gs_kernel_name(map, launch->object, true, name, GS_PLACE_TEXT);
}

static void number_item(uint32_t item, const uint32_t size[3], gs_place_t *place) {
  place->item[0] = item % size[0];
  place->item[1] = item / size[0] % size[1];
  place->item[2] = item / size[0] / size[1];
}

/* What is known by the address of the instruction. */
static void describe_code(gs_target_t target, const gs_vm_map_t *map, uint64_t object, bool by_registers,
                          gs_place_t *place) {
  place->target = target;
  place->map = map;
  gs_kernel_name(map, object, by_registers, place->kernel, sizeof place->kernel);
  describe_instruction(target, map, place);
  place->function = gs_function_name(map, place->pc, place->function_name, sizeof place->function_name);
  gs_source_line_find(place->pc, place->source, sizeof place->source);
}

void gs_place_of(const gs_wave_t *w, unsigned lane, gs_place_t *place) {
  const gs_group_t *group = group_of(w);
  const gs_run_t *run = group->run;
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  *place = (gs_place_t){.gpu = run->device->ordinal,
                        .profile = run->device->profile->name,
                        .pc = w->pc - GS_PLACE_INSTRUCTION_BYTES};
  describe_code(w->env->target, map, run->kernel.object, run->kernel.dispatch.shader != NULL, place);
  uint32_t size[3];
  gs_group_size(group, &run->kernel, size);
  number_item((uint32_t)(w - group->wave) * gs_wave_lanes(w) + lane, size, place);
  memcpy(place->group, group->id, sizeof place->group);
}

void gs_place_of_other(const gs_vm_map_t *map, const gs_launch_t *launch, uint64_t group, unsigned wave,
                       unsigned lane, uint64_t pc, gs_place_t *place) {
  uint32_t size[3];
  *place = (gs_place_t){.gpu = launch->gpu, .profile = launch->profile, .pc = pc};
  /* Nobody is told of ROCr's own kernels, so bare code is that of a PM4 command. */
  describe_code(launch->target, map, launch->object, true, place);
  place->group[0] = (uint32_t)(group % launch->groups[0]);
  place->group[1] = (uint32_t)(group / launch->groups[0] % launch->groups[1]);
  place->group[2] = (uint32_t)(group / launch->groups[0] / launch->groups[1]);
  for (unsigned i = 0; i < 3; i++) {
    const uint32_t left = launch->grid[i] - place->group[i] * launch->group_size[i];
    size[i] = left < launch->group_size[i] ? left : launch->group_size[i];
  }
  number_item(wave * gs_target_lanes(launch->target) + lane, size, place);
}

uint64_t gs_place_group(const gs_wave_t *w) {
  const gs_group_t *group = group_of(w);
  const uint32_t *groups = group->run->kernel.groups;
  return group->id[0] + groups[0] * (group->id[1] + (uint64_t)groups[1] * group->id[2]);
}

unsigned gs_place_wave(const gs_wave_t *w) {
  return (unsigned)(w - group_of(w)->wave);
}

void *gs_place_kernel(const gs_wave_t *w) {
  return group_of(w)->run->watched;
}

void gs_place_scratch(const gs_wave_t *w, gs_extent_t *all, gs_extent_t *own) {
  const gs_group_t *group = group_of(w);
  const gs_kernel_t *kernel = &group->run->kernel;
  const gs_dispatch_t *dispatch = &kernel->dispatch;
  *all = *own = (gs_extent_t){0, 0};
  if (!kernel->private_bytes)
    return;
  const uint64_t slot = group->scratch_slot[w - group->wave];
  all->start = dispatch->scratch_base;
  all->end = all->start + (uint64_t)dispatch->scratch_waves * dispatch->scratch_wave_bytes;
  own->start = all->start + slot * dispatch->scratch_wave_bytes;
  own->end = own->start + (kernel->private_bytes + 3) / 4 * 4 * (uint64_t)kernel->lanes;
}
