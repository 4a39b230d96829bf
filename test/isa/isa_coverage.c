/* doc/generated/isa-coverage.md: what is known of each opcode on each part.
 *
 *   isa_coverage --write DOC LOG...   writes it
 *   isa_coverage --check DOC LOG...   fails when opcodes are missing, or called tested but not executed
 *
 * LOG is what an instruction test writes, see coverage.h: for --write with faults, for --check without. Not
 * here: the comparison with LLVM, which covers every row (test_decode.c). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/ops.h"

enum { NAME_BYTES = 128, TESTS_BYTES = 256 };

/* The tables' columns: targets that are one part, and those where tests of its instructions count. gfx1151
 * has gfx1100's, and tests of its own only for what it has besides. */
static const struct {
  const char *name;
  unsigned targets, tested_on;
} parts[] = {
    {"gfx900", GS_GFX900, GS_GFX900}, {"gfx906", GS_GFX906, GS_GFX906},
    {"gfx908", GS_GFX908, GS_GFX908}, {"gfx90a", GS_GFX90A, GS_GFX90A},
    {"gfx942", GS_GFX942, GS_GFX942}, {"gfx950", GS_GFX950, GS_GFX950},
    {"gfx1030", GS_GFX10, GS_GFX10},  {"gfx1100", GS_GFX1100_W32 | GS_GFX1100, GS_GFX1100_W32 | GS_GFX1100},
    {"gfx1151", GS_GFX11_5, GS_GFX11}};
enum { PARTS = sizeof parts / sizeof *parts };

/* What the log says about a row. */
typedef struct row {
  unsigned executed, tested; /* sets of gs_target_t */
  char tests[TESTS_BYTES];
} row_t;

static const char *const encodings[GS_ENC_COUNT] = {
    [GS_ENC_SOP1] = "SOP1",     [GS_ENC_SOP2] = "SOP2",       [GS_ENC_SOPK] = "SOPK",
    [GS_ENC_SOPC] = "SOPC",     [GS_ENC_SOPP] = "SOPP",       [GS_ENC_SMEM] = "SMEM",
    [GS_ENC_VOP1] = "VOP1",     [GS_ENC_VOP2] = "VOP2",       [GS_ENC_VOPC] = "VOPC",
    [GS_ENC_VOP3] = "VOP3",     [GS_ENC_VOP3P] = "VOP3P",     [GS_ENC_VINTERP] = "VINTERP",
    [GS_ENC_VOPD] = "VOPD",     [GS_ENC_DS] = "DS",           [GS_ENC_FLAT] = "FLAT",
    [GS_ENC_GLOBAL] = "GLOBAL", [GS_ENC_SCRATCH] = "SCRATCH", [GS_ENC_MUBUF] = "MUBUF",
    [GS_ENC_MTBUF] = "MTBUF",   [GS_ENC_VINTRP] = "VINTRP",   [GS_ENC_MIMG] = "MIMG",
    [GS_ENC_EXP] = "EXP",
};

/* Names of tests that notice a fault of the opcode on some part. */
static void add_test(row_t *row, const char *test) {
  char name[NAME_BYTES];
  (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(test, "."), test);
  if (strstr(row->tests, name))
    return;
  const size_t used = strlen(row->tests);
  (void)snprintf(row->tests + used, sizeof row->tests - used, "%s%s", used ? ", " : "", name);
}

/* Lines of other builds name rows that mean something else now; those are an error. */
static bool read_log(const char *path, row_t *rows) {
  FILE *f = fopen(path, "r");
  if (!f) {
    perror(path);
    return false;
  }
  size_t index;
  unsigned executed, tested;
  char name[NAME_BYTES], test[NAME_BYTES];
  bool good = true;
  int fields;
  while (good &&
         (fields = fscanf(f, "%zu %127s %u %u %127s", &index, name, &executed, &tested, test)) != EOF) {
    good = fields == 5 && index < gs_opcode_count && strcmp(gs_opcodes[index].name, name) == 0;
    if (good) {
      rows[index].executed |= executed;
      rows[index].tested |= tested;
      if (tested)
        add_test(&rows[index], test);
    }
  }
  (void)fclose(f);
  if (!good)
    (void)fprintf(stderr, "%s: not a log of this build\n", path);
  return good;
}

/* How far an opcode of a part has come. */
typedef enum level { ABSENT, EXECUTES, REFUSED, TESTED, LEVELS } level_t;
static const char *const level_names[LEVELS] = {"", "**executes**", "error", "tested"};

static level_t level_of(size_t row, const row_t *seen, size_t part) {
  const gs_opcode_t *op = &gs_opcodes[row];
  if (!(op->targets & parts[part].targets))
    return ABSENT;
  if (!(seen->tested & parts[part].tested_on))
    return EXECUTES;
  return op->flags & GS_OPF_ILLEGAL ? REFUSED : TESTED;
}

static void print_summary(FILE *out, const row_t *rows) {
  (void)fprintf(out, "| part | opcodes | tested | error, tested | executes |\n"
                     "|---|---|---|---|---|\n");
  for (size_t p = 0; p < PARTS; p++) {
    unsigned counts[LEVELS] = {0};
    for (size_t i = 0; i < gs_opcode_count; i++)
      counts[level_of(i, &rows[i], p)]++;
    (void)fprintf(out, "| %s | %zu | %u | %u | %u |\n", parts[p].name, gs_opcode_count - counts[ABSENT],
                  counts[TESTED], counts[REFUSED], counts[EXECUTES]);
  }
}

