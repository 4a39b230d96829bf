/* Stencils of vector instructions for division, roots and conversions. Not here: what they do (isa/op_v*.c).
 */
#include "translate/stencil.h"

#include "isa/op_vcvt.c"
#include "isa/op_vdiv.c"
#include "isa/op_vtrans.c"

#ifndef GS_STENCIL_STRIP /* so many constants that strips, which load them each time, are slower */
GS_STENCILS_V3(v_div_scale_f32)
GS_STENCILS_V3(v_div_scale_f64)
GS_STENCILS_F3(v_div_fixup_f32)
GS_STENCILS_F3(v_div_fixup_f64)
GS_STENCILS_F3(v_div_fmas_f32) /* reads VCC, which is no operand */
#endif
GS_STENCILS_F1(v_rcp_f32)
GS_STENCILS_F1(v_rcp_iflag_f32)
GS_STENCILS_F1(v_rsq_f32)
GS_STENCILS_F1(v_sqrt_f32)
GS_STENCILS_F1(v_exp_f32)
GS_STENCILS_F1(v_log_f32)
GS_STENCILS_F1(v_rcp_f64)
GS_STENCILS_F1(v_rsq_f64)
GS_STENCILS_F1(v_sqrt_f64)
GS_STENCILS_V1(v_cvt_f32_i32)
GS_STENCILS_V1(v_cvt_f32_u32)
GS_STENCILS_V1(v_cvt_f64_i32)
GS_STENCILS_V1(v_cvt_f64_u32)
GS_STENCILS_F1(v_cvt_i32_f32)
GS_STENCILS_F1(v_cvt_u32_f32)
GS_STENCILS_F1(v_cvt_i32_f64)
GS_STENCILS_F1(v_cvt_u32_f64)
GS_STENCILS_F1(v_cvt_f32_f64)
GS_STENCILS_F1(v_cvt_f64_f32)
