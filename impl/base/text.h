/* Text for people: growing one in place, and making text of others safe to print. Pure. Not here: where
 * messages go (base/status). */
#ifndef ATMI_BASE_TEXT_H
#define ATMI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A text that grows in place; what does not fit is left out. `size` includes the NUL that always ends it. */
typedef struct atmi_text {
  char *text;
  size_t size, length;
} atmi_text_t;

void atmi_text_add(atmi_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many bytes the character at the beginning of a text takes: UTF-8 that a terminal shows as it is. 0 for
 * everything else: control characters of any kind, what turns the direction of writing, and bytes that are no
 * UTF-8. */
size_t atmi_text_printable(const char *text);

enum { ATMI_TEXT_ESCAPE_BYTES = 5 };

/* Writes a byte as "\n" or "\x1b", with its NUL. Returns how long that is. */
size_t atmi_text_escape(char byte, char escape[ATMI_TEXT_ESCAPE_BYTES]);

/* Copies a text of somebody else (a name in an image, a variable of the environment), with escapes for what
 * is not printable. Cut if it does not fit. Returns `copy`. */
const char *atmi_text_clean(const char *foreign, char *copy, size_t size);

/* Whether the file's name, without its folders, begins so. */
bool atmi_text_names_file(const char *path, const char *beginning);

#endif
