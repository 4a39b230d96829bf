/* How somebody looks at each access to memory before it happens. The files of the instructions that access
 * memory are compiled a second time (GS_LEVEL is "watched") with the calls below in them; a device uses those
 * handlers if it was created with a watcher, so that without one nothing is asked for at all. Not here: what
 * a watcher makes of it (check/), and what instructions do (op_*.c, the same text for both). */
#ifndef GFXSIM_ISA_WATCH_H
#define GFXSIM_ISA_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"
#include "isa/target.h"

struct gs_access;
struct gs_wave;

/* How far the fences of a packet reach, as HSA numbers them. */
typedef enum gs_scope { GS_SCOPE_NONE, GS_SCOPE_AGENT, GS_SCOPE_SYSTEM } gs_scope_t;

/* A kernel that was started, as those who watch it may name it later. */
typedef struct gs_launch {
  uint32_t gpu;        /* its number */
  const char *profile; /* "gfx90a" */
  gs_target_t target;
  uint64_t object; /* address of the kernel descriptor */
  uint32_t grid[3], group_size[3], groups[3];
  uint64_t scratch_start, scratch_end; /* private memory of all its waves; empty without */
  gs_scope_t acquire, release;         /* its packet's fences */
} gs_launch_t;

/* A copy, or, from 0, a fill. */
typedef struct gs_copy {
  uint32_t gpu;
  uint64_t from, to, bytes;
  const struct gs_vm_map *map; /* the snapshot that the engine uses */
} gs_copy_t;

/* What of a workgroup is kept for the watcher, by whom. */
enum { GS_KEEP_FLOW, GS_KEEP_WAITS, GS_KEEPS };

/* How a wave begins. */
typedef struct gs_begin {
  void **keep;       /* of the workgroup, GS_KEEPS: NULL, or memory that free() frees some day */
  unsigned wave;     /* number in the workgroup; they begin one after another */
  uint64_t sgprs[2]; /* scalar registers 0 to 127 that hold something, a bit each */
  unsigned vgprs;    /* as many vector registers do, in the active lanes */
} gs_begin_t;

/* What the first byte of a digest says of its instruction, where somebody sums up (gs_watch_t.sum). */
typedef enum gs_passing {
  GS_PASSES_NOT,  /* it is to be seen */
  GS_PASSES,      /* it may pass with those around it */
  GS_PASSES_LAST, /* likewise, but not with those behind it: it branches */
} gs_passing_t;

/* An instruction of a block. */
typedef struct gs_passage {
  uint64_t pc;
  const void *digest;
  const struct gs_inst *in;
} gs_passage_t;

/* What is called on the thread of the wave, which holds no lock and a snapshot of the address space. The
 * program counter is behind the instruction. An instruction that is repeated, as its snapshot was too old, is
 * seen again. */
typedef struct gs_watch {
  void *context;
  /* Any lanes of a->lanes, at a->at[] as the device sees it; not for LDS. */
  void (*lanes)(struct gs_wave *w, const struct gs_access *a);
  /* Flat addresses of which some are in the apertures of LDS and private memory. */
  void (*mixed)(struct gs_wave *w, const struct gs_access *a);
  /* [address, address + size), by lanes `stride` bytes apart; 0: by all active lanes at once, or by the
   * wave's scalar registers (`scalar`). `rights`: GS_VM_*. */
  void (*block)(struct gs_wave *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                bool scalar);
  /* LDS, of which a->at[] has offsets: only when some lane leaves it. */
  void (*lds)(struct gs_wave *w, const struct gs_access *a);

  /* Those that follow are NULL where nobody asks. */

  /* LDS, each access: by a->lanes at a->at[], of which some may leave it; or by lanes `stride` bytes apart,
   * 0: all active lanes at one place. */
  void (*local)(struct gs_wave *w, const struct gs_access *a);
  void (*local_block)(struct gs_wave *w, uint32_t offset, uint32_t size, uint32_t stride, uint32_t rights);
  /* Instructions that order accesses: s_waitcnt, s_waitcnt_vscnt, and those that invalidate or write back
   * caches, vector and scalar. */
  void (*order)(struct gs_wave *w, const struct gs_inst *in);
  /* A kernel of the program begins, and ends: `kernel` is what its beginning returned. */
  void *(*kernel_begins)(void *context, const gs_launch_t *launch);
  void (*kernel_ends)(void *context, void *kernel);
  /* A workgroup of it begins: number `index` of the grid. What this returns is env->watched of its waves, and
   * NULL at first. All waves of a group have met at a barrier. The group ends, or is given up. */
  void *(*group_begins)(void *context, void *kernel, uint64_t index, unsigned waves, uint32_t lds_bytes);
  void (*barrier)(void *context, void *group);
  void (*group_ends)(void *context, void *group);
  /* A packet that is no kernel of the program has had these fences on the GPU of that number. */
  void (*fence)(void *context, uint32_t gpu, gs_scope_t acquire, gs_scope_t release);
  /* A copy engine is about to copy; what this returns is told at the end of the copy. */
  void *(*copy_begins)(void *context, const gs_copy_t *copy);
  void (*copy_ends)(void *context, void *copy);
  /* Executes an instruction, by calling its handler. The program counter is behind the instruction. `digest`
   * is what the next function made of it, or NULL: nothing is kept of it. */
  void (*execute)(struct gs_wave *w, const struct gs_inst *in, const void *digest);
  /* Fills `digest`, so many bytes, with what `execute` wants to know of an instruction: once, when it is
   * decoded, for waves of that target. */
  size_t digest_bytes;
  void (*digest)(void *context, gs_target_t target, const struct gs_inst *in, void *digest);
  /* NULL, both, where each instruction is to be seen. `sum` makes of a block's instructions, which may pass,
   * what `pass` wants to know of them, in memory that free() frees; or NULL: they are to be seen. `pass`
   * returns whether they need not be, as the wave is, which executes all of them then. */
  void *(*sum)(void *context, gs_target_t target, const gs_passage_t *block, unsigned count);
  bool (*pass)(struct gs_wave *w, const void *sum);
  /* A wave's registers are set for its first instruction. Sets w->flow and w->waits if it wants that. */
  void (*begin)(struct gs_wave *w, const gs_begin_t *begin);
  /* Who watches ROCr's own kernels, which copy and fill; NULL = nobody. */
  const struct gs_watch *internal;
} gs_watch_t;

/* The handler that calls the watcher, for row `i` of gs_opcodes; NULL where nothing but the usual handler is
 * needed. */
typedef gs_op_fn_t *gs_watched_fn_t(size_t i);
/* That of a level of host instruction set (an index of gs_levels), for waves of 64 or 32 lanes. */
gs_watched_fn_t *gs_level_watched(size_t level, unsigned lanes);

#endif
