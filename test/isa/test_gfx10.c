/* What gfx10 has that gfx9 lacks, and gfx11 kept: registers by number, exchange in rows of 16 lanes, memory
 * by lane number, halves of a wide wave in turn, parts of MODE; and calls, which have other numbers there.
 * Each is compared with what AMD's manuals say of a single lane.
 *
 * Not here: what works as on gfx9 (test_families.c), what gfx11 alone has (test_gfx11.c), and waves of 32
 * lanes (test_wave32.c). */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/lanes.h"

static const uint64_t masks[] = {UINT64_MAX, UINT64_C(0x8421f00f12345678), UINT64_C(0xffff000000000001), 0};
enum { MASKS = sizeof masks / sizeof *masks };

/* ---- Registers by number ---- */

/* Which register is copied to which; beyond the last one, v0 is read and nothing written. */
static void test_vector_moves(void **state) {
  static const struct {
    const char *text;
    uint32_t m0;
    const char *changed;
    unsigned dst, src;
    bool both; /* exchanged */
  } rows[] = {
      {"v_movreld_b32 v4, v6", 3, "v7", 7, 6, false},
      {"v_movreld_b32 v4, v6", 251, "v255", 255, 6, false},
      {"v_movreld_b32 v4, v6", 252, "", 4, 4, false},
      {"v_movreld_b32 v4, v6", UINT32_MAX, "", 4, 4, false},
      {"v_movrels_b32 v4, v6", 5, "v4", 4, 11, false},
      {"v_movrels_b32 v4, v6", 250, "v4", 4, 0, false},
      {"v_movrelsd_b32 v4, v6", 3, "v7", 7, 9, false},
      {"v_movrelsd_2_b32 v4, v6", 9 << 16 | 2, "v13", 13, 8, false},
      {"v_movrelsd_2_b32 v4, v6", 0xfc00fc00 | 9 << 16 | 2, "v13", 13, 8, false},
      {"v_movrelsd_2_b32 v4, v6", 1 << 16 | 512, "v5", 5, 0, false},
      {"v_swaprel_b32 v4, v6", 9 << 16 | 2, "v13 v8", 13, 8, true},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned m = 0; m < MASKS; m++) {
      isa_reset(t, m);
      t->w.s.u32[GS_S_M0] = rows[i].m0;
      gs_set_exec(&t->w, masks[m]);
      assert_int_equal(isa_run(t, rows[i].text), GS_WAVE_RUNNING);
      isa_assert_only_changed(t, rows[i].changed);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const unsigned from = gs_bit(masks[m], l) ? rows[i].src : rows[i].dst;
        assert_int_equal(t->v[rows[i].dst].u32[l], t->before.v[from].u32[l]);
        if (rows[i].both)
          assert_int_equal(t->v[rows[i].src].u32[l],
                           t->before.v[gs_bit(masks[m], l) ? rows[i].dst : rows[i].src].u32[l]);
      }
    }
  isa_free(t);
}

static void test_scalar_moves(void **state) {
  static const struct {
    uint32_t m0;
    const char *changed;
    unsigned dst, src;
  } rows[] = {
      {4 << 16 | 3, "s14", 14, 23},      {0xfc00fc00 | 4 << 16 | 3, "s14", 14, 23},
      {95 << 16 | 85, "s105", 105, 105}, {0, "s10", 10, 20},
      {5 << 16 | 87, "s15", 15, 107},    {5 << 16 | 88, "s15", 15, 0},
      {97 << 16, "vcc", 107, 20},        {98 << 16, "", 10, 10},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    isa_reset(t, 0);
    t->w.s.u32[GS_S_M0] = rows[i].m0;
    (void)isa_run(t, "s_movrelsd_2_b32 s10, s20");
    assert_int_equal(t->w.s.u32[rows[i].dst], t->before.w.s.u32[rows[i].src]);
    isa_assert_only_changed(t, rows[i].changed);
  }
  isa_free(t);
}

/* ---- Lanes ---- */

