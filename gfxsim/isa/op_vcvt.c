/* Conversions between integers and floats of all widths, and their packed forms.
 * Not here: the halves' own arithmetic (op_vf16.c), mixed precision multiply-add (op_vpk_float.c). */
#include "isa/convert.h"
#include "isa/float.h"

/* ---- Floats to integers: towards zero, out-of-range values saturate, NaN gives 0. Values are brought into
 * range first, as the C conversion has no meaning outside it. ---- */

static inline int32_t gs_i32_of_f64(double x) {
  const double low = x > -0x1p31 ? x : -0x1p31, both = low < 2147483647.0 ? low : 2147483647.0;
  const int32_t r = (int32_t)both;
  return x == x ? r : 0;
}
static inline uint32_t gs_u32_of_f64(double x) {
  const double low = x > 0.0 ? x : 0.0, both = low < 4294967295.0 ? low : 4294967295.0;
  return (uint32_t)(int32_t)(trunc(both) - 0x1p31) + (UINT32_C(1) << 31);
}

/* From f32 or f64 to 32 bits; `member` is the row's type of the result. */
#define GS_INT_OF_F32(name, member, expr)                                                                    \
  GS_OP(name) {                                                                                              \
    GS_F32_SRC(0, a);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const float a = ra->f32[l];                                                                            \
      d->member[l] = (expr);                                                                                 \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_INT_OF_F64(name, member, expr)                                                                    \
  GS_OP(name) {                                                                                              \
    GS_F64_SRC(0, a);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      const double a = gs_get_f64(ra, l);                                                                    \
      d->member[l] = (expr);                                                                                 \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }
#define GS_INT_OF_F16(name, expr)                                                                            \
  GS_OP(name) {                                                                                              \
    GS_F16_SRC(0, a);                                                                                        \
    gs_row_t td;                                                                                             \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l) {                                                                                         \
      GS_F16_LOAD(a);                                                                                        \
      d->u32[l] = (expr)&0xffff;                                                                             \
    }                                                                                                        \
    gs_commit32(w, in, d);                                                                                   \
  }

GS_INT_OF_F32(v_cvt_i32_f32, i32, gs_i32_of_f32(a))
GS_INT_OF_F32(v_cvt_u32_f32, u32, gs_u32_of_f32(a))
GS_INT_OF_F64(v_cvt_i32_f64, i32, gs_i32_of_f64(a))
GS_INT_OF_F64(v_cvt_u32_f64, u32, gs_u32_of_f64(a))

/* Down, and to nearest, ties up. NaNs are infinities here, as measured on gfx1201 (rocm-systems,
 * emulation/rocjitsu). */
static inline int32_t gs_floor_i32(float x, int32_t floored) {
  const int32_t limit = gs_bits_of_float(x) >> 31 ? INT32_MIN : INT32_MAX;
  return x == x ? floored : limit;
}
static inline float gs_nearest(float x) {
  const float below = floorf(x);
  return x - below >= 0.5f ? below + 1.0f : below;
}
GS_INT_OF_F32(v_cvt_flr_i32_f32, i32, gs_floor_i32(a, gs_i32_of_f32(floorf(a))))
GS_INT_OF_F32(v_cvt_rpi_i32_f32, i32, gs_floor_i32(a, gs_i32_of_f32(gs_nearest(a))))

static inline uint32_t gs_u16_of_f32(float x) {
  const float low = x > 0.0f ? x : 0.0f, both = low < 65535.0f ? low : 65535.0f;
  return (uint32_t)(int32_t)both;
}
static inline uint32_t gs_i16_of_f32(float x) {
  const float low = x > -32768.0f ? x : -32768.0f, both = low < 32767.0f ? low : 32767.0f;
  const uint32_t r = (uint32_t)(int32_t)both;
  return x == x ? r : 0;
}
GS_INT_OF_F16(v_cvt_u16_f16, gs_u16_of_f32(a))
GS_INT_OF_F16(v_cvt_i16_f16, gs_i16_of_f32(a))

/* ---- Integers to floats ---- */

