/* The command line: two tables, gfxsim's and ours, of which --help is made too. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "exec/profile.h"

typedef struct variable {
  const char *name, *value;
} variable_t;

/* An option that gfxsim itself does not have. */
typedef struct own_option {
  const char *word, *argument; /* no argument: takes no value */
  variable_t sets[2];
  const char *help;
} own_option_t;

static const own_option_t own_options[] = {
    {"--plugin",
     "WHICH",
     {{0}},
     "plugins of OpenMP programs: ours, this project's (default); stock, those next to the libomptarget that "
     "the program uses; stock-classic, the same with LLVM 16's classic one instead of its nextgen one; or a "
     "folder of plugins"},
    {"--runtime",
     "WHICH",
     {{0}},
     "libomptarget of OpenMP programs: stock, the one that the program finds (default), or ours, this "
     "project's, which needs no plugin"},
    {"--door",
     "WHICH",
     {{0}},
     "how ROCr comes to the simulator: thunk, by the library of that name, as ROCr 5 and 6.1 do; kfd, by the "
     "kernel driver's "
     "interface, as those do that have the thunk inside; else the ROCr decides that the program loads"},
    {"--xnack",
     NULL,
     {{"HSA_XNACK", "1"}},
     "kernels reach all memory of the program; every device must be able to, as gfx90a and gfx942 are"},
    {"--usm",
     NULL,
     {{"HSA_XNACK", "1"}, {"GFXSIM_HOST_VISIBLE", "1"}},
     "what programs that require unified shared memory need: --xnack and --host-visible"},
    {"--guard-allocations",
     NULL,
     {{"HSA_DISABLE_FRAGMENT_ALLOCATOR", "1"}},
     "device allocations have pages of their own, with gaps behind them: kernels that go beyond their ends "
     "fault"},
    {"--list-devices", NULL, {{0}}, "print the devices that there can be, one per line, and exit"},
    {"--explain", NULL, {{0}}, "say on standard error which door was chosen, and why"},
    {"--print-environment", NULL, {{0}}, "print the variables that would be set, and exit"},
    {"--help", NULL, {{0}}, "this text"},
    {"--version", NULL, {{0}}, "print the version, and exit"},
};

enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

void run_complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("gfxsim-run: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

/* ---- Help ---- */

enum { HELP_INDENT = 24, HELP_WIDTH = 110 };

/* Prints words from column HELP_INDENT on, where the line is already. */
static void print_words(const char *text) {
  int column = HELP_INDENT;
  while (*text) {
    const int length = (int)strcspn(text, " ");
    if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
      printf("\n%*s", HELP_INDENT, "");
      column = HELP_INDENT;
    }
    column += printf("%s%.*s", column > HELP_INDENT ? " " : "", length, text);
    text += length + (text[length] == ' ');
  }
  putchar('\n');
}

static void print_row(const char *word, const char *argument, const char *help, const char *note) {
  char left[64], text[512];
  const bool brackets = argument && *argument == '['; /* which need no value */
  snprintf(left, sizeof left, "  %s%s%s", word, argument && !brackets ? "=" : "", argument ? argument : "");
  snprintf(text, sizeof text, "%s%s%s%s", help, *note ? " [" : "", note, *note ? "]" : "");
  printf("%-*s", HELP_INDENT, left);
  if (strlen(left) >= HELP_INDENT) /* a line of its own */
    printf("\n%*s", HELP_INDENT, "");
  print_words(text);
}

static void print_gfxsim_option(const gs_option_t *option) {
  char note[128];
  if (option->type == GS_OPTION_FLAG)
    snprintf(note, sizeof note, "%s=%s", option->name, option->argument);
  else
    snprintf(note, sizeof note, "%s%s%s", option->name, *option->standard ? ", default " : "",
             option->standard);
  char optional[64];
  snprintf(optional, sizeof optional, "[=%s]", option->argument);
  const char *argument = gs_option_is_list(option) ? optional : option->argument;
  print_row(option->word, option->type == GS_OPTION_FLAG ? NULL : argument, option->help, note);
}

static void print_own_option(const own_option_t *option) {
  char note[128] = "";
  for (int i = 0; i < 2 && option->sets[i].name; i++)
    snprintf(note + strlen(note), sizeof note - strlen(note), "%s%s=%s", i ? " " : "", option->sets[i].name,
             option->sets[i].value);
  print_row(option->word, option->argument, option->help, note);
}

