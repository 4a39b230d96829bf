/* The plugin's context: when it begins and ends. */
#include "rtl_plugin.h"

#include "rtl_fork.h"
#include "rtl_image.h"
#include "rtl_interop.h"

#include "base/hsa.h"
#include "machine/watch.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

atmi_context_t atmi_the_context = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool add_devices(atmi_context_t *context) {
  uint32_t count = context->machine.device_count;
  context->devices = calloc(count ? count : 1, sizeof *context->devices);
  if (!context->devices)
    return false;
  context->device_count = count;
  for (uint32_t i = 0; i < count; i++) {
    atmi_omp_device_t *device = &context->devices[i];
    device->core = context->machine.devices[i];
    device->properties = device->core->properties;
    device->limits = atmi_geometry_limits(&device->properties, &context->env);
  }
  return true;
}

void atmi_context_count_devices(atmi_context_t *context) {
  uint32_t count = context->state == ATMI_CONTEXT_RUNNING ? context->device_count : 0;
  /* Release pairs with the acquire of the entry points: the devices are seen with their number. */
  atomic_store_explicit(&context->usable_count, count, memory_order_release);
  bool plain = !context->observed && !context->machine.timeline;
  atomic_store_explicit(&context->plain_count, plain ? count : 0, memory_order_release);
}

/* The caller holds the lock. */
static void set_info(atmi_context_t *context, uint32_t flags) {
  bool observed = context->env.kernel_trace || flags & OMP_INFOTYPE_PLUGIN_KERNEL;
  atomic_store(&context->info, flags);
  atomic_store(&context->observed, observed);
  atmi_context_count_devices(context);
}

void atmi_context_set_info(atmi_context_t *context, uint32_t flags) {
  if (context->state == ATMI_CONTEXT_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&context->lock);
  set_info(context, flags);
  pthread_mutex_unlock(&context->lock);
}

void atmi_context_set_requires(atmi_context_t *context, int64_t flags) {
  pthread_mutex_lock(&context->lock);
  atomic_store(&context->requires, flags);
  atomic_store(&context->machine.unified, (flags & OMP_REQ_UNIFIED_SHARED_MEMORY) != 0);
  pthread_mutex_unlock(&context->lock);
}

/* The caller in the list, or NULL. The caller of this holds the lock. */
static const caller_abi_library_t *find_caller(const atmi_context_t *context, const void *return_address) {
  uintptr_t address = (uintptr_t)return_address;
  for (uint32_t i = 0; i < context->caller_count; i++)
    if (context->callers[i].begin <= address && address < context->callers[i].end)
      return &context->callers[i];
  return NULL;
}

int atmi_context_host(atmi_context_t *context, const void *return_address) {
  pthread_mutex_lock(&context->lock);
  const caller_abi_library_t *caller = find_caller(context, return_address);
  if (!caller && context->caller_count)
    caller = &context->callers[context->caller_count - 1];
  int version = caller ? caller->version : CALLER_ABI_UNKNOWN;
  pthread_mutex_unlock(&context->lock);
  return version;
}

/* Adds a caller that is not in the list yet. The caller of this holds the lock. */
static bool add_caller(atmi_context_t *context, caller_abi_library_t caller, const char *name) {
  if (context->env.caller_abi != ATMI_ENV_UNSET)
    caller.version = (int)context->env.caller_abi;
  if (caller.version == CALLER_ABI_UNKNOWN) {
    atmi_fail(
        ATMI_UNSUPPORTED, NULL,
        "no GPU is used: cannot tell which version of libomptarget opened the plugin: %s, which called, does "
        "not export what libomptarget 13 to 18 do; set LIBOMPTARGET_AMDGPU_HOST_ABI to the version",
        name);
    return false;
  }
  if (context->caller_count == RTL_CALLERS) {
    atmi_fail(ATMI_UNSUPPORTED, NULL, "no GPU is used: %s is libomptarget number %d of this process", name,
              RTL_CALLERS + 1);
    return false;
  }
  if (caller_abi_retrieve_waits(caller.version))
    atomic_store(&context->retrieve_waits, true);
  context->callers[context->caller_count++] = caller;
  return true;
}

