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
typedef struct atmi_omp_kernel {
  atmi_kernel_t core;
  atmi_device_abi_kernel_t compiled;
  bool takes_environment; /* the address of a launch environment, in front of the program's arguments */
  uint8_t mode_number;    /* of the compiler that made the image; for traces */
} atmi_omp_kernel_t;

/* An image loaded on one device. */
typedef struct atmi_loaded_image {
  struct atmi_loaded_image *next;
  const __tgt_offload_entry *host_entries; /* identifies the library it came from */
  bool retired; /* its library is gone: to be unloaded as soon as the device is idle */
  atmi_code_object_t object;
  atmi_omp_kernel_t *kernels;
  __tgt_offload_entry *entries;
  __tgt_target_table table;
  _Atomic size_t looked_up; /* where the next look-up of an entry probably succeeds */
  bool has_fini;
  atmi_kernel_t fini;          /* to be run before the image is unloaded */
  void *heap, *indirect_calls; /* device memory of the image's runtime, or NULL */
} atmi_loaded_image_t;

typedef struct atmi_omp_device {
  atmi_device_t *core;                 /* NULL while the plugin sleeps */
  atmi_device_properties_t properties; /* as the core has them; constant once the device was found */
  atomic_bool ready;                   /* init_device was called */
  atmi_geometry_limits_t limits;
  atmi_loaded_image_t *images; /* guarded by the plugin's lock */
  struct rtl_interop *interop; /* guarded by the plugin's lock; NULL until it is asked for */
} atmi_omp_device_t;

/* An image that a registered library holds, whether it fits a device or not. */
typedef struct atmi_known_image {
  struct atmi_known_image *next;
  const __tgt_bin_desc *library;
  const __tgt_offload_entry *host_entries;
  const void *elf;
  size_t bytes;
} atmi_known_image_t;

/* ATMI_CONTEXT_IDLE: devices are known, and nothing was asked of them. ATMI_CONTEXT_ASLEEP: the same, but
 * they and ROCr were released for a fork. ATMI_CONTEXT_CHANGED: awake again, they were others.
 * ATMI_CONTEXT_ENDING: ROCr's static objects have been destroyed. Queues that exist still take kernels, which
 * libomptarget 15 wants for the destructors of device code; everything else would have ROCr use memory that
 * it has freed. ATMI_CONTEXT_FORKED: in a child process of one that had used a GPU, which has none. */
typedef enum atmi_context_state {
  ATMI_CONTEXT_NEW,
  ATMI_CONTEXT_IDLE,
  ATMI_CONTEXT_ASLEEP,
  ATMI_CONTEXT_CHANGED,
  ATMI_CONTEXT_RUNNING,
  ATMI_CONTEXT_ENDING,
  ATMI_CONTEXT_STOPPED,
  ATMI_CONTEXT_FORKED,
} atmi_context_state_t;

enum { RTL_CALLERS = 4 };

typedef struct atmi_context {
  pthread_mutex_t lock; /* start, stop, lists of images; never on the path of a launch or copy */
  _Atomic atmi_context_state_t state;
  _Atomic uint32_t usable_count; /* devices that may be used: all while it runs, else none */
  _Atomic uint32_t plain_count;  /* the same, but none if somebody looks on at launches */
  atmi_env_t env;
  atmi_machine_t machine;
  atmi_omp_device_t *devices;
  uint32_t device_count;                     /* of `devices`: what libomptarget was told */
  caller_abi_library_t callers[RTL_CALLERS]; /* every libomptarget that opened us; guarded by lock */
  uint32_t caller_count;                     /* guarded by lock */
  _Atomic bool retrieve_waits;               /* some caller wants it, see caller_abi_retrieve_waits */
  _Atomic int32_t device_offset; /* OpenMP's number of our first device, where libomptarget tells it */
  _Atomic uint32_t info;         /* LIBOMPTARGET_INFO bits, as last set */
  atomic_bool observed;          /* somebody wants a line for each launch */
  _Atomic int64_t requires;      /* OMP_REQ_ bits of the program */
  atmi_known_image_t *images;    /* guarded by lock */
  _Atomic uint64_t opener,
      forker;               /* the thread that holds the lock to find devices again, or to fork; or 0 */
  bool others_hold_rocr;    /* at the last fork; guarded by lock */
  bool is_child;            /* forked from the process that opened the plugin */
  uint32_t found_again;     /* devices, by the last look after a fork; guarded by lock */
  const void *last_refused; /* where the library lies whose images were last refused; guarded by lock */
} atmi_context_t;

