/* Reading what programs register. It is the compiler's, but may be of a compiler that nobody knows yet, so
 * nothing of it is believed that can be checked. */
#include "library.h"

#include "base/process_memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- entries ---- */

static atmi_status_t refuse(const char *what) {
  return atmi_fail(
      ATMI_INVALID, NULL,
      "cannot register a program's device code: %s; it was built by a compiler that this library "
      "does not know, or its memory was overwritten",
      what);
}

/* Of the new layout the first word is 0. Of the old one it is an address, but for a program's "requires",
 * which clang 17 to 19 state in an entry without one: there its flags stand where the new layout has a name.
 */
static bool is_new_layout(const void *begin, const void *end) {
  tgt_entry13_t old = {.address = NULL};
  size_t bytes = (size_t)((const char *)end - (const char *)begin);
  if (begin == end)
    return false;
  memcpy(&old, begin, bytes < sizeof old ? bytes : sizeof old);
  return !old.address && !(bytes >= sizeof old && !old.size && old.flags == TGT_ENTRY_REQUIRES);
}

/* One entry of the table, if it is OpenMP's; false if not. */
static bool read_entry(const void *at, bool is_new, atmi_entry_t *entry, uint64_t *data) {
  if (is_new) {
    tgt_entry21_t new;
    memcpy(&new, at, sizeof new);
    *entry = (atmi_entry_t){new.address, new.name, new.size, new.flags};
    *data = new.data;
    return new.kind == TGT_ENTRY_OPENMP;
  }
  tgt_entry13_t old;
  memcpy(&old, at, sizeof old);
  *entry = (atmi_entry_t){old.address, old.name, old.size, (uint32_t)old.flags};
  *data = (uint64_t)(uint32_t)old.data;
  return true;
}

static atmi_status_t check_version(const void *at, bool is_new) {
  tgt_entry21_t entry;
  if (!is_new)
    return ATMI_OK;
  memcpy(&entry, at, sizeof entry);
  if (entry.zero)
    return refuse("entries of two layouts follow each other");
  if (entry.version > TGT_ENTRY_VERSION)
    return atmi_fail(
        ATMI_UNSUPPORTED, NULL,
        "cannot register a program's device code: its entries are of version %u, known is %d; it "
        "was built by a compiler that is newer than this library",
        entry.version, TGT_ENTRY_VERSION);
  return ATMI_OK;
}

static atmi_status_t add_entry(tgt_library_t *library, const atmi_entry_t *entry, uint64_t data) {
  if (entry->flags & TGT_ENTRY_REQUIRES) {
    tgt_requires_t *requires = &library->requires;
    int64_t *flags =
        requires->first && requires->first != (int64_t)data ? &requires->other : &requires->first;
    *flags = (int64_t)data;
    return ATMI_OK;
  }
  if (!entry->address || !atmi_process_memory_is_text(entry->name))
    return refuse("an entry has no address, or no name");
  library->entries[library->entry_count++] = *entry;
  return ATMI_OK;
}

static atmi_status_t read_entries(tgt_library_t *library) {
  const char *begin = library->descriptor->entries_begin, *end = library->descriptor->entries_end;
  if (begin > end || !atmi_process_memory_is_readable(begin, (uint64_t)(end - begin)))
    return refuse("its table of entries cannot be read");
  if (end - begin && (size_t)(end - begin) < sizeof(uint64_t))
    return refuse("its table of entries is no whole number of them");
  library->is_new = is_new_layout(begin, end);
  size_t bytes = library->is_new ? sizeof(tgt_entry21_t) : sizeof(tgt_entry13_t);
  size_t count = (size_t)(end - begin) / bytes;
  if ((size_t)(end - begin) % bytes)
    return refuse("its table of entries is no whole number of them");
  library->entries = calloc(count ? count : 1, sizeof *library->entries);
  if (!library->entries)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot register a program's device code: out of host memory");
  atmi_status_t status = ATMI_OK;
  for (const char *at = begin; !status && at < end; at += bytes) {
    atmi_entry_t entry;
    uint64_t data;
    status = check_version(at, library->is_new);
    if (!status && read_entry(at, library->is_new, &entry, &data))
      status = add_entry(library, &entry, data);
  }
  return status;
}

/* ---- the whole ---- */

static atmi_status_t read_images(tgt_library_t *library) {
  const tgt_descriptor_t *descriptor = library->descriptor;
  if (descriptor->image_count < 0 ||
      !atmi_process_memory_is_readable(descriptor->images,
                                       (uint64_t)descriptor->image_count * sizeof *descriptor->images))
    return refuse("its list of images cannot be read");
  library->images = descriptor->images;
  library->image_count = (uint32_t)descriptor->image_count;
  for (uint32_t i = 0; i < library->image_count; i++) {
    const tgt_image_t *image = &library->images[i];
    const char *begin = image->begin, *end = image->end;
    if (!begin || end <= begin || !atmi_process_memory_is_readable(begin, (uint64_t)(end - begin)))
      return refuse("one of its images cannot be read");
  }
  return ATMI_OK;
}

atmi_status_t tgt_library_create(const tgt_descriptor_t *descriptor, tgt_requires_t *requires,
                                 tgt_library_t **result) {
  *requires = (tgt_requires_t){0, 0};
  if (!atmi_process_memory_is_readable(descriptor, sizeof *descriptor) || !descriptor)
    return refuse("its descriptor cannot be read");
  tgt_library_t *library = calloc(1, sizeof *library);
  if (!library)
    return atmi_fail(ATMI_NO_MEMORY, NULL, "cannot register a program's device code: out of host memory");
  library->descriptor = descriptor;
  atmi_status_t status = read_entries(library);
  *requires = library->requires;
  if (!status)
    status = read_images(library);
  if (status) {
    tgt_library_destroy(library);
    return status;
  }
  *result = library;
  return ATMI_OK;
}

void tgt_library_destroy(tgt_library_t *library) {
  if (!library)
    return;
  free(library->entries);
  free(library);
}
