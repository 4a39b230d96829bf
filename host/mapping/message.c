/* The engine's failures in words. */
#include "message.h"

#include "entry.h"

#include "base/process_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1200, NAME_BYTES = 300 };

static void tell(map_table_t *table, map_status_t status, const char *text) {
  const map_listener_t *listener = &table->configuration.listener;
  listener->fail(listener->context, status, text);
}

map_status_t map_fail(map_table_t *table, map_status_t status, const char *format, ...) {
  char text[MESSAGE_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  tell(table, status, text);
  return status;
}

map_status_t map_fail_memory(map_table_t *table, const char *what) {
  return map_fail(table, MAP_NO_MEMORY, "%s: the host has no memory left for the table of mapped data", what);
}

/* Variables of Fortran have no dot, and files of C have one: `s.first` of a.c is none of Fortran's files. */
const char *map_name_variable(const char *name) {
  if (!name || *name != ';')
    return name;
  const char *second = strchr(++name, ';');
  const char *dot = second ? memrchr(name, '.', (size_t)(second - name)) : NULL;
  if (!dot || (dot[1] | 0x20) != 'f')
    return name;
  const size_t plain = strcspn(second + 1, ".;");
  return second[plain + 1] == '.' ? name : second + 1;
}

static int field_length(const char *field) {
  return (int)strcspn(field, ";");
}

/* The field behind this one; empty, if there is none. */
static const char *next_field(const char *field) {
  field += field_length(field);
  return field + (*field == ';');
}

/* Names may be those of a library that was closed, or no names at all where arguments are damaged. */
void map_say_name(const char *name, char *text, size_t size) {
  if (name && !atmi_process_memory_is_text(name)) {
    snprintf(text, size, "a variable whose name cannot be read");
    return;
  }
  if (!name) {
    snprintf(text, size, "a variable whose name is not known (compile with -gline-tables-only)");
    return;
  }
  const char *variable = map_name_variable(name), *second = next_field(name + (*name == ';'));
  const char *file = variable == second ? name + 1 : second, *line = next_field(second);
  size_t length = (size_t)snprintf(text, size, "variable %.*s", field_length(variable), variable);
  if (*name == ';' && length < size && field_length(file))
    snprintf(text + length, size - length, ", %.*s line %.*s", field_length(file), file, field_length(line),
             line);
}

map_status_t map_fail_near(map_table_t *table, map_status_t status, const map_range_t *range,
                           const char *format, ...) {
  char text[MESSAGE_BYTES], name[NAME_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(text, MESSAGE_BYTES / 2, format, values);
  va_end(values);
  size_t length = strlen(text);
  map_say_name(range->name, name, sizeof name);
  unsigned long long host = range->host, bytes = range->bytes;
  snprintf(text + length, sizeof text - length, "\n%s: host 0x%016llx, %llu bytes", name, host, bytes);
  map_entry_view_t entry;
  length = strlen(text);
  if (!map_table_nearest(table, (const void *)range->host, &entry)) {
    snprintf(text + length, sizeof text - length, "\nnothing is mapped");
  } else {
    bool overlaps = range->host < entry.end && entry.begin - range->host < range->bytes;
    overlaps = overlaps || (range->host >= entry.begin && range->host < entry.end);
    map_say_name(entry.name, name, sizeof name);
    snprintf(text + length, sizeof text - length, "\n%s is %s: host 0x%016llx, %llu bytes, device 0x%016llx",
             overlaps ? "mapped there" : "nearest of what is mapped", name, (unsigned long long)entry.begin,
             (unsigned long long)(entry.end - entry.begin), (unsigned long long)entry.device);
  }
  tell(table, status, text);
  return status;
}
