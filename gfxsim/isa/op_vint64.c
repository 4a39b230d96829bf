/* Vector instructions with carries and on 64-bit integers: carry chains, 64-bit shifts, wide multiply-add.
 * Not here: 64-bit comparisons (op_vcmp_int.c). */
#include "isa/vint.h"

/* DPP's row and bank masks say where the vector goes, not the bits; those of lanes that bound_ctrl keeps from
 * having a result stay (rocm-systems, emulation/rocjitsu, whose authors compared DPP with cards). */
static uint64_t gs_dpp_carry(const gs_wave_t *w, const gs_inst_t *in, uint64_t carry) {
  gs_inst_t unmasked = *in;
  unmasked.dpp.row_mask = unmasked.dpp.bank_mask = 0xf;
  const uint64_t found = gs_dpp_exec(w, &unmasked);
  return (carry & found) | (gs_read_mask(w, in->sdst) & gs_exec(w) & ~found);
}

/* Gives a bit per lane to the scalar destination: inactive lanes give 0. Comes after the commit of the
 * result, as the destination may be EXEC. */
static inline void gs_write_carry(gs_wave_t *w, const gs_inst_t *in, uint64_t carry) {
  const bool dpp = GS_UNLIKELY(in->form == GS_FORM_DPP);
  gs_write_mask(w, in->sdst, dpp ? gs_dpp_carry(w, in, carry) : gs_mask_active(w, carry));
}

/* Ends a sum or difference. The carries tell overflow of the exact result also when clamp saturates the
 * destination, to `limit`. */
static inline void gs_commit_carry(gs_wave_t *w, const gs_inst_t *in, gs_row_t *d, uint64_t carry,
                                   uint32_t limit) {
  if (GS_UNLIKELY(!in->plain_dst && in->clamp)) {
    gs_row_t saturated;
    gs_broadcast(limit, &saturated);
    gs_select_row(carry, d, &saturated, d);
  }
  gs_commit32(w, in, d);
  gs_write_carry(w, in, carry);
}

/* x and y name the operands of x + y or x - y; `mask` has the carries or borrows in. */
#define GS_VCARRY(name, op, x, y, mask, limit)                                                               \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    gs_commit_carry(w, in, d, op(x, y, mask, d), limit);                                                     \
  }
#define GS_ADD_OUT(x, y, none, d) gs_add_out(x, y, d)
#define GS_SUB_OUT(x, y, none, d) gs_sub_out(x, y, d)
GS_VCARRY(v_add_co_u32, GS_ADD_OUT, ra, rb, 0, UINT32_MAX)
GS_VCARRY(v_sub_co_u32, GS_SUB_OUT, ra, rb, 0, 0)
GS_VCARRY(v_subrev_co_u32, GS_SUB_OUT, rb, ra, 0, 0)
GS_VCARRY(v_addc_co_u32, gs_add_carry, ra, rb, gs_src_mask(w, in, 2), UINT32_MAX)
GS_VCARRY(v_subb_co_u32, gs_sub_borrow, ra, rb, gs_src_mask(w, in, 2), 0)
GS_VCARRY(v_subbrev_co_u32, gs_sub_borrow, rb, ra, gs_src_mask(w, in, 2), 0)

/* 64-bit shifts, count first; six bits of it count. Compilers take counts for 32 bits wide, and narrow and
 * widen all of them for that. */
#if defined(__AVX512F__)
#define GS_SHIFT64(name, type, operator, vector)                                                             \
  static inline void name(gs_wide_t *value, const gs_wide_t *count) {                                        \
    for (unsigned i = 0; i < GS_WIDE_LANES; i += 8) {                                                        \
      const __m512i by = _mm512_and_si512(_mm512_load_si512(&count->u64[i]), _mm512_set1_epi64(63));         \
      _mm512_store_si512(&value->u64[i], vector(_mm512_load_si512(&value->u64[i]), by));                     \
    }                                                                                                        \
  }
#else
#define GS_SHIFT64(name, type, operator, vector)                                                             \
  static inline void name(gs_wide_t *value, const gs_wide_t *count) {                                        \
    GS_IVDEP                                                                                                 \
    for (unsigned i = 0; i < GS_WIDE_LANES; i++)                                                             \
      value->u64[i] = (uint64_t)((type)value->u64[i] operator(count->u64[i] & 63));                          \
  }
