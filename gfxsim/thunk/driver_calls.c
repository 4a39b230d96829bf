/* The exported functions about the driver as a whole: opening and closing, version, clocks. */
#include "thunk/thunk.h"

/* The interface version that we speak: late enough for everything that ROCr 5.2 and 6.1 need, and for
 * dma-bufs, early enough that they do not expect event ages (1.14) and memory management through libdrm
 * (1.15). */
enum { KFD_MAJOR = 1, KFD_MINOR = 12 };

GS_EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void) {
  switch (gs_machine_open()) {
  case GS_OPENED: return HSAKMT_STATUS_SUCCESS;
  case GS_OPENED_AGAIN: return HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
  default: return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  }
}

GS_EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void) {
  return gs_machine_close() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  if (!version)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  version->KernelInterfaceMajorVersion = KFD_MAJOR;
  version->KernelInterfaceMinorVersion = KFD_MINOR;
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug, bool setup_ttmp) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  (void)debug;
  (void)setup_ttmp;
  /* Without it errors arrive as codes in the queue's own signal, which carries all that we report. */
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRuntimeDisable(void) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters) {
  GS_MACHINE_OR_RETURN(machine);
  if (!counters)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  uint64_t ticks = 0, system = 0;
  gs_machine_counters(machine, &ticks, &system);
  *counters = (HsaClockCounters){
      .GPUClockCounter = ticks,
      .CPUClockCounter = system,
      .SystemClockCounter = system,
      .SystemClockFrequencyHz = UINT64_C(1000000000),
  };
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable) {
  GS_MACHINE_OR_RETURN(machine);
  if (!enable)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *enable = atomic_load(&machine->xnack);
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable) {
  GS_MACHINE_OR_RETURN(machine);
  const HSAKMT_STATUS status = gs_machine_set_xnack(machine, enable != 0);
  return status == HSAKMT_STATUS_OUT_OF_RESOURCES ? HSAKMT_STATUS_ERROR : status;
}
