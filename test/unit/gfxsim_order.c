/* What the checker takes to have happened before what, without waves: barriers, atomic words, kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those four first. */
#include <cmocka.h>

#include "check/order.h"
#include "check/race_touch.h"
#include "check/shadow.h"

enum { WORD = 0x10000, OTHER_WORD = 0x20000, GROUPS = 3 };

/* A kernel with some groups of two waves. */
typedef struct fixture {
  gs_order_t order;
  gs_job_t *job;
  gs_crew_t *crew[GROUPS];
} fixture_t;

static int set_up(void **state) {
  static fixture_t f;
  const gs_job_t kernel = {.bytes = 0};
  assert_int_equal(gs_order_init(&f.order), 0);
  f.job = gs_order_begin(&f.order, &kernel);
  assert_non_null(f.job);
  for (unsigned i = 0; i < GROUPS; i++) {
    f.crew[i] = gs_order_crew(&f.order, f.job, i, 2, 256);
    assert_non_null(f.crew[i]);
  }
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *f = *state;
  for (unsigned i = 0; i < GROUPS; i++)
    gs_order_dismiss(&f->order, f->crew[i]);
  gs_order_end(&f->order, f->job);
  gs_order_fini(&f->order);
  return 0;
}

/* What wave `w` does now. */
static gs_stamp_t act(gs_crew_t *crew, unsigned w) {
  crew->wave[w].dirty = true;
  return (gs_stamp_t)crew->id << GS_STAMP_CREW | (gs_stamp_t)w << GS_STAMP_WAVE |
         (gs_stamp_t)crew->wave[w].clock << GS_STAMP_CLOCK;
}

static bool before(fixture_t *f, gs_stamp_t stamp, unsigned crew, unsigned w) {
  return gs_order_is_before(&f->order, f->crew[crew], w, stamp);
}

static void access_word(fixture_t *f, gs_crew_t *crew, unsigned w, uint64_t address, bool returns) {
  const gs_order_word_t word = {.address = address};
  gs_order_atomic(&f->order, crew, w, &word, 1, returns);
}

static void test_barriers_order_waves(void **state) {
  fixture_t *f = *state;
  const gs_stamp_t first = act(f->crew[0], 0);
  assert_true(before(f, first, 0, 0));
  assert_false(before(f, first, 0, 1));
  gs_order_barrier(&f->order, f->crew[0]);
  assert_true(before(f, first, 0, 1));
  const gs_stamp_t second = act(f->crew[0], 0);
  assert_false(before(f, second, 0, 1));
  assert_false(before(f, first, 1, 0)); /* no other group's */
  /* Also when clocks are at their end. */
  for (unsigned i = 0; i < 3 * GS_CLOCK_MAX; i++) {
    const gs_stamp_t stamp = act(f->crew[0], 1);
    gs_order_waited(&f->crew[0]->wave[1]);
    assert_false(before(f, stamp, 0, 0));
    if (i % 100 == 99)
      gs_order_barrier(&f->order, f->crew[0]);
  }
}

/* The writer must have waited for its stores, the reader must use what came back. */
static void test_atomics_order_groups(void **state) {
  fixture_t *f = *state;
  const gs_stamp_t waited = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  const gs_stamp_t late = act(f->crew[0], 0);
  access_word(f, f->crew[0], 0, WORD, false);
  access_word(f, f->crew[1], 0, OTHER_WORD, true);
  assert_false(before(f, waited, 1, 0));
  access_word(f, f->crew[1], 0, WORD, false);
  assert_false(before(f, waited, 1, 0));
  access_word(f, f->crew[1], 0, WORD, true);
  assert_true(before(f, waited, 1, 0));
  assert_false(before(f, late, 1, 0));
  assert_false(before(f, waited, 1, 1)); /* its mate has not looked */
  gs_order_barrier(&f->order, f->crew[1]);
  assert_true(before(f, waited, 1, 1));
}

static void test_loads_learn_when_the_cache_is_empty(void **state) {
  fixture_t *f = *state;
  const gs_stamp_t stamp = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  access_word(f, f->crew[0], 0, WORD, false);
  gs_order_learn(&f->order, f->crew[1], 0, WORD, 0);
  assert_false(before(f, stamp, 1, 0));
  gs_order_invalidated(&f->crew[1]->wave[0]);
  assert_true(before(f, stamp, 1, 0));
}

