/* FLAT, GLOBAL and SCRATCH loads and stores: every width through every address form and aperture, compared
 * with a model that goes byte by byte; and faults. Not here: atomics (test_atomics.c). */
#include "memory_model.h"

#include <pthread.h>

/* How an address is given: v[2:3] or v2 hold it, s[4:5] or s4 the base. */
typedef enum form {
  FORM_FLAT,
  FORM_GLOBAL,
  FORM_GLOBAL_SCALAR,
  FORM_SCRATCH,
  FORM_SCRATCH_SCALAR,
  FORMS
} form_t;

static const struct {
  const char *prefix;
  const char *load, *store; /* operands; %s is the data */
  int offset;
} forms[FORMS] = {
    [FORM_FLAT] = {"flat", "%s, v[2:3]", "v[2:3], %s", 40},
    [FORM_GLOBAL] = {"global", "%s, v[2:3], off", "v[2:3], %s, off", -2000},
    [FORM_GLOBAL_SCALAR] = {"global", "%s, v2, s[4:5]", "v2, %s, s[4:5]", 2047},
    [FORM_SCRATCH] = {"scratch", "%s, v2, off", "v2, %s, off", -8},
    [FORM_SCRATCH_SCALAR] = {"scratch", "%s, off, s4", "off, %s, s4", 12},
};

enum { TEXT = 96 };

/* Names of halves that LLVM takes for gfx11. */
static const char *name_of(const model_row_t *row, gs_target_t target) {
  static const char *const names[][2] = {
      {"load_ubyte_d16", "load_d16_u8"},        {"load_ubyte_d16_hi", "load_d16_hi_u8"},
      {"load_sbyte_d16", "load_d16_i8"},        {"load_sbyte_d16_hi", "load_d16_hi_i8"},
      {"load_short_d16", "load_d16_b16"},       {"load_short_d16_hi", "load_d16_hi_b16"},
      {"store_byte_d16_hi", "store_d16_hi_b8"}, {"store_short_d16_hi", "store_d16_hi_b16"},
  };
  for (size_t i = 0; (target & GS_GFX11) && i < sizeof names / sizeof *names; i++)
    if (strcmp(row->name, names[i][0]) == 0)
      return names[i][1];
  return row->name;
}

/* The instruction with data in v[10:13], or a[10:13]. */
static void write_text(char text[TEXT], gs_target_t target, const model_row_t *row, form_t form, bool acc) {
  static const char *const data[2][4] = {{"v10", "v[10:11]", "v[10:12]", "v[10:13]"},
                                         {"a10", "a[10:11]", "a[10:12]", "a[10:13]"}};
  char operands[48];
  const char *registers = data[acc][row->bytes <= 4 ? 0 : row->bytes / 4 - 1];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(operands, sizeof operands, row->store ? forms[form].store : forms[form].load, registers);
#pragma GCC diagnostic pop
  snprintf(text, TEXT, "%s_%s %s offset:%d", forms[form].prefix, name_of(row, target), operands,
           forms[form].offset);
}

/* Puts the lanes' addresses into the registers of the form. */
static void set_addresses(isa_wave_t *t, form_t form, const model_lane_t lane[GS_LANES]) {
  const uint64_t base = ISA_MEMORY - 0x100000;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t at = model_address(lane[l]) - (uint64_t)forms[form].offset;
    switch (form) {
    case FORM_FLAT: /* the constant does not lead into apertures */
      isa_set_u64(&t->v[2], l,
                  lane[l].space == SPACE_PRIVATE || lane[l].space == SPACE_SHARED
                      ? (model_address(lane[l]) & ~(uint64_t)UINT32_MAX) | (uint32_t)at
                      : at);
      break;
    case FORM_GLOBAL: isa_set_u64(&t->v[2], l, at); break;
    case FORM_GLOBAL_SCALAR:
      t->v[2].u32[l] = (uint32_t)(at - base);
      isa_set_s64(t, 4, base);
      break;
    default:
      t->v[2].u32[l] = lane[l].start - (uint32_t)forms[form].offset;
      t->w.s.u32[4] = lane[l].start - (uint32_t)forms[form].offset;
    }
  }
}

/* What register `i` of the data is after a load. */
static uint32_t loaded(const isa_wave_t *t, model_t *m, const model_row_t *row, model_lane_t lane, unsigned l,
                       unsigned i, uint32_t old) {
  const unsigned count = row->bytes < 4 ? row->bytes : 4;
  uint32_t value = (uint32_t)model_get(m, lane, l, row->bytes, 4 * i, count);
  if (row->is_signed && value >> (8 * count - 1))
    value |= count == 1 ? 0xffffff00 : 0xffff0000;
  return row->half < 0 ? value : model_half(t, row->half, value, old);
}

