/* Reading memory of this process that may not be there. */
#include "base/process_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, PAGES_AT_ONCE = 64 };

bool atmi_process_memory_read(const void *address, void *copy, size_t bytes) {
  const struct iovec to = {copy, bytes}, from = {(void *)(uintptr_t)address, bytes};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

bool atmi_process_memory_is_readable(const void *address, uint64_t bytes) {
  const uintptr_t begin = (uintptr_t)address, end = begin + bytes;
  if (bytes && (!begin || end < begin))
    return false;
  for (uintptr_t at = begin; at < end;) {
    char seen[PAGES_AT_ONCE];
    struct iovec from[PAGES_AT_ONCE], to = {seen, 0};
    for (; to.iov_len < PAGES_AT_ONCE && at < end; to.iov_len++) {
      from[to.iov_len] = (struct iovec){(void *)at, 1};
      at += PAGE_BYTES - at % PAGE_BYTES;
    }
    ssize_t read = process_vm_readv(getpid(), &to, 1, from, to.iov_len, 0);
    if (read != (ssize_t)to.iov_len && (read >= 0 || errno == EFAULT))
      return false;
  }
  return true;
}

/* Byte by byte and not by memchr: what is looked at need not be anybody's object, which AddressSanitizer
 * would not have. */
__attribute__((no_sanitize("address"))) static bool ends_within(const char *text, size_t bytes) {
  while (bytes && *text) {
    text++;
    bytes--;
  }
  return bytes;
}

bool atmi_process_memory_is_text(const char *text) {
  const char *at = text;
  while (text) {
    size_t left = PAGE_BYTES - (uintptr_t)at % PAGE_BYTES;
    if (!atmi_process_memory_is_readable(at, 1))
      return false;
    if (ends_within(at, left))
      return true;
    at += left;
  }
  return false;
}

/* Asked not to wait, Linux's msync does nothing but look whether all of it is mapped. Where pages are larger
 * than ours it finds the address misaligned, and that is no answer. */
bool atmi_process_memory_is_there(const void *address, uint64_t bytes) {
  const uintptr_t begin = (uintptr_t)address, end = begin + bytes, page = begin / PAGE_BYTES * PAGE_BYTES;
  if (bytes && (!begin || end < begin))
    return false;
  return !bytes || !msync((void *)page, end - page, MS_ASYNC) || errno != ENOMEM;
}
