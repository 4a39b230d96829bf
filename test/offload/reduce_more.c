/* Reductions that the program declares itself, reductions of teams alone, and parallel reductions inside a reduction over
 * teams. */
#include "check.h"

enum { N = 4001 };

/* A struct with a sum and the place of the largest element. */
typedef struct peak {
  double sum;
  double value;
  long where;
} peak_t;

#pragma omp declare target
static void peak_join(peak_t *out, const peak_t *in) {
  out->sum += in->sum;
  if (in->where >= 0 && (out->where < 0 || in->value > out->value || (in->value == out->value && in->where < out->where))) {
    out->value = in->value;
    out->where = in->where;
  }
}
#pragma omp end declare target

#pragma omp declare reduction(peak : peak_t : peak_join(&omp_out, &omp_in)) initializer(omp_priv = {0, 0, -1})

static void declared(void) {
  static double in[N];
  for (int i = 0; i < N; i++)
    in[i] = (double)((i * 31337) % 4096);
  peak_t got = {0, 0, -1}, want = {0, 0, -1};
#pragma omp target teams distribute parallel for map(to : in) map(tofrom : got) reduction(peak : got)
  for (int i = 0; i < N; i++) {
    peak_t one = {in[i], in[i], i};
    peak_join(&got, &one);
  }
  for (int i = 0; i < N; i++) {
    peak_t one = {in[i], in[i], i};
    peak_join(&want, &one);
  }
  check_f64("peak sum", 0, got.sum, want.sum);
  check_f64("peak value", 0, got.value, want.value);
  check_int("peak where", 0, got.where, want.where);
}

/* Reductions of teams alone, and of a distribute whose body has an inner parallel reduction. */
static void two_levels(void) {
  double total = 0, rows[37];
  int teams = 0;
#pragma omp target teams num_teams(9) map(tofrom : teams) reduction(+ : teams)
  teams += 1;
#pragma omp target teams distribute map(from : rows) map(tofrom : total) reduction(+ : total)
  for (int r = 0; r < 37; r++) {
    double row = 0;
#pragma omp parallel for reduction(+ : row)
    for (int c = 0; c < 200; c++)
      row += (double)(r * c);
    rows[r] = row;
    total += row;
  }
  check_true("1 <= teams <= 9", teams >= 1 && teams <= 9);
  double want = 0;
  for (int r = 0; r < 37; r++) {
    check_f64("rows", r, rows[r], (double)(r * (200 * 199 / 2)));
    want += (double)(r * (200 * 199 / 2));
  }
  check_f64("total", 0, total, want);
}

int main(void) {
  declared();
  two_levels();
  return check_done("reduce_more");
}
