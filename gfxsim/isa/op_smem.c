/* SMEM: loads, stores and atomics of scalar registers, cache control, clocks.
 * Not here: which addresses are good (memory.h). */
#include <stdatomic.h>

#include "isa/atomic.h"
#include "isa/block.h"
#include "isa/scalar.h"

/* Data may only be in SGPRs and VCC; an instruction with data elsewhere is not executed. */
static inline bool gs_smem_has_data(const gs_inst_t *in, unsigned dwords) {
  return in->dst + dwords <= GS_S_VCC + 2;
}

/* The offset in a register, 0 without one. */
static inline uint32_t gs_smem_soffset(const gs_wave_t *w, const gs_inst_t *in) {
  return in->src[1].kind == GS_SRC_NONE ? 0 : gs_ssrc32(w, in, 1);
}

/* Address of byte 0 of an access relative to a 64-bit base. `scale` is that of the offset in a register: 64
 * for scratch. The two low bits of each component count as zero. */
static inline uint64_t gs_smem_address(const gs_wave_t *w, const gs_inst_t *in, uint64_t base,
                                       unsigned scale) {
  const uint64_t offset = (uint64_t)(gs_smem_soffset(w, in) & ~UINT32_C(3)) * scale;
  return (base & ~UINT64_C(3)) + (uint64_t)(int64_t)(gs_immediate(in) & ~3) + offset;
}

/* ---- Buffers ---- */

/* What a buffer descriptor (V#) says: base in bits 47:0, stride in 61:48, number of records in 95:64. The
 * stride only counts for the size, and swizzling not at all. */
typedef struct gs_smem_buffer {
  uint64_t base, bytes;
} gs_smem_buffer_t;

static inline gs_smem_buffer_t gs_smem_buffer(const gs_wave_t *w, const gs_inst_t *in) {
  const uint32_t *v = &w->s.u32[in->src[0].reg]; /* four registers: the decoder refuses others */
  const uint32_t stride = v[1] >> 16 & 0x3fff;
  return (gs_smem_buffer_t){
      .base = ((uint64_t)(v[1] & 0xffff) << 32 | v[0]) & ~UINT64_C(3),
      .bytes = (uint64_t)v[2] * (stride ? stride : 1),
  };
}

/* An offset before the buffer counts as one far beyond its end: no dword behind it comes round to the buffer.
 */
static inline uint64_t gs_smem_buffer_offset(const gs_wave_t *w, const gs_inst_t *in) {
  const uint64_t offset = (uint64_t)(int64_t)gs_immediate(in) + gs_smem_soffset(w, in);
  return (offset >> 63 ? UINT64_C(1) << 62 : offset) & ~UINT64_C(3);
}

/* ---- Loads and stores ---- */

/* Copies dwords that lie together, as many at once as can be: a pair is one access. */
static inline void gs_smem_get(uint32_t *to, uint64_t at, unsigned dwords) {
  for (unsigned i = 0; i < dwords; i += 4)
    gs_guest_get_dwords(at + 4 * i, dwords - i < 4 ? dwords - i : 4, to + i);
}

/* How many of the dwords from `address` on go to memory at once: two only if they are in one page, as an
 * aligned pair is. */
static inline unsigned gs_smem_pair(uint64_t address, unsigned left) {
  return left >= 2 && address % 8 == 0 ? 2 : 1;
}

/* The usual case: all is in one mapping. Gives up without having done anything. */
static inline bool gs_smem_load_block(gs_wave_t *w, const gs_inst_t *in, uint64_t address, unsigned dwords) {
  gs_block_t b;
  if (GS_IS_WATCHED || !gs_block_place(w, &b, address, dwords * 4, GS_VM_READ))
    return false;
  gs_smem_get(gs_sgprs(w, in->dst), b.at, dwords);
  return true;
}
static inline void gs_smem_load(gs_wave_t *w, const gs_inst_t *in, uint64_t address, unsigned dwords) {
  if (!gs_smem_has_data(in, dwords) || gs_smem_load_block(w, in, address, dwords))
    return;
  const uint64_t at = (uint64_t)(uintptr_t)gs_reach_scalar(w, address, dwords * 4, GS_VM_READ);
  if (at)
    gs_smem_get(&w->s.u32[in->dst], at, dwords);
}

