/* MUBUF loads and stores: every width through every kind of buffer resource and address form, compared with a
 * model that computes the address of each byte; range checks, scratch, data in LDS, status registers, cache
 * control, faults. Not here: atomics (test_atomics.c), typed data (test_mtbuf.c). */
#include "memory_model.h"

enum { TEXT = 96 };

/* A buffer resource. */
typedef struct resource {
  const char *name;
  uint32_t stride, records, index_stride;
  bool swizzle, add_tid;
  uint32_t format; /* data format field */
  bool unaligned;  /* also test offsets that are no multiples of 4 */
} resource_t;

static const resource_t resources[] = {
    {"raw", 0, 0x8000, 8, false, false, 4, true},
    {"short raw", 0, 1022, 8, false, false, 4, true},
    {"records", 20, 50, 8, false, false, 4, true},
    {"swizzled by 8", 32, 60, 8, true, false, 4, true},
    {"swizzled by 16", 64, 40, 16, true, false, 4, true},
    {"swizzled by 32", 48, 64, 32, true, false, 4, true},
    {"swizzled by 64", 16, 63, 64, true, false, 4, true},
    {"short, swizzled", 0, 1024, 8, true, false, 4, false},
    {"lane numbers", 12, 0x8000, 8, false, true, 0, true},
    {"scratch", 0, 0x10000, 64, true, true, 4, true},
};
enum { RESOURCES = sizeof resources / sizeof *resources };

enum { OFFEN = 1, IDXEN = 2, FORMS = 4 };

/* vaddr in v2 or v[2:3], resource in s[4:7], soffset in s8, data in v[10:13]. */
static void write_text(char text[TEXT], const model_row_t *row, unsigned form, bool acc) {
  static const char *const data[2][4] = {{"v10", "v[10:11]", "v[10:12]", "v[10:13]"},
                                         {"a10", "a[10:11]", "a[10:12]", "a[10:13]"}};
  static const char *const address[FORMS] = {"off", "v2", "v2", "v[2:3]"};
  static const char *const flags[FORMS] = {"", " offen", " idxen", " idxen offen"};
  snprintf(text, TEXT, "buffer_%s %s, %s, s[4:7], %s%s offset:%u", row->name,
           data[acc][row->bytes <= 4 ? 0 : row->bytes / 4 - 1], address[form], form & 1 ? "s8" : "0",
           flags[form], form * 8);
}
static uint32_t soffset_of(const isa_wave_t *t, unsigned form) {
  return form & 1 ? t->w.s.u32[8] : 0;
}

static void set_resource(isa_wave_t *t, const resource_t *r) {
  static const unsigned codes[65] = {[8] = 0, [16] = 1, [32] = 2, [64] = 3};
  uint32_t *s = &t->w.s.u32[4];
  s[0] = (uint32_t)ISA_MEMORY;
  s[1] = (uint32_t)(ISA_MEMORY >> 32) | r->stride << 16 | (uint32_t)r->swizzle << 31;
  s[2] = r->records;
  s[3] = r->format << 15 | codes[r->index_stride] << 21 | (uint32_t)r->add_tid << 23;
}

/* Offset of byte `i` of lane `l` from the base and soffset. */
static uint64_t byte_offset(const isa_wave_t *t, const resource_t *r, unsigned form, unsigned l, unsigned i) {
  const gs_row_t *v = t->before.v;
  const uint64_t index = (uint64_t)(form & IDXEN ? v[2].u32[l] : 0) + (r->add_tid ? l : 0);
  uint64_t offset = (uint64_t)(form & OFFEN ? v[form & IDXEN ? 3 : 2].u32[l] : 0) + form * 8;
  if (r->swizzle)
    offset = (uint32_t)offset; /* the parts of a scratch offset may be negative, also for compilers */
  offset += i;
  const uint64_t stride = r->add_tid ? r->stride + r->format * 16384 : r->stride;
  if (!r->swizzle)
    return index * stride + offset;
  const uint64_t block = index / r->index_stride * stride * r->index_stride;
  return block + offset / 4 * 4 * r->index_stride + index % r->index_stride * 4 + offset % 4;
}

