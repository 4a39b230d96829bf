/* Fuzz target: what the plugin reads of a device image before anybody has checked it: ELF header, sections,
 * symbols, notes, and the metadata in MessagePack. The same bytes are also taken for a bare metadata note.
 * Not here: loading, which is ROCr's. */
#include "fuzz.h"

#include <string.h>

#include "image/elf.h"
#include "image/metadata.h"
#include "image/msgpack.h"

enum { NOTE_METADATA = 32, MOST_NOTES = 4, MOST_SYMBOLS = 1000 };

/* A note with one kernel; the first byte of each string is its length. */
/* clang-format off */
static const char note_seed[] =
    "\x82"
    "\xae" "amdhsa.version" "\x92\x01\x01"
    "\xae" "amdhsa.kernels" "\x91"
    "\x8a"
    "\xa5" ".name" "\xa1" "k"
    "\xa7" ".symbol" "\xa4" "k.kd"
    "\xb5" ".kernarg_segment_size" "\xcd\x01\x00"
    "\xb9" ".group_segment_fixed_size" "\x10"
    "\xbb" ".private_segment_fixed_size" "\x00"
    "\xaf" ".wavefront_size" "\x40"
    "\xab" ".sgpr_count" "\x10"
    "\xab" ".vgpr_count" "\xcc\x80"
    "\xb8" ".max_flat_workgroup_size" "\xce\x00\x00\x04\x00"
    "\xa5" ".args" "\x92"
    "\x83" "\xa5" ".size" "\x08" "\xa7" ".offset" "\x00" "\xab" ".value_kind" "\xad" "global_buffer"
    "\x83" "\xa5" ".size" "\x08" "\xa7" ".offset" "\x08" "\xab" ".value_kind" "\xb0" "hidden_queue_ptr";
/* clang-format on */

size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  if (number > 0 || capacity < sizeof note_seed)
    return 0;
  atmi_metadata_t metadata = {0};
  memcpy(data, note_seed, sizeof note_seed - 1);
  FUZZ_CHECK(atmi_metadata_parse(data, sizeof note_seed - 1, "fuzz", &metadata) == ATMI_OK);
  FUZZ_CHECK(metadata.kernel_count == 1 && metadata.kernels[0].explicit_bytes == 8);
  atmi_metadata_fini(&metadata);
  return sizeof note_seed - 1;
}

static void parse(const void *note, size_t size) {
  atmi_metadata_t metadata = {0};
  if (atmi_metadata_parse(note, size, "fuzz", &metadata) != ATMI_OK)
    return;
  for (uint32_t i = 0; i < metadata.kernel_count; i++) {
    const atmi_kernel_metadata_t *k = &metadata.kernels[i];
    FUZZ_CHECK(k->name && k->symbol && k->hidden_count <= ATMI_HIDDEN_MAX);
    FUZZ_CHECK(atmi_metadata_find(&metadata, k->name) != NULL);
    for (uint32_t h = 0; h < k->hidden_count; h++)
      FUZZ_CHECK((uint64_t)k->hidden[h].offset + k->hidden[h].bytes <= k->kernarg_bytes);
  }
  atmi_metadata_fini(&metadata);
}

static void walk(const uint8_t *data, size_t size) {
  atmi_msgpack_t heads = {data, data + size}, whole = heads;
  atmi_msgpack_item_t item;
  while (atmi_msgpack_next(&heads, &item) == ATMI_OK) {
    FUZZ_CHECK(heads.at > data && heads.at <= heads.end);
    if (item.type == ATMI_MSGPACK_STRING && item.count > 0)
      FUZZ_CHECK(item.bytes >= data && item.count <= (size_t)(heads.end - item.bytes));
  }
  const uint8_t *before = whole.at;
  while (atmi_msgpack_skip(&whole) == ATMI_OK) {
    FUZZ_CHECK(whole.at > before && whole.at <= whole.end);
    before = whole.at;
  }
}

static void look_up(const atmi_elf_t *elf, const uint8_t *data, size_t size) {
  const void *note;
  size_t bytes;
  atmi_elf_symbol_t symbol;
  for (uint32_t i = 0; i < MOST_NOTES && atmi_elf_find_note(elf, "AMDGPU", NOTE_METADATA, i, &note, &bytes);
       i++) {
    FUZZ_CHECK((const uint8_t *)note >= data && bytes <= size - (size_t)((const uint8_t *)note - data));
    parse(note, bytes);
  }
  const char *name = NULL;
  for (unsigned i = 0; i < MOST_SYMBOLS && (name = atmi_elf_next_exported(elf, name, &symbol)) != NULL; i++) {
    FUZZ_CHECK((const uint8_t *)name >= data && (size_t)((const uint8_t *)name - data) + strlen(name) < size);
    if (symbol.content)
      FUZZ_CHECK((const uint8_t *)symbol.content >= data &&
                 symbol.bytes <= size - (size_t)((const uint8_t *)symbol.content - data));
  }
  (void)atmi_elf_find_symbol(elf, "k_nothing.kd", &symbol);
  (void)atmi_elf_has_section(elf, ".text");
  (void)atmi_elf_may_have_symbol(elf, "k_");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  atmi_elf_identity_t identity;
  atmi_elf_t *elf = NULL;
  (void)atmi_elf_check(data, size);
  if (atmi_elf_identify(data, size, &identity) && atmi_elf_open(data, size, "fuzz", &elf) == ATMI_OK) {
    look_up(elf, data, size);
    atmi_elf_close(elf);
  }
  parse(data, size);
  walk(data, size);
  return 0;
}
