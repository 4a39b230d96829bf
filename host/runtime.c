/* Registration, the choice of a device, and the policy. */
#include "runtime.h"

#include "checker.h"
#include "heap.h"
#include "info.h"
#include "libomp.h"
#include "lint.h"
#include "message.h"
#include "operation.h"
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int first_device(void) {
  return 0;
}

tgt_runtime_t tgt_the_runtime = {.default_device = first_device,
                                 .lock = PTHREAD_MUTEX_INITIALIZER,
                                 .interops_lock = PTHREAD_MUTEX_INITIALIZER};

/* Before the constructors of whatever is linked with this library. */
static __attribute__((constructor)) void find_libomp(void) {
  if (omp_get_default_device)
    tgt_the_runtime.default_device = omp_get_default_device;
}

/* ---- policy ---- */

/* What the user set, without starting libomp, which would count the processors. */
static bool is_disabled_by_user(void) {
  const char *value = getenv("OMP_TARGET_OFFLOAD");
  return value && !strcasecmp(value, "disabled");
}

static tgt_policy_t policy_of_user(void) {
  static const tgt_policy_t by_number[] = {TGT_POLICY_DISABLED, TGT_POLICY_UNKNOWN, TGT_POLICY_MANDATORY};
  const char *value = getenv("OMP_TARGET_OFFLOAD");
  if (__kmpc_get_target_offload) {
    int number = __kmpc_get_target_offload();
    return number >= 0 && number < 3 ? by_number[number] : TGT_POLICY_UNKNOWN;
  }
  if (is_disabled_by_user())
    return TGT_POLICY_DISABLED;
  return value && !strcasecmp(value, "mandatory") ? TGT_POLICY_MANDATORY : TGT_POLICY_UNKNOWN;
}

/* Known from the first construct on: without a wish, whether there is a device decides. */
static tgt_policy_t get_policy(tgt_runtime_t *runtime) {
  tgt_policy_t policy = atomic_load_explicit(&runtime->policy, memory_order_relaxed);
  if (policy != TGT_POLICY_UNKNOWN)
    return policy;
  policy = policy_of_user();
  if (policy == TGT_POLICY_UNKNOWN)
    policy = atomic_load(&runtime->device_count) ? TGT_POLICY_MANDATORY : TGT_POLICY_DISABLED;
  atomic_store_explicit(&runtime->policy, policy, memory_order_relaxed);
  return policy;
}

/* ---- requirements ---- */

static const struct {
  int64_t flag;
  const char *name;
} requirements[] = {
    {TGT_REQUIRES_REVERSE_OFFLOAD, "reverse_offload"},
    {TGT_REQUIRES_UNIFIED_ADDRESS, "unified_address"},
    {TGT_REQUIRES_UNIFIED_MEMORY, "unified_shared_memory"},
    {TGT_REQUIRES_DYNAMIC_ALLOCATORS, "dynamic_allocators"},
};

void tgt_runtime_require(tgt_runtime_t *runtime, int64_t flags, int error) {
  int64_t before = 0;
  if (!flags)
    return;
  if (atomic_compare_exchange_strong(&runtime->requires, &before, flags)) {
    tgt_machine_require(flags);
    bool unified = flags & TGT_REQUIRES_UNIFIED_MEMORY;
    for (uint32_t i = 0; i < atomic_load(&runtime->device_count); i++)
      map_table_set_unified(runtime->devices[i].maps, unified);
    return;
  }
  /* LLVM 13 to 18 let the last one differ. */
  size_t count = sizeof requirements / sizeof *requirements;
  for (size_t i = 0; i < count; i++)
    if ((before ^ flags) & requirements[i].flag)
      tgt_fatal(error, "'#pragma omp requires %s' not used consistently!", requirements[i].name);
}

/* ---- registration ---- */

/* Makes the devices, with the first image that fits one. The caller holds the lock. */
static void add_devices(tgt_runtime_t *runtime) {
  uint32_t version = atomic_load(&runtime->newest_version), made = 0;
  uint32_t count = tgt_machine_devices(version);
  tgt_profile_start();
  tgt_lint_start();
  tgt_info_watch();
  runtime->devices = aligned_alloc(_Alignof(tgt_device_t), (count + 1) * sizeof *runtime->devices);
  if (runtime->devices)
    memset(runtime->devices, 0, (count + 1) * sizeof *runtime->devices);
  for (; runtime->devices && made < count; made++) {
    if (tgt_device_init(&runtime->devices[made], made, version))
      break;
    tgt_info_listen(&runtime->devices[made]);
    tgt_lint_listen(&runtime->devices[made]);
  }
  /* Release: who sees how many there are sees them. */
  atomic_store_explicit(&runtime->device_count, made, memory_order_release);
}

