/* libgfxsim-check.so: the tools library that ROCr loads (HSA_TOOLS_LIB) for gfxsim's checker. It tells gfxsim
 * which memory the program asks HSA for, byte for byte, and keeps freed memory for a while, so that who still
 * uses it is found and not only the next owner harmed. Not here: what is checked (the checker is in gfxsim's
 * libraries, see notes.h). */
#include <dlfcn.h>
#include <execinfo.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/notes.h"
#include "check/tools.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- The places of what is replaced in ROCr's tables ---- */

typedef struct api {
  uint32_t major, bytes, step, reserved;
  gs_hsa_table_t *core, *amd;
} api_t;

enum { CORE_AGENT_INFO = 6, CORE_ALLOCATE = 33, CORE_FREE = 34 };

/* Of AMD's extensions; two functions came in between with version 2. */
typedef struct places {
  uint32_t major;
  unsigned allocate, free, share, lock, unlock, lock_to_pool;
} places_t;
static const places_t known_places[] = {{1, 13, 14, 17, 20, 21, 40} /* ROCr 5 */,
                                        {2, 13, 14, 19, 22, 23, 42} /* ROCr 6 */};

/* ---- The library's one context object: ROCr's functions come back without any other ---- */

typedef hsa_status_t pool_allocate_t(hsa_amd_memory_pool_t, size_t, uint32_t, void **);
typedef hsa_status_t allocate_t(hsa_region_t, size_t, void **);
typedef hsa_status_t free_t(void *);
typedef hsa_status_t lock_t(void *, size_t, hsa_agent_t *, int, void **);
typedef hsa_status_t lock_to_pool_t(void *, size_t, hsa_agent_t *, int, hsa_amd_memory_pool_t, uint32_t,
                                    void **);

typedef hsa_status_t share_t(uint32_t, const hsa_agent_t *, const uint32_t *, const void *);
typedef hsa_status_t agent_info_t(hsa_agent_t, hsa_agent_info_t, void *);

/* So much freed memory is kept. */
enum { MOST_KEPT = 4096, BUCKETS = 4096, OWN_FRAMES = 2 };
#define MOST_KEPT_BYTES (UINT64_C(256) << 20)

/* A block that the program has, or freed and we keep. */
typedef struct block {
  struct block *next;
  void *address; /* of locked memory, the program's */
  void *device;  /* as devices see it */
  uint64_t bytes;
  free_t *give_back;
} block_t;

static struct {
  gfxsim_note_allocate_t *note_allocate;
  gfxsim_note_free_t *note_free;
  gfxsim_note_refused_t *note_refused;
  gfxsim_note_copy_t *note_copy;
  gfxsim_note_access_t *note_access;
  share_t *share;
  agent_info_t *agent_info;
  pool_allocate_t *pool_allocate;
  free_t *pool_free;
  allocate_t *allocate;
  free_t *free;
  lock_t *lock;
  lock_to_pool_t *lock_to_pool;
  free_t *unlock;
  pthread_mutex_t mutex; /* of all below; not held while HSA is called */
  block_t *bucket[BUCKETS];
  block_t *kept, **last_kept; /* oldest first */
  uint64_t kept_bytes;
  unsigned kept_count;
} tool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last_kept = &tool.kept};

void gs_look_back(gfxsim_stack_t *stack, int own) {
  enum { MOST_OWN = 4 };
  void *frames[GFXSIM_STACK_DEPTH + MOST_OWN];
  const int depth = backtrace(frames, GFXSIM_STACK_DEPTH + own);
  stack->depth = depth > own ? (uint32_t)(depth - own) : 0;
  for (uint32_t i = 0; i < stack->depth; i++)
    stack->frame[i] = (uint64_t)(uintptr_t)frames[i + (uint32_t)own];
}

static block_t **bucket_of(const void *address) {
  return &tool.bucket[((uintptr_t)address >> 12 ^ (uintptr_t)address >> 6) % BUCKETS];
}

/* Without memory for it the block stays unknown, and is freed at once. */
static __attribute__((noinline)) void came(void *address, void *device, uint64_t bytes, free_t *give_back,
                                           const char *call) {
  block_t *block = malloc(sizeof *block);
  gfxsim_stack_t stack;
  gs_look_back(&stack, OWN_FRAMES);
  if (!block)
    return;
  *block = (block_t){.address = address, .device = device, .bytes = bytes, .give_back = give_back};
  pthread_mutex_lock(&tool.mutex);
  block_t **bucket = bucket_of(address);
  block->next = *bucket;
  *bucket = block;
  pthread_mutex_unlock(&tool.mutex);
  tool.note_allocate((uint64_t)(uintptr_t)device, bytes, call, &stack);
}

