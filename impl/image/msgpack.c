/* Reader of MessagePack. One table row per range of first bytes says how long the fixed part is and what it
 * means. */
#include "image/msgpack.h"

#include <string.h>

/* How the bytes after the first one are to be read. */
typedef enum {
  FORM_NEVER,
  FORM_SMALL,        /* the value is in the first byte */
  FORM_UINT,         /* big-endian unsigned of `width` bytes */
  FORM_SINT,         /* big-endian two's complement of `width` bytes */
  FORM_REAL,         /* IEEE float of `width` bytes, big-endian */
  FORM_LENGTH,       /* big-endian length of `width` bytes, then payload or elements */
  FORM_FIXED_LENGTH, /* the length itself is `width`, and is not in the bytes */
} form_t;

typedef struct {
  uint8_t first, last;
  atmi_msgpack_type_t type;
  form_t form;
  uint8_t width;
  uint8_t mask; /* FORM_SMALL: the bits of the first byte that are the value or the length */
} rule_t;

static const rule_t rules[] = {
    {0x00, 0x7f, ATMI_MSGPACK_UINT, FORM_SMALL, 0, 0x7f},
    {0x80, 0x8f, ATMI_MSGPACK_MAP, FORM_SMALL, 0, 0x0f},
    {0x90, 0x9f, ATMI_MSGPACK_ARRAY, FORM_SMALL, 0, 0x0f},
    {0xa0, 0xbf, ATMI_MSGPACK_STRING, FORM_SMALL, 0, 0x1f},
    {0xc0, 0xc0, ATMI_MSGPACK_NIL, FORM_SMALL, 0, 0},
    {0xc1, 0xc1, ATMI_MSGPACK_NIL, FORM_NEVER, 0, 0},
    {0xc2, 0xc3, ATMI_MSGPACK_BOOL, FORM_SMALL, 0, 0x01},
    {0xc4, 0xc4, ATMI_MSGPACK_BINARY, FORM_LENGTH, 1, 0},
    {0xc5, 0xc5, ATMI_MSGPACK_BINARY, FORM_LENGTH, 2, 0},
    {0xc6, 0xc6, ATMI_MSGPACK_BINARY, FORM_LENGTH, 4, 0},
    {0xc7, 0xc7, ATMI_MSGPACK_EXTENSION, FORM_LENGTH, 1, 0},
    {0xc8, 0xc8, ATMI_MSGPACK_EXTENSION, FORM_LENGTH, 2, 0},
    {0xc9, 0xc9, ATMI_MSGPACK_EXTENSION, FORM_LENGTH, 4, 0},
    {0xca, 0xca, ATMI_MSGPACK_FLOAT, FORM_REAL, 4, 0},
    {0xcb, 0xcb, ATMI_MSGPACK_FLOAT, FORM_REAL, 8, 0},
    {0xcc, 0xcc, ATMI_MSGPACK_UINT, FORM_UINT, 1, 0},
    {0xcd, 0xcd, ATMI_MSGPACK_UINT, FORM_UINT, 2, 0},
    {0xce, 0xce, ATMI_MSGPACK_UINT, FORM_UINT, 4, 0},
    {0xcf, 0xcf, ATMI_MSGPACK_UINT, FORM_UINT, 8, 0},
    {0xd0, 0xd0, ATMI_MSGPACK_INT, FORM_SINT, 1, 0},
    {0xd1, 0xd1, ATMI_MSGPACK_INT, FORM_SINT, 2, 0},
    {0xd2, 0xd2, ATMI_MSGPACK_INT, FORM_SINT, 4, 0},
    {0xd3, 0xd3, ATMI_MSGPACK_INT, FORM_SINT, 8, 0},
    {0xd4, 0xd4, ATMI_MSGPACK_EXTENSION, FORM_FIXED_LENGTH, 1, 0},
    {0xd5, 0xd5, ATMI_MSGPACK_EXTENSION, FORM_FIXED_LENGTH, 2, 0},
    {0xd6, 0xd6, ATMI_MSGPACK_EXTENSION, FORM_FIXED_LENGTH, 4, 0},
    {0xd7, 0xd7, ATMI_MSGPACK_EXTENSION, FORM_FIXED_LENGTH, 8, 0},
    {0xd8, 0xd8, ATMI_MSGPACK_EXTENSION, FORM_FIXED_LENGTH, 16, 0},
    {0xd9, 0xd9, ATMI_MSGPACK_STRING, FORM_LENGTH, 1, 0},
    {0xda, 0xda, ATMI_MSGPACK_STRING, FORM_LENGTH, 2, 0},
    {0xdb, 0xdb, ATMI_MSGPACK_STRING, FORM_LENGTH, 4, 0},
    {0xdc, 0xdc, ATMI_MSGPACK_ARRAY, FORM_LENGTH, 2, 0},
    {0xdd, 0xdd, ATMI_MSGPACK_ARRAY, FORM_LENGTH, 4, 0},
    {0xde, 0xde, ATMI_MSGPACK_MAP, FORM_LENGTH, 2, 0},
    {0xdf, 0xdf, ATMI_MSGPACK_MAP, FORM_LENGTH, 4, 0},
    {0xe0, 0xff, ATMI_MSGPACK_INT, FORM_SINT, 0, 0},
};

