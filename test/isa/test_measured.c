/* What cards were measured to give, as AMD published it with its emulator (rocm-systems, emulation/rocjitsu,
 * MIT licence): reciprocals, roots, exponentials, logarithms, sines and cosines, dot products and matrices of
 * gfx11, output modifiers, and NaNs of products. Not here: what texts say. */
#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/approx.h"
#include "isa/half.h"
#include "measured_dot2.h"

enum { TEXT = 160 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static unsigned lanes_of(const isa_wave_t *t) {
  return gs_target_lanes(t->env.target);
}

/* ---- Functions ---- */

typedef struct pair {
  uint32_t x, y;
} pair_t;

static const pair_t rcp_pairs[] = {
    {0x3f800000, 0x3f800000}, {0x3f800001, 0x3f7ffffe}, {0x3f81ffff, 0x3f7c0fc3}, {0x3f820000, 0x3f7c0fc1},
    {0x3f83ffff, 0x3f783e12}, {0x3f840000, 0x3f783e10}, {0x3fc00000, 0x3f2aaaaa}, {0x3fffffff, 0x3f000001},
    {0x3f802922, 0x3f7fadd6}, {0x3f932edd, 0x3f5ea262}, {0x3fb0333c, 0x3f39f868}, {0x3ffff486, 0x3f0005be},
    {0x00800000, 0x7e800000}, {0x7f000000, 0x00000000}, {0x00000001, 0x7f800000}, {0x7fa12345, 0x7fe12345},
    {0xbfc00000, 0xbf2aaaaa}, {0x80000001, 0xff800000}, {0xff000000, 0x80000000}, {0xffa12345, 0xffe12345},
};
static const pair_t rsq_pairs[] = {
    {0x3f800000, 0x3f800000}, {0x3f800001, 0x3f7fffff}, {0x3f83ffff, 0x3f7c1765}, {0x3f840000, 0x3f7c1764},
    {0x3f8040c4, 0x3f7fbf55}, {0x3f80cab3, 0x3f7f363d}, {0x3fbfffff, 0x3f5105ec}, {0x3fc00000, 0x3f5105ec},
    {0x3fffffff, 0x3f3504f3}, {0x40000000, 0x3f3504f3}, {0x40000001, 0x3f3504f2}, {0x4003ffff, 0x3f32416a},
    {0x40040000, 0x3f32416a}, {0x403fffff, 0x3f13cd3b}, {0x40400000, 0x3f13cd3a}, {0x407fffff, 0x3f000000},
    {0x00000000, 0x7f800000}, {0x80000000, 0xff800000}, {0x00000001, 0x7f800000}, {0x80000001, 0xff800000},
    {0xbf800000, 0xffc00000}, {0xff800000, 0xffc00000}, {0x7f800000, 0x00000000}, {0x7fa12345, 0x7fe12345},
    {0xffa12345, 0xffe12345},
};
static const pair_t sqrt_pairs[] = {
    {0x3f7a2707, 0x3f7d0f30}, {0x3f800001, 0x3f800000}, {0x3f800005, 0x3f800002}, {0x3f80005f, 0x3f800030},
    {0x3f8015ee, 0x3f800af7}, {0x4005a8f7, 0x3fb8fa71}, {0x3f823902, 0x3f811b48}, {0x4006e699, 0x3fb9d5ba},
    {0x3f8339a8, 0x3f819a42}, {0x400659f1, 0x3fb974bf}, {0x00800001, 0x20000000}, {0x00ffffff, 0x203504f3},
    {0x01000001, 0x203504f4}, {0x3fffffff, 0x3fb504f3}, {0x407fffff, 0x3fffffff}, {0x7e800001, 0x5f000000},
    {0x7f7fffff, 0x5f7fffff}, {0x00000000, 0x00000000}, {0x80000000, 0x80000000}, {0x00000001, 0x00000000},
    {0x80000001, 0x80000000}, {0xbf800000, 0xffc00000}, {0xff800000, 0xffc00000}, {0x7f800000, 0x7f800000},
    {0x7fa12345, 0x7fe12345}, {0xffa12345, 0xffe12345},
};
static const pair_t exp_pairs[] = {
    {0x337fffff, 0x3f800000}, {0x33800000, 0x3f800000}, {0x33800001, 0x3f800000}, {0xb37fffff, 0x3f800000},
    {0xb3800000, 0x3f7fffff}, {0xb3800001, 0x3f7fffff}, {0x42ffffff, 0x7f7fffa7}, {0x43000000, 0x7f800000},
    {0xc2fc0000, 0x00800000}, {0xc2fc0001, 0x00000000}, {0x3f0567ec, 0x3fb7b03d}, {0xc114ed44, 0x3acecc1e},
    {0x35500000, 0x3f800004}, {0x3e000090, 0x3f8b95d0}, {0x3e80001e, 0x3f9837f6}, {0x3ec0001a, 0x3fa5fedc},
    {0x3f000013, 0x3fb504fc}, {0x3f20002a, 0x3fc56740}, {0x3f40006f, 0x3fd7453e}, {0x3f600022, 0x3feac0dc},
    {0xff800000, 0x00000000}, {0x7f800000, 0x7f800000}, {0x80000001, 0x3f800000}, {0x7f812345, 0x7fc12345},
};
static const pair_t log_pairs[] = {
    {0x3f000000, 0xbf800000}, {0x3f7bffff, 0xbcba1fa3}, {0x3f7c0000, 0xbcba1f74}, {0x3f7c0001, 0xbcba1f46},
    {0x3f7dffec, 0xbc396b23}, {0x3f7dffff, 0xbc39643a}, {0x3f7e0000, 0xbc3963dd}, {0x3f7e0001, 0xbc396380},
    {0x3f7ff5cb, 0xb96ba0e4}, {0x3f7ffffd, 0xb48a7fae}, {0x3f7ffffe, 0xb438aa3c}, {0x3f7fffff, 0xb3b8aa3c},
    {0x3f800000, 0x00000000}, {0x3f800001, 0x3438aa3b}, {0x3f800005, 0x3566d4c6}, {0x3f800006, 0x358a7faa},
    {0x3f800043, 0x37415204}, {0x3f800c30, 0x3a0ca2fa}, {0x3f80ffff, 0x3c37f1ce}, {0x3f810000, 0x3c37f286},
    {0x3f810001, 0x3c37f33d}, {0x3f81ffff, 0x3cb73c5a}, {0x3f820000, 0x3cb73cb4}, {0x3f820001, 0x3cb73d0f},
    {0x3f835d48, 0x3d19508b}, {0x3f83ffff, 0x3d35d66f}, {0x3f840000, 0x3d35d69c}, {0x3f85ffff, 0x3d8759af},
    {0x3f860000, 0x3d8759c5}, {0x3f860001, 0x3d8759db}, {0x3fffffff, 0x3f7fffff}, {0x3f174424, 0xbf425164},
    {0xbf800000, 0xffc00000}, {0xff800000, 0xffc00000}, {0x80000001, 0xff800000}, {0xff812345, 0xffc12345},
};
static const pair_t sin_pairs[] = {
    {0x3aab9885, 0x3c06c500}, {0x3b8419b1, 0x3ccf7b0d}, {0x3bcf188b, 0x3d229c2d}, {0x3c98be2d, 0x3def6125},
    {0x3d2001fb, 0x3e78d2d0}, {0x3d6002f3, 0x3eac7f01}, {0x3dc084ad, 0x3f0e9072}, {0x3df0010d, 0x3f2bebe5},
    {0x3e7f2800, 0x3f7fff1f}, {0x3e7ff600, 0x3f7fffff}, {0x3e7fff08, 0x3f800000}, {0x3e7ffff1, 0x3f800000},
    {0x3e7ffa50, 0x3f800000}, {0x3efffd28, 0x390ef149}, {0x3f3ffe94, 0xbf800000}, {0x3f7ffe94, 0xb90ef149},
    {0x80000001, 0x80000006}, {0x007fffff, 0x01c90fd3}, {0x00800000, 0x01c90fd5}, {0x39bfffff, 0x3b16cbdf},
    {0x39c00000, 0x3b16cbdf}, {0x39ffffff, 0x3b490fbe}, {0x3a000000, 0x3b490fcb}, {0x3e000000, 0x3f3504f4},
    {0x3e7fffff, 0x3f800000}, {0x3e800000, 0x3f800000}, {0x3f000000, 0x00000000}, {0x3f800000, 0x00000000},
    {0x7f7fffff, 0x00000000}, {0xff7fffff, 0x00000000}, {0x7f800000, 0xffc00000}, {0xff812345, 0xffc12345},
};
static const pair_t cos_pairs[] = {
    {0x3aab9885, 0x3f7ffdc8}, {0x3b8419b1, 0x3f7feaf9}, {0x3bcf188b, 0x3f7fcc55}, {0x3c98be2d, 0x3f7e3ec8},
    {0x3d2001fb, 0x3f7853c7}, {0x3d6002f3, 0x3f7108a3}, {0x3dc084ad, 0x3f54a13b}, {0x3df0010d, 0x3f3dae6b},
    {0x3e7f2800, 0x3ba9a533}, {0x3e7ff600, 0x397b53d7}, {0x3e7fff08, 0x37c2c761}, {0x3e7ffff1, 0x35bc7ee2},
    {0x3e7ffa50, 0x390ef149}, {0x3efffd28, 0xbf800000}, {0x3f3ffe94, 0xb90ef149}, {0x3f7ffe94, 0x3f800000},
    {0x80000001, 0x3f800000}, {0x39bfffff, 0x3f7fffd3}, {0x39ffffff, 0x3f7fffb1}, {0x3e000000, 0x3f3504f3},
    {0x3e7fffff, 0x33c90fd9}, {0x3e800000, 0x00000000}, {0x3f000000, 0xbf800000}, {0x3f800000, 0x3f800000},
    {0x7f7fffff, 0x3f800000}, {0x7f800000, 0xffc00000}, {0xff812345, 0xffc12345},
};

typedef struct function {
  const char *name;
  const pair_t *pairs;
  size_t count;
} function_t;
static const function_t functions[] = {
    {"v_rcp_f32", rcp_pairs, COUNT(rcp_pairs)}, {"v_rcp_iflag_f32", rcp_pairs, COUNT(rcp_pairs)},
    {"v_rsq_f32", rsq_pairs, COUNT(rsq_pairs)}, {"v_sqrt_f32", sqrt_pairs, COUNT(sqrt_pairs)},
    {"v_exp_f32", exp_pairs, COUNT(exp_pairs)}, {"v_log_f32", log_pairs, COUNT(log_pairs)},
    {"v_sin_f32", sin_pairs, COUNT(sin_pairs)}, {"v_cos_f32", cos_pairs, COUNT(cos_pairs)},
};

static void check_function(isa_wave_t *t, const function_t *f) {
  char text[TEXT];
  (void)snprintf(text, sizeof text, "%s_e32 v2, v1", f->name);
  for (size_t first = 0; first < f->count; first += lanes_of(t)) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      t->v[1].u32[l] = f->pairs[(first + l) % f->count].x;
    (void)isa_run(t, text);
    for (unsigned l = 0; l < lanes_of(t); l++) {
      const pair_t p = f->pairs[(first + l) % f->count];
      if (t->v[2].u32[l] != p.y)
        fail_msg("%s 0x%08x: 0x%08x, a card gives 0x%08x", f->name, p.x, t->v[2].u32[l], p.y);
    }
  }
  isa_assert_only_changed(t, "v2");
}

