/* Large copies between unpinned host memory and a device, as shares of memcpy's rate: copies time|work. */
#include "share.h"

#include <omp.h>

static char *memory, *other, *device_memory;
static int host; /* its number: to ask for it is a look-up of a symbol */

static void copy_to(size_t at, size_t bytes) {
  char *part = memory + at;
#pragma omp target update to(part[:bytes])
}

static void copy_from(size_t at, size_t bytes) {
  char *part = memory + at;
#pragma omp target update from(part[:bytes])
}

/* Mapped anew each time: there and back. */
static void map(size_t at, size_t bytes) {
  char *part = other + at;
#pragma omp target enter data map(to : part[:bytes])
#pragma omp target exit data map(from : part[:bytes])
}

/* Memory that is not mapped. */
static void memcpy_to(size_t at, size_t bytes) {
  omp_target_memcpy(device_memory, other, bytes, at, at, 0, host);
}

static void memcpy_from(size_t at, size_t bytes) {
  omp_target_memcpy(other, device_memory, bytes, at, at, host, 0);
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {1 * SHARE_MIB, 16 * SHARE_MIB, SHARE_LARGEST};
  if (argc != 2 || omp_get_num_devices() < 1) {
    fprintf(stderr, "usage, with a device: copies time|work\n");
    return 2;
  }
  if (!strcmp(argv[1], "work"))
    share_clock = CLOCK_THREAD_CPUTIME_ID;
  host = omp_get_initial_device();
  memory = share_allocate();
  other = share_allocate();
  share_from = share_allocate();
  share_into = share_allocate();
  if (!(device_memory = omp_target_alloc(SHARE_LARGEST, 0)))
    return 1;
#pragma omp target enter data map(to : memory[:SHARE_LARGEST])
  share_measure("update_to", copy_to, SHARE_MIB, 0, 1);
  share_measure("update_from", copy_from, SHARE_MIB, 0, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    share_measure("update_to", copy_to, sizes[i], sizes[i], 1);
    share_measure("update_from", copy_from, sizes[i], sizes[i], 1);
    share_measure("map,_there_and_back", map, sizes[i], sizes[i], 2);
    share_measure("memcpy_to", memcpy_to, sizes[i], sizes[i], 1);
    share_measure("memcpy_from", memcpy_from, sizes[i], sizes[i], 1);
  }
#pragma omp target exit data map(delete : memory[:SHARE_LARGEST])
  omp_target_free(device_memory, 0);
  fflush(stdout);
  return 0;
}
