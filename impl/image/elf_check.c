/* Whether a device image holds together as an ELF file, in everything that ROCr's loader believes without a
 * look. Facts: the ELF specification, and the AMDGPU part of LLVM's user guide. Not here: what the plugin
 * itself reads (image/elf). */
#include "image/elf.h"

#include <elf.h>
#include <string.h>

/* LDS variables are in no section, but have this number in place of one. */
enum { MOST_BYTES_LOG2 = 40, SHN_AMDGPU_LDS_NUMBER = 0xff00, LLVM_SECTION_TYPES = 0x6fff4c };

typedef struct check {
  const char *image;
  size_t bytes;
  Elf64_Ehdr header;
} check_t;

/* ---- parts ---- */

static bool in_file(const check_t *check, uint64_t offset, uint64_t bytes) {
  return offset <= check->bytes && bytes <= check->bytes - offset;
}

static bool is_power_of_two(uint64_t n) {
  return n && !(n & (n - 1));
}

static Elf64_Phdr segment_at(const check_t *check, size_t i) {
  Elf64_Phdr segment;
  memcpy(&segment, check->image + check->header.e_phoff + i * sizeof segment, sizeof segment);
  return segment;
}

static Elf64_Shdr section_at(const check_t *check, size_t i) {
  Elf64_Shdr section;
  memcpy(&section, check->image + check->header.e_shoff + i * sizeof section, sizeof section);
  return section;
}

/* Whether a range of addresses lies in one loaded segment. */
static bool in_memory(const check_t *check, uint64_t address, uint64_t bytes) {
  for (size_t i = 0; i < check->header.e_phnum; i++) {
    Elf64_Phdr segment = segment_at(check, i);
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr <= segment.p_memsz &&
        bytes <= segment.p_memsz - (address - segment.p_vaddr))
      return true;
  }
  return false;
}

/* Whether a section's name begins so. */
static bool has_name(const check_t *check, const Elf64_Shdr *section, const char *beginning) {
  Elf64_Shdr names = section_at(check, check->header.e_shstrndx);
  return !strncmp(check->image + names.sh_offset + section->sh_name, beginning, strlen(beginning));
}

/* ---- rules; each returns what is wrong, or NULL ---- */

