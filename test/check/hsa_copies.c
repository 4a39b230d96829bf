/* Copies of HSA that OpenMP programs do not make, each with an error (argument 2 is 1) or without: fills,
 * rectangles, rows of a rectangle, and memory that is freed while a copy waits; and frees of what is no
 * block. hsa_copies.sh compares what is told. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 8000 };

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t gpu_pool, cpu_pool;

static void must(hsa_status_t status, const char *what) {
  if (status == HSA_STATUS_SUCCESS)
    return;
  fprintf(stderr, "%s: %x\n", what, status);
  exit(2);
}
#define MUST(call) must(call, #call)

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *found) {
  hsa_amd_segment_t segment;
  bool allocates;
  MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allocates));
  if (segment != HSA_AMD_SEGMENT_GLOBAL || !allocates)
    return HSA_STATUS_SUCCESS;
  *(hsa_amd_memory_pool_t *)found = pool;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_agent(hsa_agent_t agent, void *unused) {
  hsa_device_type_t type;
  (void)unused;
  MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  const bool is_gpu = type == HSA_DEVICE_TYPE_GPU;
  *(is_gpu ? &gpu : &cpu) = agent;
  hsa_amd_agent_iterate_memory_pools(agent, find_pool, is_gpu ? &gpu_pool : &cpu_pool);
  return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool) {
  void *block = NULL;
  MUST(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &block));
  MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, block));
  return block;
}

static hsa_signal_t make_signal(hsa_signal_value_t value) {
  hsa_signal_t signal;
  MUST(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

static void wait_for(hsa_signal_t signal) {
  hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static void fill(bool wrong) {
  char *block = allocate(gpu_pool);
  MUST(hsa_amd_memory_fill(block, 7, BYTES / 4 + wrong));
}

/* Rows of 100 bytes, 80 of them in a block; `wrong`: the last row ends behind it. */
static void rectangle(bool wrong) {
  char *from = allocate(cpu_pool), *to = allocate(gpu_pool);
  const hsa_pitched_ptr_t source = {from, 100, 0}, target = {to, 100, 0};
  const hsa_dim3_t start = {0, 0, 0}, end = {40, 70, 0}, range = {wrong ? 64 : 60, 10, 1};
  hsa_signal_t done = make_signal(1);
  MUST(hsa_amd_memory_async_copy_rect(&target, &end, &source, &start, &range, gpu, hsaHostToDevice, 0, NULL,
                                      done));
  wait_for(done);
}

static void plain(bool wrong) {
  static char host[BYTES + 8];
  char *block = allocate(gpu_pool);
  MUST(hsa_memory_copy(block, host, BYTES + (wrong ? 8 : 0)));
}

/* The copy waits for `gate`; its destination does not wait for the copy. */
static void late(bool wrong) {
  char *from = allocate(cpu_pool), *to = allocate(gpu_pool);
  hsa_signal_t gate = make_signal(1), done = make_signal(1);
  MUST(hsa_amd_memory_async_copy(to, gpu, from, cpu, BYTES, 1, &gate, done));
  if (wrong)
    MUST(hsa_amd_memory_pool_free(to));
  hsa_signal_store_screlease(gate, 0);
  wait_for(done);
  if (!wrong)
    MUST(hsa_amd_memory_pool_free(to));
}

static void sleep_ms(long ms) {
  nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Copies take half a second here (GFXSIM_COPY_US): the memory goes while one runs. */
static void under(bool wrong) {
  char *from = allocate(cpu_pool), *to = allocate(gpu_pool);
  hsa_signal_t done = make_signal(1);
  MUST(hsa_amd_memory_async_copy(to, gpu, from, cpu, BYTES, 0, NULL, done));
  sleep_ms(200);
  if (wrong)
    MUST(hsa_amd_memory_pool_free(to));
  wait_for(done);
  if (!wrong)
    MUST(hsa_amd_memory_pool_free(to));
}

/* The host's memory is the GPU's no longer, while a copy from it runs, or waits. */
static void take_away(bool wrong, bool waits) {
  char *from = allocate(cpu_pool), *to = allocate(gpu_pool);
  hsa_signal_t gate = make_signal(waits), done = make_signal(1);
  MUST(hsa_amd_memory_async_copy(to, gpu, from, cpu, BYTES, 1, &gate, done));
  sleep_ms(200);
  if (wrong)
    MUST(hsa_amd_agents_allow_access(1, &cpu, NULL, from));
  hsa_signal_store_screlease(gate, 0);
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_C(2000000000), HSA_WAIT_STATE_BLOCKED);
  MUST(hsa_amd_agents_allow_access(1, &cpu, NULL, from));
}
static void taken_under(bool wrong) {
  take_away(wrong, false);
}
static void taken_before(bool wrong) {
  take_away(wrong, true);
}

/* By one of HSA's functions after the other, which both free all memory. */
static void twice(bool wrong) {
  void *block = allocate(gpu_pool);
  MUST(hsa_amd_memory_pool_free(block));
  if (wrong && hsa_memory_free(block) == HSA_STATUS_SUCCESS)
    exit(3);
}

static void inside(bool wrong) {
  char *block = allocate(gpu_pool);
  if (wrong && hsa_amd_memory_pool_free(block + 16) == HSA_STATUS_SUCCESS)
    exit(3);
  MUST(hsa_amd_memory_pool_free(block));
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    void (*run)(bool wrong);
  } copies[] = {{"fill", fill},
                {"rectangle", rectangle},
                {"plain", plain},
                {"late", late},
                {"twice", twice},
                {"inside", inside},
                {"under", under},
                {"taken_under", taken_under},
                {"taken_before", taken_before}};
  MUST(hsa_init());
  hsa_iterate_agents(find_agent, NULL);
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
    if (count == 3 && !strcmp(words[1], copies[i].name)) {
      copies[i].run(*words[2] == '1');
      MUST(hsa_shut_down());
      return 0;
    }
  return 2;
}