/* Sine and cosine, which gfx10 was not seen to have like gfx11. */
static bool is_angle(const char *name) {
  return strstr(name, "v_sin") || strstr(name, "v_cos");
}

/* Whatever MODE's rounding; the quiet bit needs the IEEE bit. */
static void test_functions(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned round = 0; round < 4; round++) {
    gs_wave_set_mode(&t->w, 0x3f0 | round);
    for (size_t i = 0; i < COUNT(functions); i++)
      if (!(t->env.target & GS_GFX10) || !is_angle(functions[i].name))
        check_function(t, &functions[i]);
  }
  gs_wave_set_mode(&t->w, 0xf0);
  for (unsigned l = 0; l < lanes_of(t); l++)
    t->v[1].u32[l] = 0x7f812345;
  (void)isa_run(t, "v_exp_f32_e32 v2, v1\nv_rcp_f32_e32 v3, v1\nv_sqrt_f32_e32 v4, v1");
  for (unsigned r = 2; r < 5; r++)
    assert_int_equal(t->v[r].u32[0], 0x7f812345);
  isa_free(t);
}

/* Doubles, of which nothing was published but that they have some 35 bits: all are good to 25 bits, where
 * AMD's texts promise 23 (2^29 units), and the last 17 are 0. */
typedef struct double_function {
  const char *name;
  double (*exact)(double);
  double error; /* relative, at most */
} double_function_t;
static double reciprocal(double x) {
  return 1 / x;
}
static double reciprocal_root(double x) {
  return 1 / sqrt(x);
}
static void set_double(isa_wave_t *t, unsigned reg, unsigned lane, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  t->v[reg].u32[lane] = (uint32_t)bits;
  t->v[reg + 1].u32[lane] = (uint32_t)(bits >> 32);
}
static double double_of(const isa_wave_t *t, unsigned reg, unsigned lane) {
  const uint64_t bits = t->v[reg].u32[lane] | (uint64_t)t->v[reg + 1].u32[lane] << 32;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static void check_double(isa_wave_t *t, const double_function_t *f) {
  char text[TEXT];
  double x[GS_MAX_LANES];
  for (unsigned l = 0; l < lanes_of(t); l++) {
    x[l] = ldexp(1 + l * 0x1.02030405p-6, (int)l % 9 - 4);
    set_double(t, 2, l, x[l]);
    t->v[4].u32[l] = t->v[5].u32[l] = UINT32_MAX;
  }
  (void)snprintf(text, sizeof text, "%s_e32 v[4:5], v[2:3]", f->name);
  (void)isa_run(t, text);
  for (unsigned l = 0; l < lanes_of(t); l++) {
    const double exact = f->exact(x[l]);
    assert_int_equal(t->v[4].u32[l] & 0x1ffff, 0);
    assert_true(fabs(double_of(t, 4, l) - exact) <= exact * f->error);
  }
}
static void test_doubles(void **state) {
  static const double_function_t all[] = {{"v_rcp_f64", reciprocal, 0x1p-25},
                                          {"v_rsq_f64", reciprocal_root, 0x1p-25},
                                          {"v_sqrt_f64", sqrt, 0x1p-25}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(all); i++)
    check_double(t, &all[i]);
  isa_free(t);
}

/* All significands, and all arguments that are multiples of 2^-24 below 1: what instructions give for them,
 * a program's worth of registers at a time, and a hash of the results. */
typedef struct sweep {
  const char *name;
  uint32_t count;
  bool is_turn; /* arguments are multiples of 2^-24 */
  uint32_t first;
  uint64_t hash;
} sweep_t;
static const sweep_t sweeps[] = {
    {"v_rcp_f32", 1u << 23, false, 0x3f800000, UINT64_C(0xd54ec24992572df9)},
    {"v_rsq_f32", 1u << 24, false, 0x3f800000, UINT64_C(0x010bc79eb6e48caf)},
    {"v_sqrt_f32", 1u << 24, false, 0x3f800000, UINT64_C(0x514d49d31f12176b)},
    {"v_log_f32", 1u << 24, false, 0x3f000000, UINT64_C(0xc33a54efbae098be)},
    {"v_exp_f32", 1u << 24, true, 0, UINT64_C(0x68959bb684f42e5f)},
    {"v_exp_f32", 1u << 24, true, 0x80000000, UINT64_C(0x88b75684494db8d3)},
};
enum { SWEPT_ROWS = 128 };

static uint32_t argument_of(const sweep_t *s, uint32_t i) {
  return s->is_turn ? gs_bits_of_float((float)i * 0x1p-24f) | s->first : s->first + i;
}
/* One after the other, as one hash goes over all. */
static uint64_t hash_rows(const isa_wave_t *t, uint64_t hash) {
  for (unsigned r = 0; r < SWEPT_ROWS; r++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      hash = (hash ^ t->v[r].u32[l]) * UINT64_C(1099511628211);
  }
  return hash;
}
static void check_sweep(isa_wave_t *t, const sweep_t *s) {
  char text[SWEPT_ROWS * TEXT];
  size_t end = 0;
  for (unsigned r = 0; r < SWEPT_ROWS; r++)
    end += (size_t)snprintf(text + end, sizeof text - end, "%s_e32 v%u, v%u\n", s->name, r, r);
  uint64_t hash = UINT64_C(14695981039346656037);
  for (uint32_t i = 0; i < s->count;) {
    for (unsigned r = 0; r < SWEPT_ROWS; r++) {
      for (unsigned l = 0; l < lanes_of(t); l++)
        t->v[r].u32[l] = argument_of(s, i++);
    }
    (void)isa_run(t, text);
    hash = hash_rows(t, hash);
  }
  if (hash != s->hash)
    fail_msg("%s from 0x%08x: hash 0x%016" PRIx64 ", of a card 0x%016" PRIx64, s->name, s->first, hash,
             s->hash);
}
static void test_all_results(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(sweeps); i++)
    check_sweep(t, &sweeps[i]);
  isa_free(t);
}

