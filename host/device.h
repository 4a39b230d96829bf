/* One device as constructs see it: its images, its kernels, what is mapped to it, and operations on its
 * streams. All that the host runtime needs of the core is used from here, but for what is printed. Not here:
 * which device it is (runtime). */
#ifndef TGT_DEVICE_H
#define TGT_DEVICE_H

#include "abi.h"
#include "kernels.h"
#include "library.h"
#include "mapping/map.h"

#include "openmp/context.h"
#include "openmp/launch.h"
#include "stream/transfer.h"

#define TGT_UID_KIND "AMDGPU-"

typedef struct tgt_device {
  _Alignas(128) uint32_t number; /* aligned, to be found in few steps */
  atmi_omp_device_t *omp;
  atmi_device_t *core;
  /* The same, but NULL until images were loaded on it: for who asks nothing else. Constant from then on. */
  _Atomic(atmi_device_t *) core_in_use;
  tgt_kernels_t kernels; /* atmi_omp_kernel_t by region */
  map_table_t *maps;
  char uid[40];            /* TGT_UID_KIND, and what HSA calls it, "GPU-..." */
  _Atomic uint64_t loaded; /* the registrations whose images it has */
  _Atomic bool is_told;    /* a tool knows that it is used, see ompt.h */
  bool is_broken;          /* an image could not be loaded; guarded by the runtime's lock */
} tgt_device_t;

/* ---- the machine ---- */

/* Finds the devices, the first time it is called. */
void tgt_machine_start(void);
/* How many of them are the program's, once an image fits one. `version`: of clang. */
uint32_t tgt_machine_devices(uint32_t version);
/* Makes one of them. `version`: of clang. */
ATMI_MUST_CHECK atmi_status_t tgt_device_init(tgt_device_t *device, uint32_t number, uint32_t version);
/* At the end of the process. */
void tgt_machine_stop(void);
/* Whether devices may be used: not in a forked child, and not after the end. */
bool tgt_machine_is_forked(void);
/* Whether the device of this number exists and may be used, also while the process ends; if not, says why. */
bool tgt_machine_has(uint32_t number, const char *operation);
/* The same, but not while the process ends, and without a word. */
static inline bool tgt_machine_is_usable(uint32_t number) {
  return atmi_context_is_usable(atmi_context(), (int32_t)number);
}
/* What the program requires, before images are loaded; also before there are devices. */
void tgt_machine_require(int64_t flags);
/* Whether a thread seems to be in the middle of a construct. */
bool tgt_machine_is_busy(void);
/* Whether the process is ending, so that nothing need be given back. */
bool tgt_machine_is_ending(void);

/* ---- images ---- */

/* Before images are loaded: the device of the core, which is another one if the process has forked before
 * anything was used, and what that knows of maps. */
void tgt_device_find_core(tgt_device_t *device);

/* Makes the library known; says why if none of its images fits. `*fits`: whether one does. */
ATMI_MUST_CHECK atmi_status_t tgt_device_add_library(tgt_library_t *library, bool *fits);
/* Forgets it, and unloads it from everywhere. */
void tgt_device_forget_library(tgt_library_t *library);

/* Loads the library on the device: kernels, variables, constructors. Nothing if it has no image for AMD
 * GPUs. */
ATMI_MUST_CHECK atmi_status_t tgt_device_load(tgt_device_t *device, tgt_library_t *library);
/* Runs its destructors there, and takes kernels and variables back. */
void tgt_device_unload(tgt_device_t *device, tgt_library_t *library);

/* Programs are of this version of clang: some of what the core says differs by it. */
void tgt_machine_note_version(uint32_t version);

/* The newest version of clang that built one of its images for AMD GPUs; 0 if none says. */
uint32_t tgt_device_library_version(const tgt_library_t *library);

/* ---- streams ---- */

/* What launches pass: the words of a request in the form of atmi_omp_launch_again. `count`: of the kernel's
 * arguments. */
static inline atmi_omp_words_t tgt_launch_words(const tgt_kernel_args_t *args, uint32_t count, uint32_t teams,
                                                uint32_t threads) {
  atmi_omp_words_t words = {{args->tripcount, teams, (uint64_t)threads << 32, 0, count}};
  words.word[1] |= (uint64_t)args->teams[1] << 32;
  words.word[2] |= args->teams[2];
  memcpy(&words.word[3], &args->threads[1], sizeof words.word[3]);
  words.word[4] |= (uint64_t)args->dynamic_lds_bytes << 32;
  return words;
}

/* What tells launches of regions apart. A region's address stands for its kernel as long as none is removed;
 * the words are what arguments and geometry follow from, as they lie in memory. */
typedef struct tgt_launch {
  const tgt_device_t *device;
  const void *id; /* of the region */
  const tgt_kernel_args_t *args;
  uint64_t clauses; /* teams and, in the upper half, threads, as passed */
} tgt_launch_t;

static inline uint64_t tgt_word_at(const void *memory) {
  uint64_t word;
  memcpy(&word, memory, sizeof word);
  return word;
}

