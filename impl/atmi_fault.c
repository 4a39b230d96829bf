/* Faults of a device: the report and the consequence. */
#include "atmi_fault.h"

#include "atmi_code_object.h"
#include "atmi_device.h"
#include "atmi_source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  MOST_SUSPECTS = 8,
  REPORT_BYTES = 4096,
  PATIENCE_MS = 50,         /* for innocent kernels to complete */
  FAR_AWAY_BYTES = 1 << 30, /* memory this far from an address has nothing to do with it */
};

/* ---- which kernel ---- */

/* "kernel <name> (file.c:7)", or what the name tells if there is no debug information. */
static void describe_kernel(const atmi_kernel_t *kernel, char *text, size_t size) {
  char line[512];
  const char *function;
  size_t length;
  unsigned number;
  if (kernel->entry &&
      atmi_source_find_line(kernel->owner->image, kernel->owner->bytes, kernel->entry, line, sizeof line))
    snprintf(text, size, "kernel %s (%s)", kernel->name, line);
  else if (atmi_source_parse_region(kernel->name, &function, &length, &number))
    snprintf(text, size, "kernel %s (target region in %.*s, line %u; build with -g to see the file)",
             kernel->name, (int)length, function, number);
  else
    snprintf(text, size, "kernel %s", kernel->name);
}

/* What was running when something went wrong. */
typedef struct suspects {
  struct {
    atmi_queue_t *queue;
    atmi_running_t running;
  } list[MOST_SUSPECTS];
  uint32_t count;
} suspects_t;

static void add_suspect(suspects_t *suspects, atmi_queue_t *queue) {
  if (suspects->count < MOST_SUSPECTS && atmi_queue_running(queue, &suspects->list[suspects->count].running))
    suspects->list[suspects->count++].queue = queue;
}

/* Takes out the launches that have completed since: the one at fault never does. */
static void drop_innocent(suspects_t *suspects) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < suspects->count; i++) {
    atmi_running_t now;
    if (atmi_queue_running(suspects->list[i].queue, &now) && now.index == suspects->list[i].running.index)
      suspects->list[kept++] = suspects->list[i];
  }
  if (kept)
    suspects->count = kept;
}

static void add_suspects(atmi_device_t *device, suspects_t *suspects) {
  uint32_t count = atomic_load_explicit(&device->queue_count, memory_order_acquire);
  for (uint32_t i = 0; i < count; i++)
    add_suspect(suspects, atomic_load_explicit(&device->queues[i], memory_order_acquire));
}

/* A memory fault does not say in which queue it happened. */
static void find_suspects(atmi_device_t *device, suspects_t *suspects) {
  add_suspects(device, suspects);
  for (int waited = 0; waited < PATIENCE_MS && suspects->count > 1; waited++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    drop_innocent(suspects);
  }
}

/* Whether an earlier suspect is a launch of the same kernel. */
static bool is_repeated(const suspects_t *suspects, uint32_t index) {
  for (uint32_t i = 0; i < index; i++)
    if (suspects->list[i].running.kernel == suspects->list[index].running.kernel)
      return true;
  return false;
}

/* "while kernel ... was running", as far as it is known. */
static void describe_suspects(const suspects_t *suspects, char *text, size_t size) {
  char kernel[1024], names[REPORT_BYTES] = "";
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < suspects->count; i++) {
    size_t at = strlen(names);
    if (is_repeated(suspects, i))
      continue;
    describe_kernel(suspects->list[i].running.kernel, kernel, sizeof kernel);
    snprintf(names + at, sizeof names - at, "%s%s", kernels++ ? ", " : "", kernel);
  }
  uint32_t behind = suspects->count ? suspects->list[0].running.behind : 0;
  if (!kernels)
    snprintf(text, size, "while no kernel of this program was running, but maybe a copy");
  else if (kernels > 1)
    snprintf(text, size, "while one of these was running: %s", names);
  else if (suspects->count > 1)
    snprintf(text, size, "while %s was running, %u launches of it", names, suspects->count);
  else if (behind)
    snprintf(text, size, "while %s was running, with %u more behind it", names, behind);
  else
    snprintf(text, size, "while %s was running", names);
}

/* ---- errors of queues ---- */

