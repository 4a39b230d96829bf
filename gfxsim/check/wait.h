/* The tool "wait": registers that are used before what was asked for is in them, and wait states that the
 * hardware leaves to the program. Shared by the tool's files: wait.c (what is outstanding), wait_operands.c
 * (what an instruction reads and writes), wait_states.c (the table of wait states), wait_report.c (what is
 * said), wait_pass.c (blocks that nobody has to see), wait_late.c (strictness of this name: registers that
 * get what was loaded when that was waited for, and not before). Not here: what instructions do; without
 * strictness results are what they are without the tool. */
#ifndef GFXSIM_CHECK_WAIT_H
#define GFXSIM_CHECK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "check/sweep.h"
#include "exec/internal.h"
#include "isa/memory.h"

/* ---- What an instruction reads and writes ---- */

/* Which operand it is, where that matters. */
typedef enum gs_role {
  GS_ROLE_OTHER,
  GS_ROLE_C,    /* third operand of a matrix or dot instruction: the sum so far */
  GS_ROLE_LANE, /* number of a lane */
  GS_ROLE_DATA, /* what is stored */
  GS_ROLE_MASK, /* a carry, or what v_cndmask and v_div_fmas choose by */
} gs_role_t;

/* Of one register: which half of it is read or written, where that is known. */
typedef enum gs_half { GS_HALF_BOTH, GS_HALF_LOW, GS_HALF_HIGH } gs_half_t;

/* Registers of one operand. */
typedef struct gs_operand {
  uint16_t first, count;
  bool vector, writes;
  uint8_t role;   /* gs_role_t */
  uint8_t half;   /* gs_half_t */
  uint64_t lanes; /* of vector registers */
} gs_operand_t;

/* A pair that adds two products to each of its destinations; and memory, of which the result is the last. */
enum { GS_MOST_USES = 10, GS_MOST_MEMORY_USES = 5 };

typedef struct gs_uses {
  unsigned count;
  uint8_t counters, line; /* of an operation of memory: in which it counts, and in which it has its place */
  bool
      passes_local; /* a flat one that comes to no LDS, where they come in order: it has a place there, too */
  gs_operand_t use[GS_MOST_USES];
} gs_uses_t;

/* A set of rows of the table of wait states: a bit each. */
__extension__ typedef unsigned __int128 gs_rows_t;
enum { GS_MOST_ROWS = 128 };

/* Kinds of instructions that wait states are about, a bit each. */
enum {
  GS_KIND_VALU = 1 << 0, /* vector arithmetic, matrices too */
  GS_KIND_SALU = 1 << 1,
  GS_KIND_VMEM = 1 << 2, /* buffer, flat, global, scratch */
  GS_KIND_DS = 1 << 3,
  GS_KIND_DPP = 1 << 4,
  GS_KIND_DIV_FMAS = 1 << 5,
  GS_KIND_LANE = 1 << 6, /* v_readlane, v_writelane; the other two apart */
  GS_KIND_GETREG = 1 << 7,
  GS_KIND_SETREG = 1 << 8,
  GS_KIND_USES_M0 = 1 << 9, /* s_sendmsg and others of those that the hardware does not keep from an old M0 */
  GS_KIND_WIDE_STORE = 1 << 10, /* more than 64 bits from vector registers to memory */
  GS_KIND_VCCZ = 1 << 11,       /* VALU with VCCZ as an operand */
  GS_KIND_FMA64 = 1 << 12,      /* v_fma_f64, v_fmac_f64 */
  GS_KIND_DOT = 1 << 13,
  GS_KIND_ACC_READ = 1 << 14, /* v_accvgpr_read */
  GS_KIND_ACC_WRITE = 1 << 15,
  GS_KIND_XDL = 1 << 16,     /* matrix instructions but those of doubles and, on gfx942, of floats */
  GS_KIND_XDL_2 = 1 << 17,   /* of those, the ones of two passes */
  GS_KIND_SGEMM = 1 << 18,   /* of floats, on gfx942 */
  GS_KIND_DMFMA_4 = 1 << 19, /* of doubles, by their passes */
  GS_KIND_DMFMA_16 = 1 << 20,
  GS_KIND_LEGACY = 1 << 21,  /* other VALU instructions */
  GS_KIND_EXECZ = 1 << 22,   /* VALU with EXECZ as an operand */
  GS_KIND_TRANS = 1 << 23,   /* exponentials, roots and the like */
  GS_KIND_SHIFTED = 1 << 24, /* VALU whose result goes to a part of the register (SDWA, op_sel) */
  GS_KIND_FIRSTLANE = 1 << 25,
  GS_KIND_READLANE = 1 << 26,
  GS_KIND_WMMA = 1 << 27,     /* matrix instructions of gfx11 */
  GS_KIND_PERMLANE = 1 << 28, /* v_permlane16, v_permlanex16, v_permlane64 */
  GS_KIND_XDL_LONG = 1 << 29, /* of GS_KIND_XDL, the ones of more than two passes */
  GS_KIND_SWAP = 1 << 30,     /* v_permlane16_swap, v_permlane32_swap */
  GS_KIND_SMFMA = GS_KIND_XDL | GS_KIND_SGEMM,
  GS_KIND_DMFMA = GS_KIND_DMFMA_4 | GS_KIND_DMFMA_16,
  GS_KIND_MFMA = GS_KIND_SMFMA | GS_KIND_DMFMA,
};

