/* Scalar memory instructions: addresses, bounds, rights, atomics, clocks, cache control.
 * Not here: vector memory (test_flat.c and others). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* Where the base registers point in most tests: the middle of the writable memory. */
#define MIDDLE (ISA_MEMORY + ISA_MEMORY_BYTES / 2)

enum { D = 16, BASE = 40, OFFSET = 50 };

static uint32_t dword_at(const isa_wave_t *t, uint64_t address) {
  uint32_t value;
  memcpy(&value, t->memory + (address - ISA_MEMORY), 4);
  return value;
}

static const char *registers(char text[16], unsigned first, unsigned count) {
  if (count == 1)
    (void)snprintf(text, 16, "s%u", first);
  else
    (void)snprintf(text, 16, "s[%u:%u]", first, first + count - 1);
  return text;
}

/* ---- Addresses ---- */

/* Ways to write an address, and what they add to the base. */
static const struct {
  const char *offset;
  uint32_t s_offset; /* value of s50 and m0 */
  int64_t adds;
  int64_t scratch_adds; /* s_scratch_*: registers count 64-byte units */
} addresses[] = {
    {"0x0", 0, 0, 0},
    {"0x4", 0, 4, 4},
    {"0x7", 0, 4, 4}, /* the two low bits do not exist */
    {"0x1fff", 0, 0x1ffc, 0x1ffc},
    {"-0x4", 0, -4, -4},
    {"-0x1000", 0, -0x1000, -0x1000},
    {"s50", 0x20, 0x20, 0x800},
    {"s50", 0x23, 0x20, 0x800},
    {"s50", 0, 0, 0},
    {"m0", 0x10, 0x10, 0x400},
    {"s50 offset:0x8", 0x20, 0x28, 0x808},
    {"s50 offset:0xb", 0x23, 0x28, 0x808},
};
enum { ADDRESSES = sizeof addresses / sizeof *addresses };

static void set_base(isa_wave_t *t, uint64_t base, uint32_t s_offset) {
  isa_set_s64(t, BASE, base);
  t->w.s.u32[OFFSET] = t->w.s.u32[GS_S_M0] = s_offset;
}