/* op_sel[0]: lanes that are off are read; op_sel[1]: else they give 0, and not what was there. */
static void check_permlane(isa_wave_t *t, const char *name, unsigned other, unsigned op_sel, uint64_t exec) {
  char text[96];
  uint64_t seed = exec + op_sel + 1;
  (void)snprintf(text, sizeof text, "%s v1, v2, s4, s5 op_sel:[%u,%u]", name, op_sel & 1, op_sel >> 1);
  isa_reset(t, op_sel);
  isa_set_s64(t, 4, isa_random(&seed));
  gs_set_exec(&t->w, exec);
  (void)isa_run(t, text);
  isa_assert_only_changed(t, "v1");
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned nibble = isa_s64(t, 4) >> 4 * (l % 16) & 15, row = (l / 16) ^ other;
    const unsigned source = 16 * row + nibble;
    uint32_t expected = t->before.v[1].u32[l];
    if (gs_bit(exec, l) && (gs_bit(exec, source) || (op_sel & 1)))
      expected = t->before.v[2].u32[source];
    else if (gs_bit(exec, l) && (op_sel & 2))
      expected = 0;
    if (t->v[1].u32[l] != expected)
      fail_msg("%s of lanes 0x%llx: lane %u has 0x%x, not 0x%x", text, (unsigned long long)exec, l,
               t->v[1].u32[l], expected);
  }
}

static void test_permlane16(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned op_sel = 0; op_sel < 4; op_sel++)
    for (unsigned m = 0; m < MASKS; m++) {
      check_permlane(t, "v_permlane16_b32", 0, op_sel, masks[m]);
      check_permlane(t, "v_permlanex16_b32", 1, op_sel, masks[m]);
    }
  isa_free(t);
}

/* ---- Light ---- */

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The product, or the least number where there is no light. Of products with zero AMD's manuals say different
 * things: a finite one is some zero. */
static void test_mullit(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t third = 0; third < isa_f32_edge_count; third++)
    for (size_t start = 0; start < isa_f32_edge_count; start++) {
      isa_reset(t, 0);
      isa_fill32(&t->v[1], isa_f32_edges, isa_f32_edge_count, 1, 0);
      isa_fill32(&t->v[2], isa_f32_edges, isa_f32_edge_count, 1, start);
      isa_fill32(&t->v[3], isa_f32_edges, isa_f32_edge_count, 64, third);
      (void)isa_run(t, "v_mullit_f32 v0, v1, v2, v3");
      isa_assert_only_changed(t, "v0");
      for (unsigned l = 0; l < GS_LANES; l++) {
        const float a = as_float(t->v[1].u32[l]), b = as_float(t->v[2].u32[l]), c = as_float(t->v[3].u32[l]);
        const bool dark = isnan(b) || isnan(c) || b <= -FLT_MAX || c <= 0;
        const float expected = dark ? -FLT_MAX : a * b, is = as_float(t->v[0].u32[l]);
        const bool zero = !dark && (a == 0 || b == 0);
        if (zero && isnan(expected))
          continue;
        if (isnan(expected) ? !isnan(is) : zero ? is != 0 : memcmp(&expected, &is, sizeof is) != 0)
          fail_msg("v_mullit_f32 of %a, %a, %a: %a, not %a", (double)a, (double)b, (double)c, (double)is,
                   (double)expected);
      }
    }
  isa_free(t);
}

/* ---- Memory by lane number ---- */

static void test_addtid(void **state) {
  const bool old = isa_part(state) & GS_GFX10;
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_set_s64(t, 2, ISA_MEMORY);
  for (unsigned m = 0; m < MASKS; m++) {
    isa_reset(t, m);
    isa_set_s64(t, 2, ISA_MEMORY);
    gs_set_exec(&t->w, masks[m]);
    (void)isa_run(t, old ? "global_store_dword_addtid v1, s[2:3] offset:16\n"
                           "global_load_dword_addtid v4, s[2:3] offset:12"
                         : "global_store_addtid_b32 v1, s[2:3] offset:16\n"
                           "global_load_addtid_b32 v4, s[2:3] offset:12");
    isa_assert_only_changed(t, "v4 memory");
    for (size_t i = 0; i < ISA_MEMORY_BYTES / 4; i++) {
      uint32_t is, was;
      memcpy(&is, t->memory + 4 * i, 4);
      memcpy(&was, t->before.memory + 4 * i, 4);
      const bool stored = i >= 4 && i < 4 + GS_LANES && gs_bit(masks[m], (unsigned)i - 4);
      assert_int_equal(is, stored ? t->v[1].u32[i - 4] : was);
      if (i >= 3 && i < 3 + GS_LANES)
        assert_int_equal(t->v[4].u32[i - 3],
                         gs_bit(masks[m], (unsigned)i - 3) ? is : t->before.v[4].u32[i - 3]);
    }
  }
  isa_free(t);
}

