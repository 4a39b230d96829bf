/* The DMA engine: the commands of one SDMA ring, in order. Layouts: the SDMA 4 and 5 packets of Linux amdgpu
 * (vega10_sdma_pkt_open.h) and ROCR-Runtime's sdma_registers.h; those that ROCr and its thunk's tests emit.
 * Not here: when to look for commands (queue.h). */
#ifndef GFXSIM_PACKET_SDMA_H
#define GFXSIM_PACKET_SDMA_H

#include <stddef.h>
#include <stdint.h>

#include "packet/engine.h"

/* The longest command in dwords. */
enum { GS_SDMA_MOST_DWORDS = 13 };

/* The parts of a rectangle copy (COPY_LINEAR_RECT). Sizes in elements, rows and slices. */
typedef struct gs_sdma_rect {
  struct gs_sdma_rect_side {
    uint64_t base;
    uint32_t x, y, z;
    uint32_t pitch, slice; /* elements from row to row and from slice to slice */
  } from, to;
  uint32_t width, height, depth;
  uint32_t element_bytes;
} gs_sdma_rect_t;

/* Takes the 13 dwords of such a command apart. */
gs_sdma_rect_t gs_sdma_decode_rect(const uint32_t *command);

/* Length in dwords of the command that starts with `header`, without what is of no fixed length (the data of
 * a write, the second place of a copy to two), or 0 when the engine does not know it. */
size_t gs_sdma_length(uint32_t header);

typedef struct gs_sdma gs_sdma_t;

/* Makes the engine for a ring of `ring_bytes` (a power of two). The indices count bytes and never wrap; they
 * are shared with the host and belong to the caller. NULL when out of memory. */
gs_sdma_t *gs_sdma_create(const gs_engine_config_t *config, void *ring, uint64_t ring_bytes,
                          uint64_t *read_index, uint64_t *write_index);

/* Its engine operations; `engine` is the gs_sdma_t. */
extern const gs_engine_ops_t gs_sdma_ops;

#endif
