/* See mkstrip.h. */
#include "translate/mkstrip.h"

#include <string.h>

#include <Zydis/Zydis.h>

enum { DISPLACEMENT_BITS = 32, LANE_BITS = 32, PICK_LOW = 0x88, PICK_HIGH = 0xdd, ALL_ONES = 0xff };
enum { VEX2 = 0xc5, VEX3 = 0xc4, SIGN_OF_LANES = 0xf0 };

typedef struct reading {
  unsigned lanes; /* of a strip */
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
} reading_t;

static const char unfit[] = "an instruction that cannot be in a strip";

/* Which role a register has, without what is done with it; 0 for general registers. */
static unsigned class_of(ZydisRegister reg) {
  switch (ZydisRegisterGetClass(reg)) {
  case ZYDIS_REGCLASS_XMM:
  case ZYDIS_REGCLASS_YMM:
  case ZYDIS_REGCLASS_ZMM: return GS_ROLE_VECTOR;
  case ZYDIS_REGCLASS_MASK: return GS_ROLE_MASK;
  default: return 0;
  }
}

static ZydisRegister whole(ZydisRegister reg) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static unsigned row_bits(const reading_t *r) {
  return LANE_BITS * r->lanes;
}

/* The place of an operand, or GS_FIELDS. */
static unsigned field_of(const ZydisDecodedOperand *o) {
  switch (o->encoding) {
  case ZYDIS_OPERAND_ENCODING_MODRM_REG: return GS_FIELD_REG;
  case ZYDIS_OPERAND_ENCODING_NDSNDD: return GS_FIELD_V;
  case ZYDIS_OPERAND_ENCODING_MODRM_RM: return GS_FIELD_RM;
  case ZYDIS_OPERAND_ENCODING_MASK:
  case ZYDIS_OPERAND_ENCODING_IS4: return GS_FIELD_MASK;
  default: return GS_FIELDS;
  }
}

static unsigned actions_of(const ZydisDecodedOperand *o) {
  return (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? GS_ROLE_READ : 0) |
         (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? GS_ROLE_WRITE : 0);
}

static const char *read_general(const ZydisDecodedOperand *o, gs_op_t *op) {
  const ZydisRegister reg = whole(o->reg.value);
  if (ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_FLAGS || o->reg.value == ZYDIS_REGISTER_MXCSR)
    return NULL;
  if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64)
    return unfit;
  /* Those of the caller, the stack's, and what strips have for themselves: the wave, rows, masks, constants.
   */
  const unsigned number = (unsigned)ZydisRegisterGetId(reg);
  const bool is_free = number < 3 || number == 6 || (number >= 8 && number <= 10);
  const unsigned actions = actions_of(o);
  if (!is_free && (actions & GS_ROLE_WRITE))
    return "a register that belongs to strips";
  if (actions & GS_ROLE_WRITE)
    op->writes = (uint16_t)(op->writes | 1u << number);
  if (is_free && ((actions & GS_ROLE_READ) || o->size < 32)) /* less than that leaves the rest as it was */
    op->reads = (uint16_t)(op->reads | 1u << number);
  return NULL;
}

static const char *read_register(const reading_t *r, const ZydisDecodedOperand *o, gs_op_t *op) {
  const unsigned class = class_of(o->reg.value), field = field_of(o);
  if (!class)
    return read_general(o, op);
  if (field == GS_FIELD_MASK && o->reg.value == ZYDIS_REGISTER_K0)
    return NULL;
  if (field == GS_FIELDS)
    return unfit;
  unsigned actions = actions_of(o);
  /* Some lanes keep their old values. */
  if (class == GS_ROLE_VECTOR && (actions & GS_ROLE_WRITE) &&
      r->instruction.avx.mask.mode == ZYDIS_MASK_MODE_MERGING)
    actions |= GS_ROLE_READ;
  op->role[field] = (uint8_t)(class | actions);
  op->number[field] = (uint8_t)ZydisRegisterGetId(o->reg.value);
  return NULL;
}

