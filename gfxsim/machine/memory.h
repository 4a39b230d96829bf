/* Memory of the simulated machine: allocations on the CPU node and on the GPUs, host memory that the program
 * registers, and which GPU may access which part of both (mappings). Follows the driver's rules: a GPU
 * reaches only what was mapped for it, page by page, and device memory is limited. Not here: the lookup
 * during accesses (base/vm.h), and sub-allocation (ROCr does that). */
#ifndef GFXSIM_MACHINE_MEMORY_H
#define GFXSIM_MACHINE_MEMORY_H

#include <hsakmt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/ledger.h"

enum { GS_PAGE_BYTES = 4096 };

/* Where the page of an address begins, and where the first one begins that does not begin below it. */
static inline uint64_t gs_page_down(uint64_t address) {
  return address & ~(uint64_t)(GS_PAGE_BYTES - 1);
}
static inline uint64_t gs_page_up(uint64_t address) {
  return gs_page_down(address + GS_PAGE_BYTES - 1);
}

struct gs_machine;
struct gs_fresh;

/* A part of a buffer that GPUs can access. */
typedef struct gs_mapping {
  uint64_t start, end; /* GPU addresses, whole pages */
  uint32_t gpus;       /* bit i: the i-th GPU */
  uint32_t access;     /* GS_VM_* */
  uint64_t charged;    /* bytes of device memory that this mapping itself takes: of scratch memory */
  struct gs_mapping *next;
} gs_mapping_t;

typedef enum gs_buffer_kind {
  GS_BUFFER_ALLOCATED,  /* by hsaKmtAllocMemory */
  GS_BUFFER_REGISTERED, /* the program's own memory */
} gs_buffer_kind_t;

/* An allocation or a registration. */
typedef struct gs_buffer {
  gs_buffer_kind_t kind;
  uint64_t address; /* for GPUs and, if it may access the bytes, for the program */
  uint64_t size;
  uint64_t gap;  /* bytes behind it that are reserved, too */
  uint8_t *host; /* where the bytes are: `address` itself, or elsewhere when the program must not see them */
  uint32_t node;
  bool on_gpu;     /* the node is one */
  bool placed;     /* the host chose and reserved the addresses: gs_memory_place */
  bool lent;       /* the bytes are the program's own */
  bool imported;   /* somebody else allocated the bytes, and pays for them */
  bool is_view;    /* GPUs were given access one by one: gs_memory_view */
  int file;        /* descriptor + 1 of the file that the bytes are in (share.h); 0: they are nobody else's */
  uint64_t offset; /* of the bytes in it */
  HsaMemFlags flags;
  void *user_data;
  gs_mapping_t *mappings;
  uint32_t *mapped_nodes; /* for pointer queries: room for all GPUs */
  uint32_t mapped_count;
} gs_buffer_t;

/* Pointers to buffers, sorted by address. Registrations may overlap, and several may start at one address:
 * the newest is then the last. */
typedef struct gs_buffer_list {
  gs_buffer_t **at;
  size_t count, capacity;
} gs_buffer_list_t;

typedef struct gs_memory {
  struct gs_machine *machine;
  pthread_mutex_t lock;       /* of everything below */
  gs_buffer_list_t allocated; /* they do not overlap */
  gs_buffer_list_t
      covered; /* nor do these: allocations that no GPU has mapped, with views in their addresses */
  gs_buffer_list_t registered;
  uint64_t system_bytes; /* size of a CPU node's heap */
  uint64_t *used;        /* [node] bytes allocated */
  gs_ledger_t ledger;    /* with whom the GPUs' memory is shared */
  bool initialized;
  struct gs_fresh *fresh; /* what device memory holds that nobody wrote */
} gs_memory_t;

/* Returns 0, or -1 when out of memory. The machine's GPUs must be known. */
int gs_memory_init(gs_memory_t *memory, struct gs_machine *machine) __attribute__((warn_unused_result));
/* Forgets everything; frees device memory. No GPU may run. Accepts a zeroed object. */
void gs_memory_fini(gs_memory_t *memory);

/* Allocates `size` bytes, whole pages, on `node`. *address is the wanted address with flags.FixedAddress. */
HSAKMT_STATUS gs_memory_allocate(gs_memory_t *memory, uint32_t node, uint64_t size, HsaMemFlags flags,
                                 void **address);
/* As gs_memory_allocate at an address that the host has reserved (by pages without rights) or that is free:
 * the bytes appear there if the host may access them, and remain elsewhere if not. With `lent`, the bytes are
 * those of the program at that address, which must be writable, and may be another one than GPUs use.
 * Addresses that are in use are an invalid parameter. */
