/* What LLVM's library exports for other vendors' machines, for tools, and for newer device code: says that
 * this one does not do it. */
#include "api.h"
#include "entry.h"
#include "message.h"

#include <stdatomic.h>

/* Once for each reason: programs call some of these in loops. */
static int refuse(atomic_bool *said, const char *what, const char *why) {
  if (!atomic_exchange(said, true))
    tgt_error("cannot %s: %s", what, why);
  return TGT_FAILED;
}

static atomic_bool said_replay, said_cuda, said_callback;

int __tgt_activate_record_replay(int64_t device) {
  (void)device;
  return refuse(&said_replay, "record or replay kernels", "this library does not do that");
}

int __tgt_target_kernel_replay(const tgt_ident_t *where) {
  (void)where;
  return refuse(&said_replay, "record or replay kernels", "this library does not do that");
}

static const char of_cuda[] =
    "the program was built for CUDA's launches, which are not for AMD GPUs; build it with "
    "OpenMP's target regions";

unsigned __llvmPushCallConfiguration(void) {
  return (unsigned)refuse(&said_cuda, "configure a launch", of_cuda);
}

unsigned __llvmPopCallConfiguration(void) {
  return (unsigned)refuse(&said_cuda, "configure a launch", of_cuda);
}

unsigned llvmLaunchKernel(void) {
  return (unsigned)refuse(&said_cuda, "launch a kernel", of_cuda);
}

void __tgt_register_rpc_callback(void *callback) {
  (void)callback;
  refuse(&said_callback, "call the program for device code",
         "handlers of clang 23 are not known to this library; what it serves is in its documentation");
}

/* Group memory that is kept for a region's private variables: none. */
size_t omp_get_gprivate_limit(int device, int group) {
  (void)device, (void)group;
  return 0;
}
