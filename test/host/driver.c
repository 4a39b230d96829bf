/* The host runtime as programs see it. */
#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct driver driver;

void driver_read(void) {
  static char name[] = "array";
  size_t bytes, image_bytes;
  driver.file = test_read_file(driver.path, &bytes);
  const char *begin = test_find_image(driver.file, bytes, &image_bytes);
  driver.names[DRIVER_SPMD] = kernel_name(begin, image_bytes, "spmd_kernel");
  driver.names[DRIVER_STORE] = kernel_name(begin, image_bytes, "store_kernel");
  for (int i = 0; i < 2; i++)
    driver.entries[i] = (tgt_entry13_t){&driver.regions[i], driver.names[i], 0, 0, 0};
  driver.entries[DRIVER_ARRAY] = (tgt_entry13_t){array, name, sizeof array, 0, 0};
  driver.image = (tgt_image_t){begin, begin + image_bytes, driver.entries, driver.entries + DRIVER_ENTRIES};
  driver.descriptor = (tgt_descriptor_t){1, &driver.image, driver.entries, driver.entries + DRIVER_ENTRIES};
}

void driver_begin(void) {
  __tgt_register_lib(&driver.descriptor);
  DRIVER_CHECK(tgt_runtime_device_count(tgt_runtime()) > 0);
}

void driver_end(void) {
  __tgt_unregister_lib(&driver.descriptor);
}

void driver_check(bool holds, const char *what, const char *file, int line) {
  if (holds)
    return;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
  _exit(3);
}

int driver_in_child(void (*part)(void), char text[DRIVER_TEXT]) {
  int status = -1;
  test_capture_begin();
  pid_t child = fork();
  if (!child) {
    signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the test */
    signal(SIGABRT, SIG_DFL);
    driver_begin();
    part();
    driver_end();
    exit(0);
  }
  pid_t ended = child < 0 ? child : waitpid(child, &status, 0);
  test_capture_end(text, DRIVER_TEXT);
  assert_int_equal(ended, child);
  return status;
}

void driver_fail(int status, const char *words, const char *text) {
  fputs(text, stderr); /* cmocka would cut it */
  fail_msg("it ended with status 0x%x, and said what is above; wanted: \"%s\"", (unsigned)status, words);
}

void driver_expect_success(void (*part)(void)) {
  char text[DRIVER_TEXT];
  int status = driver_in_child(part, text);
  if (status)
    driver_fail(status, "", text);
}

void driver_expect_failure(void (*part)(void), const char *words) {
  char text[DRIVER_TEXT];
  int status = driver_in_child(part, text);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(text, words) ||
      !strstr(text, "failure of target construct while offloading is mandatory"))
    driver_fail(status, words, text);
}

int driver_run(uint64_t n, double *out) {
  void *bases[] = {(void *)(uintptr_t)n, out}, *begins[] = {(void *)(uintptr_t)n, out};
  int64_t sizes[] = {sizeof n, (int64_t)(n * sizeof *out)};
  int64_t types[] = {TGT_MAP_PARAM | TGT_MAP_LITERAL, TGT_MAP_PARAM | TGT_MAP_TO | TGT_MAP_FROM};
  tgt_kernel_args_t args = {.version = 2,
                            .count = 2,
                            .bases = bases,
                            .begins = begins,
                            .sizes = sizes,
                            .types = types,
                            .tripcount = n};
  return __tgt_target_kernel(NULL, 0, 0, 0, &driver.regions[DRIVER_SPMD], &args);
}

bool driver_runs(void) {
  double out[10] = {0};
  if (driver_run(10, out))
    return false;
  for (int i = 0; i < 10; i++)
    if (out[i] != i * 3 + 5 + (double)array[i])
      return false;
  return true;
}
