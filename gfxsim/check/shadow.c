/* See shadow.h. Pages are cut from chunks, which the kernel fills with zeros when they are touched: those
 * with lines, of which most is touched, as large ones where it has them. Of dwords large ones would fill what
 * nobody touches, too, and cost more than the faults that they spare. */
#include "check/shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { CHUNK_BYTES = 1 << 22 };

typedef struct level {
  _Atomic(void *) next[GS_SHADOW_FAN];
} level_t;

typedef struct gs_shadow_chunk {
  struct gs_shadow_chunk *next;
  size_t used; /* bytes */
  unsigned char *memory;
} gs_shadow_chunk_t;

static gs_shadow_chunk_t *make_chunk(bool is_dense) {
  gs_shadow_chunk_t *chunk = calloc(1, sizeof *chunk);
  void *memory = chunk ? mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                       : MAP_FAILED;
  if (memory == MAP_FAILED) {
    free(chunk);
    return NULL;
  }
  if (is_dense)
    (void)madvise(memory, CHUNK_BYTES, MADV_HUGEPAGE);
  chunk->memory = memory;
  return chunk;
}

/* Zeros, at a cache line's boundary, of one of the lists of chunks; NULL without memory. */
static void *cut(gs_shadow_t *shadow, gs_shadow_chunk_t **list, size_t bytes) {
  enum { LINE = 64 };
  const size_t size = (bytes + LINE - 1) / LINE * LINE;
  void *made = NULL;
  pthread_mutex_lock(&shadow->lock);
  if (!*list || CHUNK_BYTES - (*list)->used < size) {
    gs_shadow_chunk_t *chunk = make_chunk(list == &shadow->pages);
    if (chunk) {
      chunk->next = *list;
      *list = chunk;
    }
  }
  if (*list && CHUNK_BYTES - (*list)->used >= size) {
    made = (*list)->memory + (*list)->used;
    (*list)->used += size;
  }
  pthread_mutex_unlock(&shadow->lock);
  return made;
}

/* Puts what was made into the entry, and returns what it has then. Of two threads that make it, one wins;
 * what the other has cut stays unused. */
static void *enter(_Atomic(void *) *entry, void *made) {
  void *there = NULL;
  return !made || atomic_compare_exchange_strong(entry, &there, made) ? made : there;
}

/* What the entry has; made if it has nothing. */
static level_t *reach(gs_shadow_t *shadow, _Atomic(void *) *entry) {
  level_t *there = atomic_load_explicit(entry, memory_order_acquire);
  return there ? there : enter(entry, cut(shadow, &shadow->words, sizeof *there));
}

static gs_shadow_page_t *reach_page(gs_shadow_t *shadow, _Atomic(void *) *entry) {
  gs_shadow_page_t *page = atomic_load_explicit(entry, memory_order_acquire);
  if (page)
    return page;
  gs_shadow_words_t *words = cut(shadow, &shadow->words, sizeof *words);
  page = words ? cut(shadow, &shadow->pages, sizeof *page) : NULL;
  if (page)
    page->words = words;
  return enter(entry, page);
}

void gs_shadow_init(gs_shadow_t *shadow) {
  pthread_mutex_init(&shadow->lock, NULL);
}

gs_shadow_page_t *gs_shadow_page(gs_shadow_t *shadow, uint64_t address) {
  const uint64_t number = address / GS_SHADOW_PAGE;
  level_t *middle = reach(shadow, &shadow->top[number >> 24 & (GS_SHADOW_FAN - 1)]);
  level_t *low = middle ? reach(shadow, &middle->next[number >> 12 & (GS_SHADOW_FAN - 1)]) : NULL;
  return low ? reach_page(shadow, &low->next[number & (GS_SHADOW_FAN - 1)]) : NULL;
}

void gs_shadow_spread_line(gs_shadow_page_t *page, size_t line) {
  gs_shadow_line_t *l = &page->line[line];
  const size_t first = line * GS_SHADOW_LINE;
  for (unsigned kind = 0; kind < GS_SHADOW_KINDS; kind++) {
    if (l->spread >> kind & 1 || !l->first[kind]) /* the page has zeros then */
      continue;
    for (size_t word = first; word < first + GS_SHADOW_LINE; word++)
      page->words->stamp[kind][word] = gs_shadow_stamp(page, kind, word);
  }
  l->spread = GS_SHADOW_ALL;
}

gs_stamp_t gs_shadow_ask(gs_shadow_t *shadow, unsigned kind, uint64_t address) {
  gs_shadow_page_t *page = address >> 48 ? NULL : gs_shadow_page(shadow, address);
  gs_shadow_lock(page);
  const gs_stamp_t stamp = page ? gs_shadow_stamp(page, kind, address % GS_SHADOW_PAGE / 4) : 0;
  gs_shadow_unlock(page);
  return stamp;
}

static void free_chunks(gs_shadow_chunk_t *chunk) {
  while (chunk) {
    gs_shadow_chunk_t *next = chunk->next;
    munmap(chunk->memory, CHUNK_BYTES);
    free(chunk);
    chunk = next;
  }
}

void gs_shadow_fini(gs_shadow_t *shadow) {
  free_chunks(shadow->pages);
  free_chunks(shadow->words);
  pthread_mutex_destroy(&shadow->lock);
}
