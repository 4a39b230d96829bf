/* Images between libomptarget and the core. A library is known by its table of entries, which all of its
 * images name. */
#include "rtl_image.h"

#include "image/embedded.h"
#include "openmp/image.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)OMP_DECLARE_TARGET_CTOR == (int)ATMI_ENTRY_CTOR &&
                   (int)OMP_DECLARE_TARGET_DTOR == (int)ATMI_ENTRY_DTOR &&
                   (int)OMP_DECLARE_TARGET_INDIRECT == (int)ATMI_ENTRY_INDIRECT,
               "flags pass as they are");

static atmi_image_bytes_t bytes_of(const __tgt_device_image *image) {
  return image ? (atmi_image_bytes_t){image->ImageStart, image->ImageEnd} : (atmi_image_bytes_t){0};
}

/* ---- what libraries hold ---- */

void rtl_image_register(const __tgt_bin_desc *library) {
  atmi_image_list_t list = {.count = 0};
  for (int32_t i = 0; i < library->NumDeviceImages; i++) {
    const __tgt_device_image *image = &library->DeviceImages[i];
    const atmi_image_bytes_t bytes = bytes_of(image);
    atmi_image_register(atmi_context(), image->EntriesBegin, &bytes, &list);
  }
  atmi_image_explain(atmi_context(), &list);
}

void rtl_image_unregister(const __tgt_bin_desc *library) {
  for (int32_t i = 0; i < library->NumDeviceImages; i++)
    atmi_image_unregister(atmi_context(), library->DeviceImages[i].EntriesBegin);
}

bool rtl_image_fits(const __tgt_device_image *image) {
  const atmi_image_bytes_t bytes = bytes_of(image);
  return atmi_image_fits(atmi_context(), &bytes);
}

bool rtl_image_judge(rtl_plugin_t *plugin, const __tgt_device_image *image) {
  atmi_context_t *context = atmi_context();
  const atmi_image_bytes_t bytes = bytes_of(image);
  atmi_image_list_t list = {.count = 0};
  if (!atmi_image_is_there(&bytes))
    return false;
  if (atmi_image_fits(context, &bytes))
    return true;
  const void *library = atmi_embedded_find_beside(bytes.begin, atmi_image_note, &list);
  pthread_mutex_lock(&context->lock);
  bool is_news = library && plugin->last_refused != library;
  plugin->last_refused = library;
  pthread_mutex_unlock(&context->lock);
  if (is_news)
    atmi_image_explain(context, &list);
  return false;
}

/* ---- what is loaded ---- */

/* What libomptarget keeps of a loaded image, attached to it. */
typedef struct table {
  __tgt_target_table table;
  __tgt_offload_entry entries[];
} table_t;

static atmi_entry_t *translate(const __tgt_offload_entry *hosts, size_t count) {
  atmi_entry_t *entries = calloc(count ? count : 1, sizeof *entries);
  for (size_t i = 0; entries && i < count; i++)
    entries[i] = (atmi_entry_t){hosts[i].addr, hosts[i].name, hosts[i].size, (uint32_t)hosts[i].flags};
  return entries;
}

/* The host's table, with the addresses of the loaded image. */
static void fill(table_t *table, const __tgt_offload_entry *hosts, const atmi_loaded_image_t *loaded) {
  for (size_t i = 0; i < loaded->entry_count; i++) {
    table->entries[i] = hosts[i];
    table->entries[i].addr = loaded->entries[i].address;
  }
  table->table = (__tgt_target_table){table->entries, table->entries + loaded->entry_count};
}

atmi_status_t rtl_image_load(atmi_omp_device_t *device, const __tgt_device_image *image,
                             atmi_loaded_image_t **loaded) {
  size_t count = (size_t)(image->EntriesEnd - image->EntriesBegin);
  table_t *table = malloc(sizeof *table + count * sizeof *table->entries);
  atmi_entry_t *entries = translate(image->EntriesBegin, count);
  const atmi_image_request_t request = {image->EntriesBegin, bytes_of(image), entries, count};
  atmi_status_t status;
  if (!table || !entries)
    status =
        atmi_fail(ATMI_NO_MEMORY, device->core->label, "cannot load the device image: out of host memory");
  else if (!(status = atmi_image_load(atmi_context(), device, &request, loaded))) {
    fill(table, image->EntriesBegin, *loaded);
    (*loaded)->attached = table;
    table = NULL;
  }
  free(entries);
  free(table);
  return status;
}

__tgt_target_table *rtl_image_table(const atmi_loaded_image_t *loaded) {
  return &((table_t *)loaded->attached)->table;
}
