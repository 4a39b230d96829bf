/* How the device support library sends a printf to its host: the message's layout, and how a format is taken
 * apart. Shared by both sides, so it needs nothing but fixed-width types. The device does not format: it
 * copies the format, the arguments as clang packs them (each at its natural alignment), and the strings that
 * they point to.
 *
 *   header | format with its NUL, padded to 8 | arguments, padded to 8 | for each %s: 4 bytes length, then
 * the bytes */
#ifndef ATMI_PRINT_MESSAGE_H
#define ATMI_PRINT_MESSAGE_H

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
  ATMI_PRINT_UNKNOWN, /* no conversion of C: the rest of the format is printed as it is */
} atmi_print_kind_t;

typedef struct atmi_print_conversion {
  const char *begin, *end; /* from '%' to behind the conversion's letter */
  atmi_print_kind_t kind;
  char letter;
  int width_from_argument, precision_from_argument; /* '*': one int each, before the argument itself */
  int has_precision;
  int32_t precision; /* in the format; if the argument has it, that one counts */
} atmi_print_conversion_t;

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
  case '%': return ATMI_PRINT_LITERAL;
  default: return ATMI_PRINT_UNKNOWN;
  }
}

/* Finds the next conversion at or behind `at` in a format that ends with a NUL. False if there is none. */
static inline int atmi_print_next(const char *at, atmi_print_conversion_t *found) {
  while (*at && *at != '%')
    at++;
  if (!*at)
    return 0;
  found->begin = at++;
  while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0' || *at == '\'')
    at++;
  int32_t width;
  found->width_from_argument = *at == '*';
  at = *at == '*' ? at + 1 : atmi_print_number(at, &width);
  found->has_precision = *at == '.';
  found->precision_from_argument = 0;
  found->precision = 0;
  if (*at == '.') {
    at++;
    found->precision_from_argument = *at == '*';
    at = *at == '*' ? at + 1 : atmi_print_number(at, &found->precision);
  }
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

static inline uint32_t atmi_print_padded(uint32_t bytes) {
  return (bytes + 7) & ~(uint32_t)7;
}

#endif
