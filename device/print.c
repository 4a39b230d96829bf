/* printf and its family in target regions. clang turns printf into __llvm_omp_vprintf with packed arguments;
 * the message goes to the host as shared/print_message.h describes, and the host formats it. */
#include "services.h"

#include "shared/print_message.h"
#include "rpc_client.h"

/* Standard streams by their numbers, for code that has no access to the host's variables. */
__attribute__((weak)) void *stdin = (void *)1;
__attribute__((weak)) void *stdout = (void *)2;
__attribute__((weak)) void *stderr = (void *)3;

enum { STDOUT = 2, STDERR = 3, STRING_MOST = 1 << 20 };

/* ---- a message, piece by piece ---- */

typedef struct message {
  atmi_print_header_t header;
  const char *format;
  const char *arguments;
  bool numbered; /* the format numbers its arguments */
  /* where sending stands */
  const char *at;    /* next bytes */
  uint32_t left;     /* of them */
  uint32_t padding;  /* zeros behind them */
  int stage;         /* pieces begun so far */
  const char *scan;  /* the format behind the conversions whose strings were sent */
  uint32_t number;   /* if arguments are numbered: those whose strings were sent */
  uint32_t position; /* in the arguments, likewise */
  const char *text;  /* string whose length was sent */
  uint32_t length;
} message_t;

static uint64_t argument_at(const message_t *message, uint32_t *position, uint32_t bytes) {
  uint32_t begin = atmi_print_place(position, bytes);
  if (begin + bytes > message->header.argument_bytes)
    return 0;
  return bytes == 4 ? *(const uint32_t *)(const void *)(message->arguments + begin)
                    : *(const uint64_t *)(const void *)(message->arguments + begin);
}

static uint32_t text_bytes(const char *text, atmi_print_kind_t kind, int32_t precision) {
  uint32_t length = 0, unit = kind == ATMI_PRINT_WIDE ? 4 : 1;
  uint32_t most = precision < 0 || precision > STRING_MOST || unit == 4 ? STRING_MOST : (uint32_t)precision;
  if (!text)
    return ATMI_PRINT_NULL;
  while (length < most &&
         (unit == 4 ? ((const uint32_t *)(const void *)text)[length] != 0 : text[length] != 0))
    length++;
  return length * unit;
}

static bool is_string(atmi_print_kind_t kind) {
  return kind == ATMI_PRINT_STRING || kind == ATMI_PRINT_WIDE;
}

/* A '$' makes it worth a closer look whether the format numbers its arguments. */
static bool has_dollar(const char *format) {
  while (*format && *format != '$')
    format++;
  return *format;
}

/* The next argument that is a string. Most programs have no such formats: kept out of the way of the others.
 */
__attribute__((noinline)) static bool next_numbered_string(message_t *message, const char **text,
                                                           uint32_t *bytes) {
  atmi_print_numbered_t table;
  atmi_print_number_arguments(message->format, &table);
  while (message->number < table.count) {
    uint32_t i = message->number++;
    atmi_print_kind_t kind = (atmi_print_kind_t)table.kind[i];
    uint64_t value = argument_at(message, &message->position, atmi_print_bytes(kind));
    if (!is_string(kind))
      continue;
    *text = (const char *)(uintptr_t)value;
    *bytes = text_bytes(*text, kind, table.precision[i]);
    return true;
  }
  return false;
}

__attribute__((noinline)) static bool is_numbered(const char *format) {
  atmi_print_numbered_t table;
  return atmi_print_number_arguments(format, &table);
}

/* Finds the next %s at or behind message->scan and its string. */
static bool next_string(message_t *message, const char **text, uint32_t *bytes) {
  atmi_print_conversion_t conversion;
  if (message->numbered)
    return next_numbered_string(message, text, bytes);
  while (atmi_print_next(message->scan, &conversion) && conversion.kind != ATMI_PRINT_UNKNOWN) {
    int32_t precision = conversion.has_precision ? conversion.precision : -1;
    message->scan = conversion.end;
    if (conversion.width_from_argument)
      argument_at(message, &message->position, 4);
    if (conversion.precision_from_argument)
      precision = (int32_t)argument_at(message, &message->position, 4);
    if (conversion.kind == ATMI_PRINT_LITERAL || conversion.kind == ATMI_PRINT_ERROR)
      continue;
    uint64_t value = argument_at(message, &message->position, atmi_print_bytes(conversion.kind));
    if (!is_string(conversion.kind))
      continue;
    *text = (const char *)(uintptr_t)value;
    *bytes = text_bytes(*text, conversion.kind, precision);
    return true;
  }
  return false;
}

static void rewind_strings(message_t *message) {
  message->scan = message->format;
  message->number = message->position = 0;
}

static uint64_t message_bytes(message_t *message) {
  uint64_t bytes = sizeof message->header + atmi_print_padded(message->header.format_bytes) +
                   atmi_print_padded(message->header.argument_bytes);
  const char *text;
  uint32_t length;
  rewind_strings(message);
  while (next_string(message, &text, &length))
    bytes += sizeof length + (length == ATMI_PRINT_NULL ? 0 : length);
  rewind_strings(message);
  return bytes;
}

static void set_piece(message_t *message, const void *at, uint32_t bytes, uint32_t padded) {
  message->at = at;
  message->left = bytes;
  message->padding = padded - bytes;
}

