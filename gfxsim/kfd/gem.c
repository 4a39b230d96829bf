/* Buffers of render nodes: those that dma-bufs are imported as, by handles of one process. */
#include "kfd/gem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vm.h"
#include "kfd/kfd.h"
#include "kfd/real.h"
#include "machine/share.h"

/* What a call of DRM_IOCTL_GEM_CLOSE passes. */
typedef struct drm_gem_close {
  uint32_t handle, padding;
} drm_gem_close_t;

typedef struct drm_prime {
  uint32_t handle, flags;
  int32_t file;
} drm_prime_t;

typedef union drm_gem_mmap {
  uint32_t handle;
  uint64_t offset;
} drm_gem_mmap_t;

enum { GEM_MAP = 1, GEM_UNMAP = 2, GEM_CLEAR = 3, GEM_REPLACE = 4 };
enum { GEM_READABLE = 1 << 1, GEM_WRITABLE = 1 << 2, GEM_EXECUTABLE = 1 << 3 };
typedef struct drm_gem_va {
  uint32_t handle, padding, operation, flags;
  uint64_t address, offset, size;
} drm_gem_va_t;

/* Handles are places in the list, plus one. A file has one handle in a node, as long as somebody has it. */
typedef struct gem_buffer {
  int file; /* descriptor + 1; 0: no buffer */
  uint32_t node;
} gem_buffer_t;

static struct {
  pthread_mutex_t lock;
  gem_buffer_t *list;
  size_t capacity;
} gem = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gs_gem_forget(void) {
  pthread_mutex_init(&gem.lock, NULL);
  for (size_t i = 0; i < gem.capacity; i++) {
    if (gem.list[i].file)
      close(gem.list[i].file - 1);
    gem.list[i].file = 0;
  }
}

/* With the lock held: a free place in the list, or NULL when out of memory. */
static gem_buffer_t *make_room(void) {
  size_t i = 0;
  while (i < gem.capacity && gem.list[i].file)
    i++;
  if (i < gem.capacity)
    return &gem.list[i];
  const size_t capacity = gem.capacity ? 2 * gem.capacity : 64;
  gem_buffer_t *list = realloc(gem.list, capacity * sizeof *list);
  if (!list)
    return NULL;
  memset(list + gem.capacity, 0, (capacity - gem.capacity) * sizeof *list);
  gem.list = list;
  gem.capacity = capacity;
  return &list[i];
}

/* With the lock held. */
static gem_buffer_t *find_same(uint32_t node, int file) {
  for (size_t i = 0; i < gem.capacity; i++)
    if (gem.list[i].file && gem.list[i].node == node && gs_share_is_same(gem.list[i].file - 1, file))
      return &gem.list[i];
  return NULL;
}

/* The descriptor behind a handle, or -1. It stays open until the handle is closed, which nobody does who
 * still uses it. */
static int file_of(const gs_gpu_t *gpu, uint32_t handle) {
  pthread_mutex_lock(&gem.lock);
  const bool found = handle && handle <= gem.capacity && gem.list[handle - 1].node == gpu->node;
  const int file = found ? gem.list[handle - 1].file - 1 : -1;
  pthread_mutex_unlock(&gem.lock);
  return file;
}

int gs_gem_import(gs_gpu_t *gpu, void *argument) {
  drm_prime_t *wanted = argument;
  gs_share_label_t label;
  if (!gs_share_read(wanted->file, &label))
    return -EINVAL;
  pthread_mutex_lock(&gem.lock);
  gem_buffer_t *buffer = find_same(gpu->node, wanted->file);
  const bool is_new = !buffer;
  if (is_new)
    buffer = make_room();
  if (buffer && is_new) {
    buffer->node = gpu->node;
    buffer->file = gs_share_copy(wanted->file) + 1;
  }
  const int error = buffer && buffer->file ? 0 : -ENOMEM;
  wanted->handle = error ? 0 : (uint32_t)(buffer - gem.list) + 1;
  pthread_mutex_unlock(&gem.lock);
  return error;
}

