/* Vector instructions on integers and bits: each against exact arithmetic on 128-bit integers, truth
 * tables, or loops over bits and bytes, for edge values of all operands, with SGPRs and constants as
 * operands, clamp, and partial EXEC.
 * Not here: comparisons (test_vcmp_int.c), packed integers and dot products (test_dot.c), SDWA, DPP and
 * op_sel (test_operand.c). */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide_t; /* holds every exact result here */

/* How an operand's bits are read as a number, and what a result's range is. */
typedef enum kind { NONE, U16, I16, U24, I24, U32, I32, U64, I64 } kind_t;

static const struct {
  unsigned bits;
  bool is_signed;
} kinds[] = {
    [NONE] = {0, false}, [U16] = {16, false}, [I16] = {16, true},  [U24] = {24, false}, [I24] = {24, true},
    [U32] = {32, false}, [I32] = {32, true},  [U64] = {64, false}, [I64] = {64, true}};

static wide_t power(unsigned n) {
  return (wide_t)1 << n;
}

/* x modulo 2^n, not negative. */
static wide_t modulo(wide_t x, unsigned n) {
  const wide_t r = x % power(n);
  return r < 0 ? r + power(n) : r;
}

static wide_t floor_divide(wide_t x, wide_t y) {
  return x / y - (x % y < 0);
}

static wide_t read_as(kind_t kind, uint64_t bits) {
  const unsigned n = kinds[kind].bits;
  const wide_t value = modulo((wide_t)bits, n);
  return kinds[kind].is_signed && value >= power(n - 1) ? value - power(n) : value;
}

static wide_t saturate(kind_t kind, wide_t value) {
  const unsigned n = kinds[kind].bits;
  const wide_t low = kinds[kind].is_signed ? -power(n - 1) : 0, high = low + power(n) - 1;
  return value < low ? low : value > high ? high : value;
}

/* ---- Meanings: the exact result, before it wraps or saturates ---- */

typedef wide_t meaning_t(wide_t a, wide_t b, wide_t c, unsigned lane);

/* A boolean function of three bits per bit; bit (4a + 2b + c) of `table` is its value. */
static wide_t by_table(unsigned table, wide_t a, wide_t b, wide_t c) {
  wide_t result = 0;
  for (unsigned i = 0; i < 32; i++)
    result += (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) * power(i);
  return result;
}

/* The formatter would take products of macro arguments for pointers. */
/* clang-format off */
#define MEANING(name, expr)                                                                                  \
  static wide_t name(wide_t a, wide_t b, wide_t c, unsigned lane) {                                          \
    (void)a, (void)b, (void)c, (void)lane;                                                                   \
    return expr;                                                                                             \
  }

MEANING(same, a)
MEANING(shift_add_64, a * power(((unsigned)b & 7) > 4 ? 0 : (unsigned)b & 7) + c)
MEANING(not, -1 - a)
MEANING(and, by_table(0xc0, a, b, c))
MEANING(or, by_table(0xfc, a, b, c))
MEANING(xor, by_table(0x3c, a, b, c))
MEANING(xnor, by_table(0xc3, a, b, c))
MEANING(and_or, by_table(0xea, a, b, c))
MEANING(or3, by_table(0xfe, a, b, c))
MEANING(bfi, by_table(0xca, a, b, c))
MEANING(shift_left_32, b * power((unsigned)modulo(a, 5)))
MEANING(shift_right_32, floor_divide(b, power((unsigned)modulo(a, 5))))
MEANING(shift_left_16, b * power((unsigned)modulo(a, 4)))
MEANING(shift_right_16, floor_divide(b, power((unsigned)modulo(a, 4))))
MEANING(shift_left_64, b * power((unsigned)modulo(a, 6)))
MEANING(shift_right_64, floor_divide(b, power((unsigned)modulo(a, 6))))
MEANING(shift_or, by_table(0xfc, modulo(a * power((unsigned)modulo(b, 5)), 32), c, 0))
MEANING(shift_add, a * power((unsigned)modulo(b, 5)) + c)
MEANING(add_shift, (a + b) * power((unsigned)modulo(c, 5)))
MEANING(sum, a + b)
MEANING(difference, a - b)
MEANING(reversed_difference, b - a)
MEANING(sum3, a + b + c)
MEANING(xor_add, by_table(0x3c, a, b, 0) + c)
MEANING(product, a * b)
MEANING(product_high, floor_divide(a * b, power(32)))
MEANING(product_sum, a * b + c)
MEANING(smaller, a < b ? a : b)
MEANING(larger, a > b ? a : b)

static int order(const void *a, const void *b) {
  const wide_t x = *(const wide_t *)a, y = *(const wide_t *)b;
  return (x > y) - (x < y);
}
static wide_t nth_of_3(unsigned n, wide_t a, wide_t b, wide_t c) {
  wide_t list[] = {a, b, c};
  qsort(list, 3, sizeof list[0], order);
  return list[n];
}
MEANING(least, nth_of_3(0, a, b, c))
MEANING(median, nth_of_3(1, a, b, c))
MEANING(greatest, nth_of_3(2, a, b, c))

static wide_t field(wide_t value, wide_t offset, wide_t width, bool is_signed) {
  wide_t result = 0;
  for (unsigned i = 0; i < (unsigned)modulo(width, 5); i++) {
    const wide_t bit = modulo(floor_divide(value, power(i + (unsigned)modulo(offset, 5))), 1);
    const bool sign = is_signed && i + 1 == (unsigned)modulo(width, 5);
    result += sign ? -bit * power(i) : bit * power(i);
  }
  return result;
}
MEANING(field_u, field(a, b, c, false))
MEANING(field_i, field(a, b, c, true))
MEANING(field_mask, (power((unsigned)modulo(a, 5)) - 1) * power((unsigned)modulo(b, 5)))
MEANING(align_bit, floor_divide(a * power(32) + b, power((unsigned)modulo(c, 5))))
MEANING(align_byte, floor_divide(a * power(32) + b, power(8 * (unsigned)modulo(c, 2))))

