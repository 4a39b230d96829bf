/* Metadata of kernels: msgpack maps into structs, by one table of keys per map. */
#include "image/metadata.h"

#include "image/msgpack.h"

#include <stdlib.h>
#include <string.h>

/* Each hidden argument whose value is not simply zero. */
static const struct {
  char value_kind[24];
  atmi_hidden_kind_t kind;
} hidden_kinds[] = {
    {"hidden_block_count_x", ATMI_HIDDEN_BLOCK_COUNT_X},
    {"hidden_block_count_y", ATMI_HIDDEN_BLOCK_COUNT_Y},
    {"hidden_block_count_z", ATMI_HIDDEN_BLOCK_COUNT_Z},
    {"hidden_group_size_x", ATMI_HIDDEN_GROUP_SIZE_X},
    {"hidden_group_size_y", ATMI_HIDDEN_GROUP_SIZE_Y},
    {"hidden_group_size_z", ATMI_HIDDEN_GROUP_SIZE_Z},
    {"hidden_remainder_x", ATMI_HIDDEN_REMAINDER_X},
    {"hidden_remainder_y", ATMI_HIDDEN_REMAINDER_Y},
    {"hidden_remainder_z", ATMI_HIDDEN_REMAINDER_Z},
    {"hidden_grid_dims", ATMI_HIDDEN_GRID_DIMS},
    {"hidden_dynamic_lds_size", ATMI_HIDDEN_DYNAMIC_LDS_SIZE},
    {"hidden_private_base", ATMI_HIDDEN_PRIVATE_BASE},
    {"hidden_shared_base", ATMI_HIDDEN_SHARED_BASE},
    {"hidden_queue_ptr", ATMI_HIDDEN_QUEUE_PTR},
};

/* Keys of a kernel's map that are plain numbers. */
static const struct {
  char key[28];
  uint32_t field;
} numbers[] = {
#define NUMBER(key, field)                                                                                   \
  { key, offsetof(atmi_kernel_metadata_t, field) }
    NUMBER(".kernarg_segment_size", kernarg_bytes),
    NUMBER(".group_segment_fixed_size", group_bytes),
    NUMBER(".private_segment_fixed_size", private_bytes),
    NUMBER(".wavefront_size", wavefront),
    NUMBER(".max_flat_workgroup_size", max_group),
    NUMBER(".sgpr_count", sgpr_count),
    NUMBER(".vgpr_count", vgpr_count),
    NUMBER(".agpr_count", agpr_count),
    NUMBER(".sgpr_spill_count", sgpr_spill_count),
    NUMBER(".vgpr_spill_count", vgpr_spill_count),
#undef NUMBER
};

static atmi_status_t read_uint32(atmi_msgpack_t *reader, uint32_t *value) {
  atmi_msgpack_item_t item;
  atmi_status_t status = atmi_msgpack_next(reader, &item);
  if (!status && (item.type != ATMI_MSGPACK_UINT || item.value.uint > UINT32_MAX))
    status = ATMI_CORRUPT;
  if (!status)
    *value = (uint32_t)item.value.uint;
  return status;
}

static atmi_status_t read_container(atmi_msgpack_t *reader, atmi_msgpack_type_t type, uint32_t *count) {
  atmi_msgpack_item_t item;
  atmi_status_t status = atmi_msgpack_next(reader, &item);
  if (!status && item.type != type)
    status = ATMI_CORRUPT;
  if (!status)
    *count = item.count;
  return status;
}

static atmi_status_t read_string(atmi_msgpack_t *reader, char **text) {
  atmi_msgpack_item_t item;
  atmi_status_t status = atmi_msgpack_next(reader, &item);
  if (!status && (item.type != ATMI_MSGPACK_STRING || *text || memchr(item.bytes, 0, item.count)))
    status = ATMI_CORRUPT;
  if (status)
    return status;
  *text = strndup((const char *)item.bytes, item.count);
  return *text ? ATMI_OK : ATMI_NO_MEMORY;
}

/* Adds an argument to the kernel: explicit ones are counted, hidden ones kept if zero does not serve them. */
static atmi_status_t add_argument(atmi_kernel_metadata_t *kernel, const atmi_msgpack_item_t *value_kind,
                                  uint32_t offset, uint32_t bytes) {
  if (offset > UINT16_MAX || bytes > UINT16_MAX)
    return ATMI_CORRUPT;
  bool hidden = value_kind->count > 7 && !memcmp(value_kind->bytes, "hidden_", 7);
  if (!hidden) {
    kernel->explicit_count++;
    if (offset + bytes > kernel->explicit_bytes)
      kernel->explicit_bytes = offset + bytes;
    return ATMI_OK;
  }
  if (atmi_msgpack_is(value_kind, "hidden_hostcall_buffer") && bytes == sizeof(uint64_t))
    kernel->hostcall_offset = offset;
  if (atmi_msgpack_is(value_kind, "hidden_heap_v1") && bytes == sizeof(uint64_t))
    kernel->heap_offset = offset;
  for (size_t i = 0; i < sizeof hidden_kinds / sizeof *hidden_kinds; i++) {
    if (!atmi_msgpack_is(value_kind, hidden_kinds[i].value_kind))
      continue;
    if (kernel->hidden_count == ATMI_HIDDEN_MAX || (bytes != 2 && bytes != 4 && bytes != 8))
      return ATMI_CORRUPT;
    kernel->hidden[kernel->hidden_count++] = (atmi_hidden_t){
        .offset = (uint16_t)offset, .bytes = (uint8_t)bytes, .kind = (uint8_t)hidden_kinds[i].kind};
    break;
  }
  return ATMI_OK;
}