/* Whether bytes [first, first + count) of a lane's access are beyond the end of the buffer. */
static bool outside(const isa_wave_t *t, const resource_t *r, unsigned form, unsigned l, unsigned first,
                    unsigned count) {
  if ((form & IDXEN) && r->stride)
    return (uint64_t)t->before.v[2].u32[l] + (r->add_tid ? l : 0) >= r->records;
  for (unsigned i = 0; i < count; i++)
    if (byte_offset(t, r, form, l, first + i) + soffset_of(t, form) >= r->records)
      return true;
  return false;
}

static uint64_t lane_get(model_t *m, const isa_wave_t *t, const resource_t *r, unsigned form, unsigned l,
                         unsigned first, unsigned count) {
  uint64_t value = 0;
  if (!outside(t, r, form, l, first, count))
    for (unsigned i = 0; i < count; i++)
      value |= (uint64_t)m->memory[byte_offset(t, r, form, l, first + i) + soffset_of(t, form)] << 8 * i;
  return value;
}

static uint32_t loaded(model_t *m, const model_row_t *row, const isa_wave_t *t, const resource_t *r,
                       unsigned form, unsigned l, unsigned i, uint32_t old) {
  const unsigned count = row->bytes < 4 ? row->bytes : 4;
  uint32_t value = (uint32_t)lane_get(m, t, r, form, l, 4 * i, count);
  if (row->is_signed && value >> (8 * count - 1))
    value |= count == 1 ? 0xffffff00 : 0xffff0000;
  return row->half < 0 ? value : model_half(t, row->half, value, old);
}

static void check(model_bench_t *b, const model_row_t *row, const resource_t *r, unsigned form,
                  const char *text, bool acc) {
  char what[2 * TEXT];
  isa_wave_t *t = b->t;
  const uint64_t exec = gs_exec(&t->w);
  const unsigned registers = (row->bytes + 3) / 4, part = row->bytes < 4 ? row->bytes : 4,
                 data = acc ? 266 : 10;
  snprintf(what, sizeof what, "%.80s (%s)", text, r->name);
  bench_sync(b);
  if (isa_run(t, text) != GS_WAVE_RUNNING)
    fail_msg("%s (%s): fault at %#llx of lane %u", text, r->name, (unsigned long long)t->w.fault.address,
             t->w.fault.lane);
  for (unsigned l = 0; row->store && l < GS_LANES; l++)
    for (unsigned i = 0; i < registers; i++)
      if (gs_bit(exec, l) && !outside(t, r, form, l, 4 * i, part))
        for (unsigned k = 0; k < part; k++)
          b->model->memory[byte_offset(t, r, form, l, 4 * i + k) + soffset_of(t, form)] =
              (uint8_t)(t->v[data + i].u32[l] >> (row->half == 1 ? 16 : 0) >> 8 * k);
  bench_compare(b, what);
  for (unsigned i = 0; !row->store && i < registers; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t old = t->before.v[data + i].u32[l];
      const uint32_t expected = gs_bit(exec, l) ? loaded(b->model, row, t, r, form, l, i, old) : old;
      if (t->v[data + i].u32[l] != expected)
        fail_msg("%s: register %u lane %u of exec %#llx is %#x and should be %#x", what, i, l,
                 (unsigned long long)exec, t->v[data + i].u32[l], expected);
    }
  isa_assert_only_changed(t, row->store ? "memory" : acc ? "a[10:13]" : "v[10:13]");
}

/* Fills the address registers with something that stays in memory: all lanes at one place, side by side,
 * anywhere at multiples of 4, anywhere. */
enum { VARIANTS = 4 };
static void set_addresses(model_bench_t *b, const resource_t *r, unsigned form, unsigned variant) {
  isa_wave_t *t = b->t;
  const uint32_t room = r->swizzle ? r->stride ? r->stride : 256 : 1000;
  t->w.s.u32[8] = r->swizzle ? 512 : 515;
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t offset = variant == 0 ? 0 : variant == 1 ? 4 * l % room : (uint32_t)isa_random(&b->seed) % room;
    if (!r->unaligned || variant == 2)
      offset &= ~3u;
    const uint32_t index = variant == 0 ? 3 : variant == 1 ? l : (uint32_t)isa_random(&b->seed) % 70;
    t->v[2].u32[l] = form & IDXEN ? index : offset;
    t->v[3].u32[l] = offset;
  }
}

