/* The table of options, and its parser. */
#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

extern char **environ;

enum { TEXT_BYTES = sizeof((gs_options_t *)NULL)->trace };
_Static_assert(sizeof((gs_options_t *)NULL)->devices == TEXT_BYTES, "all texts have the same room");

#define MEMBER(m) offsetof(gs_options_t, m)

static const gs_option_t option_table[] = {
    {"GFXSIM_DEVICES", "--devices", "LIST", GS_OPTION_TEXT, MEMBER(devices), "gfx90a", 0, 0,
     "GPUs of the machine, comma-separated: a profile name each, with :<size> for another memory size "
     "(gfx90a:8G)"},
    {"GFXSIM_CUS", "--cus", "N", GS_OPTION_NUMBER, MEMBER(cus), "0", 0, 1024,
     "compute units per GPU; 0 = as many as the profile has"},
    {"GFXSIM_WORKERS", "--workers", "N", GS_OPTION_NUMBER, MEMBER(workers), "0", 0, 1024,
     "host threads that execute kernels; 0 = one per online processor"},
    {"GFXSIM_DETERMINISTIC", "--deterministic", "1", GS_OPTION_FLAG, MEMBER(deterministic), "0", 0, 1,
     "one worker and a fixed schedule of waves, so that a run repeats"},
    {"GFXSIM_EXECUTE", "--no-execute", "0", GS_OPTION_FLAG, MEMBER(execute), "1", 0, 1,
     "the program's kernels complete without being executed (their results are missing)"},
    {"GFXSIM_KERNEL_US", "--kernel-us", "N", GS_OPTION_NUMBER, MEMBER(kernel_us), "0", 0, 1000000,
     "microseconds that a kernel takes which is not executed"},
    {"GFXSIM_COPY_US", "--copy-us", "N", GS_OPTION_NUMBER, MEMBER(copy_us), "0", 0, 1000000,
     "microseconds that a copy of the DMA engine takes at least, as if the link were slow"},
    {"GFXSIM_HOST_VISIBLE", "--host-visible", "1", GS_OPTION_FLAG, MEMBER(host_visible), "0", 0, 1,
     "the host can access device memory directly, as on a card with a large BAR"},
    {"GFXSIM_SVM", "--svm", "1", GS_OPTION_FLAG, MEMBER(svm), "0", 0, 1,
     "the driver has attributes of shared virtual memory: HIP's managed memory; for ROCr with its thunk "
     "inside, "
     "or --door=kfd"},
    {"GFXSIM_PCIE_ATOMICS", "--no-pcie-atomics", "0", GS_OPTION_FLAG, MEMBER(pcie_atomics), "1", 0, 1,
     "the links have no atomics: devices count signals down by a load and a later store, as firmware may"},
    {"GFXSIM_NUMA", "--numa", "1", GS_OPTION_FLAG, MEMBER(numa), "0", 0, 1,
     "two CPU nodes with half the memory each; GPUs 1, 3, ... are near the second"},
    {"GFXSIM_SHARED", "--shared", "FILE", GS_OPTION_FILE, MEMBER(shared), "", 0, 0,
     "file by which processes are on one machine: what one holds of a card's memory, the others lack"},
    {"GFXSIM_TRANSLATE", "--translate", "WHEN", GS_OPTION_TRANSLATE, MEMBER(translate), "auto", 0, 0,
     "which code is translated to host code, on x86-64 with AVX2: auto = what runs often, always, or never"},
    {"GFXSIM_STUCK", "--stuck", "S", GS_OPTION_NUMBER, MEMBER(stuck), "60", 0, 1000000,
     "seconds behind which stderr says, once per GPU, where a kernel is that has not ended; 0 = never"},
    {"GFXSIM_STATS", "--stats", "1", GS_OPTION_FLAG, MEMBER(stats), "0", 0, 1,
     "print counters of each kernel at exit, and what the run would cost on a card"},
    {"GFXSIM_TRACE", "--trace", "FILE", GS_OPTION_FILE, MEMBER(trace), "", 0, 0,
     "file that receives a trace of all instructions; further GPUs write to file.1, file.2, ..."},
    {"GFXSIM_STRICT", "--strict", "LIST", GS_OPTION_MODES, MEMBER(strict), "", 0, 0,
     "be as unlucky as a card may be, in all ways or in those of the list: poison, order, schedule, links, "
     "driver, wait"},
    {"GFXSIM_STRICT_SEED", "--strict-seed", "N", GS_OPTION_NUMBER, MEMBER(strict_seed), "1", 0, UINT32_MAX,
     "what chance decides there: the same number, the same decisions"},
    {"GFXSIM_CHECK", "--check", "LIST", GS_OPTION_TOOLS, MEMBER(check), "", 0, 0,
     "look for errors of the program in its kernels, with all tools or those of the list: bounds, cache, "
     "init, race, transfer, wait"},
    {"GFXSIM_CHECK_LOG", "--check-log", "FILE", GS_OPTION_FILE, MEMBER(check_log), "", 0, 0,
     "file that receives what --check finds; none = stderr"},
    {"GFXSIM_CHECK_SARIF", "--check-sarif", "FILE", GS_OPTION_FILE, MEMBER(check_sarif), "", 0, 0,
     "file that receives the same as SARIF 2.1.0; none = nothing does"},
    {"GFXSIM_CHECK_SUPPRESSIONS", "--check-suppressions", "FILE", GS_OPTION_TEXT, MEMBER(check_suppressions),
     "", 0, 0,
     "file that says which findings of --check are not told of, beside what is known of device runtimes"},
    {"GFXSIM_CHECK_RUNTIMES", "--check-runtimes", "1", GS_OPTION_FLAG, MEMBER(check_runtimes), "0", 0, 1,
     "tell also of what is known of OpenMP's device runtimes and of their compilers"},
    {"GFXSIM_CHECK_GEN_SUPPRESSIONS", "--check-gen-suppressions", "1", GS_OPTION_FLAG, MEMBER(check_generate),
     "0", 0, 1, "print behind each finding what would suppress it"},
    {"GFXSIM_CHECK_MOST", "--check-most", "N", GS_OPTION_NUMBER, MEMBER(check_most), "100", 0, 1000,
     "so many findings are printed in full; the summary lists them all"},
    {"GFXSIM_CHECK_FAIL", "--check-fail", "1", GS_OPTION_FLAG, MEMBER(check_fail), "0", 0, 1,
     "the program ends with status 99 if --check found errors"},
};

enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

static const char prefix[] = "GFXSIM_";

const gs_check_tool_t gs_check_tools[] = {{"bounds", GS_CHECK_BOUNDS},
                                          {"cache", GS_CHECK_CACHE},
                                          {"init", GS_CHECK_INIT},
                                          {"race", GS_CHECK_RACE},
                                          {"transfer", GS_CHECK_TRANSFER},
                                          {"wait", GS_CHECK_WAIT},
                                          {NULL, 0}};

const gs_option_t *gs_option_at(size_t i) {
  return i < OPTION_COUNT ? &option_table[i] : NULL;
}

/* The variable's value or NULL. Users of a program that has other rights than they (set-user-id,
 * set-group-id, capabilities) must not choose what it writes to. */
static const char *value_of(const gs_option_t *option) {
  const char *value = getenv(option->name);
  if (!value || option->type != GS_OPTION_FILE || secure_getenv(option->name))
    return value;
  gs_log("%s is ignored: this program runs with other rights than its user's", option->name);
  return NULL;
}

static bool parse_text(const char *value, char member[TEXT_BYTES], char *reason, size_t reason_bytes) {
  const size_t bytes = strlen(value) + 1;
  if (bytes > TEXT_BYTES) {
    snprintf(reason, reason_bytes, "longer than %d characters", TEXT_BYTES - 1);
    return false;
  }
  memcpy(member, value, bytes);
  return true;
}

static uint32_t all_tools(void) {
  uint32_t all = 0;
  for (const gs_check_tool_t *tool = gs_check_tools; tool->name; tool++)
    all |= tool->bit;
  return all;
}

