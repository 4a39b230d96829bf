/* The interface between LLVM's libomptarget and its device plugins, as one C header: what libomptarget 13 to
 * 18 look up in libomptarget.rtl.amdgpu.so, and the structs that pass between them on LP64 machines. Numbers
 * in square brackets are the libomptarget versions that a statement holds for. Facts are from the sources of
 * those releases (openmp/libomptarget/include, src/rtl.cpp, plugins, plugins-nextgen).
 *
 * Conventions: functions of type int32_t return OFFLOAD_SUCCESS or OFFLOAD_FAIL unless stated otherwise;
 * device numbers are the plugin's own, 0 to n-1. Any host thread may call any function at any time, except
 * where stated. */
#ifndef OMPTARGET_AMDGPU_PLUGIN_H
#define OMPTARGET_AMDGPU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { OFFLOAD_SUCCESS = 0, OFFLOAD_FAIL = ~0 };

/* One global variable or kernel of a program. [13-18] */
typedef struct __tgt_offload_entry {
  void *addr; /* host address; in a device table: device address, or the plugin's handle of a kernel */
  char *name;
  size_t size; /* 0: a kernel */
  int32_t flags;
  int32_t reserved;
} __tgt_offload_entry;

enum {
  OMP_DECLARE_TARGET_LINK = 1,
  OMP_DECLARE_TARGET_CTOR = 2,      /* kernel to run once after loading [13-17] */
  OMP_DECLARE_TARGET_DTOR = 4,      /* kernel to run once before unloading [13-17] */
  OMP_DECLARE_TARGET_INDIRECT = 8,  /* [18] */
  OMP_DECLARE_TARGET_VTABLE = 0x20, /* [22], which has no plugins: for the host runtime */
};

/* One device image of a program, with the host's table of its entries. [13-18] */
typedef struct __tgt_device_image {
  void *ImageStart, *ImageEnd;
  __tgt_offload_entry *EntriesBegin, *EntriesEnd;
} __tgt_device_image;

/* All images of one executable or shared library. [13-18] */
typedef struct __tgt_bin_desc {
  int32_t NumDeviceImages;
  __tgt_device_image *DeviceImages;
  __tgt_offload_entry *HostEntriesBegin, *HostEntriesEnd;
} __tgt_bin_desc;

/* The device's version of a table of entries: same order, same length. [13-17] */
typedef struct __tgt_target_table {
  __tgt_offload_entry *EntriesBegin, *EntriesEnd;
} __tgt_target_table;

/* A loaded image; the handle is the plugin's. [18] */
typedef struct __tgt_device_binary {
  uintptr_t handle;
} __tgt_device_binary;

/* What an image says it was built for. [15-17] */
typedef struct __tgt_image_info {
  const char *Arch; /* "gfx90a:sramecc+", or NULL */
} __tgt_image_info;

/* A queue of asynchronous operations. Queue is the plugin's. In 18 the object is 56 bytes long and members
 * behind Queue are libomptarget's: never copy it. [13-18] */
typedef struct __tgt_async_info {
  void *Queue;
} __tgt_async_info;

/* For OpenMP interop objects. [14-18] */
typedef struct __tgt_device_info {
  void *Context, *Device;
} __tgt_device_info;

/* A launch. Not to be modified: it may be the caller's own or shared by all threads. [16-18] */
typedef struct KernelArgsTy {
  uint32_t Version; /* 2 on arrival: libomptarget converts older ones */
  uint32_t NumArgs;
  void **ArgBasePtrs, **ArgPtrs;
  int64_t *ArgSizes, *ArgTypes;
  void **ArgNames, **ArgMappers;
  uint64_t Tripcount;
  struct {
    uint64_t NoWait : 1;
    uint64_t Unused : 63;
  } Flags;
  uint32_t NumTeams[3]; /* 0: no clause. OpenMP uses the first of each only */
  uint32_t
      ThreadLimit[3]; /* 0, or all ones through entry points for programs of clang 14 and older: no clause */
  uint32_t DynCGroupMem; /* bytes of LDS beyond the kernel's own */
} KernelArgsTy;

/* Kinds of memory. HOST and SHARED are accessible to host and devices alike. [13-18] */
enum {
  TARGET_ALLOC_DEVICE = 0,
  TARGET_ALLOC_HOST = 1,
  TARGET_ALLOC_SHARED = 2,
  TARGET_ALLOC_DEFAULT = 3,
  TARGET_ALLOC_DEVICE_NON_BLOCKING = 4, /* [18] */
};

