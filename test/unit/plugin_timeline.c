/* The timeline's file, byte by byte, and what becomes of it when it cannot be written. */
#include "plugin_test.h"

#include "base/timeline.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/plugin_timeline_XXXXXX";

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static void file_is(const char *path, const char *expected) {
  size_t bytes;
  char *content = test_read_file(path, &bytes);
  assert_int_equal(bytes, strlen(expected));
  assert_memory_equal(content, expected, bytes);
  free(content);
}

static void writes_spans_of_devices_and_host(void **state) {
  (void)state;
  char name[128], path[128], expected[2048];
  snprintf(name, sizeof name, "%s/run-%%p.json", folder);
  snprintf(path, sizeof path, "%s/run-%ld.json", folder, (long)getpid());
  /* 100 MHz: a tick is 10 ns. */
  atmi_timeline_t *timeline = atmi_timeline_open(name, 100000000, 1000, false);
  assert_non_null(timeline);
  atmi_timeline_name_device(timeline, 1, "device 1 (\"gfx\\90a\")");
  atmi_timeline_add(timeline, &(atmi_span_t){.name = "kernel\n1",
                                             .category = "kernel",
                                             .device = 1,
                                             .lane = 3,
                                             .begin = 1150,
                                             .end = 1275,
                                             .teams = 4,
                                             .threads = 64});
  atmi_timeline_add(timeline, &(atmi_span_t){.name = "early",
                                             .category = "copy",
                                             .device = 1,
                                             .lane = 3,
                                             .begin = 900,
                                             .end = 900,
                                             .has_bytes = true});
  atmi_timeline_add(
      timeline,
      &(atmi_span_t){
          .name = "wait", .category = "wait", .device = ATMI_TIMELINE_HOST, .begin = 1000, .end = 1001});
  atmi_timeline_finish(timeline);
  atmi_timeline_add(timeline, &(atmi_span_t){.name = "late", .category = "wait"});
  atmi_timeline_close(timeline);
  snprintf(expected, sizeof expected,
           "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"host\"}},\n"
           "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":0,\"args\":{\"name\":\"device 1 "
           "(\\\"gfx\\\\90a\\\")\"}},\n"
           "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":3,\"args\":{\"name\":\"stream 3\"}},\n"
           "{\"ph\":\"X\",\"name\":\"kernel\\u000a1\",\"cat\":\"kernel\",\"pid\":2,\"tid\":3,\"ts\":1.500,"
           "\"dur\":1.250,\"args\":{\"teams\":4,\"threads\":64}},\n"
           "{\"ph\":\"X\",\"name\":\"early\",\"cat\":\"copy\",\"pid\":2,\"tid\":3,\"ts\":-1.000,"
           "\"dur\":0.000,\"args\":{\"bytes\":0}},\n"
           "{\"ph\":\"X\",\"name\":\"wait\",\"cat\":\"wait\",\"pid\":0,\"tid\":%ld,\"ts\":0.000,"
           "\"dur\":0.010,\"args\":{}}]\n",
           (long)gettid());
  file_is(path, expected);
  unlink(path);
}

static void links_are_followed_if_their_name_was_given(void **state) {
  (void)state;
  char behind[128], link[128], completed[128], name[128], said[512], expected[512];
  snprintf(behind, sizeof behind, "%s/behind", folder);
  snprintf(link, sizeof link, "%s/link", folder);
  snprintf(completed, sizeof completed, "%s/link-%ld", folder, (long)getpid());
  snprintf(name, sizeof name, "%s/link-%%p", folder);
  assert_int_equal(symlink(behind, link) || symlink(behind, completed), 0);
  test_capture_begin();
  assert_null(atmi_timeline_open(name, 1000000000, 0, false));
  test_capture_end(said, sizeof said);
  snprintf(expected, sizeof expected,
           "AMDGPU warning: no timeline is written: cannot create %s: a symbolic link has this name\n",
           completed);
  assert_string_equal(said, expected);
  assert_int_equal(access(behind, F_OK), -1);
  atmi_timeline_close(atmi_timeline_open(link, 1000000000, 0, false));
  assert_int_equal(access(behind, F_OK), 0);
  unlink(behind);
  unlink(link);
  unlink(completed);
}

