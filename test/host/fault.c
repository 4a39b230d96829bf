/* A thread of the program faults in malloc, whose lock it holds: that ends the program as it would without a
 * device. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
static atomic_bool is_locked;

/* Stands in for the C library's, and says that it would wait for ever. */
void *malloc(size_t bytes) {
  if (atomic_load(&is_locked))
    _exit(98);
  return __libc_malloc(bytes);
}

static void *fault(void *unused) {
  (void)unused;
  volatile uintptr_t nowhere = 8;
  atomic_store(&is_locked, 1);
  *(volatile int *)nowhere = 1;
  return NULL;
}

int main(void) {
  int result = 0;
  pthread_t thread;
#pragma omp target map(tofrom : result)
  result = 1;
  printf("%d\n", result);
  fflush(stdout);
  if (pthread_create(&thread, NULL, fault, NULL))
    return 1;
  pthread_join(thread, NULL);
  return 2;
}
