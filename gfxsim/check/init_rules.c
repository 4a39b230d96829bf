/* How each instruction carries undefined bits, by what it is called: a row serves all of a kind. Of those
 * that no row is for, floating point and what else mixes all bits are taken as a whole. Not here: following
 * them (init_flow.c, init_memory.c). */
#include <stdlib.h>
#include <string.h>

#include "check/init.h"
#include "isa/ops.h"

/* A row is for names that begin so, the first that fits. */
typedef struct row {
  const char *prefix;
  gs_flow_t flow;
  uint8_t amounts; /* see gs_flow_rule_t */
} row_t;

enum { FIRST = 1, SECOND = 2, THIRD = 4 };

/* Whatever the types of their operands are called. */
static const row_t any_type[] = {
    {"v_cndmask", GS_FLOW_BITS, 0},      {"v_mov_b", GS_FLOW_BITS, 0},
    {"v_accvgpr", GS_FLOW_BITS, 0},      {"v_pk_mov", GS_FLOW_BITS, 0},
    {"v_pack_b32", GS_FLOW_BITS, 0},     {"v_cvt_f32_ubyte", GS_FLOW_ALL, 0},
    {"v_mfma", GS_FLOW_MATRIX, 0},       {"v_smfmac", GS_FLOW_MATRIX, 0},
    {"v_wmma", GS_FLOW_MATRIX, 0},       {"v_readfirst", GS_FLOW_BITS, 0},
    {"v_swap", GS_FLOW_BITS, 0},         {"v_permlane", GS_FLOW_BITS, 0},
    {"ds_swizzle", GS_FLOW_BITS, 0},     {"ds_bpermute", GS_FLOW_BITS, FIRST},
    {"ds_permute", GS_FLOW_BITS, FIRST},
};

/* Integers. */
static const row_t integers[] = {
    {"v_not", GS_FLOW_BITS, 0},          {"v_bfrev", GS_FLOW_BITS, 0},
    {"v_and", GS_FLOW_BITS, 0},          {"v_or", GS_FLOW_BITS, 0},
    {"v_xor", GS_FLOW_BITS, 0},          {"v_xnor", GS_FLOW_BITS, 0},
    {"v_bfi", GS_FLOW_BITS, 0},          {"v_lshlrev", GS_FLOW_BITS, FIRST},
    {"v_lshrrev", GS_FLOW_BITS, FIRST},  {"v_ashrrev", GS_FLOW_BITS, FIRST},
    {"v_lshl_or", GS_FLOW_BITS, SECOND}, {"v_bfe", GS_FLOW_BITS, SECOND | THIRD},
    {"v_alignb", GS_FLOW_BITS, THIRD},   {"v_perm_b32", GS_FLOW_BITS, THIRD},
    {"v_lshl_add", GS_FLOW_UP, SECOND},  {"v_add_lshl", GS_FLOW_UP, THIRD},
    {"v_add", GS_FLOW_SUM, 0},           {"v_sub", GS_FLOW_SUM, 0},
    {"v_mul_lo", GS_FLOW_UP, 0},         {"v_mul_u32_u24", GS_FLOW_UP, 0},
    {"v_mul_i32_i24", GS_FLOW_UP, 0},    {"v_mad_u32", GS_FLOW_UP, 0},
    {"v_mad_i32", GS_FLOW_UP, 0},        {"v_mad_u64", GS_FLOW_UP, 0},
    {"v_mad_i64", GS_FLOW_UP, 0},        {"v_min", GS_FLOW_DOWN, 0},
    {"v_max", GS_FLOW_DOWN, 0},          {"v_mbcnt", GS_FLOW_ALL, 0},
    {"v_cmp", GS_FLOW_COMPARE, 0},       {"s_mov", GS_FLOW_BITS, 0},
    {"s_cmov", GS_FLOW_BITS, 0},         {"s_cselect", GS_FLOW_BITS, 0},
    {"s_not", GS_FLOW_BITS, 0},          {"s_brev", GS_FLOW_BITS, 0},
    {"s_and", GS_FLOW_BITS, 0},          {"s_or", GS_FLOW_BITS, 0},
    {"s_xor", GS_FLOW_BITS, 0},          {"s_nand", GS_FLOW_BITS, 0},
    {"s_nor", GS_FLOW_BITS, 0},          {"s_xnor", GS_FLOW_BITS, 0},
    {"s_pack", GS_FLOW_BITS, 0},         {"s_sext", GS_FLOW_BITS, 0},
    {"s_bitreplicate", GS_FLOW_BITS, 0}, {"s_quadmask", GS_FLOW_BITS, 0},
    {"s_wqm", GS_FLOW_BITS, 0},          {"s_bitset", GS_FLOW_BITS, FIRST},
    {"s_lshl_", GS_FLOW_BITS, SECOND},   {"s_lshr_", GS_FLOW_BITS, SECOND},
    {"s_ashr_", GS_FLOW_BITS, SECOND},   {"s_bfe", GS_FLOW_BITS, SECOND},
    {"s_lshl", GS_FLOW_UP, 0}, /* s_lshl1_add_u32 and others */
    {"s_mul_i32", GS_FLOW_UP, 0},        {"s_mulk", GS_FLOW_UP, 0},
    {"s_add", GS_FLOW_SUM, 0},           {"s_sub", GS_FLOW_SUM, 0},
    {"s_min", GS_FLOW_DOWN, 0},          {"s_max", GS_FLOW_DOWN, 0},
    {"s_cmp", GS_FLOW_COMPARE, 0},       {"s_bitcmp", GS_FLOW_COMPARE, 0},
};

