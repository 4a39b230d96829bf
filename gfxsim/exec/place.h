/* Where a wave is, for those who report what it does: kernel, work-item, instruction, source line; and which
 * scratch memory is its own. Not here: what they report. */
#ifndef GFXSIM_EXEC_PLACE_H
#define GFXSIM_EXEC_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/watch.h"
#include "isa/wave.h"

enum { GS_PLACE_TEXT = 256, GS_PLACE_INSTRUCTION_BYTES = 8 /* of each that accesses memory on gfx9 */ };

/* One work-item at one instruction. */
typedef struct gs_place {
  uint32_t gpu;
  const char *profile;        /* "gfx90a" */
  char kernel[GS_PLACE_TEXT]; /* as the code object spells it */
  char instruction[GS_PLACE_TEXT];
  char source[GS_PLACE_TEXT]; /* "file.c:12", empty without debug information */
  uint32_t rights;            /* GS_VM_*: what the instruction does to memory */
  uint64_t pc, function;      /* device addresses of the instruction and its function, which may be 0 */
  char function_name[GS_PLACE_TEXT];
  uint32_t group[3], item[3]; /* of the grid, of the group */
  gs_target_t target;
  const gs_vm_map_t *map; /* that was current; only until the finding that this is of was told */
} gs_place_t;

/* Fills `place` for a wave that is executing an instruction which accesses memory (its program counter is
 * behind it); `lane` is the work-item's. Slow: for reports. On the thread that runs the wave. */
void gs_place_of(const gs_wave_t *w, unsigned lane, gs_place_t *place);

/* The same for work-item `lane` of wave `wave` of workgroup `group` of a kernel that may be over: it executed
 * the instruction at `pc`. `map` is of a GPU that has the code. */
void gs_place_of_other(const gs_vm_map_t *map, const gs_launch_t *launch, uint64_t group, unsigned wave,
                       unsigned lane, uint64_t pc, gs_place_t *place);

/* The kernel's name, as the code object spells it. `map` is of a GPU that has the code. Slow. */
void gs_place_kernel_name(const gs_vm_map_t *map, const gs_launch_t *launch, char name[GS_PLACE_TEXT]);

/* Whether `fits` is true of an instruction, as gs_disassemble spells it, that lies near the place in the same
 * function, or is its own. Slow. */
bool gs_place_near(const gs_place_t *place, bool (*fits)(const char *pattern, const char *instruction),
                   const char *pattern);

/* The number of the wave's workgroup in the grid, as gs_place_of_other counts. */
uint64_t gs_place_group(const gs_wave_t *w);

/* The index of the wave in its workgroup. */
unsigned gs_place_wave(const gs_wave_t *w);

/* What the watcher's kernel_begins returned for the wave's kernel, or NULL. */
void *gs_place_kernel(const gs_wave_t *w);

/* [start, end) in device memory. */
typedef struct gs_extent {
  uint64_t start, end;
} gs_extent_t;

/* The scratch memory of all waves of the dispatch and of this one: 64 work-items side by side, dword for
 * dword. Both are empty when the kernel has none. On the thread that runs the wave. */
void gs_place_scratch(const gs_wave_t *w, gs_extent_t *all, gs_extent_t *own);

#endif
