/* The second door: the kernel driver's interface as ROCr's own thunk uses it. Calls of /dev/kfd, and the
 * buffers, doorbells and pages that they hand out. Thin: it checks arguments, translates, and calls the
 * machine. Not here: how calls come in (libc.c), and those of render nodes (drm.h). */
#ifndef GFXSIM_KFD_KFD_H
#define GFXSIM_KFD_KFD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "kfd/abi.h"
#include "kfd/topology_text.h"
#include "packet/engine.h"

/* The interface version that we speak: events have ages and queues exceptions, memory is managed through
 * libdrm, and queues may ask for an engine. */
enum { GS_KFD_VERSION_MAJOR = 1, GS_KFD_VERSION_MINOR = 17 };

/* The machine of this process, opened when it is first needed; NULL, after a message, when it cannot be made.
 */
gs_machine_t *gs_kfd_machine(void);

/* A call of the device. Returns 0, or -1 with errno, as ioctl does. Thread-safe. */
int gs_kfd_ioctl(unsigned long request, void *argument);

/* Whether an offset is one that calls of ours handed out. */
bool gs_kfd_is_offset(off_t offset);
/* Maps what such an offset stands for, as mmap does. Thread-safe. */
void *gs_kfd_mmap(void *address, size_t size, int protection, int flags, off_t offset);

/* What calls do. Each returns 0, or a negative error number. */
typedef int gs_kfd_call_t(gs_machine_t *machine, void *argument);
gs_kfd_call_t gs_kfd_allocate, gs_kfd_free, gs_kfd_map, gs_kfd_unmap, gs_kfd_available, gs_kfd_set_scratch;
gs_kfd_call_t gs_kfd_svm, gs_kfd_describe_file, gs_kfd_import_file, gs_kfd_export_file, gs_kfd_tell_process,
    gs_kfd_find_process;
gs_kfd_call_t gs_kfd_create_queue, gs_kfd_update_queue, gs_kfd_destroy_queue, gs_kfd_set_cu_mask,
    gs_kfd_give_gws, gs_kfd_enable_runtime;
gs_kfd_call_t gs_kfd_create_event, gs_kfd_destroy_event, gs_kfd_set_event, gs_kfd_reset_event,
    gs_kfd_wait_events;

/* The host's address of a buffer's bytes, or NULL when there is no such buffer or the host may not see it. */
void *gs_kfd_buffer_bytes(uint64_t handle, uint64_t *size);

/* Offsets of mmap: a kind, and a number of 25 bits in units of 4 GiB. (An old thunk takes all of the low 32
 * bits for a place in the doorbells.) */
typedef enum gs_offset_kind {
  GS_OFFSET_BUFFER = 1,
  GS_OFFSET_DOORBELLS,
  GS_OFFSET_REGISTERS,
  GS_OFFSET_EVENTS,
  GS_OFFSET_GEM /* of a render node */
} gs_offset_kind_t;
enum { GS_DOORBELL_BYTES = 8192 };
uint64_t gs_kfd_offset(gs_offset_kind_t kind, uint64_t number);

/* A buffer goes: if devices announce events there, they do so elsewhere from now on. */
void gs_kfd_leave_page(gs_machine_t *machine, const void *bytes);

/* The error number for a status of the machine, 0 for success. */
int gs_kfd_errno(HSAKMT_STATUS status);

/* In a child after a fork: forgets the buffers and queues of the parent. */
void gs_kfd_memory_forget(void);
void gs_kfd_queues_forget(void);

#endif