/* Names that begin so are special. */
static const struct {
  const char *prefix;
  gs_special_t special;
} specials[] = {
    {"v_readlane", GS_SPECIAL_READLANE},
    {"v_writelane", GS_SPECIAL_WRITELANE},
    {"v_swap", GS_SPECIAL_SWAP},
    {"v_permlane16_swap", GS_SPECIAL_SWAP},
    {"v_permlane32_swap", GS_SPECIAL_SWAP},
    {"v_cvt_scalef32_2xpk16", GS_SPECIAL_DEFINED},
    {"v_cvt_scalef32_pk32", GS_SPECIAL_DEFINED},
    {"v_cvt_scalef32_sr_pk32", GS_SPECIAL_DEFINED},
    {"v_mfma_ld_scale", GS_SPECIAL_DEFINED},
    {"ds_read_b64_tr", GS_SPECIAL_DEFINED},
    {"ds_read_b96_tr", GS_SPECIAL_DEFINED},
    {"s_setpc", GS_SPECIAL_JUMP},
    {"s_swappc", GS_SPECIAL_JUMP},
    {"s_rfe", GS_SPECIAL_JUMP},
    {"s_movrel", GS_SPECIAL_INDEXED},
    {"v_movrel", GS_SPECIAL_RELATIVE},
    {"v_swaprel", GS_SPECIAL_NOTHING},
    {"s_set_gpr_idx_idx", GS_SPECIAL_INDEX},
    {"s_set_gpr_idx_on", GS_SPECIAL_INDEX},
    {"s_cbranch_scc", GS_SPECIAL_BRANCH},
    {"s_cbranch_vcc", GS_SPECIAL_BRANCH},
    {"ds_bpermute", GS_SPECIAL_EXCHANGE},
    {"ds_permute", GS_SPECIAL_EXCHANGE},
    {"ds_swizzle", GS_SPECIAL_EXCHANGE},
    {"s_cbranch_g_fork", GS_SPECIAL_NOTHING},
    {"s_cbranch_i_fork", GS_SPECIAL_NOTHING},
    {"s_cbranch_join", GS_SPECIAL_NOTHING},
    {"s_getreg", GS_SPECIAL_NOTHING},
    {"s_setreg", GS_SPECIAL_NOTHING},
    {"s_getpc", GS_SPECIAL_NOTHING},
    {"s_call", GS_SPECIAL_NOTHING},
    {"s_setvskip", GS_SPECIAL_NOTHING},
    {"ds_append", GS_SPECIAL_NOTHING},
    {"ds_consume", GS_SPECIAL_NOTHING},
    {"ds_ordered", GS_SPECIAL_NOTHING},
    {"ds_gws", GS_SPECIAL_NOTHING},
    {"ds_nop", GS_SPECIAL_NOTHING},
    {"ds_condxchg", GS_SPECIAL_NOTHING},
    {"ds_wrxchg2", GS_SPECIAL_NOTHING},
    {"ds_storexchg_2addr", GS_SPECIAL_NOTHING},
};

