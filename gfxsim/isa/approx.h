/* Reciprocals, roots, powers of two, logarithms, sines and cosines as cards of gfx11 compute them, bit by
 * bit.
 *
 * Each is a table of cubic polynomials, one for each piece of the significand, added up in fixed point with
 * products of 24 bits. AMD published the coefficients that it found by measuring gfx1100 and gfx1201, which
 * agree (rocm-systems, emulation/rocjitsu, MIT licence), and digests of all results. The steps here give the
 * measured result for every significand; f64 is the same without the last rounding. Not here: the
 * instructions (op_vapprox.c), and NaNs, which go through all of them. */
#ifndef GFXSIM_ISA_APPROX_H
#define GFXSIM_ISA_APPROX_H

#include "isa/half.h"

#include <math.h>
#include <stdbool.h>

/* A piece: constant, and coefficients of the distance from its left end. Units differ by function. Of a
 * logarithm the third has 23 more bits than the second, which lose those of `below`, too. */
typedef struct gs_cubic {
  int32_t c0;
  uint32_t c1, c2, c3, below;
} gs_cubic_t;

/* The pieces of a function, each coefficient's side by side, as vectors look them up. */
enum { GS_PIECES = 32, GS_COEFFICIENTS = 5 };
typedef struct gs_cubics {
  uint32_t c[GS_COEFFICIENTS][GS_PIECES];
} gs_cubics_t;

static inline gs_cubic_t gs_cubic(const gs_cubics_t *pieces, unsigned i) {
  const uint32_t(*const c)[GS_PIECES] = pieces[i / GS_PIECES].c;
  const unsigned p = i % GS_PIECES;
  return (gs_cubic_t){(int32_t)c[0][p], c[1][p], c[2][p], c[3][p], c[4][p]};
}

static const gs_cubics_t gs_rcp_pieces = {
    {{67108864, 65075262, 63161283, 61356675, 59652323, 58040098, 56512727, 55063683,
      53687091, 52377649, 51130563, 49941480, 48806446, 47721858, 46684427, 45691141,
      44739242, 43826196, 42949672, 42107522, 41297762, 40518559, 39768215, 39045157,
      38347922, 37675151, 37025580, 36398027, 35791394, 35204649, 34636833, 34087042},
     {2097138, 1971966, 1857674, 1753039, 1657001, 1568644, 1487171, 1411884, 1342172, 1277499, 1217390,
      1161426, 1109234, 1060483, 1014876, 972149,  932065,  894410,  858991,  825636,  794186,  764500,
      736447,  709911,  684783,  660966,  638371,  616915,  596522,  577124,  558658,  541063},
     {65462, 59693, 54582, 50039, 45986, 42359, 39104, 36174, 33529, 31136, 28966,
      26992, 25194, 23552, 22050, 20673, 19408, 18244, 17171, 16181, 15266, 14418,
      13632, 12902, 12223, 11591, 11002, 10452, 9938,  9458,  9007,  8585},
     {1925, 1705, 1516, 1352, 1210, 1086, 977, 882, 798, 724, 658, 599, 547, 501, 459, 421,
      388,  357,  330,  305,  282,  262,  243, 226, 210, 196, 183, 171, 160, 150, 140, 131}}};

/* Of even exponents, then of odd ones. */
static const gs_cubics_t gs_rsq_pieces[2] = {
    {{{67108864, 66084241, 65105161, 64168347, 63270843, 62409975, 61583317, 60788660,
       60023992, 59287474, 58577418, 57892279, 57230631, 56591163, 55972661, 55374006,
       54794158, 54232151, 53687091, 53158141, 52644524, 52145512, 51660427, 51188632,
       50729532, 50282567, 49847212, 49422973, 49009384, 48606008, 48212431, 47828262},
      {1048572, 1001273, 957426, 916688, 878759, 843376, 810305, 779340, 750298, 723016, 697349,
       673165,  650347,  628789, 608397, 589084, 570771, 553388, 536870, 521157, 506196, 491938,
       478336,  465350,  452941, 441074, 429717, 418838, 408411, 398409, 388809, 379589},
      {24555, 22738, 21104, 19629, 18295, 17084, 15983, 14978, 14060, 13219, 12446,
       11735, 11080, 10475, 9915,  9396,  8914,  8467,  8050,  7661,  7298,  6959,
       6641,  6343,  6064,  5802,  5555,  5322,  5103,  4897,  4702,  4517},
      {606, 545, 491, 445, 403, 367, 335, 306, 280, 257, 237, 218, 201, 186, 173, 160,
       149, 139, 129, 121, 113, 105, 99,  93,  87,  82,  77,  73,  68,  65,  61,  58}}},
    {{{47453132, 46728614, 46036300, 45373873, 44739242, 44130517, 43545981, 42984073,
       42443372, 41922574, 41420490, 40936023, 40468167, 40015995, 39578648, 39155335,
       38745320, 38347922, 37962506, 37588482, 37225300, 36872445, 36529438, 36195829,
       35871196, 35555144, 35247302, 34947319, 34654868, 34369638, 34091337, 33819688},
      {741452, 708007, 677002, 648196, 621376, 596356, 572972, 551076, 530541, 511250, 493100,
       475999, 459864, 444621, 430202, 416545, 403596, 391304, 379624, 368514, 357935, 347852,
       338235, 329052, 320278, 311887, 303855, 296163, 288790, 281718, 274930, 268410},
      {17363, 16078, 14922, 13880, 12936, 12080, 11301, 10591, 9942, 9347, 8801,
       8298,  7835,  7407,  7011,  6644,  6303,  5987,  5692,  5417, 5160, 4920,
       4696,  4485,  4288,  4102,  3928,  3763,  3609,  3462,  3325, 3194},
      {428, 385, 347, 314, 285, 259, 236, 216, 198, 182, 167, 154, 142, 132, 122, 113,
       105, 98,  91,  85,  80,  74,  70,  65,  61,  58,  54,  51,  48,  45,  43,  41}}}};

