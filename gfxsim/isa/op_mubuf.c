/* MUBUF instructions on untyped data: loads, stores and atomics through buffer resources, among them those of
 * scratch memory; and cache control. Not here: typed data (op_mtbuf.c). */
#include "isa/atomic.h"
#include "isa/block.h"
#include "isa/buffer.h"

enum { MAX_DWORDS = 4 };

/* ---- Accesses ---- */

/* Starts an access that is inside or outside the buffer as a whole. Returns whether there is anything to do.
 */
static bool begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes, uint32_t rights) {
  const gs_buffer_t b = gs_buffer_of(w, in);
  gs_access_init(a, gs_exec(w), bytes, rights);
  gs_buffer_addresses(w, in, &b, 0, a);
  return gs_resolve(w, a);
}

static bool begin_atomic(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes) {
  const gs_buffer_t b = gs_buffer_of(w, in);
  gs_access_init(a, gs_exec(w), bytes, GS_VM_READ | GS_VM_WRITE);
  gs_buffer_addresses(w, in, &b, 0, a);
  return gs_access_check_alignment(w, a, b.swizzle ? 4 : bytes) && gs_resolve(w, a);
}

/* An access of up to MAX_DWORDS dwords, each of which is checked against the end of the buffer by itself. */
typedef struct dwords {
  gs_access_t whole; /* of the lanes that are inside with all dwords; `zero` has the others */
  /* Dword i of those that are inside with some only, which are their first. */
  gs_access_t part[MAX_DWORDS - 1];
  unsigned parts; /* how many of part[] have lanes */
} dwords_t;

/* Resolves what lanes that leave the buffer have inside it. Returns false when the wave faulted. */
static bool begin_parts(gs_wave_t *w, const gs_inst_t *in, const gs_buffer_t *b, dwords_t *d, unsigned n) {
  while (d->parts < n - 1) {
    gs_access_t *part = &d->part[d->parts];
    gs_access_init(part, d->whole.zero, 4, d->whole.rights);
    gs_buffer_addresses(w, in, b, 4 * d->parts, part);
    part->zero = 0;
    if (!part->lanes)
      break;
    if (!gs_resolve(w, part))
      return false;
    d->parts++;
  }
  return true;
}

/* Starts an access of `n` dwords. Returns whether there is anything to do. */
static bool begin_dwords(gs_wave_t *w, const gs_inst_t *in, dwords_t *d, unsigned n, uint32_t rights) {
  const gs_buffer_t b = gs_buffer_of(w, in);
  d->parts = 0;
  gs_access_init(&d->whole, gs_exec(w), 4 * n, rights);
  gs_buffer_addresses(w, in, &b, 0, &d->whole);
  if (!gs_resolve(w, &d->whole))
    return false;
  return GS_LIKELY(!d->whole.zero) || gs_buffer_counts_records(in, &b) || begin_parts(w, in, &b, d, n);
}

/* Stores `n` dwords of lanes that are partly inside: where lanes overlap, the later one wins. */
static void store_parts(gs_wave_t *w, dwords_t *d, unsigned reg, unsigned n) {
  const gs_row_t *row = &w->v[reg];
  for (uint64_t left = d->whole.lanes | d->part[0].lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (gs_bit(d->whole.lanes, l))
      gs_put_dwords(&d->whole, row, l, n);
    for (unsigned i = 0; i < d->parts && gs_bit(d->part[i].lanes, l); i++)
      gs_put_dwords(&d->part[i], &row[i], l, 1);
  }
  gs_access_finish(w, &d->whole);
  for (unsigned i = 0; i < d->parts; i++)
    gs_access_finish(w, &d->part[i]);
}

/* The short way (block.h), for scratch memory at one offset in all lanes: the lanes are the records of the
 * buffer's only swizzled block. */
static bool scratch_block(gs_wave_t *w, const gs_inst_t *in, gs_block_t *block, unsigned n, uint32_t rights) {
  const gs_buffer_t b = gs_buffer_of(w, in);
  if (!b.swizzle || 1u << b.index_shift != GS_LANES || !b.add_tid || in->idxen || in->lds || !gs_exec(w) ||
      gs_buffer_counts_records(in, &b))
    return false;
  uint32_t offset = (uint32_t)in->imm;
  if (in->offen) {
    const gs_row_t *const row = &w->v[in->src[0].reg];
    if (gs_row_shape(w, row, 0) == GS_SHAPE_OTHER)
      return false;
    offset += gs_first_lane(w, row);
  }
  const uint32_t soffset = gs_ssrc32(w, in, 2);
  const uint64_t end = soffset + ((uint64_t)(offset / 4) + n) * GS_PRIVATE_STEP;
  return (end <= b.num_records || b.bounds == GS_BOUNDS_NONE) &&
         gs_block_private(w, block, b.base + soffset, offset, 4 * n, rights);
}

