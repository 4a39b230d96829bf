/* Decoded instructions as text, the way LLVM's assembler for the family spells them.
 * Not here: names of instructions (ops.def) and anything about encodings (decode.c). */
#include "isa/inst.h"
#include "isa/wave.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text under construction; `length` goes on counting when the buffer is full. */
typedef struct text {
  char *data;
  size_t size, length;
  gs_target_t target;
} text_t;

__attribute__((format(printf, 2, 3))) static void put(text_t *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const size_t used = t->length < t->size ? t->length : t->size;
  const int n = vsnprintf(t->data ? t->data + used : NULL, t->size - used, format, args);
  va_end(args);
  if (n > 0)
    t->length += (size_t)n;
}

/* Separates operands: a space before the first, a comma before others. */
typedef struct list {
  text_t *t;
  unsigned count;
} list_t;

static text_t *next(list_t *l) {
  put(l->t, "%s", l->count++ ? ", " : " ");
  return l->t;
}

/* ---- Registers and constants ---- */

enum {
  OPERAND_NULL = 125,
  OPERAND_INT_LAST = 208,
  OPERAND_FLOAT = 240,
  OPERAND_LITERAL = 255,
  INT_MIN_INLINE = -16,
  INT_MAX_INLINE = 64
};

static void put_tuple(text_t *t, const char *file, unsigned first, unsigned dwords) {
  if (dwords <= 1)
    put(t, "%s%u", file, first);
  else
    put(t, "%s[%u:%u]", file, first, first + dwords - 1);
}

static void put_vector(text_t *t, unsigned reg, unsigned dwords) {
  put_tuple(t, reg < GS_ARCH_VGPRS ? "v" : "a", reg % GS_ARCH_VGPRS, dwords);
}

/* SGPRs and, behind the last, VCC, as LLVM 23 spells them. */
static void put_tuple_with_vcc(text_t *t, unsigned reg, unsigned dwords) {
  put(t, "[");
  for (unsigned i = reg; i < GS_S_VCC; i++)
    put(t, "s%u,", i);
  put(t, "vcc_lo%s", reg + dwords > GS_S_VCC + 1 ? ",vcc_hi]" : "]");
}

static void put_scalar(text_t *t, unsigned reg, unsigned dwords) {
  static const struct {
    uint8_t first;
    gs_target_t targets;
    const char *name;
  } pairs[] = {{GS_S_FLAT_SCRATCH, (gs_target_t)GS_GFX9, "flat_scratch"},
               {GS_S_XNACK_MASK, (gs_target_t)GS_GFX9, "xnack_mask"},
               {GS_S_VCC, (gs_target_t)GS_GFX9_11, "vcc"},
               {GS_S_EXEC, (gs_target_t)GS_GFX9_11, "exec"}};
  if (reg == GS_S_M0 || reg == GS_S_NULL) {
    put(t, reg == GS_S_M0 ? "m0" : "null");
    return;
  }
  for (size_t i = 0; dwords <= 2 && i < sizeof pairs / sizeof *pairs; i++)
    if ((pairs[i].targets & t->target) && (reg == pairs[i].first || reg == pairs[i].first + 1u)) {
      put(t, "%s%s", pairs[i].name, dwords == 2 ? "" : reg == pairs[i].first ? "_lo" : "_hi");
      return;
    }
  if (reg < GS_S_VCC && reg + dwords > GS_S_VCC && !(t->target & GS_GFX9))
    put_tuple_with_vcc(t, reg, dwords);
  else if (reg >= GS_S_TTMP0 && reg < GS_S_M0)
    put_tuple(t, "ttmp", reg - GS_S_TTMP0, dwords);
  else
    put_tuple(t, "s", reg, dwords);
}

/* Registers that a scalar operand of this type takes. */
static unsigned scalar_dwords(const text_t *t, unsigned type) {
  return type == GS_T_MASK ? gs_target_lanes(t->target) / 32 : gs_type_dwords((gs_type_t)type);
}

static void put_special(text_t *t, unsigned code) {
  static const char *const names[] = {
      [235 - 235] = "src_shared_base",
      [236 - 235] = "src_shared_limit",
      [237 - 235] = "src_private_base",
      [238 - 235] = "src_private_limit",
      [239 - 235] = "src_pops_exiting_wave_id",
      [251 - 235] = "src_vccz",
      [252 - 235] = "src_execz",
      [253 - 235] = "src_scc",
      [254 - 235] = "src_lds_direct",
  };
  put(t, "%s", names[code - 235]);
}

static bool is_int16(unsigned type) {
  return type == GS_T_B16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_V2B16;
}
static bool is_float16(unsigned type) {
  return type == GS_T_F16 || type == GS_T_V2F16;
}
static bool is_inline_int(int32_t value) {
  return value >= INT_MIN_INLINE && value <= INT_MAX_INLINE;
}

