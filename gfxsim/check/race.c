/* Who accessed what an instruction accesses, and whether anything orders the two. Nearly all accesses meet
 * nothing but what is long over, or their own wave's: that is looked at in a loop over stamps. What is left
 * is compared one by one. Not here: the values that are stored (race_values.c), and what tells of accesses
 * (race_watch.c). */
#include <string.h>

#include "check/lines.h"
#include "check/name.h"
#include "check/race_touch.h"
#include "exec/metadata.h"
#include "isa/guest.h"

/* Where the stamps of some dwords are that follow each other; of a page, once their lines are spread. */
typedef struct cells {
  gs_stamp_t *written, *read, *read_before;
  uint32_t *value;        /* NULL: of local memory, which one thread at a time works with, */
  gs_shadow_page_t *page; /* and so needs no lock, either */
  size_t word;            /* of the page, or of local memory: the first */
} cells_t;

/* What was there when an access put its stamps. */
typedef struct found {
  gs_stamp_t written, read, read_before;
  uint32_t value; /* by `written` */
} found_t;

static void choose_site(gs_race_touch_t *t, unsigned mask) {
  if (t->mask == mask)
    return;
  gs_sites_t *sites = &t->race->sites;
  const uint32_t site = gs_site_of(sites, t->w, mask);
  t->mask = mask;
  t->flags = sites->site[site].flags;
  t->data = sites->site[site].data;
  t->stamp = t->base | (gs_stamp_t)site << GS_STAMP_SITE;
}

/* LLVM takes barriers out where it knows that a workgroup is no more than one wave. */
static uint8_t find_out(const gs_race_touch_t *t) {
  const gs_launch_t *launch = &t->crew->job->launch;
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  char kernel[GS_PLACE_TEXT];
  gs_place_kernel_name(map, launch, kernel);
  if (!gs_name_is_target_region(kernel))
    return GS_OPENMP_NO;
  return gs_metadata_group_size(map, launch->object) > gs_wave_lanes(t->w) ? GS_OPENMP_WITH_BARRIERS
                                                                           : GS_OPENMP_YES;
}

/* Whether only what the program says orders the work-items of the wave's kernel, and says it in its code:
 * OpenMP does not know of waves. */
static bool is_openmp(const gs_race_touch_t *t) {
  gs_job_t *job = t->crew->job;
  uint8_t known = atomic_load_explicit(&job->is_openmp, memory_order_relaxed);
  if (GS_UNLIKELY(known == GS_OPENMP_UNKNOWN)) {
    known = find_out(t);
    atomic_store_explicit(&job->is_openmp, known, memory_order_relaxed);
  }
  return known >= (t->crew->waves < 2 ? GS_OPENMP_WITH_BARRIERS : GS_OPENMP_YES);
}

/* Since when nothing orders the wave's lanes. Local memory has the device runtime's state, which counts on
 * waves that run in step. */
static gs_stamp_t apart_from(const gs_race_touch_t *t) {
  const gs_order_wave_t *me = t->me;
  if (t->local || !t->race->tells || me->lanes_from > me->clock || me->clock == GS_CLOCK_MAX || !is_openmp(t))
    return GS_STAMP_NONE;
  return (t->base >> GS_STAMP_WAVE << GS_STAMP_WAVE) | (gs_stamp_t)me->lanes_from << GS_STAMP_CLOCK;
}

void gs_race_poll(gs_race_touch_t *t, uint64_t address) {
  gs_order_wave_t *me = t->me;
  const uint64_t word = address & ~UINT64_C(3);
  for (uint32_t i = 0; i < me->polled_count; i++)
    if (me->polled[i].address == word)
      return;
  if (me->polled_count < GS_POLLED && word >> 48 == 0)
    me->polled[me->polled_count++] =
        (gs_polled_t){word, gs_shadow_ask(&t->race->shadow, GS_SHADOW_WRITTEN, word)};
}

void gs_race_catch_up(gs_race_t *race, gs_crew_t *crew, unsigned wave) {
  gs_order_wave_t *me = &crew->wave[wave];
  if (me->behind)
    gs_order_catch_up(&race->order, crew, wave);
  const uint32_t count = me->polled_count;
  me->polled_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const gs_polled_t *polled = &me->polled[i];
    const gs_stamp_t now = gs_shadow_ask(&race->shadow, GS_SHADOW_WRITTEN, polled->address);
    if (now != polled->was && !gs_order_is_before(&race->order, crew, wave, now))
      gs_order_learn(&race->order, crew, wave, polled->address, now);
  }
}