/* The register after the data says whether pages were missing: never, as such an access faults. */
static void put_status(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  if (GS_LIKELY(!in->tfe))
    return;
  static const gs_row_t none;
  gs_write_row(w, in->dst + n, &none, gs_exec(w));
}

/* To LDS: lanes that are inside with some of their dwords get zeroes for the others. */
static void load_to_lds(gs_wave_t *w, const gs_inst_t *in, const dwords_t *d, unsigned n) {
  gs_row_t row[MAX_DWORDS];
  gs_access_t all = d->whole;
  memset(row, 0, n * sizeof *row);
  for (unsigned i = 0; all.lanes && i < n; i++)
    gs_gather32(&row[i], all.at, (uint64_t)i * all.step);
  for (uint64_t left = all.zero; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    for (unsigned i = 0; i < n; i++)
      row[i].u32[l] = i < d->parts && gs_bit(d->part[i].lanes, l) ? gs_guest_get32(d->part[i].at[l]) : 0;
  }
  all.lanes |= all.zero;
  all.zero = 0;
  gs_rows_to_lds(w, &all, row, n, (uint32_t)in->imm);
}

static void load_dwords(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  dwords_t d;
  gs_block_t block;
  if (scratch_block(w, in, &block, n, GS_VM_READ)) {
    gs_block_load(w, &block, in->dst, n);
    put_status(w, in, n);
    return;
  }
  if (!begin_dwords(w, in, &d, n, GS_VM_READ))
    return;
  if (GS_UNLIKELY(in->lds)) {
    load_to_lds(w, in, &d, n);
    return;
  }
  gs_load_dwords(w, &d.whole, in->dst, n);
  for (unsigned i = 0; i < d.parts; i++)
    gs_load_dwords(w, &d.part[i], in->dst + i, 1);
  put_status(w, in, n);
}

static void store_dwords(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  dwords_t d;
  gs_block_t block;
  if (scratch_block(w, in, &block, n, GS_VM_WRITE)) {
    gs_block_store(w, &block, in->dst, n);
    return;
  }
  if (!begin_dwords(w, in, &d, n, GS_VM_WRITE))
    return;
  if (GS_LIKELY(!d.parts))
    gs_store_dwords(w, &d.whole, in->dst, n);
  else
    store_parts(w, &d, in->dst, n);
}

/* ---- Loads and stores ---- */

#define LOAD_DWORDS(suffix, n)                                                                               \
  GS_OP(buffer_load_##suffix) {                                                                              \
    load_dwords(w, in, n);                                                                                   \
  }
#define STORE_DWORDS(suffix, n)                                                                              \
  GS_OP(buffer_store_##suffix) {                                                                             \
    store_dwords(w, in, n);                                                                                  \
  }
#define LOAD_NARROW(suffix, narrow, half)                                                                    \
  GS_OP(buffer_load_##suffix) {                                                                              \
    gs_access_t a;                                                                                           \
    if (!begin(w, in, &a, narrow >= GS_NARROW_U16 ? 2 : 1, GS_VM_READ))                                      \
      return;                                                                                                \
    if (half == GS_HALF_NONE && GS_UNLIKELY(in->lds)) {                                                      \
      gs_load_narrow_to_lds(w, &a, narrow, (uint32_t)in->imm);                                               \
    } else {                                                                                                 \
      gs_load_narrow(w, &a, in->dst, narrow, half);                                                          \
      put_status(w, in, 1);                                                                                  \
    }                                                                                                        \
  }
#define STORE_NARROW(suffix, bytes, shift)                                                                   \
  GS_OP(buffer_store_##suffix) {                                                                             \
    gs_access_t a;                                                                                           \
    if (begin(w, in, &a, bytes, GS_VM_WRITE))                                                                \
      gs_store_narrow(w, &a, in->dst, bytes, shift);                                                         \
  }

