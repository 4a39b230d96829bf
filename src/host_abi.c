/* What versions of libomptarget pass, in one form. */
#include "host_abi.h"

#include <string.h>

host_abi_launch_t host_abi_launch_from_kernel_args(void **arguments, ptrdiff_t *offsets,
                                                   const KernelArgsTy *args) {
  /* 16 and later pass the clauses of old programs on as they came, where -1 stands for no clause. */
  return (host_abi_launch_t){.arguments = arguments,
                             .offsets = offsets,
                             .argument_count = args->NumArgs,
                             .num_teams = (int32_t)args->NumTeams[0],
                             .thread_limit = (int32_t)args->ThreadLimit[0],
                             .tripcount = args->Tripcount,
                             .dynamic_lds_bytes = args->DynCGroupMem};
}

host_abi_launch_t host_abi_launch_from_team_region(void **arguments, ptrdiff_t *offsets, int32_t count,
                                                   int32_t num_teams, int32_t thread_limit,
                                                   uint64_t tripcount) {
  return (host_abi_launch_t){.arguments = arguments,
                             .offsets = offsets,
                             .argument_count = count > 0 ? (uint32_t)count : 0,
                             .num_teams = num_teams,
                             .thread_limit = thread_limit,
                             .tripcount = tripcount};
}

host_abi_launch_t host_abi_launch_from_region(void **arguments, ptrdiff_t *offsets, int32_t count) {
  return host_abi_launch_from_team_region(arguments, offsets, count, 1, 0, 0);
}

/* ---- the offload binary of clang 15 and later: all integers little-endian, all offsets from its beginning
 * ---- */

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

static const uint8_t wrapper_magic[4] = {0x10, 0xff, 0x10, 0xad};

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

bool host_abi_unwrap(const void *image, size_t bytes, const void **elf, size_t *elf_bytes,
                     const char **arch) {
  const char *wrapper = image;
  *arch = NULL;
  if (bytes >= 4 && !memcmp(image,
                            "\x7f"
                            "ELF",
                            4)) {
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
