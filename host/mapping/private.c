/* Private and firstprivate data of a region: one piece of device memory for all, in which what is small and
 * has a value lies in front and is copied at once. And the pointers of lambdas to what they have captured. */
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { PACKED_MOST = 1024, ALIGNMENT = 16 };

/* A region's private data. */
typedef struct map_private {
  void *memory;   /* the device's */
  uint64_t bytes; /* of it, and in front of these are packed */
  uint64_t packed;
  char *copy; /* of what is packed, until the copy is over */
} map_private_t;

static bool is_attached(const map_item_t *item) {
  return item->type & MAP_ATTACH;
}

static bool is_packed(const map_item_t *item) {
  return is_attached(item) || (item->type & MAP_TO && item->bytes <= PACKED_MOST);
}

/* Where a private variable is on the host; of a pointer it is the base. */
static uintptr_t host_of(const map_work_t *work, const map_item_t *item) {
  return is_attached(item) ? (uintptr_t)work->words[item->word] : item->host;
}

/* Aligned as on the host, as far as compilers ask for. Keeps the place in the item. */
static void place(map_work_t *work, map_item_t *item, uint64_t *end) {
  uint64_t residue = host_of(work, item) % ALIGNMENT;
  uint64_t at = (*end + ALIGNMENT - 1 - residue) / ALIGNMENT * ALIGNMENT + residue;
  item->value = at;
  *end = at + item->bytes;
}

/* Several share memory, and a copy: for messages, the first of them. */
static const map_item_t *first_private(const map_work_t *work) {
  const map_item_t *item = work->items;
  while (!(item->flags & MAP_ITEM_PRIVATE))
    item++;
  return item;
}

static map_status_t allocate(map_work_t *work, map_private_t *privates) {
  const map_configuration_t *configuration = &work->table->configuration;
  uint64_t end = 0;
  for (int packed = 1; packed >= 0; packed--) {
    for (uint32_t i = 0; i < work->item_count; i++)
      if (work->items[i].flags & MAP_ITEM_PRIVATE && is_packed(&work->items[i]) == packed)
        place(work, &work->items[i], &end);
    if (packed)
      privates->packed = end;
  }
  privates->bytes = end;
  if (privates->packed && !(privates->copy = calloc(1, privates->packed)))
    return map_fail_memory(work->table, "firstprivate data");
  if (end && !configuration->functions->allocate(configuration->device, end, NULL, &privates->memory))
    return map_work_fail(work, first_private(work), "no device memory for private data");
  return MAP_OK;
}

/* A private pointer: what its pointee is on the device, if that is mapped. */
static void pack_pointer(const map_work_t *work, const map_item_t *item, char *to) {
  const char *host = work->words[item->word];
  uintptr_t value;
  if (item->bytes < sizeof value || !host)
    return;
  /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): allocate has made room for what is packed */
  memcpy(to, host, item->bytes);
  memcpy(&value, host, sizeof value);
  if (item->entry)
    value = map_entry_device(item->entry, value);
  memcpy(to, &value, sizeof value);
}

/* Puts one in its place and gives the kernel its address. */
static map_status_t fill(map_work_t *work, const map_private_t *privates, map_item_t *item) {
  uintptr_t device = (uintptr_t)privates->memory + item->value;
  uintptr_t base = (uintptr_t)work->words[item->word];
  map_status_t status = MAP_OK;
  if (is_attached(item))
    pack_pointer(work, item, privates->copy + item->value);
  else if (is_packed(item) && item->bytes)
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): as above */
    memcpy(privates->copy + item->value, (const void *)item->host, item->bytes);
  else if (item->type & MAP_TO && item->bytes)
    status = map_work_submit_to(work, device, (const void *)item->host, item->bytes);
  if (status)
    return map_work_fail(work, item, "a copy of firstprivate data to the device has failed");
  work->words[item->word] = (void *)device;
  if (!is_attached(item))
    work->words[item->word] = (void *)(device + (base - item->host));
  return status;
}

/* The word of an argument: parameters are counted in order. */
static uint32_t word_of(const map_arguments_t *arguments, uint32_t argument) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < argument; i++)
    word += ((uint64_t)arguments->types[i] & MAP_TARGET_PARAM) != 0;
  return word;
}

/* The lambda's pointer to a variable; in the copy of what is packed, if that is where the lambda is. */
static map_status_t fill_lambda(map_work_t *work, const map_arguments_t *arguments, map_item_t *item) {
  uint32_t parent = (uint32_t)((uint64_t)arguments->types[item->argument] >> MAP_MEMBER_SHIFT) - 1;
  uint32_t word = word_of(arguments, parent);
  if (!((uint64_t)arguments->types[parent] & MAP_TARGET_PARAM) || word >= work->word_count)
    return MAP_OK;
  uintptr_t place = (uintptr_t)arguments->bases[item->argument] - (uintptr_t)arguments->bases[parent];
  uintptr_t device = (uintptr_t)work->words[word] + place;
  item->value = map_entry_device(item->entry, item->host);
  const map_private_t *privates = work->privates;
  uint64_t at = privates ? device - (uintptr_t)privates->memory : 0;
  if (privates && privates->packed >= sizeof(void *) && at <= privates->packed - sizeof(void *)) {
    memcpy(privates->copy + at, &item->value, sizeof(void *));
    return MAP_OK;
  }
  if (!map_work_submit_to(work, device, &item->value, sizeof(void *)))
    return MAP_OK;
  return map_work_fail(work, item, "a lambda's pointer could not be written on the device");
}

map_status_t map_work_fill_privates(map_work_t *work, const map_arguments_t *arguments) {
  map_status_t status = MAP_OK;
  if (work->todo & MAP_ITEM_PRIVATE) {
    work->privates = calloc(1, sizeof *work->privates);
    if (!work->privates)
      return map_fail_memory(work->table, "private data");
    status = allocate(work, work->privates);
    for (uint32_t i = 0; i < work->item_count && !status; i++)
      if (work->items[i].flags & MAP_ITEM_PRIVATE)
        status = fill(work, work->privates, &work->items[i]);
  }
  for (uint32_t i = 0; i < work->item_count && !status; i++)
    if (work->items[i].flags & MAP_ITEM_LAMBDA)
      status = fill_lambda(work, arguments, &work->items[i]);
  const map_private_t *privates = work->privates;
  if (privates && privates->packed && !status &&
      map_work_submit_to(work, (uintptr_t)privates->memory, privates->copy, privates->packed))
    return map_work_fail(work, first_private(work), "a copy of firstprivate data to the device has failed");
  return status;
}

void map_privates_free(map_work_t *work) {
  map_private_t *privates = work->privates;
  const map_configuration_t *configuration = &work->table->configuration;
  if (!privates)
    return;
  work->privates = NULL;
  if (privates->memory)
    (void)configuration->functions->release(configuration->device, privates->memory);
  free(privates->copy);
  free(privates);
}