bool gs_race_begin(gs_race_touch_t *t, gs_wave_t *w, uint32_t rights, uint32_t bytes, bool local) {
  gs_crew_t *crew = w->env->watched;
  if (!crew)
    return false;
  const unsigned wave = gs_place_wave(w);
  /* One by one: compilers fill all of it with zeros otherwise, which takes as long as the rest. */
  t->race = gs_check_of(w)->race;
  t->w = w;
  t->crew = crew;
  t->me = &crew->wave[wave];
  t->wave = wave;
  t->mask = 0;
  t->rights = rights;
  t->bytes = bytes;
  t->local = local;
  t->uniform = false;
  t->lane_address = 0;
  t->page = NULL;
  t->access = NULL;
  t->clash.lanes = 0;
  t->clash.same_instruction = false;
  if (GS_UNLIKELY(gs_race_is_behind(t->me)))
    gs_race_catch_up(t->race, crew, wave);
  t->me->dirty = true;
  t->base = (gs_stamp_t)crew->id << GS_STAMP_CREW | (gs_stamp_t)wave << GS_STAMP_WAVE |
            (gs_stamp_t)t->me->clock << GS_STAMP_CLOCK;
  t->apart = apart_from(t);
  choose_site(t, 15);
  t->is_swap =
      rights == (GS_VM_READ | GS_VM_WRITE) && t->flags & GS_SITE_EXCHANGE && gs_swap_find(w, &t->swap);
  return true;
}

void gs_race_finish(gs_race_touch_t *t) {
  if (!t->clash.lanes || !t->race->tells)
    return;
  if (!t->local) /* whose value stays is up to chance: that another one is there says nothing of the host */
    gs_host_agrees(t->race, t->crew->job);
  t->clash.race = t->race;
  t->clash.w = t->w;
  t->clash.job = t->crew->job;
  t->clash.group = t->crew->group;
  if (t->w)
    t->clash.map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  t->clash.rights = t->rights;
  t->clash.bytes = t->bytes;
  t->clash.local = t->local;
  gs_clash_report(&t->clash);
}

/* ---- One dword ---- */

static bool is_before(const gs_race_touch_t *t, gs_stamp_t stamp) {
  if (t->local && gs_stamp_crew(stamp) != t->crew->id)
    return true; /* of a group that had this LDS before */
  return gs_order_is_before(&t->race->order, t->crew, t->wave, stamp);
}

/* `address` is the dword's; what is told is the lane's, of which that may be the second half. */
static void note_clash(gs_race_touch_t *t, gs_stamp_t other, bool other_writes, uint64_t address,
                       unsigned lane) {
  const bool first = !t->clash.lanes;
  t->clash.lanes |= UINT64_C(1) << lane;
  if (!first)
    return;
  t->clash.other = other;
  t->clash.other_writes = other_writes;
  const bool whole = t->lane_address && address - t->lane_address < t->bytes;
  t->clash.address = whole || t->lane_address > address ? t->lane_address : address;
  t->clash.lane = lane;
}

/* Whether two accesses that nothing orders are no race, as code means them to meet. What cannot be told from
 * an atomic store counts as one where somebody waits for it. */
static bool is_meant(const gs_race_touch_t *t, unsigned theirs, bool they_write) {
  const unsigned mine = t->flags;
  if (mine & theirs & GS_SITE_ATOMIC)
    return true;
  if (t->rights == GS_VM_READ)
    return mine & GS_SITE_WAITS || (mine & GS_SITE_COMPARED && theirs & GS_SITE_ATOMIC);
  if (!they_write)
    return theirs & GS_SITE_WAITS || (mine & GS_SITE_ATOMIC && theirs & GS_SITE_COMPARED);
  return (mine | theirs) & GS_SITE_EXCHANGE;
}

static void learn(const gs_race_touch_t *t, gs_stamp_t written, uint64_t address) {
  if (t->local)
    gs_order_local_learn(t->crew, t->wave, address / 4, written);
  else
    gs_order_learn(&t->race->order, t->crew, t->wave, address, written);
}

/* An earlier access that nothing is known to order: a write of *theirs, or a read (NULL). */
static void meet(gs_race_touch_t *t, gs_stamp_t other, const uint32_t *theirs, uint64_t address,
                 unsigned lane) {
  const bool other_writes = theirs;
  const gs_site_t *site = &t->race->sites.site[gs_stamp_site(other)];
  if (!(site->bytes & t->mask))
    return;
  if (!gs_race_is_item_stored(t, site, theirs) && is_meant(t, site->flags, other_writes)) {
    if (t->rights & GS_VM_READ && other_writes && !(t->flags & GS_SITE_ATOMIC))
      learn(t, other, address);
    return;
  }
  if (gs_race_is_other_item(t, site, theirs, lane))
    return;
  const bool is_known = theirs && !t->local && t->w && site->data != GS_SITE_NO_DATA;
  if (is_known && t->rights == GS_VM_WRITE ? gs_race_is_same_store(t, site, *theirs, address, lane)
                                           : t->rights & GS_VM_WRITE && gs_race_is_silent(t, address, lane))
    return;
  note_clash(t, other, other_writes, address, lane);
}

/* Whether another lane stores to the lane's address, too. */
static bool is_shared(const gs_race_touch_t *t, unsigned lane) {
  if (t->uniform)
    return gs_exec(t->w) & ~(UINT64_C(1) << lane);
  for (uint64_t left = t->access ? t->access->lanes : 0; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (l != lane && t->access->at[l] == t->lane_address)
      return true;
  }
  return false;
}

