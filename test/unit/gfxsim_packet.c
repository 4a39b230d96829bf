/* gfxsim/packet: AQL, PM4 and SDMA processing step by step, without threads, on a GPU that only pretends to
 * execute; and the queue threads around it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "exec/guard.h"
#include "exec/internal.h"
#include "gfxsim_stub.h"
#include "packet/aql.h"
#include "packet/pm4.h"
#include "packet/pm4_engine.h"
#include "packet/queue.h"
#include "packet/sdma.h"
#include "packet/signal.h"

enum { PAGE = 4096, SLOTS = 64, RING_DWORDS = 1024, DATA_BYTES = 64 * 1024, SIGNALS = 8, MOST_STEPS = 1000 };

/* Memory that the GPU can access, at its own address. The last page of `data` is followed by nothing. */
typedef struct arena {
  _Alignas(PAGE) hsa_kernel_dispatch_packet_t aql_ring[SLOTS];
  uint32_t sdma_ring[RING_DWORDS];
  amd_queue_t queue;
  amd_signal_t signal[SIGNALS];
  uint64_t mailbox[SIGNALS];
  uint64_t read_index, write_index;
  _Alignas(PAGE) uint8_t data[DATA_BYTES];
  _Alignas(PAGE) uint8_t read_only[PAGE];
} arena_t;

/* What the engines told their owner. */
typedef struct told {
  uint32_t events[SIGNALS + 1]; /* by event id */
  const uint64_t *read_index;   /* or NULL: to be looked at with each event */
  uint64_t read;                /* what it was with the last one */
  unsigned faults, hangs;
  gs_fault_t fault;
} told_t;

typedef struct fixture {
  gs_device_t *device;
  arena_t *arena;
  told_t told;
  gs_packet_ops_t ops;
  atomic_bool stop;
  _Atomic int told_not_executed;
  gs_engine_config_t config;
  gs_bus_t bus;
} fixture_t;

static void on_event(void *context, uint32_t event_id) {
  told_t *told = context;
  assert_true(event_id <= SIGNALS);
  told->events[event_id]++;
  told->read = told->read_index ? *told->read_index : 0;
}

static void on_fault(void *context, const gs_fault_t *fault) {
  told_t *told = context;
  told->faults++;
  told->fault = *fault;
}

static void on_hang(void *context) {
  told_t *told = context;
  told->hangs++;
}

static void make_visible(gs_vm_t *vm, void *start, size_t bytes, uint32_t access) {
  const gs_vm_range_t range = {.start = (uintptr_t)start,
                               .end = (uintptr_t)start + bytes,
                               .host = start,
                               .allocation = (uintptr_t)start,
                               .allocation_size = bytes,
                               .access = access};
  assert_int_equal(gs_vm_map(vm, &range), 0);
}

static uint64_t at(const volatile void *pointer) {
  return (uintptr_t)pointer;
}

static int setup(void **state) {
  fixture_t *f = calloc(1, sizeof *f);
  f->arena = aligned_alloc(PAGE, sizeof *f->arena);
  memset(f->arena, 0, sizeof *f->arena);
  memset(&gs_stub, 0, sizeof gs_stub);
  const gs_options_t options = {.cus = 4};
  f->device = gs_device_create(gs_profile_find("gfx90a"), 0, &options, &(gs_device_ops_t){0});
  make_visible(gs_device_vm(f->device), f->arena, offsetof(arena_t, read_only), GS_VM_READ | GS_VM_WRITE);
  make_visible(gs_device_vm(f->device), f->arena->read_only, PAGE, GS_VM_READ);
  f->ops = (gs_packet_ops_t){
      .context = &f->told, .raise_event = on_event, .memory_fault = on_fault, .engine_hang = on_hang};
  f->config = (gs_engine_config_t){.device = f->device,
                                   .execute = true,
                                   .told_not_executed = &f->told_not_executed,
                                   .ops = &f->ops,
                                   .stop = &f->stop};
  for (unsigned i = 0; i < SLOTS; i++)
    f->arena->aql_ring[i].header = HSA_PACKET_TYPE_INVALID;
  for (unsigned i = 0; i < SIGNALS; i++)
    f->arena->signal[i].kind = AMD_SIGNAL_KIND_USER;
  f->arena->queue.queue_inactive_signal.handle = at(&f->arena->signal[0]);
  gs_bus_init(&f->bus, gs_device_vm(f->device));
  gs_bus_enter(&f->bus);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture_t *f = *state;
  gs_bus_fini(&f->bus);
  gs_device_destroy(f->device);
  free(f->arena);
  free(f);
  return 0;
}

/* Gives signal `i` an event with the id `i` (1 or more). */
static amd_signal_t *signal_with_event(fixture_t *f, unsigned i, int64_t value) {
  amd_signal_t *signal = &f->arena->signal[i];
  signal->value = value;
  signal->event_id = i;
  signal->event_mailbox_ptr = at(&f->arena->mailbox[i]);
  return signal;
}

/* Memory access. */

static void test_bus_checks_accesses(void **state) {
  fixture_t *f = *state;
  uint8_t *data = f->arena->data;
  uint8_t *end = f->arena->read_only + PAGE;
  assert_ptr_equal(gs_bus_at(&f->bus, at(data), 8, GS_VM_WRITE), data);
  assert_null(gs_bus_at(&f->bus, at(f->arena->read_only), 8, GS_VM_WRITE | GS_VM_READ));
  assert_int_equal(f->bus.fault.access, GS_VM_WRITE);
  assert_false(f->bus.fault.not_present);
  assert_null(gs_bus_at(&f->bus, at(end) - 4, 8, GS_VM_READ));
  assert_true(f->bus.fault.not_present);
  assert_int_equal(f->bus.fault.address, at(end));
  assert_null(gs_bus_at(&f->bus, 16, 4, GS_VM_READ));
  assert_int_equal(f->bus.fault.address, 16);
  assert_null(gs_bus_at(&f->bus, UINT64_MAX, 1, GS_VM_READ));
  uint64_t size = 0;
  assert_ptr_equal(gs_bus_span(&f->bus, at(end) - 100, 1000, GS_VM_READ, &size), end - 100);
  assert_int_equal(size, 100);
}

/* Signals. */

static void test_signal_completion(void **state) {
  fixture_t *f = *state;
  uint32_t event = 99;
  amd_signal_t *quiet = &f->arena->signal[1];
  quiet->value = 3;
  assert_true(gs_signal_complete(&f->bus, at(quiet), 10, 20, &event));
  assert_int_equal(quiet->value, 2);
  assert_int_equal(quiet->start_ts, 10);
  assert_int_equal(quiet->end_ts, 20);
  assert_int_equal(event, 0);
  amd_signal_t *loud = signal_with_event(f, 2, 1);
  assert_true(gs_signal_complete(&f->bus, at(loud), 1, 2, &event));
  assert_int_equal(loud->value, 0);
  assert_int_equal(event, 2);
  assert_int_equal(f->arena->mailbox[2], 2);
  assert_true(gs_signal_complete(&f->bus, 0, 1, 2, &event));
  assert_int_equal(event, 0);
  assert_false(gs_signal_complete(&f->bus, at(loud) + 8, 1, 2, &event));
  assert_int_equal(loud->value, 0);
  assert_false(gs_signal_complete(&f->bus, 0x1000, 1, 2, &event));
  assert_int_equal(f->bus.fault.address, 0x1000);
}

static void test_signal_store_keeps_what_the_host_wrote(void **state) {
  fixture_t *f = *state;
  bool stored = false;
  uint32_t event = 0;
  amd_signal_t *signal = signal_with_event(f, 3, 0);
  assert_true(gs_signal_store_if_zero(&f->bus, at(signal), 0x40000000, &stored, &event));
  assert_true(stored);
  assert_int_equal(event, 3);
  signal->value = INT64_MIN;
  assert_true(gs_signal_store_if_zero(&f->bus, at(signal), 1, &stored, &event));
  assert_false(stored);
  assert_int_equal(event, 0);
  assert_int_equal(signal->value, INT64_MIN);
}

/* PM4. */

static void test_pm4_indirect_buffer(void **state) {
  (void)state;
  uint64_t address = 0;
  uint32_t dwords = 0;
  const uint32_t jump[4] = {0xC0023F00, 0x12345679, 0xFFFF7fab, 7 | 1 << 23};
  assert_true(gs_pm4_indirect_buffer(jump, &address, &dwords));
  assert_int_equal(address & 0xFFFFFFFF, 0x12345678);
  assert_int_equal(address >> 32, 0x7fab);
  assert_int_equal(dwords, 7);
  const uint32_t other[4] = {0xC0021000};
  assert_false(gs_pm4_indirect_buffer(other, &address, &dwords));
  const uint32_t short_jump[4] = {0xC0013F00};
  assert_false(gs_pm4_indirect_buffer(short_jump, &address, &dwords));
}

static void test_pm4_commands(void **state) {
  (void)state;
  gs_pm4_effects_t effects;
  /* ACQUIRE_MEM as ROCr writes it for gfx9, between a NOP and a WRITE_DATA. */
  const uint32_t commands[] = {0xC0001000, 0, 0xC0055800, 0x28840000, ~0U, 0xFF, 0,
                               0,          0, 0xC0033700, 1,          2,   3,    4};
  assert_true(gs_pm4_run(commands, 14, &effects));
  assert_true(effects.invalidate_code);
  assert_int_equal(effects.skipped, 1);
  assert_int_equal(effects.skipped_opcode, 0x37);
  assert_true(gs_pm4_run(commands, 2, &effects));
  assert_false(effects.invalidate_code);
  for (size_t length = 0; length <= 14; length++)
    assert_int_equal(gs_pm4_run(commands, length, &effects),
                     length == 0 || length == 2 || length == 9 || length == 14);
  const uint32_t nop_header_alone[] = {0xFFFF1000, 0xC0055800, 0, 0, 0, 0, 0, 0};
  assert_true(gs_pm4_run(nop_header_alone, 8, &effects));
  assert_true(effects.invalidate_code);
  const uint32_t type0[] = {0x00001000, 0};
  assert_false(gs_pm4_run(type0, 2, &effects));
}

