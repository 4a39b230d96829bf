/* Atomics of LDS, flat, global and buffer memory: each operation in each form, on edge values, lanes
 * colliding, with and without return, compared with models in wide integers and wide floats; alignment,
 * rights, bounds; and that concurrent ones lose nothing. Not here: loads and stores. */
#include "memory_model.h"

#include <float.h>
#include <pthread.h>

__extension__ typedef __int128 int128;

/* Wide enough that rounding a sum to it first does no harm. */
#if LDBL_MANT_DIG >= 113
typedef long double wide_t;
#else
__extension__ typedef __float128 wide_t;
#endif

/* ---- Models: the new value of `old`, an item of `bits` bits; c is the second operand ---- */

typedef uint64_t model_fn_t(uint64_t old, uint64_t a, uint64_t c, unsigned bits, uint32_t mode);

static uint64_t cut(int128 value, unsigned bits) {
  return (uint64_t)(value & (((int128)1 << bits) - 1));
}
static int128 as_signed(uint64_t value, unsigned bits) {
  return value >> (bits - 1) & 1 ? (int128)value - ((int128)1 << bits) : (int128)value;
}
#define MODEL(name)                                                                                          \
  static uint64_t name(uint64_t old, uint64_t a, MODEL_UNUSED uint64_t c, MODEL_UNUSED unsigned bits,        \
                       MODEL_UNUSED uint32_t mode)

MODEL(m_swap) {
  return (void)old, a;
}
MODEL(m_add) {
  return cut((int128)old + (int128)a, bits);
}
MODEL(m_sub) {
  return cut((int128)old - (int128)a, bits);
}
MODEL(m_rsub) {
  return cut((int128)a - (int128)old, bits);
}
MODEL(m_smin) {
  return as_signed(a, bits) < as_signed(old, bits) ? a : old;
}
MODEL(m_smax) {
  return as_signed(a, bits) > as_signed(old, bits) ? a : old;
}
MODEL(m_umin) {
  return a < old ? a : old;
}
MODEL(m_umax) {
  return a > old ? a : old;
}
MODEL(m_and) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result += (old >> i & 1) * (a >> i & 1) << i;
  return result;
}
MODEL(m_or) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result += (uint64_t)((old >> i & 1) + (a >> i & 1) > 0) << i;
  return result;
}
MODEL(m_xor) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result += (uint64_t)((old >> i & 1) != (a >> i & 1)) << i;
  return result;
}
MODEL(m_inc) {
  return (int128)old + 1 > (int128)a ? 0 : old + 1;
}
MODEL(m_dec) {
  if (old == 0)
    return a;
  return old > a ? a : old - 1;
}
MODEL(m_mskor) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++)
    result += (uint64_t)((a >> i & 1 ? 0 : old >> i & 1) || (c >> i & 1)) << i;
  return result;
}
MODEL(m_cmpswap) { /* data, then what is compared with */
  return old == c ? a : old;
}
MODEL(m_cmpst) { /* what is compared with, then data */
  return old == a ? c : old;
}
MODEL(m_wrap) {
  return cut(old >= a ? (int128)old - (int128)a : (int128)old + (int128)c, bits);
}
MODEL(m_csub) {
  return old < a ? 0 : old - a;
}
MODEL(m_condxchg) { /* each half by itself */
  uint64_t result = old;
  for (unsigned i = 0; i < 64; i += 32)
    if (a >> (i + 31) & 1)
      result = (result & ~(UINT64_C(0xffffffff) << i)) | (a & UINT64_C(0x7fffffff) << i);
  return result;
}

/* Floats. */
static double value_of(uint64_t x, unsigned bits) {
  double d;
  float f;
  const uint32_t low = (uint32_t)x;
  memcpy(&f, &low, sizeof f);
  memcpy(&d, &x, sizeof d);
  return bits == 32 ? (double)f : d;
}
static uint64_t bits_of(double value, unsigned bits) {
  uint64_t x = 0;
  const float f = (float)value;
  if (bits == 32)
    memcpy(&x, &f, sizeof f);
  else
    memcpy(&x, &value, sizeof value);
  return x;
}
static unsigned fraction(unsigned bits) {
  return bits == 32 ? 23 : 52;
}
static uint64_t infinity_of(unsigned bits) {
  return bits == 32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
}
static uint64_t magnitude(uint64_t x, unsigned bits) {
  return x & (infinity_of(bits) | (infinity_of(bits) - 1));
}
static bool is_nan(uint64_t x, unsigned bits) {
  return magnitude(x, bits) > infinity_of(bits);
}
static bool is_denormal(uint64_t x, unsigned bits) {
  return magnitude(x, bits) != 0 && magnitude(x, bits) < UINT64_C(1) << fraction(bits);
}
static uint64_t sign_of(uint64_t x, unsigned bits) {
  return x & UINT64_C(1) << (bits - 1);
}
static uint64_t quiet(uint64_t x, unsigned bits) {
  return x | UINT64_C(1) << (fraction(bits) - 1);
}
static bool is_signaling(uint64_t x, unsigned bits) {
  return is_nan(x, bits) && quiet(x, bits) != x;
}
/* What LDS flushes is up to MODE. */
static unsigned kept(unsigned bits, uint32_t mode) {
  return mode >> (bits == 32 ? 4 : 6) & 3;
}
static uint64_t flush(uint64_t x, unsigned bits, bool keep) {
  return !keep && is_denormal(x, bits) ? sign_of(x, bits) : x;
}

