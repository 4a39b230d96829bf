/* Stencils of vector instructions that look at lanes by their numbers, so that these cannot be in strips. Not
 * here: what they do (isa/op_vlane.c). */
#include "translate/stencil.h"

#include "isa/op_vlane.c"

GS_STENCIL_1(v_readfirstlane_b32, V)
#ifndef GS_STENCIL_ONE /* which knows of no other lane */
GS_STENCIL_2(v_readlane_b32, V, S)
GS_STENCIL_2(v_readlane_b32, V, C)
GS_STENCIL_2(v_writelane_b32, S, S)
GS_STENCIL_2(v_writelane_b32, S, C)
GS_STENCIL_2(v_writelane_b32, C, S)
GS_STENCIL_2(v_writelane_b32, C, C)
#endif
