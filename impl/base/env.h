/* Every environment variable that the plugin reads, as one table. Not here: what the values do. */
#ifndef ATMI_BASE_ENV_H
#define ATMI_BASE_ENV_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values, one field per row of the table. A field whose variable is unset or unusable holds the default;
 * ATMI_ENV_UNSET stands for "no value" where the default is none. */
typedef struct atmi_env {
  int64_t kernel_trace;             /* LIBOMPTARGET_KERNEL_TRACE */
  int64_t info;                     /* LIBOMPTARGET_INFO */
  int64_t debug;                    /* LIBOMPTARGET_DEBUG */
  int64_t device_rtl_debug;         /* LIBOMPTARGET_DEVICE_RTL_DEBUG */
  int64_t shared_memory_bytes;      /* LIBOMPTARGET_SHARED_MEMORY_SIZE */
  int64_t stack_bytes;              /* LIBOMPTARGET_STACK_SIZE */
  int64_t heap_bytes;               /* LIBOMPTARGET_HEAP_SIZE */
  int64_t caller_abi;               /* LIBOMPTARGET_AMDGPU_HOST_ABI */
  int64_t apu_maps;                 /* OMPX_APU_MAPS */
  int64_t memory_manager_threshold; /* LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD */
  int64_t num_teams;                /* OMP_NUM_TEAMS */
  int64_t team_limit;               /* OMP_TEAM_LIMIT */
  int64_t teams_thread_limit;       /* OMP_TEAMS_THREAD_LIMIT */
  int64_t max_teams_default;        /* OMP_MAX_TEAMS_DEFAULT */
  int64_t teams_per_proc;           /* OMP_TARGET_TEAMS_PER_PROC */
  int64_t teams_per_cu;             /* LIBOMPTARGET_AMDGPU_TEAMS_PER_CU */
  int64_t min_threads_low_trip;     /* LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT */
  int64_t reuse_blocks;             /* LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT */
  int64_t queue_count;              /* LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES */
  int64_t queue_packets;            /* LIBOMPTARGET_AMDGPU_HSA_QUEUE_SIZE */
  int64_t max_queue_packets;        /* ATMI_MAX_HSA_QUEUE_SIZE */
  int64_t max_staged_bytes;         /* LIBOMPTARGET_AMDGPU_MAX_ASYNC_COPY_BYTES */
  int64_t keep_pinned_ms;           /* LIBOMPTARGET_AMDGPU_KEEP_PINNED */
  int64_t busy_wait_us;             /* LIBOMPTARGET_AMDGPU_STREAM_BUSYWAIT */
  int64_t fault_patience_s;         /* LIBOMPTARGET_AMDGPU_FAULT_PATIENCE */
  int64_t mangled_names;            /* LIBOMPTARGET_AMDGPU_MANGLED_NAMES */
  int64_t rpc_version;              /* LIBOMPTARGET_AMDGPU_RPC_VERSION */
  int64_t lock_mapped;              /* LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS: 0, 1, or ATMI_ENV_MANDATORY */
  const char *timeline; /* LIBOMPTARGET_AMDGPU_TIMELINE, NULL if unset; the environment's own string */
} atmi_env_t;

#define ATMI_ENV_UNSET INT64_MIN

/* What the word "mandatory" is as a number. */
enum { ATMI_ENV_MANDATORY = 2 };

typedef enum atmi_env_type {
  ATMI_ENV_INTEGER,
  ATMI_ENV_FILE,    /* its name, a const char *; the default is none */
  ATMI_ENV_IGNORED, /* another plugin's; accepted so that it is no typo */
} atmi_env_type_t;

typedef struct atmi_env_row {
  int64_t initial; /* default */
  int64_t most;
  int32_t least;
  uint16_t field; /* offset in atmi_env_t */
  uint8_t type;   /* atmi_env_type_t */
  char name[46];
} atmi_env_row_t;

/* The table of base/env.def; `*count` rows. Immutable. */
const atmi_env_row_t *atmi_env_table(size_t *count);

/* Reads a value: decimal or 0x hexadecimal, or one of true, false, on, off (1 and 0); "mandatory" where
 * that is a choice. False, with the reason
 * in *reason, if it is none of these or outside the row's range. */
bool atmi_env_parse(const atmi_env_row_t *row, const char *text, int64_t *value, const char **reason);

/* The file that a variable of this name and value stands for, which is the value itself. NULL if it is NULL
 * or empty, or, described, in a program that has other rights than its user (set-user-id). */
const char *atmi_env_file(const char *name, const char *text);

/* Fills `env` from an environment block ("NAME=value" strings, NULL at the end; `environ` in production).
 * Every value that cannot be used, and every LIBOMPTARGET_AMDGPU_ variable that the table does not know,
 * gives one warning on stderr, the latter with the nearest known name; the default then stands. So it does
 * for names of files in a program that has other rights than its user (set-user-id). Never fails. */
void atmi_env_load(char *const *environment, atmi_env_t *env);

#endif
