/* How the checker's tool "init" carries undefined bits through instructions (check/init_flow.c), against what
 * undefined means: a bit of a result is undefined if some choice of the operands' undefined bits changes it.
 * Many choices are made at random. None may change a bit that the tool calls defined; of instructions that
 * move bits, or combine them one by one, each bit that it calls undefined must change. Not here: memory, and
 * what is told of. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "check/digest.h"
#include "check/init.h"

enum { ROUNDS = 24, CHOICES = 160, RESULTS = 4 };

/* Operands are v[1:7], s[4:5], s[6:7] and VCC; results v[0:3] and all scalars. */
typedef struct row {
  const char *text;
  bool exact;
} row_t;

static const row_t rows[] = {
    {"v_mov_b32 v0, v1", true},
    {"v_not_b32 v0, v1", true},
    {"v_bfrev_b32 v0, v1", true},
    {"v_and_b32 v0, v1, v3", true},
    {"v_and_b32 v0, s4, v3", true},
    {"v_or_b32 v0, v1, v3", true},
    {"v_xor_b32 v0, v1, v3", true},
    {"v_xor_b32 v0, v1, v1", true},
    {"v_and_or_b32 v0, v1, v3, v5", false},
    {"v_or3_b32 v0, v1, v3, v5", true},
    {"v_bfi_b32 v0, v1, v3, v5", false},
    {"v_cndmask_b32 v0, v1, v3, vcc", true},
    {"v_cndmask_b32 v0, v1, v3, s[4:5]", true},
    {"v_perm_b32 v0, v1, v3, s10", true},
    {"v_perm_b32 v0, v1, v3, v5", false},
    {"v_alignbit_b32 v0, v1, v3, 7", true},
    {"v_lshlrev_b32 v0, 5, v1", true},
    {"v_lshlrev_b32 v0, v1, v3", false},
    {"v_lshrrev_b32 v0, v1, v3", false},
    {"v_ashrrev_i32 v0, 9, v1", true},
    {"v_lshlrev_b64 v[0:1], 3, v[2:3]", true},
    {"v_ashrrev_i64 v[0:1], 30, v[2:3]", true},
    {"v_bfe_u32 v0, v1, 4, 9", true},
    {"v_bfe_i32 v0, v1, v3, 9", false},
    {"v_lshl_or_b32 v0, v1, 3, v3", true},
    {"v_swap_b32 v0, v1", true},
    {"v_add_u32 v0, v1, v3", false},
    {"v_sub_u32 v0, v1, v3", false},
    {"v_add3_u32 v0, v1, v3, v5", false},
    {"v_add_co_u32 v0, vcc, v1, v3", false},
    {"v_addc_co_u32 v0, vcc, v1, v3, vcc", false},
    {"v_subb_co_u32 v0, vcc, v1, v3, vcc", false},
    {"v_lshl_add_u32 v0, v1, 4, v3", false},
    {"v_add_lshl_u32 v0, v1, v3, 2", false},
    {"v_mul_lo_u32 v0, v1, v3", false},
    {"v_mul_hi_u32 v0, v1, v3", false},
    {"v_mul_u32_u24 v0, v1, v3", false},
    {"v_mad_u32_u24 v0, v1, v3, v5", false},
    {"v_mad_u64_u32 v[0:1], vcc, v3, v4, v[6:7]", false},
    {"v_min_u32 v0, v1, v3", false},
    {"v_max_i32 v0, v1, v3", false},
    {"v_max_i32 v0, 98, v1", false},
    {"v_med3_i32 v0, v1, v3, v5", false},
    {"v_max_i16 v0, v1, v3", false},
    {"v_add_u16 v0, v1, v3", false},
    {"v_pk_add_u16 v0, v1, v3", false},
    {"v_cmp_eq_u32 vcc, v1, v3", false},
    {"v_cmp_eq_u32 vcc, 5, v1", false},
    {"v_cmp_ne_i32 vcc, s4, v1", false},
    {"v_cmp_lt_u32 vcc, v1, v3", false},
    {"v_cmp_gt_i32 s[8:9], v1, v3", false},
    {"v_cmp_le_u64 vcc, v[2:3], v[4:5]", false},
    {"v_cmp_gt_i64 vcc, v[2:3], v[4:5]", false},
    {"v_cmp_eq_u64 vcc, v[2:3], v[4:5]", false},
    {"v_cmp_lt_i16 vcc, v1, v3", false},
    {"v_cmp_lt_f32 vcc, v1, v3", false},
    {"v_cmp_class_f32 vcc, v1, v3", false},
    {"v_cvt_f32_u32 v0, v1", false},
    {"v_cvt_f32_ubyte2 v0, v1", false},
    {"v_cvt_f64_f32 v[0:1], v3", false},
    {"v_add_f32 v0, v1, -v3", false},
    {"v_fma_f32 v0, v1, v3, v5", false},
    {"v_add_f64 v[0:1], v[2:3], v[4:5]", false},
    {"v_fma_f64 v[0:1], v[2:3], v[4:5], s[4:5]", false},
    {"v_div_fmas_f32 v0, v1, v3, v5", false},
    {"v_pk_add_f16 v0, v1, v3", false},
    {"v_pk_fma_f16 v0, v1, v3, v5 op_sel:[1,0,0] op_sel_hi:[0,1,0]", false},
    {"v_add_f16 v0, v1, v3", false},
    {"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", true},
    {"v_or_b32_sdwa v0, v1, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3", true},
    {"v_add_u32_sdwa v0, v1, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
     false},
    {"v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf", true},
    {"v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0xf", true},
    {"v_readfirstlane_b32 s8, v1", true},
    {"v_readlane_b32 s8, v1, 5", true},
    {"v_writelane_b32 v0, s4, 9", true},
    {"s_mov_b64 s[8:9], s[4:5]", true},
    {"s_and_b64 s[8:9], s[4:5], s[6:7]", true},
    {"s_or_b32 s8, s4, s6", true},
    {"s_andn2_b64 s[8:9], s[4:5], s[6:7]", true},
    {"s_cselect_b32 s8, s4, s6", true},
    {"s_cmov_b32 s8, s4", true},
    {"s_lshl_b32 s8, s4, 3", true},
    {"s_lshr_b64 s[8:9], s[4:5], s6", false},
    {"s_bfe_u32 s8, s4, 0x80004", true},
    {"s_add_u32 s8, s4, s6", false},
    {"s_addc_u32 s8, s4, s6", false},
    {"s_sub_i32 s8, s4, s6", false},
    {"s_mul_i32 s8, s4, s6", false},
    {"s_mul_hi_u32 s8, s4, s6", false},
    {"s_min_i32 s8, s4, s6", false},
    {"s_cmp_eq_u32 s4, s6", false},
    {"s_cmp_lt_i32 s4, s6", false},
    {"s_cmpk_gt_i32 s4, 100", false},
    {"s_cmp_lg_u64 s[4:5], s[6:7]", false},
    {"s_bitcmp1_b32 s4, 7", false},
    {"s_bcnt1_i32_b64 s8, s[4:5]", false},
    {"s_ff1_i32_b32 s8, s4", false},
    {"s_sext_i32_i8 s8, s4", true},
    {"s_addk_i32 s8, 77", false},
};