/* Where masks have no registers, a move of a whole vector register stands for one of a mask. */
static bool is_mask_move(const reading_t *r, const ZydisDecodedOperand *o) {
  const ZydisMnemonic m = r->instruction.mnemonic;
  if (m == ZYDIS_MNEMONIC_VMOVDQU)
    return o->size == row_bits(r);
  return o->size == r->lanes &&
         (m == ZYDIS_MNEMONIC_MOVZX || m == ZYDIS_MNEMONIC_KMOVW || m == ZYDIS_MNEMONIC_MOV);
}

static bool has_row_form(const reading_t *r) {
  const ZydisDecodedInstruction *const in = &r->instruction;
  return (in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && !in->raw.evex.b) ||
         in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
}

static const char *read_row(const reading_t *r, const ZydisDecodedOperand *o, gs_op_t *op) {
  const unsigned actions = actions_of(o);
  if (!has_row_form(r) || o->mem.base != ZYDIS_REGISTER_R14 || field_of(o) != GS_FIELD_RM)
    return "an access to a row that has no form for registers";
  if ((actions & GS_ROLE_WRITE) && o->size != row_bits(r))
    return "a store of less than a row";
  op->memory = GS_MEMORY_ROW;
  const bool merges = (actions & GS_ROLE_WRITE) && r->instruction.avx.mask.mode == ZYDIS_MASK_MODE_MERGING;
  op->role[GS_FIELD_RM] = (uint8_t)(GS_ROLE_VECTOR | actions | (merges ? GS_ROLE_READ : 0));
  return NULL;
}

static const char *read_memory(const reading_t *r, const ZydisDecodedOperand *o, bool is_row, gs_op_t *op) {
  op->displacement = r->instruction.raw.disp.offset;
  if (o->mem.index != ZYDIS_REGISTER_NONE || r->instruction.raw.disp.size != DISPLACEMENT_BITS)
    return "an access to memory that strips do not have";
  if (is_row)
    return read_row(r, o, op);
  switch (o->mem.base) {
  case ZYDIS_REGISTER_R15:
    op->memory = GS_MEMORY_MASK;
    return is_mask_move(r, o) ? NULL : "an access to a mask that is no move";
  case ZYDIS_REGISTER_RDI:
  case ZYDIS_REGISTER_RIP:
    op->memory = GS_MEMORY_SAME;
    return actions_of(o) == GS_ROLE_READ ? NULL : "a store to what does not change";
  default: return "an access to memory that strips do not have";
  }
}

/* What values of the operands do not matter for. */
static bool is_constant(const reading_t *r, const gs_op_t *op) {
  switch (r->instruction.mnemonic) {
  case ZYDIS_MNEMONIC_VPXOR:
  case ZYDIS_MNEMONIC_VXORPS:
  case ZYDIS_MNEMONIC_VXORPD:
  case ZYDIS_MNEMONIC_VPCMPEQD:
  case ZYDIS_MNEMONIC_VPXORD:
  case ZYDIS_MNEMONIC_VPXORQ:
    return (op->role[GS_FIELD_REG] & GS_ROLE_VECTOR) && op->role[GS_FIELD_RM] &&
           op->number[GS_FIELD_V] == op->number[GS_FIELD_RM] && op->memory == GS_MEMORY_NONE &&
           !op->role[GS_FIELD_MASK];
  case ZYDIS_MNEMONIC_VPTERNLOGD:
  case ZYDIS_MNEMONIC_VPTERNLOGQ:
    return r->instruction.raw.imm[0].value.u == ALL_ONES && r->instruction.avx.vector_length == row_bits(r) &&
           op->memory == GS_MEMORY_NONE && !op->role[GS_FIELD_MASK];
  default: return false;
  }
}

static unsigned kind_of_pick(const reading_t *r) {
  switch (r->instruction.raw.imm[0].value.u) {
  case PICK_LOW: return GS_OP_PICK_LOW;
  case PICK_HIGH: return GS_OP_PICK_HIGH;
  default: return GS_OP_PLAIN;
  }
}

