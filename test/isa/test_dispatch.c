/* Whole dispatches on a device without packets or thunk: initial registers, barriers, progress of waves and
 * workgroups that wait for each other, faults, and the life of memory under running kernels. Not here: what
 * single instructions do (the other tests), and queues (test/unit). */
#include "harness.h"

#include "device.h"

#include <hsa/hsa.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "exec/internal.h"

enum { PAGE = 4096, CODE_PAGES = 2, OUT_BYTES = 1 << 20, CODE_OFFSET = 256 };

/* Device addresses; the bytes are elsewhere in this process. */
#define CODE UINT64_C(0x500000000)
#define OUT  UINT64_C(0x600000000)

/* A device with a page of code and a buffer, and the packet of the next dispatch. The kernel gets the
 * buffer's address in s[0:1] as its kernarg pointer and the workgroup's number in s2, s3, s4. */
typedef struct bench {
  void *const *state;
  gs_device_t *device;
  uint8_t *code;
  uint32_t *out;
  hsa_kernel_dispatch_packet_t packet;
  gs_dispatch_t dispatch;
  atomic_bool stop;
  gs_fault_t fault;
} bench_t;

/* While this is set, gfxsim gets no memory of the host: the linker puts these functions in between. */
static atomic_bool starved;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *start, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *start, size_t size, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t size) {
  return atomic_load(&starved) ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  return atomic_load(&starved) ? NULL : __real_calloc(count, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return atomic_load(&starved) ? NULL : __real_aligned_alloc(alignment, size);
}
void *__wrap_mmap(void *start, size_t size, int protection, int flags, int file, off_t offset) {
  return atomic_load(&starved) ? MAP_FAILED : __real_mmap(start, size, protection, flags, file, offset);
}

static void map(gs_device_t *device, uint64_t start, size_t bytes, void *host, uint32_t access) {
  const gs_vm_range_t range = {.start = start,
                               .end = start + bytes,
                               .host = host,
                               .allocation = start,
                               .allocation_size = bytes,
                               .access = access};
  assert_int_equal(gs_vm_map(gs_device_vm(device), &range), 0);
}

static void *pages(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  return memory;
}

static void bench_init(bench_t *b, void **state, uint32_t workers) {
  gs_options_t options = {.workers = workers, .cus = 4, .execute = true};
  const gs_device_ops_t ops = {0};
  assert_true(isa_device_choose(&options, getenv("GFXSIM_TRANSLATE")));
  memset(b, 0, sizeof *b);
  b->state = state;
  b->device = gs_device_create(gs_profile_find(gs_target_name(isa_part(state))), 0, &options, &ops);
  assert_non_null(b->device);
  b->code = pages(CODE_PAGES * PAGE);
  b->out = pages(OUT_BYTES);
  map(b->device, CODE, CODE_PAGES * PAGE, b->code, GS_VM_READ | GS_VM_EXECUTE);
  map(b->device, OUT, OUT_BYTES, b->out, GS_VM_READ | GS_VM_WRITE);
  atomic_init(&b->stop, false);
  b->dispatch = (gs_dispatch_t){.packet = (uint64_t)(uintptr_t)&b->packet, .stop = &b->stop};
}

static void bench_fini(bench_t *b) {
  gs_device_destroy(b->device);
  munmap(b->code, CODE_PAGES * PAGE);
  munmap(b->out, OUT_BYTES);
}

/* Places a kernel of 32 vector registers with two user SGPRs and three workgroup numbers. */
static void load(bench_t *b, const char *text) {
  size_t count;
  const uint32_t *words = isa_assemble(b->state, ISA_PART, text, &count);
  const int64_t entry = CODE_OFFSET;
  const bool unified = isa_part(b->state) & GS_CDNA2_4;
  const uint32_t granules = unified ? 4 : 8;                              /* of 8 or 4 registers */
  const uint32_t rsrc1 = (granules - 1) | 0xf0 << 12 | 1 << 21 | 1 << 23; /* MODE as compilers have it */
  const uint32_t rsrc2 = 2 << 1 | 7 << 7 | 2 << 11; /* 2 user SGPRs, workgroup x y z, work-item x y z */
  const uint32_t rsrc3 = unified ? 7 : 0;           /* accumulation registers from 32 */
  const uint16_t properties = 1 << 3;               /* kernarg pointer */
  memset(b->code, 0, CODE_PAGES * PAGE);
  memcpy(b->code + 16, &entry, sizeof entry);
  memcpy(b->code + 44, &rsrc3, 4);
  memcpy(b->code + 48, &rsrc1, 4);
  memcpy(b->code + 52, &rsrc2, 4);
  memcpy(b->code + 56, &properties, 2);
  assert_true(count * 4 <= CODE_PAGES * PAGE - CODE_OFFSET);
  memcpy(b->code + CODE_OFFSET, words, count * 4);
  assert_int_equal(gs_vm_invalidate_code(gs_device_vm(b->device)), 0);
  b->packet.kernel_object = CODE;
  b->packet.kernarg_address = (void *)(uintptr_t)OUT;
}

static gs_outcome_t run(bench_t *b, const uint32_t grid[3], const uint16_t group[3]) {
  b->packet.setup = 3;
  b->packet.grid_size_x = grid[0];
  b->packet.grid_size_y = grid[1];
  b->packet.grid_size_z = grid[2];
  b->packet.workgroup_size_x = group[0];
  b->packet.workgroup_size_y = group[1];
  b->packet.workgroup_size_z = group[2];
  return gs_device_run(b->device, &b->dispatch, &b->fault);
}

static gs_outcome_t run_line(bench_t *b, uint32_t items, uint16_t group) {
  return run(b, (uint32_t[]){items, 1, 1}, (uint16_t[]){group, 1, 1});
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* gfx90a packs work-item IDs into v0; other parts have them in v0, v1 and v2. */
static const char *pack_ids(void *const *state) {
  return (isa_part(state) & GS_CDNA2_4) ? "" : "v_lshl_or_b32 v0, v1, 10, v0\nv_lshl_or_b32 v0, v2, 20, v0\n";
}

/* Every work-item stores its packed ID at [workgroup number][order of arrival]; the count per workgroup is at
 * [...][0]. */
static void test_ids(void **state) {
  bench_t b;
  bench_init(&b, state, 3);
  char text[512];
  (void)snprintf(text, sizeof text, "%s%s", pack_ids(state),
                 "s_mul_i32 s5, s3, 3\n"
                 "s_add_u32 s5, s5, s2\n"
                 "s_mul_i32 s6, s4, 6\n"
                 "s_add_u32 s5, s5, s6\n"  /* 3 x 2 x 2 workgroups */
                 "s_lshl_b32 s5, s5, 10\n" /* 256 words each */
                 "v_mov_b32 v1, s5\n"
                 "v_mov_b32 v2, 1\n"
                 "global_atomic_add v3, v1, v2, s[0:1] glc\n"
                 "s_waitcnt vmcnt(0)\n"
                 "v_lshl_add_u32 v3, v3, 2, v1\n"
                 "global_store_dword v3, v0, s[0:1] offset:4\n"
                 "s_endpgm\n");
  load(&b, text);
  const uint32_t grid[3] = {17, 9, 5};
  const uint16_t group[3] = {8, 7, 3};
  assert_int_equal(run(&b, grid, group), GS_DONE);
  for (uint32_t z = 0; z < 2; z++)
    for (uint32_t y = 0; y < 2; y++)
      for (uint32_t x = 0; x < 3; x++) {
        const uint32_t *out = b.out + 256 * (x + 3 * y + 6 * z);
        const uint32_t sx = least(8, 17 - 8 * x), sy = least(7, 9 - 7 * y), sz = least(3, 5 - 3 * z);
        assert_int_equal(out[0], sx * sy * sz);
        uint8_t seen[8 * 7 * 3] = {0};
        for (uint32_t i = 1; i <= out[0]; i++) {
          const uint32_t ix = out[i] & 1023, iy = out[i] >> 10 & 1023, iz = out[i] >> 20;
          assert_true(ix < sx && iy < sy && iz < sz);
          assert_int_equal(seen[ix + 8 * (iy + 7 * iz)]++, 0);
        }
      }
  bench_fini(&b);
}

/* Four waves exchange values through LDS. */
static void test_barrier(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_lshlrev_b32 v1, 2, v0\n"
           "v_add_u32 v2, 0x1000, v0\n"
           "ds_write_b32 v1, v2\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_barrier\n"
           "v_sub_u32 v3, 0x3fc, v1\n"
           "ds_read_b32 v4, v3\n"
           "s_waitcnt lgkmcnt(0)\n"
           "global_store_dword v1, v4, s[0:1]\n"
           "s_endpgm\n");
  b.packet.group_segment_size = 1024;
  assert_int_equal(run_line(&b, 256, 256), GS_DONE);
  for (uint32_t i = 0; i < 256; i++)
    assert_int_equal(b.out[i], 0x1000 + 255 - i);
  bench_fini(&b);
}

/* Waves meet at a barrier often enough for the code between to be translated, and end there one after the
 * other, the first one or the last one first. `leaves` is an instruction by which each leaves translated code
 * in between. */
typedef struct ends {
  const char *text;       /* makes s6 of seven times the wave's number */
  uint32_t first, others; /* what it is for the first wave, and what is added for each behind it */
} ends_t;
static void run_ending_waves(void **state, const ends_t *ends, const char *leaves) {
  char text[1024];
  bench_t b;
  bench_init(&b, state, 1);
  snprintf(text, sizeof text,
           "v_lshrrev_b32 v1, 6, v0\n"
           "v_readfirstlane_b32 s5, v1\n"
           "s_mul_i32 s6, s5, 7\n"
           "%s\n"
           "s_mov_b32 s7, 0\n"
           "again:\n"
           "s_add_u32 s7, s7, 1\n"
           "s_cmp_eq_u32 s7, s6\n"
           "s_cbranch_scc1 done\n"
           "%s\n"
           "s_barrier\n"
           "s_branch again\n"
           "done:\n"
           "v_lshlrev_b32 v2, 2, v0\n"
           "v_mov_b32 v3, s7\n"
           "global_store_dword v2, v3, s[0:1]\n"
           "s_endpgm\n",
           ends->text, leaves);
  load(&b, text);
  for (unsigned time = 0; time < 2; time++) {
    memset(b.out, 0, 4 * 256);
    assert_int_equal(run_line(&b, 256, 256), GS_DONE);
    for (uint32_t i = 0; i < 256; i++)
      assert_int_equal(b.out[i], ends->first + i / 64 * ends->others);
  }
  bench_fini(&b);
}
static void test_waves_that_end_at_barriers(void **state) {
  static const ends_t ends[] = {{"s_add_u32 s6, s6, 100", 100, 7}, {"s_sub_u32 s6, 121, s6", 121, 0U - 7}};
  for (unsigned i = 0; i < 4; i++)
    run_ending_waves(state, &ends[i / 2], i % 2 ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0" : "");
}

/* Behind a barrier all four waves read a word that the first one overwrites soon: it needs another barrier,
 * but on a card, where waves go on together, all have read it by then. */
static void test_reuse_behind_barrier(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_lshlrev_b32 v1, 2, v0\n"
           "v_mov_b32 v2, 0\n"
           "v_mov_b32 v3, 5\n"
           "v_readfirstlane_b32 s5, v0\n"
           "ds_write_b32 v2, v3\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_barrier\n"
           "ds_read_b32 v4, v2\n"
           "s_cmp_eq_u32 s5, 0\n"
           "s_cbranch_scc0 store\n"
           "global_load_dword v3, v2, s[0:1]\n"
           "v_add_u32 v5, 1, v1\n"
           "v_add_u32 v5, 1, v1\n"
           "v_add_u32 v5, 1, v1\n"
           "s_waitcnt vmcnt(0)\n"
           "ds_write_b32 v2, v3\n"
           "store: s_waitcnt lgkmcnt(0)\n"
           "global_store_dword v1, v4, s[0:1]\n"
           "s_endpgm\n");
  b.packet.group_segment_size = 1024;
  assert_int_equal(run_line(&b, 256, 256), GS_DONE);
  for (uint32_t i = 0; i < 256; i++)
    assert_int_equal(b.out[i], 5);
  bench_fini(&b);
}

/* The first wave spins, without any sleep, until the second one has stored: waves make progress beside a
 * spinning one. */
static void test_spinning_wave(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_mov_b32 v1, 0\n"
           "v_readfirstlane_b32 s5, v0\n"
           "s_cmp_eq_u32 s5, 0\n"
           "s_cbranch_scc0 store\n"
           "spin: global_load_dword v2, v1, s[0:1] glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s6, v2\n"
           "s_cmp_eq_u32 s6, 0\n"
           "s_cbranch_scc1 spin\n"
           "v_mov_b32 v3, 7\n"
           "global_store_dword v1, v3, s[0:1] offset:4\n"
           "s_endpgm\n"
           "store: v_mov_b32 v3, 1\n"
           "global_store_dword v1, v3, s[0:1]\n"
           "s_endpgm\n");
  assert_int_equal(run_line(&b, 128, 128), GS_DONE);
  assert_int_equal(b.out[1], 7);
  bench_fini(&b);
}

