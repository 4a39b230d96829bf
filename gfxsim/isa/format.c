/* Conversion between typed buffer data and registers.
 * Not here: addresses and instructions. */
#include "isa/buffer.h"

#include <assert.h>

#include "isa/half.h"

/* Components are named from the most significant bits down in the vendor's names (10_11_11 is z, y, x). */
static const gs_format_t formats[16] = {
    [1] = {1, 1, {8}, {0}},
    [2] = {2, 1, {16}, {0}},
    [3] = {2, 2, {8, 8}, {0, 8}},
    [4] = {4, 1, {32}, {0}},
    [5] = {4, 2, {16, 16}, {0, 16}},
    [6] = {4, 3, {11, 11, 10}, {0, 11, 22}},
    [7] = {4, 3, {10, 11, 11}, {0, 10, 21}},
    [8] = {4, 4, {2, 10, 10, 10}, {0, 2, 12, 22}},
    [9] = {4, 4, {10, 10, 10, 2}, {0, 10, 20, 30}},
    [10] = {4, 4, {8, 8, 8, 8}, {0, 8, 16, 24}},
    [11] = {8, 2, {32, 32}, {0, 32}},
    [12] = {8, 4, {16, 16, 16, 16}, {0, 16, 32, 48}},
    [13] = {12, 3, {32, 32, 32}, {0, 32, 64}},
    [14] = {16, 4, {32, 32, 32, 32}, {0, 32, 64, 96}},
};

const gs_format_t *gs_format_find(unsigned dfmt, unsigned nfmt) {
  const gs_format_t *format = &formats[dfmt & 15];
  if (!format->bytes || nfmt == 6)
    return NULL;
  if (nfmt == GS_NFMT_FLOAT && (format->width[0] == 8 || format->components == 4) && format->bytes == 4)
    return NULL;
  if (nfmt == GS_NFMT_FLOAT && format->width[0] == 8)
    return NULL;
  return format;
}

static uint32_t mask_of(unsigned width) {
  assert(width <= 32);
  return width == 32 ? UINT32_MAX : (1u << width) - 1;
}