static void run_rows(void **state, gs_target_t target, bool acc) {
  static char texts[MODEL_ROWS * FORMS][TEXT];
  static const char *pointers[MODEL_ROWS * FORMS];
  for (unsigned i = 0; i < MODEL_ROWS * FORMS; i++) {
    write_text(texts[i], &model_rows[i / FORMS], i % FORMS, acc);
    pointers[i] = texts[i];
  }
  isa_prepare(state, target, pointers, sizeof *pointers, MODEL_ROWS * FORMS);
  model_bench_t b = bench_new(state, target);
  const unsigned part = (unsigned)__builtin_ctz(b.t->env.target);
  for (unsigned i = 0; i < MODEL_ROWS * FORMS; i++)
    for (unsigned r = 0; r < RESOURCES; r++)
      for (unsigned k = 0; k < MODEL_MASKS; k++) {
        if (resources[r].swizzle && resources[r].add_tid && (i % FORMS & IDXEN))
          continue; /* an index in scratch would leave it */
        isa_reset(b.t, 1 + k);
        set_resource(b.t, &resources[r]);
        /* The parts together go through all ways to spread the lanes with all masks. */
        set_addresses(&b, &resources[r], i % FORMS, (part + i + r + k) % VARIANTS);
        gs_set_exec(&b.t->w, model_masks[k]);
        check(&b, &model_rows[i / FORMS], &resources[r], i % FORMS, texts[i], acc);
      }
  bench_free(&b);
}

/* Lanes with nothing to access have an offset or index near 4 GiB, to which constants and the lane's number
 * are added; some lanes reach the end of the buffer with some of their dwords. Scratch offsets are negative.
 */
static void set_far_addresses(model_bench_t *b, const resource_t *r, unsigned form) {
  isa_wave_t *t = b->t;
  const bool counts = form & IDXEN && r->stride;
  t->w.s.u32[8] = r->swizzle ? 512 : 4;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t random = (uint32_t)isa_random(&b->seed);
    const uint32_t near = r->swizzle || counts ? random % 8 * 4 : r->records - 40 + random % 40;
    const uint32_t far = r->swizzle ? near - form * 8 : UINT32_MAX - random % (form * 8 + 16);
    const uint32_t index = l % 3 && counts ? UINT32_MAX - random % GS_LANES : random % 40;
    const uint32_t offset = l % 3 && !counts ? far : near;
    t->v[2].u32[l] = form & IDXEN ? index : offset;
    t->v[3].u32[l] = offset;
  }
}

static void test_far_lanes(void **state) {
  static char texts[MODEL_ROWS * FORMS][TEXT];
  static const char *pointers[MODEL_ROWS * FORMS];
  for (unsigned i = 0; i < MODEL_ROWS * FORMS; i++) {
    write_text(texts[i], &model_rows[i / FORMS], i % FORMS, false);
    pointers[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, MODEL_ROWS * FORMS);
  model_bench_t b = bench_new(state, ISA_PART);
  for (unsigned i = 0; i < MODEL_ROWS * FORMS; i++)
    for (unsigned r = 0; r < RESOURCES; r++) {
      const unsigned form = i % FORMS;
      const bool is_scratch = resources[r].swizzle && resources[r].add_tid;
      if (!form || (is_scratch && form & IDXEN))
        continue;
      isa_reset(b.t, 1 + r);
      set_resource(b.t, &resources[r]);
      set_far_addresses(&b, &resources[r], form);
      check(&b, &model_rows[i / FORMS], &resources[r], form, texts[i], false);
    }
  bench_free(&b);
}

/* The same for accesses that are inside or outside as a whole. */
static void test_far_items(void **state) {
  static const struct {
    const char *text;
    uint32_t offset;
  } cases[] = {
      {"buffer_atomic_add v10, v2, s[4:7], 0 offen offset:4", UINT32_MAX - 3},
      {"buffer_atomic_add_x2 v[10:11], v2, s[4:7], 0 offen offset:8", UINT32_MAX - 7},
      {"buffer_atomic_cmpswap v[10:11], v2, s[4:7], 0 offen offset:64", UINT32_MAX - 3},
      {"buffer_store_format_xyzw v[10:13], v2, s[4:7], 0 offen offset:8", UINT32_MAX},
      {"tbuffer_store_format_xy v[10:11], v2, s[4:7], dfmt:11, nfmt:7, 0 offen offset:16", UINT32_MAX}};
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
    isa_wave_t *t = isa_new(state, ISA_PART);
    set_resource(t, &resources[0]);
    t->w.s.u32[7] |= 14 << 15 | 4 << 12; /* four integers of 32 bits */
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[2].u32[l] = cases[c].offset;
    assert_int_equal(isa_run(t, cases[c].text), GS_WAVE_RUNNING);
    isa_assert_only_changed(t, "");
    isa_free(t);
  }
}

