/* Packed floats, mixed precision and dot products of halves: each opcode with every choice of halves (or
 * registers of a pair), signs, clamp and MODE, against exact numbers rounded as often as the ISA text says.
 * Not here: packed integers (test_vint.c), matrix instructions (test_mfma.c). */
#include "float_model.h"

typedef struct row {
  const char *name;
  ref_op_t op;
  unsigned sources;
} row_t;
static const row_t pairs16[] = {
    {"v_pk_fma_f16", REF_FMA, 3}, {"v_pk_add_f16", REF_ADD, 2}, {"v_pk_mul_f16", REF_MUL, 2},
    {"v_pk_min_f16", REF_MIN, 2}, {"v_pk_max_f16", REF_MAX, 2},
};
static const row_t pairs32[] = {
    {"v_pk_fma_f32", REF_FMA, 3},
    {"v_pk_add_f32", REF_ADD, 2},
    {"v_pk_mul_f32", REF_MUL, 2},
};

/* Bits for each source. */
typedef struct packing {
  unsigned op_sel, op_sel_hi, neg_lo, neg_hi;
  bool clamp;
} packing_t;
static const packing_t packings[] = {
    {0, 7, 0, 0, false}, {5, 2, 0, 0, false}, {2, 5, 0, 0, false}, {7, 0, 0, 0, false},
    {0, 7, 5, 2, false}, {1, 6, 7, 3, true},  {0, 0, 0, 7, true},
};
enum { PACKINGS = sizeof packings / sizeof packings[0], TEXT = 128, MOST = 8 * PACKINGS };

static size_t bits_text(char *text, size_t size, const char *name, unsigned bits, unsigned count) {
  size_t n = (size_t)snprintf(text, size, " %s:[", name);
  for (unsigned i = 0; i < count; i++)
    n += (size_t)snprintf(text + n, size - n, "%s%u", i ? "," : "", bits >> i & 1);
  return n + (size_t)snprintf(text + n, size - n, "]");
}

static void packed_text(char *text, const char *name, const char *operands, unsigned count,
                        const packing_t *p) {
  const unsigned all = (1u << count) - 1;
  size_t n = (size_t)snprintf(text, TEXT, "%s %s", name, operands);
  if (p->op_sel & all)
    n += bits_text(text + n, TEXT - n, "op_sel", p->op_sel, count);
  if ((p->op_sel_hi & all) != all)
    n += bits_text(text + n, TEXT - n, "op_sel_hi", p->op_sel_hi, count);
  if (p->neg_lo & all)
    n += bits_text(text + n, TEXT - n, "neg_lo", p->neg_lo, count);
  if (p->neg_hi & all)
    n += bits_text(text + n, TEXT - n, "neg_hi", p->neg_hi, count);
  if (p->clamp)
    snprintf(text + n, TEXT - n, " clamp");
}

static void fill(gs_row_t *row, const ref_format_t *f, uint64_t *seed) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t word = 0;
    for (unsigned i = 0; i < 32 / f->bits; i++) {
      const uint64_t r = isa_random(seed);
      uint32_t x = f->bits == 16 ? isa_f16_edges[r % isa_f16_edge_count] & 0xffff
                                 : isa_f32_edges[r % isa_f32_edge_count];
      if (r >> 62 == 0)
        x = (uint32_t)(r >> 16) & (uint32_t)(ref_sign(f) * 2 - 1);
      else if (r >> 62 == 1)
        x = (uint32_t)((r & ~ref_infinity(f) & (ref_sign(f) * 2 - 1)) |
                       ((uint64_t)f->bias - 2 + (r >> 40 & 3)) << f->fraction);
      word |= x << 16 * i;
    }
    row->u32[l] = word;
  }
}

/* `operands` are those whose NaNs count, or NULL if they need not be looked at. */
static void assert_float(const ref_format_t *f, uint64_t got, uint64_t want, bool exact_nan,
                         const uint64_t *operands, const char *text, uint32_t mode) {
  const bool same = ref_is_nan(f, want) && !exact_nan
                        ? ref_is_nan_of(f, got, operands, operands ? 3 : 0, mode)
                        : got == want;
  if (!same)
    fail_msg("%s (mode %x): got %llx, want %llx", text, mode, (unsigned long long)got,
             (unsigned long long)want);
}

/* ---- Pairs of halves, pairs of floats ---- */

