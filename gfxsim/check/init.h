/* The tool "init": uninitialised values that matter. Each bit of registers and memory has a bit that says
 * whether it is undefined; instructions carry these along. Shared by the tool's files: init.c (which
 * instruction is followed how), init_flow.c (through registers), init_memory.c (to and from memory),
 * init_rules.c (what differs between instructions), init_report.c (where values came from, and what is said).
 * Not here: device memory (init_shadow.h). */
#ifndef GFXSIM_CHECK_INIT_H
#define GFXSIM_CHECK_INIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "check/init_shadow.h"
#include "isa/memory.h"

/* ---- Where undefined values came from ---- */

typedef enum gs_source {
  GS_SOURCE_VECTOR, /* register `detail`, which nobody wrote */
  GS_SOURCE_SCALAR,
  GS_SOURCE_LOCAL,   /* LDS at offset `detail` */
  GS_SOURCE_PRIVATE, /* a work-item's own memory at offset `detail` */
  GS_SOURCE_DEVICE,  /* memory at address `detail` */
  GS_SOURCE_STORED,  /* by a kernel; the value is that of the origin `detail` */
} gs_source_t;

enum { GS_MOST_ORIGINS = 1 << 14 };

/* One place in the program that read something undefined, or stored it. */
typedef struct gs_origin {
  gs_source_t source;
  uint64_t pc;            /* behind the instruction that did */
  uint64_t key;           /* what makes it another one at the same instruction */
  uint64_t detail;        /* of the first time */
  int64_t in_frame;       /* PRIVATE: `detail` behind the base of the function's frame */
  gs_block_note_t *block; /* DEVICE: that `detail` is in; NULL = none */
} gs_origin_t;

/* ---- Rules ---- */

/* How the undefined bits of a result follow from those of the operands. Where a handler can tell, it is
 * asked: it executes the instruction with several choices of the undefined bits, and bits that differ are
 * undefined. */
typedef enum gs_flow {
  GS_FLOW_COARSE,  /* all bits, if any bit of an operand is (of the same lane) */
  GS_FLOW_BITS,    /* those that differ */
  GS_FLOW_SUM,     /* and those that are undefined in an operand, as carries may hide them */
  GS_FLOW_UP,      /* and all above the lowest that differs: products */
  GS_FLOW_DOWN,    /* and all below the highest that differs: minimum, maximum */
  GS_FLOW_ALL,     /* all bits, if one differs */
  GS_FLOW_COMPARE, /* those that differ, operands that could be equal being tried, too */
  GS_FLOW_MATRIX,  /* all bits of all lanes, if any bit of any lane is */
} gs_flow_t;

/* Instructions that are followed in their own way. */
typedef enum gs_special {
  GS_SPECIAL_NONE,
  GS_SPECIAL_READLANE,
  GS_SPECIAL_WRITELANE,
  GS_SPECIAL_SWAP,
  GS_SPECIAL_JUMP,     /* to its operand */
  GS_SPECIAL_INDEXED,  /* by M0: any scalar register may be meant */
  GS_SPECIAL_RELATIVE, /* by M0: another vector register is meant */
  GS_SPECIAL_INDEX,    /* its operand indexes registers from now on */
  GS_SPECIAL_BRANCH,   /* on `condition` */
  GS_SPECIAL_EXCHANGE, /* between lanes, by LDS's network */
  GS_SPECIAL_NOTHING,  /* is followed: the results are taken for defined */
  GS_SPECIAL_DEFINED,  /* whose results count as defined: rare, and with more registers than are followed */
} gs_special_t;

typedef enum gs_condition { GS_CONDITION_NONE, GS_CONDITION_SCC, GS_CONDITION_VCC } gs_condition_t;

/* What becomes of the undefined bits of memory and the operand of an atomic. */
typedef enum gs_mix {
  GS_MIX_ANY,     /* all bits, if any is undefined */
  GS_MIX_SWAP,    /* the operand's */
  GS_MIX_BITS,    /* either's */
  GS_MIX_UP,      /* all above the lowest */
  GS_MIX_COMPARE, /* as for ANY, but for what compilers carry along */
} gs_mix_t;