/* Special arguments beside others in a wave, and under a mask: each lane has what it has in a wave of its
 * kind. */
static const uint64_t neighbours[] = {
    0x3f800000, 0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffa12345, 0x00000001,
    0x807fffff, 0x00800000, 0x7f7fffff, 0xbf800000, 0x3fffffff, 0x3f7fffff, 0x3f800001, 0x3f83ffff,
    0x3f840000, 0x3f7c0000, 0x3f7c0001, 0x3f060000, 0x3f07ffff, 0x3f080000, 0x337fffff, 0x33800000,
    0xc2fc0001, 0x42ffffff, 0x43000000, 0x7e7fffff, 0x7e800000, 0x7e800001, 0x7f000000, 0x40490fdb,
};
static const uint64_t wide_neighbours[] = {
    0x3ff0000000000000, 0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000001, 0xfff4000000000001, 0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0xbff0000000000000, 0x3fffffffffffffff, 0x3ff0000000000001, 0x3ff00000007fffff,
    0x3ff0000000800000, 0x4000000000000001, 0x4000000000800000, 0x7fcfffffffffffff, 0x7fd0000000000000,
    0x7fd0000000000001, 0x7fe0000000000000, 0x400921fb54442d18, 0x0008000000000000, 0x3ffffffffffffffe,
};

static uint64_t neighbour_of(const isa_wave_t *t, unsigned reg, unsigned lane, bool wide) {
  return t->v[reg].u32[lane] | (wide ? (uint64_t)t->v[reg + 1].u32[lane] << 32 : 0);
}
static void set_neighbour(isa_wave_t *t, unsigned reg, unsigned lane, uint64_t x) {
  t->v[reg].u32[lane] = (uint32_t)x;
  t->v[reg + 1].u32[lane] = (uint32_t)(x >> 32);
}
static void check_neighbours(isa_wave_t *t, const char *name, const uint64_t *x, size_t count, bool wide) {
  const unsigned lanes = lanes_of(t);
  const uint64_t all = gs_exec(&t->w), some = UINT64_C(0xa5a5c3c30f0ff00f) & all, kept = 0xdeadbeef;
  uint64_t alone[COUNT(neighbours)];
  char text[TEXT];
  (void)snprintf(text, sizeof text, wide ? "%s_e32 v[4:5], v[2:3]" : "%s_e32 v4, v2", name);
  for (size_t k = 0; k < count; k++) {
    for (unsigned l = 0; l < lanes; l++)
      set_neighbour(t, 2, l, x[k]);
    (void)isa_run(t, text);
    alone[k] = neighbour_of(t, 4, 0, wide);
  }
  for (unsigned l = 0; l < lanes; l++) {
    set_neighbour(t, 2, l, x[l * 7 % count]);
    set_neighbour(t, 4, l, kept);
  }
  t->w.s.u64[GS_S_EXEC / 2] = some;
  (void)isa_run(t, text);
  t->w.s.u64[GS_S_EXEC / 2] = all;
  for (unsigned l = 0; l < lanes; l++) {
    const uint64_t expected = some >> l & 1 ? alone[l * 7 % count] : kept, got = neighbour_of(t, 4, l, wide);
    if (got != expected)
      fail_msg("%s, lane %u, of 0x%" PRIx64 ": 0x%" PRIx64 " instead of 0x%" PRIx64, name, l,
               x[l * 7 % count], got, expected);
  }
}
static void test_neighbours(void **state) {
  static const char *const names[] = {"v_rcp_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"};
  static const char *const wide_names[] = {"v_rcp_f64", "v_rsq_f64", "v_sqrt_f64"};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(names); i++)
    check_neighbours(t, names[i], neighbours, COUNT(neighbours), false);
  for (size_t i = 0; i < COUNT(wide_names); i++)
    check_neighbours(t, wide_names[i], wide_neighbours, COUNT(wide_neighbours), true);
  isa_free(t);
}

/* ---- Dot products and matrices ---- */

static void check_dot2(isa_wave_t *t, const char *text, unsigned dst, const measured_dot2_t *rows,
                       size_t count) {
  for (size_t first = 0; first < count; first += lanes_of(t)) {
    for (unsigned l = 0; l < lanes_of(t); l++) {
      const measured_dot2_t *const m = &rows[(first + l) % count];
      t->v[1].u32[l] = m->a;
      t->v[2].u32[l] = m->b;
      t->v[3].u32[l] = t->v[dst].u32[l] = m->c;
    }
    (void)isa_run(t, text);
    for (unsigned l = 0; l < lanes_of(t); l++) {
      const measured_dot2_t *const m = &rows[(first + l) % count];
      if (t->v[dst].u32[l] != m->sum)
        fail_msg("%s of 0x%08x, 0x%08x, 0x%08x: 0x%08x, a card gives 0x%08x", text, m->a, m->b, m->c,
                 t->v[dst].u32[l], m->sum);
    }
  }
}