static uint64_t add_floats(uint64_t old, uint64_t a, unsigned bits, unsigned keep) {
  if (is_nan(old, bits) || is_nan(a, bits))
    return quiet(is_nan(old, bits) ? old : a, bits);
  old = flush(old, bits, keep & 1);
  a = flush(a, bits, keep & 1);
  if (magnitude(old, bits) == infinity_of(bits) && magnitude(a, bits) == infinity_of(bits))
    return old == a ? old : quiet(infinity_of(bits), bits);
  if (magnitude(old, bits) == 0 && magnitude(a, bits) == 0)
    return old & a;
  const wide_t sum = (wide_t)value_of(old, bits) + (wide_t)value_of(a, bits);
  const uint64_t result = bits == 32 ? bits_of((double)(float)sum, 32) : bits_of((double)sum, 64);
  return flush(result, bits, keep >> 1);
}
MODEL(m_fadd) { /* memory: f32 flushes, f64 does not */
  return add_floats(old, a, bits, bits == 32 ? 0 : 3);
}
MODEL(m_fadd_kept) { /* of gfx942 */
  return add_floats(old, a, bits, 3);
}
MODEL(m_lds_fadd) {
  return add_floats(old, a, bits, kept(bits, mode));
}

static uint64_t pick(uint64_t old, uint64_t a, unsigned bits, unsigned keep, bool greater) {
  if (is_signaling(old, bits) || is_signaling(a, bits))
    return quiet(is_signaling(old, bits) ? old : a, bits);
  if (is_nan(old, bits) || is_nan(a, bits))
    return is_nan(a, bits) ? old : a;
  const double x = value_of(flush(old, bits, keep & 1), bits), y = value_of(flush(a, bits, keep & 1), bits);
  if (x == y) /* zeros: the negative one is less */
    return sign_of(a, bits) && !sign_of(old, bits)   ? (greater ? old : a)
           : sign_of(old, bits) && !sign_of(a, bits) ? (greater ? a : old)
                                                     : old;
  return (y > x) == greater ? a : old;
}
MODEL(m_fmin) {
  return pick(old, a, bits, 3, false);
}
MODEL(m_fmax) {
  return pick(old, a, bits, 3, true);
}
MODEL(m_fcmpswap) { /* data, then what is compared with */
  return !is_nan(old, bits) && !is_nan(c, bits) && value_of(old, bits) == value_of(c, bits) ? a : old;
}
MODEL(m_lds_fmin) {
  return pick(old, a, bits, kept(bits, mode), false);
}
MODEL(m_lds_fmax) {
  return pick(old, a, bits, kept(bits, mode), true);
}
MODEL(m_lds_fcmpst) {
  const unsigned keep = kept(bits, mode);
  const bool equal = !is_nan(old, bits) && !is_nan(a, bits) &&
                     value_of(flush(old, bits, keep & 1), bits) == value_of(flush(a, bits, keep & 1), bits);
  return equal ? c : old;
}

/* Halves: exact in double, then the nearest of all halves. */
static double half_value(unsigned h) {
  const unsigned exponent = h >> 10 & 31, mantissa = h & 1023;
  const double m = exponent ? (1024 + mantissa) * 0x1p-25 : mantissa * 0x1p-24;
  double value = m;
  for (unsigned i = 0; i < exponent; i++)
    value *= 2;
  return h & 0x8000 ? -value : value;
}
static unsigned half_add(unsigned old, unsigned a) {
  const bool nan_old = (old & 0x7fff) > 0x7c00, nan_a = (a & 0x7fff) > 0x7c00;
  if (nan_old || nan_a)
    return (nan_old ? old : a) | 0x200;
  if ((old & 0x7fff) == 0x7c00 || (a & 0x7fff) == 0x7c00)
    return (old & 0x7fff) != 0x7c00 ? a : (a & 0x7fff) != 0x7c00 || a == old ? old : 0x7e00;
  const double sum = half_value(old) + half_value(a), size = sum < 0 ? -sum : sum;
  if (sum == 0)
    return (old & 0x8000) && (a & 0x8000) ? 0x8000 : 0;
  unsigned low = 0, high = 0x7c00; /* halves around the sum; infinity stands for 65536 */
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (half_value(middle) <= size)
      low = middle;
    else
      high = middle;
  }
  const double below = size - half_value(low), above = half_value(high) - size;
  const unsigned result = below < above || (below == above && low % 2 == 0) ? low : high;
  return result | (sum < 0 ? 0x8000 : 0);
}
MODEL(m_pk_fadd) {
  return half_add(old & 0xffff, a & 0xffff) | (uint64_t)half_add(old >> 16 & 0xffff, a >> 16 & 0xffff) << 16;
}

/* bf16, the upper half of a float: to nearest, ties to even. */
static uint32_t bf16_add(uint32_t a, uint32_t b) {
  const uint32_t sum = (uint32_t)add_floats((uint64_t)a << 16, (uint64_t)b << 16, 32, 3);
  uint32_t result = sum >> 16;
  const uint32_t rest = sum & 0xffff;
  if ((sum & 0x7fffffff) <= 0x7f800000 && (rest > 0x8000 || (rest == 0x8000 && (result & 1))))
    result++;
  return result;
}
MODEL(m_pk_bf16_add) {
  return bf16_add(old & 0xffff, a & 0xffff) | (uint64_t)bf16_add(old >> 16 & 0xffff, a >> 16 & 0xffff) << 16;
}

/* ---- Instructions ---- */

typedef struct row {
  const char *name; /* without segment or "ds_"; for DS with %s where the return form has "_rtn" */
  unsigned bits;
  model_fn_t *model;
  bool is_float;
  unsigned targets; /* besides FLAT, which has fewer */
  bool flat;
} row_t;

