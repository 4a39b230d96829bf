/* What the debug information of device images and the symbols of the host's files say about addresses, for
 * reports of faults. Slow, and only for when something went wrong. */
#ifndef ATMI_SOURCE_H
#define ATMI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum atmi_source_answer {
  ATMI_SOURCE_FOUND,
  ATMI_SOURCE_NO_LINES,  /* the image was built without -g */
  ATMI_SOURCE_NO_READER, /* it has debug information, but libdw is not installed */
  ATMI_SOURCE_UNKNOWN,   /* what there is does not tell */
} atmi_source_answer_t;

/* "file.c:12" for a function of a device image, by an address in it before loading: where it is declared, or
 * else where the instruction is from. The image's own DWARF tells, through libdw. */
atmi_source_answer_t atmi_source_find_line(const void *image, size_t bytes, uint64_t address, char *text,
                                           size_t size);

/* Copies memory of this process if it can be read; false, without a signal, if not. */
bool atmi_source_read(const void *address, void *copy, size_t bytes);

/* The name of the host's variable that contains an address, from the symbol table of the file that is mapped
 * there. False for the heap, the stack and stripped files. */
bool atmi_source_find_variable(const void *address, char *text, size_t size);

#endif
