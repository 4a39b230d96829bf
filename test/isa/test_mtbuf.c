/* Typed buffer data: MTBUF instructions, whose format is in the instruction, and MUBUF's *_format_*, whose
 * format is in the resource. All formats, compared with values computed from the formats' names in wider
 * arithmetic. Not here: addresses, which all buffer instructions share (test_mubuf.c). */
#include "memory_model.h"

#include <math.h>

enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, RESERVED, FLOAT, NFMTS };
enum { DFMTS = 16, TEXT = 112, ITEM = 16 };

/* Widths of the components by the vendor's names: the first is the most significant. */
static const char *const names[DFMTS] = {
    [1] = "8",        [2] = "16",           [3] = "8_8",        [4] = "32",           [5] = "16_16",
    [6] = "10_11_11", [7] = "11_11_10",     [8] = "10_10_10_2", [9] = "2_10_10_10",   [10] = "8_8_8_8",
    [11] = "32_32",   [12] = "16_16_16_16", [13] = "32_32_32",  [14] = "32_32_32_32",
};

typedef struct layout {
  unsigned count, bytes;
  unsigned width[4], at[4];
} layout_t;

/* Reads a name. Formats of whole bytes list equal components, so that the order shows only in the packed
 * ones. */
static layout_t layout_of(unsigned dfmt) {
  layout_t layout = {0};
  unsigned widths[4];
  for (const char *p = names[dfmt]; p && *p;) {
    char *end;
    widths[layout.count++] = (unsigned)strtoul(p, &end, 10);
    p = *end ? end + 1 : end;
  }
  unsigned at = 0;
  for (unsigned i = 0; i < layout.count; i++) {
    layout.width[i] = widths[layout.count - 1 - i];
    layout.at[i] = at;
    at += layout.width[i];
  }
  layout.bytes = at / 8;
  return layout;
}

/* Floats exist with 32, 16, and in the two formats for it 11 and 10 bits. */
static bool is_valid(unsigned dfmt, unsigned nfmt) {
  const layout_t layout = layout_of(dfmt);
  if (!layout.count || nfmt == RESERVED)
    return false;
  return nfmt != FLOAT || layout.width[0] % 16 == 0 || dfmt == 6 || dfmt == 7;
}

static uint32_t field(const uint8_t *item, const layout_t *layout, unsigned i) {
  uint32_t value = 0;
  for (unsigned b = 0; b < layout->width[i]; b++) {
    const unsigned at = layout->at[i] + b;
    value |= (uint32_t)(item[at / 8] >> at % 8 & 1) << b;
  }
  return value;
}

static int64_t as_signed(uint32_t value, unsigned width) {
  return value >> (width - 1) ? (int64_t)value - (INT64_C(1) << width) : (int64_t)value;
}
static int64_t highest(unsigned width) {
  return (INT64_C(1) << width) - 1;
}

/* The number that a field of a format other than integers means. */
static long double number_of(uint32_t value, unsigned nfmt, unsigned width) {
  long double x;
  switch (nfmt) {
  case UNORM: return (long double)value / (long double)highest(width);
  case SNORM:
    x = (long double)as_signed(value, width) / (long double)highest(width - 1);
    return x < -1 ? -1 : x;
  case USCALED: return value;
  case SSCALED: return (long double)as_signed(value, width);
  default: break;
  }
  if (width == 32) {
    float f;
    memcpy(&f, &value, 4);
    return f;
  }
  const unsigned mantissa_bits = width == 16 ? 10 : width - 5;
  const uint32_t mantissa = value & ((1u << mantissa_bits) - 1), exponent = value >> mantissa_bits & 31;
  const bool negative = width == 16 && value >> 15;
  if (exponent == 31)
    x = mantissa ? (long double)NAN : (long double)INFINITY;
  else if (exponent)
    x = ldexpl(1 + ldexpl(mantissa, -(int)mantissa_bits), (int)exponent - 15);
  else
    x = ldexpl(mantissa, -14 - (int)mantissa_bits);
  return negative ? -x : x;
}

