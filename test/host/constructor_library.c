/* A library whose constructor runs regions while the dynamic linker's lock is held, and lets the program's
 * own thread run some meanwhile. */
#include <stdatomic.h>
#include <time.h>

enum { REGIONS = 20 };

/* The program's. */
extern atomic_int in_constructor;
extern int constructor_sum;

/* A name of C++, which messages and timelines show as in the source. */
void _Z14in_c_plus_plusv(void);
void _Z14in_c_plus_plusv(void) {
  int sum = constructor_sum;
#pragma omp target map(tofrom : sum)
  sum++;
  constructor_sum = sum;
}

__attribute__((constructor)) static void run(void) {
  atomic_store(&in_constructor, 1);
  /* Time for the other thread to come to where it asks the dynamic linker. */
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  for (int i = 0; i < REGIONS; i++)
    _Z14in_c_plus_plusv();
}
