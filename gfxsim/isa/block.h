/* The short way to memory, for what most instructions do: all lanes at the same address, or side by side in
 * the order of their numbers. One look at the address registers tells; then there is one address to check
 * instead of one for each lane, and a whole row to move. Whatever is not like that goes the long way. Not
 * here: the long way (memory.h, transfer.h). */
#ifndef GFXSIM_ISA_BLOCK_H
#define GFXSIM_ISA_BLOCK_H

#include "isa/stream.h"
#include "isa/transfer.h"

/* How the values of a row are related. */
typedef enum gs_shape {
  GS_SHAPE_OTHER,
  GS_SHAPE_UNIFORM, /* the same in all active lanes */
  GS_SHAPE_DENSE,   /* all lanes are active, and each value is the one before plus a stride */
} gs_shape_t;

/* Whether just one lane is active: serial code has nothing but that. */
static inline bool gs_is_single(uint64_t exec) {
  return exec && !(exec & (exec - 1));
}

#if defined(GS_STENCIL_ONE)
static inline gs_shape_t gs_row_shape(gs_wave_t *w, const gs_row_t *row, uint32_t stride) {
  (void)w, (void)row, (void)stride;
  return GS_SHAPE_UNIFORM;
}
#elif defined(__AVX512F__)
/* Compilers join the lanes of a vector to say whether any is not zero; a test gives that at once. */
static inline bool gs_is_sequence(const gs_row_t *row, uint32_t stride) {
  enum { OR_DIFFERENCE = 0xf6 }; /* a | (b ^ c) */
  const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i offset = _mm512_mullo_epi32(number, _mm512_set1_epi32((int32_t)stride));
  __m512i differ = _mm512_setzero_si512();
  for (unsigned l = 0; l < GS_LANES; l += 16) {
    const __m512i first = _mm512_set1_epi32((int32_t)(row->u32[0] + l * stride));
    const __m512i expected = stride ? _mm512_add_epi32(first, offset) : first;
    differ = _mm512_ternarylogic_epi32(differ, _mm512_load_si512(&row->u32[l]), expected, OR_DIFFERENCE);
  }
  return !_mm512_test_epi32_mask(differ, differ);
}
static inline bool gs_is_uniform_in(const gs_row_t *row, uint64_t lanes) {
  const __m512i first = _mm512_set1_epi32(row->i32[__builtin_ctzll(lanes)]);
  unsigned differ = 0;
  for (unsigned l = 0; l < GS_LANES; l += 16)
    differ |= _mm512_mask_cmpneq_epu32_mask((__mmask16)(lanes >> l), _mm512_load_si512(&row->u32[l]), first);
  return !differ;
}
GS_SHARED gs_shape_t gs_row_shape(gs_wave_t *w, const gs_row_t *row, uint32_t stride) {
  const uint64_t exec = gs_exec(w);
  if (gs_is_single(exec))
    return GS_SHAPE_UNIFORM;
  if (exec != GS_ALL_LANES)
    return exec && gs_is_uniform_in(row, exec) ? GS_SHAPE_UNIFORM : GS_SHAPE_OTHER;
  const uint32_t first = row->u32[0];
  if (!stride || row->u32[1] == first)
    return gs_is_sequence(row, 0) ? GS_SHAPE_UNIFORM : GS_SHAPE_OTHER;
  /* A row that passes 2^32 is not dense once it is extended to 64 bits. */
  const bool is_dense = first + (GS_LANES - 1) * stride >= first && gs_is_sequence(row, stride);
  return is_dense ? GS_SHAPE_DENSE : GS_SHAPE_OTHER;
}
#else
#if defined(__AVX2__)
static inline bool gs_is_sequence(const gs_row_t *row, uint32_t stride) {
  const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i next = _mm256_set1_epi32((int32_t)(8 * stride));
  __m256i expected = _mm256_add_epi32(_mm256_set1_epi32(row->i32[0]),
                                      _mm256_mullo_epi32(number, _mm256_set1_epi32((int32_t)stride))),
          differ = _mm256_setzero_si256();
  for (unsigned l = 0; l < GS_LANES; l += 8) {
    const __m256i lanes = _mm256_load_si256((const __m256i *)(const void *)&row->u32[l]);
    differ = _mm256_or_si256(differ, _mm256_xor_si256(lanes, expected));
    expected = _mm256_add_epi32(expected, next);
  }
  return _mm256_testz_si256(differ, differ);
}
#endif
GS_SHARED gs_shape_t gs_row_shape(gs_wave_t *w, const gs_row_t *row, uint32_t stride) {
  const uint64_t exec = gs_exec(w);
  uint32_t apart = 0, uneven = 0;
  if (GS_LIKELY(exec == GS_ALL_LANES)) {
    const uint32_t first = row->u32[0];
    for (uint32_t l = 0; l < GS_LANES; l++) {
      const uint32_t distance = row->u32[l] - first;
      apart |= distance;
      uneven |= distance ^ (l * stride);
    }
    /* A row that passes 2^32 is not dense once it is extended to 64 bits. */
    if (!uneven && first + (GS_LANES - 1) * stride >= first)
      return GS_SHAPE_DENSE;
    return apart ? GS_SHAPE_OTHER : GS_SHAPE_UNIFORM;
  }
  if (!exec)
    return GS_SHAPE_OTHER;
  if (gs_is_single(exec))
    return GS_SHAPE_UNIFORM;
  if (exec != w->lane_mask_exec)
    gs_lane_mask_update(w, exec);
  const uint32_t first = row->u32[__builtin_ctzll(exec)];
  for (unsigned l = 0; l < GS_LANES; l++)
    apart |= (row->u32[l] ^ first) & w->lane_mask.u32[l];
  return apart ? GS_SHAPE_OTHER : GS_SHAPE_UNIFORM;
}
#endif

