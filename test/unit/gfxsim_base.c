/* gfxsim/base: the address space with its snapshots, the options, the clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cost.h"
#include "base/options.h"
#include "base/vm.h"
#include "exec/deal.h"

enum { PAGE = 4096 };

/* The address space. */

static gs_vm_range_t range_of(uint64_t start_page, uint64_t end_page, uint8_t *host, uint32_t access) {
  return (gs_vm_range_t){.start = start_page * PAGE,
                         .end = end_page * PAGE,
                         .host = host,
                         .allocation = start_page * PAGE,
                         .allocation_size = (end_page - start_page) * PAGE,
                         .access = access};
}

static void map(gs_vm_t *vm, uint64_t start_page, uint64_t end_page, uint8_t *host, uint32_t access) {
  const gs_vm_range_t range = range_of(start_page, end_page, host, access);
  assert_int_equal(gs_vm_map(vm, &range), 0);
}

/* The current snapshot, checked: sorted, no overlaps. */
static const gs_vm_map_t *look(gs_vm_reader_t *reader) {
  const gs_vm_map_t *current = gs_vm_reader_enter(reader);
  for (size_t i = 0; i < current->count; i++) {
    assert_true(current->range[i].start < current->range[i].end);
    if (i)
      assert_true(current->range[i - 1].end <= current->range[i].start);
  }
  return current;
}

