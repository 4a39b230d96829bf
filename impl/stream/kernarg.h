/* The argument block of a launch: explicit words and what the compiler added behind them. Pure functions. Not
 * here: where the block's memory comes from (memory/arena). */
#ifndef ATMI_STREAM_KERNARG_H
#define ATMI_STREAM_KERNARG_H

#include "image/metadata.h"

#include <string.h>

/* What hidden arguments may ask about a launch, by dimension. */
typedef struct atmi_kernarg_facts {
  uint32_t groups[3]; /* workgroups */
  uint32_t group[3];  /* work-items per workgroup; the grid is a multiple of it: there is never a remainder */
  uint32_t dynamic_lds_bytes;
  uint32_t private_base, shared_base; /* upper halves of the apertures' addresses */
  uint64_t queue;                     /* address of the hsa_queue_t */
} atmi_kernarg_facts_t;

/* The first part of a block of kernel->kernarg_bytes bytes: `*leading` if it is not NULL; argument i, which
 * is the word bases[i] + offsets[i] itself, as libomptarget passes them (13 to 18; no offsets: NULL); then
 * zeros. Each takes 8 bytes; all words must fit the block. */
static inline void atmi_kernarg_fill_words(const atmi_kernel_metadata_t *kernel, const uint64_t *leading,
                                           void *const *bases, const ptrdiff_t *offsets, uint32_t count,
                                           void *block) {
  char *at = block, *end = at + kernel->kernarg_bytes;
  if (leading) {
    memcpy(at, leading, sizeof *leading);
    at += sizeof *leading;
  }
  for (uint32_t i = 0; i < count; i++, at += 8) {
    uint64_t word = (uint64_t)(uintptr_t)bases[i] + (offsets ? (uint64_t)offsets[i] : 0);
    memcpy(at, &word, sizeof word);
  }
  /* Mostly a few words: cheaper here than in the C library. */
  for (; end - at >= 8; at += 8)
    memset(at, 0, 8);
  if (at < end)
    memset(at, 0, (size_t)(end - at));
}

/* The second part: the hidden arguments that the kernel has. */
void atmi_kernarg_fill_hidden(const atmi_kernel_metadata_t *kernel, const atmi_kernarg_facts_t *facts,
                              void *block);

/* Both parts. */
static inline void atmi_kernarg_fill(const atmi_kernel_metadata_t *kernel, const uint64_t *leading,
                                     void *const *bases, const ptrdiff_t *offsets, uint32_t count,
                                     const atmi_kernarg_facts_t *facts, void *block) {
  atmi_kernarg_fill_words(kernel, leading, bases, offsets, count, block);
  atmi_kernarg_fill_hidden(kernel, facts, block);
}

#endif