/* Likewise, half as many. */
static const gs_cubics_t gs_sqrt_pieces = {
    {{33554432, 34587116, 35589849, 36565094, 37514995, 38441431, 39346059, 40230350,
      41095618, 41943040, 42773675, 43588485, 44388341, 45174036, 45946298, 46705792,
      47453132, 48913569, 50331648, 51710852, 53054215, 54364393, 55643730, 56894307,
      58117981, 59316416, 60491112, 61643427, 62774594, 63885735, 64977878, 66051965},
     {2097143, 2034529, 1977208, 1924474, 1875745, 1830541, 1788454, 1749143, 1712315, 1677719, 1645139,
      1614387, 1585296, 1557724, 1531542, 1506637, 2965809, 2877259, 2796194, 2721617, 2652705, 2588776,
      2529256, 2473662, 2421579, 2372654, 2326579, 2283088, 2241948, 2202954, 2165927, 2130707},
     {32722, 29882, 27431, 25297, 23425, 21774, 20308, 18999, 17825, 16767, 15810,
      14940, 14147, 13422, 12757, 12145, 46276, 42260, 38793, 35775, 33129, 30793,
      28720, 26869, 25208, 23712, 22358, 21129, 20008, 18982, 18042, 17176},
     {474, 409, 356, 312, 275, 244, 218, 195, 176, 159, 145, 132, 120, 110, 102, 94,
      670, 578, 503, 441, 389, 346, 308, 277, 249, 225, 205, 186, 171, 156, 144, 133}}};

static const gs_cubics_t gs_exp_pieces = {
    {{268435456, 274313427, 280320109, 286458319, 292730941, 299140913, 305691246, 312385013,
      319225354, 326215479, 333358667, 340658273, 348117717, 355740503, 363530205, 371490480,
      379625062, 387937769, 396432501, 405113242, 413984066, 423049137, 432312707, 441779122,
      451452826, 461338356, 471440350, 481763549, 492312797, 503093043, 514109347, 525366876},
     {5814541, 5941862, 6071972, 6204931, 6340801,  6479647,  6621533,  6766525,  6914693,  7066105, 7220833,
      7378948, 7540526, 7705642, 7874374, 8046800,  8223002,  8403062,  8587066,  8775098,  8967247, 9163605,
      9364261, 9569312, 9778853, 9992982, 10211799, 10435409, 10663914, 10897424, 11136046, 11379894},
     {8060268,  8236765,  8417127,  8601438,  8789785,  8982256,  9178942,  9379934,
      9585328,  9795219,  10009707, 10228891, 10452874, 10681762, 10915663, 11154685,
      11398940, 11648545, 11903614, 12164270, 12430633, 12702828, 12980984, 13265230,
      13555701, 13852532, 14155863, 14465836, 14782597, 15106293, 15437078, 15775106},
     {29, 29, 30, 31, 31, 32, 33, 33, 34, 35, 36, 36, 37, 38, 39, 40,
      41, 42, 42, 43, 44, 45, 46, 47, 48, 49, 50, 52, 53, 54, 55, 56}}};

/* ---- Steps that the functions share ---- */

/* x / 2^shift to nearest, ties to even. */
static inline int64_t gs_to_even(int64_t x, unsigned shift) {
  const int64_t half = INT64_C(1) << (shift - 1);
  return (x + half - 1 + (x >> shift & 1)) >> shift;
}

/* The significand of a float, in [2^23, 2^24]. */
static inline uint32_t gs_significand(int64_t x, unsigned shift) {
  return (uint32_t)gs_to_even(x, shift);
}

