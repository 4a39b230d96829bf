/* Small entries that one construct makes share a piece of the device's memory, and what is copied to it, and
 * back, is one copy. Not here: large entries, and copies to what is there already (fill.c, leave.c).
 *
 * What a copy costs on a card is mostly its beginning, so this is the largest part of what a region with a
 * few small maps costs. Which entries are small enough is for the device's functions to say; if these have no
 * `packs`, all go one by one. */
#ifndef MAP_PACK_H
#define MAP_PACK_H

#include "work.h"

enum {
  MAP_PACKS = 8,             /* of one construct; what comes behind these goes one by one */
  MAP_PACK_BYTES = 48 << 10, /* the most of one */
  MAP_PIECES = 128,          /* of one copy back */
};

/* Those of the items from `first` to before `end` that have MAP_ITEM_PACKED. */
typedef struct map_pack {
  uint32_t first, end;
  uint64_t bytes, filled; /* of the memory; and of those that are copied to, which lie in front */
  uintptr_t memory;
} map_pack_t;

typedef struct map_packs {
  uint32_t count;
  map_pack_t packs[MAP_PACKS];
} map_packs_t;

/* Memory for all small ones of a work that has made entries; they know their addresses then. Describes. */
map_status_t map_packs_allocate(map_work_t *work, map_packs_t *packs);
/* Begins the copies to them, with the pointers in them that point to what has an address already. The items
 * of what is copied by that have MAP_ITEM_PACKED. Describes. */
map_status_t map_packs_submit(map_work_t *work, const map_packs_t *packs);

/* Begins one copy back, of all pieces, from `from` on; `item` is named if it fails. Describes. */
map_status_t map_pieces_retrieve(map_work_t *work, const map_item_t *item, uintptr_t from, uint64_t bytes,
                                 const atmi_piece_t *pieces, uint32_t count);

/* Copies back that may become one. `begin` and `end` are those of all on the device. */
typedef struct map_gather {
  map_work_t *work;
  const map_item_t *item; /* the first one, for messages */
  const void *memory;     /* that they are in */
  uintptr_t begin, end;
  uint32_t count;
  atmi_piece_t pieces[MAP_PIECES];
} map_gather_t;

static inline void map_gather_begin(map_gather_t *gather, map_work_t *work) {
  gather->work = work;
  gather->count = 0;
}
/* Begins the copy of an item, or leaves it for the next one; tells the listener. The end begins what is left.
 * Describe. */
map_status_t map_gather_add(map_gather_t *gather, const map_item_t *item);
map_status_t map_gather_end(map_gather_t *gather);

#endif
