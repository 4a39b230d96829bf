/* The command processor for PM4: one row per command, one short function for what it does. */
#include "packet/pm4_engine.h"

#include <hsa/hsa.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "isa/watch.h"
#include "packet/pm4.h"

/* Registers that commands set are numbered from the first of them that belongs to shaders; these are those of
 * a kernel. */
enum {
  REGISTERS_FIRST = 0x200,
  REG_START = 0x204, /* of each dimension, in workgroups */
  REG_NUM_THREAD = 0x207,
  REG_PGM_LO = 0x20C,
  REG_PGM_HI = 0x20D,
  REG_SCRATCH_LO = 0x210, /* of parts that find their scratch memory by themselves */
  REG_SCRATCH_HI = 0x211,
  REG_RSRC1 = 0x212,
  REG_RSRC2 = 0x213,
  REG_TMPRING_SIZE = 0x218,
  REG_RSRC3 = 0x22D,
  REG_USER_DATA = 0x240,
  REGISTERS_END = REG_USER_DATA + GS_USER_REGISTERS,
};

enum { MOST_WORDS = 8, DIMENSIONS = 3 };

struct gs_pm4 {
  gs_engine_config_t config;
  gs_bus_t bus;
  const uint32_t *ring;
  uint64_t mask;         /* of an index: its place in the ring */
  uint64_t *read_index;  /* written here and read by the host */
  uint64_t *write_index; /* written by the host */
  /* The indirect buffer that the command at the read index names, while it is being processed. */
  uint64_t buffer;
  uint32_t buffer_dwords, buffer_at;
  uint64_t kernels; /* that began */
  bool halted;
  uint32_t registers[REGISTERS_END - REGISTERS_FIRST];
};

/* A command and where it stands. */
typedef struct command {
  const uint32_t *base;
  uint64_t at, mask;
  uint32_t dwords;           /* with the header */
  uint32_t word[MOST_WORDS]; /* its first ones; 0 behind its end */
} command_t;

static uint32_t read_index(const gs_pm4_t *pm4) {
  /* Only this processor writes it. */
  return __atomic_load_n((const uint32_t *)pm4->read_index, __ATOMIC_RELAXED);
}

/* Prints "GPU 0 (gfx90a), queue 3, PM4 command at dword 0x40: <what>". */
#define pm4_log(pm4, format, ...)                                                                            \
  gs_log("GPU %u (%s), queue %u, PM4 command at dword 0x%" PRIx32 ": " format, (pm4)->config.ordinal,        \
         gs_device_profile((pm4)->config.device)->name, (pm4)->config.queue, read_index(pm4), __VA_ARGS__)

static uint32_t word_at(const command_t *command, uint32_t i) {
  return command->base[(command->at + i) & command->mask];
}

static uint64_t address_at(const uint32_t *words) {
  return words[0] | (uint64_t)words[1] << 32;
}

static gs_step_t halt(gs_pm4_t *pm4) {
  gs_bus_leave(&pm4->bus);
  pm4->halted = true;
  return GS_STEP_HALT;
}

static gs_step_t halt_with_hang(gs_pm4_t *pm4) {
  const gs_step_t step = halt(pm4);
  pm4->config.ops->engine_hang(pm4->config.ops->context);
  return step;
}

static gs_step_t halt_with_fault(gs_pm4_t *pm4, const gs_fault_t *fault) {
  const gs_fault_t copy = *fault; /* it may be the bus's own */
  const gs_step_t step = halt(pm4);
  pm4->config.ops->memory_fault(pm4->config.ops->context, &copy);
  return step;
}

/* Stops after an access of the processor itself failed (see bus.fault). */
static gs_step_t halt_with_bus_fault(gs_pm4_t *pm4, const char *what) {
  pm4_log(pm4, "memory fault: %s 0x%" PRIx64 " is not %s for this GPU", what, pm4->bus.fault.address,
          pm4->bus.fault.not_present ? "mapped" : "accessible");
  return halt_with_fault(pm4, &pm4->bus.fault);
}