/* Whether a stream of any device was taken and not put back: some thread is in the middle of something, and
 * memory must not go away under it. */
static bool is_busy(const atmi_context_t *context) {
  for (uint32_t i = 0; i < context->machine.device_count; i++)
    if (atmi_stream_is_any_taken(context->machine.devices[i]))
      return true;
  return false;
}

/* When a program ends, other threads of it may be between their look at the state and taking a stream, which
 * is when is_busy sees them. Seeing them earlier would cost every call; in a program with threads they get
 * time instead. */
static void let_pass(const atmi_context_t *context) {
  bool shared = false;
  for (uint32_t i = 0; i < context->machine.device_count; i++)
    shared = shared || atmi_device_is_shared(context->machine.devices[i]);
  if (shared)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void release_all(atmi_context_t *context) {
  for (uint32_t i = 0; i < context->machine.device_count; i++)
    atmi_image_release_all(&context->devices[i]);
  atmi_image_forget(context, NULL);
  atmi_machine_fini(&context->machine);
  free(context->devices);
  context->devices = NULL;
  context->device_count = 0;
}

/* Leaves everything to the end of the process, but for what somebody may be waiting for. */
static void leave(atmi_context_t *context, bool busy) {
  for (uint32_t i = 0; !busy && i < context->machine.device_count; i++)
    atmi_image_destruct_all(&context->devices[i]);
  atmi_timeline_finish(context->machine.timeline);
}

void atmi_context_stop(atmi_context_t *context) {
  if (context->state == ATMI_CONTEXT_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&context->lock);
  bool ended = context->state == ATMI_CONTEXT_ENDING;
  if (context->state != ATMI_CONTEXT_NEW && context->state != ATMI_CONTEXT_STOPPED) {
    context->state = ATMI_CONTEXT_STOPPED;
    atmi_context_count_devices(context);
    let_pass(context);
    if (context->machine.device_count)
      atmi_machine_stop(&context->machine);
    for (uint32_t i = 0; !ended && i < context->device_count; i++)
      rtl_interop_release(&context->devices[i]);
    bool busy = is_busy(context);
    if (busy || ended)
      leave(context, busy);
    else
      release_all(context);
  }
  pthread_mutex_unlock(&context->lock);
}

/* Runs after the program's own exit handlers, and before ROCr's static objects are destroyed, which were made
 * before. Libraries that are still registered will be unregistered, and run device code's destructors, later
 * than that; so may functions of the executable with the attribute destructor under libomptarget 13 to 15. */
static void when_exiting(void) {
  atmi_context_t *context = &atmi_the_context;
  if (context->state == ATMI_CONTEXT_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&context->lock);
  bool wanted = context->images;
  if (wanted && (context->state == ATMI_CONTEXT_RUNNING || context->state == ATMI_CONTEXT_IDLE ||
                 context->state == ATMI_CONTEXT_ASLEEP)) {
    if (context->state != ATMI_CONTEXT_ASLEEP)
      atmi_watch_end(&context->machine);
    context->state = ATMI_CONTEXT_ENDING;
    atomic_store(&context->machine.ending, true);
    atmi_context_count_devices(context);
  }
  pthread_mutex_unlock(&context->lock);
  if (!wanted)
    atmi_context_stop(context);
}

static void watch_process(void) {
  if (atexit(when_exiting) || !atmi_fork_watch())
    atmi_warn(NULL, "the end of the process and forks will not be noticed: out of host memory");
}

/* Finds the devices. The caller holds the lock. */
static void find_devices(atmi_context_t *context) {
  atmi_status_t status = atmi_machine_init(&context->env, &context->machine);
  if (!status && !add_devices(context)) {
    atmi_fail(ATMI_NO_MEMORY, NULL, "cannot set up the devices: out of host memory");
    atmi_machine_fini(&context->machine);
  }
  if (context->device_count)
    watch_process();
}

bool atmi_context_start(atmi_context_t *context, const void *return_address) {
  const char *name;
  /* Not under our lock, because they take the dynamic linker's. */
  caller_abi_library_t caller = caller_abi_find_caller(return_address, &name);
  bool has_runtime = !atmi_hsa_open();
  pthread_mutex_lock(&context->lock);
  if (context->state == ATMI_CONTEXT_NEW)
    atmi_env_load(environ, &context->env);
  bool known = find_caller(context, return_address) || add_caller(context, caller, name);
  bool first = known && context->state == ATMI_CONTEXT_NEW;
  if (first) {
    if (has_runtime)
      find_devices(context);
    context->state = ATMI_CONTEXT_IDLE;
    set_info(context, (uint32_t)context->env.info);
  }
  pthread_mutex_unlock(&context->lock);
  if (first && !has_runtime)
    atmi_image_explain_no_runtime(context->env.debug);
  return known;
}

void atmi_context_begin_use(atmi_context_t *context) {
  atmi_context_state_t state = atomic_load_explicit(&context->state, memory_order_acquire);
  if (state != ATMI_CONTEXT_IDLE && state != ATMI_CONTEXT_ASLEEP)
    return;
  pthread_mutex_lock(&context->lock);
  if (context->state == ATMI_CONTEXT_ASLEEP)
    atmi_fork_wake(context);
  if (context->state == ATMI_CONTEXT_IDLE)
    context->state = ATMI_CONTEXT_RUNNING;
  atmi_context_count_devices(context);
  pthread_mutex_unlock(&context->lock);
}

/* Says why there is no device of this number, or why it may not be used any more; nothing if the plugin was
 * stopped. */
static atmi_omp_device_t *refuse(const atmi_context_t *context, int32_t number, const char *operation) {
  switch (atomic_load_explicit(&context->state, memory_order_acquire)) {
  case ATMI_CONTEXT_FORKED:
  case ATMI_CONTEXT_CHANGED: atmi_fork_refuse(context, operation); break;
  case ATMI_CONTEXT_ENDING:
    atmi_fail(ATMI_UNSUPPORTED, NULL,
              "cannot %s: the program is ending, and ROCr has ended before it; offload from atexit handlers "
              "or destructors of C++ objects instead, which run earlier",
              operation);
    break;
  case ATMI_CONTEXT_IDLE:
  case ATMI_CONTEXT_ASLEEP:
  case ATMI_CONTEXT_RUNNING:
    atmi_fail(ATMI_NOT_FOUND, NULL, "cannot %s: there is no AMD device %d, only %u of them", operation,
              (int)number, context->device_count);
    break;
  case ATMI_CONTEXT_NEW:
  case ATMI_CONTEXT_STOPPED: break;
  }
  return NULL;
}

atmi_omp_device_t *atmi_context_first_device(atmi_context_t *context, int32_t number, const char *operation) {
  atmi_context_begin_use(context);
  return atmi_context_is_usable(context, number) ? &context->devices[number]
                                                 : refuse(context, number, operation);
}

atmi_omp_device_t *atmi_context_late_device(atmi_context_t *context, int32_t number, const char *operation) {
  if (atomic_load_explicit(&context->state, memory_order_acquire) == ATMI_CONTEXT_ENDING &&
      (uint32_t)number < context->machine.device_count)
    return &context->devices[number];
  return atmi_context_first_device(context, number, operation);
}

atmi_omp_device_t *atmi_context_known_device(atmi_context_t *context, int32_t number, const char *operation) {
  atmi_context_state_t state = atomic_load_explicit(&context->state, memory_order_acquire);
  bool known = state == ATMI_CONTEXT_IDLE || state == ATMI_CONTEXT_ASLEEP || state == ATMI_CONTEXT_RUNNING;
  return known && (uint32_t)number < context->device_count ? &context->devices[number]
                                                           : refuse(context, number, operation);
}
