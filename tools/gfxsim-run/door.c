/* Reads the files that the dynamic linker would read: a program's own folders, LD_LIBRARY_PATH, the linker's
 * cache, and its standard folders. */
#include "door.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

static const char rocr[] = "libhsa-runtime64.so.1";
static const char thunk[] = "libhsakmt.so";

/* ---- Files in memory ---- */

typedef struct image {
  const char *bytes; /* NULL: none */
  size_t size;
} image_t;

static image_t read_image(const char *path) {
  image_t image = {0};
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return image;
  if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED)
      image = (image_t){bytes, (size_t)status.st_size};
  }
  close(file);
  return image;
}

static void free_image(image_t *image) {
  if (image->bytes)
    munmap((void *)(uintptr_t)image->bytes, image->size);
  image->bytes = NULL;
}

/* `count` things of `size` bytes at `offset`, or NULL if they are not inside. */
static const void *inside(const image_t *image, uint64_t offset, uint64_t count, uint64_t size) {
  if (offset > image->size || count > (image->size - offset) / size)
    return NULL;
  return image->bytes + offset;
}

/* A text at `offset`, or NULL if it does not end inside. */
static const char *text_at(const image_t *image, uint64_t offset) {
  if (offset >= image->size || !memchr(image->bytes + offset, '\0', image->size - offset))
    return NULL;
  return image->bytes + offset;
}

/* ---- What the linker reads of an ELF file ---- */

typedef struct elf {
  image_t image;
  const Elf64_Phdr *segments;
  uint64_t segment_count;
  const Elf64_Dyn *entries; /* NULL: it is not linked dynamically */
  uint64_t entry_count, strings;
} elf_t;

/* Where an address of the program is in its file. */
static uint64_t offset_of(const elf_t *elf, uint64_t address) {
  for (uint64_t i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
        address - segment->p_vaddr < segment->p_filesz)
      return address - segment->p_vaddr + segment->p_offset;
  }
  return UINT64_MAX;
}

static void find_strings(elf_t *elf) {
  for (uint64_t i = 0; i < elf->entry_count; i++)
    if (elf->entries[i].d_tag == DT_STRTAB)
      elf->strings = offset_of(elf, elf->entries[i].d_un.d_ptr);
}

/* False if the file is no ELF file of 64 bits that is linked dynamically. */
static bool open_elf(const char *path, elf_t *elf) {
  *elf = (elf_t){.image = read_image(path)};
  const Elf64_Ehdr *header = inside(&elf->image, 0, 1, sizeof *header);
  if (!elf->image.bytes || !header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phoff % 8)
    return false;
  elf->segment_count = header->e_phnum;
  elf->segments = inside(&elf->image, header->e_phoff, elf->segment_count, sizeof(Elf64_Phdr));
  for (uint64_t i = 0; elf->segments && i < elf->segment_count; i++) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type != PT_DYNAMIC || segment->p_offset % 8)
      continue;
    elf->entry_count = segment->p_filesz / sizeof(Elf64_Dyn);
    elf->entries = inside(&elf->image, segment->p_offset, elf->entry_count, sizeof(Elf64_Dyn));
  }
  if (elf->entries)
    find_strings(elf);
  return elf->entries != NULL;
}

/* The i-th text of a kind in the dynamic section, or NULL. */
static const char *dynamic_text(const elf_t *elf, int64_t tag, uint64_t i) {
  for (uint64_t at = 0; at < elf->entry_count && elf->entries[at].d_tag != DT_NULL; at++)
    if (elf->entries[at].d_tag == tag && !i--)
      return text_at(&elf->image, elf->strings + elf->entries[at].d_un.d_val);
  return NULL;
}

/* Whether a library loads the thunk. */
static bool needs_thunk(const char *library) {
  elf_t elf;
  bool needs = false;
  const char *name;
  if (open_elf(library, &elf))
    for (uint64_t i = 0; (name = dynamic_text(&elf, DT_NEEDED, i)); i++)
      needs = needs || strncmp(name, thunk, sizeof thunk - 1) == 0;
  free_image(&elf.image);
  return needs;
}

/* ---- Where ROCr is ---- */

/* Other files of that name are passed over, as the linker passes over those of other machines. */
static bool is_library(const char *path) {
  elf_t elf;
  const bool is = open_elf(path, &elf);
  free_image(&elf.image);
  return is;
}

