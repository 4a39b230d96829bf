/* Buffer resources (V#) and the formats of typed buffer data.
 * Not here: the instructions (op_mubuf.c, op_mtbuf.c). */
#ifndef GFXSIM_ISA_BUFFER_H
#define GFXSIM_ISA_BUFFER_H

#include "isa/scalar.h"
#include "isa/transfer.h"

/* When an access is out of bounds. Later families than gfx9 say so in the resource. */
typedef enum gs_bounds {
  GS_BOUNDS_STRUCTURED, /* index beyond the records, or access beyond its record: gfx10 asks where it begins
                         */
  GS_BOUNDS_INDEX,      /* index beyond the records */
  GS_BOUNDS_NONE,       /* never, unless there are no records at all */
  GS_BOUNDS_BYTES,      /* end of the access beyond num_records, which counts bytes; gfx11 does as
                         * STRUCTURED if swizzling records of some size */
  GS_BOUNDS_GFX9,       /* by index if there are one and a stride, else by bytes */
} gs_bounds_t;

/* A buffer resource, taken apart. */
typedef struct gs_buffer {
  uint64_t base;
  uint32_t stride;
  uint32_t num_records;
  uint32_t index_shift; /* swizzled: log2 of how many records lie side by side */
  bool swizzle, add_tid;
  uint8_t dst_sel[4];
  uint8_t nfmt, dfmt;
  uint8_t bounds;    /* gs_bounds_t */
  bool first_counts; /* GS_BOUNDS_STRUCTURED: an access that begins in its record may leave it */
  bool is_unbound;   /* loads give 0, stores do nothing: no format, though MUBUF does not use it */
} gs_buffer_t;

static inline gs_buffer_t gs_buffer_of(const gs_wave_t *w, const gs_inst_t *in) {
  const uint32_t *v = &w->s.u32[in->src[1].reg];
  const bool is_untyped = in->op->encoding == GS_ENC_MUBUF;
  gs_buffer_t b = {
      .base = v[0] | (uint64_t)(v[1] & 0xffff) << 32,
      .stride = v[1] >> 16 & 0x3fff,
      .num_records = v[2],
      .index_shift = 3 + (v[3] >> 21 & 3),
      .swizzle = v[1] >> 31,
      .add_tid = v[3] >> 23 & 1,
      .dst_sel = {v[3] & 7, v[3] >> 3 & 7, v[3] >> 6 & 7, v[3] >> 9 & 7},
      .nfmt = v[3] >> 12 & 7,
      .dfmt = v[3] >> 15 & 15,
      .bounds = GS_BOUNDS_GFX9,
  };
  if (GS_LANES == 32 || !(w->env->target & GS_GFX9)) {
    const bool gfx11 = w->env->target & GS_GFX11; /* whose swizzling has two bits */
    const unsigned format = gs_format_of_unified(w->env->target, v[3] >> 12 & (gfx11 ? 0x3f : 0x7f));
    if (gfx11)
      b.swizzle = v[1] >> 30;
    b.dfmt = format & 15;
    b.nfmt = (uint8_t)(format >> 4);
    b.bounds = v[3] >> 28 & 3;
    if (gfx11 && b.bounds == GS_BOUNDS_BYTES && b.swizzle && b.stride)
      b.bounds = GS_BOUNDS_STRUCTURED;
    b.first_counts = !gfx11;
    b.is_unbound = is_untyped && !b.add_tid && !(v[3] >> 12 & (gfx11 ? 0x3f : 0x7f));
    return b;
  }
  /* With the lane's number in the index there are no formats, and their field holds more bits of the stride.
   */
  if (b.add_tid)
    b.stride |= (uint32_t)b.dfmt << 14;
  else
    b.is_unbound = is_untyped && b.dfmt == 0;
  return b;
}

/* Whether records are counted, so that a lane is inside or outside as a whole; else bytes are. */
static inline bool gs_buffer_counts_records(const gs_inst_t *in, const gs_buffer_t *b) {
  return b->bounds == GS_BOUNDS_GFX9 ? in->idxen && b->stride != 0 : b->bounds < GS_BOUNDS_NONE;
}

/* What the addresses of one buffer instruction are made of. */
typedef struct gs_buffer_operands {
  const gs_row_t *index, *offset; /* from registers; rows of zeroes if there are none */
  uint32_t imm;
  uint32_t soffset;
} gs_buffer_operands_t;

static inline gs_buffer_operands_t gs_buffer_operands(const gs_wave_t *w, const gs_inst_t *in) {
  static const gs_row_t none;
  const gs_row_t *vgpr = in->src[0].kind == GS_SRC_VGPR ? &w->v[in->src[0].reg] : &none;
  return (gs_buffer_operands_t){.index = in->idxen ? vgpr : &none,
                                .offset = in->offen ? vgpr + in->idxen : &none,
                                .imm = (uint32_t)in->imm,
                                .soffset = gs_ssrc32(w, in, 2)};
}

/* Moves lanes whose access ends behind the end of the buffer to a->zero. `end` and `extra` count as `at`
 * does: from the base, which is in at[] already. */
