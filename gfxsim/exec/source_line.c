/* ROCr keeps a list of loaded code objects for debuggers (_amdgpu_r_debug, laid out like the dynamic linker's
 * r_debug). Its names are URIs: "memory://PID#offset=0xADDRESS&size=BYTES" for images that a program loaded
 * from its memory, and "file:///PATH" for files, followed by "#offset=OFFSET&size=BYTES" when the image is a
 * part of one. */
#include "exec/source_line.h"

#include <ctype.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { IMAGE_BYTES_MAX = 1 << 30 };

/* The functions of libelf and libdw that are used. */
#define FUNCTIONS(X)                                                                                         \
  X(elf_version)                                                                                             \
  X(elf_memory)                                                                                              \
  X(elf_end)                                                                                                 \
  X(dwarf_begin_elf)                                                                                         \
  X(dwarf_end)                                                                                               \
  X(dwarf_nextcu)                                                                                            \
  X(dwarf_offdie)                                                                                            \
  X(dwarf_haspc)                                                                                             \
  X(dwarf_getsrc_die)                                                                                        \
  X(dwarf_child)                                                                                             \
  X(dwarf_siblingof)                                                                                         \
  X(dwarf_tag)                                                                                               \
  X(dwarf_attr)                                                                                              \
  X(dwarf_getlocation_addr)                                                                                  \
  X(dwarf_aggregate_size)                                                                                    \
  X(dwarf_formref_die)                                                                                       \
  X(dwarf_diename)                                                                                           \
  X(dwarf_attr_integrate)                                                                                    \
  X(dwarf_decl_line)                                                                                         \
  X(dwarf_linesrc)                                                                                           \
  X(dwarf_lineno)
typedef struct dw {
#define X(name) __typeof__(name) *name;
  FUNCTIONS(X)
#undef X
} dw_t;

static bool open_dw(dw_t *dw) {
  void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL); /* now: later it would take locks */
  if (!library)
    return false;
  bool complete = true;
  void *symbol;
#define X(name)                                                                                              \
  symbol = dlsym(library, #name);                                                                            \
  memcpy(&dw->name, &symbol, sizeof symbol);                                                                 \
  complete &= symbol != NULL;
  FUNCTIONS(X)
#undef X
  return complete; /* stays open: reports are rare, and other code may have it open too */
}

/* Where the bytes of a code object are, and the device address that its address 0 was loaded at. */
typedef struct image {
  uint64_t start, bytes; /* in this process's memory, or in the file; 0 bytes = the whole file */
  uint64_t base;
  char path[PATH_MAX]; /* of the file; empty = memory */
} image_t;

/* Only the name: who opens libraries here holds the linker's locks in another order than dlopen. */
static int find_rocr(struct dl_phdr_info *info, size_t size, void *result) {
  char *found = result;
  (void)size;
  const char *name = strrchr(info->dlpi_name, '/');
  name = name ? name + 1 : info->dlpi_name;
  if (strncmp(name, "libhsa-runtime64.so", 19) != 0)
    return 0;
  snprintf(found, PATH_MAX, "%s", info->dlpi_name);
  return 1;
}

static const struct r_debug *find_objects(void) {
  char name[PATH_MAX];
  void *rocr = dl_iterate_phdr(find_rocr, name) ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  const struct r_debug *debug = rocr ? dlsym(rocr, "_amdgpu_r_debug") : NULL;
  if (rocr)
    dlclose(rocr); /* only the reference that was added above */
  return debug;
}

/* What was found before it is needed. One for the process, as the libraries are. */
static struct {
  bool done, has_dw;
  dw_t dw;
  const struct r_debug *objects;
} prepared;

void gs_source_line_prepare(void) {
  prepared.has_dw = open_dw(&prepared.dw);
  prepared.objects = find_objects();
  prepared.done = true;
}

static bool get_dw(dw_t *dw) {
  if (!prepared.done)
    return open_dw(dw);
  *dw = prepared.dw;
  return prepared.has_dw;
}

