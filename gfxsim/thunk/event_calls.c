/* The exported functions about events, and the objects that the host holds for them. Not here: what events
 * are (machine/events.h). */
#include <stdlib.h>

#include "thunk/thunk.h"

GS_EXPORT HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *descriptor, bool manual_reset, bool signaled,
                                          HsaEvent **event) {
  GS_MACHINE_OR_RETURN(machine);
  if (!descriptor || !event || descriptor->EventType >= HSA_EVENTTYPE_MAXID)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_cost_add(machine->costs, GS_COST_EVENT, 1);
  HsaEvent *made = calloc(1, sizeof *made);
  const uint32_t id =
      made ? gs_events_create(&machine->events, descriptor->EventType, !manual_reset, signaled) : 0;
  if (!id) {
    free(made);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  made->EventId = id;
  made->EventData.EventType = descriptor->EventType;
  made->EventData.EventData.SyncVar = descriptor->SyncVar;
  made->EventData.HWData1 = id;
  made->EventData.HWData2 = (uintptr_t)gs_events_mailbox(&machine->events, id);
  made->EventData.HWData3 = id;
  *event = made;
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event) {
  GS_MACHINE_OR_RETURN(machine);
  if (!event) /* ROCr destroys a null event at exit when it runs without interrupts. */
    return HSAKMT_STATUS_INVALID_HANDLE;
  const HSAKMT_STATUS status = gs_events_destroy(&machine->events, event->EventId);
  if (status == HSAKMT_STATUS_SUCCESS)
    free(event);
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event) {
  GS_MACHINE_OR_RETURN(machine);
  return event ? gs_events_set(&machine->events, event->EventId, true) : HSAKMT_STATUS_INVALID_HANDLE;
}

/* The event of memory faults in a list, of which ROCr has one, or NULL. */
static HsaEvent *memory_event(HsaEvent *const *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] && list[i]->EventData.EventType == HSA_EVENTTYPE_MEMORY)
      return list[i];
  return NULL;
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *list[], HSAuint32 count, bool all,
                                                   HSAuint32 milliseconds) {
  enum { FEW = 32 };
  GS_MACHINE_OR_RETURN(machine);
  if (!list || !count)
    return HSAKMT_STATUS_INVALID_HANDLE;
  uint32_t few[FEW];
  uint32_t *ids = count <= FEW ? few : calloc(count, sizeof *ids);
  if (!ids)
    return HSAKMT_STATUS_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++)
    ids[i] = list[i] ? list[i]->EventId : 0;
  /* Looked for before: who was woken may find other events destroyed. */
  HsaEvent *memory = memory_event(list, count);
  const HSAKMT_STATUS status = gs_machine_wait(machine, ids, count, all, milliseconds, NULL);
  if (status == HSAKMT_STATUS_SUCCESS && memory)
    gs_events_fault_of(&machine->events, memory->EventId, &memory->EventData.EventData.MemoryAccessFault);
  if (ids != few)
    free(ids);
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 milliseconds) {
  return event ? hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds) : HSAKMT_STATUS_INVALID_HANDLE;
}
