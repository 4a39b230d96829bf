/* printf from a packed message: the format is walked, and each conversion is handed to the host's printf with
 * its argument. */
#include "services/print.h"

#include "shared/print_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { LONGEST_CONVERSION = 64, WIDEST = 1 << 20 };

/* A message that is being read. */
typedef struct reader {
  const char *format;
  const unsigned char *arguments;
  uint32_t argument_bytes, position;
  const unsigned char *strings, *end;
  FILE *out;
  int64_t printed;
  bool stored_nothing; /* instead of what %n wants */
  bool is_numbered;    /* then each argument can be taken several times, in any order: */
  atmi_print_numbered_t numbered;
  uint32_t places[ATMI_PRINT_NUMBERED];            /* in the arguments */
  const unsigned char *texts[ATMI_PRINT_NUMBERED]; /* strings; NULL if they are cut off */
  uint32_t text_bytes[ATMI_PRINT_NUMBERED];
} reader_t;

static bool open_message(const void *message, size_t bytes, reader_t *reader) {
  atmi_print_header_t header;
  if (bytes < sizeof header)
    return false;
  memcpy(&header, message, sizeof header);
  uint64_t format_room = ((uint64_t)header.format_bytes + 7) & ~UINT64_C(7);
  uint64_t argument_room = ((uint64_t)header.argument_bytes + 7) & ~UINT64_C(7);
  if (!header.format_bytes || format_room + argument_room > bytes - sizeof header)
    return false;
  const unsigned char *at = (const unsigned char *)message + sizeof header;
  *reader = (reader_t){.format = (const char *)at,
                       .arguments = at + format_room,
                       .argument_bytes = header.argument_bytes,
                       .strings = at + format_room + argument_room,
                       .end = (const unsigned char *)message + bytes};
  return !reader->format[header.format_bytes - 1];
}

bool atmi_print_stream(const void *message, size_t bytes, uint64_t *stream) {
  reader_t reader;
  atmi_print_header_t header;
  if (!open_message(message, bytes, &reader))
    return false;
  memcpy(&header, message, sizeof header);
  *stream = header.stream;
  return true;
}

static uint64_t take(reader_t *reader, uint32_t bytes) {
  uint32_t begin = atmi_print_place(&reader->position, bytes);
  uint64_t value = 0;
  /* What position says could have wrapped. */
  if (begin <= reader->argument_bytes && reader->argument_bytes - begin >= bytes)
    memcpy(&value, reader->arguments + begin, bytes); /* little-endian: the low bytes */
  return value;
}

/* If arguments are numbered, the next one to be taken is this one. "%%" may have any number: it takes none.
 */
static void go_to(reader_t *reader, int32_t number) {
  if (reader->is_numbered && number > 0 && number <= (int32_t)reader->numbered.count)
    reader->position = reader->places[number - 1];
}

static void count(reader_t *reader, int printed) {
  if (printed < 0 || reader->printed < 0)
    reader->printed = -1;
  else
    reader->printed += printed;
}

static void print_text(reader_t *reader, const char *begin, const char *end) {
  size_t bytes = (size_t)(end - begin);
  if (bytes)
    count(reader, fwrite_unlocked(begin, 1, bytes, reader->out) == bytes ? (int)bytes : -1);
}

/* Skips the number of an argument, "2$", if there is one. */
static const char *skip_number(const char *at) {
  int32_t number;
  const char *end = atmi_print_number(at, &number);
  return end != at && *end == '$' ? end + 1 : at;
}

/* A copy of the conversion with its numbers in the place of '*', so that it takes one argument only. Widths
 * that no line needs are cut: they would only cost the host memory. */
static bool rewrite(reader_t *reader, const atmi_print_conversion_t *conversion, char *text,
                    int32_t *precision) {
  size_t length = 1;
  text[0] = '%';
  for (const char *at = skip_number(conversion->begin + 1); at < conversion->end;) {
    int number;
    if (*at == '*') {
      bool is_precision = length && text[length - 1] == '.';
      at = skip_number(at + 1);
      go_to(reader, is_precision ? conversion->precision_argument : conversion->width_argument);
      number = (int)(uint32_t)take(reader, 4);
      if (is_precision)
        *precision = number;
      if (is_precision && number < 0) { /* as if there were none */
        length--;
        continue;
      }
    } else if (*at >= '1' && *at <= '9') {
      at = atmi_print_number(at, &number);
    } else {
      if (length + 1 >= LONGEST_CONVERSION)
        return false;
      if (*at != 'L' || conversion->kind != ATMI_PRINT_REAL) /* the device's long double is a double */
        text[length++] = *at;
      at++;
      continue;
    }
    number = number > WIDEST ? WIDEST : number < -WIDEST ? -WIDEST : number;
    if (length + 16 >= LONGEST_CONVERSION)
      return false;
    length += (size_t)sprintf(text + length, "%d", number);
  }
  text[length] = 0;
  return true;
}

