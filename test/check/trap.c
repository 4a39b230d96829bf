/* A trap in a program whose reads the checker looks at step by step, by the processor's trap flag. The
 * argument says what is there behind the construct, where it does: a breakpoint (int3), the one that traps as
 * steps do (int1), or a step that the kernel told of as of a breakpoint (lost). Then, and with any other
 * argument, it reads, which is told of only if steps are taken there. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As where a virtual machine's debug register has lost why the processor trapped. */
static void lose_a_step(void) {
  siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_BRKPT};
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTRAP, &info))
    _exit(1);
}

int main(int argc, char **argv) {
  int sum = 0;
  const char *const what = argc > 1 ? argv[1] : "";
  const int is_int3 = !strcmp(what, "int3"), is_int1 = !strcmp(what, "int1"), is_lost = !strcmp(what, "lost");
#pragma omp target data map(tofrom : sum)
  {
#pragma omp target map(tofrom : sum)
    sum = 5;
    if (is_int3)
      __asm__ volatile("int3");
    if (is_int1)
      __asm__ volatile(".byte 0xf1");
    if (is_lost)
      lose_a_step();
    printf("went on, %d\n", sum);
    fflush(stdout);
  }
  return 0;
}
