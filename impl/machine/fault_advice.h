/* What a fault may have to do with the compiler's device runtime, and what helps. Not here: reports
 * (machine/fault). */
#ifndef ATMI_MACHINE_FAULT_ADVICE_H
#define ATMI_MACHINE_FAULT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

struct atmi_kernel;

/* The version of clang, 14 to 16, that made an OpenMP image with its own device runtime: that has no malloc,
 * and traps, or takes null for memory, where a region needs one. 0 for other images and for those that have
 * this project's device support library. Searches the image; only for reports. */
int atmi_fault_clang_without_malloc(const void *image, size_t bytes);

/* After a report that `kernel` has trapped, or used null as an address: one line on stderr with the option
 * that gives its image a malloc, if it has none. `where` names the device; a null kernel is accepted. */
void atmi_fault_advise(const char *where, const struct atmi_kernel *kernel);

#endif
