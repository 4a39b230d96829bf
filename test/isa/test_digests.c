/* Digests of what a card of gfx12 gave for all triples of edges, and for random ones, where gfx9, gfx10 and
 * gfx11 have the same instruction: faces of cubes, and the last step of divisions.
 * Published by GoC, an emulator of RDNA4 (github.com/bjacob/goc, MIT licence). Not here: single results
 * (test_measured.c). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 96, TRIPLES = 4096, VALUES = 16 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* FNV-1a over the bytes of a number. */
static uint64_t add(uint64_t digest, uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    digest = (digest ^ (number >> 8 * i & 255)) * UINT64_C(1099511628211);
  return digest;
}
#define NOTHING UINT64_C(14695981039346656037)

static bool is_nan(uint64_t x, bool wide) {
  return wide ? x << 1 > UINT64_C(0xffe) << 52 : (x & 0x7fffffff) > 0x7f800000;
}

typedef struct triple {
  uint64_t v[3];
} triple_t;

/* gfx12 scales whatever MODE says and makes NaNs quiet always. Here scaling needs a MODE without the IEEE bit
 * and without denormal results, which scaling makes zeroes there, too. */
static uint64_t digest_of(isa_wave_t *t, const char *text, const triple_t *triples, unsigned count,
                          bool wide) {
  const bool scaled = strstr(text, " mul:") || strstr(text, " div:");
  const unsigned lanes = gs_target_lanes(t->env.target);
  uint64_t digest = NOTHING;
  gs_wave_set_mode(&t->w, scaled ? 0x150 : 0x3f0);
  for (unsigned first = 0; first < count; first += lanes) {
    for (unsigned l = 0; l < lanes; l++)
      for (unsigned i = 0; i < 3; i++)
        isa_set_u64(t->v + 2 * i, l, triples[(first + l) % count].v[i]);
    (void)isa_run(t, text);
    for (unsigned l = 0; l < lanes && first + l < count; l++) {
      const uint64_t x = wide ? isa_u64(t->v + 6, l) : t->v[6].u32[l];
      digest = add(digest, is_nan(x, wide) ? x | UINT64_C(1) << (wide ? 51 : 22) : x, wide ? 8 : 4);
    }
  }
  return digest;
}

static void all_triples(const uint64_t values[VALUES], triple_t triples[TRIPLES]) {
  for (unsigned i = 0; i < TRIPLES; i++)
    triples[i] = (triple_t){{values[i / (VALUES * VALUES)], values[i / VALUES % VALUES], values[i % VALUES]}};
}

static void check(isa_wave_t *t, const char *text, const triple_t *triples, bool wide, uint64_t expected) {
  if (digest_of(t, text, triples, TRIPLES, wide) != expected)
    fail_msg("%s: not what the card gave", text);
}

static void test_cubes(void **state) {
  static const uint64_t values[VALUES] = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
      0x40000000, 0xc0000000, 0x7effffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f812345, 0xffc54321};
  static const char *const operands[] = {"v0, v2, v4", "-|v0|, |v2|, -v4", "v0, v2, v4 mul:2",
                                         "v0, v2, v4 div:2", "v0, v2, v4 clamp mul:4"};
  static const struct {
    const char *name;
    uint64_t digests[COUNT(operands)];
  } cubes[] = {
      {"v_cubeid_f32",
       {0x1cfc5af80e29e1e5, 0x32679342c0c6cc55, 0xee25fc41d78d0365, 0xa806ae23a92543d5, 0xfc956157c08121b5}},
      {"v_cubesc_f32",
       {0x46fa971691d3a342, 0x1ab88bf95d3d3bc2, 0x3e0018c399083254, 0xf8ef0e64c92a9b35, 0x2e1dd020b9a09d2b}},
      {"v_cubetc_f32",
       {0xbe753f8a3000a27c, 0xd232890bb808b77c, 0xeacf6be547b4e9aa, 0x7f684723f2d3fb95, 0x89b80be39ce5f1b2}},
      {"v_cubema_f32",
       {0x6edd44698911966f, 0x47bf1a20540b79ef, 0x036c09106ddc3812, 0x353396f849d0c7ff, 0x7bbbbbffad94a7bf}},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  triple_t *const triples = test_malloc(TRIPLES * sizeof *triples);
  all_triples(values, triples);
  for (size_t i = 0; i < COUNT(cubes); i++)
    for (size_t k = 0; k < COUNT(operands); k++) {
      char text[TEXT];
      (void)snprintf(text, sizeof text, "%s v6, %s", cubes[i].name, operands[k]);
      check(t, text, triples, false, cubes[i].digests[k]);
    }
  test_free(triples);
  isa_free(t);
}

/* ---- v_div_fmas ---- */

/* Without and with a mask; of all triples of edges, and of random ones. */
enum { MODIFIERS = 8 };
typedef uint64_t fmas_digests_t[2][2][MODIFIERS];

static uint32_t xorshift(uint32_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed;
}

/* One in four cancels, another one in four has a denormal factor. */
static void random_triples(bool wide, triple_t triples[TRIPLES]) {
  const unsigned fraction = wide ? 52 : 23;
  const uint64_t one = (uint64_t)(wide ? 1023 : 127) << fraction, implicit = UINT64_C(1) << fraction;
  uint32_t seed = 0x9174ab23;
  for (unsigned i = 0; i < TRIPLES; i++) {
    uint64_t *const v = triples[i].v;
    for (unsigned k = 0; k < 3; k++) {
      v[k] = xorshift(&seed);
      v[k] |= wide ? (uint64_t)xorshift(&seed) << 32 : 0;
    }
    if (i % 4 == 0) {
      v[1] = one | 1;
      v[2] = v[0] ^ UINT64_C(1) << (wide ? 63 : 31);
    } else if (i % 4 == 1) {
      v[0] &= implicit - 1;
      v[1] = one + implicit - 1;
      v[2] = 1;
    }
  }
}

