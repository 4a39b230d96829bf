/* The DMA engine: one row per command, one short function for what it does. */
#include "packet/sdma.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "isa/watch.h"
#include "packet/signal.h"

/* Copies check between blocks whether the address space changed or the queue is being destroyed: whoever
 * frees memory waits for a block, some milliseconds. Smaller ones would keep the C library's memcpy from what
 * it does with copies that the caches do not hold, to write past them. */
#define BLOCK_BYTES (UINT64_C(64) << 20)

enum { LINEAR_DWORDS = 7 };

struct gs_sdma {
  gs_engine_config_t config;
  gs_bus_t bus;
  const uint32_t *ring;
  uint64_t mask;         /* of an index in dwords: its place in the ring */
  uint64_t *read_index;  /* in bytes, written here and read by the host */
  uint64_t *write_index; /* in bytes, written by the host */
  /* Dwords from the read index on: what was submitted, and what the step that is being made completes. */
  uint64_t available, taken;
  bool halted;
  bool counted; /* the copy in hand: what it is made of ends by a signal */
};

/* Prints "GPU 0 (gfx90a), queue 3, SDMA command at byte 0x40: <what>". */
#define sdma_log(sdma, format, ...)                                                                          \
  gs_log("GPU %u (%s), queue %u, SDMA command at byte 0x%" PRIx64 ": " format, (sdma)->config.ordinal,       \
         gs_device_profile((sdma)->config.device)->name, (sdma)->config.queue, sdma_read_index(sdma),        \
         __VA_ARGS__)

static uint64_t sdma_read_index(const gs_sdma_t *sdma) {
  /* Only this engine writes it. */
  return __atomic_load_n(sdma->read_index, __ATOMIC_RELAXED);
}

/* Copies the command at `index` out of the ring, as far as it is one that has to be looked at. */
static void read_command(const gs_sdma_t *sdma, uint64_t index, size_t dwords, uint32_t *command) {
  for (size_t i = 0; i < dwords; i++)
    command[i] = sdma->ring[(index / 4 + i) & sdma->mask];
}

static gs_step_t halt(gs_sdma_t *sdma) {
  gs_bus_leave(&sdma->bus);
  sdma->halted = true;
  return GS_STEP_HALT;
}

/* Stops after a failed access (see bus.fault). */
static gs_step_t halt_with_fault(gs_sdma_t *sdma, const char *what) {
  const gs_fault_t fault = sdma->bus.fault;
  sdma_log(sdma, "memory fault: %s 0x%" PRIx64 " is not %s for this GPU", what, fault.address,
           fault.not_present ? "mapped" : "accessible");
  const gs_step_t step = halt(sdma);
  sdma->config.ops->memory_fault(sdma->config.ops->context, &fault);
  return step;
}

static gs_step_t halt_with_hang(gs_sdma_t *sdma) {
  const gs_step_t step = halt(sdma);
  sdma->config.ops->engine_hang(sdma->config.ops->context);
  return step;
}

static uint64_t address_at(const uint32_t *dwords) {
  return dwords[0] | (uint64_t)dwords[1] << 32;
}