/* Goes on to the next piece; false at the end. */
static bool next_piece(message_t *message) {
  switch (message->stage++) {
  case 0: set_piece(message, &message->header, sizeof message->header, sizeof message->header); return true;
  case 1:
    set_piece(message, message->format, message->header.format_bytes,
              atmi_print_padded(message->header.format_bytes));
    return true;
  case 2:
    set_piece(message, message->arguments, message->header.argument_bytes,
              atmi_print_padded(message->header.argument_bytes));
    return true;
  case 3:
    if (!next_string(message, &message->text, &message->length))
      return false;
    set_piece(message, &message->length, sizeof message->length, sizeof message->length);
    return true;
  default: {
    uint32_t bytes = message->length == ATMI_PRINT_NULL ? 0 : message->length;
    set_piece(message, message->text, bytes, bytes);
    message->stage = 3;
    return true;
  }
  }
}

/* The next byte; zero behind the end. */
static uint64_t pull_byte(message_t *message) {
  while (!message->left && !message->padding)
    if (!next_piece(message))
      return 0;
  if (!message->left) {
    message->padding--;
    return 0;
  }
  message->left--;
  return *(const unsigned char *)message->at++;
}

/* As the compiler sees fit: these need not be aligned. */
typedef struct loose_word {
  uint64_t value;
} __attribute__((packed)) loose_word_t;

static uint64_t pull_word(message_t *message) {
  uint64_t word = 0;
  if (message->left >= sizeof word) {
    word = ((const loose_word_t *)(const void *)message->at)->value;
    message->at += sizeof word;
    message->left -= (uint32_t)sizeof word;
    return word;
  }
  for (uint32_t shift = 0; shift < 64; shift += 8)
    word |= pull_byte(message) << shift;
  return word;
}

/* Fills words of a slot with what comes next. Slots are memory of the host, where each store is a transfer:
 * so whole words. */
static void pull(message_t *message, uint64_t *slot, uint32_t words) {
  for (uint32_t i = 0; i < words; i++)
    slot[i] = pull_word(message);
}

/* All lanes send packets until the longest message is through. */
static int send_message(message_t *message) {
  uint64_t bytes = message_bytes(message), sent = ATMI_RPC_FIRST_BYTES;
  rpc_port_t port = rpc_open(ATMI_RPC_PRINT);
  uint64_t *slot = rpc_send_begin(&port);
  *slot = bytes;
  pull(message, slot + 1, ATMI_RPC_FIRST_BYTES / sizeof *slot);
  rpc_send_end(&port);
  for (; rpc_ballot(sent < bytes); sent += ATMI_RPC_SLOT_BYTES) {
    slot = rpc_send_begin(&port);
    if (sent < bytes)
      pull(message, slot, ATMI_RPC_SLOT_BYTES / sizeof *slot);
    rpc_send_end(&port);
  }
  int result = (int)rpc_receive(&port)[0];
  rpc_close(&port);
  return result;
}

static uint32_t bytes_of(const char *text) {
  uint32_t length = 0;
  while (text[length])
    length++;
  return length + 1;
}

static int print(uint64_t stream, const char *format, const void *arguments, uint32_t bytes) {
  message_t message = {.header = {stream, bytes_of(format), bytes},
                       .format = format,
                       .arguments = hide(arguments),
                       .numbered = has_dollar(format) && is_numbered(format)};
  return send_message(hide(&message));
}

/* ---- what programs call ---- */

/* Without access to the host's variables a stream may arrive as a null pointer. */
static uint64_t number_of(const void *stream) {
  return stream ? (uint64_t)(uintptr_t)stream : STDERR;
}

static bool is_text(const char *text, const char *other) {
  while (*text && *text == *other)
    text++, other++;
  return *text == *other;
}

/* The header's fprintf is a printf whose format is "\1" and the name that the stream has in the source;
 * stream and real format are the first two arguments. */
static int print_to_stream(const char *name, const char *arguments, uint32_t bytes) {
  enum { STREAM_AND_FORMAT = 16 };
  const void *const *words = (const void *const *)(const void *)arguments;
  uint64_t stream = is_text(name, "stdout") ? STDOUT : is_text(name, "stderr") ? STDERR : number_of(words[0]);
  return print(stream, words[1], arguments + STREAM_AND_FORMAT, bytes - STREAM_AND_FORMAT);
}

__attribute__((noinline)) int __llvm_omp_vprintf(const char *format, void *arguments, uint32_t bytes) {
  if (*format == 1)
    return print_to_stream(format + 1, arguments, bytes);
  return print(STDOUT, format, arguments, arguments ? bytes : 0);
}

#if RUNTIME >= 19
/* What that runtime's own messages are printed with. */
int rpc_fprintf(void *stream, const char *format, void *arguments, uint64_t bytes) {
  return print(number_of(stream), format, arguments, (uint32_t)bytes);
}
#endif

static int print_text(uint64_t stream, const char *format, const char *text) {
  return print(stream, format, &text, sizeof text);
}

int puts(const char *text) {
  return print_text(STDOUT, "%s\n", text);
}

int fputs(const char *text, void *stream) {
  return print_text(number_of(stream), "%s", text);
}

int putchar(int c) {
  print(STDOUT, "%c", &c, sizeof c);
  return (unsigned char)c;
}

int fputc(int c, void *stream) {
  print(number_of(stream), "%c", &c, sizeof c);
  return (unsigned char)c;
}

int putc(int c, void *stream) {
  return fputc(c, stream);
}

int fflush(void *stream) {
  enum { OPCODE = 19 };
  return (int)rpc_ask(OPCODE, (uint64_t)(uintptr_t)stream);
}

_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
  struct {
    const char *file;
    unsigned line;
    const char *function, *expression;
  } arguments = {file, line, function, expression};
  print(STDERR, "%s:%u: %s: Assertion `%s' failed.\n", &arguments, sizeof arguments);
  abort();
}
