/* The C half of two_images.cpp. */
int c_fill(int *a, int n, int start);
long c_sum(const int *a, int n);
int c_counter(void);

#pragma omp declare target
static int counter = 1000;
#pragma omp end declare target

int c_fill(int *a, int n, int start) {
  int filled = 0;
#pragma omp target teams distribute parallel for map(tofrom : a[0 : n], filled) reduction(+ : filled)
  for (int i = 0; i < n; i++) {
    a[i] = i + start;
    filled++;
  }
  return filled;
}

long c_sum(const int *a, int n) {
  long sum = 0;
#pragma omp target teams distribute parallel for map(to : a[0 : n]) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += a[i];
  return sum;
}

int c_counter(void) {
  int seen = 0;
#pragma omp target map(from : seen)
  seen = ++counter;
  return seen;
}
