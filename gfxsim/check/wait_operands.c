/* What instructions read and write, and in which counters they count, for the tool "wait". Not here: what is
 * made of it (wait.c, wait_states.c). */
#include <stdio.h>
#include <string.h>

#include "check/wait.h"
#include "isa/dual.h"

enum { SRC_VCCZ = 251, SRC_EXECZ = 252, SRC_LDS_DIRECT = 254 };

/* Instructions that the tool obeys: the last that fits. */
static const struct {
  const char *prefix;
  gs_step_t step;
} steps[] = {{"s_waitcnt", GS_STEP_WAIT},
             {"s_waitcnt_", GS_STEP_ONE},
             {"s_waitcnt_vscnt", GS_STEP_WAIT_VS},
             {"s_waitcnt_vmcnt", GS_STEP_WAIT_VM},
             {"s_waitcnt_lgkmcnt", GS_STEP_WAIT_LGKM},
             {"s_waitcnt_depctr", GS_STEP_WAIT_RESULTS},
             {"s_wait_idle", GS_STEP_WAIT_ALL},
             {"s_nop", GS_STEP_IDLE},
             {"s_barrier", GS_STEP_BARRIER},
             {"s_endpgm", GS_STEP_END},
             {"s_setpc", GS_STEP_JUMP},
             {"s_swappc", GS_STEP_JUMP},
             {"s_call", GS_STEP_JUMP}};

