/* What floating-point instructions should give: exact arithmetic (MPFR with enough bits that nothing is ever
 * lost), rounded to the format once, in any rounding mode; and a runner that compares instructions with it
 * for many operands, operand kinds, modifiers and MODEs. Not here: which instructions there are (test_vf*.c).
 */
#ifndef TEST_ISA_FLOAT_MODEL_H
#define TEST_ISA_FLOAT_MODEL_H

#include "harness.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Formats ---- */

typedef struct ref_format {
  const char *name;
  unsigned bits, fraction; /* fraction: bits below the exponent */
  int bias;
  mpfr_prec_t exact;                  /* bits that hold any a * b + c */
  unsigned round_shift, denorm_shift; /* of its fields in MODE */
} ref_format_t;

static const ref_format_t ref_f16 = {"f16", 16, 10, 15, 200, GS_MODE_ROUND64_SHIFT, GS_MODE_DENORM64_SHIFT};
static const ref_format_t ref_f32 = {"f32", 32, 23, 127, 800, GS_MODE_ROUND32_SHIFT, GS_MODE_DENORM32_SHIFT};
static const ref_format_t ref_f64 = {
    "f64", 64, 52, 1023, 4500, GS_MODE_ROUND64_SHIFT, GS_MODE_DENORM64_SHIFT};

static inline uint64_t ref_sign(const ref_format_t *f) {
  return UINT64_C(1) << (f->bits - 1);
}
static inline uint64_t ref_infinity(const ref_format_t *f) {
  return (ref_sign(f) - 1) & ~((UINT64_C(1) << f->fraction) - 1);
}
static inline uint64_t ref_quiet(const ref_format_t *f) {
  return UINT64_C(1) << (f->fraction - 1);
}
static inline uint64_t ref_magnitude(const ref_format_t *f, uint64_t x) {
  return x & (ref_sign(f) - 1);
}
static inline bool ref_is_nan(const ref_format_t *f, uint64_t x) {
  return ref_magnitude(f, x) > ref_infinity(f);
}
static inline bool ref_is_signaling(const ref_format_t *f, uint64_t x) {
  return ref_is_nan(f, x) && !(x & ref_quiet(f));
}
static inline bool ref_is_denormal(const ref_format_t *f, uint64_t x) {
  return ref_magnitude(f, x) != 0 && ref_magnitude(f, x) >> f->fraction == 0;
}
static inline uint64_t ref_flush(const ref_format_t *f, uint64_t x) {
  return ref_is_denormal(f, x) ? x & ref_sign(f) : x;
}

/* ---- Between formats and exact numbers ---- */

static inline void ref_set(const ref_format_t *f, mpfr_t to, uint64_t x) {
  const uint64_t m = ref_magnitude(f, x), exponent = m >> f->fraction;
  const int sign = x & ref_sign(f) ? -1 : 1;
  if (ref_is_nan(f, x))
    mpfr_set_nan(to);
  else if (m == ref_infinity(f))
    mpfr_set_inf(to, sign);
  else if (m == 0)
    mpfr_set_zero(to, sign);
  else {
    const uint64_t hidden = exponent ? UINT64_C(1) << f->fraction : 0;
    mpfr_set_uj(to, (m & ((UINT64_C(1) << f->fraction) - 1)) | hidden, MPFR_RNDN);
    mpfr_mul_2si(to, to, (long)(exponent ? exponent : 1) - f->bias - (long)f->fraction, MPFR_RNDN);
    mpfr_setsign(to, to, sign < 0, MPFR_RNDN);
  }
}

/* MODE's rounding field as MPFR's. */
static inline mpfr_rnd_t ref_rounding(unsigned round) {
  static const mpfr_rnd_t modes[4] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};
  return modes[round & 3];
}

/* Beside a rounding: what is too small for a normal number after rounding to as many bits is zero. */
enum { REF_FLUSH = 4 };

