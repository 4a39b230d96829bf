/* Handlers of instructions: one per row of ops.def. Those of vector instructions are compiled once for each
 * level of host instruction set that the build has (baseline, and on x86-64 also v3 and v4), and the best
 * level is chosen at start; scalar instructions gain nothing from that and are compiled once. op_*.c define
 * them with GS_OP. Not here: the helpers they are written with (lanes.h, scalar.h, memory.h). */
#ifndef GFXSIM_ISA_OPS_H
#define GFXSIM_ISA_OPS_H

#include "isa/inst.h"
#include "isa/wave.h"

/* The build defines GS_LEVEL (base, v3, v4) for the files that are compiled several times; and "watched",
 * with GS_WATCHED, for those of memory, see watch.h. */
#ifndef GS_LEVEL
#define GS_LEVEL base
#endif
#if defined(GS_WIDTH) && GS_WIDTH == 32
#define GS_OP_SYMBOL3(level, name) gs_##level##_wave32_##name
#else
#define GS_OP_SYMBOL3(level, name) gs_##level##_##name
#endif
#define GS_OP_SYMBOL2(level, name) GS_OP_SYMBOL3(level, name)
#define GS_OP_SYMBOL(name)         GS_OP_SYMBOL2(GS_LEVEL, name)

/* Head of a handler: GS_OP(v_add_u32) { ... uses w and in ... }. In stencils it is inlined. */
#ifdef GS_STENCIL
#define GS_OP(name) static inline void GS_OP_SYMBOL(name)(gs_wave_t * w, const gs_inst_t *in)
#else
#define GS_OP(name) void GS_OP_SYMBOL(name)(gs_wave_t * w, const gs_inst_t *in)
#endif

/* The handler of a row as seen from this level: scalar encodings have theirs at the baseline only. */
#define GS_SCALAR_SYMBOL(name) GS_OP_SYMBOL2(base, name)
#define GS_SYMBOL_SOP1(name)   GS_SCALAR_SYMBOL(name)
#define GS_SYMBOL_SOP2(name)   GS_SCALAR_SYMBOL(name)
#define GS_SYMBOL_SOPK(name)   GS_SCALAR_SYMBOL(name)
#define GS_SYMBOL_SOPC(name)   GS_SCALAR_SYMBOL(name)
#define GS_SYMBOL_SOPP(name)   GS_SCALAR_SYMBOL(name)
#ifdef GS_WATCHED
#define GS_SYMBOL_SMEM(name) GS_OP_SYMBOL(name)
#else
#define GS_SYMBOL_SMEM(name) GS_SCALAR_SYMBOL(name)
#endif
#define GS_SYMBOL_VOP1(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_VOP2(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_VOPC(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_VOP3(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_VOP3P(name)         GS_OP_SYMBOL(name)
#define GS_SYMBOL_VINTERP(name)       GS_OP_SYMBOL(name)
#define GS_SYMBOL_VOPD(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_DS(name)            GS_OP_SYMBOL(name)
#define GS_SYMBOL_FLAT(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_GLOBAL(name)        GS_OP_SYMBOL(name)
#define GS_SYMBOL_SCRATCH(name)       GS_OP_SYMBOL(name)
#define GS_SYMBOL_MUBUF(name)         GS_OP_SYMBOL(name)
#define GS_SYMBOL_MTBUF(name)         GS_OP_SYMBOL(name)
#define GS_SYMBOL_VINTRP(name)        GS_OP_SYMBOL(name)
#define GS_SYMBOL_MIMG(name)          GS_OP_SYMBOL(name)
#define GS_SYMBOL_EXP(name)           GS_OP_SYMBOL(name)
#define GS_ROW_SYMBOL(encoding, name) GS_SYMBOL_##encoding(name)

#ifndef GS_STENCIL
/* Prototypes of all handlers at this level. Rows that share a handler name it in their last column. */
#define GS_ROW(name, encoding, number, targets, dst, s0, s1, s2, flags, fn)                                  \
  void GS_ROW_SYMBOL(encoding, fn)(gs_wave_t * w, const gs_inst_t *in);
#include "isa/ops.def"
#undef GS_ROW
#endif

/* A handler, as the distance to it in bytes: no address, which the dynamic linker would have to fill in at
 * every start, for each instruction, level and width. 0: there is none. */
typedef struct gs_handler {
  int32_t distance;
} gs_handler_t;

static inline gs_op_fn_t *gs_handler_fn(const gs_handler_t *handler) {
  return handler->distance ? (gs_op_fn_t *)((uintptr_t)handler + (uintptr_t)(intptr_t)handler->distance)
                           : NULL;
}

/* Tables of them, in the order of gs_opcodes. C has no constants that are distances, but the assembler has:
 * each row of a table is a statement of its own, in a function that is never called. */
#define GS_HANDLER_TEXT2(symbol)  #symbol
#define GS_HANDLER_TEXT(symbol)   GS_HANDLER_TEXT2(symbol)
#define GS_HANDLER_IN_TABLE(code) ".pushsection .rodata.gs_handlers\n\t" code "\n\t.popsection"
#define GS_HANDLERS_BEGIN(table)                                                                             \
  __asm__ volatile(GS_HANDLER_IN_TABLE(".balign 4\n\t.hidden " GS_HANDLER_TEXT(                              \
      table) "\n\t.globl " GS_HANDLER_TEXT(table) "\n" GS_HANDLER_TEXT(table) ":"))
/* A row: the handler `symbol` if the constant `is_there` is not 0, or else `other`. */
#define GS_HANDLER_ROW(is_there, symbol, other)                                                              \
  __asm__ volatile(GS_HANDLER_IN_TABLE(".if %c0\n\t.long " GS_HANDLER_TEXT(                                  \
      symbol) " - .\n\t.else\n\t.long " other "\n\t.endif")                                                  \
                   :                                                                                         \
                   : "i"(is_there));

/* A level of host instruction set that the build has handlers for. */
typedef struct gs_level {
  const char *name;
  const gs_handler_t *handlers;        /* in the order of gs_opcodes, none without */
  const gs_handler_t *wave32_handlers; /* the same for waves of 32 lanes */
  bool (*runs_here)(void);
} gs_level_t;

/* All levels of this build, from the baseline to the best. */
extern const gs_level_t gs_levels[];
extern const size_t gs_level_count;

/* Its handlers for waves of the target. */
static inline const gs_handler_t *gs_level_handlers(const gs_level_t *level, gs_target_t target) {
  return gs_target_lanes(target) == 32 ? level->wave32_handlers : level->handlers;
}

/* The best level that runs on the processor of this process. */
const gs_level_t *gs_level_for_processor(void);

#endif
