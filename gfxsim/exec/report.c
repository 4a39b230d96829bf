/* Tells the person why a wave failed: what it did, where in the code, which work-item, and what memory is
 * near; and where waves are that do not end. Not here: how the failure reaches the host program (packet/ and
 * machine/). */
#include "exec/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "exec/source_line.h"
#include "exec/symbol.h"
#include "isa/align.h"

enum { TEXT_BYTES = 512 };

/* Kernel symbols are those of descriptors, "name.kd". */
void gs_kernel_name(const gs_vm_map_t *map, uint64_t object, bool by_registers, char *name, size_t size) {
  if (gs_vm_find_mapped(map, object) && !gs_symbol_in_code_object(map, object)) {
    if (by_registers)
      snprintf(name, size, "(PM4 command's, at 0x%" PRIx64 ")", object);
    else
      snprintf(name, size, "(ROCr's copy or fill)");
    return;
  }
  gs_symbol_find(map, object, name, size);
  const size_t length = strlen(name);
  if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
    name[length - 3] = '\0';
}

uint64_t gs_function_name(const gs_vm_map_t *map, uint64_t pc, char *name, size_t size) {
  const uint64_t start = gs_symbol_find(map, pc, name, size);
  return start ? start : gs_source_function_find(pc, name, size);
}

/* "0x7f..: v_add_u32_e32 v0, v1, v2 (function+0x44)". The failed instruction is the one at w->pc. */
static void describe_place(const gs_executor_t *ex, const gs_wave_t *w, char *text, size_t size) {
  char instruction[TEXT_BYTES / 2] = "(not readable)", function[TEXT_BYTES / 2];
  const gs_code_line_t *line = gs_executor_line(ex, w->pc);
  if (line) {
    const gs_inst_t *inst = &line->inst[(w->pc - line->base) / 4];
    if (inst->op)
      gs_disassemble(w->env->target, inst, instruction, sizeof instruction);
    else
      snprintf(instruction, sizeof instruction, "dwords 0x%08" PRIx32 " 0x%08" PRIx32, inst->word[0],
               inst->word[1]);
  }
  const uint64_t start = gs_function_name(ex->map, w->pc, function, sizeof function);
  char source[TEXT_BYTES];
  const bool known = gs_source_line_find(w->pc, source, sizeof source);
  snprintf(text, size, "%s%spc 0x%" PRIx64 " (%s+0x%" PRIx64 "): %s", source, known ? ", " : "", w->pc,
           function, start ? w->pc - start : 0, instruction);
}

/* Bytes between `address` and the range, 0 when it is inside or next to it. */
static uint64_t distance_to(const gs_vm_range_t *range, uint64_t address) {
  if (address < range->start)
    return range->start - address;
  return address >= range->end ? address - range->end : 0;
}

/* ", 16 bytes behind the end of the variable table" when the allocation is a code object with such a symbol.
 */
static void describe_symbol(const gs_vm_map_t *map, uint64_t allocation, uint64_t address, char *text,
                            size_t size) {
  gs_symbol_t symbol;
  text[0] = '\0';
  if (!gs_symbol_near(map, allocation, address, &symbol))
    return;
  const uint64_t offset = address - symbol.start;
  if (offset < symbol.size || !symbol.size)
    snprintf(text, size, ", %s+0x%" PRIx64, symbol.name, offset);
  else
    snprintf(text, size, ", %" PRIu64 " bytes behind the end of %s (%" PRIu64 " bytes)", offset - symbol.size,
             symbol.name, symbol.size);
}

/* The allocation that contains or is nearest to `address`. When the program has unmapped it (`lost`), nothing
 * can be said of what it holds. */
static void describe_memory(const gs_vm_map_t *map, uint64_t address, bool lost, char *text, size_t size) {
  const gs_vm_range_t *nearest = gs_vm_find_mapped(map, address);
  char symbol[TEXT_BYTES - 128] = "";
  if (nearest) {
    if (!lost)
      describe_symbol(map, nearest->allocation, address, symbol, sizeof symbol);
    snprintf(text, size, "offset 0x%" PRIx64 " of the allocation 0x%" PRIx64 " of %" PRIu64 " bytes%s",
             address - nearest->allocation, nearest->allocation, nearest->allocation_size, symbol);
    return;
  }
  for (size_t i = 0; i < map->count; i++)
    if (!map->range[i].is_gap &&
        (!nearest || distance_to(&map->range[i], address) < distance_to(nearest, address)))
      nearest = &map->range[i];
  if (!nearest) {
    snprintf(text, size, "nothing is mapped for this GPU");
    return;
  }
  describe_symbol(map, nearest->allocation, address, symbol, sizeof symbol);
  snprintf(text, size, "%" PRIu64 " bytes %s the nearest allocation 0x%" PRIx64 " of %" PRIu64 " bytes%s",
           distance_to(nearest, address), address < nearest->start ? "before" : "behind the end of",
           nearest->allocation, nearest->allocation_size, symbol);
}

static const char *access_name(uint32_t access) {
  if (access & GS_VM_EXECUTE)
    return "execution";
  if (access & GS_VM_WRITE)
    return access & GS_VM_READ ? "atomic access" : "write";
  return "read";
}

