/* An OMPT tool and a program for it: what the tool is told of devices is printed, with names for addresses,
 * and compared with a list. The argument of the environment variable TOOL: "plain", "emi", "both", or "none".
 */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what OpenMP's header for tools says, as far as it is needed ---- */

typedef union data {
  uint64_t value;
  void *pointer;
} data_t;
typedef void function_t(void);
typedef function_t *lookup_t(const char *name);
typedef struct start {
  int (*initialize)(lookup_t *lookup, int initial_device, data_t *tool);
  void (*finalize)(data_t *tool);
  data_t tool;
} start_t;
start_t *ompt_start_tool(unsigned version, const char *runtime);

enum { BEGIN = 1, END = 2, ALLOCATE = 1, DELETE = 4 };
static const char *const kinds[16] = {
    [1] = "target",        [2] = "enter data",         [3] = "exit data",         [4] = "update",
    [9] = "target nowait", [10] = "enter data nowait", [11] = "exit data nowait", [12] = "update nowait"};
static const char *const operations[] = {"none",   "allocate",  "to device",   "from device",
                                         "delete", "associate", "disassociate"};
static const char *const scopes[] = {"none", "begins", "ends"};

/* ---- names ---- */

static int a[16], b[16], c[16], whole[16];
static struct {
  char *begin;
  size_t bytes;
} memories[64];
static int memory_count;

/* The host's arrays by their names, the device's memory by its number. */
static const char *name_of(const void *address, char text[32]) {
  static const struct {
    int *begin;
    const char *name;
  } arrays[] = {{a, "a"}, {b, "b"}, {c, "c"}, {whole, "whole"}};
  const char *at = address;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    if (at >= (const char *)arrays[i].begin && at < (const char *)(arrays[i].begin + 16))
      return arrays[i].name;
  for (int i = memory_count; i-- > 0;)
    if (at >= memories[i].begin && at < memories[i].begin + memories[i].bytes) {
      snprintf(text, 32, "memory %d", i + 1);
      return text;
    }
  return at ? "other" : "nothing";
}

/* Whether the program called from there. */
extern const char __executable_start, etext;
static const char *place(const void *code) {
  const char *at = code;
  return at >= &__executable_start && at < &etext ? "the program" : at ? "elsewhere" : "nowhere";
}

/* ---- callbacks ---- */

static uint64_t ids;
static int device_count;

static const char *where(int device) {
  return device == device_count ? "host" : device < 0 ? "none" : "device";
}

static void initialized(int device, const char *type, void *object, lookup_t *lookup, const char *text) {
  (void)text;
  device_count = 1;
  printf("initialize %d, type %s, %s, %s\n", device, strncmp(type, "gfx", 3) ? "unknown" : "gfx",
         object ? "object" : "no object", lookup ? "traces" : "no traces");
}

static void finalized(int device) {
  printf("finalize %d\n", device);
}

static void loaded(int device, const char *file, int64_t offset, void *address, size_t bytes, void *host,
                   void *memory, uint64_t module) {
  (void)address, (void)memory;
  printf("load %d, %s at %d, %s, %s, module %d\n", device, file ? file : "no file", (int)offset,
         bytes > 100 ? "bytes" : "no bytes", host ? "image" : "no image", (int)module);
}

static void unloaded(int device, uint64_t module) {
  printf("unload %d, module %d\n", device, (int)module);
}

static void target(int kind, int scope, int device, data_t *task, uint64_t id, const void *code) {
  (void)task;
  printf("%s %s on %d, %s, from %s\n", kinds[kind], scopes[scope], device, id ? "id" : "no id", place(code));
}

static void target_emi(int kind, int scope, int device, data_t *task, data_t *target_task, data_t *data,
                       const void *code) {
  (void)task, (void)target_task;
  if (scope == BEGIN)
    data->value = data->value ? 999 : ++ids;
  printf("%s %d %s on %d, from %s\n", kinds[kind], (int)data->value, scopes[scope], device, place(code));
}

static void note_memory(int scope, int kind, const void *to, size_t bytes) {
  if (scope == END && kind == ALLOCATE) {
    memories[memory_count].begin = (char *)to;
    memories[memory_count++].bytes = bytes;
  }
}

static void data_op(uint64_t target_id, uint64_t id, int kind, void *from, int from_device, void *to,
                    int to_device, size_t bytes, const void *code) {
  char text[2][32];
  note_memory(END, kind, to, bytes);
  printf("  %s %s (%s) to %s (%s), %zu bytes, %s, %s, from %s\n", operations[kind], name_of(from, text[0]),
         where(from_device), name_of(to, text[1]), where(to_device), bytes, target_id ? "in one" : "alone",
         id ? "id" : "no id", place(code));
}

