/* Allocations, registrations, and what of them each GPU may access. */
#include "machine/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vm.h"
#include "check/check.h"
#include "machine/buffers.h"
#include "machine/ledger.h"
#include "machine/poison.h"
#include "machine/machine.h"
#include "machine/share.h"

/* Calls of the driver are counted here, below both doors, whether they succeed or not. */

static void count(const gs_memory_t *memory, gs_cost_t kind, uint64_t more) {
  gs_cost_add(memory->machine->costs, kind, more);
}

/* The driver pins the pages of [start, start + size), one of them at least. */
static void count_pin(const gs_memory_t *memory, uint64_t start, uint64_t size) {
  count(memory, GS_COST_REGISTER, 1);
  count(memory, GS_COST_PAGE, (start + size - 1) / GS_PAGE_BYTES - start / GS_PAGE_BYTES + 1);
}

/* Whether this is memory that the program had before. What GPUs know by the program's own address was
 * allocated: the thunk lends the pages that such an allocation consists of. */
static bool is_pin(const gs_buffer_t *buffer) {
  return buffer->kind == GS_BUFFER_REGISTERED || (buffer->lent && (uintptr_t)buffer->host != buffer->address);
}

int gs_memory_init(gs_memory_t *memory, gs_machine_t *machine) {
  memset(memory, 0, sizeof *memory);
  memory->used = calloc(gs_machine_nodes(machine), sizeof *memory->used);
  memory->fresh = calloc(1, sizeof *memory->fresh);
  if (!memory->used || !memory->fresh || pthread_mutex_init(&memory->lock, NULL)) {
    free(memory->fresh);
    free(memory->used);
    return -1;
  }
  gs_fresh_init(memory->fresh, &machine->options);
  memory->machine = machine;
  uint64_t bytes[GS_MOST_GPUS];
  for (uint32_t i = 0; i < machine->gpu_count; i++)
    bytes[i] = machine->gpu[i].memory_bytes;
  if (gs_ledger_open(&memory->ledger, machine->options.shared, bytes, machine->gpu_count))
    memory->ledger = (gs_ledger_t){0}; /* it was said why; the process is alone then */
  memory->system_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (machine->options.numa)
    memory->system_bytes = gs_page_down(memory->system_bytes / 2);
  memory->initialized = true;
  return 0;
}

static void buffer_free(gs_buffer_t *buffer) {
  while (buffer->mappings) {
    gs_mapping_t *mapping = buffer->mappings;
    buffer->mappings = mapping->next;
    free(mapping);
  }
  free(buffer->mapped_nodes);
  free(buffer);
}

void gs_memory_fini(gs_memory_t *memory) {
  if (!memory->initialized)
    return;
  for (size_t i = 0; i < memory->allocated.count; i++) {
    gs_buffer_t *buffer = memory->allocated.at[i];
    if (buffer->on_gpu)
      gs_buffer_release(buffer);
    buffer_free(buffer);
  }
  for (size_t i = 0; i < memory->covered.count; i++)
    buffer_free(memory->covered.at[i]);
  for (size_t i = 0; i < memory->registered.count; i++)
    buffer_free(memory->registered.at[i]);
  free(memory->allocated.at);
  free(memory->covered.at);
  free(memory->registered.at);
  free(memory->used);
  gs_fresh_fini(memory->fresh);
  free(memory->fresh);
  gs_ledger_close(&memory->ledger);
  pthread_mutex_destroy(&memory->lock);
  memory->initialized = false;
}

/* Lookup. All of it with the lock held. */

static bool contains(const gs_buffer_t *buffer, uint64_t address, uint64_t size) {
  return address >= buffer->address && address - buffer->address < buffer->size &&
         size <= buffer->size - (address - buffer->address);
}

/* Of a list of buffers that do not overlap. */
static gs_buffer_t *find_in(const gs_buffer_list_t *list, uint64_t address, uint64_t size) {
  const size_t above = gs_buffers_above(list, address);
  gs_buffer_t *buffer = above ? list->at[above - 1] : NULL;
  return buffer && contains(buffer, address, size) ? buffer : NULL;
}

static gs_buffer_t *find_allocated(const gs_memory_t *memory, uint64_t address, uint64_t size) {
  return find_in(&memory->allocated, address, size);
}

/* The allocation that starts at an address, also when it made way. */
static gs_buffer_t *find_start(const gs_memory_t *memory, uint64_t address) {
  gs_buffer_t *buffer = find_in(&memory->covered, address, 1);
  if (!buffer || buffer->address != address)
    buffer = find_allocated(memory, address, 1);
  return buffer && buffer->address == address ? buffer : NULL;
}

/* The newest registration that starts at `address` and has at least `size` bytes; one with (or without)
 * mappings goes before others. */
