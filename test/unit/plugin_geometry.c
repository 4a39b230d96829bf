/* Launch geometry: a table of launches with what the rules of doc/environment.md give, worked out by hand, on
 * a part of 104 compute units, waves of 64 and workgroups of up to 1024: 416 teams of 256 threads by default.
 * Then properties that hold for every launch. */
#include "plugin_test.h"

#include "openmp/geometry.h"

#include <string.h>

/* The user's settings; a field left 0 is unset, except where the row says that 0 was set. */
typedef struct {
  int64_t num_teams, team_limit, teams_thread_limit, max_teams_default, teams_per_proc, teams_per_cu,
      min_threads_low_trip;
  bool all_teams; /* off: LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT */
} settings_t;

typedef struct {
  atmi_mode_t mode;
  uint32_t kernel_max_threads;
  int32_t num_teams, thread_limit;
  uint64_t tripcount;
  uint32_t teams, threads; /* expected */
  bool wave32, lone_main, narrow_teams;
  settings_t set;
} row_t;

#define ROW(mode_, kernel_, num_teams_, thread_limit_, tripcount_, teams_, threads_, ...)                    \
  {                                                                                                          \
    .mode = ATMI_MODE_##mode_, .kernel_max_threads = kernel_, .num_teams = num_teams_,                       \
    .thread_limit = thread_limit_, .tripcount = tripcount_, .teams = teams_, .threads = threads_,            \
    __VA_ARGS__                                                                                              \
  }
#define DEFAULTS .wave32 = false

