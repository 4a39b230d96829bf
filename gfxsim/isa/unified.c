/* Formats of buffer data by the number that later families than gfx9 have for both parts of one.
 * Not here: what the formats mean (format.c). */
#include "isa/inst.h"

/* Number formats, as gfx9 counts them. */
enum { NFMT_UNORM, NFMT_SNORM, NFMT_USCALED, NFMT_SSCALED, NFMT_UINT, NFMT_SINT, NFMT_FLOAT = 7 };

/* Data and number formats by the number that later families have for both. */
#define UNIFIED(dfmt, nfmt) (dfmt) | NFMT_##nfmt << 4
/* clang-format off */
static const uint8_t unified[] = {
    /* 8 */ [1] = UNIFIED(1, UNORM), [2] = UNIFIED(1, SNORM), [3] = UNIFIED(1, USCALED), [4] = UNIFIED(1, SSCALED), [5] = UNIFIED(1, UINT), [6] = UNIFIED(1, SINT),
    /* 16 */ [7] = UNIFIED(2, UNORM), [8] = UNIFIED(2, SNORM), [9] = UNIFIED(2, USCALED), [10] = UNIFIED(2, SSCALED), [11] = UNIFIED(2, UINT), [12] = UNIFIED(2, SINT), [13] = UNIFIED(2, FLOAT),
    /* 8_8 */ [14] = UNIFIED(3, UNORM), [15] = UNIFIED(3, SNORM), [16] = UNIFIED(3, USCALED), [17] = UNIFIED(3, SSCALED), [18] = UNIFIED(3, UINT), [19] = UNIFIED(3, SINT),
    /* 32 */ [20] = UNIFIED(4, UINT), [21] = UNIFIED(4, SINT), [22] = UNIFIED(4, FLOAT),
    /* 16_16 */ [23] = UNIFIED(5, UNORM), [24] = UNIFIED(5, SNORM), [25] = UNIFIED(5, USCALED), [26] = UNIFIED(5, SSCALED), [27] = UNIFIED(5, UINT), [28] = UNIFIED(5, SINT), [29] = UNIFIED(5, FLOAT),
    /* 10_11_11 */ [30] = UNIFIED(6, UNORM), [31] = UNIFIED(6, SNORM), [32] = UNIFIED(6, USCALED), [33] = UNIFIED(6, SSCALED), [34] = UNIFIED(6, UINT), [35] = UNIFIED(6, SINT), [36] = UNIFIED(6, FLOAT),
    /* 11_11_10 */ [37] = UNIFIED(7, UNORM), [38] = UNIFIED(7, SNORM), [39] = UNIFIED(7, USCALED), [40] = UNIFIED(7, SSCALED), [41] = UNIFIED(7, UINT), [42] = UNIFIED(7, SINT), [43] = UNIFIED(7, FLOAT),
    /* 10_10_10_2 */ [44] = UNIFIED(8, UNORM), [45] = UNIFIED(8, SNORM), [46] = UNIFIED(8, USCALED), [47] = UNIFIED(8, SSCALED), [48] = UNIFIED(8, UINT), [49] = UNIFIED(8, SINT),
    /* 2_10_10_10 */ [50] = UNIFIED(9, UNORM), [51] = UNIFIED(9, SNORM), [52] = UNIFIED(9, USCALED), [53] = UNIFIED(9, SSCALED), [54] = UNIFIED(9, UINT), [55] = UNIFIED(9, SINT),
    /* 8_8_8_8 */ [56] = UNIFIED(10, UNORM), [57] = UNIFIED(10, SNORM), [58] = UNIFIED(10, USCALED), [59] = UNIFIED(10, SSCALED), [60] = UNIFIED(10, UINT), [61] = UNIFIED(10, SINT),
    /* 32_32 */ [62] = UNIFIED(11, UINT), [63] = UNIFIED(11, SINT), [64] = UNIFIED(11, FLOAT),
    /* 16_16_16_16 */ [65] = UNIFIED(12, UNORM), [66] = UNIFIED(12, SNORM), [67] = UNIFIED(12, USCALED), [68] = UNIFIED(12, SSCALED), [69] = UNIFIED(12, UINT), [70] = UNIFIED(12, SINT), [71] = UNIFIED(12, FLOAT),
    /* 32_32_32 */ [72] = UNIFIED(13, UINT), [73] = UNIFIED(13, SINT), [74] = UNIFIED(13, FLOAT),
    /* 32_32_32_32 */ [75] = UNIFIED(14, UINT), [76] = UNIFIED(14, SINT), [77] = UNIFIED(14, FLOAT),
};
/* gfx11 has fewer. */
static const uint8_t unified_gfx11[] = {
    /* 8 */ [1] = UNIFIED(1, UNORM), [2] = UNIFIED(1, SNORM), [3] = UNIFIED(1, USCALED), [4] = UNIFIED(1, SSCALED), [5] = UNIFIED(1, UINT), [6] = UNIFIED(1, SINT),
    /* 16 */ [7] = UNIFIED(2, UNORM), [8] = UNIFIED(2, SNORM), [9] = UNIFIED(2, USCALED), [10] = UNIFIED(2, SSCALED), [11] = UNIFIED(2, UINT), [12] = UNIFIED(2, SINT), [13] = UNIFIED(2, FLOAT),
    /* 8_8 */ [14] = UNIFIED(3, UNORM), [15] = UNIFIED(3, SNORM), [16] = UNIFIED(3, USCALED), [17] = UNIFIED(3, SSCALED), [18] = UNIFIED(3, UINT), [19] = UNIFIED(3, SINT),
    /* 32 */ [20] = UNIFIED(4, UINT), [21] = UNIFIED(4, SINT), [22] = UNIFIED(4, FLOAT),
    /* 16_16 */ [23] = UNIFIED(5, UNORM), [24] = UNIFIED(5, SNORM), [25] = UNIFIED(5, USCALED), [26] = UNIFIED(5, SSCALED), [27] = UNIFIED(5, UINT), [28] = UNIFIED(5, SINT), [29] = UNIFIED(5, FLOAT),
    /* 10_11_11 */ [30] = UNIFIED(6, FLOAT),
    /* 11_11_10 */ [31] = UNIFIED(7, FLOAT),
    /* 10_10_10_2 */ [32] = UNIFIED(8, UNORM), [33] = UNIFIED(8, SNORM), [34] = UNIFIED(8, UINT), [35] = UNIFIED(8, SINT),
    /* 2_10_10_10 */ [36] = UNIFIED(9, UNORM), [37] = UNIFIED(9, SNORM), [38] = UNIFIED(9, USCALED), [39] = UNIFIED(9, SSCALED), [40] = UNIFIED(9, UINT), [41] = UNIFIED(9, SINT),
    /* 8_8_8_8 */ [42] = UNIFIED(10, UNORM), [43] = UNIFIED(10, SNORM), [44] = UNIFIED(10, USCALED), [45] = UNIFIED(10, SSCALED), [46] = UNIFIED(10, UINT), [47] = UNIFIED(10, SINT),
    /* 32_32 */ [48] = UNIFIED(11, UINT), [49] = UNIFIED(11, SINT), [50] = UNIFIED(11, FLOAT),
    /* 16_16_16_16 */ [51] = UNIFIED(12, UNORM), [52] = UNIFIED(12, SNORM), [53] = UNIFIED(12, USCALED), [54] = UNIFIED(12, SSCALED), [55] = UNIFIED(12, UINT), [56] = UNIFIED(12, SINT), [57] = UNIFIED(12, FLOAT),
    /* 32_32_32 */ [58] = UNIFIED(13, UINT), [59] = UNIFIED(13, SINT), [60] = UNIFIED(13, FLOAT),
    /* 32_32_32_32 */ [61] = UNIFIED(14, UINT), [62] = UNIFIED(14, SINT), [63] = UNIFIED(14, FLOAT),
};
/* clang-format on */

unsigned gs_format_of_unified(gs_target_t target, unsigned number) {
  if (target & GS_GFX11)
    return number < sizeof unified_gfx11 ? unified_gfx11[number] : 0;
  return number < sizeof unified ? unified[number] : 0;
}
