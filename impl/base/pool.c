/* The pool: a stack of free objects by index, in segments that double in size. */
#include "base/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SEGMENT = 32 };

void atmi_pool_init(atmi_pool_t *pool, size_t object_bytes, atmi_pool_make_t make,
                    atmi_pool_destroy_t destroy, void *context) {
  *pool = (atmi_pool_t){.object_bytes = (object_bytes + ATMI_POOL_ALIGNMENT - 1) / ATMI_POOL_ALIGNMENT *
                                        ATMI_POOL_ALIGNMENT,
                        .make = make,
                        .destroy = destroy,
                        .context = context};
  pthread_mutex_init(&pool->growing, NULL);
}

void atmi_pool_name(atmi_pool_t *pool, const char *where, const char *objects) {
  pool->where = where;
  pool->objects = objects;
}

static char *make_segment(size_t bytes) {
  char *memory = aligned_alloc(ATMI_POOL_ALIGNMENT, ATMI_POOL_ALIGNMENT + bytes);
  return memory ? memset(memory + ATMI_POOL_SKEW, 0, bytes) : NULL;
}

static void free_segment(char *segment) {
  free(segment ? segment - ATMI_POOL_SKEW : NULL);
}

void atmi_pool_fini(atmi_pool_t *pool) {
  if (!pool->make)
    return;
  uint32_t count = atmi_pool_count(pool);
  /* Acquires what those who put objects back did until then, perhaps other threads a moment ago. */
  (void)atomic_load_explicit(&pool->free, memory_order_acquire);
  for (uint32_t i = 0; pool->destroy && i < count; i++)
    pool->destroy(atmi_pool_at(pool, i), pool->context);
  for (size_t i = 0; i < ATMI_POOL_SEGMENTS; i++)
    free_segment(atomic_load_explicit(&pool->segments[i], memory_order_relaxed));
  pthread_mutex_destroy(&pool->growing);
  *pool = (atmi_pool_t){0};
}

/* Segment k begins with object 32 * (2^k - 1). */
static unsigned segment_of(uint32_t index) {
  return 31u - (unsigned)__builtin_clz(index / FIRST_SEGMENT + 1);
}

static uint32_t segment_begin(unsigned segment) {
  return FIRST_SEGMENT * ((1u << segment) - 1);
}

void *atmi_pool_at(atmi_pool_t *pool, uint32_t index) {
  unsigned segment = segment_of(index);
  /* Relaxed: who knows an index has it from the count, from the list of free objects, or from somebody who
   * had the object, and each of these orders what was before. */
  char *base = atomic_load_explicit(&pool->segments[segment], memory_order_relaxed);
  return base + (size_t)(index - segment_begin(segment)) * pool->object_bytes;
}

uint32_t atmi_pool_count(atmi_pool_t *pool) {
  /* Acquire: an object counted here has been made completely. */
  return atomic_load_explicit(&pool->count, memory_order_acquire);
}

static atmi_status_t describe_end(const atmi_pool_t *pool, uint32_t count) {
  return pool->objects
             ? atmi_fail(ATMI_NO_MEMORY, pool->where,
                         "cannot have more %s than %u: out of host memory to keep track of them; use "
                         "less memory, or fewer queues at a time",
                         pool->objects, count)
             : ATMI_NO_MEMORY;
}

static atmi_status_t make_one(atmi_pool_t *pool, void **object) {
  uint32_t index = atomic_load_explicit(&pool->count, memory_order_relaxed);
  unsigned segment = segment_of(index);
  if (segment >= ATMI_POOL_SEGMENTS)
    return describe_end(pool, index);
  if (!atomic_load_explicit(&pool->segments[segment], memory_order_relaxed)) {
    char *memory = make_segment(pool->object_bytes * FIRST_SEGMENT << segment);
    if (!memory)
      return describe_end(pool, index);
    atomic_store_explicit(&pool->segments[segment], memory, memory_order_relaxed);
  }
  atmi_pool_link_t *link = atmi_pool_at(pool, index);
  link->index = index;
  atmi_status_t status = pool->make(link, pool->context);
  if (status)
    return status;
  atomic_store_explicit(&pool->count, index + 1, memory_order_release);
  *object = link;
  return ATMI_OK;
}

static inline __attribute__((always_inline)) atmi_pool_link_t *pop(atmi_pool_t *pool) {
  /* Acquire pairs with the release of the push, so that the object is seen as its last user left it. */
  uint64_t head = atomic_load_explicit(&pool->free, memory_order_acquire);
  while ((uint32_t)head) {
    atmi_pool_link_t *link = atmi_pool_at(pool, (uint32_t)head - 1);
    uint32_t next = atomic_load_explicit(&link->next, memory_order_relaxed);
    /* If the object was taken and put back meanwhile, the upper half is another: the exchange fails. */
    uint64_t changed = head >> 32 << 32 | next;
    if (atomic_compare_exchange_weak_explicit(&pool->free, &head, changed, memory_order_acquire,
                                              memory_order_acquire))
      return link;
  }
  return NULL;
}

atmi_status_t atmi_pool_take(atmi_pool_t *pool, void **object) {
  atmi_pool_link_t *link = pop(pool);
  if (link) {
    *object = link;
    return ATMI_OK;
  }
  pthread_mutex_lock(&pool->growing);
  link = pop(pool);
  atmi_status_t status = ATMI_OK;
  if (link)
    *object = link;
  else
    status = make_one(pool, object);
  pthread_mutex_unlock(&pool->growing);
  return status;
}

void atmi_pool_put(atmi_pool_t *pool, void *object) {
  atmi_pool_link_t *link = object;
  uint64_t head = atomic_load_explicit(&pool->free, memory_order_relaxed), changed;
  do {
    atomic_store_explicit(&link->next, (uint32_t)head, memory_order_relaxed);
    /* The upper half counts what was put; nothing comes back in another way. */
    changed = ((head >> 32) + 1) << 32 | (link->index + 1);
    /* Release publishes what the last user wrote into the object. */
  } while (!atomic_compare_exchange_weak_explicit(&pool->free, &head, changed, memory_order_release,
                                                  memory_order_relaxed));
}
