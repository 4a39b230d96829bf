/* Makes a table of stencils (table.h) from object files: mkstencils TABLE LANES STRIP_LANES OBJECT... writes
 * C to stdout. Runs when gfxsim is built. A stencil is a global function gs_stencil_<name>; one that is not
 * self-contained, as a compiler may leave it, is left out, which is said on stderr: what has no stencil is
 * called instead. Not here: what stencils are (stencil.h). */
#include <ctype.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate/table.h"

#ifdef GS_HAVE_STRIPS
#include "translate/mkstrip.h"
#endif

enum { MOST_STENCILS = 20000, MOST_PATCHES = 200000, MOST_EXTERNS = 64, POOL_ALIGNMENT = 64 };
enum {
  NAME_BYTES = 128,
  JUMP_BYTES = 5,
  JUMP = 0xe9,
  PER_LINE = 24,
  MOST_OPS = 200000,
  MOST_IN_ONE = 250,
  ROW_BYTES = 256
};

static const char prefix[] = "gs_stencil_", hole_prefix[] = "gs_hole_";

typedef struct patch {
  uint64_t at;
  const char *form;
  char hole[NAME_BYTES];
  int64_t addend;
} patch_t;

typedef struct stencil {
  const char *name;
  uint8_t *code;
  size_t size, offset, first_patch, patch_count, first_op, op_count;
} stencil_t;

typedef struct object {
  const char *path;
  uint8_t *data;
  const Elf64_Ehdr *header;
  const Elf64_Shdr *sections;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *strings;
  int64_t *pool_offset; /* of each section in the table's pool; -1 = it is not there */
} object_t;

static stencil_t stencils[MOST_STENCILS];
static size_t stencil_count;
static patch_t patches[MOST_PATCHES];
static size_t patch_count;
static gs_op_t ops[MOST_OPS];
static size_t op_count;
static const char *externs[MOST_EXTERNS];
static size_t extern_count;
static uint8_t *pool;
static size_t pool_bytes;
static unsigned strip_lanes;

static _Noreturn void fail(const char *path, const char *reason) {
  fprintf(stderr, "mkstencils: %s: %s\n", path, reason);
  exit(1);
}

static uint8_t *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    fail(path, "can't be read");
  const long size = ftell(file);
  uint8_t *data = size > 0 ? malloc((size_t)size) : NULL;
  rewind(file);
  if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
    fail(path, "can't be read");
  fclose(file);
  if ((size_t)size < sizeof(Elf64_Ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0 ||
      ((const Elf64_Ehdr *)(const void *)data)->e_machine != EM_X86_64)
    fail(path, "is no object file for x86-64");
  return data;
}

