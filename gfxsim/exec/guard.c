/* Host faults inside guest accesses. A program can unmap memory that the GPU's address space still names (it
 * freed memory that it had locked); the access then faults in this process. The handler turns that into a
 * fault of the wave, as a card would, and leaves every other fault to whoever handled it before. It also
 * turns stores into watched pages into calls. Not here: checks against the GPU's address space, which come
 * first and find nearly everything. */
#include "exec/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/log.h"
#include "exec/internal.h"

_Thread_local gs_guard_t *volatile gs_guard_current;

/* Threads that have set a guard, by their numbers; 0: none. Others must not look at what is a thread's own
 * when they fault: the first look may allocate it, and the fault may be in malloc. */
enum { MOST_THREADS = 4096 };
static _Atomic pid_t known_threads[MOST_THREADS];
static _Thread_local bool is_known;

static struct sigaction previous[2]; /* SIGSEGV, SIGBUS: what was there before us */

/* The watched pages, for the handler: published by `stored`, which is NULL when there are none, and `count`.
 */
enum { MOST_WATCHED = 32 };
static struct {
  struct {
    uintptr_t start, end;
  } pages[MOST_WATCHED];
  _Atomic unsigned count;
  _Atomic(bool (*)(void)) stored;
} watch;

/* The bytes that move, or moved last, for the handler. The generation is odd while they do, and changes with
 * each move. */
static struct {
  _Atomic uintptr_t start, end;
  _Atomic unsigned generation;
} held;

static _Atomic(void (*)(uintptr_t address)) explanation;

/* The move after which this thread has last repeated a store: one that faults again is at fault. */
static _Thread_local volatile unsigned repeated_after;

/* Bytes of a ModRM byte with its SIB byte and displacement, or 0 when it names a register. */
static size_t modrm_length(const uint8_t *modrm) {
  const unsigned mode = *modrm >> 6;
  const bool has_sib = (*modrm & 7) == 4;
  if (mode == 3)
    return 0;
  if (mode == 1)
    return (size_t)2 + has_sib;
  /* Without a base register there is a displacement of 32 bits. */
  const bool no_base = has_sib ? (modrm[1] & 7) == 5 : (*modrm & 7) == 5;
  return (size_t)1 + has_sib + (mode == 2 || no_base ? 4U : 0U);
}

size_t gs_guard_store_length(const uint8_t *code) {
#if defined(__x86_64__)
  enum {
    OPERAND_16 = 0x66,
    REX = 0x40,
    ESCAPE = 0x0F,
    MOVNTI = 0xC3,
    MOV_CONSTANT_8 = 0xC6,
    MOV_CONSTANT = 0xC7
  };
  const uint8_t *next = code;
  const bool is_16 = *next == OPERAND_16;
  next += is_16;
  next += (*next & 0xF0) == REX;
  const uint8_t opcode = *next++;
  size_t constant = 0;
  if (opcode == ESCAPE && *next == MOVNTI)
    next++;
  else if (opcode == MOV_CONSTANT_8)
    constant = 1;
  else if (opcode == MOV_CONSTANT)
    constant = is_16 ? 2 : 4;
  else if (opcode < 0x86 || opcode > 0x89) /* xchg, xchg, mov, mov: 8 bits, then more */
    return 0;
  const size_t operand = modrm_length(next);
  return operand ? (size_t)(next - code) + operand + constant : 0;
#else
  (void)code;
  (void)modrm_length;
  return 0;
#endif
}

/* Steps over the instruction that faulted. Returns false when it is no store that could be dropped. */
static bool skip_store(void *context) {
#if defined(__x86_64__)
  greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  const size_t length = gs_guard_store_length((const uint8_t *)*rip);
  *rip += (greg_t)length;
  return length > 0;
#else
  (void)context;
  return false;
#endif
}

/* The place of the thread in the list, or where it is to be; NULL where there is no room. */
static _Atomic pid_t *find_thread(pid_t thread) {
  for (unsigned i = 0; i < MOST_THREADS; i++) {
    _Atomic pid_t *at = &known_threads[((unsigned)thread + i) % MOST_THREADS];
    const pid_t there = atomic_load(at);
    if (there == thread || !there)
      return at;
  }
  return NULL;
}

static void know_thread(void) {
  const pid_t thread = gettid();
  for (_Atomic pid_t *at = find_thread(thread); at && !is_known; at = find_thread(thread)) {
    pid_t none = 0;
    is_known = atomic_compare_exchange_strong(at, &none, thread) || none == thread;
  }
  is_known = true; /* without room all are asked, see current_guard */
}

void gs_guard_set(gs_guard_t *guard) {
  if (!is_known)
    know_thread();
  gs_guard_current = guard;
}

static gs_guard_t *current_guard(void) {
  const _Atomic pid_t *at = find_thread(gettid());
  return !at || atomic_load(at) ? gs_guard_current : NULL;
}

static bool is_watched(uintptr_t address) {
  const unsigned count = atomic_load_explicit(&watch.count, memory_order_acquire);
  for (unsigned i = 0; i < count; i++)
    if (address >= watch.pages[i].start && address < watch.pages[i].end)
      return true;
  return false;
}

/* Handles a store into the watched pages. */
static bool is_watched_store(const siginfo_t *info, void *context) {
  bool (*stored)(void) = atomic_load_explicit(&watch.stored, memory_order_acquire);
  return stored && info->si_code == SEGV_ACCERR && is_watched((uintptr_t)info->si_addr) && stored() &&
         skip_store(context);
}

