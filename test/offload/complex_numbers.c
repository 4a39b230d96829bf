/* Complex arithmetic on the device: add, multiply, divide by the operators (creal and its like are
 * functions that the device does not have), a Mandelbrot set, and a Fourier transform of
 * which the inverse must give the input back. */
#include "check.h"
#include <complex.h>

#pragma STDC FP_CONTRACT OFF

enum { N = 256 };

static void operators(void) {
  static double a[N][2], b[N][2], out[N][6];
  for (int i = 0; i < N; i++) {
    a[i][0] = i - 100;
    a[i][1] = i * 0.5;
    b[i][0] = 3 - i % 7;
    b[i][1] = 0.25 * (i % 9 + 1);
  }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : out)
  for (int i = 0; i < N; i++) {
    double re = a[i][0] * b[i][0] - a[i][1] * b[i][1], im = a[i][0] * b[i][1] + a[i][1] * b[i][0];
    double norm = b[i][0] * b[i][0] + b[i][1] * b[i][1];
    out[i][0] = re;
    out[i][1] = im;
    out[i][2] = (a[i][0] * b[i][0] + a[i][1] * b[i][1]) / norm;
    out[i][3] = (a[i][1] * b[i][0] - a[i][0] * b[i][1]) / norm;
    double _Complex z = a[i][0] + a[i][1] * I, w = b[i][0] + b[i][1] * I;
    double _Complex sum = z + w - 2 * ~z;
    out[i][4] = __real__(sum);
    out[i][5] = __imag__(sum);
  }
  for (int i = 0; i < N; i++) {
    double norm = b[i][0] * b[i][0] + b[i][1] * b[i][1];
    check_f64("re", i, out[i][0], a[i][0] * b[i][0] - a[i][1] * b[i][1]);
    check_f64("im", i, out[i][1], a[i][0] * b[i][1] + a[i][1] * b[i][0]);
    check_f64("quotient re", i, out[i][2], (a[i][0] * b[i][0] + a[i][1] * b[i][1]) / norm);
    check_f64("quotient im", i, out[i][3], (a[i][1] * b[i][0] - a[i][0] * b[i][1]) / norm);
    check_f64("sum re", i, out[i][4], a[i][0] + b[i][0] - 2 * a[i][0]);
    check_f64("sum im", i, out[i][5], a[i][1] + b[i][1] + 2 * a[i][1]);
  }
}

/* _Complex products and quotients through the compiler's library functions. */
static void builtin(void) {
  static double out[N][4];
  static float outf[N][2];
#pragma omp target teams distribute parallel for map(from : out, outf)
  for (int i = 0; i < N; i++) {
    double _Complex z = (i - 100) + i * 0.5 * I, w = (3 - i % 7) + 0.25 * (i % 9 + 1) * I;
    double _Complex p = z * w, q = z / w;
    out[i][0] = __real__(p);
    out[i][1] = __imag__(p);
    out[i][2] = __real__(q);
    out[i][3] = __imag__(q);
    float _Complex f = (float)i + 2.0f * I, g = f * f;
    outf[i][0] = __real__(g);
    outf[i][1] = __imag__(g);
  }
  for (int i = 0; i < N; i++) {
    double _Complex z = (i - 100) + i * 0.5 * I, w = (3 - i % 7) + 0.25 * (i % 9 + 1) * I;
    double _Complex p = z * w, q = z / w;
    check_f64("product re", i, out[i][0], __real__(p));
    check_f64("product im", i, out[i][1], __imag__(p));
    check_ulp64("quotient re", i, out[i][2], __real__(q), 64);
    check_ulp64("quotient im", i, out[i][3], __imag__(q), 64);
    check_f32("square re", i, outf[i][0], (float)i * (float)i - 4);
    check_f32("square im", i, outf[i][1], 4 * (float)i);
  }
}

#pragma omp declare target
static int escape(double re, double im) {
  double x = 0, y = 0;
  int n = 0;
  while (n < 100 && x * x + y * y <= 4) {
    double t = x * x - y * y + re;
    y = 2 * x * y + im;
    x = t;
    n++;
  }
  return n;
}
#pragma omp end declare target

static void mandelbrot(void) {
  enum { W = 60, H = 40 };
  static int image[H][W];
#pragma omp target teams distribute parallel for collapse(2) map(from : image)
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      image[y][x] = escape(-2 + x * 3.0 / W, -1 + y * 2.0 / H);
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      check_int("mandelbrot", y * W + x, image[y][x], escape(-2 + x * 3.0 / W, -1 + y * 2.0 / H));
}

/* A radix-2 transform in log2 N kernels on resident data; twiddle factors come from the host. */
static void transform(double *re, double *im, const double *c, const double *s, int sign) {
  for (int size = 2; size <= N; size *= 2) {
    int half = size / 2, stride = N / size;
#pragma omp target teams distribute parallel for map(tofrom : re[0 : N], im[0 : N]) map(to : c[0 : N], s[0 : N])
    for (int k = 0; k < N / 2; k++) {
      int j = k % half, low = k / half * size + j, high = low + half;
      double wr = c[j * stride], wi = sign * s[j * stride];
      double tr = wr * re[high] - wi * im[high], ti = wr * im[high] + wi * re[high];
      re[high] = re[low] - tr;
      im[high] = im[low] - ti;
      re[low] += tr;
      im[low] += ti;
    }
  }
}

static int reversed(int i) {
  int r = 0;
  for (int b = 1; b < N; b *= 2) {
    r = r * 2 + i % 2;
    i /= 2;
  }
  return r;
}

static void fourier(void) {
  static double re[N], im[N], re2[N], im2[N], c[N], s[N];
  for (int i = 0; i < N; i++) {
    c[i] = cos(2 * M_PI * i / N);
    s[i] = sin(2 * M_PI * i / N);
    re[reversed(i)] = i % 13 - 6;
    im[reversed(i)] = i % 5;
  }
  transform(re, im, c, s, -1);
  for (int i = 0; i < N; i++) {
    re2[reversed(i)] = re[i];
    im2[reversed(i)] = im[i];
  }
#pragma omp target data map(tofrom : re2, im2) map(to : c, s)
  transform(re2, im2, c, s, 1);
  for (int i = 0; i < N; i++) {
    check_true("inverse re", fabs(re2[i] / N - (i % 13 - 6)) < 1e-12);
    check_true("inverse im", fabs(im2[i] / N - i % 5) < 1e-12);
  }
}

int main(void) {
  operators();
  builtin();
  mandelbrot();
  fourier();
  return check_done("complex_numbers");
}