static void check_pairs(const isa_wave_t *t, const ref_format_t *f, const row_t *row, const packing_t *p,
                        const char *text, uint32_t mode) {
  const uint64_t exec = t->before.w.s.u64[GS_S_EXEC / 2];
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned half = 0; half < 2 && exec >> l & 1; half++) {
      uint64_t s[3] = {0, 0, 0};
      for (unsigned i = 0; i < row->sources; i++) {
        const unsigned which = (half ? p->op_sel_hi : p->op_sel) >> i & 1;
        s[i] = f->bits == 16 ? t->before.v[10 + 2 * i].u32[l] >> 16 * which & 0xffff
                             : t->before.v[10 + 2 * i + which].u32[l];
        s[i] ^= (half ? p->neg_hi : p->neg_lo) >> i & 1 ? ref_sign(f) : 0;
      }
      const uint64_t want = ref_instruction(f, row->op, s, (ref_modifiers_t){0, p->clamp}, ref_mode(t, mode));
      const uint64_t got = f->bits == 16 ? t->v[2].u32[l] >> 16 * half & 0xffff : t->v[2 + half].u32[l];
      assert_float(f, got, want, row->op == REF_MIN || row->op == REF_MAX, s, text, mode);
    }
  isa_assert_lanes_kept(t, 2, f->bits == 16 ? 1 : 2, exec);
  isa_assert_only_changed(t, f->bits == 16 ? "v2" : "v[2:3]");
}

