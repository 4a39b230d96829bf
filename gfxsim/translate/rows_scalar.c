/* Stencils of scalar instructions: arithmetic, comparisons and branches. Not here: what they do
 * (isa/op_sop*.c). */
#include "translate/block.h"
#include "translate/stencil.h"

#include "isa/op_sop1.c"
#include "isa/op_sop2.c"
#include "isa/op_sopc.c"
#include "isa/op_sopk.c"
#include "isa/op_sopp.c"

GS_STENCILS_SOP1(s_mov_b32)
GS_STENCILS_SOP1(s_mov_b64)
GS_STENCILS_SOP1(s_cmov_b32)
GS_STENCILS_SOP1(s_cmov_b64)
GS_STENCILS_SOP1(s_sext_i32_i8)
GS_STENCILS_SOP1(s_sext_i32_i16)
GS_STENCILS_SOP1(s_not_b32)
GS_STENCILS_SOP1(s_not_b64)
GS_STENCILS_SOP1(s_brev_b32)
GS_STENCILS_SOP1(s_abs_i32)
GS_STENCILS_SOP1(s_bcnt1_i32_b32)
GS_STENCILS_SOP1(s_bcnt1_i32_b64)
GS_STENCILS_SOP1(s_ff1_i32_b32)
GS_STENCILS_SOP1(s_ff1_i32_b64)
GS_STENCILS_SOP1(s_flbit_i32_b32)
GS_STENCILS_SOP1(s_flbit_i32_b64)
GS_STENCILS_SOP1(s_flbit_i32)
GS_STENCILS_SOP1(s_bitset0_b32)
GS_STENCILS_SOP1(s_bitset1_b32)

GS_STENCILS_SOP1(s_and_saveexec_b64)
GS_STENCILS_SOP1(s_or_saveexec_b64)
GS_STENCILS_SOP1(s_xor_saveexec_b64)
GS_STENCILS_SOP1(s_andn1_saveexec_b64)
GS_STENCILS_SOP1(s_andn2_saveexec_b64)
GS_STENCILS_SOP1(s_orn2_saveexec_b64)
GS_STENCILS_SOP1(s_andn1_wrexec_b64)
GS_STENCILS_SOP1(s_andn2_wrexec_b64)
GS_STENCILS_SOP1(s_and_saveexec_b32)
GS_STENCILS_SOP1(s_or_saveexec_b32)
GS_STENCILS_SOP1(s_xor_saveexec_b32)
GS_STENCILS_SOP1(s_andn1_saveexec_b32)
GS_STENCILS_SOP1(s_andn2_saveexec_b32)
GS_STENCILS_SOP1(s_orn2_saveexec_b32)
GS_STENCILS_SOP1(s_andn1_wrexec_b32)
GS_STENCILS_SOP1(s_andn2_wrexec_b32)

GS_STENCILS_SOP2(s_add_u32)
GS_STENCILS_SOP2(s_sub_u32)
GS_STENCILS_SOP2(s_add_i32)
GS_STENCILS_SOP2(s_sub_i32)
GS_STENCILS_SOP2(s_addc_u32)
GS_STENCILS_SOP2(s_subb_u32)
GS_STENCILS_SOP2(s_absdiff_i32)
GS_STENCILS_SOP2(s_lshl1_add_u32)
GS_STENCILS_SOP2(s_lshl2_add_u32)
GS_STENCILS_SOP2(s_lshl3_add_u32)
GS_STENCILS_SOP2(s_lshl4_add_u32)
GS_STENCILS_SOP2(s_mul_i32)
GS_STENCILS_SOP2(s_mul_hi_u32)
GS_STENCILS_SOP2(s_mul_hi_i32)
GS_STENCILS_SOP2(s_min_i32)
GS_STENCILS_SOP2(s_min_u32)
GS_STENCILS_SOP2(s_max_i32)
GS_STENCILS_SOP2(s_max_u32)
GS_STENCILS_SOP2(s_cselect_b32)
GS_STENCILS_SOP2(s_cselect_b64)
GS_STENCILS_SOP2(s_and_b32)
GS_STENCILS_SOP2(s_and_b64)
GS_STENCILS_SOP2(s_or_b32)
GS_STENCILS_SOP2(s_or_b64)
GS_STENCILS_SOP2(s_xor_b32)
GS_STENCILS_SOP2(s_xor_b64)
GS_STENCILS_SOP2(s_andn2_b32)
GS_STENCILS_SOP2(s_andn2_b64)
GS_STENCILS_SOP2(s_orn2_b32)
GS_STENCILS_SOP2(s_orn2_b64)
GS_STENCILS_SOP2(s_nand_b32)
GS_STENCILS_SOP2(s_nand_b64)
GS_STENCILS_SOP2(s_nor_b32)
GS_STENCILS_SOP2(s_nor_b64)
GS_STENCILS_SOP2(s_xnor_b32)
GS_STENCILS_SOP2(s_xnor_b64)
GS_STENCILS_SOP2(s_lshl_b32)
GS_STENCILS_SOP2(s_lshr_b32)
GS_STENCILS_SOP2(s_ashr_i32)
GS_STENCILS_SOP2(s_lshl_b64)
GS_STENCILS_SOP2(s_lshr_b64)
GS_STENCILS_SOP2(s_ashr_i64)
GS_STENCILS_SOP2(s_bfm_b32)
GS_STENCILS_SOP2(s_bfm_b64)
GS_STENCILS_SOP2(s_bfe_u32)
GS_STENCILS_SOP2(s_bfe_i32)
GS_STENCILS_SOP2(s_bfe_u64)
GS_STENCILS_SOP2(s_bfe_i64)
GS_STENCILS_SOP2(s_pack_ll_b32_b16)
GS_STENCILS_SOP2(s_pack_lh_b32_b16)
GS_STENCILS_SOP2(s_pack_hh_b32_b16)
GS_STENCIL_2(s_cselect_b32, C, C)
GS_STENCIL_2(s_cselect_b64, C, C)

