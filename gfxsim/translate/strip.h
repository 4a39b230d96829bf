/* Consecutive vector instructions, done strip by strip: all of them for as many lanes as a vector register of
 * the host has (sixteen, or eight without AVX-512), then for the next ones. So the rows of the wave that they
 * use stay in the host's vector registers from one instruction to the next. Of stencils for strips it is
 * known what each instruction of the host reads and writes (mkstrip.h). Not here: which instructions can be
 * together (block.c). */
#ifndef GFXSIM_TRANSLATE_STRIP_H
#define GFXSIM_TRANSLATE_STRIP_H

#include "isa/wave.h"
#include "translate/emit.h"
#include "translate/live.h"

/* What a strip's instructions have to do with scalar registers. Each sees the bits of its lanes in masks, so
 * masks may be made and used in a strip; but what is read as a whole must not change there. (Masks are the
 * same or apart: decoding gives pairs even numbers.) */
typedef struct gs_strip_scalars {
  gs_scalar_set_t values, written;
  gs_scalar_set_t masks; /* the first register of each that is written */
} gs_strip_scalars_t;

/* Whether an instruction of a strip is a scalar one, which moves a mask or combines two. */
static inline bool gs_strip_is_mask_op(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_SOP1 || in->op->encoding == GS_ENC_SOP2;
}
/* Whether a scalar instruction combines a mask that instructions before it have written: only then is it for
 * strips. */
bool gs_strip_has_mask_of(const gs_strip_scalars_t *scalars, const gs_inst_t *in);
/* Adds an instruction for waves of `lanes` lanes, or returns false: it cannot be in a strip with those before
 * it. */
bool gs_strip_scalars_add(gs_strip_scalars_t *scalars, const gs_inst_t *in, unsigned lanes);

/* ---- Values of a strip's lanes ---- */

enum { GS_STRIP_VALUES = 1536, GS_STRIP_HASHES = 512, GS_STRIP_MASKS = GS_STRIP_KEPT, GS_STRIP_GENERALS = 3 };
enum { GS_STRIP_FOURS = 128, GS_STRIP_ASSUMED = 128 };

typedef enum gs_strip_kind {
  GS_VALUE_NOTHING,
  GS_VALUE_OP,       /* what an instruction of a stencil makes */
  GS_VALUE_ROW,      /* what the row `number` has when the strip begins */
  GS_VALUE_SCALAR,   /* the scalar register `number` in all lanes */
  GS_VALUE_CONSTANT, /* `number` in all lanes */
  /* What load `number` / 256 has in its vector `number` % 128 of memory. GS_STRIP_FOURS are loads of four
     dwords: the first pairs of lanes and their second ones, in the order of halves that are joined. */
  GS_VALUE_LOAD,
  GS_VALUE_MASK,       /* the mask `number` behind the wave's begin, as it is when the strip begins */
  GS_VALUE_MASK_BITS,  /* a mask in the general register `number` */
  GS_VALUE_STORE,      /* no value: what RM is becomes the row `number` */
  GS_VALUE_STORE_MASK, /* no value: what REG is, or a general register, becomes a mask */
  GS_VALUE_GUARD_MASK, /* no value: REG must have no lanes */
  GS_VALUE_GUARDED,    /* no value: leaves the strip if it has one */
} gs_strip_kind_t;

typedef struct gs_strip_value {
  const gs_op_t *op;
  const gs_patch_t *pool;             /* a distance to a constant of the compiler, at `pool_at` in the code */
  int16_t src[GS_FIELDS];             /* values that are read, by their places; -1 = none */
  int16_t general[GS_STRIP_GENERALS]; /* values in general registers that are read */
  int16_t same;                       /* the first value that is the same */
  int16_t next;                       /* of the same hash */
  uint32_t number;
  uint8_t general_count, kind, size, pool_at;
  uint8_t half;     /* of two strips at once: 1 = the second one's */
  bool is_lanes;    /* every lane has all bits or none */
  uint8_t role;     /* the class of its register; 0 = a general one, or none */
  uint8_t code[16]; /* with registers 0 */
} gs_strip_value_t;

typedef struct gs_strip_mask {
  uint32_t at;          /* bytes from the wave's begin to the scalar register */
  int16_t value, store; /* the value, and who stores it if nobody loads it from memory; -1 = none */
} gs_strip_mask_t;

