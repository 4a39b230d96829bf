/* SOPK: scalar instructions with a 16-bit immediate, among them access to hardware registers.
 * Not here: what hardware registers hold (wave.c). */
#include <stdatomic.h>

#include "isa/scalar.h"
#include "isa/stream.h"

static inline int32_t gs_simm16(const gs_inst_t *in) {
  return (int16_t)gs_immediate(in);
}
static inline uint32_t gs_uimm16(const gs_inst_t *in) {
  return (uint16_t)gs_immediate(in);
}

GS_OP(s_movk_i32) {
  gs_sdst32(w, in, (uint32_t)gs_simm16(in));
}
GS_OP(s_cmovk_i32) {
  gs_sdst32(w, in, gs_read_scc(w) ? (uint32_t)gs_simm16(in) : gs_read_sgpr32(w, in->dst));
}

#define GS_SCMPK(name, type, read, op)                                                                       \
  GS_OP(name) {                                                                                              \
    gs_write_scc(w, (type)gs_ssrc32(w, in, 0) op read(in));                                                  \
  }
#define GS_SCMPK_ALL(suffix, type, read)                                                                     \
  GS_SCMPK(s_cmpk_eq_##suffix, type, read, ==)                                                               \
  GS_SCMPK(s_cmpk_lg_##suffix, type, read, !=)                                                               \
  GS_SCMPK(s_cmpk_gt_##suffix, type, read, >)                                                                \
  GS_SCMPK(s_cmpk_ge_##suffix, type, read, >=)                                                               \
  GS_SCMPK(s_cmpk_lt_##suffix, type, read, <)                                                                \
  GS_SCMPK(s_cmpk_le_##suffix, type, read, <=)
GS_SCMPK_ALL(i32, int32_t, gs_simm16)
GS_SCMPK_ALL(u32, uint32_t, gs_uimm16)

GS_OP(s_addk_i32) {
  const uint32_t a = gs_read_sgpr32(w, in->dst), b = (uint32_t)gs_simm16(in), d = a + b;
  gs_write_scc(w, (~(a ^ b) & (a ^ d)) >> 31);
  gs_sdst32(w, in, d);
}
GS_OP(s_mulk_i32) {
  gs_sdst32(w, in, gs_read_sgpr32(w, in->dst) * (uint32_t)gs_simm16(in));
}

/* ---- Control flow ---- */

GS_OP(s_call_b64) {
  gs_sdst64(w, in, w->pc);
  gs_branch(w, in);
}
GS_OP(s_cbranch_i_fork) {
  gs_wave_fork(w, gs_ssrc64(w, in, 0), w->pc + gs_branch_offset(in));
}

/* ---- Hardware registers: number in bits 5:0 of the immediate, first bit in 10:6, count of bits less one in
 * 15:11. ---- */

static inline unsigned gs_hwreg_id(const gs_inst_t *in) {
  return gs_uimm16(in) & 63;
}
static inline unsigned gs_hwreg_shift(const gs_inst_t *in) {
  return gs_uimm16(in) >> 6 & 31;
}
/* The bits that the field has, shifted down. */
static inline uint32_t gs_hwreg_mask(const gs_inst_t *in) {
  return UINT32_MAX >> (31 - (gs_uimm16(in) >> 11));
}

GS_OP(s_getreg_b32) {
  uint32_t value;
  if (gs_hwreg_read(w, gs_hwreg_id(in), &value))
    gs_sdst32(w, in, value >> gs_hwreg_shift(in) & gs_hwreg_mask(in));
  else
    gs_wave_illegal(w, in);
}

static inline void gs_setreg(gs_wave_t *w, const gs_inst_t *in) {
  const uint32_t value = gs_ssrc32(w, in, 0), mask = gs_hwreg_mask(in);
  const unsigned shift = gs_hwreg_shift(in);
  if (!gs_hwreg_write(w, gs_hwreg_id(in), (value & mask) << shift, mask << shift))
    gs_wave_illegal(w, in);
}
GS_OP(s_setreg_b32) {
  gs_setreg(w, in);
}
GS_OP(s_setreg_imm32_b32) {
  gs_setreg(w, in);
}

/* ---- Of later families than gfx9 ---- */

/* A mark for the loader. */
GS_OP(s_version) {
  (void)w;
  (void)in;
}

/* Memory instructions have taken place when their handlers return; see s_waitcnt. */
#define GS_WAIT(name, order)                                                                                 \
  GS_OP(name) {                                                                                              \
    (void)in;                                                                                                \
    gs_stream_await(w);                                                                                      \
    atomic_thread_fence(order);                                                                              \
  }
GS_WAIT(s_waitcnt_vscnt, memory_order_seq_cst)
GS_WAIT(s_waitcnt_vmcnt, memory_order_acq_rel)
GS_WAIT(s_waitcnt_expcnt, memory_order_acq_rel)
GS_WAIT(s_waitcnt_lgkmcnt, memory_order_acq_rel)

/* The two halves of a wave of 64 lanes go through a block one after the other: the register keeps the mask of
 * the half whose turn it is not. */
GS_OP(s_subvector_loop_begin) {
  uint32_t *const exec = &w->s.u32[GS_S_EXEC];
  if (exec[0] == 0 && exec[1] == 0) {
    gs_branch(w, in);
  } else if (exec[0] == 0) {
    gs_sdst32(w, in, exec[0]);
  } else {
    gs_sdst32(w, in, exec[1]);
    exec[1] = 0;
  }
}
GS_OP(s_subvector_loop_end) {
  uint32_t *const exec = &w->s.u32[GS_S_EXEC];
  const uint32_t saved = in->dst < GS_S_OPERANDS ? w->s.u32[in->dst] : 0;
  if (exec[1] != 0) {
    exec[0] = saved;
  } else if (saved != 0) {
    exec[1] = saved;
    gs_sdst32(w, in, exec[0]);
    exec[0] = 0;
    gs_branch(w, in);
  }
}
