/* A program for amdhsa-loader that takes memory from the allocator of ROCm's device library, which calls its
 * host by hostcall, and in code object 5 wants memory for its state. Each thread's blocks must be its own. */
#include <stdint.h>

__attribute__((address_space(1))) void *__ockl_dm_alloc(uint64_t bytes);
void __ockl_dm_dealloc(uint64_t address);

#ifdef ISA_VERSION /* the library has no constant of that part */
extern __attribute__((address_space(4))) const int __oclc_ISA_version;
__attribute__((address_space(4))) const int __oclc_ISA_version = ISA_VERSION;
#endif

static int use_allocator(uint32_t thread) {
  static const uint32_t sizes[] = {16, 48, 300, 5000};
  volatile uint32_t *blocks[4];
  int failed = 0;
  for (int i = 0; i < 4; i++) {
    blocks[i] = (volatile uint32_t *)(uintptr_t)__ockl_dm_alloc(sizes[i]);
    if (!blocks[i])
      return 2;
    for (uint32_t at = 0; at < sizes[i] / 4; at += 3)
      blocks[i][at] = thread * 4 + at;
  }
  for (int i = 0; i < 4; i++) {
    for (uint32_t at = 0; at < sizes[i] / 4; at += 3)
      failed |= blocks[i][at] != thread * 4 + at;
    __ockl_dm_dealloc((uint64_t)(uintptr_t)blocks[i]);
  }
  return failed;
}

#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"))) void

KERNEL _begin(int argc, char **argv, char **envp);
KERNEL _start(int argc, char **argv, char **envp, int *result);
KERNEL _end(int status);

KERNEL _begin(int argc, char **argv, char **envp) {
  (void)argc;
  (void)argv;
  (void)envp;
}

/* 64 for each run that went well: the status tells that all did something. */
KERNEL _start(int argc, char **argv, char **envp, int *result) {
  (void)argc;
  (void)argv;
  (void)envp;
  uint32_t thread = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  __atomic_fetch_or(result, 64 | use_allocator(thread), __ATOMIC_RELAXED);
}

KERNEL _end(int status) {
  (void)status;
}