/* Blocks of the code that is loaded. */
static unsigned count_blocks(bench_t *b) {
  gs_vm_reader_t reader;
  gs_vm_reader_register(gs_device_vm(b->device), &reader);
  const gs_vm_map_t *map = gs_vm_reader_enter(&reader);
  unsigned count = 0;
  for (uint64_t address = CODE; address < CODE + CODE_PAGES * PAGE; address += GS_LINE_BYTES) {
    const gs_code_line_t *line = gs_code_line(b->device->code[GS_WIDE], map, address);
    assert_non_null(line);
    for (size_t slot = 0; slot < GS_LINE_SLOTS; slot++)
      count += line->cells->block[slot] && line->cells->block[slot] != gs_block_missing;
  }
  gs_vm_reader_leave(&reader);
  gs_vm_reader_unregister(&reader);
  return count;
}

/* A loop that is longer than a block, in turns that are no multiple of it. */
static unsigned blocks_of_long_loop(void **state, bool exact_turns, uint32_t hot) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_mov_b32 v1, 0\n"
           "v_mov_b32 v2, 0\n"
           "s_mov_b32 s6, 12000\n"
           "s_branch again\n"
           "again: .fill 300, 4, 0x68040481\n" /* v_add_u32 v2, 1, v2 */
           "s_sub_u32 s6, s6, 1\n"
           "s_cmp_lg_u32 s6, 0\n"
           "s_cbranch_scc1 again\n"
           "global_store_dword v1, v2, s[0:1]\n"
           "s_endpgm\n");
  b.device->exact_turns = exact_turns;
  b.device->hot = b.device->hot ? hot : 0;
  assert_int_equal(run_line(&b, 64, 64), GS_DONE);
  assert_int_equal(b.out[0], 12000 * 300);
  const bool translates = b.device->hot != 0;
  const unsigned count = translates ? count_blocks(&b) : 0;
  bench_fini(&b);
  if (!translates)
    skip();
  return count;
}
/* From its first, middle and last part there is a block, and from nowhere else. */
static void test_turns_of_whole_blocks(void **state) {
  assert_in_range(blocks_of_long_loop(state, false, 1), 1, 5);
}
/* Where turns end anywhere, there may be one from each line of code, too, but not from where turns began. */
static void test_exact_turns(void **state) {
  assert_in_range(blocks_of_long_loop(state, true, 2), 1, 9);
}

