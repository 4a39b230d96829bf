/* A pool of recycled objects that any thread takes and puts without a lock. Objects are made one at a time
 * when the pool runs dry, never move, and are only destroyed together with the pool. Streams, events, signals
 * and memory blocks are all kept this way. */
#ifndef ATMI_BASE_POOL_H
#define ATMI_BASE_POOL_H

#include "base/status.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Must be the first member of every pooled object. */
typedef struct atmi_pool_link {
  _Atomic uint32_t next; /* index + 1 of the next free object; meaningful while this one is free */
  uint32_t index;
} atmi_pool_link_t;

/* Makes an object in zeroed memory (the link is already set), and destroys it. `context` is the pool's. */
typedef atmi_status_t (*atmi_pool_make_t)(void *object, void *context);
typedef void (*atmi_pool_destroy_t)(void *object, void *context);

enum { ATMI_POOL_SEGMENTS = 22 }; /* of 32, 64, 128, ... objects */

/* Addresses of objects are this much more than a multiple of the other: no two are on the same cache lines
 * but for a border, and none can be taken for something aligned. */
enum { ATMI_POOL_ALIGNMENT = 64, ATMI_POOL_SKEW = 16 };

typedef struct atmi_pool {
  _Atomic uint64_t free;  /* low half: index + 1 of the first free object; high half: how many were put */
  _Atomic uint32_t count; /* objects made so far */
  _Atomic(char *) segments[ATMI_POOL_SEGMENTS];
  size_t object_bytes;
  atmi_pool_make_t make;
  atmi_pool_destroy_t destroy;
  void *context;
  const char *where, *objects; /* for messages, see atmi_pool_name; or NULL */
  pthread_mutex_t growing;
} atmi_pool_t;

/* An empty pool of objects of `object_bytes` bytes. `destroy` may be NULL. Cannot fail: nothing is made yet.
 */
void atmi_pool_init(atmi_pool_t *pool, size_t object_bytes, atmi_pool_make_t make,
                    atmi_pool_destroy_t destroy, void *context);
/* Has the pool describe its own failures, too: `where` is the device's label, `objects` what is in it,
 * "signals". Both must outlive it. Before the first use. */
void atmi_pool_name(atmi_pool_t *pool, const char *where, const char *objects);
/* Destroys all objects, also those that nobody put back. Nobody may use the pool any more. Accepts a pool
 * whose init was never called if it is zeroed. */
void atmi_pool_fini(atmi_pool_t *pool);

/* A free object, as its last user left it, or a new one. Fails as `make` does or with ATMI_NO_MEMORY; `make`
 * describes its own failures, and this one only if the pool has a name. */
ATMI_MUST_CHECK atmi_status_t atmi_pool_take(atmi_pool_t *pool, void **object);
void atmi_pool_put(atmi_pool_t *pool, void *object);

/* How many objects were made, and the i-th of them, free or not: for walking over all of them. */
uint32_t atmi_pool_count(atmi_pool_t *pool);
void *atmi_pool_at(atmi_pool_t *pool, uint32_t index);

#endif
