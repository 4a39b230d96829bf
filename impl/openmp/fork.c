/* What happens at forks, and after those at which devices were released. */
#include "openmp/fork.h"

#include "base/hsa.h"
#include "stream/stream.h"

#include <string.h>

/* ---- sleeping and waking ---- */

/* Releases what finding the devices took; what is known of them stays. The caller holds the lock. */
static void sleep_now(atmi_context_t *context) {
  for (uint32_t i = 0; i < context->device_count; i++)
    context->devices[i].core = NULL;
  atmi_machine_stop(&context->machine);
  atmi_machine_fini(&context->machine);
  context->state = ATMI_CONTEXT_ASLEEP;
}

/* Whether there are the same devices in the same order, as the program goes on believing. */
static bool finds_the_same(const atmi_context_t *context) {
  const atmi_machine_t *machine = &context->machine;
  if (machine->device_count != context->device_count)
    return false;
  for (uint32_t i = 0; i < machine->device_count; i++) {
    const atmi_device_properties_t *now = &machine->devices[i]->properties,
                                   *before = &context->devices[i].properties;
    if (strcmp(now->isa_name, before->isa_name) || strcmp(now->product_name, before->product_name))
      return false;
  }
  return true;
}

/* A child with the name of its parent's file would write over it. */
static void look_at_timeline(atmi_context_t *context) {
  if (!context->is_child || !context->env.timeline || atmi_timeline_has_process_id(context->env.timeline))
    return;
  atmi_warn(NULL,
            "a forked process writes no timeline: %s is its parent's; with %%p in "
            "LIBOMPTARGET_AMDGPU_TIMELINE each process has its own",
            context->env.timeline);
  context->env.timeline = NULL;
}

void atmi_fork_wake(atmi_context_t *context) {
  look_at_timeline(context);
  atmi_status_t status = atmi_machine_init(&context->env, &context->machine);
  atmi_machine_leave_out(&context->machine, context->left_out);
  context->found_again = context->machine.device_count;
  if (status || !finds_the_same(context)) {
    atmi_machine_fini(&context->machine);
    context->state = ATMI_CONTEXT_CHANGED;
    return;
  }
  atomic_store(&context->machine.unified, context->unified);
  for (uint32_t i = 0; i < context->device_count; i++)
    context->devices[i].core = context->machine.devices[i];
  context->state = ATMI_CONTEXT_IDLE;
}

/* ---- at a fork ---- */

static void unlock(atmi_context_t *context) {
  pthread_mutex_unlock(&context->lock);
  pthread_mutex_unlock(&context->waking);
}

/* While nothing is used, the locks are held from here until after the fork, so that no thread begins in
 * between, and the child finds them free. Not if the fork comes out of ROCr, from a tool of it that we are
 * just opening. */
static void before_fork(void) {
  atmi_context_t *context = atmi_context();
  atmi_context_state_t state = context->state;
  if ((state != ATMI_CONTEXT_IDLE && state != ATMI_CONTEXT_ASLEEP) || context->opener == atmi_stream_thread())
    return;
  pthread_mutex_lock(&context->waking);
  pthread_mutex_lock(&context->lock);
  if (context->state == ATMI_CONTEXT_IDLE)
    sleep_now(context);
  if (context->state != ATMI_CONTEXT_ASLEEP) {
    unlock(context);
    return;
  }
  context->others_hold_rocr = atmi_hsa_is_running();
  context->forker = atmi_stream_thread();
}

/* Whether before_fork has left the locks to this thread; they are free then. */
static bool end_fork(atmi_context_t *context) {
  if (context->forker != atmi_stream_thread())
    return false;
  context->forker = 0;
  unlock(context);
  return true;
}

static void after_fork_in_parent(void) {
  end_fork(atmi_context());
}

/* The driver's files are not for the child; what it released would be its parent's. */
static void after_fork_in_child(void) {
  atmi_context_t *context = atmi_context();
  bool was_asleep = end_fork(context), is_open = context->state == ATMI_CONTEXT_RUNNING || context->opener;
  context->is_child = true;
  if (was_asleep ? !context->others_hold_rocr : !is_open)
    return;
  if (!was_asleep) {
    context->others_hold_rocr = false;        /* not why */
    pthread_mutex_init(&context->lock, NULL); /* a thread that is not in this process may hold them */
    pthread_mutex_init(&context->waking, NULL);
  }
  context->state = ATMI_CONTEXT_FORKED;
  atmi_context_count_devices(context);
  atmi_timeline_forget(context->machine.timeline);
}

bool atmi_fork_watch(void) {
  return !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- refusing ---- */

void atmi_fork_refuse(const atmi_context_t *context, const char *operation) {
  if (context->state == ATMI_CONTEXT_CHANGED)
    atmi_fail(ATMI_NOT_FOUND, NULL,
              "cannot %s: the program found %u AMD devices when it began, and %u or others when it looked "
              "again after it had forked; set what hides devices, such as ROCR_VISIBLE_DEVICES, before the "
              "program begins, or let the child execute a program (exec, posix_spawn)",
              operation, context->device_count, context->found_again);
  else if (context->others_hold_rocr)
    atmi_fail(ATMI_UNSUPPORTED, NULL,
              "cannot %s: this process was forked from one in which something else than OpenMP had ROCr "
              "open, and has no GPU; let it execute a program (exec, posix_spawn), or fork before the other "
              "library opens ROCr",
              operation);
  else
    atmi_fail(ATMI_UNSUPPORTED, NULL,
              "cannot %s: this process was forked from one that had used the GPU, and has none; let it "
              "execute a program (exec, posix_spawn), or fork before the first use of a device",
              operation);
}