/* Mode, the kernel's limit, num_teams, thread_limit, trip count; expected teams and threads; settings. */
static const row_t rows[] = {
    /* Without clauses and with an unknown trip count every compute unit gets its default share of teams. */
    ROW(SPMD, 0, 0, 0, 0, 416, 256, DEFAULTS),
    ROW(GENERIC, 0, 0, 0, 0, 416, 256, DEFAULTS),
    ROW(GENERIC_SPMD, 0, 0, 0, 0, 416, 256, DEFAULTS),
    /* A region without teams comes as num_teams 1. */
    ROW(SPMD, 0, 1, 0, 0, 1, 256, DEFAULTS),
    ROW(GENERIC, 0, 1, 0, 0, 1, 256, DEFAULTS),
    /* num_teams is kept, below and above the default. */
    ROW(SPMD, 0, 100, 0, 0, 100, 256, DEFAULTS),
    ROW(SPMD, 0, 1000, 0, 0, 1000, 256, DEFAULTS),
    ROW(SPMD, 0, 100000, 0, 0, 100000, 256, DEFAULTS),
    /* The grid counts work-items in 32 bits: 4294967295 / threads teams at most, not one more and no
       overflow. */
    ROW(SPMD, 0, INT32_MAX, 0, 0, 16777215, 256, DEFAULTS),
    ROW(SPMD, 0, INT32_MAX, 1024, 0, 4194303, 1024, DEFAULTS),
    ROW(SPMD, 0, INT32_MAX, 1, 0, INT32_MAX, 1, DEFAULTS),
    ROW(SPMD, 0, 4194303, 1024, 0, 4194303, 1024, DEFAULTS),
    ROW(SPMD, 0, 4194304, 1024, 0, 4194303, 1024, DEFAULTS),
    /* Negative values stand for no clause: programs of clang 14 under libomptarget 16 pass -1. */
    ROW(SPMD, 0, -1, 0, 0, 416, 256, DEFAULTS),
    ROW(SPMD, 0, 1, -1, 0, 1, 256, DEFAULTS),
    ROW(GENERIC, 0, 1, -1, 0, 1, 256, DEFAULTS),
    ROW(SPMD, 0, INT32_MIN, INT32_MIN, 0, 416, 256, DEFAULTS),
    /* thread_limit is kept, also above 256, up to the 1024 that a workgroup can have. */
    ROW(SPMD, 0, 0, 512, 0, 416, 512, DEFAULTS),
    ROW(SPMD, 0, 0, 1024, 0, 416, 1024, DEFAULTS),
    ROW(SPMD, 0, 0, 2000, 0, 416, 1024, DEFAULTS),
    ROW(SPMD, 0, 0, INT32_MAX, 0, 416, 1024, DEFAULTS),
    ROW(SPMD, 0, 0, 1, 0, 416, 1, DEFAULTS),
    ROW(SPMD, 0, 0, 100, 0, 416, 100, DEFAULTS),
    /* A generic region gets a wave of 64 for its main thread on top of thread_limit, where the workgroup has
       room. */
    ROW(GENERIC, 0, 0, 1, 0, 416, 65, DEFAULTS),
    ROW(GENERIC, 0, 0, 256, 0, 416, 320, DEFAULTS),
    ROW(GENERIC, 0, 0, 960, 0, 416, 1024, DEFAULTS),
    ROW(GENERIC, 0, 0, 961, 0, 416, 1024, DEFAULTS),
    ROW(GENERIC, 0, 0, 1024, 0, 416, 1024, DEFAULTS),
    ROW(GENERIC, 0, 0, INT32_MAX, 0, 416, 1024, DEFAULTS),
    /* A region that the optimiser turned into SPMD has no main thread. */
    ROW(GENERIC_SPMD, 0, 0, 64, 0, 416, 64, DEFAULTS),
    /* On a wave32 part the main thread's wave is 32. */
    ROW(GENERIC, 0, 0, 64, 0, 416, 96, .wave32 = true),
    /* A kernel compiled for fewer threads than the device can have is never launched with more. */
    ROW(SPMD, 512, 0, 1024, 0, 416, 512, DEFAULTS),
    ROW(SPMD, 128, 0, 0, 0, 416, 128, DEFAULTS),
    ROW(GENERIC, 256, 0, 256, 0, 416, 256, DEFAULTS),
    ROW(SPMD, 1024, 0, 0, 0, 416, 256, DEFAULTS),
    /* Few iterations: teams of one wavefront, one iteration per thread. 26624 is 416 * 64. */
    ROW(SPMD, 0, 0, 0, 1, 1, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 64, 1, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 65, 2, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 100, 2, 64, DEFAULTS),
    /* A wavefront of 32 is too small for code of clang 14 to 16. */
    ROW(SPMD, 0, 0, 0, 100, 2, 64, .wave32 = true),
    ROW(SPMD, 0, 0, 0, 100, 4, 32, .wave32 = true, .narrow_teams = true),
    ROW(SPMD, 0, 0, 0, 100, 2, 64, .narrow_teams = true),
    ROW(SPMD, 0, 0, 0, 13313, 209, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 26623, 416, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 26624, 416, 64, DEFAULTS),
    /* More: all 416 teams, with the next power of two of threads that covers the loop. */
    ROW(SPMD, 0, 0, 0, 26625, 209, 128, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 53248, 416, 128, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 53249, 209, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 106495, 416, 256, DEFAULTS),
    /* Enough for 416 * 256: full teams, and never more teams than the default. */
    ROW(SPMD, 0, 0, 0, 106496, 416, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 106497, 416, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 1000000000, 416, 256, DEFAULTS),
    /* A multiple of 2^32 is not 0, and the largest count does not overflow. */
    ROW(SPMD, 0, 0, 0, UINT64_C(4294967296), 416, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 0, UINT64_MAX, 416, 256, DEFAULTS),
    ROW(GENERIC, 0, 0, 0, UINT64_C(4294967296), 416, 256, DEFAULTS),
    /* With a thread_limit clause the teams stay as large as it says; there are only fewer of them. */
    ROW(SPMD, 0, 0, 256, 100, 1, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 64, 1000, 16, 64, DEFAULTS),
    ROW(SPMD, 0, 0, 16, 100, 7, 16, DEFAULTS),
    /* With a num_teams clause the trip count says nothing. */
    ROW(SPMD, 0, 10, 0, 1000000, 10, 256, DEFAULTS),
    ROW(SPMD, 0, 10, 0, 5, 10, 256, DEFAULTS),
    /* In the other modes each iteration is a team's. */
    ROW(GENERIC, 0, 0, 0, 10, 10, 256, DEFAULTS),
    ROW(GENERIC, 0, 0, 0, 1000, 416, 256, DEFAULTS),
    ROW(GENERIC_SPMD, 0, 0, 0, 10, 10, 256, DEFAULTS),
    ROW(GENERIC, 0, 0, 32, 10, 10, 96, DEFAULTS),
    /* A small kernel limit is also the floor for few iterations. */
    ROW(SPMD, 16, 0, 0, 100, 7, 16, DEFAULTS),
    /* OMP_NUM_TEAMS is the default and the bound without a clause, and nothing to a clause (OpenMP 5.2,
       nteams-var). */
    ROW(SPMD, 0, 0, 0, 0, 8, 256, .set.num_teams = 8),
    ROW(SPMD, 0, 20, 0, 0, 20, 256, .set.num_teams = 8),
    ROW(SPMD, 0, 0, 0, 0, 1000, 256, .set.num_teams = 1000),
    ROW(SPMD, 0, 0, 0, 100, 2, 64, .set.num_teams = 8),
    ROW(SPMD, 0, 0, 0, 100000, 8, 256, .set.num_teams = 8),
    /* OMP_TEAM_LIMIT only bounds defaults. */
    ROW(SPMD, 0, 0, 0, 0, 100, 256, .set.team_limit = 100),
    ROW(SPMD, 0, 200, 0, 0, 200, 256, .set.team_limit = 100),
    ROW(SPMD, 0, 0, 0, 0, 416, 256, .set.team_limit = 1000),
    ROW(SPMD, 0, 0, 0, 0, 50, 256, .set.team_limit = 50, .set.num_teams = 80),
    ROW(SPMD, 0, 0, 0, 20, 1, 64, .set.team_limit = 2),
    /* OMP_MAX_TEAMS_DEFAULT wins over OMP_NUM_TEAMS as the default; that one still bounds. */
    ROW(SPMD, 0, 0, 0, 0, 64, 256, .set.max_teams_default = 64),
    ROW(SPMD, 0, 100, 0, 0, 100, 256, .set.max_teams_default = 64),
    ROW(SPMD, 0, 0, 0, 0, 32, 256, .set.max_teams_default = 64, .set.num_teams = 32),
    ROW(SPMD, 0, 0, 0, 0, 32, 256, .set.max_teams_default = 32, .set.num_teams = 64),
    /* OMP_TEAMS_THREAD_LIMIT bounds the default of 256 threads, and nothing else (teams-thread-limit-var). */
    ROW(SPMD, 0, 0, 0, 0, 416, 128, .set.teams_thread_limit = 128),
    ROW(SPMD, 0, 0, 512, 0, 416, 512, .set.teams_thread_limit = 128),
    ROW(SPMD, 0, 0, 0, 0, 416, 256, .set.teams_thread_limit = 512),
    ROW(SPMD, 0, 0, 0, 100, 7, 16, .set.teams_thread_limit = 16),
    /* In generic regions it counts workers: a limit of 32 leaves room for the main thread's wave. */
    ROW(GENERIC, 0, 0, 0, 0, 416, 96, .set.teams_thread_limit = 32),
    ROW(GENERIC, 0, 0, 0, 0, 416, 192, .set.teams_thread_limit = 128),
    ROW(GENERIC, 0, 0, 0, 0, 416, 256, .set.teams_thread_limit = 256),
    ROW(GENERIC, 0, 0, 0, 0, 416, 256, .set.teams_thread_limit = INT32_MAX),
    /* Where the main thread must be alone in its wave, there are as many workers, and one thread more. */
    ROW(GENERIC, 0, 0, 0, 0, 416, 193, .lone_main = true),
    ROW(GENERIC, 0, 0, 1, 0, 416, 65, .lone_main = true),
    ROW(GENERIC, 0, 0, 64, 0, 416, 65, .lone_main = true),
    ROW(GENERIC, 0, 0, 65, 0, 416, 129, .lone_main = true),
    ROW(GENERIC, 0, 0, 1024, 0, 416, 961, .lone_main = true),
    ROW(GENERIC, 64, 0, 0, 0, 416, 1, .lone_main = true),
    ROW(GENERIC, 0, 0, 0, 0, 416, 225, .lone_main = true, .wave32 = true),
    ROW(SPMD, 0, 0, 0, 0, 416, 256, .lone_main = true),
    ROW(GENERIC_SPMD, 0, 0, 100, 0, 416, 100, .lone_main = true),
    /* Teams per compute unit, under the names of both plugin families; nextgen's wins. */
    ROW(SPMD, 0, 0, 0, 0, 104, 256, .set.teams_per_cu = 1),
    ROW(SPMD, 0, 0, 0, 0, 208, 256, .set.teams_per_proc = 2),
    ROW(SPMD, 0, 0, 0, 0, 104, 256, .set.teams_per_cu = 1, .set.teams_per_proc = 2),
    /* The fewest threads for few iterations can be chosen; never more than a team has. */
    ROW(SPMD, 0, 0, 0, 100, 4, 32, .set.min_threads_low_trip = 32),
    ROW(SPMD, 0, 0, 0, 13312, 416, 32, .set.min_threads_low_trip = 32),
    ROW(SPMD, 0, 0, 0, 13313, 209, 64, .set.min_threads_low_trip = 32),
    ROW(SPMD, 0, 0, 0, 100, 13, 8, .set.min_threads_low_trip = 8),
    ROW(SPMD, 0, 0, 0, 100, 1, 256, .set.min_threads_low_trip = 1024),
    ROW(SPMD, 0, 0, 0, 100, 100, 1, .set.min_threads_low_trip = 1),
    ROW(SPMD, 0, 0, 0, 1000, 250, 4, .set.min_threads_low_trip = 1),
    /* A team for each share of a long loop, if that is wanted: up to the limits, and for loops only. */
    ROW(SPMD, 0, 0, 0, 819200, 416, 256, DEFAULTS),
    ROW(SPMD, 0, 0, 0, 819200, 3200, 256, .set.all_teams = true),
    ROW(SPMD, 0, 0, 0, 819200, 1000, 256, .set.all_teams = true, .set.team_limit = 1000),
    ROW(SPMD, 0, 0, 0, 100, 2, 64, .set.all_teams = true),
    ROW(SPMD, 0, 0, 0, 0, 416, 256, .set.all_teams = true),
    ROW(GENERIC, 0, 0, 0, 5000, 5000, 256, .set.all_teams = true),
};