/* ---- Reciprocals and roots: 29 bits of the significand below the point, and the exponent's lowest bit ----
 *
 * `half` is 1 in f64, whose results are not rounded: half a unit of the constant in most pieces. */

/* The piece that a significand is in. Of roots the odd exponents have pieces of their own. */
static inline unsigned gs_rcp_piece(uint32_t m) {
  return m >> 24;
}
static inline unsigned gs_rsq_piece(unsigned odd, uint32_t m) {
  return odd * GS_PIECES + (m >> 24);
}
static inline unsigned gs_sqrt_piece(unsigned odd, uint32_t m) {
  return odd * (GS_PIECES / 2) + (m >> 25);
}

/* Products are rounded to 24 bits, ties to even, as floats have them; so what is done with them is, too:
 * twice as many fit into a vector of the host as of anything wider. */

/* a * b + c, rounded once. The exact sum has less than 53 bits. */
static inline float gs_fused_sum(float a, float b, float c) {
#ifdef __FMA__
  return fmaf(a, b, c);
#else
  return (float)((double)a * (double)b + (double)c);
#endif
}
/* a * b of 24 bits, or fewer: below `least`, a power of two, the last one is what it is there. */
static inline float gs_product_from(float least, float a, float b) {
  const float product = a * b, small = gs_fused_sum(a, b, least) - least;
  return product >= least ? product : small;
}
/* x * x / 2^10, cut off, for the upper 17 bits of the distance. */
static inline float gs_square(uint32_t f) {
  /* x is y + z for two numbers that differ by its last bit; the square of that bit, a quarter, is cut off. */
  return (float)(int32_t)((f >> 8) * ((f + 128) >> 8) >> 8);
}
/* The terms of second and third order at `f`, a distance of 24 bits, in units of 2^23. The third, a product
 * rounded to a multiple of `unit3`, weakens the second. */
static inline int32_t gs_curve_of(gs_cubic_t c, uint32_t f, float unit2, float unit3) {
  const float whole = 0x1p23f; /* numbers from there on have no fraction */
  const float distance = gs_fused_sum((float)(int32_t)(f & ~15u), 0x1p-4f / unit3, 1 / unit3);
  const float third = gs_fused_sum((float)(int32_t)c.c3, distance, whole);
  const float slope = gs_fused_sum((float)(int32_t)c.c2, unit2, whole) - third;
  return (int32_t)gs_product_from(whole, slope * 0x1p-23f, gs_square(f));
}

/* high * 64 + low. */
typedef struct gs_sum {
  int32_t high, low;
} gs_sum_t;

/* The sum, of 30 bits or more, in units of 64, as a float: ties to even. */
static inline float gs_rounded_sum(gs_sum_t sum) {
  const int32_t high = sum.high + (sum.low >> 6);
  return (float)(high | ((sum.low & 63) != 0)); /* what is cut off decides about ties */
}
/* 1 / (1 + m / 2^29), in units of 2^-35. */
static inline gs_sum_t gs_rcp_significand(gs_cubic_t c, uint32_t m, int32_t half) {
  const uint32_t f = m & 0xffffff;
  const float linear = gs_product_from(0x1p22f, (float)(int32_t)c.c1, (float)(int32_t)f * 0x1p-21f);
  return (gs_sum_t){(c.c0 * 2 + (m >> 24 ? half : 0)) * 4 - (int32_t)ceilf(linear),
                    gs_curve_of(c, f, 0x1p8f, 0x1p12f)};
}

/* 1 / sqrt(x), x = 1 + m / 2^29 or twice that, in units of 2^-36. Bits 4 and 5 do not reach the linear term
 * of the last piece. */
static inline gs_sum_t gs_rsq_significand(gs_cubic_t c, uint32_t m, int32_t half) {
  const uint32_t f = m & 0xffffff;
  const uint32_t looked_at = m >> 24 == 31 ? f & ~0x30u : f;
  const float linear = gs_product_from(0x1p21f, (float)(int32_t)c.c1, (float)(int32_t)looked_at * 0x1p-21f);
  return (gs_sum_t){(c.c0 * 2 + (m >> 24 ? half : 0)) * 8 - (int32_t)ceilf(linear) * 2,
                    gs_curve_of(c, f, 0x1p9f, 0x1p11f)};
}

/* sqrt(x), likewise, of which one bit less is looked at; in units of 2^-35. */
static inline gs_sum_t gs_sqrt_significand(gs_cubic_t c, uint32_t m, int32_t half) {
  const uint32_t f = m >> 1 & 0xffffff;
  const float linear = gs_product_from(0x1p22f, (float)(int32_t)c.c1, (float)(int32_t)f * 0x1p-22f);
  return (gs_sum_t){(c.c0 * 2 + (m >> 25 == 15 ? 0 : half)) * 8 + (int32_t)linear * 2,
                    -gs_curve_of(c, f, 0x1p8f, 0x1p11f)};
}

