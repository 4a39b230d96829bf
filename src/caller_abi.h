/* Which libomptarget calls, and where its versions disagree about what they pass: translation to one form.
 * This file and openmp/device_abi are the only ones that know versions; this one the host's side, that one
 * the device image's. */
#ifndef CALLER_ABI_H
#define CALLER_ABI_H

#include "omptarget_amdgpu_plugin.h"

#include "openmp/request.h"

#include <stdbool.h>
#include <string.h>

/* ---- which libomptarget ---- */

enum { CALLER_ABI_UNKNOWN = 0, CALLER_ABI_OLDEST = 13, CALLER_ABI_NEWEST = 18 };

/* A library that calls us: the version of libomptarget that it is, and where its code lies. Different ones
 * may be in one process, and share this plugin. */
typedef struct caller_abi_library {
  uintptr_t begin, end;
  int version; /* 13 to 18, or CALLER_ABI_UNKNOWN */
} caller_abi_library_t;

/* What the names of its files begin with. */
extern const char caller_abi_library_name[];

/* The newest version all of whose marks `exports` answers for; CALLER_ABI_UNKNOWN if there are not even those
 * of
 * 13. Marks are exported functions that came with a version and stayed. */
int caller_abi_version_from_exports(bool (*exports)(const void *context, const char *name),
                                    const void *context);

/* Who called, from a return address into the caller: the version by what its library exports, or, if that is
 * no libomptarget but something in between, by the one libomptarget that the process has. `name` gets the
 * caller's file, for messages; it is the dynamic linker's. To be called only from entry points that
 * libomptarget calls while it opens a plugin: it takes the dynamic linker's lock, which another thread may
 * hold while it waits for a lock of libomptarget. */
caller_abi_library_t caller_abi_find_caller(const void *return_address, const char **name);

/* ---- launches: translations are here so that a launch is one piece of code ---- */

/* launch_kernel [16-18]. */
static inline atmi_omp_request_t caller_abi_launch_from_kernel_args(void **arguments, ptrdiff_t *offsets,
                                                                    const KernelArgsTy *args) {
  /* 16 and later pass the clauses of old programs on as they came, where -1 stands for no clause. */
  return (atmi_omp_request_t){.arguments = arguments,
                              .offsets = offsets,
                              .shape = {.tripcount = args->Tripcount,
                                        .num_teams = (int32_t)args->NumTeams[0],
                                        .thread_limit = (int32_t)args->ThreadLimit[0],
                                        .more_teams = {args->NumTeams[1], args->NumTeams[2]},
                                        .more_threads = {args->ThreadLimit[1], args->ThreadLimit[2]},
                                        .argument_count = args->NumArgs,
                                        .dynamic_lds_bytes = args->DynCGroupMem}};
}

/* run_target_team_region [13-15]; run_target_region is one team without limit. */
static inline atmi_omp_request_t caller_abi_launch_from_team_region(void **arguments, ptrdiff_t *offsets,
                                                                    int32_t count, int32_t num_teams,
                                                                    int32_t thread_limit,
                                                                    uint64_t tripcount) {
  return (atmi_omp_request_t){.arguments = arguments,
                              .offsets = offsets,
                              .shape = {.tripcount = tripcount,
                                        .num_teams = num_teams,
                                        .thread_limit = thread_limit,
                                        .argument_count = count > 0 ? (uint32_t)count : 0}};
}

/* The shapes that these translations give, word by word. */
static inline atmi_omp_words_t caller_abi_words_from_kernel_args(const KernelArgsTy *args) {
  atmi_omp_words_t words = {{args->Tripcount, 0, 0, 0, args->NumArgs | (uint64_t)args->DynCGroupMem << 32}};
  const char *clauses = (const char *)args->NumTeams;
  memcpy(&words.word[1], clauses, sizeof(uint64_t));
  memcpy(&words.word[2], clauses + 8, sizeof(uint64_t));
  memcpy(&words.word[3], clauses + 16, sizeof(uint64_t));
  return words;
}

static inline atmi_omp_words_t caller_abi_words_from_team_region(int32_t count, int32_t num_teams,
                                                                 int32_t thread_limit, uint64_t tripcount) {
  return (atmi_omp_words_t){{tripcount, (uint32_t)num_teams, (uint64_t)(uint32_t)thread_limit << 32, 0,
                             count > 0 ? (uint32_t)count : 0}};
}

/* ---- copies ---- */

/* Whether data_retrieve_async must not return before the data has arrived: 13 and 14 repair pointers in
 * retrieved structures before they wait, and a later copy would undo it. Their own AMD plugins always waited.
 */
bool caller_abi_retrieve_waits(int version);

/* ---- images ---- */

/* What load_binary answers to this version for a loaded image: its table [13-17], or success, with the handle
 * in
 * `*binary` [18], which is garbage before. A failure if both are NULL. */
uintptr_t caller_abi_answer_load(int version, __tgt_target_table *table, void *handle,
                                 __tgt_device_binary *binary);

/* Whether this version calls register_lib with all images of a library. [13-17] */
bool caller_abi_registers_libraries(int version);

#endif
