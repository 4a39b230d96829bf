/* Prints more than a hundred formats, on the host ("host") or in a target region ("device"): the outputs must
 * be equal. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#pragma omp declare target
/* Not known at compile time, so that nothing is formatted by the compiler. */
static void print_integers(int n, unsigned u, long l, unsigned long ul, long long ll) {
  printf("%d|%5d|%-5d|%05d|%+d|% d|\n", n, n, n, n, n, n);
  printf("%i|%3d|%.3d|%8.3d|%-8.3d|%+.2d|\n", n, n, n, n, n, n);
  printf("%u|%x|%X|%#x|%#X|%o|%#o|%08x|\n", u, u, u, u, u, u, u, u);
  printf("%hd|%hu|%hhd|%hhu|%hx|%hhx|\n", (short)n, (unsigned short)u, (signed char)n, (unsigned char)u,
         (unsigned short)u, (unsigned char)u);
  printf("%ld|%lu|%lx|%20ld|%-20ld|%020ld|\n", l, ul, ul, l, l, l);
  printf("%lld|%llu|%llx|%#llX|%+lld|\n", ll, (unsigned long long)ul, (unsigned long long)ul,
         (unsigned long long)ul, ll);
  printf("%zu|%zd|%zx|%jd|%ju|%td|\n", (size_t)ul, (ssize_t)l, (size_t)ul, (intmax_t)ll, (uintmax_t)ul,
         (ptrdiff_t)l);
  printf("%" PRId64 "|%" PRIu32 "|%" PRIx64 "|%" PRId8 "|\n", (int64_t)l, (uint32_t)u, (uint64_t)ul,
         (int8_t)n);
  printf("%*d|%-*d|%*d|%.*d|%*.*d|\n", 8, n, 8, n, -8, n, 4, n, 9, 4, n);
  printf("%c%c%c|%3c|%-3c|\n", 'a' + (n & 7), 'x', '!', 'r', 'l');
}

static void print_reals(double x, float f) {
  printf("%f|%.3f|%10.2f|%-10.2f|%010.2f|%+f|% f|\n", x, x, x, x, x, x, x);
  printf("%e|%.0e|%.10E|%15.3e|\n", x, x, x, x);
  printf("%g|%G|%.3g|%#g|%.15g|%.17g|\n", x, x, x, x, x, x);
  printf("%a|%A|%.3a|%20a|\n", x, x, x, x);
  printf("%F|%.0f|%#.0f|%*.*f|%.*f|\n", x, x, x, 14, 5, x, 2, x);
  printf("%f %g %a\n", f, f, f);
}

static void print_strings(const char *text, const char *empty, const void *pointer) {
  char local[8];
  for (int i = 0; i < 7; i++)
    local[i] = (char)('A' + i);
  local[7] = 0;
  printf("%s|%10s|%-10s|%.3s|%10.2s|%.0s|\n", text, text, text, text, text, text);
  printf("%s|%s|%5s|%s|\n", empty, local, local + 4, "literal");
  printf("%.*s|%*s|%-*s|%*.*s|\n", 2, text, 9, text, 9, text, 9, 3, text);
  printf("%p|%20p|%-20p|%p|\n", pointer, pointer, pointer, (void *)0);
  printf("%%|%d%%|100%% of %s%%\n", 42, text);
  printf("%s %d %s %f %s %c %s\n", text, 1, local, 2.5, empty, 'z', text);
  printf("%c%f%c%ld%c%d%s\n", 'a', 1.5, 'b', 2L, 'c', 3, text);
  printf("no argument\n");
  printf("a line in ");
  printf("two %s\n", "pieces");
  printf("%s\n", "a long string that takes more than one packet of the protocol, which are of 64 bytes, "
                 "and even more than two of them, so that all its parts must be put together again");
}

static void print_numbered(int n, double x, const char *text) {
  printf("%2$s %1$d|%2$.3s|%1$5d|%1$x\n", n, text);
  printf("%3$s|%2$f|%1$c|%3$10s\n", 'c', x, text);
  printf("%2$*1$d|%2$-*1$d|%3$.*4$f\n", 8, n, x, 2);
  printf("%3$lld %1$hhd %2$5.1f%%\n", n, x, -12345678901234LL);
#ifndef __AMDGCN__
  errno = 0; /* as on a device */
#endif
  printf("%m|%12m\n");
}

static void print_results(const char *text) {
  int a = printf("seven%c\n", '!'), b = printf("%s\n", text), c = printf("%5d%%\n", 7);
  printf("%d %d %d\n", a, b, c);
}
#pragma omp end declare target

static const int integers[] = {0, 1, -1, 42, -12345, INT_MAX, INT_MIN};
static const double reals[] = {0,          -0.0,     1,         -1.5, 3.14159265358979, 1e300, -1e-300,
                               123456.789, INFINITY, -INFINITY, NAN};
enum { INTEGERS = sizeof integers / sizeof *integers, REALS = sizeof reals / sizeof *reals };

int main(int argc, char **argv) {
  const int on_device = argc > 1 && !strcmp(argv[1], "device");
  char text[] = "string", empty[] = "";
  int n[INTEGERS];
  double x[REALS];
  memcpy(n, integers, sizeof n);
  memcpy(x, reals, sizeof x);
#pragma omp target if (on_device) map(to : n, x, text, empty)
  {
    for (int i = 0; i < INTEGERS; i++)
      print_integers(n[i], (unsigned)n[i] * 3, 1000000007L * n[i], 123456789123UL * (unsigned)n[i],
                     -98765432109LL * n[i]);
    for (int i = 0; i < REALS; i++)
      print_reals(x[i], (float)x[i]);
    print_strings(text, empty, (void *)0x12345678);
    for (int i = 0; i < INTEGERS; i++)
      print_numbered(n[i], x[i], text);
    print_results(text);
  }
  return 0;
}
