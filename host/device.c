/* Devices: the one place that calls the core. */
#include "device.h"

#include "checker.h"
#include "message.h"
#include "ompt.h"

#include "mapping/message.h"
#include "mapping/pack.h"

#include "image/embedded.h"
#include "openmp/image.h"
#include "openmp/process.h"
#include "openmp/use.h"

#include <hsa/hsa_ext_amd.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the machine ---- */

void tgt_machine_start(void) {
  static const char profile[] = "LIBOMPTARGET_PROFILE";            /* as LLVM's library calls it */
  atmi_context_options_t options = {.library = "libomptarget.so"}; /* which is this one */
  if (atomic_load(&atmi_context()->state) == ATMI_CONTEXT_NEW)
    options.timeline = atmi_env_file(profile, getenv(profile));
  atmi_context_start(atmi_context(), &options);
}

/* LLVM's libraries of before count GPUs that no image fits. */
enum { CLANG_WITH_CHOSEN_DEVICES = 19 };

uint32_t tgt_machine_devices(uint32_t version) {
  if (!version || version >= CLANG_WITH_CHOSEN_DEVICES)
    atmi_context_choose_devices(atmi_context());
  return atmi_context()->device_count;
}

void tgt_machine_stop(void) {
  atmi_context_stop(atmi_context());
}

bool tgt_machine_is_forked(void) {
  return atomic_load_explicit(&atmi_context()->state, memory_order_acquire) == ATMI_CONTEXT_FORKED;
}

bool tgt_machine_is_ending(void) {
  return atomic_load_explicit(&atmi_context()->state, memory_order_acquire) >= ATMI_CONTEXT_ENDING;
}

bool tgt_machine_is_busy(void) {
  return atmi_context_is_busy(atmi_context());
}

bool tgt_machine_has(uint32_t number, const char *operation) {
  return atmi_context_any_device(atmi_context(), (int32_t)number, operation);
}

void tgt_machine_require(int64_t flags) {
  atmi_context_set_unified(atmi_context(), flags & TGT_REQUIRES_UNIFIED_MEMORY);
}

/* ---- for the mapping engine ---- */

static bool allocate(void *context, uint64_t bytes, const void *host, void **memory) {
  atmi_memory_t *pool = &((tgt_device_t *)context)->core->memory;
  return atmi_memory_take_cached(pool, bytes, host, memory) ||
         !atmi_memory_allocate_for(pool, bytes, ATMI_MEMORY_DEVICE, host, memory);
}

static bool release(void *context, void *memory) {
  atmi_memory_t *pool = &((tgt_device_t *)context)->core->memory;
  if (tgt_machine_is_ending() || atmi_memory_put_cached(pool, memory))
    return true;
  return !atmi_memory_free(pool, memory);
}

static bool submit(void *device, void *stream, void *memory, const void *host, uint64_t bytes) {
  return !tgt_device_submit(device, stream, memory, host, bytes);
}

static bool retrieve(void *device, void *stream, void *host, const void *memory, uint64_t bytes) {
  return !tgt_device_retrieve(device, stream, host, memory, bytes);
}

static bool mark(void *device, void *stream, map_mark_t *mark) {
  (void)device;
  return !atmi_stream_mark(stream, mark);
}

static bool wait_for(void *context, void *stream, map_mark_t *mark) {
  tgt_device_t *device = context;
  atmi_signal_t *signal = atmi_signal_from_mark(&device->core->signals, *mark);
  if (!signal) {
    *mark = 0;
    return true;
  }
  atmi_status_t status = atmi_stream_wait_for(stream, signal);
  atmi_signal_unref(signal);
  return !status;
}

static bool is_device_memory(void *context, const void *host) {
  atmi_access_t *access = &((tgt_device_t *)context)->core->machine->access;
  hsa_agent_t owner;
  size_t left;
  return atmi_access_may_be_device(access, host) && atmi_access_is_device(access, host, &owner, &left);
}

/* As submit and retrieve would do it by themselves: through staging memory. */
static bool packs(void *device, const void *host, uint64_t bytes) {
  return bytes < (uint64_t)((tgt_device_t *)device)->core->machine->env->max_staged_bytes &&
         !is_device_memory(device, host);
}

static bool stage(void *device, void *stream, uint64_t bytes, void **staged) {
  (void)device;
  return !atmi_transfer_stage(stream, bytes, staged);
}

static bool submit_staged(void *device, void *stream, void *memory, const void *staged, uint64_t bytes) {
  (void)device;
  return !atmi_transfer_submit_staged(stream, memory, staged, bytes);
}

static bool retrieve_pieces(void *device, void *stream, const void *memory, uint64_t bytes,
                            const atmi_piece_t *pieces, uint32_t count) {
  (void)device;
  return !atmi_transfer_retrieve_pieces(stream, memory, bytes, pieces, count);
}

