/* Small parallel algorithms as programs have them: bitonic sort, prefix sum, sparse matrix product, transposition through
 * team-local memory, string search. */
#include "check.h"

#pragma STDC FP_CONTRACT OFF

static int compare_unsigned(const void *a, const void *b) {
  unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}

static void bitonic(void) {
  enum { N = 1024 };
  static unsigned a[N], want[N];
  uint64_t seed = 5;
  for (int i = 0; i < N; i++)
    a[i] = want[i] = (unsigned)check_random(&seed);
  qsort(want, N, sizeof want[0], compare_unsigned);
#pragma omp target data map(tofrom : a)
  for (int k = 2; k <= N; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        int other = i ^ j;
        if (other > i && (a[i] > a[other]) == ((i & k) == 0)) {
          unsigned t = a[i];
          a[i] = a[other];
          a[other] = t;
        }
      }
    }
  for (int i = 0; i < N; i++)
    check_int("bitonic", i, a[i], want[i]);
}

/* Blelloch's scan inside teams, then the offsets of the blocks. A team has whole waves: barriers of generic regions count
 * waves, and never end with fewer threads than one (LLVM 16). */
static void scan(void) {
  enum { BLOCKS = 12, SIZE = CHECK_TEAM_LOCAL(128, 64), N = BLOCKS * SIZE };
  static int in[N], out[N], totals[BLOCKS];
  for (int i = 0; i < N; i++)
    in[i] = i * 31 % 17;
#pragma omp target data map(to : in) map(from : out) map(alloc : totals)
  {
#pragma omp target teams distribute num_teams(BLOCKS) thread_limit(SIZE)
    for (int b = 0; b < BLOCKS; b++) {
      short tree[SIZE];
#pragma omp parallel num_threads(SIZE)
      {
        int threads = omp_get_num_threads(), me = omp_get_thread_num();
        for (int i = me; i < SIZE; i += threads)
          tree[i] = (short)in[b * SIZE + i];
        for (int d = 1; d < SIZE; d *= 2) {
#pragma omp barrier
          for (int i = me; i < SIZE / (2 * d); i += threads)
            tree[(i + 1) * 2 * d - 1] = (short)(tree[(i + 1) * 2 * d - 1] + tree[i * 2 * d + d - 1]);
        }
#pragma omp barrier
        if (me == 0) {
          totals[b] = tree[SIZE - 1];
          tree[SIZE - 1] = 0;
        }
        for (int d = SIZE / 2; d > 0; d /= 2) {
#pragma omp barrier
          for (int i = me; i < SIZE / (2 * d); i += threads) {
            int low = i * 2 * d + d - 1, high = (i + 1) * 2 * d - 1;
            short t = tree[low];
            tree[low] = tree[high];
            tree[high] = (short)(tree[high] + t);
          }
        }
#pragma omp barrier
        for (int i = me; i < SIZE; i += threads)
          out[b * SIZE + i] = tree[i];
      }
    }
#pragma omp target
    {
      int sum = 0;
      for (int b = 0; b < BLOCKS; b++) {
        int t = totals[b];
        totals[b] = sum;
        sum += t;
      }
    }
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      out[i] += totals[i / SIZE];
  }
  int sum = 0;
  for (int i = 0; i < N; i++) {
    check_int("scan", i, out[i], sum);
    sum += in[i];
  }
}

static void sparse(void) {
  enum { ROWS = 500, PER_ROW = 9 };
  static int start[ROWS + 1], column[ROWS * PER_ROW];
  static double value[ROWS * PER_ROW], x[ROWS], y[ROWS];
  int n = 0;
  for (int r = 0; r < ROWS; r++) {
    start[r] = n;
    x[r] = 1.0 / (r + 1);
    for (int k = 0; k < r % PER_ROW + 1; k++) {
      column[n] = (r * 17 + k * 31) % ROWS;
      value[n++] = (k + 1) * 0.3;
    }
  }
  start[ROWS] = n;
#pragma omp target teams distribute parallel for map(to : start, column, value, x) map(from : y)
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
      sum += value[k] * x[column[k]];
    y[r] = sum;
  }
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
      sum += value[k] * x[column[k]];
    check_f64("sparse", r, y[r], sum);
  }
}

static void transpose(void) {
  enum { N = 64, TILE = CHECK_TEAM_LOCAL(16, 4) };
  static int in[N][N], out[N][N];
  for (int i = 0; i < N * N; i++)
    in[i / N][i % N] = i;
#pragma omp target teams distribute collapse(2) map(to : in) map(from : out) thread_limit(TILE * TILE)
  for (int bi = 0; bi < N; bi += TILE)
    for (int bj = 0; bj < N; bj += TILE) {
      int tile[TILE][TILE + 1];
#pragma omp parallel for collapse(2)
      for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
          tile[i][j] = in[bi + i][bj + j];
#pragma omp parallel for collapse(2)
      for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
          out[bj + i][bi + j] = tile[j][i];
    }
  for (int i = 0; i < N * N; i++)
    check_int("transpose", i, out[i / N][i % N], in[i % N][i / N]);
}

static void search(void) {
  enum { LENGTH = 3000 };
  static char text[LENGTH];
  for (int i = 0; i < LENGTH; i++)
    text[i] = (char)('a' + (i * i + i / 7) % 4);
  static const char pattern[] = "abca";
  int count = 0, first = INT_MAX;
#pragma omp target teams distribute parallel for map(to : text, pattern) map(tofrom : count, first)                          \
    reduction(+ : count) reduction(min : first)
  for (int i = 0; i < LENGTH - 4; i++) {
    int k = 0;
    while (k < 4 && text[i + k] == pattern[k])
      k++;
    if (k == 4) {
      count++;
      first = i < first ? i : first;
    }
  }
  int want = 0, want_first = INT_MAX;
  for (int i = 0; i < LENGTH - 4; i++)
    if (memcmp(text + i, pattern, 4) == 0) {
      want++;
      want_first = i < want_first ? i : want_first;
    }
  check_int("matches", 0, count, want);
  check_int("first match", 0, first, want_first);
}

int main(void) {
  bitonic();
  scan();
  sparse();
  transpose();
  search();
  return check_done("algorithms");
}