/* The exact number x in format f. */
static inline uint64_t ref_round(const ref_format_t *f, mpfr_t x, unsigned how) {
  const unsigned round = how & 3;
  const uint64_t sign = mpfr_signbit(x) ? ref_sign(f) : 0;
  if (mpfr_nan_p(x))
    return ref_infinity(f) | ref_quiet(f);
  if (mpfr_inf_p(x))
    return sign | ref_infinity(f);
  if (mpfr_zero_p(x))
    return sign;
  const long least = 1 - f->bias - (long)f->fraction; /* exponent of the least denormal */
  long place = (long)mpfr_get_exp(x) - (long)f->fraction - 1;
  place = place < least && !(how & REF_FLUSH) ? least : place;
  mpfr_t units;
  mpfr_init2(units, mpfr_get_prec(x));
  mpfr_mul_2si(units, x, -place, MPFR_RNDN);
  mpfr_rint(units, units, ref_rounding(round));
  uint64_t n = mpfr_zero_p(units) ? 0 : mpfr_get_uj((mpfr_abs(units, units, MPFR_RNDN), units), MPFR_RNDN);
  mpfr_clear(units);
  if (n >> (f->fraction + 1)) {
    n >>= 1;
    place++;
  }
  if (place < least)
    return sign;
  if (n >> f->fraction == 0)
    return sign | n;
  const uint64_t exponent = (uint64_t)(place - least + 1);
  if (exponent >= ref_infinity(f) >> f->fraction) {
    const bool largest = round == 3 || round == (sign ? 1u : 2u);
    return sign | (ref_infinity(f) - largest);
  }
  return sign | exponent << f->fraction | (n & ((UINT64_C(1) << f->fraction) - 1));
}

/* ---- Operations ---- */

typedef enum ref_op {
  REF_ADD,
  REF_SUB,
  REF_SUBREV,
  REF_MUL,
  REF_MUL_LEGACY,
  REF_FMA,
  REF_MAD,
  REF_MAD_LEGACY,
  REF_MIN,
  REF_MAX,
  REF_MIN3,
  REF_MAX3,
  REF_MED3,
  REF_TRUNC,
  REF_CEIL,
  REF_FLOOR,
  REF_RNDNE,
  REF_FRACT,
  REF_LDEXP,
  REF_FREXP_MANT,
} ref_op_t;

/* Bits by which numbers can be compared as integers, -0 below +0. */
static inline int64_t ref_key(const ref_format_t *f, uint64_t x) {
  return x & ref_sign(f) ? -(int64_t)ref_magnitude(f, x) - 1 : (int64_t)ref_magnitude(f, x);
}

/* Beside the bits of MODE: of two NaNs the first is taken, not the second. */
enum { REF_FIRST_NAN = 1 << 30 };
static inline uint32_t ref_mode(const isa_wave_t *t, uint32_t mode) {
  return mode | (t->env.target & GS_GFX11 ? REF_FIRST_NAN : 0);
}

static inline uint64_t ref_min_max(const ref_format_t *f, bool max, uint64_t a, uint64_t b, uint32_t mode) {
  const bool ieee = mode & GS_MODE_IEEE;
  if (ieee && ref_is_signaling(f, a))
    return a | ref_quiet(f);
  if (ieee && ref_is_signaling(f, b))
    return b | ref_quiet(f);
  if (ref_is_nan(f, a) && !(ref_is_nan(f, b) && mode & REF_FIRST_NAN))
    return b;
  if (ref_is_nan(f, b))
    return a;
  return (ref_key(f, a) < ref_key(f, b)) != max ? a : b;
}

/* Whether `got` is what an operation makes of NaNs: without the IEEE bit the first of its operands is as it
 * was if it is signaling, unless there is a new NaN for a product of zero and infinity; else it is quiet,
 * with any payload. */
static inline bool ref_is_nan_of(const ref_format_t *f, uint64_t got, const uint64_t *s, unsigned count,
                                 uint32_t mode) {
  unsigned first = 0;
  while (first < count && !ref_is_nan(f, s[first]))
    first++;
  if (first < count && ref_is_signaling(f, s[first]) && !(mode & GS_MODE_IEEE))
    return got == s[first] || got == (ref_sign(f) | ref_infinity(f) | ref_quiet(f));
  return ref_is_nan(f, got) && !ref_is_signaling(f, got);
}

/* Whether two numbers compare equal: zeroes do. */
static inline bool ref_equal(const ref_format_t *f, uint64_t a, uint64_t b) {
  return a == b || (ref_magnitude(f, a) | ref_magnitude(f, b)) == 0;
}