LOAD_DWORDS(dword, 1)
LOAD_DWORDS(dwordx2, 2)
LOAD_DWORDS(dwordx3, 3)
LOAD_DWORDS(dwordx4, 4)
STORE_DWORDS(dword, 1)
STORE_DWORDS(dwordx2, 2)
STORE_DWORDS(dwordx3, 3)
STORE_DWORDS(dwordx4, 4)
LOAD_NARROW(ubyte, GS_NARROW_U8, GS_HALF_NONE)
LOAD_NARROW(sbyte, GS_NARROW_I8, GS_HALF_NONE)
LOAD_NARROW(ushort, GS_NARROW_U16, GS_HALF_NONE)
LOAD_NARROW(sshort, GS_NARROW_I16, GS_HALF_NONE)
LOAD_NARROW(ubyte_d16, GS_NARROW_U8, GS_HALF_LO)
LOAD_NARROW(ubyte_d16_hi, GS_NARROW_U8, GS_HALF_HI)
LOAD_NARROW(sbyte_d16, GS_NARROW_I8, GS_HALF_LO)
LOAD_NARROW(sbyte_d16_hi, GS_NARROW_I8, GS_HALF_HI)
LOAD_NARROW(short_d16, GS_NARROW_U16, GS_HALF_LO)
LOAD_NARROW(short_d16_hi, GS_NARROW_U16, GS_HALF_HI)
STORE_NARROW(byte, 1, 0)
STORE_NARROW(byte_d16_hi, 1, 16)
STORE_NARROW(short, 2, 0)
STORE_NARROW(short_d16_hi, 2, 16)

/* The data comes from where a load with lds=1 would put it. */
GS_OP(buffer_store_lds_dword) {
  gs_access_t a;
  if (!begin(w, in, &a, 4, GS_VM_WRITE))
    return;
  gs_watch_lds_lanes(w, a.lanes, (uint32_t)in->imm, 4, GS_VM_READ);
  for (uint64_t left = a.lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint8_t *from = gs_lds_lane(w, (uint32_t)in->imm, l, 4);
    gs_guest_put32(a.at[l], from ? gs_guest_get32((uint64_t)(uintptr_t)from) : 0);
  }
  gs_access_finish(w, &a);
}

/* ---- Atomics ---- */

/* The second operand follows the data by `second` registers. */
#define ATOMIC2(suffix, op, bits, second)                                                                    \
  GS_OP(buffer_atomic_##suffix) {                                                                            \
    gs_access_t a;                                                                                           \
    if (begin_atomic(w, in, &a, bits / 8))                                                                   \
      gs_atomic##bits(w, &a, gs_rmw_##op##bits, in->dst, in->dst + second,                                   \
                      in->glc ? in->dst : GS_NO_RETURN);                                                     \
  }
#define ATOMIC(suffix, op, bits) ATOMIC2(suffix, op, bits, 0)
#define ATOMIC_BOTH(op)                                                                                      \
  ATOMIC(op, op, 32)                                                                                         \
  ATOMIC(op##_x2, op, 64)

ATOMIC_BOTH(swap)
ATOMIC2(cmpswap, cmpswap, 32, 1)
ATOMIC2(cmpswap_x2, cmpswap, 64, 2)
ATOMIC_BOTH(add)
ATOMIC_BOTH(sub)
ATOMIC_BOTH(smin)
ATOMIC_BOTH(umin)
ATOMIC_BOTH(smax)
ATOMIC_BOTH(umax)
ATOMIC_BOTH(and)
ATOMIC_BOTH(or)
ATOMIC_BOTH(xor)
ATOMIC_BOTH(inc)
ATOMIC_BOTH(dec)
ATOMIC(add_f32, add_f, 32)
ATOMIC(add_kept_f32, add_kept_f, 32)
ATOMIC(add_denormal_f32, add_denormal_f, 32)
ATOMIC(pk_add_f16, pk_add_f16_, 32)
ATOMIC(pk_add_bf16, pk_add_bf16_, 32)
ATOMIC(add_f64, add_f, 64)
ATOMIC(min_f64, min_f, 64)
ATOMIC(max_f64, max_f, 64)

ATOMIC(fmin, min_f, 32)
ATOMIC(fmin_x2, min_f, 64)
ATOMIC(fmax, max_f, 32)
ATOMIC(fmax_x2, max_f, 64)
ATOMIC2(fcmpswap, cmpswap_f, 32, 1)
ATOMIC2(fcmpswap_x2, cmpswap_f, 64, 2)
ATOMIC(csub, csub, 32)

/* ---- Caches ---- */

/* There are none; what remains is the order of memory accesses. */
#ifdef GS_THREAD_SANITIZER
#define FENCE() atomic_signal_fence(memory_order_seq_cst) /* the sanitizer knows no other fence */
#else
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#define CACHE(name)                                                                                          \
  GS_OP(name) {                                                                                              \
    FENCE();                                                                                                 \
    gs_watch_order(w, in);                                                                                   \
  }
CACHE(buffer_wbinvl1)
CACHE(buffer_wbinvl1_vol)
CACHE(buffer_wbl2)
CACHE(buffer_invl2)
CACHE(buffer_gl0_inv)
CACHE(buffer_gl1_inv)
