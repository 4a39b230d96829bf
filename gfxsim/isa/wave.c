/* State of a wave beyond its general registers: faults, hardware registers, operands with a computed value,
 * the stack of forked branches, messages. Not here: scheduling (exec/), and anything executed often. */
#include "isa/memory.h"
#include "isa/scalar.h"

void gs_wave_fault(gs_wave_t *w, gs_wave_fault_kind_t kind, uint64_t address, uint32_t access,
                   unsigned lane) {
  if (w->state == GS_WAVE_FAULTED)
    return;
  w->state = GS_WAVE_FAULTED;
  w->fault.kind = (uint8_t)kind;
  w->fault.address = address;
  w->fault.access = access;
  w->fault.lane = lane;
}

void gs_wave_set_mode(gs_wave_t *w, uint32_t mode) {
  w->mode = mode;
  w->nan_first = w->env->target & GS_GFX11 ? UINT32_MAX : 0;
  w->fp_custom = (mode & (GS_MODE_FP_MASK | GS_MODE_IEEE)) != (GS_MODE_FP_DEFAULT | GS_MODE_IEEE);
}

/* ---- Operands with a computed value ---- */

enum {
  SRC_SHARED_BASE = 235,
  SRC_SHARED_LIMIT = 236,
  SRC_PRIVATE_BASE = 237,
  SRC_PRIVATE_LIMIT = 238,
  SRC_POPS_EXITING_WAVE_ID = 239,
  SRC_VCCZ = 251,
  SRC_EXECZ = 252,
  SRC_SCC = 253,
  SRC_LDS_DIRECT = 254,
};

uint64_t gs_special_value(const gs_wave_t *w, const gs_inst_t *in, unsigned i) {
  switch (in->src[i].kind) {
  case GS_SRC_CONST: return in->src[i].value;
  case GS_SRC_SGPR: return gs_ssrc64(w, in, i);
  default: break;
  }
  switch (in->src[i].reg) {
  case SRC_SHARED_BASE: return (uint64_t)GS_SHARED_APERTURE_HI << 32;
  case SRC_SHARED_LIMIT: return (uint64_t)GS_SHARED_APERTURE_HI << 32 | UINT32_MAX;
  case SRC_PRIVATE_BASE: return (uint64_t)GS_PRIVATE_APERTURE_HI << 32;
  case SRC_PRIVATE_LIMIT: return (uint64_t)GS_PRIVATE_APERTURE_HI << 32 | UINT32_MAX;
  case SRC_VCCZ: return gs_vcc(w) == 0;
  case SRC_EXECZ: return gs_exec(w) == 0;
  case SRC_SCC: return w->scc;
  case SRC_LDS_DIRECT: return gs_lds_direct(w);
  case SRC_POPS_EXITING_WAVE_ID: /* of pixel shaders only */
  default: return 0;
  }
}

/* ---- Hardware registers ---- */

enum { CSP_MASK = 7 }; /* of MODE */

enum {
  HWREG_MODE = 1,
  HWREG_STATUS = 2,
  HWREG_TRAPSTS = 3,
  HWREG_HW_ID = 4,
  HWREG_GPR_ALLOC = 5,
  HWREG_LDS_ALLOC = 6,
  HWREG_IB_STS = 7,
  HWREG_SH_MEM_BASES = 15,
  HWREG_TBA_LO = 16,
  HWREG_TBA_HI = 17,
  HWREG_TMA_LO = 18,
  HWREG_TMA_HI = 19,
  HWREG_FLAT_SCR_LO = 20,
  HWREG_FLAT_SCR_HI = 21,
  HWREG_HW_ID1 = 23,
  HWREG_HW_ID2 = 24,
  HWREG_POPS_PACKER = 25,
  HWREG_SHADER_CYCLES = 29,
  HWREG_COUNT
};

