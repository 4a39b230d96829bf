/* The exported functions about queues: checks of arguments. Not here: what queues are (machine/queues.h). */
#include "thunk/thunk.h"

static bool is_priority(HSA_QUEUE_PRIORITY priority) {
  return priority >= HSA_QUEUE_PRIORITY_MINIMUM && priority <= HSA_QUEUE_PRIORITY_MAXIMUM;
}

GS_EXPORT HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
                                          HSA_QUEUE_PRIORITY priority, void *ring, HSAuint64 ring_bytes,
                                          HsaEvent *event, HsaQueueResource *resource) {
  GS_MACHINE_OR_RETURN(machine);
  (void)event; /* only used by drivers with exception support, which RuntimeEnable denies */
  gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  if (!gpu)
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (!resource || !is_priority(priority))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_queue_request_t request = {
      .type = type, .percentage = percentage, .ring = ring, .ring_bytes = ring_bytes};
  const bool aql = type == HSA_QUEUE_COMPUTE_AQL;
  if (aql)
    request.read = (uint64_t *)(void *)resource->Queue_read_ptr;
  uint32_t id = 0;
  const HSAKMT_STATUS status = gs_queues_create(&machine->queues, gpu, &request, &id);
  if (status != HSAKMT_STATUS_SUCCESS)
    return status;
  if (!aql) {
    resource->Queue_read_ptr_aql = request.read;
    resource->Queue_write_ptr_aql = request.write;
  }
  resource->QueueId = id;
  resource->Queue_DoorBell_aql = &machine->shared->doorbell[id - 1];
  return HSAKMT_STATUS_SUCCESS;
}

GS_EXPORT HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
                                          void *ring, HSAuint64 ring_bytes, HsaEvent *event) {
  GS_MACHINE_OR_RETURN(machine);
  (void)ring; /* ROCr passes the ring that the queue has */
  (void)ring_bytes;
  (void)event;
  if (!is_priority(priority) || id > UINT32_MAX)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return gs_queues_update(&machine->queues, (uint32_t)id, percentage);
}

GS_EXPORT HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id) {
  GS_MACHINE_OR_RETURN(machine);
  return id > UINT32_MAX ? HSAKMT_STATUS_INVALID_PARAMETER
                         : gs_queues_destroy(&machine->queues, (uint32_t)id);
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *mask) {
  GS_MACHINE_OR_RETURN(machine);
  if (id > UINT32_MAX)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return gs_queues_set_cu_mask(&machine->queues, (uint32_t)id, count, mask);
}

GS_EXPORT HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 count, HSAuint32 *first) {
  GS_MACHINE_OR_RETURN(machine);
  if (id > UINT32_MAX)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (first)
    *first = 0;
  return gs_queues_give_gws(&machine->queues, (uint32_t)id, count);
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void *handler, HSAuint64 handler_bytes,
                                             void *buffer, HSAuint64 buffer_bytes) {
  GS_MACHINE_OR_RETURN(machine);
  (void)handler; /* what ROCr's handler does, the simulator does itself: see gs_aql_error_code */
  (void)handler_bytes;
  (void)buffer;
  (void)buffer_bytes;
  return gs_machine_gpu(machine, node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}
