/* What the plugin's unit tests share. */
#include "plugin_test.h"

#include "image/elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int saved_stderr = -1;
static FILE *captured;

void test_capture_begin(void) {
  fflush(stderr);
  captured = tmpfile();
  saved_stderr = dup(STDERR_FILENO);
  assert_true(captured && saved_stderr >= 0);
  assert_true(dup2(fileno(captured), STDERR_FILENO) >= 0);
}

void test_capture_end(char *text, size_t bytes) {
  fflush(stderr);
  assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
  close(saved_stderr);
  rewind(captured);
  size_t length = fread(text, 1, bytes - 1, captured);
  text[length] = 0;
  fclose(captured);
}

void *test_read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  assert_true(length > 0);
  rewind(file);
  char *content = malloc((size_t)length);
  assert_non_null(content);
  assert_int_equal(fread(content, 1, (size_t)length, file), length);
  fclose(file);
  *bytes = (size_t)length;
  return content;
}

const void *test_find_image(const void *file, size_t bytes, size_t *image_bytes) {
  const char *begin = file;
  for (size_t at = 0; at < bytes; at++) {
    atmi_elf_identity_t identity;
    if (!atmi_elf_identify(begin + at, bytes - at, &identity) || identity.machine != 224)
      continue;
    *image_bytes = bytes - at;
    return begin + at;
  }
  fail_msg("no AMDGPU image in the file");
  return NULL;
}

void test_fill_section(void *file, size_t bytes, const char *name, unsigned char value) {
  char *begin = file;
  Elf64_Ehdr head;
  assert_true(bytes >= sizeof head);
  memcpy(&head, begin, sizeof head);
  assert_true(head.e_shoff + (uint64_t)head.e_shnum * sizeof(Elf64_Shdr) <= bytes);
  Elf64_Shdr names, section;
  memcpy(&names, begin + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
  for (unsigned i = 0; i < head.e_shnum; i++) {
    memcpy(&section, begin + head.e_shoff + i * sizeof section, sizeof section);
    if (strcmp(begin + names.sh_offset + section.sh_name, name) != 0)
      continue;
    assert_true(section.sh_offset + section.sh_size <= bytes);
    memset(begin + section.sh_offset, value, section.sh_size);
    return;
  }
  fail_msg("no section %s in the file", name);
}
