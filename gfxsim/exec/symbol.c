/* Walks from an address to the ELF header at the start of its allocation (ROCr places code objects so), and
 * from there to the dynamic symbols. Everything read is untrusted. */
#include "exec/symbol.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "exec/guard.h"

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

/* The first program header of a type; returns false when there is none. */
static bool find_segment(const object_t *object, uint32_t type, Elf64_Phdr *found) {
  const Elf64_Ehdr *header = find_header(object);
  if (!header)
    return false;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    const Elf64_Phdr *segment =
        read_at(object, object->base + header->e_phoff + i * sizeof *segment, sizeof *segment);
    if (!segment)
      return false;
    if (segment->p_type == type) {
      *found = *segment;
      return true;
    }
  }
  return false;
}

/* Fills in the tables that the dynamic section names. The number of symbols is that of the hash table's
 * chains. */
static bool open_object(object_t *object) {
  Elf64_Phdr dynamic;
  if (!find_segment(object, PT_DYNAMIC, &dynamic))
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

static bool is_code_object(const object_t *object) {
  const Elf64_Ehdr *header = find_header(object);
  return header && header->e_machine == EM_AMDGPU;
}

/* Calls `look` with `object`. False when it returns that, or when the program has unmapped memory that it
 * reads (locked memory can go at any time). */
static bool guarded(bool (*look)(const object_t *object, void *result), const object_t *object,
                    void *result) {
  gs_guard_t *const outer = gs_guard_current;
  gs_guard_t guard;
  if (sigsetjmp(guard.resume, 0)) {
    gs_guard_set(outer);
    return false;
  }
  gs_guard_set(&guard);
  const bool found = look(object, result);
  gs_guard_set(outer);
  return found;
}

static bool look_at_header(const object_t *object, void *unused) {
  (void)unused;
  return is_code_object(object);
}

bool gs_symbol_in_code_object(const gs_vm_map_t *map, uint64_t address) {
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  const object_t object = {.map = map, .base = range ? range->allocation : 0};
  return range && guarded(look_at_header, &object, NULL);
}

/* Who wants to see the notes. */
typedef struct viewer {
  gs_symbol_notes_t *look;
  void *context;
} viewer_t;

static bool look_at_notes(const object_t *object, void *argument) {
  enum { NOTES_MOST = 64 << 20 };
  const viewer_t *viewer = argument;
  Elf64_Phdr segment;
  if (!is_code_object(object) || !find_segment(object, PT_NOTE, &segment) || segment.p_memsz > NOTES_MOST)
    return false;
  const uint8_t *notes = read_at(object, object->base + segment.p_vaddr, segment.p_memsz);
  return notes && viewer->look(notes, segment.p_memsz, viewer->context);
}

bool gs_symbol_notes(const gs_vm_map_t *map, uint64_t address, gs_symbol_notes_t *look, void *context) {
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  const object_t object = {.map = map, .base = range ? range->allocation : 0};
  viewer_t viewer = {look, context};
  return range && guarded(look_at_notes, &object, &viewer);
}

/* Whether `symbol` at `start` tells more about `address` than the best one so far: the one that contains it,
 * else the last one before it (assembly often gives functions no size). */
static bool is_nearer(const gs_symbol_t *best, uint64_t start, uint64_t size, uint64_t address) {
  if (start > address)
    return false;
  const bool contains = address - start < size;
  const bool best_contains = best->start && address - best->start < best->size;
  return contains != best_contains ? contains : start >= best->start;
}

/* A search for the symbol near an address. */
typedef struct search {
  uint64_t address;
  gs_symbol_t *best;
} search_t;

static bool look_for_symbol(const object_t *closed, void *argument) {
  const search_t *search = argument;
  gs_symbol_t *best = search->best;
  object_t object = *closed;
  uint64_t name = 0;
  if (!open_object(&object))
    return false;
  for (uint64_t i = 0; i < object.symbol_count; i++) {
    const Elf64_Sym *entry = read_at(&object, object.symbols + i * sizeof *entry, sizeof *entry);
    if (!entry)
      break;
    const uint64_t start = object.base + entry->st_value;
    if (entry->st_shndx == SHN_UNDEF || entry->st_shndx >= SHN_LORESERVE ||
        !is_nearer(best, start, entry->st_size, search->address))
      continue;
    name = object.strings + entry->st_name;
    best->start = start;
    best->size = entry->st_size;
  }
  if (name)
    copy_name(&object, name, best->name, sizeof best->name);
  return name != 0;
}

bool gs_symbol_near(const gs_vm_map_t *map, uint64_t allocation, uint64_t address, gs_symbol_t *symbol) {
  const object_t object = {.map = map, .base = allocation};
  search_t search = {.address = address, .best = symbol};
  *symbol = (gs_symbol_t){0};
  return guarded(look_for_symbol, &object, &search);
}

uint64_t gs_symbol_find(const gs_vm_map_t *map, uint64_t address, char *name, size_t size) {
  gs_symbol_t symbol;
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  const bool found = range && gs_symbol_near(map, range->allocation, address, &symbol) &&
                     (!symbol.size || address - symbol.start < symbol.size);
  snprintf(name, size, "%s", found ? symbol.name : "?");
  return found ? symbol.start : 0;
}
