/* What the tool "race" is told of: accesses, what orders them, kernels and their groups, copies; and how the
 * tool begins and ends. Not here: what is made of an access (race.c). */
#include <stdlib.h>
#include <string.h>

#include "check/cache.h"
#include "check/host.h"
#include "check/race_touch.h"

/* ---- Accesses ---- */

/* Without the tool "race", for "cache" alone: reads matter where they learn something, or if the part's
 * second cache must know who read what. */
static bool is_dull(const gs_race_touch_t *t) {
  return !t->race->tells && t->rights == GS_VM_READ && !(t->flags & GS_SITE_WAITS) &&
         !gs_cache_wants_reads(t->crew->job->launch.target);
}

/* A load that waits for a value; or a lane that takes a lock, which is given back by a store, perhaps. */
static bool polls(const gs_race_touch_t *t, uint64_t lanes) {
  const bool one = !(lanes & (lanes - 1));
  return t->rights == GS_VM_READ ? t->flags & GS_SITE_WAITS
                                 : one && t->flags & GS_SITE_EXCHANGE && t->flags & GS_SITE_RETURNS;
}

static void poll(gs_race_touch_t *t, const gs_access_t *a) {
  uint64_t last = UINT64_MAX;
  for (uint64_t left = a->lanes; left && t->me->polled_count < GS_POLLED; left &= left - 1) {
    const uint64_t at = a->at[__builtin_ctzll(left)];
    const uint32_t high = (uint32_t)(at >> 32);
    if (at != last && high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI)
      gs_race_poll(t, at);
    last = at;
  }
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  gs_race_touch_t t;
  if (!gs_race_begin(&t, w, a->rights, a->bytes, false) || a->step != GS_LINEAR_STEP || is_dull(&t))
    return;
  t.access = a;
  if (GS_UNLIKELY(polls(&t, a->lanes)))
    poll(&t, a);
  const uint64_t first = a->lanes ? a->at[__builtin_ctzll(a->lanes)] : 0;
  if (a->rights == (GS_VM_READ | GS_VM_WRITE))
    gs_race_modify(&t);
  else
    gs_race_lanes(&t, a->lanes);
  if (GS_UNLIKELY(gs_host_is(t.race, w, first)) && t.race->tells)
    gs_race_host(&t, a->lanes, 0, 0);
  gs_race_finish(&t);
}

static void watch_local(gs_wave_t *w, const gs_access_t *a) {
  gs_race_touch_t t;
  if (a->bytes == 1)
    gs_team_stack_watch(w, a);
  if (!gs_race_begin(&t, w, a->rights, a->bytes, true) || !t.race->tells)
    return;
  t.access = a;
  uint64_t inside = 0;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    inside |= (uint64_t)(a->at[l] + a->bytes <= w->env->lds_bytes) << l;
  }
  gs_race_lanes(&t, inside);
  gs_race_finish(&t);
}

/* Flat addresses of all kinds. */
static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  gs_race_touch_t global, local;
  if (!gs_race_begin(&global, w, a->rights, a->bytes, false) ||
      !gs_race_begin(&local, w, a->rights, a->bytes, true))
    return;
  if (polls(&global, a->lanes))
    poll(&global, a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t high = (uint32_t)(a->at[l] >> 32), low = (uint32_t)a->at[l];
    if (high == GS_SHARED_APERTURE_HI && low + (uint64_t)a->bytes <= w->env->lds_bytes)
      gs_race_bytes(&local, low, a->bytes, l);
    else if (high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI &&
             !gs_race_is_private(&global, a->at[l]))
      gs_race_bytes(&global, a->at[l], a->bytes, l);
  }
  gs_race_finish(&local);
  gs_race_finish(&global);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  gs_race_touch_t t;
  if (!gs_race_begin(&t, w, rights, stride ? stride : (uint32_t)size, false) ||
      gs_race_is_private(&t, address) || is_dull(&t))
    return;
  if (polls(&t, gs_exec(w)))
    for (unsigned l = 0; l < (stride ? gs_wave_lanes(w) : 1) && t.me->polled_count < GS_POLLED; l++)
      gs_race_poll(&t, address + l * (uint64_t)stride);
  gs_race_block(&t, address, size, stride, scalar);
}

static void watch_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride,
                              uint32_t rights) {
  gs_race_touch_t t;
  if (gs_race_begin(&t, w, rights, stride ? stride : size, true) && t.race->tells)
    gs_race_block(&t, offset, size, stride, false);
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
  if (gs_race_is_behind(wave))
    gs_race_catch_up(gs_check_of(w)->race, crew, gs_place_wave(w));
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
  gs_race_t *race = race_of(context);
  gs_crew_t *crew = group;
  for (unsigned i = 0; i < crew->waves; i++)
    if (gs_race_is_behind(&crew->wave[i]))
      gs_race_catch_up(race, crew, i);
  gs_order_barrier(&race->order, crew);
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
  gs_race_touch_t t = {.race = race,
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
    gs_race_words(&t, from, (to - from) / 4, 0, 0);
  t.clash.map = map;
  gs_race_finish(&t);
}

/* Whether the bytes are there already: to read them beside such a copy is no race. The program may have
 * freed what is to be copied. */
static bool changes_nothing(const gs_copy_t *what) {
  enum { PART = 4096 };
  uint8_t from[PART], to[PART];
  const uintptr_t source =
      what->from ? (uintptr_t)gs_vm_translate(what->map, what->from, what->bytes, GS_VM_READ) : 0;
  const uintptr_t target = (uintptr_t)gs_vm_translate(what->map, what->to, what->bytes, GS_VM_READ);
  bool same = source && target;
  for (uint64_t i = 0; same && i < what->bytes; i += PART) {
    const uint64_t bytes = what->bytes - i < PART ? what->bytes - i : PART;
    same = gs_host_peek(source + i, from, bytes) && gs_host_peek(target + i, to, bytes) &&
           memcmp(from, to, bytes) == 0;
  }
  return same;
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
  touch_copy(race, crew, what->map, what->to, changes_nothing(what) ? GS_VM_READ : GS_VM_WRITE);
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