/* Workgroup n waits until workgroup n + 1 has passed, the last one passes first; with one thread to run them
 * all. */
static void waiting_groups(void **state, uint32_t workers, const char *pause) {
  bench_t b;
  bench_init(&b, state, workers);
  char text[1024];
  snprintf(text, sizeof text,
           "s_lshl_b32 s5, s2, 2\n"
           "v_mov_b32 v1, s5\n"
           "v_mov_b32 v3, 1\n"
           "s_cmp_eq_u32 s2, 7\n"
           "s_cbranch_scc1 pass\n"
           "spin: %s\n"
           "global_load_dword v2, v1, s[0:1] offset:4 glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s6, v2\n"
           "s_cmp_eq_u32 s6, 0\n"
           "s_cbranch_scc1 spin\n"
           "pass: global_store_dword v1, v3, s[0:1]\n"
           "s_endpgm\n",
           pause);
  load(&b, text);
  assert_int_equal(run_line(&b, 8 * 64, 64), GS_DONE);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(b.out[i], 1);
  bench_fini(&b);
}
static void test_waiting_groups_sleeping(void **state) {
  waiting_groups(state, 1, "s_sleep 1");
}
/* A workgroup that spins does not take long turns from one that sleeps again and again: it counts how often
 * it looks. */
static void test_spinning_beside_sleeping(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_mov_b32 v1, 0\n"
           "v_mov_b32 v3, 1\n"
           "s_mov_b32 s7, 0\n"
           "s_cmp_eq_u32 s2, 0\n"
           "s_cbranch_scc0 spin\n"
           "sleep: s_sleep 1\n"
           "s_add_u32 s7, s7, 1\n"
           "s_cmp_eq_u32 s7, 640\n"
           "s_cbranch_scc0 sleep\n"
           "global_store_dword v1, v3, s[0:1]\n"
           "s_endpgm\n"
           "spin: s_add_u32 s7, s7, 1\n"
           "global_load_dword v2, v1, s[0:1] glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s6, v2\n"
           "s_cmp_eq_u32 s6, 0\n"
           "s_cbranch_scc1 spin\n"
           "v_mov_b32 v3, s7\n"
           "global_store_dword v1, v3, s[0:1] offset:4\n"
           "s_endpgm\n");
  assert_int_equal(run_line(&b, 2 * 64, 64), GS_DONE);
  assert_int_equal(b.out[0], 1);
  assert_in_range(b.out[1], 0, 50000);
  bench_fini(&b);
}
/* Workgroup n waits for n + 1, so that one ends in each pass over all: the others look some thousand times,
 * not a million times as in their first turns. The first one counts. */
static void test_spinning_in_a_row(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "s_lshl_b32 s5, s2, 2\n"
           "v_mov_b32 v1, s5\n"
           "v_mov_b32 v3, 1\n"
           "s_mov_b32 s7, 0\n"
           "s_cmp_eq_u32 s2, 31\n"
           "s_cbranch_scc1 pass\n"
           "spin: s_add_u32 s7, s7, 1\n"
           "global_load_dword v2, v1, s[0:1] offset:8 glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s6, v2\n"
           "s_cmp_eq_u32 s6, 0\n"
           "s_cbranch_scc1 spin\n"
           "s_cmp_eq_u32 s2, 0\n"
           "s_cbranch_scc0 pass\n"
           "v_mov_b32 v4, s7\n"
           "global_store_dword v1, v4, s[0:1]\n"
           "pass: global_store_dword v1, v3, s[0:1] offset:4\n"
           "s_endpgm\n");
  assert_int_equal(run_line(&b, 32 * 64, 64), GS_DONE);
  for (unsigned i = 1; i <= 32; i++)
    assert_int_equal(b.out[i], 1);
  assert_in_range(b.out[0], 1, 5000000);
  bench_fini(&b);
}
static void test_waiting_groups_spinning(void **state) {
  waiting_groups(state, 2, "s_nop 0");
}

/* Two workgroups on two threads, each of which stores and then loads what the other one stores, round by
 * round: with a wait between, and a load that no cache serves, one of them at least sees the other's store.
 */
