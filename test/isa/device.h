/* A device on which the harness runs a wave, as the simulator does: by an executor, through decoded and
 * perhaps translated code. Not here: running instruction by instruction (harness.c). */
#ifndef TEST_ISA_DEVICE_H
#define TEST_ISA_DEVICE_H

#include "base/options.h"
#include "base/vm.h"
#include "isa/ops.h"
#include "isa/wave.h"
#include "translate/block.h"

typedef struct isa_device isa_device_t;

/* Whether gfxsim has a translator: the option that `way` below is a value of. */
bool isa_device_translates(void);

/* Makes `way` the value of that option: "auto", "always", "never"; NULL, and without a translator, leaves the
 * options as they are. Returns false, having said why, if it is no value. */
bool isa_device_choose(gs_options_t *options, const char *way);

/* Makes a device of the target that executes with the handlers of `level` and translates in that way. NULL,
 * having said why, when it cannot. */
isa_device_t *isa_device_create(gs_target_t target, const gs_level_t *level, const char *way);
/* Says when somebody looks at the registers of waves, for code that is loaded from now on; at first always.
 */
void isa_device_look(isa_device_t *d, gs_looks_t looks);
/* Accepts NULL. No reader of its address space may be registered any more. */
void isa_device_destroy(isa_device_t *d);
/* Its address space, which it owns. */
gs_vm_t *isa_device_vm(isa_device_t *d);
/* Lets the wave have one turn, alone: until it ends, faults or waits, or so many instructions were executed
 * that others would get theirs. It fills in the environment's address space; all else of both is the
 * caller's. The program counter of a wave that faulted is that of the instruction. The caller must hold no
 * snapshot. */
void isa_device_run(isa_device_t *d, gs_wave_t *w, const gs_wave_env_t *env);

#endif