/* Whether `f` is the float, or half, nearest to `x`. */
static bool is_nearest(uint32_t bits, long double x, bool d16) {
  float f, below, above;
  if (d16) {
    f = (float)number_of(bits, FLOAT, 16);
    below = (float)number_of(bits - 1, FLOAT, 16);
    above = (float)number_of(bits + 1, FLOAT, 16);
    if ((bits & 0x7fff) == 0 || isnan(above) || isinf(above))
      below = above = INFINITY;
  } else {
    memcpy(&f, &bits, 4);
    below = nextafterf(f, -INFINITY);
    above = nextafterf(f, INFINITY);
  }
  if (isnan(x))
    return isnan(f);
  if (isinf(x))
    return (long double)f == x;
  if (d16 && fabsl(x) >= 65520)
    return isinf(f) && (f > 0) == (x > 0);
  if (!signbit(f) != !signbit(x) && x != 0)
    return f == 0 && fabsl(x) < 0x1p-25L;
  const long double error = fabsl((long double)f - x);
  return error <= fabsl((long double)below - x) && error <= fabsl((long double)above - x);
}

/* Fails unless `result` is what component `sel` (4 to 7; 0 and 1 constants) of the item should give. */
static void check_component(const char *text, const uint8_t *item, unsigned dfmt, unsigned nfmt, unsigned sel,
                            uint32_t result, bool d16) {
  const layout_t layout = layout_of(dfmt);
  const bool integer = nfmt == UINT || nfmt == SINT;
  const uint32_t one = integer ? 1 : d16 ? 0x3c00 : 0x3f800000;
  uint32_t expected;
  if (sel < 4 || sel - 4 >= layout.count) {
    expected = sel == 1 || sel == 7 ? one : 0;
  } else {
    const unsigned width = layout.width[sel - 4];
    const uint32_t value = field(item, &layout, sel - 4);
    if (!integer) {
      if (!is_nearest(result, number_of(value, nfmt, width), d16))
        fail_msg("%s: field %#x of %u bits gives %#x", text, value, width, result);
      return;
    }
    expected = nfmt == UINT ? value : (uint32_t)as_signed(value, width);
    if (d16)
      expected &= 0xffff;
  }
  if (result != expected)
    fail_msg("%s: result %#x instead of %#x", text, result, expected);
}

/* ---- Running ---- */

/* Records of ITEM bytes from the start of memory, v2 the index, the resource in s[4:7]. */
static void set_resource(isa_wave_t *t, unsigned dfmt, unsigned nfmt, const unsigned sel[4],
                         uint32_t records) {
  t->w.s.u32[4] = (uint32_t)ISA_MEMORY;
  t->w.s.u32[5] = (uint32_t)(ISA_MEMORY >> 32) | ITEM << 16;
  t->w.s.u32[6] = records;
  t->w.s.u32[7] = sel[0] | sel[1] << 3 | sel[2] << 6 | sel[3] << 9 | nfmt << 12 | dfmt << 15;
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[2].u32[l] = l;
}

static const unsigned identity[4] = {4, 5, 6, 7};
static const char *const letters[4] = {"x", "xy", "xyz", "xyzw"};

static void write_text(char text[TEXT], bool typed, bool store, bool d16, unsigned n, unsigned dfmt,
                       unsigned nfmt) {
  char format[32] = "";
  const unsigned registers = d16 ? (n + 1) / 2 : n;
  char data[16];
  if (typed)
    snprintf(format, sizeof format, "dfmt:%u, nfmt:%u,", dfmt, nfmt);
  if (registers == 1)
    snprintf(data, sizeof data, "v10");
  else
    snprintf(data, sizeof data, "v[10:%u]", 9 + registers);
  snprintf(text, TEXT, "%sbuffer_%s_format_%s%s %s, v2, s[4:7], %s 0 idxen", typed ? "t" : "",
           store ? "store" : "load", d16 ? "d16_" : "", letters[n - 1], data, format);
}

