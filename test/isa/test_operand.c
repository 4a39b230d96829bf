/* How vector instructions fetch operands and write destinations: constants, SDWA, DPP, op_sel, sign
 * modifiers, EXEC, and GPR indexing. Each against a plain model: bytes of registers for SDWA, lanes moved
 * one by one for DPP.
 * Not here: what instructions compute; those used here only add, move, and compare. */
#include "form_model.h"

#include "isa/memory.h"

#include <stdio.h>
#include <string.h>

static const uint64_t exec_masks[] = {UINT64_MAX, UINT64_C(0x0123456789abcdef), UINT64_C(0xffff0000ffff),
                                      0,          UINT64_C(0x5555555555555555), UINT64_C(1) << 63};
enum { EXEC_MASKS = sizeof exec_masks / sizeof exec_masks[0] };

/* Words of one instruction, to be changed field by field. */
static void assemble(void **state, const char *text, uint32_t words[2]) {
  size_t count;
  const uint32_t *found = isa_assemble(state, ISA_PART, text, &count);
  assert_int_equal(count, 2);
  memcpy(words, found, 2 * sizeof *words);
}

/* Texts that differ in numbers, assembled together. */
enum { MOST_TEXTS = 128, TEXT_BYTES = 256 };
typedef struct texts {
  char text[MOST_TEXTS][TEXT_BYTES];
  const char *list[MOST_TEXTS];
  unsigned count;
} texts_t;

static void add_text(texts_t *all, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(texts_t *all, const char *format, ...) {
  va_list arguments;
  assert_true(all->count < MOST_TEXTS);
  va_start(arguments, format);
  const int n = vsnprintf(all->text[all->count], TEXT_BYTES, format, arguments);
  va_end(arguments);
  assert_in_range(n, 1, TEXT_BYTES - 1);
  all->list[all->count] = all->text[all->count];
  all->count++;
}
static void prepare_texts(void **state, const texts_t *all) {
  isa_prepare(state, ISA_PART, all->list, sizeof all->list[0], all->count);
}

static uint32_t with_field(uint32_t word, unsigned low, unsigned bits, uint32_t value) {
  const uint32_t mask = ((1u << bits) - 1) << low;
  return (word & ~mask) | value << low;
}

/* ---- SDWA ---- */

static void patch_sdwa(uint32_t words[2], const sdwa_t *s) {
  uint32_t w = words[1];
  w = with_field(w, 8, 3, s->dst_sel);
  w = with_field(w, 11, 2, s->dst_unused);
  w = with_field(w, 16, 3, s->src_sel[0]);
  w = with_field(w, 19, 1, s->sext[0]);
  w = with_field(w, 24, 3, s->src_sel[1]);
  words[1] = with_field(w, 27, 1, s->sext[1]);
}

/* Fields are where the assembler puts them. */
static void test_sdwa_encoding(void **state) {
  const char *const name = isa_part(state) & GS_GFX9 ? "v_add_u32_sdwa" : "v_add_nc_u32_sdwa";
  char plain[TEXT_BYTES];
  texts_t all = {.count = 0};
  (void)snprintf(plain, sizeof plain, "%s v0, v2, v4 src0_sel:BYTE_1", name);
  for (unsigned n = 0; n < SDWA_FORMS; n += 97) {
    const sdwa_t s = nth_sdwa(n);
    add_text(&all, "%s v0, %s, %s dst_sel:%s dst_unused:%s src0_sel:%s src1_sel:%s", name,
             s.sext[0] ? "sext(v2)" : "v2", s.sext[1] ? "sext(v4)" : "v4", selection_names[s.dst_sel],
             unused_names[s.dst_unused], selection_names[s.src_sel[0]], selection_names[s.src_sel[1]]);
  }
  prepare_texts(state, &all);
  for (unsigned i = 0; i < all.count; i++) {
    const sdwa_t s = nth_sdwa(97 * i);
    uint32_t expected[2], patched[2];
    assemble(state, all.list[i], expected);
    assemble(state, plain, patched);
    patch_sdwa(patched, &s);
    assert_memory_equal(patched, expected, sizeof expected);
  }
}

/* An instruction that is run in all SDWA forms: result of two operands of `bits` bits. */
typedef struct sdwa_row {
  const char *text;
  unsigned bits;
  bool scalar; /* operand 0 is s11 */
  unsigned dst;
} sdwa_row_t;

static void check_sdwa(const isa_wave_t *t, const sdwa_row_t *row, const sdwa_t *s) {
  const uint64_t exec = gs_exec(&t->before.w);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t a = row->scalar ? t->before.w.s.u32[11] : t->before.v[2].u32[l];
    uint32_t sum =
        sdwa_read(a, s->src_sel[0], s->sext[0]) + sdwa_read(t->before.v[4].u32[l], s->src_sel[1], s->sext[1]);
    if (row->bits == 16)
      sum &= 0xffff;
    const uint32_t old = t->before.v[row->dst].u32[l];
    const uint32_t expected = exec >> l & 1 ? sdwa_write(old, sum, s->dst_sel, s->dst_unused) : old;
    if (t->v[row->dst].u32[l] != expected)
      fail_msg("%s, dst %s %s, src %s%s %s%s, lane %u: 0x%x, not 0x%x", row->text,
               selection_names[s->dst_sel], unused_names[s->dst_unused], selection_names[s->src_sel[0]],
               s->sext[0] ? " sext" : "", selection_names[s->src_sel[1]], s->sext[1] ? " sext" : "", l,
               t->v[row->dst].u32[l], expected);
  }
}