static void test_dot2(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned round = 0; round < 4; round++) {
    gs_wave_set_mode(&t->w, 0x300 | round * 0x35);
    check_dot2(t, "v_dot2_f32_f16 v4, v1, v2, v3", 4, measured_f16, COUNT(measured_f16));
    check_dot2(t, "v_dot2acc_f32_f16 v4, v1, v2", 4, measured_f16, COUNT(measured_f16));
    check_dot2(t, "v_dot2_f32_bf16 v4, v1, v2, v3", 4, measured_bf16, COUNT(measured_bf16));
  }
  if (lanes_of(t) == 32)
    check_dot2(t, "v_dual_dot2acc_f32_f16 v4, v1, v2 :: v_dual_mov_b32 v7, v10", 4, measured_f16,
               COUNT(measured_f16));
  isa_free(t);
}

/* Constants: f16 has them in the low half, bf16 and pairs in both. */
static void test_dot2_constants(void **state) {
  static const struct {
    const char *text;
    uint32_t b, sum;
  } rows[] = {{"v_dot2_f32_f16 v4, 1.0, v2, 0", 0x40003c00, 0x3f800000},
              {"v_dot2_f32_f16 v4, 1.0, v2, 0 op_sel_hi:[0,1,1]", 0x40003c00, 0x40400000},
              {"v_dot2_f32_f16 v4, 1, v2, 0", 0x40003c00, 0x33800000},
              {"v_dot2_f32_f16 v4, 0.15915494, v2, 0", 0x40003c00, 0x3e230000},
              {"v_dot2_f32_bf16 v4, 1, v2, 0", 0x40003f80, 0}};
  /* The assembler makes halves of these. */
  static const struct { uint32_t constant, sum; } bf16[] = {{242, 0x40400000}, {248, 0x3ef30000}};
  static const struct {
    const char *text;
    uint32_t sum;
  } pairs[] = {{"v_dual_dot2acc_f32_f16 v4, 1.0, v2 :: v_dual_mov_b32 v7, v9", 0x40400000},
               {"v_dual_dot2acc_f32_f16 v4, 1, v2 :: v_dual_mov_b32 v7, v9", 0x34400000},
               {"v_dual_dot2acc_f32_f16 v4, 0.15915494, v2 :: v_dual_mov_b32 v7, v9", 0x3ef48000}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      t->v[2].u32[l] = rows[i].b;
    (void)isa_run(t, rows[i].text);
    if (t->v[4].u32[1] != rows[i].sum)
      fail_msg("%s: 0x%08x, a card gives 0x%08x", rows[i].text, t->v[4].u32[1], rows[i].sum);
  }
  for (size_t i = 0; i < COUNT(bf16); i++) {
    const uint32_t words[2] = {0xcc1a4004, 0x1a020400 | bf16[i].constant};
    for (unsigned l = 0; l < lanes_of(t); l++)
      t->v[2].u32[l] = 0x40003f80;
    (void)isa_run_words(t, words, 2);
    assert_int_equal(t->v[4].u32[1], bf16[i].sum);
  }
  for (size_t i = 0; i < COUNT(pairs) && lanes_of(t) == 32; i++) {
    for (unsigned l = 0; l < 32; l++) {
      t->v[2].u32[l] = 0x40003c00;
      t->v[4].u32[l] = 0;
    }
    (void)isa_run(t, pairs[i].text);
    if (t->v[4].u32[1] != pairs[i].sum)
      fail_msg("%s: 0x%08x, a card gives 0x%08x", pairs[i].text, t->v[4].u32[1], pairs[i].sum);
  }
  isa_free(t);
}

/* Small integers in f16 or bf16. */
static uint32_t half_of(int value, bool bf16) {
  return bf16 ? gs_bits_of_float((float)value) >> 16 : gs_half_of_float((float)value);
}

static void check_matrix(isa_wave_t *t, bool bf16) {
  enum { A = 8, B = 16, C = 24, SIZE = 16 };
  const unsigned groups = lanes_of(t) / SIZE;
  for (unsigned l = 0; l < lanes_of(t); l++) {
    for (unsigned k = 0; k < SIZE; k += 2) {
      const int i = (int)(l % SIZE), j = (int)k;
      t->v[A + k / 2].u32[l] =
          half_of((i * SIZE + j) * 7 % 17 - 8, bf16) | half_of((i * SIZE + j + 1) * 7 % 17 - 8, bf16) << 16;
      t->v[B + k / 2].u32[l] = half_of((j * SIZE + i) * 11 % 17 - 8, bf16) |
                               half_of(((j + 1) * SIZE + i) * 11 % 17 - 8, bf16) << 16;
    }
    for (unsigned r = 0; r < SIZE / groups; r++) {
      const int row = (int)(groups * r + l / SIZE), column = (int)(l % SIZE);
      t->v[C + r].u32[l] = gs_bits_of_float((float)((row * SIZE + column) * 13 % 129 - 64));
    }
  }
  char text[TEXT];
  const unsigned last = C + SIZE / groups - 1;
  (void)snprintf(text, sizeof text, "v_wmma_f32_16x16x16_%s v[24:%u], v[8:15], v[16:23], v[24:%u]",
                 bf16 ? "bf16" : "f16", last, last);
  (void)isa_run(t, text);
  for (unsigned i = 0; i < COUNT(measured_matrix); i++) {
    const unsigned row = i / SIZE, column = i % SIZE;
    assert_int_equal(t->v[C + row / groups].u32[row % groups * SIZE + column], measured_matrix[i]);
  }
}

static void test_matrix(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  check_matrix(t, false);
  check_matrix(t, true);
  isa_free(t);
}

/* ---- Output modifiers, without the IEEE bit and with denormal results flushed ---- */

typedef struct modified {
  const char *text;
  uint32_t mode, x, y, result;
} modified_t;

static void check_modified(isa_wave_t *t, const modified_t *r) {
  for (unsigned l = 0; l < lanes_of(t); l++) {
    t->v[1].u32[l] = r->x;
    t->v[2].u32[l] = r->y;
    t->v[4].u32[l] = 0;
  }
  gs_wave_set_mode(&t->w, r->mode);
  (void)isa_run(t, r->text);
  for (unsigned l = 0; l < lanes_of(t); l++)
    if (t->v[4].u32[l] != r->result)
      fail_msg("%s (mode 0x%x) of 0x%x, 0x%x: 0x%x, cards give 0x%x", r->text, r->mode, r->x, r->y,
               t->v[4].u32[l], r->result);
}

