/* Which bits of device memory nobody has set, by address: a bit for each bit, and for each dword where what
 * is undefined there came from (an origin, see init.h; 0 = nobody ever wrote it). Memory that nobody spoke of
 * is defined, and costs nothing. Not here: registers and LDS (init.h), and who sets memory (init_memory.c).
 */
#ifndef GFXSIM_CHECK_INIT_SHADOW_H
#define GFXSIM_CHECK_INIT_SHADOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gs_bits_chunk gs_bits_chunk_t;

typedef struct gs_bits {
  pthread_mutex_t lock; /* of making pages, and of `used` */
  /* By address; pages and chunks that were made stay, so that readers need no lock. */
  _Atomic(gs_bits_chunk_t *) *top;
  uint64_t *used; /* the places in `top` that are */
  uint64_t chunks;
} gs_bits_t;

/* Returns 0, or -1 when out of memory. */
int gs_bits_init(gs_bits_t *shadow) __attribute__((warn_unused_result));
void gs_bits_fini(gs_bits_t *shadow);

/* All functions below are thread-safe; of accesses to the same bytes at the same time, which programs must
 * not make, any may win. Without host memory for it, memory becomes defined. */

/* The bytes [start, end) have become undefined, by nobody, or defined. */
void gs_bits_set(gs_bits_t *shadow, uint64_t start, uint64_t end, bool undefined);
/* Whether all of them are defined. */
bool gs_bits_is_defined(const gs_bits_t *shadow, uint64_t start, uint64_t end);
/* Whether `bytes` bytes, 16 at most, are defined at the address of each of `lanes`, and `offset` behind it.
 */
bool gs_bits_are_defined(const gs_bits_t *shadow, const uint64_t *at, uint64_t lanes, uint64_t offset,
                         unsigned bytes);
/* They become so. */
void gs_bits_define(gs_bits_t *shadow, const uint64_t *at, uint64_t lanes, uint64_t offset, unsigned bytes);
/* The undefined bits of 1 to 4 bytes, first byte lowest. If there are any, `origin` gets where they came
 * from. */
uint32_t gs_bits_get(const gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t *origin);
void gs_bits_put(gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t bits, uint32_t origin);
/* What was copied between places that do not overlap is there what it was here. */
void gs_bits_copy(gs_bits_t *shadow, uint64_t to, uint64_t from, uint64_t bytes);
/* The first byte of [start, end) with undefined bits whose origin is not 0, and that origin; `end` if there
 * is none. */
uint64_t gs_bits_find(const gs_bits_t *shadow, uint64_t start, uint64_t end, uint32_t *origin);

#endif
