/* How a stale read is told: who reads, whose write it may miss, and what mends it. Not here: finding it
 * (cache.c, cache_second.c). */
#include <inttypes.h>

#include "check/cache_model.h"

static const struct {
  gs_rule_t rule;
  const char *why, *hint;
} rules[] = {
    [GS_STALE_VECTOR] =
        {{"cache", "vector", GS_SEVERITY_ERROR,
          "A read for which the compute unit's vector cache may still have an old value"},
         "The compute unit has read this line before the write, and has not invalidated its vector cache "
         "since",
         "an acquire fence behind the read that learns of the write (`omp flush acquire`, "
         "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"agent\"): buffer_wbinvl1, buffer_gl0_inv), or read it "
         "by "
         "an atomic load"},
    [GS_STALE_SCALAR] =
        {{"cache", "scalar", GS_SEVERITY_ERROR,
          "A read for which the scalar cache may still have an old value"},
         "The scalar cache has this line since before the write, and no store of vectors changes it",
         "s_dcache_inv in front of the read, or read it by a vector load"},
    [GS_STALE_ARRAY] =
        {{"cache", "array", GS_SEVERITY_ERROR,
          "A read for which the shader array's cache may still have an old value"},
         "The shader array's cache (L1) has this line since before the write, and has not been invalidated "
         "since",
         "an acquire fence of agent scope behind the read that learns of the write, which is buffer_gl1_inv "
         "beside buffer_gl0_inv; or read it by an atomic load of that scope (glc and dlc)"},
    [GS_STALE_ACQUIRE] =
        {{"cache", "acquire", GS_SEVERITY_ERROR,
          "A read that may miss an earlier write, as the kernel's packet does not acquire it"},
         "An earlier kernel read this line before the write, and no packet has invalidated that since",
         "an acquire fence of agent scope in the packet for what kernels of this GPU wrote, of system scope "
         "for what the host, a copy or another GPU did"},
    [GS_STALE_RELEASE] =
        {{"cache", "release", GS_SEVERITY_ERROR,
          "A read by others of what a kernel wrote whose packet does not release it"},
         "What the kernel wrote may still be in its GPU's second cache (L2)",
         "a release fence of system scope in the kernel's packet, or in a barrier packet behind it; or "
         "fine-grained memory"},
    [GS_STALE_HOST] =
        {{"cache", "host", GS_SEVERITY_ERROR,
          "A read of memory that the host changed while caches of the GPU may keep it"},
         "The GPU has read this line before, and the host, or a kernel of ROCr, has changed it since",
         "fine-grained memory, and atomic loads (which look past the cache), or an acquire fence in the "
         "kernel"},
    [GS_STALE_XCC] =
        {{"cache", "xcc", GS_SEVERITY_ERROR,
          "A read of what another part (XCC) of the GPU wrote and did not write back"},
         "The two workgroups are on different XCCs, and the write may still be in the writer's second cache "
         "(L2)",
         "a release fence of agent scope between the write and what tells of it (`omp flush release`, "
         "__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"agent\"): buffer_wbl2 sc1), or write it by an atomic "
         "store"},
};

static void describe_writer(const gs_cache_t *cache, const gs_wave_t *w, const gs_stale_t *stale,
                            gs_finding_t *finding) {
  const gs_job_t *job = &stale->other;
  gs_side_t *side = &finding->side[1];
  if (!stale->writer) {
    snprintf(finding->detail[0], sizeof finding->detail[0], "May miss a write by the host");
    return;
  }
  if (job->is_copy) {
    snprintf(finding->detail[0], sizeof finding->detail[0],
             "May miss an earlier %s of %" PRIu64 " bytes to 0x%" PRIx64 "; GPU %" PRIu32,
             job->from ? "copy" : "fill", job->bytes, job->to, job->launch.gpu);
    return;
  }
  gs_place_of_other(stale->map, &job->launch, stale->group, gs_stamp_wave(stale->writer),
                    gs_stamp_lane(stale->writer), cache->race->sites.site[gs_stamp_site(stale->writer)].pc,
                    &side->place);
  side->actor = GS_ACTOR_WAVE;
  const bool same = w && job->number == ((const gs_crew_t *)w->env->watched)->job->number;
  snprintf(side->what, sizeof side->what, "May miss an earlier %s%s",
           side->place.rights == (GS_VM_READ | GS_VM_WRITE) ? "atomic access" : "write",
           same ? "" : " in another kernel");
}

static void tell(gs_cache_t *cache, const gs_wave_t *w, const gs_copy_t *copy, const gs_stale_t *stale,
                 gs_found_t *found) {
  gs_finding_t finding = {.address = stale->address, .bytes = stale->bytes, .hint = rules[stale->rule].hint};
  if (w) {
    gs_side_of_wave(&finding.side[0], w, stale->lane);
    finding.side[0].more = stale->lanes - 1;
    snprintf(finding.title, sizeof finding.title, "Possibly stale read of %" PRIu32 " bytes", stale->bytes);
  } else {
    snprintf(finding.title, sizeof finding.title,
             "Possibly stale read by a copy of %" PRIu64 " bytes from 0x%" PRIx64 " to 0x%" PRIx64
             "; GPU %" PRIu32,
             copy->bytes, copy->from, copy->to, copy->gpu);
  }
  describe_writer(cache, w, stale, &finding);
  snprintf(finding.detail[1], sizeof finding.detail[1], "%s", rules[stale->rule].why);
  if (stale->polls)
    snprintf(finding.detail[2], sizeof finding.detail[2],
             "The read is repeated until the value changes, which it may never see");
  finding.about_block = gs_blocks_find(cache->race->blocks, stale->address, &finding.block);
  gs_findings_tell(cache->race->findings, found, &finding);
}

void gs_stale_report(gs_cache_t *cache, const gs_wave_t *w, const gs_copy_t *copy, const gs_stale_t *stale) {
  const gs_site_t *writer = &cache->race->sites.site[stale->writer ? gs_stamp_site(stale->writer) : 0];
  const gs_key_t key = {.rule = &rules[stale->rule].rule,
                        .pc = {w ? w->pc : GS_SITE_OF_COPIES, writer->pc},
                        .object = {writer->code}};
  gs_found_t *found = gs_findings_meet(cache->race->findings, &key, gs_times(w, stale->lanes));
  if (found)
    tell(cache, w, copy, stale, found);
}
