/* What gfx10 and gfx11 have from gfx9: each opcode that shares its meaning with one of gfx9 must do in a wave
 * of 64 lanes what that one does. Both are assembled from their own names, with the same operands; what gfx9
 * does is compared with arithmetic elsewhere, and what waves of 32 lanes do with these (test_wave32.c).
 *
 * Not here: opcodes that gfx9 lacks, and what works otherwise there: branches, messages, private memory. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 160, ROUNDS = 6, OLD_PARTS = 5, MANY_LANES_OFF = 3 };
/* Registers of operands: scalars that an instruction reads, and that it writes; vectors. */
enum { S_BASE = 4, S_FIRST = 12, S_NEXT = 4, S_DST = 32, V_DST = 0, V_FIRST = 8 };

typedef struct twins {
  size_t row, old_row;
  gs_target_t old; /* the part that has old_row */
  char text[TEXT], old_text[TEXT];
} twins_t;

/* ---- Texts ---- */

typedef struct list {
  char *text;
  size_t at;
  bool begun;
} list_t;

static void add(list_t *l, const char *text) {
  l->at += (size_t)snprintf(l->text + l->at, TEXT - l->at, "%s%s", l->begun ? ", " : " ", text);
  l->begun = true;
}
static void add_register(list_t *l, char file, unsigned reg, unsigned dwords) {
  char text[32];
  if (dwords > 1)
    (void)snprintf(text, sizeof text, "%c[%u:%u]", file, reg, reg + dwords - 1);
  else
    (void)snprintf(text, sizeof text, "%c%u", file, reg);
  add(l, text);
}
static void finish(list_t *l, const char *text) {
  l->at += (size_t)snprintf(l->text + l->at, TEXT - l->at, "%s", text);
}

static unsigned dwords_of(unsigned type) {
  return type == GS_T_MASK ? 2 : gs_type_dwords((gs_type_t)type);
}

/* SOP1, SOP2, SOPC, SOPK, SMEM. */
static bool spell_scalar(list_t *l, const gs_opcode_t *op) {
  if (op->dst != GS_T_NONE)
    add_register(l, 's', S_DST, dwords_of(op->dst));
  for (unsigned i = 0; i < 3 && op->src[i] != GS_T_NONE; i++) {
    const bool memory = op->encoding == GS_ENC_SMEM;
    if (op->src[i] == GS_T_SIMM16 || (memory && i == 1))
      add(l, "0x40");
    else if (op->src[i] == GS_T_HWREG || op->src[i] == GS_T_BRANCH || op->src[i] == GS_T_K32)
      return false;
    else
      add_register(l, 's', memory ? S_BASE : S_FIRST + S_NEXT * i, dwords_of(op->src[i]));
  }
  return op->dst != GS_T_PROBE && (op->encoding != GS_ENC_SMEM || op->dst != GS_T_NONE);
}

/* SOPP. Branches go over one instruction of the two that follow. */
static void spell_control(list_t *l, const gs_opcode_t *op) {
  if (op->src[0] != GS_T_NONE)
    add(l, "1");
  finish(l, op->src[0] == GS_T_BRANCH ? "\ns_nop 0\ns_nop 0" : "");
}

/* VOP1, VOP2, VOPC, VOP3, VOP3P. */
static void spell_vector(list_t *l, const gs_opcode_t *op, gs_target_t part) {
  if (op->encoding == GS_ENC_VOPC) {
    if (!(op->flags & GS_OPF_CMPX) || (part & GS_GFX9))
      add(l, "vcc");
  } else if (op->flags & GS_OPF_SCALAR_DST)
    add_register(l, 's', S_DST, dwords_of(op->dst));
  else if (op->dst != GS_T_NONE)
    add_register(l, 'v', V_DST, dwords_of(op->dst));
  if (op->flags & GS_OPF_SDST)
    add(l, "vcc");
  for (unsigned i = 0; i < 3 && op->src[i] != GS_T_NONE; i++)
    if (op->src[i] == GS_T_K32)
      add(l, op->src[0] == GS_T_F16 ? "0x4248" : "0x40490fdb");
    else if (op->src[i] == GS_T_MASK)
      add(l, "vcc");
    else if (op->src[i] == GS_T_LANE || strcmp(op->name, "v_writelane_b32") == 0)
      add(l, "s13");
    else
      add_register(l, 'v', V_FIRST + 8 * i, dwords_of(op->src[i]));
}

