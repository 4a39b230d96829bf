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

#include <stdbool.h>

/* A piece: constant, and coefficients of the distance from its left end. Units differ by function. */
typedef struct gs_cubic {
  uint32_t c0, c1, c2, c3;
} gs_cubic_t;

static const gs_cubic_t gs_rcp_pieces[32] = {
    {67108864, 2097138, 65462, 1925}, {65075262, 1971966, 59693, 1705}, {63161283, 1857674, 54582, 1516},
    {61356675, 1753039, 50039, 1352}, {59652323, 1657001, 45986, 1210}, {58040098, 1568644, 42359, 1086},
    {56512727, 1487171, 39104, 977},  {55063683, 1411884, 36174, 882},  {53687091, 1342172, 33529, 798},
    {52377649, 1277499, 31136, 724},  {51130563, 1217390, 28966, 658},  {49941480, 1161426, 26992, 599},
    {48806446, 1109234, 25194, 547},  {47721858, 1060483, 23552, 501},  {46684427, 1014876, 22050, 459},
    {45691141, 972149, 20673, 421},   {44739242, 932065, 19408, 388},   {43826196, 894410, 18244, 357},
    {42949672, 858991, 17171, 330},   {42107522, 825636, 16181, 305},   {41297762, 794186, 15266, 282},
    {40518559, 764500, 14418, 262},   {39768215, 736447, 13632, 243},   {39045157, 709911, 12902, 226},
    {38347922, 684783, 12223, 210},   {37675151, 660966, 11591, 196},   {37025580, 638371, 11002, 183},
    {36398027, 616915, 10452, 171},   {35791394, 596522, 9938, 160},    {35204649, 577124, 9458, 150},
    {34636833, 558658, 9007, 140},    {34087042, 541063, 8585, 131},
};

/* Of even exponents, then of odd ones. */
static const gs_cubic_t gs_rsq_pieces[64] = {
    {67108864, 1048572, 24555, 606}, {66084241, 1001273, 22738, 545}, {65105161, 957426, 21104, 491},
    {64168347, 916688, 19629, 445},  {63270843, 878759, 18295, 403},  {62409975, 843376, 17084, 367},
    {61583317, 810305, 15983, 335},  {60788660, 779340, 14978, 306},  {60023992, 750298, 14060, 280},
    {59287474, 723016, 13219, 257},  {58577418, 697349, 12446, 237},  {57892279, 673165, 11735, 218},
    {57230631, 650347, 11080, 201},  {56591163, 628789, 10475, 186},  {55972661, 608397, 9915, 173},
    {55374006, 589084, 9396, 160},   {54794158, 570771, 8914, 149},   {54232151, 553388, 8467, 139},
    {53687091, 536870, 8050, 129},   {53158141, 521157, 7661, 121},   {52644524, 506196, 7298, 113},
    {52145512, 491938, 6959, 105},   {51660427, 478336, 6641, 99},    {51188632, 465350, 6343, 93},
    {50729532, 452941, 6064, 87},    {50282567, 441074, 5802, 82},    {49847212, 429717, 5555, 77},
    {49422973, 418838, 5322, 73},    {49009384, 408411, 5103, 68},    {48606008, 398409, 4897, 65},
    {48212431, 388809, 4702, 61},    {47828262, 379589, 4517, 58},    {47453132, 741452, 17363, 428},
    {46728614, 708007, 16078, 385},  {46036300, 677002, 14922, 347},  {45373873, 648196, 13880, 314},
    {44739242, 621376, 12936, 285},  {44130517, 596356, 12080, 259},  {43545981, 572972, 11301, 236},
    {42984073, 551076, 10591, 216},  {42443372, 530541, 9942, 198},   {41922574, 511250, 9347, 182},
    {41420490, 493100, 8801, 167},   {40936023, 475999, 8298, 154},   {40468167, 459864, 7835, 142},
    {40015995, 444621, 7407, 132},   {39578648, 430202, 7011, 122},   {39155335, 416545, 6644, 113},
    {38745320, 403596, 6303, 105},   {38347922, 391304, 5987, 98},    {37962506, 379624, 5692, 91},
    {37588482, 368514, 5417, 85},    {37225300, 357935, 5160, 80},    {36872445, 347852, 4920, 74},
    {36529438, 338235, 4696, 70},    {36195829, 329052, 4485, 65},    {35871196, 320278, 4288, 61},
    {35555144, 311887, 4102, 58},    {35247302, 303855, 3928, 54},    {34947319, 296163, 3763, 51},
    {34654868, 288790, 3609, 48},    {34369638, 281718, 3462, 45},    {34091337, 274930, 3325, 43},
    {33819688, 268410, 3194, 41},
};

