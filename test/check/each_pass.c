/* The same line goes wrong in each of 20 passes, each of which maps the variable again: that is one finding.
 * runtime: ours
 * expect: Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of `a(\[0:N - 1\])?`, a block of 396 bytes
 * expect: 20 x Invalid read of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\) */

enum { N = 100 };

int main(void) {
  int a[N] = {0}, got = 0;
  for (int pass = 0; pass < 20; pass++) {
#pragma omp target map(tofrom : a [0:N - 1]) map(tofrom : got)
    got += a[N - 1 - !BUG]; /* BUG */
  }
  return got;
}
