/* Memory with nothing behind it. */
#include "brink.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void *test_remote(size_t bytes) {
  static uintptr_t next = UINT64_C(1) << 45;
  void *begin = mmap((void *)next, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  next += UINT64_C(1) << 30;
  return begin == MAP_FAILED ? NULL : begin;
}

int test_remote_free(void *memory, size_t bytes) {
  return munmap(memory, bytes);
}

int test_remote_close(void *memory, size_t bytes, bool may_read) {
  return mprotect(memory, bytes, may_read ? PROT_READ : PROT_NONE);
}

char *test_brink(unsigned pages) {
  size_t bytes = (size_t)pages * PAGE;
  char *begin = test_remote(2 * bytes);
  return begin && !munmap(begin + bytes, bytes) ? begin + bytes : NULL;
}
