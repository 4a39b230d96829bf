/* Which devices may access memory that HSA knows, and giving them access. HSA replaces the list of those that
 * have it, and other libraries of the process give access too; what is here only ever adds. Not here: pins
 * (atmi_host_lock), copies (atmi_transfer, atmi_exchange). */
#ifndef ATMI_ACCESS_H
#define ATMI_ACCESS_H

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct atmi_access {
  pthread_mutex_t lock; /* held from asking for a list until the longer one is given */
} atmi_access_t;

void atmi_access_init(atmi_access_t *access);
void atmi_access_fini(atmi_access_t *access);

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
