/* What one executable or shared library registers: its table of entries, in one form whatever the compiler,
 * and its device images. Looks at nothing but host memory. Not here: what a device makes of it (device). */
#ifndef TGT_LIBRARY_H
#define TGT_LIBRARY_H

#include "abi.h"

#include "base/status.h"
#include "openmp/request.h"

#include <stdbool.h>

/* TGT_REQUIRES_ bits that entries state; 0: none does. Each source file of a program has its own entry. */
typedef struct tgt_requires {
  int64_t first, other; /* the latter differs from the former */
} tgt_requires_t;

typedef struct tgt_library {
  struct tgt_library *next;
  const tgt_descriptor_t *descriptor; /* the program's: identifies the library */
  const tgt_image_t *images;          /* the program's */
  uint32_t image_count, entry_count;
  uint64_t number; /* how many were registered before it */
  atmi_entry_t *
      entries; /* in one form whatever the layout; without statements, and without those of other languages */
  tgt_requires_t requires;
  bool is_new;                   /* entries are of the newer layout */
  bool stays;                    /* it was unregistered, but is there until the process has ended */
  struct tgt_loadable *loadable; /* what the device layer made of it, or NULL */
} tgt_library_t;

/* Reads a descriptor, which must stay until the library is destroyed. Fails, described, with ATMI_INVALID if
 * it contradicts itself or lies in memory that cannot be read, or with ATMI_NO_MEMORY. `*requires`: as in the
 * library, and known after a failure too if the entries could be read: a program's word counts without
 * images. */
ATMI_MUST_CHECK atmi_status_t tgt_library_create(const tgt_descriptor_t *descriptor, tgt_requires_t *requires,
                                                 tgt_library_t **library);
/* Accepts NULL. */
void tgt_library_destroy(tgt_library_t *library);

#endif
