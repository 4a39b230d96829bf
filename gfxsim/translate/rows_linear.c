/* Stencils that work out where loads of strips are (plan.h), without the rows of their addresses. Such a row
 * mostly is linear: each lane has what the lane before has, and a step. So it is known by its first and its
 * last lane, and so is what arithmetic makes of such rows, where that is linear again. Each stencil does for
 * these two lanes what its instruction does for all, or goes to gs_stencil_taken where the result would not
 * be linear, or it cannot tell. Not here: which instructions addresses are made by (plan.c), and the loads
 * (rows_memory.c). */
#include "translate/linear_rows.h"

#if defined(GS_STENCIL_FULL) && !defined(GS_STENCIL_ONE)

/* A pair of registers, of which the high one is the same in all lanes. */
typedef linear_t wide_t;

/* ---- Operands and results ---- */

static inline linear_t same(uint64_t value) {
  return (linear_t){value, value};
}
static inline uint64_t constant(unsigned i) {
  switch (i) {
  case 0: return GS_HOLE_INDEX(value_src0);
  case 1: return GS_HOLE_INDEX(value_src1);
  default: return GS_HOLE_INDEX(value_src2);
  }
}
static inline linear_t operand(gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  switch (in->src[i].kind) {
  case GS_SRC_VGPR: return get_linear(w, in->src[i].reg, 0);
  case GS_SRC_SGPR: return same(gs_read_sgpr32(w, in->src[i].reg));
  default: return same(constant(i));
  }
}
/* Returns false where the high register is not the same in all lanes. */
static inline bool wide_operand(gs_wave_t *w, const gs_inst_t *in, unsigned i, wide_t *value) {
  switch (in->src[i].kind) {
  case GS_SRC_VGPR: {
    const linear_t low = get_linear(w, in->src[i].reg, 0), high = get_linear(w, in->src[i].reg, 1);
    *value = (wide_t){low.first | high.first << 32, low.last | high.first << 32};
    return is_uniform(high);
  }
  case GS_SRC_SGPR: *value = same(gs_read_sgpr64(w, in->src[i].reg)); return true;
  default: *value = same(gs_constant(in, i)); return true;
  }
}
/* Of sums and the like, which may have more bits than a register. Where all that is above is the same in the
 * first and the last lane, it is in all. */
static inline bool put(gs_wave_t *w, uint64_t first, uint64_t last) {
  put_linear(w, GS_HOLE_DST, 0, (linear_t){first, last});
  return (first ^ last) >> 32 == 0;
}
static inline bool put_wide(gs_wave_t *w, uint64_t first, uint64_t last) {
  put_linear(w, GS_HOLE_DST, 1, same(first >> 32));
  return put(w, first, last);
}
static inline void put_carry(gs_wave_t *w, uint64_t carry) {
  put_linear(w, GS_HOLE_SDST, 0, same(carry));
}
/* Carries of high halves are wanted by nobody. Who wants one after all finds none that all lanes have. */
static inline void put_no_carry(gs_wave_t *w) {
  put_linear(w, GS_HOLE_SDST, 0, (linear_t){0, 1});
}

/* ---- Moves, sums, products ---- */

static inline bool linear_v_mov_b32(gs_wave_t *w, const gs_inst_t *in) {
  put_linear(w, GS_HOLE_DST, 0, operand(w, in, 0));
  return true;
}
static inline bool linear_v_mov_b64(gs_wave_t *w, const gs_inst_t *in) {
  wide_t a;
  return wide_operand(w, in, 0, &a) && put_wide(w, a.first, a.last);
}
static inline bool add(gs_wave_t *w, linear_t a, linear_t b) {
  return put(w, a.first + b.first, a.last + b.last);
}
static inline bool subtract(gs_wave_t *w, linear_t a, linear_t b) {
  return put(w, a.first - b.first, a.last - b.last);
}
static inline bool linear_v_add_u32(gs_wave_t *w, const gs_inst_t *in) {
  return add(w, operand(w, in, 0), operand(w, in, 1));
}
static inline bool linear_v_sub_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract(w, operand(w, in, 0), operand(w, in, 1));
}
static inline bool linear_v_subrev_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract(w, operand(w, in, 1), operand(w, in, 0));
}
static inline bool linear_v_add3_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1), c = operand(w, in, 2);
  return put(w, a.first + b.first + c.first, a.last + b.last + c.last);
}