static void spell_ds(list_t *l, const gs_opcode_t *op) {
  if (op->dst != GS_T_NONE)
    add_register(l, 'v', V_DST, dwords_of(op->dst));
  for (unsigned i = 0; i < 3; i++)
    if (op->src[i] != GS_T_NONE)
      add_register(l, 'v', V_FIRST + 8 * i, dwords_of(op->src[i]));
  if (op->src[0] != GS_T_NONE || op->src[1] != GS_T_NONE || op->dst != GS_T_NONE)
    finish(l, op->flags & GS_OPF_TWO_ADDR ? " offset0:1 offset1:3" : " offset:16");
}

static void spell_flat(list_t *l, const gs_opcode_t *op) {
  const bool atomic = op->flags & GS_OPF_ATOMIC, returns = op->dst != GS_T_NONE;
  if (returns)
    add_register(l, 'v', V_DST, dwords_of(op->dst));
  add_register(l, 'v', V_FIRST, 2);
  if (op->src[1] != GS_T_NONE)
    add_register(l, 'v', V_FIRST + 8, dwords_of(op->src[1]));
  if (op->encoding == GS_ENC_GLOBAL)
    add(l, "off");
  finish(l, " offset:16");
  finish(l, atomic && returns ? " glc" : "");
}

static void spell_buffer(list_t *l, const gs_opcode_t *op, gs_target_t part) {
  add_register(l, 'v', V_DST, dwords_of(op->dst));
  add(l, "v8, s[4:7], 0");
  if (op->encoding == GS_ENC_MTBUF)
    finish(l, part & GS_GFX9 ? " format:[BUF_DATA_FORMAT_32_32_32_32,BUF_NUM_FORMAT_FLOAT]"
                             : " format:[BUF_FMT_32_32_32_32_FLOAT]");
  finish(l, " offen offset:16");
  finish(l, op->flags & GS_OPF_ATOMIC ? " glc" : "");
}

/* The instruction with operands that all parts have. Returns false for what is not compared here. */
static bool spell(char text[TEXT], const gs_opcode_t *op, gs_target_t part) {
  static const char new_norm[] = "v_cvt_pk_norm_"; /* LLVM 16 has the old name for all parts */
  const bool norm = strncmp(op->name, new_norm, sizeof new_norm - 1) == 0;
  list_t l = {text, 0, false};
  l.at = (size_t)snprintf(text, TEXT, "%s%s", norm ? "v_cvt_pknorm_" : "",
                          op->name + (norm ? sizeof new_norm - 1 : 0));
  const bool literal = op->src[1] == GS_T_K32 || op->src[2] == GS_T_K32;
  const uint32_t of_memory = op->encoding < GS_ENC_DS ? 0 : GS_OPF_GDS | GS_OPF_TO_LDS;
  if (op->flags & (GS_OPF_ILLEGAL | GS_OPF_MFMA | of_memory))
    return false;
  switch (op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPC:
  case GS_ENC_SOPK:
  case GS_ENC_SMEM: return spell_scalar(&l, op);
  case GS_ENC_SOPP: spell_control(&l, op); return true;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC:
    finish(&l, literal || (op->flags & GS_OPF_NO_VOP3) || op->dst == GS_T_NONE ? "" : "_e32");
    spell_vector(&l, op, part);
    return true;
  case GS_ENC_VOP3:
  case GS_ENC_VOP3P: spell_vector(&l, op, part); return true;
  case GS_ENC_DS: spell_ds(&l, op); return true;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL: spell_flat(&l, op); return op->src[0] != GS_T_NONE;
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: spell_buffer(&l, op, part); return op->src[1] != GS_T_NONE;
  default: return false;
  }
}

/* ---- Pairs ---- */