/* Constants of the compiler: all read-only data of the object. */
static void add_pool(object_t *o) {
  const char *names = (const char *)o->data + o->sections[o->header->e_shstrndx].sh_offset;
  for (size_t i = 0; i < o->header->e_shnum; i++) {
    const Elf64_Shdr *s = &o->sections[i];
    o->pool_offset[i] = -1;
    if (s->sh_type != SHT_PROGBITS || strncmp(names + s->sh_name, ".rodata", 7) != 0)
      continue;
    const size_t start = (pool_bytes + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
    pool = realloc(pool, start + s->sh_size);
    if (!pool)
      fail(o->path, "no memory");
    memset(pool + pool_bytes, 0, start - pool_bytes);
    memcpy(pool + start, o->data + s->sh_offset, s->sh_size);
    pool_bytes = start + s->sh_size;
    o->pool_offset[i] = (int64_t)start;
  }
}

/* The pool begins with each lane's bit in a mask (strip_emit.c). */
static void add_bits(void) {
  uint32_t bits[8];
  for (unsigned i = 0; i < 8; i++)
    bits[i] = 1u << i;
  pool_bytes = sizeof bits;
  pool = malloc(pool_bytes);
  if (!pool)
    fail("the pool", "no memory");
  memcpy(pool, bits, sizeof bits);
}

static void open_object(object_t *o, const char *path) {
  o->path = path;
  o->data = read_file(path);
  o->header = (const Elf64_Ehdr *)(const void *)o->data;
  o->sections = (const Elf64_Shdr *)(const void *)(o->data + o->header->e_shoff);
  o->pool_offset = calloc(o->header->e_shnum, sizeof *o->pool_offset);
  if (!o->pool_offset)
    fail(path, "no memory");
  for (size_t i = 0; i < o->header->e_shnum; i++)
    if (o->sections[i].sh_type == SHT_SYMTAB) {
      o->symbols = (const Elf64_Sym *)(const void *)(o->data + o->sections[i].sh_offset);
      o->symbol_count = o->sections[i].sh_size / sizeof *o->symbols;
      o->strings = (const char *)o->data + o->sections[o->sections[i].sh_link].sh_offset;
    }
  if (!o->symbols)
    fail(path, "has no symbols");
  add_pool(o);
}

static size_t number_of_extern(const char *name) {
  size_t i = 0;
  while (i < extern_count && strcmp(externs[i], name) != 0)
    i++;
  if (i == MOST_EXTERNS)
    fail(name, "one function too many that stencils call");
  if (i == extern_count)
    externs[extern_count++] = name;
  return i;
}

static const char *form_of(unsigned type) {
  switch (type) {
  case R_X86_64_32: return "GS_PATCH_32";
  case R_X86_64_32S: return "GS_PATCH_32S";
  case R_X86_64_64: return "GS_PATCH_64";
  case R_X86_64_PC32:
  case R_X86_64_PLT32: return "GS_PATCH_DISTANCE";
  default: return NULL;
  }
}

/* Fills the patch's hole from the symbol that the relocation names. Returns why it can't, or NULL. */
static const char *name_hole(const object_t *o, const Elf64_Sym *symbol, bool is_distance, patch_t *p) {
  const char *name = o->strings + symbol->st_name;
  if (strncmp(name, hole_prefix, sizeof hole_prefix - 1) == 0) {
    snprintf(p->hole, sizeof p->hole, "%s", name);
    return is_distance ? "a hole is the target of a jump" : NULL;
  }
  if (!is_distance)
    return "an absolute address";
  if (strcmp(name, "gs_stencil_next") == 0 || strcmp(name, "gs_stencil_taken") == 0) {
    snprintf(p->hole, sizeof p->hole, "gs_hole_%s", name + sizeof prefix - 1);
    return NULL;
  }
  if (symbol->st_shndx != SHN_UNDEF) {
    if (symbol->st_shndx >= o->header->e_shnum || o->pool_offset[symbol->st_shndx] < 0)
      return "a call of a function that was not inlined";
    snprintf(p->hole, sizeof p->hole, "gs_hole_pool");
    p->addend += o->pool_offset[symbol->st_shndx] + (int64_t)symbol->st_value;
    return NULL;
  }
  if (strcmp(name, "gs_stencil_cannot") == 0)
    return "a register that is no hole";
  if (p->addend != -4)
    return "an address in a function";
  snprintf(p->hole, sizeof p->hole, "gs_hole_extern");
  p->addend = (int64_t)number_of_extern(name);
  return NULL;
}

/* Adds the relocations of [start, end) of the section as patches. Returns why it can't, or NULL. */
static const char *add_patches(const object_t *o, size_t section, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < o->header->e_shnum; i++) {
    const Elf64_Shdr *s = &o->sections[i];
    if (s->sh_type != SHT_RELA || s->sh_info != section)
      continue;
    const Elf64_Rela *rela = (const Elf64_Rela *)(const void *)(o->data + s->sh_offset);
    for (size_t r = 0; r < s->sh_size / sizeof *rela; r++) {
      if (rela[r].r_offset < start || rela[r].r_offset >= end)
        continue;
      if (patch_count == MOST_PATCHES)
        fail(o->path, "one relocation too many");
      patch_t *p = &patches[patch_count++];
      p->at = rela[r].r_offset - start;
      p->addend = rela[r].r_addend;
      p->form = form_of((unsigned)ELF64_R_TYPE(rela[r].r_info));
      if (!p->form)
        return "a relocation of an unknown kind";
      const char *reason = name_hole(o, &o->symbols[ELF64_R_SYM(rela[r].r_info)],
                                     strcmp(p->form, "GS_PATCH_DISTANCE") == 0, p);
      if (reason)
        return reason;
    }
  }
  return NULL;
}

