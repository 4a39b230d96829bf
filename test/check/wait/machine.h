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

/* What mends the error. */
#if BUG
#define MEND(...) ((void)0)
#define MEND_TEXT(text)
#else
#define MEND(...)       ASM(__VA_ARGS__)
#define MEND_TEXT(text) text "\n"
#endif

#endif
