/* What the debug information of device images and the symbols of the host's files say about addresses, for
 * reports of faults. Slow, and only for when something went wrong. */
#ifndef ATMI_IMAGE_SOURCE_LINE_H
#define ATMI_IMAGE_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum atmi_source_line_answer {
  ATMI_SOURCE_LINE_FOUND,
  ATMI_SOURCE_LINE_NO_LINES,  /* the image was built without -g */
  ATMI_SOURCE_LINE_NO_READER, /* it has debug information, but libdw is not installed */
  ATMI_SOURCE_LINE_BUSY,      /* another thread keeps the dynamic linker, of which libdw is wanted */
  ATMI_SOURCE_LINE_UNKNOWN,   /* what there is does not tell */
} atmi_source_line_answer_t;

/* Neither waits for the dynamic linker for more than some seconds: who holds it may wait for the report. */

/* "file.c:12" for a function of a device image, by an address in it before loading: where it is declared, or
 * else where the instruction is from. The image's own DWARF tells, through libdw. */
atmi_source_line_answer_t atmi_source_line_find(const void *image, size_t bytes, uint64_t address, char *text,
                                                size_t size);

/* The name of the host's variable that contains an address, from the symbol table of the file that is mapped
 * there. False for the heap, the stack and stripped files. */
bool atmi_source_line_variable(const void *address, char *text, size_t size);

#endif
