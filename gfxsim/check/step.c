/* See step.h. The processor traps behind each instruction, so what the one before did is worked out by its
 * registers as they were, and by where the next one is. */
#include "check/step.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Steps of a place that the runtime returns to, as many more at its first time, of all places, and on the way
 * there. What is done once may be long, as printing is; loops do the same again and again. */
enum {
  SHARE = 4096,
  FIRST = 1 << 16,
  ALL = 1 << 18,
  RETURNING = 4096,
  PLACES = 256,
  TRAP_FLAG = 0x100,
  LONGEST = 15,
  INT1 = 0xf1
};

typedef struct code {
  uint64_t start, end;
} code_t;

static struct {
  pthread_once_t once;
  bool works;
  code_t library, linker; /* the C library, and who finds its functions at their first call */
  uint64_t free, realloc; /* where these two begin */
  _Atomic uint64_t steps;
  _Atomic uint64_t place[PLACES];
  _Atomic uint32_t used[PLACES]; /* of each place's share */
} common = {.once = PTHREAD_ONCE_INIT};

/* A thread that is seen. */
typedef struct stepper {
  bool on, returned, has_before;
  code_t runtime;
  gs_step_eyes_t eyes;
  unsigned steps; /* on the way to the program */
  uint32_t most;  /* of the place */
  gs_step_place_t place;
  uint64_t frame[GS_STEP_CALLS]; /* stack pointer in front of each call */
  uint64_t call;                 /* the program's last */
  uint64_t freeing;              /* stack pointer where a block began to be freed; 0: none is */
  _Atomic uint32_t *used;
  gregset_t before;
} stepper_t;
static _Thread_local stepper_t self;

#ifdef __x86_64__

void *__tls_get_addr(void *); /* the dynamic linker's */

static code_t find_code(uint64_t address) {
  char line[512];
  code_t code = {0, 0};
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && fgets(line, sizeof line, maps)) {
    uint64_t start, end;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && address >= start && address < end)
      code = (code_t){start, end};
  }
  if (maps)
    fclose(maps);
  return code;
}

static bool is_in(const code_t *code, uint64_t pc) {
  return pc >= code->start && pc < code->end;
}

/* The steps of the place, or NULL when there are too many. */
static _Atomic uint32_t *find_place(uint64_t pc) {
  unsigned at = (unsigned)(pc * UINT64_C(0x9E3779B97F4A7C15) >> 40) % PLACES;
  for (unsigned i = 0; i < PLACES; i++, at = (at + 1) % PLACES) {
    uint64_t none = 0;
    if (atomic_load(&common.place[at]) == pc ||
        atomic_compare_exchange_strong(&common.place[at], &none, pc) || none == pc)
      return &common.used[at];
  }
  return NULL;
}

/* Whether the instruction at `pc` is a system call behind which a trap might find signals blocked, which
 * ends the process, or another thread. */
static bool is_dangerous(uint64_t pc, const greg_t *regs) {
  const uint8_t *code = (const uint8_t *)(uintptr_t)pc;
  if (code[0] != 0x0f || code[1] != 0x05)
    return false;
  switch (regs[REG_RAX]) {
  case SYS_rt_sigprocmask:
  case SYS_rt_sigaction:
  case SYS_rt_sigreturn:
  case SYS_clone:
  case SYS_clone3:
  case SYS_fork:
  case SYS_vfork:
  case SYS_execve:
  case SYS_exit:
  case SYS_exit_group: return true;
  default: return false;
  }
}

/* Whether a return was executed at `pc`. */
static bool is_return(uint64_t pc) {
  const uint8_t *code = (const uint8_t *)(uintptr_t)pc;
  return code[0] == 0xc3 || (code[0] == 0xf3 && code[1] == 0xc3) || (code[0] == 0xf2 && code[1] == 0xc3);
}

