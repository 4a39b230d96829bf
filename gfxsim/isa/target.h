/* The instruction sets that gfxsim knows: one row each, oldest first. Not here: the models of GPU that have
 * them (exec/profile.c). */
#ifndef GFXSIM_ISA_TARGET_H
#define GFXSIM_ISA_TARGET_H

/* ROW(value, name, bit): bits, so that an opcode's row can name the set of targets that have it. Later
 * families than gfx9 have waves of 32 and of 64 lanes, as a kernel asks for: a target for each. */
#define GS_TARGETS(ROW)                                                                                      \
  ROW(GS_GFX900, "gfx900", 1)                                                                                \
  ROW(GS_GFX906, "gfx906", 2)                                                                                \
  ROW(GS_GFX908, "gfx908", 4)                                                                                \
  ROW(GS_GFX90A, "gfx90a", 8)                                                                                \
  ROW(GS_GFX942, "gfx942", 64)                                                                               \
  ROW(GS_GFX950, "gfx950", 4096)                                                                             \
  ROW(GS_GFX1030_W32, "gfx1030", 16)                                                                         \
  ROW(GS_GFX1030, "gfx1030", 32)                                                                             \
  ROW(GS_GFX1100_W32, "gfx1100", 256)                                                                        \
  ROW(GS_GFX1100, "gfx1100", 512)                                                                            \
  ROW(GS_GFX1151_W32, "gfx1151", 1024)                                                                       \
  ROW(GS_GFX1151, "gfx1151", 2048)

#define GS_TARGET_VALUE(value, name, bit) value = bit,
typedef enum gs_target { GS_TARGETS(GS_TARGET_VALUE) } gs_target_t;

#define GS_TARGET_ONE(value, name, bit) +1
enum { GS_TARGET_COUNT = 0 GS_TARGETS(GS_TARGET_ONE) };

/* All of them, in the order of their rows. */
extern const gs_target_t gs_targets[GS_TARGET_COUNT];

/* Sets that opcodes' rows name. */
enum {
  GS_CDNA1_2 = GS_GFX908 | GS_GFX90A,
  GS_GFX9_4 = GS_GFX942 | GS_GFX950,  /* what LLVM's gfx9-4-generic stands for */
  GS_CDNA2_4 = GS_GFX90A | GS_GFX9_4, /* accumulation registers are the upper part of one file */
  GS_GFX908_UP = GS_GFX908 | GS_CDNA2_4,
  GS_GFX906_UP = GS_GFX906 | GS_GFX908_UP,
  GS_GFX9 = GS_GFX900 | GS_GFX906_UP,
  GS_TO_90A = GS_GFX900 | GS_GFX906 | GS_CDNA1_2,
  GS_BEFORE_90A = GS_GFX900 | GS_GFX906 | GS_GFX908,
  GS_BEFORE_950 = GS_TO_90A | GS_GFX942,
  GS_GFX10 = GS_GFX1030_W32 | GS_GFX1030,
  GS_GFX9_10 = GS_GFX9 | GS_GFX10,
  GS_GFX11_W32 = GS_GFX1100_W32 | GS_GFX1151_W32,
  GS_GFX11_W64 = GS_GFX1100 | GS_GFX1151,
  GS_GFX11_5 = GS_GFX1151_W32 | GS_GFX1151, /* gfx11 with scalar floats */
  GS_GFX11 = GS_GFX11_W32 | GS_GFX11_W64,
  GS_GFX10_UP = GS_GFX10 | GS_GFX11,
  GS_GFX9_11 = GS_GFX9 | GS_GFX10 | GS_GFX11,
  /* Whose registers have error correction, so that a load of 16 bits writes all of one: the other half
   * becomes 0. LLVM keeps nothing there (GCNSubtarget::d16PreservesUnusedBits), and AMD's Tensile relies on
   * the zeros (HasEccHalf): it joins two such loads by v_or_b32. */
  GS_D16_CLEARS = GS_GFX906_UP,
  GS_WAVE32 = GS_GFX1030_W32 | GS_GFX11_W32, /* whose waves have 32 lanes */
};

/* How many lanes a wave of the target has. */
static inline unsigned gs_target_lanes(gs_target_t target) {
  return target & GS_WAVE32 ? 32 : 64;
}

/* "gfx90a" etc.; the same for each width of a wave. */
const char *gs_target_name(gs_target_t target);

#endif