static uint32_t result_of(const isa_wave_t *t, unsigned i, unsigned l, bool d16) {
  return d16 ? t->v[10 + i / 2].u32[l] >> i % 2 * 16 & 0xffff : t->v[10 + i].u32[l];
}

static void check_load(isa_wave_t *t, bool typed, bool d16, unsigned n, unsigned dfmt, unsigned nfmt,
                       const unsigned sel[4]) {
  char text[TEXT];
  const uint64_t exec = UINT64_C(0xfffffffffffffffd);
  write_text(text, typed, false, d16, n, dfmt, nfmt);
  set_resource(t, typed ? 0 : dfmt, typed ? 0 : nfmt, sel, 60);
  gs_set_exec(&t->w, exec);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; i < n && gs_bit(exec, l); i++) {
      const uint32_t result = result_of(t, i, l, d16);
      if (l >= 60 || !is_valid(dfmt, nfmt)) {
        if (!is_valid(dfmt, nfmt) || sel[i] >= 4)
          assert_int_equal(result, 0);
      } else {
        check_component(text, t->memory + ITEM * l, dfmt, nfmt, sel[i], result, d16);
      }
    }
  if (d16 && n % 2) /* the other half stays on gfx900, else it is 0 */
    for (unsigned l = 0; l < GS_LANES; l++)
      if (gs_bit(exec, l))
        assert_int_equal(t->v[10 + n / 2].u32[l] >> 16,
                         t->env.target & GS_GFX900 ? t->before.v[10 + n / 2].u32[l] >> 16 : 0);
  isa_assert_lanes_kept(t, 10, 4, exec);
  isa_assert_only_changed(t, "v[10:13]");
}

/* Runs `body` for each format and number of components. */
typedef void case_fn_t(isa_wave_t *t, bool typed, bool d16, unsigned n, unsigned dfmt, unsigned nfmt);
static void for_all(void **state, bool store, bool d16, case_fn_t *body) {
  static char texts[2 * DFMTS * NFMTS * 4][TEXT];
  static const char *pointers[2 * DFMTS * NFMTS * 4];
  const unsigned count = 2 * DFMTS * NFMTS * 4;
  for (unsigned i = 0; i < count; i++) {
    write_text(texts[i], i & 1, store, d16, (i >> 1 & 3) + 1, i >> 6, i >> 3 & 7);
    pointers[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, count);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < count; i++) {
    isa_reset(t, i % 4);
    body(t, i & 1, d16, (i >> 1 & 3) + 1, i >> 6, i >> 3 & 7);
  }
  isa_free(t);
}

static void load_case(isa_wave_t *t, bool typed, bool d16, unsigned n, unsigned dfmt, unsigned nfmt) {
  check_load(t, typed, d16, n, dfmt, nfmt, identity);
}
static void test_loads(void **state) {
  for_all(state, false, false, load_case);
}
static void test_d16_loads(void **state) {
  for_all(state, false, true, load_case);
}

/* The resource may shuffle components and ask for constants; only untyped instructions care. */
static void test_selects(void **state) {
  static const unsigned selects[][4] = {{7, 6, 5, 4}, {0, 1, 4, 4}, {1, 0, 1, 7}, {5, 4, 0, 1}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned s = 0; s < 4; s++)
    for (unsigned dfmt = 1; dfmt < 15; dfmt++)
      for (unsigned nfmt = UNORM; nfmt <= UINT; nfmt += UINT) {
        check_load(t, false, false, 4, dfmt, nfmt, selects[s]);
        check_load(t, false, true, 4, dfmt, nfmt, selects[s]);
      }
  isa_free(t);
}

/* ---- Stores ---- */

/* Values that stores are tried with. */
static const float values[] = {
    0,         -0.0f,         1,      -1,       0.5f,        -0.5f,  0.25f,         0.3333333f, 2,
    -2,        127,           127.5f, -128,     255.5f,      1000,   -1000.5f,      1e-3f,      -1e-3f,
    1e-8f,     5.9604645e-8f, 65504,  65519,    65520,       1e9f,   -1e9f,         INFINITY,   -INFINITY,
    NAN,       6.1e-5f,       3e-5f,  0.99999f, 0.49999997f, 511.5f, 512.5f,        1023.5f,    32767.5f,
    -32768.5f, 64512,         65024,  1.5f,     2.5f,        -2.5f,  3.0517578e-5f, 1.0009766f, 1.0004883f,
    1.0014648f};
