/* See checker.h. The checker is found in the process, below ROCr; this library is not linked to it and knows
 * the functions by their names. */
#include "checker.h"

#include "message.h"
#include "ompt.h"
#include "runtime.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

void tgt_checker_find(void) {
  /* The reference stays: the library does, too. */
  void *library = dlopen("libgfxsim-kfd.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    library = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*wanted)(void);
  void *symbol = library ? dlsym(library, "gfxsim_notes_are_wanted") : NULL;
  memcpy(&wanted, &symbol, sizeof wanted);
  if (!symbol || !wanted())
    return;
  tgt_ompt_watch(); /* for who calls */
  /* In the order of the runtime's members. */
  static const char names[][sizeof "mapping"] = {"map",     "found",   "mapping", "caller",
                                                 "brought", "returns", "refused", "host"};
  enum { NOTES = sizeof names / sizeof *names, FIRST = offsetof(tgt_runtime_t, note_name) };
  _Static_assert(offsetof(tgt_runtime_t, note_host) == FIRST + (NOTES - 1) * sizeof(void *),
                 "a name for each");
  for (size_t i = 0; i < NOTES; i++) {
    char name[32];
    snprintf(name, sizeof name, "gfxsim_note_%s", names[i]);
    symbol = dlsym(library, name);
    memcpy((char *)tgt_runtime() + FIRST + i * sizeof symbol, &symbol, sizeof symbol);
  }
}

bool tgt_checker_is_there(void) {
  return *tgt_runtime()->note_name != NULL;
}

void tgt_checker_caller(const void *code) {
  if (tgt_runtime()->note_caller)
    tgt_runtime()->note_caller((uint64_t)(uintptr_t)code);
}

/* As what the memory of something new, or found, is known. */
static void tell_name(const map_note_t *note) {
  tgt_note_name_t *tell = tgt_runtime()->note_name[note->kind];
  tgt_place_t place = {0};
  char name[NAME_BYTES], file[NAME_BYTES];
  if (!tell)
    return;
  /* What clang has no name for, as `this[0:1]`, is ";unknown;unknown;0;0;;". */
  if (!note->name || (tgt_place_of_map(note->name, &place) && !place.line)) {
    tell(note->device, note->bytes, NULL, NULL, 0, note->host);
    return;
  }
  snprintf(name, sizeof name, "%.*s", place.name_length, place.name);
  snprintf(file, sizeof file, "%.*s", place.file_length, place.file);
  tell(note->device, note->bytes, name, file, (uint32_t)place.line, note->host);
}

/* As the checker counts what happens. */
enum { WAS_SENT, IS_WANTED, IS_USED, ENDS, IS_LOADED, STARTS, NOTHING };

static void tell_of_mapping(uint32_t what, uint64_t device, uint64_t bytes) {
  if (what != NOTHING && tgt_runtime()->note_mapping)
    tgt_runtime()->note_mapping(what, device, bytes);
}

void tgt_checker_failed(const void *memory, uint64_t bytes, bool is_sent) {
  tell_of_mapping(is_sent ? WAS_SENT : IS_WANTED, (uintptr_t)memory, bytes);
}

void tgt_checker_brought(uint64_t device, uint64_t host, uint64_t bytes) {
  if (tgt_runtime()->note_brought)
    tgt_runtime()->note_brought(device, host, bytes);
}

void tgt_checker_hear(const map_note_t *note) {
  static const uint8_t whats[] = {NOTHING, IS_USED, NOTHING, ENDS, WAS_SENT, IS_WANTED, NOTHING};
  _Static_assert(MAP_NOTE_FOUND == 1 && MAP_NOTE_REMOVED == 3 && MAP_NOTE_SUBMIT == 4 &&
                     MAP_NOTE_RETRIEVE == 5 && MAP_NOTE_RETRIEVED == 6,
                 "by kind of note");
  const map_note_kind_t kind = note->kind;
  if (kind > MAP_NOTE_RETRIEVED)
    return;
  if (kind <= MAP_NOTE_FOUND)
    tell_name(note);
  if (kind != MAP_NOTE_FOUND || note->operation == MAP_ENTER)
    tell_of_mapping(whats[kind], note->device, note->bytes);
  /* RETRIEVED follows a copy's beginning, but with updates, which have pieces. */
  if (kind == MAP_NOTE_RETRIEVED || (kind == MAP_NOTE_RETRIEVE && note->operation == MAP_UPDATE))
    tgt_checker_brought(note->device, note->host, note->bytes);
}

void tgt_checker_loaded(const void *host, void *device, uint64_t bytes, const char *name) {
  if (!tgt_checker_is_there())
    return;
  tgt_runtime()->note_name[MAP_NOTE_CREATED]((uintptr_t)device, bytes, name, NULL, 0, (uintptr_t)host);
  tell_of_mapping(IS_LOADED, (uintptr_t)device, bytes);
}

void tgt_checker_region(void) {
  tell_of_mapping(STARTS, 0, 0);
}

static bool is_mapped(const void *memory, uint64_t bytes) {
  tgt_runtime_t *runtime = tgt_runtime();
  map_entry_view_t entry;
  bool found = false;
  for (int i = 0; i < tgt_runtime_device_count(runtime) && !found; i++)
    found = map_table_first_in(runtime->devices[i].maps, memory, bytes, &entry);
  return found;
}

/* As the checker counts what happens to the host's memory. */
enum { WAS_FREED, IS_TAKEN };

static void tell_of_host(uint32_t what, const void *memory, uint64_t bytes, const void *code) {
  tgt_runtime()->note_host(what, (uintptr_t)memory, bytes, (uintptr_t)code);
}

/* In a process that was forked who held a lock is not there. */
void tgt_checker_host_freed(const void *memory, uint64_t bytes, const void *code) {
  if (!tgt_runtime()->note_host || tgt_machine_is_forked() || !is_mapped(memory, bytes))
    return;
  atomic_store(&tgt_runtime()->host_was_freed, true);
  tell_of_host(WAS_FREED, memory, bytes, code);
}

void tgt_checker_host_taken(const void *memory, uint64_t bytes, const void *code) {
  if (atomic_load_explicit(&tgt_runtime()->host_was_freed, memory_order_relaxed) &&
      !tgt_machine_is_forked() && is_mapped(memory, bytes))
    tell_of_host(IS_TAKEN, memory, bytes, code);
}

void tgt_checker_refused(const void *memory) {
  if (tgt_runtime()->note_refused)
    tgt_runtime()->note_refused((uint64_t)(uintptr_t)memory, NULL);
}

void tgt_checker_returns(void) {
  if (tgt_runtime()->note_returns)
    tgt_runtime()->note_returns((uintptr_t)tgt_checker_returns);
}
