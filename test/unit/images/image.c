/* A program whose device image the unit tests read: kernels of each execution mode, and variables that are
 * exported, local, and linked. It is compiled and linked for the device, never run. */

#pragma omp declare target
int exported = 3;
static int local = 5;
long array[100];
int use(int x);
int use(int x) {
  return x * exported + local + (int)array[x];
}
#pragma omp end declare target

int linked;
#pragma omp declare target link(linked)

/* Serial and parallel parts by turns, which keeps the optimiser from making it SPMD at -O0 and -O2 alike. */
int generic_kernel(int n);
int generic_kernel(int n) {
  int sum = 0;
#pragma omp target map(tofrom : sum)
  {
    sum = use(n) + linked;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
      sum += use(i);
    array[n] = sum;
#pragma omp parallel
    array[n + 1]++;
  }
  return sum;
}

void spmd_kernel(int n, double *out);
void spmd_kernel(int n, double *out) {
#pragma omp target teams distribute parallel for map(tofrom : out [0:n])
  for (int i = 0; i < n; i++)
    out[i] += use(i);
}

void no_arguments(void);
void no_arguments(void) {
#pragma omp target
  exported = 4;
}

void trap_kernel(int n);
void trap_kernel(int n) {
#pragma omp target
  if (n > 0)
    __builtin_trap();
}

void store_kernel(int *to);
void store_kernel(int *to) {
  unsigned long address = (unsigned long)to;
#pragma omp target firstprivate(address)
  *(int *)address = 1;
}

int main(void) {
  double out[10] = {0};
  spmd_kernel(10, out);
  no_arguments();
  trap_kernel(0);
  store_kernel(&local);
  local = 6;
  return generic_kernel(3) + (int)out[1];
}
