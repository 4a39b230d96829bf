/* v_cmp_* and v_cmpx_* on integers: every predicate and type against a bit by bit comparison, for pairs of
 * edge values, kinds of operands, and EXEC masks.
 * Not here: comparisons of floats; SDWA forms (test_operand.c). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 96 };

typedef struct type {
  const char *name;
  unsigned bits;
  bool is_signed;
} type_t;
static const type_t types[] = {{"i16", 16, true},  {"u16", 16, false}, {"i32", 32, true},
                               {"u32", 32, false}, {"i64", 64, true},  {"u64", 64, false}};
enum { TYPES = sizeof types / sizeof types[0] };

/* Predicates as the set of outcomes that they accept. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };
static const struct {
  const char *name;
  unsigned accepts;
} predicates[] = {
    {"f", 0},        {"lt", LESS},           {"eq", EQUAL},           {"le", LESS | EQUAL},
    {"gt", GREATER}, {"ne", LESS | GREATER}, {"ge", GREATER | EQUAL}, {"t", LESS | EQUAL | GREATER}};
enum { PREDICATES = sizeof predicates / sizeof predicates[0] };

/* LESS, EQUAL or GREATER: the highest bit in which they differ decides, the other way round if it is a
 * sign. */
static unsigned outcome(const type_t *type, uint64_t a, uint64_t b) {
  for (unsigned i = type->bits; i-- > 0;) {
    const unsigned x = a >> i & 1, y = b >> i & 1;
    if (x != y)
      return (x > y) != (type->is_signed && i + 1 == type->bits) ? GREATER : LESS;
  }
  return EQUAL;
}

/* How the operands are written; a is v[2:3] or something uniform, b is v[4:5] or something uniform. */
typedef struct form {
  const char *format32, *format64; /* of predicate and type */
  unsigned mask;                   /* operand number of the result */
  int uniform;                     /* which operand: 0, 1, or -1 */
  unsigned sgpr;                   /* where it is, or 0 for `value` */
  uint64_t value;
} form_t;

