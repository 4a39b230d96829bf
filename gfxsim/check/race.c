/* See race.h. Nearly all accesses meet nothing but what is long over, or their own wave's: that is looked at
 * in a loop over stamps. What is left is compared one by one. */
#include "check/race.h"

#include <stdlib.h>
#include <string.h>

#include "check/cache.h"
#include "check/check.h"
#include "check/lines.h"
#include "check/name.h"
#include "exec/place.h"
#include "isa/guest.h"
#include "isa/memory.h"

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

/* An instruction's accesses, while they are looked at. */
typedef struct touch {
  gs_race_t *race;
  gs_wave_t *w; /* NULL: a copy */
  gs_crew_t *crew;
  gs_order_wave_t *me;
  unsigned wave;
  gs_stamp_t base;  /* crew, wave and clock of a stamp */
  gs_stamp_t stamp; /* the same with the site */
  gs_stamp_t apart; /* from this stamp on nothing orders the wave's lanes; GS_STAMP_NONE: something may */
  unsigned mask;    /* bytes of a dword that the site stands for */
  unsigned flags;   /* of the site */
  unsigned data;    /* likewise */
  uint32_t rights, bytes;
  bool local, uniform;    /* uniform: all active lanes are at one place */
  uint64_t lane_address;  /* of the lane in hand */
  gs_shadow_page_t *page; /* the one that was asked for last, of the page of this number */
  uint64_t page_number;
  const gs_access_t *access; /* of lanes that have addresses of their own, or NULL */
  gs_clash_t clash;
} touch_t;

static void choose_site(touch_t *t, unsigned mask) {
  if (t->mask == mask)
    return;
  gs_sites_t *sites = &t->race->sites;
  const uint32_t site = gs_site_of(sites, t->w, mask);
  t->mask = mask;
  t->flags = sites->site[site].flags;
  t->data = sites->site[site].data;
  t->stamp = t->base | (gs_stamp_t)site << GS_STAMP_SITE;
}

/* Whether only what the program says orders the work-items of the wave's kernel: OpenMP does not know of
 * waves. */
static bool is_openmp(const touch_t *t) {
  gs_job_t *job = t->crew->job;
  uint8_t known = atomic_load_explicit(&job->is_openmp, memory_order_relaxed);
  if (GS_UNLIKELY(known == GS_OPENMP_UNKNOWN)) {
    char kernel[GS_PLACE_TEXT];
    const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
    gs_place_kernel_name(map, &job->launch, kernel);
    known = gs_name_is_target_region(kernel) ? GS_OPENMP_YES : GS_OPENMP_NO;
    atomic_store_explicit(&job->is_openmp, known, memory_order_relaxed);
  }
  return known == GS_OPENMP_YES;
}

/* Since when nothing orders the wave's lanes. In a group of one wave compilers take barriers out, and local
 * memory has the device runtime's state, which counts on waves that run in step. */
static gs_stamp_t apart_from(const touch_t *t) {
  const gs_order_wave_t *me = t->me;
  if (t->local || !t->race->tells || t->crew->waves < 2 || me->lanes_from > me->clock ||
      me->clock == GS_CLOCK_MAX || !is_openmp(t))
    return GS_STAMP_NONE;
  return (t->base >> GS_STAMP_WAVE << GS_STAMP_WAVE) | (gs_stamp_t)me->lanes_from << GS_STAMP_CLOCK;
}

/* False when the wave is of a group that is not looked at. */
static bool begin(touch_t *t, gs_wave_t *w, uint32_t rights, uint32_t bytes, bool local) {
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
  if (GS_UNLIKELY(t->me->behind))
    gs_order_catch_up(&t->race->order, crew, wave);
  t->me->dirty = true;
  t->base = (gs_stamp_t)crew->id << GS_STAMP_CREW | (gs_stamp_t)wave << GS_STAMP_WAVE |
            (gs_stamp_t)t->me->clock << GS_STAMP_CLOCK;
  t->apart = apart_from(t);
  choose_site(t, 15);
  return true;
}

