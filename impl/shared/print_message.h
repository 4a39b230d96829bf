/* How the device support library sends a printf to its host: the message's layout, and how a format is taken
 * apart. Shared by both sides, so it needs nothing but fixed-width types. The device does not format: it
 * copies the format, the arguments as clang packs them (each at its natural alignment), and the strings that
 * they point to.
 *
 *   header | format with its NUL, padded to 8 | arguments, padded to 8 | for each %s: 4 bytes length, then
 * the bytes
 *
 * Where the format numbers its arguments ("%2$s"), there is one string for each argument that is one, in the
 * order of the arguments. */
#ifndef ATMI_SHARED_PRINT_MESSAGE_H
#define ATMI_SHARED_PRINT_MESSAGE_H

#include <stdint.h>

typedef struct atmi_print_header {
  uint64_t stream;         /* as in atmi_rpc_file_find */
  uint32_t format_bytes;   /* with the NUL, without padding */
  uint32_t argument_bytes; /* without padding */
} atmi_print_header_t;

/* The length of a string that is a null pointer. */
#define ATMI_PRINT_NULL UINT32_MAX

typedef enum atmi_print_kind {
  ATMI_PRINT_LITERAL, /* "%%", or a conversion that takes no argument */
  ATMI_PRINT_WORD,    /* 4 bytes: int, and all that is promoted to it */
  ATMI_PRINT_LONG,    /* 8 bytes: long, size_t, pointers ... */
  ATMI_PRINT_REAL,    /* 8 bytes: double */
  ATMI_PRINT_STRING,  /* 8 bytes: char * */
  ATMI_PRINT_WIDE,    /* 8 bytes: wchar_t * */
  ATMI_PRINT_COUNT,   /* 8 bytes: %n; nothing is stored */
  ATMI_PRINT_ERROR,   /* %m: no argument; the text of errno, which is 0 on a device */
  ATMI_PRINT_UNKNOWN, /* no conversion of C: the rest of the format is printed as it is */
} atmi_print_kind_t;

typedef struct atmi_print_conversion {
  const char *begin, *end; /* from '%' to behind the conversion's letter */
  atmi_print_kind_t kind;
  char letter;
  int width_from_argument, precision_from_argument; /* '*': one int each, before the argument itself */
  int has_precision;
  int32_t precision; /* in the format; if the argument has it, that one counts */
  /* Numbers of the arguments, from 1; 0: the next one. */
  int32_t argument, width_argument, precision_argument;
} atmi_print_conversion_t;

enum { ATMI_PRINT_NUMBERED = 32 }; /* arguments that a format can number */

/* The arguments of a format that numbers them. */
typedef struct atmi_print_numbered {
  uint32_t count;
  uint8_t kind[ATMI_PRINT_NUMBERED];      /* atmi_print_kind_t; an int if no conversion takes the argument */
  int32_t precision[ATMI_PRINT_NUMBERED]; /* characters of a string that are wanted; -1: all */
} atmi_print_numbered_t;

/* Reads digits; what does not fit is the largest number. */
static inline const char *atmi_print_number(const char *at, int32_t *number) {
  *number = 0;
  for (; *at >= '0' && *at <= '9'; at++)
    *number = *number > (INT32_MAX - 9) / 10 ? INT32_MAX : *number * 10 + (*at - '0');
  return at;
}

static inline const char *atmi_print_length(const char *at, int *is_long) {
  *is_long = 0;
  for (; *at == 'h' || *at == 'l' || *at == 'z' || *at == 'j' || *at == 't' || *at == 'q' || *at == 'L'; at++)
    *is_long = *is_long || *at != 'h';
  return at;
}

static inline atmi_print_kind_t atmi_print_kind_of(char letter, int is_long) {
  switch (letter) {
  case 'd':
  case 'i':
  case 'u':
  case 'o':
  case 'x':
  case 'X': return is_long ? ATMI_PRINT_LONG : ATMI_PRINT_WORD;
  case 'c': return ATMI_PRINT_WORD;
  case 'p': return ATMI_PRINT_LONG;
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
  case 'a':
  case 'A': return ATMI_PRINT_REAL;
  case 's': return is_long ? ATMI_PRINT_WIDE : ATMI_PRINT_STRING;
  case 'n': return ATMI_PRINT_COUNT;
  case 'm': return ATMI_PRINT_ERROR;
  case '%': return ATMI_PRINT_LITERAL;
  default: return ATMI_PRINT_UNKNOWN;
  }
}