/* What goes elsewhere, asks for what families have in different places, or rounds differently. */
static bool is_left_out(const char *name) {
  static const char *const names[] = {"s_setpc",       "s_swappc",      "s_rfe",        "s_cbranch_join",
                                      "s_call",        "s_cbranch_g",   "s_cbranch_i_", "s_memtime",
                                      "s_memrealtime", "load_lds",      "_d16_hi_x",    "s_sendmsg",
                                      "s_trap",        "s_set_gpr_idx", "v_fma_mixlo",  "v_fma_mixhi"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(name, names[i]))
      return true;
  return false;
}

/* Of two NaNs gfx11 takes another one than gfx9. */
static bool is_choice_of_floats(const char *name) {
  static const char *const names[] = {"v_min_f",  "v_max_f",    "v_min3_f",  "v_max3_f",
                                      "v_med3_f", "v_pk_min_f", "v_pk_max_f"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strncmp(name, names[i], strlen(names[i])))
      return true;
  return false;
}

/* Whether they have operands of the same widths in the same places. */
static bool same_shape(const gs_opcode_t *a, const gs_opcode_t *b) {
  bool same = dwords_of(a->dst) == dwords_of(b->dst) && !((a->flags ^ b->flags) & GS_OPF_NO_RTN);
  for (unsigned i = 0; i < 3; i++)
    same = same && dwords_of(a->src[i]) == dwords_of(b->src[i]) &&
           (a->src[i] == GS_T_K32) == (b->src[i] == GS_T_K32);
  return same;
}

/* An opcode of gfx9 with the same handler, which stands for what it means. */
static bool find_old(const gs_handler_t *handlers, twins_t *t) {
  /* gfx900 first: later ones clear half a register where it, gfx10 and gfx11 keep it. */
  static const gs_target_t old[OLD_PARTS] = {GS_GFX900, GS_GFX908, GS_GFX906, GS_GFX90A, GS_GFX942};
  for (unsigned i = 0; i < OLD_PARTS; i++)
    for (size_t row = 0; row < gs_opcode_count; row++)
      if ((gs_opcodes[row].targets & old[i]) &&
          gs_handler_fn(&handlers[row]) == gs_handler_fn(&handlers[t->row]) &&
          same_shape(&gs_opcodes[row], &gs_opcodes[t->row])) {
        t->old_row = row;
        t->old = old[i];
        return true;
      }
  return false;
}

/* All pairs of the part; returns how many. */
static size_t find_twins(void **state, twins_t *twins) {
  const gs_handler_t *const handlers = isa_handlers(state);
  const gs_target_t part = isa_part(state);
  size_t count = 0;
  for (size_t row = 0; row < gs_opcode_count; row++) {
    const gs_opcode_t *const op = &gs_opcodes[row];
    twins_t *const t = &twins[count];
    t->row = row;
    if ((op->targets & part) && !is_left_out(op->name) && find_old(handlers, t) && spell(t->text, op, part) &&
        spell(t->old_text, &gs_opcodes[t->old_row], t->old))
      count++;
  }
  return count;
}

/* ---- Running them ---- */

/* Operands of one round: random ones, or edges of integers and floats of each width. */
static void set_vectors(isa_wave_t *t, unsigned round) {
  for (unsigned i = 0; i < 3; i++) {
    gs_row_t *const v = &t->v[V_FIRST + 8 * i];
    const size_t repeat = i == 1 ? 7 : 1;
    switch (round) {
    case 1: isa_fill32(v, isa_u32_edges, isa_u32_edge_count, repeat, i); break;
    case 2: isa_fill32(v, isa_f32_edges, isa_f32_edge_count, repeat, i); break;
    case 3: isa_fill32(v, isa_f16_edges, isa_f16_edge_count, repeat, i); break;
    case 4: isa_fill64(v, isa_f64_edges, isa_f64_edge_count, repeat, i); break;
    case 5: isa_fill64(v, isa_u64_edges, isa_u64_edge_count, repeat, i); break;
    default: break;
    }
  }
}