/* Takes the block at `address` that `give_back` frees out of the table; NULL: there is none. */
static __attribute__((noinline)) block_t *went(void *address, free_t *give_back) {
  gfxsim_stack_t stack;
  gs_look_back(&stack, OWN_FRAMES);
  pthread_mutex_lock(&tool.mutex);
  block_t **link = bucket_of(address);
  /* What was locked is unlocked; both ways of freeing free what either way has allocated. */
  while (*link &&
         ((*link)->address != address || ((*link)->give_back == tool.unlock) != (give_back == tool.unlock)))
    link = &(*link)->next;
  block_t *block = *link;
  if (block)
    *link = block->next;
  pthread_mutex_unlock(&tool.mutex);
  if (block)
    tool.note_free((uint64_t)(uintptr_t)block->device, &stack);
  return block;
}

/* ---- Freed memory that is kept ---- */

/* The oldest kept block if there are too many, or with `any`; else NULL. */
static block_t *take_kept(bool any) {
  pthread_mutex_lock(&tool.mutex);
  block_t *block = tool.kept;
  if (block && !any && tool.kept_bytes <= MOST_KEPT_BYTES && tool.kept_count <= MOST_KEPT)
    block = NULL;
  if (block) {
    tool.kept = block->next;
    tool.kept_bytes -= block->bytes;
    tool.kept_count--;
    if (!tool.kept)
      tool.last_kept = &tool.kept;
  }
  pthread_mutex_unlock(&tool.mutex);
  return block;
}

/* Frees what is kept beyond the limits, or all of it. Whether there was any. */
static bool give_back(bool all) {
  bool any = false;
  block_t *block;
  while ((block = take_kept(all))) {
    block->give_back(block->address);
    free(block);
    any = true;
  }
  return any;
}

/* Whether the program has freed this block already, which is kept since. */
static bool is_kept(const void *address) {
  pthread_mutex_lock(&tool.mutex);
  const block_t *block = tool.kept;
  while (block && block->address != address)
    block = block->next;
  pthread_mutex_unlock(&tool.mutex);
  return block;
}

/* The program wanted to free what is no block, or none any more. */
static __attribute__((noinline)) void refuse(void *address) {
  gfxsim_stack_t stack;
  gs_look_back(&stack, OWN_FRAMES);
  tool.note_refused((uint64_t)(uintptr_t)address, &stack);
}

static hsa_status_t free_later(void *address, free_t *now) {
  block_t *block = went(address, now);
  if (!block) {
    const hsa_status_t status = is_kept(address) ? HSA_STATUS_ERROR_INVALID_ALLOCATION : now(address);
    if (status != HSA_STATUS_SUCCESS)
      refuse(address);
    return status;
  }
  block->next = NULL;
  pthread_mutex_lock(&tool.mutex);
  *tool.last_kept = block;
  tool.last_kept = &block->next;
  tool.kept_bytes += block->bytes;
  tool.kept_count++;
  pthread_mutex_unlock(&tool.mutex);
  give_back(false);
  return HSA_STATUS_SUCCESS;
}

/* ---- What replaces HSA's functions ---- */

static hsa_status_t on_pool_allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags,
                                     void **address) {
  hsa_status_t status = tool.pool_allocate(pool, bytes, flags, address);
  if (status != HSA_STATUS_SUCCESS && give_back(true))
    status = tool.pool_allocate(pool, bytes, flags, address);
  if (status == HSA_STATUS_SUCCESS)
    came(*address, *address, bytes, tool.pool_free, "hsa_amd_memory_pool_allocate");
  return status;
}

static hsa_status_t on_pool_free(void *address) {
  return free_later(address, tool.pool_free);
}

static hsa_status_t on_allocate(hsa_region_t region, size_t bytes, void **address) {
  hsa_status_t status = tool.allocate(region, bytes, address);
  if (status != HSA_STATUS_SUCCESS && give_back(true))
    status = tool.allocate(region, bytes, address);
  if (status == HSA_STATUS_SUCCESS)
    came(*address, *address, bytes, tool.free, "hsa_memory_allocate");
  return status;
}

static hsa_status_t on_free(void *address) {
  return free_later(address, tool.free);
}

static hsa_status_t on_lock(void *host, size_t bytes, hsa_agent_t *agents, int count, void **device) {
  const hsa_status_t status = tool.lock(host, bytes, agents, count, device);
  if (status == HSA_STATUS_SUCCESS)
    came(host, *device, bytes, tool.unlock, "hsa_amd_memory_lock");
  return status;
}