/* Products of two rows that change are no linear ones. */
static inline bool multiply_add(gs_wave_t *w, linear_t a, linear_t b, linear_t c) {
  return (is_uniform(a) || is_uniform(b)) && put(w, a.first * b.first + c.first, a.last * b.last + c.last);
}
static inline bool linear_v_mul_lo_u32(gs_wave_t *w, const gs_inst_t *in) {
  return multiply_add(w, operand(w, in, 0), operand(w, in, 1), same(0));
}
static inline bool have_24_bits(linear_t a, linear_t b) {
  return (a.first | a.last | b.first | b.last) >> 24 == 0;
}
static inline bool linear_v_mul_u32_u24(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  return have_24_bits(a, b) && multiply_add(w, a, b, same(0));
}
static inline bool linear_v_mad_u32_u24(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  return have_24_bits(a, b) && multiply_add(w, a, b, operand(w, in, 2));
}
static inline bool linear_v_mad_u64_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  wide_t c;
  if ((!is_uniform(a) && !is_uniform(b)) || !wide_operand(w, in, 2, &c))
    return false;
  put_no_carry(w);
  return put_wide(w, a.first * b.first + c.first, a.last * b.last + c.last);
}

/* ---- Sums of pairs, by halves or at once ---- */

static inline bool linear_v_add_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  put_carry(w, (a.first + b.first) >> 32);
  return add(w, a, b);
}
static inline bool subtract_low(gs_wave_t *w, linear_t a, linear_t b) {
  put_carry(w, (a.first - b.first) >> 63);
  return subtract(w, a, b);
}
static inline bool linear_v_sub_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract_low(w, operand(w, in, 0), operand(w, in, 1));
}
static inline bool linear_v_subrev_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract_low(w, operand(w, in, 1), operand(w, in, 0));
}
static inline bool linear_v_addc_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1), carry = get_linear(w, GS_HOLE_SRC2, 0);
  put_no_carry(w);
  return is_uniform(carry) && put(w, a.first + b.first + carry.first, a.last + b.last + carry.first);
}
static inline bool subtract_high(gs_wave_t *w, linear_t a, linear_t b) {
  const linear_t borrow = get_linear(w, GS_HOLE_SRC2, 0);
  put_no_carry(w);
  return is_uniform(borrow) && put(w, a.first - b.first - borrow.first, a.last - b.last - borrow.first);
}
static inline bool linear_v_subb_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract_high(w, operand(w, in, 0), operand(w, in, 1));
}
static inline bool linear_v_subbrev_co_u32(gs_wave_t *w, const gs_inst_t *in) {
  return subtract_high(w, operand(w, in, 1), operand(w, in, 0));
}

/* ---- Shifts ---- */

static inline bool linear_v_lshl_add_u64(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 1);
  wide_t a, c;
  if (!is_uniform(shift) || !wide_operand(w, in, 0, &a) || !wide_operand(w, in, 2, &c))
    return false;
  return put_wide(w, (a.first << (shift.first & 7)) + c.first, (a.last << (shift.first & 7)) + c.last);
}
static inline linear_t shift_left(linear_t a, linear_t shift) {
  return (linear_t){a.first << (shift.first & 31), a.last << (shift.first & 31)};
}
static inline bool linear_v_lshlrev_b32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 0), a = shift_left(operand(w, in, 1), shift);
  return is_uniform(shift) && put(w, a.first, a.last);
}
static inline bool linear_v_lshl_add_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 1), a = shift_left(operand(w, in, 0), shift);
  return is_uniform(shift) && add(w, a, operand(w, in, 2));
}
static inline bool linear_v_add_lshl_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1), shift = operand(w, in, 2);
  const linear_t sum = shift_left((linear_t){a.first + b.first, a.last + b.last}, shift);
  return is_uniform(shift) && put(w, sum.first, sum.last);
}
static inline bool linear_v_lshlrev_b64(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 0);
  wide_t a;
  if (!is_uniform(shift) || !wide_operand(w, in, 1, &a))
    return false;
  return put_wide(w, a.first << (shift.first & 63), a.last << (shift.first & 63));
}
/* Of a register in the upper half, with what is the same in all lanes below it: so compilers multiply an
 * index. Bits that change must not be shifted out. */
