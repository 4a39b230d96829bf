/* One member of a structure is never written.
 * expect: Uninitialised value read by the host: 4 bytes of `all(\[0:N\])?`
 * expect: at .*member.c:@BUG@ \(main\)
 * runtime: ours */
#include <stdio.h>

enum { N = 100 };
typedef struct item {
  int id;
  float weight;
  double value;
} item_t;

int main(void) {
  static item_t all[N];
#pragma omp target teams distribute parallel for map(from : all)
  for (int i = 0; i < N; i++) {
    all[i].id = i;
    all[i].value = i / 2.0;
#if !BUG
    all[i].weight = 1;
#endif
  }
  printf("%g\n", all[3].value);
  printf("%g\n", all[3].weight); /* BUG */
  return 0;
}