static void test_loads_and_stores(void **state) {
  run_rows(state, ISA_PART, false);
}
static void test_accumulation_registers(void **state) {
  run_rows(state, GS_GFX90A, true);
}

/* Constants and M0 as soffset. */
static void test_soffset(void **state) {
  static const struct {
    const char *text;
    uint32_t offset;
  } cases[] = {{"buffer_load_dword v10, off, s[4:7], 0", 0},
               {"buffer_load_dword v10, off, s[4:7], 64 offset:4", 68},
               {"buffer_load_dword v10, off, s[4:7], m0 offset:4095", 4095 + 0x101},
               {"buffer_load_dword v10, off, s[4:7], s101", 0x2000}};
  isa_wave_t *t = isa_new(state, ISA_PART);
  set_resource(t, &resources[0]);
  t->w.s.u32[GS_S_M0] = 0x101;
  t->w.s.u32[101] = 0x2000;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t expected;
    memcpy(&expected, t->memory + cases[i].offset, 4);
    assert_int_equal(isa_run(t, cases[i].text), GS_WAVE_RUNNING);
    assert_int_equal(t->v[10].u32[0], expected);
    assert_int_equal(t->v[10].u32[63], expected);
  }
  isa_free(t);
}

/* A resource whose data format is 0 is none, though these instructions do not use the format: loads give 0,
 * stores do nothing. The resource with lane numbers above has 0 there, too, and is one: its field is another.
 */
static void test_no_format(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  set_resource(t, &resources[0]);
  t->w.s.u32[7] &= ~(15u << 15);
  assert_int_equal(isa_run(t, "buffer_store_dwordx2 v[10:11], off, s[4:7], 0\n"
                              "buffer_load_dword v20, off, s[4:7], 0"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    assert_int_equal(t->v[20].u32[l], 0);
  isa_assert_only_changed(t, "v20");
  isa_free(t);
}

/* Private memory is the same bytes through the scratch resource, scratch instructions and flat addresses. */
static void test_private_views(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  set_resource(t, &resources[RESOURCES - 1]);
  isa_set_s64(t, 4, (isa_s64(t, 4) & UINT64_C(0xffff000000000000)) + ISA_MEMORY + MODEL_PRIVATE);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[2].u32[l] = 4 * (l % 16);
    isa_set_u64(&t->v[4], l, (UINT64_C(2) << 48) + 4 * (l % 16));
  }
  t->w.s.u32[8] = 64 * 32; /* 32 bytes of each lane */
  assert_int_equal(isa_run(t, "buffer_store_dwordx4 v[10:13], v2, s[4:7], s8 offen offset:20\n"
                              "scratch_load_dwordx4 v[20:23], v2, off offset:52\n"
                              "flat_load_dwordx4 v[24:27], v[4:5] offset:52\n"
                              "flat_load_ubyte v28, v[4:5] offset:58\n"
                              "buffer_load_ubyte v29, v2, s[4:7], s8 offen offset:26\n"
                              "flat_store_short v[4:5], v11 offset:300\n"
                              "scratch_load_sshort v30, v2, off offset:300"),
                   GS_WAVE_RUNNING);
  assert_memory_equal(&t->v[20], &t->v[10], 4 * sizeof t->v[0]);
  assert_memory_equal(&t->v[24], &t->v[10], 4 * sizeof t->v[0]);
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(t->v[28].u32[l], t->v[11].u32[l] >> 16 & 0xff);
    assert_int_equal(t->v[29].u32[l], t->v[11].u32[l] >> 16 & 0xff);
    assert_int_equal(t->v[30].i32[l], (int16_t)t->v[11].u32[l]);
  }
  isa_assert_only_changed(t, "v[20:30] memory");
  bench_free(&b);
}