/* Bits of x in [first, end). */
static unsigned count_ones(wide_t x, unsigned first, unsigned end) {
  unsigned count = 0;
  for (unsigned i = first; i < end; i++)
    count += (unsigned)(x >> i & 1);
  return count;
}
static wide_t reversed(wide_t x) {
  wide_t result = 0;
  for (unsigned i = 0; i < 32; i++)
    result = 2 * result + (x >> i & 1);
  return result;
}
/* Steps from the top (or bottom) bit to the first one that differs from `skip`; -1 without such a bit. */
static wide_t first_other(wide_t x, bool from_top, unsigned skip) {
  for (unsigned i = 0; i < 32; i++)
    if ((unsigned)(x >> (from_top ? 31 - i : i) & 1) != skip)
      return i;
  return -1;
}
MEANING(reverse_bits, reversed(a))
MEANING(count_bits, count_ones(a, 0, 32) + b)
MEANING(find_high, first_other(a, true, 0))
MEANING(find_high_i, first_other(a, true, (unsigned)(a >> 31 & 1)))
MEANING(find_low, first_other(a, false, 0))
MEANING(count_lanes_low, b + count_ones(a, 0, lane < 32 ? lane : 32))
MEANING(count_lanes_high, b + count_ones(a, 0, lane < 32 ? 0 : lane - 32))

/* Part `i` of `bits` bits. */
static int part(wide_t x, unsigned i, unsigned bits) {
  return (int)modulo(floor_divide(x, power(i * bits)), bits);
}
/* Sum of distances of parts; `masked` leaves out those where b has 0. */
static wide_t distance(wide_t a, wide_t b, unsigned bits, bool masked) {
  wide_t sum_ = 0;
  for (unsigned i = 0; i < 32 / bits; i++)
    sum_ += masked && part(b, i, bits) == 0 ? 0 : abs(part(a, i, bits) - part(b, i, bits));
  return sum_;
}
MEANING(sad_u8, distance(a, b, 8, false) + c)
MEANING(sad_hi_u8, distance(a, b, 8, false) * 65536 + c)
MEANING(msad_u8, distance(a, b, 8, true) + c)
MEANING(sad_u16, distance(a, b, 16, false) + c)
MEANING(sad_u32, (a > b ? a - b : b - a) + c)

static wide_t permuted(wide_t a, wide_t b, wide_t c) {
  wide_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    const int selector = part(c, i, 8);
    const wide_t data = a * power(32) + b;
    int byte = 255;
    if (selector < 8)
      byte = part(data, (unsigned)selector, 8);
    else if (selector < 12)
      byte = part(data, 2 * (unsigned)(selector - 8) + 1, 8) >= 128 ? 255 : 0;
    else if (selector == 12)
      byte = 0;
    result += byte * power(8 * i);
  }
  return result;
}
static wide_t averaged(wide_t a, wide_t b, wide_t c) {
  wide_t result = 0;
  for (unsigned i = 0; i < 4; i++)
    result += (part(a, i, 8) + part(b, i, 8) + part(c, i, 8) % 2) / 2 * power(8 * i);
  return result;
}
MEANING(permute, permuted(a, b, c))
MEANING(average, averaged(a, b, c))

/* Both halves as signed numbers, limited to 0..255. */
static wide_t packed_u8(wide_t a) {
  wide_t result = 0;
  for (unsigned i = 0; i < 2; i++) {
    const wide_t half = read_as(I16, (uint64_t)part(a, i, 16));
    result += (half < 0 ? 0 : half > 255 ? 255 : half) * power(8 * i);
  }
  return result;
}
MEANING(saturated_bytes, packed_u8(a))

/* Shader engines of the tiles of a rectangle that wraps at four tiles. */
static wide_t engines(wide_t a) {
  wide_t result = 0;
  for (int x = part(a, 3, 2);; x = (x + 1) % 4) {
    for (int y = part(a, 2, 2);; y = (y + 1) % 4) {
      const int engine = ((x % 2) ^ (y / 2)) * 2 + ((y % 2) ^ (x / 2));
      if (part(result, (unsigned)engine, 1) == 0)
        result += power((unsigned)engine);
      if (y == part(a, 0, 2))
        break;
    }
    if (x == part(a, 1, 2))
      break;
  }
  return result;
}
MEANING(partition, engines(a))
/* clang-format on */

/* ---- The instructions ---- */

enum { CLAMP = 1, KEEP_HIGH = 2 }; /* saturates with clamp; keeps bits 31:16 of a 16-bit destination */

typedef struct row {
  const char *name;
  unsigned vop; /* 1 and 2 exist in short and long form, 3 in the long form only */
  kind_t dst, src[3];
  meaning_t *meaning;
  unsigned flags;
} row_t;

