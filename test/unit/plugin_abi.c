/* Drives the plugin as libomptarget does: opens it by file name, resolves its entry points, and calls them on
 * a device. Run as "plugin_abi MODE PLUGIN IMAGE OTHER_IMAGE": IMAGE is a program with an image for the
 * device, OTHER_IMAGE one for another processor. Modes: calls (everything that works or is refused), older
 * (what is different below libomptarget 15), fault (a kernel with a bad pointer), trap, threads (eight
 * threads at once), timeline. The machine needs a device: a real one, or gfxsim through LD_LIBRARY_PATH. */
#include "plugin_driver.h"

#include "openmp/context.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- contents ---- */

static unsigned char pattern(size_t i, unsigned salt) {
  return (unsigned char)((i * 2654435761u + salt) >> 7);
}

static void fill(unsigned char *bytes, size_t count, unsigned salt) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = pattern(i, salt);
}

static bool matches(const unsigned char *bytes, size_t count, unsigned salt) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != pattern(i, salt))
      return false;
  return true;
}

/* ---- what works ---- */

static void copies_of_every_size_arrive(void **state) {
  (void)state;
  static const size_t sizes[] = {
      0,       1,      7, 8, 4095, 4096, 4097, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
      5 << 20, 3000001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t bytes = sizes[i];
    unsigned char *out = malloc(bytes + 3), *in = malloc(bytes + 3);
    assert_true(out && in);
    fill(out + 1, bytes, (unsigned)i); /* odd addresses: users copy from the middle of things */
    memset(in, 0, bytes + 3);
    void *memory = allocate((int64_t)bytes);
    assert_int_equal(rtl.data_submit(0, memory, out + 1, (int64_t)bytes), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, in + 1, memory, (int64_t)bytes), OFFLOAD_SUCCESS);
    assert_true(matches(in + 1, bytes, (unsigned)i));
    assert_true(in[0] == 0 && in[bytes + 1] == 0);
    release(memory);
    free(out);
    free(in);
  }
}

/* Pages that cannot be pinned for writing: constants of the program. */
static void copies_from_read_only_pages(void **state) {
  (void)state;
  size_t bytes = 3 << 20;
  unsigned char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  fill(pages, bytes, 99);
  assert_int_equal(mprotect(pages, bytes, PROT_READ), 0);
  unsigned char *in = malloc(bytes);
  assert_non_null(in);
  void *memory = allocate((int64_t)bytes);
  assert_int_equal(rtl.data_submit(0, memory, pages, (int64_t)bytes), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, in, memory, (int64_t)bytes), OFFLOAD_SUCCESS);
  assert_true(matches(in, bytes, 99));
  release(memory);
  free(in);
  munmap(pages, bytes);
}

static void copy_fails(int32_t status, const char *words) {
  static char said[1 << 14];
  test_capture_end(said, sizeof said);
  assert_int_equal(status, OFFLOAD_FAIL);
  if (!strstr(said, words))
    fail_msg("%s: %s", words, said);
}

/* What is constant, or may not be touched at all: by all ways of copying, whatever was copied before. */
static void copies_that_the_host_may_not_have_are_refused(void **state) {
  (void)state;
  static const int64_t sizes[] = {4, 1, 5000, 100 << 10, 3 << 20};
  enum { BYTES = 3 << 20 };
  void *constants = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *guard = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(constants != MAP_FAILED && guard != MAP_FAILED);
  void *memory = allocate(BYTES), *nothing = (void *)(uintptr_t)40;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char number = 7;
    assert_int_equal(rtl.data_submit(0, memory, &number, 1), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, &number, memory, 1), OFFLOAD_SUCCESS);
    test_capture_begin();
    copy_fails(rtl.data_retrieve(0, constants, memory, sizes[i]),
               "cannot copy from the device: the host may not write");
    test_capture_begin();
    copy_fails(rtl.data_retrieve(0, guard, memory, sizes[i]), "the host may not write");
    test_capture_begin();
    copy_fails(rtl.data_submit(0, memory, guard, sizes[i]),
               "cannot copy to the device: the host may not read");
    test_capture_begin();
    copy_fails(rtl.data_submit(0, memory, nothing, sizes[i]),
               "cannot copy to the device: the host has no memory");
    test_capture_begin();
    copy_fails(rtl.data_retrieve(0, nothing, memory, sizes[i]), "the host has no memory");
    assert_int_equal(rtl.data_submit(0, memory, constants, sizes[i]), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, &number, memory, 1), OFFLOAD_SUCCESS);
    assert_int_equal(number, 0);
  }
  release(memory);
  munmap(constants, BYTES);
  munmap(guard, BYTES);
}

static void a_queue_keeps_the_order(void **state) {
  (void)state;
  enum { COUNT = 500, ROUNDS = 20 };
  static double data[COUNT], result[COUNT];
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof data);
  for (int i = 0; i < COUNT; i++)
    data[i] = 1000 * i;
  assert_int_equal(rtl.data_submit_async(0, memory, data, sizeof data, &queue), OFFLOAD_SUCCESS);
  assert_non_null(queue.Queue);
  for (int round = 0; round < ROUNDS; round++)
    assert_int_equal(launch_spmd(100, memory, (uint32_t)round % 3, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, result, memory, sizeof result, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_null(queue.Queue);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  for (int i = 0; i < COUNT; i++)
    assert_true(result[i] == 1000 * i + (i < 100 ? ROUNDS * expected(i, 3) : 0));
  release(memory);
}

/* More launches than the ring has packets, and more arguments than one block holds. */
static void a_full_queue_only_waits(void **state) {
  (void)state;
  enum { LAUNCHES = 1500 };
  double result = 0;
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof result);
  assert_int_equal(rtl.data_submit_async(0, memory, &result, sizeof result, &queue), OFFLOAD_SUCCESS);
  for (int i = 0; i < LAUNCHES; i++)
    assert_int_equal(launch_spmd(1, memory, 1, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, &result, memory, sizeof result, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_true(result == LAUNCHES * expected(0, 3));
  release(memory);
}

/* Each kernel waits for the copy before it, each copy for the kernel before it, and there are more of them
 * than a queue keeps signals for. */
static void kernels_and_copies_take_turns(void **state) {
  (void)state;
  enum { TURNS = 300, N = 100 };
  static double given_values[TURNS][N], results[TURNS][N];
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof results[0]);
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 0; i < N; i++)
      given_values[turn][i] = turn;
    assert_int_equal(rtl.data_submit_async(0, memory, given_values[turn], sizeof results[0], &queue),
                     OFFLOAD_SUCCESS);
    assert_int_equal(launch_spmd(N, memory, 1, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, results[turn], memory, sizeof results[0], &queue),
                     OFFLOAD_SUCCESS);
  }
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < N; i++)
      assert_true(results[turn][i] == turn + expected(i, 3));
  release(memory);
}