static atmi_status_t read_argument(atmi_msgpack_t *reader, atmi_kernel_metadata_t *kernel) {
  uint32_t pairs, offset = 0, bytes = 0;
  atmi_msgpack_item_t key, value_kind = {.type = ATMI_MSGPACK_NIL};
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_MAP, &pairs);
  for (uint32_t i = 0; !status && i < pairs; i++) {
    if ((status = atmi_msgpack_next(reader, &key)))
      break;
    if (atmi_msgpack_is(&key, ".offset"))
      status = read_uint32(reader, &offset);
    else if (atmi_msgpack_is(&key, ".size"))
      status = read_uint32(reader, &bytes);
    else if (atmi_msgpack_is(&key, ".value_kind"))
      status = atmi_msgpack_next(reader, &value_kind);
    else
      status = atmi_msgpack_skip(reader);
  }
  if (status)
    return status;
  if (value_kind.type != ATMI_MSGPACK_STRING)
    return ATMI_CORRUPT;
  return add_argument(kernel, &value_kind, offset, bytes);
}

static atmi_status_t read_arguments(atmi_msgpack_t *reader, atmi_kernel_metadata_t *kernel) {
  uint32_t count;
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_ARRAY, &count);
  for (uint32_t i = 0; !status && i < count; i++)
    status = read_argument(reader, kernel);
  return status;
}

static atmi_status_t read_dynamic_stack(atmi_msgpack_t *reader, bool *dynamic) {
  atmi_msgpack_item_t item;
  atmi_status_t status = atmi_msgpack_next(reader, &item);
  if (!status && item.type == ATMI_MSGPACK_BOOL)
    *dynamic = item.value.boolean;
  else if (!status && item.type == ATMI_MSGPACK_UINT)
    *dynamic = item.value.uint != 0;
  else if (!status)
    status = ATMI_CORRUPT;
  return status;
}

static atmi_status_t read_kernel_value(atmi_msgpack_t *reader, const atmi_msgpack_item_t *key,
                                       atmi_kernel_metadata_t *kernel) {
  if (atmi_msgpack_is(key, ".name"))
    return read_string(reader, &kernel->name);
  if (atmi_msgpack_is(key, ".symbol"))
    return read_string(reader, &kernel->symbol);
  if (atmi_msgpack_is(key, ".args"))
    return read_arguments(reader, kernel);
  if (atmi_msgpack_is(key, ".uses_dynamic_stack"))
    return read_dynamic_stack(reader, &kernel->dynamic_stack);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (atmi_msgpack_is(key, numbers[i].key))
      return read_uint32(reader, (uint32_t *)(void *)((char *)kernel + numbers[i].field));
  return atmi_msgpack_skip(reader);
}

/* The argument block must hold what the arguments say, or filling it would write beyond its end; and launches
 * divide by the size of a wave. */
static bool kernel_is_sound(const atmi_kernel_metadata_t *kernel) {
  if (!kernel->name || !kernel->symbol || kernel->explicit_bytes > kernel->kernarg_bytes)
    return false;
  if (kernel->wavefront != 32 && kernel->wavefront != 64)
    return false;
  if (kernel->hostcall_offset && kernel->hostcall_offset + sizeof(uint64_t) > kernel->kernarg_bytes)
    return false;
  if (kernel->heap_offset && kernel->heap_offset + sizeof(uint64_t) > kernel->kernarg_bytes)
    return false;
  for (uint32_t i = 0; i < kernel->hidden_count; i++)
    if ((uint32_t)kernel->hidden[i].offset + kernel->hidden[i].bytes > kernel->kernarg_bytes)
      return false;
  return true;
}

static atmi_status_t read_kernel(atmi_msgpack_t *reader, atmi_kernel_metadata_t *kernel) {
  uint32_t pairs;
  atmi_msgpack_item_t key;
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_MAP, &pairs);
  for (uint32_t i = 0; !status && i < pairs; i++)
    if (!(status = atmi_msgpack_next(reader, &key)))
      status = read_kernel_value(reader, &key, kernel);
  if (!status && !kernel_is_sound(kernel))
    status = ATMI_CORRUPT;
  return status;
}

