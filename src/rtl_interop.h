/* Objects for "omp interop". Not here: anything else that has a queue. */
#ifndef RTL_INTEROP_H
#define RTL_INTEROP_H

#include "rtl_plugin.h"

/* A queue object that lives until the plugin stops, since libomptarget never gives it back. */
ATMI_MUST_CHECK atmi_status_t rtl_interop_make_queue(rtl_plugin_t *plugin, rtl_device_t *device,
                                                     __tgt_async_info **queue);

/* Gives back all queue objects of the device. The caller holds the plugin's lock. */
void rtl_interop_release(rtl_device_t *device);

#endif
