/* The process's machine: opened by a door, left behind by forks, and what happens when the process ends. */
#include "machine/process.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "check/check.h"
#include "exec/guard.h"

/* The process's one machine. A test can make machines of its own. */
static struct {
  pthread_mutex_t lock; /* of opening and closing */
  _Atomic(gs_machine_t *) current;
  unsigned references;
  bool watches_fork;
  gs_check_t *check; /* made by the first machine that wants one; stays until the process ends */
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

gs_machine_t *gs_machine_current(void) {
  /* Acquires the context that gs_machine_open published. */
  return atomic_load_explicit(&library.current, memory_order_acquire);
}

int gs_process_check(const gs_options_t *options, gs_check_t **check) {
  if (!library.check && gs_check_create(options, &library.check))
    return -1;
  *check = library.check;
  return 0;
}

/* The end of the process. A program may exit without closing the library, with kernels still running: what
 * was asked for is written, and nothing is stopped or freed. Runs after the exit code of everything that uses
 * this library. */
static void __attribute__((destructor)) at_exit(void) {
  /* Held by another thread that opens or closes the library: closing does the same. */
  if (pthread_mutex_trylock(&library.lock))
    return;
  gs_machine_t *machine = gs_machine_current();
  for (uint32_t i = 0; machine && i < machine->gpu_count; i++) {
    gs_device_print_stats(machine->gpu[i].device, stderr);
    gs_device_flush_trace(machine->gpu[i].device);
  }
  if (machine) {
    gs_machine_print_costs(machine);
    gs_machine_compare_reads(machine);
  }
  const int status = library.check ? gs_check_finish(library.check) : 0;
  pthread_mutex_unlock(&library.lock);
  if (!status)
    return;
  fflush(NULL);
  _exit(status);
}

/* In the handler of the signal that ends the program. */
static void explain_fault(uintptr_t address) {
  gs_machine_t *machine = gs_machine_current();
  uint32_t node;
  if (machine && gs_memory_is_hidden(&machine->memory, address, &node))
    gs_log("the host accesses memory of the GPU of node %" PRIu32 " at 0x%" PRIxPTR
           ", which it cannot, as on a card without a large BAR: omp_target_memcpy, hipMemcpy or "
           "hsa_memory_copy copy it; gfxsim-run --host-visible lets the host access it, --usm unified memory",
           node, address);
}

/* The child would write the parent's buffered trace a second time. */
static void before_fork(void) {
  gs_machine_t *machine = gs_machine_current();
  for (uint32_t i = 0; machine && i < machine->gpu_count; i++)
    gs_device_flush_trace(machine->gpu[i].device);
}

/* A forked child rings a doorbell of its parent's: nobody would ever answer. */
static bool on_doorbell_in_child(void) {
  gs_log("a forked process submits work to a queue of its parent's, which it does not have: it ends here. "
         "Only one of "
         "the two can use the GPU, unless the child starts a program of its own (exec)");
  return false;
}

/* Some are not even there: their owner may have kept them out of its children. */
static void close_doorbells(const gs_doorbells_t *doorbells, bool also) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(doorbells->start, doorbells->size, PROT_READ, flags, -1, 0) != MAP_FAILED && also)
    gs_guard_watch_also(doorbells->start, doorbells->size);
}

/* A child has the parent's memory but none of its threads: like with the driver, it sees a library that is
 * not open, and has no doorbells. */
static void after_fork_in_child(void) {
  gs_machine_t *machine = gs_machine_current();
  if (machine) {
    const gs_doorbells_t *first = &machine->doorbells[0];
    gs_guard_watch(first->start, first->size, on_doorbell_in_child);
    for (uint32_t i = 0; i < machine->doorbells_count; i++)
      close_doorbells(&machine->doorbells[i], i > 0);
  }
  pthread_mutex_init(&library.lock, NULL);
  atomic_store_explicit(&library.current, NULL, memory_order_relaxed);
  library.references = 0;
  library.check = NULL; /* what it found is the parent's */
}

gs_opening_t gs_machine_open(void) {
  gs_opening_t opening = GS_OPENED_AGAIN;
  pthread_mutex_lock(&library.lock);
  if (library.references) {
    library.references++;
    goto out;
  }
  opening = GS_NOT_OPENED;
  if (!library.watches_fork && pthread_atfork(before_fork, NULL, after_fork_in_child) == 0)
    library.watches_fork = true;
  gs_machine_t *machine = library.watches_fork ? gs_machine_create() : NULL;
  if (!machine)
    goto out;
  opening = GS_OPENED;
  library.references = 1;
  gs_guard_explain(explain_fault);
  atomic_store_explicit(&library.current, machine, memory_order_release);
out:
  pthread_mutex_unlock(&library.lock);
  return opening;
}

bool gs_machine_close(void) {
  pthread_mutex_lock(&library.lock);
  gs_machine_t *last = NULL;
  const bool open = library.references > 0;
  if (open && --library.references == 0)
    last = atomic_exchange_explicit(&library.current, NULL, memory_order_acq_rel);
  gs_machine_destroy(last);
  pthread_mutex_unlock(&library.lock);
  return open;
}
