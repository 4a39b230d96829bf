/* Conventions of device images, by compiler version. */
#include "device_abi.h"

#include <stdio.h>
#include <string.h>

const char *const device_abi_environment_names[] = {
    "__omp_rtl_device_environment", /* clang 16 and later */
    "omptarget_device_environment", /* clang 13 to 15 */
    NULL,
};

/* Size of the environment from clang 14 on; 13 has 4 bytes, and mostly strips them. */
enum { ENVIRONMENT_BYTES_14 = 16 };

device_abi_t device_abi_detect(const atmi_elf_t *elf) {
  atmi_elf_symbol_t symbol;
  /* Only the device runtime of 13 keeps its state in this variable. */
  if (atmi_elf_find_symbol(elf, "omptarget_nvptx_device_State", &symbol))
    return (device_abi_t){.clang13 = true};
  for (const char *const *name = device_abi_environment_names; *name; name++)
    if (atmi_elf_find_symbol(elf, *name, &symbol) && symbol.bytes >= ENVIRONMENT_BYTES_14)
      return (device_abi_t){.clang13 = false};
  return (device_abi_t){.clang13 = !atmi_elf_find_symbol(elf, "__omp_rtl_debug_kind", &symbol)};
}

/* Modes by number. */
static const rtl_mode_t modes13[] = {RTL_MODE_SPMD, RTL_MODE_GENERIC, RTL_MODE_GENERIC_SPMD};
enum { MODES = sizeof modes13 / sizeof *modes13 };

bool device_abi_mode_from_byte(const device_abi_t *abi, uint8_t byte, rtl_mode_t *mode) {
  if (abi->clang13 && byte < MODES) {
    *mode = modes13[byte];
    return true;
  }
  if (abi->clang13 || byte < RTL_MODE_GENERIC || byte > RTL_MODE_GENERIC_SPMD)
    return false;
  *mode = (rtl_mode_t)byte; /* our numbers are those of clang 14 and later */
  return true;
}

uint8_t device_abi_mode_number(const device_abi_t *abi, rtl_mode_t mode) {
  for (uint8_t number = 0; abi->clang13 && number < MODES; number++)
    if (modes13[number] == mode)
      return number;
  return (uint8_t)mode;
}

bool device_abi_mode(const device_abi_t *abi, const atmi_elf_t *elf, const char *kernel, rtl_mode_t *mode) {
  static const char suffix[] = "_exec_mode";
  char name[4096];
  atmi_elf_symbol_t symbol;
  *mode = RTL_MODE_SPMD;
  int length = snprintf(name, sizeof name, "%s%s", kernel, suffix);
  if (length < 0 || (size_t)length >= sizeof name || !atmi_elf_find_symbol(elf, name, &symbol))
    return true;
  if (!symbol.content || !symbol.bytes)
    return false;
  return device_abi_mode_from_byte(abi, *(const uint8_t *)symbol.content, mode);
}
