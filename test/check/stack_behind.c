/* An array of each thread is too small, by far.
 * expect: Invalid write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Offset [0-9]+ is beyond the work-item's private memory \(stack\), which has [0-9]+ bytes$
 * expect: Hint: does an index go beyond a variable\?
 * levels: O2 */
int main(void) {
  int result = 0, n = BUG ? 5000 : 16;
#pragma omp target teams distribute parallel for map(tofrom : result) firstprivate(n)
  for (int k = 0; k < 4; k++) {
    volatile int t[16];
    for (int i = 0; i < n; i++)
      t[i] = i; /* BUG */
    if (k == 0)
      result = t[3];
  }
  return result != 3;
}