static void test_pairs(void **state, const ref_format_t *f, const row_t *rows, unsigned count) {
  static char texts[MOST][TEXT];
  const char *list[MOST] = {NULL};
  for (unsigned i = 0; i < count * PACKINGS; i++) {
    const row_t *row = &rows[i / PACKINGS];
    packed_text(texts[i], row->name,
                f->bits == 16       ? (row->sources == 3 ? "v2, v10, v12, v14" : "v2, v10, v12")
                : row->sources == 3 ? "v[2:3], v[10:11], v[12:13], v[14:15]"
                                    : "v[2:3], v[10:11], v[12:13]",
                row->sources, &packings[i % PACKINGS]);
    list[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, list, sizeof list[0], count * PACKINGS);
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 30;
  for (unsigned i = 0; i < count * PACKINGS; i++)
    for (unsigned m = 0; m < FLOAT_MODES; m++)
      for (unsigned run = 0; run < 4; run++) {
        for (unsigned r = 0; r < 6; r++)
          fill(&t->v[10 + r], f, &seed);
        isa_set_s64(t, GS_S_EXEC, run == 3 ? UINT64_C(0x13579bdf02468ace) : UINT64_MAX);
        gs_wave_set_mode(&t->w, float_modes[m]);
        assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
        check_pairs(t, f, &rows[i / PACKINGS], &packings[i % PACKINGS], texts[i], float_modes[m]);
      }
  isa_free(t);
}
static void test_halves(void **state) {
  test_pairs(state, &ref_f16, pairs16, sizeof pairs16 / sizeof pairs16[0]);
}
static void test_floats(void **state) {
  test_pairs(state, &ref_f32, pairs32, sizeof pairs32 / sizeof pairs32[0]);
}

/* Scalar and constant operands, and a destination that is a source. */
static void test_operands(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 31;
  for (unsigned l = 0; l < GS_LANES; l++)
    for (unsigned r = 0; r < 8; r++)
      t->v[10 + r].f32[l] = (float)(int)(isa_random(&seed) % 2001 - 1000u) * 0.25f;
  const float s12 = 3.0f, s13 = -5.0f;
  memcpy(&t->w.s.u32[12], &s12, 4);
  memcpy(&t->w.s.u32[13], &s13, 4);
  assert_int_equal(
      isa_run(t, "v_pk_mul_f32 v[2:3], s[12:13], v[10:11]\n"
                 "v_pk_add_f32 v[4:5], v[10:11], 2.0 op_sel_hi:[1,0]\n"
                 "v_pk_fma_f32 v[12:13], v[12:13], v[14:15], v[16:17] op_sel:[1,0,0] op_sel_hi:[0,1,1]\n"),
      GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const gs_row_t *b = t->before.v;
    assert_true(t->v[2].f32[l] == 3.0f * b[10].f32[l] && t->v[3].f32[l] == -5.0f * b[11].f32[l]);
    assert_true(t->v[4].f32[l] == b[10].f32[l] + 2.0f && t->v[5].f32[l] == b[11].f32[l] + 2.0f);
    assert_true(t->v[12].f32[l] == b[13].f32[l] * b[14].f32[l] + b[16].f32[l]);
    assert_true(t->v[13].f32[l] == b[12].f32[l] * b[15].f32[l] + b[17].f32[l]);
  }
  isa_free(t);
}

/* Adds to its destination, in every MODE. */
static void test_pk_fmac(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 32;
  for (unsigned m = 0; m < FLOAT_MODES; m++)
    for (unsigned run = 0; run < 6; run++) {
      const uint64_t exec = run == 3 ? UINT64_C(0x13579bdf02468ace) : run == 4 ? 0 : UINT64_MAX;
      for (unsigned r = 20; r <= 22; r++)
        fill(&t->v[r], &ref_f16, &seed);
      t->w.s.u32[12] = isa_f16_edges[isa_random(&seed) % isa_f16_edge_count] & 0xffff;
      t->w.s.u32[12] |= isa_f16_edges[isa_random(&seed) % isa_f16_edge_count] << 16;
      isa_set_s64(t, GS_S_EXEC, exec);
      gs_wave_set_mode(&t->w, float_modes[m]);
      assert_int_equal(isa_run(t, run == 5 ? "v_pk_fmac_f16 v22, s12, v21" : "v_pk_fmac_f16 v22, v20, v21"),
                       GS_WAVE_RUNNING);
      for (unsigned l = 0; l < GS_LANES; l++)
        for (unsigned half = 0; half < 2 && exec >> l & 1; half++) {
          const gs_row_t *b = t->before.v;
          const uint32_t words[3] = {run == 5 ? t->w.s.u32[12] : b[20].u32[l], b[21].u32[l], b[22].u32[l]};
          uint64_t s[3];
          for (unsigned i = 0; i < 3; i++)
            s[i] = words[i] >> 16 * half & 0xffff;
          const uint64_t want =
              ref_instruction(&ref_f16, REF_FMA, s, (ref_modifiers_t){0, false}, float_modes[m]);
          assert_float(&ref_f16, t->v[22].u32[l] >> 16 * half & 0xffff, want, false, s, "v_pk_fmac_f16",
                       float_modes[m]);
        }
      isa_assert_lanes_kept(t, 22, 1, exec);
      isa_assert_only_changed(t, "v22");
    }
  isa_free(t);
}

/* Moves of pairs: bits, whatever they are. */
static void test_moves(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  isa_set_s64(t, GS_S_EXEC, UINT64_C(0xffffffff0000ffff));
  assert_int_equal(isa_run(t, "v_pk_mov_b32 v[2:3], v[10:11], v[12:13]\n"
                              "v_pk_mov_b32 v[4:5], v[10:11], v[12:13] op_sel:[1,0]\n"
                              "v_pk_mov_b32 v[6:7], v[10:11], v[12:13] op_sel:[0,1]\n"
                              "v_pk_mov_b32 v[14:15], v[14:15], v[14:15] op_sel:[1,0]\n"
                              "v_pk_mov_b32 v[16:17], s[12:13], s[12:13] op_sel:[1,0]\n"),
                   GS_WAVE_RUNNING);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const gs_row_t *b = t->before.v;
    if (l >= 16 && l < 32)
      continue;
    assert_int_equal(isa_u64(&t->v[2], l), b[10].u32[l] | (uint64_t)b[12].u32[l] << 32);
    assert_int_equal(isa_u64(&t->v[4], l), b[11].u32[l] | (uint64_t)b[12].u32[l] << 32);
    assert_int_equal(isa_u64(&t->v[6], l), b[10].u32[l] | (uint64_t)b[13].u32[l] << 32);
    assert_int_equal(isa_u64(&t->v[14], l), b[15].u32[l] | (uint64_t)b[14].u32[l] << 32);
    assert_int_equal(isa_u64(&t->v[16], l), t->w.s.u32[13] | (uint64_t)t->w.s.u32[12] << 32);
  }
  isa_assert_lanes_kept(t, 2, 16, UINT64_C(0xffffffff0000ffff));
  isa_assert_only_changed(t, "v[2:7] v[14:17]");
  isa_free(t);
}

