/* Who accessed memory last: for each dword of the device's address space, stamps (order.h) of its last write,
 * its last read, and the last read by another wave, and what that write puts there. Pages are made when they
 * are first asked for, and stay. Not here: what the stamps say of each other. */
#ifndef GFXSIM_CHECK_SHADOW_H
#define GFXSIM_CHECK_SHADOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "check/order.h"

enum { GS_SHADOW_PAGE = 4096, GS_SHADOW_WORDS = GS_SHADOW_PAGE / 4 };
/* What can be said of so many dwords at once. */
enum { GS_SHADOW_LINE = 16, GS_SHADOW_LINES = GS_SHADOW_WORDS / GS_SHADOW_LINE };

/* The stamps of a dword. */
enum { GS_SHADOW_READ_BEFORE, GS_SHADOW_READ, GS_SHADOW_WRITTEN, GS_SHADOW_KINDS };
enum { GS_SHADOW_ALL = (1 << GS_SHADOW_KINDS) - 1 };

/* The dwords of a line. Waves mostly access whole ones, so that the stamps of all dwords follow from one:
 * eight bytes are read and written then for 64. */
typedef struct gs_shadow_line {
  gs_stamp_t first[GS_SHADOW_KINDS]; /* the first dword's, 0: nobody's, of kinds that are not spread */
  uint64_t common;                   /* 0, or which reads need no stamps, see race.c */
  uint8_t shift[GS_SHADOW_KINDS];    /* dwords that each lane has in that line, as a power of two */
  uint8_t spread;                    /* kinds, a bit each: the page has the stamp of each dword */
} gs_shadow_line_t;

/* What there is of each dword of a page, where somebody asked for it. */
typedef struct gs_shadow_words {
  gs_stamp_t stamp[GS_SHADOW_KINDS][GS_SHADOW_WORDS]; /* where the line is spread; else anything */
  /* By the last write, if that is an instruction of which it is known (gs_site_t.data): memory may not have
   * it yet. Of a swap see gs_race_changes. */
  uint32_t value[GS_SHADOW_WORDS];
  uint16_t place[GS_SHADOW_WORDS]; /* gs_order_word_t.place */
} gs_shadow_words_t;

/* One page of the device's memory. Of two threads that come to a place at once, one must find the other: who
 * looks at stamps and puts its own there does both under the page's lock, and takes no other one meanwhile.
 */
typedef struct gs_shadow_page {
  uint32_t newest_write, newest_read; /* the highest crews of all stamps of writes and of reads; 0: none */
  atomic_flag lock;                   /* clear: free */
  gs_shadow_words_t *words;
  gs_shadow_line_t line[GS_SHADOW_LINES];
} gs_shadow_page_t;

/* Three levels of the page's number: 12, 12 and 12 bits. */
enum { GS_SHADOW_FAN = 4096 };
typedef struct gs_shadow {
  _Atomic(void *) top[GS_SHADOW_FAN];
  pthread_mutex_t lock; /* of what follows */
  /* Memory that pages are cut from, and what they have of words, the last one first of each. */
  struct gs_shadow_chunk *pages, *words;
} gs_shadow_t;

void gs_shadow_init(gs_shadow_t *shadow);

/* The page that contains `address` (below 2^48), NULL without memory. Thread-safe. */
gs_shadow_page_t *gs_shadow_page(gs_shadow_t *shadow, uint64_t address);
/* For a few dozen instructions of the host. Accepts NULL. */
static inline void gs_shadow_lock(gs_shadow_page_t *page) {
  while (page && atomic_flag_test_and_set_explicit(&page->lock, memory_order_acquire))
    ;
}
static inline void gs_shadow_unlock(gs_shadow_page_t *page) {
  if (page)
    atomic_flag_clear_explicit(&page->lock, memory_order_release);
}
/* What the page has of a dword, by its number. The page's lock is held. */
static inline gs_stamp_t gs_shadow_stamp(const gs_shadow_page_t *page, unsigned kind, size_t word) {
  const gs_shadow_line_t *line = &page->line[word / GS_SHADOW_LINE];
  const gs_stamp_t first = line->first[kind];
  if (line->spread >> kind & 1)
    return page->words->stamp[kind][word];
  return first ? first + (word % GS_SHADOW_LINE >> line->shift[kind]) : 0;
}
/* Begins to load what there is of the lines of these dwords, which may be beyond the page's. */
static inline void gs_shadow_fetch(const gs_shadow_page_t *page, size_t word, size_t count) {
  for (size_t i = word / GS_SHADOW_LINE; i <= (word + count - 1) / GS_SHADOW_LINE && i < GS_SHADOW_LINES; i++)
    __builtin_prefetch(&page->line[i], 1);
}
/* Has the page keep the stamps of each dword of a line. Its lock is held. */
void gs_shadow_spread_line(gs_shadow_page_t *page, size_t line);
/* The same of the lines that have these dwords. */
static inline void gs_shadow_spread(gs_shadow_page_t *page, size_t word, size_t count) {
  for (size_t i = word / GS_SHADOW_LINE; i <= (word + count - 1) / GS_SHADOW_LINE; i++)
    if (page->line[i].spread != GS_SHADOW_ALL)
      gs_shadow_spread_line(page, i);
}
/* What there is of the dword at `address`, 0 without memory. Thread-safe; locks the page. */
gs_stamp_t gs_shadow_ask(gs_shadow_t *shadow, unsigned kind, uint64_t address);
/* Frees all pages. Nobody may use them any more. */
void gs_shadow_fini(gs_shadow_t *shadow);

#endif
