/* The device memory routines of OpenMP: alloc, free, memcpy, memcpy_rect, is_present, associate, get_mapped_ptr, and
 * queries of devices on the host and on the device. */
#include "check.h"

enum { N = 1000 };

static void copies(int device, int host) {
  int *d = omp_target_alloc(N * sizeof *d, device), *e = omp_target_alloc(N * sizeof *e, device);
  int a[N], b[N];
  check_true("omp_target_alloc", d != NULL && e != NULL && d != e);
  for (int i = 0; i < N; i++) {
    a[i] = i * 3;
    b[i] = -1;
  }
  check_int("host to device", 0, omp_target_memcpy(d, a, sizeof a, 0, 0, device, host), 0);
#pragma omp target teams distribute parallel for is_device_ptr(d, e) device(device)
  for (int i = 0; i < N; i++)
    e[N - 1 - i] = d[i] + 1;
  check_int("device to device", 0,
            omp_target_memcpy(d, e, 500 * sizeof(int), 250 * sizeof(int), 100 * sizeof(int), device, device), 0);
  check_int("device to host", 0, omp_target_memcpy(b, d, sizeof b, 0, 0, host, device), 0);
  for (int i = 0; i < N; i++)
    check_int("copies", i, b[i], i >= 250 && i < 750 ? (N - 1 - (i - 150)) * 3 + 1 : i * 3);
  omp_target_free(d, device);
  omp_target_free(e, device);
  omp_target_free(NULL, device);
}

static void rectangles(int device, int host) {
  int a[12][10], *d = omp_target_alloc(sizeof(int) * 20 * 15, device);
  size_t volume[2] = {5, 4}, to[2] = {3, 6}, from[2] = {2, 1}, d_size[2] = {20, 15}, a_size[2] = {12, 10};
  for (int i = 0; i < 120; i++)
    a[i / 10][i % 10] = i;
#pragma omp target is_device_ptr(d) device(device)
  for (int i = 0; i < 300; i++)
    d[i] = 0;
  check_int("rectangle", 0, omp_target_memcpy_rect(d, a, sizeof(int), 2, volume, to, from, d_size, a_size, device, host), 0);
  int b[300];
  check_int("back", 0, omp_target_memcpy(b, d, sizeof b, 0, 0, host, device), 0);
  for (int i = 0; i < 300; i++) {
    int r = i / 15 - 3, c = i % 15 - 6;
    check_int("rectangle", i, b[i], r >= 0 && r < 5 && c >= 0 && c < 4 ? (r + 2) * 10 + c + 1 : 0);
  }
  omp_target_free(d, device);
}

static void association(int device, int host) {
  int a[N], *d = omp_target_alloc(sizeof a, device);
  for (int i = 0; i < N; i++)
    a[i] = i;
  check_int("associate", 0, omp_target_associate_ptr(a, d, sizeof a, 0, device), 0);
  check_true("present", omp_target_is_present(a, device));
  check_true("mapped pointer", omp_get_mapped_ptr(&a[10], device) == d + 10);
#pragma omp target update to(a) device(device)
#pragma omp target teams distribute parallel for map(tofrom : a) device(device)
  for (int i = 0; i < N; i++)
    a[i] *= 5;
  check_int("nothing copied", 1, a[1], 1);
#pragma omp target update from(a) device(device)
  for (int i = 0; i < N; i++)
    check_int("associated", i, a[i], i * 5);
  check_int("disassociate", 0, omp_target_disassociate_ptr(a, device), 0);
  check_true("absent", !omp_target_is_present(a, device));
  omp_target_free(d, device);
  (void)host;
}

static void queries(int device) {
  int on[8] = {0};
#pragma omp target map(from : on) device(device)
  {
    on[0] = omp_is_initial_device();
    on[1] = omp_get_num_teams();
    on[2] = omp_get_team_num();
    on[3] = omp_get_num_threads();
    on[4] = omp_in_parallel();
    on[5] = omp_get_level();
    on[6] = omp_get_thread_num();
    on[7] = omp_get_max_threads() >= 1;
  }
  const int want[8] = {0, 1, 0, 1, 0, 0, 0, 1};
  for (int i = 0; i < 8; i++)
    check_int("device query", i, on[i], want[i]);
  int teams = 0, limit = 0, wrong = 0;
#pragma omp target teams num_teams(6) thread_limit(96) map(tofrom : teams, limit, wrong) device(device)
  {
#pragma omp parallel
    {
      if (omp_get_num_threads() > 96 || !(omp_get_thread_num() < omp_get_num_threads())) {
#pragma omp atomic
        wrong++;
      }
    }
    if (omp_get_team_num() == 0) {
      teams = omp_get_num_teams();
      limit = omp_get_thread_limit();
    }
  }
  check_int("num_teams(6)", 0, teams, 6);
  check_true("thread_limit at least 1", limit >= 1);
  check_int("threads within the limit", 0, wrong, 0);
  check_true("default device", omp_get_default_device() >= 0 && omp_get_default_device() < omp_get_num_devices());
  check_int("initial device", 0, omp_get_initial_device(), omp_get_num_devices());
}

/* Many allocations, of small and large sizes, filled and read back; freed in another order. */
static void allocations(int device, int host) {
  enum { COUNT = 64 };
  unsigned char *blocks[COUNT], buffer[3000];
  for (int i = 0; i < COUNT; i++) {
    size_t size = (size_t)(i * 37 + 1);
    blocks[i] = omp_target_alloc(size, device);
    check_true("small allocation", blocks[i] != NULL);
    memset(buffer, i + 1, size);
    check_int("fill", i, omp_target_memcpy(blocks[i], buffer, size, 0, 0, device, host), 0);
  }
  for (int i = 0; i < COUNT; i++) {
    int k = i * 29 % COUNT;
    size_t size = (size_t)(k * 37 + 1);
    memset(buffer, 0, sizeof buffer);
    check_int("read", k, omp_target_memcpy(buffer, blocks[k], size, 0, 0, host, device), 0);
    for (size_t j = 0; j < size; j++)
      check_int("block", (long)j, buffer[j], k + 1);
    omp_target_free(blocks[k], device);
  }
  size_t large = (size_t)24 << 20;
  unsigned char *h = malloc(large), *d = omp_target_alloc(large, device);
  check_true("large allocation", d != NULL && h != NULL);
  for (size_t i = 0; i < large; i++)
    h[i] = (unsigned char)(i * 2654435761u >> 20);
  check_int("large in", 0, omp_target_memcpy(d, h, large, 0, 0, device, host), 0);
  memset(h, 0, large);
  check_int("large out", 0, omp_target_memcpy(h, d, large, 0, 0, host, device), 0);
  for (size_t i = 0; i < large; i++)
    if (h[i] != (unsigned char)(i * 2654435761u >> 20)) {
      check_int("large", (long)i, h[i], (unsigned char)(i * 2654435761u >> 20));
      break;
    }
  omp_target_free(d, device);
  free(h);
}

int main(void) {
  int host = omp_get_initial_device();
  if (check_separate()) {
    int device = omp_get_default_device();
    copies(device, host);
    rectangles(device, host);
    association(device, host);
    queries(device);
    allocations(device, host);
  }
  return check_done("api");
}
