/* Places in a program's text, as compilers write them; and regions that a program states wrongly. */
#include "plugin_test.h"

#include "entry.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>

static void reads_places(void **state) {
  (void)state;
  tgt_place_t place;
  tgt_ident_t ident = {.source = ";/home/me/a.c;main;12;7;;"};
  assert_true(tgt_place_of_ident(&ident, &place));
  assert_int_equal(place.file_length, 3);
  assert_memory_equal(place.file, "a.c", 3);
  assert_int_equal(place.name_length, 4);
  assert_memory_equal(place.name, "main", 4);
  assert_int_equal(place.line, 12);
  assert_int_equal(place.column, 7);
  assert_true(tgt_place_of_map(";a[0:n];dir/b.c;3;28;;", &place));
  assert_int_equal(place.name_length, 6);
  assert_memory_equal(place.name, "a[0:n]", 6);
  assert_memory_equal(place.file, "b.c", 3);
  assert_int_equal(place.line, 3);
}

/* flang has the file first; clang never, whatever the member is called. */
static void reads_places_of_fortran(void **state) {
  (void)state;
  static const struct {
    const char *text, *name, *file;
  } maps[] = {
      {";/home/me/a.f90;y(10:89);16;17;;", "y(10:89)", "a.f90"},
      {";a.F;a%x;16;17;;", "a%x", "a.F"},
      {";s.f;b.c;16;17;;", "s.f", "b.c"},
      {";p->q.first[0:n/2];dir/b.c;16;17;;", "p->q.first[0:n/2]", "b.c"},
      {";a[0:n/2];b;16;17;;", "a[0:n/2]", "b"},
  };
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    tgt_place_t place;
    assert_true(tgt_place_of_map(maps[i].text, &place));
    assert_int_equal(place.name_length, (int)strlen(maps[i].name));
    assert_memory_equal(place.name, maps[i].name, strlen(maps[i].name));
    assert_int_equal(place.file_length, (int)strlen(maps[i].file));
    assert_memory_equal(place.file, maps[i].file, strlen(maps[i].file));
    assert_int_equal(place.line, 16);
  }
}

static void reads_what_is_no_place(void **state) {
  (void)state;
  static const char *const wrong[] = {NULL, "", ";", ";;;", "a;b;c;d;e", ";a", ";a;b;1"};
  tgt_place_t place;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tgt_ident_t ident = {.source = wrong[i]};
    assert_false(tgt_place_of_ident(&ident, &place));
    assert_int_equal(place.line, 0);
    assert_true(place.file_length >= 0 && place.name_length >= 0);
  }
  tgt_ident_t unknown = {.source = ";unknown;unknown;0;0;;"};
  assert_false(tgt_place_of_ident(&unknown, &place));
  assert_false(tgt_place_of_ident(NULL, &place));
  assert_false(tgt_place_of_map("global", &place));
  assert_int_equal(place.name_length, 6);
  assert_memory_equal(place.file, "unknown", 7);
}

/* Without a device every region is the host's, whatever it says; nothing of it is looked at. */
static void leaves_regions_to_the_host(void **state) {
  (void)state;
  tgt_kernel_args_t args = {.version = 1};
  tgt_kernel_args_t *old = malloc(offsetof(tgt_kernel_args_t, flags)); /* a sanitizer knows where it ends */
  assert_non_null(old);
  memcpy(old, &args, offsetof(tgt_kernel_args_t, flags));
  assert_int_not_equal(__tgt_target_kernel(NULL, -1, -1, 0, &args, old), 0);
  free(old);
  assert_int_not_equal(__tgt_target_kernel(NULL, 0, 0, 0, NULL, NULL), 0);
  args.version = 99;
  assert_int_not_equal(__tgt_target_kernel(NULL, 7, 0, 0, NULL, &args), 0);
  assert_int_not_equal(__tgt_target_mapper(NULL, -1, NULL, -3, NULL, NULL, NULL, NULL, NULL, NULL), 0);
  __tgt_target_data_begin_mapper(NULL, -1, 5, NULL, NULL, NULL, NULL, NULL, NULL);
  __tgt_target_data_end(0, 1, NULL, NULL, NULL, NULL);
  __tgt_target_nowait_query(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_places),
      cmocka_unit_test(reads_places_of_fortran),
      cmocka_unit_test(reads_what_is_no_place),
      cmocka_unit_test(leaves_regions_to_the_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