static void test_output_modifiers(void **state) {
  static const modified_t rows[] = {
      /* Halves of the least normal number keep its sign; other zeroes do not. */
      {"v_add_f32_e64 v4, v1, v2 div:2", 0x100, 0x80800000, 0x00000000, 0x80000000},
      {"v_add_f32_e64 v4, v1, v2 div:2", 0x100, 0x00800000, 0x00000000, 0x00000000},
      {"v_add_f32_e64 v4, v1, v2 div:2", 0x100, 0x80000000, 0x80000000, 0x00000000},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x100, 0x80800000, 0x3f000000, 0x00000000},
      {"v_mul_f32_e64 v4, v1, v2 mul:4", 0x100, 0xbf800000, 0x3f800000, 0xc0800000},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x100, 0x7f000000, 0x3f800000, 0x7f800000},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x103, 0x7f000000, 0x3f800000, 0x7f7fffff},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x102, 0x7f000000, 0x3f800000, 0x7f7fffff},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x101, 0xff000000, 0x3f800000, 0xff7fffff},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x100, 0xff800000, 0x3f800000, 0xff800000},
      {"v_add_f32_e64 v4, v1, v2 clamp div:2", 0x100, 0x80800000, 0x00000000, 0x00000000},
      {"v_add_f32_e64 v4, v1, v2 clamp mul:2", 0x100, 0x3f800000, 0x00000000, 0x3f800000},
      /* The IEEE bit, or denormal results: none. */
      {"v_add_f32_e64 v4, v1, v2 div:2", 0x300, 0x80800000, 0x00000000, 0x80800000},
      {"v_add_f32_e64 v4, v1, v2 div:2", 0x120, 0x80800000, 0x00000000, 0x80800000},
      {"v_add_f16_e64 v4, v1, v2 div:2", 0x100, 0x8400, 0x0000, 0x8000},
      {"v_mul_f16_e64 v4, v1, v2 mul:2", 0x100, 0x8400, 0x3800, 0x0000},
      {"v_add_f16_e64 v4, v1, v2 div:2", 0x100, 0x7bff, 0x7bff, 0x7c00},
      {"v_add_f16_e64 v4, v1, v2 div:2", 0x100 | 1 << 23, 0x7bff, 0x7bff, 0x77ff},
      {"v_add_f16_e64 v4, v1, v2 div:2", 0x300, 0x8400, 0x0000, 0x8400},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++)
    check_modified(t, &rows[i]);
  isa_free(t);
}

/* Functions that know no denormals are scaled whatever MODE keeps. */
static void test_modified_functions(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned ieee = 0; ieee < 2; ieee++)
    for (unsigned denormals = 0; denormals < 4; denormals++) {
      gs_wave_set_mode(&t->w, 0xc0 | denormals << 4 | ieee << 9);
      for (unsigned l = 0; l < lanes_of(t); l++)
        t->v[1].u32[l] = 0x40800000; /* 4 */
      (void)isa_run(t, "v_log_f32_e64 v2, v1 mul:2\nv_log_f32_e64 v3, v1 mul:4\nv_log_f32_e64 v4, v1 div:2");
      assert_int_equal(t->v[2].u32[0], ieee ? 0x40000000 : 0x40800000);
      assert_int_equal(t->v[3].u32[0], ieee ? 0x40000000 : 0x41000000);
      assert_int_equal(t->v[4].u32[0], ieee ? 0x40000000 : 0x3f800000);
    }
  isa_free(t);
}

/* ---- Halves: what their functions do with MODE, modifiers, zeroes and NaNs ---- */

static void test_half_functions(void **state) {
  static const modified_t rows[] = {
      {"v_log_f16_e64 v4, v1", 0x0f0, 0x0001, 0, 0xce00},
      {"v_log_f16_e64 v4, v1", 0x030, 0x0001, 0, 0xfc00},
      {"v_log_f16_e64 v4, v1", 0x030 | 1 << 23, 0x0001, 0, 0xfbff},
      {"v_log_f16_e64 v4, v1", 0x0f0 | 1 << 23, 0x0000, 0, 0xfbff},
      {"v_log_f16_e64 v4, v1", 0x0f0 | 1 << 23, 0x7c00, 0, 0x7c00},
      {"v_exp_f16_e64 v4, v1", 0x0f0 | 1 << 23, 0x4c00, 0, 0x7bff},
      {"v_exp_f16_e64 v4, v1", 0x0f0 | 1 << 23, 0x7c00, 0, 0x7c00},
      {"v_exp_f16_e64 v4, v1", 0x0f0, 0xcb80, 0, 0x0200},
      {"v_exp_f16_e64 v4, v1", 0x070, 0xcb80, 0, 0x0000},
      {"v_exp_f16_e64 v4, v1 mul:4", 0x0f0, 0xcb80, 0, 0x0200},
      {"v_exp_f16_e64 v4, v1 div:2", 0x030 | 1 << 23, 0x4c00, 0, 0x77ff},
      {"v_exp_f16_e64 v4, v1 div:2", 0x030, 0x4c00, 0, 0x7c00},
      {"v_exp_f16_e64 v4, v1 div:2", 0x0f0 | 1 << 23, 0x4c00, 0, 0x7bff},
      {"v_log_f16_e64 v4, v1 clamp", 0x030, 0xfc01, 0, 0xfc01},
      {"v_exp_f16_e64 v4, v1 mul:2", 0x030, 0x7c01, 0, 0x7c01},
      {"v_log_f16_e64 v4, v1 clamp", 0x030, 0xbc00, 0, 0xfe00},
      {"v_exp_f16_e64 v4, v1", 0x0f0, 0x11c5, 0, 0x3c01},
      {"v_rcp_f16_e64 v4, v1", 0x0c0 | 1 << 23, 0x0000, 0, 0x7bff},
      {"v_rsq_f16_e64 v4, v1", 0x0c0 | 1 << 23, 0x8000, 0, 0xfbff},
      {"v_rcp_f16_e64 v4, v1", 0x000, 0x03ff, 0, 0x7c00},
      {"v_rcp_f16_e64 v4, v1", 0x0c0, 0x03ff, 0, 0x7401},
      {"v_rcp_f16_e64 v4, v1", 0x000, 0x7bff, 0, 0x0000},
      {"v_rcp_f16_e64 v4, v1", 0x0c0, 0x7bff, 0, 0x0100},
      {"v_rcp_f16_e64 v4, v1", 0x000, 0x7c01, 0, 0x7c01},
      {"v_rsq_f16_e64 v4, v1", 0x200, 0x7c01, 0, 0x7e01},
      {"v_sqrt_f16_e64 v4, v1 mul:2", 0x000, 0x7c01, 0, 0x7c01},
      {"v_sin_f16_e64 v4, v1", 0x000, 0x7c01, 0, 0x7c01},
      {"v_cos_f16_e64 v4, v1", 0x000, 0x7c01, 0, 0x7c01},
      {"v_sin_f16_e64 v4, v1", 0x000, 0x0001, 0, 0x0000},
      {"v_sin_f16_e64 v4, v1", 0x0c0, 0x0001, 0, 0x0006},
      {"v_rcp_f32_e64 v4, v1 mul:2", 0x0f0, 0x3f800000, 0, 0x40000000},
      {"v_rsq_f32_e64 v4, v1 mul:2", 0x0f0, 0x3f800000, 0, 0x40000000},
      {"v_cos_f32_e64 v4, v1 mul:2", 0x0f0, 0x00000000, 0, 0x40000000},
      {"v_rcp_f32_e64 v4, v1 mul:4", 0x000, 0x00800000, 0, 0x7f800000},
      /* One rounding of a product of floats to a half; NaNs of such products. */
      {"v_fma_mixlo_f16 v4, v1, v2, 0", 0x0f0, 0x3b333333, 0x42b90000, 0x340c},
      {"v_fma_mixlo_f16 v4, v1, v2, 0", 0x0f4, 0x3b333333, 0x42b90000, 0x340c},
      {"v_fma_mixlo_f16 v4, v1, v2, 0", 0x0f8, 0x3b333333, 0x42b90000, 0x340b},
      {"v_fma_mixlo_f16 v4, v1, v2, 0", 0x0fc, 0x3b333333, 0x42b90000, 0x340b},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++)
    if (!(t->env.target & GS_GFX10) || !is_angle(rows[i].text))
      check_modified(t, &rows[i]);
  isa_free(t);
}

