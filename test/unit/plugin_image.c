/* Real device images: identity, metadata, symbols and execution modes. Run as "plugin_image VERSION ABI
 * FILE": the compiler's version, the code object version, and a program or object that has one image. */
#include "plugin_test.h"

#include "image/metadata.h"
#include "image/target_id.h"
#include "openmp/device_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_AMDGPU_METADATA = 32 };

static struct {
  int compiler, code_object;
  void *file;
  const void *image;
  size_t bytes;
  atmi_elf_t *elf;
  const void *note;
  size_t note_bytes;
  atmi_metadata_t metadata;
} given;

static void is_identified(void **state) {
  (void)state;
  atmi_elf_identity_t identity;
  atmi_target_id_t id;
  assert_true(atmi_elf_identify(given.image, given.bytes, &identity));
  assert_int_equal(identity.machine, 224);
  assert_int_equal(identity.abi_version, given.code_object - 2);
  assert_int_equal(atmi_target_id_from_elf(&identity, &id), ATMI_OK);
  assert_string_equal(id.processor, "gfx906");
}

/* The one kernel whose name contains `part`. */
static const atmi_kernel_metadata_t *kernel_of(const char *part) {
  for (uint32_t i = 0; i < given.metadata.kernel_count; i++)
    if (strstr(given.metadata.kernels[i].name, part))
      return &given.metadata.kernels[i];
  fail_msg("no kernel %s", part);
  return NULL;
}

static void has_kernels_with_sane_needs(void **state) {
  (void)state;
  assert_int_equal(given.metadata.version_major, 1);
  assert_int_equal(given.metadata.version_minor, given.code_object - 3);
  for (uint32_t i = 0; i < given.metadata.kernel_count; i++) {
    const atmi_kernel_metadata_t *kernel = &given.metadata.kernels[i];
    char symbol[512];
    snprintf(symbol, sizeof symbol, "%s.kd", kernel->name);
    assert_string_equal(kernel->symbol, symbol);
    assert_int_equal(kernel->wavefront, 64);
    assert_in_range(kernel->max_group, 1, 1024);
    assert_in_range(kernel->sgpr_count, 1, 108);
    assert_in_range(kernel->vgpr_count, 1, 256);
    assert_true(kernel->kernarg_bytes >= kernel->explicit_bytes);
    assert_ptr_equal(atmi_metadata_find(&given.metadata, kernel->name), kernel);
  }
  assert_null(atmi_metadata_find(&given.metadata, "no such kernel"));
  assert_null(atmi_metadata_find(&given.metadata, ""));
}

static void has_the_program_s_kernels(void **state) {
  (void)state;
  static const struct {
    const char *function;
    uint32_t arguments;
  } kernels[] = {{"generic_kernel", 2},
                 {"spmd_kernel", 2},
                 {"no_arguments", 0},
                 {"trap_kernel", 1},
                 {"store_kernel", 1}};
  enum { KERNELS = sizeof kernels / sizeof *kernels };
  assert_int_equal(given.metadata.kernel_count, KERNELS);
  for (size_t i = 0; i < KERNELS; i++) {
    const atmi_kernel_metadata_t *kernel = kernel_of(kernels[i].function);
    assert_int_equal(kernel->explicit_count, kernels[i].arguments);
    assert_int_equal(kernel->explicit_bytes, 8 * kernels[i].arguments);
    /* The hidden area of v4, where the compiler thinks that the kernel may use it. */
    if (kernel->kernarg_bytes != kernel->explicit_bytes)
      assert_int_equal(kernel->kernarg_bytes, kernel->explicit_bytes + 56);
    assert_int_equal(kernel->hidden_count, 0); /* all of v4's are served by zero */
  }
}