HSAKMT_STATUS gs_memory_place(gs_memory_t *memory, uint32_t node, uint64_t address, uint64_t size,
                              HsaMemFlags flags, void *lent);
/* Frees an allocation: unmaps it from all GPUs, and returns when none can still access it. */
HSAKMT_STATUS gs_memory_free(gs_memory_t *memory, void *address);
/* Gives pages of [address, address + size) that hold nothing but zeros back to the host, which has zeros
 * there again when they are touched. Nobody may write there meanwhile. For host memory of one allocation, of
 * which nothing else has the bytes; other memory stays as it is. */
void gs_memory_forget_zeros(gs_memory_t *memory, void *address, uint64_t size);

/* Makes known memory of the program that GPUs will access in place. Any alignment; may overlap other
 * registrations. */
HSAKMT_STATUS gs_memory_register(gs_memory_t *memory, void *address, uint64_t size, HsaMemFlags flags);
HSAKMT_STATUS gs_memory_deregister(gs_memory_t *memory, void *address);

/* Lets exactly the GPUs of `gpus` (bits) access [address, address + size), which lies in one buffer. */
HSAKMT_STATUS gs_memory_map(gs_memory_t *memory, void *address, uint64_t size, bool read_only, uint32_t gpus);
/* As gs_memory_map, for the GPUs that the buffer is for: its own, or all of them for memory of the CPU node.
 */
HSAKMT_STATUS gs_memory_map_default(gs_memory_t *memory, void *address, uint64_t size);
/* Gives (or takes) the GPUs of `gpus` access to a whole allocation, besides those that have it (or not). */
HSAKMT_STATUS gs_memory_grant(gs_memory_t *memory, void *address, uint32_t gpus, bool give);
/* Ends the access that was granted with this start address. */
HSAKMT_STATUS gs_memory_unmap(gs_memory_t *memory, void *address);

/* Lets the GPUs of `gpus` access the program's memory in [address, address + size), whole pages that exist,
 * until gs_memory_unpin. NULL when out of memory. */
gs_buffer_t *gs_memory_pin(gs_memory_t *memory, uint64_t address, uint64_t size, HsaMemFlags flags,
                           uint32_t gpus);
void gs_memory_unpin(gs_memory_t *memory, gs_buffer_t *pin);

/* Sharing. Bytes that are shared are in a file of their own (share.h), which their first export makes. */

/* A new descriptor for the bytes of an allocation, closed on exec; in *file. HSAKMT_STATUS_INVALID_PARAMETER
 * for addresses that are not the start of one, and for memory that is the program's own. */
HSAKMT_STATUS gs_memory_export(gs_memory_t *memory, const void *address, int *file);

/* Words by which another process finds an allocation as long as this process has it (gs_share_tell). */
HSAKMT_STATUS gs_memory_tell(gs_memory_t *memory, const void *address, uint32_t *words);

/* What of a file appears where. */
typedef struct gs_import {
  int file;         /* the caller's, who keeps it */
  uint64_t address; /* reserved by the host, or 0: anywhere */
  uint64_t offset, size;
  HsaMemFlags flags; /* HostAccess: the program may see the bytes there, with address 0 */
} gs_import_t;

/* Makes a buffer of a file's bytes; *address is where it is. It is freed as an allocation is.
 * INVALID_PARAMETER when this is no such file, or is shorter, or the addresses are in use. */
HSAKMT_STATUS gs_memory_import(gs_memory_t *memory, const gs_import_t *wanted, void **address);
/* Gives one GPU (a bit) access to a file's bytes at addresses that no GPU has mapped, or where these bytes
 * are; those of an address may be given to several GPUs, with rights (GS_VM_) for each. */
HSAKMT_STATUS gs_memory_view(gs_memory_t *memory, const gs_import_t *wanted, uint32_t gpu, uint32_t access);
/* Ends that. INVALID_PARAMETER if the GPU has no such access. */
HSAKMT_STATUS gs_memory_end_view(gs_memory_t *memory, uint64_t address, uint64_t size, uint32_t gpu);

/* Whether a GPU's memory is there that the host has no access to; and whose, by node. In a signal handler,
 * too: it says no while others change what there is. */
bool gs_memory_is_hidden(gs_memory_t *memory, uint64_t address, uint32_t *node);
/* What is known about the buffer that contains `address`. */
HSAKMT_STATUS gs_memory_query(gs_memory_t *memory, const void *address, HsaPointerInfo *info);
HSAKMT_STATUS gs_memory_set_user_data(gs_memory_t *memory, const void *address, void *user_data);

/* Bytes that can still be allocated on a GPU. */
uint64_t gs_memory_available(gs_memory_t *memory, uint32_t node);

#endif
