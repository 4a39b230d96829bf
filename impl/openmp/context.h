/* The one context of a library that offloads, the plugin or the host runtime: settings, machine, devices, and
 * the images that programs registered. Each test can make its own. Not here: when it begins and ends
 * (process), forks (fork), and which device may be used (use). */
#ifndef ATMI_OPENMP_CONTEXT_H
#define ATMI_OPENMP_CONTEXT_H

#include "machine/discovery.h"
#include "openmp/device_abi.h"
#include "openmp/geometry.h"
#include "openmp/request.h"

/* A kernel of a program on one device: what launches are given. */
typedef struct atmi_omp_kernel {
  atmi_kernel_t core;
  atmi_device_abi_kernel_t compiled;
  bool takes_environment; /* the address of a launch environment, in front of the program's arguments */
  uint8_t mode_number;    /* of the compiler that made the image; for traces */
} atmi_omp_kernel_t;

/* The kernel that has this one. */
static inline const atmi_omp_kernel_t *atmi_omp_kernel_of(const atmi_kernel_t *core) {
  return (const atmi_omp_kernel_t *)(const void *)((const char *)core - offsetof(atmi_omp_kernel_t, core));
}

/* An image loaded on one device. */
typedef struct atmi_loaded_image {
  struct atmi_loaded_image *next;
  const void *library; /* it came from: as in the request */
  bool retired;        /* its library is gone: to be unloaded as soon as the device is idle */
  atmi_code_object_t object;
  atmi_omp_kernel_t *kernels;
  atmi_entry_t *entries; /* the device's: as many as the host's, in the same order */
  size_t entry_count;
  _Atomic size_t looked_up; /* where the next look-up of an entry probably succeeds */
  bool has_fini;
  atmi_kernel_t fini;          /* to be run before the image is unloaded */
  void *heap, *indirect_calls; /* device memory of the image's runtime, or NULL */
  void *attached;              /* what its caller keeps with it, from malloc, or NULL: freed with it */
} atmi_loaded_image_t;

typedef struct atmi_omp_device {
  atmi_device_t *core;                 /* NULL while the context sleeps */
  atmi_device_properties_t properties; /* as the core has them; constant once the device was found */
  atomic_bool ready;                   /* that it came into use was shown, see atmi_trace_device */
  atomic_bool zero_copy;               /* see atmi_context_ask_zero_copy */
  atmi_geometry_limits_t limits;
  atmi_loaded_image_t *images;  /* guarded by the context's lock */
  struct atmi_interop *interop; /* guarded by the context's lock; NULL until it is asked for */
} atmi_omp_device_t;

/* An image that a registered library holds, whether it fits a device or not. */
typedef struct atmi_known_image {
  struct atmi_known_image *next;
  const void *library;
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

typedef struct atmi_context {
  pthread_mutex_t waking; /* above the other: while devices are found again after a fork, and during forks */
  pthread_mutex_t lock;   /* start, stop, lists of images; never on the path of a launch or copy */
  _Atomic atmi_context_state_t state;
  _Atomic uint32_t usable_count; /* devices that may be used: all while it runs, else none */
  _Atomic uint32_t plain_count;  /* the same, but none if somebody looks on at launches */
  atmi_env_t env;
  atmi_machine_t machine;
  atmi_omp_device_t *devices;
  uint32_t device_count;         /* of `devices`: what the program was told */
  uint64_t left_out;             /* a set of devices that were found and are not told; guarded by lock */
  _Atomic int32_t device_offset; /* OpenMP's number of our first device, where somebody tells it */
  _Atomic uint32_t info;         /* LIBOMPTARGET_INFO bits, as last set */
  atomic_bool info_by_dimension; /* of a launch's teams and threads: as LLVM has it since 21 */
  atomic_bool observed;          /* somebody wants a line for each launch */
  atomic_bool watched;           /* who stands above wants to be asked at each construct */
  atomic_bool unified;           /* the program requires unified shared memory */
  atmi_known_image_t *images;    /* guarded by lock */
  _Atomic uint64_t opener,
      forker;             /* the thread that holds `waking` to find devices again, or to fork; or 0 */
  bool others_hold_rocr;  /* at the last fork; guarded by lock */
  bool is_child;          /* forked from the process that started it */
  bool knows_environment; /* `env` was read; guarded by lock */
  uint32_t found_again;   /* devices, by the last look after a fork; guarded by lock */
} atmi_context_t;

/* The context of this library. Hidden, so that the compiler reaches it without a table of the linker. */
extern __attribute__((visibility("hidden"))) atmi_context_t atmi_the_context;

static inline atmi_context_t *atmi_context(void) {
  return &atmi_the_context;
}

/* The bit of LIBOMPTARGET_INFO that shows launches. */
enum { ATMI_INFO_KERNEL = 0x10 };

/* Sets the LIBOMPTARGET_INFO bits. Thread-safe. */
void atmi_context_set_info(atmi_context_t *context, uint32_t flags);
/* The same for who holds the lock. */
void atmi_context_set_info_locked(atmi_context_t *context, uint32_t flags);

/* Says whether who stands above has something to do or to ask at each construct, so that no device is one
 * that nobody looks on at. Thread-safe. */
void atmi_context_set_watched(atmi_context_t *context, bool watched);

/* Says whether the program requires unified shared memory, before images are loaded; also before the context
 * is started. Thread-safe. */
void atmi_context_set_unified(atmi_context_t *context, bool unified);

/* Sets what entry points may use, after a change of what that depends on. The caller holds the lock, or is
 * the only thread. */
void atmi_context_count_devices(atmi_context_t *context);

/* Whether the device of this number may be used. */
static inline bool atmi_context_is_usable(const atmi_context_t *context, int32_t number) {
  /* Acquire: whoever sees that devices may be used sees them. Negative numbers are large ones here. */
  return (uint32_t)number < atomic_load_explicit(&context->usable_count, memory_order_acquire);
}

/* The same for the first way of an operation, which is not for what comes after a fault. Asked when a signal
 * was seen as complete, it tells that it was not a fault that made it so. */
static inline bool atmi_context_is_sound(const atmi_context_t *context, int32_t number) {
  /* Acquire as above; and a device's loss shows here before its signals are abandoned. */
  return (uint32_t)number < atomic_load_explicit(&context->machine.sound_count, memory_order_acquire);
}

/* The same for a launch or construct that nobody looks on at, and that may take the short way. */
static inline bool atmi_context_is_plain(const atmi_context_t *context, int64_t number) {
  return (uint64_t)number < atomic_load_explicit(&context->plain_count, memory_order_acquire);
}

/* One that may be. */
static inline atmi_device_t *atmi_context_core(const atmi_context_t *context, int32_t number) {
  return context->machine.devices[(uint32_t)number];
}

/* Whether what is given back needs no more work, as ROCr has ended. */
static inline bool atmi_context_is_ending(const atmi_context_t *context) {
  return atomic_load_explicit(&context->state, memory_order_relaxed) == ATMI_CONTEXT_ENDING;
}

#endif
