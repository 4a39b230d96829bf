/* The plugin's one context: settings, machine, devices, and the images that programs registered. Everything
 * that the entry points share is in here; each test can make its own. */
#ifndef RTL_PLUGIN_H
#define RTL_PLUGIN_H

#include "atmi_machine.h"
#include "atmi_transfer.h"
#include "device_abi.h"
#include "host_abi.h"
#include "rtl_geometry.h"

/* A kernel of a program on one device: the handle that libomptarget keeps and passes to launches. */
typedef struct rtl_kernel {
  atmi_kernel_t core;
  device_abi_kernel_t compiled;
  bool takes_environment; /* the address of a launch environment, in front of the program's arguments */
  uint8_t mode_number;    /* of the compiler that made the image; for traces */
} rtl_kernel_t;

/* An image loaded on one device. */
typedef struct rtl_loaded_image {
  struct rtl_loaded_image *next;
  const __tgt_offload_entry *host_entries; /* identifies the library it came from */
  bool retired; /* its library is gone: to be unloaded as soon as the device is idle */
  atmi_code_object_t object;
  rtl_kernel_t *kernels;
  __tgt_offload_entry *entries;
  __tgt_target_table table;
  _Atomic size_t looked_up; /* where the next look-up of an entry probably succeeds */
  bool has_fini;
  atmi_kernel_t fini;          /* to be run before the image is unloaded */
  void *heap, *indirect_calls; /* device memory of the image's runtime, or NULL */
} rtl_loaded_image_t;

typedef struct rtl_device {
  atmi_device_t *core;
  atomic_bool ready; /* init_device was called */
  rtl_geometry_limits_t limits;
  rtl_loaded_image_t *images;  /* guarded by the plugin's lock */
  struct rtl_interop *interop; /* guarded by the plugin's lock; NULL until it is asked for */
} rtl_device_t;

/* An image that a registered library holds, whether it fits a device or not. */
typedef struct rtl_known_image {
  struct rtl_known_image *next;
  const __tgt_bin_desc *library;
  const __tgt_offload_entry *host_entries;
  const void *elf;
  size_t bytes;
} rtl_known_image_t;

/* RTL_ENDING: ROCr's static objects have been destroyed. Queues that exist still take kernels, which
 * libomptarget 15 wants for the destructors of device code; everything else would have ROCr use memory that
 * it has freed. RTL_FORKED: in a child process, which has no GPU. */
typedef enum rtl_state { RTL_NEW, RTL_RUNNING, RTL_ENDING, RTL_STOPPED, RTL_FORKED } rtl_state_t;

enum { RTL_CALLERS = 4 };

typedef struct rtl_plugin {
  pthread_mutex_t lock; /* start, stop, lists of images; never on the path of a launch or copy */
  _Atomic rtl_state_t state;
  _Atomic uint32_t usable_count; /* devices that may be used: all while it runs, else none */
  _Atomic uint32_t plain_count;  /* the same, but none if somebody looks on at launches */
  atmi_env_t env;
  atmi_machine_t machine;
  rtl_device_t *devices;
  uint32_t device_count;                  /* of `devices` */
  host_abi_caller_t callers[RTL_CALLERS]; /* every libomptarget that opened us; guarded by lock */
  uint32_t caller_count;                  /* guarded by lock */
  _Atomic bool retrieve_waits;            /* some caller wants it, see host_abi_retrieve_waits */
  _Atomic int32_t device_offset; /* OpenMP's number of our first device, where libomptarget tells it */
  _Atomic uint32_t info;         /* LIBOMPTARGET_INFO bits, as last set */
  atomic_bool observed;          /* somebody wants a line for each launch */
  _Atomic int64_t requires;      /* OMP_REQ_ bits of the program */
  rtl_known_image_t *images;     /* guarded by lock */
  const void *last_refused;      /* where the library lies whose images were last refused; guarded by lock */
} rtl_plugin_t;

/* The context of this library. */
extern rtl_plugin_t rtl_the_plugin;

static inline rtl_plugin_t *rtl_plugin(void) {
  return &rtl_the_plugin;
}

/* Reads the environment and finds the devices, the first time it is called, and the libomptarget that calls,
 * by the return address of the entry point, each time. False, described, if that is none of a known version;
 * it must not get any devices. Thread-safe. */
bool rtl_plugin_start(rtl_plugin_t *plugin, const void *return_address);
/* The version of the libomptarget that calls; that of the last one known if the address is of none. */
int rtl_plugin_host(rtl_plugin_t *plugin, const void *return_address);
/* Releases everything, once; entry points that are called later find no device. If a thread is still in the
 * middle of an operation, or ROCr has ended already, device code's destructors run and everything is left to
 * the end of the process instead. */
void rtl_plugin_stop(rtl_plugin_t *plugin);

/* Sets the LIBOMPTARGET_INFO bits. Thread-safe. */
void rtl_plugin_set_info(rtl_plugin_t *plugin, uint32_t flags);

/* Says why there is no device of this number, or why it may not be used any more, unless the plugin was
 * stopped; returns NULL. In a forked child the reason is that only its parent has the GPU. */
rtl_device_t *rtl_plugin_no_device(const rtl_plugin_t *plugin, int64_t number, const char *operation);

/* The device of this number if the program is ending, otherwise as rtl_plugin_no_device. */
rtl_device_t *rtl_plugin_late_device(const rtl_plugin_t *plugin, int64_t number, const char *operation);

/* Whether the device of this number may be used. */
static inline bool rtl_plugin_is_usable(const rtl_plugin_t *plugin, int32_t number) {
  /* Acquire: whoever sees that devices may be used sees them. Negative numbers are large ones here. */
  return (uint32_t)number < atomic_load_explicit(&plugin->usable_count, memory_order_acquire);
}

/* One that may be. */
static inline atmi_device_t *rtl_plugin_core(const rtl_plugin_t *plugin, int32_t number) {
  return plugin->machine.devices[(uint32_t)number];
}

/* As rtl_plugin_device, for who needs no more than that it exists. */
static inline bool rtl_plugin_has_device(const rtl_plugin_t *plugin, int32_t number, const char *operation) {
  return rtl_plugin_is_usable(plugin, number) || rtl_plugin_late_device(plugin, number, operation);
}

/* Whether what is given back needs no more work, as ROCr has ended. */
static inline bool rtl_plugin_is_ending(const rtl_plugin_t *plugin) {
  return atomic_load_explicit(&plugin->state, memory_order_relaxed) == RTL_ENDING;
}

/* The device of this number if it may be used, or NULL with a message that begins with `operation`. For what
 * acquires something, or has ROCr do more than take a packet. */
static inline rtl_device_t *rtl_plugin_device(const rtl_plugin_t *plugin, int32_t number,
                                              const char *operation) {
  if (rtl_plugin_is_usable(plugin, number))
    return &plugin->devices[(uint32_t)number];
  return rtl_plugin_no_device(plugin, number, operation);
}

/* The same for what is still done while the program ends: launches of kernels, waiting, and giving back. */
static inline rtl_device_t *rtl_plugin_any_device(const rtl_plugin_t *plugin, int32_t number,
                                                  const char *operation) {
  if (rtl_plugin_is_usable(plugin, number))
    return &plugin->devices[(uint32_t)number];
  return rtl_plugin_late_device(plugin, number, operation);
}

#endif
