/* Conditional atomics (OpenMP 5.1 `atomic compare`): min, max and compare-exchange; the same through the compiler's own
 * atomic builtins with several memory orders; a lock made of them. */
#include "check.h"

enum { N = 5000, BINS = 11 };

static int input[N];

static void extremes(void) {
  int low[BINS], high[BINS];
  unsigned ulow[BINS], uhigh[BINS];
  long llow[BINS], lhigh[BINS];
  int want_low[BINS], want_high[BINS];
  for (int b = 0; b < BINS; b++) {
    low[b] = want_low[b] = INT_MAX;
    high[b] = want_high[b] = INT_MIN;
    ulow[b] = UINT_MAX;
    uhigh[b] = 0;
    llow[b] = LONG_MAX;
    lhigh[b] = LONG_MIN;
  }
#pragma omp target teams distribute parallel for map(to : input) map(tofrom : low, high, ulow, uhigh, llow, lhigh)
  for (int i = 0; i < N; i++) {
    int bin = i % BINS, v = input[i];
    unsigned u = (unsigned)v;
    long l = (long)v << 20;
#pragma omp atomic compare
    if (v < low[bin]) {
      low[bin] = v;
    }
#pragma omp atomic compare
    if (v > high[bin]) {
      high[bin] = v;
    }
#pragma omp atomic compare
    if (ulow[bin] > u) {
      ulow[bin] = u;
    }
#pragma omp atomic compare
    uhigh[bin] = uhigh[bin] < u ? u : uhigh[bin];
#pragma omp atomic compare seq_cst
    if (l < llow[bin]) {
      llow[bin] = l;
    }
#pragma omp atomic compare relaxed
    if (l > lhigh[bin]) {
      lhigh[bin] = l;
    }
  }
  for (int i = 0; i < N; i++) {
    int bin = i % BINS;
    want_low[bin] = input[i] < want_low[bin] ? input[i] : want_low[bin];
    want_high[bin] = input[i] > want_high[bin] ? input[i] : want_high[bin];
  }
  for (int b = 0; b < BINS; b++) {
    unsigned want_ulow = UINT_MAX, want_uhigh = 0;
    for (int i = b; i < N; i += BINS) {
      want_ulow = (unsigned)input[i] < want_ulow ? (unsigned)input[i] : want_ulow;
      want_uhigh = (unsigned)input[i] > want_uhigh ? (unsigned)input[i] : want_uhigh;
    }
    check_int("low", b, low[b], want_low[b]);
    check_int("high", b, high[b], want_high[b]);
    check_int("unsigned low", b, ulow[b], want_ulow);
    check_int("unsigned high", b, uhigh[b], want_uhigh);
    check_int("long low", b, llow[b], (long)want_low[b] << 20);
    check_int("long high", b, lhigh[b], (long)want_high[b] << 20);
  }
}

