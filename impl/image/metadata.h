/* The metadata note of a code object: what each kernel needs at its launch (LLVM's "User Guide for AMDGPU
 * Backend", code object V3 to V5 metadata). Not here: loading, or filling arguments in (stream/kernarg). */
#ifndef ATMI_IMAGE_METADATA_H
#define ATMI_IMAGE_METADATA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a hidden argument wants. Kinds that a zero word serves (no hostcall, no multigrid, offset 0 ...) are
 * not kept: the argument block is zeroed before it is filled. */
typedef enum atmi_hidden_kind {
  ATMI_HIDDEN_BLOCK_COUNT_X, /* workgroups */
  ATMI_HIDDEN_BLOCK_COUNT_Y,
  ATMI_HIDDEN_BLOCK_COUNT_Z,
  ATMI_HIDDEN_GROUP_SIZE_X, /* work-items of a full workgroup */
  ATMI_HIDDEN_GROUP_SIZE_Y,
  ATMI_HIDDEN_GROUP_SIZE_Z,
  ATMI_HIDDEN_REMAINDER_X, /* work-items of a partial last workgroup */
  ATMI_HIDDEN_REMAINDER_Y,
  ATMI_HIDDEN_REMAINDER_Z,
  ATMI_HIDDEN_GRID_DIMS,
  ATMI_HIDDEN_DYNAMIC_LDS_SIZE,
  ATMI_HIDDEN_PRIVATE_BASE, /* upper half of the aperture's address */
  ATMI_HIDDEN_SHARED_BASE,
  ATMI_HIDDEN_QUEUE_PTR,
} atmi_hidden_kind_t;

enum { ATMI_HIDDEN_MAX = ATMI_HIDDEN_QUEUE_PTR + 1 }; /* each kind at most once */

typedef struct atmi_hidden {
  uint16_t offset; /* bytes from the start of the argument block */
  uint8_t bytes;   /* 2, 4 or 8 */
  uint8_t kind;    /* atmi_hidden_kind_t */
} atmi_hidden_t;

typedef struct atmi_kernel_metadata {
  char *name;              /* as the compiler mangled it */
  char *symbol;            /* of its descriptor: "<name>.kd" */
  uint32_t kernarg_bytes;  /* the whole argument block, hidden part included */
  uint32_t explicit_bytes; /* end of the last argument that is not hidden */
  uint32_t explicit_count;
  uint32_t group_bytes;   /* static LDS */
  uint32_t private_bytes; /* scratch per work-item */
  uint32_t wavefront;     /* lanes */
  uint32_t max_group;     /* work-items per workgroup; 0 if not stated */
  uint32_t sgpr_count, vgpr_count, agpr_count;
  uint32_t sgpr_spill_count, vgpr_spill_count;
  uint32_t hostcall_offset; /* of the hidden argument for hostcall, which few images really use; 0: none */
  uint32_t heap_offset;     /* of the one for the state of ockl's allocator (code object 5); 0: none */
  bool dynamic_stack;       /* scratch needs are not known at compile time */
  uint32_t hidden_count;
  atmi_hidden_t hidden[ATMI_HIDDEN_MAX];
} atmi_kernel_metadata_t;

typedef struct atmi_metadata {
  uint32_t version_major, version_minor; /* 1.0 is code object v3, 1.1 v4, 1.2 v5 and v6 */
  uint32_t kernel_count;
  atmi_kernel_metadata_t *kernels; /* sorted by name */
} atmi_metadata_t;

/* Reads the note's content. `where` names the device in messages. Fails with ATMI_CORRUPT (described) or
 * ATMI_NO_MEMORY; nothing is left allocated then. Release with atmi_metadata_fini, which accepts a zeroed
 * object. */
ATMI_MUST_CHECK atmi_status_t atmi_metadata_parse(const void *note, size_t bytes, const char *where,
                                                  atmi_metadata_t *metadata);
/* Moves everything of `part`, which is empty afterwards, into `whole`: images linked from several objects
 * have a note of each. Fails with ATMI_NO_MEMORY, described; `part` is released then. */
ATMI_MUST_CHECK atmi_status_t atmi_metadata_add(atmi_metadata_t *whole, atmi_metadata_t *part,
                                                const char *where);
void atmi_metadata_fini(atmi_metadata_t *metadata);

/* The kernel of this name, or NULL. */
const atmi_kernel_metadata_t *atmi_metadata_find(const atmi_metadata_t *metadata, const char *name);

#endif