/* Likewise. */
static const gs_cubic_t gs_sqrt_pieces[32] = {
    {33554432, 2097143, 32722, 474}, {34587116, 2034529, 29882, 409}, {35589849, 1977208, 27431, 356},
    {36565094, 1924474, 25297, 312}, {37514995, 1875745, 23425, 275}, {38441431, 1830541, 21774, 244},
    {39346059, 1788454, 20308, 218}, {40230350, 1749143, 18999, 195}, {41095618, 1712315, 17825, 176},
    {41943040, 1677719, 16767, 159}, {42773675, 1645139, 15810, 145}, {43588485, 1614387, 14940, 132},
    {44388341, 1585296, 14147, 120}, {45174036, 1557724, 13422, 110}, {45946298, 1531542, 12757, 102},
    {46705792, 1506637, 12145, 94},  {47453132, 2965809, 46276, 670}, {48913569, 2877259, 42260, 578},
    {50331648, 2796194, 38793, 503}, {51710852, 2721617, 35775, 441}, {53054215, 2652705, 33129, 389},
    {54364393, 2588776, 30793, 346}, {55643730, 2529256, 28720, 308}, {56894307, 2473662, 26869, 277},
    {58117981, 2421579, 25208, 249}, {59316416, 2372654, 23712, 225}, {60491112, 2326579, 22358, 205},
    {61643427, 2283088, 21129, 186}, {62774594, 2241948, 20008, 171}, {63885735, 2202954, 18982, 156},
    {64977878, 2165927, 18042, 144}, {66051965, 2130707, 17176, 133},
};

static const gs_cubic_t gs_exp_pieces[32] = {
    {268435456, 5814541, 8060268, 29},   {274313427, 5941862, 8236765, 29},
    {280320109, 6071972, 8417127, 30},   {286458319, 6204931, 8601438, 31},
    {292730941, 6340801, 8789785, 31},   {299140913, 6479647, 8982256, 32},
    {305691246, 6621533, 9178942, 33},   {312385013, 6766525, 9379934, 33},
    {319225354, 6914693, 9585328, 34},   {326215479, 7066105, 9795219, 35},
    {333358667, 7220833, 10009707, 36},  {340658273, 7378948, 10228891, 36},
    {348117717, 7540526, 10452874, 37},  {355740503, 7705642, 10681762, 38},
    {363530205, 7874374, 10915663, 39},  {371490480, 8046800, 11154685, 40},
    {379625062, 8223002, 11398940, 41},  {387937769, 8403062, 11648545, 42},
    {396432501, 8587066, 11903614, 42},  {405113242, 8775098, 12164270, 43},
    {413984066, 8967247, 12430633, 44},  {423049137, 9163605, 12702828, 45},
    {432312707, 9364261, 12980984, 46},  {441779122, 9569312, 13265230, 47},
    {451452826, 9778853, 13555701, 48},  {461338356, 9992982, 13852532, 49},
    {471440350, 10211799, 14155863, 50}, {481763549, 10435409, 14465836, 52},
    {492312797, 10663914, 14782597, 53}, {503093043, 10897424, 15106293, 54},
    {514109347, 11136046, 15437078, 55}, {525366876, 11379894, 15775106, 56},
};

