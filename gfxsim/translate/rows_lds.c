/* Stencils of accesses to LDS that go the short way (isa/block.h). Not here: what they do (isa/op_ds.c), and
 * the long way, which is a call of the handler. */
#include "translate/stencil.h"

#include "isa/op_ds.c"

#define GS_LDS_READ(name, n)                                                                                 \
  static inline bool name##_short(gs_wave_t *w, const gs_inst_t *in) {                                       \
    return lds_read_short(w, in, n, (uint32_t)gs_immediate(in));                                             \
  }                                                                                                          \
  GS_STENCIL_SHORT(name, V, V, N, N, false)
#define GS_LDS_READ2(name, n, scale)                                                                         \
  static inline bool name##_short(gs_wave_t *w, const gs_inst_t *in) {                                       \
    return lds_read2_short(w, in, n, (uint32_t)gs_immediate(in) * scale, gs_immediate1(in) * scale);         \
  }                                                                                                          \
  GS_STENCIL_SHORT(name, V, V, N, N, false)
#define GS_LDS_WRITE(name, n)                                                                                \
  static inline bool name##_short(gs_wave_t *w, const gs_inst_t *in) {                                       \
    return lds_write_short(w, in, in->src[1].reg, n, (uint32_t)gs_immediate(in));                            \
  }                                                                                                          \
  GS_STENCIL_SHORT(name, VV, V, V, N, false)
#define GS_LDS_WRITE2(name, n, scale)                                                                        \
  static inline bool name##_short(gs_wave_t *w, const gs_inst_t *in) {                                       \
    return lds_write2_short(w, in, n, (uint32_t)gs_immediate(in) * scale, gs_immediate1(in) * scale);        \
  }                                                                                                          \
  GS_STENCIL_SHORT(name, VVV, V, V, V, false)
#ifndef GS_STENCIL_ONE /* which knows of no other lane */
GS_STENCIL_2(ds_bpermute_b32, V, V)
#endif
GS_LDS_READ(ds_read_b32, 1)
GS_LDS_READ(ds_read_b64, 2)
GS_LDS_READ(ds_read_b128, 4)
GS_LDS_READ2(ds_read2_b32, 1, 4)
GS_LDS_READ2(ds_read2_b64, 2, 8)
GS_LDS_WRITE2(ds_write2_b32, 1, 4)
GS_LDS_WRITE2(ds_write2_b64, 2, 8)
GS_LDS_WRITE(ds_write_b32, 1)
GS_LDS_WRITE(ds_write_b64, 2)
GS_LDS_WRITE(ds_write_b128, 4)