/* The program's "requires" clauses. [13-18] */
enum {
  OMP_REQ_NONE = 1,
  OMP_REQ_REVERSE_OFFLOAD = 2,
  OMP_REQ_UNIFIED_ADDRESS = 4,
  OMP_REQ_UNIFIED_SHARED_MEMORY = 8,
  OMP_REQ_DYNAMIC_ALLOCATORS = 16,
};

/* LIBOMPTARGET_INFO: the bit that is the plugin's. [13-18] */
enum { OMP_INFOTYPE_PLUGIN_KERNEL = 0x10 };

/* ---- the plugin and its devices ---- */

/* First call, before number_of_devices; other than 0 drops the plugin. [15-18, mandatory in 18] */
int32_t __tgt_rtl_init_plugin(void);
/* Called whenever a program or library unregisters its images, not only at the end. [15-17] */
int32_t __tgt_rtl_deinit_plugin(void);
/* How many devices there are; 0 drops the plugin. [13-18, mandatory] */
int32_t __tgt_rtl_number_of_devices(void);
/* Before init_device, the program's OMP_REQ_ bits. 18 takes any result but 0 as failure. [13-18] */
int64_t __tgt_rtl_init_requires(int64_t flags);
/* OpenMP's number of the plugin's first device, before the first init_device. [18] */
int32_t __tgt_rtl_set_device_offset(int32_t offset);
/* Before any other use of the device; once per device. [13-18, mandatory] */
int32_t __tgt_rtl_init_device(int32_t device);
/* Not 0: maps of host memory may stay without a copy, because the device can reach all of it. Asked after
 * init_device. [18] */
int32_t __tgt_rtl_use_auto_zero_copy(int32_t device);
/* LIBOMPTARGET_RECORD or a replay tool: sets device memory of a fixed address aside. A failure leaves the
 * program as it is. The last argument is a C++ reference there. [18] */
int32_t __tgt_rtl_initialize_record_replay(int32_t device, int64_t memory_bytes, void *address, bool record,
                                           bool save_output, uint64_t *kernel_offset);
/* The program changed LIBOMPTARGET_INFO at run time. [13-18] */
void __tgt_rtl_set_info_flag(uint32_t flags);
/* Prints what the device is, for llvm-omp-device-info; the device need not be initialised. [13-18] */
void __tgt_rtl_print_device_info(int32_t device);

/* ---- images ---- */

/* All images of a library, before they are matched one by one; and after they were unregistered. [13-17] */
int32_t __tgt_rtl_register_lib(__tgt_bin_desc *library);
int32_t __tgt_rtl_unregister_lib(__tgt_bin_desc *library);
/* Not 0: the image is for one of our devices. Called again and again, so it must be cheap. The image is raw
 * ELF in 13 and 14, and unwrapped from its offload binary from 15 on. [13-18, mandatory] */
int32_t __tgt_rtl_is_valid_binary(__tgt_device_image *image);
/* As is_valid_binary; called instead of it where it exists. [15-17] */
int32_t __tgt_rtl_is_valid_binary_info(__tgt_device_image *image, __tgt_image_info *info);
/* Loads the image on the device. One call at a time in the process. [13-17]: the result is a
 * __tgt_target_table *, NULL if the image cannot be loaded; the table must live as long as the image is
 * registered. There is no third argument. [18]: the result is 32 bits wide, OFFLOAD_SUCCESS or OFFLOAD_FAIL,
 * and `*binary` is set. [13-18, mandatory] */
uintptr_t __tgt_rtl_load_binary(int32_t device, __tgt_device_image *image, __tgt_device_binary *binary);
/* Address of a variable in a loaded image, and handle of a kernel for launches, by name. A failure is hardly
 * noticed by libomptarget: what an image lacks should fail load_binary. [18, mandatory] */
int32_t __tgt_rtl_get_global(__tgt_device_binary binary, uint64_t size, const char *name, void **address);
int32_t __tgt_rtl_get_function(__tgt_device_binary binary, const char *name, void **kernel);

/* ---- memory ---- */

/* NULL on failure. `host` is what the memory is for, or NULL. [13-18, mandatory] */
void *__tgt_rtl_data_alloc(int32_t device, int64_t size, void *host, int32_t kind);
/* `kind` is passed from 16 on only; before, the argument holds garbage. [13-18, mandatory] */
int32_t __tgt_rtl_data_delete(int32_t device, void *memory, int32_t kind);
/* Host to device, and device to host. The asynchronous ones begin the copy on the queue, creating it if Queue
 * is NULL; host memory stays as it is until synchronize. [13-18; the synchronous ones mandatory] */
int32_t __tgt_rtl_data_submit(int32_t device, void *target, void *host, int64_t size);
int32_t __tgt_rtl_data_submit_async(int32_t device, void *target, void *host, int64_t size,
                                    __tgt_async_info *queue);
