/* Synchronisation on the device: flush and spinning between waves of a team, 
 * barriers in loops, single, counters between teams. */
#include "check.h"

/* Whole waves: barriers of generic regions count waves of 64 threads (LLVM 16). */
enum { THREADS = 128 };

/* Every round reads what the round before wrote in another thread. */
static void barriers(void) {
  int grid[2][THREADS], threads = 0;
#pragma omp target map(from : grid) map(tofrom : threads)
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    grid[0][me] = me;
#pragma omp barrier
    for (int round = 0; round < 20; round++) {
      int from = round % 2, to = 1 - from;
      grid[to][me] = (grid[from][(me + 1) % all] * 3 + grid[from][(me + all - 1) % all]) % 1009;
#pragma omp barrier
    }
#pragma omp master
    threads = all;
  }
  int want[2][THREADS];
  for (int i = 0; i < threads; i++)
    want[0][i] = i;
  for (int round = 0; round < 20; round++)
    for (int i = 0; i < threads; i++)
      want[1 - round % 2][i] =
          (want[round % 2][(i + 1) % threads] * 3 + want[round % 2][(i + threads - 1) % threads]) % 1009;
  for (int i = 0; i < threads; i++)
    check_int("barriers", i, grid[0][i], want[0][i]);
}

/* A token goes round the waves of a team: each one spins until it is its turn. One thread per wave spins, as lanes of a
 * wave cannot wait for each other on this hardware. */
static void token(void) {
  int turns[4] = {-1, -1, -1, -1}, turn = 0, waves = 0;
#pragma omp target map(tofrom : turns, turn, waves)
#pragma omp parallel num_threads(256)
  {
    int me = omp_get_thread_num(), wave = me / 64;
    if (me % 64 == 0) {
      int now;
      do {
#pragma omp atomic read acquire
        now = turn;
      } while (now != wave);
      turns[wave] = waves++;
#pragma omp atomic write release
      turn = wave + 1;
    }
  }
  for (int i = 0; i < waves; i++)
    check_int("token", i, turns[i], i);
  check_true("waves", waves >= 1);
}

/* Producer and consumer in two waves, with flush. */
static void flush(void) {
  int data = 0, ready = 0, got = 0, threads = 0;
#pragma omp target map(tofrom : data, ready, got, threads)
#pragma omp parallel num_threads(128)
  {
    int me = omp_get_thread_num();
    if (me == 0) {
      threads = omp_get_num_threads();
      data = 4711;
#pragma omp flush
#pragma omp atomic write
      ready = 1;
    }
    if (me == 64) {
      int seen;
      do {
#pragma omp atomic read
        seen = ready;
      } while (seen == 0);
#pragma omp flush
      got = data;
    }
  }
  check_int("flush", 0, got, threads > 64 ? 4711 : 0);
}

/* Teams count each other with device-scope atomics; the last one adds up what all have left in memory. */
static void last_team(void) {
  enum { TEAMS = 20 };
  int parts[TEAMS], done = 0, total = -1, teams = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(64) map(alloc : parts) map(tofrom : done, total, teams)
  {
    int t = omp_get_team_num(), all = omp_get_num_teams(), mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (int i = 0; i < 100; i++)
      mine += i * t;
    __atomic_store_n(&parts[t], mine, __ATOMIC_RELAXED);
    int before = __atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
    if (before == all - 1) {
      int sum = 0;
      for (int i = 0; i < all; i++)
        sum += __atomic_load_n(&parts[i], __ATOMIC_RELAXED);
      total = sum;
      teams = all;
    }
  }
  check_int("last team", 0, total, 4950 * (teams * (teams - 1) / 2));
  check_int("done", 0, done, teams);
}

static void singles(void) {
  int value[THREADS], threads = 0, masters = 0, chosen = 0;
#pragma omp target map(from : value) map(tofrom : threads, masters, chosen)
#pragma omp parallel num_threads(THREADS)
  {
    for (int round = 0; round < 5; round++) {
#pragma omp single
      chosen += 100 + round;
      value[omp_get_thread_num()] = chosen;
#pragma omp barrier
    }
#pragma omp master
    masters++;
#pragma omp single nowait
    threads = omp_get_num_threads();
  }
  for (int i = 0; i < threads; i++)
    check_int("after single", i, value[i], 510);
  check_int("masters", 0, masters, 1);
}

int main(void) {
  barriers();
  token();
  flush();
  last_team();
  singles();
  return check_done("sync");
}