/* AQL. */

static gs_aql_t *aql_create(fixture_t *f) {
  gs_bus_leave(&f->bus);
  gs_aql_t *aql = gs_aql_create(&f->config, &f->arena->queue, f->arena->aql_ring, SLOTS);
  assert_non_null(aql);
  return aql;
}

/* Writes the packet behind the last one. */
static void submit(fixture_t *f, const void *packet) {
  amd_queue_t *queue = &f->arena->queue;
  memcpy(&f->arena->aql_ring[queue->write_dispatch_id % SLOTS], packet, sizeof *f->arena->aql_ring);
  queue->write_dispatch_id++;
}

static hsa_kernel_dispatch_packet_t dispatch_packet(fixture_t *f, unsigned signal) {
  return (hsa_kernel_dispatch_packet_t){.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                        .setup = 1,
                                        .workgroup_size_x = 64,
                                        .workgroup_size_y = 1,
                                        .workgroup_size_z = 1,
                                        .grid_size_x = 64,
                                        .grid_size_y = 1,
                                        .grid_size_z = 1,
                                        .kernel_object = at(f->arena->data),
                                        .completion_signal = {at(&f->arena->signal[signal])}};
}

/* Steps until the engine stops making progress; the last outcome. */
static gs_step_t run(const gs_engine_ops_t *ops, void *engine) {
  for (int i = 0; i < MOST_STEPS; i++) {
    const gs_step_t step = ops->step(engine);
    if (step != GS_STEP_DONE)
      return step;
  }
  fail_msg("no end after %d steps", MOST_STEPS);
  return GS_STEP_DONE;
}

/* The register that says how much scratch memory there is has two layouts. */
static void test_scratch_of_parts(void **state) {
  static const struct {
    const char *part;
    uint32_t cus, tmpring, waves, wave_bytes;
  } rows[] = {{"gfx90a", 104, 5 | 63 << 12, 5, 63 * 1024},
              {"gfx1030", 80, 4095 | 8191 << 12, 4095, 8191 * 1024},
              {"gfx1100", 96, 5 | 0x4001 << 12, 5 * 6, 0x4001 * 256},
              {"gfx1100", 95, 5 | 1 << 12, 5, 256}}; /* units that no engines can share are in one */
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t waves, bytes;
    gs_profile_scratch(gs_profile_find(rows[i].part), rows[i].cus, rows[i].tmpring, &waves, &bytes);
    assert_int_equal(waves, rows[i].waves);
    assert_int_equal(bytes, rows[i].wave_bytes);
  }
}

static void test_aql_runs_dispatches_in_order(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  amd_queue_t *queue = &f->arena->queue;
  queue->scratch_backing_memory_location = 0x700000;
  queue->compute_tmpring_size = 5 | 63 << 12;
  queue->scratch_wave64_lane_byte_size = 1008;
  queue->scratch_resource_descriptor[3] = 0x00EA4FAC;
  assert_int_equal(gs_aql_ops.step(aql), GS_STEP_IDLE);
  assert_false(gs_aql_ops.pending(aql));
  amd_signal_t *signal = signal_with_event(f, 1, 2);
  const uint64_t before = gs_clock_ticks();
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.private_segment_size = 1008;
  submit(f, &packet);
  submit(f, &packet);
  assert_true(gs_aql_ops.pending(aql));
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.runs, 2);
  assert_int_equal(gs_stub.last.packet, at(&f->arena->aql_ring[1]));
  assert_int_equal(gs_stub.last.queue, at(queue));
  assert_int_equal(gs_stub.last.dispatch_id, 1);
  assert_int_equal(gs_stub.last.scratch_base, 0x700000);
  assert_int_equal(gs_stub.last.scratch_wave_bytes, 63 * 1024);
  assert_int_equal(gs_stub.last.scratch_waves, 5);
  assert_int_equal(gs_stub.last.scratch_srd[3], 0x00EA4FAC);
  assert_int_equal(queue->read_dispatch_id, 2);
  assert_int_equal(f->arena->aql_ring[0].header, HSA_PACKET_TYPE_INVALID);
  assert_int_equal(signal->value, 0);
  assert_int_equal(f->told.events[1], 2);
  assert_true(signal->start_ts >= before && signal->end_ts >= signal->start_ts);
  gs_aql_ops.destroy(aql);
}

/* Each packet once it is over, by what its header says. */
static void test_aql_counts_what_costs(void **state) {
  fixture_t *f = *state;
  gs_costs_t costs = {0};
  f->config.costs = &costs;
  gs_aql_t *aql = aql_create(f);
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  submit(f, &packet);
  const uint16_t plain = packet.header, barrier_bit = 1 << HSA_PACKET_HEADER_BARRIER;
  const unsigned release = HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  packet.header = (uint16_t)(plain | barrier_bit | HSA_FENCE_SCOPE_AGENT << release);
  submit(f, &packet);
  packet.header = (uint16_t)(plain | barrier_bit | HSA_FENCE_SCOPE_SYSTEM << release);
  packet.completion_signal.handle = 0;
  submit(f, &packet);
  f->arena->signal[3].value = 1;
  const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                            .dep_signal = {{at(&f->arena->signal[3])}},
                                            .completion_signal = {at(&f->arena->signal[1])}};
  submit(f, &barrier);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  assert_int_equal(costs.count[GS_COST_BARRIER], 0);
  f->arena->signal[3].value = 0;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(costs.count[GS_COST_DISPATCH], 3);
  assert_int_equal(costs.count[GS_COST_BARRIER_BIT], 2);
  assert_int_equal(costs.count[GS_COST_RELEASE], 1);
  assert_int_equal(costs.count[GS_COST_BARRIER], 1);
  assert_int_equal(costs.count[GS_COST_SIGNAL], 3);
  gs_aql_ops.destroy(aql);
}

static void test_aql_waits_for_the_header(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.header = HSA_PACKET_TYPE_INVALID;
  submit(f, &packet); /* claimed, not yet published */
  packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.runs, 0);
  f->arena->aql_ring[0].header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.runs, 2);
  gs_aql_ops.destroy(aql);
}

static void test_aql_wraps_around(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  f->arena->signal[1].value = 3 * SLOTS;
  const hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  for (int i = 0; i < 3 * SLOTS; i++) {
    submit(f, &packet);
    if (i % 7 == 0)
      run(&gs_aql_ops, aql);
  }
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(f->arena->signal[1].value, 0);
  assert_int_equal(f->arena->queue.read_dispatch_id, 3 * SLOTS);
  gs_aql_ops.destroy(aql);
}

static void test_aql_barriers(void **state) {
  fixture_t *f = *state;
  static const struct {
    unsigned type;
    int present; /* how many of the dependencies exist: signals 1, 2, ... */
    int64_t value[2];
    gs_step_t step;
  } row[] = {
      {HSA_PACKET_TYPE_BARRIER_AND, 0, {0, 0}, GS_STEP_IDLE},
      {HSA_PACKET_TYPE_BARRIER_AND, 2, {0, 0}, GS_STEP_IDLE},
      {HSA_PACKET_TYPE_BARRIER_AND, 2, {0, 1}, GS_STEP_WAIT},
      {HSA_PACKET_TYPE_BARRIER_AND, 2, {1, 0}, GS_STEP_WAIT},
      {HSA_PACKET_TYPE_BARRIER_AND, 1, {-1, 0}, GS_STEP_WAIT},
      {HSA_PACKET_TYPE_BARRIER_OR, 0, {0, 0}, GS_STEP_IDLE},
      {HSA_PACKET_TYPE_BARRIER_OR, 2, {0, 1}, GS_STEP_IDLE},
      {HSA_PACKET_TYPE_BARRIER_OR, 2, {1, 0}, GS_STEP_IDLE},
      {HSA_PACKET_TYPE_BARRIER_OR, 2, {1, 1}, GS_STEP_WAIT},
      {HSA_PACKET_TYPE_BARRIER_OR, 1, {1, 0}, GS_STEP_WAIT},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_aql_t *aql = aql_create(f);
    hsa_barrier_and_packet_t packet = {.header = (uint16_t)row[i].type,
                                       .completion_signal = {at(&f->arena->signal[3])}};
    f->arena->signal[3].value = 1;
    for (int j = 0; j < row[i].present; j++) {
      f->arena->signal[1 + j].value = row[i].value[j];
      packet.dep_signal[4 - 2 * j].handle = at(&f->arena->signal[1 + j]);
    }
    submit(f, &packet);
    assert_int_equal(run(&gs_aql_ops, aql), row[i].step);
    assert_int_equal(f->arena->signal[3].value, row[i].step == GS_STEP_WAIT);
    f->arena->signal[1].value = 0;
    f->arena->signal[2].value = 0;
    assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
    assert_int_equal(f->arena->signal[3].value, 0);
    gs_aql_ops.destroy(aql);
  }
}