/* The median, with zeroes in order, too. */
static inline uint64_t ref_min_max_3(const ref_format_t *f, ref_op_t op, const uint64_t s[3], uint32_t mode) {
  const uint64_t least = ref_min_max(f, false, ref_min_max(f, false, s[0], s[1], mode), s[2], mode);
  const uint64_t most = ref_min_max(f, true, ref_min_max(f, true, s[0], s[1], mode), s[2], mode);
  if (op == REF_MIN3 ||
      (op == REF_MED3 && (ref_is_nan(f, s[0]) || ref_is_nan(f, s[1]) || ref_is_nan(f, s[2]))))
    return least;
  if (op == REF_MAX3)
    return most;
  return s[0] ^ s[1] ^ s[2] ^ least ^ most;
}

/* How MODE rounds. Where it flushes results, what is too small is what was so after rounding to all bits. */
static inline unsigned ref_how(const ref_format_t *f, uint32_t mode) {
  return (mode >> f->round_shift & 3) | (!(mode >> f->denorm_shift & 2) ? REF_FLUSH : 0);
}

/* FP16_OVFL: a half that overflows from finite operands is the largest one. */
static inline uint64_t ref_saturate(const ref_format_t *f, uint64_t r, const uint64_t *s, unsigned count,
                                    uint32_t mode) {
  if (f->bits != 16 || !(mode & GS_MODE_FP16_OVFL) || ref_magnitude(f, r) != ref_infinity(f))
    return r;
  for (unsigned i = 0; i < count; i++)
    if (ref_magnitude(f, s[i]) >= ref_infinity(f))
      return r;
  return r - 1;
}

/* a * b + c in two roundings without denormals. */
static inline uint64_t ref_mad(const ref_format_t *f, const uint64_t s[3], bool legacy, uint32_t mode) {
  const unsigned round = ref_how(f, mode);
  const uint64_t a = ref_flush(f, s[0]), b = ref_flush(f, s[1]), c = ref_flush(f, s[2]);
  uint64_t product = 0;
  mpfr_t x, y;
  mpfr_inits2(f->exact, x, y, (mpfr_ptr)NULL);
  if (!legacy || (ref_magnitude(f, a) != 0 && ref_magnitude(f, b) != 0)) {
    ref_set(f, x, a);
    ref_set(f, y, b);
    mpfr_mul(x, x, y, MPFR_RNDN);
    product = ref_saturate(f, ref_flush(f, ref_round(f, x, round)), s, 2, mode);
  }
  ref_set(f, x, product);
  ref_set(f, y, c);
  mpfr_add(x, x, y, ref_rounding(round));
  const uint64_t r = ref_flush(f, ref_round(f, x, round));
  mpfr_clears(x, y, (mpfr_ptr)NULL);
  return r;
}

/* Operations with one exact result; s[1] of LDEXP is an integer; `round` may have REF_FLUSH. */
static inline uint64_t ref_exact(const ref_format_t *f, ref_op_t op, const uint64_t s[3], unsigned round) {
  const mpfr_rnd_t rnd = ref_rounding(round); /* decides the sign of exact zeroes only */
  mpfr_t a, b, c;
  mpfr_inits2(f->exact, a, b, c, (mpfr_ptr)NULL);
  ref_set(f, a, s[0]);
  ref_set(f, b, s[1]);
  ref_set(f, c, s[2]);
  switch (op) {
  case REF_ADD: mpfr_add(a, a, b, rnd); break;
  case REF_SUB: mpfr_sub(a, a, b, rnd); break;
  case REF_SUBREV: mpfr_sub(a, b, a, rnd); break;
  case REF_MUL_LEGACY:
    if (mpfr_zero_p(a) || mpfr_zero_p(b))
      mpfr_set_zero(a, 1);
    else
      mpfr_mul(a, a, b, rnd);
    break;
  case REF_MUL: mpfr_mul(a, a, b, rnd); break;
  case REF_FMA: mpfr_fma(a, a, b, c, rnd); break;
  case REF_TRUNC: mpfr_trunc(a, a); break;
  case REF_CEIL: mpfr_ceil(a, a); break;
  case REF_FLOOR: mpfr_floor(a, a); break;
  case REF_RNDNE: mpfr_rint(a, a, MPFR_RNDN); break;
  case REF_FRACT:
    mpfr_floor(b, a);
    mpfr_sub(a, a, b, rnd);
    break;
  case REF_LDEXP: mpfr_mul_2si(a, a, (long)(int32_t)(uint32_t)s[1], rnd); break;
  case REF_FREXP_MANT:
    if (mpfr_regular_p(a))
      mpfr_set_exp(a, 0);
    break;
  default: fail_msg("no such operation");
  }
  uint64_t r = ref_round(f, a, round);
  if (op == REF_FRACT && r == (uint64_t)f->bias << f->fraction) /* stays below 1 */
    r = ((uint64_t)f->bias << f->fraction) - 1;
  if (op == REF_FRACT && ref_magnitude(f, r) == 0) /* rounded down, too */
    r = 0;
  mpfr_clears(a, b, c, (mpfr_ptr)NULL);
  return r;
}

