/* What a code object's metadata say of a kernel, read where it lies in device memory. Not here: names
 * (symbol.h), and what kernel descriptors say (kernel.h). */
#ifndef GFXSIM_EXEC_METADATA_H
#define GFXSIM_EXEC_METADATA_H

#include <stdint.h>

#include "base/vm.h"

/* The greatest number of work-items that a workgroup of the kernel may have, as its compiler was told or
 * assumed; `object` is the address of its descriptor. 0: that is not known. Pure; thread-safe. */
uint32_t gs_metadata_group_size(const gs_vm_map_t *map, uint64_t object);

/* The same of the kernel whose descriptor is called `symbol`, in notes of so many bytes, aligned to 4. */
uint32_t gs_metadata_in_notes(const uint8_t *notes, uint64_t size, const char *symbol);

#endif
