/* Debug information and symbols. libdw is opened when a report needs it: a program without faults does not
 * load it, and a machine without it gets reports without source lines. */
#include "image/source_line.h"

#include "base/condition.h"
#include "base/process_memory.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines of device code ---- */

#define FUNCTIONS(X)                                                                                         \
  X(dwarf_begin_elf)                                                                                         \
  X(dwarf_end)                                                                                               \
  X(dwarf_nextcu)                                                                                            \
  X(dwarf_offdie)                                                                                            \
  X(dwarf_haspc)                                                                                             \
  X(dwarf_getsrc_die)                                                                                        \
  X(dwarf_linesrc)                                                                                           \
  X(dwarf_lineno)                                                                                            \
  X(dwarf_getfuncs)                                                                                          \
  X(dwarf_decl_file)                                                                                         \
  X(dwarf_decl_line)                                                                                         \
  X(dwarf_getsrcfiles)                                                                                       \
  X(dwarf_filesrc)

typedef struct dw {
#define DECLARE(name) __typeof__(name) *name;
  FUNCTIONS(DECLARE)
#undef DECLARE
} dw_t;

static bool open_dw(dw_t *dw) {
  void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL); /* now: later it would ask the linker again */
  bool complete = library != NULL;
  void *symbol;
#define RESOLVE(name)                                                                                        \
  symbol = complete ? dlsym(library, #name) : NULL;                                                          \
  memcpy(&dw->name, &symbol, sizeof symbol);                                                                 \
  complete = complete && symbol;
  FUNCTIONS(RESOLVE)
#undef RESOLVE
  return complete; /* stays open: there are few reports, and others may have it open */
}

/* A thread of the program may hold the dynamic linker and wait for the very kernel of which the report is: a
 * constructor of a library that is being loaded runs it. So another thread asks the linker, and who reports
 * waits for that one only so long. The last of the two frees this. The code of a thread that was given up
 * stays where it is: libraries that this is part of are linked with -z nodelete, a dlclose leaves them. */
enum { PATIENCE_S = 2 };
typedef struct opening {
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t ended;
  bool has_ended, is_given_up, complete;
  dw_t dw;
} opening_t;

static opening_t *new_opening(void) {
  opening_t *opening = calloc(1, sizeof *opening);
  if (!opening)
    return NULL;
  if (atmi_condition_init(&opening->ended)) {
    pthread_mutex_init(&opening->lock, NULL);
    return opening;
  }
  free(opening);
  return NULL;
}

static void free_opening(opening_t *opening) {
  pthread_cond_destroy(&opening->ended);
  pthread_mutex_destroy(&opening->lock);
  free(opening);
}

static void *open_elsewhere(void *data) {
  opening_t *opening = data;
  dw_t dw;
  bool complete = open_dw(&dw);
  pthread_mutex_lock(&opening->lock);
  opening->dw = dw;
  opening->complete = complete;
  opening->has_ended = true;
  bool is_given_up = opening->is_given_up;
  pthread_cond_signal(&opening->ended);
  pthread_mutex_unlock(&opening->lock);
  if (is_given_up)
    free_opening(opening);
  return NULL;
}

static bool start_opening(opening_t *opening) {
  pthread_t thread;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes))
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool started = !pthread_create(&thread, &attributes, open_elsewhere, opening);
  pthread_attr_destroy(&attributes);
  return started;
}

/* Waits for its end. False: it takes too long, or cannot be waited for, and frees itself some day. */
static bool await_opening(opening_t *opening) {
  struct timespec deadline = atmi_condition_deadline(PATIENCE_S * 1000);
  int status = 0;
  pthread_mutex_lock(&opening->lock);
  while (!opening->has_ended && !status)
    status = pthread_cond_timedwait(&opening->ended, &opening->lock, &deadline);
  bool has_ended = opening->has_ended;
  opening->is_given_up = !has_ended;
  pthread_mutex_unlock(&opening->lock);
  return has_ended;
}

/* FOUND: *dw is complete. */
static atmi_source_line_answer_t get_dw(dw_t *dw) {
  opening_t *opening = new_opening();
  if (!opening)
    return ATMI_SOURCE_LINE_UNKNOWN;
  if (!start_opening(opening)) {
    free_opening(opening);
    return ATMI_SOURCE_LINE_UNKNOWN;
  }
  if (!await_opening(opening))
    return ATMI_SOURCE_LINE_BUSY;
  *dw = opening->dw;
  bool complete = opening->complete;
  free_opening(opening);
  return complete ? ATMI_SOURCE_LINE_FOUND : ATMI_SOURCE_LINE_NO_READER;
}

typedef struct wanted {
  const dw_t *dw;
  Dwarf_Die *unit;
  uint64_t address;
  char *text;
  size_t size;
  bool found;
} wanted_t;

/* Libdw 0.188 takes file 0 for none, which in DWARF 5 is the unit's own. */
static const char *declaring_file(const wanted_t *wanted, Dwarf_Die *function) {
  const char *file = wanted->dw->dwarf_decl_file(function);
  Dwarf_Files *files;
  size_t count;
  if (!file && !wanted->dw->dwarf_getsrcfiles(wanted->unit, &files, &count) && count)
    file = wanted->dw->dwarf_filesrc(files, 0, NULL, NULL);
  return file;
}

