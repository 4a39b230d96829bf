/* Text for people. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void atmi_text_add(atmi_text_t *text, const char *format, ...) {
  va_list arguments;
  size_t room = text->size - text->length;
  va_start(arguments, format);
  int written = vsnprintf(text->text + text->length, room, format, arguments);
  va_end(arguments);
  if (written > 0 && room)
    text->length += (size_t)written < room ? (size_t)written : room - 1;
}

/* How many bytes a character takes that begins with this one, by the bits that say so; 0 if none does. */
static size_t length_of(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

static bool is_between(uint32_t code, uint32_t first, uint32_t last) {
  return code >= first && code <= last;
}

size_t atmi_text_printable(const char *text) {
  static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  static const uint32_t least[] = {0, 0x20, 0xa0, 0x800,
                                   0x10000}; /* less is a control, or has a shorter form */
  size_t length = length_of((unsigned char)*text);
  uint32_t code = (unsigned char)*text & first_bits[length];
  for (size_t i = 1; i < length; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | ((unsigned char)text[i] & 0x3f);
  }
  if (code < least[length] || code == 0x7f || is_between(code, 0xd800, 0xdfff) || code > 0x10ffff ||
      is_between(code, 0x200e, 0x200f) || is_between(code, 0x2028, 0x202e) ||
      is_between(code, 0x2066, 0x2069))
    return 0;
  return length;
}

size_t atmi_text_escape(char byte, char escape[ATMI_TEXT_ESCAPE_BYTES]) {
  const char letter = byte == '\n' ? 'n' : byte == '\t' ? 't' : byte == '\r' ? 'r' : 0;
  return (size_t)(letter ? snprintf(escape, ATMI_TEXT_ESCAPE_BYTES, "\\%c", letter)
                         : snprintf(escape, ATMI_TEXT_ESCAPE_BYTES, "\\x%02x", (unsigned char)byte));
}

const char *atmi_text_clean(const char *foreign, char *copy, size_t size) {
  size_t at = 0;
  while (*foreign) {
    char escape[ATMI_TEXT_ESCAPE_BYTES];
    const char *piece = foreign;
    size_t taken = atmi_text_printable(foreign), bytes = taken;
    if (!taken) {
      taken = 1;
      bytes = atmi_text_escape(*foreign, escape);
      piece = escape;
    }
    if (at + bytes >= size)
      break;
    memcpy(copy + at, piece, bytes);
    at += bytes;
    foreign += taken;
  }
  copy[at] = 0;
  return copy;
}

bool atmi_text_names_file(const char *path, const char *beginning) {
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, beginning, strlen(beginning));
}