#ifdef GS_STENCIL
/* The same as a stencil. The immediate is a multiple of four there (translate/choose.c), and the other parts
 * of the address mostly are. */
static inline bool gs_smem_load_short(gs_wave_t *w, const gs_inst_t *in, unsigned dwords) {
  const uint64_t base = gs_ssrc64(w, in, 0), soffset = gs_smem_soffset(w, in);
  const uint64_t start = base + soffset, address = gs_plus_immediate(start);
  const gs_vm_range_t *const range = *gs_range_found(w);
  if (((base | soffset) & 3) || !gs_block_is_in(range, address, dwords * 4, GS_VM_READ))
    return false;
  if (dwords > 2)
    gs_smem_get(gs_sgprs(w, in->dst), address + range->delta, dwords);
  else if (dwords == 2) /* so few can be registers of the host */
    gs_write_sgpr64(w, in->dst, gs_guest_fetch(range->delta, start, 2));
  else
    gs_write_sgpr32(w, in->dst, (uint32_t)gs_guest_fetch(range->delta, start, 1));
  return true;
}
#endif

static inline void gs_smem_store(gs_wave_t *w, const gs_inst_t *in, uint64_t address, unsigned dwords) {
  if (!gs_smem_has_data(in, dwords))
    return;
  /* All of it must be good before any of it is written. */
  uint64_t at[4];
  for (unsigned i = 0, n; i < dwords; i += n) {
    n = gs_smem_pair(address + 4 * i, dwords - i);
    at[i] = (uint64_t)(uintptr_t)gs_reach_scalar(w, address + 4 * i, 4 * n, GS_VM_WRITE);
    if (!at[i])
      return;
  }
  for (unsigned i = 0, n; i < dwords; i += n) {
    n = gs_smem_pair(address + 4 * i, dwords - i);
    gs_guest_put_dwords(at[i], n, &w->s.u32[in->dst + i]);
  }
}

/* Dwords beyond the buffer's end read 0; the others are loaded. */
static inline void gs_smem_buffer_load(gs_wave_t *w, const gs_inst_t *in, unsigned dwords) {
  uint32_t data[16];
  if (!gs_smem_has_data(in, dwords))
    return;
  const gs_smem_buffer_t buffer = gs_smem_buffer(w, in);
  const uint64_t offset = gs_smem_buffer_offset(w, in);
  const uint64_t inside = offset < buffer.bytes ? (buffer.bytes - offset + 3) / 4 : 0;
  const unsigned count = inside < dwords ? (unsigned)inside : dwords;
  if (count) {
    const void *at = gs_reach_scalar(w, buffer.base + offset, count * 4, GS_VM_READ);
    if (!at)
      return;
    gs_smem_get(data, (uint64_t)(uintptr_t)at, count);
  }
  for (unsigned i = 0; i < dwords; i++)
    w->s.u32[in->dst + i] = i < count ? data[i] : 0;
}

/* Dwords beyond the buffer's end are dropped. */
static inline void gs_smem_buffer_store(gs_wave_t *w, const gs_inst_t *in, unsigned dwords) {
  if (!gs_smem_has_data(in, dwords))
    return;
  const gs_smem_buffer_t buffer = gs_smem_buffer(w, in);
  const uint64_t offset = gs_smem_buffer_offset(w, in);
  if (offset >= buffer.bytes)
    return;
  const uint64_t inside = (buffer.bytes - offset + 3) / 4;
  gs_smem_store(w, in, buffer.base + offset, inside < dwords ? (unsigned)inside : dwords);
}

