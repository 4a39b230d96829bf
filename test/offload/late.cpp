/* Offloading from atexit handlers and from destructors of static objects, when much of the program is gone already. */
#include "check.h"

#include <unistd.h>

static void add_on_device(int expected) {
  static int value = 0;
#pragma omp target map(tofrom : value)
  value += 2;
  if (value != expected) {
    fprintf(stderr, "late: %d, expected %d\n", value, expected);
    _exit(1); /* main's result is out already */
  }
}

/* Holds device memory as long as the program lives. */
struct Holder {
  int device = omp_get_default_device();
  void *memory = omp_target_alloc(4000, device);
  ~Holder() {
    add_on_device(6);
    omp_target_free(memory, device);
  }
};

static Holder holder;

static void at_exit() { add_on_device(4); }

int main() {
  atexit(at_exit);
  check_true("device memory of a static object", holder.memory != nullptr);
  add_on_device(2);
  return check_done("late");
}
