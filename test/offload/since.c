/* What the versions of LLVM brought, each part from that version on: entry points of libomptarget, clauses,
 * and functions of the device runtime. */
#include "check.h"

#if __clang_major__ >= 18
#include <ompx.h>
#endif

enum { N = 1000 };

/* 15: device code knows its device. */
#if __clang_major__ >= 15
static void device_number(void) {
  int number = -1, initial = 1;
#pragma omp target map(from : number, initial)
  {
    number = omp_get_device_num();
    initial = omp_is_initial_device();
  }
  check_int("device number", 0, number, omp_get_default_device());
  check_int("initial device", 0, initial, 0);
}
#endif

/* 16: dynamic LDS by clause, mapped pointers, locked host memory. */
#if __clang_major__ >= 16
extern void *llvm_omp_target_lock_mem(void *, size_t, int);
extern void llvm_omp_target_unlock_mem(void *, int);
#pragma omp begin declare target device_type(nohost)
extern void *llvm_omp_target_dynamic_shared_alloc(void);
#pragma omp end declare target

static void dynamic_lds(void) {
  enum { TEAMS = 4, THREADS = 64 };
  static int out[TEAMS * THREADS];
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) map(from                                     \
                                                                    : out)                                   \
    ompx_dyn_cgroup_mem(THREADS * sizeof(int))
  {
    int team = omp_get_team_num();
#pragma omp parallel num_threads(THREADS)
    {
#ifdef __AMDGCN__
      int *shared = (int *)llvm_omp_target_dynamic_shared_alloc();
#else
      int *shared = out;
#endif
      int thread = omp_get_thread_num();
      shared[thread] = 100 * team + thread;
#pragma omp barrier
      out[team * THREADS + thread] = shared[THREADS - 1 - thread];
    }
  }
  for (int i = 0; i < TEAMS * THREADS; i++)
    check_int("dynamic LDS", i, out[i], 100 * (i / THREADS) + THREADS - 1 - i % THREADS);
}

static void mapped_pointers(void) {
  static double data[N];
  int device = omp_get_default_device();
  void *seen = NULL;
  check_int("mapped before", 0, omp_get_mapped_ptr(data, device) == NULL, 1);
#pragma omp target data map(to : data)
  {
#pragma omp target map(from : seen)
    seen = data;
    check_int("mapped", 0, omp_get_mapped_ptr(data, device) == seen, 1);
  }
}
#endif

/* 16 can lock memory; 18 exports the call, but crashes or refuses by itself. */
#if __clang_major__ >= 16 && __clang_major__ < 18
static void locked_memory(void) {
  double *data = malloc(N * sizeof *data);
  for (int i = 0; i < N; i++)
    data[i] = i;
  double *locked = llvm_omp_target_lock_mem(data, N * sizeof *data, omp_get_default_device());
  check_int("locked", 0, locked != NULL, 1);
#pragma omp target teams distribute parallel for is_device_ptr(locked)
  for (int i = 0; i < N; i++)
    locked[i] *= 2;
  llvm_omp_target_unlock_mem(data, omp_get_default_device());
  for (int i = 0; i < N; i++)
    check_f64("locked data", i, data[i], 2.0 * i);
  free(data);
}
#endif

/* 17: copies as tasks. */
#if __clang_major__ >= 17
static void asynchronous_copies(void) {
  static int out[N], back[N];
  int device = omp_get_default_device(), host = omp_get_initial_device();
  for (int i = 0; i < N; i++)
    out[i] = 3 * i;
  int *memory = omp_target_alloc(sizeof out, device);
  check_int("copy to", 0, omp_target_memcpy_async(memory, out, sizeof out, 0, 0, device, host, 0, NULL), 0);
#pragma omp taskwait
#pragma omp target teams distribute parallel for is_device_ptr(memory)
  for (int i = 0; i < N; i++)
    memory[i]++;
  check_int("copy from", 0, omp_target_memcpy_async(back, memory, sizeof back, 0, 0, host, device, 0, NULL),
            0);
#pragma omp taskwait
  for (int i = 0; i < N; i++)
    check_int("copied", i, back[i], 3 * i + 1);
  omp_target_free(memory, device);
}
#endif