static void test_sdwa(void **state) {
  static const sdwa_row_t rows[] = {
      {"v_add_u32_sdwa v0, v2, v4 src0_sel:BYTE_1", 32, false, 0},
      {"v_add_u32_sdwa v4, s11, v4 src0_sel:BYTE_1", 32, true, 4},
      {"v_add_u16_sdwa v0, v2, v4 src0_sel:BYTE_1", 16, false, 0},
      {"v_add_nc_u32_sdwa v0, v2, v4 src0_sel:BYTE_1", 32, false, 0},
      {"v_add_nc_u32_sdwa v4, s11, v4 src0_sel:BYTE_1", 32, true, 4},
  };
  const unsigned step =
      (isa_part(state) & GS_CDNA2_4) ? 1 : 5; /* which meets all values of each field all the same */
  for (unsigned r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    if (!isa_has(state, ISA_PART, rows[r].text))
      continue;
    isa_wave_t *t = isa_new(state, ISA_PART);
    uint32_t words[2];
    assemble(state, rows[r].text, words);
    for (unsigned n = 0; n < SDWA_FORMS; n += step) {
      const sdwa_t s = nth_sdwa(n);
      patch_sdwa(words, &s);
      gs_set_exec(&t->w, exec_masks[n % EXEC_MASKS]);
      isa_run_words(t, words, 2);
      check_sdwa(t, &rows[r], &s);
      if (n / step % 64 == 0) {
        isa_assert_only_changed(t, rows[r].dst ? "v4" : "v0");
        isa_reset(t, n);
      }
    }
    isa_free(t);
  }
}

/* One operand; carries; masks as results; sign modifiers of raw values; saturation before placement. gfx10
 * has no sum that gives a carry and takes none: its VCC is empty before. */
static void test_sdwa_others(void **state) {
  const bool gfx9 = isa_part(state) & GS_GFX9;
  isa_wave_t *t = isa_new(state, ISA_PART);
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "v_mov_b32_sdwa v0, sext(v2) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2\n"
                 "%s dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1\n"
                 "v_cmp_lt_i32_sdwa s[20:21], sext(v2), sext(v4) src0_sel:BYTE_3 src1_sel:WORD_0\n"
                 "v_cmp_eq_u16_sdwa s[22:23], v2, v2 src0_sel:WORD_0 src1_sel:WORD_1\n"
                 "%s v6, v2, v4 clamp dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 src1_sel:BYTE_1\n"
                 "v_cndmask_b32_sdwa v8, -v2, |v4|, vcc dst_sel:DWORD src0_sel:WORD_1 src1_sel:DWORD",
                 gfx9 ? "v_add_co_u32_sdwa v1, vcc, v2, v4" : "v_add_co_ci_u32_sdwa v1, vcc, v2, v4, vcc",
                 gfx9 ? "v_sub_u16_sdwa" : "v_sub_nc_u32_sdwa");
  for (unsigned i = 0; i < 4 * EXEC_MASKS; i++) {
    isa_reset(t, i);
    const uint64_t exec = exec_masks[i % EXEC_MASKS];
    gs_set_exec(&t->w, exec);
    isa_set_s64(t, GS_S_VCC, 0);
    isa_run(t, text);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->before.v[2].u32[l], b = t->before.v[4].u32[l];
      const bool active = exec >> l & 1, carry = (uint64_t)a + sdwa_read(b, WORD_1, false) > UINT32_MAX;
      const bool less = (int32_t)sdwa_read(a, BYTE_3, true) < (int32_t)sdwa_read(b, WORD_0, true);
      assert_int_equal(isa_s64(t, GS_S_VCC) >> l & 1, active && carry);
      assert_int_equal(isa_s64(t, 20) >> l & 1, active && less);
      assert_int_equal(isa_s64(t, 22) >> l & 1, active && (a & 0xffff) == a >> 16);
      if (!active)
        continue;
      assert_int_equal(t->v[0].u32[l], sdwa_write(t->before.v[0].u32[l], sdwa_read(a, BYTE_2, true), WORD_1,
                                                  UNUSED_PRESERVE));
      assert_int_equal(t->v[1].u32[l], a + sdwa_read(b, WORD_1, false));
      const uint32_t x = sdwa_read(a, BYTE_0, false), y = sdwa_read(b, BYTE_1, false);
      assert_int_equal(t->v[6].u32[l], sdwa_write(0, x < y ? 0 : x - y, BYTE_1, UNUSED_SEXT));
      assert_int_equal(t->v[8].u32[l], carry ? b & 0x7fffffffu : sdwa_read(a, WORD_1, false) ^ 0x80000000u);
    }
    isa_assert_lanes_kept(t, 0, 9, exec);
    isa_assert_only_changed(t, "v0 v1 v6 v8 vcc s[20:23]");
  }
  isa_free(t);
}