static void test_vm_finds_ranges(void **state) {
  (void)state;
  static uint8_t bytes[8 * PAGE];
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  assert_null(gs_vm_find(look(&reader), 0));
  map(vm, 20, 22, bytes + 2 * PAGE, GS_VM_READ);
  map(vm, 10, 12, bytes, GS_VM_READ | GS_VM_WRITE);
  const gs_vm_map_t *current = look(&reader);
  assert_int_equal(current->count, 2);
  assert_null(gs_vm_find(current, 10 * PAGE - 1));
  assert_ptr_equal(gs_vm_find(current, 10 * PAGE), &current->range[0]);
  assert_ptr_equal(gs_vm_find(current, 12 * PAGE - 1), &current->range[0]);
  assert_null(gs_vm_find(current, 12 * PAGE));
  assert_ptr_equal(gs_vm_find(current, 20 * PAGE), &current->range[1]);
  assert_null(gs_vm_find(current, UINT64_MAX));
  assert_ptr_equal(gs_vm_translate(current, 10 * PAGE + 5, 3, GS_VM_WRITE), bytes + 5);
  assert_ptr_equal(gs_vm_translate(current, 12 * PAGE - 8, 8, GS_VM_READ), bytes + 2 * PAGE - 8);
  assert_null(gs_vm_translate(current, 12 * PAGE - 8, 9, GS_VM_READ));
  assert_null(gs_vm_translate(current, 20 * PAGE, 1, GS_VM_WRITE));
  assert_null(gs_vm_translate(current, 20 * PAGE, 1, GS_VM_READ | GS_VM_EXECUTE));
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

static void test_vm_replaces_and_splits(void **state) {
  (void)state;
  static uint8_t old_bytes[16 * PAGE];
  static uint8_t new_bytes[16 * PAGE];
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  map(vm, 100, 110, old_bytes, GS_VM_READ);
  map(vm, 110, 116, old_bytes + 10 * PAGE, GS_VM_READ);
  /* In the middle: three parts. */
  map(vm, 103, 105, new_bytes, GS_VM_READ);
  const gs_vm_map_t *current = look(&reader);
  assert_int_equal(current->count, 4);
  assert_ptr_equal(gs_vm_translate(current, 102 * PAGE, 1, GS_VM_READ), old_bytes + 2 * PAGE);
  assert_ptr_equal(gs_vm_translate(current, 104 * PAGE, 1, GS_VM_READ), new_bytes + PAGE);
  assert_ptr_equal(gs_vm_translate(current, 105 * PAGE, 1, GS_VM_READ), old_bytes + 5 * PAGE);
  gs_vm_reader_leave(&reader);
  /* Across two ranges and a bound. */
  assert_int_equal(gs_vm_unmap(vm, 108 * PAGE, 111 * PAGE), 0);
  current = look(&reader);
  assert_ptr_equal(gs_vm_translate(current, 107 * PAGE, PAGE, GS_VM_READ), old_bytes + 7 * PAGE);
  for (uint64_t page = 108; page < 111; page++)
    assert_null(gs_vm_find(current, page * PAGE));
  assert_ptr_equal(gs_vm_translate(current, 111 * PAGE, 1, GS_VM_READ), old_bytes + 11 * PAGE);
  assert_int_equal(gs_vm_find(current, 111 * PAGE)->allocation, 110 * PAGE);
  gs_vm_reader_leave(&reader);
  assert_int_equal(gs_vm_unmap(vm, 0, 1000 * PAGE), 0);
  assert_int_equal(look(&reader)->count, 0);
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

/* What a reader found is good for as long as nothing changes, also if it rested in between; and no longer,
 * also if the new snapshot lies where the old one did. */
static void test_vm_readers_keep_what_they_found(void **state) {
  (void)state;
  static uint8_t bytes[PAGE];
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  map(vm, 10, 11, bytes, GS_VM_READ);
  for (unsigned round = 0; round < 10; round++) {
    const gs_vm_range_t *found = gs_vm_find(look(&reader), 10 * PAGE);
    reader.found[round] = found;
    gs_vm_reader_leave(&reader);
    look(&reader);
    assert_ptr_equal(reader.found[round], found);
    gs_vm_reader_leave(&reader);
    assert_int_equal(gs_vm_unmap(vm, 10 * PAGE, 11 * PAGE), 0);
    map(vm, 10, 11, bytes, GS_VM_READ);
    look(&reader);
    for (unsigned i = 0; i < GS_VM_HINTS; i++)
      assert_int_equal(reader.found[i]->end, 0);
    gs_vm_reader_leave(&reader);
  }
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

/* Every operation against a plain array of pages. */
static void test_vm_agrees_with_a_page_array(void **state) {
  (void)state;
  enum { PAGES = 64, ROUNDS = 4000 };
  static uint8_t bytes[PAGES * PAGE];
  uint32_t model[PAGES] = {0}; /* access; 0 = not mapped */
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  unsigned random = 12345;
  for (int round = 0; round < ROUNDS; round++) {
    random = random * 1103515245 + 12345;
    const uint64_t start = random >> 16 & 63;
    const uint64_t end = start + 1 + (random >> 22) % (PAGES - start);
    const uint32_t access = random >> 8 & 1 ? 1 + (random >> 10) % 7 : 0;
    if (access)
      map(vm, start, end, bytes + start * PAGE, access);
    else
      assert_int_equal(gs_vm_unmap(vm, start * PAGE, end * PAGE), 0);
    for (uint64_t page = start; page < end; page++)
      model[page] = access;
    const gs_vm_map_t *current = look(&reader);
    for (uint64_t page = 0; page < PAGES; page++) {
      const gs_vm_range_t *range = gs_vm_find(current, page * PAGE + page);
      assert_int_equal(range ? range->access : 0, model[page]);
      if (!range)
        continue;
      assert_ptr_equal(range->host + (page * PAGE - range->start), bytes + page * PAGE);
      assert_int_equal(page * PAGE + range->delta, (uintptr_t)(bytes + page * PAGE));
      assert_int_equal(range->start + range->size, range->end);
      assert_int_equal(range->plain_access, model[page]);
    }
    gs_vm_reader_leave(&reader);
  }
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

/* Gaps are the program's memory, one range each however often memory was mapped in between. */
static void test_vm_shares_the_host(void **state) {
  (void)state;
  static uint8_t bytes[64 * PAGE];
  const uint64_t here = (uint64_t)(uintptr_t)bytes / PAGE + 1; /* a page of the program */
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  map(vm, here + 1, here + 2, bytes, GS_VM_READ);
  assert_int_equal(gs_vm_share_host(vm, true), 0);
  for (unsigned round = 0; round < 3; round++) {
    const gs_vm_map_t *current = look(&reader);
    assert_int_equal(current->count, 3);
    assert_null(gs_vm_find(current, 0));
    assert_true(gs_vm_find(current, here * PAGE)->is_gap);
    assert_int_equal(gs_vm_find(current, here * PAGE)->plain_access, 0);
    assert_ptr_equal(gs_vm_find(current, here * PAGE)->host,
                     (void *)(uintptr_t)gs_vm_find(current, here * PAGE)->start);
    assert_null(gs_vm_find_mapped(current, here * PAGE));
    assert_null(gs_vm_translate(current, here * PAGE, 1, GS_VM_READ));
    assert_ptr_equal(gs_vm_translate(current, (here + 1) * PAGE, 1, GS_VM_READ), bytes);
    gs_vm_reader_leave(&reader);
    map(vm, here + 4, here + 9, bytes, GS_VM_WRITE);
    assert_int_equal(look(&reader)->count, 5);
    assert_false(gs_vm_reader_is_behind(&reader));
    map(vm, here + 4, here + 9, bytes, GS_VM_WRITE);
    assert_true(gs_vm_reader_is_behind(&reader));
    gs_vm_reader_leave(&reader);
    assert_int_equal(gs_vm_unmap(vm, (here + 4) * PAGE, (here + 6) * PAGE), 0);
    assert_int_equal(look(&reader)->count, 5);
    gs_vm_reader_leave(&reader);
    assert_int_equal(gs_vm_unmap(vm, (here + 5) * PAGE, (here + 20) * PAGE), 0);
  }
  assert_int_equal(gs_vm_share_host(vm, false), 0);
  assert_int_equal(look(&reader)->count, 1);
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

static uint64_t epoch(gs_vm_reader_t *reader) {
  const uint64_t value = look(reader)->code_epoch;
  gs_vm_reader_leave(reader);
  return value;
}

static void test_vm_code_epoch(void **state) {
  (void)state;
  static uint8_t bytes[4 * PAGE];
  gs_vm_t *vm = gs_vm_create();
  gs_vm_reader_t reader;
  gs_vm_reader_register(vm, &reader);
  map(vm, 1, 2, bytes, GS_VM_READ | GS_VM_EXECUTE);
  map(vm, 5, 6, bytes + PAGE, GS_VM_READ);
  const uint64_t first = epoch(&reader);
  map(vm, 7, 8, bytes + 2 * PAGE, GS_VM_READ);
  assert_int_equal(gs_vm_unmap(vm, 5 * PAGE, 6 * PAGE), 0);
  assert_int_equal(epoch(&reader), first);
  assert_int_equal(gs_vm_invalidate_code(vm), 0);
  const uint64_t second = epoch(&reader);
  assert_int_not_equal(second, first);
  assert_int_equal(gs_vm_unmap(vm, PAGE, 2 * PAGE), 0);
  assert_int_not_equal(epoch(&reader), second);
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(vm);
}

/* An unmap returns only after readers let go, so that touching memory found through a snapshot is always
 * safe. */

typedef struct reading {
  gs_vm_t *vm;
  atomic_bool stop;
  _Atomic uint64_t looks;
  _Atomic uint64_t hits;
} reading_t;

static void *read_constantly(void *data) {
  reading_t *reading = data;
  gs_vm_reader_t reader;
  gs_vm_reader_register(reading->vm, &reader);
  unsigned sum = 0;
  for (uint64_t i = 0; !atomic_load(&reading->stop); i++) {
    const gs_vm_map_t *current = gs_vm_reader_enter(&reader);
    for (uint64_t page = 0; page < 8; page++) {
      volatile uint8_t *byte = gs_vm_translate(current, (0x1000 + page) * PAGE, 1, GS_VM_READ);
      if (byte) {
        sum += *byte;
        atomic_fetch_add(&reading->hits, 1);
      }
    }
    atomic_fetch_add(&reading->looks, 1);
    if (i % 16 == 15)
      gs_vm_reader_leave(&reader);
  }
  gs_vm_reader_unregister(&reader);
  return (void *)(uintptr_t)sum;
}

static void test_vm_unmap_waits_for_readers(void **state) {
  (void)state;
  enum { READERS = 3, ROUNDS = 300 };
  reading_t reading = {.vm = gs_vm_create()};
  pthread_t thread[READERS];
  for (int i = 0; i < READERS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, read_constantly, &reading), 0);
  for (uint64_t round = 0; round < ROUNDS || atomic_load(&reading.hits) < ROUNDS; round++) {
    uint8_t *bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    const uint64_t page = 0x1000 + round % 8;
    map(reading.vm, page, page + 1, bytes, GS_VM_READ);
    if (round % 2)
      assert_int_equal(gs_vm_invalidate_code(reading.vm), 0);
    const uint64_t before = atomic_load(&reading.looks);
    while (round % 4 == 0 && atomic_load(&reading.looks) < before + 4)
      sched_yield();
    assert_int_equal(gs_vm_unmap(reading.vm, page * PAGE, (page + 1) * PAGE), 0);
    munmap(bytes, PAGE); /* a reader that still looked would crash */
  }
  atomic_store(&reading.stop, true);
  for (int i = 0; i < READERS; i++)
    pthread_join(thread[i], NULL);
  gs_vm_destroy(reading.vm);
}

typedef struct unmapping {
  gs_vm_t *vm;
  atomic_bool done;
} unmapping_t;

static void *unmap_page(void *data) {
  unmapping_t *unmapping = data;
  const int failed = gs_vm_unmap(unmapping->vm, PAGE, 2 * PAGE);
  atomic_store(&unmapping->done, true);
  return (void *)(intptr_t)failed;
}

/* Whether a reader that moves on finds the page gone, at the latest when the unmapping thread had its turn.
 */
static bool page_goes(gs_vm_reader_t *reader) {
  for (int waited = 0; waited < 5000; waited++) {
    if (!gs_vm_find(gs_vm_reader_enter(reader), PAGE))
      return true;
    usleep(1000);
  }
  return false;
}

static void test_vm_unmap_blocks_until_the_reader_moves_on(void **state) {
  (void)state;
  static uint8_t bytes[PAGE];
  for (int leaves = 0; leaves < 2; leaves++) {
    unmapping_t unmapping = {.vm = gs_vm_create()};
    gs_vm_reader_t reader;
    gs_vm_reader_register(unmapping.vm, &reader);
    map(unmapping.vm, 1, 2, bytes, GS_VM_READ);
    const gs_vm_map_t *old = gs_vm_reader_enter(&reader);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, unmap_page, &unmapping), 0);
    usleep(20000);
    assert_false(atomic_load(&unmapping.done));
    assert_ptr_equal(gs_vm_translate(old, PAGE, 1, GS_VM_READ), bytes);
    if (leaves)
      gs_vm_reader_leave(&reader);
    else
      assert_true(page_goes(&reader));
    void *failed = NULL;
    pthread_join(thread, &failed);
    assert_null(failed);
    gs_vm_reader_unregister(&reader);
    gs_vm_destroy(unmapping.vm);
  }
}

/* A reader that writes while an unmap waits for it (a kernel invalidates the instruction cache): neither
 * blocks. */
static void test_vm_reader_may_write(void **state) {
  (void)state;
  static uint8_t bytes[2 * PAGE];
  unmapping_t unmapping = {.vm = gs_vm_create()};
  gs_vm_reader_t reader;
  gs_vm_reader_register(unmapping.vm, &reader);
  map(unmapping.vm, 1, 2, bytes, GS_VM_READ);
  gs_vm_reader_enter(&reader);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, unmap_page, &unmapping), 0);
  usleep(20000);
  for (unsigned i = 0; i < 10; i++) {
    assert_int_equal(gs_vm_invalidate_code(unmapping.vm), 0);
    map(unmapping.vm, 5, 6, bytes + PAGE, GS_VM_READ);
  }
  assert_false(atomic_load(&unmapping.done));
  assert_true(page_goes(&reader));
  pthread_join(thread, NULL);
  assert_true(atomic_load(&unmapping.done));
  gs_vm_reader_unregister(&reader);
  gs_vm_destroy(unmapping.vm);
}