/* The value of the first active lane. */
static inline uint32_t gs_first_lane(const gs_wave_t *w, const gs_row_t *row) {
  return row->u32[__builtin_ctzll(gs_exec(w))];
}

/* An access that goes the short way. */
typedef struct gs_block {
  uint64_t at;      /* of lane 0; of all lanes if uniform */
  gs_shape_t shape; /* dense lanes are as many bytes apart as each accesses, or in private memory 4 */
  uint32_t step;    /* from one dword of a lane to its next: GS_LINEAR_STEP or GS_PRIVATE_STEP */
} gs_block_t;

/* Each of these finds out whether the access of `bytes` per lane (1, 2, or a multiple of 4) can go the short
 * way, and then fills `b`. They never fault: what they refuse must go the long way, bad addresses too. */

/* `size` bytes at one place of the GPU's address space. */
#ifdef GS_STENCIL
/* Stencils call nobody: they would have to keep registers for that, also where nobody is called. They leave
 * it to the handler, and find what it found the next time. */
static inline bool gs_block_is_in(const gs_vm_range_t *range, uint64_t address, uint64_t size,
                                  uint32_t rights) {
  /* No range with rights is smaller than a page, which no access is larger than. */
  return address - range->start <= range->size - size && (range->plain_access & rights) == rights;
}
static inline bool gs_block_place(const gs_wave_t *w, gs_block_t *b, uint64_t address, uint64_t size,
                                  uint32_t rights) {
  const gs_vm_range_t *const range = *gs_range_found(w);
  b->at = address + range->delta;
  return gs_block_is_in(range, address, size, rights);
}
#else
static inline bool gs_block_place(const gs_wave_t *w, gs_block_t *b, uint64_t address, uint64_t size,
                                  uint32_t rights) {
  const gs_vm_range_t **const found = gs_range_found(w), *range = *found;
  if (GS_UNLIKELY(address - range->start >= range->end - range->start)) {
    range = gs_vm_find(atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed), address);
    if (!range)
      return false;
    *found = range;
  }
  b->at = address + range->delta;
  return range->end - address >= size && (range->access & rights) == rights && !gs_range_is_old(w, range);
}
#endif

/* Addresses of ordinary memory. */
static inline bool gs_block_linear(gs_wave_t *w, gs_block_t *b, gs_shape_t shape, uint64_t address,
                                   unsigned bytes, uint32_t rights) {
  b->shape = shape;
  b->step = GS_LINEAR_STEP;
  const uint64_t size = shape == GS_SHAPE_DENSE ? GS_LANES * bytes : bytes;
  const bool good = gs_block_place(w, b, address, size, rights);
  if (good)
    gs_watch_block(w, address, size, shape == GS_SHAPE_DENSE ? bytes : 0, rights);
  return good;
}

