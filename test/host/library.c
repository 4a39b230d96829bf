/* What programs register: both layouts of entries, and everything that can be wrong with it. */
#include "plugin_test.h"

#include "entry.h"
#include "library.h"

#include <string.h>
#include <sys/mman.h>

static char code[64], variable[16], region;
static tgt_requires_t requires;

static tgt_image_t image = {code, code + sizeof code, NULL, NULL};

static tgt_descriptor_t describe(const void *begin, const void *end) {
  return (tgt_descriptor_t){1, &image, begin, end};
}

static tgt_entry13_t old_entries[] = {
    {&region, (char[]){"kernel"}, 0, 0, 0},
    {variable, (char[]){"variable"}, sizeof variable, TGT_ENTRY_LINK, 0},
};

static tgt_entry21_t new_entries[] = {
    {0, 1, 1, 0, &region, (char[]){"kernel"}, 0, 0, NULL},
    {0, 1, 2, 0, &region, (char[]){"of another language"}, 0, 0, NULL},
    {0, 1, 1, TGT_ENTRY_REQUIRES, NULL, (char[]){""}, 0, TGT_REQUIRES_UNIFIED_MEMORY, NULL},
    {0, 1, 1, TGT_ENTRY_LINK, variable, (char[]){"variable"}, sizeof variable, 0, NULL},
};

/* Both tables say the same. */
static void check_entries(const tgt_library_t *library) {
  assert_int_equal(library->image_count, 1);
  assert_int_equal(library->entry_count, 2);
  assert_ptr_equal(library->entries[0].address, &region);
  assert_string_equal(library->entries[0].name, "kernel");
  assert_int_equal(library->entries[0].size, 0);
  assert_ptr_equal(library->entries[1].address, variable);
  assert_int_equal(library->entries[1].size, sizeof variable);
  assert_int_equal(library->entries[1].flags, TGT_ENTRY_LINK);
}

static void reads_both_layouts(void **state) {
  (void)state;
  tgt_descriptor_t old = describe(old_entries, old_entries + 2), new = describe(new_entries, new_entries + 4);
  tgt_library_t *library;
  assert_int_equal(tgt_library_create(&old, &requires, &library), ATMI_OK);
  check_entries(library);
  assert_int_equal(library->requires.first, 0);
  assert_false(library->is_new);
  tgt_library_destroy(library);
  assert_int_equal(tgt_library_create(&new, &requires, &library), ATMI_OK);
  check_entries(library);
  assert_int_equal(library->requires.first, TGT_REQUIRES_UNIFIED_MEMORY);
  assert_true(library->is_new);
  tgt_library_destroy(library);
}

static void refuses(const tgt_descriptor_t *descriptor, atmi_status_t status, const char *words);

/* Clang 17 to 19 state "requires" in an entry of the old layout without an address, which may be the first.
 * What it says is known even if the images cannot be read. */
static void reads_requires_of_old_layout(void **state) {
  (void)state;
  tgt_entry13_t entries[] = {{NULL, (char[]){""}, 0, TGT_ENTRY_REQUIRES, TGT_REQUIRES_UNIFIED_MEMORY},
                             old_entries[0],
                             old_entries[1]};
  tgt_descriptor_t whole = describe(entries, entries + 3), one = describe(entries, entries + 1);
  tgt_library_t *library;
  assert_int_equal(tgt_library_create(&whole, &requires, &library), ATMI_OK);
  check_entries(library);
  assert_false(library->is_new);
  assert_int_equal(library->requires.first, TGT_REQUIRES_UNIFIED_MEMORY);
  tgt_library_destroy(library);
  assert_int_equal(tgt_library_create(&one, &requires, &library), ATMI_OK);
  assert_int_equal(library->entry_count, 0);
  tgt_library_destroy(library);
  tgt_image_t bad = {NULL, NULL, NULL, NULL};
  one.images = &bad;
  refuses(&one, ATMI_INVALID, "images cannot be read");
  assert_int_equal(requires.first, TGT_REQUIRES_UNIFIED_MEMORY);
  assert_int_equal(requires.other, 0);
}

/* Those of two source files, which must not be taken for one that says both. */
static void reads_requires_that_differ(void **state) {
  (void)state;
  const int64_t flags[] = {TGT_REQUIRES_NOTHING, TGT_REQUIRES_NOTHING, TGT_REQUIRES_REVERSE_OFFLOAD};
  tgt_entry13_t entries[3];
  for (int i = 0; i < 3; i++)
    entries[i] = (tgt_entry13_t){NULL, (char[]){""}, 0, TGT_ENTRY_REQUIRES, (int32_t)flags[i]};
  tgt_descriptor_t same = describe(entries, entries + 2), different = describe(entries, entries + 3);
  tgt_library_t *library;
  assert_int_equal(tgt_library_create(&same, &requires, &library), ATMI_OK);
  assert_int_equal(requires.first, TGT_REQUIRES_NOTHING);
  assert_int_equal(requires.other, 0);
  tgt_library_destroy(library);
  assert_int_equal(tgt_library_create(&different, &requires, &library), ATMI_OK);
  assert_int_equal(requires.first, TGT_REQUIRES_NOTHING);
  assert_int_equal(requires.other, TGT_REQUIRES_REVERSE_OFFLOAD);
  tgt_library_destroy(library);
}

static void reads_nothing(void **state) {
  (void)state;
  tgt_descriptor_t nothing = {0};
  tgt_library_t *library;
  assert_int_equal(tgt_library_create(&nothing, &requires, &library), ATMI_OK);
  assert_int_equal(library->entry_count, 0);
  assert_int_equal(library->image_count, 0);
  tgt_library_destroy(library);
  tgt_library_destroy(NULL);
}