/* The parts that the tool knows. */
enum { GS_WAIT_TARGETS = GS_GFX9_11 };

/* Counters that s_waitcnt waits for, a bit each: vmcnt, lgkmcnt, and vscnt, with which gfx10 counts what
 * returns nothing. expcnt counts what no kernel can execute here: stores need it no more, and only exports
 * and global data share are left. */
enum { GS_COUNTER_VM = 1, GS_COUNTER_LGKM = 2, GS_COUNTER_VS = 4, GS_COUNTER_END = 8 };

/* Operations of one of these come to their end in the order in which they began, of others not. */
typedef enum gs_line {
  GS_LINE_NONE,          /* in no order at all: scalar memory */
  GS_LINE_FLAT,          /* likewise: it may be either's, and both counters go down when they like */
  GS_LINE_FLAT_IN_ORDER, /* likewise, but in each counter in the order of what it may be: gfx10 */
  GS_LINE_VECTOR,        /* vector memory: loads, stores and atomics */
  GS_LINE_LOCAL,         /* LDS */
  GS_LINE_MESSAGE,
} gs_line_t;

typedef enum gs_step {
  GS_STEP_ONE,
  GS_STEP_IDLE,    /* s_nop */
  GS_STEP_WAIT,    /* s_waitcnt */
  GS_STEP_WAIT_VS, /* s_waitcnt_vscnt: one counter */
  GS_STEP_WAIT_VM,
  GS_STEP_WAIT_LGKM,
  GS_STEP_WAIT_ALL,     /* s_wait_idle */
  GS_STEP_WAIT_RESULTS, /* s_waitcnt_depctr: of what is under way in the compute unit */
  GS_STEP_BARRIER,
  GS_STEP_END,  /* s_endpgm */
  GS_STEP_JUMP, /* to another function */
} gs_step_t;

/* What is known of an opcode. */
typedef struct gs_wait_rule {
  uint32_t kinds;
  uint8_t counters; /* that it counts in */
  uint8_t line;
  uint8_t dst, src[3]; /* dwords of the operands in registers */
  uint8_t step;        /* gs_step_t */
  uint8_t passes;      /* of a matrix instruction */
  bool by_format;      /* twice as many if it multiplies bytes */
  uint32_t last_bits;  /* of the last register that a load writes: those that it does */
  uint8_t half;        /* gs_half_t, of its only register of data, on parts that tell halves apart */
  uint8_t by_m0;       /* 1: M0 is added to the number of the source, 2: of the destination */
  bool reads_vcc, swaps;
  struct {
    uint8_t all, real, trans, results; /* what gs_valus_t counts of it */
  } valus;
  gs_rows_t from, to; /* rows of the table of wait states that may begin, and end, with it */
  /* Of `from`, those that begin only if it writes a scalar register, VCC, EXEC, M0. */
  gs_rows_t from_scalar, from_vcc, from_exec, from_m0;
} gs_wait_rule_t;

