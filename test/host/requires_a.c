/* One half of a program whose halves require different things. */
#pragma omp requires unified_shared_memory
int twice(int value);
int main(void) {
  int value = 2;
#pragma omp target map(tofrom : value)
  value++;
  return twice(value) != 6;
}
