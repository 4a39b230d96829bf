/* See swap.h. */
#include "check/swap.h"

#include <string.h>

#include "exec/instruction.h"

bool gs_swap_find(const gs_wave_t *w, gs_swap_t *swap) {
  gs_inst_t in;
  if (!gs_instruction_in_hand(w, &in) || !(in.op->flags & GS_OPF_ATOMIC))
    return false;
  const char *name = in.op->name;
  if (strstr(name, "_f32") || strstr(name, "fcmp") || strstr(name, "64") || strstr(name, "_x2"))
    return false;
  if (in.op->encoding == GS_ENC_DS) {
    const bool put_first = strstr(name, "cmpstore");
    *swap = (gs_swap_t){in.src[put_first ? 2 : 1].reg, in.src[put_first ? 1 : 2].reg};
    return put_first || strstr(name, "cmpst");
  }
  const unsigned put = in.op->encoding == GS_ENC_MUBUF ? in.dst : in.src[1].reg;
  *swap = (gs_swap_t){put + 1, put};
  return in.op->encoding != GS_ENC_SMEM && strstr(name, "cmpswap");
}