/* Byte offset `offset` into every lane's private memory, of which lane 0's begins at `base`. The lanes'
 * dwords lie side by side, whatever EXEC says. */
static inline bool gs_block_private(gs_wave_t *w, gs_block_t *b, uint64_t base, uint32_t offset,
                                    unsigned bytes, uint32_t rights) {
  if (offset % 4 || bytes % 4)
    return false;
  b->shape = GS_SHAPE_DENSE;
  b->step = GS_PRIVATE_STEP;
  const uint64_t address = base + (uint64_t)(offset / 4) * GS_PRIVATE_STEP;
  const uint64_t size = bytes / 4 * GS_PRIVATE_STEP;
  const bool good = gs_block_place(w, b, address, size, rights);
#ifdef GS_STENCIL_ONE
  b->at += (uint64_t)(gs_strip_rows - (const char *)w->v);
  b->shape = GS_SHAPE_UNIFORM;
#endif
  if (good)
    gs_watch_block(w, address, size, 0, rights);
  return good;
}

/* Byte offset `offset` into LDS. */
static inline bool gs_block_lds(gs_wave_t *w, gs_block_t *b, gs_shape_t shape, uint32_t offset,
                                unsigned bytes, uint32_t rights) {
  const uint32_t size = shape == GS_SHAPE_DENSE ? GS_LANES * bytes : bytes;
  b->shape = shape;
  b->step = GS_LINEAR_STEP;
  b->at = (uint64_t)(uintptr_t)w->env->lds + offset;
  const bool good = offset < w->env->lds_bytes && w->env->lds_bytes - offset >= size;
  if (GS_IS_WATCHED && good && w->env->watch && w->env->watch->local_block)
    w->env->watch->local_block(w, offset, size, shape == GS_SHAPE_DENSE ? bytes : 0, rights);
  return good;
}

static inline void gs_load_single(gs_wave_t *w, uint64_t at, unsigned reg, unsigned n) {
  const unsigned lane = (unsigned)__builtin_ctzll(gs_exec(w));
  uint32_t value[4];
  gs_guest_get_dwords(at, n, value);
  for (unsigned i = 0; i < n; i++)
    gs_row(w, reg + i)->u32[lane] = value[i];
}

/* A store that misses the caches holds up all stores behind it, also those to the wave's own registers; and a
 * load all that is done for who watches, as the processor does not see the next one coming behind that. What
 * lies behind the lanes of this wave mostly belongs to the next waves, which so find it at hand, if they come
 * there no sooner than memory gives it. */
static inline void gs_block_expect(const gs_block_t *b, unsigned n, const uint32_t rights) {
  enum { CACHE_LINE = 64, WAVES_AHEAD = 4 };
  const uint64_t size = (uint64_t)GS_ROW_BYTES * n;
  for (uint64_t i = 0; i < size && b->shape == GS_SHAPE_DENSE; i += CACHE_LINE) {
    const void *ahead = (const void *)(uintptr_t)(b->at + WAVES_AHEAD * size + i);
    if (rights & GS_VM_WRITE)
      __builtin_prefetch(ahead, 1);
    else
      __builtin_prefetch(ahead);
  }
}

/* Loads `n` dwords per lane into registers from `reg` on. */
GS_SHARED void gs_block_load(gs_wave_t *w, const gs_block_t *b, unsigned reg, unsigned n) {
  const uint64_t exec = gs_exec(w);
#ifdef GS_STENCIL_ONE
  if (b->step == GS_PRIVATE_STEP) {
    for (unsigned i = 0; i < n; i++)
      gs_load_single(w, b->at + (uint64_t)i * b->step, reg + i, 1);
    return;
  }
#endif
  if (b->shape == GS_SHAPE_UNIFORM && gs_is_single(exec)) {
    gs_load_single(w, b->at, reg, n);
    return;
  }
  gs_row_t tmp[4], *const row = exec == GS_ALL_LANES ? gs_row(w, reg) : tmp;
  if (b->shape == GS_SHAPE_UNIFORM)
    gs_broadcast_dwords(row, b->at, n);
  else if (n == 1 || b->step == GS_LINEAR_STEP)
    gs_get_interleaved(row, b->at, n);
  else
    for (unsigned i = 0; i < n; i++)
      gs_get_blocks(&row[i], b->at + (uint64_t)i * b->step, 1);
  if (GS_UNLIKELY(row == tmp))
    for (unsigned i = 0; i < n; i++)
      gs_write_row(w, reg + i, &tmp[i], exec);
}

