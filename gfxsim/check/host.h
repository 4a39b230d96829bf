/* The host's memory, which may go at any time, and what an address of its code is: file and function, read
 * from the kernel's list of mappings and the files. The dynamic linker knows both, too, but it has locks,
 * which a thread of the program may hold that waits for the GPU (a constructor that runs a kernel). Not here:
 * source lines (exec/source_line.h). */
#ifndef GFXSIM_CHECK_HOST_H
#define GFXSIM_CHECK_HOST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum { GS_HOST_NAME = 256 };

typedef struct gs_host_place {
  char path[PATH_MAX];
  uint64_t address;            /* as the file counts */
  char function[GS_HOST_NAME]; /* as the file spells it; empty = not known */
} gs_host_place_t;

/* False when `address` is in no file that is mapped now. Slow: for reports. Thread-safe. */
bool gs_host_find(uint64_t address, gs_host_place_t *place);

/* Copies `bytes` from the process's `address`. False if some are not there. Thread-safe. */
bool gs_host_peek(uint64_t address, void *to, uint64_t bytes);

#endif
