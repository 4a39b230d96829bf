/* What the mapping engine knows of a device: a few functions. Whoever makes a table provides them, so that
 * tests can take ordinary memory for a device. Not here: what they do (the host runtime's device, below it
 * the core). */
#ifndef MAP_DEVICE_H
#define MAP_DEVICE_H

#include "base/piece.h"

#include <stdbool.h>

/* A point in the work of some stream of the device. 0: reached. A mark never becomes invalid. */
typedef uint64_t map_mark_t;

/* All may be called by several threads at once, with different streams, and never under a lock of the table.
 * `device` is the table's, `stream` the work's; the engine passes both on and looks at neither. True: done;
 * false: failed, and the function has said why. */
typedef struct map_device_functions {
  /* Memory of the device. `host`: what it will be a copy of, for reports; NULL: nothing of the program's. */
  bool (*allocate)(void *device, uint64_t bytes, const void *host, void **memory);
  bool (*release)(void *device, void *memory);

  /* Begin a copy behind all that the stream was given before. The host's memory stays as it is until the
   * caller of the engine has waited for the stream. `bytes` is not 0. */
  bool (*submit)(void *device, void *stream, void *memory, const void *host, uint64_t bytes);
  bool (*retrieve)(void *device, void *stream, void *host, const void *memory, uint64_t bytes);

  /* The end of what the stream was given so far, and: what it is given next begins behind the mark, which may
   * be of another stream. The latter sets a mark that is reached to 0. */
  bool (*mark)(void *device, void *stream, map_mark_t *mark);
  bool (*wait)(void *device, void *stream, map_mark_t *mark);

  /* Copies of several small pieces by one, see pack.h. NULL, all four: each is to be copied by itself.
   * Whether that may be done with this memory of the host's, which it is then; */
  bool (*packs)(void *device, const void *host, uint64_t bytes);
  /* host memory to fill and pass on at once, as it is the stream's; */
  bool (*stage)(void *device, void *stream, uint64_t bytes, void **staged);
  bool (*submit_staged)(void *device, void *stream, void *memory, const void *staged, uint64_t bytes);
  /* and back: `bytes` from `memory` on, of which each piece goes where it belongs. */
  bool (*retrieve_pieces)(void *device, void *stream, const void *memory, uint64_t bytes,
                          const atmi_piece_t *pieces, uint32_t count);
} map_device_functions_t;

#endif
