/* The PM4 commands that matter for a simulated compute queue. */
#include "packet/pm4.h"

enum {
  OP_NOP = 0x10,
  OP_INDIRECT_BUFFER = 0x3F,
  OP_ACQUIRE_MEM = 0x58,
};

static uint32_t header_type(uint32_t header) {
  return header >> 30;
}

static uint32_t header_opcode(uint32_t header) {
  return header >> 8 & 0xFF;
}

/* Length with the header: the count field holds the dwords after it, minus one; all ones is a NOP's header
 * alone. */
static size_t header_dwords(uint32_t header) {
  const uint32_t count = header >> 16 & 0x3FFF;
  return count == 0x3FFF && header_opcode(header) == OP_NOP ? 1 : (size_t)count + 2;
}

uint32_t gs_pm4_dwords(uint32_t header) {
  switch (header_type(header)) {
  case 2: return 1;
  case 3: return (uint32_t)header_dwords(header);
  default: return 0;
  }
}

bool gs_pm4_indirect_buffer(const uint32_t command[4], uint64_t *address, uint32_t *dwords) {
  const uint32_t header = command[0];
  if (header_type(header) != 3 || header_opcode(header) != OP_INDIRECT_BUFFER || header_dwords(header) != 4)
    return false;
  *address = (command[1] & ~UINT32_C(3)) | (uint64_t)(command[2] & 0xFFFF) << 32;
  *dwords = command[3] & 0xFFFFF;
  return true;
}

bool gs_pm4_run(const uint32_t *commands, size_t count, gs_pm4_effects_t *effects) {
  *effects = (gs_pm4_effects_t){0};
  for (size_t at = 0; at < count;) {
    const uint32_t header = commands[at];
    const size_t length = header_dwords(header);
    if (header_type(header) != 3 || length > count - at)
      return false;
    const uint32_t opcode = header_opcode(header);
    if (opcode == OP_ACQUIRE_MEM)
      effects->invalidate_code = true;
    else if (opcode != OP_NOP && !effects->skipped++)
      effects->skipped_opcode = opcode;
    at += length;
  }
  return true;
}
