/* Rows of lanes to and from guest memory in which each lane has 1 to 4 dwords together: the lanes side by
 * side, or each anywhere. The dwords of a lane are one access (guest.h), and memory is touched once:
 * compilers make two loops of one, and read twice, where they may. Not here: addresses, and which lanes take
 * part (memory.h). */
#ifndef GFXSIM_ISA_INTERLEAVE_H
#define GFXSIM_ISA_INTERLEAVE_H

#include "isa/guest.h"
#include "isa/lanes.h"

/* ---- Vectors ---- */

/* The widest vectors that the handlers of this level have. */
#if defined(__AVX512F__)
enum { GS_WIDE_BYTES = 64 };
#elif defined(__AVX2__)
enum { GS_WIDE_BYTES = 32 };
#else
enum { GS_WIDE_BYTES = 16 };
#endif
typedef uint32_t gs_wide_dwords_t __attribute__((vector_size(GS_WIDE_BYTES), may_alias));
typedef struct gs_guest_wide {
  gs_wide_dwords_t value;
} __attribute__((packed, may_alias)) gs_guest_wide_t;

static GS_GUEST gs_wide_dwords_t gs_guest_get_wide(uint64_t at) {
  return ((const volatile gs_guest_wide_t *)(uintptr_t)at)->value;
}
static GS_GUEST void gs_guest_put_wide(uint64_t at, gs_wide_dwords_t value) {
  ((volatile gs_guest_wide_t *)(uintptr_t)at)->value = value;
}

#if defined(GS_STENCIL) && defined(__AVX2__)
/* The same past the caches (stream.h), where `at` is aligned. */
static inline void gs_stream_wide(uint64_t at, gs_wide_dwords_t value) {
#if defined(__AVX512F__)
  _mm512_stream_si512((__m512i *)(uintptr_t)at, (__m512i)value);
#else
  _mm256_stream_si256((__m256i *)(uintptr_t)at, (__m256i)value);
#endif
}
#endif

/* Copies `n` rows of dwords that lie side by side. The copy is aligned. */
static inline void gs_get_blocks(void *to, uint64_t from, unsigned n) {
  gs_wide_dwords_t *const piece = to;
  for (unsigned i = 0; i < n * (unsigned)(GS_ROW_BYTES / GS_WIDE_BYTES); i++)
    piece[i] = gs_guest_get_wide(from + i * GS_WIDE_BYTES);
}
typedef void gs_put_wide_t(uint64_t at, gs_wide_dwords_t value);
static inline void gs_put_blocks_by(gs_put_wide_t *put, const void *from, uint64_t to, unsigned n) {
  const gs_wide_dwords_t *const piece = from;
  for (unsigned i = 0; i < n * (unsigned)(GS_ROW_BYTES / GS_WIDE_BYTES); i++)
    put(to + i * GS_WIDE_BYTES, piece[i]);
}
static inline void gs_put_blocks(const void *from, uint64_t to, unsigned n) {
  gs_put_blocks_by(gs_guest_put_wide, from, to, n);
}

/* What transposes works on: lanes l to l + 3 and, with AVX2, l + 4 to l + 7 in the upper half. */
#if defined(__AVX2__)
typedef __m256i gs_quads_t;
enum { GS_QUAD_LANES = 8 };
#define gs_unpack(part, bits, a, b) _mm256_unpack##part##_epi##bits(a, b)
#define gs_quads_of(row, l)         _mm256_load_si256((const __m256i *)&(row)->u32[l])
#define gs_quads_to(row, l, value)  _mm256_store_si256((__m256i *)&(row)->u32[l], value)
#elif defined(__SSE2__)
typedef __m128i gs_quads_t;
enum { GS_QUAD_LANES = 4 };
#define gs_unpack(part, bits, a, b) _mm_unpack##part##_epi##bits(a, b)
#define gs_quads_of(row, l)         _mm_load_si128((const __m128i *)&(row)->u32[l])
#define gs_quads_to(row, l, value)  _mm_store_si128((__m128i *)&(row)->u32[l], value)
#endif

