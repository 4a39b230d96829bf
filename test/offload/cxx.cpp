// C++ on the device: templates, lambdas, classes with virtual functions created there, operator overloading, references,
// function objects, std::complex-like and std::array-like types, inheritance, constexpr tables, member kernels.
#include "check.h"
#include <array>
#include <cstddef>

namespace {

template <typename T> struct Vec3 {
  T x, y, z;
  Vec3(T x, T y, T z) : x(x), y(y), z(z) {}
  Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
  Vec3 operator*(T s) const { return Vec3(x * s, y * s, z * s); }
  T dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};

template <typename T> T horner(const T *c, int n, T x) {
  T r = c[n - 1];
  for (int i = n - 2; i >= 0; i--)
    r = r * x + c[i];
  return r;
}

template <int N> struct Factorial {
  static constexpr long value = N * Factorial<N - 1>::value;
};
template <> struct Factorial<0> {
  static constexpr long value = 1;
};

constexpr int squares[6] = {0, 1, 4, 9, 16, 25};

// Lambdas as template arguments of a function with a target region get different names on host and device (clang-16), so
// these are classes.
struct Square_of {
  int operator()(int i) const { return i * i; }
};
struct Plus {
  int by;
  int operator()(int i) const { return i + by; }
};

template <typename F> void for_each(int n, int *out, F f) {
#pragma omp target teams distribute parallel for map(from : out[0 : n])
  for (int i = 0; i < n; i++)
    out[i] = f(i);
}

template <typename T> void templates(T scale) {
  constexpr int N = 300;
  T out[N];
  const T coefficients[4] = {1, 2, 3, 4};
#pragma omp target teams distribute parallel for map(from : out) map(to : coefficients)
  for (int i = 0; i < N; i++) {
    Vec3<T> a(T(i), T(1), T(2)), b(T(3), T(i % 7), T(5));
    out[i] = (a + b * scale).dot(b) + horner(coefficients, 4, T(i % 10)) + T(Factorial<6>::value) + squares[i % 6];
  }
  for (int i = 0; i < N; i++) {
    Vec3<T> a(T(i), T(1), T(2)), b(T(3), T(i % 7), T(5));
    T want = (a + b * scale).dot(b) + horner(coefficients, 4, T(i % 10)) + T(Factorial<6>::value) + squares[i % 6];
    check_f64("template", i, double(out[i]), double(want));
  }
}

void lambdas() {
  constexpr int N = 200;
  int out[N], offset = 17;
  for_each(N, out, Square_of{});
  for (int i = 0; i < N; i++)
    check_int("function object", i, out[i], i * i);
  for_each(N, out, Plus{offset});
  for (int i = 0; i < N; i++)
    check_int("function object with state", i, out[i], i + 17);
  auto outside = [offset](int i) { return i * offset; };
#pragma omp target teams distribute parallel for map(from : out) map(to : outside)
  for (int i = 0; i < N; i++)
    out[i] = outside(i) + [&]() { return i; }();
  for (int i = 0; i < N; i++)
    check_int("captured lambda", i, out[i], i * 18);
  int sum = 0;
#pragma omp target map(tofrom : sum)
  {
    auto twice = [](auto f, int x) { return f(f(x)); };
    auto add = [&sum](int x) { sum += x; };
    for (int i = 0; i < 10; i++)
      add(twice([i](int x) { return x * 2 + i; }, i));
  }
  int want = 0;
  for (int i = 0; i < 10; i++)
    want += (i * 2 + i) * 2 + i;
  check_int("lambda in lambda", 0, sum, want);
}

#pragma omp declare target
struct Shape {
  virtual double area() const { return -1; } // a pure one needs a runtime that the device does not have
  virtual int corners() const { return 0; }
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  int corners() const override { return 4; }
};
struct Circle : Shape {
  double radius;
  explicit Circle(double r) : radius(r) {}
  double area() const override { return 3 * radius * radius; }
};
struct Triangle final : Square {
  explicit Triangle(double s) : Square(s) {}
  double area() const override { return Square::area() / 2; }
  int corners() const override { return 3; }
};
inline double __attribute__((noinline)) measure(const Shape &s) { return s.area() * 10 + s.corners(); }
#pragma omp end declare target

void virtuals() {
  constexpr int N = 130;
  double out[N];
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < N; i++) {
    Square square(i);
    Circle circle(i);
    Triangle triangle(i);
    const Shape *shapes[3] = {&square, &circle, &triangle};
    out[i] = measure(*shapes[i % 3]) + shapes[(i + 1) % 3]->area();
  }
  for (int i = 0; i < N; i++) {
    Square square(i);
    Circle circle(i);
    Triangle triangle(i);
    const Shape *shapes[3] = {&square, &circle, &triangle};
    check_f64("virtual", i, out[i], measure(*shapes[i % 3]) + shapes[(i + 1) % 3]->area());
  }
}

// Target regions in member functions use `this` and its members.
class Counter {
public:
  explicit Counter(int n) : length(n), data(new int[std::size_t(n)]) {
    for (int i = 0; i < n; i++)
      data[i] = i;
#pragma omp target enter data map(to : this[:1]) map(to : data[0 : length])
  }
  ~Counter() {
#pragma omp target exit data map(delete : data[0 : length]) map(delete : this[:1])
    delete[] data;
  }
  Counter(const Counter &) = delete;
  Counter &operator=(const Counter &) = delete;
  void add(int v) {
#pragma omp target teams distribute parallel for map(alloc : this[:1], data[0 : length])
    for (int i = 0; i < length; i++)
      data[i] += v * (i % step);
  }
  int sum() {
    int result = 0;
#pragma omp target teams distribute parallel for map(alloc : this[:1], data[0 : length]) reduction(+ : result)             \
    map(tofrom : result)
    for (int i = 0; i < length; i++)
      result += data[i];
    return result;
  }

private:
  int length;
  int *data;
  static constexpr int step = 3;
};

void members() {
  Counter c(1000);
  c.add(5);
  c.add(-2);
  int want = 0;
  for (int i = 0; i < 1000; i++)
    want += i + 3 * (i % 3);
  check_int("members", 0, c.sum(), want);
}

// References and standard containers without storage of their own.
void references() {
  std::array<int, 64> a{};
  int total = 0, &ref = total;
  auto fill = [](std::array<int, 64> &array, int start) {
    for (std::size_t i = 0; i < array.size(); i++)
      array[i] = start + int(i);
  };
#pragma omp target map(tofrom : a, ref)
  {
    fill(a, 100);
    for (int v : a)
      ref += v;
  }
  for (int i = 0; i < 64; i++)
    check_int("array", i, a[std::size_t(i)], 100 + i);
  check_int("reference", 0, total, 6400 + 63 * 32);
}

} // namespace

int main() {
  templates<int>(2);
  templates<long>(3);
  templates<float>(2.0f);
  templates<double>(0.5);
  lambdas();
  virtuals();
  members();
  references();
  return check_done("cxx");
}
