/* Copies and fills through ROCr, at every alignment and of sizes from 1 byte to 1 GiB, between device memory,
 * system memory and memory of the program. What memory must hold is kept in a second array that the host
 * copies by itself. The environment says whether ROCr uses DMA engines (HSA_ENABLE_SDMA). With the argument
 * "large", only the largest copies. */
#include "gfxsim_rocr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One piece of memory, and what it must hold. */
typedef struct area {
  const char *name;
  hsa_agent_t agent;
  uint8_t *memory; /* for devices */
  uint8_t *seen;   /* for the host, of memory that is not on_gpu */
  uint8_t *expected;
  bool on_gpu;
} area_t;

enum { AREAS = 4, GUARD = 64 };

typedef struct areas {
  const machine_t *machine;
  size_t size;
  area_t area[AREAS];
  uint8_t *program; /* memory of the program behind area[1], not aligned to anything */
  uint8_t *back;    /* system memory for reading back */
} areas_t;

static uint8_t *allocate_for(const machine_t *machine, hsa_amd_memory_pool_t pool, size_t size) {
  uint8_t *memory = allocate(pool, size);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, memory));
  return memory;
}

static void write_area(const areas_t *areas, area_t *area, unsigned seed) {
  fill_pattern(area->expected, areas->size, seed);
  if (!area->on_gpu) {
    memcpy(area->seen, area->expected, areas->size);
    return;
  }
  memcpy(areas->back, area->expected, areas->size);
  copy(area->memory, area->agent, areas->back, areas->machine->cpu, areas->size);
}

