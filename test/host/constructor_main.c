/* Runs regions while another thread loads a library whose constructor does the same: argument 1. Whoever asks
 * the dynamic linker for something must not hold what the constructor needs. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { REGIONS = 20 };

atomic_int in_constructor;
int constructor_sum;

void _Z7in_mainv(int *sum);
void _Z7in_mainv(int *sum) {
#pragma omp target map(tofrom : sum[0])
  *sum += 1;
}

static void *load(void *path) {
  return dlopen(path, RTLD_NOW);
}

int main(int argc, char **argv) {
  pthread_t thread;
  void *library = NULL;
  int sum = 0;
  _Z7in_mainv(&sum); /* libomp begins with what it asks of the dynamic linker itself, under its lock */
  if (argc < 2 || pthread_create(&thread, NULL, load, argv[1]))
    return 1;
  while (!atomic_load(&in_constructor))
    ;
  for (int i = 0; i < REGIONS; i++)
    _Z7in_mainv(&sum);
  pthread_join(thread, &library);
  printf("%s\n", library && sum == REGIONS + 1 && constructor_sum == REGIONS ? "right" : "wrong");
  return 0;
}
