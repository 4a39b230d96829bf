/* SOP1: scalar instructions with one source, among them jumps and the ways to save EXEC.
 * Not here: branches with an immediate offset (op_sopp.c). */
#include "isa/scalar.h"

/* `in_bits` and `out_bits` are 32 or 64; `scc_expr` is the new SCC as an expression of a and the result d. */
#define GS_SOP1(name, in_bits, out_bits, scc_expr, expr)                                                     \
  GS_OP(name) {                                                                                              \
    const uint##in_bits##_t a = gs_ssrc##in_bits(w, in, 0);                                                  \
    const uint##out_bits##_t d = (uint##out_bits##_t)(expr);                                                 \
    gs_end_scc(w, (scc_expr));                                                                               \
    gs_sdst##out_bits(w, in, d);                                                                             \
  }

/* ---- Moves ---- */

GS_OP(s_mov_b32) {
  gs_sdst32(w, in, gs_ssrc32(w, in, 0));
}
GS_OP(s_mov_b64) {
  gs_sdst64(w, in, gs_ssrc64(w, in, 0));
}
GS_OP(s_cmov_b32) {
  gs_sdst32(w, in, gs_read_scc(w) ? gs_ssrc32(w, in, 0) : gs_read_sgpr32(w, in->dst));
}
GS_OP(s_cmov_b64) {
  gs_sdst64(w, in, gs_read_scc(w) ? gs_ssrc64(w, in, 0) : gs_read_sgpr64(w, in->dst));
}
GS_SOP1(s_sext_i32_i8, 32, 32, GS_KEEP_SCC, (int32_t)(int8_t)a)
GS_SOP1(s_sext_i32_i16, 32, 32, GS_KEEP_SCC, (int32_t)(int16_t)a)

/* Scalar registers indexed by M0, of whose index pairs have no last bit. Beyond the last one, which from
 * gfx10 on is VCC's (RDNA3's manual, 3.3.1.4), sources are SGPR 0 and destinations are dropped. */
enum { GS_INDEXED_END = GS_S_VCC + 2 };
static inline bool gs_movrel(const gs_wave_t *w, unsigned base, unsigned dwords, unsigned *reg) {
  const uint64_t index = (uint64_t)base + (w->s.u32[GS_S_M0] & ~(dwords - 1));
  const bool good = index + dwords <= (w->env->target & GS_GFX9 ? GS_S_FLAT_SCRATCH : GS_INDEXED_END);
  *reg = good ? (unsigned)index : 0;
  return good;
}
GS_OP(s_movrels_b32) {
  unsigned reg;
  (void)gs_movrel(w, in->src[0].reg, 1, &reg);
  gs_sdst32(w, in, w->s.u32[reg]);
}
GS_OP(s_movrels_b64) {
  unsigned reg;
  (void)gs_movrel(w, in->src[0].reg, 2, &reg);
  gs_sdst64(w, in, gs_read_sgpr64(w, reg));
}
GS_OP(s_movreld_b32) {
  unsigned reg;
  if (gs_movrel(w, in->dst, 1, &reg))
    w->s.u32[reg] = gs_ssrc32(w, in, 0);
}
GS_OP(s_movreld_b64) {
  unsigned reg;
  if (gs_movrel(w, in->dst, 2, &reg))
    gs_write_sgpr64(w, reg, gs_ssrc64(w, in, 0));
}

/* Both move, by ten bits of M0 each. */
GS_OP(s_movrelsd_2_b32) {
  const uint32_t m0 = w->s.u32[GS_S_M0];
  const unsigned from = in->src[0].reg + (m0 & 0x3ff), to = in->dst + (m0 >> 16 & 0x3ff);
  const bool is_register = in->src[0].kind == GS_SRC_SGPR;
  const uint32_t value = is_register ? w->s.u32[from < GS_INDEXED_END ? from : 0] : gs_ssrc32(w, in, 0);
  if (to < GS_INDEXED_END)
    w->s.u32[to] = value;
}

/* ---- Bits ---- */

static inline uint32_t gs_reverse32(uint32_t a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}
static inline uint64_t gs_reverse64(uint64_t a) {
  return (uint64_t)gs_reverse32((uint32_t)a) << 32 | gs_reverse32((uint32_t)(a >> 32));
}
GS_SOP1(s_not_b32, 32, 32, d != 0, ~a)
GS_SOP1(s_not_b64, 64, 64, d != 0, ~a)
GS_SOP1(s_brev_b32, 32, 32, GS_KEEP_SCC, gs_reverse32(a))
GS_SOP1(s_brev_b64, 64, 64, GS_KEEP_SCC, gs_reverse64(a))
GS_SOP1(s_abs_i32, 32, 32, d != 0, (int32_t)a < 0 ? 0 - a : a)

GS_SOP1(s_bcnt0_i32_b32, 32, 32, d != 0, __builtin_popcount(~a))
GS_SOP1(s_bcnt0_i32_b64, 64, 32, d != 0, __builtin_popcountll(~a))
GS_SOP1(s_bcnt1_i32_b32, 32, 32, d != 0, __builtin_popcount(a))
GS_SOP1(s_bcnt1_i32_b64, 64, 32, d != 0, __builtin_popcountll(a))