static atmi_status_t read_kernels(atmi_msgpack_t *reader, atmi_metadata_t *metadata) {
  uint32_t count;
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_ARRAY, &count);
  if (status || !count)
    return status;
  /* Every element takes a byte at least: a count beyond that is a lie, not a reason to allocate gigabytes. */
  if (count > (size_t)(reader->end - reader->at) || metadata->kernels)
    return ATMI_CORRUPT;
  metadata->kernels = calloc(count, sizeof *metadata->kernels);
  if (!metadata->kernels)
    return ATMI_NO_MEMORY;
  for (uint32_t i = 0; !status && i < count; i++) {
    metadata->kernel_count = i + 1;
    status = read_kernel(reader, &metadata->kernels[i]);
  }
  return status;
}

static atmi_status_t read_version(atmi_msgpack_t *reader, atmi_metadata_t *metadata) {
  uint32_t count;
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_ARRAY, &count);
  if (!status && count != 2)
    status = ATMI_CORRUPT;
  if (!status)
    status = read_uint32(reader, &metadata->version_major);
  if (!status)
    status = read_uint32(reader, &metadata->version_minor);
  return status;
}

static atmi_status_t read_root(atmi_msgpack_t *reader, atmi_metadata_t *metadata) {
  uint32_t pairs;
  atmi_msgpack_item_t key;
  atmi_status_t status = read_container(reader, ATMI_MSGPACK_MAP, &pairs);
  for (uint32_t i = 0; !status && i < pairs; i++) {
    if ((status = atmi_msgpack_next(reader, &key)))
      break;
    if (atmi_msgpack_is(&key, "amdhsa.kernels"))
      status = read_kernels(reader, metadata);
    else if (atmi_msgpack_is(&key, "amdhsa.version"))
      status = read_version(reader, metadata);
    else
      status = atmi_msgpack_skip(reader);
  }
  return status;
}

static int compare_names(const void *left, const void *right) {
  const atmi_kernel_metadata_t *a = left, *b = right;
  return strcmp(a->name, b->name);
}

atmi_status_t atmi_metadata_parse(const void *note, size_t bytes, const char *where,
                                  atmi_metadata_t *metadata) {
  atmi_msgpack_t reader = {note, (const uint8_t *)note + bytes};
  *metadata = (atmi_metadata_t){0};
  atmi_status_t status = read_root(&reader, metadata);
  if (status) {
    size_t at = (size_t)(reader.at - (const uint8_t *)note);
    atmi_metadata_fini(metadata);
    if (status == ATMI_NO_MEMORY)
      return atmi_fail(status, where, "cannot read the metadata of the device image: out of host memory");
    return atmi_fail(
        status, where,
        "cannot read the metadata of the device image: damaged at byte %zu of %zu; rebuild the program", at,
        bytes);
  }
  if (metadata->kernel_count)
    qsort(metadata->kernels, metadata->kernel_count, sizeof *metadata->kernels, compare_names);
  return ATMI_OK;
}

atmi_status_t atmi_metadata_add(atmi_metadata_t *whole, atmi_metadata_t *part, const char *where) {
  if (!whole->kernel_count) {
    atmi_metadata_fini(whole);
    *whole = *part;
    *part = (atmi_metadata_t){0};
    return ATMI_OK;
  }
  uint32_t count = whole->kernel_count + part->kernel_count;
  atmi_kernel_metadata_t *longer = realloc(whole->kernels, count * sizeof *longer);
  if (!longer) {
    atmi_metadata_fini(part);
    return atmi_fail(ATMI_NO_MEMORY, where,
                     "cannot read the metadata of the device image: out of host memory");
  }
  whole->kernels = longer;
  if (part->kernel_count)
    memcpy(&longer[whole->kernel_count], part->kernels, part->kernel_count * sizeof *longer);
  whole->kernel_count = count;
  qsort(whole->kernels, count, sizeof *longer, compare_names);
  free(part->kernels);
  *part = (atmi_metadata_t){0};
  return ATMI_OK;
}

void atmi_metadata_fini(atmi_metadata_t *metadata) {
  for (uint32_t i = 0; i < metadata->kernel_count; i++) {
    free(metadata->kernels[i].name);
    free(metadata->kernels[i].symbol);
  }
  free(metadata->kernels);
  *metadata = (atmi_metadata_t){0};
}

static int compare_with_name(const void *name, const void *kernel) {
  return strcmp(name, ((const atmi_kernel_metadata_t *)kernel)->name);
}

const atmi_kernel_metadata_t *atmi_metadata_find(const atmi_metadata_t *metadata, const char *name) {
  if (!metadata->kernel_count)
    return NULL;
  return bsearch(name, metadata->kernels, metadata->kernel_count, sizeof *metadata->kernels,
                 compare_with_name);
}
