/* Operations on behalf of libomptarget: its queues are our streams. */
#ifndef RTL_LAUNCH_H
#define RTL_LAUNCH_H

#include "rtl_plugin.h"

/* The stream of a queue object, made on first use. */
ATMI_MUST_CHECK atmi_status_t rtl_queue_stream(rtl_device_t *device, __tgt_async_info *queue,
                                               atmi_stream_t **stream);

/* Waits for the queue's operations and takes its stream back; Queue is NULL afterwards whatever happened. */
ATMI_MUST_CHECK atmi_status_t rtl_queue_synchronize(__tgt_async_info *queue);
/* The same without waiting: ATMI_PENDING leaves the queue as it is. */
ATMI_MUST_CHECK atmi_status_t rtl_queue_query(__tgt_async_info *queue);

/* Launches a kernel, and prints what the user asked to see of launches. */
ATMI_MUST_CHECK atmi_status_t rtl_launch(rtl_plugin_t *plugin, rtl_device_t *device,
                                         const rtl_kernel_t *kernel, const host_abi_launch_t *request,
                                         __tgt_async_info *queue);

#endif