static void store_before_load(void **state, const char *wait, const char *bits) {
  enum { ROUNDS = 1000, RESULTS = OUT_BYTES / 2 / 4 };
  unsigned seen_by_neither = 0;
  char text[2048];
  bench_t b;
  bench_init(&b, state, 2);
  snprintf(text, sizeof text,
           "s_mov_b64 exec, 1\n"
           "s_lshl_b32 s5, s2, 6\n" /* of its own lines */
           "s_xor_b32 s6, s5, 64\n"
           "v_mov_b32 v5, s5\n"
           "v_mov_b32 v6, s6\n"
           "s_lshl_b32 s5, s2, 2\n"
           "s_add_u32 s5, s5, %d\n"
           "v_mov_b32 v7, s5\n"
           "v_mov_b32 v3, 1\n"
           "v_mov_b32 v4, 0\n"
           "s_movk_i32 s7, %d\n"
           "s_mov_b32 s8, 0\n"
           "next: s_add_u32 s8, s8, 2\n"
           "v_add_u32 v5, 128, v5\n"
           "v_add_u32 v6, 128, v6\n"
           "v_add_u32 v7, 8, v7\n"
           "global_atomic_add v4, v3, s[0:1]\n"
           "meet: global_load_dword v2, v4, s[0:1] glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s9, v2\n"
           "s_cmp_lt_u32 s9, s8\n"
           "s_cbranch_scc1 meet\n"
           "global_store_dword v5, v3, s[0:1]\n"
           "s_waitcnt vmcnt(0)\n"
           "%s\n"
           "global_load_dword v2, v6, s[0:1] %s\n"
           "s_waitcnt vmcnt(0)\n"
           "global_store_dword v7, v2, s[0:1]\n"
           "s_sub_u32 s7, s7, 1\n"
           "s_cmp_eq_u32 s7, 0\n"
           "s_cbranch_scc0 next\n"
           "s_endpgm\n",
           RESULTS * 4, ROUNDS, wait, bits);
  load(&b, text);
  assert_int_equal(run_line(&b, 2 * 64, 64), GS_DONE);
  for (unsigned i = 1; i <= ROUNDS; i++)
    seen_by_neither += !b.out[RESULTS + 2 * i] && !b.out[RESULTS + 2 * i + 1];
  assert_int_equal(seen_by_neither, 0);
  bench_fini(&b);
}
static void test_store_before_load(void **state) {
  store_before_load(state, "", "glc");
}
static void test_store_before_invalidation(void **state) {
  store_before_load(state, "buffer_wbinvl1", "");
}

/* ---- Rows that are stored past the host's caches ---- */

#define ROWS UINT64_C(0x700000000)
enum {
  ROW_BYTES = 256,
  BATCH_ROWS = 17, /* after fewer, waits end it */
  BATCHES = 12000,
  ROWS_BYTES = BATCHES * BATCH_ROWS * ROW_BYTES
};

/* The first workgroup stores rows, batch by batch, and behind each one its number. The second looks at the
 * last row of the batch whose number it finds; out[64] says whether one was not there. */
static void load_batches(bench_t *b) {
  const bool is_gfx9 = isa_part(b->state) & GS_GFX9;
  char text[2048];
  snprintf(text, sizeof text,
           "s_mov_b32 s10, 0\n"
           "s_mov_b32 s11, %d\n"
           "s_mov_b64 s[14:15], 0\n"
           "s_mov_b32 s7, 0\n"
           "v_lshlrev_b32 v1, 2, v0\n"
           "v_mov_b32 v2, 0\n"
           "s_cmp_eq_u32 s2, 0\n"
           "s_cbranch_scc0 look\n"
           "batch: s_add_u32 s7, s7, 1\n"
           "v_mov_b32 v3, s7\n"
           "s_movk_i32 s8, %d\n"
           "row: global_store_dword v1, v3, s[10:11]\n"
           "v_add%s_u32 v1, %d, v1\n"
           "s_sub_u32 s8, s8, 1\n"
           "s_cmp_eq_u32 s8, 0\n"
           "s_cbranch_scc0 row\n"
           "s_waitcnt%s\n"
           "s_mov_b64 exec, 1\n"
           "global_store_dword v2, v3, s[0:1]\n"
           "s_mov_b64 exec, -1\n"
           "s_cmp_lt_u32 s7, %d\n"
           "s_cbranch_scc1 batch\n"
           "s_endpgm\n"
           "look: s_movk_i32 s9, 100\n"
           "pause: s_sub_u32 s9, s9, 1\n"
           "s_cmp_eq_u32 s9, 0\n"
           "s_cbranch_scc0 pause\n"
           "global_load_dword v4, v2, s[0:1] glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s7, v4\n"
           "s_mul_i32 s8, s7, %d\n"
           "s_max_i32 s8, s8, %d\n"
           "v_add%s_u32 v5, s8, v1\n"
           "global_load_dword v6, v5, s[10:11] offset:-%d glc\n"
           "s_waitcnt vmcnt(0)\n"
           "v_cmp_lt_u32 vcc, v6, s7\n"
           "s_or_b64 s[14:15], s[14:15], vcc\n"
           "s_cmp_lt_u32 s7, %d\n"
           "s_cbranch_scc1 look\n"
           "s_or_b32 s14, s14, s15\n"
           "v_mov_b32 v7, s14\n"
           "global_store_dword v2, v7, s[0:1] offset:256\n"
           "s_endpgm\n",
           (int)(ROWS >> 32), BATCH_ROWS, is_gfx9 ? "" : "_nc", ROW_BYTES,
           is_gfx9 ? " vmcnt(0)" : "_vscnt null, 0", BATCHES, BATCH_ROWS * ROW_BYTES, ROW_BYTES,
           is_gfx9 ? "" : "_nc", ROW_BYTES, BATCHES);
  load(b, text);
}

/* A store behind a wait comes behind all of the rows. */
static void test_stores_behind_rows(void **state) {
  enum { ROUNDS = 8 }; /* one sees it about every second time */
  uint32_t *const rows = pages(ROWS_BYTES);
  unsigned wrong = 0;
  bench_t b;
  bench_init(&b, state, 2);
  map(b.device, ROWS, ROWS_BYTES, rows, GS_VM_READ | GS_VM_WRITE);
  load_batches(&b);
  for (unsigned round = 0; round < ROUNDS; round++) {
    memset(rows, 0, ROWS_BYTES);
    b.out[0] = 0;
    assert_int_equal(run_line(&b, 2 * 64, 64), GS_DONE);
    assert_int_equal(b.out[0], BATCHES);
    assert_int_equal(b.out[64], 0);
    for (uint32_t i = 0; i < ROWS_BYTES / 4; i++)
      wrong += rows[i] != i / (BATCH_ROWS * ROW_BYTES / 4) + 1;
    assert_int_equal(wrong, 0);
  }
  bench_fini(&b);
  munmap(rows, ROWS_BYTES);
}