/* Of instructions that are not for whole vector registers. */
static unsigned kind_of_others(const reading_t *r, const gs_op_t *op) {
  const ZydisDecodedOperand *const o = r->operand;
  switch (r->instruction.mnemonic) {
  case ZYDIS_MNEMONIC_VPXOR:
  case ZYDIS_MNEMONIC_VXORPS:
  case ZYDIS_MNEMONIC_VXORPD:
  case ZYDIS_MNEMONIC_VPXORD:
  case ZYDIS_MNEMONIC_VPXORQ: return is_constant(r, op) ? GS_OP_ZERO : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_VMOVD: return op->reads && op->role[GS_FIELD_REG] ? GS_OP_FROM_GENERAL : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_VPINSRB:
    return r->instruction.raw.imm[0].value.u == SIGN_OF_LANES && op->reads ? GS_OP_ROW_OF_BITS : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_KXORW:
    return op->number[GS_FIELD_V] == op->number[GS_FIELD_RM] ? GS_OP_NO_LANES : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_KMOVW:
    return op->role[GS_FIELD_REG] && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op->reads
               ? GS_OP_MASK_OF_GENERAL
               : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_MOV:
    return o[0].size == 32 && o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
               ? GS_OP_SET_GENERAL
               : GS_OP_PLAIN;
  default: return GS_OP_PLAIN;
  }
}

/* Of instructions of which some lanes keep what they have. */
static unsigned kind_of_masked(const reading_t *r, const gs_op_t *op) {
  const bool is_move =
      r->instruction.mnemonic == ZYDIS_MNEMONIC_VMOVAPS || r->instruction.mnemonic == ZYDIS_MNEMONIC_VMOVAPD;
  const unsigned result = GS_ROLE_VECTOR | GS_ROLE_READ | GS_ROLE_WRITE;
  return is_move && op->memory == GS_MEMORY_NONE && op->role[GS_FIELD_REG] == result ? GS_OP_MERGE
                                                                                     : GS_OP_PLAIN;
}

/* Comparisons write masks. */
static unsigned kind_of_comparison(const reading_t *r, const gs_op_t *op) {
  enum { UNORDERED = 3 };
  const bool is_unordered = r->instruction.raw.imm[0].value.u == UNORDERED && op->memory == GS_MEMORY_NONE;
  return is_unordered ? GS_OP_UNORDERED : GS_OP_PLAIN;
}

/* Of whole vector registers, with either prefix. */
static unsigned kind_of_vector(const reading_t *r, const gs_op_t *op) {
  switch (r->instruction.mnemonic) {
  case ZYDIS_MNEMONIC_VMOVDQA:
  case ZYDIS_MNEMONIC_VMOVDQU:
  case ZYDIS_MNEMONIC_VMOVDQA32:
  case ZYDIS_MNEMONIC_VMOVDQA64:
  case ZYDIS_MNEMONIC_VMOVDQU32:
  case ZYDIS_MNEMONIC_VMOVDQU64:
  case ZYDIS_MNEMONIC_VMOVAPS:
  case ZYDIS_MNEMONIC_VMOVAPD:
  case ZYDIS_MNEMONIC_VMOVUPS:
  case ZYDIS_MNEMONIC_VMOVUPD: return op->memory == GS_MEMORY_SAME ? GS_OP_PLAIN : GS_OP_COPY;
  case ZYDIS_MNEMONIC_VUNPCKLPS:
  case ZYDIS_MNEMONIC_VPUNPCKLDQ: return GS_OP_UNPACK_LOW;
  case ZYDIS_MNEMONIC_VUNPCKHPS:
  case ZYDIS_MNEMONIC_VPUNPCKHDQ: return GS_OP_UNPACK_HIGH;
  case ZYDIS_MNEMONIC_VSHUFPS: return kind_of_pick(r);
  case ZYDIS_MNEMONIC_VPADDD:
  case ZYDIS_MNEMONIC_VPADDQ:
  case ZYDIS_MNEMONIC_VPSUBD:
  case ZYDIS_MNEMONIC_VPSUBQ: return GS_OP_SUM;
  case ZYDIS_MNEMONIC_VMULPS:
  case ZYDIS_MNEMONIC_VMULPD: return GS_OP_PRODUCT;
  case ZYDIS_MNEMONIC_VFMADD231PS:
  case ZYDIS_MNEMONIC_VFMADD231PD: return GS_OP_FMA;
  default: return GS_OP_PLAIN;
  }
}

