/* Two translation units that print, in C++, from two devices at once and without waiting. */
#include <cstdio>
#include <iostream>

void print_elsewhere(int number);

int main() {
  int number = 5;
  std::cout << "begin" << std::endl;
#pragma omp target map(to : number) nowait
  {
    std::printf("first %d\n", number);
    std::fprintf(stdout, "second %d\n", number);
  }
  for (int device = 0; device < 2; device++) {
#pragma omp target teams distribute parallel for device(device) nowait
    for (int i = 0; i < 200; i++)
      printf("device %d line %d\n", device, i);
  }
#pragma omp taskwait
  print_elsewhere(3);
  std::cout << "end" << std::endl;
}