static const struct {
  const char *suffix;
  unsigned dwords;
  bool has_store;
} sizes[] = {{"dword", 1, true},
             {"dwordx2", 2, true},
             {"dwordx4", 4, true},
             {"dwordx8", 8, false},
             {"dwordx16", 16, false}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The instructions of one kind in all sizes and with all offsets. */
enum { MOST_TEXTS = 256, TEXT = 96 };
typedef struct kind {
  const char *name; /* before the size */
  unsigned base_registers;
  bool all_sizes; /* or only those that stores have */
} kind_t;

static void kind_text(char *text, kind_t kind, unsigned s, const char *offset) {
  char d[16];
  (void)snprintf(text, TEXT, "%s_%s %s, s[%u:%u], %s", kind.name, sizes[s].suffix,
                 registers(d, D, sizes[s].dwords), BASE, BASE + kind.base_registers - 1, offset);
}

static void prepare(void *const *state, gs_target_t target, kind_t kind, const char *const *offsets,
                    size_t stride, size_t count) {
  char texts[MOST_TEXTS][TEXT];
  const char *pointers[MOST_TEXTS];
  size_t n = 0;
  for (unsigned s = 0; s < SIZES; s++)
    for (size_t i = 0; i < count && (kind.all_sizes || sizes[s].has_store); i++) {
      const char *offset;
      memcpy(&offset, (const char *)offsets + i * stride, sizeof offset);
      assert_true(n < MOST_TEXTS);
      kind_text(texts[n], kind, s, offset);
      pointers[n] = texts[n];
      n++;
    }
  isa_prepare(state, target, pointers, sizeof *pointers, n);
}

static const kind_t loads = {"s_load", 2, true}, scratch_loads = {"s_scratch_load", 2, false};
static const kind_t stores = {"s_store", 2, false}, scratch_stores = {"s_scratch_store", 2, false};
static const kind_t buffer_loads = {"s_buffer_load", 4, true}, buffer_stores = {"s_buffer_store", 4, false};

static void check_load(isa_wave_t *t, kind_t kind, unsigned s, unsigned a, uint64_t base, bool is_scratch) {
  const unsigned dwords = sizes[s].dwords;
  char text[TEXT];
  kind_text(text, kind, s, addresses[a].offset);
  isa_reset(t, a);
  set_base(t, base, addresses[a].s_offset);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  const uint64_t at =
      (base & ~UINT64_C(3)) + (uint64_t)(is_scratch ? addresses[a].scratch_adds : addresses[a].adds);
  for (unsigned i = 0; i < dwords; i++)
    if (t->w.s.u32[D + i] != dword_at(t, at + 4 * i))
      fail_msg("%s: dword %u is 0x%08x, not 0x%08x", text, i, t->w.s.u32[D + i], dword_at(t, at + 4 * i));
  char changed[16];
  isa_assert_only_changed(t, registers(changed, D, dwords));
}

static void test_load(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  prepare(state, ISA_PART, loads, &addresses[0].offset, sizeof *addresses, ADDRESSES);
  prepare(state, ISA_PART, scratch_loads, &addresses[0].offset, sizeof *addresses, ADDRESSES);
  for (unsigned s = 0; s < SIZES; s++)
    for (unsigned a = 0; a < ADDRESSES; a++) {
      check_load(t, loads, s, a, MIDDLE, false);
      check_load(t, loads, s, a, MIDDLE + 3, false);
      if (sizes[s].has_store)
        check_load(t, scratch_loads, s, a, MIDDLE + 2, true);
    }
  isa_free(t);
}

static void check_store(isa_wave_t *t, kind_t kind, unsigned s, unsigned a, uint64_t base, bool is_scratch) {
  const unsigned dwords = sizes[s].dwords;
  char text[TEXT];
  kind_text(text, kind, s, addresses[a].offset);
  isa_reset(t, a);
  set_base(t, base, addresses[a].s_offset);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  const uint64_t at =
      (base & ~UINT64_C(3)) + (uint64_t)(is_scratch ? addresses[a].scratch_adds : addresses[a].adds);
  uint8_t *const expected = t->before.memory + (at - ISA_MEMORY);
  memcpy(expected, &t->before.w.s.u32[D], 4 * dwords);
  isa_assert_only_changed(t, "");
}

static void test_store(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  prepare(state, ISA_PART, stores, &addresses[0].offset, sizeof *addresses, ADDRESSES);
  prepare(state, ISA_PART, scratch_stores, &addresses[0].offset, sizeof *addresses, ADDRESSES);
  for (unsigned s = 0; s < SIZES; s++)
    for (unsigned a = 0; a < ADDRESSES && sizes[s].has_store; a++) {
      check_store(t, stores, s, a, MIDDLE + 1, false);
      check_store(t, scratch_stores, s, a, MIDDLE, true);
    }
  isa_free(t);
}

/* A load may replace its own base and offset. */
static void test_load_overlap(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  set_base(t, MIDDLE, 8);
  (void)isa_run(t, "s_load_dwordx16 s[40:55], s[40:41], s50");
  assert_memory_equal(&t->w.s.u32[40], t->memory + ISA_MEMORY_BYTES / 2 + 8, 64);
  isa_assert_only_changed(t, "s[40:55]");
  /* Into VCC and with VCC as base. */
  isa_set_s64(t, GS_S_VCC, MIDDLE);
  (void)isa_run(t, "s_load_dwordx2 vcc, vcc, 0x10");
  assert_memory_equal(&t->w.s.u32[GS_S_VCC], t->memory + ISA_MEMORY_BYTES / 2 + 16, 8);
  isa_assert_only_changed(t, "vcc");
  isa_free(t);
}

/* Data must be in SGPRs or VCC: with other registers an instruction is not executed. */
static void test_bad_data_registers(void **state) {
  enum { SDATA_SHIFT = 6 };
  static const char *const texts[] = {"s_load_dword s0, s[40:41], 0x0",
                                      "s_load_dwordx2 s[0:1], s[40:41], 0x0",
                                      "s_load_dwordx4 s[0:3], s[40:41], 0x0",
                                      "s_load_dwordx8 s[0:7], s[40:41], 0x0",
                                      "s_load_dwordx16 s[0:15], s[40:41], 0x0",
                                      "s_store_dword s0, s[40:41], 0x0",
                                      "s_store_dwordx4 s[0:3], s[40:41], 0x0",
                                      "s_buffer_load_dwordx16 s[0:15], s[40:43], 0x0",
                                      "s_buffer_store_dwordx2 s[0:1], s[40:43], 0x0",
                                      "s_atomic_add s0, s[40:41], 0x0 glc",
                                      "s_atomic_cmpswap_x2 s[0:3], s[40:41], 0x0 glc",
                                      "s_buffer_atomic_swap_x2 s[0:1], s[40:43], 0x0 glc",
                                      "s_memtime s[0:1]"};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (unsigned sdata = 108; sdata < 128; sdata++) {
      size_t count;
      const uint32_t *const good = isa_assemble(state, ISA_PART, texts[i], &count);
      assert_int_equal(count, 2);
      const uint32_t words[2] = {good[0] | sdata << SDATA_SHIFT, good[1]};
      set_base(t, MIDDLE, 0);
      t->w.s.u32[BASE + 2] = 4096;
      t->w.s.u32[BASE + 3] = 0;
      (void)isa_run_words(t, words, 2);
      isa_assert_only_changed(t, "");
    }
  isa_free(t);
}

/* ---- Rights ---- */

static void set_buffer(isa_wave_t *t, uint64_t base, uint32_t stride, uint32_t records, uint32_t s_offset) {
  set_base(t, base, s_offset);
  t->w.s.u32[BASE + 1] |= stride << 16;
  t->w.s.u32[BASE + 2] = records;
  t->w.s.u32[BASE + 3] = 0xffffffff; /* formats and selectors do not matter to scalar accesses */
}

static void check_memory_fault(isa_wave_t *t, const char *text, uint64_t base, uint64_t address,
                               uint32_t access) {
  set_base(t, base, 0);
  (void)isa_run(t, text);
  if (t->w.state != GS_WAVE_FAULTED || t->w.fault.kind != GS_WAVE_FAULT_MEMORY ||
      t->w.fault.address != address || t->w.fault.access != access || t->w.fault.lane != GS_LANES)
    fail_msg("%s at 0x%llx: state %u fault %u address 0x%llx access %u lane %u", text,
             (unsigned long long)base, t->w.state, t->w.fault.kind, (unsigned long long)t->w.fault.address,
             t->w.fault.access, t->w.fault.lane);
  isa_assert_only_changed(t, "");
}

static void test_faults(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint64_t end = ISA_MEMORY + ISA_MEMORY_BYTES;
  enum { READ = GS_VM_READ, WRITE = GS_VM_WRITE, BOTH = GS_VM_READ | GS_VM_WRITE };
  check_memory_fault(t, "s_load_dword s0, s[40:41], 0x0", 0, 0, READ);
  check_memory_fault(t, "s_load_dword s0, s[40:41], 0x0", end, end, READ);
  check_memory_fault(t, "s_load_dword s0, s[40:41], -0x4", ISA_MEMORY, ISA_MEMORY - 4, READ);
  /* Partly beyond the end: the first byte that is not there. */
  check_memory_fault(t, "s_load_dwordx4 s[0:3], s[40:41], 0x0", end - 8, end, READ);
  check_memory_fault(t, "s_load_dwordx16 s[0:15], s[40:41], 0x0", end - 4, end, READ);
  check_memory_fault(t, "s_store_dword s0, s[40:41], 0x0", end, end, WRITE);
  check_memory_fault(t, "s_store_dwordx4 s[0:3], s[40:41], 0x0", end - 8, end, WRITE);
  check_memory_fault(t, "s_store_dword s0, s[40:41], 0x0", ISA_READONLY, ISA_READONLY, WRITE);
  check_memory_fault(t, "s_store_dword s0, s[40:41], 0x0", ISA_CODE, ISA_CODE, WRITE);
  check_memory_fault(t, "s_atomic_add s0, s[40:41], 0x0 glc", ISA_READONLY, ISA_READONLY, BOTH);
  check_memory_fault(t, "s_atomic_or_x2 s[0:1], s[40:41], 0x0", end, end, BOTH);
  check_memory_fault(t, "s_scratch_load_dword s0, s[40:41], 0x0", end, end, READ);
  check_memory_fault(t, "s_scratch_store_dword s0, s[40:41], 0x0", end, end, WRITE);

  /* Reading what is read-only, or code, is good; the last dword is still there. */
  set_base(t, ISA_READONLY, 0);
  assert_int_equal(isa_run(t, "s_load_dwordx4 s[0:3], s[40:41], 0xff0"), GS_WAVE_RUNNING);
  assert_memory_equal(t->w.s.u32, t->readonly + 0xff0, 16);
  set_base(t, ISA_CODE, 0);
  assert_int_equal(isa_run(t, "s_load_dword s0, s[40:41], 0x0"), GS_WAVE_RUNNING);
  assert_memory_equal(t->w.s.u32, t->code, 4);
  set_base(t, end - 4, 0);
  assert_int_equal(isa_run(t, "s_load_dword s0, s[40:41], 0x0"), GS_WAVE_RUNNING);
  assert_int_equal(t->w.s.u32[0], dword_at(t, end - 4));
  set_base(t, end - 16, 0);
  assert_int_equal(isa_run(t, "s_store_dwordx4 s[0:3], s[40:41], 0x0"), GS_WAVE_RUNNING);
  assert_memory_equal(t->memory + ISA_MEMORY_BYTES - 16, t->w.s.u32, 16);
  set_buffer(t, end - 16, 0, 16, 0);
  assert_int_equal(isa_run(t, "s_buffer_load_dwordx4 s[0:3], s[40:43], 0x0"), GS_WAVE_RUNNING);
  assert_memory_equal(t->w.s.u32, t->memory + ISA_MEMORY_BYTES - 16, 16);
  isa_free(t);
}

/* Two mappings side by side for the GPU that are apart in this process. */
static void test_adjacent_mappings(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint64_t seam = UINT64_C(0x400001000);
  const gs_vm_range_t first = {.start = seam - 4096,
                               .end = seam,
                               .host = t->memory + 8192,
                               .allocation = seam - 4096,
                               .allocation_size = 4096,
                               .access = GS_VM_READ | GS_VM_WRITE};
  const gs_vm_range_t second = {.start = seam,
                                .end = seam + 4096,
                                .host = t->memory,
                                .allocation = seam,
                                .allocation_size = 4096,
                                .access = GS_VM_READ | GS_VM_WRITE};
  gs_vm_reader_leave(&t->reader);
  assert_int_equal(gs_vm_map(t->vm, &first), 0);
  assert_int_equal(gs_vm_map(t->vm, &second), 0);
  (void)gs_vm_reader_enter(&t->reader);
  uint8_t expected[64];
  for (unsigned before = 4; before < 64; before += 4) {
    set_base(t, seam - before, 0);
    assert_int_equal(isa_run(t, "s_load_dwordx16 s[0:15], s[40:41], 0x0"), GS_WAVE_RUNNING);
    memcpy(expected, t->memory + 8192 + 4096 - before, before);
    memcpy(expected + before, t->memory, 64 - before);
    assert_memory_equal(t->w.s.u32, expected, 64);
  }
  set_base(t, seam - 8, 0);
  assert_int_equal(isa_run(t, "s_store_dwordx4 s[0:3], s[40:41], 0x0"), GS_WAVE_RUNNING);
  assert_memory_equal(t->memory + 8192 + 4096 - 8, t->w.s.u32, 8);
  assert_memory_equal(t->memory, &t->w.s.u32[2], 8);
  isa_free(t);
}

/* ---- Buffers ---- */

/* Buffers by stride and records, and an access of up to 16 dwords around their end. */
static const struct {
  uint32_t stride, records;
  const char *offset;
  uint32_t s_offset;
  unsigned at, inside; /* first byte, and how many dwords of it on are in the buffer */
} buffers[] = {
    {0, 4096, "0x0", 0, 0, 16},
    {0, 4096, "0x17", 0, 0x14, 16},
    {0, 4096, "s50", 0x102, 0x100, 16},
    {0, 4096, "s50 offset:0x40", 0x100, 0x140, 16},
    {0, 4096, "s50 offset:0x2", 0x102, 0x104, 16}, /* the final offset is cut to a dword, not its parts */
    {0, 64, "0x0", 0, 0, 16},
    {0, 64, "0x4", 0, 4, 15},
    {0, 64, "0x3c", 0, 60, 1},
    {0, 64, "0x40", 0, 64, 0},
    {0, 0, "0x0", 0, 0, 0},
    {0, 10, "0x0", 0, 0, 3}, /* a dword that begins in the buffer */
    {16, 4, "0x0", 0, 0, 16},
    {16, 4, "m0", 0x30, 48, 4},
    {16, 0, "0x0", 0, 0, 0},
    {1, 8, "0x0", 0, 0, 2},
    {5, 4, "0x0", 0, 0, 5},
    {0xc004, 2, "0x0", 0, 0, 2}, /* the two bits above the stride are about swizzling */
    {0x3fff, 1, "0x3ffc", 0, 0x3ffc, 1},
    {4, 0x80000000, "0x100", 0, 0x100, 16},
    {0, 64, "s50", 0xfffffffc, 0, 0},
};
enum { BUFFERS = sizeof buffers / sizeof *buffers };

static void check_buffer_load(isa_wave_t *t, unsigned s, unsigned i) {
  char text[TEXT], changed[16];
  kind_text(text, buffer_loads, s, buffers[i].offset);
  isa_reset(t, i);
  set_buffer(t, ISA_MEMORY + 0x1001, buffers[i].stride, buffers[i].records, buffers[i].s_offset);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned k = 0; k < sizes[s].dwords; k++) {
    const uint32_t expected =
        k < buffers[i].inside ? dword_at(t, ISA_MEMORY + 0x1000 + buffers[i].at + 4 * k) : 0;
    if (t->w.s.u32[D + k] != expected)
      fail_msg("%s stride %u records %u: dword %u is 0x%08x, not 0x%08x", text, buffers[i].stride,
               buffers[i].records, k, t->w.s.u32[D + k], expected);
  }
  isa_assert_only_changed(t, registers(changed, D, sizes[s].dwords));
}

