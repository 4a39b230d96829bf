/* The table of handlers of one level of host instruction set; compiled once for each (GS_LEVEL)
 * and each width of a wave (GS_WIDTH).
 * Rows of scalar instructions are the same in all.
 * Not here: the handlers (op_*.c) and the choice of a level (level.c). */
#include "isa/ops.h"

/* Instructions that a compute shader may not contain. */
GS_OP(illegal) {
  gs_wave_fault(w, GS_WAVE_FAULT_ILLEGAL, w->pc - in->size, 0, GS_MAX_LANES);
}

/* Rows of parts that have no waves of this width need no handler. */
#if GS_WIDTH == 32
#define GS_IS_THERE(targets) (GS_##targets & GS_WAVE32)
#else
#define GS_IS_THERE(targets) 1
#endif
#define GS_ROW(mnemonic, encoding, number, targets, dst, s0, s1, s2, flags, fn)                              \
  GS_HANDLER_ROW(GS_IS_THERE(targets), GS_ROW_SYMBOL(encoding, fn),                                          \
                 GS_HANDLER_TEXT(GS_OP_SYMBOL(illegal)) " - .")
void GS_OP_SYMBOL(make_handlers)(void);
void GS_OP_SYMBOL(make_handlers)(void) {
  GS_HANDLERS_BEGIN(GS_OP_SYMBOL(handlers));
#include "isa/ops.def"
}
#undef GS_ROW
