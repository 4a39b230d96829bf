/* The instruction sets that gfxsim knows: one row each, oldest first. Not here: the models of GPU that have
 * them (exec/profile.c). */
#ifndef GFXSIM_ISA_TARGET_H
#define GFXSIM_ISA_TARGET_H

/* ROW(value, name, bit): bits, so that an opcode's row can name the set of targets that have it. */
#define GS_TARGETS(ROW)                                                                                      \
  ROW(GS_GFX900, "gfx900", 1)                                                                                \
  ROW(GS_GFX906, "gfx906", 2)                                                                                \
  ROW(GS_GFX908, "gfx908", 4)                                                                                \
  ROW(GS_GFX90A, "gfx90a", 8)

#define GS_TARGET_VALUE(value, name, bit) value = bit,
typedef enum gs_target { GS_TARGETS(GS_TARGET_VALUE) } gs_target_t;

#define GS_TARGET_ONE(value, name, bit) +1
enum { GS_TARGET_COUNT = 0 GS_TARGETS(GS_TARGET_ONE) };

/* All of them, in the order of their rows. */
extern const gs_target_t gs_targets[GS_TARGET_COUNT];

/* Sets that opcodes' rows name. */
enum {
  GS_GFX906_UP = GS_GFX906 | GS_GFX908 | GS_GFX90A,
  GS_GFX908_UP = GS_GFX908 | GS_GFX90A,
  GS_GFX9 = GS_GFX900 | GS_GFX906_UP,
  GS_BEFORE_90A = GS_GFX900 | GS_GFX906 | GS_GFX908,
  GS_WAVE32 = 0, /* whose waves have 32 lanes */
};

/* How many lanes a wave of the target has. */
static inline unsigned gs_target_lanes(gs_target_t target) {
  return target & GS_WAVE32 ? 32 : 64;
}

/* "gfx90a" etc. */
const char *gs_target_name(gs_target_t target);

#endif