static uint32_t read_mode(const gs_wave_t *w) {
  return w->mode;
}
/* The bits that MODE has. After gfx9 there are no more modes that change what instructions do; DISABLE_PERF,
 * which has the place of one, is left out with them. Bit 21 of gfx11 asks for a trap at the wave's end. */
static uint32_t mode_bits(gs_target_t target) {
  const uint32_t below = (1u << 21) - 1u, of_gfx9 = below | 0x1ffu << 23,
                 of_gfx10 = below | GS_MODE_FP16_OVFL;
  return target & GS_GFX9 ? of_gfx9 : target & GS_GFX10 ? of_gfx10 : of_gfx10 | 1u << 21;
}
static uint32_t read_status(const gs_wave_t *w) {
  enum { EXECZ_SHIFT = 9, VCCZ_SHIFT = 10, VALID = 1 << 16 };
  return w->env->status | VALID | w->scc | (uint32_t)(gs_exec(w) == 0) << EXECZ_SHIFT |
         (uint32_t)(gs_vcc(w) == 0) << VCCZ_SHIFT;
}
static uint32_t read_trapsts(const gs_wave_t *w) {
  return w->trapsts;
}
static uint32_t read_hw_id(const gs_wave_t *w) {
  return w->env->hw_id;
}
static uint32_t read_gpr_alloc(const gs_wave_t *w) {
  return w->env->gpr_alloc;
}
/* The size of LDS in units of 64 dwords, from bit 12; the base, in bits 7:0, is 0: each workgroup sees its
 * own LDS. */
static uint32_t read_lds_alloc(const gs_wave_t *w) {
  return (w->env->lds_bytes + 255) / 256 << 12;
}
/* IB_STS counts outstanding instructions, and there never are any. TBA and TMA belong to a trap handler. */
static uint32_t read_zero(const gs_wave_t *w) {
  (void)w;
  return 0;
}
static uint32_t read_sh_mem_bases(const gs_wave_t *w) {
  (void)w;
  return (uint32_t)GS_SHARED_APERTURE_HI | (uint32_t)GS_PRIVATE_APERTURE_HI >> 16;
}

/* The same number is XCC_ID on gfx942. */
static uint32_t read_flat_scr_lo(const gs_wave_t *w) {
  return w->env->target & GS_GFX9_4 ? w->env->xcc_id : w->s.u32[GS_S_SCRATCH_BASE];
}
static uint32_t read_flat_scr_hi(const gs_wave_t *w) {
  return w->s.u32[GS_S_SCRATCH_BASE + 1];
}
/* A clock of 20 bits. */
static uint32_t read_shader_cycles(const gs_wave_t *w) {
  return (uint32_t)w->env->clock() & 0xfffff;
}

static const struct {
  uint32_t (*read)(const gs_wave_t *w);
  uint32_t writable; /* what can be written without privilege */
  unsigned targets;  /* 0: all */
} hwregs[HWREG_COUNT] = {
    [HWREG_MODE] = {read_mode, UINT32_MAX, 0},
    [HWREG_STATUS] = {read_status, 0, 0},
    [HWREG_TRAPSTS] = {read_trapsts, 0x1ff, 0}, /* the sticky exception flags */
    [HWREG_HW_ID] = {read_hw_id, 0, GS_GFX9},
    [HWREG_GPR_ALLOC] = {read_gpr_alloc, 0, 0},
    [HWREG_LDS_ALLOC] = {read_lds_alloc, 0, 0},
    [HWREG_IB_STS] = {read_zero, 0, 0},
    [HWREG_SH_MEM_BASES] = {read_sh_mem_bases, 0, 0},
    [HWREG_TBA_LO] = {read_zero, 0, GS_GFX9_10},
    [HWREG_TBA_HI] = {read_zero, 0, GS_GFX9_10},
    [HWREG_TMA_LO] = {read_zero, 0, GS_GFX9_10},
    [HWREG_TMA_HI] = {read_zero, 0, GS_GFX9_10},
    [HWREG_FLAT_SCR_LO] = {read_flat_scr_lo, UINT32_MAX, GS_GFX10_UP | GS_GFX9_4},
    [HWREG_FLAT_SCR_HI] = {read_flat_scr_hi, UINT32_MAX, GS_GFX10_UP},
    [HWREG_HW_ID1] = {read_hw_id, 0, GS_GFX10_UP},
    [HWREG_HW_ID2] = {read_zero, 0, GS_GFX10_UP},
    [HWREG_POPS_PACKER] = {read_zero, 0, GS_GFX10},
    [HWREG_SHADER_CYCLES] = {read_shader_cycles, 0, GS_GFX10_UP},
};