#define BOTH(name, model)                                                                                    \
  {name, 32, model, false, GS_GFX9, true}, {                                                                 \
    name "_x2", 64, model, false, GS_GFX9, true                                                              \
  }
static const row_t vmem_rows[] = {
    BOTH("swap", m_swap),
    BOTH("cmpswap", m_cmpswap),
    BOTH("add", m_add),
    BOTH("sub", m_sub),
    BOTH("smin", m_smin),
    BOTH("umin", m_umin),
    BOTH("smax", m_smax),
    BOTH("umax", m_umax),
    BOTH("and", m_and),
    BOTH("or", m_or),
    BOTH("xor", m_xor),
    BOTH("inc", m_inc),
    BOTH("dec", m_dec),
    {"add_f32", 32, m_fadd, true, GS_CDNA1_2, false},
    {"pk_add_f16", 32, m_pk_fadd, false, GS_CDNA1_2, false},
    {"add_f32", 32, m_fadd_kept, true, GS_GFX9_4, true},
    {"pk_add_f16", 32, m_pk_fadd, false, GS_GFX9_4, true},
    {"pk_add_bf16", 32, m_pk_bf16_add, false, GS_GFX9_4, true},
    {"add_f64", 64, m_fadd, true, GS_CDNA2_4, true},
    {"min_f64", 64, m_fmin, true, GS_CDNA2_4, true},
    {"max_f64", 64, m_fmax, true, GS_CDNA2_4, true},
    {"fmin", 32, m_fmin, true, GS_GFX10, true},
    {"fmax", 32, m_fmax, true, GS_GFX10, true},
    {"fcmpswap", 32, m_fcmpswap, true, GS_GFX10, true},
    {"fmin_x2", 64, m_fmin, true, GS_GFX10, true},
    {"fmax_x2", 64, m_fmax, true, GS_GFX10, true},
    {"fcmpswap_x2", 64, m_fcmpswap, true, GS_GFX10, true},
    {"csub", 32, m_csub, false, GS_GFX10, false},
    {"min_f32", 32, m_fmin, true, GS_GFX11, true},
    {"max_f32", 32, m_fmax, true, GS_GFX11, true},
    {"cmpswap_f32", 32, m_fcmpswap, true, GS_GFX11, true},
    {"csub_u32", 32, m_csub, false, GS_GFX11, false},
};
enum { VMEM_ROWS = sizeof vmem_rows / sizeof *vmem_rows };

enum { RTN_ONLY = 1, NO_SECOND = 0, SECOND = 2 };
typedef struct ds_row {
  const char *name, *type;
  unsigned bits;
  model_fn_t *model;
  unsigned flags;
  bool is_float;
  unsigned targets;
} ds_row_t;
static const ds_row_t ds_rows[] = {
    {"add", "u32", 32, m_add, 0, false, GS_GFX9},
    {"sub", "u32", 32, m_sub, 0, false, GS_GFX9},
    {"rsub", "u32", 32, m_rsub, 0, false, GS_GFX9},
    {"inc", "u32", 32, m_inc, 0, false, GS_GFX9},
    {"dec", "u32", 32, m_dec, 0, false, GS_GFX9},
    {"min", "i32", 32, m_smin, 0, false, GS_GFX9},
    {"max", "i32", 32, m_smax, 0, false, GS_GFX9},
    {"min", "u32", 32, m_umin, 0, false, GS_GFX9},
    {"max", "u32", 32, m_umax, 0, false, GS_GFX9},
    {"and", "b32", 32, m_and, 0, false, GS_GFX9},
    {"or", "b32", 32, m_or, 0, false, GS_GFX9},
    {"xor", "b32", 32, m_xor, 0, false, GS_GFX9},
    {"mskor", "b32", 32, m_mskor, SECOND, false, GS_GFX9},
    {"cmpst", "b32", 32, m_cmpst, SECOND, false, GS_GFX9},
    {"cmpst", "f32", 32, m_lds_fcmpst, SECOND, true, GS_GFX9},
    {"min", "f32", 32, m_lds_fmin, 0, true, GS_GFX9},
    {"max", "f32", 32, m_lds_fmax, 0, true, GS_GFX9},
    {"add", "f32", 32, m_lds_fadd, 0, true, GS_GFX9},
    {"wrxchg", "b32", 32, m_swap, RTN_ONLY, false, GS_GFX9},
    {"wrap", "b32", 32, m_wrap, RTN_ONLY | SECOND, false, GS_GFX9},
    {"add", "u64", 64, m_add, 0, false, GS_GFX9},
    {"sub", "u64", 64, m_sub, 0, false, GS_GFX9},
    {"rsub", "u64", 64, m_rsub, 0, false, GS_GFX9},
    {"inc", "u64", 64, m_inc, 0, false, GS_GFX9},
    {"dec", "u64", 64, m_dec, 0, false, GS_GFX9},
    {"min", "i64", 64, m_smin, 0, false, GS_GFX9},
    {"max", "i64", 64, m_smax, 0, false, GS_GFX9},
    {"min", "u64", 64, m_umin, 0, false, GS_GFX9},
    {"max", "u64", 64, m_umax, 0, false, GS_GFX9},
    {"and", "b64", 64, m_and, 0, false, GS_GFX9},
    {"or", "b64", 64, m_or, 0, false, GS_GFX9},
    {"xor", "b64", 64, m_xor, 0, false, GS_GFX9},
    {"mskor", "b64", 64, m_mskor, SECOND, false, GS_GFX9},
    {"cmpst", "b64", 64, m_cmpst, SECOND, false, GS_GFX9},
    {"cmpst", "f64", 64, m_lds_fcmpst, SECOND, true, GS_GFX9},
    {"min", "f64", 64, m_lds_fmin, 0, true, GS_GFX9},
    {"max", "f64", 64, m_lds_fmax, 0, true, GS_GFX9},
    {"add", "f64", 64, m_lds_fadd, 0, true, GS_CDNA2_4},
    {"pk_add", "f16", 32, m_pk_fadd, 0, false, GS_GFX9_4},
    {"pk_add", "bf16", 32, m_pk_bf16_add, 0, false, GS_GFX9_4},
    {"wrxchg", "b64", 64, m_swap, RTN_ONLY, false, GS_GFX9},
    {"condxchg32", "b64", 64, m_condxchg, RTN_ONLY, false, GS_GFX9},
};
enum { DS_ROWS = sizeof ds_rows / sizeof *ds_rows };

