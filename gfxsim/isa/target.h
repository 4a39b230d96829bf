/* The instruction sets that gfxsim knows. */
#ifndef GFXSIM_ISA_TARGET_H
#define GFXSIM_ISA_TARGET_H

/* Bits, so that an opcode's row can name the set of targets that have it. */
typedef enum gs_target {
  GS_GFX900 = 1,
  GS_GFX906 = 2,
  GS_GFX908 = 4,
  GS_GFX90A = 8,
} gs_target_t;

enum {
  GS_GFX906_UP = GS_GFX906 | GS_GFX908 | GS_GFX90A,
  GS_GFX908_UP = GS_GFX908 | GS_GFX90A,
  GS_GFX9 = GS_GFX900 | GS_GFX906_UP,
  GS_BEFORE_90A = GS_GFX900 | GS_GFX906 | GS_GFX908,
};

/* "gfx90a" etc. */
const char *gs_target_name(gs_target_t target);

#endif
