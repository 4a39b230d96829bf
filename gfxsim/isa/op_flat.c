/* FLAT, GLOBAL and SCRATCH instructions: loads, stores and atomics whose addresses are in registers.
 * Not here: buffers (op_mubuf.c), and how an address becomes one of this process (memory.h). */
#include "isa/atomic.h"
#include "isa/block.h"
#include "isa/scalar.h"

/* ---- Addresses ---- */

/* 64-bit addresses from a register pair. */
static inline void vector_addresses(const gs_wave_t *w, const gs_inst_t *in, gs_access_t *a) {
  const gs_row64_t address = {gs_row(w, in->src[0].reg), gs_row(w, in->src[0].reg + 1u)};
  const uint64_t offset = (uint64_t)(int64_t)gs_immediate(in);
  GS_LANES_DO(l)
    a->at[l] = gs_get_u64(address, l) + offset;
}

/* A scalar base and 32-bit offsets. */
static inline void scalar_addresses(const gs_wave_t *w, const gs_inst_t *in, gs_access_t *a) {
  const uint64_t base = gs_read_sgpr64(w, in->src[2].reg) + (uint64_t)(int64_t)gs_immediate(in);
  const gs_row_t *offset = gs_row(w, in->src[0].reg);
  GS_LANES_DO(l)
    a->at[l] = base + offset->u32[l];
}

/* Each of these starts an access. Returns whether there is anything to do. Atomics want `align` bytes,
 * others 1. */
static bool global_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes, uint32_t rights,
                         unsigned align) {
  gs_access_init(a, gs_exec(w), bytes, rights);
  if (in->src[2].kind == GS_SRC_NONE)
    vector_addresses(w, in, a);
  else
    scalar_addresses(w, in, a);
  return (align == 1 || gs_access_check_alignment(w, a, align)) && gs_resolve(w, a);
}

/* What all lanes of an access of scratch memory have in common: a scalar register and the constant. */
static inline uint32_t scratch_base(const gs_wave_t *w, const gs_inst_t *in) {
  return (in->src[2].kind == GS_SRC_NONE ? 0 : gs_ssrc32(w, in, 2)) + (uint32_t)gs_immediate(in);
}

static bool scratch_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes,
                          uint32_t rights) {
  gs_access_init(a, gs_exec(w), bytes, rights);
  a->step = GS_PRIVATE_STEP;
  const uint32_t base = scratch_base(w, in);
  if (in->src[0].kind == GS_SRC_VGPR) {
    const gs_row_t *address = gs_row(w, in->src[0].reg);
    GS_LANES_DO(l)
      a->at[l] = gs_private_address(w, address->u32[l] + base) + 4 * l;
  } else {
    const uint64_t address = gs_private_address(w, base);
    GS_LANES_DO(l)
      a->at[l] = address + 4 * l;
  }
  return gs_resolve(w, a);
}

/* ---- The short way (block.h) ---- */

/* The address of the first lane, if the lanes' addresses are related. */
static inline gs_shape_t vector_shape(gs_wave_t *w, const gs_inst_t *in, unsigned bytes, uint64_t *address) {
  const gs_row_t *const low = gs_row(w, in->src[0].reg);
  const gs_shape_t shape = gs_row_shape(w, low, bytes);
  if (shape == GS_SHAPE_OTHER || gs_row_shape(w, low + 1, 0) == GS_SHAPE_OTHER)
    return GS_SHAPE_OTHER;
  *address = (uint64_t)gs_first_lane(w, low + 1) << 32 | gs_first_lane(w, low);
  return shape;
}

static inline bool global_block(gs_wave_t *w, const gs_inst_t *in, gs_block_t *b, unsigned bytes,
                                uint32_t rights) {
  uint64_t address;
  gs_shape_t shape;
  if (in->src[2].kind == GS_SRC_NONE) {
    shape = vector_shape(w, in, bytes, &address);
    if (shape == GS_SHAPE_OTHER)
      return false;
    address += (uint64_t)(int64_t)gs_immediate(in);
  } else {
    const gs_row_t *const offset = gs_row(w, in->src[0].reg);
    shape = gs_row_shape(w, offset, bytes);
    if (shape == GS_SHAPE_OTHER)
      return false;
    address =
        gs_read_sgpr64(w, in->src[2].reg) + (uint64_t)(int64_t)gs_immediate(in) + gs_first_lane(w, offset);
  }
  return gs_block_linear(w, b, shape, address, bytes, rights);
}

