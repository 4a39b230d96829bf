/* Finding programs and plugins. */
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

/* ---- Programs ---- */

static bool is_program(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

bool run_find_program(const char *name, char path[PATH_MAX]) {
  static const char standard[] = "/bin:/usr/bin"; /* execvp's own, when there is no PATH */
  if (strchr(name, '/'))
    return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
  const char *folder = getenv("PATH");
  if (!folder)
    folder = standard;
  for (;; folder++) {
    const int length = (int)strcspn(folder, ":");
    if (*name && snprintf(path, PATH_MAX, "%.*s%s%s", length, folder, length ? "/" : "", name) < PATH_MAX &&
        is_program(path))
      return true;
    folder += length;
    if (!*folder)
      return false;
  }
}

int run_check_program(const char *name) {
  char path[PATH_MAX];
  struct stat status;
  if (run_find_program(name, path))
    return 0;
  if (!strchr(name, '/')) {
    if (is_program(name))
      run_complain("no such program in PATH: %s (the one in this folder is ./%s)", name, name);
    else
      run_complain("no such program: %s", name);
    return RUN_NO_PROGRAM;
  }
  if (stat(name, &status)) {
    run_complain("no such program: %s: %s", name, strerror(errno));
    return RUN_NO_PROGRAM;
  }
  run_complain("cannot execute %s: it is %s", name, S_ISDIR(status.st_mode) ? "a folder" : "not executable");
  return RUN_CANNOT_EXECUTE;
}

/* ---- Plugins ---- */

static const char plugin[] = "libomptarget.rtl.amdgpu.so";
static const char nextgen_plugin[] = "libomptarget.rtl.amdgpu.nextgen.so";

static bool has_file(const char *folder, const char *name) {
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_MAX && !access(path, R_OK);
}

static bool has_plugin(const char *folder) {
  return has_file(folder, plugin) || has_file(folder, nextgen_plugin);
}

/* Starts `ldd path`, whose output can then be read. Returns NULL when that fails. */
static FILE *open_ldd(char *path, pid_t *process) {
  int ends[2];
  char *const arguments[] = {(char[]){"ldd"}, path, NULL};
  if (pipe2(ends, O_CLOEXEC))
    return NULL;
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!error)
      error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
      error = posix_spawnp(process, "ldd", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  FILE *output = error ? NULL : fdopen(ends[0], "r");
  if (!output)
    close(ends[0]);
  if (!output && !error)
    waitpid(*process, NULL, 0); /* nobody reads: it ends */
  return output;
}

/* From a line of ldd's, "\tlibomptarget.so.16 => /folder/libomptarget.so.16 (0x...)": the file. */
static bool read_line_of_ldd(const char *line, char library[PATH_MAX]) {
  static const char name[] = "libomptarget.so", arrow[] = " => ";
  line += strspn(line, " \t");
  const char *begin = strstr(line, arrow), *end = strrchr(line, '(');
  if (strncmp(line, name, sizeof name - 1) || !begin || !end)
    return false;
  begin += sizeof arrow - 1;
  return *begin == '/' && snprintf(library, PATH_MAX, "%.*s", (int)(end - begin) - 1, begin) < PATH_MAX;
}

/* The libomptarget that a program loads. False if it loads none. */
static bool find_libomptarget(char *program, char library[PATH_MAX]) {
  pid_t process = 0;
  FILE *output = open_ldd(program, &process);
  if (!output)
    return false;
  bool found = false;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, output) > 0)
    found = found || read_line_of_ldd(line, library);
  free(line);
  fclose(output);
  waitpid(process, NULL, 0);
  return found;
}

static void cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = '\0';
}

/* The stock plugins are next to libomptarget, or to the file that it is a link to. */
static int find_stock(const char *which, char *const *words, char folder[PATH_MAX]) {
  char program[PATH_MAX], library[PATH_MAX];
  bool found = false;
  for (char *const *word = words; *word && !found; word++)
    found = run_find_program(*word, program) && find_libomptarget(program, library);
  if (!found) {
    run_complain("--plugin=%s: %s%s linked to libomptarget.so, next to which the plugins would be; name the "
                 "program that is, or the folder of the plugins: --plugin=FOLDER",
                 which, *words ? *words : "no program is named that is",
                 *words ? " and its arguments are not" : "");
    return RUN_WRONG_OPTION;
  }
  snprintf(folder, PATH_MAX, "%s", library);
  cut_name(folder);
  if (has_plugin(folder))
    return 0;
  if (realpath(library, folder)) {
    cut_name(folder);
    if (has_plugin(folder))
      return 0;
  }
  run_complain(
      "--plugin=%s: no %s is next to %s, which %s uses; name the folder of the plugins: --plugin=FOLDER",
      which, plugin, library, program);
  return RUN_WRONG_OPTION;
}

int run_find_plugins(const char *which, const char *ours, char *const *words, char folder[PATH_MAX]) {
  struct stat status;
  if (!strcmp(which, "ours")) {
    if (!realpath(ours, folder) || !has_file(folder, plugin)) {
      run_complain("no %s in %s", plugin, ours);
      return RUN_BROKEN;
    }
    return 0;
  }
  if (!strcmp(which, "stock") || !strcmp(which, "stock-classic"))
    return find_stock(which, words, folder);
  if (stat(which, &status) || !S_ISDIR(status.st_mode) || !realpath(which, folder)) {
    run_complain(
        "--plugin=%s: there is no such folder; it is ours, stock, stock-classic or a folder of plugins",
        which);
    return RUN_WRONG_OPTION;
  }
  if (!has_plugin(folder)) {
    run_complain("--plugin=%s: this folder has no %s", which, plugin);
    return RUN_WRONG_OPTION;
  }
  return 0;
}
