// Globals of class type on the device: their constructors run there when the image is loaded.
#include "check.h"

#pragma omp declare target
struct Table {
  int values[16];
  int sum;
  Table() : sum(0) {
    for (int i = 0; i < 16; i++) {
      values[i] = i * i + 1;
      sum += values[i];
    }
  }
  int at(int i) const { return values[i & 15]; }
};
struct Offset {
  double by;
  explicit Offset(double b) : by(b * 2) {}
};
Table table;
static Offset offset(1.25);
int plain = table.at(3);
#pragma omp end declare target

int main() {
  constexpr int N = 100;
  double out[N];
  int sum = 0;
#pragma omp target map(from : out) map(from : sum)
  {
    sum = table.sum + plain;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      out[i] = table.at(i) + offset.by;
  }
  check_int("sum", 0, sum, 1240 + 16 + 10);
  for (int i = 0; i < N; i++)
    check_f64("table", i, out[i], (i & 15) * (i & 15) + 1 + 2.5);
  return check_done("cxx_globals");
}