/* Whether another lane of the wave did it. What the scalar unit loads is of no lane in particular: compilers
 * have it do so before they know which lanes want it. But of two that store there one has not loaded it. */
static bool is_of_other_lane(const gs_race_touch_t *t, gs_stamp_t stamp, unsigned lane) {
  if (!gs_stamp_is_apart(stamp, t->stamp | lane, t->apart) || t->flags & GS_SITE_SCALAR)
    return false;
  const bool is_scalar = t->race->sites.site[gs_stamp_site(stamp)].flags & GS_SITE_SCALAR;
  return !is_scalar || (t->rights == GS_VM_WRITE && is_shared(t, lane));
}

/* What another lane of the wave did there, with nothing to order the two but that they run in step. */
static void meet_lanes(gs_race_touch_t *t, const found_t *was, uint64_t address, unsigned lane) {
  if (t->rights == (GS_VM_READ | GS_VM_WRITE) && !t->is_swap)
    return;
  if (is_of_other_lane(t, was->written, lane))
    meet(t, was->written, &was->value, address, lane);
  else if (t->rights == GS_VM_WRITE && is_of_other_lane(t, was->read, lane))
    meet(t, was->read, NULL, address, lane);
}

/* Two lanes of one store to the same dword, of which the order decides what stays. */
static void meet_own(gs_race_touch_t *t, gs_stamp_t other, uint64_t address, unsigned lane) {
  const unsigned l = gs_stamp_lane(other);
  if (l >= lane || !t->access || !(t->access->lanes >> l & 1))
    return;
  const uint64_t there = t->access->at[l];
  if (there + t->bytes <= address || address + 4 <= there || gs_race_is_same_value(t, address, lane, l))
    return;
  t->clash.same_instruction = true;
  note_clash(t, other, true, address, lane);
}

/* Whom a read-modify-write learns of where `written` was there: 0, or that. */
static inline gs_stamp_t teacher_of(const gs_race_touch_t *t, gs_stamp_t written, unsigned lane) {
  if (gs_stamp_crew(written) < t->crew->job->floor)
    return 0;
  const gs_site_t *site = &t->race->sites.site[gs_stamp_site(written)];
  const bool plain = !(site->flags & GS_SITE_ATOMIC);
  if (plain && t->is_swap && site->bytes != 15 && !(site->bytes & gs_race_changes(t, lane)))
    return 0; /* of a neighbour */
  return plain || gs_stamp_crew(written) == t->crew->id ? written : 0;
}

/* A read-modify-write passes on what the wave knows. */
static void pass_on(const gs_race_touch_t *t, gs_stamp_t written, uint64_t address, unsigned lane) {
  if (t->local) {
    gs_order_local_learn(t->crew, t->wave, address / 4, gs_stamp_crew(written) == t->crew->id ? written : 0);
    gs_order_local_atomic(t->crew, t->wave, address / 4);
    return;
  }
  const gs_order_word_t word = {.address = address, .written = teacher_of(t, written, lane)};
  gs_order_atomic(&t->race->order, t->crew, t->wave, &word, 1, t->flags & GS_SITE_RETURNS);
}

/* Whether both are read-modify-writes, which need no order. */
static bool are_atomic(const gs_race_touch_t *t, gs_stamp_t other) {
  return t->flags & t->race->sites.site[gs_stamp_site(other)].flags & GS_SITE_ATOMIC;
}

/* Whether it is a read-modify-write of another workgroup that this wave's own, of the same word, came behind.
 */
static bool is_passed(const gs_race_touch_t *t, gs_stamp_t stamp, uint64_t address) {
  return !t->local && t->race->sites.site[gs_stamp_site(stamp)].flags & GS_SITE_ATOMIC &&
         gs_order_read_at(&t->race->order, t->crew, t->wave, address, stamp);
}

/* The page has stamps of this access from now on. Its lock is held. */
static void note_newest(const gs_race_touch_t *t, gs_shadow_page_t *page) {
  uint32_t *newest = t->rights & GS_VM_WRITE ? &page->newest_write : &page->newest_read;
  if (*newest < t->crew->id)
    *newest = t->crew->id;
}

/* Puts the access's stamps, and returns what was there. */
static GS_GUEST found_t exchange(const gs_race_touch_t *t, const cells_t *cells, uint64_t address,
                                 unsigned lane) {
  const gs_stamp_t mine = t->stamp | lane;
  gs_shadow_lock(cells->page);
  if (cells->page)
    gs_shadow_spread(cells->page, cells->word, 1);
  const found_t was = {*cells->written, *cells->read, *cells->read_before, cells->value ? *cells->value : 0};
  if (cells->page)
    note_newest(t, cells->page);
  if (t->rights & GS_VM_WRITE) {
    *cells->written = mine;
    if (cells->value && t->w && t->data != GS_SITE_NO_DATA)
      gs_race_put_value(t, address, lane, cells->value);
    else if (cells->value && t->flags & GS_SITE_EXCHANGE)
      *cells->value = gs_race_changes(t, lane);
  } else if (was.read != mine) {
    if ((was.read ^ mine) >> GS_STAMP_WAVE)
      *cells->read_before = was.read;
    *cells->read = mine;
  }
  gs_shadow_unlock(cells->page);
  return was;
}

