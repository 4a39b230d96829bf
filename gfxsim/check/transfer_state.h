/* What the tool "transfer" keeps (transfer.h), for the files of which it consists. Not here: what is done
 * with it, and when (transfer*.c). */
#ifndef GFXSIM_CHECK_TRANSFER_STATE_H
#define GFXSIM_CHECK_TRANSFER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "check/gone.h"
#include "check/mapped.h"
#include "check/sweep.h"
#include "check/traffic.h"
#include "check/transfer.h"

/* Bytes of a mapping whose flags one kernel at a time sets; and of which it is kept, together, that an access
 * changes no flags, or that all were WRITTEN. What is not kept may be so. */
enum { GS_TWIN_PART = 4096, GS_TWIN_LINE = 64 };
enum { GS_SETTLED_READ = 1, GS_SETTLED_WRITE = 2, GS_SETTLED_WRITTEN = 4 };

/* What is mapped together, which lives twice. */
typedef struct gs_twin {
  uint64_t start, end, host;
  gs_variable_t *variable;
  bool is_copied;          /* by the runtime, from the variable */
  bool came_ever;          /* by a copy engine, from anywhere */
  bool is_loaded;          /* a variable of an image: any region may access it */
  bool is_fresh;           /* what was sent last, the host had otherwise before */
  bool was_stale;          /* some of it was STALE, and may still be marked so */
  _Atomic bool is_written; /* some of it, since all was copied */
  _Atomic bool is_gone;    /* the host has freed its variable */
  uint64_t compared,
      compared_end;        /* offsets: what of it was compared with the host's when it was used last, */
  uint64_t region;         /* by this one, or whoever came until the next, */
  uint64_t patience;       /* or so many regions more */
  gs_some_t stale;         /* of these, by offset */
  gs_some_t undone;        /* that copies to the host have put back, and nobody was told of */
  uint64_t went_writer;    /* `writer`, when data left the device last */
  bool was_changed;        /* some of it is CHANGED, */
  bool is_overwritten;     /* or OVERWRITTEN, since all came to the host; */
  gfxsim_stack_t sent;     /* who has asked for that copy to the device, */
  uint64_t overwriting;    /* in which construct it has replaced what a kernel has written; */
  uint64_t overwritten_pc; /* which was this writer */
  gs_some_t overwritten;   /* bytes that came to the host so, and nobody was told of */
  uint64_t construct;      /* that had begun last when data left the device last */
  gs_gone_t *gone;         /* since then, as far as its calls are seen; or NULL */
  gfxsim_stack_t mapped;   /* who has mapped it */
  gfxsim_stack_t wanted;   /* who has asked for a copy to the host last */
  _Atomic uint64_t writer; /* program counter of who wrote it first, since it was copied */
  gs_mapped_t bytes;
  atomic_flag *setting; /* of each part's flags, by kernels; clear: nobody does */
  /* Of each line: GS_SETTLED_*. Set by who sets flags, while it excludes others, and asked by all. */
  _Atomic uint8_t *settled;
} gs_twin_t;

/* Who wrote: names are looked up once for each instruction. */
enum { GS_WRITERS = 64 };
typedef struct gs_writer {
  uint64_t pc;
  gs_side_t side;
} gs_writer_t;

struct gs_transfer {
  gs_findings_t *findings;
  const gs_sweep_t *sweep;
  pthread_rwlock_t lock; /* of all but what kernels set in mappings */
  gs_twin_t **at;        /* by start; they do not overlap */
  size_t count, capacity;
  gs_variable_t *variables;
  bool any;                       /* somebody says what is mapped */
  uint64_t region;                /* how many have started */
  atomic_bool any_undone;         /* of some mapping */
  _Atomic uint64_t construct;     /* how many have begun */
  _Atomic uint64_t copies, bytes; /* of all copy engines */
  pthread_mutex_t writers_lock;   /* of what follows */
  gs_writer_t writer[GS_WRITERS];
  unsigned writers;
};

/* The host's variable is read in pieces that the processor's caches hold. */
enum { GS_TWIN_PIECE = 1 << 16 };

/* ---- What is mapped, for who holds the lock (transfer.c) ---- */

/* The index of the first mapping that ends behind `address`; and the mapping that it is in, or NULL. */
size_t gs_transfer_index(const gs_transfer_t *transfer, uint64_t address);
gs_twin_t *gs_transfer_find(const gs_transfer_t *transfer, uint64_t address);

/* Flags are about to be changed so that accesses may have to set some; by who excludes all kernels, as all
 * who call what follows. */
void gs_transfer_unsettle(gs_twin_t *mapping, uint64_t first, uint64_t bytes);
/* Which bytes of [first, end) has the host changed, of those of which the device has a copy? */
void gs_transfer_compare(const gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t end);
/* The next bytes, from *first on, of which the host's changes matter, as kernels have not written all of them
 * since they were copied; no more than a piece. Returns how many: 0 if there are none before `last`. */
uint64_t gs_transfer_find_piece(const gs_twin_t *mapping, uint64_t *first, uint64_t last);
/* Changes of the host that are undone, from offset `first` on: they are told of later. */
void gs_transfer_add_undone(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first,
                            const gs_some_t *undone);
/* Data comes to the host: has a copy to the device undone changes by a kernel there? If kernels write what
 * they get from the host again that copy may be meant so, and if nobody wants it back it is harmless. `flag`:
 * what the bytes have where both the copy and who asked for it are there by now. */
void gs_transfer_find_overwritten(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t bytes,
                                  uint16_t flag);
/* Of these bytes, about to be copied again or to end, counts those that no kernel has read. */
void gs_transfer_count_unread(gs_twin_t *mapping, uint64_t first, uint64_t bytes);

/* ---- What is told (transfer_tell.c) ---- */

/* Something that a kernel read, and the host has changed since it was copied. */
typedef struct gs_stale_read {
  gs_variable_t *variable;
  gs_some_t some; /* bytes that are, by offset */
  unsigned lane;  /* who read it first */
  uint32_t lanes; /* 0: nothing is stale */
} gs_stale_read_t;

void gs_transfer_tell_stale(gs_transfer_t *transfer, const gs_wave_t *w, const gs_stale_read_t *read);
/* `lost` bytes that the kernel at `pc` wrote. `early`: who asked for a copy to the host before that; depth 0:
 * nobody. */
void gs_transfer_tell_lost(gs_transfer_t *transfer, const gs_variable_t *variable, uint64_t pc, uint64_t lost,
                           const gfxsim_stack_t *early);
/* Changes by the host, and by kernels, that copies have undone, if there are any that nobody was told of.
 * Lock held for writing. */
void gs_transfer_tell_changes(gs_transfer_t *transfer, gs_twin_t *mapping);

/* ---- What copy engines do (transfer_copies.c) ---- */

/* As gs_watch_t has it. */
void *gs_transfer_watch_copy(void *context, const gs_copy_t *copy);

#endif