static const row_t rows[] = {
    {"v_mov_b32", 1, U32, {U32}, same, 0},
    {"v_not_b32", 1, U32, {U32}, not, 0},
    {"v_bfrev_b32", 1, U32, {U32}, reverse_bits, 0},
    {"v_ffbh_u32", 1, U32, {U32}, find_high, 0},
    {"v_ffbh_i32", 1, U32, {U32}, find_high_i, 0},
    {"v_ffbl_b32", 1, U32, {U32}, find_low, 0},
    {"v_sat_pk_u8_i16", 1, U32, {U32}, saturated_bytes, 0},
    {"v_screen_partition_4se_b32", 1, U32, {U32}, partition, 0},

    {"v_and_b32", 2, U32, {U32, U32}, and, 0},
    {"v_or_b32", 2, U32, {U32, U32}, or, 0},
    {"v_xor_b32", 2, U32, {U32, U32}, xor, 0},
    {"v_xnor_b32", 2, U32, {U32, U32}, xnor, 0},
    {"v_lshlrev_b32", 2, U32, {U32, U32}, shift_left_32, 0},
    {"v_lshrrev_b32", 2, U32, {U32, U32}, shift_right_32, 0},
    {"v_ashrrev_i32", 2, I32, {I32, I32}, shift_right_32, 0},
    {"v_add_u32", 2, U32, {U32, U32}, sum, CLAMP},
    {"v_sub_u32", 2, U32, {U32, U32}, difference, CLAMP},
    {"v_subrev_u32", 2, U32, {U32, U32}, reversed_difference, CLAMP},
    {"v_mul_u32_u24", 2, U32, {U24, U24}, product, CLAMP},
    {"v_mul_i32_i24", 2, I32, {I24, I24}, product, CLAMP},
    {"v_mul_hi_u32_u24", 2, U32, {U24, U24}, product_high, 0},
    {"v_mul_hi_i32_i24", 2, I32, {I24, I24}, product_high, 0},
    {"v_min_u32", 2, U32, {U32, U32}, smaller, 0},
    {"v_max_u32", 2, U32, {U32, U32}, larger, 0},
    {"v_min_i32", 2, I32, {I32, I32}, smaller, 0},
    {"v_max_i32", 2, I32, {I32, I32}, larger, 0},

    {"v_add_u16", 2, U16, {U16, U16}, sum, CLAMP},
    {"v_sub_u16", 2, U16, {U16, U16}, difference, CLAMP},
    {"v_subrev_u16", 2, U16, {U16, U16}, reversed_difference, CLAMP},
    {"v_mul_lo_u16", 2, U16, {U16, U16}, product, 0},
    {"v_lshlrev_b16", 2, U16, {U16, U16}, shift_left_16, 0},
    {"v_lshrrev_b16", 2, U16, {U16, U16}, shift_right_16, 0},
    {"v_ashrrev_i16", 2, I16, {I16, I16}, shift_right_16, 0},
    {"v_min_u16", 2, U16, {U16, U16}, smaller, 0},
    {"v_max_u16", 2, U16, {U16, U16}, larger, 0},
    {"v_min_i16", 2, I16, {I16, I16}, smaller, 0},
    {"v_max_i16", 2, I16, {I16, I16}, larger, 0},
    {"v_add_i16", 3, I16, {I16, I16}, sum, CLAMP | KEEP_HIGH},
    {"v_sub_i16", 3, I16, {I16, I16}, difference, CLAMP | KEEP_HIGH},
    {"v_mad_u16", 3, U16, {U16, U16, U16}, product_sum, CLAMP | KEEP_HIGH},
    {"v_mad_i16", 3, I16, {I16, I16, I16}, product_sum, CLAMP | KEEP_HIGH},
    {"v_mad_legacy_u16", 3, U16, {U16, U16, U16}, product_sum, CLAMP},
    {"v_mad_legacy_i16", 3, I16, {I16, I16, I16}, product_sum, CLAMP},
    {"v_min3_u16", 3, U16, {U16, U16, U16}, least, CLAMP | KEEP_HIGH},
    {"v_max3_u16", 3, U16, {U16, U16, U16}, greatest, CLAMP | KEEP_HIGH},
    {"v_med3_u16", 3, U16, {U16, U16, U16}, median, CLAMP | KEEP_HIGH},
    {"v_min3_i16", 3, I16, {I16, I16, I16}, least, CLAMP | KEEP_HIGH},
    {"v_max3_i16", 3, I16, {I16, I16, I16}, greatest, CLAMP | KEEP_HIGH},
    {"v_med3_i16", 3, I16, {I16, I16, I16}, median, CLAMP | KEEP_HIGH},

    {"v_add_i32", 3, I32, {I32, I32}, sum, CLAMP},
    {"v_sub_i32", 3, I32, {I32, I32}, difference, CLAMP},
    {"v_mul_lo_u32", 3, U32, {U32, U32}, product, 0},
    {"v_mul_hi_u32", 3, U32, {U32, U32}, product_high, 0},
    {"v_mul_hi_i32", 3, I32, {I32, I32}, product_high, 0},
    {"v_bfm_b32", 3, U32, {U32, U32}, field_mask, 0},
    {"v_bcnt_u32_b32", 3, U32, {U32, U32}, count_bits, 0},
    {"v_mbcnt_lo_u32_b32", 3, U32, {U32, U32}, count_lanes_low, 0},
    {"v_mbcnt_hi_u32_b32", 3, U32, {U32, U32}, count_lanes_high, 0},
    {"v_lshlrev_b64", 3, U64, {U32, U64}, shift_left_64, 0},
    {"v_lshl_add_u64", 3, U64, {U64, U32, U64}, shift_add_64, 0},
    {"v_lshrrev_b64", 3, U64, {U32, U64}, shift_right_64, 0},
    {"v_ashrrev_i64", 3, I64, {U32, I64}, shift_right_64, 0},

    {"v_and_or_b32", 3, U32, {U32, U32, U32}, and_or, 0},
    {"v_or3_b32", 3, U32, {U32, U32, U32}, or3, 0},
    {"v_bfi_b32", 3, U32, {U32, U32, U32}, bfi, 0},
    {"v_lshl_or_b32", 3, U32, {U32, U32, U32}, shift_or, 0},
    {"v_lshl_add_u32", 3, U32, {U32, U32, U32}, shift_add, 0},
    {"v_add_lshl_u32", 3, U32, {U32, U32, U32}, add_shift, 0},
    {"v_add3_u32", 3, U32, {U32, U32, U32}, sum3, 0},
    {"v_xad_u32", 3, U32, {U32, U32, U32}, xor_add, 0},
    {"v_mad_u32_u24", 3, U32, {U24, U24, U32}, product_sum, CLAMP},
    {"v_mad_i32_i24", 3, I32, {I24, I24, I32}, product_sum, CLAMP},
    {"v_mad_u32_u16", 3, U32, {U16, U16, U32}, product_sum, CLAMP},
    {"v_mad_i32_i16", 3, I32, {I16, I16, I32}, product_sum, CLAMP},
    {"v_min3_u32", 3, U32, {U32, U32, U32}, least, 0},
    {"v_max3_u32", 3, U32, {U32, U32, U32}, greatest, 0},
    {"v_med3_u32", 3, U32, {U32, U32, U32}, median, 0},
    {"v_min3_i32", 3, I32, {I32, I32, I32}, least, 0},
    {"v_max3_i32", 3, I32, {I32, I32, I32}, greatest, 0},
    {"v_med3_i32", 3, I32, {I32, I32, I32}, median, 0},
    {"v_bfe_u32", 3, U32, {U32, U32, U32}, field_u, 0},
    {"v_bfe_i32", 3, U32, {I32, U32, U32}, field_i, 0},
    {"v_alignbit_b32", 3, U32, {U32, U32, U32}, align_bit, 0},
    {"v_alignbyte_b32", 3, U32, {U32, U32, U32}, align_byte, 0},
    {"v_perm_b32", 3, U32, {U32, U32, U32}, permute, 0},
    {"v_lerp_u8", 3, U32, {U32, U32, U32}, average, 0},
    {"v_sad_u8", 3, U32, {U32, U32, U32}, sad_u8, CLAMP},
    {"v_sad_hi_u8", 3, U32, {U32, U32, U32}, sad_hi_u8, CLAMP},
    {"v_sad_u16", 3, U32, {U32, U32, U32}, sad_u16, CLAMP},
    {"v_sad_u32", 3, U32, {U32, U32, U32}, sad_u32, CLAMP},
    {"v_msad_u8", 3, U32, {U32, U32, U32}, msad_u8, CLAMP},
};
enum { ROWS = sizeof rows / sizeof rows[0], TEXT_BYTES = 96 };

