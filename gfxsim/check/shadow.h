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

/* One page of the device's memory. Of two threads that come to a place at once, one must find the other: who
 * looks at stamps and puts its own there does both under the page's lock, and takes no other one meanwhile.
 */
typedef struct gs_shadow_page {
  /* In such an order that who only reads, or only writes, touches few pages of the host's. */
  gs_stamp_t read_before[GS_SHADOW_WORDS], read[GS_SHADOW_WORDS];
  /* Of each line: 0, or which reads of it need no stamps, see race.c. */
  uint64_t common[GS_SHADOW_LINES];
  uint32_t newest_write, newest_read; /* the highest crews of all stamps of writes and of reads; 0: none */
  atomic_flag lock;                   /* clear: free */
  gs_stamp_t written[GS_SHADOW_WORDS];
  /* By `written`, if that is an instruction of which it is known (gs_site_t.data): memory may not have it
   * yet. */
  uint32_t value[GS_SHADOW_WORDS];
  uint16_t place[GS_SHADOW_WORDS]; /* gs_order_word_t.place */
} gs_shadow_page_t;

/* Three levels of the page's number: 12, 12 and 12 bits. */
enum { GS_SHADOW_FAN = 4096 };
typedef struct gs_shadow {
  _Atomic(void *) top[GS_SHADOW_FAN];
  pthread_mutex_t lock;          /* of what follows */
  struct gs_shadow_chunk *chunk; /* memory that pages are cut from, the last one first */
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
/* Frees all pages. Nobody may use them any more. */
void gs_shadow_fini(gs_shadow_t *shadow);

#endif
