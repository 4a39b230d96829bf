/* Stencils of scalar loads. Not here: what they do (isa/op_smem.c), and the long way, which is a call of the
 * handler. */
#include "translate/stencil.h"

#include "isa/op_smem.c"

#define GS_SCALAR_LOAD(suffix)                                                                               \
  GS_STENCIL_SHORT(s_load_##suffix, S, S, N, N, false)                                                       \
  GS_STENCIL_SHORT(s_load_##suffix, SS, S, S, N, false)
GS_SCALAR_LOAD(dword)
GS_SCALAR_LOAD(dwordx2)
GS_SCALAR_LOAD(dwordx4)
GS_SCALAR_LOAD(dwordx8)
GS_SCALAR_LOAD(dwordx16)