static void test_aql_barrier_value(void **state) {
  fixture_t *f = *state;
  static const struct {
    hsa_signal_condition_t condition;
    int64_t signal, mask, value;
    bool open;
  } row[] = {
      {HSA_SIGNAL_CONDITION_EQ, 0x15, 0xf, 5, true},  {HSA_SIGNAL_CONDITION_EQ, 0x15, 0xff, 5, false},
      {HSA_SIGNAL_CONDITION_NE, 0x15, 0xff, 5, true}, {HSA_SIGNAL_CONDITION_NE, 0x15, 0xf, 5, false},
      {HSA_SIGNAL_CONDITION_LT, -1, -1, 0, true},     {HSA_SIGNAL_CONDITION_LT, 0, -1, 0, false},
      {HSA_SIGNAL_CONDITION_GTE, 0, -1, 0, true},     {HSA_SIGNAL_CONDITION_GTE, -1, -1, 0, false},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_aql_t *aql = aql_create(f);
    f->arena->signal[1].value = row[i].signal;
    hsa_amd_barrier_value_packet_t packet = {
        .header = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC, .AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
        .signal = {at(&f->arena->signal[1])},
        .value = row[i].value,
        .mask = row[i].mask,
        .cond = row[i].condition};
    submit(f, &packet);
    assert_int_equal(run(&gs_aql_ops, aql), row[i].open ? GS_STEP_IDLE : GS_STEP_WAIT);
    gs_aql_ops.destroy(aql);
    f->arena->queue.read_dispatch_id = f->arena->queue.write_dispatch_id;
  }
}

static uint64_t code_epoch(fixture_t *f) {
  gs_bus_enter(&f->bus);
  const uint64_t epoch = f->bus.map->code_epoch;
  gs_bus_leave(&f->bus);
  return epoch;
}

static void test_aql_pm4_invalidates_code(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  const uint32_t commands[] = {0xC0055800, 0x28840000, ~0U, 0xFF, 0, 0, 0};
  memcpy(f->arena->data, commands, sizeof commands);
  uint32_t packet[16] = {HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << 16, 0xC0023F00,  (uint32_t)at(f->arena->data),
                         (uint32_t)(at(f->arena->data) >> 32),      7 | 1 << 23, 10};
  const uint64_t before = code_epoch(f);
  submit(f, packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_not_equal(code_epoch(f), before);
  assert_int_equal(f->arena->queue.read_dispatch_id, 1);
  gs_aql_ops.destroy(aql);
}

/* Submits one packet to a new queue and expects it in error. */
static void expect_error(fixture_t *f, const void *packet, int64_t code) {
  gs_aql_t *aql = aql_create(f);
  amd_queue_t *queue = &f->arena->queue;
  amd_signal_t *error = signal_with_event(f, 4, 0);
  queue->queue_inactive_signal.handle = at(error);
  queue->read_dispatch_id = queue->write_dispatch_id;
  const uint32_t raised = f->told.events[4];
  f->arena->signal[1].value = 1;
  const uint64_t index = queue->write_dispatch_id;
  submit(f, packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(error->value, code);
  assert_int_equal(f->told.events[4], raised + 1);
  /* The packet stays where it is, and its signal never completes. */
  assert_int_equal(queue->read_dispatch_id, index);
  assert_int_equal(f->arena->signal[1].value, 1);
  const hsa_kernel_dispatch_packet_t good = dispatch_packet(f, 1);
  submit(f, &good);
  assert_int_equal(gs_aql_ops.step(aql), GS_STEP_HALT);
  gs_aql_ops.destroy(aql);
}

static void test_aql_errors_of_dispatches(void **state) {
  fixture_t *f = *state;
  static const struct {
    gs_outcome_t outcome;
    int64_t code;
  } row[] = {
      {GS_INVALID_DIMENSIONS, 0x2},         {GS_INVALID_GROUP_SIZE, 0x40},
      {GS_INVALID_GROUP_SEGMENT, 0x4},      {GS_INVALID_CODE, 0x8},
      {GS_INVALID_REGISTERS, 0x80},         {GS_APERTURE_FAULT, 0x20000000},
      {GS_ILLEGAL_INSTRUCTION, 0x40000000}, {GS_ABORT_TRAP, 0x80000000LL},
      {GS_OUT_OF_HOST_MEMORY, 0x4},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_stub.outcome = row[i].outcome;
    assert_int_equal(gs_aql_error_code(row[i].outcome), row[i].code);
    const hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
    expect_error(f, &packet, row[i].code);
  }
  assert_int_equal(f->told.faults, 0);
  assert_int_equal(gs_aql_error_code(GS_DONE), 0);
  assert_int_equal(gs_aql_error_code(GS_STOPPED), 0);
  assert_int_equal(gs_aql_error_code(GS_MEMORY_FAULT), 0);
}

static void test_aql_errors_of_packets(void **state) {
  fixture_t *f = *state;
  static const struct {
    uint32_t dword[16];
    int64_t code;
  } row[] = {
      {{6}, 0x20},   /* unknown type */
      {{255}, 0x20}, /* likewise */
      {{HSA_PACKET_TYPE_AGENT_DISPATCH}, 0x20},
      {{0 | 3 << 16}, 0x100},                         /* unknown vendor format */
      {{0 | 1 << 16, 0xC0021000}, 0x100},             /* PM4 that is no jump */
      {{0 | 2 << 16, 0, 0, 0, 0, 0, 0, 0, 4}, 0x100}, /* barrier-value with an unknown condition */
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
    expect_error(f, row[i].dword, row[i].code);
}

static void test_aql_memory_faults(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  gs_stub.outcome = GS_MEMORY_FAULT;
  gs_stub.fault = (gs_fault_t){.address = 0x42, .access = GS_VM_WRITE, .not_present = true};
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(f->told.faults, 1);
  assert_int_equal(f->told.fault.address, 0x42);
  assert_int_equal(f->arena->signal[0].value, 0);
  gs_aql_ops.destroy(aql);
  /* Addresses that the processor itself uses. */
  hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {{0x1000}}};
  f->arena->queue.read_dispatch_id = f->arena->queue.write_dispatch_id;
  aql = aql_create(f);
  submit(f, &barrier);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(f->told.faults, 2);
  assert_int_equal(f->told.fault.address, 0x1000);
  gs_aql_ops.destroy(aql);
  barrier = (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND, .completion_signal = {0x2000}};
  f->arena->queue.read_dispatch_id = f->arena->queue.write_dispatch_id;
  aql = aql_create(f);
  submit(f, &barrier);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(f->told.faults, 3);
  assert_int_equal(f->told.fault.address, 0x2000);
  gs_aql_ops.destroy(aql);
}

static void test_aql_asks_for_scratch(void **state) {
  fixture_t *f = *state;
  gs_aql_t *aql = aql_create(f);
  amd_queue_t *queue = &f->arena->queue;
  amd_signal_t *request = signal_with_event(f, 5, 0);
  queue->queue_inactive_signal.handle = at(request);
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.private_segment_size = 1000;
  f->arena->signal[1].value = 1;
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  assert_int_equal(request->value, GS_QUEUE_SCRATCH_WAVE64);
  assert_int_equal(f->told.events[5], 1);
  assert_int_equal(queue->read_dispatch_id, 0);
  assert_int_equal(f->arena->aql_ring[0].header, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  assert_int_equal(gs_stub.runs, 0);
  request->value = INT64_MIN | 1; /* the host tries again later */
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  queue->scratch_wave64_lane_byte_size = 1008;
  queue->scratch_backing_memory_location = 0x30000;
  queue->queue_properties |= AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
  request->value = 0;
  /* Granted for once: the dispatch runs, and the processor gives the memory back. */
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  assert_int_equal(gs_stub.runs, 1);
  assert_int_equal(gs_stub.last.scratch_base, 0x30000);
  assert_int_equal(f->arena->signal[1].value, 0);
  assert_int_equal(request->value, GS_QUEUE_SCRATCH_RELEASE);
  assert_int_equal(f->told.events[5], 2);
  queue->scratch_wave64_lane_byte_size = 0;
  request->value = 0;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  queue->queue_properties &= ~(uint32_t)AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  request->value = -1; /* refused */
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(gs_stub.runs, 1);
  gs_aql_ops.destroy(aql);
}

static void test_aql_scratch_and_the_end_of_the_queue(void **state) {
  fixture_t *f = *state;
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.private_segment_size = 16;
  amd_signal_t *request = &f->arena->signal[0];
  /* Destroyed while the request is pending. */
  gs_aql_t *aql = aql_create(f);
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  request->value = INT64_MIN;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  gs_aql_ops.destroy(aql);
  /* Destroyed before the request: the host's value stays. */
  aql = aql_create(f);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(request->value, INT64_MIN);
  gs_aql_ops.destroy(aql);
  /* A grant that is too small is an error, not another request. */
  request->value = 0;
  aql = aql_create(f);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_WAIT);
  request->value = 0;
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_HALT);
  assert_int_equal(request->value, GS_QUEUE_INVALID_GROUP_SEGMENT);
  gs_aql_ops.destroy(aql);
  assert_int_equal(gs_stub.runs, 0);
}

static void test_aql_leaves_bad_dimensions_to_the_device(void **state) {
  fixture_t *f = *state;
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.private_segment_size = 16;
  packet.grid_size_z = 0;
  gs_stub.outcome = GS_INVALID_DIMENSIONS;
  expect_error(f, &packet, GS_QUEUE_INVALID_DIMENSIONS);
  assert_int_equal(gs_stub.runs, 1);
}

static void test_aql_without_execution(void **state) {
  fixture_t *f = *state;
  f->config.execute = false;
  gs_aql_t *aql = aql_create(f);
  f->arena->signal[1].value = 2;
  /* ROCr's own kernels are not part of a code object: they run. */
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.runs, 1);
  assert_int_equal(f->told_not_executed, 0);
  /* The program's are. */
  Elf64_Ehdr header = {.e_ident = ELFMAG, .e_machine = EM_AMDGPU};
  header.e_ident[EI_CLASS] = ELFCLASS64;
  memcpy(f->arena->read_only, &header, sizeof header);
  packet.kernel_object = at(f->arena->read_only + PAGE / 2);
  packet.private_segment_size = 1 << 20;
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.runs, 1);
  assert_int_equal(f->arena->signal[1].value, 0);
  assert_int_equal(f->told_not_executed, 1);
  gs_aql_ops.destroy(aql);
}