#if defined(__SSE2__)
/* Four lanes' four dwords, from a vector per lane to one per dword, or back. */
static inline void gs_transpose(gs_quads_t v[4]) {
  const gs_quads_t ab0 = gs_unpack(lo, 32, v[0], v[1]), ab1 = gs_unpack(hi, 32, v[0], v[1]);
  const gs_quads_t cd0 = gs_unpack(lo, 32, v[2], v[3]), cd1 = gs_unpack(hi, 32, v[2], v[3]);
  v[0] = gs_unpack(lo, 64, ab0, cd0);
  v[1] = gs_unpack(hi, 64, ab0, cd0);
  v[2] = gs_unpack(lo, 64, ab1, cd1);
  v[3] = gs_unpack(hi, 64, ab1, cd1);
}

/* The lanes of v[i] in memory: at[i] and, in the upper half, at[i + 4]. */
static inline gs_quads_t gs_get_quads(const uint64_t *at) {
#if defined(__AVX2__)
  return _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)gs_guest_get128(at[0])),
                                 (__m128i)gs_guest_get128(at[4]), 1);
#else
  return (__m128i)gs_guest_get128(at[0]);
#endif
}

/* Four dwords of GS_QUAD_LANES lanes from `l` on. */
static inline void gs_get_fours(gs_row_t *row, unsigned l, const uint64_t *at) {
  gs_quads_t v[4];
  for (unsigned i = 0; i < 4; i++)
    v[i] = gs_get_quads(at + i);
  gs_transpose(v);
  for (unsigned i = 0; i < 4; i++)
    gs_quads_to(&row[i], l, v[i]);
}
/* The same for stores, by the lanes in the low bits of `lanes`, in the order of their numbers. */
static inline void gs_put_fours(const gs_row_t *row, unsigned l, const uint64_t *at, uint64_t lanes) {
  gs_quads_t v[4];
  for (unsigned i = 0; i < 4; i++)
    v[i] = gs_quads_of(&row[i], l);
  gs_transpose(v);
#if defined(__AVX2__)
  for (unsigned i = 0; i < 4; i++)
    if (lanes >> i & 1)
      gs_guest_put128(at[i], (gs_dwords4_t)_mm256_castsi256_si128(v[i]));
  for (unsigned i = 0; i < 4; i++)
    if (lanes >> i & 16)
      gs_guest_put128(at[i + 4], (gs_dwords4_t)_mm256_extracti128_si256(v[i], 1));
#else
  for (unsigned i = 0; i < 4; i++)
    if (lanes >> i & 1)
      gs_guest_put128(at[i], (gs_dwords4_t)v[i]);
#endif
}
#endif

/* ---- Lanes side by side ---- */

#if defined(__SSE2__) && !defined(__AVX512F__)
/* With such vectors compilers do badly what they do well with wider ones. */
static inline void gs_get_dense_pairs(gs_row_t *row, uint64_t at) {
  for (unsigned l = 0; l < GS_LANES; l += GS_WIDE_BYTES / 4, at += 2 * GS_WIDE_BYTES) {
    const gs_wide_dwords_t a = gs_guest_get_wide(at), b = gs_guest_get_wide(at + GS_WIDE_BYTES);
#if defined(__AVX2__)
    const __m256i low = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
    const __m256i high = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
    gs_quads_to(&row[0], l, _mm256_permute4x64_epi64(low, 0xd8));
    gs_quads_to(&row[1], l, _mm256_permute4x64_epi64(high, 0xd8));
#else
    _mm_store_ps(&row[0].f32[l], _mm_shuffle_ps((__m128)a, (__m128)b, 0x88));
    _mm_store_ps(&row[1].f32[l], _mm_shuffle_ps((__m128)a, (__m128)b, 0xdd));
#endif
  }
}
static inline void gs_put_dense_pairs(gs_put_wide_t *put, const gs_row_t *row, uint64_t at) {
  for (unsigned l = 0; l < GS_LANES; l += GS_WIDE_BYTES / 4, at += 2 * GS_WIDE_BYTES) {
    const gs_quads_t low = gs_quads_of(&row[0], l), high = gs_quads_of(&row[1], l);
    const gs_quads_t a = gs_unpack(lo, 32, low, high), b = gs_unpack(hi, 32, low, high);
#if defined(__AVX2__)
    put(at, (gs_wide_dwords_t)_mm256_permute2x128_si256(a, b, 0x20));
    put(at + GS_WIDE_BYTES, (gs_wide_dwords_t)_mm256_permute2x128_si256(a, b, 0x31));
#else
    put(at, (gs_wide_dwords_t)a);
    put(at + GS_WIDE_BYTES, (gs_wide_dwords_t)b);
#endif
  }
}

