// An object that is mapped with what its member points to: clang has no name for the whole.
// expect: Invalid read of 4 bytes in target region in grid::total\(\) at line [0-9]+ \(.*:@BUG@\)
// expect: Address 0x[0-9a-f]+ is [0-9]+ bytes behind the end of a block of 16 bytes$
class grid {
  int *cell = new int[4]{1, 2, 3, 4};
  int count = 4;

public:
  int total() {
    const grid *list = this;
    int sum = 0;
#pragma omp target enter data map(to : this [0:1], cell [0:4])
#pragma omp target map(tofrom : sum)
    sum += cell[0] + list[BUG].count; // BUG
#pragma omp target exit data map(release : cell [0:4], this [0:1])
    return sum;
  }
};

int main() {
  grid one;
  one.total();
  return 0;
}
