/* Faults of a device: the report and the consequence. */
#include "machine/fault.h"

#include "base/process_memory.h"
#include "base/text.h"
#include "device/code_object.h"
#include "device/device.h"
#include "image/source_line.h"
#include "machine/fault_advice.h"
#include "machine/watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  MOST_SUSPECTS = 8,
  REPORT_BYTES = 4096,
  PATIENCE_MS = 50, /* for innocent kernels to complete */
  PAGE_BYTES = 4096,
  NULL_BYTES = 1 << 16,     /* where Linux gives no memory, as a rule */
  FAR_AWAY_BYTES = 1 << 30, /* memory this far from an address has nothing to do with it */
};

/* ---- which kernel ---- */

/* Where a kernel is in the source, or what is missing to know. */
static void find_source(const atmi_kernel_t *kernel, char *text, size_t size) {
  atmi_source_line_answer_t answer = ATMI_SOURCE_LINE_UNKNOWN;
  if (kernel->entry)
    answer = atmi_source_line_find(kernel->owner->image, kernel->owner->bytes, kernel->entry, text, size);
  switch (answer) {
  case ATMI_SOURCE_LINE_FOUND: break;
  case ATMI_SOURCE_LINE_NO_LINES:
    snprintf(text, size, "build with -gline-tables-only to see the file");
    break;
  case ATMI_SOURCE_LINE_NO_READER:
    snprintf(text, size,
             "install libdw to see the file: the package libdw1 of Debian and Ubuntu, elfutils-libs of "
             "Fedora");
    break;
  case ATMI_SOURCE_LINE_BUSY:
    snprintf(text, size, "not known, as a library is being loaded: do its constructors run kernels?");
    break;
  case ATMI_SOURCE_LINE_UNKNOWN: snprintf(text, size, "the debug information does not tell"); break;
  }
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
    add_suspect(suspects, atomic_load_explicit(&device->queues[i], memory_order_relaxed));
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

/* The kernel, behind a word that says that it is one. */
static void add_name(atmi_text_t *report, const atmi_kernel_t *kernel) {
  static const char word[] = "kernel ";
  atmi_name_t name = atmi_kernel_label(kernel);
  atmi_text_add(report, "%s", name.text + (strncmp(name.text, word, sizeof word - 1) ? 0 : name.bare));
}

/* One kernel, which is known to be the one. */
static void add_kernel(atmi_text_t *report, const suspects_t *suspects) {
  const atmi_running_t *running = &suspects->list[0].running;
  char source[512];
  find_source(running->kernel, source, sizeof source);
  atmi_text_add(report, ATMI_BREAK "kernel:   ");
  add_name(report, running->kernel);
  if (suspects->count > 1)
    atmi_text_add(report, ", %u launches of it", suspects->count);
  else if (running->behind)
    atmi_text_add(report, ", with %u more behind it", running->behind);
  atmi_text_add(report, ATMI_BREAK "source:   %s", source);
}

/* What was running, as far as it is known. */
static void add_kernels(atmi_text_t *report, const suspects_t *suspects) {
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < suspects->count; i++)
    kernels += !is_repeated(suspects, i);
  if (!kernels)
    atmi_text_add(report, ATMI_BREAK "kernel:   none of this program was running, but maybe a copy");
  if (kernels == 1)
    add_kernel(report, suspects);
  if (kernels < 2)
    return;
  atmi_text_add(report, ATMI_BREAK "kernel:   one of these, which were running");
  for (uint32_t i = 0; i < suspects->count; i++) {
    char source[512];
    if (is_repeated(suspects, i))
      continue;
    find_source(suspects->list[i].running.kernel, source, sizeof source);
    atmi_text_add(report, ATMI_BREAK "          ");
    add_name(report, suspects->list[i].running.kernel);
    atmi_text_add(report, " (%s)", source);
  }
}

/* ---- the report ---- */

/* What went wrong and why, in a sentence; then lines for kernel, source and the like, each with its label. */
typedef struct report {
  char bytes[REPORT_BYTES];
  atmi_text_t text;
} report_t;

static void begin_report(report_t *report) {
  *report->bytes = 0;
  report->text = (atmi_text_t){report->bytes, sizeof report->bytes, 0};
}

static void add_advice(atmi_text_t *report, const char *advice) {
  if (*advice)
    atmi_text_add(report, ATMI_BREAK "to do:    %s", advice);
}

/* Says it, and gives the device up. `without_runtime` is the kernel that may have stopped for want of what
 * its runtime lacks, or NULL. Nobody is woken before all is said. */
