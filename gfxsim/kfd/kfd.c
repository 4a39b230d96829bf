/* The table of calls, and those about the driver as a whole. */
#include "kfd/kfd.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/log.h"
#include "kfd/gem.h"
#include "kfd/objects.h"
#include "kfd/paths.h"
#include "machine/process.h"

int gs_kfd_errno(HSAKMT_STATUS status) {
  switch (status) {
  case HSAKMT_STATUS_SUCCESS: return 0;
  case HSAKMT_STATUS_NO_MEMORY: return -ENOMEM;
  case HSAKMT_STATUS_NOT_SUPPORTED: return -ENOTSUP;
  case HSAKMT_STATUS_OUT_OF_RESOURCES: return -EBUSY;
  case HSAKMT_STATUS_ERROR: return -EFAULT;
  default: return -EINVAL;
  }
}

/* The machine of this process. A child begins anew: what it inherits is its parent's. */

static void after_fork_in_child(void) {
  gs_objects_forget();
  gs_kfd_memory_forget();
  gs_kfd_queues_forget();
  gs_gem_forget();
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, after_fork_in_child);
}

gs_machine_t *gs_kfd_machine(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  gs_machine_t *machine = gs_machine_current();
  if (machine)
    return machine;
  const int error = errno;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&opening);
  machine = gs_machine_current();
  if (!machine && gs_machine_open() != GS_NOT_OPENED) /* never closed, as a driver never goes */
    machine = gs_machine_current();
  pthread_mutex_unlock(&opening);
  errno = error;
  return machine;
}

/* Calls about the driver as a whole. */

static int get_version(gs_machine_t *machine, void *argument) {
  kfd_version_t *version = argument;
  (void)machine;
  version->major = GS_KFD_VERSION_MAJOR;
  version->minor = GS_KFD_VERSION_MINOR;
  return 0;
}

static int get_clocks(gs_machine_t *machine, void *argument) {
  kfd_clock_counters_t *clocks = argument;
  uint64_t gpu = 0, system = 0;
  gs_machine_counters(machine, &gpu, &system);
  clocks->gpu = gpu;
  clocks->cpu = system;
  clocks->system = system;
  clocks->system_hz = UINT64_C(1000000000);
  return 0;
}

/* Addresses of a GPU: all those of the process, so that the thunk reserves what it wants with mmap. */
static kfd_apertures_t apertures_of(const gs_gpu_t *gpu) {
  const uint64_t window = UINT64_C(1) << 32, last = (UINT64_C(1) << 47) - 1;
  return (kfd_apertures_t){
      .lds_base = GS_SHARED_APERTURE,
      .lds_limit = GS_SHARED_APERTURE + window - 1,
      .scratch_base = GS_PRIVATE_APERTURE,
      .scratch_limit = GS_PRIVATE_APERTURE + window - 1,
      .gpuvm_base = 0x1000000,
      .gpuvm_limit = last,
      .gpu_id = gs_kfd_gpu_id(gpu),
  };
}

static int get_apertures(gs_machine_t *machine, void *argument) {
  kfd_get_apertures_t *wanted = argument;
  kfd_apertures_t *list = (void *)(uintptr_t)wanted->list;
  const uint32_t room = wanted->count;
  wanted->count = machine->gpu_count;
  if (!room) /* it asks how many there are */
    return 0;
  if (!list)
    return -EINVAL;
  wanted->count = room < machine->gpu_count ? room : machine->gpu_count;
  for (uint32_t i = 0; i < wanted->count; i++)
    list[i] = apertures_of(&machine->gpu[i]);
  return 0;
}

static int acquire_vm(gs_machine_t *machine, void *argument) {
  const kfd_acquire_vm_t *wanted = argument;
  const gs_gpu_t *gpu = gs_kfd_gpu_of(machine, wanted->gpu_id);
  const bool right = gpu && gs_object_of((int)wanted->render_file) == GS_OBJECT_RENDER + (int)gpu->ordinal;
  return right ? 0 : -EINVAL;
}

static int set_memory_policy(gs_machine_t *machine, void *argument) {
  const kfd_set_memory_policy_t *wanted = argument;
  return gs_kfd_gpu_of(machine, wanted->gpu_id)
             ? 0
             : -EINVAL; /* all memory is coherent here, whatever the policy */
}

static int set_trap_handler(gs_machine_t *machine, void *argument) {
  const kfd_set_trap_handler_t *wanted = argument;
  return gs_kfd_gpu_of(machine, wanted->gpu_id) ? 0 : -EINVAL; /* what it does, the simulator does itself */
}

static int get_tiles(gs_machine_t *machine, void *argument) {
  kfd_tile_config_t *tiles = argument;
  if (!gs_kfd_gpu_of(machine, tiles->gpu_id))
    return -EINVAL;
  tiles->tile_count = 0; /* no images, no tiles */
  tiles->macro_tile_count = 0;
  tiles->address_config = 0;
  tiles->banks = 0;
  tiles->ranks = 0;
  return 0;
}

