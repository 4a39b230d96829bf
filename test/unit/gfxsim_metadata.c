/* What gfxsim finds in the metadata of code objects: notes that are right, cut off, and changed at random.
 * Not here: where the notes are (programs under --check show that). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/metadata.h"

/* Two kernels: one with arguments of all kinds of values, one of which nothing is known. */
static const uint8_t metadata[] = "\x83"
                                  "\xb0"
                                  "amdhsa.printf..."
                                  "\x92\xd9\x03one\xa0"
                                  "\xae"
                                  "amdhsa.kernels"
                                  "\x92"
                                  "\x84"
                                  "\xa5"
                                  ".args"
                                  "\xdc\x00\x01\x84\xa1"
                                  "a\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\xa1"
                                  "b\xc3\xa1"
                                  "c\xff\xa1"
                                  "d\xcf\xff\xff\xff\xff\xff\xff\xff\xff"
                                  "\xb8"
                                  ".max_flat_workgroup_size"
                                  "\xcd\x04\x00"
                                  "\xa7"
                                  ".symbol"
                                  "\xa8"
                                  "first.kd"
                                  "\xb0"
                                  ".wavefront_size."
                                  "\x40"
                                  "\xde\x00\x01"
                                  "\xa7"
                                  ".symbol"
                                  "\xa9"
                                  "second.kd"
                                  "\xad"
                                  "amdhsa.target"
                                  "\xc0";

enum {
  METADATA = sizeof metadata - 1,
  HEADER = 12 + 8,
  OTHER = 12 + 4 + 4,
  NOTES = OTHER + HEADER + METADATA
};

/* Behind a note of somebody else's; of exactly so many bytes, so that sanitizers see a step beyond. */
static uint8_t *make_notes(size_t size) {
  static const uint32_t other[] = {4, 3, 32, 0x00554e47, 0}, header[] = {7, METADATA, 32};
  uint8_t whole[NOTES] = {0}, *notes = malloc(size ? size : 1);
  memcpy(whole, other, sizeof other);
  memcpy(whole + OTHER, header, sizeof header);
  memcpy(whole + OTHER + sizeof header, "AMDGPU", sizeof "AMDGPU");
  memcpy(whole + OTHER + HEADER, metadata, METADATA);
  assert_non_null(notes);
  memcpy(notes, whole, size);
  return notes;
}

static void test_found(void **state) {
  (void)state;
  /* A note's size is rounded up to 4, so there is a little behind the last. */
  uint8_t *notes = make_notes(NOTES), *padded = calloc(1, NOTES + 4);
  assert_non_null(padded);
  memcpy(padded, notes, NOTES);
  assert_int_equal(gs_metadata_in_notes(padded, NOTES + 3, "first.kd"), 1024);
  assert_int_equal(gs_metadata_in_notes(padded, NOTES + 3, "second.kd"), 0);
  assert_int_equal(gs_metadata_in_notes(padded, NOTES + 3, "first.k"), 0);
  assert_int_equal(gs_metadata_in_notes(padded, 0, "first.kd"), 0);
  free(padded);
  free(notes);
}

static void test_cut_off(void **state) {
  (void)state;
  for (size_t size = 0; size < NOTES; size++) {
    uint8_t *notes = make_notes(size);
    assert_int_equal(gs_metadata_in_notes(notes, size, "first.kd"), 0);
    free(notes);
  }
}

static void test_changed(void **state) {
  (void)state;
  enum { TIMES = 200000, CHANGES = 3 };
  uint64_t random = 1;
  for (unsigned i = 0; i < TIMES; i++) {
    uint8_t *notes = make_notes(NOTES);
    for (unsigned k = 0; k < CHANGES; k++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      notes[OTHER + (random >> 33) % (NOTES - OTHER)] = (uint8_t)(random >> 24);
    }
    (void)gs_metadata_in_notes(notes, NOTES, "first.kd");
    free(notes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_cut_off),
                                     cmocka_unit_test(test_changed)};
  return cmocka_run_group_tests_name("metadata", tests, NULL, NULL);
}
