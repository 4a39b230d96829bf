/* OMPT: the connection to libomp, and the callbacks. Which of them a tool wants is known before a device is
 * used; without a tool, the state is all that anybody looks at. The mapping engine's functions of the device
 * are exchanged for those at the end of this file, so that the ordinary ones know nothing of a tool. */
#include "ompt.h"

#include "checker.h"
#include "info.h"
#include "libomp.h"
#include "lint.h"
#include "lock.h"
#include "profile.h"
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

tgt_ompt_t tgt_the_ompt;

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };

/* ---- callbacks ---- */

typedef void initialize_t(int device, const char *type, void *object, tgt_ompt_lookup_t *lookup,
                          const char *documentation);
typedef void finalize_t(int device);
typedef void load_t(int device, const char *file, int64_t offset, void *address_in_file, size_t bytes,
                    void *host, void *memory, uint64_t module);
typedef void unload_t(int device, uint64_t module);
typedef void target_t(int kind, int scope, int device, tgt_ompt_data_t *task, uint64_t id, const void *code);
typedef void target_emi_t(int kind, int scope, int device, tgt_ompt_data_t *task,
                          tgt_ompt_data_t *target_task, tgt_ompt_data_t *target, const void *code);
typedef void data_t(uint64_t target, uint64_t id, int kind, void *from, int from_device, void *to,
                    int to_device, size_t bytes, const void *code);
typedef void data_emi_t(int scope, tgt_ompt_data_t *target_task, tgt_ompt_data_t *target, uint64_t *id,
                        int kind, void *from, int from_device, void *to, int to_device, size_t bytes,
                        const void *code);
typedef void submit_t(uint64_t target, uint64_t id, unsigned teams);
typedef void submit_emi_t(int scope, tgt_ompt_data_t *target, uint64_t *id, unsigned teams);

/* Their numbers and names in OpenMP's headers. */
static const struct {
  int number;
  char name[36];
} events[TGT_EVENTS] = {
    [TGT_EVENT_INITIALIZE] = {12, "ompt_callback_device_initialize"},
    [TGT_EVENT_FINALIZE] = {13, "ompt_callback_device_finalize"},
    [TGT_EVENT_LOAD] = {14, "ompt_callback_device_load"},
    [TGT_EVENT_UNLOAD] = {15, "ompt_callback_device_unload"},
    [TGT_EVENT_TARGET] = {8, "ompt_callback_target"},
    [TGT_EVENT_DATA] = {9, "ompt_callback_target_data_op"},
    [TGT_EVENT_SUBMIT] = {10, "ompt_callback_target_submit"},
    [TGT_EVENT_TARGET_EMI] = {33, "ompt_callback_target_emi"},
    [TGT_EVENT_DATA_EMI] = {34, "ompt_callback_target_data_op_emi"},
    [TGT_EVENT_SUBMIT_EMI] = {35, "ompt_callback_target_submit_emi"},
};

/* The tool's function; NULL if it does not want to know. */
static tgt_ompt_function_t *callback(tgt_ompt_event_t event) {
  const tgt_ompt_t *ompt = &tgt_the_ompt;
  bool is_on = atomic_load_explicit(&ompt->state, memory_order_acquire) == TGT_OMPT_ON;
  return is_on ? ompt->callbacks[event] : NULL;
}

static uint64_t new_id(void) {
  return atomic_fetch_add_explicit(&tgt_the_ompt.ids, 1, memory_order_relaxed) + 1;
}

/* ---- the connection ---- */

/* Somebody who asked us for the tool. */
typedef struct tgt_ompt_client {
  struct tgt_ompt_client *next;
  void (*finalize)(tgt_ompt_data_t *tool);
} client_t;

static void find_callbacks(tgt_ompt_t *ompt, tgt_ompt_lookup_t *lookup) {
  int (*get)(int number, tgt_ompt_function_t **function) =
      (int (*)(int, tgt_ompt_function_t **))lookup("ompt_get_callback");
  for (int i = 0; i < TGT_EVENTS; i++)
    if (!get || !get(events[i].number, &ompt->callbacks[i]))
      ompt->callbacks[i] = lookup(events[i].name);
  ompt->task_data = (tgt_ompt_data_t * (*)(void)) lookup("ompt_get_task_data");
  ompt->target_task_data = (tgt_ompt_data_t * (*)(void)) lookup("ompt_get_target_task_data");
}

static const map_device_functions_t told_functions;