static areas_t areas_make(const machine_t *machine, size_t size) {
  areas_t areas = {.machine = machine, .size = size};
  void *locked = NULL;
  areas.program = malloc(size + 3);
  assert_non_null(areas.program);
  assert_hsa(
      hsa_amd_memory_lock(areas.program + 3, size, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  areas.back = allocate_for(machine, machine->coarse, size);
  areas.area[0] = (area_t){.name = "system", .agent = machine->cpu};
  areas.area[0].memory = areas.area[0].seen = allocate_for(machine, machine->fine, size);
  areas.area[1] =
      (area_t){.name = "program", .agent = machine->cpu, .memory = locked, .seen = areas.program + 3};
  for (unsigned i = 2; i < AREAS; i++)
    areas.area[i] = (area_t){.name = i == 2 ? "device" : "device 2",
                             .agent = machine->gpu[0],
                             .memory = allocate(machine->vram[0], size),
                             .on_gpu = true};
  for (unsigned i = 0; i < AREAS; i++) {
    areas.area[i].expected = malloc(size);
    assert_non_null(areas.area[i].expected);
    write_area(&areas, &areas.area[i], i);
  }
  return areas;
}

static void areas_free(areas_t *areas) {
  assert_hsa(hsa_amd_memory_unlock(areas->program + 3));
  free(areas->program);
  hsa_amd_memory_pool_free(areas->back);
  for (unsigned i = 0; i < AREAS; i++) {
    free(areas->area[i].expected);
    if (i != 1)
      hsa_amd_memory_pool_free(areas->area[i].memory);
  }
}

static void check_area(const areas_t *areas, const area_t *area) {
  const uint8_t *memory = area->seen;
  if (area->on_gpu) {
    copy(areas->back, areas->machine->cpu, area->memory, area->agent, areas->size);
    memory = areas->back;
  }
  if (memcmp(memory, area->expected, areas->size) == 0)
    return;
  size_t i = 0;
  while (memory[i] == area->expected[i])
    i++;
  fail_msg("%s memory: byte 0x%zx is 0x%02x, not 0x%02x", area->name, i, memory[i], area->expected[i]);
}

static void check_all(const areas_t *areas) {
  for (unsigned i = 0; i < AREAS; i++)
    check_area(areas, &areas->area[i]);
}

/* From which area to which: all ways that the GPU is part of. */
static const struct {
  unsigned from, to;
} way_table[] = {{0, 2}, {2, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {0, 3}, {3, 1}};

enum { WAYS = sizeof way_table / sizeof *way_table };

static void copy_between(const areas_t *areas, unsigned way, size_t from_offset, size_t to_offset,
                         size_t size) {
  const area_t *from = &areas->area[way_table[way].from];
  const area_t *to = &areas->area[way_table[way].to];
  memcpy(to->expected + to_offset, from->expected + from_offset, size);
  copy(to->memory + to_offset, to->agent, from->memory + from_offset, from->agent, size);
}

static void test_small_sizes_at_every_alignment(void **state) {
  enum { ALIGNMENTS = 16, MOST = 40, SIZE = 4096 };
  areas_t areas = areas_make(*state, SIZE);
  unsigned way = 0;
  for (unsigned from = 0; from < ALIGNMENTS; from++) {
    for (unsigned to = 0; to < ALIGNMENTS; to++) {
      for (unsigned size = 1; size <= MOST; size++)
        /* Every size takes its turn at a different place, so that nothing hides what another copy did. */
        copy_between(&areas, way++ % WAYS, GUARD + 16 * (size % 5) + from, 2048 + 64 * (size % 7) + to, size);
      check_all(&areas);
    }
  }
  areas_free(&areas);
}

static void test_medium_sizes(void **state) {
  static const size_t sizes[] = {63,      64,      65,      127,     128,     129,     255,     256,
                                 257,     511,     513,     1023,    1025,    4095,    4096,    4097,
                                 65535,   65536,   65537,   1048575, 1048576, 1048577, 4194271, 4194272,
                                 4194273, 4194303, 4194305, 8388544, 8388545};
  enum { SIZE = 9 << 20 };
  areas_t areas = areas_make(*state, SIZE);
  unsigned way = 0;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (unsigned n = 0; n < 2 * WAYS; n++, way++)
      copy_between(&areas, way % WAYS, GUARD + 7 * n % 64, 2 * GUARD + 5 * n % 64, sizes[i]);
    check_all(&areas);
  }
  areas_free(&areas);
}

enum { BLOCK = 1 << 20 };

static void fill_blocks(uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i += BLOCK)
    fill_pattern(bytes + i, size - i < BLOCK ? size - i : BLOCK, (unsigned)(i / BLOCK * 12345));
}

static void check_blocks(const uint8_t *bytes, size_t size) {
  uint8_t *expected = malloc(BLOCK);
  assert_non_null(expected);
  for (size_t i = 0; i < size; i += BLOCK) {
    fill_pattern(expected, BLOCK, (unsigned)(i / BLOCK * 12345));
    assert_memory_equal(bytes + i, expected, size - i < BLOCK ? size - i : BLOCK);
  }
  free(expected);
}

/* A large copy to device memory, and back to where it came from. */
static void round_trip(const machine_t *machine, size_t size, size_t offset) {
  uint8_t *program = malloc(size + offset);
  void *locked = NULL;
  assert_non_null(program);
  assert_hsa(hsa_amd_memory_lock(program, size + offset, (hsa_agent_t *)(uintptr_t)machine->gpu, 1, &locked));
  uint8_t *vram = allocate(machine->vram[0], size + 3);
  fill_blocks(program + offset, size);
  copy(vram + 3, machine->gpu[0], (uint8_t *)locked + offset, machine->cpu, size);
  memset(program + offset, 0, size);
  copy((uint8_t *)locked + offset, machine->cpu, vram + 3, machine->gpu[0], size);
  check_blocks(program + offset, size);
  assert_hsa(hsa_amd_memory_unlock(program));
  hsa_amd_memory_pool_free(vram);
  free(program);
}

static void test_large_sizes(void **state) {
  round_trip(*state, (size_t)32 << 20, 3);       /* aligned with the device memory */
  round_trip(*state, ((size_t)8 << 20) + 77, 1); /* not aligned */
}

static void test_largest_sizes(void **state) {
  round_trip(*state, ((size_t)256 << 20) + 77, 1);
  round_trip(*state, (size_t)1 << 30, 3);
  round_trip(*state, ((size_t)1 << 30) - 5, 2);
}

/* From one part of a page to another, and across the border of two pages that both belong to the copy's ends.
 */
static void test_within_pages(void **state) {
  enum { SIZE = 4 * 4096 };
  static const size_t sizes[] = {1, 3, 4, 64, 777, 1024, 2048, 4000, 4096, 8000};
  areas_t areas = areas_make(*state, SIZE);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (unsigned n = 0; n < AREAS; n++) {
      const area_t *area = &areas.area[n];
      const size_t low = 97 * i % 64;
      const size_t high = low + sizes[i] + 13 * i % 8;
      const size_t from = i % 2 ? low : high;
      const size_t to = i % 2 ? high : low;
      memcpy(area->expected + to, area->expected + from, sizes[i]);
      copy(area->memory + to, areas.machine->gpu[0], area->memory + from, areas.machine->gpu[0], sizes[i]);
    }
    check_all(&areas);
  }
  areas_free(&areas);
}

