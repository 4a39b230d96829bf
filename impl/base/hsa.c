/* Opening ROCr. */
#include "base/hsa.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Of the process and not of a machine: it is what the dynamic linker would otherwise have filled in. */
atmi_hsa_t atmi_hsa;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

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

/* Describes a library that is there but not whole. */
static void describe_hole(const char *name) {
  Dl_info info;
  void *some = *(void **)&atmi_hsa;
  bool known = some && dladdr(some, &info) && info.dli_fname;
  snprintf(problem, sizeof problem, "%s has no function %s, so it is too old or is not ROCr's",
           known ? info.dli_fname : library, name);
}

static void open_once(void) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    snprintf(problem, sizeof problem, "%s", reason ? reason : library);
    return;
  }
  char *pointer = (char *)&atmi_hsa;
  for (const char *name = names; *name; name += strlen(name) + 1, pointer += sizeof(void *)) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function)
      function = dlsym(handle, name);
    if (!function) {
      describe_hole(name);
      atmi_hsa = (atmi_hsa_t){0};
      dlclose(handle);
      return;
    }
    memcpy(pointer, &function, sizeof function);
  }
}

atmi_status_t atmi_hsa_open(void) {
  pthread_once(&once, open_once);
  return *problem ? ATMI_NOT_FOUND : ATMI_OK;
}

const char *atmi_hsa_problem(void) {
  return *problem ? problem : NULL;
}

bool atmi_hsa_is_running(void) {
  uint16_t major;
  return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_ERROR_NOT_INITIALIZED;
}
