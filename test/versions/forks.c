/* A program with target regions, which libomptarget opens the GPU for before main. Children that are forked
 * before the first region have devices like their parent; those that are forked later have none, and are told
 * so. Run as "forks"; "forks region" is a child that executes a program. */
#include "../offload/check.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

extern char **environ;

/* The sum of what a region computes, or what a wrong result is. */
static long region(int factor) {
  long values[N], sum = 0;
  for (int i = 0; i < N; i++)
    values[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : values)
  for (int i = 0; i < N; i++)
    values[i] *= factor;
  for (int i = 0; i < N; i++)
    sum += values[i];
  return sum;
}

static long sum_of(int factor) {
  return (long)factor * N * (N - 1) / 2;
}

static int end_of(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int offloads(int factor) {
  return region(factor) == sum_of(factor) ? 0 : 1;
}

/* Each generation forks before its own first region. */
static int three_generations(int left) {
  pid_t child = left > 1 ? fork() : 0;
  if (left > 1 && child == 0)
    _exit(three_generations(left - 1));
  return offloads(left) || (left > 1 && end_of(child)) ? 1 : 0;
}

/* A child that runs this. Without destructors: libomp 16's stop in an assertion in a forked child. */
static pid_t begin(int (*run)(int), int argument) {
  pid_t child = fork();
  if (child == 0)
    _exit(run(argument));
  return child;
}

static int executes(int unused) {
  (void)unused;
  execl("/proc/self/exe", "forks", "region", (char *)NULL);
  return 127;
}

static pid_t spawns(void) {
  char *const arguments[] = {(char *)(uintptr_t) "forks", (char *)(uintptr_t) "region", NULL};
  pid_t child;
  return posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) ? -1 : child;
}

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1)
    return offloads(3);
  pid_t first = begin(offloads, 5), second = begin(offloads, 7);
  check_int("a child offloads", 0, end_of(first), 0);
  check_int("another one, forked while the first ran, too", 0, end_of(second), 0);
  check_int("a child, its child and that one's offload", 0, end_of(begin(three_generations, 3)), 0);
  check_int("a child that executes a program offloads", 0, end_of(begin(executes, 0)), 0);
  check_int("a child that was not forked offloads", 0, end_of(spawns()), 0);
  pid_t third = begin(offloads, 9);
  check_int("the parent offloads while a child does", 0, offloads(2), 0);
  check_int("that child offloads", 0, end_of(third), 0);
  check_int("a child of a parent that has offloaded fails", 0, end_of(begin(offloads, 1)) != 0, 1);
  check_int("one that executes a program offloads", 0, end_of(begin(executes, 0)), 0);
  check_int("the parent offloads again", 0, offloads(4), 0);
  return check_done("forks");
}
