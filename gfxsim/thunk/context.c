/* Opening and closing of the library, the one context object, and the functions about the driver as a whole.
 */
#include <pthread.h>
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
#include "thunk/thunk.h"

/* The interface version that we speak: late enough for everything that ROCr 5.2 and 6.1 need, early enough
 * that they do not expect event ages (1.14) and memory management through libdrm (1.15). */
enum { KFD_MAJOR = 1, KFD_MINOR = 11 };

/* The process's library object. A test can make contexts of its own. */
static struct {
  pthread_mutex_t lock; /* of opening and closing */
  _Atomic(gs_thunk_t *) current;
  unsigned references;
  bool watches_fork;
  gs_check_t *check; /* made by the first machine that wants one; stays until the process ends */
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

gs_thunk_t *gs_thunk_current(void) {
  /* Acquires the context that OpenKFD published. */
  return atomic_load_explicit(&library.current, memory_order_acquire);
}

gs_gpu_t *gs_thunk_gpu(gs_thunk_t *thunk, uint32_t node) {
  return node > GS_CPU_NODE && node <= thunk->gpu_count ? &thunk->gpu[node - 1] : NULL;
}

uint32_t gs_thunk_nodes(const gs_thunk_t *thunk) {
  return thunk->gpu_count + (thunk->options.numa ? 2 : 1);
}

/* What GPUs report. Called from queue threads and workers. */

static void on_raise_event(void *context, uint32_t event_id) {
  gs_gpu_t *gpu = context;
  gs_events_raise(&gpu->thunk->events, event_id);
}

static void on_send_interrupt(void *context, uint32_t event_id) {
  gs_gpu_t *gpu = context;
  /* A kernel sends 8 bits of the id only; the mailboxes tell which events it means. */
  (void)event_id;
  gs_events_raise_announced(&gpu->thunk->events);
}

/* The driver takes all queues of the process off a GPU that reported a memory fault; until it comes to that,
 * other kernels go on. Called on the thread of a queue that has stopped, which may sleep. */
static void evict(gs_gpu_t *gpu) {
  enum { DELAY_MS = 100 };
  nanosleep(&(struct timespec){.tv_nsec = DELAY_MS * 1000000L}, NULL);
  gs_queues_evict(&gpu->thunk->queues, gpu);
}

/* An unlucky program hears of a fault late, and by its page; and of the first one only, as from ROCr's
 * handler, which takes no second event. Returns false if it hears nothing. */
static bool blur_fault(gs_thunk_t *thunk, gs_fault_t *fault) {
  enum { SHORTEST_MS = 5, LONGEST_MS = 60 };
  if (!(thunk->options.strict.kinds[GS_STRICT_DRIVER] & GS_DRIVER_FAULTS))
    return true;
  gs_random_t random = gs_random_of(thunk->options.strict_seed, 0, fault->address);
  const uint32_t ms = SHORTEST_MS + gs_random_below(&random, LONGEST_MS - SHORTEST_MS);
  nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
  fault->address -= fault->address % GS_PAGE_BYTES;
  return !atomic_exchange(&thunk->told_fault, true);
}

static void report_fault(gs_gpu_t *gpu, const gs_fault_t *exact, bool hang) {
  gs_fault_t blurred = exact ? *exact : (gs_fault_t){0};
  const gs_fault_t *fault = &blurred;
  if (blur_fault(gpu->thunk, &blurred) &&
      !gs_events_memory_fault(&gpu->thunk->events, gpu->node, fault, hang))
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

static int add_gpu(gs_thunk_t *thunk, const gs_part_t *part) {
  gs_gpu_t *gpu = &thunk->gpu[thunk->gpu_count];
  gpu->profile = part->profile;
  gpu->memory_bytes = part->memory_bytes;
  gpu->thunk = thunk;
  gpu->ordinal = thunk->gpu_count;
  gpu->host_visible =
      thunk->options.host_visible || (gs_thunk_has_links(thunk, GS_LINKS_MEMORY) && gpu->ordinal % 2);
  gpu->node = ++thunk->gpu_count;
  gpu->gate = (gs_gate_t){
      .evicts = thunk->options.strict.kinds[GS_STRICT_DRIVER] & GS_DRIVER_EVICT,
      .seed = thunk->options.strict_seed,
      .most = gs_thunk_has_links(thunk, GS_LINKS_QUEUES) ? QUEUES_AT_ONCE : 0,
  };
  gpu->packet_ops = (gs_packet_ops_t){
      .context = gpu,
      .raise_event = on_raise_event,
      .memory_fault = on_memory_fault,
      .engine_hang = on_engine_hang,
  };
  const gs_device_ops_t ops = {.context = gpu,
                               .send_interrupt = on_send_interrupt,
                               .watch = thunk->check ? &thunk->check->watch : NULL};
  gpu->device = gs_device_create(gpu->profile, gpu->ordinal, &thunk->options, &ops);
  if (!gpu->device)
    gs_log("GPU %u (%s): out of host memory", gpu->ordinal, gpu->profile->name);
  return gpu->device ? 0 : -1;
}

bool gs_thunk_has_links(const gs_thunk_t *thunk, uint32_t kind) {
  return thunk->options.strict.kinds[GS_STRICT_LINKS] & kind;
}

/* What strictness says of the machine in other words. */
static void apply_links(gs_thunk_t *thunk) {
  if (gs_thunk_has_links(thunk, GS_LINKS_ATOMICS))
    thunk->options.pcie_atomics = false;
  if (gs_thunk_has_links(thunk, GS_LINKS_NUMA))
    thunk->options.numa = true;
}

/* The driver's thunk lets GPUs pass for others; ours are what they are. */
static void report_foreign_options(void) {
  if (getenv("HSA_OVERRIDE_GFX_VERSION"))
    gs_log("HSA_OVERRIDE_GFX_VERSION has no effect: GFXSIM_DEVICES says which devices there are");
}

static int add_gpus(gs_thunk_t *thunk) {
  gs_part_t parts[GS_MOST_GPUS];
  char reason[GS_PARTS_REASON_BYTES];
  const int count = gs_parts_parse(thunk->options.devices, parts, reason);
  if (count < 0)
    gs_log("GFXSIM_DEVICES: %s", reason);
  for (int i = 0; i < count; i++)
    if (add_gpu(thunk, &parts[i]))
      return -1;
  return count < 0 ? -1 : 0;
}

static gs_shared_pages_t *shared_create(void) {
  /* The doorbells want more alignment than mmap promises. */
  enum { ALIGNMENT = sizeof((gs_shared_pages_t *)NULL)->doorbell };
  const size_t size = sizeof(gs_shared_pages_t);
  uint8_t *start = mmap(NULL, size + ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return NULL;
  const size_t head = -(uintptr_t)start & (ALIGNMENT - 1);
  if (head)
    munmap(start, head);
  if (head < ALIGNMENT)
    munmap(start + head + size, ALIGNMENT - head);
  return (gs_shared_pages_t *)(void *)(start + head);
}
_Static_assert(sizeof(gs_shared_pages_t) % GS_PAGE_BYTES == 0, "whole pages are mapped for the GPUs");

/* Kernels ring doorbells and announce events like the host. */
static int shared_map(gs_thunk_t *thunk) {
  const gs_vm_range_t range = {
      .start = (uintptr_t)thunk->shared,
      .end = (uintptr_t)thunk->shared + sizeof *thunk->shared,
      .host = (uint8_t *)thunk->shared,
      .allocation = (uintptr_t)thunk->shared,
      .allocation_size = sizeof *thunk->shared,
      .access = GS_VM_READ | GS_VM_WRITE,
  };
  for (uint32_t i = 0; i < thunk->gpu_count; i++)
    if (gs_vm_map(gs_device_vm(thunk->gpu[i].device), &range))
      return -1;
  return 0;
}

/* A host thread stored to a doorbell. */
static bool on_doorbell(void) {
  gs_thunk_t *thunk = gs_thunk_current();
  if (thunk)
    gs_synchronous_run(thunk->synchronous);
  return thunk != NULL;
}

/* When kernels are not executed, and a run shall repeat, doorbells are read-only pages: the fault of a store
 * to one is how its queue is processed in the storing thread. Returns -1 when out of memory. */
static int synchronous_start(gs_thunk_t *thunk) {
  if (thunk->options.execute || !thunk->options.deterministic)
    return 0;
  uint64_t *doorbells = thunk->shared->doorbell;
  const size_t bytes = sizeof thunk->shared->doorbell;
  gs_synchronous_t *synchronous = gs_synchronous_create();
  if (!synchronous)
    return -1;
  if (!gs_guard_watch(doorbells, bytes, on_doorbell) || mprotect(doorbells, bytes, PROT_READ)) {
    gs_log("GFXSIM_DETERMINISTIC=1: packets can't be processed in the calls that submit them on this host; "
           "queues have threads");
    gs_synchronous_destroy(synchronous);
    return 0;
  }
  thunk->synchronous = synchronous;
  return 0;
}

gs_thunk_t *gs_thunk_create(void) {
  gs_thunk_t *thunk = calloc(1, sizeof *thunk);
  if (!thunk)
    return NULL;
  gs_options_load(&thunk->options);
  apply_links(thunk);
  report_foreign_options();
  if (!library.check && gs_check_create(&thunk->options, &library.check))
    goto failed;
  thunk->check = library.check;
  if (thunk->check)
    gs_check_prepare();
  if (add_gpus(thunk))
    goto failed;
  thunk->shared = shared_create();
  thunk->poller = gs_poller_create();
  if (!thunk->shared || !thunk->poller || shared_map(thunk) ||
      gs_events_init(&thunk->events, thunk->shared->mailbox, GS_MOST_EVENTS) ||
      gs_memory_init(&thunk->memory, thunk) || gs_queues_init(&thunk->queues, thunk, GS_MOST_QUEUES) ||
      synchronous_start(thunk)) {
    gs_log("out of host memory");
    goto failed;
  }
  return thunk;
failed:
  gs_thunk_destroy(thunk);
  return NULL;
}

void gs_thunk_destroy(gs_thunk_t *thunk) {
  if (!thunk)
    return;
  gs_queues_fini(&thunk->queues);
  if (thunk->synchronous)
    gs_guard_unwatch();
  gs_synchronous_destroy(thunk->synchronous);
  gs_poller_destroy(thunk->poller);
  for (uint32_t i = 0; i < thunk->gpu_count; i++)
    gs_device_destroy(thunk->gpu[i].device);
  gs_memory_fini(&thunk->memory);
  gs_events_fini(&thunk->events);
  if (thunk->shared)
    munmap(thunk->shared, sizeof *thunk->shared);
  free(thunk);
}

/* The end of the process. A program may exit without closing the library, with kernels still running: what
 * was asked for is written, and nothing is stopped or freed. Runs after the exit code of everything that uses
 * this library. */
static void __attribute__((destructor)) at_exit(void) {
  /* Held by another thread that opens or closes the library: closing does the same. */
  if (pthread_mutex_trylock(&library.lock))
    return;
  gs_thunk_t *thunk = gs_thunk_current();
  for (uint32_t i = 0; thunk && i < thunk->gpu_count; i++) {
    gs_device_print_stats(thunk->gpu[i].device, stderr);
    gs_device_flush_trace(thunk->gpu[i].device);
  }
  const int status = library.check ? gs_check_finish(library.check) : 0;
  pthread_mutex_unlock(&library.lock);
  if (!status)
    return;
  fflush(NULL);
  _exit(status);
}

/* The child would write the parent's buffered trace a second time. */
static void before_fork(void) {
  gs_thunk_t *thunk = gs_thunk_current();
  for (uint32_t i = 0; thunk && i < thunk->gpu_count; i++)
    gs_device_flush_trace(thunk->gpu[i].device);
}

/* The exported functions. */

/* A forked child rings a doorbell of its parent's: nobody would ever answer. */
static bool on_doorbell_in_child(void) {
  gs_log("a forked process submits work to a queue of its parent's, which it does not have: it ends here. "
         "Only one of "
         "the two can use the GPU, unless the child starts a program of its own (exec)");
  return false;
}

/* A child has the parent's memory but none of its threads: like with the driver, it sees a library that is
 * not open, and has no doorbells. */
static void after_fork_in_child(void) {
  gs_thunk_t *thunk = gs_thunk_current();
  if (thunk) {
    gs_guard_watch(thunk->shared->doorbell, sizeof thunk->shared->doorbell, on_doorbell_in_child);
    mprotect(thunk->shared->doorbell, sizeof thunk->shared->doorbell, PROT_READ);
  }
  pthread_mutex_init(&library.lock, NULL);
  atomic_store_explicit(&library.current, NULL, memory_order_relaxed);
  library.references = 0;
  library.check = NULL; /* what it found is the parent's */
}

GS_EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void) {
  HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
  pthread_mutex_lock(&library.lock);
  if (library.references) {
    library.references++;
    status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
    goto out;
  }
  if (!library.watches_fork && pthread_atfork(before_fork, NULL, after_fork_in_child) == 0)
    library.watches_fork = true;
  gs_thunk_t *thunk = library.watches_fork ? gs_thunk_create() : NULL;
  if (!thunk) {
    status = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    goto out;
  }
  library.references = 1;
  atomic_store_explicit(&library.current, thunk, memory_order_release);
out:
  pthread_mutex_unlock(&library.lock);
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void) {
  pthread_mutex_lock(&library.lock);
  gs_thunk_t *last = NULL;
  const bool open = library.references > 0;
  if (open && --library.references == 0)
    last = atomic_exchange_explicit(&library.current, NULL, memory_order_acq_rel);
  gs_thunk_destroy(last);
  pthread_mutex_unlock(&library.lock);
  return open ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version) {
  GS_THUNK_OR_RETURN(thunk);
  (void)thunk;
  if (!version)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  version->KernelInterfaceMajorVersion = KFD_MAJOR;
  version->KernelInterfaceMinorVersion = KFD_MINOR;
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp) {
  GS_THUNK_OR_RETURN(thunk);
  (void)thunk;
  (void)debug;
  (void)setup_ttmp;
  /* Without it errors arrive as codes in the queue's own signal, which carries all that we report. */
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRuntimeDisable(void) {
  GS_THUNK_OR_RETURN(thunk);
  (void)thunk;
  return HSAKMT_STATUS_SUCCESS;
}

/* Counters of a GPU never repeat: ROCr divides by the difference of two samples. */
static uint64_t next_clock(gs_thunk_t *thunk, uint64_t ticks) {
  uint64_t last = atomic_load_explicit(&thunk->last_clock, memory_order_relaxed);
  uint64_t next;
  do
    next = ticks > last ? ticks : last + 1;
  while (!atomic_compare_exchange_weak_explicit(&thunk->last_clock, &last, next, memory_order_relaxed,
                                                memory_order_relaxed));
  return next;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters) {
  GS_THUNK_OR_RETURN(thunk);
  if (!counters)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node >= gs_thunk_nodes(thunk))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  const uint64_t ticks = gs_clock_ticks();
  const uint64_t system = gs_clock_nanoseconds();
  *counters = (HsaClockCounters){
      .GPUClockCounter = next_clock(thunk, ticks),
      .CPUClockCounter = system,
      .SystemClockCounter = system,
      .SystemClockFrequencyHz = UINT64_C(1000000000),
  };
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable) {
  GS_THUNK_OR_RETURN(thunk);
  if (!enable)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *enable = atomic_load(&thunk->xnack);
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable) {
  GS_THUNK_OR_RETURN(thunk);
  const bool on = enable != 0;
  /* One mode for the whole process, so all GPUs must have it (kfd_process.c, kfd_process_xnack_mode). */
  for (uint32_t i = 0; i < thunk->gpu_count; i++) {
    if (!on || thunk->gpu[i].profile->xnack)
      continue;
    /* ROCr goes on without a word. */
    gs_log(
        "HSA_XNACK=1 has no effect: GPU %u (%s) has no XNACK that a process can choose, as all devices must; "
        "kernels reach no unmapped memory of the program",
        i, thunk->gpu[i].profile->name);
    return HSAKMT_STATUS_NOT_SUPPORTED;
  }
  for (uint32_t i = 0; i < thunk->gpu_count; i++)
    if (gs_vm_share_host(gs_device_vm(thunk->gpu[i].device), on))
      return HSAKMT_STATUS_NO_MEMORY;
  atomic_store(&thunk->xnack, on);
  return HSAKMT_STATUS_SUCCESS;
}