const map_device_functions_t *tgt_ompt_functions(void) {
  return atomic_load(&tgt_the_ompt.state) == TGT_OMPT_ON ? &told_functions : tgt_lock_functions();
}

/* What the state is without a tool. */
static tgt_ompt_state_t without_tool(const tgt_ompt_t *ompt) {
  return ompt->is_watched ? TGT_OMPT_WATCHED : TGT_OMPT_OFF;
}

void tgt_ompt_watch(void) {
  tgt_the_ompt.is_watched = true;
}

/* By libomp, if it has a tool that wants to know of devices. No device was used yet. */
static int initialize(tgt_ompt_lookup_t *lookup, int initial_device, tgt_ompt_data_t *tool) {
  (void)initial_device, (void)tool;
  tgt_ompt_t *ompt = &tgt_the_ompt;
  tgt_runtime_t *runtime = tgt_runtime();
  if (!lookup)
    return 0;
  ompt->lookup = lookup;
  find_callbacks(ompt, lookup);
  /* Release: who sees it sees the callbacks. */
  atomic_store_explicit(&ompt->state, TGT_OMPT_ON, memory_order_release);
  tgt_info_watch();
  for (int i = 0; i < tgt_runtime_device_count(runtime); i++)
    tgt_lint_listen(&runtime->devices[i]);
  return 1;
}

/* By libomp, when the tool has ended and nothing may be told any more. */
static void finalize(tgt_ompt_data_t *tool) {
  (void)tool;
  tgt_ompt_t *ompt = &tgt_the_ompt;
  atomic_store(&ompt->state, without_tool(ompt));
  tgt_info_watch();
  client_t *client = atomic_exchange(&ompt->clients, NULL);
  while (client) {
    client_t *next = client->next;
    client->finalize(NULL);
    free(client);
    client = next;
  }
}

static void connect_once(void) {
  static tgt_ompt_start_t start = {.initialize = initialize, .finalize = finalize}; /* libomp keeps it */
  tgt_ompt_state_t unknown = TGT_OMPT_UNKNOWN;
  if (ompt_libomp_connect)
    ompt_libomp_connect(&start);
  atomic_compare_exchange_strong(&tgt_the_ompt.state, &unknown, without_tool(&tgt_the_ompt));
  tgt_info_watch();
}

void tgt_ompt_connect(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, connect_once);
}

/* Whether there is likely to be a tool: a library that its user names, or a function of the program's or of a
 * preloaded library's. libomp has one of the same name that says there is none. */
static bool is_tool_near(void) {
  const char *libraries = getenv("OMP_TOOL_LIBRARIES");
  Dl_info its, libomps;
  void *start = dlsym(RTLD_DEFAULT, "ompt_start_tool"), *connect = dlsym(RTLD_DEFAULT, "ompt_libomp_connect");
  if (!connect)
    return false;
  return (libraries && *libraries) ||
         (start && dladdr(start, &its) && dladdr(connect, &libomps) && its.dli_fbase != libomps.dli_fbase);
}

void tgt_ompt_find_tool(void) {
  tgt_runtime_t *runtime = tgt_runtime();
  if (!is_tool_near())
    return;
  tgt_ompt_connect();
  /* Who uses a device meanwhile waits until the tool knows of it, before it is told more. */
  pthread_mutex_lock(&runtime->lock);
  for (int i = 0; i < tgt_runtime_device_count(runtime); i++)
    tgt_ompt_initialize(&runtime->devices[i]);
  pthread_mutex_unlock(&runtime->lock);
}

void tgt_ompt_stop(void) {
  tgt_runtime_t *runtime = tgt_runtime();
  for (int i = 0; i < tgt_runtime_device_count(runtime); i++)
    tgt_ompt_finalize(&runtime->devices[i]);
  if (atomic_load(&tgt_the_ompt.state) == TGT_OMPT_ON)
    finalize(NULL);
}

TGT_EXPORT void ompt_libomptarget_connect(tgt_ompt_start_t *start) {
  tgt_ompt_t *ompt = &tgt_the_ompt;
  if (!start || !start->initialize)
    return;
  tgt_ompt_connect();
  if (!tgt_ompt_is_on())
    return;
  client_t *client = start->finalize ? malloc(sizeof *client) : NULL;
  if (client) {
    client->finalize = start->finalize;
    client->next = atomic_load(&ompt->clients);
    while (!atomic_compare_exchange_weak(&ompt->clients, &client->next, client))
      ;
  }
  start->initialize(ompt->lookup, 0, NULL);
}

