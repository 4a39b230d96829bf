/* What the gfxsim benchmark runs. Compiled twice: with offloading for the simulated GPU, and without OpenMP
 * for the host, where the same loops run in one thread. kernels NAME REPETITIONS   prints wall seconds and
 * processor seconds of each repetition, then a checksum NAME is one of the table at the end, or `first`: one
 * small kernel and out, or `idle`: one small kernel, then rest. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/* All kernels work on the same three blocks of memory, which stay on the device. */
static void *in, *other, *out;

/* ---- Matrix products ---- */

enum { DGEMM_N = 384, GEMM_N = 512 };

static void dgemm(void) {
  const int n = DGEMM_N;
  const double *a = in, *b = other;
  double *c = out;
#pragma omp target teams distribute parallel for collapse(2) map(to                                          \
                                                                 : a [0:n * n], b [0:n * n])                 \
    map(from                                                                                                 \
        : c [0:n * n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
typedef float sums_t __attribute__((ext_vector_type(16)));

/* One wave makes a tile of 32 x 32 with the GPU's matrix instructions: each takes two columns of A and two
 * rows of B. */
static void gemm_tile(const float *a, const float *b, float *c, int n, int lane) {
  sums_t sums = {0};
  const float *pa = a + (lane % 32) * n + lane / 32, *pb = b + (lane / 32) * n + lane % 32;
  for (int k = 0; k < n; k += 2)
    sums = __builtin_amdgcn_mfma_f32_32x32x2f32(pa[k], pb[k * n], sums, 0, 0, 0);
  for (int r = 0; r < 16; r++)
    c[(8 * (r / 4) + 4 * (lane / 32) + r % 4) * n + lane % 32] = sums[r];
}
#else
static void gemm_tile(const float *a, const float *b, float *c, int n, int lane) {
  for (int i = lane / 2; i < (lane == 0 ? 32 : 0); i++)
    for (int j = 0; j < 32; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
#endif

static void mfma_gemm(void) {
  const int n = GEMM_N, tiles = n / 32;
  const float *a = in, *b = other;
  float *c = out;
#pragma omp target teams distribute parallel for num_teams(tiles *tiles) thread_limit(64) map(to             \
                                                                                              : a [0:n * n]) \
    map(to                                                                                                   \
        : b [0:n * n]) map(from                                                                              \
                           : c [0:n * n])
  for (int i = 0; i < tiles * tiles * 64; i++) {
    const int y = i / 64 / tiles * 32, x = i / 64 % tiles * 32;
    gemm_tile(a + y * n, b + x, c + y * n + x, n, i % 64);
  }
}

/* ---- Loops over memory ---- */

enum { GRID = 1024, SWEEPS = 4, SUMMANDS = 4 << 20, COPY_WORDS = 8 << 20, CLEAR_WORDS = 24 << 20 };

static void sweep(const double *from, double *to) {
#pragma omp target teams distribute parallel for collapse(2) map(to                                          \
                                                                 : from [0:GRID * GRID])                     \
    map(from                                                                                                 \
        : to [0:GRID * GRID])
  for (int y = 1; y < GRID - 1; y++)
    for (int x = 1; x < GRID - 1; x++) {
      const double *p = &from[y * GRID + x];
      to[y * GRID + x] = 0.2 * (p[0] + p[-1] + p[1] + p[-GRID] + p[GRID]);
    }
}
static void stencil(void) {
  for (int s = 0; s < SWEEPS; s += 2) {
    sweep(other, out);
    sweep(out, other);
  }
}

static void reduction(void) {
  const double *a = in;
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : a [0:SUMMANDS])
  for (int i = 0; i < SUMMANDS; i++)
    sum += a[i];
  double *c = out;
#pragma omp target map(from : c [0:1])
  c[0] = sum;
}

static void copy(void) {
  const uint64_t *a = in;
  uint64_t *c = out;
#pragma omp target teams distribute parallel for map(to : a [0:COPY_WORDS]) map(from : c [0:COPY_WORDS])
  for (int i = 0; i < COPY_WORDS; i++)
    c[i] = a[i];
}

static void clear(void) {
  uint64_t *c = out;
#pragma omp target teams distribute parallel for map(from : c [0:CLEAR_WORDS])
  for (int i = 0; i < CLEAR_WORDS; i++)
    c[i] = 0;
}

/* ---- Arithmetic ---- */

enum { BODIES = 4096, HASHES = 1 << 21, HASH_ROUNDS = 32, ITEMS = 4 << 20, BINS = 1024 };

static void nbody(void) {
  const float *p = in;
  float *c = out;
#pragma omp target teams distribute parallel for map(to : p [0:4 * BODIES]) map(from : c [0:3 * BODIES])
  for (int i = 0; i < BODIES; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < BODIES; j++) {
      const float dx = p[4 * j] - p[4 * i], dy = p[4 * j + 1] - p[4 * i + 1],
                  dz = p[4 * j + 2] - p[4 * i + 2];
      const float r2 = dx * dx + dy * dy + dz * dz + 0.01f, f = p[4 * j + 3] / (r2 * sqrtf(r2));
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    c[3 * i] = ax;
    c[3 * i + 1] = ay;
    c[3 * i + 2] = az;
  }
}

static void hash(void) {
  const uint32_t *a = in;
  uint32_t *c = out;
#pragma omp target teams distribute parallel for map(to : a [0:HASHES]) map(from : c [0:HASHES])
  for (int i = 0; i < HASHES; i++) {
    uint32_t x = a[i];
    for (int r = 0; r < HASH_ROUNDS; r++)
      x = mix(x + (uint32_t)r);
    c[i] = x;
  }
}

static void histogram(void) {
  const uint32_t *a = in;
  uint32_t *c = out;
#pragma omp target teams distribute parallel for map(to : a [0:ITEMS]) map(tofrom : c [0:BINS])
  for (int i = 0; i < ITEMS; i++)
    __atomic_fetch_add(&c[a[i] % BINS], 1, __ATOMIC_RELAXED); /* unlike a pragma, atomic on the host too */
}

/* ---- Serial code: one lane of a generic region ---- */

enum { NODES = 1 << 16, STEPS = 1 << 21, ROWS = 1 << 16, ROW = 16, TEXT = 1 << 20, STATES = 16 };

/* A list that goes through all of the nodes, and round again. */
static void list_walk(void) {
  const uint32_t *next = in;
  uint32_t *c = out;
#pragma omp target map(to : next [0:NODES]) map(from : c [0:1])
  {
    uint32_t at = 0, sum = 0;
    for (int i = 0; i < STEPS; i++) {
      at = next[at];
      sum = sum * 3 + (at ^ (uint32_t)i);
    }
    c[0] = sum;
  }
}

/* A sparse matrix times a vector, row by row. */
static void sparse(void) {
  const uint32_t *column = in;
  const double *x = other;
  double *c = out;
#pragma omp target map(to : column [0:ROWS * ROW], x [0:ROWS]) map(from : c [0:ROWS])
  for (int i = 0; i < ROWS; i++) {
    double sum = 0;
    for (int k = 0; k < ROW; k++)
      sum += x[column[i * ROW + k] % ROWS] * (k + 1);
    c[i] = sum;
  }
}

/* A machine that reads a text: the next state is in a table, and some states count. */
static void automaton(void) {
  const uint8_t *text = in, *table = other;
  uint32_t *c = out;
#pragma omp target map(to : text [0:TEXT], table [0:STATES * 256]) map(from : c [0:2])
  {
    uint32_t state = 0, found = 0;
    for (int i = 0; i < TEXT; i++) {
      state = table[state * 256 + text[i]];
      if (state == 3)
        found++;
      else if (state > 11)
        found ^= state;
    }
    c[0] = found;
    c[1] = state;
  }
}

/* ---- Many launches of one small workgroup ---- */

enum { LAUNCHES = 70000, GROUP = 64 };

static void launches(void) {
  uint32_t *c = out;
  for (uint32_t n = 0; n < LAUNCHES; n++) {
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(GROUP) map(tofrom : c [0:GROUP])
    for (int i = 0; i < GROUP; i++)
      c[i] += n;
  }
}

/* ---- Data ---- */

static void fill_words(void) {
  for (uint32_t i = 0; i < ITEMS; i++)
    ((uint32_t *)in)[i] = mix(i);
}
static void fill_floats(void) {
  for (uint32_t i = 0; i < GEMM_N * GEMM_N; i++) {
    ((float *)in)[i] = (float)(mix(i) % 1024) / 1024.0f;
    ((float *)other)[i] = (float)(mix(i + 7) % 1024) / 1024.0f;
  }
}
static void fill_doubles(void) {
  for (uint32_t i = 0; i < SUMMANDS; i++) {
    ((double *)in)[i] = (double)(mix(i) % 1024) / 1024.0;
    ((double *)other)[i] = (double)(mix(i + 7) % 1024) / 1024.0;
  }
}
/* One cycle through all nodes, whose order looks like chance. */
static void fill_list(void) {
  uint32_t *next = in;
  for (uint32_t i = 0; i < NODES; i++)
    next[i] = (i * 5 + 12345) % NODES;
}
static void fill_sparse(void) {
  fill_words();
  for (uint32_t i = 0; i < ROWS; i++)
    ((double *)other)[i] = (double)(mix(i) % 1024) / 1024.0;
}
static void fill_automaton(void) {
  fill_words();
  for (uint32_t i = 0; i < STATES * 256; i++)
    ((uint8_t *)other)[i] = (uint8_t)(mix(i) % STATES);
}
static void fill_copy(void) {
  for (uint32_t i = 0; i < COPY_WORDS; i++)
    ((uint64_t *)in)[i] = i;
}

/* Sums are printed to six digits: the GPU rounds products and sums once (fma), the host twice. */
static double sum_floats(size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (double)((const float *)out)[i];
  return sum;
}
static double sum_doubles(size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += ((const double *)out)[i];
  return sum;
}
static double sum_words(size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (double)(((const uint32_t *)out)[i] % 65536);
  return sum;
}

enum { MIB = 1 << 20 };

static const struct benchmark {
  const char *name;
  void (*fill)(void), (*run)(void);
  double (*sum)(size_t count);
  size_t sum_count;
  unsigned in_mib, other_mib, out_mib;
} benchmarks[] = {
    {"dgemm", fill_doubles, dgemm, sum_doubles, DGEMM_N *DGEMM_N, 32, 32, 32},
    {"mfma-gemm", fill_floats, mfma_gemm, sum_floats, GEMM_N *GEMM_N, 1, 1, 1},
    {"stencil", fill_doubles, stencil, sum_doubles, GRID *GRID, 32, 32, 32},
    {"reduction", fill_doubles, reduction, sum_doubles, 1, 32, 32, 32},
    {"n-body", fill_floats, nbody, sum_floats, 3 * BODIES, 1, 1, 1},
    {"hash", fill_words, hash, sum_words, HASHES, 16, 1, 8},
    {"histogram", fill_words, histogram, sum_words, BINS, 16, 1, 4},
    {"copy", fill_copy, copy, sum_words, 2 * COPY_WORDS, 64, 1, 64},
    {"clear", fill_words, clear, sum_words, 2 * CLEAR_WORDS, 16, 1, 192},
    {"list", fill_list, list_walk, sum_words, 1, 1, 1, 1},
    {"sparse", fill_sparse, sparse, sum_doubles, ROWS, 16, 1, 1},
    {"automaton", fill_automaton, automaton, sum_words, 2, 16, 1, 1},
    {"launches", fill_words, launches, sum_words, GROUP, 16, 1, 1},
};

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void first_kernel(void) {
  int *c = out;
#pragma omp target map(from : c [0:1])
  c[0] = 1;
}

/* Processor time of five seconds in which the program wants nothing of the GPU. */
static void idle(void) {
  first_kernel();
  sleep(1);
  const double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
  sleep(5);
  printf("idle %.6f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - before);
}

static void measure(const struct benchmark *b, int repetitions) {
  char *i = in = malloc((size_t)b->in_mib * MIB), *j = other = malloc((size_t)b->other_mib * MIB);
  char *o = out = calloc(b->out_mib, MIB);
  if (!i || !j || !o)
    exit(EXIT_FAILURE);
  b->fill();
#pragma omp target enter data map(to                                                                         \
                                  : i [0:(size_t)b->in_mib * MIB], j [0:(size_t)b->other_mib * MIB])         \
    map(to                                                                                                   \
        : o [0:(size_t)b->out_mib * MIB])
  for (int r = 0; r < repetitions; r++) {
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    b->run();
    printf("%s %.6f %.6f\n", b->name, seconds(CLOCK_MONOTONIC) - wall,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  }
#pragma omp target exit data map(from : o [0:(size_t)b->out_mib * MIB])
  printf("sum %.6g\n", b->sum(b->sum_count));
}

int main(int argc, char **argv) {
  static int word;
  in = other = out = &word;
  if (argc == 2 && strcmp(argv[1], "first") == 0) {
    first_kernel();
    return word == 1 || getenv("GFXSIM_EXECUTE") ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (argc == 2 && strcmp(argv[1], "idle") == 0) {
    idle();
    return EXIT_SUCCESS;
  }
  for (size_t i = 0; argc == 3 && i < COUNT(benchmarks); i++)
    if (strcmp(argv[1], benchmarks[i].name) == 0) {
      measure(&benchmarks[i], atoi(argv[2]));
      return EXIT_SUCCESS;
    }
  fprintf(stderr, "usage: %s NAME REPETITIONS, or first, or idle\n", argv[0]);
  return EXIT_FAILURE;
}