static const struct link_map *loaded_objects(void) {
  const struct r_debug *objects = prepared.done ? prepared.objects : find_objects();
  return objects ? objects->r_map : NULL;
}

/* Undoes the %XX in a path of a URI, which ends at `end`. Returns false when it is too long. */
static bool decode_path(const char *text, const char *end, char path[PATH_MAX]) {
  size_t length = 0;
  while (text < end && length + 1 < PATH_MAX) {
    const char digits[3] = {text[1], text[1] ? text[2] : '\0', '\0'};
    const bool encoded =
        *text == '%' && isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);
    path[length++] = encoded ? (char)strtoul(digits, NULL, 16) : *text;
    text += encoded ? 3 : 1;
  }
  path[length] = '\0';
  return text >= end;
}

/* Reads a number behind `name` and goes on behind it. Returns false if they are not there, or do not fit. */
static bool read_number(const char **text, const char *name, uint64_t *number) {
  const size_t length = strlen(name);
  if (strncmp(*text, name, length) != 0 || !isdigit((unsigned char)(*text)[length]))
    return false;
  char *end;
  errno = 0;
  *number = strtoull(*text + length, &end, 0);
  *text = end;
  return errno == 0;
}

static bool parse_uri(const char *uri, image_t *image) {
  const char *part = strchr(uri, '#');
  const char *at = part;
  image->start = image->bytes = 0;
  image->path[0] = '\0';
  const bool has_part =
      part && read_number(&at, "#offset=", &image->start) && read_number(&at, "&size=", &image->bytes);
  if (part && !has_part)
    return false;
  if (strncmp(uri, "memory://", 9) == 0)
    return has_part;
  return strncmp(uri, "file://", 7) == 0 &&
         decode_path(uri + 7, part ? part : uri + strlen(uri), image->path);
}

/* The object with the highest load address that is not above `pc`. */
static bool find_image(uint64_t pc, image_t *image) {
  const struct link_map *found = NULL;
  for (const struct link_map *object = loaded_objects(); object; object = object->l_next)
    if (object->l_name && object->l_addr <= pc && (!found || object->l_addr > found->l_addr))
      found = object;
  if (!found || !parse_uri(found->l_name, image))
    return false;
  image->base = found->l_addr;
  return image->bytes <= IMAGE_BYTES_MAX;
}

/* Reads the file that the image is part of. */
static char *read_image(image_t *image) {
  char *copy = NULL;
  struct stat status;
  const int file = open(image->path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return NULL;
  if (!image->bytes && fstat(file, &status) == 0 && status.st_size <= IMAGE_BYTES_MAX)
    image->bytes = (uint64_t)status.st_size;
  if (image->bytes)
    copy = malloc(image->bytes);
  if (copy && pread(file, copy, image->bytes, (off_t)image->start) != (ssize_t)image->bytes) {
    free(copy);
    copy = NULL;
  }
  close(file);
  return copy;
}

static char *copy_image(image_t *image) {
  if (*image->path)
    return read_image(image);
  char *copy = image->bytes ? malloc(image->bytes) : NULL;
  const struct iovec to = {copy, image->bytes};
  const struct iovec from = {(void *)(uintptr_t)image->start, image->bytes};
  /* Through the kernel, which checks that the memory is still there. */
  if (copy && process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)image->bytes) {
    free(copy);
    return NULL;
  }
  return copy;
}

/* Code that compilers move or join is of line 0; what is in front of it tells more then. Returns the file. */
static const char *find_numbered(const dw_t *dw, Dwarf_Die *unit, uint64_t address, int *number) {
  enum { MOST_BACK = 256 };
  const char *file = NULL;
  *number = 0;
  for (uint64_t back = 0; back < MOST_BACK && !*number; back++) {
    Dwarf_Line *line = dw->dwarf_getsrc_die(unit, address - back);
    file = line ? dw->dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file || dw->dwarf_lineno(line, number))
      return NULL;
  }
  return file;
}