enum { VALUES = sizeof values / sizeof *values };

/* To nearest, ties to even. */
static int64_t round_even(long double x) {
  const long double down = floorl(x);
  const int64_t n = (int64_t)down;
  if (x - down != 0.5L)
    return x - down > 0.5L ? n + 1 : n;
  return n % 2 == 0 ? n : n + 1;
}

/* The field that a number becomes; `integer` is it for integer formats. */
static uint32_t stored(float value, uint32_t integer, unsigned nfmt, unsigned width) {
  const int64_t all = highest(width), half = highest(width - 1);
  const long double scale = nfmt == UNORM ? (long double)all : nfmt == SNORM ? (long double)half : 1;
  const bool is_signed = nfmt == SNORM || nfmt == SSCALED || nfmt == SINT;
  const int64_t low = !is_signed ? 0 : nfmt == SNORM ? -half : -half - 1, high = is_signed ? half : all;
  if (nfmt == UINT || nfmt == SINT) {
    const int64_t n = nfmt == UINT ? (int64_t)integer : (int32_t)integer;
    return (uint32_t)(n < low ? low : n > high ? high : n) & (uint32_t)all;
  }
  if (nfmt != FLOAT) {
    if (isnan(value))
      return 0;
    const long double x = (long double)value * scale;
    return (uint32_t)(x <= (long double)low    ? low
                      : x >= (long double)high ? high
                                               : round_even(x)) &
           (uint32_t)all;
  }
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (width == 32)
    return bits;
  /* The nearest code, an even one at ties; negative ones only where there is a sign. */
  const uint32_t sign = width == 16 ? bits >> 31 << 15 : 0;
  const uint32_t infinity = width == 16 ? 0x7c00 : 31u << (width - 5);
  if (isnan(value))
    return width == 16 ? sign | 0x7e00 | (bits >> 13 & 0x1ff) : (uint32_t)all;
  if (signbit(value) && width != 16)
    return 0;
  const long double x = fabsl(value);
  if (isinf(x))
    return sign | infinity;
  uint32_t below = 0, above = infinity; /* infinity stands for what would come next */
  while (above - below > 1) {
    const uint32_t middle = (below + above) / 2;
    if (number_of(middle, FLOAT, width) <= x)
      below = middle;
    else
      above = middle;
  }
  const long double down = x - number_of(below, FLOAT, width);
  const long double up = (above == infinity ? 65536 : number_of(above, FLOAT, width)) - x;
  return sign | (down < up || (down == up && below % 2 == 0) ? below : above);
}

static uint32_t half_bits(float value) {
  return stored(value, 0, FLOAT, 16);
}

