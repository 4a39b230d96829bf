/* Fuzz target: the decoder and the disassembler on any words, for each part. The first byte chooses the part.
 * Not here: whether LLVM agrees (test/isa/test_decode.c compares the texts of random words, too). */
#include "fuzz.h"

#include <string.h>

#include "isa/inst.h"

size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity) {
  static const uint32_t words[][3] = {
      {0xbe8000ff, 0x12345678, 0}, {0xd1d8c000, 0x24040302, 0}, {0x7e0002f9, 0x06060600, 0},
      {0x7e0002fa, 0xff01e400, 0}, {0xd3cd8000, 0x1c02010c, 0}, {0xd81a0000, 0x00000100, 0},
      {0xdc508000, 0x007f0000, 0}, {0xe0501000, 0x80000100, 0}, {0xc0060002, 0x00000010, 0},
      {0x24000000 | 255, 77, 0},   {0xb8801801, 0, 0},          {0xe8b17000, 0x80000100, 0},
  };
  if (number >= sizeof words / sizeof *words || capacity < 1 + sizeof *words)
    return 0;
  data[0] = (uint8_t)number;
  memcpy(data + 1, words[number], sizeof *words);
  return 1 + sizeof *words;
}

static void check(gs_target_t target, const uint32_t *words, size_t count) {
  gs_inst_t inst;
  char text[256], small[5];
  const bool known = gs_decode(target, words, count, &inst);
  FUZZ_CHECK(known == (inst.op != NULL));
  FUZZ_CHECK(known ? inst.size <= 4 * count && inst.size % 4 == 0 && inst.size > 0 : inst.size == 4);
  FUZZ_CHECK(!known || (inst.op->targets & target));
  const size_t length = gs_disassemble(target, &inst, text, sizeof text);
  FUZZ_CHECK(length > 0 && length < sizeof text && strlen(text) == length);
  FUZZ_CHECK(gs_disassemble(target, &inst, small, sizeof small) == length && strlen(small) < sizeof small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t words[3] = {0};
  if (size < 1)
    return 0;
  const size_t count = (size - 1) / 4 < 3 ? (size - 1) / 4 : 3;
  memcpy(words, data + 1, count * 4);
  for (size_t i = 0; i <= count; i++)
    check(gs_targets[data[0] % GS_TARGET_COUNT], words, i);
  return 0;
}