GS_STENCILS_SOP2(s_cmp_eq_i32)
GS_STENCILS_SOP2(s_cmp_lg_i32)
GS_STENCILS_SOP2(s_cmp_gt_i32)
GS_STENCILS_SOP2(s_cmp_ge_i32)
GS_STENCILS_SOP2(s_cmp_lt_i32)
GS_STENCILS_SOP2(s_cmp_le_i32)
GS_STENCILS_SOP2(s_cmp_eq_u32)
GS_STENCILS_SOP2(s_cmp_lg_u32)
GS_STENCILS_SOP2(s_cmp_gt_u32)
GS_STENCILS_SOP2(s_cmp_ge_u32)
GS_STENCILS_SOP2(s_cmp_lt_u32)
GS_STENCILS_SOP2(s_cmp_le_u32)
GS_STENCILS_SOP2(s_cmp_eq_u64)
GS_STENCILS_SOP2(s_cmp_lg_u64)
GS_STENCILS_SOP2(s_bitcmp0_b32)
GS_STENCILS_SOP2(s_bitcmp1_b32)
GS_STENCILS_SOP2(s_bitcmp0_b64)
GS_STENCILS_SOP2(s_bitcmp1_b64)

GS_STENCIL_1(s_cmpk_eq_i32, S)
GS_STENCIL_1(s_cmpk_lg_i32, S)
GS_STENCIL_1(s_cmpk_gt_i32, S)
GS_STENCIL_1(s_cmpk_ge_i32, S)
GS_STENCIL_1(s_cmpk_lt_i32, S)
GS_STENCIL_1(s_cmpk_le_i32, S)
GS_STENCIL_1(s_cmpk_eq_u32, S)
GS_STENCIL_1(s_cmpk_lg_u32, S)
GS_STENCIL_1(s_cmpk_gt_u32, S)
GS_STENCIL_1(s_cmpk_ge_u32, S)
GS_STENCIL_1(s_cmpk_lt_u32, S)
GS_STENCIL_1(s_cmpk_le_u32, S)
GS_STENCIL_1(s_movk_i32, N)
GS_STENCIL_1(s_cmovk_i32, N)
GS_STENCIL_1(s_addk_i32, N)
GS_STENCIL_1(s_mulk_i32, N)
GS_STENCIL_OF(s_getpc_b64, N, N, N, N, false, (w->pc = GS_HOLE_64(pc), GS_OP_SYMBOL(s_getpc_b64)(w, in)))

/* ---- Two instructions that are a sum of pairs, or a difference: the one of low halves makes SCC, which the
 * one of high halves takes (block.c) ---- */