/* ---- devices ---- */

int tgt_ompt_number(const tgt_device_t *device) {
  return device ? (int)device->number : tgt_runtime_device_count(tgt_runtime());
}

void tgt_ompt_initialize(tgt_device_t *device) {
  if (!tgt_ompt_is_on() || atomic_exchange(&device->is_told, true))
    return;
  initialize_t *tell = (initialize_t *)callback(TGT_EVENT_INITIALIZE);
  if (tell) /* without a function for names: there are no traces of the device */
    tell((int)device->number, device->core->properties.name, device, NULL, NULL);
}

void tgt_ompt_finalize(tgt_device_t *device) {
  finalize_t *tell = (finalize_t *)callback(TGT_EVENT_FINALIZE);
  if (atomic_exchange(&device->is_told, false) && tell)
    tell((int)device->number);
}

void tgt_ompt_load(const tgt_device_t *device, const void *image, size_t bytes, uint64_t module) {
  load_t *tell = (load_t *)callback(TGT_EVENT_LOAD);
  if (tell) /* of no file, thus at no offset */
    tell((int)device->number, NULL, -1, NULL, bytes, (void *)(uintptr_t)image, NULL, module);
}

void tgt_ompt_unload(const tgt_device_t *device, uint64_t module) {
  unload_t *tell = (unload_t *)callback(TGT_EVENT_UNLOAD);
  if (tell)
    tell((int)device->number, module);
}

/* ---- constructs ---- */

typedef struct caller {
  const void *code; /* NULL: nothing was noted */
  bool is_nowait;
} caller_t;

/* The construct that the thread is in, and who called the next one. */
static __thread struct {
  tgt_told_t *told;
  caller_t caller;
} here __attribute__((tls_model("initial-exec")));

void tgt_ompt_note_caller(const void *code, bool is_nowait) {
  if (!here.caller.code) /* the outermost of ours is the one that was called */
    here.caller = (caller_t){code, is_nowait};
}

void tgt_ompt_forget_caller(void) {
  here.caller.code = NULL;
}

static void tell_target(tgt_told_t *told, int scope) {
  target_emi_t *emi = (target_emi_t *)callback(TGT_EVENT_TARGET_EMI);
  target_t *plain = (target_t *)callback(TGT_EVENT_TARGET);
  if (emi)
    emi(told->kind, scope, told->device, told->task, told->target_task, &told->data, told->code);
  else if (plain)
    plain(told->kind, scope, told->device, told->task, told->data.value, told->code);
}

/* A checker knows who is to blame for what the thread allocates and frees from now on. */
static void set_here(tgt_told_t *told) {
  here.told = told;
  tgt_checker_caller(told ? told->code : NULL);
}

static void enter(tgt_told_t *told) {
  set_here(told);
  tgt_profile_begin(told);
}

static void leave(const tgt_told_t *told) {
  tgt_profile_end(told);
  set_here(told->outer);
}

tgt_told_t *tgt_ompt_begin_any(tgt_ompt_target_t kind, const tgt_device_t *device, const tgt_ident_t *where,
                               const void *code, bool is_nowait) {
  const tgt_ompt_t *ompt = &tgt_the_ompt;
  caller_t caller = here.caller.code ? here.caller : (caller_t){code, is_nowait};
  tgt_ompt_forget_caller();
  tgt_told_t *told = malloc(sizeof *told);
  if (!told)
    return NULL;
  *told = (tgt_told_t){.outer = here.told,
                       .kind = (int)kind + (caller.is_nowait ? TGT_OMPT_NOWAIT : 0),
                       .device = (int)device->number,
                       .where = where,
                       .code = caller.code,
                       .task = ompt->task_data ? ompt->task_data() : NULL,
                       .target_task = ompt->target_task_data ? ompt->target_task_data() : NULL,
                       .data.value = ompt->callbacks[TGT_EVENT_TARGET_EMI] ? 0 : new_id()};
  enter(told);
  tell_target(told, SCOPE_BEGIN);
  return told;
}

const tgt_told_t *tgt_ompt_here(void) {
  return here.told;
}

void tgt_ompt_end(tgt_told_t *told) {
  if (!told)
    return;
  tell_target(told, SCOPE_END);
  leave(told);
  free(told);
}

tgt_told_t *tgt_ompt_leave(void) {
  tgt_told_t *told = here.told;
  if (told)
    leave(told);
  return told;
}

void tgt_ompt_take_over(tgt_told_t *told) {
  told->outer = here.told;
  enter(told);
}