static GS_GUEST void touch_word(gs_race_touch_t *t, const cells_t *cells, uint64_t address, unsigned lane) {
  const found_t was = exchange(t, cells, address, lane);
  const gs_stamp_t mine = t->stamp | lane, written = was.written;
  if (written && !are_atomic(t, written) && !is_before(t, written) && !is_passed(t, written, address))
    meet(t, written, &was.value, address, lane);
  else if (t->rights == GS_VM_WRITE && written != mine && (written ^ mine) >> GS_STAMP_SITE == 0)
    meet_own(t, written, address, lane);
  if (GS_UNLIKELY(t->apart != GS_STAMP_NONE))
    meet_lanes(t, &was, address, lane);
  if (t->rights ==
      (GS_VM_READ | GS_VM_WRITE)) /* what it learns may order the reads, and not what it learns from */
    pass_on(t, written, address, lane);
  if (!(t->rights & GS_VM_WRITE))
    return;
  if (was.read && !is_before(t, was.read))
    meet(t, was.read, NULL, address, lane);
  else if (was.read_before && !is_before(t, was.read_before))
    meet(t, was.read_before, NULL, address, lane);
}

/* ---- Dwords side by side ---- */

static gs_stamp_t floor_of(const gs_race_touch_t *t) {
  return t->local ? 1 : (gs_stamp_t)t->crew->job->floor << GS_STAMP_CREW;
}

/* Most memory is read by many: a line whose dwords have all been read by two workgroups of a kernel, by
 * instructions of one kind, needs no stamps of others that read it so. Who writes there meets one of the two
 * whoever it is, as long as nobody knows what any other workgroup has done. */
static uint64_t common_key(const gs_race_touch_t *t) {
  return (uint64_t)t->crew->job->number << 16 | t->flags;
}

static bool can_be_common(const gs_race_touch_t *t) {
  return !t->local && t->w && t->rights == GS_VM_READ &&
         atomic_load_explicit(&t->race->order.strangers, memory_order_relaxed);
}

/* The page's lock is held, as in the next one. */
static bool is_common(const gs_race_touch_t *t, const gs_shadow_page_t *page, uint64_t address,
                      size_t count) {
  const size_t word = address % GS_SHADOW_PAGE / 4, first = word / GS_SHADOW_LINE;
  const uint64_t key = common_key(t);
  uint64_t other = 0;
  for (size_t i = first; i <= (word + count - 1) / GS_SHADOW_LINE; i++)
    other |= page->line[i].common ^ key;
  return !other && page->newest_write < t->crew->job->floor;
}

/* Whether instructions like the one in hand have read these dwords last, two workgroups each. */
static bool are_read_by_many(const gs_race_touch_t *t, const gs_stamp_t *read, const gs_stamp_t *before,
                             size_t count, gs_stamp_t first) {
  const gs_site_t *sites = t->race->sites.site;
  if (!t->race->sweep->are_common(read, before, count, first))
    return false;
  for (size_t i = 0; i < count; i++) {
    const gs_site_t *last = &sites[gs_stamp_site(read[i])], *other = &sites[gs_stamp_site(before[i])];
    if (last->flags != t->flags || other->flags != t->flags || (last->bytes & other->bytes) != 15)
      return false;
  }
  return true;
}

static bool is_line_common(const gs_race_touch_t *t, gs_shadow_page_t *page, size_t line, gs_stamp_t first) {
  enum { READS = 1 << GS_SHADOW_READ | 1 << GS_SHADOW_READ_BEFORE };
  const gs_shadow_line_t *l = &page->line[line];
  const gs_stamp_t *all = l->first;
  const size_t word = line * GS_SHADOW_LINE;
  if (!(l->spread & READS))
    return are_read_by_many(t, &all[GS_SHADOW_READ], &all[GS_SHADOW_READ_BEFORE], 1, first);
  gs_shadow_spread(page, word, GS_SHADOW_LINE);
  return are_read_by_many(t, page->words->stamp[GS_SHADOW_READ] + word,
                          page->words->stamp[GS_SHADOW_READ_BEFORE] + word, GS_SHADOW_LINE, first);
}

static void find_common(const gs_race_touch_t *t, gs_shadow_page_t *page, uint64_t address, size_t count) {
  const size_t word = address % GS_SHADOW_PAGE / 4;
  const gs_stamp_t first = (gs_stamp_t)t->crew->job->first << GS_STAMP_CREW,
                   before = gs_shadow_stamp(page, GS_SHADOW_READ_BEFORE, word);
  if (before < first || gs_stamp_crew(before) == t->crew->id || page->newest_write >= t->crew->job->floor)
    return; /* as for most memory */
  for (size_t i = word / GS_SHADOW_LINE; i <= (word + count - 1) / GS_SHADOW_LINE; i++)
    page->line[i].common = is_line_common(t, page, i, first) ? common_key(t) : 0;
}

