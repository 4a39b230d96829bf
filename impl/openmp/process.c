/* The beginning and the end of a context. */
#include "openmp/process.h"

#include "base/hsa.h"
#include "machine/watch.h"
#include "openmp/fork.h"
#include "openmp/image.h"
#include "openmp/interop.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

/* Whether a stream of any device was taken and not put back: some thread is in the middle of something, and
 * memory must not go away under it. */
bool atmi_context_is_busy(const atmi_context_t *context) {
  for (uint32_t i = 0; i < context->machine.device_count; i++)
    if (atmi_stream_is_any_taken(context->machine.devices[i]))
      return true;
  return false;
}

/* When a program ends, other threads of it may be between their look at the state and taking a stream, which
 * is when atmi_context_is_busy sees them. Seeing them earlier would cost every call; in a program with
 * threads they get time instead. */
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
      atmi_interop_release(&context->devices[i]);
    bool busy = atmi_context_is_busy(context);
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
  atomic_store(&context->machine.unified, context->unified); /* may have been said before */
  if (context->device_count)
    watch_process();
}

void atmi_context_choose_devices(atmi_context_t *context) {
  uint32_t kept = 0;
  pthread_mutex_lock(&context->lock);
  atmi_context_state_t state = context->state;
  if (state == ATMI_CONTEXT_IDLE || state == ATMI_CONTEXT_ASLEEP) {
    context->left_out = atmi_image_misfits(context);
    for (uint32_t i = 0; i < context->device_count; i++)
      if (!atmi_machine_in_set(context->left_out, i))
        context->devices[kept++] = context->devices[i];
    context->device_count = kept;
    atmi_machine_leave_out(&context->machine, context->left_out); /* asleep it has none */
  }
  pthread_mutex_unlock(&context->lock);
}

const atmi_env_t *atmi_context_environment(atmi_context_t *context) {
  if (!context->knows_environment)
    atmi_env_load(environ, &context->env);
  context->knows_environment = true;
  return &context->env;
}

void atmi_context_start(atmi_context_t *context, const atmi_context_options_t *options) {
  bool has_runtime = !atmi_hsa_open(); /* not under our lock, because it takes the dynamic linker's */
  pthread_mutex_lock(&context->lock);
  bool first = context->state == ATMI_CONTEXT_NEW;
  if (first) {
    uint32_t info = (uint32_t)atmi_context_environment(context)->info;
    if (!context->env.timeline)
      context->env.timeline = options->timeline;
    if (has_runtime)
      find_devices(context);
    context->state = ATMI_CONTEXT_IDLE;
    atmi_context_set_info_locked(context, info);
  }
  pthread_mutex_unlock(&context->lock);
  if (first && !has_runtime)
    atmi_image_explain_no_runtime(options->library, context->env.debug);
}
