/* Which devices may access memory that HSA knows, and giving them access. HSA replaces the list of those that
 * have it, and other libraries of the process give access too; what is here only ever adds. Not here: pins
 * (memory/host_lock), copies (stream/transfer, stream/exchange). */
#ifndef ATMI_MEMORY_ACCESS_H
#define ATMI_MEMORY_ACCESS_H

#include "base/status.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address space in regions of 2 MiB, which ROCr takes device memory in. */
enum { ATMI_ACCESS_REGION_SHIFT = 21, ATMI_ACCESS_REGIONS = 1 << (47 - ATMI_ACCESS_REGION_SHIFT) };

typedef struct atmi_access {
  pthread_mutex_t lock; /* held from asking for a list until the longer one is given */
  /* A byte for each region, an atmi_region_t. 64 MiB of addresses, and a page of memory for each 8 GiB that
   * are looked at. Addresses beyond 47 bits share bytes with others. */
  _Atomic uint8_t *regions;
} atmi_access_t;

/* What is known of a region. All but ATMI_REGION_HOST is only a reason to ask. That is what HSA said of one
 * address there, and it is not asked again, or each copy would cost a call: where another library puts device
 * memory beside or in place of host memory that has been copied, it stays so. */
typedef enum atmi_region {
  ATMI_REGION_UNKNOWN, /* nobody has asked */
  ATMI_REGION_DEVICE,  /* device memory of ours is or was there */
  ATMI_REGION_HOST,
} atmi_region_t;

/* Fails with ATMI_NO_MEMORY, not described. */
ATMI_MUST_CHECK atmi_status_t atmi_access_init(atmi_access_t *access);
/* Accepts a zeroed one, and one whose init failed. */
void atmi_access_fini(atmi_access_t *access);

/* Says that device memory is there. Thread-safe. */
void atmi_access_mark_device(atmi_access_t *access, const void *memory, uint64_t bytes);

/* Whether an address may be of device memory: for the paths of all copies, since programs pass device memory
 * for the host's. */
static inline bool atmi_access_may_be_device(const atmi_access_t *access, const void *memory) {
  size_t region = (uintptr_t)memory >> ATMI_ACCESS_REGION_SHIFT & (ATMI_ACCESS_REGIONS - 1);
  /* Relaxed: whoever has got the address from the allocation's thread sees the byte, too. */
  return atomic_load_explicit(&access->regions[region], memory_order_relaxed) != ATMI_REGION_HOST;
}

/* Asks HSA whether it allocated memory at this address on a GPU, and remembers if not; `*owner` gets which
 * GPU, and `*bytes` how many there are from the address on. Thread-safe. */
bool atmi_access_is_device(atmi_access_t *access, const void *memory, hsa_agent_t *owner, size_t *bytes);

typedef enum atmi_access_result {
  /* HSA does not know the memory: it is the program's own. Or another library has pinned it from an earlier
   * place on for other devices, or a part of it, which does not hinder another pin. */
  ATMI_ACCESS_UNKNOWN,
  ATMI_ACCESS_GIVEN, /* all of these agents can access it */
  /* Not all of them can, and it must not be pinned: it is pinned from the same place on, and HSA tells pins
   * apart by their beginning, so that the end of ours could be the end of that one; or HSA allocated it. */
  ATMI_ACCESS_REFUSED,
} atmi_access_result_t;

/* Gives agents access to [memory, memory + bytes) if HSA knows it; those that have it keep it. `*address`
 * gets where they see it, if the result is ATMI_ACCESS_GIVEN. Access lasts until the memory is freed, also in
 * a cache of freed blocks: it does no harm there. Describes nothing. Thread-safe among its own callers;
 * another library that replaces the list at the same moment may take away what was given. */
atmi_access_result_t atmi_access_give(atmi_access_t *access, const hsa_agent_t *agents, uint32_t count,
                                      const void *memory, size_t bytes, void **address);

#endif