static const form_t forms[] = {
    {"%s_%s_%s_e32 vcc, v2, v4", "%s_%s_%s_e32 vcc, v[2:3], v[4:5]", GS_S_VCC, -1, 0, 0},
    {"%s_%s_%s_e64 s[20:21], v2, v4", "%s_%s_%s_e64 s[20:21], v[2:3], v[4:5]", 20, -1, 0, 0},
    {"%s_%s_%s_e32 vcc, s12, v4", "%s_%s_%s_e32 vcc, s[12:13], v[4:5]", GS_S_VCC, 0, 12, 0},
    {"%s_%s_%s_e64 s[20:21], v2, s12", "%s_%s_%s_e64 s[20:21], v[2:3], s[12:13]", 20, 1, 12, 0},
    {"%s_%s_%s_e64 vcc, vcc_lo, v4", "%s_%s_%s_e64 vcc, vcc, v[4:5]", GS_S_VCC, 0, GS_S_VCC, 0},
    {"%s_%s_%s_e32 vcc, -7, v4", "%s_%s_%s_e32 vcc, -7, v[4:5]", GS_S_VCC, 0, 0,
     UINT64_C(0xfffffffffffffff9)},
    {"%s_%s_%s_e64 s[20:21], v2, 33", "%s_%s_%s_e64 s[20:21], v[2:3], 33", 20, 1, 0, 33},
    {"%s_%s_%s_e64 exec, v2, v4", "%s_%s_%s_e64 exec, v[2:3], v[4:5]", GS_S_EXEC, -1, 0, 0},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static const uint64_t exec_masks[] = {UINT64_MAX, 0, 1, UINT64_C(1) << 63, UINT64_C(0x0123456789abcdef)};
enum { EXEC_MASKS = sizeof exec_masks / sizeof exec_masks[0] };

static uint64_t operand(const isa_wave_t *t, const type_t *type, const form_t *form, int i, unsigned lane) {
  if (form->uniform == i && form->sgpr == 0)
    return form->value;
  if (form->uniform == i) {
    const uint32_t *s = &t->before.w.s.u32[form->sgpr];
    return type->bits == 64 ? (uint64_t)s[1] << 32 | s[0] : s[0];
  }
  return isa_u64(&t->before.v[i ? 4 : 2], lane);
}

static void check(const isa_wave_t *t, const type_t *type, const form_t *form, unsigned accepts, bool cmpx,
                  const char *text) {
  uint64_t expected = 0;
  for (unsigned l = 0; l < GS_LANES; l++) {
    const uint64_t a = operand(t, type, form, 0, l), b = operand(t, type, form, 1, l);
    expected |= (uint64_t)((outcome(type, a, b) & accepts) != 0) << l;
  }
  expected &= gs_exec(&t->before.w);
  if (isa_s64(t, form->mask) != expected || (cmpx && gs_exec(&t->w) != expected))
    fail_msg("%s: 0x%llx, not 0x%llx", text, (unsigned long long)isa_s64(t, form->mask),
             (unsigned long long)expected);
  isa_assert_only_changed(t, form->mask == 20          ? (cmpx ? "s[20:21] exec" : "s[20:21]")
                             : form->mask == GS_S_EXEC ? "exec"
                                                       : (cmpx ? "vcc exec" : "vcc"));
}

/* Lanes: half of them edge values, some pairs equal, some equal in one dword only. */
static void fill(isa_wave_t *t, const type_t *type, unsigned pass) {
  isa_reset(t, pass);
  if (type->bits == 64) {
    isa_fill64(&t->v[2], isa_u64_edges, isa_u64_edge_count, 1, pass);
    isa_fill64(&t->v[4], isa_u64_edges, isa_u64_edge_count, 5, 3 * pass);
  } else {
    isa_fill32(&t->v[2], isa_u32_edges, isa_u32_edge_count, 1, pass);
    isa_fill32(&t->v[4], isa_u32_edges, isa_u32_edge_count, isa_u32_edge_count, 2 * pass);
  }
  for (unsigned l = pass % 4; l < GS_LANES; l += 4) {
    if (l % 3 != 0)
      t->v[4].u32[l] = t->v[2].u32[l];
    if (l % 3 != 1)
      t->v[5].u32[l] = t->v[3].u32[l];
    if (type->bits == 16)
      t->v[4].u32[l] ^= 0xffff0000u; /* the high half plays no part */
  }
}

static void print_text(unsigned family, unsigned type, unsigned predicate, unsigned form,
                       char text[TEXT_BYTES]) {
  const char *const format = types[type].bits == 64 ? forms[form].format64 : forms[form].format32;
  (void)snprintf(text, TEXT_BYTES, format, family ? "v_cmpx" : "v_cmp", predicates[predicate].name,
                 types[type].name);
}

static void prepare(void **state) {
  static char texts[2 * TYPES * PREDICATES * FORMS][TEXT_BYTES];
  static const char *list[2 * TYPES * PREDICATES * FORMS];
  size_t count = 0;
  for (unsigned family = 0; family < 2; family++)
    for (unsigned type = 0; type < TYPES; type++)
      for (unsigned p = 0; p < PREDICATES; p++)
        for (unsigned f = 0; f < FORMS; f++) {
          print_text(family, type, p, f, texts[count]);
          list[count] = texts[count];
          count++;
        }
  isa_prepare(state, ISA_PART, list, sizeof list[0], count);
}

static void test_family(void **state, unsigned family) {
  prepare(state);
  isa_wave_t *t = isa_new(state, ISA_PART);
  for (unsigned type = 0; type < TYPES; type++)
    for (unsigned p = 0; p < PREDICATES; p++)
      for (unsigned f = 0; f < FORMS; f++) {
        char text[TEXT_BYTES];
        print_text(family, type, p, f, text);
        const unsigned passes = f < 2 ? (unsigned)isa_u32_edge_count : EXEC_MASKS;
        for (unsigned pass = 0; pass < passes; pass++) {
          fill(t, &types[type], pass);
          gs_set_exec(&t->w, pass < EXEC_MASKS ? exec_masks[pass] : UINT64_MAX);
          isa_run(t, text);
          check(t, &types[type], &forms[f], predicates[p].accepts, family == 1, text);
        }
      }
  isa_free(t);
}

static void test_cmp(void **state) {
  test_family(state, 0);
}
static void test_cmpx(void **state) {
  test_family(state, 1);
}

int main(void) {
  static const struct CMUnitTest tests[] = {isa_part_test(test_cmp), isa_part_test(test_cmpx)};
  return isa_main(tests, sizeof tests / sizeof tests[0]);
}