static void check_buffer_store(isa_wave_t *t, unsigned s, unsigned i) {
  char text[TEXT];
  kind_text(text, buffer_stores, s, buffers[i].offset);
  isa_reset(t, i);
  set_buffer(t, ISA_MEMORY + 0x1002, buffers[i].stride, buffers[i].records, buffers[i].s_offset);
  assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
  for (unsigned k = 0; k < sizes[s].dwords && k < buffers[i].inside; k++)
    memcpy(t->before.memory + 0x1000 + buffers[i].at + 4 * k, &t->before.w.s.u32[D + k], 4);
  isa_assert_only_changed(t, "");
}

static void test_buffers(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  prepare(state, ISA_PART, buffer_loads, &buffers[0].offset, sizeof *buffers, BUFFERS);
  prepare(state, ISA_PART, buffer_stores, &buffers[0].offset, sizeof *buffers, BUFFERS);
  for (unsigned s = 0; s < SIZES; s++)
    for (unsigned i = 0; i < BUFFERS; i++) {
      check_buffer_load(t, s, i);
      if (sizes[s].has_store)
        check_buffer_store(t, s, i);
    }
  isa_free(t);
}

/* An offset before the buffer, which assemblers refuse: nothing is read or written, and no dword behind it is
 * taken for one of the buffer. */