static bool begins(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* ---- Opcodes ---- */

/* How memory instructions of an encoding count. */
static const struct {
  uint8_t encoding, counters, line;
  uint32_t kind;
} memory[] = {
    {GS_ENC_SMEM, GS_COUNTER_LGKM, GS_LINE_NONE, 0},
    {GS_ENC_DS, GS_COUNTER_LGKM, GS_LINE_LOCAL, GS_KIND_DS},
    {GS_ENC_FLAT, GS_COUNTER_VM | GS_COUNTER_LGKM, GS_LINE_FLAT, GS_KIND_VMEM},
    {GS_ENC_GLOBAL, GS_COUNTER_VM, GS_LINE_VECTOR, GS_KIND_VMEM},
    {GS_ENC_SCRATCH, GS_COUNTER_VM, GS_LINE_VECTOR, GS_KIND_VMEM},
    {GS_ENC_MUBUF, GS_COUNTER_VM, GS_LINE_VECTOR, GS_KIND_VMEM},
    {GS_ENC_MTBUF, GS_COUNTER_VM, GS_LINE_VECTOR, GS_KIND_VMEM},
};

/* Kinds of what is called so; the first that fits. */
static const struct {
  const char *prefix;
  uint32_t kinds;
} named[] = {
    {"v_mfma_f64_4x4", GS_KIND_DMFMA_4},
    {"v_mfma_f64_16x16", GS_KIND_DMFMA_16},
    {"v_accvgpr_write", GS_KIND_ACC_WRITE},
    {"v_accvgpr_mov", GS_KIND_ACC_WRITE},
    {"v_accvgpr_read", GS_KIND_ACC_READ | GS_KIND_LEGACY},
    {"v_dot", GS_KIND_DOT},
    {"v_wmma", GS_KIND_WMMA | GS_KIND_LEGACY},
    {"v_div_fmas", GS_KIND_DIV_FMAS | GS_KIND_LEGACY},
    {"v_readfirstlane", GS_KIND_FIRSTLANE | GS_KIND_LEGACY},
    {"v_readlane", GS_KIND_LANE | GS_KIND_READLANE | GS_KIND_LEGACY},
    {"v_writelane", GS_KIND_LANE | GS_KIND_LEGACY},
    {"v_fma_f64", GS_KIND_FMA64 | GS_KIND_LEGACY},
    {"v_fmac_f64", GS_KIND_FMA64 | GS_KIND_LEGACY},
    {"v_exp_", GS_KIND_TRANS},
    {"v_log_", GS_KIND_TRANS},
    {"v_rcp_", GS_KIND_TRANS},
    {"v_rsq_", GS_KIND_TRANS},
    {"v_sqrt_", GS_KIND_TRANS},
    {"v_sin_", GS_KIND_TRANS},
    {"v_cos_", GS_KIND_TRANS},
    {"v_permlane16_swap", GS_KIND_SWAP | GS_KIND_LEGACY},
    {"v_permlane32_swap", GS_KIND_SWAP | GS_KIND_LEGACY},
    {"v_permlane", GS_KIND_PERMLANE | GS_KIND_LEGACY},
    {"v_", GS_KIND_LEGACY},
    {"s_getreg", GS_KIND_GETREG},
    {"s_setreg", GS_KIND_SETREG},
    {"s_movrel", GS_KIND_USES_M0},
    {"s_sendmsg", GS_KIND_USES_M0},
    {"s_ttracedata", GS_KIND_USES_M0},
    {"ds_read_addtid", GS_KIND_USES_M0},
    {"ds_write_addtid", GS_KIND_USES_M0},
};

static bool ends(const char *name, const char *suffix) {
  const size_t length = strlen(name), end = strlen(suffix);
  return length >= end && strcmp(name + length - end, suffix) == 0;
}

/* How many passes a matrix instruction takes, by its rows and what it multiplies at once: LLVM's
 * SISchedule.td, and the sections on dependencies of matrix instructions in AMD's manuals. */
static unsigned passes_of(const gs_opcode_t *op) {
  unsigned rows, columns, depth;
  const char *shape = strchr(op->name, 'x');
  while (shape && shape > op->name && shape[-1] != '_')
    shape--;
  if (!shape || sscanf(shape, "%ux%ux%u", &rows, &columns, &depth) != 3)
    return 0;
  if (rows == 4)
    return 2;
  const unsigned most = rows == 32 ? 16 : 8;
  const bool is_quick = op->targets & GS_GFX9_4 && (depth > 4 || ends(op->name, "_xf32"));
  return is_quick ? most / 2 : most;
}

static bool is_of_doubles(const gs_opcode_t *op) {
  return begins(op->name, "v_mfma_f64");
}

static uint32_t matrix_kinds(const gs_opcode_t *op) {
  if (op->targets & GS_GFX9_4 && ends(op->name, "_f32"))
    return GS_KIND_SGEMM;
  return GS_KIND_XDL | (passes_of(op) == 2 ? GS_KIND_XDL_2 : GS_KIND_XDL_LONG);
}

static uint32_t named_kinds(const gs_opcode_t *op) {
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (begins(op->name, named[i].prefix))
      return named[i].kinds;
  return 0;
}

static uint32_t kinds_of(const gs_opcode_t *op) {
  uint32_t kinds = op->flags & GS_OPF_MFMA && !is_of_doubles(op) ? matrix_kinds(op) : named_kinds(op);
  if (op->encoding >= GS_ENC_VOP1 && op->encoding <= GS_ENC_VINTERP)
    kinds |= GS_KIND_VALU;
  else if (op->encoding < GS_ENC_SMEM)
    kinds |= GS_KIND_SALU;
  return kinds;
}

/* Loads of 16 bits, and the last of an odd number of them, write half of a register. */
static uint32_t last_bits_of(const char *name) {
  const size_t length = strlen(name);
  if (strstr(name, "_d16_hi"))
    return 0xffff0000;
  const bool pairs = strcmp(name + length - 3, "_xy") == 0 || strcmp(name + length - 5, "_xyzw") == 0;
  return strstr(name, "_d16") && !pairs ? 0xffff : UINT32_MAX;
}

/* Which half of its register of data a memory instruction stores or loads. */
static gs_half_t data_half_of(const gs_opcode_t *op, uint32_t last_bits) {
  const bool is_high = strstr(op->name, "_d16_hi");
  const bool is_short = op->flags & GS_OPF_STORE
                            ? is_high || strstr(op->name, "_b16") || strstr(op->name, "_b8")
                            : last_bits != UINT32_MAX;
  return !is_short || op->flags & GS_OPF_TWO_ADDR ? GS_HALF_BOTH : is_high ? GS_HALF_HIGH : GS_HALF_LOW;
}

/* Memory waits for all that VALU instructions have in hand. */
static void count_valus(gs_wait_rule_t *rule, const gs_opcode_t *op) {
  const bool is_valu = rule->kinds & GS_KIND_VALU || op->encoding == GS_ENC_VOPD;
  rule->valus.all = is_valu;
  rule->valus.real = is_valu && !begins(op->name, "v_nop");
  rule->valus.trans = rule->kinds & GS_KIND_TRANS ? 1 : 0;
  rule->valus.results = rule->kinds & (GS_KIND_VMEM | GS_KIND_DS) ? GS_MANY_VALUS : is_valu;
}

static gs_wait_rule_t rule_of(const gs_opcode_t *op) {
  gs_wait_rule_t rule = {.kinds = kinds_of(op), .dst = (uint8_t)gs_type_dwords((gs_type_t)op->dst)};
  for (unsigned i = 0; i < 3; i++)
    rule.src[i] = (uint8_t)gs_type_dwords((gs_type_t)op->src[i]);
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    if (memory[i].encoding == op->encoding && !(op->flags & (GS_OPF_ILLEGAL | GS_OPF_GDS))) {
      rule.counters = memory[i].counters;
      rule.line = memory[i].line;
      rule.kinds |= memory[i].kind;
    }
  if (begins(op->name, "s_sendmsg")) {
    rule.counters = GS_COUNTER_LGKM;
    rule.line = GS_LINE_MESSAGE;
  }
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (begins(op->name, steps[i].prefix))
      rule.step = (uint8_t)steps[i].step;
  rule.reads_vcc = begins(op->name, "v_div_fmas") || begins(op->name, "s_cbranch_vcc");
  rule.swaps = begins(op->name, "v_swap") || strstr(op->name, "_swap_b32");
  count_valus(&rule, op);
  rule.passes = (uint8_t)(op->flags & GS_OPF_MFMA ? passes_of(op) : 0);
  rule.by_format = ends(op->name, "_f8f6f4");
  rule.last_bits = rule.counters ? last_bits_of(op->name) : UINT32_MAX;
  rule.half = (uint8_t)(rule.counters ? data_half_of(op, rule.last_bits) : GS_HALF_BOTH);
  rule.by_m0 = begins(op->name, "s_movrels") ? 1 : begins(op->name, "s_movreld") ? 2 : 0;
  return rule;
}

void gs_wait_fill_rules(gs_wait_rule_t *rules) {
  for (size_t i = 0; i < gs_opcode_count; i++)
    rules[i] = rule_of(&gs_opcodes[i]);
}

/* ---- Instructions ---- */

static bool is_store(const gs_inst_t *in) {
  return in->op->flags & GS_OPF_STORE;
}
static bool is_atomic(const gs_inst_t *in) {
  return in->op->flags & GS_OPF_ATOMIC;
}
static bool is_buffer(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_MUBUF || in->op->encoding == GS_ENC_MTBUF;
}

/* More than 64 bits of data, which vector memory fetches a moment later than the rest; of buffers only where
 * no scalar register holds an offset. */
static bool is_wide_store(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  if (!(rule->kinds & GS_KIND_VMEM) || !(in->op->flags & (GS_OPF_STORE | GS_OPF_ATOMIC)))
    return false;
  return is_buffer(in) ? rule->dst > 2 && in->src[2].kind != GS_SRC_SGPR : rule->src[1] > 2;
}

uint32_t gs_wait_kinds(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  uint32_t kinds = rule->kinds;
  if (in->form == GS_FORM_DPP)
    kinds |= GS_KIND_DPP;
  if (kinds & GS_KIND_VALU && (in->dst_hi || (in->form == GS_FORM_SDWA && in->op->encoding != GS_ENC_VOPC &&
                                              in->sdwa.dst_sel != GS_SEL_DWORD)))
    kinds |= GS_KIND_SHIFTED;
  if (in->lds && kinds & GS_KIND_VMEM)
    kinds |= GS_KIND_USES_M0;
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SPECIAL && kinds & GS_KIND_VALU) {
      const unsigned special = in->src[i].reg;
      kinds |= special == SRC_LDS_DIRECT ? (uint32_t)GS_KIND_USES_M0
               : special == SRC_VCCZ     ? (uint32_t)GS_KIND_VCCZ
               : special == SRC_EXECZ    ? (uint32_t)GS_KIND_EXECZ
                                         : 0;
    }
  return is_wide_store(in, rule) ? kinds | GS_KIND_WIDE_STORE : kinds;
}

