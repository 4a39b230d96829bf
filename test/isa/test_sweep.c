/* The checker's loops over many bytes and dwords (check/sweep.h, check/lines.h), at each level of host
 * instructions that runs here: against the same by one at a time. */
#include "check/lines.h"
#include "check/sweep.h"

#include "harness.h"

#include "base/vm.h"
#include "isa/ops.h"

enum { MOST = 256, ROUNDS = 4000 };

static unsigned below(uint64_t *seed, unsigned limit) {
  return (unsigned)(isa_random(seed) % limit);
}

/* ---- Stamps ---- */

typedef struct cells {
  gs_stamp_t written[MOST], read[MOST], before[MOST];
} cells_t;

static bool is_near(gs_stamp_t stamp, gs_stamp_t floor, gs_stamp_t mine) {
  return stamp >= floor && stamp >> GS_STAMP_WAVE != mine >> GS_STAMP_WAVE;
}

/* Whether it is of another lane of the wave, by another instruction, and not ordered. */
static bool is_apart(gs_stamp_t stamp, gs_stamp_t mine, gs_stamp_t apart) {
  return stamp >= apart && gs_stamp_crew(stamp) == gs_stamp_crew(mine) &&
         gs_stamp_wave(stamp) == gs_stamp_wave(mine) && gs_stamp_lane(stamp) != gs_stamp_lane(mine) &&
         (gs_stamp_site(stamp) != gs_stamp_site(mine) || gs_stamp_clock(stamp) != gs_stamp_clock(mine));
}

/* What the access leaves there; false: it meets somebody. */
static bool access_plainly(cells_t *c, const gs_sweep_stamps_t *s, bool writes) {
  bool near = false;
  for (size_t i = 0; i < s->count; i++) {
    const gs_stamp_t mine = s->mine + i / s->width;
    near |= is_near(c->written[i], s->floor, s->mine) || is_apart(c->written[i], mine, s->apart) ||
            (writes && (is_near(c->read[i], s->floor, s->mine) || is_near(c->before[i], s->floor, s->mine) ||
                        is_apart(c->read[i], mine, s->apart)));
  }
  for (size_t i = 0; i < s->count && !near; i++) {
    const gs_stamp_t stamp = s->mine + i / s->width;
    if (writes) {
      c->written[i] = stamp;
      continue;
    }
    if (c->read[i] >> GS_STAMP_WAVE != stamp >> GS_STAMP_WAVE)
      c->before[i] = c->read[i];
    c->read[i] = stamp;
  }
  return !near;
}

/* Nothing, or a clock of the wave: mostly one that few stamps have come to. */
static gs_stamp_t apart_of(uint64_t *seed, gs_stamp_t mine) {
  const unsigned clock = below(seed, 4) ? GS_CLOCK_MAX : below(seed, GS_CLOCK_MAX);
  return below(seed, 2) ? GS_STAMP_NONE : mine + ((gs_stamp_t)clock << GS_STAMP_CLOCK);
}

/* Mostly of the wave itself or old: else none would be put. */
static gs_stamp_t any_stamp(uint64_t *seed, gs_stamp_t floor, gs_stamp_t mine) {
  const unsigned kind = below(seed, 600), clock = below(seed, 50) ? below(seed, 20) : GS_CLOCK_MAX;
  const gs_stamp_t old = floor - 1 - below(seed, 1000),
                   own = (mine ^ below(seed, 1 << 20)) + ((gs_stamp_t)clock << GS_STAMP_CLOCK);
  return kind == 0 ? floor + ((gs_stamp_t)below(seed, 1000) << GS_STAMP_WAVE) : kind < 300 ? old : own;
}