static void store_case(isa_wave_t *t, bool typed, bool d16, unsigned n, unsigned dfmt, unsigned nfmt) {
  static uint8_t memory[ISA_MEMORY_BYTES];
  char text[TEXT];
  const layout_t layout = layout_of(dfmt);
  const uint64_t exec = UINT64_C(0xfffffff7ffffffff);
  write_text(text, typed, true, d16, n, dfmt, nfmt);
  set_resource(t, typed ? 0 : dfmt, typed ? 0 : nfmt, (const unsigned[4]){0, 1, 0, 1}, 62);
  gs_set_exec(&t->w, exec);
  memcpy(memory, t->memory, sizeof memory);
  for (unsigned i = 0; i < 4; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      float value = values[(l + 17 * i) % VALUES];
      uint32_t integer = isa_u32_edges[(l * 3 + i) % isa_u32_edge_count], bits;
      if (d16) {
        const uint32_t half = half_bits(value);
        bits = nfmt == UINT || nfmt == SINT ? integer & 0xffff : half;
        integer = nfmt == SINT ? (uint32_t)(int16_t)integer : integer & 0xffff;
        value = (float)number_of(half, FLOAT, 16);
        t->v[10 + i / 2].u32[l] = i % 2 ? t->v[10 + i / 2].u32[l] | bits << 16 : bits;
      } else {
        memcpy(&bits, &value, 4);
        t->v[10 + i].u32[l] = nfmt == UINT || nfmt == SINT ? integer : bits;
      }
      if (!gs_bit(exec, l) || l >= 62 || !is_valid(dfmt, nfmt) || i >= layout.count)
        continue;
      uint32_t code = i < n ? stored(value, integer, nfmt, layout.width[i]) : 0;
      if (i < n && d16 && nfmt == FLOAT && layout.width[i] == 16)
        code = bits; /* as it is, also a NaN */
      for (unsigned b = 0; b < layout.width[i]; b++) {
        uint8_t *byte = &memory[ITEM * l + (layout.at[i] + b) / 8];
        const unsigned bit = (layout.at[i] + b) % 8;
        *byte = (uint8_t)((*byte & ~(1u << bit)) | (code >> b & 1) << bit);
      }
    }
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned i = 0; i < ITEM * GS_LANES; i++)
    if (t->memory[i] != memory[i])
      fail_msg("%s dfmt %u nfmt %u: byte %u of lane %u is %#x and should be %#x (value %g)", text, dfmt, nfmt,
               i % ITEM, i / ITEM, t->memory[i], memory[i], (double)values[i / ITEM % VALUES]);
  assert_memory_equal(t->memory, memory, sizeof memory);
  isa_assert_only_changed(t, "memory");
}
static void test_stores(void **state) {
  for_all(state, true, false, store_case);
}
static void test_d16_stores(void **state) {
  for_all(state, true, true, store_case);
}

/* ---- The rest ---- */

static void test_d16_hi(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  set_resource(t, 4, FLOAT, identity, 100);
  for (unsigned l = 0; l < GS_LANES; l++)
    memcpy(t->memory + ITEM * l, &values[l % VALUES], 4);
  assert_int_equal(isa_run(t, "buffer_load_format_d16_hi_x v10, v2, s[4:7], 0 idxen"), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(t->v[10].u32[l] & 0xffff,
                     t->env.target & GS_GFX900 ? t->before.v[10].u32[l] & 0xffff : 0);
    assert_int_equal(t->v[10].u32[l] >> 16, half_bits(values[l % VALUES]));
  }
  isa_assert_only_changed(t, "v10");
  set_resource(t, 2, UINT, identity, 100);
  assert_int_equal(isa_run(t, "buffer_store_format_d16_hi_x v11, v2, s[4:7], 0 idxen offset:8"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->memory[ITEM * l + 8] | t->memory[ITEM * l + 9] << 8, t->v[11].u32[l] >> 16);
  isa_assert_only_changed(t, "memory");
  isa_free(t);
}

static void test_status_and_lds(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  set_resource(t, 10, UINT, identity, 100);
  if (!(isa_part(state) & GS_CDNA2_4)) { /* which has no tfe */
    isa_run(t, "buffer_load_format_xy v[10:12], v2, s[4:7], 0 idxen tfe");
    for (unsigned l = 0; l < GS_LANES; l++) {
      assert_int_equal(t->v[11].u32[l], t->memory[ITEM * l + 1]);
      assert_int_equal(t->v[12].u32[l], 0);
    }
    isa_assert_only_changed(t, "v[10:12]");
  }
  t->w.s.u32[GS_S_M0] = 256;
  isa_run(t, "buffer_load_format_x v2, s[4:7], 0 idxen lds");
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t value;
    memcpy(&value, t->lds + 256 + 4 * l, 4);
    assert_int_equal(value, t->memory[ITEM * l]);
  }
  isa_assert_only_changed(t, "lds");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_loads),          isa_part_test(test_d16_loads),  isa_part_test(test_selects),
      isa_part_test(test_stores),         isa_part_test(test_d16_stores), isa_part_test(test_d16_hi),
      isa_part_test(test_status_and_lds),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