static inline bool scratch_block(gs_wave_t *w, const gs_inst_t *in, gs_block_t *b, unsigned bytes,
                                 uint32_t rights) {
  uint32_t offset = scratch_base(w, in);
  if (in->src[0].kind == GS_SRC_VGPR) {
    const gs_row_t *const row = gs_row(w, in->src[0].reg);
    if (gs_row_shape(w, row, 0) == GS_SHAPE_OTHER)
      return false;
    offset += gs_first_lane(w, row);
  }
  return gs_exec(w) && gs_block_private(w, b, gs_flat_scratch(w), offset, bytes, rights);
}

/* A block does not leave an aperture, which it would do at 4 GiB, where nothing is mapped. Whether it is in
 * one the registers say, without the constant: where that makes a difference this is not the way. */
static inline bool flat_block(gs_wave_t *w, const gs_inst_t *in, gs_block_t *b, unsigned bytes,
                              uint32_t rights) {
  uint64_t base;
  const gs_shape_t shape = vector_shape(w, in, bytes, &base);
  const uint64_t address = base + (uint64_t)(int64_t)gs_immediate(in);
  if (shape == GS_SHAPE_OTHER || base >> 32 != address >> 32)
    return false;
  switch (address >> 32) {
  case GS_PRIVATE_APERTURE_HI:
    return shape == GS_SHAPE_UNIFORM &&
           gs_block_private(w, b, gs_flat_scratch(w), (uint32_t)address, bytes, rights);
  case GS_SHARED_APERTURE_HI: return gs_block_lds(w, b, shape, (uint32_t)address, bytes, rights);
  default: return gs_block_linear(w, b, shape, address, bytes, rights);
  }
}

/* ---- Flat addresses of which some may be in an aperture ---- */

/* Which lanes' registers, to which `offset` was added, have this high dword. */
static uint64_t lanes_in(const gs_access_t *a, uint64_t offset, uint32_t high) {
  uint8_t bytes[GS_LANES];
  GS_LANES_DO(l)
    bytes[l] = (a->at[l] - offset) >> 32 == high;
  return gs_pack_mask(bytes) & a->lanes;
}

static bool in_aperture(uint64_t address) {
  return address >> 32 == GS_PRIVATE_APERTURE_HI || address >> 32 == GS_SHARED_APERTURE_HI;
}

/* The instruction's constant leads neither into an aperture nor out of one. Returns the lanes that it would
 * lead into one: for them there is nothing there. */
static uint64_t keep_apertures(gs_access_t *a, uint64_t offset) {
  uint64_t strays = 0;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t base = a->at[l] - offset;
    if (in_aperture(base))
      a->at[l] = (base & ~(uint64_t)UINT32_MAX) | (uint32_t)a->at[l];
    else if (in_aperture(a->at[l]))
      strays |= UINT64_C(1) << l;
  }
  return strays;
}

static bool resolve_apertures(gs_wave_t *w, gs_access_t *a, uint64_t offset, unsigned align) {
  const uint64_t private_lanes = lanes_in(a, offset, GS_PRIVATE_APERTURE_HI);
  const uint64_t shared_lanes = lanes_in(a, offset, GS_SHARED_APERTURE_HI);
  if (!private_lanes && !shared_lanes)
    return gs_resolve(w, a);
  if (GS_UNLIKELY(offset)) {
    const uint64_t strays = keep_apertures(a, offset);
    if (strays) {
      a->lanes = strays;
      return gs_resolve(w, a);
    }
  }
  /* An atomic on 8 bytes of private memory has them in two places: lanes go through their bounce buffers. */
  if (private_lanes == a->lanes && align <= 4) {
    a->step = GS_PRIVATE_STEP;
    GS_LANES_DO(l)
      a->at[l] = gs_private_address(w, (uint32_t)a->at[l]) + 4 * l;
    return gs_resolve(w, a);
  }
  if (shared_lanes == a->lanes) {
    GS_LANES_DO(l)
      a->at[l] = (uint32_t)a->at[l];
    return gs_resolve_lds(w, a);
  }
  gs_watch_mixed(w, a);
  return gs_resolve_mixed(w, a);
}

