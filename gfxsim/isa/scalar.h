/* Vocabulary for scalar instructions: reading operands of 32 and 64 bits and writing results.
 * Not here: vector operands (lanes.h). */
#ifndef GFXSIM_ISA_SCALAR_H
#define GFXSIM_ISA_SCALAR_H

#include "isa/lanes.h"

/* Source operand `i` of a scalar instruction. */
static inline uint32_t gs_ssrc32(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_SGPR))
    return gs_read_sgpr32(w, s->reg);
  if (GS_LIKELY(s->kind == GS_SRC_CONST))
    return (uint32_t)gs_constant(in, i);
  return (uint32_t)gs_special_value(w, in, i);
}
static inline uint64_t gs_ssrc64(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_SGPR))
    return gs_read_sgpr64(w, s->reg);
  if (GS_LIKELY(s->kind == GS_SRC_CONST))
    return gs_constant(in, i);
  return gs_special_value(w, in, i);
}

#ifndef GS_STENCIL /* where it is in isa/hole.h */
/* Where scalar registers from `reg` on are. */
static inline uint32_t *gs_sgprs(gs_wave_t *w, unsigned reg) {
  return &w->s.u32[reg];
}
#endif

/* What an instruction gives for SCC that leaves it alone. */
enum { GS_KEEP_SCC = 2 };
static inline void gs_end_scc(gs_wave_t *w, uint32_t scc) {
  if (scc != GS_KEEP_SCC)
    gs_write_scc(w, scc);
}

/* Only a trap handler writes its temporaries; for others they read 0 and keep it. */
static inline bool gs_is_ttmp(unsigned reg) {
  return reg - GS_S_TTMP0 < GS_S_M0 - GS_S_TTMP0;
}

/* Destination of a scalar instruction. Writes to EXEC, VCC and M0 need nothing more: they are registers like
 * others. */
static inline void gs_sdst32(gs_wave_t *w, const gs_inst_t *in, uint32_t value) {
  if (GS_LIKELY(!gs_is_ttmp(in->dst)))
    gs_write_sgpr32(w, in->dst, value);
}
static inline void gs_sdst64(gs_wave_t *w, const gs_inst_t *in, uint64_t value) {
  if (GS_LIKELY(!gs_is_ttmp(in->dst)))
    gs_write_sgpr64(w, in->dst, value);
}

/* Byte offset of a branch from the next instruction. */
static inline uint64_t gs_branch_offset(const gs_inst_t *in) {
  return (uint64_t)(int64_t)(int16_t)gs_immediate(in) * 4;
}
static inline void gs_branch(gs_wave_t *w, const gs_inst_t *in) {
  w->pc += gs_branch_offset(in);
}

/* Stops the wave at an instruction, or a use of it, that cannot be executed here. */
static inline void gs_wave_illegal(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_fault(w, GS_WAVE_FAULT_ILLEGAL, w->pc - in->size, 0, GS_MAX_LANES);
}

/* ---- Rare things, in wave.c ---- */

/* Reads a hardware register by the number that s_getreg has (gfx9 ISA text, "hardware register values").
 * Returns false, and leaves `value`, for registers that a compute shader cannot read. */
bool gs_hwreg_read(const gs_wave_t *w, unsigned id, uint32_t *value);
/* Replaces the bits in `mask` of a hardware register by those of `value`, except bits that need privilege.
 * Returns false, having done nothing, for registers that do not exist. */
bool gs_hwreg_write(gs_wave_t *w, unsigned id, uint32_t value, uint32_t mask);
/* Splits the active lanes: those in `mask` go on at `target`, the others at the next instruction; the smaller
 * group goes first, the other is pushed on the stack in SGPRs that MODE.CSP indexes. */
void gs_wave_fork(gs_wave_t *w, uint64_t mask, uint64_t target);
/* Ends one side of a fork: resumes the group pushed last unless the stack is down at `depth`. */
void gs_wave_join(gs_wave_t *w, uint32_t depth);
/* Does what s_sendmsg does; an unknown message is illegal. */
void gs_wave_send_message(gs_wave_t *w, const gs_inst_t *in);
/* What s_sendmsg_rtn is told. Returns false, and the wave faults, for messages that only trap handlers may
 * send. */
bool gs_wave_answer(gs_wave_t *w, const gs_inst_t *in, uint64_t *answer);
/* Makes this wave, and in time every other one, decode instructions anew. */
void gs_wave_code_changed(gs_wave_t *w, const gs_inst_t *in);

#endif
