/* A tool of ROCr's (HSA_TOOLS_LIB) that tells host_wake when it is loaded. */
#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

extern void host_wake_in_rocr(void);

EXPORT bool OnLoad(void **root, uint64_t version, uint64_t failed_count, const char *const *failed);
bool OnLoad(void **root, uint64_t version, uint64_t failed_count, const char *const *failed) {
  (void)root, (void)version, (void)failed_count, (void)failed;
  host_wake_in_rocr();
  return true;
}

EXPORT void OnUnload(void);
void OnUnload(void) {}