/* What a command does: DONE = finished. Called with the bus entered. */
typedef gs_step_t command_function_t(gs_pm4_t *pm4, const command_t *command);

static gs_step_t run_nop(gs_pm4_t *pm4, const command_t *command) {
  (void)pm4;
  (void)command;
  return GS_STEP_DONE;
}

static gs_step_t run_indirect_buffer(gs_pm4_t *pm4, const command_t *command) {
  if (pm4->buffer_dwords || !gs_pm4_indirect_buffer(command->word, &pm4->buffer, &pm4->buffer_dwords)) {
    pm4_log(pm4, "%s", "indirect buffers that name others are not simulated");
    return halt_with_hang(pm4);
  }
  pm4->buffer_at = 0;
  return GS_STEP_DONE;
}

static gs_step_t run_set_registers(gs_pm4_t *pm4, const command_t *command) {
  const uint32_t first = command->word[1] & 0xFFFF;
  for (uint32_t i = 2; i < command->dwords; i++) {
    const uint32_t number = first + i - 2;
    if (number >= REGISTERS_FIRST && number < REGISTERS_END)
      pm4->registers[number - REGISTERS_FIRST] = word_at(command, i);
  }
  return GS_STEP_DONE;
}

static uint32_t get(const gs_pm4_t *pm4, unsigned number) {
  return pm4->registers[number - REGISTERS_FIRST];
}

/* The grid in work-items, as AQL has it. Returns false when it has none that can be counted. */
static bool unpack_grid(const gs_pm4_t *pm4, const command_t *command, hsa_kernel_dispatch_packet_t *packet) {
  enum { USE_THREAD_DIMENSIONS = 1 << 5 };
  uint32_t size[DIMENSIONS], grid[DIMENSIONS];
  for (unsigned i = 0; i < DIMENSIONS; i++) {
    size[i] = get(pm4, REG_NUM_THREAD + i) & 0xFFFF;
    grid[i] = command->word[1 + i];
    if (get(pm4, REG_START + i))
      return false;
    if (!(command->word[4] & USE_THREAD_DIMENSIONS) && __builtin_mul_overflow(grid[i], size[i], &grid[i]))
      return false;
  }
  packet->setup = DIMENSIONS;
  packet->workgroup_size_x = (uint16_t)size[0];
  packet->workgroup_size_y = (uint16_t)size[1];
  packet->workgroup_size_z = (uint16_t)size[2];
  packet->grid_size_x = grid[0];
  packet->grid_size_y = grid[1];
  packet->grid_size_z = grid[2];
  return true;
}

static gs_shader_t unpack_shader(const gs_pm4_t *pm4, uint32_t initiator) {
  enum { WAVE32 = 1 << 15, ADDRESS_SHIFT = 8, PGM_HI = 0xFF };
  gs_shader_t shader = {
      .entry = ((uint64_t)(get(pm4, REG_PGM_HI) & PGM_HI) << 32 | get(pm4, REG_PGM_LO)) << ADDRESS_SHIFT,
      .rsrc1 = get(pm4, REG_RSRC1),
      .rsrc2 = get(pm4, REG_RSRC2),
      .rsrc3 = get(pm4, REG_RSRC3),
      .narrow = initiator & WAVE32,
  };
  memcpy(shader.user, &pm4->registers[REG_USER_DATA - REGISTERS_FIRST], sizeof shader.user);
  return shader;
}

static gs_step_t run_kernel(gs_pm4_t *pm4, const gs_dispatch_t *dispatch) {
  gs_fault_t fault = {0};
  gs_bus_leave(&pm4->bus);
  gs_cost_add(pm4->config.costs, GS_COST_DISPATCH, 1);
  const gs_outcome_t outcome = gs_device_run(pm4->config.device, dispatch, &fault);
  gs_bus_enter(&pm4->bus);
  switch (outcome) {
  case GS_DONE: return GS_STEP_DONE;
  case GS_STOPPED: return halt(pm4);
  case GS_MEMORY_FAULT: return halt_with_fault(pm4, &fault);
  default: return halt_with_hang(pm4);
  }
}