_Static_assert((uint32_t)MAP_PACK_BYTES <= (uint32_t)ATMI_TRANSFER_PIECES_BYTES &&
                   (uint32_t)MAP_PIECES <= (uint32_t)ATMI_TRANSFER_PIECES,
               "what the engine packs the core copies");

const map_device_functions_t tgt_device_functions = {
    allocate, release, submit, retrieve, mark, wait_for, packs, stage, submit_staged, retrieve_pieces};

/* A checker is told of copies that were begun by who asked for them, so of others here: it may know why. */
static bool submit_watched(void *device, void *stream, void *memory, const void *host, uint64_t bytes) {
  const bool begun = submit(device, stream, memory, host, bytes);
  if (!begun)
    tgt_checker_failed(memory, bytes, true);
  return begun;
}

static bool retrieve_watched(void *device, void *stream, void *host, const void *memory, uint64_t bytes) {
  const bool begun = retrieve(device, stream, host, memory, bytes);
  if (!begun)
    tgt_checker_failed(memory, bytes, false);
  return begun;
}

const map_device_functions_t tgt_device_functions_apart = {.allocate = allocate,
                                                           .release = release,
                                                           .submit = submit_watched,
                                                           .retrieve = retrieve_watched,
                                                           .mark = mark,
                                                           .wait = wait_for};

/* ---- devices ---- */

static void report(void *context, map_status_t status, const char *text) {
  (void)context, (void)status;
  for (int length; *text; text += length + (text[length] == '\n')) {
    length = (int)strcspn(text, "\n");
    tgt_message("%.*s", length, text);
  }
}

/* HSA's name for the GPU behind LLVM's for its kind; of one that has none, a name by its number. */
static void name_device(tgt_device_t *device) {
  const char *uuid = device->omp->properties.uuid;
  if (*uuid && strcmp(uuid, "GPU-XX") != 0)
    snprintf(device->uid, sizeof device->uid, TGT_UID_KIND "%s", uuid);
  else
    snprintf(device->uid, sizeof device->uid, TGT_UID_KIND "GPU-number-%u", device->number);
}

/* LLVM 17 took the padding of structs from their alignment; before it was 8 bytes. */
enum { CLANG_WITH_NEW_PADDING = 17, CLANG_WITH_DIMENSIONS = 21 };

__attribute__((cold)) atmi_status_t tgt_device_init(tgt_device_t *device, uint32_t number, uint32_t version) {
  device->number = number;
  device->omp = &atmi_context()->devices[number];
  device->core = device->omp->core;
  name_device(device);
  const map_configuration_t configuration = {
      .functions = &tgt_device_functions,
      .device = device,
      .listener = {.context = device, .fail = report},
      .reaches = is_device_memory,
      .unified = atomic_load(&atmi_context()->unified),
      .zero_copy = atmi_context_ask_zero_copy(atmi_context(), device->omp),
      .old_padding = version && version < CLANG_WITH_NEW_PADDING,
  };
  atmi_status_t status = tgt_kernels_init(&device->kernels);
  if (status)
    return status;
  device->maps = map_table_new(&configuration);
  if (!device->maps)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot set up a device: out of host memory");
  return ATMI_OK;
}

static bool name_mapped(void *maps, uint64_t address, atmi_mapped_t *mapped) {
  map_entry_view_t entry;
  if (!map_table_nearest_on_device(maps, address, &entry))
    return false;
  mapped->begin = entry.device;
  mapped->bytes = entry.end - entry.begin;
  map_say_name(entry.name, mapped->name, sizeof mapped->name);
  return true;
}

void tgt_device_find_core(tgt_device_t *device) {
  if (device->core == device->omp->core && device->core->maps) /* others use it */
    return;
  device->core = device->omp->core;
  device->core->maps = device->maps;
  device->core->name_mapped = name_mapped;
}

/* ---- libraries ---- */

/* What is loaded of a library. Guarded by the runtime's lock. */
typedef struct tgt_loadable {
  const tgt_image_t *fitting;    /* one that runs on some device, or NULL */
  uint32_t device_count;         /* of `loaded` */
  atmi_loaded_image_t *loaded[]; /* by device; NULL: not yet, or not there */
} tgt_loadable_t;

_Static_assert((int)TGT_ENTRY_CTOR == (int)ATMI_ENTRY_CTOR && (int)TGT_ENTRY_DTOR == (int)ATMI_ENTRY_DTOR &&
                   (int)TGT_ENTRY_INDIRECT == (int)ATMI_ENTRY_INDIRECT,
               "flags pass as they are");

static atmi_image_bytes_t bytes_of(const tgt_image_t *image) {
  return (atmi_image_bytes_t){image->begin, image->end};
}

