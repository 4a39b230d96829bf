/* Test bench for instructions: one wave with patterned registers, LDS and a few pages of GPU memory, which
 * runs assembly text (assembled by LLVM, decoded by gfxsim) with the handlers of one level of host
 * instruction set, on one part. Every test executable runs all its tests on each part with the best level
 * that this processor has, and with the other levels on gfx90a; see isa_main. Not here: what instructions
 * should do (test_*.c).
 *
 *   static void test_add(void **state) {
 *     isa_wave_t *t = isa_new(state, ISA_PART);
 *     isa_fill32(&t->v[1], isa_u32_edges, isa_u32_edge_count, 1, 0);
 *     isa_run(t, "v_add_u32 v0, v1, s2");
 *     for (unsigned l = 0; l < GS_LANES; l++)
 *       assert_int_equal(t->v[0].u32[l], t->v[1].u32[l] + t->w.s.u32[2]);
 *     isa_assert_only_changed(t, "v0");
 *     isa_free(t);
 *   }
 *   int main(void) {
 *     static const struct CMUnitTest tests[] = {isa_part_test(test_add)};
 *     return isa_main(tests, sizeof tests / sizeof *tests);
 *   } */
#ifndef TEST_ISA_HARNESS_H
#define TEST_ISA_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vm.h"
#include "isa/inst.h"
#include "isa/ops.h"
#include "isa/strip_rows.h"
#include "isa/wave.h"

/* GPU addresses of what a test wave can reach. Nothing is mapped between or beyond them. */
#define ISA_CODE     UINT64_C(0x100000000)        /* the program that runs: read and execute */
#define ISA_MEMORY   UINT64_C(0x200000000)        /* isa_wave_t.memory: read and write */
#define ISA_READONLY UINT64_C(0x300000000)        /* isa_wave_t.readonly: read */
#define ISA_CLOCK    UINT64_C(0x0123456789abcdef) /* what the clock says, always */

enum {
  ISA_CODE_BYTES = 64 * 1024,
  ISA_MEMORY_BYTES = 64 * 1024,
  ISA_READONLY_BYTES = 4096,
  ISA_LDS_BYTES = 64 * 1024,
  ISA_MAX_STEPS = 1000000, /* a program that takes longer fails the test */
};

/* What isa_assert_only_changed compares. */
typedef struct isa_registers {
  gs_wave_t w;
  gs_row_t v[GS_VGPRS];
  uint8_t lds[ISA_LDS_BYTES];
  uint8_t memory[ISA_MEMORY_BYTES];
  unsigned interrupts;
} isa_registers_t;

typedef struct isa_context isa_context_t;
struct isa_device;

/* One wave alone on a GPU. Tests read and write its parts directly. The parts up to `before` start as a fixed
 * pattern, EXEC with all lanes, MODE as kernels have it (round to even, denormals, DX10_CLAMP, IEEE). */
typedef struct isa_wave {
  gs_wave_t w;
  gs_row_t v[GS_ROWS]; /* accumulation registers from 256 */
  uint8_t lds[ISA_LDS_BYTES];
  uint8_t memory[ISA_MEMORY_BYTES];
  uint8_t readonly[ISA_READONLY_BYTES];
  uint8_t code[ISA_CODE_BYTES];
  isa_registers_t before; /* as isa_run found them */
  gs_wave_env_t env;
  size_t code_bytes;     /* of the program that runs */
  size_t steps;          /* instructions executed by the last isa_run or isa_resume; not known on a device */
  gs_inst_t inst;        /* the last one */
  unsigned interrupts;   /* calls of send_interrupt */
  uint32_t interrupt_id; /* the last one's argument */
  isa_context_t *context;
  gs_vm_t *vm;
  gs_vm_reader_t reader;
  const gs_opcode_t *falsified; /* executed wrongly in steps, unless NULL: who compares must notice */
  unsigned long falsifications; /* how often that made a difference */
  unsigned long *executed;      /* steps of each opcode are counted there, unless NULL */
  uint64_t turns;               /* where turns on a device expired, as a sum; see isa_add_place */
  struct isa_device *device;    /* that runs it; NULL: each instruction's handler is called from here */
} isa_wave_t;