/* Options. */

static gs_options_t load_with(const char *name, const char *value) {
  gs_options_t options;
  if (name)
    assert_int_equal(setenv(name, value, 1), 0);
  gs_options_load(&options);
  if (name)
    unsetenv(name);
  return options;
}

static void test_options_have_defaults(void **state) {
  (void)state;
  const gs_options_t options = load_with(NULL, NULL);
  assert_string_equal(options.devices, "gfx90a");
  assert_string_equal(options.trace, "");
  assert_int_equal(options.cus, 0);
  assert_int_equal(options.workers, 0);
  assert_int_equal(options.stuck, 60);
  assert_true(options.execute);
  assert_int_equal(options.kernel_us, 0);
  assert_false(options.deterministic);
  assert_false(options.host_visible);
  assert_false(options.numa);
  assert_false(options.stats);
  for (unsigned mode = 0; mode < GS_STRICT_MODES; mode++)
    assert_int_equal(options.strict.kinds[mode], 0);
}

static gs_strict_t strict_with(const char *list, const char *seed) {
  assert_int_equal(setenv("GFXSIM_STRICT_SEED", seed, 1), 0);
  const gs_strict_t strict = load_with("GFXSIM_STRICT", list).strict;
  unsetenv("GFXSIM_STRICT_SEED");
  return strict;
}

