/* Stencils of accesses to memory that go the short way (isa/block.h). Not here: what they do (isa/op_flat.c),
 * and the long way, which is a call of the handler. */
#include "translate/stencil.h"

#include "isa/op_flat.c"
#include "isa/strip_rows.h"
#include "translate/linear_rows.h"

#define GS_ACCESSES(segment, suffix)                                                                         \
  GS_STENCIL_SHORT(segment##_load_##suffix, V, V, N, N, false)                                               \
  GS_STENCIL_SHORT(segment##_store_##suffix, VV, V, V, N, true)
#define GS_GLOBAL_ACCESSES(suffix)                                                                           \
  GS_ACCESSES(global, suffix)                                                                                \
  GS_STENCIL_SHORT(global_load_##suffix, VNS, V, N, S, false)                                                \
  GS_STENCIL_SHORT(global_store_##suffix, VVS, V, V, S, true)
GS_GLOBAL_ACCESSES(dword)
GS_GLOBAL_ACCESSES(dwordx2)
GS_GLOBAL_ACCESSES(dwordx3)
GS_GLOBAL_ACCESSES(dwordx4)
GS_ACCESSES(flat, dword)
GS_ACCESSES(flat, dwordx2)
GS_ACCESSES(flat, dwordx3)
GS_ACCESSES(flat, dwordx4)

/* What a strip's loads need to know before the first strip (plan.h): that the access goes the short way, to
 * ordinary memory or LDS, and where the first strip's lanes are. What all lanes have in common is loaded
 * here. */
#if defined(GS_STENCIL_FULL) && !defined(GS_STENCIL_ONE)
#include "translate/strip_vector.h"

enum { PAIR_BYTES = 8 };

/* As many times as a strip has lanes the dwords of one lane. Four are spread by the strips. */
static inline void spread(gs_row_t *row, uint64_t at, unsigned n) {
  if (n == 4) {
    _mm_store_si128((__m128i *)(void *)row, (__m128i)gs_guest_get128(at));
    return;
  }
  const vector_t value = n == 1 ? all(gs_guest_get32(at))
#if defined(__AVX512F__)
                                : _mm512_set1_epi64((int64_t)gs_guest_get64(at));
#else
                                : _mm256_set1_epi64x((int64_t)gs_guest_get64(at));
#endif
  for (unsigned i = 0; i < n; i++)
    put_vector(&row->u32[STRIP_LANES * i], value);
}

/* a | (b ^ c). */
static inline vector_t or_difference(vector_t a, vector_t b, vector_t c) {
#if defined(__AVX512F__)
  return _mm512_ternarylogic_epi32(a, b, c, 0xf6);
#else
  return or_vectors(a, xor_vectors(b, c));
#endif
}
static inline bool has_bits(vector_t a) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask(a, a);
#else
  return !_mm256_testz_si256(a, a);
#endif
}
/* The first lane's value, and in each lane behind it `step` more, which is `stride` or 0. */
static inline vector_t row_from(uint32_t first, uint32_t step, uint32_t stride) {
#if defined(__AVX512F__)
  const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i offset = _mm512_mullo_epi32(number, all(stride));
  return _mm512_mask_add_epi32(all(first), step ? 0xffff : 0, all(first), offset);
#else
  const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i offset = _mm256_mullo_epi32(number, all(stride));
  return _mm256_add_epi32(all(first), and_vectors(offset, all(step ? UINT32_MAX : 0)));
#endif
}

/* How addresses are related, as gs_row_shape says it of each of their halves, asked once for both. */
static inline gs_shape_t shape_of(const gs_row_t *low, const gs_row_t *high, uint32_t stride) {
  const uint32_t first = low->u32[0], step = low->u32[1] == first ? 0 : stride;
  const vector_t next = all(STRIP_LANES * step);
  vector_t expected = row_from(first, step, stride), differ = VECTOR_BITS(setzero)();
  for (unsigned l = 0; l < GS_LANES; l += STRIP_LANES) {
    differ = or_difference(differ, expected, vector_at(&low->u32[l]));
    expected = VECTOR(add_epi32)(expected, next);
  }
  const vector_t above = all(high->u32[0]);
  for (unsigned l = 0; l < GS_LANES && high != low; l += STRIP_LANES)
    differ = or_difference(differ, above, vector_at(&high->u32[l]));
  if (first + (GS_LANES - 1) * step < first || has_bits(differ))
    return GS_SHAPE_OTHER;
  return step ? GS_SHAPE_DENSE : GS_SHAPE_UNIFORM;
}

/* Parts of a gather: one lane, and eight that lie side by side. */
enum { RUN_LANES = 8 };
static inline void copy_lane(uint32_t *to, uint64_t at, unsigned n) {
  if (n == 1)
    *to = gs_guest_get32(at);
  else if (n == 2)
    _mm_storel_epi64((__m128i *)(void *)to, _mm_cvtsi64_si128((int64_t)gs_guest_get64(at)));
  else
    _mm_store_si128((__m128i *)(void *)to, (__m128i)gs_guest_get128(at));
}
static inline void copy_run(uint32_t *to, uint64_t at, unsigned n) {
  const char *const from = (const char *)(uintptr_t)at;
  if (n == 1)
    _mm256_store_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)from));
  for (unsigned i = 0; i < n * RUN_LANES / STRIP_LANES && n > 1; i++)
    put_vector(to + STRIP_LANES * i, VECTOR_BITS(loadu)((const vector_t *)(const void *)from + i));
}
static inline bool is_run(const uint64_t *at, uint32_t stride) {
#if defined(__AVX512F__)
  const __m512i number = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i expected = _mm512_add_epi64(_mm512_set1_epi64((int64_t)at[0]),
                                            _mm512_mullo_epi64(number, _mm512_set1_epi64(stride)));
  return !_mm512_cmpneq_epi64_mask(expected, _mm512_loadu_si512(at));
#else
  uint64_t differ = 0;
  for (unsigned l = 1; l < RUN_LANES; l++)
    differ |= at[l] ^ (at[0] + (uint64_t)l * stride);
  return differ == 0;
#endif
}

