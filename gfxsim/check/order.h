/* What happened before what, as far as a GPU orders it: waves of a workgroup by barriers and by atomic
 * accesses, workgroups by atomic accesses whose writer waited for its stores and whose reader invalidated its
 * cache, kernels and copies by one being over before the other began. Where it is not sure it says "before",
 * so that nobody is blamed for what is ordered. Not here: who accessed what (shadow.h), and what is made of
 * it (race.c). */
#ifndef GFXSIM_CHECK_ORDER_H
#define GFXSIM_CHECK_ORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/watch.h"

/* A stamp says which wave did something, when by the wave's own clock, where, and for which lane:
 * crew (27 bits), wave (5), clock (12), site (14), lane (6). A crew is one workgroup that runs, or a copy;
 * they are numbered in the order in which they begin. 0: nobody did anything. */
typedef uint64_t gs_stamp_t;
enum { GS_STAMP_CREW = 37, GS_STAMP_WAVE = 32, GS_STAMP_CLOCK = 20, GS_STAMP_SITE = 6 };
enum { GS_CREWS = 1 << 27, GS_CLOCK_MAX = 4095, GS_SITES = 1 << 14, GS_ORDER_WAVES = 32 };

#define GS_STAMP_NONE UINT64_MAX /* behind all that there can be */

static inline uint32_t gs_stamp_crew(gs_stamp_t s) {
  return (uint32_t)(s >> GS_STAMP_CREW);
}
static inline unsigned gs_stamp_wave(gs_stamp_t s) {
  return s >> GS_STAMP_WAVE & 31;
}
static inline unsigned gs_stamp_clock(gs_stamp_t s) {
  return s >> GS_STAMP_CLOCK & 0xfff;
}
static inline unsigned gs_stamp_site(gs_stamp_t s) {
  return s >> GS_STAMP_SITE & 0x3fff;
}
static inline unsigned gs_stamp_lane(gs_stamp_t s) {
  return s & 63;
}

/* Whether a kernel is an OpenMP target region, whose work-items nothing but the program orders, and whether
 * its compiler has left barriers where they are though a workgroup may be one wave; or nobody has asked yet.
 */
enum { GS_OPENMP_UNKNOWN, GS_OPENMP_NO, GS_OPENMP_YES, GS_OPENMP_WITH_BARRIERS };

/* A kernel or a copy. */
typedef struct gs_job {
  uint32_t number;            /* of jobs, from 1 */
  uint32_t floor;             /* crews below it were over before this job began */
  uint32_t first;             /* its first crew */
  _Atomic uint8_t is_openmp;  /* GS_OPENMP_*, of a kernel */
  uint64_t begin;             /* by the clock of jobs */
  uint64_t end;               /* 0: it runs */
  bool is_copy, wrote_back;   /* wrote_back: a wave did, of the second cache's changes */
  gs_launch_t launch;         /* of a kernel; `gpu` of a copy */
  uint64_t from, to, bytes;   /* of a copy; `from` is 0 for a fill */
  struct gs_host_words *host; /* of a kernel that has accessed the host's memory; race_host.c owns it */
  struct gs_job *next;        /* of those that run */
} gs_job_t;

/* What a wave, or who passes it on, has learned of other workgroups by words of global memory. */
enum { GS_LESSONS = 8 };
typedef struct gs_lessons {
  bool all; /* too much to keep: everything counts as known */
  uint32_t count;
  struct {
    bool is_crew; /* everything that the crew `source` did; else of the word `source` ... */
    uint32_t source;
    uint32_t length; /* ... what was told there first, so many entries */
  } lesson[GS_LESSONS];
} gs_lessons_t;

/* Words that a wave polls: it may read what is stored between who looks being told of the access and the
 * access itself. */
enum { GS_POLLED = 8 };
typedef struct gs_polled {
  uint64_t address; /* of the dword */
  gs_stamp_t was;   /* of its last write, when who looks was told */
} gs_polled_t;

