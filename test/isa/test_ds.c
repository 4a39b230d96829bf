/* DS instructions but atomics: loads and stores of every width compared with a model that goes byte by byte,
 * bounds of LDS, lane counters, exchanges between lanes, the LDS_DIRECT operand, and what must fault. Not
 * here: atomics (test_atomics.c). */
#include "memory_model.h"

typedef struct row {
  const char *name;
  unsigned bytes; /* of one item */
  unsigned scale; /* 0: one item, a byte offset; else two items, offsets in units of it */
  bool store;
  bool is_signed;
  int half; /* -1, or which half of the register */
} row_t;

static const row_t rows[] = {
    {"ds_read_b32", 4, 0, false, false, -1},      {"ds_read_b64", 8, 0, false, false, -1},
    {"ds_read_b96", 12, 0, false, false, -1},     {"ds_read_b128", 16, 0, false, false, -1},
    {"ds_read_u8", 1, 0, false, false, -1},       {"ds_read_i8", 1, 0, false, true, -1},
    {"ds_read_u16", 2, 0, false, false, -1},      {"ds_read_i16", 2, 0, false, true, -1},
    {"ds_read_u8_d16", 1, 0, false, false, 0},    {"ds_read_u8_d16_hi", 1, 0, false, false, 1},
    {"ds_read_i8_d16", 1, 0, false, true, 0},     {"ds_read_i8_d16_hi", 1, 0, false, true, 1},
    {"ds_read_u16_d16", 2, 0, false, false, 0},   {"ds_read_u16_d16_hi", 2, 0, false, false, 1},
    {"ds_read2_b32", 4, 4, false, false, -1},     {"ds_read2st64_b32", 4, 256, false, false, -1},
    {"ds_read2_b64", 8, 8, false, false, -1},     {"ds_read2st64_b64", 8, 512, false, false, -1},
    {"ds_write_b32", 4, 0, true, false, 0},       {"ds_write_b64", 8, 0, true, false, 0},
    {"ds_write_b96", 12, 0, true, false, 0},      {"ds_write_b128", 16, 0, true, false, 0},
    {"ds_write_b8", 1, 0, true, false, 0},        {"ds_write_b16", 2, 0, true, false, 0},
    {"ds_write_b8_d16_hi", 1, 0, true, false, 1}, {"ds_write_b16_d16_hi", 2, 0, true, false, 1},
    {"ds_write2_b32", 4, 4, true, false, 0},      {"ds_write2st64_b32", 4, 256, true, false, 0},
    {"ds_write2_b64", 8, 8, true, false, 0},      {"ds_write2st64_b64", 8, 512, true, false, 0},
};
enum { ROWS = sizeof rows / sizeof *rows, OFFSETS = 4, TEXT = 96 };

/* Narrow waves have the lower half of a mask, and the upper one is none of their business: it stays set. */
static uint64_t lanes_mask(const isa_wave_t *t) {
  return UINT64_MAX >> (GS_LANES - gs_target_lanes(t->env.target));
}
static uint64_t set_exec(isa_wave_t *t, uint64_t mask) {
  gs_set_exec(&t->w, mask | ~lanes_mask(t));
  return mask & lanes_mask(t);
}
static uint64_t exec_of(const isa_wave_t *t) {
  return gs_exec(&t->w) & lanes_mask(t);
}

static const unsigned offsets[OFFSETS][2] = {{0, 1}, {40, 2}, {255, 0}, {3, 3}};