static inline bool linear_v_ashrrev_i64(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 0);
  if (in->src[1].kind != GS_SRC_VGPR || !is_uniform(shift) || (shift.first & 63) > 32)
    return false;
  const linear_t low = get_linear(w, in->src[1].reg, 0), high = get_linear(w, in->src[1].reg, 1);
  const int64_t first = (int64_t)(low.first | high.first << 32) >> (shift.first & 63);
  const int64_t last = (int64_t)(low.first | high.last << 32) >> (shift.first & 63);
  return is_uniform(low) && put_wide(w, (uint64_t)first, (uint64_t)last);
}

/* ---- Bits ---- */

/* With a mask of lowest bits, if what is above is the same in all lanes. */
static inline bool keep_low(linear_t a, uint64_t mask, linear_t *result) {
  *result = (linear_t){a.first & mask, a.last & mask};
  return (mask & (mask + 1)) == 0 && ((a.first ^ a.last) & ~mask) == 0;
}
static inline bool and_bits(linear_t a, linear_t b, linear_t *result) {
  if (is_uniform(a) && is_uniform(b)) {
    *result = same(a.first & b.first);
    return true;
  }
  return is_uniform(a) ? keep_low(b, a.first, result) : is_uniform(b) && keep_low(a, b.first, result);
}
/* Bits of a row that changes, with others that are the same in all lanes: below the lowest that changes,
 * which is that of the step and of any odd multiple, or above the highest there is. */
static inline bool join_bits(linear_t a, uint64_t bits, linear_t *result) {
  const uint64_t difference = a.last - a.first, lowest = difference & -difference;
  *result = (linear_t){a.first | bits, a.last | bits};
  return bits < lowest || (uint32_t)(bits << __builtin_clz((uint32_t)(a.first | a.last))) == 0;
}
static inline bool or_bits(linear_t a, linear_t b, linear_t *result) {
  if (is_uniform(a) && is_uniform(b)) {
    *result = same(a.first | b.first);
    return true;
  }
  return is_uniform(a) ? join_bits(b, a.first, result) : is_uniform(b) && join_bits(a, b.first, result);
}
static inline bool linear_v_and_b32(gs_wave_t *w, const gs_inst_t *in) {
  linear_t result;
  return and_bits(operand(w, in, 0), operand(w, in, 1), &result) && put(w, result.first, result.last);
}
static inline bool linear_v_or_b32(gs_wave_t *w, const gs_inst_t *in) {
  linear_t result;
  return or_bits(operand(w, in, 0), operand(w, in, 1), &result) && put(w, result.first, result.last);
}
static inline bool linear_v_lshl_or_b32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 1), a = shift_left(operand(w, in, 0), shift);
  linear_t result;
  return is_uniform(shift) && (a.first ^ a.last) >> 32 == 0 &&
         or_bits((linear_t){(uint32_t)a.first, (uint32_t)a.last}, operand(w, in, 2), &result) &&
         put(w, result.first, result.last);
}
static inline bool linear_v_and_or_b32(gs_wave_t *w, const gs_inst_t *in) {
  linear_t both, result;
  return and_bits(operand(w, in, 0), operand(w, in, 1), &both) && or_bits(both, operand(w, in, 2), &result) &&
         put(w, result.first, result.last);
}

/* ---- Comparisons ---- */

/* How two rows compare: -1, 0, 1, the same in all lanes; or OTHER. What they differ by is linear, too, and so
 * stays above 0, or below, if it is so at both ends. */
