/* The state of one wave that instructions read and write: registers, modes, and its view of memory.
 * Not here: how waves are scheduled and started (exec/). */
#ifndef GFXSIM_ISA_WAVE_H
#define GFXSIM_ISA_WAVE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/vm.h"
#include "isa/inst.h"

enum { GS_MAX_LANES = 64, GS_SGPRS = 132, GS_ARCH_VGPRS = 256, GS_VGPRS = 512 };

/* How many lanes a wave has is a property of the wave. What instructions do is compiled once for each width,
 * GS_WIDTH, with loops of that many lanes; rows have room for the widest. Elsewhere GS_WIDTH is not defined,
 * and a wave knows by itself (gs_wave_lanes). */
#if defined(GS_WIDTH)
enum { GS_LANES = GS_WIDTH };
#else
enum { GS_LANES = GS_MAX_LANES };
#endif
enum { GS_STRIP_SLOTS = 64 };         /* for values of sixteen lanes, or eight */
enum { GS_STRIP_KEPT = 32 };          /* masks that a strip writes at most */
enum { GS_ROW_BYTES = 4 * GS_LANES }; /* that the lanes have in a row */
/* Stencils for one active lane see a wave that has no other: their rows begin at that lane. What still counts
 * is how many there are in truth. */
#if defined(GS_STENCIL_ONE)
enum { GS_WAVE_LANES = GS_STENCIL_ONE };
#else
enum { GS_WAVE_LANES = GS_LANES };
#endif
#define GS_ALL_LANES (UINT64_MAX >> (64 - GS_LANES))

/* Operand numbers of scalar registers with a name. */
enum {
  GS_S_FLAT_SCRATCH = 102,
  GS_S_XNACK_MASK = 104,
  GS_S_VCC = 106,
  GS_S_TTMP0 = 108,
  GS_S_M0 = 124,
  GS_S_EXEC = 126,
  GS_S_OPERANDS = 128,     /* from here on registers that are no operand */
  GS_S_SCRATCH_BASE = 128, /* FLAT_SCR_LO and _HI, which code of later families than gfx9 sets by s_setreg */
  GS_S_NULL = 130,         /* what later families write to the register null: nobody reads it */
};

/* One vector register: a value per lane, in whatever type the instruction takes it. */
typedef union gs_row {
  _Alignas(64) uint32_t u32[GS_MAX_LANES];
  int32_t i32[GS_MAX_LANES];
  float f32[GS_MAX_LANES];
} gs_row_t;

/* Scalar registers by operand number, and behind those what has none; pairs are read as one where they are
 * even (little-endian hosts). */
typedef union gs_scalars {
  uint32_t u32[GS_SGPRS];
  uint64_t u64[GS_SGPRS / 2];
} gs_scalars_t;

typedef enum gs_wave_state {
  GS_WAVE_RUNNING,
  GS_WAVE_YIELDED, /* s_sleep and friends: give another wave a turn */
  GS_WAVE_BARRIER, /* waits at s_barrier */
  GS_WAVE_ENDED,
  GS_WAVE_FAULTED, /* see fault */
} gs_wave_state_t;

typedef enum gs_wave_fault_kind {
  GS_WAVE_FAULT_NONE,
  GS_WAVE_FAULT_MEMORY,   /* no mapping or no right for an access */
  GS_WAVE_FAULT_APERTURE, /* address in no aperture, or outside LDS */
  GS_WAVE_FAULT_ILLEGAL,  /* instruction unknown, or not executable here */
  GS_WAVE_FAULT_TRAP,     /* s_trap 2 */
} gs_wave_fault_kind_t;

/* MODE register fields. */
enum {
  GS_MODE_ROUND32_SHIFT = 0,  /* 2 bits: 0 even, 1 +inf, 2 -inf, 3 zero */
  GS_MODE_ROUND64_SHIFT = 2,  /* f64 and f16 */
  GS_MODE_DENORM32_SHIFT = 4, /* bit 0: keep denormal inputs, bit 1: keep denormal outputs */
  GS_MODE_DENORM64_SHIFT = 6,
  GS_MODE_DX10_CLAMP = 1 << 8,
  GS_MODE_IEEE = 1 << 9,
  GS_MODE_FP16_OVFL = 1 << 23,
  GS_MODE_GPR_IDX_EN = 1 << 27,
  GS_MODE_VSKIP = 1 << 28,
  GS_MODE_CHANGES = GS_MODE_GPR_IDX_EN | GS_MODE_VSKIP, /* see gs_mode_apply */
  GS_MODE_CSP_SHIFT = 29,                               /* 3 bits: depth of the stack of s_cbranch_*_fork */
  GS_MODE_FP_MASK = 0xff,
  GS_MODE_FP_DEFAULT = 0xf0,
};

/* Barriers of whole grids (global wave sync): resources of the device. The low half of each is how many waves
 * are still to come besides the one that lets all go on, the high half counts how often that was. */
enum { GS_GWS_COUNT = 64 };
typedef struct gs_gws {
  _Atomic uint64_t barrier[GS_GWS_COUNT];
} gs_gws_t;