static gs_buffer_t *find_registered_at(const gs_memory_t *memory, uint64_t address, uint64_t size,
                                       bool mapped) {
  gs_buffer_t *found = NULL;
  for (size_t i = gs_buffers_above(&memory->registered, address); i-- > 0;) {
    gs_buffer_t *buffer = memory->registered.at[i];
    if (buffer->address != address)
      break;
    if (buffer->size < size)
      continue;
    if ((buffer->mappings != NULL) == mapped)
      return buffer;
    found = found ? found : buffer;
  }
  return found;
}

static gs_buffer_t *find_registered(const gs_memory_t *memory, uint64_t address, uint64_t size) {
  for (size_t i = gs_buffers_above(&memory->registered, address); i-- > 0;)
    if (contains(memory->registered.at[i], address, size))
      return memory->registered.at[i];
  return NULL;
}

/* The buffer that [address, address + size) is part of. A registration goes before the allocation around it,
 * since its owner means the registration when he names its start. */
static gs_buffer_t *find_buffer(const gs_memory_t *memory, uint64_t address, uint64_t size, bool mapped) {
  gs_buffer_t *buffer = find_registered_at(memory, address, size, mapped);
  if (!buffer)
    buffer = find_allocated(memory, address, size);
  return buffer ? buffer : find_registered(memory, address, size);
}

static gs_mapping_t **find_mapping(gs_buffer_t *buffer, uint64_t start) {
  gs_mapping_t **link = &buffer->mappings;
  while (*link && (*link)->start != start)
    link = &(*link)->next;
  return link;
}

/* Address spaces. Buffers may share pages (registrations overlap), so that what a GPU may access is computed
 * from all mappings that cover an address. */

/* What covers one address, and up to where that stays so. */
typedef struct cover {
  const gs_buffer_t *buffer; /* NULL = nothing */
  uint32_t access;
  uint64_t end;
} cover_t;

static void cover_with(cover_t *cover, const gs_buffer_t *buffer, uint32_t gpu_bit, uint64_t address) {
  for (const gs_mapping_t *mapping = buffer->mappings; mapping; mapping = mapping->next) {
    if (!(mapping->gpus & gpu_bit) || mapping->end <= address)
      continue;
    if (mapping->start > address) {
      cover->end = mapping->start < cover->end ? mapping->start : cover->end;
      continue;
    }
    cover->end = mapping->end < cover->end ? mapping->end : cover->end;
    cover->access |= mapping->access;
    if (!cover->buffer)
      cover->buffer = buffer;
  }
}

static cover_t cover_at(const gs_memory_t *memory, uint32_t gpu_bit, uint64_t address, uint64_t end) {
  cover_t cover = {.end = end};
  /* The allocations first: they know where the bytes are. */
  for (size_t i = gs_buffers_above(&memory->allocated, end); i-- > 0;) {
    const gs_buffer_t *buffer = memory->allocated.at[i];
    cover_with(&cover, buffer, gpu_bit, address);
    if (buffer->address <= address)
      break;
  }
  for (size_t i = gs_buffers_above(&memory->registered, end); i-- > 0;)
    cover_with(&cover, memory->registered.at[i], gpu_bit, address);
  return cover;
}

/* Where the bytes at `address` are, which `buffer` contains, or shares a page with. */
static uint8_t *host_of(const gs_memory_t *memory, const gs_buffer_t *buffer, uint64_t address) {
  if (buffer->kind == GS_BUFFER_REGISTERED) {
    const gs_buffer_t *around = find_allocated(memory, address, 1);
    if (!around)
      return (uint8_t *)(uintptr_t)address;
    buffer = around;
  }
  return buffer->host + (address - buffer->address);
}

static gs_vm_kind_t kind_of(const gs_buffer_t *buffer) {
  if (!buffer->on_gpu)
    return GS_VM_HOST;
  return buffer->flags.ui32.CoarseGrain ? GS_VM_COARSE : GS_VM_FINE;
}

/* Brings a GPU's address space between two addresses in line with the mappings. */
static int refresh(gs_memory_t *memory, uint32_t gpu, uint64_t start, uint64_t end) {
  gs_vm_t *vm = gs_device_vm(memory->machine->gpu[gpu].device);
  while (start < end) {
    const cover_t cover = cover_at(memory, 1U << gpu, start, end);
    if (cover.buffer) {
      const gs_vm_range_t range = {
          .start = start,
          .end = cover.end,
          .host = host_of(memory, cover.buffer, start),
          .allocation = cover.buffer->address,
          .allocation_size = cover.buffer->size,
          .access = cover.access,
          .kind = kind_of(cover.buffer),
          .is_coarse = cover.buffer->flags.ui32.CoarseGrain,
      };
      if (gs_vm_map(vm, &range))
        return -1;
    } else if (gs_vm_unmap(vm, start, cover.end)) {
      return -1;
    }
    start = cover.end;
  }
  return 0;
}

static int refresh_all(gs_memory_t *memory, uint32_t gpus, uint64_t start, uint64_t end) {
  int status = 0;
  for (uint32_t i = 0; i < memory->machine->gpu_count; i++)
    if (gpus & 1U << i)
      status |= refresh(memory, i, start, end);
  return status;
}