/* They take the time that the user asked for, one after the other; those after an idle time do not catch up.
 */
static void test_aql_without_execution_takes_time(void **state) {
  enum { KERNEL_US = 3000, BURST = 3 };
  fixture_t *f = *state;
  f->config.execute = false;
  f->config.kernel_us = KERNEL_US;
  gs_aql_t *aql = aql_create(f);
  Elf64_Ehdr header = {.e_ident = ELFMAG, .e_machine = EM_AMDGPU};
  header.e_ident[EI_CLASS] = ELFCLASS64;
  memcpy(f->arena->read_only, &header, sizeof header);
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  packet.kernel_object = at(f->arena->read_only + PAGE / 2);
  f->arena->signal[1].value = 2 * BURST;
  for (int burst = 0; burst < 2; burst++) {
    const uint64_t begin = gs_clock_nanoseconds();
    for (int i = 0; i < BURST; i++)
      submit(f, &packet);
    assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
    assert_true(gs_clock_nanoseconds() - begin >= UINT64_C(1000) * KERNEL_US * BURST);
    nanosleep(&(struct timespec){.tv_nsec = 1000 * KERNEL_US}, NULL);
  }
  assert_int_equal(f->arena->signal[1].value, 0);
  gs_aql_ops.destroy(aql);
}

static void test_guard_knows_stores(void **state) {
  (void)state;
  /* What LLVM's assembler makes of the text. */
  static const struct {
    const char *text;
    size_t length; /* 0 = not a plain store */
    uint8_t code[12];
  } row[] = {
      {"movq %rdx, (%rax)", 3, {0x48, 0x89, 0x10}},
      {"movl %edx, (%rax)", 2, {0x89, 0x10}},
      {"movw %dx, (%rax)", 3, {0x66, 0x89, 0x10}},
      {"movb %dl, (%rax)", 2, {0x88, 0x10}},
      {"movq %rdx, 8(%rax)", 4, {0x48, 0x89, 0x50, 0x08}},
      {"movq %rax, (%r13)", 4, {0x49, 0x89, 0x45, 0x00}},
      {"movq %r8, 256(%rsp)", 8, {0x4C, 0x89, 0x84, 0x24, 0x00, 0x01}},
      {"movq %rax, (%rbx,%rcx,8)", 4, {0x48, 0x89, 0x04, 0xCB}},
      {"movq %rax, 4096(,%rcx,8)", 8, {0x48, 0x89, 0x04, 0xCD, 0x00, 0x10}},
      {"movq %rax, 16(%rip)", 7, {0x48, 0x89, 0x05, 0x10}},
      {"xchgq %rdx, (%rax)", 3, {0x48, 0x87, 0x10}},
      {"movntiq %rdx, (%rax)", 4, {0x48, 0x0F, 0xC3, 0x10}},
      {"movq $5, (%rax)", 7, {0x48, 0xC7, 0x00, 0x05}},
      {"movw $5, (%rax)", 5, {0x66, 0xC7, 0x00, 0x05}},
      {"movb $5, 4(%rax)", 4, {0xC6, 0x40, 0x04, 0x05}},
      {"movq (%rax), %rdx", 0, {0x48, 0x8B, 0x10}},
      {"movq %rdx, %rax", 0, {0x48, 0x89, 0xD0}},
      {"lock addq %rdx, (%rax)", 0, {0xF0, 0x48, 0x01, 0x10}},
      {"movups %xmm0, (%rax)", 0, {0x0F, 0x11, 0x00}},
  };
#if defined(__x86_64__)
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (gs_guard_store_length(row[i].code) != row[i].length)
      fail_msg("%s: length %zu", row[i].text, gs_guard_store_length(row[i].code));
#else
  assert_int_equal(gs_guard_store_length(row[0].code), 0);
#endif
}

static void test_aql_limits_the_compute_units(void **state) {
  fixture_t *f = *state;
  gs_cu_limit_t cus = {.lock = PTHREAD_MUTEX_INITIALIZER, .mask = {.words = 1, .bits = {0xA}}};
  f->config.cus = &cus;
  gs_aql_t *aql = aql_create(f);
  const hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.last.cu_mask.words, 1);
  assert_int_equal(gs_stub.last.cu_mask.bits[0], 0xA);
  cus.mask.bits[0] = 1;
  submit(f, &packet);
  assert_int_equal(run(&gs_aql_ops, aql), GS_STEP_IDLE);
  assert_int_equal(gs_stub.last.cu_mask.bits[0], 1);
  gs_aql_ops.destroy(aql);
}

/* SDMA. */

static gs_sdma_t *sdma_create(fixture_t *f) {
  gs_bus_leave(&f->bus);
  f->arena->read_index = f->arena->write_index = 0;
  gs_sdma_t *sdma = gs_sdma_create(&f->config, f->arena->sdma_ring, sizeof f->arena->sdma_ring,
                                   &f->arena->read_index, &f->arena->write_index);
  assert_non_null(sdma);
  return sdma;
}

static void sdma_submit(fixture_t *f, const uint32_t *dwords, size_t count) {
  for (size_t i = 0; i < count; i++)
    f->arena->sdma_ring[(f->arena->write_index / 4 + i) % RING_DWORDS] = dwords[i];
  f->arena->write_index += count * 4;
}

#define sdma_command(f, ...)                                                                                 \
  sdma_submit(f, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4)
#define LOW(pointer)  (uint32_t) at(pointer)
#define HIGH(pointer) (uint32_t)(at(pointer) >> 32)

static void test_sdma_copies_and_fills(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint8_t *data = f->arena->data;
  for (unsigned i = 0; i < DATA_BYTES; i++)
    data[i] = (uint8_t)(i * 7 + i / 256);
  sdma_command(f, 0x00000001, 5000 - 1, 0, LOW(data + 3), HIGH(data + 3), LOW(data + 40001),
               HIGH(data + 40001));
  sdma_command(f, 0);
  sdma_command(f, 0x8000000B, LOW(data + 30000), HIGH(data + 30000), 0xA1B2C3D4, (10 - 1) * 4);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  assert_memory_equal(data + 40001, data + 3, 5000);
  assert_int_equal(data[40000], (uint8_t)(40000 * 7 + 40000 / 256));
  assert_int_equal(data[45001], (uint8_t)(45001 * 7 + 45001 / 256));
  for (unsigned i = 0; i < 40; i++)
    assert_int_equal(data[30000 + i], 0xA1B2C3D4 >> 8 * (i % 4) & 0xFF);
  assert_int_equal(data[30040], (uint8_t)(30040 * 7 + 30040 / 256));
  assert_int_equal(f->arena->read_index, f->arena->write_index);
  gs_sdma_ops.destroy(sdma);
}

static void submit_copy(fixture_t *f, const uint8_t *from, uint8_t *to, uint32_t bytes) {
  sdma_command(f, 1, bytes - 1, 0, LOW(from), HIGH(from), LOW(to), HIGH(to));
}

/* As much as the user asked for. */
static void test_sdma_copies_take_time(void **state) {
  enum { COPY_US = 3000 };
  fixture_t *f = *state;
  f->config.copy_us = COPY_US;
  gs_sdma_t *sdma = sdma_create(f);
  uint8_t *data = f->arena->data;
  const uint64_t begin = gs_clock_nanoseconds();
  sdma_command(f, 1, 100 - 1, 0, LOW(data), HIGH(data), LOW(data + 5000), HIGH(data + 5000));
  sdma_command(f, 1, 100 - 1, 0, LOW(data), HIGH(data), LOW(data + 9000), HIGH(data + 9000));
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  assert_true(gs_clock_nanoseconds() - begin >= UINT64_C(2000) * COPY_US);
  assert_memory_equal(data + 9000, data, 100);
  gs_sdma_ops.destroy(sdma);
}

/* Pieces of one copy are made at once, wherever they are in the ring; others are not. */
static void test_sdma_joins_pieces(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint8_t *data = f->arena->data;
  for (unsigned i = 0; i < DATA_BYTES; i++)
    data[i] = (uint8_t)(i * 7 + i / 256);
  for (unsigned round = 0; round < 2 * RING_DWORDS / 28; round++) {
    const uint64_t begin = f->arena->read_index;
    memset(data + 40000, 0, 400);
    submit_copy(f, data + round, data + 40000, 100);
    submit_copy(f, data + round + 100, data + 40100, 60);
    submit_copy(f, data + round + 160, data + 40160, 40);
    submit_copy(f, data + round + 200, data + 40300, 40);
    assert_int_equal(gs_sdma_ops.step(sdma), GS_STEP_DONE);
    assert_int_equal(f->arena->read_index - begin, (size_t)3 * 7 * 4);
    assert_memory_equal(data + 40000, data + round, 200);
    assert_int_equal(data[40300], 0);
    assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
    assert_memory_equal(data + 40300, data + round + 200, 40);
    assert_int_equal(f->arena->read_index, f->arena->write_index);
  }
  gs_sdma_ops.destroy(sdma);
}

static uint64_t counted(const gs_costs_t *costs, gs_cost_t kind) {
  return costs->count[kind];
}

