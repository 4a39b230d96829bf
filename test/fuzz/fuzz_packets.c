/* Fuzz target: the packets that programs give to gfxsim's processors: AQL, PM4 and SDMA, on a GPU that only
 * pretends to execute. The first byte chooses the processor, the rest is its ring. A dword 0xa5a5NNNN and the
 * one behind it become the address of byte NNNN of the memory that the GPU can access. Not here: what packets
 * do (test/unit/gfxsim_packet.c), and what kernels do (fuzz_wave.c). */
#include "fuzz.h"

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdlib.h>
#include <string.h>

#include "exec/internal.h"
#include "gfxsim_stub.h"
#include "packet/aql.h"
#include "packet/pm4.h"
#include "packet/pm4_engine.h"
#include "packet/sdma.h"

enum { PAGE = 4096, SLOTS = 16, RING_DWORDS = 1024, DATA_BYTES = 64 * 1024, MOST_STEPS = 64 };
enum { PROCESSOR_AQL, PROCESSOR_PM4, PROCESSOR_SDMA, PROCESSORS };

/* What the GPU can access: rings, queue and data. Only the last is addressed by seeds. */
typedef struct arena {
  _Alignas(PAGE) hsa_kernel_dispatch_packet_t aql_ring[SLOTS];
  uint32_t sdma_ring[RING_DWORDS];
  amd_queue_t queue;
  amd_signal_t inactive;
  uint64_t read_index, write_index;
  _Alignas(PAGE) uint8_t data[DATA_BYTES];
} arena_t;

typedef struct machine {
  gs_device_t *device;
  arena_t *arena;
  gs_packet_ops_t ops;
  atomic_bool stop;
  _Atomic int told_not_executed;
  gs_engine_config_t config;
} machine_t;

static void on_event(void *context, uint32_t event_id) {
  (void)context;
  (void)event_id;
}
static void on_fault(void *context, const gs_fault_t *fault) {
  (void)context;
  (void)fault;
}
static void on_hang(void *context) {
  (void)context;
}

/* Made at the first input and kept. */
static machine_t *the_machine(void) {
  static machine_t m;
  if (m.device)
    return &m;
  m.arena = aligned_alloc(PAGE, sizeof *m.arena);
  const gs_options_t options = {.cus = 4};
  m.device = gs_device_create(gs_profile_find("gfx90a"), 0, &options, &(gs_device_ops_t){0});
  FUZZ_CHECK(m.arena && m.device);
  const gs_vm_range_t range = {.start = (uintptr_t)m.arena,
                               .end = (uintptr_t)(m.arena + 1),
                               .host = (uint8_t *)m.arena,
                               .allocation = (uintptr_t)m.arena,
                               .allocation_size = sizeof *m.arena,
                               .access = GS_VM_READ | GS_VM_WRITE};
  FUZZ_CHECK(gs_vm_map(gs_device_vm(m.device), &range) == 0);
  m.ops = (gs_packet_ops_t){.raise_event = on_event, .memory_fault = on_fault, .engine_hang = on_hang};
  m.config = (gs_engine_config_t){.device = m.device,
                                  .execute = true,
                                  .told_not_executed = &m.told_not_executed,
                                  .ops = &m.ops,
                                  .stop = &m.stop};
  return &m;
}

static void set_address(uint32_t *dwords, const void *target) {
  const uint64_t address = (uintptr_t)target;
  memcpy(dwords, &address, sizeof address);
}

/* Puts real addresses where the input has markers. */
static void place_addresses(const arena_t *arena, uint32_t *dwords, size_t count) {
  for (size_t i = 0; i + 1 < count; i++)
    if (dwords[i] >> 16 == 0xa5a5) {
      set_address(&dwords[i], &arena->data[dwords[i] & 0xffff]);
      i++;
    }
}

static void reset(arena_t *arena) {
  memset(arena, 0, sizeof *arena);
  for (unsigned i = 0; i < SLOTS; i++)
    arena->aql_ring[i].header = HSA_PACKET_TYPE_INVALID;
  arena->inactive.kind = AMD_SIGNAL_KIND_USER;
  arena->queue.queue_inactive_signal.handle = (uintptr_t)&arena->inactive;
  for (unsigned i = 0; i < DATA_BYTES; i += sizeof(amd_signal_t)) /* a signal wherever a seed wants one */
    memcpy(&arena->data[i], &(amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = 1}, sizeof(amd_signal_t));
}

static void step(const gs_engine_ops_t *ops, void *engine) {
  FUZZ_CHECK(engine != NULL);
  for (unsigned i = 0; i < MOST_STEPS; i++) {
    const gs_step_t result = ops->step(engine);
    if (result == GS_STEP_IDLE || result == GS_STEP_HALT)
      break;
  }
  (void)ops->pending(engine);
  ops->destroy(engine);
}