static inline void gs_dense_addresses(uint64_t at, uint64_t address[GS_QUAD_LANES]) {
  for (unsigned i = 0; i < GS_QUAD_LANES; i++)
    address[i] = at + 16 * i;
}
static inline void gs_get_dense_fours(gs_row_t *row, uint64_t at) {
  uint64_t address[GS_QUAD_LANES];
  for (unsigned l = 0; l < GS_LANES; l += GS_QUAD_LANES) {
    gs_dense_addresses(at + 16 * l, address);
    gs_get_fours(row, l, address);
  }
}
static inline void gs_put_dense_fours(gs_put_wide_t *put, const gs_row_t *row, uint64_t at) {
  for (unsigned l = 0; l < GS_LANES; l += GS_QUAD_LANES, at += 4 * GS_WIDE_BYTES) {
    gs_quads_t v[4];
    for (unsigned i = 0; i < 4; i++)
      v[i] = gs_quads_of(&row[i], l);
    gs_transpose(v);
#if defined(__AVX2__)
    put(at, (gs_wide_dwords_t)_mm256_permute2x128_si256(v[0], v[1], 0x20));
    put(at + GS_WIDE_BYTES, (gs_wide_dwords_t)_mm256_permute2x128_si256(v[2], v[3], 0x20));
    put(at + 2 * GS_WIDE_BYTES, (gs_wide_dwords_t)_mm256_permute2x128_si256(v[0], v[1], 0x31));
    put(at + 3 * GS_WIDE_BYTES, (gs_wide_dwords_t)_mm256_permute2x128_si256(v[2], v[3], 0x31));
#else
    for (unsigned i = 0; i < 4; i++)
      put(at + i * GS_WIDE_BYTES, (gs_wide_dwords_t)v[i]);
#endif
  }
}
#else
static inline void gs_get_dense_pairs(gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t from[2 * GS_LANES];
  gs_get_blocks(from, at, 2);
  GS_LANES_DO(l) {
    row[0].u32[l] = from[2 * l];
    row[1].u32[l] = from[2 * l + 1];
  }
}
static inline void gs_put_dense_pairs(gs_put_wide_t *put, const gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t to[2 * GS_LANES];
  GS_LANES_DO(l) {
    to[2 * l] = row[0].u32[l];
    to[2 * l + 1] = row[1].u32[l];
  }
  gs_put_blocks_by(put, to, at, 2);
}
static inline void gs_get_dense_fours(gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t from[4 * GS_LANES];
  gs_get_blocks(from, at, 4);
  GS_LANES_DO(l) {
    row[0].u32[l] = from[4 * l];
    row[1].u32[l] = from[4 * l + 1];
    row[2].u32[l] = from[4 * l + 2];
    row[3].u32[l] = from[4 * l + 3];
  }
}
static inline void gs_put_dense_fours(gs_put_wide_t *put, const gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t to[4 * GS_LANES];
  GS_LANES_DO(l) {
    to[4 * l] = row[0].u32[l];
    to[4 * l + 1] = row[1].u32[l];
    to[4 * l + 2] = row[2].u32[l];
    to[4 * l + 3] = row[3].u32[l];
  }
  gs_put_blocks_by(put, to, at, 4);
}
#endif

static inline void gs_get_dense_threes(gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t from[3 * GS_LANES];
  gs_get_blocks(from, at, 3);
  GS_LANES_DO(l) {
    row[0].u32[l] = from[3 * l];
    row[1].u32[l] = from[3 * l + 1];
    row[2].u32[l] = from[3 * l + 2];
  }
}
static inline void gs_put_dense_threes(gs_put_wide_t *put, const gs_row_t *row, uint64_t at) {
  _Alignas(64) uint32_t to[3 * GS_LANES];
  GS_LANES_DO(l) {
    to[3 * l] = row[0].u32[l];
    to[3 * l + 1] = row[1].u32[l];
    to[3 * l + 2] = row[2].u32[l];
  }
  gs_put_blocks_by(put, to, at, 3);
}

