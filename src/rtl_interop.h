/* The object for "omp interop". Not here: anything else that has a queue. */
#ifndef RTL_INTEROP_H
#define RTL_INTEROP_H

#include "rtl_plugin.h"

/* The device's object for interop, made on first use. Its Queue is an hsa_queue_t, which OpenMP's additional
 * definitions want for the foreign runtime "hsa": the program may put packets of its own into it. All interop
 * objects of a device share it, since libomptarget gives none back. It lives until the plugin stops. What
 * entry points that take queues do with this one, they do at once. Thread-safe. Fails, described, with
 * ATMI_NO_MEMORY or ATMI_LOST.
 */
ATMI_MUST_CHECK atmi_status_t rtl_interop_queue(atmi_context_t *context, atmi_omp_device_t *device,
                                                __tgt_async_info **queue);

/* OpenMP's number of a device, which is what interop passes, as the plugin's own. The devices of other
 * plugins may come first: only libomptarget 18 tells how many. Below, a number that we do not have is taken
 * to count from the end of all of OpenMP's devices, as our plugin is the last one that is opened. */
int32_t rtl_interop_number(const atmi_context_t *context, int64_t number);

/* Releases it, if there is one. The caller holds the plugin's lock. */
void rtl_interop_release(atmi_omp_device_t *device);

#endif