/* ---- DPP ---- */

static void patch_dpp(uint32_t words[2], const dpp_t *d) {
  uint32_t w = with_field(words[1], 8, 9, d->control);
  w = with_field(w, 18, 1, d->fetch_inactive);
  w = with_field(w, 19, 1, d->bound_ctrl);
  w = with_field(w, 24, 4, d->bank_mask);
  words[1] = with_field(w, 28, 4, d->row_mask);
}

static void check_dpp_mov(const isa_wave_t *t, const dpp_t *d) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t value;
    const uint32_t expected = dpp_read(t, d, 2, l, &value) ? value : t->before.v[0].u32[l];
    if (t->v[0].u32[l] != expected)
      fail_msg(
          "v_mov_b32_dpp control 0x%x row_mask 0x%x bank_mask 0x%x bound_ctrl %d fi %d exec 0x%llx, lane "
          "%u: 0x%x, not 0x%x",
          d->control, d->row_mask, d->bank_mask, d->bound_ctrl, d->fetch_inactive,
          (unsigned long long)gs_exec(&t->before.w), l, t->v[0].u32[l], expected);
  }
}

static void test_dpp_encoding(void **state) {
  const bool gfx9 = isa_part(state) & GS_GFX9;
  const struct {
    const char *text;
    unsigned control;
    bool fetch_inactive;
  } rows[] = {
      {"quad_perm:[3,1,0,2]", 3 | 1 << 2 | 0 << 4 | 2 << 6, false},
      {"row_shl:3", 0x103, false},
      {"row_shr:15", 0x11f, false},
      {"row_ror:7", 0x127, false},
      {"wave_shl:1", 0x130, false},
      {"wave_rol:1", 0x134, false},
      {"wave_shr:1", 0x138, false},
      {"wave_ror:1", 0x13c, false},
      {"row_mirror", 0x140, false},
      {"row_half_mirror", 0x141, false},
      {"row_bcast:15", 0x142, false},
      {"row_bcast:31", 0x143, false},
      {gfx9 ? "row_newbcast:9" : "row_share:9", 0x159, false},
      {"row_xmask:6", 0x166, false},
      {"row_share:12", 0x15c, true},
  };
  uint32_t base[2], expected[2];
  assemble(state, "v_mov_b32_dpp v0, v2 row_mirror row_mask:0xf bank_mask:0xf", base);
  enum { ROWS = sizeof rows / sizeof rows[0] };
  texts_t all = {.count = 0};
  unsigned row[ROWS];
  for (unsigned i = 0; i < ROWS; i++)
    if (has_control(state, rows[i].control) && !(gfx9 && rows[i].fetch_inactive)) {
      row[all.count] = i;
      add_text(&all, "v_mov_b32_dpp v0, v2 %s row_mask:0xa bank_mask:0x3%s%s", rows[i].text,
               i % 2 ? " bound_ctrl:1" : "", rows[i].fetch_inactive ? " fi:1" : "");
    }
  prepare_texts(state, &all);
  for (unsigned i = 0; i < all.count; i++) {
    assemble(state, all.list[i], expected);
    const dpp_t d = {rows[row[i]].control, 0xa, 0x3, row[i] % 2, rows[row[i]].fetch_inactive};
    patch_dpp(base, &d);
    assert_memory_equal(base, expected, sizeof expected);
  }
}

static void test_dpp_controls(void **state) {
  const gs_target_t part = isa_part(state);
  const unsigned ways = part & GS_GFX9 ? 2 : 4;
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint32_t words[2];
  assemble(state, "v_mov_b32_dpp v0, v2 row_mirror row_mask:0xf bank_mask:0xf", words);
  unsigned existing = 0;
  for (unsigned control = 0; control < 0x200; control++) {
    if (!has_control(state, control))
      continue;
    existing++;
    for (unsigned i = 0; i < ways * EXEC_MASKS; i++) {
      const dpp_t d = {control, 0xf, 0xf, i % 2, i % ways > 1};
      patch_dpp(words, &d);
      gs_set_exec(&t->w, exec_masks[i / ways]);
      isa_run_words(t, words, 2);
      check_dpp_mov(t, &d);
    }
    isa_assert_only_changed(t, "v0");
    isa_reset(t, control);
  }
  assert_int_equal(existing, 256 + 3 * 15 + 2 +
                                 (!(part & GS_GFX9)   ? 16 + 16
                                  : part & GS_CDNA2_4 ? 4 + 2 + 16
                                                      : 4 + 2));
  isa_free(t);
}