/* ---- f32: the unit knows no denormals, neither as operands nor as results ---- */

enum {
  GS_F32_INFINITY = 0x7f800000,
  GS_F32_FRACTION = 0x7fffff,
  GS_F32_LEAST = 0x800000, /* normal number */
  GS_F32_ONE = 0x3f800000,
};
#define GS_F32_SIGN    UINT32_C(0x80000000)
#define GS_F32_INVALID UINT32_C(0xffc00000) /* the result of operations without one */

/* A NaN's quiet bit, where it becomes quiet. */
static inline uint32_t gs_f32_nan(uint32_t x, bool quiet) {
  return x | (quiet ? 0x400000 : 0);
}

/* Of each function: whether an argument needs nothing but its piece; which one; what the piece gives; and the
 * result of any argument. NaNs become quiet where `quiet` says so. Vector code computes the third for all
 * lanes, and the last for those that are not plain: hence without branches. */

static inline uint32_t gs_magnitude(uint32_t x) {
  return x & ~GS_F32_SIGN;
}
/* The bits of the significand below the point that the unit looks at. */
static inline uint32_t gs_looked_at(uint32_t x) {
  return (x & GS_F32_FRACTION) << 6;
}
/* 127, which is odd, means 0. */
static inline unsigned gs_is_odd(uint32_t x) {
  return ~x >> 23 & 1;
}
static inline bool gs_is_normal(uint32_t x) {
  return gs_magnitude(x) - GS_F32_LEAST < GS_F32_INFINITY - GS_F32_LEAST;
}

static inline bool gs_rcp_f32_is_plain(uint32_t x) {
  return gs_magnitude(x) - GS_F32_LEAST < UINT32_C(252) << 23; /* the result is a normal number, too */
}
static inline unsigned gs_rcp_f32_piece(uint32_t x) {
  return gs_rcp_piece(gs_looked_at(x));
}
static inline uint32_t gs_rcp_f32_plain(gs_cubic_t c, uint32_t x) {
  const float sum = gs_rounded_sum(gs_rcp_significand(c, gs_looked_at(x), 0)); /* in units of 2^-29 */
  return gs_bits_of_float(sum) + ((127u - 29) << 23) - (x & ~(uint32_t)GS_F32_FRACTION);
}
static inline uint32_t gs_rcp_f32_bits(uint32_t x, bool quiet) {
  if (gs_rcp_f32_is_plain(x))
    return gs_rcp_f32_plain(gs_cubic(&gs_rcp_pieces, gs_rcp_f32_piece(x)), x);
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign | GS_F32_INFINITY;
  return sign | (magnitude == UINT32_C(253) << 23 ? GS_F32_LEAST : 0);
}

static inline bool gs_rsq_f32_is_plain(uint32_t x) {
  return gs_is_normal(x) && !(x & GS_F32_SIGN);
}
static inline unsigned gs_rsq_f32_piece(uint32_t x) {
  return gs_rsq_piece(gs_is_odd(x), gs_looked_at(x));
}
static inline uint32_t gs_rsq_f32_plain(gs_cubic_t c, uint32_t x) {
  const float sum = gs_rounded_sum(gs_rsq_significand(c, gs_looked_at(x), 0)); /* in units of 2^-30 */
  return gs_bits_of_float(sum) + (((382 - (x >> 23)) / 2 - 127 - 30) << 23);
}
static inline uint32_t gs_rsq_f32_bits(uint32_t x, bool quiet) {
  if (gs_rsq_f32_is_plain(x))
    return gs_rsq_f32_plain(gs_cubic(gs_rsq_pieces, gs_rsq_f32_piece(x)), x);
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign | GS_F32_INFINITY;
  return sign ? GS_F32_INVALID : 0;
}

static inline bool gs_sqrt_f32_is_plain(uint32_t x) {
  return gs_is_normal(x) && !(x & GS_F32_SIGN);
}
static inline unsigned gs_sqrt_f32_piece(uint32_t x) {
  return gs_sqrt_piece(gs_is_odd(x), gs_looked_at(x));
}
static inline uint32_t gs_sqrt_f32_plain(gs_cubic_t c, uint32_t x) {
  const float sum = gs_rounded_sum(gs_sqrt_significand(c, gs_looked_at(x), 0)); /* in units of 2^-29 */
  return gs_bits_of_float(sum) + ((((x >> 23) + 127) / 2 - 127 - 29) << 23);
}
static inline uint32_t gs_sqrt_f32_bits(uint32_t x, bool quiet) {
  if (gs_sqrt_f32_is_plain(x))
    return gs_sqrt_f32_plain(gs_cubic(&gs_sqrt_pieces, gs_sqrt_f32_piece(x)), x);
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign;
  return sign ? GS_F32_INVALID : x;
}