static int64_t or_unset(int64_t value) {
  return value ? value : ATMI_ENV_UNSET;
}

static atmi_geometry_limits_t limits_of(const settings_t *set, bool wave32) {
  const atmi_device_properties_t device = {
      .compute_units = 104, .wavefront = wave32 ? 32 : 64, .max_group = 1024, .max_grid_x = UINT32_MAX};
  const atmi_env_t env = {.num_teams = or_unset(set->num_teams),
                          .team_limit = or_unset(set->team_limit),
                          .teams_thread_limit = or_unset(set->teams_thread_limit),
                          .max_teams_default = or_unset(set->max_teams_default),
                          .teams_per_proc = or_unset(set->teams_per_proc),
                          .teams_per_cu = or_unset(set->teams_per_cu),
                          .min_threads_low_trip = or_unset(set->min_threads_low_trip),
                          .reuse_blocks = !set->all_teams};
  return atmi_geometry_limits(&device, &env);
}

static void follows_the_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const row_t *row = &rows[i];
    atmi_geometry_limits_t limits = limits_of(&row->set, row->wave32);
    const atmi_geometry_request_t request = {.mode = row->mode,
                                             .num_teams = row->num_teams,
                                             .thread_limit = row->thread_limit,
                                             .tripcount = row->tripcount,
                                             .kernel_max_threads = row->kernel_max_threads,
                                             .narrow_teams = row->narrow_teams,
                                             .lone_main = row->lone_main};
    atmi_geometry_t geometry = atmi_geometry_compute(&limits, &request);
    /* A kernel says itself how wide its waves are, whatever the device prefers. */
    atmi_geometry_limits_t others = limits_of(&row->set, !row->wave32);
    atmi_geometry_request_t stated = request;
    stated.kernel_wavefront = row->wave32 ? 32 : 64;
    atmi_geometry_t by_kernel = atmi_geometry_compute(&others, &stated);
    assert_memory_equal(&by_kernel, &geometry, sizeof geometry);
    if (geometry.teams != row->teams || geometry.threads != row->threads)
      fail_msg("row %zu (mode %d, num_teams %d, thread_limit %d, tripcount %llu): %u x %u, expected %u x %u",
               i, (int)row->mode, row->num_teams, row->thread_limit, (unsigned long long)row->tripcount,
               geometry.teams, geometry.threads, row->teams, row->threads);
  }
}

