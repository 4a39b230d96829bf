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

rtl_plugin_t rtl_the_plugin = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool add_devices(rtl_plugin_t *plugin) {
  uint32_t count = plugin->machine.device_count;
  plugin->devices = calloc(count ? count : 1, sizeof *plugin->devices);
  if (!plugin->devices)
    return false;
  plugin->device_count = count;
  for (uint32_t i = 0; i < count; i++) {
    rtl_device_t *device = &plugin->devices[i];
    device->core = plugin->machine.devices[i];
    device->properties = device->core->properties;
    device->limits = atmi_geometry_limits(&device->properties, &plugin->env);
  }
  return true;
}

void rtl_plugin_count_devices(rtl_plugin_t *plugin) {
  uint32_t count = plugin->state == RTL_RUNNING ? plugin->device_count : 0;
  /* Release pairs with the acquire of the entry points: the devices are seen with their number. */
  atomic_store_explicit(&plugin->usable_count, count, memory_order_release);
  bool plain = !plugin->observed && !plugin->machine.timeline;
  atomic_store_explicit(&plugin->plain_count, plain ? count : 0, memory_order_release);
}

/* The caller holds the lock. */
static void set_info(rtl_plugin_t *plugin, uint32_t flags) {
  bool observed = plugin->env.kernel_trace || flags & OMP_INFOTYPE_PLUGIN_KERNEL;
  atomic_store(&plugin->info, flags);
  atomic_store(&plugin->observed, observed);
  rtl_plugin_count_devices(plugin);
}

void rtl_plugin_set_info(rtl_plugin_t *plugin, uint32_t flags) {
  if (plugin->state == RTL_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&plugin->lock);
  set_info(plugin, flags);
  pthread_mutex_unlock(&plugin->lock);
}

void rtl_plugin_set_requires(rtl_plugin_t *plugin, int64_t flags) {
  pthread_mutex_lock(&plugin->lock);
  atomic_store(&plugin->requires, flags);
  atomic_store(&plugin->machine.unified, (flags & OMP_REQ_UNIFIED_SHARED_MEMORY) != 0);
  pthread_mutex_unlock(&plugin->lock);
}

/* The caller in the list, or NULL. The caller of this holds the lock. */
static const caller_abi_library_t *find_caller(const rtl_plugin_t *plugin, const void *return_address) {
  uintptr_t address = (uintptr_t)return_address;
  for (uint32_t i = 0; i < plugin->caller_count; i++)
    if (plugin->callers[i].begin <= address && address < plugin->callers[i].end)
      return &plugin->callers[i];
  return NULL;
}

int rtl_plugin_host(rtl_plugin_t *plugin, const void *return_address) {
  pthread_mutex_lock(&plugin->lock);
  const caller_abi_library_t *caller = find_caller(plugin, return_address);
  if (!caller && plugin->caller_count)
    caller = &plugin->callers[plugin->caller_count - 1];
  int version = caller ? caller->version : CALLER_ABI_UNKNOWN;
  pthread_mutex_unlock(&plugin->lock);
  return version;
}

/* Adds a caller that is not in the list yet. The caller of this holds the lock. */
static bool add_caller(rtl_plugin_t *plugin, caller_abi_library_t caller, const char *name) {
  if (plugin->env.caller_abi != ATMI_ENV_UNSET)
    caller.version = (int)plugin->env.caller_abi;
  if (caller.version == CALLER_ABI_UNKNOWN) {
    atmi_fail(
        ATMI_UNSUPPORTED, NULL,
        "no GPU is used: cannot tell which version of libomptarget opened the plugin: %s, which called, does "
        "not export what libomptarget 13 to 18 do; set LIBOMPTARGET_AMDGPU_HOST_ABI to the version",
        name);
    return false;
  }
  if (plugin->caller_count == RTL_CALLERS) {
    atmi_fail(ATMI_UNSUPPORTED, NULL, "no GPU is used: %s is libomptarget number %d of this process", name,
              RTL_CALLERS + 1);
    return false;
  }
  if (caller_abi_retrieve_waits(caller.version))
    atomic_store(&plugin->retrieve_waits, true);
  plugin->callers[plugin->caller_count++] = caller;
  return true;
}