/* ---- Powers of two ---- */

/* A number: its integer, and the rest in units of 2^-29. Negative ones are counted from the next lower
 * integer with the complement of the bits, which is a unit too little. */
typedef struct gs_power {
  int32_t integer;
  uint32_t fraction;
} gs_power_t;

static inline gs_power_t gs_power(uint32_t x) {
  const uint32_t size = gs_magnitude(x), has_power = -(uint32_t)(size < 0x43000000); /* below 128 */
  const float magnitude = gs_float_of_bits(size & has_power);
  const int32_t integer = (int32_t)magnitude, sign = -(int32_t)(x >> 31);
  const int32_t fraction = (int32_t)((magnitude - (float)integer) * 0x1p29f);
  return (gs_power_t){integer ^ sign, (uint32_t)(fraction ^ sign) & 0x1fffffff};
}

/* g * g / 2^12, cut off; g has 18 bits. */
static inline float gs_square18(uint32_t g) {
  const uint32_t y = g >> 2, z = g & 3; /* (4y + z)^2 / 16, which has room, and loses nothing that matters */
  return (float)(int32_t)((y * y + ((y * z + (z * z >> 3)) >> 1)) >> 8);
}

/* 2^(fraction / 2^29), in units of 2^-36. */
static inline gs_sum_t gs_exp_significand(gs_cubic_t c, uint32_t fraction) {
  const uint32_t f = fraction & 0xffffff, g = f >> 6, fine = (c.c2 << 7) + c.c3 * g;
  const uint32_t slope = (fine + 63 + (fine >> 7 & 1)) >> 7;
  const float linear = gs_product_from(0x1p23f, (float)(int32_t)c.c1, (float)(int32_t)f * 0x1p-23f);
  const float curve = gs_product_from(0x1p23f, (float)(int32_t)slope, gs_square18(g) * 0x1p-23f);
  return (gs_sum_t){(c.c0 + (int32_t)(linear * 0.5f)) * 4, (int32_t)curve};
}