/* A copy is one, however many commands it takes; what is behind its signal is the next. */
static void test_sdma_counts_what_costs(void **state) {
  fixture_t *f = *state;
  gs_costs_t costs = {0};
  f->config.costs = &costs;
  uint8_t *data = f->arena->data, host[PAGE * 2], *page = host + (-at(host) & (PAGE - 1));
  const gs_vm_range_t range = {
      .start = at(page), .end = at(page) + PAGE, .host = page, .access = 3, .kind = GS_VM_HOST};
  assert_int_equal(gs_vm_map(gs_device_vm(f->device), &range), 0);
  gs_sdma_t *sdma = sdma_create(f);
  amd_signal_t *done = &f->arena->signal[2];
  for (unsigned i = 0; i < 2; i++) {
    submit_copy(f, page, data, 100);
    submit_copy(f, page + 100, data + 100, 60); /* goes on */
    submit_copy(f, page + 300, data + 300, 7);  /* and does not */
    sdma_command(f, 0x5E00000A, LOW(&done->value), HIGH(&done->value), ~0U, ~0U, 0, 0, 0);
  }
  submit_copy(f, data, page, 20);
  sdma_command(f, 5, LOW(&done->value), HIGH(&done->value), 0); /* without atomics */
  submit_copy(f, data + 1000, data + 2000, 30);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  assert_int_equal(counted(&costs, GS_COST_DMA), 4);
  assert_int_equal(counted(&costs, GS_COST_DMA_COMMAND), 8);
  assert_int_equal(counted(&costs, GS_COST_TO_DEVICE), 2 * 167);
  assert_int_equal(counted(&costs, GS_COST_FROM_DEVICE), 20);
  assert_int_equal(counted(&costs, GS_COST_WITHIN), 30);
  assert_int_equal(counted(&costs, GS_COST_SIGNAL), 3);
  gs_sdma_ops.destroy(sdma);
}

/* The second piece reads what the first one wrote. */
static void test_sdma_keeps_overlapping_pieces_apart(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint8_t *data = f->arena->data;
  for (unsigned i = 0; i < 300; i++)
    data[i] = (uint8_t)i;
  submit_copy(f, data, data + 100, 64);
  submit_copy(f, data + 64, data + 164, 64);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  for (unsigned i = 0; i < 64; i++)
    assert_int_equal(data[164 + i], i < 36 ? 64 + i : i - 36);
  gs_sdma_ops.destroy(sdma);
}

static void test_sdma_copies_across_mappings(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint8_t *data = f->arena->data;
  /* The same memory once more in two pieces, swapped, at an address that the host does not have. */
  const uint64_t other = UINT64_C(0x600000000000);
  gs_vm_range_t piece = {.start = other, .end = other + PAGE, .host = data + PAGE, .access = GS_VM_READ};
  assert_int_equal(gs_vm_map(gs_device_vm(f->device), &piece), 0);
  piece = (gs_vm_range_t){.start = other + PAGE, .end = other + 2 * PAGE, .host = data, .access = GS_VM_READ};
  assert_int_equal(gs_vm_map(gs_device_vm(f->device), &piece), 0);
  memset(data, 'a', PAGE);
  memset(data + PAGE, 'b', PAGE);
  sdma_command(f, 1, 2 * PAGE - 1, 0, (uint32_t)other, (uint32_t)(other >> 32), LOW(data + 8 * PAGE),
               HIGH(data + 8 * PAGE));
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  assert_memory_equal(data + 8 * PAGE, data + PAGE, PAGE);
  assert_memory_equal(data + 9 * PAGE, data, PAGE);
  gs_sdma_ops.destroy(sdma);
}

static void test_sdma_decodes_rectangles(void **state) {
  (void)state;
  const uint32_t command[GS_SDMA_MOST_DWORDS] = {0x40000401,
                                                 0x1000,
                                                 0x7f,
                                                 5 | 6 << 16,
                                                 7 | (100 - 1) << 13,
                                                 5000 - 1,
                                                 0x2000,
                                                 0x7e,
                                                 1 | 2 << 16,
                                                 3 | (200 - 1) << 13,
                                                 6000 - 1,
                                                 (16 - 1) | (8 - 1) << 16,
                                                 4 - 1};
  const gs_sdma_rect_t rect = gs_sdma_decode_rect(command);
  assert_int_equal(rect.element_bytes, 4);
  assert_int_equal(rect.from.base, 0x7f00001000);
  assert_int_equal(rect.from.x, 5);
  assert_int_equal(rect.from.y, 6);
  assert_int_equal(rect.from.z, 7);
  assert_int_equal(rect.from.pitch, 100);
  assert_int_equal(rect.from.slice, 5000);
  assert_int_equal(rect.to.base, 0x7e00002000);
  assert_int_equal(rect.to.x, 1);
  assert_int_equal(rect.to.y, 2);
  assert_int_equal(rect.to.z, 3);
  assert_int_equal(rect.to.pitch, 200);
  assert_int_equal(rect.to.slice, 6000);
  assert_int_equal(rect.width, 16);
  assert_int_equal(rect.height, 8);
  assert_int_equal(rect.depth, 4);
}

static void test_sdma_copies_rectangles(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint32_t *from = (uint32_t *)(void *)f->arena->data;
  uint32_t *to = from + 4096;
  for (uint32_t i = 0; i < 4096; i++)
    from[i] = i + 1;
  /* 3 x 2 x 2 elements of 4 bytes from (2,1,1), pitch 10, slice 100, to (1,0,1), pitch 8, slice 64. */
  sdma_command(f, 0x40000401, LOW(from), HIGH(from), 2 | 1 << 16, 1 | 9 << 13, 99, LOW(to), HIGH(to), 1,
               1 | 7 << 13, 63, 2 | 1 << 16, 1);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  unsigned set = 0;
  for (uint32_t i = 0; i < 1024; i++)
    set += to[i] != 0;
  assert_int_equal(set, 12);
  for (uint32_t z = 0; z < 2; z++)
    for (uint32_t y = 0; y < 2; y++)
      for (uint32_t x = 0; x < 3; x++)
        assert_int_equal(to[(1 + z) * 64 + y * 8 + 1 + x], from[(1 + z) * 100 + (1 + y) * 10 + 2 + x]);
  gs_sdma_ops.destroy(sdma);
}

static void test_sdma_submission_as_rocr_writes_it(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  amd_signal_t *dependency = &f->arena->signal[1];
  amd_signal_t *done = signal_with_event(f, 2, 1);
  uint32_t *value = (uint32_t *)(uintptr_t)&dependency->value;
  uint64_t *stamp = (uint64_t *)(void *)f->arena->data;
  dependency->value = INT64_C(1) << 32 | 1;
  sdma_command(f, 0xB0000008, LOW(value + 1), HIGH(value + 1), 0, ~0U, 0x0FFF0004);
  sdma_command(f, 0xB0000008, LOW(value), HIGH(value), 0, ~0U, 0x0FFF0004);
  sdma_command(f, 0x0000020D, LOW(stamp), HIGH(stamp));
  sdma_command(f, 0x8, 0, 0x80000000, 0, 0, 0); /* HDP flush */
  sdma_command(f, 1, 7, 0, LOW(f->arena->data + 100), HIGH(f->arena->data), LOW(f->arena->data + 200),
               HIGH(f->arena->data));
  sdma_command(f, 0x5E00000A, LOW(&done->value), HIGH(&done->value), ~0U, ~0U, 0, 0, 0);
  sdma_command(f, 5, LOW(&f->arena->mailbox[2]), HIGH(&f->arena->mailbox[2]), 2);
  sdma_command(f, 6, 2);
  memcpy(f->arena->data + 100, "8 bytes", 8);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_WAIT);
  dependency->value = 1;
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_WAIT);
  assert_int_equal(f->arena->read_index, 24);
  assert_int_equal(done->value, 1);
  dependency->value = 0;
  const uint64_t before = gs_clock_ticks();
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  assert_string_equal((char *)f->arena->data + 200, "8 bytes");
  assert_true(*stamp >= before && *stamp <= gs_clock_ticks());
  assert_int_equal(done->value, 0);
  assert_int_equal(f->arena->mailbox[2], 2);
  assert_int_equal(f->told.events[2], 1);
  gs_sdma_ops.destroy(sdma);
}

static void test_sdma_polls_compare(void **state) {
  fixture_t *f = *state;
  uint32_t *word = (uint32_t *)(void *)f->arena->data;
  *word = 0xAB0005;
  static const struct {
    uint32_t function, reference;
    gs_step_t step;
  } row[] = {
      {0, 99, GS_STEP_IDLE}, {1, 6, GS_STEP_IDLE}, {1, 5, GS_STEP_WAIT}, {2, 5, GS_STEP_IDLE},
      {2, 4, GS_STEP_WAIT},  {3, 5, GS_STEP_IDLE}, {3, 6, GS_STEP_WAIT}, {4, 6, GS_STEP_IDLE},
      {4, 5, GS_STEP_WAIT},  {5, 5, GS_STEP_IDLE}, {5, 6, GS_STEP_WAIT}, {6, 4, GS_STEP_IDLE},
      {6, 5, GS_STEP_WAIT},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_sdma_t *sdma = sdma_create(f);
    sdma_command(f, 0x80000008 | row[i].function << 28, LOW(word), HIGH(word), row[i].reference, 0xFFFF,
                 0x0FFF0004);
    assert_int_equal(run(&gs_sdma_ops, sdma), row[i].step);
    gs_sdma_ops.destroy(sdma);
  }
}