static void test_dpp_masks(void **state) {
  static const unsigned of_gfx9[] = {0x1b, 0x101, 0x113, 0x138, 0x142, 0x143},
                        of_gfx10[] = {0x1b, 0x101, 0x113, 0x141, 0x15c, 0x167};
  const bool gfx9 = isa_part(state) & GS_GFX9;
  const unsigned *const controls = gfx9 ? of_gfx9 : of_gfx10;
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint32_t words[2];
  assemble(state, "v_mov_b32_dpp v0, v2 row_mirror row_mask:0xf bank_mask:0xf", words);
  for (unsigned masks = 0; masks < 256; masks++)
    for (unsigned i = 0; i < 4; i++) {
      const dpp_t d = {controls[(masks + i) % 6], masks >> 4, masks & 15, i % 2, !gfx9 && masks % 3 == 0};
      patch_dpp(words, &d);
      gs_set_exec(&t->w, exec_masks[i / 2]);
      isa_run_words(t, words, 2);
      check_dpp_mov(t, &d);
    }
  isa_free(t);
}

/* Controls that a part lacks do not decode. */
static void test_dpp_missing(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint32_t words[2];
  assemble(state, "v_mov_b32_dpp v0, v2 row_mirror row_mask:0xf bank_mask:0xf", words);
  for (unsigned control = 0; control < 0x200; control++) {
    if (has_control(state, control))
      continue;
    const dpp_t d = {control, 0xf, 0xf, false, false};
    patch_dpp(words, &d);
    assert_int_equal(isa_run_words(t, words, 2), GS_WAVE_FAULTED);
    isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
  }
  isa_free(t);
}

/* Operand 1 is not permuted; carries are those of all active lanes, whatever the masks, and stay as they were
 * where there is no source; a destination that is also an operand is read where it is; sign modifiers come
 * after the permutation. */
static void test_dpp_others(void **state) {
  typedef struct form {
    const char *text;
    dpp_t dpp;
  } form_t;
  static const form_t of_gfx9[] = {
      {"row_shr:1 row_mask:0xf bank_mask:0xf", {0x111, 0xf, 0xf, false, false}},
      {"row_bcast:15 row_mask:0xa bank_mask:0xf", {0x142, 0xa, 0xf, false, false}},
      {"wave_shl:1 row_mask:0xf bank_mask:0x5 bound_ctrl:1", {0x130, 0xf, 0x5, true, false}},
  };
  static const form_t of_gfx10[] = {
      {"row_shr:1 row_mask:0xf bank_mask:0xf", {0x111, 0xf, 0xf, false, false}},
      {"row_shl:2 row_mask:0xa bank_mask:0xf fi:1", {0x102, 0xa, 0xf, false, true}},
      {"row_xmask:9 row_mask:0xf bank_mask:0x5 bound_ctrl:1", {0x169, 0xf, 0x5, true, false}},
  };
  const bool gfx9 = isa_part(state) & GS_GFX9;
  const form_t *const forms = gfx9 ? of_gfx9 : of_gfx10;
  const bool dots = isa_has(state, ISA_PART, "v_dot4c_i32_i8_dpp");
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 3 * EXEC_MASKS; i++) {
    const dpp_t *d = &forms[i % 3].dpp;
    const char *const how = forms[i % 3].text;
    char text[512];
    isa_reset(t, i);
    gs_set_exec(&t->w, exec_masks[i / 3]);
    isa_set_s64(t, GS_S_VCC, UINT64_C(0x5a5a0f0f12345678));
    (void)snprintf(text, sizeof text,
                   "v_cndmask_b32_dpp v0, -v2, |v4|, vcc %s\n%s v1, v2, v4 %s\n"
                   "%s %s\n%s v8, vcc, v2, v4, vcc %s",
                   how, gfx9 ? "v_sub_u32_dpp" : "v_sub_nc_u32_dpp", how,
                   dots ? "v_dot4c_i32_i8_dpp v6, v2, v4" : "v_xor_b32_dpp v6, v2, v4", how,
                   gfx9 ? "v_addc_co_u32_dpp" : "v_add_co_ci_u32_dpp", how);
    isa_run(t, text);
    const uint64_t vcc = UINT64_C(0x5a5a0f0f12345678);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const gs_row_t *old = t->before.v;
      uint32_t a;
      const uint32_t b = old[4].u32[l];
      const dpp_t unmasked = {d->control, 0xf, 0xf, d->bound_ctrl, d->fetch_inactive};
      const bool active = exec_masks[i / 3] >> l & 1, bit = vcc >> l & 1;
      const bool found = dpp_read(t, &unmasked, 2, l, &a), written = dpp_read(t, d, 2, l, &a);
      const bool carry = found ? (uint64_t)a + b + bit > UINT32_MAX : bit;
      int32_t dot = (int32_t)old[6].u32[l];
      for (unsigned k = 0; k < 32; k += 8)
        dot = (int32_t)((uint32_t)dot + (uint32_t)((int8_t)(a >> k) * (int8_t)(b >> k)));
      assert_int_equal(t->v[0].u32[l], !written ? old[0].u32[l] : bit ? b & 0x7fffffffu : a ^ 0x80000000u);
      assert_int_equal(t->v[1].u32[l], written ? a - b : old[1].u32[l]);
      assert_int_equal(t->v[6].u32[l], !written ? old[6].u32[l] : dots ? (uint32_t)dot : a ^ b);
      assert_int_equal(t->v[8].u32[l], written ? a + b + bit : old[8].u32[l]);
      assert_int_equal(isa_s64(t, GS_S_VCC) >> l & 1, active && carry);
    }
    isa_assert_only_changed(t, "v0 v1 v6 v8 vcc");
  }
  isa_free(t);
}

