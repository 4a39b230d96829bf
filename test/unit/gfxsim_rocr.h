/* Small helpers for tests that are HSA programs: the machine, memory, packets, and scenarios in child
 * processes. Failures of the calls inside fail the cmocka test. Not here: anything that tests check. */
#ifndef TEST_UNIT_GFXSIM_ROCR_H
#define TEST_UNIT_GFXSIM_ROCR_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

enum { MOST_AGENTS = 8 };

/* The machine as ROCr describes it. */
typedef struct machine {
  hsa_agent_t cpu;
  hsa_agent_t gpu[MOST_AGENTS];
  unsigned gpus;
  hsa_amd_memory_pool_t fine;   /* of the CPU */
  hsa_amd_memory_pool_t coarse; /* likewise */
  hsa_amd_memory_pool_t vram[MOST_AGENTS];
} machine_t;

#define assert_hsa(call) assert_int_equal(call, HSA_STATUS_SUCCESS)

/* hsa_init and a look around. False when there is no GPU. */
bool machine_open(machine_t *machine);

void *allocate(hsa_amd_memory_pool_t pool, size_t size);
hsa_signal_t signal_create(hsa_signal_value_t value);
/* Waits at most ten seconds for a signal to become 0. */
bool signal_reached_zero(hsa_signal_t signal);
/* Copies asynchronously and waits for the end. */
void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size);
void fill_pattern(uint8_t *bytes, size_t size, unsigned seed);
void sleep_ms(long ms);

typedef union packet {
  struct {
    uint16_t header;
    uint16_t setup;
    uint8_t rest[60];
  } any;
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  hsa_amd_barrier_value_packet_t value;
} packet_t;
_Static_assert(sizeof(packet_t) == 64, "an AQL packet");

/* Header of a packet of this type with the barrier bit and system scope fences. */
uint16_t header_of(unsigned type);
/* Waits for a slot and submits one packet. Any number of threads. */
void submit(hsa_queue_t *queue, const packet_t *packet);

/* What a queue's error callback was told. */
typedef struct queue_error {
  _Atomic int calls;
  _Atomic int status;
} queue_error_t;

/* A queue of the first GPU whose errors are counted in *error. */
hsa_queue_t *queue_create(const machine_t *machine, uint32_t size, queue_error_t *error);

/* Loads the code object in the file `path` on the first GPU. */
hsa_executable_t kernels_load(const machine_t *machine, const char *path);
/* A dispatch of one work-group of 64 with `address` as its argument. All share one place for the argument,
 * which lives until the process ends. */
packet_t dispatch_of(const machine_t *machine, hsa_executable_t kernels, const char *name, uint64_t address);
/* What scenarios that run kernels need. */
typedef struct setting {
  const machine_t *machine;
  hsa_executable_t kernels;
  hsa_queue_t *queue;
  queue_error_t error;
  uint32_t *shared; /* memory of host and GPU */
} setting_t;

/* The process's one, which lives until it ends: kernels from a code object, a queue, `bytes` of cleared
 * memory. */
setting_t *setting_open(const machine_t *machine, const char *kernels, size_t bytes);
/* A dispatch of work-groups of that size with the shared memory as its argument. */
packet_t setting_dispatch(const setting_t *s, const char *name, uint32_t groups, uint16_t group_size);
/* Submits it, and waits as signal_reached_zero does. */
bool setting_runs(const setting_t *s, packet_t packet);

/* Waits at most five seconds until memory that a kernel writes has this value. */
bool word_becomes(const uint32_t *word, uint32_t value);

/* A part of the test that runs in a process of its own: this program again, with the name as its argument. */
typedef struct scenario {
  const char *name;
  int (*run)(const machine_t *machine);
  const char *environment; /* more variables, NAME=value with spaces in between, or NULL */
  int signal;              /* that must end the process, or 0 for exit code 0 */
} scenario_t;

/* Runs the scenario called `name` of a table in this process, for main; its exit code. */
int scenario_run(const scenario_t *table, unsigned count, const char *name);
/* Runs all of them as one group of tests, each in a child. Returns the number of failures. */
int scenario_run_all(const char *group, const scenario_t *table, unsigned count);

#endif