static void test_before_buffer(void **state) {
  static const char *const texts[] = {
      "s_buffer_load_dwordx4 s[0:3], s[40:43], 0x4", "s_buffer_store_dwordx4 s[0:3], s[40:43], 0x4",
      "s_buffer_atomic_add s0, s[40:43], 0x4", "s_buffer_atomic_add_x2 s[0:1], s[40:43], 0x8"};
  static const uint32_t zeroes[4];
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t count;
    const uint32_t *const good = isa_assemble(state, ISA_PART, texts[i], &count);
    const uint32_t words[2] = {good[0], -good[1] & 0x1fffff};
    set_buffer(t, ISA_MEMORY + 64, 0, 4096, 0);
    assert_int_equal(isa_run_words(t, words, 2), GS_WAVE_RUNNING);
    isa_assert_only_changed(t, i == 0 ? "s[0:3]" : "");
    if (i == 0)
      assert_memory_equal(t->w.s.u32, zeroes, sizeof zeroes);
  }
  isa_free(t);
}

/* Inside a descriptor's bounds but not mapped. */
static void test_buffer_faults(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  const uint64_t end = ISA_MEMORY + ISA_MEMORY_BYTES;
  set_buffer(t, end - 8, 0, 4096, 0);
  (void)isa_run(t, "s_buffer_load_dwordx4 s[0:3], s[40:43], 0x0");
  isa_assert_fault(t, GS_WAVE_FAULT_MEMORY);
  assert_true(t->w.fault.address == end);
  isa_assert_only_changed(t, "");
  set_buffer(t, ISA_READONLY, 0, 4096, 0);
  (void)isa_run(t, "s_buffer_store_dword s0, s[40:43], 0x10");
  isa_assert_fault(t, GS_WAVE_FAULT_MEMORY);
  assert_true(t->w.fault.address == ISA_READONLY + 16);
  /* A descriptor that does not begin at a multiple of four registers, nor end before the last. */
  size_t count;
  const uint32_t *const good = isa_assemble(state, ISA_PART, "s_buffer_load_dword s0, s[40:43], 0x0", &count);
  const uint32_t words[2] = {(good[0] & ~UINT32_C(63)) | 63, good[1]};
  (void)isa_run_words(t, words, 2);
  isa_assert_fault(t, GS_WAVE_FAULT_ILLEGAL);
  isa_free(t);
}