static unsigned source_count(const row_t *row) {
  unsigned n = 0;
  while (n < 3 && row->src[n] != NONE)
    n++;
  return n;
}

/* ---- Operands that are the same in all lanes ---- */

typedef struct uniform {
  const char *text32, *text64; /* NULL: not for this width */
  unsigned sgpr;               /* operand number, or CONSTANT */
  uint64_t value32, value64;   /* of constants; 16-bit operands have the low half of value32 */
  bool literal;                /* in short forms only */
} uniform_t;
enum { CONSTANT = 999 };

static const uniform_t uniforms[] = {
    {"s11", "s[12:13]", 11, 0, 0, false},
    {"vcc_hi", "vcc", 107, 0, 0, false},
    {"m0", NULL, GS_S_M0, 0, 0, false},
    {"exec_lo", "exec", GS_S_EXEC, 0, 0, false},
    {"flat_scratch_hi", "flat_scratch", GS_S_FLAT_SCRATCH + 1, 0, 0, false},
    {"0", "0", CONSTANT, 0, 0, false},
    {"64", "64", CONSTANT, 64, 64, false},
    {"-1", "-1", CONSTANT, UINT32_MAX, UINT64_MAX, false},
    {"-16", "-16", CONSTANT, 0xfffffff0, UINT64_C(0xfffffffffffffff0), false},
    {"0x1234", NULL, CONSTANT, 0x1234, 0, true},
    {"0xabcd", NULL, CONSTANT, 0xabcd, 0, true},
};
enum { UNIFORMS = sizeof uniforms / sizeof uniforms[0] };

/* ---- Variants of an instruction: which operands are what ---- */

typedef struct variant {
  bool is_long;
  bool clamp;
  bool same_register;   /* the destination is also source 0 */
  unsigned uniform_src; /* index of the source that is uniform, or 3 */
  unsigned uniform;     /* which */
} variant_t;

enum { VARIANTS = 2 * (3 + 3 * UNIFORMS) };

/* The n-th variant of a row. Returns whether it exists. */
static bool get_variant(const row_t *row, unsigned n, variant_t *v) {
  *v = (variant_t){.is_long = n % 2, .uniform_src = 3};
  n /= 2;
  if (row->vop == 3 && !v->is_long)
    return false;
  if (n < 3) {
    v->same_register = n == 1;
    v->clamp = n == 2;
    return !v->clamp || (v->is_long && (row->flags & CLAMP));
  }
  v->uniform_src = (n - 3) / UNIFORMS;
  v->uniform = (n - 3) % UNIFORMS;
  if (v->uniform_src >= source_count(row) || (!v->is_long && v->uniform_src > 0))
    return false;
  const uniform_t *u = &uniforms[v->uniform];
  if (u->literal && v->is_long)
    return false;
  return kinds[row->src[v->uniform_src]].bits == 64 ? u->text64 != NULL : u->text32 != NULL;
}

static unsigned source_register(const variant_t *v, unsigned i) {
  return i == 0 && v->same_register ? 0 : 2 + 2 * i;
}

static int print_register(char *text, size_t size, unsigned reg, kind_t kind) {
  return kinds[kind].bits == 64 ? snprintf(text, size, "v[%u:%u]", reg, reg + 1)
                                : snprintf(text, size, "v%u", reg);
}

static void print_variant(const row_t *row, const variant_t *v, char text[TEXT_BYTES]) {
  const char *const suffix = row->vop == 3 ? "" : v->is_long ? "_e64" : "_e32";
  int at = snprintf(text, TEXT_BYTES, "%s%s ", row->name, suffix);
  at += print_register(text + at, TEXT_BYTES - (size_t)at, 0, row->dst);
  for (unsigned i = 0; i < source_count(row); i++) {
    const uniform_t *u = &uniforms[v->uniform];
    at += snprintf(text + at, TEXT_BYTES - (size_t)at, ", ");
    if (i == v->uniform_src)
      at += snprintf(text + at, TEXT_BYTES - (size_t)at, "%s",
                     kinds[row->src[i]].bits == 64 ? u->text64 : u->text32);
    else
      at += print_register(text + at, TEXT_BYTES - (size_t)at, source_register(v, i), row->src[i]);
  }
  if (v->clamp)
    (void)snprintf(text + at, TEXT_BYTES - (size_t)at, " clamp");
}

