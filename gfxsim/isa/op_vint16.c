/* Vector instructions on 16-bit integers that are not packed. Which ones keep bits 31:16 of their
 * destination is said by GS_OPF_PRESERVE_HI in ops.def and done by the commit; the others write zeroes
 * there.
 * Not here: packed halves (op_vpk_int.c, op_vdot.c), conversions. */
#include "isa/vint.h"

/* The formatter would take products and masks of macro arguments for pointers. */
/* clang-format off */

GS_VARITH_2(v_add_u16, 16, u16, u16, a + b)
GS_VARITH_2(v_sub_u16, 16, u16, u16, a - b)
GS_VARITH_2(v_subrev_u16, 16, u16, u16, b - a)
GS_VARITH_2(v_add_i16, 16, i16, i16, a + b)
GS_VARITH_2(v_sub_i16, 16, i16, i16, a - b)
GS_VARITH_2(v_mul_lo_u16, 16, u16, u16, a * b)
GS_VARITH_3(v_mad_u16, 16, 16, u16, u16, a * b + c)
GS_VARITH_3(v_mad_i16, 16, 16, i16, i16, a * b + c)
GS_VARITH_3(v_mad_legacy_u16, 16, 16, u16, u16, a * b + c)
GS_VARITH_3(v_mad_legacy_i16, 16, 16, i16, i16, a * b + c)

/* Shifts look at four bits of the count. */
GS_V16_2(v_lshlrev_b16, u16, b << (a & 15))
GS_V16_2(v_lshrrev_b16, u16, b >> (a & 15))
GS_V16_2(v_ashrrev_i16, i16, b >> (a & 15))

GS_V16_2(v_min_u16, u16, gs_min_u32(a, b))
GS_V16_2(v_max_u16, u16, gs_max_u32(a, b))
GS_V16_2(v_min_i16, i16, gs_min_i32(a, b))
GS_V16_2(v_max_i16, i16, gs_max_i32(a, b))
GS_V16_3(v_min3_u16, u16, gs_min_u32(gs_min_u32(a, b), c))
GS_V16_3(v_max3_u16, u16, gs_max_u32(gs_max_u32(a, b), c))
GS_V16_3(v_med3_u16, u16, gs_max_u32(gs_min_u32(a, b), gs_min_u32(gs_max_u32(a, b), c)))
GS_V16_3(v_min3_i16, i16, gs_min_i32(gs_min_i32(a, b), c))
GS_V16_3(v_max3_i16, i16, gs_max_i32(gs_max_i32(a, b), c))
GS_V16_3(v_med3_i16, i16, gs_max_i32(gs_min_i32(a, b), gs_min_i32(gs_max_i32(a, b), c)))
