/* Bounds of copies: both ends of each are compared with the blocks when the program asks for it, and when a
 * copy engine comes to it. Not here:
 * accesses of kernels (bounds.c), who tells of copies (tools_copies.c). */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"

static const gs_rule_t rules[] = {
    [GS_VERDICT_OUTSIDE] = {"bounds", "copy-outside", GS_SEVERITY_ERROR,
                            "A copy that leaves the program's memory"},
    [GS_VERDICT_FREED] = {"bounds", "copy-freed", GS_SEVERITY_ERROR,
                          "A copy from or to memory that was freed"},
};
static const gs_rule_t late_rule = {
    "bounds", "freed-under-copy", GS_SEVERITY_ERROR,
    "Memory that was freed while a copy that was asked for waited for its turn"};

static const gs_rule_t share_rule = {
    "bounds", "access-under-copy", GS_SEVERITY_ERROR,
    "Memory that was taken from a GPU while a copy that was asked for needs it"};

/* One end of a copy. */
typedef struct end {
  const char *verb; /* "read" */
  uint64_t address, pitch, slice;
} end_t;

static void remember(gs_check_t *check, uint64_t block) {
  atomic_store(&check->told[atomic_fetch_add(&check->next_told, 1) % GS_CHECK_TOLD], block);
}

static bool was_told(gs_check_t *check, uint64_t block) {
  for (unsigned i = 0; i < GS_CHECK_TOLD; i++)
    if (atomic_load(&check->told[i]) == block)
      return true;
  return false;
}

static void tell(gs_check_t *check, const gfxsim_copy_t *copy, const end_t *end, uint64_t address,
                 const gs_answer_t *answer, const char *call, const gfxsim_stack_t *stack) {
  const gs_key_t key = {
      .rule = &rules[answer->verdict],
      .pc = {stack->depth ? stack->frame[0] : 0, stack->depth ? stack->frame[stack->depth - 1] : 0},
      .object = {answer->block.id, (uint64_t)end->verb[0]}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (answer->verdict == GS_VERDICT_FREED)
    remember(check, answer->block.id);
  if (!found)
    return;
  const bool rows = copy->height > 1 || copy->depth > 1;
  gs_finding_t finding = {.about_block = true,
                          .address = address,
                          .bytes = copy->width > UINT32_MAX ? UINT32_MAX : (uint32_t)copy->width,
                          .block = answer->block};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .call = call, .stack = *stack};
  snprintf(finding.title, sizeof finding.title, "Invalid %s of %" PRIu64 " bytes%s by a %s", end->verb,
           copy->width, rows ? " of a row" : "", copy->from ? "copy" : "fill");
  if (address >= answer->block.start && address < answer->block.end && !answer->block.freed)
    snprintf(finding.detail[0], sizeof finding.detail[0],
             "%" PRIu64 " of the %" PRIu64 " bytes are behind it", address + copy->width - answer->block.end,
             copy->width);
  gs_findings_tell(&check->findings, found, &finding);
}

/* Most copies are inside as a whole; only of others each row is looked at, up to the first wrong one. */
static void look_at_end(gs_check_t *check, const gfxsim_copy_t *copy, const end_t *end, const char *call,
                        const gfxsim_stack_t *stack) {
  gs_answer_t answer;
  const uint64_t span = (copy->depth - 1) * end->slice + (copy->height - 1) * end->pitch + copy->width;
  gs_blocks_ask_range(&check->blocks, end->address, span, copy->any_host_memory, &answer);
  for (uint64_t z = 0; answer.verdict != GS_VERDICT_GOOD && z < copy->depth; z++)
    for (uint64_t y = 0; y < copy->height; y++) {
      const uint64_t row = end->address + z * end->slice + y * end->pitch;
      gs_blocks_ask_range(&check->blocks, row, copy->width, copy->any_host_memory, &answer);
      if (answer.verdict != GS_VERDICT_GOOD) {
        tell(check, copy, end, row, &answer, call, stack);
        return;
      }
    }
}

void gs_copies_look(gs_check_t *check, const gfxsim_copy_t *copy, const char *call,
                    const gfxsim_stack_t *stack) {
  if (!(check->findings.tools & GS_CHECK_BOUNDS) || !copy->width || !copy->height || !copy->depth)
    return;
  const end_t from = {"read", copy->from, copy->from_pitch, copy->from_slice};
  const end_t to = {"write", copy->to, copy->to_pitch, copy->to_slice};
  if (copy->from)
    look_at_end(check, copy, &from, call, stack);
  look_at_end(check, copy, &to, call, stack);
}

/* What the program did to the block of a copy, at `stack`. */
static void tell_under(gs_check_t *check, const gs_copy_t *copy, const gs_block_note_t *block,
                       gs_found_t *found, const gfxsim_stack_t *stack, const char *title) {
  gs_finding_t finding = {
      .about_block = true,
      .address = block->start,
      .block = *block,
      .hint = "wait for the copy's signal before; access that is given to other GPUs is taken "
              "from those that are not named again"};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  snprintf(finding.title, sizeof finding.title, "%s", title);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "GPU %" PRIu32 " copies %" PRIu64 " bytes from 0x%" PRIx64 " to 0x%" PRIx64, copy->gpu,
           copy->bytes, copy->from, copy->to);
  gs_findings_tell(&check->findings, found, &finding);
}