/* What was told later than somebody looked is news to them; and what he tells, he passes on. */
static void test_what_is_told_later(void **state) {
  fixture_t *f = *state;
  const gs_stamp_t first = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  access_word(f, f->crew[0], 0, WORD, false);
  access_word(f, f->crew[1], 0, WORD, true);
  const gs_stamp_t second = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  access_word(f, f->crew[0], 0, WORD, false);
  assert_true(before(f, first, 1, 0));
  assert_false(before(f, second, 1, 0));
  access_word(f, f->crew[1], 0, OTHER_WORD, false);
  access_word(f, f->crew[2], 1, OTHER_WORD, true);
  assert_true(before(f, first, 2, 1));
  access_word(f, f->crew[2], 1, WORD, true);
  assert_true(before(f, second, 2, 1));
}

static void test_local_atomics_order_waves(void **state) {
  fixture_t *f = *state;
  const gs_stamp_t first = act(f->crew[0], 0);
  gs_order_local_atomic(f->crew[0], 0, 5);
  const gs_stamp_t second = act(f->crew[0], 0);
  gs_order_local_atomic(f->crew[0], 1, 6);
  assert_false(before(f, first, 0, 1));
  gs_order_local_atomic(f->crew[0], 1, 5);
  assert_true(before(f, first, 0, 1));
  assert_false(before(f, second, 0, 1));
}

static void test_kernels_that_are_over_come_before(void **state) {
  fixture_t *f = *state;
  const gs_job_t kernel = {.bytes = 0};
  const gs_stamp_t old = act(f->crew[0], 0);
  gs_job_t *during = gs_order_begin(&f->order, &kernel);
  gs_crew_t *crew = gs_order_crew(&f->order, during, 0, 1, 0);
  assert_false(gs_order_is_before(&f->order, crew, 0, old));
  const gs_stamp_t other = act(crew, 0);
  assert_false(before(f, other, 1, 0));
  gs_order_dismiss(&f->order, crew);
  gs_order_end(&f->order, during);
  assert_false(before(f, other, 1, 0)); /* this one had begun before that ended */
  gs_job_t *after = gs_order_begin(&f->order, &kernel);
  crew = gs_order_crew(&f->order, after, 0, 1, 0);
  assert_true(gs_order_is_before(&f->order, crew, 0, other));
  assert_false(gs_order_is_before(&f->order, crew, 0, old));
  gs_order_dismiss(&f->order, crew);
  gs_order_end(&f->order, after);
}

static void test_pages_are_each_address_s_own(void **state) {
  (void)state;
  static gs_shadow_t shadow;
  gs_shadow_init(&shadow);
  gs_shadow_page_t *page = gs_shadow_page(&shadow, 0x7f0012345678);
  assert_non_null(page);
  assert_ptr_equal(gs_shadow_page(&shadow, 0x7f0012345000), page);
  assert_ptr_not_equal(gs_shadow_page(&shadow, 0x7f0012346000), page);
  assert_ptr_not_equal(gs_shadow_page(&shadow, 0x7f1012345678), page);
  assert_ptr_not_equal(gs_shadow_page(&shadow, 0x7e0012345678), page);
  assert_int_equal(gs_shadow_stamp(page, GS_SHADOW_WRITTEN, GS_SHADOW_WORDS - 1), 0);
  gs_shadow_fini(&shadow);
}

/* Between the moment when an access is looked at and the access itself others tell something, which it may
 * have learned: the last team of a reduction is found so. */
static void test_what_is_told_meanwhile_may_be_learned(void **state) {
  fixture_t *f = *state;
  access_word(f, f->crew[1], 0, WORD, true); /* looked at before the other's, done behind it */
  gs_order_learn(&f->order, f->crew[2], 0, WORD, 0);
  const gs_stamp_t told = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  access_word(f, f->crew[0], 0, WORD, false);
  assert_false(before(f, told, 1, 0));
  assert_true(f->crew[1]->wave[0].behind);
  gs_order_catch_up(&f->order, f->crew[1], 0);
  assert_true(before(f, told, 1, 0));
  assert_false(f->crew[1]->wave[0].behind);
  /* What a load learns counts when the cache was invalidated. */
  gs_order_catch_up(&f->order, f->crew[2], 0);
  assert_false(before(f, told, 2, 0));
  gs_order_invalidated(&f->crew[2]->wave[0]);
  assert_true(before(f, told, 2, 0));
  /* A barrier counts as the wave's next step. */
  access_word(f, f->crew[1], 1, WORD, true);
  const gs_stamp_t again = act(f->crew[0], 1);
  gs_order_waited(&f->crew[0]->wave[1]);
  access_word(f, f->crew[0], 1, WORD, false);
  gs_order_barrier(&f->order, f->crew[1]);
  assert_true(before(f, again, 1, 0));
}

