/* ROCr's functions, through a table that is filled when the first machine is made: the plugin does not need
 * ROCr to be opened, so it can say that ROCr is missing, and what then. Sources that call HSA include this;
 * headers that only speak of its types include hsa.h. */
#ifndef ATMI_BASE_HSA_H
#define ATMI_BASE_HSA_H

#include "base/status.h"

#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

/* Every function that the plugin calls. */
#define ATMI_HSA_FUNCTIONS(X)                                                                                \
  X(hsa_agent_get_info)                                                                                      \
  X(hsa_agent_iterate_isas)                                                                                  \
  X(hsa_amd_agent_iterate_memory_pools)                                                                      \
  X(hsa_amd_agent_memory_pool_get_info)                                                                      \
  X(hsa_amd_agents_allow_access)                                                                             \
  X(hsa_amd_memory_async_copy)                                                                               \
  X(hsa_amd_memory_lock)                                                                                     \
  X(hsa_amd_memory_pool_allocate)                                                                            \
  X(hsa_amd_memory_pool_free)                                                                                \
  X(hsa_amd_memory_pool_get_info)                                                                            \
  X(hsa_amd_memory_unlock)                                                                                   \
  X(hsa_amd_pointer_info)                                                                                    \
  X(hsa_amd_profiling_async_copy_enable)                                                                     \
  X(hsa_amd_profiling_convert_tick_to_system_domain)                                                         \
  X(hsa_amd_profiling_get_async_copy_time)                                                                   \
  X(hsa_amd_profiling_get_dispatch_time)                                                                     \
  X(hsa_amd_profiling_set_profiler_enabled)                                                                  \
  X(hsa_amd_register_system_event_handler)                                                                   \
  X(hsa_code_object_reader_create_from_memory)                                                               \
  X(hsa_code_object_reader_destroy)                                                                          \
  X(hsa_executable_create_alt)                                                                               \
  X(hsa_executable_destroy)                                                                                  \
  X(hsa_executable_freeze)                                                                                   \
  X(hsa_executable_get_symbol_by_name)                                                                       \
  X(hsa_executable_load_agent_code_object)                                                                   \
  X(hsa_executable_symbol_get_info)                                                                          \
  X(hsa_init)                                                                                                \
  X(hsa_isa_get_info_alt)                                                                                    \
  X(hsa_iterate_agents)                                                                                      \
  X(hsa_memory_copy)                                                                                         \
  X(hsa_queue_add_write_index_relaxed)                                                                       \
  X(hsa_queue_create)                                                                                        \
  X(hsa_queue_destroy)                                                                                       \
  X(hsa_queue_load_read_index_scacquire)                                                                     \
  X(hsa_queue_load_write_index_relaxed)                                                                      \
  X(hsa_shut_down)                                                                                           \
  X(hsa_signal_create)                                                                                       \
  X(hsa_signal_destroy)                                                                                      \
  X(hsa_signal_load_relaxed)                                                                                 \
  X(hsa_signal_store_screlease)                                                                              \
  X(hsa_signal_wait_scacquire)                                                                               \
  X(hsa_status_string)                                                                                       \
  X(hsa_system_get_info)

/* One pointer for each; a call costs what one into a library costs, as both go through a table. */
typedef struct atmi_hsa {
#define ATMI_HSA_MEMBER(name) __typeof__(&(name)) name;
  ATMI_HSA_FUNCTIONS(ATMI_HSA_MEMBER)
#undef ATMI_HSA_MEMBER
} atmi_hsa_t;

/* Constant once atmi_hsa_open has succeeded; NULL pointers before. Hidden, so that no look-up is needed to
 * find it. */
extern atmi_hsa_t atmi_hsa __attribute__((visibility("hidden")));

/* Opens ROCr, the first time; thread-safe. Fails with ATMI_NOT_FOUND if it cannot be opened or lacks a
 * function; atmi_hsa_problem tells what is wrong then. Functions that the program or a preloaded library has
 * itself stand before ROCr's, as for a library that is linked. ROCr stays open until the process ends, as its
 * threads do. */
ATMI_MUST_CHECK atmi_status_t atmi_hsa_open(void);

/* What is wrong, in one line and in the dynamic linker's words; NULL if ROCr is there or was not asked for
 * yet. Static storage. */
const char *atmi_hsa_problem(void);

/* Whether somebody in the process has initialised ROCr and not shut it down. It must be open. */
bool atmi_hsa_is_running(void);

