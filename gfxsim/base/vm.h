/* The address space of one GPU: which virtual addresses it may access, how, and where their bytes are in this
 * process. Readers (waves, packet processors, DMA engines) look up in immutable snapshots without locks;
 * writers (the thunk) publish a new snapshot and wait until no reader uses the old one, so that freed memory
 * is never touched afterwards. Not here: allocation of memory, and what happens on a fault. */
#ifndef GFXSIM_BASE_VM_H
#define GFXSIM_BASE_VM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  GS_VM_READ = 1,
  GS_VM_WRITE = 2,
  GS_VM_EXECUTE = 4,
};

/* Where memory is, as far as atomic operations mind. */
typedef enum gs_vm_kind {
  GS_VM_COARSE, /* the GPU's own, or not known */
  GS_VM_FINE,   /* the GPU's own, coherent with others while kernels run */
  GS_VM_HOST,   /* behind the link to the host */
} gs_vm_kind_t;

/* By the place of the instruction: those of large kernels would take each other's places if these were few.
 * With 1024, launches of small kernels took longer in most runs. */
enum { GS_VM_HINTS = 256 };

/* One mapped range [start, end) of the GPU's address space. */
typedef struct gs_vm_range {
  uint64_t start;
  uint64_t end;
  uint8_t *host;       /* this process's readable and writable address of `start` */
  uint64_t allocation; /* first address of the allocation that this range is part of */
  uint64_t allocation_size;
  uint32_t access; /* GS_VM_READ | ... */
  gs_vm_kind_t kind;
  bool is_coarse; /* HOST: the GPU's caches may keep it until they are told otherwise */
  bool is_gap;    /* not mapped: the program's own memory, see gs_vm_share_host */
  /* Of ranges in snapshots, what the quickest look at one needs: */
  uint32_t plain_access; /* `access`, or in a gap none, where more has to be asked */
  uint64_t size;         /* end - start */
  uint64_t delta;        /* from an address to the host's */
} gs_vm_range_t;

/* An immutable state of the address space, sorted by address. */
typedef struct gs_vm_map {
  size_t count;
  /* Changes whenever decoded code may be stale: on request, and when executable ranges go. */
  uint64_t code_epoch;
  uint64_t number; /* no two snapshots of an address space have the same; not 0 */
  gs_vm_range_t range[];
} gs_vm_map_t;

typedef struct gs_vm gs_vm_t;

/* Where an instruction has stored one row behind the other, and how many of them past the host's caches since
 * a wave has waited for that (isa/stream.h). */
typedef struct gs_vm_stream {
  uint64_t first, last; /* this process's addresses */
  uint64_t rows;
} gs_vm_stream_t;

/* One thread's right to use snapshots. Owned by the thread; embedded in its own structures. Must not move
 * while registered. */
typedef struct gs_vm_reader {
  _Atomic(const gs_vm_map_t *) seen; /* the snapshot in use; NULL = none (quiescent) */
  gs_vm_t *vm;
  _Atomic(const gs_vm_map_t *) *newest; /* of vm */
  struct gs_vm_reader *next;
  /* For the thread's own use: ranges that it found useful, at first an empty one, and the number of their
   * snapshot. They are good for as long as that is the newest, also if it was not in use in between. And
   * where instructions were last (translate/rows_memory.c). */
  uint64_t number;
  const gs_vm_range_t *found[GS_VM_HINTS];
  uint64_t followed[GS_VM_HINTS];
  gs_vm_stream_t stream[GS_VM_HINTS], *streaming; /* the last one that has stored so, or NULL */
} gs_vm_reader_t;

/* Makes an empty address space. NULL when out of memory. */
gs_vm_t *gs_vm_create(void);
/* Frees it. No reader may be registered any more. Accepts NULL. */
void gs_vm_destroy(gs_vm_t *vm);

/* Maps [range->start, range->end), replacing what was mapped there. Bounds are multiples of 4096.
 * Thread-safe; a reader may call it. Returns 0, or -1 when out of memory (nothing changed). */
int gs_vm_map(gs_vm_t *vm, const gs_vm_range_t *range) __attribute__((warn_unused_result));
/* Removes every mapping inside [start, end), splitting ranges that overlap the bounds, and returns when no
 * reader can still access them. Thread-safe; must not be called by a registered, non-quiescent reader (it
 * would wait for itself). Returns 0, or -1 when out of memory (nothing changed): there is a reserve, so that
 * this takes more than one change of a program that has none left. */
int gs_vm_unmap(gs_vm_t *vm, uint64_t start, uint64_t end) __attribute__((warn_unused_result));
/* With `on`, the GPU reaches what the program itself can reach, at the same addresses, wherever nothing is
 * mapped: as a card does that retries its faults (XNACK) while the driver fetches the pages. Snapshots then
 * have ranges for the whole address space of the program in their gaps, without the right to execute. An
 * access there may fault in this process, so it needs a guard (exec/guard.h). Thread-safe; a reader may call
 * it. Returns 0, or -1 when out of memory (nothing changed). */
int gs_vm_share_host(gs_vm_t *vm, bool on) __attribute__((warn_unused_result));
/* Announces that code in memory may have changed: readers drop what they decoded before. Thread-safe; a
 * reader may call it. Returns 0, or -1 when out of memory (nothing announced). */
int gs_vm_invalidate_code(gs_vm_t *vm) __attribute__((warn_unused_result));

/* Registers a reader (quiescent at first); unregister when the thread is done with this GPU. Thread-safe;
 * must not be called by a thread that holds a snapshot through another reader (an unmap may be waiting for
 * that). */
void gs_vm_reader_register(gs_vm_t *vm, gs_vm_reader_t *reader);
void gs_vm_reader_unregister(gs_vm_reader_t *reader);
/* Starts using the current snapshot, or moves on to the newest one: older snapshots, and pointers found
 * through them, are invalid afterwards. A reader that runs for long calls this often (every few hundred
 * instructions), since gs_vm_unmap waits for it. */
static inline const gs_vm_map_t *gs_vm_reader_enter(gs_vm_reader_t *reader);
/* The same where another snapshot is in use, or none. */
const gs_vm_map_t *gs_vm_reader_move_on(gs_vm_reader_t *reader);
/* Becomes quiescent: holds no snapshot, delays nobody. */
void gs_vm_reader_leave(gs_vm_reader_t *reader);
/* Whether there is a newer snapshot than the one in use. An address in a gap may belong to a mapping of that
 * one: who read the address from memory finds the mapping that was made before it was written there. */
bool gs_vm_reader_is_behind(const gs_vm_reader_t *reader);

/* The range that contains `address`, or NULL. */
const gs_vm_range_t *gs_vm_find(const gs_vm_map_t *map, uint64_t address);
/* The same, but NULL for an address in a gap: only what was mapped for this GPU. */
const gs_vm_range_t *gs_vm_find_mapped(const gs_vm_map_t *map, uint64_t address);
/* Host address of `size` bytes at `address` if all of them lie in one range that was mapped and grants
 * `access`, else NULL. */
void *gs_vm_translate(const gs_vm_map_t *map, uint64_t address, size_t size, uint32_t access);

static inline const gs_vm_map_t *gs_vm_reader_enter(gs_vm_reader_t *reader) {
  /* Acquires the contents of the snapshot. */
  const gs_vm_map_t *map = atomic_load_explicit(reader->newest, memory_order_acquire);
  /* Only this thread writes `seen`: when it names this snapshot already, the announcement was made before. */
  return atomic_load_explicit(&reader->seen, memory_order_relaxed) == map ? map
                                                                          : gs_vm_reader_move_on(reader);
}

#endif
