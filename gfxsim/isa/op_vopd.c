/* VOPD: pairs of vector instructions of gfx11 that are one, and whose parts are those of VOP1 and VOP2.
 * Not here: how a pair is laid out in a gs_inst_t (inst.h). */
#include "isa/dual.h"
#include "isa/scalar.h"

/* By their numbers; both halves count the same. */
static gs_op_fn_t *const parts[] = {
    GS_OP_SYMBOL(v_fmac_f32),
    GS_OP_SYMBOL(v_fma_f32),
    GS_OP_SYMBOL(v_fma_f32),
    GS_OP_SYMBOL(v_mul_f32),
    GS_OP_SYMBOL(v_add_f32),
    GS_OP_SYMBOL(v_sub_f32),
    GS_OP_SYMBOL(v_subrev_f32),
    GS_OP_SYMBOL(v_mul_legacy_f32),
    GS_OP_SYMBOL(v_mov_b32),
    GS_OP_SYMBOL(v_cndmask_b32),
    GS_OP_SYMBOL(v_max_f32),
    GS_OP_SYMBOL(v_min_f32),
    GS_OP_SYMBOL(v_dot2c_f32_f16),
    GS_OP_SYMBOL(v_dot2_f32_bf16), /* gs_dual_part names what it adds to */
    NULL,
    NULL,
    GS_OP_SYMBOL(v_add_u32),
    GS_OP_SYMBOL(v_lshlrev_b32),
    GS_OP_SYMBOL(v_and_b32),
};

GS_OP(v_dual) {
  gs_inst_t first = gs_dual_part(in, 0), second = gs_dual_part(in, 1);
  if (gs_dual_replace(&second, first.dst))
    gs_copy_row(&w->v[first.dst], &w->v[GS_DUAL_ROW]);
  parts[first.op->number](w, &first);
  parts[second.op->number](w, &second);
}
