/* What users see of launches and devices when they ask for it, in the words of LLVM's plugins, so that
 * existing scripts can read it. */
#ifndef RTL_TRACE_H
#define RTL_TRACE_H

#include "rtl_plugin.h"

/* Bits of LIBOMPTARGET_KERNEL_TRACE. Any bit gives a line per launch. */
enum {
  RTL_TRACE_LAUNCH = 1,
  RTL_TRACE_TIMING = 2,  /* on stdout; the stock plugins never timed anything either */
  RTL_TRACE_STARTUP = 4, /* devices, and the values that led to each launch's geometry; on stderr */
  RTL_TRACE_STDOUT = 8,
  RTL_TRACE_RESOURCES = 16, /* scratch memory and accumulation registers, too; not in the stock plugins */
};

/* The line of the classic plugins for KERNEL_TRACE, that of the nextgen plugins for LIBOMPTARGET_INFO bit
 * 0x10. */
void rtl_trace_launch(const rtl_plugin_t *plugin, const rtl_device_t *device, const rtl_kernel_t *kernel,
                      const caller_abi_launch_t *request, const atmi_launch_t *launch);

/* A device came into use. */
void rtl_trace_device(const rtl_plugin_t *plugin, int32_t number, const rtl_device_t *device);

#endif