#define GS_SMEM_LOAD(suffix, dwords)                                                                         \
  GS_OP(s_load_##suffix) {                                                                                   \
    gs_smem_load(w, in, gs_smem_address(w, in, gs_ssrc64(w, in, 0), 1), dwords);                             \
  }                                                                                                          \
  GS_OP(s_buffer_load_##suffix) {                                                                            \
    gs_smem_buffer_load(w, in, dwords);                                                                      \
  }
#define GS_SMEM_STORE(suffix, dwords)                                                                        \
  GS_OP(s_store_##suffix) {                                                                                  \
    gs_smem_store(w, in, gs_smem_address(w, in, gs_ssrc64(w, in, 0), 1), dwords);                            \
  }                                                                                                          \
  GS_OP(s_buffer_store_##suffix) {                                                                           \
    gs_smem_buffer_store(w, in, dwords);                                                                     \
  }                                                                                                          \
  GS_OP(s_scratch_load_##suffix) {                                                                           \
    gs_smem_load(w, in, gs_smem_address(w, in, gs_ssrc64(w, in, 0), 64), dwords);                            \
  }                                                                                                          \
  GS_OP(s_scratch_store_##suffix) {                                                                          \
    gs_smem_store(w, in, gs_smem_address(w, in, gs_ssrc64(w, in, 0), 64), dwords);                           \
  }
GS_SMEM_LOAD(dword, 1)
GS_SMEM_LOAD(dwordx2, 2)
GS_SMEM_LOAD(dwordx4, 4)
GS_SMEM_LOAD(dwordx8, 8)
GS_SMEM_LOAD(dwordx16, 16)
GS_SMEM_STORE(dword, 1)
GS_SMEM_STORE(dwordx2, 2)
GS_SMEM_STORE(dwordx4, 4)

/* ---- Atomics ---- */

/* Host address of an atomic's item; 0 when there is nothing to do. Items are naturally aligned. */
static inline uint64_t gs_smem_item(gs_wave_t *w, uint64_t address, unsigned bytes) {
  if (address & (bytes - 1)) {
    gs_wave_fault(w, GS_WAVE_FAULT_APERTURE, address, GS_VM_READ | GS_VM_WRITE, GS_MAX_LANES);
    return 0;
  }
  return (uint64_t)(uintptr_t)gs_reach_scalar(w, address, bytes, GS_VM_READ | GS_VM_WRITE);
}

/* The same in a buffer. Beyond its end nothing is done, and 0 is what an atomic with return reads. */
static inline uint64_t gs_smem_buffer_item(gs_wave_t *w, const gs_inst_t *in, unsigned bytes) {
  const gs_smem_buffer_t buffer = gs_smem_buffer(w, in);
  const uint64_t offset = gs_smem_buffer_offset(w, in);
  if (offset + bytes <= buffer.bytes)
    return gs_smem_item(w, buffer.base + offset, bytes);
  if (in->glc)
    for (unsigned i = 0; i < bytes / 4; i++)
      w->s.u32[in->dst + i] = 0;
  return 0;
}

static inline uint64_t gs_smem_data64(const gs_wave_t *w, unsigned reg) {
  return gs_read_sgpr64(w, reg);
}

static inline void gs_smem_return32(gs_wave_t *w, const gs_inst_t *in, uint32_t old) {
  if (in->glc)
    w->s.u32[in->dst] = old;
}
static inline void gs_smem_return64(gs_wave_t *w, const gs_inst_t *in, uint64_t old) {
  if (in->glc)
    gs_write_sgpr64(w, in->dst, old);
}