/* With the IEEE bit; sums and products, then minimum and maximum. */
static void test_packed_nans(void **state) {
  static const uint16_t rows[][4] = {{0x7fc1, 0xff80, 0x7fc1, 0x7fc1},
                                     {0xff80, 0x7fc1, 0xff80, 0xff80},
                                     {0x7c01, 0xff80, 0x7e01, 0x7e01},
                                     {0x7fc1, 0xfc02, 0x7fc1, 0xfe02},
                                     {0x3c00, 0x7c01, 0x7e01, 0x7e01}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  gs_wave_set_mode(&t->w, 0x2f0);
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned r = 0; r < 2; r++)
        t->v[1 + r].u32[l] = rows[i][r] * 0x10001u;
    (void)isa_run(t, "v_pk_add_f16 v4, v1, v2\nv_pk_mul_f16 v5, v1, v2\nv_pk_min_f16 v6, v1, v2\n"
                     "v_pk_max_f16 v7, v1, v2");
    for (unsigned r = 4; r < 8; r++)
      assert_int_equal(t->v[r].u32[5], rows[i][r < 6 ? 2 : 3] * 0x10001u);
  }
  isa_free(t);
}

/* ---- NaNs: zero times infinity comes before a NaN that is added ---- */

static void test_products_of_halves(void **state) {
  static const uint16_t rows[][4] = {{0x7fc1, 0xff80, 0xff80, 0x7fc1}, {0x7c01, 0x3c00, 0x0000, 0x7e01},
                                     {0x3c00, 0xfc12, 0x7e01, 0xfe12}, {0x3c00, 0x3c00, 0x7c01, 0x7e01},
                                     {0x0000, 0x7c00, 0x7e01, 0xfe00}, {0x0000, 0x7c00, 0x3c00, 0xfe00},
                                     {0x7c00, 0x3c00, 0xfc00, 0xfe00}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned r = 0; r < 3; r++)
        t->v[1 + r].u32[l] = rows[i][r] * 0x10001u;
    (void)isa_run(t, "v_fma_f16 v4, v1, v2, v3\nv_pk_fma_f16 v5, v1, v2, v3");
    assert_int_equal(t->v[4].u32[5] & 0xffff, rows[i][3]);
    assert_int_equal(t->v[5].u32[5], rows[i][3] * 0x10001u);
  }
  isa_free(t);
}

static void test_products_of_doubles(void **state) {
  static const uint64_t rows[][4] = {
      {0, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff4000000000001), UINT64_C(0xfff8000000000000)},
      {UINT64_C(0xfff0000000000000), UINT64_C(0x8000000000000000), UINT64_C(0x7ff8000000000005),
       UINT64_C(0xfff8000000000000)},
      {UINT64_C(0x7ff0000000000000), 1, UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff8000000000001)},
      {UINT64_C(0x7ff4000000000007), UINT64_C(0x7ff8000000000009), UINT64_C(0x7ff800000000000b),
       UINT64_C(0x7ffc000000000007)},
      {UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff4000000000007), UINT64_C(0x7ff800000000000b),
       UINT64_C(0x7ffc000000000007)}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned r = 0; r < 3; r++)
        isa_set_u64(&t->v[2 + 2 * r], l, rows[i][r]);
    (void)isa_run(t, "v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]");
    assert_int_equal(isa_u64(&t->v[8], 5), rows[i][3]);
  }
  isa_free(t);
}

/* Those of floats are as those of doubles and halves; v_fma_mix was measured. */
static void test_products_of_floats(void **state) {
  static const uint32_t rows[][4] = {
      {0x7fc12000, 0x7fd34000, 0x7fe9a000, 0x7fc12000}, {0x00000000, 0x7f800000, 0x7fe9a000, 0xffc00000},
      {0x7f800000, 0x00000000, 0x7fe9a000, 0xffc00000}, {0x7fc12000, 0x3f800000, 0x7fe9a000, 0x7fc12000},
      {0x3f800000, 0x7fc12000, 0x7fe9a000, 0x7fc12000}, {0x3f800000, 0x7f800000, 0x7fa9a000, 0x7fe9a000}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned r = 0; r < 4; r++)
        t->v[1 + r].u32[l] = rows[i][r < 3 ? r : 2];
    (void)isa_run(t,
                  "v_fma_f32 v5, v1, v2, v3\nv_fma_mix_f32 v6, v1, v2, v3\nv_fma_mixlo_f16 v7, v1, v2, v3\n"
                  "v_fmac_f32 v4, v1, v2");
    for (unsigned r = 4; r < 7; r++)
      assert_int_equal(t->v[r].u32[5], rows[i][3]);
    assert_int_equal(t->v[7].u32[5] & 0xffff,
                     (rows[i][3] >> 16 & 0x8000) | 0x7c00 | (rows[i][3] >> 13 & 0x3ff));
  }
  isa_free(t);
}

/* ---- The fused multiply-add for DirectX 9: its zero, and no denormals whatever MODE says ---- */

typedef struct dx9_row {
  uint32_t a, b, c, want[4]; /* by MODE's rounding */
} dx9_row_t;

static void check_dx9(isa_wave_t *t, const dx9_row_t *row, uint32_t mode) {
  const bool gfx11 = t->env.target & GS_GFX11;
  for (unsigned l = 0; l < lanes_of(t); l++) {
    t->v[1].u32[l] = row->a;
    t->v[2].u32[l] = row->b;
    t->v[3].u32[l] = t->v[4].u32[l] = row->c;
  }
  gs_wave_set_mode(&t->w, mode);
  (void)isa_run(t, gfx11 ? "v_fma_dx9_zero_f32 v5, v1, v2, v3\nv_fmac_dx9_zero_f32_e32 v4, v1, v2"
                         : "v_fma_legacy_f32 v5, v1, v2, v3\nv_fmac_legacy_f32_e32 v4, v1, v2");
  for (unsigned r = 4; r < 6; r++)
    if (t->v[r].u32[5] != row->want[mode & 3])
      fail_msg("%08x * %08x + %08x (mode %x): %08x, want %08x", row->a, row->b, row->c, mode, t->v[r].u32[5],
               row->want[mode & 3]);
}

#define DX9_ALWAYS(x)                                                                                        \
  { x, x, x, x }
#define DX9_ZERO                                                                                             \
  { 0, 0, 0x80000000, 0 }
