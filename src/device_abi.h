/* What the device images of different compilers contain for the plugin: how a kernel says its mode, and the
 * block in which the device runtime expects to be told about its device. Known of clang 13 to 17. */
#ifndef DEVICE_ABI_H
#define DEVICE_ABI_H

#include "atmi_code_object.h"
#include "rtl_geometry.h"

/* Facts about a whole image that reading one kernel needs. */
typedef struct device_abi {
  bool clang13; /* modes are numbered from 0 */
} device_abi_t;

device_abi_t device_abi_detect(const atmi_elf_t *elf);

/* The mode that the compiler gave a kernel. SPMD if the image does not say: so do kernels which are no target
 * regions, such as constructors. False if it says something that no compiler writes. */
bool device_abi_mode(const device_abi_t *abi, const atmi_elf_t *elf, const char *kernel, rtl_mode_t *mode);

/* The number that the compiler has for a mode. */
uint8_t device_abi_mode_number(const device_abi_t *abi, rtl_mode_t mode);

/* As device_abi_mode, of the byte itself. */
bool device_abi_mode_from_byte(const device_abi_t *abi, uint8_t byte, rtl_mode_t *mode);

/* What the device runtime is told. Later versions read more of it; each gets as much as it has room for. */
typedef struct device_abi_environment {
  uint32_t debug_kind;
  uint32_t device_count;
  uint32_t device_number;
  uint32_t dynamic_lds_bytes;
  uint64_t clock_frequency;      /* 17 and later */
  void *indirect_calls;          /* 18 */
  uint64_t indirect_call_count;  /* 18 */
  uint64_t hardware_parallelism; /* 18: waves that can be resident */
} device_abi_environment_t;

/* Names of the variable that takes the environment, NULL at the end. An image has one of them or none. */
extern const char *const device_abi_environment_names[];

#endif