/* `data_dwords` is 2 items for cmpswap: the new value, then the expected one. */
#define GS_SMEM_ATOMIC_AT(name, op, item, data_items)                                                        \
  GS_OP(name) {                                                                                              \
    if (!gs_smem_has_data(in, data_items))                                                                   \
      return;                                                                                                \
    const uint64_t at = item(4);                                                                             \
    if (at)                                                                                                  \
      gs_smem_return32(w, in,                                                                                \
                       gs_rmw_##op##32(at, w->s.u32[in->dst], w->s.u32[in->dst + data_items - 1], w->mode)); \
  }                                                                                                          \
  GS_OP(name##_x2) {                                                                                         \
    if (!gs_smem_has_data(in, 2 * data_items))                                                               \
      return;                                                                                                \
    const uint64_t at = item(8);                                                                             \
    if (at)                                                                                                  \
      gs_smem_return64(w, in,                                                                                \
                       gs_rmw_##op##64(at, gs_smem_data64(w, in->dst),                                       \
                                       gs_smem_data64(w, in->dst + 2 * data_items - 2), w->mode));           \
  }
#define GS_ITEM(bytes)        gs_smem_item(w, gs_smem_address(w, in, gs_ssrc64(w, in, 0), 1), bytes)
#define GS_BUFFER_ITEM(bytes) gs_smem_buffer_item(w, in, bytes)
#define GS_SMEM_ATOMIC(op, data_items)                                                                       \
  GS_SMEM_ATOMIC_AT(s_atomic_##op, op, GS_ITEM, data_items)                                                  \
  GS_SMEM_ATOMIC_AT(s_buffer_atomic_##op, op, GS_BUFFER_ITEM, data_items)
GS_SMEM_ATOMIC(swap, 1)
GS_SMEM_ATOMIC(cmpswap, 2)
GS_SMEM_ATOMIC(add, 1)
GS_SMEM_ATOMIC(sub, 1)
GS_SMEM_ATOMIC(smin, 1)
GS_SMEM_ATOMIC(umin, 1)
GS_SMEM_ATOMIC(smax, 1)
GS_SMEM_ATOMIC(umax, 1)
GS_SMEM_ATOMIC(and, 1)
GS_SMEM_ATOMIC(or, 1)
GS_SMEM_ATOMIC(xor, 1)
GS_SMEM_ATOMIC(inc, 1)
GS_SMEM_ATOMIC(dec, 1)

/* ---- Clocks ---- */

static inline void gs_smem_clock(gs_wave_t *w, const gs_inst_t *in) {
  if (gs_smem_has_data(in, 2))
    gs_write_sgpr64(w, in->dst, w->env->clock());
}
GS_OP(s_memtime) {
  gs_smem_clock(w, in);
}
GS_OP(s_memrealtime) {
  gs_smem_clock(w, in);
}

/* ---- Caches: host memory is coherent, so all that is left of them is order ---- */

/* Loads after an invalidation must not be older than it; stores before a write-back must be visible after it.
 * On weakly ordered hosts that takes a fence. */
#define GS_SMEM_FENCE(name)                                                                                  \
  GS_OP(name) {                                                                                              \
    atomic_thread_fence(memory_order_seq_cst);                                                               \
    gs_watch_order(w, in);                                                                                   \
  }
GS_SMEM_FENCE(s_dcache_inv)
GS_SMEM_FENCE(s_gl1_inv)
GS_SMEM_FENCE(s_dcache_inv_vol)
GS_SMEM_FENCE(s_dcache_wb)
GS_SMEM_FENCE(s_dcache_wb_vol)

/* Discarding a dirty line leaves either value in memory: the written one is as good as the other. Probes only
 * warm up the translation of addresses. */
#define GS_SMEM_NO_EFFECT(name)                                                                              \
  GS_OP(name) {                                                                                              \
    (void)w;                                                                                                 \
    (void)in;                                                                                                \
  }
GS_SMEM_NO_EFFECT(s_dcache_discard)
GS_SMEM_NO_EFFECT(s_dcache_discard_x2)
GS_SMEM_NO_EFFECT(s_atc_probe)
GS_SMEM_NO_EFFECT(s_atc_probe_buffer)