/* What the sequencer reverses has its second operand permuted, as programmers of compilers found on cards. */
static uint32_t subtracted(uint32_t a, uint32_t b) {
  return b - a;
}
static uint32_t shifted_left(uint32_t a, uint32_t b) {
  return b << (a & 31);
}
static uint32_t shifted_right(uint32_t a, uint32_t b) {
  return b >> (a & 31);
}
static uint32_t shifted_signed(uint32_t a, uint32_t b) {
  const uint32_t above = b >> 31 ? ~(UINT32_MAX >> (a & 31)) : 0;
  return b >> (a & 31) | above;
}
static uint32_t subtracted16(uint32_t a, uint32_t b) {
  return (b - a) & 0xffff;
}
static uint32_t shifted_left16(uint32_t a, uint32_t b) {
  return (b << (a & 15)) & 0xffff;
}
static void test_dpp_reversed(void **state) {
  enum { EIGHT = 0 }; /* the control that stands for DPP8, with its lanes in reverse order */
  static const struct {
    const char *name, *operands;
    uint32_t (*result)(uint32_t a, uint32_t b);
  } rows[] = {
      {"v_subrev_u32_dpp", "v0, v2, v4", subtracted},
      {"v_subrev_nc_u32_dpp", "v0, v2, v4", subtracted},
      {"v_subrev_nc_u32_e64_dpp", "v0, v2, v4", subtracted},
      {"v_subrev_co_u32_dpp", "v0, vcc, v2, v4", subtracted},
      {"v_subrev_co_u32_e64_dpp", "v0, vcc, v2, v4", subtracted},
      {"v_subbrev_co_u32_dpp", "v0, vcc, v2, v4, vcc", subtracted},
      {"v_subrev_co_ci_u32_dpp", "v0, vcc, v2, v4, vcc", subtracted},
      {"v_subrev_u16_dpp", "v0, v2, v4", subtracted16},
      {"v_lshlrev_b32_dpp", "v0, v2, v4", shifted_left},
      {"v_lshrrev_b32_dpp", "v0, v2, v4", shifted_right},
      {"v_ashrrev_i32_dpp", "v0, v2, v4", shifted_signed},
      {"v_lshlrev_b16_dpp", "v0, v2, v4", shifted_left16},
  };
  static const struct {
    const char *text;
    unsigned control;
  } how[] = {{"row_ror:3 row_mask:0xf bank_mask:0xf", 0x123}, {"dpp8:[7,6,5,4,3,2,1,0]", EIGHT}};
  const gs_target_t part = isa_part(state);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned k = 0; k < (part & GS_GFX9 ? 1u : 2u); k++) {
      const bool is_long = strstr(rows[i].name, "_e64_dpp");
      char text[128];
      int from[GS_LANES];
      if (is_long ? !(part & GS_GFX11) : !isa_has(state, ISA_PART, rows[i].name))
        continue;
      (void)snprintf(text, sizeof text, "%s %s %s", rows[i].name, rows[i].operands, how[k].text);
      isa_set_s64(t, GS_S_VCC, 0);
      isa_run(t, text);
      isa_assert_only_changed(t, strstr(text, "vcc") ? "v0 vcc" : "v0");
      (void)move_lanes(0x123, from);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const unsigned other = how[k].control == EIGHT ? l ^ 7 : (unsigned)from[l];
        const bool second = dpp_operand(part, rows[i].name);
        const uint32_t a = t->before.v[2].u32[second ? l : other], b = t->before.v[4].u32[second ? other : l];
        if (t->v[0].u32[l] != rows[i].result(a, b))
          fail_msg("%s, lane %u: 0x%x, not 0x%x", text, l, t->v[0].u32[l], rows[i].result(a, b));
      }
    }
  isa_free(t);
}

/* Within groups of eight any lane reads any, or 0 from one that is inactive, unless these are read, too; all
 * active lanes are written. */