/* Fills the rules of all instructions of the target, in the order of gs_opcodes; the rows apart. */
void gs_wait_fill_rules(gs_wait_rule_t *rules);
/* Kinds of one instruction, with those that its form and operands add. */
uint32_t gs_wait_kinds(const gs_inst_t *in, const gs_wait_rule_t *rule);
/* What the instruction reads and writes. Registers that it need not wait for are not among them: EXEC, and
 * those that the hardware looks after. */
void gs_wait_uses(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_uses_t *uses);
/* The same of an instruction of memory on a target, whatever lanes are active: fills uses->use alone, at most
 * GS_MOST_MEMORY_USES, each of all lanes. */
void gs_wait_uses_of_memory(gs_target_t target, const gs_inst_t *in, const gs_wait_rule_t *rule,
                            gs_uses_t *uses);
/* Leaves of them what is in these lanes. */
void gs_wait_mask_uses(gs_uses_t *uses, uint64_t lanes);
static inline bool gs_wait_is_memory(const gs_wait_rule_t *rule) {
  return rule->counters && !(rule->kinds & (GS_KIND_VALU | GS_KIND_SALU));
}

/* Sets uses->counters and uses->line of an operation of memory that is not executed yet: it may write over
 * its addresses. A flat access by which no lane comes to LDS is vector memory: its result comes with vmcnt,
 * and compilers of LLVM wait for no more where they know of it. */
void gs_wait_counts_in(const gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_uses_t *uses);

/* ---- Waves ---- */

/* An operation of memory that the wave has asked for and not waited for; or several, one behind the other, of
 * which nothing matters but how many they are: stores, mostly. */
typedef struct gs_pending {
  uint64_t pc; /* of the instruction */
  uint64_t lanes;
  uint16_t first, count; /* registers that it will write; none: 0 */
  bool vector;
  uint8_t counters; /* those by which it is not known to be over */
  uint8_t local;    /* slot of gs_group_waits_t.write, and 1 */
  uint8_t late;     /* slot of the wave's results that are kept back, and 1 */
  uint8_t line;
  uint8_t number;    /* of operations */
  uint8_t half;      /* gs_half_t, of what it will write */
  bool passes_local; /* as in gs_uses_t: it counts in `lgkm` until that says otherwise, though nobody waits */
} gs_pending_t;

/* VALU instructions that a wave has executed, in the ways in which rows of the table count them. */
typedef struct gs_valus {
  uint32_t all;
  uint32_t real;    /* but v_nop */
  uint32_t trans;   /* the transcendental ones */
  uint32_t results; /* all, and GS_MANY_VALUS wherever all their results are waited for */
} gs_valus_t;
enum { GS_MANY_VALUS = 64 };

static inline void gs_valus_add(gs_valus_t *valus, const gs_valus_t *more) {
  valus->all += more->all;
  valus->real += more->real;
  valus->trans += more->trans;
  valus->results += more->results;
}

/* What a wave did in the last wait states. */
typedef struct gs_done {
  uint64_t pc;
  gs_rows_t from; /* rows of the table that it begins */
  uint32_t clock, kinds;
  gs_valus_t valus;    /* the wave's, as its clock, when it was over */
  uint16_t v, v_count; /* vector registers that it wrote */
  uint16_t swapped;    /* another one, and 1; or 0 */
  uint16_t s, s_count; /* scalar registers */
  uint16_t c, c_count; /* vector registers that it goes on reading */
  uint16_t op;         /* row of gs_opcodes */
  uint16_t hwreg;
  uint8_t passes; /* of a matrix instruction */
  bool exec;      /* it wrote EXEC beside */
} gs_done_t;

/* A write to local memory, dword by dword. */
enum { GS_LOCAL_WRITES = 16, GS_LOCAL_DWORDS = 256 };
typedef struct gs_local_write {
  uint64_t pc;
  uint32_t epoch, over; /* others must not touch it from that many barriers of theirs on, to so many */
  uint16_t count;
  bool by_dma; /* its own wave must not, either */
  bool marked; /* in gs_group_waits_t.owner */
  bool is_row; /* dwords side by side, of which `at` has the first alone */
  uint16_t at[GS_LOCAL_DWORDS];
} gs_local_write_t;

enum { GS_MOST_PENDING = 80, GS_DONE_KEPT = 32, GS_MOST_STATES = 20, GS_MOST_PASSES = 16 };