/* Rows of `dwords` dwords a lane from byte `first` on that hold where they are. */
static void load_rows(bench_t *b, unsigned dwords, unsigned first, unsigned rows) {
  static const char *const suffixes[] = {"", "x2", "x3", "x4"};
  const unsigned bytes = dwords * ROW_BYTES;
  char text[1024];
  snprintf(text, sizeof text,
           "s_mov_b32 s10, 0\n"
           "s_mov_b32 s11, %d\n"
           "s_mov_b32 s8, 0\n"
           "v_mul_u32_u24 v1, %u, v0\n"
           "v_add_u32 v1, %u, v1\n"
           "row: v_mov_b32 v4, v1\n"
           "v_add_u32 v5, 4, v1\n"
           "v_add_u32 v6, 8, v1\n"
           "v_add_u32 v7, 12, v1\n"
           "global_store_dword%s v1, v[4:%u], s[10:11]\n"
           "v_add_u32 v1, %u, v1\n"
           "s_add_u32 s8, s8, 1\n"
           "s_cmp_lt_u32 s8, %u\n"
           "s_cbranch_scc1 row\n"
           "s_endpgm\n",
           (int)(ROWS >> 32), 4 * dwords, first, suffixes[dwords - 1], 3 + dwords, bytes, rows);
  load(b, text);
}
static void test_rows_of_each_width(void **state) {
  uint32_t *const rows = pages(ROWS_BYTES);
  for (unsigned i = 0; i < 8; i++) {
    const unsigned dwords = 1 + i % 4, first = i / 4, count = ROWS_BYTES / ROW_BYTES / dwords - 1;
    unsigned wrong = 0;
    bench_t b;
    bench_init(&b, state, 1);
    map(b.device, ROWS, ROWS_BYTES, rows, GS_VM_READ | GS_VM_WRITE);
    load_rows(&b, dwords, 4 * first, count);
    memset(rows, 0, ROWS_BYTES);
    assert_int_equal(run_line(&b, 64, 64), GS_DONE);
    for (uint32_t k = first; k < first + count * dwords * ROW_BYTES / 4; k++)
      wrong += rows[k] != 4 * k;
    assert_int_equal(wrong, 0);
    bench_fini(&b);
  }
  munmap(rows, ROWS_BYTES);
}

/* Stores of all lanes to one dword are no rows, however many follow each other. */
static void test_dwords_behind_each_other(void **state) {
  enum { STEP = 64, COUNT = 10 << 20 };
  uint32_t *const rows = pages(COUNT);
  char text[1024];
  unsigned wrong = 0;
  bench_t b;
  bench_init(&b, state, 1);
  map(b.device, ROWS, COUNT, rows, GS_VM_READ | GS_VM_WRITE);
  snprintf(text, sizeof text,
           "s_mov_b32 s10, 0\n"
           "s_mov_b32 s11, %d\n"
           "v_mov_b32 v1, 0\n"
           "row: global_store_dword v1, v1, s[10:11]\n"
           "v_add_u32 v1, %d, v1\n"
           "v_readfirstlane_b32 s8, v1\n"
           "s_cmp_lt_u32 s8, %d\n"
           "s_cbranch_scc1 row\n"
           "s_endpgm\n",
           (int)(ROWS >> 32), STEP, COUNT);
  load(&b, text);
  assert_int_equal(run_line(&b, 64, 64), GS_DONE);
  for (uint32_t i = 0; i < COUNT / 4; i++)
    wrong += rows[i] != (i % (STEP / 4) ? 0 : 4 * i);
  assert_int_equal(wrong, 0);
  bench_fini(&b);
  munmap(rows, COUNT);
}

/* Registers indexed through M0, with a scalar instruction in between, which indexing leaves alone. */
static void test_register_index(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_lshlrev_b32 v1, 2, v0\n"
           "v_mov_b32 v10, 1\n"
           "v_mov_b32 v13, 7\n"
           "s_mov_b32 s6, 3\n"
           "s_set_gpr_idx_on s6, gpr_idx(SRC0)\n"
           "s_add_u32 s7, s6, 20\n"
           "v_mov_b32 v4, v10\n"
           "s_set_gpr_idx_off\n"
           "v_add_u32 v4, s7, v4\n"
           "global_store_dword v1, v4, s[0:1]\n"
           "s_endpgm\n");
  assert_int_equal(run_line(&b, 64, 64), GS_DONE);
  for (unsigned i = 0; i < 64; i++)
    assert_int_equal(b.out[i], 7 + 23);
  bench_fini(&b);
}

/* Registers and LDS begin as 0, whatever the workgroup before has left in them. */
static void test_fresh_state(void **state) {
  const bool accumulates = isa_part(state) & GS_GFX908_UP;
  bench_t b;
  bench_init(&b, state, 1);
  char text[512];
  snprintf(text, sizeof text,
           "v_lshlrev_b32 v1, 2, v0\n"
           "ds_read_b32 v2, v1\n"
           "s_waitcnt lgkmcnt(0)\n"
           "v_or_b32 v2, v2, v9\n"
           "v_or_b32 v2, s20, v2\n%s"
           "global_store_dword v1, v2, s[0:1]\n"
           "v_mov_b32 v9, -1\n"
           "s_mov_b32 s20, -1\n"
           "ds_write_b32 v1, v9\n%s"
           "s_endpgm\n",
           accumulates ? "v_accvgpr_read_b32 v3, a9\nv_or_b32 v2, v2, v3\n" : "",
           accumulates ? "v_accvgpr_write_b32 a9, v9\n" : "");
  load(&b, text);
  b.code[48] |= 7; /* with 32 registers of each kind where they are in one file */
  b.packet.group_segment_size = 256;
  for (unsigned launch = 0; launch < 3; launch++) {
    memset(b.out, 0xff, 256);
    assert_int_equal(run_line(&b, 64, 64), GS_DONE);
    for (unsigned i = 0; i < 64; i++)
      assert_int_equal(b.out[i], 0);
  }
  bench_fini(&b);
}