__attribute__((cold)) atmi_status_t tgt_device_add_library(tgt_library_t *library, bool *fits) {
  uint32_t count = atmi_context()->device_count;
  atmi_image_list_t list = {.count = 0};
  tgt_loadable_t *made = calloc(1, sizeof *made + count * sizeof(atmi_loaded_image_t *));
  if (!made)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot register a program's device code: out of host memory");
  made->device_count = count;
  for (uint32_t i = 0; i < library->image_count; i++) {
    const atmi_image_bytes_t image = bytes_of(&library->images[i]);
    if (!made->fitting && atmi_image_fits(atmi_context(), &image))
      made->fitting = &library->images[i];
    atmi_image_register(atmi_context(), library, &image, &list);
  }
  atmi_image_explain(atmi_context(), &list);
  library->loadable = made;
  *fits = made->fitting;
  return ATMI_OK;
}

void tgt_device_forget_library(tgt_library_t *library) {
  if (!library->loadable)
    return;
  atmi_image_unregister(atmi_context(), library);
  free(library->loadable);
  library->loadable = NULL;
}

/* ---- who built an image ---- */

/* Compilers sign their work in the section ".comment": "clang version 16.0.6". */
static uint32_t version_in(const char *text, size_t bytes) {
  static const char sign[] = "clang version ";
  const char *found = memmem(text, bytes, sign, sizeof sign - 1), *end = text + bytes;
  uint32_t version = 0;
  if (!found)
    return 0;
  for (found += sizeof sign - 1; found < end && *found >= '0' && *found <= '9' && version < 1000; found++)
    version = 10 * version + (uint32_t)(*found - '0');
  return version;
}

static uint32_t version_of_elf(const char *elf, size_t bytes) {
  Elf64_Ehdr header;
  Elf64_Shdr names, section;
  memcpy(&header, elf, sizeof header < bytes ? sizeof header : bytes);
  if (bytes < sizeof header || header.e_shentsize != sizeof section || header.e_shoff > bytes ||
      (bytes - header.e_shoff) / sizeof section < header.e_shnum || header.e_shstrndx >= header.e_shnum)
    return 0;
  memcpy(&names, elf + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
  if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset)
    return 0;
  for (uint32_t i = 0; i < header.e_shnum; i++) {
    static const char wanted[] = ".comment";
    memcpy(&section, elf + header.e_shoff + i * sizeof section, sizeof section);
    if (names.sh_size < sizeof wanted || section.sh_name > names.sh_size - sizeof wanted ||
        memcmp(elf + names.sh_offset + section.sh_name, wanted, sizeof wanted) != 0)
      continue;
    if (section.sh_type != SHT_NOBITS && section.sh_offset <= bytes &&
        section.sh_size <= bytes - section.sh_offset)
      return version_in(elf + section.sh_offset, section.sh_size);
  }
  return 0;
}

void tgt_machine_note_version(uint32_t version) {
  atomic_store(&atmi_context()->info_by_dimension, version >= CLANG_WITH_DIMENSIONS);
}

__attribute__((cold)) uint32_t tgt_device_library_version(const tgt_library_t *library) {
  uint32_t newest = 0;
  for (uint32_t i = 0; i < library->image_count; i++) {
    const char *begin = library->images[i].begin, *end = library->images[i].end, *arch;
    const void *elf;
    size_t bytes;
    if (!atmi_embedded_unwrap(begin, (size_t)(end - begin), &elf, &bytes, &arch))
      continue;
    uint32_t version = version_of_elf(elf, bytes);
    newest = version > newest ? version : newest;
  }
  return newest;
}

/* ---- loading ---- */

/* Runs the constructors, or destructors, that are entries of their own. */
static __attribute__((cold)) atmi_status_t run_entries(tgt_device_t *device,
                                                       const atmi_loaded_image_t *loaded, uint32_t flag) {
  const atmi_entry_t *end = loaded->entries + loaded->entry_count;
  static const tgt_kernel_args_t nothing = {.version = TGT_ARGS_WITH_FLAGS};
  const atmi_omp_words_t words = tgt_launch_words(&nothing, 0, 1, 1);
  atmi_status_t status = ATMI_OK, ended;
  for (const atmi_entry_t *entry = loaded->entries; !status && entry < end; entry++) {
    atmi_stream_t *stream;
    if (entry->size || !(entry->flags & flag) || (status = tgt_stream_take(device, &stream)))
      continue;
    status = tgt_launch_any(device, stream, entry->address, words, NULL, NULL);
    ended = tgt_stream_wait(stream);
    status = status ? status : ended;
    tgt_stream_put(stream);
  }
  return status;
}

/* Where a variable's host address leads to on the device. Of a function that is called by its host address,
 * and of a table of virtual functions: to the device's own, which the variable points to there. */