static inline void add(gs_uses_t *uses, gs_operand_t use) {
  if (use.count && uses->count < GS_MOST_USES)
    uses->use[uses->count++] = use;
}

static inline void add_vectors(gs_uses_t *uses, unsigned first, unsigned count, uint64_t lanes, bool writes) {
  add(uses,
      (gs_operand_t){(uint16_t)first, (uint16_t)count, true, writes, GS_ROLE_OTHER, GS_HALF_BOTH, lanes});
}

static inline void add_scalars(gs_uses_t *uses, unsigned first, unsigned count, bool writes) {
  add(uses, (gs_operand_t){(uint16_t)first, (uint16_t)count, false, writes, GS_ROLE_OTHER, GS_HALF_BOTH, 0});
}

/* From gfx11 on, instructions on 16 bits have to do with one half of a register, and leave the other alone.
 */
static gs_half_t half_of(gs_target_t target, unsigned type, bool is_high) {
  const bool is_short =
      type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_B16 || type == GS_T_BF16;
  return !is_short || !(target & GS_GFX11) ? GS_HALF_BOTH : is_high ? GS_HALF_HIGH : GS_HALF_LOW;
}

/* That of what a store takes from its only register of data, or a load puts into the only one that it returns
 * to. */
static gs_half_t half_of_data(gs_target_t target, const gs_wait_rule_t *rule) {
  return target & GS_GFX11 ? (gs_half_t)rule->half : GS_HALF_BOTH;
}