/* Neither so small that the result is 1, nor from 2^7 on, where it is no number. */
static inline bool gs_exp_f32_is_plain(uint32_t x) {
  return gs_magnitude(x) - (UINT32_C(103) << 23) < UINT32_C(31) << 23;
}
static inline unsigned gs_exp_f32_piece(uint32_t x) {
  return gs_power(x).fraction >> 24;
}
static inline uint32_t gs_exp_f32_plain(gs_cubic_t c, uint32_t x) {
  const gs_power_t power = gs_power(x);
  const float sum = gs_rounded_sum(gs_exp_significand(c, power.fraction)); /* in units of 2^-30 */
  const int32_t bits = (int32_t)gs_bits_of_float(sum) + (power.integer - 30) * GS_F32_LEAST;
  return bits < GS_F32_LEAST ? 0 : (uint32_t)bits;
}
/* Halves are rounded once, for which the float's last bit tells whether bits were cut off. */
static inline uint32_t gs_exp_odd(gs_cubic_t c, uint32_t x) {
  const gs_power_t power = gs_power(x);
  const gs_sum_t sum = gs_exp_significand(c, power.fraction);
  const int64_t wide = (int64_t)sum.high * 64 + sum.low, odd = wide >> 13 | ((wide & 0x1fff) != 0);
  const int64_t bits = (power.integer + 126) * (int64_t)GS_F32_LEAST + odd;
  return bits < GS_F32_LEAST ? 0 : (uint32_t)bits;
}
static inline uint32_t gs_exp_rounded(uint32_t x, bool quiet, bool odd) {
  if (gs_exp_f32_is_plain(x)) {
    const gs_cubic_t c = gs_cubic(&gs_exp_pieces, gs_exp_f32_piece(x));
    return odd ? gs_exp_odd(c, x) : gs_exp_f32_plain(c, x);
  }
  if (gs_magnitude(x) > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (gs_magnitude(x) >> 23 < 103)
    return GS_F32_ONE;
  return x & GS_F32_SIGN ? 0 : GS_F32_INFINITY;
}
static inline uint32_t gs_exp_f32_bits(uint32_t x, bool quiet) {
  return gs_exp_rounded(x, quiet, false);
}
/* ---- Logarithms ---- */

static const gs_cubics_t gs_log_pieces = {
    {{15,        47667825,  93912517,  138816594, 182455591, 224898847, 266210154,  306448312,
      345667679, 383918558, 421247645, 457698312, 493310964, 528123258, 562170399,  595485263,
      628098719, 660039693, 691335339, 722011229, 752091435, 781598650, 810554297,  838978616,
      866890752, 894308853, 921250083, 947730761, 973766367, 999371610, 1024560488, 1049346329},
     {12102179, 11735468, 11390291, 11064855, 10757500, 10466758, 10191316, 9930003,
      9681753,  9445614,  9220718,  9006284,  8801596,  8606005,  8418918,  8239793,
      8068131,  7903475,  7745406,  7593536,  7447506,  7306987,  7171673,  7041279,
      6915542,  6794217,  6677075,  6563905,  6454506,  6348694,  6246298,  6147160},
     {12095173, 11378345, 10714741, 10111507, 9557803, 9048378, 8578611, 8144494, 7742500, 7369567, 7022931,
      6700175,  6399165,  6118007,  5854955,  5608532, 5377341, 5160150, 4955875, 4763477, 4582059, 4410807,
      4248984,  4095937,  3950988,  3813578,  3683220, 3559471, 3441820, 3329908, 3223482, 3121894},
     {7703430, 7196210, 6440064, 5910132, 5437300, 5014168, 4633666, 4290660, 3980348, 3699876, 3444856,
      3212382, 3000264, 2807020, 2629240, 2466858, 2317504, 2179820, 2053444, 1936151, 1827318, 1726376,
      1632887, 1547042, 1466372, 1390544, 1321584, 1255436, 1193876, 1137588, 1083560, 1032952},
     {0,       7786496, 7413760, 7176192, 6864896, 6701056, 6881280, 6971392, 6138880, 6987776, 5824512,
      6217728, 5619712, 5586944, 5513216, 5709824, 5332992, 5226496, 5193728, 5345280, 5513216, 5046272,
      5227520, 5300224, 4939776, 4890624, 4857856, 4808704, 4784128, 4767744, 4734976, 4718592}}};
/* The upper half of the second. */
static const gs_cubic_t gs_log_second_half = {47667912, 11735350, 11363743, 6879954, 8077312};
/* Of the distance from 1, in three pieces above it and two below. */
static const gs_cubic_t gs_log_above[3] = {
    {1, 48408812, 12102094, 7996204, 8257536},
    {385, 48408744, 12097614, 7795547, 8196096},
    {5713, 48408288, 12084310, 7533868, 7961344},
};
static const gs_cubic_t gs_log_below[2] = {
    {1, 48408812, 12101979, 2035248, 61440},
    {-799, 48408884, 12097323, 2088428, 0},
};

/* Without its last bit if it has 26. */
static inline int64_t gs_keep25(int64_t x) {
  return x & ~(x >> 25 & 1);
}

/* x / 2^shift as a float, cut off or, with `away`, rounded away from zero. 0 < x < 2^53, which a double has
 * exactly. */
static inline uint32_t gs_f32_of_fixed(int64_t x, int shift, bool away) {
  const double value = (double)x;
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint32_t)((bits + (away ? (1 << 29) - 1 : 0)) >> 29) - ((uint32_t)(1023 - 127 + shift) << 23);
}

/* log2 of 1 plus or minus a distance of n / 2^23 or n / 2^24, without its sign. */
static inline uint32_t gs_log_near_one(bool is_below, uint32_t n) {
  int scale = 0;
  while (scale < 16 && n << scale < 1u << 14)
    scale += 4;
  const int64_t scaled = (int64_t)n << scale, square = scaled * scaled >> (12 + scale);
  const gs_cubic_t *const c = is_below ? &gs_log_below[n >> 17] : &gs_log_above[n >> 16 ? 1 + (n >> 17) : 0];
  const int64_t linear = c->c0 + (c->c1 * scaled >> 15) * 8;
  const int64_t third = (int64_t)c->c3 * n + c->below;
  const int64_t sum = is_below ? linear + gs_keep25((c->c2 + (third >> 22)) * square >> 23)
                               : linear - gs_keep25((c->c2 - (third >> 23)) * square >> 22);
  return gs_f32_of_fixed(sum, (is_below ? 37 : 36) + scale, true);
}

