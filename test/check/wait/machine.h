/* Programs with machine code of their own: what they have in common. BUG chooses the one with the error. */
#ifndef TEST_CHECK_WAIT_MACHINE_H
#define TEST_CHECK_WAIT_MACHINE_H

#include <stdint.h>

enum { N = 64 };

/* The host's compiler compiles target regions, too, and knows no GPU's instructions. */
#ifdef __AMDGCN__
#define ASM(...) __asm__ volatile(__VA_ARGS__)
#else
#define ASM(...) ((void)0)
#endif

/* What a sum of 32 bits without carry is called. */
#ifdef __gfx1030__
#define ADD "v_add_nc_u32"
#else
#define ADD "v_add_u32"
#endif

/* What an atomic operation is called that returns what was there. */
#ifdef __gfx942__
#define RETURNS "sc0"
#else
#define RETURNS "glc"
#endif

/* Brings the dword `from[i]` of each lane to local memory: to offset `to` of the wave's first lane and those
 * behind it. The low half of a flat address is that offset. The host's compiler sees `from` used, too. */
#define LDS_DMA(to, from, i)                                                                                 \
  do {                                                                                                       \
    const uint32_t low = (uint32_t)(uintptr_t)(from), high = (uint32_t)((uintptr_t)(from) >> 32);            \
    ASM("s_mov_b32 s42, -1\ns_mov_b32 s43, 0x27000\nv_readfirstlane_b32 s40, %0\n"                           \
        "v_readfirstlane_b32 s41, %1\nv_readfirstlane_b32 s44, %2\ns_mov_b32 m0, s44\ns_nop 4\n"             \
        "buffer_load_dword %3, s[40:43], 0 offen lds"                                                        \
        :                                                                                                    \
        : "v"(low), "v"(high), "v"(to), "v"((uint32_t)(4 * (i)))                                             \
        : "s40", "s41", "s42", "s43", "s44", "memory");                                                      \
    (void)low, (void)high;                                                                                   \
  } while (0)

/* What mends the error. */
#if BUG
#define MEND(...) ((void)0)
#define MEND_TEXT(text)
#else
#define MEND(...)       ASM(__VA_ARGS__)
#define MEND_TEXT(text) text "\n"
#endif

#endif
