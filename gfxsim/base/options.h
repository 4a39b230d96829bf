/* The options of gfxsim as one table: the environment variable, the option of gfxsim-run that sets it, type,
 * default, meaning. The library reads the variables, once per context; gfxsim-run its command line; tests
 * compare the table with doc/gfxsim.md and the manual page. Not here: what the options do. */
#ifndef GFXSIM_BASE_OPTIONS_H
#define GFXSIM_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strict.h"

/* Tools of the checker. */
enum {
  GS_CHECK_BOUNDS = 1 << 0,
  GS_CHECK_RACE = 1 << 1,
  GS_CHECK_INIT = 1 << 2,
  GS_CHECK_CACHE = 1 << 3,
  GS_CHECK_WAIT = 1 << 4,
  GS_CHECK_TRANSFER = 1 << 5,
};

/* Values of GFXSIM_TRANSLATE. */
enum { GS_TRANSLATE_AUTO, GS_TRANSLATE_ALWAYS, GS_TRANSLATE_NEVER };

typedef struct gs_check_tool {
  const char *name; /* of the last, NULL */
  uint32_t bit;     /* GS_CHECK_* */
} gs_check_tool_t;
extern const gs_check_tool_t gs_check_tools[];

/* "bounds,race": the names of the tools of a set, GS_CHECK_*. */
void gs_check_tools_text(uint32_t tools, char *text, size_t size);
/* Whether the set has all that there are. */
bool gs_check_tools_are_all(uint32_t tools);

/* Values of all options. Plain data; copied into the context that was created with it. */
typedef struct gs_options {
  char devices[256];  /* GFXSIM_DEVICES: comma-separated profiles, e.g. "gfx90a" */
  uint32_t cus;       /* GFXSIM_CUS: compute units per device, 0 = the profile's own number */
  uint32_t workers;   /* GFXSIM_WORKERS: host threads that execute kernels, 0 = one per online processor */
  bool deterministic; /* GFXSIM_DETERMINISTIC: one worker, fixed schedule */
  bool execute;       /* GFXSIM_EXECUTE: 0 = packets complete but the program's kernels do not run */
  uint32_t kernel_us; /* GFXSIM_KERNEL_US: how long a kernel takes that is not executed, in microseconds */
  uint32_t copy_us;   /* GFXSIM_COPY_US: how long a copy of the DMA engine takes at least, in microseconds */
  bool host_visible;  /* GFXSIM_HOST_VISIBLE: the host can access device memory (large BAR) */
  bool svm;           /* GFXSIM_SVM: attributes of the program's memory, as the driver has with HMM */
  bool pcie_atomics;  /* GFXSIM_PCIE_ATOMICS: devices count the host's signals down in one step */
  bool numa;          /* GFXSIM_NUMA: two CPU nodes, every other GPU near the second */
  char shared[256]; /* GFXSIM_SHARED: file by which processes share the machine's memory, empty = they do not
                     */
  uint32_t translate;    /* GFXSIM_TRANSLATE: GS_TRANSLATE_*, which kernels run as host code */
  uint32_t stuck;        /* GFXSIM_STUCK: seconds behind which a kernel's waves are told of, 0 = never */
  bool stats;            /* GFXSIM_STATS: counters per kernel at exit, and costs */
  char trace[256];       /* GFXSIM_TRACE: file for an instruction trace, empty = none */
  gs_strict_t strict;    /* GFXSIM_STRICT: where to be as unlucky as a card may be, as the seed chose */
  uint32_t strict_seed;  /* GFXSIM_STRICT_SEED: what chance decides there */
  uint32_t check;        /* GFXSIM_CHECK: GS_CHECK_*, what is checked */
  char check_log[256];   /* GFXSIM_CHECK_LOG: file for findings, empty = stderr */
  char check_sarif[256]; /* GFXSIM_CHECK_SARIF: another, as SARIF; empty = none */
  char check_suppressions[256]; /* GFXSIM_CHECK_SUPPRESSIONS: file with those that are not told, or empty */
  bool check_runtimes;          /* GFXSIM_CHECK_RUNTIMES: what is known of device runtimes is told, too */
  bool check_generate;          /* GFXSIM_CHECK_GEN_SUPPRESSIONS: one is printed behind each finding */
  uint32_t check_most;          /* GFXSIM_CHECK_MOST: so many findings are printed in full */
  bool check_fail;              /* GFXSIM_CHECK_FAIL: the process ends with status 99 if there are errors */
} gs_options_t;

typedef enum gs_option_type {
  GS_OPTION_TEXT,
  GS_OPTION_FILE, /* a text: the name of a file to write */
  GS_OPTION_NUMBER,
  GS_OPTION_FLAG,      /* 0 or 1 */
  GS_OPTION_TRANSLATE, /* auto, always or never */
  GS_OPTION_MODES,     /* see gs_strict_parse; gfxsim-run's option alone means "all" */
  GS_OPTION_TOOLS,     /* names of the checker's tools, or "all"; gfxsim-run's option alone means that */
} gs_option_type_t;

/* One option. Immutable. */
typedef struct gs_option {
  const char *name; /* of the variable */
  const char *word; /* gfxsim-run's option: "--cus" */
  const char
      *argument; /* what the option's value is called, "N"; of flags, the value that the option stands for */
  gs_option_type_t type;
  size_t offset;             /* of the member of gs_options_t */
  const char *standard;      /* the default as a user would write it; "" for none */
  uint32_t minimum, maximum; /* of numbers */
  const char *help;          /* of flags, what `argument` means */
} gs_option_t;

/* Whether its value is a list of words, which gfxsim-run's option may leave out. */
static inline bool gs_option_is_list(const gs_option_t *option) {
  return option->type == GS_OPTION_MODES || option->type == GS_OPTION_TOOLS;
}

/* The i-th option, or NULL past the end. */
const gs_option_t *gs_option_at(size_t i);

/* Stores `value` into its member of `options`. False, with the reason in `reason`, if it is no value of this
 * option. */
bool gs_option_parse(const gs_option_t *option, const char *value, gs_options_t *options, char *reason,
                     size_t reason_bytes);

/* Fills `options` with the defaults and then with what the environment says. A value that does not parse or
 * is out of range, an unknown GFXSIM_ variable, and the name of a file in a program that has other rights
 * than its user (set-user-id) is reported on stderr once and ignored. Not thread-safe against setenv. */
void gs_options_load(gs_options_t *options);

#endif
