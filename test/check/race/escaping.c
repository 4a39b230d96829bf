/* The arrays escape, in a function that any thread may call: so they are the device runtime's affair, which
 * has no memory for them. The clean twin's are the threads' own.
 * expect: Data race: write of 4 bytes in target region in main at line [0-9]+ \(.*:@BUG@\)
 * expect: of the workgroup's local memory \(LDS\)
 * expect: Hint: the device runtime has no memory left for variables that escape, and has given one address
 * more: yes
 * levels: O0 */
#pragma omp declare target
static __attribute__((noinline)) void fill(int *a, int value) {
  for (int i = 0; i < 4; i++)
    a[i] = value; /* BUG */
}
#if BUG
static __attribute__((noinline)) int last_of(int value) {
  int a[4];
  fill(a, value);
  return a[3];
}
#endif
#pragma omp end declare target

int main(void) {
  enum { N = 64 };
  int result[N];
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(N) map(from : result)
  for (int i = 0; i < N; i++) {
#if BUG
    result[i] = last_of(i);
#else
    int a[4];
    fill(a, i);
    result[i] = a[3];
#endif
  }
  return result[0] != 0;
}