/* Bits of source i in a lane as they were before. */
static uint64_t source_bits(const isa_wave_t *t, const row_t *row, const variant_t *v, unsigned i,
                            unsigned lane) {
  const bool wide = kinds[row->src[i]].bits == 64;
  if (i == v->uniform_src) {
    const uniform_t *u = &uniforms[v->uniform];
    const uint32_t *s = t->before.w.s.u32;
    if (u->sgpr == CONSTANT)
      return wide ? u->value64 : u->value32;
    const unsigned reg = wide ? (u->sgpr == 11 ? 12 : u->sgpr & ~1u) : u->sgpr;
    return wide ? (uint64_t)s[reg + 1] << 32 | s[reg] : s[reg];
  }
  const gs_row_t *r = &t->before.v[source_register(v, i)];
  return wide ? isa_u64(r, lane) : r->u32[lane];
}

static void check(const isa_wave_t *t, const row_t *row, const variant_t *v, const char *text) {
  const uint64_t exec = gs_exec(&t->before.w);
  const unsigned bits = kinds[row->dst].bits;
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    wide_t x[3] = {0};
    for (unsigned i = 0; i < source_count(row); i++)
      x[i] = read_as(row->src[i], source_bits(t, row, v, i, l));
    wide_t exact = row->meaning(x[0], x[1], x[2], l);
    if (v->clamp)
      exact = saturate(row->dst, exact);
    uint64_t expected = (uint64_t)modulo(exact, bits);
    if (row->flags & KEEP_HIGH)
      expected |= t->before.v[0].u32[l] & 0xffff0000u;
    const uint64_t got = bits == 64 ? isa_u64(&t->v[0], l) : t->v[0].u32[l];
    if (got != expected)
      fail_msg("%s: %s, lane %u: 0x%llx 0x%llx 0x%llx gives 0x%llx, not 0x%llx",
               gs_target_name(t->env.target), text, l, (unsigned long long)x[0], (unsigned long long)x[1],
               (unsigned long long)x[2], (unsigned long long)got, (unsigned long long)expected);
  }
  isa_assert_lanes_kept(t, 0, bits == 64 ? 2 : 1, exec);
  isa_assert_only_changed(t, bits == 64 ? "v[0:1]" : "v0");
}

/* ---- Values ---- */

static void fill(gs_row_t *r, kind_t kind, size_t start, size_t repeat, bool random, uint64_t *seed) {
  if (random) {
    for (unsigned l = 0; l < GS_LANES; l++)
      isa_set_u64(r, l, isa_random(seed));
  } else if (kinds[kind].bits == 64) {
    isa_fill64(r, isa_u64_edges, isa_u64_edge_count, repeat, start);
  } else {
    isa_fill32(r, isa_u32_edges, isa_u32_edge_count, repeat, start);
  }
}

/* Pass p of the edge values of three operands: in the course of the passes each pair of a and b comes up. */
static void fill_sources(isa_wave_t *t, const row_t *row, const variant_t *v, unsigned pass, bool random) {
  uint64_t seed = pass + 1;
  fill(&t->v[source_register(v, 0)], row->src[0], pass, 1, random, &seed);
  fill(&t->v[source_register(v, 1)], row->src[1], 2 * pass, isa_u32_edge_count, random, &seed);
  fill(&t->v[source_register(v, 2)], row->src[2], 5 * pass, 7, random, &seed);
}

static const uint64_t exec_masks[] = {UINT64_MAX,
                                      0,
                                      1,
                                      UINT64_C(1) << 63,
                                      UINT64_C(0xaaaaaaaaaaaaaaaa),
                                      UINT64_C(0x00000000ffff0000),
                                      UINT64_C(0x123456789abcdef0)};
enum { EXEC_MASKS = sizeof exec_masks / sizeof exec_masks[0] };

/* All pairs of edge values, if all operands are vectors, else a few; then random values. */
static void run_variant(isa_wave_t *t, const row_t *row, const variant_t *v) {
  char text[TEXT_BYTES];
  print_variant(row, v, text);
  const bool plain = v->uniform_src == 3;
  const unsigned passes = plain ? (unsigned)isa_u32_edge_count : 3;
  isa_reset(t, 0);
  for (unsigned pass = 0; pass < passes + 2; pass++) {
    fill_sources(t, row, v, pass, pass >= passes);
    isa_run(t, text);
    check(t, row, v, text);
  }
  for (unsigned i = 1; plain && i < EXEC_MASKS; i++) {
    gs_set_exec(&t->w, exec_masks[i]);
    isa_run(t, text);
    check(t, row, v, text);
  }
}

/* Calls isa_prepare with all texts of all rows. */
static void prepare(void **state) {
  static char texts[ROWS * VARIANTS][TEXT_BYTES];
  static const char *list[ROWS * VARIANTS];
  size_t count = 0;
  for (unsigned r = 0; r < ROWS; r++)
    for (unsigned n = 0; n < VARIANTS; n++) {
      variant_t v;
      if (!isa_has(state, ISA_PART, rows[r].name) || !get_variant(&rows[r], n, &v))
        continue;
      print_variant(&rows[r], &v, texts[count]);
      list[count] = texts[count];
      count++;
    }
  isa_prepare(state, ISA_PART, list, sizeof list[0], count);
}

static void test_rows(void **state) {
  prepare(state);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned r = 0; r < ROWS; r++)
    for (unsigned n = 0; n < VARIANTS; n++) {
      variant_t v;
      if (isa_has(state, ISA_PART, rows[r].name) && get_variant(&rows[r], n, &v))
        run_variant(t, &rows[r], &v);
    }
  isa_free(t);
}

/* ---- Carries ---- */

typedef struct carry_row {
  const char *name;
  bool carry_in;
  int sign_a,
      sign_b; /* the exact result is sign_a * a + sign_b * b, and the carry the sign of b's or a's operand */
} carry_row_t;

static const carry_row_t carry_rows[] = {
    {"v_add_co_u32", false, 1, 1}, {"v_sub_co_u32", false, 1, -1}, {"v_subrev_co_u32", false, -1, 1},
    {"v_addc_co_u32", true, 1, 1}, {"v_subb_co_u32", true, 1, -1}, {"v_subbrev_co_u32", true, -1, 1},
};
enum { CARRY_ROWS = sizeof carry_rows / sizeof carry_rows[0] };

