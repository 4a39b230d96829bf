/* See harness.h: waves to test instructions on, assembling of text, checks of what changed.
 * Not here: anything about particular instructions. */
#include "harness.h"

#include "assembler.h"
#include "coverage.h"
#include "device.h"
#include "isa/lanes.h"
#include "llvm.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_BUCKETS = 1 << 15, MOST_SECTIONS = 20000, NAME_BYTES = 96, PATTERN_WORDS = 1 << 16 };

/* An assembled text. */
typedef struct memo {
  struct memo *next;
  gs_target_t target;
  size_t count;
  uint32_t *words;
  char text[];
} memo_t;

/* A test on a part. */
typedef struct part_test {
  CMUnitTestFunction function;
  gs_target_t part; /* ISA_PART: the test chooses itself */
  char name[NAME_BYTES];
} part_test_t;

struct isa_context {
  const gs_level_t *level;
  memo_t *memo[MEMO_BUCKETS];
  uint64_t *pattern;        /* random numbers; NULL until wanted */
  isa_coverage_t *coverage; /* NULL unless this run measures it */
  part_test_t *tests;       /* those of this level, in order */
  size_t next_test;
  gs_target_t part; /* of the test that runs */
};

const char *isa_level_name(void *const *state) {
  return ((const isa_context_t *)*state)->level->name;
}

const gs_handler_t *isa_handlers(void *const *state) {
  const isa_context_t *const context = *state;
  return gs_level_handlers(context->level, context->part);
}

static void context_fini(isa_context_t *context) {
  isa_coverage_destroy(context->coverage);
  free(context->pattern);
  for (size_t i = 0; i < MEMO_BUCKETS; i++)
    for (memo_t *m = context->memo[i], *next; m; m = next) {
      next = m->next;
      free(m->words);
      free(m);
    }
  free(context);
}

char isa_part_sets[GS_GFX9_11 + 1];

gs_target_t isa_part(void *const *state) {
  const isa_context_t *const context = *state;
  if (context->part == ISA_PART)
    fail_msg("the test has no part: list it with isa_part_test");
  return context->part;
}

static gs_target_t resolve(void *const *state, gs_target_t target) {
  return target == ISA_PART ? isa_part(state) : target;
}

/* Tests run through this, so that a measurement of coverage learns how they end. */
static void run_and_tell(void **state) {
  isa_context_t *const context = *state;
  const part_test_t *const test = &context->tests[context->next_test++];
  context->part = test->part;
  test->function(state);
  isa_coverage_passed(context->coverage);
}
static int end_test(void **state) {
  isa_coverage_test_ends(((isa_context_t *)*state)->coverage);
  return 0;
}

/* The set of gs_target_t that a test is listed with; ISA_PART if it chooses itself. */
static unsigned parts_of(const struct CMUnitTest *test) {
  unsigned set = GS_GFX9_11;
  while (set && test->initial_state != isa_part_sets + set)
    set--;
  return set;
}

/* The last one of gfx9, if there is one; else the last of all. */
static unsigned last_part(unsigned set) {
  const unsigned gfx9 = set & GS_GFX9, of = gfx9 ? gfx9 : set;
  return of ? 1u << (31 - __builtin_clz(of)) : 0;
}

/* ISA_PARTS names the parts that are of interest, as in "gfx942,gfx1100"; else all are. */
static bool is_wanted(gs_target_t part) {
  const char *const names = getenv("ISA_PARTS");
#ifndef ISA_ASSEMBLER_22
  if (part == GS_GFX950) /* of which nothing can be assembled */
    return false;
#endif
  return !names || (part != ISA_PART && strstr(names, gs_target_name(part)));
}

/* Lists the tests with their parts; only the last part unless `all_parts`. Returns how many there are. */
static size_t list_tests(isa_context_t *context, const struct CMUnitTest *tests, size_t count, bool all_parts,
                         struct CMUnitTest *list) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    for (unsigned set = parts_of(&tests[i]), once = 1; set || once; once = 0) {
      part_test_t *const test = &context->tests[n];
      test->function = tests[i].test_func;
      test->part = (gs_target_t)(all_parts ? set & -set : last_part(set));
      set = all_parts ? set & ~(unsigned)test->part : 0;
      if (!is_wanted(test->part))
        continue;
      const bool has_part = test->part != ISA_PART;
      (void)snprintf(test->name, sizeof test->name, "%s%s%s", tests[i].name, has_part ? " " : "",
                     has_part ? gs_target_name(test->part) : "");
      list[n++] = (struct CMUnitTest){test->name, run_and_tell, NULL, end_test, context};
    }
  return n;
}

