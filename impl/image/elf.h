/* What the core needs from a device image as an ELF file: its identity, its metadata note, its symbols. The
 * image is borrowed and is never trusted: every offset is checked against its size. Not here: loading
 * (device/code_object), or the meaning of note and flags (image/metadata, image/target_id). */
#ifndef ATMI_IMAGE_ELF_H
#define ATMI_IMAGE_ELF_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATMI_ELF_CODE_OBJECT_V3 = 1, ATMI_ELF_CODE_OBJECT_V6 = 4 }; /* of abi_version */

/* The fields of an ELF header that say whether the image is ours. */
typedef struct atmi_elf_identity {
  uint16_t machine;    /* EM_AMDGPU is 224 */
  uint8_t os_abi;      /* ELFOSABI_AMDGPU_HSA is 64 */
  uint8_t abi_version; /* 0 to 4: code object v2 to v6 */
  uint32_t flags;      /* e_flags: processor and features, decoded by atmi_target_id_from_elf */
} atmi_elf_identity_t;

/* Reads the header alone: cheap, for matching. False if the bytes are no little-endian ELF64 file. */
bool atmi_elf_identify(const void *image, size_t bytes, atmi_elf_identity_t *identity);

/* Whether a linked image holds together: headers, sections, symbols, relocations, notes. NULL, or what is
 * wrong, in a few words. ROCr's loader believes what an image says of itself, and a damaged one makes it
 * crash. */
const char *atmi_elf_check(const void *image, size_t bytes);

/* An image opened for look-ups. */
typedef struct atmi_elf atmi_elf_t;

typedef struct atmi_elf_symbol {
  uint64_t value; /* virtual address in the image, before loading */
  uint64_t bytes;
  bool local; /* bound locally: HSA cannot find it by name */
  const void
      *content; /* what the file holds for it; NULL if it has no content there (.bss) or is cut short */
} atmi_elf_symbol_t;

/* Opens an image; the bytes must outlive the result. `where` names the device in messages. Fails with
 * ATMI_CORRUPT (described) or ATMI_NO_MEMORY. Release with atmi_elf_close, which accepts NULL. */
ATMI_MUST_CHECK atmi_status_t atmi_elf_open(const void *image, size_t bytes, const char *where,
                                            atmi_elf_t **elf);
void atmi_elf_close(atmi_elf_t *elf);

/* The note with this owner and type that is the `index`-th of its kind: an image linked from several objects
 * has one of each object. False if there are not so many. */
bool atmi_elf_find_note(const atmi_elf_t *elf, const char *owner, uint32_t type, uint32_t index,
                        const void **content, size_t *bytes);

/* A defined symbol by name, from .symtab (which also has local ones) or, in a stripped image, .dynsym. */
bool atmi_elf_find_symbol(const atmi_elf_t *elf, const char *name, atmi_elf_symbol_t *symbol);

/* Variables of this name that are local to their translation units are renamed when these are linked: to the
 * name, a dot and a number. The first such name, or the next one behind `previous`, which was returned
 * before; NULL at the end. */
const char *atmi_elf_next_renamed(const atmi_elf_t *elf, const char *name, const char *previous);

/* Whether the image has a section of this name. */
bool atmi_elf_has_section(const atmi_elf_t *elf, const char *name);

/* Whether a symbol's name begins so, as those of local variables do that the linker had to rename. Also true
 * if the image was stripped of its local symbols, as nobody can tell then. */
bool atmi_elf_may_have_symbol(const atmi_elf_t *elf, const char *beginning);

/* The first exported object or function in the image, with its name: an anchor to compute the load bias from.
 * `previous` is NULL to begin, or a name returned before, to go on behind it. NULL at the end. */
const char *atmi_elf_next_exported(const atmi_elf_t *elf, const char *previous, atmi_elf_symbol_t *symbol);

#endif
