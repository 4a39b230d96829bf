/* What llvm-omp-device-info prints about a device. */
#ifndef ATMI_OPENMP_INFO_H
#define ATMI_OPENMP_INFO_H

#include "openmp/context.h"

#include <stdio.h>

/* Prints the page: everything that HSA tells about the agent, its memory pools and instruction sets, in the
 * words of LLVM's plugins. Attributes that this ROCr does not know are left out. The device need not be
 * initialised. */
void atmi_info_print(const atmi_omp_device_t *device, FILE *out);

#endif
