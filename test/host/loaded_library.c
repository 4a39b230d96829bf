/* A library with a variable on the device, and regions that use it, directly and through its map. */
#pragma omp declare target
extern int counter;
int counter = 7;
#pragma omp end declare target

int add_on_device(int value);
int add_on_device(int value) {
#pragma omp target map(tofrom : value)
  value += ++counter;
  counter = 100;
#pragma omp target update to(counter)
#pragma omp target map(tofrom : value)
  value += counter - 100;
  return value;
}
