/* Vector instructions on 32-bit integers and bits: logic, shifts, arithmetic without carry, products, bit
 * fields.
 * Not here: carries and 64-bit values (op_vint64.c), 16-bit (op_vint16.c), bytes (op_vbyte.c), packed
 * halves and dot products (op_vpk_int.c, op_vdot.c), comparisons (op_vcmp_int.c), moves between lanes
 * (op_vlane.c). */
#include "isa/vint.h"

/* The formatter would take products and masks of macro arguments for pointers. */
/* clang-format off */

/* Logic */
GS_V32_1(v_not_b32, u32, ~a)
GS_V32_2(v_and_b32, u32, a & b)
GS_V32_2(v_or_b32, u32, a | b)
GS_V32_2(v_xor_b32, u32, a ^ b)
GS_V32_2(v_xnor_b32, u32, ~(a ^ b))
GS_V32_3(v_and_or_b32, u32, (a & b) | c)
GS_V32_3(v_or3_b32, u32, a | b | c)
GS_V32_3(v_xor3_b32, u32, a ^ b ^ c)
GS_V32_3(v_bitop3_b32, u32, gs_by_table((uint32_t)gs_immediate(in), a, b, c))

GS_V32_3(v_bfi_b32, u32, (a & b) | (~a & c))

/* Shifts: the hardware looks at five bits of the count. */
GS_V32_2(v_lshlrev_b32, u32, b << (a & 31))
GS_V32_2(v_lshrrev_b32, u32, b >> (a & 31))
GS_V32_2(v_ashrrev_i32, i32, b >> (a & 31))
GS_V32_3(v_lshl_or_b32, u32, (a << (b & 31)) | c)
GS_V32_3(v_lshl_add_u32, u32, (a << (b & 31)) + c)
GS_V32_3(v_add_lshl_u32, u32, (a + b) << (c & 31))

/* Sums */
GS_VARITH_2(v_add_u32, 32, u32, u32, a + b)
GS_VARITH_2(v_sub_u32, 32, u32, u32, a - b)
GS_VARITH_2(v_subrev_u32, 32, u32, u32, b - a)
GS_VARITH_2(v_add_i32, 32, i32, i32, a + b)
GS_VARITH_2(v_sub_i32, 32, i32, i32, a - b)
GS_V32_3(v_add3_u32, u32, a + b + c)
GS_V32_3(v_xad_u32, u32, (a ^ b) + c)

/* Products. A 24-bit product has 48 bits: clamp compares all of them with the result's range. */
GS_VARITH_2(v_mul_u32_u24, 32, u24, u32, a * b)
GS_VARITH_2(v_mul_i32_i24, 32, i24, i32, a * b)
GS_VARITH_3(v_mad_u32_u24, 32, 32, u24, u32, a * b + c)
GS_VARITH_3(v_mad_i32_i24, 32, 32, i24, i32, a * b + c)
GS_VARITH_3(v_mad_u32_u16, 16, 32, u16, u32, a * b + c)
GS_VARITH_3(v_mad_i32_i16, 16, 32, i16, i32, a * b + c)
GS_V32_2(v_mul_hi_u32_u24, u32, ((uint64_t)gs_as_u24(a) * gs_as_u24(b)) >> 32)
GS_V32_2(v_mul_hi_i32_i24, u32, ((int64_t)gs_as_i24(a) * gs_as_i24(b)) >> 32)
GS_V32_2(v_mul_lo_u32, u32, a * b)
#define GS_VMUL_HI(type)                                                                                     \
  GS_OP(v_mul_hi_##type) {                                                                                   \
    gs_row_t ta, tb, td;                                                                                     \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    gs_mul_hi_##type(ra, rb, d);                                                                             \
    gs_commit32(w, in, d);                                                                                   \
  }
GS_VMUL_HI(u32)
GS_VMUL_HI(i32)

/* Minimum, maximum, median. The median is the larger of the minimum of two and the minimum of their
 * maximum and the third. */
GS_V32_2(v_min_u32, u32, gs_min_u32(a, b))
GS_V32_2(v_max_u32, u32, gs_max_u32(a, b))
GS_V32_2(v_min_i32, i32, gs_min_i32(a, b))
GS_V32_2(v_max_i32, i32, gs_max_i32(a, b))
GS_V32_3(v_min3_u32, u32, gs_min_u32(gs_min_u32(a, b), c))
GS_V32_3(v_max3_u32, u32, gs_max_u32(gs_max_u32(a, b), c))
GS_V32_3(v_med3_u32, u32, gs_max_u32(gs_min_u32(a, b), gs_min_u32(gs_max_u32(a, b), c)))
GS_V32_3(v_min3_i32, i32, gs_min_i32(gs_min_i32(a, b), c))
GS_V32_3(v_max3_i32, i32, gs_max_i32(gs_max_i32(a, b), c))
GS_V32_3(v_med3_i32, i32, gs_max_i32(gs_min_i32(a, b), gs_min_i32(gs_max_i32(a, b), c)))

