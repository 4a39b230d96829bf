/* The command processor for AQL packets: a small state machine, because some packets wait for memory to
 * change. */
#include "packet/aql.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "exec/symbol.h"
#include "isa/watch.h"
#include "packet/flight.h"
#include "packet/pm4.h"
#include "packet/signal.h"

enum { PACKET_BYTES = 64, PM4_IB_FORMAT = 1, BARRIER_VALUE_FORMAT = 2, DEPENDENCIES = 5 };

/* The vendor packet that runs an indirect buffer of PM4 commands (ROCR-Runtime, amd_aql_pm4_ib). */
typedef struct pm4_ib_packet {
  uint16_t header;
  uint16_t format;
  uint32_t jump[4];
  uint32_t dwords_remaining;
  uint32_t reserved[8];
  hsa_signal_t completion_signal;
} pm4_ib_packet_t;
_Static_assert(sizeof(pm4_ib_packet_t) == PACKET_BYTES, "a packet has 64 bytes");

/* All packets have the header first and the completion signal last. */
typedef union packet {
  struct {
    uint16_t header;
    uint16_t format; /* of vendor packets */
    uint32_t body[13];
    uint64_t completion_signal;
  } any;
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  hsa_amd_barrier_value_packet_t barrier_value;
  pm4_ib_packet_t pm4_ib;
} packet_t;
_Static_assert(sizeof(packet_t) == PACKET_BYTES, "a packet has 64 bytes");

/* What the next step is about. */
typedef enum phase {
  PHASE_PACKET,          /* the packet at the read index, if there is one */
  PHASE_SCRATCH_REQUEST, /* the host's answer to the request for scratch memory */
  PHASE_SCRATCH_RELEASE, /* the host taking back scratch memory that was lent for one dispatch */
  PHASE_HALTED,
} phase_t;

struct gs_aql {
  gs_engine_config_t config;
  gs_bus_t bus;
  amd_queue_t *queue; /* shared with the host and the kernels: accessed with __atomic operations */
  packet_t *ring;
  uint64_t mask; /* of a packet's index: its slot */
  phase_t phase;
  uint64_t start;       /* time when the packet at the read index was first looked at, 0 = not yet */
  bool scratch_granted; /* the host answered this packet's request */
  uint32_t skipped_pm4_logged;
  uint64_t skipped_end; /* of the last kernel that was not executed, in ns; 0: the queue was idle since */
  /* Of a machine in which kernels overlap, else NULL and 0: those between the read index and the next packet
   * to begin, and how many that are. */
  gs_flights_t *flights;
  uint64_t ahead;
};

static const int64_t error_code_table[] = {
    [GS_INVALID_DIMENSIONS] = GS_QUEUE_INVALID_DIMENSIONS,
    [GS_INVALID_GROUP_SIZE] = GS_QUEUE_GROUP_TOO_LARGE,
    [GS_INVALID_GROUP_SEGMENT] = GS_QUEUE_INVALID_GROUP_SEGMENT,
    [GS_INVALID_CODE] = GS_QUEUE_INVALID_CODE,
    [GS_INVALID_REGISTERS] = GS_QUEUE_TOO_MANY_REGISTERS,
    [GS_APERTURE_FAULT] = GS_QUEUE_APERTURE_VIOLATION,
    [GS_ILLEGAL_INSTRUCTION] = GS_QUEUE_ILLEGAL_INSTRUCTION,
    [GS_ABORT_TRAP] = GS_QUEUE_ABORT_TRAP,
    /* There is no code for a GPU without memory of its own; an allocation that failed is the nearest. */
    [GS_OUT_OF_HOST_MEMORY] = GS_QUEUE_INVALID_GROUP_SEGMENT,
};

