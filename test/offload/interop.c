/* OpenMP's interop objects: what they say of the device, and that they come and go. */
#include "check.h"

int main(void) {
  int device = omp_get_default_device(), error = 0;
  for (int round = 0; round < 3; round++) {
    omp_interop_t object = omp_interop_none, queue = omp_interop_none;
#pragma omp interop init(target : object) device(device)
    check_true("an object", object != omp_interop_none);
    check_int("device number", round, omp_get_interop_int(object, omp_ipr_device_num, &error), device);
    check_int("its error", round, error, 0);
    check_true("an agent", omp_get_interop_ptr(object, omp_ipr_device, &error) != NULL);
    check_int("its error", round, error, 0);
#pragma omp interop init(targetsync : queue) device(device)
    check_true("a queue", omp_get_interop_ptr(queue, omp_ipr_targetsync, &error) != NULL);
    check_int("its error", round, error, 0);
#pragma omp interop destroy(queue)
#pragma omp interop destroy(object)
    check_true("destroyed", object == omp_interop_none && queue == omp_interop_none);
  }
  return check_done("interop");
}
