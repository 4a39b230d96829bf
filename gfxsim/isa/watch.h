/* How somebody looks at each access to memory before it happens. The files of the instructions that access
 * memory are compiled a second time (GS_LEVEL is "watched") with the calls below in them; a device uses those
 * handlers if it was created with a watcher, so that without one nothing is asked for at all. Not here: what
 * a watcher makes of it (check/), and what instructions do (op_*.c, the same text for both). */
#ifndef GFXSIM_ISA_WATCH_H
#define GFXSIM_ISA_WATCH_H

#include <stdint.h>

#include "isa/inst.h"

struct gs_access;
struct gs_wave;

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
} gs_watch_t;

/* Handlers that call the watcher, in the order of gs_opcodes; NULL where nothing but the usual handler is
 * needed. */
extern gs_op_fn_t *const gs_watched_handlers[];

#endif
