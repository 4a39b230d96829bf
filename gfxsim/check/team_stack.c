/* The memory of OpenMP's device runtimes (clang 15 to 17) for variables that threads share, or that escape:
 * 512 bytes of a team in local memory, and a byte for each thread that counts what it has of them. Without a
 * malloc the runtime goes on when these are full, and gives one address to several threads, or variables.
 * Nobody tells where the bytes are, but the first thing that a region does is to clear them, each thread its
 * own. */
#include <inttypes.h>

#include "check/check.h"
#include "check/name.h"
#include "exec/place.h"
#include "isa/memory.h"

static const gs_rule_t rule = {"race", "team-memory", GS_SEVERITY_WARNING,
                               "More variables shared by threads than the device runtime has memory for"};

/* What the runtimes are built with. */
enum {
  TEAM_BYTES = 512,
  ALIGNMENT = 16,
  MOST_THREADS = 1024,
  WARP = 64, /* threads of which the main one of a team has the memory */
};

static uint64_t thread_of(const gs_wave_t *w, unsigned lane) {
  return (uint64_t)gs_place_wave(w) * gs_wave_lanes(w) + lane;
}

/* Whether each lane accesses the byte at `first` of its own. */
static bool are_own(const gs_wave_t *w, const gs_access_t *a, uint64_t first) {
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (a->at[l] != first + thread_of(w, l))
      return false;
  }
  return true;
}

/* The first byte that a kernel stores to local memory says whether it has the counters, and where. */
static uint32_t find_counters(const gs_wave_t *w, const gs_access_t *a, const gs_launch_t *launch) {
  const unsigned lane = (unsigned)__builtin_ctzll(a->lanes);
  const uint64_t first = a->at[lane] - thread_of(w, lane);
  char kernel[GS_PLACE_TEXT];
  if (first < TEAM_BYTES || first + MOST_THREADS > w->env->lds_bytes || !are_own(w, a, first))
    return GS_COUNTERS_NONE;
  gs_place_kernel_name(atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed), launch, kernel);
  return gs_name_is_target_region(kernel) ? (uint32_t)first : GS_COUNTERS_NONE;
}

/* What a thread has; the main one, which is in the last warp, has all of that. */
static uint32_t share_of(const gs_launch_t *launch, uint64_t thread) {
  const uint32_t threads = launch->group_size[0] * launch->group_size[1] * launch->group_size[2];
  const uint32_t share = TEAM_BYTES / threads / ALIGNMENT * ALIGNMENT;
  return thread == (threads - 1) / WARP * WARP ? share * WARP : share;
}

const char gs_team_stack_hint[] =
    "the device runtime has no memory left for variables that escape, and has given one address to several "
    "threads; with the device support library (clang --config .../clang-N.cfg) the host gives memory";

static void tell(gs_wave_t *w, unsigned lane, uint32_t share, uint32_t taken) {
  const gs_running_kernel_t *kernel = gs_place_kernel(w);
  /* Once for a kernel: where it is seen is some end of some variable's life. */
  const gs_key_t key = {.rule = &rule, .object = {kernel->launch.object}};
  gs_found_t *found = gs_findings_meet(&gs_check_of(w)->findings, &key, 1);
  if (!found)
    return;
  gs_finding_t finding = {.hint = gs_team_stack_hint};
  gs_side_of_wave(&finding.side[0], w, lane);
  snprintf(finding.title, sizeof finding.title, "No memory for variables that escape");
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "The device runtime has %" PRIu32 " bytes of local memory for each thread, and has given this one "
           "%" PRIu32,
           share, taken);
  gs_findings_tell(&gs_check_of(w)->findings, found, &finding);
}

void gs_team_stack_watch(gs_wave_t *w, const gs_access_t *a) {
  gs_running_kernel_t *kernel = gs_place_kernel(w);
  if (!kernel || !a->lanes)
    return;
  uint32_t counters = atomic_load_explicit(&kernel->counters, memory_order_relaxed);
  if (counters == GS_COUNTERS_UNKNOWN && a->rights == GS_VM_WRITE) {
    counters = find_counters(w, a, &kernel->launch);
    atomic_store_explicit(&kernel->counters, counters, memory_order_relaxed);
  }
  if (counters < TEAM_BYTES || a->rights != GS_VM_READ || !are_own(w, a, counters))
    return;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t share = share_of(&kernel->launch, thread_of(w, l)), taken = w->env->lds[a->at[l]];
    if (taken > share) {
      tell(w, l, share, taken);
      return;
    }
  }
}

bool gs_team_stack_is_full(const gs_wave_t *w, unsigned lane, uint64_t offset) {
  gs_running_kernel_t *kernel = gs_place_kernel(w);
  const uint32_t counters = kernel ? atomic_load_explicit(&kernel->counters, memory_order_relaxed) : 0;
  const uint64_t thread = thread_of(w, lane);
  return counters >= TEAM_BYTES && offset < counters && counters - offset <= TEAM_BYTES &&
         w->env->lds[counters + thread] > share_of(&kernel->launch, thread);
}
