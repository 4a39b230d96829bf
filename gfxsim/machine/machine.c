/* Making and destroying the machine, and what its GPUs report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "check/check.h"
#include "exec/guard.h"
#include "exec/source_line.h"
#include "machine/buffers.h"
#include "machine/machine.h"
#include "machine/process.h"

gs_gpu_t *gs_machine_gpu(gs_machine_t *machine, uint32_t node) {
  return node > GS_CPU_NODE && node <= machine->gpu_count ? &machine->gpu[node - 1] : NULL;
}

uint32_t gs_machine_nodes(const gs_machine_t *machine) {
  return machine->gpu_count + (machine->options.numa ? 2 : 1);
}

/* What GPUs report. Called from queue threads and workers. */

static void on_raise_event(void *context, uint32_t event_id) {
  gs_gpu_t *gpu = context;
  gs_cost_add(gpu->costs, GS_COST_INTERRUPT, 1);
  gs_events_raise(&gpu->machine->events, event_id);
}

static void on_send_interrupt(void *context, uint32_t event_id) {
  gs_gpu_t *gpu = context;
  gs_cost_add(gpu->costs, GS_COST_INTERRUPT, 1);
  /* A kernel sends 8 bits of the id only; the mailboxes tell which events it means. */
  (void)event_id;
  gs_events_raise_announced(&gpu->machine->events);
}

/* The driver takes all queues of the process off a GPU that reported a memory fault; until it comes to that,
 * other kernels go on. Called on the thread of a queue that has stopped, which may sleep. */
static void evict(gs_gpu_t *gpu) {
  enum { DELAY_MS = 100 };
  nanosleep(&(struct timespec){.tv_nsec = DELAY_MS * 1000000L}, NULL);
  gs_queues_evict(&gpu->machine->queues, gpu);
}

/* An unlucky program hears of a fault late, and by its page; and of the first one only, as from ROCr's
 * handler, which takes no second event. Returns false if it hears nothing. */
static bool blur_fault(gs_machine_t *machine, gs_fault_t *fault) {
  enum { SHORTEST_MS = 5, LONGEST_MS = 60 };
  if (!(machine->options.strict.kinds[GS_STRICT_DRIVER] & GS_DRIVER_FAULTS))
    return true;
  gs_random_t random = gs_random_of(machine->options.strict_seed, 0, fault->address);
  const uint32_t ms = SHORTEST_MS + gs_random_below(&random, LONGEST_MS - SHORTEST_MS);
  nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
  fault->address -= fault->address % GS_PAGE_BYTES;
  return !atomic_exchange(&machine->told_fault, true);
}

static void report_fault(gs_gpu_t *gpu, const gs_fault_t *exact, bool hang) {
  gs_fault_t blurred = exact ? *exact : (gs_fault_t){0};
  const gs_fault_t *fault = &blurred;
  if (blur_fault(gpu->machine, &blurred) &&
      !gs_events_memory_fault(&gpu->machine->events, gpu->node, fault, hang))
    gs_log("GPU %u: the program takes no memory fault events (HSA_ENABLE_INTERRUPT=0?): the queue has "
           "stopped, and what "
           "waits for it will wait for ever",
           gpu->ordinal);
  evict(gpu);
}

static void on_memory_fault(void *context, const gs_fault_t *fault) {
  report_fault(context, fault, false);
}

static void on_engine_hang(void *context) {
  report_fault(context, NULL, true);
}

/* Creation. */

/* With links:queues. A card serves some two dozen, which no test has. */
enum { QUEUES_AT_ONCE = 2 };

