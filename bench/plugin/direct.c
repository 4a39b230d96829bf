/* Drives a plugin by its own entry points, as libomptarget does, for what OpenMP programs cannot ask for:
 * many launches in one queue before one wait, and threads that do nothing but launch.
 *
 *   direct stream LAUNCHES ROUNDS PLUGIN PROGRAM KERNEL    median microseconds until all are launched, and
 * complete direct threads THREADS LAUNCHES PLUGIN PROGRAM KERNEL  nanoseconds per launch and wait: by the
 * clock with all threads at work, and of processor time in each direct pending COUNT ROUNDS PLUGIN PROGRAM
 * KERNEL      COUNT times a copy to the device, a launch and a copy back in one queue: median microseconds of
 * processor time per operation until all have begun, the same with the wait, and by the clock until all are
 * complete
 *
 * The device image is the first one in the file PROGRAM. */
#include "omptarget_amdgpu_plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static __typeof__(&__tgt_rtl_launch_kernel) launch_kernel;
static __typeof__(&__tgt_rtl_run_target_team_region_async) run_region;
static __typeof__(&__tgt_rtl_run_target_team_region) run_region_and_wait;
static __typeof__(&__tgt_rtl_synchronize) synchronize;
static __typeof__(&__tgt_rtl_data_submit_async) submit;
static __typeof__(&__tgt_rtl_data_retrieve_async) retrieve;
static __typeof__(&__tgt_rtl_data_alloc) data_alloc;
static void *kernel;

static void fail(const char *what) {
  fprintf(stderr, "direct: %s\n", what);
  exit(1);
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* ---- the plugin and its image ---- */

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    fail("cannot read the program");
  long length = ftell(file);
  rewind(file);
  char *content = aligned_alloc(4096, ((size_t)length + 4095) & ~(size_t)4095);
  if (!content || fread(content, 1, (size_t)length, file) != (size_t)length)
    fail("cannot read the program");
  fclose(file);
  *bytes = (size_t)length;
  return content;
}

/* The first ELF file for AMD GPUs inside another file, moved to its beginning; ends behind its section
 * headers. */
static size_t find_image(char *content, size_t bytes) {
  Elf64_Ehdr head;
  for (size_t at = 1; at + sizeof head < bytes; at++) {
    if (memcmp(content + at, ELFMAG, SELFMAG) != 0)
      continue;
    memcpy(&head, content + at, sizeof head);
    if (head.e_machine != 224)
      continue;
    size_t length = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    if (length > bytes - at)
      fail("the device image is cut off");
    memmove(content, content + at, length);
    return length;
  }
  fail("no device image in the program");
  return 0;
}

static void *symbol(void *plugin, const char *name) {
  return dlsym(plugin, name);
}

