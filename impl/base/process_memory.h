/* Reading memory of this process that may not be there. Slow: the kernel is asked. */
#ifndef ATMI_BASE_PROCESS_MEMORY_H
#define ATMI_BASE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Copies memory if it can be read; false, without a signal, if not, or if the kernel may not be asked (as in
 * some containers). */
bool atmi_process_memory_read(const void *address, void *copy, size_t bytes);

#endif
