/* A tool that takes its time to hear of the device, which is before main, while another thread uses the
 * device already: it is told of what happens there when it knows the device, and not before. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef void function_t(void);
typedef function_t *lookup_t(const char *name);
typedef struct start {
  int (*initialize)(lookup_t *lookup, int initial_device, void *tool);
  void (*finalize)(void *tool);
  uint64_t tool;
} start_t;
start_t *ompt_start_tool(unsigned version, const char *runtime);

enum { DEVICE_INITIALIZE = 12, DEVICE_LOAD = 14 };

static atomic_int begun, known, loaded, loaded_early;
static pthread_t thread;

static void hear_initialize(int device, const char *type, void *object, lookup_t *lookup, const char *text) {
  (void)device, (void)type, (void)object, (void)lookup, (void)text;
  atomic_store(&begun, 1);
  nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
  atomic_store(&known, 1);
}

static void hear_load(int device, const char *file, int64_t offset, void *address, size_t bytes, void *host,
                      void *memory, uint64_t module) {
  (void)device, (void)file, (void)offset, (void)address, (void)bytes, (void)host, (void)memory, (void)module;
  atomic_fetch_add(&loaded, 1);
  if (!atomic_load(&known))
    atomic_store(&loaded_early, 1);
}

static int initialize(lookup_t *lookup, int initial_device, void *tool) {
  int (*set)(int, function_t *) = (int (*)(int, function_t *))lookup("ompt_set_callback");
  (void)initial_device, (void)tool;
  set(DEVICE_INITIALIZE, (function_t *)hear_initialize);
  set(DEVICE_LOAD, (function_t *)hear_load);
  return 1;
}

static void finalize(void *tool) {
  (void)tool;
}

start_t *ompt_start_tool(unsigned version, const char *runtime) {
  static start_t start = {initialize, finalize, 0};
  (void)version, (void)runtime;
  return &start;
}

static void *use(void *result) {
  int sum = 1;
  while (!atomic_load(&begun))
    ;
#pragma omp target map(tofrom : sum)
  sum++;
  *(int *)result = sum;
  return NULL;
}

static int result;

/* Before all constructors, one of which registers the program's regions. */
static void start_early(void) {
  pthread_create(&thread, NULL, use, &result);
}
__attribute__((used, section(".preinit_array"))) static void (*const at_first)(void) = start_early;

int main(void) {
  pthread_join(thread, NULL);
  printf("%s\n", result == 2 && loaded && !loaded_early ? "right" : "wrong");
  return 0;
}
