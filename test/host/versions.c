/* Arguments of regions in the forms of other compilers: the program is linked with
 * --wrap=__tgt_target_kernel, and what clang 16 passes goes on as another version would have it. Behind each
 * structure is a page that nobody may touch. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SHORT_BYTES = 64, LONG_BYTES = 104, NOWAIT = 1 };

int __real___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *id,
                               void *args);
int __wrap___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *id,
                               void *args);

static uint32_t version, flags, calls;
static char *page;

int __wrap___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *id,
                               void *args) {
  size_t bytes = version == 1 ? SHORT_BYTES : LONG_BYTES;
  char *copy = page + PAGE - bytes;
  memcpy(copy, args, bytes);
  memcpy(copy, &version, sizeof version);
  if (version > 1)
    memcpy(copy + SHORT_BYTES, &flags, sizeof flags);
  calls++;
  return __real___tgt_target_kernel(where, device, teams, threads, id, copy);
}

/* By copy only, which goes a short way, and with something mapped. */
static int by_copy(int value) {
  static int *nowhere;
#pragma omp target firstprivate(value) is_device_ptr(nowhere)
  if (nowhere)
    *nowhere = value;
  return 0;
}

static int mapped(int value) {
#pragma omp target map(tofrom : value)
  value += 3;
  return value;
}

static long loop(int n) {
  long sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += i;
  return sum;
}

int main(int argc, char **argv) {
  static const uint32_t versions[] = {1, 2, 3, 2, 1};
  int wrong = 0;
  page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE))
    return 2;
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    version = versions[i];
    flags = i == 3 ? NOWAIT : 0; /* outside a task: there is nobody who could wait for it */
    for (int round = 0; round < 3; round++) {
      wrong += by_copy(round);
      wrong += mapped(round) != round + 3;
      wrong += loop(100) != 4950;
    }
  }
  wrong += calls != 9 * sizeof versions / sizeof *versions;
  if (argc > 1) {
    version = (uint32_t)atoi(argv[1]);
    wrong += mapped(1) != 4;
  }
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong;
}