int32_t __tgt_rtl_data_retrieve(int32_t device, void *host, void *target, int64_t size);
int32_t __tgt_rtl_data_retrieve_async(int32_t device, void *host, void *target, int64_t size,
                                      __tgt_async_info *queue);
/* Not 0: data_exchange works between the two devices of this plugin. [13-18] */
int32_t __tgt_rtl_is_data_exchangable(int32_t source_device, int32_t target_device);
/* Device to device. [13-18, both or neither] */
int32_t __tgt_rtl_data_exchange(int32_t source_device, void *source, int32_t target_device, void *target,
                                int64_t size);
int32_t __tgt_rtl_data_exchange_async(int32_t source_device, void *source, int32_t target_device,
                                      void *target, int64_t size, __tgt_async_info *queue);

/* Pins host memory for all devices, with references; `*locked` is its address on them. The device number is
 * OpenMP's. [16-18; 18 never calls them, but crashes on the first use of the lock API if they do not exist]
 */
int32_t __tgt_rtl_data_lock(int32_t device, void *host, int64_t size, void **locked);
int32_t __tgt_rtl_data_unlock(int32_t device, void *host);

/* Host memory was mapped to the device, or is not any more; the latter comes when the device's copy is freed
 * already. A chance to pin it. [17, 18] */
int32_t __tgt_rtl_data_notify_mapped(int32_t device, void *host, int64_t size);
int32_t __tgt_rtl_data_notify_unmapped(int32_t device, void *host);

/* ---- launches ---- */

/* Argument i of the kernel is the word (char *)args[i] + offsets[i] itself. [16-18, mandatory] */
int32_t __tgt_rtl_launch_kernel(int32_t device, void *kernel, void **args, ptrdiff_t *offsets,
                                KernelArgsTy *launch, __tgt_async_info *queue);
/* A region without teams, and with. Values of 0 or less stand for no clause. The asynchronous non-teams entry
 * must exist if synchronize does: libomptarget tests the wrong pointer. [13-15; the synchronous ones
 * mandatory] */
int32_t __tgt_rtl_run_target_region(int32_t device, void *kernel, void **args, ptrdiff_t *offsets,
                                    int32_t arg_num);
int32_t __tgt_rtl_run_target_region_async(int32_t device, void *kernel, void **args, ptrdiff_t *offsets,
                                          int32_t arg_num, __tgt_async_info *queue);
int32_t __tgt_rtl_run_target_team_region(int32_t device, void *kernel, void **args, ptrdiff_t *offsets,
                                         int32_t arg_num, int32_t num_teams, int32_t thread_limit,
                                         uint64_t tripcount);
int32_t __tgt_rtl_run_target_team_region_async(int32_t device, void *kernel, void **args, ptrdiff_t *offsets,
                                               int32_t arg_num, int32_t num_teams, int32_t thread_limit,
                                               uint64_t tripcount, __tgt_async_info *queue);

/* ---- queues and events ---- */

/* Waits for all operations of the queue and sets Queue to NULL, also if one failed. 13 declares a 64-bit
 * result, later versions a 32-bit one. [13-18] */
int64_t __tgt_rtl_synchronize(int32_t device, __tgt_async_info *queue);
/* Never waits: as synchronize if all is complete, else leaves Queue as it is and returns success. [16-18] */
int32_t __tgt_rtl_query_async(int32_t device, __tgt_async_info *queue);
/* Events are recorded again and again, and waited for after their queue is gone. [14-18, all or none] */
int32_t __tgt_rtl_create_event(int32_t device, void **event);
int32_t __tgt_rtl_record_event(int32_t device, void *event, __tgt_async_info *queue);
int32_t __tgt_rtl_wait_event(int32_t device, void *event, __tgt_async_info *queue);
int32_t __tgt_rtl_sync_event(int32_t device, void *event);
int32_t __tgt_rtl_destroy_event(int32_t device, void *event);

/* ---- interop ---- */

/* A queue object for "omp interop" (targetsync), of which libomptarget only reads Queue, for the program: an
 * hsa_queue_t *, the same for all calls. Never released by libomptarget. The device number is OpenMP's, not
 * the plugin's. [14-18] */
int32_t __tgt_rtl_init_async_info(int32_t device, __tgt_async_info **queue);
/* Device is the HSA agent's handle. Number and result are 64 bits wide in 14 to 17, 32 in 18. The device
 * number is OpenMP's. [14-18] */
int64_t __tgt_rtl_init_device_info(int64_t device, __tgt_device_info *info, const char **error);

#ifdef __cplusplus
}
#endif

#endif