static bool stopped(const gs_sdma_t *sdma) {
  return atomic_load_explicit(sdma->config.stop, memory_order_relaxed);
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* One side of a transfer: its address for the GPU, and in this process. */
typedef struct side {
  uint64_t address;
  uint8_t *host;
} side_t;

/* Stops after the host had no memory that allowed the access: `failed` is one of the `size` bytes on either
 * side. */
static gs_step_t halt_with_lost_memory(gs_sdma_t *sdma, uint64_t failed, side_t from, side_t to,
                                       uint64_t size) {
  const bool writing = failed - (uintptr_t)to.host < size;
  const side_t *side = writing ? &to : &from;
  const gs_fault_t fault = {
      .address = side->address + (failed - (uintptr_t)side->host),
      .access = writing ? GS_VM_WRITE : GS_VM_READ,
      .not_present = true,
  };
  sdma_log(sdma, "memory fault: %s at 0x%" PRIx64 ", %s", writing ? "write" : "read", fault.address,
           gs_vm_find_mapped(sdma->bus.map, fault.address)
               ? "which the program has unmapped"
               : "where the program itself has no memory that allows it");
  const gs_step_t step = halt(sdma);
  sdma->config.ops->memory_fault(sdma->config.ops->context, &fault);
  return step;
}

/* Copies `bytes` between addresses of the GPU, across mappings, from the first to the last. */
static gs_step_t copy_in_order(gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  while (bytes) {
    if (stopped(sdma))
      return halt(sdma);
    uint64_t size = smaller(bytes, BLOCK_BYTES);
    uint64_t failed = 0;
    gs_bus_enter(&sdma->bus);
    uint8_t *source = gs_bus_span(&sdma->bus, from, size, GS_VM_READ, &size);
    if (!source)
      return halt_with_fault(sdma, "the source of a copy,");
    uint8_t *target = gs_bus_span(&sdma->bus, to, size, GS_VM_WRITE, &size);
    if (!target)
      return halt_with_fault(sdma, "the destination of a copy,");
    if (!gs_bus_move(target, source, size, &failed))
      return halt_with_lost_memory(sdma, failed, (side_t){from, source}, (side_t){to, target}, size);
    from += size;
    to += size;
    bytes -= size;
  }
  return GS_STEP_DONE;
}

/* Writes something to a destination that nothing is known of before the signal. */
static gs_step_t write_garbage(gs_sdma_t *sdma, uint64_t to, uint64_t bytes) {
  uint32_t garbage[1024];
  gs_poison_fill(GS_POISON_RANDOM, &sdma->bus.late.random, garbage, sizeof garbage);
  while (bytes) {
    uint64_t size = smaller(bytes, sizeof garbage);
    uint64_t failed = 0;
    gs_bus_enter(&sdma->bus);
    uint8_t *target = gs_bus_span(&sdma->bus, to, size, GS_VM_WRITE, &size);
    if (!target)
      return halt_with_fault(sdma, "the destination of a copy,");
    if (!gs_bus_move(target, garbage, size, &failed))
      return halt_with_lost_memory(sdma, failed, (side_t){0, NULL}, (side_t){to, target}, size);
    to += size;
    bytes -= size;
  }
  return GS_STEP_DONE;
}

/* Garbage first, then the bytes in blocks of any order, which do not depend on each other. */
static gs_step_t copy_in_any_order(gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  enum { BLOCKS = 16 };
  gs_random_t *random = &sdma->bus.late.random;
  const uint32_t first = gs_random_below(random, BLOCKS), stride = 2 * gs_random_below(random, BLOCKS) + 1;
  const uint32_t pause = gs_random_below(random, BLOCKS);
  const uint64_t block = (bytes + BLOCKS - 1) / BLOCKS;
  gs_step_t step = write_garbage(sdma, to, bytes);
  gs_late_perhaps(&sdma->bus.late, GS_ORDER_COPIES);
  for (uint32_t i = 0; i < BLOCKS && step == GS_STEP_DONE; i++) {
    const uint64_t offset = (first + i * stride) % BLOCKS * block;
    if (i == pause)
      gs_late_perhaps(&sdma->bus.late, GS_ORDER_COPIES);
    if (offset < bytes)
      step = copy_in_order(sdma, from + offset, to + offset, smaller(block, bytes - offset));
  }
  return step;
}

/* Tells who watches of a copy or, from 0, a fill, if anybody does. */
static void *tell_of_copy(gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  const gs_watch_t *watch = gs_device_watch(sdma->config.device);
  if (!watch || !watch->copy_begins)
    return NULL;
  const gs_copy_t copy = {
      .gpu = sdma->config.ordinal, .from = from, .to = to, .bytes = bytes, .map = sdma->bus.map};
  return watch->copy_begins(watch->context, &copy);
}

static void tell_of_end(gs_sdma_t *sdma, void *told) {
  const gs_watch_t *watch = gs_device_watch(sdma->config.device);
  if (told)
    watch->copy_ends(watch->context, told);
}

/* Counts commands of a copy or a fill; the first behind a signal begins one. */
static void count(gs_sdma_t *sdma, uint64_t commands) {
  gs_cost_add(sdma->config.costs, GS_COST_DMA_COMMAND, commands);
  gs_cost_add(sdma->config.costs, GS_COST_DMA, !sdma->counted);
  sdma->counted = true;
}

/* The host is told of the copy in hand: by an atomic operation, or, where the link has none, by a fence. */
static void count_end(gs_sdma_t *sdma) {
  gs_cost_add(sdma->config.costs, GS_COST_SIGNAL, sdma->counted);
  sdma->counted = false;
}

static void count_bytes(const gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  if (!sdma->config.costs)
    return;
  const gs_vm_range_t *source = gs_vm_find(sdma->bus.map, from), *target = gs_vm_find(sdma->bus.map, to);
  const bool from_host = source && source->kind == GS_VM_HOST, to_host = target && target->kind == GS_VM_HOST;
  gs_cost_add(sdma->config.costs,
              from_host == to_host ? GS_COST_WITHIN
              : to_host            ? GS_COST_FROM_DEVICE
                                   : GS_COST_TO_DEVICE,
              bytes);
}

static gs_step_t copy(gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  const bool separate = from < to ? to - from >= bytes : from - to >= bytes;
  count_bytes(sdma, from, to, bytes);
  return separate && gs_late_chance(&sdma->bus.late, GS_ORDER_COPIES, 2)
             ? copy_in_any_order(sdma, from, to, bytes)
             : copy_in_order(sdma, from, to, bytes);
}

static gs_step_t run_nop(gs_sdma_t *sdma, const uint32_t *command) {
  (void)sdma;
  (void)command;
  return GS_STEP_DONE;
}

/* The parts of a linear copy. */
typedef struct linear {
  uint64_t from, to, bytes;
} linear_t;

static linear_t decode_linear(const uint32_t *command) {
  /* The field of the size has 22 bits on the first parts and 30 on later ones; the upper bits are zero where
   * they do not exist. */
  return (linear_t){address_at(command + 3), address_at(command + 5),
                    (uint64_t)(command[1] & 0x3FFFFFFF) + 1};
}

/* Adds the commands behind this one that go on where it ends: the host cuts large copies into pieces of 4
 * MiB. Not if one end then reaches into the other, since what is copied depends on the pieces there. */
static linear_t join_linear(gs_sdma_t *sdma, const uint32_t *command) {
  linear_t all = decode_linear(command);
  const uint64_t distance = all.from < all.to ? all.to - all.from : all.from - all.to;
  uint32_t next[LINEAR_DWORDS];
  while (sdma->available >= sdma->taken + LINEAR_DWORDS && all.bytes < BLOCK_BYTES) {
    read_command(sdma, sdma_read_index(sdma) + 4 * sdma->taken, LINEAR_DWORDS, next);
    const linear_t piece = decode_linear(next);
    if (next[0] != command[0] || piece.from != all.from + all.bytes || piece.to != all.to + all.bytes ||
        distance < all.bytes + piece.bytes)
      break;
    all.bytes += piece.bytes;
    sdma->taken += LINEAR_DWORDS;
  }
  return all;
}

/* The bytes arrive at the end of it. */
static void take_time(gs_sdma_t *sdma) {
  if (!sdma->config.copy_us)
    return;
  gs_bus_leave(&sdma->bus);
  gs_clock_wait_until(gs_clock_nanoseconds() + UINT64_C(1000) * sdma->config.copy_us, sdma->config.stop);
  gs_bus_enter(&sdma->bus);
}

static gs_step_t halt_with_misfit(gs_sdma_t *sdma, uint32_t header) {
  sdma_log(sdma, "0x%08x is not a command that fits into the %" PRIu64 " submitted dwords", header,
           sdma->available);
  return halt_with_hang(sdma);
}

/* A copy to two places: the second stands behind the first. */
static gs_step_t run_broadcast(gs_sdma_t *sdma, const uint32_t *command) {
  enum { SECOND_DWORDS = 2 };
  linear_t linear = decode_linear(command);
  uint32_t second[SECOND_DWORDS];
  if (sdma->available < LINEAR_DWORDS + SECOND_DWORDS)
    return halt_with_misfit(sdma, command[0]);
  read_command(sdma, sdma_read_index(sdma) + 4 * sdma->taken, SECOND_DWORDS, second);
  sdma->taken += SECOND_DWORDS;
  count(sdma, 1);
  for (int i = 0; i < 2; i++) {
    void *told = tell_of_copy(sdma, linear.from, linear.to, linear.bytes);
    const gs_step_t step = copy(sdma, linear.from, linear.to, linear.bytes);
    tell_of_end(sdma, told);
    if (step != GS_STEP_DONE)
      return step;
    linear.to = address_at(second);
  }
  return GS_STEP_DONE;
}

static gs_step_t run_copy_linear(gs_sdma_t *sdma, const uint32_t *command) {
  enum { BROADCAST = 1 << 27 };
  if (command[0] & BROADCAST)
    return run_broadcast(sdma, command);
  const linear_t all = join_linear(sdma, command);
  count(sdma, sdma->taken / LINEAR_DWORDS);
  void *told = tell_of_copy(sdma, all.from, all.to, all.bytes);
  take_time(sdma);
  const gs_step_t step = copy(sdma, all.from, all.to, all.bytes);
  tell_of_end(sdma, told);
  return step;
}

static struct gs_sdma_rect_side decode_rect_side(const uint32_t *dwords) {
  return (struct gs_sdma_rect_side){
      .base = address_at(dwords),
      .x = dwords[2] & 0x3FFF,
      .y = dwords[2] >> 16 & 0x3FFF,
      .z = dwords[3] & 0x7FF,
      .pitch = (dwords[3] >> 13) + 1,
      .slice = (dwords[4] & 0xFFFFFFF) + 1,
  };
}

gs_sdma_rect_t gs_sdma_decode_rect(const uint32_t *command) {
  return (gs_sdma_rect_t){
      .from = decode_rect_side(command + 1),
      .to = decode_rect_side(command + 6),
      .width = (command[11] & 0x3FFF) + 1,
      .height = (command[11] >> 16 & 0x3FFF) + 1,
      .depth = (command[12] & 0x7FF) + 1,
      .element_bytes = 1U << (command[0] >> 29),
  };
}

/* Address of the first element of row `y` in slice `z` of the rectangle. */
static uint64_t row_address(const struct gs_sdma_rect_side *side, uint32_t y, uint32_t z,
                            uint32_t element_bytes) {
  const uint64_t elements =
      side->x + (uint64_t)(side->y + y) * side->pitch + (uint64_t)(side->z + z) * side->slice;
  return side->base + elements * element_bytes;
}

/* Row by row: what is between the rows is not the copy's. */
static gs_step_t copy_row(gs_sdma_t *sdma, uint64_t from, uint64_t to, uint64_t bytes) {
  void *told = tell_of_copy(sdma, from, to, bytes);
  const gs_step_t step = copy(sdma, from, to, bytes);
  tell_of_end(sdma, told);
  return step;
}

static gs_step_t run_copy_rect(gs_sdma_t *sdma, const uint32_t *command) {
  take_time(sdma);
  const gs_sdma_rect_t rect = gs_sdma_decode_rect(command);
  count(sdma, 1);
  for (uint32_t z = 0; z < rect.depth; z++) {
    for (uint32_t y = 0; y < rect.height; y++) {
      const gs_step_t step = copy_row(sdma, row_address(&rect.from, y, z, rect.element_bytes),
                                      row_address(&rect.to, y, z, rect.element_bytes),
                                      (uint64_t)rect.width * rect.element_bytes);
      if (step != GS_STEP_DONE)
        return step;
    }
  }
  return GS_STEP_DONE;
}

static gs_step_t run_fill(gs_sdma_t *sdma, const uint32_t *command) {
  enum { FILL_BYTES = 0, FILL_DWORDS = 2, PATTERN_DWORDS = 1024, BYTE = 0xFF, REPEAT = 0x01010101 };
  const unsigned kind = command[0] >> 30;
  if (kind != FILL_DWORDS && kind != FILL_BYTES) {
    sdma_log(sdma, "a fill with elements of size code %u is not supported", kind);
    return halt_with_hang(sdma);
  }
  uint32_t pattern[PATTERN_DWORDS];
  for (unsigned i = 0; i < PATTERN_DWORDS; i++)
    pattern[i] = kind == FILL_DWORDS ? command[3] : (command[3] & BYTE) * REPEAT;
  uint64_t to = address_at(command + 1);
  uint64_t bytes =
      kind == FILL_DWORDS ? (uint64_t)(command[4] & 0x3FFFFFFC) + 4 : (uint64_t)(command[4] & 0x3FFFFFFF) + 1;
  count(sdma, 1);
  tell_of_end(sdma, tell_of_copy(sdma, 0, to, bytes));
  while (bytes) {
    if (stopped(sdma))
      return halt(sdma);
    uint64_t size = smaller(bytes, sizeof pattern);
    uint64_t failed = 0;
    gs_bus_enter(&sdma->bus);
    uint8_t *target = gs_bus_span(&sdma->bus, to, size, GS_VM_WRITE, &size);
    if (!target)
      return halt_with_fault(sdma, "the destination of a fill,");
    if (!gs_bus_move(target, pattern, size, &failed))
      return halt_with_lost_memory(sdma, failed, (side_t){0, NULL}, (side_t){to, target}, size);
    to += size;
    bytes -= size;
  }
  return GS_STEP_DONE;
}

/* Data that stand in the ring, behind the command. */
static gs_step_t run_write(gs_sdma_t *sdma, const uint32_t *command) {
  const uint32_t dwords = (command[3] & 0xFFFFF) + 1;
  uint64_t from = sdma_read_index(sdma) + 4 * sdma->taken, to = address_at(command + 1);
  if (dwords > sdma->available - sdma->taken)
    return halt_with_misfit(sdma, command[0]);
  sdma->taken += dwords;
  for (uint32_t i = 0; i < dwords; i++, from += 4, to += 4) {
    uint32_t *target = gs_bus_word_at(&sdma->bus, to, sizeof *target, GS_VM_WRITE);
    if (!target)
      return halt_with_fault(sdma, "the destination of a write,");
    uint32_t word;
    read_command(sdma, from, 1, &word);
    __atomic_store_n(target, word, __ATOMIC_RELEASE);
  }
  return GS_STEP_DONE;
}

static gs_step_t run_fence(gs_sdma_t *sdma, const uint32_t *command) {
  uint32_t *target = gs_bus_word_at(&sdma->bus, address_at(command + 1), sizeof *target, GS_VM_WRITE);
  if (!target)
    return halt_with_fault(sdma, "the address of a fence,");
  count_end(sdma);
  gs_late_perhaps(&sdma->bus.late, GS_ORDER_EVENTS); /* it writes the mailbox of the event */
  /* Releases what the commands before it wrote. */
  __atomic_store_n(target, command[3], __ATOMIC_RELEASE);
  return GS_STEP_DONE;
}

static gs_step_t run_trap(gs_sdma_t *sdma, const uint32_t *command) {
  gs_bus_leave(&sdma->bus);
  sdma->config.ops->raise_event(sdma->config.ops->context, command[1] & 0xFFFFFFF);
  return GS_STEP_DONE;
}

static gs_step_t run_poll(gs_sdma_t *sdma, const uint32_t *command) {
  const bool of_memory = command[0] >> 31;
  /* The other form polls a register after it flushed the host data path: nothing to wait for here. */
  if (!of_memory)
    return GS_STEP_DONE;
  const uint32_t *target = gs_bus_word_at(&sdma->bus, address_at(command + 1), sizeof *target, GS_VM_READ);
  if (!target)
    return halt_with_fault(sdma, "the address of a poll,");
  /* Acquires what the writer of the value did before: the commands that follow depend on it. */
  const uint32_t value = __atomic_load_n(target, __ATOMIC_ACQUIRE) & command[4];
  return gs_poll_holds(value, command[0] >> 28 & 7, command[3]) ? GS_STEP_DONE : GS_STEP_WAIT;
}

static gs_step_t run_atomic(gs_sdma_t *sdma, const uint32_t *command) {
  enum { ADD64 = 47 };
  if (command[0] >> 25 != ADD64) {
    sdma_log(sdma, "atomic operation %u is not supported", command[0] >> 25);
    return halt_with_hang(sdma);
  }
  uint64_t *target =
      gs_bus_word_at(&sdma->bus, address_at(command + 1), sizeof *target, GS_VM_READ | GS_VM_WRITE);
  if (!target)
    return halt_with_fault(sdma, "the address of an atomic operation,");
  count_end(sdma);
  /* Releases what the commands before it wrote: this is how a copy completes its signal. */
  gs_signal_add(&sdma->bus, (int64_t *)target, (int64_t)address_at(command + 3));
  return GS_STEP_DONE;
}

static gs_step_t run_timestamp(gs_sdma_t *sdma, const uint32_t *command) {
  uint64_t *target = gs_bus_at(&sdma->bus, address_at(command + 1), sizeof *target, GS_VM_WRITE);
  if (!target)
    return halt_with_fault(sdma, "the address of a time stamp,");
  const uint64_t ticks = gs_clock_ticks();
  memcpy(target, &ticks, sizeof ticks);
  return GS_STEP_DONE;
}

/* One command: DONE = finished. Called with the bus entered. */
typedef struct command_row {
  uint8_t op, sub_op;
  uint8_t dwords;
  gs_step_t (*run)(gs_sdma_t *sdma, const uint32_t *command);
} command_row_t;

static const command_row_t command_table[] = {
    {0, 0, 1, run_nop},        {1, 0, LINEAR_DWORDS, run_copy_linear},
    {1, 4, 13, run_copy_rect}, {2, 0, 4, run_write},
    {5, 0, 4, run_fence},      {6, 0, 2, run_trap},
    {8, 0, 6, run_poll},       {10, 0, 8, run_atomic},
    {11, 0, 5, run_fill},      {13, 2, 3, run_timestamp},
    {17, 1, 5, run_nop}, /* cache control of gfx10 and later */
};

static const command_row_t *find_row(uint32_t header) {
  for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
    if (command_table[i].op == (header & 0xFF) && command_table[i].sub_op == (header >> 8 & 0xFF))
      return &command_table[i];
  return NULL;
}

size_t gs_sdma_length(uint32_t header) {
  const command_row_t *row = find_row(header);
  if (!row)
    return 0;
  const size_t padding = row->op == 0 ? header >> 16 & 0x3FFF : 0;
  return row->dwords + padding;
}

static bool sdma_pending(const void *engine) {
  const gs_sdma_t *sdma = engine;
  /* Acquires the commands: the host moves the write index after it wrote them. */
  return __atomic_load_n(sdma->write_index, __ATOMIC_ACQUIRE) != sdma_read_index(sdma);
}

static gs_step_t sdma_step(void *engine) {
  gs_sdma_t *sdma = engine;
  if (sdma->halted)
    return GS_STEP_HALT;
  if (!sdma_pending(sdma))
    return GS_STEP_IDLE;
  const uint64_t index = sdma_read_index(sdma);
  sdma->available = (__atomic_load_n(sdma->write_index, __ATOMIC_RELAXED) - index) / 4;
  uint32_t command[GS_SDMA_MOST_DWORDS];
  read_command(sdma, index, 1, command);
  const command_row_t *row = find_row(command[0]);
  const size_t length = gs_sdma_length(command[0]);
  if (!row || length > sdma->available)
    return halt_with_misfit(sdma, command[0]);
  sdma->taken = length;
  read_command(sdma, index, row->dwords, command);
  gs_late_perhaps(&sdma->bus.late, GS_ORDER_LATE);
  gs_bus_enter(&sdma->bus);
  const gs_step_t step = row->run(sdma, command);
  gs_bus_leave(&sdma->bus);
  if (step == GS_STEP_DONE)
    /* Releases the space to the host. */
    __atomic_store_n(sdma->read_index, index + sdma->taken * 4, __ATOMIC_RELEASE);
  return step;
}

gs_sdma_t *gs_sdma_create(const gs_engine_config_t *config, void *ring, uint64_t ring_bytes,
                          uint64_t *read_index, uint64_t *write_index) {
  gs_sdma_t *sdma = calloc(1, sizeof *sdma);
  if (!sdma)
    return NULL;
  sdma->config = *config;
  sdma->ring = ring;
  sdma->mask = ring_bytes / 4 - 1;
  sdma->read_index = read_index;
  sdma->write_index = write_index;
  gs_bus_init(&sdma->bus, gs_device_vm(config->device));
  sdma->bus.no_atomics = config->no_atomics;
  sdma->bus.late = (gs_late_t){config->order, gs_random_of(config->seed, config->ordinal, config->queue)};
  return sdma;
}

static void sdma_destroy(void *engine) {
  gs_sdma_t *sdma = engine;
  gs_bus_fini(&sdma->bus);
  free(sdma);
}

const gs_engine_ops_t gs_sdma_ops = {.step = sdma_step, .pending = sdma_pending, .destroy = sdma_destroy};