static int add_gpu(gs_machine_t *machine, const gs_part_t *part) {
  gs_gpu_t *gpu = &machine->gpu[machine->gpu_count];
  gpu->profile = part->profile;
  gpu->memory_bytes = part->memory_bytes;
  gpu->machine = machine;
  gpu->ordinal = machine->gpu_count;
  gpu->costs = machine->costs ? &machine->costs[1 + gpu->ordinal] : NULL;
  gpu->host_visible =
      machine->options.host_visible || (gs_machine_has_links(machine, GS_LINKS_MEMORY) && gpu->ordinal % 2);
  gpu->node = ++machine->gpu_count;
  gpu->gate = (gs_gate_t){
      .evicts = machine->options.strict.kinds[GS_STRICT_DRIVER] & GS_DRIVER_EVICT,
      .seed = machine->options.strict_seed,
      .most = gs_machine_has_links(machine, GS_LINKS_QUEUES) ? QUEUES_AT_ONCE : 0,
  };
  gpu->packet_ops = (gs_packet_ops_t){
      .context = gpu,
      .raise_event = on_raise_event,
      .memory_fault = on_memory_fault,
      .engine_hang = on_engine_hang,
  };
  const gs_device_ops_t ops = {.context = gpu,
                               .send_interrupt = on_send_interrupt,
                               .costs = gpu->costs,
                               .watch =
                                   machine->check && machine->check->tools ? &machine->check->watch : NULL};
  gpu->device = gs_device_create(gpu->profile, gpu->ordinal, &machine->options, &ops);
  if (!gpu->device)
    gs_log("GPU %u (%s): out of host memory", gpu->ordinal, gpu->profile->name);
  return gpu->device ? 0 : -1;
}

bool gs_machine_has_links(const gs_machine_t *machine, uint32_t kind) {
  return machine->options.strict.kinds[GS_STRICT_LINKS] & kind;
}

/* What strictness says of the machine in other words. */
static void apply_links(gs_machine_t *machine) {
  if (gs_machine_has_links(machine, GS_LINKS_ATOMICS))
    machine->options.pcie_atomics = false;
  if (gs_machine_has_links(machine, GS_LINKS_NUMA))
    machine->options.numa = true;
}

/* The driver's thunk lets GPUs pass for others; ours are what they are. */
static void report_foreign_options(void) {
  if (getenv("HSA_OVERRIDE_GFX_VERSION"))
    gs_log("HSA_OVERRIDE_GFX_VERSION has no effect: GFXSIM_DEVICES says which devices there are");
}

static int add_gpus(gs_machine_t *machine) {
  gs_part_t parts[GS_MOST_GPUS];
  char reason[GS_PARTS_REASON_BYTES];
  const int count = gs_parts_parse(machine->options.devices, parts, reason);
  if (count < 0)
    gs_log("GFXSIM_DEVICES: %s", reason);
  for (int i = 0; i < count; i++)
    if (add_gpu(machine, &parts[i]))
      return -1;
  return count < 0 ? -1 : 0;
}

/* The doorbells want more alignment than mmap promises; and nothing comes to lie right behind what all GPUs
 * may access. */
static gs_shared_pages_t *shared_create(void) {
  enum { ALIGNMENT = sizeof((gs_shared_pages_t *)NULL)->doorbell };
  void *pages = gs_map_with_gap(sizeof(gs_shared_pages_t), ALIGNMENT, PROT_READ | PROT_WRITE);
  return pages == MAP_FAILED ? NULL : pages;
}
_Static_assert(sizeof(gs_shared_pages_t) % GS_PAGE_BYTES == 0, "whole pages are mapped for the GPUs");

/* Kernels ring doorbells and announce events like the host. */
static int shared_map(gs_machine_t *machine) {
  const gs_vm_range_t range = {
      .start = (uintptr_t)machine->shared,
      .end = (uintptr_t)machine->shared + sizeof *machine->shared,
      .host = (uint8_t *)machine->shared,
      .allocation = (uintptr_t)machine->shared,
      .allocation_size = sizeof *machine->shared,
      .access = GS_VM_READ | GS_VM_WRITE,
  };
  for (uint32_t i = 0; i < machine->gpu_count; i++)
    if (gs_vm_map(gs_device_vm(machine->gpu[i].device), &range))
      return -1;
  return 0;
}

