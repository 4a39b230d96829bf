/* Compares device results with host results for the programs of this folder (C and C++), and makes sure that a program
 * ran on the plugin and the thunk that its test meant. Not here: what is computed. */
#ifndef OFFLOAD_CHECK_H
#define OFFLOAD_CHECK_H

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An OpenMP directive inside a macro; the text is expanded first: OMP(target map(tofrom : x)). */
#define OMP(...) CHECK_PRAGMA(omp __VA_ARGS__)
#define CHECK_PRAGMA(...) _Pragma(#__VA_ARGS__)

/* Sizes of team-local arrays. With optimisation they become static LDS; without, LLVM 16's device runtime takes them from
 * a stack of 512 bytes per team with 8-bit counters, which nothing but small arrays fits into. */
#ifdef __OPTIMIZE__
#define CHECK_TEAM_LOCAL(optimised, plain) (optimised)
#else
#define CHECK_TEAM_LOCAL(optimised, plain) (plain)
#endif

/* Wrong values so far, and the object that the last message spoke of: one message per object is enough. */
typedef struct check_state {
  long wrong;
  int messages;
  const char *last;
} check_state_t;

static check_state_t check_state;

enum { CHECK_MAX_MESSAGES = 20 };

/* Counts a wrong value; says whether it is the first of its object and should be printed. */
static inline int check_wrong(const char *what) {
  int first = (check_state.last == NULL || strcmp(check_state.last, what) != 0);
  check_state.wrong++;
  check_state.last = what;
  return first && check_state.messages++ < CHECK_MAX_MESSAGES;
}

/* Integers of any width, bit for bit. */
static inline void check_int(const char *what, long index, long long got, long long want) {
  if (got == want)
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %lld (0x%llx), expected %lld (0x%llx)\n", what, index, got, (unsigned long long)got,
            want, (unsigned long long)want);
}

/* Doubles, bit for bit, except that any NaN equals any NaN: IEEE 754 leaves sign and payload open. */
static inline void check_f64(const char *what, long index, double got, double want) {
  if (memcmp(&got, &want, sizeof got) == 0 || (got != got && want != want))
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %a (%.17g), expected %a (%.17g)\n", what, index, got, got, want, want);
}

/* Floats; as check_f64. */
static inline void check_f32(const char *what, long index, float got, float want) {
  if (memcmp(&got, &want, sizeof got) == 0 || (got != got && want != want))
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %a (%.9g), expected %a (%.9g)\n", what, index, (double)got, (double)got,
            (double)want, (double)want);
}

/* Doubles within `ulps` units in the last place of `want`; zeros of both signs are equal. */
static inline void check_ulp64(const char *what, long index, double got, double want, double ulps) {
  if (got == want || (got != got && want != want))
    return;
  double unit = nextafter(fabs(want), INFINITY) - fabs(want);
  if (isfinite(got) && isfinite(want) && fabs(got - want) <= ulps * unit)
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %a (%.17g), expected %a (%.17g) within %g ulp\n", what, index, got, got, want, want,
            ulps);
}

/* Floats within `ulps` units in the last place of the float nearest to `want`. */
static inline void check_ulp32(const char *what, long index, float got, double want, double ulps) {
  float near = (float)want;
  if (got == near || (got != got && want != want))
    return;
  double unit = (double)nextafterf(fabsf(near), INFINITY) - (double)fabsf(near);
  if (isfinite(got) && isfinite(near) && fabs((double)got - want) <= ulps * unit)
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %a (%.9g), expected %a (%.9g) within %g ulp\n", what, index, (double)got,
            (double)got, want, want, ulps);
}

/* A condition that must hold. */
static inline void check_true(const char *what, int holds) {
  if (!holds && check_wrong(what))
    fprintf(stderr, "%s: does not hold\n", what);
}

/* Whether target regions have a memory of their own: not so when a program runs its regions on the host. */
static inline int check_separate(void) {
  return omp_get_num_devices() > 0;
}

/* When the environment variable names a file, it must be the only mapped file whose path contains `pattern`. */
static inline void check_mapped(const char *variable, const char *pattern) {
  const char *expected = getenv(variable);
  if (expected == NULL || expected[0] == '\0')
    return;
  char real[PATH_MAX], line[PATH_MAX + 256];
  if (realpath(expected, real) == NULL) {
    fprintf(stderr, "%s: no such file: %s\n", variable, expected);
    check_state.wrong++;
    return;
  }
  FILE *maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char *path = strchr(line, '/');
    if (path == NULL || strstr(path, pattern) == NULL)
      continue;
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(path, real) == 0) {
      found = 1;
    } else if (check_wrong(path)) {
      fprintf(stderr, "loaded %s, but this test is for %s\n", path, real);
    }
  }
  if (maps != NULL)
    fclose(maps);
  if (!found) {
    check_state.wrong++;
    fprintf(stderr, "%s was not loaded\n", real);
  }
}

/* The end of every program: one line on success, exit status for main. */
static inline int check_done(const char *name) {
  check_mapped("CHECK_PLUGIN", "libomptarget.rtl.amdgpu");
  check_mapped("CHECK_THUNK", "libhsakmt.so");
  check_mapped("CHECK_KFD", "libgfxsim-kfd.so");
  check_mapped("CHECK_HOST", "libomptarget.so");
  if (check_state.wrong != 0) {
    printf("%s: %ld wrong\n", name, check_state.wrong);
    return 1;
  }
  printf("%s: ok\n", name);
  return 0;
}

/* Of whole programs, which run small unless they are given a size to be timed with: the argument, from 1 to `most`. Ends
 * the program when it is none. */
static inline int check_size(int argc, char **argv, int small, int most) {
  char *end = NULL;
  const long size = argc == 2 ? strtol(argv[1], &end, 10) : small;
  if (argc <= 2 && (argc < 2 || *end == '\0') && size >= 1 && size <= most)
    return (int)size;
  fprintf(stderr, "usage: %s [SIZE from 1 to %d]\n", argv[0], most);
  exit(2);
}

/* Doubles that differ by rounding: by `tolerance` times `scale`, which is as large as what they were made of. */
static inline void check_near(const char *what, long index, double got, double want, double tolerance, double scale) {
  if (fabs(got - want) <= tolerance * scale)
    return;
  if (check_wrong(what))
    fprintf(stderr, "%s[%ld]: got %.17g, expected %.17g within %g\n", what, index, got, want, tolerance * scale);
}

/* A small generator with reproducible output (xorshift64*), for inputs. */
static inline uint64_t check_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * UINT64_C(2685821657736338717);
}

#endif