static const char *queue_error_advice(hsa_status_t status) {
  static const struct {
    int status;
    const char *advice;
  } table[] = {
      {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "; the kernel needs more scratch memory than the device can give: "
                                          "use fewer or smaller local variables, fewer "
                                          "threads, or optimisation"},
      {HSA_STATUS_ERROR_INVALID_ALLOCATION, "; the kernel needs more LDS than a workgroup can have"},
      {HSA_STATUS_ERROR_INVALID_ISA,
       "; the kernel needs more registers than this many threads per team leave it"},
      {HSA_STATUS_ERROR_EXCEPTION, "; the kernel executed a trap, as after a failed assert"},
      {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "; was the program built for this device?"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].status == (int)status)
      return table[i].advice;
  return "";
}

static void report_queue_error(atmi_queue_t *queue, hsa_status_t status) {
  atmi_device_t *device = queue->device;
  char kernel[REPORT_BYTES];
  suspects_t suspects = {.count = 0};
  add_suspect(&suspects, queue);
  describe_suspects(&suspects, kernel, sizeof kernel);
  atmi_fail(ATMI_LOST, device->label, "the queue stopped %s: %s%s", kernel, atmi_hsa_reason(status),
            queue_error_advice((hsa_status_t)status));
  atmi_device_abandon(device);
}

void atmi_fault_report_queue_error(atmi_queue_t *queue, hsa_status_t status) {
  atmi_machine_t *machine = queue->device->machine;
  pthread_mutex_lock(&machine->faults);
  /* One fault can raise several events; the first is the cause. */
  if (!machine->stopping && !atmi_device_is_lost(queue->device))
    report_queue_error(queue, status);
  pthread_mutex_unlock(&machine->faults);
}

/* ---- memory faults ---- */

