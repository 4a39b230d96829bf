/* VOPD: pairs of vector instructions of gfx11 that are one, and whose parts are those of VOP1 and VOP2.
 * Not here: how a pair is laid out in a gs_inst_t (inst.h). */
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
    NULL,
    NULL,
    NULL,
    GS_OP_SYMBOL(v_add_u32),
    GS_OP_SYMBOL(v_lshlrev_b32),
    GS_OP_SYMBOL(v_and_b32),
};

/* One of the two as an instruction by itself: first source, then a register, the literal, or VCC. */
static inline gs_inst_t part_of(const gs_inst_t *in, unsigned half) {
  const gs_opcode_t *const op = half ? gs_dual_opcode(in) : in->op;
  const gs_src_t reg = {.kind = GS_SRC_VGPR, .reg = (uint16_t)(half ? in->imm1 & 0xff : (uint32_t)in->imm)};
  const gs_src_t vcc = {.kind = GS_SRC_SGPR, .reg = GS_S_VCC};
  gs_inst_t part = {.src = {in->src[half]}, .dst = half ? in->sdst : in->dst, .plain_dst = true, .op = op};
  for (unsigned i = 1; i < 3; i++)
    switch (op->src[i]) {
    case GS_T_NONE: break;
    case GS_T_K32: part.src[i] = in->src[2]; break;
    case GS_T_MASK: part.src[i] = vcc; break;
    default: part.src[i] = reg; break;
    }
  return part;
}

/* Has the part read `with` where it reads register `reg`. Returns whether it does. */
static inline bool replace(gs_inst_t *part, unsigned reg, unsigned with) {
  bool found = false;
  for (unsigned i = 0; i < 3; i++)
    if (part->src[i].kind == GS_SRC_VGPR && part->src[i].reg == reg) {
      part->src[i].reg = (uint16_t)with;
      found = true;
    }
  return found;
}

/* Both read before either writes: the second finds what the first one overwrites in a row that no instruction
 * of this family names. */
GS_OP(v_dual) {
  gs_inst_t first = part_of(in, 0), second = part_of(in, 1);
  if (replace(&second, first.dst, GS_ARCH_VGPRS))
    gs_copy_row(&w->v[first.dst], &w->v[GS_ARCH_VGPRS]);
  parts[first.op->number](w, &first);
  parts[second.op->number](w, &second);
}
