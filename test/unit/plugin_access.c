/* Whose memory is copied, and who may access it: peers, what other libraries of the process allocated or
 * pinned. Run as "plugin_access PLUGIN IMAGE OTHER_IMAGE", with three devices. */
#include "plugin_driver.h"

#include "memory/host_node.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the program's own view of HSA ---- */

enum { GPUS = 3 };

static struct {
  hsa_agent_t cpu; /* of the first node */
  hsa_agent_t gpu[GPUS];
  int nodes, gpus;
  hsa_amd_memory_pool_t host, device[GPUS];
} hsa;

static hsa_status_t find_agent(hsa_agent_t agent, void *data) {
  (void)data;
  hsa_device_type_t type;
  hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_CPU && hsa.nodes++ == 0)
    hsa.cpu = agent;
  if (type == HSA_DEVICE_TYPE_GPU && hsa.gpus < GPUS)
    hsa.gpu[hsa.gpus++] = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *found) {
  hsa_amd_segment_t segment;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL)
    return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)found = pool;
  return HSA_STATUS_INFO_BREAK;
}

static int open_hsa(void **state) {
  if (set_up(state))
    return -1;
  assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
  hsa_iterate_agents(find_agent, NULL);
  assert_int_equal(hsa.gpus, GPUS);
  hsa_amd_agent_iterate_memory_pools(hsa.cpu, find_pool, &hsa.host);
  for (int i = 0; i < GPUS; i++) {
    hsa_amd_agent_iterate_memory_pools(hsa.gpu[i], find_pool, &hsa.device[i]);
    assert_int_equal(rtl.init_device(i), OFFLOAD_SUCCESS);
  }
  return 0;
}

static int close_hsa(void **state) {
  hsa_shut_down();
  return tear_down(state);
}

/* Stands between the plugin and ROCr: devices that cannot see each other, and how often memory is asked for.
 */
static bool apart;
static _Atomic int questions;

__attribute__((visibility("default"))) hsa_status_t
hsa_amd_pointer_info(const void *memory, hsa_amd_pointer_info_t *info, void *(*make)(size_t), uint32_t *count,
                     hsa_agent_t **agents) {
  static __typeof__(&hsa_amd_pointer_info) next;
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "hsa_amd_pointer_info");
  questions++;
  return next(memory, info, make, count, agents);
}

__attribute__((visibility("default"))) hsa_status_t
hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                   hsa_amd_agent_memory_pool_info_t what, void *value) {
  static __typeof__(&hsa_amd_agent_memory_pool_get_info) next;
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "hsa_amd_agent_memory_pool_get_info");
  hsa_status_t status = next(agent, pool, what, value);
  if (apart && what == HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS)
    *(hsa_amd_memory_pool_access_t *)value = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return status;
}

static bool can_access(int gpu, const void *memory) {
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  hsa_agent_t *agents = NULL;
  uint32_t count = 0;
  bool found = false;
  assert_int_equal(hsa_amd_pointer_info(memory, &info, malloc, &count, &agents), HSA_STATUS_SUCCESS);
  for (uint32_t i = 0; i < count; i++)
    found = found || agents[i].handle == hsa.gpu[gpu].handle;
  free(agents);
  return found;
}

/* ---- helpers ---- */

static void fill(char *bytes, size_t count, unsigned salt) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = (char)((i * 31 + salt) >> 3);
}

static char *make_filled(size_t bytes, unsigned salt) {
  char *memory = malloc(bytes);
  assert_non_null(memory);
  fill(memory, bytes, salt);
  return memory;
}

static void *allocate_on(int device, size_t bytes) {
  void *memory = rtl.data_alloc(device, (int64_t)bytes, NULL, TARGET_ALLOC_DEFAULT);
  assert_non_null(memory);
  return memory;
}

static void free_on(int device, void *memory) {
  assert_int_equal(rtl.data_delete(device, memory, TARGET_ALLOC_DEFAULT), OFFLOAD_SUCCESS);
}

static void put(int device, void *memory, const void *host, size_t bytes) {
  assert_int_equal(rtl.data_submit(device, memory, (void *)(uintptr_t)host, (int64_t)bytes), OFFLOAD_SUCCESS);
}

static void get(int device, void *host, void *memory, size_t bytes) {
  assert_int_equal(rtl.data_retrieve(device, host, memory, (int64_t)bytes), OFFLOAD_SUCCESS);
}

/* ---- NUMA ---- */

