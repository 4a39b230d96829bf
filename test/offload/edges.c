/* Where sizes, counts and places are extreme: nothing, one byte, more than there is, the middle of something,
 * and more than one device at once. */
#include "check.h"

#include <limits.h>
#include <stdint.h>

enum { N = 300 };

static int on_each[N];
#pragma omp declare target to(on_each)

/* What is allocated and copied may be nothing. */
static void nothing(int device, int host) {
  char byte = 5, *d = omp_target_alloc(1, device);
  check_true("one byte", d != NULL);
  check_int("copy of one byte", 0, omp_target_memcpy(d, &byte, 1, 0, 0, device, host), 0);
  byte = 6;
  check_int("copy of nothing to the device", 0, omp_target_memcpy(d, &byte, 0, 0, 0, device, host), 0);
  check_int("copy of nothing to the host", 0, omp_target_memcpy(&byte, d, 0, 0, 0, host, device), 0);
  check_int("unchanged", 0, byte, 6);
  check_int("copy back", 0, omp_target_memcpy(&byte, d, 1, 0, 0, host, device), 0);
  check_int("the byte", 0, byte, 5);
  omp_target_free(d, device);
  void *none = omp_target_alloc(0, device);
  omp_target_free(none, device);
}

/* Sections of no length, and regions that iterate over nothing. */
static void empty_sections(int device) {
  int a[N], ran = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
  int n = a[0];
#pragma omp target teams distribute parallel for map(tofrom : a [n:n], ran) device(device)
  for (int i = 0; i < n; i++)
    ran++;
  check_int("iterations over nothing", 0, ran, 0);
#pragma omp target enter data map(to : a [10:0]) device(device)
#pragma omp target exit data map(delete : a [10:0]) device(device)
#pragma omp target data map(tofrom : a) device(device)
  {
#pragma omp target map(a [0:0]) device(device)
    a[7] = 70;
#pragma omp target update from(a [7:n]) device(device)
  }
  check_int("through an empty section of what is mapped", 7, a[7], 70);
}

/* More than there is, and sizes that overflow. */
static void too_much(int device) {
  static const size_t sizes[] = {(size_t)1 << 45, SIZE_MAX / 2, SIZE_MAX - 4095, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    check_true("an impossible allocation", omp_target_alloc(sizes[i], device) == NULL);
  int *d = omp_target_alloc(N * sizeof *d, device), sum = 0;
  check_true("a possible one afterwards", d != NULL);
#pragma omp target is_device_ptr(d) map(tofrom : sum) device(device)
  for (int i = 0; i < N; i++)
    sum += d[i] = i;
  check_int("works", 0, sum, N * (N - 1) / 2);
  omp_target_free(d, device);
}

/* Boxes inside of boxes, of three dimensions, both ways and on the device; one without volume. */
static void boxes(int device, int host) {
  enum { X = 7, Y = 6, Z = 5 };
  short from[X][Y][Z], back[X][Y][Z], *d = omp_target_alloc(sizeof from, device);
  short *e = omp_target_alloc(sizeof from, device);
  size_t whole[3] = {X, Y, Z}, volume[3] = {3, 2, 4}, at[3] = {1, 3, 0}, to[3] = {4, 4, 1},
         zero[3] = {0, 0, 0};
  size_t flat[3] = {3, 0, 4};
  for (int i = 0; i < X * Y * Z; i++) {
    (&from[0][0][0])[i] = (short)i;
    (&back[0][0][0])[i] = -1;
  }
  check_int("a whole box", 0,
            omp_target_memcpy_rect(d, from, 2, 3, whole, zero, zero, whole, whole, device, host), 0);
  check_int("on the device", 0,
            omp_target_memcpy_rect(e, d, 2, 3, whole, zero, zero, whole, whole, device, device), 0);
  check_int("part of it", 0,
            omp_target_memcpy_rect(back, e, 2, 3, volume, to, at, whole, whole, host, device), 0);
  check_int("without volume", 0,
            omp_target_memcpy_rect(back, e, 2, 3, flat, zero, zero, whole, whole, host, device), 0);
  for (int x = 0; x < X; x++)
    for (int y = 0; y < Y; y++)
      for (int z = 0; z < Z; z++) {
        int inside = x >= 4 && x < 7 && y >= 4 && y < 6 && z >= 1 && z < 5;
        check_int("box", (x * Y + y) * Z + z, back[x][y][z], inside ? from[x - 3][y - 1][z - 1] : -1);
      }
  check_true("dimensions",
             omp_target_memcpy_rect(NULL, NULL, 2, 3, whole, zero, zero, whole, whole, device, host) >= 3);
  omp_target_free(d, device);
  omp_target_free(e, device);
}

/* A part of the host's array, associated with the middle of an allocation. */
static void association(int device) {
  int a[N], *d = omp_target_alloc(2 * N * sizeof *d, device), sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i;
  check_int("associate", 0, omp_target_associate_ptr(&a[100], d, 50 * sizeof *a, N * sizeof *d, device), 0);
  check_true("again, otherwise", omp_target_associate_ptr(&a[100], d, 50 * sizeof *a, 0, device) != 0);
  check_int("again, the same", 0, omp_target_associate_ptr(&a[100], d, 50 * sizeof *a, N * sizeof *d, device),
            0);
  check_true("inside", omp_target_is_present(&a[149], device));
  check_true("in front", !omp_target_is_present(&a[99], device));
  check_true("behind", !omp_target_is_present(&a[150], device));
#pragma omp target update to(a [100:50]) device(device)
#pragma omp target is_device_ptr(d) map(tofrom : sum) device(device)
  for (int i = 0; i < 50; i++)
    sum += d[N + i];
  check_int("what was updated", 0, sum, 50 * 100 + 50 * 49 / 2);
  check_int("disassociate", 0, omp_target_disassociate_ptr(&a[100], device), 0);
  check_true("not twice", omp_target_disassociate_ptr(&a[100], device) != 0);
  omp_target_free(d, device);
}

/* The same image on all devices, each with variables of its own, and copies from one to the next. */
static void all_devices(int host) {
  int count = omp_get_num_devices(), total = 0;
  for (int device = 0; device < count; device++) {
#pragma omp target teams distribute parallel for device(device)
    for (int i = 0; i < N; i++)
      on_each[i] += i + device;
  }
  for (int device = 0; device < count; device++) {
    int next = (device + 1) % count, back[N];
    int *d = omp_target_alloc(sizeof back, device), *e = omp_target_alloc(sizeof back, next);
#pragma omp target teams distribute parallel for is_device_ptr(d) device(device)
    for (int i = 0; i < N; i++)
      d[i] = on_each[i];
    check_int("to the next device", device, omp_target_memcpy(e, d, sizeof back, 0, 0, next, device), 0);
    check_int("and back", device, omp_target_memcpy(back, e, sizeof back, 0, 0, host, next), 0);
    for (int i = 0; i < N; i++)
      check_int("variable of a device", i, back[i], i + device);
    omp_target_free(d, device);
    omp_target_free(e, next);
    total++;
  }
  check_true("every device", total >= 1);
}

int main(void) {
  int host = omp_get_initial_device();
  if (check_separate()) {
    for (int device = 0; device < omp_get_num_devices(); device++) {
      nothing(device, host);
      empty_sections(device);
      too_much(device);
      boxes(device, host);
      association(device);
    }
    all_devices(host);
  }
  return check_done("edges");
}