/* ---- Instructions ---- */

typedef struct ref_modifiers {
  unsigned omod;
  bool clamp;
} ref_modifiers_t;

/* omod and clamp. omod does nothing if the IEEE bit is set or denormal results are kept; else it loses the
 * sign of zeroes, but not that of results that it makes too small, and leaves infinities and NaNs alone. */
static inline uint64_t ref_modify(const ref_format_t *f, uint64_t r, ref_modifiers_t m, uint32_t mode) {
  static const int powers[4] = {0, 1, 2, -1};
  const bool omod = m.omod && !(mode & GS_MODE_IEEE) && !(mode >> f->denorm_shift & 2);
  if (omod && ref_magnitude(f, ref_flush(f, r)) == 0) {
    r = 0;
  } else if (omod && ref_magnitude(f, r) < ref_infinity(f)) {
    mpfr_t x;
    mpfr_init2(x, f->exact);
    ref_set(f, x, r);
    mpfr_mul_2si(x, x, powers[m.omod], MPFR_RNDN);
    const uint64_t scaled = ref_flush(f, ref_round(f, x, mode >> f->round_shift & 3));
    mpfr_clear(x);
    r = f->bits == 16 && mode & GS_MODE_FP16_OVFL && ref_magnitude(f, scaled) == ref_infinity(f) ? scaled - 1
                                                                                                 : scaled;
  }
  if (!m.clamp)
    return r;
  const uint64_t one = (uint64_t)f->bias << f->fraction;
  if (ref_is_nan(f, r))
    return mode & GS_MODE_DX10_CLAMP ? 0 : r;
  return r & ref_sign(f) ? 0 : r > one ? one : r;
}

/* The result of an instruction for operands that neg and abs were applied to. */
static inline uint64_t ref_instruction(const ref_format_t *f, ref_op_t op, const uint64_t sources[3],
                                       ref_modifiers_t m, uint32_t mode) {
  const unsigned denorm = mode >> f->denorm_shift & 3;
  uint64_t s[3];
  for (unsigned i = 0; i < 3; i++)
    s[i] = denorm & 1 || (op == REF_LDEXP && i == 1) ? sources[i] : ref_flush(f, sources[i]);
  uint64_t r;
  if (op == REF_MIN || op == REF_MAX)
    r = ref_min_max(f, op == REF_MAX, s[0], s[1], mode);
  else if (op == REF_MIN3 || op == REF_MAX3 || op == REF_MED3)
    r = ref_min_max_3(f, op, s, mode);
  else if (op == REF_MAD || op == REF_MAD_LEGACY)
    r = ref_mad(f, s, op == REF_MAD_LEGACY, mode);
  else
    r = ref_exact(f, op, s, ref_how(f, mode));
  if (op < REF_MIN || op > REF_MED3)
    r = ref_saturate(f, r, s, op == REF_LDEXP ? 1 : 3, mode);
  return ref_modify(f, denorm & 2 ? r : ref_flush(f, r), m, mode);
}

/* ---- Running instructions ---- */

typedef struct float_row {
  const char *name;
  ref_op_t op;
  unsigned sources;
  unsigned flags;
} float_row_t;

enum {
  ROW_ACC = 1,       /* the last source is the destination's old value */
  ROW_VOP3_ONLY = 2, /* no _e32 form */
  ROW_ZERO_HIGH = 4, /* f16: the high half becomes zero; otherwise it stays */
};

/* How operands are written. The first `text0` replaces source 0 and means the value `value` (a constant, or
 * what is in the scalar register), for each format. */
typedef struct float_form {
  const char *suffix;  /* of the mnemonic */
  const char *text0;   /* or NULL */
  uint64_t value[3];   /* f16, f32, f64; SGPRs: unused */
  bool scalar;         /* text0 is s12, or s[12:13] */
  const char *mods[3]; /* "", "-", "|", "-|" */
  const char *end;     /* output modifiers */
  ref_modifiers_t out;
} float_form_t;

