/* The table of GFXSIM_* variables, and its parser. */
#include "base/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

extern char **environ;

typedef enum option_type {
  OPTION_TEXT,
  OPTION_FILE, /* a text */
  OPTION_NUMBER,
  OPTION_FLAG,
} option_type_t;

enum { TEXT_BYTES = sizeof((gs_options_t *)NULL)->trace };
_Static_assert(sizeof((gs_options_t *)NULL)->devices == TEXT_BYTES, "all texts have the same room");

/* One variable. `standard` is its default in the form in which a user would write it. */
typedef struct option {
  const char *name;
  option_type_t type;
  size_t offset; /* of the member of gs_options_t */
  const char *standard;
  uint32_t minimum, maximum; /* of numbers */
  const char *help;
} option_t;

#define MEMBER(m) offsetof(gs_options_t, m)

static const option_t option_table[] = {
    {"GFXSIM_DEVICES", OPTION_TEXT, MEMBER(devices), "gfx90a", 0, 0,
     "GPUs of the machine, comma-separated: a profile name each, with :<size> for another memory size "
     "(gfx90a:8G)"},
    {"GFXSIM_CUS", OPTION_NUMBER, MEMBER(cus), "0", 0, 1024,
     "compute units per GPU; 0 = as many as the profile has"},
    {"GFXSIM_WORKERS", OPTION_NUMBER, MEMBER(workers), "0", 0, 1024,
     "host threads that execute kernels; 0 = one per online processor"},
    {"GFXSIM_DETERMINISTIC", OPTION_FLAG, MEMBER(deterministic), "0", 0, 1,
     "1 = one worker and a fixed schedule of waves, so that a run repeats"},
    {"GFXSIM_EXECUTE", OPTION_FLAG, MEMBER(execute), "1", 0, 1,
     "0 = the program's kernels complete without being executed (their results are missing)"},
    {"GFXSIM_KERNEL_US", OPTION_NUMBER, MEMBER(kernel_us), "0", 0, 1000000,
     "microseconds that a kernel takes which is not executed"},
    {"GFXSIM_HOST_VISIBLE", OPTION_FLAG, MEMBER(host_visible), "0", 0, 1,
     "1 = the host can access device memory directly, as on a card with a large BAR"},
    {"GFXSIM_STATS", OPTION_FLAG, MEMBER(stats), "0", 0, 1, "1 = print counters of each kernel at exit"},
    {"GFXSIM_TRACE", OPTION_FILE, MEMBER(trace), "", 0, 0,
     "file that receives a trace of all instructions; further GPUs write to file.1, file.2, ..."},
};

enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

static const char prefix[] = "GFXSIM_";

static bool is_text(const option_t *option) {
  return option->type == OPTION_TEXT || option->type == OPTION_FILE;
}

/* The variable's value or NULL. Users of a program that has other rights than they (set-user-id,
 * set-group-id, capabilities) must not choose what it writes to. */
static const char *value_of(const option_t *option) {
  const char *value = getenv(option->name);
  if (!value || option->type != OPTION_FILE || secure_getenv(option->name))
    return value;
  gs_log("%s is ignored: this program runs with other rights than its user's", option->name);
  return NULL;
}

/* Stores `value` into its member. Returns 0, or -1 when the text is not a value of this option. */
static int option_parse(const option_t *option, const char *value, gs_options_t *options) {
  void *member = (char *)options + option->offset;
  if (is_text(option)) {
    if (strlen(value) >= TEXT_BYTES)
      return -1;
    strcpy(member, value);
    return 0;
  }
  /* strtoul alone would take "-1", " 5" and the empty text. */
  if (*value < '0' || *value > '9')
    return -1;
  char *end = NULL;
  errno = 0;
  const unsigned long number = strtoul(value, &end, 10);
  if (errno || *end || number < option->minimum || number > option->maximum)
    return -1;
  if (option->type == OPTION_FLAG)
    *(bool *)member = number != 0;
  else
    *(uint32_t *)member = (uint32_t)number;
  return 0;
}

static void report_bad_value(const option_t *option, const char *value) {
  if (is_text(option))
    gs_log("%s: the value has more than %d characters; using \"%s\"", option->name, TEXT_BYTES - 1,
           option->standard);
  else
    gs_log("%s=%s: not a number from %u to %u; using %s", option->name, value, option->minimum,
           option->maximum, option->standard);
}

static bool is_known(const char *name, size_t length) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (strlen(option_table[i].name) == length && memcmp(option_table[i].name, name, length) == 0)
      return true;
  return false;
}

static void report_unknown_names(void) {
  for (char **entry = environ; entry && *entry; entry++) {
    const size_t length = strcspn(*entry, "=");
    if (strncmp(*entry, prefix, sizeof prefix - 1) == 0 && !is_known(*entry, length))
      gs_log("%.*s: no such option; ignored", (int)length, *entry);
  }
}

void gs_options_load(gs_options_t *options) {
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const option_t *option = &option_table[i];
    if (option_parse(option, option->standard, options))
      gs_log("%s: the default \"%s\" is out of range", option->name, option->standard);
    const char *value = value_of(option);
    if (value && option_parse(option, value, options))
      report_bad_value(option, value);
  }
  report_unknown_names();
}

void gs_options_print_help(FILE *out) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    fprintf(out, "%-21s (default %s) %s\n", option_table[i].name,
            *option_table[i].standard ? option_table[i].standard : "none", option_table[i].help);
}