static void run_aql(machine_t *m, const uint32_t *dwords, size_t count) {
  enum { PACKET_DWORDS = sizeof(hsa_kernel_dispatch_packet_t) / 4 };
  const size_t packets = count / PACKET_DWORDS < SLOTS ? count / PACKET_DWORDS : SLOTS;
  memcpy(m->arena->aql_ring, dwords, packets * PACKET_DWORDS * 4);
  m->arena->queue.write_dispatch_id = packets;
  m->arena->queue.hsa_queue.size = SLOTS;
  step(&gs_aql_ops, gs_aql_create(&m->config, &m->arena->queue, m->arena->aql_ring, SLOTS));
}

static void run_sdma(machine_t *m, const uint32_t *dwords, size_t count) {
  const size_t fits = count < RING_DWORDS ? count : RING_DWORDS - 1;
  memcpy(m->arena->sdma_ring, dwords, fits * 4);
  m->arena->write_index = fits * 4;
  step(&gs_sdma_ops, gs_sdma_create(&m->config, m->arena->sdma_ring, RING_DWORDS * 4, &m->arena->read_index,
                                    &m->arena->write_index));
}

static void run_pm4(machine_t *m, const uint32_t *dwords, size_t count) {
  gs_pm4_effects_t effects = {0};
  uint64_t address;
  uint32_t length;
  if (count >= 4)
    (void)gs_pm4_indirect_buffer(dwords, &address, &length);
  (void)gs_pm4_run(dwords, count, &effects);
  FUZZ_CHECK(effects.skipped <= count);
  const size_t fits = count < RING_DWORDS ? count : RING_DWORDS - 1;
  memcpy(m->arena->sdma_ring, dwords, fits * 4);
  m->arena->write_index = fits;
  step(&gs_pm4_ops, gs_pm4_create(&m->config, m->arena->sdma_ring, RING_DWORDS * 4, &m->arena->read_index,
                                  &m->arena->write_index));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  machine_t *m = the_machine();
  const size_t count = size ? (size - 1) / 4 : 0;
  uint32_t *dwords = malloc(count * 4 + 1);
  if (!dwords || !size) {
    free(dwords);
    return 0;
  }
  memcpy(dwords, data + 1, count * 4);
  reset(m->arena);
  place_addresses(m->arena, dwords, count);
  switch (data[0] % PROCESSORS) {
  case PROCESSOR_AQL: run_aql(m, dwords, count); break;
  case PROCESSOR_PM4: run_pm4(m, dwords, count); break;
  default: run_sdma(m, dwords, count); break;
  }
  free(dwords);
  return 0;
}

/* ---- Valid inputs ---- */

#define AT(offset) (0xa5a50000u | (offset)), 0

size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  /* clang-format off */
  static const uint32_t dispatch[] = {
      2 | 3 << 16, 64 | 1 << 16, 1,        64,       1, 1, 0, 0, /* header and setup, sizes, segments */
      AT(0x1000),  AT(0x2000),   0,        0,        AT(0x400),
      3,           0,            AT(0x400), AT(0x440), 0, 0, 0, 0, 0, 0, 0, 0, AT(0x480), /* barrier-and */
  };
  static const uint32_t vendor[] = {
      0 | 1 << 16, 0xc0023f00, AT(0x1000), 16 | 1 << 23, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, AT(0x400),
  };
  static const uint32_t pm4[] = {
      0xc0055800, 0, 0xffffffff, 0xff, 0, 0, 4, /* ACQUIRE_MEM */
      0xc0001000, 0,                            /* NOP */
      0xc0023f00, 0, 0, 4,
  };
  static const uint32_t sdma[] = {
      1,          4999, 0, AT(0x103), AT(0x9041),                  /* copy */
      0,                                                           /* no operation */
      0x8000000b, AT(0x3000), 0xa1b2c3d4, 36,                      /* fill */
      0xb0000008, AT(0x400), 0, ~0u, 0x0fff0004,                   /* poll */
      0x0000020d, AT(0x500),                                       /* time stamp */
      0x5e00000a, AT(0x600), ~0u, ~0u, 0, 0, 0,                    /* atomic */
      5,          AT(0x700), 2, 6, 2,                              /* fence, trap */
      0x40000401, AT(0x4000), 0, 0x00200020, 0x400, 0, AT(0x6000), /* a rectangle */
      0x00200020, 0x400, 0x00070007, 0,
  };
  /* clang-format on */
  static const struct {
    const uint32_t *dwords;
    size_t bytes;
    uint8_t processor;
  } seeds[] = {
      {dispatch, sizeof dispatch, PROCESSOR_AQL},
      {vendor, sizeof vendor, PROCESSOR_AQL},
      {pm4, sizeof pm4, PROCESSOR_PM4},
      {sdma, sizeof sdma, PROCESSOR_SDMA},
  };
  if (number >= sizeof seeds / sizeof *seeds || capacity < 1 + seeds[number].bytes)
    return 0;
  data[0] = seeds[number].processor;
  memcpy(data + 1, seeds[number].dwords, seeds[number].bytes);
  return 1 + seeds[number].bytes;
}
