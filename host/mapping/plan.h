/* Plans: what a target region does with small data that nobody else has mapped, remembered from one time to
 * the next. Not here: how that is found out (enter.c, pack.c, fill.c), and what becomes of a region of which
 * anything is different (leave.c).
 *
 * Programs run the same region with the same data again and again, and most of the data goes when the region
 * is over. Then the entries of its pack fall asleep together: they are dormant, see entry.h, but keep their
 * memory and pointers, and know their plan. A region that begins with one of them, and whose arguments are
 * what they were, finds nothing and lays nothing out: the plan has its items, its words, and the pieces of
 * both copies. If anybody else wants one of the entries, or a part of its range, the plan is broken: all its
 * entries are dormant as others are, and their memory goes.
 *
 * A plan is the table's while its entries sleep, and its work's while they do not. Guarded by the table's
 * lock. */
#ifndef MAP_PLAN_H
#define MAP_PLAN_H

#include "pack.h"

enum { MAP_PLAN_ITEMS = 512 }; /* the most of one */

/* A region's first time, or first time after all: makes a plan of what it has done if that is possible, and
 * the work keeps it. Without memory for it there is none. Without the lock, behind the region's copies. */
void map_plan_record(map_work_t *work, const map_arguments_t *arguments, const map_packs_t *packs);

/* Under the lock: whether a sleeping plan is for this region, whose first argument that is no literal is
 * `first`. Then its entries are awake, being filled, and the work has its plan, items and words. */
bool map_plan_wake(map_work_t *work, const map_arguments_t *arguments, uint32_t first);
/* Behind that, without the lock. Describes; as map_work_fill. */
map_status_t map_plan_fill(map_work_t *work);

/* Enters a region whose data may sleep by a plan, as map_enter does, if it does; without mappers, and when
 * nobody listens. False: nothing has happened. */
bool map_plan_enter(map_work_t *work, const map_arguments_t *arguments, map_status_t *status);

/* Leaves the region: takes all its counts and begins its copies back; describes. False: somebody else has
 * counted an entry, and the work goes on without its plan, as one that has entered. */
bool map_plan_leave(map_work_t *work, map_status_t *status);

/* The end of a work with a plan: its entries fall asleep. False: they cannot, and the work goes on without
 * its plan. */
bool map_plan_end(map_work_t *work);

/* The work goes on without its plan, if it has one: it has items as it would have had. */
void map_plan_drop(map_work_t *work);

/* Under the lock; one of them: map_plan_break, see entry.h. */
void map_plan_break_all(map_table_t *table);
/* Whether it is worth making one: not for each region if none of the last ones were of use. */
bool map_plan_is_likely(const map_table_t *table);
/* Releases the memory of broken plans. Without the lock. */
MAP_MUST_CHECK map_status_t map_plan_collect(map_table_t *table);

#endif