#define GS_F32_OF_INT(name, member, expr)                                                                    \
  GS_OP(name) {                                                                                              \
    gs_row_t ta;                                                                                             \
    const gs_row_t *const ra = gs_src32(w, in, 0, &ta);                                                      \
    GS_F32_LOOP(gs_round32(w), const __typeof__(ra->member[0]) a = ra->member[l], expr);                     \
  }
#define GS_F64_OF_INT(name, member)                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta;                                                                                             \
    const gs_row_t *const ra = gs_src32(w, in, 0, &ta);                                                      \
    GS_F64_LOOP((void)0, (void)0, (double)ra->member[l]);                                                    \
  }
#define GS_F16_OF_INT(name, type)                                                                            \
  GS_OP(name) {                                                                                              \
    gs_row_t ta;                                                                                             \
    const gs_row_t *const ra = gs_src16(w, in, 0, &ta);                                                      \
    GS_F16_LOOP(gs_round16(w), (void)0, gs_f16_of_f32((float)(type)ra->u32[l], limit));                      \
  }

GS_F32_OF_INT(v_cvt_f32_i32, i32, (float)a)
GS_F32_OF_INT(v_cvt_f32_u32, u32, gs_f32_of_u32(a))
GS_F32_OF_INT(v_cvt_f32_ubyte0, u32, (float)(int32_t)(a & 0xff))
GS_F32_OF_INT(v_cvt_f32_ubyte1, u32, (float)(int32_t)(a >> 8 & 0xff))
GS_F32_OF_INT(v_cvt_f32_ubyte2, u32, (float)(int32_t)(a >> 16 & 0xff))
GS_F32_OF_INT(v_cvt_f32_ubyte3, u32, (float)(int32_t)(a >> 24))
/* A signed number of four bits, in sixteenths. */
GS_F32_OF_INT(v_cvt_off_f32_i4, u32, (float)((int32_t)(a << 28) >> 28) * 0x1p-4f)
GS_F64_OF_INT(v_cvt_f64_i32, i32)
GS_F64_OF_INT(v_cvt_f64_u32, u32)
GS_F16_OF_INT(v_cvt_f16_u16, uint16_t)
GS_F16_OF_INT(v_cvt_f16_i16, int16_t)

/* ---- Floats to floats: rounded as MODE says for the result's type ---- */

GS_OP(v_cvt_f32_f16) {
  GS_F16_SRC(0, a);
  GS_F32_LOOP((void)0, GS_F16_LOAD(a), gs_quiet32(a));
}
GS_OP(v_cvt_f32_f64) {
  GS_F64_SRC(0, a);
  GS_F32_LOOP(gs_round32(w), const double a = gs_get_f64(ra, l), (float)a);
}
GS_OP(v_cvt_f64_f32) {
  GS_F32_SRC(0, a);
  GS_F64_LOOP((void)0, const float a = ra->f32[l], (double)a);
}
GS_OP(v_cvt_f16_f32) {
  GS_F32_SRC(0, a);
  GS_F16_LOOP(gs_round16(w), const float a = ra->f32[l], gs_f16_of_f32(a, limit));
}

/* ---- Pairs ---- */

/* Two conversions packed into one register, the first operand's in the low half. */
#define GS_PACK_32(name, type, src, member, expr)                                                            \
  static inline uint32_t gs_half_##name(type x) {                                                            \
    return (uint32_t)(expr)&0xffff;                                                                          \
  }                                                                                                          \
  GS_OP(name) {                                                                                              \
    gs_row_t ta, tb, td;                                                                                     \
    const gs_row_t *const ra = src(w, in, 0, &ta), *const rb = src(w, in, 1, &tb);                           \
    gs_row_t *const d = gs_dst32(w, in, &td);                                                                \
    GS_LANES_DO(l)                                                                                           \
      d->u32[l] = gs_half_##name(ra->member[l]) | gs_half_##name(rb->member[l]) << 16;                       \
    gs_commit32(w, in, d);                                                                                   \
  }