/* Puts the stamps of `count` dwords from `address` on, of which each lane from `lane` on has `width`, if they
 * meet nobody: false if they may. */
static bool put_row(const gs_race_touch_t *t, const cells_t *cells, size_t count, uint64_t address,
                    unsigned lane, unsigned width) {
  gs_sweep_stamps_t stamps = {.written = cells->written,
                              .read = cells->read,
                              .read_before = cells->read_before,
                              .count = count,
                              .floor = floor_of(t),
                              .mine = t->stamp | lane,
                              .width = width,
                              .apart = t->apart};
  const bool writes = t->rights & GS_VM_WRITE, many = can_be_common(t);
  gs_shadow_page_t *page = cells->page;
  if (page)
    gs_lines_expect(page, cells->word, count);
  gs_shadow_lock(page);
  const bool again = many && gs_shadow_stamp(page, GS_SHADOW_READ, cells->word) >= stamps.floor;
  if (again && is_common(t, page, address, count)) {
    gs_shadow_unlock(page);
    return true;
  }
  stamps.no_writes = page && page->newest_write < t->crew->job->floor;
  stamps.no_reads = page && page->newest_read < t->crew->job->floor;
  const gs_sweep_t *sweep = t->race->sweep;
  const bool alone = page     ? gs_lines_put(sweep, page, cells->word, &stamps, writes)
                     : writes ? sweep->write(&stamps)
                              : sweep->read(&stamps);
  if (alone && writes && cells->value && t->w && t->data != GS_SITE_NO_DATA)
    gs_race_put_values(t, cells->value, count, lane, width, (unsigned)(address - t->lane_address) / 4);
  if (alone && page)
    note_newest(t, page);
  if (alone && again)
    find_common(t, page, address, count);
  gs_shadow_unlock(page);
  return alone;
}

/* `count` dwords from `address` on, of which each lane from `lane` on has `per_lane` (0: all are one lane's).
 */
static void touch_row(gs_race_touch_t *t, const cells_t *cells, size_t count, uint64_t address, unsigned lane,
                      unsigned per_lane) {
  const unsigned width = per_lane ? per_lane : 1024;
  const uint64_t first = t->lane_address;
  if (t->rights != (GS_VM_READ | GS_VM_WRITE) && put_row(t, cells, count, address, lane, width))
    return;
  for (size_t i = 0; i < count; i++) {
    t->lane_address = first + i / width * t->bytes;
    const cells_t each = {
        cells->written + i, cells->read + i, cells->read_before + i, cells->value ? cells->value + i : NULL,
        cells->page,        cells->word + i};
    touch_word(t, &each, address + 4 * i, lane + (unsigned)(i / width));
  }
  t->lane_address = first;
}

/* That of global memory. NULL when there is none. */
static inline gs_shadow_page_t *find_page(gs_race_touch_t *t, uint64_t address) {
  const uint64_t number = address / GS_SHADOW_PAGE;
  if (t->page && t->page_number == number)
    return t->page;
  gs_crew_page_t *known = &t->crew->page[number % GS_CREW_PAGES];
  if (!known->page || known->number != number) {
    known->page = address >> 48 ? NULL : gs_shadow_page(&t->race->shadow, address);
    known->number = number;
  }
  t->page = known->page;
  t->page_number = number;
  return t->page;
}

/* The stamps of the dword at `address`, and how many follow it in one piece. False when there are none. */
static bool find_cells(gs_race_touch_t *t, uint64_t address, cells_t *cells, size_t *count) {
  if (t->local) {
    const size_t word = address / 4, capacity = t->crew->local_capacity;
    if (word >= t->crew->local_words)
      return false;
    *cells = (cells_t){t->crew->local + word,
                       t->crew->local + capacity + word,
                       t->crew->local + 2 * capacity + word,
                       NULL,
                       NULL,
                       word};
    *count = t->crew->local_words - word;
    return true;
  }
  gs_shadow_page_t *page = find_page(t, address);
  if (!page)
    return false;
  const size_t word = address % GS_SHADOW_PAGE / 4;
  *cells = (cells_t){page->words->stamp[GS_SHADOW_WRITTEN] + word,
                     page->words->stamp[GS_SHADOW_READ] + word,
                     page->words->stamp[GS_SHADOW_READ_BEFORE] + word,
                     page->words->value + word,
                     page,
                     word};
  *count = GS_SHADOW_WORDS - word;
  return true;
}

void gs_race_words(gs_race_touch_t *t, uint64_t address, uint64_t count, unsigned lane, unsigned per_lane) {
  cells_t cells;
  size_t here;
  choose_site(t, 15);
  for (uint64_t done = 0; done < count; done += here) {
    if (!find_cells(t, address + 4 * done, &cells, &here))
      return;
    if (here > count - done)
      here = count - done;
    /* A page may end within a lane's dwords. */
    if (per_lane > 1 && done % per_lane && here > per_lane - done % per_lane)
      here = per_lane - done % per_lane;
    const unsigned l = lane + (per_lane ? (unsigned)(done / per_lane) : 0);
    t->lane_address = per_lane ? address + done / per_lane * per_lane * 4 : address;
    touch_row(t, &cells, here, address + 4 * done, l, per_lane);
  }
}

