/* A machine on which HSA finds no GPU: what the plugin says depends on why. Run as "plugin_no_gpu PLUGIN",
 * without gfxsim. The program's own open stands in for the kernel's answer about the device file; each case
 * is a process. */
#include "plugin_test.h"

#include "omptarget_amdgpu_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *plugin;
static int device_file_error;

/* Found before libc's by every library of the process. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  if (!strcmp(path, "/dev/kfd")) {
    errno = device_file_error;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* What a child says that opens the plugin and asks for devices, of which there must be none. */
static void ask(int error, char *said, size_t size) {
  int ends[2], status = -1;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    device_file_error = error;
    dup2(ends[1], STDERR_FILENO);
    void *library = dlopen(plugin, RTLD_NOW);
    int32_t (*count)(void) = NULL;
    if (library)
      *(void **)&count = dlsym(library, "__tgt_rtl_number_of_devices");
    _exit(!count || count() != 0);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t got;
  while ((got = read(ends[0], said + length, size - 1 - length)) > 0)
    length += (size_t)got;
  said[length] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void without_a_driver_there_is_nothing_to_say(void **state) {
  (void)state;
  char said[4096];
  ask(ENOENT, said, sizeof said);
  assert_string_equal(said, "");
}

static void a_driver_that_may_not_be_opened_is_said(void **state) {
  (void)state;
  char said[4096];
  ask(EACCES, said, sizeof said);
  assert_string_equal(
      said, "AMDGPU warning: no GPU is used: /dev/kfd cannot be opened: Permission denied; is the user "
            "in the groups render and video?\n");
}

static void a_driver_that_does_not_work_is_said(void **state) {
  (void)state;
  char said[4096];
  ask(ENOMEM, said, sizeof said);
  assert_non_null(strstr(said, "AMDGPU warning: no GPU is used: hsa_init failed: "));
  assert_non_null(strstr(said, "; /dev/kfd: Cannot allocate memory\n"));
}

static void debugging_tells_the_reason(void **state) {
  (void)state;
  char said[4096];
  setenv("LIBOMPTARGET_DEBUG", "1", 1);
  ask(ENOENT, said, sizeof said);
  unsetenv("LIBOMPTARGET_DEBUG");
  assert_non_null(strstr(said, "no GPU is used: hsa_init failed: "));
  assert_non_null(strstr(said, "/dev/kfd: No such file or directory"));
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: %s PLUGIN\n", arguments[0]);
    return 2;
  }
  plugin = arguments[1];
  setenv("LIBOMPTARGET_AMDGPU_HOST_ABI", "16", 1); /* this program is no libomptarget by its exports */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_driver_there_is_nothing_to_say),
      cmocka_unit_test(a_driver_that_may_not_be_opened_is_said),
      cmocka_unit_test(a_driver_that_does_not_work_is_said),
      cmocka_unit_test(debugging_tells_the_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
