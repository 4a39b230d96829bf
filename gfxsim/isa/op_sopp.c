/* SOPP: branches, waits, messages, and the end of a program.
 * Not here: who runs next when a wave stops (exec/). */
#include <stdatomic.h>

#include "isa/scalar.h"
#include "isa/stream.h"

/* ---- Branches ---- */

#define GS_CBRANCH(name, taken)                                                                              \
  static inline bool name##_taken(const gs_wave_t *w) {                                                      \
    (void)w;                                                                                                 \
    return taken;                                                                                            \
  }                                                                                                          \
  GS_OP(name) {                                                                                              \
    if (name##_taken(w))                                                                                     \
      gs_branch(w, in);                                                                                      \
  }
GS_CBRANCH(s_branch, true)
GS_CBRANCH(s_cbranch_scc0, !gs_read_scc(w))
GS_CBRANCH(s_cbranch_scc1, gs_read_scc(w))
GS_CBRANCH(s_cbranch_vccz, gs_vcc(w) == 0)
GS_CBRANCH(s_cbranch_vccnz, gs_vcc(w) != 0)
GS_CBRANCH(s_cbranch_execz, gs_exec(w) == 0)
GS_CBRANCH(s_cbranch_execnz, gs_exec(w) != 0)

/* The conditional debug flags in STATUS are set by a debugger, and there is none. */
#define GS_NO_EFFECT(name)                                                                                   \
  GS_OP(name) {                                                                                              \
    (void)w;                                                                                                 \
    (void)in;                                                                                                \
  }
GS_NO_EFFECT(s_cbranch_cdbgsys)
GS_NO_EFFECT(s_cbranch_cdbguser)
GS_NO_EFFECT(s_cbranch_cdbgsys_or_user)
GS_NO_EFFECT(s_cbranch_cdbgsys_and_user)

/* ---- Hints ---- */

GS_NO_EFFECT(s_nop)
GS_NO_EFFECT(s_setprio)
GS_NO_EFFECT(s_incperflevel)
GS_NO_EFFECT(s_decperflevel)
GS_NO_EFFECT(s_ttracedata)
GS_NO_EFFECT(s_wakeup) /* sleepers wake by themselves */

GS_NO_EFFECT(s_inst_prefetch)
GS_NO_EFFECT(s_clause)
GS_NO_EFFECT(s_wait_idle)
GS_NO_EFFECT(s_waitcnt_depctr)
GS_NO_EFFECT(s_ttracedata_imm)

/* ---- Modes ---- */

GS_OP(s_round_mode) {
  gs_wave_set_mode(w, (w->mode & ~UINT32_C(0xf)) | ((uint32_t)in->imm & 0xf));
}
GS_OP(s_denorm_mode) {
  gs_wave_set_mode(w, (w->mode & ~UINT32_C(0xf0)) | ((uint32_t)in->imm & 0xf) << 4);
}

/* ---- Memory order ---- */

/* Memory instructions have taken place when their handlers return, but another worker may see them in another
 * order. A wait for all stores (vmcnt 0) is what keeps a store before a later load, which even x86 needs a
 * fence for; a wait for some of them only keeps loads in order. */
GS_OP(s_waitcnt) {
  gs_stream_await(w);
  if (in->imm1 == 0)
    atomic_thread_fence(memory_order_seq_cst);
  else
    atomic_thread_fence(memory_order_acq_rel);
}

/* Code may have been written by this wave or by another one. The fence makes this wave see what others have
 * written. */
GS_OP(s_icache_inv) {
  atomic_thread_fence(memory_order_seq_cst);
  gs_wave_code_changed(w, in);
}

/* ---- Scheduling ---- */

GS_OP(s_sleep) {
  (void)in;
  w->state = GS_WAVE_YIELDED;
}
/* A wave that is a group waits for nobody. Who watches hears of its barriers all the same. */
GS_OP(s_barrier) {
  enum { IN_TG = 1 << 11 };
  (void)in;
  if ((w->env->status & IN_TG) || w->env->watched)
    w->state = GS_WAVE_BARRIER;
}

#define GS_ENDPGM(name)                                                                                      \
  GS_OP(name) {                                                                                              \
    (void)in;                                                                                                \
    w->state = GS_WAVE_ENDED;                                                                                \
  }
GS_ENDPGM(s_endpgm)
GS_ENDPGM(s_endpgm_saved)
GS_ENDPGM(s_endpgm_ordered_ps_done)

GS_OP(s_setkill) {
  if (in->imm & 1)
    w->state = GS_WAVE_ENDED;
}

/* A halted wave waits for a debugger to resume it; there is none, so it would hang its queue. */
GS_OP(s_sethalt) {
  if (in->imm & 1)
    gs_wave_illegal(w, in);
}

/* Padding behind a program's end. */
GS_OP(s_code_end) {
  gs_wave_illegal(w, in);
}

/* ---- Messages and traps ---- */

GS_OP(s_sendmsg) {
  gs_wave_send_message(w, in);
}
/* Sends and halts; see s_sethalt. */
GS_OP(s_sendmsghalt) {
  gs_wave_send_message(w, in);
  gs_wave_illegal(w, in);
}

/* Trap 2 is the abort trap of the HSA trap handler. The others are for debuggers: without one, the handler
 * goes on. */
GS_OP(s_trap) {
  if ((in->imm & 0xff) == 2)
    gs_wave_fault(w, GS_WAVE_FAULT_TRAP, w->pc - in->size, 0, GS_MAX_LANES);
}

/* ---- Indexing of vector registers ---- */

GS_OP(s_set_gpr_idx_off) {
  (void)in;
  gs_wave_set_mode(w, w->mode & ~(uint32_t)GS_MODE_GPR_IDX_EN);
}
GS_OP(s_set_gpr_idx_mode) {
  w->s.u32[GS_S_M0] = (w->s.u32[GS_S_M0] & ~UINT32_C(0xf000)) | ((uint32_t)in->imm & 0xf) << 12;
}