/* Registers for what a profiler has sampled of a wave: there is no profiler, and so nothing in them. */
static bool is_sample(const gs_wave_t *w, unsigned id) {
  const uint32_t of_gfx942 = 0xf << 21, of_gfx11 = 3 << 18 | 1 << 27;
  const uint32_t ids = w->env->target & GS_GFX9_4 ? of_gfx942 : w->env->target & GS_GFX11 ? of_gfx11 : 0;
  return id < HWREG_COUNT && ids >> id & 1;
}

bool gs_hwreg_read(const gs_wave_t *w, unsigned id, uint32_t *value) {
  if (is_sample(w, id)) {
    *value = 0;
    return true;
  }
  if (id >= HWREG_COUNT || !hwregs[id].read || (hwregs[id].targets && !(hwregs[id].targets & w->env->target)))
    return false;
  *value = hwregs[id].read(w);
  return true;
}

bool gs_hwreg_write(gs_wave_t *w, unsigned id, uint32_t value, uint32_t mask) {
  uint32_t old;
  if (is_sample(w, id))
    return true;
  if (!gs_hwreg_read(w, id, &old))
    return false;
  mask &= hwregs[id].writable;
  if ((id == HWREG_FLAT_SCR_LO || id == HWREG_FLAT_SCR_HI) && !(w->env->target & GS_GFX10))
    mask = 0; /* which hardware sets */
  if (id == HWREG_MODE)
    mask &= mode_bits(w->env->target);
  value = (old & ~mask) | (value & mask);
  if (id == HWREG_TRAPSTS)
    w->trapsts = value;
  if ((id == HWREG_FLAT_SCR_LO && !(w->env->target & GS_GFX9_4)) || id == HWREG_FLAT_SCR_HI)
    w->s.u32[GS_S_SCRATCH_BASE + id - HWREG_FLAT_SCR_LO] = value;
  if (id != HWREG_MODE)
    return true;
  gs_wave_set_mode(w, value);
  return true;
}

/* ---- Forks ---- */

enum { FORK_DWORDS = 4 };

static unsigned fork_depth(const gs_wave_t *w) {
  return w->mode >> GS_MODE_CSP_SHIFT & CSP_MASK;
}
static void set_fork_depth(gs_wave_t *w, unsigned depth) {
  w->mode = (w->mode & ~((uint32_t)CSP_MASK << GS_MODE_CSP_SHIFT)) | (depth & CSP_MASK) << GS_MODE_CSP_SHIFT;
}

void gs_wave_fork(gs_wave_t *w, uint64_t mask, uint64_t target) {
  const uint64_t exec = gs_exec(w), pass = mask & exec, fail = ~mask & exec;
  if (pass == exec) {
    w->pc = target;
    return;
  }
  if (fail == exec)
    return;
  const bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
  const unsigned depth = fork_depth(w);
  gs_write_sgpr64(w, depth * FORK_DWORDS, fail_first ? pass : fail);
  gs_write_sgpr64(w, depth * FORK_DWORDS + 2, fail_first ? target : w->pc);
  set_fork_depth(w, depth + 1);
  gs_set_exec(w, fail_first ? fail : pass);
  if (!fail_first)
    w->pc = target;
}