/* Looks into each folder of a list; `origin` is what $ORIGIN means there. */
static bool find_in_list(const char *list, const char *origin, char path[PATH_MAX]) {
  static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
  while (list && *list) {
    const int length = (int)strcspn(list, ":;");
    const char *prefix = "";
    int skipped = 0;
    for (int i = 0; i < 2; i++)
      if (!strncmp(list, words[i], strlen(words[i]))) {
        prefix = origin;
        skipped = (int)strlen(words[i]);
      }
    if (length &&
        snprintf(path, PATH_MAX, "%s%.*s/%s", prefix, length - skipped, list + skipped, rocr) < PATH_MAX &&
        is_library(path))
      return true;
    list += length;
    list += *list != '\0';
  }
  return false;
}

/* What a program itself says. */
static bool find_by_program(const char *program, char path[PATH_MAX]) {
  char origin[PATH_MAX];
  elf_t elf;
  bool found = false;
  if (!realpath(program, origin))
    return false;
  char *slash = strrchr(origin, '/');
  *slash = '\0';
  if (open_elf(program, &elf))
    found = find_in_list(dynamic_text(&elf, DT_RUNPATH, 0), origin, path) ||
            find_in_list(dynamic_text(&elf, DT_RPATH, 0), origin, path);
  free_image(&elf.image);
  return found;
}

/* The linker's cache: a header, and entries of which each has the places of a name and of a path. */
static bool find_in_cache(char path[PATH_MAX]) {
  static const char magic[] = "glibc-ld.so.cache1.1";
  typedef struct cache_header {
    char magic[20];
    uint32_t count, rest[6];
  } cache_header_t;
  typedef struct cache_entry {
    int32_t flags;
    uint32_t name, path, system;
    uint64_t capabilities;
  } cache_entry_t;
  enum { X86_64 = 0x0303, AARCH64 = 0x0A03 };
  image_t image = read_image("/etc/ld.so.cache");
  const cache_header_t *header = inside(&image, 0, 1, sizeof *header);
  const cache_entry_t *entries = NULL;
  if (image.bytes && header && !memcmp(header->magic, magic, sizeof magic - 1))
    entries = inside(&image, sizeof *header, header->count, sizeof *entries);
  bool found = false;
  for (uint32_t i = 0; entries && i < header->count && !found; i++) {
    const char *name = text_at(&image, entries[i].name), *file = text_at(&image, entries[i].path);
    found = (entries[i].flags == X86_64 || entries[i].flags == AARCH64) && name && file &&
            !strcmp(name, rocr) && snprintf(path, PATH_MAX, "%s", file) < PATH_MAX && is_library(path);
  }
  free_image(&image);
  return found;
}

static bool find_rocr(char *const *words, char path[PATH_MAX]) {
  char program[PATH_MAX];
  for (char *const *word = words; *word; word++)
    if (run_find_program(*word, program) && find_by_program(program, path))
      return true;
  return find_in_list(getenv("LD_LIBRARY_PATH"), "", path) || find_in_cache(path) ||
         find_in_list(
             "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/opt/rocm/lib",
             "", path);
}

void run_choose_door(const char *wanted, char *const *words, run_door_t *door) {
  const bool found = find_rocr(words, door->rocr);
  if (!found)
    door->rocr[0] = '\0';
  if (wanted) {
    door->kfd = !strcmp(wanted, "kfd");
    snprintf(door->why, sizeof door->why, "--door=%s says so", wanted);
    return;
  }
  if (!found) {
    door->kfd = false;
    snprintf(door->why, sizeof door->why, "no %s was found, which would decide", rocr);
    return;
  }
  door->kfd = !needs_thunk(door->rocr);
  snprintf(door->why, sizeof door->why, "%s %s", door->rocr,
           door->kfd ? "has its thunk inside" : "loads the thunk from a library");
}

static bool contains(const image_t *image, const char *text) {
  return memmem(image->bytes, image->size, text, strlen(text)) != NULL;
}

bool run_rocr_knows(const char *path, const char *processor) {
  static const char prefix[] = "amdgcn-amd-amdhsa--", oldest[] = "gfx900";
  char name[64];
  image_t image = read_image(path);
  snprintf(name, sizeof name, "%s%s", prefix, oldest);
  bool knows = !image.bytes || !contains(&image, name);
  snprintf(name, sizeof name, "%s%s", prefix, processor);
  knows = knows || contains(&image, name);
  free_image(&image);
  return knows;
}
