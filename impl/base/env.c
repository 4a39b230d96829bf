/* Environment variables: the table, and reading it. doc/environment.md lists the same rows; a test compares
 * them. */
#include "base/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FIELD(name) offsetof(atmi_env_t, name)

static const atmi_env_row_t table[] = {
    {"LIBOMPTARGET_KERNEL_TRACE", ATMI_ENV_INTEGER, FIELD(kernel_trace), 0, -1, INT32_MAX, "bits",
     "classic 13-16",
     "one line per kernel launch; bits 2 and 8 send it to stdout instead of stderr; bit 4 adds devices at "
     "start-up and how each launch got its geometry; bit 16 adds scratch memory and accumulation registers"},
    {"LIBOMPTARGET_INFO", ATMI_ENV_INTEGER, FIELD(info), 0, -1, UINT32_MAX, "bits", "nextgen 16-18",
     "bit 0x10: two lines per kernel launch in the words of the nextgen plugins; the other bits are "
     "libomptarget's own; -1 sets all"},
    {"LIBOMPTARGET_DEBUG", ATMI_ENV_INTEGER, FIELD(debug), 0, 0, INT32_MAX, "", "debug builds only",
     "not 0: say on stderr why the plugin offers no device"},
    {"LIBOMPTARGET_DEVICE_RTL_DEBUG", ATMI_ENV_INTEGER, FIELD(device_rtl_debug), 0, 0, UINT32_MAX, "bits",
     "classic 13-16, nextgen 16-18", "debug word that the device runtime of the program reads"},
    {"LIBOMPTARGET_SHARED_MEMORY_SIZE", ATMI_ENV_INTEGER, FIELD(shared_memory_bytes), 0, 0, UINT32_MAX,
     "bytes", "classic 15-16, nextgen 16-18",
     "dynamic LDS of every workgroup; a launch that asks for more itself gets more"},
    {"LIBOMPTARGET_STACK_SIZE", ATMI_ENV_INTEGER, FIELD(stack_bytes), 16384, 0, 1 << 20, "bytes",
     "nextgen 18",
     "least scratch memory per thread of a kernel whose stack use the compiler could not bound"},
    {"LIBOMPTARGET_HEAP_SIZE", ATMI_ENV_INTEGER, FIELD(heap_bytes), INT64_C(1) << 29, 0, INT64_C(1) << 40,
     "bytes", "nextgen 18",
     "device memory set aside for malloc in the device code of clang 18, per program or library"},
    {"LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD", ATMI_ENV_INTEGER, FIELD(memory_manager_threshold), 8192, 0,
     INT64_MAX, "bytes", "nextgen 16-18",
     "freed device blocks up to this size are kept for reuse; 0 keeps none"},
    {"LIBOMPTARGET_AMDGPU_HOST_ABI", ATMI_ENV_INTEGER, FIELD(caller_abi), ATMI_ENV_UNSET, 13, 18, "", "none",
     "version of the libomptarget that opens the plugin, 13 to 18; found out by the plugin if unset"},
    {"OMPX_APU_MAPS", ATMI_ENV_INTEGER, FIELD(apu_maps), 0, 0, 1, "", "nextgen 18",
     "1: under libomptarget 18, GPUs with xnack use mapped host memory in place instead of copying it"},
    {"OMP_NUM_TEAMS", ATMI_ENV_INTEGER, FIELD(num_teams), ATMI_ENV_UNSET, 0, INT32_MAX, "teams",
     "classic 13-16, nextgen 17-18",
     "teams of a region without a num_teams clause: the default and the upper bound"},
    {"OMP_TEAM_LIMIT", ATMI_ENV_INTEGER, FIELD(team_limit), ATMI_ENV_UNSET, 0, INT32_MAX, "teams",
     "classic 13-16", "upper bound of the teams of a region without a num_teams clause"},
    {"OMP_TEAMS_THREAD_LIMIT", ATMI_ENV_INTEGER, FIELD(teams_thread_limit), ATMI_ENV_UNSET, 0, INT32_MAX,
     "threads", "nextgen 17-18",
     "upper bound of the threads per team of a region without a thread_limit clause"},
    {"OMP_MAX_TEAMS_DEFAULT", ATMI_ENV_INTEGER, FIELD(max_teams_default), ATMI_ENV_UNSET, 0, INT32_MAX,
     "teams", "classic 13-16",
     "teams of a region without a num_teams clause; wins over OMP_NUM_TEAMS as the default"},
    {"OMP_TARGET_TEAMS_PER_PROC", ATMI_ENV_INTEGER, FIELD(teams_per_proc), ATMI_ENV_UNSET, 1, INT32_MAX,
     "teams", "classic 13-16", "as LIBOMPTARGET_AMDGPU_TEAMS_PER_CU, which wins if both are set"},
    {"LIBOMPTARGET_AMDGPU_TEAMS_PER_CU", ATMI_ENV_INTEGER, FIELD(teams_per_cu), ATMI_ENV_UNSET, 1, INT32_MAX,
     "teams", "nextgen 16-18", "default number of teams, per compute unit; 4 if neither variable is set"},
    {"LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT", ATMI_ENV_INTEGER, FIELD(min_threads_low_trip),
     ATMI_ENV_UNSET, 1, 1024, "threads", "nextgen 17-18 (default 32)",
     "fewest threads per team when a loop with few iterations is spread over more teams; one wavefront if "
     "unset"},
    {"LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT", ATMI_ENV_INTEGER, FIELD(reuse_blocks), 1, 0, 1, "",
     "inside libomptarget 19 and later",
     "off: a loop with many iterations gets as many teams as it needs for one iteration per thread, not at "
     "most the default number of teams"},
    {"LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES", ATMI_ENV_INTEGER, FIELD(queue_count), 4, 1, 32, "queues",
     "nextgen 16-18", "most HSA queues per device; each is created when work is waiting in all others"},
    {"LIBOMPTARGET_AMDGPU_HSA_QUEUE_SIZE", ATMI_ENV_INTEGER, FIELD(queue_packets), 512, 64, 1 << 20,
     "packets", "nextgen 16-18", "length of a queue, rounded up to a power of two"},
    {"ATMI_MAX_HSA_QUEUE_SIZE", ATMI_ENV_INTEGER, FIELD(max_queue_packets), ATMI_ENV_UNSET, 64, 1 << 20,
     "packets", "classic 13", "upper bound of LIBOMPTARGET_AMDGPU_HSA_QUEUE_SIZE"},
    {"LIBOMPTARGET_AMDGPU_MAX_ASYNC_COPY_BYTES", ATMI_ENV_INTEGER, FIELD(max_staged_bytes), 1 << 20, 0,
     1 << 30, "bytes", "nextgen 16-18",
     "smaller copies go through recycled pinned buffers; for others the user's pages are locked"},
    {"LIBOMPTARGET_AMDGPU_KEEP_PINNED", ATMI_ENV_INTEGER, FIELD(keep_pinned_ms), 10000, 0, INT32_MAX,
     "milliseconds", "none",
     "mapped host memory stays pinned so long after its last copy that locked pages; 0: each copy pins, as "
     "with the stock plugins"},
    {"LIBOMPTARGET_AMDGPU_STREAM_BUSYWAIT", ATMI_ENV_INTEGER, FIELD(busy_wait_us), 1000, 0, INT32_MAX,
     "microseconds", "nextgen 17-18 (default 2000000)",
     "how long a waiting host thread looks itself, giving way to others, before it sleeps until an "
     "interrupt"},
    {"LIBOMPTARGET_AMDGPU_FAULT_PATIENCE", ATMI_ENV_INTEGER, FIELD(fault_patience_s), 20, 0, 1 << 20,
     "seconds", "none",
     "how long a device may leave a question unanswered when ROCr no longer reports memory faults, before it "
     "is given up; 0: for ever"},
    {"LIBOMPTARGET_AMDGPU_MANGLED_NAMES", ATMI_ENV_INTEGER, FIELD(mangled_names), 0, 0, 1, "", "none",
     "1: messages and the timeline call kernels as the image does, instead of \"target region in main at "
     "line 12\""},
    {"LIBOMPTARGET_AMDGPU_RPC_VERSION", ATMI_ENV_INTEGER, FIELD(rpc_version), 0, 0, 18, "", "none",
     "17 or 18: protocol in which device code calls its host, if the plugin takes it for the wrong one; 0: "
     "as the image looks. Images of 20 and later are never mistaken"},
    {"LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS", ATMI_ENV_INTEGER, FIELD(lock_mapped), 0, 0, ATMI_ENV_MANDATORY,
     "", "nextgen 17-18",
     "on: host memory is pinned for as long as it is mapped; mandatory (2): and mapping fails if it cannot "
     "be pinned. For libomptarget 17 and later, which say what is mapped, and the host runtime"},
    {"LIBOMPTARGET_AMDGPU_TIMELINE", ATMI_ENV_FILE, FIELD(timeline), ATMI_ENV_UNSET, 0, 0, "", "none",
     "file for a timeline of kernels, copies, allocations and waits, to be read with Perfetto or "
     "chrome://tracing; %p in its name becomes the process id"},
    {"LIBOMPTARGET_AMDGPU_NUM_INITIAL_HSA_SIGNALS", ATMI_ENV_IGNORED, 0, 0, 0, 0, "", "nextgen 16-18",
     "accepted without effect: signals are made on first use"},
    {"LIBOMPTARGET_AMDGPU_HSA_QUEUE_BUSY_TRACKING", ATMI_ENV_IGNORED, 0, 0, 0, 0, "", "nextgen 18",
     "accepted without effect: idle queues are always preferred"},
    {"LIBOMPTARGET_AMDGPU_USE_MULTIPLE_SDMA_ENGINES", ATMI_ENV_IGNORED, 0, 0, 0, 0, "", "nextgen 18",
     "accepted without effect"},
};

