/* The plugin's one context: settings, machine, devices, and the images that programs registered. Everything
 * that the entry points share is in here; each test can make its own. */
#ifndef RTL_PLUGIN_H
#define RTL_PLUGIN_H

#include "openmp/device_abi.h"
#include "caller_abi.h"
#include "machine/discovery.h"
#include "openmp/geometry.h"
#include "stream/transfer.h"

/* A kernel of a program on one device: the handle that libomptarget keeps and passes to launches. */
typedef struct rtl_kernel {
  atmi_kernel_t core;
  atmi_device_abi_kernel_t compiled;
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
  atmi_device_t *core;                 /* NULL while the plugin sleeps */
  atmi_device_properties_t properties; /* as the core has them; constant once the device was found */
  atomic_bool ready;                   /* init_device was called */
  atmi_geometry_limits_t limits;
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

/* RTL_IDLE: devices are known, and nothing was asked of them. RTL_ASLEEP: the same, but they and ROCr were
 * released for a fork. RTL_CHANGED: awake again, they were others. RTL_ENDING: ROCr's static objects have
 * been destroyed. Queues that exist still take kernels, which libomptarget 15 wants for the destructors of
 * device code; everything else would have ROCr use memory that it has freed. RTL_FORKED: in a child process
 * of one that had used a GPU, which has none. */
typedef enum rtl_state {
  RTL_NEW,
  RTL_IDLE,
  RTL_ASLEEP,
  RTL_CHANGED,
  RTL_RUNNING,
  RTL_ENDING,
  RTL_STOPPED,
  RTL_FORKED,
} rtl_state_t;

enum { RTL_CALLERS = 4 };

typedef struct rtl_plugin {
  pthread_mutex_t lock; /* start, stop, lists of images; never on the path of a launch or copy */
  _Atomic rtl_state_t state;
  _Atomic uint32_t usable_count; /* devices that may be used: all while it runs, else none */
  _Atomic uint32_t plain_count;  /* the same, but none if somebody looks on at launches */
  atmi_env_t env;
  atmi_machine_t machine;
  rtl_device_t *devices;
  uint32_t device_count;                     /* of `devices`: what libomptarget was told */
  caller_abi_library_t callers[RTL_CALLERS]; /* every libomptarget that opened us; guarded by lock */
  uint32_t caller_count;                     /* guarded by lock */
  _Atomic bool retrieve_waits;               /* some caller wants it, see caller_abi_retrieve_waits */
  _Atomic int32_t device_offset; /* OpenMP's number of our first device, where libomptarget tells it */
  _Atomic uint32_t info;         /* LIBOMPTARGET_INFO bits, as last set */
  atomic_bool observed;          /* somebody wants a line for each launch */
  _Atomic int64_t requires;      /* OMP_REQ_ bits of the program */
  rtl_known_image_t *images;     /* guarded by lock */
  _Atomic uint64_t opener,
      forker;               /* the thread that holds the lock to find devices again, or to fork; or 0 */
  bool others_hold_rocr;    /* at the last fork; guarded by lock */
  bool is_child;            /* forked from the process that opened the plugin */
  uint32_t found_again;     /* devices, by the last look after a fork; guarded by lock */
  const void *last_refused; /* where the library lies whose images were last refused; guarded by lock */
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

/* Sets what programs require, OMP_REQ_ bits. Thread-safe. */
void rtl_plugin_set_requires(rtl_plugin_t *plugin, int64_t flags);

/* Devices may be used from now on, if it is the first time that somebody wants to. Thread-safe. */
void rtl_plugin_begin_use(rtl_plugin_t *plugin);

/* The device of this number if that begins its use. Otherwise says why there is none, or why it may not be
 * used any more, unless the plugin was stopped, and returns NULL. */
rtl_device_t *rtl_plugin_first_device(rtl_plugin_t *plugin, int32_t number, const char *operation);

/* The same; also the device of this number if the program is ending. */
rtl_device_t *rtl_plugin_late_device(rtl_plugin_t *plugin, int32_t number, const char *operation);

/* The device of this number for who wants to know what is said of it, which is no use: `core` may be NULL, or
 * become so. NULL, described, if there is none. */
rtl_device_t *rtl_plugin_known_device(rtl_plugin_t *plugin, int32_t number, const char *operation);

/* Sets what entry points may use, after a change of what that depends on. The caller holds the lock, or is
 * the only thread. */
void rtl_plugin_count_devices(rtl_plugin_t *plugin);

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
static inline bool rtl_plugin_has_device(rtl_plugin_t *plugin, int32_t number, const char *operation) {
  return rtl_plugin_is_usable(plugin, number) || rtl_plugin_late_device(plugin, number, operation);
}

/* Whether what is given back needs no more work, as ROCr has ended. */
static inline bool rtl_plugin_is_ending(const rtl_plugin_t *plugin) {
  return atomic_load_explicit(&plugin->state, memory_order_relaxed) == RTL_ENDING;
}

/* The device of this number if it may be used, or NULL with a message that begins with `operation`. For what
 * acquires something, or has ROCr do more than take a packet. */
static inline rtl_device_t *rtl_plugin_device(rtl_plugin_t *plugin, int32_t number, const char *operation) {
  if (rtl_plugin_is_usable(plugin, number))
    return &plugin->devices[(uint32_t)number];
  return rtl_plugin_first_device(plugin, number, operation);
}

/* The same for what is still done while the program ends: launches of kernels, waiting, and giving back. */
static inline rtl_device_t *rtl_plugin_any_device(rtl_plugin_t *plugin, int32_t number,
                                                  const char *operation) {
  if (rtl_plugin_is_usable(plugin, number))
    return &plugin->devices[(uint32_t)number];
  return rtl_plugin_late_device(plugin, number, operation);
}

#endif