/* ---- Control ---- */

static void test_calls(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_set_s64(t, 2, UINT64_C(0x7fff12345677));
  (void)isa_run(t, "s_setpc_b64 s[2:3]");
  assert_true(t->w.pc == UINT64_C(0x7fff12345674));
  isa_assert_only_changed(t, "");
  isa_set_s64(t, 2, UINT64_C(0x123456789a));
  (void)isa_run(t, "s_swappc_b64 s[4:5], s[2:3]");
  assert_true(t->w.pc == UINT64_C(0x1234567898));
  assert_true(isa_s64(t, 4) == ISA_CODE + 4);
  isa_assert_only_changed(t, "s[4:5]");
  (void)isa_run(t, "s_call_b64 s[6:7], done\ns_nop 0\ns_mov_b32 s8, 1\ndone:");
  assert_true(isa_s64(t, 6) == ISA_CODE + 4 && t->w.pc == ISA_CODE + t->code_bytes);
  isa_assert_only_changed(t, "s[6:7]");
  isa_free(t);
}

/* The body runs once for each half that has lanes, with that half alone, and EXEC is whole behind it. */
static void test_subvector_loop(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned m = 0; m < MASKS + 2; m++) {
    const uint64_t exec = m < MASKS ? masks[m] : UINT64_C(0x00ff) << (m == MASKS ? 0 : 40);
    isa_reset(t, m);
    gs_set_exec(&t->w, exec);
    t->w.s.u32[5] = t->w.s.u32[6] = t->w.s.u32[7] = 0;
    assert_int_equal(isa_run(t, "s_subvector_loop_begin s4, done\n"
                                "body:\n"
                                "s_or_b32 s6, s6, exec_lo\n"
                                "s_or_b32 s7, s7, exec_hi\n"
                                "s_add_u32 s5, s5, 1\n"
                                "v_add_nc_u32 v1, v1, s5\n"
                                "s_subvector_loop_end s4, body\n"
                                "done:"),
                     GS_WAVE_RUNNING);
    const bool low = exec & UINT32_MAX, high = exec >> 32;
    assert_true(gs_exec(&t->w) == exec && isa_s64(t, 6) == exec);
    assert_int_equal(t->w.s.u32[5], low + high);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[1].u32[l], t->before.v[1].u32[l] + (!gs_bit(exec, l) ? 0
                                                                : l >= 32 && low ? 2u
                                                                                 : 1u));
    assert_true(t->w.pc == ISA_CODE + t->code_bytes);
    isa_assert_only_changed(t, "v1 s[4:7] scc");
  }
  isa_free(t);
}

/* ---- Registers of the hardware ---- */