/* ---- Atomics ---- */

__extension__ typedef __int128 int128;

static int128 as_signed(uint64_t value, unsigned bits) {
  return (value >> (bits - 1) & 1) ? (int128)value - ((int128)1 << bits) : (int128)value;
}

/* The new value of an item, from the old one, the data and (cmpswap) the expected value. */
typedef uint64_t atomic_model_t(uint64_t old, uint64_t data, uint64_t expected, unsigned bits);
static uint64_t a_swap(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)old, (void)expected, (void)bits;
  return data;
}
static uint64_t a_cmpswap(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)bits;
  return old == expected ? data : old;
}
static uint64_t a_add(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return (uint64_t)(((int128)old + (int128)data) % ((int128)1 << bits));
}
static uint64_t a_sub(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return (uint64_t)(((int128)old - (int128)data + ((int128)1 << bits)) % ((int128)1 << bits));
}
static uint64_t a_smin(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return as_signed(old, bits) < as_signed(data, bits) ? old : data;
}
static uint64_t a_smax(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return as_signed(old, bits) > as_signed(data, bits) ? old : data;
}
static uint64_t a_umin(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected, (void)bits;
  return old < data ? old : data;
}
static uint64_t a_umax(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected, (void)bits;
  return old > data ? old : data;
}
/* The logic ones bit by bit. */
static uint64_t bits_of(uint64_t old, uint64_t data, unsigned bits, unsigned truth) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result |= (uint64_t)(truth >> ((old >> i & 1) * 2 + (data >> i & 1)) & 1) << i;
  return result;
}
static uint64_t a_and(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return bits_of(old, data, bits, 0x8);
}
static uint64_t a_or(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return bits_of(old, data, bits, 0xe);
}
static uint64_t a_xor(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected;
  return bits_of(old, data, bits, 0x6);
}
/* A counter from 0 to data, and the way back. */
static uint64_t a_inc(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected, (void)bits;
  return old < data ? old + 1 : 0;
}
static uint64_t a_dec(uint64_t old, uint64_t data, uint64_t expected, unsigned bits) {
  (void)expected, (void)bits;
  return old > 0 && old <= data ? old - 1 : data;
}

