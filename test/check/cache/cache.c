/* Reads that a card's caches may answer with old values: kernels of kernels.s, and packets whose fences do
 * not reach far enough. Called: cache NAME bug|good; cache.sh compares what gfxsim-run --check=cache says.
 * The environment variable CACHE_KERNELS names the code object. */
#include "gfxsim_rocr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = HSA_FENCE_SCOPE_NONE, AGENT = HSA_FENCE_SCOPE_AGENT, SYSTEM = HSA_FENCE_SCOPE_SYSTEM };
enum { WORDS = 1024, FIRST = 128 / 4, SECOND = 192 / 4, ADDRESS = 1024 / 4 };

static struct {
  machine_t machine;
  hsa_executable_t kernels;
  hsa_queue_t *queue;
  queue_error_t error;
  bool bug;
} test;

static uint32_t *get_words(hsa_amd_memory_pool_t pool) {
  uint32_t *words = allocate(pool, WORDS * sizeof *words);
  assert_hsa(hsa_amd_agents_allow_access(test.machine.gpus, test.machine.gpu, NULL, words));
  assert_hsa(hsa_amd_memory_fill(words, 0, WORDS));
  return words;
}

/* With fences of these scopes; waits for the end. */
static void run_on(hsa_queue_t *queue, hsa_executable_t kernels, const machine_t *machine, const char *kernel,
                   uint32_t groups, const void *argument, int acquire, int release) {
  packet_t packet = dispatch_of(machine, kernels, kernel, (uintptr_t)argument);
  packet.dispatch.grid_size_x = groups * packet.dispatch.workgroup_size_x;
  packet.dispatch.header = (uint16_t)(HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                                      acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                      release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  packet.dispatch.completion_signal = signal_create(1);
  assert_hsa(hsa_amd_agents_allow_access(test.machine.gpus, test.machine.gpu, NULL,
                                         packet.dispatch.kernarg_address));
  submit(queue, &packet);
  assert_true(signal_reached_zero(packet.dispatch.completion_signal));
  hsa_signal_destroy(packet.dispatch.completion_signal);
}

static void run(const char *kernel, uint32_t groups, const void *argument, int acquire, int release) {
  run_on(test.queue, test.kernels, &test.machine, kernel, groups, argument, acquire, release);
}

static void run_groups(const char *name, uint32_t groups) {
  char kernel[64];
  uint32_t *words = get_words(test.machine.vram[0]);
  snprintf(kernel, sizeof kernel, "%s_%s", name, test.bug ? "bug" : "good");
  run(kernel, groups, words, SYSTEM, SYSTEM);
}

/* Kernels that have it all in themselves. */
static void within(const char *name) {
  run_groups(name, 2);
}

static void within_many(const char *name) {
  run_groups(name, 9);
}

/* A kernel that reads what another wrote, after an earlier one has read it. */
static void kernels(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  (void)name;
  run("load", 1, words, SYSTEM, SYSTEM);
  run("store", 1, words, NONE, SYSTEM);
  run("load", 1, words, test.bug ? NONE : AGENT, SYSTEM);
}

/* The host fills the block of arguments for the next kernel, which reads that through the scalar cache. */
static void arguments(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  (void)name;
  run("load", 1, words, SYSTEM, SYSTEM);
  run("load", 1, words + FIRST, test.bug ? NONE : SYSTEM, SYSTEM);
}

static void copy_back(const uint32_t *words) {
  static uint32_t back[WORDS];
  uint32_t *host = allocate(test.machine.fine, sizeof back);
  assert_hsa(hsa_amd_agents_allow_access(test.machine.gpus, test.machine.gpu, NULL, host));
  copy(host, test.machine.cpu, words, test.machine.gpu[0], sizeof back);
  assert_int_equal(host[0], 42);
}

static void copy_release(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  (void)name;
  run("store", 1, words, SYSTEM, test.bug ? AGENT : SYSTEM);
  copy_back(words);
}

/* A barrier packet behind the kernel releases for it. */
static void barrier_release(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  packet_t packet = {.barrier = {.completion_signal = signal_create(1)}};
  (void)name;
  run("store", 1, words, SYSTEM, NONE);
  packet.barrier.header = (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER |
                                     (test.bug ? AGENT : SYSTEM) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  submit(test.queue, &packet);
  assert_true(signal_reached_zero(packet.barrier.completion_signal));
  copy_back(words);
}

static void write_back(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  (void)name;
  run(test.bug ? "store" : "store_and_write_back", 1, words, SYSTEM, NONE);
  copy_back(words);
}

/* For the GPU's own compute units, and no further. */
static void write_back_scope(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]);
  (void)name;
  run(test.bug ? "store_and_write_back_agent" : "store_and_write_back", 1, words, SYSTEM, NONE);
  copy_back(words);
}

