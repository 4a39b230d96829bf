/* What parts differ in, as far as their caches go. Not here: the model of a cache (cache_model.h). */
#ifndef GFXSIM_CHECK_CACHE_PARTS_H
#define GFXSIM_CHECK_CACHE_PARTS_H

#include <stdbool.h>

#include "isa/inst.h"
#include "isa/target.h"

/* Bits of an instruction that say how far it goes. */
enum { GS_BIT_GLC = 1 /* sc0 of gfx942 */, GS_BIT_DLC = 2, GS_BIT_SC1 = 4 };

typedef struct gs_caches {
  unsigned targets;
  unsigned past;       /* a load with any of these bits looks past the compute unit's cache, */
  unsigned past_array; /* and past that of the shader array */
  unsigned through;    /* a store with any of these goes through the second cache of its XCC */
  bool has_array;      /* there is a cache of the shader array */
  /* Others' writes to the GPU's own memory invalidate what its second cache has of it. */
  bool local_is_probed;
  /* Copy engines write their GPU's changes back in front of what they do, and invalidate what it has of
   * others' behind that: ROCr tells them to. */
  bool copies_fence;
} gs_caches_t;

/* That of the part; there is one of each. */
const gs_caches_t *gs_caches_of(gs_target_t target);
/* The bits that the instruction has. */
unsigned gs_caches_bits(gs_target_t target, const gs_inst_t *in);

#endif
