/* Findings as a SARIF 2.1.0 file, which CI systems show beside the source. Not here: which findings there
 * are.
 */
#ifndef GFXSIM_CHECK_SARIF_H
#define GFXSIM_CHECK_SARIF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/findings.h"

/* A place in a source file. */
typedef struct gs_source_place {
  char file[GS_PLACE_TEXT]; /* empty = not known */
  uint32_t line;            /* 0 = not known */
} gs_source_place_t;

/* One result. */
typedef struct gs_sarif_result {
  const gs_rule_t *rule;
  uint64_t times;
  const char *message;     /* the block as it is printed */
  gs_source_place_t at[3]; /* of both sides, and of the variable */
  const char *kernel;      /* of the first side, or NULL */
  const char *suppressed;  /* the suppression's name, or NULL */
} gs_sarif_result_t;

/* Splits "FILE:LINE", behind which anything may follow a blank. */
void gs_source_place_parse(const char *text, gs_source_place_t *place);

/* Writes a whole file. `next` returns one result after the other, then NULL; it is called from the beginning
 * (`first`) more than once. False when the file could not be written. */
typedef const gs_sarif_result_t *gs_sarif_next_t(void *context, bool first);
bool gs_sarif_write(FILE *out, gs_sarif_next_t *next, void *context);

#endif
