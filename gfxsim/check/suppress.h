/* Findings that the user does not want to hear of, from a file:
 *
 *     # of whatever reason
 *     {
 *        a name
 *        bounds:outside
 *        kernel:target region in main*
 *        source:*sum.c:10
 *     }
 *
 * The first line names it, the second tool and rule. Each further one must be true of the finding: "kernel:"
 * (as in reports), "source:" (of any side, as FILE:LINE), "host:" (any line of the calls of the host
 * program), "call:" (the HSA function), "variable:", "text:" (the beginning of the report, or another line of
 * it). All are patterns of the shell (*, ?, [...]). Not here: what is done with what matches. */
#ifndef GFXSIM_CHECK_SUPPRESS_H
#define GFXSIM_CHECK_SUPPRESS_H

#include <stdbool.h>

#include "check/findings.h"
#include "check/text.h"

typedef struct gs_suppression gs_suppression_t;

/* Reads the file. What cannot be read, or is no suppression, is told of on stderr, with the line, and left
 * out. Returns the first of a list, or NULL if there are none. */
gs_suppression_t *gs_suppressions_read(const char *path);
void gs_suppressions_free(gs_suppression_t *list);

/* The name of the first that matches the finding, which it has from `rule`; or NULL. Slow. */
const char *gs_suppressions_match(const gs_suppression_t *list, const gs_rule_t *rule,
                                  const gs_finding_t *finding);
/* Adds one to `text` that matches this finding in the next run. */
void gs_suppressions_generate(gs_text_t *text, const gs_rule_t *rule, const gs_finding_t *finding);

#endif