/* Addresses, and a buffer of floats as the part describes it. */
static void set_addresses(isa_wave_t *t, const gs_opcode_t *op) {
  const gs_target_t part = t->env.target;
  const bool near = op->encoding == GS_ENC_DS || op->encoding == GS_ENC_MUBUF || op->encoding == GS_ENC_MTBUF;
  const bool far = op->encoding == GS_ENC_FLAT || op->encoding == GS_ENC_GLOBAL;
  for (unsigned l = 0; l < GS_LANES; l++)
    if (strstr(op->name, "permute_b32")) /* lanes of the same half, between which alone gfx10 exchanges */
      t->v[V_FIRST].u32[l] = 4 * ((l & 32) | 3 * l % 28);
    else if (near)
      t->v[V_FIRST].u32[l] = 64 * (l ^ 5);
    else if (far)
      isa_set_u64(&t->v[V_FIRST], l, ISA_MEMORY + 64 * (l ^ 5));
  isa_set_s64(t, S_BASE, ISA_MEMORY);
  t->w.s.u32[S_BASE + 2] = ISA_MEMORY_BYTES;
  t->w.s.u32[S_BASE + 3] = part & GS_GFX9    ? 0xfac | 7 << 12 | 14 << 15
                           : part & GS_GFX10 ? 0xfacu | 77 << 12 | 1 << 24 | 3 << 28
                                             : 0xfacu | 63 << 12 | 3 << 28;
  t->w.s.u32[GS_S_M0] = op->encoding == GS_ENC_DS ? 64 : 2;
}

/* Leaves NaNs of any width to the first operand. */
static void keep_first_nans(isa_wave_t *t) {
  const uint32_t below_greatest = 0xbfffbfff; /* exponents, of any width */
  for (unsigned r = V_FIRST + 8; r < V_FIRST + 24; r++)
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[r].u32[l] &= below_greatest;
}

static void prepare(isa_wave_t *t, const gs_opcode_t *op, unsigned round) {
  isa_reset(t, round);
  set_vectors(t, round);
  if (is_choice_of_floats(op->name))
    keep_first_nans(t);
  set_addresses(t, op);
  t->w.s.u32[13] = round * 13; /* a lane number */
  if (round == MANY_LANES_OFF)
    isa_set_s64(t, GS_S_EXEC, UINT64_C(0x8421f00f12345678));
}

/* Floats that become halves: gfx11 does not round them, so that they may have one less in the last place. */
static bool is_truncated(const isa_wave_t *a, const gs_opcode_t *op, uint32_t is, uint32_t expected) {
  if (!(a->env.target & GS_GFX11) || !strstr(op->name, "_load_d16_") || !strstr(op->name, "format"))
    return false;
  const uint32_t less = expected - is;
  return less == 1 || less == 0x10000 || less == 0x10001;
}

static void compare_results(const isa_wave_t *a, const isa_wave_t *b, const twins_t *t) {
  const gs_opcode_t *const op = &gs_opcodes[t->row], *const old = &gs_opcodes[t->old_row];
  const bool keeps = op->flags & GS_OPF_PRESERVE_HI, kept = old->flags & GS_OPF_PRESERVE_HI;
  for (unsigned r = 0; r < GS_ARCH_VGPRS; r++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      uint32_t expected = b->v[r].u32[l];
      if (expected != b->before.v[r].u32[l] && keeps != kept)
        expected = (expected & 0xffff) | (keeps ? b->before.v[r].u32[l] & 0xffff0000 : 0);
      if (a->v[r].u32[l] != expected && !is_truncated(a, op, a->v[r].u32[l], expected))
        fail_msg("%s (%s of %s), v%u lane %u: 0x%08x, not 0x%08x", t->text, t->old_text,
                 gs_target_name(t->old), r, l, a->v[r].u32[l], expected);
    }
  for (unsigned r = 0; r < 128; r++) {
    const bool other = r == S_BASE + 3 || r == GS_S_M0 + 1 || (r >= 102 && r < 106) ||
                       ((op->flags & GS_OPF_CMPX) && r / 2 == GS_S_VCC / 2);
    if (!other && a->w.s.u32[r] != b->w.s.u32[r])
      fail_msg("%s (%s), scalar register %u: 0x%08x, not 0x%08x", t->text, t->old_text, r, a->w.s.u32[r],
               b->w.s.u32[r]);
  }
  if (a->w.scc != b->w.scc || a->w.mode != b->w.mode || a->w.state != b->w.state || a->steps != b->steps ||
      a->w.pc - a->code_bytes != b->w.pc - b->code_bytes)
    fail_msg("%s (%s): SCC, MODE, state or PC differ", t->text, t->old_text);
  if (memcmp(a->memory, b->memory, sizeof a->memory) != 0 || memcmp(a->lds, b->lds, sizeof a->lds) != 0)
    fail_msg("%s (%s): memory differs", t->text, t->old_text);
}

