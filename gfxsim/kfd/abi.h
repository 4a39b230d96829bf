/* The kernel's interface of /dev/kfd: what is passed in each call, as laid out by Linux 6.x for 64-bit
 * processes. Newer kernels have longer ones; nothing behind these members is looked at. Not here: what calls
 * do (kfd.h). */
#ifndef GFXSIM_KFD_ABI_H
#define GFXSIM_KFD_ABI_H

#include <stdint.h>

/* Of a queue. */
enum {
  KFD_QUEUE_COMPUTE = 0, /* of PM4 commands */
  KFD_QUEUE_SDMA = 1,
  KFD_QUEUE_AQL = 2,
  KFD_QUEUE_SDMA_XGMI = 3,
  KFD_QUEUE_SDMA_BY_ENGINE = 4,
  KFD_MOST_PRIORITY = 15
};

/* Of memory: exactly one of the first five, and rights. */
#define KFD_MEMORY_VRAM         (UINT32_C(1) << 0)
#define KFD_MEMORY_GTT          (UINT32_C(1) << 1)
#define KFD_MEMORY_USERPTR      (UINT32_C(1) << 2)
#define KFD_MEMORY_DOORBELL     (UINT32_C(1) << 3)
#define KFD_MEMORY_REGISTERS    (UINT32_C(1) << 4)
#define KFD_MEMORY_KINDS        UINT32_C(0x1F)
#define KFD_MEMORY_EXT_COHERENT (UINT32_C(1) << 24)
#define KFD_MEMORY_UNCACHED     (UINT32_C(1) << 25)
#define KFD_MEMORY_COHERENT     (UINT32_C(1) << 26)
#define KFD_MEMORY_PUBLIC       (UINT32_C(1) << 29)
#define KFD_MEMORY_EXECUTABLE   (UINT32_C(1) << 30)
#define KFD_MEMORY_WRITABLE     (UINT32_C(1) << 31)

/* How a wait ended. */
enum { KFD_WAIT_COMPLETE, KFD_WAIT_TIMEOUT, KFD_WAIT_FAIL };

/* Of the runtime: it takes errors of queues as exceptions. */
enum { KFD_RUNTIME_ENABLE = 1 };

typedef struct kfd_version {
  uint32_t major, minor;
} kfd_version_t;

typedef struct kfd_create_queue {
  uint64_t ring, write_pointer, read_pointer, doorbell_offset;
  uint32_t ring_size, gpu_id, type, percentage, priority, queue_id;
  uint64_t eop_address, eop_size, save_area;
  uint32_t save_area_size, control_stack_size;
} kfd_create_queue_t;
_Static_assert(sizeof(kfd_create_queue_t) == 88, "of the oldest callers");

/* The start of a queue's save area, which the caller fills before it asks for the queue. */
typedef struct kfd_save_area {
  uint32_t wave_state[6];
  uint64_t payload; /* where exceptions are left */
  uint32_t event_id, reserved;
} kfd_save_area_t;

/* Behind it, of a queue that asks for an engine. */
typedef struct kfd_create_queue_by_engine {
  kfd_create_queue_t queue;
  uint32_t engine, padding;
} kfd_create_queue_by_engine_t;

typedef struct kfd_destroy_queue {
  uint32_t queue_id, padding;
} kfd_destroy_queue_t;

typedef struct kfd_update_queue {
  uint64_t ring;
  uint32_t queue_id, ring_size, percentage, priority;
} kfd_update_queue_t;

typedef struct kfd_set_cu_mask {
  uint32_t queue_id, bits;
  uint64_t mask;
} kfd_set_cu_mask_t;

typedef struct kfd_alloc_gws {
  uint32_t queue_id, count, first, padding;
} kfd_alloc_gws_t;

typedef struct kfd_available_memory {
  uint64_t bytes;
  uint32_t gpu_id, padding;
} kfd_available_memory_t;

typedef struct kfd_set_memory_policy {
  uint64_t alternate_base, alternate_size;
  uint32_t gpu_id, standard, alternate, padding;
} kfd_set_memory_policy_t;

typedef struct kfd_clock_counters {
  uint64_t gpu, cpu, system, system_hz;
  uint32_t gpu_id, padding;
} kfd_clock_counters_t;

typedef struct kfd_apertures {
  uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
  uint32_t gpu_id, padding;
} kfd_apertures_t;

