/* Making and ending the checker. */
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/cache.h"
#include "check/digest.h"
#include "check/host_read.h"
#include "check/init.h"
#include "check/name.h"
#include "check/wait.h"
#include "exec/profile.h"

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

/* The name of the machine's first GPU that is none of these targets, or NULL. */
static const char *other_than(const gs_options_t *options, unsigned targets) {
  gs_part_t parts[GS_MOST_PARTS];
  char reason[GS_PARTS_REASON_BYTES];
  const int count =
      gs_parts_parse(options->devices, parts, reason); /* the machine says what is wrong there */
  for (int i = 0; i < count; i++)
    if (!(parts[i].profile->target & targets))
      return parts[i].profile->name;
  return NULL;
}

/* What the tools know that do not know all. */
static const struct {
  uint32_t tool;
  unsigned targets;
} limited[] = {{GS_CHECK_CACHE, GS_GFX9_11},
               {GS_CHECK_WAIT, GS_WAIT_TARGETS},
               {GS_CHECK_INIT, GS_GFX9_11},
               {GS_CHECK_RACE, GS_GFX9_11}};

static const char *name_of(uint32_t bit) {
  const gs_check_tool_t *tool = gs_check_tools;
  while (tool->bit != bit)
    tool++;
  return tool->name;
}

/* The tools that are asked for and know all of the machine's GPUs. What one GPU does, tools must have seen to
 * be right about the others, so they look at none if there is another. */
static uint32_t tools_for(const gs_options_t *options) {
  uint32_t check = options->check;
  const char *other = NULL;
  char names[64] = "";
  for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
    const char *unknown = other_than(options, limited[i].targets);
    if (!unknown || !(check & limited[i].tool))
      continue;
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name_of(limited[i].tool));
    check &= ~limited[i].tool;
    other = unknown;
  }
  if (other)
    gs_log("GFXSIM_CHECK: %s is not known to: %s. This machine's kernels are not looked at for that; take a "
           "machine without %s",
           other, names, other);
  return check;
}

/* The tools, in the order in which they see accesses. -1 when out of memory. */
static int create_tools(gs_check_t *check, const gs_options_t *options) {
  if (options->check & GS_CHECK_BOUNDS)
    gs_check_share(check, &gs_bounds_watch);
  if (options->check & GS_CHECK_TRANSFER) {
    if (!(check->transfer = gs_transfer_create(&check->findings)))
      return -1;
    gs_check_share(check, &gs_transfer_watch);
  }
  if (options->check & (GS_CHECK_RACE | GS_CHECK_CACHE) && create_race(check, options))
    return -1;
  if (options->check & GS_CHECK_INIT && gs_init_create(check))
    return -1;
  if (options->check & (GS_CHECK_INIT | GS_CHECK_TRANSFER) &&
      !(check->host_read = gs_host_read_create(check)))
    return -1;
  const uint32_t late = options->strict.kinds[GS_STRICT_WAIT];
  if ((options->check & GS_CHECK_WAIT || late) && gs_wait_create(check, options->check & GS_CHECK_WAIT, late))
    return -1;
  if (options->check & (GS_CHECK_BOUNDS | GS_CHECK_RACE))
    gs_kernels_watch(check);
  gs_digest_watch(check);
  return 0;
}

/* What is there whichever tools there are. */
static gs_check_t *create_base(const gs_options_t *options) {
  gs_check_t *check = calloc(1, sizeof *check);
  if (!check || gs_blocks_init(&check->blocks))
    goto no_blocks;
  if (gs_sites_init(&check->sites))
    goto no_sites;
  if (!gs_findings_init(&check->findings, options))
    return check;
  gs_sites_fini(&check->sites);
no_sites:
  gs_blocks_fini(&check->blocks);
no_blocks:
  free(check);
  gs_log("GFXSIM_CHECK: out of host memory");
  return NULL;
}

static int create(const gs_options_t *options, gs_check_t **made) {
  gs_check_t *check = create_base(options);
  if (!check)
    return -1;
  check->watch.context = check;
  pthread_mutex_init(&check->copies.lock, NULL);
  pthread_mutex_init(&check->kernels.lock, NULL);
  /* Not where nothing is to depend on the time. */
  gs_hold_init(&check->hold, options->check & (GS_CHECK_BOUNDS | GS_CHECK_RACE) && !options->deterministic);
  if (create_tools(check, options)) {
    gs_log("GFXSIM_CHECK: out of host memory");
    gs_check_destroy(check);
    return -1;
  }
  *made = check;
  return 0;
}

int gs_check_create(const gs_options_t *options, gs_check_t **made) {
  *made = NULL;
  if (!options->check && !options->strict.kinds[GS_STRICT_WAIT])
    return 0;
  const char *other = other_than(options, GS_WAIT_TARGETS);
  if (other && options->strict.kinds[GS_STRICT_WAIT])
    gs_log("GFXSIM_STRICT: %s is not known to \"wait\", which changes nothing there", other);
  gs_options_t known = *options;
  known.check = tools_for(options); /* maybe none is left: then nobody watches */
  return create(&known, made);
}

void gs_check_prepare(void) {
  gs_name_prepare();
}

void gs_check_destroy(gs_check_t *check) {
  if (!check)
    return;
  gs_host_read_destroy(check->host_read);
  gs_transfer_destroy(check->transfer);
  gs_race_destroy(check->race);
  gs_wait_destroy(check);
  gs_init_destroy(check);
  pthread_mutex_destroy(&check->copies.lock);
  pthread_mutex_destroy(&check->kernels.lock);
  gs_hold_fini(&check->hold);
  gs_findings_fini(&check->findings);
  gs_sites_fini(&check->sites);
  gs_blocks_fini(&check->blocks);
  free(check);
}

void gs_check_forget(gs_check_t *check, uint64_t start, uint64_t end) {
  gs_blocks_forget(&check->blocks, start, end);
  if (check->init)
    gs_bits_set(&check->init->memory, start, end, false);
}

int gs_check_finish(gs_check_t *check) {
  if (!check->findings.tools)
    return 0;
  const char *tools = getenv("HSA_TOOLS_LIB");
  if (!check->blocks.made && (!tools || !strstr(tools, "libgfxsim-check.so")))
    gs_log("GFXSIM_CHECK: nobody said which memory the program has, so only what is mapped was compared; "
           "gfxsim-run --check=bounds sets what is needed");
  if (check->findings.tools & (GS_CHECK_BOUNDS | GS_CHECK_RACE) && !check->kernels.made)
    gs_log(
        "GFXSIM_CHECK: no kernel of the program was executed, so there was nothing to check; is its code for "
        "this GPU (gfxsim-run --devices)?");
  gs_host_read_tell(check->host_read, NULL, NULL);
  gs_transfer_summary(check->transfer);
  const uint64_t wrong = gs_findings_summary(&check->findings);
  return wrong && check->findings.fail ? FAILED_STATUS : 0;
}