static void a_file_that_cannot_be_made_is_said_once(void **state) {
  (void)state;
  char said[512];
  test_capture_begin();
  atmi_timeline_t *timeline = atmi_timeline_open("/nonexistent/folder/run.json", 1000000000, 0, false);
  atmi_timeline_add(timeline, &(atmi_span_t){.name = "nothing", .category = "wait"});
  atmi_timeline_name_device(timeline, 0, "device");
  atmi_timeline_finish(timeline);
  atmi_timeline_close(timeline);
  test_capture_end(said, sizeof said);
  assert_null(timeline);
  assert_string_equal(said, "AMDGPU warning: no timeline is written: cannot create "
                            "/nonexistent/folder/run.json: No such file or directory\n");
}

static void a_full_disk_is_said(void **state) {
  (void)state;
  char said[512];
  test_capture_begin();
  atmi_timeline_t *timeline = atmi_timeline_open("/dev/full", 1000000000, 0, false);
  atmi_timeline_close(timeline);
  test_capture_end(said, sizeof said);
  assert_non_null(timeline);
  assert_string_equal(
      said, "AMDGPU warning: the timeline is not complete: it could not be written: No space left on "
            "device\n");
}

static void add_spans(atmi_timeline_t *timeline, int count) {
  for (int i = 0; i < count; i++)
    atmi_timeline_add(timeline,
                      &(atmi_span_t){.name = "kernel", .category = "kernel", .begin = 1000, .end = 1234567});
}

/* How often the text is in the file. */
static int count_in_file(const char *path, const char *text) {
  size_t bytes, length = strlen(text);
  char *content = test_read_file(path, &bytes);
  int count = 0;
  for (size_t at = 0; at + length <= bytes; at++)
    count += !memcmp(content + at, text, length);
  free(content);
  return count;
}

/* A child that exits writes nothing, and one that is killed leaves whole spans. */
static void processes_may_fork_and_be_killed(void **state) {
  (void)state;
  enum { SPANS = 200 };
  char path[128];
  snprintf(path, sizeof path, "%s/run.json", folder);
  atmi_timeline_t *timeline = atmi_timeline_open(path, 1000000000, 1000, false);
  assert_non_null(timeline);
  add_spans(timeline, SPANS);
  pid_t child = fork();
  if (!child) {
    atmi_timeline_forget(timeline);
    exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  size_t bytes;
  char *content = test_read_file(path, &bytes);
  assert_true(bytes > 4096);
  assert_memory_equal(content + bytes - 2, "}}", 2); /* as a kill would leave it */
  free(content);
  atmi_timeline_close(timeline);
  assert_int_equal(count_in_file(path, "{\"ph\":\"X\""), SPANS);
  unlink(path);
}

/* In a locale with a comma for the point, where there is one. */
static void times_are_nanoseconds_with_a_point(void **state) {
  (void)state;
  static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  char path[128];
  const char *taken = NULL;
  for (size_t i = 0; !taken && i < sizeof locales / sizeof *locales; i++)
    taken = setlocale(LC_ALL, locales[i]);
  snprintf(path, sizeof path, "%s/run.json", folder);
  atmi_timeline_t *timeline = atmi_timeline_open(path, 1000000000, 1000, false);
  add_spans(timeline, 1);
  atmi_timeline_close(timeline);
  setlocale(LC_ALL, "C");
  assert_int_equal(count_in_file(path, "\"ts\":0.000,\"dur\":1233.567,"), 1);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes_spans_of_devices_and_host),
      cmocka_unit_test(links_are_followed_if_their_name_was_given),
      cmocka_unit_test(a_file_that_cannot_be_made_is_said_once),
      cmocka_unit_test(a_full_disk_is_said),
      cmocka_unit_test(processes_may_fork_and_be_killed),
      cmocka_unit_test(times_are_nanoseconds_with_a_point),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