static void print_help(void) {
  puts("usage: gfxsim-run [option ...] program [argument ...]\n\n"
       "Runs a program on simulated AMD GPUs. OpenMP programs offload through this project's plugin.\n");
  for (size_t i = 0; i < OWN_COUNT; i++)
    print_own_option(&own_options[i]);
  putchar('\n');
  for (size_t i = 0; gs_option_at(i); i++)
    print_gfxsim_option(gs_option_at(i));
  printf("\nDevices:");
  for (size_t i = 0; gs_profile_at(i); i++)
    printf("%s %s (%s)", i ? "," : "", gs_profile_at(i)->name, gs_profile_at(i)->marketing_name);
  puts(".\nThe variable in brackets is what an option sets; both ways are equal. The exit status is the "
       "program's own;\n126 and 127 mean that it cannot be run or does not exist, 2 that an option is wrong, "
       "1 that the simulator's\nown libraries are missing or that nothing can be printed.");
}

static void print_devices(void) {
  const gs_profile_t *profile;
  for (size_t i = 0; (profile = gs_profile_at(i)); i++) {
    const uint64_t gib = (profile->memory_bytes + (UINT64_C(1) << 30) - 1) >> 30; /* as it is sold */
    printf("%-8s%s, %" PRIu32 " compute units, %" PRIu64 " GiB\n", profile->name, profile->marketing_name,
           profile->cus, gib);
  }
}

/* ---- Values ---- */

static bool set(const char *name, const char *value) {
  if (!setenv(name, value, 1))
    return true;
  run_complain("cannot set %s: %s", name, strerror(errno));
  return false;
}

/* 0, or the reason why a file cannot be written. It is not created yet. */
static int check_file(const char *file) {
  char folder[PATH_MAX];
  struct stat status;
  const char *slash = strrchr(file, '/');
  const size_t length = slash ? (size_t)(slash - file) + 1 : 0;
  if (!stat(file, &status))
    return S_ISDIR(status.st_mode) ? EISDIR : access(file, W_OK) ? errno : 0;
  if (errno != ENOENT || length + sizeof "." > sizeof folder)
    return errno;
  memcpy(folder, file, length);
  memcpy(folder + length, ".", sizeof ".");
  return access(folder, W_OK | X_OK) ? errno : 0;
}

static bool check_devices(const char *list, char reason[GS_PARTS_REASON_BYTES]) {
  gs_part_t parts[GS_MOST_PARTS];
  const int count = gs_parts_parse(list, parts, reason);
  if (!count)
    snprintf(reason, GS_PARTS_REASON_BYTES, "names no device");
  return count > 0;
}

/* Whether gfxsim will take the value. */
static bool check_value(const gs_option_t *option, const char *value, char reason[GS_PARTS_REASON_BYTES]) {
  gs_options_t values;
  if (!gs_option_parse(option, value, &values, reason, GS_PARTS_REASON_BYTES))
    return false;
  if (option->offset == offsetof(gs_options_t, devices))
    return check_devices(value, reason);
  const int error = option->type == GS_OPTION_FILE ? check_file(value) : 0;
  if (error)
    snprintf(reason, GS_PARTS_REASON_BYTES, "cannot be written: %s", strerror(error));
  return !error;
}

/* ---- Words ---- */

/* The value behind the '=' if there has to be one; NULL, after a message, if it is wrong that there is one or
 * none. */
static const char *value_of(const char *word, size_t length, const char *argument) {
  const char *value = word[length] ? word + length + 1 : "";
  if (argument && !*value)
    run_complain("%.*s wants a value: %.*s=%s (try --help)", (int)length, word, (int)length, word, argument);
  else if (!argument && word[length])
    run_complain("%.*s takes no value (try --help)", (int)length, word);
  else
    return value;
  return NULL;
}

static run_next_t take_gfxsim_option(const gs_option_t *option, const char *word, size_t length) {
  char reason[GS_PARTS_REASON_BYTES];
  const bool flag = option->type == GS_OPTION_FLAG;
  const bool all = gs_option_is_list(option) && !word[length];
  const char *value = all ? "all" : value_of(word, length, flag ? NULL : option->argument);
  if (!value)
    return RUN_USAGE_ERROR;
  if (!flag && !check_value(option, value, reason)) {
    run_complain("%s: %s", word, reason);
    return RUN_USAGE_ERROR;
  }
  return set(option->name, flag ? option->argument : value) ? RUN_GO_ON : RUN_USAGE_ERROR;
}

static bool take_runtime(const char *which, run_options_t *options) {
  options->our_runtime = !strcmp(which, "ours");
  if (options->our_runtime || !strcmp(which, "stock"))
    return true;
  run_complain("--runtime=%s: it is ours or stock", which);
  return false;
}

static bool take_door(const char *which, run_options_t *options) {
  options->door = which;
  if (!strcmp(which, "thunk") || !strcmp(which, "kfd"))
    return true;
  run_complain("--door=%s: it is thunk or kfd", which);
  return false;
}