#define CONST_FORM(suffix, text, f16, f32, f64)                                                              \
  {                                                                                                          \
    suffix, text, {f16, f32, UINT64_C(f64)}, false, {"", "", ""}, "", {                                      \
      0, false                                                                                               \
    }                                                                                                        \
  }
static const float_form_t float_forms[] = {
    {"_e64", NULL, {0}, false, {"", "", ""}, "", {0, false}},
    {"_e32", NULL, {0}, false, {"", "", ""}, "", {0, false}},
    {"_e64", NULL, {0}, false, {"-", "|", "-|"}, "", {0, false}},
    {"_e64", NULL, {0}, false, {"-|", "-", "|"}, " clamp", {0, true}},
    {"_e64", NULL, {0}, false, {"", "", ""}, " mul:2", {1, false}},
    {"_e64", NULL, {0}, false, {"|", "", "-"}, " mul:4", {2, false}},
    {"_e64", NULL, {0}, false, {"", "", ""}, " clamp div:2", {3, true}},
    {"_e64", "s12", {0}, true, {"-", "", ""}, "", {0, false}},
    {"_e32", "s12", {0}, true, {"", "", ""}, "", {0, false}},
    CONST_FORM("_e64", "0.5", 0x3800, 0x3f000000, 0x3fe0000000000000),
    CONST_FORM("_e32", "-4.0", 0xc400, 0xc0800000, 0xc010000000000000),
    CONST_FORM("_e32", "0x4248", 0x4248, 0x00004248, 0x0000424800000000), /* doubles: the high half */
    CONST_FORM("_e64", "0.15915494309189532", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882),
};
enum { FLOAT_FORMS = sizeof float_forms / sizeof float_forms[0] };

/* MODE without its other fields: rounding (low), denormals. The second value is the first for f64 and f16. */
static const uint32_t float_modes[] = {
    0x3f0, /* the default: to nearest, denormals, DX10_CLAMP, IEEE */
    0x3f5,
    0x3fa,
    0x3ff, /* up, down, to zero */
    0x3a0,
    0x350,
    0x300, /* outputs only, inputs only, no denormals */
    0x100,
    0x000,
    0x0f0,
    0x10f, /* without IEEE (omod works where denormals are flushed), without DX10_CLAMP */
    0x800000 | 0x3f0,
    0x800000 | 0x100, /* FP16_OVFL */
    0x3f9,
    0x3c6,
    0x330, /* f32 in another way than f64 and f16 */
};
enum { FLOAT_MODES = sizeof float_modes / sizeof float_modes[0] };

static inline unsigned format_index(const ref_format_t *f) {
  return f->bits == 16 ? 0 : f->bits == 32 ? 1 : 2;
}

/* Operand `i`: v10, v11, v12 or pairs from v10 up; the result is in v2. */
static inline unsigned source_register(const ref_format_t *f, unsigned i) {
  return 10 + i * (f->bits == 64 ? 2 : 1);
}
static inline uint64_t get_value(const ref_format_t *f, const gs_row_t *row, unsigned l) {
  return f->bits == 64 ? isa_u64(row, l) : f->bits == 32 ? row->u32[l] : row->u32[l] & 0xffff;
}
static inline void set_value(const ref_format_t *f, gs_row_t *row, unsigned l, uint64_t value) {
  if (f->bits == 64)
    isa_set_u64(row, l, value);
  else
    row->u32[l] = (uint32_t)value; /* halves come with rubbish above */
}

static inline bool has_form(const ref_format_t *f, const float_row_t *row, const float_form_t *form) {
  const bool e32 = strcmp(form->suffix, "_e32") == 0;
  if (e32 && row->flags & ROW_VOP3_ONLY)
    return false;
  if (!e32 && f->bits == 64 && form->text0 && strncmp(form->text0, "0x", 2) == 0)
    return false;
  return true;
}