/* The message must have these words. */
static void refuses(const tgt_descriptor_t *descriptor, atmi_status_t status, const char *words) {
  tgt_library_t *library = NULL;
  char text[4096];
  test_capture_begin();
  atmi_status_t result = tgt_library_create(descriptor, &requires, &library);
  test_capture_end(text, sizeof text);
  assert_int_equal(result, status);
  assert_null(library);
  assert_non_null(strstr(text, "cannot register a program's device code"));
  if (!strstr(text, words))
    fail_msg("no \"%s\" in: %s", words, text);
  assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
}

static void refuses_what_lies(void **state) {
  (void)state;
  const char *bytes = (const char *)old_entries;
  tgt_descriptor_t of_no_whole = describe(bytes, bytes + 40), backwards = describe(bytes + 64, bytes);
  tgt_descriptor_t short_one = describe(bytes, bytes + 4), negative = describe(bytes, bytes);
  refuses(&of_no_whole, ATMI_INVALID, "no whole number");
  refuses(&backwards, ATMI_INVALID, "table of entries cannot be read");
  refuses(&short_one, ATMI_INVALID, "no whole number");
  negative.image_count = -1;
  refuses(&negative, ATMI_INVALID, "list of images cannot be read");
  negative.image_count = 1 << 30;
  refuses(&negative, ATMI_INVALID, "list of images cannot be read");
  negative = (tgt_descriptor_t){1, NULL, NULL, NULL};
  refuses(&negative, ATMI_INVALID, "list of images cannot be read");
}

static void refuses_bad_images(void **state) {
  (void)state;
  tgt_image_t bad[] = {{code + 8, code, NULL, NULL}, {NULL, code, NULL, NULL}, {code, code, NULL, NULL}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tgt_descriptor_t descriptor = {1, &bad[i], NULL, NULL};
    refuses(&descriptor, ATMI_INVALID, "images cannot be read");
  }
}

static void refuses_bad_entries(void **state) {
  (void)state;
  tgt_entry13_t old[2] = {{0}};
  tgt_entry21_t new[2] = {{0}};
  tgt_descriptor_t old_one = describe(old, old + 2), new_one = describe(new, new + 2);
  memcpy(old, old_entries, sizeof old);
  old[1].address = NULL;
  refuses(&old_one, ATMI_INVALID, "no address, or no name");
  memcpy(old, old_entries, sizeof old);
  old[1].name = NULL;
  refuses(&old_one, ATMI_INVALID, "no address, or no name");
  memcpy(new, new_entries, sizeof new);
  new[0].version = 0; /* before compilers counted them: the same layout */
  tgt_library_t *library;
  assert_int_equal(tgt_library_create(&new_one, &requires, &library), ATMI_OK);
  tgt_library_destroy(library);
  new[0].version = 7;
  refuses(&new_one, ATMI_UNSUPPORTED, "of version 7");
  memcpy(new, new_entries, sizeof new);
  new[1].zero = 1;
  refuses(&new_one, ATMI_INVALID, "two layouts");
}

/* Memory that was given back since. */
static void refuses_freed_memory(void **state) {
  (void)state;
  enum { PAGE = 4096 };
  char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  munmap(pages + PAGE, PAGE);
  tgt_entry13_t named = {&region, pages + PAGE, 0, 0, 0};
  tgt_entry13_t *table = (tgt_entry13_t *)(void *)pages;
  for (size_t i = 0; i < PAGE / sizeof *table; i++)
    table[i] = old_entries[0];
  memset(pages + 2 * PAGE, 'x', PAGE);
  tgt_image_t gone = {pages, pages + 2 * PAGE, NULL, NULL};
  tgt_descriptor_t by_name = describe(&named, &named + 1), by_image = {1, &gone, NULL, NULL};
  tgt_descriptor_t by_table = describe(table, table + 2 * PAGE / sizeof *table);
  refuses((const tgt_descriptor_t *)(void *)(pages + PAGE), ATMI_INVALID, "descriptor cannot be read");
  refuses((const tgt_descriptor_t *)(void *)(pages + PAGE - 8), ATMI_INVALID, "descriptor cannot be read");
  refuses(NULL, ATMI_INVALID, "descriptor cannot be read");
  refuses(&by_table, ATMI_INVALID, "table of entries cannot be read");
  refuses(&by_name, ATMI_INVALID, "no address, or no name");
  refuses(&by_image, ATMI_INVALID, "images cannot be read");
  /* A name that never ends. */
  memcpy(pages, "name", 4);
  memset(pages, 'x', PAGE);
  named.name = pages;
  refuses(&by_name, ATMI_INVALID, "no address, or no name");
  munmap(pages, PAGE);
  munmap(pages + 2 * PAGE, PAGE);
}

/* The entry points pass it on, and go on. */
static void registers_nothing_bad(void **state) {
  (void)state;
  char text[4096];
  tgt_descriptor_t bad = {-5, NULL, NULL, NULL};
  test_capture_begin();
  __tgt_register_lib(&bad);
  __tgt_register_lib(NULL);
  __tgt_unregister_lib(&bad);
  __tgt_unregister_lib(NULL);
  test_capture_end(text, sizeof text);
  assert_non_null(strstr(text, "list of images cannot be read"));
  assert_non_null(strstr(text, "descriptor cannot be read"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_both_layouts),         cmocka_unit_test(reads_requires_of_old_layout),
      cmocka_unit_test(reads_requires_that_differ), cmocka_unit_test(reads_nothing),
      cmocka_unit_test(refuses_what_lies),          cmocka_unit_test(refuses_bad_images),
      cmocka_unit_test(refuses_bad_entries),        cmocka_unit_test(refuses_freed_memory),
      cmocka_unit_test(registers_nothing_bad),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
