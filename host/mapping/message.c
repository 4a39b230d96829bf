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

/* One part of ";name;file;line;column;;". Returns where the next one begins; NULL, and the text is empty, if
 * there is none. */
static const char *part_of_name(const char *at, char *part, size_t size) {
  *part = 0;
  if (!at || *at != ';')
    return NULL;
  size_t length = strcspn(++at, ";");
  snprintf(part, size, "%.*s", (int)(length < size ? length : size - 1), at);
  return at + length;
}

/* "variable v, file f.c, line 3", as far as it is known. Names may be those of a library that was closed, or
 * no names at all where arguments are damaged. */
static void say_name(const char *name, char *text, size_t size) {
  char variable[80], file[160], line[16];
  if (name && !atmi_process_memory_is_text(name)) {
    snprintf(text, size, "a variable whose name cannot be read");
    return;
  }
  const char *at = part_of_name(name, variable, sizeof variable);
  at = part_of_name(at, file, sizeof file);
  part_of_name(at, line, sizeof line);
  if (!name)
    snprintf(text, size, "a variable whose name is not known (compile with -g)");
  else if (*name != ';')
    snprintf(text, size, "variable %s", name);
  else if (!*file)
    snprintf(text, size, "variable %s", variable);
  else
    snprintf(text, size, "variable %s, %s line %s", variable, file, line);
}

map_status_t map_fail_near(map_table_t *table, map_status_t status, const map_range_t *range,
                           const char *format, ...) {
  char text[MESSAGE_BYTES], name[NAME_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(text, MESSAGE_BYTES / 2, format, values);
  va_end(values);
  size_t length = strlen(text);
  say_name(range->name, name, sizeof name);
  unsigned long long host = range->host, bytes = range->bytes;
  snprintf(text + length, sizeof text - length, "\n%s: host 0x%016llx, %llu bytes", name, host, bytes);
  map_entry_view_t entry;
  length = strlen(text);
  if (!map_table_nearest(table, (const void *)range->host, &entry)) {
    snprintf(text + length, sizeof text - length, "\nnothing is mapped");
  } else {
    bool overlaps = range->host < entry.end && entry.begin - range->host < range->bytes;
    overlaps = overlaps || (range->host >= entry.begin && range->host < entry.end);
    say_name(entry.name, name, sizeof name);
    snprintf(text + length, sizeof text - length, "\n%s is %s: host 0x%016llx, %llu bytes, device 0x%016llx",
             overlaps ? "mapped there" : "nearest of what is mapped", name, (unsigned long long)entry.begin,
             (unsigned long long)(entry.end - entry.begin), (unsigned long long)entry.device);
  }
  tell(table, status, text);
  return status;
}
