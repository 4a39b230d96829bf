/* A program that ends without waiting for what its last construct does. */
static int data[100];

int main(void) {
#pragma omp target enter data map(to : data)
#pragma omp target update to(data) nowait
  return 0;
}
