/* gfxsim-run: runs a program on the simulated GPU. Puts gfxsim's libhsakmt.so.1 in front of the driver's and
 * what says that a GPU driver is there in front of the C library, or a library that is such a driver; the
 * plugin in front of other plugins; then becomes the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "door.h"
#include "exec/profile.h"
#include "options.h"
#include "plugin.h"

/* Folders of libraries. */
typedef struct folders {
  char gfxsim[PATH_MAX];
  char our_plugin[PATH_MAX];
  char plugins[PATH_MAX]; /* those that the program shall use */
  char runtime[PATH_MAX]; /* of our libomptarget if the program shall use it, else empty */
} folders_t;

/* The folder that has this place relative to this program. */
static int find_folder(const char *relative, char folder[PATH_MAX]) {
  char path[2 * PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  if (length < 0) {
    run_complain("cannot find the simulator's libraries: /proc/self/exe: %s", strerror(errno));
    return RUN_BROKEN;
  }
  path[length] = '\0';
  snprintf(strrchr(path, '/') + 1, PATH_MAX, "%s", relative);
  if (realpath(path, folder))
    return 0;
  run_complain("cannot find the simulator's libraries: %s: %s", path, strerror(errno));
  return RUN_BROKEN;
}

static int find_gfxsim(folders_t *folders) {
  static const char *const needed[] = {"libhsakmt.so.1", "libgfxsim-driver.so", "libgfxsim-check.so",
                                       "kfd/libgfxsim-kfd.so"};
  char path[2 * PATH_MAX];
  int status = find_folder(RUN_GFXSIM_FOLDER, folders->gfxsim);
  for (size_t i = 0; !status && i < sizeof needed / sizeof *needed; i++) {
    snprintf(path, sizeof path, "%s/%s", folders->gfxsim, needed[i]);
    if (access(path, R_OK)) {
      run_complain("no %s in %s", needed[i], folders->gfxsim);
      status = RUN_BROKEN;
    }
  }
  return status;
}

static int find_runtime(folders_t *folders) {
  static const char needed[] = "libomptarget.so";
  char path[2 * PATH_MAX];
  int status = find_folder(RUN_RUNTIME_FOLDER, folders->runtime);
  snprintf(path, sizeof path, "%s/%s", folders->runtime, needed);
  if (status || !access(path, R_OK))
    return status;
  run_complain("no %s in %s", needed, folders->runtime);
  return RUN_BROKEN;
}

/* The dynamic linker takes these for the end of a folder's name. Returns 0, or `error` after a message. */
static int check_name(const char *folder, int error) {
  if (!strpbrk(folder, ":;"))
    return 0;
  run_complain("the dynamic linker cannot search %s, for the colon or semicolon in its name", folder);
  return error;
}

static int set(const char *name, const char *value) {
  if (value && !setenv(name, value, 1))
    return 0;
  run_complain("cannot set %s: %s", name, strerror(ENOMEM));
  return RUN_BROKEN;
}

/* Puts texts in front of what a variable has. */
static int prepend(const char *name, const char *first, const char *second) {
  const char *old = getenv(name);
  if (old && !*old)
    old = NULL;
  char *value = NULL;
  if (asprintf(&value, "%s%s%s%s%s", first, *first && *second ? ":" : "", second, old ? ":" : "",
               old ? old : "") < 0)
    value = NULL;
  const int status = set(name, value);
  free(value);
  return status;
}

/* A path with a separator in it cannot be preloaded; the name alone is then found through the library path.
 */
static int preload(const folders_t *folders, bool kfd) {
  const char *name = kfd ? "libgfxsim-kfd.so" : "libgfxsim-driver.so";
  char path[PATH_MAX + sizeof "/kfd/libgfxsim-driver.so"];
  snprintf(path, sizeof path, "%s/%s%s", folders->gfxsim, kfd ? "kfd/" : "", name);
  return prepend("LD_PRELOAD", RUN_PRELOAD, strpbrk(path, " \t\n\v\f\r:") ? name : path);
}

/* Behind the kernel driver's interface the program's own thunk must be found, or none. */
static int open_door(const folders_t *folders, bool kfd) {
  char folder[PATH_MAX + sizeof "/kfd"];
  snprintf(folder, sizeof folder, "%s%s", folders->gfxsim, kfd ? "/kfd" : "");
  const int status = prepend("LD_LIBRARY_PATH", folder, "");
  return status ? status : preload(folders, kfd);
}

/* An empty file is no SARIF, so it goes. */
static void remove_old(const char *sarif) {
  struct stat status;
  if (sarif && !stat(sarif, &status) && S_ISREG(status.st_mode) && unlink(sarif))
    run_complain("cannot remove the old %s: %s", sarif, strerror(errno));
}

/* How ROCr is given a library's name among others: blanks end it but in quotes, and a backslash takes the
 * meaning from what is behind it. */
static void quote(const char *path, char quoted[3 * PATH_MAX]) {
  const char *const mark = strpbrk(path, " \"\\") ? "\"" : "";
  char *to = stpcpy(quoted, mark);
  for (; *path; *to++ = *path++)
    if (*path == '"' || *path == '\\')
      *to++ = '\\';
  stpcpy(to, mark);
}

/* What the checker needs: ROCr tells it of the program's memory (HSA_TOOLS_LIB), and neither ROCr nor OpenMP
 * runtimes cut several blocks out of one, or keep freed ones. */
static int set_checker(const folders_t *folders) {
  const char *check = getenv("GFXSIM_CHECK"), *others = getenv("HSA_TOOLS_LIB");
  char path[PATH_MAX + sizeof "/libgfxsim-check.so"], quoted[3 * PATH_MAX], *tools = NULL;
  if (!check || !*check)
    return 0;
  const char *log = getenv("GFXSIM_CHECK_LOG");
  if (log && *log && truncate(log, 0) && errno != ENOENT) /* once: each process of the run adds to it */
    run_complain("cannot empty %s: %s", log, strerror(errno));
  remove_old(getenv("GFXSIM_CHECK_SARIF"));
  snprintf(path, sizeof path, "%s/libgfxsim-check.so", folders->gfxsim);
  quote(path, quoted);
  if (asprintf(&tools, "%s%s%s", quoted, others && *others ? " " : "", others ? others : "") < 0)
    tools = NULL;
  int status = set("HSA_TOOLS_LIB", tools);
  free(tools);
  if (!status)
    status = set("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1");
  return status ? status : set("LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD", "0");
}

static int set_environment(const run_options_t *options, const folders_t *folders, bool kfd) {
  const bool ours = !strcmp(options->plugin, "ours");
  int status = check_name(folders->gfxsim, RUN_BROKEN);
  if (!status)
    status = check_name(folders->plugins, ours ? RUN_BROKEN : RUN_WRONG_OPTION);
  if (!status)
    status = check_name(folders->runtime, RUN_BROKEN);
  if (!status && !strcmp(options->plugin, "stock-classic"))
    status = set("LIBOMPTARGET_NEXTGEN_PLUGINS", "false");
  if (!status)
    status = prepend("LD_LIBRARY_PATH", folders->runtime, folders->plugins);
  if (!status)
    status = open_door(folders, kfd);
  if (!status)
    status = set_checker(folders);
  /* A program built with gcc's address sanitizer wants to be sure that nothing comes before it; ours may. */
  return status ? status : prepend("ASAN_OPTIONS", "verify_asan_link_order=0", "");
}

static void print_environment(void) {
  static const char *const shown[] = {"LD_PRELOAD=",
                                      "LD_LIBRARY_PATH=",
                                      "LIBOMPTARGET_NEXTGEN_PLUGINS=",
                                      "ASAN_OPTIONS=",
                                      "HSA_DISABLE_FRAGMENT_ALLOCATOR=",
                                      "HSA_TOOLS_LIB=",
                                      "LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD=",
                                      "HSA_XNACK=",
                                      "GFXSIM_"};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    for (char **entry = environ; *entry; entry++)
      if (!strncmp(*entry, shown[i], strlen(shown[i])))
        puts(*entry);
}

/* What was printed is all there is to do: 0 if it has arrived. */
static int finish_printing(void) {
  if (!ferror(stdout) && !fflush(stdout))
    return 0;
  run_complain("cannot write to standard output: %s", strerror(errno));
  return RUN_BROKEN;
}

/* Returns only when the program cannot be executed. */
static int become(char **words) {
  execvp(words[0], words);
  const int error = errno;
  run_complain("cannot execute %s: %s%s", words[0], strerror(error),
               error == ENOENT ? " (its interpreter or dynamic linker)" : "");
  return RUN_CANNOT_EXECUTE;
}

/* ROCr leaves out what it does not know, with a word that does not say so or with none. */
static void warn_of_parts(const char *rocr) {
  char reason[GS_PARTS_REASON_BYTES], name[16];
  gs_part_t parts[GS_MOST_PARTS];
  const char *list = getenv("GFXSIM_DEVICES");
  const int count = *rocr && list ? gs_parts_parse(list, parts, reason) : 0;
  for (int i = 0; i < count; i++) {
    const gs_profile_t *part = parts[i].profile;
    bool again = false;
    for (int j = 0; j < i; j++)
      again = again || parts[j].profile == part;
    snprintf(name, sizeof name, "gfx%u%u%x", part->gfx_major, part->gfx_minor, part->gfx_stepping);
    if (!again && !run_rocr_knows(rocr, name))
      run_complain("%s does not know %s: programs will not find the %s; it takes a newer ROCr", rocr, name,
                   part->marketing_name);
  }
}

int main(int argc, char **argv) {
  static folders_t folders;
  static run_door_t door;
  run_options_t options;
  switch (run_options_parse(argc, argv, &options)) {
  case RUN_GO_ON: break;
  case RUN_DONE: return finish_printing();
  case RUN_USAGE_ERROR: return RUN_WRONG_OPTION;
  }
  char **words = argv + options.program;
  int status = find_gfxsim(&folders);
  if (!status && *words)
    status = run_check_program(*words);
  if (!status && !strcmp(options.plugin, "ours"))
    status = find_folder(RUN_PLUGIN_FOLDER, folders.our_plugin);
  if (!status && options.our_runtime)
    status = find_runtime(&folders);
  if (!status)
    status = run_find_plugins(options.plugin, folders.our_plugin, words, folders.plugins);
  if (!status) {
    run_choose_door(options.door, words, &door);
    if (options.explain)
      run_complain("door %s: %s", door.kfd ? "kfd" : "thunk", door.why);
    warn_of_parts(door.rocr);
    status = set_environment(&options, &folders, door.kfd);
  }
  if (status || !options.print_environment)
    return status ? status : become(words);
  print_environment();
  return finish_printing();
}
