/* Which libomptarget calls, and what its versions pass, in one form. */
#include "caller_abi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which libomptarget ---- */

/* Functions that came with a version and are still exported by all later ones; none of them is libomp's too,
 * which has stand-ins for some of libomptarget's. */
static const struct {
  int version;
  const char *mark;
} marks[] = {
    {13, "__tgt_register_lib"},           {14, "__tgt_interop_init"},
    {15, "__tgt_target_kernel"},          {16, "__tgt_target_nowait_query"},
    {17, "omp_target_memcpy_rect_async"}, {18, "__tgt_activate_record_replay"},
};

int caller_abi_version_from_exports(bool (*exports)(const void *context, const char *name),
                                    const void *context) {
  int version = CALLER_ABI_UNKNOWN;
  for (size_t i = 0; i < sizeof marks / sizeof *marks && exports(context, marks[i].mark); i++)
    version = marks[i].version;
  return version;
}

/* A module of the process, sought by an address in it or, if that is 0, as a libomptarget. */
typedef struct module {
  uintptr_t address;
  uintptr_t begin, end;
  const char *name;
} module_t;

static bool is_libomptarget(const char *path) {
  static const char prefix[] = "libomptarget.so";
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, prefix, sizeof prefix - 1);
}

static int visit_module(struct dl_phdr_info *info, size_t bytes, void *data) {
  module_t *wanted = data;
  (void)bytes;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD)
      continue;
    uintptr_t from = (uintptr_t)info->dlpi_addr + (uintptr_t)info->dlpi_phdr[i].p_vaddr;
    uintptr_t to = from + (uintptr_t)info->dlpi_phdr[i].p_memsz;
    begin = from < begin ? from : begin;
    end = to > end ? to : end;
  }
  bool found = wanted->address ? begin <= wanted->address && wanted->address < end
                               : info->dlpi_name && is_libomptarget(info->dlpi_name);
  if (!found)
    return 0;
  *wanted = (module_t){wanted->address, begin, end, info->dlpi_name};
  return 1;
}

typedef struct exporter {
  void *handle;
  const module_t *module;
} exporter_t;

/* Whether the module itself exports the function; dlsym looks into what it needs, too. */
static bool module_exports(const void *context, const char *name) {
  const exporter_t *exporter = context;
  uintptr_t address = (uintptr_t)dlsym(exporter->handle, name);
  return address && exporter->module->begin <= address && address < exporter->module->end;
}

static int version_of(const module_t *module) {
  /* The program itself has an empty name. It is no libomptarget, but a test may be. */
  const exporter_t exporter = {
      dlopen(module->name && *module->name ? module->name : NULL, RTLD_LAZY | RTLD_NOLOAD), module};
  if (!exporter.handle)
    return CALLER_ABI_UNKNOWN;
  int version = caller_abi_version_from_exports(module_exports, &exporter);
  dlclose(exporter.handle);
  return version;
}

caller_abi_library_t caller_abi_find_caller(const void *return_address, const char **name) {
  module_t caller = {.address = (uintptr_t)return_address}, other = {0};
  *name = "an unknown place";
  if (!dl_iterate_phdr(visit_module, &caller))
    return (caller_abi_library_t){0};
  *name = caller.name && *caller.name ? caller.name : "the program itself";
  int version = version_of(&caller);
  if (version == CALLER_ABI_UNKNOWN && dl_iterate_phdr(visit_module, &other))
    version = version_of(&other);
  return (caller_abi_library_t){caller.begin, caller.end, version};
}

/* ---- copies ---- */

bool caller_abi_retrieve_waits(int version) {
  return version < 15;
}

/* ---- images: the offload binary of clang 15 and later. All integers are little-endian, all offsets are from
 * its beginning ---- */

typedef struct {
  uint8_t magic[4];
  uint32_t version;
  uint64_t bytes, entry_offset, entry_bytes;
} wrapper_t;

typedef struct {
  uint16_t image_kind, offload_kind;
  uint32_t flags;
  uint64_t string_offset, string_count, image_offset, image_bytes;
} wrapped_entry_t;

static const uint8_t wrapper_magic[4] = {0x10, 0xff, 0x10, 0xad}, elf_magic[4] = {0x7f, 'E', 'L', 'F'};

static bool in_range(uint64_t offset, uint64_t length, size_t bytes) {
  return offset <= bytes && length <= bytes - offset;
}

/* A string of the wrapper, or NULL if it is not terminated inside it. */
static const char *string_at(const char *wrapper, size_t bytes, uint64_t offset) {
  return offset < bytes && memchr(wrapper + offset, 0, bytes - offset) ? wrapper + offset : NULL;
}