enum { ROWS = sizeof table / sizeof *table };

const atmi_env_row_t *atmi_env_table(size_t *count) {
  *count = ROWS;
  return table;
}

static bool parse_word(const char *text, int64_t *value) {
  static const struct {
    const char *word;
    int64_t value;
  } words[] = {{"true", 1}, {"on", 1}, {"false", 0}, {"off", 0}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcasecmp(text, words[i].word))
      continue;
    *value = words[i].value;
    return true;
  }
  return false;
}

bool atmi_env_parse(const atmi_env_row_t *row, const char *text, int64_t *value, const char **reason) {
  int64_t result;
  if (row->most == ATMI_ENV_MANDATORY && !strcasecmp(text, "mandatory")) {
    result = ATMI_ENV_MANDATORY;
  } else if (!parse_word(text, &result)) {
    char *end;
    errno = 0;
    result = strtoll(text, &end, strncasecmp(text, "0x", 2) ? 10 : 16);
    if (end == text || *end) {
      *reason = "it is no number";
      return false;
    }
    if (errno) {
      *reason = "it is too large";
      return false;
    }
  }
  if (result < row->least || result > row->most) {
    *reason = result < row->least ? "it is too small" : "it is too large";
    return false;
  }
  *value = result;
  return true;
}

/* Levenshtein distance, for names of at most 63 characters; longer ones count as far apart. */
static size_t edit_distance(const char *left, size_t left_length, const char *right) {
  enum { LONGEST = 64 };
  size_t right_length = strlen(right), row[LONGEST];
  if (right_length >= LONGEST)
    return SIZE_MAX;
  for (size_t j = 0; j <= right_length; j++)
    row[j] = j;
  for (size_t i = 1; i <= left_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right_length; j++) {
      size_t replaced = diagonal + (left[i - 1] != right[j - 1]);
      diagonal = row[j];
      size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = replaced < shorter ? replaced : shorter;
    }
  }
  return row[right_length];
}