#endif
GS_SHIFT64(gs_lshl64, uint64_t, <<, _mm512_sllv_epi64)
GS_SHIFT64(gs_lshr64, uint64_t, >>, _mm512_srlv_epi64)
GS_SHIFT64(gs_ashr64, int64_t, >>, _mm512_srav_epi64)

#define GS_VSHIFT64(name, shift)                                                                             \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb[2], td[2], zero;                                                                         \
    GS_VOP_SRC(0, a);                                                                                        \
    const gs_row64_t rb = gs_src64(w, in, 1, false, tb);                                                     \
    const gs_dst64_t d = gs_dst64(w, in, td);                                                                \
    gs_broadcast(0, &zero);                                                                                  \
    for (unsigned first = 0; first < GS_LANES; first += GS_WIDE_LANES) {                                     \
      gs_wide_t count, value;                                                                                \
      gs_join64((gs_row64_t){ra, &zero}, first, &count);                                                     \
      gs_join64(rb, first, &value);                                                                          \
      shift(&value, &count);                                                                                 \
      gs_split64(&value, first, d);                                                                          \
    }                                                                                                        \
    gs_commit64(w, in, d);                                                                                   \
  }
GS_VSHIFT64(v_lshlrev_b64, gs_lshl64)
GS_VSHIFT64(v_lshrrev_b64, gs_lshr64)
GS_VSHIFT64(v_ashrrev_i64, gs_ashr64)

/* Three bits of the count count. */
GS_OP(v_lshl_add_u64) {
  gs_row_t ta[2], tb, tc[2], td[2];
  const gs_row64_t ra = gs_src64(w, in, 0, false, ta), rc = gs_src64(w, in, 2, false, tc);
  const gs_row_t *const rb = gs_src32(w, in, 1, &tb);
  const gs_dst64_t d = gs_dst64(w, in, td);
  GS_LANES_DO(l) {
    const uint32_t count = rb->u32[l] & 7; /* up to 4; more do not shift (CDNA3's manual, 12.11) */
    gs_put_u64(d, l, (gs_get_u64(ra, l) << (count > 4 ? 0 : count)) + gs_get_u64(rc, l));
  }
  gs_commit64(w, in, d);
}

/* 32 x 32 + 64 bits. The scalar destination gets bit 64 of the exact sum: the carry of unsigned operands,
 * the sign of signed ones. */
GS_OP(v_mad_u64_u32) {
  gs_row_t ta, tb, tc[2], td[2], carry;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  const gs_row64_t rc = gs_src64(w, in, 2, false, tc);
  const gs_dst64_t d = gs_dst64(w, in, td);
  gs_mad_u64(ra, rb, rc, d, &carry);
  if (GS_UNLIKELY(!in->plain_dst && in->clamp))
    GS_LANES_DO(l) {
      d.lo->u32[l] |= carry.u32[l];
      d.hi->u32[l] |= carry.u32[l];
    }
  gs_commit64(w, in, d);
  gs_write_carry(w, in, gs_mask_from_row(&carry));
}

GS_OP(v_mad_i64_i32) {
  gs_row_t ta, tb, tc[2], td[2], sign;
  GS_VOP_SRC(0, a);
  GS_VOP_SRC(1, b);
  const gs_row64_t rc = gs_src64(w, in, 2, false, tc);
  const gs_dst64_t d = gs_dst64(w, in, td);
  const bool clamp = in->clamp;
  GS_LANES_DO(l) {
    const int64_t product = (int64_t)ra->i32[l] * rb->i32[l], c = (int64_t)gs_get_u64(rc, l);
    const int64_t sum = (int64_t)((uint64_t)product + (uint64_t)c);
    /* Overflow needs operands of one sign and a sum of the other; the exact sum then has the operands'
     * sign. */
    const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
    const bool negative = overflow ? sum >= 0 : sum < 0;
    const int64_t limit = negative ? INT64_MIN : INT64_MAX;
    gs_put_u64(d, l, (uint64_t)(clamp && overflow ? limit : sum));
    sign.i32[l] = -(int32_t)negative;
  }
  gs_commit64(w, in, d);
  gs_write_carry(w, in, gs_mask_from_row(&sign));
}
