/* The engine's failures in words. Not here: where they go (note.h). */
#ifndef MAP_MESSAGE_H
#define MAP_MESSAGE_H

#include "table.h"

/* What a message is about. */
typedef struct map_range {
  uintptr_t host;
  uint64_t bytes;
  const char *name; /* as compilers write names of maps, or a plain one; may be NULL */
} map_range_t;

/* Where the variable begins in a map's name: ";name;file;line;column;;" of clang, ";file;name;line;column;;"
 * of flang, or a plain one. Accepts NULL. */
const char *map_name_variable(const char *name);

/* "variable v, f.c line 3" for a map's name, as far as it is known. Accepts anything. */
void map_say_name(const char *name, char *text, size_t size);

/* Each of these describes a failure and returns its status. Not under the table's lock. */
map_status_t map_fail(map_table_t *table, map_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For want of host memory. */
map_status_t map_fail_memory(map_table_t *table, const char *what);

/* Of a list item: the message, then variable, file and line, its range, and what is mapped there or nearest.
 */
map_status_t map_fail_near(map_table_t *table, map_status_t status, const map_range_t *range,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
