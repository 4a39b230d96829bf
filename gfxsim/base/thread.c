/* Creation of the simulator's threads. */
#include "base/thread.h"

#include <signal.h>

int gs_thread_start(pthread_t *thread, const char *name, void *(*run)(void *argument), void *argument) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(&blocked, faults[i]);
  /* A new thread inherits the mask, so that there is no moment in which a signal could reach it. */
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const int failed = pthread_create(thread, NULL, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed)
    return -1;
  pthread_setname_np(*thread, name);
  return 0;
}