/* 0 in the environment is no number of teams: it must act as if it were not set. */
static void takes_zero_settings_for_none(void **state) {
  (void)state;
  const atmi_device_properties_t device = {
      .compute_units = 104, .wavefront = 64, .max_group = 1024, .max_grid_x = UINT32_MAX};
  const atmi_env_t zeros = {0};
  atmi_geometry_limits_t limits = atmi_geometry_limits(&device, &zeros);
  assert_int_equal(limits.default_teams, 416);
  assert_int_equal(limits.team_limit, UINT32_MAX);
  assert_int_equal(limits.thread_limit, UINT32_MAX);
  assert_int_equal(limits.low_trip_threads, 0);
}

/* A runtime may not know its device. */
static void divides_by_nothing(void **state) {
  (void)state;
  const atmi_device_properties_t device = {0};
  const atmi_env_t zeros = {0};
  const atmi_geometry_limits_t limits = atmi_geometry_limits(&device, &zeros);
  for (int lone_main = 0; lone_main < 2; lone_main++) {
    const atmi_geometry_request_t request = {
        .mode = ATMI_MODE_GENERIC, .tripcount = 1000, .lone_main = lone_main};
    const atmi_geometry_t got = atmi_geometry_compute(&limits, &request);
    assert_true(got.teams >= 1 && got.threads >= 1);
  }
}

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return *seed >> 20;
}

