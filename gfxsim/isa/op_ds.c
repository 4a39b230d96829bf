/* DS instructions: loads, stores and atomics on the local data share, and exchanges between lanes that use
 * its network. LDS belongs to one workgroup, which one thread executes at a time: atomics need no host
 * atomics. Global data share and global wave sync do not exist on these devices as compute programs see them:
 * illegal. Not here: flat addresses of LDS (op_flat.c). */
#include "isa/block.h"
#include "isa/fp_atomic.h"
#include "isa/transfer.h"

/* ---- Addresses ---- */

static void illegal(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_fault(w, GS_WAVE_FAULT_ILLEGAL, w->pc - in->size, 0, GS_MAX_LANES);
}

static inline void lane_offsets(const gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, uint32_t offset) {
  const gs_row_t *address = &w->v[in->src[0].reg];
  GS_LANES_DO(l)
    a->at[l] = address->u32[l] + offset;
}

/* Each of these starts an access. Returns whether there is anything to do. */
static bool lds_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes, uint32_t offset,
                      uint32_t rights) {
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return false;
  }
  gs_access_init(a, gs_exec(w), bytes, rights);
  lane_offsets(w, in, a, offset);
  return gs_resolve_lds(w, a);
}
static bool lds_begin_atomic(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes,
                             uint32_t offset) {
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return false;
  }
  gs_access_init(a, gs_exec(w), bytes, GS_VM_READ | GS_VM_WRITE);
  lane_offsets(w, in, a, offset);
  return gs_access_check_alignment(w, a, bytes) && gs_resolve_lds(w, a);
}
/* The offset counts from M0 and the lane's number. */
static bool lds_begin_addtid(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, uint32_t rights) {
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return false;
  }
  gs_access_init(a, gs_exec(w), 4, rights);
  const uint32_t base = (w->s.u32[GS_S_M0] & 0xffff) + (uint32_t)gs_immediate(in);
  GS_LANES_DO(l)
    a->at[l] = base + 4 * l;
  return gs_resolve_lds(w, a);
}

/* The short way (block.h), for lanes whose addresses have this shape. */
static inline bool lds_block_of(gs_wave_t *w, const gs_inst_t *in, gs_block_t *b, gs_shape_t shape,
                                unsigned bytes, uint32_t offset, uint32_t rights) {
  const gs_row_t *const address = gs_row(w, in->src[0].reg);
  const uint64_t first = shape == GS_SHAPE_OTHER ? UINT64_MAX : (uint64_t)gs_first_lane(w, address) + offset;
  return first <= UINT32_MAX && gs_block_lds(w, b, shape, (uint32_t)first, bytes, rights);
}
static inline bool lds_block(gs_wave_t *w, const gs_inst_t *in, gs_block_t *b, unsigned bytes,
                             uint32_t offset, uint32_t rights) {
  return GS_LIKELY(!in->gds) &&
         lds_block_of(w, in, b, gs_row_shape(w, gs_row(w, in->src[0].reg), bytes), bytes, offset, rights);
}
/* The same at two offsets. */
static inline bool lds_blocks(gs_wave_t *w, const gs_inst_t *in, gs_block_t b[2], unsigned bytes,
                              uint32_t offset0, uint32_t offset1, uint32_t rights) {
  if (GS_UNLIKELY(in->gds))
    return false;
  const gs_shape_t shape = gs_row_shape(w, gs_row(w, in->src[0].reg), bytes);
  return lds_block_of(w, in, &b[0], shape, bytes, offset0, rights) &&
         lds_block_of(w, in, &b[1], shape, bytes, offset1, rights);
}

/* ---- Loads and stores ---- */

/* `n` dwords per lane to registers from `reg` on, and from there. The short ways give up without having done
 * anything; stencils consist of them. */
static inline bool lds_read_short(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset) {
  gs_block_t b;
  if (!lds_block(w, in, &b, 4 * n, offset, GS_VM_READ))
    return false;
  gs_block_load(w, &b, in->dst, n);
  return true;
}
/* A few lanes at places of their own, as where the sums of waves are added up: one after the other, which
 * takes less than to begin an access of all. */
