/* The host runtime's one context: the libraries that the program registered, its devices, and what the user
 * wants. Here are also the questions that every construct begins with: which device, and may it be used. Not
 * here: what a device does (device), and constructs (region, data, memory). */
#ifndef TGT_RUNTIME_H
#define TGT_RUNTIME_H

#include "device.h"
#include "library.h"

#include <pthread.h>

typedef enum tgt_policy {
  TGT_POLICY_UNKNOWN, /* before the first construct */
  TGT_POLICY_DISABLED,
  TGT_POLICY_MANDATORY,
} tgt_policy_t;

struct tgt_interop;

/* Address, bytes, name, file, line and host address. */
typedef void tgt_note_name_t(uint64_t, uint64_t, const char *, const char *, uint32_t, uint64_t);

typedef struct tgt_runtime {
  int (*default_device)(void);    /* libomp's, or one that returns 0; constant */
  pthread_mutex_t lock;           /* registration and loading; never on the path of a launch or copy */
  tgt_library_t *libraries;       /* oldest first; guarded by lock */
  _Atomic uint64_t registrations; /* how many there ever were */
  _Atomic uint32_t device_count;  /* of `devices`; 0 as long as no image fits any */
  tgt_device_t *devices;          /* do not move */
  _Atomic tgt_policy_t policy;
  _Atomic int64_t requires;        /* TGT_REQUIRES_ bits; 0: nothing was said yet */
  _Atomic uint32_t map_options;    /* see tgt_runtime_map_options */
  _Atomic uint32_t newest_version; /* of clang, among those that built the registered images; 0: unknown */
  /* The program's exit handlers run. Which registrations the last handler that notices it came behind;
   * guarded by lock. */
  atomic_bool is_exiting;
  uint64_t exit_watched;
  _Atomic uint32_t tasks; /* constructs that the end of the program waits for: those that run in the
                             general way, or are left to a task of libomp's (operation.h) */
  /* Interop objects, of which there are few, newest first. */
  pthread_mutex_t interops_lock;
  struct tgt_interop *interops;
  /* Of a checker below (checker.h): what is new, and what is found to be mapped; then with what happens to
   * such memory, address, bytes, and for which code this thread works; NULL: none. */
  tgt_note_name_t *note_name[2]; /* by map_note_kind_t */
  void (*note_mapping)(uint32_t, uint64_t, uint64_t);
  void (*note_caller)(uint64_t);
  void (*note_brought)(uint64_t, uint64_t, uint64_t);
  void (*note_returns)(uint64_t);
  void (*note_refused)(uint64_t, const void *);
  void (*note_host)(uint32_t, uint64_t, uint64_t, uint64_t); /* what is it, address, bytes, who called */
  atomic_bool host_was_freed;                                /* of what is, or was, mapped */
} tgt_runtime_t;

extern tgt_runtime_t tgt_the_runtime;

static inline tgt_runtime_t *tgt_runtime(void) {
  return &tgt_the_runtime;
}

/* ---- registration ---- */

/* Adds what a program registers, and finds the devices if it is the first with images for them. Failures are
 * described; regions of the program then run as without a device. Thread-safe. */
void tgt_runtime_register(tgt_runtime_t *runtime, const tgt_descriptor_t *descriptor);
/* Runs destructors, unmaps variables and unloads; what is unregistered by an exit handler stays until
 * tgt_runtime_stop, for target regions that come later. Thread-safe. */
void tgt_runtime_unregister(tgt_runtime_t *runtime, const tgt_descriptor_t *descriptor);
/* Unregisters what has stayed. */
void tgt_runtime_stop(tgt_runtime_t *runtime);
/* Adds what a program requires; ends the process if another part of it says otherwise. `error`: LLVM's number
 * of that failure, 1 where programs call a function to say it (clang 13 to 18), 2 where entries say it. */
void tgt_runtime_require(tgt_runtime_t *runtime, int64_t flags, int error);

/* ---- devices ---- */

/* How many devices programs see; 0 if offloading is disabled. */
int tgt_runtime_device_count(tgt_runtime_t *runtime);

/* The device of a construct with all registered images loaded. NULL: the host is to run it, which is the
 * device with the number behind all others, or the policy; with `*failed` set after a failure, described.
 *   number  as the program passes it; TGT_DEVICE_DEFAULT is the default device */
tgt_device_t *tgt_runtime_use(tgt_runtime_t *runtime, int64_t number, const char *operation, bool *failed);

/* The number that a program's stands for. */
static inline int64_t tgt_runtime_number(int64_t number) {
  return number == TGT_DEVICE_DEFAULT ? tgt_the_runtime.default_device() : number;
}

/* Has the compiler keep an object in memory. In registers it would have to be saved, and these with it, at
 * the call that asks for the default device. */
#define TGT_KEEP_IN_MEMORY(object) __asm__ volatile("" : "+m"(object))

/* Whether the device has all that was registered. */
static inline bool tgt_runtime_is_loaded(const tgt_runtime_t *runtime, const tgt_device_t *device) {
  /* Acquire: who sees the number sees what was loaded. */
  uint64_t loaded = atomic_load_explicit(&device->loaded, memory_order_acquire);
  return loaded == atomic_load_explicit(&runtime->registrations, memory_order_relaxed);
}

/* As tgt_runtime_use if there is nothing to be done first; else NULL, and tgt_runtime_use is to be asked. */
static inline tgt_device_t *tgt_runtime_use_ready(tgt_runtime_t *runtime, int64_t number) {
  number = tgt_runtime_number(number);
  /* Numbers beyond 32 bits and negative ones are none: neither is less than the count. */
  if ((uint64_t)number >= atomic_load_explicit(&runtime->device_count, memory_order_acquire) ||
      !tgt_machine_is_usable((uint32_t)number))
    return NULL;
  tgt_device_t *device = &runtime->devices[number];
  return tgt_runtime_is_loaded(runtime, device) ? device : NULL;
}

/* Options of the mapping engine that follow from the compiler's version. */
static inline uint32_t tgt_runtime_map_options(const tgt_runtime_t *runtime) {
  return atomic_load_explicit(&runtime->map_options, memory_order_relaxed);
}

/* ---- failures ---- */

/* Whether the program has unregistered all that it had, or the process is ending. Not under the lock. */
bool tgt_runtime_is_over(tgt_runtime_t *runtime);

/* What "failed" means for a construct: under the policy mandatory, and that is the default where there is a
 * device, says where in the program and ends the process, as OpenMP has it. Otherwise returns. */
void tgt_runtime_construct_failed(tgt_runtime_t *runtime, const tgt_ident_t *where);

#endif