#ifdef GS_HAVE_CACHE
/* Moves of scalar registers, where the host's may stand in for them (isa/hole.h). Others stay accesses of
 * memory, and whoever joins stencils sees that. */
static void name_moves(const stencil_t *s) {
  enum { PREFIX = 3, OPCODE = 2, MODRM = 1, RM = 0xc7, RDI_AND_DISPLACEMENT = 0x87 };
  for (size_t i = s->first_patch; i < patch_count; i++) {
    patch_t *p = &patches[i];
    const bool is_scalar = strncmp(p->hole, "gs_hole_sgpr_", 13) == 0 || strcmp(p->hole, "gs_hole_scc") == 0;
    const uint8_t *at = s->code + p->at;
    if (!is_scalar || p->at < PREFIX || (at[-MODRM] & RM) != RDI_AND_DISPLACEMENT)
      continue;
    const bool is_pair = (at[-PREFIX] | 4) == 0x4c; /* REX.W */
    if (!is_pair && (at[-PREFIX] | 4) != 0x44)
      continue;
    if (at[-OPCODE] == 0x8b)
      p->form = is_pair ? "GS_PATCH_PAIR_READ" : "GS_PATCH_SCALAR_READ";
    if (at[-OPCODE] == 0x89)
      p->form = is_pair ? "GS_PATCH_PAIR_WRITE" : "GS_PATCH_SCALAR_WRITE";
  }
}
#endif

/* The jump to what comes next is not needed at the end, where that comes next. */
static void drop_last_jump(stencil_t *s) {
  patch_t *last = patch_count > s->first_patch ? &patches[patch_count - 1] : NULL;
  if (s->size < JUMP_BYTES || s->code[s->size - JUMP_BYTES] != JUMP || !last ||
      last->at != s->size - JUMP_BYTES + 1 || strcmp(last->hole, "gs_hole_next") != 0)
    return;
  s->size -= JUMP_BYTES;
  patch_count--;
}

#ifdef GS_HAVE_STRIPS
static bool is_jump(const stencil_t *s, const patch_t *p, const char *hole) {
  return p->at && s->code[p->at - 1] == JUMP && strcmp(p->hole, hole) == 0;
}

/* Where the last jump is the one that is seldom taken, compilers branch to it over one to what comes next.
 * The other way round, over the last one, there is one jump less on the usual way. */
static void turn_last_branch(stencil_t *s) {
  enum { BRANCH_BYTES = 2, BRANCHES = 0x70, KINDS = 0xf0, OTHERWISE = 1 };
  if (patch_count - s->first_patch < 2)
    return;
  const patch_t *next = &patches[patch_count - 2], *last = &patches[patch_count - 1];
  const size_t jump = next->at - 1, end = s->size - JUMP_BYTES, branch = jump - BRANCH_BYTES;
  if (!is_jump(s, next, "gs_hole_next") || !is_jump(s, last, "gs_hole_taken") || last->at != end + 1 ||
      jump < BRANCH_BYTES || (s->code[branch] & KINDS) != BRANCHES || s->code[branch + 1] != end - jump ||
      s->size - jump > INT8_MAX || !mkstrip_begins_at(s->code, s->size, branch))
    return;
  s->code[branch] ^= OTHERWISE;
  s->code[branch + 1] = (uint8_t)(s->size - jump);
}
#endif