static gs_step_t run_dispatch(gs_pm4_t *pm4, const command_t *command) {
  enum { SHADER_ENABLE = 1, SCRATCH_ENABLE = 1, LDS_SHIFT = 15, LDS_GRANULES = 0x1FF, LDS_GRANULE = 512 };
  enum {
    SYSTEM_FENCES = 2 << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE | 2 << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE
  };
  const uint32_t initiator = command->word[4];
  const gs_shader_t shader = unpack_shader(pm4, initiator);
  const gs_device_t *device = pm4->config.device;
  hsa_kernel_dispatch_packet_t packet = {
      .header = SYSTEM_FENCES,
      .group_segment_size = (shader.rsrc2 >> LDS_SHIFT & LDS_GRANULES) * LDS_GRANULE,
  };
  gs_dispatch_t dispatch = {
      .packet = (uintptr_t)&packet,
      .shader = &shader,
      .dispatch_id = pm4->kernels++,
      .scratch_base = address_at(&pm4->registers[REG_SCRATCH_LO - REGISTERS_FIRST]) << 8,
      .stop = pm4->config.stop,
      .cu_mask = gs_engine_cus(&pm4->config),
  };
  if (!(initiator & SHADER_ENABLE))
    return GS_STEP_DONE;
  if (!unpack_grid(pm4, command, &packet)) {
    pm4_log(pm4, "%s",
            "a grid that does not start at 0, or has more work-items than 32 bits count, is not simulated");
    return halt_with_hang(pm4);
  }
  gs_profile_scratch(gs_device_profile(device), gs_device_cus(device), get(pm4, REG_TMPRING_SIZE),
                     &dispatch.scratch_waves, &dispatch.scratch_wave_bytes);
  if (shader.rsrc2 & SCRATCH_ENABLE)
    packet.private_segment_size = dispatch.scratch_wave_bytes / (shader.narrow ? 32 : 64);
  return run_kernel(pm4, &dispatch);
}

static gs_step_t run_write(gs_pm4_t *pm4, const command_t *command) {
  enum { DESTINATION_SHIFT = 8, REGISTER = 0, SAME_ADDRESS = 1 << 16, DATA = 4 };
  const uint64_t address = address_at(command->word + 2);
  if ((command->word[1] >> DESTINATION_SHIFT & 0xF) == REGISTER)
    return GS_STEP_DONE; /* of the GPU, which has none that could be seen */
  for (uint32_t i = DATA; i < command->dwords; i++) {
    const uint64_t offset = command->word[1] & SAME_ADDRESS ? 0 : UINT64_C(4) * (i - DATA);
    uint32_t *target = gs_bus_word_at(&pm4->bus, address + offset, sizeof *target, GS_VM_WRITE);
    if (!target)
      return halt_with_bus_fault(pm4, "the destination of a write,");
    __atomic_store_n(target, word_at(command, i), __ATOMIC_RELEASE);
  }
  return GS_STEP_DONE;
}

static gs_step_t run_wait(gs_pm4_t *pm4, const command_t *command) {
  enum { MEMORY = 1 << 4, FUNCTION = 7 };
  if (!(command->word[1] & MEMORY))
    return GS_STEP_DONE; /* for a register, of which what is waited for has happened */
  const uint32_t *target =
      gs_bus_word_at(&pm4->bus, address_at(command->word + 2), sizeof *target, GS_VM_READ);
  if (!target)
    return halt_with_bus_fault(pm4, "the address of a poll,");
  /* Acquires what the writer of the value did before: the commands that follow depend on it. */
  const uint32_t value = __atomic_load_n(target, __ATOMIC_ACQUIRE) & command->word[5];
  return gs_poll_holds(value, command->word[1] & FUNCTION, command->word[4]) ? GS_STEP_DONE : GS_STEP_WAIT;
}

