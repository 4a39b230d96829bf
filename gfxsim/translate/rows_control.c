/* Stencils that are no instructions: the beginning and the ends of blocks, questions about EXEC, calls of
 * handlers, fences. Not here: in what order they are joined (block.c). */
#include "translate/strip_vector.h"

#include "isa/stream.h"

#define GS_CONTROL(name)                                                                                     \
  void gs_stencil_##name(gs_wave_t *w);                                                                      \
  void gs_stencil_##name(gs_wave_t *w)

typedef void gs_code_fn_t(gs_wave_t *w);

/* Begins a block. One that is longer than what is left of the turn is left to the interpreter. */
GS_CONTROL(enter) {
  const uint32_t count = GS_HOLE_32(count);
  if (w->left < count)
    return;
  w->left -= count;
  gs_stencil_next(w);
}

/* Goes on elsewhere, where there may be a block or not, before the rest of the block. */
GS_CONTROL(go) {
  w->left += GS_HOLE_32(rest);
  w->pc = GS_HOLE_64(target);
  (*(gs_code_fn_t **)GS_HOLE_64(cell))(w);
}
/* The same at the block's end. */
GS_CONTROL(go_last) {
  w->pc = GS_HOLE_64(target);
  (*(gs_code_fn_t **)GS_HOLE_64(cell))(w);
}
/* The same where there is no cell. */
GS_CONTROL(leave) {
  w->left += GS_HOLE_32(rest);
  w->pc = GS_HOLE_64(target);
}

/* Is every lane active? */
GS_CONTROL(guard) {
  if (gs_exec(w) != GS_ALL_LANES)
    gs_stencil_taken(w);
  else
    gs_stencil_next(w);
}
GS_CONTROL(join) {
  gs_stencil_taken(w);
}

/* Strips: where the rows and the bits of masks of the first lanes are, and of the next until there are none.
 * Clang has no variables in registers, and makes no stencils for strips. */
#ifndef __clang__
GS_CONTROL(strip_first) {
  gs_strip_rows = (char *)w->v;
  gs_strip_masks = (char *)w;
  gs_stencil_next(w);
}
/* Is one lane active? Then its place in rows and its bit are where code for one lane has them. */
GS_CONTROL(one_first) {
  const uint64_t exec = gs_exec(w);
  if (!exec || (exec & (exec - 1))) {
    gs_stencil_taken(w);
    return;
  }
  gs_strip_rows = (char *)w->v + sizeof(uint32_t) * (unsigned)__builtin_ctzll(exec);
  gs_strip_masks = (char *)(uintptr_t)exec;
  gs_stencil_next(w);
}
/* Some lanes are active somewhere, but here? */
GS_CONTROL(strip_idle) {
  if (*(const strip_bits_t *)(gs_strip_masks + offsetof(gs_wave_t, s) + sizeof(uint32_t) * GS_S_EXEC) == 0)
    gs_stencil_taken(w);
  else
    gs_stencil_next(w);
}
static inline void pass_strips(gs_wave_t *w, unsigned strips) {
  gs_strip_rows += strips * STRIP_LANES * sizeof(uint32_t);
  gs_strip_masks += strips * STRIP_LANES / 8;
  if (gs_strip_rows != (char *)w->v + GS_LANES * sizeof(uint32_t))
    gs_stencil_taken(w);
  else
    gs_stencil_next(w);
}
GS_CONTROL(strip_next) {
  pass_strips(w, 1);
}
GS_CONTROL(strip_next_two) {
  pass_strips(w, 2);
}
/* Strips that assume something that is not so cost more than those that do not. Each time it happens, they
 * are not tried for so many times. Threads share the count, and it does not matter if one is lost. */
GS_CONTROL(trust) {
  int32_t *const trust = (int32_t *)GS_HOLE_64(cell);
  const int32_t before = __atomic_load_n(trust, __ATOMIC_RELAXED);
  if (GS_UNLIKELY(before < 0)) {
    __atomic_store_n(trust, before + 1, __ATOMIC_RELAXED);
    gs_stencil_taken(w);
  } else {
    gs_stencil_next(w);
  }
}
/* The lanes from this strip on alone are active. What masks have of the others is kept, as the instructions
 * that follow write anything there. */
GS_CONTROL(narrow) {
  enum { TIMES = 32 };
  const unsigned done = (unsigned)(gs_strip_masks - (char *)w) * 8;
  __atomic_store_n((int32_t *)GS_HOLE_64(cell), -TIMES, __ATOMIC_RELAXED);
  gs_set_exec(w, GS_ALL_LANES & GS_ALL_LANES << done);
  gs_stencil_next(w);
}
GS_CONTROL(keep_mask) {
  const uint64_t exec = gs_exec(w);
  const uint64_t mask = GS_LANES == 32 ? gs_read_sgpr32(w, GS_HOLE_SRC0) : gs_read_sgpr64(w, GS_HOLE_SRC0);
  const uint64_t kept = mask & ~exec;
  memcpy(gs_sgprs(w, GS_HOLE_DST), &kept, sizeof kept);
  gs_stencil_next(w);
}
GS_CONTROL(restore_mask) {
  uint32_t *const mask = gs_sgprs(w, GS_HOLE_SRC0), *const kept = gs_sgprs(w, GS_HOLE_DST);
  const uint64_t exec = gs_exec(w);
  mask[0] = (mask[0] & (uint32_t)exec) | kept[0];
  if (GS_LANES > 32)
    mask[1] = (mask[1] & (uint32_t)(exec >> 32)) | kept[1];
  gs_stencil_next(w);
}
GS_CONTROL(widen) {
  gs_set_exec(w, GS_ALL_LANES);
  gs_stencil_next(w);
}
#endif

static inline void gs_call(gs_wave_t *w) {
  gs_op_fn_t *const fn = (gs_op_fn_t *)GS_HOLE_64(fn);
  w->pc = GS_HOLE_64(pc);
  _mm256_zeroupper();
  fn(w, (const gs_inst_t *)GS_HOLE_64(in));
}
/* Reports want the address of the instruction that failed. */
static inline void gs_call_ends(gs_wave_t *w) {
  if (w->state == GS_WAVE_FAULTED)
    w->pc -= ((const gs_inst_t *)GS_HOLE_64(in))->size;
}
/* An instruction behind which the block goes on, unless the wave stopped there. */
static inline bool gs_call_goes_on(gs_wave_t *w) {
  gs_call(w);
  if (GS_LIKELY(w->state == GS_WAVE_RUNNING))
    return true;
  w->left += GS_HOLE_32(rest);
  gs_call_ends(w);
  return false;
}
GS_CONTROL(call) {
  if (gs_call_goes_on(w))
    gs_stencil_next(w);
}
GS_CONTROL(call_store) {
  w->unfenced = true;
  if (gs_call_goes_on(w))
    gs_stencil_next(w);
}
/* One that goes where it likes, or changes the wave's modes. */
GS_CONTROL(call_last) {
  gs_call(w);
  gs_call_ends(w);
}

/* Before a load that must not be older than the wave's stores. */
GS_CONTROL(fence) {
  if (w->unfenced) {
    w->unfenced = false;
    atomic_thread_fence(memory_order_seq_cst);
  }
  gs_stencil_next(w);
}
/* A wait for stores. */
GS_CONTROL(await_streams) {
  gs_stream_await(w);
  gs_stencil_next(w);
}
