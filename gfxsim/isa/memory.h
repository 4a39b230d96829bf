/* How instructions reach memory: the wave's view of the GPU's address space, LDS, and the apertures through
 * which flat addresses reach LDS and private memory. Every access is checked; a bad one faults the wave
 * before any lane is served. Not here: address arithmetic of the encodings (op_*.c), moving the data
 * (transfer.h), the address space (base/vm.h). */
#ifndef GFXSIM_ISA_MEMORY_H
#define GFXSIM_ISA_MEMORY_H

#include "isa/lanes.h"
#include "isa/toll.h"
#include "isa/watch.h"
#include "isa/width.h"

/* For shared helpers of which a file needs only some. */
#ifdef GS_STENCIL
#define GS_SHARED static inline
#else
#define GS_SHARED static __attribute__((unused))
#endif

/* Where the 4 GiB apertures of LDS and private memory are in the flat address space (high dwords). */
enum { GS_SHARED_APERTURE_HI = 0x00010000, GS_PRIVATE_APERTURE_HI = 0x00020000 };

enum {
  GS_LINEAR_STEP = 4, /* from one dword of a lane to its next in ordinary memory */
  GS_PRIVATE_STEP =
      4 * GS_WAVE_LANES, /* the same in private memory: the dwords of all lanes lie side by side */
  GS_ACCESS_BYTES = 16,  /* most that one lane accesses at once */
};

/* The same where the wave's width is not known when this is compiled. */
static inline uint32_t gs_private_step(const gs_wave_t *w) {
#if defined(GS_WIDTH)
  (void)w;
  return GS_PRIVATE_STEP;
#else
  return 4 * gs_wave_lanes(w);
#endif
}

/* The accesses of one vector memory instruction, at most GS_ACCESS_BYTES per lane. */
typedef struct gs_access {
  /* Before resolving: each lane's address as the device sees it. Afterwards: its address in this process, and
   * lanes that take no part have the address of one that does, so that loads may go over all lanes without a
   * look at `lanes`. */
  _Alignas(64) uint64_t at[GS_MAX_LANES];
  uint64_t lanes;   /* lanes that access memory */
  uint64_t zero;    /* lanes whose access is out of bounds in a way that reads 0 and writes nothing */
  uint64_t bounced; /* lanes whose `at` is in `bounce` */
  uint32_t step;    /* bytes from one dword of a lane to its next */
  uint32_t stride;  /* if not 0, all lanes take part and lane l is at[0] + l * stride */
  bool uniform;     /* all lanes that take part have the same address */
  uint32_t bytes;   /* per lane */
  uint32_t rights;  /* GS_VM_* */

  /* For lanes whose bytes are not together in this process (swizzled and unaligned, or in two mappings). */
  uint64_t device[GS_MAX_LANES];
  uint16_t device_step[GS_MAX_LANES];
  _Alignas(16) uint8_t bounce[GS_MAX_LANES][GS_ACCESS_BYTES];
} gs_access_t;

/* ---- Watched accesses (watch.h) ---- */

#ifdef GS_WATCHED
enum { GS_IS_WATCHED = 1 };
#else
enum { GS_IS_WATCHED = 0 };
#endif

static inline void gs_watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  if (GS_IS_WATCHED && w->env->toll)
    gs_toll_lanes(w, a);
  if (GS_IS_WATCHED && w->env->watch)
    w->env->watch->lanes(w, a);
}
static inline void gs_watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  if (GS_IS_WATCHED && w->env->toll)
    gs_toll_lanes(w, a);
  if (GS_IS_WATCHED && w->env->watch)
    w->env->watch->mixed(w, a);
}
static inline void gs_watch_lds(gs_wave_t *w, const gs_access_t *a) {
  if (GS_IS_WATCHED && w->env->watch)
    w->env->watch->lds(w, a);
}
static inline void gs_watch_local(gs_wave_t *w, const gs_access_t *a) {
  if (GS_IS_WATCHED && w->env->watch && w->env->watch->local)
    w->env->watch->local(w, a);
}
static inline void gs_watch_order(gs_wave_t *w, const gs_inst_t *in) {
  if (GS_IS_WATCHED && w->env->watch && w->env->watch->order)
    w->env->watch->order(w, in);
}
/* To be called for an access that is known to be possible. */
static inline void gs_watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride,
                                  uint32_t rights) {
  if (GS_IS_WATCHED && w->env->toll)
    gs_toll_block(w, address, size);
  if (GS_IS_WATCHED && w->env->watch)
    w->env->watch->block(w, address, size, stride, rights, false);
}

