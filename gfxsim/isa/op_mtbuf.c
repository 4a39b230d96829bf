/* Buffer instructions on typed data: MTBUF, whose format is in the instruction, and the *_format_*
 * instructions of MUBUF, whose format is in the buffer resource. Not here: what the formats mean (format.c).
 */
#include "isa/buffer.h"
#include "isa/convert.h"

/* One instruction's use of a format. */
typedef struct typed {
  gs_access_t a;
  const gs_format_t *format;
  unsigned nfmt;
  bool truncates; /* floats that become halves; all else is rounded to nearest (RDNA3's manual, 9.3.1) */
  uint8_t sel[4]; /* where each result comes from: 0 and 1 are constants, 4 to 7 components */
} typed_t;

enum { SEL_0, SEL_1, SEL_X = 4 };

/* Returns whether there is anything to do. */
static bool begin(gs_wave_t *w, const gs_inst_t *in, typed_t *t, uint32_t rights) {
  const gs_buffer_t b = gs_buffer_of(w, in);
  const bool own = in->op->encoding == GS_ENC_MTBUF;
  const unsigned dfmt = own ? in->imm1 & 15 : b.dfmt;
  t->nfmt = own ? in->imm1 >> 4 & 7 : b.nfmt;
  t->format = gs_format_find(dfmt, t->nfmt);
  t->truncates = w->env->target & GS_GFX11;
  for (unsigned i = 0; i < 4; i++)
    t->sel[i] = own ? (uint8_t)(SEL_X + i) : b.dst_sel[i];
  gs_access_init(&t->a, gs_exec(w), t->format ? t->format->bytes : 4, rights);
  if (!t->format) {
    t->a.zero = t->a.lanes;
    t->a.lanes = 0;
    return t->a.zero != 0;
  }
  gs_buffer_addresses(w, in, &b, 0, &t->a);
  return gs_resolve(w, &t->a);
}

static void get_item(const gs_access_t *a, unsigned l, uint32_t raw[4]) {
  memset(raw, 0, 4 * sizeof *raw);
  if (a->bytes == 1)
    raw[0] = gs_guest_get8(a->at[l]);
  else if (a->bytes == 2)
    raw[0] = gs_guest_get16(a->at[l]);
  else if (a->step == GS_LINEAR_STEP)
    gs_guest_get_dwords(a->at[l], a->bytes / 4, raw);
  else
    for (unsigned i = 0; i < a->bytes / 4; i++)
      raw[i] = gs_guest_get32(a->at[l] + (uint64_t)i * a->step);
}

static void put_item(const gs_access_t *a, unsigned l, const uint32_t raw[4]) {
  if (a->bytes == 1)
    gs_guest_put8(a->at[l], (uint8_t)raw[0]);
  else if (a->bytes == 2)
    gs_guest_put16(a->at[l], (uint16_t)raw[0]);
  else if (a->step == GS_LINEAR_STEP)
    gs_guest_put_dwords(a->at[l], a->bytes / 4, raw);
  else
    for (unsigned i = 0; i < a->bytes / 4; i++)
      gs_guest_put32(a->at[l] + (uint64_t)i * a->step, raw[i]);
}

/* Result `i` of an item. Components beyond the format are 0, 0, 0, 1. */
static uint32_t result_inside(const typed_t *t, const uint32_t raw[4], unsigned i, bool d16) {
  const unsigned sel = t->sel[i];
  if (sel < SEL_X)
    return gs_format_constant(t->nfmt, sel == SEL_1, d16);
  const unsigned component = sel - SEL_X;
  if (component >= t->format->components)
    return gs_format_constant(t->nfmt, component == 3, d16);
  const bool is_float = t->nfmt == GS_NFMT_FLOAT && t->format->width[component] == 32;
  const bool truncates = d16 && t->truncates && is_float;
  const uint32_t value = gs_format_unpack(t->format, t->nfmt, raw, component, d16 && !truncates);
  return truncates ? gs_f16_of_f32_rtz(gs_float_of_bits(value)) : value;
}

/* Lanes beyond the end of the buffer read 0, but constants stay what they are. */
static uint32_t result_outside(const typed_t *t, unsigned i, bool d16) {
  return t->format && t->sel[i] < SEL_X ? gs_format_constant(t->nfmt, t->sel[i] == SEL_1, d16) : 0;
}

static void put_status(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  static const gs_row_t none;
  if (in->tfe)
    gs_write_row(w, in->dst + n, &none, gs_exec(w));
}

/* Loads `n` components of each lane as rows. */
static void load_components(typed_t *t, unsigned n, bool d16, gs_row_t row[4]) {
  for (uint64_t left = t->a.lanes | t->a.zero; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    uint32_t raw[4];
    if (gs_bit(t->a.lanes, l))
      get_item(&t->a, l, raw);
    for (unsigned i = 0; i < n; i++)
      row[i].u32[l] = gs_bit(t->a.lanes, l) ? result_inside(t, raw, i, d16) : result_outside(t, i, d16);
  }
}

static void load(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  typed_t t;
  gs_row_t row[4];
  if (!begin(w, in, &t, GS_VM_READ))
    return;
  load_components(&t, n, false, row);
  if (in->lds && n == 1) {
    t.a.lanes |= t.a.zero;
    t.a.zero = 0;
    gs_rows_to_lds(w, &t.a, row, 1, (uint32_t)in->imm);
    return;
  }
  for (unsigned i = 0; i < n; i++)
    gs_write_row(w, in->dst + i, &row[i], gs_exec(w));
  put_status(w, in, n);
}