static void test_mode(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t before = t->w.mode;
  (void)isa_run(t, "s_round_mode 6");
  assert_int_equal(t->w.mode, (before & ~UINT32_C(0xf)) | 6);
  isa_assert_only_changed(t, "mode");
  (void)isa_run(t, "s_denorm_mode 9");
  assert_int_equal(t->w.mode, (before & ~UINT32_C(0xff)) | 0x96);
  isa_assert_only_changed(t, "mode");
  (void)isa_run(t, "s_getreg_b32 s10, hwreg(HW_REG_MODE, 4, 4)");
  assert_int_equal(t->w.s.u32[10], 9);
  isa_assert_only_changed(t, "s10");
  t->w.s.u32[2] = 0xfffffff5;
  (void)isa_run(t, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s2");
  assert_int_equal(t->w.mode, (before & ~UINT32_C(0xff)) | 0x95);
  isa_assert_only_changed(t, "mode");
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xabcdef03");
  assert_int_equal(t->w.mode, (before & ~UINT32_C(0xff)) | 0x35);
  isa_assert_only_changed(t, "mode");
  /* gfx9 has more of them; bit 21 came with gfx11. */
  (void)isa_run(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE), -1");
  assert_int_equal(t->w.mode, isa_part(state) & GS_GFX11 ? 0x00bfffff : 0x009fffff);
  isa_assert_only_changed(t, "mode");
  isa_free(t);
}

/* What no compute shader has, what stops a wave, and what a trap handler is for. */
static void test_refused(void **state) {
  static const struct {
    const char *text;
    gs_wave_fault_kind_t kind;
  } rows[] = {
      {"s_rfe_b64 s[2:3]", GS_WAVE_FAULT_ILLEGAL},
      {"s_code_end", GS_WAVE_FAULT_ILLEGAL},
      {"s_sendmsghalt sendmsg(MSG_INTERRUPT)", GS_WAVE_FAULT_ILLEGAL},
      {"s_trap 2", GS_WAVE_FAULT_TRAP},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    (void)isa_run(t, rows[i].text);
    isa_assert_fault(t, rows[i].kind);
    assert_true(t->w.fault.address == ISA_CODE);
    isa_assert_only_changed(t, "");
    assert_int_equal(t->interrupts - t->before.interrupts, strncmp(rows[i].text, "s_sendmsghalt", 13) == 0);
  }
  isa_free(t);
}

/* What gfx11 has no more, or otherwise: clocks, and messages. */
static void test_clocks(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  (void)isa_run(t, "s_memtime s[2:3]\ns_memrealtime s[4:5]\ns_waitcnt lgkmcnt(0)");
  assert_true(isa_s64(t, 2) == ISA_CLOCK && isa_s64(t, 4) == ISA_CLOCK);
  isa_assert_only_changed(t, "s[2:5]");
  t->w.s.u32[GS_S_M0] = 0x7fffff42;
  assert_int_equal(isa_run(t, "s_sendmsg sendmsg(MSG_INTERRUPT)"), GS_WAVE_RUNNING);
  assert_int_equal(t->interrupts, 1);
  assert_int_equal(t->interrupt_id, 0x42);
  isa_assert_only_changed(t, "");
  isa_free(t);
}

/* Halves in the upper part of a register, and floats in memory; LLVM has no such names for gfx10. */
static void test_upper_halves(void **state) {
  enum { OFFEN = 1 << 12, LOAD = 38, STORE = 39, OPERANDS = 2 | 1 << 8 | 1 << 16, NO_OFFSET = 0x80 };
  static const struct {
    float value;
    uint32_t half;
  } rows[] = {{1.0f, 0x3c00}, {-2.5f, 0xc100}, {65504.0f, 0x7bff}, {0.0f, 0}, {0x1p-24f, 1}};
  enum { ROWS = sizeof rows / sizeof *rows };
  static const uint32_t load[] = {0xe0000000u | LOAD << 18 | OFFEN, OPERANDS | (uint32_t)NO_OFFSET << 24};
  static const uint32_t store[] = {0xe0000000u | STORE << 18 | OFFEN, OPERANDS | (uint32_t)NO_OFFSET << 24};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned storing = 0; storing < 2; storing++) {
    isa_reset(t, storing);
    isa_set_s64(t, 4, ISA_MEMORY);
    t->w.s.u32[6] = ISA_MEMORY_BYTES;
    t->w.s.u32[7] = 0xfac | 22 << 12 | 1 << 24 | 3u << 28; /* floats of 32 bits */
    gs_set_exec(&t->w, masks[1]);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[2].u32[l] = 8 * l;
      t->v[1].u32[l] = rows[l % ROWS].half << 16 | 0x5a5a;
      if (!storing) {
        memcpy(t->memory + 8 * (size_t)l, &rows[l % ROWS].value, 4);
        t->v[1].u32[l] = 0x77777777;
      }
    }
    (void)isa_run_words(t, storing ? store : load, 2);
    isa_assert_only_changed(t, storing ? "memory" : "v1");
    for (unsigned l = 0; l < GS_LANES; l++) {
      const bool on = gs_bit(masks[1], l);
      float is;
      memcpy(&is, t->memory + 8 * (size_t)l, 4);
      if (storing)
        assert_int_equal(
            on ? is == rows[l % ROWS].value : memcmp(&is, t->before.memory + 8 * (size_t)l, 4) == 0, true);
      else
        assert_int_equal(t->v[1].u32[l], on ? rows[l % ROWS].half << 16 | 0x7777 : 0x77777777);
    }
  }
  isa_free(t);
}

