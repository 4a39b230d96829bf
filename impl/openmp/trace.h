/* What users see of launches and devices when they ask for it, in the words of LLVM's plugins, so that
 * existing scripts can read it. */
#ifndef ATMI_OPENMP_TRACE_H
#define ATMI_OPENMP_TRACE_H

#include "openmp/context.h"
#include "stream/stream.h"

/* Bits of LIBOMPTARGET_KERNEL_TRACE. Any bit gives a line per launch. */
enum {
  ATMI_TRACE_LAUNCH = 1,
  ATMI_TRACE_TIMING = 2,  /* on stdout; the stock plugins never timed anything either */
  ATMI_TRACE_STARTUP = 4, /* devices, and the values that led to each launch's geometry; on stderr */
  ATMI_TRACE_STDOUT = 8,
  ATMI_TRACE_RESOURCES = 16, /* scratch memory and accumulation registers, too; not in the stock plugins */
};

/* The line of the classic plugins for KERNEL_TRACE, that of the nextgen plugins for LIBOMPTARGET_INFO bit
 * 0x10. */
void atmi_trace_launch(const atmi_context_t *context, const atmi_omp_device_t *device,
                       const atmi_omp_kernel_t *kernel, const atmi_omp_request_t *request,
                       const atmi_launch_t *launch);

/* A device came into use. */
void atmi_trace_device(const atmi_context_t *context, int32_t number, const atmi_omp_device_t *device);

#endif
