/* What the service costs when nothing prints: no thread at all before the first kernel that may call the
 * host, one that hardly runs while such a kernel is busy with something else, and one that sleeps when there
 * is no kernel. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The processor time that the service thread has used, in seconds; -1 if there is none. */
static double service_seconds(void) {
  DIR *tasks = opendir("/proc/self/task");
  double found = -1;
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    char path[300], name[32] = "";
    long long nanoseconds;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    int read = file ? fscanf(file, "%31s", name) : 0;
    if (file)
      fclose(file);
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
    if (read != 1 || strcmp(name, "amdgpu-service") || !(file = fopen(path, "r")))
      continue;
    if (fscanf(file, "%lld", &nanoseconds) == 1)
      found = (double)nanoseconds * 1e-9;
    fclose(file);
  }
  if (tasks)
    closedir(tasks);
  return found;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void) {
  int sum = 0, never = getpid() == 0;
  double begin = now();
  if (service_seconds() >= 0) {
    fprintf(stderr, "a service thread before the first kernel\n");
    return 1;
  }
  /* Busy for some seconds; it could print at any time. */
  for (int n = 20000; now() - begin < 3; n *= 2) {
#pragma omp target map(tofrom : sum) firstprivate(never)
    for (int i = 0; i < n; i++) {
      sum = sum * 5 + i;
      if (never)
        printf("never\n");
    }
  }
  double used = service_seconds(), passed = now() - begin;
  sleep(2); /* there is no kernel */
  double rest = service_seconds() - used;
  printf("service thread: %.1f ms in %.1f s of kernels, %.3f ms in 2 s without\n", used * 1e3, passed,
         rest * 1e3);
  /* It takes half a percent on a quiet machine; waking takes longer on one that is busy. One that spins takes
   * all. */
  return used < 0 || used > 0.02 * passed || rest > 1e-4;
}
