/* See coverage.h: faults that tests must notice. Before an instruction is executed the process forks; the
 * copy executes it, falsifies one bit of what it did, and goes on. A test that compares the result fails in
 * the copy. Not here: tests, and the table of results. */
#include "coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  PARTS = GS_TARGET_COUNT,
  TRIES_IN_A_ROW = 3, /* executions of an opcode by a test that are falsified; later ones at powers of two */
  PROGRAMS_OF_A_COPY = 4, /* a fault that was not noticed for so long never is */
  SECONDS_OF_A_COPY = 60,
  EXIT_UNNOTICED = 0,
  EXIT_NOTICED = 1,
  EXIT_NO_EFFECT = 2, /* the instruction changed nothing that could be falsified */
};

/* What is falsified. Instructions may have several results, a register and a carry for instance. */
typedef enum fault {
  FAULT_FIRST,   /* the first thing that the instruction changed */
  FAULT_LAST,    /* the last one */
  FAULT_NOTHING, /* for instructions without effect: a register that they should have left alone */
  FAULTS
} fault_t;

typedef struct tally {
  uint32_t executions; /* by the running test */
  uint32_t test;       /* which was that, counted from 1 */
  uint8_t noticed;     /* bits of fault_t */
  bool effect;         /* some execution changed something */
} tally_t;

struct isa_coverage {
  tally_t (*rows)[PARTS];
  bool faults;       /* try them; else only what is executed is of interest */
  bool copy, passed; /* this process is a copy; its test has passed */
  bool paused;       /* until the running test ends */
  unsigned programs; /* that the copy ran */
  uint32_t test;     /* the running one, counted from 1 */
};

isa_coverage_t *isa_coverage_create(void) {
  if (!getenv("ISA_COVERAGE"))
    return NULL;
  isa_coverage_t *c = calloc(1, sizeof *c);
  if (c)
    c->rows = calloc(gs_opcode_count, sizeof *c->rows);
  if (!c || !c->rows) {
    (void)fprintf(stderr, "coverage: out of memory\n");
    exit(EXIT_FAILURE);
  }
  c->faults = getenv("ISA_COVERAGE_FAULTS") != NULL;
  c->test = 1;
  return c;
}

void isa_coverage_destroy(isa_coverage_t *c) {
  if (c)
    free(c->rows);
  free(c);
}

/* ---- In the copy ---- */

/* A byte that the instruction changed, the first or the last one. */
static void look_at(uint8_t *now, const uint8_t *before, size_t size, uint8_t **first, uint8_t **last) {
  for (size_t i = 0; i < size; i++)
    if (now[i] != before[i]) {
      if (!*first)
        *first = now + i;
      *last = now + i;
    }
}

/* Everything that an instruction can change, as bytes. Returns whether it did. */
static bool find_changes(isa_wave_t *t, const isa_registers_t *before, uint8_t **first, uint8_t **last) {
  gs_wave_t *w = &t->w;
  look_at((uint8_t *)t->v, (const uint8_t *)before->v, sizeof before->v, first, last);
  look_at(t->lds, before->lds, sizeof t->lds, first, last);
  look_at(t->memory, before->memory, sizeof t->memory, first, last);
  look_at((uint8_t *)&w->s, (const uint8_t *)&before->w.s, sizeof w->s, first, last);
  look_at((uint8_t *)&w->scc, (const uint8_t *)&before->w.scc, sizeof w->scc, first, last);
  look_at((uint8_t *)&w->mode, (const uint8_t *)&before->w.mode, sizeof w->mode, first, last);
  look_at((uint8_t *)&w->trapsts, (const uint8_t *)&before->w.trapsts, sizeof w->trapsts, first, last);
  look_at((uint8_t *)&w->pc, (const uint8_t *)&before->w.pc, sizeof w->pc, first, last);
  look_at(&w->state, &before->w.state, sizeof w->state, first, last);
  look_at((uint8_t *)&t->interrupts, (const uint8_t *)&before->interrupts, sizeof t->interrupts, first, last);
  return *first != NULL;
}

/* Executes the instruction, wrongly. Returns false, and falsifies nothing, if it has no effect, or one where
 * none is wanted. */
static bool execute_wrongly(isa_wave_t *t, const gs_inst_t *in, fault_t fault) {
  isa_registers_t *before = aligned_alloc(_Alignof(isa_registers_t), sizeof *before);
  uint8_t *first = NULL, *last = NULL;
  if (!before) {
    (void)fprintf(stderr, "coverage: out of memory\n");
    _exit(EXIT_UNNOTICED);
  }
  before->w = t->w;
  memcpy(before->v, t->v, sizeof before->v);
  memcpy(before->lds, t->lds, sizeof t->lds);
  memcpy(before->memory, t->memory, sizeof t->memory);
  before->interrupts = t->interrupts;
  in->fn(&t->w, in);
  const bool effect = find_changes(t, before, &first, &last);
  free(before);
  if (effect != (fault != FAULT_NOTHING))
    return false;
  uint8_t *at = fault == FAULT_FIRST  ? first
                : fault == FAULT_LAST ? last
                                      : (uint8_t *)&t->v[GS_ARCH_VGPRS - 1];
  if (at == &t->w.state) /* the wave runs on where it should have stopped */
    t->w.state = GS_WAVE_RUNNING;
  else if (at >= (uint8_t *)&t->w.pc && at < (uint8_t *)(&t->w.pc + 1))
    t->w.pc ^= 4;
  else
    *at ^= 1;
  return true;
}

