/* Device images as ELF files, through libelf. */
#include "image/elf.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

struct atmi_elf {
  Elf *handle;
  const char *image;
  size_t bytes;
  Elf_Data *symbols; /* of the fullest symbol table; NULL if the image has none */
  size_t symbol_count;
  size_t strings; /* section index of its names */
  bool stripped;  /* there are only the exported symbols */
};

bool atmi_elf_identify(const void *image, size_t bytes, atmi_elf_identity_t *identity) {
  Elf64_Ehdr header;
  if (bytes < sizeof header)
    return false;
  memcpy(&header, image, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  *identity = (atmi_elf_identity_t){.machine = header.e_machine,
                                    .os_abi = header.e_ident[EI_OSABI],
                                    .abi_version = header.e_ident[EI_ABIVERSION],
                                    .flags = header.e_flags};
  return true;
}

static void find_symbol_table(atmi_elf_t *elf) {
  elf->stripped = true;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->handle, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf || (elf->symbols && header.sh_type != SHT_SYMTAB))
      continue;
    elf->symbols = data;
    elf->stripped = header.sh_type != SHT_SYMTAB;
    elf->symbol_count = data->d_size / sizeof(Elf64_Sym);
    elf->strings = header.sh_link;
  }
}

atmi_status_t atmi_elf_open(const void *image, size_t bytes, const char *where, atmi_elf_t **elf) {
  atmi_elf_identity_t identity;
  if (elf_version(EV_CURRENT) == EV_NONE || !atmi_elf_identify(image, bytes, &identity))
    return atmi_fail(ATMI_CORRUPT, where, "cannot read the device image: it is no ELF64 file");
  atmi_elf_t *opened = calloc(1, sizeof *opened);
  if (!opened)
    return atmi_fail(ATMI_NO_MEMORY, where, "cannot read the device image: out of host memory");
  opened->image = image;
  opened->bytes = bytes;
  /* libelf wants a char *, but opened this way it only reads. */
  opened->handle = elf_memory((char *)(uintptr_t)image, bytes);
  if (!opened->handle) {
    free(opened);
    return atmi_fail(ATMI_CORRUPT, where, "cannot read the device image: %s", elf_errmsg(-1));
  }
  find_symbol_table(opened);
  *elf = opened;
  return ATMI_OK;
}

void atmi_elf_close(atmi_elf_t *elf) {
  if (!elf)
    return;
  elf_end(elf->handle);
  free(elf);
}

/* `*skip` matching notes are passed over. */
static bool find_note_in(Elf_Data *data, const char *owner, uint32_t type, uint32_t *skip,
                         const void **content, size_t *bytes) {
  GElf_Nhdr note;
  size_t name, descriptor;
  for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &descriptor)) > 0;) {
    const char *base = data->d_buf;
    if (note.n_type != type || note.n_namesz != strlen(owner) + 1 ||
        memcmp(base + name, owner, note.n_namesz) || (*skip)--)
      continue;
    *content = base + descriptor;
    *bytes = note.n_descsz;
    return true;
  }
  return false;
}

/* An image that is not linked has no program headers, but sections of notes. */
static bool find_note_in_sections(const atmi_elf_t *elf, const char *owner, uint32_t type, uint32_t *skip,
                                  const void **content, size_t *bytes) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->handle, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    if (data && data->d_buf && find_note_in(data, owner, type, skip, content, bytes))
      return true;
  }
  return false;
}

static bool find_note_in_segments(const atmi_elf_t *elf, size_t count, const char *owner, uint32_t type,
                                  uint32_t *skip, const void **content, size_t *bytes) {
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf->handle, (int)i, &header) || header.p_type != PT_NOTE)
      continue;
    if (header.p_offset > elf->bytes || header.p_filesz > elf->bytes - header.p_offset)
      continue;
    Elf_Data *data = elf_getdata_rawchunk(elf->handle, (int64_t)header.p_offset, header.p_filesz, ELF_T_NHDR);
    if (data && data->d_buf && find_note_in(data, owner, type, skip, content, bytes))
      return true;
  }
  return false;
}