/* ---- Accesses ---- */

/* Starts the description of an access by `lanes`; at[] is left to be filled. */
static inline void gs_access_init(gs_access_t *a, uint64_t lanes, unsigned bytes, uint32_t rights) {
  a->lanes = lanes;
  a->zero = 0;
  a->bounced = 0;
  a->step = GS_LINEAR_STEP;
  a->stride = 0;
  a->uniform = false;
  a->bytes = bytes;
  a->rights = rights;
}

/* Gives lanes that take no part the address of the first that does. Needs at least one that does. */
static inline void gs_access_fill(gs_wave_t *w, gs_access_t *a) {
  if (a->lanes == GS_ALL_LANES)
    return;
  if (w->lane_mask_exec != a->lanes)
    gs_lane_mask_update(w, a->lanes);
  const uint64_t first = a->at[__builtin_ctzll(a->lanes)];
  const gs_row_t *m = &w->lane_mask;
  GS_LANES_DO(l) {
    const uint64_t mask = (uint64_t)(int64_t)m->i32[l];
    a->at[l] = (a->at[l] & mask) | (first & ~mask);
  }
}

/* Finds out whether lanes are `stride` bytes apart or all at one place. Lanes that take no part are filled.
 */
static inline void gs_access_measure(gs_access_t *a, uint32_t stride) {
  const uint64_t first = a->at[0];
  uint64_t differ = 0, apart = 0, expected = 0;
  if (a->lanes != GS_ALL_LANES) {
    for (unsigned l = 0; l < GS_LANES; l++)
      apart |= a->at[l] - first;
    a->uniform = !apart;
    a->stride = 0;
    return;
  }
  for (unsigned l = 0; l < GS_LANES; l++, expected += stride) {
    apart |= a->at[l] - first;
    differ |= (a->at[l] - first) ^ expected;
  }
  a->uniform = !apart;
  a->stride = differ ? 0 : stride;
}

/* Bytes from a lane's first to behind its last. */
static inline uint64_t gs_access_span(const gs_access_t *a) {
  const uint32_t piece = a->bytes < 4 ? a->bytes : 4;
  return a->step == GS_LINEAR_STEP ? a->bytes : (a->bytes - piece) / 4 * (uint64_t)a->step + piece;
}

/* Whether a lane's bytes go from one dword into the next, which in swizzled memory is elsewhere. */
static inline bool gs_access_straddles(const gs_access_t *a) {
  const uint32_t piece = a->bytes < 4 ? a->bytes : 4;
  uint64_t end = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    end |= (a->at[l] & 3) + piece - 1;
  return end & 4;
}

/* Distance between lanes that lie side by side. */
static inline uint32_t gs_access_dense_stride(const gs_access_t *a) {
  return a->step == GS_LINEAR_STEP || a->bytes < 4 ? a->bytes : 4;
}

/* Where the executing thread notes in which range the instruction in hand, the one before `pc`, found its
 * addresses last. Instructions share notes, and waves do. */
static inline unsigned gs_range_note(uint64_t pc) {
  return (unsigned)(pc / 8 % GS_VM_HINTS);
}
static inline const gs_vm_range_t **gs_range_found(const gs_wave_t *w) {
#ifdef GS_STENCIL
  return &w->env->vm->found[GS_HOLE_INDEX(note)];
#else
  return &w->env->vm->found[gs_range_note(w->pc)];
#endif
}

/* Whether an address in this range may be taken for the program's own memory by mistake: it lies in a gap of
 * a snapshot that is not the newest. The slow paths have the instruction repeated then. */
static inline bool gs_range_is_old(const gs_wave_t *w, const gs_vm_range_t *range) {
  return GS_UNLIKELY(range->is_gap) && gs_vm_reader_is_behind(w->env->vm);
}

/* The slow path of gs_resolve: any addresses, also lanes in several mappings. */
bool gs_resolve_slow(gs_wave_t *w, gs_access_t *a);

/* Whether all lanes lie in this range. Addresses of lanes that take no part must be filled. */
GS_SHARED bool gs_access_inside(const gs_access_t *a, const gs_vm_range_t *range) {
  const uint64_t start = range->start, last = range->end - gs_access_span(a);
  if (GS_UNLIKELY((range->access & a->rights) != a->rights || last < start || last > range->end))
    return false;
  /* Addresses of mappings have bit 63 clear, so a difference has it set exactly if the address is out of
   * bounds. */
  uint64_t outside = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    outside |= (a->at[l] - start) | (last - a->at[l]);
  return (int64_t)outside >= 0;
}