/* 18: fills, calls through host pointers, malloc, and kernels with no device runtime. */
#if __clang_major__ >= 18
static void fills(void) {
  static unsigned char back[N];
  int device = omp_get_default_device();
  unsigned char *memory = omp_target_alloc(N, device);
  check_int("fill", 0, omp_target_memset(memory, 0x5a, N, device) == memory, 1);
  check_int("copy", 0, omp_target_memcpy(back, memory, N, 0, 0, omp_get_initial_device(), device), 0);
  for (int i = 0; i < N; i++)
    check_int("filled", i, back[i], 0x5a);
  omp_target_free(memory, device);
}

#pragma omp begin declare target indirect
int twice(int x);
int square(int x);
int twice(int x) {
  return 2 * x;
}
int square(int x) {
  return x * x;
}
#pragma omp end declare target

static void indirect_calls(void) {
  int (*functions[])(int) = {square, twice, square};
  for (int i = 0; i < 3; i++) {
    int (*function)(int) = functions[i];
    int result = 0;
#pragma omp target map(tofrom : result)
    result = function(7);
    check_int("indirect call", i, result, i == 1 ? 14 : 49);
  }
}

static void device_malloc(void) {
  static long out[64];
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(64) map(from : out)
  for (int i = 0; i < 64; i++) {
    long *block = malloc(4 * sizeof *block);
    for (int j = 0; j < 4; j++)
      block[j] = i + j;
    out[i] = block[0] + block[1] + block[2] + block[3];
    free(block);
  }
  for (int i = 0; i < 64; i++)
    check_int("malloc", i, out[i], 4 * i + 6);
}

static void bare_kernels(void) {
  enum { TEAMS = 3, THREADS = 96 };
  static int out[TEAMS * THREADS];
#pragma omp target teams ompx_bare num_teams(TEAMS) thread_limit(THREADS) map(from : out)
  {
    int at = ompx_block_id_x() * ompx_block_dim_x() + ompx_thread_id_x();
    out[at] = 1000 * ompx_block_id_x() + ompx_thread_id_x() + ompx_grid_dim_x();
  }
  for (int i = 0; i < TEAMS * THREADS; i++)
    check_int("bare kernel", i, out[i], 1000 * (i / THREADS) + i % THREADS + TEAMS);
}
#endif

/* Reductions over many teams, more than once: 18 keeps their state in memory of the plugin's. */
#if __clang_major__ >= 14
#define TEAMS 1100
#else
#define TEAMS 60 /* the device runtime of 13 loses teams beyond some number */
#endif

static void reductions(void) {
  for (int round = 1; round <= 4; round++) {
    long sum = 0, n = 5000L * round;
    double biggest = -1;
#pragma omp target teams distribute parallel for num_teams(TEAMS) reduction(+ : sum) reduction(max : biggest)            \
    map(tofrom : sum, biggest)
    for (long i = 0; i < n; i++) {
      sum += i;
      biggest = biggest > (double)(i % 977) ? biggest : (double)(i % 977);
    }
    check_int("sum", round, sum, n * (n - 1) / 2);
    check_f64("biggest", round, biggest, 976);
  }
}

int main(void) {
  reductions();
#if __clang_major__ >= 15
  device_number();
#endif
#if __clang_major__ >= 16
  dynamic_lds();
  mapped_pointers();
#if __clang_major__ < 18
  locked_memory();
#endif
#endif
#if __clang_major__ >= 17
  asynchronous_copies();
#endif
#if __clang_major__ >= 18
  fills();
  indirect_calls();
  device_malloc();
  bare_kernels();
#endif
  return check_done("since");
}