/* Data in v[10:13] and, the second item's, v[14:15]. */
static void write_text(char text[TEXT], const row_t *row, unsigned offset, bool acc) {
  static const char *const first[2][4] = {{"v10", "v[10:11]", "v[10:12]", "v[10:13]"},
                                          {"a10", "a[10:11]", "a[10:12]", "a[10:13]"}};
  static const char *const second[2][2] = {{", v14", ", v[14:15]"}, {", a14", ", a[14:15]"}};
  const bool two = row->scale != 0;
  const unsigned dwords = (row->bytes + 3) / 4 * (two && !row->store ? 2 : 1);
  char place[48];
  if (two)
    snprintf(place, sizeof place, "offset0:%u offset1:%u", offsets[offset][0], offsets[offset][1]);
  else
    snprintf(place, sizeof place, "offset:%u", offsets[offset][0] * 257);
  if (row->store)
    snprintf(text, TEXT, "%s v2, %s%s %s", row->name, first[acc][dwords - 1],
             two ? second[acc][row->bytes / 4 - 1] : "", place);
  else
    snprintf(text, TEXT, "%s %s, v2 %s", row->name, first[acc][dwords - 1], place);
}

/* Item `k` of a lane. */
static model_lane_t item(const row_t *row, uint32_t address, unsigned offset, unsigned k) {
  const uint32_t distance = row->scale ? offsets[offset][k] * row->scale : offsets[offset][0] * 257;
  return (model_lane_t){SPACE_SHARED, address + distance};
}

static uint32_t loaded(const isa_wave_t *t, model_t *m, const row_t *row, model_lane_t lane, unsigned i,
                       uint32_t old) {
  const unsigned count = row->bytes < 4 ? row->bytes : 4;
  uint32_t value = (uint32_t)model_get(m, lane, 0, row->bytes, 4 * i, count);
  if (row->is_signed && value >> (8 * count - 1))
    value |= count == 1 ? 0xffffff00 : 0xffff0000;
  return row->half < 0 ? value : model_half(t, row->half, value, old);
}

static void check(model_bench_t *b, const row_t *row, unsigned offset, const char *text, bool acc) {
  isa_wave_t *t = b->t;
  const uint64_t exec = exec_of(t);
  const unsigned items = row->scale ? 2 : 1, dwords = (row->bytes + 3) / 4, data = acc ? 266 : 10;
  const unsigned part = row->bytes < 4 ? row->bytes : 4;
  /* Gfx9 stores once where both are the same. */
  const bool is_one = offsets[offset][0] == offsets[offset][1] && t->env.target & GS_GFX9;
  bench_sync(b);
  for (unsigned k = 0; row->store && k < (is_one ? 1 : items); k++)
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < dwords; i++)
        if (gs_bit(exec, l))
          model_put(b->model, item(row, t->v[2].u32[l], offset, k), l, row->bytes, 4 * i, part,
                    t->v[data + 4 * k + i].u32[l] >> (row->half == 1 ? 16 : 0));
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  bench_compare(b, text);
  for (unsigned r = 0; !row->store && r < items * dwords; r++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t old = t->before.v[data + r].u32[l];
      const model_lane_t lane = item(row, t->before.v[2].u32[l], offset, r / dwords);
      const uint32_t expected = gs_bit(exec, l) ? loaded(t, b->model, row, lane, r % dwords, old) : old;
      if (t->v[data + r].u32[l] != expected)
        fail_msg("%s: register %u lane %u of exec %#llx (at %#x) is %#x and should be %#x", text, r, l,
                 (unsigned long long)exec, lane.start, t->v[data + r].u32[l], expected);
    }
  isa_assert_only_changed(t, row->store ? "lds" : acc ? "a[10:13]" : "v[10:13]");
}

static void run_rows(void **state, gs_target_t target, bool acc) {
  static char texts[ROWS * OFFSETS][TEXT];
  static const char *pointers[ROWS * OFFSETS];
  for (unsigned i = 0; i < ROWS * OFFSETS; i++) {
    write_text(texts[i], &rows[i / OFFSETS], i % OFFSETS, acc);
    pointers[i] = texts[i];
  }
  isa_prepare(state, target, pointers, sizeof *pointers, ROWS * OFFSETS);
  model_bench_t b = bench_new(state, target);
  for (unsigned i = 0; i < ROWS * OFFSETS; i++)
    for (unsigned layout = 0; layout < LAYOUTS + 2; layout++)
      for (unsigned mask = 0; mask < MODEL_MASKS; mask++) {
        const row_t *row = &rows[i / OFFSETS];
        isa_reset(b.t, 1 + mask);
        /* Two more layouts have lanes beyond the end of LDS, and addresses that wrap around. */
        b.t->env.lds_bytes = layout == LAYOUTS ? 2048 + 4 : ISA_LDS_BYTES;
        for (unsigned l = 0; l < GS_LANES; l++)
          b.t->v[2].u32[l] = layout > LAYOUTS
                                 ? -(uint32_t)(isa_random(&b.seed) % 64)
                                 : model_start((model_layout_t)(layout < LAYOUTS ? layout : LAYOUT_ANY), l,
                                               row->bytes, 2048 + 8, &b.seed);
        (void)set_exec(b.t, model_masks[mask]);
        check(&b, row, i % OFFSETS, texts[i], acc);
      }
  bench_free(&b);
}