/* ---- Running one instruction ---- */

/* An instruction in all respects that matter here. */
typedef struct operation {
  char text[112];
  unsigned bits;
  model_fn_t *model;
  unsigned data, second, ret; /* registers; ret 0: none */
  bool is_float;
} operation_t;

enum { SLOTS = 16 }; /* places that lanes choose from, so that they collide */

static uint64_t edge(bool is_float, unsigned bits, uint64_t random) {
  if (bits == 32)
    return is_float ? isa_f32_edges[random % isa_f32_edge_count] : isa_u32_edges[random % isa_u32_edge_count];
  return is_float ? isa_f64_edges[random % isa_f64_edge_count] : isa_u64_edges[random % isa_u64_edge_count];
}

/* Gives memory and operands edge values; an operand is often equal to what is in memory. */
static void set_values(model_bench_t *b, const operation_t *op, const model_lane_t lane[GS_LANES]) {
  isa_wave_t *t = b->t;
  bench_sync(b);
  for (unsigned l = 0; l < GS_LANES; l++)
    model_put(b->model, lane[l], l, op->bits / 8, 0, op->bits / 8,
              edge(op->is_float, op->bits, isa_random(&b->seed)));
  memcpy(t->memory, b->model->memory, ISA_MEMORY_BYTES);
  memcpy(t->lds, b->model->lds, ISA_LDS_BYTES);
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint64_t value[2];
    for (unsigned i = 0; i < 2; i++)
      value[i] = isa_random(&b->seed) % 3 ? edge(op->is_float, op->bits, isa_random(&b->seed))
                                          : model_get(b->model, lane[l], l, op->bits / 8, 0, op->bits / 8);
    for (unsigned i = 0; i < op->bits / 32; i++) {
      t->v[op->data + i].u32[l] = (uint32_t)(value[0] >> 32 * i);
      t->v[op->second + i].u32[l] = (uint32_t)(value[1] >> 32 * i);
    }
  }
}

static uint64_t operand(const isa_wave_t *t, unsigned reg, unsigned l, unsigned bits) {
  return t->v[reg].u32[l] | (bits == 64 ? (uint64_t)t->v[reg + 1].u32[l] << 32 : 0);
}

/* Lanes take part in order, each seeing what the ones before left. */
static void check(model_bench_t *b, const operation_t *op, const model_lane_t lane[GS_LANES]) {
  isa_wave_t *t = b->t;
  const uint64_t exec = gs_exec(&t->w);
  const unsigned bytes = op->bits / 8;
  uint64_t old[GS_LANES];
  bench_sync(b);
  for (unsigned l = 0; l < GS_LANES; l++) {
    old[l] = model_get(b->model, lane[l], l, bytes, 0, bytes);
    if (gs_bit(exec, l))
      model_put(b->model, lane[l], l, bytes, 0, bytes,
                op->model(old[l], operand(t, op->data, l, op->bits), operand(t, op->second, l, op->bits),
                          op->bits, t->w.mode));
  }
  if (isa_run(t, op->text) != GS_WAVE_RUNNING)
    fail_msg("%s: fault %d", op->text, t->w.fault.kind);
  for (unsigned l = 0; op->ret && l < GS_LANES; l++)
    for (unsigned i = 0; i < op->bits / 32; i++) {
      const uint32_t expected =
          gs_bit(exec, l) ? (uint32_t)(old[l] >> 32 * i) : t->before.v[op->ret + i].u32[l];
      if (t->v[op->ret + i].u32[l] != expected)
        fail_msg("%s: lane %u returns %#x in register %u and should %#x", op->text, l,
                 t->v[op->ret + i].u32[l], i, expected);
    }
  char what[256];
  snprintf(what, sizeof what, "%s of exec %#llx, mode %#x", op->text, (unsigned long long)exec, t->w.mode);
  bench_compare(b, what);
  char list[64];
  snprintf(list, sizeof list, "%s[%u:%u] memory lds", op->ret >= 256 ? "a" : "v", op->ret % 256,
           op->ret % 256 + 1);
  isa_assert_only_changed(t, op->ret ? list : "memory lds");
}

/* ---- Global, flat and buffer memory ---- */

typedef enum form { FORM_FLAT, FORM_GLOBAL, FORM_GLOBAL_SCALAR, FORM_BUFFER, FORMS } form_t;

static const char *registers(char name[16], unsigned first, unsigned count, bool acc) {
  if (count == 1)
    snprintf(name, 16, "%c%u", acc ? 'a' : 'v', first);
  else
    snprintf(name, 16, "%c[%u:%u]", acc ? 'a' : 'v', first, first + count - 1);
  return name;
}