static inline void add_pair(gs_wave_t *w, const gs_inst_t *in) {
  const uint64_t a = gs_ssrc64(w, in, 0), sum = a + gs_ssrc64(w, in, 1);
  gs_write_scc(w, sum < a);
  gs_sdst64(w, in, sum);
}
static inline void subtract_pair(gs_wave_t *w, const gs_inst_t *in) {
  const uint64_t a = gs_ssrc64(w, in, 0), b = gs_ssrc64(w, in, 1);
  gs_write_scc(w, b > a);
  gs_sdst64(w, in, a - b);
}
#define GS_STENCIL_PAIR(name, a, b) GS_STENCIL_OF(name, a##b, a, b, N, false, name(w, in))
#define GS_STENCILS_PAIR(name)                                                                               \
  GS_STENCIL_PAIR(name, S, S) GS_STENCIL_PAIR(name, S, C) GS_STENCIL_PAIR(name, C, S)
GS_STENCILS_PAIR(add_pair)
GS_STENCILS_PAIR(subtract_pair)

#ifndef GS_STENCIL_DEAD
/* A branch goes to gs_stencil_taken, or on. */
#define GS_STENCIL_BRANCH(name)                                                                              \
  void GS_STENCIL_SYMBOL(name, N)(gs_wave_t * w);                                                            \
  void GS_STENCIL_SYMBOL(name, N)(gs_wave_t * w) {                                                           \
    if (name##_taken(w))                                                                                     \
      gs_stencil_taken(w);                                                                                   \
    else                                                                                                     \
      gs_stencil_next(w);                                                                                    \
  }
GS_STENCIL_BRANCH(s_cbranch_scc0)
GS_STENCIL_BRANCH(s_cbranch_scc1)
GS_STENCIL_BRANCH(s_cbranch_vccz)
GS_STENCIL_BRANCH(s_cbranch_vccnz)
GS_STENCIL_BRANCH(s_cbranch_execz)
GS_STENCIL_BRANCH(s_cbranch_execnz)

/* Goes on anywhere: without a detour where there is a block that is known by its address (block.h). */
#define GS_STENCIL_JUMP(name, kinds, a)                                                                      \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w);                                                        \
  void GS_STENCIL_SYMBOL(name, kinds)(gs_wave_t * w) {                                                       \
    static const gs_inst_t instruction = {.src = {GS_OPERAND_##a(0)}, .dst = GS_HOLE_DST};                   \
    const gs_jump_t *const *const jumps = (const gs_jump_t *const *)GS_HOLE_64(cell);                        \
    w->pc = GS_HOLE_64(pc);                                                                                  \
    GS_OP_SYMBOL(name)(w, &instruction);                                                                     \
    const gs_jump_t *const jump = jumps[w->pc / 4 % GS_JUMPS];                                               \
    if (GS_LIKELY(jump->pc == w->pc))                                                                        \
      (*(void (**)(gs_wave_t *))jump->cell)(w);                                                              \
  }
GS_STENCIL_JUMP(s_setpc_b64, S, S)
GS_STENCIL_JUMP(s_swappc_b64, S, S)
GS_STENCIL_JUMP(s_call_b64, N, N)

/* The turn of the next wave, where one has come to a barrier, if it begins where this one's did. What lies
 * between barriers is often a few instructions; to go by way of who runs waves takes longer. */
static inline void gs_next_turn(gs_wave_t *w) {
  gs_turns_t *const turns = w->turns;
  gs_wave_t *const next = w + 1 == turns->end ? turns->last : w + 1;
  if (w == turns->last || next->pc != turns->pc || next->state != GS_WAVE_RUNNING || next->mode != w->mode ||
      w->left < turns->least)
    return;
  turns->current = next;
  next->turns = turns;
  next->left = turns->slice;
  next->unfenced = true;
  turns->block(next);
}

/* The wave may stop there, and its turn ends with that, however much is left of it. */
#define GS_STENCIL_STOP(name)                                                                                \
  void GS_STENCIL_SYMBOL(name, N)(gs_wave_t * w);                                                            \
  void GS_STENCIL_SYMBOL(name, N)(gs_wave_t * w) {                                                           \
    GS_OP_SYMBOL(name)(w, NULL);                                                                             \
    if (w->state == GS_WAVE_RUNNING) {                                                                       \
      gs_stencil_next(w);                                                                                    \
    } else {                                                                                                 \
      w->pc = GS_HOLE_64(pc);                                                                                \
      if (w->turns)                                                                                          \
        gs_next_turn(w);                                                                                     \
    }                                                                                                        \
  }
GS_STENCIL_STOP(s_barrier)
#endif