static inline void gs_buffer_check_bytes(gs_access_t *a, uint64_t base, uint64_t extra, uint64_t end) {
  uint64_t beyond = 0;
  const uint64_t last = base + end - extra;
  if (GS_LIKELY(end >= extra)) {
    for (unsigned l = 0; l < GS_LANES; l++)
      beyond |= last - a->at[l];
    if (GS_LIKELY((int64_t)beyond >= 0))
      return;
  }
  for (unsigned l = 0; l < GS_LANES; l++)
    if (gs_bit(a->lanes, l) && a->at[l] - base + extra > end)
      a->zero |= UINT64_C(1) << l;
  a->lanes &= ~a->zero;
}

/* Fills the addresses of an access `skip` bytes (a multiple of 4) after the instruction's own address; lanes
 * beyond the end of the buffer go to a->zero. Nothing wraps at 4 GiB and comes back into the buffer: programs
 * give lanes that have nothing to access the offset 0xffffffff, or an index as large. Only swizzled buffers,
 * which compilers use for scratch memory, add the two parts of the offset in 32 bits: there a register may
 * hold a negative offset that the instruction's constant makes good again. */
GS_SHARED void gs_buffer_addresses(const gs_wave_t *w, const gs_inst_t *in, const gs_buffer_t *b,
                                   unsigned skip, gs_access_t *a) {
  if (GS_UNLIKELY(b->is_unbound)) {
    a->zero = a->lanes;
    a->lanes = 0;
    return;
  }
  const gs_buffer_operands_t o = gs_buffer_operands(w, in);
  const uint64_t base = b->base + o.soffset;
  const uint32_t imm = o.imm, tid = b->add_tid, stride = b->stride;
  /* Without swizzling a record is `stride` bytes; with it, blocks of 2^shift records hold dword after dword
   * of each. */
  const uint32_t shift = b->swizzle ? b->index_shift : 0;
  const uint32_t inside = b->swizzle ? (1u << shift) - 1 : 0;
  const uint64_t whole = b->swizzle ? ~UINT64_C(3) : UINT64_MAX;
  const uint64_t width = b->swizzle ? UINT32_MAX : UINT64_MAX;
  if (b->swizzle)
    a->step = 4u << shift;
  if (!in->idxen && b->swizzle && 1u << shift == GS_LANES && tid) {
    /* Scratch memory: the lanes are the records of the only block. */
    GS_LANES_DO(l) {
      const uint64_t offset = (uint64_t)(o.offset->u32[l] + imm) + skip;
      a->at[l] = base + (offset & whole) * GS_LANES + (offset & 3) + 4 * l;
    }
  } else {
    GS_LANES_DO(l) {
      const uint32_t index = o.index->u32[l] + l * tid;
      const uint64_t offset = (((uint64_t)o.offset->u32[l] + imm) & width) + skip;
      const uint64_t record = (uint64_t)(index >> shift) * stride;
      a->at[l] = base + ((record + (offset & whole)) << shift) + (index & inside) * 4 + (offset & ~whole);
    }
  }
  if (b->bounds == GS_BOUNDS_NONE) {
    a->zero = b->num_records ? 0 : a->lanes;
    a->lanes &= ~a->zero;
    return;
  }
  if (!gs_buffer_counts_records(in, b)) {
    gs_buffer_check_bytes(a, base, o.soffset + gs_access_span(a), b->num_records);
    return;
  }
  uint8_t outside[GS_LANES];
  const unsigned counted = b->first_counts ? 1 : a->bytes;
  GS_LANES_DO(l)
    outside[l] =
        (uint64_t)o.index->u32[l] + l * tid >= b->num_records ||
        (b->bounds == GS_BOUNDS_STRUCTURED && (uint64_t)o.offset->u32[l] + imm + skip + counted > stride);
  a->zero = gs_pack_mask(outside) & a->lanes;
  a->lanes &= ~a->zero;
}

/* ---- Formats ---- */

enum {
  GS_NFMT_UNORM,
  GS_NFMT_SNORM,
  GS_NFMT_USCALED,
  GS_NFMT_SSCALED,
  GS_NFMT_UINT,
  GS_NFMT_SINT,
  GS_NFMT_FLOAT = 7,
};

/* What a data format looks like: component `i` has width[i] bits at bit shift[i]. */
typedef struct gs_format {
  uint8_t bytes; /* 0: no such format */
  uint8_t components;
  uint8_t width[4];
  uint8_t shift[4];
} gs_format_t;

/* The format of that number, or NULL if there is none for it: then loads return 0 and stores do nothing. */
const gs_format_t *gs_format_find(unsigned dfmt, unsigned nfmt);

/* Component `i` of the item `raw` as the 32 bits that go to a register; as a half or 16-bit integer if `d16`.
 */
uint32_t gs_format_unpack(const gs_format_t *format, unsigned nfmt, const uint32_t raw[4], unsigned i,
                          bool d16);
/* What a component is that the format lacks (0, 0, 0, 1) or a resource asks for: `one` or zero. */
uint32_t gs_format_constant(unsigned nfmt, bool one, bool d16);
/* Puts `value` from a register into component `i` of the item. */
void gs_format_pack(const gs_format_t *format, unsigned nfmt, uint32_t value, unsigned i, bool d16,
                    uint32_t raw[4]);

#endif