/* The same errors as exceptions. */
static const struct {
  int64_t code;
  unsigned exception;
} exception_table[] = {
    {GS_QUEUE_ABORT_TRAP, 1},
    {GS_QUEUE_ILLEGAL_INSTRUCTION, 4},
    {GS_QUEUE_APERTURE_VIOLATION, 6},
    {GS_QUEUE_INVALID_DIMENSIONS, 16},
    {GS_QUEUE_INVALID_GROUP_SEGMENT, 17},
    {GS_QUEUE_INVALID_CODE, 18},
    {GS_QUEUE_INVALID_PACKET, 20},
    {GS_QUEUE_GROUP_TOO_LARGE, 21},
    {GS_QUEUE_TOO_MANY_REGISTERS, 22},
    {GS_QUEUE_INVALID_VENDOR_PACKET, 23},
};

uint64_t gs_aql_exceptions(int64_t code) {
  for (size_t i = 0; i < sizeof exception_table / sizeof *exception_table; i++)
    if (exception_table[i].code == code)
      return UINT64_C(1) << (exception_table[i].exception - 1);
  return 0;
}

int64_t gs_aql_error_code(gs_outcome_t outcome) {
  const size_t i = (size_t)outcome;
  return i < sizeof error_code_table / sizeof *error_code_table ? error_code_table[i] : 0;
}

static uint64_t read_index(const gs_aql_t *aql) {
  /* Only this processor writes it. */
  return __atomic_load_n(&aql->queue->read_dispatch_id, __ATOMIC_RELAXED);
}

static packet_t *packet_at(const gs_aql_t *aql, uint64_t index) {
  return &aql->ring[index & aql->mask];
}

