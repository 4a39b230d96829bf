/* Packed instructions on 16-bit integers, and dot products of integers: against exact sums in 64 bits, for
 * all choices of halves, with clamp, scalar and constant operands, and partial EXEC.
 * Not here: packed floats, float dot products. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 128 };

static int64_t limited(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/* Part `i` of x, of `bits` bits, as a number. */
static int64_t part(uint32_t x, unsigned i, unsigned bits, bool is_signed) {
  const int64_t span = INT64_C(1) << bits;
  int64_t value = x;
  for (unsigned k = 0; k < i; k++)
    value /= span;
  value %= span;
  return is_signed && value >= span / 2 ? value - span : value;
}

static const uint64_t exec_masks[] = {UINT64_MAX, 0, UINT64_C(1) << 63, UINT64_C(0x0123456789abcdef)};
enum { EXEC_MASKS = sizeof exec_masks / sizeof exec_masks[0] };

/* Halves with edge values in all combinations over the passes. */
static void fill_halves(gs_row_t *r, unsigned seed) {
  static const uint16_t edges[] = {0,    1,     2,      7,      15,     16,     17,     0x7f,  0x80,
                                   0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
  enum { EDGES = sizeof edges / sizeof edges[0] };
  uint64_t state = seed;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t x = isa_random(&state);
    const uint32_t low = x % 5 ? edges[(x >> 8) % EDGES] : (uint16_t)(x >> 16);
    const uint32_t high = x % 7 ? edges[(x >> 32) % EDGES] : (uint16_t)(x >> 40);
    r->u32[l] = low | high << 16;
  }
}

/* A source as it is written, and its bits. */
typedef struct source {
  const char *text;
  int reg;  /* VGPR, or -1 */
  int sgpr; /* scalar register, or -1 */
  uint32_t value;
} source_t;

static uint32_t source_bits(const isa_wave_t *t, const source_t *s, unsigned lane) {
  return s->reg >= 0 ? t->before.v[s->reg].u32[lane] : s->sgpr >= 0 ? t->before.w.s.u32[s->sgpr] : s->value;
}

static const source_t plain_sources[3] = {{"v2", 2, -1, 0}, {"v4", 4, -1, 0}, {"v6", 6, -1, 0}};
/* Integer constants are 32-bit numbers, so that their high halves are copies of the sign. */
static const source_t uniform_sources[] = {
    {"s11", -1, 11, 0},
    {"vcc_lo", -1, GS_S_VCC, 0},
    {"5", -1, -1, 5},
    {"-3", -1, -1, 0xfffffffd},
};
enum { UNIFORM_SOURCES = sizeof uniform_sources / sizeof uniform_sources[0] };

/* ---- Packed ---- */

typedef int64_t half_t(int64_t a, int64_t b, int64_t c);
static int64_t pk_add(int64_t a, int64_t b, int64_t c) {
  (void)c;
  return a + b;
}
static int64_t pk_sub(int64_t a, int64_t b, int64_t c) {
  (void)c;
  return a - b;
}
static int64_t pk_mul(int64_t a, int64_t b, int64_t c) {
  (void)c;
  return a * b;
}
static int64_t pk_mad(int64_t a, int64_t b, int64_t c) {
  return a * b + c;
}
static int64_t pk_shl(int64_t a, int64_t b, int64_t c) {
  (void)c;
  for (unsigned i = 0; i < ((uint64_t)a & 15); i++)
    b *= 2;
  return b % 65536;
}
static int64_t pk_shr(int64_t a, int64_t b, int64_t c) {
  (void)c;
  for (unsigned i = 0; i < ((uint64_t)a & 15); i++)
    b = b < 0 ? (b - 1) / 2 : b / 2;
  return b;
}
static int64_t pk_min(int64_t a, int64_t b, int64_t c) {
  (void)c;
  return a < b ? a : b;
}
static int64_t pk_max(int64_t a, int64_t b, int64_t c) {
  (void)c;
  return a < b ? b : a;
}

typedef struct packed_row {
  const char *name;
  unsigned sources;
  bool is_signed;
  half_t *meaning;
} packed_row_t;