static void finish(touch_t *t) {
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

/* ---- Values ---- */

/* Which register has what the lane stores at `address`; false when that is not known. */
static bool find_data(const touch_t *t, const gs_inst_t *in, unsigned lane, unsigned *reg) {
  const gs_opcode_t *op = in->op;
  if (op->encoding == GS_ENC_SMEM || !(op->flags & GS_OPF_STORE))
    return false;
  *reg = op->encoding == GS_ENC_MUBUF || op->encoding == GS_ENC_MTBUF ? in->dst : in->src[1].reg;
  if (op->encoding == GS_ENC_MTBUF || !(op->flags & GS_OPF_TWO_ADDR))
    return op->encoding != GS_ENC_MTBUF;
  const uint32_t scale = t->bytes * (strstr(op->name, "st64") || strstr(op->name, "stride64") ? 64 : 1);
  const uint32_t address = t->w->v[in->src[0].reg].u32[lane];
  if (address + (uint32_t)in->imm * scale != (uint32_t)t->lane_address)
    *reg = in->src[2].reg;
  return true;
}

/* The bytes that the lane's store will put at its address. */
static bool stored_bytes(const touch_t *t, unsigned lane, uint8_t bytes[GS_ACCESS_BYTES]) {
  gs_inst_t in;
  unsigned reg;
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  const void *code = gs_vm_translate(map, t->w->pc - GS_PLACE_INSTRUCTION_BYTES, 8, GS_VM_EXECUTE);
  if (!code || t->bytes > GS_ACCESS_BYTES)
    return false;
  uint32_t words[2];
  memcpy(words, code, sizeof words);
  if (!gs_decode(t->w->env->target, words, 2, &in) || !find_data(t, &in, lane, &reg))
    return false;
  for (unsigned i = 0; i < (t->bytes + 3) / 4; i++) {
    uint32_t value = t->w->v[reg + i].u32[lane];
    if (in.op->flags & GS_OPF_D16_HI)
      value >>= 16;
    memcpy(bytes + 4 * i, &value, 4);
  }
  return true;
}

/* What the instruction stores at the bytes of the dword at `address` that are the lane's; the others of
 * *value stay. */
static void put_value(const touch_t *t, uint64_t address, unsigned lane, uint32_t *value) {
  uint8_t bytes[4];
  memcpy(bytes, value, sizeof bytes);
  for (unsigned i = 0; i < 4; i++) {
    const uint64_t at = address + i - t->lane_address; /* beyond any item's if it is in front of it */
    if (at < t->bytes && at < GS_ACCESS_BYTES) {
      const uint32_t word = t->w->v[t->data + at / 4].u32[lane] >> (t->flags & GS_SITE_HIGH ? 16 : 0);
      bytes[i] = (uint8_t)(word >> 8 * (at % 4));
    }
  }
  memcpy(value, bytes, sizeof bytes);
}

/* Whether the lane stores what `theirs`, the other store, puts into the bytes of the dword that both have. By
 * what that stores and not by what is there, as its worker may not have come to it. */
static bool is_same_store(const touch_t *t, const gs_site_t *site, uint32_t theirs, uint64_t address,
                          unsigned lane) {
  uint32_t mine = theirs, differ, bits = 0;
  if (t->data == GS_SITE_NO_DATA)
    return false;
  put_value(t, address, lane, &mine);
  differ = mine ^ theirs;
  for (unsigned i = 0; i < 4; i++)
    bits |= (site->bytes & t->mask) >> i & 1 ? 0xffu << 8 * i : 0;
  return !(differ & bits);
}

/* Whether the store of the lane leaves the dword at `address` as it is. */
static bool is_silent(const touch_t *t, uint64_t address, unsigned lane) {
  uint8_t bytes[GS_ACCESS_BYTES] = {0};
  const uint64_t from = address < t->lane_address ? t->lane_address : address;
  const uint64_t end = t->lane_address + t->bytes, to = address + 4 < end ? address + 4 : end;
  if (!t->w || t->rights != GS_VM_WRITE || from >= to || !stored_bytes(t, lane, bytes))
    return false;
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  const uint8_t *there = t->local ? t->w->env->lds + from : gs_vm_translate(map, from, to - from, GS_VM_READ);
  for (uint64_t i = from; there && i < to; i++)
    if (gs_guest_get8((uint64_t)(uintptr_t)(there + (i - from))) != bytes[i - t->lane_address])
      return false;
  return there;
}

/* Whether two lanes of one store have the same value for the dword. */
static bool is_same_value(touch_t *t, uint64_t address, unsigned lane, unsigned other) {
  uint8_t mine[GS_ACCESS_BYTES] = {0}, theirs[GS_ACCESS_BYTES] = {0};
  const uint64_t here = t->lane_address, there = t->access ? t->access->at[other] : here;
  if (!(t->rights & GS_VM_WRITE) || t->rights & GS_VM_READ || !stored_bytes(t, lane, mine))
    return true;
  t->lane_address = there;
  const bool known = stored_bytes(t, other, theirs);
  t->lane_address = here;
  for (uint64_t at = address; at < address + 4 && known; at++)
    if (at >= here && at - here < t->bytes && at >= there && at - there < t->bytes &&
        mine[at - here] != theirs[at - there])
      return false;
  return true;
}

/* ---- One dword ---- */

static bool is_before(const touch_t *t, gs_stamp_t stamp) {
  if (t->local && gs_stamp_crew(stamp) != t->crew->id)
    return true; /* of a group that had this LDS before */
  return gs_order_is_before(&t->race->order, t->crew, t->wave, stamp);
}

static void note_clash(touch_t *t, gs_stamp_t other, bool other_writes, uint64_t address, unsigned lane) {
  if (t->clash.lanes++)
    return;
  t->clash.other = other;
  t->clash.other_writes = other_writes;
  t->clash.address = t->lane_address > address ? t->lane_address : address;
  t->clash.lane = lane;
}

/* Whether two accesses that nothing orders are no race, as code means them to meet. What cannot be told from
 * an atomic store counts as one where somebody waits for it. */
static bool is_meant(const touch_t *t, unsigned theirs, bool they_write) {
  const unsigned mine = t->flags;
  if (mine & theirs & GS_SITE_ATOMIC)
    return true;
  if (t->rights == GS_VM_READ)
    return mine & GS_SITE_WAITS || (mine & GS_SITE_COMPARED && theirs & GS_SITE_ATOMIC);
  if (!they_write)
    return theirs & GS_SITE_WAITS || (mine & GS_SITE_ATOMIC && theirs & GS_SITE_COMPARED);
  return (mine | theirs) & GS_SITE_EXCHANGE;
}

static void learn(const touch_t *t, gs_stamp_t written, uint64_t address) {
  if (t->local)
    gs_order_local_learn(t->crew, t->wave, address / 4, written);
  else
    gs_order_learn(&t->race->order, t->crew, t->wave, address, written);
}

/* An earlier access that nothing is known to order: a write of *theirs, or a read (NULL). */
static void meet(touch_t *t, gs_stamp_t other, const uint32_t *theirs, uint64_t address, unsigned lane) {
  const bool other_writes = theirs;
  const gs_site_t *site = &t->race->sites.site[gs_stamp_site(other)];
  if (!(site->bytes & t->mask))
    return;
  if (is_meant(t, site->flags, other_writes)) {
    if (t->rights & GS_VM_READ && other_writes && !(t->flags & GS_SITE_ATOMIC))
      learn(t, other, address);
    return;
  }
  const bool is_known = theirs && !t->local && t->w && site->data != GS_SITE_NO_DATA;
  if (is_known && t->rights == GS_VM_WRITE ? is_same_store(t, site, *theirs, address, lane)
                                           : t->rights & GS_VM_WRITE && is_silent(t, address, lane))
    return;
  note_clash(t, other, other_writes, address, lane);
}

/* Whether another lane stores to the lane's address, too. */
static bool is_shared(const touch_t *t, unsigned lane) {
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
static bool is_of_other_lane(const touch_t *t, gs_stamp_t stamp, unsigned lane) {
  if (!gs_stamp_is_apart(stamp, t->stamp | lane, t->apart) || t->flags & GS_SITE_SCALAR)
    return false;
  const bool is_scalar = t->race->sites.site[gs_stamp_site(stamp)].flags & GS_SITE_SCALAR;
  return !is_scalar || (t->rights == GS_VM_WRITE && is_shared(t, lane));
}

/* What another lane of the wave did there, with nothing to order the two but that they run in step. */
static void meet_lanes(touch_t *t, const found_t *was, uint64_t address, unsigned lane) {
  if (t->rights == (GS_VM_READ | GS_VM_WRITE))
    return;
  if (is_of_other_lane(t, was->written, lane))
    meet(t, was->written, &was->value, address, lane);
  else if (t->rights == GS_VM_WRITE && is_of_other_lane(t, was->read, lane))
    meet(t, was->read, NULL, address, lane);
}

/* Two lanes of one store to the same dword, of which the order decides what stays. */
static void meet_own(touch_t *t, gs_stamp_t other, uint64_t address, unsigned lane) {
  const unsigned l = gs_stamp_lane(other);
  if (l >= lane || !t->access || !(t->access->lanes >> l & 1))
    return;
  const uint64_t there = t->access->at[l];
  if (there + t->bytes <= address || address + 4 <= there || is_same_value(t, address, lane, l))
    return;
  t->clash.same_instruction = true;
  note_clash(t, other, true, address, lane);
}

/* Whom a read-modify-write learns of where `written` was there: 0, or that. */
static inline gs_stamp_t teacher_of(const touch_t *t, gs_stamp_t written) {
  if (gs_stamp_crew(written) < t->crew->job->floor)
    return 0;
  const bool plain = !(t->race->sites.site[gs_stamp_site(written)].flags & GS_SITE_ATOMIC);
  return plain || gs_stamp_crew(written) == t->crew->id ? written : 0;
}

/* A read-modify-write passes on what the wave knows. */
static void pass_on(const touch_t *t, gs_stamp_t written, uint64_t address) {
  if (t->local) {
    gs_order_local_learn(t->crew, t->wave, address / 4, gs_stamp_crew(written) == t->crew->id ? written : 0);
    gs_order_local_atomic(t->crew, t->wave, address / 4);
    return;
  }
  const gs_order_word_t word = {.address = address, .written = teacher_of(t, written)};
  gs_order_atomic(&t->race->order, t->crew, t->wave, &word, 1, t->flags & GS_SITE_RETURNS);
}

/* Whether both are read-modify-writes, which need no order. */
static bool are_atomic(const touch_t *t, gs_stamp_t other) {
  return t->flags & t->race->sites.site[gs_stamp_site(other)].flags & GS_SITE_ATOMIC;
}

/* Whether it is a read-modify-write of another workgroup that this wave's own, of the same word, came behind.
 */
static bool is_passed(const touch_t *t, gs_stamp_t stamp, uint64_t address) {
  return !t->local && t->race->sites.site[gs_stamp_site(stamp)].flags & GS_SITE_ATOMIC &&
         gs_order_read_at(&t->race->order, t->crew, t->wave, address, stamp);
}

/* The page has stamps of this access from now on. Its lock is held. */
static void note_newest(const touch_t *t, gs_shadow_page_t *page) {
  uint32_t *newest = t->rights & GS_VM_WRITE ? &page->newest_write : &page->newest_read;
  if (*newest < t->crew->id)
    *newest = t->crew->id;
}

/* Puts the access's stamps, and returns what was there. */
static GS_GUEST found_t exchange(const touch_t *t, const cells_t *cells, uint64_t address, unsigned lane) {
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
      put_value(t, address, lane, cells->value);
  } else if (was.read != mine) {
    if ((was.read ^ mine) >> GS_STAMP_WAVE)
      *cells->read_before = was.read;
    *cells->read = mine;
  }
  gs_shadow_unlock(cells->page);
  return was;
}

static GS_GUEST void touch_word(touch_t *t, const cells_t *cells, uint64_t address, unsigned lane) {
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
    pass_on(t, written, address);
  if (!(t->rights & GS_VM_WRITE))
    return;
  if (was.read && !is_before(t, was.read))
    meet(t, was.read, NULL, address, lane);
  else if (was.read_before && !is_before(t, was.read_before))
    meet(t, was.read_before, NULL, address, lane);
}

/* ---- Dwords side by side ---- */

/* As put_value, of whole dwords, each lane's from its dword `skip` on. */
static void put_values(const touch_t *t, uint32_t *value, size_t count, unsigned lane, unsigned width,
                       unsigned skip) {
  const unsigned most = GS_ACCESS_BYTES / 4;
  const gs_row_t *rows = &t->w->v[t->data + skip];
  if (width <= most && !skip)
    t->race->sweep->gather(value, count, rows, lane, width);
  else
    for (size_t i = 0; i < count && skip + i < most; i++)
      value[i] = rows[i].u32[lane];
}

static gs_stamp_t floor_of(const touch_t *t) {
  return t->local ? 1 : (gs_stamp_t)t->crew->job->floor << GS_STAMP_CREW;
}

/* Most memory is read by many: a line whose dwords have all been read by two workgroups of a kernel, by
 * instructions of one kind, needs no stamps of others that read it so. Who writes there meets one of the two
 * whoever it is, as long as nobody knows what any other workgroup has done. */
static uint64_t common_key(const touch_t *t) {
  return (uint64_t)t->crew->job->number << 16 | t->flags;
}

static bool can_be_common(const touch_t *t) {
  return !t->local && t->w && t->rights == GS_VM_READ &&
         atomic_load_explicit(&t->race->order.strangers, memory_order_relaxed);
}

/* The page's lock is held, as in the next one. */
static bool is_common(const touch_t *t, const gs_shadow_page_t *page, uint64_t address, size_t count) {
  const size_t word = address % GS_SHADOW_PAGE / 4, first = word / GS_SHADOW_LINE;
  const uint64_t key = common_key(t);
  uint64_t other = 0;
  for (size_t i = first; i <= (word + count - 1) / GS_SHADOW_LINE; i++)
    other |= page->line[i].common ^ key;
  return !other && page->newest_write < t->crew->job->floor;
}

/* Whether instructions like the one in hand have read these dwords last, two workgroups each. */
static bool are_read_by_many(const touch_t *t, const gs_stamp_t *read, const gs_stamp_t *before, size_t count,
                             gs_stamp_t first) {
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

static bool is_line_common(const touch_t *t, gs_shadow_page_t *page, size_t line, gs_stamp_t first) {
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

static void find_common(const touch_t *t, gs_shadow_page_t *page, uint64_t address, size_t count) {
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
static bool put_row(const touch_t *t, const cells_t *cells, size_t count, uint64_t address, unsigned lane,
                    unsigned width) {
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
    put_values(t, cells->value, count, lane, width, (unsigned)(address - t->lane_address) / 4);
  if (alone && page)
    note_newest(t, page);
  if (alone && again)
    find_common(t, page, address, count);
  gs_shadow_unlock(page);
  return alone;
}

/* `count` dwords from `address` on, of which each lane from `lane` on has `per_lane` (0: all are one lane's).
 */
static void touch_row(touch_t *t, const cells_t *cells, size_t count, uint64_t address, unsigned lane,
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
static inline gs_shadow_page_t *find_page(touch_t *t, uint64_t address) {
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
static bool find_cells(touch_t *t, uint64_t address, cells_t *cells, size_t *count) {
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

/* Whole dwords. */
static void touch_words(touch_t *t, uint64_t address, uint64_t count, unsigned lane, unsigned per_lane) {
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

/* One lane's bytes, anywhere. */
static void touch_bytes(touch_t *t, uint64_t address, uint64_t bytes, unsigned lane) {
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
    touch_words(t, address, bytes / 4, lane, 0);
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
static GS_GUEST bool put_lane(const touch_t *t, const cells_t *cells, unsigned count, unsigned lane) {
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
    put_values(t, cells->value, count, lane, count, 0);
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
static bool touch_lane(touch_t *t, uint64_t address, unsigned lane, gs_shadow_page_t **held) {
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

static bool is_private(const touch_t *t, uint64_t address) {
  const gs_launch_t *launch = &t->crew->job->launch;
  return !t->local && address >= launch->scratch_start && address < launch->scratch_end;
}

/* Whether no kernel that runs has written to the page of `address`, so that it is all the same which lane of
 * the wave reads what. */
static bool is_unwritten(touch_t *t, uint64_t address) {
  gs_shadow_page_t *page = find_page(t, address);
  gs_shadow_lock(page);
  const bool unwritten = page && page->newest_write < t->crew->job->floor;
  gs_shadow_unlock(page);
  return unwritten;
}

/* Whether lanes from this one on may overlap and be looked at as one row. */
static bool can_overlap(touch_t *t, unsigned lane, unsigned count) {
  const gs_access_t *a = t->access;
  if (a->rights != GS_VM_READ)
    return false;
  return t->apart == GS_STAMP_NONE ||
         (is_unwritten(t, a->at[lane]) && is_unwritten(t, a->at[lane + count - 1] + a->bytes - 1));
}

/* Lanes from this one on that are side by side, `step` bytes each behind the other. */
static void touch_neighbours(touch_t *t, unsigned lane, unsigned count, uint32_t step) {
  const gs_access_t *a = t->access;
  const unsigned last = lane + count - 1;
  touch_words(t, a->at[lane], (uint64_t)count * step / 4, lane, step / 4);
  if (step < a->bytes)
    touch_words(t, a->at[last] + step, (a->bytes - step) / 4, last, 0);
}

/* Lanes with addresses of their own, from first to last. */
static void touch_lanes(touch_t *t, uint64_t lanes) {
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
        is_private(t, at) || is_private(t, a->at[l + count - 1]))
      count = 1;
    if (count > 1 && step < a->bytes) {
      hold_page(&held, NULL); /* as this asks pages, too */
      next = can_overlap(t, l, count) ? next : 0;
      count = next ? count : 1;
    }
    last = a->at[l + count - 1];
    left = gs_without_lanes(left, count);
    if (again || (count == 1 && (is_private(t, at) || (whole && touch_lane(t, at, l, &held)))))
      continue;
    gs_shadow_unlock(held);
    held = NULL;
    if (count == 1)
      touch_bytes(t, at, a->bytes, l);
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

static void pass_all_on(const touch_t *t, modified_t *m) {
  gs_shadow_unlock(m->held);
  m->held = NULL;
  if (m->count)
    gs_order_atomic(&t->race->order, t->crew, t->wave, m->word, m->count, t->flags & GS_SITE_RETURNS);
  m->count = 0;
}

/* Whether the stamp is of nobody, long over, or of the wave itself. */
static bool is_far(const touch_t *t, gs_stamp_t stamp, gs_stamp_t floor) {
  return stamp < floor || !((stamp ^ t->stamp) >> GS_STAMP_WAVE);
}

/* Whether one that finds `written` there needs no closer look at who that is. */
static inline bool is_harmless(const touch_t *t, gs_stamp_t written, gs_stamp_t floor) {
  return is_far(t, written, floor) || are_atomic(t, written);
}

/* Puts the stamps of one lane's, if it is so; false: nothing is done. */
static GS_GUEST bool modify_lane(touch_t *t, uint64_t address, unsigned lane, modified_t *m) {
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
    if (!is_harmless(t, written[i], floor) ||
        (m->is_read && !(is_far(t, page->words->stamp[GS_SHADOW_READ][i], floor) &&
                         is_far(t, page->words->stamp[GS_SHADOW_READ_BEFORE][i], floor))))
      return false;
  for (size_t i = word; i < word + count; i++) {
    m->word[m->count++] =
        (gs_order_word_t){address + 4 * (i - word), teacher_of(t, written[i]), &page->words->place[i]};
    written[i] = t->stamp | lane;
  }
  return true;
}

/* Lanes with addresses of their own, from first to last. */
static void modify_lanes(touch_t *t, uint64_t lanes) {
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
    touch_bytes(t, at, a->bytes, l);
  }
  pass_all_on(t, &m);
}

/* All that the instruction accesses: the lock of what orders is taken once. */
static void watch_modify(touch_t *t) {
  uint64_t lanes = t->access->lanes;
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    lanes &= ~((uint64_t)is_private(t, t->access->at[l]) << l);
  }
  gs_order_hold(&t->race->order);
  modify_lanes(t, lanes);
  gs_order_let_go(&t->race->order);
  if (t->race->tells)
    gs_atomic_look(t->race, t->w, t->access, lanes);
}

/* ---- The host's memory ---- */

/* What the lane accesses, of whole dwords. */
static void note_host_lane(touch_t *t, uint64_t address, unsigned lane) {
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  const gs_vm_range_t *range = gs_vm_find(map, address);
  uint32_t stored[GS_ACCESS_BYTES / 4];
  cells_t cells;
  size_t here;
  if (!range || address % 4 || t->bytes % 4 || t->bytes > GS_ACCESS_BYTES || range->end - address < t->bytes)
    return;
  t->lane_address = address;
  const bool known = t->rights == GS_VM_WRITE && stored_bytes(t, lane, (uint8_t *)stored);
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
static __attribute__((noinline)) void note_host(touch_t *t, uint64_t lanes, uint64_t address,
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

/* ---- Callbacks ---- */

/* Without the tool "race", for "cache" alone: reads matter where they learn something, or if the part's
 * second cache must know who read what. */
static bool is_dull(const touch_t *t) {
  return !t->race->tells && t->rights == GS_VM_READ && !(t->flags & GS_SITE_WAITS) &&
         !gs_cache_wants_reads(t->crew->job->launch.target);
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  touch_t t;
  if (!begin(&t, w, a->rights, a->bytes, false) || a->step != GS_LINEAR_STEP || is_dull(&t))
    return;
  t.access = a;
  const uint64_t first = a->lanes ? a->at[__builtin_ctzll(a->lanes)] : 0;
  if (a->rights == (GS_VM_READ | GS_VM_WRITE))
    watch_modify(&t);
  else
    touch_lanes(&t, a->lanes);
  if (GS_UNLIKELY(gs_host_is(t.race, w, first)) && t.race->tells)
    note_host(&t, a->lanes, 0, 0);
  finish(&t);
}

static void watch_local(gs_wave_t *w, const gs_access_t *a) {
  touch_t t;
  if (a->bytes == 1)
    gs_team_stack_watch(w, a);
  if (!begin(&t, w, a->rights, a->bytes, true) || !t.race->tells)
    return;
  t.access = a;
  uint64_t inside = 0;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    inside |= (uint64_t)(a->at[l] + a->bytes <= w->env->lds_bytes) << l;
  }
  touch_lanes(&t, inside);
  finish(&t);
}

/* Flat addresses of all kinds. */
static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  touch_t global, local;
  if (!begin(&global, w, a->rights, a->bytes, false) || !begin(&local, w, a->rights, a->bytes, true))
    return;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t high = (uint32_t)(a->at[l] >> 32), low = (uint32_t)a->at[l];
    if (high == GS_SHARED_APERTURE_HI && low + (uint64_t)a->bytes <= w->env->lds_bytes)
      touch_bytes(&local, low, a->bytes, l);
    else if (high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI &&
             !is_private(&global, a->at[l]))
      touch_bytes(&global, a->at[l], a->bytes, l);
  }
  finish(&local);
  finish(&global);
}

/* All active lanes at one place: they write one value, or it is chance which stays. */
static void touch_uniform(touch_t *t, uint64_t address, uint64_t size) {
  const uint64_t exec = gs_exec(t->w);
  const unsigned first = exec ? (unsigned)__builtin_ctzll(exec) : 0;
  const uint64_t others = exec & (exec - 1);
  t->uniform = true;
  if (t->apart != GS_STAMP_NONE && t->rights == GS_VM_WRITE &&
      others) /* one lane may have been there, not two */
    touch_bytes(t, address, size, (unsigned)__builtin_ctzll(others));
  touch_bytes(t, address, size, first);
  t->lane_address = address;
  for (uint64_t left = t->rights == GS_VM_WRITE ? others : 0; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    for (uint64_t at = address & ~UINT64_C(3); at < address + size; at += 4) {
      if (is_same_value(t, at, l, first))
        continue;
      t->clash.same_instruction = true;
      note_clash(t, t->stamp | first, true, at, l);
      return;
    }
  }
}

static void touch_block(touch_t *t, uint64_t address, uint64_t size, uint32_t stride, bool scalar) {
  if (scalar)
    touch_bytes(t, address, size, 0);
  else if (!stride)
    touch_uniform(t, address, size);
  else if (address % 4 == 0 && stride % 4 == 0)
    touch_words(t, address, size / 4, 0, stride / 4);
  else
    for (unsigned l = 0; l < gs_wave_lanes(t->w); l++)
      touch_bytes(t, address + (uint64_t)l * stride, stride, l);
  if (!scalar && !t->local && t->race->tells && GS_UNLIKELY(gs_host_is(t->race, t->w, address))) {
    const uint64_t exec = gs_exec(t->w);
    note_host(t, stride ? exec : exec & -exec, address, stride);
  }
  finish(t);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  touch_t t;
  if (begin(&t, w, rights, stride ? stride : (uint32_t)size, false) && !is_private(&t, address) &&
      !is_dull(&t))
    touch_block(&t, address, size, stride, scalar);
}

static void watch_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride,
                              uint32_t rights) {
  touch_t t;
  if (begin(&t, w, rights, stride ? stride : size, true) && t.race->tells)
    touch_block(&t, offset, size, stride, false);
}

/* Whether the instruction waits for all stores of the wave: from gfx10 on they are counted by themselves. */
static bool waits_for_stores(const gs_wave_t *w, const gs_inst_t *in) {
  if (w->env->target & GS_GFX10_UP)
    return in->op->encoding == GS_ENC_SOPK && !(uint16_t)in->imm;         /* s_waitcnt_vscnt */
  return !((uint32_t)in->imm & 0xf) && !((uint32_t)in->imm >> 10 & 0x30); /* vmcnt(0) */
}

/* A resource of global wave sync is as good as a word that all who meet there change, at an address that no
 * memory has. Who takes a semaphore tells nothing, and who gives it learns nothing. */
static void meet_by_gws(gs_wave_t *w, const gs_inst_t *in) {
  const uint64_t nowhere = UINT64_C(1) << 63;
  gs_crew_t *crew = w->env->watched;
  gs_order_t *order = &gs_check_of(w)->race->order;
  const uint32_t resource = ((w->s.u32[GS_S_M0] >> 16) + (uint32_t)in->imm) % GS_GWS_COUNT;
  const uint64_t address = nowhere | (uint64_t)crew->job->launch.gpu << 32 | resource;
  const unsigned wave = gs_place_wave(w);
  if (!strcmp(in->op->name, "ds_gws_sema_p"))
    gs_order_learn(order, crew, wave, address, 0);
  else
    gs_order_atomic(order, crew, wave, &(gs_order_word_t){.address = address}, 1,
                    !strcmp(in->op->name, "ds_gws_barrier"));
}

static void watch_order(gs_wave_t *w, const gs_inst_t *in) {
  gs_crew_t *crew = w->env->watched;
  if (!crew)
    return;
  gs_order_wave_t *wave = &crew->wave[gs_place_wave(w)];
  if (wave->behind)
    gs_order_catch_up(&gs_check_of(w)->race->order, crew, gs_place_wave(w));
  if (in->op->encoding == GS_ENC_DS) {
    meet_by_gws(w, in);
    return;
  }
  if (in->op->encoding == GS_ENC_SOPP || in->op->encoding == GS_ENC_SOPK) {
    if (waits_for_stores(w, in))
      gs_order_waited(wave);
    return;
  }
  const unsigned effects = gs_cache_effects(in);
  if (effects & GS_EFFECT_VECTOR)
    gs_order_invalidated(wave);
  gs_cache_t *cache = gs_check_of(w)->race->cache;
  if (cache)
    gs_cache_order(cache, crew, gs_place_wave(w), effects);
}

/* ---- Kernels, groups and copies ---- */

static gs_race_t *race_of(void *context) {
  return ((gs_check_t *)context)->race;
}

static void *watch_kernel_begins(void *context, const gs_launch_t *launch) {
  gs_race_t *race = race_of(context);
  const gs_job_t what = {.launch = *launch};
  gs_job_t *job = gs_order_begin(&race->order, &what);
  if (job && race->cache)
    gs_cache_kernel_begins(race->cache, job);
  return job;
}

static void watch_kernel_ends(void *context, void *kernel) {
  gs_race_t *race = race_of(context);
  gs_host_kernel_ends(race, kernel);
  const gs_job_t job = *(const gs_job_t *)kernel;
  gs_order_end(&race->order, kernel);
  if (race->cache)
    gs_cache_kernel_ends(race->cache, &job);
}

static void *watch_group_begins(void *context, void *kernel, uint64_t index, unsigned waves,
                                uint32_t lds_bytes) {
  gs_race_t *race = race_of(context);
  gs_crew_t *crew = gs_order_crew(&race->order, kernel, index, waves, lds_bytes);
  if (crew)
    crew->cu = race->cache ? gs_cache_take(race->cache, crew->job->launch.gpu) : NULL;
  return crew;
}

static void watch_fence(void *context, uint32_t gpu, gs_scope_t acquire, gs_scope_t release) {
  gs_race_t *race = race_of(context);
  if (race->cache)
    gs_cache_fence(race->cache, gpu, acquire, release);
}

static void watch_barrier(void *context, void *group) {
  gs_order_barrier(&race_of(context)->order, group);
}

static void watch_group_ends(void *context, void *group) {
  gs_race_t *race = race_of(context);
  if (race->cache)
    gs_cache_give(race->cache, ((gs_crew_t *)group)->cu);
  gs_order_dismiss(&race->order, group);
}

/* What the copy reads, or writes. */
static void touch_copy(gs_race_t *race, gs_crew_t *crew, const gs_vm_map_t *map, uint64_t address,
                       uint32_t rights) {
  touch_t t = {.race = race,
               .crew = crew,
               .me = &crew->wave[0],
               .mask = 15,
               .flags = GS_SITE_COPY,
               .base = (gs_stamp_t)crew->id << GS_STAMP_CREW,
               .apart = GS_STAMP_NONE,
               .rights = rights};
  t.stamp = t.base | (gs_stamp_t)GS_SITE_OF_COPIES << GS_STAMP_SITE;
  /* Whole dwords only: what a copy has of others is not worth a site of its own. */
  const uint64_t from = (address + 3) & ~UINT64_C(3), to = (address + crew->job->bytes) & ~UINT64_C(3);
  t.lane_address = address;
  t.bytes = (uint32_t)crew->job->bytes;
  if (from < to)
    touch_words(&t, from, (to - from) / 4, 0, 0);
  t.clash.map = map;
  finish(&t);
}

static void *watch_copy_begins(void *context, const gs_copy_t *what) {
  gs_race_t *race = race_of(context);
  gs_hold_begins(&((gs_check_t *)context)->hold);
  if (race->cache)
    gs_cache_copy(race->cache, what);
  const gs_job_t copy = {
      .is_copy = true, .launch.gpu = what->gpu, .from = what->from, .to = what->to, .bytes = what->bytes};
  gs_job_t *job = gs_order_begin(&race->order, &copy);
  gs_crew_t *crew = job ? gs_order_crew(&race->order, job, 0, 1, 0) : NULL;
  if (!crew)
    return job;
  if (what->from)
    touch_copy(race, crew, what->map, what->from, GS_VM_READ);
  touch_copy(race, crew, what->map, what->to, GS_VM_WRITE);
  gs_order_dismiss(&race->order, crew);
  return job;
}

static void watch_copy_ends(void *context, void *copy) {
  gs_order_end(&race_of(context)->order, copy);
}

/* ---- Making and ending ---- */

gs_race_t *gs_race_create(gs_blocks_t *blocks, gs_findings_t *findings) {
  gs_race_t *race = calloc(1, sizeof *race);
  if (!race)
    return NULL;
  race->sweep = gs_sweep_for_processor();
  gs_shadow_init(&race->shadow);
  race->blocks = blocks;
  race->findings = findings;
  pthread_mutex_init(&race->host_lock, NULL);
  if (gs_order_init(&race->order)) {
    gs_shadow_fini(&race->shadow);
    gs_host_fini(race);
    free(race);
    return NULL;
  }
  if (gs_sites_init(&race->sites)) {
    gs_order_fini(&race->order);
    gs_shadow_fini(&race->shadow);
    gs_host_fini(race);
    free(race);
    return NULL;
  }
  return race;
}

void gs_race_destroy(gs_race_t *race) {
  if (!race)
    return;
  gs_cache_destroy(race->cache);
  gs_shadow_fini(&race->shadow);
  gs_sites_fini(&race->sites);
  gs_order_fini(&race->order);
  gs_host_fini(race);
  free(race);
}

const gs_watch_t gs_race_watch = {.lanes = watch_lanes,
                                  .mixed = watch_mixed,
                                  .block = watch_block,
                                  .local = watch_local,
                                  .local_block = watch_local_block,
                                  .order = watch_order,
                                  .kernel_begins = watch_kernel_begins,
                                  .kernel_ends = watch_kernel_ends,
                                  .group_begins = watch_group_begins,
                                  .barrier = watch_barrier,
                                  .group_ends = watch_group_ends,
                                  .fence = watch_fence,
                                  .copy_begins = watch_copy_begins,
                                  .copy_ends = watch_copy_ends};
