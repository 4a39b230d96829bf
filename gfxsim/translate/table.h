/* Stencils as data: what mkstencils makes of the object files at build time, one table for each level of host
 * instruction set and width of a wave. Not here: how they are joined (block.h). */
#ifndef GFXSIM_TRANSLATE_TABLE_H
#define GFXSIM_TRANSLATE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* What belongs into a hole: gs_hole_row_src0 in a stencil is GS_HOLE_ROW_SRC0 here, and so on. */
typedef enum gs_hole {
  GS_HOLE_ROW_SRC0, /* bytes from the first vector register to this one */
  GS_HOLE_ROW_SRC1,
  GS_HOLE_ROW_SRC2,
  GS_HOLE_ROW_DST,
  GS_HOLE_ROW_SDST,
  GS_HOLE_SGPR_SRC0, /* bytes from the wave's state to this scalar register */
  GS_HOLE_SGPR_SRC1,
  GS_HOLE_SGPR_SRC2,
  GS_HOLE_SGPR_DST,
  GS_HOLE_SGPR_SDST,
  GS_HOLE_SCC,        /* likewise to SCC */
  GS_HOLE_VALUE_SRC0, /* the constant */
  GS_HOLE_VALUE_SRC1,
  GS_HOLE_VALUE_SRC2,
  GS_HOLE_KEEP_SRC0, /* modifiers, see gs_change_t in isa/hole.h */
  GS_HOLE_KEEP_SRC1,
  GS_HOLE_KEEP_SRC2,
  GS_HOLE_FLIP_SRC0,
  GS_HOLE_FLIP_SRC1,
  GS_HOLE_FLIP_SRC2,
  GS_HOLE_SHIFT_SRC0,
  GS_HOLE_SHIFT_SRC1,
  GS_HOLE_SHIFT_SRC2,
  GS_HOLE_IMM,
  GS_HOLE_IMM1,
  GS_HOLE_IN,     /* address of the decoded instruction */
  GS_HOLE_FN,     /* of its handler */
  GS_HOLE_PC,     /* of the next instruction, as the device sees it */
  GS_HOLE_NOTE,   /* number of its note of ranges (isa/memory.h) */
  GS_HOLE_TARGET, /* where a branch goes, likewise */
  GS_HOLE_CELL,   /* address of that place's cell */
  GS_HOLE_COUNT,  /* instructions of the block */
  GS_HOLE_REST,   /* of them that are left behind this one */
  GS_HOLE_VALUES,
  /* Addresses in code. */
  GS_HOLE_NEXT = GS_HOLE_VALUES, /* behind the stencil */
  GS_HOLE_TAKEN,                 /* where its branch goes */
  GS_HOLE_POOL,                  /* constants of the compiler */
  GS_HOLE_EXTERN,                /* a function of the program, whose number is the addend */
  GS_HOLES
} gs_hole_t;

/* How it is written: all 32 bits, 32 that are sign-extended, 64, or 32 as a distance from the patch. */
typedef enum gs_patch_form {
  GS_PATCH_32,
  GS_PATCH_32S,
  GS_PATCH_64,
  GS_PATCH_DISTANCE,
  GS_PATCH_SCALAR_READ, /* the displacement of a move that can be one between the host's registers: cache.h */
  GS_PATCH_SCALAR_WRITE,
  GS_PATCH_PAIR_READ, /* likewise, of 64 bits */
  GS_PATCH_PAIR_WRITE,
} gs_patch_form_t;

typedef struct gs_patch {
  uint16_t at;  /* bytes from the stencil's begin */
  uint8_t form; /* gs_patch_form_t */
  uint8_t hole; /* gs_hole_t */
  int32_t addend;
} gs_patch_t;

