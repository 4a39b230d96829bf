/* Lists of buffers, and host memory for allocations. */
#include "machine/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vm.h"
#include "exec/guard.h"
#include "machine/machine.h"
#include "machine/share.h"

/* Device memory of this size and more is aligned to it, as the driver's large pages are. */
#define LARGE_PAGE_BYTES (UINT64_C(2) << 20)

size_t gs_buffers_above(const gs_buffer_list_t *list, uint64_t address) {
  size_t low = 0;
  size_t high = list->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (list->at[middle]->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int gs_buffers_insert(gs_buffer_list_t *list, gs_buffer_t *buffer) {
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity ? list->capacity * 2 : 64;
    gs_buffer_t **at = realloc(list->at, capacity * sizeof(gs_buffer_t *));
    if (!at)
      return -1;
    list->at = at;
    list->capacity = capacity;
  }
  const size_t place = gs_buffers_above(list, buffer->address);
  memmove(list->at + place + 1, list->at + place, (list->count - place) * sizeof(gs_buffer_t *));
  list->at[place] = buffer;
  list->count++;
  return 0;
}

void gs_buffers_remove(gs_buffer_list_t *list, gs_buffer_t *buffer) {
  size_t place = gs_buffers_above(list, buffer->address);
  while (place-- > 0 && list->at[place] != buffer) {
  }
  memmove(list->at + place, list->at + place + 1, (list->count - place - 1) * sizeof(gs_buffer_t *));
  list->count--;
}

/* Anonymous memory that takes no room until it is touched, aligned; MAP_FAILED when the host refuses. */
static void *map_aligned(uint64_t size, uint64_t alignment, int protection) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const uint64_t slack = alignment > GS_PAGE_BYTES ? alignment : 0;
  uint8_t *start = mmap(NULL, size + slack, protection, flags, -1, 0);
  if (start == MAP_FAILED || !slack)
    return start;
  const uint64_t head = -(uintptr_t)start & (alignment - 1);
  if (head)
    munmap(start, head);
  if (slack > head)
    munmap(start + head + size, slack - head);
  return start + head;
}

static void *map_fixed(uint64_t address, uint64_t size, int protection) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *wanted = (void *)(uintptr_t)address;
  void *start = mmap(wanted, size, protection, flags, -1, 0);
  /* Kernels before 4.17 take the flag for a mere hint. */
  if (start != MAP_FAILED && start != wanted) {
    munmap(start, size);
    return MAP_FAILED;
  }
  return start;
}

void *gs_map_with_gap(uint64_t size, uint64_t alignment, int protection) {
  uint8_t *start = map_aligned(size + GS_GAP_BYTES, alignment, protection);
  if (start != MAP_FAILED && protection != PROT_NONE && mprotect(start + size, GS_GAP_BYTES, PROT_NONE)) {
    munmap(start, size + GS_GAP_BYTES);
    return MAP_FAILED;
  }
  return start;
}

/* Device memory that the host has no access to: the program's view has no rights, the bytes are elsewhere. */
static bool is_hidden(const gs_buffer_t *buffer) {
  return buffer->on_gpu && !buffer->flags.ui32.HostAccess;
}

static uint64_t alignment_of(const gs_buffer_t *buffer) {
  return buffer->on_gpu && buffer->size >= LARGE_PAGE_BYTES ? LARGE_PAGE_BYTES : GS_PAGE_BYTES;
}

/* Tells the host's kernel what the bytes are for. */
static void advise(const gs_buffer_t *buffer) {
  /* Kernels sweep through device memory: fewer page faults. Scratch memory is touched sparsely. */
  if (alignment_of(buffer) == LARGE_PAGE_BYTES && !buffer->flags.ui32.Scratch)
    madvise(buffer->host, buffer->size, MADV_HUGEPAGE);
  /* A forked child has no GPU, and no copy of its memory. */
  if (buffer->on_gpu)
    madvise(buffer->host, buffer->size, MADV_DONTFORK);
}

/* ROCr ends in a failed assertion without its scratch memory, 4 GiB of addresses: say what happened. */
static void explain_refusal(const gs_buffer_t *buffer) {
  if (errno == ENOMEM)
    gs_log("the host refuses %llu KiB of address space for memory of node %u: raise `ulimit -v`, which must "
           "leave room for "
           "4 GiB of scratch addresses per GPU and for all memory that the program allocates",
           (unsigned long long)(buffer->size >> 10), buffer->node);
}

/* Whether the program could read there, so that these addresses are no mere reservation. */
static bool is_readable(uint64_t address, uint64_t size) {
  uint8_t byte;
  struct iovec here = {&byte, 1};
  struct iovec first = {(void *)(uintptr_t)address, 1}, last = {(void *)(uintptr_t)(address + size - 1), 1};
  return process_vm_readv(getpid(), &here, 1, &first, 1, 0) == 1 ||
         process_vm_readv(getpid(), &here, 1, &last, 1, 0) == 1;
}

/* Host memory for a buffer whose addresses the program reserved. */
static int place(gs_buffer_t *buffer, uint64_t wanted) {
  void *view = (void *)(uintptr_t)wanted;
  buffer->address = wanted;
  if (buffer->lent)
    return 0;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (is_hidden(buffer))
    buffer->host = map_aligned(buffer->size, alignment_of(buffer), PROT_READ | PROT_WRITE);
  else if (is_readable(wanted, buffer->size))
    return -1;
  else
    buffer->host = mmap(view, buffer->size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);
  if (buffer->host == MAP_FAILED) {
    explain_refusal(buffer);
    return -1;
  }
  advise(buffer);
  return 0;
}