/* What packing makes of a half: itself, but quiet if MODE says IEEE. */
static uint32_t packed(uint32_t half, uint32_t mode) {
  const bool is_nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
  return is_nan && mode & GS_MODE_IEEE ? half | 0x200 : half;
}
static void test_pack(void **state) {
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 2; i++) {
    isa_reset(t, i);
    if (i)
      gs_wave_set_mode(&t->w, t->w.mode & ~(uint32_t)GS_MODE_IEEE);
    isa_set_s64(t, GS_S_EXEC, UINT64_C(0xffffffff0000ffff));
    isa_fill32(&t->v[10], isa_f16_edges, isa_f16_edge_count, 1, 0);
    isa_fill32(&t->v[11], isa_f16_edges, isa_f16_edge_count, 1, 5);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t->v[10].u32[l] = (t->v[10].u32[l] & 0xffff) | isa_f16_edges[(l + 9) % isa_f16_edge_count] << 16;
      t->v[11].u32[l] = (t->v[11].u32[l] & 0xffff) | isa_f16_edges[(l + 13) % isa_f16_edge_count] << 16;
    }
    assert_int_equal(isa_run(t, "v_pack_b32_f16 v18, v10, v11\n"
                                "v_pack_b32_f16 v19, v10, -v11 op_sel:[1,1,0]\n"
                                "v_pack_b32_f16 v20, |v10|, s12 op_sel:[0,1,0]\n"),
                     GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t a = t->before.v[10].u32[l], b = t->before.v[11].u32[l], mode = t->w.mode;
      if (l >= 16 && l < 32)
        continue;
      assert_int_equal(t->v[18].u32[l], packed(a & 0xffff, mode) | packed(b & 0xffff, mode) << 16);
      assert_int_equal(t->v[19].u32[l], packed(a >> 16, mode) | packed((b >> 16) ^ 0x8000, mode) << 16);
      assert_int_equal(t->v[20].u32[l], packed(a & 0x7fff, mode) | packed(t->w.s.u32[12] >> 16, mode) << 16);
    }
    isa_assert_lanes_kept(t, 18, 3, UINT64_C(0xffffffff0000ffff));
    isa_assert_only_changed(t, "v[18:20]");
  }
  isa_free(t);
}

/* ---- Mixed precision ---- */

/* Operand i: bit i of op_sel_hi says half, of op_sel which one; neg_hi is abs. */
static uint64_t mix_source(const isa_wave_t *t, unsigned i, const packing_t *p, unsigned l, uint32_t mode) {
  uint64_t x = t->before.v[10 + i].u32[l];
  if (p->op_sel_hi >> i & 1) {
    uint64_t h = x >> (p->op_sel >> i & 1 ? 16 : 0) & 0xffff;
    mpfr_t v;
    mpfr_init2(v, 60);
    if (!(mode & 0x40))
      h = ref_flush(&ref_f16, h);
    ref_set(&ref_f16, v, h);
    x = ref_is_nan(&ref_f16, h) ? (h & 0x8000) << 16 | 0x7f800000 | (h & 0x3ff) << 13
                                : ref_round(&ref_f32, v, 0);
    mpfr_clear(v);
  } else if (!(mode & 0x10))
    x = ref_flush(&ref_f32, x);
  if (p->neg_hi >> i & 1)
    x &= 0x7fffffff;
  return p->neg_lo >> i & 1 ? x ^ 0x80000000 : x;
}

/* a * b + c as a half, rounded once, as from gfx10 on. */
static uint64_t mix_once(const uint64_t s[3], uint32_t mode) {
  mpfr_t x[3];
  for (unsigned i = 0; i < 3; i++) {
    mpfr_init2(x[i], ref_f32.exact);
    ref_set(&ref_f32, x[i], s[i]);
  }
  const unsigned round = ref_how(&ref_f16, mode);
  mpfr_fma(x[0], x[0], x[1], x[2], ref_rounding(round));
  uint64_t r = ref_round(&ref_f16, x[0], round);
  if (mpfr_number_p(x[0]))
    r = ref_saturate(&ref_f16, r, NULL, 0, mode);
  for (unsigned i = 0; i < 3; i++)
    mpfr_clear(x[i]);
  return r;
}

