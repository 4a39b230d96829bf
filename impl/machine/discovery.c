/* Starting HSA, finding its agents, joining the parts of each device, and stopping it all. */
#include "machine/discovery.h"

#include "base/hsa.h"
#include "base/process_memory.h"
#include "device/device.h"
#include "machine/fault.h"
#include "machine/watch.h"
#include "services/hostcall_queue.h"
#include "stream/event.h"

#include <hsa/amd_hsa_signal.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNAL_TEST_VALUE = 0x5167 };

/* What often makes hsa_init fail although there is a driver, as far as the status tells. */
static const char *init_advice(hsa_status_t status) {
  return status == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? "; ROCr may be too old for the driver, or memory, "
                                                       "processes or threads are at a limit (ulimit -a)"
                                                     : "";
}

/* Why HSA did not start, as far as the user can do something about it. Without the driver there is simply no
 * AMD GPU, and a program that can do without need not hear of it. */
static void explain_no_hsa(const atmi_env_t *env, hsa_status_t status) {
  static const char device_file[] = "/dev/kfd";
  int file = open(device_file, O_RDWR | O_CLOEXEC);
  int error = errno;
  if (file >= 0)
    close(file);
  bool has_driver = file >= 0 || (error != ENOENT && error != ENODEV && error != ENXIO);
  if (file < 0 && (error == EACCES || error == EPERM))
    atmi_warn(NULL, "no GPU is used: %s cannot be opened: %s; is the user in the groups render and video?",
              device_file, strerror(error));
  else if (env->debug || has_driver)
    atmi_warn(NULL, "no GPU is used: hsa_init failed: %s%s%s%s", atmi_hsa_reason(status),
              file < 0 ? "; /dev/kfd: " : "", file < 0 ? strerror(error) : "",
              file < 0 ? "" : init_advice(status));
}

typedef struct agent_list {
  hsa_agent_t *cpus, *gpus;
  uint32_t cpu_count, count; /* count: of GPUs */
  bool failed;
} agent_list_t;

static hsa_status_t append(agent_list_t *list, hsa_agent_t **agents, uint32_t *count, hsa_agent_t agent) {
  hsa_agent_t *longer = realloc(*agents, (*count + 1) * sizeof *longer);
  if (!longer) {
    list->failed = true;
    return HSA_STATUS_INFO_BREAK;
  }
  *agents = longer;
  longer[(*count)++] = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t visit_agent(hsa_agent_t agent, void *data) {
  agent_list_t *list = data;
  hsa_device_type_t type;
  uint32_t features = 0;
  hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status == HSA_STATUS_SUCCESS)
    status = hsa_agent_get_info(agent, HSA_AGENT_INFO_FEATURE, &features);
  if (status != HSA_STATUS_SUCCESS)
    return status;
  if (type == HSA_DEVICE_TYPE_CPU)
    return append(list, &list->cpus, &list->cpu_count, agent);
  if (type != HSA_DEVICE_TYPE_GPU || !(features & HSA_AGENT_FEATURE_KERNEL_DISPATCH))
    return HSA_STATUS_SUCCESS;
  return append(list, &list->gpus, &list->count, agent);
}

/* Makes nodes of the CPU agents that have memory for devices, and says if there are none. */
static atmi_status_t add_host_nodes(atmi_machine_t *machine, const agent_list_t *list) {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  if (list->cpu_count && !(machine->host_nodes = calloc(list->cpu_count, sizeof *machine->host_nodes)))
    return ATMI_NO_MEMORY;
  for (uint32_t i = 0; i < list->cpu_count; i++) {
    atmi_host_node_t *node = &machine->host_nodes[machine->host_node_count];
    hsa_status_t failed = atmi_host_node_init(list->cpus[i], node);
    if (failed != HSA_STATUS_SUCCESS)
      status = failed;
    machine->host_node_count += atmi_host_node_has_memory(node);
  }
  if (machine->host_node_count)
    machine->cpu = machine->host_nodes[0].cpu;
  else
    atmi_warn(NULL, "no GPU is used: HSA shows no host memory that GPUs can share%s%s",
              status == HSA_STATUS_SUCCESS ? "" : ": ",
              status == HSA_STATUS_SUCCESS ? "" : atmi_hsa_reason(status));
  return ATMI_OK;
}