/* Instructions whose halves op_sel chooses, which LLVM does not know. */
static uint32_t m_mul(uint32_t a, uint32_t b) {
  return a * b;
}
static uint32_t m_shift_left(uint32_t a, uint32_t b) {
  return b << (a & 15);
}
static uint32_t m_shift_right(uint32_t a, uint32_t b) {
  return b >> (a & 15);
}
static uint32_t m_shift_signed(uint32_t a, uint32_t b) {
  return (uint32_t)((int16_t)b >> (a & 15));
}
static uint32_t m_max_unsigned(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}
static uint32_t m_min_unsigned(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
static uint32_t m_max_signed(uint32_t a, uint32_t b) {
  return (int16_t)a > (int16_t)b ? a : b;
}
static uint32_t m_min_signed(uint32_t a, uint32_t b) {
  return (int16_t)a < (int16_t)b ? a : b;
}

static void test_chosen_halves(void **state) {
  static const struct {
    uint32_t number;
    uint32_t (*model)(uint32_t a, uint32_t b);
  } rows[] = {{773, m_mul},        {775, m_shift_right},  {776, m_shift_signed}, {777, m_max_unsigned},
              {778, m_max_signed}, {779, m_min_unsigned}, {780, m_min_signed},   {788, m_shift_left}};
  enum { VGPR = 256, HIGH_A = 1, HIGH_B = 2, HIGH_D = 8 };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint32_t select = 0; select < 16; select += select % 4 == 3 ? 5 : 1) { /* there is no third source */
      const uint32_t words[] = {0xd4000000u | rows[i].number << 16 | select << 11 | 5, (VGPR + 1) | (VGPR + 2)
                                                                                                        << 9};
      isa_reset(t, (unsigned)i);
      (void)isa_run_words(t, words, 2);
      for (unsigned l = 0; l < gs_target_lanes(t->env.target); l++) {
        const uint32_t a = t->v[1].u32[l] >> (select & HIGH_A ? 16 : 0) & 0xffff;
        const uint32_t b = t->v[2].u32[l] >> (select & HIGH_B ? 16 : 0) & 0xffff;
        const uint32_t d = rows[i].model(a, b) & 0xffff, old = t->before.v[5].u32[l];
        assert_int_equal(t->v[5].u32[l], select & HIGH_D ? d << 16 | (old & 0xffff) : d | (old & 0xffff0000));
      }
      isa_assert_only_changed(t, "v5");
    }
  isa_free(t);
}

/* A resource without a format is none: loads give 0, stores do nothing; but not if lanes add their numbers.
 */
static void test_no_format(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned add_tid = 0; add_tid < 2; add_tid++) {
    isa_reset(t, add_tid);
    isa_set_s64(t, 4, ISA_MEMORY);
    t->w.s.u32[6] = ISA_MEMORY_BYTES;
    t->w.s.u32[7] = 0xfac | add_tid << 23 | 3u << 28;
    gs_set_exec(&t->w, 1);
    t->v[1].u32[0] = t->v[9].u32[0] = 0x12345678;
    (void)isa_run(t, "buffer_store_dword v1, off, s[4:7], 0\nbuffer_load_dword v9, off, s[4:7], 0");
    const uint32_t expected = add_tid ? 0x12345678 : 0;
    assert_int_equal(t->v[9].u32[0], expected);
    isa_assert_only_changed(t, add_tid ? "v9 memory" : "v9");
  }
  isa_free(t);
}

/* OOB_SELECT of resources, as Mesa's programmers wrote it down. gfx10 asks in which record an access begins,
 * gfx11 where it ends, and counts records of swizzled buffers whatever the resource says. */
typedef struct bounds {
  unsigned select, stride, records, index, offset, dwords;
  bool swizzled, inside10, inside11;
} bounds_t;

