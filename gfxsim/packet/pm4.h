/* PM4: the command processor's older packet format, which HSA reaches through an AQL vendor packet that
 * points at an indirect buffer. ROCr uses one command of it, to invalidate the instruction caches. Not here:
 * AQL, and queues of PM4 alone (pm4_engine.h). Formats: Linux amdgpu and the AMDGPU thunk tests' pm4 headers.
 */
#ifndef GFXSIM_PACKET_PM4_H
#define GFXSIM_PACKET_PM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a buffer of commands asks for. */
typedef struct gs_pm4_effects {
  bool invalidate_code;    /* an ACQUIRE_MEM: decoded instructions may be stale */
  uint32_t skipped;        /* commands without effect on the simulated GPU */
  uint32_t skipped_opcode; /* of the first of them */
} gs_pm4_effects_t;

/* Length in dwords of the command that starts with `header`: of type 3, or 1 of type 2, which is filling. 0:
 * the processor knows no other. */
uint32_t gs_pm4_dwords(uint32_t header);

/* Takes an INDIRECT_BUFFER command of 4 dwords apart into the buffer's address and its length in dwords.
 * Returns false when it is something else. */
bool gs_pm4_indirect_buffer(const uint32_t command[4], uint64_t *address, uint32_t *dwords);

/* Walks `count` dwords of commands. Returns false when they are not type-3 packets that fit. */
bool gs_pm4_run(const uint32_t *commands, size_t count, gs_pm4_effects_t *effects);

#endif