/* A host thread stored to a doorbell. */
static bool on_doorbell(void) {
  gs_machine_t *machine = gs_machine_current();
  if (machine)
    gs_synchronous_run(machine->synchronous);
  return machine != NULL;
}

/* When kernels are not executed, and a run shall repeat, doorbells are read-only pages: the fault of a store
 * to one is how its queue is processed in the storing thread. Returns -1 when out of memory. */
static int synchronous_start(gs_machine_t *machine) {
  if (machine->options.execute || !machine->options.deterministic)
    return 0;
  gs_synchronous_t *synchronous = gs_synchronous_create();
  if (!synchronous)
    return -1;
  const gs_doorbells_t *first = &machine->doorbells[0];
  if (!gs_guard_watch(first->start, first->size, on_doorbell) ||
      mprotect(first->start, first->size, PROT_READ)) {
    gs_log("GFXSIM_DETERMINISTIC=1: packets can't be processed in the calls that submit them on this host; "
           "queues have threads");
    gs_synchronous_destroy(synchronous);
    return 0;
  }
  machine->synchronous = synchronous;
  return 0;
}

static void list_doorbells(gs_machine_t *machine, void *start, size_t size) {
  machine->doorbells[machine->doorbells_count++] = (gs_doorbells_t){start, size};
}

void gs_machine_add_doorbells(gs_machine_t *machine, void *start, size_t size) {
  pthread_mutex_lock(&machine->queues.lock);
  bool known = false;
  for (uint32_t i = 0; i < machine->doorbells_count; i++)
    known |= machine->doorbells[i].start == start;
  const bool room = known || machine->doorbells_count < GS_MOST_DOORBELLS;
  if (!known && room)
    list_doorbells(machine, start, size);
  const bool watched = !machine->synchronous || known || (room && gs_guard_watch_also(start, size));
  if (machine->synchronous && (!watched || mprotect(start, size, PROT_READ)))
    gs_log("doorbells at %p cannot be watched: what is submitted there waits until the program waits", start);
  pthread_mutex_unlock(&machine->queues.lock);
}

void gs_machine_remove_doorbells(gs_machine_t *machine, const void *start) {
  pthread_mutex_lock(&machine->queues.lock);
  for (uint32_t i = 1; i < machine->doorbells_count; i++)
    if (machine->doorbells[i].start == start)
      machine->doorbells[i--] = machine->doorbells[--machine->doorbells_count];
  pthread_mutex_unlock(&machine->queues.lock);
}

/* Behind the devices' own tables. */
void gs_machine_print_costs(gs_machine_t *machine) {
  for (uint32_t i = 0; machine->costs && i < machine->gpu_count; i++) {
    char title[64];
    snprintf(title, sizeof title, "GPU %u (%s)", i, machine->gpu[i].profile->name);
    gs_costs_print(machine->gpu[i].costs, machine->gpu[i].profile->link, title, stderr);
  }
  if (machine->costs && machine->gpu_count)
    gs_costs_print(machine->costs, machine->gpu[0].profile->link, "the driver", stderr);
}

gs_machine_t *gs_machine_create(void) {
  gs_machine_t *machine = calloc(1, sizeof *machine);
  if (!machine)
    return NULL;
  gs_options_load(&machine->options);
  apply_links(machine);
  report_foreign_options();
  if (gs_process_check(&machine->options, &machine->check))
    goto failed;
  /* For the report of a fault, in which nobody may ask the dynamic linker any more. Code that is not executed
   * has none. */
  if (machine->options.execute || machine->check)
    gs_source_line_prepare();
  if (machine->check)
    gs_check_prepare();
  machine->costs = machine->options.stats ? calloc(1 + GS_MOST_GPUS, sizeof *machine->costs) : NULL;
  if (add_gpus(machine))
    goto failed;
  gs_svm_init(&machine->svm, machine);
  machine->shared = shared_create();
  machine->poller = gs_poller_create();
  if (machine->shared)
    list_doorbells(machine, machine->shared->doorbell, sizeof machine->shared->doorbell);
  if (!machine->shared || !machine->poller || shared_map(machine) ||
      gs_events_init(&machine->events, machine->shared->mailbox, GS_MOST_EVENTS) ||
      gs_memory_init(&machine->memory, machine) ||
      gs_queues_init(&machine->queues, machine, GS_MOST_QUEUES) || synchronous_start(machine)) {
    gs_log("out of host memory");
    goto failed;
  }
  return machine;
failed:
  gs_machine_destroy(machine);
  return NULL;
}