static void test_stamps(void **state) {
  uint64_t seed = 1;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    static const unsigned widths[] = {1, 2, 3, 4, 1024};
    const gs_stamp_t floor = (gs_stamp_t)1000 << GS_STAMP_CREW,
                     mine = floor + ((gs_stamp_t)77 << GS_STAMP_WAVE);
    const unsigned width = widths[below(&seed, 5)];
    gs_sweep_stamps_t s = {
        .count = below(&seed, width < 1024 ? 64 * width : MOST), .floor = floor, .mine = mine};
    cells_t first, plain;
    const bool writes = below(&seed, 2);
    s.width = width;
    s.apart = apart_of(&seed, mine);
    for (unsigned i = 0; i < MOST; i++) {
      first.written[i] = any_stamp(&seed, floor, mine);
      first.read[i] = any_stamp(&seed, floor, mine);
      first.before[i] = any_stamp(&seed, floor, mine);
    }
    plain = first;
    const bool put = access_plainly(&plain, &s, writes);
    for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++) {
      const gs_sweep_t *sweep = gs_sweep_of_level(level);
      cells_t c = first;
      s.written = c.written;
      s.read = c.read;
      s.read_before = c.before;
      assert_int_equal(writes ? sweep->write(&s) : sweep->read(&s), put);
      assert_memory_equal(&c, &plain, sizeof c);
    }
  }
}

static void copy_cells(cells_t *to, size_t at, const cells_t *from, size_t first, size_t count) {
  memcpy(to->written + at, from->written + first, count * sizeof *to->written);
  memcpy(to->read + at, from->read + first, count * sizeof *to->read);
  memcpy(to->before + at, from->before + first, count * sizeof *to->before);
}

/* What the rest of the checker does where a row may meet somebody: each dword gets its stamp all the same. */
static void put_all(gs_shadow_page_t *page, cells_t *c, size_t word, const gs_sweep_stamps_t *s,
                    bool writes) {
  gs_sweep_stamps_t alone = *s;
  cells_t part;
  alone.floor = alone.apart = GS_STAMP_NONE; /* nobody counts */
  copy_cells(&part, 0, c, word, s->count);
  assert_true(access_plainly(&part, &alone, writes));
  copy_cells(c, word, &part, 0, s->count);
  if (!page)
    return;
  gs_shadow_spread(page, word, s->count);
  memcpy(page->words->stamp[GS_SHADOW_WRITTEN] + word, part.written, s->count * sizeof *part.written);
  memcpy(page->words->stamp[GS_SHADOW_READ] + word, part.read, s->count * sizeof *part.read);
  memcpy(page->words->stamp[GS_SHADOW_READ_BEFORE] + word, part.before, s->count * sizeof *part.before);
}

/* A row of a wave: of whole lines mostly, and of few of them, as rows that meet somebody spread theirs. */
static size_t any_row(uint64_t *seed, gs_stamp_t floor, gs_sweep_stamps_t *s) {
  static const unsigned widths[] = {1, 2, 2, 2, 4, 4, 3, 1024};
  const bool is_even = below(seed, 8);
  const unsigned width = widths[below(seed, is_even ? 6 : 8)], lane = below(seed, 4) ? 0 : below(seed, 16);
  const size_t word = is_even ? below(seed, 2) * 16 : below(seed, MOST / 2) & (below(seed, 2) ? ~1u : ~0u);
  *s = (gs_sweep_stamps_t){
      .floor = floor, .width = width, .count = is_even ? 16u << !below(seed, 4) : 1 + below(seed, MOST / 2)};
  if (s->count > (64 - lane) * width)
    s->count = (64 - lane) * width;
  s->mine = floor + ((gs_stamp_t)below(seed, 2) << (below(seed, 2) ? GS_STAMP_CREW : GS_STAMP_WAVE)) +
            ((gs_stamp_t)below(seed, 2) << GS_STAMP_CLOCK) + ((gs_stamp_t)below(seed, 2) << GS_STAMP_SITE) +
            lane;
  s->apart = below(seed, 2) ? GS_STAMP_NONE : s->mine >> GS_STAMP_WAVE << GS_STAMP_WAVE;
  return word;
}

static void compare_with_page(const cells_t *c, const gs_shadow_page_t *page) {
  for (size_t i = 0; i < MOST; i++) {
    assert_int_equal(gs_shadow_stamp(page, GS_SHADOW_WRITTEN, i), c->written[i]);
    assert_int_equal(gs_shadow_stamp(page, GS_SHADOW_READ, i), c->read[i]);
    assert_int_equal(gs_shadow_stamp(page, GS_SHADOW_READ_BEFORE, i), c->before[i]);
  }
}