/* What is to be said of the instruction that failed: whether only gfxsim lacks it, or nearly is one. */
static const char *why_illegal(const gs_executor_t *ex, const gs_wave_t *w) {
  enum { ENCODING_SHIFT = 26, IMAGES = 0x3C, NO_IMAGES = GS_GFX9_4 };
  const gs_code_line_t *line = gs_executor_line(ex, w->pc);
  if (!line)
    return "";
  const gs_inst_t *const in = &line->inst[(w->pc - line->base) / 4];
  if (!(w->env->target & NO_IMAGES) && in->word[0] >> ENCODING_SHIFT == IMAGES)
    return " of images, which are not simulated";
  if (gs_is_misaligned(w->env->target, in->word, 2))
    return ": vector registers of 64 bits and more, and of GWS, want even numbers on this part";
  return "";
}

static void describe_cause(const gs_executor_t *ex, const gs_wave_t *w, bool present, char *text,
                           size_t size) {
  char memory[TEXT_BYTES];
  const bool lost = w->fault.access == 0; /* found by the host's own memory protection, see guard.c */
  switch ((gs_wave_fault_kind_t)w->fault.kind) {
  case GS_WAVE_FAULT_MEMORY:
    describe_memory(ex->map, w->fault.address, lost, memory, sizeof memory);
    if (lost)
      snprintf(text, size, "memory fault: access at 0x%" PRIx64 ", %s: %s", w->fault.address,
               gs_vm_find_mapped(ex->map, w->fault.address)
                   ? "which the program has unmapped"
                   : "where the program itself has no memory that allows it",
               memory);
    else
      snprintf(text, size, "memory fault: %s at 0x%" PRIx64 " %s: %s", access_name(w->fault.access),
               w->fault.address, present ? "is not allowed" : "where nothing is mapped", memory);
    break;
  case GS_WAVE_FAULT_APERTURE:
    snprintf(text, size, "aperture violation: %s at 0x%" PRIx64 ", which is no address of memory",
             access_name(w->fault.access), w->fault.address);
    break;
  case GS_WAVE_FAULT_TRAP:
    snprintf(text, size, "abort trap (failed assertion, unreachable code, or abort in device code)");
    break;
  default: snprintf(text, size, "illegal instruction%s", why_illegal(ex, w)); break;
  }
}

gs_outcome_t gs_report_fault(const gs_executor_t *ex, const gs_run_t *run, const gs_group_t *group,
                             const gs_wave_t *w, gs_fault_t *fault) {
  static const gs_outcome_t outcomes[] = {
      [GS_WAVE_FAULT_NONE] = GS_ILLEGAL_INSTRUCTION, [GS_WAVE_FAULT_MEMORY] = GS_MEMORY_FAULT,
      [GS_WAVE_FAULT_APERTURE] = GS_APERTURE_FAULT,  [GS_WAVE_FAULT_ILLEGAL] = GS_ILLEGAL_INSTRUCTION,
      [GS_WAVE_FAULT_TRAP] = GS_ABORT_TRAP,
  };
  const gs_device_t *device = run->device;
  char kernel[TEXT_BYTES / 2], place[TEXT_BYTES * 2], cause[TEXT_BYTES * 2], lane[32] = "";
  const bool present = w->fault.access && gs_vm_find_mapped(ex->map, w->fault.address);
  gs_kernel_name(ex->map, run->kernel.object, run->kernel.dispatch.shader != NULL, kernel, sizeof kernel);
  describe_place(ex, w, place, sizeof place);
  describe_cause(ex, w, present, cause, sizeof cause);
  if (w->fault.lane < GS_MAX_LANES)
    snprintf(lane, sizeof lane, ", lane %u", w->fault.lane);
  gs_log("GPU %u (%s), kernel %s: %s; %s; workgroup (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), wave %u%s",
         device->ordinal, device->profile->name, kernel, cause, place, group->id[0], group->id[1],
         group->id[2], (unsigned)(w - group->wave), lane);
  gs_device_flush_trace(run->device); /* many programs abort now, which would lose the trace's end */
  fault->address = w->fault.address;
  fault->access = w->fault.access;
  fault->not_present = !present;
  return outcomes[w->fault.kind];
}

/* "wave 0, 1 of 64 lanes: ..." */
static void tell_wave(const gs_executor_t *ex, const gs_wave_t *w, unsigned number) {
  char place[TEXT_BYTES * 2];
  describe_place(ex, w, place, sizeof place);
  gs_log("  wave %u, %d of %u lanes%s: %s", number, __builtin_popcountll(gs_exec(w)),
         gs_target_lanes(w->env->target), w->state == GS_WAVE_BARRIER ? ", at a barrier" : "", place);
}

void gs_report_stuck(const gs_executor_t *ex, const gs_run_t *run, const gs_group_t *group,
                     uint32_t seconds) {
  enum { MOST_WAVES = 8 };
  char kernel[TEXT_BYTES / 2];
  unsigned told = 0;
  gs_kernel_name(ex->map, run->kernel.object, run->kernel.dispatch.shader != NULL, kernel, sizeof kernel);
  gs_log("GPU %u (%s), kernel %s: has not ended in %" PRIu32
         " s (GFXSIM_STUCK), and goes on; workgroup (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") is at:",
         run->device->ordinal, run->device->profile->name, kernel, seconds, group->id[0], group->id[1],
         group->id[2]);
  for (unsigned i = 0; i < group->wave_count && told < MOST_WAVES; i++)
    if (group->wave[i].state != GS_WAVE_ENDED) {
      tell_wave(ex, &group->wave[i], i);
      told++;
    }
  if (group->live_waves > told)
    gs_log("  and %u more waves", (unsigned)group->live_waves - told);
  gs_log("  (lanes of a wave that wait for each other never get on, here as on a card)");
}