void gs_machine_destroy(gs_machine_t *machine) {
  if (!machine)
    return;
  gs_queues_fini(&machine->queues);
  if (machine->synchronous)
    gs_guard_unwatch();
  gs_synchronous_destroy(machine->synchronous);
  gs_poller_destroy(machine->poller);
  for (uint32_t i = 0; i < machine->gpu_count; i++)
    gs_device_destroy(machine->gpu[i].device);
  gs_machine_print_costs(machine);
  gs_svm_fini(&machine->svm);
  gs_memory_fini(&machine->memory);
  gs_events_fini(&machine->events);
  if (machine->shared)
    munmap(machine->shared, sizeof *machine->shared + GS_GAP_BYTES);
  free(machine->costs);
  free(machine);
}

HSAKMT_STATUS gs_machine_wait(gs_machine_t *machine, const uint32_t *list, uint32_t count, bool all,
                              uint32_t milliseconds, uint64_t *ages) {
  /* Whoever goes to sleep has often just submitted the work that it waits for. */
  gs_poller_kick(machine->poller);
  gs_synchronous_run(machine->synchronous);
  bool slept = false;
  gs_cost_add(machine->costs, GS_COST_WAIT, 1);
  const HSAKMT_STATUS status = gs_events_wait(&machine->events, list, count, all, milliseconds, ages, &slept);
  gs_cost_add(machine->costs, GS_COST_SLEEP, slept);
  return status;
}

/* Counters of a GPU never repeat: ROCr divides by the difference of two samples. */
static uint64_t next_clock(gs_machine_t *machine, uint64_t ticks) {
  uint64_t last = atomic_load_explicit(&machine->last_clock, memory_order_relaxed);
  uint64_t next;
  do
    next = ticks > last ? ticks : last + 1;
  while (!atomic_compare_exchange_weak_explicit(&machine->last_clock, &last, next, memory_order_relaxed,
                                                memory_order_relaxed));
  return next;
}

void gs_machine_counters(gs_machine_t *machine, uint64_t *gpu, uint64_t *system) {
  /* One reading for both: ROCr takes the clocks' ratio from two samples, and what goes by between two
   * readings of ours, a whole time slice now and then, would be an error of it. */
  *system = gs_clock_nanoseconds();
  *gpu = next_clock(machine, gs_clock_ticks_at(*system));
}

HSAKMT_STATUS gs_machine_set_xnack(gs_machine_t *machine, bool on) {
  if (gs_queues_any(&machine->queues))
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  /* One mode for the whole process, so all GPUs must have it (kfd_process.c, kfd_process_xnack_mode). */
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (!on || machine->gpu[i].profile->xnack)
      continue;
    /* ROCr goes on without a word. */
    gs_log(
        "HSA_XNACK=1 has no effect: GPU %u (%s) has no XNACK that a process can choose, as all devices must; "
        "kernels reach no unmapped memory of the program",
        i, machine->gpu[i].profile->name);
    return HSAKMT_STATUS_NOT_SUPPORTED;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++)
    if (gs_vm_share_host(gs_device_vm(machine->gpu[i].device), on))
      return HSAKMT_STATUS_NO_MEMORY;
  atomic_store(&machine->xnack, on);
  return HSAKMT_STATUS_SUCCESS;
}
