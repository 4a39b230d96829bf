/* Races: two accesses to the same bytes, of which one writes, and nothing that orders them. Not here: what
 * orders (order.h), who accessed what (shadow.h), and how a race is told (race_text.c). */
#ifndef GFXSIM_CHECK_RACE_H
#define GFXSIM_CHECK_RACE_H

#include "check/findings.h"
#include "check/order.h"
#include "check/shadow.h"
#include "check/site.h"
#include "check/sweep.h"

typedef struct gs_race {
  gs_order_t order;
  gs_sites_t sites;
  gs_shadow_t shadow;
  const gs_sweep_t *sweep;
  gs_blocks_t *blocks; /* for names */
  gs_findings_t *findings;
  bool link_has_atomics;     /* the one to the host */
  bool tells;                /* of races; else it only looks, for who else wants to know */
  struct gs_cache *cache;    /* that is the tool "cache", or NULL */
  pthread_mutex_t host_lock; /* of what follows, and of what kernels have accessed of the host's memory */
  gs_place_t **host_places;  /* of instructions, by number of their site; made with the first */
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
  unsigned lane;          /* of `address` */
  uint64_t lanes;         /* that clash by the same instruction, a bit each; some by several dwords */
  uint64_t address;
  bool local;        /* the address is an offset into LDS */
  gs_stamp_t other;  /* the earlier access */
  bool other_writes; /* it is a write, or read-modify-write */
  bool same_instruction;
} gs_clash_t;

/* atomic.c: looks whether the memory that these lanes access can do the read-modify-write in hand. On the
 * thread that runs the wave. */
void gs_atomic_look(gs_race_t *race, const gs_wave_t *w, const struct gs_access *a, uint64_t lanes);

/* race_host.c: a dword of the host's memory that a kernel accesses. */
typedef struct gs_host_word {
  uint64_t address;
  const void *host; /* where it is in this process */
  uint32_t value;
  bool writes;
  uint64_t group; /* who accesses it, with `accessed` */
  gs_stamp_t accessed;
  gs_stamp_t written; /* by whom it was written last, as the shadow has it behind the access */
} gs_host_word_t;

/* Whether the host can write at `address`. On the thread that runs the wave. */
bool gs_host_is(const gs_race_t *race, const gs_wave_t *w, uint64_t address);
/* The wave, of the kernel, loads the word, or stores *stored there (NULL: what is not known). On its thread.
 */
void gs_host_note(gs_race_t *race, gs_job_t *job, const gs_wave_t *w, const gs_host_word_t *what,
                  const uint32_t *stored);
/* The kernel has accessed memory of the host in a way that orders other accesses. */
void gs_host_agrees(gs_race_t *race, gs_job_t *job);
/* The kernel is over: compares its words, and forgets them. Before its signal is sent. */
void gs_host_kernel_ends(gs_race_t *race, gs_job_t *job);
void gs_host_fini(gs_race_t *race);

/* race_text.c: counts it, and tells of it if it is the first between its two instructions. */
void gs_clash_report(const gs_clash_t *clash);

#endif