typedef struct kfd_get_apertures {
  uint64_t list;
  uint32_t count, padding;
} kfd_get_apertures_t;

typedef struct kfd_create_event {
  uint64_t page_offset; /* in: the handle of the page, with the first; out: not 0 if there is a mailbox */
  uint32_t trigger_data, type, auto_reset, node_id, event_id, slot_index;
} kfd_create_event_t;

typedef struct kfd_event_id {
  uint32_t event_id, padding;
} kfd_event_id_t;

/* What is known of a memory fault. */
typedef struct kfd_memory_fault {
  uint32_t not_present, read_only, no_execute, imprecise;
  uint64_t address;
  uint32_t gpu_id, error_type;
} kfd_memory_fault_t;

/* One event of a wait. */
typedef struct kfd_waited_event {
  union {
    kfd_memory_fault_t fault; /* out, of memory events */
    uint64_t last_age;        /* in and out, of signals, from interface 1.14 on */
  } data;
  uint64_t more;
  uint32_t event_id, padding;
} kfd_waited_event_t;
_Static_assert(sizeof(kfd_waited_event_t) == 48, "an array of them is passed");

typedef struct kfd_wait_events {
  uint64_t events;
  uint32_t count, all, timeout, result;
} kfd_wait_events_t;

typedef struct kfd_set_scratch {
  uint64_t address;
  uint32_t gpu_id, padding;
} kfd_set_scratch_t;

typedef struct kfd_tile_config {
  uint64_t tiles, macro_tiles;
  uint32_t tile_count, macro_tile_count, gpu_id, address_config, banks, ranks;
} kfd_tile_config_t;

typedef struct kfd_set_trap_handler {
  uint64_t handler, buffer;
  uint32_t gpu_id, padding;
} kfd_set_trap_handler_t;

typedef struct kfd_acquire_vm {
  uint32_t render_file, gpu_id;
} kfd_acquire_vm_t;

typedef struct kfd_allocate {
  uint64_t address, size, handle, mmap_offset; /* mmap_offset: of USERPTR the bytes, in; of all others out */
  uint32_t gpu_id, flags;
} kfd_allocate_t;
_Static_assert(sizeof(kfd_allocate_t) == 40, "of all callers");

/* Attributes of the program's memory: `count` of them follow. */
enum { KFD_SVM_SET, KFD_SVM_GET };
typedef struct kfd_svm_attribute {
  uint32_t type, value; /* of places and accesses: GPUs by their ids, 0 the system's memory, all ones none */
} kfd_svm_attribute_t;

typedef struct kfd_svm {
  uint64_t start, size;
  uint32_t operation, count;
  kfd_svm_attribute_t list[];
} kfd_svm_t;

/* What a dma-buf is. */
typedef struct kfd_dmabuf_info {
  uint64_t size, metadata;
  uint32_t metadata_size, gpu_id, flags, file; /* metadata_size: in, the room; out, how much there is */
} kfd_dmabuf_info_t;

typedef struct kfd_import_dmabuf {
  uint64_t address, handle;
  uint32_t gpu_id, file;
} kfd_import_dmabuf_t;

typedef struct kfd_export_dmabuf {
  uint64_t handle;
  uint32_t flags, file; /* flags as open takes them */
} kfd_export_dmabuf_t;

/* Buffers that another process finds by four words. */
typedef struct kfd_ipc_export {
  uint64_t handle;
  uint32_t words[4], gpu_id, flags; /* flags: the caller's, for who imports it */
} kfd_ipc_export_t;

typedef struct kfd_ipc_import {
  uint64_t handle, address, mmap_offset;
  uint32_t words[4], gpu_id, flags;
} kfd_ipc_import_t;
_Static_assert(sizeof(kfd_ipc_import_t) == 48, "of all callers");

typedef struct kfd_free {
  uint64_t handle;
} kfd_free_t;

/* Mapping, and unmapping. */
typedef struct kfd_map {
  uint64_t handle, gpu_ids;
  uint32_t count, done;
} kfd_map_t;

typedef struct kfd_xnack_mode {
  int32_t enabled; /* below 0: it is asked for */
} kfd_xnack_mode_t;

typedef struct kfd_runtime_enable {
  uint64_t debug;
  uint32_t mode, capabilities;
} kfd_runtime_enable_t;

#endif
