/* What link_main.c and link_other.c use of each other. */
#ifndef OFFLOAD_LINK_OTHER_H
#define OFFLOAD_LINK_OTHER_H

typedef struct other_state {
  char tag;
  int count;
  double weight;
} other_state_t;

#pragma omp declare target
extern int shared_counter;
extern double shared_scale;
extern const int shared_table[8];
extern int twice(int x);

extern const short other_table[5];
extern other_state_t other_state;
extern int other_mix(int x);
#pragma omp end declare target

extern int other_linked[64];
#pragma omp declare target link(other_linked)

/* The same computation on device and host. */
void other_device_work(int *out);
void other_host_work(int *out);

#endif