static const struct {
  const char *name;
  atomic_model_t *model;
} atomics[] = {
    {"swap", a_swap}, {"cmpswap", a_cmpswap}, {"add", a_add},   {"sub", a_sub}, {"smin", a_smin},
    {"umin", a_umin}, {"smax", a_smax},       {"umax", a_umax}, {"and", a_and}, {"or", a_or},
    {"xor", a_xor},   {"inc", a_inc},         {"dec", a_dec},
};
enum { ATOMICS = sizeof atomics / sizeof *atomics };

/* One atomic instruction in all its forms. */
typedef struct atomic_case {
  unsigned row, bits;
  bool is_buffer, glc;
} atomic_case_t;

static void atomic_text(char *text, size_t size, atomic_case_t c) {
  char d[16];
  const bool pairs = atomics[c.row].model == a_cmpswap;
  (void)snprintf(text, size, "s_%satomic_%s%s %s, s[%u:%u], 0x20%s", c.is_buffer ? "buffer_" : "",
                 atomics[c.row].name, c.bits == 64 ? "_x2" : "",
                 registers(d, D, c.bits / 32 * (pairs ? 2 : 1)), BASE, BASE + (c.is_buffer ? 3 : 1),
                 c.glc ? " glc" : "");
}

static void write_item(void *at, uint64_t value, unsigned bits) {
  memcpy(at, &value, bits / 8);
}