/* What is known of an instruction of the host in a stencil for strips (strip.h). */
typedef enum gs_op_kind {
  GS_OP_PLAIN,
  GS_OP_COPY,       /* of a whole vector register */
  GS_OP_UNPACK_LOW, /* joins halves of 64-bit values, half of the lanes each */
  GS_OP_UNPACK_HIGH,
  GS_OP_PICK_LOW, /* undoes that: all low halves, or all high ones */
  GS_OP_PICK_HIGH,
  GS_OP_ROW_OF_MASK,     /* all bits of a lane are its bit in a mask */
  GS_OP_MASK_OF_ROW,     /* back */
  GS_OP_MASK_OF_GENERAL, /* the low bits of a general register */
  GS_OP_SET_GENERAL,     /* a constant */
  GS_OP_BROADCAST,       /* a general register in all lanes */
  GS_OP_ZERO,
  GS_OP_ONES,
  GS_OP_LOGIC, /* any function of the bits of three operands, whose table the last byte is */
  GS_OP_AND,
  GS_OP_SUM,     /* or difference, or disjunction: the first operand if the second one is zero */
  GS_OP_PRODUCT, /* of floats */
  GS_OP_FMA,     /* vfmadd231 */
  GS_OP_UNORDERED,
  GS_OP_NO_LANES, /* a mask */
  GS_OP_MERGE,    /* a vector register, where a mask says so */
  /* Where there are no registers for masks: */
  GS_OP_BITS_OF_ROW,  /* the first bits of all lanes in a general register */
  GS_OP_ROW_OF_BITS,  /* back: all bits of a lane are the general register's bit. A sign for more than one
                         instruction (isa/lanes.h) */
  GS_OP_FROM_GENERAL, /* a general register in the first lane */
  GS_OP_SPREAD,       /* the first lane in all lanes */
  GS_OP_COMPARE,      /* all bits of a lane, or none */
  GS_OP_EITHER,       /* disjunction, or exclusive: the first operand if the second one is zero */
} gs_op_kind_t;

typedef enum gs_op_memory {
  GS_MEMORY_NONE,
  GS_MEMORY_ROW,  /* a row of a vector register, or a part that begins there */
  GS_MEMORY_MASK, /* a strip's bits of a mask in scalar registers, which are loaded or stored */
  GS_MEMORY_SAME, /* what does not change in a strip */
} gs_op_memory_t;

/* Where an instruction has registers. */
typedef enum gs_op_field { GS_FIELD_REG, GS_FIELD_V, GS_FIELD_RM, GS_FIELD_MASK, GS_FIELDS } gs_op_field_t;
/* What is there: a vector register or a mask register, which strips give another number, and whether it is
 * read and written. One that is neither may be any. */
enum { GS_ROLE_VECTOR = 1, GS_ROLE_MASK = 2, GS_ROLE_READ = 4, GS_ROLE_WRITE = 8 };
enum { GS_NO_PATCH = 0xff };

typedef struct gs_op {
  uint8_t size; /* bytes */
  uint8_t kind, memory;
  uint8_t patch;        /* the stencil's patch that is in it, or GS_NO_PATCH */
  uint8_t displacement; /* where the memory's is */
  uint8_t is_vex; /* else it is EVEX, or has no registers that get other numbers. On vector registers it has
                     the long prefix */
  uint8_t role[GS_FIELDS], number[GS_FIELDS];
  uint16_t reads, writes; /* general registers, a bit for each */
} gs_op_t;

typedef struct gs_stencil {
  uint32_t
      name; /* where it begins in the table's: v_add_u32__VV_full: the handler, kinds of operands, lanes */
  uint32_t code; /* where its code begins in the table's */
  uint16_t size; /* bytes */
  uint16_t patch_count;
  uint32_t first_patch;
  uint32_t first_op; /* of a stencil for strips */
  uint16_t op_count;
} gs_stencil_t;

typedef void gs_extern_t(void);

/* Immutable data, without addresses that the dynamic linker would have to fill in at every start. */
typedef struct gs_stencil_table {
  const gs_stencil_t *stencils; /* by name, as strcmp orders them */
  size_t stencil_count;
  const char *names;
  const uint8_t *code;
  const gs_patch_t *patches;
  const gs_op_t *ops;
  const uint8_t *pool; /* to be copied to a multiple of GS_POOL_ALIGNMENT near the code */
  size_t pool_bytes;
  gs_extern_t *const *externs;
  size_t extern_count;
  unsigned lanes;       /* of the waves that they are for */
  unsigned strip_lanes; /* of strips: 16, or 8, whose masks are in vector registers */
} gs_stencil_table_t;

enum { GS_POOL_ALIGNMENT = 64 };

/* The stencil of this name, or NULL. */
const gs_stencil_t *gs_stencil_find(const gs_stencil_table_t *table, const char *name);

#endif
