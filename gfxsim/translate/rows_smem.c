/* Stencils of scalar loads. Not here: what they do (isa/op_smem.c), and the long way, which is a call of the
 * handler. */
#include "translate/stencil.h"

#include "isa/op_smem.c"

#define GS_SCALAR_LOAD(suffix, dwords)                                                                       \
  GS_IN_STENCIL bool s_load_##suffix##_short(gs_wave_t *w, const gs_inst_t *in) {                            \
    return gs_smem_load_short(w, in, dwords);                                                                \
  }                                                                                                          \
  GS_STENCIL_SHORT(s_load_##suffix, S, S, N, N, false)                                                       \
  GS_STENCIL_SHORT(s_load_##suffix, SS, S, S, N, false)
GS_SCALAR_LOAD(dword, 1)
GS_SCALAR_LOAD(dwordx2, 2)
GS_SCALAR_LOAD(dwordx4, 4)
GS_SCALAR_LOAD(dwordx8, 8)
GS_SCALAR_LOAD(dwordx16, 16)
