/* Compares the decoder with llvm-objdump over whole device images:
 *
 *   decode_compare FILE...
 *
 * A file is a code object, or anything that contains some (an offload executable, a library). Every
 * instruction that llvm-objdump shows must decode to the same text and size. Prints a line per image. Fails
 * when something differs, when a file has no image, and when an image has no instruction. Images of other
 * parts than gfxsim's are named and left out.
 *
 * Not here: encodings that no compiler makes (test_decode.c). */
#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/inst.h"
#include "llvm.h"

#ifndef ISA_LLVM_OBJDUMP
#define ISA_LLVM_OBJDUMP "llvm-objdump-16"
#endif
#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

enum { TEXT_BYTES = 256, LINE_BYTES = 4096, MISMATCHES_SHOWN = 20, MOST_WORDS = 3, EF_AMDGPU_MACH = 0xff };

/* EF_AMDGPU_MACH_AMDGCN_* of the ELF flags. */
static const struct {
  uint32_t mach;
  gs_target_t target;
} machs[] = {
    {0x2c, GS_GFX900},      {0x2f, GS_GFX906},     {0x30, GS_GFX908},      {0x3f, GS_GFX90A},
    {0x4c, GS_GFX942},      {0x4f, GS_GFX950},     {0x36, GS_GFX1030_W32}, /* what compilers make unless they
                                                                              are told otherwise */
    {0x41, GS_GFX1100_W32}, {0x4a, GS_GFX1151_W32}};
_Static_assert(sizeof machs / sizeof *machs == GS_TARGET_COUNT - 3,
               "a row for each target, one for both widths of a wave");

typedef struct result {
  unsigned long instructions, differences;
} result_t;

/* ---- One image ---- */

/* An instruction in llvm-objdump's words: text, and behind "//" the address, the encoding, and a branch's
 * target. */
typedef struct shown {
  char text[TEXT_BYTES];
  uint32_t words[MOST_WORDS];
  size_t count;
} shown_t;

static bool parse_line(const char *line, shown_t *shown) {
  const char *comment = strstr(line, "// ");
  uint64_t address = 0;
  int used = 0;
  if (line[0] != '\t' || !comment || sscanf(comment, "// %" SCNx64 ":%n", &address, &used) != 1 || used == 0)
    return false;
  const char *end = comment;
  while (end > line + 1 && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  (void)snprintf(shown->text, sizeof shown->text, "%.*s", (int)(end - line - 1), line + 1);
  const char *p = comment + used;
  shown->count = 0;
  while (shown->count < MOST_WORDS && sscanf(p, " %8" SCNx32 "%n", &shown->words[shown->count], &used) == 1) {
    shown->count++;
    p += used;
  }
  return shown->count > 0;
}

static void compare_line(gs_target_t target, const shown_t *shown, const char *line, result_t *result) {
  gs_inst_t inst;
  char text[TEXT_BYTES] = "";
  const bool known = gs_decode(target, shown->words, shown->count, &inst);
  if (known)
    (void)gs_disassemble(target, &inst, text, sizeof text);
  result->instructions++;
  /* Padding and data in the text section. */
  if (!known && strncmp(shown->text, ".long", 5) == 0)
    return;
  if (known && strcmp(text, shown->text) == 0 && inst.size == 4 * shown->count)
    return;
  if (result->differences++ < MISMATCHES_SHOWN)
    (void)fprintf(stderr, "%s: '%s' for %s", gs_target_name(target), text, line);
}

static bool compare_image(const char *path, gs_target_t target, result_t *result) {
  char command[LINE_BYTES], line[LINE_BYTES];
  (void)snprintf(command, sizeof command, ISA_LLVM_OBJDUMP " -d --mcpu=%s '%s'", isa_llvm_cpu(target), path);
  FILE *dump = popen(command, "r");
  if (!dump) {
    perror("popen");
    return false;
  }
  while (fgets(line, sizeof line, dump)) {
    shown_t shown;
    if (parse_line(line, &shown))
      compare_line(target, &shown, line, result);
  }
  const int status = pclose(dump);
  if (status != 0)
    (void)fprintf(stderr, "%s: status %d\n", command, status);
  return status == 0;
}

/* ---- Files ---- */

/* Size of the image that starts here, up to the end of its section headers; 0 if there is none. */
static size_t image_size(const uint8_t *data, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof header || memcmp(data, ELFMAG, SELFMAG) != 0 || data[EI_CLASS] != ELFCLASS64)
    return 0;
  memcpy(&header, data, sizeof header);
  if (header.e_machine != EM_AMDGPU || header.e_shoff > size)
    return 0;
  const size_t headers = (size_t)header.e_shnum * header.e_shentsize;
  return headers <= size - header.e_shoff ? header.e_shoff + headers : 0;
}

static bool compare_bytes(const char *name, const uint8_t *data, size_t size) {
  Elf64_Ehdr header;
  gs_target_t target = GS_GFX900;
  bool known = false;
  memcpy(&header, data, sizeof header);
  for (size_t i = 0; i < sizeof machs / sizeof *machs; i++)
    if (machs[i].mach == (header.e_flags & EF_AMDGPU_MACH)) {
      target = machs[i].target;
      known = true;
    }
  if (!known) {
    (void)printf("%s: image of another part (0x%x)\n", name, header.e_flags & EF_AMDGPU_MACH);
    return true;
  }
  char path[] = "/tmp/gfxsim-image-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
    perror(path);
    return false;
  }
  result_t result = {0, 0};
  const bool ran = compare_image(path, target, &result);
  (void)close(fd);
  (void)unlink(path);
  (void)printf("%s: %s: %lu instructions, %lu differ\n", name, gs_target_name(target), result.instructions,
               result.differences);
  return ran && result.differences == 0 && result.instructions > 0;
}

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    perror(path);
    if (f)
      (void)fclose(f);
    return NULL;
  }
  const long length = ftell(f);
  *size = length > 0 ? (size_t)length : 0;
  rewind(f);
  uint8_t *data = malloc(*size + 1);
  if (data && fread(data, 1, *size, f) != *size) {
    perror(path);
    free(data);
    data = NULL;
  }
  (void)fclose(f);
  return data;
}

static bool compare_file(const char *path) {
  size_t size = 0, images = 0;
  bool good = true;
  uint8_t *data = read_file(path, &size);
  if (!data)
    return false;
  for (size_t at = 0; at + SELFMAG <= size;) {
    const size_t length = image_size(data + at, size - at);
    if (length) {
      images++;
      good = compare_bytes(path, data + at, length) && good;
    }
    at += length ? length : 1;
  }
  free(data);
  if (images == 0)
    (void)fprintf(stderr, "%s: no device image\n", path);
  return good && images > 0;
}

int main(int argc, char **argv) {
  int failures = argc < 2;
  if (argc < 2)
    (void)fprintf(stderr, "usage: %s FILE...\n", argv[0]);
  for (int i = 1; i < argc; i++)
    failures += !compare_file(argv[i]);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
