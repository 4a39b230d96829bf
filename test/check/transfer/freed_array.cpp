/* An object frees its array (delete[]) while that is mapped, and another one's is taken for it. The twin's
 * objects end their mappings.
 *
 * expect: Invalid use of a mapping: .*, new memory of the host, is taken for
 * expect:    called at .*freed_array.cpp:@BUG@
 * expect:  It was freed, or moved, while it was mapped
 * expect:    called at .*freed_array.cpp:2[0-9]
 * expect:  Its memory is another block's by now, allocated at operator new
 * runtime: ours
 */
#include <cstdio>

class Array {
public:
  explicit Array(int value) : data(new int[COUNT]) {
    for (int i = 0; i < COUNT; i++)
      data[i] = value;
#pragma omp target enter data map(to : data [0:COUNT]) // BUG
  }
  ~Array() {
#if !BUG
#pragma omp target exit data map(release : data [0:COUNT])
#endif
    delete[] data;
  }
  int sum() const {
    int sum = 0, *const d = data;
#pragma omp target teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < COUNT; i++)
      sum += d[i];
    return sum;
  }

private:
  static constexpr int COUNT = 100;
  int *data;
};

int main() {
  int first = Array(1).sum(), second = Array(2).sum();
  std::printf("%d %d\n", first, second);
  return 0;
}