/* A float rounded once more, to a half. */
static uint64_t mix_again(uint64_t sum, uint32_t mode) {
  mpfr_t v;
  mpfr_init2(v, 60);
  ref_set(&ref_f32, v, sum);
  const uint64_t r = ref_round(&ref_f16, v, ref_how(&ref_f16, mode));
  mpfr_clear(v);
  return ref_magnitude(&ref_f32, sum) < ref_infinity(&ref_f32) ? ref_saturate(&ref_f16, r, NULL, 0, mode) : r;
}

static void check_mix(const isa_wave_t *t, bool fused, unsigned form, const packing_t *p, const char *text,
                      uint32_t mode) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint64_t s[3];
    for (unsigned i = 0; i < 3; i++)
      s[i] = mix_source(t, i, p, l, mode);
    const uint64_t sum = fused ? ref_exact(&ref_f32, REF_FMA, s, (mode & 3) | (mode & 0x20 ? 0 : REF_FLUSH))
                               : ref_mad(&ref_f32, s, false, mode);
    if (form == 0) {
      const uint64_t r = ref_modify(&ref_f32, mode & 0x20 ? sum : ref_flush(&ref_f32, sum),
                                    (ref_modifiers_t){0, p->clamp}, ref_mode(t, mode));
      assert_float(&ref_f32, t->v[2].u32[l], r, false, s, text, mode);
      continue;
    }
    uint64_t r = t->env.target & GS_GFX9 ? mix_again(sum, mode) : mix_once(s, mode);
    r = ref_modify(&ref_f16, mode & 0x80 ? r : ref_flush(&ref_f16, r), (ref_modifiers_t){0, p->clamp},
                   ref_mode(t, mode));
    const unsigned shift = form == 2 ? 16 : 0;
    assert_float(&ref_f16, t->v[2].u32[l] >> shift & 0xffff, r, false, NULL, text, mode);
    assert_int_equal(t->v[2].u32[l] >> (16 - shift) & 0xffff, t->before.v[2].u32[l] >> (16 - shift) & 0xffff);
  }
  isa_assert_only_changed(t, "v2");
}

static void test_mix(void **state) {
  static const char *const names[2][3] = {{"v_mad_mix_f32", "v_mad_mixlo_f16", "v_mad_mixhi_f16"},
                                          {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}};
  static const packing_t mixes[] = {{0, 0, 0, 0, false}, {0, 7, 0, 0, false}, {5, 7, 2, 0, false},
                                    {2, 2, 0, 4, false}, {4, 5, 1, 1, true},  {1, 3, 4, 6, false},
                                    {6, 6, 3, 5, true}};
  enum { MIXES = sizeof mixes / sizeof mixes[0] };
  static char texts[3 * MIXES][TEXT];
  uint64_t seed = 33;
  const bool fused = isa_has(state, ISA_PART, names[1][0]); /* a part has one of them */
  assert_true(isa_has(state, ISA_PART, names[0][0]) != fused);
  const char *list[3 * MIXES];
  for (unsigned i = 0; i < 3 * MIXES; i++) { /* neg and abs are written at the operands */
    const packing_t *p = &mixes[i % MIXES];
    size_t n = (size_t)snprintf(texts[i], TEXT, "%s v2", names[fused][i / MIXES]);
    for (unsigned s = 0; s < 3; s++)
      n += (size_t)snprintf(texts[i] + n, TEXT - n, ", %s%sv%u%s", p->neg_lo >> s & 1 ? "-" : "",
                            p->neg_hi >> s & 1 ? "|" : "", 10 + s, p->neg_hi >> s & 1 ? "|" : "");
    n += bits_text(texts[i] + n, TEXT - n, "op_sel", p->op_sel, 3);
    n += bits_text(texts[i] + n, TEXT - n, "op_sel_hi", p->op_sel_hi, 3);
    snprintf(texts[i] + n, TEXT - n, "%s", p->clamp ? " clamp" : "");
    list[i] = texts[i];
  }
  isa_prepare(state, ISA_PART, list, sizeof list[0], 3 * MIXES);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned i = 0; i < 3 * MIXES; i++)
    for (unsigned m = 0; m < FLOAT_MODES; m++)
      for (unsigned run = 0; run < 3; run++) {
        for (unsigned s = 0; s < 3; s++)
          fill(&t->v[10 + s], mixes[i % MIXES].op_sel_hi >> s & 1 ? &ref_f16 : &ref_f32, &seed);
        gs_wave_set_mode(&t->w, float_modes[m]);
        assert_int_equal(isa_run(t, texts[i]), GS_WAVE_RUNNING);
        check_mix(t, fused, i / MIXES, &mixes[i % MIXES], texts[i], float_modes[m]);
      }
  isa_free(t);
}

