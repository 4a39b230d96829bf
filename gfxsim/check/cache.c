/* See cache.h. A line is copied when it comes into a cache. When it is read again, and its bytes are not what
 * memory has by now, a card may give the old ones: that is wrong if who wrote the new ones did so before. */
#include "check/cache_model.h"

#include <stdlib.h>
#include <string.h>

#include "check/cache_parts.h"
#include "check/check.h"
#include "exec/place.h"
#include "exec/profile.h"
#include "isa/guest.h"
#include "isa/memory.h"

/* ---- Caches ---- */

unsigned gs_cache_effects(const gs_inst_t *in) {
  static const struct {
    const char *name;
    unsigned effects;
  } table[] = {
      {"buffer_wbinvl1", GS_EFFECT_VECTOR}, {"buffer_wbinvl1_vol", GS_EFFECT_VECTOR},
      {"buffer_invl2", GS_EFFECT_SECOND},   {"buffer_wbl2", GS_EFFECT_BACK},
      {"s_dcache_inv", GS_EFFECT_SCALAR},   {"s_dcache_inv_vol", GS_EFFECT_SCALAR},
      {"buffer_gl0_inv", GS_EFFECT_VECTOR}, {"buffer_gl1_inv", GS_EFFECT_ARRAY},
      {"s_gl1_inv", GS_EFFECT_ARRAY},
  };
  /* Those of gfx942, with the scope in their bits: sc0 workgroup, sc1 agent, both system. */
  if (strcmp(in->op->name, "buffer_inv") == 0)
    return (in->glc || in->scc ? GS_EFFECT_VECTOR : 0u) | (in->scc ? GS_EFFECT_SECOND : 0u);
  if (strcmp(in->op->name, "buffer_wbl2") == 0 && (in->glc || in->scc))
    return (in->scc ? GS_EFFECT_XCC : 0u) | (in->glc && in->scc ? GS_EFFECT_BACK : 0u);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(in->op->name, table[i].name) == 0)
      return table[i].effects;
  return 0;
}

gs_cache_t *gs_cache_create(gs_race_t *race) {
  gs_cache_t *cache = calloc(1, sizeof *cache);
  if (!cache)
    return NULL;
  cache->race = race;
  if (pthread_mutex_init(&cache->lock, NULL)) {
    free(cache);
    return NULL;
  }
  return cache;
}

