/* What the checker's tool "wait" says of sequences of instructions, which are not executed here: each row is
 * an error without what mends it, and with a little less than that; and none with it. Not here: the words of
 * a finding (test/check/wait). */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/digest.h"

enum { TEXT = 512 };

/* gfx9's parts: all, with the matrix instructions of gfx908, and of gfx90a; and of gfx10 and gfx11, also by
 * the width of waves. */
enum {
  N = GS_GFX10_UP,
  N32 = GS_GFX1030_W32 | GS_GFX1100_W32,
  N64 = GS_GFX1030 | GS_GFX1100,
  ALL = GS_GFX9,
  M908 = GS_GFX908,
  M90A = GS_GFX90A,
  M942 = GS_GFX942,
  M950 = GS_GFX950,
  U = GS_CDNA2_4,
  W32 = GS_GFX11_W32,
  W64 = GS_GFX11_W64,
  P1030 = GS_GFX10,
  P1100 = GS_GFX1100_W32 | GS_GFX1100,
  P1151 = GS_GFX11_5,
  TO_90A = GS_TO_90A,
  MATRIX = GS_GFX908 | GS_GFX90A
};

/* `first`, `mend`, `second` are good; `first`, `less`, `second` are not, nor are those two alone. Without
 * `mend` the two are good as they are. */
typedef struct row {
  unsigned parts;
  const char *first, *less, *mend, *second;
} row_t;