/* How a carry instruction is written: its mask output and input by operand number. */
typedef struct carry_form {
  const char *format; /* of name and carry-in operand */
  const char *in;
  unsigned out_reg, in_reg;
  const char *changed;
  bool clamp;
} carry_form_t;

static const carry_form_t carry_forms[] = {
    {"%s_e32 v0, vcc, v2, v4%s", ", vcc", GS_S_VCC, GS_S_VCC, "v0 vcc", false},
    {"%s_e32 v2, vcc, v2, v4%s", ", vcc", GS_S_VCC, GS_S_VCC, "v2 vcc", false},
    {"%s_e64 v0, s[20:21], v2, v4%s", ", s[30:31]", 20, 30, "v0 s[20:21]", false},
    {"%s_e64 v4, vcc, v2, v4%s", ", s[8:9]", GS_S_VCC, 8, "v4 vcc", false},
    {"%s_e64 v0, s[20:21], v2, v4%s clamp", ", vcc", 20, GS_S_VCC, "v0 s[20:21]", true},
    {"%s_e64 v0, exec, v2, v4%s", ", s[30:31]", GS_S_EXEC, 30, "v0 exec", false},
};
enum { CARRY_FORMS = sizeof carry_forms / sizeof carry_forms[0] };

static void check_carry(const isa_wave_t *t, const carry_row_t *row, const carry_form_t *form, unsigned dst) {
  const uint64_t exec = gs_exec(&t->before.w), in_mask = (uint64_t)t->before.w.s.u32[form->in_reg + 1] << 32 |
                                                         t->before.w.s.u32[form->in_reg];
  uint64_t carries = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    const wide_t in = row->carry_in ? (wide_t)(in_mask >> l & 1) : 0;
    const wide_t exact = row->sign_a * (wide_t)t->before.v[2].u32[l] +
                         row->sign_b * (wide_t)t->before.v[4].u32[l] +
                         (row->sign_a + row->sign_b == 2 ? in : -in);
    carries |= (uint64_t)(exact < 0 || exact >= power(32)) << l;
    const uint32_t expected = (uint32_t)modulo(form->clamp ? saturate(U32, exact) : exact, 32);
    if (t->v[dst].u32[l] != expected)
      fail_msg("%s, form %zu, lane %u: 0x%x 0x%x gives 0x%x, not 0x%x", row->name,
               (size_t)(form - carry_forms), l, t->before.v[2].u32[l], t->before.v[4].u32[l],
               t->v[dst].u32[l], expected);
  }
  assert_int_equal(isa_s64(t, form->out_reg), carries);
  isa_assert_lanes_kept(t, dst, 1, exec);
  isa_assert_only_changed(t, form->changed);
}

static void test_carries(void **state) {
  for (unsigned r = 0; r < CARRY_ROWS; r++)
    for (unsigned f = 0; f < CARRY_FORMS; f++) {
      const carry_row_t *row = &carry_rows[r];
      const carry_form_t *form = &carry_forms[f];
      char text[TEXT_BYTES];
      (void)snprintf(text, sizeof text, form->format, row->name, row->carry_in ? form->in : "");
      unsigned dst;
      assert_int_equal(sscanf(form->changed, "v%u", &dst), 1);
      isa_wave_t *t = isa_new(state, ISA_PART);
      for (unsigned pass = 0; pass < isa_u32_edge_count; pass++) {
        isa_reset(t, pass);
        isa_fill32(&t->v[2], isa_u32_edges, isa_u32_edge_count, 1, pass);
        isa_fill32(&t->v[4], isa_u32_edges, isa_u32_edge_count, isa_u32_edge_count, 2 * pass);
        gs_set_exec(&t->w, pass % 3 ? UINT64_MAX : exec_masks[pass / 3 % EXEC_MASKS]);
        isa_run(t, text);
        check_carry(t, row, form, dst);
      }
      isa_free(t);
    }
}

/* 32 x 32 + 64 bits; the mask is bit 64 of the exact sum in two's complement. */
static void check_wide_mad(const isa_wave_t *t, bool is_signed, bool clamp, unsigned dst, unsigned mask_reg) {
  const kind_t half = is_signed ? I32 : U32, full = is_signed ? I64 : U64;
  const uint64_t exec = gs_exec(&t->before.w);
  uint64_t mask = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    const wide_t exact = read_as(half, t->before.v[2].u32[l]) * read_as(half, t->before.v[4].u32[l]) +
                         read_as(full, isa_u64(&t->before.v[6], l));
    mask |= (uint64_t)(floor_divide(exact, power(64)) & 1) << l;
    assert_int_equal(isa_u64(&t->v[dst], l), (uint64_t)modulo(clamp ? saturate(full, exact) : exact, 64));
  }
  assert_int_equal(isa_s64(t, mask_reg), mask);
  isa_assert_lanes_kept(t, dst, 2, exec);
}

static void test_wide_mad(void **state) {
  static const struct {
    const char *text;
    bool is_signed, clamp;
    unsigned dst, mask;
    const char *changed;
  } forms[] = {
      {"v_mad_u64_u32 v[0:1], s[20:21], v2, v4, v[6:7]", false, false, 0, 20, "v[0:1] s[20:21]"},
      {"v_mad_u64_u32 v[0:1], vcc, v2, v4, v[6:7] clamp", false, true, 0, GS_S_VCC, "v[0:1] vcc"},
      {"v_mad_u64_u32 v[6:7], vcc, v2, v4, v[6:7]", false, false, 6, GS_S_VCC, "v[6:7] vcc"},
      {"v_mad_i64_i32 v[0:1], s[20:21], v2, v4, v[6:7]", true, false, 0, 20, "v[0:1] s[20:21]"},
      {"v_mad_i64_i32 v[0:1], vcc, v2, v4, v[6:7] clamp", true, true, 0, GS_S_VCC, "v[0:1] vcc"},
      {"v_mad_i64_i32 v[6:7], exec, v2, v4, v[6:7]", true, false, 6, GS_S_EXEC, "v[6:7] exec"},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned f = 0; f < sizeof forms / sizeof forms[0]; f++)
    for (unsigned pass = 0; pass < 2 * isa_u64_edge_count; pass++) {
      isa_reset(t, pass);
      isa_fill32(&t->v[2], isa_u32_edges, isa_u32_edge_count, 1, pass);
      isa_fill32(&t->v[4], isa_u32_edges, isa_u32_edge_count, isa_u32_edge_count, 2 * pass);
      isa_fill64(&t->v[6], isa_u64_edges, isa_u64_edge_count, 3, pass);
      gs_set_exec(&t->w, pass % 2 ? UINT64_MAX : exec_masks[pass / 2 % EXEC_MASKS]);
      isa_run(t, forms[f].text);
      check_wide_mad(t, forms[f].is_signed, forms[f].clamp, forms[f].dst, forms[f].mask);
      isa_assert_only_changed(t, forms[f].changed);
    }
  isa_free(t);
}