/* Exactly one iteration wins each slot. */
static void exchange(void) {
  static int owner[64], wins[64], losses[64];
  for (int s = 0; s < 64; s++)
    owner[s] = -1;
#pragma omp target teams distribute parallel for map(tofrom : owner, wins, losses)
  for (int i = 0; i < 1024; i++) {
    int slot = i % 64, expected = -1;
    if (__atomic_compare_exchange_n(&owner[slot], &expected, i, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      __atomic_fetch_add(&wins[slot], 1, __ATOMIC_RELAXED);
    } else {
      __atomic_fetch_add(&losses[slot], expected >= 0 && expected % 64 == slot, __ATOMIC_SEQ_CST);
    }
  }
  for (int s = 0; s < 64; s++) {
    check_true("owner belongs to slot", owner[s] >= 0 && owner[s] % 64 == s);
    check_int("wins", s, wins[s], 1);
    check_int("losses", s, losses[s], 1024 / 64 - 1);
  }
}

static void compare_then_set(void) {
  int state = 3, changed = 0;
#pragma omp target map(tofrom : state, changed)
#pragma omp parallel num_threads(64)
  {
    int want = 3, next = 100 + omp_get_thread_num();
#pragma omp atomic compare
    if (state == want) {
      state = next;
    }
#pragma omp barrier
    int seen;
#pragma omp atomic read
    seen = state;
    if (seen == next) {
#pragma omp atomic
      changed++;
    }
  }
  check_true("one thread set it", state >= 100 && state < 164);
  check_int("changed", 0, changed, 1);
}

/* The builtins of the compiler, on the sizes that the hardware has. */
static void builtins(void) {
  unsigned a[8] = {0, 1000000, 0xffffffff, 0, 0xaaaa5555, 5, UINT_MAX, 0};
  unsigned long b[8] = {0, 1000000, ~0ul, 0, 0xaaaa5555aaaa5555ul, 5, ULONG_MAX, 0};
  unsigned long order = 0;
#pragma omp target teams distribute parallel for map(tofrom : a, b, order) num_teams(6)
  for (unsigned i = 0; i < 512; i++) {
    __atomic_fetch_add(&a[0], i, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&a[1], i, __ATOMIC_ACQUIRE);
    __atomic_fetch_and(&a[2], ~(1u << (i % 20)), __ATOMIC_RELEASE);
    __atomic_fetch_or(&a[3], 1u << (i % 20), __ATOMIC_ACQ_REL);
    __atomic_fetch_xor(&a[4], i * 2654435761u, __ATOMIC_SEQ_CST);
    __atomic_fetch_max(&a[5], i * 3, __ATOMIC_RELAXED);
    __atomic_fetch_min(&a[6], 5000 - i, __ATOMIC_RELAXED);
    __atomic_fetch_add(&b[0], (unsigned long)i << 33, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&b[1], i, __ATOMIC_ACQUIRE);
    __atomic_fetch_and(&b[2], ~(1ul << (i % 50)), __ATOMIC_RELEASE);
    __atomic_fetch_or(&b[3], 1ul << (i % 50), __ATOMIC_ACQ_REL);
    __atomic_fetch_xor(&b[4], i * 0x9e3779b97f4a7c15ul, __ATOMIC_SEQ_CST);
    __atomic_fetch_max(&b[5], (unsigned long)i << 40, __ATOMIC_RELAXED);
    __atomic_fetch_min(&b[6], (5000ul - i) << 30, __ATOMIC_RELAXED);
    unsigned swapped = __atomic_exchange_n(&a[7], i + 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&order, swapped, __ATOMIC_RELAXED);
  }
  unsigned wa4 = 0xaaaa5555;
  unsigned long wb4 = 0xaaaa5555aaaa5555ul;
  for (unsigned i = 0; i < 512; i++) {
    wa4 ^= i * 2654435761u;
    wb4 ^= i * 0x9e3779b97f4a7c15ul;
  }
  unsigned sum = 512 * 511 / 2;
  check_int("add", 0, a[0], sum);
  check_int("sub", 0, a[1], 1000000 - sum);
  check_int("and", 0, a[2], 0xfff00000);
  check_int("or", 0, a[3], 0xfffff);
  check_int("xor", 0, a[4], wa4);
  check_int("umax", 0, a[5], 511 * 3);
  check_int("umin", 0, a[6], 5000 - 511);
  check_int("add 64", 0, (long long)b[0], (long long)sum << 33);
  check_int("sub 64", 0, (long long)b[1], 1000000 - sum);
  check_int("and 64", 0, (long long)b[2], (long long)(~0ul << 50));
  check_int("or 64", 0, (long long)b[3], (1l << 50) - 1);
  check_int("xor 64", 0, (long long)b[4], (long long)wb4);
  check_int("umax 64", 0, (long long)b[5], 511l << 40);
  check_int("umin 64", 0, (long long)b[6], (5000l - 511) << 30);
  /* What was swapped out, plus what is left, are the numbers 1 to 512. */
  check_int("exchange", 0, (long long)(order + a[7]), 512 * 513 / 2);
}

int main(void) {
  uint64_t seed = 99;
  for (int i = 0; i < N; i++)
    input[i] = (int)check_random(&seed);
  extremes();
  exchange();
  compare_then_set();
  builtins();
  return check_done("atomic_compare");
}
