/* See heap.h. Nothing is interposed: the tables through which what is loaded calls these functions are
 * changed, by name, where somebody wants to know; so other programs call them as ever. Not seen: calls within
 * the C library, of libraries that were loaded later than the last with target regions, and by addresses that
 * were taken before. */
#include "heap.h"

#include "checker.h"
#include "lint.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __aarch64__
enum { SLOT_OF_CALL = R_AARCH64_JUMP_SLOT, SLOT_OF_DATA = R_AARCH64_GLOB_DAT };
#else
enum { SLOT_OF_CALL = R_X86_64_JUMP_SLOT, SLOT_OF_DATA = R_X86_64_GLOB_DAT };
#endif

/* ---- who is told ---- */

static void tell_gone(const void *memory, size_t bytes, const void *code) {
  if (tgt_lint_is_on())
    tgt_lint_hear_free(memory, bytes, code);
  tgt_checker_host_freed(memory, bytes, code);
}

/* Functions that allocate leave their error, as ours does. */
static void *tell_come(void *memory, size_t bytes, const void *code) {
  int error = errno;
  if (memory)
    tgt_checker_host_taken(memory, bytes, code);
  errno = error;
  return memory;
}

/* ---- what is called instead ---- */

static void hooked_free(void *memory) {
  int error = errno; /* free leaves it alone, and so must we */
  if (memory)
    tell_gone(memory, malloc_usable_size(memory), __builtin_return_address(0));
  errno = error;
  free(memory);
}

/* A block that is mapped and moves has been freed; where it could stay nothing has happened. */
static void *hooked_realloc(void *memory, size_t bytes) {
  size_t before = memory ? malloc_usable_size(memory) : 0;
  volatile uintptr_t old = (uintptr_t)memory; /* a number, whatever becomes of the block */
  void *moved = realloc(memory, bytes);
  int error = errno;
  if (moved && old && (uintptr_t)moved != old)
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a number, see above */
    tell_gone((const void *)old, before, __builtin_return_address(0));
  errno = error;
  return (uintptr_t)moved == old ? moved : tell_come(moved, bytes, __builtin_return_address(0));
}

static int hooked_munmap(void *memory, size_t bytes) {
  int status = munmap(memory, bytes), error = errno;
  if (!status)
    tell_gone(memory, bytes, __builtin_return_address(0));
  errno = error;
  return status;
}

static void *hooked_malloc(size_t bytes) {
  return tell_come(malloc(bytes), bytes, __builtin_return_address(0));
}

static void *hooked_calloc(size_t count, size_t bytes) {
  return tell_come(calloc(count, bytes), count * bytes, __builtin_return_address(0));
}

static void *hooked_aligned_alloc(size_t alignment, size_t bytes) {
  return tell_come(aligned_alloc(alignment, bytes), bytes, __builtin_return_address(0));
}

static int hooked_posix_memalign(void **memory, size_t alignment, size_t bytes) {
  int status = posix_memalign(memory, alignment, bytes);
  if (!status)
    (void)tell_come(*memory, bytes, __builtin_return_address(0));
  return status;
}

static const struct {
  char name[sizeof "posix_memalign"];
  bool comes; /* memory that comes, which only the checker wants to know */
  void (*function)(void);
} hooks[] = {{"free", false, (void (*)(void))hooked_free},
             {"realloc", false, (void (*)(void))hooked_realloc},
             {"munmap", false, (void (*)(void))hooked_munmap},
             {"malloc", true, (void (*)(void))hooked_malloc},
             {"calloc", true, (void (*)(void))hooked_calloc},
             {"aligned_alloc", true, (void (*)(void))hooked_aligned_alloc},
             {"posix_memalign", true, (void (*)(void))hooked_posix_memalign}};

/* ---- tables of what is loaded ---- */

typedef struct tables {
  uintptr_t base;
  const char *strings;
  const ElfW(Sym) * symbols;
  const ElfW(Rela) * calls, *data;
  size_t call_bytes, data_bytes;
} tables_t;

/* The dynamic linker has made addresses of these entries, where the section can be written; else they are
 * still distances from the beginning. */
static const void *address_of(uintptr_t base, const ElfW(Dyn) * entry) {
  uintptr_t address = entry->d_un.d_ptr;
  return (const void *)(address < base ? base + address : address);
}

static tables_t tables_of(uintptr_t base, const ElfW(Dyn) * entry) {
  tables_t tables = {.base = base};
  for (; entry->d_tag != DT_NULL; entry++)
    switch (entry->d_tag) {
    case DT_STRTAB: tables.strings = address_of(base, entry); break;
    case DT_SYMTAB: tables.symbols = address_of(base, entry); break;
    case DT_JMPREL: tables.calls = address_of(base, entry); break;
    case DT_PLTRELSZ: tables.call_bytes = entry->d_un.d_val; break;
    case DT_RELA: tables.data = address_of(base, entry); break;
    case DT_RELASZ: tables.data_bytes = entry->d_un.d_val; break;
    default: break;
    }
  return tables;
}

/* Another thread may be calling through the slot: it sees either address. Its page may be read-only by now.
 */
static void set_slot(uintptr_t address, void (*function)(void)) {
  uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  _Atomic uintptr_t *slot = (_Atomic uintptr_t *)address;
  if (atomic_load(slot) == (uintptr_t)function)
    return;
  bool is_open = !mprotect((void *)page, address + sizeof *slot - page, PROT_READ | PROT_WRITE);
  if (is_open)
    atomic_store(slot, (uintptr_t)function);
}

static void hook_table(const tables_t *tables, const ElfW(Rela) * table, size_t bytes) {
  for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
    uint64_t type = ELF64_R_TYPE(table[i].r_info);
    if (type != SLOT_OF_CALL && type != SLOT_OF_DATA)
      continue;
    const char *name = tables->strings + tables->symbols[ELF64_R_SYM(table[i].r_info)].st_name;
    for (size_t j = 0; j < sizeof hooks / sizeof *hooks; j++)
      if (!strcmp(name, hooks[j].name) && (!hooks[j].comes || tgt_checker_is_there()))
        set_slot(tables->base + table[i].r_offset, hooks[j].function);
  }
}

/* The C library and the dynamic linker have memory for their own affairs only, as what is below us, and we
 * have ours. */
static bool is_looked_at(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic) {
  static const char *const left_out[] = {"libc.so", "ld-linux", "linux-vdso", "libhsa", "libgfxsim"};
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
    if (!strncmp(name, left_out[i], strlen(left_out[i])))
      return false;
  return dynamic && dynamic != _DYNAMIC;
}

static int hook_object(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  const ElfW(Dyn) *dynamic = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  if (!is_looked_at(info, dynamic))
    return 0;
  tables_t tables = tables_of(info->dlpi_addr, dynamic);
  if (!tables.strings || !tables.symbols)
    return 0;
  hook_table(&tables, tables.calls, tables.call_bytes);
  hook_table(&tables, tables.data, tables.data_bytes);
  return 0;
}

void tgt_heap_watch(void) {
  if (tgt_lint_is_on() || tgt_checker_is_there())
    dl_iterate_phdr(hook_object, NULL);
}
