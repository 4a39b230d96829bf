/* Buffers by handle, and mappings of what offsets stand for. The thunk reserves addresses and says what shall
 * be there; bytes that it may see appear at once, so that its mmap has little left to do. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfd/gem.h"
#include "kfd/kfd.h"
#include "kfd/real.h"
#include "machine/share.h"

enum { OFFSET_BITS = 32, KIND_SHIFT = 57, TAG_SHIFT = 60, TAG = 4 };

typedef struct kfd_buffer {
  uint64_t address, size; /* size 0: no buffer */
  uint32_t flags;         /* KFD_MEMORY_ */
  bool hidden;            /* from the host */
  bool imported;
  bool nowhere; /* the address is nobody's but the machine's */
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
  if (!find(handle, &buffer) || buffer.hidden || buffer.imported || buffer.flags & KFD_MEMORY_USERPTR)
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
  if (wanted->flags & KFD_MEMORY_USERPTR && (!wanted->mmap_offset || !wanted->address))
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

/* Lists a buffer that there is already. Returns 0, or a negative error number, and then the buffer is gone.
 */
static int list_buffer(gs_machine_t *machine, const kfd_buffer_t *buffer, uint64_t *handle) {
  pthread_mutex_lock(&buffers.lock);
  *handle = add(buffer);
  pthread_mutex_unlock(&buffers.lock);
  if (*handle)
    return 0;
  gs_memory_free(&machine->memory, pointer(buffer->address));
  return -ENOMEM;
}

/* Memory without an address, to be mapped by render nodes: the machine reserves some that nobody else knows.
 */
static HSAKMT_STATUS allocate_nowhere(gs_machine_t *machine, uint32_t node, const kfd_allocate_t *wanted,
                                      HsaMemFlags flags, uint64_t *where) {
  void *address = NULL;
  const HSAKMT_STATUS status = gs_memory_allocate(&machine->memory, node, wanted->size, flags, &address);
  *where = (uintptr_t)address;
  return status;
}