static const char *const float_names[] = {"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                          "-2.0", "4.0",  "-4.0", "0.15915494"};
static const uint16_t float_halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                        0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t float_words[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};

/* A float constant of the instruction set; 16-bit integer operands show its bits. */
static void put_float(text_t *t, unsigned type, unsigned index) {
  if (is_int16(type))
    put(t, "0x%x", float_halves[index]);
  else if (index == 8 && gs_type_dwords((gs_type_t)type) == 2 && type != GS_T_V2F32 && type != GS_T_V2B32)
    put(t, "0.15915494309189532");
  else if (index == 8 && type == GS_T_F64X4)
    put(t, "0.15915494309189532");
  else
    put(t, "%s", float_names[index]);
}

/* A number that follows the instruction, shown by value: as a constant of the instruction set where it equals
 * one. */
static void put_literal(text_t *t, unsigned type, uint32_t value) {
  if (!(t->target & GS_GFX9) && (type == GS_T_V2B16 || type == GS_T_V2F16) && value >> 16)
    type = GS_T_B32; /* both halves */
  const bool half = is_int16(type) || is_float16(type), wide = gs_type_dwords((gs_type_t)type) == 2;
  const int32_t number = half ? (int16_t)value : (int32_t)value;
  if (wide ? value <= INT_MAX_INLINE : is_inline_int(number)) {
    put(t, "%" PRId32, number);
    return;
  }
  for (unsigned i = 0; !wide && !is_int16(type) && i < sizeof float_words / sizeof *float_words; i++)
    if ((type == GS_T_V2F16 ? value & 0xffffu : value) == (half ? float_halves[i] : float_words[i])) {
      put(t, "%s", float_names[i]);
      return;
    }
  put(t, "0x%" PRIx32, half ? value & 0xffffu : value);
}

static uint32_t literal_of(const gs_src_t *s, unsigned type) {
  return (uint32_t)(type == GS_T_F64 ? s->value >> 32 : s->value);
}

/* Whether the number of a register says which half of it is meant, and not op_sel. */
static bool is_short(const gs_inst_t *in) {
  return in->form == GS_FORM_NATIVE ? in->op->encoding != GS_ENC_VOP3
                                    : in->form == GS_FORM_DPP && in->size <= 8;
}

/* Source `i` without modifiers, `dwords` wide where it is a register. */
static void put_source(text_t *t, const gs_inst_t *in, unsigned i, unsigned dwords) {
  const gs_src_t *s = &in->src[i];
  const unsigned type = in->op->src[i];
  if (s->kind == GS_SRC_VGPR) {
    put_vector(t, s->reg, dwords);
    if ((s->mods & GS_MOD_HI) && is_short(in))
      put(t, ".h");
  } else if (s->kind == GS_SRC_SGPR)
    put_scalar(t, s->reg, dwords);
  else if (s->kind == GS_SRC_SPECIAL)
    put_special(t, s->reg);
  else if (s->kind == GS_SRC_CONST && s->reg == OPERAND_NULL)
    put(t, "null");
  else if (s->kind == GS_SRC_CONST && s->reg == OPERAND_LITERAL)
    put_literal(t, type == GS_T_MIX ? GS_T_F16 : type, literal_of(s, type));
  else if (s->kind == GS_SRC_CONST && s->reg <= OPERAND_INT_LAST)
    put(t, "%" PRId32, (int32_t)s->value);
  else if (s->kind == GS_SRC_CONST)
    put_float(t, type == GS_T_B256 ? GS_T_F64X4 : type, s->reg - OPERAND_FLOAT);
}

static void put_typed_source(text_t *t, const gs_inst_t *in, unsigned i) {
  if (in->op->src[i] == GS_T_K32 && in->op->encoding == GS_ENC_VOP2)
    put(t, "0x%" PRIx32, (uint32_t)in->src[i].value);
  else if (in->op->src[i] == GS_T_MASK)
    put_source(t, in, i, scalar_dwords(t, GS_T_MASK));
  else
    put_source(t, in, i, gs_source_dwords(in, i));
}

/* A source with neg, abs and sext. A negated constant is written as a function, as -1 would be another
 * constant. */
static void put_modified(text_t *t, const gs_inst_t *in, unsigned i, bool neg, bool abs, bool sext) {
  const bool function = neg && !abs && in->src[i].kind == GS_SRC_CONST && in->src[i].reg != OPERAND_NULL;
  put(t, "%s%s%s", function ? "neg(" : neg ? "-" : "", abs ? "|" : "", sext ? "sext(" : "");
  put_typed_source(t, in, i);
  put(t, "%s%s%s", sext ? ")" : "", abs ? "|" : "", function ? ")" : "");
}

/* ---- Immediates ---- */

static void put_plain(text_t *t, uint32_t value) {
  put(t, "%" PRIu32, value);
}
static void put_hex(text_t *t, uint32_t value) {
  put(t, "0x%" PRIx32, value);
}
static void put_number(text_t *t, uint32_t value) {
  put(t, value <= INT_MAX_INLINE ? "%" PRIu32 : "0x%" PRIx32, value);
}

static void put_hwreg(text_t *t, uint32_t imm) {
  static const struct {
    gs_target_t targets;
    uint8_t id;
    const char *name;
  } names[] = {
      {(gs_target_t)GS_GFX9_11, 1, "HW_REG_MODE"},
      {(gs_target_t)GS_GFX9_11, 2, "HW_REG_STATUS"},
      {(gs_target_t)GS_GFX9_11, 3, "HW_REG_TRAPSTS"},
      {(gs_target_t)GS_GFX9, 4, "HW_REG_HW_ID"},
      {(gs_target_t)GS_GFX9_11, 5, "HW_REG_GPR_ALLOC"},
      {(gs_target_t)GS_GFX9_11, 6, "HW_REG_LDS_ALLOC"},
      {(gs_target_t)GS_GFX9_11, 7, "HW_REG_IB_STS"},
      {(gs_target_t)GS_GFX9_11, 15, "HW_REG_SH_MEM_BASES"},
      {(gs_target_t)GS_GFX9_10, 16, "HW_REG_TBA_LO"},
      {(gs_target_t)GS_GFX9_10, 17, "HW_REG_TBA_HI"},
      {(gs_target_t)GS_GFX9_10, 18, "HW_REG_TMA_LO"},
      {(gs_target_t)GS_GFX9_10, 19, "HW_REG_TMA_HI"},
      {(gs_target_t)GS_GFX9_4, 20, "HW_REG_XCC_ID"},
      {(gs_target_t)GS_GFX9_4, 21, "HW_REG_SQ_PERF_SNAPSHOT_DATA"},
      {(gs_target_t)GS_GFX9_4, 22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1"},
      {(gs_target_t)GS_GFX9_4, 23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO"},
      {(gs_target_t)GS_GFX9_4, 24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"},
      {(gs_target_t)GS_GFX10_UP, 20, "HW_REG_FLAT_SCR_LO"},
      {(gs_target_t)GS_GFX10_UP, 21, "HW_REG_FLAT_SCR_HI"},
      {(gs_target_t)GS_GFX10_UP, 23, "HW_REG_HW_ID1"},
      {(gs_target_t)GS_GFX10_UP, 24, "HW_REG_HW_ID2"},
      {(gs_target_t)GS_GFX10, 25, "HW_REG_POPS_PACKER"},
      {(gs_target_t)GS_GFX10_UP, 29, "HW_REG_SHADER_CYCLES"},
  };
  const unsigned id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11 & 31) + 1;
  const char *name = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].id == id && (names[i].targets & t->target))
      name = names[i].name;
  if (name)
    put(t, "hwreg(%s", name);
  else
    put(t, "hwreg(%u", id);
  if (offset != 0 || width != 32)
    put(t, ", %u, %u", offset, width);
  put(t, ")");
}

static void put_waitcnt(text_t *t, uint32_t imm) {
  const gs_wait_counts_t none = gs_wait_counts_none(t->target), wait = gs_wait_counts_of(t->target, imm);
  const bool all = wait.vm == none.vm && wait.exp == none.exp && wait.lgkm == none.lgkm;
  const char *space = "";
  if (wait.vm != none.vm || all) {
    put(t, "vmcnt(%u)", wait.vm);
    space = " ";
  }
  if (wait.exp != none.exp || all) {
    put(t, "%sexpcnt(%u)", space, wait.exp);
    space = " ";
  }
  if (wait.lgkm != none.lgkm || all)
    put(t, "%slgkmcnt(%u)", space, wait.lgkm);
}

static const char *message_operation(unsigned id, unsigned operation) {
  static const char *const gs[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
  static const char *const system[] = {NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD",
                                       "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"};
  if (id == 15)
    return operation < 5 ? system[operation] : NULL;
  return operation < 4 && (operation || id == 3) ? gs[operation] : NULL;
}

/* Of gfx11, whose numbers are whole bytes; those from 128 on are of s_sendmsg_rtn. */
static void put_message_gfx11(text_t *t, uint32_t imm) {
  static const struct {
    uint8_t id;
    const char *name;
  } names[] = {
      {1, "INTERRUPT"},      {2, "HS_TESSFACTOR"},   {3, "DEALLOC_VGPRS"},      {5, "STALL_WAVE_GEN"},
      {6, "HALT_WAVES"},     {7, "ORDERED_PS_DONE"}, {9, "GS_ALLOC_REQ"},       {128, "RTN_GET_DOORBELL"},
      {129, "RTN_GET_DDID"}, {130, "RTN_GET_TMA"},   {131, "RTN_GET_REALTIME"}, {132, "RTN_SAVE_WAVE"},
      {133, "RTN_GET_TBA"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].id == (imm & 0xff)) {
      put(t, "sendmsg(MSG_%s)", names[i].name);
      return;
    }
  put(t, imm <= 255 ? "sendmsg(%" PRIu32 ", 0, 0)" : "%" PRIu32, imm);
}

static void put_message(text_t *t, uint32_t imm) {
  if (t->target & GS_GFX11) {
    put_message_gfx11(t, imm);
    return;
  }
  static const char *const names[16] = {
      NULL,
      "MSG_INTERRUPT",
      "MSG_GS",
      "MSG_GS_DONE",
      "MSG_SAVEWAVE",
      "MSG_STALL_WAVE_GEN",
      "MSG_HALT_WAVES",
      "MSG_ORDERED_PS_DONE",
      "MSG_EARLY_PRIM_DEALLOC",
      "MSG_GS_ALLOC_REQ",
      "MSG_GET_DOORBELL",
      [11] = "MSG_GET_DDID",
      [15] = "MSG_SYSMSG",
  };
  const unsigned id = imm & 15, operation = imm >> 4 & 7, stream = imm >> 8 & 3;
  const bool takes_operation = id == 2 || id == 3 || id == 15,
             takes_stream = id == 2 || (id == 3 && operation != 0);
  const char *operation_name = takes_operation ? message_operation(id, operation) : NULL;
  const bool exists = names[id] && (id != 11 || !(t->target & GS_GFX9));
  if (exists && (takes_operation ? operation_name != NULL : operation == 0) &&
      (takes_stream || stream == 0)) {
    put(t, "sendmsg(%s", names[id]);
    if (takes_operation)
      put(t, ", %s", operation_name);
    if (takes_stream)
      put(t, ", %u", stream);
    put(t, ")");
  } else if (imm == (id | operation << 4 | stream << 8)) {
    put(t, "sendmsg(%u, %u, %u)", id, operation, stream);
  } else {
    put(t, "%" PRIu32, imm);
  }
}

static void put_gpr_idx(text_t *t, uint32_t imm) {
  static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
  if (imm > 15) {
    put(t, "0x%" PRIx32, imm);
    return;
  }
  put(t, "gpr_idx(");
  const char *comma = "";
  for (unsigned i = 0; i < 4; i++)
    if (imm >> i & 1) {
      put(t, "%s%s", comma, names[i]);
      comma = ",";
    }
  put(t, ")");
}

/* Fields of s_waitcnt_depctr: all ones say that nothing is waited for, and are not written. */
static void put_depctr(text_t *t, uint32_t imm) {
  static const struct {
    const char *name;
    uint8_t shift, width;
  } fields[] = {{"depctr_hold_cnt", 7, 1}, {"depctr_sa_sdst", 0, 1}, {"depctr_va_vdst", 12, 4},
                {"depctr_va_sdst", 9, 3},  {"depctr_va_ssrc", 8, 1}, {"depctr_va_vcc", 1, 1},
                {"depctr_vm_vsrc", 2, 3}};
  uint32_t known = 0, set = 0;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    known |= ((1u << fields[i].width) - 1) << fields[i].shift;
  set = imm & known;
  if (imm & ~known) {
    put(t, "0x%" PRIx32, imm);
    return;
  }
  const char *space = "";
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const uint32_t most = (1u << fields[i].width) - 1, value = imm >> fields[i].shift & most;
    if (value == most && set != known)
      continue;
    put(t, "%s%s(%" PRIu32 ")", space, fields[i].name, value);
    space = " ";
  }
}

/* Up to two waits for results, and how many instructions lie between those that they belong to. */
static void put_delay(text_t *t, uint32_t imm) {
  static const char *const ids[] = {
      "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",        "VALU_DEP_3",   "VALU_DEP_4",   "TRANS32_DEP_1",
      "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"};
  static const char *const skips[] = {"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
  enum { IDS = sizeof ids / sizeof *ids, SKIPS = sizeof skips / sizeof *skips };
  const unsigned id0 = imm & 15, skip = imm >> 4 & 7, id1 = imm >> 7 & 15;
  if (imm == 0) {
    put(t, "0");
    return;
  }
  if (id0 >= IDS || skip >= SKIPS || id1 >= IDS || imm >> 11) {
    put_hex(t, imm);
    return;
  }
  if (id0)
    put(t, "instid0(%s)", ids[id0]);
  if (skip)
    put(t, "%sinstskip(%s)", id0 ? " | " : "", skips[skip]);
  if (id1)
    put(t, "%sinstid1(%s)", id0 || skip ? " | " : "", ids[id1]);
}

/* ---- Scalar instructions ---- */

static void put_sop(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  if (in->op->dst != GS_T_NONE)
    put_scalar(next(&l), in->dst, scalar_dwords(t, in->op->dst));
  for (unsigned i = 0; i < 3; i++)
    if (in->op->src[i] == GS_T_SIMM16 && in->op->encoding == GS_ENC_SOP1)
      put_message(next(&l), (uint32_t)in->imm);
    else if (in->op->src[i] == GS_T_SIMM16)
      put_gpr_idx(next(&l), (uint32_t)in->imm); /* s_set_gpr_idx_on */
    else if (in->op->src[i] != GS_T_NONE)
      put_typed_source(next(&l), in, i);
}

static void put_sopk(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  const uint32_t imm = (uint32_t)in->imm & 0xffffu;
  put(t, "%s", in->op->name);
  if (in->op->dst != GS_T_NONE)
    put_scalar(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  /* The hardware register that is set is written first. */
  if (in->op->src[1] == GS_T_HWREG)
    put_hwreg(next(&l), imm);
  for (unsigned i = 0; i < 2; i++)
    switch (in->op->src[i]) {
    case GS_T_NONE: break;
    case GS_T_SIMM16: put(next(&l), "0x%" PRIx32, imm); break;
    case GS_T_BRANCH: put(next(&l), "%" PRIu32, imm); break;
    case GS_T_HWREG:
      if (i == 0)
        put_hwreg(next(&l), imm);
      break;
    default: put_typed_source(next(&l), in, i);
    }
}

/* How the immediates of SOPP are spelled that are no number as usual. */
static const struct {
  const char *name;
  void (*put)(text_t *t, uint32_t imm);
} immediates[] = {
    {"s_endpgm", put_plain},
    {"s_waitcnt", put_waitcnt},
    {"s_sendmsg", put_message},
    {"s_sendmsghalt", put_message},
    {"s_set_gpr_idx_mode", put_gpr_idx},
    {"s_waitcnt_depctr", put_depctr},
    {"s_delay_alu", put_delay},
    {"s_inst_prefetch", put_hex},
    {"s_set_inst_prefetch_distance", put_hex},
    {"s_clause", put_hex},
    {"s_round_mode", put_hex},
    {"s_ttracedata_imm", put_hex},
    {"s_wait_event", put_hex},
};

static void put_sopp(text_t *t, const gs_inst_t *in) {
  const uint32_t imm = (uint32_t)in->imm & 0xffffu;
  put(t, "%s", in->op->name);
  if (in->op->src[0] == GS_T_NONE || (imm == 0 && strcmp(in->op->name, "s_endpgm") == 0))
    return;
  put(t, " ");
  for (size_t i = 0; i < sizeof immediates / sizeof *immediates; i++)
    if (strcmp(in->op->name, immediates[i].name) == 0) {
      immediates[i].put(t, imm);
      return;
    }
  if (in->op->src[0] == GS_T_BRANCH)
    put_plain(t, imm);
  else
    put_number(t, imm);
}

static void put_signed_hex(text_t *t, int32_t value) {
  put(t, value < 0 ? "-0x%" PRIx32 : "0x%" PRIx32, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

static void put_smem(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  if (in->op->dst == GS_T_PROBE)
    put_number(next(&l), in->dst);
  else if (in->op->dst != GS_T_NONE)
    put_scalar(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  if (in->op->src[0] == GS_T_NONE)
    return;
  put_typed_source(next(&l), in, 0);
  if (in->src[1].kind == GS_SRC_NONE && in->imm == 0 && !(t->target & GS_GFX9)) {
    put(next(&l), "null");
  } else if (in->src[1].kind == GS_SRC_NONE) {
    put_signed_hex(next(&l), in->imm);
  } else {
    put_typed_source(next(&l), in, 1);
    if (in->has_imm) {
      put(t, " offset:");
      put_signed_hex(t, in->imm);
    }
  }
  put(t, "%s%s", in->glc ? " glc" : "", in->dlc ? " dlc" : "");
}

/* ---- Vector arithmetic ---- */

enum { LONG_DPP = 12 }; /* size of VOP3 with a DPP dword */

/* Vector instructions that have DPP beside their short form, and nothing else. */
static bool has_one_form(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOP2 && (in->op->flags & GS_OPF_NO_VOP3);
}

static const char *form_suffix(gs_target_t target, const gs_inst_t *in) {
  if (in->op->flags & GS_OPF_NO_VOP3 && in->op->flags & GS_OPF_NO_DPP &&
      (in->op->dst != GS_T_V2F16 || !(target & GS_GFX9)))
    return "";
  static const char *const suffixes[] = {"_e32", "_e64", "_sdwa", "_dpp"};
  if (in->form == GS_FORM_DPP && in->size == LONG_DPP)
    return "_e64_dpp";
  if (target & GS_GFX11 && (in->op->encoding == GS_ENC_VOPC ? in->form == GS_FORM_DPP
                                                            : has_one_form(in) && in->form == GS_FORM_NATIVE))
    return "";
  if (in->op->encoding == GS_ENC_VOP3 || in->op->encoding == GS_ENC_VOP3P || in->op->dst == GS_T_NONE)
    return "";
  return suffixes[in->form];
}

static void put_bits(text_t *t, const char *name, unsigned value, unsigned count, unsigned usual) {
  if (value == usual)
    return;
  put(t, " %s:[", name);
  for (unsigned i = 0; i < count; i++)
    put(t, "%s%u", i ? "," : "", value >> i & 1);
  put(t, "]");
}

static unsigned source_count(const gs_opcode_t *op) {
  unsigned count = 0;
  while (count < 3 && op->src[count] != GS_T_NONE && op->src[count] != GS_T_MASK)
    count++;
  return count;
}

static void put_clamp_omod(text_t *t, const gs_inst_t *in) {
  static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
  put(t, "%s%s", in->clamp ? " clamp" : "", omods[in->omod]);
}

static void put_sdwa(text_t *t, const gs_inst_t *in) {
  static const char *const sels[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  if (in->op->encoding != GS_ENC_VOPC && !(in->op->flags & GS_OPF_SRC_SEL))
    put(t, " dst_sel:%s dst_unused:%s", sels[in->sdwa.dst_sel], unused[in->sdwa.dst_unused]);
  put(t, " src0_sel:%s", sels[in->sdwa.src_sel[0]]);
  if (in->op->encoding != GS_ENC_VOP1)
    put(t, " src1_sel:%s", sels[in->sdwa.src_sel[1]]);
}

static void put_dpp_control(text_t *t, unsigned ctrl) {
  static const struct {
    uint16_t first, last;
    const char *name;
    uint8_t number; /* of `first` */
  } controls[] = {
      {0x101, 0x10f, "row_shl:", 1},      {0x111, 0x11f, "row_shr:", 1},    {0x121, 0x12f, "row_ror:", 1},
      {0x130, 0x130, "wave_shl:", 1},     {0x134, 0x134, "wave_rol:", 1},   {0x138, 0x138, "wave_shr:", 1},
      {0x13c, 0x13c, "wave_ror:", 1},     {0x142, 0x142, "row_bcast:", 15}, {0x143, 0x143, "row_bcast:", 31},
      {0x150, 0x15f, "row_newbcast:", 0}, {0x160, 0x16f, "row_xmask:", 0},
  };
  if (ctrl <= 0xff)
    put(t, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3);
  else if (ctrl == 0x140 || ctrl == 0x141)
    put(t, ctrl == 0x140 ? " row_mirror" : " row_half_mirror");
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
    if (ctrl >= controls[i].first && ctrl <= controls[i].last)
      put(t, " %s%u", (ctrl & ~15u) == 0x150 && !(t->target & GS_GFX9) ? "row_share:" : controls[i].name,
          controls[i].number + ctrl - controls[i].first);
}

static void put_dpp(text_t *t, const gs_inst_t *in) {
  const char *const fi = in->dpp.fetch_inactive ? " fi:1" : "";
  if (in->dpp.ctrl == GS_DPP_EIGHT) {
    put(t, " dpp8:[");
    for (unsigned i = 0; i < 8; i++)
      put(t, "%s%u", i ? "," : "", in->imm1 >> 3 * i & 7);
    put(t, "]%s", fi);
    return;
  }
  put_dpp_control(t, in->dpp.ctrl);
  put(t, " row_mask:0x%x bank_mask:0x%x%s%s", in->dpp.row_mask, in->dpp.bank_mask,
      in->dpp.bound_ctrl ? " bound_ctrl:1" : "", fi);
}

static void put_vop_dst(list_t *l, const gs_inst_t *in) {
  const unsigned dwords = gs_type_dwords((gs_type_t)in->op->dst);
  const text_t *const t = l->t;
  if (in->op->dst == GS_T_NONE || (in->cmpx && !(t->target & GS_GFX9)))
    return;
  if (in->op->encoding == GS_ENC_VOPC || (in->op->flags & GS_OPF_SCALAR_DST))
    put_scalar(next(l), in->dst, scalar_dwords(t, in->op->dst));
  else
    put_vector(next(l), in->dst, dwords);
  if (in->dst_hi && is_short(in))
    put(l->t, ".h");
  if (in->op->flags & GS_OPF_SDST)
    put_scalar(next(l), in->sdst, scalar_dwords(t, GS_T_MASK));
}

/* The halves that VOP3 of gfx11 chooses in instructions that have no op_sel elsewhere: a bit for each source
 * and one for the destination. */
static unsigned chosen_halves(const gs_inst_t *in, unsigned count) {
  unsigned bits = (unsigned)in->dst_hi << count;
  for (unsigned i = 0; i < count; i++)
    bits |= (unsigned)(in->src[i].mods & GS_MOD_HI ? 1 : 0) << i;
  return bits;
}

/* VOP1, VOP2, VOPC and VOP3. */
static void put_vop(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s%s", in->op->name, form_suffix(t->target, in));
  put_vop_dst(&l, in);
  for (unsigned i = 0; i < 3; i++) {
    const unsigned mods = in->src[i].mods;
    if (in->op->src[i] != GS_T_NONE)
      put_modified(next(&l), in, i, mods & GS_MOD_NEG, mods & GS_MOD_ABS,
                   (mods & GS_MOD_SEXT) || (in->neg_lo >> i & 1));
  }
  if (gs_is_truth_table(in->op) && in->imm)
    put(t, " bitop3:0x%x", (unsigned)in->imm);
  if (in->op->flags & GS_OPF_OP_SEL) {
    const unsigned count = source_count(in->op), sources = (1u << count) - 1;
    if (in->op->encoding == GS_ENC_VOP1) /* v_permlane16_swap, which has two bits for something else */
      put(t, "%s%s", in->op_sel & 2 ? " bound_ctrl:1" : "", in->op_sel & 1 ? " fi:1" : "");
    else if (in->op->src[2] == GS_T_LANE) /* v_permlane16 has two bits for something else */
      put_bits(t, "op_sel", in->op_sel & 3u, 2, 0);
    else if (in->op->flags & GS_OPF_ACC_DST) /* v_cvt_sr_fp8_f32: two bits for the byte of the destination */
      put_bits(t, "op_sel", in->op_sel, 4, 0);
    else
      put_bits(t, "op_sel", (in->op_sel & sources) | (in->op_sel >> 3 & 1u) << count, count + 1, 0);
  } else if (!is_short(in) && t->target & GS_GFX11) { /* LLVM shows none where gfx10 has it */
    const unsigned count = source_count(in->op);
    put_bits(t, "op_sel", chosen_halves(in, count), count + 1, 0);
  }
  put_clamp_omod(t, in);
  if (in->form == GS_FORM_SDWA)
    put_sdwa(t, in);
  if (in->form == GS_FORM_DPP)
    put_dpp(t, in);
}

/* Of doubles blgp negates operands from gfx942 on. */
static void put_mfma_fields(text_t *t, const gs_inst_t *in) {
  if (in->cbsz)
    put(t, " cbsz:%u", in->cbsz);
  if (in->abid)
    put(t, " abid:%u", in->abid);
  if (in->blgp && in->op->src[0] == GS_T_F64 && t->target & GS_GFX9_4)
    put_bits(t, "neg", in->blgp, 3, 0);
  else if (in->blgp)
    put(t, " blgp:%u", in->blgp);
}

static void put_vop3p(text_t *t, const gs_inst_t *in) {
  const bool mix = in->op->src[0] == GS_T_MIX;
  const unsigned count = source_count(in->op), all = (1u << count) - 1;
  list_t l = {t, 0};
  put(t, "%s%s", in->op->name, form_suffix(t->target, in));
  if (in->op->dst != GS_T_NONE)
    put_vector(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  for (unsigned i = 0; i < count; i++)
    put_modified(next(&l), in, i, mix && (in->neg_lo >> i & 1), mix && (in->neg_hi >> i & 1), false);
  if (in->op->flags & GS_OPF_MFMA) {
    put_mfma_fields(t, in);
    return;
  }
  if (count == 1)
    return;
  put_bits(t, "op_sel", in->op_sel & all, count, 0);
  put_bits(t, "op_sel_hi", in->op_sel_hi & all, count, mix || in->form == GS_FORM_DPP ? 0 : all);
  if (!mix) {
    put_bits(t, "neg_lo", in->neg_lo & all, count, 0);
    put_bits(t, "neg_hi", in->neg_hi & all, count, 0);
  }
  put_clamp_omod(t, in);
  if (in->form == GS_FORM_DPP)
    put_dpp(t, in);
}

static void put_vinterp(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  put_vector(next(&l), in->dst, 1);
  for (unsigned i = 0; i < 3; i++)
    put_modified(next(&l), in, i, in->src[i].mods & GS_MOD_NEG, false, false);
  put_clamp_omod(t, in);
  put_bits(t, "op_sel", in->op_sel, 4, 0);
  if (in->imm)
    put(t, " wait_exp:%u", (unsigned)in->imm);
}

/* One part of a pair: its operands as its own encoding has them. */
static void put_dual_part(text_t *t, const gs_inst_t *in, unsigned half) {
  const gs_opcode_t *const op = half ? gs_dual_opcode(in) : in->op;
  gs_inst_t part = {.op = op, .src = {in->src[half]}};
  list_t l = {t, 0};
  put(t, "%s", op->name);
  put_vector(next(&l), half ? in->sdst : in->dst, 1);
  put_source(next(&l), &part, 0, 1);
  for (unsigned i = 1; i < 3; i++)
    if (op->src[i] == GS_T_K32)
      put(next(&l), "0x%" PRIx32, (uint32_t)in->src[2].value);
    else if (op->src[i] != GS_T_NONE && op->src[i] != GS_T_MASK)
      put_vector(next(&l), half ? in->imm1 & 0xff : (unsigned)in->imm, 1);
}

static void put_vopd(text_t *t, const gs_inst_t *in) {
  put_dual_part(t, in, 0);
  put(t, " :: ");
  put_dual_part(t, in, 1);
}

/* ---- Memory ---- */

enum { DS_SWIZZLE = 61, DS_SWIZZLE_GFX10 = 53 };

/* The patterns of ds_swizzle_b32 that have a name. */
static void put_bitmask_swizzle(text_t *t, unsigned imm) {
  const unsigned and = imm & 31, or = imm >> 5 & 31, xor = imm >> 10 & 31;
  if (and == 31 && or == 0 && (xor&(xor-1)) == 0 && xor != 0) {
    put(t, "swizzle(SWAP,%u)", xor);
  } else if (and == 31 && or == 0 && xor != 0 && (xor&(xor+1)) == 0) {
    put(t, "swizzle(REVERSE,%u)", xor+1);
  } else if (xor == 0 && and != 31 && (((~and&31) + 1) & (~and&31)) == 0 && (or &and) == 0) {
    put(t, "swizzle(BROADCAST,%u,%u)", (~and&31) + 1, or);
  } else {
    put(t, "swizzle(BITMASK_PERM,\"");
    for (unsigned i = 5; i-- > 0;) {
      const unsigned from0 = (or >> i & 1) ^ (xor >> i & 1),
                     from1 = ((and >> i & 1) | (or >> i & 1)) ^ (xor >> i & 1);
      put(t, "%c", from0 == from1 ? (from0 ? '1' : '0') : from0 == 0 ? 'p' : 'i');
    }
    put(t, "\")");
  }
}

static void put_swizzle(text_t *t, unsigned imm) {
  if (imm == 0)
    return;
  put(t, " offset:");
  if ((imm & 0xff00) == 0x8000)
    put(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", imm & 3, imm >> 2 & 3, imm >> 4 & 3, imm >> 6 & 3);
  else if (imm < 0x8000)
    put_bitmask_swizzle(t, imm);
  else
    put(t, "%u", imm);
}

static void put_offset(text_t *t, const char *name, int32_t value) {
  if (value != 0)
    put(t, " %s:%" PRId32, name, value);
}

static void put_ds(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  if (in->op->dst != GS_T_NONE)
    put_vector(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  for (unsigned i = 0; i < 3; i++)
    if (in->op->src[i] != GS_T_NONE)
      put_typed_source(next(&l), in, i);
  if (in->op->number == (t->target & GS_GFX9 ? DS_SWIZZLE : DS_SWIZZLE_GFX10)) {
    put_swizzle(t, (unsigned)in->imm);
  } else if (in->op->flags & GS_OPF_TWO_ADDR) {
    put_offset(t, "offset0", in->imm);
    put_offset(t, "offset1", (int32_t)in->imm1);
  } else {
    put_offset(t, "offset", in->imm);
  }
  if (in->gds)
    put(t, " gds");
}

static void put_cache_bits(text_t *t, const gs_inst_t *in) {
  if (t->target & GS_GFX9_4) {
    put(t, "%s%s%s", in->glc ? " sc0" : "", in->slc ? " nt" : "", in->scc ? " sc1" : "");
    return;
  }
  put(t, "%s%s%s%s", in->glc ? " glc" : "", in->slc ? " slc" : "", in->dlc ? " dlc" : "",
      in->scc ? " scc" : "");
}

/* FLAT, GLOBAL and SCRATCH. */
static void put_flat(text_t *t, const gs_inst_t *in) {
  const bool global = in->op->encoding == GS_ENC_GLOBAL, flat = in->op->encoding == GS_ENC_FLAT;
  const bool returns = in->op->dst != GS_T_NONE && !in->lds && (!(in->op->flags & GS_OPF_ATOMIC) || in->glc);
  const bool saddr = in->src[2].kind != GS_SRC_NONE;
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  if (returns)
    put_vector(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  if (in->src[0].kind == GS_SRC_NONE) {
    if (in->op->src[0] != GS_T_NONE)
      put(next(&l), "off");
  } else
    put_source(next(&l), in, 0, flat || (global && !saddr) ? 2 : 1);
  if (in->op->src[1] != GS_T_NONE)
    put_typed_source(next(&l), in, 1);
  if (saddr)
    put_source(next(&l), in, 2, global ? 2 : 1);
  else if (!flat)
    put(next(&l), "off");
  put_offset(t, "offset", in->imm);
  put_cache_bits(t, in);
  if (in->lds && !(in->op->flags & GS_OPF_TO_LDS))
    put(t, " lds");
}

/* Format of MTBUF, whose usual parts are not written: 8 bits, unsigned and normalised. */
static void put_buffer_format(text_t *t, uint32_t format) {
  static const char *const data[] = {"INVALID",     "8",          "16",          "8_8",
                                     "32",          "16_16",      "10_11_11",    "11_11_10",
                                     "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                     "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
  static const char *const number[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                       "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  const unsigned dfmt = format & 15, nfmt = format >> 4 & 7, unified = format >> 8;
  if (dfmt == 1 && nfmt == 0)
    return;
  if (!(t->target & GS_GFX9)) {
    if (dfmt)
      put(t, " format:[BUF_FMT_%s_%s]", data[dfmt], number[nfmt]);
    else if (unified)
      put(t, " format:%u", unified);
    else
      put(t, " format:[BUF_FMT_INVALID]");
    return;
  }
  put(t, " format:[");
  if (dfmt != 1)
    put(t, "BUF_DATA_FORMAT_%s", data[dfmt]);
  if (nfmt != 0)
    put(t, "%sBUF_NUM_FORMAT_%s", dfmt != 1 ? "," : "", number[nfmt]);
  put(t, "]");
}

/* MUBUF and MTBUF. */
static void put_buffer(text_t *t, const gs_inst_t *in) {
  list_t l = {t, 0};
  put(t, "%s", in->op->name);
  if (in->op->src[1] == GS_T_NONE) {
    put_cache_bits(t, in);
    return;
  }
  if (in->op->dst != GS_T_NONE && !in->lds)
    put_vector(next(&l), in->dst, gs_type_dwords((gs_type_t)in->op->dst) + in->tfe);
  if (in->src[0].kind != GS_SRC_NONE)
    put_source(next(&l), in, 0, (unsigned)in->offen + in->idxen);
  else if (in->op->src[0] != GS_T_NONE)
    put(next(&l), "off");
  put_typed_source(next(&l), in, 1);
  put_typed_source(next(&l), in, 2);
  if (in->op->encoding == GS_ENC_MTBUF)
    put_buffer_format(t, in->imm1);
  put(t, "%s%s", in->idxen ? " idxen" : "", in->offen ? " offen" : "");
  put_offset(t, "offset", in->imm);
  /* buffer_store_lds_dword: part of the name, as it were, and of gfx11's loads in fact. */
  const bool only_lds = in->op->dst == GS_T_NONE && (in->op->flags & GS_OPF_STORE);
  put(t, "%s", only_lds ? " lds" : "");
  put_cache_bits(t, in);
  const bool in_name = in->op->dst == GS_T_NONE;
  put(t, "%s%s", in->tfe ? " tfe" : "", in->lds && !in_name ? " lds" : "");
}

static void put_name(text_t *t, const gs_inst_t *in) {
  put(t, "%s", in->op->name);
}

/* ---- All ---- */

static void (*const printers[GS_ENC_COUNT])(text_t *, const gs_inst_t *) = {
    [GS_ENC_SOP1] = put_sop,     [GS_ENC_SOP2] = put_sop,     [GS_ENC_SOPK] = put_sopk,
    [GS_ENC_SOPC] = put_sop,     [GS_ENC_SOPP] = put_sopp,    [GS_ENC_SMEM] = put_smem,
    [GS_ENC_VOP1] = put_vop,     [GS_ENC_VOP2] = put_vop,     [GS_ENC_VOPC] = put_vop,
    [GS_ENC_VOP3] = put_vop,     [GS_ENC_VOP3P] = put_vop3p,  [GS_ENC_VINTERP] = put_vinterp,
    [GS_ENC_VOPD] = put_vopd,    [GS_ENC_DS] = put_ds,        [GS_ENC_FLAT] = put_flat,
    [GS_ENC_GLOBAL] = put_flat,  [GS_ENC_SCRATCH] = put_flat, [GS_ENC_MUBUF] = put_buffer,
    [GS_ENC_MTBUF] = put_buffer, [GS_ENC_VINTRP] = put_name,  [GS_ENC_MIMG] = put_name,
    [GS_ENC_EXP] = put_name,
};

size_t gs_disassemble(gs_target_t target, const gs_inst_t *inst, char *text, size_t size) {
  text_t t = {.data = text, .size = size, .target = target};
  if (size > 0)
    text[0] = '\0';
  if (!inst->op)
    put(&t, ".long 0x%08" PRIx32, inst->word[0]);
  else if (inst->op->flags & GS_OPF_ILLEGAL)
    put_name(&t, inst);
  else
    printers[inst->op->encoding](&t, inst);
  return t.length;
}
