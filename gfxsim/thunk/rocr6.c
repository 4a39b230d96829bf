/* What ROCr 6.1 calls of the thunk besides what ROCr 5.2 does. Not here: anything that both versions call,
 * and the functions of libdrm (libdrm.c). */
#include "thunk/rocr6.h"

GS_EXPORT HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes) {
  GS_MACHINE_OR_RETURN(machine);
  if (!bytes)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gs_machine_gpu(machine, node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  *bytes = gs_memory_available(&machine->memory, node);
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *capabilities) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  if (!capabilities)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *capabilities = 0; /* of debuggers: none */
  return HSAKMT_STATUS_SUCCESS;
}

/* The drivers that report no event ages (before version 1.14) leave them alone. */

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds, uint64_t *age) {
  (void)age;
  return hsaKmtWaitOnEvent(event, milliseconds);
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *list[], HSAuint32 count, bool all,
                                                       HSAuint32 milliseconds, uint64_t *ages) {
  (void)ages;
  return hsaKmtWaitOnMultipleEvents(list, count, all, milliseconds);
}

/* The file holds a whole allocation. */
GS_EXPORT HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 size, int *file,
                                                 HSAuint64 *offset) {
  GS_MACHINE_OR_RETURN(machine);
  HsaPointerInfo info;
  if (!file || !offset || gs_memory_query(&machine->memory, address, &info))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *offset = (uintptr_t)address - info.GPUAddress;
  if (size > info.SizeInBytes - *offset)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return gs_memory_export(&machine->memory, info.CPUAddress, file);
}

/* What is not simulated: debuggers, streamed performance counters,
 * device monitoring, address sanitizing of device memory. ROCr passes the status on to its caller. */

static HSAKMT_STATUS not_simulated(void) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgEnable(void **info, HSAuint32 *size) {
  (void)info;
  (void)size;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgDisable(void) {
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *count, HSAuint32 *size) {
  (void)data;
  (void)count;
  (void)size;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data, HSAuint32 *count, HSAuint32 *size, bool suspend) {
  (void)data;
  (void)count;
  (void)size;
  (void)suspend;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMAcquire(HSAuint32 node) {
  (void)node;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMRelease(HSAuint32 node) {
  (void)node;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtSPMSetDestBuffer(HSAuint32 node, HSAuint32 size, HSAuint32 *timeout,
                                               HSAuint32 *copied, void *target, bool *lost) {
  (void)node;
  (void)size;
  (void)timeout;
  (void)copied;
  (void)target;
  (void)lost;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 node, int *file) {
  (void)node;
  (void)file;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *address) {
  (void)address;
  return not_simulated();
}

GS_EXPORT HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *address) {
  (void)address;
  return not_simulated();
}
