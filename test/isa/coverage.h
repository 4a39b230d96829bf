/* Measures what the instruction tests are worth. While ISA_COVERAGE names a file, it is noted there which
 * opcodes a test executes on which part. With ISA_COVERAGE_FAULTS in the environment, too, each of them is
 * made to go wrong now and then in a forked copy of the process, and the copy's test must fail: that takes
 * minutes. Functions take NULL where nothing is measured. Not thread-safe. Not here: the table made of it
 * (isa_coverage.c). */
#ifndef TEST_ISA_COVERAGE_H
#define TEST_ISA_COVERAGE_H

#include "harness.h"

typedef struct isa_coverage isa_coverage_t;

/* NULL when ISA_COVERAGE is not set. */
isa_coverage_t *isa_coverage_create(void);
void isa_coverage_destroy(isa_coverage_t *c);
/* Executes `in`, whose handler is set; may try faults of it in a copy of the process. */
void isa_coverage_execute(isa_coverage_t *c, isa_wave_t *t, const gs_inst_t *in);
/* Executes `in` and falsifies one bit of what it changed. Returns false if it changed nothing. */
bool isa_coverage_execute_wrongly(isa_wave_t *t, const gs_inst_t *in);
/* A program is about to run; the running test has passed, or ends in whatever way. A copy of the process does
 * not return from the last. */
void isa_coverage_program_starts(isa_coverage_t *c);
/* A program is about to be assembled, which takes longer than all else: a copy of the process ends here. */
void isa_coverage_assembles(const isa_coverage_t *c);
void isa_coverage_passed(isa_coverage_t *c);
/* The running test compares nothing: what it executes is not measured. */
void isa_coverage_pauses(isa_coverage_t *c);
void isa_coverage_test_ends(isa_coverage_t *c);
/* Writes the file, a line for each executed opcode: "row mnemonic executed tested test", the middle two being
 * sets of gs_target_t. Returns false, having said why, when it cannot. */
bool isa_coverage_write(const isa_coverage_t *c, const char *test);

#endif