void gs_race_bytes(gs_race_touch_t *t, uint64_t address, uint64_t bytes, unsigned lane) {
  cells_t cells;
  size_t here;
  t->lane_address = address;
  if (address % 4 == 0 && bytes == 4) {
    choose_site(t, 15);
    if (find_cells(t, address, &cells, &here))
      touch_word(t, &cells, address, lane);
    return;
  }
  if (address % 4 == 0 && bytes % 4 == 0) {
    gs_race_words(t, address, bytes / 4, lane, 0);
    return;
  }
  for (uint64_t word = address & ~UINT64_C(3); word < address + bytes; word += 4) {
    unsigned mask = 15;
    if (word < address)
      mask &= 15u << (address - word);
    if (word + 4 > address + bytes)
      mask &= 15u >> (word + 4 - address - bytes);
    choose_site(t, mask);
    if (find_cells(t, word, &cells, &here))
      touch_word(t, &cells, word, lane);
  }
}

/* ---- Lanes anywhere ---- */

/* Puts the stamps of one lane's dwords, if they meet nobody, or else none of them. The page's lock is held.
 */
static GS_GUEST bool put_lane(const gs_race_touch_t *t, const cells_t *cells, unsigned count, unsigned lane) {
  const gs_stamp_t mine = t->stamp | lane, floor = floor_of(t);
  const bool writes = t->rights & GS_VM_WRITE;
  gs_stamp_t near = 0;
  bool own = false;
  for (unsigned i = 0; i < count; i++) {
    const gs_stamp_t written = cells->written[i], read = cells->read[i], before = cells->read_before[i];
    near |= written >= floor ? written ^ mine : 0;
    near |= writes && read >= floor ? read ^ mine : 0;
    near |= writes && before >= floor ? before ^ mine : 0;
    own |= writes && written != mine && (written ^ mine) >> GS_STAMP_SITE == 0; /* of another lane, perhaps */
    own |= gs_stamp_is_apart(written, mine, t->apart);
    own |= writes && gs_stamp_is_apart(read, mine, t->apart);
  }
  if (near >> GS_STAMP_WAVE || own)
    return false;
  for (unsigned i = 0; i < count; i++) {
    const gs_stamp_t read = cells->read[i];
    if (writes) {
      cells->written[i] = mine;
    } else if (read != mine) {
      if ((read ^ mine) >> GS_STAMP_WAVE)
        cells->read_before[i] = read;
      cells->read[i] = mine;
    }
  }
  if (writes && cells->value && t->data != GS_SITE_NO_DATA)
    gs_race_put_values(t, cells->value, count, lane, count, 0);
  if (cells->page)
    note_newest(t, cells->page);
  return true;
}

/* Moves the lock that is held, NULL for none, to another page. */
static void hold_page(gs_shadow_page_t **held, gs_shadow_page_t *page) {
  if (page == *held)
    return;
  gs_shadow_unlock(*held);
  gs_shadow_lock(page);
  *held = page;
}

/* The same of whole dwords at `address`. `held`: the page of which the lock is held, which may change. */
static bool touch_lane(gs_race_touch_t *t, uint64_t address, unsigned lane, gs_shadow_page_t **held) {
  cells_t cells;
  size_t here;
  choose_site(t, 15);
  t->lane_address = address;
  if (!find_cells(t, address, &cells, &here) || here < t->bytes / 4)
    return false;
  hold_page(held, cells.page);
  if (cells.page)
    gs_shadow_spread(cells.page, cells.word, t->bytes / 4);
  return put_lane(t, &cells, t->bytes / 4, lane);
}

/* Whether no kernel that runs has written to the page of `address`, so that it is all the same which lane of
 * the wave reads what. */
static bool is_unwritten(gs_race_touch_t *t, uint64_t address) {
  gs_shadow_page_t *page = find_page(t, address);
  gs_shadow_lock(page);
  const bool unwritten = page && page->newest_write < t->crew->job->floor;
  gs_shadow_unlock(page);
  return unwritten;
}

/* Whether lanes from this one on may overlap and be looked at as one row. */
static bool can_overlap(gs_race_touch_t *t, unsigned lane, unsigned count) {
  const gs_access_t *a = t->access;
  if (a->rights != GS_VM_READ)
    return false;
  return t->apart == GS_STAMP_NONE ||
         (is_unwritten(t, a->at[lane]) && is_unwritten(t, a->at[lane + count - 1] + a->bytes - 1));
}

/* Lanes from this one on that are side by side, `step` bytes each behind the other. */
static void touch_neighbours(gs_race_touch_t *t, unsigned lane, unsigned count, uint32_t step) {
  const gs_access_t *a = t->access;
  const unsigned last = lane + count - 1;
  gs_race_words(t, a->at[lane], (uint64_t)count * step / 4, lane, step / 4);
  if (step < a->bytes)
    gs_race_words(t, a->at[last] + step, (a->bytes - step) / 4, last, 0);
}

