/* Events by their ids, and the page on which devices announce them. */
#include <errno.h>
#include <stdlib.h>

#include "kfd/kfd.h"

/* The first signal event brings the page: a buffer of the thunk's. */
static int take_page(gs_machine_t *machine, uint64_t handle) {
  uint64_t size = 0;
  uint64_t *page = gs_kfd_buffer_bytes(handle, &size);
  if (!page || size < GS_MOST_EVENTS * sizeof *page)
    return -EINVAL;
  gs_events_move_mailboxes(&machine->events, page);
  return 0;
}

void gs_kfd_leave_page(gs_machine_t *machine, const void *bytes) {
  if (gs_events_mailbox(&machine->events, 1) == bytes)
    gs_events_move_mailboxes(&machine->events, machine->shared->mailbox);
}

int gs_kfd_create_event(gs_machine_t *machine, void *argument) {
  kfd_create_event_t *wanted = argument;
  if (wanted->type >= HSA_EVENTTYPE_MAXID)
    return -EINVAL;
  const int error = wanted->page_offset ? take_page(machine, wanted->page_offset) : 0;
  if (error)
    return error;
  gs_cost_add(machine->costs, GS_COST_EVENT, 1);
  const uint32_t id =
      gs_events_create(&machine->events, (HSA_EVENTTYPE)wanted->type, wanted->auto_reset != 0, false);
  if (!id)
    return -ENOSPC;
  wanted->event_id = id;
  wanted->trigger_data = id;
  wanted->slot_index = id - 1;
  wanted->page_offset = gs_kfd_offset(GS_OFFSET_EVENTS, 0); /* 0 would mean that the event has no mailbox */
  return 0;
}

int gs_kfd_destroy_event(gs_machine_t *machine, void *argument) {
  const kfd_event_id_t *wanted = argument;
  return gs_kfd_errno(gs_events_destroy(&machine->events, wanted->event_id));
}

int gs_kfd_set_event(gs_machine_t *machine, void *argument) {
  const kfd_event_id_t *wanted = argument;
  return gs_kfd_errno(gs_events_set(&machine->events, wanted->event_id, true)) ? -EINVAL : 0;
}

int gs_kfd_reset_event(gs_machine_t *machine, void *argument) {
  const kfd_event_id_t *wanted = argument;
  return gs_kfd_errno(gs_events_set(&machine->events, wanted->event_id, false)) ? -EINVAL : 0;
}

/* What a wait knows of its events. */
typedef struct wait_list {
  uint32_t *id;
  uint64_t *age;
} wait_list_t;

/* Leaves the fault that a memory event was set for. */
static void tell_fault(gs_machine_t *machine, const HsaMemoryAccessFault *fault, kfd_waited_event_t *event) {
  const gs_gpu_t *gpu = gs_machine_gpu(machine, fault->NodeId);
  event->data.fault = (kfd_memory_fault_t){
      .not_present = fault->Failure.NotPresent,
      .read_only = fault->Failure.ReadOnly,
      .no_execute = fault->Failure.NoExecute,
      .imprecise = fault->Failure.Imprecise,
      .address = fault->VirtualAddress,
      .gpu_id = gpu ? gs_kfd_gpu_id(gpu) : 0,
      .error_type = fault->Failure.ErrorType,
  };
}

/* After a wait that ended with events. */
static void tell(gs_machine_t *machine, kfd_waited_event_t *events, const wait_list_t *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    HsaMemoryAccessFault fault;
    if (gs_events_fault_of(&machine->events, list->id[i], &fault))
      tell_fault(machine, &fault, &events[i]);
    else if (list->age[i])
      events[i].data.last_age = list->age[i];
  }
}

static int wait_for(gs_machine_t *machine, kfd_wait_events_t *wanted, const wait_list_t *list) {
  kfd_waited_event_t *events = (void *)(uintptr_t)wanted->events;
  const uint32_t count = wanted->count;
  for (uint32_t i = 0; i < count; i++) {
    list->id[i] = events[i].event_id;
    list->age[i] = gs_events_is_signal(&machine->events, list->id[i]) ? events[i].data.last_age : 0;
  }
  const HSAKMT_STATUS status =
      gs_machine_wait(machine, list->id, count, wanted->all != 0, wanted->timeout, list->age);
  wanted->result = KFD_WAIT_FAIL;
  if (status == HSAKMT_STATUS_WAIT_TIMEOUT)
    wanted->result = KFD_WAIT_TIMEOUT;
  if (status == HSAKMT_STATUS_SUCCESS) {
    wanted->result = KFD_WAIT_COMPLETE;
    tell(machine, events, list, count);
  }
  return wanted->result == KFD_WAIT_FAIL ? -EINVAL : 0;
}

int gs_kfd_wait_events(gs_machine_t *machine, void *argument) {
  enum { FEW = 32 };
  kfd_wait_events_t *wanted = argument;
  const uint32_t count = wanted->count;
  uint32_t few_ids[FEW];
  uint64_t few_ages[FEW];
  if (!count || count > GS_MOST_EVENTS || !wanted->events)
    return -EINVAL;
  const bool many = count > FEW;
  const wait_list_t list = {.id = many ? calloc(count, sizeof(uint32_t)) : few_ids,
                            .age = many ? calloc(count, sizeof(uint64_t)) : few_ages};
  const int error = list.id && list.age ? wait_for(machine, wanted, &list) : -ENOMEM;
  if (many) {
    free(list.id);
    free(list.age);
  }
  return error;
}
