/* SOPC: scalar comparisons, which set SCC, and the mode switches that are encoded among them.
 * Not here: comparisons with an immediate (op_sopk.c). */
#include "isa/scalar.h"

#define GS_SCMP(name, type, read, expr)                                                                      \
  GS_OP(name) {                                                                                              \
    const type a = (type)read(w, in, 0), b = (type)read(w, in, 1);                                           \
    gs_write_scc(w, (expr));                                                                                 \
  }
#define GS_SCMP_ALL(suffix, type)                                                                            \
  GS_SCMP(s_cmp_eq_##suffix, type, gs_ssrc32, a == b)                                                        \
  GS_SCMP(s_cmp_lg_##suffix, type, gs_ssrc32, a != b)                                                        \
  GS_SCMP(s_cmp_gt_##suffix, type, gs_ssrc32, a > b)                                                         \
  GS_SCMP(s_cmp_ge_##suffix, type, gs_ssrc32, a >= b)                                                        \
  GS_SCMP(s_cmp_lt_##suffix, type, gs_ssrc32, a < b)                                                         \
  GS_SCMP(s_cmp_le_##suffix, type, gs_ssrc32, a <= b)
GS_SCMP_ALL(i32, int32_t)
GS_SCMP_ALL(u32, uint32_t)
GS_SCMP(s_cmp_eq_u64, uint64_t, gs_ssrc64, a == b)
GS_SCMP(s_cmp_lg_u64, uint64_t, gs_ssrc64, a != b)

GS_SCMP(s_bitcmp0_b32, uint32_t, gs_ssrc32, (~a >> (b & 31)) & 1)
GS_SCMP(s_bitcmp1_b32, uint32_t, gs_ssrc32, (a >> (b & 31)) & 1)

GS_OP(s_bitcmp0_b64) {
  gs_write_scc(w, (uint32_t)(~gs_ssrc64(w, in, 0) >> (gs_ssrc32(w, in, 1) & 63)) & 1);
}
GS_OP(s_bitcmp1_b64) {
  gs_write_scc(w, (uint32_t)(gs_ssrc64(w, in, 0) >> (gs_ssrc32(w, in, 1) & 63)) & 1);
}

/* Vector instructions are skipped while the mode is on; see gs_mode_apply. */
GS_OP(s_setvskip) {
  const bool on = gs_ssrc32(w, in, 0) >> (gs_ssrc32(w, in, 1) & 31) & 1;
  gs_wave_set_mode(w, (w->mode & ~(uint32_t)GS_MODE_VSKIP) | (on ? GS_MODE_VSKIP : 0));
}

/* The index goes to M0[7:0]; which operands it is added to comes from the instruction and goes to M0[15:12].
 */
GS_OP(s_set_gpr_idx_on) {
  const uint32_t index = gs_ssrc32(w, in, 0) & 0xff, operands = (uint32_t)in->imm & 0xf;
  w->s.u32[GS_S_M0] = (w->s.u32[GS_S_M0] & ~UINT32_C(0xf0ff)) | index | operands << 12;
  gs_wave_set_mode(w, w->mode | GS_MODE_GPR_IDX_EN);
}