/* The lanes of a vector register that operand `i` reads. */
static uint64_t lanes_of(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, unsigned i) {
  const uint64_t exec = gs_exec(w);
  if (rule->kinds & GS_KIND_MFMA || in->src[i].mods & GS_MOD_DPP)
    return UINT64_MAX;
  if (rule->kinds & GS_KIND_LANE) {
    const gs_src_t *lane = &in->src[1];
    const uint64_t number = lane->kind == GS_SRC_SGPR ? w->s.u32[lane->reg] : lane->value;
    return UINT64_C(1) << number % gs_wave_lanes(w);
  }
  if (in->op->flags & GS_OPF_SCALAR_DST) /* v_readfirstlane */
    return exec ? exec & -exec : 1;
  return exec;
}

/* Operand `i`, of which those lanes are read if it is one of vector registers. */
static void add_source(gs_target_t target, const gs_inst_t *in, const gs_wait_rule_t *rule, unsigned i,
                       unsigned count, uint64_t lanes, gs_uses_t *uses) {
  const gs_src_t *s = &in->src[i];
  const bool sum =
      i == 2 && rule->kinds & (GS_KIND_MFMA | GS_KIND_DOT | GS_KIND_WMMA) && !(in->op->flags & GS_OPF_SPARSE);
  const uint8_t role = sum                                 ? GS_ROLE_C
                       : in->op->src[i] == GS_T_MASK       ? GS_ROLE_MASK
                       : in->op->src[i] == GS_T_LANE       ? GS_ROLE_LANE
                       : i == 1 && rule->line && count > 2 ? GS_ROLE_DATA
                                                           : GS_ROLE_OTHER;
  const gs_half_t half = count != 1             ? GS_HALF_BOTH
                         : rule->line && i == 1 ? half_of_data(target, rule)
                                                : half_of(target, in->op->src[i], s->mods & GS_MOD_HI);
  if (s->kind == GS_SRC_VGPR)
    add(uses, (gs_operand_t){s->reg, (uint16_t)count, true, false, role, (uint8_t)half, lanes});
  else if (s->kind == GS_SRC_SGPR)
    add(uses, (gs_operand_t){s->reg, (uint16_t)count, false, false, role, GS_HALF_BOTH, 0});
}

