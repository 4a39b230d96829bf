/* The heap behind device code's malloc, over a model of device memory. */
#include "plugin_test.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

typedef struct model {
  uint64_t next, live, bytes;
  bool full;
} model_t;

static uint64_t model_allocate(void *context, uint64_t bytes) {
  model_t *model = context;
  if (model->full || bytes > UINT64_C(1) << 40)
    return 0;
  uint64_t address = model->next;
  model->next += (bytes + 8191) & ~UINT64_C(4095);
  model->live++;
  model->bytes += bytes;
  return address;
}

static void model_release(void *context, uint64_t address) {
  (void)address;
  ((model_t *)context)->live--;
}

enum { BLOCKS = 5000 };
typedef struct block {
  uint64_t address, bytes;
} block_t;

static int by_address(const void *left, const void *right) {
  const block_t *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

static void blocks_never_overlap(void **state) {
  (void)state;
  model_t model = {.next = 0x100000000};
  const atmi_heap_backing_t source = {&model, model_allocate, model_release, false};
  atmi_heap_t heap;
  block_t *blocks = calloc(BLOCKS, sizeof *blocks), *sorted = calloc(BLOCKS, sizeof *sorted);
  uint64_t seed = 7;
  atmi_heap_init(&source, &heap);
  for (int round = 0; round < 40; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      if (seed >> 62 == 0 && blocks[i].address) {
        assert_true(atmi_heap_release(&heap, blocks[i].address));
        assert_false(atmi_heap_release(&heap, blocks[i].address)); /* not twice */
        blocks[i].address = 0;
      } else if (!blocks[i].address) {
        blocks[i].bytes = seed >> 40 & ((UINT64_C(1) << (seed >> 36 & 15)) - 1);
        blocks[i].address = atmi_heap_allocate(&heap, blocks[i].bytes);
        assert_true(blocks[i].address && !(blocks[i].address & 15));
      }
    }
    memcpy(sorted, blocks, BLOCKS * sizeof *blocks);
    qsort(sorted, BLOCKS, sizeof *sorted, by_address);
    for (int i = 1; i < BLOCKS; i++)
      if (sorted[i - 1].address)
        assert_true(sorted[i - 1].address + (sorted[i - 1].bytes ? sorted[i - 1].bytes : 1) <=
                    sorted[i].address);
  }
  atmi_heap_fini(&heap);
  assert_int_equal(model.live, 0);
  free(blocks);
  free(sorted);
}

static void refuses_what_it_did_not_give(void **state) {
  (void)state;
  model_t model = {.next = 0x100000000};
  const atmi_heap_backing_t source = {&model, model_allocate, model_release, false};
  atmi_heap_t heap;
  atmi_heap_init(&source, &heap);
  assert_false(atmi_heap_release(&heap, 0x1234));
  uint64_t small = atmi_heap_allocate(&heap, 100), large = atmi_heap_allocate(&heap, 1 << 20);
  assert_true(small && large);
  assert_false(atmi_heap_release(&heap, small + 16));
  assert_false(atmi_heap_release(&heap, small + 128)); /* the next block, which nobody has */
  assert_false(atmi_heap_release(&heap, large + 4096));
  assert_false(atmi_heap_release(&heap, UINT64_MAX));
  assert_true(atmi_heap_release(&heap, large));
  assert_false(atmi_heap_release(&heap, large));
  assert_true(atmi_heap_release(&heap, small));
  /* A piece of small blocks is not for a large one, though it is as large and nobody has any of them. */
  large = atmi_heap_allocate(&heap, 1 << 20);
  assert_true(large && large != small);
  assert_int_equal(model.live, 2);
  assert_int_equal(atmi_heap_allocate(&heap, UINT64_MAX), 0);
  assert_int_equal(atmi_heap_allocate(&heap, UINT64_C(1) << 41), 0);
  model.full = true;
  assert_int_equal(atmi_heap_allocate(&heap, 300), 0);
  assert_true(atmi_heap_allocate(&heap, 100) != 0); /* there is still room for these */
  atmi_heap_fini(&heap);
  assert_int_equal(model.live, 0);
}

/* Under a checker: pieces of the blocks' own sizes, which stay. */
static void blocks_are_kept_apart(void **state) {
  (void)state;
  model_t model = {.next = 0x100000000};
  const atmi_heap_backing_t source = {&model, model_allocate, model_release, true};
  atmi_heap_t heap;
  atmi_heap_init(&source, &heap);
  uint64_t first = atmi_heap_allocate(&heap, 10), second = atmi_heap_allocate(&heap, 10),
           none = atmi_heap_allocate(&heap, 0), large = atmi_heap_allocate(&heap, 100000);
  assert_true(first && second && first != second && none && large);
  assert_int_equal(model.live, 4);
  assert_int_equal(model.bytes, 10 + 10 + 1 + 100000);
  assert_true(atmi_heap_release(&heap, first));
  assert_false(atmi_heap_release(&heap, first));
  assert_true(atmi_heap_release(&heap, large));
  assert_false(atmi_heap_release(&heap, large));
  assert_false(atmi_heap_release(&heap, second + 1));
  assert_int_equal(model.live, 4);
  uint64_t other = atmi_heap_allocate(&heap, 11);
  assert_true(other != first && atmi_heap_allocate(&heap, 10) == first);
  assert_int_equal(model.live, 5);
  atmi_heap_fini(&heap);
  assert_int_equal(model.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_never_overlap),
      cmocka_unit_test(refuses_what_it_did_not_give),
      cmocka_unit_test(blocks_are_kept_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