/* What an operation has written to registers that do not show it yet. */
enum { GS_LATE_ROWS = 5, GS_LATE_SCALARS = 16, GS_LATE_SPOILED = GS_MOST_PENDING, GS_LATE_SLOTS };
typedef struct gs_late {
  gs_operand_t at;
  uint32_t last_bits; /* of the last register */
  union {
    gs_row_t row[GS_LATE_ROWS];
    uint32_t scalar[GS_LATE_SCALARS];
  };
} gs_late_t;

typedef struct gs_wave_waits {
  uint64_t vectors[GS_VGPRS / 64], scalars[(GS_SGPRS + 63) / 64]; /* registers that somebody will write */
  unsigned count, plain, passing;  /* of `pending`; operations of vector memory alone, and that pass LDS */
  uint8_t counted[GS_COUNTER_END]; /* by each counter */
  bool marked;                     /* any of these is */
  uint32_t clock;                  /* wait states since the wave began */
  gs_valus_t valus;                /* since then */
  uint32_t window;                 /* of `recent`: began then */
  gs_rows_t recent, old;           /* rows of the table that began since, and in the window before */
  /* Scalar registers that VALU instructions have written, likewise. */
  uint64_t recent_scalars[2], old_scalars[2];
  uint32_t done_count;
  struct gs_group_waits *group;
  unsigned index;                            /* in the group */
  uint32_t barriers;                         /* that it has come to */
  unsigned slot;                             /* of the last write to local memory */
  uint32_t marked_slots;                     /* of writes to it, a bit each: gs_local_write_t.marked */
  gs_local_write_t *recording;               /* of the instruction in hand, or NULL */
  gs_late_t *late;                           /* GS_LATE_SLOTS of them, or NULL: results come at once */
  uint64_t taken[(GS_LATE_SLOTS + 63) / 64]; /* of these; memory of others is not touched */
  gs_late_t *keeping;                        /* of the instruction in hand, or NULL */
  unsigned overwritten;         /* of the results kept, the last that it writes over, and 1; or 0 */
  gs_done_t done[GS_DONE_KEPT]; /* the last ones, by their number */
  gs_pending_t pending[GS_MOST_PENDING];
} gs_wave_waits_t;

typedef struct gs_group_waits {
  unsigned waves;
  unsigned marked; /* writes */
  gs_wave_waits_t wave[GS_GROUP_WAVES_MAX];
  uint16_t owner[(64 << 10) / 4]; /* of each dword: the write that is due there, see wait_local.c */
  gs_local_write_t write[GS_GROUP_WAVES_MAX][GS_LOCAL_WRITES];
  gs_late_t late[][GS_LATE_SLOTS]; /* by wave; none without that strictness */
} gs_group_waits_t;

/* wait.c: what s_waitcnt may leave of `counter` for `pending` to be over. */
unsigned gs_wait_allowed(const gs_wave_waits_t *waits, unsigned pending, unsigned counter);

/* ---- Local memory: wait_local.c ---- */

/* In front of an instruction of memory, and behind it: returns what gs_pending_t.local is. */
void gs_local_begin(gs_wave_waits_t *waits, const gs_inst_t *in, uint64_t pc);
unsigned gs_local_end(gs_wave_waits_t *waits);
/* The write is over. */
void gs_local_over(gs_wave_waits_t *waits, unsigned slot);
/* The wave has come to a barrier, or to its end. */
void gs_local_barrier(gs_wave_waits_t *waits);
void gs_local_finish(gs_wave_waits_t *waits);
/* Of the watcher. */
void gs_local_lanes(gs_wave_t *w, const gs_access_t *a);
void gs_local_mixed(gs_wave_t *w, const gs_access_t *a);
void gs_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride, uint32_t rights);

/* ---- Results that come late: wait_late.c ---- */

/* In front of an instruction of memory, and behind it: its result is kept back, and the registers hold what
 * `kind` (GS_LATE_*) says. Returns what gs_pending_t.late is. */
void gs_late_begin(gs_wave_t *w, const gs_wait_rule_t *rule, const gs_uses_t *uses);
unsigned gs_late_end(gs_wave_t *w, uint32_t kind);
/* Poison for the instruction in hand, in registers that it reads too early; and what was there again, but
 * for what it has written itself. */
