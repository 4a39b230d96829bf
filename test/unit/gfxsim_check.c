/* The checker's blocks, and what it tells: without waves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those four first. */
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/blocks.h"
#include "check/called.h"
#include "check/findings.h"
#include "check/fortran.h"
#include "check/init_shadow.h"
#include "check/name.h"
#include "check/site.h"

enum { PAGE = 4096 };

static const gfxsim_stack_t no_stack;

static void add(gs_blocks_t *blocks, uint64_t start, uint64_t bytes) {
  const gs_block_note_t note = {.start = start,
                                .end = start + bytes,
                                .outer_start = start / PAGE * PAGE,
                                .outer_end = (start + bytes + PAGE - 1) / PAGE * PAGE};
  gs_blocks_add(blocks, &note);
}

/* A map with one range [first page, last page + 1). */
static gs_vm_map_t *map_of(uint64_t start, uint64_t end) {
  gs_vm_map_t *map = calloc(1, sizeof *map + sizeof(gs_vm_range_t));
  assert_non_null(map);
  map->count = 1;
  map->range[0] = (gs_vm_range_t){.start = start, .end = end, .allocation = start, .access = GS_VM_READ};
  return map;
}

static gs_answer_t ask(gs_blocks_t *blocks, const gs_vm_map_t *map, uint64_t address) {
  gs_answer_t answer;
  gs_blocks_ask(blocks, map, address, &answer);
  return answer;
}