static void check_atomic(isa_wave_t *t, atomic_case_t c, const char *text, uint64_t old, uint64_t data,
                         uint64_t expected) {
  uint8_t *const item = t->memory + ISA_MEMORY_BYTES / 2 + 0x20;
  if (c.is_buffer)
    set_buffer(t, MIDDLE, 0, 64, 0);
  else
    set_base(t, MIDDLE, 0);
  write_item(item, old, c.bits);
  write_item(&t->w.s.u32[D], data, c.bits);
  write_item(&t->w.s.u32[D + c.bits / 32], expected, c.bits);
  const uint64_t wanted = atomics[c.row].model(old, data, expected, c.bits);
  t->w.pc = ISA_CODE;
  assert_int_equal(isa_resume(t), GS_WAVE_RUNNING);
  uint64_t result = 0, returned = 0;
  memcpy(&result, item, c.bits / 8);
  memcpy(&returned, &t->w.s.u32[D], c.bits / 8);
  if (result != wanted || returned != (c.glc ? old : data))
    fail_msg("%s: old 0x%llx data 0x%llx expected 0x%llx: memory 0x%llx (not 0x%llx), returned 0x%llx", text,
             (unsigned long long)old, (unsigned long long)data, (unsigned long long)expected,
             (unsigned long long)result, (unsigned long long)wanted, (unsigned long long)returned);
}

static void check_atomic_edges(isa_wave_t *t, atomic_case_t c) {
  char text[96];
  atomic_text(text, sizeof text, c);
  const size_t count = c.bits == 64 ? isa_u64_edge_count : isa_u32_edge_count;
  set_buffer(t, MIDDLE, 0, 64, 0);
  if (!c.is_buffer)
    set_base(t, MIDDLE, 0);
  (void)isa_run(t, text);
  isa_assert_only_changed(t, c.glc ? (c.bits == 64 ? "s[16:17] memory" : "s16 memory") : "memory");
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++) {
      const uint64_t old = c.bits == 64 ? isa_u64_edges[i] : isa_u32_edges[i];
      const uint64_t data = c.bits == 64 ? isa_u64_edges[k] : isa_u32_edges[k];
      check_atomic(t, c, text, old, data, old);
      check_atomic(t, c, text, old, data, old ^ UINT64_C(1) << (c.bits - 1));
    }
  /* Neighbours stay. */
  const size_t at = ISA_MEMORY_BYTES / 2 + 0x20, end = at + c.bits / 8;
  assert_memory_equal(t->memory, t->before.memory, at);
  assert_memory_equal(t->memory + end, t->before.memory + end, ISA_MEMORY_BYTES - end);
}

static void test_atomics(void **state) {
  static char texts[ATOMICS * 8][96];
  static const char *pointers[ATOMICS * 8];
  atomic_case_t cases[ATOMICS * 8];
  size_t count = 0;
  for (unsigned row = 0; row < ATOMICS; row++)
    for (unsigned form = 0; form < 8; form++) {
      cases[count] = (atomic_case_t){row, form & 1 ? 64 : 32, form & 2, form & 4};
      atomic_text(texts[count], sizeof texts[count], cases[count]);
      pointers[count] = texts[count];
      count++;
    }
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, count);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < count; i++)
    check_atomic_edges(t, cases[i]);
  isa_free(t);
}

/* VCC is the last register that may hold data. */
static void test_atomic_vcc(void **state) {
  static char texts[ATOMICS * 2][96];
  static const char *pointers[ATOMICS * 2];
  for (unsigned row = 0; row < ATOMICS; row++)
    for (unsigned wide = 0; wide < 2; wide++) {
      const char *const data = wide ? "vcc" : atomics[row].model == a_cmpswap ? "vcc" : "vcc_hi";
      char *const text = texts[row * 2 + wide];
      (void)snprintf(text, sizeof texts[0], "s_atomic_%s%s %s, s[40:41], 0x0 glc", atomics[row].name,
                     wide ? "_x2" : "", wide && atomics[row].model == a_cmpswap ? "s[96:99]" : data);
      pointers[row * 2 + wide] = text;
    }
  isa_prepare(state, ISA_PART, pointers, sizeof *pointers, ATOMICS * 2);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < ATOMICS * 2; i++) {
    const unsigned bits = i & 1 ? 64 : 32;
    const bool pairs = atomics[i / 2].model == a_cmpswap;
    const unsigned first = pairs ? (i & 1 ? 96 : GS_S_VCC) : i & 1 ? GS_S_VCC : GS_S_VCC + 1;
    isa_reset(t, i);
    set_base(t, MIDDLE, 0);
    uint64_t old = 0, data = 0, expected = 0, result = 0, returned = 0;
    memcpy(&old, t->memory + ISA_MEMORY_BYTES / 2, bits / 8);
    memcpy(&data, &t->w.s.u32[first], bits / 8);
    if (pairs)
      memcpy(&t->w.s.u32[first + bits / 32], &old, bits / 8);
    expected = old;
    assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
    memcpy(&result, t->memory + ISA_MEMORY_BYTES / 2, bits / 8);
    memcpy(&returned, &t->w.s.u32[first], bits / 8);
    assert_true(result == atomics[i / 2].model(old, data, expected, bits));
    assert_true(returned == old);
  }
  isa_free(t);
}

