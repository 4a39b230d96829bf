/* What people read: names of kernels, texts of others made safe, messages of several lines. */
#include "plugin_test.h"

#include "base/env.h"
#include "base/name.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static char said[1 << 16];

static void kernels_are_called_as_in_the_source(void **state) {
  (void)state;
  static const struct {
    const char *mangled, *shown, *bare;
  } names[] = {
      {"__omp_offloading_fd00_12ab_main_l7", "target region in main at line 7", "main at line 7"},
      {"__omp_offloading__fd00_12ab_main_l2_l70", "target region in main_l2 at line 70",
       "main_l2 at line 70"},
      {"__omp_offloading_fd00_12ab__ZN3foo3barEi_l12", "target region in foo::bar(int) at line 12",
       "foo::bar(int) at line 12"},
      {"__omp_offloading_fd00_12ab__ZN3foo3barEi_l12_1", "target region in foo::bar(int) at line 12",
       "foo::bar(int) at line 12"},
      {"__omp_offloading__fd00_12ab_table_l3_ctor", "constructor of table at line 3",
       "constructor of table at line 3"},
      {"__omp_offloading__fd00_12ab_table_l3_dtor", "destructor of table at line 3",
       "destructor of table at line 3"},
      {"_Z3addIdEvPT_S1_", "kernel void add<double>(double*, double*)", "void add<double>(double*, double*)"},
      {"_Zthis is none", "kernel _Zthis is none", "_Zthis is none"},
      {"__omp_offloading_fd00", "kernel __omp_offloading_fd00", "__omp_offloading_fd00"},
      {"__omp_offloading_x_y_main_l7", "kernel __omp_offloading_x_y_main_l7", "__omp_offloading_x_y_main_l7"},
      {"__omp_offloading_1_2__l7", "kernel __omp_offloading_1_2__l7", "__omp_offloading_1_2__l7"},
      {"scale", "kernel scale", "scale"},
      {"", "kernel ", ""},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    atmi_name_t name = atmi_name_of_kernel(names[i].mangled, false);
    assert_string_equal(name.text, names[i].shown);
    assert_string_equal(name.text + name.bare, names[i].bare);
  }
}

static void names_stay_as_they_are_on_request(void **state) {
  (void)state;
  atmi_name_t name = atmi_name_of_kernel("__omp_offloading_fd00_12ab__ZN3foo3barEi_l12", true);
  assert_string_equal(name.text, "kernel __omp_offloading_fd00_12ab__ZN3foo3barEi_l12");
  assert_string_equal(name.text + name.bare, "__omp_offloading_fd00_12ab__ZN3foo3barEi_l12");
}

static void long_names_are_cut(void **state) {
  (void)state;
  char longest[2000] = "__omp_offloading_fd00_12ab_";
  memset(longest + strlen(longest), 'x', 1900);
  strcpy(longest + 1900, "_l12");
  atmi_name_t name = atmi_name_of_kernel(longest, false);
  assert_true(strlen(name.text) < sizeof name.text);
  assert_non_null(strstr(name.text, "xxx... at line 12"));
  assert_true(strlen(atmi_name_of_kernel(longest, true).text) < sizeof name.text);
}

static void texts_of_others_are_made_safe(void **state) {
  (void)state;
  static const struct {
    const char *foreign, *clean;
  } texts[] = {
      {"plain text", "plain text"},
      {"\033[31mred\a", "\\x1b[31mred\\x07"},
      {"two\nlines\r\tend", "two\\nlines\\r\\tend"},
      {"\x7f", "\\x7f"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
       "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"}, /* CSI in one character */
      {"\x9b"
       "31m",
       "\\x9b31m"}, /* and in one byte */
      {"\xe2\x80\xae"
       "cba",
       "\\xe2\\x80\\xae"
       "cba"}, /* from right to left */
      {"\xc0\xaf\xe0\x80\xaf\xed\xa0\x80", "\\xc0\\xaf\\xe0\\x80\\xaf\\xed\\xa0\\x80"}, /* no UTF-8 */
      {"cut \xe2\x82", "cut \\xe2\\x82"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
  };
  char copy[64];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_string_equal(atmi_text_clean(texts[i].foreign, copy, sizeof copy), texts[i].clean);
  assert_string_equal(atmi_text_clean("\n\n\n", copy, 6), "\\n\\n");
  assert_string_equal(atmi_text_clean("abc", copy, 1), "");
}

static void growing_texts_are_cut(void **state) {
  (void)state;
  char bytes[8] = "";
  atmi_text_t text = {bytes, sizeof bytes, 0};
  atmi_text_add(&text, "%s", "abc");
  atmi_text_add(&text, "%d", 123456);
  atmi_text_add(&text, "more");
  assert_string_equal(bytes, "abc1234");
}

static void each_line_of_a_message_has_the_prefix(void **state) {
  (void)state;
  test_capture_begin();
  atmi_fail(ATMI_LOST, "device 0", "it %s" ATMI_BREAK "line %d" ATMI_BREAK "  deeper", "broke", 2);
  atmi_warn(NULL, "careful");
  test_capture_end(said, sizeof said);
  assert_string_equal(said, "AMDGPU error: device 0: it broke\n"
                            "AMDGPU error:   line 2\n"
                            "AMDGPU error:     deeper\n"
                            "AMDGPU warning: careful\n");
}

static void messages_hold_nothing_that_a_terminal_obeys(void **state) {
  (void)state;
  atmi_env_t env;
  char *environment[] = {"LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES=\033]0;title\a\n5",
                         "LIBOMPTARGET_AMDGPU_\033[2J=1", NULL};
  test_capture_begin();
  atmi_env_load(environment, &env);
  atmi_fail(ATMI_INVALID, "device\n0", "no symbol %s", "\033[1mbold\nAMDGPU error: forged");
  test_capture_end(said, sizeof said);
  assert_null(strpbrk(said, "\033\a\r"));
  assert_non_null(strstr(said, "\"\\x1b]0;title\\x07\\n5\" cannot be used"));
  assert_non_null(strstr(said, "AMDGPU error: device\\n0: no symbol \\x1b[1mbold\\nAMDGPU error: forged\n"));
  assert_null(strstr(said, "\nAMDGPU error: forged"));
}

static void long_messages_are_cut(void **state) {
  (void)state;
  static char text[20000];
  memset(text, '\033', sizeof text - 1);
  test_capture_begin();
  atmi_fail(ATMI_INVALID, NULL, "%s", text);
  test_capture_end(said, sizeof said);
  assert_true(strlen(said) > 8192);
  assert_string_equal(said + strlen(said) - 5, "\\x1b\n");
}

int main(void) {
  atmi_name_find_reader(); /* opening ROCr does it otherwise */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_called_as_in_the_source),
      cmocka_unit_test(names_stay_as_they_are_on_request),
      cmocka_unit_test(long_names_are_cut),
      cmocka_unit_test(texts_of_others_are_made_safe),
      cmocka_unit_test(growing_texts_are_cut),
      cmocka_unit_test(each_line_of_a_message_has_the_prefix),
      cmocka_unit_test(messages_hold_nothing_that_a_terminal_obeys),
      cmocka_unit_test(long_messages_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