/* ---- Four sums of absolute differences at once ---- */

/* Part `i` (0 to 3) of the result, `bits` wide; the sources are v[2:3], v4 and v[8:11], the destination
 * v[0:3] or v[0:1]. */
static uint32_t quad_sad(const isa_wave_t *t, unsigned lane, unsigned i, unsigned bits, bool masked,
                         bool clamp) {
  const gs_row_t *v = t->before.v;
  const wide_t a = floor_divide((wide_t)isa_u64(&v[2], lane), power(8 * i));
  const uint32_t c = bits == 32 ? v[8 + i].u32[lane] : v[8 + i / 2].u32[lane] >> (16 * (i % 2)) & 0xffff;
  const wide_t exact = distance(a, v[4].u32[lane], 8, masked) + c;
  return (uint32_t)modulo(clamp && exact >= power(bits) ? power(bits) - 1 : exact, bits);
}

static void test_quad_sads(void **state) {
  static const struct {
    const char *text;
    unsigned bits;
    bool masked, clamp;
  } forms[] = {
      {"v_qsad_pk_u16_u8 v[0:1], v[2:3], v4, v[8:9]", 16, false, false},
      {"v_qsad_pk_u16_u8 v[0:1], v[2:3], v4, v[8:9] clamp", 16, false, true},
      {"v_mqsad_pk_u16_u8 v[0:1], v[2:3], v4, v[8:9]", 16, true, false},
      {"v_mqsad_pk_u16_u8 v[0:1], v[2:3], v4, v[8:9] clamp", 16, true, true},
      {"v_mqsad_u32_u8 v[12:15], v[2:3], v4, v[8:11]", 32, true, false},
      {"v_mqsad_u32_u8 v[12:15], v[2:3], v4, v[8:11] clamp", 32, true, true},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned f = 0; f < sizeof forms / sizeof forms[0]; f++)
    for (unsigned pass = 0; pass < 20; pass++) {
      isa_reset(t, pass);
      const unsigned bits = forms[f].bits, dst = bits == 32 ? 12 : 0;
      const uint64_t exec = exec_masks[pass % EXEC_MASKS];
      for (unsigned l = 0; l < GS_LANES; l++) {
        if (l % 3 == 0)
          t->v[4].u32[l] &= 0xff00ff00u; /* masked bytes */
        if (l % 2)
          t->v[8].u32[l] = t->v[9].u32[l] = t->v[10].u32[l] = 0xfffffff0u - l; /* sums that overflow */
      }
      gs_set_exec(&t->w, exec);
      isa_run(t, forms[f].text);
      for (unsigned l = 0; l < GS_LANES; l++)
        for (unsigned i = 0; (exec >> l & 1) && i < 4; i++) {
          const gs_row_t *r = &t->v[dst + (bits == 32 ? i : i / 2)];
          const uint32_t got = bits == 32 ? r->u32[l] : r->u32[l] >> (16 * (i % 2)) & 0xffff;
          assert_int_equal(got, quad_sad(t, l, i, bits, forms[f].masked, forms[f].clamp));
        }
      isa_assert_lanes_kept(t, dst, bits == 32 ? 4 : 2, exec);
      isa_assert_only_changed(t, bits == 32 ? "v[12:15]" : "v[0:1]");
    }
  /* The sum may lie on its own operands. */
  isa_reset(t, 1);
  isa_run(t, "v_mqsad_u32_u8 v[8:11], v[2:3], v4, v[8:11]");
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(t->v[8 + i].u32[l], quad_sad(t, l, i, 32, true, false));
  isa_free(t);
}

/* ---- Moves ---- */

static void test_cndmask(void **state) {
  static const struct {
    const char *text;
    unsigned mask;
    uint32_t and0, xor0, and1, xor1; /* what modifiers do to the operands' bits */
  } forms[] = {
      {"v_cndmask_b32_e32 v0, v2, v4, vcc", GS_S_VCC, ~0u, 0, ~0u, 0},
      {"v_cndmask_b32_e64 v0, v2, v4, s[20:21]", 20, ~0u, 0, ~0u, 0},
      {"v_cndmask_b32_e64 v0, -v2, |v4|, s[20:21]", 20, ~0u, 0x80000000u, 0x7fffffffu, 0},
      {"v_cndmask_b32_e64 v0, |v2|, -|v4|, vcc", GS_S_VCC, 0x7fffffffu, 0, 0x7fffffffu, 0x80000000u},
      {"v_cndmask_b32_e64 v2, v2, v4, s[8:9]", 8, ~0u, 0, ~0u, 0},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned f = 0; f < sizeof forms / sizeof forms[0]; f++)
    for (unsigned pass = 0; pass < 2 * EXEC_MASKS; pass++) {
      isa_reset(t, pass);
      gs_set_exec(&t->w, exec_masks[pass % EXEC_MASKS]);
      isa_run(t, forms[f].text);
      const unsigned dst = f == 4 ? 2 : 0;
      const uint64_t mask = isa_s64(t, forms[f].mask), exec = gs_exec(&t->w);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint32_t no = (t->before.v[2].u32[l] & forms[f].and0) ^ forms[f].xor0;
        const uint32_t yes = (t->before.v[4].u32[l] & forms[f].and1) ^ forms[f].xor1;
        if (exec >> l & 1)
          assert_int_equal(t->v[dst].u32[l], mask >> l & 1 ? yes : no);
      }
      isa_assert_lanes_kept(t, dst, 1, exec);
      isa_assert_only_changed(t, dst ? "v2" : "v0");
    }
  gs_set_exec(&t->w, UINT64_MAX);
  isa_run(t, "v_cndmask_b32_e64 v0, 0, 1, s[20:21]");
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[0].u32[l], isa_s64(t, 20) >> l & 1);
  isa_free(t);
}