/* Items are naturally aligned; what lies beyond a buffer is left alone and reads 0. */
static void test_atomic_bounds(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  set_base(t, MIDDLE, 0);
  (void)isa_run(t, "s_atomic_add_x2 s[0:1], s[40:41], 0x4 glc");
  isa_assert_fault(t, GS_WAVE_FAULT_APERTURE);
  assert_true(t->w.fault.address == MIDDLE + 4);
  assert_int_equal(t->w.fault.access, GS_VM_READ | GS_VM_WRITE);
  assert_int_equal(t->w.fault.lane, GS_LANES);
  isa_assert_only_changed(t, "");
  (void)isa_run(t, "s_atomic_add s0, s[40:41], 0x6 glc");
  assert_int_equal(t->w.state, GS_WAVE_RUNNING);
  assert_int_equal(dword_at(t, MIDDLE + 4), t->w.s.u32[0] + t->before.w.s.u32[0]);
  isa_assert_only_changed(t, "s0 memory");
  set_buffer(t, MIDDLE, 0, 0x20, 0);
  assert_int_equal(isa_run(t, "s_buffer_atomic_add s0, s[40:43], 0x20 glc"), GS_WAVE_RUNNING);
  assert_int_equal(t->w.s.u32[0], 0);
  isa_assert_only_changed(t, "s0");
  assert_int_equal(isa_run(t, "s_buffer_atomic_swap_x2 s[2:3], s[40:43], 0x20 glc"), GS_WAVE_RUNNING);
  assert_true(isa_s64(t, 2) == 0);
  isa_assert_only_changed(t, "s[2:3]");
  assert_int_equal(isa_run(t, "s_buffer_atomic_add s4, s[40:43], 0x20"), GS_WAVE_RUNNING);
  isa_assert_only_changed(t, "");
  assert_int_equal(isa_run(t, "s_buffer_atomic_inc s5, s[40:43], 0x1c glc"), GS_WAVE_RUNNING);
  const uint32_t old = t->w.s.u32[5], limit = t->before.w.s.u32[5];
  assert_int_equal(dword_at(t, MIDDLE + 0x1c), old < limit ? old + 1 : 0);
  isa_assert_only_changed(t, "s5 memory");
  isa_free(t);
}

/* ---- The rest ---- */

static void test_clocks(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  assert_int_equal(isa_run(t, "s_memtime s[10:11]"), GS_WAVE_RUNNING);
  assert_true(isa_s64(t, 10) == ISA_CLOCK);
  isa_assert_only_changed(t, "s[10:11]");
  assert_int_equal(isa_run(t, "s_memrealtime vcc"), GS_WAVE_RUNNING);
  assert_true(gs_vcc(&t->w) == ISA_CLOCK);
  isa_assert_only_changed(t, "vcc");
  isa_free(t);
}

/* Nothing that a single wave can see. The addresses are not mapped, and that does not matter either. */
static void test_cache_control(void **state) {
  static const char *const texts[] = {
      "s_dcache_inv",
      "s_dcache_inv_vol",
      "s_dcache_wb",
      "s_dcache_wb_vol",
      "s_dcache_discard s[40:41], 0x0",
      "s_dcache_discard_x2 s[40:41], s50",
      "s_atc_probe 7, s[40:41], 0x0",
      "s_atc_probe_buffer 7, s[40:43], s50",
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_prepare(state, ISA_PART, texts, sizeof *texts, sizeof texts / sizeof *texts);
  set_base(t, 0, 0);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
    isa_assert_only_changed(t, "");
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_load),          isa_part_test(test_store),
      isa_part_test(test_load_overlap),  isa_part_test(test_bad_data_registers),
      isa_part_test(test_faults),        isa_part_test(test_adjacent_mappings),
      isa_part_test(test_buffers),       isa_part_test(test_before_buffer),
      isa_part_test(test_buffer_faults), isa_part_test(test_atomics),
      isa_part_test(test_atomic_vcc),    isa_part_test(test_atomic_bounds),
      isa_part_test(test_clocks),        isa_part_test(test_cache_control),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
