/* The exported functions about memory: checks of arguments, and translation of node lists. */
#include <limits.h>
#include <unistd.h>

#include "machine/share.h"
#include "thunk/thunk.h"

static bool is_pages(uint64_t value) {
  return value % GS_PAGE_BYTES == 0;
}

GS_EXPORT HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags, void **address) {
  GS_MACHINE_OR_RETURN(machine);
  if (!address || !size || !is_pages(size))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node >= gs_machine_nodes(machine))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  /* More than any process has addresses for. Below that, no sum with alignment and gaps overflows. */
  if (size >> 47)
    return HSAKMT_STATUS_NO_MEMORY;
  if (flags.ui32.FixedAddress && (!*address || !is_pages((uintptr_t)*address)))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  /* No part that is simulated has global data share memory for compute. */
  if (flags.ui32.GDSMemory)
    return HSAKMT_STATUS_NOT_SUPPORTED;
  return gs_memory_allocate(&machine->memory, node, size, flags, address);
}

GS_EXPORT HSAKMT_STATUS hsaKmtFreeMemory(void *address, HSAuint64 size) {
  GS_MACHINE_OR_RETURN(machine);
  (void)size; /* an allocation is freed as a whole */
  return address ? gs_memory_free(&machine->memory, address) : HSAKMT_STATUS_INVALID_PARAMETER;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *address, HSAuint64 size, HsaMemFlags flags) {
  GS_MACHINE_OR_RETURN(machine);
  if (!address || !size || size > UINT64_MAX - (uintptr_t)address)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return gs_memory_register(&machine->memory, address, size, flags);
}

GS_EXPORT HSAKMT_STATUS hsaKmtDeregisterMemory(void *address) {
  GS_MACHINE_OR_RETURN(machine);
  return gs_memory_deregister(&machine->memory, address);
}

/* Bits of the GPUs in a list of nodes; false when one of the nodes is no GPU. */
static bool gpus_of_nodes(gs_machine_t *machine, const HSAuint32 *nodes, uint64_t count, uint32_t *gpus) {
  *gpus = 0;
  for (uint64_t i = 0; i < count; i++) {
    const gs_gpu_t *gpu = gs_machine_gpu(machine, nodes[i]);
    if (!gpu)
      return false;
    *gpus |= 1U << gpu->ordinal;
  }
  return true;
}

GS_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *address, HSAuint64 size, HSAuint64 *alternate,
                                                  HsaMemMapFlags flags, HSAuint64 count, HSAuint32 *nodes) {
  GS_MACHINE_OR_RETURN(machine);
  uint32_t gpus = 0;
  if (!address || !size || (count && !nodes))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!gpus_of_nodes(machine, nodes, count, &gpus))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  const HSAKMT_STATUS status = gs_memory_map(&machine->memory, address, size, flags.ui32.ReadOnly, gpus);
  if (alternate)
    *alternate = status == HSAKMT_STATUS_SUCCESS ? (uintptr_t)address : 0;
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *address, HSAuint64 size, HSAuint64 *alternate) {
  GS_MACHINE_OR_RETURN(machine);
  if (!address || !size)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const HSAKMT_STATUS status = gs_memory_map_default(&machine->memory, address, size);
  if (alternate)
    *alternate = status == HSAKMT_STATUS_SUCCESS ? (uintptr_t)address : 0;
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *address) {
  GS_MACHINE_OR_RETURN(machine);
  return address ? gs_memory_unmap(&machine->memory, address) : HSAKMT_STATUS_INVALID_PARAMETER;
}

GS_EXPORT HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *address, HsaPointerInfo *info) {
  GS_MACHINE_OR_RETURN(machine);
  return info ? gs_memory_query(&machine->memory, address, info) : HSAKMT_STATUS_INVALID_PARAMETER;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *address, void *user_data) {
  GS_MACHINE_OR_RETURN(machine);
  return gs_memory_set_user_data(&machine->memory, address, user_data);
}

GS_EXPORT HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32 standard, HSAuint32 alternate,
                                              void *address, HSAuint64 size) {
  GS_MACHINE_OR_RETURN(machine);
  (void)standard; /* all memory is coherent here, whatever the policy */
  (void)alternate;
  (void)address;
  (void)size;
  return gs_machine_gpu(machine, node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

/* Sharing. ROCr uses bits of the words that are 0 in the size of memory that it cuts into pieces. */
enum { WORD_OF_FLAGS = GS_SHARE_WORDS, WORD_OF_PAGES = 6 };

GS_EXPORT HSAKMT_STATUS hsaKmtShareMemory(void *address, HSAuint64 size, HsaSharedMemoryHandle *handle) {
  GS_MACHINE_OR_RETURN(machine);
  HsaPointerInfo info;
  const uint64_t pages = size / GS_PAGE_BYTES;
  if (!handle || pages > UINT32_MAX || gs_memory_query(&machine->memory, address, &info))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const HSAKMT_STATUS status = gs_memory_tell(&machine->memory, address, *handle);
  (*handle)[WORD_OF_FLAGS] = info.MemFlags.Value;
  (*handle)[WORD_OF_PAGES] = (uint32_t)pages;
  return status;
}

/* A buffer of a file's bytes: of `size` of them, or all. */
static HSAKMT_STATUS import(gs_machine_t *machine, int file, uint64_t size, void **address) {
  gs_share_label_t label;
  if (!gs_share_read(file, &label))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const gs_import_t wanted = {
      .file = file, .size = size ? size : label.size, .flags = {.Value = label.flags}};
  return gs_memory_import(&machine->memory, &wanted, address);
}

GS_EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle, void **address,
                                                   HSAuint64 *size) {
  GS_MACHINE_OR_RETURN(machine);
  if (!handle || !address || !size)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const int file = gs_share_find(*handle);
  if (file < 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *size = (uint64_t)(*handle)[WORD_OF_PAGES] * GS_PAGE_BYTES;
  const HSAKMT_STATUS status = import(machine, file, *size, address);
  close(file);
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle, void **address,
                                                          HSAuint64 *size, HSAuint64 count,
                                                          HSAuint32 *nodes) {
  (void)count; /* what is mapped says which GPUs */
  (void)nodes;
  return hsaKmtRegisterSharedHandle(handle, address, size);
}

GS_EXPORT HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle, HsaGraphicsResourceInfo *info,
                                                            HSAuint64 count, HSAuint32 *nodes) {
  GS_MACHINE_OR_RETURN(machine);
  gs_share_label_t label;
  void *address = NULL;
  (void)count;
  (void)nodes;
  if (!info || handle > INT_MAX || !gs_share_read((int)handle, &label))
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const HSAKMT_STATUS status = import(machine, (int)handle, 0, &address);
  *info = (HsaGraphicsResourceInfo){.MemoryAddress = address, .SizeInBytes = label.size};
  return status;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSVMSetAttr(void *address, HSAuint64 size, unsigned int count,
                                         HSA_SVM_ATTRIBUTE *attributes) {
  GS_MACHINE_OR_RETURN(machine);
  (void)machine;
  (void)address;
  (void)size;
  (void)count;
  (void)attributes;
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

GS_EXPORT HSAKMT_STATUS hsaKmtSVMGetAttr(void *address, HSAuint64 size, unsigned int count,
                                         HSA_SVM_ATTRIBUTE *attributes) {
  return hsaKmtSVMSetAttr(address, size, count, attributes);
}