/* What a wave belongs to and may use. Shared by the waves of a workgroup; filled by exec/. */
typedef struct gs_wave_env {
  gs_target_t target;
  uint8_t *lds;            /* local data share of the workgroup */
  uint32_t lds_bytes;      /* accesses beyond it read 0 and are dropped */
  uint32_t hw_id;          /* HW_ID register */
  uint32_t xcc_id;         /* XCC_ID register, on parts that have several */
  uint32_t status;         /* bits of STATUS that never change: IN_TG (1 << 11), SCRATCH_EN (1 << 28) */
  uint32_t gpr_alloc;      /* GPR_ALLOC register */
  uint32_t doorbell_id;    /* what s_sendmsg(MSG_GET_DOORBELL) returns */
  uint64_t (*clock)(void); /* counter of s_memtime and s_memrealtime, the one of signal time stamps */
  void (*send_interrupt)(void *context, uint32_t event_id); /* s_sendmsg(MSG_INTERRUPT) */
  void *context;
  gs_vm_reader_t *vm;           /* the executing thread's reader; moves with the wave between threads */
  const struct gs_watch *watch; /* who looks at accesses, see watch.h; NULL = nobody */
  void *watched;                /* what that one knows of the workgroup, or NULL */
  gs_gws_t *gws;                /* the device's; NULL = it has none */
  struct gs_toll *toll;         /* the executing thread's, see toll.h; NULL = nobody counts */
  bool dynamic_stack;           /* who launches the kernel decides how much private memory it has */
} gs_wave_env_t;

/* Turns of a group's waves that begin at the same instruction. Where one has come to a barrier, translated
 * code begins the next one's by itself: up to `end`, then `last`. */
typedef struct gs_turns {
  struct gs_wave *current;    /* whose turn it is */
  struct gs_wave *end, *last; /* what is behind the wave that comes before the last one, and that one */
  uint64_t pc;                /* where they begin */
  void (*block)(struct gs_wave *w);
  uint32_t slice; /* instructions of a turn */
  uint32_t least; /* that must be left of a turn if others are to follow: so all of them are not much longer
                     than one may be */
} gs_turns_t;

typedef struct gs_wave {
  gs_scalars_t s; /* EXEC, VCC, M0 and FLAT_SCRATCH are in here under their operand numbers */
  uint64_t pc;    /* address of the next instruction */
  gs_row_t *v;    /* GS_VGPRS rows: vector registers, then accumulation registers */
  const gs_wave_env_t *env;
  uint32_t scc;  /* 0 or 1 */
  uint32_t mode; /* MODE register */
  uint32_t trapsts;
  uint32_t nan_first; /* all bits where minima and maxima take the first of two NaNs, else none */
  void *flow;         /* what the watcher knows of the wave, see gs_begin_t */
  void *waits;        /* likewise */
  bool fp_custom;     /* MODE's rounding and denormal fields differ from GS_MODE_FP_DEFAULT, or no IEEE bit */
  bool repeats;    /* the instruction in hand was seen before, but not executed: its snapshot was too old */
  bool unfenced;   /* translated code: perhaps it has stored since its last fence */
  bool streamed;   /* likewise: has stored past the host's caches (stream.h), and not waited for it */
  uint8_t state;   /* gs_wave_state_t */
  uint8_t pending; /* accesses of the host's memory that it has not waited for, and how often it has */
  uint32_t trips;
  uint32_t left;     /* translated code: instructions until others get a turn */
  gs_turns_t *turns; /* likewise: those that this one is of; NULL = it ends at a barrier */
  uint64_t gws_turn; /* how often the barrier that it waits at had opened when it came, plus one; 0 = it waits
                        at none */

  /* EXEC as one all-ones or all-zeroes word per lane, valid for the EXEC value beside it. */
  uint64_t lane_mask_exec;
  gs_row_t lane_mask;

  /* Translated code: values of strips that the host has no registers for. */
  _Alignas(64) uint8_t strip_values[GS_STRIP_SLOTS][64];
  uint64_t strip_kept[GS_STRIP_KEPT]; /* masks of lanes that strips are done with, where the others are done
                                         otherwise */
  uint16_t
      strip_guard[4]; /* nobody stores here: strips leave where it would not be zero (translate/strip.h) */

  /* What v_mfma_ld_scale_b32 read: exponents for A and B. */
  uint8_t matrix_scale[2][64];

  /* What gs_resolve_scalar read from memory that is in several pieces in this process. */
  uint32_t scalar_copy[16];

  struct {
    uint8_t kind;    /* gs_wave_fault_kind_t */
    uint32_t access; /* GS_VM_* */
    uint64_t address;
    unsigned lane;
  } fault;
} gs_wave_t;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "scalar register pairs are read as one 64-bit word");

/* The constant that operand `i` is, the immediate, and registers by number; pairs of scalar ones are not
 * necessarily even. Each is one access of the host: a wider one after two narrow ones, or the other way
 * round, would have to wait for memory. */