/* Where the list of libraries leads to this one; to NULL if it is not there. The caller holds the lock. */
static tgt_library_t **find(tgt_runtime_t *runtime, const tgt_descriptor_t *descriptor) {
  tgt_library_t **at = &runtime->libraries;
  while (*at && (*at)->descriptor != descriptor)
    at = &(*at)->next;
  return at;
}

/* What became different with which clang. */
static const struct {
  uint32_t version, option;
} map_options[] = {
    {16, MAP_KEEP_POINTER_ARGUMENTS}, {22, MAP_KEEP_HOST_POINTERS}, {23, MAP_OFFSETS_IN_BYTES}};

static void note_version(tgt_runtime_t *runtime, const tgt_library_t *library) {
  uint32_t version = tgt_device_library_version(library), options = 0;
  if (version <= atomic_load(&runtime->newest_version))
    return;
  for (size_t i = 0; i < sizeof map_options / sizeof *map_options; i++)
    options |= version >= map_options[i].version ? map_options[i].option : 0;
  atomic_store(&runtime->newest_version, version);
  tgt_machine_note_version(version);
  atomic_store(&runtime->map_options, options);
}

void tgt_runtime_register(tgt_runtime_t *runtime, const tgt_descriptor_t *descriptor) {
  tgt_library_t *library;
  tgt_requires_t requires;
  bool fits = false;
  atmi_status_t status = tgt_library_create(descriptor, &requires, &library);
  tgt_runtime_require(runtime, requires.first, 2);
  tgt_runtime_require(runtime, requires.other, 2);
  if (status)
    return;
  bool wanted = !is_disabled_by_user();
  if (wanted) { /* not under our lock: both take the dynamic linker's */
    tgt_machine_start();
    if (!tgt_runtime_device_count(runtime))
      tgt_checker_find();
  }
  pthread_mutex_lock(&runtime->lock);
  tgt_library_t **end = find(runtime, descriptor);
  if (*end) {
    pthread_mutex_unlock(&runtime->lock);
    tgt_library_destroy(library);
    tgt_error("a program's device code is registered again before it is unregistered; once is enough");
    return;
  }
  library->number = atomic_load(&runtime->registrations);
  note_version(runtime, library);
  *end = library;
  status = wanted ? tgt_device_add_library(library, &fits) : ATMI_OK;
  bool is_first = !status && fits && !runtime->devices;
  if (is_first)
    add_devices(runtime);
  atomic_fetch_add(&runtime->registrations, 1);
  pthread_mutex_unlock(&runtime->lock);
  if (is_first && runtime->devices)
    tgt_ompt_find_tool();
  tgt_heap_watch();
}

/* From now on nobody finds its regions. The caller holds the lock, and buries the library without it. */
static tgt_library_t *take_out(tgt_runtime_t *runtime, tgt_library_t **at) {
  tgt_library_t *library = *at;
  *at = library->next;
  for (uint32_t i = 0; i < atomic_load(&runtime->device_count); i++) {
    tgt_device_unload(&runtime->devices[i], library);
    if (!runtime->libraries && tgt_ompt_is_on())
      tgt_ompt_finalize(&runtime->devices[i]);
  }
  return library;
}

/* Who has found a region before may still run it. */
static void bury(tgt_library_t *library) {
  tgt_operation_await_tasks();
  tgt_device_forget_library(library);
  tgt_library_destroy(library);
}

/* ---- the end ---- */

/* Clang up to 18 has its libraries unregistered by a destructor. From here on it is an exit handler, and
 * these run before all functions with the attribute destructor. */
enum { CLANG_WITH_EXIT_HANDLERS = 19 };

static void note_exit(void) {
  atomic_store(&tgt_runtime()->is_exiting, true);
  if (!tgt_machine_is_forked())
    tgt_operation_await_tasks();
}

/* The last exit handler runs first, so one that comes behind the libraries' own runs before them. Without a
 * device in use there is none: ROCr cannot begin in destructors. What a handler costs is not given back,
 * hence the limit for programs that open libraries again and again. The caller holds the lock. */
static void watch_exit(tgt_runtime_t *runtime, uint64_t registrations) {
  enum { MOST = 256 };
  if (atomic_load(&runtime->newest_version) < CLANG_WITH_EXIT_HANDLERS || registrations > MOST ||
      runtime->exit_watched == registrations)
    return;
  runtime->exit_watched = registrations;
  (void)atexit(note_exit); /* without it, destructors are too late, as with LLVM's library */
}

/* Whether a library is unregistered too early for its destructors. A tool is told of the end at once, since
 * libomp may be gone later. */
static bool stays_until_stop(tgt_runtime_t *runtime) {
  return atomic_load(&runtime->is_exiting) && !tgt_machine_is_ending() &&
         atomic_load(&tgt_the_ompt.state) != TGT_OMPT_ON;
}

