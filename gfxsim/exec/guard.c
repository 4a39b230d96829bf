/* Host faults inside guest accesses. A program can unmap memory that the GPU's address space still names (it freed
 * memory that it had locked); the access then faults in this process. The handler turns that into a fault of the wave,
 * as a card would, and leaves every other fault to whoever handled it before.
 * Not here: checks against the GPU's address space, which come first and find nearly everything. */
#include "exec/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "exec/internal.h"

_Thread_local gs_guard_t *volatile gs_guard_current;

static struct sigaction previous[2]; /* SIGSEGV, SIGBUS: what was there before us; written once */

static void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *old = &previous[number == SIGBUS];
  if (old->sa_flags & SA_SIGINFO) {
    old->sa_sigaction(number, info, context);
  } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
    old->sa_handler(number);
  } else {
    /* The default action, on the instruction that faulted: it faults again when this handler returns. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  gs_guard_t *guard = gs_guard_current;
  if (!guard || info->si_code <= 0) {
    pass_on(number, info, context);
    return;
  }
  guard->address = (uint64_t)(uintptr_t)info->si_addr;
  siglongjmp(guard->resume, 1);
}

static void install(void) {
  static const int numbers[2] = {SIGSEGV, SIGBUS};
  for (size_t i = 0; i < 2; i++) {
    struct sigaction action = {.sa_sigaction = on_fault};
    /* NODEFER: the handler is left by a jump, which would otherwise keep the signal blocked. */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(numbers[i], &action, &previous[i]))
      gs_log("can't catch %s (%s): a kernel that touches memory which the program unmapped ends the program",
             strsignal(numbers[i]), strerror(errno));
  }
}

void gs_guard_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}
