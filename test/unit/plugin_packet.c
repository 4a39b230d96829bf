/* AQL packets, bit by bit as the HSA specification draws them, and the argument block of a launch. */
#include "plugin_test.h"

#include "stream/kernarg.h"
#include "device/packet.h"

#include <string.h>

static void builds_headers(void **state) {
  (void)state;
  /* type in bits 0-7, barrier in bit 8, acquire scope in 9-10, release scope in 11-12; system scope is 2 */
  assert_int_equal(atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, false, 0), 0x1402);
  assert_int_equal(atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, true, 0), 0x1502);
  assert_int_equal(atmi_packet_header(HSA_PACKET_TYPE_BARRIER_AND, true, 0), 0x1503);
  assert_int_equal(atmi_packet_header(HSA_PACKET_TYPE_BARRIER_AND, false, 0), 0x1403);
  static const atmi_dispatch_t one = {.grid = {64, 1, 1}}, two = {.grid = {64, 2, 1}},
                               three = {.grid = {1, 1, 2}};
  assert_int_equal(
      atmi_packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, true, atmi_packet_dispatch_setup(&one)),
      0x00011502);
  assert_int_equal(atmi_packet_dispatch_setup(&one), 1); /* dimensions in bits 0-1 */
  assert_int_equal(atmi_packet_dispatch_setup(&two), 2);
  assert_int_equal(atmi_packet_dispatch_setup(&three), 3);
}

static uint64_t field(const void *packet, size_t offset, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, (const char *)packet + offset, bytes);
  return value;
}