static void test_dx9(void **state) {
  static const dx9_row_t rows[] = {
      {0x00000000, 0x7f800000, 0x3f800000, DX9_ALWAYS(0x3f800000)},
      {0x7fc01234, 0x80000000, 0x3f800000, DX9_ALWAYS(0x3f800000)},
      {0x00000001, 0x4b000000, 0x00000000, DX9_ALWAYS(0)},
      {0x00800000, 0x3f000000, 0x00000000, DX9_ALWAYS(0)},
      {0x00000000, 0x7f800000, 0x80000001, DX9_ZERO},
      {0x00000000, 0x7f800000, 0x80000000, DX9_ZERO},
      {0x80000000, 0x3f800000, 0x80000000, DX9_ZERO},
      {0x3f800000, 0x3f800000, 0x3f800000, DX9_ALWAYS(0x40000000)},
      {0x80800000, 0x33800000, 0x00800000, DX9_ALWAYS(0)},
      {0x80800000, 0x33000000, 0x00800000, {0x00800000, 0x00800000, 0, 0}},
      {0x7fc00111, 0x7fc00222, 0x7fc00333, DX9_ALWAYS(0x7fc00111)},
  };
  static const dx9_row_t signaling[] = {
      {0x7f800012, 0x3f800000, 0x3f800000, {0}},
      {0x3f800000, 0x7f800012, 0x3f800000, {0}},
      {0x3f800000, 0x3f800000, 0x7f800012, {0}},
      {0x00000000, 0x7f800000, 0x7f800012, {0}},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (uint32_t how = 0; how < 32; how++) {
    const uint32_t mode = (how & 3) | (how & 12) << 2 | (how & 16) << 5;
    for (size_t i = 0; i < COUNT(rows); i++)
      check_dx9(t, &rows[i], mode);
    for (size_t i = 0; i < COUNT(signaling); i++) {
      dx9_row_t row = signaling[i];
      for (unsigned r = 0; r < 4; r++)
        row.want[r] = how & 16 ? 0x7fc00012 : 0x7f800012;
      check_dx9(t, &row, mode);
    }
  }
  isa_free(t);
}

/* MODE that keeps denormals does not keep omod from its result, the IEEE bit does. */
static void test_dx9_omod(void **state) {
  static const char text[] =
      "v_fma_dx9_zero_f32 v5, v1, v2, v3 mul:2\nv_fma_dx9_zero_f32 v6, v1, v2, v3 mul:4\n"
      "v_fma_dx9_zero_f32 v7, v1, v2, v3 div:2";
  static const struct {
    uint32_t a, b, c, ieee, want[3];
  } rows[] = {
      {0x3f800000, 0x3f800000, 0x3f800000, 0x40000000, {0x40800000, 0x41000000, 0x3f800000}},
      {0x00000000, 0x7f800000, 0x80000000, 0x00000000, {0, 0, 0}},
      {0x80800000, 0x3f800000, 0x00000000, 0x80800000, {0x81000000, 0x81800000, 0x80000000}},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (unsigned how = 0; how < 8; how++)
    for (size_t i = 0; i < COUNT(rows); i++) {
      for (unsigned l = 0; l < lanes_of(t); l++) {
        t->v[1].u32[l] = rows[i].a;
        t->v[2].u32[l] = rows[i].b;
        t->v[3].u32[l] = rows[i].c;
      }
      gs_wave_set_mode(&t->w, (how & 3) << 4 | (how & 4) << 7);
      (void)isa_run(t, text);
      for (unsigned r = 0; r < 3; r++)
        assert_int_equal(t->v[5 + r].u32[5], how & 4 ? rows[i].ieee : rows[i].want[r]);
    }
  isa_free(t);
}

/* ---- Signaling NaNs without the IEEE bit stay as they are ---- */

static void test_signaling(void **state) {
  static const modified_t rows[] = {
      {"v_add_f32_e64 v4, v1, v2", 0x000, 0x7f801abc, 0xffc00222, 0x7f801abc},
      {"v_add_f32_e64 v4, v1, v2", 0x200, 0x7f801abc, 0xffc00222, 0x7fc01abc},
      {"v_mul_f32_e32 v4, v1, v2", 0x0f0, 0x3f800000, 0x7f801abc, 0x7f801abc},
      {"v_mul_f32_e32 v4, v1, v2", 0x2f0, 0x3f800000, 0x7f801abc, 0x7fc01abc},
      {"v_fma_mix_f32 v4, v1, v2, 1.0", 0x000, 0x7f800012, 0x3f800000, 0x7f800012},
      {"v_fma_mix_f32 v4, v1, v2, 1.0", 0x200, 0x7f800012, 0x3f800000, 0x7fc00012},
      {"v_fma_f16 v4, v1, v2, 0", 0x000, 0x7c01, 0x3c00, 0x7c01},
      {"v_fma_f16 v4, v1, v2, 0", 0x0c0, 0x3c00, 0xfc12, 0xfc12},
      {"v_fma_f16 v4, v1, v1, v2", 0x000, 0x3c00, 0x7c01, 0x7c01},
      {"v_fma_f16 v4, v1, v1, v2 clamp", 0x000, 0x3c00, 0x7c01, 0x7c01},
      {"v_fma_f16 v4, v1, v2, 0 clamp", 0x200, 0x7c01, 0x3c00, 0x7e01},
      {"v_fma_f16 v4, v1, v2, v2", 0x000, 0x7fc1, 0xff80, 0x7fc1},
      {"v_fma_f16 v4, v1, v2, 0", 0x000, 0x0000, 0x7c00, 0xfe00},
  };
  /* sums and products, minimum and maximum */
  static const uint16_t packed[][4] = {{0x7fc1, 0xff80, 0x7fc1, 0x7fc1},
                                       {0xff80, 0x7fc1, 0xff80, 0xff80},
                                       {0x7c01, 0xff80, 0x7c01, 0x7c01},
                                       {0x7fc1, 0xfc02, 0x7fc1, 0x7fc1},
                                       {0x3c00, 0x7c01, 0x7c01, 0x3c00}};
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++)
    check_modified(t, &rows[i]);
  for (size_t i = 0; i < COUNT(packed); i++) {
    for (unsigned l = 0; l < lanes_of(t); l++)
      for (unsigned r = 0; r < 2; r++)
        t->v[1 + r].u32[l] = packed[i][r] * 0x10001u;
    gs_wave_set_mode(&t->w, 0x0f0);
    (void)isa_run(t, "v_pk_add_f16 v4, v1, v2\nv_pk_mul_f16 v5, v1, v2\nv_pk_fma_f16 v6, v1, v2, 0\n"
                     "v_pk_min_f16 v7, v1, v2\nv_pk_max_f16 v8, v1, v2");
    for (unsigned r = 4; r < 9; r++)
      assert_int_equal(t->v[r].u32[5], packed[i][r < 7 ? 2 : 3] * 0x10001u);
  }
  isa_free(t);
}

/* v_div_scale of a signaling denominator; div_fmas and div_fixup with MODEs that flush. */
static void test_division_modes(void **state) {
  static const modified_t rows[] = {
      {"v_div_fmas_f32 v4, v1, v2, 0", 0x000, 0x00000001, 0x3f800000, 0x00000000},
      {"v_div_fmas_f32 v4, v1, v2, 0", 0x020, 0x00000001, 0x3f800000, 0x00000001},
      {"v_div_fmas_f32 v4, v1, v2, 0x7fc00000", 0x000, 0x00000000, 0x7f800000, 0xffc00000},
      {"v_div_fixup_f32 v4, v1, v2, 1.0", 0x000, 0x00000001, 0x3f800000, 0x00000001},
      {"v_div_fixup_f32 v4, v1, 1.0, v2", 0x000, 0x3f800000, 0x00000001, 0x00000000},
      {"v_div_fixup_f32 v4, v1, 1.0, v2", 0x010, 0x3f800000, 0x00000001, 0x3f800000},
      {"v_div_fixup_f32 v4, v1, v2, 0x7f800000", 0x000, 0x3f800000, 0x3f800000, 0x7f800000},
      {"v_div_fixup_f32 v4, v1, v2, 1.0", 0x0f3, 0x7fc00000, 0x01000000, 0x7f7fffff},
      {"v_div_fixup_f32 v4, v1, v2, 1.0", 0x0f1, 0x7f800000, 0x81000000, 0xff7fffff},
      {"v_div_fixup_f32 v4, v1, v2, 1.0", 0x0f2, 0x7f800000, 0x81000000, 0xff800000},
      {"v_div_fixup_f32 v4, v1, v2, 0x80800000", 0x0f2, 0x7fc00000, 0x7f000000, 0x80000001},
      {"v_div_fixup_f32 v4, v1, v2, 0x80800000", 0x0d2, 0x7fc00000, 0x7f000000, 0x80000000},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0f0, 0x7e2a, 0x3c00, 0x7c00},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0fc, 0x7e2a, 0x3c00, 0x7bff},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0f4, 0x7c00, 0xbc00, 0xfbff},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0f8, 0x7c00, 0xbc00, 0xfc00},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0f0 | 1 << 23, 0x7c00, 0xbc00, 0xfbff},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x000, 0x3c00, 0x0001, 0x7c00},
      {"v_div_fixup_f16 v4, v1, v2, 1.0", 0x0f0, 0x3c00, 0x0001, 0x3c00},
      {"v_div_fixup_f16 v4, v1, 1.0, v2", 0x000, 0x3c00, 0x8001, 0x8000},
  };
  const uint64_t den = UINT64_C(0x7ff19bde510b2fa8), num = UINT64_C(0x90fe0a8fc874d413);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  isa_set_s64(t, GS_S_VCC, 0);
  for (size_t i = 0; i < COUNT(rows); i++)
    check_modified(t, &rows[i]);
  for (uint32_t mode = 0; mode < 0x400; mode += 0x111) {
    for (unsigned l = 0; l < lanes_of(t); l++) {
      isa_set_u64(&t->v[8], l, den);
      isa_set_u64(&t->v[10], l, num);
    }
    gs_wave_set_mode(&t->w, mode);
    (void)isa_run(t, lanes_of(t) == 32 ? "v_div_scale_f64 v[4:5], vcc_lo, v[8:9], v[8:9], v[10:11]"
                                       : "v_div_scale_f64 v[4:5], vcc, v[8:9], v[8:9], v[10:11]");
    assert_int_equal(isa_u64(&t->v[4], 5), mode & 0x200 ? den | UINT64_C(0x0008000000000000) : den);
  }
  isa_free(t);
}