enum { OTHER = 2 };
static inline int order_of(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}
static inline int compare(int64_t first, int64_t last, int64_t other_first, int64_t other_last) {
  const int order = order_of(first, other_first);
  return order == order_of(last, other_last) ? order : OTHER;
}
static inline int compare_unsigned(linear_t a, linear_t b) {
  return compare((int64_t)a.first, (int64_t)a.last, (int64_t)b.first, (int64_t)b.last);
}
static inline int compare_signed(linear_t a, linear_t b) {
  const bool changes_sign = ((a.first ^ a.last) | (b.first ^ b.last)) >> 31;
  return changes_sign ? OTHER : compare((int32_t)a.first, (int32_t)a.last, (int32_t)b.first, (int32_t)b.last);
}
#define LINEAR_COMPARE(name, type, how, condition)                                                           \
  static inline bool linear_v_cmp_##name##_##type(gs_wave_t *w, const gs_inst_t *in) {                       \
    const int order = how(operand(w, in, 0), operand(w, in, 1));                                             \
    put_carry(w, order condition);                                                                           \
    return order != OTHER;                                                                                   \
  }
#define LINEAR_COMPARES(type, how)                                                                           \
  LINEAR_COMPARE(lt, type, how, < 0)                                                                         \
  LINEAR_COMPARE(eq, type, how, == 0)                                                                        \
  LINEAR_COMPARE(le, type, how, <= 0)                                                                        \
  LINEAR_COMPARE(gt, type, how, > 0)                                                                         \
  LINEAR_COMPARE(ne, type, how, != 0)                                                                        \
  LINEAR_COMPARE(ge, type, how, >= 0)
LINEAR_COMPARES(u32, compare_unsigned)
LINEAR_COMPARES(i32, compare_signed)

static inline bool put_one(gs_wave_t *w, bool second, linear_t a, linear_t b) {
  put_linear(w, GS_HOLE_DST, 0, second ? b : a);
  return true;
}
static inline bool linear_v_cndmask_b32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t mask = get_linear(w, GS_HOLE_SRC2, 0);
  return is_uniform(mask) && put_one(w, mask.first, operand(w, in, 0), operand(w, in, 1));
}
#define LINEAR_LIMIT(name, how, condition)                                                                   \
  static inline bool linear_##name(gs_wave_t *w, const gs_inst_t *in) {                                      \
    const linear_t a = operand(w, in, 0), b = operand(w, in, 1);                                             \
    const int order = how(a, b);                                                                             \
    return order != OTHER && put_one(w, order condition, a, b);                                              \
  }
LINEAR_LIMIT(v_min_u32, compare_unsigned, > 0)
LINEAR_LIMIT(v_max_u32, compare_unsigned, < 0)
LINEAR_LIMIT(v_min_i32, compare_signed, > 0)
LINEAR_LIMIT(v_max_i32, compare_signed, < 0)

/* ---- Rows that are not linear ---- */

/* Compilers divide by a constant so: the upper half of a product, to which the number itself may be added, is
 * shifted to the right. What is shifted is ragged: a linear row of fractions, rounded down. So it rises or
 * falls all the way from the first lane to the last, but by no step. Only these have such an operand. */

static inline bool put_ragged(gs_wave_t *w, uint64_t first, uint64_t last) {
  put_linear(w, GS_HOLE_DST, 0, (linear_t){first, last});
  return true;
}
static inline bool ragged_v_mul_hi_u32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  return (is_uniform(a) || is_uniform(b)) && put_ragged(w, a.first * b.first >> 32, a.last * b.last >> 32);
}
static inline int64_t signed_product(uint64_t a, uint64_t b) {
  return (int64_t)(int32_t)a * (int32_t)b;
}
/* None of the three must change its sign on the way. */
static inline bool ragged_v_mul_hi_i32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t a = operand(w, in, 0), b = operand(w, in, 1);
  const int64_t first = signed_product(a.first, b.first), last = signed_product(a.last, b.last);
  const uint64_t changes = (a.first ^ a.last) | (b.first ^ b.last) | (uint64_t)(first ^ last) >> 32;
  return (is_uniform(a) || is_uniform(b)) && !(changes & (uint64_t)1 << 31) &&
         put_ragged(w, (uint64_t)first >> 32, (uint64_t)last >> 32);
}
/* One operand is ragged. The other one is linear, so that the sum is one of fractions, rounded down, too. */
static inline bool ragged_v_add_u32(gs_wave_t *w, const gs_inst_t *in) {
  return linear_v_add_u32(w, in);
}
/* Flat: what is left is the same in all lanes if it is in the first and the last. */
static inline bool flat_v_lshrrev_b32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 0), a = operand(w, in, 1);
  const uint64_t first = a.first >> (shift.first & 31);
  put_linear(w, GS_HOLE_DST, 0, same(first));
  return is_uniform(shift) && first == a.last >> (shift.first & 31);
}
static inline bool flat_v_ashrrev_i32(gs_wave_t *w, const gs_inst_t *in) {
  const linear_t shift = operand(w, in, 0), a = operand(w, in, 1);
  const int32_t first = (int32_t)a.first >> (shift.first & 31), last = (int32_t)a.last >> (shift.first & 31);
  put_linear(w, GS_HOLE_DST, 0, same((uint32_t)first));
  return is_uniform(shift) && first == last;
}

