/* Memory is freed by the function that allocated it, and by its user again.
 * expect: Invalid free$
 * expect: called at .*freed_twice.c:@BUG@ \(main\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes into .*a block of 400 bytes that was freed$
 * expect: freed by .*freed_twice.c:[0-9]+ \(sum\)$
 * expect: made by .*freed_twice.c:[0-9]+ \(main\)$
 * runtime: ours */
#include <omp.h>

static __attribute__((noinline)) int sum(int *p, int device) {
  int s = 0;
#pragma omp target is_device_ptr(p) map(tofrom : s)
  for (int i = 0; i < 100; i++) {
    p[i] = i;
    s += p[i];
  }
  omp_target_free(p, device);
  return s;
}

int main(void) {
  const int device = omp_get_default_device();
  int *p = omp_target_alloc(400, device);
  const int s = sum(p, device);
  if (BUG)
    omp_target_free(p, device); /* BUG */
  return s != 4950;
}