static void a_query_never_waits_and_ends_the_queue(void **state) {
  (void)state;
  static double result[100];
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof result);
  assert_int_equal(rtl.query_async(0, &queue), OFFLOAD_SUCCESS); /* nothing was begun */
  assert_int_equal(rtl.data_submit_async(0, memory, result, sizeof result, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(launch_spmd(100, memory, 0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, result, memory, sizeof result, &queue), OFFLOAD_SUCCESS);
  while (queue.Queue)
    assert_int_equal(rtl.query_async(0, &queue), OFFLOAD_SUCCESS);
  for (int i = 0; i < 100; i++)
    assert_true(result[i] == expected(i, 3));
  release(memory);
}

/* What was retrieved into host memory, and submitted from there again, on one queue: the new content must
 * travel. */
static void a_submit_sees_an_earlier_retrieve(void **state) {
  (void)state;
  static const size_t sizes[] = {64, 2 << 20}; /* staged, and pinned */
  for (size_t i = 0; i < 2; i++) {
    size_t bytes = sizes[i];
    unsigned char *host = malloc(bytes), *check = malloc(bytes);
    assert_true(host && check);
    void *first = allocate((int64_t)bytes), *second = allocate((int64_t)bytes);
    fill(host, bytes, 1);
    assert_int_equal(rtl.data_submit(0, first, host, (int64_t)bytes), OFFLOAD_SUCCESS);
    memset(host, 0, bytes);
    __tgt_async_info queue = {NULL};
    assert_int_equal(rtl.data_retrieve_async(0, host, first, (int64_t)bytes, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_submit_async(0, second, host, (int64_t)bytes, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(0, check, second, (int64_t)bytes), OFFLOAD_SUCCESS);
    assert_true(matches(check, bytes, 1));
    release(first);
    release(second);
    free(host);
    free(check);
  }
}

/* Both into the same host memory: staged bytes get there when the host waits, pinned memory is written at
 * once. */
static void the_later_retrieve_wins(void **state) {
  (void)state;
  static const size_t sizes[] = {64, 2 << 20};
  size_t most = sizes[1];
  unsigned char *host = malloc(most);
  assert_non_null(host);
  void *first = allocate((int64_t)most), *second = allocate((int64_t)most);
  fill(host, most, 1);
  assert_int_equal(rtl.data_submit(0, first, host, (int64_t)most), OFFLOAD_SUCCESS);
  fill(host, most, 2);
  assert_int_equal(rtl.data_submit(0, second, host, (int64_t)most), OFFLOAD_SUCCESS);
  for (size_t i = 0; i < 4; i++) {
    size_t earlier = sizes[i / 2], later = sizes[i % 2];
    __tgt_async_info queue = {NULL};
    memset(host, 0, most);
    assert_int_equal(rtl.data_retrieve_async(0, host, first, (int64_t)earlier, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, host, second, (int64_t)later, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
    assert_true(matches(host, later, 2));
  }
  release(first);
  release(second);
  free(host);
}

/* They use it before they wait, whatever its size and what was done before it. */
static void libomptarget_before_15_has_what_it_retrieves(void **state) {
  (void)state;
  static const size_t sizes[] = {64, 2 << 20}; /* staged, and pinned */
  for (size_t i = 0; i < 2; i++) {
    int64_t bytes = (int64_t)sizes[i];
    unsigned char *host = malloc(sizes[i]), *check = calloc(1, sizes[i]);
    assert_true(host && check);
    void *memory = allocate(bytes);
    fill(host, sizes[i], 1);
    __tgt_async_info queue = {NULL};
    assert_int_equal(rtl.data_submit_async(0, memory, host, bytes, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, check, memory, bytes, &queue), OFFLOAD_SUCCESS);
    assert_true(matches(check, sizes[i], 1));
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
    assert_null(queue.Queue);
    release(memory);
    free(host);
    free(check);
  }
}

static void host_memory_is_shared_with_kernels(void **state) {
  (void)state;
  static const int kinds[] = {TARGET_ALLOC_HOST, TARGET_ALLOC_SHARED};
  for (size_t i = 0; i < 2; i++) {
    double *memory = rtl.data_alloc(0, 100 * sizeof *memory, NULL, kinds[i]);
    assert_non_null(memory);
    for (int j = 0; j < 100; j++)
      memory[j] = j;
    assert_int_equal(launch_spmd(100, memory, 0, NULL), OFFLOAD_SUCCESS); /* no queue: complete on return */
    for (int j = 0; j < 100; j++)
      assert_true(memory[j] == j + expected(j, 3));
    assert_int_equal(rtl.data_delete(0, memory, 0x5eadbeef), OFFLOAD_SUCCESS); /* 13 to 15 pass garbage */
  }
}

static void older_entry_points_launch_too(void **state) {
  (void)state;
  static double result[100];
  void *memory = allocate(sizeof result);
  void *kernel = given.table->EntriesBegin[SPMD_KERNEL].addr;
  void *args[] = {(void *)(uintptr_t)100, memory};
  ptrdiff_t offsets[] = {0, 0};
  assert_int_equal(rtl.data_submit(0, memory, result, sizeof result), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.run_target_region(0, kernel, args, offsets, 2), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.run_target_team_region(0, kernel, args, offsets, 2, 0, 0, 100), OFFLOAD_SUCCESS);
  __tgt_async_info queue = {NULL};
  assert_int_equal(rtl.run_target_region_async(0, kernel, args, offsets, 2, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.run_target_team_region_async(0, kernel, args, offsets, 2, 4, 64, 100, &queue),
                   OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, result, memory, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < 100; i++)
    assert_true(result[i] == 4 * expected(i, 3));
  release(memory);
}

static void variables_have_an_address(void **state) {
  (void)state;
  void *address = given.table->EntriesBegin[VARIABLE].addr;
  int value = 0, larger = 10;
  assert_int_equal(rtl.data_retrieve(0, &value, address, sizeof value), OFFLOAD_SUCCESS);
  assert_int_equal(value, 3);
  assert_int_equal(rtl.data_submit(0, address, &larger, sizeof larger), OFFLOAD_SUCCESS);
  static double result[100];
  memset(result, 0, sizeof result);
  void *memory = allocate(sizeof result);
  assert_int_equal(rtl.data_submit(0, memory, result, sizeof result), OFFLOAD_SUCCESS);
  assert_int_equal(launch_spmd(100, memory, 0, NULL), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, result, memory, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < 100; i++)
    assert_true(result[i] == expected(i, 10));
  assert_int_equal(rtl.data_submit(0, address, &value, sizeof value), OFFLOAD_SUCCESS);
  release(memory);
}

static void events_join_queues(void **state) {
  (void)state;
  static double data[100], result[100];
  void *memory = allocate(sizeof data), *event, *unused;
  __tgt_async_info first = {NULL}, second = {NULL}, idle = {NULL};
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.create_event(0, &unused), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.wait_event(0, event, &idle), OFFLOAD_SUCCESS); /* never recorded: complete */
  assert_null(idle.Queue);
  for (int round = 0; round < 50; round++) {
    memset(data, 0, sizeof data);
    assert_int_equal(rtl.data_submit_async(0, memory, data, sizeof data, &first), OFFLOAD_SUCCESS);
    assert_int_equal(launch_spmd(100, memory, 0, &first), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.record_event(0, event, &first), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.wait_event(0, event, &second), OFFLOAD_SUCCESS);
    /* Two kernels behind the event on its own queue must not hold the other queue up for ever. */
    assert_int_equal(launch_spmd(1, memory, 0, &first), OFFLOAD_SUCCESS);
    assert_int_equal(launch_spmd(100, memory, 0, &second), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.record_event(0, unused, &second), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.wait_event(0, unused, &first), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, result, memory, sizeof result, &first), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &first), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.sync_event(0, event), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &second), OFFLOAD_SUCCESS);
    for (int i = 1; i < 100; i++)
      assert_true(result[i] == 2 * expected(i, 3));
  }
  assert_int_equal(rtl.wait_event(0, event, &idle), OFFLOAD_SUCCESS); /* its queue is long gone */
  assert_null(idle.Queue);
  assert_int_equal(rtl.record_event(0, event, &idle), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.destroy_event(0, unused), OFFLOAD_SUCCESS);
  release(memory);
}

/* Streams with kernels on queues of their own go on where such kernels wait for each other, and keep their
 * order. */
static void kernels_that_run_alone_take_turns(void **state) {
  (void)state;
  enum { STREAMS = 4, ROUNDS = 10, COUNT = 100, SLOW = 5000 };
  static double result[COUNT],
      zeros[COUNT]; /* two, as one stream may be at its first copy when another is done */
  const __tgt_offload_entry *entries = given.table->EntriesBegin;
  atmi_omp_kernel_t store = *(atmi_omp_kernel_t *)entries[STORE_KERNEL].addr,
                    add = *(atmi_omp_kernel_t *)entries[SPMD_KERNEL].addr;
  store.core.alone = add.core.alone = true;
  store.core.id = UINT64_MAX;
  add.core.id = UINT64_MAX - 1;
  void *own[STREAMS], *shared = allocate(sizeof result);
  __tgt_async_info queue[STREAMS] = {{NULL}};
  assert_int_equal(rtl.data_submit(0, shared, result, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < STREAMS; i++)
    own[i] = allocate(sizeof result);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < STREAMS; i++) {
      assert_int_equal(rtl.data_submit_async(0, own[i], zeros, sizeof zeros, &queue[i]), OFFLOAD_SUCCESS);
      assert_int_equal(launch_spmd(1, own[i], SLOW, &queue[i]), OFFLOAD_SUCCESS);
      assert_int_equal(launch_spmd(COUNT, own[i], 1, &queue[i]), OFFLOAD_SUCCESS);
      assert_int_equal(launch_kernel(&store, (uintptr_t)own[i], NULL, 1, &queue[i]), OFFLOAD_SUCCESS);
      assert_int_equal(launch_kernel(&add, COUNT, shared, 0, &queue[i]), OFFLOAD_SUCCESS);
    }
    for (int i = 0; i < STREAMS; i++) {
      assert_int_equal(rtl.synchronize(0, &queue[i]), OFFLOAD_SUCCESS);
      assert_int_equal(rtl.data_retrieve(0, result, own[i], sizeof result), OFFLOAD_SUCCESS);
      int low; /* bits that are lost when anything is added after the store */
      memcpy(&low, result, sizeof low);
      assert_int_equal(low, 1);
      assert_true(result[1] == expected(1, 3));
    }
  }
  assert_int_equal(rtl.data_retrieve(0, result, shared, sizeof result), OFFLOAD_SUCCESS);
  for (int i = 0; i < COUNT; i++)
    assert_true(result[i] == STREAMS * ROUNDS * expected(i, 3));
  for (int i = 0; i < STREAMS; i++)
    release(own[i]);
  release(shared);
}

/* Who waits for the event may retrieve newer data into the same place: nothing older may follow. */
static void an_event_includes_what_was_retrieved(void **state) {
  (void)state;
  enum { BYTES = 64 };
  unsigned char host[BYTES], check[BYTES] = {0};
  __tgt_async_info queue = {NULL};
  void *event, *memory = allocate(BYTES);
  fill(host, BYTES, 1);
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_submit_async(0, memory, host, BYTES, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, check, memory, BYTES, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.record_event(0, event, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.sync_event(0, event), OFFLOAD_SUCCESS);
  assert_true(matches(check, BYTES, 1));
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
  release(memory);
}

static void devices_exchange_data(void **state) {
  (void)state;
  unsigned char host[5000], back[5000];
  void *from = allocate(sizeof host), *to = allocate(sizeof host);
  fill(host, sizeof host, 7);
  assert_true(rtl.is_data_exchangable(0, 0));
  assert_false(rtl.is_data_exchangable(0, 1000));
  assert_false(rtl.is_data_exchangable(-1, 0));
  assert_int_equal(rtl.data_submit(0, from, host, sizeof host), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_exchange(0, from, 0, to, sizeof host), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(0, back, to, sizeof back), OFFLOAD_SUCCESS);
  assert_true(matches(back, sizeof back, 7));
  release(from);
  release(to);
}

/* With two devices or more: through the peers' memory. */
static void two_devices_exchange_data(void **state) {
  (void)state;
  if (rtl.number_of_devices() < 2)
    return; /* the machine of this run has one; another run has two */
  unsigned char host[5000], back[5000];
  void *from = allocate(sizeof host), *to = rtl.data_alloc(1, sizeof host, NULL, TARGET_ALLOC_DEFAULT);
  assert_non_null(to);
  fill(host, sizeof host, 8);
  assert_int_equal(rtl.data_submit(0, from, host, sizeof host), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_exchange(0, from, 1, to, sizeof host), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve(1, back, to, sizeof back), OFFLOAD_SUCCESS);
  assert_true(matches(back, sizeof back, 8));
  release(from);
  assert_int_equal(rtl.data_delete(1, to, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

static void locked_memory_is_counted(void **state) {
  (void)state;
  enum { COUNT = 2000 };
  double *memory = malloc(COUNT * sizeof *memory);
  assert_non_null(memory);
  char *begin = (char *)memory;
  void *whole, *part, *again;
  assert_int_equal(rtl.data_lock(0, memory, COUNT * sizeof *memory, &whole), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_lock(7, begin + 800, 1600, &part), OFFLOAD_SUCCESS);
  assert_ptr_equal(part, (char *)whole + 800);
  assert_int_equal(rtl.data_lock(0, memory, COUNT * sizeof *memory, &again), OFFLOAD_SUCCESS);
  assert_ptr_equal(again, whole);
  for (int i = 0; i < COUNT; i++)
    memory[i] = 0;
  assert_int_equal(launch_spmd(100, whole, 0, NULL), OFFLOAD_SUCCESS); /* without any copy */
  for (int i = 0; i < 100; i++)
    assert_true(memory[i] == expected(i, 3));
  assert_int_equal(rtl.data_unlock(0, begin + 1000), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_unlock(0, memory), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_lock(0, begin + 8, 8, &part), OFFLOAD_SUCCESS); /* one reference was left */
  assert_ptr_equal(part, (char *)whole + 8);
  assert_int_equal(rtl.data_unlock(0, memory), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_unlock(0, memory), OFFLOAD_SUCCESS);
  free(memory);
}

enum { DEVICES_OF_OTHERS = 4 };

/* As libomptarget would answer with another plugin's devices before ours; the plugin looks it up by name. */
__attribute__((visibility("default"))) int omp_get_num_devices(void);
int omp_get_num_devices(void) {
  return DEVICES_OF_OTHERS + rtl.number_of_devices();
}

static void interop_names_agent_and_queue(void **state) {
  (void)state;
  __tgt_async_info *queue = NULL;
  __tgt_device_info info = {NULL, NULL};
  const char *error = NULL;
  assert_int_equal(rtl.init_async_info(0, &queue), OFFLOAD_SUCCESS);
  assert_non_null(queue->Queue);
  assert_int_equal(rtl.init_device_info(0, &info, &error), OFFLOAD_SUCCESS);
  assert_non_null(info.Device);
  assert_null(error);
  /* The number is OpenMP's, which counts other plugins' devices too: a single device is always meant. */
  bool alone = rtl.number_of_devices() == 1;
  assert_int_equal(rtl.init_device_info(1000, &info, &error), alone ? OFFLOAD_SUCCESS : OFFLOAD_FAIL);
  assert_int_equal(error == NULL, alone);
  if (alone)
    return; /* another run has two devices */
  __tgt_device_info first = {NULL, NULL}, second = {NULL, NULL};
  assert_int_equal(rtl.init_device_info(DEVICES_OF_OTHERS, &first, &error), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.init_device_info(DEVICES_OF_OTHERS + 1, &second, &error), OFFLOAD_SUCCESS);
  info = (__tgt_device_info){NULL, NULL};
  assert_int_equal(rtl.init_device_info(0, &info, &error), OFFLOAD_SUCCESS);
  assert_ptr_equal(first.Device, info.Device);
  assert_ptr_not_equal(first.Device, second.Device);
}

/* ---- what is refused, and how ---- */

static char said[1 << 14];

#define REFUSED(expression, ...)                                                                             \
  do {                                                                                                       \
    test_capture_begin();                                                                                    \
    bool refused = (expression);                                                                             \
    test_capture_end(said, sizeof said);                                                                     \
    if (!refused)                                                                                            \
      fail_msg("not refused: %s", #expression);                                                              \
    is_one_line_with((const char *const[]){__VA_ARGS__, NULL});                                              \
  } while (0)

static void is_one_line_with(const char *const *parts) {
  size_t length = strlen(said);
  if (strncmp(said, "AMDGPU error: ", 14) || strchr(said, '\n') != said + length - 1)
    fail_msg("no single error line: %s", said);
  for (; *parts; parts++)
    if (!strstr(said, *parts))
      fail_msg("\"%s\" does not say \"%s\"", said, *parts);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  int something = 0;
  __tgt_async_info queue = {NULL};
  REFUSED(rtl.init_device(1000) == OFFLOAD_FAIL, "no AMD device 1000");
  REFUSED(rtl.init_device(-1) == OFFLOAD_FAIL, "no AMD device -1");
  REFUSED(rtl.data_delete(0, &something, 0) == OFFLOAD_FAIL, "device 0", "not allocated");
  void *memory = allocate(64);
  release(memory);
  REFUSED(rtl.data_delete(0, memory, 0) == OFFLOAD_FAIL, "freed twice");
  REFUSED(!rtl.data_alloc(0, INT64_C(1) << 60, NULL, TARGET_ALLOC_DEFAULT), "device 0",
          "1152921504606846976 bytes", "HSA_STATUS");
  REFUSED(!rtl.data_alloc(0, -1, NULL, TARGET_ALLOC_DEFAULT), "-1 bytes");
  assert_int_equal(rtl.data_delete(0, NULL, 0), OFFLOAD_SUCCESS);
  static char bytes[64];
  void *locked;
  assert_int_equal(rtl.data_lock(0, bytes + 16, 32, &locked), OFFLOAD_SUCCESS);
  REFUSED(rtl.data_lock(0, bytes, 32, &locked) == OFFLOAD_FAIL, "cannot lock 32 bytes", "overlap 32 bytes");
  REFUSED(rtl.data_unlock(0, bytes) == OFFLOAD_FAIL, "cannot unlock", "not locked");
  REFUSED(rtl.data_lock(0, NULL, 32, &locked) == OFFLOAD_FAIL, "cannot lock");
  assert_int_equal(rtl.data_unlock(0, bytes + 16), OFFLOAD_SUCCESS);
  REFUSED(rtl.data_submit_async(0, memory, &something, -1, &queue) == OFFLOAD_FAIL, "copy", "-1 bytes");
  REFUSED(rtl.data_retrieve_async(0, &something, memory, -1, &queue) == OFFLOAD_FAIL, "copy", "-1 bytes");
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
}

/* Handles that are none, or of another device, and sizes that went wrong. */
static void wrong_handles_are_refused(void **state) {
  (void)state;
  _Alignas(64) int something = 0; /* where no handle of the plugin can be */
  void *memory = allocate(64), *event, *locked;
  REFUSED(rtl.record_event(0, NULL, NULL) == OFFLOAD_FAIL, "device 0", "cannot record an event", "is none");
  REFUSED(rtl.wait_event(0, NULL, NULL) == OFFLOAD_FAIL, "device 0", "cannot wait for an event", "is none");
  REFUSED(rtl.sync_event(0, &something) == OFFLOAD_FAIL, "device 0", "cannot wait for an event", "is none");
  REFUSED(rtl.destroy_event(0, NULL) == OFFLOAD_FAIL, "device 0", "cannot destroy an event", "is none");
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.record_event(0, event, NULL), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.query_async(0, NULL), OFFLOAD_SUCCESS);
  REFUSED(rtl.data_submit(0, memory, &something, INT64_MAX) == OFFLOAD_FAIL, "cannot copy to the device",
          "more than there are addresses");
  REFUSED(rtl.data_retrieve(0, &something, memory, INT64_MAX) == OFFLOAD_FAIL, "cannot copy from the device",
          "more than there are addresses");
  REFUSED(rtl.data_lock(0, &something, INT64_MAX, &locked) == OFFLOAD_FAIL,
          "cannot lock 9223372036854775807");
  REFUSED(!rtl.data_alloc(0, INT64_MAX, NULL, TARGET_ALLOC_DEFAULT), "9223372036854775807 bytes");
  REFUSED(!rtl.data_alloc(0, INT64_MAX, NULL, TARGET_ALLOC_HOST), "9223372036854775807 bytes");
  KernelArgsTy launch = {.Version = 2, .NumArgs = 2, .Tripcount = 1};
  REFUSED(rtl.launch_kernel(0, given.table->EntriesBegin[SPMD_KERNEL].addr, NULL, NULL, &launch, NULL) ==
              OFFLOAD_FAIL,
          "device 0", "cannot launch a kernel", "no address for its arguments");
  release(memory);
}

/* With two devices or more. */
static void a_queue_belongs_to_its_device(void **state) {
  (void)state;
  if (rtl.number_of_devices() < 2)
    return; /* the machine of this run has one; another run has two */
  enum { LARGE = 2 << 20 };
  static char large[LARGE];
  int32_t something = 1;
  void *memory = allocate(LARGE), *other = rtl.data_alloc(1, 64, NULL, TARGET_ALLOC_DEFAULT), *event;
  __tgt_async_info queue = {NULL};
  assert_non_null(other);
  assert_int_equal(rtl.data_submit_async(0, memory, &something, sizeof something, &queue), OFFLOAD_SUCCESS);
  assert_non_null(queue.Queue);
  for (int round = 0; round < 2; round++) { /* of a queue that is at rest, and of one that is not */
    REFUSED(rtl.data_submit_async(1, other, &something, sizeof something, &queue) == OFFLOAD_FAIL, "device 1",
            "cannot copy to the device", "the queue is of device 0");
    REFUSED(rtl.data_retrieve_async(1, &something, other, sizeof something, &queue) == OFFLOAD_FAIL,
            "device 1", "cannot copy from the device", "the queue is of device 0");
    REFUSED(rtl.data_exchange_async(1, other, 0, memory, 64, &queue) == OFFLOAD_FAIL, "device 1",
            "the queue is of device 0");
    assert_int_equal(launch_spmd(1, memory, 1, &queue), OFFLOAD_SUCCESS);
  }
  /* A mark of device 0's signal is none of device 1's. The stream has something to do after a large copy. */
  assert_int_equal(rtl.create_event(1, &event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, large, memory, LARGE, &queue), OFFLOAD_SUCCESS);
  REFUSED(rtl.record_event(1, event, &queue) == OFFLOAD_FAIL, "device 1", "cannot record an event",
          "the queue is of device 0");
  assert_int_equal(rtl.destroy_event(1, event), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_null(queue.Queue);
  release(memory);
  assert_int_equal(rtl.data_delete(1, other, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

/* What comes of mapping a null pointer; before and after the queue has memory for small copies. */
static void null_pointers_are_refused(void **state) {
  (void)state;
  void *memory = allocate(2 << 20);
  for (int round = 0; round < 2; round++) {
    static const int64_t sizes[] = {4, 2 << 20};
    int something = 0;
    for (size_t i = 0; i < 2; i++) {
      REFUSED(rtl.data_submit(0, memory, NULL, sizes[i]) == OFFLOAD_FAIL, "copy to the device", "is NULL");
      REFUSED(rtl.data_retrieve(0, NULL, memory, sizes[i]) == OFFLOAD_FAIL, "copy from the device",
              "is NULL");
    }
    assert_int_equal(rtl.data_submit(0, memory, NULL, 0), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_submit(0, memory, &something, sizeof something), OFFLOAD_SUCCESS);
  }
  release(memory);
}

/* Where a caller passes none for what it wants back, or for what an operation is about. */
static void missing_addresses_are_refused(void **state) {
  (void)state;
  int host = 0;
  const char *error;
  __tgt_device_info info = {NULL, NULL};
  REFUSED(rtl.register_lib(NULL) == OFFLOAD_FAIL, "cannot register a library: the program passes no address");
  REFUSED(rtl.unregister_lib(NULL) == OFFLOAD_FAIL, "cannot unregister a library: ");
  assert_false(rtl.is_valid_binary(NULL));
  assert_false(rtl.is_valid_binary_info(NULL, NULL));
  REFUSED(!load_table(0, NULL),
          "device 0 (gfx90a): cannot load a device image: the program passes no address");
  REFUSED(rtl.data_lock(0, &host, sizeof host, NULL) == OFFLOAD_FAIL, "cannot lock host memory: ");
  REFUSED(rtl.init_async_info(0, NULL) == OFFLOAD_FAIL, "cannot make an interop queue: the program passes");
  REFUSED(rtl.init_device_info(0, NULL, &error) == OFFLOAD_FAIL, "cannot describe a device: the program");
  REFUSED(rtl.init_device_info(0, &info, NULL) == OFFLOAD_FAIL, "cannot describe a device: the program");
  assert_int_equal(rtl.query_async(0, NULL), OFFLOAD_SUCCESS);
  REFUSED(rtl.wait_event(0, NULL, NULL) == OFFLOAD_FAIL, "wait for an event");
}

static void impossible_launches_are_refused(void **state) {
  (void)state;
  void *args[3] = {NULL, NULL, NULL}, *kernel = given.table->EntriesBegin[SPMD_KERNEL].addr;
  ptrdiff_t offsets[3] = {0, 0, 0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 3, .Tripcount = 1};
  REFUSED(rtl.launch_kernel(0, kernel, args, offsets, &launch, NULL) == OFFLOAD_FAIL, given.spmd_shown,
          "16 bytes of arguments", "3 words");
  launch.NumArgs = 2;
  launch.DynCGroupMem = 1 << 20;
  REFUSED(rtl.launch_kernel(0, kernel, args, offsets, &launch, NULL) == OFFLOAD_FAIL, given.spmd_shown, "LDS",
          "1048576");
  REFUSED(rtl.launch_kernel(0, NULL, args, offsets, &launch, NULL) == OFFLOAD_FAIL, "launch");
}

static void wrong_images_are_refused(void **state) {
  (void)state;
  assert_false(rtl.is_valid_binary(&given.other));
  REFUSED(!load_table(0, &given.other), "device 0", "gfx906", "gfx90a", "processors differ", "-march=gfx90a");
  __tgt_device_image empty = {NULL, NULL, NULL, NULL};
  assert_false(rtl.is_valid_binary(&empty));
  __tgt_offload_entry missing = {.addr = &exported, .name = "no_such_variable", .size = 4};
  __tgt_device_image image = given.image;
  image.EntriesBegin = &missing;
  image.EntriesEnd = &missing + 1;
  REFUSED(!load_table(0, &image), "no variable no_such_variable");
  missing = (__tgt_offload_entry){.addr = &exported, .name = "exported", .size = 8};
  REFUSED(!load_table(0, &image), "exported", "4 bytes", "8 on the host");
  missing = (__tgt_offload_entry){.addr = &exported, .name = "no_such_kernel"};
  REFUSED(!load_table(0, &image), "no kernel no_such_kernel");
}

static void damaged_images_are_refused(void **state) {
  (void)state;
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  char *copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, given.image.ImageStart, bytes);
  __tgt_device_image image = {copy, copy + 200, given.entries, given.entries + ENTRY_COUNT};
  REFUSED(!load_table(0, &image), "device 0", "cannot load the device image");
  image.ImageEnd = copy + 40;
  REFUSED(!load_table(0, &image), "no ELF file");
  free(copy);
}

/* This machine's ROCr does not know them; the plugin says which one does. */
static void newer_images_want_a_newer_rocr(void **state) {
  (void)state;
  enum { ABI_VERSION = 8, V6 = 4 }; /* where the ELF header has it */
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  char *copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, given.image.ImageStart, bytes);
  copy[ABI_VERSION] = V6;
  __tgt_device_image image = {copy, copy + bytes, given.entries, given.entries + ENTRY_COUNT};
  assert_true(rtl.is_valid_binary(&image));
  REFUSED(!load_table(0, &image), "device 0", "code object version 6", "from 6.3 on");
  free(copy);
}

static void a_library_s_images_are_judged_together(void **state) {
  (void)state;
  __tgt_device_image images[2] = {given.other, given.image};
  __tgt_bin_desc both = {2, images, given.entries, given.entries + ENTRY_COUNT},
                 wrong = {1, images, NULL, NULL};
  test_capture_begin();
  rtl.register_lib(&both);
  test_capture_end(said, sizeof said);
  assert_string_equal(said, ""); /* one of them fits: nothing to say about the other */
  /* With the other one asked for, the one that fits is loaded. */
  __tgt_target_table *table = load_table(0, &images[0]);
  assert_non_null(table);
  /* But not for another library, which has entries of its own. */
  __tgt_offload_entry others[ENTRY_COUNT];
  memcpy(others, given.entries, sizeof others);
  __tgt_device_image stranger = {given.other.ImageStart, given.other.ImageEnd, others, others + ENTRY_COUNT};
  REFUSED(!load_table(0, &stranger), "device 0", "gfx906", "processors differ");
  rtl.unregister_lib(&both);
  test_capture_begin();
  rtl.register_lib(&wrong);
  test_capture_end(said, sizeof said);
  static const char *const parts[] = {"no device image of the program runs", "gfx906: the processors differ",
                                      "device 0 is gfx90a", "--offload-arch=gfx90a"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(said, parts[i]))
      fail_msg("\"%s\" does not say \"%s\"", said, parts[i]);
  rtl.unregister_lib(&wrong);
  /* Unregistering also unloaded what belongs to these entries: load it again for the tests that follow. */
  given.table = load_table(0, &given.image);
  assert_non_null(given.table);
}

static void deinit_leaves_the_rest_working(void **state) {
  (void)state;
  assert_int_equal(rtl.deinit_plugin(), 0);
  assert_int_equal(rtl.init_plugin(), 0);
  a_queue_keeps_the_order(state);
}

/* ---- several devices ---- */

/* The image on each device. */
enum { MOST_DEVICES = 2 };
static struct {
  int32_t count;
  __tgt_target_table *tables[MOST_DEVICES];
} machine;

static int32_t launch_on(int32_t device, uint64_t n, void *out, uint32_t teams, __tgt_async_info *queue) {
  void *args[] = {(void *)(uintptr_t)n, out};
  ptrdiff_t offsets[] = {0, 0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 2, .Tripcount = n, .NumTeams = {teams}};
  return rtl.launch_kernel(device, machine.tables[device]->EntriesBegin[SPMD_KERNEL].addr, args, offsets,
                           &launch, queue);
}

static void load_everywhere(void) {
  machine.count = rtl.number_of_devices() < MOST_DEVICES ? 1 : MOST_DEVICES;
  machine.tables[0] = given.table;
  for (int32_t i = 1; i < machine.count; i++) {
    assert_int_equal(rtl.init_device(i), OFFLOAD_SUCCESS);
    machine.tables[i] = load_table(i, &given.image);
    assert_non_null(machine.tables[i]);
  }
}

/* Run by the thread test with two devices. */
static void a_kernel_belongs_to_its_device(void) {
  void *args[] = {NULL, NULL};
  ptrdiff_t offsets[] = {0, 0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 2, .NumTeams = {1}};
  if (machine.count < 2)
    return;
  REFUSED(rtl.launch_kernel(1, machine.tables[0]->EntriesBegin[SPMD_KERNEL].addr, args, offsets, &launch,
                            NULL) == OFFLOAD_FAIL,
          "device 1", given.spmd_shown, "loaded on device 0");
  int something = 0;
  void *memory = allocate(sizeof something);
  __tgt_async_info queue = {NULL};
  assert_int_equal(rtl.data_submit_async(0, memory, &something, sizeof something, &queue), OFFLOAD_SUCCESS);
  REFUSED(rtl.launch_kernel(1, machine.tables[1]->EntriesBegin[SPMD_KERNEL].addr, args, offsets, &launch,
                            &queue) == OFFLOAD_FAIL,
          "device 1", "cannot launch a kernel", "the queue is of device 0");
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  release(memory);
}

/* ---- a fault ---- */

static void a_fault_names_its_kernel_and_costs_one_device(void **state) {
  (void)state;
  static double result[100];
  __tgt_async_info queue = {NULL}, waiting = {NULL};
  void *event;
  load_everywhere();
  assert_int_equal(rtl.create_event(0, &event), OFFLOAD_SUCCESS);
  void *memory = allocate(sizeof result);
  test_capture_begin();
  int32_t launched = launch_spmd(100, (void *)(uintptr_t)0x123456780000, 0, &queue);
  int32_t behind = launch_spmd(100, memory, 0, &queue);
  rtl.record_event(0, event, &queue);
  rtl.wait_event(0, event, &waiting);
  int64_t ended = rtl.synchronize(0, &queue);
  int64_t waited = rtl.synchronize(0, &waiting);
  void *queue_after = queue.Queue;
  int32_t after = rtl.data_submit(0, memory, result, sizeof result);
  test_capture_end(said, sizeof said);
  assert_int_equal(launched, OFFLOAD_SUCCESS);
  assert_true(behind == OFFLOAD_SUCCESS || behind == OFFLOAD_FAIL); /* the fault may be faster */
  assert_int_equal(ended, OFFLOAD_FAIL);
  assert_true(waited == OFFLOAD_SUCCESS || waited == OFFLOAD_FAIL); /* nothing was queued behind the wait */
  assert_null(queue_after);
  assert_int_equal(after, OFFLOAD_FAIL);
  if (!strstr(said, "device 0 (gfx90a): memory fault at address 0x12345678") ||
      !strstr(said, given.spmd_shown) || !strstr(said, "given up after an earlier fault"))
    fail_msg("said only: %s", said);
  assert_int_equal(rtl.destroy_event(0, event), OFFLOAD_SUCCESS);
  if (machine.count > 1) {
    void *other = rtl.data_alloc(1, sizeof result, NULL, TARGET_ALLOC_DEFAULT);
    assert_non_null(other);
    memset(result, 0, sizeof result);
    assert_int_equal(rtl.data_submit(1, other, result, sizeof result), OFFLOAD_SUCCESS);
    REFUSED(rtl.data_exchange(1, other, 0, memory, sizeof result) == OFFLOAD_FAIL, "device 0", "given up");
    assert_int_equal(launch_on(1, 100, other, 0, NULL), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve(1, result, other, sizeof result), OFFLOAD_SUCCESS);
    for (int i = 0; i < 100; i++)
      assert_true(result[i] == expected(i, 3));
    assert_int_equal(rtl.data_delete(1, other, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
  }
}

static void a_trap_names_its_kernel(void **state) {
  (void)state;
  void *args[] = {(void *)(uintptr_t)1};
  ptrdiff_t offsets[] = {0};
  KernelArgsTy launch = {.Version = 2, .NumArgs = 1, .NumTeams = {1}};
  __tgt_async_info queue = {NULL};
  test_capture_begin();
  int32_t launched =
      rtl.launch_kernel(0, given.table->EntriesBegin[TRAP_KERNEL].addr, args, offsets, &launch, &queue);
  int64_t ended = rtl.synchronize(0, &queue);
  test_capture_end(said, sizeof said);
  assert_int_equal(launched, OFFLOAD_SUCCESS);
  assert_int_equal(ended, OFFLOAD_FAIL);
  if (!strstr(said, "device 0 (gfx90a): the queue stopped") || !strstr(said, given.trap_shown) ||
      !strstr(said, "HSA_STATUS_ERROR_EXCEPTION"))
    fail_msg("said only: %s", said);
}

/* ---- threads ---- */

enum { THREADS = 8 };
static atomic_bool time_is_up;

/* One round on a device: allocate, copy, launch, mark, copy back through another queue or another device,
 * free. */
static bool go_round(int32_t device, unsigned round, double *data, size_t count, void *event) {
  int64_t bytes = (int64_t)(count * sizeof *data);
  int32_t other = (int32_t)(round % (unsigned)machine.count);
  __tgt_async_info queue = {NULL}, second = {NULL};
  void *memory = rtl.data_alloc(device, bytes, data, TARGET_ALLOC_DEFAULT), *there = memory;
  bool good = memory && !rtl.data_submit_async(device, memory, data, bytes, &queue) &&
              !launch_on(device, 100, memory, 0, &queue) && !rtl.record_event(device, event, &queue) &&
              !rtl.wait_event(device, event, &second) && !launch_on(device, 50, memory, 1, &second);
  if (good && other != device) {
    there = rtl.data_alloc(other, bytes, NULL, TARGET_ALLOC_DEFAULT);
    good = there && !rtl.synchronize(device, &second) &&
           !rtl.data_exchange(device, memory, other, there, bytes) &&
           !rtl.data_retrieve(other, data, there, bytes);
  } else {
    good = good && !rtl.data_retrieve_async(device, data, memory, bytes, &second);
  }
  good = !rtl.synchronize(device, &second) && !rtl.synchronize(device, &queue) && good;
  if (there != memory)
    good = !rtl.data_delete(other, there, 0) && good;
  return !rtl.data_delete(device, memory, 0) && good;
}

/* One thread's part, with sizes that use every path. */
static void *work(void *argument) {
  uintptr_t salt = (uintptr_t)argument;
  int32_t device = (int32_t)(salt % (uintptr_t)machine.count);
  size_t count = 100 + 1000 * salt * salt;
  double *data = malloc(count * sizeof *data);
  void *event, *failure = NULL;
  if (!data || rtl.create_event(device, &event))
    return (void *)"no event";
  for (unsigned round = 0; !failure && !atomic_load(&time_is_up); round++) {
    for (size_t i = 0; i < count; i++)
      data[i] = (double)(round + i);
    if (!go_round(device, round, data, count, event))
      failure = (void *)"an operation failed";
    for (size_t i = 0; !failure && i < count; i++)
      if (data[i] !=
          (double)(round + i) + (i < 100 ? expected((int)i, 3) : 0) + (i < 50 ? expected((int)i, 3) : 0))
        failure = (void *)"wrong result";
  }
  if (rtl.destroy_event(device, event))
    failure = (void *)"no destroy";
  free(data);
  return failure;
}

static void many_threads_do_not_disturb_each_other(void **state) {
  (void)state;
  const char *seconds = getenv("PLUGIN_ABI_SECONDS");
  pthread_t threads[THREADS];
  load_everywhere();
  a_kernel_belongs_to_its_device();
  for (uintptr_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
  nanosleep(&(struct timespec){.tv_sec = seconds ? atoi(seconds) : 2}, NULL);
  atomic_store(&time_is_up, true);
  for (int i = 0; i < THREADS; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    if (failure)
      fail_msg("thread %d: %s", i, (const char *)failure);
  }
}

/* ---- the timeline ---- */

/* How often `part` stands in a text. */
static size_t occurrences(const char *text, const char *part) {
  size_t count = 0;
  for (; (text = strstr(text, part)); text += strlen(part))
    count++;
  return count;
}

static void a_timeline_shows_every_operation(void **state) {
  (void)state;
  static double data[5000];
  __tgt_async_info queue = {NULL};
  void *memory = allocate(sizeof data);
  assert_int_equal(rtl.data_submit_async(0, memory, data, sizeof data, &queue), OFFLOAD_SUCCESS);
  for (int i = 0; i < 7; i++)
    assert_int_equal(launch_spmd(100, memory, 3, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.data_retrieve_async(0, data, memory, sizeof data, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  assert_true(data[1] == 7 * expected(1, 3));
  release(memory);
  release(allocate(8)); /* blocks that are kept for the next use are seen as well */
  release(allocate(8));
}

/* Nothing is written at its end. */
static void a_process_is_killed(void **state) {
  (void)state;
  __tgt_async_info queue = {NULL};
  assert_int_equal(launch_spmd(100, allocate(800), 3, &queue), OFFLOAD_SUCCESS);
  kill(getpid(), SIGKILL);
}

static char *read_text(const char *path, size_t *bytes) {
  char *file = test_read_file(path, bytes), *text = calloc(1, *bytes + 1);
  assert_non_null(text);
  memcpy(text, file, *bytes);
  free(file);
  return text;
}

/* What was not over when the process ended has no end. */
static void check_killed(const char *path, const char *kernel) {
  char name[512];
  size_t bytes;
  char *text = read_text(path, &bytes);
  snprintf(name, sizeof name, "{\"ph\":\"b\",\"name\":\"%s\",\"cat\":\"outstanding\",\"pid\":1,", kernel);
  assert_int_equal(occurrences(text, name), 1);
  assert_int_equal(occurrences(text, "\"teams\":3,\"threads\":"), 1);
  assert_int_equal(occurrences(text, "\"allocate device memory\""), 1);
  free(text);
}

/* After the process that wrote it has ended. */
static void check_timeline(const char *path, const char *kernel) {
  char name[512];
  size_t bytes;
  char *text = read_text(path, &bytes);
  snprintf(name, sizeof name, "\"name\":\"%s\",\"cat\":\"kernel\",\"pid\":1,", kernel);
  assert_int_equal(occurrences(text, name), 7);
  snprintf(name, sizeof name, "\"name\":\"%s\",\"cat\":\"outstanding\",\"pid\":1,", kernel);
  assert_int_equal(occurrences(text, name), 14); /* beginning and end */
  assert_int_equal(occurrences(text, "\"ph\":\"b\""), occurrences(text, "\"ph\":\"e\""));
  assert_int_equal(occurrences(text, "\"teams\":3,\"threads\":"), 14); /* beginnings and spans */
  assert_true(occurrences(text, "\"name\":\"copy to the device\",\"cat\":\"copy\",\"pid\":1,") >= 1);
  assert_true(occurrences(text, "\"name\":\"copy from the device\",\"cat\":\"copy\",\"pid\":1,") >= 1);
  assert_true(occurrences(text, "\"args\":{\"bytes\":40000}") >= 3); /* two copies and the allocation */
  assert_int_equal(occurrences(text, "\"allocate device memory\""), 3);
  assert_int_equal(occurrences(text, "\"free memory\""), 3);
  assert_true(occurrences(text, "\"cat\":\"wait\"") >= 1);
  assert_true(occurrences(text, "device 0 (gfx90a)") == 1 && occurrences(text, "\"stream 0\"") == 1);
  assert_true(text[0] == '[' && !strcmp(text + bytes - 2, "]\n"));
  free(text);
}

/* In a child, because the file is complete when the process has ended. */
static void timeline_of(void (*what)(void **), int ended, void (*check)(const char *, const char *)) {
  char path[] = "/tmp/plugin_abi_XXXXXX";
  int made = mkstemp(path), status = -1;
  assert_true(made >= 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    setenv("LIBOMPTARGET_AMDGPU_TIMELINE", path, 1);
    setenv("GFXSIM_COPY_US", "50000", 1); /* so that the host has to wait, however late it gets to it */
    const struct CMUnitTest tests[] = {cmocka_unit_test(what)};
    exit(cmocka_run_group_tests(tests, set_up, tear_down));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, ended);
  given.image = image_of(given.image_path, &given.file);
  char *kernel =
      kernel_name(given.image.ImageStart,
                  (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart), "spmd_kernel");
  char shown[64];
  snprintf(shown, sizeof shown, "spmd_kernel at line %s", strrchr(kernel, 'l') + 1);
  check(path, shown);
  free(kernel);
  free(given.file);
  close(made);
  unlink(path);
}

static void the_timeline_is_complete_at_the_end(void **state) {
  (void)state;
  timeline_of(a_timeline_shows_every_operation, 0, check_timeline);
}

static void the_timeline_shows_what_was_running(void **state) {
  (void)state;
  timeline_of(a_process_is_killed, SIGKILL, check_killed);
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: %s calls|older|fault|trap|threads|timeline PLUGIN IMAGE OTHER_IMAGE\n",
            arguments[0]);
    return 2;
  }
  /* This program is no libomptarget by its exports. */
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", strcmp(arguments[1], "older") ? "16" : "14", 0);
  given.plugin = arguments[2];
  given.image_path = arguments[3];
  given.other_path = arguments[4];
  const struct CMUnitTest calls[] = {
      cmocka_unit_test(copies_of_every_size_arrive),
      cmocka_unit_test(copies_from_read_only_pages),
      cmocka_unit_test(copies_that_the_host_may_not_have_are_refused),
      cmocka_unit_test(a_queue_keeps_the_order),
      cmocka_unit_test(a_full_queue_only_waits),
      cmocka_unit_test(kernels_and_copies_take_turns),
      cmocka_unit_test(a_query_never_waits_and_ends_the_queue),
      cmocka_unit_test(a_submit_sees_an_earlier_retrieve),
      cmocka_unit_test(the_later_retrieve_wins),
      cmocka_unit_test(host_memory_is_shared_with_kernels),
      cmocka_unit_test(older_entry_points_launch_too),
      cmocka_unit_test(variables_have_an_address),
      cmocka_unit_test(events_join_queues),
      cmocka_unit_test(kernels_that_run_alone_take_turns),
      cmocka_unit_test(an_event_includes_what_was_retrieved),
      cmocka_unit_test(devices_exchange_data),
      cmocka_unit_test(two_devices_exchange_data),
      cmocka_unit_test(locked_memory_is_counted),
      cmocka_unit_test(interop_names_agent_and_queue),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(wrong_handles_are_refused),
      cmocka_unit_test(a_queue_belongs_to_its_device),
      cmocka_unit_test(null_pointers_are_refused),
      cmocka_unit_test(missing_addresses_are_refused),
      cmocka_unit_test(impossible_launches_are_refused),
      cmocka_unit_test(wrong_images_are_refused),
      cmocka_unit_test(damaged_images_are_refused),
      cmocka_unit_test(newer_images_want_a_newer_rocr),
      cmocka_unit_test(a_library_s_images_are_judged_together),
      cmocka_unit_test(deinit_leaves_the_rest_working),
  };
  const struct CMUnitTest older[] = {cmocka_unit_test(libomptarget_before_15_has_what_it_retrieves),
                                     cmocka_unit_test(a_queue_keeps_the_order)};
  const struct CMUnitTest fault[] = {cmocka_unit_test(a_fault_names_its_kernel_and_costs_one_device)};
  const struct CMUnitTest trap[] = {cmocka_unit_test(a_trap_names_its_kernel)};
  const struct CMUnitTest threads[] = {cmocka_unit_test(many_threads_do_not_disturb_each_other)};
  if (!strcmp(arguments[1], "older"))
    return cmocka_run_group_tests(older, set_up, tear_down);
  if (!strcmp(arguments[1], "fault"))
    return cmocka_run_group_tests(fault, set_up, tear_down);
  if (!strcmp(arguments[1], "trap"))
    return cmocka_run_group_tests(trap, set_up, tear_down);
  const struct CMUnitTest timeline[] = {cmocka_unit_test(the_timeline_is_complete_at_the_end),
                                        cmocka_unit_test(the_timeline_shows_what_was_running)};
  if (!strcmp(arguments[1], "timeline"))
    return cmocka_run_group_tests(timeline, NULL, NULL);
  if (!strcmp(arguments[1], "threads"))
    return cmocka_run_group_tests(threads, set_up, tear_down);
  return cmocka_run_group_tests(calls, set_up, tear_down);
}