static void says_how_kernels_execute(void **state) {
  (void)state;
  atmi_device_abi_t abi = atmi_device_abi_detect(given.elf);
  assert_int_equal(abi.clang13, given.compiler == 13);
  assert_false(abi.shares_buffer); /* no kernel of it reduces over teams */
  atmi_device_abi_kernel_t kernel;
  assert_true(atmi_device_abi_describe(&abi, given.elf, kernel_of("spmd_kernel")->name, &kernel));
  assert_int_equal(kernel.mode, ATMI_MODE_SPMD);
  assert_true(atmi_device_abi_describe(&abi, given.elf, kernel_of("generic_kernel")->name, &kernel));
  assert_true(kernel.mode == ATMI_MODE_GENERIC || kernel.mode == ATMI_MODE_GENERIC_SPMD);
  assert_true(atmi_device_abi_describe(&abi, given.elf, "no such kernel", &kernel));
  assert_int_equal(kernel.mode, ATMI_MODE_SPMD);
}

static void finds_symbols(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint64_t bytes;
    bool in_file;
  } symbols[] = {{"exported", 4, true}, {"array", 800, false}, {"linked_decl_tgt_ref_ptr", 8, false}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    atmi_elf_symbol_t symbol;
    assert_true(atmi_elf_find_symbol(given.elf, symbols[i].name, &symbol));
    assert_int_equal(symbol.bytes, symbols[i].bytes);
    assert_true(symbol.value != 0);
    if (symbols[i].in_file) {
      assert_non_null(symbol.content);
      assert_int_equal(*(const int *)symbol.content, 3);
    }
    /* Only clang 13 hides declare target variables; they are in .symtab all the same. */
    if (given.compiler > 13)
      assert_false(symbol.local);
  }
  atmi_elf_symbol_t symbol;
  assert_false(atmi_elf_find_symbol(given.elf, "no such symbol", &symbol));
  assert_false(atmi_elf_find_symbol(given.elf, "", &symbol));
  assert_false(atmi_elf_find_symbol(given.elf, "__omp_offloading_", &symbol));
}

static void walks_exported_symbols(void **state) {
  (void)state;
  size_t count = 0;
  bool saw_descriptor = false;
  atmi_elf_symbol_t symbol;
  for (const char *name = NULL; (name = atmi_elf_next_exported(given.elf, name, &symbol)); count++) {
    assert_false(symbol.local);
    size_t length = strlen(name);
    saw_descriptor = saw_descriptor || (length > 3 && !strcmp(name + length - 3, ".kd"));
    assert_true(count < 100000);
  }
  assert_true(count > 0 && saw_descriptor);
}

/* Fails with a message and leaves nothing allocated (a sanitizer watches) for every prefix of real metadata.
 */
static void refuses_every_truncation_of_metadata(void **state) {
  (void)state;
  char text[1 << 12];
  for (size_t length = 0; length < given.note_bytes; length++) {
    char *copy = malloc(length + !length);
    assert_non_null(copy);
    memcpy(copy, given.note, length);
    atmi_metadata_t metadata;
    test_capture_begin();
    atmi_status_t status = atmi_metadata_parse(copy, length, "device 0 (gfx906)", &metadata);
    test_capture_end(text, sizeof text);
    assert_int_equal(status, ATMI_CORRUPT);
    assert_non_null(strstr(text, "device 0 (gfx906): cannot read the metadata"));
    assert_null(metadata.kernels);
    free(copy);
  }
}

/* An image cut short or with any byte of its headers damaged is refused or read, but never read beyond its
 * end. */
static void survives_damaged_images(void **state) {
  (void)state;
  char text[1 << 12];
  uint32_t seed = 1;
  for (int round = 0; round < 300; round++) {
    seed = seed * 1664525 + 1013904223;
    size_t length = round % 3 ? given.bytes : 64 + seed % (given.bytes - 64);
    unsigned char *copy = malloc(length);
    assert_non_null(copy);
    memcpy(copy, given.image, length);
    for (int i = 0; i < 1 + round % 8; i++) {
      seed = seed * 1664525 + 1013904223;
      size_t reach = round % 2 || length < 516 ? length : 516; /* anywhere, or in the headers */
      copy[16 + (seed >> 8) % (reach - 16)] ^= (unsigned char)(seed >> 3);
    }
    const void *note;
    size_t note_bytes;
    atmi_elf_t *elf = NULL;
    atmi_elf_symbol_t symbol;
    atmi_metadata_t metadata = {0};
    test_capture_begin();
    if (!atmi_elf_open(copy, length, "test", &elf)) {
      if (atmi_elf_find_symbol(elf, "exported", &symbol) && symbol.content)
        assert_in_range((uintptr_t)symbol.content, (uintptr_t)copy, (uintptr_t)copy + length - symbol.bytes);
      if (atmi_elf_find_note(elf, "AMDGPU", NOTE_AMDGPU_METADATA, 0, &note, &note_bytes) &&
          !atmi_metadata_parse(note, note_bytes, "test", &metadata))
        atmi_metadata_fini(&metadata);
      atmi_elf_close(elf);
    }
    test_capture_end(text, sizeof text);
    free(copy);
  }
}

