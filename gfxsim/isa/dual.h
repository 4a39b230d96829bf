/* The two parts of a VOPD instruction, each as an instruction by itself. Not here: what they do (op_vopd.c),
 * and how a pair is laid out in a gs_inst_t (inst.h). */
#ifndef GFXSIM_ISA_DUAL_H
#define GFXSIM_ISA_DUAL_H

#include "isa/wave.h"

/* The instructions that the parts are, as their handlers are called, by the parts' numbers, which count the
 * same in both halves; `none` where there is no part. */
#define GS_DUAL_PARTS(part, none)                                                                            \
  part(v_fmac_f32) part(v_fma_f32) part(v_fma_f32) part(v_mul_f32) part(v_add_f32) part(v_sub_f32)           \
      part(v_subrev_f32) part(v_mul_legacy_f32) part(v_mov_b32) part(v_cndmask_b32) part(v_max_f32)          \
          part(v_min_f32) part(v_dot2acc_f32_f16)                                                            \
              part(v_dot2_f32_bf16) /* gs_dual_part names what it adds to */                                 \
      none none                                                                                              \
      part(v_add_u32) part(v_lshlrev_b32) part(v_and_b32)

/* First source, then a register, the literal, or VCC. `op` is the part's row, `fn` is not set. Pure. */
static inline gs_inst_t gs_dual_part(const gs_inst_t *in, unsigned half) {
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
  if (op->src[0] == GS_T_V2B16) { /* has no handler that adds to its destination */
    part.src[2] = (gs_src_t){.kind = GS_SRC_VGPR, .reg = part.dst};
    part.op_sel_hi = 3;
  }
  return part;
}

/* Both parts read before either writes: the second finds what the first one overwrites in a row that no
 * instruction of this family names. */
enum { GS_DUAL_ROW = GS_ARCH_VGPRS };

/* Whether the part reads register `reg`. */
static inline bool gs_dual_reads(const gs_inst_t *part, unsigned reg) {
  bool found = false;
  for (unsigned i = 0; i < 3; i++)
    found |= part->src[i].kind == GS_SRC_VGPR && part->src[i].reg == reg;
  return found;
}

/* Has the part read that row where it reads register `reg`. Returns whether it does. */
static inline bool gs_dual_replace(gs_inst_t *part, unsigned reg) {
  bool found = false;
  for (unsigned i = 0; i < 3; i++)
    if (part->src[i].kind == GS_SRC_VGPR && part->src[i].reg == reg) {
      part->src[i].reg = GS_DUAL_ROW;
      found = true;
    }
  return found;
}

#endif
