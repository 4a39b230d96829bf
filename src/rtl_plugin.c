/* Who calls the plugin, and its beginning and end. */
#include "rtl_plugin.h"

#include "openmp/process.h"

#include <stdlib.h>

rtl_plugin_t rtl_the_plugin;

/* The caller in the list, or NULL. The caller of this holds the lock. */
static const caller_abi_library_t *find_caller(const rtl_plugin_t *plugin, const void *return_address) {
  uintptr_t address = (uintptr_t)return_address;
  for (uint32_t i = 0; i < plugin->caller_count; i++)
    if (plugin->callers[i].begin <= address && address < plugin->callers[i].end)
      return &plugin->callers[i];
  return NULL;
}

int rtl_plugin_host(rtl_plugin_t *plugin, const void *return_address) {
  pthread_mutex_lock(&atmi_context()->lock);
  const caller_abi_library_t *caller = find_caller(plugin, return_address);
  if (!caller && plugin->caller_count)
    caller = &plugin->callers[plugin->caller_count - 1];
  int version = caller ? caller->version : CALLER_ABI_UNKNOWN;
  pthread_mutex_unlock(&atmi_context()->lock);
  return version;
}

/* Adds a caller that is not in the list yet. The caller of this holds the lock. */
static bool add_caller(rtl_plugin_t *plugin, caller_abi_library_t caller, const char *name) {
  const atmi_env_t *env = atmi_context_environment(atmi_context());
  if (env->caller_abi != ATMI_ENV_UNSET)
    caller.version = (int)env->caller_abi;
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

bool rtl_plugin_start(rtl_plugin_t *plugin, const void *return_address) {
  static const atmi_context_options_t options = {.library = caller_abi_library_name};
  const char *name;
  /* Not under the lock, because it takes the dynamic linker's. */
  caller_abi_library_t caller = caller_abi_find_caller(return_address, &name);
  pthread_mutex_lock(&atmi_context()->lock);
  bool known = find_caller(plugin, return_address) || add_caller(plugin, caller, name);
  pthread_mutex_unlock(&atmi_context()->lock);
  if (known)
    atmi_context_start(atmi_context(), &options);
  return known;
}

void rtl_plugin_stop(rtl_plugin_t *plugin) {
  atmi_context_stop(atmi_context());
  free(plugin->interop);
  plugin->interop = NULL;
}