static void scalar_uses(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                        gs_uses_t *uses) {
  for (unsigned i = 0; i < 2; i++)
    add_source(w->env->target, in, rule, i, rule->src[i], 0, uses);
  const unsigned index = rule->by_m0 ? w->s.u32[GS_S_M0] : 0;
  if (rule->by_m0 == 1 && uses->count)
    uses->use[0].first = (uint16_t)((uses->use[0].first + index) % GS_SGPRS);
  if (rule->reads_vcc)
    add_scalars(uses, GS_S_VCC, gs_mask_dwords(w), false);
  add_scalars(uses, (in->dst + (rule->by_m0 == 2 ? index : 0)) % GS_SGPRS, rule->dst, true);
}

static void vector_uses(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                        gs_uses_t *uses) {
  const gs_target_t target = w->env->target;
  const uint32_t flags = in->op->flags;
  for (unsigned i = 0; i < 3; i++)
    add_source(target, in, rule, i, in->op->src[i] == GS_T_MASK ? gs_mask_dwords(w) : rule->src[i],
               lanes_of(w, in, rule, i), uses);
  if (rule->reads_vcc)
    add(uses,
        (gs_operand_t){GS_S_VCC, (uint16_t)gs_mask_dwords(w), false, false, GS_ROLE_MASK, GS_HALF_BOTH, 0});
  else if (flags & GS_OPF_SDST || in->op->encoding == GS_ENC_VOPC)
    add_scalars(uses, in->sdst, gs_mask_dwords(w), true);
  if (in->op->encoding == GS_ENC_VOPC)
    return;
  if (flags & GS_OPF_SCALAR_DST) {
    add_scalars(uses, in->dst, rule->dst, true);
    return;
  }
  const uint64_t lanes = rule->kinds & (GS_KIND_MFMA | GS_KIND_LANE) ? lanes_of(w, in, rule, 0) : gs_exec(w);
  const bool adds_to_dst = flags & GS_OPF_SPARSE && rule->kinds & GS_KIND_MFMA;
  const gs_half_t half = half_of(target, in->op->dst, in->dst_hi);
  if (flags & GS_OPF_ACC_DST || adds_to_dst || rule->swaps)
    add(uses, (gs_operand_t){in->dst, rule->dst, true, false,
                             adds_to_dst || rule->kinds & GS_KIND_DOT ? GS_ROLE_C : GS_ROLE_OTHER,
                             (uint8_t)half, lanes});
  add(uses, (gs_operand_t){in->dst, rule->dst, true, true, GS_ROLE_OTHER, (uint8_t)half, lanes});
  if (rule->swaps && in->src[0].kind == GS_SRC_VGPR)
    add_vectors(uses, in->src[0].reg, 1, lanes, true);
}

/* How many registers a memory instruction returns to. A compare-and-swap of a buffer or of scalars has its
 * data, which are twice as much, in the same place. */
static unsigned returned(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  if (in->lds || is_store(in))
    return 0;
  if (!is_atomic(in))
    return rule->dst + in->tfe;
  if (in->op->encoding == GS_ENC_DS)
    return rule->dst;
  if (!in->glc)
    return 0;
  const bool shared = is_buffer(in) || in->op->encoding == GS_ENC_SMEM;
  return shared && strstr(in->op->name, "cmpswap") ? rule->dst / 2u : rule->dst;
}

/* Registers of the address or a source of a memory instruction, which the row of the opcode does not tell
 * everywhere. */