static void end_report(report_t *report, atmi_device_t *device, const atmi_kernel_t *without_runtime) {
  atmi_fail(ATMI_LOST, device->label, "%s", report->bytes);
  if (without_runtime)
    atmi_fault_advise(device->label, without_runtime);
  atmi_device_abandon(device);
}

/* ---- errors of queues ---- */

static const char *queue_error_advice(hsa_status_t status) {
  static const struct {
    int status;
    const char *advice;
  } table[] = {
      {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "the kernel needs more scratch memory than the device can give: "
                                          "use fewer or smaller local variables, fewer "
                                          "threads, or optimisation"},
      {HSA_STATUS_ERROR_INVALID_ALLOCATION, "the kernel needs more LDS than a workgroup can have"},
      {HSA_STATUS_ERROR_INVALID_ISA,
       "the kernel needs more registers than this many threads per team leave it"},
      {HSA_STATUS_ERROR_EXCEPTION, "the kernel executed a trap, as after a failed assert"},
      {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "was the program built for this device?"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].status == (int)status)
      return table[i].advice;
  return "";
}

static void report_queue_error(atmi_queue_t *queue, hsa_status_t status) {
  report_t report;
  suspects_t suspects = {.count = 0};
  add_suspect(&suspects, queue);
  begin_report(&report);
  atmi_text_add(&report.text, "the queue stopped: %s", atmi_hsa_reason(status));
  add_kernels(&report.text, &suspects);
  add_advice(&report.text, queue_error_advice(status));
  bool stopped = status == HSA_STATUS_ERROR_EXCEPTION && suspects.count;
  end_report(&report, queue->owner->device, stopped ? suspects.list[0].running.kernel : NULL);
}

void atmi_fault_report_queue_error(atmi_queue_t *queue, hsa_status_t status) {
  atmi_machine_t *machine = queue->owner->device->machine;
  pthread_mutex_lock(&machine->faults);
  /* One fault can raise several events; the first is the cause. */
  if (!machine->stopping && !atmi_device_is_lost(queue->owner->device))
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
  else if (atmi_source_line_variable(host, name, sizeof name))
    snprintf(text, size, ", the copy of the host's variable %s", name);
  else
    snprintf(text, size, ", the copy of host memory at %p", host);
}

/* How far an address is outside of memory of which it is `into` bytes behind the beginning; 0: it is not. */
static uint64_t distance_of(int64_t into, uint64_t bytes) {
  return into < 0 ? -(uint64_t)into : (uint64_t)into < bytes ? 0 : (uint64_t)into - bytes + 1;
}

/* The driver tells only the page of an address. An access of its first byte looks the same. */
static bool is_page(uint64_t address) {
  return !(address % PAGE_BYTES);
}

/* "nearest: byte 3 of <what>", or "12 bytes behind the end of <what>"; more than that if only the page is
 * known. */