void gs_check_tools_text(uint32_t tools, char *text, size_t size) {
  *text = '\0';
  for (const gs_check_tool_t *tool = gs_check_tools; tool->name; tool++)
    if (tools & tool->bit) {
      const size_t length = strlen(text);
      snprintf(text + length, size - length, "%s%s", length ? "," : "", tool->name);
    }
}

bool gs_check_tools_are_all(uint32_t tools) {
  return tools == all_tools();
}

/* The tool that the first `length` characters name, or all; 0 if none. */
static uint32_t find_tools(const char *name, size_t length) {
  uint32_t found = 0;
  for (const gs_check_tool_t *tool = gs_check_tools; tool->name; tool++)
    if (strlen(tool->name) == length && memcmp(tool->name, name, length) == 0)
      found = tool->bit;
  return length == 3 && memcmp(name, "all", length) == 0 ? all_tools() : found;
}

static void complain_of_tool(const char *name, size_t length, char *reason, size_t reason_bytes) {
  size_t end = (size_t)snprintf(reason, reason_bytes, "%.*s is no tool; there is",
                                length > 20 ? 20 : (int)length, name);
  for (const gs_check_tool_t *tool = gs_check_tools; tool->name && end < reason_bytes; tool++)
    end += (size_t)snprintf(reason + end, reason_bytes - end, "%s %s", tool == gs_check_tools ? "" : ",",
                            tool->name);
}

/* A comma-separated list of tools; empty = none. */
static bool parse_tools(const char *value, uint32_t *tools, char *reason, size_t reason_bytes) {
  uint32_t chosen = 0;
  while (*value) {
    const size_t length = strcspn(value, ",");
    const uint32_t found = find_tools(value, length);
    if (!found) {
      complain_of_tool(value, length, reason, reason_bytes);
      return false;
    }
    chosen |= found;
    value += length + (value[length] == ',');
  }
  *tools = chosen;
  return true;
}

static bool parse_translate(const char *value, uint32_t *when, char *reason, size_t reason_bytes) {
  static const char *const words[] = {
      [GS_TRANSLATE_AUTO] = "auto", [GS_TRANSLATE_ALWAYS] = "always", [GS_TRANSLATE_NEVER] = "never"};
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], value) == 0) {
      *when = i;
      return true;
    }
  snprintf(reason, reason_bytes, "not auto, always or never");
  return false;
}

bool gs_option_parse(const gs_option_t *option, const char *value, gs_options_t *options, char *reason,
                     size_t reason_bytes) {
  void *member = (char *)options + option->offset;
  if (option->type == GS_OPTION_TEXT || option->type == GS_OPTION_FILE)
    return parse_text(value, member, reason, reason_bytes);
  if (option->type == GS_OPTION_MODES)
    return gs_strict_parse(value, member, reason, reason_bytes);
  if (option->type == GS_OPTION_TOOLS)
    return parse_tools(value, member, reason, reason_bytes);
  if (option->type == GS_OPTION_TRANSLATE)
    return parse_translate(value, member, reason, reason_bytes);
  /* strtoul alone would take "-1", " 5" and the empty text. */
  char *end = NULL;
  errno = 0;
  const unsigned long number = *value >= '0' && *value <= '9' ? strtoul(value, &end, 10) : 0;
  if (!end || errno || *end || number < option->minimum || number > option->maximum) {
    snprintf(reason, reason_bytes, "not a number from %u to %u", option->minimum, option->maximum);
    return false;
  }
  if (option->type == GS_OPTION_FLAG)
    *(bool *)member = number != 0;
  else
    *(uint32_t *)member = (uint32_t)number;
  return true;
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
  char reason[GS_STRICT_REASON_BYTES];
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const gs_option_t *option = &option_table[i];
    if (!gs_option_parse(option, option->standard, options, reason, sizeof reason))
      gs_log("%s: the default \"%s\" is %s", option->name, option->standard, reason);
    const char *value = value_of(option);
    if (value && !gs_option_parse(option, value, options, reason, sizeof reason))
      gs_log("%s=%s: %s; using %s", option->name, value, reason,
             *option->standard ? option->standard : "none");
  }
  gs_strict_choose(&options->strict, options->strict_seed);
  report_unknown_names();
}
