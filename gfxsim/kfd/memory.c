/* Buffers by handle, and mappings of what offsets stand for. The thunk reserves addresses and says what shall
 * be there; bytes that it may see appear at once, so that its mmap has little left to do. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "kfd/kfd.h"
#include "kfd/real.h"

enum { OFFSET_BITS = 32, KIND_SHIFT = 57, TAG_SHIFT = 60, TAG = 4 };

typedef struct kfd_buffer {
  uint64_t address, size; /* size 0: no buffer */
  uint32_t flags;         /* KFD_MEMORY_ */
  bool hidden;            /* from the host */
} kfd_buffer_t;

/* Handles are places in the list, plus one. */
static struct {
  pthread_mutex_t lock;
  kfd_buffer_t *list;
  size_t capacity;
  struct {
    uint64_t start, end;
  } scratch[GS_MOST_GPUS]; /* addresses that were reserved for scratch memory */
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gs_kfd_memory_forget(void) {
  pthread_mutex_init(&buffers.lock, NULL);
  if (buffers.capacity)
    memset(buffers.list, 0, buffers.capacity * sizeof *buffers.list);
  memset(buffers.scratch, 0, sizeof buffers.scratch);
}

uint64_t gs_kfd_offset(gs_offset_kind_t kind, uint64_t number) {
  return (uint64_t)TAG << TAG_SHIFT | (uint64_t)kind << KIND_SHIFT | number << OFFSET_BITS;
}

bool gs_kfd_is_offset(off_t offset) {
  return (uint64_t)offset >> TAG_SHIFT == TAG;
}

/* With the lock held. A handle, or 0 when out of memory. */
static uint64_t add(const kfd_buffer_t *buffer) {
  size_t i = 0;
  while (i < buffers.capacity && buffers.list[i].size)
    i++;
  if (i == buffers.capacity) {
    const size_t capacity = buffers.capacity ? 2 * buffers.capacity : 256;
    kfd_buffer_t *list = realloc(buffers.list, capacity * sizeof *list);
    if (!list)
      return 0;
    memset(list + buffers.capacity, 0, (capacity - buffers.capacity) * sizeof *list);
    buffers.list = list;
    buffers.capacity = capacity;
  }
  buffers.list[i] = *buffer;
  return i + 1;
}

/* A copy of what a handle stands for. False if there is nothing. */
static bool find(uint64_t handle, kfd_buffer_t *buffer) {
  pthread_mutex_lock(&buffers.lock);
  const bool found = handle && handle <= buffers.capacity && buffers.list[handle - 1].size;
  if (found)
    *buffer = buffers.list[handle - 1];
  pthread_mutex_unlock(&buffers.lock);
  return found;
}

static void *pointer(uint64_t address) {
  return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

void *gs_kfd_buffer_bytes(uint64_t handle, uint64_t *size) {
  kfd_buffer_t buffer;
  if (!find(handle, &buffer) || buffer.hidden || buffer.flags & KFD_MEMORY_USERPTR)
    return NULL;
  *size = buffer.size;
  return pointer(buffer.address);
}

/* Allocations. */

static bool is_scratch(const gs_gpu_t *gpu, uint64_t address) {
  pthread_mutex_lock(&buffers.lock);
  const bool inside =
      address >= buffers.scratch[gpu->ordinal].start && address < buffers.scratch[gpu->ordinal].end;
  pthread_mutex_unlock(&buffers.lock);
  return inside;
}

int gs_kfd_set_scratch(gs_machine_t *machine, void *argument) {
  enum { BITS = 32 }; /* the window that kernels see */
  const kfd_set_scratch_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  if (!gpu)
    return -EINVAL;
  pthread_mutex_lock(&buffers.lock);
  buffers.scratch[gpu->ordinal].start = wanted->address;
  buffers.scratch[gpu->ordinal].end = wanted->address + (UINT64_C(1) << BITS);
  pthread_mutex_unlock(&buffers.lock);
  return 0;
}

static HsaMemFlags flags_of(uint32_t flags, bool scratch) {
  const uint32_t fine = KFD_MEMORY_COHERENT | KFD_MEMORY_UNCACHED | KFD_MEMORY_EXT_COHERENT;
  const bool vram = flags & KFD_MEMORY_VRAM;
  HsaMemFlags result = {.Value = 0};
  result.ui32.HostAccess = !vram || flags & KFD_MEMORY_PUBLIC;
  result.ui32.ReadOnly = !(flags & KFD_MEMORY_WRITABLE);
  result.ui32.ExecuteAccess = (flags & KFD_MEMORY_EXECUTABLE) != 0;
  result.ui32.CoarseGrain = !(flags & fine);
  result.ui32.Scratch = scratch;
  return result;
}

/* Exactly one kind of memory. */
static bool is_one_kind(uint32_t flags) {
  const uint32_t kind = flags & KFD_MEMORY_KINDS;
  return kind && !(kind & (kind - 1));
}

static int check_allocation(const kfd_allocate_t *wanted) {
  const uint64_t last = (UINT64_C(1) << 47) - 1;
  if (!wanted->size || wanted->size % GS_PAGE_BYTES || wanted->address % GS_PAGE_BYTES ||
      !is_one_kind(wanted->flags))
    return -EINVAL;
  if (wanted->size > last || wanted->address > last - wanted->size)
    return -ENOMEM;
  if (wanted->flags & KFD_MEMORY_USERPTR && !wanted->mmap_offset)
    return -EINVAL;
  return 0;
}

/* What the caller maps to see the bytes. */
static uint64_t offset_of(const gs_gpu_t *gpu, uint32_t flags, uint64_t handle) {
  if (flags & KFD_MEMORY_DOORBELL)
    return gs_kfd_offset(GS_OFFSET_DOORBELLS, gpu->ordinal);
  if (flags & KFD_MEMORY_REGISTERS)
    return gs_kfd_offset(GS_OFFSET_REGISTERS, gpu->ordinal);
  return gs_kfd_offset(GS_OFFSET_BUFFER, handle);
}

int gs_kfd_allocate(gs_machine_t *machine, void *argument) {
  kfd_allocate_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  int error = gpu ? check_allocation(wanted) : -EINVAL;
  if (error)
    return error;
  if (!wanted->address) {
    gs_log("memory without an address (virtual memory management) is not simulated");
    return -EINVAL;
  }
  const bool vram = wanted->flags & KFD_MEMORY_VRAM;
  const bool lent = wanted->flags & KFD_MEMORY_USERPTR;
  const HsaMemFlags flags = flags_of(wanted->flags, is_scratch(gpu, wanted->address));
  error = gs_kfd_errno(gs_memory_place(&machine->memory, vram ? gpu->node : GS_CPU_NODE, wanted->address,
                                       wanted->size, flags, lent ? pointer(wanted->mmap_offset) : NULL));
  if (error)
    return error;
  const kfd_buffer_t buffer = {.address = wanted->address,
                               .size = wanted->size,
                               .flags = wanted->flags,
                               .hidden = vram && !flags.ui32.HostAccess};
  pthread_mutex_lock(&buffers.lock);
  wanted->handle = add(&buffer);
  pthread_mutex_unlock(&buffers.lock);
  if (!wanted->handle) {
    gs_memory_free(&machine->memory, pointer(wanted->address));
    return -ENOMEM;
  }
  if (!lent)
    wanted->mmap_offset = offset_of(gpu, wanted->flags, wanted->handle);
  return 0;
}

int gs_kfd_free(gs_machine_t *machine, void *argument) {
  const kfd_free_t *wanted = argument;
  kfd_buffer_t buffer;
  if (!find(wanted->handle, &buffer))
    return -EINVAL;
  gs_kfd_leave_page(machine, pointer(buffer.address));
  const int error = gs_kfd_errno(gs_memory_free(&machine->memory, pointer(buffer.address)));
  if (error)
    return error;
  if (buffer.flags & KFD_MEMORY_DOORBELL)
    gs_machine_remove_doorbells(machine, pointer(buffer.address));
  pthread_mutex_lock(&buffers.lock);
  buffers.list[wanted->handle - 1].size = 0;
  pthread_mutex_unlock(&buffers.lock);
  return 0;
}

/* Mappings for GPUs. */

static int grant(gs_machine_t *machine, void *argument, bool give) {
  kfd_map_t *wanted = argument; /* as unmapping has them */
  const uint32_t *ids = pointer(wanted->gpu_ids);
  kfd_buffer_t buffer;
  uint32_t gpus = 0;
  if (!ids || !wanted->count || wanted->done > wanted->count || !find(wanted->handle, &buffer))
    return -EINVAL;
  for (uint32_t i = 0; i < wanted->count; i++) {
    const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, ids[i]);
    if (!gpu)
      return -EINVAL;
    gpus |= 1U << gpu->ordinal;
  }
  const int error = gs_kfd_errno(gs_memory_grant(&machine->memory, pointer(buffer.address), gpus, give));
  if (!error)
    wanted->done = wanted->count;
  return error;
}

int gs_kfd_map(gs_machine_t *machine, void *argument) {
  return grant(machine, argument, true);
}

int gs_kfd_unmap(gs_machine_t *machine, void *argument) {
  return grant(machine, argument, false);
}

int gs_kfd_available(gs_machine_t *machine, void *argument) {
  kfd_available_memory_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  if (!gpu)
    return -EINVAL;
  wanted->bytes = gs_memory_available(&machine->memory, gpu->node);
  return 0;
}

/* Mappings for the host. */

static void *fail(int error) {
  errno = error;
  return MAP_FAILED;
}

/* The bytes are there already, or must not be seen. */
static void *map_buffer(void *address, size_t size, int protection, uint64_t handle) {
  kfd_buffer_t buffer;
  if (!find(handle, &buffer))
    return fail(EINVAL);
  if ((uintptr_t)address != buffer.address || size > buffer.size) {
    gs_log("a buffer of 0x%llx cannot be mapped at 0x%llx, too: that is not simulated",
           (unsigned long long)buffer.address, (unsigned long long)(uintptr_t)address);
    return fail(ENODEV);
  }
  if (buffer.hidden && protection != PROT_NONE)
    return fail(EPERM);
  return buffer.hidden || !mprotect(address, size, protection) ? address : MAP_FAILED;
}

static void *map_pages(void *address, size_t size, int protection, int flags) {
  const int kept = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  return gs_real_mmap(address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | kept, -1, 0);
}

static void *map_doorbells(void *address, size_t size, int flags) {
  if (size > GS_DOORBELL_BYTES)
    return fail(EINVAL);
  void *pages = map_pages(address, size, PROT_READ | PROT_WRITE, flags);
  if (pages != MAP_FAILED)
    gs_machine_add_doorbells(gs_kfd_machine(), pages, size);
  return pages;
}

void *gs_kfd_mmap(void *address, size_t size, int protection, int flags, off_t offset) {
  const uint64_t kind = (uint64_t)offset >> KIND_SHIFT & ((1U << (TAG_SHIFT - KIND_SHIFT)) - 1);
  const uint64_t number = ((uint64_t)offset & ((UINT64_C(1) << KIND_SHIFT) - 1)) >> OFFSET_BITS;
  if (!size || !gs_kfd_machine())
    return fail(size ? ENODEV : EINVAL);
  switch (kind) {
  case GS_OFFSET_BUFFER: return map_buffer(address, size, protection, number);
  case GS_OFFSET_DOORBELLS: return map_doorbells(address, size, flags);
  case GS_OFFSET_REGISTERS: return map_pages(address, size, protection, flags); /* nobody reads them */
  default: return fail(EINVAL);
  }
}