static void data_op_emi(int scope, data_t *target_task, data_t *data, uint64_t *id, int kind, void *from,
                        int from_device, void *to, int to_device, size_t bytes, const void *code) {
  (void)target_task;
  char text[2][32];
  if (scope == BEGIN)
    *id = ++ids;
  note_memory(scope, kind, to, bytes);
  printf("  %s %d %s, in %d: %s (%s) to %s (%s), %zu bytes, from %s\n", operations[kind], (int)*id,
         scopes[scope], (int)data->value, name_of(from, text[0]), where(from_device), name_of(to, text[1]),
         where(to_device), bytes, place(code));
}

static void submit(uint64_t target_id, uint64_t id, unsigned teams) {
  printf("  submit %u teams, %s, %s\n", teams, target_id ? "in one" : "alone", id ? "id" : "no id");
}

static void submit_emi(int scope, data_t *data, uint64_t *id, unsigned teams) {
  if (scope == BEGIN)
    *id = ++ids;
  printf("  submit %d %s, in %d: %u teams\n", (int)*id, scopes[scope], (int)data->value, teams);
}

/* ---- the tool ---- */

enum { DEVICES = 1, PLAIN = 2, EMI = 4 };
static unsigned wanted;

static int initialize(lookup_t *lookup, int initial_device, data_t *tool) {
  (void)initial_device, (void)tool;
  static const struct {
    int number;
    unsigned of;
    function_t *function;
  } callbacks[] = {
      {8, PLAIN, (function_t *)target},       {9, PLAIN, (function_t *)data_op},
      {10, PLAIN, (function_t *)submit},      {12, DEVICES, (function_t *)initialized},
      {13, DEVICES, (function_t *)finalized}, {14, DEVICES, (function_t *)loaded},
      {15, DEVICES, (function_t *)unloaded},  {33, EMI, (function_t *)target_emi},
      {34, EMI, (function_t *)data_op_emi},   {35, EMI, (function_t *)submit_emi},
  };
  int (*set)(int number, function_t *function) = (int (*)(int, function_t *))lookup("ompt_set_callback");
  for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
    if (wanted & callbacks[i].of)
      set(callbacks[i].number, callbacks[i].function);
  return 1;
}

static void finalize(data_t *tool) {
  (void)tool;
  printf("the tool ends\n");
  fflush(stdout);
}

start_t *ompt_start_tool(unsigned version, const char *runtime) {
  (void)version, (void)runtime;
  static start_t start = {initialize, finalize, {0}};
  const char *tool = getenv("TOOL");
  if (!tool || !strcmp(tool, "none"))
    return NULL;
  wanted = !strcmp(tool, "plain")  ? DEVICES | PLAIN
           : !strcmp(tool, "emi")  ? DEVICES | EMI
           : !strcmp(tool, "both") ? DEVICES | PLAIN | EMI
                                   : PLAIN | EMI;
  return &start;
}

/* ---- the program ---- */

static void constructs(void) {
#pragma omp target map(to : a) map(tofrom : b)
  for (int i = 0; i < 16; i++)
    b[i] += a[i];
#pragma omp target teams num_teams(3)
  ;
#pragma omp target enter data map(to : c)
#pragma omp target update from(c)
#pragma omp target update to(c)
#pragma omp target map(tofrom : c)
  c[1] = 5;
#pragma omp target exit data map(from : c)
}

static void tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target map(tofrom : whole) nowait
    whole[0]++;
#pragma omp taskwait
#pragma omp target enter data map(to : whole) nowait
#pragma omp taskwait
#pragma omp target update from(whole) nowait
#pragma omp taskwait
#pragma omp target exit data map(delete : whole) nowait
#pragma omp taskwait
  }
}

static int calls(void) {
  int host = omp_get_initial_device(), wrong = 0;
  int *memory = omp_target_alloc(sizeof a, 0), *more = omp_target_alloc(sizeof a, 0);
  wrong += omp_target_memcpy(memory, a, sizeof a, 0, 0, 0, host);
  wrong += omp_target_memcpy(more, memory, sizeof a, 0, 0, 0, 0);
  wrong += omp_target_memcpy(b, more, sizeof a, 0, 0, host, 0);
  wrong += omp_target_memcpy(b, a, sizeof a, 0, 0, host, host);
  wrong += omp_target_associate_ptr(whole, memory, sizeof a, 0, 0);
  wrong += omp_target_disassociate_ptr(whole, 0);
  omp_target_free(more, 0);
  omp_target_free(memory, 0);
  return wrong || memcmp(a, b, sizeof a) != 0;
}

int main(void) {
  if (strcmp(getenv("TOOL"), "none") != 0)
    printf("the program begins\n"); /* its devices have been told of */
  for (int i = 0; i < 16; i++)
    a[i] = i, b[i] = 2 * i;
  constructs();
  int wrong = b[5] != 15 || c[1] != 5;
  tasks();
  wrong += whole[0] != 1;
  wrong += calls();
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong;
}
