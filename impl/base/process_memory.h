/* Reading memory of this process that may not be there. Slow: the kernel is asked. Where it may not be asked,
 * as in some containers, memory is believed to be there. */
#ifndef ATMI_BASE_PROCESS_MEMORY_H
#define ATMI_BASE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies memory if it can be read; false, without a signal, if not, or if the kernel may not be asked. */
bool atmi_process_memory_read(const void *address, void *copy, size_t bytes);

/* Whether all of it can be read: a byte of each page is. True of no bytes at any address. */
bool atmi_process_memory_is_readable(const void *address, uint64_t bytes);

/* The same of a string, with its end. False for NULL. */
bool atmi_process_memory_is_text(const char *text);

/* Whether something is at all of these addresses, be it readable or not: one short question, however many
 * bytes. Memory that was unmapped is not there, nor is what a wild pointer points to. */
bool atmi_process_memory_is_there(const void *address, uint64_t bytes);

#endif