static void test_dpp8(void **state) {
  enum { MOV_V0 = 0x7e000200, DPP8 = 233, DPP8_FETCH_INACTIVE };
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 8;
  for (unsigned i = 0; i < 40 * EXEC_MASKS; i++) {
    const uint64_t exec = exec_masks[i % EXEC_MASKS];
    const uint32_t select = (uint32_t)isa_random(&seed) & 0xffffff;
    const bool fetch_inactive = i / EXEC_MASKS % 2;
    gs_set_exec(&t->w, exec);
    isa_run_words(t, (uint32_t[]){MOV_V0 | (fetch_inactive ? DPP8_FETCH_INACTIVE : DPP8), select << 8 | 2},
                  2);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const unsigned from = l / 8 * 8 + (select >> (l % 8 * 3)) % 8;
      const uint32_t value = fetch_inactive || (exec >> from & 1) ? t->before.v[2].u32[from] : 0;
      assert_int_equal(t->v[0].u32[l], exec >> l & 1 ? value : t->before.v[0].u32[l]);
    }
    isa_assert_only_changed(t, "v0");
  }
  isa_free(t);
}

/* Doubles know one control; both dwords move. The values are whole numbers, which v_trunc_f64 does not
 * change. */
static void test_dpp_double(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 3; i++) {
    isa_reset(t, i);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const double value = -123456789.0 * (l + 1);
      uint64_t bits;
      memcpy(&bits, &value, 8);
      isa_set_u64(&t->v[2], l, bits);
    }
    gs_set_exec(&t->w, exec_masks[i]);
    isa_run(t, "v_trunc_f64_dpp v[0:1], -v[2:3] row_newbcast:3 row_mask:0xd bank_mask:0xf");
    const dpp_t d = {0x153, 0xd, 0xf, false, false};
    for (unsigned l = 0; l < GS_LANES; l++) {
      uint32_t low, high;
      const bool written = dpp_read(t, &d, 2, l, &low);
      (void)dpp_read(t, &d, 3, l, &high);
      assert_int_equal(t->v[0].u32[l], written ? low : t->before.v[0].u32[l]);
      assert_int_equal(t->v[1].u32[l], written ? high ^ 0x80000000u : t->before.v[1].u32[l]);
    }
    isa_assert_only_changed(t, "v[0:1]");
  }
  isa_free(t);
}

/* ---- op_sel ---- */

static uint32_t half(uint32_t value, unsigned high) {
  return high ? value >> 16 : value & 0xffff;
}

/* All choices of halves for three 16-bit sources and a 16-bit or 32-bit result. */
static void test_op_sel(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  texts_t all = {.count = 0};
  for (unsigned n = 0; n < 16; n++) {
    const unsigned s0 = n & 1, s1 = n >> 1 & 1, s2 = n >> 2 & 1, sd = n >> 3;
    add_text(
        &all,
        "v_mad_u16 v0, v2, v4, v6 op_sel:[%u,%u,%u,%u]\nv_mad_u32_u16 v1, v2, s11, v6 op_sel:[%u,%u,0,0]\n"
        "v_sub_i16 v8, v2, v4 op_sel:[%u,%u,%u] clamp\nv_max3_i16 v9, v2, v4, -3 op_sel:[%u,%u,%u,%u]",
        s0, s1, s2, sd, s0, s1, s0, s1, sd, s0, s1, s2, sd);
  }
  prepare_texts(state, &all);
  for (unsigned n = 0; n < 16; n++) {
    const unsigned s0 = n & 1, s1 = n >> 1 & 1, s2 = n >> 2 & 1, sd = n >> 3;
    isa_reset(t, n);
    const uint64_t exec = exec_masks[n % 3];
    gs_set_exec(&t->w, exec);
    isa_run(t, all.list[n]);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const gs_row_t *old = t->before.v;
      if (!(exec >> l & 1))
        continue;
      const uint32_t a = half(old[2].u32[l], s0), b = half(old[4].u32[l], s1), c = half(old[6].u32[l], s2);
      const uint32_t mad = (a * b + c) & 0xffff;
      const int32_t x = a >= 0x8000 ? (int32_t)a - 0x10000 : (int32_t)a,
                    y = b >= 0x8000 ? (int32_t)b - 0x10000 : (int32_t)b;
      const int32_t difference = x - y < -0x8000 ? -0x8000 : x - y > 0x7fff ? 0x7fff : x - y;
      const int32_t third = s2 ? -1 : -3, pair = x > y ? x : y, most = pair > third ? pair : third;
      const uint32_t results[3] = {mad, (uint32_t)difference & 0xffff, (uint32_t)most & 0xffff};
      static const unsigned regs[3] = {0, 8, 9};
      for (unsigned i = 0; i < 3; i++) {
        const uint32_t before = old[regs[i]].u32[l];
        assert_int_equal(t->v[regs[i]].u32[l],
                         sd ? results[i] << 16 | (before & 0xffff) : results[i] | (before & 0xffff0000u));
      }
      assert_int_equal(t->v[1].u32[l], a * half(t->before.w.s.u32[11], s1) + old[6].u32[l]);
    }
    isa_assert_lanes_kept(t, 0, 10, exec);
    isa_assert_only_changed(t, "v0 v1 v8 v9");
  }
  isa_free(t);
}

