/* Making and ending the checker. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/cache.h"
#include "check/init.h"
#include "check/name.h"
#include "check/wait.h"

/* What a checked program ends with that asked to fail (gfxsim-run --check-fail). */
enum { FAILED_STATUS = 99 };

/* The tool "race", and "cache", which sees with its eyes: who read last must be there when that looks. */
static int create_race(gs_check_t *check, const gs_options_t *options) {
  gs_race_t *race = check->race = gs_race_create(&check->blocks, &check->findings);
  if (!race)
    return -1;
  race->link_has_atomics = options->pcie_atomics;
  race->tells = options->check & GS_CHECK_RACE;
  if (options->check & GS_CHECK_CACHE) {
    race->cache = gs_cache_create(race);
    if (!race->cache)
      return -1;
    gs_check_share(check, &gs_cache_watch);
  }
  gs_check_share(check, &gs_race_watch);
  return 0;
}

int gs_check_create(const gs_options_t *options, gs_check_t **made) {
  *made = NULL;
  if (!options->check)
    return 0;
  gs_check_t *check = calloc(1, sizeof *check);
  if (!check || gs_blocks_init(&check->blocks)) {
    gs_log("GFXSIM_CHECK: out of host memory");
    free(check);
    return -1;
  }
  if (gs_findings_init(&check->findings, options)) {
    gs_blocks_fini(&check->blocks);
    free(check);
    return -1;
  }
  check->watch.context = check;
  pthread_mutex_init(&check->copies.lock, NULL);
  if (options->check & GS_CHECK_BOUNDS)
    gs_check_share(check, &gs_bounds_watch);
  if (options->check & GS_CHECK_TRANSFER) {
    check->transfer = gs_transfer_create(&check->findings);
    if (!check->transfer) {
      gs_log("GFXSIM_CHECK: out of host memory");
      gs_check_destroy(check);
      return -1;
    }
    gs_check_share(check, &gs_transfer_watch);
  }
  if (options->check & (GS_CHECK_RACE | GS_CHECK_CACHE) && create_race(check, options)) {
    gs_log("GFXSIM_CHECK: out of host memory");
    gs_check_destroy(check);
    return -1;
  }
  if (options->check & GS_CHECK_INIT && gs_init_create(check)) {
    gs_log("GFXSIM_CHECK: out of host memory");
    gs_check_destroy(check);
    return -1;
  }
  if (options->check & GS_CHECK_WAIT && gs_wait_create(check)) {
    gs_log("GFXSIM_CHECK: out of host memory");
    gs_check_destroy(check);
    return -1;
  }
  *made = check;
  return 0;
}

void gs_check_prepare(void) {
  gs_name_prepare();
}

void gs_check_destroy(gs_check_t *check) {
  if (!check)
    return;
  gs_transfer_destroy(check->transfer);
  gs_race_destroy(check->race);
  gs_wait_destroy(check);
  gs_init_destroy(check);
  pthread_mutex_destroy(&check->copies.lock);
  gs_findings_fini(&check->findings);
  gs_blocks_fini(&check->blocks);
  free(check);
}

void gs_check_forget(gs_check_t *check, uint64_t start, uint64_t end) {
  gs_blocks_forget(&check->blocks, start, end);
  if (check->init)
    gs_bits_set(&check->init->memory, start, end, false);
}

int gs_check_finish(gs_check_t *check) {
  const char *tools = getenv("HSA_TOOLS_LIB");
  if (!check->blocks.made && (!tools || !strstr(tools, "libgfxsim-check.so")))
    gs_log("GFXSIM_CHECK: nobody said which memory the program has, so only what is mapped was compared; "
           "gfxsim-run --check=bounds sets what is needed");
  gs_transfer_summary(check->transfer);
  const uint64_t wrong = gs_findings_summary(&check->findings);
  return wrong && check->findings.fail ? FAILED_STATUS : 0;
}