/* Kernels of a plain OpenCL object, built as code object v5, which no linker here knows. */
static void has_hidden_arguments_of_v5(void **state) {
  (void)state;
  const atmi_kernel_metadata_t *kernel = kernel_of("fill");
  assert_int_equal(kernel->explicit_count, 2);
  assert_int_equal(kernel->explicit_bytes, 12); /* a pointer and an int */
  static const struct {
    atmi_hidden_kind_t kind;
    uint32_t offset, bytes; /* behind the explicit arguments, aligned to 8 */
  } expected[] = {
      {ATMI_HIDDEN_BLOCK_COUNT_X, 0, 4},
      {ATMI_HIDDEN_GROUP_SIZE_X, 12, 2},
      {ATMI_HIDDEN_REMAINDER_X, 18, 2},
      {ATMI_HIDDEN_GRID_DIMS, 64, 2},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    bool found = false;
    for (uint32_t j = 0; j < kernel->hidden_count; j++) {
      const atmi_hidden_t *hidden = &kernel->hidden[j];
      found = found || (hidden->kind == expected[i].kind && hidden->offset == 16 + expected[i].offset &&
                        hidden->bytes == expected[i].bytes);
    }
    if (!found)
      fail_msg("hidden argument %d is not at %u", (int)expected[i].kind, 16 + expected[i].offset);
  }
  assert_true(kernel->kernarg_bytes >= 16 + 66);
  assert_true(kernel_of("dynamic_stack")->dynamic_stack);
  assert_false(kernel->dynamic_stack);
}

static int set_up(void **state) {
  (void)state;
  return atmi_elf_open(given.image, given.bytes, "test", &given.elf) ||
         !atmi_elf_find_note(given.elf, "AMDGPU", NOTE_AMDGPU_METADATA, 0, &given.note, &given.note_bytes) ||
         atmi_metadata_parse(given.note, given.note_bytes, "test", &given.metadata);
}

static int tear_down(void **state) {
  (void)state;
  atmi_metadata_fini(&given.metadata);
  atmi_elf_close(given.elf);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: %s COMPILER CODE_OBJECT FILE\n", arguments[0]);
    return 2;
  }
  size_t bytes;
  given.compiler = atoi(arguments[1]);
  given.code_object = atoi(arguments[2]);
  given.file = test_read_file(arguments[3], &bytes);
  given.image = test_find_image(given.file, bytes, &given.bytes);
  const struct CMUnitTest program_tests[] = {
      cmocka_unit_test(is_identified),
      cmocka_unit_test(has_kernels_with_sane_needs),
      cmocka_unit_test(has_the_program_s_kernels),
      cmocka_unit_test(says_how_kernels_execute),
      cmocka_unit_test(finds_symbols),
      cmocka_unit_test(walks_exported_symbols),
      cmocka_unit_test(refuses_every_truncation_of_metadata),
      cmocka_unit_test(survives_damaged_images),
  };
  const struct CMUnitTest object_tests[] = {
      cmocka_unit_test(is_identified),
      cmocka_unit_test(has_kernels_with_sane_needs),
      cmocka_unit_test(has_hidden_arguments_of_v5),
      cmocka_unit_test(refuses_every_truncation_of_metadata),
      cmocka_unit_test(survives_damaged_images),
  };
  int failed = given.code_object == 5 ? cmocka_run_group_tests(object_tests, set_up, tear_down)
                                      : cmocka_run_group_tests(program_tests, set_up, tear_down);
  free(given.file);
  return failed;
}