static const rule_t *find_rule(uint8_t byte) {
  size_t low = 0, high = sizeof rules / sizeof *rules - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (byte > rules[middle].last)
      low = middle + 1;
    else
      high = middle;
  }
  return &rules[low];
}

static uint64_t read_big_endian(const uint8_t *bytes, uint8_t width) {
  uint64_t value = 0;
  for (uint8_t i = 0; i < width; i++)
    value = value << 8 | bytes[i];
  return value;
}

static double read_real(const uint8_t *bytes, uint8_t width) {
  uint64_t bits = read_big_endian(bytes, width);
  if (width == 8) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
  }
  uint32_t bits32 = (uint32_t)bits;
  float real;
  memcpy(&real, &bits32, sizeof real);
  return (double)real;
}

/* Sign-extends the value; a value that turns out not to be negative is reported as unsigned. */
static void set_signed(atmi_msgpack_item_t *item, uint8_t first, const uint8_t *bytes, uint8_t width) {
  uint64_t bits = width ? read_big_endian(bytes, width) : first;
  unsigned unused = 64u - 8u * (width ? width : 1u);
  int64_t value = (int64_t)(bits << unused) >> unused;
  item->type = value < 0 ? ATMI_MSGPACK_INT : ATMI_MSGPACK_UINT;
  if (value < 0)
    item->value.sint = value;
  else
    item->value.uint = (uint64_t)value;
}

static bool has_payload(atmi_msgpack_type_t type) {
  return type == ATMI_MSGPACK_STRING || type == ATMI_MSGPACK_BINARY || type == ATMI_MSGPACK_EXTENSION;
}

/* Takes `count` bytes from the reader; NULL if there are fewer. */
static const uint8_t *take(atmi_msgpack_t *reader, size_t count) {
  if ((size_t)(reader->end - reader->at) < count)
    return NULL;
  const uint8_t *bytes = reader->at;
  reader->at += count;
  return bytes;
}

atmi_status_t atmi_msgpack_next(atmi_msgpack_t *reader, atmi_msgpack_item_t *item) {
  atmi_msgpack_t cursor = *reader;
  const uint8_t *first = take(&cursor, 1);
  if (!first)
    return ATMI_CORRUPT;
  const rule_t *rule = find_rule(*first);
  bool fixed = rule->form == FORM_SMALL || rule->form == FORM_NEVER || rule->form == FORM_FIXED_LENGTH;
  const uint8_t *head = take(&cursor, fixed ? 0 : rule->width);
  if (!head || rule->form == FORM_NEVER)
    return ATMI_CORRUPT;

  atmi_msgpack_item_t result = {.type = rule->type};
  switch (rule->form) {
  case FORM_SMALL:
    result.count = *first & rule->mask;
    if (rule->type == ATMI_MSGPACK_BOOL)
      result.value.boolean = result.count != 0;
    else
      result.value.uint = result.count;
    break;
  case FORM_UINT: result.value.uint = read_big_endian(head, rule->width); break;
  case FORM_SINT: set_signed(&result, *first, head, rule->width); break;
  case FORM_REAL: result.value.real = read_real(head, rule->width); break;
  case FORM_LENGTH: result.count = (uint32_t)read_big_endian(head, rule->width); break;
  case FORM_FIXED_LENGTH: result.count = rule->width; break;
  case FORM_NEVER: break;
  }
  if (rule->type == ATMI_MSGPACK_EXTENSION) {
    const uint8_t *type = take(&cursor, 1);
    if (!type)
      return ATMI_CORRUPT;
    result.extension_type = (int8_t)*type;
  }
  if (has_payload(rule->type) && !(result.bytes = take(&cursor, result.count)))
    return ATMI_CORRUPT;
  *item = result;
  *reader = cursor;
  return ATMI_OK;
}

atmi_status_t atmi_msgpack_skip(atmi_msgpack_t *reader) {
  atmi_msgpack_t cursor = *reader;
  /* At most 2 * (2^32 - 1) are added per item read, and each item takes a byte, so this cannot overflow. */
  uint64_t pending = 1;
  while (pending) {
    atmi_msgpack_item_t item;
    atmi_status_t status = atmi_msgpack_next(&cursor, &item);
    if (status)
      return status;
    pending--;
    if (item.type == ATMI_MSGPACK_ARRAY)
      pending += item.count;
    else if (item.type == ATMI_MSGPACK_MAP)
      pending += 2 * (uint64_t)item.count;
  }
  *reader = cursor;
  return ATMI_OK;
}

bool atmi_msgpack_is(const atmi_msgpack_item_t *item, const char *text) {
  size_t length = strlen(text);
  return item->type == ATMI_MSGPACK_STRING && item->count == length && !memcmp(item->bytes, text, length);
}
