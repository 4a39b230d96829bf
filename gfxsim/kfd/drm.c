/* The version and the description of a device, and the table of calls. Layouts: the kernel's drm.h and
 * amdgpu_drm.h. */
#include "kfd/drm.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/log.h"
#include "exec/device.h"
#include "kfd/gem.h"
#include "kfd/kfd.h"
#include "kfd/paths.h"

enum {
  QUERY_ACCEL_WORKING = 0x00,
  QUERY_ENGINES = 0x03,
  QUERY_TIMESTAMP = 0x05,
  QUERY_VRAM_USAGE = 0x10,
  QUERY_GTT_USAGE = 0x11,
  QUERY_VRAM_GTT = 0x14,
  QUERY_REGISTERS = 0x15,
  QUERY_DEVICE = 0x16,
  QUERY_VISIBLE_USAGE = 0x17,
  QUERY_MEMORY = 0x19,
};

typedef struct drm_version {
  int32_t major, minor, patch;
  size_t name_size;
  char *name;
  size_t date_size;
  char *date;
  size_t text_size;
  char *text;
} drm_version_t;

typedef struct drm_info {
  uint64_t result;
  uint32_t size, query, rest[4];
} drm_info_t;

/* What the driver says of a device; what follows is zeros. */
typedef struct drm_device {
  uint32_t device_id, chip_revision, external_revision, pci_revision, family, shader_engines,
      arrays_per_engine, counter_khz;
  uint64_t engine_khz, memory_khz;
  uint32_t cus, always_on_mask, cu_bitmap[4][4], render_mask, render_pipes, contexts, padding;
  uint64_t flags, address_offset, address_last;
  uint32_t address_alignment, fragment_bytes, gart_page_bytes, constant_ram, memory_type, memory_bits;
} drm_device_t;
_Static_assert(offsetof(drm_device_t, counter_khz) == 28 && offsetof(drm_device_t, cu_bitmap) == 56 &&
                   offsetof(drm_device_t, flags) == 136 && offsetof(drm_device_t, memory_bits) == 180,
               "drm_amdgpu_info_device");

/* Sizes and use of memory: of the device's own twice, since the host sees either all of it or nothing. */
typedef struct drm_heap {
  uint64_t total, usable, used, largest;
} drm_heap_t;

/* Leaves as much of a text as there is room for, and how much there is. */
static void put_text(char *to, size_t *size, const char *text) {
  const size_t room = *size;
  *size = strlen(text);
  if (to && room)
    memcpy(to, text, *size < room ? *size : room);
}

static int get_version(gs_gpu_t *gpu, void *argument) {
  drm_version_t *version = argument;
  (void)gpu;
  version->major = 3;
  version->minor = 54;
  version->patch = 0;
  put_text(version->name, &version->name_size, "amdgpu");
  put_text(version->date, &version->date_size, "20150101");
  put_text(version->text, &version->text_size, "AMD GPU");
  return 0;
}

static void describe(const gs_gpu_t *gpu, drm_device_t *device) {
  enum { HBM = 6, GDDR6 = 9, KHZ_PER_MHZ = 1000, PAGE = 4096, FRAGMENT = 2 << 20 };
  const gs_profile_t *profile = gpu->profile;
  *device = (drm_device_t){
      .device_id = profile->device_id,
      .external_revision = profile->revision,
      .pci_revision = profile->pci_revision,
      .family = profile->family_id,
      .shader_engines = profile->shader_engines,
      .arrays_per_engine = profile->arrays_per_engine,
      .counter_khz = (uint32_t)(GS_CLOCK_HZ / 1000),
      .engine_khz = (uint64_t)profile->engine_clock_mhz * KHZ_PER_MHZ,
      .memory_khz = (uint64_t)profile->memory_clock_mhz * KHZ_PER_MHZ,
      .cus = gs_device_cus(gpu->device),
      .address_offset = PAGE * UINT64_C(256),
      .address_last = UINT64_C(1) << 47,
      .address_alignment = PAGE,
      .fragment_bytes = FRAGMENT,
      .gart_page_bytes = PAGE,
      .memory_type = profile->target & GS_GFX9 ? HBM : GDDR6,
      .memory_bits = profile->memory_bus_bits,
  };
}

uint64_t gs_drm_used(gs_machine_t *machine, const gs_gpu_t *gpu) {
  return gpu->memory_bytes - gs_memory_available(&machine->memory, gpu->node);
}

