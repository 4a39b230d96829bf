/* What the service costs when nothing prints: no thread at all before the first kernel that may call the
 * host, one that hardly runs while such a kernel is busy with something else, and one that sleeps when there
 * is no kernel. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the kernel counted for the service thread. */
typedef struct {
  double seconds; /* of processor time; -1 if there is no such thread */
  long long runs; /* how often it began to run */
} service_use_t;

static service_use_t service_use(void) {
  DIR *tasks = opendir("/proc/self/task");
  service_use_t use = {.seconds = -1};
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    char path[300], name[32] = "";
    long long nanoseconds, waited;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    int read = file ? fscanf(file, "%31s", name) : 0;
    if (file)
      fclose(file);
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
    if (read != 1 || strcmp(name, "amdgpu-service") || !(file = fopen(path, "r")))
      continue;
    if (fscanf(file, "%lld %lld %lld", &nanoseconds, &waited, &use.runs) == 3)
      use.seconds = (double)nanoseconds * 1e-9;
    fclose(file);
  }
  if (tasks)
    closedir(tasks);
  return use;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void) {
  int sum = 0, never = getpid() == 0;
  double begin = now();
  if (service_use().seconds >= 0) {
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
  double used = service_use().seconds, passed = now() - begin;
  usleep(200000); /* the last kernel has ended, but the thread may have yet to see it */
  long long before = service_use().runs;
  sleep(2); /* there is no kernel */
  long long runs = service_use().runs - before;
  printf("service thread: %.1f ms in %.1f s of kernels; it ran %lld times in 2 s without\n", used * 1e3,
         passed, runs);
  /* It takes half a percent on a quiet machine; waking takes longer on one that is busy. One that spins takes
   * all. Who sleeps does not run, however busy the machine is. */
  return used < 0 || used > 0.02 * passed || runs != 0;
}
