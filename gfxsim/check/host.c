/* See host.h. Files are programs' own: nothing in them is believed before it was compared with their size. */
#include "check/host.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A file's bytes. */
typedef struct file {
  const uint8_t *start;
  uint64_t size;
} file_t;

static bool open_file(const char *path, file_t *file) {
  struct stat status;
  const int handle = open(path, O_RDONLY | O_CLOEXEC);
  if (handle < 0)
    return false;
  file->size = fstat(handle, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
  void *start = file->size >= sizeof(Elf64_Ehdr) ? mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, handle, 0)
                                                 : MAP_FAILED;
  close(handle);
  file->start = start;
  return start != MAP_FAILED;
}

/* `count` items of `size` bytes at `offset`, or NULL when the file does not have them. */
static const void *part(const file_t *file, uint64_t offset, uint64_t count, uint64_t size) {
  if (offset > file->size || offset % 8 || count > (file->size - offset) / size)
    return NULL;
  return file->start + offset;
}

/* Finds the mapping that contains `address`; its place in the file is left in *offset. */
static bool find_mapping(uint64_t address, char path[PATH_MAX], uint64_t *offset) {
  char line[PATH_MAX + 128];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && !found && fgets(line, sizeof line, maps)) {
    uint64_t start, end, at;
    int name = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &at, &name) != 3 ||
        address < start || address >= end || line[name] != '/')
      continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, PATH_MAX, "%s", line + name);
    *offset = at + (address - start);
    found = true;
  }
  if (maps)
    fclose(maps);
  return found;
}

/* As the file counts: its segments say which address the byte at `offset` has. */
static bool find_address(const file_t *file, uint64_t offset, uint64_t *address) {
  const Elf64_Ehdr *header = part(file, 0, 1, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const Elf64_Phdr *segment = part(file, header->e_phoff, header->e_phnum, sizeof *segment);
  for (unsigned i = 0; segment && i < header->e_phnum; i++)
    if (segment[i].p_type == PT_LOAD && offset >= segment[i].p_offset &&
        offset - segment[i].p_offset < segment[i].p_filesz) {
      *address = offset - segment[i].p_offset + segment[i].p_vaddr;
      return true;
    }
  return false;
}

static bool name_function(const file_t *file, const Elf64_Shdr *section, const Elf64_Shdr *names,
                          uint64_t address, char name[GS_HOST_NAME]) {
  const uint64_t count = section->sh_size / sizeof(Elf64_Sym);
  const Elf64_Sym *symbol = part(file, section->sh_offset, count, sizeof *symbol);
  if (!symbol || names->sh_offset > file->size || names->sh_size > file->size - names->sh_offset)
    return false;
  for (uint64_t i = 0; i < count; i++) {
    if (ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC || symbol[i].st_shndx == SHN_UNDEF ||
        address < symbol[i].st_value || address - symbol[i].st_value >= symbol[i].st_size ||
        symbol[i].st_name >= names->sh_size)
      continue;
    const char *text = (const char *)file->start + names->sh_offset + symbol[i].st_name;
    snprintf(name, GS_HOST_NAME, "%.*s", (int)strnlen(text, names->sh_size - symbol[i].st_name), text);
    return true;
  }
  return false;
}

/* The full table has static functions, too; where it was stripped, the other serves. */
static void find_function(const file_t *file, uint64_t address, char name[GS_HOST_NAME]) {
  static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
  const Elf64_Ehdr *header = part(file, 0, 1, sizeof *header);
  const Elf64_Shdr *section = header ? part(file, header->e_shoff, header->e_shnum, sizeof *section) : NULL;
  for (unsigned t = 0; section && t < sizeof types / sizeof *types; t++)
    for (unsigned i = 0; i < header->e_shnum; i++)
      if (section[i].sh_type == types[t] && section[i].sh_link < header->e_shnum &&
          name_function(file, &section[i], &section[section[i].sh_link], address, name))
        return;
}

bool gs_host_find(uint64_t address, gs_host_place_t *place) {
  file_t file;
  uint64_t offset;
  place->function[0] = '\0';
  if (!find_mapping(address, place->path, &offset) || !open_file(place->path, &file))
    return false;
  const bool found = find_address(&file, offset, &place->address);
  if (found)
    find_function(&file, place->address, place->function);
  munmap((void *)(uintptr_t)file.start, file.size);
  return found;
}

/* Through the kernel, which checks that the memory is still there. */
bool gs_host_peek(uint64_t address, void *to, uint64_t bytes) {
  const struct iovec into = {to, bytes};
  const struct iovec from = {(void *)(uintptr_t)address, bytes};
  return process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)bytes;
}