static int32_t sign_extend(uint32_t value, unsigned width) {
  return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* Unsigned floats of 10 and 11 bits: 5 bits of exponent as in a half, the rest below. */
static float small_float(uint32_t value, unsigned width) {
  return gs_float_of_half((uint16_t)(value << (15 - width)));
}

static uint32_t small_float_of(float value, unsigned width) {
  assert(width == 10 || width == 11);
  const uint32_t bits = gs_bits_of_float(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return mask_of(width);
  if (bits >> 31)
    return 0;
  const uint32_t half = gs_half_of_float(value), drop = 15 - width;
  const uint32_t infinity = 0x7c00 >> drop;
  if (half == 0x7c00)
    return infinity;
  /* A second rounding: let only what the first one dropped break ties. */
  const float back = gs_float_of_half((uint16_t)half);
  uint32_t kept = half >> drop;
  const uint32_t rest = half & mask_of(drop), tie = 1u << (drop - 1);
  const bool above = rest > tie || (rest == tie && (value > back || (value == back && (kept & 1))));
  kept += above;
  return kept;
}

/* The number that a field means. */
static double to_number(unsigned nfmt, uint32_t value, unsigned width) {
  switch (nfmt) {
  case GS_NFMT_UNORM: return (double)value / mask_of(width);
  case GS_NFMT_SNORM: {
    const double scaled = (double)sign_extend(value, width) / mask_of(width - 1);
    return scaled < -1 ? -1 : scaled;
  }
  case GS_NFMT_USCALED: return value;
  case GS_NFMT_SSCALED: return sign_extend(value, width);
  default: return width == 16 ? gs_float_of_half((uint16_t)value) : small_float(value, width);
  }
}

/* Rounds once: what a float drops stays visible in its last bit. Not for numbers that are denormal as floats.
 */
static uint16_t half_of_double(double value) {
  const float near = (float)value;
  uint32_t bits = gs_bits_of_float(near);
  if ((double)near != value && value == value)
    bits = (bits - (fabs((double)near) > fabs(value))) | 1;
  return gs_half_of_float(gs_float_of_bits(bits));
}

uint32_t gs_format_unpack(const gs_format_t *format, unsigned nfmt, const uint32_t raw[4], unsigned i,
                          bool d16) {
  const unsigned width = format->width[i];
  const uint32_t value = raw[format->shift[i] / 32] >> format->shift[i] % 32 & mask_of(width);
  switch (nfmt) {
  case GS_NFMT_UINT: return d16 ? value & 0xffff : value;
  case GS_NFMT_SINT:
    return d16 ? (uint32_t)sign_extend(value, width) & 0xffff : (uint32_t)sign_extend(value, width);
  default: break;
  }
  if (nfmt == GS_NFMT_FLOAT && ((width == 32 && !d16) || (width == 16 && d16)))
    return value;
  if (nfmt == GS_NFMT_FLOAT && width == 32)
    return gs_half_of_float(gs_float_of_bits(value));
  const double number = to_number(nfmt, value, width);
  return d16 ? half_of_double(number) : gs_bits_of_float((float)number);
}

uint32_t gs_format_constant(unsigned nfmt, bool one, bool d16) {
  if (!one)
    return 0;
  if (nfmt == GS_NFMT_UINT || nfmt == GS_NFMT_SINT)
    return 1;
  return d16 ? 0x3c00 : 0x3f800000;
}

/* To the nearest integer of the field, ties to even; NaN gives 0. */
static uint32_t to_field(double value, double low, double high) {
  if (!(value > low))
    value = value <= low ? low : 0;
  if (value > high)
    value = high;
  return (uint32_t)(int64_t)nearbyint(value);
}

static uint32_t of_float(unsigned nfmt, float value, unsigned width) {
  const double all = mask_of(width), half = mask_of(width - 1);
  switch (nfmt) {
  case GS_NFMT_UNORM: return to_field((double)value * all, 0, all);
  case GS_NFMT_SNORM: return to_field((double)value * half, -half, half);
  case GS_NFMT_USCALED: return to_field((double)value, 0, all);
  case GS_NFMT_SSCALED: return to_field((double)value, -half - 1, half);
  default:
    return width == 32   ? gs_bits_of_float(value)
           : width == 16 ? gs_half_of_float(value)
                         : small_float_of(value, width);
  }
}

/* Integers that do not fit become the nearest that does. */
static uint32_t of_integer(unsigned nfmt, uint32_t value, unsigned width) {
  if (nfmt == GS_NFMT_UINT)
    return value > mask_of(width) ? mask_of(width) : value;
  const int32_t high = (int32_t)mask_of(width - 1), low = -high - 1;
  const int32_t number = (int32_t)value;
  return (uint32_t)(number > high ? high : number < low ? low : number);
}

void gs_format_pack(const gs_format_t *format, unsigned nfmt, uint32_t value, unsigned i, bool d16,
                    uint32_t raw[4]) {
  const unsigned width = format->width[i];
  uint32_t field;
  if (nfmt == GS_NFMT_UINT || nfmt == GS_NFMT_SINT) {
    if (d16)
      value = nfmt == GS_NFMT_SINT ? (uint32_t)(int16_t)value : value & 0xffff;
    field = of_integer(nfmt, value, width);
  } else if (nfmt == GS_NFMT_FLOAT && ((width == 32 && !d16) || (width == 16 && d16))) {
    field = value;
  } else {
    field = of_float(nfmt, d16 ? gs_float_of_half((uint16_t)value) : gs_float_of_bits(value), width);
  }
  raw[format->shift[i] / 32] |= (field & mask_of(width)) << format->shift[i] % 32;
}