/* Whether a stream of any device was taken and not put back: some thread is in the middle of something, and
 * memory must not go away under it. */
static bool is_busy(const rtl_plugin_t *plugin) {
  for (uint32_t i = 0; i < plugin->machine.device_count; i++)
    if (atmi_stream_is_any_taken(plugin->machine.devices[i]))
      return true;
  return false;
}

/* When a program ends, other threads of it may be between their look at the state and taking a stream, which
 * is when is_busy sees them. Seeing them earlier would cost every call; in a program with threads they get
 * time instead. */
static void let_pass(const rtl_plugin_t *plugin) {
  bool shared = false;
  for (uint32_t i = 0; i < plugin->machine.device_count; i++)
    shared = shared || atmi_device_is_shared(plugin->machine.devices[i]);
  if (shared)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void release_all(rtl_plugin_t *plugin) {
  for (uint32_t i = 0; i < plugin->machine.device_count; i++)
    rtl_image_release_all(&plugin->devices[i]);
  rtl_image_forget(plugin, NULL);
  atmi_machine_fini(&plugin->machine);
  free(plugin->devices);
  plugin->devices = NULL;
  plugin->device_count = 0;
}

/* Leaves everything to the end of the process, but for what somebody may be waiting for. */
static void leave(rtl_plugin_t *plugin, bool busy) {
  for (uint32_t i = 0; !busy && i < plugin->machine.device_count; i++)
    rtl_image_destruct_all(&plugin->devices[i]);
  atmi_timeline_finish(plugin->machine.timeline);
}

void rtl_plugin_stop(rtl_plugin_t *plugin) {
  if (plugin->state == RTL_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&plugin->lock);
  bool ended = plugin->state == RTL_ENDING;
  if (plugin->state != RTL_NEW && plugin->state != RTL_STOPPED) {
    plugin->state = RTL_STOPPED;
    rtl_plugin_count_devices(plugin);
    let_pass(plugin);
    if (plugin->machine.device_count)
      atmi_machine_stop(&plugin->machine);
    for (uint32_t i = 0; !ended && i < plugin->device_count; i++)
      rtl_interop_release(&plugin->devices[i]);
    bool busy = is_busy(plugin);
    if (busy || ended)
      leave(plugin, busy);
    else
      release_all(plugin);
  }
  pthread_mutex_unlock(&plugin->lock);
}

/* Runs after the program's own exit handlers, and before ROCr's static objects are destroyed, which were made
 * before. Libraries that are still registered will be unregistered, and run device code's destructors, later
 * than that; so may functions of the executable with the attribute destructor under libomptarget 13 to 15. */
static void when_exiting(void) {
  rtl_plugin_t *plugin = &rtl_the_plugin;
  if (plugin->state == RTL_FORKED) /* whoever held the lock is not in this process */
    return;
  pthread_mutex_lock(&plugin->lock);
  bool wanted = plugin->images;
  if (wanted && (plugin->state == RTL_RUNNING || plugin->state == RTL_IDLE || plugin->state == RTL_ASLEEP)) {
    if (plugin->state != RTL_ASLEEP)
      atmi_watch_end(&plugin->machine);
    plugin->state = RTL_ENDING;
    atomic_store(&plugin->machine.ending, true);
    rtl_plugin_count_devices(plugin);
  }
  pthread_mutex_unlock(&plugin->lock);
  if (!wanted)
    rtl_plugin_stop(plugin);
}

static void watch_process(void) {
  if (atexit(when_exiting) || !rtl_fork_watch())
    atmi_warn(NULL, "the end of the process and forks will not be noticed: out of host memory");
}

/* Finds the devices. The caller holds the lock. */
static void find_devices(rtl_plugin_t *plugin) {
  atmi_status_t status = atmi_machine_init(&plugin->env, &plugin->machine);
  if (!status && !add_devices(plugin)) {
    atmi_fail(ATMI_NO_MEMORY, NULL, "cannot set up the devices: out of host memory");
    atmi_machine_fini(&plugin->machine);
  }
  if (plugin->device_count)
    watch_process();
}

bool rtl_plugin_start(rtl_plugin_t *plugin, const void *return_address) {
  const char *name;
  /* Not under our lock, because they take the dynamic linker's. */
  caller_abi_library_t caller = caller_abi_find_caller(return_address, &name);
  bool has_runtime = !atmi_hsa_open();
  pthread_mutex_lock(&plugin->lock);
  if (plugin->state == RTL_NEW)
    atmi_env_load(environ, &plugin->env);
  bool known = find_caller(plugin, return_address) || add_caller(plugin, caller, name);
  bool first = known && plugin->state == RTL_NEW;
  if (first) {
    if (has_runtime)
      find_devices(plugin);
    plugin->state = RTL_IDLE;
    set_info(plugin, (uint32_t)plugin->env.info);
  }
  pthread_mutex_unlock(&plugin->lock);
  if (first && !has_runtime)
    rtl_image_explain_no_runtime(plugin->env.debug);
  return known;
}

void rtl_plugin_begin_use(rtl_plugin_t *plugin) {
  rtl_state_t state = atomic_load_explicit(&plugin->state, memory_order_acquire);
  if (state != RTL_IDLE && state != RTL_ASLEEP)
    return;
  pthread_mutex_lock(&plugin->lock);
  if (plugin->state == RTL_ASLEEP)
    rtl_fork_wake(plugin);
  if (plugin->state == RTL_IDLE)
    plugin->state = RTL_RUNNING;
  rtl_plugin_count_devices(plugin);
  pthread_mutex_unlock(&plugin->lock);
}

/* Says why there is no device of this number, or why it may not be used any more; nothing if the plugin was
 * stopped. */
static rtl_device_t *refuse(const rtl_plugin_t *plugin, int32_t number, const char *operation) {
  switch (atomic_load_explicit(&plugin->state, memory_order_acquire)) {
  case RTL_FORKED:
  case RTL_CHANGED: rtl_fork_refuse(plugin, operation); break;
  case RTL_ENDING:
    atmi_fail(ATMI_UNSUPPORTED, NULL,
              "cannot %s: the program is ending, and ROCr has ended before it; offload from atexit handlers "
              "or destructors of C++ objects instead, which run earlier",
              operation);
    break;
  case RTL_IDLE:
  case RTL_ASLEEP:
  case RTL_RUNNING:
    atmi_fail(ATMI_NOT_FOUND, NULL, "cannot %s: there is no AMD device %d, only %u of them", operation,
              (int)number, plugin->device_count);
    break;
  case RTL_NEW:
  case RTL_STOPPED: break;
  }
  return NULL;
}

rtl_device_t *rtl_plugin_first_device(rtl_plugin_t *plugin, int32_t number, const char *operation) {
  rtl_plugin_begin_use(plugin);
  return rtl_plugin_is_usable(plugin, number) ? &plugin->devices[number] : refuse(plugin, number, operation);
}

rtl_device_t *rtl_plugin_late_device(rtl_plugin_t *plugin, int32_t number, const char *operation) {
  if (atomic_load_explicit(&plugin->state, memory_order_acquire) == RTL_ENDING &&
      (uint32_t)number < plugin->machine.device_count)
    return &plugin->devices[number];
  return rtl_plugin_first_device(plugin, number, operation);
}

rtl_device_t *rtl_plugin_known_device(rtl_plugin_t *plugin, int32_t number, const char *operation) {
  rtl_state_t state = atomic_load_explicit(&plugin->state, memory_order_acquire);
  bool known = state == RTL_IDLE || state == RTL_ASLEEP || state == RTL_RUNNING;
  return known && (uint32_t)number < plugin->device_count ? &plugin->devices[number]
                                                          : refuse(plugin, number, operation);
}
