/* Environment variables: values, complaints, and that doc/environment.md says what the table says. */
#include "plugin_test.h"

#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const atmi_env_row_t *row_of(const char *name) {
  size_t count;
  const atmi_env_row_t *table = atmi_env_table(&count);
  for (size_t i = 0; i < count; i++)
    if (!strcmp(table[i].name, name))
      return &table[i];
  fail_msg("no variable %s", name);
  return NULL;
}

static void reads_numbers_and_words(void **state) {
  (void)state;
  const atmi_env_row_t *row = row_of("LIBOMPTARGET_SHARED_MEMORY_SIZE");
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {{"0", 0},      {"1024", 1024}, {"0x10", 16},
              {"0XfF", 255}, {"true", 1},    {"FALSE", 0},
              {"on", 1},     {"Off", 0},     {"4294967295", 4294967295},
              {" 7", 7}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    int64_t value = -5;
    const char *reason = NULL;
    assert_true(atmi_env_parse(row, good[i].text, &value, &reason));
    assert_int_equal(value, good[i].value);
  }
  static const char *const bad[] = {"",
                                    "x",
                                    "12k",
                                    "1.5",
                                    "0x",
                                    "yes?",
                                    "-1",
                                    "4294967296",
                                    "1 2",
                                    "99999999999999999999",
                                    "-99999999999999999999",
                                    "0x1g"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t value = -5;
    const char *reason = NULL;
    assert_false(atmi_env_parse(row, bad[i], &value, &reason));
    assert_int_equal(value, -5);
    assert_non_null(reason);
  }
}

/* What the table says to people, which the libraries do not have. */
static const struct {
  const char *unit, *stock, *help;
} texts[] = {
#define ROW(name, type, field, initial, least, most, unit, stock, help) {unit, stock, help},
#define IGNORED(name, stock, help)                                      {"", stock, help},
#include "base/env.def"
#undef ROW
#undef IGNORED
};

static void has_sound_rows(void **state) {
  (void)state;
  size_t count;
  const atmi_env_row_t *table = atmi_env_table(&count);
  assert_int_equal(count, sizeof texts / sizeof *texts);
  for (size_t i = 0; i < count; i++) {
    assert_true(*texts[i].help && *texts[i].stock);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(table[i].name, table[j].name);
    if (table[i].type == ATMI_ENV_IGNORED)
      continue;
    assert_true(table[i].field < sizeof(atmi_env_t) && table[i].field % sizeof(int64_t) == 0);
    assert_true(table[i].least <= table[i].most);
    assert_true(table[i].initial == ATMI_ENV_UNSET ||
                (table[i].initial >= table[i].least && table[i].initial <= table[i].most));
  }
}

static void loads_defaults_and_values(void **state) {
  (void)state;
  atmi_env_t env;
  char *const nothing[] = {NULL};
  atmi_env_load(nothing, &env);
  assert_int_equal(env.queue_count, 4);
  assert_int_equal(env.queue_packets, 512);
  assert_int_equal(env.num_teams, ATMI_ENV_UNSET);
  assert_int_equal(env.max_staged_bytes, 1 << 20);
  assert_int_equal(env.lock_mapped, 0);
  assert_null(env.timeline);
  char *const some[] = {"PATH=/bin",
                        "OMP_NUM_TEAMS=12",
                        "LIBOMPTARGET_KERNEL_TRACE=3",
                        "OMP_TEAM_LIMIT=",
                        "LIBOMPTARGET_INFO=-1",
                        "LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS=Mandatory",
                        "LIBOMPTARGET_AMDGPU_TIMELINE=some file.json",
                        "LIBOMPTARGET_AMDGPU_HSA_QUEUE_BUSY_TRACKING=true",
                        NULL};
  char text[256];
  test_capture_begin();
  atmi_env_load(some, &env);
  test_capture_end(text, sizeof text);
  assert_string_equal(text, "");
  assert_int_equal(env.num_teams, 12);
  assert_int_equal(env.kernel_trace, 3);
  assert_int_equal(env.team_limit, ATMI_ENV_UNSET); /* empty is unset */
  assert_int_equal((uint32_t)env.info, UINT32_MAX);
  assert_int_equal(env.lock_mapped, ATMI_ENV_MANDATORY);
  assert_string_equal(env.timeline, "some file.json");
}

static void complains_once_and_goes_on(void **state) {
  (void)state;
  atmi_env_t env;
  char text[2048];
  char *const wrong[] = {"OMP_NUM_TEAMS=mandatory",
                         "LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES=1000",
                         "LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUE=2",
                         "LIBOMPTARGET_AMDGPU_SOMETHING_ELSE_ALTOGETHER=1",
                         "OMP_TEAM_LIMIT=5",
                         NULL};
  test_capture_begin();
  atmi_env_load(wrong, &env);
  test_capture_end(text, sizeof text);
  assert_string_equal(text,
                      "AMDGPU warning: environment variable OMP_NUM_TEAMS is ignored: \"mandatory\" cannot "
                      "be used, it is no number (0 to "
                      "2147483647)\n"
                      "AMDGPU warning: environment variable LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES is "
                      "ignored: \"1000\" cannot be used, "
                      "it is too large (1 to 32)\n"
                      "AMDGPU warning: environment variable LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUE is not "
                      "known and has no effect; did you "
                      "mean LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES?\n"
                      "AMDGPU warning: environment variable "
                      "LIBOMPTARGET_AMDGPU_SOMETHING_ELSE_ALTOGETHER is not known and has no "
                      "effect\n");
  assert_int_equal(env.num_teams, ATMI_ENV_UNSET);
  assert_int_equal(env.queue_count, 4);
  assert_int_equal(env.team_limit, 5);
}

static void default_text(const atmi_env_row_t *row, const char *unit, char *text, size_t bytes) {
  if (row->type == ATMI_ENV_IGNORED || row->initial == ATMI_ENV_UNSET)
    snprintf(text, bytes, "%s", row->type == ATMI_ENV_IGNORED ? "-" : "unset");
  else
    snprintf(text, bytes, "%lld%s%s", (long long)row->initial, *unit ? " " : "", unit);
}

/* The first table of the document has this line for every row, and no other. */
static void is_documented(void **state) {
  (void)state;
  size_t bytes, count, lines = 0;
  char *file = test_read_file(ENVIRONMENT_DOC, &bytes);
  char *document = malloc(bytes + 1);
  assert_non_null(document);
  memcpy(document, file, bytes);
  document[bytes] = 0;
  const atmi_env_row_t *table = atmi_env_table(&count);
  for (size_t i = 0; i < count; i++) {
    char initial[64], line[1024];
    default_text(&table[i], texts[i].unit, initial, sizeof initial);
    snprintf(line, sizeof line, "\n| `%s` | %s | %s | %s |\n", table[i].name, initial, texts[i].stock,
             texts[i].help);
    if (!strstr(document, line))
      fail_msg("doc/environment.md lacks the line: %s", line + 1);
  }
  char *rest = strstr(document, "\n## "); /* other tables may name variables too */
  assert_non_null(rest);
  *rest = 0;
  for (const char *at = document; (at = strstr(at, "\n| `")); at++) {
    const char *end = strchr(at + 4, '`');
    lines += end && !strncmp(end, "` |", 3);
  }
  assert_int_equal(lines, count);
  free(document);
  free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_numbers_and_words),
      cmocka_unit_test(has_sound_rows),
      cmocka_unit_test(loads_defaults_and_values),
      cmocka_unit_test(complains_once_and_goes_on),
      cmocka_unit_test(is_documented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