static void run_twins(isa_wave_t *a, isa_wave_t *old[], const twins_t *t) {
  isa_wave_t *const b = old[__builtin_ctz((unsigned)t->old)];
  for (unsigned round = 0; round < ROUNDS; round++) {
    prepare(a, &gs_opcodes[t->row], round);
    prepare(b, &gs_opcodes[t->old_row], round);
    (void)isa_run(b, t->old_text);
    (void)isa_run(a, t->text);
    compare_results(a, b, t);
  }
}

static void test_twins(void **state) {
  enum { LEAST = 500 };
  twins_t *const twins = calloc(gs_opcode_count, sizeof *twins);
  const char **const texts = calloc(gs_opcode_count, sizeof *texts);
  isa_wave_t *a = isa_new(state, ISA_PART), *old[8] = {NULL};
  assert_non_null(twins);
  assert_non_null(texts);
  const size_t count = find_twins(state, twins);
  print_message("%s: %zu opcodes as gfx9 has them\n", gs_target_name(isa_part(state)), count);
  assert_in_range(count, LEAST, gs_opcode_count);
  for (unsigned p = 0; p < GS_TARGET_COUNT; p++) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
      if (gs_targets[p] == isa_part(state) || gs_targets[p] == twins[i].old)
        texts[n++] = gs_targets[p] == twins[i].old ? twins[i].old_text : twins[i].text;
    if (n && (gs_targets[p] & GS_GFX9))
      old[__builtin_ctz((unsigned)gs_targets[p])] = isa_new(state, gs_targets[p]);
    isa_prepare(state, gs_targets[p], texts, sizeof *texts, n);
  }
  for (size_t i = 0; i < count; i++)
    run_twins(a, old, &twins[i]);
  for (unsigned i = 0; i < 8; i++)
    if (old[i])
      isa_free(old[i]);
  isa_free(a);
  free(texts);
  free(twins);
}

/* ---- What gfx9 lacks ---- */

/* Which operand's payload a NaN has, no public text says. */
static bool is_nan(uint32_t x) {
  return (x & 0x7fffffff) > 0x7f800000;
}

/* Opcodes that are others put together, or others with less: both texts give the same v0. MODE flushes
 * floats, as the fused multiply-add for DirectX 9 does always. */