/* ---- Steps that the functions share ---- */

/* x / 2^shift to nearest, ties to even. */
static inline int64_t gs_to_even(int64_t x, unsigned shift) {
  const int64_t half = INT64_C(1) << (shift - 1);
  return (x + half - 1 + (x >> shift & 1)) >> shift;
}

/* A product of 24 bits in units of 2^-36, given in units of 2^-59: from 2^47 on its last bit is 0. */
static inline int64_t gs_product24(int64_t product) {
  return product >> 47 ? gs_to_even(product, 24) * 2 : gs_to_even(product, 23);
}

/* The terms of second and third order at `f`, a distance of 24 bits, where the third weakens the second. */
static inline int64_t gs_curve(const gs_cubic_t *c, int64_t f, unsigned shift2, unsigned shift3) {
  const int64_t square = (f >> 7) * (f >> 7) >> 10;
  const int64_t slope = ((int64_t)c->c2 << shift2) - gs_to_even(c->c3 * ((f >> 4) + 1), shift3);
  return gs_product24(slope * square);
}

/* A linear term, a product rounded at bit `grain` that loses the bits below `unit` when it is added to the
 * constant, or taken away from it: the sum is cut off. */
static inline int64_t gs_rising(int64_t product, unsigned grain, unsigned unit) {
  return gs_to_even(product, grain) >> (unit - grain);
}
static inline int64_t gs_falling(int64_t product, unsigned grain, unsigned unit) {
  return -(-gs_to_even(product, grain) >> (unit - grain));
}

/* The significand of a float, in [2^23, 2^24]. */
static inline uint32_t gs_significand(int64_t x, unsigned shift) {
  return (uint32_t)gs_to_even(x, shift);
}

/* ---- Reciprocals and roots: 29 bits of the significand below the point, and the exponent's lowest bit ----
 *
 * `half` is 1 in f64, whose results are not rounded: half a unit of the constant in most pieces. */

/* 1 / (1 + m / 2^29), m > 0, in units of 2^-35. */
static inline int64_t gs_rcp_significand(int64_t m, int64_t half) {
  const gs_cubic_t *const c = &gs_rcp_pieces[m >> 24];
  const int64_t f = m & 0xffffff, product = c->c1 * f;
  return ((int64_t)c->c0 * 2 + (m >> 24 ? half : 0)) * 256 -
         gs_falling(product, product >> 44 ? 21 : 20, 21) * 64 + gs_curve(c, f, 8, 12);
}

/* 1 / sqrt(x), x = 1 + m / 2^29 or twice that, in units of 2^-36. Bits 4 and 5 do not reach the linear term
 * of the last piece. */
static inline int64_t gs_rsq_significand(unsigned odd, int64_t m, int64_t half) {
  const gs_cubic_t *const c = &gs_rsq_pieces[32 * odd + (unsigned)(m >> 24)];
  const int64_t f = m & 0xffffff, product = c->c1 * (m >> 24 == 31 ? f & ~INT64_C(0x30) : f);
  return ((int64_t)c->c0 * 2 + (m >> 24 ? half : 0)) * 512 -
         gs_falling(product, product >> 43 ? 20 : 19, 21) * 128 + gs_curve(c, f, 9, 11);
}

