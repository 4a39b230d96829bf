/* See deal.h. Neighbours among workgroups mostly write to memory side by side, page by page again and again
 * where they stride over the grid. Two processors that do so at the same time take lines from each other,
 * also by what they fetch ahead (clear took longer with two than with one). So each has a batch of neighbours
 * to itself.
 *
 * A workgroup may wait for those with lower numbers, as a card begins them in that order. If the device were
 * full of such ones while a lower one is still in another's batch, none would end. So one begins before lower
 * ones only where these have room, too: what is in progress and what was left behind are never more together
 * than the device holds. Of those that have not ended, the lowest has begun, or can. */
#include "exec/deal.h"

#include <stddef.h>

enum {
  BATCH_MAX = 32,          /* more made no difference */
  BATCHES_PER_EXECUTOR = 4 /* at least, as the last ones are not done at the same time */
};

void gs_deal_init(gs_deal_t *deal, uint64_t count, uint32_t executors) {
  const uint64_t size = count / (BATCHES_PER_EXECUTOR * executors);
  deal->count = count;
  deal->begun = deal->dealt = 0;
  deal->size = size < 1 ? 1 : size > BATCH_MAX ? BATCH_MAX : (uint32_t)size;
  deal->executors = executors;
  for (uint32_t i = 0; i < executors; i++)
    deal->batch[i] = (gs_batch_t){0, 0};
}

static gs_batch_t *longest_batch(gs_deal_t *deal) {
  gs_batch_t *longest = &deal->batch[0];
  for (gs_batch_t *batch = longest; batch < deal->batch + deal->executors; batch++)
    if (batch->end - batch->next > longest->end - longest->next)
      longest = batch;
  return longest;
}

/* Of those that have not begun: the batch with the lowest, and how many are below `n`. */
static gs_batch_t *lowest_batch(gs_deal_t *deal) {
  gs_batch_t *lowest = NULL;
  for (gs_batch_t *batch = deal->batch; batch < deal->batch + deal->executors; batch++)
    if (batch->next < batch->end && (!lowest || batch->next < lowest->next))
      lowest = batch;
  return lowest;
}
static uint64_t left_below(const gs_deal_t *deal, uint64_t n) {
  uint64_t left = 0;
  for (const gs_batch_t *batch = deal->batch; batch < deal->batch + deal->executors; batch++)
    if (batch->next < n)
      left += (batch->end < n ? batch->end : n) - batch->next;
  return left;
}

uint64_t gs_deal_next(gs_deal_t *deal, uint32_t executor, uint64_t room) {
  gs_batch_t *own = &deal->batch[executor];
  const uint64_t undealt = deal->count - deal->dealt;
  if (own->next == own->end && undealt) {
    own->next = deal->dealt;
    own->end = deal->dealt += undealt < deal->size ? undealt : deal->size;
  }
  gs_batch_t *const longest = own->next == own->end ? longest_batch(deal) : NULL;
  const uint64_t n = longest ? longest->end - 1 : own->next;
  deal->begun++;
  if (deal->dealt - deal->begun >= room && left_below(deal, n) >= room)
    return lowest_batch(deal)->next++;
  return longest ? --longest->end : own->next++;
}
