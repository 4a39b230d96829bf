/* Launches in three dimensions: what libomptarget hands on from 16, and no clang to 18 writes itself. The
 * call that clang makes for a region gets teams and threads in y and z on its way; the region asks the
 * hardware where it is. */
#include "check.h"

#include <stddef.h>

#if __clang_major__ < 16
#error "libomptarget 13 to 15 launch in one dimension"
#endif

/* What clang passes to __tgt_target_kernel; from `flags` on only in version 2. */
typedef struct kernel_arguments {
  uint32_t version, count;
  void *pointers[6];
  uint64_t tripcount, flags;
  uint32_t num_teams[3], thread_limit[3], dynamic_lds_bytes;
} kernel_arguments_t;

/* Teams and threads in y and z of the next region. */
static uint32_t more_teams[2], more_threads[2];

extern int __real___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads,
                                      void *region, kernel_arguments_t *arguments);
int __wrap___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *region,
                               kernel_arguments_t *arguments);

int __wrap___tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *region,
                               kernel_arguments_t *arguments) {
  kernel_arguments_t all = {0};
  memcpy(&all, arguments, arguments->version < 2 ? offsetof(kernel_arguments_t, flags) : sizeof all);
  all.version = 2;
  memcpy(all.num_teams, (uint32_t[]){(uint32_t)teams, more_teams[0], more_teams[1]}, sizeof all.num_teams);
  memcpy(all.thread_limit, (uint32_t[]){(uint32_t)threads, more_threads[0], more_threads[1]},
         sizeof all.thread_limit);
  return __real___tgt_target_kernel(where, device, teams, threads, region, &all);
}

/* Where a work-item is, and how large its team is, from hardware and dispatch packet. On the host: nowhere.
 */
#ifdef __AMDGCN__
#define TEAM(axis)   __builtin_amdgcn_workgroup_id_##axis()
#define THREAD(axis) __builtin_amdgcn_workitem_id_##axis()
#define SIZE(axis)   __builtin_amdgcn_workgroup_size_##axis()
#define GRID(axis)   __builtin_amdgcn_grid_size_##axis()
#else
#define TEAM(axis)   0u
#define THREAD(axis) 0u
#define SIZE(axis)   0u
#define GRID(axis)   0u
#endif

typedef struct place {
  uint32_t visits, size, grid[3];
} place_t;

typedef struct shape {
  uint32_t teams[3], threads[3];
} shape_t;

static uint32_t or_one(uint32_t value) {
  return value ? value : 1;
}

/* Every work-item of the grid is there exactly once, in teams of the size that was asked for. */
static void launch(const char *what, const shape_t *shape) {
  uint32_t teams = shape->teams[0], threads = shape->threads[0], tx = teams, hx = threads;
  uint32_t ty = or_one(shape->teams[1]), tz = or_one(shape->teams[2]);
  uint32_t hy = or_one(shape->threads[1]), hz = or_one(shape->threads[2]);
  uint32_t count = tx * ty * tz * hx * hy * hz;
  place_t *places = calloc(count, sizeof *places);
  memcpy(more_teams, shape->teams + 1, sizeof more_teams);
  memcpy(more_threads, shape->threads + 1, sizeof more_threads);
  /* Each team in x gets `threads` iterations, and teams and threads in y and z repeat them. The device
   * runtime shares them among whole waves only. */
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)                      \
    map(tofrom                                                                                               \
        : places [0:count])
  for (uint32_t i = 0; i < teams * threads; i++) {
    uint32_t team = (TEAM(z) * ty + TEAM(y)) * tx + TEAM(x);
    uint32_t thread = (THREAD(z) * hy + THREAD(y)) * hx + THREAD(x);
    place_t *place = &places[team * (hx * hy * hz) + thread];
    place->visits += 1 + i - (TEAM(x) * hx + THREAD(x));
    place->size = SIZE(x) | SIZE(y) << 10 | SIZE(z) << 20;
    place->grid[0] = GRID(x);
    place->grid[1] = GRID(y);
    place->grid[2] = GRID(z);
  }
  for (uint32_t i = 0; i < count; i++) {
    check_int(what, i, places[i].visits, 1);
    check_int("size of a team", i, places[i].size, hx | hy << 10 | hz << 20);
    check_int("grid x", i, places[i].grid[0], tx * hx);
    check_int("grid y", i, places[i].grid[1], ty * hy);
    check_int("grid z", i, places[i].grid[2], tz * hz);
  }
  free(places);
}

int main(void) {
  static const struct {
    const char *name;
    shape_t shape;
  } cases[] = {
      {"one dimension", {{6}, {128}}},           {"ones", {{6, 1, 1}, {128, 1, 1}}},
      {"teams in y", {{3, 5, 1}, {64, 1, 1}}},   {"teams in z", {{2, 1, 7}, {64, 1, 1}}},
      {"teams", {{2, 3, 5}, {64, 1, 1}}},        {"threads in y", {{3, 1, 1}, {64, 8, 1}}},
      {"threads in z", {{3, 1, 1}, {64, 1, 7}}}, {"threads", {{2, 1, 1}, {64, 3, 5}}},
      {"all", {{3, 2, 4}, {128, 2, 3}}},         {"a full team", {{2, 2, 2}, {64, 4, 4}}},
  };
  /* More than once: a launch that has been seen before takes a shorter way. */
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      for (int again = 0; again < 2; again++)
        launch(cases[i].name, &cases[i].shape);
  return check_done("dimensions");
}