/* In place of a target, for all functions below: the part that this run of the test is about. Only tests that
 * are listed with isa_part_test have one. */
#define ISA_PART ((gs_target_t)0)

/* Makes a wave for `target` with the handlers of the level that this run of the tests is about. `state` is
 * the test's own argument. Fails the test when it cannot. Free with isa_free. */
isa_wave_t *isa_new(void *const *state, gs_target_t target);
/* The same on a device that translates code in this way, see device.h; on none if NULL. That of isa_new is
 * what GFXSIM_TRANSLATE says; without it there is none. */
isa_wave_t *isa_new_on(void *const *state, gs_target_t target, const char *way);
void isa_free(isa_wave_t *t);
/* Patterned registers, LDS and memory again, another pattern for each `seed`; 0 is that of isa_new. */
void isa_reset(isa_wave_t *t, unsigned seed);

/* Assembles `text` (one or more lines, labels allowed) and runs it from ISA_CODE until control leaves it or
 * the wave no longer runs. Fails the test when the text does not assemble, an instruction does not decode, or
 * the program takes too long. An instruction without handler faults as GS_WAVE_FAULT_ILLEGAL. The wave's
 * state is RUNNING at the start. Returns the state at the end; RUNNING means that the program ran off its end
 * (w.pc says where to). */
gs_wave_state_t isa_run(isa_wave_t *t, const char *text);
/* The same for encoded words. Words that do not decode fault as GS_WAVE_FAULT_ILLEGAL. */
gs_wave_state_t isa_run_words(isa_wave_t *t, const uint32_t *words, size_t count);
/* Only loads them: isa_resume runs them. */
void isa_load(isa_wave_t *t, const uint32_t *words, size_t count);
/* Goes on after s_sleep, s_barrier and the like, from w.pc. */
gs_wave_state_t isa_resume(isa_wave_t *t);
/* Adds to the sum where the wave is, and in which state. */
static inline void isa_add_place(uint64_t *sum, const gs_wave_t *w) {
  *sum = *sum * 31 + w->pc * 4 + w->state;
}
/* Executes the instruction at w.pc, which is in the loaded program, on no device; the state is RUNNING at the
 * start. */
void isa_step(isa_wave_t *t);

/* Assembles many texts in one run of the assembler, which takes as long as a single one; isa_run then finds
 * them done. Labels must differ between texts that are assembled together. Texts are strings `stride` bytes
 * apart in a table: pass &table[0].text, sizeof table[0], and the number of rows. Results are kept for the
 * whole process, so that a repeated call costs nothing. */
void isa_prepare(void *const *state, gs_target_t target, const char *const *first, size_t stride,
                 size_t count);
/* The encoded words of `text`, valid until the process ends. */
const uint32_t *isa_assemble(void *const *state, gs_target_t target, const char *text, size_t *count);

/* Fails unless everything except `list` is as it was when isa_run started: scalar and vector registers, SCC,
 * MODE, TRAPSTS, memory and LDS. `list` names what may differ, by spaces: "v0 v[2:3] a1 s5 s[6:7] vcc exec m0
 * scc mode trapsts memory lds". PC is not compared. */
void isa_assert_only_changed(const isa_wave_t *t, const char *list);
/* Fails unless the lanes outside `mask` of v[first..first+count) are as they were when isa_run started. */
void isa_assert_lanes_kept(const isa_wave_t *t, unsigned first, unsigned count, uint64_t mask);
/* Fails unless the wave has faulted in this way. */
void isa_assert_fault(const isa_wave_t *t, gs_wave_fault_kind_t kind);

/* Lane l gets values[(l / repeat + start) % count]; with repeat 1 for one operand and `count` for another, 64
 * lanes see 64 different pairs. The 64-bit form writes row[0] (low dwords) and row[1]. */