/* Device memory that caches do not keep changes of. */
static void fine(const char *name) {
  uint32_t *words = get_words(test.bug ? test.machine.coarse : test.machine.fine);
  (void)name;
  run("store", 1, words, SYSTEM, NONE);
  copy_back(words);
}

/* Starts a kernel that reads `data`, and reads it again when the host has done something. */
static packet_t start_reader(const char *kernel, uint32_t *words, uint32_t *data) {
  packet_t packet = dispatch_of(&test.machine, test.kernels, kernel, (uintptr_t)words);
  *(uint32_t **)(void *)(words + ADDRESS) = data;
  packet.dispatch.completion_signal = signal_create(1);
  submit(test.queue, &packet);
  assert_true(word_becomes(words + FIRST, 1));
  return packet;
}

/* The host changes coarse-grained memory while a kernel waits for that. */
static void host(const char *name) {
  uint32_t *words = get_words(test.machine.fine), *data = get_words(test.machine.coarse);
  const packet_t packet = start_reader(test.bug ? "host_bug" : "host_good", words, data);
  (void)name;
  __atomic_store_n(data, 42, __ATOMIC_RELEASE);
  __atomic_store_n(words + SECOND, 1, __ATOMIC_RELEASE);
  assert_true(signal_reached_zero(packet.dispatch.completion_signal));
}

/* The memory is given to others while the kernel runs: no error of caches, but of bounds (taken.sh). */
static void taken(const char *name) {
  const machine_t *m = &test.machine;
  const hsa_agent_t agents[] = {m->cpu, m->gpu[0]};
  uint32_t *words = get_words(m->fine), *data = get_words(m->coarse);
  const packet_t packet = start_reader("host_good", words, data);
  (void)name;
  assert_hsa(hsa_amd_agents_allow_access(test.bug ? 1 : 2, agents, NULL, data));
  __atomic_store_n(words + SECOND, 1, __ATOMIC_RELEASE);
  assert_true(signal_reached_zero(packet.dispatch.completion_signal));
}

/* ... between two kernels. */
static void host_between(const char *name) {
  uint32_t *data = get_words(test.machine.coarse);
  (void)name;
  run("load", 1, data, SYSTEM, SYSTEM);
  __atomic_store_n(data, 42, __ATOMIC_RELEASE);
  run("load", 1, data, test.bug ? AGENT : SYSTEM, SYSTEM);
}

/* A copy engine changes what a kernel has read. */
static void copy_acquire(const char *name) {
  uint32_t *words = get_words(test.machine.vram[0]), *host_words = get_words(test.machine.fine);
  (void)name;
  run("load", 1, words, SYSTEM, SYSTEM);
  host_words[0] = 42;
  copy(words, test.machine.gpu[0], host_words, test.machine.cpu, WORDS * sizeof *words);
  run("load", 1, words, test.bug ? AGENT : SYSTEM, SYSTEM);
}

/* The second GPU reads what the first has written into its own memory. */
static void other_gpu(const char *name) {
  machine_t second = test.machine;
  uint32_t *words = get_words(test.machine.vram[0]);
  queue_error_t error = {0};
  (void)name;
  second.gpu[0] = test.machine.gpu[1];
  second.vram[0] = test.machine.vram[1];
  hsa_executable_t loaded = kernels_load(&second, getenv("CACHE_KERNELS"));
  hsa_queue_t *queue = queue_create(&second, 64, &error);
  run("store", 1, words, SYSTEM, test.bug ? AGENT : SYSTEM);
  run_on(queue, loaded, &second, "load", 1, words, SYSTEM, SYSTEM);
  hsa_queue_destroy(queue);
}

static const struct {
  const char *name;
  void (*run)(const char *name);
} table[] = {
    {"vector", within},
    {"array", within},
    {"neighbour", within},
    {"counter", within},
    {"lanes", within},
    {"polls", within},
    {"scope", within},
    {"xcc", within},
    {"same_xcc", within_many},
    {"through", within},
    {"scalar_store", within},
    {"scalar_read", within},
    {"kernels", kernels},
    {"arguments", arguments},
    {"copy_release", copy_release},
    {"barrier_release", barrier_release},
    {"write_back", write_back},
    {"write_back_scope", write_back_scope},
    {"fine", fine},
    {"host", host},
    {"host_between", host_between},
    {"copy_acquire", copy_acquire},
    {"other_gpu", other_gpu},
    {"taken", taken},
};

int main(int count, char **words) {
  if (count < 3 || !machine_open(&test.machine))
    return 2;
  test.bug = strcmp(words[2], "bug") == 0;
  test.kernels = kernels_load(&test.machine, getenv("CACHE_KERNELS"));
  test.queue = queue_create(&test.machine, 64, &test.error);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].name, words[1]) == 0) {
      table[i].run(words[1]);
      return hsa_shut_down() == HSA_STATUS_SUCCESS && !test.error.calls ? 0 : 1;
    }
  return 2;
}