/* Of VEX instructions, whose results and masks are vectors. */
static unsigned kind_of_vex(const reading_t *r, const gs_op_t *op) {
  switch (r->instruction.mnemonic) {
  case ZYDIS_MNEMONIC_VMOVMSKPS: return GS_OP_BITS_OF_ROW;
  case ZYDIS_MNEMONIC_VBROADCASTSS:
  case ZYDIS_MNEMONIC_VPBROADCASTD: return op->memory == GS_MEMORY_NONE ? GS_OP_SPREAD : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_VBLENDVPS:
  case ZYDIS_MNEMONIC_VBLENDVPD:
  case ZYDIS_MNEMONIC_VPBLENDVB: return GS_OP_MERGE;
  case ZYDIS_MNEMONIC_VPAND:
  case ZYDIS_MNEMONIC_VANDPS:
  case ZYDIS_MNEMONIC_VANDPD: return GS_OP_AND;
  case ZYDIS_MNEMONIC_VPXOR:
  case ZYDIS_MNEMONIC_VXORPS:
  case ZYDIS_MNEMONIC_VXORPD: return is_constant(r, op) ? GS_OP_ZERO : GS_OP_EITHER;
  case ZYDIS_MNEMONIC_VPOR:
  case ZYDIS_MNEMONIC_VORPS:
  case ZYDIS_MNEMONIC_VORPD: return GS_OP_EITHER;
  case ZYDIS_MNEMONIC_VPCMPEQD: return is_constant(r, op) ? GS_OP_ONES : GS_OP_COMPARE;
  case ZYDIS_MNEMONIC_VPCMPGTD:
  case ZYDIS_MNEMONIC_VPCMPEQQ:
  case ZYDIS_MNEMONIC_VPCMPGTQ: return GS_OP_COMPARE;
  case ZYDIS_MNEMONIC_VCMPPS:
  case ZYDIS_MNEMONIC_VCMPPD:
    return kind_of_comparison(r, op) == GS_OP_UNORDERED ? GS_OP_UNORDERED : GS_OP_COMPARE;
  default: return kind_of_vector(r, op);
  }
}

static unsigned kind_of(const reading_t *r, const gs_op_t *op) {
  if (r->instruction.avx.vector_length != row_bits(r))
    return kind_of_others(r, op);
  if (op->is_vex)
    return kind_of_vex(r, op);
  if (op->role[GS_FIELD_MASK])
    return kind_of_masked(r, op);
  switch (r->instruction.mnemonic) {
  case ZYDIS_MNEMONIC_VPMOVM2D: return GS_OP_ROW_OF_MASK;
  case ZYDIS_MNEMONIC_VPMOVD2M: return GS_OP_MASK_OF_ROW;
  case ZYDIS_MNEMONIC_VPBROADCASTD: return op->reads ? GS_OP_BROADCAST : GS_OP_PLAIN;
  case ZYDIS_MNEMONIC_VPTERNLOGD:
  case ZYDIS_MNEMONIC_VPTERNLOGQ: return is_constant(r, op) ? GS_OP_ONES : GS_OP_LOGIC;
  case ZYDIS_MNEMONIC_VPANDD:
  case ZYDIS_MNEMONIC_VPANDQ: return GS_OP_AND;
  case ZYDIS_MNEMONIC_VPXORD:
  case ZYDIS_MNEMONIC_VPXORQ: return is_constant(r, op) ? GS_OP_ZERO : GS_OP_SUM;
  case ZYDIS_MNEMONIC_VPORD:
  case ZYDIS_MNEMONIC_VPORQ: return GS_OP_SUM;
  case ZYDIS_MNEMONIC_VCMPPS:
  case ZYDIS_MNEMONIC_VCMPPD: return kind_of_comparison(r, op);
  default: return kind_of_vector(r, op);
  }
}

static const char *read_operands(const reading_t *r, bool is_row, gs_op_t *op) {
  const char *reason = NULL;
  for (unsigned i = 0; i < r->instruction.operand_count && !reason; i++) {
    const ZydisDecodedOperand *o = &r->operand[i];
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
      reason = read_register(r, o, op);
    else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
      reason = read_memory(r, o, is_row, op);
  }
  return reason;
}