static unsigned memory_dwords(const gs_inst_t *in, const gs_wait_rule_t *rule, unsigned i) {
  switch (in->op->encoding) {
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: return i == 0 ? (unsigned)in->offen + in->idxen : i == 1 ? 4 : 1;
  case GS_ENC_GLOBAL: return i == 0 && in->src[2].kind == GS_SRC_SGPR ? 1 : i == 2 ? 2 : rule->src[i];
  case GS_ENC_SCRATCH: return i == 1 ? rule->src[i] : 1;
  default: return rule->src[i];
  }
}

void gs_wait_uses_of_memory(gs_target_t target, const gs_inst_t *in, const gs_wait_rule_t *rule,
                            gs_uses_t *uses) {
  uses->count = 0;
  for (unsigned i = 0; i < 3; i++)
    add_source(target, in, rule, i, memory_dwords(in, rule, i), UINT64_MAX, uses);
  const bool vector = in->op->encoding != GS_ENC_SMEM;
  const uint64_t lanes = vector ? UINT64_MAX : 0;
  const bool data_in_dst = is_buffer(in) || in->op->encoding == GS_ENC_SMEM;
  const unsigned results = returned(in, rule);
  const uint8_t half = (uint8_t)(rule->dst == 1 ? half_of_data(target, rule) : GS_HALF_BOTH);
  if (data_in_dst && (is_store(in) || is_atomic(in)))
    add(uses, (gs_operand_t){in->dst, rule->dst, vector, false, GS_ROLE_DATA, half, lanes});
  add(uses, (gs_operand_t){in->dst, (uint16_t)results, vector, true, GS_ROLE_OTHER,
                           results == 1 ? half : (uint8_t)GS_HALF_BOTH, lanes});
}

void gs_wait_mask_uses(gs_uses_t *uses, uint64_t lanes) {
  for (unsigned i = 0; i < uses->count; i++)
    uses->use[i].lanes &= lanes;
}

static void memory_uses(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule,
                        gs_uses_t *uses) {
  gs_wait_uses_of_memory(w->env->target, in, rule, uses);
  gs_wait_mask_uses(uses, gs_exec(w));
}

/* Whether the flat address of some active lane is one of LDS. */
static bool comes_to_lds(const gs_wave_t *w, const gs_inst_t *in) {
  return gs_wait_of(w)->sweep->has(&w->v[in->src[0].reg + 1u], GS_SHARED_APERTURE_HI, gs_exec(w));
}

/* From gfx10 on, what returns nothing has a counter of its own, and flat memory comes in an order. */
void gs_wait_counts_in(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_uses_t *uses) {
  uses->counters = rule->counters;
  uses->line = rule->line;
  uses->passes_local = false;
  if (rule->line == GS_LINE_FLAT && !comes_to_lds(w, in)) {
    uses->counters = GS_COUNTER_VM;
    uses->line = GS_LINE_VECTOR;
    uses->passes_local = !(w->env->target & GS_GFX9);
  }
  if (w->env->target & GS_GFX9)
    return;
  if (uses->line == GS_LINE_FLAT)
    uses->line = GS_LINE_FLAT_IN_ORDER;
  if (uses->counters & GS_COUNTER_VM && (is_store(in) || (is_atomic(in) && !in->glc)))
    uses->counters ^= GS_COUNTER_VM | GS_COUNTER_VS;
}

/* Both parts of a pair. */
static void dual_uses(const gs_wave_t *w, const gs_inst_t *in, gs_uses_t *uses) {
  for (unsigned half = 0; half < 2; half++) {
    const gs_inst_t part = gs_dual_part(in, half);
    vector_uses(w, &part, &gs_wait_of(w)->rules[part.op - gs_opcodes], uses);
  }
}

void gs_wait_uses(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_uses_t *uses) {
  uses->count = 0;
  uses->counters = uses->line = 0;
  uses->passes_local = false;
  if (in->op->encoding == GS_ENC_VOPD)
    dual_uses(w, in, uses);
  else if (rule->kinds & GS_KIND_VALU)
    vector_uses(w, in, rule, uses);
  else if (rule->kinds & GS_KIND_SALU)
    scalar_uses(w, in, rule, uses);
  else if (rule->counters)
    memory_uses(w, in, rule, uses);
}
