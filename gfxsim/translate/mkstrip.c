/* See mkstrip.h. */
#include "translate/mkstrip.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>

#include "translate/strip.h"

/* The fields of a row's access: prefix, opcode, ModRM, displacement. */
enum { DISPLACEMENT_AT = 6, DISPLACEMENT_BITS = 32, ROW_BITS = 512 };

typedef struct reading {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
} reading_t;

/* Whether the register is one that strips have for themselves: rows in vector registers, where rows are, and
 * what constants go through. */
static bool is_strips(ZydisRegister reg) {
  switch (ZydisRegisterGetClass(reg)) {
  case ZYDIS_REGCLASS_XMM:
  case ZYDIS_REGCLASS_YMM:
  case ZYDIS_REGCLASS_ZMM: return ZydisRegisterGetId(reg) >= GS_STRIP_FIRST;
  default: break;
  }
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole == ZYDIS_REGISTER_R14 || whole == ZYDIS_REGISTER_R11;
}

static bool names_strips(const ZydisDecodedOperand *o) {
  return o->type == ZYDIS_OPERAND_TYPE_REGISTER && is_strips(o->reg.value);
}

/* Instructions that have no form for registers, or touch registers that they do not name. */
static bool is_unfit(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
  case ZYDIS_MNEMONIC_VBROADCASTF32X2:
  case ZYDIS_MNEMONIC_VBROADCASTF32X4:
  case ZYDIS_MNEMONIC_VBROADCASTF32X8:
  case ZYDIS_MNEMONIC_VBROADCASTF64X2:
  case ZYDIS_MNEMONIC_VBROADCASTF64X4:
  case ZYDIS_MNEMONIC_VBROADCASTI32X4:
  case ZYDIS_MNEMONIC_VBROADCASTI32X8:
  case ZYDIS_MNEMONIC_VBROADCASTI64X2:
  case ZYDIS_MNEMONIC_VBROADCASTI64X4:
  case ZYDIS_MNEMONIC_VZEROUPPER:
  case ZYDIS_MNEMONIC_VZEROALL:
  case ZYDIS_MNEMONIC_CALL:
  case ZYDIS_MNEMONIC_RET: return true;
  default: return false;
  }
}

/* What is wrong with the instruction as part of a strip, or NULL. */
static const char *check(const reading_t *r) {
  const ZydisDecodedInstruction *in = &r->instruction;
  if (is_unfit(in->mnemonic) || in->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
    return "an instruction that cannot be in a strip";
  for (unsigned i = 0; i < in->operand_count; i++) {
    const ZydisDecodedOperand *o = &r->operand[i];
    if (names_strips(o))
      return "a register that belongs to strips";
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && (is_strips(o->mem.base) || is_strips(o->mem.index)))
      return "an access to rows beside their holes";
  }
  return NULL;
}

/* As check, for an access to a row. */
static const char *check_row(const reading_t *r, const char **form) {
  const ZydisDecodedInstruction *in = &r->instruction;
  const ZydisDecodedOperand *row = NULL;
  for (unsigned i = 0; i < in->operand_count; i++) {
    const ZydisDecodedOperand *o = &r->operand[i];
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
      row = o;
    else if (names_strips(o))
      return "a register that belongs to strips";
  }
  if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || !row || row->mem.base != ZYDIS_REGISTER_R14 ||
      row->mem.index != ZYDIS_REGISTER_NONE || in->raw.disp.offset != DISPLACEMENT_AT ||
      in->raw.disp.size != DISPLACEMENT_BITS || in->raw.evex.b || is_unfit(in->mnemonic))
    return "an access to a row that has no form for registers";
  const bool writes = row->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
  if (writes && row->size != ROW_BITS)
    return "a store of less than a row";
  *form = !writes ? "GS_PATCH_ROW_READ" : in->raw.evex.aaa ? "GS_PATCH_ROW_MERGE" : "GS_PATCH_ROW_WRITE";
  return NULL;
}

const char *mkstrip_read(const uint8_t *code, size_t size, mkstrip_is_row_t *is_row, void *context,
                         mkstrip_access_t *accesses, size_t most, size_t *count) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  *count = 0;
  for (size_t at = 0; at < size;) {
    reading_t r;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &r.instruction, r.operand)))
      return "an instruction that Zydis does not know";
    const size_t displacement = at + r.instruction.raw.disp.offset;
    const char *reason = NULL;
    if (r.instruction.raw.disp.size && is_row(context, displacement)) {
      if (*count == most)
        return "too many accesses to rows";
      mkstrip_access_t *a = &accesses[*count];
      a->instruction = at;
      a->displacement = displacement;
      reason = check_row(&r, &a->form);
      ++*count;
    } else {
      reason = check(&r);
    }
    if (reason)
      return reason;
    at += r.instruction.length;
  }
  return NULL;
}
