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
 * (as in reports), "source:" (of any side, as FILE:LINE), "at:" (where the instruction of any side is, as
 * +0x2c behind its function's first), "item:" (a work-item of any side), "instruction:" (its text),
 * "function:" (that it is in), "near:" (the text of any instruction of that function within 4 KiB), "part:",
 * "host:" (any line of the calls of the host program), "call:" (the HSA function), "variable:", "text:" (the
 * beginning of the report, or another line of it); or of the run: "tools:" (those that look: "all", or their
 * names). All are patterns of the shell (*, ?, [...]); from "at:" to "near:" one access is all that they ask.
 * What is known of device runtimes is in the library (known.h). Not here: what is
 * done with what matches. */
#ifndef GFXSIM_CHECK_SUPPRESS_H
#define GFXSIM_CHECK_SUPPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "check/findings.h"
#include "check/text.h"

typedef struct gs_suppression gs_suppression_t;

/* Reads the file, if `path` is not NULL, and behind it those in the library if `with_known`, for a run with
 * these tools (GS_CHECK_*). What cannot be read, or is no suppression, is told of on stderr, with the line,
 * and left out. Returns the first of a list, or NULL if there are none. */
gs_suppression_t *gs_suppressions_read(const char *path, bool with_known, uint32_t tools);
void gs_suppressions_free(gs_suppression_t *list);

/* The name of the first that matches the finding, which it has from `rule`; or NULL. Slow. */
const char *gs_suppressions_match(const gs_suppression_t *list, const gs_rule_t *rule,
                                  const gs_finding_t *finding);
/* Adds one to `text` that matches this finding in the next run. */
void gs_suppressions_generate(gs_text_t *text, const gs_rule_t *rule, const gs_finding_t *finding);

#endif