static const char *check_header(const check_t *check) {
  const Elf64_Ehdr *header = &check->header;
  if (header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT ||
      header->e_type != ET_DYN || header->e_ehsize != sizeof *header)
    return "its header is not that of a linked file";
  if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum || header->e_phnum == PN_XNUM ||
      !in_file(check, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
    return "its program headers are not in the file";
  if (header->e_shentsize != sizeof(Elf64_Shdr) || !header->e_shnum ||
      header->e_shstrndx >= header->e_shnum ||
      !in_file(check, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
    return "its section headers are not in the file";
  return NULL;
}

static const char *check_segments(const check_t *check) {
  uint64_t end = 0;
  bool loads = false;
  for (size_t i = 0; i < check->header.e_phnum; i++) {
    Elf64_Phdr segment = segment_at(check, i);
    if (!in_file(check, segment.p_offset, segment.p_filesz))
      return "a segment is not in the file";
    if (segment.p_type != PT_LOAD)
      continue;
    if (segment.p_filesz > segment.p_memsz || segment.p_vaddr < end || segment.p_vaddr >> MOST_BYTES_LOG2 ||
        segment.p_memsz >> MOST_BYTES_LOG2)
      return "the addresses of a segment are impossible";
    if (!is_power_of_two(segment.p_align) || (segment.p_vaddr - segment.p_offset) % segment.p_align)
      return "the alignment of a segment is impossible";
    end = segment.p_vaddr + segment.p_memsz;
    loads = true;
  }
  return loads ? NULL : "no segment is to be loaded";
}

static const char *check_strings(const check_t *check, const Elf64_Shdr *section) {
  const char *text = check->image + section->sh_offset;
  return section->sh_size && !text[0] && !text[section->sh_size - 1] ? NULL : "a string table does not end";
}

static const char *check_symbols(const check_t *check, const Elf64_Shdr *section) {
  Elf64_Shdr names = section_at(check, section->sh_link);
  if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_size % sizeof(Elf64_Sym) ||
      names.sh_type != SHT_STRTAB)
    return "a symbol table is malformed";
  for (uint64_t at = 0; at < section->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, check->image + section->sh_offset + at, sizeof symbol);
    unsigned type = ELF64_ST_TYPE(symbol.st_info), index = symbol.st_shndx;
    bool in_section = index != SHN_UNDEF && index < check->header.e_shnum;
    bool elsewhere =
        index == SHN_UNDEF || index == SHN_ABS || index == SHN_COMMON || index == SHN_AMDGPU_LDS_NUMBER;
    if (symbol.st_name >= names.sh_size || type > STT_TLS || (!in_section && !elsewhere))
      return "a symbol is malformed";
    if (elsewhere || (type != STT_OBJECT && type != STT_FUNC))
      continue;
    if (section_at(check, index).sh_flags & SHF_ALLOC && !in_memory(check, symbol.st_value, symbol.st_size))
      return "a symbol is not in the segments";
  }
  return NULL;
}

static const char *check_relocations(const check_t *check, const Elf64_Shdr *section) {
  Elf64_Shdr symbols = section_at(check, section->sh_link);
  uint64_t symbol_count = symbols.sh_size / sizeof(Elf64_Sym);
  if (section->sh_entsize != sizeof(Elf64_Rela) || section->sh_size % sizeof(Elf64_Rela) ||
      (symbols.sh_type != SHT_DYNSYM && symbols.sh_type != SHT_SYMTAB) ||
      section->sh_info >= check->header.e_shnum || (section->sh_flags & SHF_ALLOC && section->sh_info))
    return "a table of relocations is malformed";
  for (uint64_t at = 0; at < section->sh_size; at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    memcpy(&relocation, check->image + section->sh_offset + at, sizeof relocation);
    if (ELF64_R_SYM(relocation.r_info) >= symbol_count ||
        !in_memory(check, relocation.r_offset, sizeof(uint64_t)))
      return "a relocation is malformed";
  }
  return NULL;
}

static const char *check_notes(const check_t *check, const Elf64_Shdr *section) {
  for (uint64_t at = 0; at < section->sh_size;) {
    Elf64_Nhdr note;
    if (section->sh_size - at < sizeof note)
      return "a note is cut short";
    memcpy(&note, check->image + section->sh_offset + at, sizeof note);
    uint64_t bytes =
        sizeof note + ((uint64_t)note.n_namesz + 3) / 4 * 4 + ((uint64_t)note.n_descsz + 3) / 4 * 4;
    if (bytes > section->sh_size - at)
      return "a note is cut short";
    at += bytes;
  }
  return NULL;
}

/* ROCr finds some sections by their names, others by their types. */
static bool is_what_it_is_called(const check_t *check, const Elf64_Shdr *section) {
  static const struct {
    const char *name;
    uint32_t type;
  } pairs[] = {{".note", SHT_NOTE},     {".symtab", SHT_SYMTAB}, {".dynsym", SHT_DYNSYM},
               {".strtab", SHT_STRTAB}, {".dynstr", SHT_STRTAB}, {".shstrtab", SHT_STRTAB},
               {".rela", SHT_RELA}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (has_name(check, section, pairs[i].name))
      return section->sh_type == pairs[i].type;
  return section->sh_type != SHT_RELA; /* whose prefix ROCr cuts off */
}

static const char *check_content(const check_t *check, const Elf64_Shdr *section) {
  if (!is_what_it_is_called(check, section))
    return "the name and the type of a section contradict each other";
  switch (section->sh_type) {
  case SHT_STRTAB: return check_strings(check, section);
  case SHT_SYMTAB:
  case SHT_DYNSYM: return check_symbols(check, section);
  case SHT_RELA: return check_relocations(check, section);
  case SHT_NOTE: return check_notes(check, section);
  case SHT_PROGBITS:
  case SHT_HASH:
  case SHT_DYNAMIC:
  case SHT_NOBITS:
  case SHT_GNU_HASH:
  case SHT_INIT_ARRAY:
  case SHT_FINI_ARRAY:
  case SHT_PREINIT_ARRAY: return NULL;
  default:
    return section->sh_type >> 8 == LLVM_SECTION_TYPES ? NULL
                                                       : "a section is of no type that device images have";
  }
}

static const char *check_sections(const check_t *check) {
  Elf64_Shdr names = section_at(check, check->header.e_shstrndx);
  if (names.sh_type != SHT_STRTAB || !in_file(check, names.sh_offset, names.sh_size) ||
      check_strings(check, &names))
    return "its sections have no names";
  /* Places first, because what is in a section refers to others. */
  for (size_t i = 0; i < check->header.e_shnum; i++) {
    Elf64_Shdr section = section_at(check, i);
    bool in_bounds = section.sh_type == SHT_NOBITS || in_file(check, section.sh_offset, section.sh_size);
    bool aligned = !section.sh_addralign || is_power_of_two(section.sh_addralign);
    if (!in_bounds || !aligned || section.sh_name >= names.sh_size ||
        section.sh_link >= check->header.e_shnum || (i == 0 && section.sh_type != SHT_NULL))
      return "a section is malformed";
    if (section.sh_flags & SHF_ALLOC && section.sh_size &&
        !in_memory(check, section.sh_addr, section.sh_size))
      return "a section is not in the segments";
  }
  const char *wrong = NULL;
  for (size_t i = 1; i < check->header.e_shnum && !wrong; i++) {
    Elf64_Shdr section = section_at(check, i);
    wrong = check_content(check, &section);
  }
  return wrong;
}

const char *atmi_elf_check(const void *image, size_t bytes) {
  check_t check = {.image = image, .bytes = bytes};
  const char *wrong;
  if (bytes < sizeof check.header)
    return "it is cut short";
  memcpy(&check.header, image, sizeof check.header);
  if ((wrong = check_header(&check)) || (wrong = check_segments(&check)))
    return wrong;
  return check_sections(&check);
}
