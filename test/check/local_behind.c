/* An array of each team, in local memory, is written far behind its end.
 * expect: Invalid write of 4 bytes in .*target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: Offset [0-9]+ is beyond the workgroup's local memory \(LDS\), which has [0-9]+ bytes
 * levels: O2 */
int main(void) {
  int result = 0, n = BUG ? 40000 : 512;
#pragma omp target teams num_teams(1) thread_limit(64) map(tofrom : result) firstprivate(n)
  {
    int t[512];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      t[i] = i; /* BUG */
    result = t[3];
  }
  return result != 3;
}
