/* Two translation units share declare target globals and functions. link_other.c has the other half. */
#include "check.h"
#include "link_other.h"

/* Defined here, used on the device by the other unit. */
#pragma omp declare target
int shared_counter = 100;
double shared_scale = 0.25;
const int shared_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static int private_same_name = 11;

int twice(int x) {
  return 2 * x + private_same_name;
}
#pragma omp end declare target

enum { N = 1000 };

int main(void) {
  int a[N];
#pragma omp target teams distribute parallel for map(from : a)
  for (int i = 0; i < N; i++)
    a[i] = other_mix(i) + twice(i) + other_table[i % 5];
  for (int i = 0; i < N; i++)
    check_int("functions", i, a[i], other_mix(i) + twice(i) + other_table[i % 5]);

  /* The device has its own copies of globals; update moves them. */
  int host = 0, device = 0;
#pragma omp target
  {
    shared_counter += 5;
    other_state.count = 40;
    private_same_name = 12; /* no update can reach a static variable, but the device keeps it */
  }
  if (check_separate()) {
    check_int("host copy is untouched", 0, shared_counter, 100);
    check_int("host struct is untouched", 0, other_state.count, 7);
  }
#pragma omp target update from(shared_counter, other_state)
  check_int("after update from", 0, shared_counter, 105);
  check_int("struct after update from", 0, other_state.count, 40);
  int on_device = 0;
#pragma omp target map(from : on_device)
  on_device = private_same_name + twice(0); /* as the kernel before left it */
  check_int("static of this unit", 0, on_device, 24);
  if (check_separate())
    check_int("static of this unit on the host", 0, private_same_name, 11);
  private_same_name = 12;
  shared_counter = 1000;
  shared_scale = 0.5;
#pragma omp target update to(shared_counter, shared_scale)
  other_device_work(&device);
  other_host_work(&host);
  check_int("other unit's kernel", 0, device, host);

  /* link: no storage on the device until it is mapped. */
  for (int i = 0; i < 64; i++)
    other_linked[i] = i * i;
  int sum = 0;
#pragma omp target map(tofrom : other_linked, sum)
  for (int i = 0; i < 64; i++) {
    sum += other_linked[i];
    other_linked[i] = -i;
  }
  check_int("linked sum", 0, sum, 63 * 64 * 127 / 6);
  for (int i = 0; i < 64; i++)
    check_int("linked", i, other_linked[i], -i);
  return check_done("link");
}
