/* Fresh device memory with strict poison: full of something, and yet without taking room before it is
 * touched. Not here: registers, LDS and scratch memory of waves (exec/poison.c). */
#ifndef GFXSIM_MACHINE_POISON_H
#define GFXSIM_MACHINE_POISON_H

#include "base/options.h"
#include "machine/memory.h"

/* What fresh memory is made of. Plain data; zeroed, it is the poison of a machine without. */
typedef struct gs_fresh {
  uint32_t kind; /* GS_POISON_*, 0 = none */
  uint32_t seed;
  int file; /* of which large memory has private copies; valid if `pages` is set */
  uint64_t pages;
  uint64_t count; /* allocations so far */
} gs_fresh_t;

void gs_fresh_init(gs_fresh_t *fresh, const gs_options_t *options);
void gs_fresh_fini(gs_fresh_t *fresh);

/* Fills the device memory of a buffer that was just reserved. Where the host has no room for that, a line on
 * stderr says so and the rest of it is zeros. One thread at a time. */
void gs_fresh_fill(gs_fresh_t *fresh, const gs_buffer_t *buffer);

#endif