/* From the first to the last. */
void gs_race_lanes(gs_race_touch_t *t, uint64_t lanes) {
  enum { FEWEST = 4 };
  const gs_access_t *a = t->access;
  const bool plain = a->bytes % 4 == 0 && a->rights != (GS_VM_READ | GS_VM_WRITE);
  const uint32_t step = gs_lane_step(a->at, lanes, a->bytes);
  uint64_t next = plain && step % 4 == 0 ? t->race->sweep->next(a->at, step) : 0;
  gs_shadow_page_t *held = NULL;
  uint64_t last = UINT64_MAX;
  for (uint64_t left = lanes; left;) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t at = a->at[l];
    const bool again = !t->local && at == last && a->rights != GS_VM_WRITE, whole = plain && at % 4 == 0;
    unsigned count = whole && !again ? gs_count_neighbours(left, next) : 1;
    /* Stores of several rows may overlap, and must look at each other. */
    if (count < FEWEST || (a->rights == GS_VM_WRITE && count != (unsigned)__builtin_popcountll(lanes)) ||
        gs_race_is_private(t, at) || gs_race_is_private(t, a->at[l + count - 1]))
      count = 1;
    if (count > 1 && step < a->bytes) {
      hold_page(&held, NULL); /* as this asks pages, too */
      next = can_overlap(t, l, count) ? next : 0;
      count = next ? count : 1;
    }
    last = a->at[l + count - 1];
    left = gs_without_lanes(left, count);
    if (again || (count == 1 && (gs_race_is_private(t, at) || (whole && touch_lane(t, at, l, &held)))))
      continue;
    gs_shadow_unlock(held);
    held = NULL;
    if (count == 1)
      gs_race_bytes(t, at, a->bytes, l);
    else
      touch_neighbours(t, l, count, step);
  }
  gs_shadow_unlock(held);
}

/* ---- Read-modify-writes of global memory ---- */

/* Those of one instruction that met nobody but others of their kind, and have yet to pass on what the wave
 * knows. */
enum { MODIFIED_DWORDS = 2 }; /* of a lane, at most */
typedef struct modified {
  gs_shadow_page_t *held; /* the page of which the lock is held */
  bool is_read;           /* it has stamps of reads that are not long over */
  unsigned count;
  gs_order_word_t word[GS_MAX_LANES * MODIFIED_DWORDS];
} modified_t;

static void pass_all_on(const gs_race_touch_t *t, modified_t *m) {
  gs_shadow_unlock(m->held);
  m->held = NULL;
  if (m->count)
    gs_order_atomic(&t->race->order, t->crew, t->wave, m->word, m->count, t->flags & GS_SITE_RETURNS);
  m->count = 0;
}

/* Whether the stamp is of nobody, long over, or of the wave itself. */
static bool is_far(const gs_race_touch_t *t, gs_stamp_t stamp, gs_stamp_t floor) {
  return stamp < floor || !((stamp ^ t->stamp) >> GS_STAMP_WAVE);
}

/* Whether one that finds `written` there needs no closer look at who that is. */
static inline bool is_harmless(const gs_race_touch_t *t, gs_stamp_t written, gs_stamp_t floor,
                               unsigned lane) {
  if (t->is_swap && gs_stamp_is_apart(written, t->stamp | lane, t->apart))
    return false;
  return is_far(t, written, floor) || are_atomic(t, written);
}

/* Puts the stamps of one lane's, if it is so; false: nothing is done. */
static GS_GUEST bool modify_lane(gs_race_touch_t *t, uint64_t address, unsigned lane, modified_t *m) {
  const unsigned count = t->bytes / 4;
  const size_t word = address % GS_SHADOW_PAGE / 4;
  const gs_stamp_t floor = floor_of(t);
  gs_shadow_page_t *page = find_page(t, address);
  if (!page || word + count > GS_SHADOW_WORDS)
    return false;
  if (m->held != page) {
    hold_page(&m->held, page);
    m->is_read = page->newest_read >= t->crew->job->floor;
    note_newest(t, page);
  }
  gs_shadow_spread(page, word, count);
  gs_stamp_t *written = page->words->stamp[GS_SHADOW_WRITTEN];
  for (size_t i = word; i < word + count; i++)
    if (!is_harmless(t, written[i], floor, lane) ||
        (m->is_read && !(is_far(t, page->words->stamp[GS_SHADOW_READ][i], floor) &&
                         is_far(t, page->words->stamp[GS_SHADOW_READ_BEFORE][i], floor))))
      return false;
  for (size_t i = word; i < word + count; i++) {
    m->word[m->count++] =
        (gs_order_word_t){address + 4 * (i - word), teacher_of(t, written[i], lane), &page->words->place[i]};
    written[i] = t->stamp | lane;
    if (t->flags & GS_SITE_EXCHANGE)
      page->words->value[i] = gs_race_changes(t, lane);
  }
  return true;
}

