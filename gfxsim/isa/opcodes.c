/* The table of opcodes, and what types and targets are called and how large they are.
 * Not here: how opcodes are found (decode.c) and what they do (op_*.c). */
#include "isa/inst.h"

/* Short names for ops.def, whose flags column is a constant expression of these. */
enum {
  SCALAR_DST = GS_OPF_SCALAR_DST,
  SDST = GS_OPF_SDST,
  VCC_IN = GS_OPF_VCC_IN,
  ACC_DST = GS_OPF_ACC_DST,
  CMPX = GS_OPF_CMPX,
  STORE = GS_OPF_STORE,
  ATOMIC = GS_OPF_ATOMIC,
  RTN = GS_OPF_RTN,
  D16_LO = GS_OPF_D16_LO,
  D16_HI = GS_OPF_D16_HI,
  D16 = GS_OPF_D16,
  PRESERVE_HI = GS_OPF_PRESERVE_HI,
  ILLEGAL = GS_OPF_ILLEGAL,
  TWO_ADDR = GS_OPF_TWO_ADDR,
  MFMA = GS_OPF_MFMA,
  CLAMP = GS_OPF_CLAMP,
  OMOD = GS_OPF_OMOD,
  OP_SEL = GS_OPF_OP_SEL,
  LOOSE_MODS = GS_OPF_LOOSE_MODS,
  LDS = GS_OPF_LDS,
  GDS = GS_OPF_GDS,
  NO_GDS = GS_OPF_NO_GDS,
  ACC_FILE = GS_OPF_ACC_FILE,
  REG_SRC = GS_OPF_REG_SRC,
  NO_RTN = GS_OPF_NO_RTN,
  TO_LDS = GS_OPF_TO_LDS,
  SPARSE = GS_OPF_SPARSE,
  SRC_SEL = GS_OPF_SRC_SEL,
  WMMA = GS_OPF_WMMA,
  REVERSED = GS_OPF_REVERSED,
  NO_SDWA = GS_OPF_NO_SDWA,
  NO_DPP = GS_OPF_NO_DPP,
  NO_VOP3 = GS_OPF_NO_VOP3,
  NATIVE_ONLY = NO_SDWA | NO_DPP | NO_VOP3,
};

#define GS_ROW(mnemonic, enc, num, tgts, d, s0, s1, s2, fl, fn)                                              \
  {                                                                                                          \
      .name = #mnemonic,                                                                                     \
      .encoding = GS_ENC_##enc,                                                                              \
      .targets = GS_##tgts,                                                                                  \
      .number = (num),                                                                                       \
      .flags = (fl),                                                                                         \
      .dst = GS_T_##d,                                                                                       \
      .src = {GS_T_##s0, GS_T_##s1, GS_T_##s2},                                                              \
  },
const gs_opcode_t gs_opcodes[] = {
#include "isa/ops.def"
};
#undef GS_ROW

const size_t gs_opcode_count = sizeof gs_opcodes / sizeof *gs_opcodes;

static const uint8_t type_dwords[GS_T_COUNT] = {
    [GS_T_B16] = 1,    [GS_T_I16] = 1,   [GS_T_U16] = 1,    [GS_T_F16] = 1,   [GS_T_V2B16] = 1,
    [GS_T_V2F16] = 1,  [GS_T_BF16] = 1,  [GS_T_V2BF16] = 1, [GS_T_B192] = 6,  [GS_T_B32] = 1,
    [GS_T_I32] = 1,    [GS_T_U32] = 1,   [GS_T_F32] = 1,    [GS_T_MIX] = 1,   [GS_T_B64] = 2,
    [GS_T_I64] = 2,    [GS_T_U64] = 2,   [GS_T_F64] = 2,    [GS_T_V2B32] = 2, [GS_T_V2F32] = 2,
    [GS_T_MASK] = 2,   [GS_T_B96] = 3,   [GS_T_B128] = 4,   [GS_T_B256] = 8,  [GS_T_B512] = 16,
    [GS_T_B1024] = 32, [GS_T_F64X4] = 8, [GS_T_LANE] = 1,
};

unsigned gs_type_dwords(gs_type_t type) {
  return type < GS_T_COUNT ? type_dwords[type] : 0;
}

unsigned gs_source_dwords(const gs_inst_t *inst, unsigned i) {
  enum { FP6 = 2, FP4 = 4 };
  const unsigned format = i ? inst->blgp : inst->cbsz;
  if (inst->op->src[i] != GS_T_B256 || !(inst->op->flags & GS_OPF_MFMA) || inst->op->flags & GS_OPF_SPARSE)
    return gs_type_dwords((gs_type_t)inst->op->src[i]);
  return format < FP6 ? 8 : format < FP4 ? 6 : 4;
}

#define TARGET(value, name, bit) value,
const gs_target_t gs_targets[GS_TARGET_COUNT] = {GS_TARGETS(TARGET)};
#undef TARGET

const char *gs_target_name(gs_target_t target) {
  switch (target) {
#define NAME(value, name, bit)                                                                               \
  case value: return name;
    GS_TARGETS(NAME)
#undef NAME
  }
  return "unknown";
}
