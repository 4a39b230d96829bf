/* Reading memory of this process that may not be there. */
#include "base/process_memory.h"

#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

bool atmi_process_memory_read(const void *address, void *copy, size_t bytes) {
  const struct iovec to = {copy, bytes}, from = {(void *)(uintptr_t)address, bytes};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}