/* Row after row of a few waves, of one kernel after the other: what a page has of each dword, whole lines or
 * not, is what each row left there, and rows are said to meet somebody where they do. */
static void put_rows(const gs_sweep_t *sweep, uint64_t seed, unsigned *alone, unsigned *whole) {
  static gs_shadow_words_t words;
  static gs_shadow_page_t page;
  static cells_t c;
  gs_stamp_t floor = (gs_stamp_t)1000 << GS_STAMP_CREW;
  memset(&words, 0, sizeof words);
  memset(&c, 0, sizeof c);
  page = (gs_shadow_page_t){.words = &words};
  for (unsigned round = 0; round < ROUNDS; round++) {
    gs_sweep_stamps_t s;
    const size_t word = any_row(&seed, floor, &s);
    const bool writes = !below(&seed, 4);
    cells_t part;
    copy_cells(&part, 0, &c, word, s.count);
    const bool expected = access_plainly(&part, &s, writes),
               put = gs_lines_put(sweep, &page, word, &s, writes);
    assert_int_equal(put, expected);
    put_all(put ? NULL : &page, &c, word, &s, writes);
    *alone += put;
    *whole += page.line[word / GS_SHADOW_LINE + 1].spread != GS_SHADOW_ALL;
    compare_with_page(&c, &page);
    if (!below(&seed, 6))
      floor += (gs_stamp_t)2 << GS_STAMP_CREW; /* the next kernel */
    if (!below(&seed, 12)) {                   /* another page */
      memset(&words, 0, sizeof words);
      memset(&c, 0, sizeof c);
      page = (gs_shadow_page_t){.words = &words};
    }
    if (!below(&seed, 64))
      gs_shadow_spread(&page, below(&seed, MOST), 1);
  }
}

static void test_lines(void **state) {
  unsigned alone = 0, whole = 0;
  (void)state;
  for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++)
    for (uint64_t seed = 6; seed < 12; seed++)
      put_rows(gs_sweep_of_level(level), seed, &alone, &whole);
  assert_true(alone > ROUNDS);
  assert_true(whole > ROUNDS);
}

static void test_values(void **state) {
  uint64_t seed = 2;
  static gs_row_t rows[4];
  (void)state;
  for (unsigned i = 0; i < 4; i++)
    for (unsigned l = 0; l < GS_MAX_LANES; l++)
      rows[i].u32[l] = (uint32_t)isa_random(&seed);
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned width = 1 + below(&seed, 4), lane = below(&seed, 64),
                   count = below(&seed, (64 - lane) * width + 1);
    for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++) {
      uint32_t values[MOST + 1] = {0};
      gs_sweep_of_level(level)->gather(values, count, rows, lane, width);
      for (unsigned i = 0; i < count; i++)
        assert_int_equal(values[i], rows[i % width].u32[lane + i / width]);
      assert_int_equal(values[count], 0);
    }
  }
}

/* ---- Flags ---- */

/* One byte's; whether it was stale. */
static bool set_plainly(uint16_t *flags, uint32_t rights) {
  bool stale = false;
  if (rights & GS_VM_READ) {
    stale = (*flags & (GS_MAPPED_STALE | GS_MAPPED_WRITTEN)) == GS_MAPPED_STALE;
    *flags |= *flags & GS_MAPPED_WRITTEN ? GS_MAPPED_SERVED : GS_MAPPED_READ;
  }
  if (rights & GS_VM_WRITE)
    *flags = (uint16_t)((*flags | GS_MAPPED_WRITTEN) & ~GS_MAPPED_SERVED);
  return stale;
}