static void test_loads_and_stores(void **state) {
  run_rows(state, ISA_PART, false);
}
static void test_accumulation_registers(void **state) {
  run_rows(state, GS_GFX90A, true);
}

/* A workgroup without LDS. */
static void test_no_lds(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  b.t->env.lds_bytes = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    b.t->v[2].u32[l] = 0;
  isa_run(b.t, "ds_read_b64 v[10:11], v2");
  for (unsigned l = 0; l < gs_target_lanes(b.t->env.target); l++)
    assert_true(isa_u64(&b.t->v[10], l) == 0);
  isa_run(b.t, "ds_write_b128 v2, v[4:7]\nds_add_u32 v2, v3\nds_append v12");
  isa_assert_only_changed(b.t, "v12");
  assert_int_equal(b.t->v[12].u32[9], 0);
  bench_free(&b);
}

static void test_addtid(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  const uint64_t exec = set_exec(t, UINT64_C(0xfffffffffffffff5));
  const unsigned inside = gs_target_lanes(t->env.target) - 2; /* lanes from there on are beyond */
  t->env.lds_bytes = 752 + 4 * inside;
  t->w.s.u32[GS_S_M0] = 0x12340000 | 740;
  assert_int_equal(isa_run(t, "ds_read_addtid_b32 v3 offset:12"), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t expected = 0;
    if (l < inside)
      memcpy(&expected, t->lds + 752 + 4 * l, 4);
    if (gs_bit(exec, l))
      assert_int_equal(t->v[3].u32[l], expected);
  }
  isa_assert_lanes_kept(t, 3, 1, exec);
  isa_assert_only_changed(t, "v3");
  bench_sync(&b);
  for (unsigned l = 0; l < inside; l++)
    if (gs_bit(exec, l))
      memcpy(b.model->lds + 752 + 4 * l, &t->v[5].u32[l], 4);
  assert_int_equal(isa_run(t, "ds_write_addtid_b32 v5 offset:12"), GS_WAVE_RUNNING);
  bench_compare(&b, "ds_write_addtid_b32");
  isa_assert_only_changed(t, "lds");
  bench_free(&b);
}

/* Active lanes count up and down together. */
static void test_append_consume(void **state) {
  static const uint64_t masks[] = {UINT64_MAX, 1, UINT64_C(0x8000000000000007), 0};
  for (unsigned i = 0; i < 8; i++) {
    model_bench_t b = bench_new(state, ISA_PART);
    isa_wave_t *t = b.t;
    const uint64_t exec = set_exec(t, masks[i / 2]);
    const bool append = i % 2 == 0;
    uint32_t old, next;
    memcpy(&old, t->lds + 0x208, 4);
    t->w.s.u32[GS_S_M0] = 0x55550200;
    isa_run(t, append ? "ds_append v3 offset:8" : "ds_consume v3 offset:8");
    memcpy(&next, t->lds + 0x208, 4);
    uint32_t lanes = 0;
    for (unsigned l = 0; l < GS_LANES; l++)
      lanes += gs_bit(exec, l);
    assert_int_equal(next, append ? old + lanes : old - lanes);
    for (unsigned l = 0; l < GS_LANES; l++)
      assert_int_equal(t->v[3].u32[l], gs_bit(exec, l) ? old : t->before.v[3].u32[l]);
    isa_assert_only_changed(t, exec ? "v3 lds" : "");
    bench_free(&b);
  }
}

