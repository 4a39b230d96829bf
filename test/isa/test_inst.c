/* What decoded instructions hold beyond their text: expanded constants, immediates, and destinations.
 * Not here: the texts (test_decode.c). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/cache_parts.h"
#include "isa/inst.h"

enum { VCC = 106 };

static gs_inst_t decode(const char *text, uint32_t w0, uint32_t w1) {
  const uint32_t words[3] = {w0, w1, 0};
  char spelt[128];
  gs_inst_t inst;
  if (!gs_decode(GS_GFX90A, words, 3, &inst))
    fail_msg("%s does not decode", text);
  (void)gs_disassemble(GS_GFX90A, &inst, spelt, sizeof spelt);
  assert_string_equal(spelt, text);
  return inst;
}

static void test_constants(void **state) {
  static const struct {
    const char *text;
    uint32_t words[2];
    unsigned source;
    uint64_t value;
  } rows[] = {
      {"s_mov_b32 s0, 0.15915494", {0xbe8000f8, 0}, 0, 0x3e22f983},
      {"s_mov_b64 s[0:1], 1.0", {0xbe8001f2, 0}, 0, UINT64_C(0x3ff0000000000000)},
      {"s_mov_b64 s[0:1], -16", {0xbe8001d0, 0}, 0, UINT64_C(0xfffffffffffffff0)},
      {"s_mov_b64 s[0:1], 0x80000000", {0xbe8001ff, 0x80000000}, 0, 0x80000000},
      {"s_ashr_i64 s[0:1], 0x80000000, s2", {0x908002ff, 0x80000000}, 0, UINT64_C(0xffffffff80000000)},
      {"v_trunc_f64_e32 v[0:1], 0x40590000", {0x7e002eff, 0x40590000}, 0, UINT64_C(0x4059000000000000)},
      {"v_trunc_f64_e32 v[0:1], 0.15915494309189532", {0x7e002ef8, 0}, 0, UINT64_C(0x3fc45f306dc9c882)},
      {"v_cmp_lt_u64_e32 vcc, -1, v[2:3]", {0x7dd204c1, 0}, 0, UINT64_MAX},
      {"v_add_f32_e32 v0, 64, v1", {0x020002c0, 0}, 0, 64},
      {"v_add_f16_e32 v0, 1.0, v1", {0x3e0002f2, 0}, 0, 0x3c00},
      {"v_add_f16_e32 v0, 0xabcd, v1", {0x3e0002ff, 0x1234abcd}, 0, 0x1234abcd},
      {"v_add_u16_e32 v0, -1, v1", {0x4c0002c1, 0}, 0, 0xffffffff},
      {"v_add_u16_e32 v0, 0x3c00, v1", {0x4c0002f2, 0}, 0, 0x3f800000},
      {"v_pk_fma_f16 v0, 1.0, v1, v2", {0xd38e4000, 0x1c0a02f2}, 0, 0x3c00},
      {"v_mfma_f32_4x4x1f32 a[0:3], v0, a1, 1.0", {0xd3c28000, 0x13ca0300}, 2, 0x3f800000},
      {"v_madmk_f32 v0, v1, 0x11, v2", {0x2e000501, 0x11}, 1, 0x11},
      {"v_madak_f32 v0, v1, v2, 0x11", {0x30000501, 0x11}, 2, 0x11},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE), 48", {0xba00f801, 0x30}, 0, 0x30},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const gs_inst_t inst = decode(rows[i].text, rows[i].words[0], rows[i].words[1]);
    const gs_src_t *s = &inst.src[rows[i].source];
    assert_int_equal(s->kind, GS_SRC_CONST);
    if (s->value != rows[i].value)
      fail_msg("%s: 0x%" PRIx64, rows[i].text, s->value);
  }
}

static void test_immediates(void **state) {
  static const struct {
    const char *text;
    uint32_t words[2];
    int32_t imm;
    uint32_t imm1;
  } rows[] = {
      {"s_branch 65535", {0xbf82ffff, 0}, -1, 0},
      {"s_nop 0xffff", {0xbf80ffff, 0}, 0xffff, 0},
      {"s_cmpk_eq_u32 s0, 0xffff", {0xb400ffff, 0}, 0xffff, 0},
      {"s_cmpk_eq_i32 s0, 0xffff", {0xb100ffff, 0}, -1, 0},
      {"s_movk_i32 s0, 0xffff", {0xb000ffff, 0}, -1, 0},
      {"s_getreg_b32 s0, hwreg(HW_REG_MODE)", {0xb880f801, 0}, 0xf801, 0},
      {"s_load_dword s0, s[2:3], -0x10", {0xc0020001, 0x001ffff0}, -16, 0},
      {"ds_read2_b32 v[0:1], v2 offset0:3 offset1:4", {0xd86e0403, 0x00000002}, 3, 4},
      {"ds_read_b32 v0, v2 offset:1027", {0xd86c0403, 0x00000002}, 1027, 0},
      {"global_load_dword v0, v[2:3], off offset:-16", {0xdc509ff0, 0x007f0002}, -16, 0},
      {"tbuffer_load_format_x v0, off, s[4:7], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]",
       {0xeba00000, 0x80010000},
       0,
       4 | 7 << 4},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const gs_inst_t inst = decode(rows[i].text, rows[i].words[0], rows[i].words[1]);
    if (inst.imm != rows[i].imm || inst.imm1 != rows[i].imm1)
      fail_msg("%s: %" PRId32 ", %" PRIu32, rows[i].text, inst.imm, inst.imm1);
  }
}

/* Results that are stored as they come, and those that are not. */
static void test_plain_dst(void **state) {
  static const struct {
    const char *text;
    uint32_t words[2];
    bool plain, high;
  } rows[] = {
      {"v_add_f32_e32 v0, v1, v2", {0x02000501, 0}, true, false},
      {"v_add_f32_e64 v0, -v1, v2", {0xd1010000, 0x20020501}, true, false},
      {"v_add_f32_e64 v0, v1, v2 clamp", {0xd1018000, 0x00020501}, false, false},
      {"v_add_f32_e64 v0, v1, v2 mul:2", {0xd1010000, 0x08020501}, false, false},
      {"v_mad_f16 v0, v1, v2, v3", {0xd2030000, 0x040e0501}, false, false},
      {"v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,0,1]", {0xd2034800, 0x040e0501}, false, true},
      {"v_mad_legacy_f16 v0, v1, v2, v3", {0xd1ea0000, 0x040e0501}, true, false},
      {"v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
       {0x680004f9, 0x06010601},
       true,
       false},
      {"v_add_u32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
       {0x680004f9, 0x06010501},
       false,
       false},
      {"v_mov_b32_dpp v0, v8 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf",
       {0x7e0002fa, 0xff004e08},
       false,
       false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const gs_inst_t inst = decode(rows[i].text, rows[i].words[0], rows[i].words[1]);
    if (inst.plain_dst != rows[i].plain || inst.dst_hi != rows[i].high)
      fail_msg("%s: plain %d, high %d", rows[i].text, inst.plain_dst, inst.dst_hi);
  }
}

static void test_operands(void **state) {
  (void)state;
  gs_inst_t inst = decode("v_cndmask_b32_e32 v0, v1, v2, vcc", 0x00000501, 0);
  assert_int_equal(inst.src[2].kind, GS_SRC_SGPR);
  assert_int_equal(inst.src[2].reg, VCC);
  inst = decode("v_add_co_u32_e32 v3, vcc, v1, v2", 0x32060501, 0);
  assert_int_equal(inst.dst, 3);
  assert_int_equal(inst.sdst, VCC);
  inst = decode("v_add_co_u32_e64 v0, s[4:5], v1, v2", 0xd1190400, 0x00020501);
  assert_int_equal(inst.sdst, 4);
  inst = decode("v_cmp_lt_u64_e32 vcc, -1, v[2:3]", 0x7dd204c1, 0);
  assert_int_equal(inst.sdst, VCC);
  assert_int_equal(inst.dst, VCC);
  inst = decode("buffer_load_dword a12, off, s[4:7], 0", 0xe0500000, 0x80810c00);
  assert_int_equal(inst.dst, 256 + 12);
  assert_int_equal(inst.src[0].kind, GS_SRC_NONE);
  assert_int_equal(inst.src[1].reg, 4);
  inst = decode("v_mfma_f32_4x4x1f32 a[0:3], v0, a1, 1.0", 0xd3c28000, 0x13ca0300);
  assert_int_equal(inst.dst, 256);
  assert_int_equal(inst.src[0].reg, 0);
  assert_int_equal(inst.src[1].reg, 256 + 1);
  inst = decode("v_mov_b32_e32 v0, src_shared_base", 0x7e0002eb, 0);
  assert_int_equal(inst.src[0].kind, GS_SRC_SPECIAL);
  assert_int_equal(inst.src[0].reg, 235);
  inst = decode("v_add_f32_e64 v0, -v1, |v2|", 0xd1010200, 0x20020501);
  assert_int_equal(inst.src[0].mods, GS_MOD_NEG);
  assert_int_equal(inst.src[1].mods, GS_MOD_ABS);
  inst = decode("v_mad_f16 v0, v1, v2, v3 op_sel:[1,0,0,1]", 0xd2034800, 0x040e0501);
  assert_int_equal(inst.src[0].mods, GS_MOD_HI);
  assert_int_equal(inst.src[1].mods, 0);
  /* A pair is taken at its alignment. */
  inst = decode("s_mov_b64 s[4:5], s[2:3]", 0xbe850103, 0);
  assert_int_equal(inst.dst, 4);
  assert_int_equal(inst.src[0].reg, 2);
}

/* Words that are cut off are no instruction. */
static void test_cut_off(void **state) {
  static const uint32_t rows[][2] = {
      {0xbe8000ff, 0}, {0xd1010000, 0x00020501}, {0x2e000501, 0x11}, {0x680004f9, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gs_inst_t inst;
    assert_false(gs_decode(GS_GFX90A, rows[i], 1, &inst));
    assert_null(inst.op);
    assert_int_equal(inst.size, 4);
    assert_int_equal(inst.word[0], rows[i][0]);
    assert_false(gs_decode(GS_GFX90A, rows[i], 0, &inst));
  }
}

/* How far an access goes is in bits of the same meaning on gfx942 and gfx950: none, sc0, sc1. */
static void test_scopes(void **state) {
  (void)state;
  static const uint32_t words[][2] = {
      {0xdc508000, 0x007f0002}, {0xdc518000, 0x007f0002}, {0xde508000, 0x007f0002}};
  static const unsigned bits[] = {0, GS_BIT_GLC, GS_BIT_SC1};
  static const gs_target_t targets[] = {GS_GFX942, GS_GFX950};
  for (size_t i = 0; i < 6; i++) {
    gs_inst_t in;
    assert_true(gs_decode(targets[i / 3], words[i % 3], 2, &in));
    assert_int_equal(gs_caches_bits(targets[i / 3], &in), bits[i % 3]);
    assert_int_equal(gs_caches_of(targets[i / 3])->past, GS_BIT_SC1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constants), cmocka_unit_test(test_immediates), cmocka_unit_test(test_plain_dst),
      cmocka_unit_test(test_operands),  cmocka_unit_test(test_cut_off),    cmocka_unit_test(test_scopes),
  };
  return cmocka_run_group_tests_name("inst", tests, NULL, NULL);
}
