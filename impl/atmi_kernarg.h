/* The argument block of a launch: explicit words and what the compiler added behind them. Pure functions. Not
 * here: where the block's memory comes from (atmi_arena). */
#ifndef ATMI_KERNARG_H
#define ATMI_KERNARG_H

#include "atmi_metadata.h"

/* What hidden arguments may ask about a launch. One dimension; y and z have one workgroup of one work-item.
 */
typedef struct atmi_kernarg_facts {
  uint32_t groups; /* workgroups */
  uint32_t group;  /* work-items per workgroup; the grid is a multiple of it, so there is never a remainder */
  uint32_t dynamic_lds_bytes;
  uint32_t private_base, shared_base; /* upper halves of the apertures' addresses */
  uint64_t queue;                     /* address of the hsa_queue_t */
} atmi_kernarg_facts_t;

/* Fills a block of kernel->kernarg_bytes bytes: argument i is the 8-byte word at bases[i] + offsets[i]
 * itself, put at byte 8 * i, as libomptarget passes them (13 to 18); then zeros; then the hidden arguments.
 * `count` words must fit the block. */
void atmi_kernarg_fill(const atmi_kernel_metadata_t *kernel, void *const *bases, const ptrdiff_t *offsets,
                       uint32_t count, const atmi_kernarg_facts_t *facts, void *block);

#endif