static void check(model_bench_t *b, const model_row_t *row, const char *text,
                  const model_lane_t lane[GS_LANES], unsigned data) {
  isa_wave_t *t = b->t;
  const uint64_t exec = gs_exec(&t->w);
  const unsigned registers = (row->bytes + 3) / 4;
  bench_sync(b);
  if (row->store)
    for (unsigned l = 0; l < GS_LANES; l++)
      for (unsigned i = 0; i < registers; i++)
        if (gs_bit(exec, l))
          model_put(b->model, lane[l], l, row->bytes, 4 * i, row->bytes < 4 ? row->bytes : 4,
                    t->v[data + i].u32[l] >> (row->half == 1 ? 16 : 0));
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  bench_compare(b, text);
  for (unsigned i = 0; !row->store && i < registers; i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t old = t->before.v[data + i].u32[l];
      const uint32_t expected = gs_bit(exec, l) ? loaded(t, b->model, row, lane[l], l, i, old) : old;
      if (t->v[data + i].u32[l] != expected)
        fail_msg("%s: register %u lane %u of exec %#llx (at %#x of space %d) is %#x and should be %#x", text,
                 i, l, (unsigned long long)exec, lane[l].start, lane[l].space, t->v[data + i].u32[l],
                 expected);
    }
  char list[48];
  snprintf(list, sizeof list, data == 10 ? "v[10:%u] memory lds" : "a[10:%u] memory lds", 9 + registers);
  isa_assert_only_changed(t, row->store ? "memory lds" : list);
}

/* Which space a lane uses in a case; SPACE_PIECES + 1 mixes all that the form reaches. */
enum { MIXED = SPACE_PIECES + 1, CASES };
static bool reaches(form_t form, unsigned space) {
  if (form == FORM_FLAT)
    return true;
  if (form == FORM_SCRATCH || form == FORM_SCRATCH_SCALAR)
    return space == SPACE_PRIVATE;
  return space == SPACE_GLOBAL || (space == SPACE_PIECES && form == FORM_GLOBAL);
}
static const uint32_t rooms[] = {[SPACE_GLOBAL] = 0x8000,
                                 [SPACE_PRIVATE] = MODEL_PRIVATE_BYTES,
                                 [SPACE_SHARED] = 2048 + 32,
                                 [SPACE_PIECES] = 2 * MODEL_PAGE};

static void run_cases(model_bench_t *b, const model_row_t *row, form_t form, bool acc) {
  char text[TEXT];
  write_text(text, b->t->env.target, row, form, acc);
  for (unsigned space = 0; space < CASES; space++) {
    if (!reaches(form, space))
      continue;
    for (unsigned layout = 0; layout < LAYOUTS; layout++)
      for (unsigned mask = 0; mask < MODEL_MASKS; mask++) {
        model_lane_t lane[GS_LANES];
        for (unsigned l = 0; l < GS_LANES; l++) {
          lane[l].space = (model_space_t)(space == MIXED ? isa_random(&b->seed) % 4 : space);
          lane[l].start = model_start((model_layout_t)layout, form == FORM_SCRATCH_SCALAR ? 0 : l, row->bytes,
                                      rooms[lane[l].space], &b->seed);
          if (form == FORM_SCRATCH_SCALAR)
            lane[l].start = lane[0].start;
        }
        isa_reset(b->t, 1 + mask);
        b->t->env.lds_bytes = 2048;
        model_set_private(b->t);
        gs_set_exec(&b->t->w, model_masks[mask]);
        set_addresses(b->t, form, lane);
        check(b, row, text, lane, acc ? 266 : 10);
      }
  }
}

static void prepare(void **state, gs_target_t target, bool acc) {
  static char texts[MODEL_ROWS * FORMS][TEXT];
  static const char *pointers[MODEL_ROWS * FORMS];
  unsigned n = 0;
  for (unsigned r = 0; r < MODEL_ROWS; r++)
    for (unsigned f = 0; f < FORMS; f++, n++) {
      write_text(texts[n], isa_part(state), &model_rows[r], (form_t)f, acc);
      pointers[n] = texts[n];
    }
  isa_prepare(state, target, pointers, sizeof *pointers, n);
}