/* Where counters are: M0's low half and the offset, at a multiple of 4; beyond LDS they read 0. */
static void test_counter_bounds(void **state) {
  static const struct {
    const char *offset;
    uint32_t m0, at;
  } cases[] = {{"0", 508, 508},     {"0", 0xffff0000, 0},  {"3", 0x1f9, 508},  {"508", 0, 508},
               {"0", 512, 512},     {"4", 508, 512},       {"0", 0xfffc, 512}, {"65535", 0, 512},
               {"65535", 5, 65540}, {"65535", 0xffff, 512}};
  for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    model_bench_t b = bench_new(state, ISA_PART);
    isa_wave_t *t = b.t;
    const bool append = i % 2 == 0, inside = cases[i / 2].at < 512;
    const unsigned lanes = gs_target_lanes(t->env.target);
    char text[TEXT];
    t->env.lds_bytes = 512;
    t->w.s.u32[GS_S_M0] = cases[i / 2].m0;
    snprintf(text, sizeof text, "%s v3 offset:%s", append ? "ds_append" : "ds_consume", cases[i / 2].offset);
    bench_sync(&b);
    uint32_t old = 0;
    if (inside) {
      const model_lane_t counter = {SPACE_SHARED, cases[i / 2].at};
      old = (uint32_t)model_get(b.model, counter, 0, 4, 0, 4);
      model_put(b.model, counter, 0, 4, 0, 4, append ? old + lanes : old - lanes);
    }
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    bench_compare(&b, text);
    for (unsigned l = 0; l < lanes; l++)
      assert_int_equal(t->v[3].u32[l], old);
    isa_assert_only_changed(t, "v3 lds");
    bench_free(&b);
  }
}

/* ---- Between lanes ---- */

/* The lane that lane `l` names. gfx9 goes through all 64; later families through each 32 by themselves. */
static unsigned permuted(const isa_wave_t *t, unsigned l, uint32_t address) {
  const unsigned group = t->env.target & GS_GFX9 ? 64 : 32;
  return l / group * group + (address >> 2) % group;
}

static void check_bpermute(const isa_wave_t *t, unsigned dst, uint32_t offset, uint64_t exec) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned from = permuted(t, l, t->v[2].u32[l] + offset);
    const uint32_t value = exec >> from & 1 ? t->before.v[5].u32[from] : 0;
    assert_int_equal(t->v[dst].u32[l], exec >> l & 1 ? value : t->before.v[dst].u32[l]);
  }
}

static void check_permute(const isa_wave_t *t, unsigned dst, uint32_t offset, uint64_t exec) {
  for (unsigned to = 0; to < GS_LANES; to++) {
    uint32_t value = 0;
    for (unsigned l = 0; l < GS_LANES; l++) /* the last writer wins */
      if (exec >> l & 1 && permuted(t, l, t->v[2].u32[l] + offset) == to)
        value = t->v[5].u32[l];
    assert_int_equal(t->v[dst].u32[to], exec >> to & 1 ? value : t->before.v[dst].u32[to]);
  }
}

static void test_permute(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 1;
  for (unsigned mask = 0; mask < MODEL_MASKS; mask++) {
    const uint64_t exec = set_exec(t, model_masks[mask]);
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[2].u32[l] = (uint32_t)isa_random(&seed); /* high bits and bits 1:0 must not matter */
    assert_int_equal(isa_run(t, "ds_bpermute_b32 v10, v2, v5 offset:20"), GS_WAVE_RUNNING);
    check_bpermute(t, 10, 20, exec);
    isa_assert_only_changed(t, "v10");
    assert_int_equal(isa_run(t, "ds_permute_b32 v11, v2, v5 offset:8"), GS_WAVE_RUNNING);
    check_permute(t, 11, 8, exec);
    isa_assert_only_changed(t, "v11");
    /* In place. */
    assert_int_equal(isa_run(t, "ds_bpermute_b32 v5, v2, v5"), GS_WAVE_RUNNING);
    check_bpermute(t, 5, 0, exec);
  }
  isa_free(t);
}

