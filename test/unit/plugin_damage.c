/* Images with a few wrong bytes in what describes them: headers, symbols, notes, relocations. Each is
 * refused, or loaded where the change does not matter; none makes the process crash. Run as "plugin_damage
 * FIRST COUNT PLUGIN IMAGE OTHER_IMAGE": images number FIRST to FIRST + COUNT - 1, each always the same. */
#include "plugin_driver.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state_of_random;
static long first, count;

/* SplitMix64. */
static uint64_t random_bits(void) {
  uint64_t z = state_of_random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

typedef struct range {
  size_t offset, bytes;
} range_t;

/* The parts of the file that are not code or data. */
static size_t find_ranges(const char *elf, range_t *ranges, size_t most) {
  Elf64_Ehdr header;
  size_t found = 0;
  memcpy(&header, elf, sizeof header);
  ranges[found++] = (range_t){0, sizeof header};
  ranges[found++] = (range_t){header.e_phoff, (size_t)header.e_phnum * header.e_phentsize};
  ranges[found++] = (range_t){header.e_shoff, (size_t)header.e_shnum * header.e_shentsize};
  for (size_t i = 0; i < header.e_shnum && found < most; i++) {
    Elf64_Shdr section;
    memcpy(&section, elf + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_size && section.sh_type != SHT_NOBITS && section.sh_type != SHT_PROGBITS)
      ranges[found++] = (range_t){section.sh_offset, section.sh_size};
  }
  return found;
}

/* Values that bounds are often wrong about. */
static void damage(char *copy, const range_t *range) {
  static const uint64_t values[] = {0,         1,          0x7fffffff, 0x80000000, 0xffffffff,
                                    INT64_MAX, UINT64_MAX, 0x1000,     1 << 20};
  uint64_t kind = random_bits();
  size_t at = range->offset + random_bits() % range->bytes, left = range->offset + range->bytes - at;
  if (kind % 3 == 0) {
    copy[at] = (char)(copy[at] ^ 1 << random_bits() % 8);
  } else if (kind % 3 == 1) {
    copy[at] = (char)random_bits();
  } else {
    size_t width = kind & 8 ? 8 : 4;
    at -= at % width;
    memcpy(copy + at, &values[(kind >> 8) % (sizeof values / sizeof *values)], width < left ? width : left);
  }
}

static void none_makes_the_process_crash(void **state) {
  (void)state;
  size_t bytes = (size_t)((char *)given.image.ImageEnd - (char *)given.image.ImageStart);
  range_t ranges[64];
  size_t range_count = find_ranges(given.image.ImageStart, ranges, 64);
  char *copy = malloc(bytes);
  assert_non_null(copy);
  long loaded = 0, refused = 0;
  int saved = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
  for (long number = first; number < first + count; number++) {
    state_of_random = (uint64_t)number;
    memcpy(copy, given.image.ImageStart, bytes);
    for (uint64_t i = random_bits() % 4; i < 4; i++)
      damage(copy, &ranges[random_bits() % range_count]);
    __tgt_offload_entry entries[ENTRY_COUNT];
    memcpy(entries, given.entries, sizeof entries);
    __tgt_device_image image = {copy, copy + bytes, entries, entries + ENTRY_COUNT};
    __tgt_bin_desc library = {1, &image, entries, entries + ENTRY_COUNT};
    if (getenv("PLUGIN_DAMAGE_SHOW"))
      dprintf(saved, "image %ld\n", number);
    dup2(nothing, STDERR_FILENO);
    rtl.register_lib(&library);
    if (rtl.is_valid_binary(&image) && load_table(0, &image))
      loaded++;
    else
      refused++;
    rtl.unregister_lib(&library);
    dup2(saved, STDERR_FILENO);
  }
  close(saved);
  close(nothing);
  free(copy);
  printf("%ld refused, %ld loaded\n", refused, loaded);
  /* What was right before is right still. */
  void *out = allocate(100 * sizeof(double));
  __tgt_async_info queue = {NULL};
  assert_int_equal(launch_spmd(100, out, 0, &queue), OFFLOAD_SUCCESS);
  assert_int_equal(rtl.synchronize(0, &queue), OFFLOAD_SUCCESS);
  release(out);
  assert_true(count < 100 || (refused > 0 && loaded > 0));
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: %s FIRST COUNT PLUGIN IMAGE OTHER_IMAGE\n", argv[0]);
    return 2;
  }
  first = strtol(argv[1], NULL, 10);
  count = strtol(argv[2], NULL, 10);
  argv[2] = argv[0];
  if (!take_arguments(argc - 2, argv + 2))
    return 2;
  const struct CMUnitTest tests[] = {cmocka_unit_test(none_makes_the_process_crash)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