static void test_loads_and_stores(void **state) {
  prepare(state, ISA_PART, false);
  model_bench_t b = bench_new(state, ISA_PART);
  for (unsigned r = 0; r < MODEL_ROWS; r++)
    for (unsigned f = 0; f < FORMS; f++)
      run_cases(&b, &model_rows[r], (form_t)f, false);
  bench_free(&b);
}

static void test_accumulation_registers(void **state) {
  prepare(state, ISA_PART, true);
  model_bench_t b = bench_new(state, ISA_PART);
  for (unsigned r = 0; r < MODEL_ROWS; r++)
    for (unsigned f = 0; f < FORMS; f++)
      run_cases(&b, &model_rows[r], (form_t)f, true);
  bench_free(&b);
}

/* A load may overwrite the registers that hold its addresses, and exactly all of its lanes' dwords come from
 * memory as it was. */
static void test_overlap(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  for (unsigned l = 0; l < GS_LANES; l++)
    isa_set_u64(&t->v[2], l, ISA_MEMORY + 16 * ((l * 7) % 64));
  assert_int_equal(isa_run(t, "global_load_dwordx4 v[0:3], v[2:3], off"), GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned i = 0; i < 4; i++) {
      uint32_t expected;
      memcpy(&expected, t->memory + 16 * ((l * 7) % 64) + 4 * i, 4);
      assert_int_equal(t->v[i].u32[l], expected);
    }
  isa_assert_only_changed(t, "v[0:3]");
  bench_free(&b);
}

/* Lanes that store to one place: the last one's data stays. */
static void test_last_lane_wins(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  for (unsigned l = 0; l < GS_LANES; l++) {
    isa_set_u64(&t->v[2], l, ISA_MEMORY + 64);
    t->v[4].u32[l] = l;
  }
  gs_set_exec(&t->w, UINT64_C(0x00ffffffffffff00));
  isa_run(t, "global_store_dword v[2:3], v4, off");
  uint32_t value;
  memcpy(&value, t->memory + 64, 4);
  assert_int_equal(value, 55);
  bench_free(&b);
}

/* ---- Offsets at their limits ---- */

/* Addresses are sums of 64 bits (private ones of 32), into which registers go without a sign and offsets with
 * one, but for those of FLAT. `at` counts from the start of memory, or of each lane's private memory. */
static const struct {
  const char *text;
  uint64_t vector, scalar;
  uint32_t at;
  bool is_private;
} limits[] = {
    {"flat_load_dword v10, v[2:3]", ISA_MEMORY + 0x2000, 0, 0x2000, false},
    {"flat_load_dword v10, v[2:3] offset:4095", ISA_MEMORY - 4095, 0, 0, false},
    {"flat_load_dword v10, v[2:3] offset:96", (UINT64_C(2) << 48) + 4, 0, 100, true},
    {"global_load_dword v10, v[2:3], off offset:4095", ISA_MEMORY - 4095, 0, 0, false},
    {"global_load_dword v10, v[2:3], off offset:-4096", ISA_MEMORY + 4096 + 0x30, 0, 0x30, false},
    {"global_load_dword v10, v[2:3], off offset:-1", ISA_MEMORY + 4, 0, 3, false},
    {"global_load_dword v10, v2, s[4:5]", UINT32_MAX, ISA_MEMORY + 0x100 - UINT32_MAX, 0x100, false},
    {"global_load_dword v10, v2, s[4:5]", 0x80000000, ISA_MEMORY + 0x101 - 0x80000000, 0x101, false},
    {"global_load_dword v10, v2, s[4:5] offset:-4096", 0, ISA_MEMORY + 4096, 0, false},
    {"global_load_dword v10, v2, s[4:5] offset:4095", 1, ISA_MEMORY, 4096, false},
    {"global_load_dword v10, v2, s[4:5] offset:-4096", 16, ISA_MEMORY + 4096 - 16, 0, false},
    {"global_load_dword v10, v2, vcc", 8, ISA_MEMORY, 8, false},
    {"scratch_load_dword v10, v2, off offset:-4096", 4096, 0, 0, true},
    {"scratch_load_dword v10, v2, off offset:-4096", 4096 + 508, 0, 508, true},
    {"scratch_load_dword v10, v2, off offset:4095", (uint32_t)-4000, 0, 95, true},
    {"scratch_load_dword v10, off, s4 offset:-4096", 0, 4096 + 4, 4, true},
    {"scratch_load_dword v10, off, s4 offset:4095", 0, (uint32_t)-4095, 0, true},
};