typedef struct gs_flow_rule {
  uint8_t flow;    /* gs_flow_t */
  uint8_t special; /* gs_special_t */
  uint8_t amounts; /* operands, a bit each, that choose bits: undefined, they make all of the result so */
  uint32_t amount_bits; /* those of their bits that do */
  uint8_t condition;
  uint8_t mix;
  uint8_t dwords[3], dst; /* of the operands in registers */
  bool reads_vcc, half, formatted;
  bool crosses;   /* a lane reads what another has, active or not */
  uint8_t narrow; /* bytes of a load or store of less than a dword, or 0 */
  bool is_signed;
  uint16_t part;       /* of VOPD: the row of the part as an instruction by itself, */
  gs_op_fn_t *part_fn; /* and its handler */
} gs_flow_rule_t;

typedef struct gs_init {
  struct gs_check *check;
  gs_bits_t memory;
  gs_flow_rule_t *rules; /* in the order of gs_opcodes */
  pthread_mutex_t lock;  /* of `origin` */
  gs_origin_t *origin;   /* by number, a hash table; 0 is none */
} gs_init_t;

/* Makes the rules of all instructions, in the order of gs_opcodes; the caller frees them. NULL: no memory. */
gs_flow_rule_t *gs_flow_make_rules(void);

/* ---- Registers ---- */

/* One access to memory of the instruction in hand. */
typedef struct gs_touch {
  bool local; /* LDS: at[] has offsets */
  uint64_t lanes;
  uint32_t bytes, step;
  bool whole;                   /* [at[0], at[0] + size) holds all of it, and nothing else */
  uint64_t size;                /* of `whole` */
  uint32_t stride;              /* of `whole`: lanes are so far apart */
  _Alignas(64) uint64_t at[64]; /* not filled of `whole`, but for the first */
} gs_touch_t;

enum { GS_MOST_TOUCHES = 6, GS_FLOW_WORDS = GS_VGPRS / 64, GS_SCALAR_WORDS = (GS_SGPRS + 63) / 64 };

/* LDS of a workgroup. */
typedef struct gs_local {
  uint32_t bytes;
  uint32_t origin[(64 << 10) / 4];
  uint8_t bits[64 << 10];
} gs_local_t;

/* What is undefined in the registers of a wave. */
typedef struct gs_wave_flow {
  gs_local_t *local;
  uint64_t rows[GS_FLOW_WORDS];  /* vector registers with undefined bits; what `bits` has of others is old */
  uint64_t fresh[GS_FLOW_WORDS]; /* of those, the ones of which all bits are, and `bits` does not say so */
  uint64_t scalars[GS_SCALAR_WORDS]; /* scalar registers with undefined bits */
  uint64_t all;                      /* lanes of the wave: the bits of others are never looked at */
  uint32_t s[GS_SGPRS], s_origin[GS_SGPRS];
  uint32_t scc, scc_origin;
  const gs_inst_t *in; /* that touches memory */
  unsigned touches;
  gs_touch_t touch[GS_MOST_TOUCHES];
  gs_row_t old[2]; /* undefined bits that an atomic found in memory */
  gs_row_t old_origin;
  gs_row_t bits[GS_VGPRS], origin[GS_VGPRS];
} gs_wave_flow_t;

static inline gs_wave_flow_t *gs_wave_flow(const gs_wave_t *w) {
  return w->flow;
}
static inline gs_init_t *gs_init_of(const gs_wave_t *w) {
  return gs_check_of(w)->init;
}

/* init_flow.c. All on the thread that runs the wave, w->pc being behind the instruction in hand. */
/* Whether any of `count` registers from `reg` on has undefined bits. */
bool gs_flow_any_row(const gs_wave_flow_t *f, unsigned reg, unsigned count);
bool gs_flow_any_scalar(const gs_wave_flow_t *f, unsigned reg, unsigned count);
/* Makes `bits` and `origin` of a row say what is. */
void gs_flow_fill(gs_wave_flow_t *f, unsigned reg);
/* Undefined bits of a row in these lanes. */
uint64_t gs_flow_lanes(const gs_wave_flow_t *f, unsigned reg, uint64_t lanes);
/* The lanes of the row became defined. */
void gs_flow_define(gs_wave_flow_t *f, unsigned reg, uint64_t lanes);
void gs_flow_define_scalars(gs_wave_flow_t *f, unsigned reg, unsigned count);
/* Looks at a row anew after its `bits` were changed in some lanes. */
void gs_flow_settle(gs_wave_flow_t *f, unsigned reg);
void gs_flow_set_scalar(gs_wave_flow_t *f, unsigned reg, uint32_t bits, uint32_t origin);
/* Origin of what is undefined in a lane of a row, or in a scalar register. */
uint32_t gs_flow_origin(gs_wave_t *w, unsigned reg, unsigned lane);
uint32_t gs_flow_scalar_origin(gs_wave_t *w, unsigned reg);
/* Executes an instruction that touches registers only, and follows it. */
void gs_flow_scalar(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule);
void gs_flow_vector(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule);
void gs_flow_dual(gs_wave_t *w, const gs_inst_t *in);