static operation_t vmem_operation(const row_t *row, form_t form, bool glc, bool acc) {
  operation_t op = {.bits = row->bits, .model = row->model, .is_float = row->is_float};
  const unsigned n = row->bits / 32, base = acc ? 256 : 0;
  const bool cmpswap = row->model == m_cmpswap || row->model == m_fcmpswap;
  char data[16], ret[24];
  registers(data, 10, cmpswap ? 2 * n : n, acc);
  registers(ret, 20, n, acc);
  strcat(ret, ", ");
  op.data = base + 10;
  op.second = base + 10 + n;
  op.ret = !glc ? 0 : base + (form == FORM_BUFFER ? 10 : 20);
  const char *r = glc ? ret : "", *g = glc ? " glc" : "";
  switch (form) {
  case FORM_FLAT:
    snprintf(op.text, sizeof op.text, "flat_atomic_%s %sv[2:3], %s offset:16%s", row->name, r, data, g);
    break;
  case FORM_GLOBAL:
    snprintf(op.text, sizeof op.text, "global_atomic_%s %sv[2:3], %s, off offset:-16%s", row->name, r, data,
             g);
    break;
  case FORM_GLOBAL_SCALAR:
    snprintf(op.text, sizeof op.text, "global_atomic_%s %sv2, %s, s[4:5] offset:16%s", row->name, r, data, g);
    break;
  default:
    snprintf(op.text, sizeof op.text, "buffer_atomic_%s %s, v2, s[4:7], 16 offen%s", row->name, data, g);
  }
  return op;
}

static bool exists(const row_t *row, gs_target_t target, form_t form, bool glc) {
  if (form == FORM_FLAT && !row->flat)
    return false;
  if ((form == FORM_BUFFER && row->model == m_pk_bf16_add && target != GS_GFX950) ||
      (!glc && row->model == m_csub))
    return false;
  /* gfx908 has its two without return only. */
  return (row->targets & target) && !(glc && target == GS_GFX908 && row->targets != GS_GFX9);
}

static void vmem_addresses(isa_wave_t *t, form_t form, const model_lane_t lane[GS_LANES]) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t at = model_address(lane[l]);
    if (form == FORM_FLAT || form == FORM_GLOBAL)
      isa_set_u64(&t->v[2], l, form == FORM_FLAT ? at - 16 : at + 16);
    else
      t->v[2].u32[l] = lane[l].start - 16;
  }
  isa_set_s64(t, 4, ISA_MEMORY);
  t->w.s.u32[6] = ISA_MEMORY_BYTES;
  /* Of bytes, as the family says it. */
  t->w.s.u32[7] = t->env.target & GS_GFX9 ? 4u << 15 : 22u << 12 | 3u << 28;
}

/* MODE: denormals kept and flushed, and roundings, which atomics do not care for. */
static const uint32_t modes[] = {0xf0, 0x00, 0x5f, 0xaa, 0xf5};
enum { MODES = sizeof modes / sizeof *modes };

/* All lanes in one of a few slots of one space, or (-1) of any. */
static void vmem_case(model_bench_t *b, const operation_t *op, form_t form, int space, uint64_t exec,
                      uint32_t mode) {
  model_lane_t lane[GS_LANES];
  isa_reset(b->t, 2);
  b->t->env.lds_bytes = 4096;
  model_set_private(b->t);
  for (unsigned l = 0; l < GS_LANES; l++) {
    lane[l].space = (model_space_t)(space < 0 ? isa_random(&b->seed) % 4 : (unsigned)space);
    lane[l].start = 64 + (uint32_t)(isa_random(&b->seed) % SLOTS) * 8;
    if (lane[l].space == SPACE_PIECES)
      lane[l].start += MODEL_PAGE - 64 - SLOTS * 4; /* some in the one, some in the other */
    if (lane[l].space == SPACE_SHARED && isa_random(&b->seed) % 8 == 0)
      lane[l].start += 4096; /* beyond LDS */
  }
  gs_set_exec(&b->t->w, exec);
  gs_wave_set_mode(&b->t->w, mode);
  set_values(b, op, lane);
  vmem_addresses(b->t, form, lane);
  check(b, op, lane);
}

static void vmem_rows_on(void **state, gs_target_t target, bool acc) {
  static operation_t ops[VMEM_ROWS * FORMS * 2];
  const char *texts[VMEM_ROWS * FORMS * 2];
  form_t forms[VMEM_ROWS * FORMS * 2];
  unsigned count = 0;
  for (unsigned r = 0; r < VMEM_ROWS; r++)
    for (unsigned f = 0; f < FORMS; f++)
      for (unsigned glc = 0; glc < 2; glc++)
        if (exists(&vmem_rows[r], target, (form_t)f, glc)) {
          ops[count] = vmem_operation(&vmem_rows[r], (form_t)f, glc, acc);
          texts[count] = ops[count].text;
          forms[count++] = (form_t)f;
        }
  isa_prepare(state, target, texts, sizeof *texts, count);
  model_bench_t b = bench_new(state, target);
  for (unsigned i = 0; i < count; i++)
    for (int space = forms[i] == FORM_FLAT ? -1 : 0; space < (forms[i] == FORM_FLAT ? 4 : 1); space++)
      for (unsigned k = 0; k < 2 * MODEL_MASKS; k++)
        vmem_case(&b, &ops[i], forms[i], space, model_masks[k % MODEL_MASKS], modes[k % 3]);
  bench_free(&b);
}

static void test_vmem(void **state) {
  vmem_rows_on(state, isa_part(state), false);
}
static void test_vmem_accumulation_registers(void **state) {
  vmem_rows_on(state, isa_part(state), true);
}