/* Brings the list of nodes that pointer queries show up to date. */
static void list_mapped_nodes(const gs_memory_t *memory, gs_buffer_t *buffer) {
  uint32_t gpus = 0;
  for (const gs_mapping_t *mapping = buffer->mappings; mapping; mapping = mapping->next)
    gpus |= mapping->gpus;
  uint32_t count = 0;
  for (uint32_t i = 0; i < memory->machine->gpu_count; i++)
    if (gpus & 1U << i)
      buffer->mapped_nodes[count++] = memory->machine->gpu[i].node;
  buffer->mapped_count = count;
}

/* Limits. */

static uint64_t limit_of(const gs_memory_t *memory, uint32_t node) {
  const gs_gpu_t *gpu = gs_machine_gpu(memory->machine, node);
  return gpu ? gpu->memory_bytes : memory->system_bytes;
}

static bool is_gpu(const gs_memory_t *memory, uint32_t node) {
  return gs_machine_gpu(memory->machine, node) != NULL;
}

/* Of a GPU's memory other processes may hold a part. */
static bool charge(gs_memory_t *memory, uint32_t node, uint64_t bytes) {
  if (bytes > limit_of(memory, node) - memory->used[node] ||
      (is_gpu(memory, node) && !gs_ledger_take(&memory->ledger, node - 1, bytes)))
    return false;
  memory->used[node] += bytes;
  return true;
}

static void discharge(gs_memory_t *memory, uint32_t node, uint64_t bytes) {
  memory->used[node] -= bytes;
  if (is_gpu(memory, node))
    gs_ledger_give(&memory->ledger, node - 1, bytes);
}

uint64_t gs_memory_available(gs_memory_t *memory, uint32_t node) {
  pthread_mutex_lock(&memory->lock);
  const uint64_t others = is_gpu(memory, node) ? gs_ledger_of_others(&memory->ledger, node - 1) : 0;
  const uint64_t bytes = limit_of(memory, node) - memory->used[node] - others;
  pthread_mutex_unlock(&memory->lock);
  return bytes;
}

/* Allocations. */

static gs_buffer_t *buffer_create(const gs_memory_t *memory, gs_buffer_kind_t kind, uint32_t node,
                                  uint64_t size, HsaMemFlags flags) {
  gs_buffer_t *buffer = calloc(1, sizeof *buffer);
  uint32_t *nodes = calloc(memory->machine->gpu_count + 1, sizeof *nodes);
  if (!buffer || !nodes) {
    free(buffer);
    free(nodes);
    return NULL;
  }
  buffer->kind = kind;
  buffer->node = node;
  buffer->on_gpu = gs_machine_gpu(memory->machine, node) != NULL;
  buffer->size = size;
  buffer->flags = flags;
  buffer->mapped_nodes = nodes;
  return buffer;
}

/* A scratch reservation is address space only: what is mapped of it is charged. */
static uint64_t allocation_charge(const gs_buffer_t *buffer) {
  return buffer->flags.ui32.Scratch || buffer->imported ? 0 : buffer->size;
}

/* ROCr itself takes memory, too, and gives no notes. */
static void tell_checker(const gs_memory_t *memory, const void *address, uint64_t size) {
  if (memory->machine->check)
    gs_check_forget(memory->machine->check, (uintptr_t)address, (uintptr_t)address + size);
}

/* The last buffer of a list that has any of these addresses. With the lock held. */
static gs_buffer_t *last_within(const gs_buffer_list_t *list, uint64_t address, uint64_t size) {
  const size_t above = gs_buffers_above(list, address + size - 1);
  gs_buffer_t *last = above ? list->at[above - 1] : NULL;
  return last && last->address + last->size > address ? last : NULL;
}

/* Returns 0, or -1 when out of memory: then nothing has moved. */
static int move(gs_buffer_t *buffer, gs_buffer_list_t *from, gs_buffer_list_t *to) {
  if (gs_buffers_insert(to, buffer))
    return -1;
  gs_buffers_remove(from, buffer);
  return 0;
}

/* With the lock held: whether nobody else uses the addresses that the host chose for a buffer. To the driver,
 * addresses are in use where a GPU has them mapped. ROCr 6.1 with a thunk of its own reserves addresses for
 * memory that it maps later by an allocation of the program's pages that no GPU ever maps, so these make way.
 */
static bool make_way(gs_memory_t *memory, const gs_buffer_t *buffer, uint64_t address) {
  if (!buffer->is_view)
    return !last_within(&memory->allocated, address, buffer->size) &&
           !last_within(&memory->covered, address, buffer->size);
  gs_buffer_t *other;
  while ((other = last_within(&memory->allocated, address, buffer->size)))
    if (!other->lent || other->mappings || move(other, &memory->allocated, &memory->covered))
      return false;
  return true;
}

/* Lists those that made way again when nothing is left in their addresses. Out of memory, they stay where
 * they are until the next time. With the lock held. */