/* Lanes anywhere in the range that the note has: copied now, all of them. Mostly they are the rows of a grid,
 * side by side but for where a row ends, or nowhere near each other. */
static inline bool gather(gs_wave_t *w, const gs_inst_t *in, bool has_base, gs_row_t *to, unsigned n) {
  gs_access_t a;
  gs_access_init(&a, GS_ALL_LANES, 4 * n, GS_VM_READ);
  if (has_base)
    scalar_addresses(w, in, &a);
  else
    vector_addresses(w, in, &a);
  const gs_vm_range_t *const range = *gs_range_found(w);
  if (!gs_access_inside(&a, range) || range->is_gap)
    return false;
  const uint64_t delta = range->delta;
  const bool has_runs = a.at[1] - a.at[0] == 4 * n || a.at[GS_LANES / 2 + 1] - a.at[GS_LANES / 2] == 4 * n;
  for (unsigned l = 0; l < GS_LANES; l += RUN_LANES)
    if (has_runs && is_run(&a.at[l], 4 * n))
      copy_run(&to->u32[l * n], a.at[l] + delta, n);
    else
      for (unsigned i = l; i < l + RUN_LANES; i++)
        copy_lane(&to->u32[i * n], a.at[i] + delta, n);
  return true;
}

/* Lanes that are two dwords apart and load four, as programs do that read a pair and the next one: they are
 * where the first lane is, up to the last lane's next pair. */
static inline bool find_overlapping(gs_wave_t *w, uint64_t address, bool is_flat, gs_strip_place_t *place) {
  gs_block_t b;
  if ((is_flat && address >> 32 == GS_SHARED_APERTURE_HI) ||
      !gs_block_place(w, &b, address, (GS_LANES + 1) * PAIR_BYTES, GS_VM_READ))
    return false;
  place->at = b.at;
  place->step = gs_strip_overlap_step(STRIP_LANES);
  return true;
}

/* Fetches ahead what lies behind a load's lanes, if lately a wave has loaded right beside the one before it:
 * the next ones mostly do. (Not if loads go through a matrix by columns: what lies beside them is not wanted
 * soon.) Waves change places at barriers, so that not each is the neighbour of the one before. */
static inline void follow(gs_wave_t *w, const gs_block_t *b, unsigned n) {
  enum { PATIENCE = 3 }; /* loads; in the low bits, as addresses are not odd */
  const uint64_t size = (uint64_t)GS_ROW_BYTES * n, at = b->at & ~(uint64_t)PATIENCE;
  uint64_t *const followed = &w->env->vm->followed[GS_HOLE_32(note)];
  const uint64_t before = *followed & ~(uint64_t)PATIENCE, left = *followed & PATIENCE;
  const uint64_t patience = at == before + size || at == before - size ? PATIENCE : left - (left != 0);
  *followed = at | patience;
  if (patience)
    gs_block_expect(b, n, GS_VM_WRITE);
}

/* Finds a load whose lanes are `stride` bytes apart, or at the same address. */
static inline bool find_row(gs_wave_t *w, bool is_flat, unsigned n, gs_shape_t shape, uint32_t stride,
                            uint64_t address, gs_strip_place_t *place) {
  gs_row_t *const row = gs_row(w, GS_HOLE_DST);
  gs_block_t b;
  if (shape == GS_SHAPE_DENSE && stride != 4 * n)
    return find_overlapping(w, address, is_flat, place);
  if (is_flat && address >> 32 == GS_SHARED_APERTURE_HI) {
    if (!gs_block_lds(w, &b, shape, (uint32_t)address, 4 * n, GS_VM_READ))
      return false;
  } else if (!gs_block_linear(w, &b, shape, address, 4 * n, GS_VM_READ)) {
    return false;
  }
  if (shape == GS_SHAPE_DENSE) {
    follow(w, &b, n);
    *place = (gs_strip_place_t){b.at, (uint64_t)STRIP_LANES * 4 * n};
    return true;
  }
  *place = (gs_strip_place_t){(uint64_t)(uintptr_t)row, 0};
  spread(row, b.at, n);
  return true;
}