void isa_fill32(gs_row_t *row, const uint32_t *values, size_t count, size_t repeat, size_t start);
void isa_fill64(gs_row_t row[2], const uint64_t *values, size_t count, size_t repeat, size_t start);
static inline uint64_t isa_u64(const gs_row_t row[2], unsigned lane) {
  return (uint64_t)row[0].u32[lane] | (uint64_t)row[1].u32[lane] << 32;
}
static inline void isa_set_u64(gs_row_t row[2], unsigned lane, uint64_t value) {
  row[0].u32[lane] = (uint32_t)value;
  row[1].u32[lane] = (uint32_t)(value >> 32);
}
/* A pair of scalar registers, by operand number. */
static inline uint64_t isa_s64(const isa_wave_t *t, unsigned reg) {
  return (uint64_t)t->w.s.u32[reg] | (uint64_t)t->w.s.u32[reg + 1] << 32;
}
static inline void isa_set_s64(isa_wave_t *t, unsigned reg, uint64_t value) {
  t->w.s.u32[reg] = (uint32_t)value;
  t->w.s.u32[reg + 1] = (uint32_t)(value >> 32);
}
/* A deterministic random number. */
uint64_t isa_random(uint64_t *seed);

/* Values at which arithmetic goes wrong. Integers: 0, 1, -1, sign boundaries of 8/16/24/32/64 bits, shift
 * counts around the width. Floats: both zeros, smallest and largest denormal, smallest normal, ones and
 * neighbours, halves for rounding, largest, infinities, quiet and signaling NaNs of both signs. */
extern const uint32_t isa_u32_edges[];
extern const size_t isa_u32_edge_count;
extern const uint64_t isa_u64_edges[];
extern const size_t isa_u64_edge_count;
extern const uint32_t isa_f32_edges[];
extern const size_t isa_f32_edge_count;
extern const uint64_t isa_f64_edges[];
extern const size_t isa_f64_edge_count;
extern const uint32_t isa_f16_edges[]; /* in bits 15:0, with rubbish above */
extern const size_t isa_f16_edge_count;

/* What ISA_PART stands for. Fails the test when it has none. */
gs_target_t isa_part(void *const *state);
/* Whether `text`, an instruction or its mnemonic alone, exists on `target`; rows of a table that do not are
 * left out. With the ending _e32, _sdwa or _dpp it must have that form. Fails the test when no part has it,
 * so that no row is left out everywhere. That the opcodes of gfxsim are those of LLVM is test_decode's to
 * prove. */
bool isa_has(void *const *state, gs_target_t target, const char *text);

/* To be called by tests that execute at random and compare nothing, so that nobody tries for long whether
 * they notice faults (coverage.h). */
void isa_compares_nothing(void *const *state);

/* Name of the level that the running test is about: "base", "v3", "v4". */
const char *isa_level_name(void *const *state);
/* Its handlers, in the order of gs_opcodes. */
const gs_handler_t *isa_handlers(void *const *state);

/* Entries in the list of tests: one that runs on every part, or on each of a set of gs_target_t. Those listed
 * with cmocka_unit_test choose their targets themselves and run once per level. */
#define isa_part_test(function) isa_part_test_on(function, GS_GFX9)
/* Also in waves of 64 lanes of later families. */
#define isa_wide_part_test(function) isa_part_test_on(function, GS_GFX9 | GS_GFX1030 | GS_GFX1100)
#define isa_part_test_on(function, set)                                                                      \
  { #function, function, NULL, NULL, isa_part_sets + (set) }
extern char isa_part_sets[GS_GFX9_11 + 1]; /* places that stand for the sets */

/* Runs the tests with each host level of this processor: on all their parts with the best, on the last one
 * with the others. Returns the number of failures. */
#define isa_main(tests, count) isa_main_named(__FILE__, tests, count)
int isa_main_named(const char *name, const struct CMUnitTest *tests, size_t count);

#endif
