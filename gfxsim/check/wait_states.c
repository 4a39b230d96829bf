/* Wait states: pairs of instructions between which the hardware does not wait by itself, as a table: gfx9's,
 * and some of gfx11.
 * Counted as compilers do: each instruction is one, s_nop as many as it says. Not here: what is outstanding
 * in memory (wait.c). */
#include "check/wait.h"

/* Sources: the tables "required user-inserted NOPs" of AMD's ISA manuals (Vega, Vega 7 nm, MI100, MI200; of
 * MI300 the tables 11 and 37), and what LLVM inserts (GCNHazardRecognizer.cpp of version 19, of gfx950 of 22,
 * with the passes of SISchedule.td). Where the two differ the smaller number stands here, so that nobody is
 * blamed for what one of them allows. */
enum {
  BEFORE_942 = GS_TO_90A,
  M908 = GS_GFX908,
  M90A = GS_GFX90A,
  M942 = GS_GFX9_4,
  M950 = GS_GFX950,
  UNIFIED = GS_CDNA2_4,
  MEM = GS_KIND_VMEM | GS_KIND_DS,
  ACC = GS_KIND_ACC_READ | GS_KIND_ACC_WRITE,
  PLAIN = GS_KIND_LEGACY | GS_KIND_TRANS,
  OTHER = PLAIN | GS_KIND_DOT | ACC, /* VALU that is no matrix instruction */
  XDL = GS_KIND_XDL,
  SGEMM = GS_KIND_SGEMM,
  SMFMA = GS_KIND_SMFMA,
  DMFMA = GS_KIND_DMFMA,
  MFMA = GS_KIND_MFMA,
  D4 = GS_KIND_DMFMA_4,
  D16 = GS_KIND_DMFMA_16,
  LONG = GS_KIND_XDL_LONG,
  DIFFERENT = 2,
  EQUAL = 1,
};

#define PAIR_IF(parts, number, first, second, why, which, ...)                                               \
  {                                                                                                          \
    .targets = (parts), .states = (number), .resource = GS_RESOURCE_##which, .from = (first),                \
    .to = (second), .what = (why), __VA_ARGS__                                                               \
  }
#define PAIR(parts, number, first, second, why, which)                                                       \
  PAIR_IF(parts, number, first, second, why, which, .opcode = 0)

/* So many more than the first one has passes. */
#define PASSES_IF(parts, more, first, second, why, which, condition)                                         \
  PAIR_IF(parts, more, first, second, why, which, .by_passes = true, condition)
#define PASSES(parts, more, first, second, why, which)                                                       \
  PAIR_IF(parts, more, first, second, why, which, .by_passes = true)

static const char by_valu[] = "a VALU instruction that writes a scalar register and memory that reads it";
static const char lane_of_valu[] = "a VALU instruction and v_readlane of its result";
static const char wide_store[] = "a store of more than 64 bits and a VALU instruction that overwrites them";
static const char sum_of_matrix[] = "a matrix instruction and the next one that adds to some of its results";
static const char sum_of_all[] =
    "a matrix instruction of two passes and the next one that adds to its results";
static const char factor_of_matrix[] = "a matrix instruction and one that multiplies its results";
static const char read_of_matrix[] = "a matrix instruction and one that reads its result";
static const char write_of_matrix[] = "a matrix instruction and one that overwrites its result";
static const char write_of_sum[] = "a matrix instruction and one that overwrites what it adds to";
static const char mask_of_matrix[] = "a VALU instruction that writes EXEC and a matrix instruction";
static const char value_for_matrix[] = "a VALU instruction and a matrix instruction that reads its result";
static const char swap_of_lanes[] = "a VALU instruction and one that swaps lanes of its result";
static const char mask_of_swap[] = "a VALU instruction that writes EXEC and one that swaps lanes";
static const char read_of_dot[] = "a dot product and an instruction that reads its result";