/* A normal number away from 1, and not where the second piece has a half of its own. */
static inline bool gs_log_f32_is_plain(uint32_t x) {
  return gs_is_normal(x) && !(x & GS_F32_SIGN) && x - 0x3f7c0001 > 0x3f840000 - 0x3f7c0001 - 1 &&
         (x & GS_F32_FRACTION) >> 17 != 3;
}
static inline unsigned gs_log_f32_piece(uint32_t x) {
  return (x & GS_F32_FRACTION) >> 18;
}
static inline uint32_t gs_log_f32_plain(gs_cubic_t c, uint32_t x) {
  const int64_t f = x & 0x3ffff, slope = c.c2 - ((int64_t)(c.c3 * f + c.below) >> 23);
  const int64_t significand =
      ((int64_t)c.c0 + (c.c1 * f >> 16)) * 64 - gs_keep25(slope * (f * f >> 12) >> 22);
  const int64_t sum = ((int64_t)(gs_magnitude(x) >> 23) - 127) * (INT64_C(1) << 36) + significand;
  return (sum < 0 ? GS_F32_SIGN : 0) | gs_f32_of_fixed(sum < 0 ? -sum : sum, 36, sum < 0);
}
static inline uint32_t gs_log_f32_bits(uint32_t x, bool quiet) {
  if (gs_log_f32_is_plain(x))
    return gs_log_f32_plain(gs_cubic(&gs_log_pieces, gs_log_f32_piece(x)), x);
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return GS_F32_SIGN | GS_F32_INFINITY;
  if (sign)
    return GS_F32_INVALID;
  if (magnitude == GS_F32_INFINITY || magnitude == GS_F32_ONE)
    return magnitude == GS_F32_ONE ? 0 : x;
  if (x > 0x3f7c0000 && x < GS_F32_ONE)
    return GS_F32_SIGN | gs_log_near_one(true, GS_F32_ONE - x);
  if (x > GS_F32_ONE && x < 0x3f840000)
    return gs_log_near_one(false, x - GS_F32_ONE);
  return gs_log_f32_plain(gs_log_second_half, x);
}

/* ---- Sines and cosines of turns ----
 *
 * A turn has eight parts in which one table gives the sine and the other the cosine of an angle below an
 * eighth, in sixteen pieces. Coefficients are in units of 2^-26. AMD's model of these
 * is not proven for every float. */

typedef struct gs_trig_piece {
  int32_t c0, c1, c2, c3;
} gs_trig_piece_t;

static const gs_trig_piece_t gs_trig_pieces[2][16] = {
    {{0, 3294200, 0, -1322},
     {3292874, 3290232, -3968, -1320},
     {6577818, 3278340, -7928, -1312},
     {9846914, 3258548, -11864, -1304},
     {13092288, 3230908, -15778, -1290},
     {16306122, 3195480, -19650, -1274},
     {19480674, 3152356, -23476, -1256},
     {22608294, 3101636, -27246, -1234},
     {25681450, 3043444, -30948, -1210},
     {28692736, 2977924, -34576, -1182},
     {31634898, 2905224, -38122, -1152},
     {34500850, 2825532, -41576, -1118},
     {37283686, 2739032, -44928, -1082},
     {39976702, 2645928, -48176, -1042},
     {42573412, 2546452, -51304, -1002},
     {45067558, 2440844, -54310, -958}},
    {{67108864, 0, -80872, 32},
     {67028028, -161636, -80774, 98},
     {66785716, -322884, -80482, 162},
     {66382510, -483352, -79996, 226},
     {65819384, -642664, -79318, 290},
     {65097694, -800416, -78448, 352},
     {64219178, -956248, -77390, 414},
     {63185952, -1109776, -76144, 476},
     {62000504, -1260628, -74716, 536},
     {60665694, -1408448, -73104, 594},
     {59184734, -1552872, -71320, 652},
     {57561192, -1693552, -69364, 708},
     {55798980, -1830152, -67242, 762},
     {53902344, -1962348, -64956, 814},
     {51875852, -2089812, -62514, 864},
     {49724388, -2212244, -59922, 912}},
};

/* How much of the angle an eighth of a turn has: where it is in the piece, in units of 2^-31 turns, and
 * whether the eighth was reflected, so that its right end is approached from below. */
typedef struct gs_eighth {
  uint32_t index, f;
  bool reflected;
} gs_eighth_t;

/* The distance rounded to fewer bits for the linear term, but not into the next 2^20 of them. */
static inline int64_t gs_trig_distance(gs_eighth_t e, unsigned shift) {
  const uint32_t x = e.f - e.reflected, rounded = (x + (1u << (shift - 1))) >> shift;
  const uint32_t most = (x >> (20 + shift) << 20) | 0xfffff;
  return (int64_t)(rounded < most ? rounded : most) << shift;
}

/* The factor of the distance's square, which is taken away, in units of 2^-33. It takes 18 bits of the
 * distance, from the right end where the third coefficient rises. */
static inline int64_t gs_trig_slope(const gs_trig_piece_t *c, gs_eighth_t e) {
  const uint32_t x = e.f - e.reflected, from_right = 0xffffff - x;
  return c->c3 <= 0
             ? gs_to_even(-(int64_t)c->c2 * (1 << 24) - (int64_t)c->c3 * (x & ~63u), 17)
             : gs_to_even(-(int64_t)(c->c2 + c->c3) * (1 << 24) + (int64_t)c->c3 * (from_right & ~63u), 17);
}