static bool lds_read_few(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset) {
  enum { FEW = 8 };
  const uint64_t exec = gs_exec(w), size = w->env->lds_bytes;
  const gs_row_t *const address = gs_row(w, in->src[0].reg);
  if (GS_IS_WATCHED || in->gds || __builtin_popcountll(exec) > FEW)
    return false;
  for (uint64_t left = exec; left; left &= left - 1) {
    const uint64_t at = (uint64_t)address->u32[__builtin_ctzll(left)] + offset;
    if (at >= size || size - at < 4 * n)
      return false;
  }
  for (uint64_t left = exec; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t at = (uint64_t)(uintptr_t)w->env->lds + address->u32[l] + offset;
    uint32_t value[4];
    gs_guest_get_dwords(at, n, value);
    for (unsigned i = 0; i < n; i++)
      gs_row(w, in->dst + i)->u32[l] = value[i];
  }
  return true;
}
static void lds_read(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset) {
  gs_access_t a;
  if (!lds_read_short(w, in, n, offset) && !lds_read_few(w, in, n, offset) &&
      lds_begin(w, in, &a, 4 * n, offset, GS_VM_READ))
    gs_load_dwords(w, &a, in->dst, n);
}
/* Two reads of `n` dwords per lane. Both addresses come from a register that the first may overwrite. */
static inline bool lds_read2_short(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset0,
                                   uint32_t offset1) {
  gs_block_t block[2];
  if (!lds_blocks(w, in, block, 4 * n, offset0, offset1, GS_VM_READ))
    return false;
  gs_block_load(w, &block[0], in->dst, n);
  gs_block_load(w, &block[1], in->dst + n, n);
  return true;
}
static void lds_read2(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset0, uint32_t offset1) {
  gs_access_t a[2];
  if (!lds_read2_short(w, in, n, offset0, offset1) && lds_begin(w, in, &a[0], 4 * n, offset0, GS_VM_READ) &&
      lds_begin(w, in, &a[1], 4 * n, offset1, GS_VM_READ)) {
    gs_load_dwords(w, &a[0], in->dst, n);
    gs_load_dwords(w, &a[1], in->dst + n, n);
  }
}
static inline bool lds_write_short(gs_wave_t *w, const gs_inst_t *in, unsigned reg, unsigned n,
                                   uint32_t offset) {
  gs_block_t b;
  if (!lds_block(w, in, &b, 4 * n, offset, GS_VM_WRITE))
    return false;
  gs_block_store(w, &b, reg, n);
  return true;
}
static void lds_write(gs_wave_t *w, const gs_inst_t *in, unsigned reg, unsigned n, uint32_t offset) {
  gs_access_t a;
  if (!lds_write_short(w, in, reg, n, offset) && lds_begin(w, in, &a, 4 * n, offset, GS_VM_WRITE))
    gs_store_dwords(w, &a, reg, n);
}

/* Two equal offsets mean one access on gfx9, and only the first data (CDNA3's manual, 11.3.1). */
static inline bool is_one_access(const gs_wave_t *w, uint32_t offset0, uint32_t offset1) {
  return GS_UNLIKELY(offset0 == offset1) && w->env->target & GS_GFX9;
}

static inline bool lds_write2_short(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t offset0,
                                    uint32_t offset1) {
  gs_block_t block[2];
  if (!lds_blocks(w, in, block, 4 * n, offset0, offset1, GS_VM_WRITE))
    return false;
  gs_block_store(w, &block[0], in->src[1].reg, n);
  if (!is_one_access(w, offset0, offset1))
    gs_block_store(w, &block[1], in->src[2].reg, n);
  return true;
}

#define READ(name, n)                                                                                        \
  GS_OP(name) {                                                                                              \
    lds_read(w, in, n, (uint32_t)gs_immediate(in));                                                          \
  }
#define READ_NARROW(name, narrow, half)                                                                      \
  GS_OP(name) {                                                                                              \
    gs_access_t a;                                                                                           \
    if (lds_begin(w, in, &a, narrow >= GS_NARROW_U16 ? 2 : 1, (uint32_t)gs_immediate(in), GS_VM_READ))       \
      gs_load_narrow(w, &a, in->dst, narrow, half);                                                          \
  }
#define WRITE(name, n)                                                                                       \
  GS_OP(name) {                                                                                              \
    lds_write(w, in, in->src[1].reg, n, (uint32_t)gs_immediate(in));                                         \
  }
#define WRITE_NARROW(name, bytes, shift)                                                                     \
  GS_OP(name) {                                                                                              \
    gs_access_t a;                                                                                           \
    if (lds_begin(w, in, &a, bytes, (uint32_t)gs_immediate(in), GS_VM_WRITE))                                \
      gs_store_narrow(w, &a, in->src[1].reg, bytes, shift);                                                  \
  }
/* Two accesses of `n` dwords each, their offsets in units of `scale` bytes. */
#define READ2(name, n, scale)                                                                                \
  GS_OP(name) {                                                                                              \
    lds_read2(w, in, n, (uint32_t)gs_immediate(in) * scale, gs_immediate1(in) * scale);                      \
  }
#define WRITE2(name, n, scale)                                                                               \
  GS_OP(name) {                                                                                              \
    if (lds_write2_short(w, in, n, (uint32_t)gs_immediate(in) * scale, in->imm1 * scale))                    \
      return;                                                                                                \
    lds_write(w, in, in->src[1].reg, n, (uint32_t)gs_immediate(in) * scale);                                 \
    if (GS_LIKELY(!in->gds) && !is_one_access(w, (uint32_t)gs_immediate(in), in->imm1))                      \
      lds_write(w, in, in->src[2].reg, n, in->imm1 *scale);                                                  \
  }

