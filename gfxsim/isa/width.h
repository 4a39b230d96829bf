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
#define gs_flush_input16          gs_flush_input16_wave32
#define gs_flush_input_pk16       gs_flush_input_pk16_wave32
#define gs_flush_input32          gs_flush_input32_wave32
#define gs_flush_input64          gs_flush_input64_wave32
#define gs_round_custom           gs_round_custom_wave32
#define gs_round_to_zero          gs_round_to_zero_wave32
#define gs_round_default          gs_round_default_wave32
#define gs_find_signaling16       gs_find_signaling16_wave32
#define gs_find_signaling32       gs_find_signaling32_wave32
#define gs_find_signaling64       gs_find_signaling64_wave32
#define gs_put_signaling16        gs_put_signaling16_wave32
#define gs_put_signaling32        gs_put_signaling32_wave32
#define gs_put_signaling64        gs_put_signaling64_wave32
#define gs_finish_slow16          gs_finish_slow16_wave32
#define gs_finish_kept16          gs_finish_kept16_wave32
#define gs_finish_slow_pk16       gs_finish_slow_pk16_wave32
#define gs_finish_slow32          gs_finish_slow32_wave32
#define gs_finish_kept32          gs_finish_kept32_wave32
#define gs_finish_flushed32       gs_finish_flushed32_wave32
#define gs_finish_slow64          gs_finish_slow64_wave32
#define gs_finish_kept64          gs_finish_kept64_wave32
#endif

#endif