static unsigned header_type(uint16_t header) {
  return (unsigned)header >> HSA_PACKET_HEADER_TYPE & ((1U << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/* Prints "GPU 0 (gfx90a), queue 3, packet 17: <what>". */
#define aql_log(aql, index, format, ...)                                                                     \
  gs_log("GPU %u (%s), queue %u, packet %" PRIu64 ": " format, (aql)->config.ordinal,                        \
         gs_device_profile((aql)->config.device)->name, (aql)->config.queue, (index), __VA_ARGS__)

static gs_step_t halt(gs_aql_t *aql) {
  gs_bus_leave(&aql->bus);
  aql->phase = PHASE_HALTED;
  return GS_STEP_HALT;
}

static gs_step_t halt_with_fault(gs_aql_t *aql, const gs_fault_t *fault) {
  /* The fault may be the bus's own, which the next access would overwrite. */
  const gs_fault_t copy = *fault;
  const gs_step_t step = halt(aql);
  aql->config.ops->memory_fault(aql->config.ops->context, &copy);
  return step;
}

/* Stops after an access of the processor itself failed (see bus.fault). */
static gs_step_t halt_with_bus_fault(gs_aql_t *aql, const char *what) {
  aql_log(aql, read_index(aql), "memory fault: %s at 0x%" PRIx64 " is not %s for this GPU", what,
          aql->bus.fault.address, aql->bus.fault.not_present ? "mapped" : "accessible");
  return halt_with_fault(aql, &aql->bus.fault);
}

/* Stores a request or an error into the queue's signal and raises its event. *stored is false when the signal
 * was not zero: the host is destroying the queue. */
static bool tell_host(gs_aql_t *aql, int64_t code, bool *stored) {
  const uint64_t handle = __atomic_load_n(&aql->queue->queue_inactive_signal.handle, __ATOMIC_RELAXED);
  uint32_t event_id = 0;
  if (!gs_signal_store_if_zero(&aql->bus, handle, code, stored, &event_id))
    return false;
  if (event_id)
    aql->config.ops->raise_event(aql->config.ops->context, event_id);
  return true;
}

/* Leaves the error where the driver leaves exceptions. */
static gs_step_t halt_with_exception(gs_aql_t *aql, int64_t code) {
  const gs_exceptions_t *exceptions = &aql->config.exceptions;
  uint64_t *payload = gs_bus_word_at(&aql->bus, exceptions->payload, sizeof *payload, GS_VM_WRITE);
  if (!payload)
    return halt_with_bus_fault(aql, "the place for the queue's exceptions");
  __atomic_fetch_or(payload, gs_aql_exceptions(code), __ATOMIC_RELEASE);
  aql->config.ops->raise_event(aql->config.ops->context, exceptions->event_id);
  return halt(aql);
}

/* Puts the queue into error. The packet stays; its completion signal is never decremented. */
static gs_step_t halt_with_error(gs_aql_t *aql, int64_t code) {
  bool stored = false;
  if (aql->config.exceptions.payload)
    return halt_with_exception(aql, code);
  if (!tell_host(aql, code, &stored))
    return halt_with_bus_fault(aql, "the queue's error signal");
  return halt(aql);
}

/* Counts the packet at the read index, which is over. */
static void count(const gs_aql_t *aql) {
  gs_costs_t *costs = aql->config.costs;
  const packet_t *packet = packet_at(aql, read_index(aql));
  if (!costs)
    return;
  const uint16_t header = packet->any.header;
  const unsigned scope = header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
  const bool dispatches = header_type(header) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
  const bool of_vendor = header_type(header) == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  const bool is_pm4 = of_vendor && packet->any.format == PM4_IB_FORMAT;
  gs_cost_add(costs, dispatches ? GS_COST_DISPATCH : is_pm4 ? GS_COST_VENDOR : GS_COST_BARRIER, 1);
  gs_cost_add(costs, GS_COST_BARRIER_BIT, header >> HSA_PACKET_HEADER_BARRIER & 1);
  gs_cost_add(costs, GS_COST_RELEASE, dispatches && scope == HSA_FENCE_SCOPE_SYSTEM);
  gs_cost_add(costs, GS_COST_SIGNAL, packet->any.completion_signal != 0);
}

/* Gives the slot at the read index back to the host. */
static void free_slot(gs_aql_t *aql) {
  const uint64_t index = read_index(aql);
  __atomic_store_n(&packet_at(aql, index)->any.header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
  /* Releases the slot: a producer that sees the new index may fill it. */
  __atomic_store_n(&aql->queue->read_dispatch_id, index + 1, __ATOMIC_RELEASE);
}

/* Ends the packet at the read index: its slot is free for the host, and its signal completes; or the other
 * way round, if chance wants that. */
static gs_step_t retire(gs_aql_t *aql) {
  const uint64_t signal = packet_at(aql, read_index(aql))->any.completion_signal;
  const uint64_t start = aql->start;
  const bool signal_first = gs_late_chance(&aql->bus.late, GS_ORDER_INDEX, 2);
  aql->start = 0;
  aql->scratch_granted = false;
  count(aql);
  if (!signal_first) {
    free_slot(aql);
    gs_late_perhaps(&aql->bus.late, GS_ORDER_INDEX);
  }
  uint32_t event_id = 0;
  if (!gs_signal_complete(&aql->bus, signal, start, gs_clock_ticks(), &event_id))
    return halt_with_bus_fault(aql, "the completion signal");
  gs_bus_leave(&aql->bus);
  if (signal_first) {
    gs_late_sleep_surely(&aql->bus.late, GS_ORDER_INDEX);
    free_slot(aql);
  }
  if (event_id)
    aql->config.ops->raise_event(aql->config.ops->context, event_id);
  return GS_STEP_DONE;
}

/* What a kind of packet does: DONE = finished, to be retired. Called with the bus entered. */
typedef gs_step_t packet_function_t(gs_aql_t *aql, const packet_t *packet);

static gs_step_t run_unsupported(gs_aql_t *aql, const packet_t *packet) {
  aql_log(aql, read_index(aql),
          "invalid packet: header 0x%04x has a type that a kernel queue does not process",
          packet->any.header);
  return halt_with_error(aql, GS_QUEUE_INVALID_PACKET);
}

static gs_step_t run_barrier_and(gs_aql_t *aql, const packet_t *packet) {
  for (int i = 0; i < DEPENDENCIES; i++) {
    const uint64_t signal = packet->barrier.dep_signal[i].handle;
    int64_t value = 0;
    if (signal && !gs_signal_load(&aql->bus, signal, &value))
      return halt_with_bus_fault(aql, "a signal that the barrier depends on");
    if (value)
      return GS_STEP_WAIT;
  }
  return GS_STEP_DONE;
}

static gs_step_t run_barrier_or(gs_aql_t *aql, const packet_t *packet) {
  bool depends = false;
  for (int i = 0; i < DEPENDENCIES; i++) {
    const uint64_t signal = packet->barrier.dep_signal[i].handle;
    int64_t value = 0;
    if (!signal)
      continue;
    depends = true;
    if (!gs_signal_load(&aql->bus, signal, &value))
      return halt_with_bus_fault(aql, "a signal that the barrier depends on");
    if (!value)
      return GS_STEP_DONE;
  }
  return depends ? GS_STEP_WAIT : GS_STEP_DONE;
}

static bool holds(int64_t value, uint32_t condition, int64_t reference) {
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ: return value == reference;
  case HSA_SIGNAL_CONDITION_NE: return value != reference;
  case HSA_SIGNAL_CONDITION_LT: return value < reference;
  default: return value >= reference;
  }
}

static gs_step_t run_barrier_value(gs_aql_t *aql, const packet_t *packet) {
  const hsa_amd_barrier_value_packet_t *barrier = &packet->barrier_value;
  if (barrier->cond > HSA_SIGNAL_CONDITION_GTE) {
    aql_log(aql, read_index(aql), "invalid barrier-value packet: condition %u", barrier->cond);
    return halt_with_error(aql, GS_QUEUE_INVALID_VENDOR_PACKET);
  }
  int64_t value = 0;
  if (!barrier->signal.handle)
    return GS_STEP_DONE;
  if (!gs_signal_load(&aql->bus, barrier->signal.handle, &value))
    return halt_with_bus_fault(aql, "the signal that the barrier depends on");
  return holds(value & barrier->mask, barrier->cond, barrier->value) ? GS_STEP_DONE : GS_STEP_WAIT;
}

static gs_step_t run_pm4_ib(gs_aql_t *aql, const packet_t *packet) {
  uint64_t address = 0;
  uint32_t count = 0;
  gs_pm4_effects_t effects;
  if (!gs_pm4_indirect_buffer(packet->pm4_ib.jump, &address, &count)) {
    aql_log(aql, read_index(aql), "invalid PM4 packet: 0x%08x is no jump to an indirect buffer",
            packet->pm4_ib.jump[0]);
    return halt_with_error(aql, GS_QUEUE_INVALID_VENDOR_PACKET);
  }
  const uint32_t *commands = gs_bus_at(&aql->bus, address, (size_t)count * sizeof *commands, GS_VM_READ);
  if (!commands)
    return halt_with_bus_fault(aql, "the PM4 indirect buffer");
  if (!gs_pm4_run(commands, count, &effects)) {
    aql_log(aql, read_index(aql), "invalid PM4 commands in the indirect buffer at 0x%" PRIx64, address);
    return halt_with_error(aql, GS_QUEUE_INVALID_VENDOR_PACKET);
  }
  if (effects.skipped && !aql->skipped_pm4_logged++)
    aql_log(aql, read_index(aql), "%u PM4 command(s) have no effect here, the first with opcode 0x%02x",
            effects.skipped, effects.skipped_opcode);
  if (effects.invalidate_code && gs_vm_invalidate_code(gs_device_vm(aql->config.device))) {
    aql_log(aql, read_index(aql), "%s", "out of host memory while invalidating instruction caches");
    return halt_with_error(aql, gs_aql_error_code(GS_OUT_OF_HOST_MEMORY));
  }
  return GS_STEP_DONE;
}

static gs_step_t run_vendor(gs_aql_t *aql, const packet_t *packet) {
  /* ROCr writes PM4-IB's format as 16 bits; of barrier-value it is the low byte. */
  switch (packet->any.format) {
  case PM4_IB_FORMAT: return run_pm4_ib(aql, packet);
  case BARRIER_VALUE_FORMAT: return run_barrier_value(aql, packet);
  default:
    aql_log(aql, read_index(aql), "invalid packet: vendor format %u is not known", packet->any.format);
    return halt_with_error(aql, GS_QUEUE_INVALID_VENDOR_PACKET);
  }
}

static gs_dispatch_t dispatch_of(const gs_aql_t *aql, uint64_t index, const packet_t *packet) {
  const amd_queue_t *queue = aql->queue;
  const uint32_t tmpring = __atomic_load_n(&queue->compute_tmpring_size, __ATOMIC_RELAXED);
  gs_dispatch_t dispatch = {
      .packet = (uintptr_t)packet,
      .queue = (uintptr_t)queue,
      .dispatch_id = index,
      .scratch_base = __atomic_load_n(&queue->scratch_backing_memory_location, __ATOMIC_RELAXED),
      .stop = aql->config.stop,
  };
  const gs_device_t *device = aql->config.device;
  gs_profile_scratch(gs_device_profile(device), gs_device_cus(device), tmpring, &dispatch.scratch_waves,
                     &dispatch.scratch_wave_bytes);
  for (int i = 0; i < 4; i++)
    dispatch.scratch_srd[i] = __atomic_load_n(&queue->scratch_resource_descriptor[i], __ATOMIC_RELAXED);
  dispatch.cu_mask = gs_engine_cus(&aql->config);
  return dispatch;
}

/* ROCr sizes the scratch memory from the packet's dimensions and trusts them: with bad ones only exec may
 * answer. */
static bool has_dimensions(const hsa_kernel_dispatch_packet_t *packet) {
  return packet->workgroup_size_x && packet->workgroup_size_y && packet->workgroup_size_z &&
         packet->grid_size_x && packet->grid_size_y && packet->grid_size_z;
}

static gs_step_t request_scratch(gs_aql_t *aql, const packet_t *packet, bool narrow) {
  bool stored = false;
  if (aql->scratch_granted) {
    aql_log(aql, read_index(aql), "the kernel needs %u bytes of scratch per lane; the host granted only %u",
            packet->dispatch.private_segment_size,
            __atomic_load_n(&aql->queue->scratch_wave64_lane_byte_size, __ATOMIC_RELAXED));
    return halt_with_error(aql, GS_QUEUE_INVALID_GROUP_SEGMENT);
  }
  gs_cost_add(aql->config.costs, GS_COST_SCRATCH, 1);
  if (!tell_host(aql, narrow ? GS_QUEUE_SCRATCH_WAVE32 : GS_QUEUE_SCRATCH_WAVE64, &stored))
    return halt_with_bus_fault(aql, "the queue's error signal");
  if (!stored)
    return halt(aql);
  aql->phase = PHASE_SCRATCH_REQUEST;
  return GS_STEP_WAIT;
}

/* A kernel that was in the queue when the one before it ended begins at that time, however late we are. */
static void take_time(gs_aql_t *aql) {
  const uint64_t begin = aql->skipped_end ? aql->skipped_end : gs_clock_nanoseconds();
  aql->skipped_end = begin + UINT64_C(1000) * aql->config.kernel_us;
  gs_bus_leave(&aql->bus);
  gs_clock_wait_until(aql->skipped_end, aql->config.stop);
  gs_bus_enter(&aql->bus);
}

static gs_step_t skip_kernel(gs_aql_t *aql) {
  gs_log_once(
      aql->config.told_not_executed,
      "GFXSIM_EXECUTE=0: KERNELS ARE NOT EXECUTED. Their dispatches complete, their results are missing");
  if (aql->config.kernel_us)
    take_time(aql);
  return GS_STEP_DONE;
}

/* Stops after a kernel that did not end well. */
static gs_step_t end_kernel(gs_aql_t *aql, gs_outcome_t outcome, const gs_fault_t *fault) {
  if (outcome == GS_STOPPED)
    return halt(aql);
  if (outcome == GS_MEMORY_FAULT)
    return halt_with_fault(aql, fault);
  gs_bus_enter(&aql->bus);
  return halt_with_error(aql, gs_aql_error_code(outcome));
}

static gs_step_t run_dispatch(gs_aql_t *aql, const packet_t *packet) {
  /* ROCr copies, fills and loads code with kernels of its own, which always run. */
  if (!aql->config.execute && gs_symbol_in_code_object(aql->bus.map, packet->dispatch.kernel_object))
    return skip_kernel(aql);
  const gs_dispatch_t dispatch = dispatch_of(aql, read_index(aql), packet);
  const uint32_t lane_bytes = __atomic_load_n(&aql->queue->scratch_wave64_lane_byte_size, __ATOMIC_RELAXED);
  if (gs_dispatch_private_bytes(aql->config.device, aql->bus.map, &dispatch) > lane_bytes &&
      has_dimensions(&packet->dispatch))
    return request_scratch(aql, packet, gs_dispatch_is_narrow(aql->config.device, aql->bus.map, &dispatch));
  gs_fault_t fault = {0};
  gs_bus_leave(&aql->bus);
  aql->start = gs_clock_ticks(); /* without the wait for scratch memory */
  const gs_outcome_t outcome = gs_device_run(aql->config.device, &dispatch, &fault);
  gs_bus_enter(&aql->bus);
  return outcome == GS_DONE ? GS_STEP_DONE : end_kernel(aql, outcome, &fault);
}

static packet_function_t *const packet_table[] = {
    [HSA_PACKET_TYPE_VENDOR_SPECIFIC] = run_vendor,     [HSA_PACKET_TYPE_INVALID] = run_unsupported,
    [HSA_PACKET_TYPE_KERNEL_DISPATCH] = run_dispatch,   [HSA_PACKET_TYPE_BARRIER_AND] = run_barrier_and,
    [HSA_PACKET_TYPE_AGENT_DISPATCH] = run_unsupported, [HSA_PACKET_TYPE_BARRIER_OR] = run_barrier_or,
};

/* True when the last dispatch used scratch memory that the host lent for it alone. */
static bool must_release_scratch(const gs_aql_t *aql, unsigned type) {
  return type == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
         __atomic_load_n(&aql->queue->queue_properties, __ATOMIC_ACQUIRE) &
             AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
}

static gs_step_t release_scratch(gs_aql_t *aql) {
  bool stored = false;
  gs_bus_enter(&aql->bus);
  if (!tell_host(aql, GS_QUEUE_SCRATCH_RELEASE, &stored))
    return halt_with_bus_fault(aql, "the queue's error signal");
  if (!stored)
    return halt(aql);
  gs_bus_leave(&aql->bus);
  aql->phase = PHASE_SCRATCH_RELEASE;
  return GS_STEP_WAIT;
}

/* Whether the packet was published. */
static bool is_pending(const gs_aql_t *aql, uint64_t index) {
  /* Acquires the packet's body: the host writes the header last. */
  return __atomic_load_n(&aql->queue->write_dispatch_id, __ATOMIC_ACQUIRE) != index &&
         header_type(__atomic_load_n(&packet_at(aql, index)->any.header, __ATOMIC_ACQUIRE)) !=
             HSA_PACKET_TYPE_INVALID;
}

static bool aql_pending(const void *engine) {
  const gs_aql_t *aql = engine;
  return is_pending(aql, read_index(aql));
}

/* Ends the kernels that ran ahead, in the order of their packets, as far as they are over. */
static gs_step_t land(gs_aql_t *aql) {
  while (aql->ahead) {
    const uint64_t index = read_index(aql);
    const gs_landing_t landing = gs_flights_look(aql->flights, index);
    if (!landing.over)
      break;
    if (landing.signal_failed) {
      aql->bus.fault = landing.fault;
      return halt_with_bus_fault(aql, "the completion signal");
    }
    if (landing.outcome)
      return end_kernel(aql, landing.outcome, &landing.fault);
    gs_late_perhaps(&aql->bus.late, GS_ORDER_INDEX);
    count(aql);
    free_slot(aql);
    aql->ahead--;
    gs_flights_forget(aql->flights, index);
  }
  return GS_STEP_DONE;
}

/* Whether the packet is a kernel that may run while others of the queue do: with the scratch memory that the
 * queue has, which is for one kernel at a time. */
static bool may_fly(gs_aql_t *aql, const packet_t *packet, const gs_dispatch_t *dispatch) {
  const uint32_t lane_bytes = __atomic_load_n(&aql->queue->scratch_wave64_lane_byte_size, __ATOMIC_RELAXED);
  const uint32_t properties = __atomic_load_n(&aql->queue->queue_properties, __ATOMIC_ACQUIRE);
  if (header_type(packet->any.header) != HSA_PACKET_TYPE_KERNEL_DISPATCH || !aql->config.execute ||
      properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE)
    return false;
  gs_bus_enter(&aql->bus); /* a wave's width stands in the kernel's descriptor */
  const uint32_t bytes = gs_dispatch_private_bytes(aql->config.device, aql->bus.map, dispatch);
  gs_bus_leave(&aql->bus);
  return bytes <= lane_bytes && (!bytes || !gs_flights_with_scratch(aql->flights));
}

/* In a machine in which kernels overlap: begins the next packet if nothing that came before orders it. DONE:
 * one has begun. IDLE: the packet at the read index is the next, and may be processed. */
static gs_step_t step_ahead(gs_aql_t *aql) {
  const gs_step_t step = land(aql);
  if (step != GS_STEP_DONE)
    return step;
  const uint64_t next = read_index(aql) + aql->ahead;
  if (!is_pending(aql, next))
    return aql->ahead ? GS_STEP_WAIT : GS_STEP_IDLE;
  const packet_t *packet = packet_at(aql, next);
  /* Complete is a packet whose signal says so; the read index may have moved before. */
  if (packet->any.header >> HSA_PACKET_HEADER_BARRIER & 1 && (aql->ahead || gs_flights_count(aql->flights)))
    return GS_STEP_WAIT;
  const gs_dispatch_t dispatch = dispatch_of(aql, next, packet);
  if (!may_fly(aql, packet, &dispatch) ||
      !gs_flights_start(aql->flights, next, &dispatch, packet->any.completion_signal))
    return aql->ahead ? GS_STEP_WAIT : GS_STEP_IDLE;
  aql->scratch_granted = false;
  aql->ahead++;
  return GS_STEP_DONE;
}

/* Tells who watches of the fences of a packet that is no kernel: who watches kernels knows theirs. The
 * command buffers of vendor packets may invalidate anything. */
static void watch_fence(const gs_aql_t *aql, uint16_t header) {
  const gs_watch_t *watch = gs_device_watch(aql->config.device);
  const unsigned type = header_type(header);
  if (!watch || !watch->fence || type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
    return;
  gs_scope_t acquire = header >> HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE & 3;
  gs_scope_t release = header >> HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE & 3;
  if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC)
    acquire = release = GS_SCOPE_SYSTEM;
  watch->fence(watch->context, aql->config.ordinal, acquire, release);
}

static gs_step_t step_packet(gs_aql_t *aql) {
  if (aql->flights) {
    const gs_step_t step = step_ahead(aql);
    if (step != GS_STEP_IDLE)
      return step;
  }
  if (!aql_pending(aql)) {
    aql->skipped_end = 0;
    return GS_STEP_IDLE;
  }
  const packet_t *packet = packet_at(aql, read_index(aql));
  const unsigned type = header_type(packet->any.header);
  if (!aql->start) {
    gs_late_perhaps(&aql->bus.late, GS_ORDER_LATE);
    aql->start = gs_clock_ticks();
  }
  packet_function_t *run =
      type < sizeof packet_table / sizeof *packet_table ? packet_table[type] : run_unsupported;
  gs_bus_enter(&aql->bus);
  gs_step_t step = run(aql, packet);
  if (step == GS_STEP_DONE) {
    watch_fence(aql, packet->any.header);
    step = retire(aql);
  }
  if (step == GS_STEP_WAIT)
    aql->skipped_end = 0;
  if (step == GS_STEP_DONE && must_release_scratch(aql, type))
    return release_scratch(aql);
  gs_bus_leave(&aql->bus);
  return step;
}

/* The host's answer: 0 = granted, -1 = refused after it called the queue's error callback, the request
 * together with the sign bit = still trying, the sign bit alone = the queue is being destroyed. */
static gs_step_t step_scratch_request(gs_aql_t *aql) {
  int64_t answer = 0;
  gs_bus_enter(&aql->bus);
  if (!gs_signal_load(&aql->bus, aql->queue->queue_inactive_signal.handle, &answer))
    return halt_with_bus_fault(aql, "the queue's error signal");
  gs_bus_leave(&aql->bus);
  if (answer == -1 || answer == INT64_MIN)
    return halt(aql);
  if (answer)
    return GS_STEP_WAIT;
  aql->scratch_granted = true;
  aql->phase = PHASE_PACKET;
  return GS_STEP_DONE;
}

/* The host clears the property last, after the signal and the scratch fields. */
static gs_step_t step_scratch_release(gs_aql_t *aql) {
  if (__atomic_load_n(&aql->queue->queue_properties, __ATOMIC_ACQUIRE) &
      AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE)
    return GS_STEP_WAIT;
  aql->phase = PHASE_PACKET;
  return GS_STEP_DONE;
}

static gs_step_t step_halted(gs_aql_t *aql) {
  (void)aql;
  return GS_STEP_HALT;
}

static gs_step_t aql_step(void *engine) {
  static gs_step_t (*const phase_table[])(gs_aql_t *) = {
      [PHASE_PACKET] = step_packet,
      [PHASE_SCRATCH_REQUEST] = step_scratch_request,
      [PHASE_SCRATCH_RELEASE] = step_scratch_release,
      [PHASE_HALTED] = step_halted,
  };
  gs_aql_t *aql = engine;
  return phase_table[aql->phase](aql);
}

gs_aql_t *gs_aql_create(const gs_engine_config_t *config, amd_queue_t *queue, void *ring, uint64_t packets) {
  gs_aql_t *aql = calloc(1, sizeof *aql);
  if (!aql)
    return NULL;
  aql->config = *config;
  aql->queue = queue;
  aql->ring = ring;
  aql->mask = packets - 1;
  gs_bus_init(&aql->bus, gs_device_vm(config->device));
  aql->bus.no_atomics = config->no_atomics;
  aql->bus.late = (gs_late_t){config->order, gs_random_of(config->seed, config->ordinal, config->queue)};
  if (config->order & GS_ORDER_OVERLAP) /* without memory for that, they do not */
    aql->flights = gs_flights_create(config);
  return aql;
}

static void aql_destroy(void *engine) {
  gs_aql_t *aql = engine;
  gs_flights_destroy(aql->flights);
  gs_bus_fini(&aql->bus);
  free(aql);
}

const gs_engine_ops_t gs_aql_ops = {.step = aql_step, .pending = aql_pending, .destroy = aql_destroy};