static void check_bounds(isa_wave_t *t, const bounds_t *b) {
  char text[96];
  const bool gfx11 = t->env.target & GS_GFX11;
  memset(t->memory, 0x11, sizeof t->memory);
  isa_set_s64(t, 4, ISA_MEMORY);
  t->w.s.u32[5] |= b->stride << 16 | (uint32_t)b->swizzled << (gfx11 ? 30 : 31);
  t->w.s.u32[6] = b->records;
  t->w.s.u32[7] = 0xfac | 22 << 12 | (gfx11 ? 0 : 1 << 24) | b->select << 28;
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[2].u32[l] = b->index;
    t->v[3].u32[l] = b->offset;
    t->v[8].u32[l] = t->v[9].u32[l] = 0x77777777;
  }
  (void)snprintf(text, sizeof text, "%s v%s, v[2:3], s[4:7], 0 idxen offen",
                 b->dwords == 2 ? "buffer_load_dwordx2" : "buffer_load_dword",
                 b->dwords == 2 ? "[8:9]" : "8");
  (void)isa_run(t, text);
  const uint32_t expected = (gfx11 ? b->inside11 : b->inside10) ? 0x11111111 : 0;
  for (unsigned r = 8; r < 8 + b->dwords; r++)
    if (t->v[r].u32[5] != expected)
      fail_msg("select %u%s, stride %u, %u records: index %u, offset %u: v%u is 0x%x, not 0x%x", b->select,
               b->swizzled ? " swizzled" : "", b->stride, b->records, b->index, b->offset, r, t->v[r].u32[5],
               expected);
}

static void test_bounds_select(void **state) {
  static const bounds_t rows[] = {
      {0, 16, 4, 3, 8, 2, false, true, true},     {0, 16, 4, 3, 12, 2, false, true, false},
      {0, 16, 4, 3, 12, 1, false, true, true},    {0, 16, 4, 3, 32, 1, false, false, false},
      {0, 16, 4, 3, 16, 1, false, false, false},  {0, 16, 4, 4, 0, 1, false, false, false},
      {0, 0, 4, 3, 0, 1, false, false, false},    {1, 16, 4, 3, 200, 2, false, true, true},
      {1, 16, 4, 4, 0, 1, false, false, false},   {2, 16, 1, 9, 100, 2, false, true, true},
      {2, 16, 0, 0, 0, 1, false, false, false},   {3, 16, 64, 3, 8, 2, false, true, true},
      {3, 16, 64, 3, 16, 1, false, false, false}, {3, 16, 64, 4, 0, 1, false, false, false},
      {3, 16, 2, 1, 8, 2, true, false, true},     {3, 16, 2, 1, 12, 2, true, false, false},
      {3, 16, 2, 2, 0, 1, true, false, false},    {3, 0, 64, 0, 0, 1, true, true, true},
      {3, 0, 4, 0, 4, 1, true, false, false},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    isa_reset(t, (unsigned)i);
    check_bounds(t, &rows[i]);
  }
  isa_free(t);
}

/* VCC is what follows the last SGPR, in resources and in what is loaded, too. */
static void test_tuple_with_vcc(void **state) {
  enum { S_LOAD_X4 = 2u << 18, TO_S104 = 104 << 6, AT_S4 = 2 };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint32_t load[] = {0xf4000000u | S_LOAD_X4 | TO_S104 | AT_S4,
                           (t->env.target & GS_GFX11 ? 0xf8000000u : 0xfa000000u) | 16};
  isa_set_s64(t, 4, ISA_MEMORY);
  (void)isa_run_words(t, load, 2);
  isa_assert_only_changed(t, "s[104:105] vcc");
  assert_memory_equal(&t->w.s.u32[104], t->memory + 16, 16);
  isa_free(t);
}

#define TEST(function) isa_part_test_on(function, GS_GFX1030 | GS_GFX1100)
int main(void) {
  static const struct CMUnitTest tests[] = {
      TEST(test_vector_moves),
      TEST(test_scalar_moves),
      TEST(test_permlane16),
      TEST(test_mullit),
      TEST(test_addtid),
      TEST(test_calls),
      TEST(test_subvector_loop),
      TEST(test_mode),
      TEST(test_refused),
      TEST(test_tuple_with_vcc),
      TEST(test_bounds_select),
      TEST(test_no_format),
      isa_part_test_on(test_chosen_halves, GS_GFX1030),
      isa_part_test_on(test_clocks, GS_GFX1030),
      isa_part_test_on(test_upper_halves, GS_GFX1030),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