/* sqrt(x), likewise, of which one bit less is looked at; in units of 2^-35. */
static inline int64_t gs_sqrt_significand(unsigned odd, int64_t m, int64_t half) {
  const gs_cubic_t *const c = &gs_sqrt_pieces[16 * odd + (unsigned)(m >> 25)];
  const int64_t f = m >> 1 & 0xffffff, product = c->c1 * f;
  return ((int64_t)c->c0 * 2 + (m >> 25 == 15 ? 0 : half)) * 512 +
         gs_rising(product, product >> 45 ? 22 : 21, 22) * 128 - gs_curve(c, f, 8, 11);
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

static inline uint32_t gs_rcp_f32_bits(uint32_t x, bool quiet) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign, fraction = x & GS_F32_FRACTION;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign | GS_F32_INFINITY;
  /* The result is fraction * 2^-24 for the significand of x, or 1 for a power of two. */
  const int32_t exponent = 253 - (int32_t)(magnitude >> 23) + (fraction == 0);
  if (exponent <= 0)
    return sign;
  const uint32_t bits = fraction ? gs_significand(gs_rcp_significand((int64_t)fraction << 6, 0), 11) : 0;
  return sign | (uint32_t)exponent << 23 | (bits & GS_F32_FRACTION);
}

static inline uint32_t gs_rsq_f32_bits(uint32_t x, bool quiet) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign, fraction = x & GS_F32_FRACTION;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign | GS_F32_INFINITY;
  if (sign)
    return GS_F32_INVALID;
  if (magnitude == GS_F32_INFINITY)
    return 0;
  const uint32_t odd = ~magnitude >> 23 & 1;                 /* 127, which is odd, means 0 */
  const uint32_t half = (381 + odd - (magnitude >> 23)) / 2; /* exponent of the result, or one more */
  if (!odd && !fraction)
    return half << 23;
  /* It may round up to a power of two. */
  return ((half - 2) << 23) + gs_significand(gs_rsq_significand(odd, (int64_t)fraction << 6, 0), 12);
}

static inline uint32_t gs_sqrt_f32_bits(uint32_t x, bool quiet) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign, fraction = x & GS_F32_FRACTION;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return sign;
  if (sign)
    return GS_F32_INVALID;
  if (magnitude == GS_F32_INFINITY)
    return x;
  const uint32_t odd = ~magnitude >> 23 & 1, half = ((magnitude >> 23) + 127 - odd) / 2;
  return ((half - 1) << 23) + gs_significand(gs_sqrt_significand(odd, (int64_t)fraction << 6, 0), 12);
}

/* 2^(fraction / 2^29) in units of 2^-36. */
static inline int64_t gs_exp_significand(uint32_t fraction) {
  const gs_cubic_t *const c = &gs_exp_pieces[fraction >> 24];
  const int64_t f = fraction & 0xffffff, g = f >> 6, product = c->c1 * f;
  const int64_t slope = gs_to_even(((int64_t)c->c2 << 7) + c->c3 * g, 7);
  return ((int64_t)c->c0 + gs_rising(product, product >> 47 ? 24 : 23, 24)) * 256 +
         gs_product24((g * g >> 12) * slope);
}

/* Negative exponents are counted from the next lower integer with the complement of the bits, which is a unit
 * too little. Halves are rounded once, for which the float's last bit tells whether bits were cut off. */
static inline uint32_t gs_exp_rounded(uint32_t x, bool quiet, bool odd) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign, exponent = magnitude >> 23;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (exponent < 103)
    return GS_F32_ONE;
  if (exponent >= 134)
    return sign ? 0 : GS_F32_INFINITY;
  const uint64_t significand = (magnitude & GS_F32_FRACTION) | GS_F32_LEAST;
  const int64_t fixed =
      (int64_t)(exponent >= 121 ? significand << (exponent - 121) : significand >> (121 - exponent));
  const int64_t turned = sign ? ~fixed : fixed;
  const int64_t wide = gs_exp_significand((uint32_t)turned & 0x1fffffff);
  const int64_t rounded = odd ? wide >> 13 | ((wide & 0x1fff) != 0) : gs_to_even(wide, 13);
  const int64_t bits = ((turned >> 29) + 126) * GS_F32_LEAST + rounded;
  return bits < GS_F32_LEAST ? 0 : (uint32_t)bits;
}
static inline uint32_t gs_exp_f32_bits(uint32_t x, bool quiet) {
  return gs_exp_rounded(x, quiet, false);
}

