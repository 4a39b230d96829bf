/* What an entering operation does behind its pass, without the lock: allocates, waits, copies, and lets
 * others have what it has made. Not here: which entries these are (enter.c). */
#ifndef MAP_FILL_H
#define MAP_FILL_H

#include "work.h"

/* Does all that the work's items say. Describes; after a failure the work has given up. */
map_status_t map_work_fill(map_work_t *work, const map_arguments_t *arguments);
/* The end of that: lets others have what was made, or gives up if `status` says that something has failed. */
map_status_t map_work_publish(map_work_t *work, map_status_t status);

/* A work that cannot go on: under the lock, what it has made goes out of the table, so that nobody else finds
 * it; then, without the lock, who has found it already fails as well. What the work has counted is given back
 * at its end, when the device uses nothing of it any more. */
void map_work_abandon(map_work_t *work);
void map_work_give_up(map_work_t *work);

#endif
