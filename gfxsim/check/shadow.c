/* See shadow.h. Pages come from the kernel, which fills them with zeros when they are touched. */
#include "check/shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef struct level {
  _Atomic(void *) next[GS_SHADOW_FAN];
} level_t;

static void *map_zeros(size_t bytes) {
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* What the entry has; made if it has nothing. Of two threads that make it, one wins. */
static void *reach(_Atomic(void *) *entry, size_t bytes) {
  void *there = atomic_load_explicit(entry, memory_order_acquire);
  if (there)
    return there;
  void *made = map_zeros(bytes);
  if (!made || atomic_compare_exchange_strong(entry, &there, made))
    return made;
  munmap(made, bytes);
  return there;
}

gs_shadow_page_t *gs_shadow_page(gs_shadow_t *shadow, uint64_t address) {
  const uint64_t number = address / GS_SHADOW_PAGE;
  level_t *middle = reach(&shadow->top[number >> 24 & (GS_SHADOW_FAN - 1)], sizeof *middle);
  level_t *low = middle ? reach(&middle->next[number >> 12 & (GS_SHADOW_FAN - 1)], sizeof *low) : NULL;
  return low ? reach(&low->next[number & (GS_SHADOW_FAN - 1)], sizeof(gs_shadow_page_t)) : NULL;
}

static void free_level(level_t *level, unsigned depth) {
  for (size_t i = 0; i < GS_SHADOW_FAN; i++) {
    void *next = level->next[i];
    if (next && depth)
      free_level(next, depth - 1);
    else if (next)
      munmap(next, sizeof(gs_shadow_page_t));
  }
  munmap(level, sizeof *level);
}

void gs_shadow_fini(gs_shadow_t *shadow) {
  for (size_t i = 0; i < GS_SHADOW_FAN; i++)
    if (shadow->top[i])
      free_level(shadow->top[i], 1);
}