static void test_checks(void **state) {
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "s_endpgm\n");
  const uint16_t one[3] = {1, 1, 1};
  assert_int_equal(run(&b, (uint32_t[]){1, 0, 1}, one), GS_INVALID_DIMENSIONS);
  assert_int_equal(run(&b, (uint32_t[]){1, 1, 1}, (uint16_t[]){1, 1, 0}), GS_INVALID_DIMENSIONS);
  assert_int_equal(run(&b, (uint32_t[]){64, 64, 1}, (uint16_t[]){64, 17, 1}), GS_INVALID_GROUP_SIZE);
  const uint32_t most = isa_part(state) == GS_GFX950 ? 163840 : 65536;
  b.packet.group_segment_size = most + 1;
  assert_int_equal(run_line(&b, 1, 1), GS_INVALID_GROUP_SEGMENT);
  b.packet.group_segment_size = most;
  assert_int_equal(run_line(&b, 1, 1), GS_DONE);
  b.packet.kernel_object = 0;
  assert_int_equal(run_line(&b, 1, 1), GS_INVALID_CODE);
  b.packet.kernel_object = OUT; /* readable, but its "entry" is not executable */
  assert_int_equal(run_line(&b, 1, 1), GS_INVALID_CODE);
  bench_fini(&b);
}

/* As many waves hold scratch memory as their offsets of 32 bits reach, whatever the queue says. */
static void test_scratch_slots(void **state) {
  static const struct {
    uint32_t waves, wave_bytes, groups;
  } row[] = {{4095, 64 << 20, 64}, {64, 32 << 20, 64}, {100, 1 << 20, 100}, {4095, UINT32_MAX, 1}};
  bench_t b;
  gs_vm_reader_t reader;
  gs_kernel_t kernel;
  bench_init(&b, state, 1);
  load(&b, "s_endpgm\n");
  gs_vm_reader_register(gs_device_vm(b.device), &reader);
  b.packet.private_segment_size = 16;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    b.dispatch.scratch_waves = row[i].waves;
    b.dispatch.scratch_wave_bytes = row[i].wave_bytes;
    assert_int_equal(run_line(&b, 64, 64), GS_DONE);
    assert_int_equal(gs_kernel_init(&kernel, b.device, gs_vm_reader_enter(&reader), &b.dispatch), GS_DONE);
    assert_int_equal(kernel.resident_groups, row[i].groups);
    gs_vm_reader_leave(&reader);
  }
  gs_vm_reader_unregister(&reader);
  bench_fini(&b);
}

/* Workgroups that want both compute units of a work-group processor have the registers and local memory of
 * both. */
static void test_work_group_processors(void **state) {
  enum { MANY_REGISTERS = 100, BOTH = 1 << 29 };
  static const struct {
    uint32_t mode, registers, lds, groups; /* 0 groups = not one fits */
    uint16_t items;
  } row[] = {{0, MANY_REGISTERS, 0, 0, 1024}, {BOTH, MANY_REGISTERS, 0, 2, 1024},
             {0, 32, 40 << 10, 4, 64},        {BOTH, 32, 40 << 10, 6, 64},
             {0, 32, 64 << 10, 4, 64},        {BOTH, 32, 64 << 10, 4, 64}};
  bench_t b;
  gs_vm_reader_t reader;
  gs_kernel_t kernel;
  bench_init(&b, state, 1);
  load(&b, "s_endpgm\n");
  gs_vm_reader_register(gs_device_vm(b.device), &reader);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const uint32_t rsrc1 = (row[i].registers / 4 - 1) | row[i].mode;
    memcpy(b.code + 48, &rsrc1, 4);
    b.packet.group_segment_size = row[i].lds;
    const gs_outcome_t outcome = row[i].groups ? GS_DONE : GS_INVALID_REGISTERS;
    assert_int_equal(run_line(&b, row[i].items, row[i].items), outcome);
    assert_int_equal(gs_kernel_init(&kernel, b.device, gs_vm_reader_enter(&reader), &b.dispatch), outcome);
    assert_int_equal(kernel.resident_groups, row[i].groups);
    gs_vm_reader_leave(&reader);
  }
  gs_vm_reader_unregister(&reader);
  bench_fini(&b);
}

static void test_faults(void **state) {
  static const struct {
    const char *text;
    gs_outcome_t outcome;
    uint64_t address;
    uint32_t access;
    bool not_present;
  } row[] = {
      {".long 0xbfff0000", GS_ILLEGAL_INSTRUCTION, 0, 0, false},
      {"s_trap 2\n s_endpgm", GS_ABORT_TRAP, 0, 0, false},
      {"v_mov_b32 v2, 0\n v_mov_b32 v3, 0\n global_load_dword v4, v[2:3], off", GS_MEMORY_FAULT, 0,
       GS_VM_READ, true},
      {"v_mov_b32 v2, 0\n v_mov_b32 v3, 5\n global_store_dword v[2:3], v4, off", GS_MEMORY_FAULT, CODE,
       GS_VM_WRITE, false},
      {"v_mov_b32 v2, 0\n v_mov_b32 v3, 0x123456\n global_load_dword v4, v[2:3], off", GS_APERTURE_FAULT,
       UINT64_C(0x12345600000000), GS_VM_READ, true},
      {"s_setpc_b64 s[0:1]", GS_MEMORY_FAULT, OUT, GS_VM_EXECUTE, false},
      {"s_load_dword s5, s[10:11], 0x10", GS_MEMORY_FAULT, 0x10, GS_VM_READ, true},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    bench_t b;
    bench_init(&b, state, 2);
    load(&b, row[i].text);
    assert_int_equal(run_line(&b, 256 * 64, 256), row[i].outcome);
    if (row[i].outcome == GS_MEMORY_FAULT) {
      assert_int_equal(b.fault.address, row[i].address);
      assert_int_equal(b.fault.access, row[i].access);
      assert_int_equal(b.fault.not_present, row[i].not_present);
    }
    bench_fini(&b);
  }
}

/* An endless kernel that stores to the buffer. */
static const char forever[] = "v_mov_b32 v1, 0\n"
                              "loop: global_atomic_add v1, v1, s[0:1] offset:8\n"
                              "v_mov_b32 v2, 1\n"
                              "global_store_dword v1, v2, s[0:1]\n"
                              "s_branch loop\n";

typedef struct runner {
  bench_t *bench;
  pthread_t thread;
  gs_outcome_t outcome;
} runner_t;

static void *run_forever(void *argument) {
  runner_t *r = argument;
  r->outcome = run_line(r->bench, 512, 64);
  return NULL;
}

static void start_forever(runner_t *r, bench_t *b) {
  load(b, forever);
  r->bench = b;
  assert_int_equal(pthread_create(&r->thread, NULL, run_forever, r), 0);
  while (__atomic_load_n(b->out, __ATOMIC_ACQUIRE) == 0)
    usleep(100);
}