/* ---- Constants ---- */

static void test_integer_constants(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  texts_t all = {.count = 0};
  for (int n = -16; n <= 64; n++)
    add_text(&all,
             "v_mov_b32 v0, %d\nv_lshlrev_b64 v[2:3], 0, %d\nv_add_u16 v4, %d, v5\nv_add_i16 v6, v7, %d", n,
             n, n, n);
  prepare_texts(state, &all);
  for (int n = -16; n <= 64; n++) {
    isa_run(t, all.list[n + 16]);
    for (unsigned l = 0; l < GS_LANES; l++) {
      assert_int_equal(t->v[0].u32[l], (uint32_t)n);
      assert_int_equal(isa_u64(&t->v[2], l), (uint64_t)(int64_t)n);
      assert_int_equal(t->v[4].u32[l], (uint16_t)((uint32_t)n + t->v[5].u32[l]));
      assert_int_equal((uint16_t)t->v[6].u32[l], (uint16_t)((uint32_t)n + t->v[7].u32[l]));
    }
  }
  isa_run(t, "v_mov_b32 v0, 0x12345678\nv_and_b32 v1, 0xfff00fff, v2\nv_add_u16 v3, 0x8001, v4");
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(t->v[0].u32[l], 0x12345678);
    assert_int_equal(t->v[1].u32[l], t->v[2].u32[l] & 0xfff00fff);
    assert_int_equal(t->v[3].u32[l], (uint16_t)(0x8001 + t->v[4].u32[l]));
  }
  isa_free(t);
}

static void test_float_constants(void **state) {
  static const struct {
    const char *text;
    double value;
  } rows[] = {{"0.5", 0.5}, {"-0.5", -0.5}, {"1.0", 1},
              {"-1.0", -1}, {"2.0", 2},     {"-2.0", -2},
              {"4.0", 4},   {"-4.0", -4},   {"0.15915494309189532", 0.15915494309189532}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[128];
    const float narrow = (float)rows[i].value;
    uint32_t bits32;
    uint64_t bits64;
    memcpy(&bits32, &narrow, 4);
    memcpy(&bits64, &rows[i].value, 8);
    (void)snprintf(text, sizeof text, "v_mov_b32 v0, %s\nv_lshlrev_b64 v[2:3], 0, %s", rows[i].text,
                   rows[i].text);
    isa_run(t, text);
    for (unsigned l = 0; l < GS_LANES; l++) {
      assert_int_equal(t->v[0].u32[l], bits32);
      assert_int_equal(isa_u64(&t->v[2], l), bits64);
    }
  }
  isa_free(t);
}

static void test_special_operands(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 8; i++) {
    t->w.scc = i & 1;
    gs_set_exec(&t->w, i & 2 ? UINT64_MAX : 1);
    isa_set_s64(t, GS_S_VCC, i & 4 ? 2 : 0);
    isa_run(t, "v_mov_b32 v0, src_scc\nv_mov_b32 v1, src_vccz\nv_mov_b32 v2, src_execz\nv_mov_b32 v3, "
               "vcc_lo\nv_mov_b32 v4, m0");
    for (unsigned l = 0; l < (i & 2 ? GS_LANES : 1); l++) {
      assert_int_equal(t->v[0].u32[l], i & 1);
      assert_int_equal(t->v[1].u32[l], !(i & 4));
      assert_int_equal(t->v[2].u32[l], 0);
      assert_int_equal(t->v[3].u32[l], i & 4 ? 2 : 0);
      assert_int_equal(t->v[4].u32[l], t->w.s.u32[GS_S_M0]);
    }
  }
  gs_set_exec(&t->w, UINT64_MAX);
  isa_run(t, "v_lshlrev_b64 v[0:1], 0, src_shared_base\nv_lshlrev_b64 v[2:3], 0, src_private_limit");
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(isa_u64(&t->v[0], l), (uint64_t)GS_SHARED_APERTURE_HI << 32);
    assert_int_equal(isa_u64(&t->v[2], l), (uint64_t)GS_PRIVATE_APERTURE_HI << 32 | UINT32_MAX);
  }
  isa_free(t);
}

/* ---- EXEC ---- */

/* Many masks in a row, for results of 32 and 64 bits, also where destination and source overlap; gfx90a has
 * pairs at even numbers only. */
