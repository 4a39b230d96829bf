/* Queues, as the thunk asks for them, and whether it wants to hear of exceptions. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kfd/kfd.h"
#include "machine/topology.h"

static _Atomic bool has_runtime; /* which takes errors as exceptions */

void gs_kfd_queues_forget(void) {
  atomic_store(&has_runtime, false);
}

int gs_kfd_enable_runtime(gs_machine_t *machine, void *argument) {
  kfd_runtime_enable_t *wanted = argument;
  (void)machine;
  atomic_store(&has_runtime, (wanted->mode & KFD_RUNTIME_ENABLE) != 0);
  wanted->capabilities = 0; /* of debuggers: none */
  return 0;
}

/* Where the queue's errors go. The area is the program's: it may be anything. */
static gs_exceptions_t exceptions_of(const kfd_create_queue_t *wanted) {
  kfd_save_area_t area = {0};
  struct iovec to = {&area, sizeof area};
  struct iovec from = {(void *)(uintptr_t)wanted->save_area, sizeof area};
  if (!atomic_load(&has_runtime) || wanted->save_area_size < sizeof area ||
      process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof area)
    return (gs_exceptions_t){0};
  return (gs_exceptions_t){.payload = area.payload, .event_id = area.event_id};
}

static bool type_of(uint32_t type, HSA_QUEUE_TYPE *result) {
  switch (type) {
  case KFD_QUEUE_COMPUTE: *result = HSA_QUEUE_COMPUTE; return true;
  case KFD_QUEUE_AQL: *result = HSA_QUEUE_COMPUTE_AQL; return true;
  case KFD_QUEUE_SDMA_XGMI: *result = HSA_QUEUE_SDMA_XGMI; return true;
  case KFD_QUEUE_SDMA:
  case KFD_QUEUE_SDMA_BY_ENGINE: *result = HSA_QUEUE_SDMA; return true;
  default: return false;
  }
}

/* Whether the GPU has the engine that a queue asks for. All of them do the same here. */
static bool has_engine(const gs_gpu_t *gpu, const void *argument) {
  const kfd_create_queue_by_engine_t *wanted = argument;
  HsaNodeProperties node;
  if (wanted->queue.type != KFD_QUEUE_SDMA_BY_ENGINE)
    return true;
  gs_topology_node(gpu->machine, gpu->node, &node);
  return wanted->engine < node.NumSdmaEngines + node.NumSdmaXgmiEngines;
}

/* Whether a queue of waves has the memory that the driver would save them to, and for the ends of kernels, if
 * any. Newer drivers look. */
static bool has_memory(const gs_gpu_t *gpu, const kfd_create_queue_t *wanted) {
  enum { END_OF_PIPE = 4096 };
  const gs_save_sizes_t save = gs_kfd_save_sizes(gpu);
  return (!wanted->eop_address || wanted->eop_size == END_OF_PIPE) &&
         wanted->control_stack_size == save.control_stack && wanted->save_area_size >= save.area;
}

int gs_kfd_create_queue(gs_machine_t *machine, void *argument) {
  kfd_create_queue_t *wanted = argument;
  gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  gs_queue_request_t request = {
      .percentage = wanted->percentage,
      .ring = (void *)(uintptr_t)wanted->ring,
      .ring_bytes = wanted->ring_size,
      .read = (void *)(uintptr_t)wanted->read_pointer,
      .write = (void *)(uintptr_t)wanted->write_pointer,
  };
  uint32_t id = 0;
  if (!gpu || !has_engine(gpu, argument) || !type_of(wanted->type, &request.type) ||
      wanted->priority > KFD_MOST_PRIORITY || !request.read || !request.write)
    return -EINVAL;
  const bool waves = request.type == HSA_QUEUE_COMPUTE || request.type == HSA_QUEUE_COMPUTE_AQL;
  if (waves && !has_memory(gpu, wanted))
    return -EINVAL;
  if (request.type == HSA_QUEUE_COMPUTE_AQL)
    request.exceptions = exceptions_of(wanted);
  const int error = gs_kfd_errno(gs_queues_create(&machine->queues, gpu, &request, &id));
  if (error)
    return error;
  wanted->queue_id = id;
  wanted->doorbell_offset = gs_kfd_offset(GS_OFFSET_DOORBELLS, gpu->ordinal) + (id - 1) * sizeof(uint64_t);
  return 0;
}
_Static_assert(GS_MOST_QUEUES * sizeof(uint64_t) == GS_DOORBELL_BYTES,
               "a queue's place in any GPU's doorbells");

int gs_kfd_update_queue(gs_machine_t *machine, void *argument) {
  const kfd_update_queue_t *wanted =
      argument; /* the ring is the one that the queue has, or none: it pauses */
  if (wanted->priority > KFD_MOST_PRIORITY)
    return -EINVAL;
  return gs_kfd_errno(
      gs_queues_update(&machine->queues, wanted->queue_id, wanted->ring ? wanted->percentage : 0));
}

int gs_kfd_destroy_queue(gs_machine_t *machine, void *argument) {
  const kfd_destroy_queue_t *wanted = argument;
  return gs_kfd_errno(gs_queues_destroy(&machine->queues, wanted->queue_id));
}

int gs_kfd_set_cu_mask(gs_machine_t *machine, void *argument) {
  const kfd_set_cu_mask_t *wanted = argument;
  return gs_kfd_errno(gs_queues_set_cu_mask(&machine->queues, wanted->queue_id, wanted->bits,
                                            (const uint32_t *)(uintptr_t)wanted->mask));
}

int gs_kfd_give_gws(gs_machine_t *machine, void *argument) {
  kfd_alloc_gws_t *wanted = argument;
  wanted->first = 0;
  return gs_kfd_errno(gs_queues_give_gws(&machine->queues, wanted->queue_id, wanted->count));
}
