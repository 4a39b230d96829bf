/* What happens at forks, and after those at which devices were released. */
#include "rtl_fork.h"

#include "base/hsa.h"
#include "stream/stream.h"

#include <string.h>

/* ---- sleeping and waking ---- */

/* Releases what finding the devices took; what is known of them stays. The caller holds the lock. */
static void sleep_now(rtl_plugin_t *plugin) {
  for (uint32_t i = 0; i < plugin->device_count; i++)
    plugin->devices[i].core = NULL;
  atmi_machine_stop(&plugin->machine);
  atmi_machine_fini(&plugin->machine);
  plugin->state = RTL_ASLEEP;
}

/* Whether there are the same devices in the same order, as libomptarget goes on believing. */
static bool finds_the_same(const rtl_plugin_t *plugin) {
  const atmi_machine_t *machine = &plugin->machine;
  if (machine->device_count != plugin->device_count)
    return false;
  for (uint32_t i = 0; i < machine->device_count; i++) {
    const atmi_device_properties_t *now = &machine->devices[i]->properties,
                                   *before = &plugin->devices[i].properties;
    if (strcmp(now->isa_name, before->isa_name) || strcmp(now->product_name, before->product_name))
      return false;
  }
  return true;
}

/* A child with the name of its parent's file would write over it. */
static void look_at_timeline(rtl_plugin_t *plugin) {
  if (!plugin->is_child || !plugin->env.timeline || atmi_timeline_has_process_id(plugin->env.timeline))
    return;
  atmi_warn(NULL,
            "a forked process writes no timeline: %s is its parent's; with %%p in "
            "LIBOMPTARGET_AMDGPU_TIMELINE each process has its own",
            plugin->env.timeline);
  plugin->env.timeline = NULL;
}

void rtl_fork_wake(rtl_plugin_t *plugin) {
  look_at_timeline(plugin);
  plugin->opener = atmi_stream_thread();
  atmi_status_t status = atmi_machine_init(&plugin->env, &plugin->machine);
  plugin->opener = 0;
  plugin->found_again = plugin->machine.device_count;
  if (status || !finds_the_same(plugin)) {
    atmi_machine_fini(&plugin->machine);
    plugin->state = RTL_CHANGED;
    return;
  }
  plugin->machine.unified = (plugin->requires & OMP_REQ_UNIFIED_SHARED_MEMORY) != 0;
  for (uint32_t i = 0; i < plugin->device_count; i++)
    plugin->devices[i].core = plugin->machine.devices[i];
  plugin->state = RTL_IDLE;
}

/* ---- at a fork ---- */

/* While nothing is used, the lock is held from here until after the fork, so that no thread begins in
 * between, and the child finds it free. Not if the fork comes out of ROCr, from a tool of it that we are just
 * opening. */
static void before_fork(void) {
  rtl_plugin_t *plugin = rtl_plugin();
  rtl_state_t state = plugin->state;
  if ((state != RTL_IDLE && state != RTL_ASLEEP) || plugin->opener == atmi_stream_thread())
    return;
  pthread_mutex_lock(&plugin->lock);
  if (plugin->state == RTL_IDLE)
    sleep_now(plugin);
  if (plugin->state != RTL_ASLEEP) {
    pthread_mutex_unlock(&plugin->lock);
    return;
  }
  plugin->others_hold_rocr = atmi_hsa_is_running();
  plugin->forker = atmi_stream_thread();
}

/* Whether before_fork has left the lock to this thread; it is free then. */
static bool end_fork(rtl_plugin_t *plugin) {
  if (plugin->forker != atmi_stream_thread())
    return false;
  plugin->forker = 0;
  pthread_mutex_unlock(&plugin->lock);
  return true;
}

static void after_fork_in_parent(void) {
  end_fork(rtl_plugin());
}

/* The driver's files are not for the child; what it released would be its parent's. */
static void after_fork_in_child(void) {
  rtl_plugin_t *plugin = rtl_plugin();
  bool was_asleep = end_fork(plugin), is_open = plugin->state == RTL_RUNNING || plugin->opener;
  plugin->is_child = true;
  if (was_asleep ? !plugin->others_hold_rocr : !is_open)
    return;
  if (!was_asleep) {
    plugin->others_hold_rocr = false;        /* not why */
    pthread_mutex_init(&plugin->lock, NULL); /* a thread that is not in this process may hold it */
  }
  plugin->state = RTL_FORKED;
  rtl_plugin_count_devices(plugin);
  atmi_timeline_forget(plugin->machine.timeline);
}

bool rtl_fork_watch(void) {
  return !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- refusing ---- */

void rtl_fork_refuse(const rtl_plugin_t *plugin, const char *operation) {
  if (plugin->state == RTL_CHANGED)
    atmi_fail(ATMI_NOT_FOUND, NULL,
              "cannot %s: the program found %u AMD devices when it began, and %u or others when it looked "
              "again after it had forked; set what hides devices, such as ROCR_VISIBLE_DEVICES, before the "
              "program begins, or let the child execute a program (exec, posix_spawn)",
              operation, plugin->device_count, plugin->found_again);
  else if (plugin->others_hold_rocr)
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