/* Lanes with addresses of their own, from first to last. */
static void modify_lanes(gs_race_touch_t *t, uint64_t lanes) {
  const gs_access_t *a = t->access;
  const bool whole = a->bytes % 4 == 0 && a->bytes / 4 <= MODIFIED_DWORDS;
  modified_t m; /* without its words, which are many, set to anything */
  uint64_t last = UINT64_MAX;
  m.held = NULL;
  m.is_read = false;
  m.count = 0;
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t at = a->at[l];
    if (at == last)
      continue;
    last = at;
    choose_site(t, 15);
    if (whole && at % 4 == 0 && modify_lane(t, at, l, &m))
      continue;
    pass_all_on(t, &m);
    gs_race_bytes(t, at, a->bytes, l);
  }
  pass_all_on(t, &m);
}

/* All that the instruction accesses: the lock of what orders is taken once. */
void gs_race_modify(gs_race_touch_t *t) {
  uint64_t lanes = t->access->lanes;
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    lanes &= ~((uint64_t)gs_race_is_private(t, t->access->at[l]) << l);
  }
  gs_order_hold(&t->race->order);
  modify_lanes(t, lanes);
  gs_order_let_go(&t->race->order);
  if (t->race->tells)
    gs_atomic_look(t->race, t->w, t->access, lanes);
}

/* ---- The host's memory ---- */

/* What the lane accesses, of whole dwords. */
static void note_host_lane(gs_race_touch_t *t, uint64_t address, unsigned lane) {
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  const gs_vm_range_t *range = gs_vm_find(map, address);
  uint32_t stored[GS_ACCESS_BYTES / 4];
  cells_t cells;
  size_t here;
  if (!range || address % 4 || t->bytes % 4 || t->bytes > GS_ACCESS_BYTES || range->end - address < t->bytes)
    return;
  t->lane_address = address;
  const bool known = t->rights == GS_VM_WRITE && gs_race_stored_bytes(t, lane, (uint8_t *)stored);
  for (unsigned i = 0; i < t->bytes / 4 && find_cells(t, address + 4 * i, &cells, &here); i++) {
    const gs_host_word_t word = {.address = address + 4 * i,
                                 .host = range->host + (address + 4 * i - range->start),
                                 .writes = t->rights == GS_VM_WRITE,
                                 .group = t->crew->group,
                                 .accessed = t->stamp | lane,
                                 .written =
                                     gs_shadow_ask(&t->race->shadow, GS_SHADOW_WRITTEN, address + 4 * i)};
    gs_host_note(t->race, t->crew->job, t->w, &word, known ? &stored[i] : NULL);
  }
}

/* The lanes' accesses, at a->at[] or from `address` on, `stride` bytes apart. */
__attribute__((noinline)) void gs_race_host(gs_race_touch_t *t, uint64_t lanes, uint64_t address,
                                            uint32_t stride) {
  if (t->rights == (GS_VM_READ | GS_VM_WRITE) || t->flags & GS_SITE_WAITS) {
    gs_host_agrees(t->race, t->crew->job);
    return;
  }
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    note_host_lane(t, t->access ? t->access->at[l] : address + (uint64_t)l * stride, l);
  }
}

/* ---- Blocks ---- */

/* All active lanes at one place: they write one value, or it is chance which stays. */
static void touch_uniform(gs_race_touch_t *t, uint64_t address, uint64_t size) {
  const uint64_t exec = gs_exec(t->w);
  const unsigned first = exec ? (unsigned)__builtin_ctzll(exec) : 0;
  const uint64_t others = exec & (exec - 1);
  t->uniform = true;
  if (t->apart != GS_STAMP_NONE && t->rights == GS_VM_WRITE &&
      others) /* one lane may have been there, not two */
    gs_race_bytes(t, address, size, (unsigned)__builtin_ctzll(others));
  gs_race_bytes(t, address, size, first);
  t->lane_address = address;
  for (uint64_t left = t->rights == GS_VM_WRITE ? others : 0; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    for (uint64_t at = address & ~UINT64_C(3); at < address + size; at += 4) {
      if (gs_race_is_same_value(t, at, l, first))
        continue;
      t->clash.same_instruction = true;
      note_clash(t, t->stamp | first, true, at, l);
      return;
    }
  }
}

void gs_race_block(gs_race_touch_t *t, uint64_t address, uint64_t size, uint32_t stride, bool scalar) {
  if (scalar)
    gs_race_bytes(t, address, size, 0);
  else if (!stride)
    touch_uniform(t, address, size);
  else if (address % 4 == 0 && stride % 4 == 0)
    gs_race_words(t, address, size / 4, 0, stride / 4);
  else
    for (unsigned l = 0; l < gs_wave_lanes(t->w); l++)
      gs_race_bytes(t, address + (uint64_t)l * stride, stride, l);
  if (!scalar && !t->local && t->race->tells && GS_UNLIKELY(gs_host_is(t->race, t->w, address))) {
    const uint64_t exec = gs_exec(t->w);
    gs_race_host(t, stride ? exec : exec & -exec, address, stride);
  }
  gs_race_finish(t);
}