static const char *find_arch(const char *wrapper, size_t bytes, const wrapped_entry_t *entry) {
  for (uint64_t i = 0; i < entry->string_count; i++) {
    uint64_t pair[2];
    if (!in_range(entry->string_offset, (i + 1) * sizeof pair, bytes))
      return NULL;
    memcpy(pair, wrapper + entry->string_offset + i * sizeof pair, sizeof pair);
    const char *key = string_at(wrapper, bytes, pair[0]);
    if (key && !strcmp(key, "arch"))
      return string_at(wrapper, bytes, pair[1]);
  }
  return NULL;
}

bool caller_abi_unwrap(const void *image, size_t bytes, const void **elf, size_t *elf_bytes,
                       const char **arch) {
  const char *wrapper = image;
  *arch = NULL;
  if (bytes >= sizeof elf_magic && !memcmp(image, elf_magic, sizeof elf_magic)) {
    *elf = image;
    *elf_bytes = bytes;
    return true;
  }
  wrapper_t header;
  wrapped_entry_t entry;
  if (bytes < sizeof header)
    return false;
  memcpy(&header, wrapper, sizeof header);
  if (memcmp(header.magic, wrapper_magic, sizeof wrapper_magic) ||
      !in_range(header.entry_offset, sizeof entry, bytes))
    return false;
  memcpy(&entry, wrapper + header.entry_offset, sizeof entry);
  if (!in_range(entry.image_offset, entry.image_bytes, bytes) || entry.string_count > bytes)
    return false;
  *arch = find_arch(wrapper, bytes, &entry);
  *elf = wrapper + entry.image_offset;
  *elf_bytes = entry.image_bytes;
  return true;
}

uintptr_t caller_abi_answer_load(int version, __tgt_target_table *table, void *handle,
                                 __tgt_device_binary *binary) {
  if (version < 18)
    return (uintptr_t)table;
  if (!handle)
    return (uintptr_t)(intptr_t)OFFLOAD_FAIL;
  binary->handle = (uintptr_t)handle;
  return OFFLOAD_SUCCESS;
}

bool caller_abi_registers_libraries(int version) {
  return version < 18;
}

/* The mapping that holds an address. Not through the dynamic linker, whose lock another thread may hold. */
static bool find_mapping(const void *address, const char **begin, const char **end) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[512];
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    char *at;
    uintptr_t from = (uintptr_t)strtoull(line, &at, 16),
              to = *at == '-' ? (uintptr_t)strtoull(at + 1, &at, 16) : 0;
    found = (uintptr_t)address >= from && (uintptr_t)address < to && !strncmp(at, " r", 2);
    *begin = (const char *)from;
    *end = (const char *)to;
  }
  if (maps)
    fclose(maps);
  return found;
}

const void *caller_abi_find_siblings(const void *image,
                                     void (*visit)(const void *elf, size_t bytes, void *context),
                                     void *context) {
  const char *begin, *end, *arch;
  const void *first = NULL;
  if (!image || !find_mapping(image, &begin, &end))
    return NULL;
  /* Offload binaries are aligned to 8 bytes at least. */
  for (const char *at = begin; (size_t)(end - at) > sizeof(wrapper_t); at += 8) {
    const void *elf;
    size_t bytes;
    if (memcmp(at, wrapper_magic, sizeof wrapper_magic) != 0 ||
        !caller_abi_unwrap(at, (size_t)(end - at), &elf, &bytes, &arch))
      continue;
    visit(elf, bytes, context);
    first = begin;
  }
  return first;
}

typedef struct image_search {
  void (*visit)(const void *elf, size_t bytes, void *context);
  void *context;
} image_search_t;

/* Whether a module was linked with libomptarget. */
static bool needs_libomptarget(const struct dl_phdr_info *info) {
  const ElfW(Dyn) *dynamic = NULL;
  ElfW(Addr) strings = 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_STRTAB)
      strings = entry->d_un.d_ptr;
  if (strings && strings < info->dlpi_addr) /* not every dynamic linker has added it already */
    strings += info->dlpi_addr;
  for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_NEEDED && is_libomptarget((const char *)strings + entry->d_un.d_val))
      return true;
  return false;
}

static int visit_program(struct dl_phdr_info *info, size_t bytes, void *data) {
  const image_search_t *search = data;
  (void)bytes;
  for (size_t i = 0; i < info->dlpi_phnum && needs_libomptarget(info); i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
      continue;
    const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_filesz;
    for (; (at = memmem(at, (size_t)(end - at), elf_magic, sizeof elf_magic)); at += sizeof elf_magic)
      search->visit(at, (size_t)(end - at), search->context);
  }
  return 0;
}

void caller_abi_find_images(void (*visit)(const void *elf, size_t bytes, void *context), void *context) {
  image_search_t search = {visit, context};
  dl_iterate_phdr(visit_program, &search);
}
