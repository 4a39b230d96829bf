/* How the tool "race" looks at the accesses of one instruction. Shared by race.c (stamps, and who meets
 * whom), race_values.c (what stores put there) and race_watch.c (which accesses there are). Not here: how a
 * race is told (race_text.c). All on the thread that runs the wave, or that copies. */
#ifndef GFXSIM_CHECK_RACE_TOUCH_H
#define GFXSIM_CHECK_RACE_TOUCH_H

#include "check/check.h"
#include "check/race.h"
#include "check/swap.h"
#include "exec/place.h"
#include "isa/memory.h"

/* An instruction's accesses, while they are looked at. */
typedef struct gs_race_touch {
  gs_race_t *race;
  gs_wave_t *w; /* NULL: a copy */
  gs_crew_t *crew;
  gs_order_wave_t *me;
  unsigned wave;
  gs_stamp_t base;  /* crew, wave and clock of a stamp */
  gs_stamp_t stamp; /* the same with the site */
  gs_stamp_t apart; /* from this stamp on nothing orders the wave's lanes; GS_STAMP_NONE: something may */
  unsigned mask;    /* bytes of a dword that the site stands for */
  unsigned flags;   /* of the site */
  unsigned data;    /* likewise */
  uint32_t rights, bytes;
  bool local, uniform; /* uniform: all active lanes are at one place */
  bool is_swap;        /* a compare-and-swap of 4 bytes, by these registers */
  gs_swap_t swap;
  uint64_t lane_address;  /* of the lane in hand */
  gs_shadow_page_t *page; /* the one that was asked for last, of the page of this number */
  uint64_t page_number;
  const gs_access_t *access; /* of lanes that have addresses of their own, or NULL */
  gs_clash_t clash;
} gs_race_touch_t;

/* Scratch memory is one lane's own. */
static inline bool gs_race_is_private(const gs_race_touch_t *t, uint64_t address) {
  const gs_launch_t *launch = &t->crew->job->launch;
  return !t->local && address >= launch->scratch_start && address < launch->scratch_end;
}

/* ---- race.c ---- */

/* Begins to look at an instruction of the wave, whose lanes access `bytes` each, of LDS if `local`. False
 * when the wave is of a group that is not looked at. */
bool gs_race_begin(gs_race_touch_t *t, gs_wave_t *w, uint32_t rights, uint32_t bytes, bool local);
/* Tells of the races that were found. */
void gs_race_finish(gs_race_touch_t *t);

/* The instruction may be waiting for another value at `address`: who stores one before it gets there is found
 * by gs_race_catch_up. */
void gs_race_poll(gs_race_touch_t *t, uint64_t address);
/* In front of what the wave does next, if it is behind or has polled: what it may have learned meanwhile. */
void gs_race_catch_up(gs_race_t *race, gs_crew_t *crew, unsigned wave);
static inline bool gs_race_is_behind(const gs_order_wave_t *wave) {
  return wave->behind | wave->polled_count;
}

/* `count` whole dwords from `address` on, of which each lane from `lane` on has `per_lane`; 0: all are one
 * lane's. */
void gs_race_words(gs_race_touch_t *t, uint64_t address, uint64_t count, unsigned lane, unsigned per_lane);
/* One lane's bytes, anywhere. */
void gs_race_bytes(gs_race_touch_t *t, uint64_t address, uint64_t bytes, unsigned lane);
/* Lanes that have addresses of their own: loads, or stores. */
void gs_race_lanes(gs_race_touch_t *t, uint64_t lanes);
/* Read-modify-writes of all lanes, of global memory. */
void gs_race_modify(gs_race_touch_t *t);
/* [address, address + size), as gs_watch_t.block has it, to the end. */
void gs_race_block(gs_race_touch_t *t, uint64_t address, uint64_t size, uint32_t stride, bool scalar);
/* The lanes access the host's memory, at access->at[] or from `address` on, `stride` bytes apart. */
void gs_race_host(gs_race_touch_t *t, uint64_t lanes, uint64_t address, uint32_t stride);

/* ---- race_values.c ---- */

/* The bytes that the lane's store will put at its address. False when that is not known. */
bool gs_race_stored_bytes(const gs_race_touch_t *t, unsigned lane, uint8_t bytes[GS_ACCESS_BYTES]);
/* What the instruction stores at the bytes of the dword at `address` that are the lane's; the others of
 * *value stay. The site has data. */
void gs_race_put_value(const gs_race_touch_t *t, uint64_t address, unsigned lane, uint32_t *value);
/* The same of `count` whole dwords, of which each lane from `lane` on has `width`, from its dword `skip` on.
 */
void gs_race_put_values(const gs_race_touch_t *t, uint32_t *value, size_t count, unsigned lane,
                        unsigned width, unsigned skip);
/* Whether the lane stores what `theirs`, the store of the other site, puts into the bytes of the dword that
 * both have. */
bool gs_race_is_same_store(const gs_race_touch_t *t, const gs_site_t *site, uint32_t theirs, uint64_t address,
                           unsigned lane);
/* Whether the store of the lane leaves the dword at `address` as it is. */
bool gs_race_is_silent(const gs_race_touch_t *t, uint64_t address, unsigned lane);
/* What the shadow keeps in place of a value where a read-modify-write of GS_SITE_EXCHANGE wrote last: which
 * bytes of the dword it changes, if it is a compare-and-swap. */
enum { GS_RACE_NO_SWAP = 16 };
static inline uint32_t gs_race_changes(const gs_race_touch_t *t, unsigned lane) {
  return t->is_swap ? gs_swap_changes(t->w, &t->swap, lane) : GS_RACE_NO_SWAP;
}
/* Whether one of the two accesses, of the lane and of the other site, is a compare-and-swap of which that is
 * known, and the other a store to a part of its dword. `theirs`: what is kept of the other; NULL: a read. */
bool gs_race_is_item_stored(const gs_race_touch_t *t, const gs_site_t *site, const uint32_t *theirs);
/* Whether one of the two is of an atomic operation on an item of the dword, see swap.h, and the other
 * accesses other bytes. In front of the swap nobody knows which item it is: that load meets no store to a
 * part of the dword, as the swap will. */
bool gs_race_is_other_item(const gs_race_touch_t *t, const gs_site_t *site, const uint32_t *theirs,
                           unsigned lane);
/* Whether two lanes of one store have the same value for the dword. */
bool gs_race_is_same_value(gs_race_touch_t *t, uint64_t address, unsigned lane, unsigned other);

#endif