READ(ds_read_b32, 1)
READ(ds_read_b64, 2)
READ(ds_read_b96, 3)
READ(ds_read_b128, 4)
READ2(ds_read2_b32, 1, 4)
READ2(ds_read2st64_b32, 1, 256)
READ2(ds_read2_b64, 2, 8)
READ2(ds_read2st64_b64, 2, 512)
READ_NARROW(ds_read_u8, GS_NARROW_U8, GS_HALF_NONE)
READ_NARROW(ds_read_i8, GS_NARROW_I8, GS_HALF_NONE)
READ_NARROW(ds_read_u16, GS_NARROW_U16, GS_HALF_NONE)
READ_NARROW(ds_read_i16, GS_NARROW_I16, GS_HALF_NONE)
READ_NARROW(ds_read_u8_d16, GS_NARROW_U8, GS_HALF_LO)
READ_NARROW(ds_read_u8_d16_hi, GS_NARROW_U8, GS_HALF_HI)
READ_NARROW(ds_read_i8_d16, GS_NARROW_I8, GS_HALF_LO)
READ_NARROW(ds_read_i8_d16_hi, GS_NARROW_I8, GS_HALF_HI)
READ_NARROW(ds_read_u16_d16, GS_NARROW_U16, GS_HALF_LO)
READ_NARROW(ds_read_u16_d16_hi, GS_NARROW_U16, GS_HALF_HI)
WRITE(ds_write_b32, 1)
WRITE(ds_write_b64, 2)
WRITE(ds_write_b96, 3)
WRITE(ds_write_b128, 4)
WRITE2(ds_write2_b32, 1, 4)
WRITE2(ds_write2st64_b32, 1, 256)
WRITE2(ds_write2_b64, 2, 8)
WRITE2(ds_write2st64_b64, 2, 512)
WRITE_NARROW(ds_write_b8, 1, 0)
WRITE_NARROW(ds_write_b16, 2, 0)
WRITE_NARROW(ds_write_b8_d16_hi, 1, 16)
WRITE_NARROW(ds_write_b16_d16_hi, 2, 16)

/* Sixteen lanes load the rows of a matrix, whose elements have so many bits, and get its columns: what they
 * have loaded, one behind the other, is dealt out by turns. (As AMD's rocRoller tests it on gfx950; the CDNA4
 * manual's 11.4 wants EXEC to be all ones, and here lanes that are not active give what they had.) */
static void transpose(gs_wave_t *w, unsigned reg, unsigned n, unsigned bits) {
  enum { DEALT = 16 };
  const unsigned count = 32 * n / bits;
  gs_row_t old[3];
  memcpy(old, gs_row(w, reg), n * sizeof *old);
  gs_row_t result[3] = {0};
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned e = 0; e < count; e++) {
      const unsigned from = DEALT * e + l % DEALT, lane = (l & ~(DEALT - 1u)) + from / count;
      const unsigned source = from % count * bits, at = e * bits;
      uint64_t value = old[source / 32].u32[lane];
      if (source % 32 + bits > 32)
        value |= (uint64_t)old[source / 32 + 1].u32[lane] << 32;
      value = (value >> source % 32 & ((UINT32_C(1) << bits) - 1)) << at % 32;
      result[at / 32].u32[l] |= (uint32_t)value;
      if (at % 32 + bits > 32)
        result[at / 32 + 1].u32[l] |= (uint32_t)(value >> 32);
    }
  for (unsigned i = 0; i < n; i++)
    gs_write_row(w, reg + i, &result[i], gs_exec(w));
}
#define READ_TRANSPOSED(name, n, bits)                                                                       \
  GS_OP(name) {                                                                                              \
    lds_read(w, in, n, (uint32_t)gs_immediate(in));                                                          \
    transpose(w, in->dst, n, bits);                                                                          \
  }
READ_TRANSPOSED(ds_read_b64_tr_b4, 2, 4)
READ_TRANSPOSED(ds_read_b96_tr_b6, 3, 6)
READ_TRANSPOSED(ds_read_b64_tr_b8, 2, 8)
READ_TRANSPOSED(ds_read_b64_tr_b16, 2, 16)

GS_OP(ds_read_addtid_b32) {
  gs_access_t a;
  if (lds_begin_addtid(w, in, &a, GS_VM_READ))
    gs_load_dwords(w, &a, in->dst, 1);
}
GS_OP(ds_write_addtid_b32) {
  gs_access_t a;
  if (lds_begin_addtid(w, in, &a, GS_VM_WRITE))
    gs_store_dwords(w, &a, in->src[1].reg, 1);
}

/* ---- Atomics ---- */

#define UNUSED __attribute__((unused))

/* What the fields of MODE let through. */
static inline unsigned denormals32(uint32_t mode) {
  return mode >> GS_MODE_DENORM32_SHIFT & 3;
}
static inline unsigned denormals64(uint32_t mode) {
  return mode >> GS_MODE_DENORM64_SHIFT & 3;
}

/* `next` is the new value as an expression of `old`, the operands `data` and `second`, and `mode`. */
#define RMW(name, bits, next)                                                                                \
  static uint##bits##_t lds_##name##bits(uint64_t at, UNUSED uint##bits##_t data,                            \
                                         UNUSED uint##bits##_t second, UNUSED uint32_t mode) {               \
    uint##bits##_t *item = (uint##bits##_t *)(uintptr_t)at;                                                  \
    const uint##bits##_t old = *item;                                                                        \
    *item = (next);                                                                                          \
    return old;                                                                                              \
  }
#define RMW_BOTH(name, next) RMW(name, 32, next) RMW(name, 64, next)