/* Workgroups of another size tell at the same words, many of them at once, and are told apart. */
static void test_groups_of_other_sizes_tell_at_many_words(void **state) {
  enum { WORDS = 40, WAVES = 7 };
  fixture_t *f = *state;
  gs_crew_t *wide = gs_order_crew(&f->order, f->job, GROUPS, WAVES, 0);
  gs_order_word_t words[WORDS];
  uint16_t place[WORDS] = {0};
  assert_non_null(wide);
  for (unsigned i = 0; i < WORDS; i++)
    words[i] = (gs_order_word_t){.address = WORD + 4 * i, .place = &place[i]};
  assert_true(f->order.strangers);
  const gs_stamp_t first = act(f->crew[0], 1), early = act(wide, WAVES - 1);
  gs_order_waited(&f->crew[0]->wave[1]);
  gs_order_waited(&wide->wave[WAVES - 1]);
  const gs_stamp_t late = act(wide, WAVES - 1);
  gs_order_atomic(&f->order, f->crew[0], 1, words, WORDS, false);
  gs_order_atomic(&f->order, wide, WAVES - 1, words, WORDS, false);
  assert_false(f->order.strangers);
  for (unsigned i = 0; i < WORDS; i++)
    assert_int_not_equal(place[i], 0);
  access_word(f, f->crew[1], 0, WORD + 4 * (WORDS - 1), true);
  assert_true(before(f, first, 1, 0));
  assert_true(before(f, early, 1, 0));
  assert_false(before(f, late, 1, 0));
  assert_false(before(f, first, 2, 0));
  /* A place that is wrong, as words were forgotten meanwhile, is found out. */
  const gs_stamp_t more = act(f->crew[0], 0);
  gs_order_waited(&f->crew[0]->wave[0]);
  place[0] = place[1];
  gs_order_atomic(&f->order, f->crew[0], 0, words, 1, false);
  access_word(f, f->crew[2], 0, words[1].address, true);
  assert_false(before(f, more, 2, 0));
  access_word(f, f->crew[2], 0, words[0].address, true);
  assert_true(before(f, more, 2, 0));
  gs_order_dismiss(&f->order, wide);
}

/* A load is told of, another group stores to its word, and the load reads that. */
static void test_who_polls_learns_of_later_stores(void **state) {
  (void)state;
  const gs_job_t kernel = {.bytes = 0};
  gs_race_t *race = gs_race_create(NULL, NULL);
  assert_non_null(race);
  gs_job_t *job = gs_order_begin(&race->order, &kernel);
  gs_crew_t *polls = gs_order_crew(&race->order, job, 0, 1, 0),
            *stores = gs_order_crew(&race->order, job, 1, 1, 0);
  gs_race_touch_t touch = {.race = race, .me = &polls->wave[0]};
  gs_race_poll(&touch, WORD);
  gs_shadow_page_t *page = gs_shadow_page(&race->shadow, WORD);
  gs_shadow_spread(page, WORD % GS_SHADOW_PAGE / 4, 1);
  const gs_stamp_t stamp = act(stores, 0);
  page->words->stamp[GS_SHADOW_WRITTEN][WORD % GS_SHADOW_PAGE / 4] = stamp;
  assert_true(gs_race_is_behind(&polls->wave[0]));
  gs_race_catch_up(race, polls, 0);
  assert_false(gs_race_is_behind(&polls->wave[0]));
  assert_false(gs_order_is_before(&race->order, polls, 0, stamp)); /* its cache may be old */
  gs_order_invalidated(&polls->wave[0]);
  assert_true(gs_order_is_before(&race->order, polls, 0, stamp));
  gs_order_dismiss(&race->order, polls);
  gs_order_dismiss(&race->order, stores);
  gs_order_end(&race->order, job);
  gs_race_destroy(race);
}

#define WITH_KERNEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_KERNEL(test_barriers_order_waves),
      WITH_KERNEL(test_atomics_order_groups),
      WITH_KERNEL(test_loads_learn_when_the_cache_is_empty),
      WITH_KERNEL(test_what_is_told_later),
      WITH_KERNEL(test_what_is_told_meanwhile_may_be_learned),
      WITH_KERNEL(test_local_atomics_order_waves),
      WITH_KERNEL(test_groups_of_other_sizes_tell_at_many_words),
      WITH_KERNEL(test_kernels_that_are_over_come_before),
      cmocka_unit_test(test_pages_are_each_address_s_own),
      cmocka_unit_test(test_who_polls_learns_of_later_stores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