static void test_exec(void **state) {
  const bool aligned = (isa_part(state) & GS_CDNA2_4);
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 1;
  for (unsigned i = 0; i < 300; i++) {
    const uint64_t x = isa_random(&seed), exec = i % 7 == 0    ? UINT64_MAX
                                                 : i % 11 == 0 ? 0
                                                 : i % 3       ? x
                                                               : x & isa_random(&seed);
    gs_set_exec(&t->w, exec);
    isa_run(t, aligned ? "v_mov_b32 v0, v2\nv_not_b32 v4, v4\nv_lshlrev_b64 v[6:7], 4, v[6:7]"
                       : "v_mov_b32 v0, v2\nv_not_b32 v4, v4\nv_lshlrev_b64 v[6:7], 4, v[5:6]");
    for (unsigned l = 0; l < GS_LANES; l++) {
      const bool active = exec >> l & 1;
      const gs_row_t *old = t->before.v;
      const uint64_t shifted = isa_u64(&old[aligned ? 6 : 5], l) << 4;
      assert_int_equal(t->v[0].u32[l], old[active ? 2 : 0].u32[l]);
      assert_int_equal(t->v[4].u32[l], active ? ~old[4].u32[l] : old[4].u32[l]);
      assert_int_equal(isa_u64(&t->v[6], l), active ? shifted : isa_u64(&old[6], l));
    }
    isa_assert_only_changed(t, "v0 v4 v[6:7]");
    isa_reset(t, i);
  }
  isa_free(t);
}

/* ---- GPR indexing ---- */

static void check_index(isa_wave_t *t, const char *text, unsigned dst, unsigned a, unsigned b) {
  isa_run(t, text);
  char changed[48];
  (void)snprintf(changed, sizeof changed, "v%u m0 mode", dst);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[dst].u32[l], t->before.v[a].u32[l] - t->before.v[b].u32[l]);
  isa_assert_only_changed(t, changed);
}

static void test_gpr_index(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  t->w.s.u32[11] = 7;
  check_index(t, "s_set_gpr_idx_on s11, gpr_idx(SRC0)\nv_sub_u32 v0, v2, v4\ns_set_gpr_idx_off", 0, 9, 4);
  check_index(t, "s_set_gpr_idx_on s11, gpr_idx(SRC1)\nv_sub_u32 v0, v2, v4\ns_set_gpr_idx_off", 0, 2, 11);
  check_index(t, "s_set_gpr_idx_on s11, gpr_idx(DST)\nv_sub_u32 v0, v2, v4\ns_set_gpr_idx_off", 7, 2, 4);
  check_index(t, "s_set_gpr_idx_on s11, gpr_idx(SRC0,SRC1,DST)\nv_sub_u32 v0, v2, v4\ns_set_gpr_idx_off", 7,
              9, 11);
  /* A source beyond the registers is register 0; scalar operands stay. */
  t->w.s.u32[11] = 250;
  check_index(t, "s_set_gpr_idx_on s11, gpr_idx(SRC0)\nv_sub_u32 v1, v20, v4\ns_set_gpr_idx_off", 1, 0, 4);
  /* A destination beyond them: nothing happens. */
  isa_run(t, "s_set_gpr_idx_on s11, gpr_idx(DST)\nv_mov_b32 v20, v4\ns_set_gpr_idx_off");
  isa_assert_only_changed(t, "m0 mode");
  /* The third source, and instructions without vector registers as destination. */
  t->w.s.u32[11] = 3;
  isa_run(t, "s_set_gpr_idx_on s11, gpr_idx(SRC0,SRC2,DST)\nv_add3_u32 v0, s20, v4, v6\nv_readfirstlane_b32 "
             "s30, v2\n"
             "v_cmp_eq_u32 vcc, v2, v5\ns_add_u32 s31, s11, s11\ns_set_gpr_idx_off");
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[3].u32[l], t->w.s.u32[20] + t->before.v[4].u32[l] + t->before.v[9].u32[l]);
  assert_int_equal(t->w.s.u32[30], t->before.v[5].u32[0]);
  assert_int_equal(isa_s64(t, GS_S_VCC), UINT64_MAX);
  assert_int_equal(t->w.s.u32[31], 6);
  isa_assert_only_changed(t, "v3 s[30:31] vcc scc m0 mode");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_sdwa_encoding, GS_GFX9 | GS_GFX1030),
      isa_part_test_on(test_sdwa, GS_GFX9 | GS_GFX1030),
      isa_part_test_on(test_sdwa_others, GS_GFX9 | GS_GFX1030),
      isa_wide_part_test(test_dpp_encoding),
      isa_wide_part_test(test_dpp_controls),
      isa_wide_part_test(test_dpp_masks),
      isa_wide_part_test(test_dpp_missing),
      isa_wide_part_test(test_dpp_others),
      isa_wide_part_test(test_dpp_reversed),
      isa_part_test_on(test_dpp8, GS_GFX1030 | GS_GFX1100),
      isa_part_test_on(test_dpp_double, GS_GFX90A),
      isa_part_test(test_op_sel),
      isa_part_test(test_integer_constants),
      isa_part_test(test_float_constants),
      isa_part_test(test_special_operands),
      isa_part_test(test_exec),
      isa_part_test(test_gpr_index),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