static int by_place(const void *a, const void *b) {
  const patch_t *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

#ifdef GS_HAVE_STRIPS
static mkstrip_hole_t find_hole(void *context, size_t at) {
  const stencil_t *s = context;
  for (size_t i = s->first_patch; i < patch_count; i++)
    if (patches[i].at == at)
      return (mkstrip_hole_t){(uint8_t)(i - s->first_patch),
                              strncmp(patches[i].hole, "gs_hole_row_", 12) == 0};
  return (mkstrip_hole_t){GS_NO_PATCH, false};
}

/* So that all instructions can have all registers. Returns why it can't be so, or NULL. */
static const char *widen(stencil_t *s) {
  uint8_t *const wide = malloc(s->size + s->size / 2 + 1);
  uint16_t *const to = calloc(s->size + 1, sizeof *to);
  if (!wide || !to)
    fail(s->name, "no memory");
  if (!mkstrip_widen(s->code, s->size, wide, to))
    return "an instruction that Zydis does not know";
  for (size_t i = s->first_patch; i < patch_count; i++)
    patches[i].at = to[patches[i].at];
  s->code = wide; /* which is used until the end */
  s->size = to[s->size];
  free(to);
  return NULL;
}

/* Returns why the stencil can't be in a strip, or NULL. */
static const char *read_strip(stencil_t *s) {
  const char *const unknown = strip_lanes == 8 ? widen(s) : NULL;
  if (unknown)
    return unknown;
  if (patch_count - s->first_patch >= GS_NO_PATCH)
    return "too many holes";
  for (size_t i = s->first_patch; i < patch_count; i++)
    if (strncmp(patches[i].hole, "gs_hole_row_", 12) == 0 && patches[i].addend % ROW_BYTES)
      return "an access to a part of a row";
  if (op_count + MOST_IN_ONE > MOST_OPS)
    fail(s->name, "one instruction too many");
  const char *reason =
      mkstrip_read(s->code, s->size, strip_lanes, find_hole, s, &ops[op_count], MOST_IN_ONE, &s->op_count);
  s->first_op = op_count;
  op_count += reason ? 0 : s->op_count;
  return reason;
}
#endif

/* Whether the name ends so, or, of strips, begins its end so. */
static bool is_for_lanes(const char *name, const char *kind) {
  const char *lanes = strrchr(name, '_');
  return lanes && strncmp(lanes + 1, kind, strlen(kind)) == 0;
}
static bool is_for_strips(const char *name) {
  return is_for_lanes(name, "strip");
}

/* What is to be known of the stencil besides its patches. Returns why it can't be one, or NULL. */
static const char *read_code(stencil_t *s) {
#ifdef GS_HAVE_STRIPS
  if (is_for_strips(s->name))
    return read_strip(s);
#endif
#ifdef GS_HAVE_CACHE
  if (is_for_lanes(s->name, "any") || is_for_lanes(s->name, "dead") || is_for_lanes(s->name, "one"))
    name_moves(s);
#endif
  return is_for_strips(s->name) ? "this build has no strips" : NULL;
}

static void add_stencil(const object_t *o, const Elf64_Sym *symbol) {
  const char *name = o->strings + symbol->st_name + sizeof prefix - 1;
  if (stencil_count == MOST_STENCILS)
    fail(o->path, "one stencil too many");
  stencil_t *s = &stencils[stencil_count];
  s->name = name;
  s->code = o->data + o->sections[symbol->st_shndx].sh_offset + symbol->st_value;
  s->size = symbol->st_size;
  s->first_patch = patch_count;
  const char *reason = s->size > UINT16_MAX ? "too long"
                                            : add_patches(o, symbol->st_shndx, symbol->st_value,
                                                          symbol->st_value + symbol->st_size);
  if (!reason) {
    drop_last_jump(s);
    qsort(&patches[s->first_patch], patch_count - s->first_patch, sizeof *patches, by_place);
#ifdef GS_HAVE_STRIPS
    turn_last_branch(s);
#endif
    reason = read_code(s);
  }
  if (reason) {
    fprintf(stderr, "mkstencils: %s: %s is left out: %s\n", o->path, name, reason);
    patch_count = s->first_patch;
    return;
  }
  s->patch_count = patch_count - s->first_patch;
  stencil_count++;
}

static void add_stencils(const object_t *o) {
  for (size_t i = 0; i < o->symbol_count; i++) {
    const Elf64_Sym *s = &o->symbols[i];
    if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && ELF64_ST_BIND(s->st_info) == STB_GLOBAL &&
        s->st_shndx != SHN_UNDEF && strncmp(o->strings + s->st_name, prefix, sizeof prefix - 1) == 0)
      add_stencil(o, s);
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const stencil_t *)a)->name, ((const stencil_t *)b)->name);
}