/* Swizzles as the assembler names them, with the lane that lane `l` should read. */
static unsigned quad(unsigned l) {
  static const unsigned from[4] = {3, 0, 0, 2};
  return l / 4 * 4 + from[l % 4];
}
static unsigned broadcast8(unsigned l) {
  return l / 8 * 8 + 5;
}
static unsigned reverse16(unsigned l) {
  return l / 16 * 16 + 15 - l % 16;
}
static unsigned swap4(unsigned l) {
  return l / 8 * 8 + (l % 8 + 4) % 8;
}
static unsigned bits_01pip(unsigned l) { /* "01pip": set 0, set 1, keep, invert, keep */
  return l / 32 * 32 + 8 + (l & 4) + (2 - (l & 2)) + (l & 1);
}
static unsigned rotate_left7(unsigned l) {
  return l / 32 * 32 + (l % 32 + 7) % 32;
}
static unsigned rotate_right3(unsigned l) {
  return l / 32 * 32 + (l % 32 + 29) % 32;
}
static unsigned rotate_masked(unsigned l) { /* rotate by 8 among lanes that agree in bits 2:0 */
  return l / 32 * 32 + l % 8 + (l % 32 / 8 + 1) % 4 * 8;
}
/* The tables of the vendor's documentation, counted from 1 there. */
static unsigned fft00(unsigned l) {
  static const unsigned table[32] = {0x1,  0x11, 0x9,  0x19, 0x5,  0x15, 0xd,  0x1d, 0x3,  0x13, 0xb,
                                     0x1b, 0x7,  0x17, 0xf,  0x1f, 0x2,  0x12, 0xa,  0x1a, 0x6,  0x16,
                                     0xe,  0x1e, 0x4,  0x14, 0xc,  0x1c, 0x8,  0x18, 0x10, 0x20};
  return l / 32 * 32 + table[l % 32] - 1;
}
static unsigned fft10(unsigned l) {
  static const unsigned table[32] = {0x1,  0x9,  0x5,  0xd,  0x3,  0xb,  0x7,  0xf,  0x2,  0xa,  0x6,
                                     0xe,  0x4,  0xc,  0x8,  0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b,
                                     0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20};
  return l / 32 * 32 + table[l % 32] - 1;
}
static unsigned same(unsigned l) {
  return l;
}

static void test_swizzle(void **state) {
  static const struct {
    const char *offset;
    unsigned (*from)(unsigned lane);
  } cases[] = {
      {"swizzle(QUAD_PERM, 3, 0, 0, 2)", quad},
      {"swizzle(BROADCAST, 8, 5)", broadcast8},
      {"swizzle(REVERSE, 16)", reverse16},
      {"swizzle(SWAP, 4)", swap4},
      {"swizzle(BITMASK_PERM, \"01pip\")", bits_01pip},
      {"0xc0e0", rotate_left7},
      {"0xc460", rotate_right3},
      {"0xc107", rotate_masked},
      {"0xe000", fft00},
      {"0xe010", fft10},
      {"0xe01f", same},
      {"0x1f", same},
  };
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
    for (unsigned mask = 0; mask < MODEL_MASKS; mask++) {
      char text[TEXT];
      const uint64_t exec = set_exec(t, model_masks[mask]);
      snprintf(text, sizeof text, "ds_swizzle_b32 v10, v5 offset:%s", cases[i].offset);
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const unsigned from = cases[i].from(l);
        const uint32_t value = exec >> from & 1 ? t->v[5].u32[from] : 0;
        if (t->v[10].u32[l] != (exec >> l & 1 ? value : t->before.v[10].u32[l]))
          fail_msg("%s: lane %u should read lane %u", text, l, from);
      }
      isa_assert_only_changed(t, "v10");
    }
  isa_free(t);
}