/* Before the devices, which keep it. */
static void open_timeline(atmi_machine_t *machine) {
  if (!machine->env->timeline)
    return;
  machine->timeline = atmi_timeline_open(machine->env->timeline, machine->timestamp_frequency,
                                         atmi_timeline_now(), machine->env->mangled_names);
  if (machine->timeline)
    hsa_amd_profiling_async_copy_enable(true);
}

/* Whether a signal's value is where AMD's amd_signal_t has it, where it is read and written in place: it
 * follows what HSA's functions do, and they what is done there. */
static bool finds_signal_value(hsa_signal_t signal) {
  volatile int64_t *value = &((amd_signal_t *)(uintptr_t)signal.handle)->value;
  int64_t copy;
  if (!atmi_process_memory_read((const void *)(uintptr_t)value, &copy, sizeof copy) ||
      copy != SIGNAL_TEST_VALUE)
    return false;
  hsa_signal_store_screlease(signal, SIGNAL_TEST_VALUE + 1);
  if (__atomic_load_n(value, __ATOMIC_ACQUIRE) != SIGNAL_TEST_VALUE + 1)
    return false;
  __atomic_store_n(value, SIGNAL_TEST_VALUE + 2, __ATOMIC_RELEASE);
  return hsa_signal_load_relaxed(signal) == SIGNAL_TEST_VALUE + 2;
}

static bool check_signals(void) {
  hsa_signal_t signal;
  hsa_status_t status = hsa_signal_create(SIGNAL_TEST_VALUE, 0, NULL, &signal);
  if (status != HSA_STATUS_SUCCESS) {
    atmi_warn(NULL, "no GPU is used: HSA gives no signal: %s", atmi_hsa_reason(status));
    return false;
  }
  bool good = finds_signal_value(signal);
  hsa_signal_destroy(signal);
  if (!good)
    atmi_warn(NULL,
              "no GPU is used: this ROCr, or a tool between it and the program, keeps the values of signals "
              "elsewhere than AMD's amd_signal_t says, where this plugin reads them");
  return good;
}

/* Makes a device of every GPU; one that cannot be used has said why and is left out. */
static atmi_status_t add_devices(atmi_machine_t *machine, const agent_list_t *list) {
  machine->devices = calloc(list->count, sizeof *machine->devices);
  if (!machine->devices)
    return ATMI_NO_MEMORY;
  for (uint32_t i = 0; i < list->count; i++) {
    atmi_device_t *device = aligned_alloc(_Alignof(atmi_device_t), sizeof *device);
    if (!device)
      return ATMI_NO_MEMORY;
    uint32_t number = machine->device_count;
    if (atmi_device_init(machine, list->gpus[i], number, device)) {
      free(device);
      continue;
    }
    atmi_stream_pool_init(device);
    atmi_event_pool_init(device);
    machine->devices[number] = device;
    machine->gpus[number] = list->gpus[i];
    machine->device_count++;
  }
  return ATMI_OK;
}

/* Makes nodes and devices of the agents; a machine without usable ones has said why. */
static atmi_status_t use_agents(atmi_machine_t *machine, const agent_list_t *list, hsa_status_t status) {
  if (list->failed)
    return ATMI_NO_MEMORY;
  if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) {
    atmi_warn(NULL, "no GPU is used: HSA does not describe its agents: %s", atmi_hsa_reason(status));
    return ATMI_OK;
  }
  if (!list->count) {
    if (machine->env->debug)
      atmi_warn(NULL, "no GPU is used: HSA works, but shows none; does ROCR_VISIBLE_DEVICES hide it?");
    return ATMI_OK;
  }
  atmi_status_t result = add_host_nodes(machine, list);
  if (result || !machine->host_node_count || !check_signals())
    return result;
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &machine->timestamp_frequency);
  open_timeline(machine);
  return add_devices(machine, list);
}

static atmi_status_t discover(atmi_machine_t *machine) {
  agent_list_t list = {0};
  hsa_status_t found = hsa_iterate_agents(visit_agent, &list);
  machine->gpus = list.gpus;
  atmi_status_t status = use_agents(machine, &list, found);
  machine->host_locks.devices = machine->gpus;
  machine->host_locks.device_count = machine->device_count;
  free(list.cpus);
  return status;
}

