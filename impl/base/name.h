/* What people call a kernel. Not here: where its source is (image/source_line). */
#ifndef ATMI_BASE_NAME_H
#define ATMI_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

typedef struct atmi_name {
  char text[512];
  size_t bare; /* where the text goes on without "target region in" or "kernel", for tables of kernels */
} atmi_name_t;

/* "target region in main at line 12" for a kernel that clang made of one, "kernel foo(int)" for others; or
 * "kernel <as in the image>" if `mangled` asks for that. C++ names are written as in the source if the
 * process has a C++ runtime, which ROCr brings along (see base/name.c); cut if they do not fit. Slow: for
 * messages. Takes no lock, so that messages may be written under any. */
atmi_name_t atmi_name_of_kernel(const char *kernel, bool mangled);

/* Looks for who can read C++ names; until then they stay as they are. Under no lock: it takes the dynamic
 * linker's. */
void atmi_name_find_reader(void);

/* The function and line that a target region's kernel name holds: "main" and 7 for
 * "__omp_offloading_fd00_12ab_main_l7". False for other names.
 *   function, length   a part of `kernel`, not terminated
 *   rest               what follows the line's digits */
bool atmi_name_parse_region(const char *kernel, const char **function, size_t *length, unsigned *line,
                            const char **rest);

#endif