static int set_xnack(gs_machine_t *machine, void *argument) {
  kfd_xnack_mode_t *mode = argument;
  if (mode->enabled >= 0) {
    const HSAKMT_STATUS status = gs_machine_set_xnack(machine, mode->enabled != 0);
    return status == HSAKMT_STATUS_NOT_SUPPORTED ? -EPERM : gs_kfd_errno(status);
  }
  mode->enabled = atomic_load(&machine->xnack);
  return 0;
}

/* What the driver says where a GPU cannot. */
static int sample(gs_machine_t *machine, void *argument) {
  (void)machine;
  (void)argument;
  return -EOPNOTSUPP;
}

/* The calls by their numbers. Sizes are not looked at: structures grow at their ends, and callers have older
 * ones. */
typedef struct call_row {
  const char *name;
  gs_kfd_call_t *call; /* NULL: not simulated */
} call_row_t;

static const call_row_t call_table[] = {
    [0x01] = {"GET_VERSION", get_version},
    [0x02] = {"CREATE_QUEUE", gs_kfd_create_queue},
    [0x03] = {"DESTROY_QUEUE", gs_kfd_destroy_queue},
    [0x04] = {"SET_MEMORY_POLICY", set_memory_policy},
    [0x05] = {"GET_CLOCK_COUNTERS", get_clocks},
    [0x06] = {"GET_PROCESS_APERTURES", NULL},
    [0x07] = {"UPDATE_QUEUE", gs_kfd_update_queue},
    [0x08] = {"CREATE_EVENT", gs_kfd_create_event},
    [0x09] = {"DESTROY_EVENT", gs_kfd_destroy_event},
    [0x0A] = {"SET_EVENT", gs_kfd_set_event},
    [0x0B] = {"RESET_EVENT", gs_kfd_reset_event},
    [0x0C] = {"WAIT_EVENTS", gs_kfd_wait_events},
    [0x11] = {"SET_SCRATCH_BACKING_VA", gs_kfd_set_scratch},
    [0x12] = {"GET_TILE_CONFIG", get_tiles},
    [0x13] = {"SET_TRAP_HANDLER", set_trap_handler},
    [0x14] = {"GET_PROCESS_APERTURES_NEW", get_apertures},
    [0x15] = {"ACQUIRE_VM", acquire_vm},
    [0x16] = {"ALLOC_MEMORY_OF_GPU", gs_kfd_allocate},
    [0x17] = {"FREE_MEMORY_OF_GPU", gs_kfd_free},
    [0x18] = {"MAP_MEMORY_TO_GPU", gs_kfd_map},
    [0x19] = {"UNMAP_MEMORY_FROM_GPU", gs_kfd_unmap},
    [0x1A] = {"SET_CU_MASK", gs_kfd_set_cu_mask},
    [0x1B] = {"GET_QUEUE_WAVE_STATE", NULL},
    [0x1C] = {"GET_DMABUF_INFO", gs_kfd_describe_file},
    [0x1D] = {"IMPORT_DMABUF", gs_kfd_import_file},
    [0x1E] = {"ALLOC_QUEUE_GWS", gs_kfd_give_gws},
    [0x1F] = {"SMI_EVENTS", NULL},
    [0x20] = {"SVM", gs_kfd_svm},
    [0x21] = {"SET_XNACK_MODE", set_xnack},
    [0x22] = {"CRIU_OP", NULL},
    [0x23] = {"AVAILABLE_MEMORY", gs_kfd_available},
    [0x24] = {"EXPORT_DMABUF", gs_kfd_export_file},
    [0x25] = {"RUNTIME_ENABLE", gs_kfd_enable_runtime},
    [0x26] = {"DBG_TRAP", NULL},
    [0x80] = {"IPC_IMPORT_HANDLE of AMD's drivers", gs_kfd_find_process},
    [0x81] = {"IPC_EXPORT_HANDLE of AMD's drivers", gs_kfd_tell_process},
    [0x82] = {"DBG_TRAP of AMD's early drivers", NULL},
    [0x85] = {"PC_SAMPLE of AMD's drivers", sample},
};

/* Says so once per number, but of what runtimes try in any case: SVM after a fault, and whether there is a
 * debugger. */
static int refuse(unsigned number) {
  static _Atomic bool told[_IOC_NRMASK + 1] = {[0x20] = true, [0x26] = true, [0x82] = true};
  const bool known = number < sizeof call_table / sizeof *call_table && call_table[number].name;
  if (!atomic_exchange(&told[number & _IOC_NRMASK], true))
    gs_log("KFD ioctl 0x%02x (%s) is not simulated", number, known ? call_table[number].name : "not known");
  return known ? -EINVAL : -ENOTTY;
}

int gs_kfd_ioctl(unsigned long request, void *argument) {
  const unsigned number = _IOC_NR(request);
  gs_kfd_call_t *call = number < sizeof call_table / sizeof *call_table ? call_table[number].call : NULL;
  const int old = errno;
  gs_machine_t *machine = gs_kfd_machine();
  int error = -ENODEV;
  if (machine && !argument)
    error = -EFAULT;
  else if (machine)
    error = call ? call(machine, argument) : refuse(number);
  errno = error ? -error : old;
  return error ? -1 : 0;
}