static void set_up(const char *file, const char *program, char *name) {
  void *plugin = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (!plugin)
    fail(dlerror());
#define RESOLVE(entry)                                                                                       \
  __typeof__(&__tgt_rtl_##entry) entry = (__typeof__(entry))symbol(plugin, "__tgt_rtl_" #entry)
  RESOLVE(init_plugin);
  RESOLVE(number_of_devices);
  RESOLVE(init_requires);
  RESOLVE(init_device);
  RESOLVE(is_valid_binary);
  RESOLVE(load_binary);
  launch_kernel = (__typeof__(launch_kernel))symbol(plugin, "__tgt_rtl_launch_kernel");
  run_region = (__typeof__(run_region))symbol(plugin, "__tgt_rtl_run_target_team_region_async");
  run_region_and_wait = (__typeof__(run_region_and_wait))symbol(plugin, "__tgt_rtl_run_target_team_region");
  synchronize = (__typeof__(synchronize))symbol(plugin, "__tgt_rtl_synchronize");
  submit = (__typeof__(submit))symbol(plugin, "__tgt_rtl_data_submit_async");
  retrieve = (__typeof__(retrieve))symbol(plugin, "__tgt_rtl_data_retrieve_async");
  data_alloc = (__typeof__(data_alloc))symbol(plugin, "__tgt_rtl_data_alloc");
  static __tgt_offload_entry entry;
  static __tgt_device_image image;
  static __tgt_bin_desc library = {1, &image, &entry, &entry + 1};
  size_t bytes;
  char *content = read_file(program, &bytes);
  entry = (__tgt_offload_entry){.addr = &entry, .name = name};
  image = (__tgt_device_image){content, content + find_image(content, bytes), &entry, &entry + 1};
  if (init_plugin && init_plugin())
    fail("the plugin does not start");
  if (number_of_devices() < 1 || !is_valid_binary(&image))
    fail("no device for the image");
  RESOLVE(register_lib);
  if (register_lib)
    register_lib(&library);
  if (init_requires)
    init_requires(OMP_REQ_NONE);
  if (init_device(0))
    fail("the device does not start");
  const __tgt_target_table *table = (const __tgt_target_table *)load_binary(0, &image, NULL);
  if (!table || table->EntriesEnd - table->EntriesBegin != 1)
    fail("the image is not loaded");
  kernel = table->EntriesBegin->addr;
}

/* ---- what is measured ---- */

static void launch(__tgt_async_info *queue) {
  /* What libomptarget 16 passes for a region without clauses. */
  KernelArgsTy args = {.Version = 2, .NumTeams = {1}};
  void *words[1] = {NULL};
  ptrdiff_t offsets[1] = {0};
  int32_t result;
  if (launch_kernel)
    result = launch_kernel(0, kernel, words, offsets, &args, queue);
  else if (run_region)
    result = run_region(0, kernel, words, offsets, 0, 1, 0, 0, queue);
  else /* LLVM 13's */
    result = run_region_and_wait(0, kernel, words, offsets, 0, 1, 0, 0);
  if (result)
    fail("a launch failed");
}

static void wait_for(__tgt_async_info *queue) {
  if (queue->Queue && synchronize(0, queue))
    fail("a wait failed");
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, long count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

static void stream(long launches, long rounds) {
  double *launched = calloc((size_t)rounds, sizeof *launched),
         *complete = calloc((size_t)rounds, sizeof *complete);
  if (!launched || !complete)
    fail("out of memory");
  for (long i = -1; i < rounds; i++) { /* the first one does not count */
    __tgt_async_info queue = {NULL};
    double begin = now(CLOCK_MONOTONIC);
    for (long j = 0; j < launches; j++)
      launch(&queue);
    double middle = now(CLOCK_MONOTONIC);
    wait_for(&queue);
    double end = now(CLOCK_MONOTONIC);
    if (i < 0)
      continue;
    launched[i] = middle - begin;
    complete[i] = end - begin;
  }
  printf("launched %.1f\ncomplete %.1f\n", median(launched, rounds), median(complete, rounds));
  free(launched);
  free(complete);
}

static void pending(long count, long rounds) {
  enum { BYTES = 4096 };
  static char content[BYTES];
  static double result;
  double *values = calloc(3 * (size_t)rounds, sizeof *values);
  char *memory = data_alloc(0, BYTES, NULL, TARGET_ALLOC_DEFAULT);
  if (!values || !memory)
    fail("out of memory");
  double *begun = values, *waited = values + rounds, *complete = values + 2 * rounds;
  for (long i = -1; i < rounds; i++) { /* the first one does not count */
    __tgt_async_info queue = {NULL};
    double clock = now(CLOCK_MONOTONIC), processor = now(CLOCK_THREAD_CPUTIME_ID);
    for (long j = 0; j < count; j++) {
      if (submit(0, memory, content, BYTES, &queue))
        fail("a copy failed");
      launch(&queue);
      if (retrieve(0, &result, memory, sizeof result, &queue))
        fail("a copy failed");
    }
    double middle = now(CLOCK_THREAD_CPUTIME_ID);
    wait_for(&queue);
    if (i < 0)
      continue;
    begun[i] = (middle - processor) / (3 * (double)count);
    waited[i] = (now(CLOCK_THREAD_CPUTIME_ID) - processor) / (3 * (double)count);
    complete[i] = now(CLOCK_MONOTONIC) - clock;
  }
  printf("begun %.2f\nwaited %.2f\ncomplete %.0f\n", median(begun, rounds), median(waited, rounds),
         median(complete, rounds));
  free(values);
}

static pthread_barrier_t start;
static long launches_of_each;

/* One thread's launches, in microseconds: when, and how long its processor took. */
typedef struct worker {
  pthread_t thread;
  double begin, end, processor;
} worker_t;

static void repeat(long count) {
  for (long i = 0; i < count; i++) {
    __tgt_async_info queue = {NULL};
    launch(&queue);
    wait_for(&queue);
  }
}

static void *launch_often(void *argument) {
  worker_t *worker = argument;
  repeat(100);
  pthread_barrier_wait(&start);
  worker->begin = now(CLOCK_MONOTONIC);
  double begin = now(CLOCK_THREAD_CPUTIME_ID);
  repeat(launches_of_each);
  worker->processor = now(CLOCK_THREAD_CPUTIME_ID) - begin;
  worker->end = now(CLOCK_MONOTONIC);
  return NULL;
}

static void threads(long count, long launches) {
  enum { MOST = 64 };
  static worker_t workers[MOST];
  double begin = 1e30, end = 0, processor = 0;
  if (count < 1 || count > MOST)
    fail("1 to 64 threads");
  launches_of_each = launches;
  pthread_barrier_init(&start, NULL, (unsigned)count);
  for (long i = 0; i < count; i++)
    if (pthread_create(&workers[i].thread, NULL, launch_often, &workers[i]))
      fail("cannot make a thread");
  for (long i = 0; i < count; i++) {
    pthread_join(workers[i].thread, NULL);
    begin = workers[i].begin < begin ? workers[i].begin : begin;
    end = workers[i].end > end ? workers[i].end : end;
    processor += workers[i].processor;
  }
  double all = (double)count * (double)launches;
  printf("clock %.1f\nprocessor %.1f\n", 1e3 * (end - begin) / all, 1e3 * processor / all);
}

int main(int argc, char **argv) {
  if (argc != 7 || (strcmp(argv[1], "stream") && strcmp(argv[1], "threads") && strcmp(argv[1], "pending"))) {
    fprintf(stderr, "usage: direct stream|threads|pending COUNT COUNT PLUGIN PROGRAM KERNEL\n");
    return 2;
  }
  long first = strtol(argv[2], NULL, 10), second = strtol(argv[3], NULL, 10);
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", "16", 0);
  set_up(argv[4], argv[5], argv[6]);
  if (!strcmp(argv[1], "stream"))
    stream(first, second);
  else if (!strcmp(argv[1], "pending"))
    pending(first, second);
  else
    threads(first, second);
  fflush(stdout);
  _Exit(0); /* what plugins do at the end is not measured here */
}