static run_next_t take_own_option(const own_option_t *option, const char *word, size_t length,
                                  run_options_t *options) {
  const char *value = value_of(word, length, option->argument);
  if (!value)
    return RUN_USAGE_ERROR;
  if (!strcmp(option->word, "--plugin"))
    options->plugin = value;
  if (!strcmp(option->word, "--runtime") && !take_runtime(value, options))
    return RUN_USAGE_ERROR;
  if (!strcmp(option->word, "--door") && !take_door(value, options))
    return RUN_USAGE_ERROR;
  for (int i = 0; i < 2 && option->sets[i].name; i++)
    if (!set(option->sets[i].name, option->sets[i].value))
      return RUN_USAGE_ERROR;
  options->print_environment |= !strcmp(option->word, "--print-environment");
  options->explain |= !strcmp(option->word, "--explain");
  if (!strcmp(option->word, "--help")) {
    print_help();
    return RUN_DONE;
  }
  if (!strcmp(option->word, "--list-devices")) {
    print_devices();
    return RUN_DONE;
  }
  if (!strcmp(option->word, "--version")) {
    puts("gfxsim-run " RUN_VERSION);
    return RUN_DONE;
  }
  return RUN_GO_ON;
}

static bool is_word(const char *word, size_t length, const char *option) {
  return strlen(option) == length && !memcmp(option, word, length);
}

static run_next_t take(const char *word, run_options_t *options) {
  if (!strcmp(word, "-h"))
    word = "--help";
  const size_t length = strcspn(word, "=");
  for (size_t i = 0; i < OWN_COUNT; i++)
    if (is_word(word, length, own_options[i].word))
      return take_own_option(&own_options[i], word, length, options);
  for (size_t i = 0; gs_option_at(i); i++)
    if (is_word(word, length, gs_option_at(i)->word))
      return take_gfxsim_option(gs_option_at(i), word, length);
  run_complain("unknown option: %s (try --help)", word);
  return RUN_USAGE_ERROR;
}

/* ---- Options that need others ---- */

static bool is_set_to(const char *name, const char *value) {
  const char *text = getenv(name);
  return text && !strcmp(text, value);
}

/* The machine, where a variable describes it (or an option, which has set it). -1 after a message if the list
 * is wrong: gfxsim would go on without a GPU. */
static int read_machine(gs_part_t parts[GS_MOST_PARTS]) {
  char reason[GS_PARTS_REASON_BYTES];
  const char *list = getenv("GFXSIM_DEVICES");
  const int count = list ? gs_parts_parse(list, parts, reason) : 0;
  if (count < 0)
    run_complain("GFXSIM_DEVICES=%s: %s", list, reason);
  return count;
}

static void list_with_xnack(char *text, size_t size) {
  const gs_profile_t *profile;
  *text = '\0';
  for (size_t i = 0; (profile = gs_profile_at(i)); i++)
    if (profile->xnack)
      snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "", profile->name);
}

/* With xnack asked for by an option, each device must have it. (Where variables say so, gfxsim does, and ROCr
 * goes on without.) */
static bool check_xnack(const char *word, const gs_part_t *parts, int count) {
  char able[256];
  for (int i = 0; i < count; i++)
    if (!parts[i].profile->xnack) {
      list_with_xnack(able, sizeof able);
      run_complain("%s has no effect with a %s, which cannot retry faults; those that can: %s", word,
                   parts[i].profile->name, able);
      return false;
    }
  return true;
}

/* What one option says about others, whatever their order; `words` are the options. */
static bool check_all(int count, char **words) {
  gs_part_t parts[GS_MOST_PARTS];
  const int devices = read_machine(parts);
  if (devices < 0)
    return false;
  for (int i = 0; i < count; i++) {
    if ((!strcmp(words[i], "--xnack") || !strcmp(words[i], "--usm")) &&
        !check_xnack(words[i], parts, devices))
      return false;
    if (!strncmp(words[i], "--kernel-us=", 12) && !is_set_to("GFXSIM_EXECUTE", "0")) {
      run_complain("%s has no effect without --no-execute: kernels that are executed take their time",
                   words[i]);
      return false;
    }
  }
  return true;
}

run_next_t run_options_parse(int argc, char **argv, run_options_t *options) {
  int index = 1;
  *options = (run_options_t){.plugin = "ours"};
  for (; index < argc && argv[index][0] == '-'; index++) {
    if (!strcmp(argv[index], "--")) {
      index++;
      break;
    }
    const run_next_t next = take(argv[index], options);
    if (next != RUN_GO_ON)
      return next;
  }
  options->program = index;
  if (!check_all(index - 1, argv + 1))
    return RUN_USAGE_ERROR;
  if (index < argc || options->print_environment)
    return RUN_GO_ON;
  run_complain("no program is named: gfxsim-run [option ...] program [argument ...] (try --help)");
  return RUN_USAGE_ERROR;
}