static bool flat_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, unsigned bytes, uint32_t rights,
                       unsigned align) {
  gs_access_init(a, gs_exec(w), bytes, rights);
  if (!a->lanes)
    return false;
  vector_addresses(w, in, a);
  if (align > 1 && !gs_access_check_alignment(w, a, align))
    return false;
  /* Nothing is mapped in the apertures, so that a hit says that no lane is there. */
  if (!GS_IS_WATCHED && !in_aperture(a->at[__builtin_ctzll(a->lanes)])) {
    gs_access_fill(w, a);
    if (GS_LIKELY(gs_resolve_near(w, a)))
      return true;
  }
  return resolve_apertures(w, a, (uint64_t)(int64_t)gs_immediate(in), align);
}

/* ---- Instructions ---- */

#define FLAT_BEGIN(bytes, rights)    flat_begin(w, in, &a, bytes, rights, 1)
#define GLOBAL_BEGIN(bytes, rights)  global_begin(w, in, &a, bytes, rights, 1)
#define SCRATCH_BEGIN(bytes, rights) scratch_begin(w, in, &a, bytes, rights)

/* The short ways give up without having done anything; stencils consist of them. */
#define LOAD_DWORDS(segment, begin, suffix, n)                                                               \
  static inline bool segment##_load_##suffix##_short(gs_wave_t *w, const gs_inst_t *in) {                    \
    gs_block_t b;                                                                                            \
    if (GS_UNLIKELY(in->lds) || !segment##_block(w, in, &b, 4 * n, GS_VM_READ))                              \
      return false;                                                                                          \
    if (GS_IS_WATCHED)                                                                                       \
      gs_block_expect(&b, n, GS_VM_READ);                                                                    \
    gs_block_load(w, &b, in->dst, n);                                                                        \
    return true;                                                                                             \
  }                                                                                                          \
  GS_OP(segment##_load_##suffix) {                                                                           \
    gs_access_t a;                                                                                           \
    if (segment##_load_##suffix##_short(w, in) || !begin(4 * n, GS_VM_READ))                                 \
      return;                                                                                                \
    if (GS_UNLIKELY(in->lds))                                                                                \
      gs_load_dwords_to_lds(w, &a, n, (uint32_t)gs_immediate(in));                                           \
    else                                                                                                     \
      gs_load_dwords(w, &a, in->dst, n);                                                                     \
  }
#define LOAD_NARROW(segment, begin, suffix, narrow, half)                                                    \
  static inline bool segment##_load_##suffix##_short(gs_wave_t *w, const gs_inst_t *in) {                    \
    const unsigned bytes = narrow >= GS_NARROW_U16 ? 2 : 1;                                                  \
    gs_block_t b;                                                                                            \
    if (GS_IS_WATCHED || half != GS_HALF_NONE || GS_UNLIKELY(in->lds) ||                                     \
        !segment##_block(w, in, &b, bytes, GS_VM_READ) || b.shape != GS_SHAPE_UNIFORM)                       \
      return false;                                                                                          \
    gs_block_load_narrow(w, &b, in->dst, narrow);                                                            \
    return true;                                                                                             \
  }                                                                                                          \
  GS_OP(segment##_load_##suffix) {                                                                           \
    gs_access_t a;                                                                                           \
    if (segment##_load_##suffix##_short(w, in) || !begin(narrow >= GS_NARROW_U16 ? 2 : 1, GS_VM_READ))       \
      return;                                                                                                \
    if (half == GS_HALF_NONE && GS_UNLIKELY(in->lds))                                                        \
      gs_load_narrow_to_lds(w, &a, narrow, (uint32_t)gs_immediate(in));                                      \
    else                                                                                                     \
      gs_load_narrow(w, &a, in->dst, narrow, half);                                                          \
  }
#define STORE_DWORDS(segment, begin, suffix, n)                                                              \
  static inline bool segment##_store_##suffix##_short(gs_wave_t *w, const gs_inst_t *in) {                   \
    gs_block_t b;                                                                                            \
    if (!segment##_block(w, in, &b, 4 * n, GS_VM_WRITE))                                                     \
      return false;                                                                                          \
    if (gs_block_stream(w, &b, in->src[1].reg, n))                                                           \
      return true;                                                                                           \
    gs_block_expect(&b, n, GS_VM_WRITE);                                                                     \
    gs_block_store(w, &b, in->src[1].reg, n);                                                                \
    return true;                                                                                             \
  }                                                                                                          \
  GS_OP(segment##_store_##suffix) {                                                                          \
    gs_access_t a;                                                                                           \
    if (!segment##_store_##suffix##_short(w, in) && begin(4 * n, GS_VM_WRITE))                               \
      gs_store_dwords(w, &a, in->src[1].reg, n);                                                             \
  }
#define STORE_NARROW(segment, begin, suffix, bytes, shift)                                                   \
  GS_OP(segment##_store_##suffix) {                                                                          \
    gs_access_t a;                                                                                           \
    if (begin(bytes, GS_VM_WRITE))                                                                           \
      gs_store_narrow(w, &a, in->src[1].reg, bytes, shift);                                                  \
  }

#define LOADS_AND_STORES(segment, begin)                                                                     \
  LOAD_NARROW(segment, begin, ubyte, GS_NARROW_U8, GS_HALF_NONE)                                             \
  LOAD_NARROW(segment, begin, sbyte, GS_NARROW_I8, GS_HALF_NONE)                                             \
  LOAD_NARROW(segment, begin, ushort, GS_NARROW_U16, GS_HALF_NONE)                                           \
  LOAD_NARROW(segment, begin, sshort, GS_NARROW_I16, GS_HALF_NONE)                                           \
  LOAD_NARROW(segment, begin, ubyte_d16, GS_NARROW_U8, GS_HALF_LO)                                           \
  LOAD_NARROW(segment, begin, ubyte_d16_hi, GS_NARROW_U8, GS_HALF_HI)                                        \
  LOAD_NARROW(segment, begin, sbyte_d16, GS_NARROW_I8, GS_HALF_LO)                                           \
  LOAD_NARROW(segment, begin, sbyte_d16_hi, GS_NARROW_I8, GS_HALF_HI)                                        \
  LOAD_NARROW(segment, begin, short_d16, GS_NARROW_U16, GS_HALF_LO)                                          \
  LOAD_NARROW(segment, begin, short_d16_hi, GS_NARROW_U16, GS_HALF_HI)                                       \
  LOAD_DWORDS(segment, begin, dword, 1)                                                                      \
  LOAD_DWORDS(segment, begin, dwordx2, 2)                                                                    \
  LOAD_DWORDS(segment, begin, dwordx3, 3)                                                                    \
  LOAD_DWORDS(segment, begin, dwordx4, 4)                                                                    \
  STORE_NARROW(segment, begin, byte, 1, 0)                                                                   \
  STORE_NARROW(segment, begin, byte_d16_hi, 1, 16)                                                           \
  STORE_NARROW(segment, begin, short, 2, 0)                                                                  \
  STORE_NARROW(segment, begin, short_d16_hi, 2, 16)                                                          \
  STORE_DWORDS(segment, begin, dword, 1)                                                                     \
  STORE_DWORDS(segment, begin, dwordx2, 2)                                                                   \
  STORE_DWORDS(segment, begin, dwordx3, 3)                                                                   \
  STORE_DWORDS(segment, begin, dwordx4, 4)

LOADS_AND_STORES(flat, FLAT_BEGIN)
LOADS_AND_STORES(global, GLOBAL_BEGIN)
LOADS_AND_STORES(scratch, SCRATCH_BEGIN)

/* The second operand follows the data by `second` registers. */
#define ATOMIC2(segment, suffix, op, bits, second)                                                           \
  GS_OP(segment##_atomic_##suffix) {                                                                         \
    gs_access_t a;                                                                                           \
    const unsigned data = in->src[1].reg;                                                                    \
    if (segment##_begin(w, in, &a, bits / 8, GS_VM_READ | GS_VM_WRITE, bits / 8))                            \
      gs_atomic##bits(w, &a, gs_rmw_##op##bits, data, data + second, in->glc ? in->dst : GS_NO_RETURN);      \
  }
#define ATOMIC(segment, suffix, op, bits) ATOMIC2(segment, suffix, op, bits, 0)
#define ATOMIC_BOTH(segment, op)                                                                             \
  ATOMIC(segment, op, op, 32)                                                                                \
  ATOMIC(segment, op##_x2, op, 64)
#define ATOMICS(segment)                                                                                     \
  ATOMIC_BOTH(segment, swap)                                                                                 \
  ATOMIC2(segment, cmpswap, cmpswap, 32, 1)                                                                  \
  ATOMIC2(segment, cmpswap_x2, cmpswap, 64, 2)                                                               \
  ATOMIC_BOTH(segment, add)                                                                                  \
  ATOMIC_BOTH(segment, sub)                                                                                  \
  ATOMIC_BOTH(segment, smin)                                                                                 \
  ATOMIC_BOTH(segment, umin)                                                                                 \
  ATOMIC_BOTH(segment, smax)                                                                                 \
  ATOMIC_BOTH(segment, umax)                                                                                 \
  ATOMIC_BOTH(segment, and)                                                                                  \
  ATOMIC_BOTH(segment, or)                                                                                   \
  ATOMIC_BOTH(segment, xor)                                                                                  \
  ATOMIC_BOTH(segment, inc)                                                                                  \
  ATOMIC_BOTH(segment, dec)                                                                                  \
  ATOMIC(segment, add_f64, add_f, 64)                                                                        \
  ATOMIC(segment, min_f64, min_f, 64)                                                                        \
  ATOMIC(segment, max_f64, max_f, 64)

ATOMICS(flat)
ATOMICS(global)
ATOMIC(global, add_f32, add_f, 32)
ATOMIC(global, pk_add_f16, pk_add_f16_, 32)

/* Of gfx942. */
ATOMIC(flat, add_kept_f32, add_kept_f, 32)
ATOMIC(flat, pk_add_f16, pk_add_f16_, 32)
ATOMIC(flat, pk_add_bf16, pk_add_bf16_, 32)
ATOMIC(global, add_kept_f32, add_kept_f, 32)
ATOMIC(global, pk_add_bf16, pk_add_bf16_, 32)

/* Of later families than gfx9. */
#define FLOAT_ATOMICS(segment)                                                                               \
  ATOMIC(segment, fmin, min_f, 32)                                                                           \
  ATOMIC(segment, fmin_x2, min_f, 64)                                                                        \
  ATOMIC(segment, fmax, max_f, 32)                                                                           \
  ATOMIC(segment, fmax_x2, max_f, 64)                                                                        \
  ATOMIC2(segment, fcmpswap, cmpswap_f, 32, 1)                                                               \
  ATOMIC2(segment, fcmpswap_x2, cmpswap_f, 64, 2)
FLOAT_ATOMICS(flat)
FLOAT_ATOMICS(global)
ATOMIC(global, csub, csub, 32)
ATOMIC(flat, add_denormal_f32, add_denormal_f, 32)
ATOMIC(global, add_denormal_f32, add_denormal_f, 32)

/* A dword for each lane, side by side. */
static bool addtid_begin(gs_wave_t *w, const gs_inst_t *in, gs_access_t *a, uint32_t rights) {
  gs_access_init(a, gs_exec(w), 4, rights);
  const uint64_t base = in->src[2].kind == GS_SRC_NONE ? 0 : gs_read_sgpr64(w, in->src[2].reg);
  GS_LANES_DO(l)
    a->at[l] = base + (uint64_t)(int64_t)gs_immediate(in) + 4 * l;
  return gs_resolve(w, a);
}
GS_OP(global_load_dword_addtid) {
  gs_access_t a;
  if (addtid_begin(w, in, &a, GS_VM_READ))
    gs_load_dwords(w, &a, in->dst, 1);
}
GS_OP(global_store_dword_addtid) {
  gs_access_t a;
  if (addtid_begin(w, in, &a, GS_VM_WRITE))
    gs_store_dwords(w, &a, in->src[1].reg, 1);
}