bool atmi_elf_find_note(const atmi_elf_t *elf, const char *owner, uint32_t type, uint32_t index,
                        const void **content, size_t *bytes) {
  size_t count = 0;
  uint32_t skip = index;
  if (elf_getphdrnum(elf->handle, &count))
    return false;
  if (find_note_in_segments(elf, count, owner, type, &skip, content, bytes))
    return true;
  /* What the segments have is in the sections too. */
  return skip == index && find_note_in_sections(elf, owner, type, &skip, content, bytes);
}

/* The bytes that the file holds for an address range of a section, or NULL. */
static const void *find_content(const atmi_elf_t *elf, size_t section_index, uint64_t address,
                                uint64_t bytes) {
  Elf_Scn *section = elf_getscn(elf->handle, section_index);
  GElf_Shdr header;
  if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
    return NULL;
  uint64_t into = address - header.sh_addr;
  if (address < header.sh_addr || into > header.sh_size || bytes > header.sh_size - into)
    return NULL;
  if (header.sh_offset > elf->bytes || header.sh_size > elf->bytes - header.sh_offset)
    return NULL;
  return elf->image + header.sh_offset + into;
}

/* Reads the i-th symbol; its name, or NULL if it is undefined or unreadable. */
static const char *read_symbol(const atmi_elf_t *elf, size_t i, GElf_Sym *symbol) {
  if (!gelf_getsym(elf->symbols, (int)i, symbol) || symbol->st_shndx == SHN_UNDEF)
    return NULL;
  return elf_strptr(elf->handle, elf->strings, symbol->st_name);
}

static void describe_symbol(const atmi_elf_t *elf, const GElf_Sym *from, atmi_elf_symbol_t *symbol) {
  *symbol = (atmi_elf_symbol_t){
      .value = from->st_value,
      .bytes = from->st_size,
      .local = GELF_ST_BIND(from->st_info) == STB_LOCAL,
      .content = find_content(elf, from->st_shndx, from->st_value, from->st_size),
  };
}

bool atmi_elf_find_symbol(const atmi_elf_t *elf, const char *name, atmi_elf_symbol_t *symbol) {
  for (size_t i = 0; i < elf->symbol_count; i++) {
    GElf_Sym found;
    const char *text = read_symbol(elf, i, &found);
    if (!text || strcmp(text, name))
      continue;
    describe_symbol(elf, &found, symbol);
    return true;
  }
  return false;
}

const char *atmi_elf_next_renamed(const atmi_elf_t *elf, const char *name, const char *previous) {
  size_t length = strlen(name);
  bool started = !previous;
  for (size_t i = 0; i < elf->symbol_count; i++) {
    GElf_Sym found;
    const char *text = read_symbol(elf, i, &found);
    if (started && text && !strncmp(text, name, length) && text[length] == '.')
      return text;
    started = started || text == previous;
  }
  return NULL;
}

bool atmi_elf_has_section(const atmi_elf_t *elf, const char *name) {
  size_t names;
  if (elf_getshdrstrndx(elf->handle, &names))
    return false;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf->handle, section));) {
    GElf_Shdr header;
    const char *found =
        gelf_getshdr(section, &header) ? elf_strptr(elf->handle, names, header.sh_name) : NULL;
    if (found && !strcmp(found, name))
      return true;
  }
  return false;
}

bool atmi_elf_may_have_symbol(const atmi_elf_t *elf, const char *beginning) {
  for (size_t i = 0; i < elf->symbol_count; i++) {
    GElf_Sym found;
    const char *text = read_symbol(elf, i, &found);
    if (text && !strncmp(text, beginning, strlen(beginning)))
      return true;
  }
  return elf->stripped;
}

const char *atmi_elf_next_exported(const atmi_elf_t *elf, const char *previous, atmi_elf_symbol_t *symbol) {
  bool started = !previous;
  for (size_t i = 0; i < elf->symbol_count; i++) {
    GElf_Sym found;
    const char *text = read_symbol(elf, i, &found);
    if (!text)
      continue;
    if (!started) {
      started = text == previous;
      continue;
    }
    unsigned visibility = GELF_ST_VISIBILITY(found.st_other);
    if (GELF_ST_BIND(found.st_info) == STB_LOCAL || GELF_ST_TYPE(found.st_info) != STT_OBJECT ||
        (visibility != STV_DEFAULT && visibility != STV_PROTECTED))
      continue;
    describe_symbol(elf, &found, symbol);
    return text;
  }
  return NULL;
}