static void test_sdma_faults(void **state) {
  fixture_t *f = *state;
  uint8_t *data = f->arena->data;
  uint8_t *read_only = f->arena->read_only;
  const struct {
    uint32_t command[8];
    uint64_t address;
    uint32_t access;
    bool not_present;
  } row[] = {
      {{1, 15, 0, 0x1000, 0, LOW(data), HIGH(data)}, 0x1000, GS_VM_READ, true},
      {{1, 15, 0, LOW(data), HIGH(data), 0x2000, 0}, 0x2000, GS_VM_WRITE, true},
      {{1, 15, 0, LOW(data), HIGH(data), LOW(read_only), HIGH(read_only)}, at(read_only), GS_VM_WRITE, false},
      {{1, 2 * PAGE - 1, 0, LOW(read_only), HIGH(read_only), LOW(data), HIGH(data)},
       at(read_only) + PAGE,
       GS_VM_READ,
       true},
      {{0x8000000B, 0x3000, 0, 1, 4}, 0x3000, GS_VM_WRITE, true},
      {{5, 0x4000, 0, 1}, 0x4000, GS_VM_WRITE, true},
      {{0xB0000008, 0x5000, 0, 0, ~0U, 0}, 0x5000, GS_VM_READ, true},
      {{0x5E00000A, 0x6000, 0, 1, 0, 0, 0, 0}, 0x6000, GS_VM_READ | GS_VM_WRITE, true},
      {{0x0000020D, 0x7000, 0}, 0x7000, GS_VM_WRITE, true},
      {{5, LOW(data + 2), HIGH(data), 1}, at(data + 2), GS_VM_WRITE, false},
      {{0x5E00000A, LOW(data + 4), HIGH(data), 1, 0, 0, 0, 0}, at(data + 4), GS_VM_READ | GS_VM_WRITE, false},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_sdma_t *sdma = sdma_create(f);
    f->told = (told_t){0};
    sdma_submit(f, row[i].command, gs_sdma_length(row[i].command[0]));
    assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_HALT);
    assert_int_equal(f->told.faults, 1);
    assert_int_equal(f->told.fault.address, row[i].address);
    assert_int_equal(f->told.fault.access, row[i].access);
    assert_int_equal(f->told.fault.not_present, row[i].not_present);
    assert_int_equal(f->arena->read_index, 0);
    gs_sdma_ops.destroy(sdma);
  }
}

/* The program may free memory that it locked: the engine faults, the process does not. */
static void test_sdma_survives_freed_memory(void **state) {
#if defined(__SANITIZE_THREAD__)
  print_message("ThreadSanitizer does not support leaving memmove through a signal handler\n");
  skip();
#endif
  fixture_t *f = *state;
  uint8_t *data = f->arena->data;
  uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  make_visible(gs_device_vm(f->device), pages, 2 * PAGE, GS_VM_READ | GS_VM_WRITE);
  assert_int_equal(munmap(pages + PAGE, PAGE), 0);
  gs_guard_install();
  const struct {
    uint32_t command[7];
    uint32_t access;
  } row[] = {
      {{1, 2 * PAGE - 1, 0, LOW(data), HIGH(data), LOW(pages), HIGH(pages)}, GS_VM_WRITE},
      {{1, 2 * PAGE - 1, 0, LOW(pages), HIGH(pages), LOW(data), HIGH(data)}, GS_VM_READ},
      {{0x8000000B, LOW(pages), HIGH(pages), 0, 2 * PAGE - 4}, GS_VM_WRITE},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_sdma_t *sdma = sdma_create(f);
    f->told = (told_t){0};
    sdma_submit(f, row[i].command, gs_sdma_length(row[i].command[0]));
    assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_HALT);
    assert_int_equal(f->told.faults, 1);
    assert_int_equal(f->told.fault.access, row[i].access);
    assert_true(f->told.fault.not_present);
    if (row[i].access == GS_VM_WRITE)
      assert_int_equal(f->told.fault.address / PAGE, at(pages + PAGE) / PAGE);
    gs_sdma_ops.destroy(sdma);
  }
  munmap(pages, PAGE);
}

static void test_sdma_unknown_commands_hang(void **state) {
  fixture_t *f = *state;
  static const uint32_t bad[][8] = {
      {0x000000FF},                   /* no such command */
      {0x00000201},                   /* no such kind of copy */
      {0x1E00000A, 0, 0, 0, 0, 0, 0}, /* another atomic operation */
      {0x4000000B, 0, 0, 0, 0},       /* a fill of elements of 16 bits */
      {0x00000001},                   /* only the first dword was submitted */
  };
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    gs_sdma_t *sdma = sdma_create(f);
    f->told = (told_t){0};
    size_t length = gs_sdma_length(bad[i][0]);
    if (!length || i == 4)
      length = 1;
    sdma_submit(f, bad[i], length);
    assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_HALT);
    assert_int_equal(f->told.hangs, 1);
    assert_int_equal(gs_sdma_ops.step(sdma), GS_STEP_HALT);
    gs_sdma_ops.destroy(sdma);
  }
}

/* Data in the ring, two destinations, bytes; and commands of which the last dword was not submitted. */
static void test_sdma_writes(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint32_t *word = (uint32_t *)(void *)f->arena->data;
  uint8_t *bytes = f->arena->data + 1024;
  sdma_command(f, 2, LOW(word + 1), HIGH(word + 1), 3 - 1, 0x11, 0x22, 0x33);
  sdma_command(f, 1 | 1 << 27, 12 - 1, 0, LOW(word + 1), HIGH(word + 1), LOW(word + 8), HIGH(word + 8),
               LOW(word + 16), HIGH(word + 16));
  sdma_command(f, 0xB, LOW(bytes + 1), HIGH(bytes + 1), 0xFFFFFFAB, 7 - 1);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
  const uint32_t expected[] = {0, 0x11, 0x22, 0x33, 0};
  assert_memory_equal(word, expected, sizeof expected);
  assert_memory_equal(word + 8, expected + 1, 4 * sizeof *expected);
  assert_memory_equal(word + 16, expected + 1, 4 * sizeof *expected);
  assert_memory_equal(bytes, "\0\xAB\xAB\xAB\xAB\xAB\xAB\xAB\0", 9);
  sdma_command(f, 2, LOW(word + 1), HIGH(word + 1), 3 - 1, 0x44, 0x55);
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_HALT);
  gs_sdma_ops.destroy(sdma);
  f->arena->read_index = f->arena->write_index = 0;
  sdma = sdma_create(f);
  sdma_command(f, 1 | 1 << 27, 12 - 1, 0, LOW(word + 1), HIGH(word + 1), LOW(word + 8), HIGH(word + 8),
               LOW(word + 24));
  assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_HALT);
  assert_int_equal(f->told.hangs, 2);
  assert_int_equal(word[1], 0x11);
  assert_int_equal(word[24], 0);
  gs_sdma_ops.destroy(sdma);
}

static void test_sdma_ring_wraps(void **state) {
  fixture_t *f = *state;
  gs_sdma_t *sdma = sdma_create(f);
  uint32_t *word = (uint32_t *)(void *)f->arena->data;
  for (uint32_t i = 1; i <= 3 * RING_DWORDS; i++) {
    sdma_command(f, 5, LOW(word), HIGH(word), i);
    sdma_command(f, 0 | 2 << 16, 77, 78); /* padding with a count */
    assert_int_equal(run(&gs_sdma_ops, sdma), GS_STEP_IDLE);
    assert_int_equal(*word, i);
  }
  assert_int_equal(f->arena->read_index, 3 * RING_DWORDS * 7 * 4);
  gs_sdma_ops.destroy(sdma);
}

/* Queues of PM4. Headers: type 3, the number of dwords that follow less one, the operation. */
#define PM4(operation, dwords) (UINT32_C(3) << 30 | ((dwords)-2) << 16 | (operation) << 8)

/* What pm4_command puts behind the last command of the ring, whose indices count dwords and whose writer's
 * does not wrap. */
static void pm4_submit(fixture_t *f, const uint32_t *dwords, size_t count) {
  for (size_t i = 0; i < count; i++)
    f->arena->sdma_ring[f->arena->write_index++ % RING_DWORDS] = dwords[i];
}
#define pm4_command(f, ...)                                                                                  \
  pm4_submit(f, (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static gs_pm4_t *pm4_create(fixture_t *f) {
  gs_bus_leave(&f->bus);
  f->arena->read_index = f->arena->write_index = 0;
  f->told = (told_t){0};
  gs_pm4_t *pm4 = gs_pm4_create(&f->config, f->arena->sdma_ring, sizeof f->arena->sdma_ring,
                                &f->arena->read_index, &f->arena->write_index);
  assert_non_null(pm4);
  return pm4;
}

static void test_pm4_writes_waits_and_releases(void **state) {
  fixture_t *f = *state;
  gs_pm4_t *pm4 = pm4_create(f);
  uint32_t *word = (uint32_t *)(void *)f->arena->data;
  assert_int_equal(gs_pm4_ops.step(pm4), GS_STEP_IDLE);
  pm4_command(f, PM4(0x37, 6), 5 << 8, LOW(word + 1), HIGH(word + 1), 0x11, 0x22);
  pm4_command(f, 0x80000000, PM4(0x10, 3), 0xFFFF, 0xFFFF, 0xFFFF1000);
  pm4_command(f, PM4(0x37, 6), 5 << 8 | 1 << 16, LOW(word + 4), HIGH(word + 4), 0x33, 0x44);
  pm4_command(f, PM4(0x3C, 7), 3 | 1 << 4, LOW(word + 8), HIGH(word + 8), 0x50, 0xF0, 4);
  pm4_command(f, PM4(0x49, 8), 0, 2 << 24 | 1 << 29, LOW(word + 9), HIGH(word + 9), 3, 0xAA, 3);
  pm4_command(f, PM4(0x49, 8), 0, 3 << 24 | 2 << 29, LOW(word + 10), HIGH(word + 10), 0x66, 0x77, 4);
  pm4_command(f, PM4(0x49, 8), 0, 1 << 24, 0, 0, 0, 0, 5);
  assert_true(gs_pm4_ops.pending(pm4));
  f->told.read_index = &f->arena->read_index;
  assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_WAIT);
  const uint32_t first[] = {0, 0x11, 0x22, 0, 0x44, 0};
  assert_memory_equal(word, first, sizeof first);
  assert_int_equal(word[9], 0);
  word[8] = 0xA50A;
  assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_WAIT);
  word[8] = 0xA05A;
  assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_IDLE);
  const uint32_t second[] = {3, 0x66, 0x77, 0};
  assert_memory_equal(word + 9, second, sizeof second);
  assert_int_equal(f->told.events[3], 1);
  assert_int_equal(f->told.events[4], 0); /* its kind of interrupt is none */
  assert_int_equal(f->told.events[5], 1);
  assert_int_equal(f->told.read, f->arena->read_index); /* who is told finds the command's place free */
  assert_false(gs_pm4_ops.pending(pm4));
  gs_pm4_ops.destroy(pm4);
}