static int visit_function(Dwarf_Die *function, void *data) {
  wanted_t *wanted = data;
  const dw_t *dw = wanted->dw;
  int number = 0;
  if (dw->dwarf_haspc(function, wanted->address) != 1)
    return DWARF_CB_OK;
  const char *file = declaring_file(wanted, function);
  wanted->found = file && !dw->dwarf_decl_line(function, &number) && number;
  if (wanted->found)
    snprintf(wanted->text, wanted->size, "%s:%d", file, number);
  return DWARF_CB_ABORT;
}

/* Where the instruction is from: of the first one of optimised code that may be an inlined function, or no
 * line at all. */
static bool find_instruction(const dw_t *dw, Dwarf_Die *unit, uint64_t address, char *text, size_t size) {
  Dwarf_Line *line = dw->dwarf_getsrc_die(unit, address);
  const char *file = line ? dw->dwarf_linesrc(line, NULL, NULL) : NULL;
  int number = 0;
  if (!file || dw->dwarf_lineno(line, &number) || !number)
    return false;
  snprintf(text, size, "%s:%d", file, number);
  return true;
}

static bool find_line(const dw_t *dw, Dwarf *debug, uint64_t address, char *text, size_t size) {
  Dwarf_Off offset = 0, next;
  size_t header;
  for (; !dw->dwarf_nextcu(debug, offset, &next, &header, NULL, NULL, NULL); offset = next) {
    Dwarf_Die unit;
    if (!dw->dwarf_offdie(debug, offset + header, &unit) || dw->dwarf_haspc(&unit, address) != 1)
      continue;
    wanted_t wanted = {.dw = dw, .unit = &unit, .address = address, .text = text, .size = size};
    dw->dwarf_getfuncs(&unit, visit_function, &wanted, 0);
    return wanted.found || find_instruction(dw, &unit, address, text, size);
  }
  return false;
}

/* Whether the image has what libdw reads, for when there is no libdw. */
static bool has_lines(Elf *elf) {
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names))
    return false;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
      return true;
  }
  return false;
}

static atmi_source_line_answer_t look_up(Elf *elf, uint64_t address, char *text, size_t size) {
  dw_t dw;
  if (!has_lines(elf))
    return ATMI_SOURCE_LINE_NO_LINES;
  atmi_source_line_answer_t opened = get_dw(&dw);
  if (opened != ATMI_SOURCE_LINE_FOUND)
    return opened;
  Dwarf *debug = dw.dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  bool found = debug && find_line(&dw, debug, address, text, size);
  if (debug)
    dw.dwarf_end(debug);
  return found ? ATMI_SOURCE_LINE_FOUND : ATMI_SOURCE_LINE_UNKNOWN;
}

atmi_source_line_answer_t atmi_source_line_find(const void *image, size_t bytes, uint64_t address, char *text,
                                                size_t size) {
  /* A copy, which libelf may write into. The library that holds the image may be gone when the program is
   * ending. */
  char *copy = malloc(bytes);
  if (!copy || !atmi_process_memory_read(image, copy, bytes)) {
    free(copy);
    return ATMI_SOURCE_LINE_UNKNOWN;
  }
  elf_version(EV_CURRENT);
  Elf *elf = elf_memory(copy, bytes);
  atmi_source_line_answer_t answer = elf ? look_up(elf, address, text, size) : ATMI_SOURCE_LINE_UNKNOWN;
  if (elf)
    elf_end(elf);
  free(copy);
  return answer;
}

/* ---- variables of the host ---- */

static bool name_from_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t address, char *text,
                            size_t size) {
  Elf_Data *data = elf_getdata(section, NULL);
  size_t count = data && header->sh_entsize ? (size_t)(header->sh_size / header->sh_entsize) : 0;
  GElf_Sym symbol;
  for (int i = 0; (size_t)i < count && gelf_getsym(data, i, &symbol); i++) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || address < symbol.st_value ||
        address - symbol.st_value >= symbol.st_size)
      continue;
    const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
    if (!name)
      continue;
    snprintf(text, size, "%s", name);
    return true;
  }
  return false;
}

/* The file that is mapped where the address is, and where its first byte is: from the kernel's list, as
 * dladdr asks the dynamic linker, see above. Variables that begin as 0 may lie in memory without a name,
 * right behind the file's. */
static bool find_file(uint64_t address, char path[PATH_MAX], uint64_t *base) {
  char line[PATH_MAX + 128];
  uint64_t start, end, last = 0;
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  *path = 0;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    int name = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &name) != 2 || !name)
      continue;
    line[strcspn(line, "\n")] = 0;
    if (line[name] == '/' && strcmp(line + name, path) != 0) {
      snprintf(path, PATH_MAX, "%s", line + name);
      *base = start;
    } else if (line[name] != '/' && (line[name] || start != last)) {
      *path = 0;
    }
    last = end;
    found = address >= start && address < end;
  }
  if (maps)
    fclose(maps);
  return found && *path;
}

bool atmi_source_line_variable(const void *address, char *text, size_t size) {
  char path[PATH_MAX];
  uint64_t start = 0;
  if (!find_file((uint64_t)(uintptr_t)address, path, &start))
    return false;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(file, ELF_C_READ, NULL);
  GElf_Ehdr head;
  bool found = false;
  if (elf && gelf_getehdr(elf, &head)) {
    uint64_t base = head.e_type == ET_EXEC ? 0 : start;
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; !found && (section = elf_nextscn(elf, section));)
      found = gelf_getshdr(section, &header) &&
              (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
              name_from_table(elf, section, &header, (uint64_t)(uintptr_t)address - base, text, size);
  }
  if (elf)
    elf_end(elf);
  close(file);
  return found;
}