static void test_strict_list(void **state) {
  (void)state;
  gs_strict_t strict = strict_with("order:late,order:copies,poison:nan", "7");
  assert_int_equal(strict.kinds[GS_STRICT_ORDER], GS_ORDER_LATE | GS_ORDER_COPIES);
  assert_int_equal(strict.kinds[GS_STRICT_POISON], GS_POISON_NAN);
  assert_int_equal(strict.kinds[GS_STRICT_SCHEDULE], 0);
  strict = strict_with("all", "1");
  for (unsigned mode = 0; mode < GS_STRICT_MODES; mode++)
    assert_int_not_equal(strict.kinds[mode], 0);
  assert_int_equal(strict.kinds[GS_STRICT_DRIVER], GS_DRIVER_EVICT | GS_DRIVER_FAULTS);
  static const char *const bad[] = {"poisson",      "poison:", "poison:zero", "order,", ",order",
                                    "order:late:x", "Order",   "order ",      "all,x"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    strict = strict_with(bad[i], "1");
    for (unsigned mode = 0; mode < GS_STRICT_MODES; mode++)
      assert_int_equal(strict.kinds[mode], 0);
  }
}

/* Five seeds have the five kinds of poison, and 31 each choice of links; what is named is not chosen. */
static void test_strict_seed_chooses(void **state) {
  (void)state;
  char seed[16];
  uint32_t poisons = 0;
  for (uint32_t i = 0; i < 32; i++) {
    snprintf(seed, sizeof seed, "%u", i);
    const gs_strict_t strict = strict_with("poison,links", seed);
    if (i < 5) {
      assert_int_equal(__builtin_popcount(strict.kinds[GS_STRICT_POISON]), 1);
      poisons |= strict.kinds[GS_STRICT_POISON];
    }
    assert_int_equal(strict.kinds[GS_STRICT_LINKS], i ? i : 31);
    assert_int_equal(strict_with("links:numa", seed).kinds[GS_STRICT_LINKS], GS_LINKS_NUMA);
    const uint32_t late = strict_with("wait", seed).kinds[GS_STRICT_WAIT];
    assert_int_equal(late, (i % 2 ? GS_LATE_POISON : GS_LATE_OLD) | GS_LATE_STATES);
    assert_int_equal(strict_with("wait:states", seed).kinds[GS_STRICT_WAIT], GS_LATE_STATES);
    const uint32_t one = strict_with("poison:nan,poison:ones", seed).kinds[GS_STRICT_POISON];
    assert_int_equal(one, i % 2 ? GS_POISON_NAN : GS_POISON_ONES);
  }
  assert_int_equal(poisons, 31);
}

