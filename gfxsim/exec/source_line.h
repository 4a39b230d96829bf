/* Source lines of device code, and its functions that are not seen from outside: from the code object that
 * ROCr loaded (its debugger interface says which one lies where). For fault reports, so it may be slow; it
 * must survive anything that it finds. Not here: names of kernels, which are in device memory (symbol.h). */
#ifndef GFXSIM_EXEC_SOURCE_LINE_H
#define GFXSIM_EXEC_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the libraries that the functions below need, and finds ROCr's list of code objects, as long as ROCr
 * stays loaded. Without it, or before, the functions ask the dynamic linker themselves, and wait where
 * another thread holds it: one whose library's constructor waits for the GPU, perhaps for ever. No kernel may
 * be running. */
void gs_source_line_prepare(void);

/* Writes "file.c:12" for the code at device address `pc` to text[0..size). Returns false, and an empty text,
 * when the image has no debug information, or nothing here can read it (libdw is opened when it is first
 * needed). */
bool gs_source_line_find(uint64_t pc, char *text, size_t size);

/* The same for code of the host program: `address` counts from where the file `path` was loaded. */
bool gs_source_line_in_file(const char *path, uint64_t address, char *text, size_t size);

/* Writes "`name`, declared in line 12" of the variable that has the byte `offset` bytes behind the frame's
 * base of the code at device address `pc`. Returns false, and an empty text, when none is known to be there:
 * compilers say so of variables in memory, that is, without optimisation. */
bool gs_source_variable_find(uint64_t pc, int64_t offset, char *text, size_t size);

/* Writes the name of the function that has the code at device address `pc` to name[0..size), cut and
 * terminated, also of one that is not seen from outside of its image. Returns its address; or 0, and leaves
 * `name` as it is, where there is none or the image has no table of symbols. */
uint64_t gs_source_function_find(uint64_t pc, char *name, size_t size);

#endif