/* Sines below a sixty-fourth of a turn, with more bits; the first piece drops zeroes in groups of four. */
static inline uint32_t gs_trig_low(gs_eighth_t e) {
  const gs_trig_piece_t *const c = &gs_trig_pieces[0][e.index];
  const unsigned width = e.f ? 32 - (unsigned)__builtin_clz(e.f) : 0;
  const unsigned more = e.index ? 0 : (24 - (width < 24 ? width : 24)) / 4 * 4;
  const unsigned up = e.index ? 0 : (25 - (width < 25 ? width : 25)) / 4 * 4;
  int64_t x = e.index ? gs_trig_distance(e, 2) : (int64_t)e.f << up;
  x -= !e.index && e.reflected && ((uint64_t)e.f << more & 0xfffff) == 0;
  const unsigned precision = e.index ? 30 : 32 + more, all = 34 + more, kept = more < 10 ? 24 + more : 34;
  const int64_t linear = c->c1 * x >> (50 + up - precision) << (all - precision);
  const int64_t half = (e.f - e.reflected) >> 7, square = half * half >> (34 - kept);
  const int64_t second = gs_to_even(gs_trig_slope(c, e) * square, 33 + kept - all);
  return gs_f32_of_fixed(((int64_t)c->c0 << (all - 26)) + linear - second, (int)all, false);
}

static inline uint32_t gs_trig_high(const gs_trig_piece_t *c, gs_eighth_t e) {
  const int64_t product = c->c1 * gs_trig_distance(e, 4), size = product < 0 ? -product : product;
  const int64_t linear = size >> 45 ? gs_to_even(size, 22) * 2 : gs_to_even(size, 21);
  const int64_t half = (e.f - e.reflected) >> 7, curve = gs_trig_slope(c, e) * (half * half >> 10);
  const int64_t bias = INT64_C(1) << (curve >> 47 ? 23 : 22);
  const int64_t second = curve <= bias ? 0 : (curve - bias + (1 << 29) - 1) >> 29;
  const int64_t sum = (int64_t)c->c0 * 8 + (product < 0 ? -linear : linear) - second * 2;
  return gs_f32_of_fixed(sum, 29, false);
}

/* Of small x: 2 pi x, rounded once. */
static inline uint32_t gs_sin_small(uint32_t magnitude, bool keep_output) {
  const uint32_t exponent = magnitude >> 23;
  const uint64_t product =
      ((magnitude & GS_F32_FRACTION) | (exponent ? GS_F32_LEAST : 0)) * UINT64_C(0xc90fd5);
  const int top = 63 - __builtin_clzll(product), result = (int)(exponent ? exponent : 1) - 44 + top;
  if (result <= 0) {
    const uint32_t bits = gs_significand((int64_t)product, 21);
    return keep_output || bits >= GS_F32_LEAST ? bits : 0;
  }
  return ((uint32_t)(result - 1) << 23) + gs_significand((int64_t)product, (unsigned)top - 23);
}

/* `keep` as MODE has it: 1 denormal operands, 2 denormal results. */
static inline uint32_t gs_trig_f32_bits(uint32_t x, bool cosine, unsigned keep, bool quiet) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign;
  const int exponent = (int)(magnitude >> 23) - 127;
  if (magnitude >= GS_F32_INFINITY)
    return magnitude == GS_F32_INFINITY ? GS_F32_INVALID : gs_f32_nan(x, quiet);
  if (!magnitude || (magnitude < GS_F32_LEAST && !(keep & 1)))
    return cosine ? GS_F32_ONE : sign;
  if (!cosine && magnitude < 0x39c00000)
    return sign | gs_sin_small(magnitude, keep & 2);
  if (exponent >= 23) /* whole turns */
    return cosine ? GS_F32_ONE : 0;
  const uint64_t significand = (magnitude & GS_F32_FRACTION) | GS_F32_LEAST;
  const int up = exponent + 8;
  const uint32_t turn = (uint32_t)(up >= 0    ? significand << up
                                   : -up < 64 ? significand >> -up
                                              : 0) &
                        0x7fffffff;
  const uint32_t quarter = turn >> 29, rest = turn & 0x1fffffff;
  const bool reflected = rest >= 0x10000000, table = cosine ^ (quarter & 1) ^ reflected;
  const uint32_t angle = reflected ? 0x20000000 - rest : rest, index = (angle - reflected) >> 24;
  const gs_eighth_t e = {index, angle - (index << 24), reflected};
  if (!table && !angle)
    return 0;
  const uint32_t size = table && angle - reflected < 46592 ? GS_F32_ONE
                        : !table && index < 2              ? gs_trig_low(e)
                                                           : gs_trig_high(&gs_trig_pieces[table][index], e);
  const bool negative = (quarter >> 1) ^ (cosine & quarter & 1) ^ (!cosine && sign);
  return size | (negative ? GS_F32_SIGN : 0);
}

#endif