/* Small numbers often, any number sometimes. */
static uint64_t draw(uint64_t *seed) {
  uint64_t bits = next_random(seed) % 44;
  return next_random(seed) & ((UINT64_C(1) << bits) - 1);
}

static void keeps_every_launch_possible(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 200000; i++) {
    const settings_t set = {
        .num_teams = (int32_t)(draw(&seed) & 0x7fffffff) * (int64_t)(next_random(&seed) & 1),
        .team_limit = (int32_t)(draw(&seed) & 0x7fffffff) * (int64_t)(next_random(&seed) & 1),
        .teams_thread_limit = (int32_t)(draw(&seed) & 0xfff) * (int64_t)(next_random(&seed) & 1),
        .min_threads_low_trip = 1 + (int64_t)(next_random(&seed) % 1024)};
    atmi_geometry_limits_t limits = limits_of(&set, next_random(&seed) & 1);
    const atmi_geometry_request_t request = {.mode = (atmi_mode_t)(1 + next_random(&seed) % 3),
                                             .num_teams = (int32_t)draw(&seed),
                                             .thread_limit = (int32_t)draw(&seed),
                                             .tripcount = draw(&seed),
                                             .kernel_max_threads = (uint32_t)(next_random(&seed) % 1025),
                                             .lone_main = next_random(&seed) & 1};
    atmi_geometry_t got = atmi_geometry_compute(&limits, &request);
    uint32_t most = request.kernel_max_threads ? request.kernel_max_threads : 1024;
    assert_in_range(got.threads, 1, most);
    assert_true(got.teams >= 1 && (uint64_t)got.teams * got.threads <= UINT32_MAX);
    if (request.lone_main && request.mode == ATMI_MODE_GENERIC)
      assert_int_equal(got.threads % limits.wavefront, 1);
    /* A clause that can be kept is kept. */
    if (request.num_teams > 0 && (uint64_t)request.num_teams * got.threads <= UINT32_MAX)
      assert_int_equal(got.teams, request.num_teams);
    if (request.mode != ATMI_MODE_GENERIC && request.thread_limit > 0 &&
        (uint32_t)request.thread_limit <= most)
      assert_int_equal(got.threads, request.thread_limit);
    /* Without one, the user's bound holds. */
    if (request.num_teams <= 0 && set.team_limit)
      assert_true(got.teams <= set.team_limit);
  }
}

int main(void) {
  _Static_assert(sizeof rows / sizeof *rows >= 60, "the table is meant to be thorough");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(follows_the_table),
      cmocka_unit_test(takes_zero_settings_for_none),
      cmocka_unit_test(divides_by_nothing),
      cmocka_unit_test(keeps_every_launch_possible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