/* Halves need halves that matter. */
static void test_packed_halves(void **state) {
  if (!isa_has(state, ISA_PART, "global_atomic_pk_add_f16"))
    return;
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  for (unsigned i = 0; i < isa_f16_edge_count; i++) {
    bench_sync(&b);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t low = isa_f16_edges[i] & 0xffff, high = isa_f16_edges[l % isa_f16_edge_count] & 0xffff;
      const uint32_t old = high | low << 16, data = low | high << 16;
      isa_set_u64(&t->v[2], l, ISA_MEMORY + 4 * l);
      memcpy(t->memory + 4 * l, &old, 4);
      t->v[4].u32[l] = data;
      const uint32_t expected = (uint32_t)m_pk_fadd(old, data, 0, 32, 0);
      memcpy(b.model->memory + 4 * l, &expected, 4);
    }
    isa_run(t, "global_atomic_pk_add_f16 v[2:3], v4, off");
    bench_compare(&b, "global_atomic_pk_add_f16");
  }
  bench_free(&b);
}

/* Lanes beyond the end of a buffer return 0 and change nothing. */
static void test_buffer_bounds(void **state) {
  model_bench_t b = bench_new(state, ISA_PART);
  isa_wave_t *t = b.t;
  isa_set_s64(t, 4, ISA_MEMORY);
  t->w.s.u32[6] = 80;
  t->w.s.u32[7] = 4 << 15;
  bench_sync(&b);
  for (unsigned l = 0; l < GS_LANES; l++) {
    t->v[2].u32[l] = 4 * l;
    if (l < 20)
      memcpy(b.model->memory + 4 * l, &t->v[10].u32[l], 4);
  }
  isa_run(t, "buffer_atomic_swap v10, v2, s[4:7], 0 offen glc");
  bench_compare(&b, "buffer_atomic_swap");
  for (unsigned l = 20; l < GS_LANES; l++)
    assert_int_equal(t->v[10].u32[l], 0);
  bench_free(&b);
}

/* ---- LDS ---- */

static operation_t ds_operation(const ds_row_t *row, bool rtn, bool acc) {
  operation_t op = {.bits = row->bits, .model = row->model, .is_float = row->is_float};
  const unsigned n = row->bits / 32, base = acc ? 256 : 0;
  char data[16], second[24] = ", ", ret[24];
  registers(data, 10, n, acc);
  registers(second + 2, 14, n, acc);
  registers(ret, 20, n, acc);
  strcat(ret, ", ");
  op.data = base + 10;
  op.second = base + 14;
  op.ret = rtn ? base + 20 : 0;
  snprintf(op.text, sizeof op.text, "ds_%s%s_%s %sv2, %s%s offset:%u", row->name, rtn ? "_rtn" : "",
           row->type, rtn ? ret : "", data, row->flags & SECOND ? second : "", 8u);
  return op;
}

static void ds_rows_on(void **state, gs_target_t target, bool acc) {
  static operation_t ops[2 * DS_ROWS];
  const char *texts[2 * DS_ROWS];
  unsigned count = 0;
  for (unsigned r = 0; r < DS_ROWS; r++)
    for (unsigned rtn = ds_rows[r].flags & RTN_ONLY; rtn < 2; rtn++)
      if (ds_rows[r].targets & target) {
        ops[count] = ds_operation(&ds_rows[r], rtn, acc);
        texts[count] = ops[count].text;
        count++;
      }
  isa_prepare(state, target, texts, sizeof *texts, count);
  model_bench_t b = bench_new(state, target);
  for (unsigned i = 0; i < count; i++)
    for (unsigned k = 0; k < MODES * MODEL_MASKS; k++) {
      model_lane_t lane[GS_LANES];
      isa_reset(b.t, 2);
      b.t->env.lds_bytes = 4096 + 4; /* half an item too much */
      for (unsigned l = 0; l < GS_LANES; l++) {
        lane[l] =
            (model_lane_t){SPACE_SHARED, 4096 + 8 - SLOTS * 8 + (uint32_t)(isa_random(&b.seed) % SLOTS) * 8};
        b.t->v[2].u32[l] = lane[l].start - 8;
      }
      gs_set_exec(&b.t->w, model_masks[k % MODEL_MASKS]);
      gs_wave_set_mode(&b.t->w, modes[k / MODEL_MASKS]);
      set_values(&b, &ops[i], lane);
      check(&b, &ops[i], lane);
    }
  bench_free(&b);
}

static void test_ds(void **state) {
  ds_rows_on(state, isa_part(state), false);
}
static void test_ds_accumulation_registers(void **state) {
  ds_rows_on(state, isa_part(state), true);
}