static void tell_of_fence(const gs_pm4_t *pm4) {
  const gs_watch_t *watch = gs_device_watch(pm4->config.device);
  if (watch && watch->fence)
    watch->fence(watch->context, pm4->config.ordinal, GS_SCOPE_SYSTEM, GS_SCOPE_SYSTEM);
}

static gs_step_t run_acquire(gs_pm4_t *pm4, const command_t *command) {
  (void)command;
  tell_of_fence(pm4);
  if (!gs_vm_invalidate_code(gs_device_vm(pm4->config.device)))
    return GS_STEP_DONE;
  pm4_log(pm4, "%s", "out of host memory while invalidating instruction caches");
  return halt_with_hang(pm4);
}

/* Writes what a release asks for. Returns false after a fault. */
static bool write_release(gs_pm4_t *pm4, const command_t *command) {
  enum { SHIFT = 29, NOTHING = 0, LOW = 1, WHOLE = 2 };
  const unsigned wanted = command->word[2] >> SHIFT;
  const uint64_t value = wanted <= WHOLE ? address_at(command->word + 5) : gs_clock_ticks();
  const size_t size = wanted == LOW ? sizeof(uint32_t) : sizeof(uint64_t);
  if (wanted == NOTHING)
    return true;
  void *target = gs_bus_word_at(&pm4->bus, address_at(command->word + 3), size, GS_VM_WRITE);
  if (!target)
    return false;
  /* Releases what the commands before it wrote. */
  if (wanted == LOW)
    __atomic_store_n((uint32_t *)target, (uint32_t)value, __ATOMIC_RELEASE);
  else
    __atomic_store_n((uint64_t *)target, value, __ATOMIC_RELEASE);
  return true;
}

static gs_step_t run_release(gs_pm4_t *pm4, const command_t *command) {
  tell_of_fence(pm4);
  if (!write_release(pm4, command))
    return halt_with_bus_fault(pm4, "the destination of a release,");
  return GS_STEP_DONE;
}

static const struct {
  uint8_t opcode, least_dwords;
  command_function_t *run;
} command_table[] = {
    {0x10, 1, run_nop},
    {0x15, 5, run_dispatch},
    {0x37, 4, run_write},
    {0x3C, 7, run_wait},
    {0x3F, 4, run_indirect_buffer},
    {0x46, 2, run_nop}, /* an event: kernels are over when the next command begins */
    {0x49, 8, run_release},
    {0x58, 6, run_acquire},
    {0x76, 2, run_set_registers},
};

static command_function_t *find_command(uint32_t header, uint32_t dwords) {
  enum { TYPE_SHIFT = 30, FILLING = 2, OPCODE_SHIFT = 8 };
  if (header >> TYPE_SHIFT == FILLING)
    return run_nop;
  for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
    if (command_table[i].opcode == (header >> OPCODE_SHIFT & 0xFF))
      return dwords >= command_table[i].least_dwords ? command_table[i].run : NULL;
  return NULL;
}

static bool pm4_pending(const void *engine) {
  const gs_pm4_t *pm4 = engine;
  /* Acquires the commands: the host moves the write index after it wrote them. */
  return (__atomic_load_n(pm4->write_index, __ATOMIC_ACQUIRE) & pm4->mask) != read_index(pm4);
}

/* The next command, of which `left` dwords are there at most. Returns false when none begins there. */
static bool read_command(command_t *command, uint64_t left) {
  command->dwords = gs_pm4_dwords(word_at(command, 0));
  if (!command->dwords || command->dwords > left)
    return false;
  for (uint32_t i = 0; i < MOST_WORDS && i < command->dwords; i++)
    command->word[i] = word_at(command, i);
  return true;
}

