/* What the device images of different compilers contain for their host: how a kernel says its mode, and the
 * blocks in which the device runtime expects to be told about its device. Known of clang 13 to 19 and 21 to
 * 23. */
#ifndef ATMI_OPENMP_DEVICE_ABI_H
#define ATMI_OPENMP_DEVICE_ABI_H

#include "device/code_object.h"
#include "openmp/geometry.h"

/* Facts about a whole image that reading one kernel needs. */
typedef struct atmi_device_abi {
  bool clang13; /* modes are numbered from 0 */
  bool clang18; /* target regions take the address of a launch environment besides their arguments */
  /* All kernels reduce values of teams in one buffer with one set of counters, so no two may run at once
   * [13-17]. */
  bool shares_buffer;
} atmi_device_abi_t;

atmi_device_abi_t atmi_device_abi_detect(const atmi_elf_t *elf);

/* What the compiler says about a kernel; 0 where it says nothing. */
typedef struct atmi_device_abi_kernel {
  atmi_mode_t mode;
  bool is_bare;                      /* nothing is said: ompx_bare, and what is no target region */
  uint32_t min_threads, max_threads; /* per team; 18 */
  uint32_t max_teams;                /* 18 */
  bool narrow_teams;                 /* see geometry.h */
  /* A generic region's main thread must have no other thread in its wave [13]: __kmpc_target_init sends all
   * threads but the main one to wait for work, also those of its wave. Barriers count waves, so these would
   * arrive in the main thread's stead, before there is any work, and the workers would go home. */
  bool lone_main;
  uint64_t reduction_bytes; /* what its teams need together to reduce values [18-22], or each of them [23] */
  bool environment_is_last; /* takes its launch environment behind the program's arguments [23] */
} atmi_device_abi_kernel_t;

/* Reads it from the image: <kernel>_exec_mode, or <kernel>_kernel_environment [18]. The mode is SPMD if the
 * image has neither: so do kernels which are no target regions, such as constructors. False if it says
 * something that no compiler writes. */
bool atmi_device_abi_describe(const atmi_device_abi_t *abi, const atmi_elf_t *elf, const char *name,
                              atmi_device_abi_kernel_t *kernel);

/* The number that the compiler has for a mode. */
uint8_t atmi_device_abi_mode_number(const atmi_device_abi_t *abi, atmi_mode_t mode);

/* The mode of such a number; false if the compiler has none of it. */
bool atmi_device_abi_mode_from_byte(const atmi_device_abi_t *abi, uint8_t byte, atmi_mode_t *mode);

/* What the device runtime is told. Later versions read more of it; each gets as much as it has room for. */
typedef struct atmi_device_abi_environment {
  uint32_t debug_kind;
  uint32_t device_count;
  uint32_t device_number;
  uint32_t dynamic_lds_bytes;
  uint64_t clock_frequency;      /* 17 and later */
  void *indirect_calls;          /* 18 */
  uint64_t indirect_call_count;  /* 18 */
  uint64_t hardware_parallelism; /* 18: waves that can be resident */
} atmi_device_abi_environment_t;

/* Names of the variable that takes the environment, NULL at the end. An image has one of them or none. */
extern const char *const atmi_device_abi_environment_names[];

/* What a kernel finds at its leading argument: counters of teams that have delivered their values, and where
 * to. Its last team sets the counters back to 0. Kernels that reduce nothing get all ones instead. [18-22] */
typedef struct atmi_device_abi_launch_environment {
  uint32_t reduction_count, reduction_iterations;
  void *reduction_buffer;
} atmi_device_abi_launch_environment_t;
/* The same at the last argument, and how much LDS the launch has beyond the kernel's own. [23] */
typedef struct atmi_device_abi_last_environment {
  void *reduction_buffer; /* as many records as there are teams */
  void *instead_of_lds;
  uint32_t reduction_count, dynamic_lds_bytes;
  uint8_t instead; /* whether that is so: 0 no, 1 there is neither, 2 yes */
} atmi_device_abi_last_environment_t;
_Static_assert(sizeof(atmi_device_abi_last_environment_t) == 32, "as LLVM's device runtime lays it out");
#define ATMI_DEVICE_ABI_NO_LAUNCH_ENVIRONMENT UINT64_MAX

/* The device's malloc takes memory from the pool's beginning [18], and counts in the tracker. */
typedef struct atmi_device_abi_pool {
  void *memory;
  uint64_t bytes;
} atmi_device_abi_pool_t;
typedef struct atmi_device_abi_pool_tracker {
  uint64_t allocations, total, least, most;
} atmi_device_abi_pool_tracker_t;
extern const char atmi_device_abi_pool_name[], atmi_device_abi_pool_tracker_name[];

/* A row of the table for calls through pointers to host functions, which is sorted by them. [18] */
typedef struct atmi_device_abi_indirect_call {
  uint64_t host, device;
} atmi_device_abi_indirect_call_t;

/* Kernels that run all constructors and destructors of an image; clang 17 makes them too, but leaves those of
 * OpenMP to entries of their own. */
extern const char atmi_device_abi_init_kernel[], atmi_device_abi_fini_kernel[];

#endif