/* A wave's view. */
typedef struct gs_order_wave {
  uint32_t clock;
  uint32_t published;  /* what it did at clocks below has reached the memory that all groups share */
  uint32_t lanes_from; /* what its lanes did at clocks below is ordered among them, too */
  bool dirty;          /* it has accessed memory since the clock moved */
  uint32_t seen[GS_ORDER_WAVES]; /* of each wave of its group: what that did at clocks below comes before */
  uint32_t behind;               /* 1 + the word that it may have learned more of than it knows, or 0 */
  bool behind_pending;           /* of a load, see `pending` */
  uint32_t polled_count;         /* of what its last instruction polled, in `polled` */
  gs_polled_t polled[GS_POLLED];
  gs_lessons_t pending; /* read, but the cache may still hold older values */
  gs_lessons_t learned;
} gs_order_wave_t;

/* Where the stamps of a page are, see shadow.h: as long as the checker is there. */
typedef struct gs_crew_page {
  uint64_t number;
  struct gs_shadow_page *page;
} gs_crew_page_t;

/* A workgroup that runs. */
enum { GS_LOCAL_WORDS = 64, GS_CREW_PAGES = 32 };
typedef struct gs_crew {
  struct gs_crew *next;
  uint32_t id;
  unsigned waves;
  uint64_t group; /* number in the grid */
  gs_job_t *job;
  gs_order_wave_t wave[GS_ORDER_WAVES];
  struct gs_cu *cu; /* what its first caches hold, if anybody looks; the tool "cache" owns it */
  /* LDS: stamps of each dword, as shadow.h has them for memory, and the words that are accessed atomically.
   */
  gs_stamp_t *local; /* writes, reads, earlier reads: `local_capacity` of each */
  size_t local_words, local_capacity;
  uint8_t *local_sync; /* of each dword: 1 + an index into `synced`, or 0 */
  uint32_t synced_count;
  uint32_t synced[GS_LOCAL_WORDS][GS_ORDER_WAVES];
  gs_crew_page_t page[GS_CREW_PAGES]; /* that were asked for lately, by their number */
} gs_crew_t;

/* What a crew number stands for. */
enum { GS_NOTE_CLOCKS = 4 };
typedef struct gs_crew_note {
  uint32_t id, job;
  uint64_t group;
  /* What its waves did at clocks below has left the second cache of their XCC: of wave `w` at w % 4, the
   * highest. */
  uint16_t left_xcc[GS_NOTE_CLOCKS];
} gs_crew_note_t;

enum { GS_CREW_NOTES = 1 << 20, GS_JOBS = 1 << 14 };
struct gs_sync;

typedef struct gs_order {
  pthread_mutex_t lock; /* of all below */
  uint32_t next_crew, next_job;
  _Atomic uint64_t clock; /* of jobs; may be read without the lock */
  gs_job_t *running;
  gs_job_t *jobs;        /* ring, by number */
  gs_crew_note_t *notes; /* ring, by crew */
  gs_crew_t *free_crews;
  struct gs_sync *sync; /* words of global memory that are accessed atomically */
  uint32_t sync_count, told;
  _Atomic bool strangers; /* workgroups know nothing of each other, but for what kernels they are of */
  uint32_t *sync_table;   /* by hash of the address: 1 + index, or 0 */
} gs_order_t;

/* Returns 0, or -1 when out of memory. */
int gs_order_init(gs_order_t *order) __attribute__((warn_unused_result));
void gs_order_fini(gs_order_t *order);

/* A kernel or a copy begins, of which `what` says what it is, and ends. NULL when there is no room: it is not
 * looked at. Thread-safe. */
gs_job_t *gs_order_begin(gs_order_t *order, const gs_job_t *what);
void gs_order_end(gs_order_t *order, gs_job_t *job);

/* A workgroup begins, and ends. NULL without memory. Thread-safe. */
gs_crew_t *gs_order_crew(gs_order_t *order, gs_job_t *job, uint64_t group, unsigned waves,
                         uint32_t lds_bytes);