/* Two exchanges in one instruction: both read before both write. Equal offsets are one access. */
static void test_ds_wrxchg2(void **state) {
  static const struct {
    const char *text;
    unsigned bytes, scale;
  } cases[] = {{"ds_wrxchg2_rtn_b32 v[20:21], v2, v10, v14 offset0:1 offset1:3", 4, 4},
               {"ds_wrxchg2st64_rtn_b32 v[20:21], v2, v10, v14 offset0:1 offset1:3", 4, 256},
               {"ds_wrxchg2_rtn_b64 v[20:23], v2, v[10:11], v[14:15] offset0:1 offset1:3", 8, 8},
               {"ds_wrxchg2st64_rtn_b64 v[20:23], v2, v[10:11], v[14:15] offset0:1 offset1:3", 8, 512},
               {"ds_wrxchg2_rtn_b32 v[20:21], v2, v10, v14 offset0:2 offset1:2", 4, 0}};
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
    for (unsigned mask = 0; mask < MODEL_MASKS; mask++) {
      model_bench_t b = bench_new(state, ISA_PART);
      isa_wave_t *t = b.t;
      const uint64_t exec = model_masks[mask];
      const unsigned bytes = cases[c].bytes;
      const bool is_one = !cases[c].scale && t->env.target & GS_GFX9;
      uint64_t old[2][GS_LANES];
      t->env.lds_bytes = 1024;
      gs_set_exec(&t->w, exec);
      bench_sync(&b);
      for (unsigned l = 0; l < GS_LANES; l++) {
        t->v[2].u32[l] = (l * 5 % 16) * 16;
        const model_lane_t at[2] = {
            {SPACE_SHARED, t->v[2].u32[l] + (cases[c].scale ? 1 * cases[c].scale : 8)},
            {SPACE_SHARED, t->v[2].u32[l] + (cases[c].scale ? 3 * cases[c].scale : 8)},
        };
        for (unsigned k = 0; k < 2; k++)
          old[k][l] = model_get(b.model, at[k], l, bytes, 0, bytes);
        for (unsigned k = 0; k < (is_one ? 1 : 2) && gs_bit(exec, l); k++)
          model_put(b.model, at[k], l, bytes, 0, bytes, operand(t, k ? 14 : 10, l, bytes * 8));
      }
      isa_run(t, cases[c].text);
      bench_compare(&b, cases[c].text);
      for (unsigned k = 0; k < 2; k++)
        for (unsigned l = 0; l < GS_LANES; l++)
          if (gs_bit(exec, l))
            assert_true(operand(t, 20 + k * bytes / 4, l, bytes * 8) == old[k][l]);
      isa_assert_lanes_kept(t, 20, 4, exec);
      isa_assert_only_changed(t, "v[20:23] lds");
      bench_free(&b);
    }
}

/* The operand is in LDS too: at a fixed distance, or one that the address has in bits 31:17. */
static void test_ds_src2(void **state) {
  static const struct {
    const char *name;
    unsigned bits;
    model_fn_t *model;
  } cases[] = {
      {"add_src2_u32", 32, m_add},      {"sub_src2_u32", 32, m_sub},      {"rsub_src2_u32", 32, m_rsub},
      {"inc_src2_u32", 32, m_inc},      {"dec_src2_u32", 32, m_dec},      {"min_src2_i32", 32, m_smin},
      {"max_src2_i32", 32, m_smax},     {"min_src2_u32", 32, m_umin},     {"max_src2_u32", 32, m_umax},
      {"and_src2_b32", 32, m_and},      {"or_src2_b32", 32, m_or},        {"xor_src2_b32", 32, m_xor},
      {"write_src2_b32", 32, m_swap},   {"min_src2_f32", 32, m_lds_fmin}, {"max_src2_f32", 32, m_lds_fmax},
      {"add_src2_f32", 32, m_lds_fadd}, {"add_src2_u64", 64, m_add},      {"sub_src2_u64", 64, m_sub},
      {"rsub_src2_u64", 64, m_rsub},    {"inc_src2_u64", 64, m_inc},      {"dec_src2_u64", 64, m_dec},
      {"min_src2_i64", 64, m_smin},     {"max_src2_i64", 64, m_smax},     {"min_src2_u64", 64, m_umin},
      {"max_src2_u64", 64, m_umax},     {"and_src2_b64", 64, m_and},      {"or_src2_b64", 64, m_or},
      {"xor_src2_b64", 64, m_xor},      {"write_src2_b64", 64, m_swap},   {"min_src2_f64", 64, m_lds_fmin},
      {"max_src2_f64", 64, m_lds_fmax},
  };
  for (unsigned c = 0; c < 3 * sizeof cases / sizeof *cases; c++) {
    const unsigned bits = cases[c / 3].bits, how = c % 3;
    static const int distance[] = {512 / 4, -512 / 4, 256 / 4};
    char text[64];
    snprintf(text, sizeof text, "ds_%s v2 offset:%u", cases[c / 3].name,
             how == 2 ? 0x8000u : (unsigned)distance[how] & 0x7fff);
    if (!isa_has(state, ISA_PART, text))
      continue;
    model_bench_t b = bench_new(state, ISA_PART);
    isa_wave_t *t = b.t;
    t->env.lds_bytes = 1024 + 512;
    bench_sync(&b);
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint32_t at = 512 + 8 * (l % 32);
      t->v[2].u32[l] = at | (how == 2 ? (uint32_t)distance[how] << 17 : 0);
      const model_lane_t item = {SPACE_SHARED, at}, from = {SPACE_SHARED, at + 4 * (uint32_t)distance[how]};
      const uint64_t old = model_get(b.model, item, l, bits / 8, 0, bits / 8);
      const uint64_t data = model_get(b.model, from, l, bits / 8, 0, bits / 8);
      model_put(b.model, item, l, bits / 8, 0, bits / 8, cases[c / 3].model(old, data, 0, bits, t->w.mode));
    }
    isa_run(t, text);
    bench_compare(&b, text);
    isa_assert_only_changed(t, "lds");
    bench_free(&b);
  }
}

/* ---- What must fault ---- */

