/* Races: two accesses to the same bytes, of which one writes, and nothing that orders them. Not here: what
 * orders (order.h), who accessed what (shadow.h), and how a race is told (race_text.c). */
#ifndef GFXSIM_CHECK_RACE_H
#define GFXSIM_CHECK_RACE_H

#include "check/findings.h"
#include "check/order.h"
#include "check/shadow.h"
#include "check/site.h"

typedef struct gs_race {
  gs_order_t order;
  gs_sites_t sites;
  gs_shadow_t shadow;
  gs_blocks_t *blocks; /* for names */
  gs_findings_t *findings;
  bool link_has_atomics;  /* the one to the host */
  bool tells;             /* of races; else it only looks, for who else wants to know */
  struct gs_cache *cache; /* that is the tool "cache", or NULL */
} gs_race_t;

/* NULL when out of memory. What is pointed to must outlive it. */
gs_race_t *gs_race_create(gs_blocks_t *blocks, gs_findings_t *findings);
/* Accepts NULL. */
void gs_race_destroy(gs_race_t *race);
/* The callbacks, whose context is the checker. */
extern const gs_watch_t gs_race_watch;

/* A race that was found. */
typedef struct gs_clash {
  gs_race_t *race;
  const gs_wave_t *w;  /* whose instruction found it; NULL: a copy engine */
  const gs_job_t *job; /* the kernel of that wave, or the copy */
  uint64_t group;      /* of that wave */
  const gs_vm_map_t *map;
  uint32_t rights, bytes; /* of the later access, of each lane */
  unsigned lane;
  uint32_t lanes; /* that clash, by the same instruction */
  uint64_t address;
  bool local;        /* the address is an offset into LDS */
  gs_stamp_t other;  /* the earlier access */
  bool other_writes; /* it is a write, or read-modify-write */
  bool same_instruction;
} gs_clash_t;

/* atomic.c: looks whether memory of the kind at `address` can do the read-modify-write in hand, of one lane.
 * On the thread that runs the wave. */
void gs_atomic_look(gs_race_t *race, const gs_wave_t *w, uint64_t address, uint32_t bytes, unsigned lane);

/* race_text.c: counts it, and tells of it if it is the first between its two instructions. */
void gs_clash_report(const gs_clash_t *clash);

#endif