static void expect_grid(const uint32_t grid[3]) {
  const hsa_kernel_dispatch_packet_t *packet = &gs_stub.packet;
  assert_int_equal(packet->setup, 3);
  assert_int_equal(packet->workgroup_size_x, 32);
  assert_int_equal(packet->workgroup_size_y, 2);
  assert_int_equal(packet->workgroup_size_z, 1);
  assert_int_equal(packet->grid_size_x, grid[0]);
  assert_int_equal(packet->grid_size_y, grid[1]);
  assert_int_equal(packet->grid_size_z, grid[2]);
}

static void test_pm4_dispatches(void **state) {
  fixture_t *f = *state;
  gs_pm4_t *pm4 = pm4_create(f);
  uint32_t *buffer = (uint32_t *)(void *)f->arena->data;
  const uint32_t commands[] = {
      PM4(0x58, 7),
      0,
      0,
      0,
      0,
      0,
      0, /* acquire */
      PM4(0x76, 8),
      0x204,
      0,
      0,
      0,
      32,
      2,
      1, /* start and size of workgroups */
      PM4(0x76, 8),
      0x20C,
      0x00345678,
      0x01,
      0,
      0,
      0x00700000,
      0, /* code, scratch memory */
      PM4(0x76, 4),
      0x212,
      0x12,
      0x1 | 6 << 1 | 3 << 15, /* registers, LDS */
      PM4(0x76, 3),
      0x22D,
      9,
      PM4(0x76, 3),
      0x218,
      5 | 63 << 12, /* registers, scratch memory */
      PM4(0x76, 4),
      0x240,
      0xA0,
      0xA1,
      PM4(0x76, 3),
      0x24F,
      0xAF, /* first and last of the user's */
      PM4(0x76, 3),
      0x300,
      7, /* no register that matters */
      PM4(0x15, 5),
      100,
      6,
      1,
      1 | 1 << 5,
      PM4(0x15, 5),
      4,
      3,
      2,
      1, /* work-items, and workgroups */
      PM4(0x15, 5),
      4,
      3,
      2,
      0,
      PM4(0x46, 2),
      0, /* no shader; an event */
  };
  memcpy(buffer, commands, sizeof commands);
  const uint64_t epoch = code_epoch(f);
  pm4_command(f, PM4(0x3F, 4), LOW(buffer), HIGH(buffer), sizeof commands / sizeof *commands | 1 << 23);
  pm4_command(f, PM4(0x10, 2), 0);
  for (unsigned i = 0; i < 4; i++) /* the ring is not free while its buffer is at work */
    assert_int_equal(gs_pm4_ops.step(pm4), GS_STEP_DONE);
  assert_int_equal(f->arena->read_index, 0);
  while (!gs_stub.runs)
    assert_int_equal(gs_pm4_ops.step(pm4), GS_STEP_DONE);
  expect_grid((const uint32_t[]){100, 6, 1});
  assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_IDLE);
  assert_int_equal(f->arena->read_index, 6);
  expect_grid((const uint32_t[]){4 * 32, 3 * 2, 2 * 1});
  const gs_shader_t *shader = &gs_stub.shader;
  assert_int_equal(shader->entry, 0x0100345678 << 8);
  assert_int_equal(shader->rsrc1, 0x12);
  assert_int_equal(shader->rsrc2, 1 | 6 << 1 | 3 << 15);
  assert_int_equal(shader->rsrc3, 9);
  assert_int_equal(shader->user[0], 0xA0);
  assert_int_equal(shader->user[1], 0xA1);
  assert_int_equal(shader->user[15], 0xAF);
  assert_false(shader->narrow);
  assert_int_equal(gs_stub.packet.group_segment_size, 3 * 512);
  assert_int_equal(gs_stub.packet.private_segment_size, 63 * 1024 / 64);
  assert_true(code_epoch(f) > epoch);
  assert_int_equal(gs_stub.runs, 2);
  assert_int_equal(gs_stub.last.dispatch_id, 1);
  assert_int_equal(gs_stub.last.scratch_base, 0x70000000);
  assert_int_equal(gs_stub.last.scratch_waves, 5);
  assert_int_equal(gs_stub.last.scratch_wave_bytes, 63 * 1024);
  gs_pm4_ops.destroy(pm4);
}

static void test_pm4_goes_round(void **state) {
  fixture_t *f = *state;
  gs_pm4_t *pm4 = pm4_create(f);
  uint32_t *word = (uint32_t *)(void *)f->arena->data;
  for (uint32_t i = 1; i <= 3 * RING_DWORDS; i++) {
    pm4_command(f, PM4(0x37, 5), 5 << 8, LOW(word), HIGH(word), i);
    assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_IDLE);
    assert_int_equal(*word, i);
    assert_int_equal(f->arena->read_index, 5 * i % RING_DWORDS);
  }
  gs_pm4_ops.destroy(pm4);
}

static void test_pm4_errors(void **state) {
  fixture_t *f = *state;
  const uint64_t read_only = at(f->arena->read_only), nowhere = at(f->arena + 1);
  const uint32_t low = (uint32_t)read_only, high = (uint32_t)(read_only >> 32);
  const struct {
    uint32_t command[8];
    uint32_t count;
    bool faults;
  } row[] = {
      {{PM4(0xEE, 2), 0}, 2, false},                             /* no such command */
      {{PM4(0x3C, 2), 0}, 2, false},                             /* too short for what it is */
      {{PM4(0x37, 6), 5 << 8, low, high, 1}, 5, false},          /* not all of it */
      {{1, 0}, 2, false},                                        /* not of type 3 */
      {{PM4(0x15, 5), 1, 1, 1, 1}, 5, false},                    /* an empty workgroup: exec's */
      {{PM4(0x37, 5), 5 << 8, low, high, 1}, 5, true},           /* a write */
      {{PM4(0x49, 8), 0, 1 << 29, low, high, 1, 0, 0}, 8, true}, /* a release */
      {{PM4(0x3C, 7), 3 | 1 << 4, (uint32_t)nowhere, (uint32_t)(nowhere >> 32), 0, 0, 0}, 7, true},
      {{PM4(0x3F, 4), (uint32_t)nowhere, (uint32_t)(nowhere >> 32), 4}, 4, true},
  };
  for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
    gs_pm4_t *pm4 = pm4_create(f);
    gs_stub.outcome = GS_INVALID_GROUP_SIZE;
    pm4_submit(f, row[i].command, row[i].count);
    assert_int_equal(run(&gs_pm4_ops, pm4), GS_STEP_HALT);
    assert_int_equal(gs_pm4_ops.step(pm4), GS_STEP_HALT);
    assert_int_equal(f->told.hangs, !row[i].faults);
    assert_int_equal(f->told.faults, row[i].faults);
    gs_pm4_ops.destroy(pm4);
  }
}

/* Queue threads. */