static inline uint32_t gs_sat_u16(uint32_t x) {
  return x < 0xffff ? x : 0xffff;
}
static inline int32_t gs_sat_i16(int32_t x) {
  const int32_t low = x < -0x8000 ? -0x8000 : x;
  return low > 0x7fff ? 0x7fff : low;
}
GS_PACK_32(v_cvt_pk_u16_u32, uint32_t, gs_src32, u32, gs_sat_u16(x))
GS_PACK_32(v_cvt_pk_i16_i32, int32_t, gs_src32, i32, gs_sat_i16(x))

/* Numbers in [0, 1] or [-1, 1] scaled to the integers' range and rounded to nearest; NaN gives 0. Adding 1.5
 * * 2^52 rounds and leaves the integer in the low bits. */
static inline uint32_t gs_unorm16(float x) {
  const float low = x > 0.0f ? x : 0.0f, both = low < 1.0f ? low : 1.0f;
  return (uint32_t)gs_bits_of_double((double)both * 65535.0 + 0x1.8p52);
}
static inline uint32_t gs_snorm16(float x) {
  const float low = x > -1.0f ? x : -1.0f, both = low < 1.0f ? low : 1.0f;
  return (uint32_t)gs_bits_of_double((double)(x == x ? both : 0.0f) * 32767.0 + 0x1.8p52);
}
GS_PACK_32(v_cvt_pknorm_u16_f32, float, gs_src_f32, f32, gs_unorm16(x))
GS_PACK_32(v_cvt_pknorm_i16_f32, float, gs_src_f32, f32, gs_snorm16(x))
GS_PACK_32(v_cvt_pk_u16_f32, float, gs_src_f32, f32, gs_u16_of_f32(x))
GS_PACK_32(v_cvt_pk_i16_f32, float, gs_src_f32, f32, gs_i16_of_f32(x) & 0xffff)
GS_PACK_32(v_cvt_pknorm_u16_f16, uint32_t, gs_src_f16, u32, gs_unorm16(gs_f32_of_f16(x)))
GS_PACK_32(v_cvt_pknorm_i16_f16, uint32_t, gs_src_f16, u32, gs_snorm16(gs_f32_of_f16(x)))
GS_INT_OF_F16(v_cvt_norm_u16_f16, gs_unorm16(a))
GS_INT_OF_F16(v_cvt_norm_i16_f16, gs_snorm16(a))

GS_OP(v_cvt_pkrtz_f16_f32) {
  GS_F32_SRC(0, a);
  GS_F32_SRC(1, b);
  gs_row_t td;
  gs_row_t *const d = gs_dst32(w, in, &td);
  GS_LANES_DO(l)
    d->u32[l] = gs_f16_of_f32_rtz(ra->f32[l]) | gs_f16_of_f32_rtz(rb->f32[l]) << 16;
  gs_finish_pk16(w, in, d);
  gs_commit32(w, in, d);
}

/* One byte of c replaced by a, rounded as MODE says and saturated; the low bits of b say which. */
static inline uint32_t gs_insert_u8(float x, uint32_t place, uint32_t old) {
  const float low = x > 0.0f ? x : 0.0f, both = low < 255.0f ? low : 255.0f;
  const uint32_t byte = gs_bits_of_float(both + 0x1.8p23f) & 0xff, shift = (place & 3) * 8;
  return (old & ~(0xffu << shift)) | byte << shift;
}
static inline void gs_insert_bytes(gs_wave_t *w, const gs_inst_t *in, const gs_row_t *rc) {
  GS_F32_SRC(0, a);
  gs_row_t tb, td;
  const gs_row_t *const rb = gs_src32(w, in, 1, &tb);
  gs_row_t *const d = gs_dst32(w, in, &td);
  gs_round32(w);
  GS_LANES_DO(l)
    d->u32[l] = gs_insert_u8(ra->f32[l], rb->u32[l], rc->u32[l]);
  gs_round_end(w);
  gs_commit32(w, in, d);
}
GS_OP(v_cvt_pk_u8_f32) {
  gs_row_t tc;
  gs_insert_bytes(w, in, gs_src32(w, in, 2, &tc));
}
GS_OP(v_cvt_pkaccum_u8_f32) {
  gs_insert_bytes(w, in, &w->v[in->dst]);
}