static void test_blocks_end_at_their_bytes(void **state) {
  (void)state;
  gs_blocks_t blocks;
  assert_int_equal(gs_blocks_init(&blocks), 0);
  gs_vm_map_t *map = map_of(0x10000, 0x20000);
  add(&blocks, 0x12000, 100);
  const gs_answer_t inside = ask(&blocks, map, 0x12063), behind = ask(&blocks, map, 0x12064);
  assert_int_equal(inside.verdict, GS_VERDICT_GOOD);
  assert_int_equal(inside.start, 0x12000);
  assert_int_equal(inside.end, 0x12064);
  assert_int_equal(behind.verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(behind.block.end, 0x12064);
  /* What is nobody's block is good, up to the block's pages. */
  const gs_answer_t before = ask(&blocks, map, 0x11fff), after = ask(&blocks, map, 0x13000);
  assert_int_equal(before.verdict, GS_VERDICT_GOOD);
  assert_int_equal(before.start, 0x10000);
  assert_int_equal(before.end, 0x12000);
  assert_int_equal(after.verdict, GS_VERDICT_GOOD);
  assert_int_equal(after.start, 0x13000);
  const gs_answer_t nothing = ask(&blocks, map, 0x20000);
  assert_int_equal(nothing.verdict, GS_VERDICT_NOTHING);
  assert_int_equal(nothing.block.start, 0x12000);
  const gs_answer_t far = ask(&blocks, map, UINT64_C(0x558a877a0f40));
  assert_int_equal(far.verdict, GS_VERDICT_NOTHING);
  assert_int_equal(far.block.id, 0);
  free(map);
  gs_blocks_fini(&blocks);
}

static void test_freed_blocks_are_known_until_replaced(void **state) {
  (void)state;
  gs_blocks_t blocks;
  assert_int_equal(gs_blocks_init(&blocks), 0);
  gs_vm_map_t *map = map_of(0x10000, 0x20000);
  add(&blocks, 0x12000, 100);
  add(&blocks, 0x14000, 100);
  const uint64_t version = blocks.version;
  gs_blocks_free(&blocks, 0x12000, &no_stack);
  assert_true(blocks.version != version); /* or threads would go on with what they remember */
  assert_int_equal(ask(&blocks, map, 0x12010).verdict, GS_VERDICT_FREED);
  assert_int_equal(ask(&blocks, map, 0x12800).verdict, GS_VERDICT_FREED);
  assert_int_equal(ask(&blocks, map, 0x14010).verdict, GS_VERDICT_GOOD);
  add(&blocks, 0x12000, 50);
  assert_int_equal(ask(&blocks, map, 0x12010).verdict, GS_VERDICT_GOOD);
  assert_int_equal(ask(&blocks, map, 0x12032).verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(blocks.freed, 0);
  gs_blocks_free(&blocks, 0x12000, &no_stack);
  assert_int_equal(ask(&blocks, map, 0x12010).verdict, GS_VERDICT_FREED);
  const uint64_t before = blocks.version;
  gs_blocks_forget(&blocks, 0x12000, 0x13000); /* ROCr's own memory is there now */
  assert_true(blocks.version != before);
  assert_int_equal(ask(&blocks, map, 0x12010).verdict, GS_VERDICT_GOOD);
  assert_int_equal(blocks.freed, 0);
  free(map);
  gs_blocks_fini(&blocks);
}

/* Memory that was locked may share pages with other memory that was, and may overlap it. */
static void test_blocks_may_overlap(void **state) {
  (void)state;
  gs_blocks_t blocks;
  assert_int_equal(gs_blocks_init(&blocks), 0);
  gs_vm_map_t *map = map_of(0x10000, 0x20000);
  add(&blocks, 0x12010, 0x1000);
  add(&blocks, 0x12100, 0x10);
  add(&blocks, 0x13100, 0x10);
  assert_int_equal(ask(&blocks, map, 0x12110).end, 0x13010); /* behind the small one, in the large one */
  assert_int_equal(ask(&blocks, map, 0x13108).verdict, GS_VERDICT_GOOD);
  assert_int_equal(ask(&blocks, map, 0x13080).verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(ask(&blocks, map, 0x12004).verdict, GS_VERDICT_OUTSIDE);
  gs_blocks_free(&blocks, 0x12010, &no_stack);
  assert_int_equal(ask(&blocks, map, 0x12108).verdict, GS_VERDICT_GOOD);
  assert_int_equal(ask(&blocks, map, 0x12200).verdict, GS_VERDICT_OUTSIDE); /* in pages of one that lives */
  free(map);
  gs_blocks_fini(&blocks);
}

/* Against a list that is looked through from end to end. */
static void test_many_blocks(void **state) {
  (void)state;
  enum { BLOCKS = 300, ROUNDS = 4000 };
  gs_blocks_t blocks;
  bool lives[BLOCKS] = {false};
  assert_int_equal(gs_blocks_init(&blocks), 0);
  gs_vm_map_t *map = map_of(0x100000, 0x100000 + (uint64_t)BLOCKS * 2 * PAGE);
  unsigned seed = 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    seed = seed * 1103515245 + 12345;
    const unsigned i = seed / 65536 % BLOCKS;
    const uint64_t start = 0x100000 + (uint64_t)i * 2 * PAGE;
    if (lives[i])
      gs_blocks_free(&blocks, start, &no_stack);
    else
      add(&blocks, start, 10 + i);
    lives[i] = !lives[i];
    const gs_answer_t answer = ask(&blocks, map, start + 9 + i);
    assert_int_equal(answer.verdict, lives[i] ? GS_VERDICT_GOOD : GS_VERDICT_FREED);
    assert_int_equal(ask(&blocks, map, start + 10 + i).verdict,
                     lives[i] ? GS_VERDICT_OUTSIDE : GS_VERDICT_FREED);
    assert_int_equal(ask(&blocks, map, start + PAGE).verdict, GS_VERDICT_GOOD);
  }
  free(map);
  gs_blocks_fini(&blocks);
}

static gs_answer_t ask_range(gs_blocks_t *blocks, uint64_t address, uint64_t bytes, bool any_host_memory) {
  gs_answer_t answer;
  gs_blocks_ask_range(blocks, address, bytes, any_host_memory, &answer);
  return answer;
}

/* What copies go through: one block, or none at all. */
static void test_ranges_are_in_one_block(void **state) {
  (void)state;
  gs_blocks_t blocks;
  assert_int_equal(gs_blocks_init(&blocks), 0);
  add(&blocks, 0x12000, PAGE);
  add(&blocks, 0x13000, 100);
  assert_int_equal(ask_range(&blocks, 0x12000, PAGE, false).verdict, GS_VERDICT_GOOD);
  const gs_answer_t across = ask_range(&blocks, 0x12008, PAGE, false);
  assert_int_equal(across.verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(across.block.start, 0x12000);
  assert_int_equal(ask_range(&blocks, 0x13064, 4, true).verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(ask_range(&blocks, 0x11000, PAGE, false).verdict, GS_VERDICT_GOOD);
  const gs_answer_t before = ask_range(&blocks, 0x11ff8, 16, false);
  assert_int_equal(before.verdict, GS_VERDICT_OUTSIDE);
  assert_int_equal(before.block.start, 0x12000);
  gs_blocks_free(&blocks, 0x12000, &no_stack);
  assert_int_equal(ask_range(&blocks, 0x12000, 4, true).verdict, GS_VERDICT_FREED);
  /* The host reaches its own memory, locked or not; a DMA engine what is locked, be it by two locks. */
  const gs_block_note_t locked = {
      .start = 0x21000, .end = 0x21100, .outer_start = 0x21000, .outer_end = 0x22000, .locked = true};
  const gs_block_note_t wide = {
      .start = 0x20ff0, .end = 0x21200, .outer_start = 0x20000, .outer_end = 0x22000, .locked = true};
  gs_blocks_add(&blocks, &locked);
  assert_int_equal(ask_range(&blocks, 0x21080, 0x100, true).verdict, GS_VERDICT_GOOD);
  assert_int_equal(ask_range(&blocks, 0x21080, 0x100, false).verdict, GS_VERDICT_OUTSIDE);
  gs_blocks_add(&blocks, &wide);
  assert_int_equal(ask_range(&blocks, 0x21080, 0x100, false).verdict, GS_VERDICT_GOOD);
  gs_blocks_fini(&blocks);
}

static void test_kernels_have_names(void **state) {
  (void)state;
  char text[128];
  gs_name_kernel("__omp_offloading_fd00_12ab_main_l7", text, sizeof text);
  assert_string_equal(text, "target region in main at line 7");
  gs_name_kernel("__omp_offloading__3f_12ab_main_l2_l15", text, sizeof text);
  assert_string_equal(text, "target region in main_l2 at line 15");
  gs_name_kernel("__omp_offloading_zz", text, sizeof text);
  assert_string_equal(text, "kernel __omp_offloading_zz");
  gs_name_kernel("saxpy", text, sizeof text);
  assert_string_equal(text, "kernel saxpy");
}

static void expect_fortran(const char *name, const char *expected) {
  char text[64] = "nothing";
  const bool is_name = gs_fortran_name(name, text, sizeof text);
  assert_string_equal(text, expected);
  assert_int_equal(is_name, strcmp(expected, "nothing") != 0);
}

static void test_fortran_has_names(void **state) {
  (void)state;
  char text[128];
  expect_fortran("_QQmain", "main program");
  expect_fortran("_QMdataEfield", "data::field");
  expect_fortran("_QMmodSs1modSs2modFsubPfun", "mod::s1mod::s2mod::sub::fun");
  expect_fortran("_QFEcount_1", "count_1");
  expect_fortran("_QPsolve", "solve");
  expect_fortran("_QMmFsB2Ei", "m::s::i");
  expect_fortran("_QMmECpi", "m::pi");
  expect_fortran("_QQro.2xi4.0", "nothing");
  expect_fortran("_QM", "nothing");
  expect_fortran("_Z3addi", "nothing");
  gs_name_kernel("__omp_offloading_fd00_12ab__QMmodPsolve_l7", text, sizeof text);
  assert_string_equal(text, "target region in mod::solve at line 7");
}

/* What flang does not name is called by what stands beside it in its construct. */
static void test_parts_have_names(void **state) {
  (void)state;
  char text[GS_BLOCK_NAME];
  gs_called_construct();
  assert_string_equal(gs_called("unknown", text), "");
  assert_string_equal(gs_called("_QMdataElist", text), "data::list");
  assert_string_equal(gs_called("unknown", text), "data::list(:)");
  assert_string_equal(gs_called("a(1:9)", text), "a(1:9)");
  assert_string_equal(gs_called("unknown", text), "a(1:9)");
  assert_true(gs_called_whole("a(1:9)", "one%nest%list", text));
  assert_string_equal(text, "one%nest");
  assert_true(gs_called_whole("", "one%list", text));
  assert_string_equal(text, "one");
  assert_false(gs_called_whole("a(1:9)", "a(2)%x", text));
  assert_false(gs_called_whole("two", "one%list", text));
  assert_false(gs_called_whole("", "list", text));
  gs_called_construct();
  assert_string_equal(gs_called("unknown", text), "");
}

/* Types are written so, too: `v` is void and `f` float. */
static void test_functions_are_no_types(void **state) {
  (void)state;
  char text[128];
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
  assert_non_null(library);
  gs_name_prepare();
  gs_name_kernel("__omp_offloading_fd00_12ab_v_l7", text, sizeof text);
  assert_string_equal(text, "target region in v at line 7");
  gs_name_kernel("f", text, sizeof text);
  assert_string_equal(text, "kernel f");
  gs_name_kernel("_Z3addi", text, sizeof text);
  assert_string_equal(text, "kernel add(int)");
  dlclose(library);
}

static const gs_rule_t error_rule = {"bounds", "local", GS_SEVERITY_ERROR, "An error"};
static const gs_rule_t warning_rule = {"bounds", "hint", GS_SEVERITY_WARNING, "A warning"};

static void meet(gs_findings_t *findings, const gs_rule_t *rule, uint64_t pc, uint64_t times) {
  const gs_key_t key = {.rule = rule, .pc = {pc}};
  gs_found_t *found = gs_findings_meet(findings, &key, times);
  gs_finding_t finding = {.title = "Invalid read of 4 bytes",
                          .detail = {"Offset 80 is beyond the end"},
                          .side = {{.actor = GS_ACTOR_WAVE,
                                    .more = 2,
                                    .place = {.kernel = "saxpy",
                                              .source = "saxpy.c:3",
                                              .instruction = "ds_read_b32 v1, v2",
                                              .profile = "gfx90a",
                                              .group = {7},
                                              .item = {3}}},
                                   {.actor = GS_ACTOR_HOST,
                                    .what = "Conflicts with a write of 4 bytes",
                                    .call = "hsa_memory_copy"}},
                          .hint = "read less"};
  if (found)
    gs_findings_tell(findings, found, &finding);
}

static const char saxpy_text[] = "Invalid read of 4 bytes in kernel saxpy (saxpy.c:3)\n"
                                 "@   at saxpy.c:3: ds_read_b32 v1, v2\n"
                                 "@   by work-item (3, 0, 0) of workgroup (7, 0, 0), and 2 more of its wave; "
                                 "GPU 0 (gfx90a)\n"
                                 "@ Conflicts with a write of 4 bytes\n"
                                 "@   by the host's call of hsa_memory_copy\n"
                                 "@ Offset 80 is beyond the end\n"
                                 "@ Hint: read less\n"
                                 "@\n";

/* Each "==PID== " becomes "@", but that of the first line. */
static void shorten(char *text) {
  char head[32];
  const int length = snprintf(head, sizeof head, "\n==%ld== ", (long)getpid());
  for (char *at = text; (at = strstr(at, head));) {
    at[1] = '@';
    memmove(at + 2, at + length, strlen(at + length) + 1);
  }
}

/* One block of text a place, however often; all are counted. */
static void test_findings_are_told_once(void **state) {
  (void)state;
  gs_options_t options = {.check = GS_CHECK_BOUNDS, .check_most = 2, .check_log = "/tmp/gfxsim-check-XXXXXX"};
  char text[8192];
  const int file = mkstemp(options.check_log);
  assert_true(file >= 0);
  gs_findings_t findings;
  assert_int_equal(gs_findings_init(&findings, &options), 0);
  for (int i = 0; i < 5; i++)
    meet(&findings, &error_rule, 0x1008, 3);
  meet(&findings, &error_rule, 0x2008, 3);
  meet(&findings, &warning_rule, 0x2008, 1);
  assert_int_equal(gs_findings_summary(&findings), 18);
  const ssize_t length = read(file, text, sizeof text - 1);
  assert_true(length > 0);
  text[length] = '\0';
  shorten(text);
  unsigned blocks = 0;
  for (const char *at = text; (at = strstr(at, saxpy_text)); at++)
    blocks++;
  assert_int_equal(blocks, 2); /* the third is beyond the limit */
  assert_non_null(strstr(text, "@2 findings were told; "));
  assert_non_null(strstr(text, "@      15 x Invalid read of 4 bytes in kernel saxpy (saxpy.c:3)\n"));
  assert_non_null(strstr(text, "@       3 x Invalid"));
  assert_non_null(strstr(text, "@ERROR SUMMARY: 18 errors, 1 warnings from 3 places (bounds)\n"));
  gs_findings_fini(&findings);
  close(file);
  unlink(options.check_log);
}

/* global_load_dword v1, v0, s[2:3]; with `glc` it looks past the cache. */
static void put_load(uint32_t *code, bool glc) {
  code[0] = 0xdc508000u | (glc ? 1u << 16 : 0);
  code[1] = 0x01020000u;
}

/* A wave of gfx90a, and a page of code, which it executes from `pc` on. */
typedef struct code_page {
  _Alignas(PAGE) uint32_t code[PAGE / 4];
  gs_vm_t *vm;
  gs_vm_reader_t reader;
  gs_wave_env_t env;
  gs_wave_t w;
} code_page_t;

static void open_page(code_page_t *p) {
  p->vm = gs_vm_create();
  assert_non_null(p->vm);
  const gs_vm_range_t range = {.start = 0x40000,
                               .end = 0x40000 + PAGE,
                               .host = (uint8_t *)p->code,
                               .allocation = 0x40000,
                               .allocation_size = PAGE,
                               .access = GS_VM_READ | GS_VM_EXECUTE};
  assert_int_equal(gs_vm_map(p->vm, &range), 0);
  gs_vm_reader_register(p->vm, &p->reader);
  gs_vm_reader_enter(&p->reader);
  p->env = (gs_wave_env_t){.target = GS_GFX90A, .vm = &p->reader};
  p->w.env = &p->env;
  p->w.pc = range.start + 8; /* behind the instruction, as handlers find it */
}

static void close_page(code_page_t *p) {
  gs_vm_reader_unregister(&p->reader);
  gs_vm_destroy(p->vm);
}

/* Other code comes to the place of one that was unloaded: what was known of it must not stay, neither in the
 * list nor in what the thread remembers. */
static void test_sites_are_of_their_code(void **state) {
  (void)state;
  static code_page_t p;
  open_page(&p);
  gs_sites_t sites;
  assert_int_equal(gs_sites_init(&sites), 0);
  put_load(p.code, false);
  const uint32_t plain = gs_site_of(&sites, &p.w, 15);
  assert_int_equal(gs_site_of(&sites, &p.w, 15), plain);
  assert_int_equal(sites.site[plain].flags & GS_SITE_WAITS, 0);
  put_load(p.code, true);
  assert_int_equal(gs_vm_invalidate_code(p.vm), 0);
  gs_vm_reader_enter(&p.reader);
  const uint32_t past = gs_site_of(&sites, &p.w, 15);
  assert_int_not_equal(past, plain);
  assert_int_equal(sites.site[past].flags & GS_SITE_WAITS, GS_SITE_WAITS);
  gs_sites_fini(&sites);
  /* Another list, maybe at the same address, and with the same epoch of code. */
  assert_int_equal(gs_sites_init(&sites), 0);
  assert_int_equal(sites.site[gs_site_of(&sites, &p.w, 15)].flags & GS_SITE_WAITS, GS_SITE_WAITS);
  gs_sites_fini(&sites);
  close_page(&p);
}

/* A loop of a load and an instruction that computes: it waits for another value if its address stays, which
 * has as many registers as the encoding says. What was loaded may be computed with. */
static void test_polls_keep_their_address(void **state) {
  (void)state;
  const uint32_t V0 = 0x68000700, V1 = 0x68020701, V2 = 0x68040702; /* v_add_u32 v0, v0, v3 ... */
  const uint32_t S3 = 0x80038103, S7 = 0x80078107, S8 = 0x80088108, S9 = 0x80098109; /* s_add_u32 s3, s3, 1 */
  const struct {
    uint32_t load[2], changes;
    bool waits;
  } loops[] = {
      {{0xd86c0000, 0x02000001}, V1, false}, /* ds_read_b32 v2, v1 */
      {{0xd86c0000, 0x02000001}, V2, true},
      {{0xdc500000, 0x02000000}, V0, false}, /* flat_load_dword v2, v[0:1] */
      {{0xdc500000, 0x02000000}, V1, false},
      {{0xdc500000, 0x02000000}, V2, true},
      {{0xdc508000, 0x027f0000}, V1, false}, /* global_load_dword v2, v[0:1], off */
      {{0xdc508000, 0x027f0000}, V2, true},
      {{0xdc508000, 0x01020000}, V0, false}, /* global_load_dword v1, v0, s[2:3] */
      {{0xdc508000, 0x01020000}, S3, false},
      {{0xdc508000, 0x01020000}, V1, true},
      {{0xe0501000, 0x08010100}, V0, false}, /* buffer_load_dword v1, v0, s[4:7], s8 offen */
      {{0xe0501000, 0x08010100}, S7, false},
      {{0xe0501000, 0x08010100}, S8, false},
      {{0xe0501000, 0x08010100}, S9, true},
      {{0xe0501000, 0x08010100}, V1, true},
      {{0xe0503000, 0x08010200}, V1, false}, /* buffer_load_dword v2, v[0:1], s[4:7], s8 idxen offen */
      {{0xe0503000, 0x08010200}, V2, true},
  };
  for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
    static code_page_t p;
    gs_sites_t sites;
    open_page(&p);
    assert_int_equal(gs_sites_init(&sites), 0);
    memcpy(p.code, loops[i].load, sizeof loops[i].load);
    p.code[2] = loops[i].changes;
    p.code[3] = 0xbf87fffc; /* s_cbranch_vccnz to the load */
    const uint32_t flags = sites.site[gs_site_of(&sites, &p.w, 15)].flags;
    if (!(flags & GS_SITE_WAITS) == loops[i].waits)
      fail_msg("loop %zu: %s", i, loops[i].waits ? "does not wait" : "waits");
    gs_sites_fini(&sites);
    close_page(&p);
  }
}

static void test_versions_are_never_the_same(void **state) {
  (void)state;
  gs_blocks_t blocks;
  assert_int_equal(gs_blocks_init(&blocks), 0);
  add(&blocks, 0x12000, 100);
  const uint64_t version = blocks.version;
  gs_blocks_fini(&blocks);
  assert_int_equal(gs_blocks_init(&blocks), 0);
  add(&blocks, 0x12000, 50);
  assert_int_not_equal(blocks.version, version);
  gs_blocks_fini(&blocks);
}

/* ---- Undefined bits of memory ---- */

/* Items of lanes, looked at together and one by one: pages that are all defined, all undefined and neither,
 * and items that end in another page. */
static void test_lanes_find_what_is_undefined(void **state) {
  (void)state;
  enum { LANES = 64, ROUNDS = 4000, PAGES = 6 };
  static const unsigned widths[] = {1, 2, 4, 8, 12, 16};
  const uint64_t start = 0x7f0000200000 - 3 * PAGE; /* in two chunks */
  gs_bits_t bits;
  assert_int_equal(gs_bits_init(&bits), 0);
  gs_bits_set(&bits, start + PAGE, start + 2 * PAGE, true);
  gs_bits_set(&bits, start + 3 * PAGE, start + 4 * PAGE, true);
  unsigned undefined = 0;
  srandom(1);
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint64_t at[LANES];
    const uint64_t lanes = (uint64_t)random() << 33 | (uint64_t)random(), offset = (uint64_t)random() % 9;
    const unsigned bytes = widths[(unsigned long)random() % 6];
    const bool at_end = random() % 4 == 0; /* of a page, all of them */
    const uint64_t stride = at_end ? 0 : (uint64_t)random() % 40;
    const uint64_t from = start + (at_end ? (1 + (uint64_t)random() % 4) * PAGE - 1 - (uint64_t)random() % 16
                                          : (uint64_t)random() % (5 * PAGE));
    bool defined = true;
    for (unsigned l = 0; l < LANES; l++) {
      at[l] = from + stride * l;
      if (lanes >> l & 1)
        defined = defined && gs_bits_is_defined(&bits, at[l] + offset, at[l] + offset + bytes);
    }
    assert_int_equal(gs_bits_are_defined(&bits, at, lanes, offset, bytes), defined);
    undefined += !defined;
    if (round % 4 == 0) {
      const uint64_t far = at[LANES - 1] + offset + 2 * (uint64_t)bytes;
      const bool was = gs_bits_is_defined(&bits, far, far + 1);
      gs_bits_define(&bits, at, lanes, offset, bytes);
      assert_true(gs_bits_are_defined(&bits, at, lanes, offset, bytes));
      assert_int_equal(gs_bits_is_defined(&bits, far, far + 1), was);
    } else if (round % 4 == 1) {
      gs_bits_put(&bits, from, 1, 0x10, 1);
    } else if (round % 64 == 2) {
      gs_bits_set(&bits, start + PAGE, start + 2 * PAGE, true);
    }
  }
  assert_in_range(undefined, ROUNDS / 8, ROUNDS * 7 / 8);
  gs_bits_fini(&bits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_end_at_their_bytes),
      cmocka_unit_test(test_freed_blocks_are_known_until_replaced),
      cmocka_unit_test(test_blocks_may_overlap),
      cmocka_unit_test(test_many_blocks),
      cmocka_unit_test(test_ranges_are_in_one_block),
      cmocka_unit_test(test_kernels_have_names),
      cmocka_unit_test(test_fortran_has_names),
      cmocka_unit_test(test_parts_have_names),
      cmocka_unit_test(test_functions_are_no_types),
      cmocka_unit_test(test_findings_are_told_once),
      cmocka_unit_test(test_sites_are_of_their_code),
      cmocka_unit_test(test_polls_keep_their_address),
      cmocka_unit_test(test_versions_are_never_the_same),
      cmocka_unit_test(test_lanes_find_what_is_undefined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
