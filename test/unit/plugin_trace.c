/* What users see of launches when they ask for it: the formats are interfaces. Run as plugin_faults. */
#include "plugin_driver.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char said[1 << 14];

/* The whole text matches, line by line; "NAME" stands for the kernel's name. */
static void text_matches(const char *pattern) {
  char expanded[2048];
  regex_t compiled;
  const char *name = strstr(pattern, "NAME");
  assert_non_null(name);
  snprintf(expanded, sizeof expanded, "^%.*s%s%s$", (int)(name - pattern), pattern, given.spmd_name,
           name + 4);
  assert_int_equal(regcomp(&compiled, expanded, REG_EXTENDED | REG_NOSUB), 0);
  if (regexec(&compiled, said, 0, NULL, 0))
    fail_msg("\"%s\" does not match \"%s\"", said, expanded);
  regfree(&compiled);
}

static void launch(void) {
  void *memory = allocate(100 * sizeof(double));
  assert_int_equal(launch_spmd(100, memory, 2, NULL), OFFLOAD_SUCCESS);
  release(memory);
}

/* A launch with what is said on stderr in `said`. */
static void launch_and_listen(void) {
  test_capture_begin();
  launch();
  test_capture_end(said, sizeof said);
}

#define CLASSIC_BEGIN                                                                                        \
  "DEVID: 0 SGN:2 ConstWGSize:256  args: 2 teamsXthrds:\\(   2X 256\\) reqd:\\(   2X   0\\) "                \
  "lds_usage:[0-9]+B "
#define CLASSIC_END                                                                                          \
  "sgpr_count:[1-9][0-9]* vgpr_count:[1-9][0-9]* sgpr_spill_count:0 vgpr_spill_count:0 tripcount:100 "       \
  "n:NAME\n"

static void prints_the_classic_line(void **state) {
  (void)state;
  launch_and_listen();
  text_matches(CLASSIC_BEGIN CLASSIC_END);
}

static void prints_resources(void **state) {
  (void)state;
  launch_and_listen();
  text_matches(CLASSIC_BEGIN "scratch:[0-9]+B agpr_count:0 " CLASSIC_END);
}

static void prints_the_geometry(void **state) {
  (void)state;
  launch_and_listen();
  text_matches("Max_Teams: 416\n(RTLDeviceInfoTy::[A-Za-z_]+: [0-9]+\n){3}thread_limit: 0\nthreadsPerGroup: "
               "256\nConstWGSize: 256\nnum_teams: 2\nnum_groups: 2\nloop_tripcount: 100\nEnv.NumTeams "
               "-1\nEnv.TeamLimit -1\n" CLASSIC_BEGIN CLASSIC_END);
}

/* On stdout, which is not caught above. */
static void prints_to_stdout(void **state) {
  (void)state;
  int ends[2], saved = dup(STDOUT_FILENO);
  assert_int_equal(pipe(ends), 0);
  fflush(stdout);
  dup2(ends[1], STDOUT_FILENO);
  test_capture_begin();
  launch();
  test_capture_end(said, sizeof said);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(ends[1]);
  assert_string_equal(said, "");
  ssize_t length = read(ends[0], said, sizeof said - 1);
  assert_true(length > 0);
  said[length] = 0;
  text_matches(CLASSIC_BEGIN CLASSIC_END);
}

#define INFO                                                                                                 \
  "\"PluginInterface\" device 0 info: Launching kernel NAME with 2 blocks and 256 threads in SPMD mode\n"    \
  "AMDGPU device 0 info: #Args: 2 Teams x Thrds:    2x 256 \\(MaxFlatWorkGroupSize: 1024\\) LDS Usage: "     \
  "[0-9]+B "                                                                                                 \
  "#SGPRs/VGPRs: [0-9]+/[0-9]+ #SGPR/VGPR Spills: 0/0 Tripcount: 100\n"

static void prints_the_info_lines(void **state) {
  (void)state;
  launch_and_listen();
  text_matches(INFO);
  rtl.set_info_flag(0);
  launch_and_listen();
  assert_string_equal(said, "");
}

static void can_be_told_at_run_time(void **state) {
  (void)state;
  launch_and_listen();
  assert_string_equal(said, "");
  rtl.set_info_flag(0x10);
  launch_and_listen();
  text_matches(INFO);
}

#define WITH(variable, value) ((const char *const[]){variable, value, NULL})

static void kernel_trace_has_all_levels(void **state) {
  (void)state;
  in_child(prints_the_classic_line, WITH("LIBOMPTARGET_KERNEL_TRACE", "1"));
  in_child(prints_to_stdout, WITH("LIBOMPTARGET_KERNEL_TRACE", "2"));
  in_child(prints_the_geometry, WITH("LIBOMPTARGET_KERNEL_TRACE", "4"));
  in_child(prints_to_stdout, WITH("LIBOMPTARGET_KERNEL_TRACE", "8"));
  in_child(prints_resources, WITH("LIBOMPTARGET_KERNEL_TRACE", "16"));
}

static void info_shows_launches(void **state) {
  (void)state;
  in_child(prints_the_info_lines, WITH("LIBOMPTARGET_INFO", "16"));
  in_child(can_be_told_at_run_time, WITH("LIBOMPTARGET_INFO", "0"));
}

int main(int count, char **arguments) {
  if (!take_arguments(count, arguments))
    return 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernel_trace_has_all_levels),
      cmocka_unit_test(info_shows_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