/* The first word tells whether there are others: it has the arguments' version. */
static inline __attribute__((always_inline)) uint64_t tgt_launch_word(const tgt_launch_t *launch, int i) {
  const tgt_kernel_args_t *args = launch->args;
  switch (i) {
  case 0: return tgt_word_at(&args->version);
  case 1:
    return atomic_load_explicit(&launch->device->kernels.generation, memory_order_relaxed) |
           args->dynamic_lds_bytes;
  case 2: return args->tripcount;
  case 3: return launch->clauses;
  case 4: return tgt_word_at(&args->teams[1]);
  default: return tgt_word_at(&args->threads[1]);
  }
}

static inline atmi_plan_key_t tgt_launch_key(const tgt_launch_t *launch, uint32_t tag) {
  return (atmi_plan_key_t){(uintptr_t)launch->id,
                           {tgt_launch_word(launch, 0), tgt_launch_word(launch, 1),
                            tgt_launch_word(launch, 2), tgt_launch_word(launch, 3),
                            tgt_launch_word(launch, 4), tgt_launch_word(launch, 5)},
                           tag};
}

/* The stream's plan of it among those that are ready, or NULL. As atmi_plan_find does by the key, but words
 * are made one by one: that takes fewer registers, and does not look beyond what there is. */
static inline __attribute__((always_inline)) const atmi_plan_t *tgt_launch_find(const atmi_stream_t *stream,
                                                                                const tgt_launch_t *launch) {
  const atmi_plan_t *plan = atmi_plan_place(stream->ready_plans, (uintptr_t)launch->id);
  if (!plan)
    return NULL;
  const uint64_t *words = plan->key.words;
  bool found = plan->key.id == (uintptr_t)launch->id && words[0] == tgt_launch_word(launch, 0) &&
               words[1] == tgt_launch_word(launch, 1) && words[2] == tgt_launch_word(launch, 2) &&
               words[3] == tgt_launch_word(launch, 3) && words[4] == tgt_launch_word(launch, 4) &&
               words[5] == tgt_launch_word(launch, 5);
  return found ? plan : NULL;
}

/* An idle stream of the calling thread, and its return: also waits if it must. */
ATMI_MUST_CHECK static inline atmi_status_t tgt_stream_take(tgt_device_t *device, atmi_stream_t **stream) {
  return atmi_stream_take(device->core, stream);
}

/* The one that the thread left, if there is one and images were loaded on the device; or NULL. */
static inline atmi_stream_t *tgt_stream_take_own(const tgt_device_t *device) {
  /* Acquire: the core is seen as it was found, with what was loaded. */
  atmi_device_t *core = atomic_load_explicit(&device->core_in_use, memory_order_acquire);
  return core ? atmi_stream_take_own(core) : NULL;
}

static inline void tgt_stream_put(atmi_stream_t *stream) {
  if (atmi_stream_settle_plain(stream))
    atmi_stream_put_idle(stream);
  else
    atmi_stream_put_any(stream);
}

/* Waits for all of it. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
tgt_stream_wait(atmi_stream_t *stream) {
  if (atmi_stream_settle_plain(stream) || atmi_stream_settle_copy(stream))
    return ATMI_OK;
  return atmi_stream_synchronize(stream);
}

/* Launches: as often before, or else in the general way. `key`: of tgt_launch_key; NULL: the region is none
 * of the program's. */
ATMI_MUST_CHECK atmi_status_t tgt_launch_any(tgt_device_t *device, atmi_stream_t *stream,
                                             const atmi_omp_kernel_t *kernel, atmi_omp_words_t words,
                                             const atmi_plan_key_t *key, void *const *arguments);

/* Whether the first way of a copy may be tried. What is given for the host's memory may be a device's, or the
 * device lost: the general ways know what to do. */
static inline __attribute__((always_inline)) bool tgt_device_copies_simply(const tgt_device_t *device,
                                                                           const void *host) {
  const atmi_context_t *context = atmi_context();
  return !atmi_access_may_be_device(&context->machine.access, host) &&
         atmi_context_is_sound(context, (int32_t)device->number);
}

/* Copies to and from the device, in their first way if it may be tried. */
ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
tgt_device_submit(const tgt_device_t *device, atmi_stream_t *stream, void *memory, const void *host,
                  uint64_t bytes) {
  atmi_status_t status;
  if (tgt_device_copies_simply(device, host) &&
      atmi_transfer_submit_small(stream, memory, host, bytes, &status))
    return status;
  return atmi_transfer_submit(stream, memory, host, bytes);
}

ATMI_MUST_CHECK static inline __attribute__((always_inline)) atmi_status_t
tgt_device_retrieve(const tgt_device_t *device, atmi_stream_t *stream, void *host, const void *memory,
                    uint64_t bytes) {
  atmi_status_t status;
  if (tgt_device_copies_simply(device, host) &&
      atmi_transfer_retrieve_small(stream, host, memory, bytes, &status))
    return status;
  return atmi_transfer_retrieve(stream, host, memory, bytes);
}

/* The functions of the device for its table of maps. */
/* The second ones give each variable a block of memory of its own: a checker then sees where it ends. */
extern const map_device_functions_t tgt_device_functions, tgt_device_functions_apart;

#endif