static bool find_line(const dw_t *dw, Dwarf *debug, uint64_t address, char *text, size_t size) {
  Dwarf_Off offset = 0, next;
  size_t header;
  while (dw->dwarf_nextcu(debug, offset, &next, &header, NULL, NULL, NULL) == 0) {
    Dwarf_Die unit;
    if (dw->dwarf_offdie(debug, offset + header, &unit) && dw->dwarf_haspc(&unit, address) == 1) {
      int number;
      const char *file = find_numbered(dw, &unit, address, &number);
      if (!file)
        return false;
      snprintf(text, size, "%s:%d", file, number);
      return true;
    }
    offset = next;
  }
  return false;
}

/* ---- Variables ---- */

/* What is looked for: the variable with the byte at `offset` of the frame of the code at `address`. */
typedef struct wanted {
  const dw_t *dw;
  uint64_t address;
  int64_t offset;
  char *text;
  size_t size;
} wanted_t;

enum { DEEPEST = 64 }; /* of blocks in each other: files may have anything */

/* How many bytes a variable has; 0: that is not known. */
static uint64_t size_of(const dw_t *dw, Dwarf_Die *variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Word bytes = 0;
  if (!dw->dwarf_attr_integrate(variable, DW_AT_type, &attribute) ||
      !dw->dwarf_formref_die(&attribute, &type) || dw->dwarf_aggregate_size(&type, &bytes))
    return 0;
  return bytes;
}

static bool is_wanted(const wanted_t *wanted, Dwarf_Die *die) {
  const dw_t *dw = wanted->dw;
  Dwarf_Attribute attribute;
  Dwarf_Op *operations;
  size_t count;
  if (!dw->dwarf_attr(die, DW_AT_location, &attribute) ||
      dw->dwarf_getlocation_addr(&attribute, wanted->address, &operations, &count, 1) != 1 || !count ||
      operations[0].atom != DW_OP_fbreg)
    return false;
  const int64_t from = (int64_t)operations[0].number;
  return wanted->offset >= from && (uint64_t)(wanted->offset - from) < size_of(dw, die);
}

/* In the block or function, and those in it that have the code; inner ones hide outer ones. */
static bool find_variable(const wanted_t *wanted, Dwarf_Die *block, unsigned depth) {
  const dw_t *dw = wanted->dw;
  Dwarf_Die die;
  bool found = false;
  if (depth > DEEPEST || dw->dwarf_child(block, &die))
    return false;
  do {
    const int tag = dw->dwarf_tag(&die);
    const char *name = dw->dwarf_diename(&die);
    int line = 0;
    if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && name && !found &&
        is_wanted(wanted, &die)) {
      (void)dw->dwarf_decl_line(&die, &line);
      found = true;
      if (line)
        snprintf(wanted->text, wanted->size, "`%s`, declared in line %d", name, line);
      else
        snprintf(wanted->text, wanted->size, "`%s`", name);
    }
    if (dw->dwarf_haspc(&die, wanted->address) == 1 && find_variable(wanted, &die, depth + 1))
      return true;
  } while (dw->dwarf_siblingof(&die, &die) == 0);
  return found;
}

static bool find_variable_in(const dw_t *dw, Dwarf *debug, const wanted_t *wanted) {
  Dwarf_Off offset = 0, next;
  size_t header;
  for (; dw->dwarf_nextcu(debug, offset, &next, &header, NULL, NULL, NULL) == 0; offset = next) {
    Dwarf_Die unit;
    if (dw->dwarf_offdie(debug, offset + header, &unit) && dw->dwarf_haspc(&unit, wanted->address) == 1)
      return find_variable(wanted, &unit, 0);
  }
  return false;
}

/* ---- Images ---- */

