/* Messages of the host runtime. */
#include "message.h"

#include "runtime.h"

#include "base/text.h"
#include "mapping/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLANG_WITH_TARGET_POINTER = 14, CLANG_WITH_SHORT_NAME = 18, MESSAGE_BYTES = 4096 };

/* Whether the program's clang is older than this one. */
static bool is_before(uint32_t clang) {
  uint32_t version = atomic_load_explicit(&tgt_runtime()->newest_version, memory_order_relaxed);
  return version && version < clang;
}

const char *tgt_message_name(void) {
  return is_before(CLANG_WITH_SHORT_NAME) ? "Libomptarget" : "omptarget";
}

static void print(const char *kind, const char *format, va_list arguments) {
  char text[MESSAGE_BYTES], clean[MESSAGE_BYTES];
  vsnprintf(text, sizeof text, format, arguments);
  fprintf(stderr, "%s %s: %s\n", tgt_message_name(), kind, atmi_text_clean(text, clean, sizeof clean));
}

void tgt_message(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print("message", format, arguments);
  va_end(arguments);
}

void tgt_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print("error", format, arguments);
  va_end(arguments);
}

void tgt_error_of_begin(map_status_t status, bool is_region) {
  tgt_error("Call to %s returned null pointer (%s).",
            is_before(CLANG_WITH_TARGET_POINTER) ? "getOrAllocTgtPtr" : "getTargetPointer",
            status == MAP_ABSENT ? "'present' map type modifier" : "device failure or illegal mapping");
  if (is_region) {
    tgt_error("Call to targetDataBegin failed, abort target.");
    tgt_error("Failed to process data before launching the kernel.");
  }
}

void tgt_fatal(int number, const char *format, ...) {
  va_list arguments;
  char kind[32];
  snprintf(kind, sizeof kind, "fatal error %d", number);
  va_start(arguments, format);
  fflush(stdout);
  print(kind, format, arguments);
  va_end(arguments);
  abort();
}

/* ---- places ---- */

/* The field of this number of a text whose fields each begin with a semicolon. */
static const char *field(const char *text, int number, int *length) {
  for (int i = 0; text && i <= number; i++) {
    text = strchr(text, ';');
    text = text ? text + 1 : NULL;
  }
  *length = text ? (int)strcspn(text, ";") : 0;
  return text;
}

static bool split(const char *text, int file, int name, tgt_place_t *place) {
  static const char unknown[] = "unknown";
  *place = (tgt_place_t){unknown, unknown, sizeof unknown - 1, sizeof unknown - 1, 0, 0};
  int length;
  if (!text || *text != ';' || !field(text, 3, &length))
    return false;
  place->file = field(text, file, &place->file_length);
  place->name = field(text, name, &place->name_length);
  place->line = strtol(field(text, 2, &length), NULL, 10);
  place->column = strtol(field(text, 3, &length), NULL, 10);
  const char *slash = memrchr(place->file, '/', (size_t)place->file_length);
  if (slash) {
    place->file_length -= (int)(slash + 1 - place->file);
    place->file = slash + 1;
  }
  return true;
}

bool tgt_place_of_ident(const tgt_ident_t *ident, tgt_place_t *place) {
  /* Without debug information compilers write ";unknown;unknown;0;0;;". */
  return split(ident ? ident->source : NULL, 0, 1, place) && place->line;
}

bool tgt_place_of_map(const char *name, tgt_place_t *place) {
  const bool file_first = name && map_name_variable(name) > name + 1;
  if (split(name, !file_first, file_first, place))
    return true;
  if (name && *name) {
    place->name = name;
    place->name_length = (int)strlen(name);
  }
  return false;
}
