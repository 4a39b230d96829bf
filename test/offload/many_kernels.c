/* A program of many kernels, each launched several times, interleaved, on the same data. */
#include "check.h"

enum { N = 300 };

static int device[N], host[N];

/* Kernel number n and the same on the host. */
#define KERNEL(n)                                                                                            \
  static void device_##n(int k) {                                                                            \
    OMP(target teams distribute parallel for map(tofrom : device) firstprivate(k))                           \
    for (int i = 0; i < N; i++)                                                                              \
      device[i] = (device[i] * (2 * n + 1) + (i ^ n) + k) % 1000003;                                         \
  }                                                                                                          \
  static void host_##n(int k) {                                                                              \
    for (int i = 0; i < N; i++)                                                                              \
      host[i] = (host[i] * (2 * n + 1) + (i ^ n) + k) % 1000003;                                             \
  }
#define KERNELS(n)                                                                                           \
  KERNEL(n##0) KERNEL(n##1) KERNEL(n##2) KERNEL(n##3) KERNEL(n##4) KERNEL(n##5) KERNEL(n##6) KERNEL(n##7)    \
  KERNEL(n##8) KERNEL(n##9)
KERNELS(1)
KERNELS(2)
KERNELS(3)

typedef void (*step_t)(int);
#define ENTRIES(side, n)                                                                                     \
  side##_##n##0, side##_##n##1, side##_##n##2, side##_##n##3, side##_##n##4, side##_##n##5, side##_##n##6,   \
      side##_##n##7, side##_##n##8, side##_##n##9
static const step_t device_steps[] = {ENTRIES(device, 1), ENTRIES(device, 2), ENTRIES(device, 3)};
static const step_t host_steps[] = {ENTRIES(host, 1), ENTRIES(host, 2), ENTRIES(host, 3)};

int main(void) {
  enum { COUNT = sizeof device_steps / sizeof device_steps[0] };
  for (int i = 0; i < N; i++)
    device[i] = host[i] = i;
  for (int round = 0; round < 3; round++)
    for (int k = 0; k < COUNT; k++) {
      int which = (k * 7 + round) % COUNT;
      device_steps[which](round);
      host_steps[which](round);
    }
  for (int i = 0; i < N; i++)
    check_int("all rounds", i, device[i], host[i]);
#pragma omp target data map(tofrom : device)
  for (int k = 0; k < 200; k++) {
    device_steps[k % COUNT](k);
    host_steps[k % COUNT](k);
  }
  for (int i = 0; i < N; i++)
    check_int("resident", i, device[i], host[i]);
  return check_done("many_kernels");
}