static const packed_row_t packed_rows[] = {
    {"v_pk_add_u16", 2, false, pk_add},     {"v_pk_add_i16", 2, true, pk_add},
    {"v_pk_sub_u16", 2, false, pk_sub},     {"v_pk_sub_i16", 2, true, pk_sub},
    {"v_pk_mul_lo_u16", 2, false, pk_mul},  {"v_pk_mad_u16", 3, false, pk_mad},
    {"v_pk_mad_i16", 3, true, pk_mad},      {"v_pk_lshlrev_b16", 2, false, pk_shl},
    {"v_pk_lshrrev_b16", 2, false, pk_shr}, {"v_pk_ashrrev_i16", 2, true, pk_shr},
    {"v_pk_min_u16", 2, false, pk_min},     {"v_pk_min_i16", 2, true, pk_min},
    {"v_pk_max_u16", 2, false, pk_max},     {"v_pk_max_i16", 2, true, pk_max},
};
enum { PACKED_ROWS = sizeof packed_rows / sizeof packed_rows[0] };

/* One way to write an instruction with up to three sources. */
typedef struct writing {
  source_t source[3];
  unsigned op_sel, op_sel_hi; /* bit i: source i */
  bool clamp;
} writing_t;

static void print_bits(char *text, size_t size, const char *name, unsigned bits, unsigned count) {
  size_t at = (size_t)snprintf(text, size, " %s:[%u", name, bits & 1);
  for (unsigned i = 1; i < count; i++)
    at += (size_t)snprintf(text + at, size - at, ",%u", bits >> i & 1);
  (void)snprintf(text + at, size - at, "]");
}

static void print_writing(const char *name, const writing_t *how, unsigned sources, unsigned selectable,
                          char text[TEXT_BYTES]) {
  char sel[24] = "", sel_hi[24] = "";
  if (selectable) {
    print_bits(sel, sizeof sel, "op_sel", how->op_sel, selectable);
    print_bits(sel_hi, sizeof sel_hi, "op_sel_hi", how->op_sel_hi, selectable);
  }
  (void)snprintf(text, TEXT_BYTES, "%s v0, %s, %s%s%s%s%s%s", name, how->source[0].text, how->source[1].text,
                 sources > 2 ? ", " : "", sources > 2 ? how->source[2].text : "", sel, sel_hi,
                 how->clamp ? " clamp" : "");
}

/* Half `i` of source `s` as the instruction sees it. */
static int64_t selected(const isa_wave_t *t, const writing_t *how, unsigned s, unsigned i, unsigned lane,
                        bool is_signed) {
  const unsigned sel = (i ? how->op_sel_hi : how->op_sel) >> s & 1;
  return part(source_bits(t, &how->source[s], lane), sel, 16, is_signed);
}

static void check_packed(const isa_wave_t *t, const packed_row_t *row, const writing_t *how,
                         const char *text) {
  const uint64_t exec = gs_exec(&t->before.w);
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t expected = 0;
    for (unsigned i = 0; i < 2; i++) {
      int64_t x[3] = {0};
      for (unsigned s = 0; s < row->sources; s++)
        x[s] = selected(t, how, s, i, l, row->is_signed);
      int64_t exact = row->meaning(x[0], x[1], x[2]);
      if (how->clamp)
        exact = row->is_signed ? limited(exact, -32768, 32767) : limited(exact, 0, 65535);
      expected |= (uint32_t)(uint16_t)exact << (16 * i);
    }
    if ((exec >> l & 1) && t->v[0].u32[l] != expected)
      fail_msg("%s, lane %u: 0x%x, not 0x%x", text, l, t->v[0].u32[l], expected);
  }
  isa_assert_lanes_kept(t, 0, 1, exec);
  isa_assert_only_changed(t, "v0");
}