static void test_flags(void **state) {
  static const uint16_t some[] = {GS_MAPPED_READ | 8, GS_MAPPED_WRITTEN | GS_MAPPED_SERVED, GS_MAPPED_WRITTEN,
                                  8, GS_MAPPED_STALE};
  uint64_t seed = 3;
  unsigned settled = 0;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint16_t first[MOST], plain[MOST];
    const unsigned count = below(&seed, MOST + 1), kind = below(&seed, 3), odd = below(&seed, 2 * MOST);
    const uint32_t rights = (uint32_t[]){GS_VM_READ, GS_VM_WRITE, GS_VM_READ | GS_VM_WRITE}[below(&seed, 3)];
    bool stale = false;
    for (unsigned i = 0; i < MOST; i++)
      first[i] = round % 2 ? (uint16_t)(isa_random(&seed) & 0x1ff) : some[i == odd ? below(&seed, 5) : kind];
    memcpy(plain, first, sizeof plain);
    for (unsigned i = 0; i < count; i++)
      stale |= set_plainly(&plain[i], rights);
    for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++) {
      const gs_sweep_t *sweep = gs_sweep_of_level(level);
      uint16_t flags[MOST];
      memcpy(flags, first, sizeof flags);
      if (sweep->is_settled(flags, count, rights)) {
        settled++;
        assert_memory_equal(first, plain, sizeof plain);
        assert_false(stale);
      }
      assert_int_equal(sweep->set_flags(flags, count, rights), stale);
      assert_memory_equal(flags, plain, sizeof plain);
    }
  }
  assert_true(settled > ROUNDS / 16);
}

/* Reads that all have in common but for one dword, perhaps, in one thing. */
static void test_common(void **state) {
  const gs_stamp_t floor = (gs_stamp_t)1000 << GS_STAMP_CREW;
  uint64_t seed = 5;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    gs_stamp_t read[MOST], before[MOST];
    const unsigned count = 1 + below(&seed, MOST), odd = below(&seed, count), what = below(&seed, 5);
    for (unsigned i = 0; i < MOST; i++) {
      const unsigned crew = below(&seed, 50);
      read[i] = floor + ((gs_stamp_t)crew << GS_STAMP_CREW) + below(&seed, 1 << 20);
      before[i] = read[i] + ((gs_stamp_t)(1 + below(&seed, 9)) << GS_STAMP_CREW) +
                  ((gs_stamp_t)below(&seed, 9) << GS_STAMP_CLOCK);
    }
    switch (what) {
    case 0: read[odd] = floor - 1; break;
    case 1: before[odd] = 0; break;
    case 2: before[odd] = read[odd] + ((gs_stamp_t)1 << GS_STAMP_WAVE); break; /* the same crew */
    default: break;
    }
    for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++)
      assert_int_equal(gs_sweep_of_level(level)->are_common(read, before, count, floor), what > 2);
  }
}

/* ---- Lanes ---- */

static void test_lanes(void **state) {
  uint64_t seed = 4;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint64_t at[GS_MAX_LANES], next = 0, lanes = isa_random(&seed) | isa_random(&seed);
    gs_row_t row;
    bool has = false;
    at[0] = isa_random(&seed) >> 16;
    for (unsigned l = 0; l < GS_MAX_LANES; l++) {
      row.u32[l] = below(&seed, 200);
      has |= row.u32[l] == 7 && lanes >> l & 1;
    }
    for (unsigned l = 1; l < GS_MAX_LANES; l++) {
      at[l] = at[l - 1] + (below(&seed, 4) ? 8 : below(&seed, 32));
      next |= (uint64_t)(at[l] == at[l - 1] + 8) << l;
    }
    for (size_t level = 0; level < gs_level_count && gs_levels[level].runs_here(); level++) {
      assert_true(gs_sweep_of_level(level)->next(at, 8) == next);
      assert_int_equal(gs_sweep_of_level(level)->has(&row, 7, lanes), has);
    }
    while (lanes) { /* in runs */
      const unsigned first = (unsigned)__builtin_ctzll(lanes), count = gs_count_neighbours(lanes, next);
      for (unsigned l = first + 1; l < first + count; l++)
        assert_true(lanes >> l & 1 && at[l] == at[l - 1] + 8);
      if (first + count < GS_MAX_LANES)
        assert_false(lanes >> (first + count) & 1 && next >> (first + count) & 1);
      lanes = gs_without_lanes(lanes, count);
    }
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {cmocka_unit_test(test_stamps), cmocka_unit_test(test_values),
                                            cmocka_unit_test(test_common), cmocka_unit_test(test_flags),
                                            cmocka_unit_test(test_lanes),  cmocka_unit_test(test_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