RMW_BOTH(add, old + data)
RMW_BOTH(sub, old - data)
RMW_BOTH(rsub, data - old)
RMW_BOTH(inc, old >= data ? 0 : old + 1)
RMW_BOTH(dec, old == 0 || old > data ? data : old - 1)
RMW(min_i, 32, (int32_t)data < (int32_t)old ? data : old)
RMW(min_i, 64, (int64_t)data < (int64_t)old ? data : old)
RMW(max_i, 32, (int32_t)data > (int32_t)old ? data : old)
RMW(max_i, 64, (int64_t)data > (int64_t)old ? data : old)
RMW_BOTH(min_u, data < old ? data : old)
RMW_BOTH(max_u, data > old ? data : old)
RMW_BOTH(and, old &data)
RMW_BOTH(or, old | data)
RMW_BOTH(xor, old ^ data)
RMW_BOTH(mskor, (old & ~data) | second)
RMW_BOTH(xchg, data)
RMW_BOTH(cmpst, old == data ? second : old)
RMW_BOTH(cmpstore, old == second ? data : old) /* the same with its operands the other way round */
RMW(wrap, 32, old >= data ? old - data : old + second)
RMW(min_f, 32, gs_fp_min32(old, data, denormals32(mode)))
RMW(min_f, 64, gs_fp_min64(old, data, denormals64(mode)))
RMW(max_f, 32, gs_fp_max32(old, data, denormals32(mode)))
RMW(max_f, 64, gs_fp_max64(old, data, denormals64(mode)))
RMW(add_f, 32, gs_fp_add32(old, data, denormals32(mode)))
RMW(add_f, 64, gs_fp_add64(old, data, denormals64(mode)))
RMW(pk_add_f16_, 32, gs_fp_pk_add16(old, data))
RMW(pk_add_bf16_, 32, gs_fp_pk_add_bf16(old, data))
RMW(cmpst_f, 32, gs_fp_equal32(old, data, denormals32(mode)) ? second : old)
RMW(cmpst_f, 64, gs_fp_equal64(old, data, denormals64(mode)) ? second : old)
RMW(cmpstore_f, 32, gs_fp_equal32(old, second, denormals32(mode)) ? data : old)
RMW(cmpstore_f, 64, gs_fp_equal64(old, second, denormals64(mode)) ? data : old)

#define ATOMIC(name, op, bits, second, ret)                                                                  \
  GS_OP(name) {                                                                                              \
    gs_access_t a;                                                                                           \
    if (lds_begin_atomic(w, in, &a, bits / 8, (uint32_t)gs_immediate(in)))                                   \
      gs_atomic##bits(w, &a, lds_##op##bits, in->src[1].reg, in->src[second].reg, ret);                      \
  }
