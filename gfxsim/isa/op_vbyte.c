/* Vector instructions on the bytes of operands: permutation, sums of absolute differences, averages,
 * saturation to bytes.
 * Not here: dot products of bytes (op_vpk_int.c, op_vdot.c). */
#include "isa/vint.h"

/* One byte of a permutation: selectors 0 to 3 take a byte of b, 4 to 7 one of a, 8 to 11 the sign of bytes
 * 1 and 3 of b and of a, 12 gives zeroes, and all above ones. */
static inline uint32_t gs_permuted_byte(uint32_t a, uint32_t b, uint32_t selector) {
  const uint32_t byte = (selector & 4 ? a : b) >> (8 * (selector & 3)) & 0xff;
  const uint32_t sign = (selector & 2 ? a : b) >> (selector & 1 ? 31 : 15) & 1;
  const uint32_t special = selector < 12 ? 0 - sign : selector == 12 ? 0 : UINT32_MAX;
  return selector < 8 ? byte : special & 0xff;
}

static inline uint32_t gs_permute_bytes(uint32_t a, uint32_t b, uint32_t c) {
  return gs_permuted_byte(a, b, c & 0xff) | gs_permuted_byte(a, b, c >> 8 & 0xff) << 8 |
         gs_permuted_byte(a, b, c >> 16 & 0xff) << 16 | gs_permuted_byte(a, b, c >> 24) << 24;
}

/* Per byte (a + b + 1) / 2 or (a + b) / 2, as bit 0 of c's byte says. */
static inline uint32_t gs_average_bytes(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t even = 0x00ff00ffu;
  const uint32_t low = (a & even) + (b & even) + (c & 0x00010001u);
  const uint32_t high = (a >> 8 & even) + (b >> 8 & even) + (c >> 8 & 0x00010001u);
  return (low >> 1 & even) | (high >> 1 & even) << 8;
}

static inline uint32_t gs_distance(uint32_t a, uint32_t b) {
  return a > b ? a - b : b - a;
}

static inline uint32_t gs_sad_u8(uint32_t a, uint32_t b) {
  return gs_distance(a & 0xff, b & 0xff) + gs_distance(a >> 8 & 0xff, b >> 8 & 0xff) +
         gs_distance(a >> 16 & 0xff, b >> 16 & 0xff) + gs_distance(a >> 24, b >> 24);
}

/* The same without the bytes where `b` is zero. */
static inline uint32_t gs_msad_u8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const uint32_t x = a >> shift & 0xff, y = b >> shift & 0xff;
    sum += y ? gs_distance(x, y) : 0;
  }
  return sum;
}

static inline uint32_t gs_sad_u16(uint32_t a, uint32_t b) {
  return gs_distance(a & 0xffff, b & 0xffff) + gs_distance(a >> 16, b >> 16);
}

static inline uint32_t gs_sat_u8(int32_t x) {
  return (uint32_t)gs_min_i32(gs_max_i32(x, 0), 255);
}

GS_V32_3(v_perm_b32, u32, gs_permute_bytes(a, b, c))
GS_V32_3(v_lerp_u8, u32, gs_average_bytes(a, b, c))
GS_V32_1(v_sat_pk_u8_i16, u32, gs_sat_u8((int16_t)a) | gs_sat_u8((int32_t)a >> 16) << 8)

/* Distance of a and b, a 32-bit value or with v_sad_hi_u8 one shifted out of it, plus c. */
#define GS_VSAD(name, distance)                                                                              \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, tc, td;                                                                                 \
    GS_VOP_SRC(0, a);                                                                                        \
    GS_VOP_SRC(1, b);                                                                                        \
    GS_VOP_SRC(2, c);                                                                                        \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    const uint32_t saturate = in->clamp ? UINT32_MAX : 0;                                                    \
    GS_LANES_DO(l) {                                                                                         \
      const uint32_t a = ra->u32[l], b = rb->u32[l], c = rc->u32[l], sum = (distance) + c;                   \
      d->u32[l] = sum | (sum < c ? saturate : 0);                                                            \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

GS_VSAD(v_sad_u8, gs_sad_u8(a, b))
GS_VSAD(v_sad_hi_u8, gs_sad_u8(a, b) << 16)
GS_VSAD(v_sad_u16, gs_sad_u16(a, b))
GS_VSAD(v_sad_u32, gs_distance(a, b))
GS_VSAD(v_msad_u8, gs_msad_u8(a, b))

/* Four distances at once: of b and the four words that start at bytes 0 to 3 of the 64-bit operand a, each
 * added to its own 16 bits of c. */
#define GS_VQSAD_PK(name, distance)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta[2], tb, tc[2], td[2];                                                                        \
    const gs_row64_t ra = gs_src64(w, in, 0, false, ta);                                                     \
    GS_VOP_SRC(1, b);                                                                                        \
    const gs_row64_t rc = gs_src64(w, in, 2, false, tc);                                                     \
    const gs_dst64_t d = gs_dst64(w, in, td);                                                                \
    const bool clamp = in->clamp;                                                                            \
    GS_LANES_DO(l) {                                                                                         \
      const uint64_t a = gs_get_u64(ra, l), c = gs_get_u64(rc, l);                                           \
      uint64_t result = 0;                                                                                   \
      for (unsigned i = 0; i < 4; i++) {                                                                     \
        const uint32_t sum =                                                                                 \
            distance((uint32_t)(a >> (8 * i)), rb->u32[l]) + ((uint32_t)(c >> (16 * i)) & 0xffff);           \
        result |= (uint64_t)(clamp && sum > 0xffff ? 0xffff : sum & 0xffff) << (16 * i);                     \
      }                                                                                                      \
      gs_put_u64(d, l, result);                                                                              \
    }                                                                                                        \
    gs_commit64(w, in, d);                                                                                   \
  }

GS_VQSAD_PK(v_qsad_pk_u16_u8, gs_sad_u8)
GS_VQSAD_PK(v_mqsad_pk_u16_u8, gs_msad_u8)

/* One dword of a 128-bit operand, broadcast where it is scalar. */
static inline const gs_row_t *gs_src128(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned part,
                                        gs_row_t *tmp) {
  const gs_src_t *s = &in->src[i];
  if (GS_LIKELY(s->kind == GS_SRC_VGPR))
    return &w->v[s->reg + part];
  const uint32_t value = s->kind == GS_SRC_SGPR ? w->s.u32[s->reg + part]
                         : part < 2             ? (uint32_t)(s->value >> (32 * part))
                                                : 0;
  GS_LANES_DO(l) {
    tmp->u32[l] = value;
  }
  return tmp;
}

/* The same with a 32-bit sum for each word. The result may overlap the operands: it is written after all
 * are read. */
GS_OP(v_mqsad_u32_u8) {
  gs_row_t ta[2], tb, tc, result[4];
  const gs_row64_t ra = gs_src64(w, in, 0, false, ta);
  GS_VOP_SRC(1, b);
  const uint32_t saturate = in->clamp ? UINT32_MAX : 0;
  for (unsigned i = 0; i < 4; i++) {
    const gs_row_t *rc = gs_src128(w, in, 2, i, &tc);
    GS_LANES_DO(l) {
      const uint32_t c = rc->u32[l],
                     sum = gs_msad_u8((uint32_t)(gs_get_u64(ra, l) >> (8 * i)), rb->u32[l]) + c;
      result[i].u32[l] = sum | (sum < c ? saturate : 0);
    }
  }
  for (unsigned i = 0; i < 4; i++)
    gs_write_row(w, in->dst + i, &result[i], gs_exec(w));
}
