/* What the checker takes instructions of the host to access, compared with Zydis, in all code of the C
 * library and its mathematics, of this program, and of chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those four first. */
#include <cmocka.h>

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check/x86.h"

typedef struct sums {
  unsigned long known, all, wrong;
} sums_t;

static const uint64_t place = UINT64_C(0x7f0012345000);

/* Registers far from each other. */
static void fill(gregset_t regs, ZydisRegisterContext *context) {
  static const int number[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  memset(context, 0, sizeof *context);
  for (unsigned i = 0; i < 16; i++) {
    const uint64_t value = (i + 1) * UINT64_C(0x10300507);
    regs[number[i]] = (greg_t)value;
    context->values[ZYDIS_REGISTER_RAX + i] = value;
  }
}

/* Whether the operand is one that is meant to be known. */
static bool counts(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o) {
  if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM || !o->actions || !o->size)
    return false;
  if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS || in->address_width != 64)
    return false;
  if (in->mnemonic == ZYDIS_MNEMONIC_NOP)
    return false;
  return o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
}

static void complain(const uint8_t *code, const ZydisDecodedInstruction *in, const gs_host_access_t *access) {
  fprintf(stderr, "%s:", ZydisMnemonicGetString(in->mnemonic));
  for (unsigned i = 0; i < in->length; i++)
    fprintf(stderr, " %02x", code[i]);
  fprintf(stderr, ": 0x%" PRIx64 ", %" PRIu32 " bytes, %s%s\n", access->address, access->bytes,
          access->reads ? "r" : "", access->writes ? "w" : "");
}

/* Whether Zydis has such an access. It may be of more bytes, if it reads. */
static bool is_one(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                   const ZydisRegisterContext *context, const gs_host_access_t *access) {
  for (unsigned i = 0; i < in->operand_count; i++) {
    const ZydisDecodedOperand *o = &operands[i];
    ZyanU64 address = 0;
    if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
        ZYAN_FAILED(ZydisCalcAbsoluteAddressEx(in, o, place, context, &address)) ||
        address != access->address)
      continue;
    const bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    const bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    const bool fits = access->writes ? o->size == 8 * access->bytes : o->size >= 8 * access->bytes;
    if (fits && reads == access->reads && writes == access->writes)
      return true;
  }
  return false;
}

static void compare(const uint8_t *code, const ZydisDecodedInstruction *in,
                    const ZydisDecodedOperand *operands, sums_t *sums) {
  gregset_t regs = {0};
  ZydisRegisterContext context;
  gs_host_access_t access[GS_HOST_ACCESSES];
  fill(regs, &context);
  const unsigned count = gs_x86_accesses(code, in->length, place, regs, access);
  for (unsigned i = 0; i < in->operand_count_visible; i++)
    if (counts(in, &operands[i])) {
      sums->all++;
      sums->known += count != 0;
    }
  for (unsigned i = 0; i < count; i++)
    if (!is_one(in, operands, &context, &access[i]) && sums->wrong++ < 20)
      complain(code, in, &access[i]);
}

/* The instruction's length; 1 if it is none. */
static size_t compare_one(const uint8_t *code, size_t bytes, sums_t *sums) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction in;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, bytes, &in, operands)))
    return 1;
  compare(code, &in, operands, sums);
  return in.length;
}

static void compare_range(const uint8_t *code, size_t bytes, sums_t *sums) {
  for (size_t at = 0; at < bytes;)
    at += compare_one(code + at, bytes - at, sums);
}

static void test_against_zydis(void **state) {
  (void)state;
  char line[512];
  sums_t sums = {0};
  /* Newer instructions are in these: nobody calls them. */
  assert_true(dlopen("libm.so.6", RTLD_NOW) && dlopen("libmvec.so.1", RTLD_NOW));
  FILE *maps = fopen("/proc/self/maps", "re");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) {
    uint64_t start, end;
    char rights[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) == 3 && rights[0] == 'r' &&
        rights[2] == 'x' && strchr(line, '/'))
      compare_range((const uint8_t *)(uintptr_t)start, end - start, &sums);
  }
  fclose(maps);
  print_message("%lu of %lu operands known, %lu wrong\n", sums.known, sums.all, sums.wrong);
  assert_int_equal(sums.wrong, 0);
  assert_true(sums.all > 10000);
  assert_true(sums.known * 100 > sums.all * 95);
}

/* The beginning of an instruction of some kind: VEX, EVEX without masks, or older with prefixes. */
static void shape(uint32_t chosen, uint8_t *code) {
  static const uint8_t escape[3] = {0, 0x38, 0x3a};
  const uint8_t map = (uint8_t)(1 + chosen / 4 % 3);
  unsigned at = 0;
  switch (chosen % 4) {
  case 0:
    code[0] = 0xc5;
    code[1] = (uint8_t)(0xf8 | (code[1] & 7));
    return;
  case 1:
    code[0] = 0xc4;
    code[1] = 0xe0 | map;
    code[2] |= 0x78;
    return;
  case 2:
    code[0] = 0x62;
    code[1] = 0xf0 | map;
    code[2] |= 0x7c;
    code[3] = (uint8_t)((code[3] & 0x60) | 8);
    return;
  default:
    if (chosen & 16)
      code[at++] = 0x66;
    if (chosen & 32)
      code[at++] = chosen & 64 ? 0xf2 : 0xf3;
    code[at++] = 0x0f;
    if (escape[map - 1])
      code[at] = escape[map - 1];
  }
}

/* Rows are of opcodes, and a prefix more may make another instruction of one. */
static void test_random_code(void **state) {
  (void)state;
  enum { CODES = 1000000, BYTES = 16 };
  uint64_t random = 1;
  sums_t sums = {0};
  for (unsigned i = 0; i < CODES; i++) {
    uint8_t code[BYTES];
    for (unsigned j = 0; j < BYTES; j++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      code[j] = (uint8_t)(random >> 56);
    }
    shape((uint32_t)(random >> 32), code);
    compare_one(code, BYTES, &sums);
  }
  print_message("%lu of %lu operands known, %lu wrong\n", sums.known, sums.all, sums.wrong);
  assert_int_equal(sums.wrong, 0);
  assert_true(sums.known > CODES / 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_zydis),
                                     cmocka_unit_test(test_random_code)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