static inline void instruction_text(const ref_format_t *f, const float_row_t *row, const float_form_t *form,
                                    char *text, size_t size) {
  size_t n =
      (size_t)snprintf(text, size, "%s%s %s", row->name, row->flags & ROW_VOP3_ONLY ? "" : form->suffix,
                       f->bits == 64 ? "v[2:3]" : "v2");
  for (unsigned i = 0; i < row->sources - !!(row->flags & ROW_ACC); i++) {
    const char *mods = row->op == REF_LDEXP && i == 1 ? "" : form->mods[i];
    const unsigned reg = source_register(f, i);
    char operand[32];
    if (i == 0 && form->text0 && !(form->scalar && f->bits == 64))
      snprintf(operand, sizeof operand, "%s", form->text0);
    else if (i == 0 && form->scalar)
      snprintf(operand, sizeof operand, "s[12:13]");
    else if (f->bits == 64 && !(row->op == REF_LDEXP && i == 1))
      snprintf(operand, sizeof operand, "v[%u:%u]", reg, reg + 1);
    else
      snprintf(operand, sizeof operand, "v%u", reg);
    const char *bar = strchr(mods, '|') ? "|" : "";
    n += (size_t)snprintf(text + n, size - n, ", %s%s%s%s", mods[0] == '-' ? "-" : "", bar, operand, bar);
  }
  snprintf(text + n, size - n, "%s", form->end);
}

static inline uint64_t with_mods(const ref_format_t *f, const char *mods, uint64_t x) {
  if (strchr(mods, '|'))
    x &= ref_sign(f) - 1;
  return mods[0] == '-' ? x ^ ref_sign(f) : x;
}

/* Operands of a run: pairs of edge values first, then edges and random numbers mixed. */
static inline void fill_operands(isa_wave_t *t, const ref_format_t *f, const float_row_t *row, unsigned run,
                                 const void *edges, size_t count, uint64_t *seed) {
  for (unsigned l = 0; l < GS_LANES; l++) {
    const size_t pair = (size_t)run * GS_LANES + l;
    for (unsigned i = 0; i < 3; i++) {
      const uint64_t r = isa_random(seed), near = isa_random(seed);
      size_t index = (size_t)(r % count);
      if (pair < count * count && i < 2)
        index = i == 0 ? pair % count : pair / count;
      uint64_t x = f->bits == 64 ? ((const uint64_t *)edges)[index] : ((const uint32_t *)edges)[index];
      if ((pair >= count * count || i == 2) && r >> 62 == 0)
        x = near;
      else if ((pair >= count * count || i == 2) && r >> 62 == 1) /* around 1 */
        x = (near & ~ref_infinity(f)) | ((uint64_t)f->bias - 4 + (r >> 32 & 7)) << f->fraction;
      if (row->op == REF_LDEXP && i == 1) {
        static const uint32_t steps[] = {0,          1,          0xffffffff, 24,         0xffffffe8,
                                         126,        0xffffff82, 1000,       0xfffffc18, 2100,
                                         0xfffff7cc, 0x7fffffff, 0x80000000};
        const uint32_t step = (uint32_t)(near % 300) - 150u;
        x = r & 256 ? step : steps[r % (sizeof steps / sizeof steps[0])];
        if (f->bits == 16) /* only 16 bits of it count */
          x = (uint64_t)(int16_t)x & UINT32_MAX;
        t->v[source_register(f, 1)].u32[l] = (uint32_t)x;
      } else if (row->flags & ROW_ACC && i == row->sources - 1)
        set_value(f, &t->v[2], l, x);
      else
        set_value(f, &t->v[source_register(f, i)], l, x);
    }
  }
}