static void test_random_repeats(void **state) {
  (void)state;
  gs_random_t a = gs_random_of(1, 2, 3), b = gs_random_of(1, 2, 3), c = gs_random_of(2, 2, 3);
  uint64_t sum = 0, equal = 0;
  uint32_t counts[8] = {0};
  for (int i = 0; i < 8000; i++) {
    const uint64_t next = gs_random_next(&a);
    assert_true(next == gs_random_next(&b));
    equal += next == gs_random_next(&c);
    counts[gs_random_below(&b, 8)]++;
    gs_random_below(&a, 8);
    const uint64_t delay = gs_random_delay_ns(&c);
    assert_true(delay < 2000000);
    sum += delay;
  }
  assert_int_equal(equal, 0);
  for (int i = 0; i < 8; i++)
    assert_in_range(counts[i], 900, 1100);
  assert_in_range(sum / 8000, 20000, 80000);
}

static void test_options_take_good_values_only(void **state) {
  (void)state;
  assert_string_equal(load_with("GFXSIM_DEVICES", "gfx906:8G,gfx900").devices, "gfx906:8G,gfx900");
  assert_string_equal(load_with("GFXSIM_DEVICES", "").devices, "");
  assert_int_equal(load_with("GFXSIM_CUS", "4").cus, 4);
  assert_int_equal(load_with("GFXSIM_WORKERS", "1024").workers, 1024);
  assert_int_equal(load_with("GFXSIM_KERNEL_US", "1000000").kernel_us, 1000000);
  assert_int_equal(load_with("GFXSIM_KERNEL_US", "1000001").kernel_us, 0);
  assert_int_equal(load_with("GFXSIM_COPY_US", "300").copy_us, 300);
  assert_false(load_with("GFXSIM_EXECUTE", "0").execute);
  assert_true(load_with("GFXSIM_STATS", "1").stats);
  assert_int_equal(load_with("GFXSIM_TRANSLATE", "always").translate, GS_TRANSLATE_ALWAYS);
  assert_int_equal(load_with("GFXSIM_TRANSLATE", "never").translate, GS_TRANSLATE_NEVER);
  assert_int_equal(load_with("GFXSIM_TRANSLATE", "nev").translate, GS_TRANSLATE_AUTO);
  static const char *const bad[] = {"",    " 4", "4 ", "-1", "4x", "0x4", "1025", "99999999999999999999",
                                    "four"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(load_with("GFXSIM_WORKERS", bad[i]).workers, 0);
  assert_true(load_with("GFXSIM_EXECUTE", "2").execute);
  assert_true(load_with("GFXSIM_EXECUTE", "no").execute);
  char longest[257];
  memset(longest, 'a', sizeof longest - 1);
  longest[256] = '\0';
  assert_string_equal(load_with("GFXSIM_TRACE", longest).trace, "");
  longest[255] = '\0';
  assert_string_equal(load_with("GFXSIM_TRACE", longest).trace, longest);
}

/* What is printed to stderr while `name` has `value`. */
static void load_and_read_messages(const char *name, const char *value, char *text, size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  load_with(name, value);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  const ssize_t length = read(ends[0], text, size - 1);
  text[length > 0 ? length : 0] = '\0';
  close(ends[0]);
}

static void test_options_report_what_they_ignore(void **state) {
  (void)state;
  char text[1024];
  load_and_read_messages("GFXSIM_WORKER", "2", text, sizeof text);
  assert_string_equal(text, "gfxsim: GFXSIM_WORKER: no such option; ignored\n");
  load_and_read_messages("GFXSIM_CUS", "many", text, sizeof text);
  assert_string_equal(text, "gfxsim: GFXSIM_CUS=many: not a number from 0 to 1024; using 0\n");
  load_and_read_messages("GFXSIM_CUS", "8", text, sizeof text);
  assert_string_equal(text, "");
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  char *text = NULL;
  size_t capacity = 0;
  assert_true(getdelim(&text, &capacity, '\0', file) > 0);
  fclose(file);
  return text;
}

static unsigned count_of(const char *text, const char *part) {
  unsigned count = 0;
  while ((text = strstr(text, part))) {
    count++;
    text += strlen(part);
  }
  return count;
}

/* Whether the manual page, in which each dash has a backslash, has a paragraph that begins with these two
 * lines. */
static bool manual_has(const char *manual, const gs_option_t *option) {
  char lines[256], *end = lines;
  const bool flag = option->type == GS_OPTION_FLAG;
  end += sprintf(end, "\n.TP\n.B%s ", flag ? "" : "I");
  for (const char *c = option->word; *c; c++)
    end += sprintf(end, *c == '-' ? "\\-" : "%c", *c);
  if (flag)
    sprintf(end, "\n.RB ( %s=%s )\n", option->name, option->argument);
  else if (gs_option_is_list(option))
    sprintf(end, "[= %s ]\n.RB ( %s )\n", option->argument, option->name);
  else
    sprintf(end, "= %s\n.RB ( %s )\n", option->argument, option->name);
  return strstr(manual, lines);
}

/* doc/gfxsim.md has one row for each option, with its default and help text, and none besides; the manual
 * page has a paragraph for each. */
static void test_options_are_documented(void **state) {
  (void)state;
  char *document = read_file(GFXSIM_DOC "/gfxsim.md");
  char *manual = read_file(GFXSIM_DOC "/gfxsim-run.1");
  unsigned options = 0;
  for (const gs_option_t *option; (option = gs_option_at(options)); options++) {
    char row[512];
    const bool flag = option->type == GS_OPTION_FLAG;
    const bool modes = gs_option_is_list(option);
    snprintf(row, sizeof row, "\n| `%s` | `%s%s%s%s` | %s | %s%s%s |\n", option->name, option->word,
             flag    ? ""
             : modes ? "[="
                     : "=",
             flag ? "" : option->argument, modes ? "]" : "", *option->standard ? option->standard : "none",
             flag ? option->argument : "", flag ? " = " : "", option->help);
    if (!strstr(document, row))
      fail_msg("doc/gfxsim.md has no row %s", row);
    if (!manual_has(manual, option))
      fail_msg("doc/gfxsim-run.1 has no paragraph about %s and %s", option->word, option->name);
  }
  assert_true(options > 0);
  assert_int_equal(count_of(document, "\n| `GFXSIM_"), options);
  assert_int_equal(count_of(manual, "\n.RB ( GFXSIM_"), options);
  free(manual);
  free(document);
}

/* Every operation has a name and a cost on every link, and a slower link is not cheaper. */
static void test_costs_are_a_whole_table(void **state) {
  (void)state;
  for (int kind = 0; kind < GS_COST_KINDS; kind++) {
    const uint64_t fast = gs_cost_unit((gs_cost_t)kind, GS_LINK_PCIE4);
    assert_non_null(gs_cost_name((gs_cost_t)kind));
    assert_true(fast > 0 && gs_cost_unit((gs_cost_t)kind, GS_LINK_PCIE3) >= fast);
  }
}

static void test_costs_are_printed_once(void **state) {
  (void)state;
  gs_costs_t costs = {0};
  char *text = NULL;
  size_t size = 0;
  gs_cost_add(NULL, GS_COST_DMA, 1);
  gs_cost_add(&costs, GS_COST_DMA, 2);
  gs_cost_add(&costs, GS_COST_DMA, 1);
  gs_cost_add(&costs, GS_COST_TO_DEVICE, 1000000);
  FILE *out = open_memstream(&text, &size);
  gs_costs_print(&costs, GS_LINK_PCIE4, "GPU 0", out);
  gs_costs_print(&costs, GS_LINK_PCIE4, "GPU 0", out);
  assert_int_equal(fclose(out), 0);
  assert_int_equal(count_of(text, "\n             3        6.000         18.0  DMA copies and fills\n"), 1);
  assert_int_equal(count_of(text, "       1000000      25 GB/s         40.0  bytes to the device, by DMA\n"),
                   1);
  assert_int_equal(count_of(text, "gfxsim: GPU 0: about 0.058 ms on a card"), 1);
  assert_int_equal(count_of(text, "\n"), 5);
  free(text);
}

/* However much time goes by between two readings. */
static void test_clock_runs_at_its_rate(void **state) {
  (void)state;
  const uint64_t ns_per_tick = 1000000000 / GS_CLOCK_HZ;
  for (int i = 0; i < 50; i++) {
    const uint64_t before = gs_clock_nanoseconds(), ticks = gs_clock_ticks(), after = gs_clock_nanoseconds();
    assert_in_range(ticks, before / ns_per_tick, after / ns_per_tick);
    usleep(1000);
  }
}

/* Whichever executor asks. */
static void test_each_workgroup_is_dealt_once(void **state) {
  (void)state;
  static const uint64_t counts[] = {1, 2, 3, 7, 64, 1000, 4099};
  static const uint32_t executors[] = {1, 2, 3, GS_EXECUTORS_MAX};
  for (unsigned i = 0; i < sizeof counts / sizeof *counts * 4; i++) {
    const uint64_t count = counts[i / 4];
    gs_deal_t deal;
    gs_random_t random = gs_random_of(i, 0, 0);
    bool *begun = calloc(count, sizeof *begun);
    gs_deal_init(&deal, count, executors[i % 4]);
    for (uint64_t left = count; left; left--) {
      assert_int_equal(gs_deal_left(&deal), left);
      const uint64_t n =
          gs_deal_next(&deal, (uint32_t)gs_random_below(&random, executors[i % 4]), UINT64_MAX);
      assert_true(n < count);
      assert_false(begun[n]);
      begun[n] = true;
    }
    assert_int_equal(gs_deal_left(&deal), 0);
    free(begun);
  }
}

static void test_an_executor_alone_begins_in_order(void **state) {
  (void)state;
  gs_deal_t deal;
  gs_deal_init(&deal, 1000, 1);
  for (uint64_t n = 0; n < 1000; n++)
    assert_int_equal(gs_deal_next(&deal, 0, UINT64_MAX), n);
}

/* Two executors in turns stay apart; who has nothing left takes the last ones of the other. */
static void test_executors_have_neighbours(void **state) {
  (void)state;
  enum { COUNT = 80 }; /* batches of 10 */
  gs_deal_t deal;
  gs_deal_init(&deal, COUNT, 2);
  for (uint64_t n = 0; n < COUNT / 2; n++) {
    const uint64_t begin = n / 10 * 20 + n % 10;
    assert_int_equal(gs_deal_next(&deal, 0, UINT64_MAX), begin);
    assert_int_equal(gs_deal_next(&deal, 1, UINT64_MAX), begin + 10);
  }
  gs_deal_init(&deal, COUNT, 2);
  assert_int_equal(gs_deal_next(&deal, 0, UINT64_MAX), 0);
  for (uint64_t n = 10; n < COUNT; n++)
    assert_int_equal(gs_deal_next(&deal, 1, UINT64_MAX), n);
  assert_int_equal(gs_deal_left(&deal), 9);
  for (uint64_t n = 9; n > 4; n--)
    assert_int_equal(gs_deal_next(&deal, 1, UINT64_MAX), n);
  for (uint64_t n = 1; n < 5; n++)
    assert_int_equal(gs_deal_next(&deal, 0, UINT64_MAX), n);
  assert_int_equal(gs_deal_left(&deal), 0);
}

/* Workgroups that wait for all with lower numbers, on a device that holds few of them: they all end, in
 * whichever order executors come. */
static void check_chain(uint64_t holds, uint32_t executors, unsigned seed) {
  enum { COUNT = 500 };
  gs_deal_t deal;
  gs_random_t random = gs_random_of(seed, 0, 0);
  bool begun[COUNT] = {false};
  uint64_t ended = 0, resident = 0;
  gs_deal_init(&deal, COUNT, executors);
  while (ended < COUNT) {
    const bool may_begin = gs_deal_left(&deal) && resident < holds;
    if (may_begin && gs_random_below(&random, 8)) {
      const uint32_t executor = (uint32_t)gs_random_below(&random, executors);
      begun[gs_deal_next(&deal, executor, holds - resident)] = true;
      resident++;
      continue;
    }
    if (!begun[ended] && !may_begin)
      fail_msg("a device of %u groups is full, and %u waits for room", (unsigned)holds, (unsigned)ended);
    for (; ended < COUNT && begun[ended] && resident; ended++)
      resident--;
  }
}
static void test_lower_workgroups_find_room(void **state) {
  (void)state;
  for (unsigned seed = 0; seed < 20; seed++) {
    for (uint64_t holds = 1; holds < 100; holds += 1 + holds / 4) {
      check_chain(holds, 2, seed);
      check_chain(holds, 3, seed);
      check_chain(holds, GS_EXECUTORS_MAX, seed);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vm_finds_ranges),
      cmocka_unit_test(test_vm_replaces_and_splits),
      cmocka_unit_test(test_vm_readers_keep_what_they_found),
      cmocka_unit_test(test_vm_agrees_with_a_page_array),
      cmocka_unit_test(test_vm_shares_the_host),
      cmocka_unit_test(test_vm_code_epoch),
      cmocka_unit_test(test_vm_unmap_waits_for_readers),
      cmocka_unit_test(test_vm_unmap_blocks_until_the_reader_moves_on),
      cmocka_unit_test(test_vm_reader_may_write),
      cmocka_unit_test(test_options_have_defaults),
      cmocka_unit_test(test_options_take_good_values_only),
      cmocka_unit_test(test_strict_list),
      cmocka_unit_test(test_strict_seed_chooses),
      cmocka_unit_test(test_random_repeats),
      cmocka_unit_test(test_options_report_what_they_ignore),
      cmocka_unit_test(test_options_are_documented),
      cmocka_unit_test(test_costs_are_a_whole_table),
      cmocka_unit_test(test_costs_are_printed_once),
      cmocka_unit_test(test_clock_runs_at_its_rate),
      cmocka_unit_test(test_each_workgroup_is_dealt_once),
      cmocka_unit_test(test_an_executor_alone_begins_in_order),
      cmocka_unit_test(test_executors_have_neighbours),
      cmocka_unit_test(test_lower_workgroups_find_room),
  };
  return cmocka_run_group_tests_name("gfxsim base", tests, NULL, NULL);
}
