/* The tool "cache": reads that a card's caches may answer with what was there before. It keeps what the first
 * caches of each workgroup's compute unit would hold, as long as nothing invalidates it, and compares. Not
 * here: what happened before what (order.h), who wrote (shadow.h); races (race.h), whose eyes it uses. */
#ifndef GFXSIM_CHECK_CACHE_H
#define GFXSIM_CHECK_CACHE_H

#include "check/order.h"
#include "isa/watch.h"

struct gs_race;
typedef struct gs_cache gs_cache_t;
/* The caches of one compute unit, which a workgroup has while it runs. */
typedef struct gs_cu gs_cu_t;

/* What an instruction does to caches. */
enum {
  GS_EFFECT_VECTOR = 1, /* invalidates the compute unit's vector cache */
  GS_EFFECT_SCALAR = 2, /* and its scalar cache */
  GS_EFFECT_SECOND = 4, /* and what the GPU's second cache has of others' memory */
  GS_EFFECT_BACK = 8,   /* writes the second cache's changes back to memory */
  GS_EFFECT_ARRAY = 16, /* invalidates the shader array's cache, which gfx10 and gfx11 have between */
  GS_EFFECT_XCC =
      32, /* writes the changes of its XCC's second cache back to where others of the GPU see them */
};
unsigned gs_cache_effects(const struct gs_inst *in);

/* NULL when out of memory. `race` must outlive it. */
gs_cache_t *gs_cache_create(struct gs_race *race);
/* Accepts NULL. */
void gs_cache_destroy(gs_cache_t *cache);

/* A kernel begins, and is over: its packet's fences. Thread-safe, as all that follow are. */
void gs_cache_kernel_begins(gs_cache_t *cache, const gs_job_t *job);
void gs_cache_kernel_ends(gs_cache_t *cache, const gs_job_t *job);
/* The fences of another packet. */
void gs_cache_fence(gs_cache_t *cache, uint32_t gpu, gs_scope_t acquire, gs_scope_t release);
/* Caches for a workgroup on this GPU; NULL without memory: then it is not looked at. They come back with what
 * they have. */
gs_cu_t *gs_cache_take(gs_cache_t *cache, uint32_t gpu);
void gs_cache_give(gs_cache_t *cache, gs_cu_t *cu);
/* Wave `w` of the workgroup has executed an instruction with such effects. */
void gs_cache_order(gs_cache_t *cache, gs_crew_t *crew, unsigned w, unsigned effects);
/* Whether it has to be known who read memory last, on such a part. */
bool gs_cache_wants_reads(gs_target_t target);
/* A copy engine is about to read [address, address + bytes), as `map` has it. */
void gs_cache_copy(gs_cache_t *cache, const gs_copy_t *copy);

/* The callbacks that see accesses; the context is the checker. Of those of race, which must be there, too. */
extern const gs_watch_t gs_cache_watch;

#endif