static void test_stop(void **state) {
  bench_t b;
  runner_t r;
  bench_init(&b, state, 2);
  start_forever(&r, &b);
  atomic_store(&b.stop, true);
  pthread_join(r.thread, NULL);
  assert_int_equal(r.outcome, GS_STOPPED);
  bench_fini(&b);
}

/* The host has no memory for decoded code and workgroups: what was reserved before suffices for every kernel,
 * and for changes of the address space that nobody could refuse. */
static void test_no_host_memory(void **state) {
  bench_t b;
  bench_init(&b, state, 2);
  map(b.device, OUT + OUT_BYTES, PAGE, b.code, GS_VM_READ);
  load(&b, "s_load_dword s7, s[0:1], 0xf00\n"
           "s_waitcnt lgkmcnt(0)\n"
           "s_cmp_eq_u32 s7, 0\n"
           "s_cbranch_scc0 go\n"
           "s_endpgm\n"
           "go: s_lshl_b32 s5, s2, 2\n"
           "v_mov_b32 v1, s5\n"
           "v_mov_b32 v2, 0\n"
           "s_mov_b32 s6, 0\n"
           "again: v_add_u32 v2, 1, v2\n"
           "s_branch far\n"
           ".fill 300, 4, 0xbf800000\n"
           "far: ds_write_b32 v1, v2 offset:32768\n"
           "s_add_u32 s6, s6, 1\n"
           "s_cmp_lt_u32 s6, 3\n"
           "s_cbranch_scc1 again\n"
           "ds_read_b32 v3, v1 offset:32768\n"
           "s_waitcnt lgkmcnt(0)\n"
           "global_store_dword v1, v3, s[0:1]\n"
           "s_endpgm\n");
  b.packet.group_segment_size = 65536;
  atomic_store(&starved, true);
  const gs_outcome_t unprepared = run_line(&b, 64 * 64, 64);
  const int refused = gs_device_reserve(b.device);
  atomic_store(&starved, false);
  assert_int_equal(unprepared, GS_OUT_OF_HOST_MEMORY);
  assert_int_equal(refused, -1);
  assert_int_equal(gs_device_reserve(b.device), 0);
  assert_int_equal(run_line(&b, 64, 64), GS_DONE); /* only the first line of the code is decoded */
  b.out[0xf00 / 4] = 1;
  atomic_store(&starved, true);
  const gs_outcome_t prepared = run_line(&b, 64 * 64, 64);
  const int unmapped = gs_vm_unmap(gs_device_vm(b.device), OUT + OUT_BYTES, OUT + OUT_BYTES + PAGE);
  const int announced = gs_vm_invalidate_code(gs_device_vm(b.device));
  b.out[0] = 0;
  const gs_outcome_t again = run_line(&b, 64 * 64, 64);
  atomic_store(&starved, false);
  assert_int_equal(prepared, GS_DONE);
  assert_int_equal(unmapped, 0);
  assert_int_equal(announced, 0);
  assert_int_equal(again, GS_DONE);
  for (unsigned i = 0; i < 64; i++)
    assert_int_equal(b.out[i], 3);
  gs_device_unreserve(b.device);
  bench_fini(&b);
}

static void *run_short_groups(void *argument) {
  runner_t *r = argument;
  /* Product of the counts: 2^64, and the last dimension alone would be minutes of work. */
  r->outcome = run(r->bench, (uint32_t[]){UINT32_C(1) << 31, UINT32_C(1) << 31, 4}, (uint16_t[]){1, 1, 1});
  return NULL;
}

/* A grid of very many workgroups that end at once is not taken for an empty one, and the host need not wait
 * for all of them. */
static void test_stop_between_groups(void **state) {
  bench_t b;
  runner_t r = {.bench = &b};
  bench_init(&b, state, 2);
  load(&b, "v_mov_b32 v1, 0\n v_mov_b32 v2, 1\n global_store_dword v1, v2, s[0:1]\n s_endpgm\n");
  assert_int_equal(pthread_create(&r.thread, NULL, run_short_groups, &r), 0);
  for (unsigned i = 0; __atomic_load_n(b.out, __ATOMIC_ACQUIRE) == 0; i++) {
    assert_true(i < 100000);
    usleep(100);
  }
  atomic_store(&b.stop, true);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 30;
  assert_int_equal(pthread_timedjoin_np(r.thread, NULL, &limit), 0);
  assert_int_equal(r.outcome, GS_STOPPED);
  bench_fini(&b);
}

/* Once gs_vm_unmap has returned, no wave touches the memory: the kernel faults instead. */
static void test_unmap_under_kernel(void **state) {
  bench_t b;
  runner_t r;
  bench_init(&b, state, 2);
  start_forever(&r, &b);
  assert_int_equal(gs_vm_unmap(gs_device_vm(b.device), OUT, OUT + OUT_BYTES), 0);
  mprotect(b.out, OUT_BYTES, PROT_NONE); /* a late access would end this process */
  pthread_join(r.thread, NULL);
  assert_int_equal(r.outcome, GS_MEMORY_FAULT);
  assert_true(b.fault.not_present);
  bench_fini(&b);
}

/* cmocka catches SIGSEGV in tests; this is the handler that programs have. */
static struct sigaction guard;

/* Memory that the program took away behind the GPU's back. */
static void test_vanished_memory(void **state) {
  bench_t b;
  struct sigaction of_cmocka;
  bench_init(&b, state, 2);
  sigaction(SIGSEGV, &guard, &of_cmocka);
  load(&b, "v_mov_b32 v1, 0\n global_store_dword v1, v0, s[0:1]\n s_endpgm\n");
  assert_int_equal(run_line(&b, 64, 64), GS_DONE);
  mprotect(b.out, OUT_BYTES, PROT_NONE);
  assert_int_equal(run_line(&b, 64, 64), GS_MEMORY_FAULT);
  mprotect(b.out, OUT_BYTES, PROT_READ | PROT_WRITE);
  assert_int_equal(run_line(&b, 64, 64), GS_DONE);
  sigaction(SIGSEGV, &of_cmocka, NULL);
  bench_fini(&b);
}

/* Arguments that the command processor puts into scalar registers behind the others; the kernel begins behind
 * code that would load them. */