static void look_late(gs_check_t *check, const gs_copy_t *copy, uint64_t address, const char *verb) {
  gs_answer_t answer;
  gs_blocks_ask_range(&check->blocks, address, copy->bytes, true, &answer);
  if (answer.verdict != GS_VERDICT_FREED || was_told(check, answer.block.id))
    return;
  const gs_key_t key = {.rule = &late_rule, .object = {answer.block.id, (uint64_t)verb[0]}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (!found)
    return;
  gs_finding_t finding = {.about_block = true,
                          .address = address,
                          .bytes = copy->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)copy->bytes,
                          .block = answer.block,
                          .hint = "wait for the copy's signal before its memory is freed"};
  snprintf(finding.title, sizeof finding.title,
           "Invalid %s of %" PRIu64 " bytes by a copy engine of GPU %" PRIu32, verb, copy->bytes, copy->gpu);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "It was freed between the call that asked for the copy and the copy");
  gs_findings_tell(&check->findings, found, &finding);
}

/* The GPU may not access a live block: its range is in the snapshot of no engine. */
static void look_shared(gs_check_t *check, const gs_copy_t *copy, uint64_t address, const char *verb) {
  gs_block_note_t block;
  if (gs_vm_find_mapped(copy->map, address) || !gs_blocks_find(&check->blocks, address, &block) ||
      !block.shared.depth)
    return;
  const gs_key_t key = {.rule = &share_rule, .object = {block.id, (uint64_t)verb[0]}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (found)
    tell_under(check, copy, &block, found, &block.shared, "Invalid change of access in front of a copy");
}

/* ---- Copies that run ---- */

typedef struct gs_running_copy {
  struct gs_running_copy *next;
  gs_copy_t copy;
} running_t;

void *gs_copies_begin(void *context, const gs_copy_t *copy) {
  gs_check_t *check = context;
  if (copy->from) {
    look_late(check, copy, copy->from, "read");
    look_shared(check, copy, copy->from, "read");
  }
  look_late(check, copy, copy->to, "write");
  look_shared(check, copy, copy->to, "write");
  running_t *running = malloc(sizeof *running); /* without memory it is not known to run */
  if (!running)
    return NULL;
  running->copy = *copy;
  running->copy.map = NULL; /* which the engine may change */
  pthread_mutex_lock(&check->copies.lock);
  running->next = check->copies.first;
  check->copies.first = running;
  pthread_mutex_unlock(&check->copies.lock);
  return running;
}

void gs_copies_end(void *context, void *ended) {
  gs_check_t *check = context;
  pthread_mutex_lock(&check->copies.lock);
  running_t **link = &check->copies.first;
  while (*link != ended)
    link = &(*link)->next;
  *link = (*link)->next;
  pthread_mutex_unlock(&check->copies.lock);
  free(ended);
}

static bool touches(const gs_copy_t *copy, const gs_block_note_t *block) {
  return (copy->from && copy->from < block->end && block->start < copy->from + copy->bytes) ||
         (copy->to < block->end && block->start < copy->to + copy->bytes);
}

/* A copy that runs on the block, by a GPU that is not of `gpus`. */
static bool find_running(gs_check_t *check, const gs_block_note_t *block, uint32_t gpus, gs_copy_t *copy) {
  bool any = false;
  pthread_mutex_lock(&check->copies.lock);
  for (const running_t *running = check->copies.first; running && !any; running = running->next) {
    any = touches(&running->copy, block) && !(gpus >> running->copy.gpu & 1);
    *copy = running->copy;
  }
  pthread_mutex_unlock(&check->copies.lock);
  return any;
}

void gs_copies_freed(gs_check_t *check, uint64_t address, const gfxsim_stack_t *stack) {
  gs_block_note_t block;
  gs_copy_t copy;
  if (!(check->findings.tools & GS_CHECK_BOUNDS) || !gs_blocks_find(&check->blocks, address, &block) ||
      !find_running(check, &block, 0, &copy))
    return;
  const gs_key_t key = {.rule = &late_rule, .object = {block.id}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  remember(check, block.id);
  if (found)
    tell_under(check, &copy, &block, found, stack, "Invalid free of memory under a copy");
}

void gs_copies_share(gs_check_t *check, uint64_t address, uint32_t gpus, const gfxsim_stack_t *stack) {
  gs_block_note_t block;
  gs_copy_t copy;
  if (!(check->findings.tools & GS_CHECK_BOUNDS))
    return;
  gs_blocks_share(&check->blocks, address, stack);
  if (!gs_blocks_find(&check->blocks, address, &block))
    return;
  gs_kernels_share(check, &block, gpus, stack);
  if (!find_running(check, &block, gpus, &copy))
    return;
  const gs_key_t key = {.rule = &share_rule, .object = {block.id}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (found)
    tell_under(check, &copy, &block, found, stack, "Invalid change of access under a copy");
}