#ifdef GS_STENCIL
#include "isa/hole.h"
#else
static inline uint64_t gs_constant(const gs_inst_t *in, unsigned i) {
  return in->src[i].value;
}
static inline uint32_t gs_constant32(const gs_inst_t *in, unsigned i) {
  return (uint32_t)in->src[i].value;
}
static inline int32_t gs_immediate(const gs_inst_t *in) {
  return in->imm;
}
static inline uint32_t gs_immediate1(const gs_inst_t *in) {
  return in->imm1;
}
static inline gs_row_t *gs_row(const gs_wave_t *w, unsigned reg) {
  return &w->v[reg];
}
static inline uint32_t gs_read_sgpr32(const gs_wave_t *w, unsigned reg) {
  return w->s.u32[reg];
}
static inline uint64_t gs_read_sgpr64(const gs_wave_t *w, unsigned reg) {
  uint64_t value;
  memcpy(&value, (const char *)&w->s + 4 * (size_t)reg, sizeof value);
  return value;
}
static inline void gs_write_sgpr32(gs_wave_t *w, unsigned reg, uint32_t value) {
  w->s.u32[reg] = value;
}
static inline void gs_write_sgpr64(gs_wave_t *w, unsigned reg, uint64_t value) {
  memcpy((char *)&w->s + 4 * (size_t)reg, &value, sizeof value);
}
static inline uint64_t gs_read_pair(const gs_wave_t *w, unsigned reg) {
  return w->s.u64[reg / 2];
}
static inline uint32_t gs_read_scc(const gs_wave_t *w) {
  return w->scc;
}
static inline void gs_write_scc(gs_wave_t *w, uint32_t scc) {
  w->scc = scc;
}
#endif

/* How many lanes the wave has. */
static inline unsigned gs_wave_lanes(const gs_wave_t *w) {
  return gs_target_lanes(w->env->target);
}

/* Where the wave's private memory begins. */
static inline uint64_t gs_flat_scratch(const gs_wave_t *w) {
  return w->s.u64[(w->env->target & GS_GFX9 ? GS_S_FLAT_SCRATCH : GS_S_SCRATCH_BASE) / 2];
}

/* A mask of lanes in scalar registers `reg` and up, which in narrow waves is one register. */
static inline uint64_t gs_lane_bits(const gs_wave_t *w, unsigned reg) {
#if defined(GS_STENCIL_STRIP)
  (void)w;
  return *(const volatile gs_strip_bits_t *)(gs_strip_masks + offsetof(gs_wave_t, s) + 4 * (size_t)reg);
#elif defined(GS_STENCIL_ONE)
  return ((GS_WAVE_LANES == 32 ? w->s.u32[reg] : gs_read_pair(w, reg)) & gs_one_bit_of_exec) != 0;
#elif defined(GS_WIDTH) && GS_WIDTH == 32
  return w->s.u32[reg];
#elif defined(GS_WIDTH)
  return gs_read_pair(w, reg & ~1u);
#else
  return w->s.u64[reg / 2] & UINT64_MAX >> (64 - gs_wave_lanes(w));
#endif
}
static inline uint64_t gs_exec(const gs_wave_t *w) {
#ifdef GS_STENCIL_FULL
  (void)w;
  return GS_ALL_LANES;
#else
  return gs_lane_bits(w, GS_S_EXEC);
#endif
}
static inline void gs_set_exec(gs_wave_t *w, uint64_t mask) {
#if defined(GS_STENCIL_ONE)
  mask = mask ? gs_one_bit_of_exec : 0;
#endif
#if defined(GS_WIDTH)
  if (GS_WAVE_LANES == 32) {
    w->s.u32[GS_S_EXEC] = (uint32_t)mask;
    return;
  }
#endif
  w->s.u64[GS_S_EXEC / 2] = mask;
}
static inline uint64_t gs_vcc(const gs_wave_t *w) {
  return gs_lane_bits(w, GS_S_VCC);
}

/* Stops the wave with a fault; the first one counts. `lane` is GS_MAX_LANES for scalar accesses. */
void gs_wave_fault(gs_wave_t *w, gs_wave_fault_kind_t kind, uint64_t address, uint32_t access, unsigned lane);

/* Sets how many waves a barrier of the whole grid waits for, besides the last. */
void gs_gws_set(gs_wave_t *w, uint32_t resource, uint32_t others);
/* Comes to such a barrier. False as long as the wave waits there: it asks again when it has its next turn.
 * The last one to come sets the number for the next time. */
bool gs_gws_pass(gs_wave_t *w, uint32_t resource, uint32_t others);

/* Whether floats are not as they mostly are. Such waves do not run translated code. */
static inline bool gs_fp_custom(const gs_wave_t *w) {
#ifdef GS_STENCIL
  (void)w;
  return false;
#else
  return w->fp_custom;
#endif
}

/* Sets MODE, and what is derived from it and from the target. */
void gs_wave_set_mode(gs_wave_t *w, uint32_t mode);

#endif