/* Loads `n` (1 to 4) registers from `n` dwords per lane, all side by side. */
static inline void gs_get_interleaved(gs_row_t *row, uint64_t at, unsigned n) {
  switch (n) {
  case 1: gs_get_blocks(row, at, 1); break;
  case 2: gs_get_dense_pairs(row, at); break;
  case 3: gs_get_dense_threes(row, at); break;
  default: gs_get_dense_fours(row, at);
  }
}
static inline void gs_put_interleaved_by(gs_put_wide_t *put, const gs_row_t *row, uint64_t at, unsigned n) {
  switch (n) {
  case 1: gs_put_blocks_by(put, row, at, 1); break;
  case 2: gs_put_dense_pairs(put, row, at); break;
  case 3: gs_put_dense_threes(put, row, at); break;
  default: gs_put_dense_fours(put, row, at);
  }
}
static inline void gs_put_interleaved(const gs_row_t *row, uint64_t at, unsigned n) {
  gs_put_interleaved_by(gs_guest_put_wide, row, at, n);
}

/* ---- Each lane anywhere ---- */

/* The dword `offset` bytes after each lane's address. */
static inline void gs_gather32(gs_row_t *row, const uint64_t at[GS_LANES], uint64_t offset) {
  for (unsigned l = 0; l < GS_LANES; l++)
    row->u32[l] = gs_guest_get32(at[l] + offset);
}
static inline void gs_gather_pairs(gs_row_t *row, const uint64_t at[GS_LANES]) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t value = gs_guest_get64(at[l]);
    row[0].u32[l] = (uint32_t)value;
    row[1].u32[l] = (uint32_t)(value >> 32);
  }
}
static inline void gs_gather_fours(gs_row_t *row, const uint64_t at[GS_LANES]) {
#if defined(__SSE2__)
  for (unsigned l = 0; l < GS_LANES; l += GS_QUAD_LANES)
    gs_get_fours(row, l, at + l);
#else
  for (unsigned l = 0; l < GS_LANES; l++) {
    const gs_dwords4_t value = gs_guest_get128(at[l]);
    for (unsigned i = 0; i < 4; i++)
      row[i].u32[l] = value[i];
  }
#endif
}

/* `n` (1 to 4) dwords of all lanes. */
static inline void gs_gather(gs_row_t *row, const uint64_t at[GS_LANES], unsigned n) {
  if (n == 4)
    gs_gather_fours(row, at);
  else if (n >= 2)
    gs_gather_pairs(row, at);
  if (n % 2)
    gs_gather32(&row[n - 1], at, 4 * (n - 1));
}

/* One lane's `n` dwords. */
static inline void gs_put_lane(const gs_row_t *row, unsigned l, uint64_t at, unsigned n) {
  uint32_t value[4];
  for (unsigned i = 0; i < n; i++)
    value[i] = row[i].u32[l];
  gs_guest_put_dwords(at, n, value);
}

/* `n` dwords of some lanes, in the order of their numbers. */
static inline void gs_scatter(const gs_row_t *row, const uint64_t at[GS_LANES], uint64_t lanes, unsigned n) {
#if defined(__SSE2__)
  if (n == 4) {
    for (unsigned l = 0; l < GS_LANES; l += GS_QUAD_LANES)
      gs_put_fours(row, l, at + l, lanes >> l);
    return;
  }
#endif
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    gs_put_lane(row, l, at[l], n);
  }
}

/* The same `n` dwords for all lanes. */
static inline void gs_broadcast_dwords(gs_row_t *row, uint64_t at, unsigned n) {
  uint32_t value[4];
  gs_guest_get_dwords(at, n, value);
  for (unsigned i = 0; i < n; i++)
    gs_broadcast(value[i], &row[i]);
}

#endif
