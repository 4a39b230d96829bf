/* Device images as programs carry them, and where they lie in this process. */
#include "image/embedded.h"

#include "base/process_memory.h"
#include "base/text.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

/* ---- the offload binary of clang 15 and later. All integers are little-endian, all offsets are from its
 * beginning ---- */

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

bool atmi_embedded_unwrap(const void *image, size_t bytes, const void **elf, size_t *elf_bytes,
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

/* ---- where they lie ---- */

const void *atmi_embedded_find_beside(const void *image, atmi_embedded_visit_t *visit, void *context) {
  const char *arch;
  const void *first = NULL;
  atmi_process_mapping_t mapping;
  if (!image || !atmi_process_memory_find(image, &mapping) || mapping.rights[0] != 'r')
    return NULL;
  const char *begin = (const char *)mapping.begin, *end = (const char *)mapping.end;
  /* Offload binaries are aligned to 8 bytes at least. */
  for (const char *at = begin; (size_t)(end - at) > sizeof(wrapper_t); at += 8) {
    const void *elf;
    size_t bytes;
    if (memcmp(at, wrapper_magic, sizeof wrapper_magic) != 0 ||
        !atmi_embedded_unwrap(at, (size_t)(end - at), &elf, &bytes, &arch))
      continue;
    visit(elf, bytes, context);
    first = begin;
  }
  return first;
}

typedef struct image_search {
  const char *library;
  atmi_embedded_visit_t *visit;
  void *context;
} image_search_t;

/* Whether a module was linked with the library. */
static bool needs(const struct dl_phdr_info *info, const char *library) {
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
    if (entry->d_tag == DT_NEEDED && atmi_text_names_file((const char *)strings + entry->d_un.d_val, library))
      return true;
  return false;
}

static int visit_program(struct dl_phdr_info *info, size_t bytes, void *data) {
  const image_search_t *search = data;
  (void)bytes;
  for (size_t i = 0; i < info->dlpi_phnum && needs(info, search->library); i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
      continue;
    const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_filesz;
    for (; (at = memmem(at, (size_t)(end - at), elf_magic, sizeof elf_magic)); at += sizeof elf_magic)
      search->visit(at, (size_t)(end - at), search->context);
  }
  return 0;
}

void atmi_embedded_find_all(const char *library, atmi_embedded_visit_t *visit, void *context) {
  image_search_t search = {library, visit, context};
  dl_iterate_phdr(visit_program, &search);
}
