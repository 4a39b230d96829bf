/* Handlers of instructions: one per row of ops.def, compiled once for each level of host instruction set (baseline,
 * and on x86-64 also v3 and v4), chosen at start. op_*.c define them with GS_OP.
 * Not here: the helpers they are written with (lanes.h, scalar.h, memory.h). */
#ifndef GFXSIM_ISA_OPS_H
#define GFXSIM_ISA_OPS_H

#include "isa/inst.h"
#include "isa/wave.h"

/* The build defines GS_LEVEL (base, v3, v4) for the files that are compiled several times. */
#ifndef GS_LEVEL
#define GS_LEVEL base
#endif
#define GS_OP_SYMBOL3(level, name) gs_##level##_##name
#define GS_OP_SYMBOL2(level, name) GS_OP_SYMBOL3(level, name)
#define GS_OP_SYMBOL(name)         GS_OP_SYMBOL2(GS_LEVEL, name)

/* Head of a handler: GS_OP(v_add_u32) { ... uses w and in ... } */
#define GS_OP(name) void GS_OP_SYMBOL(name)(gs_wave_t * w, const gs_inst_t *in)

/* Prototypes of all handlers at this level. Rows that share a handler name it in their last column. */
#define GS_ROW(name, encoding, number, targets, dst, s0, s1, s2, flags, fn) GS_OP(fn) __attribute__((weak));
#include "isa/ops.def"
#undef GS_ROW

/* Handler tables, in the order of gs_opcodes. */
extern gs_op_fn_t *const gs_base_handlers[];
#if defined(__x86_64__)
extern gs_op_fn_t *const gs_v3_handlers[];
extern gs_op_fn_t *const gs_v4_handlers[];
#endif

/* The table for the processor that this process runs on. */
gs_op_fn_t *const *gs_handlers_for_host(void);

#endif
