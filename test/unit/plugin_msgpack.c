/* MessagePack: every first byte, truncation at every offset, skipping. */
#include "plugin_test.h"

#include "image/msgpack.h"

#include <math.h>
#include <string.h>

typedef struct {
  const char *bytes;
  size_t length;
  atmi_msgpack_type_t type;
  uint64_t value; /* integer, bool, count of bytes or elements; the bits of a float's double */
  size_t head;    /* bytes consumed by atmi_msgpack_next */
} example_t;

#define BYTES(text) text, sizeof text - 1

static uint64_t bits_of(double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

static uint64_t value_of(const atmi_msgpack_item_t *item) {
  switch (item->type) {
  case ATMI_MSGPACK_NIL: return 0;
  case ATMI_MSGPACK_BOOL: return item->value.boolean;
  case ATMI_MSGPACK_UINT: return item->value.uint;
  case ATMI_MSGPACK_INT: return (uint64_t)item->value.sint;
  case ATMI_MSGPACK_FLOAT: return bits_of(item->value.real);
  default: return item->count;
  }
}

/* One encoding per first byte that carries more than itself; expected values from the specification. */
static const example_t examples[] = {
    {BYTES("\xc0"), ATMI_MSGPACK_NIL, 0, 1},
    {BYTES("\xc2"), ATMI_MSGPACK_BOOL, 0, 1},
    {BYTES("\xc3"), ATMI_MSGPACK_BOOL, 1, 1},
    {BYTES("\xc4\x03"
           "abc"),
     ATMI_MSGPACK_BINARY, 3, 5},
    {BYTES("\xc5\x00\x03"
           "abc"),
     ATMI_MSGPACK_BINARY, 3, 6},
    {BYTES("\xc6\x00\x00\x00\x03"
           "abc"),
     ATMI_MSGPACK_BINARY, 3, 8},
    {BYTES("\xc7\x02\x07xy"), ATMI_MSGPACK_EXTENSION, 2, 5},
    {BYTES("\xc8\x00\x02\x07xy"), ATMI_MSGPACK_EXTENSION, 2, 6},
    {BYTES("\xc9\x00\x00\x00\x02\x07xy"), ATMI_MSGPACK_EXTENSION, 2, 8},
    {BYTES("\xca\x3f\x80\x00\x00"), ATMI_MSGPACK_FLOAT, UINT64_C(0x3ff0000000000000), 5},
    {BYTES("\xcb\xc0\x00\x00\x00\x00\x00\x00\x00"), ATMI_MSGPACK_FLOAT, UINT64_C(0xc000000000000000), 9},
    {BYTES("\xcc\xff"), ATMI_MSGPACK_UINT, 255, 2},
    {BYTES("\xcd\x01\x02"), ATMI_MSGPACK_UINT, 0x102, 3},
    {BYTES("\xce\x01\x02\x03\x04"), ATMI_MSGPACK_UINT, 0x1020304, 5},
    {BYTES("\xcf\xff\xff\xff\xff\xff\xff\xff\xfe"), ATMI_MSGPACK_UINT, UINT64_MAX - 1, 9},
    {BYTES("\xd0\x80"), ATMI_MSGPACK_INT, (uint64_t)-128, 2},
    {BYTES("\xd0\x7f"), ATMI_MSGPACK_UINT, 127, 2},
    {BYTES("\xd1\x80\x00"), ATMI_MSGPACK_INT, (uint64_t)-32768, 3},
    {BYTES("\xd1\x00\x05"), ATMI_MSGPACK_UINT, 5, 3},
    {BYTES("\xd2\x80\x00\x00\x00"), ATMI_MSGPACK_INT, (uint64_t)INT32_MIN, 5},
    {BYTES("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), ATMI_MSGPACK_INT, (uint64_t)INT64_MIN, 9},
    {BYTES("\xd4\x01x"), ATMI_MSGPACK_EXTENSION, 1, 3},
    {BYTES("\xd5\x01xy"), ATMI_MSGPACK_EXTENSION, 2, 4},
    {BYTES("\xd6\x01xyzw"), ATMI_MSGPACK_EXTENSION, 4, 6},
    {BYTES("\xd7\x01xyzwxyzw"), ATMI_MSGPACK_EXTENSION, 8, 10},
    {BYTES("\xd8\x01xyzwxyzwxyzwxyzw"), ATMI_MSGPACK_EXTENSION, 16, 18},
    {BYTES("\xd9\x02hi"), ATMI_MSGPACK_STRING, 2, 4},
    {BYTES("\xda\x00\x02hi"), ATMI_MSGPACK_STRING, 2, 5},
    {BYTES("\xdb\x00\x00\x00\x02hi"), ATMI_MSGPACK_STRING, 2, 7},
    {BYTES("\xdc\x00\x01\x05"), ATMI_MSGPACK_ARRAY, 1, 3},
    {BYTES("\xdd\x00\x00\x00\x01\x05"), ATMI_MSGPACK_ARRAY, 1, 5},
    {BYTES("\xde\x00\x01\x05\x06"), ATMI_MSGPACK_MAP, 1, 3},
    {BYTES("\xdf\x00\x00\x00\x01\x05\x06"), ATMI_MSGPACK_MAP, 1, 5},
};

static atmi_msgpack_t reader_of(const char *bytes, size_t length) {
  return (atmi_msgpack_t){(const uint8_t *)bytes, (const uint8_t *)bytes + length};
}

static void reads_each_format(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    const example_t *example = &examples[i];
    atmi_msgpack_t reader = reader_of(example->bytes, example->length);
    atmi_msgpack_item_t item;
    assert_int_equal(atmi_msgpack_next(&reader, &item), ATMI_OK);
    assert_int_equal(item.type, example->type);
    assert_int_equal(value_of(&item), example->value);
    assert_int_equal(reader.at - (const uint8_t *)example->bytes, example->head);
    reader = reader_of(example->bytes, example->length);
    assert_int_equal(atmi_msgpack_skip(&reader), ATMI_OK);
    assert_ptr_equal(reader.at, reader.end);
  }
}

/* The single-byte formats: all 256 first bytes, followed by more bytes than any of them can want. */
static void classifies_each_first_byte(void **state) {
  (void)state;
  for (unsigned byte = 0; byte < 256; byte++) {
    char bytes[64] = {(char)byte};
    atmi_msgpack_t reader = reader_of(bytes, sizeof bytes);
    atmi_msgpack_item_t item;
    atmi_status_t status = atmi_msgpack_next(&reader, &item);
    if (byte == 0xc1) {
      assert_int_equal(status, ATMI_CORRUPT);
      continue;
    }
    assert_int_equal(status, ATMI_OK);
    if (byte <= 0x7f)
      assert_true(item.type == ATMI_MSGPACK_UINT && item.value.uint == byte);
    else if (byte <= 0x8f)
      assert_true(item.type == ATMI_MSGPACK_MAP && item.count == (byte & 15));
    else if (byte <= 0x9f)
      assert_true(item.type == ATMI_MSGPACK_ARRAY && item.count == (byte & 15));
    else if (byte <= 0xbf)
      assert_true(item.type == ATMI_MSGPACK_STRING && item.count == (byte & 31));
    else if (byte >= 0xe0)
      assert_true(item.type == ATMI_MSGPACK_INT && item.value.sint == (int)byte - 256);
  }
}

/* Every format cut off at every offset fails and leaves the reader alone. The bytes are copied into exactly
 * as much memory as there is, so that a sanitizer sees a read beyond. */
static void refuses_every_truncation(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    for (size_t length = 0; length < examples[i].length; length++) {
      char *bytes = test_malloc(length + !length);
      memcpy(bytes, examples[i].bytes, length);
      atmi_msgpack_t reader = reader_of(bytes, length);
      const uint8_t *before = reader.at;
      atmi_msgpack_item_t item;
      assert_int_equal(atmi_msgpack_skip(&reader), ATMI_CORRUPT);
      assert_ptr_equal(reader.at, before);
      if (length < examples[i].head) {
        assert_int_equal(atmi_msgpack_next(&reader, &item), ATMI_CORRUPT);
        assert_ptr_equal(reader.at, before);
      }
      test_free(bytes);
    }
  }
}

static void skips_nested_items(void **state) {
  (void)state;
  /* {"a": [1, {2: nil}], "b": "x"}, 7 */
  static const char bytes[] = "\x82\xa1"
                              "a\x92\x01\x81\x02\xc0\xa1"
                              "b\xa1x\x07";
  atmi_msgpack_t reader = reader_of(bytes, sizeof bytes - 1);
  atmi_msgpack_item_t item;
  assert_int_equal(atmi_msgpack_skip(&reader), ATMI_OK);
  assert_int_equal(atmi_msgpack_next(&reader, &item), ATMI_OK);
  assert_true(item.type == ATMI_MSGPACK_UINT && item.value.uint == 7);
}

static void survives_deep_nesting_and_huge_counts(void **state) {
  (void)state;
  size_t depth = 1 << 20;
  char *bytes = test_malloc(depth + 1);
  memset(bytes, '\x91', depth); /* an array of an array of ... */
  bytes[depth] = '\xc0';
  atmi_msgpack_t reader = reader_of(bytes, depth + 1);
  assert_int_equal(atmi_msgpack_skip(&reader), ATMI_OK);
  assert_ptr_equal(reader.at, reader.end);
  test_free(bytes);
  reader = reader_of(BYTES("\xdf\xff\xff\xff\xff\xdd\xff\xff\xff\xff\xdb\xff\xff\xff\xff"));
  assert_int_equal(atmi_msgpack_skip(&reader), ATMI_CORRUPT);
}

static void compares_strings(void **state) {
  (void)state;
  atmi_msgpack_t reader = reader_of(BYTES("\xa3"
                                          "abc\xc4\x03"
                                          "abc"));
  atmi_msgpack_item_t item;
  assert_int_equal(atmi_msgpack_next(&reader, &item), ATMI_OK);
  assert_true(atmi_msgpack_is(&item, "abc"));
  assert_false(atmi_msgpack_is(&item, "ab"));
  assert_false(atmi_msgpack_is(&item, "abcd"));
  assert_int_equal(atmi_msgpack_next(&reader, &item), ATMI_OK);
  assert_false(atmi_msgpack_is(&item, "abc")); /* binary is no string */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_each_format),
      cmocka_unit_test(classifies_each_first_byte),
      cmocka_unit_test(refuses_every_truncation),
      cmocka_unit_test(skips_nested_items),
      cmocka_unit_test(survives_deep_nesting_and_huge_counts),
      cmocka_unit_test(compares_strings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
