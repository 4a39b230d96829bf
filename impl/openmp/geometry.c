/* Launch geometry. A clause is a promise and is kept up to what device and kernel can do; what no clause says
 * follows LLVM 18's rule, except that a team is not made smaller than a wavefront unless the user asks for
 * it: the lanes would idle. In teams of up to 32 threads code of clang 14 to 16 gets lastprivate variables
 * wrong, because each thread then really has the copy of its own that the compiler overlooked; with clang 19
 * and later it is those of more than one wavefront that get them wrong. Settings of the environment bound and
 * replace defaults, never clauses, as OpenMP 5.2 has it for OMP_NUM_TEAMS and OMP_TEAMS_THREAD_LIMIT. */
#include "openmp/geometry.h"

enum { PREFERRED_THREADS = 256, TEAMS_PER_COMPUTE_UNIT = 4 };

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static bool is_set(int64_t value) {
  return value > 0; /* unset is negative, and 0 is no number of teams or threads */
}

static uint32_t limit_or_none(int64_t value) {
  return is_set(value) ? (uint32_t)value : UINT32_MAX;
}

/* A runtime that does not know its device says 0, by which launches must not divide. */
static uint32_t at_least_one(uint32_t value) {
  return value ? value : 1;
}

atmi_geometry_limits_t atmi_geometry_limits(const atmi_device_properties_t *device, const atmi_env_t *env) {
  int64_t per_unit = is_set(env->teams_per_cu)     ? env->teams_per_cu
                     : is_set(env->teams_per_proc) ? env->teams_per_proc
                                                   : TEAMS_PER_COMPUTE_UNIT;
  uint64_t teams = (uint64_t)per_unit * device->compute_units;
  if (is_set(env->max_teams_default))
    teams = (uint64_t)env->max_teams_default;
  else if (is_set(env->num_teams))
    teams = (uint64_t)env->num_teams;
  if (!teams)
    teams = 1;
  return (atmi_geometry_limits_t){
      .wavefront = at_least_one(device->wavefront),
      .max_threads = device->max_group,
      .max_grid = device->max_grid_x,
      .default_teams = teams < UINT32_MAX ? (uint32_t)teams : UINT32_MAX,
      .team_limit = least(limit_or_none(env->num_teams), limit_or_none(env->team_limit)),
      .thread_limit = limit_or_none(env->teams_thread_limit),
      .reuses_teams = env->reuse_blocks,
      .low_trip_threads = is_set(env->min_threads_low_trip) ? (uint32_t)env->min_threads_low_trip : 0,
  };
}

static uint32_t wavefront_of(const atmi_geometry_limits_t *limits, const atmi_geometry_request_t *request) {
  return request->kernel_wavefront ? request->kernel_wavefront : limits->wavefront;
}

/* The main thread of a generic region has a wave of its own, which no clause or setting counts. */
static uint32_t with_main_wave(uint32_t wavefront, atmi_mode_t mode, uint32_t threads) {
  if (mode != ATMI_MODE_GENERIC)
    return threads;
  return threads < UINT32_MAX - wavefront ? threads + wavefront : UINT32_MAX;
}

/* As many workers as before, and only the first thread of the wave behind theirs. */
static uint32_t without_main_companions(uint32_t wavefront, uint32_t threads) {
  return (threads - 1) / wavefront * wavefront + 1;
}

static uint32_t choose_threads(const atmi_geometry_limits_t *limits, const atmi_geometry_request_t *request) {
  uint32_t most = limits->max_threads, wavefront = wavefront_of(limits, request);
  if (request->kernel_max_threads)
    most = least(most, request->kernel_max_threads);
  uint32_t threads;
  if (request->thread_limit > 0)
    threads = with_main_wave(wavefront, request->mode, (uint32_t)request->thread_limit);
  else
    threads = least(request->kernel_min_threads > PREFERRED_THREADS ? request->kernel_min_threads
                                                                    : PREFERRED_THREADS,
                    with_main_wave(wavefront, request->mode, limits->thread_limit));
  threads = least(threads, most);
  if (request->lone_main && request->mode == ATMI_MODE_GENERIC)
    threads = without_main_companions(wavefront, threads);
  return at_least_one(threads);
}

static uint64_t divide_up(uint64_t dividend, uint64_t divisor) {
  return (dividend - 1) / divisor + 1; /* the dividend is at least 1; nothing can overflow */
}

static uint64_t power_of_two_from(uint64_t least_value) {
  uint64_t power = 1;
  while (power < least_value)
    power *= 2;
  return power;
}

/* A wavefront; of a narrow one two for code of older compilers, see above. */
static uint32_t smallest_team(const atmi_geometry_limits_t *limits, const atmi_geometry_request_t *request) {
  enum { FEWEST_THREADS = 64 };
  const uint32_t wavefront = wavefront_of(limits, request);
  return wavefront < FEWEST_THREADS && !request->narrow_teams ? FEWEST_THREADS : wavefront;
}

/* Teams for a loop whose iterations all threads of all teams share. With too few iterations for all default
 * teams, smaller teams keep more compute units busy; a thread_limit clause rules that out. */
static uint64_t spread_loop(const atmi_geometry_limits_t *limits, const atmi_geometry_request_t *request,
                            uint64_t wanted_teams, uint32_t *threads) {
  uint64_t trips = request->tripcount;
  uint32_t fewest = limits->low_trip_threads ? limits->low_trip_threads : smallest_team(limits, request);
  fewest = fewest > request->kernel_min_threads ? fewest : request->kernel_min_threads;
  fewest = least(fewest, *threads);
  if (request->thread_limit <= 0 && trips < wanted_teams * *threads) {
    if (trips >= wanted_teams * fewest) {
      uint64_t enough = power_of_two_from(divide_up(trips, wanted_teams));
      *threads = enough < *threads ? (uint32_t)enough : *threads;
    } else {
      *threads = fewest;
    }
  }
  return divide_up(trips, *threads);
}

atmi_geometry_t atmi_geometry_compute(const atmi_geometry_limits_t *limits,
                                      const atmi_geometry_request_t *request) {
  uint32_t threads = choose_threads(limits, request);
  uint64_t teams;
  if (request->num_teams > 0) {
    teams = (uint64_t)request->num_teams;
  } else {
    uint32_t limit = limits->team_limit;
    if (request->kernel_max_teams)
      limit = least(limit, request->kernel_max_teams);
    uint32_t most = least(limits->default_teams, limit);
    teams = most;
    if (request->tripcount && request->mode == ATMI_MODE_SPMD)
      teams = spread_loop(limits, request, most, &threads);
    else if (request->tripcount)
      teams =
          request->tripcount; /* each iteration is a team's, which shares its inner loops among its threads */
    if (!limits->reuses_teams && request->tripcount)
      most = limit;
    teams = teams < most ? teams : most;
  }
  uint64_t cap = limits->max_grid / threads;
  teams = teams < cap ? teams : cap;
  return (atmi_geometry_t){.teams = teams ? (uint32_t)teams : 1, .threads = threads};
}