/* Whether the constant may lead into an aperture, or out of one, which it does not do (op_flat.c). */
static inline bool may_cross(bool is_flat, uint64_t before, uint64_t after) {
  return is_flat && GS_UNLIKELY(before >> 32 != after >> 32);
}

/* Finds out where a load's lanes are, and brings them together if they are not. */
static inline bool find_place(gs_wave_t *w, const gs_inst_t *in, bool is_flat, unsigned n,
                              gs_strip_place_t *place) {
  gs_row_t *const row = gs_row(w, GS_HOLE_DST);
  const bool has_base = in->src[2].kind != GS_SRC_NONE;
  const gs_row_t *const low = gs_row(w, in->src[0].reg), *const high = has_base ? low : low + 1;
  const uint32_t stride = n == 4 && low->u32[1] - low->u32[0] == PAIR_BYTES ? PAIR_BYTES : 4 * n;
  const gs_shape_t shape = shape_of(low, high, stride);
  const uint64_t base = has_base ? gs_read_sgpr64(w, in->src[2].reg) : (uint64_t)high->u32[0] << 32;
  *place = (gs_strip_place_t){(uint64_t)(uintptr_t)row, (uint64_t)STRIP_LANES * 4 * n};
  if (shape == GS_SHAPE_OTHER)
    return gather(w, in, has_base, row, n);
  const uint64_t first = base + low->u32[0], address = first + (uint64_t)(int64_t)gs_immediate(in);
  return !may_cross(is_flat, first, address) && find_row(w, is_flat, n, shape, stride, address, place);
}

/* The same of an address that is linear (rows_linear.c), and else lies nowhere here. */
static inline bool find_linear_place(gs_wave_t *w, const gs_inst_t *in, bool is_flat, unsigned n,
                                     gs_strip_place_t *place) {
  const bool has_base = in->src[2].kind != GS_SRC_NONE;
  const linear_t low = get_linear(w, GS_HOLE_SRC0, 0);
  const linear_t high = has_base ? (linear_t){0, 0} : get_linear(w, GS_HOLE_SRC0, 1);
  const uint64_t base = has_base ? gs_read_sgpr64(w, in->src[2].reg) : high.first << 32;
  const uint64_t first = base + low.first, address = first + (uint64_t)(int64_t)gs_immediate(in),
                 span = low.last - low.first;
  if (!is_uniform(high) || may_cross(is_flat, first, address))
    return false;
  if (span == (uint64_t)LAST_LANE * 4 * n)
    return find_row(w, is_flat, n, GS_SHAPE_DENSE, 4 * n, address, place);
  if (n == 4 && span == LAST_LANE * PAIR_BYTES)
    return find_row(w, is_flat, n, GS_SHAPE_DENSE, PAIR_BYTES, address, place);
  return span == 0 && find_row(w, is_flat, n, GS_SHAPE_UNIFORM, 0, address, place);
}
#define GS_CHECK(segment, suffix, n, kinds, c, is_flat, find, kind)                                          \
  void gs_stencil_##segment##_load_##suffix##__##kinds##_##kind(gs_wave_t *w);                               \
  void gs_stencil_##segment##_load_##suffix##__##kinds##_##kind(gs_wave_t *w) {                              \
    static const gs_inst_t instruction = {.src = {GS_OPERAND_V(0), GS_OPERAND_N(1), GS_OPERAND_##c(2)}};     \
    gs_strip_place_t place;                                                                                  \
    if (GS_UNLIKELY(!find(w, &instruction, is_flat, n, &place))) {                                           \
      gs_stencil_taken(w);                                                                                   \
      return;                                                                                                \
    }                                                                                                        \
    memcpy(gs_sgprs(w, GS_HOLE_DST), &place, sizeof place);                                                  \
    gs_stencil_next(w);                                                                                      \
  }
#define GS_CHECK_BOTH(segment, suffix, n, kinds, c, is_flat)                                                 \
  GS_CHECK(segment, suffix, n, kinds, c, is_flat, find_place, check)                                         \
  GS_CHECK(segment, suffix, n, kinds, c, is_flat, find_linear_place, checklinear)
#define GS_CHECKS(suffix, n)                                                                                 \
  GS_CHECK_BOTH(flat, suffix, n, V, N, true)                                                                 \
  GS_CHECK_BOTH(global, suffix, n, V, N, false)                                                              \
  GS_CHECK_BOTH(global, suffix, n, VNS, S, false)
GS_CHECKS(dword, 1)
GS_CHECKS(dwordx2, 2)
GS_CHECKS(dwordx4, 4)
#endif

#define GS_NARROW_LOADS(suffix)                                                                              \
  GS_STENCIL_SHORT(global_load_##suffix, V, V, N, N, false)                                                  \
  GS_STENCIL_SHORT(global_load_##suffix, VNS, V, N, S, false)                                                \
  GS_STENCIL_SHORT(flat_load_##suffix, V, V, N, N, false)
GS_NARROW_LOADS(ubyte)
GS_NARROW_LOADS(sbyte)
GS_NARROW_LOADS(ushort)
GS_NARROW_LOADS(sshort)
