/* The argument block of a launch: explicit words and what the compiler added behind them. Pure functions. Not
 * here: where the block's memory comes from (atmi_arena). */
#ifndef ATMI_KERNARG_H
#define ATMI_KERNARG_H

#include "atmi_metadata.h"

/* What hidden arguments may ask about a launch, by dimension. */
typedef struct atmi_kernarg_facts {
  uint32_t groups[3]; /* workgroups */
  uint32_t group[3];  /* work-items per workgroup; the grid is a multiple of it: there is never a remainder */
  uint32_t dynamic_lds_bytes;
  uint32_t private_base, shared_base; /* upper halves of the apertures' addresses */
  uint64_t queue;                     /* address of the hsa_queue_t */
} atmi_kernarg_facts_t;

/* Fills a block of kernel->kernarg_bytes bytes: `*leading` if it is not NULL; argument i, which is the word
 * bases[i] + offsets[i] itself, as libomptarget passes them (13 to 18); then zeros; then the hidden
 * arguments. Each takes 8 bytes; all words must fit the block. */
void atmi_kernarg_fill(const atmi_kernel_metadata_t *kernel, const uint64_t *leading, void *const *bases,
                       const ptrdiff_t *offsets, uint32_t count, const atmi_kernarg_facts_t *facts,
                       void *block);

#endif