static const gs_hazard_t hazards[] = {
    /* All of gfx9. */
    PAIR(GS_GFX9, 5, GS_KIND_VALU, GS_KIND_VMEM, by_valu, SCALAR),
    PAIR(GS_GFX9, 4, GS_KIND_VALU, GS_KIND_LANE,
         "a VALU instruction that writes a scalar register and one that takes a lane's number from it", LANE),
    PAIR(GS_GFX9, 4, GS_KIND_VALU, GS_KIND_DIV_FMAS, "a VALU instruction that writes VCC and v_div_fmas",
         VCC),
    PAIR(GS_GFX9, 5, GS_KIND_VALU, GS_KIND_DPP, "a VALU instruction that writes EXEC and one with DPP", EXEC),
    PAIR(GS_GFX9, 2, GS_KIND_VALU, GS_KIND_DPP, "a VALU instruction and one with DPP that reads its result",
         READ),
    PAIR(GS_GFX9, 5, GS_KIND_VALU, GS_KIND_VCCZ, "a VALU instruction that writes VCC and one that reads VCCZ",
         VCC),
    PAIR(GS_GFX9, 5, GS_KIND_VALU, GS_KIND_EXECZ,
         "a VALU instruction that writes EXEC and one that reads EXECZ", EXEC),
    PAIR(GS_GFX9, 2, GS_KIND_SETREG, GS_KIND_GETREG, "s_setreg and s_getreg of the same register", HWREG),
    PAIR(GS_GFX9, 2, GS_KIND_SETREG, GS_KIND_SETREG, "s_setreg and s_setreg of the same register", HWREG),
    PAIR(GS_GFX9, 1, GS_KIND_SALU, GS_KIND_USES_M0, "a scalar instruction that writes M0 and its use", M0),
    PAIR(BEFORE_942, 1, GS_KIND_WIDE_STORE, GS_KIND_VALU, wide_store, WRITE_C),

    /* What gfx942 adds to that. The manual has v_readlane alone where LLVM has v_readfirstlane, too. */
    PAIR(M942, 2, GS_KIND_WIDE_STORE, GS_KIND_VALU, wide_store, WRITE_C),
    PAIR(M942, 2, GS_KIND_VALU, GS_KIND_VALU,
         "a VALU instruction that writes a scalar register and one that reads it", CONSTANT),
    PAIR(M942, 4, GS_KIND_VALU, GS_KIND_LANE | GS_KIND_FIRSTLANE,
         "a VALU instruction that writes EXEC and one that reads or writes a lane", EXEC),
    PAIR(M942, 1, GS_KIND_VALU, GS_KIND_READLANE, lane_of_valu, READ),
    PAIR(M942, 1, GS_KIND_SHIFTED, GS_KIND_VALU,
         "a VALU instruction that writes a part of a register and one that reads it", READ),
    PAIR(M942, 1, GS_KIND_TRANS, GS_KIND_LEGACY | GS_KIND_DOT | ACC | MFMA,
         "a transcendental instruction and another one that reads its result", READ),

    /* Matrix instructions, whose numbers follow from their passes. */
    PAIR(GS_GFX908_UP, 4, OTHER, MFMA, mask_of_matrix, EXEC),
    PAIR(M908, 4, OTHER, GS_KIND_ACC_WRITE, mask_of_matrix, EXEC),
    PAIR(M908, 2, PLAIN | GS_KIND_DOT, MFMA | GS_KIND_ACC_WRITE, value_for_matrix, READ),
    PAIR_IF(M908, 2, SMFMA, MFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PAIR(M908, 4, SMFMA, MFMA, factor_of_matrix, READ_AB),
    PASSES(M908, 2, SMFMA, GS_KIND_ACC_READ, read_of_matrix, READ),
    PASSES(M908, -1, SMFMA, GS_KIND_ACC_WRITE, write_of_matrix, WRITE),
    PASSES(M908, -3, SMFMA, GS_KIND_ACC_WRITE, write_of_sum, WRITE_C),
    PAIR(M908, 1, GS_KIND_ACC_WRITE, MFMA, "v_accvgpr_write and a matrix instruction", READ_C),
    PAIR(M908, 3, GS_KIND_ACC_WRITE, MFMA, "v_accvgpr_write and a matrix instruction", READ_AB),
    PAIR(M908, 3, GS_KIND_ACC_WRITE, GS_KIND_ACC_READ, "v_accvgpr_write and v_accvgpr_read", READ),
    PAIR(M908, 2, GS_KIND_ACC_READ, MEM, "v_accvgpr_read and memory that uses its result", READ),

    PAIR(UNIFIED, 2, PLAIN | ACC, MFMA, value_for_matrix, READ),
    /* gfx90a has none of SGEMM. */
    PASSES_IF(M90A, 0, SMFMA, SMFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PASSES_IF(M90A, 1, SMFMA, DMFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PAIR_IF(M942, 2, GS_KIND_XDL_2, SMFMA, sum_of_all, READ_C, .same = GS_SAME_ONLY),
    PASSES_IF(M942, 1, XDL, MFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PASSES_IF(M942, 0, SGEMM, SGEMM | DMFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PAIR_IF(UNIFIED, 4, D4, DMFMA | SGEMM, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PAIR_IF(UNIFIED, 4, D4, D4, sum_of_matrix, READ_C, .same = GS_SAME_ONLY),
    PAIR_IF(UNIFIED, 9, D16, DMFMA | SGEMM, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PASSES(UNIFIED, 3, XDL, MFMA, factor_of_matrix, READ_AB),
    PASSES(M942, 2, SGEMM, MFMA, factor_of_matrix, READ_AB),
    PAIR(UNIFIED, 6, D4, MFMA, factor_of_matrix, READ_AB),
    PAIR(UNIFIED, 11, D16, MFMA, factor_of_matrix, READ_AB),
    PASSES(UNIFIED, 3, XDL, OTHER | MEM, read_of_matrix, READ),
    PASSES(M942, 2, SGEMM, OTHER | MEM, read_of_matrix, READ),
    PAIR(UNIFIED, 6, D4, OTHER, read_of_matrix, READ),
    PAIR(UNIFIED, 9, D4, MEM, read_of_matrix, READ),
    PAIR(UNIFIED, 11, D16, OTHER, read_of_matrix, READ),
    PAIR(UNIFIED, 18, D16, MEM, read_of_matrix, READ),
    /* On gfx942 the manual does not have memory that overwrites. */
    PASSES(M90A, 3, XDL, OTHER | MEM, write_of_matrix, WRITE),
    PASSES(M942, 3, XDL, OTHER, write_of_matrix, WRITE),
    PASSES(M942, 2, SGEMM, OTHER, write_of_matrix, WRITE),
    PAIR(M90A, 6, D4, OTHER | MEM, write_of_matrix, WRITE),
    PAIR(M90A, 11, D16, OTHER | MEM, write_of_matrix, WRITE),
    PAIR(M942, 6, D4, OTHER, write_of_matrix, WRITE),
    PAIR(M942, 11, D16, OTHER, write_of_matrix, WRITE),
    PASSES(M90A, -1, XDL, OTHER | MEM, write_of_sum, WRITE_C),
    PASSES(M942, -1, XDL, OTHER, write_of_sum, WRITE_C),
    /* What gfx950 adds: its matrix instructions are over later. */
    PASSES_IF(M950, 2, XDL, XDL, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PASSES_IF(M950, 2, LONG, SGEMM | DMFMA, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PAIR_IF(M950, 17, D16, DMFMA | SGEMM, sum_of_matrix, READ_C, .same = GS_SAME_NEVER),
    PASSES(M950, 4, LONG, MFMA, factor_of_matrix, READ_AB),
    PAIR(M950, 19, D16, MFMA, factor_of_matrix, READ_AB),
    PASSES(M950, 4, LONG, OTHER | MEM, read_of_matrix, READ),
    PAIR(M950, 19, D16, OTHER, read_of_matrix, READ),
    PASSES(M950, 4, LONG, OTHER, write_of_matrix, WRITE),
    PAIR(M950, 2, GS_KIND_VALU, GS_KIND_SWAP, swap_of_lanes, READ),
    PAIR(M950, 4, GS_KIND_VALU, GS_KIND_SWAP, mask_of_swap, EXEC),
    PAIR(UNIFIED, 2, DMFMA, GS_KIND_FMA64, "a matrix instruction of doubles and v_fma_f64", NONE),
    PAIR_IF(UNIFIED, 3, GS_KIND_DOT, GS_KIND_DOT, read_of_dot, READ_AB, .opcode = EQUAL),
    PAIR_IF(UNIFIED, 3, GS_KIND_DOT, OTHER | MEM, read_of_dot, READ, .opcode = DIFFERENT),
    PAIR_IF(UNIFIED, 3, GS_KIND_DOT, OTHER | MEM, "a dot product and one that overwrites its result", WRITE,
            .opcode = DIFFERENT),

    /* gfx11: RDNA3's manual on WMMA, and what LLVM goes round. */
    PAIR_IF(GS_GFX1100_W32 | GS_GFX1100, 0, GS_KIND_TRANS, GS_KIND_VALU,
            "a transcendental instruction and another one that reads its result", READ,
            .until = GS_UNTIL_RESULTS),
    PAIR_IF(GS_GFX11, 0, GS_KIND_VALU, GS_KIND_PERMLANE, "v_cmpx and v_permlane", EXEC,
            .until = GS_UNTIL_REAL),
    PAIR_IF(GS_GFX11, 0, GS_KIND_WMMA, GS_KIND_WMMA, factor_of_matrix, READ_AB, .until = GS_UNTIL_VALU),
};
enum { ROWS = sizeof hazards / sizeof *hazards };
_Static_assert((int)ROWS <= (int)GS_MOST_ROWS, "a bit for each row");

/* The row that the first bit of a set stands for. */
static const gs_hazard_t *first_of(gs_rows_t rows) {
  const uint64_t low = (uint64_t)rows;
  return &hazards[low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(rows >> 64))];
}

/* Kinds that only the form or the operands of an instruction tell: who may have them. */
static uint32_t possible_kinds(const gs_wait_rule_t *rule) {
  uint32_t kinds = rule->kinds;
  if (kinds & GS_KIND_VALU)
    kinds |= GS_KIND_DPP | GS_KIND_VCCZ | GS_KIND_EXECZ | GS_KIND_USES_M0 | GS_KIND_SHIFTED;
  if (kinds & GS_KIND_VMEM)
    kinds |= GS_KIND_WIDE_STORE | GS_KIND_USES_M0;
  return kinds;
}

/* Which rows of a rule begin only if the instruction writes what the row is about. */
static gs_rows_t *rows_about(gs_wait_rule_t *rule, unsigned resource) {
  switch (resource) {
  case GS_RESOURCE_SCALAR:
  case GS_RESOURCE_CONSTANT:
  case GS_RESOURCE_LANE: return &rule->from_scalar;
  case GS_RESOURCE_VCC: return &rule->from_vcc;
  case GS_RESOURCE_EXEC: return &rule->from_exec;
  case GS_RESOURCE_M0: return &rule->from_m0;
  default: return NULL;
  }
}

void gs_states_fill_rules(gs_wait_rule_t *rules) {
  for (size_t i = 0; i < gs_opcode_count; i++) {
    const uint32_t kinds = possible_kinds(&rules[i]);
    for (unsigned row = 0; row < ROWS; row++) {
      const gs_rows_t bit = (gs_rows_t)1 << row;
      gs_rows_t *about = rows_about(&rules[i], hazards[row].resource);
      rules[i].from |= hazards[row].from & kinds ? bit : 0;
      rules[i].to |= hazards[row].to & kinds ? bit : 0;
      if (about)
        *about |= rules[i].from & bit;
    }
  }
}

/* ---- What was done ---- */

static bool overlaps(unsigned first, unsigned count, unsigned other, unsigned other_count) {
  return count && other_count && first < other + other_count && other < first + count;
}

/* What a VALU instruction writes. */
static void note_vector(gs_done_t *done, const gs_inst_t *in, const gs_wait_rule_t *rule) {
  const uint32_t flags = in->op->flags;
  const bool compares = in->op->encoding == GS_ENC_VOPC, scalar = flags & GS_OPF_SCALAR_DST;
  if (compares || flags & GS_OPF_SDST) {
    done->s = in->sdst;
    done->s_count = 2;
  } else if (scalar) {
    done->s = in->dst;
    done->s_count = rule->dst;
  }
  if (!compares && !scalar) {
    done->v = in->dst;
    done->v_count = rule->dst;
  }
  if (rule->swaps && in->src[0].kind == GS_SRC_VGPR)
    done->swapped = (uint16_t)(in->src[0].reg + 1);
  if (rule->kinds & GS_KIND_MFMA && flags & GS_OPF_SPARSE) {
    done->c = in->dst;
    done->c_count = rule->dst;
  } else if (rule->kinds & GS_KIND_MFMA && in->src[2].kind == GS_SRC_VGPR) {
    done->c = in->src[2].reg;
    done->c_count = rule->src[2];
  }
  done->exec = in->cmpx || overlaps(done->s, done->s_count, GS_S_EXEC, 2);
}

/* What a store goes on reading. */
static void note_store(gs_done_t *done, const gs_inst_t *in, const gs_wait_rule_t *rule) {
  const bool buffer = in->op->encoding == GS_ENC_MUBUF || in->op->encoding == GS_ENC_MTBUF;
  done->c = buffer ? in->dst : in->src[1].reg;
  done->c_count = buffer ? rule->dst : rule->src[1];
}

/* Rows that begin with this very instruction. */
static gs_rows_t rows_begun(const gs_done_t *done, const gs_wait_rule_t *rule) {
  const gs_rows_t conditional = rule->from_scalar | rule->from_vcc | rule->from_exec | rule->from_m0;
  gs_rows_t begun = rule->from & ~conditional;
  if (done->s_count) {
    begun |= rule->from_scalar;
    begun |= overlaps(done->s, done->s_count, GS_S_VCC, 2) ? rule->from_vcc : 0;
    begun |= overlaps(done->s, done->s_count, GS_S_M0, 1) ? rule->from_m0 : 0;
  }
  return begun | (done->exec ? rule->from_exec : 0);
}

/* Blocks of bytes take twice as long as those of smaller numbers. */
static unsigned passes_of(const gs_inst_t *in, const gs_wait_rule_t *rule) {
  enum { LAST_OF_BYTES = 1 };
  const bool has_bytes = in->cbsz <= LAST_OF_BYTES || in->blgp <= LAST_OF_BYTES;
  return rule->by_format && has_bytes ? 2u * rule->passes : rule->passes;
}

/* What is kept of an instruction but when and where it was executed; false: nothing is. */
static bool describe(gs_done_t *done, const gs_inst_t *in, const gs_wait_rule_t *rule) {
  uint32_t kinds = rule->kinds;
  if (kinds & GS_KIND_SALU && !(kinds & GS_KIND_SETREG) && !overlaps(in->dst, rule->dst, GS_S_M0, 1))
    return false;
  if (kinds & (GS_KIND_VMEM | GS_KIND_VALU))
    kinds = gs_wait_kinds(in, rule);
  if (kinds & GS_KIND_VMEM && !(kinds & GS_KIND_WIDE_STORE))
    return false;
  *done = (gs_done_t){
      .kinds = kinds, .op = (uint16_t)(in->op - gs_opcodes), .passes = (uint8_t)passes_of(in, rule)};
  if (kinds & GS_KIND_VALU) {
    note_vector(done, in, rule);
  } else if (kinds & GS_KIND_VMEM) {
    note_store(done, in, rule);
  } else {
    done->s = in->dst;
    done->s_count = rule->dst;
    done->hwreg = (uint16_t)(in->imm & 63);
  }
  return true;
}

/* Of those, the ones of the target, and of the kinds of this very instruction, as the first or the second. */
static gs_rows_t rows_for(gs_target_t target, uint32_t kinds, bool begins, gs_rows_t rows) {
  gs_rows_t kept = 0;
  for (; rows; rows &= rows - 1) {
    const gs_hazard_t *h = first_of(rows);
    if ((begins ? h->from : h->to) & kinds && h->targets & target)
      kept |= rows & -rows;
  }
  return kept;
}

bool gs_states_digest(gs_target_t target, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_done_t *done,
                      gs_rows_t *from, gs_rows_t *to) {
  *to = rows_for(target, gs_wait_kinds(in, rule), false, rule->to);
  if (!rule->from || !describe(done, in, rule))
    return false;
  *from = rows_for(target, done->kinds, true, rows_begun(done, rule));
  return *from;
}

/* Whether the row is about a scalar register among the second instruction's operands. */
static bool is_about_scalars(const gs_hazard_t *h) {
  return h->resource == GS_RESOURCE_SCALAR || h->resource == GS_RESOURCE_CONSTANT ||
         h->resource == GS_RESOURCE_LANE;
}

gs_rows_t gs_states_without_scalars(gs_rows_t rows) {
  gs_rows_t kept = 0;
  for (; rows; rows &= rows - 1)
    kept |= is_about_scalars(first_of(rows)) ? 0 : rows & -rows;
  return kept;
}

gs_rows_t gs_states_beyond(gs_rows_t rows, unsigned passes, unsigned states) {
  gs_rows_t beyond = 0;
  for (; rows; rows &= rows - 1)
    beyond |= gs_states_of(first_of(rows), passes) > states ? rows & -rows : 0;
  return beyond;
}

/* Whether what the row is about may be among the scalar registers, if it is one. */
static bool may_share(const gs_hazard_t *h, const gs_done_t *first, const uint64_t *scalars) {
  uint64_t wrote[(GS_S_OPERANDS + 63) / 64] = {0};
  if (!is_about_scalars(h))
    return true;
  gs_states_mark(wrote, first);
  return (wrote[0] & scalars[0]) | (wrote[1] & scalars[1]) ||
         (first->exec && scalars[GS_S_EXEC / 64] >> GS_S_EXEC % 64);
}

/* Whether enough has been executed behind the first instruction. */
static bool is_over(const gs_wave_waits_t *waits, const gs_hazard_t *h, const gs_done_t *first) {
  enum { MOST_BETWEEN = 5, MOST_TRANS_BETWEEN = 1 };
  const gs_valus_t *now = &waits->valus, *then = &first->valus;
  if (waits->clock - first->clock >= gs_states_of(h, first->passes))
    return true;
  switch ((gs_until_t)h->until) {
  case GS_UNTIL_VALU: return now->all != then->all;
  case GS_UNTIL_REAL: return now->real != then->real;
  case GS_UNTIL_RESULTS:
    return now->results - then->results > MOST_BETWEEN || now->trans - then->trans > MOST_TRANS_BETWEEN;
  default: return false;
  }
}

bool gs_states_matter(const gs_wave_waits_t *waits, gs_rows_t to, const uint64_t *scalars) {
  for (unsigned back = 1; back <= GS_DONE_KEPT && back <= waits->done_count; back++) {
    const gs_done_t *first = &waits->done[(waits->done_count - back) % GS_DONE_KEPT];
    if (waits->clock - first->clock >= GS_MOST_STATES)
      return false;
    for (gs_rows_t rows = to & first->from; rows; rows &= rows - 1) {
      const gs_hazard_t *h = first_of(rows);
      if (!is_over(waits, h, first) && may_share(h, first, scalars))
        return true;
    }
  }
  return false;
}

void gs_states_mark(uint64_t *marks, const gs_done_t *done) {
  for (unsigned reg = done->s; reg < done->s + done->s_count && reg < GS_S_OPERANDS; reg++)
    marks[reg / 64] |= UINT64_C(1) << reg % 64;
}

void gs_states_keep(gs_wave_waits_t *waits, const gs_done_t *done, gs_rows_t from, uint64_t pc) {
  gs_done_t *kept = &waits->done[waits->done_count++ % GS_DONE_KEPT];
  *kept = *done;
  kept->pc = pc;
  kept->from = from;
  kept->clock = waits->clock;
  kept->valus = waits->valus;
  waits->recent |= from;
  if (done->s_count && done->kinds & GS_KIND_VALU)
    gs_states_mark(waits->recent_scalars, done);
}

void gs_states_note(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, uint64_t pc) {
  gs_done_t done;
  if (describe(&done, in, rule))
    gs_states_keep(gs_wave_waits(w), &done, rows_begun(&done, rule), pc);
}

static bool any_written(const gs_wave_waits_t *waits, unsigned first, unsigned count) {
  uint64_t any = 0;
  for (unsigned reg = first; reg < first + count && reg < GS_S_OPERANDS; reg++)
    any |= (waits->recent_scalars[reg / 64] | waits->old_scalars[reg / 64]) >> reg % 64;
  return any & 1;
}

void gs_states_overwrite(gs_wave_waits_t *waits, unsigned first, unsigned count) {
  if (!any_written(waits, first, count))
    return;
  for (unsigned back = 1; back <= GS_DONE_KEPT && back <= waits->done_count; back++) {
    gs_done_t *done = &waits->done[(waits->done_count - back) % GS_DONE_KEPT];
    if (waits->clock - done->clock > GS_MOST_STATES)
      return;
    if (!(done->kinds & GS_KIND_VALU) || !overlaps(done->s, done->s_count, first, count))
      continue;
    const unsigned end = done->s + done->s_count; /* of a pair one may be left */
    if (first + count < end)
      done->s = (uint16_t)(first + count);
    done->s_count = (uint16_t)(first + count < end ? end - done->s : first > done->s ? first - done->s : 0);
  }
}

/* ---- What comes too early ---- */

static bool is_of_vector(const gs_operand_t *use, bool writes, const gs_done_t *first) {
  return use->vector && use->writes == writes &&
         (overlaps(use->first, use->count, first->v, first->v_count) ||
          (first->swapped && overlaps(use->first, use->count, first->swapped - 1u, 1)));
}

/* Whether a use of the second instruction is what the row is about. */
static bool concerns(const gs_hazard_t *h, const gs_done_t *first, const gs_operand_t *use) {
  const bool sum = use->role == GS_ROLE_C;
  const bool same = use->first == first->v && use->count == first->v_count;
  switch ((gs_resource_t)h->resource) {
  case GS_RESOURCE_READ_C:
  case GS_RESOURCE_READ_AB:
    if (sum != (h->resource == GS_RESOURCE_READ_C))
      return false;
    /* fall through */
  case GS_RESOURCE_READ:
    return is_of_vector(use, false, first) && (h->same == GS_SAME_ANY || same == (h->same == GS_SAME_ONLY));
  case GS_RESOURCE_WRITE: return is_of_vector(use, true, first);
  case GS_RESOURCE_WRITE_C:
    return use->vector && use->writes && overlaps(use->first, use->count, first->c, first->c_count);
  case GS_RESOURCE_CONSTANT:
    if (use->role != GS_ROLE_OTHER || use->vector || use->writes)
      return false;
    return overlaps(use->first, use->count, first->s, first->s_count) ||
           (first->exec && overlaps(use->first, use->count, GS_S_EXEC, 2));
  case GS_RESOURCE_LANE:
    if (use->role != GS_ROLE_LANE)
      return false;
    /* fall through */
  case GS_RESOURCE_SCALAR:
    return !use->vector && !use->writes && overlaps(use->first, use->count, first->s, first->s_count);
  default: return false;
  }
}

/* Likewise, where it is no register of an operand. */
static bool concerns_all(const gs_hazard_t *h, const gs_done_t *first, const gs_inst_t *in) {
  switch ((gs_resource_t)h->resource) {
  case GS_RESOURCE_NONE: return true;
  case GS_RESOURCE_VCC: return overlaps(first->s, first->s_count, GS_S_VCC, 2);
  case GS_RESOURCE_EXEC: return first->exec;
  case GS_RESOURCE_M0: return overlaps(first->s, first->s_count, GS_S_M0, 1);
  case GS_RESOURCE_HWREG: return first->hwreg == (in->imm & 63);
  default: return false;
  }
}

/* Two instructions that are too close. */
typedef struct close {
  const gs_hazard_t *hazard;
  const gs_done_t *first;
  const gs_operand_t *use; /* of the second, or NULL */
  unsigned states, missing;
} close_t;

/* Whether the row is about the two. */
static bool is_close(const gs_hazard_t *h, const gs_done_t *first, const gs_inst_t *in, const gs_uses_t *uses,
                     const gs_operand_t **use) {
  const bool equal = first->op == in->op - gs_opcodes;
  *use = NULL;
  if (!(h->from & first->kinds) || (h->opcode && equal != (h->opcode == EQUAL)))
    return false;
  if (concerns_all(h, first, in))
    return true;
  for (unsigned i = 0; i < uses->count; i++)
    if (concerns(h, first, &uses->use[i])) {
      *use = &uses->use[i];
      return true;
    }
  return false;
}

/* Looks for the last instruction that the row is about; keeps what lacks most. */
static void look_back(const gs_wave_waits_t *waits, const gs_inst_t *in, const gs_hazard_t *h,
                      const gs_uses_t *uses, close_t *worst) {
  const gs_operand_t *use;
  for (unsigned back = 1; back <= GS_DONE_KEPT && back <= waits->done_count; back++) {
    const gs_done_t *first = &waits->done[(waits->done_count - back) % GS_DONE_KEPT];
    const unsigned states = waits->clock - first->clock, needed = gs_states_of(h, first->passes);
    if (states >= gs_states_of(h, GS_MOST_PASSES))
      return;
    if (is_over(waits, h, first) || !is_close(h, first, in, uses, &use))
      continue;
    if (needed - states > worst->missing)
      *worst = (close_t){h, first, use, states, needed - states};
    return;
  }
}

/* What of the operand the first instruction has written is not there yet, for the second. */
static void spoil(gs_wave_t *w, const close_t *close) {
  const gs_done_t *first = close->first;
  gs_operand_t at = {.first = GS_S_VCC, .count = 2};
  if (close->use && !close->use->writes)
    at = *close->use;
  else if (close->hazard->resource != GS_RESOURCE_VCC)
    return;
  const unsigned from = at.vector ? first->v : first->s;
  const unsigned to = from + (at.vector ? first->v_count : first->s_count);
  const unsigned begin = at.first > from ? at.first : from;
  const unsigned end = at.first + at.count < to ? at.first + at.count : to;
  if (begin >= end)
    return;
  at.first = (uint16_t)begin;
  at.count = (uint16_t)(end - begin);
  gs_late_spoil(w, &at);
}

void gs_states_look(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_rows_t rows,
                    const gs_uses_t *uses) {
  const uint32_t kinds = gs_wait_kinds(in, rule);
  close_t worst = {.missing = 0};
  for (; rows; rows &= rows - 1) {
    const gs_hazard_t *h = first_of(rows);
    if (h->to & kinds && h->targets & w->env->target)
      look_back(gs_wave_waits(w), in, h, uses, &worst);
  }
  const gs_wait_t *wait = gs_wait_of(w);
  if (worst.missing && wait->tell_states)
    wait->tell_states(w, in, worst.hazard, worst.first, worst.use, worst.states);
  if (worst.missing && wait->late & GS_LATE_STATES)
    spoil(w, &worst);
}