void tgt_ompt_submit(bool begins, uint64_t *id, uint32_t teams) {
  submit_emi_t *emi = (submit_emi_t *)callback(TGT_EVENT_SUBMIT_EMI);
  submit_t *plain = (submit_t *)callback(TGT_EVENT_SUBMIT);
  if (!here.told)
    return;
  if (emi)
    emi(begins ? SCOPE_BEGIN : SCOPE_END, &here.told->data, id, teams);
  else if (plain && begins)
    plain(here.told->data.value, *id = new_id(), teams);
}

/* ---- data ---- */

static void tell_data(tgt_told_data_t *data, int scope) {
  data_emi_t *emi = (data_emi_t *)callback(TGT_EVENT_DATA_EMI);
  data_t *plain = (data_t *)callback(TGT_EVENT_DATA);
  tgt_told_t *told = data->code ? NULL : here.told;
  tgt_ompt_data_t *target = told ? &told->data : &data->none;
  const void *code = told ? told->code : data->code;
  void *from = (void *)(uintptr_t)data->from, *to = (void *)(uintptr_t)data->to;
  if (emi)
    emi(scope, told ? told->target_task : NULL, target, &data->id, (int)data->kind, from, data->from_device,
        to, data->to_device, data->bytes, code);
  else if (plain && scope == SCOPE_END) /* OpenMP has it tell of ends only */
    plain(target->value, data->id = new_id(), (int)data->kind, from, data->from_device, to, data->to_device,
          data->bytes, code);
}

void tgt_ompt_data_begin(tgt_told_data_t *data) {
  data->id = 0;
  data->none.value = 0;
  tell_data(data, SCOPE_BEGIN);
}

void tgt_ompt_data_end(tgt_told_data_t *data) {
  tell_data(data, SCOPE_END);
  if (tgt_lint_is_on())
    tgt_lint_hear_api(data);
}

/* ---- for the mapping engine ---- */

static bool allocate(void *device, uint64_t bytes, const void *host, void **memory) {
  tgt_told_data_t data = {.kind = TGT_OMPT_ALLOCATE,
                          .from = host,
                          .from_device = tgt_ompt_number(NULL),
                          .to_device = tgt_ompt_number(device),
                          .bytes = bytes};
  tgt_ompt_data_begin(&data);
  bool done = tgt_lock_functions()->allocate(device, bytes, host, memory);
  data.to = done ? *memory : NULL;
  tgt_ompt_data_end(&data);
  return done;
}

static bool release(void *device, void *memory) {
  tgt_told_data_t data = {
      .kind = TGT_OMPT_DELETE, .from = memory, .from_device = tgt_ompt_number(device), .to_device = -1};
  tgt_ompt_data_begin(&data);
  bool done = tgt_lock_functions()->release(device, memory);
  tgt_ompt_data_end(&data);
  return done;
}

static bool submit(void *device, void *stream, void *memory, const void *host, uint64_t bytes) {
  tgt_told_data_t data = {.kind = TGT_OMPT_TO_DEVICE,
                          .from = host,
                          .from_device = tgt_ompt_number(NULL),
                          .to = memory,
                          .to_device = tgt_ompt_number(device),
                          .bytes = bytes};
  tgt_ompt_data_begin(&data);
  bool done = tgt_lock_functions()->submit(device, stream, memory, host, bytes);
  tgt_ompt_data_end(&data);
  return done;
}

static bool retrieve(void *device, void *stream, void *host, const void *memory, uint64_t bytes) {
  tgt_told_data_t data = {.kind = TGT_OMPT_FROM_DEVICE,
                          .from = memory,
                          .from_device = tgt_ompt_number(device),
                          .to = host,
                          .to_device = tgt_ompt_number(NULL),
                          .bytes = bytes};
  tgt_ompt_data_begin(&data);
  bool done = tgt_lock_functions()->retrieve(device, stream, host, memory, bytes);
  tgt_ompt_data_end(&data);
  return done;
}

static bool mark(void *device, void *stream, map_mark_t *mark) {
  return tgt_lock_functions()->mark(device, stream, mark);
}

static bool wait_for(void *device, void *stream, map_mark_t *mark) {
  return tgt_lock_functions()->wait(device, stream, mark);
}

static const map_device_functions_t told_functions = {.allocate = allocate,
                                                      .release = release,
                                                      .submit = submit,
                                                      .retrieve = retrieve,
                                                      .mark = mark,
                                                      .wait = wait_for};