/* Bit fields: offset and width have five bits, so a field of 32 bits cannot be named and width 0 gives 0. */
static inline uint32_t gs_field_mask(uint32_t width) {
  return (1u << (width & 31)) - 1u;
}

static inline uint32_t gs_bfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
  const uint32_t field = (uint32_t)((int32_t)a >> (offset & 31)) & gs_field_mask(width);
  const uint32_t sign = (1u << (width & 31)) >> 1;
  return (field ^ sign) - sign;
}

/* The low dword of {high, low} shifted right by less than 32. */
static inline uint32_t gs_align(uint32_t high, uint32_t low, uint32_t shift) {
  return low >> shift | high << 1 << (31 - shift);
}

GS_V32_3(v_bfe_u32, u32, (a >> (b & 31)) & gs_field_mask(c))
GS_V32_3(v_bfe_i32, u32, gs_bfe_i32(a, b, c))
GS_V32_2(v_bfm_b32, u32, gs_field_mask(a) << (b & 31))
GS_V32_3(v_alignbit_b32, u32, gs_align(a, b, c & 31))
GS_V32_3(v_alignbyte_b32, u32, gs_align(a, b, 8 * (c & 3)))

/* Counting and finding bits, with whole-word arithmetic that vectorises on every host. The count ends in
 * two sums instead of the usual product, which compilers would recognise and turn into a scalar
 * instruction. */
static inline uint32_t gs_count_bits(uint32_t x) {
  x = x - ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  x = x + (x >> 8);
  return (x + (x >> 16)) & 63;
}

static inline uint32_t gs_reverse_bits(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}

/* Zeroes above the highest set bit; all ones when there is none. */
static inline uint32_t gs_find_high(uint32_t x) {
  return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

/* Copies of the sign bit at the top, all ones when every bit equals it. */
static inline uint32_t gs_find_high_signed(uint32_t x) {
  return gs_find_high(x ^ (uint32_t)((int32_t)x >> 31));
}

/* Zeroes below the lowest set bit. */
static inline uint32_t gs_find_low(uint32_t x) {
  return x ? (uint32_t)__builtin_ctz(x) : UINT32_MAX;
}

/* Bits of a 32-bit half of a lane mask that belong to lanes below lane `l`; `first` is the half's first
 * lane. */
static inline uint32_t gs_lanes_below(uint32_t l, uint32_t first) {
  const uint32_t some = (1u << ((l - first) & 31)) - 1u;
  return l < first ? 0 : l >= first + 32 ? UINT32_MAX : some;
}

GS_V32_1(v_bfrev_b32, u32, gs_reverse_bits(a))
GS_V32_1(v_ffbh_u32, u32, gs_find_high(a))
GS_V32_1(v_ffbh_i32, u32, gs_find_high_signed(a))
GS_V32_1(v_ffbl_b32, u32, gs_find_low(a))
GS_V32_2(v_bcnt_u32_b32, u32, gs_count_bits(a) + b)
GS_V32_2(v_mbcnt_lo_u32_b32, u32, gs_count_bits(a & gs_lanes_below(l, 0)) + b)
GS_V32_2(v_mbcnt_hi_u32_b32, u32, gs_count_bits(a & gs_lanes_below(l, 32)) + b)

/* ---- Of gfx11 ---- */

GS_V32_3(v_maxmin_u32, u32, gs_min_u32(gs_max_u32(a, b), c))
GS_V32_3(v_minmax_u32, u32, gs_max_u32(gs_min_u32(a, b), c))
GS_V32_3(v_maxmin_i32, i32, gs_min_i32(gs_max_i32(a, b), c))
GS_V32_3(v_minmax_i32, i32, gs_max_i32(gs_min_i32(a, b), c))

/* Two shifted numbers, each cut to a byte, into a half of a register. */
static inline uint32_t gs_between(int32_t x, int32_t least, int32_t most) {
  return (uint32_t)(x < least ? least : x > most ? most : x) & 0xff;
}
GS_V32_3(v_ashr_pk_i8_i32, i32, gs_between(a >> (c & 31), -128, 127) | gs_between(b >> (c & 31), -128, 127) << 8)
GS_V32_3(v_ashr_pk_u8_i32, i32, gs_between(a >> (c & 31), 0, 255) | gs_between(b >> (c & 31), 0, 255) << 8)