void gs_order_dismiss(gs_order_t *order, gs_crew_t *crew);

/* All waves of the group have met. */
void gs_order_barrier(gs_order_t *order, gs_crew_t *crew);
/* The wave's accesses to memory are done. */
void gs_order_waited(gs_order_wave_t *wave);
/* The wave's cache holds nothing that is old. */
void gs_order_invalidated(gs_order_wave_t *wave);

/* Whether what the stamp stands for happened before what wave `w` of the crew does now. `stamp` is not 0. */
bool gs_order_is_before(gs_order_t *order, gs_crew_t *crew, unsigned w, gs_stamp_t stamp);
/* The same for a stamp of another crew: what is not known at once. */
bool gs_order_knows(gs_order_t *order, const gs_crew_t *crew, unsigned w, gs_stamp_t stamp);
/* The same the other way round: false where it is not sure. What the wave has read, and its cache may still
 * hide from it, counts. */
bool gs_order_surely(gs_order_t *order, const gs_crew_t *crew, unsigned w, gs_stamp_t stamp);
/* Copies what made the stamp; false: that is forgotten, as it is long over. */
bool gs_order_job(gs_order_t *order, gs_stamp_t stamp, gs_job_t *job);
/* A time by the clock of jobs at which nothing else happens. */
uint64_t gs_order_tick(gs_order_t *order);
/* A wave of the job has written all changes of the second cache back. */
void gs_order_wrote_back(gs_order_t *order, gs_job_t *job);

/* Wave `w` has written the changes of its XCC's second cache back: its own, and those of its group that have
 * come there. */
void gs_order_left_xcc(gs_order_t *order, gs_crew_t *crew, unsigned w);
/* Whether what the stamp stands for has left that cache; also where that is not kept. */
bool gs_order_has_left_xcc(gs_order_t *order, gs_stamp_t stamp);

/* Between the two calls nobody else gets in: who asks or tells much at a time, as the work-items of one
 * instruction, pays for the lock once. */
void gs_order_hold(gs_order_t *order);
void gs_order_let_go(gs_order_t *order);

/* A word of global memory that a read-modify-write accesses. */
typedef struct gs_order_word {
  uint64_t address;
  gs_stamp_t written; /* who stored there otherwise last, or 0 */
  uint16_t *place;    /* where its place in a table is kept for the next time, 0 at first; or NULL */
} gs_order_word_t;
/* Wave `w` accesses the words by one read-modify-write: it tells there what it has done and, if the
 * instruction returns values, learns what others told. */
void gs_order_atomic(gs_order_t *order, gs_crew_t *crew, unsigned w, const gs_order_word_t *words,
                     unsigned count, bool returns);
/* Who looks is told of an access before it happens: what others told at the word meanwhile the wave may have
 * learned, too. To be called in front of what wave `w` does next, if its `behind` is set. */
void gs_order_catch_up(gs_order_t *order, gs_crew_t *crew, unsigned w);
/* Wave `w` reads what `written` wrote, by a load that is made for that. */
void gs_order_learn(gs_order_t *order, gs_crew_t *crew, unsigned w, uint64_t address, gs_stamp_t written);
/* Whether wave `w` has read at the word of global memory at `address` what the crew of `stamp` told there.
 * Who looks is told of read-modify-writes in another order than that in which they happen: the last of many
 * may be told of first, and knows by what it read that the others are over. */
bool gs_order_read_at(gs_order_t *order, const gs_crew_t *crew, unsigned w, uint64_t address,
                      gs_stamp_t stamp);
/* The same for a dword of LDS. */
void gs_order_local_atomic(gs_crew_t *crew, unsigned w, size_t word);
void gs_order_local_learn(gs_crew_t *crew, unsigned w, size_t word, gs_stamp_t written);

/* What made the stamp, for reports: false when it is forgotten. */
bool gs_order_who(gs_order_t *order, gs_stamp_t stamp, gs_job_t *job, uint64_t *group);

#endif
