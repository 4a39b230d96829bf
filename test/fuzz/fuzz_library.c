/* Fuzz target: what a program registers with the host runtime: descriptor, list of images, table of entries
 * of either layout, with addresses that may be wrong; and the version of clang in an image. Not here: the
 * rest of images (fuzz_image). */
#include "fuzz.h"

#include "device.h"
#include "library.h"

#include "base/process_memory.h"

#include <elf.h>
#include <string.h>

enum { BYTES = 4096, ENTRIES_AT = 128, NAME_AT = 1024, IMAGE_AT = 2048 };

/* Where inputs lie, so that addresses in them may be right. */
static _Alignas(16) char memory[BYTES];

static size_t describe(size_t entry_bytes, size_t count) {
  tgt_image_t image = {memory + IMAGE_AT, memory + BYTES, NULL, NULL};
  tgt_descriptor_t descriptor = {1, (tgt_image_t *)(void *)(memory + sizeof descriptor), memory + ENTRIES_AT,
                                 memory + ENTRIES_AT + count * entry_bytes};
  memcpy(memory, &descriptor, sizeof descriptor);
  memcpy(memory + sizeof descriptor, &image, sizeof image);
  memcpy(memory + NAME_AT, "name", sizeof "name");
  return sizeof memory;
}

/* An ELF file with nothing in it but who built it. */
static void add_image(void) {
  static const char text[] = "\0.comment\0clang version 18.1.8";
  enum { TEXT_AT = 512 };
  Elf64_Ehdr header = {.e_ident = ELFMAG "\2\1\1",
                       .e_machine = 224,
                       .e_version = 1,
                       .e_ehsize = sizeof header,
                       .e_shoff = sizeof header,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = 2};
  Elf64_Shdr sections[] = {
      {.sh_type = SHT_STRTAB, .sh_offset = TEXT_AT, .sh_size = sizeof text},
      {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = TEXT_AT + 10, .sh_size = sizeof text - 10}};
  memcpy(memory + IMAGE_AT, &header, sizeof header);
  memcpy(memory + IMAGE_AT + sizeof header, sections, sizeof sections);
  memcpy(memory + IMAGE_AT + TEXT_AT, text, sizeof text);
}

/* Both layouts. */
size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  char *name = memory + NAME_AT;
  const tgt_entry13_t old[] = {
      {&memory, name, 0, 0, 0}, {memory + 8, name, 64, 1, 0}, {NULL, name, 0, 16, 8}};
  const tgt_entry21_t new[] = {{0, 1, 1, 0, &memory, name, 0, 0, NULL},
                               {0, 1, 2, 0, &memory, name, 0, 0, NULL},
                               {0, 1, 1, 16, NULL, name, 0, 8, NULL}};
  tgt_library_t *library = NULL;
  tgt_requires_t requires;
  if (number > 1 || capacity < BYTES)
    return 0;
  memset(memory, 0, sizeof memory);
  memcpy(memory + ENTRIES_AT, number ? (const void *)new : old, number ? sizeof new : sizeof old);
  (void)describe(number ? sizeof *new : sizeof *old, 3);
  add_image();
  FUZZ_CHECK(!tgt_library_create((const tgt_descriptor_t *)(void *)memory, &requires, &library));
  FUZZ_CHECK(library->entry_count == (number ? 1 : 2) && requires.first == 8);
  FUZZ_CHECK(tgt_device_library_version(library) == 18);
  tgt_library_destroy(library);
  memcpy(data, memory, BYTES);
  return BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tgt_library_t *library = NULL;
  tgt_requires_t requires;
  memset(memory, 0, sizeof memory);
  memcpy(memory, data, size < BYTES ? size : BYTES);
  if (tgt_library_create((const tgt_descriptor_t *)(void *)memory, &requires, &library) != ATMI_OK)
    return 0;
  for (uint32_t i = 0; i < library->entry_count; i++)
    FUZZ_CHECK(library->entries[i].address && atmi_process_memory_is_text(library->entries[i].name));
  for (uint32_t i = 0; i < library->image_count; i++) {
    const char *begin = library->images[i].begin, *end = library->images[i].end;
    FUZZ_CHECK(end > begin && atmi_process_memory_is_readable(begin, (uint64_t)(end - begin)));
  }
  (void)tgt_device_library_version(library);
  tgt_library_destroy(library);
  return 0;
}
