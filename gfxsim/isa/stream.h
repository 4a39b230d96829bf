/* Stores past the host's caches: of instructions that store one row behind the other for longer than those
 * hold. Whoever stores to a line fetches it first, and another one has to leave for it; a line that is stored
 * whole, and that nobody reads soon, needs neither. Other stores of the thread do not wait for such ones, but
 * waits for stores do, here. (Who hands a group on, or says that it has ended, takes locks, which is as
 * good.) That takes as long as memory does: where waves wait after few rows, as on gfx9 for loads, too, it is
 * left alone. In stencils alone. Not here: which stores go the short way (block.h). */
#ifndef GFXSIM_ISA_STREAM_H
#define GFXSIM_ISA_STREAM_H

#include "isa/lanes.h"
#include "isa/wave.h"

#define GS_STREAM_NEVER (UINT64_C(1) << 62) /* behind all addresses: nothing is far enough from there */

/* A wait for the wave's stores. */
static inline void gs_stream_await(gs_wave_t *w) {
  enum { FEW = 16 };
  if (GS_LIKELY(!w->streamed))
    return;
  gs_vm_stream_t *const stream = w->env->vm->streaming;
  w->streamed = false;
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
  if (!stream)
    return; /* it was another thread's */
  if (stream->rows < FEW)
    stream->first = GS_STREAM_NEVER;
  stream->rows = 0;
}

/* Whether rows are to be stored at `at` like that, and notes that they are stored there. What is shorter may
 * be read from the caches. Rows come in any order, as groups and threads do, but not from far
 * away: where they do, something else begins. */
static inline bool gs_stream_wants(gs_vm_stream_t *stream, uint64_t at) {
  enum { LINE = 64, NEAR = 1 << 20, LONG = 8 << 20 };
  const uint64_t before = stream->last;
  stream->last = at;
  if (GS_UNLIKELY(at - before + NEAR > 2 * NEAR)) {
    stream->first = at;
    return false;
  }
  return (int64_t)(at - stream->first) > LONG && at % LINE == 0;
}

#endif