static void test_swap(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < EXEC_MASKS; i++) {
    isa_reset(t, i);
    gs_set_exec(&t->w, exec_masks[i]);
    isa_run(t, "v_swap_b32 v0, v2");
    for (unsigned l = 0; l < GS_LANES; l++) {
      const bool active = exec_masks[i] >> l & 1;
      assert_int_equal(t->v[0].u32[l], t->before.v[active ? 2 : 0].u32[l]);
      assert_int_equal(t->v[2].u32[l], t->before.v[active ? 0 : 2].u32[l]);
    }
    isa_assert_only_changed(t, "v0 v2");
  }
  isa_free(t);
}

static void test_read_first_lane(void **state) {
  static const struct {
    uint64_t exec;
    unsigned lane;
  } rows_[] = {{UINT64_MAX, 0},        {0, 0}, {1, 0}, {UINT64_C(0xff00), 8}, {UINT64_C(1) << 63, 63},
               {UINT64_C(3) << 32, 32}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof rows_ / sizeof rows_[0]; i++) {
    isa_reset(t, i);
    gs_set_exec(&t->w, rows_[i].exec);
    isa_run(t, "v_readfirstlane_b32 s7, v3");
    assert_int_equal(t->w.s.u32[7], t->before.v[3].u32[rows_[i].lane]);
    isa_assert_only_changed(t, "s7");
  }
  isa_run(t, "v_readfirstlane_b32 m0, v3");
  isa_assert_only_changed(t, "m0");
  isa_free(t);
}

static void test_read_write_lane(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  static const uint32_t lanes[] = {0, 1, 31, 32, 63, 64, 65, 0xffffffff, 0x12345678};
  for (unsigned i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
    isa_reset(t, i);
    gs_set_exec(&t->w, exec_masks[i % EXEC_MASKS]);
    isa_run(t, "v_readlane_b32 s7, v3, 62\nv_writelane_b32 v4, s20, 11");
    assert_int_equal(t->w.s.u32[7], t->v[3].u32[62]);
    assert_int_equal(t->v[4].u32[11], t->w.s.u32[20]);
    t->w.s.u32[9] = t->w.s.u32[GS_S_M0] = lanes[i];
    isa_run(t, "v_readlane_b32 s7, v3, s9");
    assert_int_equal(t->w.s.u32[7], t->v[3].u32[lanes[i] % 64]);
    isa_assert_only_changed(t, "s7");
    isa_run(t, "v_readlane_b32 vcc_lo, v3, m0");
    assert_int_equal(t->w.s.u32[GS_S_VCC], t->v[3].u32[lanes[i] % 64]);
    isa_assert_only_changed(t, "vcc");
    isa_run(t, "v_writelane_b32 v3, m0, m0");
    assert_int_equal(t->v[3].u32[lanes[i] % 64], lanes[i]);
    isa_assert_lanes_kept(t, 3, 1, UINT64_C(1) << lanes[i] % 64);
    isa_assert_only_changed(t, "v3");
  }
  isa_run(t, "v_readlane_b32 s7, v3, 62");
  assert_int_equal(t->w.s.u32[7], t->v[3].u32[62]);
  isa_run(t, "v_writelane_b32 v3, -5, 17");
  assert_int_equal(t->v[3].u32[17], (uint32_t)-5);
  isa_assert_lanes_kept(t, 3, 1, UINT64_C(1) << 17);
  isa_run(t, isa_has(state, ISA_PART, "v_clrexcp") ? "v_nop\nv_clrexcp" : "v_nop");
  isa_assert_only_changed(t, "");
  isa_free(t);
}

/* Of gfx942: a pair at once. */
static void test_mov_b64(void **state) {
  static const struct {
    const char *text;
    unsigned vector, scalar; /* the source, if not 0 */
    uint64_t constant;
  } moves[] = {{"v_mov_b64 v[2:3], v[4:5]", 4, 0, 0},
               {"v_mov_b64 v[2:3], s[6:7]", 0, 6, 0},
               {"v_mov_b64 v[2:3], -3", 0, 0, UINT64_C(0xfffffffffffffffd)},
               {"v_mov_b64 v[2:3], 64", 0, 0, 64}};
  const uint64_t exec = UINT64_C(0x8421f00f12345678);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    isa_reset(t, (unsigned)i);
    gs_set_exec(&t->w, exec);
    (void)isa_run(t, moves[i].text);
    isa_assert_only_changed(t, "v[2:3]");
    isa_assert_lanes_kept(t, 2, 2, exec);
    for (unsigned l = 0; l < GS_LANES; l++)
      if (exec >> l & 1)
        assert_true(isa_u64(&t->v[2], l) == (moves[i].vector   ? isa_u64(&t->v[moves[i].vector], l)
                                             : moves[i].scalar ? isa_s64(t, moves[i].scalar)
                                                               : moves[i].constant));
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_rows),
      isa_part_test_on(test_mov_b64, GS_GFX9_4),
      isa_part_test(test_carries),
      isa_wide_part_test(test_wide_mad),
      isa_wide_part_test(test_quad_sads),
      isa_wide_part_test(test_cndmask),
      isa_wide_part_test(test_swap),
      isa_wide_part_test(test_read_first_lane),
      isa_wide_part_test(test_read_write_lane),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
