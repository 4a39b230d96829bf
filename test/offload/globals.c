/* Global variables on the device: initialised data of every kind, constants, tables of pointers to data and functions,
 * zero-initialised arrays, statics inside functions, device-only variables, alignment, state kept from kernel to kernel. */
#include "check.h"

#pragma omp declare target
static const double coefficients[5] = {1.5, -2.25, 3.125, -4.0625, 5.03125};
const char message[] = "the device has its own copy";
int initialised[8] = {8, 7, 6, 5, 4, 3, 2, 1};
long zeroed[1000];
_Alignas(256) float aligned[4] = {1, 2, 3, 4};
struct {
  short tag;
  double weight;
  const char *text;
  int *target;
} record = {-7, 0.75, message, &initialised[2]};
int *const table[3] = {&initialised[0], &initialised[4], &initialised[7]};

static int plus_one(int x) {
  return x + 1;
}
static int doubled(int x) {
  return x * 2;
}
static int (*const functions[2])(int) = {plus_one, doubled};

static int next_ticket(void) {
  static int ticket = 500;
  return ticket++;
}
#pragma omp end declare target

int device_only = 0;
#pragma omp declare target to(device_only) device_type(any)

enum { N = 64 };

static void reading(void) {
  double sums[N];
  int letters = 0, indirect = 0, called[N], misaligned = 1, zeros = 0;
#pragma omp target map(from : sums, called) map(tofrom : letters, indirect, misaligned, zeros)
  {
    for (int i = 0; message[i] != '\0'; i++)
      letters += message[i];
    indirect = *record.target * 1000 + record.tag + (record.text[4] == 'd') + *table[0] + *table[1] * 10 + *table[2] * 100;
    misaligned = ((uintptr_t)aligned & 255) != 0;
    for (int i = 0; i < 1000; i++)
      zeros += zeroed[i] == 0;
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
      sums[i] = coefficients[i % 5] * i + record.weight + (double)aligned[i % 4];
      called[i] = functions[i % 2](i);
    }
  }
  int want = 0;
  for (const char *p = message; *p != '\0'; p++)
    want += *p;
  check_int("letters", 0, letters, want);
  check_int("indirect", 0, indirect, 6 * 1000 - 7 + 1 + 8 + 40 + 100);
  check_int("alignment", 0, misaligned, 0);
  check_int("zeros", 0, zeros, 1000);
  for (int i = 0; i < N; i++) {
    check_f64("sums", i, sums[i], fma(coefficients[i % 5], i, record.weight) + (double)aligned[i % 4]);
    check_int("called", i, called[i], i % 2 ? i * 2 : i + 1);
  }
}

static void state(void) {
  int tickets[5];
  for (int k = 0; k < 5; k++) {
    int t = 0;
#pragma omp target map(from : t)
    t = next_ticket();
    tickets[k] = t;
  }
  for (int k = 0; k < 5; k++)
    check_int("static in a function", k, tickets[k], 500 + k);
  for (int k = 0; k < 3; k++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 1000; i++)
      zeroed[i] += i * (k + 1);
  }
#pragma omp target update from(zeroed)
  for (int i = 0; i < 1000; i++)
    check_int("kept", i, zeroed[i], i * 6L);
  initialised[3] = 333;
  device_only = 9;
#pragma omp target update to(initialised, device_only)
  int seen = 0;
#pragma omp target map(from : seen)
  seen = initialised[3] + initialised[0] + device_only;
  check_int("updated", 0, seen, 333 + 8 + 9);
}

int main(void) {
  reading();
  state();
  return check_done("globals");
}