/* The n-th writing: all selections, then uniform sources. Returns whether there is one. */
static bool get_writing(unsigned n, unsigned sources, writing_t *how) {
  *how = (writing_t){.source = {plain_sources[0], plain_sources[1], plain_sources[2]}, .op_sel_hi = 7};
  const unsigned selections = 1u << (2 * sources);
  how->clamp = n % 2;
  n /= 2;
  if (n < selections) {
    how->op_sel = n & ((1u << sources) - 1);
    how->op_sel_hi = n >> sources;
    return true;
  }
  n -= selections;
  if (n >= sources * UNIFORM_SOURCES * 2)
    return false;
  how->source[n % sources] = uniform_sources[n / sources % UNIFORM_SOURCES];
  if (n / sources / UNIFORM_SOURCES)
    how->op_sel_hi = 0;
  return true;
}
enum { MOST_WRITINGS = 2 * (64 + 3 * UNIFORM_SOURCES * 2) };

static void prepare_packed(void **state) {
  static char texts[PACKED_ROWS * MOST_WRITINGS][TEXT_BYTES];
  static const char *list[PACKED_ROWS * MOST_WRITINGS];
  size_t count = 0;
  writing_t how;
  for (unsigned r = 0; r < PACKED_ROWS; r++)
    for (unsigned n = 0; get_writing(n, packed_rows[r].sources, &how); n++) {
      print_writing(packed_rows[r].name, &how, packed_rows[r].sources, packed_rows[r].sources, texts[count]);
      list[count] = texts[count];
      count++;
    }
  isa_prepare(state, ISA_PART, list, sizeof list[0], count);
}

static void test_packed(void **state) {
  prepare_packed(state);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned r = 0; r < PACKED_ROWS; r++) {
    writing_t how;
    for (unsigned n = 0; get_writing(n, packed_rows[r].sources, &how); n++) {
      char text[TEXT_BYTES];
      print_writing(packed_rows[r].name, &how, packed_rows[r].sources, packed_rows[r].sources, text);
      for (unsigned pass = 0; pass < 8; pass++) {
        for (unsigned s = 2; s <= 6; s += 2)
          fill_halves(&t->v[s], 100 * pass + 10 * n + s);
        gs_set_exec(&t->w, exec_masks[pass % EXEC_MASKS]);
        isa_run(t, text);
        check_packed(t, &packed_rows[r], &how, text);
      }
    }
  }
  isa_free(t);
}

/* Float constants, which the assembler does not accept here, are single precision numbers of 32 bits. */
static void test_packed_float_constant(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  size_t count;
  const uint32_t *words = isa_assemble(state, ISA_PART, "v_pk_add_u16 v0, 5, v4", &count);
  assert_int_equal(count, 2);
  const uint32_t patched[2] = {words[0], (words[1] & ~0x1ffu) | 242 /* 1.0 */};
  isa_run_words(t, patched, 2);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t x = t->v[4].u32[l];
    assert_int_equal(t->v[0].u32[l], (x & 0xffff) | (((x >> 16) + 0x3f80) & 0xffff) << 16);
  }
  isa_free(t);
}

/* ---- Dot products ---- */

typedef struct dot_row {
  const char *name;
  unsigned bits; /* of a part */
  bool is_signed;
  bool accumulates; /* into its destination, which is no separate source */
} dot_row_t;

static const dot_row_t dot_rows[] = {
    {"v_dot2_i32_i16", 16, true, false}, {"v_dot2_u32_u16", 16, false, false},
    {"v_dot4_i32_i8", 8, true, false},   {"v_dot4_u32_u8", 8, false, false},
    {"v_dot8_i32_i4", 4, true, false},   {"v_dot8_u32_u4", 4, false, false},
    {"v_dot2c_i32_i16", 16, true, true}, {"v_dot4c_i32_i8", 8, true, true},
    {"v_dot8c_i32_i4", 4, true, true},
};
enum { DOT_ROWS = sizeof dot_rows / sizeof dot_rows[0] };

