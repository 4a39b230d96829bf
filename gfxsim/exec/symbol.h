/* Names of kernels and functions, found in the dynamic symbol table of the code object as it lies in device memory.
 * Not here: source lines, which need sections that are not loaded. */
#ifndef GFXSIM_EXEC_SYMBOL_H
#define GFXSIM_EXEC_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vm.h"

/* Finds the symbol that `address` belongs to and writes its name to name[0..size), cut and terminated. Returns the
 * symbol's address, or 0 when there is none (then the name is "?"). Any memory may lie around `address`; it is only read
 * through the map. Pure; thread-safe. */
uint64_t gs_symbol_find(const gs_vm_map_t *map, uint64_t address, char *name, size_t size);

#endif