/* ---- Logarithms ---- */

/* The third coefficient has 23 more bits than the second, which lose those of `below`, too. */
typedef struct gs_log_piece {
  int32_t c0;
  uint32_t c1, c2, c3, below;
} gs_log_piece_t;

/* The last one is the upper half of the second. */
static const gs_log_piece_t gs_log_pieces[33] = {
    {15, 12102179, 12095173, 7703430, 0},
    {47667825, 11735468, 11378345, 7196210, 7786496},
    {93912517, 11390291, 10714741, 6440064, 7413760},
    {138816594, 11064855, 10111507, 5910132, 7176192},
    {182455591, 10757500, 9557803, 5437300, 6864896},
    {224898847, 10466758, 9048378, 5014168, 6701056},
    {266210154, 10191316, 8578611, 4633666, 6881280},
    {306448312, 9930003, 8144494, 4290660, 6971392},
    {345667679, 9681753, 7742500, 3980348, 6138880},
    {383918558, 9445614, 7369567, 3699876, 6987776},
    {421247645, 9220718, 7022931, 3444856, 5824512},
    {457698312, 9006284, 6700175, 3212382, 6217728},
    {493310964, 8801596, 6399165, 3000264, 5619712},
    {528123258, 8606005, 6118007, 2807020, 5586944},
    {562170399, 8418918, 5854955, 2629240, 5513216},
    {595485263, 8239793, 5608532, 2466858, 5709824},
    {628098719, 8068131, 5377341, 2317504, 5332992},
    {660039693, 7903475, 5160150, 2179820, 5226496},
    {691335339, 7745406, 4955875, 2053444, 5193728},
    {722011229, 7593536, 4763477, 1936151, 5345280},
    {752091435, 7447506, 4582059, 1827318, 5513216},
    {781598650, 7306987, 4410807, 1726376, 5046272},
    {810554297, 7171673, 4248984, 1632887, 5227520},
    {838978616, 7041279, 4095937, 1547042, 5300224},
    {866890752, 6915542, 3950988, 1466372, 4939776},
    {894308853, 6794217, 3813578, 1390544, 4890624},
    {921250083, 6677075, 3683220, 1321584, 4857856},
    {947730761, 6563905, 3559471, 1255436, 4808704},
    {973766367, 6454506, 3441820, 1193876, 4784128},
    {999371610, 6348694, 3329908, 1137588, 4767744},
    {1024560488, 6246298, 3223482, 1083560, 4734976},
    {1049346329, 6147160, 3121894, 1032952, 4718592},
    {47667912, 11735350, 11363743, 6879954, 8077312},
};
/* Of the distance from 1, in three pieces above it and two below. */
static const gs_log_piece_t gs_log_above[3] = {
    {1, 48408812, 12102094, 7996204, 8257536},
    {385, 48408744, 12097614, 7795547, 8196096},
    {5713, 48408288, 12084310, 7533868, 7961344},
};
static const gs_log_piece_t gs_log_below[2] = {
    {1, 48408812, 12101979, 2035248, 61440},
    {-799, 48408884, 12097323, 2088428, 0},
};

/* Without its last bit if it has 26. */
static inline int64_t gs_keep25(int64_t x) {
  return x >> 25 ? x & ~INT64_C(1) : x;
}

/* x / 2^shift as a float, cut off or, with `away`, rounded away from zero. x > 0. */
static inline uint32_t gs_f32_of_fixed(uint64_t x, int shift, bool away) {
  const int top = 63 - __builtin_clzll(x), down = top - 23;
  uint64_t significand = down > 0 ? x >> down : x << -down;
  if (away && down > 0)
    significand = (x + (UINT64_C(1) << down) - 1) >> down;
  return ((uint32_t)(top - shift + 126) << 23) + (uint32_t)significand;
}

