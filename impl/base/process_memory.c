/* Memory of this process that may not be there, or not be what is wanted of it. */
#include "base/process_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool atmi_process_memory_find(const void *address, atmi_process_mapping_t *mapping) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[512];
  bool found = false;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    char *at;
    mapping->begin = (uintptr_t)strtoull(line, &at, 16);
    mapping->end = *at == '-' ? (uintptr_t)strtoull(at + 1, &at, 16) : 0;
    snprintf(mapping->rights, sizeof mapping->rights, "%.4s", *at ? at + 1 : at);
    found = (uintptr_t)address >= mapping->begin && (uintptr_t)address < mapping->end;
  }
  if (maps)
    fclose(maps);
  return found;
}

/* ---- rights ---- */

/* As in <sys/mman.h> of newer libraries. */
enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };

static bool populate(uintptr_t page, atmi_process_access_t access) {
  return !madvise((void *)page, PAGE_BYTES, access == ATMI_PROCESS_WRITES ? POPULATE_WRITE : POPULATE_READ);
}

/* "Invalid" is what the kernel says of a page without the right, of a device's memory, which it cannot have
 * ready, of what it does not know (then of a page of ours, too), and where pages are larger than ours. "No
 * memory" is what it says of a page that is not there, and where it has none left. */
static bool allows(uintptr_t address, atmi_process_access_t access) {
  atmi_process_mapping_t mapping;
  if (populate(address / PAGE_BYTES * PAGE_BYTES, access))
    return true;
  if (errno != EINVAL)
    return errno != EFAULT && atmi_process_memory_is_there((const void *)address, 1);
  if (!populate((uintptr_t)&mapping / PAGE_BYTES * PAGE_BYTES, access) ||
      !atmi_process_memory_find((const void *)address, &mapping))
    return true;
  return mapping.rights[access == ATMI_PROCESS_WRITES] != '-';
}

bool atmi_process_memory_allows(const void *address, uint64_t bytes, atmi_process_access_t access) {
  const uintptr_t begin = (uintptr_t)address, last = begin + bytes - 1;
  if (!bytes)
    return true;
  return allows(begin, access) && (begin / PAGE_BYTES == last / PAGE_BYTES || allows(last, access));
}

const char *atmi_process_memory_flaw(const void *address, uint64_t bytes, atmi_process_access_t access,
                                     const char **remedy) {
  *remedy = "was it freed, or is the pointer or the size wrong?";
  if (!atmi_process_memory_is_there(address, bytes))
    return "has no memory, or only some, in";
  if (atmi_process_memory_allows(address, bytes, access))
    return NULL;
  if (access == ATMI_PROCESS_READS)
    return "may not read";
  *remedy =
      "what is constant cannot be copied back: map it by map(to:), also where clang has mapped it by itself";
  return "may not write";
}
