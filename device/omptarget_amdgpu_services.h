/* Included by clang's configuration file in front of every source. Device code cannot call functions with a
 * variable number of arguments, except printf, which clang lowers itself: so fprintf becomes a printf that
 * says which stream is meant, by its value and by its name in the source (with libomptarget 14 and 15 the
 * value is lost on the way to the device). */
#ifndef OMPTARGET_AMDGPU_SERVICES_H
#define OMPTARGET_AMDGPU_SERVICES_H

#if defined(__AMDGCN__) && defined(_OPENMP)
#ifdef __cplusplus
#include <cstdio> /* which undefines such macros, the first time */
#else
#include <stdio.h>
#endif
#undef fprintf
#undef fputs
/* The comma keeps clang from checking the arguments against a format that is none. */
#define fprintf(stream, ...) printf(((void)0, "\1" #stream), (stream), __VA_ARGS__)
#define fputs(text, stream)  printf(((void)0, "\1" #stream), (stream), "%s", (const char *)(text))
#endif

#endif
