/* What the files of the tool "cache" share: lines, compute units and GPUs, and a stale read that was found.
 */
#ifndef GFXSIM_CHECK_CACHE_MODEL_H
#define GFXSIM_CHECK_CACHE_MODEL_H

#include "check/cache.h"
#include "check/race.h"

/* gfx9: 16 KiB of 64-byte lines each. Only where a line is differs from a card: one place for each address.
 * gfx942, gfx10 and gfx11 have lines of 128 bytes, of which the halves are looked at by themselves; and the
 * latter a cache that the compute units of a shader array share: here each has one, as if it were alone
 * there. */
enum { GS_CACHE_LINE = 64, GS_CACHE_LINES = 256, GS_CACHE_GPUS = 16 };
typedef enum gs_cached_by { GS_BY_VECTOR, GS_BY_SCALAR, GS_BY_ARRAY, GS_BY_COUNT } gs_cached_by_t;

typedef struct gs_line {
  uint64_t tag;    /* address / 64 + 1; 0: empty */
  uint64_t known;  /* bytes that are as the line's reader got them: stores of the same unit change the line */
  uint64_t epoch;  /* of the cache when it came: what is older is invalid */
  uint64_t filled; /* by the clock of jobs */
  uint8_t bytes[GS_CACHE_LINE];
} gs_line_t;

struct gs_cu {
  struct gs_cu *next;
  uint32_t gpu, hint; /* hint: the range of the address space that was used last */
  uint64_t gpu_epoch; /* of the GPU, when the epochs below began */
  uint64_t epoch[GS_BY_COUNT];
  gs_line_t line[GS_BY_COUNT][GS_CACHE_LINES];
};

/* A GPU: times are by the clock of jobs. */
typedef struct gs_cached_gpu {
  _Atomic uint64_t epoch; /* changes whenever a packet invalidates all first caches */
  _Atomic uint32_t xccs;  /* each with a second cache of its own; 0: one */
  uint64_t invalidated;   /* when the second cache dropped others' memory last */
  uint64_t written_back;  /* when it wrote its changes back last */
  gs_cu_t *idle;          /* compute units without a workgroup, and what they still have */
  gs_line_t
      *_Atomic second; /* what the second cache has of the host's coarse-grained memory; made when needed */
  uint64_t second_epoch;
} gs_cached_gpu_t;

struct gs_cache {
  gs_race_t *race;
  pthread_mutex_t lock; /* of all GPUs but `epoch` and `xccs` */
  _Atomic bool narrow;  /* some packet's fence reached less far than the system */
  gs_cached_gpu_t gpu[GS_CACHE_GPUS];
};

/* Why a read may be stale. */
typedef enum gs_stale_rule {
  GS_STALE_VECTOR,  /* the wave did not invalidate its vector cache */
  GS_STALE_SCALAR,  /* its scalar cache */
  GS_STALE_ARRAY,   /* its shader array's cache */
  GS_STALE_ACQUIRE, /* its packet's acquire fence does not reach as far */
  GS_STALE_RELEASE, /* the writer's packet's release fence does not */
  GS_STALE_HOST,    /* the host wrote while the kernel ran */
  GS_STALE_XCC,     /* the writer did not write its XCC's second cache back */
} gs_stale_rule_t;

/* A stale read. */
typedef struct gs_stale {
  gs_stale_rule_t rule;
  uint64_t address;
  uint32_t bytes; /* of each lane; of a copy */
  unsigned lane;
  uint32_t lanes;
  bool polls;        /* the read is repeated until something changes */
  gs_stamp_t writer; /* 0: who is not seen: the host */
  gs_cached_by_t level;
  gs_job_t other; /* the writer's, if known */
  uint64_t group;
  const gs_vm_map_t *map;
} gs_stale_t;

/* cache_text.c: counts it, and tells of it if it is the first between its two instructions. `w`: the wave
 * that reads, or NULL: `copy` does. */
void gs_stale_report(gs_cache_t *cache, const gs_wave_t *w, const gs_copy_t *copy, const gs_stale_t *stale);

/* cache_second.c: whether the second cache, or its changes, are between a kernel of `job`, or a copy (NULL),
 * and what `writer` wrote at `address`. Fills the rule and the other side. */
bool gs_second_is_stale(gs_cache_t *cache, const gs_job_t *job, const gs_vm_range_t *range, uint64_t address,
                        gs_stale_t *stale);

/* cache_xcc.c: whether what a workgroup on another of the GPU's XCCs wrote into these bytes of a line, before
 * what the wave does now, may still be in the second cache there. Fills *stale but for lanes. */
bool gs_xcc_is_stale(gs_cache_t *cache, const gs_wave_t *w, const gs_vm_range_t *range, uint64_t number,
                     uint64_t mask, uint32_t xccs, gs_stale_t *stale);

#endif