int gs_gem_export(gs_gpu_t *gpu, void *argument) {
  drm_prime_t *wanted = argument;
  const int file = file_of(gpu, wanted->handle);
  if (file < 0)
    return -ENOENT;
  wanted->file = fcntl(file, wanted->flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  return wanted->file < 0 ? -errno : 0;
}

int gs_gem_close(gs_gpu_t *gpu, void *argument) {
  const drm_gem_close_t *wanted = argument;
  const int file = file_of(gpu, wanted->handle);
  if (file < 0)
    return -EINVAL;
  pthread_mutex_lock(&gem.lock);
  gem.list[wanted->handle - 1].file = 0;
  pthread_mutex_unlock(&gem.lock);
  close(file);
  return 0;
}

/* Device memory that the host does not see has no offset, as with the driver. */
int gs_gem_offset(gs_gpu_t *gpu, void *argument) {
  drm_gem_mmap_t *wanted = argument;
  gs_share_label_t label;
  const uint32_t handle = wanted->handle;
  const int file = file_of(gpu, handle);
  if (file < 0)
    return -ENOENT;
  if (!gs_share_read(file, &label))
    return -EINVAL;
  const gs_gpu_t *owner = gs_machine_gpu(gpu->machine, label.node);
  if (owner && !owner->host_visible) {
    static _Atomic bool told;
    if (!atomic_exchange(&told, true))
      gs_log("the host cannot map memory of a GPU that it does not see (GFXSIM_HOST_VISIBLE=1 makes it "
             "visible)");
    return -EPERM;
  }
  wanted->offset = gs_kfd_offset(GS_OFFSET_GEM, handle);
  return 0;
}

void *gs_gem_mmap(uint32_t handle, void *address, size_t size, int protection, int flags) {
  pthread_mutex_lock(&gem.lock);
  const int file = handle && handle <= gem.capacity ? gem.list[handle - 1].file - 1 : -1;
  pthread_mutex_unlock(&gem.lock);
  if (file < 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return gs_real_mmap(address, size, protection, MAP_SHARED | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)),
                      file, 0);
}

static int map(gs_gpu_t *gpu, const drm_gem_va_t *wanted) {
  const gs_import_t import = {
      .file = file_of(gpu, wanted->handle),
      .address = wanted->address,
      .offset = wanted->offset,
      .size = wanted->size,
  };
  const uint32_t rights[][2] = {
      {GEM_READABLE, GS_VM_READ}, {GEM_WRITABLE, GS_VM_WRITE}, {GEM_EXECUTABLE, GS_VM_EXECUTE}};
  uint32_t access = 0;
  if (import.file < 0)
    return -ENOENT;
  for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
    access |= wanted->flags & rights[i][0] ? rights[i][1] : 0;
  return gs_kfd_errno(gs_memory_view(&gpu->machine->memory, &import, 1U << gpu->ordinal, access));
}

static int unmap(gs_gpu_t *gpu, const drm_gem_va_t *wanted) {
  return gs_kfd_errno(
      gs_memory_end_view(&gpu->machine->memory, wanted->address, wanted->size, 1U << gpu->ordinal));
}

int gs_gem_va(gs_gpu_t *gpu, void *argument) {
  const drm_gem_va_t *wanted = argument;
  if (!wanted->address || !wanted->size || (wanted->address | wanted->size | wanted->offset) % GS_PAGE_BYTES)
    return -EINVAL;
  switch (wanted->operation) {
  case GEM_MAP: return map(gpu, wanted);
  case GEM_UNMAP:
  case GEM_CLEAR: return unmap(gpu, wanted);
  case GEM_REPLACE: (void)unmap(gpu, wanted); return map(gpu, wanted);
  default: return -EINVAL;
  }
}
