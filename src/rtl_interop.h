/* What libomptarget wants for "omp interop". Not here: the queue itself (openmp/interop). */
#ifndef RTL_INTEROP_H
#define RTL_INTEROP_H

#include "rtl_plugin.h"

/* The device's object, whose Queue is its queue for interop. All interop objects of a device share it, since
 * libomptarget gives none back. It lives as long as the plugin. What entry points that take queues do with
 * this one, they do at once. Thread-safe. Fails, described, with ATMI_NO_MEMORY or ATMI_LOST. */
ATMI_MUST_CHECK atmi_status_t rtl_interop_queue(rtl_plugin_t *plugin, atmi_omp_device_t *device,
                                                __tgt_async_info **queue);

/* OpenMP's number of a device, which is what interop passes, as the plugin's own. The devices of other
 * plugins may come first: only libomptarget 18 tells how many. Below, a number that we do not have is taken
 * to count from the end of all of OpenMP's devices, as our plugin is the last one that is opened. */
int32_t rtl_interop_number(const atmi_context_t *context, int64_t number);

#endif