static void print_heading(FILE *out, const char *encoding) {
  (void)fprintf(out, "\n## %s\n\n| number | mnemonic |", encoding);
  for (size_t p = 0; p < PARTS; p++)
    (void)fprintf(out, " %s |", parts[p].name);
  (void)fprintf(out, " tests |\n|---|---|");
  for (size_t p = 0; p < PARTS; p++)
    (void)fprintf(out, "---|");
  (void)fprintf(out, "---|\n");
}

static void print_rows(FILE *out, const row_t *rows) {
  int heading = -1;
  for (size_t i = 0; i < gs_opcode_count; i++) {
    const gs_opcode_t *op = &gs_opcodes[i];
    if (heading != (int)op->encoding)
      print_heading(out, encodings[op->encoding]);
    heading = (int)op->encoding;
    (void)fprintf(out, "| %u | %s |", op->number, op->name);
    for (size_t p = 0; p < PARTS; p++)
      (void)fprintf(out, " %s |", level_names[level_of(i, &rows[i], p)]);
    (void)fprintf(out, " %s |\n", rows[i].tests);
  }
}

static void print_document(FILE *out, const row_t *rows) {
  (void)fprintf(
      out,
      "# Instructions of the simulated parts\n\n"
      "Generated by the build target `isa-coverage`; do not edit. The test `isa/coverage` fails when it is "
      "out of date.\n\n"
      "Every opcode listed here is decoded and disassembled, and `test_decode` compares encodings of it with "
      "random\noperands and modifiers with LLVM's assembler and disassembler. Beyond that, for each part:\n\n"
      "- *tested*: the tests in the last column execute it on that part and compare what it did: each of "
      "them\n"
      "  was seen to fail when one bit of a result was falsified (the first and the last thing that "
      "changed), "
      "and,\n  for instructions without effect, when they changed a register;\n"
      "- *error*: for graphics only; ends in the illegal-instruction error, tested likewise;\n"
      "- **executes**: implemented; no test was seen to notice a wrong result on that part (the same code "
      "may be tested on another).\n\n"
      "mi300a has the instructions of gfx942. Of gfx1151, which has those of gfx1100 and more, tests on that "
      "one\ncount. Where a part has waves of two widths, tests must notice it in one of them; `test_wave32` "
      "compares the\nwidths.\n\n");
  print_summary(out, rows);
  print_rows(out, rows);
}

/* ---- The file ---- */

static bool write_document(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  const bool written = f && fputs(text, f) >= 0;
  if (!f || fclose(f) != 0 || !written) {
    perror(path);
    return false;
  }
  return true;
}

/* Copies field `index` (from 1) of a table row. */
static void field(const char *line, unsigned index, char text[NAME_BYTES]) {
  while (line && index--)
    line = strchr(line, '|') ? strchr(line, '|') + 1 : NULL;
  (void)snprintf(text, NAME_BYTES, "%.*s", line ? (int)strcspn(line, "|\n") : 0, line ? line : "");
}

/* Whether a line of the document can be right. Logs of ordinary runs know what is executed and not what is
 * compared: "tested" must at least be executed, and the tests' names are not looked at. */
static bool plausible(const char *has, const char *should) {
  enum { FIRST_PART = 3, LAST_PART = FIRST_PART + PARTS - 1 };
  for (unsigned i = 1; i <= LAST_PART; i++) {
    char a[NAME_BYTES], b[NAME_BYTES];
    field(has, i, a);
    field(should, i, b);
    const bool unnoticed = strcmp(a, " **executes** ") == 0 && strcmp(b, "  ") != 0;
    if (strcmp(a, b) != 0 && !(i >= FIRST_PART && unnoticed))
      return false;
  }
  return true;
}

static bool check_document(const char *path, const char *text) {
  char line[1024];
  FILE *f = fopen(path, "r");
  bool same = f != NULL;
  if (!f)
    perror(path);
  while (same && fgets(line, sizeof line, f)) {
    const size_t length = strcspn(text, "\n");
    const bool summary = strncmp(line, "| gfx", 5) == 0;
    char should[sizeof line];
    (void)snprintf(should, sizeof should, "%.*s", (int)length, text);
    same = summary || (*line == '|' ? plausible(line, should) : strncmp(line, should, length) == 0);
    if (!same)
      (void)fprintf(stderr, "%s: has     %sbut should %.*s\n", path, line, (int)length, text);
    text += length + (text[length] == '\n');
  }
  same = same && *text == '\0';
  if (!same)
    (void)fprintf(stderr, "%s: not what the tests show; build the target isa-coverage\n", path);
  if (f)
    (void)fclose(f);
  return same;
}

int main(int argc, char **argv) {
  const bool write = argc > 2 && strcmp(argv[1], "--write") == 0;
  const bool check = argc > 2 && strcmp(argv[1], "--check") == 0;
  char *text = NULL;
  size_t size = 0;
  row_t *rows = calloc(gs_opcode_count, sizeof *rows);
  FILE *out = open_memstream(&text, &size);
  bool good = rows && out && (write || check);
  if (!write && !check)
    (void)fprintf(stderr, "usage: %s --write|--check DOC LOG...\n", argv[0]);
  for (int i = 3; good && i < argc; i++)
    good = read_log(argv[i], rows);
  if (good)
    print_document(out, rows);
  if (out && fclose(out) != 0)
    good = false;
  if (good)
    good = write ? write_document(argv[2], text) : check_document(argv[2], text);
  free(text);
  free(rows);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
