/* Bounds of frees: what is freed must be the beginning of a block that the program has. Not here: what is
 * done with freed memory (bounds.c, copies.c). */
#include "check/check.h"

static const gs_rule_t rule = {"bounds", "free", GS_SEVERITY_ERROR,
                               "A free of what is no block of the program's"};

/* The block that the address is of, or was; id 0: none is known. */
static gs_block_note_t find(gs_blocks_t *blocks, uint64_t address) {
  gs_block_note_t block = {.id = 0};
  gs_answer_t answer;
  if (gs_blocks_find(blocks, address, &block))
    return block;
  gs_blocks_ask_range(blocks, address, 1, false, &answer);
  return answer.verdict == GS_VERDICT_GOOD ? block : answer.block;
}

static const char *hint_for(const gs_block_note_t *block, uint64_t address) {
  if (!block->id)
    return "omp_target_free wants what omp_target_alloc returned; the host's own memory is freed by free, "
           "and what is mapped by the end of its mapping";
  if (block->freed)
    return "it must be freed once: give a pointer that has been freed another value, or let one place own it";
  return address == block->start
             ? "omp_target_free wants the device that omp_target_alloc was given, too"
             : "keep the pointer that was returned: memory is freed as a whole, by its first byte";
}

void gs_frees_tell(gs_check_t *check, uint64_t address, const gfxsim_stack_t *stack) {
  if (!address || !(check->findings.tools & GS_CHECK_BOUNDS))
    return;
  gs_finding_t finding = {.title = "Invalid free",
                          .about_block = true,
                          .address = address,
                          .block = find(&check->blocks, address),
                          .where = "of no block that was allocated on a GPU"};
  const gs_key_t key = {
      .rule = &rule,
      .pc = {stack->depth ? stack->frame[0] : 0, stack->depth ? stack->frame[stack->depth - 1] : 0},
      .object = {finding.block.id}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (!found)
    return;
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  finding.hint = hint_for(&finding.block, address);
  if (finding.block.id)
    finding.where = NULL;
  gs_findings_tell(&check->findings, found, &finding);
}