/* With and without return; one operand or two. */
#define ATOMIC_1(op, type, name, bits)                                                                       \
  ATOMIC(ds_##op##_##type, name, bits, 1, GS_NO_RETURN)                                                      \
  ATOMIC(ds_##op##_rtn_##type, name, bits, 1, in->dst)
#define ATOMIC_2(op, type, name, bits)                                                                       \
  ATOMIC(ds_##op##_##type, name, bits, 2, GS_NO_RETURN)                                                      \
  ATOMIC(ds_##op##_rtn_##type, name, bits, 2, in->dst)

ATOMIC_1(add, u32, add, 32)
ATOMIC_1(sub, u32, sub, 32)
ATOMIC_1(rsub, u32, rsub, 32)
ATOMIC_1(inc, u32, inc, 32)
ATOMIC_1(dec, u32, dec, 32)
ATOMIC_1(min, i32, min_i, 32)
ATOMIC_1(max, i32, max_i, 32)
ATOMIC_1(min, u32, min_u, 32)
ATOMIC_1(max, u32, max_u, 32)
ATOMIC_1(and, b32, and, 32)
ATOMIC_1(or, b32, or, 32)
ATOMIC_1(xor, b32, xor, 32)
ATOMIC_2(mskor, b32, mskor, 32)
ATOMIC_2(cmpst, b32, cmpst, 32)
ATOMIC_2(cmpst, f32, cmpst_f, 32)
ATOMIC_2(cmpstore, b32, cmpstore, 32)
ATOMIC_2(cmpstore, f32, cmpstore_f, 32)
ATOMIC_2(cmpstore, b64, cmpstore, 64)
ATOMIC_2(cmpstore, f64, cmpstore_f, 64)
ATOMIC_1(min, f32, min_f, 32)
ATOMIC_1(max, f32, max_f, 32)
ATOMIC_1(add, f32, add_f, 32)
ATOMIC_1(pk_add, f16, pk_add_f16_, 32)
ATOMIC_1(pk_add, bf16, pk_add_bf16_, 32)
ATOMIC(ds_wrxchg_rtn_b32, xchg, 32, 1, in->dst)
ATOMIC(ds_wrap_rtn_b32, wrap, 32, 2, in->dst)
ATOMIC_1(add, u64, add, 64)
ATOMIC_1(sub, u64, sub, 64)
ATOMIC_1(rsub, u64, rsub, 64)
ATOMIC_1(inc, u64, inc, 64)
ATOMIC_1(dec, u64, dec, 64)
ATOMIC_1(min, i64, min_i, 64)
ATOMIC_1(max, i64, max_i, 64)
ATOMIC_1(min, u64, min_u, 64)
ATOMIC_1(max, u64, max_u, 64)
ATOMIC_1(and, b64, and, 64)
ATOMIC_1(or, b64, or, 64)
ATOMIC_1(xor, b64, xor, 64)
ATOMIC_2(mskor, b64, mskor, 64)
ATOMIC_2(cmpst, b64, cmpst, 64)
ATOMIC_2(cmpst, f64, cmpst_f, 64)
ATOMIC_1(min, f64, min_f, 64)
ATOMIC_1(max, f64, max_f, 64)
ATOMIC_1(add, f64, add_f, 64)
ATOMIC(ds_wrxchg_rtn_b64, xchg, 64, 1, in->dst)

/* Exchanges two items of `n` dwords; both are read before either is written. */
static void exchange2(gs_wave_t *w, const gs_inst_t *in, unsigned n, uint32_t scale) {
  gs_access_t a, b;
  if (!lds_begin_atomic(w, in, &a, 4 * n, (uint32_t)gs_immediate(in) * scale) ||
      !lds_begin_atomic(w, in, &b, 4 * n, in->imm1 * scale))
    return;
  gs_row_t old[4] = {0};
  const bool is_one = is_one_access(w, (uint32_t)gs_immediate(in), in->imm1);
  for (uint64_t left = a.lanes | b.lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    for (unsigned i = 0; i < n; i++) {
      if (gs_bit(a.lanes, l))
        old[i].u32[l] = gs_guest_get32(a.at[l] + 4 * i);
      if (gs_bit(b.lanes, l))
        old[n + i].u32[l] = gs_guest_get32(b.at[l] + 4 * i);
    }
    for (unsigned i = 0; i < n; i++) {
      if (gs_bit(a.lanes, l))
        gs_guest_put32(a.at[l] + 4 * i, w->v[in->src[1].reg + i].u32[l]);
      if (gs_bit(b.lanes, l) && !is_one)
        gs_guest_put32(b.at[l] + 4 * i, w->v[in->src[2].reg + i].u32[l]);
    }
  }
  for (unsigned i = 0; i < 2 * n; i++)
    gs_write_row(w, in->dst + i, &old[i], gs_exec(w));
}

GS_OP(ds_wrxchg2_rtn_b32) {
  exchange2(w, in, 1, 4);
}
GS_OP(ds_wrxchg2st64_rtn_b32) {
  exchange2(w, in, 1, 256);
}
GS_OP(ds_wrxchg2_rtn_b64) {
  exchange2(w, in, 2, 8);
}
GS_OP(ds_wrxchg2st64_rtn_b64) {
  exchange2(w, in, 2, 512);
}

/* Two dwords, each replaced by its operand without bit 31 if that bit is set. */
static uint64_t lds_condxchg64(uint64_t at, uint64_t data, UNUSED uint64_t second, UNUSED uint32_t mode) {
  uint64_t old = gs_guest_get64(at);
  if (data >> 31 & 1)
    gs_guest_put32(at, (uint32_t)data & 0x7fffffff);
  if (data >> 63)
    gs_guest_put32(at + 4, (uint32_t)(data >> 32) & 0x7fffffff);
  return old;
}
GS_OP(ds_condxchg32_rtn_b64) {
  gs_access_t a;
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return;
  }
  gs_access_init(&a, gs_exec(w), 8, GS_VM_READ | GS_VM_WRITE);
  lane_offsets(w, in, &a, (uint32_t)gs_immediate(in));
  GS_LANES_DO(l)
    a.at[l] &= 0xfff8;
  if (gs_resolve_lds(w, &a))
    gs_atomic64(w, &a, lds_condxchg64, in->src[1].reg, in->src[1].reg, in->dst);
}

/* ---- Atomics whose operand is in LDS too ---- */

/* The operand is some dwords from the item: by the offset (15 bits, signed) or, if its bit 15 is set, by bits
 * 31:17 of the address. */
static bool src2_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, gs_access_t *b, unsigned bytes) {
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return false;
  }
  const uint32_t offset = (uint32_t)gs_immediate(in);
  const bool by_address = offset >> 15 & 1;
  const int32_t fixed = (int32_t)(offset << 17) >> 17;
  const gs_row_t *address = &w->v[in->src[0].reg];
  gs_access_init(a, gs_exec(w), bytes, GS_VM_READ | GS_VM_WRITE);
  gs_access_init(b, gs_exec(w), bytes, GS_VM_READ);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint32_t item = by_address ? address->u32[l] & 0x1ffff : address->u32[l];
    a->at[l] = item;
    b->at[l] = item + 4 * (uint32_t)(by_address ? address->i32[l] >> 17 : fixed);
  }
  return gs_access_check_alignment(w, a, bytes) && gs_access_check_alignment(w, b, bytes < 8 ? bytes : 4) &&
         gs_resolve_lds(w, a) && gs_resolve_lds(w, b);
}

