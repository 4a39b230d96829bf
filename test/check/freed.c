/* Memory is used after omp_target_free, when somebody else has been given some.
 * expect: Invalid write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 12 bytes into .*a block of 400 bytes that was freed$
 * named: freed by .*freed.c:[0-9]+ \(main\)$
 * named: made by .*freed.c:[0-9]+ \(main\)$ */
#include <omp.h>

int main(void) {
  const int device = omp_get_default_device();
  int *p = omp_target_alloc(400, device), *q;
  if (BUG)
    omp_target_free(p, device);
  q = omp_target_alloc(400, device);
#pragma omp target is_device_ptr(p)
  p[3] = 1; /* BUG */
  if (!BUG)
    omp_target_free(p, device);
  omp_target_free(q, device);
  return 0;
}