static void uncover(gs_memory_t *memory) {
  for (size_t i = memory->covered.count; i-- > 0;) {
    gs_buffer_t *buffer = memory->covered.at[i];
    if (!last_within(&memory->allocated, buffer->address, buffer->size))
      (void)move(buffer, &memory->covered, &memory->allocated);
  }
}

/* Finds room for a new buffer and lists it; frees it if that fails. */
static HSAKMT_STATUS add_allocation(gs_memory_t *memory, gs_buffer_t *buffer, uint64_t wanted) {
  HSAKMT_STATUS status = HSAKMT_STATUS_NO_MEMORY;
  const uint64_t charged = allocation_charge(buffer);
  pthread_mutex_lock(&memory->lock);
  if (buffer->placed && !make_way(memory, buffer, wanted)) {
    status = HSAKMT_STATUS_INVALID_PARAMETER;
    goto no_room;
  }
  if (!charge(memory, buffer->node, charged))
    goto no_room;
  if (gs_buffer_reserve(buffer, wanted))
    goto no_host_memory;
  if (!buffer->lent && !buffer->imported)
    gs_fresh_fill(memory->fresh, buffer);
  if (gs_buffers_insert(&memory->allocated, buffer))
    goto not_listed;
  pthread_mutex_unlock(&memory->lock);
  return HSAKMT_STATUS_SUCCESS;
not_listed:
  gs_buffer_release(buffer);
no_host_memory:
  discharge(memory, buffer->node, charged);
no_room:
  uncover(memory);
  pthread_mutex_unlock(&memory->lock);
  buffer_free(buffer);
  return status;
}

