/* The command processor: AQL packets of one user-mode queue, in order and one at a time, with the protocol
 * that ROCr follows for scratch memory and errors. Layouts: HSA Runtime 1.2 section 2.9 (packets),
 * amd_hsa_queue.h (queue). Not here: the running of kernels (exec), and when to look for packets (queue.h).
 */
#ifndef GFXSIM_PACKET_AQL_H
#define GFXSIM_PACKET_AQL_H

#include <hsa/amd_hsa_queue.h>
#include <stdbool.h>
#include <stdint.h>

#include "packet/engine.h"

/* Codes of a queue error, as the firmware stores them into amd_queue_t.queue_inactive_signal for a driver
 * without exception support. ROCr 5.2 and 6.1 translate them into the status of the queue's error callback.
 */
enum {
  GS_QUEUE_SCRATCH_WAVE64 = 0x1,          /* request: more scratch memory */
  GS_QUEUE_INVALID_DIMENSIONS = 0x2,      /* INCOMPATIBLE_ARGUMENTS */
  GS_QUEUE_INVALID_GROUP_SEGMENT = 0x4,   /* INVALID_ALLOCATION */
  GS_QUEUE_INVALID_CODE = 0x8,            /* INVALID_CODE_OBJECT */
  GS_QUEUE_INVALID_PACKET = 0x20,         /* INVALID_PACKET_FORMAT */
  GS_QUEUE_GROUP_TOO_LARGE = 0x40,        /* INVALID_ARGUMENT */
  GS_QUEUE_TOO_MANY_REGISTERS = 0x80,     /* INVALID_ISA; OUT_OF_REGISTERS from 6.1 */
  GS_QUEUE_INVALID_VENDOR_PACKET = 0x100, /* INVALID_PACKET_FORMAT */
  GS_QUEUE_SCRATCH_RELEASE = 0x200,       /* request: take single-use scratch memory back */
  GS_QUEUE_SCRATCH_WAVE32 = 0x400,        /* request: more scratch memory, for waves of 32 lanes */
  GS_QUEUE_APERTURE_VIOLATION = 0x20000000,
  GS_QUEUE_ILLEGAL_INSTRUCTION = 0x40000000,
};
#define GS_QUEUE_ABORT_TRAP INT64_C(0x80000000) /* EXCEPTION */

/* The code for the outcome of a dispatch, or 0 for outcomes that are no queue errors (done, stopped, memory
 * fault). */
int64_t gs_aql_error_code(gs_outcome_t outcome);

/* The exceptions, one bit each, that a driver with exception support reports for such a code. */
uint64_t gs_aql_exceptions(int64_t code);

typedef struct gs_aql gs_aql_t;

/* Makes the processor of `queue`, a complete amd_queue_t whose ring is `ring` with `packets` slots (a power
 * of two). NULL when out of memory. */
gs_aql_t *gs_aql_create(const gs_engine_config_t *config, amd_queue_t *queue, void *ring, uint64_t packets);

/* Its engine operations; `engine` is the gs_aql_t. */
extern const gs_engine_ops_t gs_aql_ops;

#endif
