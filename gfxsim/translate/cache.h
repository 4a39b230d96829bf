/* Scalar registers and SCC in the host's registers, from one stencil to the next. Stencils access them by
 * moves to and from memory, which can have a register in place of memory, at the same length (isa/hole.h); so
 * what a block computes with them goes through no memory until it ends, or until code needs it there that
 * knows nothing of this. Pairs are in one register of the host as long as nobody writes to one half. VCC,
 * EXEC and what else code reaches without a hole is never here. Not here: rows (strip.h). */
#ifndef GFXSIM_TRANSLATE_CACHE_H
#define GFXSIM_TRANSLATE_CACHE_H

#include "isa/wave.h"
#include "translate/emit.h"
#include "translate/live.h"

/* The host's registers that stencils leave alone: see GFXSIM_CACHE_REGISTERS in gfxsim's CMakeLists.txt. */
enum { GS_CACHE_REGISTERS = 6 };

/* What is in them at a place of a block's code. */
typedef struct gs_cache {
  struct {
    int16_t scalar; /* -1 = none */
    bool is_pair;   /* with the next one in the upper half */
    bool is_new;    /* memory has an older value */
    unsigned used;
  } held[GS_CACHE_REGISTERS];
  unsigned clock;
} gs_cache_t;

/* Begins with none. */
void gs_cache_begin(gs_cache_t *cache);
/* Adds a copy of a stencil. What it accesses is in registers then where that can be. What is in them when the
 * stencil begins, which is so where it goes to `label`, too, unless it has written something, is returned. */
gs_cache_t gs_cache_stencil(gs_cache_t *cache, gs_emitter_t *e, const gs_stencil_t *stencil,
                            const uint64_t values[GS_HOLE_VALUES], unsigned label);
/* Whether all that the stencil writes to scalar registers goes by moves that can be to the host's. */
bool gs_cache_writes(const gs_stencil_t *stencil, const gs_stencil_table_t *table);
/* Writes to memory what is new. */
void gs_cache_clean(gs_cache_t *cache, gs_emitter_t *e);
/* Forgets values, new ones, too, that do not matter. */
void gs_cache_drop_dead(gs_cache_t *cache, const gs_scalar_set_t *live);
/* The same, and code that follows may use all registers, and change what is in memory. */
void gs_cache_flush(gs_cache_t *cache, gs_emitter_t *e);
/* Forgets `count` scalar registers from `first` on, of which memory has new values. */
void gs_cache_forget(gs_cache_t *cache, unsigned first, unsigned count);
/* Loads all registers of the cache from memory, where code of others has been. */
void gs_cache_reload(const gs_cache_t *cache, gs_emitter_t *e);

#endif