static void check_dot(const isa_wave_t *t, const dot_row_t *row, const writing_t *how, const char *text) {
  const uint64_t exec = gs_exec(&t->before.w);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t c = row->accumulates ? t->before.v[0].u32[l] : source_bits(t, &how->source[2], l);
    int64_t exact = row->is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    for (unsigned i = 0; i < 32 / row->bits; i++) {
      if (row->bits == 16)
        exact += selected(t, how, 0, i, l, row->is_signed) * selected(t, how, 1, i, l, row->is_signed);
      else
        exact += part(source_bits(t, &how->source[0], l), i, row->bits, row->is_signed) *
                 part(source_bits(t, &how->source[1], l), i, row->bits, row->is_signed);
    }
    if (how->clamp)
      exact = row->is_signed ? limited(exact, INT32_MIN, INT32_MAX) : limited(exact, 0, UINT32_MAX);
    if ((exec >> l & 1) && t->v[0].u32[l] != (uint32_t)exact)
      fail_msg("%s, lane %u: 0x%x, not 0x%llx", text, l, t->v[0].u32[l], (unsigned long long)exact);
  }
  isa_assert_lanes_kept(t, 0, 1, exec);
  isa_assert_only_changed(t, "v0");
}

static void run_dot(isa_wave_t *t, const dot_row_t *row, const writing_t *how, const char *text) {
  for (unsigned pass = 0; pass < 12; pass++) {
    fill_halves(&t->v[2], 3 * pass + 1);
    fill_halves(&t->v[4], 3 * pass + 2);
    for (unsigned l = 0; l < GS_LANES; l += 5) /* the largest products */
      t->v[2].u32[l] = t->v[4].u32[l] = l % 2 ? 0x80008000u : l % 3 ? 0x88888888u : 0xffffffffu;
    isa_fill32(&t->v[row->accumulates ? 0 : 6], isa_u32_edges, isa_u32_edge_count, 1, 5 * pass);
    gs_set_exec(&t->w, exec_masks[pass % EXEC_MASKS]);
    isa_run(t, text);
    check_dot(t, row, how, text);
  }
}

/* Writings of a dot product: selections for 16-bit parts only, where LLVM has them (not on gfx942). */
static bool get_dot_writing(const dot_row_t *row, bool selects, unsigned n, writing_t *how,
                            char text[TEXT_BYTES]) {
  *how = (writing_t){.source = {plain_sources[0], plain_sources[1], plain_sources[2]}, .op_sel_hi = 7};
  how->clamp = n % 2;
  n /= 2;
  if (row->accumulates) {
    if (n > 1)
      return false;
    if (n == 1)
      how->source[0] = uniform_sources[0];
    (void)snprintf(text, TEXT_BYTES, "%s%s v0, %s, v4%s", row->name, how->clamp || n % 2 ? "_e64" : "_e32",
                   how->source[0].text, how->clamp ? " clamp" : "");
    return true;
  }
  const unsigned selections = row->bits == 16 && selects ? 16 : 1;
  if (n < selections && selections > 1) {
    how->op_sel = n & 3;
    how->op_sel_hi = (n >> 2) | 4;
  } else if (n >= selections) {
    n -= selections;
    if (n >= 3 * UNIFORM_SOURCES)
      return false;
    how->source[n % 3] = uniform_sources[n / 3];
  }
  print_writing(row->name, how, 3, row->bits == 16 && selects ? 3 : 0, text);
  return true;
}

static void test_dots(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  static char texts[DOT_ROWS * 100][TEXT_BYTES];
  static const char *list[DOT_ROWS * 100];
  size_t count = 0;
  writing_t how;
  char text[TEXT_BYTES];
  for (unsigned r = 0; r < DOT_ROWS; r++)
    for (unsigned n = 0; isa_has(state, ISA_PART, dot_rows[r].name); n++) {
      if (!get_dot_writing(&dot_rows[r], !(isa_part(state) & GS_GFX9_4), n, &how, texts[count]))
        break;
      list[count] = texts[count];
      count++;
    }
  isa_prepare(state, ISA_PART, list, sizeof list[0], count);
  for (unsigned r = 0; r < DOT_ROWS; r++)
    for (unsigned n = 0; isa_has(state, ISA_PART, dot_rows[r].name); n++) {
      if (!get_dot_writing(&dot_rows[r], !(isa_part(state) & GS_GFX9_4), n, &how, text))
        break;
      run_dot(t, &dot_rows[r], &how, text);
    }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_packed),
      isa_wide_part_test(test_packed_float_constant),
      isa_part_test_on(test_dots, GS_GFX906_UP),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