/* The lane of a group of 32 that an offset names for lane `l`, bit by bit for masks and step by step for
 * rotations. */
static unsigned named_lane(unsigned offset, unsigned l) {
  unsigned from = 0;
  if (offset >= 0xc000) {
    const unsigned fixed = offset % 32;
    unsigned k = l;
    for (unsigned count = offset >> 5 & 31; count; count--)
      k = (offset >> 10 & 1 ? k + 31 : k + 1) % 32;
    for (unsigned bit = 1; bit < 32; bit *= 2)
      from += (fixed & bit ? l : k) & bit;
    return from;
  }
  if (offset >= 0x8000) {
    static const unsigned shift[4] = {0, 2, 4, 6};
    return l - l % 4 + (offset >> shift[l % 4]) % 4;
  }
  for (unsigned bit = 0; bit < 5; bit++) {
    unsigned value = offset >> bit & 1 ? l >> bit & 1 : 0;
    if (offset >> (5 + bit) & 1)
      value = 1;
    if (offset >> (10 + bit) & 1)
      value = 1 - value;
    from += value << bit;
  }
  return from;
}

/* Many offsets of each mode. */
static void test_swizzle_offsets(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  size_t count;
  const uint32_t *const good = isa_assemble(state, ISA_PART, "ds_swizzle_b32 v10, v5", &count);
  assert_int_equal(count, 2);
  for (unsigned offset = 0; offset < 0xe000; offset += 67) {
    const uint64_t exec = set_exec(t, model_masks[offset % (MODEL_MASKS - 1)]);
    const uint32_t words[2] = {good[0] | offset, good[1]};
    assert_int_equal(isa_run_words(t, words, 2), GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const unsigned from = l / 32 * 32 + named_lane(offset, l % 32);
      const uint32_t value = exec >> from & 1 ? t->v[5].u32[from] : 0;
      if (t->v[10].u32[l] != (exec >> l & 1 ? value : t->before.v[10].u32[l]))
        fail_msg("ds_swizzle_b32 offset:%#x: lane %u should read lane %u", offset, l, from);
    }
    isa_assert_only_changed(t, "v10");
  }
  isa_free(t);
}

/* ---- LDS as an operand, before gfx90a ---- */

static void test_lds_direct(void **state) {
  static const struct {
    unsigned type, bytes;
    bool is_signed;
  } types[] = {{0, 1, false}, {1, 2, false}, {2, 4, false}, {4, 1, true}, {5, 2, true}};
  if ((isa_part(state) & GS_CDNA2_4))
    return;
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
    for (unsigned offset = 0; offset < 64; offset += 4) {
      t->w.s.u32[GS_S_M0] = types[i].type << 16 | offset;
      assert_int_equal(isa_run(t, "v_mov_b32 v7, src_lds_direct"), GS_WAVE_RUNNING);
      int64_t value = 0;
      for (unsigned k = 0; k < types[i].bytes; k++)
        value += (int64_t)t->lds[offset + k] << 8 * k;
      if (types[i].is_signed && t->lds[offset + types[i].bytes - 1] >= 128)
        value -= INT64_C(1) << 8 * types[i].bytes;
      for (unsigned l = 0; l < gs_target_lanes(t->env.target); l++)
        assert_int_equal(t->v[7].u32[l], (uint32_t)value);
    }
  t->env.lds_bytes = 30;
  t->w.s.u32[GS_S_M0] = 2 << 16 | 28;
  assert_int_equal(isa_run(t, "v_mov_b32 v7, src_lds_direct"), GS_WAVE_RUNNING);
  assert_int_equal(t->v[7].u32[gs_target_lanes(t->env.target) - 1], 0);
  isa_free(t);
}

/* ---- Global wave sync ---- */

