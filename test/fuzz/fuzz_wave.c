/* Random instructions, one after the other, executed by a wave of each part with the handlers of each level
 * of host instruction set: whatever they are, the wave goes on, ends or faults, and nothing but its
 * registers, LDS and memory changes. FUZZ_STEPS in the environment: instructions for each part and level
 * (default 60000). Not here: what instructions do (test/isa), and words that do not decode (fuzz_decode.c).
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_STEPS = 60000, MOST_TRIES = 64, ADDRESS_REGISTERS = 16 };

/* Words of some encoding: fixed bits, free bits. */
static const uint32_t encodings[][2] = {
    {0xbe800000, 0x007fffff}, /* SOP1 */
    {0x80000000, 0x1fffffff}, /* SOP2 */
    {0xb0000000, 0x0fffffff}, /* SOPK */
    {0xbf000000, 0x007fffff}, /* SOPC */
    {0xbf800000, 0x007fffff}, /* SOPP */
    {0xc0000000, 0x03ffffff}, /* SMEM */
    {0x00000000, 0x7fffffff}, /* VOP2, VOP1, VOPC */
    {0x7e000000, 0x01ffffff}, /* VOP1 */
    {0x7c000000, 0x01ffffff}, /* VOPC */
    {0xd0000000, 0x03ffffff}, /* VOP3 */
    {0xd3800000, 0x007fffff}, /* VOP3P */
    {0xd8000000, 0x03feffff}, /* DS, not of GDS */
    {0xdc000000, 0x03ffffff}, /* FLAT, GLOBAL, SCRATCH */
    {0xe0000000, 0x03ffffff}, /* MUBUF */
    {0xe8000000, 0x03ffffff}, /* MTBUF */
};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

/* Makes words that decode, of each encoding equally often; returns their number. */
static size_t random_instruction(gs_target_t target, uint64_t *seed, uint32_t words[3]) {
  const uint32_t *encoding = encodings[isa_random(seed) % ENCODINGS];
  gs_inst_t inst;
  for (unsigned i = 0; i < MOST_TRIES; i++) {
    words[0] = encoding[0] | ((uint32_t)isa_random(seed) & encoding[1]);
    words[1] = (uint32_t)(isa_random(seed) >> (isa_random(seed) % 32));
    words[2] = (uint32_t)isa_random(seed);
    if (gs_decode(target, words, 3, &inst))
      return inst.size / 4;
  }
  return 0;
}

/* Addresses in reach, or nearly, in registers that memory instructions may take; anything in the rest. */
static void random_registers(isa_wave_t *t, uint64_t *seed) {
  for (unsigned i = 0; i < ADDRESS_REGISTERS; i++) {
    const unsigned r = 2 * (unsigned)(isa_random(seed) % (GS_ARCH_VGPRS / 2));
    const uint64_t random = isa_random(seed), base = ISA_MEMORY + random % (ISA_MEMORY_BYTES + 64);
    for (unsigned l = 0; l < GS_LANES; l++)
      isa_set_u64(&t->v[r], l, random >> 60 ? base + l * (random >> 56) : isa_random(seed));
    isa_set_s64(t, 2 * (unsigned)(isa_random(seed) % 50), base);
  }
  gs_set_exec(&t->w, isa_random(seed) | isa_random(seed));
  gs_wave_set_mode(&t->w, (uint32_t)isa_random(seed) & (GS_MODE_FP_MASK | GS_MODE_DX10_CLAMP | GS_MODE_IEEE));
}

static void run_one(isa_wave_t *t, uint64_t *seed) {
  const gs_row_t *const v = t->w.v;
  const gs_wave_env_t env = t->env;
  uint32_t words[3];
  const size_t count = random_instruction(t->env.target, seed, words);
  if (count == 0)
    return;
  memcpy(t->code, words, count * 4);
  t->code_bytes = count * 4;
  t->w.pc = ISA_CODE;
  memset(&t->w.fault, 0, sizeof t->w.fault);
  isa_step(t);
  const bool faulted = t->w.state == GS_WAVE_FAULTED;
  if (t->w.v != v || memcmp(&t->env, &env, sizeof env) != 0 || t->w.scc > 1 || t->w.state > GS_WAVE_FAULTED ||
      faulted != (t->w.fault.kind != GS_WAVE_FAULT_NONE)) {
    char text[256];
    (void)gs_disassemble(t->env.target, &t->inst, text, sizeof text);
    fail_msg("%s of %s: state %u, fault %u", text, gs_target_name(t->env.target), t->w.state,
             t->w.fault.kind);
  }
}

static void run_part(void **state, gs_target_t target) {
  const char *text = getenv("FUZZ_STEPS");
  const unsigned long steps = text ? strtoul(text, NULL, 10) : DEFAULT_STEPS;
  isa_wave_t *t = isa_new(state, target);
  uint64_t seed = target;
  uint8_t readonly[ISA_READONLY_BYTES];
  memcpy(readonly, t->readonly, sizeof readonly);
  for (unsigned long i = 0; i < steps; i++) {
    if (i % 8 == 0)
      random_registers(t, &seed);
    run_one(t, &seed);
  }
  assert_memory_equal(readonly, t->readonly, sizeof readonly);
  isa_free(t);
}

#define TEST(target, name, bit)                                                                              \
  static void test_##target(void **state) {                                                                  \
    run_part(state, target);                                                                                 \
  }
GS_TARGETS(TEST)
#undef TEST

int main(void) {
#define ROW(target, name, bit) cmocka_unit_test(test_##target),
  static const struct CMUnitTest tests[] = {GS_TARGETS(ROW)};
#undef ROW
  return isa_main(tests, sizeof tests / sizeof *tests);
}
