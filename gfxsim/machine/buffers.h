/* Sorted lists of buffers, and the host memory behind them. Internal to the memory part of the machine.
 * Not here: what GPUs may access. */
#ifndef GFXSIM_MACHINE_BUFFERS_H
#define GFXSIM_MACHINE_BUFFERS_H

#include "machine/memory.h"

/* Behind each allocation that may be anywhere: addresses that nobody uses, so that an access beyond its end
 * is a fault and not an access to the next one. The driver's thunk leaves such gaps, too. */
enum { GS_GAP_BYTES = GS_PAGE_BYTES };

/* Anonymous memory of whole pages that takes no room until it is touched, at a multiple of `alignment` (a
 * power of 2), with a gap behind; MAP_FAILED when the host refuses. The caller unmaps size + GS_GAP_BYTES. */
void *gs_map_with_gap(uint64_t size, uint64_t alignment, int protection);

/* Adds a buffer behind all with the same or a lower address. Returns 0, or -1 when out of memory. */
int gs_buffers_insert(gs_buffer_list_t *list, gs_buffer_t *buffer) __attribute__((warn_unused_result));
void gs_buffers_remove(gs_buffer_list_t *list, gs_buffer_t *buffer);
/* Index of the first buffer whose address is above `address`. */
size_t gs_buffers_above(const gs_buffer_list_t *list, uint64_t address);

/* Reserves host memory for an allocation: fills buffer->address and ->host. `wanted` is the address to use,
 * or 0. Returns 0, or -1 when the host has no room there. */
int gs_buffer_reserve(gs_buffer_t *buffer, uint64_t wanted) __attribute__((warn_unused_result));
void gs_buffer_release(gs_buffer_t *buffer);

/* Moves the bytes of a buffer into a file that others can map, buffer->file; nobody else notices. Returns 0,
 * or -1 with errno. One caller at a time. */
int gs_buffer_share(gs_buffer_t *buffer) __attribute__((warn_unused_result));

/* Whether all pages of [address, address + size) exist in the host program. */
bool gs_host_memory_exists(uint64_t address, uint64_t size);
/* Whether the program may write to the first and the last page of [address, address + size), which exists. */
bool gs_host_memory_is_writable(uint64_t address, uint64_t size);

#endif
