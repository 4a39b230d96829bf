/* Names of Fortran, as flang spells them for linkers. Not here: those of C++ (name.c). */
#ifndef GFXSIM_CHECK_FORTRAN_H
#define GFXSIM_CHECK_FORTRAN_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "data::field" for _QMdataEfield, "solve" for _QPsolve, "main program" for _QQmain. False, and
 * nothing written, when it is no such name. Source: LLVM's flang/docs/BijectiveInternalNameUniquing.md. */
bool gs_fortran_name(const char *name, char *text, size_t size);

#endif
