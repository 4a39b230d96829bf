/* Printing what device code packed (shared/print_message.h), exactly as the host's own printf would. */
#ifndef ATMI_SERVICES_PRINT_H
#define ATMI_SERVICES_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The stream that a message is for, as device code names it. False if the message is damaged. */
bool atmi_print_stream(const void *message, size_t bytes, uint64_t *stream);

/* Prints the message as one piece. What printf returns: characters, or -1 if the message is damaged or the
 * stream fails. Reads nothing beyond the message, whatever its format says: an argument that is missing is
 * printed as 0. Stores nothing for %n, since only the device knows its memory: *stored_nothing becomes true
 * if there was one, and is left alone otherwise. */
int64_t atmi_print(const void *message, size_t bytes, FILE *stream, bool *stored_nothing);

#endif