static void test_offset_limits(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  isa_prepare(state, ISA_PART, &limits[0].text, sizeof *limits, sizeof limits / sizeof *limits);
  bench_sync(&b);
  for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
    isa_set_s64(t, 4, limits[i].scalar);
    isa_set_s64(t, GS_S_VCC, limits[i].scalar);
    for (unsigned l = 0; l < GS_LANES; l++)
      isa_set_u64(&t->v[2], l, limits[i].vector);
    assert_int_equal(isa_run(t, limits[i].text), GS_WAVE_RUNNING);
    const model_lane_t lane = {limits[i].is_private ? SPACE_PRIVATE : SPACE_GLOBAL, limits[i].at};
    for (unsigned l = 0; l < GS_LANES; l++)
      if (t->v[10].u32[l] != model_get(b.model, lane, l, 4, 0, 4))
        fail_msg("%s: lane %u has %#x", limits[i].text, l, t->v[10].u32[l]);
    isa_assert_only_changed(t, "v10");
  }
  bench_free(&b);
}

/* Sums around the end of 64 bits. */
static void test_address_wrap(void **state) {
  static const struct {
    const char *text;
    uint64_t vector, scalar, expected;
  } cases[] = {
      {"global_load_dword v10, v[2:3], off offset:20", UINT64_MAX - 15, 0, 4},
      {"global_store_dword v[2:3], v10, off offset:-8", 4, 0, UINT64_MAX - 3},
      {"flat_load_dword v10, v[2:3] offset:4095", UINT64_MAX - 4094, 0, 0},
      {"global_load_ubyte v10, v2, s[4:5]", UINT32_MAX, UINT64_MAX - 7, UINT32_MAX - UINT64_C(8)},
      {"global_atomic_add v2, v10, s[4:5] offset:-4", 0, 0, UINT64_MAX - 3},
      {"flat_load_dword v10, v[2:3] offset:16", (UINT64_C(1) << 48) - 8, 0, (UINT64_C(1) << 48) + 8},
      {"flat_store_dword v[2:3], v10 offset:4095", (UINT64_C(2) << 48) - 4095, 0, UINT64_C(2) << 48},
      {"flat_atomic_add v[2:3], v10 offset:4", (UINT64_C(1) << 48) - 4, 0, UINT64_C(1) << 48},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    isa_wave_t *t = isa_new(state, ISA_PART);
    isa_set_s64(t, 4, cases[i].scalar);
    isa_set_u64(&t->v[2], 9, cases[i].vector);
    gs_set_exec(&t->w, 1 << 9);
    assert_int_equal(isa_run(t, cases[i].text), GS_WAVE_FAULTED);
    isa_assert_fault(t, cases[i].expected >> 48 ? GS_WAVE_FAULT_APERTURE : GS_WAVE_FAULT_MEMORY);
    if (t->w.fault.address != cases[i].expected)
      fail_msg("%s: fault at %#llx", cases[i].text, (unsigned long long)t->w.fault.address);
    assert_int_equal(t->w.fault.lane, 9);
    isa_assert_only_changed(t, "");
    isa_free(t);
  }
}

/* Scratch addresses of gfx942: two registers, one, or none. */
static void test_scratch_addresses(void **state) {
  static const struct {
    const char *operands;
    bool vector, scalar;
  } cases[] = {
      {"v2, s4", true, true}, {"v2, off", true, false}, {"off, s4", false, true}, {"off, off", false, false}};
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
    for (unsigned same = 0; same < 2; same++) { /* lanes may agree about the address */
      char text[64];
      isa_reset(t, c);
      isa_set_s64(t, GS_S_FLAT_SCRATCH, ISA_MEMORY + MODEL_PRIVATE);
      t->w.s.u32[4] = 64;
      for (unsigned l = 0; l < GS_LANES; l++)
        t->v[2].u32[l] = same ? 40 : l * 12 % 96;
      snprintf(text, sizeof text, "scratch_load_dword v10, %s offset:8", cases[c].operands);
      bench_sync(&b);
      assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++) {
        const uint32_t start = 8 + (cases[c].vector ? t->v[2].u32[l] : 0) + (cases[c].scalar ? 64u : 0u);
        const model_lane_t from = {SPACE_PRIVATE, start};
        assert_int_equal(t->v[10].u32[l], model_get(b.model, from, l, 4, 0, 4));
      }
      isa_assert_only_changed(t, "v10");
    }
  bench_free(&b);
}

/* ---- Loads to LDS ---- */