/* Reads a width or precision: digits, or '*' with or without the number of its argument. */
static inline const char *atmi_print_amount(const char *at, int *from_argument, int32_t *amount,
                                            int32_t *argument) {
  *from_argument = *at == '*';
  *argument = *amount = 0;
  if (*at != '*')
    return atmi_print_number(at, amount);
  const char *end = atmi_print_number(++at, argument);
  if (end != at && *end == '$')
    return end + 1;
  *argument = 0;
  return at;
}

/* Finds the next conversion at or behind `at` in a format that ends with a NUL. False if there is none. */
static inline int atmi_print_next(const char *at, atmi_print_conversion_t *found) {
  while (*at && *at != '%')
    at++;
  if (!*at)
    return 0;
  found->begin = at++;
  const char *dollar = atmi_print_number(at, &found->argument);
  if (dollar != at && *dollar == '$')
    at = dollar + 1;
  else
    found->argument = 0;
  while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0' || *at == '\'')
    at++;
  int32_t width;
  at = atmi_print_amount(at, &found->width_from_argument, &width, &found->width_argument);
  found->has_precision = *at == '.';
  found->precision_from_argument = 0;
  found->precision = found->precision_argument = 0;
  if (*at == '.')
    at = atmi_print_amount(at + 1, &found->precision_from_argument, &found->precision,
                           &found->precision_argument);
  int is_long;
  at = atmi_print_length(at, &is_long);
  found->letter = *at;
  found->kind = atmi_print_kind_of(*at, is_long);
  found->end = *at ? at + 1 : at;
  return 1;
}

/* Where the next argument of `bytes` bytes begins in the packed arguments; moves the position behind it. */
static inline uint32_t atmi_print_place(uint32_t *position, uint32_t bytes) {
  uint32_t begin = (*position + bytes - 1) & ~(bytes - 1);
  *position = begin + bytes;
  return begin;
}

/* Bytes of an argument. */
static inline uint32_t atmi_print_bytes(atmi_print_kind_t kind) {
  return kind == ATMI_PRINT_WORD ? 4 : 8;
}

/* Notes that a conversion takes an argument. False if there cannot be so many. */
static inline int atmi_print_note(atmi_print_numbered_t *table, int32_t number, atmi_print_kind_t kind,
                                  int32_t precision) {
  if (number < 1 || number > ATMI_PRINT_NUMBERED)
    return 0;
  for (; table->count < (uint32_t)number; table->count++) {
    table->kind[table->count] = ATMI_PRINT_WORD;
    table->precision[table->count] = 0;
  }
  int32_t *wanted = &table->precision[number - 1];
  table->kind[number - 1] = (uint8_t)kind;
  *wanted = precision < 0 || *wanted < 0 ? -1 : precision > *wanted ? precision : *wanted;
  return 1;
}

/* Whether the format numbers its arguments; what they are goes into the table. As in C, all conversions do or
 * none does: a format that does both numbers none. */
static inline int atmi_print_number_arguments(const char *format, atmi_print_numbered_t *table) {
  atmi_print_conversion_t found;
  table->count = 0;
  for (; atmi_print_next(format, &found) && found.kind != ATMI_PRINT_UNKNOWN; format = found.end) {
    int32_t precision = found.has_precision && !found.precision_from_argument ? found.precision : -1;
    if (found.kind == ATMI_PRINT_LITERAL || found.kind == ATMI_PRINT_ERROR)
      continue;
    if (!atmi_print_note(table, found.argument, found.kind, precision) ||
        (found.width_from_argument && !atmi_print_note(table, found.width_argument, ATMI_PRINT_WORD, -1)) ||
        (found.precision_from_argument &&
         !atmi_print_note(table, found.precision_argument, ATMI_PRINT_WORD, -1)))
      return 0;
  }
  return table->count != 0;
}

static inline uint32_t atmi_print_padded(uint32_t bytes) {
  return (bytes + 7) & ~(uint32_t)7;
}

#endif