static void test_compositions(void **state) {
  static const char *const texts[][2] = {
      {"v_fmac_f16_e32 v0, v8, v16", "v_fma_f16 v0, v8, v16, v0"},
      {"v_fmamk_f16 v0, v8, 0x4248, v24", "v_fma_f16 v0, v8, 0x4248, v24"},
      {"v_fmaak_f16 v0, v8, v16, 0x4248", "v_fma_f16 v0, v8, v16, 0x4248"},
      {"v_xor3_b32 v0, v8, v16, v24", "v_xor_b32 v1, v8, v16\nv_xor_b32 v0, v1, v24"},
      {"v_fma_legacy_f32 v0, v8, v16, 0x80000000", "v_mul_legacy_f32 v0, v8, v16"},
      {"v_fmac_legacy_f32_e32 v0, v8, v16", "v_fma_legacy_f32 v0, v8, v16, v0"},
      {"v_fma_dx9_zero_f32 v0, v8, v16, 0x80000000", "v_mul_dx9_zero_f32 v0, v8, v16"},
      {"v_fmac_dx9_zero_f32_e32 v0, v8, v16", "v_fma_dx9_zero_f32 v0, v8, v16, v0"},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (unsigned round = 0; round < ROUNDS && isa_has(state, ISA_PART, texts[i][0]); round++) {
      (void)isa_assemble(state, ISA_PART, texts[i][1], &(size_t){0});
      prepare(t, &gs_opcodes[0], round);
      gs_wave_set_mode(&t->w, 0x3c0);
      (void)isa_run(t, texts[i][0]);
      const gs_row_t result = t->v[0];
      const bool float_result = strstr(texts[i][0], "_f32");
      isa_assert_only_changed(t, "v0");
      prepare(t, &gs_opcodes[0], round);
      gs_wave_set_mode(&t->w, 0x3c0);
      (void)isa_run(t, texts[i][1]);
      for (unsigned l = 0; l < GS_LANES; l++)
        if (result.u32[l] != t->v[0].u32[l] &&
            !(float_result && is_nan(result.u32[l]) && is_nan(t->v[0].u32[l])))
          fail_msg("%s, lane %u: 0x%08x, not 0x%08x", texts[i][0], l, result.u32[l], t->v[0].u32[l]);
    }
  isa_free(t);
}

/* Changes of half of EXEC, against those of all of it. */
static void test_half_exec(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  unsigned count = 0;
  for (size_t row = 0; row < gs_opcode_count; row++) {
    const gs_opcode_t *const op = &gs_opcodes[row];
    char narrow[TEXT], wide[TEXT];
    const char *const end = strstr(op->name, "exec_b32");
    if (!(op->targets & isa_part(state)) || !end)
      continue;
    (void)snprintf(narrow, TEXT, "%s s32, s12", op->name);
    (void)snprintf(wide, TEXT, "%.*sexec_b64 s[34:35], s[12:13]", (int)(end - op->name), op->name);
    (void)isa_assemble(state, ISA_PART, wide, &(size_t){0});
    for (unsigned round = 0; round < ROUNDS; round++) {
      prepare(t, op, round);
      t->w.s.u32[GS_S_EXEC] = round ? 0x12345678 * round : 0;
      t->w.s.u32[13] = 0;
      (void)isa_run(t, narrow);
      isa_assert_only_changed(t, "s32 exec scc");
      const uint32_t saved = t->w.s.u32[32], exec = t->w.s.u32[GS_S_EXEC];
      assert_int_equal(t->w.scc, exec != 0);
      assert_int_equal(t->w.s.u32[GS_S_EXEC + 1], t->before.w.s.u32[GS_S_EXEC + 1]);
      t->w.s.u32[GS_S_EXEC] = t->before.w.s.u32[GS_S_EXEC];
      (void)isa_run(t, wide);
      assert_int_equal(saved, t->w.s.u32[34]);
      assert_int_equal(exec, t->w.s.u32[GS_S_EXEC]);
    }
    count++;
  }
  assert_in_range(count, 8, 16);
  isa_free(t);
}

/* Hints, and waits where nothing is late. */
static void test_without_effect(void **state) {
  static const char *const texts[] = {
      "s_waitcnt_vscnt null, 0",
      "s_waitcnt_vmcnt null, 0",
      "s_waitcnt_expcnt null, 0",
      "s_waitcnt_lgkmcnt null, 0",
      "s_inst_prefetch 1",
      "s_clause 1",
      "s_waitcnt_depctr 0xffe3",
      "s_ttracedata_imm 1",
      "s_gl1_inv",
      "s_dcache_inv",
      "buffer_gl0_inv",
      "buffer_gl1_inv",
      "s_version 1",
      "s_wait_idle",
      "v_pipeflush",
      "s_atc_probe 1, s[2:3], 0x40",
      "s_atc_probe_buffer 1, s[4:7], 0x40",
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (isa_has(state, ISA_PART, texts[i])) {
      assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
      isa_assert_only_changed(t, "");
    }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_twins, GS_GFX1030 | GS_GFX1100),
      isa_part_test_on(test_compositions, GS_GFX1030 | GS_GFX1100),
      isa_part_test_on(test_half_exec, GS_GFX1030 | GS_GFX1100),
      isa_part_test_on(test_without_effect, GS_GFX1030 | GS_GFX1100),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