static atmi_status_t find_target(tgt_device_t *device, const atmi_entry_t *entry, void **target) {
  atmi_stream_t *stream;
  *target = entry->address;
  if (!atmi_entry_indirect_rows(entry))
    return ATMI_OK;
  atmi_status_t status = tgt_stream_take(device, &stream);
  if (status)
    return status;
  status = atmi_transfer_retrieve(stream, target, entry->address, sizeof *target);
  atmi_status_t ended = tgt_stream_wait(stream);
  tgt_stream_put(stream);
  return status ? status : ended;
}

static atmi_status_t add_entry(tgt_device_t *device, const atmi_entry_t *host, const atmi_entry_t *entry) {
  void *known, *target;
  if (!host->size)
    return host->flags & (TGT_ENTRY_CTOR | TGT_ENTRY_DTOR)
               ? ATMI_OK
               : tgt_kernels_add(&device->kernels, host->address, entry->address);
  /* Several weak definitions of a variable: the first one wins. Of a function only the address is mapped:
   * others may begin a few bytes behind it. */
  uint64_t bytes = host->flags & TGT_ENTRY_INDIRECT ? 1 : host->size;
  if (map_table_find(device->maps, host->address, bytes, &known))
    return ATMI_OK;
  atmi_status_t status = find_target(device, entry, &target);
  if (status)
    return status;
  if (map_table_add_global(device->maps, host->address, target, bytes, host->name))
    return ATMI_NO_MEMORY;
  if (!(host->flags & (TGT_ENTRY_LINK | TGT_ENTRY_INDIRECT)))
    tgt_checker_loaded(host->address, target, bytes, host->name);
  return ATMI_OK;
}

static void remove_entries(tgt_device_t *device, const tgt_library_t *library,
                           const atmi_loaded_image_t *loaded) {
  const atmi_entry_t *hosts = library->entries, *entries = loaded->entries;
  for (size_t i = 0; i < loaded->entry_count; i++) {
    void *known;
    if (!hosts[i].size)
      tgt_kernels_remove(&device->kernels, hosts[i].address, entries[i].address);
    else if (map_table_find(device->maps, hosts[i].address, 1, &known) &&
             (atmi_entry_indirect_rows(&hosts[i]) || known == entries[i].address))
      map_table_remove_global(device->maps, hosts[i].address);
  }
}

__attribute__((cold)) atmi_status_t tgt_device_load(tgt_device_t *device, tgt_library_t *library) {
  tgt_loadable_t *loadable = library->loadable;
  atmi_loaded_image_t *loaded;
  if (!loadable || !loadable->fitting || loadable->loaded[device->number])
    return ATMI_OK;
  const atmi_image_request_t request = {library, bytes_of(loadable->fitting), library->entries,
                                        library->entry_count};
  atmi_status_t status = atmi_image_load(atmi_context(), device->omp, &request, &loaded);
  if (status && tgt_machine_is_ending())
    atmi_warn(device->core->label, "the program is ending, and ROCr has ended before it");
  if (status)
    return status;
  loadable->loaded[device->number] = loaded;
  if (tgt_ompt_is_on()) {
    const char *begin = request.image.begin, *end = request.image.end;
    tgt_ompt_load(device, begin, (size_t)(end - begin), library->number);
  }
  for (size_t i = 0; !status && i < loaded->entry_count; i++)
    status = add_entry(device, &library->entries[i], &loaded->entries[i]);
  return status ? status : run_entries(device, loaded, TGT_ENTRY_CTOR);
}

__attribute__((cold)) void tgt_device_unload(tgt_device_t *device, tgt_library_t *library) {
  tgt_loadable_t *loadable = library->loadable;
  atmi_loaded_image_t *loaded = loadable ? loadable->loaded[device->number] : NULL;
  if (!loaded)
    return;
  /* Failures are described where they happen, and there is nobody to pass them on to. */
  atmi_status_t status =
      atmi_device_is_lost(device->core) ? ATMI_LOST : run_entries(device, loaded, TGT_ENTRY_DTOR);
  (void)status;
  remove_entries(device, library, loaded);
  if (tgt_ompt_is_on())
    tgt_ompt_unload(device, library->number);
  loadable->loaded[device->number] = NULL;
}

/* ---- launches ---- */

atmi_status_t tgt_launch_any(tgt_device_t *device, atmi_stream_t *stream, const atmi_omp_kernel_t *kernel,
                             atmi_omp_words_t words, const atmi_plan_key_t *key, void *const *arguments) {
  atmi_omp_request_t request = {.arguments = arguments, .key = key};
  _Static_assert(sizeof request.shape == sizeof words, "the same in another form");
  memcpy(&request.shape, &words, sizeof words);
  return atmi_omp_launch(atmi_context(), device->omp, kernel, &request, stream);
}