/* tfe: one more register, which says that no page was missing. On gfx90a that bit chooses accumulation
 * registers. */
static void test_status(void **state) {
  if ((isa_part(state) & GS_CDNA2_4))
    return;
  isa_wave_t *t = isa_new(state, ISA_PART);
  const uint64_t exec = UINT64_C(0xff00ff00ff00ff0f);
  set_resource(t, &resources[0]);
  gs_set_exec(&t->w, exec);
  isa_run(t,
          "buffer_load_dwordx2 v[10:12], off, s[4:7], 0 tfe\nbuffer_load_ubyte v[20:21], off, s[4:7], 0 tfe");
  for (unsigned l = 0; l < GS_LANES; l++) {
    assert_int_equal(t->v[12].u32[l], gs_bit(exec, l) ? 0 : t->before.v[12].u32[l]);
    assert_int_equal(t->v[21].u32[l], gs_bit(exec, l) ? 0 : t->before.v[21].u32[l]);
  }
  isa_assert_only_changed(t, "v[10:12] v[20:21]");
  isa_assert_lanes_kept(t, 10, 12, exec);
  isa_free(t);
}

/* Three dwords or four a lane, 16 bytes apart; a lane that is partly behind the end gets zeroes for the rest.
 */
static void test_lds_dwords(void **state) {
  for (unsigned dwords = 3; dwords <= 4; dwords++) {
    model_bench_t b = bench_new(state, ISA_PART);
    isa_wave_t *t = b.t;
    char text[64];
    enum { END = 12 * 50 + 20 };
    set_resource(t, &(resource_t){"", 0, END, 8, false, false, 4, false});
    t->env.lds_bytes = 1120; /* lane 55 and more do not fit */
    t->w.s.u32[GS_S_M0] = 0xfffc0000 | 232;
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[2].u32[l] = 12 * l;
    bench_sync(&b);
    for (unsigned l = 0; l < GS_LANES && 240 + 16 * l + 4 * dwords <= 1120; l++)
      for (unsigned i = 0; i < dwords; i++) {
        const uint32_t at = 8 + 12 * l + 4 * i;
        uint32_t dword = 0;
        if (at + 4 <= END)
          memcpy(&dword, t->memory + at, 4);
        memcpy(b.model->lds + 240 + 16 * l + 4 * i, &dword, 4);
      }
    snprintf(text, sizeof text, "buffer_load_dwordx%u v2, s[4:7], 0 offen offset:8 lds", dwords);
    assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
    bench_compare(&b, text);
    isa_assert_only_changed(t, "lds");
    bench_free(&b);
  }
}

/* lds: the data goes to LDS at M0 plus the offset plus 4 per lane, as a dword; buffer_store_lds_dword, which
 * gfx942 has no more, comes from there. */
static void test_lds(void **state) {
  static const struct {
    const char *text;
    unsigned bytes;
    bool is_signed;
  } cases[] = {{"buffer_load_dword off, s[4:7], 0 offset:8 lds", 4, false},
               {"buffer_load_ubyte off, s[4:7], 0 offset:8 lds", 1, false},
               {"buffer_load_sbyte off, s[4:7], 0 offset:8 lds", 1, true},
               {"buffer_load_ushort off, s[4:7], 0 offset:8 lds", 2, false},
               {"buffer_load_sshort off, s[4:7], 0 offset:8 lds", 2, true}};
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
    model_bench_t b = bench_new(state, ISA_PART);
    isa_wave_t *t = b.t;
    const uint64_t exec = UINT64_C(0xfffffffff00fffff);
    set_resource(t, &(resource_t){"", 12, 12 * 50 + 20, 8, false, true, 0, true});
    t->env.lds_bytes = 800; /* lane 60 and more do not fit */
    t->w.s.u32[GS_S_M0] = (t->env.target == GS_GFX950 ? 0xfffc0000 : 0xffff0000) | 552;
    gs_set_exec(&t->w, exec);
    bench_sync(&b);
    for (unsigned l = 0; l < 60; l++) {
      const uint32_t at = 8 + 12 * l;
      int64_t value = 0;
      for (unsigned i = 0; at + cases[c].bytes <= 12 * 50 + 20 && i < cases[c].bytes; i++)
        value += (int64_t)t->memory[at + i] << 8 * i;
      if (cases[c].is_signed && value >> (8 * cases[c].bytes - 1))
        value -= INT64_C(1) << 8 * cases[c].bytes;
      const uint32_t dword = (uint32_t)value;
      if (gs_bit(exec, l))
        memcpy(b.model->lds + 560 + 4 * l, &dword, 4);
    }
    assert_int_equal(isa_run(t, cases[c].text), GS_WAVE_RUNNING);
    bench_compare(&b, cases[c].text);
    isa_assert_only_changed(t, "lds");
    for (unsigned l = 0; isa_has(state, ISA_PART, "buffer_store_lds_dword") && l < GS_LANES; l++)
      if (gs_bit(exec, l) && 8 + 12 * l + 4 <= 12 * 50 + 20)
        for (unsigned i = 0; i < 4; i++)
          b.model->memory[8 + 12 * l + i] = l < 60 ? t->lds[560 + 4 * l + i] : 0;
    if (isa_has(state, ISA_PART, "buffer_store_lds_dword")) {
      assert_int_equal(isa_run(t, "buffer_store_lds_dword s[4:7], 0 offset:8 lds"), GS_WAVE_RUNNING);
      bench_compare(&b, "buffer_store_lds_dword");
      isa_assert_only_changed(t, "memory");
    }
    bench_free(&b);
  }
}