static const char *fault_reason(uint32_t mask) {
  static const struct {
    uint32_t bit;
    const char *text;
  } table[] = {
      {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "nothing is mapped there"},
      {HSA_AMD_MEMORY_FAULT_READ_ONLY, "the memory is read-only"},
      {HSA_AMD_MEMORY_FAULT_NX, "the memory is not executable"},
      {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "the memory is for the host only"},
      {HSA_AMD_MEMORY_FAULT_DRAMECC, "uncorrectable error in DRAM"},
      {HSA_AMD_MEMORY_FAULT_SRAMECC, "uncorrectable error in SRAM"},
      {(uint32_t)HSA_AMD_MEMORY_FAULT_HANG, "the device was reset after a hang"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (mask & table[i].bit)
      return table[i].text;
  return "the driver gives no reason";
}

/* ", the copy of <n> bytes of host memory at 0x... (variable x)". */
static void describe_origin(const void *host, char *text, size_t size) {
  char name[256];
  if (!host)
    *text = 0;
  else if (atmi_source_find_variable(host, name, sizeof name))
    snprintf(text, size, ", the copy of the host's variable %s", name);
  else
    snprintf(text, size, ", the copy of host memory at %p", host);
}

/* "byte 3 of <what>", or "12 bytes behind the end of <what>, the nearest memory". */
static void describe_distance(uint64_t into, uint64_t bytes, const char *what, char *text, size_t size) {
  if (into < bytes)
    snprintf(text, size, "byte %llu of %s", (unsigned long long)into, what);
  else if (into - bytes < FAR_AWAY_BYTES)
    snprintf(text, size, "%llu bytes behind the end of %s, the nearest memory of the program",
             (unsigned long long)(into - bytes), what);
  else
    snprintf(text, size,
             "the program has no device memory near this address; is everything that the region uses "
             "mapped?");
}

/* Whether HSA_XNACK=1 could give the device all of the host's memory: one GPU that cannot switch prevents it.
 */
static bool can_switch_xnack(const atmi_device_t *device) {
  const atmi_machine_t *machine = device->machine;
  for (uint32_t i = 0; i < machine->device_count; i++)
    if (!atmi_target_id_can_switch_xnack(&machine->devices[i]->properties.target))
      return false;
  return device->properties.target.xnack == ATMI_FEATURE_OFF;
}

/* A pointer of the host that found its way into a kernel. */
static bool describe_host_address(atmi_device_t *device, const void *address, char *text, size_t size) {
  char byte, name[256], variable[300] = "";
  if (!atmi_source_read(address, &byte, 1))
    return false;
  if (atmi_source_find_variable(address, name, sizeof name))
    snprintf(variable, sizeof variable, " (variable %s)", name);
  const char *advice = "map what the pointer points to";
  if (atomic_load_explicit(&device->machine->unified, memory_order_relaxed))
    advice = can_switch_xnack(device)
                 ? "the program requires unified shared memory, for which this device needs XNACK: set "
                   "HSA_XNACK=1, "
                   "or use memory of omp_target_alloc or llvm_omp_target_alloc_shared"
                 : "the program requires unified shared memory, which this device does not have for all of "
                   "the host's "
                   "memory: use memory of omp_target_alloc or llvm_omp_target_alloc_shared";
  snprintf(text, size, "it is an address of the host's memory%s; %s", variable, advice);
  return true;
}

/* The nearest memory of the device that begins at or before the address: `*into` is how far behind its
 * beginning that is, UINT64_MAX if there is none. */
static void describe_nearest(atmi_device_t *device, uint64_t address, uint64_t *into, uint64_t *bytes,
                             char *what, size_t size) {
  atmi_allocation_t near = {0};
  atmi_variable_t variable = {0};
  char origin[320];
  bool has_near = atmi_memory_nearest(&device->memory, address, &near);
  bool has_variable = atmi_memory_nearest_variable(&device->memory, address, &variable);
  uint64_t begin = (uint64_t)(uintptr_t)near.pointer;
  *into = UINT64_MAX;
  *bytes = 0;
  *what = 0;
  if (has_variable && (!has_near || variable.begin > begin)) {
    snprintf(what, size, "variable %s (%llu bytes)", variable.name, (unsigned long long)variable.bytes);
    *into = address - variable.begin;
    *bytes = variable.bytes;
  } else if (has_near) {
    describe_origin(near.host, origin, sizeof origin);
    snprintf(what, size, "an allocation of %llu bytes at 0x%llx%s", (unsigned long long)near.bytes,
             (unsigned long long)begin, origin);
    *into = address - begin;
    *bytes = near.bytes;
  }
}

static void describe_place(atmi_device_t *device, uint64_t address, char *text, size_t size) {
  uint64_t into, bytes;
  char what[512];
  describe_nearest(device, address, &into, &bytes, what, sizeof what);
  if (into < bytes || !describe_host_address(device, (const void *)(uintptr_t)address, text, size)) {
    describe_distance(into, bytes, what, text, size);
    return;
  }
  /* The host's memory may just happen to be where an index led that went too far. */
  size_t at = strlen(text);
  if (into - bytes < FAR_AWAY_BYTES) {
    snprintf(text + at, size - at, "; or it is ");
    at = strlen(text);
    describe_distance(into, bytes, what, text + at, size - at);
  }
}

/* "; argument 2 of the kernel points 4096 bytes below it": the nearest one below, if any is near. Empty if it
 * is not known which kernel it was. */
static void describe_argument(const suspects_t *suspects, uint64_t address, char *text, size_t size) {
  const atmi_running_t *running = &suspects->list[0].running;
  uint64_t word, distance = FAR_AWAY_BYTES;
  uint32_t nearest = 0;
  *text = 0;
  for (uint32_t i = 0; suspects->count == 1 && i < running->kernel->metadata->explicit_bytes / sizeof word;
       i++) {
    if (!atmi_source_read((const char *)running->arguments + i * sizeof word, &word, sizeof word) ||
        word > address || address - word >= distance || !word)
      continue;
    distance = address - word;
    nearest = i + 1;
  }
  if (nearest && distance)
    snprintf(text, size, "; argument %u of the kernel points %llu bytes below it", nearest,
             (unsigned long long)distance);
  else if (nearest)
    snprintf(text, size, "; argument %u of the kernel is this address", nearest);
}

static void report_memory_fault(atmi_device_t *device, const void *event) {
  const hsa_amd_gpu_memory_fault_info_t *fault = event;
  char kernel[REPORT_BYTES], place[1024], argument[128];
  suspects_t suspects = {.count = 0};
  find_suspects(device, &suspects);
  describe_suspects(&suspects, kernel, sizeof kernel);
  describe_place(device, fault->virtual_address, place, sizeof place);
  describe_argument(&suspects, fault->virtual_address, argument, sizeof argument);
  atmi_fail(ATMI_LOST, device->label, "memory fault at address 0x%llx%s %s: %s; %s%s",
            (unsigned long long)fault->virtual_address,
            fault->fault_reason_mask & HSA_AMD_MEMORY_FAULT_IMPRECISE ? " (not exact)" : "", kernel,
            fault_reason(fault->fault_reason_mask), place, argument);
}

/* ---- faults that nobody reports ---- */

static void report_silence(atmi_device_t *device) {
  const atmi_machine_t *machine = device->machine;
  char kernel[REPORT_BYTES];
  suspects_t suspects = {.count = 0};
  add_suspects(device, &suspects);
  describe_suspects(&suspects, kernel, sizeof kernel);
  atmi_fail(
      ATMI_LOST, device->label,
      "the device has taken no packet for %lld s %s: probably a memory fault, but %s; "
      "LIBOMPTARGET_AMDGPU_FAULT_PATIENCE sets the time, and a run with this device alone names the address",
      (long long)machine->env->fault_patience_s, kernel, machine->watch.why);
  atmi_timeline_flush(machine->timeline);
  atmi_device_abandon(device);
}

void atmi_fault_report_silence(atmi_device_t *device) {
  atmi_machine_t *machine = device->machine;
  pthread_mutex_lock(&machine->faults);
  if (!machine->stopping && !atmi_device_is_lost(device))
    report_silence(device);
  pthread_mutex_unlock(&machine->faults);
}

/* ---- events of the system ---- */

/* Newer than the oldest ROCr that we build against: what follows hsa_amd_event_t's type in these events. */
enum { GPU_HW_EXCEPTION_EVENT = 1, GPU_MEMORY_ERROR_EVENT = 2, HW_EXCEPTION_CAUSE_ECC = 2 };
typedef struct hw_exception {
  hsa_agent_t agent;
  uint32_t reset_type, reset_cause;
} hw_exception_t;
typedef struct memory_error {
  hsa_agent_t agent;
  uint64_t address;
  uint32_t reasons;
} memory_error_t;

static void report_reset(atmi_device_t *device, const void *event) {
  const hw_exception_t *exception = event;
  char kernel[REPORT_BYTES];
  suspects_t suspects = {.count = 0};
  add_suspects(device, &suspects);
  describe_suspects(&suspects, kernel, sizeof kernel);
  atmi_fail(ATMI_LOST, device->label, "the driver has reset the device %s: %s", kernel,
            exception->reset_cause & HW_EXCEPTION_CAUSE_ECC ? "uncorrectable error in its memory or registers"
                                                            : "it hung");
}

/* Under the lock. The first event that costs a device is the cause; what comes after it is not said. */
static void take_loss(atmi_device_t *device, void (*report)(atmi_device_t *, const void *),
                      const void *event) {
  if (atmi_device_is_lost(device))
    return;
  report(device, event);
  atmi_timeline_flush(device->machine->timeline);
  atmi_device_abandon(device);
}

static atmi_device_t *find_device(const atmi_machine_t *machine, hsa_agent_t agent) {
  for (uint32_t i = 0; i < machine->device_count; i++)
    if (machine->devices[i]->agent.handle == agent.handle)
      return machine->devices[i];
  return NULL;
}

/* An event that costs the device. ROCr does not listen for another of its kind afterwards. */
static hsa_status_t on_loss(atmi_machine_t *machine, const hsa_amd_event_t *event, const char *why,
                            void (*report)(atmi_device_t *, const void *)) {
  /* All kinds begin with the agent. */
  const void *details = &event->memory_fault;
  pthread_mutex_lock(&machine->faults);
  /* At the end of the process nobody is left to hear of it. */
  bool stopping = machine->stopping;
  atmi_device_t *device = find_device(machine, event->memory_fault.agent);
  if (!stopping && device)
    take_loss(device, report, details);
  if (!stopping)
    atmi_watch_begin(machine, why);
  pthread_mutex_unlock(&machine->faults);
  return stopping || device ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

/* On the thread that frees the memory, and maybe in the middle of anything: takes no lock. */
static hsa_status_t on_memory_error(const atmi_machine_t *machine, const void *event) {
  const memory_error_t *error = event;
  const atmi_device_t *device = find_device(machine, error->agent);
  if (!device && error->agent.handle != machine->cpu.handle)
    return HSA_STATUS_ERROR;
  atmi_fail(ATMI_HSA_FAILED, device ? device->label : NULL,
            "the memory at 0x%llx is still in use by the hardware and cannot be freed",
            (unsigned long long)error->address);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t atmi_fault_on_system_event(const hsa_amd_event_t *event, void *data) {
  switch ((int)event->event_type) {
  case HSA_AMD_GPU_MEMORY_FAULT_EVENT:
    return on_loss(data, event,
                   "ROCr reports only the first memory fault of a process, which was another device's",
                   report_memory_fault);
  case GPU_HW_EXCEPTION_EVENT:
    return on_loss(data, event, "ROCr reports only the first reset of a device, which was another's",
                   report_reset);
  case GPU_MEMORY_ERROR_EVENT: return on_memory_error(data, &event->memory_fault);
  default: return HSA_STATUS_ERROR;
  }
}