/* Takes the next string out of the message; `*bytes` is its length, or ATMI_PRINT_NULL. False if it is cut
 * off. */
static bool take_string(reader_t *reader, const unsigned char **begin, uint32_t *bytes) {
  if ((size_t)(reader->end - reader->strings) < sizeof *bytes)
    return false;
  memcpy(bytes, reader->strings, sizeof *bytes);
  reader->strings += sizeof *bytes;
  *begin = reader->strings;
  if (*bytes == ATMI_PRINT_NULL)
    return true;
  if (*bytes > (size_t)(reader->end - reader->strings))
    return false;
  reader->strings += *bytes;
  return true;
}

static void print_string(reader_t *reader, const atmi_print_conversion_t *conversion, const char *format) {
  const unsigned char *begin;
  uint32_t bytes;
  size_t end_bytes = conversion->kind == ATMI_PRINT_WIDE ? sizeof(wchar_t) : 1;
  bool whole;
  if (reader->is_numbered) {
    begin = reader->texts[conversion->argument - 1];
    bytes = reader->text_bytes[conversion->argument - 1];
    whole = begin;
  } else {
    take(reader, 8);
    whole = take_string(reader, &begin, &bytes);
  }
  if (whole && bytes == ATMI_PRINT_NULL) {
    count(reader, fprintf(reader->out, format, (void *)NULL));
    return;
  }
  char *text = whole ? malloc((size_t)bytes + end_bytes) : NULL;
  if (!text) {
    reader->printed = -1;
    return;
  }
  memcpy(text, begin, bytes);
  memset(text + bytes, 0, end_bytes);
  count(reader, fprintf(reader->out, format, text));
  free(text);
}

static void print_conversion(reader_t *reader, const atmi_print_conversion_t *conversion) {
  char format[LONGEST_CONVERSION];
  int32_t precision = conversion->precision;
  if (!rewrite(reader, conversion, format, &precision)) {
    print_text(reader, conversion->begin, conversion->end);
    return;
  }
  go_to(reader, conversion->argument);
  switch (conversion->kind) {
  case ATMI_PRINT_WORD: count(reader, fprintf(reader->out, format, (int)(uint32_t)take(reader, 4))); break;
  case ATMI_PRINT_LONG: count(reader, fprintf(reader->out, format, take(reader, 8))); break;
  case ATMI_PRINT_REAL: {
    uint64_t bits = take(reader, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    count(reader, fprintf(reader->out, format, value));
    break;
  }
  case ATMI_PRINT_STRING:
  case ATMI_PRINT_WIDE: print_string(reader, conversion, format); break;
  case ATMI_PRINT_COUNT:
    take(reader, 8);
    reader->stored_nothing = true;
    break;
  case ATMI_PRINT_ERROR: {
    int before = errno;
    errno = 0;
    count(reader, fprintf(reader->out, format, 0));
    errno = before;
    break;
  }
  case ATMI_PRINT_LITERAL: count(reader, fputc_unlocked('%', reader->out) == EOF ? -1 : 1); break;
  case ATMI_PRINT_UNKNOWN: break;
  }
}

/* Finds out whether arguments are numbered, and if so, where each is. */
static void number_arguments(reader_t *reader) {
  reader->is_numbered = atmi_print_number_arguments(reader->format, &reader->numbered);
  if (!reader->is_numbered)
    return;
  uint32_t position = 0;
  for (uint32_t i = 0; i < reader->numbered.count; i++) {
    atmi_print_kind_t kind = (atmi_print_kind_t)reader->numbered.kind[i];
    reader->places[i] = atmi_print_place(&position, atmi_print_bytes(kind));
    if (kind != ATMI_PRINT_STRING && kind != ATMI_PRINT_WIDE)
      continue;
    if (!take_string(reader, &reader->texts[i], &reader->text_bytes[i]))
      reader->texts[i] = NULL;
  }
}

int64_t atmi_print(const void *message, size_t bytes, FILE *stream, bool *stored_nothing) {
  reader_t reader;
  if (!open_message(message, bytes, &reader))
    return -1;
  number_arguments(&reader);
  reader.out = stream;
  flockfile(stream);
  const char *at = reader.format;
  atmi_print_conversion_t conversion;
  while (atmi_print_next(at, &conversion) && conversion.kind != ATMI_PRINT_UNKNOWN) {
    print_text(&reader, at, conversion.begin);
    print_conversion(&reader, &conversion);
    at = conversion.end;
  }
  print_text(&reader, at, at + strlen(at));
  funlockfile(stream);
  *stored_nothing = *stored_nothing || reader.stored_nothing;
  return reader.printed;
}