#define SRC2(name, op, bits)                                                                                 \
  GS_OP(name) {                                                                                              \
    gs_access_t a, b;                                                                                        \
    if (!src2_begin(w, in, &a, &b, bits / 8))                                                                \
      return;                                                                                                \
    for (uint64_t left = a.lanes; left; left &= left - 1) {                                                  \
      const unsigned l = (unsigned)__builtin_ctzll(left);                                                    \
      const uint##bits##_t data = gs_bit(b.lanes, l) ? gs_guest_get##bits(b.at[l]) : 0;                      \
      (void)lds_##op##bits(a.at[l], data, data, w->mode);                                                    \
    }                                                                                                        \
  }

SRC2(ds_add_src2_u32, add, 32)
SRC2(ds_sub_src2_u32, sub, 32)
SRC2(ds_rsub_src2_u32, rsub, 32)
SRC2(ds_inc_src2_u32, inc, 32)
SRC2(ds_dec_src2_u32, dec, 32)
SRC2(ds_min_src2_i32, min_i, 32)
SRC2(ds_max_src2_i32, max_i, 32)
SRC2(ds_min_src2_u32, min_u, 32)
SRC2(ds_max_src2_u32, max_u, 32)
SRC2(ds_and_src2_b32, and, 32)
SRC2(ds_or_src2_b32, or, 32)
SRC2(ds_xor_src2_b32, xor, 32)
SRC2(ds_write_src2_b32, xchg, 32)
SRC2(ds_min_src2_f32, min_f, 32)
SRC2(ds_max_src2_f32, max_f, 32)
SRC2(ds_add_src2_f32, add_f, 32)
SRC2(ds_add_src2_u64, add, 64)
SRC2(ds_sub_src2_u64, sub, 64)
SRC2(ds_rsub_src2_u64, rsub, 64)
SRC2(ds_inc_src2_u64, inc, 64)
SRC2(ds_dec_src2_u64, dec, 64)
SRC2(ds_min_src2_i64, min_i, 64)
SRC2(ds_max_src2_i64, max_i, 64)
SRC2(ds_min_src2_u64, min_u, 64)
SRC2(ds_max_src2_u64, max_u, 64)
SRC2(ds_and_src2_b64, and, 64)
SRC2(ds_or_src2_b64, or, 64)
SRC2(ds_xor_src2_b64, xor, 64)
SRC2(ds_write_src2_b64, xchg, 64)
SRC2(ds_min_src2_f64, min_f, 64)
SRC2(ds_max_src2_f64, max_f, 64)

/* ---- One counter for the wave ---- */

/* Adds `sign` times the number of active lanes to the dword that M0 and the offset name; all active lanes get
 * what was there. */
static void count_lanes(gs_wave_t *w, const gs_inst_t *in, bool subtract) {
  const uint64_t exec = gs_exec(w);
  if (GS_UNLIKELY(in->gds)) {
    illegal(w, in);
    return;
  }
  if (!exec)
    return;
  const uint32_t at = ((w->s.u32[GS_S_M0] & 0xffff) + (uint32_t)gs_immediate(in)) & ~3u;
  uint32_t old = 0;
  if (at < w->env->lds_bytes && w->env->lds_bytes - at >= 4) {
    const uint32_t count = (uint32_t)__builtin_popcountll(exec);
    memcpy(&old, w->env->lds + at, 4);
    const uint32_t next = subtract ? old - count : old + count;
    memcpy(w->env->lds + at, &next, 4);
  }
  gs_row_t row;
  GS_LANES_DO(l)
    row.u32[l] = old;
  gs_write_row(w, in->dst, &row, exec);
}
GS_OP(ds_append) {
  count_lanes(w, in, false);
}
GS_OP(ds_consume) {
  count_lanes(w, in, true);
}

/* ---- Between lanes ---- */

/* What the lanes of `exec` have, and 0 in the others. */
static inline void keep_active(gs_wave_t *w, const gs_row_t *data, uint64_t exec, gs_row_t *active) {
#if defined(__AVX512F__)
  (void)w;
  for (unsigned l = 0; l < GS_LANES; l += 16)
    _mm512_store_si512(&active->u32[l], _mm512_maskz_load_epi32((__mmask16)(exec >> l), &data->u32[l]));
#else
  if (exec != w->lane_mask_exec)
    gs_lane_mask_update(w, exec);
  GS_LANES_DO(l)
    active->u32[l] = data->u32[l] & w->lane_mask.u32[l];
#endif
}

/* Lanes get the value of lane `from[l]`, or 0 from an inactive one. */
GS_SHARED void take_from(gs_wave_t *w, const gs_inst_t *in, const gs_row_t *data, const gs_row_t *from) {
  const uint64_t exec = gs_exec(w);
  gs_row_t active, result;
  if (exec == GS_ALL_LANES) {
    gs_permute_row(data, from, &result);
    gs_copy_row(&result, gs_row(w, in->dst));
    return;
  }
  keep_active(w, data, exec, &active);
  gs_permute_row(&active, from, &result);
  gs_write_row(w, in->dst, &result, exec);
}

/* After gfx9 a wave of 64 lanes goes through the permutation in two halves, which see nothing of each other.
 */
