/* Stencils of accesses to memory that go the short way (isa/block.h). Not here: what they do (isa/op_flat.c),
 * and the long way, which is a call of the handler. */
#include "translate/stencil.h"

#include "isa/op_flat.c"

#define GS_ACCESSES(segment, suffix)                                                                         \
  GS_STENCIL_SHORT(segment##_load_##suffix, V, V, N, N, false)                                               \
  GS_STENCIL_SHORT(segment##_store_##suffix, VV, V, V, N, true)
#define GS_GLOBAL_ACCESSES(suffix)                                                                           \
  GS_ACCESSES(global, suffix)                                                                                \
  GS_STENCIL_SHORT(global_load_##suffix, VNS, V, N, S, false)                                                \
  GS_STENCIL_SHORT(global_store_##suffix, VVS, V, V, S, true)
GS_GLOBAL_ACCESSES(dword)
GS_GLOBAL_ACCESSES(dwordx2)
GS_GLOBAL_ACCESSES(dwordx3)
GS_GLOBAL_ACCESSES(dwordx4)
GS_ACCESSES(flat, dword)
GS_ACCESSES(flat, dwordx2)
GS_ACCESSES(flat, dwordx3)
GS_ACCESSES(flat, dwordx4)

#define GS_NARROW_LOADS(suffix)                                                                              \
  GS_STENCIL_SHORT(global_load_##suffix, V, V, N, N, false)                                                  \
  GS_STENCIL_SHORT(global_load_##suffix, VNS, V, N, S, false)                                                \
  GS_STENCIL_SHORT(flat_load_##suffix, V, V, N, N, false)
GS_NARROW_LOADS(ubyte)
GS_NARROW_LOADS(sbyte)
GS_NARROW_LOADS(ushort)
GS_NARROW_LOADS(sshort)
