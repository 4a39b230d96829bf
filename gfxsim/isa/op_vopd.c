/* VOPD: pairs of vector instructions of gfx11 that are one, and whose parts are those of VOP1 and VOP2.
 * Not here: how a pair is laid out in a gs_inst_t (inst.h). */
#include "isa/dual.h"
#include "isa/scalar.h"

#define DUAL_PART(name) GS_OP_SYMBOL(name),
#define NO_PART         NULL,
static gs_op_fn_t *const parts[] = {GS_DUAL_PARTS(DUAL_PART, NO_PART)};

GS_OP(v_dual) {
  gs_inst_t first = gs_dual_part(in, 0), second = gs_dual_part(in, 1);
  if (gs_dual_replace(&second, first.dst))
    gs_copy_row(&w->v[first.dst], &w->v[GS_DUAL_ROW]);
  parts[first.op->number](w, &first);
  parts[second.op->number](w, &second);
}