/* Finds the next command, in the indirect buffer if there is one. Returns false after it stopped. */
static bool next_command(gs_pm4_t *pm4, command_t *command) {
  const uint64_t at = read_index(pm4);
  uint64_t left = (__atomic_load_n(pm4->write_index, __ATOMIC_ACQUIRE) - at) & pm4->mask;
  *command = (command_t){.base = pm4->ring, .at = at, .mask = pm4->mask};
  if (pm4->buffer_dwords) {
    const size_t bytes = pm4->buffer_dwords * sizeof *command->base;
    command->base = gs_bus_at(&pm4->bus, pm4->buffer, bytes, GS_VM_READ);
    if (!command->base) {
      halt_with_bus_fault(pm4, "the indirect buffer at");
      return false;
    }
    command->at = pm4->buffer_at;
    command->mask = UINT64_MAX;
    left = pm4->buffer_dwords - pm4->buffer_at;
  }
  if (read_command(command, left))
    return true;
  pm4_log(pm4, "0x%08x is not a command that fits into the %" PRIu64 " dwords that are left%s",
          word_at(command, 0), left, pm4->buffer_dwords ? " of an indirect buffer" : "");
  halt_with_hang(pm4);
  return false;
}

/* Goes on behind a command; what named an indirect buffer is over when that is. */
static void advance(gs_pm4_t *pm4, const command_t *command, bool in_buffer) {
  enum { JUMP_DWORDS = 4 };
  uint32_t dwords = command->dwords;
  if (in_buffer) {
    pm4->buffer_at += dwords;
    dwords = JUMP_DWORDS;
  }
  if (pm4->buffer_at < pm4->buffer_dwords)
    return;
  pm4->buffer_dwords = pm4->buffer_at = 0;
  /* Releases the space to the host. */
  __atomic_store_n((uint32_t *)pm4->read_index, (uint32_t)((read_index(pm4) + dwords) & pm4->mask),
                   __ATOMIC_RELEASE);
}

/* Behind the read index, as on a card, which has gone on long before what it executes has ended: who waits
 * for a command's event finds its place in the ring free. */
static void interrupt(const gs_pm4_t *pm4, const command_t *release) {
  enum { SHIFT = 24, ALONE = 1, WITH_DATA = 2, EVENT_ID = 0x7FFFFFF };
  const unsigned kind = release->word[2] >> SHIFT & 7;
  if (kind == ALONE || kind == WITH_DATA)
    pm4->config.ops->raise_event(pm4->config.ops->context, release->word[7] & EVENT_ID);
}

static gs_step_t pm4_step(void *engine) {
  gs_pm4_t *pm4 = engine;
  command_t command;
  if (pm4->halted)
    return GS_STEP_HALT;
  if (!pm4_pending(pm4))
    return GS_STEP_IDLE;
  gs_bus_enter(&pm4->bus);
  const bool in_buffer = pm4->buffer_dwords;
  if (!next_command(pm4, &command))
    return GS_STEP_HALT;
  command_function_t *run = find_command(command.word[0], command.dwords);
  if (!run) {
    pm4_log(pm4, "0x%08x is not a command that is simulated", command.word[0]);
    return halt_with_hang(pm4);
  }
  const gs_step_t step = run(pm4, &command);
  gs_bus_leave(&pm4->bus);
  if (step == GS_STEP_DONE) {
    advance(pm4, &command, in_buffer);
    if (run == run_release)
      interrupt(pm4, &command);
  }
  return step;
}

gs_pm4_t *gs_pm4_create(const gs_engine_config_t *config, const void *ring, uint64_t ring_bytes,
                        uint64_t *read_index, uint64_t *write_index) {
  gs_pm4_t *pm4 = calloc(1, sizeof *pm4);
  if (!pm4)
    return NULL;
  pm4->config = *config;
  pm4->ring = ring;
  pm4->mask = ring_bytes / sizeof *pm4->ring - 1;
  pm4->read_index = read_index;
  pm4->write_index = write_index;
  gs_bus_init(&pm4->bus, gs_device_vm(config->device));
  pm4->bus.no_atomics = config->no_atomics;
  return pm4;
}

static void pm4_destroy(void *engine) {
  gs_pm4_t *pm4 = engine;
  gs_bus_fini(&pm4->bus);
  free(pm4);
}

const gs_engine_ops_t gs_pm4_ops = {.step = pm4_step, .pending = pm4_pending, .destroy = pm4_destroy};