/* Lanes that get three or four dwords are 16 bytes apart. */
static void check_lds_dwords(void **state, const char *text, unsigned dwords) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  t->env.lds_bytes = 1160; /* lanes from 58 on are beyond its end */
  t->w.s.u32[GS_S_M0] = 0xabcc0000 | 212;
  gs_set_exec(&t->w, UINT64_C(0xfffffffffffff0f7));
  for (unsigned l = 0; l < GS_LANES; l++)
    isa_set_u64(&t->v[2], l, model_address((model_lane_t){SPACE_GLOBAL, l * 28 % 400}) - 16);
  bench_sync(&b);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t to = 212 + 16 + 16 * l;
    if (gs_bit(gs_exec(&t->w), l) && to + 4 * dwords <= 1160)
      memcpy(b.model->lds + to, b.model->memory + l * 28 % 400, 4 * (size_t)dwords);
  }
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  bench_compare(&b, text);
  isa_assert_only_changed(t, "lds");
  bench_free(&b);
}

static void check_lds_load(void **state, const char *text, unsigned bytes, bool is_signed, bool scratch) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  t->env.lds_bytes = 1024; /* lanes from 58 on are beyond its end */
  t->w.s.u32[GS_S_M0] = (isa_part(state) == GS_GFX950 ? 0xabcc0000 : 0xabcd0000) | 776;
  gs_set_exec(&t->w, UINT64_C(0xfffffffffffff0f7));
  model_lane_t lane[GS_LANES];
  for (unsigned l = 0; l < GS_LANES; l++) {
    lane[l] = (model_lane_t){scratch ? SPACE_PRIVATE : SPACE_GLOBAL, l * 5 * bytes % 400};
    isa_set_u64(&t->v[2], l, model_address(lane[l]) - 16);
    if (scratch)
      t->v[2].u32[l] = lane[l].start - 16;
  }
  bench_sync(&b);
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t value = (uint32_t)model_get(b.model, lane[l], l, bytes, 0, bytes);
    if (is_signed && value >> (8 * bytes - 1))
      value |= ~0u << 8 * bytes;
    const uint32_t to = 776 + 16 + 4 * l;
    if (gs_bit(gs_exec(&t->w), l) && to + 4 <= 1024)
      memcpy(b.model->lds + to, &value, 4);
  }
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  bench_compare(&b, text);
  isa_assert_only_changed(t, "lds");
  bench_free(&b);
}

static void test_loads_to_lds(void **state) {
  if (isa_part(state) == GS_GFX950) {
    check_lds_dwords(state, "global_load_lds_dwordx3 v[2:3], off offset:16", 3);
    check_lds_dwords(state, "global_load_lds_dwordx4 v[2:3], off offset:16", 4);
  }
  if (isa_part(state) & GS_GFX9_4) { /* by instructions of their own */
    check_lds_load(state, "global_load_lds_dword v[2:3], off offset:16", 4, false, false);
    check_lds_load(state, "global_load_lds_ubyte v[2:3], off offset:16", 1, false, false);
    check_lds_load(state, "global_load_lds_sbyte v[2:3], off offset:16", 1, true, false);
    check_lds_load(state, "global_load_lds_ushort v[2:3], off offset:16", 2, false, false);
    check_lds_load(state, "global_load_lds_sshort v[2:3], off offset:16", 2, true, false);
    check_lds_load(state, "scratch_load_lds_dword v2, off offset:16", 4, false, true);
    check_lds_load(state, "scratch_load_lds_ubyte v2, off offset:16", 1, false, true);
    check_lds_load(state, "scratch_load_lds_sbyte v2, off offset:16", 1, true, true);
    check_lds_load(state, "scratch_load_lds_ushort v2, off offset:16", 2, false, true);
    check_lds_load(state, "scratch_load_lds_sshort v2, off offset:16", 2, true, true);
    return;
  }
  check_lds_load(state, "global_load_dword v[2:3], off offset:16 lds", 4, false, false);
  check_lds_load(state, "global_load_ubyte v[2:3], off offset:16 lds", 1, false, false);
  check_lds_load(state, "global_load_sbyte v[2:3], off offset:16 lds", 1, true, false);
  check_lds_load(state, "global_load_ushort v[2:3], off offset:16 lds", 2, false, false);
  check_lds_load(state, "global_load_sshort v[2:3], off offset:16 lds", 2, true, false);
  check_lds_load(state, "scratch_load_dword v2, off offset:16 lds", 4, false, true);
  check_lds_load(state, "scratch_load_sbyte v2, off offset:16 lds", 1, true, true);
}