/* Runs the tests with the handlers of one level; with all parts, coverage is measured, too. */
static int run_level(isa_context_t *context, const gs_level_t *level, const char *file,
                     const struct CMUnitTest *tests, size_t count, bool all_parts) {
  struct CMUnitTest *const list = calloc(count * GS_TARGET_COUNT, sizeof *list);
  context->tests = calloc(count * GS_TARGET_COUNT, sizeof *context->tests);
  int failures = 1;
  if (!list || !context->tests) {
    (void)fprintf(stderr, "%s: out of memory\n", file);
    goto done;
  }
  char title[64];
  (void)snprintf(title, sizeof title, "%.48s %s", file, level->name);
  context->level = level;
  context->next_test = 0;
  context->coverage = all_parts ? isa_coverage_create() : NULL;
  const size_t n = list_tests(context, tests, count, all_parts, list);
  failures = _cmocka_run_group_tests(title, list, n, NULL, NULL);
  if (failures == 0)
    failures = !isa_coverage_write(context->coverage, file);
  isa_coverage_destroy(context->coverage);
  context->coverage = NULL;
done:
  free(context->tests);
  context->tests = NULL;
  free(list);
  return failures;
}

/* The value of the environment that isa_new goes by. */
static const char *way_of_all(void) {
  return getenv("GFXSIM_TRANSLATE");
}

int isa_main_named(const char *name, const struct CMUnitTest *tests, size_t count) {
  const char *const slash = strrchr(name, '/'), *const file = slash ? slash + 1 : name;
  const gs_level_t *const best = gs_level_for_processor();
  isa_context_t *const context = calloc(1, sizeof *context);
  int failures = 0;
  if (!context) {
    (void)fprintf(stderr, "%s: out of memory\n", file);
    return 1;
  }
  for (size_t i = 0; i < gs_level_count; i++)
    if (gs_levels[i].runs_here())
      failures += run_level(context, &gs_levels[i], file, tests, count, &gs_levels[i] == best);
    else
      (void)fprintf(stderr, "%s: this processor has no level %s: not tested\n", file, gs_levels[i].name);
  context_fini(context);
  return failures;
}

void isa_compares_nothing(void *const *state) {
  isa_coverage_pauses(((const isa_context_t *)*state)->coverage);
}

/* ---- What parts have ---- */

static bool ends_in(const char *text, size_t length, const char *end) {
  const size_t size = strlen(end);
  return length > size && strncmp(text + length - size, end, size) == 0;
}

/* Whether an operand takes several registers. */
static bool is_wide(const gs_opcode_t *op) {
  bool wide = gs_type_dwords((gs_type_t)op->dst) > 1;
  for (unsigned i = 0; i < 3; i++)
    wide |= op->src[i] != GS_T_MASK && gs_type_dwords((gs_type_t)op->src[i]) > 1;
  return wide;
}

/* Whether the row's instruction exists in the form that `ending` asks for. */
static bool has_form(const gs_opcode_t *op, const char *ending) {
  const bool is_short = op->encoding >= GS_ENC_VOP1 && op->encoding <= GS_ENC_VOPC;
  if (strcmp(ending, "_e32") == 0)
    return is_short;
  if (strcmp(ending, "_sdwa") == 0)
    return is_short && !(op->flags & GS_OPF_NO_SDWA) && !is_wide(op);
  if (strcmp(ending, "_dpp") == 0)
    return is_short && op->encoding != GS_ENC_VOPC && !(op->flags & GS_OPF_NO_DPP);
  return strcmp(ending, "_e64") != 0 || op->encoding == GS_ENC_VOP3 ||
         (is_short && !(op->flags & GS_OPF_NO_VOP3));
}

bool isa_has(void *const *state, gs_target_t target, const char *text) {
  static const char *const endings[] = {"_e32", "_e64", "_sdwa", "_dpp"};
  size_t length = strcspn(text, " \n");
  const char *ending = "";
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_in(text, length, endings[i])) {
      ending = endings[i];
      length -= strlen(ending);
      break;
    }
  unsigned found = 0;
  for (size_t i = 0; i < gs_opcode_count; i++) {
    const gs_opcode_t *const op = &gs_opcodes[i];
    if (strncmp(op->name, text, length) == 0 && op->name[length] == '\0' && has_form(op, ending))
      found |= op->targets;
  }
  if (!found)
    fail_msg("no part has %.*s", (int)strcspn(text, " \n"), text);
  return found & resolve(state, target);
}

/* ---- Assembling ---- */

static memo_t **memo_find(isa_context_t *context, gs_target_t target, const char *text) {
  size_t hash = (size_t)target;
  for (const char *c = text; *c; c++)
    hash = hash * 31 + (unsigned char)*c;
  memo_t **link = &context->memo[hash % MEMO_BUCKETS];
  while (*link && ((*link)->target != target || strcmp((*link)->text, text) != 0))
    link = &(*link)->next;
  return link;
}