/* One run's comparison. */
static inline void check_run(const isa_wave_t *t, const ref_format_t *f, const float_row_t *row,
                             const float_form_t *form, const char *text, uint32_t mode) {
  const uint64_t exec = t->before.w.s.u64[GS_S_EXEC / 2];
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (!(exec >> l & 1))
      continue;
    uint64_t s[3] = {0, 0, 0};
    for (unsigned i = 0; i < row->sources; i++) {
      if (row->flags & ROW_ACC && i == row->sources - 1) {
        s[i] = get_value(f, &t->before.v[2], l);
        continue;
      }
      if (row->op == REF_LDEXP && i == 1) {
        s[i] = t->before.v[source_register(f, 1)].u32[l];
        continue;
      }
      if (i == 0 && form->scalar)
        s[i] = f->bits == 64 ? isa_s64(t, 12) : f->bits == 32 ? t->w.s.u32[12] : t->w.s.u32[12] & 0xffff;
      else
        s[i] = i == 0 && form->text0 ? form->value[format_index(f)]
                                     : get_value(f, &t->before.v[source_register(f, i)], l);
      s[i] = with_mods(f, form->mods[i], s[i]);
    }
    const uint64_t want = ref_instruction(f, row->op, s, form->out, ref_mode(t, mode)),
                   got = get_value(f, &t->v[2], l);
    const bool choice = row->op >= REF_MIN && row->op <= REF_MED3;
    /* Without a product, NaNs of its factors do not count. */
    const bool no_product = row->op == REF_MAD_LEGACY && (ref_magnitude(f, ref_flush(f, s[0])) == 0 ||
                                                          ref_magnitude(f, ref_flush(f, s[1])) == 0);
    const uint64_t *const first = no_product ? &s[2] : s;
    const unsigned floats = row->op == REF_LDEXP || no_product ? 1 : row->sources;
    const bool same =
        ref_is_nan(f, want) && !choice ? ref_is_nan_of(f, got, first, floats, mode) : got == want;
    if (!same)
      fail_msg("%s (mode %x, lane %u): %llx %llx %llx -> %llx, want %llx", text, mode, l,
               (unsigned long long)s[0], (unsigned long long)s[1], (unsigned long long)s[2],
               (unsigned long long)got, (unsigned long long)want);
    if (f->bits == 16)
      assert_int_equal(t->v[2].u32[l] >> 16, row->flags & ROW_ZERO_HIGH ? 0 : t->before.v[2].u32[l] >> 16);
  }
  isa_assert_lanes_kept(t, 2, f->bits == 64 ? 2 : 1, exec);
  isa_assert_only_changed(t, f->bits == 64 ? "v[2:3]" : "v2");
}

/* Every row that the part has, in every form and MODE. */
static inline void run_float_rows(void **state, const ref_format_t *f, const float_row_t *rows, size_t count,
                                  const void *edges, size_t edge_count) {
  enum { TEXT = 96 };
  static const uint64_t execs[] = {UINT64_MAX, UINT64_C(0x00000000ffffffff), UINT64_C(0xa5a5a5a5deadbeef), 0,
                                   1};
  char(*texts)[TEXT] = calloc(count * FLOAT_FORMS, TEXT);
  const char **list = calloc(count * FLOAT_FORMS, sizeof *list);
  size_t n = 0;
  assert_true(texts && list);
  for (size_t i = 0; i < count * FLOAT_FORMS; i++) {
    const float_form_t *form = &float_forms[i % FLOAT_FORMS];
    if (!has_form(f, &rows[i / FLOAT_FORMS], form))
      continue;
    instruction_text(f, &rows[i / FLOAT_FORMS], form, texts[i], TEXT);
    if (isa_has(state, ISA_PART, texts[i]))
      list[n++] = texts[i];
    else
      texts[i][0] = '\0';
  }
  isa_prepare(state, ISA_PART, list, sizeof *list, n);
  free(list);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  uint64_t seed = 20;
  for (size_t r = 0; r < count; r++)
    for (unsigned i = 0; i < FLOAT_FORMS; i++) {
      const char *text = texts[r * FLOAT_FORMS + i];
      if (text[0] == '\0')
        continue;
      for (unsigned m = 0; m < FLOAT_MODES; m++) {
        const unsigned all = (unsigned)((edge_count * edge_count + GS_LANES - 1) / GS_LANES) + 4;
        const unsigned runs = i == 0 && m == 0 ? all : i == 0 ? 6 : 2;
        for (unsigned run = 0; run < runs; run++) {
          const unsigned start = i == 0 && m == 0 ? run : (unsigned)(isa_random(&seed) % all);
          fill_operands(t, f, &rows[r], start, edges, edge_count, &seed);
          isa_set_s64(t, 12,
                      f->bits == 64 ? ((const uint64_t *)edges)[isa_random(&seed) % edge_count]
                                    : ((const uint32_t *)edges)[isa_random(&seed) % edge_count]);
          isa_set_s64(t, GS_S_EXEC, i == 0 && m == 0 ? UINT64_MAX : execs[isa_random(&seed) % 5]);
          gs_wave_set_mode(&t->w, float_modes[m]);
          assert_int_equal(isa_run(t, text), GS_WAVE_RUNNING);
          check_run(t, f, &rows[r], &float_forms[i], text, float_modes[m]);
        }
      }
    }
  isa_free(t);
  free(texts);
}

#endif