/* What a person can do about it, in one line; continues a message. */
#define ATMI_HSA_REMEDY                                                                                      \
  "install ROCr: the package libhsa-runtime64-1 of Debian and Ubuntu, rocm-runtime of Fedora, or hsa-rocr "  \
  "of ROCm; "                                                                                                \
  "or name the folder that holds libhsa-runtime64.so.1 in LD_LIBRARY_PATH"

/* HSA's own names, so that calls read as in its manual. The linker tells if one is missing here. */
#define hsa_agent_get_info                  atmi_hsa.hsa_agent_get_info
#define hsa_agent_iterate_isas              atmi_hsa.hsa_agent_iterate_isas
#define hsa_amd_agent_iterate_memory_pools  atmi_hsa.hsa_amd_agent_iterate_memory_pools
#define hsa_amd_agent_memory_pool_get_info  atmi_hsa.hsa_amd_agent_memory_pool_get_info
#define hsa_amd_agents_allow_access         atmi_hsa.hsa_amd_agents_allow_access
#define hsa_amd_memory_async_copy           atmi_hsa.hsa_amd_memory_async_copy
#define hsa_amd_memory_lock                 atmi_hsa.hsa_amd_memory_lock
#define hsa_amd_memory_pool_allocate        atmi_hsa.hsa_amd_memory_pool_allocate
#define hsa_amd_memory_pool_free            atmi_hsa.hsa_amd_memory_pool_free
#define hsa_amd_memory_pool_get_info        atmi_hsa.hsa_amd_memory_pool_get_info
#define hsa_amd_memory_unlock               atmi_hsa.hsa_amd_memory_unlock
#define hsa_amd_pointer_info                atmi_hsa.hsa_amd_pointer_info
#define hsa_amd_profiling_async_copy_enable atmi_hsa.hsa_amd_profiling_async_copy_enable
#define hsa_amd_profiling_convert_tick_to_system_domain                                                      \
  atmi_hsa.hsa_amd_profiling_convert_tick_to_system_domain
#define hsa_amd_profiling_get_async_copy_time     atmi_hsa.hsa_amd_profiling_get_async_copy_time
#define hsa_amd_profiling_get_dispatch_time       atmi_hsa.hsa_amd_profiling_get_dispatch_time
#define hsa_amd_profiling_set_profiler_enabled    atmi_hsa.hsa_amd_profiling_set_profiler_enabled
#define hsa_amd_register_system_event_handler     atmi_hsa.hsa_amd_register_system_event_handler
#define hsa_code_object_reader_create_from_memory atmi_hsa.hsa_code_object_reader_create_from_memory
#define hsa_code_object_reader_destroy            atmi_hsa.hsa_code_object_reader_destroy
#define hsa_executable_create_alt                 atmi_hsa.hsa_executable_create_alt
#define hsa_executable_destroy                    atmi_hsa.hsa_executable_destroy
#define hsa_executable_freeze                     atmi_hsa.hsa_executable_freeze
#define hsa_executable_get_symbol_by_name         atmi_hsa.hsa_executable_get_symbol_by_name
#define hsa_executable_load_agent_code_object     atmi_hsa.hsa_executable_load_agent_code_object
#define hsa_executable_symbol_get_info            atmi_hsa.hsa_executable_symbol_get_info
#define hsa_init                                  atmi_hsa.hsa_init
#define hsa_isa_get_info_alt                      atmi_hsa.hsa_isa_get_info_alt
#define hsa_iterate_agents                        atmi_hsa.hsa_iterate_agents
#define hsa_memory_copy                           atmi_hsa.hsa_memory_copy
#define hsa_queue_add_write_index_relaxed         atmi_hsa.hsa_queue_add_write_index_relaxed
#define hsa_queue_create                          atmi_hsa.hsa_queue_create
#define hsa_queue_destroy                         atmi_hsa.hsa_queue_destroy
#define hsa_queue_load_read_index_scacquire       atmi_hsa.hsa_queue_load_read_index_scacquire
#define hsa_queue_load_write_index_relaxed        atmi_hsa.hsa_queue_load_write_index_relaxed
#define hsa_shut_down                             atmi_hsa.hsa_shut_down
#define hsa_signal_create                         atmi_hsa.hsa_signal_create
#define hsa_signal_destroy                        atmi_hsa.hsa_signal_destroy
#define hsa_signal_load_relaxed                   atmi_hsa.hsa_signal_load_relaxed
#define hsa_signal_store_screlease                atmi_hsa.hsa_signal_store_screlease
#define hsa_signal_wait_scacquire                 atmi_hsa.hsa_signal_wait_scacquire
#define hsa_status_string                         atmi_hsa.hsa_status_string
#define hsa_system_get_info                       atmi_hsa.hsa_system_get_info

#endif
