/* A program with target regions, which libomptarget opens the GPU for before main. A forked child has none
 * and is told so; a child that executes a program has, and so has the parent. Run as "forks"; "forks region"
 * is that child. */
#include "../offload/check.h"

#include <sys/wait.h>
#include <unistd.h>

static int region(void) {
  int there = 0;
#pragma omp target map(from : there)
  there = 42;
  return there;
}

/* How a child ends that does this. */
static int end_of(void (*run)(void)) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void offload(void) {
  region();
}

static void execute(void) {
  execl("/proc/self/exe", "forks", "region", (char *)NULL);
  _exit(127);
}

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1)
    return region() == 42 ? 0 : 1;
  check_int("a child that goes on fails", 0, end_of(offload) != 0, 1);
  check_int("a child that executes a program offloads", 0, end_of(execute), 0);
  check_int("the parent offloads", 0, region(), 42);
  check_int("a child that goes on fails afterwards", 0, end_of(offload) != 0, 1);
  check_int("the parent offloads again", 0, region(), 42);
  return check_done("forks");
}
