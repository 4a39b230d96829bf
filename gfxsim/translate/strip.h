/* Consecutive vector instructions, done strip by strip: all of them for sixteen lanes, then for the next
 * sixteen. So the rows of the wave that they use stay in the host's vector registers from one instruction to
 * the next. Stencils for strips have accesses to rows as single instructions in memory form (mkstrip.h),
 * which become accesses to registers here. Not here: which instructions can be together (block.c). */
#ifndef GFXSIM_TRANSLATE_STRIP_H
#define GFXSIM_TRANSLATE_STRIP_H

#include "isa/wave.h"
#include "translate/emit.h"

/* The host's registers from GS_STRIP_FIRST on are for rows; stencils use those below. */
enum { GS_STRIP_FIRST = 8, GS_STRIP_REGISTERS = 24 };

/* Scalar registers, a bit for each. */
typedef struct gs_scalar_set {
  uint64_t bits[(GS_SGPRS + 63) / 64];
} gs_scalar_set_t;

/* What a strip's instructions have to do with scalar registers. Each sees the bits of its lanes in masks, so
 * masks may be made and used in a strip; but what is read as a whole must not change there. (Masks are the
 * same or apart: decoding gives pairs even numbers.) */
typedef struct gs_strip_scalars {
  gs_scalar_set_t values, written;
  gs_scalar_set_t masks; /* the first register of each that is written */
} gs_strip_scalars_t;

/* Adds an instruction for waves of `lanes` lanes, or returns false: it cannot be in a strip with those before
 * it. */
bool gs_strip_scalars_add(gs_strip_scalars_t *scalars, const gs_inst_t *in, unsigned lanes);

/* Rows by number: those of the wave, then scalar registers and constants, the same in all lanes. */
enum { GS_STRIP_SCALAR = GS_VGPRS, GS_STRIP_CONSTANT = GS_STRIP_SCALAR + GS_SGPRS, GS_STRIP_CONSTANTS = 384 };
enum { GS_STRIP_ROWS = GS_STRIP_CONSTANT + GS_STRIP_CONSTANTS };

/* Which rows are in registers at a place of a strip's code. */
typedef struct gs_strip {
  int8_t register_of[GS_STRIP_ROWS]; /* -1 = none */
  uint32_t constant[GS_STRIP_CONSTANTS];
  unsigned constant_count;
  struct {
    int16_t row; /* -1 = none */
    bool is_new; /* memory has an older value */
    unsigned used;
  } held[GS_STRIP_REGISTERS];
  unsigned clock;
} gs_strip_t;

/* Begins the code of a strip, of which the first and the last rows of registers are in memory. */
void gs_strip_begin(gs_strip_t *strip);
/* Adds an instruction. */
void gs_strip_stencil(gs_strip_t *strip, gs_emitter_t *e, const gs_stencil_t *stencil, const gs_inst_t *in,
                      const uint64_t values[GS_HOLE_VALUES]);
/* Writes back what is new. */
void gs_strip_end(gs_strip_t *strip, gs_emitter_t *e);
/* What is left to do where no lane is active: masks that are written have no bits there. */
void gs_strip_idle(const gs_strip_scalars_t *scalars, gs_emitter_t *e);
/* Adds what comes behind the last strip of a wave: masks that were written in parts are written as a whole.
 * Processors keep who reads them as such waiting for everything that was stored before, otherwise. */
void gs_strip_join_masks(const gs_strip_scalars_t *scalars, gs_emitter_t *e, unsigned lanes);

#endif
