/* What the operations cost without OpenMP: an HSA program written by hand, as short as correct code gets.
 * Prints and counts as ops.c does.
 *   bare count|time|work|copies NUMBER CODE_OBJECT [operation...]
 * Copies are measured in processor time where gfxsim makes them in the call, and else by the clock. */
#include "share.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <valgrind/callgrind.h>

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, device_pool, kernarg_pool;
static hsa_queue_t *queue;
static hsa_signal_t done;
static uint64_t kernel;
static void *kernarg, *staging, *memory;

static void check(hsa_status_t status, const char *what) {
  if (status == HSA_STATUS_SUCCESS)
    return;
  fprintf(stderr, "bare: %s failed: 0x%x\n", what, (unsigned)status);
  exit(1);
}

static hsa_status_t visit_agent(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  (void)data;
  check(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent type");
  if (type == HSA_DEVICE_TYPE_CPU)
    cpu = agent;
  else if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
    gpu = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *data) {
  uint32_t flags = 0;
  hsa_amd_segment_t segment;
  check(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "segment");
  if (segment != HSA_AMD_SEGMENT_GLOBAL)
    return HSA_STATUS_SUCCESS;
  check(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), "flags");
  if (data) {
    device_pool = pool;
  } else {
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
      host_pool = pool;
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
      kernarg_pool = pool;
  }
  return HSA_STATUS_SUCCESS;
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  hsa_executable_symbol_t symbol;
  if (!file) {
    perror(path);
    exit(1);
  }
  check(hsa_code_object_reader_create_from_file(fileno(file), &reader), "reading the code object");
  check(
      hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
      "creating the executable");
  check(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL), "loading");
  check(hsa_executable_freeze(executable, NULL), "freezing");
  check(hsa_executable_get_symbol_by_name(executable, "empty.kd", &gpu, &symbol), "finding the kernel");
  check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel),
        "its address");
  fclose(file);
}

static void set_up(const char *path) {
  check(hsa_init(), "hsa_init");
  check(hsa_iterate_agents(visit_agent, NULL), "listing agents");
  check(hsa_amd_agent_iterate_memory_pools(cpu, visit_pool, NULL), "host pools");
  check(hsa_amd_agent_iterate_memory_pools(gpu, visit_pool, &gpu), "device pools");
  check(hsa_queue_create(gpu, 512, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
        "queue");
  check(hsa_signal_create(0, 0, NULL, &done), "signal");
  check(hsa_amd_memory_pool_allocate(kernarg_pool, 4096, 0, &kernarg), "arguments");
  check(hsa_amd_memory_pool_allocate(host_pool, 4096, 0, &staging), "staging memory");
  check(hsa_amd_memory_pool_allocate(device_pool, 4096, 0, &memory), "device memory");
  check(hsa_amd_agents_allow_access(1, &gpu, NULL, kernarg), "access");
  check(hsa_amd_agents_allow_access(1, &gpu, NULL, staging), "access");
  load(path);
}

static void wait_for_it(void) {
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >
         0) {
  }
}

static void launch(void) {
  hsa_signal_store_relaxed(done, 1);
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  hsa_kernel_dispatch_packet_t *packet =
      (hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));
  packet->workgroup_size_x = 64;
  packet->workgroup_size_y = packet->workgroup_size_z = 1;
  packet->grid_size_x = 64;
  packet->grid_size_y = packet->grid_size_z = 1;
  packet->private_segment_size = packet->group_segment_size = 0;
  packet->kernel_object = kernel;
  packet->kernarg_address = kernarg;
  packet->completion_signal = done;
  uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n((uint32_t *)(void *)packet,
                   header | 1u << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS), __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
  wait_for_it();
}

static double word;

static void update_to(void) {
  memcpy(staging, &word, sizeof word);
  hsa_signal_store_relaxed(done, 1);
  check(hsa_amd_memory_async_copy(memory, gpu, staging, cpu, sizeof word, 0, NULL, done), "copy");
  wait_for_it();
}

static void update_from(void) {
  hsa_signal_store_relaxed(done, 1);
  check(hsa_amd_memory_async_copy(staging, cpu, memory, gpu, sizeof word, 0, NULL, done), "copy");
  wait_for_it();
  memcpy(&word, staging, sizeof word);
}

/* ---- large copies of memory that is pinned once; prints as copies.c does ---- */

static void *pinned;
static char *large;

static void copy_large(size_t at, size_t bytes, int back) {
  char *host = (char *)pinned + at, *device = large + at;
  hsa_signal_store_relaxed(done, 1);
  check(back ? hsa_amd_memory_async_copy(host, cpu, device, gpu, bytes, 0, NULL, done)
             : hsa_amd_memory_async_copy(device, gpu, host, cpu, bytes, 0, NULL, done),
        "copy");
  wait_for_it();
}

static void copy_to(size_t at, size_t bytes) {
  copy_large(at, bytes, 0);
}

static void copy_from(size_t at, size_t bytes) {
  copy_large(at, bytes, 1);
}

static void copies(void) {
  if (getenv("GFXSIM_DETERMINISTIC"))
    share_clock = CLOCK_THREAD_CPUTIME_ID;
  share_from = share_allocate();
  share_into = share_allocate();
  check(hsa_amd_memory_lock(share_allocate(), SHARE_LARGEST, &gpu, 1, &pinned), "pinning");
  check(hsa_amd_memory_pool_allocate(device_pool, SHARE_LARGEST, 0, (void **)&large), "device memory");
  share_measure("update_to", copy_to, SHARE_MIB, 0, 1);
  share_measure("update_from", copy_from, SHARE_MIB, 0, 1);
  for (size_t bytes = SHARE_MIB; bytes <= SHARE_LARGEST;
       bytes = bytes == SHARE_MIB ? 16 * bytes : 4 * bytes) {
    share_measure("update_to", copy_to, bytes, bytes, 1);
    share_measure("update_from", copy_from, bytes, bytes, 1);
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } operations[] = {{"empty", launch}, {"update-to", update_to}, {"update-from", update_from}};
  if (argc < 4) {
    fprintf(stderr, "usage: bare count|time|work|copies NUMBER CODE_OBJECT [operation...]\n");
    return 2;
  }
  long count = strtol(argv[2], NULL, 10);
  if (!strcmp(argv[1], "work"))
    share_clock = CLOCK_THREAD_CPUTIME_ID;
  set_up(argv[3]);
  if (!strcmp(argv[1], "copies")) {
    copies();
    return 0;
  }
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    int wanted = argc == 4;
    for (int j = 4; j < argc; j++)
      wanted |= !strcmp(argv[j], operations[i].name);
    if (!wanted)
      continue;
    for (int j = 0; j < 20; j++)
      operations[i].run();
    CALLGRIND_ZERO_STATS;
    double begin = share_seconds();
    for (long j = 0; j < count; j++)
      operations[i].run();
    double end = share_seconds();
    CALLGRIND_DUMP_STATS_AT(operations[i].name);
    if (strcmp(argv[1], "count"))
      printf("%s %.3f\n", operations[i].name, 1e6 * (end - begin) / (double)count);
  }
  fflush(stdout);
  return 0;
}