/* The line of the address, or, with `offset`, the variable there in its frame. */
static bool find_in_image(image_t *image, uint64_t address, const int64_t *offset, char *text, size_t size) {
  bool found = false;
  dw_t dw;
  char *copy = get_dw(&dw) ? copy_image(image) : NULL;
  if (!copy)
    return false;
  dw.elf_version(EV_CURRENT);
  Elf *elf = dw.elf_memory(copy, image->bytes);
  Dwarf *debug = elf ? dw.dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
  if (debug && offset) {
    const wanted_t wanted = {&dw, address, *offset, text, size};
    found = find_variable_in(&dw, debug, &wanted);
  } else if (debug) {
    found = find_line(&dw, debug, address, text, size);
  }
  if (debug)
    dw.dwarf_end(debug);
  if (elf)
    dw.elf_end(elf);
  free(copy);
  return found;
}

bool gs_source_variable_find(uint64_t pc, int64_t offset, char *text, size_t size) {
  image_t image;
  text[0] = '\0';
  return find_image(pc, &image) && find_in_image(&image, pc - image.base, &offset, text, size);
}

bool gs_source_line_find(uint64_t pc, char *text, size_t size) {
  image_t image;
  text[0] = '\0';
  return find_image(pc, &image) && find_in_image(&image, pc - image.base, NULL, text, size);
}

/* ---- Functions ---- */

/* A code object's bytes, which may be anything. */
typedef struct file {
  const char *bytes;
  uint64_t size;
} file_t;

static bool read_part(const file_t *file, uint64_t at, void *part, size_t size) {
  if (at > file->size || size > file->size - at)
    return false;
  memcpy(part, file->bytes + at, size);
  return true;
}

static bool read_section(const file_t *file, uint32_t i, Elf64_Shdr *section) {
  Elf64_Ehdr header;
  return read_part(file, 0, &header, sizeof header) && i < header.e_shnum && header.e_shoff < file->size &&
         read_part(file, header.e_shoff + (uint64_t)i * header.e_shentsize, section, sizeof *section);
}

static bool copy_string(const file_t *file, const Elf64_Shdr *strings, uint32_t at, char *text, size_t size) {
  size_t length = 0;
  if (strings->sh_offset > file->size || at >= strings->sh_size)
    return false;
  while (length + 1 < size && read_part(file, strings->sh_offset + at + length, &text[length], 1) &&
         text[length])
    length++;
  text[length] = '\0';
  return true;
}

/* The function of the table that has the address. Returns where it begins, or 0. */
static uint64_t find_in_table(const file_t *file, const Elf64_Shdr *table, uint64_t address, char *name,
                              size_t size) {
  Elf64_Shdr strings;
  Elf64_Sym symbol;
  if (!read_section(file, table->sh_link, &strings) || table->sh_offset > file->size)
    return 0;
  for (uint64_t at = 0; at < table->sh_size; at += sizeof symbol) {
    if (!read_part(file, table->sh_offset + at, &symbol, sizeof symbol))
      return 0;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value <= address &&
        address - symbol.st_value < symbol.st_size)
      return copy_string(file, &strings, symbol.st_name, name, size) ? symbol.st_value : 0;
  }
  return 0;
}

uint64_t gs_source_function_find(uint64_t pc, char *name, size_t size) {
  image_t image = {0};
  Elf64_Shdr section;
  uint64_t start = 0;
  char *copy = find_image(pc, &image) ? copy_image(&image) : NULL;
  const file_t file = {copy, image.bytes};
  for (uint32_t i = 0; copy && !start && read_section(&file, i, &section); i++)
    if (section.sh_type == SHT_SYMTAB)
      start = find_in_table(&file, &section, pc - image.base, name, size);
  free(copy);
  return start ? image.base + start : 0;
}

bool gs_source_line_in_file(const char *path, uint64_t address, char *text, size_t size) {
  image_t image = {0};
  text[0] = '\0';
  return (size_t)snprintf(image.path, sizeof image.path, "%s", path) < sizeof image.path &&
         find_in_image(&image, address, NULL, text, size);
}