/* Two components to a register. */
static void load_d16(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  typed_t t;
  gs_row_t row[4];
  if (!begin(w, in, &t, GS_VM_READ))
    return;
  load_components(&t, n, true, row);
  const uint32_t kept = gs_d16_kept(w, GS_HALF_LO);
  for (unsigned i = 0; i < n; i += 2) {
    const gs_row_t *high = i + 1 < n ? &row[i + 1] : NULL;
    const gs_row_t *old = &w->v[in->dst + i / 2];
    for (unsigned l = 0; l < GS_LANES; l++)
      row[i].u32[l] = row[i].u32[l] | (high ? high->u32[l] << 16 : old->u32[l] & kept);
    gs_write_row(w, in->dst + i / 2, &row[i], gs_exec(w));
  }
  put_status(w, in, (n + 1) / 2);
}

/* `value[i]` are the rows of the components. Components that the instruction does not give are 0. */
static void store_components(gs_wave_t *w, typed_t *t, unsigned n, bool d16, const gs_row_t value[4]) {
  for (uint64_t left = t->a.lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    uint32_t raw[4] = {0};
    for (unsigned i = 0; i < n && i < t->format->components; i++)
      gs_format_pack(t->format, t->nfmt, value[i].u32[l], i, d16, raw);
    put_item(&t->a, l, raw);
  }
  gs_access_finish(w, &t->a);
}

static void store(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  typed_t t;
  if (begin(w, in, &t, GS_VM_WRITE))
    store_components(w, &t, n, false, &w->v[in->dst]);
}

static void store_d16(gs_wave_t *w, const gs_inst_t *in, unsigned n) {
  typed_t t;
  gs_row_t value[4];
  if (!begin(w, in, &t, GS_VM_WRITE))
    return;
  for (unsigned i = 0; i < n; i++)
    GS_LANES_DO(l)
      value[i].u32[l] = w->v[in->dst + i / 2].u32[l] >> i % 2 * 16 & 0xffff;
  store_components(w, &t, n, true, value);
}

#define TYPED(prefix)                                                                                        \
  GS_OP(prefix##_load_format_x) {                                                                            \
    load(w, in, 1);                                                                                          \
  }                                                                                                          \
  GS_OP(prefix##_load_format_xy) {                                                                           \
    load(w, in, 2);                                                                                          \
  }                                                                                                          \
  GS_OP(prefix##_load_format_xyz) {                                                                          \
    load(w, in, 3);                                                                                          \
  }                                                                                                          \
  GS_OP(prefix##_load_format_xyzw) {                                                                         \
    load(w, in, 4);                                                                                          \
  }                                                                                                          \
  GS_OP(prefix##_store_format_x) {                                                                           \
    store(w, in, 1);                                                                                         \
  }                                                                                                          \
  GS_OP(prefix##_store_format_xy) {                                                                          \
    store(w, in, 2);                                                                                         \
  }                                                                                                          \
  GS_OP(prefix##_store_format_xyz) {                                                                         \
    store(w, in, 3);                                                                                         \
  }                                                                                                          \
  GS_OP(prefix##_store_format_xyzw) {                                                                        \
    store(w, in, 4);                                                                                         \
  }                                                                                                          \
  GS_OP(prefix##_load_format_d16_x) {                                                                        \
    load_d16(w, in, 1);                                                                                      \
  }                                                                                                          \
  GS_OP(prefix##_load_format_d16_xy) {                                                                       \
    load_d16(w, in, 2);                                                                                      \
  }                                                                                                          \
  GS_OP(prefix##_load_format_d16_xyz) {                                                                      \
    load_d16(w, in, 3);                                                                                      \
  }                                                                                                          \
  GS_OP(prefix##_load_format_d16_xyzw) {                                                                     \
    load_d16(w, in, 4);                                                                                      \
  }                                                                                                          \
  GS_OP(prefix##_store_format_d16_x) {                                                                       \
    store_d16(w, in, 1);                                                                                     \
  }                                                                                                          \
  GS_OP(prefix##_store_format_d16_xy) {                                                                      \
    store_d16(w, in, 2);                                                                                     \
  }                                                                                                          \
  GS_OP(prefix##_store_format_d16_xyz) {                                                                     \
    store_d16(w, in, 3);                                                                                     \
  }                                                                                                          \
  GS_OP(prefix##_store_format_d16_xyzw) {                                                                    \
    store_d16(w, in, 4);                                                                                     \
  }

TYPED(buffer)
TYPED(tbuffer)

/* One component to or from the high half of a register. */
GS_OP(buffer_load_format_d16_hi_x) {
  typed_t t;
  gs_row_t row[4];
  if (!begin(w, in, &t, GS_VM_READ))
    return;
  load_components(&t, 1, true, row);
  const uint32_t kept = gs_d16_kept(w, GS_HALF_HI);
  GS_LANES_DO(l)
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): what is not loaded is not written */
    row[0].u32[l] = row[0].u32[l] << 16 | (w->v[in->dst].u32[l] & kept);
  gs_write_row(w, in->dst, &row[0], gs_exec(w));
  put_status(w, in, 1);
}
GS_OP(buffer_store_format_d16_hi_x) {
  typed_t t;
  gs_row_t value[4];
  if (!begin(w, in, &t, GS_VM_WRITE))
    return;
  GS_LANES_DO(l)
    value[0].u32[l] = w->v[in->dst].u32[l] >> 16;
  store_components(w, &t, 1, true, value);
}