/* ---- Dot products: c + a0 * b0, rounded, + a1 * b1, rounded; the sum knows no denormals, nor do gfx90a's
 * halves ---- */

static uint64_t dot2(const uint64_t a[2], const uint64_t b[2], uint64_t c, bool flush) {
  uint64_t sum = ref_flush(&ref_f32, c);
  mpfr_t x, y, z;
  mpfr_inits2(400, x, y, z, (mpfr_ptr)NULL);
  for (unsigned i = 0; i < 2; i++) {
    ref_set(&ref_f16, x, flush ? ref_flush(&ref_f16, a[i]) : a[i]);
    ref_set(&ref_f16, y, flush ? ref_flush(&ref_f16, b[i]) : b[i]);
    ref_set(&ref_f32, z, sum);
    mpfr_fma(z, x, y, z, MPFR_RNDN);
    sum = ref_round(&ref_f32, z, 0);
  }
  mpfr_clears(x, y, z, (mpfr_ptr)NULL);
  return ref_flush(&ref_f32, sum);
}

static void test_dot(void **state) {
  const bool flush = isa_part(state) == GS_GFX90A, accumulates = isa_has(state, ISA_PART, "v_dot2c_f32_f16");
  isa_wave_t *t = isa_new(state, ISA_PART);
  uint64_t seed = 34;
  for (unsigned run = 0; run < 60; run++) {
    const uint64_t exec = run % 10 ? UINT64_MAX : run % 20 ? 0 : UINT64_C(0x0f1e2d3c4b5a6978);
    fill(&t->v[10], &ref_f16, &seed);
    fill(&t->v[11], &ref_f16, &seed);
    fill(&t->v[12], &ref_f32, &seed);
    fill(&t->v[3], &ref_f32, &seed);
    isa_set_s64(t, GS_S_EXEC, exec);
    assert_int_equal(
        isa_run(t, accumulates ? "v_dot2_f32_f16 v2, v10, v11, v12\n"
                                 "v_dot2_f32_f16 v4, v10, v11, v12 neg_lo:[1,0,0] neg_hi:[0,1,0] clamp\n"
                                 "v_dot2c_f32_f16 v3, v10, v11\n"
                               : "v_dot2_f32_f16 v2, v10, v11, v12\n"
                                 "v_dot2_f32_f16 v4, v10, v11, v12 neg_lo:[1,0,0] neg_hi:[0,1,0] clamp\n"),
        GS_WAVE_RUNNING);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const gs_row_t *v = t->before.v;
      uint64_t a[2] = {v[10].u32[l] & 0xffff, v[10].u32[l] >> 16},
               b[2] = {v[11].u32[l] & 0xffff, v[11].u32[l] >> 16};
      if (!(exec >> l & 1))
        continue;
      assert_float(&ref_f32, t->v[2].u32[l], dot2(a, b, v[12].u32[l], flush), false, NULL, "v_dot2_f32_f16",
                   0x3f0);
      if (accumulates)
        assert_float(&ref_f32, t->v[3].u32[l], dot2(a, b, v[3].u32[l], flush), false, NULL, "v_dot2c_f32_f16",
                     0x3f0);
      a[0] ^= 0x8000;
      b[1] ^= 0x8000;
      const uint64_t r =
          ref_modify(&ref_f32, dot2(a, b, v[12].u32[l], flush), (ref_modifiers_t){0, true}, 0x3f0);
      assert_float(&ref_f32, t->v[4].u32[l], r, false, NULL, "v_dot2_f32_f16 clamp", 0x3f0);
    }
    isa_assert_lanes_kept(t, 2, 3, exec);
    isa_assert_only_changed(t, accumulates ? "v[2:4]" : "v2 v4");
  }
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_halves),
      isa_part_test_on(test_floats, GS_CDNA2_4),
      isa_part_test_on(test_operands, GS_CDNA2_4),
      isa_part_test_on(test_pk_fmac, GS_GFX908_UP),
      isa_part_test_on(test_moves, GS_CDNA2_4),
      isa_wide_part_test(test_pack),
      isa_wide_part_test(test_mix),
      isa_part_test_on(test_dot, GS_GFX906_UP),
  };
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
