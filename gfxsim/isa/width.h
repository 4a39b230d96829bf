/* Helpers of instructions that are functions, and whose lanes are counted: compiled for each width of a wave
 * like the instructions, under a name for each. Not here: the widths (wave.h), and the helpers. */
#ifndef GFXSIM_ISA_WIDTH_H
#define GFXSIM_ISA_WIDTH_H

#if defined(GS_WIDTH) && GS_WIDTH == 32
#define gs_fetch_slow             gs_fetch_slow_wave32
#define gs_fetch_slow64           gs_fetch_slow64_wave32
#define gs_dpp_exec               gs_dpp_exec_wave32
#define gs_commit_slow            gs_commit_slow_wave32
#define gs_lane_mask_update       gs_lane_mask_update_wave32
#define gs_mode_apply             gs_mode_apply_wave32
#define gs_resolve_slow           gs_resolve_slow_wave32
#define gs_resolve_lds_slow       gs_resolve_lds_slow_wave32
#define gs_resolve_mixed          gs_resolve_mixed_wave32
#define gs_access_check_alignment gs_access_check_alignment_wave32
#define gs_access_write_back      gs_access_write_back_wave32
#define gs_resolve_scalar         gs_resolve_scalar_wave32
#define gs_lds_direct             gs_lds_direct_wave32
#endif

#endif
