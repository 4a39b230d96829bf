/* Does what lint finds, by its argument, or its twin without a fault, "not-" and the argument. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256, TIMES = 5 };

static int array[COUNT], other[COUNT];

static void fill(int *data, int from) {
  for (int i = 0; i < COUNT; i++)
    data[i] = from + i;
}

static int sum_on_device(void) {
  int sum = 0;
#pragma omp target map(tofrom : sum) map(to : array)
  for (int i = 0; i < COUNT; i++)
    sum += array[i];
  return sum;
}

/* The host has not changed the array since the last update. */
static void same_on_device(int is_wrong) {
#pragma omp target enter data map(to : array)
  for (int i = 0; i < TIMES; i++) {
    fill(array, is_wrong ? 1 : i + 2);
#pragma omp target update to(array)
    sum_on_device();
  }
#pragma omp target exit data map(delete : array)
}

/* The region only reads the array. */
static void same_on_host(int is_wrong) {
  int sum = 0;
#pragma omp target map(tofrom : array, sum)
  for (int i = 0; i < COUNT; i++) {
    sum += array[i];
    array[i] += !is_wrong;
  }
}

/* Each region brings the array along. */
static void mapped_again(int is_wrong) {
  for (int i = 0; i < TIMES; i++) {
    if (!is_wrong)
      fill(array, i);
    sum_on_device();
  }
}

/* Twice may be a chance; and what has another name at the same address need not be the same. */
static void mapped_seldom(int is_wrong) {
  (void)is_wrong;
  int *p = malloc(COUNT * sizeof *p), *q = p, sum = 0;
  fill(p, 1);
  for (int i = 0; i < TIMES; i++) {
#pragma omp target map(tofrom : sum) map(to : p[:COUNT])
    sum += p[0];
#pragma omp target map(tofrom : sum) map(to : q[:COUNT])
    sum += q[1];
  }
  free(p);
  sum_on_device();
  sum_on_device();
}

static void update_unmapped(int is_wrong) {
  if (!is_wrong) {
#pragma omp target enter data map(alloc : array)
  }
#pragma omp target update to(array)
  if (!is_wrong) {
#pragma omp target exit data map(delete : array)
  }
}

static void exit_unmapped(int is_wrong) {
#pragma omp target enter data map(to : array)
#pragma omp target exit data map(release : array)
  if (is_wrong) {
#pragma omp target exit data map(from : array)
  }
}

/* The region must not follow the pointer where it is wrong. */
static void pointer_unmapped(int is_wrong) {
  int *p = array, found = 0, device = omp_get_default_device(), *q = NULL;
  if (!is_wrong) {
#pragma omp target enter data map(to : array)
    q = omp_target_alloc(sizeof *q, device); /* the device's, and nothing: these are no mistakes */
  }
#pragma omp target map(tofrom : found)
  found = (p != 0) + (q != 0);
  if (!is_wrong) {
    omp_target_free(q, device);
#pragma omp target exit data map(delete : array)
  }
}

static void never_freed(int is_wrong) {
  for (int i = 0; i < TIMES; i++) {
    void *memory = omp_target_alloc(1000, omp_get_default_device());
    if (!is_wrong)
      omp_target_free(memory, omp_get_default_device());
  }
}

static void freed_mapped(int is_wrong) {
  int *p = malloc(COUNT * sizeof *p), *q = malloc(COUNT * sizeof *q);
  fill(p, 1);
#pragma omp target enter data map(to : p[:COUNT])
  free(q); /* next to it */
  if (is_wrong)
    free(p);
#pragma omp target exit data map(delete : p[:COUNT])
  if (!is_wrong)
    free(p);
}

/* A block that moves is freed, too. */
static void moved_mapped(int is_wrong) {
  int *p = malloc(COUNT * sizeof *p);
#pragma omp target enter data map(alloc : p[:COUNT])
  int *old = p;
  if (is_wrong)
    p = realloc(p, 1 << 24);
#pragma omp target exit data map(delete : old[:COUNT])
  free(p);
}

/* Nothing of this is worth a word. */
static void none(int is_wrong) {
  (void)is_wrong;
  int one = 1;
#pragma omp target data map(to : array) map(from : other)
  {
#pragma omp target
    for (int i = 0; i < COUNT; i++)
      other[i] = array[i] + 1;
#pragma omp target update from(other)
    fill(array, other[0]);
#pragma omp target update to(array)
#pragma omp target map(tofrom : one) nowait
    for (int i = 0; i < COUNT; i++)
      other[i] = array[i] + one++;
#pragma omp taskwait
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(int is_wrong);
  } parts[] = {{"same-on-device", same_on_device},
               {"same-on-host", same_on_host},
               {"mapped-again", mapped_again},
               {"mapped-seldom", mapped_seldom},
               {"update-unmapped", update_unmapped},
               {"exit-unmapped", exit_unmapped},
               {"pointer-unmapped", pointer_unmapped},
               {"never-freed", never_freed},
               {"freed-mapped", freed_mapped},
               {"moved-mapped", moved_mapped},
               {"none", none}};
  const char *name = argc > 1 ? argv[1] : "none";
  int is_wrong = strncmp(name, "not-", 4) != 0;
  fill(array, 1);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(name + (is_wrong ? 0 : 4), parts[i].name))
      parts[i].run(is_wrong);
  printf("end\n");
  return 0;
}