/* Between two GPUs, at many alignments. */
static void test_peer_copies(void **state) {
  enum { SIZE = 1 << 20, ALIGNMENTS = 8 };
  static const size_t sizes[] = {1, 2, 3, 4, 5, 63, 64, 65, 4095, 4096, 4097, 100001, 1 << 19};
  const machine_t *machine = *state;
  uint8_t *host = allocate(machine->fine, SIZE);
  uint8_t *expected = malloc(SIZE);
  uint8_t *memory[2];
  assert_non_null(expected);
  assert_int_equal(machine->gpus, 2);
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, host));
  for (unsigned i = 0; i < 2; i++) {
    memory[i] = allocate(machine->vram[i], SIZE);
    assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, memory[i]));
  }
  fill_pattern(host, SIZE, 8);
  copy(memory[0], machine->gpu[0], host, machine->cpu, SIZE);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes * ALIGNMENTS; i++) {
    const size_t size = sizes[i / ALIGNMENTS];
    const unsigned from = i % ALIGNMENTS;
    const unsigned to = 5 * i % ALIGNMENTS;
    memset(host, 0, SIZE);
    memset(expected, 0, SIZE);
    fill_pattern(expected + to, from + size, 8);
    memmove(expected + to, expected + to + from, size);
    memset(expected + to + size, 0, from);
    copy(memory[1], machine->gpu[1], host, machine->cpu, size + 2 * ALIGNMENTS);
    copy(memory[1] + to, machine->gpu[1], memory[0] + from, machine->gpu[0], size);
    copy(host, machine->cpu, memory[1], machine->gpu[1], size + 2 * ALIGNMENTS);
    assert_memory_equal(host, expected, size + 2 * ALIGNMENTS);
  }
  hsa_amd_memory_pool_free(host);
  hsa_amd_memory_pool_free(memory[0]);
  hsa_amd_memory_pool_free(memory[1]);
  free(expected);
}

/* Locked memory that shares pages with other locked memory. */
static void test_locks_that_share_pages(void **state) {
  const machine_t *machine = *state;
  enum { SIZE = 5000, START = 100 };
  static uint8_t program[4 * 4096];
  uint8_t *first = program + START;
  uint8_t *second = first + SIZE;
  uint8_t *vram = allocate(machine->vram[0], SIZE);
  void *locked[2];
  hsa_agent_t *gpu = (hsa_agent_t *)(uintptr_t)machine->gpu;
  fill_pattern(first, SIZE, 5);
  assert_hsa(hsa_amd_memory_lock(first, SIZE, gpu, 1, &locked[0]));
  assert_hsa(hsa_amd_memory_lock(second, SIZE, gpu, 1, &locked[1]));
  copy(vram, machine->gpu[0], locked[0], machine->cpu, SIZE);
  copy(locked[1], machine->cpu, vram, machine->gpu[0], SIZE);
  assert_memory_equal(first, second, SIZE);
  /* The page in the middle belongs to both: it stays accessible when one is unlocked. */
  assert_hsa(hsa_amd_memory_unlock(first));
  memset(second, 0, SIZE);
  copy(locked[1], machine->cpu, vram, machine->gpu[0], SIZE);
  assert_memory_equal(first, second, SIZE);
  assert_hsa(hsa_amd_memory_unlock(second));
  hsa_amd_memory_pool_free(vram);
}

static void test_fills(void **state) {
  static const size_t counts[] = {1, 2, 3, 63, 64, 65, 255, 1023, 1024, 1025, 4097, 65536, 262147, 1 << 20};
  enum { SIZE = 5 << 20 };
  areas_t areas = areas_make(*state, SIZE);
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (unsigned n = 0; n < AREAS; n++) {
      const area_t *area = &areas.area[n];
      const uint32_t value = 0x01020304U * (i + 1);
      uint8_t *start = area->memory + GUARD + 4 * i;
      start += -(uintptr_t)start & 3; /* fills are of whole words */
      assert_hsa(hsa_amd_memory_fill(start, value, counts[i]));
      uint8_t *expected = area->expected + (start - area->memory);
      for (size_t word = 0; word < counts[i]; word++)
        memcpy(expected + 4 * word, &value, 4);
    }
    check_all(&areas);
  }
  areas_free(&areas);
}

