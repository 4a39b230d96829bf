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

/* One page of the device's memory. Of two threads that come to a place at once, one must find the other: who
 * looks at stamps and puts its own there does both under the page's lock, and takes no other one meanwhile.
 */
typedef struct gs_shadow_page {
  gs_stamp_t written[GS_SHADOW_WORDS], read[GS_SHADOW_WORDS], read_before[GS_SHADOW_WORDS];
  /* By `written`, if that is an instruction of which it is known (gs_site_t.data): memory may not have it
   * yet. */
  uint32_t value[GS_SHADOW_WORDS];
  atomic_flag lock; /* clear: free */
} gs_shadow_page_t;

/* Three levels of the page's number: 12, 12 and 12 bits. */
enum { GS_SHADOW_FAN = 4096 };
typedef struct gs_shadow {
  _Atomic(void *) top[GS_SHADOW_FAN];
} gs_shadow_t;

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