/* log2 of 1 plus or minus a distance of n / 2^23 or n / 2^24, without its sign. */
static inline uint32_t gs_log_near_one(bool is_below, uint32_t n) {
  int scale = 0;
  while (scale < 16 && n << scale < 1u << 14)
    scale += 4;
  const int64_t scaled = (int64_t)n << scale, square = scaled * scaled >> (12 + scale);
  const gs_log_piece_t *const c =
      is_below ? &gs_log_below[n >> 17] : &gs_log_above[n >> 16 ? 1 + (n >> 17) : 0];
  const int64_t linear = c->c0 + (c->c1 * scaled >> 15) * 8;
  const int64_t third = (int64_t)c->c3 * n + c->below;
  const int64_t sum = is_below ? linear + gs_keep25((c->c2 + (third >> 22)) * square >> 23)
                               : linear - gs_keep25((c->c2 - (third >> 23)) * square >> 22);
  return gs_f32_of_fixed((uint64_t)sum, (is_below ? 37 : 36) + scale, true);
}

/* log2 of the significand in units of 2^-36. */
static inline int64_t gs_log_significand(uint32_t fraction) {
  const gs_log_piece_t *const c = &gs_log_pieces[fraction >> 17 == 3 ? 32 : fraction >> 18];
  const int64_t f = fraction & 0x3ffff, slope = c->c2 - ((int64_t)(c->c3 * f + c->below) >> 23);
  return ((int64_t)c->c0 + (c->c1 * f >> 16)) * 64 - gs_keep25(slope * (f * f >> 12) >> 22);
}

static inline uint32_t gs_log_f32_bits(uint32_t x, bool quiet) {
  const uint32_t sign = x & GS_F32_SIGN, magnitude = x ^ sign, fraction = x & GS_F32_FRACTION;
  const int32_t exponent = (int32_t)(magnitude >> 23) - 127;
  if (magnitude > GS_F32_INFINITY)
    return gs_f32_nan(x, quiet);
  if (magnitude < GS_F32_LEAST)
    return GS_F32_SIGN | GS_F32_INFINITY;
  if (sign)
    return GS_F32_INVALID;
  if (magnitude == GS_F32_INFINITY || magnitude == GS_F32_ONE)
    return magnitude == GS_F32_ONE ? 0 : x;
  if (exponent == 0 && fraction < 0x40000)
    return gs_log_near_one(false, fraction);
  if (exponent == -1 && fraction > 0x7c0000)
    return GS_F32_SIGN | gs_log_near_one(true, 0x800000 - fraction);
  const int64_t sum = exponent * (INT64_C(1) << 36) + gs_log_significand(fraction);
  return sum < 0 ? GS_F32_SIGN | gs_f32_of_fixed((uint64_t)-sum, 36, true)
                 : gs_f32_of_fixed((uint64_t)sum, 36, false);
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
  return gs_f32_of_fixed((uint64_t)(((int64_t)c->c0 << (all - 26)) + linear - second), (int)all, false);
}

static inline uint32_t gs_trig_high(const gs_trig_piece_t *c, gs_eighth_t e) {
  const int64_t product = c->c1 * gs_trig_distance(e, 4), size = product < 0 ? -product : product;
  const int64_t linear = size >> 45 ? gs_to_even(size, 22) * 2 : gs_to_even(size, 21);
  const int64_t half = (e.f - e.reflected) >> 7, curve = gs_trig_slope(c, e) * (half * half >> 10);
  const int64_t bias = INT64_C(1) << (curve >> 47 ? 23 : 22);
  const int64_t second = curve <= bias ? 0 : (curve - bias + (1 << 29) - 1) >> 29;
  const int64_t sum = (int64_t)c->c0 * 8 + (product < 0 ? -linear : linear) - second * 2;
  return gs_f32_of_fixed((uint64_t)sum, 29, false);
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
