/* A sorted array of pointers. Changes copy pointers, which is little beside what allocating costs; questions
 * take a lock for reading, and callers remember good answers as long as the version stays. */
#include "check/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/text.h"

/* As many freed blocks are remembered; and so many versions one object has, at least. */
enum { MOST_FREED = 16384, VERSION_BITS = 40 };

/* How many there were: threads remember answers of one that is gone. */
static _Atomic uint64_t made;

int gs_blocks_init(gs_blocks_t *blocks) {
  memset(blocks, 0, sizeof *blocks);
  atomic_init(&blocks->version, (atomic_fetch_add(&made, 1) + 1) << VERSION_BITS);
  return pthread_rwlock_init(&blocks->lock, NULL) ? -1 : 0;
}

void gs_blocks_fini(gs_blocks_t *blocks) {
  for (size_t i = 0; i < blocks->count; i++)
    free(blocks->at[i]);
  free(blocks->at);
  free(blocks->reach);
  pthread_rwlock_destroy(&blocks->lock);
}

static void changed(gs_blocks_t *blocks) {
  /* Release: who sees the version sees nothing older than the change by its next question. */
  atomic_fetch_add_explicit(&blocks->version, 1, memory_order_release);
}

/* How many blocks begin at or before `address`. */
static size_t count_to(const gs_blocks_t *blocks, uint64_t address) {
  size_t low = 0, high = blocks->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (blocks->at[middle]->start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void measure(gs_blocks_t *blocks, size_t from) {
  for (size_t i = from; i < blocks->count; i++) {
    const uint64_t before = i ? blocks->reach[i - 1] : 0;
    blocks->reach[i] = blocks->at[i]->outer_end > before ? blocks->at[i]->outer_end : before;
  }
}

/* Forgets freed blocks that are in the way, or older than `oldest`. */
static void forget_freed(gs_blocks_t *blocks, const gs_block_note_t *note, uint64_t oldest) {
  size_t kept = 0;
  for (size_t i = 0; i < blocks->count; i++) {
    gs_block_note_t *block = blocks->at[i];
    const bool overlaps = block->outer_start < note->outer_end && note->outer_start < block->outer_end;
    if (block->freed && (overlaps || block->id < oldest)) {
      free(block);
      blocks->freed--;
    } else {
      blocks->at[kept++] = block;
    }
  }
  blocks->count = kept;
  measure(blocks, 0);
}

static bool make_room(gs_blocks_t *blocks) {
  if (blocks->count < blocks->capacity)
    return true;
  const size_t capacity = blocks->capacity ? 2 * blocks->capacity : 64;
  gs_block_note_t **at = realloc(blocks->at, capacity * sizeof *at);
  if (at)
    blocks->at = at;
  uint64_t *reach = at ? realloc(blocks->reach, capacity * sizeof *reach) : NULL;
  if (!reach)
    return false;
  blocks->reach = reach;
  blocks->capacity = capacity;
  return true;
}

void gs_blocks_add(gs_blocks_t *blocks, const gs_block_note_t *note) {
  gs_block_note_t *block = malloc(sizeof *block);
  if (!block)
    return;
  *block = *note;
  pthread_rwlock_wrlock(&blocks->lock);
  block->id = ++blocks->made;
  if (blocks->freed)
    forget_freed(blocks, note,
                 blocks->freed > MOST_FREED && block->id > MOST_FREED / 2 ? block->id - MOST_FREED / 2 : 0);
  if (make_room(blocks)) {
    const size_t index = count_to(blocks, block->start);
    memmove(blocks->at + index + 1, blocks->at + index, (blocks->count - index) * sizeof *blocks->at);
    blocks->at[index] = block;
    blocks->count++;
    measure(blocks, index);
  } else {
    free(block);
  }
  changed(blocks);
  pthread_rwlock_unlock(&blocks->lock);
}

void gs_blocks_forget(gs_blocks_t *blocks, uint64_t start, uint64_t end) {
  const gs_block_note_t there = {.outer_start = start, .outer_end = end};
  pthread_rwlock_wrlock(&blocks->lock);
  const size_t before = blocks->freed;
  if (before)
    forget_freed(blocks, &there, 0);
  if (blocks->freed != before)
    changed(blocks);
  pthread_rwlock_unlock(&blocks->lock);
}

/* The newest live block that contains `address`, or, with `exactly`, begins there. Lock held. */
static gs_block_note_t *find_live(const gs_blocks_t *blocks, uint64_t address, bool exactly) {
  gs_block_note_t *found = NULL;
  for (size_t i = count_to(blocks, address); i > 0 && blocks->reach[i - 1] > address; i--) {
    gs_block_note_t *block = blocks->at[i - 1];
    if (!block->freed && address >= block->start && address < block->end &&
        (!exactly || block->start == address) && (!found || block->id > found->id))
      found = block;
  }
  return found;
}

void gs_blocks_free(gs_blocks_t *blocks, uint64_t address, const gfxsim_stack_t *stack) {
  pthread_rwlock_wrlock(&blocks->lock);
  gs_block_note_t *block = find_live(blocks, address, true);
  if (block) {
    block->freed = true;
    block->gone = *stack;
    blocks->freed++;
    changed(blocks);
  }
  pthread_rwlock_unlock(&blocks->lock);
}

void gs_blocks_share(gs_blocks_t *blocks, uint64_t address, const gfxsim_stack_t *stack) {
  pthread_rwlock_wrlock(&blocks->lock);
  gs_block_note_t *block = find_live(blocks, address, false);
  if (block)
    block->shared = *stack;
  changed(blocks);
  pthread_rwlock_unlock(&blocks->lock);
}

void gs_blocks_name(gs_blocks_t *blocks, uint64_t address, uint64_t host, const char *name, const char *file,
                    uint32_t line) {
  pthread_rwlock_wrlock(&blocks->lock);
  gs_block_note_t *block = find_live(blocks, address, false);
  if (block)
    block->host = host - (address - block->start);
  if (block && name) {
    snprintf(block->name, sizeof block->name, "%s", name);
    snprintf(block->file, sizeof block->file, "%s", file ? file : "");
    block->line = line;
  }
  pthread_rwlock_unlock(&blocks->lock);
}

bool gs_blocks_find_copy(gs_blocks_t *blocks, uint64_t address, gs_block_note_t *block) {
  bool found = false;
  pthread_rwlock_rdlock(&blocks->lock);
  for (size_t i = 0; i < blocks->count && !found; i++) {
    const gs_block_note_t *one = blocks->at[i];
    found = !one->freed && one->host && address - one->host < one->end - one->start;
    if (found)
      *block = *one;
  }
  pthread_rwlock_unlock(&blocks->lock);
  return found;
}

uint64_t gs_block_identity(const gs_block_note_t *block) {
  const uint64_t is_name = UINT64_C(1) << 63; /* numbers of blocks do not come so far */
  if (!*block->name)
    return block->id;
  return is_name | (gs_text_hash(gs_text_hash(GS_TEXT_HASH ^ block->line, block->file), block->name));
}

/* The block whose pages contain `address`: one that lives before one that was freed, the newest first. */
static const gs_block_note_t *find_pages(const gs_blocks_t *blocks, uint64_t address) {
  const gs_block_note_t *found = NULL;
  /* Pages may begin before their block, so one that begins behind `address` counts, too. */
  for (size_t i = count_to(blocks, address | 4095); i > 0 && blocks->reach[i - 1] > address; i--) {
    const gs_block_note_t *block = blocks->at[i - 1];
    if (address < block->outer_start || address >= block->outer_end)
      continue;
    if (!found || block->freed < found->freed || (block->freed == found->freed && block->id > found->id))
      found = block;
  }
  return found;
}

static uint64_t distance(const gs_block_note_t *block, uint64_t address) {
  return address < block->start ? block->start - address : address < block->end ? 0 : address - block->end;
}

/* Farther than any index of 32 bits leads, an address has nothing to do with a block. */
#define NEAR (UINT64_C(1) << 36)

/* The blocks before and behind `address` are the only ones that can be nearest, but for overlapping ones. */
static const gs_block_note_t *find_nearest(const gs_blocks_t *blocks, uint64_t address) {
  const size_t index = count_to(blocks, address);
  const gs_block_note_t *before = index ? blocks->at[index - 1] : NULL;
  const gs_block_note_t *behind = index < blocks->count ? blocks->at[index] : NULL;
  if (!before || !behind)
    return before ? before : behind;
  return distance(before, address) <= distance(behind, address) ? before : behind;
}

/* Memory that is no block's: as much of it around `address` as lies in the same range of the map. */
static void answer_own(const gs_blocks_t *blocks, const gs_vm_range_t *range, uint64_t address,
                       gs_answer_t *answer) {
  const size_t index = count_to(blocks, address);
  answer->verdict = GS_VERDICT_GOOD;
  answer->start = range->start;
  answer->end = range->end;
  if (index && blocks->reach[index - 1] > answer->start)
    answer->start = blocks->reach[index - 1];
  if (index < blocks->count && blocks->at[index]->outer_start < answer->end)
    answer->end = blocks->at[index]->outer_start;
}

bool gs_blocks_find(gs_blocks_t *blocks, uint64_t address, gs_block_note_t *block) {
  pthread_rwlock_rdlock(&blocks->lock);
  const gs_block_note_t *found = find_live(blocks, address, false);
  if (found)
    *block = *found;
  pthread_rwlock_unlock(&blocks->lock);
  return found;
}

void gs_blocks_ask(gs_blocks_t *blocks, const gs_vm_map_t *map, uint64_t address, gs_answer_t *answer) {
  pthread_rwlock_rdlock(&blocks->lock);
  const gs_block_note_t *block = find_live(blocks, address, false);
  const gs_vm_range_t *range = NULL;
  answer->id = 0;
  if (block && !gs_vm_find_mapped(map, address)) {
    answer->verdict = block->shared.depth ? GS_VERDICT_TAKEN : GS_VERDICT_FOREIGN;
    answer->block = *block;
  } else if (block) {
    answer->verdict = GS_VERDICT_GOOD;
    answer->start = block->start;
    answer->end = block->end;
    answer->id = block->id;
  } else if ((block = find_pages(blocks, address))) {
    answer->verdict = block->freed ? GS_VERDICT_FREED : GS_VERDICT_OUTSIDE;
    answer->block = *block;
  } else if ((range = gs_vm_find(map, address))) {
    answer_own(blocks, range, address, answer);
  } else {
    answer->verdict = GS_VERDICT_NOTHING;
    answer->block.id = 0;
    if ((block = find_nearest(blocks, address)) && distance(block, address) < NEAR)
      answer->block = *block;
  }
  pthread_rwlock_unlock(&blocks->lock);
}

/* The first live allocation that begins in (address, end). Lock held. */
static const gs_block_note_t *find_within(const gs_blocks_t *blocks, uint64_t address, uint64_t end) {
  for (size_t i = count_to(blocks, address); i < blocks->count && blocks->at[i]->start < end; i++)
    if (!blocks->at[i]->freed && !blocks->at[i]->locked)
      return blocks->at[i];
  return NULL;
}

/* Whether one live block, of those that may overlap, has all of it. Lock held. */
static bool is_in_one(const gs_blocks_t *blocks, uint64_t address, uint64_t end) {
  for (size_t i = count_to(blocks, address); i > 0 && blocks->reach[i - 1] > address; i--)
    if (!blocks->at[i - 1]->freed && end <= blocks->at[i - 1]->end)
      return true;
  return false;
}

void gs_blocks_ask_range(gs_blocks_t *blocks, uint64_t address, uint64_t bytes, bool any_host_memory,
                         gs_answer_t *answer) {
  const uint64_t end = address + bytes;
  answer->verdict = GS_VERDICT_GOOD;
  pthread_rwlock_rdlock(&blocks->lock);
  const gs_block_note_t *block = NULL;
  if (!is_in_one(blocks, address, end)) {
    block = find_live(blocks, address, false);
    if (!block)
      block = find_pages(blocks, address);
    if (block && block->locked && any_host_memory)
      block = NULL;
    if (!block)
      block = find_within(blocks, address, end);
  }
  if (block) {
    answer->verdict = block->freed ? GS_VERDICT_FREED : GS_VERDICT_OUTSIDE;
    answer->block = *block;
  }
  pthread_rwlock_unlock(&blocks->lock);
}