static void test_cache_control(void **state) {
  static const char *const texts[] = {"buffer_wbl2", "buffer_invl2", "buffer_inv", "buffer_wbinvl1",
                                      "buffer_wbinvl1_vol"};
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
    if (isa_has(state, ISA_PART, texts[i])) {
      assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
      isa_assert_only_changed(t, "");
    }
  isa_free(t);
}

/* Inside the buffer, outside of what is mapped. */
static void test_faults(void **state) {
  static const struct {
    const char *text;
    uint64_t base, expected;
    uint32_t access;
    unsigned lane;
  } cases[] = {
      {"buffer_load_dword v10, v2, s[4:7], 0 offen", ISA_MEMORY + ISA_MEMORY_BYTES - 128,
       ISA_MEMORY + ISA_MEMORY_BYTES, GS_VM_READ, 32},
      {"buffer_store_dwordx4 v[10:13], v2, s[4:7], 0 offen", ISA_MEMORY + ISA_MEMORY_BYTES - 128,
       ISA_MEMORY + ISA_MEMORY_BYTES, GS_VM_WRITE, 29},
      {"buffer_store_byte v10, v2, s[4:7], 0 offen", ISA_READONLY, ISA_READONLY, GS_VM_WRITE, 0},
      {"buffer_load_ubyte v10, v2, s[4:7], s8 offen offset:4", ISA_MEMORY - 8, ISA_MEMORY - 4, GS_VM_READ, 0},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
    isa_wave_t *t = isa_new(state, ISA_PART);
    isa_set_s64(t, 4, cases[c].base);
    t->w.s.u32[6] = UINT32_MAX;
    t->w.s.u32[7] = 0x20000;
    t->w.s.u32[8] = 0;
    for (unsigned l = 0; l < GS_LANES; l++)
      t->v[2].u32[l] = 4 * l;
    assert_int_equal(isa_run(t, cases[c].text), GS_WAVE_FAULTED);
    isa_assert_fault(t, GS_WAVE_FAULT_MEMORY);
    assert_true(t->w.fault.address == cases[c].expected);
    assert_int_equal(t->w.fault.lane, cases[c].lane);
    assert_int_equal(t->w.fault.access, cases[c].access);
    isa_assert_only_changed(t, "");
    t->w.state = GS_WAVE_RUNNING;
    gs_set_exec(&t->w, 0);
    assert_int_equal(isa_run(t, cases[c].text), GS_WAVE_RUNNING);
    isa_free(t);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_loads_and_stores),
      cmocka_unit_test(test_accumulation_registers),
      isa_part_test(test_far_lanes),
      isa_part_test(test_far_items),
      isa_part_test(test_soffset),
      isa_part_test(test_private_views),
      isa_part_test(test_status),
      isa_part_test(test_lds),
      isa_part_test_on(test_lds_dwords, GS_GFX950),
      isa_part_test(test_cache_control),
      isa_part_test(test_faults),
      isa_part_test(test_no_format),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