/* Position of the first set bit from below (ff) or above (flbit); -1 when there is none. */
static inline int gs_first_low(uint64_t a) {
  return a ? __builtin_ctzll(a) : -1;
}
static inline int gs_first_high(uint64_t a, int bits) {
  return a ? __builtin_clzll(a) - (64 - bits) : -1;
}
GS_SOP1(s_ff0_i32_b32, 32, 32, GS_KEEP_SCC, gs_first_low((uint32_t)~a))
GS_SOP1(s_ff0_i32_b64, 64, 32, GS_KEEP_SCC, gs_first_low(~a))
GS_SOP1(s_ff1_i32_b32, 32, 32, GS_KEEP_SCC, gs_first_low(a))
GS_SOP1(s_ff1_i32_b64, 64, 32, GS_KEEP_SCC, gs_first_low(a))
GS_SOP1(s_flbit_i32_b32, 32, 32, GS_KEEP_SCC, gs_first_high(a, 32))
GS_SOP1(s_flbit_i32_b64, 64, 32, GS_KEEP_SCC, gs_first_high(a, 64))
/* The first bit that differs from the sign. */
GS_SOP1(s_flbit_i32, 32, 32, GS_KEEP_SCC, gs_first_high(a ^ (uint32_t)((int32_t)a >> 31), 32))
GS_SOP1(s_flbit_i32_i64, 64, 32, GS_KEEP_SCC, gs_first_high(a ^ (uint64_t)((int64_t)a >> 63), 64))

/* These keep the other bits of their destination. */
static inline uint64_t gs_one_bit(const gs_wave_t *w, const gs_inst_t *in, unsigned bits) {
  return UINT64_C(1) << (gs_ssrc32(w, in, 0) & (bits - 1));
}
static inline uint64_t gs_old64(const gs_wave_t *w, const gs_inst_t *in) {
  return gs_read_sgpr64(w, in->dst);
}
GS_OP(s_bitset0_b32) {
  gs_sdst32(w, in, gs_read_sgpr32(w, in->dst) & ~(uint32_t)gs_one_bit(w, in, 32));
}
GS_OP(s_bitset1_b32) {
  gs_sdst32(w, in, gs_read_sgpr32(w, in->dst) | (uint32_t)gs_one_bit(w, in, 32));
}
GS_OP(s_bitset0_b64) {
  gs_sdst64(w, in, gs_old64(w, in) & ~gs_one_bit(w, in, 64));
}
GS_OP(s_bitset1_b64) {
  gs_sdst64(w, in, gs_old64(w, in) | gs_one_bit(w, in, 64));
}

/* Bit 0 of each group of four tells whether any bit of the group was set. */
static inline uint64_t gs_any_of_four(uint64_t a) {
  a |= a >> 2;
  a |= a >> 1;
  return a & UINT64_C(0x1111111111111111);
}
/* Moves every fourth bit of `a`, whose other bits are zero, together: bit 4k to bit k. */
static inline uint64_t gs_gather_fours(uint64_t a) {
  a = (a | a >> 3) & UINT64_C(0x0303030303030303);
  a = (a | a >> 6) & UINT64_C(0x000f000f000f000f);
  a = (a | a >> 12) & UINT64_C(0x000000ff000000ff);
  return (a | a >> 24) & 0xffff;
}
GS_SOP1(s_wqm_b32, 32, 32, d != 0, gs_any_of_four(a) * 15)
GS_SOP1(s_wqm_b64, 64, 64, d != 0, gs_any_of_four(a) * 15)
GS_SOP1(s_quadmask_b32, 32, 32, d != 0, gs_gather_fours(gs_any_of_four(a)))
GS_SOP1(s_quadmask_b64, 64, 64, d != 0, gs_gather_fours(gs_any_of_four(a)))

