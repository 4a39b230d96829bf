/* What is known of OpenMP's device runtimes and of their compilers, and is no error of a program: the text of
 * openmp.supp, which the build makes an array of. Not here: what its lines mean (suppress.h). */
#ifndef GFXSIM_CHECK_KNOWN_H
#define GFXSIM_CHECK_KNOWN_H

#include <stddef.h>

extern const unsigned char gs_known_suppressions[];
extern const size_t gs_known_suppressions_bytes;

#endif