static void check_fmas(void **state, bool wide, const uint64_t values[VALUES],
                       const char *const operands[MODIFIERS], const fmas_digests_t digests) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  triple_t *const triples = test_malloc(TRIPLES * sizeof *triples);
  for (unsigned random = 0; random < 2; random++) {
    if (random)
      random_triples(wide, triples);
    else
      all_triples(values, triples);
    for (unsigned masked = 0; masked < 2; masked++)
      for (unsigned m = 0; m < MODIFIERS; m++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, "v_div_fmas_f%d v%s, %s", wide ? 64 : 32, wide ? "[6:7]" : "6",
                       operands[m]);
        isa_set_s64(t, GS_S_VCC, masked ? ~UINT64_C(0) : 0);
        check(t, text, triples, wide, digests[random][masked][m]);
      }
  }
  test_free(triples);
  isa_free(t);
}

static void test_fmas_f32(void **state) {
  static const uint64_t values[VALUES] = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
      0x3f800001, 0x3f7fffff, 0x40000000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00003};
  static const char *const operands[MODIFIERS] = {
      "v0, v2, v4",       "v0, v2, v4 mul:2", "v0, v2, v4 mul:4",       "v0, v2, v4 div:2",
      "v0, v2, v4 clamp", "-|v0|, |v2|, -v4", "v0, v2, v4 clamp mul:2", "-v0, -v2, -v4"};
  static const fmas_digests_t digests = {
      {{0x576afb8106a30db6, 0x17b0667f55864660, 0x7ef3c39e53f15674, 0x52e30545e100e91d, 0x7dfaa75bd9f93fc1,
        0x4b82f14f3676d37a, 0xde3a498141d5c9ae, 0xedccdc2b6bda0332},
       {0x9b9aaad4d8a05873, 0xf6008a1d1d0c142c, 0x0597c7e854253324, 0x2a29c5f3a13a8713, 0x8ce01722da989723,
        0xf3616230e81d97b3, 0x47a892285aa4c257, 0x58fe1e27d8dc4f5b}},
      {{0xc541e132702ea7b5, 0x4e77491831aea8a8, 0x1c22023b0bda9445, 0x1f90d3062d413b7f, 0xebdc444d802d79d0,
        0xcebae882a9c75ee7, 0x38ed35a07d010508, 0x15a41126b93019ba},
       {0x7d7799c6729ae40c, 0x78735351bce899a2, 0x810587a7906216fa, 0x47054733e7051b49, 0x0ceb2da620a93078,
        0x3a514143a1e51d5f, 0xda0ef3cd66be2fcf, 0xe18d8b95579cc2d2}}};
  check_fmas(state, false, values, operands, digests);
}

static void test_fmas_f64(void **state) {
  static const uint64_t values[VALUES] = {
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
      0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000,
      0x3ff0000000000001, 0x3fefffffffffffff, 0x4000000000000000, 0x7fefffffffffffff,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0xfff8000000000003};
  static const char *const operands[MODIFIERS] = {"v[0:1], v[2:3], v[4:5]",
                                                  "v[0:1], v[2:3], v[4:5] mul:2",
                                                  "v[0:1], v[2:3], v[4:5] mul:4",
                                                  "v[0:1], v[2:3], v[4:5] div:2",
                                                  "v[0:1], v[2:3], v[4:5] clamp",
                                                  "-|v[0:1]|, |v[2:3]|, -v[4:5]",
                                                  "v[0:1], v[2:3], v[4:5] clamp mul:2",
                                                  "-v[0:1], -v[2:3], -v[4:5]"};
  static const fmas_digests_t digests = {
      {{0xcee9c9bf9830281a, 0x24838bbedb7284f3, 0x31edd4d575fdd387, 0xc583bfc7054904bb, 0x09c7125ca8c68b45,
        0x9aac4ad132b3e7c6, 0xacc029bf67082311, 0x68737b88435eadf7},
       {0xea132b28336b725b, 0x5587f03df977177b, 0xb91e1cf58a3e02af, 0x4d0d52e9dcc97ab6, 0x3810a057a4735093,
        0x949a41a1d64a8a1f, 0xc12f7090ee8c83a7, 0xbc41179bd09796e6}},
      {{0xdd6253dd067567b6, 0x51f48836d04d9123, 0x20348cf7243cb93c, 0xd2c8288e073e3e95, 0x2166916818f8bf23,
        0xfe603b8e50cfa26a, 0x0d69da7e81f920eb, 0xf08cf5fa21dd9a6c},
       {0x9226c35b36ea5dbb, 0x23ce8b033259fb07, 0x10784f300ac77478, 0x3ebeb744cbdcd7dd, 0xf3878e292105ed4d,
        0x9b36a4919d0914b1, 0x2daf81d05b88c0df, 0xcf9ac1db515cec43}}};
  check_fmas(state, true, values, operands, digests);
}

int main(void) {
  static const struct CMUnitTest tests[] = {isa_wide_part_test(test_cubes), isa_wide_part_test(test_fmas_f32),
                                            isa_wide_part_test(test_fmas_f64)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