/* Moves bit k to bit 2k. */
static inline uint64_t gs_spread_bits(uint64_t a) {
  a = (a | a << 16) & UINT64_C(0x0000ffff0000ffff);
  a = (a | a << 8) & UINT64_C(0x00ff00ff00ff00ff);
  a = (a | a << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  a = (a | a << 2) & UINT64_C(0x3333333333333333);
  return (a | a << 1) & UINT64_C(0x5555555555555555);
}
GS_SOP1(s_bitreplicate_b64_b32, 32, 64, GS_KEEP_SCC, gs_spread_bits(a) * 3)

/* ---- EXEC ---- */

/* The destination gets the old EXEC, EXEC the result; both come after the source was read. */
#define GS_SAVEEXEC(name, expr)                                                                              \
  GS_OP(name) {                                                                                              \
    const uint64_t a = gs_ssrc64(w, in, 0), e = gs_read_pair(w, GS_S_EXEC), d = (expr);                      \
    gs_sdst64(w, in, e);                                                                                     \
    w->s.u64[GS_S_EXEC / 2] = d;                                                                             \
    gs_write_scc(w, d != 0);                                                                                 \
  }
/* The low half alone, which is all that narrow waves have. */
#define GS_SAVEEXEC32(name, expr)                                                                            \
  GS_OP(name) {                                                                                              \
    const uint32_t a = gs_ssrc32(w, in, 0), e = w->s.u32[GS_S_EXEC], d = (expr);                             \
    gs_sdst32(w, in, e);                                                                                     \
    w->s.u32[GS_S_EXEC] = d;                                                                                 \
    gs_write_scc(w, d != 0);                                                                                 \
  }
/* The formatter takes these operators for pointers. */
/* clang-format off */
GS_SAVEEXEC(s_and_saveexec_b64, (a & e))
GS_SAVEEXEC(s_or_saveexec_b64, a | e)
GS_SAVEEXEC(s_xor_saveexec_b64, a ^ e)
GS_SAVEEXEC(s_andn1_saveexec_b64, ~a & e)
GS_SAVEEXEC(s_andn2_saveexec_b64, a & ~e)
GS_SAVEEXEC(s_orn1_saveexec_b64, ~a | e)
GS_SAVEEXEC(s_orn2_saveexec_b64, a | ~e)
GS_SAVEEXEC(s_nand_saveexec_b64, ~(a & e))
GS_SAVEEXEC(s_nor_saveexec_b64, ~(a | e))
GS_SAVEEXEC(s_xnor_saveexec_b64, ~(a ^ e))
GS_SAVEEXEC32(s_and_saveexec_b32, (a & e))
GS_SAVEEXEC32(s_or_saveexec_b32, a | e)
GS_SAVEEXEC32(s_xor_saveexec_b32, a ^ e)
GS_SAVEEXEC32(s_andn1_saveexec_b32, ~a & e)
GS_SAVEEXEC32(s_andn2_saveexec_b32, a & ~e)
GS_SAVEEXEC32(s_orn1_saveexec_b32, ~a | e)
GS_SAVEEXEC32(s_orn2_saveexec_b32, a | ~e)
GS_SAVEEXEC32(s_nand_saveexec_b32, ~(a & e))
GS_SAVEEXEC32(s_nor_saveexec_b32, ~(a | e))
GS_SAVEEXEC32(s_xnor_saveexec_b32, ~(a ^ e))
/* clang-format on */

/* The destination gets the new EXEC too. */
#define GS_WREXEC(name, expr)                                                                                \
  GS_OP(name) {                                                                                              \
    const uint64_t a = gs_ssrc64(w, in, 0), e = gs_read_pair(w, GS_S_EXEC), d = (expr);                      \
    w->s.u64[GS_S_EXEC / 2] = d;                                                                             \
    gs_sdst64(w, in, d);                                                                                     \
    gs_write_scc(w, d != 0);                                                                                 \
  }
#define GS_WREXEC32(name, expr)                                                                              \
  GS_OP(name) {                                                                                              \
    const uint32_t a = gs_ssrc32(w, in, 0), e = w->s.u32[GS_S_EXEC], d = (expr);                             \
    w->s.u32[GS_S_EXEC] = d;                                                                                 \
    gs_sdst32(w, in, d);                                                                                     \
    gs_write_scc(w, d != 0);                                                                                 \
  }
/* clang-format off */
GS_WREXEC(s_andn1_wrexec_b64, ~a & e)
GS_WREXEC(s_andn2_wrexec_b64, a & ~e)
GS_WREXEC32(s_andn1_wrexec_b32, ~a & e)
GS_WREXEC32(s_andn2_wrexec_b32, a & ~e)
/* clang-format on */

/* ---- Control flow. Instructions are dwords: the two low bits of an address do not exist. ---- */

GS_OP(s_getpc_b64) {
  gs_sdst64(w, in, w->pc);
}
GS_OP(s_setpc_b64) {
  w->pc = gs_ssrc64(w, in, 0) & ~UINT64_C(3);
}
GS_OP(s_swappc_b64) {
  const uint64_t target = gs_ssrc64(w, in, 0) & ~UINT64_C(3);
  gs_sdst64(w, in, w->pc);
  w->pc = target;
}
GS_OP(s_cbranch_join) {
  gs_wave_join(w, gs_ssrc32(w, in, 0));
}
GS_OP(s_rfe_b64) {
  gs_wave_illegal(w, in); /* privileged: only a trap handler returns from an exception */
}

GS_OP(s_set_gpr_idx_idx) {
  w->s.u32[GS_S_M0] = (w->s.u32[GS_S_M0] & ~UINT32_C(0xff)) | (gs_ssrc32(w, in, 0) & 0xff);
}

/* ---- Of gfx11 ---- */

GS_OP(s_sendmsg_rtn_b32) {
  uint64_t answer;
  if (gs_wave_answer(w, in, &answer))
    gs_sdst32(w, in, (uint32_t)answer);
}
GS_OP(s_sendmsg_rtn_b64) {
  uint64_t answer;
  if (gs_wave_answer(w, in, &answer))
    gs_sdst64(w, in, answer);
}