/* Not of jumps: the program calls the C library by one of a table, which is nowhere in its source. */
static bool is_call(uint64_t pc) {
  const uint8_t *code = (const uint8_t *)(uintptr_t)pc;
  while ((*code & 0xf0) == 0x40 || *code == 0x66 || *code == 0xf2 || *code == 0x3e)
    code++;
  return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

/* Keeps which calls are under way at the instruction with these registers, which may be one. */
static void follow_calls(stepper_t *s, const greg_t *regs, bool calls) {
  gs_step_place_t *place = &s->place;
  const uint64_t stack = (uint64_t)regs[REG_RSP];
  while (place->calls && stack >= s->frame[place->calls - 1])
    place->calls--;
  if (!calls || place->calls == GS_STEP_CALLS)
    return;
  s->frame[place->calls] = stack;
  place->call[place->calls++] = (uint64_t)regs[REG_RIP];
}

/* Whether the instruction with these registers is one of those that free a block: the C library keeps its own
 * numbers in it. */
static bool is_freeing(stepper_t *s, const greg_t *regs) {
  const uint64_t pc = (uint64_t)regs[REG_RIP], stack = (uint64_t)regs[REG_RSP];
  if (s->freeing && stack > s->freeing)
    s->freeing = 0;
  if (!s->freeing && (pc == common.free || pc == common.realloc)) {
    s->freeing = stack;
    s->eyes.freed(s->eyes.context, (uint64_t)regs[REG_RDI]);
  }
  return s->freeing;
}

/* The instruction that was executed last, from `before` to `pc`. */
static void look_back(stepper_t *s, uint64_t pc) {
  gs_host_access_t access[GS_HOST_ACCESSES];
  const uint64_t was = (uint64_t)s->before[REG_RIP];
  const uint64_t length = pc == was ? LONGEST : pc - was; /* one of many times, of a string */
  const bool by_library = is_in(&common.library, was);
  if (is_in(&common.linker, was))
    return;
  const bool calls = !by_library && is_call(was);
  if (calls)
    s->call = was;
  follow_calls(s, s->before, calls);
  if (is_freeing(s, s->before) || length > LONGEST) /* a jump, whose operand is an address of code */
    return;
  s->place.pc = by_library ? s->call : was;
  s->place.by_library = by_library;
  const unsigned count =
      gs_x86_accesses((const uint8_t *)(uintptr_t)was, (unsigned)length, was, s->before, access);
  for (unsigned i = 0; i < count; i++)
    s->eyes.see(s->eyes.context, &access[i], &s->place);
}

/* Whether the thread is to go on, from `pc`, in steps. */
static bool step(stepper_t *s, uint64_t pc, const greg_t *regs) {
  const bool in_runtime = is_in(&s->runtime, pc);
  if (!s->returned) {
    const bool leaves = s->has_before && !in_runtime && is_in(&s->runtime, (uint64_t)s->before[REG_RIP]);
    if (!leaves || !is_return((uint64_t)s->before[REG_RIP]))
      return ++s->steps < RETURNING && !is_dangerous(pc, regs);
    s->returned = true;
    atomic_fetch_add(&common.steps, s->steps);
    s->call = pc;
    s->used = find_place(pc);
    s->most = s->used && atomic_load(s->used) ? SHARE : FIRST;
    return s->used && atomic_load(s->used) < s->most && !is_dangerous(pc, regs);
  }
  look_back(s, pc);
  const unsigned counted = !is_in(&common.linker, pc);
  return !in_runtime && !is_dangerous(pc, regs) && atomic_fetch_add(s->used, counted) < s->most &&
         atomic_fetch_add(&common.steps, 1) < ALL;
}

/* Whether the instruction that was stepped over traps in the way in which steps do. */
static bool was_int1(const stepper_t *s) {
  return s->has_before && *(const uint8_t *)(uintptr_t)s->before[REG_RIP] == INT1;
}

/* Whether it is a step. The kernel asks the processor's debug register why it trapped, which virtual machines
 * lose now and then (one step of some millions): it calls the step a breakpoint then, as it does int1. */
static bool is_step(const stepper_t *s, const siginfo_t *info, const greg_t *regs) {
  return info->si_code == TRAP_TRACE ||
         (info->si_code == TRAP_BRKPT && regs[REG_EFL] & TRAP_FLAG && !was_int1(s));
}

static void on_trap(int number, siginfo_t *info, void *context) {
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  stepper_t *s = &self;
  const bool ours = is_step(s, info, regs);
  if (!ours) { /* it ends the process, as without us: when this handler returns */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
  }
  if (ours && s->on && step(s, (uint64_t)regs[REG_RIP], regs)) {
    memcpy(s->before, regs, sizeof s->before);
    s->has_before = true;
    return;
  }
  s->on = false;
  regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static bool is_used_up(uint64_t place) {
  const _Atomic uint32_t *used = place ? find_place(place) : NULL;
  return used && atomic_load(used) >= SHARE;
}

static void prepare(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct sigaction previous;
  /* Who has a handler of its own is not disturbed: it may be a debugger's. */
  if (sigaction(SIGTRAP, NULL, &previous) || previous.sa_handler != SIG_DFL)
    return;
  common.library = find_code((uint64_t)(uintptr_t)getpid);
  common.linker = find_code((uint64_t)(uintptr_t)__tls_get_addr);
  common.free = (uint64_t)(uintptr_t)free;
  common.realloc = (uint64_t)(uintptr_t)realloc;
  common.works = !sigaction(SIGTRAP, &action, NULL);
}

void gs_step_begin(uint64_t runtime, uint64_t place, const gs_step_eyes_t *eyes) {
  sigset_t blocked;
  if (is_used_up(place)) /* the way there would take steps, too */
    return;
  pthread_once(&common.once, prepare);
  if (!common.works || atomic_load(&common.steps) >= ALL || pthread_sigmask(SIG_BLOCK, NULL, &blocked) ||
      sigismember(&blocked, SIGTRAP))
    return;
  self = (stepper_t){.eyes = *eyes, .runtime = find_code(runtime)};
  if (!self.runtime.start)
    return;
  self.on = true;
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                   :
                   : "i"(TRAP_FLAG)
                   : "memory", "cc");
}

#else

void gs_step_begin(uint64_t runtime, uint64_t place, const gs_step_eyes_t *eyes) {
  (void)runtime;
  (void)place;
  (void)eyes;
}

#endif

void gs_step_end(void) {
  self.on = false;
}
