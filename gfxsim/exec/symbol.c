/* Walks from an address to the ELF header at the start of its allocation (ROCr places code objects so), and from there
 * to the dynamic symbols. Everything read is untrusted. */
#include "exec/symbol.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { SYMBOLS_MAX = 1 << 20, NAME_BYTES_MAX = 4096 };

/* A loaded code object: addresses of what is needed of it. */
typedef struct object {
  const gs_vm_map_t *map;
  uint64_t base;
  uint64_t symbols;
  uint64_t symbol_count;
  uint64_t strings;
} object_t;

static const void *read_at(const object_t *object, uint64_t address, size_t size) {
  return gs_vm_translate(object->map, address, size, GS_VM_READ);
}

/* The ELF header, or NULL when this is no code object. */
static const Elf64_Ehdr *find_header(const object_t *object) {
  const Elf64_Ehdr *header = read_at(object, object->base, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return NULL;
  return header;
}

/* Program header of the dynamic section; returns false when there is none. */
static bool find_dynamic(const object_t *object, Elf64_Phdr *dynamic) {
  const Elf64_Ehdr *header = find_header(object);
  if (!header)
    return false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    const Elf64_Phdr *segment = read_at(object, object->base + header->e_phoff + i * sizeof *segment, sizeof *segment);
    if (!segment)
      return false;
    if (segment->p_type == PT_DYNAMIC) {
      *dynamic = *segment;
      return true;
    }
  }
  return false;
}

/* Fills in the tables that the dynamic section names. The number of symbols is that of the hash table's chains. */
static bool open_object(object_t *object) {
  Elf64_Phdr dynamic;
  if (!find_dynamic(object, &dynamic))
    return false;
  uint64_t hash = 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_memsz; at += sizeof(Elf64_Dyn)) {
    const Elf64_Dyn *entry = read_at(object, object->base + dynamic.p_vaddr + at, sizeof *entry);
    if (!entry || entry->d_tag == DT_NULL)
      break;
    if (entry->d_tag == DT_SYMTAB)
      object->symbols = object->base + entry->d_un.d_ptr;
    else if (entry->d_tag == DT_STRTAB)
      object->strings = object->base + entry->d_un.d_ptr;
    else if (entry->d_tag == DT_HASH)
      hash = object->base + entry->d_un.d_ptr;
  }
  const uint32_t *counts = hash ? read_at(object, hash, 2 * sizeof *counts) : NULL;
  if (!counts || !object->symbols || !object->strings)
    return false;
  object->symbol_count = counts[1] < SYMBOLS_MAX ? counts[1] : SYMBOLS_MAX;
  return true;
}

/* Copies a name up to its end, the end of `name`, or the end of readable memory. */
static void copy_name(const object_t *object, uint64_t address, char *name, size_t size) {
  size_t length = 0;
  const char *at;
  while (length + 1 < size && (at = read_at(object, address + length, 1)) && *at)
    name[length++] = *at;
  name[length] = '\0';
}

bool gs_symbol_in_code_object(const gs_vm_map_t *map, uint64_t address) {
  const gs_vm_range_t *range = gs_vm_find(map, address);
  const object_t object = {.map = map, .base = range ? range->allocation : 0};
  const Elf64_Ehdr *header = range ? find_header(&object) : NULL;
  return header && header->e_machine == EM_AMDGPU;
}

uint64_t gs_symbol_find(const gs_vm_map_t *map, uint64_t address, char *name, size_t size) {
  snprintf(name, size, "?");
  const gs_vm_range_t *range = gs_vm_find(map, address);
  object_t object = {.map = map, .base = range ? range->allocation : 0};
  if (!range || !open_object(&object))
    return 0;
  for (uint64_t i = 0; i < object.symbol_count; i++) {
    const Elf64_Sym *symbol = read_at(&object, object.symbols + i * sizeof *symbol, sizeof *symbol);
    if (!symbol)
      break;
    const uint64_t start = object.base + symbol->st_value;
    if (symbol->st_shndx != SHN_UNDEF && address >= start && address - start < symbol->st_size) {
      copy_name(&object, object.strings + symbol->st_name, name, size);
      return start;
    }
  }
  return 0;
}
