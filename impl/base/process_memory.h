/* Memory of this process that may not be there, or not be what is wanted of it. Slow: the kernel is asked.
 * Where it may not be asked, as in some containers, memory is believed to be there. */
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

/* What is to be done with memory. */
typedef enum atmi_process_access { ATMI_PROCESS_READS, ATMI_PROCESS_WRITES } atmi_process_access_t;

/* Whether the first and the last byte may be read, or written. Changes nothing. A question for each of the
 * two pages, which the kernel answers by having them ready; it costs as much as a page's first use does. True
 * of no bytes, and where the kernel does not know the question (before Linux 5.14). */
bool atmi_process_memory_allows(const void *address, uint64_t bytes, atmi_process_access_t access);

/* What is wrong with memory of which all bytes are to be read or written, as words behind "the host" and
 * before "the ... bytes", and what is to be done: constant texts. NULL: nothing. */
const char *atmi_process_memory_flaw(const void *address, uint64_t bytes, atmi_process_access_t access,
                                     const char **remedy);

/* The mapping that holds an address, with what may be done there ("rw-p"), from the kernel's list. Not
 * through the dynamic linker, whose lock another thread may hold. */
typedef struct atmi_process_mapping {
  uintptr_t begin, end;
  char rights[5];
} atmi_process_mapping_t;
bool atmi_process_memory_find(const void *address, atmi_process_mapping_t *mapping);

#endif