static void test_preloaded_arguments(void **state) {
  enum { COUNT = 3, FIRST = 2, BEHIND = 256, CODE_BYTES = 512, ENDPGM = (int)0xbf810000 };
  const uint16_t preload = COUNT | FIRST << 7;
  const uint32_t rsrc2 = (2 + COUNT) << 1 | 1 << 7, first_word = (uint32_t)ENDPGM;
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "v_mov_b32 v1, 0\nv_mov_b32 v2, s2\nv_mov_b32 v3, s3\nv_mov_b32 v4, s4\nv_mov_b32 v5, s5\n"
           "v_lshlrev_b32 v1, 4, v5\nglobal_store_dwordx4 v1, v[2:5], s[0:1] offset:64\ns_endpgm\n");
  memmove(b.code + CODE_OFFSET + BEHIND, b.code + CODE_OFFSET, CODE_BYTES);
  memcpy(b.code + CODE_OFFSET, &first_word, 4);
  memcpy(b.code + 52, &rsrc2, 4);
  memcpy(b.code + 58, &preload, 2);
  for (unsigned i = 0; i < COUNT; i++)
    b.out[FIRST + i] = 1000 + i;
  assert_int_equal(run_line(&b, 3, 1), GS_DONE);
  for (unsigned group = 0; group < 3; group++) {
    for (unsigned i = 0; i < COUNT; i++)
      assert_int_equal(b.out[16 + 4 * group + i], 1000 + i);
    assert_int_equal(b.out[16 + 4 * group + COUNT], group); /* registers of the system follow */
  }
  bench_fini(&b);
}

/* Workgroups go to XCCs in turn, and waves begin with the address of their private memory. */
static void test_xccs(void **state) {
  enum { GROUPS = 20, XCCS = 8, PRIVATE_BYTES = 16 };
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "s_getreg_b32 s6, hwreg(HW_REG_XCC_ID)\nv_mov_b32 v2, s6\nv_mov_b32 v3, flat_scratch_lo\n"
           "v_mov_b32 v4, flat_scratch_hi\ns_lshl_b32 s2, s2, 4\nv_mov_b32 v1, s2\n"
           "global_store_dwordx3 v1, v[2:4], s[0:1]\ns_endpgm\n");
  const uint32_t rsrc2 = 2 << 1 | 7 << 7 | 1;
  memcpy(b.code + 52, &rsrc2, 4);
  b.packet.private_segment_size = PRIVATE_BYTES;
  b.dispatch.scratch_base = OUT + OUT_BYTES / 2;
  b.dispatch.scratch_wave_bytes = PRIVATE_BYTES * GS_MAX_LANES;
  b.dispatch.scratch_waves = 4;
  assert_int_equal(run_line(&b, GROUPS, 1), GS_DONE);
  for (uint32_t i = 0; i < GROUPS; i++) {
    const uint64_t scratch = b.out[4 * i + 1] | (uint64_t)b.out[4 * i + 2] << 32;
    assert_int_equal(b.out[4 * i], i % XCCS);
    assert_in_range(scratch, b.dispatch.scratch_base,
                    b.dispatch.scratch_base + 3 * b.dispatch.scratch_wave_bytes);
    assert_int_equal((scratch - b.dispatch.scratch_base) % b.dispatch.scratch_wave_bytes, 0);
  }
  bench_fini(&b);
}

/* What a wave is told about its registers: 16 vector registers and 16 behind them, which accumulate where one
 * file has both, and 96 SGPRs. */
static void test_register_sizes(void **state) {
  static const struct {
    unsigned targets;
    uint32_t value;
  } rows[] = {
      {GS_BEFORE_90A, 5 << 24 | 7 << 8},
      {GS_CDNA2_4, 5 << 24 | 3 << 12 | 3 << 6},
      {GS_GFX1030, 7 << 8},
      {GS_GFX1100, 7 << 12},
  };
  const uint32_t sgprs = 10 << 6, rsrc3 = 3;
  uint32_t rsrc1;
  bench_t b;
  bench_init(&b, state, 1);
  load(&b, "s_getreg_b32 s6, hwreg(HW_REG_GPR_ALLOC)\nv_mov_b32 v1, 0\nv_mov_b32 v2, s6\n"
           "global_store_dword v1, v2, s[0:1]\ns_endpgm\n");
  memcpy(&rsrc1, b.code + 48, 4);
  rsrc1 |= sgprs;
  memcpy(b.code + 48, &rsrc1, 4);
  if (isa_part(state) & GS_CDNA2_4)
    memcpy(b.code + 44, &rsrc3, 4);
  assert_int_equal(run_line(&b, 1, 1), GS_DONE);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].targets & isa_part(state))
      assert_int_equal(b.out[0], rows[i].value);
  bench_fini(&b);
}

int main(void) {
  gs_guard_install();
  sigaction(SIGSEGV, NULL, &guard);
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_ids),
      isa_part_test(test_barrier),
      isa_part_test_on(test_waves_that_end_at_barriers, GS_GFX90A),
      isa_part_test_on(test_reuse_behind_barrier, GS_GFX90A),
      isa_part_test_on(test_spinning_wave, GS_GFX90A),
      isa_part_test_on(test_turns_of_whole_blocks, GS_GFX90A),
      isa_part_test_on(test_exact_turns, GS_GFX90A),
      isa_part_test_on(test_waiting_groups_sleeping, GS_GFX90A),
      isa_part_test_on(test_spinning_beside_sleeping, GS_GFX90A),
      isa_part_test_on(test_waiting_groups_spinning, GS_GFX90A),
      isa_part_test_on(test_store_before_load, GS_GFX90A),
      isa_part_test_on(test_store_before_invalidation, GS_GFX90A),
      isa_part_test_on(test_stores_behind_rows, GS_GFX90A | GS_GFX1030),
      isa_part_test_on(test_rows_of_each_width, GS_GFX90A),
      isa_part_test_on(test_dwords_behind_each_other, GS_GFX90A),
      isa_part_test_on(test_spinning_in_a_row, GS_GFX90A),
      isa_part_test(test_register_index),
      isa_part_test(test_fresh_state),
      isa_part_test(test_checks),
      isa_part_test_on(test_scratch_slots, GS_GFX90A),
      isa_part_test_on(test_work_group_processors, GS_GFX1030 | GS_GFX1100),
      isa_part_test(test_faults),
      isa_part_test_on(test_preloaded_arguments, GS_CDNA2_4),
      isa_part_test_on(test_xccs, GS_GFX9_4),
      isa_wide_part_test(test_register_sizes),
      isa_part_test_on(test_stop, GS_GFX90A),
      isa_part_test_on(test_no_host_memory, GS_GFX90A),
      isa_part_test_on(test_stop_between_groups, GS_GFX90A),
      isa_part_test_on(test_unmap_under_kernel, GS_GFX90A),
      isa_part_test_on(test_vanished_memory, GS_GFX90A),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
