/* The table of what is mapped to one device, by the host's addresses: what the host runtime asks it and adds
 * to it outside of constructs. Not here: constructs (map.h), and how it is kept (entry.h). */
#ifndef MAP_TABLE_H
#define MAP_TABLE_H

#include "device.h"
#include "note.h"

#include <stddef.h>

typedef struct map_table map_table_t;

typedef struct map_configuration {
  const map_device_functions_t *functions; /* live as long as the table */
  void *device;                            /* for them */
  map_listener_t listener;
  /* Whether submit and retrieve can copy what begins at `host` though the host may not access it: memory of
   * devices, which programs pass for the host's. NULL: no. */
  bool (*reaches)(void *device, const void *host);
  bool unified;     /* `requires unified_shared_memory`: new maps use the host's memory, but for CLOSE */
  bool zero_copy;   /* new maps use the host's memory */
  bool old_padding; /* structs are padded to 8 bytes, as LLVM 13 to 16 do, and not as their base is aligned */
} map_configuration_t;

/* NULL without memory. Released with all memory of the device that it still has; no operation may be under
 * way. NULL is accepted. */
map_table_t *map_table_new(const map_configuration_t *configuration);
void map_table_free(map_table_t *table);

/* Sets `unified`, which a program may say after the first look at the table; the listener's note function,
 * which may come and go while operations are under way; and the device's functions, before the first
 * operation. */
void map_table_set_unified(map_table_t *table, bool unified);
void map_table_listen(map_table_t *table, void (*note)(void *context, const map_note_t *note));
void map_table_set_functions(map_table_t *table, const map_device_functions_t *functions);

/* The rest is thread-safe. */

/* A variable of an image, or what omp_target_associate_ptr says: mapped for good, the memory is not the
 * table's. `name` lives as long as it is mapped, and may be NULL. Adding the same again is no failure. Fails,
 * described, with MAP_INVALID if something else is mapped there, or with MAP_NO_MEMORY. */
MAP_MUST_CHECK map_status_t map_table_add_global(map_table_t *table, const void *host, void *device,
                                                 uint64_t bytes, const char *name);
MAP_MUST_CHECK map_status_t map_table_associate(map_table_t *table, const void *host, void *device,
                                                uint64_t bytes);
/* Takes a global back, as its image goes; nothing if there is none. */
void map_table_remove_global(map_table_t *table, const void *host);
/* Fails, described, with MAP_INVALID for what was not associated, or is held (ompx_hold). */
MAP_MUST_CHECK map_status_t map_table_disassociate(map_table_t *table, const void *host);

/* Where `bytes` (at least 1, else 1) at `host` are on the device. False if they are not, or not all. Waits,
 * if another thread is just mapping them, until it knows. */
bool map_table_find(map_table_t *table, const void *host, uint64_t bytes, void **device);

/* An entry, for people. */
typedef struct map_entry_view {
  uintptr_t base, begin,
      end;          /* on the host: what the base of the list item was, and the range that is mapped */
  uintptr_t device; /* where `begin` is; 0 while it is not known */
  const char *name; /* as the compiler wrote it; NULL: unknown */
  uint32_t dynamic_count, hold_count;
  bool infinite;
  bool associated; /* as map_table_associate did */
} map_entry_view_t;

/* Calls with a copy of each entry, in order of their addresses. Takes the entries as they were at one moment.
 * False without memory. */
bool map_table_visit(map_table_t *table, void (*visit)(void *context, const map_entry_view_t *entry),
                     void *context);

/* The entry that contains the address, or else the nearest one, of those that have device memory. False if
 * there is none. For messages. */
bool map_table_nearest(map_table_t *table, const void *host, map_entry_view_t *entry);
/* The one that is nearest to an address of the device; likewise. */
bool map_table_nearest_on_device(map_table_t *table, uintptr_t device, map_entry_view_t *entry);

/* The first entry that has any of [host, host + bytes). False if there is none. */
bool map_table_first_in(map_table_t *table, const void *host, uint64_t bytes, map_entry_view_t *entry);

/* How many entries there are. */
size_t map_table_count(map_table_t *table);

#endif