/* Whether a store is to be repeated, because its bytes moved: then waits until they have. */
static bool is_held_store(const siginfo_t *info) {
  const struct timespec pause = {.tv_nsec = 50000};
  const uintptr_t address = (uintptr_t)info->si_addr;
  if (info->si_code != SEGV_ACCERR || address < atomic_load(&held.start) || address >= atomic_load(&held.end))
    return false;
  const int error = errno;
  unsigned generation = atomic_load(&held.generation);
  for (; generation & 1; generation = atomic_load(&held.generation))
    nanosleep(&pause, NULL);
  errno = error;
  /* The fault may have been before the move ended and this call after it: that cannot be told from another
   * fault. */
  const bool is_first = repeated_after != generation;
  repeated_after = generation;
  return is_first;
}

/* Whether a handler that we passed a signal on to has called ours in its turn: one that the program installed
 * after ours, and that was put behind it. Handlers may leave by a jump, so nothing says when one has ended;
 * but its frames are above. */
static __attribute__((noinline)) bool is_passed_back(const siginfo_t *info) {
  enum { PLACES = 64 }; /* threads that share one take longer to find out */
  static struct { _Atomic uintptr_t info, frame; } last[PLACES];
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  const unsigned own = (unsigned)gettid() % PLACES;
  if (atomic_load(&last[own].info) == (uintptr_t)info && frame < atomic_load(&last[own].frame))
    return true;
  atomic_store(&last[own].info, (uintptr_t)info);
  atomic_store(&last[own].frame, frame);
  return false;
}

static void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *old = &previous[number == SIGBUS];
  const bool again = is_passed_back(info);
  if (!again && old->sa_flags & SA_SIGINFO) {
    old->sa_sigaction(number, info, context);
  } else if (!again && old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
    old->sa_handler(number);
  } else {
    /* The default action, on the instruction that faulted: it faults again when this handler returns. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    void (*explain)(uintptr_t) = atomic_load(&explanation);
    if (explain && number == SIGSEGV && info->si_code > 0)
      explain((uintptr_t)info->si_addr);
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  gs_guard_t *guard = current_guard();
  if (number == SIGSEGV && is_held_store(info))
    return;
  if (!guard || info->si_code <= 0) {
    if (number == SIGSEGV && is_watched_store(info, context))
      return;
    pass_on(number, info, context);
    return;
  }
  guard->address = (uint64_t)(uintptr_t)info->si_addr;
  /* The jump leaves signals blocked that were not: by a handler of the program's that calls this one, or by
   * ThreadSanitizer's, which blocks all. */
  pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
  siglongjmp(guard->resume, 1);
}

static struct sigaction action_of_ours(void) {
  struct sigaction action = {.sa_sigaction = on_fault};
  /* NODEFER: what a watched store calls may run kernels, which may fault in their turn. */
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return action;
}

/* In a child of a fork: the thread has another number there. */
static void forget_thread(void) {
  is_known = false;
}

static void install(void) {
  static const int numbers[2] = {SIGSEGV, SIGBUS};
  pthread_atfork(NULL, NULL, forget_thread);
  for (size_t i = 0; i < 2; i++) {
    const struct sigaction action = action_of_ours();
    if (sigaction(numbers[i], &action, &previous[i]))
      gs_log("can't catch %s (%s): a kernel that touches memory which the program unmapped ends the program",
             strsignal(numbers[i]), strerror(errno));
  }
}

void gs_guard_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

/* Puts our handler before one that the program has installed since. */
static void come_first(void) {
  struct sigaction action;
  gs_guard_install();
  if (sigaction(SIGSEGV, NULL, &action) || action.sa_sigaction == on_fault)
    return;
  previous[0] = action;
  action = action_of_ours();
  sigaction(SIGSEGV, &action, NULL);
}

void gs_guard_explain(void (*explain)(uintptr_t address)) {
  atomic_store(&explanation, explain);
}

void gs_guard_hold(const void *start, size_t size) {
  come_first();
  atomic_store(&held.end, 0); /* no mixture of two ranges */
  atomic_store(&held.start, (uintptr_t)start);
  atomic_fetch_add(&held.generation, 1);
  atomic_store(&held.end, (uintptr_t)start + size);
}

void gs_guard_release(void) {
  atomic_fetch_add(&held.generation, 1);
}

bool gs_guard_watch(const void *start, size_t size, bool (*stored)(void)) {
  static const uint8_t example[] = {0x88, 0x00}; /* mov %al, (%rax) */
  if (!gs_guard_store_length(example))
    return false;
  gs_guard_unwatch();
  gs_guard_install();
  struct sigaction action;
  /* What `stored` does may need more than the small stack that the program gave to its signal handlers. */
  if (sigaction(SIGSEGV, NULL, &action) || action.sa_sigaction != on_fault)
    return false;
  action.sa_flags &= ~SA_ONSTACK;
  if (sigaction(SIGSEGV, &action, NULL))
    return false;
  atomic_store_explicit(&watch.stored, stored, memory_order_release);
  return gs_guard_watch_also(start, size);
}

bool gs_guard_watch_also(const void *start, size_t size) {
  const unsigned count = atomic_load_explicit(&watch.count, memory_order_relaxed);
  for (unsigned i = 0; i < count; i++)
    if (watch.pages[i].start == (uintptr_t)start && watch.pages[i].end == (uintptr_t)start + size)
      return true;
  if (count == MOST_WATCHED)
    return false;
  watch.pages[count].start = (uintptr_t)start;
  watch.pages[count].end = (uintptr_t)start + size;
  atomic_store_explicit(&watch.count, count + 1, memory_order_release);
  return true;
}

void gs_guard_unwatch(void) {
  atomic_store_explicit(&watch.stored, NULL, memory_order_release);
  atomic_store_explicit(&watch.count, 0, memory_order_release);
}