static bool begins(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_float(unsigned type) {
  return type == GS_T_F16 || type == GS_T_V2F16 || type == GS_T_F32 || type == GS_T_MIX || type == GS_T_F64 ||
         type == GS_T_V2F32 || type == GS_T_F64X4;
}

static bool is_half(unsigned type) {
  return type == GS_T_B16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_F16 || type == GS_T_BF16;
}

static void find_row(const gs_opcode_t *op, const row_t *rows, size_t count, gs_flow_rule_t *rule) {
  for (size_t i = 0; i < count; i++)
    if (begins(op->name, rows[i].prefix)) {
      rule->flow = (uint8_t)rows[i].flow;
      rule->amounts = rows[i].amounts;
      return;
    }
}

/* Which bits of an amount are looked at. */
static uint32_t amount_bits_of(const char *name) {
  if (begins(name, "v_perm"))
    return UINT32_MAX;
  if (begins(name, "s_bfe")) /* an offset and a width */
    return 0x7f003f;
  return begins(name, "ds_") ? 0xff : 0x3f;
}

static gs_mix_t mix_of(const char *name) {
  if (strstr(name, "cmpswap") || strstr(name, "cmpst"))
    return GS_MIX_COMPARE;
  if (strstr(name, "swap") || strstr(name, "xchg"))
    return GS_MIX_SWAP;
  if (strstr(name, "_and") || strstr(name, "_or") || strstr(name, "_xor"))
    return GS_MIX_BITS;
  const bool sum = strstr(name, "add") || strstr(name, "sub");
  return sum && !strstr(name, "_f") && !strstr(name, "_bf") ? GS_MIX_UP : GS_MIX_ANY;
}

/* What loads and stores of less than a dword are called. */
static void find_narrow(const char *name, gs_flow_rule_t *rule) {
  static const struct {
    const char *part;
    uint8_t bytes;
    bool is_signed;
  } parts[] = {{"load_ubyte", 1, false},    {"load_sbyte", 1, true},  {"load_ushort", 2, false},
               {"load_sshort", 2, true},    {"load_short", 2, false}, {"store_byte", 1, false},
               {"store_short", 2, false},   {"ds_read_u8", 1, false}, {"ds_read_i8", 1, true},
               {"ds_read_u16", 2, false},   {"ds_read_i16", 2, true}, {"ds_write_b8", 1, false},
               {"ds_write_b16", 2, false},  {"load_u8", 1, false},    {"load_i8", 1, true},
               {"load_u16", 2, false},      {"load_i16", 2, true},    {"load_d16_i8", 1, true},
               {"load_d16_hi_i8", 1, true}, {"store_b8", 1, false},   {"store_b16", 2, false}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(name, parts[i].part)) {
      rule->narrow = parts[i].bytes;
      rule->is_signed = parts[i].is_signed;
    }
}

static gs_flow_rule_t rule_of(const gs_opcode_t *op) {
  gs_flow_rule_t rule = {.dst = (uint8_t)gs_type_dwords((gs_type_t)op->dst), .half = is_half(op->dst)};
  bool floats = is_float(op->dst);
  for (unsigned i = 0; i < 3; i++) {
    rule.dwords[i] = (uint8_t)gs_type_dwords((gs_type_t)op->src[i]);
    floats = floats || is_float(op->src[i]);
  }
  find_row(op, any_type, sizeof any_type / sizeof *any_type, &rule);
  if (!floats)
    find_row(op, integers, sizeof integers / sizeof *integers, &rule);
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (begins(op->name, specials[i].prefix))
      rule.special = (uint8_t)specials[i].special;
  if (rule.special == GS_SPECIAL_BRANCH)
    rule.condition = strstr(op->name, "vcc") ? GS_CONDITION_VCC : GS_CONDITION_SCC;
  if (strstr(op->name, "_src2_"))
    rule.special = GS_SPECIAL_NOTHING;
  rule.reads_vcc = begins(op->name, "v_div_fmas");
  rule.crosses =
      rule.flow == GS_FLOW_MATRIX || begins(op->name, "v_permlane") || op->encoding == GS_ENC_VINTERP;
  rule.formatted = op->encoding == GS_ENC_MTBUF || strstr(op->name, "_format_");
  rule.amount_bits = amount_bits_of(op->name);
  rule.mix = (uint8_t)mix_of(op->name);
  find_narrow(op->name, &rule);
  return rule;
}

/* Parts of VOPD are called like the instructions that they are, but for "dual_". */
static void find_part(const gs_opcode_t *op, gs_flow_rule_t *rule) {
  const size_t prefix = strlen("v_dual_");
  for (size_t i = 0; i < gs_opcode_count; i++)
    if (gs_opcodes[i].encoding <= GS_ENC_VOP2 && gs_opcodes[i].targets & op->targets &&
        strcmp(gs_opcodes[i].name + strlen("v_"), op->name + prefix) == 0) {
      rule->part = (uint16_t)i;
      rule->part_fn = gs_handler_fn(&gs_level_for_processor()->wave32_handlers[i]);
    }
}

gs_flow_rule_t *gs_flow_make_rules(void) {
  gs_flow_rule_t *rules = calloc(gs_opcode_count, sizeof *rules);
  for (size_t i = 0; rules && i < gs_opcode_count; i++) {
    rules[i] = rule_of(&gs_opcodes[i]);
    if (gs_opcodes[i].encoding == GS_ENC_VOPD)
      find_part(&gs_opcodes[i], &rules[i]);
  }
  return rules;
}