void gs_late_spoil(gs_wave_t *w, const gs_operand_t *at);
void gs_late_mend(gs_wave_t *w);
static inline bool gs_late_is_taken(const gs_wave_waits_t *waits, unsigned slot) {
  return waits->taken[slot / 64] >> slot % 64 & 1;
}
/* It has been waited for. */
void gs_late_arrive(gs_wave_t *w, unsigned slot);

/* ---- Wait states ---- */

typedef enum gs_resource {
  GS_RESOURCE_NONE,     /* it is enough that both are there */
  GS_RESOURCE_READ,     /* a vector register that the first wrote, and the second reads */
  GS_RESOURCE_READ_C,   /* as the sum */
  GS_RESOURCE_READ_AB,  /* as any other operand */
  GS_RESOURCE_WRITE,    /* ... and the second writes, too */
  GS_RESOURCE_WRITE_C,  /* the first still reads, and the second writes */
  GS_RESOURCE_SCALAR,   /* a scalar register that the first wrote, and the second reads */
  GS_RESOURCE_CONSTANT, /* likewise, as neither a mask nor the number of a lane; EXEC is one, too */
  GS_RESOURCE_LANE,     /* as the number of a lane */
  GS_RESOURCE_VCC,
  GS_RESOURCE_EXEC,
  GS_RESOURCE_M0,
  GS_RESOURCE_HWREG, /* the same hardware register */
} gs_resource_t;

typedef enum gs_same {
  GS_SAME_ANY,
  GS_SAME_NEVER, /* not if both have exactly the same registers */
  GS_SAME_ONLY,
} gs_same_t;

/* What ends a row's time. But for the first it is that however many wait states there are. */
typedef enum gs_until {
  GS_UNTIL_STATES,  /* so many wait states */
  GS_UNTIL_VALU,    /* another VALU instruction */
  GS_UNTIL_REAL,    /* another one that is no v_nop */
  GS_UNTIL_RESULTS, /* a wait for results of VALU instructions, or six of these, or two transcendental ones */
} gs_until_t;

/* Two instructions that need wait states between them. */
typedef struct gs_hazard {
  uint16_t targets;
  int8_t states;
  uint8_t until;  /* gs_until_t */
  bool by_passes; /* so many more (or fewer) than the first one has passes */
  uint8_t resource, same;
  uint8_t opcode;    /* 1: only of the same opcode, 2: only of different ones */
  uint32_t from, to; /* GS_KIND_* of the first and the second */
  const char *what;  /* "a VALU instruction wrote" */
} gs_hazard_t;

/* Fills in the rules which rows begin and end with an opcode. */
void gs_states_fill_rules(gs_wait_rule_t *rules);
/* The same of one instruction on registers, and what is kept of it; false: nothing is. */
bool gs_states_digest(gs_target_t target, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_done_t *done,
                      gs_rows_t *from, gs_rows_t *to);
/* Those of the rows that may end with an instruction none of whose operands is a scalar register. */
gs_rows_t gs_states_without_scalars(gs_rows_t rows);
/* Those of the rows that want more wait states than that behind an instruction of so many passes. */
gs_rows_t gs_states_beyond(gs_rows_t rows, unsigned passes, unsigned states);
/* Whether one of the rows, which end with an instruction that has to do with these scalar registers, began in
 * the last wait states, so that it has to be looked at. */
bool gs_states_matter(const gs_wave_waits_t *waits, gs_rows_t to, const uint64_t *scalars);
/* Adds the scalar registers that it wrote to a set. */
void gs_states_mark(uint64_t *scalars, const gs_done_t *done);
/* Keeps that, of the instruction at `pc` that has been executed. */
void gs_states_keep(gs_wave_waits_t *waits, const gs_done_t *done, gs_rows_t from, uint64_t pc);
/* Rows of the table that began not long ago. */
static inline gs_rows_t gs_states_recent(gs_wave_waits_t *waits) {
  if (waits->clock - waits->window > GS_MOST_STATES) {
    const bool is_long = waits->clock - waits->window > 2 * GS_MOST_STATES;
    waits->old = is_long ? 0 : waits->recent;
    waits->recent = 0;
    for (unsigned i = 0; i < sizeof waits->old_scalars / sizeof *waits->old_scalars; i++) {
      waits->old_scalars[i] = is_long ? 0 : waits->recent_scalars[i];
      waits->recent_scalars[i] = 0;
    }
    waits->window = waits->clock;
  }
  return waits->recent | waits->old;
}