static void the_nearest_node_is_chosen(void **state) {
  (void)state;
  static const struct {
    atmi_host_distance_t distances[3];
    uint32_t best;
  } cases[] = {
      {{{0}}, 0}, /* HSA tells nothing: the first */
      {{{.known = true, .hops = 1, .distances = 20}, {.known = true, .hops = 1, .distances = 20}}, 0},
      {{{.known = true, .hops = 1, .distances = 32}, {.known = true, .hops = 1, .distances = 20}}, 1},
      {{{.known = true, .hops = 2, .distances = 20}, {0}, {.known = true, .hops = 1, .distances = 20}}, 2},
      {{{0}, {0}, {.known = true, .hops = 3, .distances = 90}}, 2}, /* known goes before unknown */
      {{{.known = true, .hops = 1, .distances = 20}, {.nearest = true}}, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(atmi_host_node_choose(cases[i].distances, 3), cases[i].best);
  assert_int_equal(atmi_host_node_choose(cases[2].distances, 1), 0);
}

/* Where a GPU's arguments and staging buffers are, as the pool's owner shows. The plugin gives memory of the
 * same pool to the program, which can ask. */
static void host_memory_is_near_the_gpu(void **state) {
  (void)state;
  hsa_agent_t owners[GPUS];
  for (int i = 0; i < GPUS; i++) {
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    void *memory = rtl.data_alloc(i, 100, NULL, TARGET_ALLOC_HOST);
    assert_non_null(memory);
    assert_int_equal(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
    owners[i] = info.agentOwner;
    assert_int_equal(rtl.data_delete(i, memory, TARGET_ALLOC_HOST), OFFLOAD_SUCCESS);
  }
  assert_int_equal(owners[0].handle, hsa.cpu.handle);
  assert_int_equal(owners[2].handle, hsa.cpu.handle);
  /* Every other GPU of gfxsim is at the second node, where there is one. */
  assert_int_equal(owners[1].handle == hsa.cpu.handle, hsa.nodes == 1);
}

/* ---- peers ---- */

/* So large that ROCr has nothing else in the same block of the driver's: it would keep access for the whole.
 */
enum { BLOCK = 8 << 20 };

static void others_keep_their_access(void **state) {
  (void)state;
  char *from = allocate_on(0, BLOCK), *to = allocate_on(2, BLOCK);
  char *host = make_filled(BLOCK, 1), *back = make_filled(BLOCK, 2);
  /* As HIP does it when a program enables peer access. */
  assert_int_equal(hsa_amd_agents_allow_access(1, &hsa.gpu[1], NULL, to), HSA_STATUS_SUCCESS);
  assert_true(can_access(1, to) && can_access(2, to) && !can_access(0, to));
  put(0, from, host, BLOCK);
  assert_int_equal(rtl.data_exchange(0, from, 2, to, BLOCK), OFFLOAD_SUCCESS);
  assert_true(can_access(0, to) && can_access(1, to) && can_access(2, to));
  get(2, back, to, BLOCK);
  assert_memory_equal(host, back, BLOCK);
  free_on(0, from);
  free_on(2, to);
  free(host);
  free(back);
}

static char *target; /* on device 2 */
static char *sources[2];

static void *copy_half(void *argument) {
  intptr_t device = (intptr_t)argument;
  for (int i = 0; i < 200; i++)
    if (rtl.data_exchange((int32_t)device, sources[device], 2, target + device * (BLOCK / 2), BLOCK / 2))
      return (void *)1;
  return NULL;
}

static void peers_share_a_block(void **state) {
  (void)state;
  char *host = make_filled(BLOCK, 3), *back = make_filled(BLOCK, 4);
  pthread_t threads[2];
  target = allocate_on(2, BLOCK);
  for (int i = 0; i < 2; i++) {
    sources[i] = allocate_on(i, BLOCK / 2);
    put(i, sources[i], host + i * (BLOCK / 2), BLOCK / 2);
  }
  for (intptr_t i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, copy_half, (void *)i), 0);
  for (int i = 0; i < 2; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  get(2, back, target, BLOCK);
  assert_memory_equal(host, back, BLOCK);
  for (int i = 0; i < 2; i++)
    free_on(i, sources[i]);
  free_on(2, target);
  free(host);
  free(back);
}

/* ---- host memory that another library pinned or allocated ---- */

static const size_t sizes[] = {100, 1 << 20, 3 << 20};
enum { MOST = 3 << 20 };

/* There from one half and back to the other, by every device. */
static void every_device_copies(char *memory) {
  for (int device = 0; device < GPUS; device++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      void *there = allocate_on(device, sizes[i]);
      fill(memory, MOST, (unsigned)(10 * device) + (unsigned)i);
      memset(memory + MOST, 0, MOST);
      put(device, there, memory, sizes[i]);
      get(device, memory + MOST, there, sizes[i]);
      assert_memory_equal(memory, memory + MOST, sizes[i]);
      free_on(device, there);
    }
}

static void memory_pinned_for_one_device_is_for_all(void **state) {
  (void)state;
  char *memory = malloc(2 * MOST), said[1000];
  assert_non_null(memory);
  for (int half = 0; half < 2; half++) { /* from the same place on, and from an earlier one */
    void *locked, *other;
    size_t bytes = half ? MOST : 2 * MOST;
    assert_int_equal(hsa_amd_memory_lock(memory, bytes, &hsa.gpu[0], 1, &locked), HSA_STATUS_SUCCESS);
    every_device_copies(memory);
    /* What kernels are to use has no other way. */
    test_capture_begin();
    int32_t result = rtl.data_lock(0, memory, 2 * MOST, &other);
    test_capture_end(said, sizeof said);
    assert_int_equal(result, OFFLOAD_FAIL);
    assert_non_null(strstr(said, "another library has pinned"));
    assert_int_equal(rtl.data_lock(0, memory + 4096, 4096, &other), OFFLOAD_SUCCESS);
    assert_true(can_access(0, memory));
    assert_int_equal(rtl.data_unlock(0, memory + 4096), OFFLOAD_SUCCESS);
    assert_true(can_access(0, memory));
    assert_int_equal(hsa_amd_memory_unlock(memory), HSA_STATUS_SUCCESS);
  }
  /* And now it is nobody's. */
  hsa_amd_pointer_info_t info = {.size = sizeof info};
  assert_int_equal(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL), HSA_STATUS_SUCCESS);
  assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  free(memory);
}

static void memory_allocated_for_one_device_is_for_all(void **state) {
  (void)state;
  void *memory;
  assert_int_equal(hsa_amd_memory_pool_allocate(hsa.host, 2 * MOST, 0, &memory), HSA_STATUS_SUCCESS);
  assert_int_equal(hsa_amd_agents_allow_access(1, &hsa.gpu[0], NULL, memory), HSA_STATUS_SUCCESS);
  every_device_copies(memory);
  assert_true(can_access(0, memory));
  assert_int_equal(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

/* ---- device memory given for the host's ---- */

/* Copies by device 0, as far as the plugin is told between host and device, with the memory of `owner`. */
static void copy_with(int owner, char *memory, size_t bytes, void *there) {
  char *host = make_filled(bytes, (unsigned)owner), *back = make_filled(bytes, 99);
  put(owner, memory, host, bytes);
  put(0, there, memory, bytes);
  get(0, back, there, bytes);
  assert_memory_equal(host, back, bytes);
  fill(host, bytes, 100);
  put(0, there, host, bytes);
  get(0, memory, there, bytes);
  get(owner, back, memory, bytes);
  assert_memory_equal(host, back, bytes);
  free(host);
  free(back);
}

static void copy_all_sizes(void) {
  for (int owner = 0; owner < 2; owner++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      char *memory = allocate_on(owner, sizes[i] + 8);
      void *there = allocate_on(0, sizes[i]);
      copy_with(owner, memory, sizes[i], there);
      copy_with(owner, memory + 8, sizes[i], there);
      free_on(0, there);
      free_on(owner, memory);
    }
}

static void device_memory_may_be_on_the_host_s_side(void **state) {
  (void)state;
  copy_all_sizes();
}

static void also_of_devices_that_see_no_other(void **state) {
  (void)state;
  apart = true;
  copy_all_sizes();
  apart = false;
}

/* Each behind the other, although one is a copy within the device. */
static void its_copies_keep_the_order(void **state) {
  (void)state;
  enum { BYTES = 1000 };
  char *host = make_filled(BYTES, 1), *back = make_filled(BYTES, 2);
  char *first = allocate_on(0, BYTES), *second = allocate_on(0, BYTES);
  __tgt_async_info queue = {NULL};
  for (unsigned i = 0; i < 50; i++) {
    fill(host, BYTES, i);
    assert_int_equal(rtl.data_submit_async(0, first, host, BYTES, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_submit_async(0, second, first, BYTES, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.data_retrieve_async(0, back, second, BYTES, &queue), OFFLOAD_SUCCESS);
    assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
    assert_memory_equal(host, back, BYTES);
  }
  free_on(0, first);
  free_on(0, second);
  free(host);
  free(back);
}

/* A variable of an image, as use_device_addr gives it. */
static void variables_are_device_memory_too(void **state) {
  (void)state;
  void *variable = given.table->EntriesBegin[ARRAY].addr, *there = allocate_on(0, sizeof array);
  long host[sizeof array / sizeof *array], back[sizeof array / sizeof *array];
  for (size_t i = 0; i < sizeof array / sizeof *array; i++)
    host[i] = (long)i;
  put(0, variable, host, sizeof host);
  put(0, there, variable, sizeof host);
  get(0, back, there, sizeof back);
  assert_memory_equal(host, back, sizeof host);
  free_on(0, there);
}

/* Of HIP, for example. ROCr cuts small blocks from regions of 2 MiB, of which some hold none of the plugin's.
 */
static void device_memory_of_others_too(void **state) {
  (void)state;
  enum { BLOCKS = 8 };
  static const size_t all[] = {MOST, 900 << 10, 100};
  void *there = allocate_on(0, MOST), *memory[BLOCKS];
  for (size_t i = 0; i < 4 * sizeof all / sizeof *all; i++) {
    size_t bytes = all[i / 4];
    apart = i % 4 > 1;
    for (int j = 0; j < BLOCKS; j++)
      assert_int_equal(hsa_amd_memory_pool_allocate(hsa.device[i % 2], bytes, 0, &memory[j]),
                       HSA_STATUS_SUCCESS);
    copy_with(i % 2, memory[0], bytes, there);
    copy_with(i % 2, memory[BLOCKS - 1], bytes, there);
    for (int j = 0; j < BLOCKS; j++)
      assert_int_equal(hsa_amd_memory_pool_free(memory[j]), HSA_STATUS_SUCCESS);
  }
  apart = false;
  free_on(0, there);
}

/* That is asked of HSA once for each place, whatever the copies are. */
static void host_memory_is_asked_for_once(void **state) {
  (void)state;
  enum { BYTES = 100 };
  char *host = make_filled(BYTES, 1), *back = make_filled(BYTES, 2);
  void *there = allocate_on(0, BYTES);
  put(0, there, host, BYTES);
  get(0, back, there, BYTES);
  questions = 0;
  for (int i = 0; i < 10; i++) {
    put(0, there, host, BYTES);
    get(0, back, there, BYTES);
  }
  assert_int_equal(questions, 0);
  free_on(0, there);
  free(host);
  free(back);
}

static void its_end_is_known(void **state) {
  (void)state;
  char said[1000], *memory = allocate_on(1, BLOCK), *there = allocate_on(0, BLOCK);
  for (int i = 0; i < 2; i++) {
    test_capture_begin();
    int32_t result = i ? rtl.data_submit(0, there, memory + BLOCK - 100, 200)
                       : rtl.data_retrieve(0, memory + BLOCK - 100, there, 200);
    test_capture_end(said, sizeof said);
    assert_int_equal(result, OFFLOAD_FAIL);
    assert_non_null(strstr(said, "device 0"));
    assert_non_null(strstr(said, "(200 bytes)"));
    assert_non_null(strstr(said, "memory of device 1 (gfx90a), which ends after 100 bytes"));
  }
  free_on(1, memory);
  free_on(0, there);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_node_is_chosen),
      cmocka_unit_test(host_memory_is_near_the_gpu),
      cmocka_unit_test(others_keep_their_access),
      cmocka_unit_test(peers_share_a_block),
      cmocka_unit_test(memory_pinned_for_one_device_is_for_all),
      cmocka_unit_test(memory_allocated_for_one_device_is_for_all),
      cmocka_unit_test(device_memory_may_be_on_the_host_s_side),
      cmocka_unit_test(also_of_devices_that_see_no_other),
      cmocka_unit_test(its_copies_keep_the_order),
      cmocka_unit_test(variables_are_device_memory_too),
      cmocka_unit_test(device_memory_of_others_too),
      cmocka_unit_test(host_memory_is_asked_for_once),
      cmocka_unit_test(its_end_is_known),
  };
  return take_arguments(count, arguments) ? cmocka_run_group_tests(tests, open_hsa, close_hsa) : 2;
}