static void sleep_ms(long ms) {
  const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

static gs_queue_config_t queue_config(fixture_t *f, gs_poller_t *poller) {
  return (gs_queue_config_t){.device = f->device,
                             .id = 1,
                             .execute = true,
                             .told_not_executed = &f->told_not_executed,
                             .ops = &f->ops,
                             .poller = poller,
                             .ring = f->arena->aql_ring,
                             .ring_bytes = sizeof f->arena->aql_ring};
}

/* As a host thread submits: the header last. */
static void publish(fixture_t *f, const hsa_kernel_dispatch_packet_t *packet) {
  amd_queue_t *queue = &f->arena->queue;
  const uint64_t index = __atomic_fetch_add(&queue->write_dispatch_id, 1, __ATOMIC_ACQ_REL);
  hsa_kernel_dispatch_packet_t *slot = &f->arena->aql_ring[index % SLOTS];
  memcpy((char *)slot + 2, (const char *)packet + 2, sizeof *packet - 2);
  __atomic_store_n(&slot->header, packet->header, __ATOMIC_RELEASE);
}

static bool reaches(volatile int64_t *value, int64_t expected) {
  for (int waited = 0; waited < 5000; waited++) {
    if (__atomic_load_n(value, __ATOMIC_ACQUIRE) == expected)
      return true;
    sleep_ms(1);
  }
  return false;
}

static void test_queue_thread_processes_packets(void **state) {
  fixture_t *f = *state;
  gs_bus_leave(&f->bus);
  gs_poller_t *poller = gs_poller_create();
  const gs_queue_config_t config = queue_config(f, poller);
  gs_queue_t *queue = gs_queue_create_aql(&config, &f->arena->queue);
  assert_non_null(queue);
  amd_signal_t *done = &f->arena->signal[1];
  hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  /* At once, soon after, and after the thread has parked. */
  static const long pauses[] = {0, 0, 1, 5, 60};
  for (unsigned i = 0; i < sizeof pauses / sizeof *pauses; i++) {
    sleep_ms(pauses[i]);
    __atomic_store_n(&done->value, 1, __ATOMIC_RELEASE);
    publish(f, &packet);
    gs_poller_kick(poller);
    assert_true(reaches(&done->value, 0));
  }
  gs_queue_destroy(queue);
  gs_poller_destroy(poller);
}

static void test_queue_pauses_and_goes_on(void **state) {
  fixture_t *f = *state;
  gs_bus_leave(&f->bus);
  gs_poller_t *poller = gs_poller_create();
  const gs_queue_config_t config = queue_config(f, poller);
  gs_queue_t *queue = gs_queue_create_aql(&config, &f->arena->queue);
  assert_non_null(queue);
  gs_queue_set_running(queue, false);
  sleep_ms(10);
  amd_signal_t *done = &f->arena->signal[1];
  done->value = 1;
  const hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  publish(f, &packet);
  sleep_ms(30);
  assert_int_equal(__atomic_load_n(&done->value, __ATOMIC_ACQUIRE), 1);
  gs_queue_set_running(queue, true);
  assert_true(reaches(&done->value, 0));
  gs_queue_destroy(queue);
  gs_poller_destroy(poller);
}

/* A thread that parks, and who looked after it. */
typedef struct sleeper {
  gs_poller_t *poller;
  gs_parked_t parked;
  pthread_t helper;
  atomic_int looks_of_helper, has_work, is_awake;
} sleeper_t;

static bool sleeper_pending(const void *owner) {
  sleeper_t *sleeper = (sleeper_t *)(uintptr_t)owner;
  if (!pthread_equal(pthread_self(), sleeper->helper))
    return false; /* so that the poller's own thread is no help */
  atomic_fetch_add(&sleeper->looks_of_helper, 1);
  return atomic_load(&sleeper->has_work) != 0;
}
static void *sleep_parked(void *argument) {
  sleeper_t *sleeper = argument;
  gs_poller_enter(sleeper->poller);
  gs_poller_park(sleeper->poller, &sleeper->parked);
  gs_poller_leave(sleeper->poller);
  atomic_store(&sleeper->is_awake, 1);
  return NULL;
}

/* Helps until it has happened, for some seconds at most. */
static bool happens(sleeper_t *sleeper, const atomic_int *what) {
  for (int waited = 0; waited < 5000; waited++) {
    gs_poller_help(sleeper->poller);
    if (atomic_load(what))
      return true;
    sleep_ms(1);
  }
  return false;
}

static void test_threads_that_come_by_help_the_poller(void **state) {
  sleeper_t sleeper = {.poller = gs_poller_create(), .helper = pthread_self()};
  pthread_t thread;
  (void)state;
  assert_non_null(sleeper.poller);
  assert_int_equal(gs_parked_init(&sleeper.parked, sleeper_pending, &sleeper), 0);
  gs_poller_help(sleeper.poller);
  assert_int_equal(sleeper.looks_of_helper, 0); /* there is nobody to look after */
  assert_int_equal(pthread_create(&thread, NULL, sleep_parked, &sleeper), 0);
  assert_true(happens(&sleeper, &sleeper.looks_of_helper));
  assert_false(sleeper.is_awake);
  atomic_store(&sleeper.has_work, 1);
  assert_true(happens(&sleeper, &sleeper.is_awake));
  pthread_join(thread, NULL);
  gs_parked_fini(&sleeper.parked);
  gs_poller_destroy(sleeper.poller);
}

/* A thread that stays parked, and how often the poller's own thread looked after it. */
typedef struct watched {
  gs_poller_t *poller;
  gs_parked_t parked;
  atomic_int looks;
} watched_t;

static bool watched_pending(const void *owner) {
  watched_t *watched = (watched_t *)(uintptr_t)owner;
  atomic_fetch_add(&watched->looks, 1);
  return false;
}
static void *stay_parked(void *argument) {
  watched_t *watched = argument;
  gs_poller_enter(watched->poller);
  gs_poller_park(watched->poller, &watched->parked);
  gs_poller_leave(watched->poller);
  return NULL;
}

/* Looks per millisecond, in some 50 of them in which the program is active. */
static double looks_per_ms(watched_t *watched) {
  struct timespec begin, end;
  const int before = atomic_load(&watched->looks);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < 10; i++) {
    gs_poller_note_activity(watched->poller);
    sleep_ms(5);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double ms = (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6;
  return (double)(atomic_load(&watched->looks) - before) / ms;
}

/* Once per millisecond while a thread is awake, and ten times as often when none is; how often at least
 * depends on the machine, which may do other things: hence the tries. */
static void test_poller_looks_seldom_beside_threads_that_are_awake(void **state) {
  watched_t watched = {.poller = gs_poller_create()};
  pthread_t thread;
  (void)state;
  assert_non_null(watched.poller);
  gs_poller_enter(watched.poller);
  assert_int_equal(gs_parked_init(&watched.parked, watched_pending, &watched), 0);
  assert_int_equal(pthread_create(&thread, NULL, stay_parked, &watched), 0);
  while (!atomic_load(&watched.looks))
    sleep_ms(1);
  sleep_ms(5);
  assert_true(looks_per_ms(&watched) < 1.2);
  gs_poller_leave(watched.poller);
  double often = 0;
  for (int tries = 0; tries < 100 && often < 2; tries++)
    often = looks_per_ms(&watched);
  assert_true(often >= 2);
  gs_poller_wake(watched.poller, &watched.parked);
  pthread_join(thread, NULL);
  gs_parked_fini(&watched.parked);
  gs_poller_destroy(watched.poller);
}

/* The host has no memory to run kernels: that is told now, and not when a kernel comes. */
static void test_queue_refuses_without_memory(void **state) {
  fixture_t *f = *state;
  gs_poller_t *poller = gs_poller_create();
  gs_queue_config_t config = queue_config(f, poller);
  gs_bus_leave(&f->bus);
  gs_stub.no_memory = true;
  assert_null(gs_queue_create_aql(&config, &f->arena->queue));
  assert_int_equal(gs_stub.reserved, 0);
  gs_stub.no_memory = false;
  gs_queue_t *queue = gs_queue_create_aql(&config, &f->arena->queue);
  assert_non_null(queue);
  assert_int_equal(gs_stub.reserved, 1);
  gs_queue_destroy(queue);
  assert_int_equal(gs_stub.reserved, 0);
  gs_poller_destroy(poller);
}

static void test_queue_destroy_stops_a_running_kernel(void **state) {
  fixture_t *f = *state;
  gs_bus_leave(&f->bus);
  gs_stub.until_stopped = true;
  gs_poller_t *poller = gs_poller_create();
  const gs_queue_config_t config = queue_config(f, poller);
  gs_queue_t *queue = gs_queue_create_aql(&config, &f->arena->queue);
  assert_non_null(queue);
  f->arena->signal[1].value = 1;
  const hsa_kernel_dispatch_packet_t packet = dispatch_packet(f, 1);
  publish(f, &packet);
  for (int waited = 0; waited < 5000 && !gs_stub.running; waited++)
    sleep_ms(1);
  assert_int_equal(gs_stub.running, 1);
  gs_queue_destroy(queue);
  gs_poller_destroy(poller);
  assert_int_equal(gs_stub.running, 0);
  assert_int_equal(f->arena->signal[1].value, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_bus_checks_accesses, setup, teardown),
      cmocka_unit_test_setup_teardown(test_signal_completion, setup, teardown),
      cmocka_unit_test_setup_teardown(test_signal_store_keeps_what_the_host_wrote, setup, teardown),
      cmocka_unit_test(test_guard_knows_stores),
      cmocka_unit_test(test_pm4_indirect_buffer),
      cmocka_unit_test(test_pm4_commands),
      cmocka_unit_test_setup_teardown(test_aql_runs_dispatches_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_waits_for_the_header, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_counts_what_costs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_wraps_around, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_barriers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_barrier_value, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_pm4_invalidates_code, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_errors_of_dispatches, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_errors_of_packets, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_memory_faults, setup, teardown),
      cmocka_unit_test(test_scratch_of_parts),
      cmocka_unit_test_setup_teardown(test_aql_asks_for_scratch, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_scratch_and_the_end_of_the_queue, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_leaves_bad_dimensions_to_the_device, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_without_execution, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_without_execution_takes_time, setup, teardown),
      cmocka_unit_test_setup_teardown(test_aql_limits_the_compute_units, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_copies_and_fills, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pm4_writes_waits_and_releases, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pm4_dispatches, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pm4_goes_round, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pm4_errors, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_writes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_copies_take_time, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_joins_pieces, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_counts_what_costs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_keeps_overlapping_pieces_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_copies_across_mappings, setup, teardown),
      cmocka_unit_test(test_sdma_decodes_rectangles),
      cmocka_unit_test_setup_teardown(test_sdma_copies_rectangles, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_submission_as_rocr_writes_it, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_polls_compare, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_faults, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_survives_freed_memory, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_unknown_commands_hang, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sdma_ring_wraps, setup, teardown),
      cmocka_unit_test_setup_teardown(test_queue_thread_processes_packets, setup, teardown),
      cmocka_unit_test_setup_teardown(test_queue_pauses_and_goes_on, setup, teardown),
      cmocka_unit_test(test_threads_that_come_by_help_the_poller),
      cmocka_unit_test(test_poller_looks_seldom_beside_threads_that_are_awake),
      cmocka_unit_test_setup_teardown(test_queue_destroy_stops_a_running_kernel, setup, teardown),
      cmocka_unit_test_setup_teardown(test_queue_refuses_without_memory, setup, teardown),
  };
  return cmocka_run_group_tests_name("gfxsim packet", tests, NULL, NULL);
}
