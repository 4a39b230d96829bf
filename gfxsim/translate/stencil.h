/* Makes stencils from the definitions of instructions: to be included before isa/op_*.c, with GS_STENCIL
 * defined. A stencil is a function for one instruction with given kinds of operands, ended by a jump to
 * gs_stencil_next; what it calls is inlined, so that all that is known about the operands is gone from it.
 * GS_STENCIL_FULL and GS_STENCIL_PART say what is known of EXEC: every lane is active, or perhaps not;
 * GS_STENCIL_DEAD, of a scalar instruction, that nobody reads SCC. Not here: which instructions have stencils
 * (rows_*.c), and what takes the place of their registers (hole.h). */
#ifndef GFXSIM_TRANSLATE_STENCIL_H
#define GFXSIM_TRANSLATE_STENCIL_H

#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One lane is no vector. */
#ifdef GS_STENCIL_ONE
#undef __SSE2__
#undef __AVX__
#undef __AVX2__
#undef __F16C__
#endif

/* The helpers of instructions must not stay functions. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define inline inline __attribute__((always_inline, unused))
#include "isa/lanes.h"
#include "isa/scalar.h"

#if defined(GS_STENCIL_ONE)
#define GS_STENCIL_LANES one
#elif defined(GS_STENCIL_FULL) && defined(GS_STENCIL_STRIP)
#define GS_STENCIL_LANES stripfull
#elif defined(GS_STENCIL_PART) && defined(GS_STENCIL_STRIP)
#define GS_STENCIL_LANES strippart
#elif defined(GS_STENCIL_FULL)
#define GS_STENCIL_LANES full
#elif defined(GS_STENCIL_PART)
#define GS_STENCIL_LANES part
#elif defined(GS_STENCIL_DEAD)
#define GS_STENCIL_LANES dead
#else
#define GS_STENCIL_LANES any
#endif

/* What comes behind a stencil, and where its branch goes to. */
void gs_stencil_next(gs_wave_t *w) __attribute__((visibility("hidden")));
void gs_stencil_taken(gs_wave_t *w) __attribute__((visibility("hidden")));

#define GS_STENCIL_SYMBOL3(name, kinds, lanes) gs_stencil_##name##__##kinds##_##lanes
#define GS_STENCIL_SYMBOL2(name, kinds, lanes) GS_STENCIL_SYMBOL3(name, kinds, lanes)
#define GS_STENCIL_SYMBOL(name, kinds)         GS_STENCIL_SYMBOL2(name, kinds, GS_STENCIL_LANES)

/* Kinds of operands, as they are in names: vector register, scalar register, constant, none; vector register
 * with sign modifiers, or of which SDWA selects a part. */