static inline bool in_halves(const gs_wave_t *w) {
  return GS_LANES == 64 && !(w->env->target & GS_GFX9);
}
static inline uint32_t own_half(const gs_wave_t *w, unsigned l) {
  return in_halves(w) ? l & 32 : 0;
}
static inline uint32_t lane_mask(const gs_wave_t *w) {
  return in_halves(w) ? 31 : GS_LANES - 1;
}

GS_OP(ds_bpermute_b32) {
  gs_row_t from;
  const gs_row_t *address = gs_row(w, in->src[0].reg);
  const uint32_t offset = (uint32_t)gs_immediate(in), mask = lane_mask(w), half = in_halves(w) ? 32 : 0;
  GS_LANES_DO(l)
    from.u32[l] = (l & half) | ((address->u32[l] + offset) / 4 & mask);
  take_from(w, in, gs_row(w, in->src[1].reg), &from);
}

GS_OP(ds_permute_b32) {
  gs_row_t result = {0};
  const gs_row_t *address = &w->v[in->src[0].reg], *data = &w->v[in->src[1].reg];
  for (uint64_t left = gs_exec(w); left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    result.u32[own_half(w, l) | ((address->u32[l] + (uint32_t)gs_immediate(in)) / 4 & lane_mask(w))] =
        data->u32[l];
  }
  gs_write_row(w, in->dst, &result, gs_exec(w));
}

static uint32_t reverse5(uint32_t x) {
  return (x & 1) << 4 | (x & 2) << 2 | (x & 4) | (x & 8) >> 2 | (x & 16) >> 4;
}

