/* Kernels that run, and which blocks they have accessed: what the program takes from their GPU meanwhile,
 * they may still need. Not here: accesses (bounds.c), copies (copies.c). */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"
#include "check/name.h"
#include "exec/place.h"

/* A warning, as the kernel may be done with the block; if it is not, that is an error of its own. */
static const gs_rule_t rule = {"bounds", "access-under-kernel", GS_SEVERITY_WARNING,
                               "Memory that was taken from a GPU while a kernel runs that has accessed it"};

/* What it has loaded it may have used already, but nobody waited for it. */
static const gs_rule_t free_rule = {"bounds", "free-under-kernel", GS_SEVERITY_ERROR,
                                    "Memory that was freed while a kernel runs that has accessed it"};
static const char free_hint[] = "wait for the kernel before that: a taskwait, a depend clause, or its signal";

const char gs_kernels_hint[] = "hsa_amd_agents_allow_access replaces the list of GPUs: name those again that "
                               "go on using the block, or wait for their kernels";

static void *kernel_begins(void *context, const gs_launch_t *launch) {
  gs_check_t *check = context;
  gs_kernels_t *kernels = &check->kernels;
  gs_running_kernel_t *kernel = calloc(1, sizeof *kernel);
  if (!kernel) /* nor is it looked at by others */
    return NULL;
  gs_hold_begins(&check->hold);
  kernel->launch = *launch;
  if (kernels->asks.kernel_begins)
    kernel->told = kernels->asks.kernel_begins(context, launch);
  pthread_mutex_lock(&kernels->lock);
  kernel->number = ++kernels->made;
  kernel->next = kernels->first;
  kernels->first = kernel;
  pthread_mutex_unlock(&kernels->lock);
  return kernel;
}

static void kernel_ends(void *context, void *ended) {
  gs_check_t *check = context;
  gs_running_kernel_t *kernel = ended;
  gs_hold_back(&check->hold);
  pthread_mutex_lock(&check->kernels.lock);
  gs_running_kernel_t **link = &check->kernels.first;
  while (*link != kernel)
    link = &(*link)->next;
  *link = kernel->next;
  pthread_mutex_unlock(&check->kernels.lock);
  if (kernel->told)
    check->kernels.asks.kernel_ends(context, kernel->told);
  free(kernel);
}

static void *group_begins(void *context, void *running, uint64_t index, unsigned waves, uint32_t lds_bytes) {
  const gs_check_t *check = context;
  const gs_running_kernel_t *kernel = running;
  return kernel->told ? check->kernels.asks.group_begins(context, kernel->told, index, waves, lds_bytes)
                      : NULL;
}

void gs_kernels_watch(gs_check_t *check) {
  gs_watch_t *watch = &check->watch;
  check->kernels.asks = *watch;
  watch->kernel_begins = kernel_begins;
  watch->kernel_ends = kernel_ends;
  watch->group_begins = group_begins;
}

static const gs_block_use_t *find_use(const gs_running_kernel_t *kernel, uint64_t block) {
  for (uint32_t i = 0; i < kernel->used_count && i < GS_KERNEL_BLOCKS; i++)
    if (kernel->used[i].block == block)
      return &kernel->used[i];
  return NULL;
}

void gs_kernel_used(const gs_wave_t *w, uint64_t block) {
  gs_check_t *check = gs_check_of(w);
  gs_running_kernel_t *kernel = gs_place_kernel(w);
  if (!kernel)
    return;
  pthread_mutex_lock(&check->kernels.lock);
  if (!find_use(kernel, block))
    kernel->used[kernel->used_count++ % GS_KERNEL_BLOCKS] =
        (gs_block_use_t){block, w->pc - GS_PLACE_INSTRUCTION_BYTES, gs_place_group(w), gs_place_wave(w),
                         gs_exec(w) ? (unsigned)__builtin_ctzll(gs_exec(w)) : 0};
  pthread_mutex_unlock(&check->kernels.lock);
}

bool gs_kernels_run(gs_check_t *check, uint32_t gpu) {
  bool any = false;
  pthread_mutex_lock(&check->kernels.lock);
  for (const gs_running_kernel_t *kernel = check->kernels.first; kernel && !any; kernel = kernel->next)
    any = kernel->launch.gpu == gpu;
  pthread_mutex_unlock(&check->kernels.lock);
  return any;
}

/* A kernel of the GPU that runs and has accessed the block. */
static bool find_user(gs_check_t *check, uint32_t gpu, uint64_t block, gs_launch_t *launch,
                      gs_block_use_t *use) {
  const gs_block_use_t *found = NULL;
  pthread_mutex_lock(&check->kernels.lock);
  for (const gs_running_kernel_t *kernel = check->kernels.first; kernel && !found; kernel = kernel->next) {
    found = kernel->launch.gpu == gpu ? find_use(kernel, block) : NULL;
    if (found) {
      *use = *found;
      *launch = kernel->launch;
    }
  }
  pthread_mutex_unlock(&check->kernels.lock);
  return found;
}

void gs_kernels_freed(gs_check_t *check, uint32_t gpu, const gs_vm_map_t *map, uint64_t address,
                      const gfxsim_stack_t *stack) {
  gs_block_note_t block;
  gs_launch_t launch;
  gs_block_use_t use;
  /* What was locked may be so a second time. */
  if (!(check->findings.tools & GS_CHECK_BOUNDS) || !gs_blocks_find(&check->blocks, address, &block) ||
      block.start != address || block.locked || !find_user(check, gpu, block.id, &launch, &use))
    return;
  const gs_key_t key = {.rule = &free_rule, .pc = {use.pc}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (!found)
    return;
  gs_finding_t finding = {.about_block = true, .address = address, .block = block, .hint = free_hint};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  finding.side[1].actor = GS_ACTOR_WAVE;
  gs_place_of_other(map, &launch, use.group, use.wave, use.lane, use.pc, &finding.side[1].place);
  char kernel[GS_PLACE_TEXT];
  gs_name_kernel(finding.side[1].place.kernel, kernel, sizeof kernel);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "The kernel has accessed it, and is not over");
  snprintf(finding.title, sizeof finding.title, "Invalid free of memory under %s", kernel);
  gs_findings_tell(&check->findings, found, &finding);
}

void gs_kernels_share(gs_check_t *check, const gs_block_note_t *block, uint32_t gpus,
                      const gfxsim_stack_t *stack) {
  uint32_t count = 0, gpu = 0;
  pthread_mutex_lock(&check->kernels.lock);
  for (const gs_running_kernel_t *kernel = check->kernels.first; kernel; kernel = kernel->next)
    if (!(gpus >> kernel->launch.gpu & 1) && find_use(kernel, block->id)) {
      gpu = kernel->launch.gpu;
      count++;
    }
  pthread_mutex_unlock(&check->kernels.lock);
  const gs_key_t key = {.rule = &rule, .object = {block->id, gpu}};
  gs_found_t *found = count ? gs_findings_meet(&check->findings, &key, 1) : NULL;
  if (!found)
    return;
  gs_finding_t finding = {
      .about_block = true, .address = block->start, .block = *block, .hint = gs_kernels_hint};
  finding.side[0] =
      (gs_side_t){.actor = GS_ACTOR_HOST, .call = "hsa_amd_agents_allow_access", .stack = *stack};
  snprintf(finding.title, sizeof finding.title, "Invalid change of access under a kernel");
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "GPU %" PRIu32 " loses it, and runs %" PRIu32 " kernel%s that %s accessed it", gpu, count,
           count == 1 ? "" : "s", count == 1 ? "has" : "have");
  gs_findings_tell(&check->findings, found, &finding);
}
