/* The plugin's context: when it begins and ends. */
#include "rtl_plugin.h"

#include "rtl_image.h"
#include "rtl_interop.h"

#include <stdlib.h>
#include <unistd.h>

static rtl_plugin_t the_plugin = {.lock = PTHREAD_MUTEX_INITIALIZER};

rtl_plugin_t *rtl_plugin(void) {
  return &the_plugin;
}

static bool add_devices(rtl_plugin_t *plugin) {
  uint32_t count = plugin->machine.device_count;
  plugin->devices = calloc(count ? count : 1, sizeof *plugin->devices);
  if (!plugin->devices)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    plugin->devices[i].core = plugin->machine.devices[i];
    plugin->devices[i].limits = rtl_geometry_limits(&plugin->devices[i].core->properties, &plugin->env);
  }
  return true;
}

void rtl_plugin_start(rtl_plugin_t *plugin) {
  pthread_mutex_lock(&plugin->lock);
  if (plugin->state == RTL_NEW) {
    atmi_env_load(environ, &plugin->env);
    atomic_store(&plugin->info, (uint32_t)plugin->env.info);
    atmi_status_t status = atmi_machine_init(&plugin->env, &plugin->machine);
    if (!status && !add_devices(plugin)) {
      atmi_fail(ATMI_NO_MEMORY, NULL, "cannot set up the devices: out of host memory");
      atmi_machine_fini(&plugin->machine);
    }
    plugin->state = RTL_RUNNING;
  }
  pthread_mutex_unlock(&plugin->lock);
}

/* Whether a stream of any device was taken and not put back: some thread is in the middle of something, and
 * memory must not go away under it. */
static bool is_busy(const rtl_plugin_t *plugin) {
  for (uint32_t i = 0; i < plugin->machine.device_count; i++)
    if (atmi_device_is_busy(plugin->machine.devices[i]))
      return true;
  return false;
}

void rtl_plugin_stop(rtl_plugin_t *plugin) {
  pthread_mutex_lock(&plugin->lock);
  if (plugin->state == RTL_RUNNING) {
    plugin->state = RTL_STOPPED;
    for (uint32_t i = 0; plugin->devices && i < plugin->machine.device_count; i++)
      rtl_interop_release(&plugin->devices[i]);
    if (!is_busy(plugin)) {
      for (uint32_t i = 0; plugin->devices && i < plugin->machine.device_count; i++)
        rtl_image_release_all(&plugin->devices[i]);
      rtl_image_forget(plugin, NULL);
      atmi_machine_fini(&plugin->machine);
      free(plugin->devices);
      plugin->devices = NULL;
    }
  }
  pthread_mutex_unlock(&plugin->lock);
}

rtl_device_t *rtl_plugin_device(rtl_plugin_t *plugin, int64_t number, const char *operation) {
  /* Acquire: whoever sees the plugin running sees its devices. */
  if (atomic_load_explicit(&plugin->state, memory_order_acquire) != RTL_RUNNING)
    return NULL;
  if (number >= 0 && number < plugin->machine.device_count && plugin->devices)
    return &plugin->devices[number];
  atmi_fail(ATMI_NOT_FOUND, NULL, "cannot %s: there is no AMD device %lld, only %u of them", operation,
            (long long)number, plugin->machine.device_count);
  return NULL;
}
