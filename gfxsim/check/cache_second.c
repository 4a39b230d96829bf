/* The second cache of each GPU, as far as the fences of packets matter: what a kernel wrote stays in it until
 * a release of system scope, or buffer_wbl2, writes it back; what it has of others' memory stays until an
 * acquire of that scope, or buffer_invl2. Of lines it needs only who accessed what and when, which shadow.h
 * knows. Not here: the first caches (cache.c). */
#include "check/cache_model.h"
#include "check/cache_parts.h"

/* As the part's copy engines do for a kernel of their own GPU. */
static bool copies_fence(const gs_job_t *kernel, uint32_t engine) {
  return gs_caches_of(kernel->launch.target)->copies_fence && kernel->launch.gpu == engine;
}

bool gs_cache_wants_reads(gs_target_t target) {
  return !gs_caches_of(target)->local_is_probed;
}

/* Fine-grained memory is written through, or not cached at all. */
static bool is_cached(const gs_vm_range_t *range) {
  return range->kind == GS_VM_COARSE || (range->kind == GS_VM_HOST && range->is_coarse);
}

/* Whether the writer's changes may still be in its GPU's cache. */
static bool is_dirty(gs_cache_t *cache, const gs_job_t *writer) {
  if (writer->is_copy || !writer->end || writer->wrote_back || writer->launch.gpu >= GS_CACHE_GPUS ||
      writer->launch.release == GS_SCOPE_SYSTEM)
    return false;
  pthread_mutex_lock(&cache->lock);
  const bool written_back = cache->gpu[writer->launch.gpu].written_back > writer->end;
  pthread_mutex_unlock(&cache->lock);
  return !written_back;
}

/* Whether the GPU read the dword after its last invalidation, and before the writer began. */
static bool was_read_before(gs_cache_t *cache, const gs_job_t *reader, const gs_job_t *writer,
                            uint64_t address) {
  gs_shadow_t *shadow = &cache->race->shadow;
  pthread_mutex_lock(&cache->lock);
  const uint64_t invalidated = cache->gpu[reader->launch.gpu].invalidated;
  pthread_mutex_unlock(&cache->lock);
  if (writer->begin < invalidated)
    return false;
  const gs_stamp_t reads[] = {gs_shadow_ask(shadow, GS_SHADOW_READ, address),
                              gs_shadow_ask(shadow, GS_SHADOW_READ_BEFORE, address)};
  for (unsigned i = 0; i < 2; i++) {
    gs_job_t job;
    uint64_t group;
    if (reads[i] && gs_order_who(&cache->race->order, reads[i], &job, &group) && !job.is_copy &&
        job.launch.gpu == reader->launch.gpu && job.begin >= invalidated && job.end &&
        job.end < writer->begin)
      return true;
  }
  return false;
}

bool gs_second_is_stale(gs_cache_t *cache, const gs_job_t *job, const gs_vm_range_t *range, uint64_t address,
                        gs_stale_t *stale) {
  gs_job_t *writer = &stale->other;
  if (!is_cached(range) || !gs_order_who(&cache->race->order, stale->writer, writer, &stale->group))
    return false;
  const bool is_others = !job || writer->is_copy || writer->launch.gpu != job->launch.gpu;
  stale->rule = GS_STALE_RELEASE;
  if (is_others && is_dirty(cache, writer))
    return true;
  stale->rule = GS_STALE_ACQUIRE;
  if (job && writer->is_copy && copies_fence(job, writer->launch.gpu))
    return false;
  return job && is_others && job->launch.acquire < GS_SCOPE_SYSTEM && writer->end &&
         writer->end < job->begin &&
         !(range->kind == GS_VM_COARSE && gs_caches_of(job->launch.target)->local_is_probed) &&
         was_read_before(cache, job, writer, address);
}

void gs_cache_copy(gs_cache_t *cache, const gs_copy_t *copy) {
  if (!copy->from || !atomic_load(&cache->narrow))
    return;
  uint32_t last = 0;
  const uint64_t from = copy->from & ~UINT64_C(3), to = copy->from + copy->bytes;
  const gs_vm_range_t *range = gs_vm_find_mapped(copy->map, copy->from);
  for (uint64_t at = from; range && at < to && at < range->end; at += 4) {
    gs_stale_t found = {.writer = gs_shadow_ask(&cache->race->shadow, GS_SHADOW_WRITTEN, at),
                        .address = at,
                        .bytes = copy->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)copy->bytes,
                        .lanes = 1,
                        .map = copy->map};
    const uint32_t crew = gs_stamp_crew(found.writer);
    if (!found.writer || crew == last)
      continue;
    last = crew;
    if (!gs_second_is_stale(cache, NULL, range, at, &found) || copies_fence(&found.other, copy->gpu))
      continue;
    gs_stale_report(cache, NULL, copy, &found);
    return;
  }
}