void tgt_runtime_unregister(tgt_runtime_t *runtime, const tgt_descriptor_t *descriptor) {
  if (tgt_machine_is_forked()) /* whoever held the lock is not in this process */
    return;
  tgt_operation_await_tasks(); /* who is about to find a region does, if it is the program's end */
  tgt_library_t *gone = NULL;
  pthread_mutex_lock(&runtime->lock);
  tgt_library_t **at = find(runtime, descriptor);
  if (*at && !((*at)->stays = stays_until_stop(runtime)))
    gone = take_out(runtime, at);
  pthread_mutex_unlock(&runtime->lock);
  if (gone)
    bury(gone);
}

void tgt_runtime_stop(tgt_runtime_t *runtime) {
  if (tgt_machine_is_forked())
    return;
  tgt_library_t *gone = NULL, *library;
  pthread_mutex_lock(&runtime->lock);
  for (tgt_library_t **at = &runtime->libraries; *at;)
    if ((*at)->stays) {
      library = take_out(runtime, at);
      library->next = gone;
      gone = library;
    } else {
      at = &(*at)->next;
    }
  pthread_mutex_unlock(&runtime->lock);
  while ((library = gone)) {
    gone = library->next;
    bury(library);
  }
}

/* ---- devices ---- */

int tgt_runtime_device_count(tgt_runtime_t *runtime) {
  return (int)atomic_load_explicit(&runtime->device_count, memory_order_acquire);
}

/* Loads what was registered since the device was last used. */
static bool load(tgt_runtime_t *runtime, tgt_device_t *device) {
  pthread_mutex_lock(&runtime->lock);
  uint64_t registrations = atomic_load(&runtime->registrations);
  tgt_device_find_core(device);
  tgt_ompt_initialize(device);
  for (tgt_library_t *at = runtime->libraries; at && !device->is_broken; at = at->next)
    device->is_broken = tgt_device_load(device, at) != ATMI_OK;
  bool usable = !device->is_broken;
  if (usable)
    tgt_info_entries(device, runtime->libraries);
  if (usable) { /* release: who sees these sees what was loaded */
    atomic_store_explicit(&device->core_in_use, device->core, memory_order_release);
    atomic_store_explicit(&device->loaded, registrations, memory_order_release);
    watch_exit(runtime, registrations);
  }
  pthread_mutex_unlock(&runtime->lock);
  return usable;
}

static tgt_device_t *refuse_number(int64_t number, int count) {
  tgt_error("Device number '%lld' out of range, only %d devices available", (long long)number, count);
  return NULL;
}

tgt_device_t *tgt_runtime_use(tgt_runtime_t *runtime, int64_t number, const char *operation, bool *failed) {
  *failed = false;
  number = tgt_runtime_number(number);
  if (get_policy(runtime) == TGT_POLICY_DISABLED)
    return NULL;
  int count = tgt_runtime_device_count(runtime);
  if (number == count && count)
    return NULL;
  *failed = true;
  if (number < 0 || number >= count)
    return refuse_number(number, count);
  tgt_device_t *device = &runtime->devices[number];
  if (!tgt_machine_has(device->number, operation))
    return NULL;
  tgt_ompt_connect();
  if (!load(runtime, device))
    return NULL;
  *failed = false;
  return device;
}

/* ---- failures ---- */

bool tgt_runtime_is_over(tgt_runtime_t *runtime) {
  pthread_mutex_lock(&runtime->lock);
  bool is_over = !runtime->libraries || tgt_machine_is_ending();
  pthread_mutex_unlock(&runtime->lock);
  return is_over;
}

void tgt_runtime_construct_failed(tgt_runtime_t *runtime, const tgt_ident_t *where) {
  tgt_place_t place;
  if (get_policy(runtime) != TGT_POLICY_MANDATORY)
    return;
  fflush(stdout);
  if (!tgt_machine_is_forked() && tgt_runtime_is_over(runtime))
    tgt_error("The program is ending: a construct with nowait wants a taskwait before that.");
  int count = tgt_runtime_device_count(runtime);
  for (int i = 0; tgt_info() & TGT_INFO_TABLE && i < count; i++)
    tgt_info_dump(&runtime->devices[i], where);
  if (!(tgt_info() & TGT_INFO_TABLE))
    tgt_error("Consult https://openmp.llvm.org/design/Runtimes.html for debugging options.");
  if (tgt_place_of_ident(where, &place))
    fprintf(stderr, "%.*s:%ld:%ld: ", place.file_length, place.file, place.line, place.column);
  else
    tgt_error("Source location information not present. Compile with -g or -gline-tables-only.");
  tgt_fatal(1, "failure of target construct while offloading is mandatory");
}
