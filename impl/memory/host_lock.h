/* Host memory that is pinned for all devices: what the program asks to have locked, and what copies need.
 * Ranges are counted: locking one again, or a part of it, takes another reference. Not here: when copies pin
 * (stream/transfer). */
#ifndef ATMI_MEMORY_HOST_LOCK_H
#define ATMI_MEMORY_HOST_LOCK_H

#include "memory/access.h"

#include <hsa/hsa.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct atmi_host_locks {
  atmi_access_t *access;
  const hsa_agent_t *devices; /* all of the machine */
  uint32_t device_count;
  uint64_t keep_ms;     /* how long pins of mapped memory are kept unused; 0: each copy pins */
  pthread_mutex_t lock; /* held while HSA pins: two threads may want the same range */
  struct atmi_host_range *ranges;
  struct atmi_host_range *skipped; /* mapped without being pinned */
  /* Pinned for copies. They know nothing of `ranges`, nor those of them, so that what the program may lock
   * does not depend on what was copied. */
  struct atmi_host_range *copied;
  uint64_t kept; /* how many pins were kept so far: their numbers */
  /* Over, but still pinned: HSA tells pins apart by their beginning, and another one has the same. */
  struct atmi_host_range *parked;
} atmi_host_locks_t;

/* `access` must outlive the locks. The devices are named once they are known, before anything is locked. */
void atmi_host_locks_init(atmi_access_t *access, uint64_t keep_ms, atmi_host_locks_t *locks);
/* Unpins everything that is still locked. Accepts a zeroed object. */
void atmi_host_locks_fini(atmi_host_locks_t *locks);

/* Pins host memory; `*address` is where devices see it. Memory that HSA knows already is taken as it is
 * if all devices can access it, or be given access (memory/access). Thread-safe. Fails, described, with
 * ATMI_INVALID if the range overlaps a locked one without lying inside it, or with ATMI_NO_MEMORY if HSA
 * cannot pin it, or another library has pinned it for fewer devices. */
ATMI_MUST_CHECK atmi_status_t atmi_host_lock(atmi_host_locks_t *locks, void *host, size_t bytes,
                                             void **address);

/* Gives one reference back, by any address in the range; the last one unpins it. Fails with ATMI_INVALID,
 * described, if the address is not locked. */
ATMI_MUST_CHECK atmi_status_t atmi_host_unlock(atmi_host_locks_t *locks, void *host);

/* Pins host memory for a copy by a device. `*range` gets a reference, to be given back by atmi_host_unpin, or
 * NULL if HSA knows the memory from somebody else and the device can access it; `*address` is where it sees
 * it. With `borrow`, only if it is pinned for copies already. False if it cannot be pinned, or must not, as
 * somebody else has pinned it for other devices: then it has to be staged. Describes nothing. Thread-safe. */
bool atmi_host_pin(atmi_host_locks_t *locks, hsa_agent_t device, const void *host, size_t bytes, bool borrow,
                   struct atmi_host_range **range, void **address);
void atmi_host_unpin(atmi_host_locks_t *locks, struct atmi_host_range *range);

/* Pins host memory beyond copies by this device, until atmi_host_unkeep, or until a copy of other memory
 * finds that none has used it for as long as the user lets pins be kept: pinned pages are a burden, see
 * doc/plugin.md. The result names the pin, also when it is over; 0 if there is none to be kept. Thread-safe.
 */
uint64_t atmi_host_keep(atmi_host_locks_t *locks, hsa_agent_t device, const void *host, size_t bytes);
/* Ends what one atmi_host_keep began; nothing if it is over. Thread-safe. */
void atmi_host_unkeep(atmi_host_locks_t *locks, uint64_t kept);

/* Pins host memory for as long as it is mapped. Memory that cannot be pinned stays as it is, unless
 * `mandatory`: then it fails as atmi_host_lock does. Thread-safe. */
ATMI_MUST_CHECK atmi_status_t atmi_host_map(atmi_host_locks_t *locks, void *host, size_t bytes,
                                            bool mandatory);

/* Takes back what atmi_host_map did at this address; nothing if it did not. */
void atmi_host_unmap(atmi_host_locks_t *locks, void *host);

#endif