/* A wave that finds nothing in a semaphore stays at the instruction, and has its turn again. */
static void test_gws_semaphores(void **state) {
  gs_gws_t gws = {0};
  if (!isa_has(state, ISA_PART, "ds_gws_sema_p gds"))
    return;
  isa_wave_t *t = isa_new(state, ISA_PART);
  t->env.gws = &gws;
  t->w.s.u32[GS_S_M0] = 3 << 16;
  t->v[0].u32[0] = 1;
  t->v[2].u32[0] = 2; /* some parts take even registers only */
  assert_int_equal(isa_run(t, "ds_gws_init v0 offset:2 gds"), GS_WAVE_RUNNING);
  assert_int_equal(gws.barrier[5], 1);
  assert_int_equal(isa_run(t, "ds_gws_sema_p offset:2 gds"), GS_WAVE_RUNNING);
  assert_int_equal(isa_run(t, "ds_gws_sema_p offset:2 gds"), GS_WAVE_YIELDED);
  assert_true(t->w.pc == ISA_CODE);
  assert_int_equal(isa_run(t, "ds_gws_sema_v offset:2 gds"), GS_WAVE_RUNNING);
  assert_int_equal(isa_run(t, "ds_gws_sema_br v2 offset:2 gds"), GS_WAVE_RUNNING);
  for (int i = 0; i < 3; i++)
    assert_int_equal(isa_run(t, "ds_gws_sema_p offset:2 gds"), GS_WAVE_RUNNING);
  assert_int_equal(isa_run(t, "ds_gws_sema_p offset:2 gds"), GS_WAVE_YIELDED);
  isa_free(t);
}

/* ---- What these devices do not have ---- */

static void test_absent(void **state) {
  static const char *const texts[] = {
      "ds_gws_init v0 gds",
      "ds_gws_sema_v gds",
      "ds_gws_sema_br v0 gds",
      "ds_gws_sema_p gds",
      "ds_gws_barrier v0 gds",
      "ds_gws_sema_release_all gds",
      "ds_ordered_count v2, v0 gds",
      "ds_read_b32 v2, v0 gds",
      "ds_write_b64 v0, v[2:3] gds",
      "ds_add_u32 v0, v2 gds",
      "ds_add_rtn_u64 v[4:5], v0, v[2:3] gds",
      "ds_append v2 gds",
      "ds_consume v2 gds",
      "ds_wrxchg2_rtn_b32 v[4:5], v0, v2, v3 gds",
      "ds_read_addtid_b32 v2 gds",
      "ds_condxchg32_rtn_b64 v[4:5], v0, v[2:3] gds",
      "ds_add_src2_u32 v0 gds",
  };
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!isa_has(state, ISA_PART, texts[i]))
      continue;
    for (unsigned few = 0; few < 2; few++) {
      isa_wave_t *t = isa_new(state, ISA_PART);
      if (few) {
        (void)set_exec(t, 0x111);
        memset(&t->v[0], 0, sizeof t->v[0]); /* addresses that LDS has */
      }
      assert_int_equal(isa_run(t, texts[i]), GS_WAVE_FAULTED);
      isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
      assert_true(t->w.fault.address == ISA_CODE);
      isa_assert_only_changed(t, "");
      isa_free(t);
    }
  }
}

static void test_nop(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  assert_int_equal(isa_run(t, "ds_nop"), GS_WAVE_RUNNING);
  isa_assert_only_changed(t, "");
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_loads_and_stores, GS_GFX9_11),
      cmocka_unit_test(test_accumulation_registers),
      isa_part_test_on(test_no_lds, GS_GFX9_11),
      isa_part_test_on(test_addtid, GS_GFX9_11),
      isa_part_test_on(test_append_consume, GS_GFX9_11),
      isa_part_test_on(test_counter_bounds, GS_GFX9_11),
      isa_part_test_on(test_swizzle_offsets, GS_GFX9_11),
      isa_part_test_on(test_permute, GS_GFX9_11),
      isa_part_test_on(test_swizzle, GS_GFX9_11),
      isa_part_test_on(test_lds_direct, GS_GFX9_10),
      isa_part_test_on(test_gws_semaphores, GS_GFX9_11),
      isa_part_test_on(test_absent, GS_GFX9_11),
      isa_part_test_on(test_nop, GS_GFX9_11),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