static void fills_dispatch_packets(void **state) {
  (void)state;
  unsigned char packet[64];
  memset(packet, 0xee, sizeof packet);
  const atmi_dispatch_t dispatch = {.kernel_object = UINT64_C(0x1122334455667788),
                                    .group = {256, 2, 3},
                                    .grid = {0xffffff00, 4, 9},
                                    .private_bytes = 0x1234,
                                    .group_bytes = 0x5678,
                                    .kernarg = (void *)(uintptr_t)0x99aabbcc,
                                    .done = {UINT64_C(0x7766554433221100)}};
  atmi_packet_fill_dispatch(&dispatch, (hsa_kernel_dispatch_packet_t *)(void *)packet);
  static const struct {
    size_t offset, bytes;
    uint64_t value;
  } expected[] = {
      {0, 4, 0xeeeeeeee}, /* header and setup are not touched: they publish the packet */
      {4, 2, 256},
      {6, 2, 2},
      {8, 2, 3},
      {10, 2, 0},
      {12, 4, 0xffffff00},
      {16, 4, 4},
      {20, 4, 9},
      {24, 4, 0x1234},
      {28, 4, 0x5678},
      {32, 8, UINT64_C(0x1122334455667788)},
      {40, 8, 0x99aabbcc},
      {48, 8, 0},
      {56, 8, UINT64_C(0x7766554433221100)},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(field(packet, expected[i].offset, expected[i].bytes), expected[i].value);
}

static void fills_barrier_packets(void **state) {
  (void)state;
  static const hsa_signal_t signals[5] = {{11}, {22}, {33}, {44}, {55}};
  for (uint32_t count = 0; count <= 5; count++) {
    unsigned char packet[64];
    memset(packet, 0xee, sizeof packet);
    atmi_packet_fill_barrier(signals, count, (hsa_signal_t){77}, (hsa_barrier_and_packet_t *)(void *)packet);
    assert_int_equal(field(packet, 0, 4), 0xeeeeeeee);
    assert_int_equal(field(packet, 4, 4), 0);
    for (uint32_t i = 0; i < 5; i++)
      assert_int_equal(field(packet, 8 + 8 * i, 8), i < count ? 11 * (i + 1) : 0);
    assert_int_equal(field(packet, 48, 8), 0);
    assert_int_equal(field(packet, 56, 8), 77);
  }
}

/* ---- argument blocks ---- */

static const atmi_kernarg_facts_t facts = {.groups = {1000, 5, 6},
                                           .group = {256, 2, 1},
                                           .dynamic_lds_bytes = 4096,
                                           .private_base = 0x11112222,
                                           .shared_base = 0x33334444,
                                           .queue = UINT64_C(0x5555666677778888)};

static void passes_words_and_adds_offsets(void **state) {
  (void)state;
  atmi_kernel_metadata_t kernel = {.kernarg_bytes = 24, .explicit_bytes = 24};
  void *const bases[] = {(void *)(uintptr_t)1000, (void *)(uintptr_t)0xdeadbeef, NULL};
  static const ptrdiff_t offsets[] = {8, 0, -1};
  unsigned char block[32];
  memset(block, 0xee, sizeof block);
  atmi_kernarg_fill(&kernel, NULL, bases, offsets, 3, &facts, block);
  assert_int_equal(field(block, 0, 8), 1008);
  assert_int_equal(field(block, 8, 8), 0xdeadbeef);
  assert_int_equal(field(block, 16, 8), UINT64_MAX);                   /* an offset may lead below the base */
  assert_int_equal(field(block, 24, 8), UINT64_C(0xeeeeeeeeeeeeeeee)); /* nothing beyond the block */
}

/* As kernels of clang 18 take their launch environment. */
static void puts_a_leading_word_first(void **state) {
  (void)state;
  atmi_kernel_metadata_t kernel = {.kernarg_bytes = 24, .explicit_bytes = 16};
  void *const bases[] = {(void *)(uintptr_t)1000};
  static const ptrdiff_t offsets[] = {8};
  static const uint64_t leading = UINT64_MAX;
  unsigned char block[32];
  memset(block, 0xee, sizeof block);
  atmi_kernarg_fill(&kernel, &leading, bases, offsets, 1, &facts, block);
  assert_int_equal(field(block, 0, 8), UINT64_MAX);
  assert_int_equal(field(block, 8, 8), 1008);
  assert_int_equal(field(block, 16, 8), 0);
  assert_int_equal(field(block, 24, 8), UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void zeroes_the_hidden_area_of_v4(void **state) {
  (void)state;
  atmi_kernel_metadata_t kernel = {.kernarg_bytes = 64, .explicit_bytes = 8};
  void *const bases[] = {(void *)(uintptr_t)5};
  static const ptrdiff_t offsets[] = {0};
  unsigned char block[64];
  memset(block, 0xee, sizeof block);
  atmi_kernarg_fill(&kernel, NULL, bases, offsets, 1, &facts, block);
  assert_int_equal(field(block, 0, 8), 5);
  for (size_t i = 8; i < 64; i += 8)
    assert_int_equal(field(block, i, 8), 0);
}

/* The layout of code object v5 behind 16 bytes of explicit arguments; offsets from LLVM's AMDGPU usage guide.
 */
static void fills_hidden_arguments_of_v5(void **state) {
  (void)state;
  static const struct {
    atmi_hidden_t hidden;
    uint64_t value;
  } rows[] = {
      {{16 + 0, 4, ATMI_HIDDEN_BLOCK_COUNT_X}, 1000},
      {{16 + 4, 4, ATMI_HIDDEN_BLOCK_COUNT_Y}, 5},
      {{16 + 8, 4, ATMI_HIDDEN_BLOCK_COUNT_Z}, 6},
      {{16 + 12, 2, ATMI_HIDDEN_GROUP_SIZE_X}, 256},
      {{16 + 14, 2, ATMI_HIDDEN_GROUP_SIZE_Y}, 2},
      {{16 + 16, 2, ATMI_HIDDEN_GROUP_SIZE_Z}, 1},
      {{16 + 18, 2, ATMI_HIDDEN_REMAINDER_X}, 0},
      {{16 + 20, 2, ATMI_HIDDEN_REMAINDER_Y}, 0},
      {{16 + 22, 2, ATMI_HIDDEN_REMAINDER_Z}, 0},
      {{16 + 64, 2, ATMI_HIDDEN_GRID_DIMS}, 3},
      {{16 + 120, 4, ATMI_HIDDEN_DYNAMIC_LDS_SIZE}, 4096},
      {{16 + 192, 4, ATMI_HIDDEN_PRIVATE_BASE}, 0x11112222},
      {{16 + 196, 4, ATMI_HIDDEN_SHARED_BASE}, 0x33334444},
      {{16 + 200, 8, ATMI_HIDDEN_QUEUE_PTR}, UINT64_C(0x5555666677778888)},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  assert_int_equal(ROWS, ATMI_HIDDEN_MAX);
  atmi_kernel_metadata_t kernel = {.kernarg_bytes = 272, .explicit_bytes = 16, .hidden_count = ROWS};
  for (size_t i = 0; i < ROWS; i++)
    kernel.hidden[i] = rows[i].hidden;
  unsigned char block[272 + 8];
  memset(block, 0xee, sizeof block);
  void *const bases[] = {(void *)(uintptr_t)1, (void *)(uintptr_t)2};
  static const ptrdiff_t offsets[] = {0, 0};
  atmi_kernarg_fill(&kernel, NULL, bases, offsets, 2, &facts, block);
  for (size_t i = 0; i < ROWS; i++)
    assert_int_equal(field(block, rows[i].hidden.offset, rows[i].hidden.bytes), rows[i].value);
  assert_int_equal(field(block, 16 + 40, 8), 0); /* global offset */
  assert_int_equal(field(block, 16 + 80, 8), 0); /* hostcall buffer */
  assert_int_equal(field(block, 272, 8), UINT64_C(0xeeeeeeeeeeeeeeee));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(builds_headers),
      cmocka_unit_test(fills_dispatch_packets),
      cmocka_unit_test(fills_barrier_packets),
      cmocka_unit_test(passes_words_and_adds_offsets),
      cmocka_unit_test(puts_a_leading_word_first),
      cmocka_unit_test(zeroes_the_hidden_area_of_v4),
      cmocka_unit_test(fills_hidden_arguments_of_v5),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
