/* Opening ROCr. */
#include "base/hsa.h"

#include "base/name.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Of the process and not of a machine: it is what the dynamic linker would otherwise have filled in. */
atmi_hsa_t atmi_hsa;
static struct {
  pthread_mutex_t lock;
  atomic_bool is_done; /* set last */
  char problem[512];   /* empty: there is none */
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char library[] = "libhsa-runtime64.so.1";

/* The names of the functions, each with its NUL, in the order of their pointers. */
#define NAME(name) #name "\0"
static const char names[] = ATMI_HSA_FUNCTIONS(NAME);

/* How the linker and the package tools of distributions learn of a library that is opened and not linked
 * (https://uapi-group.org/specifications/specs/elf_dlopen_metadata). */
#define OPENS                                                                                                \
  "[{\"feature\":\"hsa\",\"description\":\"GPUs of AMD\",\"priority\":\"required\","                         \
  "\"soname\":[\"libhsa-runtime64.so.1\"]}]"
typedef struct opens {
  uint32_t owner_bytes, content_bytes, type;
  char owner[4];
  _Alignas(4) char content[sizeof OPENS];
} opens_t;
__attribute__((used, aligned(4), section(".note.dlopen"))) static const opens_t opens = {
    sizeof "FDO", sizeof OPENS, 0x407c0c0a, "FDO", OPENS};

/* What opening has found. */
typedef struct found {
  atmi_hsa_t functions;
  char problem[sizeof opened.problem];
} found_t;

/* Describes a library that is there but not whole. */
static void describe_hole(found_t *found, const char *name) {
  Dl_info info;
  void *some = *(void **)&found->functions;
  bool known = some && dladdr(some, &info) && info.dli_fname;
  snprintf(found->problem, sizeof found->problem, "%s has no function %s, so it is too old or is not ROCr's",
           known ? info.dli_fname : library, name);
}

/* Lazy: a seventh of what a program's start costs would be to look up all that the C++ library calls, of
 * which ROCr needs little. Debian's ROCr says of itself that it wants all of its own functions at once; what
 * the C++ library asks for later is its own and the C library's, for which no thread waits for the linker. */
static void find(found_t *found) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    snprintf(found->problem, sizeof found->problem, "%s", reason ? reason : library);
    return;
  }
  char *pointer = (char *)&found->functions;
  for (const char *name = names; *name; name += strlen(name) + 1, pointer += sizeof(void *)) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function)
      function = dlsym(handle, name);
    if (!function) {
      describe_hole(found, name);
      found->functions = (atmi_hsa_t){0};
      dlclose(handle);
      return;
    }
    memcpy(pointer, &function, sizeof function);
  }
  atmi_name_find_reader();
}

/* Threads that come at the same time all look, and find the same: nobody waits for one that waits for the
 * dynamic linker, whose lock it may have itself. */
atmi_status_t atmi_hsa_open(void) {
  if (!atomic_load_explicit(&opened.is_done, memory_order_acquire)) {
    found_t found = {.problem = ""};
    find(&found);
    pthread_mutex_lock(&opened.lock);
    if (!opened.is_done) {
      atmi_hsa = found.functions;
      memcpy(opened.problem, found.problem, sizeof opened.problem);
      atomic_store_explicit(&opened.is_done, true, memory_order_release);
    }
    pthread_mutex_unlock(&opened.lock);
  }
  return *opened.problem ? ATMI_NOT_FOUND : ATMI_OK;
}

const char *atmi_hsa_problem(void) {
  return *opened.problem ? opened.problem : NULL;
}

bool atmi_hsa_is_running(void) {
  uint16_t major;
  return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_ERROR_NOT_INITIALIZED;
}