static void add_distance(atmi_text_t *report, bool page, int64_t into, uint64_t bytes, const char *what) {
  if (distance_of(into, bytes))
    atmi_text_add(report, ATMI_BREAK "nearest:  %s%llu bytes %s %s",
                  !page      ? ""
                  : into < 0 ? "at most "
                             : "at least ",
                  (unsigned long long)(into < 0 ? -into : into - (int64_t)bytes),
                  into < 0 ? "in front of" : "behind the end of", what);
  else
    atmi_text_add(report, ATMI_BREAK "nearest:  byte %llu%s of %s", (unsigned long long)into,
                  page ? " or a later one" : "", what);
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

/* What to do about a pointer of the host that found its way into a kernel. */
static const char *host_address_advice(const atmi_device_t *device) {
  if (!atomic_load_explicit(&device->machine->unified, memory_order_relaxed))
    return "map what the pointer points to";
  return can_switch_xnack(device) ? "the program requires unified shared memory, for which this device needs "
                                    "XNACK: set HSA_XNACK=1, or "
                                    "use memory of omp_target_alloc or llvm_omp_target_alloc_shared"
                                  : "the program requires unified shared memory, which this device does not "
                                    "have for all of the host's "
                                    "memory: use memory of omp_target_alloc or llvm_omp_target_alloc_shared";
}

static bool is_host_address(const void *address) {
  char byte;
  return atmi_process_memory_read(address, &byte, 1);
}

/* The nearest memory of the device: `*into` is how far behind its beginning the address is, which may be
 * less than 0 of what is mapped; INT64_MAX if there is none. Mapped data may share an allocation. */
static void describe_nearest(atmi_device_t *device, uint64_t address, int64_t *into, uint64_t *bytes,
                             char *what, size_t size) {
  atmi_allocation_t near = {0};
  atmi_variable_t variable = {0};
  atmi_mapped_t mapped = {0};
  char origin[320];
  bool has_near = atmi_memory_nearest(&device->memory, address, &near);
  bool has_variable = atmi_memory_nearest_variable(&device->memory, address, &variable);
  bool has_mapped = device->name_mapped && device->name_mapped(device->maps, address, &mapped);
  uint64_t begin = (uint64_t)(uintptr_t)near.pointer;
  *into = INT64_MAX;
  *bytes = 0;
  *what = 0;
  if (has_variable && (!has_near || variable.begin > begin)) {
    snprintf(what, size, "variable %s (%llu bytes)", variable.name, (unsigned long long)variable.bytes);
    *into = (int64_t)(address - variable.begin);
    *bytes = variable.bytes;
  } else if (has_mapped && (!has_near || mapped.begin - begin < near.bytes ||
                            distance_of((int64_t)(address - mapped.begin), mapped.bytes) <=
                                distance_of((int64_t)(address - begin), near.bytes))) {
    snprintf(what, size, "%s (%llu bytes)", mapped.name, (unsigned long long)mapped.bytes);
    *into = (int64_t)(address - mapped.begin);
    *bytes = mapped.bytes;
  } else if (has_near) {
    describe_origin(near.host, origin, sizeof origin);
    snprintf(what, size, "an allocation of %llu bytes at 0x%llx%s", (unsigned long long)near.bytes,
             (unsigned long long)begin, origin);
    *into = (int64_t)(address - begin);
    *bytes = near.bytes;
  }
}

/* The memory at the address or near it, and what to do. Returns where that memory begins; 0: there is none.
 */
static uint64_t add_place(atmi_text_t *report, atmi_device_t *device, uint64_t address, const char **advice) {
  int64_t into;
  uint64_t bytes;
  char what[512], name[256];
  const void *pointer = (const void *)(uintptr_t)address;
  describe_nearest(device, address, &into, &bytes, what, sizeof what);
  const uint64_t distance = distance_of(into, bytes);
  bool near = distance <= FAR_AWAY_BYTES;
  *advice = !distance ? ""
            : near    ? "does an index go too far, or is too little mapped?"
                      : "is everything that the region uses mapped?";
  bool of_host = distance && is_host_address(pointer);
  if (of_host) {
    atmi_text_add(report, ATMI_BREAK "address:  it is an address of the host's memory");
    /* Of a page, the variable at its beginning is hardly the one. */
    if (!is_page(address) && atmi_source_line_variable(pointer, name, sizeof name))
      atmi_text_add(report, " (variable %s)", name);
    *advice = host_address_advice(device);
  }
  /* Of the host's, too: its memory may just happen to be where an index led that went too far. */
  if (near)
    add_distance(report, is_page(address), into, bytes, what);
  else if (!of_host)
    atmi_text_add(report, ATMI_BREAK "%s",
                  address < NULL_BYTES ? "address:  a null pointer, or near one"
                                       : "nearest:  the program has no device memory near this address");
  return near ? address - (uint64_t)into : 0;
}

/* Where an argument points, if that is not what the report has named. */
static void add_pointee(atmi_text_t *report, atmi_device_t *device, uint64_t pointer, uint64_t named) {
  int64_t into;
  uint64_t bytes;
  char what[512];
  describe_nearest(device, pointer, &into, &bytes, what, sizeof what);
  if (!distance_of(into, bytes) && pointer - (uint64_t)into != named)
    atmi_text_add(report, ", at byte %llu of %s", (unsigned long long)into, what);
}

/* Which argument of the kernel points to the address `last` or below it: the nearest one, and how far that
 * is; 0 if none is near, or if it is not known which kernel it was. */
static uint32_t find_argument(const suspects_t *suspects, uint64_t last, uint64_t *distance) {
  const atmi_running_t *running = &suspects->list[0].running;
  uint64_t word;
  uint32_t nearest = 0;
  *distance = FAR_AWAY_BYTES;
  for (uint32_t i = 0; suspects->count == 1 && i < running->kernel->metadata->explicit_bytes / sizeof word;
       i++) {
    if (!atmi_process_memory_read((const char *)running->arguments + i * sizeof word, &word, sizeof word) ||
        word > last || last - word >= *distance || word < PAGE_BYTES) /* no pointer, but a number */
      continue;
    *distance = last - word;
    nearest = i + 1;
  }
  return nearest;
}

/* "argument 2 of the kernel points 4096 bytes below it, at byte 0 of <what>". Of a page, the distance is that
 * from its last byte. `named`: the beginning of the memory that was named already. */
static void add_argument(atmi_text_t *report, atmi_device_t *device, const suspects_t *suspects,
                         uint64_t address, uint64_t named) {
  const bool page = is_page(address);
  const uint64_t last = address + (page ? PAGE_BYTES - 1 : 0);
  uint64_t distance;
  const uint32_t argument = find_argument(suspects, last, &distance);
  if (!argument)
    return;
  atmi_text_add(report, ATMI_BREAK "argument: argument %u of the kernel ", argument);
  if (distance > last - address)
    atmi_text_add(report, "points %s%llu bytes below the address", page ? "at most " : "",
                  (unsigned long long)distance);
  else
    atmi_text_add(report, page ? "points into this page" : "is this address");
  add_pointee(report, device, last - distance, named);
}

/* Where a stack ends, the memory of other threads begins; what is far enough behind its end faults. */
static void add_stack(atmi_text_t *report, const suspects_t *suspects) {
  const atmi_kernel_t *kernel = suspects->count == 1 ? suspects->list[0].running.kernel : NULL;
  if (kernel && kernel->metadata->dynamic_stack)
    atmi_text_add(report,
                  ATMI_BREAK "stack:    %u bytes for each thread; do calls or run-time arrays need more? "
                             "LIBOMPTARGET_STACK_SIZE sets it",
                  kernel->private_bytes);
}

static void report_memory_fault(atmi_device_t *device, const void *event) {
  const hsa_amd_gpu_memory_fault_info_t *fault = event;
  const char *advice;
  report_t report;
  suspects_t suspects = {.count = 0};
  find_suspects(device, &suspects);
  begin_report(&report);
  atmi_text_add(&report.text, "memory fault at address 0x%llx%s%s: %s",
                (unsigned long long)fault->virtual_address,
                is_page(fault->virtual_address) ? " or behind it in its page" : "",
                fault->fault_reason_mask & HSA_AMD_MEMORY_FAULT_IMPRECISE ? " (not exact)" : "",
                fault_reason(fault->fault_reason_mask));
  add_kernels(&report.text, &suspects);
  const uint64_t named = add_place(&report.text, device, fault->virtual_address, &advice);
  add_argument(&report.text, device, &suspects, fault->virtual_address, named);
  add_stack(&report.text, &suspects);
  add_advice(&report.text, advice);
  if (device->machine->device_count > 1 && device->machine->env->fault_patience_s)
    atmi_text_add(&report.text,
                  ATMI_BREAK "note:     ROCr reports no other memory fault of this process; other "
                             "devices are asked whether they still work from now on");
  bool null = fault->virtual_address < PAGE_BYTES && suspects.count == 1;
  end_report(&report, device, null ? suspects.list[0].running.kernel : NULL);
}

/* ---- faults that nobody reports ---- */

static void report_silence(atmi_device_t *device) {
  const atmi_machine_t *machine = device->machine;
  report_t report;
  suspects_t suspects = {.count = 0};
  add_suspects(device, &suspects);
  begin_report(&report);
  atmi_text_add(&report.text, "the device has taken no packet for %lld s: probably after a memory fault",
                (long long)machine->env->fault_patience_s);
  add_kernels(&report.text, &suspects);
  atmi_text_add(&report.text, ATMI_BREAK "address:  not known: %s", atmi_watch_reason(machine));
  add_advice(&report.text, "run with this device alone (ROCR_VISIBLE_DEVICES) to see the address; "
                           "LIBOMPTARGET_AMDGPU_FAULT_PATIENCE sets the time");
  end_report(&report, device, NULL);
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
  report_t report;
  suspects_t suspects = {.count = 0};
  add_suspects(device, &suspects);
  begin_report(&report);
  atmi_text_add(&report.text, "the driver has reset the device: %s",
                exception->reset_cause & HW_EXCEPTION_CAUSE_ECC
                    ? "uncorrectable error in its memory or registers"
                    : "it hung");
  add_kernels(&report.text, &suspects);
  end_report(&report, device, NULL);
}

/* Under the lock. The first event that costs a device is the cause; what comes after it is not said. */
static void take_loss(atmi_device_t *device, void (*report)(atmi_device_t *, const void *),
                      const void *event) {
  if (!atmi_device_is_lost(device))
    report(device, event);
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
