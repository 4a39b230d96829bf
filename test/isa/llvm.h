/* What LLVM's tools call the targets. */
#ifndef ISA_LLVM_H
#define ISA_LLVM_H

#include "isa/target.h"

/* LLVM 16 knows gfx942, and what gfx950 shares with it, by the name of a sample with the same instructions;
 * 20 and later do not know that one any more. */
static inline const char *isa_llvm_cpu(gs_target_t target) {
  return target & GS_GFX9_4 ? "gfx940" : gs_target_name(target);
}

#endif
