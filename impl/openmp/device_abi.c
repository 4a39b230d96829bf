/* Conventions of device images, by compiler version. */
#include "openmp/device_abi.h"

#include <stdio.h>
#include <string.h>

const char *const atmi_device_abi_environment_names[] = {
    "__omp_rtl_device_environment", /* clang 16 and later */
    "omptarget_device_environment", /* clang 13 to 15 */
    NULL,
};

const char atmi_device_abi_pool_name[] = "__omp_rtl_device_memory_pool";
const char atmi_device_abi_pool_tracker_name[] = "__omp_rtl_device_memory_pool_tracker";
const char atmi_device_abi_init_kernel[] = "amdgcn.device.init";
const char atmi_device_abi_fini_kernel[] = "amdgcn.device.fini";

/* Size of the environment from clang 14 and 18 on; 13 has 4 bytes, and mostly strips them. */
enum { ENVIRONMENT_BYTES_14 = 16, ENVIRONMENT_BYTES_18 = 48 };

static atmi_device_abi_t detect_compiler(const atmi_elf_t *elf) {
  atmi_elf_symbol_t symbol;
  /* Only the device runtime of 13 keeps its state in this variable. */
  if (atmi_elf_find_symbol(elf, "omptarget_nvptx_device_State", &symbol))
    return (atmi_device_abi_t){.clang13 = true};
  for (const char *const *name = atmi_device_abi_environment_names; *name; name++)
    if (atmi_elf_find_symbol(elf, *name, &symbol) && symbol.bytes >= ENVIRONMENT_BYTES_14)
      return (atmi_device_abi_t){.clang18 = symbol.bytes >= ENVIRONMENT_BYTES_18};
  return (atmi_device_abi_t){.clang13 = !atmi_elf_find_symbol(elf, "__omp_rtl_debug_kind", &symbol)};
}

atmi_device_abi_t atmi_device_abi_detect(const atmi_elf_t *elf) {
  atmi_elf_symbol_t buffer;
  atmi_device_abi_t abi = detect_compiler(elf);
  /* In images with a reduction over teams only. */
  abi.shares_buffer = atmi_elf_find_symbol(elf, "_openmp_teams_reductions_buffer_$_", &buffer);
  return abi;
}

/* Modes by number. */
static const atmi_mode_t modes13[] = {ATMI_MODE_SPMD, ATMI_MODE_GENERIC, ATMI_MODE_GENERIC_SPMD};
enum { MODES = sizeof modes13 / sizeof *modes13 };

bool atmi_device_abi_mode_from_byte(const atmi_device_abi_t *abi, uint8_t byte, atmi_mode_t *mode) {
  if (abi->clang13 && byte < MODES) {
    *mode = modes13[byte];
    return true;
  }
  if (abi->clang13 || byte < ATMI_MODE_GENERIC || byte > ATMI_MODE_GENERIC_SPMD)
    return false;
  *mode = (atmi_mode_t)byte; /* our numbers are those of clang 14 and later */
  return true;
}

uint8_t atmi_device_abi_mode_number(const atmi_device_abi_t *abi, atmi_mode_t mode) {
  for (uint8_t number = 0; abi->clang13 && number < MODES; number++)
    if (modes13[number] == mode)
      return number;
  return (uint8_t)mode;
}

/* Reductions over teams lose values in the device runtime of 13 when there are more teams than a team has
 * threads and those are few; its plugin never launched fewer than these unless it was told to. */
enum { CLANG13_THREADS = 256 };

/* A symbol named after a kernel. */
static bool find_of_kernel(const atmi_elf_t *elf, const char *kernel, const char *suffix,
                           atmi_elf_symbol_t *symbol) {
  char name[4096];
  int length = snprintf(name, sizeof name, "%s%s", kernel, suffix);
  return length > 0 && (size_t)length < sizeof name && atmi_elf_find_symbol(elf, name, symbol);
}

/* The beginning of <kernel>_kernel_environment; two pointers follow that only the device runtime uses. */
typedef struct configuration {
  uint8_t use_generic_state_machine, may_use_nested_parallelism, mode;
  int32_t min_threads, max_threads, min_teams, max_teams; /* 0 or less: not stated */
  int32_t reduction_bytes;
  int32_t reduction_records; /* [18-22] */
} configuration_t;

/* Without the number of records, which [23] leaves to the launch, the whole of it is 8 bytes shorter. */
enum { KERNEL_ENVIRONMENT_BYTES_23 = offsetof(configuration_t, reduction_records) + 2 * sizeof(uint64_t) };

static uint32_t stated(int32_t value) {
  return value > 0 ? (uint32_t)value : 0;
}

static bool read_configuration(const atmi_device_abi_t *abi, const atmi_elf_symbol_t *symbol,
                               atmi_device_abi_kernel_t *kernel) {
  configuration_t configuration;
  if (!symbol->content || symbol->bytes < sizeof configuration)
    return false;
  memcpy(&configuration, symbol->content, sizeof configuration);
  kernel->environment_is_last = symbol->bytes == KERNEL_ENVIRONMENT_BYTES_23;
  if (kernel->environment_is_last)
    configuration.reduction_records = 1;
  if (configuration.reduction_bytes < 0 || configuration.reduction_records < 0)
    return false;
  kernel->narrow_teams = true;
  kernel->min_threads = stated(configuration.min_threads);
  kernel->max_threads = stated(configuration.max_threads);
  kernel->max_teams = stated(configuration.max_teams);
  kernel->reduction_bytes =
      (uint64_t)configuration.reduction_bytes * (uint64_t)configuration.reduction_records;
  return atmi_device_abi_mode_from_byte(abi, configuration.mode, &kernel->mode);
}

bool atmi_device_abi_describe(const atmi_device_abi_t *abi, const atmi_elf_t *elf, const char *name,
                              atmi_device_abi_kernel_t *kernel) {
  atmi_elf_symbol_t symbol;
  *kernel = (atmi_device_abi_kernel_t){
      .mode = ATMI_MODE_SPMD, .min_threads = abi->clang13 ? CLANG13_THREADS : 0, .lone_main = abi->clang13};
  if (find_of_kernel(elf, name, "_kernel_environment", &symbol))
    return read_configuration(abi, &symbol, kernel);
  if (!find_of_kernel(elf, name, "_exec_mode", &symbol)) {
    *kernel = (atmi_device_abi_kernel_t){.mode = ATMI_MODE_SPMD, .is_bare = true};
    return true;
  }
  return symbol.content && symbol.bytes &&
         atmi_device_abi_mode_from_byte(abi, *(const uint8_t *)symbol.content, &kernel->mode);
}