/* ---- Results below the normal numbers are those that stay there if rounded to as many bits ---- */

static void test_flushed_results(void **state) {
  static const modified_t rows[] = {
      {"v_mul_f32_e64 v4, v1, v2", 0x0c0, 0x3f7fffff, 0x00800000, 0x00000000},
      {"v_mul_f32_e64 v4, v1, v2", 0x030, 0x3f7fffff, 0x00800000, 0x00800000},
      {"v_mul_f32_e64 v4, v1, v2", 0x0c0, 0x3f7fffff, 0x80800000, 0x80000000},
      {"v_mul_f32_e64 v4, v1, v2", 0x0d0, 0x3fffffff, 0x00400000, 0x00000000},
      {"v_mul_f32_e64 v4, v1, v2", 0x0c0, 0x3f7ffffe, 0x00800001, 0x00800000},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x0c0, 0x3f7ffffe, 0x00800001, 0x01000000},
      {"v_mul_f32_e64 v4, v1, v2 mul:2", 0x0c0, 0x3f7fffff, 0x00800000, 0x00000000},
      {"v_fma_f16 v4, v1, v2, v2", 0x040, 0x0001, 0x03ff, 0x0000},
      {"v_fma_f16 v4, v1, v2, v2", 0x044, 0x0001, 0x03ff, 0x0000},
      {"v_fma_f16 v4, v1, v2, v2", 0x048, 0x0001, 0x83ff, 0x8000},
  };
  static const modified_t literals[] = {
      {"v_fma_f16 v4, v1, 0x3400, v2", 0x040, 0x0001, 0x8400, 0x8400},
      {"v_fma_f16 v4, v1, 0x3400, v2", 0x044, 0x0001, 0x8400, 0x8000},
      {"v_fma_f16 v4, v1, 0x3400, v2", 0x048, 0x0001, 0x8400, 0x8400},
      {"v_fma_f16 v4, v1, 0x3400, v2", 0x04c, 0x0001, 0x8400, 0x8000},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT(rows); i++)
    check_modified(t, &rows[i]);
  for (size_t i = 0; i < COUNT(literals) && !(t->env.target & GS_GFX9); i++)
    check_modified(t, &literals[i]);
  isa_free(t);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test_on(test_functions, GS_GFX11_W64),
      isa_part_test_on(test_functions, GS_GFX11_W32),
      isa_part_test_on(test_functions, GS_GFX1030),
      isa_part_test_on(test_functions, GS_GFX1030_W32),
      isa_part_test_on(test_all_results, GS_GFX1100),
      isa_part_test_on(test_neighbours, GS_GFX1030),
      isa_part_test_on(test_neighbours, GS_GFX1100),
      isa_part_test_on(test_doubles, GS_GFX11_W64),
      isa_part_test_on(test_doubles, GS_GFX11_W32),
      isa_part_test_on(test_doubles, GS_GFX1030),
      isa_part_test_on(test_doubles, GS_GFX1030_W32),
      isa_part_test_on(test_dot2, GS_GFX11_W64),
      isa_part_test_on(test_dot2, GS_GFX11_W32),
      isa_part_test_on(test_dot2_constants, GS_GFX11_W64),
      isa_part_test_on(test_dot2_constants, GS_GFX11_W32),
      isa_part_test_on(test_matrix, GS_GFX11_W64),
      isa_part_test_on(test_matrix, GS_GFX11_W32),
      isa_wide_part_test(test_output_modifiers),
      isa_part_test_on(test_modified_functions, GS_GFX11_W64),
      isa_part_test_on(test_half_functions, GS_GFX11_W64),
      isa_part_test_on(test_half_functions, GS_GFX11_W32),
      isa_part_test_on(test_half_functions, GS_GFX1030),
      isa_part_test_on(test_half_functions, GS_GFX1030_W32),
      isa_part_test_on(test_packed_nans, GS_GFX11_W64),
      isa_wide_part_test(test_products_of_halves),
      isa_wide_part_test(test_products_of_doubles),
      isa_part_test_on(test_products_of_floats, GS_GFX11_W64),
      isa_part_test_on(test_products_of_floats, GS_GFX11_W32),
      isa_wide_part_test(test_flushed_results),
      isa_part_test_on(test_dx9, GS_GFX1030),
      isa_part_test_on(test_dx9, GS_GFX11_W64),
      isa_part_test_on(test_dx9, GS_GFX11_W32),
      isa_part_test_on(test_dx9_omod, GS_GFX11_W64),
      isa_part_test_on(test_signaling, GS_GFX11_W64),
      isa_part_test_on(test_signaling, GS_GFX11_W32),
      isa_part_test_on(test_division_modes, GS_GFX11_W64),
      isa_part_test_on(test_division_modes, GS_GFX11_W32),
  };
  return isa_main(tests, COUNT(tests));
}
