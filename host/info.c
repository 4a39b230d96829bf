/* LIBOMPTARGET_INFO, on stderr. */
#include "info.h"

#include "checker.h"
#include "entry.h"
#include "lint.h"
#include "message.h"

#include "base/text.h"
#include "openmp/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

/* As LLVM prints an address: always all 16 digits. */
#define ADDRESS "0x%016" PRIxPTR

enum {
  NAME_BYTES = 512,
  COUNT_BYTES = 24,
  LINE_BYTES = 2048,
  CLANG_WITH_MAPPER_NAMES = 18,
  CLANG_WITH_LINES_OF_HOST = 18
};

static void print(const tgt_device_t *device, const char *format, ...) ATMI_PRINTF(2, 3);
static void print(const tgt_device_t *device, const char *format, ...) {
  char line[LINE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s device %u info: %s\n", tgt_message_name(), device->number, line);
}

static const char *clean(const char *text, int length, char name[NAME_BYTES]) {
  char part[NAME_BYTES];
  snprintf(part, sizeof part, "%.*s", length, text);
  return atmi_text_clean(part, name, NAME_BYTES);
}

static const char *name_of(const char *of_map, char name[NAME_BYTES]) {
  tgt_place_t place;
  tgt_place_of_map(of_map, &place);
  return clean(place.name, place.name_length, name);
}

static const char *count_of(bool infinite, uint32_t count, char text[COUNT_BYTES]) {
  snprintf(text, COUNT_BYTES, "%" PRIu32, count);
  return infinite ? "INF" : text;
}

/* ---- constructs ---- */

/* Names of constructs, before and since LLVM 18. */
static const char *const names[][2] = {
    [TGT_CONSTRUCT_REGION] = {"Entering OpenMP kernel", "Entering OpenMP kernel"},
    [TGT_CONSTRUCT_BEGIN] = {"Entering OpenMP data region", "Entering OpenMP data region with being_mapper"},
    [TGT_CONSTRUCT_END] = {"Exiting OpenMP data region", "Exiting OpenMP data region with end_mapper"},
    [TGT_CONSTRUCT_UPDATE] = {"Updating OpenMP data",
                              "Updating data within the OpenMP data region with update_mapper"},
};

static const char *type_of(int64_t type, int64_t bytes) {
  const uint64_t bits = (uint64_t)type, both = MAP_TO | MAP_FROM;
  if ((bits & both) == both)
    return "tofrom";
  if (bits & both)
    return bits & MAP_TO ? "to" : "from";
  if (bits & MAP_PRIVATE)
    return "private";
  if (bits & MAP_LITERAL)
    return "firstprivate";
  if (bits & MAP_ATTACH) /* which clang 22 is the first to pass */
    return "attach";
  return bytes ? "alloc" : "use_address";
}

static void print_arguments(const tgt_device_t *device, const map_arguments_t *arguments) {
  for (uint32_t i = 0; i < arguments->count; i++) {
    char name[NAME_BYTES];
    int64_t type = arguments->types[i], bytes = arguments->sizes[i];
    print(device, "%s(%s)[%" PRId64 "] %s", type_of(type, bytes),
          name_of(arguments->names ? arguments->names[i] : NULL, name), bytes,
          (uint64_t)type & MAP_IMPLICIT ? "(implicit)" : "");
  }
}

void tgt_info_begin(const tgt_device_t *device, const tgt_ident_t *where, tgt_construct_t construct,
                    const map_arguments_t *arguments) {
  tgt_place_t place;
  char file[NAME_BYTES];
  if (construct == TGT_CONSTRUCT_REGION)
    tgt_checker_region();
  if (!(tgt_info() & TGT_INFO_ARGUMENTS))
    return;
  uint32_t version = atomic_load_explicit(&tgt_runtime()->newest_version, memory_order_relaxed);
  tgt_place_of_ident(where, &place);
  flockfile(stderr);
  print(device, "%s at %s:%ld:%ld with %u arguments:", names[construct][version >= CLANG_WITH_MAPPER_NAMES],
        clean(place.file, place.file_length, file), place.line, place.column, arguments->count);
  if (arguments->types && arguments->sizes)
    print_arguments(device, arguments);
  funlockfile(stderr);
}

void tgt_info_end(const tgt_device_t *device, const tgt_ident_t *where) {
  if (tgt_info() & TGT_INFO_TABLE)
    tgt_info_dump(device, where);
  tgt_checker_returns();
}

/* ---- entries ---- */

static const char *kind_of(const atmi_entry_t *entry) {
  if (entry->flags & TGT_ENTRY_CTOR)
    return "constructor";
  if (entry->flags & TGT_ENTRY_DTOR)
    return "destructor";
  if (entry->flags & TGT_ENTRY_LINK)
    return "link";
  return entry->size ? "global var." : "kernel";
}

void tgt_info_entries(const tgt_device_t *device, const tgt_library_t *first) {
  static const atmi_env_row_t row = {
      .name = "OMPTARGET_DUMP_OFFLOAD_ENTRIES", .least = -1, .most = INT32_MAX};
  const char *text = getenv(row.name), *reason;
  int64_t number = -1;
  if (text && *text && !atmi_env_parse(&row, text, &number, &reason))
    atmi_warn(NULL, "environment variable %s is ignored: %s", row.name, reason);
  if (number != (int64_t)device->number)
    return;
  flockfile(stderr);
  fprintf(stderr, "Device %u offload entries:\n", device->number);
  for (const tgt_library_t *library = first; library; library = library->next)
    for (size_t i = 0; i < library->entry_count; i++)
      fprintf(stderr, "  %11s: %s\n", kind_of(&library->entries[i]), library->entries[i].name);
  funlockfile(stderr);
}

/* ---- the table ---- */

static void print_entry(void *context, const map_entry_view_t *entry) {
  char name[NAME_BYTES], file[NAME_BYTES], dynamic[COUNT_BYTES], hold[COUNT_BYTES];
  tgt_place_t place;
  tgt_place_of_map(entry->name, &place);
  print(context, ADDRESS " " ADDRESS " %-8" PRIuPTR " %-11s %-12s %s at %s:%ld:%ld", entry->begin,
        entry->device, entry->end - entry->begin, count_of(entry->infinite, entry->dynamic_count, dynamic),
        count_of(false, entry->hold_count, hold), clean(place.name, place.name_length, name),
        clean(place.file, place.file_length, file), place.line, place.column);
}

void tgt_info_dump(const tgt_device_t *device, const tgt_ident_t *where) {
  tgt_place_t place;
  char file[NAME_BYTES];
  if (!map_table_count(device->maps))
    return;
  tgt_place_of_ident(where, &place);
  flockfile(stderr);
  print(device, "OpenMP Host-Device pointer mappings after block at %s:%ld:%ld:",
        clean(place.file, place.file_length, file), place.line, place.column);
  print(device, "%-18s %-18s %s %s %s %s", "Host Ptr", "Target Ptr", "Size (B)", "DynRefCount",
        "HoldRefCount", "Declaration");
  if (!map_table_visit(device->maps, print_entry, (void *)(uintptr_t)device))
    print(device, "(out of host memory)");
  funlockfile(stderr);
}

/* ---- maps ---- */

/* Behind the count that an argument changed, or left alone. */
static const char *change_of(const map_note_t *note) {
  if (note->kind == MAP_NOTE_PARAMETER)
    return " (update suppressed)";
  if (note->kind == MAP_NOTE_FOUND)
    return note->counted ? " (incremented)" : " (update suppressed)";
  if (!note->counted)
    return " (update suppressed)";
  if (!note->last)
    return " (decremented)";
  return note->type & MAP_DELETE ? " (reset, delayed deletion)" : " (decremented, delayed deletion)";
}

static void print_existing(const tgt_device_t *device, const map_note_t *note) {
  char name[NAME_BYTES], dynamic[COUNT_BYTES], holds[COUNT_BYTES];
  const char *change = change_of(note);
  bool found = note->kind == MAP_NOTE_FOUND, hold = note->hold && note->kind != MAP_NOTE_PARAMETER;
  print(device,
        "Mapping exists%s with HstPtrBegin=" ADDRESS ", TgtPtrBegin=" ADDRESS ", Size=%" PRId64
        ", DynRefCount=%s%s, HoldRefCount=%s%s%s%s",
        found && note->type & MAP_IMPLICIT ? " (implicit)" : "", note->host, note->device,
        (int64_t)note->bytes, count_of(note->infinite, note->dynamic_count, dynamic), hold ? "" : change,
        count_of(false, note->hold_count, holds), hold ? change : "", found ? ", Name=" : "",
        found ? name_of(note->name, name) : "");
}

static void print_created(const tgt_device_t *device, const map_note_t *note) {
  char name[NAME_BYTES], dynamic[COUNT_BYTES], hold[COUNT_BYTES];
  print(device,
        "Creating new map entry with HstPtrBase=" ADDRESS ", HstPtrBegin=" ADDRESS ", TgtAllocBegin=" ADDRESS
        ", TgtPtrBegin=" ADDRESS ", Size=%" PRId64 ", DynRefCount=%s, HoldRefCount=%s, Name=%s",
        note->base, note->host, note->allocation, note->device, (int64_t)note->bytes,
        count_of(note->infinite, note->dynamic_count, dynamic), count_of(false, note->hold_count, hold),
        name_of(note->name, name));
}

static void print_removed(const tgt_device_t *device, const map_note_t *note) {
  char name[NAME_BYTES];
  print(device,
        "Removing map entry with HstPtrBegin=" ADDRESS ", TgtPtrBegin=" ADDRESS ", Size=%" PRId64 ", Name=%s",
        note->host, note->device, (int64_t)note->bytes, name_of(note->name, name));
}

/* LLVM calls copies by the list item that made the entry. */
static void print_copy(const tgt_device_t *device, const map_note_t *note) {
  char name[NAME_BYTES];
  if (note->kind != MAP_NOTE_RETRIEVE)
    print(device,
          "Copying data from host to device, HstPtr=" ADDRESS ", TgtPtr=" ADDRESS ", Size=%" PRId64
          ", Name=%s",
          note->host, note->device, (int64_t)note->bytes, name_of(note->entry_name, name));
  else
    print(device,
          "Copying data from device to host, TgtPtr=" ADDRESS ", HstPtr=" ADDRESS ", Size=%" PRId64
          ", Name=%s",
          note->device, note->host, (int64_t)note->bytes, name_of(note->entry_name, name));
}

/* LLVM says this since 18, before only to its developers. */
static void print_host(const tgt_device_t *device, const map_note_t *note) {
  uint32_t version = atomic_load_explicit(&tgt_runtime()->newest_version, memory_order_relaxed);
  if (note->bytes && version >= CLANG_WITH_LINES_OF_HOST)
    print(device, "Return HstPtrBegin " ADDRESS " Size=%" PRId64 " for unified shared memory", note->host,
          (int64_t)note->bytes);
}

static void print_absent(const tgt_device_t *device, const map_note_t *note) {
  char name[NAME_BYTES];
  bool enters = note->operation == MAP_BEGIN || note->operation == MAP_ENTER;
  if (enters && note->type && !(note->type & (MAP_IMPLICIT | MAP_MEMBER_OF)))
    print(device, "variable %s does not have a valid device counterpart", name_of(note->name, name));
}

/* What is shown of each kind of note, and by which bit. */
static const struct {
  uint32_t bit;
  void (*print)(const tgt_device_t *device, const map_note_t *note);
} shown[] = {
    [MAP_NOTE_CREATED] = {TGT_INFO_CHANGED, print_created},
    [MAP_NOTE_FOUND] = {TGT_INFO_EXISTS, print_existing},
    [MAP_NOTE_LEFT] = {TGT_INFO_EXISTS, print_existing},
    [MAP_NOTE_REMOVED] = {TGT_INFO_CHANGED, print_removed},
    [MAP_NOTE_SUBMIT] = {TGT_INFO_COPIES, print_copy},
    [MAP_NOTE_RETRIEVE] = {TGT_INFO_COPIES, print_copy},
    [MAP_NOTE_ATTACHED] = {TGT_INFO_COPIES, print_copy}, /* of a pointer */
    [MAP_NOTE_HOST] = {TGT_INFO_CHANGED, print_host},
    [MAP_NOTE_PARAMETER] = {TGT_INFO_EXISTS, print_existing},
    [MAP_NOTE_ABSENT] = {TGT_INFO_ABSENT, print_absent},
};

static void hear(void *context, const map_note_t *note) {
  size_t kinds = sizeof shown / sizeof *shown;
  if ((size_t)note->kind < kinds && tgt_info() & shown[note->kind].bit)
    shown[note->kind].print(context, note);
  if (tgt_checker_is_there())
    tgt_checker_hear(note);
  if (tgt_lint_is_on())
    tgt_lint_hear(context, note);
}

void tgt_info_listen(const tgt_device_t *device) {
  bool listens = tgt_info() & TGT_INFO_OF_MAPS || tgt_checker_is_there() || tgt_lint_is_on();
  map_table_listen(device->maps, listens ? hear : NULL);
}

void tgt_info_watch(void) {
  atmi_context_set_watched(atmi_context(), tgt_info() & (TGT_INFO_OF_CONSTRUCTS | TGT_INFO_OF_MAPS) ||
                                               tgt_ompt_is_on() || tgt_checker_is_there());
}

/* ---- entry points ---- */

TGT_EXPORT void __tgt_set_info_flag(uint32_t flags) {
  tgt_runtime_t *runtime = tgt_runtime();
  atmi_context_set_info(atmi_context(), flags);
  tgt_info_watch();
  for (uint32_t i = 0; i < (uint32_t)tgt_runtime_device_count(runtime); i++)
    tgt_info_listen(&runtime->devices[i]);
}

TGT_EXPORT void __tgt_print_device_info(int64_t number) {
  tgt_runtime_t *runtime = tgt_runtime();
  if (number >= 0 && number < tgt_runtime_device_count(runtime))
    atmi_info_print(runtime->devices[number].omp, stdout);
  else
    tgt_error("cannot print device information: there is no device %lld", (long long)number);
}

TGT_EXPORT void ompx_dump_mapping_tables(void) {
  tgt_runtime_t *runtime = tgt_runtime();
  for (uint32_t i = 0; i < (uint32_t)tgt_runtime_device_count(runtime); i++)
    tgt_info_dump(&runtime->devices[i], NULL);
}