/* gs_resolve's fast path: all lanes in one mapping, and each lane's dwords `step` apart. Addresses of lanes
 * that take no part must be filled. Does nothing if it returns false. */
GS_SHARED bool gs_resolve_near(gs_wave_t *w, gs_access_t *a) {
  const gs_vm_range_t **const found = gs_range_found(w), *range = *found;
  if (GS_UNLIKELY(!gs_access_inside(a, range))) {
    range = gs_vm_find(atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed), a->at[0]);
    if (!range || !gs_access_inside(a, range))
      return false;
    *found = range;
  }
  if (gs_range_is_old(w, range))
    return false;
  if (GS_UNLIKELY(a->step != GS_LINEAR_STEP && gs_access_straddles(a)))
    return false;
  const uint64_t delta = (uint64_t)(uintptr_t)range->host - range->start;
  GS_LANES_DO(l)
    a->at[l] += delta;
  gs_access_measure(a, gs_access_dense_stride(a));
  return true;
}

/* Resolves addresses in the GPU's address space. Returns whether there is anything to do; on a bad address
 * faults the wave and returns false. */
static inline bool gs_resolve(gs_wave_t *w, gs_access_t *a) {
  if (GS_UNLIKELY(!a->lanes))
    return a->zero != 0;
  gs_watch_lanes(w, a);
  gs_access_fill(w, a);
  return GS_LIKELY(gs_resolve_near(w, a)) || gs_resolve_slow(w, a);
}

/* The slow path of gs_resolve_lds: moves lanes that are out of bounds to `zero`. */
bool gs_resolve_lds_slow(gs_wave_t *w, gs_access_t *a);

/* Resolves byte offsets into LDS. Returns whether there is anything to do. */
GS_SHARED bool gs_resolve_lds(gs_wave_t *w, gs_access_t *a) {
  if (GS_UNLIKELY(!a->lanes))
    return a->zero != 0;
  gs_watch_local(w, a);
  gs_access_fill(w, a);
  const uint64_t last = (uint64_t)w->env->lds_bytes - a->bytes;
  uint64_t outside = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    outside |= (last - a->at[l]) | a->at[l];
  if (GS_UNLIKELY((int64_t)outside < 0)) {
    gs_watch_lds(w, a);
    return gs_resolve_lds_slow(w, a);
  }
  const uint64_t base = (uint64_t)(uintptr_t)w->env->lds;
  GS_LANES_DO(l)
    a->at[l] += base;
  gs_access_measure(a, a->bytes);
  return true;
}

/* Resolves flat addresses of which some lie in an aperture: LDS, private memory and global addresses in any
 * mixture. Returns whether there is anything to do; on a bad address faults the wave and returns false. */
bool gs_resolve_mixed(gs_wave_t *w, gs_access_t *a);

/* Where byte `offset` of lane 0's private memory is; lanes are 4 bytes apart. */
static inline uint64_t gs_private_address(const gs_wave_t *w, uint32_t offset) {
  return gs_flat_scratch(w) + (uint64_t)(offset / 4) * gs_private_step(w) + offset % 4;
}

/* Faults the wave unless the addresses are multiples of `size`. For atomics, before resolving. */
bool gs_access_check_alignment(gs_wave_t *w, const gs_access_t *a, unsigned size);

/* Writes bounced lanes back to memory. */
void gs_access_write_back(gs_wave_t *w, gs_access_t *a);

/* To be called after stores and atomics. */
static inline void gs_access_finish(gs_wave_t *w, gs_access_t *a) {
  if (GS_UNLIKELY(a->bounced))
    gs_access_write_back(w, a);
}

/* Scalar access of `size` bytes: the address in this process, or NULL after faulting the wave. Bytes that are
 * not together in this process are read into the wave (at most 64), and can't be written: write a dword at a
 * time. */
void *gs_resolve_scalar(gs_wave_t *w, uint64_t address, unsigned size, uint32_t access);

/* The same, seen by the watcher. */
static inline void *gs_reach_scalar(gs_wave_t *w, uint64_t address, unsigned size, uint32_t access) {
  if (GS_IS_WATCHED && w->env->toll)
    gs_toll_scalar(w, address, size);
  if (GS_IS_WATCHED && w->env->watch)
    w->env->watch->block(w, address, size, 0, access, true);
  return gs_resolve_scalar(w, address, size, access);
}

/* Value of the LDS_DIRECT operand: the LDS item that M0 describes (offset in 15:0, type in 18:16), the same
 * for all lanes; 0 beyond the end of LDS. */
uint32_t gs_lds_direct(const gs_wave_t *w);

#endif
