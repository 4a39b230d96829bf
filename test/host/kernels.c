/* The table of kernels: growing, forgetting, and looking up while another thread adds; and what tells
 * launches apart. */
#include "plugin_test.h"

#include "device.h"
#include "kernels.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { MANY = 5000 };
static char regions[MANY], handles[MANY];

static void finds_what_was_added(void **state) {
  (void)state;
  tgt_kernels_t kernels = {.table = NULL};
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
  tgt_kernels_t kernels = {.table = NULL};
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
  tgt_kernels_t kernels = {.table = NULL};
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
  tgt_kernels_t kernels = {.table = NULL};
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

/* ---- launches ---- */

typedef struct launching {
  tgt_device_t device;
  tgt_kernel_args_t args;
  tgt_launch_t launch;
} launching_t;

static void begin_launching(launching_t *launching) {
  memset(launching, 0, sizeof *launching);
  assert_int_equal(tgt_kernels_init(&launching->device.kernels), ATMI_OK);
  assert_int_equal(tgt_kernels_add(&launching->device.kernels, &regions[1], &handles[1]), ATMI_OK);
  launching->args = (tgt_kernel_args_t){.version = TGT_ARGS_WITH_FLAGS, .tripcount = 100};
  launching->launch =
      (tgt_launch_t){&launching->device, &regions[16], &launching->args, 7 | UINT64_C(3) << 32};
}

static void other_id(launching_t *launching) {
  launching->launch.id = &regions[32]; /* has the same place */
}
static void other_teams(launching_t *launching) {
  launching->launch.clauses++;
}
static void other_threads(launching_t *launching) {
  launching->launch.clauses += UINT64_C(1) << 32;
}
static void other_version(launching_t *launching) {
  launching->args.version++;
}
static void other_count(launching_t *launching) {
  launching->args.count++;
}
static void other_tripcount(launching_t *launching) {
  launching->args.tripcount++;
}
static void other_teams_y(launching_t *launching) {
  launching->args.teams[1]++;
}
static void other_teams_z(launching_t *launching) {
  launching->args.teams[2]++;
}
static void other_threads_y(launching_t *launching) {
  launching->args.threads[1]++;
}
static void other_threads_z(launching_t *launching) {
  launching->args.threads[2]++;
}
static void other_lds(launching_t *launching) {
  launching->args.dynamic_lds_bytes++;
}
/* Another library has gone: a kernel may lie where its was. */
static void other_kernel(launching_t *launching) {
  tgt_kernels_remove(&launching->device.kernels, &regions[1], &handles[1]);
}
static void more_kernels(launching_t *launching) {
  assert_int_equal(tgt_kernels_add(&launching->device.kernels, &regions[2], &handles[2]), ATMI_OK);
}
static void other_arguments(launching_t *launching) {
  static void *bases[1];
  launching->args.bases = bases;
}

static void launches_are_told_apart(void **state) {
  (void)state;
  static struct atmi_plans plans;
  static atmi_stream_t stream;
  static const struct {
    void (*change)(launching_t *launching);
    bool is_other;
  } rows[] = {{other_id, true},        {other_teams, true},     {other_threads, true}, {other_version, true},
              {other_count, true},     {other_tripcount, true}, {other_teams_y, true}, {other_teams_z, true},
              {other_threads_y, true}, {other_threads_z, true}, {other_lds, true},     {other_kernel, true},
              {more_kernels, false},   {other_arguments, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    launching_t launching;
    begin_launching(&launching);
    stream.ready_plans = &plans;
    atmi_plan_t *plan = atmi_plan_place(&plans, (uintptr_t)launching.launch.id);
    *plan = (atmi_plan_t){.key = tgt_launch_key(&launching.launch, 0)};
    assert_ptr_equal(tgt_launch_find(&stream, &launching.launch), plan);
    rows[i].change(&launching);
    assert_ptr_equal(tgt_launch_find(&stream, &launching.launch), rows[i].is_other ? NULL : plan);
    atmi_plan_key_t key = tgt_launch_key(&launching.launch, 0);
    assert_int_equal(!memcmp(&key, &plan->key, offsetof(atmi_plan_key_t, tag)), !rows[i].is_other);
    tgt_kernels_fini(&launching.device.kernels);
  }
  stream.ready_plans = NULL;
  assert_null(atmi_plan_place(stream.ready_plans, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_what_was_added),       cmocka_unit_test(keeps_the_first),
      cmocka_unit_test(does_not_grow_by_replacing), cmocka_unit_test(is_read_while_it_grows),
      cmocka_unit_test(launches_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