static hsa_status_t on_lock_to_pool(void *host, size_t bytes, hsa_agent_t *agents, int count,
                                    hsa_amd_memory_pool_t pool, uint32_t flags, void **device) {
  const hsa_status_t status = tool.lock_to_pool(host, bytes, agents, count, pool, flags, device);
  if (status == HSA_STATUS_SUCCESS)
    came(host, *device, bytes, tool.unlock, "hsa_amd_memory_lock_to_pool");
  return status;
}

/* The program may free the memory next, so it is unlocked now. */
static hsa_status_t on_unlock(void *host) {
  free(went(host, tool.unlock));
  return tool.unlock(host);
}

static hsa_status_t on_share(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                             const void *address) {
  gfxsim_stack_t stack;
  uint64_t nodes = 0;
  uint32_t node;
  for (uint32_t i = 0; agents && i < count; i++)
    if (tool.agent_info(agents[i], HSA_AGENT_INFO_NODE, &node) == HSA_STATUS_SUCCESS && node < 64)
      nodes |= UINT64_C(1) << node;
  gs_look_back(&stack, 1);
  tool.note_access((uint64_t)(uintptr_t)address, nodes, &stack);
  return tool.share(count, agents, flags, address);
}

/* ---- Loading ---- */

static const places_t *find_places(const api_t *api) {
  for (size_t i = 0; i < sizeof known_places / sizeof *known_places; i++)
    if (known_places[i].major == api->amd->major && gs_hsa_has(api->amd, known_places[i].lock_to_pool) &&
        gs_hsa_has(api->core, CORE_FREE))
      return &known_places[i];
  return NULL;
}

static bool find_note(void *gfxsim, const char *name, void *function) {
  void *const symbol = dlsym(gfxsim, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol;
}

static bool find_notes(void) {
  void *gfxsim = dlopen("libgfxsim-kfd.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!gfxsim)
    gfxsim = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return gfxsim && find_note(gfxsim, GFXSIM_NOTE_ALLOCATE, &tool.note_allocate) &&
         find_note(gfxsim, GFXSIM_NOTE_REFUSED, &tool.note_refused) &&
         find_note(gfxsim, GFXSIM_NOTE_COPY, &tool.note_copy) &&
         find_note(gfxsim, GFXSIM_NOTE_ACCESS, &tool.note_access) &&
         find_note(gfxsim, GFXSIM_NOTE_FREE, &tool.note_free); /* which says that all are there */
}

/* What ROCr calls in hsa_init; false: the library is not needed. */
EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed_count, const char *const *failed);
EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed_count, const char *const *failed) {
  (void)version;
  (void)failed_count;
  (void)failed;
  const api_t *api = table;
  if (!find_notes())
    return false;
  const places_t *place = find_places(api);
  if (!place) {
    fprintf(
        stderr,
        "gfxsim: GFXSIM_CHECK: this ROCr has version %u of its table of functions, and 1 and 2 are known: "
        "sizes of the program's memory are not\n",
        api->amd->major);
    return false;
  }
  gs_hsa_replace(api->core, CORE_ALLOCATE, (gs_hsa_function_t *)on_allocate, &tool.allocate);
  gs_hsa_replace(api->core, CORE_FREE, (gs_hsa_function_t *)on_free, &tool.free);
  gs_hsa_replace(api->amd, place->allocate, (gs_hsa_function_t *)on_pool_allocate, &tool.pool_allocate);
  gs_hsa_replace(api->amd, place->free, (gs_hsa_function_t *)on_pool_free, &tool.pool_free);
  memcpy(&tool.agent_info, &api->core->function[CORE_AGENT_INFO], sizeof tool.agent_info);
  gs_hsa_replace(api->amd, place->share, (gs_hsa_function_t *)on_share, &tool.share);
  gs_hsa_replace(api->amd, place->lock, (gs_hsa_function_t *)on_lock, &tool.lock);
  gs_hsa_replace(api->amd, place->unlock, (gs_hsa_function_t *)on_unlock, &tool.unlock);
  gs_hsa_replace(api->amd, place->lock_to_pool, (gs_hsa_function_t *)on_lock_to_pool, &tool.lock_to_pool);
  gs_copies_watch(api->core, api->amd, tool.note_copy);
  return true;
}

/* What the program has not freed is gone with HSA: its places serve others. */
static void forget(void) {
  const gfxsim_stack_t nobody = {0};
  for (size_t i = 0; i < BUCKETS; i++)
    while (tool.bucket[i]) {
      block_t *next = tool.bucket[i]->next;
      tool.note_free((uint64_t)(uintptr_t)tool.bucket[i]->device, &nobody);
      free(tool.bucket[i]);
      tool.bucket[i] = next;
    }
}

/* What ROCr calls in hsa_shut_down, while its functions still work. */
EXPORT void OnUnload(void);
EXPORT void OnUnload(void) {
  if (!tool.note_free)
    return;
  give_back(true);
  forget();
}