/* Which lane of its group of 32 lane `i` (0 to 31) of a swizzle takes its value from. */
static uint32_t swizzle_source(uint32_t offset, uint32_t i) {
  const uint32_t and_mask = offset & 31;
  if (offset >= 0xe000) /* exchanges of a Fourier transform */
    return and_mask == 31 ? i : reverse5(i) >> __builtin_popcount(and_mask) | (i & and_mask);
  if (offset >= 0xc000) { /* rotation of the lanes that agree in the masked bits */
    const uint32_t count = offset >> 5 & 31;
    return (i & and_mask) | ((offset >> 10 & 1 ? i - count : i + count) & 31 & ~and_mask);
  }
  if (offset >= 0x8000) /* permutation of four lanes */
    return (i & 28) | (offset >> i % 4 * 2 & 3);
  return ((i & and_mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
}
GS_OP(ds_swizzle_b32) {
  gs_row_t from;
  for (unsigned l = 0; l < GS_LANES; l++)
    from.u32[l] = (l & 32) | swizzle_source((uint32_t)gs_immediate(in) & 0xffff, l & 31);
  take_from(w, in, &w->v[in->src[0].reg], &from);
}

GS_OP(ds_nop) {
  (void)w;
  (void)in;
}

/* ---- Stacks of nodes that rays have yet to visit ----
 * As AMD's ray tracing library says for processors without the instruction; the printed ISA text has it in
 * part, and the other way round. */

enum { BVH_STRIDE = 128, BVH_MOST = 0x3ffff };
#define BVH_TERMINAL UINT32_C(0xfffffffe)
#define BVH_INVALID  UINT32_C(0xffffffff)

/* Addresses of the entries that index[l] names: the base of a lane's stack is in the upper bits of `packed`,
 * and entries come round, as there are 8 << size of them. */
static bool bvh_begin(gs_wave_t *w, gs_access_t *a, uint64_t lanes, const gs_row_t *packed,
                      const gs_row_t *index, unsigned size, uint32_t rights) {
  const uint32_t mask = (8u << size) - 1;
  gs_access_init(a, lanes, 4, rights);
  GS_LANES_DO(l)
    a->at[l] = (packed->u32[l] >> 18) * 4 + (index->u32[l] & mask) * BVH_STRIDE;
  return lanes && gs_resolve_lds(w, a);
}

/* The lanes of `lanes` where the row has this value, or that of another row. */
static uint64_t lanes_with(uint64_t lanes, const gs_row_t *row, const gs_row_t *other, uint32_t value) {
  uint64_t found = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    found |= (uint64_t)(row->u32[l] == (other ? other->u32[l] : value)) << l;
  return found & lanes;
}

/* Pops a node for each of `lanes` into `node`, and leaves an invalid one behind. An empty stack ends the
 * search. */
static void bvh_pop(gs_wave_t *w, uint64_t lanes, const gs_row_t *packed, gs_row_t *index, unsigned size,
                    gs_row_t *node) {
  gs_row_t *const spare = &w->v[GS_ARCH_VGPRS]; /* no instruction of this family names it */
  const uint64_t empty = lanes_with(lanes, index, NULL, 0), full = lanes & ~empty;
  gs_access_t a;
  GS_LANES_DO(l) {
    node->u32[l] = empty >> l & 1 ? BVH_TERMINAL : node->u32[l];
    index->u32[l] -= (uint32_t)(full >> l & 1);
  }
  if (bvh_begin(w, &a, full, packed, index, size, GS_VM_READ)) {
    gs_load_dwords(w, &a, GS_ARCH_VGPRS, 1);
    GS_LANES_DO(l)
      node->u32[l] = full >> l & 1 ? spare->u32[l] : node->u32[l];
  }
  GS_LANES_DO(l)
    spare->u32[l] = BVH_INVALID;
  if (bvh_begin(w, &a, full, packed, index, size, GS_VM_WRITE))
    gs_store_dwords(w, &a, GS_ARCH_VGPRS, 1);
}

/* Of four nodes, nearest first, the nearest is visited next, and the others are pushed. Those up to the one
 * that was visited last have been dealt with. */
GS_OP(ds_bvh_stack_rtn_b32) {
  const uint64_t exec = gs_exec(w);
  const unsigned size = (uint32_t)in->imm >> 12 & 3, data = in->src[2].reg;
  const gs_row_t packed = w->v[in->src[0].reg], last = w->v[in->src[1].reg];
  const uint64_t any = lanes_with(exec, &last, NULL, BVH_INVALID);
  uint64_t live = any, next = 0;
  gs_row_t index, node;
  for (unsigned i = 0; i < 4; i++)
    live |= lanes_with(exec, &w->v[data + i], &last, 0);
  GS_LANES_DO(l)
    index.u32[l] = packed.u32[l] & BVH_MOST;
  for (unsigned i = 4; i-- > 0;) {
    gs_access_t a;
    live &= any | ~lanes_with(exec, &w->v[data + i], &last, 0);
    next = live & ~lanes_with(exec, &w->v[data + i], NULL, BVH_INVALID);
    if (i == 0)
      break;
    if (bvh_begin(w, &a, next, &packed, &index, size, GS_VM_WRITE))
      gs_store_dwords(w, &a, data + i, 1);
    GS_LANES_DO(l)
      index.u32[l] += (next >> l & 1) && index.u32[l] != BVH_MOST;
  }
  node = w->v[data];
  bvh_pop(w, exec & ~next, &packed, &index, size, &node);
  GS_LANES_DO(l)
    index.u32[l] |= packed.u32[l] & ~(uint32_t)BVH_MOST;
  gs_write_row(w, in->src[0].reg, &index, exec);
  gs_write_row(w, in->dst, &node, exec);
}

/* ---- Global wave sync: barriers of the whole grid, to which one wave of each workgroup comes, and
 * semaphores ---- */

static uint32_t gws_resource(const gs_wave_t *w, const gs_inst_t *in) {
  return (w->s.u32[GS_S_M0] >> 16) + (uint32_t)gs_immediate(in);
}
/* The value is that of the first lane which is on. */
static uint32_t gws_value(const gs_wave_t *w, const gs_inst_t *in) {
  const uint64_t exec = gs_exec(w);
  return w->v[in->src[0].reg].u32[exec ? (unsigned)__builtin_ctzll(exec) : 0];
}

GS_OP(ds_gws_init) {
  if (w->env->gws)
    gs_gws_set(w, gws_resource(w, in), gws_value(w, in));
  else
    illegal(w, in);
}
/* The wave comes again. */
static void gws_wait(gs_wave_t *w, const gs_inst_t *in) {
  w->pc -= in->size;
  w->state = GS_WAVE_YIELDED;
}

/* Who watches hears of it before others can go on by it, and after this wave can. */
static void gws_tell(gs_wave_t *w, const gs_inst_t *in) {
  if (GS_UNLIKELY(w->env->watch && w->env->watch->order))
    w->env->watch->order(w, in);
}

GS_OP(ds_gws_barrier) {
  if (!w->env->gws) {
    illegal(w, in);
    return;
  }
  if (!w->gws_turn)
    gws_tell(w, in);
  if (gs_gws_pass(w, gws_resource(w, in), gws_value(w, in)))
    gws_tell(w, in);
  else
    gws_wait(w, in);
}

/* Adds to the count of a semaphore, which is the lower half of its resource. */
static void gws_release(gs_wave_t *w, const gs_inst_t *in, uint32_t count) {
  if (!w->env->gws) {
    illegal(w, in);
    return;
  }
  _Atomic uint64_t *semaphore = &w->env->gws->barrier[gws_resource(w, in) % GS_GWS_COUNT];
  uint64_t now = atomic_load(semaphore);
  gws_tell(w, in);
  while (!atomic_compare_exchange_weak(semaphore, &now, now >> 32 << 32 | (uint32_t)(now + count))) {
  }
}
GS_OP(ds_gws_sema_v) {
  gws_release(w, in, 1);
}
GS_OP(ds_gws_sema_br) {
  gws_release(w, in, gws_value(w, in));
}
GS_OP(ds_gws_sema_p) {
  if (!w->env->gws) {
    illegal(w, in);
    return;
  }
  _Atomic uint64_t *semaphore = &w->env->gws->barrier[gws_resource(w, in) % GS_GWS_COUNT];
  uint64_t now = atomic_load(semaphore);
  while ((uint32_t)now && !atomic_compare_exchange_weak(semaphore, &now, now - 1)) {
  }
  if ((uint32_t)now)
    gws_tell(w, in);
  else
    gws_wait(w, in);
}

/* ---- Without the hardware ---- */

#define ABSENT(name)                                                                                         \
  GS_OP(name) {                                                                                              \
    illegal(w, in);                                                                                          \
  }
ABSENT(ds_gws_sema_release_all)
ABSENT(ds_ordered_count)