/* init_memory.c: executes an instruction that touches memory, and follows it; and what it needs of the
 * watcher. */
void gs_flow_memory(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule);
void gs_flow_scalar_memory(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule);
void gs_touch_lanes(gs_wave_t *w, const gs_access_t *a);
void gs_touch_mixed(gs_wave_t *w, const gs_access_t *a);
void gs_touch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                    bool scalar);
void gs_touch_local(gs_wave_t *w, const gs_access_t *a);
void gs_touch_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride, uint32_t rights);

/* Whether the host can read there: what becomes of values there can't be seen. */
bool gs_init_host_sees(const gs_vm_map_t *map, uint64_t address);

/* init_report.c. */
typedef enum gs_use {
  GS_USE_CONDITION, /* of a branch */
  GS_USE_MASK,      /* which lanes go on */
  GS_USE_ADDRESS,
  GS_USE_INDEX, /* of a register */
  GS_USE_JUMP,  /* where to */
  GS_USE_HOST,  /* stored where the host reads it */
} gs_use_t;
/* The number of an origin, which is a new one or was met before. 0 when there is no room. */
uint32_t gs_origin_meet(gs_wave_t *w, gs_source_t source, uint64_t key, uint64_t detail);
/* The host gets [start, end) of the program's memory by a copy: tells of values in it that kernels stored and
 * that are undefined. On any thread. */
void gs_init_report_copy(gs_check_t *check, uint64_t start, uint64_t end);
/* The instruction in hand uses an undefined value, in `lanes` (of which the first is told of). */
void gs_init_report(gs_wave_t *w, const gs_inst_t *in, gs_use_t use, uint64_t lanes, uint32_t origin);

/* init.c. */
/* Makes the tool, and lets it watch. Returns 0, or -1 when out of memory. */
int gs_init_create(gs_check_t *check) __attribute__((warn_unused_result));
/* Fills what the tool wants of an instruction's digest (digest.h), behind the registers. Returns whether the
 * instruction may pass. */
struct gs_digest;
gs_passing_t gs_digest_flow(const gs_init_t *init, const gs_inst_t *in, struct gs_digest *digest);

/* init_pass.c. */
/* What a block has to do with what is undefined, as seen from before it. */
typedef struct gs_init_sum {
  uint64_t rows[GS_FLOW_WORDS]; /* those that are in any of the sets below */
  uint64_t read[GS_FLOW_WORDS]; /* has to be defined in the lanes that are active before the block, */
  uint64_t all[GS_FLOW_WORDS];  /* in all lanes, */
  uint64_t late[GS_FLOW_WORDS]; /* or in all if not all lanes are active, as the block itself defines it */
  uint64_t made[GS_FLOW_WORDS]; /* becomes defined in the lanes that are active before the block */
  uint64_t scalars[2], read_scalars[2], made_scalars[2];
  bool reads_scc, makes_scc;
} gs_init_sum_t;
/* Sums up a block of instructions that may pass, for waves of that target. */
void gs_init_sum(const gs_init_t *init, gs_target_t target, gs_init_sum_t *sum, const gs_passage_t *block,
                 unsigned count);
/* Whether the block reads nothing that is undefined in the wave. */
bool gs_init_may_pass(const gs_wave_t *w, const gs_init_sum_t *sum);
/* The block, which may pass, counts as done: what it writes is defined. */
void gs_init_pass(gs_wave_t *w, const gs_init_sum_t *sum);
/* Accepts a checker without it. */
void gs_init_destroy(gs_check_t *check);
/* Memory of the program [start, end), to which only devices write, has come and holds nothing, or went.
 * Thread-safe. */
void gs_init_came(gs_check_t *check, uint64_t start, uint64_t end);

#endif
