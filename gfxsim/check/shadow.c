/* See shadow.h. Pages are cut from chunks, which the kernel fills with zeros when they are touched. Large
 * pages would fill what nobody touches, too, and cost more than the faults that they spare. */
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

static unsigned char *map_chunk(void) {
  void *memory =
      mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Zeros, at a cache line's boundary. */
static void *cut(gs_shadow_t *shadow, size_t bytes) {
  enum { LINE = 64 };
  const size_t size = (bytes + LINE - 1) / LINE * LINE;
  void *made = NULL;
  pthread_mutex_lock(&shadow->lock);
  gs_shadow_chunk_t *chunk = shadow->chunk;
  if (!chunk || CHUNK_BYTES - chunk->used < size) {
    chunk = calloc(1, sizeof *chunk);
    if (chunk && (chunk->memory = map_chunk())) {
      chunk->next = shadow->chunk;
      shadow->chunk = chunk;
    } else {
      free(chunk);
      chunk = NULL;
    }
  }
  if (chunk) {
    made = chunk->memory + chunk->used;
    chunk->used += size;
  }
  pthread_mutex_unlock(&shadow->lock);
  return made;
}

/* What the entry has; made if it has nothing. Of two threads that make it, one wins; what the other has cut
 * stays unused. */
static void *reach(gs_shadow_t *shadow, _Atomic(void *) *entry, size_t bytes) {
  void *there = atomic_load_explicit(entry, memory_order_acquire);
  if (there)
    return there;
  void *made = cut(shadow, bytes);
  return !made || atomic_compare_exchange_strong(entry, &there, made) ? made : there;
}

void gs_shadow_init(gs_shadow_t *shadow) {
  pthread_mutex_init(&shadow->lock, NULL);
}

gs_shadow_page_t *gs_shadow_page(gs_shadow_t *shadow, uint64_t address) {
  const uint64_t number = address / GS_SHADOW_PAGE;
  level_t *middle = reach(shadow, &shadow->top[number >> 24 & (GS_SHADOW_FAN - 1)], sizeof *middle);
  level_t *low =
      middle ? reach(shadow, &middle->next[number >> 12 & (GS_SHADOW_FAN - 1)], sizeof *low) : NULL;
  return low ? reach(shadow, &low->next[number & (GS_SHADOW_FAN - 1)], sizeof(gs_shadow_page_t)) : NULL;
}

void gs_shadow_fini(gs_shadow_t *shadow) {
  while (shadow->chunk) {
    gs_shadow_chunk_t *chunk = shadow->chunk;
    shadow->chunk = chunk->next;
    munmap(chunk->memory, CHUNK_BYTES);
    free(chunk);
  }
  pthread_mutex_destroy(&shadow->lock);
}