void atmi_machine_begin(atmi_machine_t *machine) {
  if (!machine->device_count)
    return;
  const char *interrupts = getenv("HSA_ENABLE_INTERRUPT"); /* as ROCr reads it */
  hsa_status_t hsa = hsa_amd_register_system_event_handler(atmi_fault_on_system_event, machine);
  if (hsa != HSA_STATUS_SUCCESS && machine->env->debug)
    atmi_warn(NULL, "memory faults cannot be attributed to kernels: HSA refused the handler: %s",
              atmi_hsa_reason(hsa));
  if (hsa != HSA_STATUS_SUCCESS)
    atmi_watch_begin(machine, "HSA refused a handler of memory faults");
  else if (interrupts && !strcmp(interrupts, "0"))
    atmi_watch_begin(machine, "with HSA_ENABLE_INTERRUPT=0 ROCr reports no memory faults");
  for (uint32_t i = 0; i < machine->device_count; i++)
    atmi_timeline_name_device(machine->timeline, (int32_t)i, machine->devices[i]->label);
}

atmi_status_t atmi_machine_init(const atmi_env_t *env, atmi_machine_t *machine) {
  *machine = (atmi_machine_t){.env = env};
  pthread_mutex_init(&machine->loading, NULL);
  pthread_mutex_init(&machine->faults, NULL);
  atmi_host_locks_init(&machine->access, (uint64_t)env->keep_pinned_ms, &machine->host_locks);
  atmi_service_init(&machine->service);
  machine->on_queue_error = atmi_fault_report_queue_error;
  if (atmi_hsa_open()) {
    if (env->debug)
      atmi_warn(NULL, "no GPU is used: ROCr cannot be opened: %s; " ATMI_HSA_REMEDY, atmi_hsa_problem());
    return ATMI_OK;
  }
  hsa_status_t hsa = hsa_init();
  if (hsa != HSA_STATUS_SUCCESS) {
    explain_no_hsa(env, hsa);
    return ATMI_OK;
  }
  machine->initialised = true;
  machine->watch = atmi_watch_create();
  atmi_status_t status = machine->watch ? atmi_access_init(&machine->access) : ATMI_NO_MEMORY;
  if (!status)
    status = discover(machine);
  if (status) {
    atmi_machine_fini(machine);
    return atmi_fail(status, NULL, "cannot look for GPUs: out of host memory");
  }
  return ATMI_OK;
}

static void destroy_device(atmi_device_t *device) {
  /* Queues first: once they are destroyed, no packet can touch the memory that goes next. */
  atmi_device_stop(device);
  atmi_hostcall_release(device);
  atmi_device_fini(device);
  free(device);
}

void atmi_machine_leave_out(atmi_machine_t *machine, uint64_t devices) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < machine->device_count; i++) {
    atmi_device_t *device = machine->devices[i];
    if (atmi_machine_in_set(devices, i)) {
      destroy_device(device);
      continue;
    }
    atmi_device_set_number(device, kept);
    machine->gpus[kept] = device->agent;
    machine->devices[kept++] = device;
  }
  machine->device_count = machine->host_locks.device_count = kept;
}

void atmi_machine_stop(atmi_machine_t *machine) {
  pthread_mutex_lock(&machine->faults);
  machine->stopping = true;
  pthread_mutex_unlock(&machine->faults);
  atmi_watch_end(machine);
}

void atmi_machine_fini(atmi_machine_t *machine) {
  atmi_watch_end(machine);
  atmi_service_fini(&machine->service);
  atmi_host_locks_fini(&machine->host_locks);
  for (uint32_t i = 0; machine->devices && i < machine->device_count; i++)
    destroy_device(machine->devices[i]);
  free(machine->devices);
  free(machine->gpus);
  free(machine->host_nodes);
  atmi_timeline_close(machine->timeline);
  if (machine->initialised)
    hsa_shut_down();
  atmi_access_fini(&machine->access);
  atmi_watch_destroy(machine->watch);
  pthread_mutex_destroy(&machine->loading);
  pthread_mutex_destroy(&machine->faults);
  *machine = (atmi_machine_t){0};
}
