/* What an instruction of the host accesses in memory by its operands. Far from all instructions are known,
 * and of those that are not nothing is said; nor of the stack by push, pop, call and ret, of addresses in
 * other segments, and of gathers. Not here: who executes it (step.h). */
#ifndef GFXSIM_CHECK_X86_H
#define GFXSIM_CHECK_X86_H

#include <stdint.h>
#include <ucontext.h>

typedef struct gs_host_access {
  uint64_t address;
  uint32_t bytes; /* of a read at most what it reads, if it is not known how much */
  _Bool reads, writes;
} gs_host_access_t;

enum { GS_HOST_ACCESSES = 2 };

/* The accesses of the instruction of `length` bytes at `code`, executed at `pc` with the registers as they
 * were before it. Returns how many there are. Safe in signal handlers. */
unsigned gs_x86_accesses(const uint8_t *code, unsigned length, uint64_t pc, const greg_t *regs,
                         gs_host_access_t out[GS_HOST_ACCESSES]);

#endif