void gs_wave_join(gs_wave_t *w, uint32_t depth) {
  if (fork_depth(w) == depth)
    return;
  const unsigned top = (fork_depth(w) - 1) & CSP_MASK;
  set_fork_depth(w, top);
  gs_set_exec(w, w->s.u64[top * FORK_DWORDS / 2]);
  w->pc = w->s.u64[top * FORK_DWORDS / 2 + 1] & ~UINT64_C(3);
}

/* ---- Messages, code ---- */

void gs_wave_send_message(gs_wave_t *w, const gs_inst_t *in) {
  enum { MSG_INTERRUPT = 1, MSG_DEALLOC_VGPRS = 3, MSG_GET_DOORBELL = 10 };
  const unsigned message = in->imm & 0xf;
  if (w->env->target & GS_GFX11 && message == MSG_DEALLOC_VGPRS)
    return; /* a hint shortly before the end */
  if (w->env->target & GS_GFX11 && message == MSG_GET_DOORBELL) {
    gs_wave_illegal(w, in); /* see gs_wave_answer */
    return;
  }
  switch (message) {
  case MSG_INTERRUPT: w->env->send_interrupt(w->env->context, w->s.u32[GS_S_M0] & 0xff); return;
  case MSG_GET_DOORBELL: gs_set_exec(w, w->env->doorbell_id); return; /* the answer comes in EXEC */
  default: gs_wave_illegal(w, in); return; /* graphics, and what only trap handlers may send */
  }
}

bool gs_wave_answer(gs_wave_t *w, const gs_inst_t *in, uint64_t *answer) {
  enum { RTN_GET_DOORBELL = 128, RTN_GET_DDID, RTN_GET_TMA, RTN_GET_REALTIME, RTN_SAVE_WAVE, RTN_GET_TBA };
  switch (in->imm) {
  case RTN_GET_DOORBELL: *answer = w->env->doorbell_id; return true;
  case RTN_GET_REALTIME: *answer = w->env->clock(); return true;
  case RTN_GET_DDID: /* of draws */
  case RTN_GET_TMA:  /* of a trap handler */
  case RTN_GET_TBA: *answer = 0; return true;
  default: gs_wave_illegal(w, in); return false;
  }
}

void gs_wave_code_changed(gs_wave_t *w, const gs_inst_t *in) {
  if (gs_vm_invalidate_code(w->env->vm->vm) != 0) {
    gs_wave_illegal(w, in);
    return;
  }
  /* The executing thread looks for a new snapshot, and drops what it decoded, when it has the next wave's
   * turn. */
  w->state = GS_WAVE_YIELDED;
}

/* ---- Barriers of the whole grid ---- */

void gs_gws_set(gs_wave_t *w, uint32_t resource, uint32_t others) {
  _Atomic uint64_t *barrier = &w->env->gws->barrier[resource % GS_GWS_COUNT];
  uint64_t now = atomic_load(barrier);
  while (!atomic_compare_exchange_weak(barrier, &now, now >> 32 << 32 | others)) {
  }
}

bool gs_gws_pass(gs_wave_t *w, uint32_t resource, uint32_t others) {
  _Atomic uint64_t *barrier = &w->env->gws->barrier[resource % GS_GWS_COUNT];
  uint64_t now = atomic_load(barrier);
  if (w->gws_turn) {
    const bool opened = (uint32_t)(now >> 32) != (uint32_t)(w->gws_turn - 1);
    w->gws_turn = opened ? 0 : w->gws_turn;
    return opened;
  }
  for (;;) {
    const bool is_last = (uint32_t)now == 0;
    const uint64_t next = is_last ? ((now >> 32) + 1) << 32 | others : now - 1;
    if (!atomic_compare_exchange_weak(barrier, &now, next))
      continue;
    w->gws_turn = is_last ? 0 : (now >> 32) + 1;
    return is_last;
  }
}