/* A rectangle of `range` bytes, rows and slices, moved with the GPU's engine and by hand. */
static void copy_rectangle(const areas_t *areas, unsigned way, hsa_dim3_t from_offset, hsa_dim3_t to_offset,
                           hsa_dim3_t range, size_t pitch, size_t slice) {
  const area_t *from = &areas->area[way_table[way].from];
  const area_t *to = &areas->area[way_table[way].to];
  const hsa_pitched_ptr_t source = {from->memory, pitch, slice};
  const hsa_pitched_ptr_t target = {to->memory, pitch, slice};
  hsa_signal_t done = signal_create(1);
  assert_hsa(hsa_amd_memory_async_copy_rect(
      &target, &to_offset, &source, &from_offset, &range, areas->machine->gpu[0],
      from->on_gpu ? to->on_gpu ? hsaDeviceToDevice : hsaDeviceToHost : hsaHostToDevice, 0, NULL, done));
  assert_true(signal_reached_zero(done));
  hsa_signal_destroy(done);
  for (uint32_t z = 0; z < range.z; z++)
    for (uint32_t y = 0; y < range.y; y++)
      memcpy(to->expected + to_offset.x + (to_offset.y + y) * pitch + (to_offset.z + z) * slice,
             from->expected + from_offset.x + (from_offset.y + y) * pitch + (from_offset.z + z) * slice,
             range.x);
}

/* ROCr copies rectangles with DMA engines only, and says so. */
static void rectangles_are_refused(const machine_t *machine) {
  uint8_t *memory = allocate_for(machine, machine->fine, 4096);
  const hsa_pitched_ptr_t place = {memory, 64, 4096};
  const hsa_dim3_t origin = {0, 0, 0};
  const hsa_dim3_t range = {16, 2, 1};
  hsa_signal_t done = signal_create(1);
  assert_int_not_equal(hsa_amd_memory_async_copy_rect(&place, &origin, &place, &origin, &range,
                                                      machine->gpu[0], hsaHostToDevice, 0, NULL, done),
                       HSA_STATUS_SUCCESS);
  hsa_signal_destroy(done);
  hsa_amd_memory_pool_free(memory);
}

static void test_rectangles(void **state) {
  const char *sdma = getenv("HSA_ENABLE_SDMA");
  if (sdma && *sdma == '0') {
    rectangles_are_refused(*state);
    return;
  }
  static const hsa_dim3_t ranges[] = {{4, 1, 1}, {4, 7, 1},  {12, 3, 2},   {40, 12, 3},
                                      {1, 5, 1}, {17, 9, 1}, {250, 31, 2}, {1000, 60, 3}};
  enum { PITCH = 1024, SLICE = 64 * PITCH, SIZE = 4 * SLICE };
  areas_t areas = areas_make(*state, SIZE);
  /* What rows start and end with decides the element size that ROCr chooses; rows of whole words at whole
   * words are all that the engine's commands can express, so the program's memory, which is at an odd
   * address, stays out. */
  for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    for (unsigned way = 0; way < WAYS; way++) {
      if (way_table[way].from == 1 || way_table[way].to == 1)
        continue;
      const hsa_dim3_t from = {4 * (i % 3), i % 4, i % 2};
      const hsa_dim3_t to = {4 * (way % 4), way % 3, 1 - i % 2};
      copy_rectangle(&areas, way, from, to, ranges[i], PITCH, SLICE);
    }
    check_all(&areas);
  }
  areas_free(&areas);
}

static int setup(void **state) {
  static machine_t machine;
  *state = &machine;
  return machine_open(&machine) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

int main(int argc, char **argv) {
  static const struct CMUnitTest large[] = {cmocka_unit_test(test_largest_sizes)};
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_sizes_at_every_alignment),
      cmocka_unit_test(test_medium_sizes),
      cmocka_unit_test(test_large_sizes),
      cmocka_unit_test(test_within_pages),
      cmocka_unit_test(test_peer_copies),
      cmocka_unit_test(test_locks_that_share_pages),
      cmocka_unit_test(test_fills),
      cmocka_unit_test(test_rectangles),
  };
  if (argc > 1 && strcmp(argv[1], "large") == 0)
    return cmocka_run_group_tests_name("large copies", large, setup, teardown);
  return cmocka_run_group_tests_name("copies", tests, setup, teardown);
}