HSAKMT_STATUS gs_memory_allocate(gs_memory_t *memory, uint32_t node, uint64_t size, HsaMemFlags flags,
                                 void **address) {
  count(memory, GS_COST_ALLOCATE, 1);
  gs_buffer_t *buffer = buffer_create(memory, GS_BUFFER_ALLOCATED, node, size, flags);
  if (!buffer)
    return HSAKMT_STATUS_NO_MEMORY;
  const uint64_t wanted = flags.ui32.FixedAddress ? (uintptr_t)*address : 0;
  const HSAKMT_STATUS status = add_allocation(memory, buffer, wanted);
  if (status != HSAKMT_STATUS_SUCCESS)
    return status;
  *address = (void *)(uintptr_t)buffer->address;
  tell_checker(memory, *address, size);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_memory_place(gs_memory_t *memory, uint32_t node, uint64_t address, uint64_t size,
                              HsaMemFlags flags, void *lent) {
  if (lent && (uintptr_t)lent != address)
    count_pin(memory, (uintptr_t)lent, size);
  else
    count(memory, GS_COST_ALLOCATE, 1);
  if (lent && !gs_host_memory_exists((uintptr_t)lent, size))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (lent && !gs_host_memory_is_writable((uintptr_t)lent, size))
    return HSAKMT_STATUS_ERROR;
  gs_buffer_t *buffer = buffer_create(memory, GS_BUFFER_ALLOCATED, node, size, flags);
  if (!buffer)
    return HSAKMT_STATUS_NO_MEMORY;
  buffer->placed = true;
  buffer->lent = lent != NULL;
  buffer->host = lent;
  const HSAKMT_STATUS status = add_allocation(memory, buffer, address);
  if (status == HSAKMT_STATUS_SUCCESS)
    tell_checker(memory, (void *)(uintptr_t)address, size);
  return status;
}

/* Ends all mappings of a buffer. With the lock held. On failure (out of memory) nothing is lost: the mappings
 * remain. */
static int drop_mappings(gs_memory_t *memory, gs_buffer_t *buffer) {
  while (buffer->mappings) {
    gs_mapping_t *mapping = buffer->mappings;
    buffer->mappings = mapping->next;
    if (refresh_all(memory, mapping->gpus, mapping->start, mapping->end)) {
      buffer->mappings = mapping;
      return -1;
    }
    discharge(memory, buffer->node, mapping->charged);
    free(mapping);
  }
  list_mapped_nodes(memory, buffer);
  return 0;
}

/* Registrations inside an allocation that goes away lose their bytes with it. */
static int drop_registrations_in(gs_memory_t *memory, const gs_buffer_t *allocation) {
  const uint64_t end = allocation->address + allocation->size;
  for (size_t i = gs_buffers_above(&memory->registered, end); i-- > 0;) {
    gs_buffer_t *buffer = memory->registered.at[i];
    if (buffer->address < end && buffer->address + buffer->size > allocation->address &&
        drop_mappings(memory, buffer))
      return -1;
  }
  return 0;
}

/* With the lock held. */
static HSAKMT_STATUS free_allocation(gs_memory_t *memory, gs_buffer_t *buffer) {
  if (drop_mappings(memory, buffer) || drop_registrations_in(memory, buffer))
    return HSAKMT_STATUS_NO_MEMORY;
  gs_buffers_remove(
      find_allocated(memory, buffer->address, 1) == buffer ? &memory->allocated : &memory->covered, buffer);
  uncover(memory);
  discharge(memory, buffer->node, allocation_charge(buffer));
  gs_buffer_release(buffer);
  buffer_free(buffer);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_memory_free(gs_memory_t *memory, void *address) {
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_start(memory, (uintptr_t)address);
  count(memory, buffer && is_pin(buffer) ? GS_COST_REGISTER : GS_COST_FREE, 1);
  const HSAKMT_STATUS status = buffer ? free_allocation(memory, buffer) : HSAKMT_STATUS_INVALID_PARAMETER;
  pthread_mutex_unlock(&memory->lock);
  return status;
}

static bool is_zero(const uint8_t *page) {
  return page[0] == 0 && memcmp(page, page + 1, GS_PAGE_BYTES - 1) == 0;
}

static void forget_zeros(uint8_t *bytes, uint64_t size) {
  uint64_t start = 0;
  for (uint64_t at = 0; at < size; at += GS_PAGE_BYTES)
    if (!is_zero(bytes + at)) {
      if (start < at)
        madvise(bytes + start, at - start, MADV_DONTNEED);
      start = at + GS_PAGE_BYTES;
    }
  if (start < size)
    madvise(bytes + start, size - start, MADV_DONTNEED);
}

void gs_memory_forget_zeros(gs_memory_t *memory, void *address, uint64_t size) {
  pthread_mutex_lock(&memory->lock);
  const gs_buffer_t *buffer = find_allocated(memory, (uintptr_t)address, size);
  /* Private anonymous pages: of others the host may find something else than zeros. */
  const bool is_private = buffer && !buffer->on_gpu && !buffer->lent && !buffer->imported && !buffer->file;
  if (is_private && (uintptr_t)address % GS_PAGE_BYTES == 0)
    forget_zeros(address, size & ~(uint64_t)(GS_PAGE_BYTES - 1));
  pthread_mutex_unlock(&memory->lock);
}

/* Registrations. */

HSAKMT_STATUS gs_memory_register(gs_memory_t *memory, void *address, uint64_t size, HsaMemFlags flags) {
  count_pin(memory, (uintptr_t)address, size);
  pthread_mutex_lock(&memory->lock);
  const bool is_ours = find_allocated(memory, (uintptr_t)address, size) != NULL;
  pthread_mutex_unlock(&memory->lock);
  if (!is_ours && !gs_host_memory_exists((uintptr_t)address, size))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  /* The driver pins for writing, whatever the GPU does (amdgpu_amdkfd_gpuvm.c, init_user_pages): constants of
   * a program can't be locked. */
  if (!is_ours && !gs_host_memory_is_writable((uintptr_t)address, size))
    return HSAKMT_STATUS_ERROR;
  gs_buffer_t *buffer = buffer_create(memory, GS_BUFFER_REGISTERED, GS_CPU_NODE, size, flags);
  if (!buffer)
    return HSAKMT_STATUS_NO_MEMORY;
  buffer->address = (uintptr_t)address;
  buffer->host = address;
  pthread_mutex_lock(&memory->lock);
  const int failed = gs_buffers_insert(&memory->registered, buffer);
  pthread_mutex_unlock(&memory->lock);
  if (!failed) {
    tell_checker(memory, address, size);
    return HSAKMT_STATUS_SUCCESS;
  }
  buffer_free(buffer);
  return HSAKMT_STATUS_NO_MEMORY;
}

HSAKMT_STATUS gs_memory_deregister(gs_memory_t *memory, void *address) {
  HSAKMT_STATUS status = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  count(memory, GS_COST_REGISTER, 1);
  pthread_mutex_lock(&memory->lock);
  const gs_buffer_t *around = find_allocated(memory, (uintptr_t)address, 1);
  const bool is_import = around && around->imported && around->address == (uintptr_t)address;
  /* Unlocking unmaps first: the one without mappings is meant. */
  gs_buffer_t *buffer = find_registered_at(memory, (uintptr_t)address, 0, false);
  if (buffer) {
    status = drop_mappings(memory, buffer) ? HSAKMT_STATUS_NO_MEMORY : HSAKMT_STATUS_SUCCESS;
    if (status == HSAKMT_STATUS_SUCCESS) {
      gs_buffers_remove(&memory->registered, buffer);
      buffer_free(buffer);
    }
  }
  pthread_mutex_unlock(&memory->lock);
  return !buffer && is_import ? gs_memory_free(memory, address) : status;
}

/* Mappings. */

static uint32_t access_of(HsaMemFlags flags, bool read_only) {
  uint32_t access = GS_VM_READ;
  if (!flags.ui32.ReadOnly && !read_only)
    access |= GS_VM_WRITE;
  if (flags.ui32.ExecuteAccess)
    access |= GS_VM_EXECUTE;
  return access;
}

static gs_mapping_t *mapping_create(gs_memory_t *memory, gs_buffer_t *buffer, uint64_t start, uint64_t end) {
  gs_mapping_t *mapping = calloc(1, sizeof *mapping);
  if (!mapping)
    return NULL;
  mapping->start = start;
  mapping->end = end;
  mapping->charged = buffer->flags.ui32.Scratch ? end - start : 0;
  if (!charge(memory, buffer->node, mapping->charged)) {
    free(mapping);
    return NULL;
  }
  mapping->next = buffer->mappings;
  buffer->mappings = mapping;
  return mapping;
}

/* With the lock held. Mapping the same start again with another size or for other GPUs replaces the first
 * mapping. */
static HSAKMT_STATUS map_buffer(gs_memory_t *memory, gs_buffer_t *buffer, uint64_t address, uint64_t size,
                                bool read_only, uint32_t gpus) {
  const uint64_t start = gs_page_down(address);
  const uint64_t end = gs_page_up(address + size);
  gs_mapping_t *mapping = *find_mapping(buffer, start);
  const bool is_new = !mapping;
  if (is_new)
    mapping = mapping_create(memory, buffer, start, end);
  if (!mapping)
    return HSAKMT_STATUS_NO_MEMORY;
  const gs_mapping_t before = *mapping;
  mapping->end = end > before.end ? end : before.end;
  mapping->gpus = gpus;
  mapping->access = access_of(buffer->flags, read_only);
  if (refresh_all(memory, gpus | before.gpus, start, mapping->end) == 0) {
    list_mapped_nodes(memory, buffer);
    return HSAKMT_STATUS_SUCCESS;
  }
  mapping->end = before.end;
  mapping->gpus = before.gpus;
  mapping->access = before.access;
  gs_log("out of host memory while mapping 0x%llx for a GPU", (unsigned long long)address);
  if (is_new) {
    discharge(memory, buffer->node, mapping->charged);
    buffer->mappings = mapping->next;
    free(mapping);
  }
  return HSAKMT_STATUS_NO_MEMORY;
}

HSAKMT_STATUS gs_memory_map(gs_memory_t *memory, void *address, uint64_t size, bool read_only,
                            uint32_t gpus) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  count(memory, GS_COST_MAP, 1);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_buffer(memory, (uintptr_t)address, size, false);
  if (buffer)
    status = map_buffer(memory, buffer, (uintptr_t)address, size, read_only, gpus);
  pthread_mutex_unlock(&memory->lock);
  return status;
}

HSAKMT_STATUS gs_memory_map_default(gs_memory_t *memory, void *address, uint64_t size) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  count(memory, GS_COST_MAP, 1);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_buffer(memory, (uintptr_t)address, size, false);
  if (buffer) {
    const gs_gpu_t *gpu = gs_machine_gpu(memory->machine, buffer->node);
    const uint32_t gpus = gpu ? 1U << gpu->ordinal : (1U << memory->machine->gpu_count) - 1;
    status = map_buffer(memory, buffer, (uintptr_t)address, size, false, gpus);
  }
  pthread_mutex_unlock(&memory->lock);
  return status;
}