int gs_kfd_allocate(gs_machine_t *machine, void *argument) {
  kfd_allocate_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  int error = gpu ? check_allocation(wanted) : -EINVAL;
  if (error)
    return error;
  const bool vram = wanted->flags & KFD_MEMORY_VRAM;
  const bool lent = wanted->flags & KFD_MEMORY_USERPTR;
  const uint32_t node = vram ? gpu->node : GS_CPU_NODE;
  const HsaMemFlags flags = flags_of(wanted->flags, is_scratch(gpu, wanted->address));
  kfd_buffer_t buffer = {.address = wanted->address,
                         .size = wanted->size,
                         .flags = wanted->flags,
                         .hidden = vram && !flags.ui32.HostAccess,
                         .nowhere = !wanted->address};
  if (buffer.nowhere)
    error = gs_kfd_errno(allocate_nowhere(machine, node, wanted, flags, &buffer.address));
  else
    error = gs_kfd_errno(gs_memory_place(&machine->memory, node, wanted->address, wanted->size, flags,
                                         lent ? pointer(wanted->mmap_offset) : NULL));
  if (!error)
    error = list_buffer(machine, &buffer, &wanted->handle);
  if (!error && !lent)
    wanted->mmap_offset = offset_of(gpu, wanted->flags, wanted->handle);
  return error;
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
  if (!ids || !wanted->count || wanted->done > wanted->count || !find(wanted->handle, &buffer) ||
      buffer.nowhere)
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

/* Sharing: descriptors of the files that bytes are in, and words by which other processes find them. */

int gs_kfd_export_file(gs_machine_t *machine, void *argument) {
  kfd_export_dmabuf_t *wanted = argument;
  kfd_buffer_t buffer;
  int file = -1;
  if (!find(wanted->handle, &buffer))
    return -EINVAL;
  const int error = gs_kfd_errno(gs_memory_export(&machine->memory, pointer(buffer.address), &file));
  if (error)
    return error;
  if (!(wanted->flags & O_CLOEXEC))
    (void)fcntl(file, F_SETFD, 0);
  wanted->file = (uint32_t)file;
  return 0;
}

/* The GPU that stands for memory of a node: that of the processor's belongs to none. */
static const gs_gpu_t *gpu_of_memory(gs_machine_t *machine, uint32_t node) {
  const gs_gpu_t *gpu = gs_machine_gpu(machine, node);
  return gpu ? gpu : &machine->gpu[0];
}

static uint32_t kfd_flags_of(gs_machine_t *machine, const gs_share_label_t *label) {
  const HsaMemFlags flags = {.Value = label->flags};
  uint32_t result = gs_machine_gpu(machine, label->node) ? KFD_MEMORY_VRAM : KFD_MEMORY_GTT;
  result |= flags.ui32.HostAccess ? KFD_MEMORY_PUBLIC : 0;
  result |= flags.ui32.CoarseGrain ? 0 : KFD_MEMORY_COHERENT;
  result |= flags.ui32.ExecuteAccess ? KFD_MEMORY_EXECUTABLE : 0;
  return result | (flags.ui32.ReadOnly ? 0 : KFD_MEMORY_WRITABLE);
}

int gs_kfd_describe_file(gs_machine_t *machine, void *argument) {
  kfd_dmabuf_info_t *wanted = argument;
  gs_share_label_t label;
  if (!gs_share_read((int)wanted->file, &label) || label.node >= gs_machine_nodes(machine))
    return -EINVAL;
  wanted->size = label.size;
  wanted->metadata_size = 0; /* of drawing drivers */
  wanted->gpu_id = gs_kfd_gpu_id(gpu_of_memory(machine, label.node));
  wanted->flags = kfd_flags_of(machine, &label);
  return 0;
}

/* A buffer of the bytes in a file, at addresses that the caller reserved, or nowhere. */
static int import(gs_machine_t *machine, int file, uint64_t address, uint64_t *handle) {
  gs_share_label_t label;
  void *where = NULL;
  if (!gs_share_read(file, &label) || address % GS_PAGE_BYTES)
    return -EINVAL;
  gs_import_t wanted = {
      .file = file, .address = address, .size = label.size, .flags = {.Value = label.flags}};
  const int error = gs_kfd_errno(gs_memory_import(&machine->memory, &wanted, &where));
  const kfd_buffer_t buffer = {.address = (uintptr_t)where,
                               .size = label.size,
                               .flags = kfd_flags_of(machine, &label),
                               .hidden = gs_machine_gpu(machine, label.node) && !wanted.flags.ui32.HostAccess,
                               .imported = true,
                               .nowhere = !address};
  return error ? error : list_buffer(machine, &buffer, handle);
}

int gs_kfd_import_file(gs_machine_t *machine, void *argument) {
  kfd_import_dmabuf_t *wanted = argument;
  return gs_kfd_gpu_of(machine, wanted->gpu_id)
             ? import(machine, (int)wanted->file, wanted->address, &wanted->handle)
             : -EINVAL;
}

enum { WORD_OF_FLAGS = GS_SHARE_WORDS };

int gs_kfd_tell_process(gs_machine_t *machine, void *argument) {
  kfd_ipc_export_t *wanted = argument;
  kfd_buffer_t buffer;
  if (!find(wanted->handle, &buffer))
    return -EINVAL;
  wanted->words[WORD_OF_FLAGS] = wanted->flags;
  return gs_kfd_errno(gs_memory_tell(&machine->memory, pointer(buffer.address), wanted->words));
}

int gs_kfd_find_process(gs_machine_t *machine, void *argument) {
  kfd_ipc_import_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  if (!gpu || !wanted->address)
    return -EINVAL;
  const int file = gs_share_find(wanted->words);
  if (file < 0)
    return -EINVAL;
  const int error = import(machine, file, wanted->address, &wanted->handle);
  close(file);
  if (error)
    return error;
  wanted->mmap_offset =
      offset_of(gpu, 0, wanted->handle); /* without one the thunk does not look at the GPU */
  wanted->flags = wanted->words[WORD_OF_FLAGS];
  return 0;
}

/* Mappings for the host. */

static void *fail(int error) {
  errno = error;
  return MAP_FAILED;
}

/* Bytes that are mapped at a second address are from then on in a file. */
static void *map_file(gs_machine_t *machine, const kfd_buffer_t *buffer, void *address, size_t size,
                      int protection, int flags) {
  int file = -1;
  const int error = gs_kfd_errno(gs_memory_export(&machine->memory, pointer(buffer->address), &file));
  if (error)
    return fail(-error);
  const int kept = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  void *start = gs_real_mmap(address, size, protection, MAP_SHARED | kept, file, 0);
  close(file);
  return start;
}

/* The bytes are there already, or must not be seen, or are those of a file. */
static void *map_buffer(void *address, size_t size, int protection, int flags, uint64_t handle) {
  kfd_buffer_t buffer;
  if (!find(handle, &buffer) || size > buffer.size || buffer.flags & KFD_MEMORY_USERPTR)
    return fail(EINVAL);
  const bool here = (uintptr_t)address == buffer.address && !buffer.imported;
  /* The thunk maps what it imports in any case. */
  if (buffer.hidden && protection != PROT_NONE && !buffer.imported)
    return fail(EPERM);
  if (!here && !buffer.hidden)
    return map_file(gs_kfd_machine(), &buffer, address, size, protection, flags);
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
  case GS_OFFSET_BUFFER: return map_buffer(address, size, protection, flags, number);
  case GS_OFFSET_GEM: return gs_gem_mmap((uint32_t)number, address, size, protection, flags);
  case GS_OFFSET_DOORBELLS: return map_doorbells(address, size, flags);
  case GS_OFFSET_REGISTERS: return map_pages(address, size, protection, flags); /* nobody reads them */
  default: return fail(EINVAL);
  }
}