/* As gs_buffer_reserve, with bytes that are in a file already. The program's own view of addresses that it
 * reserved is its own affair. */
static int reserve_shared(gs_buffer_t *buffer, uint64_t wanted) {
  void *host =
      mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->file - 1, (off_t)buffer->offset);
  if (host == MAP_FAILED)
    return -1;
  void *view = host;
  if (buffer->placed)
    view = (void *)(uintptr_t)wanted;
  else if (is_hidden(buffer))
    view = map_aligned(buffer->size, alignment_of(buffer), PROT_NONE);
  if (view == MAP_FAILED) {
    munmap(host, buffer->size);
    return -1;
  }
  buffer->address = (uintptr_t)view;
  buffer->host = host;
  advise(buffer);
  return 0;
}

int gs_buffer_reserve(gs_buffer_t *buffer, uint64_t wanted) {
  if (buffer->imported)
    return reserve_shared(buffer, wanted);
  if (buffer->placed)
    return place(buffer, wanted);
  const bool hidden = is_hidden(buffer);
  const uint64_t alignment = alignment_of(buffer);
  const int visible = hidden ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *view =
      wanted ? map_fixed(wanted, buffer->size, visible) : gs_map_with_gap(buffer->size, alignment, visible);
  if (view == MAP_FAILED) {
    explain_refusal(buffer);
    return -1;
  }
  buffer->gap = wanted ? 0 : GS_GAP_BYTES;
  void *host = hidden ? map_aligned(buffer->size, alignment, PROT_READ | PROT_WRITE) : view;
  if (host == MAP_FAILED) {
    explain_refusal(buffer);
    munmap(view, buffer->size + buffer->gap);
    return -1;
  }
  buffer->address = (uintptr_t)view;
  buffer->host = host;
  advise(buffer);
  return 0;
}

/* The program's reservation remains until it ends that itself: nobody else must get the addresses before. */
static void displace(gs_buffer_t *buffer) {
  if (buffer->lent)
    return;
  void *view = (void *)(uintptr_t)buffer->address;
  if (buffer->host != view)
    munmap(buffer->host, buffer->size);
  else
    (void)mmap(view, buffer->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Copies bytes into a file of zeros, which takes no room for those that are zero. */
static bool copy_out(const gs_buffer_t *buffer, int file) {
  enum { BLOCK = 16 * GS_PAGE_BYTES };
  for (uint64_t at = 0; at < buffer->size; at += BLOCK) {
    const uint8_t *from = buffer->host + at;
    const uint64_t left = buffer->size - at;
    const size_t size = left < BLOCK ? (size_t)left : BLOCK;
    const bool is_zero = !*from && !memcmp(from, from + 1, size - 1);
    if (!is_zero && pwrite(file, from, size, (off_t)at) != (ssize_t)size)
      return false;
  }
  return true;
}

int gs_buffer_share(gs_buffer_t *buffer) {
  const gs_share_label_t label = {.size = buffer->size, .node = buffer->node, .flags = buffer->flags.Value};
  const int file = gs_share_make(&label);
  if (file < 0)
    return -1;
  gs_guard_hold(buffer->host, buffer->size);
  const bool moved =
      !mprotect(buffer->host, buffer->size, PROT_READ) && copy_out(buffer, file) &&
      mmap(buffer->host, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (!moved) {
    const int error = errno;
    mprotect(buffer->host, buffer->size, PROT_READ | PROT_WRITE);
    close(file);
    errno = error;
  }
  gs_guard_release();
  if (!moved)
    return -1;
  advise(buffer);
  buffer->file = file + 1;
  return 0;
}

void gs_buffer_release(gs_buffer_t *buffer) {
  if (buffer->file)
    close(buffer->file - 1);
  if (buffer->placed) {
    displace(buffer);
    return;
  }
  void *view = (void *)(uintptr_t)buffer->address;
  munmap(view, buffer->size + buffer->gap);
  if (buffer->host != view)
    munmap(buffer->host, buffer->size);
}

bool gs_host_memory_exists(uint64_t address, uint64_t size) {
  const uint64_t start = address & ~(uint64_t)(GS_PAGE_BYTES - 1);
  /* Linux writes nothing back then, and looks at mappings, not at each page: memory of any size at once. */
  return msync((void *)(uintptr_t)start, address + size - start, MS_ASYNC) == 0;
}

/* Whether the page can be written to. Asking makes it present, as pinning would. */
static bool is_writable(uint64_t page) {
  return madvise((void *)(uintptr_t)page, GS_PAGE_BYTES, MADV_POPULATE_WRITE) == 0;
}

bool gs_host_memory_is_writable(uint64_t address, uint64_t size) {
  static uint8_t own[2 * GS_PAGE_BYTES];
  const uint64_t mask = ~(uint64_t)(GS_PAGE_BYTES - 1);
  if (is_writable(address & mask) && is_writable((address + size - 1) & mask))
    return true;
  /* Kernels before 5.14 do not know the request, and refuse it for every page. */
  return !is_writable(((uintptr_t)own + GS_PAGE_BYTES) & mask);
}