static void warn_unknown(const char *name, size_t length) {
  const atmi_env_row_t *nearest = NULL;
  size_t distance = 8; /* farther than this is no misspelling */
  for (size_t i = 0; i < ROWS; i++) {
    size_t d = edit_distance(name, length, table[i].name);
    if (d < distance) {
      distance = d;
      nearest = &table[i];
    }
  }
  if (nearest)
    atmi_warn(NULL, "environment variable %.*s is not known and has no effect; did you mean %s?", (int)length,
              name, nearest->name);
  else
    atmi_warn(NULL, "environment variable %.*s is not known and has no effect", (int)length, name);
}

static const atmi_env_row_t *find_row(const char *name, size_t length) {
  for (size_t i = 0; i < ROWS; i++)
    if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
      return &table[i];
  return NULL;
}

static int64_t *field_of(atmi_env_t *env, const atmi_env_row_t *row) {
  return (int64_t *)(void *)((char *)env + row->field);
}

static const char **file_of(atmi_env_t *env, const atmi_env_row_t *row) {
  return (const char **)(void *)((char *)env + row->field);
}

/* Users of a program that has other rights than they (set-user-id, set-group-id, capabilities) must not
 * choose what it writes to. */
const char *atmi_env_file(const char *name, const char *text) {
  if (!text || !*text)
    return NULL;
  if (!getauxval(AT_SECURE))
    return text;
  atmi_warn(NULL, "environment variable %s is ignored: this program runs with other rights than its user's",
            name);
  return NULL;
}

void atmi_env_load(char *const *environment, atmi_env_t *env) {
  static const char family[] = "LIBOMPTARGET_AMDGPU_";
  for (size_t i = 0; i < ROWS; i++)
    if (table[i].type == ATMI_ENV_INTEGER)
      *field_of(env, &table[i]) = table[i].initial;
    else if (table[i].type == ATMI_ENV_FILE)
      *file_of(env, &table[i]) = NULL;
  for (; *environment; environment++) {
    size_t length = strcspn(*environment, "=");
    const atmi_env_row_t *row = find_row(*environment, length);
    if (!row && !strncmp(*environment, family, sizeof family - 1))
      warn_unknown(*environment, length);
    if (!row || row->type == ATMI_ENV_IGNORED || (*environment)[length] != '=')
      continue;
    const char *text = *environment + length + 1, *reason;
    if (row->type == ATMI_ENV_FILE)
      *file_of(env, row) = atmi_env_file(row->name, text);
    else if (*text && !atmi_env_parse(row, text, field_of(env, row), &reason))
      atmi_warn(NULL, "environment variable %s is ignored: \"%s\" cannot be used, %s (%lld to %lld)",
                row->name, text, reason, (long long)row->least, (long long)row->most);
  }
}