void gs_cache_destroy(gs_cache_t *cache) {
  if (!cache)
    return;
  for (unsigned i = 0; i < GS_CACHE_GPUS; i++) {
    while (cache->gpu[i].idle) {
      gs_cu_t *cu = cache->gpu[i].idle;
      cache->gpu[i].idle = cu->next;
      free(cu);
    }
    free(cache->gpu[i].second);
  }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

enum { MOST_IDLE = 8 }; /* compute units are made as long as there are fewer, if it matters which one it is */

gs_cu_t *gs_cache_take(gs_cache_t *cache, uint32_t gpu) {
  if (gpu >= GS_CACHE_GPUS)
    return NULL;
  pthread_mutex_lock(&cache->lock);
  gs_cu_t **link = &cache->gpu[gpu].idle;
  const bool change = atomic_load_explicit(&cache->narrow, memory_order_relaxed);
  unsigned idle = *link != NULL;
  /* Where packets leave the caches as they are, groups change places: the one that was idle longest, or
   * another. */
  if (change)
    for (; *link && (*link)->next; idle++)
      link = &(*link)->next;
  gs_cu_t *cu = change && idle < MOST_IDLE ? NULL : *link;
  if (cu)
    *link = cu->next;
  pthread_mutex_unlock(&cache->lock);
  if (!cu && (cu = calloc(1, sizeof *cu)))
    cu->gpu = gpu;
  return cu;
}

void gs_cache_give(gs_cache_t *cache, gs_cu_t *cu) {
  if (!cu)
    return;
  pthread_mutex_lock(&cache->lock);
  cu->next = cache->gpu[cu->gpu].idle;
  cache->gpu[cu->gpu].idle = cu;
  pthread_mutex_unlock(&cache->lock);
}

/* ---- Fences ---- */

/* Lock held. */
static void acquire(gs_cached_gpu_t *gpu, gs_scope_t scope, uint64_t now) {
  if (scope >= GS_SCOPE_AGENT)
    atomic_fetch_add(&gpu->epoch, 1);
  if (scope < GS_SCOPE_SYSTEM)
    return;
  gpu->invalidated = now;
  gpu->second_epoch++;
}

static void note_scope(gs_cache_t *cache, gs_scope_t scope) {
  if (scope < GS_SCOPE_SYSTEM && !atomic_load_explicit(&cache->narrow, memory_order_relaxed))
    atomic_store(&cache->narrow, true);
}

void gs_cache_kernel_begins(gs_cache_t *cache, const gs_job_t *job) {
  if (job->launch.gpu >= GS_CACHE_GPUS)
    return;
  note_scope(cache, job->launch.acquire);
  note_scope(cache, job->launch.release);
  const gs_profile_t *profile = gs_profile_find(job->launch.profile);
  atomic_store_explicit(&cache->gpu[job->launch.gpu].xccs, profile ? profile->xccs : 0, memory_order_relaxed);
  pthread_mutex_lock(&cache->lock);
  acquire(&cache->gpu[job->launch.gpu], job->launch.acquire, job->begin);
  pthread_mutex_unlock(&cache->lock);
}

static void write_back(gs_cache_t *cache, uint32_t gpu, uint64_t now) {
  pthread_mutex_lock(&cache->lock);
  if (cache->gpu[gpu].written_back < now)
    cache->gpu[gpu].written_back = now;
  pthread_mutex_unlock(&cache->lock);
}

void gs_cache_kernel_ends(gs_cache_t *cache, const gs_job_t *job) {
  if (job->launch.gpu < GS_CACHE_GPUS && job->launch.release == GS_SCOPE_SYSTEM)
    write_back(cache, job->launch.gpu, gs_order_tick(&cache->race->order));
}

void gs_cache_fence(gs_cache_t *cache, uint32_t gpu, gs_scope_t acquires, gs_scope_t releases) {
  if (gpu >= GS_CACHE_GPUS)
    return;
  const uint64_t now = gs_order_tick(&cache->race->order);
  if (releases == GS_SCOPE_SYSTEM)
    write_back(cache, gpu, now);
  pthread_mutex_lock(&cache->lock);
  acquire(&cache->gpu[gpu], acquires, now);
  pthread_mutex_unlock(&cache->lock);
}

void gs_cache_order(gs_cache_t *cache, gs_crew_t *crew, unsigned w, unsigned effects) {
  gs_cu_t *cu = crew->cu;
  if (effects & GS_EFFECT_XCC)
    gs_order_left_xcc(&cache->race->order, crew, w);
  if (effects & GS_EFFECT_BACK)
    gs_order_wrote_back(&cache->race->order, crew->job);
  if (!cu)
    return;
  if (effects & GS_EFFECT_VECTOR)
    cu->epoch[GS_BY_VECTOR]++;
  if (effects & GS_EFFECT_SCALAR)
    cu->epoch[GS_BY_SCALAR]++;
  if (effects & GS_EFFECT_ARRAY)
    cu->epoch[GS_BY_ARRAY]++;
  if (!(effects & GS_EFFECT_SECOND))
    return;
  const uint64_t now = gs_order_tick(&cache->race->order);
  pthread_mutex_lock(&cache->lock);
  cache->gpu[cu->gpu].invalidated = now;
  cache->gpu[cu->gpu].second_epoch++;
  pthread_mutex_unlock(&cache->lock);
}

/* ---- Accesses ---- */

/* An instruction's accesses, while they are looked at. */
typedef struct look {
  gs_cache_t *cache;
  gs_wave_t *w;
  gs_crew_t *crew;
  gs_cu_t *cu;
  const gs_vm_map_t *map;
  gs_cached_by_t level;
  uint32_t rights, bytes, xccs;
  unsigned flags; /* of the instruction's site */
  bool has_flags;
  bool has_array; /* vector memory has another cache behind that of the compute unit */
  gs_stale_t stale;
} look_t;

/* Flags of the instruction: asked for only where they matter, except whether it looks past the cache. */
static unsigned flags_of(look_t *k) {
  gs_sites_t *sites = &k->cache->race->sites;
  if (!k->has_flags)
    k->flags = sites->site[gs_site_of(sites, k->w, 15)].flags;
  k->has_flags = true;
  return k->flags;
}

/* False when the wave is of a group that is not looked at. */
static bool begin(look_t *k, gs_wave_t *w, uint32_t rights, uint32_t bytes, gs_cached_by_t level) {
  gs_crew_t *crew = w->env->watched;
  if (!crew || !crew->cu)
    return false;
  gs_cache_t *cache = gs_check_of(w)->race->cache;
  /* One by one: compilers fill all of it with zeros otherwise, which takes as long as the rest. */
  k->cache = cache;
  k->w = w;
  k->crew = crew;
  k->cu = crew->cu;
  k->map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  k->level = level;
  k->rights = rights;
  k->bytes = bytes;
  k->xccs = atomic_load_explicit(&cache->gpu[crew->cu->gpu].xccs, memory_order_relaxed);
  k->has_flags = false;
  k->has_array = gs_caches_of(crew->job->launch.target)->has_array;
  k->stale.lanes = 0;
  const uint64_t epoch = atomic_load_explicit(&cache->gpu[k->cu->gpu].epoch, memory_order_relaxed);
  if (k->cu->gpu_epoch != epoch) {
    k->cu->gpu_epoch = epoch;
    for (unsigned i = 0; i < GS_BY_COUNT; i++)
      k->cu->epoch[i]++;
  }
  return true;
}

static void finish(look_t *k) {
  if (!k->stale.lanes)
    return;
  k->stale.bytes = k->bytes;
  k->stale.level = k->level;
  k->stale.map = k->map;
  gs_stale_report(k->cache, k->w, NULL, &k->stale);
}

/* The range that has the address, unless it is the program's own memory, which the GPU's caches do not keep.
 */
static const gs_vm_range_t *find_range(look_t *k, uint64_t address) {
  const gs_vm_map_t *map = k->map;
  const gs_vm_range_t *range = &map->range[k->cu->hint];
  if (k->cu->hint >= map->count || address < range->start || address >= range->end) {
    range = gs_vm_find_mapped(map, address);
    if (!range)
      return NULL;
    k->cu->hint = (uint32_t)(range - map->range);
  }
  return range->is_gap ? NULL : range;
}

static gs_line_t *place_of(gs_line_t lines[], uint64_t number) {
  return &lines[(number ^ number >> 8 ^ number >> 16) % GS_CACHE_LINES];
}

static bool holds(const gs_line_t *line, uint64_t number, uint64_t epoch) {
  return line->tag == number + 1 && line->epoch == epoch;
}

enum { PARTS = GS_CACHE_LINE / sizeof(gs_dwords4_t) };

static GS_GUEST void fill(gs_line_t *line, uint64_t number, uint64_t host) {
  line->tag = number + 1;
  line->known = UINT64_MAX;
  gs_dwords4_t part[PARTS];
  for (unsigned i = 0; i < PARTS; i++)
    part[i] = gs_guest_get128(host + i * sizeof *part);
  memcpy(line->bytes, part, sizeof part);
}

/* Whether memory has all that the line has. */
static GS_GUEST bool is_same(const gs_line_t *line, uint64_t host) {
  gs_dwords4_t part[PARTS], differ = {0};
  memcpy(part, line->bytes, sizeof part);
  for (unsigned i = 0; i < PARTS; i++)
    differ |= part[i] ^ gs_guest_get128(host + i * sizeof *part);
  return !(differ[0] | differ[1] | differ[2] | differ[3]);
}

/* The same of bytes that are known, and of one aligned word: no, where they are not. */
static GS_GUEST bool is_same_word(const gs_line_t *line, uint64_t host, uint64_t mask) {
  const unsigned at = (unsigned)__builtin_ctzll(mask) & ~7u;
  uint64_t there;
  if (mask >> at >> 8 || mask & ~line->known)
    return false;
  memcpy(&there, line->bytes + at, sizeof there);
  return there == gs_guest_get64(host + at);
}

/* Bytes of `mask` that the line has and that memory has no more. Those it did not know it gets. */
static GS_GUEST uint64_t compare(gs_line_t *line, uint64_t host, uint64_t mask) {
  uint64_t differ = 0;
  if (is_same_word(line, host, mask))
    return 0;
  const uint64_t unknown = mask & ~line->known;
  if (GS_LIKELY(is_same(line, host))) {
    line->known |= mask;
    return 0;
  }
  for (unsigned i = 0; i < GS_CACHE_LINE; i += 8) {
    uint64_t there;
    if (!(mask >> i & 0xff))
      continue;
    const uint64_t now = gs_guest_get64(host + i);
    memcpy(&there, line->bytes + i, sizeof there);
    if (there == now)
      continue;
    for (unsigned b = i; b < i + 8; b++) {
      if (!(mask >> b & 1) || line->bytes[b] == (uint8_t)(now >> 8 * (b - i)))
        continue;
      if (unknown >> b & 1)
        line->bytes[b] = (uint8_t)(now >> 8 * (b - i));
      else
        differ |= UINT64_C(1) << b;
    }
  }
  line->known |= unknown;
  return differ;
}

/* ---- What a difference means ---- */

/* Who stored the dword last. */
static gs_stamp_t writer_of(const look_t *k, uint64_t address) {
  return gs_shadow_ask(&k->cache->race->shadow, GS_SHADOW_WRITTEN, address);
}

static void note(look_t *k, gs_stale_t *found, uint64_t address, unsigned lane) {
  if (k->stale.lanes++)
    return;
  found->lanes = k->stale.lanes;
  found->address = address;
  found->lane = lane;
  k->stale = *found;
}

/* Whether the program counts on the new value: who wrote it did so before, or the read waits for it. Fills
 * the rule and the writer. */
static bool is_stale(look_t *k, const gs_line_t *line, const gs_vm_range_t *range, uint64_t address,
                     gs_stale_t *found) {
  gs_order_t *order = &k->cache->race->order;
  const gs_site_t *sites = k->cache->race->sites.site;
  const unsigned mine = flags_of(k), w = gs_place_wave(k->w);
  gs_job_t *other = &found->other;
  found->polls = mine & GS_SITE_WAITS;
  found->writer = writer_of(k, address);
  if (found->writer && !gs_order_who(order, found->writer, other, &found->group))
    found->writer = 0;
  if (found->writer && other->end && other->end <= line->filled)
    found->writer = 0; /* it was there when the line came */
  if (!found->writer && line->filled < k->crew->job->begin) {
    found->rule = GS_STALE_ACQUIRE; /* the kernel began after it, and may count on that */
    return true;
  }
  if (!found->writer) {
    found->rule = GS_STALE_HOST;
    return range->kind != GS_VM_FINE && (range->kind != GS_VM_HOST || range->is_coarse || found->polls);
  }
  if (mine & GS_SITE_COMPARED && sites[gs_stamp_site(found->writer)].flags & GS_SITE_ATOMIC)
    return false; /* behind it is a compare-and-swap, which looks again */
  const bool own = other->number == k->crew->job->number && found->group == k->crew->group;
  if (own && k->level != GS_BY_SCALAR)
    return false; /* its own stores are in its own cache */
  if (other->end && other->end < k->crew->job->begin) {
    found->rule = GS_STALE_ACQUIRE;
    return true;
  }
  static const gs_stale_rule_t by_level[GS_BY_COUNT] = {GS_STALE_VECTOR, GS_STALE_SCALAR, GS_STALE_ARRAY};
  found->rule = by_level[k->level];
  return found->polls || gs_order_surely(order, k->crew, w, found->writer);
}

/* The line has some bytes that memory has no more. Only the first is looked at; the line is as new then. */
static void judge(look_t *k, gs_line_t *line, const gs_vm_range_t *range, uint64_t differ, unsigned lane) {
  gs_stale_t found = {.rule = GS_STALE_VECTOR};
  const uint64_t start = (line->tag - 1) * GS_CACHE_LINE, address = start + (unsigned)__builtin_ctzll(differ);
  if (is_stale(k, line, range, address, &found))
    note(k, &found, address, lane);
  else if (found.writer)
    return; /* it may come to be: the old value may be read for long */
  fill(line, line->tag - 1, (uint64_t)(uintptr_t)range->host + (start - range->start));
  line->filled = atomic_load(&k->cache->race->order.clock);
}

/* ---- Lines that come ---- */

/* Whether another compute unit that has no workgroup now still has the line: this one might be it, if no
 * packet has invalidated it since. */
static bool find_left(look_t *k, uint64_t number, gs_line_t *line) {
  gs_cached_gpu_t *gpu = &k->cache->gpu[k->cu->gpu];
  const uint64_t epoch = atomic_load(&gpu->epoch);
  bool found = false;
  pthread_mutex_lock(&k->cache->lock);
  for (gs_cu_t *cu = gpu->idle; cu && !found; cu = cu->next) {
    const gs_line_t *there = place_of(cu->line[k->level], number);
    found = cu->gpu_epoch == epoch && holds(there, number, cu->epoch[k->level]);
    if (found)
      *line = *there;
  }
  pthread_mutex_unlock(&k->cache->lock);
  return found;
}

/* The host's coarse-grained memory: the second cache may have it, too. */
static void look_second(look_t *k, const gs_vm_range_t *range, uint64_t number, uint64_t host, uint64_t mask,
                        unsigned lane) {
  gs_cached_gpu_t *gpu = &k->cache->gpu[k->cu->gpu];
  uint64_t differ = 0;
  gs_line_t copy;
  pthread_mutex_lock(&k->cache->lock);
  if (!gpu->second)
    gpu->second = calloc(GS_CACHE_LINES, sizeof *gpu->second);
  gs_line_t *line = gpu->second ? place_of(gpu->second, number) : NULL;
  if (line && holds(line, number, gpu->second_epoch))
    differ = compare(line, host, mask);
  if (line)
    copy = *line;
  if (line && (differ || !holds(line, number, gpu->second_epoch))) {
    fill(line, number, host);
    line->epoch = gpu->second_epoch;
    line->filled = atomic_load(&k->cache->race->order.clock);
  }
  pthread_mutex_unlock(&k->cache->lock);
  gs_stale_t found = {.rule = GS_STALE_HOST};
  const uint64_t address = number * GS_CACHE_LINE + (differ ? (unsigned)__builtin_ctzll(differ) : 0);
  if (differ && is_stale(k, &copy, range, address, &found))
    note(k, &found, address, lane);
}

/* Whether what others wrote stands behind a second cache. */
static void look_behind(look_t *k, const gs_vm_range_t *range, uint64_t number, uint64_t mask,
                        unsigned lane) {
  for (; mask; mask &= ~(UINT64_C(15) << (__builtin_ctzll(mask) & ~3))) {
    const uint64_t address = number * GS_CACHE_LINE + (unsigned)__builtin_ctzll(mask);
    gs_stale_t found = {.writer = writer_of(k, address)};
    if (!found.writer || !gs_second_is_stale(k->cache, k->crew->job, range, address, &found))
      continue;
    note(k, &found, address, lane);
    return;
  }
}

static void bring(look_t *k, gs_line_t *line, const gs_vm_range_t *range, uint64_t number, uint64_t mask,
                  unsigned lane) {
  const uint64_t host = (uint64_t)(uintptr_t)range->host + (number * GS_CACHE_LINE - range->start);
  const uint64_t now = atomic_load_explicit(&k->cache->race->order.clock, memory_order_relaxed);
  if (atomic_load_explicit(&k->cache->narrow, memory_order_relaxed)) {
    look_behind(k, range, number, mask, lane);
    if (k->crew->job->launch.acquire == GS_SCOPE_NONE && find_left(k, number, line)) {
      line->epoch = k->cu->epoch[k->level];
      const uint64_t differ = compare(line, host, mask);
      if (differ)
        judge(k, line, range, differ, lane);
      return;
    }
  }
  fill(line, number, host);
  line->epoch = k->cu->epoch[k->level];
  line->filled = now;
  if (GS_UNLIKELY(range->kind == GS_VM_HOST && range->is_coarse))
    look_second(k, range, number, host, mask, lane);
}

/* Stores go through to memory; what the unit's cache has of them is not followed byte by byte, so it is
 * unknown then. */
static void store(look_t *k, uint64_t number, uint64_t mask) {
  const bool both = k->level == GS_BY_VECTOR && k->has_array;
  for (unsigned level = k->level; level < GS_BY_COUNT; level += both ? GS_BY_ARRAY : GS_BY_COUNT) {
    gs_line_t *line = place_of(k->cu->line[level], number);
    if (holds(line, number, k->cu->epoch[level]))
      line->known &= ~mask;
  }
  gs_cached_gpu_t *gpu = &k->cache->gpu[k->cu->gpu];
  if (GS_LIKELY(!atomic_load_explicit(&gpu->second, memory_order_acquire)))
    return;
  pthread_mutex_lock(&k->cache->lock);
  if (holds(place_of(gpu->second, number), number, gpu->second_epoch))
    place_of(gpu->second, number)->known &= ~mask;
  pthread_mutex_unlock(&k->cache->lock);
}

/* The cache says what the bytes were when it got them, or gets them now. */
static void look_held(look_t *k, gs_line_t *line, const gs_vm_range_t *range, uint64_t number, uint64_t mask,
                      unsigned lane) {
  if (!holds(line, number, k->cu->epoch[k->level])) {
    bring(k, line, range, number, mask, lane);
    return;
  }
  const uint64_t host = (uint64_t)(uintptr_t)range->host + (number * GS_CACHE_LINE - range->start);
  const uint64_t differ = compare(line, host, mask);
  if (GS_UNLIKELY(differ))
    judge(k, line, range, differ, lane);
}

/* What the compute unit's cache does not have comes from the shader array's, as old as it is there. Returns
 * its line, or NULL when that is not asked. */
static const gs_line_t *look_array(look_t *k, const gs_vm_range_t *range, uint64_t number, uint64_t mask,
                                   unsigned lane) {
  gs_line_t *line = place_of(k->cu->line[GS_BY_ARRAY], number);
  if (flags_of(k) & GS_SITE_PAST_ARRAY) {
    if (holds(line, number, k->cu->epoch[GS_BY_ARRAY]))
      line->tag = 0;
    return NULL;
  }
  k->level = GS_BY_ARRAY;
  look_held(k, line, range, number, mask, lane);
  k->level = GS_BY_VECTOR;
  return line;
}

/* Some bytes of one line. */
static void look_line(look_t *k, uint64_t number, uint64_t mask, unsigned lane) {
  if (k->rights & GS_VM_WRITE) {
    store(k, number, mask);
    return;
  }
  const gs_vm_range_t *range = find_range(k, number * GS_CACHE_LINE);
  if (!range)
    return;
  gs_stale_t found;
  if (GS_UNLIKELY(k->xccs > 1) && gs_xcc_is_stale(k->cache, k->w, range, number, mask, k->xccs, &found))
    note(k, &found, found.address, lane);
  gs_line_t *line = place_of(k->cu->line[k->level], number);
  const bool here = holds(line, number, k->cu->epoch[k->level]);
  const bool past = flags_of(k) & GS_SITE_PAST, array = k->level == GS_BY_VECTOR && k->has_array;
  if (past && here)
    line->tag = 0; /* a load past the cache throws the line out */
  if (array && (past || !here)) {
    const gs_line_t *behind = look_array(k, range, number, mask, lane);
    if (behind && !past) {
      *line = *behind;
      line->epoch = k->cu->epoch[k->level];
      return;
    }
  }
  if (!past)
    look_held(k, line, range, number, mask, lane);
}

/* [address, address + size), of which each lane from `lane` on has `stride` bytes; 0: all are one lane's. */
static void look_range(look_t *k, uint64_t address, uint64_t size, uint32_t stride, unsigned lane) {
  const uint64_t end = address + size;
  while (address < end) {
    const uint64_t number = address / GS_CACHE_LINE, next = (number + 1) * GS_CACHE_LINE;
    const unsigned from = (unsigned)(address % GS_CACHE_LINE);
    const unsigned count = (unsigned)((next < end ? next : end) - address);
    const uint64_t mask = (count == GS_CACHE_LINE ? UINT64_MAX : (UINT64_C(1) << count) - 1) << from;
    look_line(k, number, mask, lane + (stride ? (unsigned)((address - (end - size)) / stride) : 0));
    address = next;
  }
}

/* ---- Callbacks ---- */

static bool is_private(const look_t *k, uint64_t address) {
  const gs_launch_t *launch = &k->crew->job->launch;
  return address >= launch->scratch_start && address < launch->scratch_end;
}

/* Neighbours in one line are looked at together. */
typedef struct run {
  uint64_t number, mask;
  unsigned lane;
} run_t;

static void add(look_t *k, run_t *run, uint64_t address, unsigned lane) {
  const uint64_t number = address / GS_CACHE_LINE;
  const unsigned from = (unsigned)(address % GS_CACHE_LINE);
  if (from + k->bytes > GS_CACHE_LINE) {
    look_range(k, address, k->bytes, 0, lane);
    return;
  }
  if (run->mask && run->number != number) {
    look_line(k, run->number, run->mask, run->lane);
    run->mask = 0;
  }
  if (!run->mask)
    run->lane = lane;
  run->number = number;
  run->mask |= ((UINT64_C(1) << k->bytes) - 1) << from; /* at most 16 bytes */
}

/* The same of lanes side by side from `lane` on, `step` bytes one behind the other, that have `size` bytes.
 */
static void add_lanes(look_t *k, run_t *run, uint64_t address, uint64_t size, uint32_t step, unsigned lane) {
  const uint64_t start = address, end = address + size;
  while (address < end) {
    const uint64_t number = address / GS_CACHE_LINE, next = (number + 1) * GS_CACHE_LINE;
    const unsigned from = (unsigned)(address % GS_CACHE_LINE);
    const unsigned count = (unsigned)((next < end ? next : end) - address);
    if (run->mask && run->number != number) {
      look_line(k, run->number, run->mask, run->lane);
      run->mask = 0;
    }
    if (!run->mask)
      run->lane = lane + (unsigned)((address - start) / step);
    run->number = number;
    run->mask |= (count == GS_CACHE_LINE ? UINT64_MAX : (UINT64_C(1) << count) - 1) << from;
    address = next;
  }
}

static bool is_looked_at(const look_t *k, uint64_t address) {
  const uint64_t high = address >> 32;
  return high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI && !is_private(k, address);
}

/* Lanes from the first of `left` on that can be looked at as one range. */
static unsigned count_as_one(const look_t *k, const gs_access_t *a, uint64_t left, uint64_t next) {
  const unsigned l = (unsigned)__builtin_ctzll(left), count = gs_count_neighbours(left, next);
  return is_looked_at(k, a->at[l]) && is_looked_at(k, a->at[l + count - 1]) ? count : 1;
}

static void look_lanes(gs_wave_t *w, const gs_access_t *a) {
  look_t k;
  run_t run = {.mask = 0};
  if (a->step != GS_LINEAR_STEP || !begin(&k, w, a->rights, a->bytes, GS_BY_VECTOR))
    return;
  const uint32_t step = gs_lane_step(a->at, a->lanes, a->bytes);
  const uint64_t next = k.cache->race->sweep->next(a->at, step);
  for (uint64_t left = a->lanes; left;) {
    const unsigned l = (unsigned)__builtin_ctzll(left), count = count_as_one(&k, a, left, next);
    if (count > 1)
      add_lanes(&k, &run, a->at[l], (count - 1) * (uint64_t)step + a->bytes, step, l);
    else if (is_looked_at(&k, a->at[l]))
      add(&k, &run, a->at[l], l);
    left = gs_without_lanes(left, count);
  }
  if (run.mask)
    look_line(&k, run.number, run.mask, run.lane);
  finish(&k);
}

static void look_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                       bool scalar) {
  look_t k;
  const uint64_t exec = gs_exec(w);
  const unsigned lane = stride || scalar || !exec ? 0 : (unsigned)__builtin_ctzll(exec);
  if (!begin(&k, w, rights, stride ? stride : (uint32_t)size, scalar ? GS_BY_SCALAR : GS_BY_VECTOR) ||
      is_private(&k, address))
    return;
  look_range(&k, address, size, stride, lane);
  finish(&k);
}

const gs_watch_t gs_cache_watch = {.lanes = look_lanes, .mixed = look_lanes, .block = look_block};