/* What a query asks for, in `result`. Returns its size, or 0 if it is not known. */
typedef union drm_result {
  drm_device_t device;
  drm_heap_t heap[3];
  uint64_t word[3];
  uint32_t half;
} drm_result_t;

static size_t query_heaps(gs_machine_t *machine, const gs_gpu_t *gpu, drm_result_t *result) {
  const uint64_t total = gpu->memory_bytes, used = gs_drm_used(machine, gpu),
                 system = machine->memory.system_bytes;
  const drm_heap_t vram = {total, total, used, total};
  result->heap[0] = vram;
  result->heap[1] = gpu->host_visible ? vram : (drm_heap_t){0};
  result->heap[2] = (drm_heap_t){system, system, 0, system};
  return sizeof result->heap;
}

static size_t query(gs_machine_t *machine, const gs_gpu_t *gpu, uint32_t what, drm_result_t *result) {
  memset(result, 0, sizeof *result);
  switch (what) {
  case QUERY_ACCEL_WORKING: result->half = 1; return sizeof result->half;
  case QUERY_ENGINES: return sizeof result->half; /* of the drawing half: none */
  case QUERY_TIMESTAMP: result->word[0] = gs_clock_ticks(); return sizeof *result->word;
  case QUERY_VRAM_USAGE: result->word[0] = gs_drm_used(machine, gpu); return sizeof *result->word;
  case QUERY_VISIBLE_USAGE:
    result->word[0] = gpu->host_visible ? gs_drm_used(machine, gpu) : 0;
    return sizeof *result->word;
  case QUERY_GTT_USAGE: return sizeof *result->word;
  case QUERY_VRAM_GTT:
    result->word[0] = gpu->memory_bytes;
    result->word[1] = gpu->host_visible ? gpu->memory_bytes : 0;
    result->word[2] = machine->memory.system_bytes;
    return sizeof result->word;
  case QUERY_MEMORY: return query_heaps(machine, gpu, result);
  case QUERY_REGISTERS: return sizeof *result; /* those of the drawing half: zeros */
  case QUERY_DEVICE: describe(gpu, &result->device); return sizeof result->device;
  default: return 0;
  }
}

static int get_info(gs_gpu_t *gpu, void *argument) {
  static _Atomic uint64_t told; /* a bit per query */
  const drm_info_t *info = argument;
  drm_result_t result;
  if (!info->result || !info->size)
    return -EINVAL;
  const size_t size = query(gpu->machine, gpu, info->query, &result);
  if (!size) {
    const uint64_t bit = UINT64_C(1) << (info->query % 64);
    if (!(atomic_fetch_or(&told, bit) & bit))
      gs_log("query 0x%02x of a render node is not simulated", info->query);
    return -EINVAL;
  }
  uint8_t *to = (uint8_t *)(uintptr_t)info->result;
  memset(to, 0, info->size);
  memcpy(to, &result, info->size < size ? info->size : size);
  return 0;
}

/* Capabilities of the drawing half: none. */
static int get_capability(gs_gpu_t *gpu, void *argument) {
  (void)gpu;
  (void)argument;
  return -EINVAL;
}

static gs_gem_call_t *const call_table[_IOC_NRMASK + 1] = {
    [0x00] = get_version,    /* VERSION */
    [0x09] = gs_gem_close,   /* GEM_CLOSE */
    [0x0C] = get_capability, /* GET_CAP */
    [0x2D] = gs_gem_export,  /* PRIME_HANDLE_TO_FD */
    [0x2E] = gs_gem_import,  /* PRIME_FD_TO_HANDLE */
    [0x41] = gs_gem_offset,  /* AMDGPU_GEM_MMAP */
    [0x45] = get_info,       /* AMDGPU_INFO */
    [0x48] = gs_gem_va,      /* AMDGPU_GEM_VA */
};

int gs_drm_ioctl(uint32_t ordinal, unsigned long request, void *argument) {
  static _Atomic bool told[_IOC_NRMASK + 1];
  const unsigned number = _IOC_NR(request);
  const int old = errno;
  gs_machine_t *machine = gs_kfd_machine();
  gs_gem_call_t *call = call_table[number];
  int error = -EINVAL;
  if (!argument)
    error = -EFAULT;
  else if (!machine || ordinal >= machine->gpu_count)
    error = -ENODEV;
  else if (call)
    error = call(&machine->gpu[ordinal], argument);
  else if (!atomic_exchange(&told[number], true))
    gs_log("ioctl 0x%02x of a render node is not simulated", number);
  errno = error ? -error : old;
  return error ? -1 : 0;
}