/* Looks whether the instruction comes too early behind one of the last. */
void gs_states_look(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, gs_rows_t rows,
                    const gs_uses_t *uses);
/* A scalar instruction has written these registers, which waits for what VALU instructions wrote to them. */
void gs_states_overwrite(gs_wave_waits_t *waits, unsigned first, unsigned count);
/* Remembers the instruction at `pc`, which has been executed. */
void gs_states_note(gs_wave_t *w, const gs_inst_t *in, const gs_wait_rule_t *rule, uint64_t pc);

/* ---- The tool ---- */

/* Tells of a use of what `pending` has not brought yet; and of an instruction that comes so many states
 * behind `first`, by what `use` (or NULL) shares with it. On the thread that runs the wave, whose program
 * counter is behind the instruction. */
typedef void gs_tell_use_t(gs_wave_t *w, const gs_inst_t *in, const gs_operand_t *use, unsigned pending);
typedef void gs_tell_states_t(gs_wave_t *w, const gs_inst_t *in, const gs_hazard_t *hazard,
                              const gs_done_t *first, const gs_operand_t *use, unsigned states);
/* How many wait states the row wants behind `first`. */
static inline unsigned gs_states_of(const gs_hazard_t *h, unsigned passes) {
  const int states = h->until ? GS_MOST_STATES : h->states + (int)(h->by_passes ? passes : 0);
  return states > 0 ? (unsigned)states : 0;
}

typedef struct gs_wait {
  /* Of the tool that does it, or NULL. */
  void (*execute)(gs_wave_t *w, const gs_inst_t *in, const void *digest);
  void (*begin)(gs_wave_t *w, const gs_begin_t *begin);
  gs_tell_use_t *tell_use; /* NULL: nothing is told, and registers are late alone */
  gs_tell_states_t *tell_states;
  uint32_t late;         /* GS_LATE_*, or 0: results are there at once */
  gs_wait_rule_t *rules; /* in the order of gs_opcodes */
  const gs_sweep_t *sweep;
} gs_wait_t;

/* wait.c: makes the tool, after all others; with `late` (GS_LATE_* or 0) registers get their values late, and
 * unless it `tells` that is all. Returns 0, or -1 when out of memory. */
int gs_wait_create(gs_check_t *check, bool tells, uint32_t late) __attribute__((warn_unused_result));
/* Accepts a checker without it. */
void gs_wait_destroy(gs_check_t *check);

/* Fills what the tool wants of an instruction's digest (digest.h), behind the registers. Returns whether the
 * instruction may pass. */
struct gs_digest;
gs_passing_t gs_digest_wait(const gs_wait_t *wait, gs_target_t target, const gs_inst_t *in,
                            struct gs_digest *digest);

/* wait_pass.c. */
struct gs_wait_sum; /* digest.h */
/* Sums up a block of instructions that may pass. Returns false when they have to be seen. */
bool gs_wait_sum(struct gs_wait_sum *sum, const gs_passage_t *block, unsigned count);
/* Returns whether the wave waits for nothing that the block has to do with; then the block counts as done. */
bool gs_wait_pass(gs_wave_t *w, const struct gs_wait_sum *sum);

/* wait_report.c: gs_tell_use_t and gs_tell_states_t for everybody but tests. */
void gs_wait_report_use(gs_wave_t *w, const gs_inst_t *in, const gs_operand_t *use, unsigned pending);
void gs_wait_report_states(gs_wave_t *w, const gs_inst_t *in, const gs_hazard_t *hazard,
                           const gs_done_t *first, const gs_operand_t *use, unsigned states);

/* The instruction in hand touches what `write` of another wave, or its own LDS-DMA, has not brought yet. */
void gs_wait_report_local(gs_wave_t *w, uint64_t offset, unsigned wave, const gs_local_write_t *write);

static inline gs_wave_waits_t *gs_wave_waits(const gs_wave_t *w) {
  return w->waits;
}
static inline gs_wait_t *gs_wait_of(const gs_wave_t *w) {
  return gs_check_of(w)->wait;
}

#endif
