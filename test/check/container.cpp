// A template whose operator does not look at the length; the region is in a member function.
// expect: Invalid read of 4 bytes in target region in (view<float>::total\(\)|_ZN?K?4viewIfE5totalEv) at line [0-9]+
// expect: at .*:@BUG@:
// expect: Address 0x[0-9a-f]+ is 0 bytes behind the end of .*a block of 128 bytes$
#include <vector>

template <typename T> struct view {
  T *data;
  int length, used;
  T at(int i) const { return data[i]; } // BUG
  T total() {
    T sum = 0;
    T *base = data;
    const int n = used;
#pragma omp target map(to : base[0 : length]) map(tofrom : sum) firstprivate(n)
    {
      view<T> inner{base, n, n};
      for (int i = 0; i < n; i++)
        sum += inner.at(i);
    }
    return sum;
  }
};

int main() {
  std::vector<float> numbers(40, 1.0f);
  view<float> all{numbers.data(), 32, 32 + BUG};
  return all.total() < 32;
}
