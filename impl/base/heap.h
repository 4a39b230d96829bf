/* The heap behind device code's malloc: small blocks are cut from large pieces of device memory, and all
 * bookkeeping is on the host, so that the device can neither damage it nor free what it was not given. Used
 * by one thread at a time. */
#ifndef ATMI_BASE_HEAP_H
#define ATMI_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where pieces come from; `address` is the device's. */
typedef struct atmi_heap_backing {
  void *context;
  uint64_t (*allocate)(void *context, uint64_t bytes); /* aligned to 4096; 0 if there is none */
  void (*release)(void *context, uint64_t address);
  /* Each block is a piece of its own, so that a checker sees where it ends; and it is kept for the next
   * request of its size, as it would be told that memory goes under a kernel, which is the one that frees it.
   */
  bool apart;
} atmi_heap_backing_t;

enum { ATMI_HEAP_CLASSES = 13 }; /* blocks of 16, 32, ... 65536 bytes */

typedef struct atmi_heap {
  atmi_heap_backing_t backing;
  struct atmi_heap_piece **pieces; /* sorted by address */
  uint32_t piece_count, piece_capacity;
  struct atmi_heap_piece *open[ATMI_HEAP_CLASSES]; /* with free blocks, linked */
} atmi_heap_t;

void atmi_heap_init(const atmi_heap_backing_t *backing, atmi_heap_t *heap);
/* Gives everything back, also what device code has not freed. Accepts a zeroed heap. */
void atmi_heap_fini(atmi_heap_t *heap);

/* A block aligned to 16 (to its size up to 4096), or 0. A request for 0 bytes gets a block of its own too. */
uint64_t atmi_heap_allocate(atmi_heap_t *heap, uint64_t bytes);
/* False, and nothing happens, if the address is not that of a block in use. */
bool atmi_heap_release(atmi_heap_t *heap, uint64_t address);

#endif
