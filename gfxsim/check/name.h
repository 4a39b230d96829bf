/* What people call kernels and places of the host program. Not here: source lines (exec/source_line.h). */
#ifndef GFXSIM_CHECK_NAME_H
#define GFXSIM_CHECK_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds what demangles C++ names. To be called by a thread of the program, before names are needed: only such
 * a one may ask the dynamic linker, which another may hold that waits for the GPU. */
void gs_name_prepare(void);

/* Writes "target region in main at line 12" for a kernel that clang or flang made of one, "kernel foo(int)"
 * for others. Names are as in the source, those of C++ where the process has a C++ runtime. Cut to `size`. */
void gs_name_kernel(const char *kernel, char *text, size_t size);

/* Whether clang made the kernel of a target region. */
bool gs_name_is_target_region(const char *kernel);

/* Writes "stencil.c:14 (in ./stencil)", or "main (in ./stencil)" without debug information, for a return
 * address of the host program. False, and nothing written, when nothing is known of it, or it belongs to
 * HSA. Slow. */
bool gs_name_host_place(uint64_t address, char *text, size_t size);

/* Whether a line of the source is known of it. Slow. */
bool gs_name_host_has_line(uint64_t address);

/* A number for that place, the same for all instructions of a line, or of a function without debug
 * information; the address itself when nothing is known of it. Slow. */
uint64_t gs_name_host_line(uint64_t address);

#endif