#define GS_OPERAND_V(n)                                                                                      \
  { .kind = GS_SRC_VGPR, .reg = GS_HOLE_SRC##n }
#define GS_OPERAND_M(n)                                                                                      \
  { .kind = GS_SRC_VGPR, .reg = GS_HOLE_SRC##n, .mods = GS_MOD_NEG | GS_MOD_ABS }
#define GS_OPERAND_X(n)                                                                                      \
  { .kind = GS_SRC_VGPR, .reg = GS_HOLE_SRC##n, .mods = GS_MOD_SDWA }
#define GS_OPERAND_S(n)                                                                                      \
  { .kind = GS_SRC_SGPR, .reg = GS_HOLE_SRC##n }
#define GS_OPERAND_C(n)                                                                                      \
  { .kind = GS_SRC_CONST, .reg = GS_HOLE_SRC##n }
#define GS_OPERAND_N(n)                                                                                      \
  { .kind = GS_SRC_NONE }

/* A stencil whose body is `body`, an expression of w and in. */
#define GS_STENCIL_OF(name, kinds, a, b, c, is_cmpx, body)                                                   \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w);                                                        \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w) {                                                       \
    static const gs_inst_t instruction = {                                                                   \
        .src = {GS_OPERAND_##a(0), GS_OPERAND_##b(1), GS_OPERAND_##c(2)},                                    \
        .dst = GS_HOLE_DST,                                                                                  \
        .sdst = GS_HOLE_SDST,                                                                                \
        .plain_dst = true,                                                                                   \
        .op_sel_hi = 7,                                                                                      \
        .cmpx = is_cmpx,                                                                                     \
    };                                                                                                       \
    const gs_inst_t *const in = &instruction;                                                                \
    body;                                                                                                    \
    gs_stencil_next(w);                                                                                      \
  }
#define GS_STENCIL_1(name, a)       GS_STENCIL_OF(name, a, a, N, N, false, GS_OP_SYMBOL(name)(w, in))
#define GS_STENCIL_2(name, a, b)    GS_STENCIL_OF(name, a##b, a, b, N, false, GS_OP_SYMBOL(name)(w, in))
#define GS_STENCIL_3(name, a, b, c) GS_STENCIL_OF(name, a##b##c, a, b, c, false, GS_OP_SYMBOL(name)(w, in))
#define GS_STENCIL_CMPX(name, a, b) GS_STENCIL_OF(name, a##b, a, b, N, true, GS_OP_SYMBOL(name)(w, in))

/* An access that goes the short way if it can, and else is left to the handler. Reports and hints want the
 * program counter; `stores` is whether a later wait needs a fence. */
#define GS_STENCIL_SHORT(name, kinds, a, b, c, stores)                                                       \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w);                                                        \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w) {                                                       \
    static const gs_inst_t instruction = {                                                                   \
        .src = {GS_OPERAND_##a(0), GS_OPERAND_##b(1), GS_OPERAND_##c(2)},                                    \
        .dst = GS_HOLE_DST,                                                                                  \
    };                                                                                                       \
    w->pc = GS_HOLE_64(pc);                                                                                  \
    if (stores)                                                                                              \
      w->unfenced = true;                                                                                    \
    if (GS_LIKELY(name##_short(w, &instruction)))                                                            \
      gs_stencil_next(w);                                                                                    \
    else                                                                                                     \
      gs_stencil_taken(w);                                                                                   \
  }

/* The kinds of operands that code has. Of vector instructions, scalar registers and constants are mostly the
 * first operand. (The formatter would find another layout each time.) */
/* clang-format off */
#define GS_STENCILS_SOP1(name) GS_STENCIL_1(name, S) GS_STENCIL_1(name, C)
#define GS_STENCILS_SOP2(name) GS_STENCIL_2(name, S, S) GS_STENCIL_2(name, S, C) GS_STENCIL_2(name, C, S)
#ifdef GS_STENCIL_STRIP /* where scalar registers and constants are rows, too (translate/strip.h) */
#define GS_STENCILS_V1(name)     GS_STENCIL_1(name, V)
#define GS_STENCILS_V2(name)     GS_STENCIL_2(name, V, V)
#define GS_STENCILS_V3(name)     GS_STENCIL_3(name, V, V, V)
#define GS_STENCILS_MASKED(name) GS_STENCIL_3(name, V, V, S)
#define GS_STENCILS_M1(name)     GS_STENCIL_1(name, M)
#define GS_STENCILS_M2(name)     GS_STENCIL_2(name, M, M)
#define GS_STENCILS_M3(name)     GS_STENCIL_3(name, M, M, M)
#define GS_STENCILS_X1(name)     GS_STENCIL_1(name, X)
#define GS_STENCILS_X2(name)     GS_STENCIL_2(name, X, X)
#define GS_STENCILS_CMPX(name)
#else
#define GS_STENCILS_V1(name)   GS_STENCIL_1(name, V) GS_STENCIL_1(name, S) GS_STENCIL_1(name, C)
#define GS_STENCILS_V2(name)                                                                                 \
  GS_STENCIL_2(name, V, V) GS_STENCIL_2(name, S, V) GS_STENCIL_2(name, C, V)                                 \
  GS_STENCIL_2(name, V, S) GS_STENCIL_2(name, V, C)
#define GS_STENCILS_V3(name)                                                                                 \
  GS_STENCIL_3(name, V, V, V) GS_STENCIL_3(name, S, V, V) GS_STENCIL_3(name, V, S, V)                        \
  GS_STENCIL_3(name, V, V, S) GS_STENCIL_3(name, C, V, V) GS_STENCIL_3(name, V, C, V)                        \
  GS_STENCIL_3(name, V, V, C) GS_STENCIL_3(name, S, V, S) GS_STENCIL_3(name, S, V, C)                        \
  GS_STENCIL_3(name, V, C, C) GS_STENCIL_3(name, V, S, C)
/* With a mask of lanes as third operand. */
#define GS_STENCILS_MASKED(name)                                                                             \
  GS_STENCIL_3(name, V, V, S) GS_STENCIL_3(name, S, V, S) GS_STENCIL_3(name, C, V, S)                        \
  GS_STENCIL_3(name, V, S, S) GS_STENCIL_3(name, V, C, S) GS_STENCIL_3(name, C, C, S)                        \
  GS_STENCIL_3(name, S, S, S) GS_STENCIL_3(name, S, C, S) GS_STENCIL_3(name, C, S, S)
/* With sign modifiers: all vector registers have them then. */
#define GS_STENCILS_M1(name)   GS_STENCIL_1(name, M)
#define GS_STENCILS_M2(name)                                                                                 \
  GS_STENCIL_2(name, M, M) GS_STENCIL_2(name, S, M) GS_STENCIL_2(name, M, S)                                 \
  GS_STENCIL_2(name, C, M) GS_STENCIL_2(name, M, C)
#define GS_STENCILS_M3(name)                                                                                 \
  GS_STENCIL_3(name, M, M, M) GS_STENCIL_3(name, S, M, M) GS_STENCIL_3(name, M, S, M)                        \
  GS_STENCIL_3(name, M, M, S) GS_STENCIL_3(name, M, M, C)
/* With SDWA. */
#define GS_STENCILS_X1(name)   GS_STENCIL_1(name, X)
#define GS_STENCILS_X2(name)   GS_STENCIL_2(name, X, X) GS_STENCIL_2(name, S, X) GS_STENCIL_2(name, X, S)
#define GS_STENCILS_CMPX(name)                                                                               \
  GS_STENCIL_CMPX(name, V, V) GS_STENCIL_CMPX(name, S, V) GS_STENCIL_CMPX(name, C, V)                        \
  GS_STENCIL_CMPX(name, V, S) GS_STENCIL_CMPX(name, V, C)
#endif
#define GS_STENCILS_F1(name) GS_STENCILS_V1(name) GS_STENCILS_M1(name)
#define GS_STENCILS_F2(name) GS_STENCILS_V2(name) GS_STENCILS_M2(name)
#define GS_STENCILS_F3(name) GS_STENCILS_V3(name) GS_STENCILS_M3(name)
#define GS_STENCILS_I1(name) GS_STENCILS_V1(name) GS_STENCILS_X1(name)
#define GS_STENCILS_I2(name) GS_STENCILS_V2(name) GS_STENCILS_X2(name)
/* clang-format on */

#endif
