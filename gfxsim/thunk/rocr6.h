/* Prototypes of exported functions that the headers of ROCr 5.2 do not have: additions to the thunk up to
 * ROCT-Thunk-Interface 6.1. All are thread-safe. Not here: what both versions of ROCr call (hsakmt.h), and
 * libdrm's functions (libdrm.h). */
#ifndef GFXSIM_THUNK_ROCR6_H
#define GFXSIM_THUNK_ROCR6_H

#include "thunk/thunk.h"

/* Bytes that can still be allocated on a GPU's node. */
GS_EXPORT HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes);
/* What of the driver's support for debuggers is there: nothing. */
GS_EXPORT HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *capabilities);
/* As the functions without _Ext. Ages of events are only reported by drivers from version 1.14 on: ignored.
 */
GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds, uint64_t *age);
GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *list[], HSAuint32 count, bool all,
                                                       HSAuint32 milliseconds, uint64_t *ages);
/* A descriptor, which the caller closes, of the allocation that these bytes are part of, and where in it they
 * are. */
GS_EXPORT HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 size, int *file, HSAuint64 *offset);

/* Not simulated: they answer HSAKMT_STATUS_NOT_SUPPORTED. */
GS_EXPORT HSAKMT_STATUS hsaKmtDbgEnable(void **info, HSAuint32 *size);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgDisable(void);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetDeviceData(void **data, HSAuint32 *count, HSAuint32 *size);
GS_EXPORT HSAKMT_STATUS hsaKmtDbgGetQueueData(void **data, HSAuint32 *count, HSAuint32 *size, bool suspend);
GS_EXPORT HSAKMT_STATUS hsaKmtOpenSMI(HSAuint32 node, int *file);
GS_EXPORT HSAKMT_STATUS hsaKmtReplaceAsanHeaderPage(void *address);
GS_EXPORT HSAKMT_STATUS hsaKmtReturnAsanHeaderPage(void *address);

#endif