static void test_faults(void **state) {
  static const struct {
    const char *text;
    uint64_t address;
    gs_wave_fault_kind_t kind;
  } cases[] = {
      {"global_atomic_add v[2:3], v10, off", ISA_MEMORY + 2, GS_WAVE_FAULT_APERTURE},
      {"global_atomic_add_x2 v[2:3], v[10:11], off", ISA_MEMORY + 4, GS_WAVE_FAULT_APERTURE},
      {"flat_atomic_cmpswap v[2:3], v[10:11]", ISA_MEMORY + 1, GS_WAVE_FAULT_APERTURE},
      {"flat_atomic_swap_x2 v[20:21], v[2:3], v[10:11] glc", ISA_MEMORY + 12, GS_WAVE_FAULT_APERTURE},
      {"flat_atomic_add v[2:3], v10", (UINT64_C(1) << 48) + 2, GS_WAVE_FAULT_APERTURE},
      {"global_atomic_cmpswap v[2:3], v[10:11], off", ISA_READONLY, GS_WAVE_FAULT_MEMORY},
      {"global_atomic_or_x2 v[2:3], v[10:11], off", ISA_READONLY + 8, GS_WAVE_FAULT_MEMORY},
      {"flat_atomic_umax v20, v[2:3], v10 glc", ISA_MEMORY + ISA_MEMORY_BYTES, GS_WAVE_FAULT_MEMORY},
      {"flat_atomic_inc v[2:3], v10", UINT64_C(5) << 48, GS_WAVE_FAULT_APERTURE},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
    for (unsigned bad = 0; bad < GS_LANES; bad += 21) {
      model_bench_t b = bench_new(state, ISA_PART);
      isa_wave_t *t = b.t;
      for (unsigned l = 0; l < GS_LANES; l++)
        isa_set_u64(&t->v[2], l, ISA_MEMORY + 8 * l);
      isa_set_u64(&t->v[2], bad, cases[c].address);
      isa_set_u64(&t->v[2], bad == 0 ? 63 : 0, cases[c].address);
      gs_set_exec(&t->w, UINT64_MAX - (bad == 0 ? 0 : 1));
      bench_sync(&b);
      assert_int_equal(isa_run(t, cases[c].text), GS_WAVE_FAULTED);
      isa_assert_fault(t, cases[c].kind);
      assert_true(t->w.fault.address == cases[c].address);
      assert_int_equal(t->w.fault.lane, bad);
      assert_int_equal(t->w.fault.access, GS_VM_READ | GS_VM_WRITE);
      bench_compare(&b, cases[c].text);
      isa_assert_only_changed(t, "");
      bench_free(&b);
    }
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned l = 0; l < GS_LANES; l++)
    t->v[2].u32[l] = 8 * l + (l == 9 ? 4 : 0);
  assert_int_equal(isa_run(t, "ds_add_u64 v2, v[10:11]"), GS_WAVE_FAULTED);
  isa_assert_fault(t, GS_WAVE_FAULT_APERTURE);
  assert_int_equal(t->w.fault.lane, 9);
  isa_assert_only_changed(t, "");
  isa_free(t);
}

/* ---- Concurrency ---- */

/* Counters shared by two waves, each run by its own thread, and by a host thread. */
typedef struct shared {
  _Alignas(MODEL_PAGE) uint32_t counter[4];
  uint64_t wide;
  double real;
  uint8_t rest[MODEL_PAGE - 32];
} shared_t;

enum { ROUNDS = 200 };

static void test_concurrent(void **state) {
  static const char text[] = "global_atomic_add v2, v10, s[4:5]\n"
                             "global_atomic_inc v2, v11, s[4:5] offset:4\n"
                             "global_atomic_add_f32 v2, v12, s[4:5] offset:8\n"
                             "global_atomic_add_x2 v2, v[14:15], s[4:5] offset:16\n"
                             "global_atomic_add_f64 v2, v[16:17], s[4:5] offset:24\n";
  shared_t *shared = aligned_alloc(MODEL_PAGE, sizeof *shared);
  assert_non_null(shared);
  memset(shared, 0, sizeof *shared);
  isa_wave_t *t[2];
  pthread_t thread[2];
  model_program_t program[2];
  for (unsigned i = 0; i < 2; i++) {
    t[i] = isa_new(state, GS_GFX90A);
    model_map(t[i], MODEL_PIECES, (uint8_t *)shared, GS_VM_READ | GS_VM_WRITE);
    isa_set_s64(t[i], 4, MODEL_PIECES);
    for (unsigned l = 0; l < GS_LANES; l++) {
      t[i]->v[2].u32[l] = 0;
      t[i]->v[10].u32[l] = l;
      t[i]->v[11].u32[l] = UINT32_MAX;
      t[i]->v[12].f32[l] = 1;
      isa_set_u64(&t[i]->v[14], l, UINT64_C(0x100000001));
      isa_set_u64(&t[i]->v[16], l, UINT64_C(0x3ff0000000000000));
    }
    program[i] = model_decode(state, t[i], text, ROUNDS);
  }
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, model_run, &program[i]), 0);
  for (unsigned i = 0; i < ROUNDS; i++)
    __atomic_fetch_add(&shared->counter[0], 1, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  const unsigned times = 2 * ROUNDS;
  float sum;
  memcpy(&sum, &shared->counter[2], 4);
  assert_int_equal(shared->counter[0], times * (63 * 64 / 2) + ROUNDS);
  assert_int_equal(shared->counter[1], times * 64);
  assert_true(sum == (float)(times * 64));
  assert_true(shared->wide == times * 64 * UINT64_C(0x100000001));
  assert_true(shared->real == times * 64);
  for (unsigned i = 0; i < 2; i++)
    isa_free(t[i]);
  free(shared);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_vmem),
      isa_part_test_on(test_vmem_accumulation_registers, GS_CDNA2_4),
      isa_wide_part_test(test_packed_halves),
      isa_part_test(test_buffer_bounds),
      isa_wide_part_test(test_ds),
      isa_part_test_on(test_ds_accumulation_registers, GS_CDNA2_4),
      isa_wide_part_test(test_ds_wrxchg2),
      isa_wide_part_test(test_ds_src2),
      isa_wide_part_test(test_faults),
      cmocka_unit_test(test_concurrent),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
