/* See deal.h. Neighbours among workgroups mostly write to memory side by side, page by page again and again
 * where they stride over the grid. Two processors that do so at the same time take lines from each other,
 * also by what they fetch ahead (clear took longer with two than with one). So each has a batch of neighbours
 * to itself.
 *
 * A workgroup may wait for those with lower numbers, as a card begins them in that order. They all end: of
 * those that have not, the lowest has begun or is the next one of its batch. */
#include "exec/deal.h"

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

uint64_t gs_deal_next(gs_deal_t *deal, uint32_t executor) {
  gs_batch_t *own = &deal->batch[executor];
  const uint64_t undealt = deal->count - deal->dealt;
  deal->begun++;
  if (own->next == own->end && !undealt)
    return --longest_batch(deal)->end;
  if (own->next == own->end) {
    own->next = deal->dealt;
    own->end = deal->dealt += undealt < deal->size ? undealt : deal->size;
  }
  return own->next++;
}