/* Loads a byte or a word that all lanes have in common. */
GS_SHARED void gs_block_load_narrow(gs_wave_t *w, const gs_block_t *b, unsigned reg, gs_narrow_t narrow) {
  uint32_t value = 0;
  gs_row_t row;
  switch (narrow) {
  case GS_NARROW_U8: value = gs_guest_get8(b->at); break;
  case GS_NARROW_I8: value = (uint32_t)(int8_t)gs_guest_get8(b->at); break;
  case GS_NARROW_U16: value = gs_guest_get16(b->at); break;
  case GS_NARROW_I16: value = (uint32_t)(int16_t)gs_guest_get16(b->at); break;
  }
  gs_broadcast(value, &row);
  gs_write_row(w, reg, &row, gs_exec(w));
}

/* Stores the active lanes of a register to dwords that lie side by side and belong to this wave alone. */
GS_SHARED void gs_put_active(gs_wave_t *w, const gs_row_t *row, uint64_t at) {
  const uint64_t exec = gs_exec(w);
  if (exec != w->lane_mask_exec)
    gs_lane_mask_update(w, exec);
  gs_row_t memory;
  gs_get_blocks(&memory, at, 1);
  GS_LANES_DO(l)
    memory.u32[l] = (row->u32[l] & w->lane_mask.u32[l]) | (memory.u32[l] & ~w->lane_mask.u32[l]);
  gs_put_blocks(&memory, at, 1);
}

/* Stores `n` dwords per lane from registers from `reg` on. */
GS_SHARED void gs_block_store(gs_wave_t *w, const gs_block_t *b, unsigned reg, unsigned n) {
  const gs_row_t *const row = gs_row(w, reg);
#ifdef GS_STENCIL_ONE
  if (b->step == GS_PRIVATE_STEP) {
    for (unsigned i = 0; i < n; i++)
      gs_guest_put32(b->at + (uint64_t)i * b->step, row[i].u32[0]);
    return;
  }
#endif
  if (b->shape == GS_SHAPE_UNIFORM) /* the last lane wins */
    gs_put_lane(row, 63u - (unsigned)__builtin_clzll(gs_exec(w)), b->at, n);
  else if (gs_exec(w) != GS_ALL_LANES)
    for (unsigned i = 0; i < n; i++)
      gs_put_active(w, &row[i], b->at + (uint64_t)i * b->step);
  else if (n == 1 || b->step == GS_LINEAR_STEP)
    gs_put_interleaved(row, b->at, n);
  else
    for (unsigned i = 0; i < n; i++)
      gs_put_blocks(&row[i], b->at + (uint64_t)i * b->step, 1);
}

/* The same past the caches, if it is one of many. Returns whether it has. */
static inline bool gs_block_stream(gs_wave_t *w, const gs_block_t *b, unsigned reg, unsigned n) {
#if defined(GS_STENCIL) && defined(__AVX2__) && !defined(GS_STENCIL_ONE)
  gs_vm_reader_t *const vm = w->env->vm;
  gs_vm_stream_t *const stream = &vm->stream[GS_HOLE_INDEX(note)];
  if (b->shape != GS_SHAPE_DENSE || b->step != GS_LINEAR_STEP || !gs_stream_wants(stream, b->at))
    return false;
  stream->rows++;
  vm->streaming = stream;
  w->streamed = true;
  gs_put_interleaved_by(gs_stream_wide, gs_row(w, reg), b->at, n);
  return true;
#else
  (void)w, (void)b, (void)reg, (void)n;
  return false;
#endif
}

#endif