/* ---- Stencils ---- */

#define LINEAR_STENCIL(name, kinds, a, b, c, kind)                                                           \
  void gs_stencil_##name##__##kinds##_##kind(gs_wave_t *w);                                                  \
  void gs_stencil_##name##__##kinds##_##kind(gs_wave_t *w) {                                                 \
    static const gs_inst_t instruction = {.src = {GS_OPERAND_##a(0), GS_OPERAND_##b(1), GS_OPERAND_##c(2)}}; \
    if (GS_LIKELY(kind##_##name(w, &instruction)))                                                           \
      gs_stencil_next(w);                                                                                    \
    else                                                                                                     \
      gs_stencil_taken(w);                                                                                   \
  }
/* In place of those for all lanes: the same names and kinds of operands, and what is here for a body. */
#undef GS_STENCIL_OF
#define GS_STENCIL_OF(name, kinds, a, b, c, is_cmpx, body) LINEAR_STENCIL(name, kinds, a, b, c, linear)

GS_STENCILS_V1(v_mov_b32)
GS_STENCILS_V1(v_mov_b64)
GS_STENCILS_V2(v_add_u32)
GS_STENCILS_V2(v_sub_u32)
GS_STENCILS_V2(v_subrev_u32)
GS_STENCILS_V3(v_add3_u32)
GS_STENCILS_V2(v_mul_lo_u32)
GS_STENCILS_V2(v_mul_u32_u24)
GS_STENCILS_V3(v_mad_u32_u24)
GS_STENCILS_V3(v_mad_u64_u32)
GS_STENCILS_V2(v_add_co_u32)
GS_STENCILS_V2(v_sub_co_u32)
GS_STENCILS_V2(v_subrev_co_u32)
GS_STENCILS_MASKED(v_addc_co_u32)
GS_STENCILS_MASKED(v_subb_co_u32)
GS_STENCILS_MASKED(v_subbrev_co_u32)
GS_STENCILS_V3(v_lshl_add_u64)
GS_STENCILS_V2(v_lshlrev_b32)
GS_STENCILS_V3(v_lshl_add_u32)
GS_STENCILS_V3(v_add_lshl_u32)
GS_STENCILS_V2(v_lshlrev_b64)
GS_STENCILS_V2(v_ashrrev_i64)
GS_STENCILS_V2(v_and_b32)
GS_STENCILS_V2(v_or_b32)
GS_STENCILS_V3(v_lshl_or_b32)
GS_STENCILS_V3(v_and_or_b32)
GS_STENCILS_MASKED(v_cndmask_b32)
GS_STENCILS_V2(v_min_u32)
GS_STENCILS_V2(v_max_u32)
GS_STENCILS_V2(v_min_i32)
GS_STENCILS_V2(v_max_i32)
GS_STENCILS_V2(v_cmp_lt_u32)
GS_STENCILS_V2(v_cmp_eq_u32)
GS_STENCILS_V2(v_cmp_le_u32)
GS_STENCILS_V2(v_cmp_gt_u32)
GS_STENCILS_V2(v_cmp_ne_u32)
GS_STENCILS_V2(v_cmp_ge_u32)
GS_STENCILS_V2(v_cmp_lt_i32)
GS_STENCILS_V2(v_cmp_eq_i32)
GS_STENCILS_V2(v_cmp_le_i32)
GS_STENCILS_V2(v_cmp_gt_i32)
GS_STENCILS_V2(v_cmp_ne_i32)
GS_STENCILS_V2(v_cmp_ge_i32)

#undef GS_STENCIL_OF
#define GS_STENCIL_OF(name, kinds, a, b, c, is_cmpx, body) LINEAR_STENCIL(name, kinds, a, b, c, ragged)
GS_STENCILS_V2(v_mul_hi_u32)
GS_STENCILS_V2(v_mul_hi_i32)
GS_STENCILS_V2(v_add_u32)

#undef GS_STENCIL_OF
#define GS_STENCIL_OF(name, kinds, a, b, c, is_cmpx, body) LINEAR_STENCIL(name, kinds, a, b, c, flat)
GS_STENCILS_V2(v_lshrrev_b32)
GS_STENCILS_V2(v_ashrrev_i32)

/* A row as it is before the plan, if it is linear. The last lane is worked out and not looked at by itself:
 * the host does not forward what is in the upper half of a vector that was just stored, and waits for all
 * stores before it, also those to the program's memory. */
void gs_stencil_linear_row(gs_wave_t *w);
void gs_stencil_linear_row(gs_wave_t *w) {
  const gs_row_t *const row = gs_row(w, GS_HOLE_SRC0);
  const uint32_t first = row->u32[0], step = row->u32[1] - first;
  const int64_t last = first + LAST_LANE * (int64_t)(int32_t)step;
  if (GS_UNLIKELY(last != (uint32_t)last || !gs_is_sequence(row, step))) {
    gs_stencil_taken(w);
    return;
  }
  put_linear(w, GS_HOLE_DST, 0, (linear_t){first, (uint64_t)last});
  gs_stencil_next(w);
}
/* A mask as it is before the plan, if it is the same in all lanes. */
void gs_stencil_linear_mask(gs_wave_t *w);
void gs_stencil_linear_mask(gs_wave_t *w) {
  const uint64_t mask = GS_LANES == 32 ? gs_read_sgpr32(w, GS_HOLE_SRC0) : gs_read_sgpr64(w, GS_HOLE_SRC0);
  if (mask && mask != GS_ALL_LANES) {
    gs_stencil_taken(w);
    return;
  }
  put_linear(w, GS_HOLE_DST, 0, same(mask != 0));
  gs_stencil_next(w);
}
/* Masks that scalar instructions move and combine, if each is the same in all lanes. Else who wants the
 * result finds none. */
static inline void put_mask(gs_wave_t *w, bool is_known, uint64_t mask) {
  if (is_known)
    put_carry(w, mask);
  else
    put_no_carry(w);
}
#define LINEAR_MASK_1(name, source, expr)                                                                    \
  void gs_stencil_mask_##name##_linear(gs_wave_t *w);                                                        \
  void gs_stencil_mask_##name##_linear(gs_wave_t *w) {                                                       \
    const linear_t a = get_linear(w, source, 0);                                                             \
    put_mask(w, is_uniform(a), expr);                                                                        \
    gs_stencil_next(w);                                                                                      \
  }
#define LINEAR_MASK_2(name, expr)                                                                            \
  void gs_stencil_mask_##name##_linear(gs_wave_t *w);                                                        \
  void gs_stencil_mask_##name##_linear(gs_wave_t *w) {                                                       \
    const linear_t a = get_linear(w, GS_HOLE_SRC0, 0), b = get_linear(w, GS_HOLE_SRC1, 0);                   \
    put_mask(w, is_uniform(a) && is_uniform(b), expr);                                                       \
    gs_stencil_next(w);                                                                                      \
  }
LINEAR_MASK_1(move, GS_HOLE_SRC0, a.first)
LINEAR_MASK_1(move_second, GS_HOLE_SRC1, a.first)
LINEAR_MASK_1(not, GS_HOLE_SRC0, a.first ^ 1)
LINEAR_MASK_1(not_second, GS_HOLE_SRC1, a.first ^ 1)
LINEAR_MASK_2(and, (a.first & b.first))
LINEAR_MASK_2(or, a.first | b.first)
LINEAR_MASK_2(xor, a.first ^ b.first)
LINEAR_MASK_2(andn2, a.first & ~b.first)
#else
void gs_stencil_cannot(void);
#endif
