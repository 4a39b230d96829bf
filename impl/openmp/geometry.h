/* How many teams and threads a launch gets: one pure function of the region's clauses, the kernel, the device
 * and the user's settings. doc/environment.md states the rules for users. */
#ifndef ATMI_OPENMP_GEOMETRY_H
#define ATMI_OPENMP_GEOMETRY_H

#include "base/env.h"
#include "device/device.h"

/* How the compiler laid a target region out. The numbers are those of LLVM 14 and later. */
typedef enum atmi_mode {
  ATMI_MODE_GENERIC =
      1,              /* one main thread, in a wave of its own, and workers that wait for parallel regions */
  ATMI_MODE_SPMD = 2, /* all threads run the region */
  ATMI_MODE_GENERIC_SPMD = 3, /* written as generic, turned into SPMD by the optimiser */
} atmi_mode_t;

/* What holds for all launches on one device; fixed when the device is set up. */
typedef struct atmi_geometry_limits {
  uint32_t wavefront;        /* lanes, for kernels that do not say what they were compiled for */
  uint32_t max_threads;      /* per team, by the hardware */
  uint32_t max_grid;         /* work-items in all, by the hardware */
  uint32_t default_teams;    /* without num_teams: what the device or the user wants */
  uint32_t team_limit;       /* without num_teams: upper bound by the user; UINT32_MAX if none */
  uint32_t thread_limit;     /* without thread_limit: upper bound by the user; UINT32_MAX if none */
  bool reuses_teams;         /* without num_teams: a loop gets no more than default_teams */
  uint32_t low_trip_threads; /* fewest threads to which a loop with few iterations is cut; 0: a wavefront */
} atmi_geometry_limits_t;

typedef struct atmi_geometry_request {
  atmi_mode_t mode;
  int32_t num_teams;    /* clause; 0 or less: none */
  int32_t thread_limit; /* clause; 0 or less: none */
  uint64_t tripcount;   /* iterations of the distributed loop; 0: unknown */
  /* What the kernel was compiled for; 0: not stated. */
  uint32_t kernel_min_threads, kernel_max_threads;
  uint32_t kernel_max_teams;
  uint32_t kernel_wavefront; /* lanes: some devices run kernels of 32 and of 64 */
  bool narrow_teams;         /* one narrow wavefront is a team that the compiler thinks of [18] */
  bool lone_main;            /* in generic mode the main thread must be the only one in its wave */
} atmi_geometry_request_t;

/* teams * threads fits 32 bits; both are at least 1. */
typedef struct atmi_geometry {
  uint32_t teams, threads;
} atmi_geometry_t;

/* The limits of a device under the user's settings. */
atmi_geometry_limits_t atmi_geometry_limits(const atmi_device_properties_t *device, const atmi_env_t *env);

atmi_geometry_t atmi_geometry_compute(const atmi_geometry_limits_t *limits,
                                      const atmi_geometry_request_t *request);

#endif