/* Remembers that `text` is words[0..count). A text given twice keeps its first result. */
static void memo_add(isa_context_t *context, gs_target_t target, const char *text, const void *words,
                     size_t count) {
  memo_t **const link = memo_find(context, target, text);
  if (*link)
    return;
  memo_t *const m = malloc(sizeof *m + strlen(text) + 1);
  uint32_t *const copy = malloc(count * sizeof *copy + 1);
  if (!m || !copy)
    fail_msg("out of memory");
  memcpy(copy, words, count * sizeof *copy);
  strcpy(m->text, text);
  m->next = NULL;
  m->target = target;
  m->count = count;
  m->words = copy;
  *link = m;
}

/* Later families have waves of two widths. */
static const char *width_option(gs_target_t target) {
  return (target & GS_GFX9) || (target & GS_WAVE32) ? "" : "-wavefrontsize32,+wavefrontsize64";
}

/* Whether the place lies in a scalar instruction's line. */
static bool is_in_scalar(const char *source, const char *at) {
  while (at > source && at[-1] != '\n')
    at--;
  at += strspn(at, " ");
  return strncmp(at, "s_", 2) == 0;
}

/* Cache bits have other names on gfx942, but in scalar instructions. */
static void rename_cache_bits(char *source) {
  static const struct {
    const char *old, *new; /* of one length */
  } names[] = {{" glc", " sc0"}, {" slc", " nt "}, {" scc", " sc1"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (char *at = source; (at = strstr(at, names[i].old)); at++)
      if ((at[4] == '\n' || at[4] == ' ') && !is_in_scalar(source, at))
        memcpy(at, names[i].new, 4);
}

static bool is_ending(const char *text, size_t length) {
  static const char *const endings[] = {"_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (strlen(endings[i]) == length && strncmp(text, endings[i], length) == 0)
      return true;
  return false;
}

/* Whether a text has an instruction that gfx950 brought. LLVM 16, which knows it as gfx940, assembles all
 * others, which these tests spell as it does. */
static bool is_newer(const char *text) {
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    const size_t length = strcspn(line, " \n");
    if (strncmp(line, "v_mfma_scale", 12) == 0) /* a name for two of them */
      return true;
    for (size_t i = 0; i < gs_opcode_count; i++) {
      const gs_opcode_t *const op = &gs_opcodes[i];
      const size_t name = strlen(op->name);
      if (op->targets == GS_GFX950 && name <= length && strncmp(op->name, line, name) == 0 &&
          (name == length || is_ending(line + name, length - name)))
        return true;
    }
  }
  return false;
}
static isa_assembler_t assembler_for(bool newer) {
  const isa_assembler_t old = {isa_assembler_run, isa_object_release};
  const isa_assembler_t *const assembler = newer ? isa_assembler_newer() : &old;
  if (!assembler)
    fail_msg("gfx950 wants LLVM 22's library");
  return *assembler;
}

/* What the assembler, LLVM 16, is told: it does not know gfx1151, whose texts here gfx1100 has, too. */
static const char *assembler_cpu(gs_target_t target) {
  return target & GS_GFX11_5 ? gs_target_name(GS_GFX1100) : isa_llvm_cpu(target);
}

/* Takes the sections named isa<N> out of an object: each is the code of texts[N]. */
static void take_sections(isa_context_t *context, gs_target_t target, const char *const *texts, size_t count,
                          const uint8_t *object) {
  const Elf64_Ehdr *const header = (const void *)object;
  const Elf64_Shdr *const sections = (const void *)(object + header->e_shoff);
  /* An object with very many sections keeps their number and the name table's index in section 0. */
  const size_t section_count = header->e_shnum ? header->e_shnum : sections[0].sh_size;
  const size_t names = header->e_shstrndx == SHN_XINDEX ? sections[0].sh_link : header->e_shstrndx;
  size_t found = 0;
  for (size_t i = 1; i < section_count; i++) {
    const char *const name = (const char *)object + sections[names].sh_offset + sections[i].sh_name;
    size_t index;
    if (sections[i].sh_type != SHT_PROGBITS || sscanf(name, "isa%zu", &index) != 1 || index >= count)
      continue;
    memo_add(context, target, texts[index], object + sections[i].sh_offset, sections[i].sh_size / 4);
    found++;
  }
  if (found != count)
    fail_msg("the assembler made code of %zu texts out of %zu", found, count);
}

/* Assembles texts that are not in the memo yet, in one run. */
static void assemble_by(isa_context_t *context, gs_target_t target, const char *const *texts, size_t count,
                        bool newer) {
  isa_coverage_assembles(context->coverage);
  size_t length = 1;
  for (size_t i = 0; i < count; i++)
    length += strlen(texts[i]) + 64;
  char *const source = malloc(length);
  if (!source)
    fail_msg("out of memory");
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    at += (size_t)snprintf(source + at, length - at, ".section isa%zu,\"ax\",@progbits\n%s\n", i, texts[i]);

  if (target & GS_GFX9_4)
    rename_cache_bits(source);
  const isa_assembler_t assembler = assembler_for(newer);
  const char *const processor = newer ? gs_target_name(target) : assembler_cpu(target);
  isa_object_t object;
  char *wrong;
  const bool good = assembler.run(processor, width_option(target), source, &object, &wrong);
  free(source);
  if (!good)
    fail_msg("%s does not assemble for %s: %s (%s)", count == 1 ? "text" : "one of many texts", processor,
             texts[0], wrong ? wrong : "out of memory");
  take_sections(context, target, texts, count, object.bytes);
  assembler.release(&object);
}
static void assemble(isa_context_t *context, gs_target_t target, const char *const *texts, size_t count) {
  const char **const sorted = malloc((count + 1) * sizeof *sorted);
  if (!sorted)
    fail_msg("out of memory");
  size_t old = 0, newer = count;
  for (size_t i = 0; i < count; i++)
    if (target == GS_GFX950 && is_newer(texts[i]))
      sorted[--newer] = texts[i];
    else
      sorted[old++] = texts[i];
  if (old)
    assemble_by(context, target, sorted, old, false);
  if (newer < count)
    assemble_by(context, target, sorted + newer, count - newer, true);
  free(sorted);
}

void isa_prepare(void *const *state, gs_target_t target, const char *const *first, size_t stride,
                 size_t count) {
  isa_context_t *const context = *state;
  target = resolve(state, target);
  const char **const texts = malloc((count + 1) * sizeof *texts);
  if (!texts)
    fail_msg("out of memory");
  size_t missing = 0;
  for (size_t i = 0; i < count; i++) {
    const char *text;
    memcpy(&text, (const char *)first + i * stride, sizeof text);
    if (!*memo_find(context, target, text)) /* one that is listed twice is assembled twice */
      texts[missing++] = text;
  }
  for (size_t done = 0; done < missing; done += MOST_SECTIONS)
    assemble(context, target, texts + done, missing - done < MOST_SECTIONS ? missing - done : MOST_SECTIONS);
  free(texts);
}

const uint32_t *isa_assemble(void *const *state, gs_target_t target, const char *text, size_t *count) {
  isa_context_t *const context = *state;
  target = resolve(state, target);
  memo_t *const *const link = memo_find(context, target, text);
  if (!*link)
    assemble(context, target, &text, 1);
  const memo_t *const m = *memo_find(context, target, text);
  *count = m->count;
  return m->words;
}

/* ---- Waves ---- */

uint64_t isa_random(uint64_t *seed) {
  uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Part of a pattern that is made once; each seed begins elsewhere in it. */
static void fill_random(isa_context_t *context, void *bytes, size_t size, uint64_t seed) {
  if (!context->pattern) {
    context->pattern = malloc(PATTERN_WORDS * sizeof *context->pattern);
    if (!context->pattern)
      fail_msg("out of memory");
    uint64_t random = 1;
    for (size_t i = 0; i < PATTERN_WORDS; i++)
      context->pattern[i] = isa_random(&random);
  }
  const size_t starts = PATTERN_WORDS - size / sizeof *context->pattern;
  memcpy(bytes, context->pattern + isa_random(&seed) % starts, size);
}

void isa_reset(isa_wave_t *t, unsigned seed) {
  memset(&t->w, 0, sizeof t->w);
  fill_random(t->context, t->v, sizeof t->v, seed * 16 + UINT64_C(1));
  fill_random(t->context, &t->w.s, sizeof t->w.s, seed * 16 + UINT64_C(2));
  fill_random(t->context, t->lds, sizeof t->lds, seed * 16 + UINT64_C(3));
  fill_random(t->context, t->memory, sizeof t->memory, seed * 16 + UINT64_C(4));
  fill_random(t->context, t->readonly, sizeof t->readonly, seed * 16 + UINT64_C(5));
  t->w.v = t->v;
  t->w.env = &t->env;
  gs_set_exec(&t->w, UINT64_MAX);
  gs_wave_set_mode(&t->w, GS_MODE_FP_DEFAULT | GS_MODE_DX10_CLAMP | GS_MODE_IEEE);
  t->interrupts = 0;
  t->interrupt_id = 0;
}

static void count_interrupt(void *context, uint32_t event_id) {
  isa_wave_t *const t = context;
  t->interrupts++;
  t->interrupt_id = event_id;
}

static uint64_t read_clock(void) {
  return ISA_CLOCK;
}

static bool map(isa_wave_t *t, uint64_t start, uint8_t *host, uint64_t size, uint32_t access) {
  const gs_vm_range_t range = {.start = start,
                               .end = start + size,
                               .host = host,
                               .allocation = start,
                               .allocation_size = size,
                               .access = access};
  return gs_vm_map(t->vm, &range) == 0;
}

isa_wave_t *isa_new(void *const *state, gs_target_t target) {
  return isa_new_on(state, target, way_of_all());
}

isa_wave_t *isa_new_on(void *const *state, gs_target_t target, const char *way) {
  isa_wave_t *t = NULL;
  if (posix_memalign((void **)&t, _Alignof(isa_wave_t), sizeof *t) != 0)
    fail_msg("out of memory");
  memset(t, 0, sizeof *t);
  t->context = *state;
  t->env = (gs_wave_env_t){
      .target = resolve(state, target),
      .lds = t->lds,
      .lds_bytes = ISA_LDS_BYTES,
      .hw_id = UINT32_C(0x89abcdef),
      .status = 1 << 11, /* IN_TG: it is one of several waves */
      .doorbell_id = UINT32_C(0x123),
      .clock = read_clock,
      .send_interrupt = count_interrupt,
      .context = t,
      .vm = &t->reader,
  };
  t->device = way ? isa_device_create(t->env.target, t->context->level, way) : NULL;
  t->vm = t->device ? isa_device_vm(t->device) : way ? NULL : gs_vm_create();
  if (!t->vm || !map(t, ISA_CODE, t->code, ISA_CODE_BYTES, GS_VM_READ | GS_VM_EXECUTE) ||
      !map(t, ISA_MEMORY, t->memory, ISA_MEMORY_BYTES, GS_VM_READ | GS_VM_WRITE) ||
      !map(t, ISA_READONLY, t->readonly, ISA_READONLY_BYTES, GS_VM_READ))
    fail_msg("cannot make an address space");
  gs_vm_reader_register(t->vm, &t->reader);
  (void)gs_vm_reader_enter(&t->reader);
  isa_reset(t, 0);
  return t;
}

void isa_free(isa_wave_t *t) {
  gs_vm_reader_leave(&t->reader);
  gs_vm_reader_unregister(&t->reader);
  if (t->device)
    isa_device_destroy(t->device);
  else
    gs_vm_destroy(t->vm);
  free(t);
}

/* ---- Running ---- */

void isa_step(isa_wave_t *t) {
  t->w.state = GS_WAVE_RUNNING;
  const size_t at = (size_t)(t->w.pc - ISA_CODE);
  uint32_t words[3] = {0};
  const size_t left = t->code_bytes - at;
  memcpy(words, t->code + at, left < sizeof words ? left : sizeof words);
  const bool known = gs_decode(t->env.target, words, left / 4 < 3 ? left / 4 : 3, &t->inst);
  const uint64_t pc = t->w.pc;
  t->w.pc += t->inst.size;
  if (known)
    t->inst.fn = gs_handler_fn(&gs_level_handlers(t->context->level, t->env.target)[t->inst.op - gs_opcodes]);
  gs_inst_t changed;
  const gs_inst_t *in = &t->inst;
  if (t->w.mode & GS_MODE_CHANGES)
    in = gs_mode_apply(&t->w, in, &changed);
  if (in->fn && t->executed)
    t->executed[in->op - gs_opcodes]++;
  if (in->fn && in->op == t->falsified)
    t->falsifications += isa_coverage_execute_wrongly(t, in);
  else if (in->fn)
    isa_coverage_execute(t->context->coverage, t, in);
  else
    gs_wave_fault(&t->w, GS_WAVE_FAULT_ILLEGAL, pc, 0, GS_LANES);
}

static bool is_in_program(const isa_wave_t *t) {
  return t->w.pc >= ISA_CODE && t->w.pc < ISA_CODE + t->code_bytes;
}

/* The program's last instruction, or its first words that are none. */
static void find_last(isa_wave_t *t) {
  size_t at = 0;
  do {
    uint32_t words[3] = {0};
    const size_t left = t->code_bytes - at, bytes = left < sizeof words ? left : sizeof words;
    memcpy(words, t->code + at, bytes);
    (void)gs_decode(t->env.target, words, bytes / 4, &t->inst);
    at += t->inst.size;
  } while (t->inst.op && at < t->code_bytes);
}

/* A device knows nothing of the program's end: there are instructions behind it that end the wave. Nor has it
 * a fault when control goes where nothing is mapped, but here. */
static void leave_program(isa_wave_t *t) {
  gs_wave_t *const w = &t->w;
  const bool ran_off = w->state == GS_WAVE_ENDED && w->pc > ISA_CODE + t->code_bytes;
  const bool went_off = w->state == GS_WAVE_FAULTED && w->fault.access == GS_VM_EXECUTE && !is_in_program(t);
  if (ran_off)
    w->pc -= 4;
  if (went_off)
    memset(&w->fault, 0, sizeof w->fault);
  if (ran_off || went_off)
    w->state = GS_WAVE_RUNNING;
}

static gs_wave_state_t resume_on_device(isa_wave_t *t) {
  enum { TURNS = 500 };
  gs_vm_reader_leave(&t->reader);
  t->w.state = GS_WAVE_RUNNING;
  for (unsigned turn = 0; t->w.state == GS_WAVE_RUNNING && is_in_program(t); turn++) {
    if (turn == TURNS)
      fail_msg("the program does not end");
    isa_device_run(t->device, &t->w, &t->env);
    leave_program(t);
    if (t->w.state == GS_WAVE_RUNNING && is_in_program(t))
      isa_add_place(&t->turns, &t->w);
  }
  (void)gs_vm_reader_enter(&t->reader);
  find_last(t);
  if (t->w.state == GS_WAVE_FAULTED) { /* as isa_step leaves it */
    uint32_t words[3];
    memcpy(words, t->code + (t->w.pc - ISA_CODE), sizeof words);
    (void)gs_decode(t->env.target, words, 3, &t->inst);
    t->w.pc += t->inst.size;
  }
  return t->w.state;
}

gs_wave_state_t isa_resume(isa_wave_t *t) {
  if (t->device)
    return resume_on_device(t);
  t->w.state = GS_WAVE_RUNNING;
  t->steps = 0;
  while (t->w.state == GS_WAVE_RUNNING && is_in_program(t)) {
    if (t->steps++ == ISA_MAX_STEPS)
      fail_msg("the program does not end");
    isa_step(t);
  }
  return t->w.state;
}

/* Behind the program only what ends a wave. */
static void fill_up(isa_wave_t *t) {
  const uint32_t end = t->env.target & GS_GFX11 ? 0xbfb00000 : 0xbf810000;
  for (size_t at = t->code_bytes; at < ISA_CODE_BYTES; at += sizeof end)
    memcpy(t->code + at, &end, sizeof end);
}

void isa_load(isa_wave_t *t, const uint32_t *words, size_t count) {
  if (count * 4 >= ISA_CODE_BYTES)
    fail_msg("the program is too long");
  const bool is_there = count && t->code_bytes == count * 4 && !memcmp(t->code, words, count * 4);
  if (count)
    memcpy(t->code, words, count * 4);
  t->code_bytes = count * 4;
  t->w.pc = ISA_CODE;
  memset(&t->w.fault, 0, sizeof t->w.fault);
  if (!t->device || is_there)
    return; /* what was translated is good, and most texts run many times, with other values */
  fill_up(t);
  if (gs_vm_invalidate_code(t->vm))
    fail_msg("out of memory");
}

gs_wave_state_t isa_run_words(isa_wave_t *t, const uint32_t *words, size_t count) {
  isa_coverage_program_starts(t->context->coverage);
  isa_load(t, words, count);
  t->before.w = t->w;
  memcpy(t->before.v, t->v, sizeof t->before.v);
  memcpy(t->before.lds, t->lds, sizeof t->lds);
  memcpy(t->before.memory, t->memory, sizeof t->memory);
  t->before.interrupts = t->interrupts;
  return isa_resume(t);
}

gs_wave_state_t isa_run(isa_wave_t *t, const char *text) {
  void *const state = t->context;
  size_t count;
  const uint32_t *const words = isa_assemble(&state, t->env.target, text, &count);
  const gs_wave_state_t result = isa_run_words(t, words, count);
  if (!t->inst.op)
    fail_msg("an instruction does not decode in: %s", text);
  return result;
}

/* ---- Checks ---- */

/* What a list like "v0 s[2:3] vcc" names. */
typedef struct change_list {
  bool s[GS_SGPRS];
  bool v[GS_VGPRS];
  bool scc, mode, trapsts, memory, lds;
} change_list_t;

static void add_registers(change_list_t *list, char kind, unsigned first, unsigned last) {
  const unsigned base = kind == 'a' ? GS_ARCH_VGPRS : 0;
  const unsigned end = kind == 's' ? GS_SGPRS : base + GS_ARCH_VGPRS;
  for (unsigned r = base + first; r <= base + last && r < end; r++)
    (kind == 's' ? list->s : list->v)[r] = true;
}

static void parse_name(change_list_t *list, const char *name) {
  const struct {
    const char *name;
    bool *flag;
    unsigned sgpr, count;
  } named[] = {
      {"vcc", NULL, GS_S_VCC, 2},
      {"exec", NULL, GS_S_EXEC, 2},
      {"m0", NULL, GS_S_M0, 1},
      {"flat_scratch", NULL, GS_S_FLAT_SCRATCH, 2},
      {"xnack_mask", NULL, GS_S_XNACK_MASK, 2},
      {"scc", &list->scc, 0, 0},
      {"mode", &list->mode, 0, 0},
      {"trapsts", &list->trapsts, 0, 0},
      {"memory", &list->memory, 0, 0},
      {"lds", &list->lds, 0, 0},
  };
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (strcmp(named[i].name, name) == 0) {
      if (named[i].flag)
        *named[i].flag = true;
      for (unsigned r = 0; r < named[i].count; r++)
        list->s[named[i].sgpr + r] = true;
      return;
    }
  unsigned first, last;
  char kind;
  if (sscanf(name, "%c[%u:%u]", &kind, &first, &last) == 3 && strchr("sva", kind))
    add_registers(list, kind, first, last);
  else if (sscanf(name, "%c%u", &kind, &first) == 2 && strchr("sva", kind))
    add_registers(list, kind, first, first);
  else
    fail_msg("isa_assert_only_changed: unknown name %s", name);
}

static void parse_list(change_list_t *list, const char *text) {
  char copy[512];
  if (strlen(text) >= sizeof copy)
    fail_msg("isa_assert_only_changed: list too long");
  strcpy(copy, text);
  char *rest = NULL;
  for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
    parse_name(list, name);
}

static const char *last_text(const isa_wave_t *t, char *text, size_t size) {
  if (t->inst.op)
    (void)gs_disassemble(t->env.target, &t->inst, text, size);
  else
    (void)snprintf(text, size, "0x%08x", t->inst.word[0]);
  return text;
}

static void compare_vector(const isa_wave_t *t, unsigned r, uint64_t lanes) {
  if (memcmp(&t->v[r], &t->before.v[r], sizeof t->v[r]) == 0)
    return;
  char text[128];
  for (unsigned l = 0; l < GS_LANES; l++)
    if ((lanes >> l & 1) && t->v[r].u32[l] != t->before.v[r].u32[l])
      fail_msg("%s: %c%u lane %u changed from 0x%08x to 0x%08x", last_text(t, text, sizeof text),
               r < GS_ARCH_VGPRS ? 'v' : 'a', r % GS_ARCH_VGPRS, l, t->before.v[r].u32[l], t->v[r].u32[l]);
}

static void compare_word(const isa_wave_t *t, const char *name, unsigned number, uint32_t before,
                         uint32_t after) {
  char text[128];
  if (before != after)
    fail_msg("%s: %s%u changed from 0x%08x to 0x%08x", last_text(t, text, sizeof text), name, number, before,
             after);
}

static void compare_bytes(const isa_wave_t *t, const char *name, const uint8_t *before, const uint8_t *after,
                          size_t size) {
  if (memcmp(before, after, size) == 0)
    return;
  char text[128];
  for (size_t i = 0; i < size; i++)
    if (before[i] != after[i])
      fail_msg("%s: %s byte 0x%zx changed from 0x%02x to 0x%02x", last_text(t, text, sizeof text), name, i,
               before[i], after[i]);
}

void isa_assert_only_changed(const isa_wave_t *t, const char *text) {
  change_list_t list = {.scc = false};
  parse_list(&list, text);
  const gs_wave_t *const was = &t->before.w, *const is = &t->w;
  for (unsigned r = 0; r < GS_S_NULL; r++)
    if (!list.s[r])
      compare_word(t, "s", r, was->s.u32[r], is->s.u32[r]);
  for (unsigned r = 0; r < GS_VGPRS; r++)
    if (!list.v[r])
      compare_vector(t, r, UINT64_MAX);
  if (!list.scc)
    compare_word(t, "scc", 0, was->scc, is->scc);
  if (!list.mode)
    compare_word(t, "mode", 0, was->mode, is->mode);
  if (!list.trapsts)
    compare_word(t, "trapsts", 0, was->trapsts, is->trapsts);
  if (!list.memory)
    compare_bytes(t, "memory", t->before.memory, t->memory, sizeof t->memory);
  if (!list.lds)
    compare_bytes(t, "lds", t->before.lds, t->lds, sizeof t->lds);
}

void isa_assert_lanes_kept(const isa_wave_t *t, unsigned first, unsigned count, uint64_t mask) {
  for (unsigned r = first; r < first + count; r++)
    compare_vector(t, r, ~mask);
}

void isa_assert_fault(const isa_wave_t *t, gs_wave_fault_kind_t kind) {
  char text[128];
  if (t->w.state != GS_WAVE_FAULTED || t->w.fault.kind != kind)
    fail_msg("%s: state %u fault %u, expected fault %u", last_text(t, text, sizeof text), t->w.state,
             t->w.fault.kind, (unsigned)kind);
}

/* ---- Values ---- */

void isa_fill32(gs_row_t *row, const uint32_t *values, size_t count, size_t repeat, size_t start) {
  for (unsigned l = 0; l < GS_LANES; l++)
    row->u32[l] = values[(l / repeat + start) % count];
}

void isa_fill64(gs_row_t row[2], const uint64_t *values, size_t count, size_t repeat, size_t start) {
  for (unsigned l = 0; l < GS_LANES; l++)
    isa_set_u64(row, l, values[(l / repeat + start) % count]);
}

const uint32_t isa_u32_edges[] = {
    0,          1,          2,          3,          15,         16,         17,         31,
    32,         33,         63,         64,         0x7f,       0x80,       0xff,       0x100,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000000,
    0x55555555, 0xaaaaaaaa, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xffff7fff, 0xffff8000,
    0xffff8001, 0xfffffffe, 0xffffffff, 0x12345678,
};
const size_t isa_u32_edge_count = sizeof isa_u32_edges / sizeof *isa_u32_edges;

#define U64(x) UINT64_C(x)
const uint64_t isa_u64_edges[] = {
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    65,
    U64(0x7fffffff),
    U64(0x80000000),
    U64(0xffffffff),
    U64(0x100000000),
    U64(0x5555555555555555),
    U64(0xaaaaaaaaaaaaaaaa),
    U64(0x7fffffffffffffff),
    U64(0x8000000000000000),
    U64(0x8000000000000001),
    U64(0xffffffff00000000),
    U64(0xffffffff7fffffff),
    U64(0xffffffff80000000),
    U64(0xfffffffffffffffe),
    U64(0xffffffffffffffff),
    U64(0x123456789abcdef0),
};
const size_t isa_u64_edge_count = sizeof isa_u64_edges / sizeof *isa_u64_edges;

const uint32_t isa_f32_edges[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3effffff, 0x3f000000, 0x3f000001, 0xbf000000, 0x3f7fffff, 0x3f800000, 0xbf800000,
    0x3f800001, 0x3fc00000, 0xbfc00000, 0x40000000, 0x40200000, 0x40490fdb, 0x41300000, 0x4b000001,
    0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fbfffff, 0x7fc00000,
    0xffc00000, 0x7fffffff, 0x7fc12345,
};
const size_t isa_f32_edge_count = sizeof isa_f32_edges / sizeof *isa_f32_edges;

const uint64_t isa_f64_edges[] = {
    U64(0x0000000000000000), U64(0x8000000000000000), U64(0x0000000000000001), U64(0x8000000000000001),
    U64(0x000fffffffffffff), U64(0x800fffffffffffff), U64(0x0010000000000000), U64(0x8010000000000000),
    U64(0x36a0000000000000), U64(0x3fdfffffffffffff), U64(0x3fe0000000000000), U64(0xbfe0000000000000),
    U64(0x3fefffffffffffff), U64(0x3ff0000000000000), U64(0xbff0000000000000), U64(0x3ff0000000000001),
    U64(0x3ff8000000000000), U64(0xbff8000000000000), U64(0x4000000000000000), U64(0x4004000000000000),
    U64(0x400921fb54442d18), U64(0x41dfffffffc00000), U64(0x41e0000000000000), U64(0xc1e0000000000000),
    U64(0xc1e0000000200000), U64(0x41efffffffe00000), U64(0x41f0000000000000), U64(0x4330000000000001),
    U64(0x43e0000000000000), U64(0x47efffffe0000000), U64(0x47effffff0000000), U64(0x7fefffffffffffff),
    U64(0xffefffffffffffff), U64(0x7ff0000000000000), U64(0xfff0000000000000), U64(0x7ff0000000000001),
    U64(0xfff0000000000001), U64(0x7ff7ffffffffffff), U64(0x7ff8000000000000), U64(0xfff8000000000000),
    U64(0x7fffffffffffffff), U64(0x7ff8123456789abc),
};
const size_t isa_f64_edge_count = sizeof isa_f64_edges / sizeof *isa_f64_edges;

const uint32_t isa_f16_edges[] = {
    0x5a5a0000, 0xa5a58000, 0x00010001, 0xffff8001, 0x123403ff, 0x000083ff, 0x00000400, 0x7fff8400,
    0x00000401, 0x3c0037ff, 0xbc003800, 0x0000b800, 0x80003bff, 0x00003c00, 0xffffbc00, 0x00013c01,
    0x00003e00, 0x7c00be00, 0x00004000, 0x00004100, 0x00004248, 0xfc006401, 0x00006800, 0x000077ff,
    0x00007800, 0x7e007bff, 0x0000fbff, 0x00007c00, 0x3c00fc00, 0x00007c01, 0x0000fc01, 0x12347dff,
    0x00007e00, 0xfe00fe00, 0x00007fff, 0x00007e12,
};
const size_t isa_f16_edge_count = sizeof isa_f16_edges / sizeof *isa_f16_edges;