/* With the lock held. */
static HSAKMT_STATUS grant(gs_memory_t *memory, gs_buffer_t *buffer, uint32_t gpus, bool give) {
  const gs_mapping_t *mapping = *find_mapping(buffer, buffer->address);
  const uint32_t before = mapping ? mapping->gpus : 0;
  const uint32_t after = give ? before | gpus : before & ~gpus;
  if (after == before)
    return HSAKMT_STATUS_SUCCESS;
  if (after)
    return map_buffer(memory, buffer, buffer->address, buffer->size, false, after);
  return drop_mappings(memory, buffer) ? HSAKMT_STATUS_NO_MEMORY : HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_memory_grant(gs_memory_t *memory, void *address, uint32_t gpus, bool give) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  count(memory, GS_COST_MAP, 1);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_start(memory, (uintptr_t)address);
  const bool is_covered = buffer && find_allocated(memory, (uintptr_t)address, 1) != buffer;
  if (buffer && !(is_covered && give))
    status = grant(memory, buffer, gpus, give);
  pthread_mutex_unlock(&memory->lock);
  return status;
}

HSAKMT_STATUS gs_memory_unmap(gs_memory_t *memory, void *address) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  count(memory, GS_COST_MAP, 1);
  gs_machine_compare_reads(memory->machine);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_buffer(memory, (uintptr_t)address, 0, true);
  if (buffer) {
    gs_mapping_t **link = find_mapping(buffer, gs_page_down((uintptr_t)address));
    gs_mapping_t *mapping = *link;
    /* Memory that no GPU could access: nothing to do, as with the driver. */
    status = HSAKMT_STATUS_SUCCESS;
    if (mapping) {
      *link = mapping->next;
      if (refresh_all(memory, mapping->gpus, mapping->start, mapping->end)) {
        mapping->next = *link;
        *link = mapping;
        status = HSAKMT_STATUS_NO_MEMORY;
      } else {
        discharge(memory, buffer->node, mapping->charged);
        free(mapping);
        list_mapped_nodes(memory, buffer);
      }
    }
  }
  pthread_mutex_unlock(&memory->lock);
  return status;
}

