/* The table of kernels: growing, forgetting, and looking up while another thread adds. */
#include "plugin_test.h"

#include "kernels.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { MANY = 5000 };
static char regions[MANY], handles[MANY];

static void finds_what_was_added(void **state) {
  (void)state;
  tgt_kernels_t kernels = {NULL};
  assert_int_equal(tgt_kernels_init(&kernels), ATMI_OK);
  for (int i = 0; i < MANY; i++) {
    assert_null(tgt_kernels_find(&kernels, &regions[i]));
    assert_int_equal(tgt_kernels_add(&kernels, &regions[i], &handles[i]), ATMI_OK);
  }
  for (int i = 0; i < MANY; i++)
    assert_ptr_equal(tgt_kernels_find(&kernels, &regions[i]), &handles[i]);
  assert_null(tgt_kernels_find(&kernels, NULL));
  assert_null(tgt_kernels_find(&kernels, handles));
  tgt_kernels_fini(&kernels);
  tgt_kernels_fini(&kernels);
}

static void keeps_the_first(void **state) {
  (void)state;
  tgt_kernels_t kernels = {NULL};
  assert_int_equal(tgt_kernels_init(&kernels), ATMI_OK);
  assert_int_equal(tgt_kernels_add(&kernels, regions, &handles[1]), ATMI_OK);
  assert_int_equal(tgt_kernels_add(&kernels, regions, &handles[2]), ATMI_OK);
  assert_ptr_equal(tgt_kernels_find(&kernels, regions), &handles[1]);
  tgt_kernels_remove(&kernels, regions, &handles[2]); /* is not the one */
  assert_ptr_equal(tgt_kernels_find(&kernels, regions), &handles[1]);
  tgt_kernels_remove(&kernels, regions, &handles[1]);
  assert_null(tgt_kernels_find(&kernels, regions));
  assert_null(tgt_kernels_find(&kernels, TGT_KERNEL_GONE));
  tgt_kernels_fini(&kernels);
}

/* Libraries that come and go use the same places again. */
static void does_not_grow_by_replacing(void **state) {
  (void)state;
  tgt_kernels_t kernels = {NULL};
  assert_int_equal(tgt_kernels_init(&kernels), ATMI_OK);
  const tgt_kernel_table_t *table = atomic_load(&kernels.table);
  for (int i = 0; i < MANY; i++) {
    int at = i % 20;
    assert_int_equal(tgt_kernels_add(&kernels, &regions[at], &handles[at]), ATMI_OK);
    assert_ptr_equal(tgt_kernels_find(&kernels, &regions[at]), &handles[at]);
    tgt_kernels_remove(&kernels, &regions[at], &handles[at]);
  }
  assert_ptr_equal(atomic_load(&kernels.table), table);
  tgt_kernels_fini(&kernels);
}

static void *look(void *argument) {
  tgt_kernels_t *kernels = argument;
  for (int round = 0; round < 200; round++)
    for (int i = 0; i < 16; i++)
      if (tgt_kernels_find(kernels, &regions[i]) != &handles[i])
        return (void *)"lost";
  return NULL;
}

/* Looks for each kernel until it is there, and at what is behind it. */
static void *look_for_the_new(void *argument) {
  tgt_kernels_t *kernels = argument;
  for (int i = 16; i < MANY; i++) {
    const char *found;
    while (!(found = tgt_kernels_find(kernels, &regions[i])))
      sched_yield();
    if (*found != 1)
      return (void *)"not whole";
  }
  return NULL;
}

static void is_read_while_it_grows(void **state) {
  (void)state;
  tgt_kernels_t kernels = {NULL};
  pthread_t thread, other;
  void *result, *other_result;
  assert_int_equal(tgt_kernels_init(&kernels), ATMI_OK);
  for (int i = 0; i < 16; i++)
    assert_int_equal(tgt_kernels_add(&kernels, &regions[i], &handles[i]), ATMI_OK);
  assert_int_equal(pthread_create(&thread, NULL, look, &kernels), 0);
  assert_int_equal(pthread_create(&other, NULL, look_for_the_new, &kernels), 0);
  for (int i = 16; i < MANY; i++) {
    handles[i] = 1;
    assert_int_equal(tgt_kernels_add(&kernels, &regions[i], &handles[i]), ATMI_OK);
  }
  pthread_join(thread, &result);
  pthread_join(other, &other_result);
  assert_null(result);
  assert_null(other_result);
  tgt_kernels_fini(&kernels);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_what_was_added),
      cmocka_unit_test(keeps_the_first),
      cmocka_unit_test(does_not_grow_by_replacing),
      cmocka_unit_test(is_read_while_it_grows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