static const row_t rows[] = {
    /* Vector memory comes to its end in order, loads and stores alike. */
    {ALL, "global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_add_u32 v0, v1, v5"},
    {ALL, "global_load_dword v1, v[2:3], off\nglobal_load_dword v4, v[2:3], off", "s_waitcnt vmcnt(2)",
     "s_waitcnt vmcnt(1)", "v_add_u32 v0, v1, v5"},
    {ALL, "global_load_dword v1, v[2:3], off\nglobal_store_dword v[2:3], v9, off", "s_waitcnt vmcnt(2)",
     "s_waitcnt vmcnt(1)", "v_add_u32 v0, v1, v5"},
    {ALL, "global_load_dword v1, v[2:3], off\n.rept 3\nglobal_store_dword v[2:3], v9, off\n.endr",
     "s_waitcnt vmcnt(4)", "s_waitcnt vmcnt(3)", "v_mov_b32 v0, v1"},
    {ALL,
     "global_load_dword v1, v[2:3], off\n.rept 3\nglobal_store_dword v[2:3], v9, off\n"
     "ds_read_b32 v4, v5\n.endr\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v[2:3], v9, off",
     "s_waitcnt vmcnt(5)", "s_waitcnt vmcnt(4)", "v_mov_b32 v0, v1"},
    {ALL,
     ".rept 9\nglobal_store_dword v[2:3], v9, off\n.endr\ns_waitcnt vmcnt(2)\n"
     "global_load_dword v1, v[2:3], off\n.rept 70\nglobal_store_dword v[2:3], v9, off\n.endr",
     NULL, NULL, "v_mov_b32 v0, v1"},
    /* Halves of a register, of which loads leave one alone. */
    {P1100, "global_load_d16_b16 v1, v[2:3], off", NULL, NULL, "global_store_d16_hi_b16 v[4:5], v1, off"},
    {P1100, "global_load_d16_hi_b16 v1, v[2:3], off", NULL, NULL, "global_store_b16 v[4:5], v1, off"},
    {P1100, "global_load_d16_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "global_store_b16 v[4:5], v1, off"},
    {P1100, "global_load_d16_hi_u8 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "global_store_d16_hi_b8 v[4:5], v1, off"},
    {P1100, "global_load_d16_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "global_store_b32 v[4:5], v1, off"},
    {P1100, "buffer_load_d16_b16 v1, off, s[4:7], s8", NULL, NULL,
     "buffer_store_d16_hi_b16 v1, off, s[4:7], s8"},
    {P1100, "buffer_load_d16_hi_b16 v1, off, s[4:7], s8", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "buffer_store_d16_hi_b16 v1, off, s[4:7], s8"},
    {P1100, "ds_load_u8_d16_hi v1, v2", NULL, NULL, "ds_store_b16 v3, v1"},
    {P1100, "ds_load_u8_d16 v1, v2", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)", "ds_store_b16 v3, v1"},
    {P1100, "global_load_u16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "global_store_d16_hi_b16 v[4:5], v1, off"},
    {P1100, "global_load_d16_hi_b16 v1, v[2:3], off", NULL, NULL, "v_add_f16 v0, v1, v5"},
    {P1100, "global_load_d16_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_add_f16 v0, v1, v5"},
    {P1100, "global_load_d16_hi_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_add_nc_u16 v0, v1, v5 op_sel:[1,0,0]"},
    {P1100, "global_load_d16_hi_b16 v1, v[2:3], off", NULL, NULL, "v_add_f16 v1, v4, v5"},
    {P1100, "global_load_d16_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_add_nc_u16 v1, v4, v5"},
    {P1100, "global_load_d16_hi_b16 v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v1, v4"},
    {ALL, "global_load_dwordx4 v[8:11], v[2:3], off", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v11"},
    {ALL, "buffer_load_dword v1, v2, s[4:7], 0 offen", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL, "buffer_load_dwordx3 v[2:4], v20, s[4:7], 0 idxen", "s_nop 7", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v4"},
    {ALL, "scratch_load_dword v1, v2, off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL, "global_atomic_add v1, v[2:3], v4, off glc", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL, "buffer_atomic_cmpswap v[6:7], v8, s[4:7], 0 offen glc", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v6"},
    {ALL, "global_load_dword v1, v[2:3], off", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)",
     "global_store_dword v[2:3], v1, off"},
    {ALL, "global_load_dwordx2 v[2:3], v[4:5], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "global_load_dword v1, v[2:3], off"},
    {ALL, "global_load_dword v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)", "v_readfirstlane_b32 s4, v1"},
    {ALL, "global_load_dword v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)", "ds_write_b32 v9, v1"},
    /* What is loaded comes later than what is written meanwhile. */
    {ALL, "global_load_dword v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)", "v_mov_b32 v1, 0"},
    {ALL, "global_load_dword v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)", "ds_read_b32 v1, v9"},
    {ALL, "ds_read_b32 v1, v9", "s_nop 0", "s_waitcnt lgkmcnt(0)", "global_load_dword v1, v[2:3], off"},
    {ALL, "s_load_dword s8, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_mov_b32 s8, 0"},
    {ALL, "s_load_dword s8, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_load_dword s8, s[2:3], 0x4"},
    {ALL, "s_load_dword s8, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "v_cmp_eq_u32 s[8:9], v1, v2"},
    /* Scalar loads end in no order. */
    {ALL, "s_load_dword s8, s[2:3], 0x0", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)",
     "s_add_u32 s0, s8, 1"},
    {ALL, "s_load_dword s8, s[2:3], 0x0\ns_load_dword s9, s[2:3], 0x4", "s_waitcnt lgkmcnt(1)",
     "s_waitcnt lgkmcnt(0)", "s_mov_b32 s0, s8"},
    {ALL, "s_load_dwordx16 s[16:31], s[2:3], 0x0", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)",
     "v_mov_b32 v0, s31"},
    {ALL, "s_load_dwordx2 s[8:9], s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "s_load_dword s10, s[8:9], 0x0"},
    {ALL, "s_load_dwordx2 s[8:9], s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "global_load_dword v1, v2, s[8:9]"},
    {ALL, "s_load_dwordx2 vcc, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "v_cndmask_b32 v0, v1, v2, vcc"},
    {ALL, "s_load_dwordx2 vcc, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_cbranch_vccz 1"},
    {ALL, "s_load_dwordx2 s[8:9], s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_setpc_b64 s[8:9]"},
    {ALL, "s_memtime s[8:9]", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_sub_u32 s0, s8, s1"},
    {ALL, "s_buffer_load_dword s8, s[4:7], 0x0", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)",
     "s_mov_b32 s0, s8"},
    /* Local memory in order, also with others beside it. */
    {ALL, "ds_read_b32 v1, v2\nds_read_b32 v3, v2", "s_waitcnt lgkmcnt(2)", "s_waitcnt lgkmcnt(1)",
     "v_mov_b32 v0, v1"},
    {ALL, "ds_read2_b32 v[4:5], v2 offset1:1", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)",
     "v_mov_b32 v0, v5"},
    {ALL, "ds_bpermute_b32 v1, v2, v3", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL, "ds_swizzle_b32 v1, v2 offset:5", "s_nop 0", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL, "ds_add_rtn_u32 v1, v2, v3", "s_nop 0", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL, "ds_read_b32 v1, v2\ns_load_dword s8, s[2:3], 0x0", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL, "s_load_dword s8, s[2:3], 0x0\nds_read_b32 v1, v2", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)",
     "s_mov_b32 s0, s8"},
    {ALL, "ds_read_b32 v1, v2\ns_sendmsg sendmsg(MSG_INTERRUPT)", "s_waitcnt lgkmcnt(1)",
     "s_waitcnt lgkmcnt(0)", "v_mov_b32 v0, v1"},
    /* A flat address of LDS, as in v[2:3]: it counts in both. */
    {ALL, "flat_load_dword v1, v[2:3]", "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL, "flat_load_dword v1, v[2:3]", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL, "flat_load_dword v1, v[2:3]\nglobal_load_dword v4, v[2:3], off", "s_waitcnt vmcnt(1) lgkmcnt(0)",
     "s_waitcnt vmcnt(0) lgkmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL, "global_load_dword v4, v[2:3], off\nflat_load_dword v1, v[2:3]", "s_waitcnt vmcnt(1)",
     "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v4"},
    {ALL, "flat_load_dword v1, v[2:3]\nflat_load_dword v4, v[2:3]", "s_waitcnt vmcnt(1) lgkmcnt(1)",
     "s_waitcnt vmcnt(0) lgkmcnt(0)", "v_mov_b32 v0, v1"},
    /* One of no LDS is vector memory, and counts as that. */
    {ALL | N, "flat_load_dword v1, v[20:21]", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v1"},
    {ALL | N, "flat_load_dword v1, v[20:21]\nglobal_load_dword v4, v[2:3], off",
     "s_waitcnt vmcnt(2) lgkmcnt(0)", "s_waitcnt vmcnt(1)", "v_mov_b32 v0, v1"},
    {ALL | N, "flat_atomic_add v1, v[20:21], v4 glc\nds_read_b32 v5, v6", "s_waitcnt lgkmcnt(0)",
     "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v1"},
    {ALL | N, "flat_load_dword v1, v[20:21]", NULL, NULL, "global_load_dword v1, v[4:5], off"},
    /* A counter that is full keeps the next one waiting: the first is over then. */
    {ALL, "ds_read_b32 v1, v2\n.rept 14\nds_read_b32 v3, v2\n.endr", "s_nop 0", "ds_read_b32 v3, v2",
     "v_mov_b32 v0, v1"},

    /* gfx10 counts what returns nothing apart. */
    {N, "global_load_dword v1, v[2:3], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off", "s_waitcnt_vscnt null, 0x0", "s_waitcnt vmcnt(0)",
     "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off", "s_waitcnt_depctr 0x0", "s_waitcnt_vmcnt null, 0x0",
     "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off", "s_waitcnt_lgkmcnt null, 0x0", "s_wait_idle",
     "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off\nglobal_store_dword v[2:3], v9, off", "s_waitcnt vmcnt(1)",
     "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off\nglobal_atomic_add v[2:3], v9, off", "s_waitcnt vmcnt(1)",
     "s_waitcnt vmcnt(0)", "v_mov_b32 v0, v1"},
    {N, "global_load_dword v1, v[2:3], off\nglobal_atomic_add v4, v[2:3], v9, off glc", "s_waitcnt vmcnt(2)",
     "s_waitcnt vmcnt(1)", "v_mov_b32 v0, v1"},
    {N, "buffer_load_dword v1, v2, s[4:7], 0 offen\nbuffer_store_dword v9, v2, s[8:11], 0 offen", NULL, NULL,
     "v_mov_b32 v0, v5"},
    {N, "ds_read_b32 v1, v2", "s_waitcnt vmcnt(0)", "s_waitcnt_lgkmcnt null, 0x0", "v_mov_b32 v0, v1"},
    {N, "ds_read_b32 v1, v2\n.rept 20\nds_read_b32 v3, v2\n.endr", "s_waitcnt lgkmcnt(21)",
     "s_waitcnt lgkmcnt(20)", "v_mov_b32 v0, v1"},
    {N, "s_load_dword s8, s[2:3], 0x0\ns_load_dword s9, s[2:3], 0x4", "s_waitcnt lgkmcnt(1)",
     "s_waitcnt lgkmcnt(0)", "s_mov_b32 s0, s8"},
    {N, "s_load_dword s104, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_mov_b32 s0, s104"},
    /* Flat memory comes in order there, in each of its counters, also where it is no local memory. */
    {N, "flat_load_dword v1, v[2:3]\nflat_load_dword v4, v[20:21]", "s_waitcnt vmcnt(1) lgkmcnt(2)",
     "s_waitcnt vmcnt(1) lgkmcnt(1)", "v_mov_b32 v0, v1"},
    {N, "flat_load_dword v1, v[2:3]\nflat_load_dword v4, v[20:21]\ns_waitcnt vmcnt(0)",
     "s_waitcnt lgkmcnt(2)", "s_waitcnt lgkmcnt(1)", "v_mov_b32 v0, v1"},
    {N, "ds_read_b32 v1, v2\nflat_load_dword v4, v[20:21]", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(1)",
     "v_mov_b32 v0, v1"},
    {N, "flat_load_dword v1, v[2:3]", "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)",
     "v_mov_b32 v0, v1"},
    {N, "flat_load_dword v1, v[2:3]\nglobal_load_dword v4, v[2:3], off", "s_waitcnt vmcnt(2) lgkmcnt(0)",
     "s_waitcnt vmcnt(1) lgkmcnt(0)", "v_mov_b32 v0, v1"},
    {N, "flat_load_dword v1, v[2:3]\nds_read_b32 v4, v2", "s_waitcnt vmcnt(0) lgkmcnt(2)",
     "s_waitcnt vmcnt(0) lgkmcnt(1)", "v_mov_b32 v0, v1"},
    {N, "flat_load_dword v1, v[2:3]\nflat_load_dword v4, v[2:3]", "s_waitcnt vmcnt(1) lgkmcnt(2)",
     "s_waitcnt vmcnt(1) lgkmcnt(1)", "v_mov_b32 v0, v1"},
    {N, "ds_read_b32 v4, v2\nflat_store_dword v[2:3], v9", "s_waitcnt lgkmcnt(2)", "s_waitcnt lgkmcnt(1)",
     "v_mov_b32 v0, v4"},
    {N, "flat_load_dword v1, v[2:3]\nflat_store_dword v[2:3], v9", "s_waitcnt vmcnt(1) lgkmcnt(0)",
     "s_waitcnt vmcnt(0) lgkmcnt(1)", "v_mov_b32 v0, v1"},
    /* Masks are as wide as waves. */
    {N32, "s_load_dword s9, s[2:3], 0x0", NULL, NULL, "v_cndmask_b32 v0, v1, v2, s8"},
    {N32, "s_load_dword s9, s[2:3], 0x0", NULL, NULL, "v_cmp_eq_u32 s8, v1, v2"},
    {N32, "s_load_dword s8, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "v_cndmask_b32 v0, v1, v2, s8"},
    {N32, "s_load_dword vcc_hi, s[2:3], 0x0", NULL, NULL, "s_cbranch_vccz 1"},
    {N64, "s_load_dword s9, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "v_cndmask_b32 v0, v1, v2, s[8:9]"},
    {N64, "s_load_dword vcc_hi, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)", "s_cbranch_vccz 1"},
    /* ... and the hardware looks after the rest. */
    {N, "v_readfirstlane_b32 s4, v1", NULL, NULL, "global_load_dword v2, v3, s[4:5]"},
    {N, "s_mov_b32 m0, s1", NULL, NULL, "s_sendmsg sendmsg(MSG_INTERRUPT)"},

    /* Nothing is wrong with these. */
    {ALL, "global_load_dword v1, v[2:3], off", NULL, NULL, "global_load_dword v1, v[4:5], off"},
    {ALL, "ds_read_b32 v1, v2", NULL, NULL, "ds_read_b32 v1, v3"},
    {ALL, "global_load_dword v1, v[2:3], off", NULL, NULL, "v_mov_b32 v2, 0"},
    {ALL, "global_store_dword v[2:3], v1, off", NULL, NULL, "v_mov_b32 v1, 0"},
    {ALL, "ds_write_b32 v2, v1", NULL, NULL, "v_mov_b32 v1, 0"},
    {ALL, "global_atomic_add v[2:3], v4, off", NULL, NULL, "v_mov_b32 v4, 0"},
    {ALL, "buffer_load_dword v1, s[4:7], 0 offen lds", NULL, NULL, "v_mov_b32 v1, 0"},
    {ALL, "buffer_atomic_cmpswap v[6:7], v8, s[4:7], 0 offen glc", NULL, NULL, "v_mov_b32 v7, 0"},
    {ALL, "s_load_dwordx2 s[8:9], s[2:3], 0x0", NULL, NULL, "s_add_u32 s0, s10, s7"},
    {ALL, "global_load_dword v1, v[2:3], off", NULL, NULL, "v_add_u32 v0, v2, v3"},

    /* Wait states. */
    {ALL, "v_readfirstlane_b32 s4, v1", "s_nop 3", "s_nop 4", "buffer_load_dword v2, v3, s[4:7], 0 offen"},
    {ALL, "v_readfirstlane_b32 s4, v1", "s_nop 3", "s_nop 4", "global_load_dword v2, v3, s[4:5]"},
    {ALL, "s_nop 15\ns_nop 1\nv_readfirstlane_b32 s4, v1", "s_nop 3", "s_nop 4",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2", "s_nop 3", "s_nop 4", "global_store_dword v3, v2, s[4:5]"},
    /* What a scalar instruction writes has waited for that, and is there; the other half is not. */
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_mov_b64 s[4:5], s[8:9]", NULL, NULL,
     "global_store_dword v3, v2, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_mov_b32 s4, s8\ns_mov_b32 s5, s8", NULL, NULL,
     "global_store_dword v3, v2, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_mov_b32 s4, s8", "s_nop 2", "s_nop 3",
     "global_store_dword v3, v2, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_mov_b32 s5, s8", "s_nop 2", "s_nop 3",
     "global_store_dword v3, v2, s[4:5]"},
    {ALL, "v_readfirstlane_b32 s4, v1", "s_nop 2", "s_nop 3", "v_readlane_b32 s0, v1, s4"},
    {ALL, "v_readfirstlane_b32 s4, v1", "s_nop 2", "s_nop 3", "v_writelane_b32 v1, 5, s4"},
    {ALL, "v_cmp_eq_u32 vcc, v1, v2", "s_nop 2", "s_nop 3", "v_div_fmas_f32 v0, v1, v2, v3"},
    {ALL, "v_div_scale_f64 v[0:1], vcc, v[2:3], v[2:3], v[4:5]", "s_nop 2", "s_nop 3",
     "v_div_fmas_f64 v[6:7], v[8:9], v[2:3], v[4:5]"},
    {ALL, "v_cmpx_eq_u32 vcc, v1, v2", "s_nop 3", "s_nop 4", "v_mov_b32_dpp v0, v3 row_shr:1"},
    {ALL, "v_mov_b32 v3, v1", "s_nop 0", "s_nop 1", "v_mov_b32_dpp v0, v3 row_shr:1"},
    {ALL, "v_cmp_eq_u32 vcc, v1, v2", "s_nop 3", "s_nop 4", "v_mov_b32 v0, src_vccz"},
    {ALL, "v_cmpx_eq_u32 s[6:7], v1, v2", "s_nop 3", "s_nop 4", "v_mov_b32 v0, src_execz"},
    {ALL, "s_setreg_b32 hwreg(HW_REG_MODE), s0", "s_nop 0", "s_nop 1", "s_getreg_b32 s1, hwreg(HW_REG_MODE)"},
    {ALL, "s_setreg_b32 hwreg(HW_REG_MODE), s0", "s_nop 0", "s_nop 1", "s_setreg_b32 hwreg(HW_REG_MODE), s1"},
    {ALL, "s_mov_b32 m0, s1", "", "s_nop 0", "s_sendmsg sendmsg(MSG_INTERRUPT)"},
    {ALL, "s_mov_b32 m0, s1", "", "s_nop 0", "s_movrels_b32 s0, s4"},
    {ALL, "s_mov_b32 m0, s1", "", "s_nop 0", "buffer_load_dword v1, s[4:7], 0 offen lds"},
    {TO_90A, "global_store_dwordx4 v[2:3], v[8:11], off", "", "s_nop 0", "v_mov_b32 v10, 0"},
    {TO_90A, "buffer_store_dwordx3 v[8:10], v2, s[4:7], 0 offen", "", "s_nop 0", "v_mov_b32 v10, 0"},
    {ALL, "buffer_store_dwordx3 v[8:10], v2, s[4:7], s8 offen", NULL, NULL, "v_mov_b32 v10, 0"},
    {ALL, "global_store_dwordx2 v[2:3], v[8:9], off", NULL, NULL, "v_mov_b32 v9, 0"},
    {ALL, "s_mov_b32 s4, s1", NULL, NULL, "buffer_load_dword v2, v3, s[4:7], 0 offen"},
    {ALL, "v_readfirstlane_b32 s4, v1", NULL, NULL, "s_add_u32 s0, s4, s4"},
    {ALL, "v_readfirstlane_b32 s8, v1", NULL, NULL, "buffer_load_dword v2, v3, s[4:7], 0 offen"},
    {ALL, "v_readfirstlane_b32 s4, v1", NULL, NULL, "v_readlane_b32 s0, v1, s5"},
    {ALL, "s_setreg_b32 hwreg(HW_REG_MODE), s0", NULL, NULL, "s_getreg_b32 s1, hwreg(HW_REG_TRAPSTS)"},
    {ALL, "v_mov_b32 v3, v1", NULL, NULL, "v_mov_b32_dpp v0, v4 row_shr:1"},
    {ALL, "v_readfirstlane_b32 s4, v1\ns_setpc_b64 s[30:31]", NULL, NULL, "global_load_dword v2, v3, s[4:5]"},
    /* ... also where a block ends between the two, and where one is long. */
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_waitcnt vmcnt(0)\ns_mov_b64 s[4:5], s[8:9]", NULL, NULL,
     "global_store_dword v3, v2, s[4:5]"},
    {ALL, "v_cmp_eq_u32 vcc, v1, v2\ns_waitcnt vmcnt(0)", "s_nop 1", "s_nop 2",
     "v_div_fmas_f32 v0, v1, v2, v3"},
    {ALL, ".rept 9\ns_waitcnt vmcnt(0)\n.endr\nv_readfirstlane_b32 s4, v1", "s_nop 3", "s_nop 4",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, ".rept 50\nv_mov_b32 v9, v8\n.endr\nv_readfirstlane_b32 s4, v1", "s_nop 3", "s_nop 4",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s4, v1\n.rept 30\nv_mov_b32 v9, v8\n.endr", NULL, NULL,
     "global_load_dword v2, v3, s[4:5]"},

    /* What gfx942 adds. */
    {M942, "global_store_dwordx4 v[2:3], v[8:11], off", "s_nop 0", "s_nop 1", "v_mov_b32 v10, 0"},
    {M942, "buffer_store_dwordx3 v[8:10], v2, s[4:7], 0 offen", "s_nop 0", "s_nop 1", "v_mov_b32 v10, 0"},
    {M942, "v_readfirstlane_b32 s4, v1", "s_nop 0", "s_nop 1", "v_add_u32 v0, s4, v2"},
    {M942, "v_cmp_eq_u32 vcc, v1, v2", "s_nop 0", "s_nop 1", "v_mov_b32 v0, vcc_lo"},
    {M942, "v_cmp_eq_u32 s[4:5], v1, v2\ns_waitcnt vmcnt(0)", "", "s_nop 0", "v_mov_b32 v0, s5"},
    {M942, "v_cmp_eq_u32 s[4:5], v1, v2", NULL, NULL, "v_cndmask_b32 v0, v1, v2, s[4:5]"},
    {M942, "v_cmp_eq_u32 vcc, v1, v2", NULL, NULL, "v_addc_co_u32 v0, vcc, v1, v2, vcc"},
    {M942, "v_readfirstlane_b32 s4, v1\ns_mov_b32 s4, s5", NULL, NULL, "v_add_u32 v0, s4, v2"},
    {M942, "v_readfirstlane_b32 s4, v1", NULL, NULL, "v_add_u32 v0, s5, v2"},
    /* The same in a block of its own, as a jump ends one; all of what was written, a part of it, and another.
     */
    {ALL, "v_readfirstlane_b32 s4, v1\ns_branch 0\ns_mov_b32 s4, s6\ns_branch 0", NULL, NULL,
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_readfirstlane_b32 s4, v1\ns_branch 0\ns_mov_b64 s[4:5], s[6:7]\ns_branch 0", NULL, NULL,
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_branch 0\ns_mov_b32 s4, s6\ns_branch 0", "s_nop 0", "s_nop 1",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_cmp_eq_u32 s[4:5], v1, v2\ns_branch 0\ns_mov_b32 s5, s6\ns_branch 0", "s_nop 0", "s_nop 1",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_readfirstlane_b32 s4, v1\ns_branch 0\ns_mov_b32 s3, s6\ns_branch 0", "s_nop 0", "s_nop 1",
     "global_load_dword v2, v3, s[4:5]"},
    {ALL, "v_readfirstlane_b32 s63, v1\ns_branch 0\ns_mov_b64 s[62:63], s[6:7]\ns_branch 0", NULL, NULL,
     "global_load_dword v2, v3, s[62:63]"},
    {ALL,
     "v_readfirstlane_b32 s4, v1\nv_readfirstlane_b32 s6, v1\ns_branch 0\ns_mov_b32 s4, s8\ns_mov_b32 s6, "
     "s8\n"
     "s_branch 0",
     NULL, NULL, "global_load_dword v2, v3, s[6:7]"},
    {ALL, "v_readfirstlane_b32 s64, v1\ns_branch 0\ns_mov_b64 s[64:65], s[6:7]\ns_branch 0", NULL, NULL,
     "global_load_dword v2, v3, s[64:65]"},
    {ALL, "v_readfirstlane_b32 s4, v1\ns_branch 0\ns_mov_b32 s4, s6\nv_readfirstlane_b32 s4, v1\ns_branch 0",
     "s_nop 2", "s_nop 3", "global_load_dword v2, v3, s[4:5]"},
    {TO_90A, "v_readfirstlane_b32 s4, v1", NULL, NULL, "v_add_u32 v0, s4, v2"},
    {M942, "v_cmpx_eq_u32 s[6:7], v1, v2", "s_nop 0", "s_nop 1", "v_mov_b32 v0, exec_lo"},
    {M942, "v_cmpx_eq_u32 s[6:7], v1, v2", "s_nop 2", "s_nop 3", "v_readlane_b32 s0, v3, 0"},
    {M942, "v_cmpx_eq_u32 s[6:7], v1, v2", "s_nop 2", "s_nop 3", "v_readfirstlane_b32 s0, v3"},
    {M942, "v_cmpx_eq_u32 s[6:7], v1, v2", "s_nop 2", "s_nop 3", "v_writelane_b32 v3, 1, 0"},
    {M942, "v_cmpx_eq_u32 s[6:7], v1, v2", NULL, NULL, "v_mov_b32 v0, v3"},
    {TO_90A, "v_cmpx_eq_u32 s[6:7], v1, v2", NULL, NULL, "v_readlane_b32 s0, v3, 0"},
    {M942, "v_mov_b32 v1, v2", "", "s_nop 0", "v_readlane_b32 s0, v1, 0"},
    {M942, "v_mov_b32 v1, v2", NULL, NULL, "v_readfirstlane_b32 s0, v1"},
    {TO_90A, "v_mov_b32 v1, v2", NULL, NULL, "v_readlane_b32 s0, v1, 0"},
    {M942, "v_add_u16_sdwa v1, v2, v3 dst_sel:BYTE_1", "", "s_nop 0", "v_mov_b32 v0, v1"},
    {M942, "v_mad_i16 v1, v2, v3, v4 op_sel:[0,0,0,1]", "", "s_nop 0", "v_mov_b32 v0, v1"},
    {M942, "v_mad_i16 v1, v2, v3, v4 op_sel:[1,0,0,0]", NULL, NULL, "v_mov_b32 v0, v1"},
    {M942, "v_add_u16_sdwa v1, v2, v3 dst_sel:DWORD src0_sel:BYTE_1", NULL, NULL, "v_mov_b32 v0, v1"},
    {TO_90A, "v_add_u16_sdwa v1, v2, v3 dst_sel:BYTE_1", NULL, NULL, "v_mov_b32 v0, v1"},
    {M942, "v_rcp_f32 v1, v2", "", "s_nop 0", "v_mul_f32 v0, v1, v3"},
    {M942, "v_rsq_f64 v[4:5], v[2:3]", "", "s_nop 0", "v_mul_f64 v[6:7], v[4:5], v[8:9]"},
    {M942, "v_exp_f32 v1, v2", NULL, NULL, "v_log_f32 v0, v1"},
    {M942, "v_sqrt_f32 v1, v2", NULL, NULL, "global_store_dword v[2:3], v1, off"},
    {TO_90A, "v_rcp_f32 v1, v2", NULL, NULL, "v_mul_f32 v0, v1, v3"},

    /* Matrices. */
    {MATRIX, "v_cmpx_eq_u32 vcc, v1, v2", "s_nop 2", "s_nop 3", "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]"},
    {MATRIX, "v_mov_b32 v4, v1", "s_nop 0", "s_nop 1", "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]"},
    {M908, "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]", "s_nop 2", "s_nop 3", "v_accvgpr_read_b32 v0, a2"},
    {M908, "v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[0:15]", "s_nop 7\ns_nop 0", "s_nop 7\ns_nop 1",
     "v_accvgpr_read_b32 v0, a2"},
    {M908, "v_mfma_f32_32x32x1f32 a[0:31], v4, v5, a[0:31]", "s_nop 15\ns_nop 0", "s_nop 15\ns_nop 1",
     "v_accvgpr_read_b32 v0, a2"},
    {M908, "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]", "s_nop 0", "s_nop 1",
     "v_mfma_f32_4x4x1f32 a[8:11], v4, v5, a[2:5]"},
    {M908, "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]", "s_nop 2", "s_nop 3",
     "v_mfma_f32_4x4x1f32 a[8:11], a1, v5, a[12:15]"},
    {M908, "v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[16:31]", "s_nop 5", "s_nop 6",
     "v_accvgpr_write_b32 a2, v6"},
    {M908, "v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[16:31]", "s_nop 3", "s_nop 4",
     "v_accvgpr_write_b32 a20, v6"},
    {M908, "v_accvgpr_write_b32 a2, v6", "", "s_nop 0", "v_mfma_f32_4x4x1f32 a[8:11], v4, v5, a[0:3]"},
    {M908, "v_accvgpr_write_b32 a2, v6", "s_nop 1", "s_nop 2", "v_mfma_f32_4x4x1f32 a[8:11], a2, v5, a[4:7]"},
    {M908, "v_accvgpr_write_b32 a2, v6", "s_nop 1", "s_nop 2", "v_accvgpr_read_b32 v7, a2"},
    {M908, "v_accvgpr_read_b32 v7, a2", "s_nop 0", "s_nop 1", "global_store_dword v[2:3], v7, off"},
    {MATRIX, "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]", NULL, NULL,
     "v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]"},
    {M90A, "v_mfma_f32_4x4x1f32 v[8:11], v4, v5, v[8:11]", "s_nop 3", "s_nop 4", "v_mov_b32 v0, v9"},
    {M90A, "v_mfma_f32_16x16x1f32 v[8:23], v4, v5, v[8:23]", "s_nop 9", "s_nop 10",
     "global_store_dword v[2:3], v9, off"},
    {M90A, "v_mfma_f32_32x32x1f32 v[32:63], v4, v5, v[32:63]", "s_nop 15\ns_nop 1", "s_nop 15\ns_nop 2",
     "v_add_u32 v0, v40, v40"},
    {M90A, "v_mfma_f32_16x16x1f32 v[8:23], v4, v5, v[8:23]", "s_nop 6", "s_nop 7",
     "v_mfma_f32_16x16x1f32 v[32:47], v4, v5, v[10:25]"},
    {M90A, "v_mfma_f32_16x16x1f32 v[8:23], v4, v5, v[8:23]", "s_nop 9", "s_nop 10",
     "v_mfma_f32_16x16x1f32 v[32:47], v8, v5, v[48:63]"},
    {M90A, "v_mfma_f32_16x16x1f32 v[8:23], v4, v5, v[8:23]", "s_nop 9", "s_nop 10", "v_mov_b32 v9, 0"},
    {M90A, "v_mfma_f32_16x16x1f32 v[8:23], v4, v5, v[32:47]", "s_nop 5", "s_nop 6", "v_mov_b32 v33, 0"},
    {M90A, "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 9", "s_nop 10",
     "v_add_u32 v0, v9, v9"},
    {M90A, "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 15\ns_nop 0", "s_nop 15\ns_nop 1",
     "global_store_dword v[2:3], v9, off"},
    {M90A, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 2", "s_nop 3",
     "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]"},
    {M90A, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 0", "s_nop 1",
     "v_fma_f64 v[20:21], v[22:23], v[24:25], v[26:27]"},
    {M90A, "v_dot2_f32_f16 v8, v1, v2, v3", "s_nop 1", "s_nop 2", "v_add_f32 v0, v8, v8"},
    {M90A, "v_dot2_f32_f16 v8, v1, v2, v3", "s_nop 1", "s_nop 2", "v_dot2_f32_f16 v9, v8, v2, v3"},
    {M90A, "v_dot2_f32_f16 v8, v1, v2, v3", NULL, NULL, "v_dot2_f32_f16 v9, v1, v2, v8"},
    /* Both parts whose registers are one file. */
    {U, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 2", "s_nop 3",
     "v_mfma_f64_16x16x4f64 v[20:27], v[4:5], v[6:7], v[8:15]"},
    {M90A | M942, "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 7", "s_nop 7\ns_nop 0",
     "v_mfma_f64_16x16x4f64 v[20:27], v[4:5], v[6:7], v[10:17]"},
    {U, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 4", "s_nop 5",
     "v_mfma_f64_4x4x4f64 v[20:21], v[8:9], v[6:7], v[22:23]"},
    {M90A | M942, "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 9", "s_nop 10",
     "v_mfma_f64_4x4x4f64 v[20:21], v[8:9], v[6:7], v[22:23]"},
    {U, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 4", "s_nop 5", "v_add_u32 v0, v9, v9"},
    {U, "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 7", "s_nop 7\ns_nop 0",
     "global_store_dword v[2:3], v9, off"},
    {M90A, "v_swap_b32 v4, v5", "s_nop 0", "s_nop 1", "v_mfma_f32_4x4x1f32 v[8:11], v5, v6, v[8:11]"},
    {M90A, "v_mfma_f32_4x4x1f32 v[8:11], v5, v6, v[8:11]", "s_nop 3", "s_nop 4", "v_swap_b32 v9, v4"},
    {U, "v_dot2_f32_f16 v8, v1, v2, v3", "s_nop 1", "s_nop 2", "v_dot2_f32_f16 v9, v8, v2, v3"},
    {U, "v_dot2_f32_f16 v8, v1, v2, v3", "s_nop 1", "s_nop 2", "v_mov_b32 v8, 0"},
    {M942, "v_mfma_f64_4x4x4_4b_f64 v[10:11], v[4:5], v[6:7], v[8:9]", "s_nop 2", "s_nop 3",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[8:11]"},

    /* Those of gfx942, by passes: of all others, and of floats, which need one less. */
    {M942, "v_cmpx_eq_u32 vcc, v1, v2", "s_nop 2", "s_nop 3",
     "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]"},
    {M942, "v_mov_b32 v4, v1", "s_nop 0", "s_nop 1",
     "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]"},
    {M942, "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 0", "s_nop 1",
     "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]"},
    {M942, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]", NULL, NULL,
     "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]", NULL, NULL,
     "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]"},
    {M942, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 3", "s_nop 4",
     "v_mfma_f32_16x16x16_f16 v[20:23], v[4:5], v[6:7], v[10:13]"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]", "s_nop 6", "s_nop 7",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]", NULL, NULL,
     "v_mfma_f32_16x16x16_f16 v[20:23], v[4:5], v[6:7], v[10:13]"},
    {M942, "v_mfma_f32_16x16x8_xf32 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 5", "s_nop 6",
     "v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[6:7], v[24:27]"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]", "s_nop 7\ns_nop 0", "s_nop 7\ns_nop 1",
     "v_mfma_f32_16x16x4_f32 v[20:23], v8, v5, v[24:27]"},
    {M942, "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 3", "s_nop 4",
     "v_mov_b32 v0, v9"},
    {M942, "v_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v5, v[8:11]", "s_nop 2", "s_nop 3", "v_mov_b32 v0, v9"},
    {M942, "v_mfma_i32_16x16x32_i8 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 5", "s_nop 6",
     "global_store_dword v[2:3], v9, off"},
    {M942, "v_mfma_f32_32x32x8_f16 v[32:47], v[4:5], v[6:7], v[32:47]", "s_nop 9", "s_nop 10",
     "v_mov_b32 v0, v40"},
    {M942, "v_mfma_f32_32x32x4_xf32 v[32:47], v[4:5], v[6:7], v[32:47]", "s_nop 9", "s_nop 10",
     "v_mov_b32 v0, v40"},
    {M942, "v_mfma_f32_32x32x4_2b_f16 v[32:63], v[4:5], v[6:7], v[32:63]", "s_nop 15\ns_nop 1",
     "s_nop 15\ns_nop 2", "v_mov_b32 v0, v40"},
    {M942, "v_mfma_f32_32x32x2_f32 v[32:47], v4, v5, v[32:47]", "s_nop 15\ns_nop 0", "s_nop 15\ns_nop 1",
     "v_mov_b32 v0, v40"},
    {M942, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[20:23]", "s_nop 5", "s_nop 6",
     "v_mov_b32 v9, 0"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[20:23]", "s_nop 7\ns_nop 0", "s_nop 7\ns_nop 1",
     "v_mov_b32 v9, 0"},
    {M942, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[20:23]", "s_nop 1", "s_nop 2",
     "v_mov_b32 v21, 0"},
    {M942, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[20:23]", NULL, NULL, "v_mov_b32 v21, 0"},
    {M942, "v_smfmac_f32_16x16x32_f16 v[8:11], v[4:5], v[12:15], v20", "s_nop 5", "s_nop 6",
     "v_mov_b32 v0, v9"},
    {M942, "v_smfmac_f32_32x32x16_f16 v[32:47], v[4:5], v[12:15], v20", "s_nop 9", "s_nop 10",
     "v_mov_b32 v0, v40"},
    {M942, "v_mfma_f32_16x16x16_f16 v[20:23], v[4:5], v[6:7], v[24:27]", "s_nop 5", "s_nop 6",
     "v_smfmac_f32_16x16x32_f16 v[8:11], v[4:5], v[12:15], v20"},
    {M942, "v_mfma_f32_16x16x16_f16 v[10:13], v[4:5], v[6:7], v[24:27]", "s_nop 3", "s_nop 4",
     "v_smfmac_f32_16x16x32_f16 v[8:11], v[4:5], v[14:17], v20"},
    {M942, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 9", "s_nop 10",
     "v_add_u32 v0, v9, v9"},
    {M942, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 15\ns_nop 0",
     "s_nop 15\ns_nop 1", "global_store_dword v[2:3], v9, off"},
    {M942, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 7", "s_nop 7\ns_nop 0",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M942, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 9", "s_nop 10",
     "v_mov_b32 v9, 0"},
    {M942, "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 2", "s_nop 3",
     "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], v[8:9]"},
    {M942, "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 4", "s_nop 5", "v_mov_b32 v9, 0"},
    {M942, "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], v[8:9]", "s_nop 0", "s_nop 1",
     "v_fma_f64 v[20:21], v[22:23], v[24:25], v[26:27]"},
    {M942, "v_dot2_f32_f16 v8, v1, v2, v3", "s_nop 1", "s_nop 2", "v_add_f32 v0, v8, v8"},
    {M942, "v_dot2_f32_f16 v8, v1, v2, v3", NULL, NULL, "v_dot2_f32_f16 v9, v1, v2, v8"},

    /* gfx950's are over later, those of two passes but for other such sums; and by the format of what they
       multiply. */
    {M950, "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 2", "s_nop 3",
     "v_mfma_f32_4x4x4_16b_f16 v[20:23], v[4:5], v[6:7], v[10:13]"},
    {M950, "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 1", "s_nop 2",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M950, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 4", "s_nop 5",
     "v_mfma_f32_16x16x16_f16 v[20:23], v[4:5], v[6:7], v[10:13]"},
    {M950, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 4", "s_nop 5",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M950, "v_mfma_f32_16x16x4_f32 v[8:11], v4, v5, v[8:11]", "s_nop 6", "s_nop 7",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M950, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 6", "s_nop 7",
     "v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[6:7], v[24:27]"},
    {M950, "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]", "s_nop 3", "s_nop 4",
     "v_mov_b32 v0, v9"},
    {M950, "v_mfma_f32_16x16x32_f16 v[8:11], v[4:7], v[12:15], v[8:11]", "s_nop 6", "s_nop 7",
     "v_mov_b32 v0, v9"},
    {M950, "v_mfma_f32_32x32x16_f16 v[32:47], v[4:7], v[12:15], v[32:47]", "s_nop 10", "s_nop 11",
     "global_store_dword v[2:3], v40, off"},
    {M950, "v_mfma_f32_32x32x4_2b_f16 v[32:63], v[4:5], v[6:7], v[32:63]", "s_nop 15\ns_nop 2",
     "s_nop 15\ns_nop 3", "v_mov_b32 v0, v40"},
    {M950, "v_mfma_f32_32x32x2_f32 v[32:47], v4, v5, v[32:47]", "s_nop 15\ns_nop 0", "s_nop 15\ns_nop 1",
     "v_mov_b32 v0, v40"},
    {M950, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[20:23]", "s_nop 6", "s_nop 7",
     "v_mov_b32 v9, 0"},
    {M950, "v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[20:23]", "s_nop 1", "s_nop 2",
     "v_mov_b32 v21, 0"},
    {M950, "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:19], v[20:23], v[8:11] cbsz:4 blgp:4", "s_nop 6",
     "s_nop 7", "v_mov_b32 v0, v9"},
    {M950, "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[24:27], v[8:11] cbsz:1 blgp:4", "s_nop 10",
     "s_nop 11", "v_mov_b32 v0, v9"},
    {M950, "v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:21], v[24:31], v[8:11] cbsz:2", "s_nop 10", "s_nop 11",
     "v_mov_b32 v0, v9"},
    {M950, "v_mfma_f32_32x32x64_f8f6f4 v[32:47], v[16:23], v[24:31], v[32:47]", "s_nop 15\ns_nop 2",
     "s_nop 15\ns_nop 3", "v_mov_b32 v0, v40"},
    {M950, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 15\ns_nop 1",
     "s_nop 15\ns_nop 2", "v_add_u32 v0, v9, v9"},
    {M950, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 15", "s_nop 15\ns_nop 0",
     "v_mfma_f32_16x16x4_f32 v[20:23], v4, v5, v[10:13]"},
    {M950, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 15\ns_nop 1",
     "s_nop 15\ns_nop 2", "v_mfma_f32_16x16x4_f32 v[20:23], v8, v5, v[24:27]"},
    {M950, "v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]", "s_nop 9", "s_nop 10",
     "v_mov_b32 v9, 0"},
    {M950, "v_mov_b32 v1, v2", "s_nop 0", "s_nop 1", "v_permlane32_swap_b32 v0, v1"},
    {M950, "v_mov_b32 v0, v2", "s_nop 0", "s_nop 1", "v_permlane16_swap_b32 v0, v1"},
    {M950, "v_permlane16_swap_b32 v0, v1", "s_nop 0", "s_nop 1", "v_permlane32_swap_b32 v1, v2"},
    {M950, "v_cmpx_eq_u32 vcc, v1, v2", "s_nop 2", "s_nop 3", "v_permlane32_swap_b32 v4, v5"},
    {M950, "v_permlane32_swap_b32 v0, v1", NULL, NULL, "v_mov_b32 v4, v1"},

    /* Pairs of gfx11: either source of either part, what they add to, and what they overwrite. */
    {W32, "global_load_b32 v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_dual_mov_b32 v4, v1 :: v_dual_add_f32 v7, v6, v8"},
    {W32, "global_load_b32 v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_dual_mul_f32 v4, v6, v1 :: v_dual_mov_b32 v7, v5"},
    {W32, "global_load_b32 v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_dual_mov_b32 v4, v5 :: v_dual_add_f32 v7, v6, v1"},
    {W32, "global_load_b32 v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_dual_mov_b32 v4, v5 :: v_dual_fmac_f32 v1, v6, v7"},
    {W32, "global_load_b32 v1, v[2:3], off", "s_nop 0", "s_waitcnt vmcnt(0)",
     "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v1, v6"},
    {W32, "s_load_b32 vcc_lo, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "v_dual_mov_b32 v4, v5 :: v_dual_cndmask_b32 v7, v6, v9"},
    {W32, "s_load_b32 s6, s[2:3], 0x0", "s_nop 0", "s_waitcnt lgkmcnt(0)",
     "v_dual_mov_b32 v4, v5 :: v_dual_add_f32 v7, s6, v9"},
    /* Those of gfx11, and any VALU instruction between. */
    {W32, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "s_nop 7", "v_nop",
     "v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]"},
    {W32, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "s_mov_b32 s0, s1",
     "v_dual_mov_b32 v40, v41 :: v_dual_mov_b32 v43, v44",
     "v_wmma_f32_16x16x16_f16 v[24:31], v[16:23], v[4:11], v[24:31]"},
    {W32,
     "v_nop\ns_waitcnt vmcnt(0)\nv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\n"
     "s_waitcnt vmcnt(0)",
     "s_nop 7", "v_mov_b32 v40, v41", "v_wmma_i32_16x16x16_iu4 v[24:31], v[0:1], v[16:17], v[24:31]"},
    {W32, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", NULL, NULL,
     "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"},
    {W32, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", NULL, NULL, "v_mov_b32 v40, v0"},
    {W32, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]\nv_mov_b32 v40, v41\ns_waitcnt vmcnt(0)",
     NULL, NULL, "v_wmma_f32_16x16x16_f16 v[24:31], v[0:7], v[16:23], v[24:31]"},
    {W64, "v_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[16:23], v[0:3]", "s_nop 7", "v_nop",
     "v_wmma_f32_16x16x16_f16 v[24:27], v[0:7], v[16:23], v[24:27]"},

    /* Results of transcendental instructions, which gfx1151 waits for by itself. */
    {P1100, "v_exp_f32 v0, v1", "s_nop 7", "s_nop 0\ns_waitcnt_depctr 0xfff", "v_mov_b32 v2, v0"},
    {P1100, "v_exp_f32 v0, v1", "s_nop 0\ns_waitcnt_depctr 0xf0ff",
     "s_nop 0\nglobal_load_b32 v8, v[10:11], off", "v_add_f32 v2, v3, v0"},
    {P1100, "v_rcp_f32 v0, v1", "s_nop 0\ns_mov_b32 s0, s1", "s_nop 0\nds_store_b32 v8, v9",
     "v_fmac_f32 v0, v3, v4"},
    {P1100, "v_sqrt_f32 v0, v1\n.rept 4\nv_mov_b32 v8, v9\n.endr", "s_nop 0\nv_mov_b32 v8, v9",
     "v_mov_b32 v8, v9\nv_mov_b32 v8, v9", "v_rcp_f32 v2, v0"},
    {P1100, "v_exp_f32 v0, v1", "s_nop 0\nv_log_f32 v8, v9", "v_log_f32 v8, v9\nv_log_f32 v10, v9",
     "v_mov_b32 v2, v0"},
    {P1100, "v_exp_f32 v0, v1\ns_waitcnt vmcnt(0)\nv_mov_b32 v8, v9", "s_nop 0\ns_waitcnt vmcnt(0)",
     "s_nop 0\ns_waitcnt_depctr 0xfff", "v_mov_b32 v2, v0"},
    {P1100, "v_exp_f32 v0, v1", NULL, NULL, "v_mov_b32 v2, v1"},
    {P1100, "v_mov_b32 v0, v1", NULL, NULL, "v_mov_b32 v2, v0"},
    {P1151, "v_exp_f32 v0, v1", NULL, NULL, "v_mov_b32 v2, v0"},

    /* A change of EXEC that v_permlane would not see, and that v_nop does not mend. */
    {P1100 | P1151, "v_cmpx_eq_u32 v1, v2", "s_nop 7\nv_nop", "v_mov_b32 v8, v9",
     "v_permlane16_b32 v0, v1, s0, s1"},
    {P1100 | P1151, "v_cmpx_eq_u32 v1, v2\nv_nop", "s_nop 0", "v_mov_b32 v8, v9",
     "v_permlanex16_b32 v0, v1, s0, s1"},
    {W64, "v_cmp_eq_u32 vcc, v1, v2", NULL, NULL, "v_permlane16_b32 v0, v1, s0, s1"},
    {P1100 | P1151, "v_mov_b32 v1, v2", NULL, NULL, "v_permlane16_b32 v0, v1, s0, s1"},
    {P1030, "v_cmpx_eq_u32 v1, v2", NULL, NULL, "v_permlane16_b32 v0, v1, s0, s1"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void nothing(gs_wave_t *w, const gs_inst_t *in) {
  (void)w;
  (void)in;
}

/* What the tool told of. */
static unsigned found_uses, found_states;

static void tell_use(gs_wave_t *w, const gs_inst_t *in, const gs_operand_t *use, unsigned pending) {
  (void)w;
  (void)in;
  (void)use;
  (void)pending;
  found_uses++;
}
static void tell_states(gs_wave_t *w, const gs_inst_t *in, const gs_hazard_t *hazard, const gs_done_t *first,
                        const gs_operand_t *use, unsigned states) {
  (void)w;
  (void)in;
  (void)first;
  (void)use;
  assert_true(states < gs_states_of(hazard, first->passes));
  found_states++;
}

/* The tool, with a wave that begins. */
typedef struct bench {
  isa_wave_t *t;
  gs_check_t *check;
  void *keep[GS_KEEPS];
  enum { BARE, DIGESTED, IN_BLOCKS, WAYS } way; /* without digests the tool finds out for itself */
} bench_t;

static void begin_wave(bench_t *b) {
  const gs_begin_t begin = {.keep = b->keep};
  b->check->watch.begin(&b->t->w, &begin);
  assert_non_null(b->t->w.waits);
  for (unsigned lane = 0; lane < GS_MAX_LANES; lane++)
    b->t->w.v[3].u32[lane] = GS_SHARED_APERTURE_HI;
  b->t->w.pc = ISA_CODE;
  found_uses = found_states = 0;
}

static void set_up(bench_t *b, void *const *state) {
  const gs_options_t options = {.check = GS_CHECK_WAIT, .check_log = "/dev/null"};
  *b = (bench_t){.t = isa_new(state, ISA_PART), .way = DIGESTED};
  assert_int_equal(gs_check_create(&options, &b->check), 0);
  b->check->wait->tell_use = tell_use;
  b->check->wait->tell_states = tell_states;
  b->t->env.watch = &b->check->watch;
  begin_wave(b);
}

static void tear_down(bench_t *b) {
  for (size_t i = 0; i < GS_KEEPS; i++)
    free(b->keep[i]);
  gs_check_destroy(b->check);
  isa_free(b->t);
}

/* A program's instructions, for the tool to look at. */
enum { MOST = 256 };
typedef struct program {
  gs_inst_t in[MOST];
  gs_digest_t digest[MOST];
  gs_passage_t passage[MOST];
  unsigned count;
} program_t;

static void decode(bench_t *b, void *const *state, const char *text, program_t *p) {
  size_t count;
  const uint32_t *words = isa_assemble(state, ISA_PART, text, &count);
  p->count = 0;
  for (size_t at = 0; at < count; at += p->in[p->count++].size / 4) {
    assert_true(p->count < MOST);
    gs_inst_t *in = &p->in[p->count];
    if (!gs_decode(b->t->env.target, words + at, count - at, in))
      fail_msg("%s: dword %zu is no instruction", text, at);
    in->fn = nothing;
    b->check->watch.digest(b->check, b->t->env.target, in, &p->digest[p->count]);
    p->passage[p->count] = (gs_passage_t){ISA_CODE + 4 * at, &p->digest[p->count], in};
  }
}

/* Has a block pass that begins with instruction `first`. Returns how many instructions it has; none where the
 * tool wants to see them. */
static unsigned pass(bench_t *b, const program_t *p, unsigned first) {
  const gs_watch_t *watch = &b->check->watch;
  unsigned count = 0;
  while (first + count < p->count && p->digest[first + count].passing != GS_PASSES_NOT)
    if (p->digest[first + count++].passing == GS_PASSES_LAST)
      break;
  void *sum = count ? watch->sum(watch->context, b->t->env.target, p->passage + first, count) : NULL;
  const bool passes = sum && watch->pass(&b->t->w, sum);
  free(sum);
  return passes ? count : 0;
}

/* Has the tool look at a program. */
static void look_at(bench_t *b, void *const *state, const char *text) {
  static program_t p;
  gs_wave_t *w = &b->t->w;
  decode(b, state, text, &p);
  const uint64_t start = w->pc;
  for (unsigned i = 0, passed; i < p.count; i += passed ? passed : 1) {
    passed = b->way == IN_BLOCKS ? pass(b, &p, i) : 0;
    w->pc = start + (p.passage[i].pc - ISA_CODE) + p.in[i].size;
    if (!passed)
      b->check->watch.execute(w, &p.in[i], b->way == BARE ? NULL : &p.digest[i]);
  }
}

static void expect(bench_t *b, void *const *state, const row_t *row, const char *between, bool error) {
  char text[TEXT];
  snprintf(text, sizeof text, "%s\n%s%s%s", row->first, between ? between : "",
           between && *between ? "\n" : "", row->second);
  const bool states = row->mend && (strncmp(row->mend, "s_nop", 5) == 0 || strncmp(row->mend, "v_", 2) == 0);
  static const char *const ways[WAYS] = {"without digests", "with digests", "in blocks"};
  for (b->way = BARE; b->way < WAYS; b->way++) {
    begin_wave(b);
    look_at(b, state, text);
    if (found_states != (error && states) || found_uses != (error && !states))
      fail_msg("%u uses and %u states found, expected %d, %s, in:\n%s", found_uses, found_states, error,
               ways[b->way], text);
  }
}

/* Assembling each text alone would take minutes. */
static void prepare(void *const *state) {
  static char texts[3 * ROWS][TEXT];
  const char *pointers[3 * ROWS];
  size_t count = 0;
  for (size_t i = 0; i < ROWS; i++)
    for (unsigned k = 0; k < 3; k++) {
      const char *between = k == 0 ? "" : k == 1 ? rows[i].less : rows[i].mend;
      if (!between || !(rows[i].parts & isa_part(state)))
        continue;
      snprintf(texts[count], TEXT, "%s\n%s%s%s", rows[i].first, between, *between ? "\n" : "",
               rows[i].second);
      pointers[count] = texts[count];
      count++;
    }
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, count);
}

static void test_sequences(void **state) {
  bench_t b;
  prepare(state);
  set_up(&b, state);
  for (size_t i = 0; i < ROWS; i++) {
    const row_t *row = &rows[i];
    if (!(row->parts & isa_part(state)))
      continue;
    expect(&b, state, row, NULL, row->mend != NULL);
    if (!row->mend)
      continue;
    expect(&b, state, row, row->less, true);
    expect(&b, state, row, row->mend, false);
  }
  tear_down(&b);
}

/* Lanes that a load does not write are free; and a wave without any is not kept waiting. */
static void test_lanes(void **state) {
  static const uint64_t exec[][2] = {{0xff, 0xff00}, {0, UINT64_MAX}, {0xff, 0x1f0}};
  static const char *const uses[] = {"v_mov_b32 v0, v1", "global_store_dword v[4:5], v1, off"};
  bench_t b;
  set_up(&b, state);
  for (unsigned i = 0; i < 3 * WAYS * 2; i++) {
    b.way = i / 3 % WAYS;
    begin_wave(&b);
    gs_set_exec(&b.t->w, exec[i % 3][0]);
    look_at(&b, state, "global_load_dword v1, v[2:3], off");
    gs_set_exec(&b.t->w, exec[i % 3][1]);
    look_at(&b, state, uses[i / 3 / WAYS]);
    assert_int_equal(found_uses, i % 3 == 2);
  }
  tear_down(&b);
}

/* One lane that comes to LDS is enough for a flat load to count as LDS, too; if it is active. */
static void test_flat(void **state) {
  bench_t b;
  set_up(&b, state);
  for (unsigned active = 0; active < 2; active++) {
    begin_wave(&b);
    b.t->w.v[5].u32[7] = GS_SHARED_APERTURE_HI;
    gs_set_exec(&b.t->w, active ? 0x80 : 0x7f);
    look_at(&b, state, "flat_load_dword v1, v[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v0, v1");
    assert_int_equal(found_uses, active);
  }
  tear_down(&b);
}

/* The index of s_movrels is in M0. */
static void test_index(void **state) {
  bench_t b;
  set_up(&b, state);
  look_at(&b, state, "s_load_dword s8, s[2:3], 0x0");
  b.t->w.s.u32[GS_S_M0] = 3;
  look_at(&b, state, "s_movrels_b32 s0, s4");
  assert_int_equal(found_uses, 0);
  b.t->w.s.u32[GS_S_M0] = 4;
  look_at(&b, state, "s_movrels_b32 s0, s4");
  assert_int_equal(found_uses, 1);
  tear_down(&b);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_sequences, GS_WAIT_TARGETS), isa_part_test_on(test_lanes, GS_WAIT_TARGETS),
      isa_part_test_on(test_flat, GS_WAIT_TARGETS), isa_part_test_on(test_index, GS_WAIT_TARGETS)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
