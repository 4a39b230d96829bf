/* Two workers that come to a word at the same instant: the checker is told of both stores before either has
 * happened, which no program can be made to do each time. Not here: races that programs have
 * (test/check/race).
 */
#include "check/race.c" /* gs_race_begin() asks for a workgroup that a device runs */

#include "harness.h"

enum { WORD = 64 };

typedef struct bench {
  void *const *state;
  isa_wave_t *t;
  gs_race_t *race;
  gs_job_t *job;
  gs_crew_t *crew[2];
  bool found;
} bench_t;

static void set_up(bench_t *b, void *const *state) {
  const gs_job_t kernel = {.bytes = 0};
  *b = (bench_t){.state = state, .t = isa_new(state, ISA_PART), .race = gs_race_create(NULL, NULL)};
  assert_non_null(b->race);
  b->job = gs_order_begin(&b->race->order, &kernel);
  assert_non_null(b->job);
  for (unsigned i = 0; i < 2; i++)
    assert_non_null(b->crew[i] = gs_order_crew(&b->race->order, b->job, i, 1, 0));
  memset(b->t->memory, 0, ISA_MEMORY_BYTES);
}

static void tear_down(bench_t *b) {
  for (unsigned i = 0; i < 2; i++)
    gs_order_dismiss(&b->race->order, b->crew[i]);
  gs_order_end(&b->race->order, b->job);
  gs_race_destroy(b->race);
  isa_free(b->t);
}

/* The first lane of the group is about to store, or load, `bytes` at the word. */
static bool act(bench_t *b, unsigned group, const char *text, uint32_t value, uint32_t rights,
                uint32_t bytes) {
  isa_wave_t *t = b->t;
  gs_race_touch_t touch = {.race = b->race,
                           .w = &t->w,
                           .crew = b->crew[group],
                           .me = &b->crew[group]->wave[0],
                           .rights = rights,
                           .bytes = bytes};
  size_t count;
  const uint32_t *words = isa_assemble(b->state, ISA_PART, text, &count);
  isa_load(t, words, count); /* and does not execute it */
  t->v[4].u32[0] = value;
  t->w.pc = ISA_CODE + GS_PLACE_INSTRUCTION_BYTES;
  touch.me->dirty = true;
  touch.base = (gs_stamp_t)touch.crew->id << GS_STAMP_CREW | (gs_stamp_t)touch.me->clock << GS_STAMP_CLOCK;
  gs_race_bytes(&touch, ISA_MEMORY + WORD, bytes, 0);
  return touch.clash.lanes;
}

static const char *const stores[] = {"global_store_dword v[2:3], v4, off",
                                     "global_store_byte v[2:3], v4, off", "flat_store_dword v[2:3], v4",
                                     "global_store_short_d16_hi v[2:3], v4, off"};
static const uint32_t widths[] = {4, 1, 4, 2};

/* One stores what is there before, and the other one does not. */
static void test_other_value(void **state) {
  for (unsigned order = 0; order < 2; order++)
    for (unsigned i = 0; i < 4; i++) {
      bench_t b;
      set_up(&b, state);
      isa_set_u64(&b.t->v[2], 0, ISA_MEMORY + WORD);
      assert_false(act(&b, 0, stores[i], order ? 0 : 0x00010001, GS_VM_WRITE, widths[i]));
      assert_true(act(&b, 1, stores[i], order ? 0x00010001 : 0, GS_VM_WRITE, widths[i]));
      tear_down(&b);
    }
}

/* Both store the same, which is not there yet. */
static void test_same_value(void **state) {
  for (unsigned i = 0; i < 4; i++) {
    bench_t b;
    set_up(&b, state);
    isa_set_u64(&b.t->v[2], 0, ISA_MEMORY + WORD);
    assert_false(act(&b, 0, stores[i], 0x00010001, GS_VM_WRITE, widths[i]));
    assert_false(act(&b, 1, stores[i], 0x00010001, GS_VM_WRITE, widths[i]));
    tear_down(&b);
  }
}

/* A store beside a load is a race unless nothing changes. */
static void test_load(void **state) {
  bench_t b;
  set_up(&b, state);
  isa_set_u64(&b.t->v[2], 0, ISA_MEMORY + WORD);
  assert_false(act(&b, 0, "global_load_dword v5, v[2:3], off", 0, GS_VM_READ, 4));
  assert_false(act(&b, 1, stores[0], 0, GS_VM_WRITE, 4));
  assert_true(act(&b, 1, stores[0], 7, GS_VM_WRITE, 4));
  tear_down(&b);
}

/* When nothing orders the lanes of a wave: each row differs from the first by what takes that away, so that a
 * report of this kind is no false alarm. */
static void test_lanes_apart(void **state) {
  enum { WAVE = 2 };
  (void)state;
  static const struct {
    const char *why;
    bool local, looks_only;
    unsigned waves;
    uint32_t lanes_from, clock;
    uint8_t is_openmp;
    bool apart;
  } rows[] = {
      {"a region, since its last barrier", false, false, 4, 3, 5, GS_OPENMP_YES, true},
      {"the barrier was just now", false, false, 4, 5, 5, GS_OPENMP_YES, true},
      {"in local memory runtimes count on waves", true, false, 4, 3, 5, GS_OPENMP_YES, false},
      {"nobody is told of races", false, true, 4, 3, 5, GS_OPENMP_YES, false},
      {"compilers leave out a lone wave's barriers", false, false, 1, 3, 5, GS_OPENMP_YES, false},
      {"its lanes have met behind what it does", false, false, 4, 6, 5, GS_OPENMP_YES, false},
      {"its clock has come to its end", false, false, 4, 3, GS_CLOCK_MAX, GS_OPENMP_YES, false},
      {"waves are part of other programs", false, false, 4, 3, 5, GS_OPENMP_NO, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    static gs_crew_t crew;
    gs_race_t race = {.tells = !rows[i].looks_only};
    gs_job_t job = {.is_openmp = rows[i].is_openmp};
    crew.waves = rows[i].waves;
    crew.job = &job;
    crew.wave[WAVE].lanes_from = rows[i].lanes_from;
    crew.wave[WAVE].clock = rows[i].clock;
    const gs_stamp_t wave = (gs_stamp_t)WAVE << GS_STAMP_WAVE;
    const gs_race_touch_t touch = {.race = &race,
                                   .crew = &crew,
                                   .me = &crew.wave[WAVE],
                                   .local = rows[i].local,
                                   .base = wave | (gs_stamp_t)rows[i].clock << GS_STAMP_CLOCK};
    const gs_stamp_t wanted = wave | (gs_stamp_t)rows[i].lanes_from << GS_STAMP_CLOCK;
    if (apart_from(&touch) != (rows[i].apart ? wanted : GS_STAMP_NONE))
      fail_msg("%s", rows[i].why);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {isa_part_test(test_other_value), isa_part_test(test_same_value),
                                            isa_part_test(test_load), cmocka_unit_test(test_lanes_apart)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
