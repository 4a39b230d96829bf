/* Faults of a device: the report and the consequence. */
#include "atmi_fault.h"

#include "atmi_code_object.h"
#include "atmi_device.h"

#include <stdio.h>

/* " while kernel <name> was running (n launches waiting behind it)", as far as it is known. */
static void describe_kernel(const atmi_kernel_t *kernel, uint32_t behind, char *text, size_t bytes) {
  if (!kernel)
    snprintf(text, bytes, "while no kernel of this program was running");
  else if (behind)
    snprintf(text, bytes, "while kernel %s was running, with %u more behind it", kernel->name, behind);
  else
    snprintf(text, bytes, "while kernel %s was running", kernel->name);
}

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

void atmi_fault_report_queue_error(atmi_queue_t *queue, hsa_status_t status) {
  atmi_device_t *device = queue->device;
  /* One fault can raise several events; the first is the cause. */
  if (atmi_device_is_lost(device))
    return;
  char kernel[1024];
  uint32_t behind;
  const atmi_kernel_t *running = atmi_queue_running(queue, &behind);
  describe_kernel(running, behind, kernel, sizeof kernel);
  atmi_fail(ATMI_LOST, device->label, "the queue stopped %s: %s%s", kernel, atmi_hsa_reason(status),
            queue_error_advice((hsa_status_t)status));
  atmi_timeline_flush(device->machine->timeline);
  atmi_device_abandon(device);
}

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

/* "12 bytes behind the end of an allocation of 4096 bytes at 0x..." */
static void describe_place(atmi_device_t *device, uint64_t address, char *text, size_t bytes) {
  atmi_allocation_t near;
  if (!atmi_memory_nearest(&device->memory, address, &near)) {
    snprintf(text, bytes, "the program has no device memory below this address");
    return;
  }
  uint64_t begin = (uint64_t)(uintptr_t)near.pointer, into = address - begin;
  if (into < near.bytes)
    snprintf(text, bytes, "byte %llu of an allocation of %llu bytes at 0x%llx", (unsigned long long)into,
             (unsigned long long)near.bytes, (unsigned long long)begin);
  else
    snprintf(text, bytes, "%llu bytes behind the end of the nearest allocation, %llu bytes at 0x%llx",
             (unsigned long long)(into - near.bytes), (unsigned long long)near.bytes,
             (unsigned long long)begin);
}

static void report_memory_fault(atmi_device_t *device, const hsa_amd_gpu_memory_fault_info_t *fault) {
  const atmi_kernel_t *running = NULL;
  uint32_t behind = 0, count = atomic_load_explicit(&device->queue_count, memory_order_acquire);
  for (uint32_t i = 0; i < count && !running; i++) {
    atmi_queue_t *queue = atomic_load_explicit(&device->queues[i], memory_order_acquire);
    running = atmi_queue_running(queue, &behind);
  }
  char kernel[1024], place[160];
  describe_kernel(running, behind, kernel, sizeof kernel);
  describe_place(device, fault->virtual_address, place, sizeof place);
  atmi_fail(ATMI_LOST, device->label,
            "memory fault at address 0x%llx%s %s: %s; %s; is everything that the region uses mapped?",
            (unsigned long long)fault->virtual_address,
            fault->fault_reason_mask & HSA_AMD_MEMORY_FAULT_IMPRECISE ? " (not exact)" : "", kernel,
            fault_reason(fault->fault_reason_mask), place);
}

hsa_status_t atmi_fault_on_system_event(const hsa_amd_event_t *event, void *data) {
  const atmi_machine_t *machine = data;
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT)
    return HSA_STATUS_ERROR;
  for (uint32_t i = 0; i < machine->device_count; i++) {
    atmi_device_t *device = machine->devices[i];
    if (device->agent.handle != event->memory_fault.agent.handle)
      continue;
    if (!atmi_device_is_lost(device)) {
      report_memory_fault(device, &event->memory_fault);
      atmi_timeline_flush(machine->timeline);
      atmi_device_abandon(device);
    }
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR;
}
