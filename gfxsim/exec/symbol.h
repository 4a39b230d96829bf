/* Names of kernels and functions, found in the dynamic symbol table of the code object as it lies in device
 * memory. Not here: what needs sections that are not loaded (source_line.h). */
#ifndef GFXSIM_EXEC_SYMBOL_H
#define GFXSIM_EXEC_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vm.h"

enum { GS_SYMBOL_BYTES = 256 };

/* A symbol of a loaded code object. */
typedef struct gs_symbol {
  uint64_t start; /* its address for the GPU */
  uint64_t size;  /* in bytes; 0 = not known */
  char name[GS_SYMBOL_BYTES];
} gs_symbol_t;

/* Finds the symbol that contains `address`, else the last one before it, of the code object at the start of
 * the allocation `allocation`. `address` may lie behind the allocation's end. Returns false when the
 * allocation holds no code object, or nothing is before the address. Pure; thread-safe. */
bool gs_symbol_near(const gs_vm_map_t *map, uint64_t allocation, uint64_t address, gs_symbol_t *symbol);

/* Finds the symbol that `address` belongs to and writes its name to name[0..size), cut and terminated.
 * Returns the symbol's address, or 0 when there is none (then the name is "?"). A symbol without a size
 * reaches to the next one. Any memory may lie around `address`; it is only read through the map. Pure;
 * thread-safe. */
uint64_t gs_symbol_find(const gs_vm_map_t *map, uint64_t address, char *name, size_t size);

/* Whether `address` is in a code object that was loaded (an ELF header for this kind of GPU starts its
 * allocation), as all kernels of programs are. ROCr's own kernels, which copy and fill, are bare code. Pure;
 * thread-safe. */
bool gs_symbol_in_code_object(const gs_vm_map_t *map, uint64_t address);

/* Is shown the notes of a code object, as they lie in its memory. */
typedef bool gs_symbol_notes_t(const uint8_t *notes, uint64_t size, void *context);

/* Shows `look` the notes of the code object that starts the allocation of `address`. Returns false when it
 * does, when there are none, and when the program unmaps them meanwhile. Thread-safe. */
bool gs_symbol_notes(const gs_vm_map_t *map, uint64_t address, gs_symbol_notes_t *look, void *context);

#endif