static const char *read_instruction(const reading_t *r, bool is_row, gs_op_t *op) {
  const ZydisDecodedInstruction *in = &r->instruction;
  if (in->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || (in->cpu_flags && in->cpu_flags->tested))
    return unfit;
  const char *reason = read_operands(r, is_row, op);
  if (reason)
    return reason;
  unsigned classes = 0, writes = op->writes != 0;
  for (unsigned i = 0; i < GS_FIELDS; i++) {
    classes |= op->role[i] & (GS_ROLE_VECTOR | GS_ROLE_MASK);
    writes += (op->role[i] & GS_ROLE_WRITE) != 0;
  }
  op->is_vex = in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
  if (classes && !op->is_vex && in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
    return "an instruction that cannot have all registers";
  if (writes > 1 || (!writes && op->memory != GS_MEMORY_MASK) ||
      (op->is_vex && (classes & GS_ROLE_MASK) && op->number[GS_FIELD_RM] > 7))
    return unfit;
  op->kind = (uint8_t)kind_of(r, op);
  if (is_constant(r, op)) {
    op->role[GS_FIELD_REG] = GS_ROLE_VECTOR | GS_ROLE_WRITE;
    op->role[GS_FIELD_V] = op->role[GS_FIELD_RM] = GS_ROLE_VECTOR;
  }
  if (op->kind == GS_OP_ROW_OF_BITS)
    op->role[GS_FIELD_V] = 0;
  return NULL;
}

const char *mkstrip_read(const uint8_t *code, size_t size, unsigned lanes, mkstrip_find_t *find,
                         void *context, gs_op_t *ops, size_t most, size_t *count) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  *count = 0;
  for (size_t at = 0; at < size;) {
    reading_t r = {.lanes = lanes};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &r.instruction, r.operand)))
      return "an instruction that Zydis does not know";
    const size_t end = at + r.instruction.length;
    if (*count == most)
      return "too many instructions";
    gs_op_t *op = &ops[*count];
    *op = (gs_op_t){.size = r.instruction.length, .patch = GS_NO_PATCH};
    bool is_row = false;
    for (size_t i = at; i < end; i++) {
      const mkstrip_hole_t hole = find(context, i);
      if (hole.patch == GS_NO_PATCH)
        continue;
      if (op->patch != GS_NO_PATCH)
        return "an instruction with two holes";
      op->patch = hole.patch;
      is_row = hole.is_row;
      if (is_row && i != at + r.instruction.raw.disp.offset)
        return "a row's hole that is no displacement";
    }
    const char *reason = read_instruction(&r, is_row, op);
    if (reason)
      return reason;
    ++*count;
    at = end;
  }
  return NULL;
}

bool mkstrip_begins_at(const uint8_t *code, size_t size, size_t at) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  size_t begin = 0;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  while (begin < at) {
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder, NULL, code + begin, size - begin, &instruction)))
      return false;
    begin += instruction.length;
  }
  return begin == at;
}

bool mkstrip_widen(const uint8_t *code, size_t size, uint8_t *wide, uint16_t *to) {
  enum { MAP = 1, NO_INDEX = 0x60, INVERTED_R = 0x80 };
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  size_t end = 0;
  for (size_t at = 0; at < size; at += instruction.length) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at, &instruction)))
      return false;
    size_t from = at;
    if (code[at] == VEX2) {
      const uint8_t vex[] = {VEX3, (uint8_t)((code[at + 1] & INVERTED_R) | NO_INDEX | MAP),
                             (uint8_t)(code[at + 1] & ~INVERTED_R)};
      to[at] = (uint16_t)end;
      to[at + 1] = (uint16_t)(end + 1);
      memcpy(wide + end, vex, sizeof vex);
      end += sizeof vex;
      from += 2;
    }
    for (; from < at + instruction.length; from++) {
      to[from] = (uint16_t)end;
      wide[end++] = code[from];
    }
  }
  to[size] = (uint16_t)end;
  return true;
}
