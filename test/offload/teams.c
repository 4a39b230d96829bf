/* Teams and their loops: num_teams, thread_limit, num_threads, collapse, lastprivate, distribute with parallel regions in
 * its body, team-local memory, large and tiny launches. */
#include "check.h"

static void league(void) {
  static int seen[64], threads[64];
  int teams = 0;
#pragma omp target teams num_teams(24) thread_limit(128) map(tofrom : seen, threads, teams)
  {
    int t = omp_get_team_num();
    if (t == 0)
      teams = omp_get_num_teams();
    int inside = 0;
#pragma omp parallel num_threads(64) reduction(+ : inside)
    inside += 1;
    threads[t] = inside;
    seen[t] += 1;
  }
  check_true("1 <= teams <= 24", teams >= 1 && teams <= 24);
  for (int t = 0; t < 64; t++) {
    check_int("seen", t, seen[t], t < teams);
    check_true("1 <= threads <= 64", t >= teams || (threads[t] >= 1 && threads[t] <= 64));
  }
}

static void collapse(void) {
  static int a[7][11][13], b[6][9];
  int last_i = -1, last_j = -1;
#pragma omp target teams distribute parallel for collapse(3) map(from : a) lastprivate(last_i) map(tofrom : last_i)
  for (int i = 0; i < 7; i++)
    for (int j = 10; j >= 0; j--)
      for (int k = 0; k < 26; k += 2) {
        a[i][j][k / 2] = i * 10000 + j * 100 + k;
        last_i = i * 100 + j;
      }
#pragma omp target teams distribute collapse(2) map(from : b) lastprivate(last_j) map(tofrom : last_j)
  for (long i = 0; i < 6; i++)
    for (unsigned j = 0; j < 9; j++) {
      b[i][j] = (int)i - (int)j;
      last_j = (int)j;
    }
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 11; j++)
      for (int k = 0; k < 13; k++)
        check_int("collapse(3)", (i * 11 + j) * 13 + k, a[i][j][k], i * 10000 + j * 100 + 2 * k);
  for (int i = 0; i < 54; i++)
    check_int("collapse(2)", i, b[i / 9][i % 9], i / 9 - i % 9);
  check_int("last i", 0, last_i, 600);
  check_int("last j", 0, last_j, 8);
}

/* One team per row; the row's data is shared by the threads of the team. */
static void rows(void) {
  enum { ROWS = 40, COLUMNS = CHECK_TEAM_LOCAL(100, 40) };
  static int in[ROWS][COLUMNS], out[ROWS][COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++)
    in[i / COLUMNS][i % COLUMNS] = i * 7 % 1000;
#pragma omp target teams distribute map(to : in) map(from : out) thread_limit(64)
  for (int r = 0; r < ROWS; r++) {
    int local[COLUMNS], largest = -1;
#pragma omp parallel for
    for (int c = 0; c < COLUMNS; c++)
      local[c] = in[r][c] * 2;
#pragma omp parallel for reduction(max : largest)
    for (int c = 0; c < COLUMNS; c++)
      largest = local[c] > largest ? local[c] : largest;
    int half = largest / 2;
#pragma omp parallel for schedule(static, 1)
    for (int c = 0; c < COLUMNS; c++)
      out[r][c] = local[COLUMNS - 1 - c] + half;
  }
  for (int r = 0; r < ROWS; r++) {
    int largest = -1;
    for (int c = 0; c < COLUMNS; c++)
      largest = in[r][c] * 2 > largest ? in[r][c] * 2 : largest;
    for (int c = 0; c < COLUMNS; c++)
      check_int("rows", r * COLUMNS + c, out[r][c], in[r][COLUMNS - 1 - c] * 2 + largest / 2);
  }
}

/* Trip counts around the sizes of waves and workgroups, and none at all. */
static void trip_counts(void) {
  static const int sizes[] = {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 513, 1023, 1024, 1025};
  static unsigned char a[1100];
  for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    int n = sizes[s];
    memset(a, 0, sizeof a);
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (int i = 0; i < n; i++)
      a[i] = (unsigned char)(a[i] + 1);
    for (int i = 0; i < 1100; i++)
      check_int("trip count", n * 10000L + i, a[i], i < n);
  }
}

static void limits(void) {
  static const int limit[] = {1, 2, 64, 65, 200, 256};
  for (unsigned k = 0; k < sizeof limit / sizeof limit[0]; k++) {
    int sum = 0, wide = 0;
#pragma omp target teams distribute parallel for thread_limit(limit[k]) num_teams(3) reduction(+ : sum)                    \
    reduction(max : wide) map(tofrom : sum, wide)
    for (int i = 0; i < 1000; i++) {
      sum += i;
      wide = omp_get_num_threads() > wide ? omp_get_num_threads() : wide;
    }
    check_int("sum", limit[k], sum, 499500);
    check_true("no more threads than the limit", wide <= limit[k]);
  }
}

/* More iterations than threads on the device. */
static void large(void) {
  enum { COUNT = 300000 };
  unsigned char *a = calloc(COUNT, 1);
  long sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : a[0 : COUNT], sum) reduction(+ : sum)
  for (int i = 0; i < COUNT; i++) {
    a[i] = (unsigned char)(i % 251);
    sum += i;
  }
  check_int("large sum", 0, sum, (long)COUNT * (COUNT - 1) / 2);
  for (int i = 0; i < COUNT; i++)
    check_int("large", i, a[i], i % 251);
  free(a);
}

int main(void) {
  league();
  collapse();
  rows();
  trip_counts();
  limits();
  large();
  return check_done("teams");
}
