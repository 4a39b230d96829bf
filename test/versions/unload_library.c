/* A library with device code of its own, to be loaded and unloaded while the program runs. LIBRARY_FACTOR
 * tells two of them apart. */

#pragma omp declare target
int calls = 0;
int factor = LIBRARY_FACTOR;
#pragma omp end declare target

long library_run(int n, long *values);
long library_run(int n, long *values) {
  int seen = 0;
#pragma omp target map(from : seen)
  seen = ++calls;
#pragma omp target teams distribute parallel for map(tofrom : values [0:n])
  for (int i = 0; i < n; i++)
    values[i] += factor * i;
  return seen;
}
