/* What the files of the tools library share. Not here: what is checked. */
#ifndef GFXSIM_CHECK_TOOLS_H
#define GFXSIM_CHECK_TOOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "check/notes.h"

/* ROCr's tables of functions. Its header is for C++. */
typedef void gs_hsa_function_t(void);
typedef struct gs_hsa_table {
  uint32_t major, bytes, step, reserved;
  gs_hsa_function_t *function[];
} gs_hsa_table_t;

static inline bool gs_hsa_has(const gs_hsa_table_t *table, unsigned place) {
  return table->bytes >= sizeof *table + (place + 1) * sizeof *table->function;
}

/* Puts `ours` in the place of a function and its address into `theirs`. Function pointers are copied as
 * bytes, as C has no other way between their types. */
static inline void gs_hsa_replace(gs_hsa_table_t *table, unsigned place, gs_hsa_function_t *ours,
                                  void *theirs) {
  memcpy(theirs, &table->function[place], sizeof ours);
  table->function[place] = ours;
}

/* Who called the function that calls this one; `own` frames of this library are left out. */
void gs_look_back(gfxsim_stack_t *stack, int own);

/* tools_copies.c: has `note` called for each copy that goes through the tables from now on. */
void gs_copies_watch(gs_hsa_table_t *core, gs_hsa_table_t *amd, gfxsim_note_copy_t *note);

#endif
