/* The second caches of a GPU that is made of several parts (XCCs): what one writes stays in its own until
 * buffer_wbl2 writes it back. What another has of the GPU's own memory is invalidated then, so that readers
 * need nothing. Not here: other GPUs, the host and copies (cache_second.c). */
#include "check/cache_model.h"
#include "exec/place.h"

/* Whether the writer of the stamp left it in its cache. Fills who that is. */
static bool is_left(gs_cache_t *cache, const gs_crew_t *reader, uint32_t xcc, uint32_t xccs,
                    gs_stale_t *stale) {
  gs_order_t *order = &cache->race->order;
  const gs_job_t *job = &stale->other;
  const unsigned flags = cache->race->sites.site[gs_stamp_site(stale->writer)].flags;
  return !(flags & (GS_SITE_ATOMIC | GS_SITE_THROUGH)) &&
         gs_order_who(order, stale->writer, &stale->other, &stale->group) && !job->is_copy && !job->end &&
         job->launch.gpu == reader->job->launch.gpu && stale->group % xccs != xcc &&
         !gs_order_has_left_xcc(order, stale->writer);
}

/* The stamps of a line's writes; false: all are long over for that kernel. */
static bool get_writers(gs_cache_t *cache, uint64_t start, uint32_t floor,
                        gs_stamp_t written[GS_CACHE_LINE / 4]) {
  gs_shadow_page_t *page = gs_shadow_page(&cache->race->shadow, start);
  if (!page)
    return false;
  gs_shadow_lock(page);
  const bool any = page->newest_write >= floor;
  for (size_t i = 0; any && i < GS_CACHE_LINE / 4; i++)
    written[i] = gs_shadow_stamp(page, GS_SHADOW_WRITTEN, start % GS_SHADOW_PAGE / 4 + i);
  gs_shadow_unlock(page);
  return any;
}

bool gs_xcc_is_stale(gs_cache_t *cache, const gs_wave_t *w, const gs_vm_range_t *range, uint64_t number,
                     uint64_t mask, uint32_t xccs, gs_stale_t *stale) {
  const gs_crew_t *crew = w->env->watched;
  const uint64_t start = number * GS_CACHE_LINE;
  const uint32_t floor = crew->job->floor;
  gs_stamp_t written[GS_CACHE_LINE / 4];
  uint32_t last = 0;
  if (range->kind != GS_VM_COARSE || !get_writers(cache, start, floor, written))
    return false;
  for (; mask; mask &= ~(UINT64_C(15) << (__builtin_ctzll(mask) & ~3))) {
    const unsigned at = (unsigned)__builtin_ctzll(mask);
    const uint32_t other = gs_stamp_crew(written[at / 4]);
    if (other < floor || other == crew->id || other == last)
      continue;
    last = other;
    *stale = (gs_stale_t){.rule = GS_STALE_XCC, .writer = written[at / 4], .address = start + at};
    if (is_left(cache, crew, w->env->xcc_id, xccs, stale) &&
        gs_order_surely(&cache->race->order, crew, gs_place_wave(w), stale->writer))
      return true;
  }
  return false;
}