bool isa_coverage_execute_wrongly(isa_wave_t *t, const gs_inst_t *in) {
  return execute_wrongly(t, in, FAULT_FIRST);
}

static void become_copy(isa_coverage_t *c) {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
    _exit(EXIT_UNNOTICED);
  c->copy = true;
  (void)alarm(SECONDS_OF_A_COPY);
}

void isa_coverage_assembles(const isa_coverage_t *c) {
  if (c && c->copy)
    _exit(EXIT_UNNOTICED);
}
void isa_coverage_program_starts(isa_coverage_t *c) {
  if (c && c->copy && ++c->programs > PROGRAMS_OF_A_COPY)
    _exit(EXIT_UNNOTICED);
}
void isa_coverage_passed(isa_coverage_t *c) {
  if (c)
    c->passed = true;
}
void isa_coverage_pauses(isa_coverage_t *c) {
  if (c)
    c->paused = true;
}
void isa_coverage_test_ends(isa_coverage_t *c) {
  if (c && c->copy)
    _exit(c->passed ? EXIT_UNNOTICED : EXIT_NOTICED);
  if (c) {
    c->passed = c->paused = false;
    c->test++;
  }
}

/* ---- In the process that measures ---- */

/* Whether a copy of this process, in which the instruction goes wrong, notices. */
static int try_fault(isa_coverage_t *c, isa_wave_t *t, const gs_inst_t *in, fault_t fault) {
  (void)fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    become_copy(c);
    if (!execute_wrongly(t, in, fault))
      _exit(EXIT_NO_EFFECT);
    return EXIT_UNNOTICED;
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    (void)fprintf(stderr, "coverage: cannot fork: %s\n", strerror(errno));
    exit(EXIT_FAILURE);
  }
  /* A copy that ran into its time limit has noticed nothing. */
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_UNNOTICED;
}

/* Tries the faults that were not noticed so far. Returns false in the copy. */
static bool try_faults(isa_coverage_t *c, isa_wave_t *t, const gs_inst_t *in, tally_t *tally) {
  bool effect = true;
  for (unsigned fault = 0; fault < FAULTS; fault++) {
    if ((tally->noticed >> fault & 1) || (fault == FAULT_NOTHING ? effect : !effect))
      continue;
    const int result = try_fault(c, t, in, (fault_t)fault);
    if (c->copy)
      return false;
    if (result == EXIT_NO_EFFECT)
      effect = false;
    else if (fault != FAULT_NOTHING)
      tally->effect = true;
    if (result == EXIT_NOTICED)
      tally->noticed = (uint8_t)(tally->noticed | 1u << fault);
  }
  return true;
}

/* Its place in gs_targets. */
static unsigned part_of(gs_target_t target) {
  unsigned part = 0;
  while (gs_targets[part] != target)
    part++;
  return part;
}

static bool complete(const tally_t *tally) {
  const unsigned both = 1u << FAULT_FIRST | 1u << FAULT_LAST;
  return tally->effect ? (tally->noticed & both) == both : tally->noticed >> FAULT_NOTHING & 1;
}

/* Counts an execution of the opcode. Returns false in the copy, which has executed the instruction. */
static bool count(isa_coverage_t *c, isa_wave_t *t, const gs_inst_t *in, const gs_opcode_t *op) {
  tally_t *tally = &c->rows[op - gs_opcodes][part_of(t->env.target)];
  /* Each test gets its chance: others may execute the opcode often without a look at what it does. */
  const uint32_t n = tally->executions = tally->test == c->test ? tally->executions + 1 : 1;
  tally->test = c->test;
  const bool wanted = c->faults && (n <= TRIES_IN_A_ROW || (n & (n - 1)) == 0);
  return !wanted || (tally->effect && complete(tally)) || try_faults(c, t, in, tally);
}

/* A pair counts for both its halves: the one's result changes first, and the other's last. */
void isa_coverage_execute(isa_coverage_t *c, isa_wave_t *t, const gs_inst_t *in) {
  if (c && !c->copy && !c->paused) {
    if (!count(c, t, in, in->op))
      return;
    if (in->op->encoding == GS_ENC_VOPD && !count(c, t, in, gs_dual_opcode(in)))
      return;
  }
  in->fn(&t->w, in);
}

bool isa_coverage_write(const isa_coverage_t *c, const char *test) {
  if (!c)
    return true;
  const char *const path = getenv("ISA_COVERAGE");
  FILE *const f = path ? fopen(path, "w") : NULL;
  if (!f) {
    (void)fprintf(stderr, "coverage: %s: %s\n", path ? path : "ISA_COVERAGE", strerror(errno));
    return false;
  }
  for (size_t i = 0; i < gs_opcode_count; i++) {
    unsigned executed = 0, tested = 0;
    for (unsigned part = 0; part < PARTS; part++) {
      const tally_t *const tally = &c->rows[i][part];
      executed |= tally->executions > 0 ? (unsigned)gs_targets[part] : 0;
      tested |= (c->faults ? complete(tally) : tally->executions > 0) ? (unsigned)gs_targets[part] : 0;
    }
    if (executed)
      (void)fprintf(f, "%zu %s %u %u %s\n", i, gs_opcodes[i].name, executed, tested, test);
  }
  return fclose(f) == 0;
}