/* The context of this library. */
extern atmi_context_t atmi_the_context;

static inline atmi_context_t *atmi_context(void) {
  return &atmi_the_context;
}

/* Reads the environment and finds the devices, the first time it is called, and the libomptarget that calls,
 * by the return address of the entry point, each time. False, described, if that is none of a known version;
 * it must not get any devices. Thread-safe. */
bool atmi_context_start(atmi_context_t *context, const void *return_address);
/* The version of the libomptarget that calls; that of the last one known if the address is of none. */
int atmi_context_host(atmi_context_t *context, const void *return_address);
/* Releases everything, once; entry points that are called later find no device. If a thread is still in the
 * middle of an operation, or ROCr has ended already, device code's destructors run and everything is left to
 * the end of the process instead. */
void atmi_context_stop(atmi_context_t *context);

/* Sets the LIBOMPTARGET_INFO bits. Thread-safe. */
void atmi_context_set_info(atmi_context_t *context, uint32_t flags);

/* Sets what programs require, OMP_REQ_ bits. Thread-safe. */
void atmi_context_set_requires(atmi_context_t *context, int64_t flags);

/* Devices may be used from now on, if it is the first time that somebody wants to. Thread-safe. */
void atmi_context_begin_use(atmi_context_t *context);

/* The device of this number if that begins its use. Otherwise says why there is none, or why it may not be
 * used any more, unless the plugin was stopped, and returns NULL. */
atmi_omp_device_t *atmi_context_first_device(atmi_context_t *context, int32_t number, const char *operation);

/* The same; also the device of this number if the program is ending. */
atmi_omp_device_t *atmi_context_late_device(atmi_context_t *context, int32_t number, const char *operation);

/* The device of this number for who wants to know what is said of it, which is no use: `core` may be NULL, or
 * become so. NULL, described, if there is none. */
atmi_omp_device_t *atmi_context_known_device(atmi_context_t *context, int32_t number, const char *operation);

/* Sets what entry points may use, after a change of what that depends on. The caller holds the lock, or is
 * the only thread. */
void atmi_context_count_devices(atmi_context_t *context);

/* Whether the device of this number may be used. */
static inline bool atmi_context_is_usable(const atmi_context_t *context, int32_t number) {
  /* Acquire: whoever sees that devices may be used sees them. Negative numbers are large ones here. */
  return (uint32_t)number < atomic_load_explicit(&context->usable_count, memory_order_acquire);
}

/* One that may be. */
static inline atmi_device_t *atmi_context_core(const atmi_context_t *context, int32_t number) {
  return context->machine.devices[(uint32_t)number];
}

/* As atmi_context_device, for who needs no more than that it exists. */
static inline bool atmi_context_has_device(atmi_context_t *context, int32_t number, const char *operation) {
  return atmi_context_is_usable(context, number) || atmi_context_late_device(context, number, operation);
}

/* Whether what is given back needs no more work, as ROCr has ended. */
static inline bool atmi_context_is_ending(const atmi_context_t *context) {
  return atomic_load_explicit(&context->state, memory_order_relaxed) == ATMI_CONTEXT_ENDING;
}

/* The device of this number if it may be used, or NULL with a message that begins with `operation`. For what
 * acquires something, or has ROCr do more than take a packet. */
static inline atmi_omp_device_t *atmi_context_device(atmi_context_t *context, int32_t number,
                                                     const char *operation) {
  if (atmi_context_is_usable(context, number))
    return &context->devices[(uint32_t)number];
  return atmi_context_first_device(context, number, operation);
}

/* The same for what is still done while the program ends: launches of kernels, waiting, and giving back. */
static inline atmi_omp_device_t *atmi_context_any_device(atmi_context_t *context, int32_t number,
                                                         const char *operation) {
  if (atmi_context_is_usable(context, number))
    return &context->devices[(uint32_t)number];
  return atmi_context_late_device(context, number, operation);
}

#endif