gs_buffer_t *gs_memory_pin(gs_memory_t *memory, uint64_t address, uint64_t size, HsaMemFlags flags,
                           uint32_t gpus) {
  count(memory, GS_COST_MAP, 1);
  gs_buffer_t *pin = buffer_create(memory, GS_BUFFER_REGISTERED, GS_CPU_NODE, size, flags);
  if (!pin)
    return NULL;
  pin->address = address;
  pin->host = (uint8_t *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
  pthread_mutex_lock(&memory->lock);
  bool done = !gs_buffers_insert(&memory->registered, pin);
  if (done && map_buffer(memory, pin, address, size, false, gpus) != HSAKMT_STATUS_SUCCESS) {
    gs_buffers_remove(&memory->registered, pin);
    done = false;
  }
  pthread_mutex_unlock(&memory->lock);
  if (done)
    return pin;
  buffer_free(pin);
  return NULL;
}

void gs_memory_unpin(gs_memory_t *memory, gs_buffer_t *pin) {
  pthread_mutex_lock(&memory->lock);
  /* Out of memory, it stays until the machine ends. */
  const bool done = !drop_mappings(memory, pin);
  if (done)
    gs_buffers_remove(&memory->registered, pin);
  pthread_mutex_unlock(&memory->lock);
  if (done)
    buffer_free(pin);
}

/* Sharing. */

/* With the lock held: the allocation that starts at an address, with its bytes in a file; or NULL, and
 * *status. */
static gs_buffer_t *share(gs_memory_t *memory, const void *address, HSAKMT_STATUS *status) {
  gs_buffer_t *buffer = find_allocated(memory, (uintptr_t)address, 1);
  *status = HSAKMT_STATUS_INVALID_PARAMETER;
  if (!buffer || buffer->address != (uintptr_t)address || buffer->lent || buffer->flags.ui32.Scratch)
    return NULL;
  *status = HSAKMT_STATUS_NO_MEMORY;
  if (!buffer->file && gs_buffer_share(buffer)) {
    gs_log("memory cannot be shared: no file for %llu KiB (%s)", (unsigned long long)(buffer->size >> 10),
           strerror(errno));
    return NULL;
  }
  *status = HSAKMT_STATUS_SUCCESS;
  return buffer;
}

HSAKMT_STATUS gs_memory_export(gs_memory_t *memory, const void *address, int *file) {
  HSAKMT_STATUS status;
  pthread_mutex_lock(&memory->lock);
  const gs_buffer_t *buffer = share(memory, address, &status);
  *file = buffer ? fcntl(buffer->file - 1, F_DUPFD_CLOEXEC, 0) : -1;
  pthread_mutex_unlock(&memory->lock);
  return buffer && *file < 0 ? HSAKMT_STATUS_NO_MEMORY : status;
}

HSAKMT_STATUS gs_memory_tell(gs_memory_t *memory, const void *address, uint32_t *words) {
  HSAKMT_STATUS status;
  pthread_mutex_lock(&memory->lock);
  const gs_buffer_t *buffer = share(memory, address, &status);
  if (buffer)
    gs_share_tell(buffer->file - 1, words);
  pthread_mutex_unlock(&memory->lock);
  return status;
}

static HSAKMT_STATUS import(gs_memory_t *memory, const gs_import_t *wanted, bool is_view, void **address) {
  gs_share_label_t label;
  count(memory, GS_COST_ALLOCATE, 1);
  if (!gs_share_read(wanted->file, &label) || label.node >= gs_machine_nodes(memory->machine) ||
      !wanted->size || wanted->offset > label.size || wanted->size > label.size - wanted->offset)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_buffer_t *buffer = buffer_create(memory, GS_BUFFER_ALLOCATED, label.node, wanted->size, wanted->flags);
  const int file = buffer ? gs_share_copy(wanted->file) : -1;
  if (file < 0) {
    if (buffer)
      buffer_free(buffer);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  buffer->imported = true;
  buffer->is_view = is_view;
  buffer->placed = wanted->address != 0;
  buffer->file = file + 1;
  buffer->offset = wanted->offset;
  const HSAKMT_STATUS status = add_allocation(memory, buffer, wanted->address);
  if (status != HSAKMT_STATUS_SUCCESS) {
    close(file);
    return status;
  }
  *address = (void *)(uintptr_t)buffer->address;
  tell_checker(memory, *address, wanted->size);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_memory_import(gs_memory_t *memory, const gs_import_t *wanted, void **address) {
  return import(memory, wanted, false, address);
}

/* With the lock held: the buffer at exactly these addresses. */
static gs_buffer_t *find_view(const gs_memory_t *memory, uint64_t address, uint64_t size) {
  gs_buffer_t *buffer = find_allocated(memory, address, 1);
  return buffer && buffer->is_view && buffer->address == address && buffer->size == size ? buffer : NULL;
}

static gs_mapping_t **find_mapping_of(gs_buffer_t *buffer, uint32_t gpu) {
  gs_mapping_t **link = &buffer->mappings;
  while (*link && (*link)->gpus != gpu)
    link = &(*link)->next;
  return link;
}

/* With the lock held. Each GPU has a mapping of its own, since rights may differ. */
static HSAKMT_STATUS map_view(gs_memory_t *memory, gs_buffer_t *buffer, uint32_t gpu, uint32_t access) {
  if (*find_mapping_of(buffer, gpu))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  gs_mapping_t *mapping = mapping_create(memory, buffer, buffer->address, buffer->address + buffer->size);
  if (!mapping)
    return HSAKMT_STATUS_NO_MEMORY;
  mapping->gpus = gpu;
  mapping->access = access;
  if (refresh_all(memory, gpu, mapping->start, mapping->end)) {
    buffer->mappings = mapping->next;
    free(mapping);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  list_mapped_nodes(memory, buffer);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS gs_memory_view(gs_memory_t *memory, const gs_import_t *wanted, uint32_t gpu, uint32_t access) {
  HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
  void *address;
  pthread_mutex_lock(&memory->lock);
  const bool is_new = !find_view(memory, wanted->address, wanted->size);
  pthread_mutex_unlock(&memory->lock);
  if (is_new)
    status = import(memory, wanted, true, &address);
  if (status != HSAKMT_STATUS_SUCCESS)
    return status;
  count(memory, GS_COST_MAP, 1);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_view(memory, wanted->address, wanted->size);
  status = HSAKMT_STATUS_INVALID_PARAMETER;
  if (buffer && buffer->offset == wanted->offset && gs_share_is_same(buffer->file - 1, wanted->file))
    status = map_view(memory, buffer, gpu, access);
  pthread_mutex_unlock(&memory->lock);
  return status;
}

HSAKMT_STATUS gs_memory_end_view(gs_memory_t *memory, uint64_t address, uint64_t size, uint32_t gpu) {
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  count(memory, GS_COST_MAP, 1);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_view(memory, address, size);
  gs_mapping_t **link = buffer ? find_mapping_of(buffer, gpu) : NULL;
  gs_mapping_t *mapping = link ? *link : NULL;
  if (mapping) {
    *link = mapping->next;
    status = HSAKMT_STATUS_SUCCESS;
    if (refresh_all(memory, gpu, mapping->start, mapping->end)) {
      *link = mapping;
      status = HSAKMT_STATUS_NO_MEMORY;
    } else {
      free(mapping);
      list_mapped_nodes(memory, buffer);
      if (!buffer->mappings) {
        count(memory, GS_COST_FREE, 1);
        status = free_allocation(memory, buffer);
      }
    }
  }
  pthread_mutex_unlock(&memory->lock);
  return status;
}

/* Queries. */

static HSA_POINTER_TYPE type_of(const gs_buffer_t *buffer) {
  if (buffer->imported)
    return HSA_POINTER_REGISTERED_SHARED;
  return is_pin(buffer) ? HSA_POINTER_REGISTERED_USER : HSA_POINTER_ALLOCATED;
}

bool gs_memory_is_hidden(gs_memory_t *memory, uint64_t address, uint32_t *node) {
  if (pthread_mutex_trylock(&memory->lock))
    return false;
  const gs_buffer_t *buffer = find_allocated(memory, address, 1);
  const bool is_hidden =
      buffer && buffer->on_gpu && !buffer->flags.ui32.HostAccess && !buffer->flags.ui32.Scratch;
  if (is_hidden)
    *node = buffer->node;
  pthread_mutex_unlock(&memory->lock);
  return is_hidden;
}

HSAKMT_STATUS gs_memory_query(gs_memory_t *memory, const void *address, HsaPointerInfo *info) {
  memset(info, 0, sizeof *info);
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_allocated(memory, (uintptr_t)address, 1);
  if (!buffer)
    buffer = find_registered(memory, (uintptr_t)address, 1);
  if (buffer) {
    info->Type = type_of(buffer);
    info->Node = buffer->node;
    info->MemFlags = buffer->flags;
    info->CPUAddress = (void *)(uintptr_t)buffer->address;
    info->GPUAddress = buffer->address;
    info->SizeInBytes = buffer->size;
    info->NMappedNodes = buffer->mapped_count;
    info->MappedNodes = buffer->mapped_nodes;
    info->UserData = buffer->user_data;
  }
  pthread_mutex_unlock(&memory->lock);
  return buffer ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

HSAKMT_STATUS gs_memory_set_user_data(gs_memory_t *memory, const void *address, void *user_data) {
  pthread_mutex_lock(&memory->lock);
  gs_buffer_t *buffer = find_allocated(memory, (uintptr_t)address, 1);
  if (!buffer)
    buffer = find_registered(memory, (uintptr_t)address, 1);
  if (buffer)
    buffer->user_data = user_data;
  pthread_mutex_unlock(&memory->lock);
  return buffer ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_PARAMETER;
}
