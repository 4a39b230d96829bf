/* Memory with nothing behind it. */
#include "brink.h"

#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

char *test_brink(unsigned pages) {
  size_t bytes = (size_t)pages * PAGE;
  char *begin = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return begin != MAP_FAILED && !munmap(begin + bytes, bytes) ? begin + bytes : NULL;
}