static void print_bytes(const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    printf("%u,%s", bytes[i], i % PER_LINE == PER_LINE - 1 ? "\n" : "");
  puts("");
}

static void print_upper(const char *text) {
  for (; *text; text++)
    putchar(toupper((unsigned char)*text));
}

static void print_op(const gs_op_t *op) {
  printf("{%u, %u, %u, %u, %u, %u, {", op->size, op->kind, op->memory, op->patch, op->displacement,
         op->is_vex);
  for (unsigned i = 0; i < GS_FIELDS; i++)
    printf("%u,", op->role[i]);
  printf("}, {");
  for (unsigned i = 0; i < GS_FIELDS; i++)
    printf("%u,", op->number[i]);
  printf("}, %u, %u},\n", op->reads, op->writes);
}

static void print_parts(void) {
  size_t offset = 0, name = 0;
  puts("static const uint8_t code[] = {");
  for (size_t i = 0; i < stencil_count; i++) {
    print_bytes(stencils[i].code, stencils[i].size);
    stencils[i].offset = offset;
    offset += stencils[i].size;
  }
  puts("};\nstatic const gs_patch_t patches[] = {");
  for (size_t i = 0; i < patch_count; i++) {
    printf("{%u, %s, ", (unsigned)patches[i].at, patches[i].form);
    print_upper(patches[i].hole);
    printf(", %d},\n", (int)patches[i].addend);
  }
  puts("};\nstatic const gs_op_t ops[] = {");
  for (size_t i = 0; i < op_count; i++)
    print_op(&ops[i]);
  puts("{0}};\nstatic const gs_stencil_t stencils[] = {");
  for (size_t i = 0; i < stencil_count; i++) {
    printf("{%zu, %zu, %zu, %zu, %zu, %zu, %zu},\n", name, stencils[i].offset, stencils[i].size,
           stencils[i].patch_count, stencils[i].first_patch, stencils[i].first_op, stencils[i].op_count);
    name += strlen(stencils[i].name) + 1;
  }
  puts("};\nstatic const char names[] = {");
  for (size_t i = 0; i < stencil_count; i++)
    print_bytes((const uint8_t *)stencils[i].name, strlen(stencils[i].name) + 1);
  puts("};\nstatic const uint8_t pool[] = {");
  print_bytes(pool, pool_bytes);
  puts("0};");
}

static void print_table(const char *name, const char *lanes) {
  puts("/* Made by mkstencils. */\n#include \"translate/table.h\"\n");
  for (size_t i = 0; i < extern_count; i++)
    printf("extern gs_extern_t %s;\n", externs[i]);
  print_parts();
  puts("static gs_extern_t *const externs[] = {");
  for (size_t i = 0; i < extern_count; i++)
    printf("%s,\n", externs[i]);
  printf("0};\nextern const gs_stencil_table_t %s;\nconst gs_stencil_table_t %s = {\n", name, name);
  printf("stencils, %zu, names, code, patches, ops, pool, %zu, externs, %zu, %s, %u};\n", stencil_count,
         pool_bytes, extern_count, lanes, strip_lanes);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fputs("usage: mkstencils TABLE LANES STRIP_LANES OBJECT...\n", stderr);
    return 2;
  }
  strip_lanes = (unsigned)strtoul(argv[3], NULL, 10);
  if (strip_lanes == 8)
    add_bits();
  for (int i = 4; i < argc; i++) {
    object_t *o = calloc(1, sizeof *o); /* names and code are used until the end */
    if (!o)
      fail(argv[i], "no memory");
    open_object(o, argv[i]);
    add_stencils(o);
  }
  qsort(stencils, stencil_count, sizeof *stencils, by_name);
  print_table(argv[1], argv[2]);
  return fflush(stdout) || ferror(stdout);
}
