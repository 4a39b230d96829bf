/* Reader of MessagePack, the encoding of AMDGPU metadata
 * (https://github.com/msgpack/msgpack/blob/master/spec.md). A cursor over borrowed bytes; allocates nothing.
 * Not here: what the metadata means (image/metadata). */
#ifndef ATMI_IMAGE_MSGPACK_H
#define ATMI_IMAGE_MSGPACK_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes between the cursor and the end. Initialise with {bytes, bytes + length}. */
typedef struct atmi_msgpack {
  const uint8_t *at, *end;
} atmi_msgpack_t;

typedef enum atmi_msgpack_type {
  ATMI_MSGPACK_NIL,
  ATMI_MSGPACK_BOOL,
  ATMI_MSGPACK_UINT, /* any integer that is not negative, whatever format carried it */
  ATMI_MSGPACK_INT,  /* a negative integer */
  ATMI_MSGPACK_FLOAT,
  ATMI_MSGPACK_STRING,
  ATMI_MSGPACK_BINARY,
  ATMI_MSGPACK_EXTENSION,
  ATMI_MSGPACK_ARRAY,
  ATMI_MSGPACK_MAP,
} atmi_msgpack_type_t;

typedef struct atmi_msgpack_item {
  atmi_msgpack_type_t type;
  union {
    bool boolean;
    uint64_t uint;
    int64_t sint;
    double real;
  } value;
  const uint8_t *bytes;  /* string, binary, extension: the payload, not terminated */
  uint32_t count;        /* string, binary, extension: bytes; array: elements; map: pairs */
  int8_t extension_type; /* extension only */
} atmi_msgpack_item_t;

/* Reads one item and advances past it; of an array or map only the head, its elements follow as items.
 * Fails with ATMI_CORRUPT, prints nothing and leaves the reader where it was if the bytes end too early or
 * begin with 0xc1, which the format never uses. */
ATMI_MUST_CHECK atmi_status_t atmi_msgpack_next(atmi_msgpack_t *reader, atmi_msgpack_item_t *item);

/* Advances past one whole item, everything nested in it included. Fails as atmi_msgpack_next does. Takes
 * constant stack, so that no depth of nesting can hurt. */
ATMI_MUST_CHECK atmi_status_t atmi_msgpack_skip(atmi_msgpack_t *reader);

/* Whether the item is a string equal to the C string `text`. */
bool atmi_msgpack_is(const atmi_msgpack_item_t *item, const char *text);

#endif
