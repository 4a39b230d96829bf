/* Looking at instructions as they execute: counters per kernel (GFXSIM_STATS) and the instruction trace
 * (GFXSIM_TRACE). Off, it costs nothing: run.c has a loop without it. Not here: what instructions do. */
#ifndef GFXSIM_EXEC_OBSERVE_H
#define GFXSIM_EXEC_OBSERVE_H

#include <stdint.h>
#include <stdio.h>

#include "base/cost.h"
#include "isa/toll.h"
#include "isa/wave.h"

/* Families that instructions are counted in. */
typedef enum gs_family {
  GS_FAMILY_SCALAR,
  GS_FAMILY_SCALAR_MEMORY,
  GS_FAMILY_VECTOR,
  GS_FAMILY_MATRIX,
  GS_FAMILY_LDS,
  GS_FAMILY_VECTOR_MEMORY,
  GS_FAMILY_COUNT
} gs_family_t;

/* What was seen. Sums; one per executor, and one per kernel. */
typedef struct gs_counters {
  uint64_t dispatches;
  uint64_t groups;
  uint64_t waves;
  uint64_t instructions[GS_FAMILY_COUNT];
  uint64_t lanes;                     /* active lanes, summed over vector instructions */
  uint64_t all_lanes;                 /* that their waves have */
  uint64_t read_bytes, written_bytes; /* that lanes asked for, LDS not included */
  uint64_t nanoseconds;
  gs_toll_t toll;
} gs_counters_t;

/* Of the wave that waited longest the executors of one kernel keep the longest, and kernels the sum. */
void gs_counters_add(gs_counters_t *sum, const gs_counters_t *more);
void gs_counters_join(gs_counters_t *kernel, const gs_counters_t *executor);
/* Counts one instruction that `w` is about to execute. */
void gs_counters_see(gs_counters_t *counters, const gs_wave_t *w, const gs_inst_t *in);

/* Sums per kernel name. Not thread-safe. */
typedef struct gs_kernel_stats {
  struct gs_kernel_stats *next;
  gs_counters_t counters;
  char name[];
} gs_kernel_stats_t;

/* Adds to the entry of `name`, making it if it is new; without memory for it the sample is lost. */
void gs_stats_add(gs_kernel_stats_t **list, const char *name, const gs_counters_t *counters);
void gs_stats_free(gs_kernel_stats_t *list);
/* Prints a table, kernels with the longest time first; `title` names the device, `link` what joins it to the
 * host. */
void gs_stats_print(const gs_kernel_stats_t *list, const char *title, gs_link_t link, FILE *out);

/* Writes one line of trace: place, instruction, and EXEC. Thread-safe, a line at a time. */
void gs_trace_line(FILE *out, const char *place, const gs_wave_t *w, const gs_inst_t *in);

#endif
