/* The table of handlers with a watcher: those of instructions that access memory.
 * Not here: the handlers (op_*.c, compiled with GS_WATCHED). */
#include <string.h>

#include "isa/memory.h"
#include "isa/ops.h"
#include "isa/watch.h"

GS_OP(illegal) {
  gs_wave_fault(w, GS_WAVE_FAULT_ILLEGAL, w->pc - in->size, 0, GS_MAX_LANES);
}

/* Which encodings access memory. */
#define GS_WATCHED_SOP1    0
#define GS_WATCHED_SOP2    0
#define GS_WATCHED_SOPK    0
#define GS_WATCHED_SOPC    0
#define GS_WATCHED_SOPP    0
#define GS_WATCHED_VOP1    0
#define GS_WATCHED_VOP2    0
#define GS_WATCHED_VOPC    0
#define GS_WATCHED_VOP3    0
#define GS_WATCHED_VOP3P   0
#define GS_WATCHED_VINTERP 0
#define GS_WATCHED_VOPD    0
#define GS_WATCHED_VINTRP  0
#define GS_WATCHED_MIMG    0
#define GS_WATCHED_EXP     0
#define GS_WATCHED_SMEM    1
#define GS_WATCHED_DS      1
#define GS_WATCHED_FLAT    1
#define GS_WATCHED_GLOBAL  1
#define GS_WATCHED_SCRATCH 1
#define GS_WATCHED_MUBUF   1
#define GS_WATCHED_MTBUF   1

#define GS_ROW(mnemonic, encoding, number, targets, dst, s0, s1, s2, flags, fn)                              \
  GS_HANDLER_ROW(GS_WATCHED_##encoding, GS_OP_SYMBOL(fn), "0")
extern const gs_handler_t GS_OP_SYMBOL(handlers)[];
void GS_OP_SYMBOL(make_handlers)(void);
void GS_OP_SYMBOL(make_handlers)(void) {
  GS_HANDLERS_BEGIN(GS_OP_SYMBOL(handlers));
#include "isa/ops.def"
}
#undef GS_ROW

/* The only instructions that are no access to memory, and are watched. */
static void watched_waitcnt(gs_wave_t *w, const gs_inst_t *in) {
  GS_SCALAR_SYMBOL(s_waitcnt)(w, in);
  if (w->env->toll)
    gs_toll_wait(w, gs_wait_counts_of(w->env->target, (uint32_t)in->imm));
  gs_watch_order(w, in);
}
/* One counter of later families; GS_WATCHED_WAIT(instruction, field of gs_wait_counts_t). */
#define GS_WATCHED_WAIT(name, counter)                                                                       \
  static void watched_##name(gs_wave_t *w, const gs_inst_t *in) {                                            \
    gs_wait_counts_t wait = gs_wait_counts_none(w->env->target);                                             \
    GS_SCALAR_SYMBOL(name)(w, in);                                                                           \
    wait.counter = in->imm < wait.counter ? (uint8_t)in->imm : wait.counter;                                 \
    if (w->env->toll)                                                                                        \
      gs_toll_wait(w, wait);                                                                                 \
  }
GS_WATCHED_WAIT(s_waitcnt_vscnt, vs)
GS_WATCHED_WAIT(s_waitcnt_vmcnt, vm)
GS_WATCHED_WAIT(s_waitcnt_lgkmcnt, lgkm)

static void watched_waitcnt_stores(gs_wave_t *w, const gs_inst_t *in) {
  watched_s_waitcnt_vscnt(w, in);
  gs_watch_order(w, in);
}

gs_watched_fn_t GS_OP_SYMBOL(handler);
gs_op_fn_t *GS_OP_SYMBOL(handler)(size_t i) {
  static const struct {
    const char *name;
    gs_op_fn_t *fn;
  } waits[] = {{"s_waitcnt", watched_waitcnt},
               {"s_waitcnt_vscnt", watched_waitcnt_stores},
               {"s_waitcnt_vmcnt", watched_s_waitcnt_vmcnt},
               {"s_waitcnt_lgkmcnt", watched_s_waitcnt_lgkmcnt}};
  for (size_t k = 0; k < sizeof waits / sizeof *waits; k++)
    if (strcmp(gs_opcodes[i].name, waits[k].name) == 0)
      return waits[k].fn;
  return gs_handler_fn(&GS_OP_SYMBOL(handlers)[i]);
}