/* A strip in the making. */
typedef struct gs_strip {
  gs_strip_value_t value[GS_STRIP_VALUES]; /* in the order in which they can be made */
  unsigned count;
  int16_t hash[GS_STRIP_HASHES];
  int16_t row[GS_VGPRS],
      row_store[GS_VGPRS]; /* values of rows, and who stores them; -1 = not known, nobody */
  gs_strip_mask_t mask[GS_STRIP_MASKS];
  unsigned mask_count;
  int8_t pinned[GS_STRIP_VALUES];    /* the register that has a value all the time; -1 = none */
  int16_t assumed[GS_STRIP_ASSUMED]; /* values that are right if they are no NaNs */
  bool is_guarded[GS_STRIP_VALUES];  /* of those: it is looked at */
  unsigned assumed_count, guard_count;
  size_t guard;      /* where the code has the distance to what is done if one is */
  uint8_t mask_role; /* of registers that have masks: those for masks, or vector registers, each of whose
                        lanes has all bits or none */
  bool assumes;
  int load; /* the instruction in hand is this load; -1 = none */
  bool loads_fours;
  bool is_full;
} gs_strip_t;

/* Begins a strip of stencils of that table, which may assume that results are no NaNs: see gs_strip_assume.
 */
void gs_strip_begin(gs_strip_t *strip, const gs_stencil_table_t *table, bool assumes);
/* Adds an instruction. */
void gs_strip_stencil(gs_strip_t *strip, const gs_emitter_t *e, const gs_stencil_t *stencil,
                      const gs_inst_t *in, const uint64_t values[GS_HOLE_VALUES]);
/* Adds the load number `load`, by a stencil whose first operand is the memory. */
void gs_strip_load(gs_strip_t *strip, const gs_emitter_t *e, const gs_stencil_t *stencil, const gs_inst_t *in,
                   const uint64_t values[GS_HOLE_VALUES], unsigned load);
/* Stores a row's value to another one, too. */
void gs_strip_copy_row(gs_strip_t *strip, unsigned row, unsigned to);
/* Leaves all registers of the wave as they are: copies are all that is stored. */
void gs_strip_copies_only(gs_strip_t *strip);
/* Leaves registers as they are that are not among those that matter, of waves of `lanes` lanes; masks are
 * taken out of `scalars`, too. */
void gs_strip_live_only(gs_strip_t *strip, const gs_live_set_t *live, unsigned lanes,
                        gs_strip_scalars_t *scalars);
/* To be called behind the two above, of a strip that may assume something: that results are no NaNs, and what
 * stencils store no lanes of to gs_wave_t.strip_guard. Registers are written last then, when all that
 * was assumed is known to be so, and else not at all. Returns false where it can't be done so: the strip is
 * to be made anew. Where nothing was assumed, there is nothing to do. */
bool gs_strip_assume(gs_strip_t *strip);
/* What was assumed is not so: the code that is written now is for this strip and those behind it. */
void gs_strip_land(gs_emitter_t *e, size_t guard);
/* Makes it two strips at once, of which each instruction does not wait for the other's; returns false where
 * that can't be, or there are too few registers. To be called before the next two, of waves with all lanes.
 */
bool gs_strip_double(gs_strip_t *strip, gs_emitter_t *e);
/* Writes code before the first strip, which makes values that are the same in all of them. To be called when
 * all instructions are there. */
void gs_strip_hoist(gs_strip_t *strip, gs_emitter_t *e);
/* Writes the strip's code, at whose begin and end all rows are in memory. Returns false if there was no room
 * for all values: the strip has too many instructions. */
bool gs_strip_end(gs_strip_t *strip, gs_emitter_t *e);
/* Goes on to what the next strip loads. */
void gs_strip_next_loads(gs_emitter_t *e, unsigned loads);
/* What is left to do where no lane is active: masks that are written have no bits there. */
void gs_strip_idle(const gs_strip_scalars_t *scalars, gs_emitter_t *e);
/* Adds what comes behind the last strip of a wave: masks that were written in parts are written as a whole.
 * Processors keep who reads them as such waiting for everything that was stored before, otherwise. */
void gs_strip_join_masks(const gs_strip_scalars_t *scalars, gs_emitter_t *e, unsigned lanes);

#endif