/* ---- Faults ---- */

typedef struct fault_case {
  const char *text;
  uint64_t address;  /* of the bad lane */
  uint64_t expected; /* address in the report */
  gs_wave_fault_kind_t kind;
  uint32_t access;
} fault_case_t;

#define HOLE (ISA_MEMORY + ISA_MEMORY_BYTES)
static const fault_case_t faults[] = {
    {"global_load_dword v10, v[2:3], off", HOLE, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_load_dword v10, v[2:3], off", HOLE - 2, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_load_dwordx4 v[10:13], v[2:3], off", HOLE - 15, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_load_ubyte v10, v[2:3], off", 0, 0, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_load_dword v10, v[2:3], off", ISA_MEMORY - 4, ISA_MEMORY - 4, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_load_dword v10, v[2:3], off", MODEL_PIECES + 2 * MODEL_PAGE - 1, MODEL_PIECES + 2 * MODEL_PAGE,
     GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"global_store_dword v[2:3], v10, off", HOLE, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
    {"global_store_dwordx3 v[2:3], v[10:12], off", HOLE - 4, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
    {"global_store_byte v[2:3], v10, off", ISA_READONLY, ISA_READONLY, GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
    {"global_store_dwordx4 v[2:3], v[10:13], off", ISA_READONLY + 100, ISA_READONLY + 100,
     GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
    {"global_load_dword v10, v[2:3], off", UINT64_C(1) << 48, UINT64_C(1) << 48, GS_WAVE_FAULT_APERTURE,
     GS_VM_READ},
    {"global_load_dword v10, v[2:3], off", UINT64_C(0xffff800000000000), UINT64_C(0xffff800000000000),
     GS_WAVE_FAULT_APERTURE, GS_VM_READ},
    {"flat_load_dword v10, v[2:3]", UINT64_C(3) << 48, UINT64_C(3) << 48, GS_WAVE_FAULT_APERTURE, GS_VM_READ},
    {"flat_load_dword v10, v[2:3]", (UINT64_C(1) << 48) + (UINT64_C(1) << 32),
     (UINT64_C(1) << 48) + (UINT64_C(1) << 32), GS_WAVE_FAULT_APERTURE, GS_VM_READ},
    {"flat_load_dwordx2 v[10:11], v[2:3]", HOLE, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_READ},
    {"flat_store_short v[2:3], v10", HOLE - 1, HOLE, GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
    {"flat_store_dword v[2:3], v10", ISA_READONLY + 8, ISA_READONLY + 8, GS_WAVE_FAULT_MEMORY, GS_VM_WRITE},
};

/* The first, the last or a middle lane is bad: the wave stops there, no lane after it is served, and lanes
 * without EXEC may have any address. */
static void test_faults(void **state) {
  static const unsigned bad_lanes[] = {0, 17, 63};
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
    for (unsigned k = 0; k < 6; k++) {
      const fault_case_t *f = &faults[i];
      const unsigned bad = bad_lanes[k % 3];
      model_bench_t b = bench_new(state, ISA_PART);
      isa_wave_t *t = b.t;
      /* Good addresses first, up to the last byte, so that the wave has a place to look first. */
      for (unsigned l = 0; l < GS_LANES; l++)
        isa_set_u64(&t->v[2], l, ISA_MEMORY + ISA_MEMORY_BYTES - 16 * (l + 1));
      assert_int_equal(isa_run(t, f->text), GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++)
        isa_set_u64(&t->v[2], l, ISA_MEMORY + 16 * l);
      isa_set_u64(&t->v[2], bad, f->address);
      isa_set_u64(&t->v[2], 40, f->address);
      gs_set_exec(&t->w, k < 3 ? UINT64_MAX : UINT64_MAX & ~(UINT64_C(1) << 40));
      if (k < 3 && bad > 40)
        isa_set_u64(&t->v[2], 40, ISA_MEMORY);
      bench_sync(&b);
      assert_int_equal(isa_run(t, f->text), GS_WAVE_FAULTED);
      isa_assert_fault(t, f->kind);
      if (t->w.fault.address != f->expected || t->w.fault.lane != bad || t->w.fault.access != f->access)
        fail_msg("%s: fault at %#llx lane %u access %u, should be %#llx %u %u", f->text,
                 (unsigned long long)t->w.fault.address, t->w.fault.lane, t->w.fault.access,
                 (unsigned long long)f->expected, bad, f->access);
      bench_compare(&b, f->text);
      isa_assert_only_changed(t, "");
      /* The same address in a lane that takes no part is nobody's business. */
      gs_set_exec(&t->w, gs_exec(&t->w) & ~(UINT64_C(1) << bad) & ~(UINT64_C(1) << 40));
      t->w.state = GS_WAVE_RUNNING;
      assert_int_equal(isa_run(t, f->text), GS_WAVE_RUNNING);
      gs_set_exec(&t->w, 0);
      for (unsigned l = 0; l < GS_LANES; l++)
        isa_set_u64(&t->v[2], l, f->address);
      assert_int_equal(isa_run(t, f->text), GS_WAVE_RUNNING);
      isa_assert_only_changed(t, "");
      bench_free(&b);
    }
}

/* Scratch beyond what is mapped for it. */
static void test_scratch_faults(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[2].u32[l] = 0;
  t->v[2].u32[5] = MODEL_PRIVATE_BYTES;
  assert_int_equal(isa_run(t, "scratch_load_dword v10, v2, off"), GS_WAVE_FAULTED);
  isa_assert_fault(t, GS_WAVE_FAULT_MEMORY);
  assert_true(t->w.fault.address == HOLE / 256 * 256 + 5 * 4);
  assert_int_equal(t->w.fault.lane, 5);
  isa_set_u64(&t->v[2], 5, (UINT64_C(2) << 48) + MODEL_PRIVATE_BYTES - 4);
  gs_set_exec(&t->w, 32);
  t->w.state = GS_WAVE_RUNNING;
  assert_int_equal(isa_run(t, "flat_store_dwordx2 v[2:3], v[10:11]"), GS_WAVE_FAULTED);
  assert_true(t->w.fault.address == HOLE / 256 * 256 + 5 * 4);
  isa_assert_only_changed(t, "");
  bench_free(&b);
}

/* The address space changes between two executions of an instruction. */
static void test_map_changes(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  gs_vm_reader_leave(&t->reader);
  assert_int_equal(gs_vm_unmap(t->vm, MODEL_PIECES, MODEL_PIECES + MODEL_PAGE), 0);
  (void)gs_vm_reader_enter(&t->reader);
  const char *text = "global_load_dword v10, v[2:3], off";
  for (unsigned l = 0; l < GS_LANES; l++)
    isa_set_u64(&t->v[2], l, MODEL_PIECES + MODEL_PAGE + 4 * l);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  assert_memory_equal(&t->v[10], b.pieces[1], 256);
  model_map(t, MODEL_PIECES + MODEL_PAGE, b.pieces[0], GS_VM_READ);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  assert_memory_equal(&t->v[10], b.pieces[0], 256);
  gs_vm_reader_leave(&t->reader);
  assert_int_equal(gs_vm_unmap(t->vm, MODEL_PIECES + MODEL_PAGE, MODEL_PIECES + 2 * MODEL_PAGE), 0);
  (void)gs_vm_reader_enter(&t->reader);
  assert_int_equal(isa_run(t, text), GS_WAVE_FAULTED);
  isa_assert_fault(t, GS_WAVE_FAULT_MEMORY);
  assert_int_equal(t->w.fault.lane, 0);
  bench_free(&b);
}

/* With XNACK a wave reaches the program's memory where nothing is mapped. When something has been mapped
 * since the snapshot in use, no lane may be served before the wave has the newest. */
static void test_gaps(void **state) {
  static uint32_t word;
  static uint8_t page[MODEL_PAGE];
  const uint64_t mapped = UINT64_C(0x700000000);
  uint32_t *const in_page = (uint32_t *)(void *)page;
  isa_wave_t *t = isa_new_on(state, ISA_PART, NULL); /* devices repeat what an old snapshot refuses */
  assert_int_equal(gs_vm_share_host(t->vm, true), 0);
  (void)gs_vm_reader_enter(&t->reader);
  gs_set_exec(&t->w, 3);
  for (unsigned lane = 0; lane < 2; lane++) {
    isa_set_u64(&t->v[2], lane, (uintptr_t)&word);
    t->v[4].u32[lane] = 5;
  }
  isa_set_s64(t, 4, (uintptr_t)&word);
  word = 1;
  in_page[0] = 100;
  assert_int_equal(isa_run(t, "global_atomic_add v[2:3], v4, off"), GS_WAVE_RUNNING);
  assert_int_equal(word, 11);

  const gs_vm_range_t range = {
      .start = mapped, .end = mapped + MODEL_PAGE, .host = page, .access = GS_VM_READ | GS_VM_WRITE};
  assert_int_equal(gs_vm_map(t->vm, &range), 0);
  isa_set_u64(&t->v[2], 1, mapped);
  static const char *const texts[] = {"global_atomic_add v[2:3], v4, off", "flat_atomic_add v[2:3], v4",
                                      "global_load_dword v6, v[2:3], off", "s_load_dword s6, s[4:5], 0x0"};
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_int_equal(isa_run(t, texts[i]), GS_WAVE_FAULTED);
    assert_int_equal(t->w.fault.kind, GS_WAVE_FAULT_MEMORY);
    assert_int_not_equal(t->w.fault.access, 0);
  }
  assert_int_equal(word, 11);
  assert_int_equal(in_page[0], 100);
  (void)gs_vm_reader_enter(&t->reader);
  assert_int_equal(isa_run(t, texts[0]), GS_WAVE_RUNNING);
  assert_int_equal(word, 16);
  assert_int_equal(in_page[0], 105);
  isa_free(t);
}

/* ---- Concurrency ---- */

enum { ROUNDS = 300 };

/* One wave writes all ones and all zeroes over memory that another one and the host read: they may see
 * either, in any order, but never a mixture within a dword; and that is no fault of the simulator's for the
 * thread sanitizer. */
static void test_races(void **state) {
  static const char writes[] = "global_store_dword v2, v8, s[4:5]\n"
                               "global_store_dwordx4 v3, v[12:15], s[4:5]\n"
                               "global_store_dword v4, v12, s[4:5]\n"
                               "flat_store_dwordx2 v[6:7], v[8:9]\n"
                               "global_store_dwordx4 v3, v[8:11], s[4:5]\n"
                               "flat_store_dword v[6:7], v12\n";
  static const char reads[] = "global_load_dword v16, v2, s[4:5]\n"
                              "global_load_dwordx4 v[17:20], v3, s[4:5]\n"
                              "global_load_dword v21, v4, s[4:5]\n"
                              "flat_load_dwordx2 v[22:23], v[6:7]\n";
  model_bench_t b = bench_new(state, GS_GFX906);
  isa_wave_t *writer = b.t, *reader = isa_new(state, GS_GFX906);
  pthread_t thread;
  model_map(reader, MODEL_PIECES, b.pieces[1], GS_VM_READ);
  memset(b.pieces[1], 0, MODEL_PAGE);
  for (unsigned i = 0; i < 2; i++) {
    isa_wave_t *t = i ? reader : writer;
    const uint64_t base = i ? MODEL_PIECES : MODEL_PIECES + MODEL_PAGE;
    isa_set_s64(t, 4, base);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[2].u32[l] = 4 * l;
      t->v[3].u32[l] = 16 * l;
      t->v[4].u32[l] = l * 28 % 256;
      isa_set_u64(&t->v[6], l, base + l * 24 % 1000);
      for (unsigned k = 8; k < 24; k++)
        t->v[k].u32[l] = k < 12 ? UINT32_MAX : 0;
    }
  }
  model_program_t writing = model_decode(state, writer, writes, ROUNDS),
                  reading = model_decode(state, reader, reads, 1);
  assert_int_equal(pthread_create(&thread, NULL, model_run, &writing), 0);
  unsigned torn = 0;
  for (unsigned i = 0; i < ROUNDS; i++) {
    (void)model_run(&reading);
    for (unsigned k = 16; k < 24; k++)
      for (unsigned l = 0; l < GS_LANES; l++)
        torn += reader->v[k].u32[l] != 0 && reader->v[k].u32[l] != UINT32_MAX;
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(torn, 0);
  assert_int_equal(writer->w.state, GS_WAVE_RUNNING);
  assert_int_equal(reader->w.state, GS_WAVE_RUNNING);
  isa_free(reader);
  bench_free(&b);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_loads_and_stores),
      isa_part_test_on(test_accumulation_registers, GS_CDNA2_4),
      isa_part_test(test_overlap),
      isa_part_test(test_offset_limits),
      isa_part_test(test_address_wrap),
      isa_part_test(test_last_lane_wins),
      isa_part_test(test_loads_to_lds),
      isa_part_test_on(test_scratch_addresses, GS_GFX9_4),
      isa_part_test(test_faults),
      isa_part_test(test_scratch_faults),
      isa_part_test(test_map_changes),
      isa_part_test(test_gaps),
      cmocka_unit_test(test_races),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
