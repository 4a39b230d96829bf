/* What the plugin keeps besides the core's context: who calls it, and what it has given to them. */
#ifndef RTL_PLUGIN_H
#define RTL_PLUGIN_H

#include "caller_abi.h"

#include "openmp/context.h"

enum { RTL_CALLERS = 4 };

/* The context's lock guards all of it but `retrieve_waits`. */
typedef struct rtl_plugin {
  caller_abi_library_t callers[RTL_CALLERS]; /* every libomptarget that opened us */
  uint32_t caller_count;
  _Atomic bool retrieve_waits; /* some caller wants it, see caller_abi_retrieve_waits */
  const void *last_refused;    /* where the library lies whose images were last refused */
  struct rtl_interop *interop; /* an object for each device; NULL until one is asked for */
} rtl_plugin_t;

extern __attribute__((visibility("hidden"))) rtl_plugin_t rtl_the_plugin;

static inline rtl_plugin_t *rtl_plugin(void) {
  return &rtl_the_plugin;
}

/* Starts the context the first time it is called, and finds the libomptarget that calls, by the return
 * address of the entry point, each time. False, described, if that is none of a known version; it must not
 * get any devices. Thread-safe. */
bool rtl_plugin_start(rtl_plugin_t *plugin, const void *return_address);
/* The version of the libomptarget that calls; that of the last one known if the address is of none. */
int rtl_plugin_host(rtl_plugin_t *plugin, const void *return_address);
/* Stops the context, and releases what was given. The last that is called. */
void rtl_plugin_stop(rtl_plugin_t *plugin);

#endif
