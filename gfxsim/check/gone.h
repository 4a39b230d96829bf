/* Memory of the host that was freed while it was mapped, of the tool "transfer". That alone harms nobody: a
 * mapping may end without a copy. What does is a copy from or to what was freed, and another block that comes
 * to lie there: it is taken for what is mapped. Not here: what is mapped (transfer.h), and how frees are seen
 * (notes.h). */
#ifndef GFXSIM_CHECK_GONE_H
#define GFXSIM_CHECK_GONE_H

#include <stdbool.h>
#include <stdint.h>

#include "check/findings.h"
#include "check/traffic.h"

/* Of one mapping. */
typedef struct gs_gone {
  uint64_t first, end; /* the host's addresses of what was freed; */
  gfxsim_stack_t freed;
  bool is_taken; /* a new block begins where the freed one did, and has all that is mapped */
  bool was_told; /* of its use as what is mapped */
  gfxsim_stack_t taken;
} gs_gone_t;

/* What is told of the mapping: its variable, and who has mapped it. */
typedef struct gs_gone_mapping {
  const gs_gone_t *gone;
  const gs_variable_t *variable;
  const gfxsim_stack_t *mapped;
} gs_gone_mapping_t;

/* [address, address + bytes) of the host's was freed. */
void gs_gone_free(gs_gone_t *gone, uint64_t address, uint64_t bytes, const gfxsim_stack_t *stack);
/* A block came at `address`; what is mapped ends at `end` there. */
void gs_gone_take(gs_gone_t *gone, uint64_t address, uint64_t bytes, uint64_t end,
                  const gfxsim_stack_t *stack);
/* Tells of a copy of `bytes` from (`is_sent`) or to the host's memory at `host`, asked for at `stack`, if it
 * touches what was freed. */
void gs_gone_tell_copy(gs_findings_t *findings, const gs_gone_mapping_t *mapping, uint64_t host,
                       uint64_t bytes, bool is_sent, const gfxsim_stack_t *stack);
/* Tells that a construct at `stack` has found the new block, by this name (NULL or empty: not known), as what
 * is mapped. */
void gs_gone_tell_found(gs_findings_t *findings, const gs_gone_mapping_t *mapping, const char *name,
                        const gfxsim_stack_t *stack);

#endif
