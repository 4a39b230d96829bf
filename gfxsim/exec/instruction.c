/* See instruction.h. */
#include "exec/instruction.h"

#include <string.h>

#include "exec/place.h"

bool gs_instruction_at(const gs_vm_map_t *map, gs_target_t target, uint64_t pc, gs_inst_t *in) {
  uint32_t words[3] = {0};
  size_t count = 3;
  const void *code = NULL;
  for (; count && !code; count -= !code)
    code = gs_vm_translate(map, pc, count * 4, GS_VM_EXECUTE);
  if (!code)
    return false;
  memcpy(words, code, count * 4);
  return gs_decode(target, words, count, in);
}

bool gs_instruction_seen(const gs_wave_t *w, uint64_t pc, gs_inst_t *in) {
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  return gs_instruction_at(map, w->env->target, pc, in);
}

bool gs_instruction_in_hand(const gs_wave_t *w, gs_inst_t *in) {
  return gs_instruction_seen(w, w->pc - GS_PLACE_INSTRUCTION_BYTES, in);
}