/* Which not all parts have. */
static const row_t rows_of_some[] = {
    {"v_lshl_add_u64 v[0:1], v[2:3], 4, v[4:5]", false},
    {"v_mov_b64 v[0:1], v[2:3]", true},
    {"v_add_nc_u32 v0, v1, v3", false},
    {"v_sub_nc_u32 v0, s4, v3", false},
    {"v_xnor_b32 v0, v1, v3", true},
    {"v_permlanex16_b32 v0, v1, 0, 0", true},
    {"v_permlane16_b32 v0, v1, 0, 0 op_sel:[1,0]", true},
    {"v_minmax_u32 v0, v1, v3, v5", false},
    {"v_dot2_f32_f16 v0, v1, v3, v5", false},
    {"v_fmaak_f32 v0, v1, v3, 0x40490fdb", false},
    {"s_and_not1_b32 s8, s4, s6", true},
    {"s_ctz_i32_b32 s8, s4", false},
    {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2", true},
    {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v0", true},
    {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0", true},
    {"v_dual_cndmask_b32 v0, v1, v2 :: v_dual_and_b32 v3, v0, v4", true},
    {"v_dual_mov_b32 v0, v1 :: v_dual_and_b32 v1, v0, v3", true},
    {"v_dual_add_f32 v0, v1, v2 :: v_dual_lshlrev_b32 v3, 5, v4", false},
    {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v0, v4", false},
    {"v_dual_fmaak_f32 v0, v1, v2, 0x3f800000 :: v_dual_add_nc_u32 v3, v0, v4", false},
    {"v_dual_fmamk_f32 v0, v1, 0x3f800000, v2 :: v_dual_sub_f32 v3, v0, v4", false},
    {"v_mac_f32 v0, v1, v3", false},
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", false},
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel_hi:[0,1,0]", false},
    {"v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel:[1,0]", false},
};

/* Of which not the name, but the form is some parts' only. */
static const struct {
  unsigned parts;
  row_t row;
} forms[] = {
    {GS_WAVE32, {"v_cmp_eq_u32 vcc_lo, v1, v3", false}},
    {GS_WAVE32, {"v_cmp_lt_i32 s8, v1, v3", false}},
    {GS_WAVE32, {"v_cndmask_b32 v0, v1, v3, vcc_lo", true}},
    {GS_WAVE32, {"v_cndmask_b32 v0, v1, v3, s4", true}},
    {GS_GFX11_W64, {"v_permlane64_b32 v0, v1", true}},
    {GS_GFX11, {"v_or3_b32 v0, v1, v4, v3 row_shr:1 row_mask:0xf bank_mask:0xf", true}},
    {GS_GFX10_UP, {"v_mov_b32_dpp v0, v1 row_share:3 row_mask:0xf bank_mask:0xf fi:1", true}},
    {GS_GFX10_UP, {"v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]", true}},
};

/* The state that an instruction reads and writes. */
typedef struct state {
  gs_row_t v[8];
  gs_scalars_t s;
  uint32_t scc;
} state_t;

typedef struct bench {
  isa_wave_t *t;
  gs_check_t *check;
  gs_wave_flow_t *f;
  gs_inst_t in;
  uint64_t random;
} bench_t;

static uint32_t next(bench_t *b) {
  b->random = b->random * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(b->random >> 32);
}

/* Few bits, many, all, or a byte. */
static uint32_t any_bits(bench_t *b) {
  switch (next(b) % 6) {
  case 0: return 1U << next(b) % 32;
  case 1: return next(b) & next(b) & next(b);
  case 2: return UINT32_MAX;
  case 3: return 0xffU << 8 * (next(b) % 4);
  case 4: return 0;
  default: return next(b);
  }
}

static void begin(bench_t *b, void **state) {
  const gs_options_t options = {.check = GS_CHECK_INIT};
  *b = (bench_t){.t = isa_new(state, ISA_PART), .random = 1};
  assert_int_equal(gs_check_create(&options, &b->check), 0);
  b->f = aligned_alloc(_Alignof(gs_wave_flow_t), sizeof *b->f);
  assert_non_null(b->f);
  b->t->env.watch = &b->check->internal; /* which tells of nothing */
}

static void end(bench_t *b) {
  free(b->f);
  b->t->env.watch = NULL;
  isa_free(b->t);
  gs_check_destroy(b->check);
}

/* Nothing is undefined. */
static void clear(bench_t *b) {
  memset(b->f, 0, sizeof *b->f);
  b->f->all = UINT64_MAX >> (64 - gs_wave_lanes(&b->t->w));
  b->t->w.flow = b->f;
}

/* Values of any kind, small ones among them, and which bits of them are undefined. */
static void set_up(bench_t *b) {
  gs_wave_t *w = &b->t->w;
  clear(b);
  for (unsigned r = 0; r < 8; r++) {
    const bool some = next(b) % 2;
    const unsigned every = next(b) % 3 ? 1 : 8; /* lanes, so that the active ones may be without */
    for (unsigned l = 0; l < GS_LANES; l++) {
      w->v[r].u32[l] = next(b) % 3 ? next(b) : next(b) % 8;
      b->f->bits[r].u32[l] = some && l < gs_wave_lanes(w) && l % every == 0 ? any_bits(b) : 0;
      b->f->origin[r].u32[l] = 1;
    }
    gs_flow_settle(b->f, r);
  }
  for (unsigned r = 4; r < 10; r++) {
    w->s.u32[r] = next(b) % 3 ? next(b) : next(b) % 8;
    gs_flow_set_scalar(b->f, r, next(b) % 2 ? any_bits(b) : 0, 1);
  }
  w->s.u64[GS_S_VCC / 2] = next(b) | (uint64_t)next(b) << 32;
  gs_flow_set_scalar(b->f, GS_S_VCC, next(b) % 2 ? any_bits(b) : 0, 1);
  gs_flow_set_scalar(b->f, GS_S_VCC + 1, next(b) % 2 ? any_bits(b) : 0, 1);
  w->scc = next(b) % 2;
  b->f->scc = next(b) % 4 == 0;
  b->f->scc_origin = 1;
  const uint64_t exec[] = {UINT64_MAX, next(b) | (uint64_t)next(b) << 32, UINT64_C(1) << next(b) % 32};
  gs_set_exec(w, exec[next(b) % 3]);
}

static void save(const gs_wave_t *w, state_t *state) {
  memcpy(state->v, w->v, sizeof state->v);
  state->s = w->s;
  state->scc = w->scc;
}
static void restore(gs_wave_t *w, const state_t *state) {
  memcpy(w->v, state->v, sizeof state->v);
  w->s = state->s;
  w->scc = state->scc;
}

/* The undefined bits as the tool has them. */
static void save_bits(const gs_wave_flow_t *f, state_t *bits) {
  memset(bits, 0, sizeof *bits);
  for (unsigned r = 0; r < 8; r++)
    if (f->rows[0] >> r & 1)
      bits->v[r] = f->bits[r];
  for (unsigned r = 0; r < GS_S_EXEC; r++)
    bits->s.u32[r] = f->scalars[r / 64] >> r % 64 & 1 ? f->s[r] : 0;
  bits->scc = f->scc;
}

/* What changes in the results when undefined bits of the operands do. */
static void find_changes(bench_t *b, const state_t *values, const state_t *undefined, state_t *changes) {
  gs_wave_t *w = &b->t->w;
  state_t first = {0}, now;
  memset(changes, 0, sizeof *changes);
  for (unsigned choice = 0; choice < CHOICES; choice++) {
    now = *values;
    for (unsigned r = 0; r < 8; r++)
      for (unsigned l = 0; l < GS_LANES; l++)
        now.v[r].u32[l] ^= next(b) & undefined->v[r].u32[l];
    for (unsigned r = 0; r < GS_S_EXEC; r++)
      now.s.u32[r] ^= next(b) & undefined->s.u32[r];
    now.scc ^= next(b) & undefined->scc;
    restore(w, &now);
    b->in.fn(w, &b->in);
    save(w, choice ? &now : &first);
    if (!choice)
      continue;
    for (unsigned r = 0; r < 8; r++)
      for (unsigned l = 0; l < GS_LANES; l++)
        changes->v[r].u32[l] |= now.v[r].u32[l] ^ first.v[r].u32[l];
    for (unsigned r = 0; r < GS_S_EXEC; r++)
      changes->s.u32[r] |= now.s.u32[r] ^ first.s.u32[r];
    changes->scc |= now.scc ^ first.scc;
  }
}

static void check_bits(const row_t *row, const char *where, unsigned reg, unsigned lane, uint32_t said,
                       uint32_t changes) {
  if (changes & ~said)
    fail_msg("%s: %s%u, lane %u: bits %08x change and count as defined", row->text, where, reg, lane,
             changes & ~said);
  if (row->exact && said & ~changes)
    fail_msg("%s: %s%u, lane %u: bits %08x count as undefined and never change", row->text, where, reg, lane,
             said & ~changes);
}

static void decode_row(bench_t *b, void **state, const char *text) {
  size_t count;
  const uint32_t *words = isa_assemble(state, ISA_PART, text, &count);
  assert_true(gs_decode(b->t->w.env->target, words, count, &b->in));
  b->in.fn = gs_handler_fn(&isa_handlers(state)[b->in.op - gs_opcodes]);
}

static void run_row(bench_t *b, void **state, const row_t *row) {
  gs_wave_t *w = &b->t->w;
  state_t values, undefined, changes, said;
  gs_digest_t digest;
  decode_row(b, state, row->text);
  b->check->watch.digest(b->check, w->env->target, &b->in, &digest);
  for (unsigned round = 0; round < ROUNDS; round++) {
    set_up(b);
    save(w, &values);
    save_bits(b->f, &undefined);
    w->state = GS_WAVE_RUNNING;
    w->pc = ISA_CODE + b->in.size;
    b->check->watch.execute(w, &b->in, round % 2 ? &digest : NULL);
    save_bits(b->f, &said);
    find_changes(b, &values, &undefined, &changes);
    for (unsigned r = 0; r < 8; r++)
      for (unsigned l = 0; l < GS_LANES; l++)
        check_bits(row, "v", r, l, said.v[r].u32[l], changes.v[r].u32[l]);
    for (unsigned r = 0; r < GS_S_EXEC; r++)
      check_bits(row, "s", r, 0, said.s.u32[r], changes.s.u32[r]);
    /* Whether a result is 0 takes one choice in many. */
    const row_t of_scc = {row->text, false};
    check_bits(&of_scc, "scc", 0, 0, said.scc, changes.scc);
  }
}

static void test_undefined_bits(void **state) {
  bench_t b;
  begin(&b, state);
  if (isa_part(state) & GS_GFX9) {
    isa_prepare(state, ISA_PART, &rows[0].text, sizeof rows[0], sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      run_row(&b, state, &rows[i]);
  }
  for (size_t i = 0; i < sizeof rows_of_some / sizeof *rows_of_some; i++)
    if (isa_has(state, ISA_PART, rows_of_some[i].text))
      run_row(&b, state, &rows_of_some[i]);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (isa_part(state) & forms[i].parts)
      run_row(&b, state, &forms[i].row);
  end(&b);
}

/* Parts of operands that are undefined, and what of the results is then: not more. */
typedef struct part_row {
  const char *text;
  unsigned reg;
  uint32_t bits, result[2]; /* of v[reg]; of v0 and v1 */
} part_row_t;
static const part_row_t part_rows[] = {
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel_hi:[0,0,0]", 5, UINT32_MAX, {0, 0}},
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 5, 16, {0, UINT32_MAX}},
    {"v_pk_add_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]", 5, 16, {UINT32_MAX, UINT32_MAX}},
    {"v_pk_mul_f16 v0, v1, v3 op_sel_hi:[1,0]", 3, 0xffff0000, {0, 0}},
    {"v_pk_mul_f16 v0, v1, v3", 3, 0xffff0000, {0xffff0000, 0}},
    {"v_pk_fma_f16 v0, v2, v3, v5", 5, 1, {0xffff, 0}},
};

static void test_parts_that_are_not_used(void **state) {
  bench_t b;
  begin(&b, state);
  for (size_t i = 0; i < sizeof part_rows / sizeof *part_rows; i++) {
    const part_row_t *row = &part_rows[i];
    state_t said;
    if (!isa_has(state, ISA_PART, row->text))
      continue;
    decode_row(&b, state, row->text);
    clear(&b);
    for (unsigned l = 0; l < GS_LANES; l++)
      b.f->bits[row->reg].u32[l] = row->bits;
    gs_flow_settle(b.f, row->reg);
    gs_set_exec(&b.t->w, UINT64_MAX);
    b.t->w.pc = ISA_CODE + b.in.size;
    b.check->watch.execute(&b.t->w, &b.in, NULL);
    save_bits(b.f, &said);
    for (unsigned k = 0; k < 2; k++)
      if (said.v[k].u32[7] != row->result[k])
        fail_msg("%s: v%u: bits %08x count as undefined, not %08x", row->text, k, said.v[k].u32[7],
                 row->result[k]);
  }
  end(&b);
}

/* What comes from another lane has that one's origin; v1 chooses it, or the instruction does. */
static const char *const exchanges[] = {
    "ds_bpermute_b32 v3, v1, v2",
    "ds_bpermute_b32 v1, v1, v2",
    "ds_bpermute_b32 v2, v1, v2",
    "ds_permute_b32 v2, v1, v2",
    "ds_swizzle_b32 v2, v2 offset:swizzle(SWAP,1)",
    "v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "v_max_f32_dpp v2, v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "v_permlane16_b32 v3, v2, s5, s6",
};
enum { FIRST_ORIGIN = 100 };

/* v2 is undefined, with an origin for each lane; v1 has addresses of neighbours. */
static void set_up_exchange(bench_t *b) {
  gs_wave_t *w = &b->t->w;
  clear(b);
  for (unsigned l = 0; l < gs_wave_lanes(w); l++) {
    w->v[1].u32[l] = 4 * (l ^ 1);
    b->f->bits[2].u32[l] = UINT32_MAX;
    b->f->origin[2].u32[l] = FIRST_ORIGIN + l;
  }
  gs_flow_settle(b->f, 2);
  w->s.u32[5] = 0x67452301; /* and so has v_permlane16, four bits each */
  w->s.u32[6] = 0xefcdab89;
  gs_set_exec(w, UINT64_MAX);
  w->pc = ISA_CODE + b->in.size;
}

static void test_origins_come_from_the_lane(void **state) {
  bench_t b;
  begin(&b, state);
  for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
    if (!isa_has(state, ISA_PART, exchanges[i]))
      continue;
    decode_row(&b, state, exchanges[i]);
    set_up_exchange(&b);
    b.check->watch.execute(&b.t->w, &b.in, NULL);
    for (unsigned l = 0; l < 8; l++)
      if (b.f->origin[b.in.dst].u32[l] != FIRST_ORIGIN + (l ^ 1))
        fail_msg("%s: lane %u has origin %u, not %u", exchanges[i], l, b.f->origin[b.in.dst].u32[l],
                 FIRST_ORIGIN + (l ^ 1));
  }
  end(&b);
}

/* A register that was never written is one origin, though an inactive lane of it has another. */
static void test_origins_of_active_lanes(void **state) {
  bench_t b;
  begin(&b, state);
  decode_row(&b, state, "v_max_f32 v0, v2, v1");
  set_up_exchange(&b);
  for (unsigned l = 1; l < GS_LANES; l++)
    b.f->origin[2].u32[l] = 0;
  gs_set_exec(&b.t->w, UINT64_MAX << 1);
  b.check->watch.execute(&b.t->w, &b.in, NULL);
  assert_int_not_equal(b.f->origin[0].u32[5], 0);
  assert_int_not_equal(b.f->origin[0].u32[5], FIRST_ORIGIN);
  end(&b);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_undefined_bits, GS_GFX9_11), isa_part_test(test_parts_that_are_not_used),
      isa_part_test(test_origins_come_from_the_lane), isa_part_test(test_origins_of_active_lanes)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
